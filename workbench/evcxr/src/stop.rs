//! Stopping a cell so that the variables of earlier cells stay.
//!
//! A cell that is being compiled is stopped by ending cargo. A launch is stopped by a signal, on which Workbench ends it with a fault, as an
//! error of the cell. Code that neither waits for the compiler nor for a launch is ended with its process, and the variables go with it.

use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::locked;

/// The time that a launch has to end after the signal.
const GRACE: Duration = Duration::from_millis(500);

/// The cell that runs, if any.
pub struct Running {
    /// The process that runs the cells.
    process: Arc<Mutex<Child>>,
    cell: Mutex<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    /// Counts the cells, so that a late stop finds another one than it was meant for.
    number: u64,
    runs: bool,
    stopped: bool,
    /// The cells that were sent and have not begun.
    waiting: u64,
}

impl Running {
    /// No cell runs.
    pub fn new(process: Arc<Mutex<Child>>) -> Self {
        Running { process, cell: Mutex::new(Cell { number: 0, runs: false, stopped: false, waiting: 0 }) }
    }

    /// A cell was sent; it begins later.
    pub fn sent(&self) {
        let mut cell = locked(&self.cell);
        cell.waiting += 1;
    }

    /// A cell begins; false if it was told to stop before.
    pub fn begin(&self) -> bool {
        signal(&self.process, Signal::GoOn);
        let mut cell = locked(&self.cell);
        let stopped = std::mem::take(&mut cell.stopped);
        *cell = Cell { number: cell.number + 1, runs: !stopped, stopped: false, waiting: cell.waiting - 1 };
        !stopped
    }

    /// The cell ended; true if it was told to stop.
    pub fn end(&self) -> bool {
        let mut cell = locked(&self.cell);
        cell.runs = false;
        std::mem::take(&mut cell.stopped)
    }

    /// Stops the cell that runs, or the next of those that were sent.
    pub fn stop(self: &Arc<Self>) {
        let number = {
            let mut cell = locked(&self.cell);
            if !cell.runs {
                cell.stopped = cell.waiting > 0;
                return;
            }
            cell.stopped = true;
            cell.number
        };
        if end_compilation() {
            return;
        }
        signal(&self.process, Signal::Stop);
        let this = Arc::clone(self);
        std::thread::spawn(move || {
            std::thread::sleep(GRACE);
            // The lock is held, so that no other cell begins meanwhile.
            let cell = locked(&this.cell);
            if cell.runs && cell.number == number {
                this.kill();
            }
            drop(cell);
        });
    }

    /// Ends what this program has started.
    pub fn leave(&self) {
        end_compilation();
        self.kill();
    }

    /// Ends the process that runs the cells.
    fn kill(&self) {
        let _ = locked(&self.process).kill();
    }
}

/// The signals that Workbench listens to in a session (`workbench/runtime/session.rs`).
#[derive(Clone, Copy)]
enum Signal {
    Stop,
    GoOn,
}

/// Has this process end with the one that started it, so that a cell that runs on is not left behind.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: the call touches no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// Leaves the signals without effect in this process and in those that it starts.
pub fn ignore_signals() {
    #[cfg(unix)]
    for number in [libc::SIGUSR1, libc::SIGUSR2] {
        // SAFETY: ignoring a signal touches no memory.
        unsafe { libc::signal(number, libc::SIG_IGN) };
    }
}

#[cfg(unix)]
fn signal(process: &Mutex<Child>, signal: Signal) {
    let number = match signal {
        Signal::Stop => libc::SIGUSR1,
        Signal::GoOn => libc::SIGUSR2,
    };
    if let Ok(id) = libc::pid_t::try_from(locked(process).id()) {
        // SAFETY: a signal to another process touches no memory of this one.
        unsafe { libc::kill(id, number) };
    }
}

#[cfg(not(unix))]
fn signal(_: &Mutex<Child>, _: Signal) {}

/// Ends cargo and what it started, if a cell is being compiled; true if it is.
#[cfg(target_os = "linux")]
fn end_compilation() -> bool {
    let children = children();
    let of = |parent: u32| children.iter().filter(move |(_, of, _)| *of == parent);
    let Some((cargo, ..)) = of(std::process::id()).find(|(.., name)| name == "cargo") else { return false };
    // Cargo first, so that it starts nothing in place of what ends.
    let mut ids = vec![*cargo];
    let mut next = 0;
    while next < ids.len() {
        ids.extend(of(ids[next]).map(|(id, ..)| *id));
        next += 1;
    }
    for id in ids.into_iter().filter_map(|id| libc::pid_t::try_from(id).ok()) {
        // SAFETY: a signal to another process touches no memory of this one.
        unsafe { libc::kill(id, libc::SIGTERM) };
    }
    true
}

#[cfg(not(target_os = "linux"))]
fn end_compilation() -> bool {
    false
}

/// All processes: number, parent and name.
#[cfg(target_os = "linux")]
fn children() -> Vec<(u32, u32, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let one = |id: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name is in parentheses and may hold any character; the state and the parent follow it.
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some((id, parent, name.to_owned()))
    };
    entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).filter_map(one).collect()
}

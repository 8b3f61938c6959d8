//! A running compiler: it has a folder of its own, which is removed with it, and runs neither longer than [`DEADLINE`] nor past the end of
//! this process.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use crate::back::Interrupt;

/// The longest time that a compiler may take; some tenths of a second are usual.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Most bytes of output of a compiler.
const MOST_SAID: u64 = 1 << 20;

/// Most names that are tried for a folder.
const MAX_FOLDERS: u64 = 1 << 20;

/// The beginning of folders' names; the process and a number follow.
const PREFIX: &str = "workbench-";

/// The age at which a folder of a process that is gone is removed. Where processes are numbered apart, as in containers, processes
/// elsewhere may seem gone.
const OLD: Duration = Duration::from_secs(3600);

/// The end of a compiler.
pub enum Ended {
    /// It ended by itself.
    Done(ExitStatus),
    /// The user wanted its launch to stop.
    Interrupted,
    /// It took longer than [`DEADLINE`], or the process ends.
    Late,
    /// It wrote more than [`MOST_SAID`].
    Endless,
}

/// A new folder that no other user may enter: a library that is loaded from it must be the one that was compiled. It is removed when
/// dropped; a mapping of a file in it stays.
pub struct Folder(PathBuf);

/// A folder of this process, with the process group of its compiler while that runs.
type Entry = (PathBuf, Option<i32>);

static RUNNING: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// True once the process ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The list; `None` if its lock stays taken, as in a process that was forked while another thread held it.
fn running() -> Option<MutexGuard<'static, Vec<Entry>>> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        match RUNNING.try_lock() {
            Ok(all) => return Some(all),
            Err(TryLockError::Poisoned(all)) => return Some(all.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

impl Folder {
    /// A new folder.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if ENDING.load(Ordering::Relaxed) {
            return Err(io::Error::other("the process ends"));
        }
        let places = std::env::temp_dir();
        if COUNT.load(Ordering::Relaxed) == 0 {
            sweep(&places);
        }
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let dir = places.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match builder.create(&dir) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < MAX_FOLDERS => {}
                made => {
                    made?;
                    if let Some(mut all) = running() {
                        all.push((dir.clone(), None));
                    }
                    return Ok(Folder(dir));
                }
            }
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn note(&self, group: Option<i32>) {
        if let Some(mut all) = running()
            && let Some(entry) = all.iter_mut().find(|(dir, _)| *dir == self.0)
        {
            entry.1 = group;
        }
    }

    /// Runs a compiler, whose output goes to the file `said`.
    ///
    /// # Errors
    /// The system's error, if the compiler does not start.
    pub fn run(&self, command: &mut Command, said: &Path, interrupt: Option<&dyn Interrupt>) -> io::Result<Ended> {
        // The compiler has a process group of its own: its children are stopped with it, and Ctrl+C in a terminal does not reach it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn()?;
        let group = i32::try_from(child.id()).ok();
        self.note(group);
        let ended = wait(&mut child, said, interrupt);
        self.note(None);
        if !matches!(ended, Ok(Ended::Done(_))) {
            stop(group);
            let _ = child.kill();
            let _ = child.wait();
        }
        ended
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mut all) = running() {
            all.retain(|(dir, _)| *dir != self.0);
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn wait(child: &mut Child, said: &Path, interrupt: Option<&dyn Interrupt>) -> io::Result<Ended> {
    const NAP: Duration = Duration::from_millis(2);
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Done(status));
        }
        if interrupt.is_some_and(Interrupt::interrupted) {
            return Ok(Ended::Interrupted);
        }
        if begun.elapsed() > DEADLINE || ENDING.load(Ordering::Relaxed) {
            return Ok(Ended::Late);
        }
        if std::fs::metadata(said).is_ok_and(|file| file.len() > MOST_SAID) {
            return Ok(Ended::Endless);
        }
        std::thread::sleep(NAP);
    }
}

/// Stops a process group.
fn stop(group: Option<i32>) {
    #[cfg(unix)]
    if let Some(group) = group {
        // SAFETY: this sends a signal, which fails if no process of the group is left.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// Stops the compilers that run and removes their folders: the process ends.
pub fn end() {
    ENDING.store(true, Ordering::Relaxed);
    // Entries of a parent process are left alone in a forked child.
    let own = format!("{PREFIX}{}-", std::process::id());
    let Some(mut all) = running() else { return };
    for (dir, group) in all.drain(..) {
        if dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&own)) {
            stop(group);
            let _ = std::fs::remove_dir_all(&dir);
        }
    }
}

/// Removes the folders of processes that were killed.
fn sweep(places: &Path) {
    let Ok(entries) = std::fs::read_dir(places) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|n| n.strip_prefix(PREFIX)?.split_once('-')?.0.parse::<i32>().ok());
        let is_old = || {
            let since = entry.metadata().and_then(|m| m.modified()).ok();
            since.and_then(|since| SystemTime::now().duration_since(since).ok()).is_some_and(|age| age > OLD)
        };
        if process.is_some_and(is_gone) && is_old() {
            // Removal fails for folders of other users, which stay.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(unix)]
fn is_gone(process: i32) -> bool {
    // SAFETY: signal 0 asks only whether there is such a process.
    let asked = unsafe { libc::kill(process, 0) };
    asked != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(not(unix))]
fn is_gone(_: i32) -> bool {
    false
}

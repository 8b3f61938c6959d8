//! A compiler that runs: in a folder of its own that goes with it, never for longer than [`DEADLINE`], and not past the end of this process.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use crate::back::Interrupt;

/// How long a compiler may take; usual are some tenths of a second.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// How much a compiler may say, in bytes.
const MOST_SAID: u64 = 1 << 20;

/// Most names that are tried for a folder.
const MAX_FOLDERS: u64 = 1 << 20;

/// What folders' names begin with; the process and a number follow.
const PREFIX: &str = "workbench-";

/// A folder of a process that is gone is removed when it is as old as this: where processes are numbered apart, as in containers, those
/// of others may seem gone.
const OLD: Duration = Duration::from_secs(3600);

/// How a compiler ended.
pub enum Ended {
    /// By itself.
    Done(ExitStatus),
    /// The user wanted its launch to stop.
    Interrupted,
    /// It took longer than [`DEADLINE`], or the process ends.
    Late,
    /// It said more than [`MOST_SAID`].
    Endless,
}

/// A new folder that nobody else may enter: what is loaded from it must be what was compiled. It is removed when dropped; a mapping of
/// what was in it stays.
pub struct Folder(PathBuf);

/// A folder of this process, with the process group of its compiler while that runs.
type Entry = (PathBuf, Option<i32>);

static RUNNING: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Whether the process ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The list; `None` where nobody gives it back, as in a process that forked while somebody had it, which does without.
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
    /// A fresh one.
    ///
    /// # Errors
    /// The system's.
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

    /// Where it is.
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

    /// Runs a compiler, which writes what it says to the file `said`.
    ///
    /// # Errors
    /// The system's, where it does not start.
    pub fn run(&self, command: &mut Command, said: &Path, interrupt: Option<&dyn Interrupt>) -> io::Result<Ended> {
        // A group of its own: what it starts is stopped with it, and Ctrl+C in a terminal is not for it.
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
        // SAFETY: a signal; where nobody is left in the group it is an error.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// Stops the compilers that run and removes their folders: the process ends.
pub fn end() {
    ENDING.store(true, Ordering::Relaxed);
    // In a forked child they are the parent's.
    let own = format!("{PREFIX}{}-", std::process::id());
    let Some(mut all) = running() else { return };
    for (dir, group) in all.drain(..) {
        if dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&own)) {
            stop(group);
            let _ = std::fs::remove_dir_all(&dir);
        }
    }
}

/// Removes the folders of processes that were ended in the middle.
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
            // Other users' stay: it fails.
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

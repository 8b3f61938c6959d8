//! Stopping: why a launch ends early, and how its workers know that none makes progress.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Operations between polls: about half a millisecond of arithmetic.
pub const BUDGET: i64 = 1 << 20;

/// The reason that a launch stops before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// The launch's time is up.
    Timeout = 1,
    /// The user wants the launch to stop.
    Interrupted = 2,
}

/// A [`Stop`] that any worker can set and all see.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Tells all workers to stop; the first reason stays.
    pub fn set(&self, stop: Stop) {
        let _ = self.0.compare_exchange(0, stop as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The reason to stop, if there is one.
    pub fn get(&self) -> Option<Stop> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(Stop::Timeout),
            2 => Some(Stop::Interrupted),
            _ => None,
        }
    }
}

/// The time for which every worker has to do nothing but wait before that counts as no progress.
const NO_PROGRESS: Duration = Duration::from_millis(300);

/// The workers of a launch.
#[derive(Debug, Default)]
pub struct Crowd {
    running: AtomicU64,
    waiting: AtomicU64,
    /// A count that grows whenever a worker ends a wait, a range of blocks, or work as such.
    moves: AtomicU64,
}

impl Crowd {
    /// Notes that a worker begins.
    pub fn enter(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that a worker ends.
    pub fn leave(&self, own: &mut Waiting) {
        self.stop_waiting(own);
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.moved();
    }

    /// Notes that a worker made progress.
    pub fn moved(&self) {
        self.moves.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that a worker does something.
    pub fn stop_waiting(&self, own: &mut Waiting) {
        own.all_since = None;
        if std::mem::replace(&mut own.counted, false) {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            self.moved();
        }
    }

    /// Notes that a worker does nothing but wait; gives whether all others have done nothing else for too long.
    pub fn only_waits(&self, own: &mut Waiting) -> bool {
        if !std::mem::replace(&mut own.counted, true) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
        }
        // The thread that is waited for may need this core.
        std::thread::yield_now();
        let (now, moves) = (Instant::now(), self.moves.load(Ordering::SeqCst));
        if self.waiting.load(Ordering::SeqCst) < self.running.load(Ordering::SeqCst) {
            own.all_since = None;
            return false;
        }
        match own.all_since {
            Some((since, then)) if then == moves => now.duration_since(since) >= NO_PROGRESS,
            _ => {
                own.all_since = Some((now, moves));
                false
            }
        }
    }
}

/// A worker's record of its own waiting.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The context's progress at the last poll, where that was in a loop that may wait.
    seen: Option<u64>,
    /// True while the launch counts the worker among those that wait.
    counted: bool,
    /// The time since which all workers wait, and the launch's moves then.
    all_since: Option<(Instant, u64)>,
}

/// The interval at which the launching thread asks whether to stop.
pub const INTERRUPT_EVERY: Duration = Duration::from_millis(5);

impl Waiting {
    /// Notes the progress at a poll, where that is in a loop that may wait; gives whether it was the same at the last
    /// one.
    pub fn saw(&mut self, progress: Option<u64>) -> bool {
        let before = std::mem::replace(&mut self.seen, progress);
        before.is_some() && before == self.seen
    }
}

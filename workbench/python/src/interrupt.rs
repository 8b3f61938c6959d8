//! The stop button: what a running launch asks every few milliseconds.
//!
//! A launch may hold the GIL (when it is expected to take microseconds) or not; [`Poll`] serves both. It lets other
//! Python threads run, runs pending signal handlers, and looks at the generation that `workbench.interrupt()` moves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use workbench::runtime::Interrupt;

/// Moved by [`interrupt`]; a launch that began under an older value stops.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Stops every launch that is running now, in whatever thread; each raises `KeyboardInterrupt` there.
///
/// Shapes and dtypes do not matter; nothing happens when nothing runs. Call it from any thread: a launch polls about
/// every 5 ms.
///
/// >>> import workbench as wb
/// >>> wb.interrupt()
#[pyfunction]
pub fn interrupt() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// What one launch polls.
pub struct Poll {
    started: u64,
    raised: Mutex<Option<PyErr>>,
}

impl Poll {
    /// For a launch that starts now.
    pub fn new() -> Self {
        Poll { started: GENERATION.load(Ordering::Relaxed), raised: Mutex::new(None) }
    }

    /// The exception a signal handler raised, which is what the launch should end in.
    pub fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Interrupt for Poll {
    fn interrupted(&self) -> bool {
        if GENERATION.load(Ordering::Relaxed) != self.started {
            return true;
        }
        let result = Python::attach(|py| {
            // Gives a waiting thread its turn when this launch holds the GIL; costs nothing when nobody waits.
            py.detach(|| {});
            py.check_signals()
        });
        match result {
            Ok(()) => GENERATION.load(Ordering::Relaxed) != self.started,
            Err(err) => {
                *self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(err);
                true
            }
        }
    }
}

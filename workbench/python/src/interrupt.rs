//! The stop button: the check that a running launch, and a compilation, makes every few milliseconds.
//!
//! A launch may hold the GIL (when it is expected to take microseconds) or not; [`Poll`] serves both. It lets other Python threads run,
//! runs pending signal handlers, and reads the generation that `workbench.interrupt()` increments.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use workbench::runtime::Interrupt;
use workbench::steps::{Interrupted, interruptible};

use crate::gil;

/// Incremented by [`interrupt`]; a launch that began under an older value stops.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Stops every launch that is running now, in whatever thread; each raises `KeyboardInterrupt` there.
///
/// Shapes and dtypes do not matter; if nothing runs, nothing happens. Call it from any thread: a launch polls about every 5 ms.
///
/// >>> import workbench as wb
/// >>> wb.interrupt()
#[pyfunction]
pub fn interrupt() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// The time for which a launch that holds the GIL lets go of it at each poll. A release followed at once by a lock never lets a waiting
/// thread in: the release wakes that thread, but by the time it runs the GIL is taken again, and its own wait of 5 ms begins anew.
const TURN: Duration = Duration::from_micros(100);

/// The state that a launch polls.
pub struct Poll {
    holds_gil: bool,
    started: u64,
    raised: Mutex<Option<PyErr>>,
}

impl Poll {
    /// The poll of a launch that starts now, with the GIL or without.
    pub fn new(holds_gil: bool) -> Self {
        Poll { holds_gil, started: GENERATION.load(Ordering::Relaxed), raised: Mutex::new(None) }
    }

    /// True if a signal handler raised an exception.
    pub fn has_raised(&self) -> bool {
        self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_some()
    }

    /// The exception that a signal handler raised, which the launch should raise.
    pub fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Interrupt for Poll {
    fn interrupted(&self) -> bool {
        if GENERATION.load(Ordering::Relaxed) != self.started || self.has_raised() {
            return true;
        }
        let result = gil::attach(|py| {
            if self.holds_gil {
                py.detach(|| std::thread::sleep(TURN));
            }
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

/// Runs a compilation without the GIL, so that it can be stopped.
///
/// # Errors
/// The exception that a signal handler raised, `KeyboardInterrupt`.
pub fn compiling<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let poll = Arc::new(Poll::new(false));
    let asked = poll.clone();
    let result = py.detach(move || {
        let ask = Rc::new(move || asked.interrupted());
        interruptible(ask, work)
    });
    match result {
        Ok(result) => Ok(result),
        Err(Interrupted) => {
            let raised = poll.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            Err(raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err("the compilation was interrupted")))
        }
    }
}

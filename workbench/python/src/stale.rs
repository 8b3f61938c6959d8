//! A handle whose text was edited since, but did not compile: calling it says so once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

/// The warning at the next call, if any.
#[derive(Default)]
pub struct Stale {
    marked: AtomicBool,
    why: Mutex<String>,
}

impl Stale {
    /// Says `why` at the next call.
    pub fn mark(&self, why: String) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
        self.marked.store(true, Ordering::Release);
    }

    /// Says nothing: the text is the current one again.
    pub fn clear(&self) {
        self.marked.store(false, Ordering::Release);
    }

    /// Warns, the first time after [`Stale::mark`].
    pub fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if !self.marked.load(Ordering::Relaxed) || !self.marked.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let why = std::mem::take(&mut *self.why.lock().unwrap_or_else(PoisonError::into_inner));
        let category = py.get_type::<PyUserWarning>();
        py.import("warnings")?.call_method1("warn", (why, category)).map(drop)
    }
}

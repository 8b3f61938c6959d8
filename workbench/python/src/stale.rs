//! A handle whose text has been edited since but did not compile: the next call says so once.

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
    /// Sets the warning of the next call.
    pub fn mark(&self, why: String) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
        self.marked.store(true, Ordering::Release);
    }

    /// Clears the warning: the text is the current one again.
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

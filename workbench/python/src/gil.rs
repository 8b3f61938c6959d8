//! Attaching to the interpreter where others than pyo3 may have let go of it, and what is made while others may run.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Runs `f` with the interpreter attached.
///
/// As [`Python::attach`], which counts on its own how often a thread has attached, and does nothing where it has. When a function of
/// ours calls Python, that calls torch, and torch lets go of the interpreter to call one of our kernels, that count is wrong.
pub fn attach<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    struct Release(ffi::PyGILState_STATE);
    impl Drop for Release {
        fn drop(&mut self) {
            // SAFETY: pairs with the call below, on the same thread.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }
    // SAFETY: the interpreter lives for as long as anything calls us.
    let _release = Release(unsafe { ffi::PyGILState_Ensure() });
    Python::attach(f)
}

/// The object of a cell, made at the first use. It is not made within the lock: importing lets other threads run, and one of them may fork.
pub fn once<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    make: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let made = match cell.get(py) {
        Some(made) => made,
        None => {
            let made = make()?;
            cell.get_or_init(py, || made)
        }
    };
    Ok(made.bind(py))
}

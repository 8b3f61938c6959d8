//! Attaching to the interpreter when code other than pyo3 may have released it, and objects that are made while other threads may run.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Runs `f` with the interpreter attached.
///
/// It is as [`Python::attach`], which counts attachments of a thread on its own and does nothing if there is one. That count is wrong when
/// a function of ours calls Python, which calls torch, and torch releases the interpreter to call one of our kernels.
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

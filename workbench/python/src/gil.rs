//! Attaching to the interpreter where others than pyo3 may have let go of it.

use pyo3::ffi;
use pyo3::prelude::*;

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

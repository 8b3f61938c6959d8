//! Kernels that a back end starts to compile while the front end still lowers the rest of their text.

use super::{FuncId, Module};

/// A receiver of kernels as soon as they are complete. The front end promises that the module it ends with holds the functions and tables
/// it has handed over unchanged, or else that the text does not compile.
pub trait Ahead {
    /// Restarts: the text is read again from its beginning, and kernels taken before are forgotten.
    fn restart(&self);

    /// Takes a kernel that host code launches. It is complete, and so are the functions that it reaches; it is one of `reached` itself.
    fn take(&self, module: &Module, kernel: FuncId, reached: &[FuncId]);
}

//! Kernels that a back end begins with while the front end is still at the rest of their text.

use super::{FuncId, Module};

/// A receiver of kernels as soon as they are complete. The front end promises that the module it ends with holds the functions and tables
/// it has handed over unchanged, or else that the text does not compile.
pub trait Ahead {
    /// The text is read again from its beginning: what was taken is forgotten.
    fn restart(&self);

    /// A kernel, which host code launches, is whole, and so are the functions that it reaches; it is one of `reached`.
    fn take(&self, module: &Module, kernel: FuncId, reached: &[FuncId]);
}

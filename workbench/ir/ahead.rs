//! Kernels that a back end begins with while the front end is still at the rest of their text.

use super::{FuncId, Module};

/// Who takes kernels as soon as they are whole. What is taken is a promise of the front end's that can be held against the module in the
/// end: the functions and the tables as far as they go will be in it as they are now, or the text does not compile.
pub trait Ahead {
    /// The text is read again from its beginning: what was taken is forgotten.
    fn restart(&self);

    /// A kernel, which host code launches, is whole, and so are the functions that it reaches; it is one of `reached`.
    fn take(&self, module: &Module, kernel: FuncId, reached: &[FuncId]);
}

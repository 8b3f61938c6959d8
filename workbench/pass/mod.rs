//! Passes.
pub mod widen {
    //! The float64 twin.
    use crate::{
        ir::{FuncId, Module},
        source::Span,
    };
    /// Why there is no twin.
    pub struct WidenError {
        /// Where.
        pub span: Span,
        /// Why.
        pub reason: String,
    }
    /// Makes the twin.
    pub fn widen(module: &Module, _kernel: FuncId) -> Result<Module, WidenError> {
        Ok(module.clone())
    }
}
pub mod instrument {
    //! Writer tracking.
    use crate::ir::{FuncId, Module};
    /// Adds writer parameters.
    pub fn track_writers(module: &Module, _kernel: FuncId) -> (Module, Vec<usize>) {
        (module.clone(), Vec::new())
    }
}
/// Prepares a module.
pub fn prepare_for_cpu(_module: &mut crate::ir::Module) {}

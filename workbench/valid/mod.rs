//! The validator.
use crate::diagnostic::Diagnostic;
use crate::ir::Module;
/// Checks a module.
pub fn validate(_module: &Module) -> Vec<Diagnostic> {
    Vec::new()
}

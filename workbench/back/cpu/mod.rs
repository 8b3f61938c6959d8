//! IR to machine code of this CPU, and its execution.

use super::{LaunchConfig, Outcome, RawArg};
use crate::diagnostic::Diagnostic;
use crate::ir::{FuncId, Module};

/// Machine code of one module; its memory is freed when the last holder lets go.
pub struct Code {}

impl Code {
    /// Compiles every kernel and host function of a valid module.
    ///
    /// # Errors
    /// A limit on code size or stack, as diagnostics.
    pub fn compile(_module: &Module) -> Result<Code, Vec<Diagnostic>> {
        Ok(Code {})
    }

    /// Runs a kernel over its grid, or a host function as one thread.
    pub fn launch(&self, _func: FuncId, _args: &[RawArg], _config: &LaunchConfig<'_>) -> Outcome {
        Outcome::default()
    }

    /// Calls a host function.
    pub fn call(&self, _func: FuncId, _args: &[RawArg], _config: &LaunchConfig<'_>) -> (Option<u64>, Outcome) {
        (None, Outcome::default())
    }

    /// The machine code of a function, as text.
    pub fn asm(&self) -> String {
        String::new()
    }
}

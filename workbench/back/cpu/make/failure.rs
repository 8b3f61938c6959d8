//! Failures: why there is no machine code of a module.

use crate::back::cpu::code::jit::JitError;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FuncId, Function, Module};
use crate::source::Span;

pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

pub fn too_large(func: &Function) -> Box<Diagnostic> {
    let message = format!("`{}` is too large to compile", func.name);
    let help = "unroll less, or split the kernel in two";
    Box::new(Diagnostic::error(Code::CodeLimit, func.span, message).help(help))
}

pub fn internal(span: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::BadIr, span, message))
}

/// The reason that there is no machine code.
pub enum Failure {
    /// The error in the text.
    Text(Box<Diagnostic>),
    /// The code generator's error, at a function, or for all of them, the first of which this is.
    Code(FuncId, JitError),
}

impl From<Box<Diagnostic>> for Failure {
    fn from(diag: Box<Diagnostic>) -> Self {
        Failure::Text(diag)
    }
}

impl Failure {
    pub fn explain(self, module: &Module) -> Box<Diagnostic> {
        match self {
            Failure::Text(diag) => diag,
            Failure::Code(id, JitError::TooLarge) => too_large(module.func(id)),
            Failure::Code(id, JitError::Other(what)) => {
                let func = module.func(id);
                internal(func.span, format!("no code for `{}`: {what}", func.name))
            }
        }
    }
}

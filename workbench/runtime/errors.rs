//! Errors: one type per stage, and one [`Error`] over them.

use std::fmt;
use std::sync::Arc;

use crate::back::{FaultKind, PrintfRecord};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceMap, Span};

/// A fault of a launch: that of the lowest faulting block's lowest faulting thread.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The kernel launched.
    pub kernel: String,
    /// The place in the user's text.
    pub span: Span,
    /// Block index (x, y, z).
    pub block: [u32; 3],
    /// Thread index (x, y, z).
    pub thread: [u32; 3],
    /// One sentence: buffer, index, size, operands.
    pub detail: String,
    /// printf records written before the fault.
    pub output: Vec<PrintfRecord>,
    /// The number of printf records that were dropped.
    pub dropped: u64,
    /// The warnings of host code before the fault (`TORCH_WARN`).
    pub warnings: Vec<String>,
    /// The texts `span` points into.
    pub sources: Arc<SourceMap>,
}

/// The errors that a call of Workbench can end in, each variant an exception of the Python package.
#[derive(Clone)]
pub enum Error {
    /// The text does not compile (`CompileError`).
    Compile {
        /// Errors and warnings, in text order.
        diagnostics: Vec<Diagnostic>,
        /// The texts they point into.
        sources: Arc<SourceMap>,
    },
    /// A launch faulted (`KernelFault`; `Timeout` and `Interrupted` have exceptions of their own).
    Fault(Box<Fault>),
    /// An argument does not fit (`ArgumentError`): one sentence that names the parameter, what was given and what was
    /// wanted.
    Argument(String),
    /// No driver, no GPU, no NVRTC (`DeviceUnavailable`): what is missing, and how to get it.
    DeviceUnavailable(String),
    /// A user's callable failed (its message), a file could not be written, and the like.
    Other(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An `Argument` error.
    pub fn argument(message: impl Into<String>) -> Self {
        Error::Argument(message.into())
    }

    /// The name of the exception that it is in Python: `CompileError`, `KernelFault`, `ArgumentError`, `DeviceUnavailable`, or `Error`.
    pub fn name(&self) -> &'static str {
        match self {
            Error::Compile { .. } => "CompileError",
            Error::Fault(_) => "KernelFault",
            Error::Argument(_) => "ArgumentError",
            Error::DeviceUnavailable(_) => "DeviceUnavailable",
            Error::Other(_) => "Error",
        }
    }

    /// Its text for a terminal, errors of the compiler in colour.
    pub fn styled(&self) -> String {
        match self {
            Error::Compile { diagnostics, sources } => crate::diagnostic::text::render_styled(diagnostics, sources),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::fault_display::fault(self))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile { diagnostics, sources } => {
                f.write_str(&crate::diagnostic::text::render(diagnostics, sources))
            }
            Error::Fault(fault) => fault.fmt(f),
            Error::Argument(m) | Error::DeviceUnavailable(m) | Error::Other(m) => f.write_str(m),
        }
    }
}

/// The text of the error: it is what `unwrap` shows, and a notebook of a `Result`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Error::Other(format!("not written as JSON: {error}"))
    }
}

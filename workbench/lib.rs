//! Workbench: write a CUDA kernel in a notebook cell; call it, check it, time it, see it.
//!
//! The pipeline, in the order text takes through it: [`source`] -> [`front`] -> [`ir`] -> [`valid`] -> [`pass`] -> [`back`] -> [`runtime`]
//! -> [`ops`] -> [`autograd`], [`check`], [`bench`], [`tune`](mod@tune) -> [`plot`] -> [`display`] -> [`mod@cell`]. `ARCHITECTURE.md` beside this file is the map; each
//! folder's page says how it works.

pub mod autograd;
pub mod back;
pub mod bench;
#[cfg(feature = "candle")]
pub mod candle;
pub mod cell;
pub mod check;
pub mod diagnostic;
pub mod display;
pub mod front;
pub mod ir;
mod json;
pub mod language_service;
pub mod library;
mod line_width;
mod once;
pub mod ops;
pub mod pass;
pub mod plot;
pub mod plural;
pub mod runtime;
pub mod source;
pub mod steps;
pub mod tune;
pub mod valid;

/// Compiles a text for the CPU, under the name `<kernel>` in messages.
///
/// # Errors
/// [`runtime::Error::Compile`] with every diagnostic; its text shows them.
pub fn compile(text: &str) -> runtime::Result<runtime::Program> {
    runtime::Program::compile(text, &runtime::CompileOptions::default())
}

pub use runtime::Error;
pub use tune::tune;

/// The names that a notebook or a small program wants in scope.
pub mod prelude {
    pub use crate as wb;
    pub use crate::autograd::GradOptions;
    pub use crate::bench::{BenchConfig, Contestant};
    pub use crate::check::CheckOptions;
    pub use crate::ops::{Op, OwnedArg};
    pub use crate::runtime::{
        CompileOptions, DType, Device, Dim3, Error, Fault, Interrupt, Kernel, NULL, Program, Report, Result, Tensor,
    };
    pub use crate::tune::Tuning;
    pub use ndarray::{self, Array, Array1, Array2, ArrayD, ArrayViewD, array};
}

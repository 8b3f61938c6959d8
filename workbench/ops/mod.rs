//! Operators: a torch schema, an output shape, implementations per element type and device, under one name.
//!
//! A call has two halves, so that every user of operators can allocate outputs in its own way: [`Op::plan`] works out the outputs and the
//! launch, [`Op::run`] runs it on the caller's memory. [`Op::call`] does both for Rust.
//!
//! A write that the schema does not declare is a fault on the CPU. For a GPU the text is analysed (`pass/writes.rs`), and an operator that
//! writes such an argument anywhere is refused. An operator's text is compiled for the GPU at its first call with arrays on one, with the
//! same macros, headers, instances and binding.

pub mod binding;
mod builder;
mod call;
mod cursor;
mod describe;
pub mod dispatch;
pub mod export;
pub mod gaudi;
mod gradient;
pub mod history;
mod instrumented_run;
mod last_call;
pub mod library;
pub mod manifest;
mod plan;
mod recorded_writers;
mod registry;
pub mod schema;
pub mod shape;
mod work;
mod writers;

#[cfg(test)]
mod tests;

pub use builder::OpBuilder;
pub use call::{IntoArgs, Outputs, OwnedArg, fill_defaults, misarranged, unknown_argument};
pub use gradient::{BackwardFn, Context, Gradient, GradientBy, Saved, SetupFn};
pub use plan::{ArgValue, ArrayRef, Plan, RunConfig, scalar};
pub use recorded_writers::{Watched, Written, poison_outputs, watch_writers};
pub use registry::{Definition, HostFn, Op, OpOptions, ShapeFn, ShapeRule, SourceCode, Spec};
pub use schema::Schema;
pub use shape::{Shape, Signature};
pub use work::Work;

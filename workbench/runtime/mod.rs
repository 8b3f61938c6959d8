//! Running kernels: data types, arguments, launches, faults, the compiled [`Program`].

pub mod arrange;
pub mod builder;
pub mod dtype;
pub mod errors;
mod extents;
pub mod fault_display;
mod hints;
pub mod host;
mod make;
mod on_gpu;
mod options;
pub mod program;
pub mod records;
mod report;
mod shapes;
pub mod structure;
pub mod symbol;
pub mod template;
pub mod tensor;

pub use builder::{
    Accessor, Element, IntoArg, Launch, NULL, Records, Struct, accessor, accessor_mut, records, records_mut,
};
pub use dtype::DType;
pub use errors::{Error, Fault, Result};
pub use on_gpu::{has_queued, synchronize};
pub use program::{
    Arg, BufferArg, CompileOptions, Device, Kernel, OptionValue, Program, Settled, Tier, Tiers, discard, forget_own,
    hurried, settle, settle_while,
};
pub use report::{Report, output_text};
pub use structure::{Given, Packed};
pub use symbol::Symbol;
pub use template::Template;
pub use tensor::Tensor;

pub use crate::back::cpu::{TierReport, TierRow, TierState};
pub use crate::back::{Dim3, FaultKind, Interrupt, LaunchConfig, PrintfRecord, Queue, Reach};

//! A compiled text: its kernels and host functions, ready to run.

use std::sync::Arc;

use super::{DType, Error, Fault, Result};
use crate::back::{self, LaunchConfig, Outcome, PrintfRecord, RawArg};
use crate::diagnostic::Diagnostic;
use crate::front;
use crate::ir::{self, Const, FuncId, FuncKind, ParamType, Scalar};
use crate::source::SourceMap;

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// This process, through Cranelift.
    #[default]
    Cpu,
    /// An NVIDIA GPU, through NVRTC and the driver.
    Cuda,
}

/// How to compile.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// What messages call the text; empty: `<kernel>`.
    pub name: String,
    /// Macros and headers.
    pub front: front::Options,
    /// Where to run.
    pub device: Device,
    /// The GPU architecture to compile for, such as `sm_90`; `None`: the device at hand, else `sm_90`.
    pub arch: Option<String>,
    /// Further options for NVRTC, such as `--use_fast_math`.
    pub nvrtc_options: Vec<String>,
}

/// A host array lent to a launch. The lender keeps the memory alive and unmoved until the launch returns.
#[derive(Debug, Clone, Copy)]
pub struct BufferArg {
    /// First byte.
    pub ptr: *mut u8,
    /// Size in bytes.
    pub bytes: usize,
    /// Element type; it must be the parameter's.
    pub dtype: DType,
    /// Whether the kernel may write it.
    pub writable: bool,
}

/// One argument of a launch.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    /// A scalar; its type must be the parameter's.
    Scalar(Const),
    /// An array.
    Buffer(BufferArg),
    /// A null pointer.
    Null,
}

/// What a launch that went well hands back.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// printf records in (block, thread, time) order.
    pub output: Vec<PrintfRecord>,
    /// How many records were dropped past the bound.
    pub dropped: u64,
}

/// CUDA's limits on a launch (CUDA C++ Programming Guide, "Features and Technical Specifications").
pub mod limits {
    /// Most threads of a block.
    pub const THREADS_PER_BLOCK: u64 = 1024;
    /// Most threads of a block in z.
    pub const BLOCK_Z: u32 = 64;
    /// Most blocks in x.
    pub const GRID_X: u32 = i32::MAX as u32;
    /// Most blocks in y and in z.
    pub const GRID_YZ: u32 = 65_535;
    /// Most bytes of dynamic shared memory a block may ask for (the opt-in limit of compute capability 9.0).
    pub const SHARED_MEMORY: u32 = 227 * 1024;
}

struct Inner {
    text: String,
    options: CompileOptions,
    sources: Arc<SourceMap>,
    module: ir::Module,
    warnings: Vec<Diagnostic>,
    code: Code,
}

enum Code {
    Cpu(back::cpu::Code),
    Cuda(back::cuda::Code),
}

/// A compiled text. Cloning shares it; the machine code lives as long as any handle or running launch.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

/// A kernel of a [`Program`].
#[derive(Clone)]
pub struct Kernel {
    program: Program,
    id: FuncId,
}

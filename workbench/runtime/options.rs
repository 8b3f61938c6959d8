//! How a text is compiled, and for what.

use super::program::Device;
use crate::back::cpu::Tier;
use crate::front;

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
    /// Whether NVRTC may contract a multiplication and an addition into one rounding; `None` keeps its default. The CPU
    /// never contracts.
    pub fmad: Option<bool>,
    /// Which machine code to make for the CPU.
    pub tier: Tier,
    /// Host arrays say that they are on the CPU whatever a host function was registered for.
    pub strict_device: bool,
    /// Kernels that host code launches may touch the host's memory, as on machines whose GPUs reach it (heterogeneous memory management, or
    /// address translation in hardware). Elsewhere that is a fault.
    pub unified_memory: bool,
}

//! The instruction set of this machine, looked up once in a process for each way of compiling for it.

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use crate::once::Once;

/// The effort that a function is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Everything.
    Full,
    /// Everything but value numbering, which takes time that grows with the square of the function.
    Reduced,
    /// Code soon rather than good code: no value numbering, and register allocation in one pass. It takes less than
    /// half the time.
    Quick,
}

/// The code generator for this machine.
///
/// # Errors
/// A sentence, on a machine Cranelift has no back end for.
pub fn host(effort: Effort) -> Result<&'static OwnedTargetIsa, &'static str> {
    type Made = Once<Result<OwnedTargetIsa, String>>;
    static FULL: Made = Once::new(|| build(Effort::Full));
    static REDUCED: Made = Once::new(|| build(Effort::Reduced));
    static QUICK: Made = Once::new(|| build(Effort::Quick));
    let isa = match effort {
        Effort::Full => &FULL,
        Effort::Reduced => &REDUCED,
        Effort::Quick => &QUICK,
    };
    isa.as_ref().map_err(String::as_str)
}

/// True if fused multiply-add is an instruction of this machine; elsewhere it is a call.
pub fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

fn build(effort: Effort) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    // The verifier's own time grows with the square of the function.
    let verifier = if cfg!(debug_assertions) && effort == Effort::Full { "true" } else { "false" };
    let opt_level = if effort == Effort::Full { "speed" } else { "none" };
    let regalloc = if effort == Effort::Quick { "single_pass" } else { "backtracking" };
    for (name, value) in [
        ("opt_level", opt_level),
        ("regalloc_algorithm", regalloc),
        ("is_pic", "false"),
        // Every call target is an absolute address, whatever address the code is loaded at.
        ("use_colocated_libcalls", "false"),
        // Nothing unwinds through generated code: it returns a status.
        ("unwind_info", "false"),
        ("enable_probestack", "false"),
        ("enable_verifier", verifier),
    ] {
        flags.set(name, value).map_err(|e| format!("code generator setting `{name}`: {e}"))?;
    }
    let builder = cranelift_native::builder().map_err(|e| format!("this processor has no code generator: {e}"))?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| format!("this processor has no code generator: {e}"))
}

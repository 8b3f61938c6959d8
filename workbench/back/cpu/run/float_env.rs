//! The floating-point environment of generated code: round to nearest, no exceptions, denormals kept. The caller's environment is
//! restored afterwards.
//!
//! Upper halves of vector registers are clean as well, on x86-64: the code generator mixes instructions that leave them alone (reloads)
//! with instructions that clear them, and where bits are set there, each change between the two costs some hundred cycles on newer
//! Intel processors.

/// Sets the environment; puts the old one back when dropped.
pub struct FloatEnv {
    saved: Word,
}

#[cfg(target_arch = "x86_64")]
type Word = u32;
#[cfg(target_arch = "aarch64")]
type Word = u64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Word = ();

/// All exceptions masked, round to nearest, FTZ and DAZ off (Intel SDM volume 1, 10.2.3).
#[cfg(target_arch = "x86_64")]
const DEFAULT: Word = 0x1F80;
/// No exception traps, round to nearest, FZ off (Arm ARM, FPCR).
#[cfg(target_arch = "aarch64")]
const DEFAULT: Word = 0;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const DEFAULT: Word = ();

impl FloatEnv {
    /// Sets the environment of generated code.
    pub fn enter() -> Self {
        clear_uppers();
        let saved = read();
        if saved != DEFAULT {
            write(DEFAULT);
        }
        FloatEnv { saved }
    }
}

impl Drop for FloatEnv {
    fn drop(&mut self) {
        // The write also clears the exception flags that generated code raised: the caller itself never computed
        // anything.
        if read() != self.saved {
            write(self.saved);
        }
    }
}

/// Clears the bits above the lowest 128 of vector registers, which others may have left set, and which no code relies on
/// across a call.
fn clear_uppers() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx")]
        fn clear() {
            std::arch::x86_64::_mm256_zeroupper();
        }
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the processor has it.
            unsafe { clear() };
        }
    }
}

fn read() -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        let mut word = 0u32;
        // SAFETY: the instruction stores MXCSR to the word pointed at.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }
    #[cfg(target_arch = "aarch64")]
    {
        let word: u64;
        // SAFETY: the instruction reads FPCR.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) word, options(nostack, nomem, preserves_flags)) };
        word
    }
}

fn write(word: Word) {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the word is the default or one that was read, so no reserved bit is set; masked exceptions stay masked.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags))
        };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the word is the default or one that was read.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) word, options(nostack, nomem, preserves_flags)) };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let () = word;
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_upper_halves_of_registers_are_clean() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let upper: u64;
        // SAFETY: the processor has the instructions; the registers they change are declared.
        unsafe {
            std::arch::asm!(
                "vpcmpeqd xmm15, xmm15, xmm15",
                "vinsertf128 ymm15, ymm15, xmm15, 1",
                out("xmm15") _,
                options(nomem, nostack)
            );
        }
        let _env = FloatEnv::enter();
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "vextractf128 xmm15, ymm15, 1",
                "vmovq {}, xmm15",
                out(reg) upper,
                out("xmm15") _,
                options(nomem, nostack, preserves_flags)
            );
        }
        assert_eq!(upper, 0);
    }
}

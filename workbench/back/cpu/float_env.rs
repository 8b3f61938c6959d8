//! The floating-point environment of generated code: round to nearest, no exceptions, denormals kept; the caller's comes
//! back afterwards.

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
        let saved = read();
        if saved != DEFAULT {
            write(DEFAULT);
        }
        FloatEnv { saved }
    }
}

impl Drop for FloatEnv {
    fn drop(&mut self) {
        // Also clears the exception flags generated code raised, as the caller never computed anything.
        if read() != self.saved {
            write(self.saved);
        }
    }
}

fn read() -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        let mut word = 0u32;
        // SAFETY: stores MXCSR to the word pointed at.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }
    #[cfg(target_arch = "aarch64")]
    {
        let word: u64;
        // SAFETY: reads FPCR.
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

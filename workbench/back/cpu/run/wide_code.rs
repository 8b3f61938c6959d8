//! Wide code of one kernel: its entry, and the facts that a launch needs to run it.

use std::any::Any;

use crate::back::cpu::abi::context::EntryFn;
use crate::back::cpu::abi::site::{Named, SITE_BIT, Site};
use crate::back::cpu::tier::Tier;
use crate::back::lane::not_vectorised::Left;

/// Wide code of one kernel for blocks of one shape.
pub struct WideCode {
    /// The code, which runs a block.
    pub entry: EntryFn,
    /// The sites of its own numbers.
    pub sites: Vec<Site>,
    /// The kernel's slots, whose indices have [`WIDE_SLOT`](crate::back::cpu::abi::site::WIDE_SLOT).
    pub slots: Vec<Named>,
    /// The memory that a block's threads keep while others run: bytes of scratch for the block, bytes of local arrays
    /// for each thread.
    pub keeps: Option<(usize, usize)>,
    /// The number of threads that it has room for: whole groups.
    pub room: u32,
    /// True if a call may run several blocks that are neighbours in x.
    pub merges: bool,
    /// Shared variables that need be poisoned for a worker's first block alone, by their numbers in the module.
    pub overwritten: Vec<usize>,
    /// Parameters to whose arrays it only adds integers, with the size of an element.
    pub sums: Vec<(usize, usize)>,
    /// The number of blocks, neighbours in x, that may walk over memory together.
    pub walks: Option<u32>,
    /// Bytes of stack a thread has to have left.
    pub stack_need: usize,
    /// The number of loops and stretches that run in the processor's widest registers, and why others do not; for code that our own
    /// compiler made.
    pub loops: Option<(usize, Vec<Left>)>,
    /// [`Tier::Wide`] where a C compiler made it, else [`Tier::Lanes`].
    pub tier: Tier,
    /// The owner of the entry's memory.
    pub _memory: Box<dyn Any + Send + Sync>,
}

impl WideCode {
    /// The site of a word, without [`SITE_BIT`].
    pub fn site(&self, word: u64) -> Option<&Site> {
        self.sites.get(usize::try_from(word & !SITE_BIT).ok()?)
    }
}

/// Makes this thread's stores past the cache visible before its later stores. It runs once for each worker, because after each block it
/// took 7 % of the time of a transpose.
pub fn settle_stores() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

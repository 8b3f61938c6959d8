//! Stacks of fibers: one piece of memory for all threads of the blocks that a worker runs, of which the system gives the pages that
//! are touched.

use std::cell::Cell;
use std::num::NonZeroUsize;

use corosensei::stack::{Stack, StackPointer};
use memmap2::{MmapMut, MmapOptions};

use crate::back::cpu::stack;

/// Stack below the limit of generated code, for the Rust that it calls. Polls and messages run on the worker's own stack.
const MARGIN: usize = 64 << 10;

/// The unit of a stack's bounds.
const PAGE: usize = 4096;

/// The most memory that a thread holds on to for the next launch: address space, hardly any of it touched.
const MAX_CACHED: usize = 256 << 20;

thread_local! {
    static KEPT: Cell<Option<MmapMut>> = const { Cell::new(None) };
}

/// One stack: the highest address and the lowest. It belongs to [`Stacks`].
pub struct Part {
    base: StackPointer,
    limit: StackPointer,
}

// SAFETY: generated code compares the stack pointer with a limit before it runs past it, and the functions it calls need less than
// lies below.
unsafe impl Stack for Part {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// The stacks of a block's threads.
pub struct Stacks {
    memory: MmapMut,
    size: usize,
    /// The numbers of the stacks that no thread runs on.
    free: Vec<usize>,
}

impl Stacks {
    /// Stacks for so many threads, of code that needs so many bytes of an ordinary one; `None` without memory.
    pub fn new(threads: usize, stack_need: usize) -> Option<Self> {
        let size = (stack_need.saturating_sub(stack::MARGIN) + MARGIN).next_multiple_of(PAGE);
        let bytes = size.checked_mul(threads)?;
        let kept = KEPT.take().filter(|memory| memory.len() >= bytes);
        let memory = match kept {
            Some(memory) => memory,
            None => {
                let memory = MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()?;
                // A stack is hardly touched; one large page of memory would be as much as several stacks.
                #[cfg(target_os = "linux")]
                let _ = memory.advise(memmap2::Advice::NoHugePage);
                memory
            }
        };
        Some(Stacks { memory, size, free: (0..threads).rev().collect() })
    }

    /// A stack, with its number and the lowest address that generated code may use.
    pub fn take(&mut self) -> Option<(Part, usize, u64)> {
        let number = self.free.pop()?;
        let lowest = self.memory.as_mut_ptr().addr() + number * self.size;
        let (base, limit) = (NonZeroUsize::new(lowest + self.size)?, NonZeroUsize::new(lowest)?);
        Some((Part { base, limit }, number, (lowest + MARGIN) as u64))
    }

    /// Takes back the stack of that number, on which no thread runs any more.
    pub fn give_back(&mut self, number: usize) {
        self.free.push(number);
    }

    /// Leaves the memory to the next launch on this thread.
    pub fn put_back(self) {
        if self.memory.len() <= MAX_CACHED {
            KEPT.set(Some(self.memory));
        }
    }
}

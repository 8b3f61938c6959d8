//! Masks of a block's threads, and the words that describe the operands of a collective, as generated code lays them out.

/// Warps of the largest block.
pub const WARPS: usize = 32;

/// Threads of a warp.
pub const LANES: usize = 32;

/// Bytes of a mask: a bit for each thread of a block.
pub const MASK_BYTES: u32 = 4 * WARPS as u32;

/// The mask of the threads that run.
pub const ACTIVE: u32 = 0;

/// The mask of those that left the kernel.
pub const EXITED: u32 = 1;

/// The first mask of a construct.
pub const FIRST_MASK: u32 = 2;

/// Most operands of a collective.
pub const OPERANDS: usize = 4;

/// Words that describe them and the result: for each operand its bits and 0, or the address of its array and an element's size;
/// then the address of the result's array or 0.
pub const OPERAND_WORDS: u32 = 2 * OPERANDS as u32 + 1;

/// Bytes of a warp's operand, or of its result, where generated code gives the run time one warp: an element for each lane.
pub const WARP_ARRAY: u32 = 8 * LANES as u32;

/// Most branches around a collective for which generated code says which lanes took them.
pub const WARP_BRANCHES: usize = 8;

/// Bytes of all of them: the operands, the result, and a word for each branch.
pub const WARP_BYTES: u32 = WARP_ARRAY * (OPERANDS as u32 + 1) + 4 * WARP_BRANCHES as u32;

/// An operation of [`mask`](crate::back::cpu::run::block_sync::mask).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MaskOp {
    /// Makes all threads active; none has left.
    Init,
    /// Nothing.
    Any,
    /// Sets aside the threads whose condition does not hold.
    If,
    /// Exchanges the threads set aside and the active ones.
    Swap,
    /// Takes back the threads set aside.
    Merge,
    /// Sets no thread aside.
    Clear,
    /// Sets aside all active threads.
    Park,
}

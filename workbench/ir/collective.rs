//! Operations that threads do to memory in one step, and those that they compute together.

use super::words::words;

words! {
    /// The operation of an atomic on the value in memory and its operand; the result is the value that memory held before.
    AtomicOp {
        /// The sum; integers and floats.
        Add "add",
        /// The difference.
        Sub "sub",
        /// The operand.
        Exch "exch",
        /// The smaller.
        Min "min",
        /// The larger.
        Max "max",
        /// One more, or 0 when it is not below the operand (`u32`).
        Inc "inc",
        /// One less, or the operand when it is 0 or above the operand (`u32`).
        Dec "dec",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// The operand if memory holds `compare`, else the value that memory holds.
        Cas "cas",
    }
}

/// The lane that a shuffle reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// The lane given.
    Idx,
    /// The lane so many below.
    Up,
    /// The lane so many above.
    Down,
    /// The lane whose number differs in those bits.
    Xor,
}

/// The operation of a warp reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum, modulo 2^32.
    Add,
    /// The smallest, by the operand's signedness.
    Min,
    /// The largest.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// An operation that threads compute together; the operands are those of CUDA's function, `mask` a `u32`, `pred` a `Bool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collective {
    /// `__syncthreads_count(pred)`: a barrier; the number of threads whose predicate holds, an `i32`.
    SyncCount,
    /// `__syncthreads_and(pred)`: a barrier; true if all predicates hold, a `Bool`.
    SyncAnd,
    /// `__syncthreads_or(pred)`: a barrier; true if any predicate holds, a `Bool`.
    SyncOr,
    /// `__syncwarp(mask)`; no result.
    SyncWarp,
    /// `__shfl*_sync(mask, value, lane, width)`: another lane's value of 32 or 64 bits; `lane` and `width` are `i32`. A lane outside the
    /// segment gives the thread's own value, as in PTX's `shfl.sync`. A lane that does not take part gives poison.
    Shfl(Shuffle),
    /// `__ballot_sync(mask, pred)`: for each lane of the mask its predicate, a `u32`.
    Ballot,
    /// `__any_sync(mask, pred)`, a `Bool`.
    Any,
    /// `__all_sync(mask, pred)`, a `Bool`.
    All,
    /// `__uni_sync(mask, pred)`: true if all predicates are equal, a `Bool`.
    Uni,
    /// `__match_any_sync(mask, value)`: the lanes with this value's bits, a `u32`.
    MatchAny,
    /// `__match_all_sync(mask, value)`: the mask if all values have the same bits, else 0, a `u32`.
    MatchAll,
    /// `__reduce_*_sync(mask, value)` on `i32` or `u32`.
    Reduce(ReduceOp),
    /// `__activemask()`: the lanes that execute this together, a `u32`.
    ActiveMask,
}

impl Collective {
    /// True if it joins the whole block, rather than a warp.
    pub fn is_block(self) -> bool {
        matches!(self, Collective::SyncCount | Collective::SyncAnd | Collective::SyncOr)
    }

    /// The number of operands it takes.
    pub fn arity(self) -> usize {
        match self {
            Collective::ActiveMask => 0,
            Collective::SyncCount | Collective::SyncAnd | Collective::SyncOr | Collective::SyncWarp => 1,
            Collective::Shfl(_) => 4,
            _ => 2,
        }
    }

    /// CUDA's name.
    pub fn c_name(self) -> &'static str {
        match self {
            Collective::SyncCount => "__syncthreads_count",
            Collective::SyncAnd => "__syncthreads_and",
            Collective::SyncOr => "__syncthreads_or",
            Collective::SyncWarp => "__syncwarp",
            Collective::Shfl(Shuffle::Idx) => "__shfl_sync",
            Collective::Shfl(Shuffle::Up) => "__shfl_up_sync",
            Collective::Shfl(Shuffle::Down) => "__shfl_down_sync",
            Collective::Shfl(Shuffle::Xor) => "__shfl_xor_sync",
            Collective::Ballot => "__ballot_sync",
            Collective::Any => "__any_sync",
            Collective::All => "__all_sync",
            Collective::Uni => "__uni_sync",
            Collective::MatchAny => "__match_any_sync",
            Collective::MatchAll => "__match_all_sync",
            Collective::Reduce(ReduceOp::Add) => "__reduce_add_sync",
            Collective::Reduce(ReduceOp::Min) => "__reduce_min_sync",
            Collective::Reduce(ReduceOp::Max) => "__reduce_max_sync",
            Collective::Reduce(ReduceOp::And) => "__reduce_and_sync",
            Collective::Reduce(ReduceOp::Or) => "__reduce_or_sync",
            Collective::Reduce(ReduceOp::Xor) => "__reduce_xor_sync",
            Collective::ActiveMask => "__activemask",
        }
    }
}

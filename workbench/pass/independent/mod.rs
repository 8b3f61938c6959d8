//! Kernels whose threads may have to wait for one another in an order that is not known at compile time: each thread then needs a stack of
//! its own.
//!
//! [`regions`](super::regions) runs a block's threads in text order, from split to split. A device lets every lane of a warp make progress
//! by itself. The difference shows in two kinds of kernels, and only those are found here:
//!
//! - [`collectives`]: lanes that diverged may meet, because they call the same operation with the same mask at different places, or in
//!   different rounds of a loop.
//! - [`loops`]: a loop waits for a write that another thread of the block may make, later in text order, or after the loop in the same
//!   stretch.
//!
//! A kernel that is not found to need it keeps its code; if that turns out to be wrong, threads meet a fault that says so. Blocks are taken to
//! be one-dimensional, or to have whole warps in x.
//!
//! Locks, retried exchanges, queues, and waits for other blocks are recognised and keep their code.

mod collectives;
mod lanes;
mod loops;
mod places;
mod shapes;

use crate::ir::{Function, Module, Stmt};

/// True if a kernel's threads need to run independently.
pub fn is_needed(module: &Module, func: &Function) -> bool {
    collectives::may_meet(func) || loops::may_wait(module, func)
}

/// True if a statement joins all threads of the block.
fn joins_block(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Barrier(_)) || matches!(stmt, Stmt::Collective { op, .. } if op.is_block())
}

//! Whether threads of a block may have to wait for one another in no order that is known when compiling: then each needs a stack of its own.
//!
//! [`regions`](super::regions) runs a block's threads in text order, from split to split. Devices let every lane of a warp get on by itself.
//! The difference shows in two kinds of kernels, and only those are named here:
//!
//! - [`collectives`]: lanes that went different ways may meet, as they call the same operation with the same mask at different places, or in
//!   different rounds of a loop.
//! - [`loops`]: a loop waits for what another thread of the block may write, and does so later in text order, or behind it in the same
//!   stretch.
//!
//! What is not seen to be needed keeps its code; where that turns out to be wrong, threads meet a fault that says so. Blocks are taken to be of
//! one dimension, or to have whole warps in x.
//!
//! Locks, retried exchanges, queues, and what waits for other blocks are told apart and keep their code.

mod collectives;
mod lanes;
mod loops;
mod places;
mod shapes;

use crate::ir::{Function, Module, Stmt};

/// Whether a kernel's threads need to run independently.
pub fn is_needed(module: &Module, func: &Function) -> bool {
    collectives::may_meet(func) || loops::may_wait(module, func)
}

/// Whether a statement joins all threads of the block.
fn joins_block(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Barrier(_)) || matches!(stmt, Stmt::Collective { op, .. } if op.is_block())
}

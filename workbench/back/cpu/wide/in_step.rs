//! Kernels whose warps run in step: a group is a warp, and what its lanes do together is part of a region. `build/warp_collectives.rs` writes the code of it.

use super::value_forms::LANES;
use crate::back::Dim3;
use crate::ir::{Function, Stmt};

/// The chunks of a warp.
pub const CHUNKS: u32 = 2;

/// True if statements hold something that the lanes of a warp do together.
pub fn joins_lanes(stmts: &[Stmt]) -> bool {
    let is_joint = |stmt: &Stmt| matches!(stmt, Stmt::Collective { op, .. } if !op.is_block());
    let mut found = false;
    for stmt in stmts {
        found |= is_joint(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut |s| found |= is_joint(s)));
    }
    found
}

/// True if a kernel's warps do something together, and blocks of that shape have more than a chunk.
pub fn may_be(func: &Function, Dim3 { x, y, z }: Dim3) -> bool {
    x * y * z > LANES && joins_lanes(&func.body.stmts)
}

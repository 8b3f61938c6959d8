//! Blocks of a grid-stride loop, run round by round: neighbouring blocks work on neighbouring memory in the same round, so
//! that a worker reads long stretches where block after block would read a piece of each.
//!
//! Blocks are independent, and within a block the order is (round, row, thread), whatever the worker: which fault a block
//! ends in does not depend on how blocks are shared out. After a fault the blocks below it still run to their ends, because
//! the lowest block's fault is the launch's.

use super::context::{EntryFn, MORE_ROUNDS, WorkerCtx};
use super::pool;
use super::schedule::Launch;

/// Most rows (of all threads in x of one y and z) that take turns.
const MAX_ROWS: u64 = 1024;

/// How many blocks a worker takes next: neighbours belong together, so as many as leaves all workers something to do, less
/// towards the end.
pub fn claim(blocks: u64, left: u64) -> u64 {
    let width = pool::width() as u64;
    (left / (2 * width)).max(blocks / (8 * width)).max(1)
}

/// A row with rounds left to run.
#[derive(Debug, Clone, Copy)]
struct Row {
    linear: u64,
    block: [u32; 3],
    y: u32,
    z: u32,
}

/// Runs blocks `begin..end` to their ends; `false` when the worker has to stop.
///
/// # Safety
/// `code` is the machine code of this launch's entry point.
pub unsafe fn run(launch: &Launch<'_>, code: EntryFn, ctx: &mut WorkerCtx, begin: u64, end: u64) -> bool {
    let rows = u64::from(launch.block.y) * u64::from(launch.block.z);
    let together = (MAX_ROWS / rows).max(1);
    let mut turns = Vec::new();
    let mut from = begin;
    while from < end {
        let to = from.saturating_add(together).min(end);
        for linear in from..to {
            let block = launch.grid.unflatten(linear);
            for z in 0..launch.block.z {
                turns.extend((0..launch.block.y).map(|y| Row { linear, block, y, z }));
            }
        }
        // SAFETY: the caller's promise.
        if !unsafe { take_turns(launch, code, ctx, &mut turns) } {
            return false;
        }
        from = to;
    }
    true
}

/// # Safety
/// As for [`run`].
unsafe fn take_turns(launch: &Launch<'_>, code: EntryFn, ctx: &mut WorkerCtx, turns: &mut Vec<Row>) -> bool {
    ctx.round = 0;
    let mut lowest_fault = u64::MAX;
    while !turns.is_empty() {
        let mut kept = 0;
        for i in 0..turns.len() {
            let row = turns[i];
            if row.linear >= lowest_fault {
                break;
            }
            (ctx.block_linear, ctx.block, ctx.thread) = (row.linear, row.block, [0, row.y, row.z]);
            if !launch.charge(ctx) {
                return false;
            }
            // SAFETY: context and arguments are what the code was compiled for; the checks in it keep it to its buffers.
            match unsafe { code(ctx, launch.args.as_ptr()) } {
                0 => {}
                MORE_ROUNDS => {
                    turns[kept] = row;
                    kept += 1;
                }
                _ => {
                    if launch.stop.get().is_some() || ctx.worker.fault.is_none() {
                        return false;
                    }
                    if let Some(fault) = ctx.worker.fault.take() {
                        launch.record(row.linear, fault);
                    }
                    lowest_fault = row.linear;
                }
            }
        }
        turns.truncate(kept);
        turns.retain(|row| row.linear < lowest_fault);
        ctx.round += 1;
    }
    lowest_fault == u64::MAX
}

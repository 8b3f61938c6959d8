//! Blocks of a grid-stride loop, run round by round: neighbouring blocks work on neighbouring memory in the same round, so
//! that a worker reads long stretches where block after block would read a piece of each.
//!
//! Blocks are independent, and within a block the order is (round, row, thread), whatever the worker. A launch's fault is
//! that of its lowest faulting block's lowest faulting thread, as if threads had run one after the other: after a fault
//! every thread below it still runs to its end. A row can only be run as a whole, so the threads above the faulting one go
//! on in that row's later rounds; they write to arrays that may not be read after a fault.

use super::launch::{Launch, Running};
use super::pool;
use crate::back::cpu::abi::context::EntryFn;

/// Most rows (all threads in `x` of one `y` and `z`) that take turns.
const MAX_ROWS: u64 = 1024;

/// Fewest blocks worth keeping together: fewer would read memory in pieces of too few pages.
const NEIGHBOURS: u64 = 16;

/// The number of blocks a worker takes next: an even share of those left, because blocks are alike and long stretches of
/// memory are read faster, but no fewer than a few neighbours.
pub fn claim(blocks: u64, left: u64) -> u64 {
    let width = pool::width() as u64;
    (left / width).max(blocks.div_ceil(width).min(NEIGHBOURS))
}

/// The code of a kernel that is a grid-stride loop.
pub struct Rounds {
    /// The plain code: all rounds of one thread after the other.
    plain: EntryFn,
    /// Stores a row's numbers in the context; not 0 when only the plain code can run it.
    trip: EntryFn,
    /// One round of all threads of a row.
    round: EntryFn,
}

/// A row with rounds left to run.
#[derive(Debug, Clone, Copy)]
struct Row {
    linear: u64,
    block: [u32; 3],
    y: u32,
    z: u32,
    offset: i64,
    /// The offset past which there are no rounds.
    distance: i64,
    /// The stride; 0 until the trip is computed.
    stride: i64,
}

/// The outcome of a row's turn.
enum Turn {
    Done,
    Again,
    /// A thread of the row faulted, or the worker has to stop.
    Stopped,
}

impl Row {
    /// The place of a thread of this row among all of the launch.
    fn place(&self, x: u32) -> ThreadPlace {
        (self.linear, self.z, self.y, x)
    }

    fn is_over(&self) -> bool {
        self.stride == 0 || self.offset >= self.distance
    }
}

/// A thread's block, z, y and x, ordered as faults are.
type ThreadPlace = (u64, u32, u32, u32);

impl Rounds {
    /// # Safety
    /// The addresses are those of a kernel's entry points, of which `plain` is one.
    pub unsafe fn new(plain: EntryFn, trip: usize, round: usize) -> Self {
        // SAFETY: the caller's promise.
        let [trip, round] = [trip, round].map(|a| unsafe { std::mem::transmute::<usize, EntryFn>(a) });
        Rounds { plain, trip, round }
    }

    /// Runs blocks `begin..end` to their ends; `false` when the worker has to stop.
    ///
    /// # Safety
    /// This is the code of the launch's kernel, and the context is a worker's of it.
    pub unsafe fn run(&self, launch: &Launch<'_>, ctx: &mut Running, begin: u64, end: u64) -> bool {
        let rows = u64::from(launch.block.y) * u64::from(launch.block.z);
        let together = (MAX_ROWS / rows).max(1);
        let mut turns = Vec::new();
        let mut from = begin;
        while from < end {
            let to = from.saturating_add(together).min(end);
            for linear in from..to {
                let row =
                    Row { linear, block: launch.grid.unflatten(linear), y: 0, z: 0, offset: 0, distance: 0, stride: 0 };
                for z in 0..launch.block.z {
                    turns.extend((0..launch.block.y).map(|y| Row { y, z, ..row }));
                }
            }
            // SAFETY: the caller's promise.
            if !unsafe { self.take_turns(launch, ctx, &mut turns) } {
                return false;
            }
            from = to;
        }
        true
    }

    /// # Safety
    /// As for [`Rounds::run`].
    unsafe fn take_turns(&self, launch: &Launch<'_>, ctx: &mut Running, turns: &mut Vec<Row>) -> bool {
        let mut lowest: Option<ThreadPlace> = None;
        // A row matters if a thread of it is below the lowest fault.
        let matters = |lowest: Option<ThreadPlace>, row: &Row| lowest.is_none_or(|place| row.place(0) < place);
        while !turns.is_empty() {
            let mut kept = 0;
            for i in 0..turns.len() {
                let mut row = turns[i];
                if !matters(lowest, &row) {
                    continue;
                }
                (ctx.block_linear, ctx.block, ctx.thread) = (row.linear, row.block, [0, row.y, row.z]);
                // A fault leaves its frames linked.
                ctx.frames = std::ptr::null();
                // SAFETY: the caller's promise.
                let again = match unsafe { self.turn(launch, ctx, &mut row) } {
                    Turn::Done => false,
                    Turn::Again => true,
                    Turn::Stopped => {
                        if launch.stop.get().is_some() {
                            return false;
                        }
                        let Some(fault) = ctx.worker.fault.take() else { return false };
                        let place = row.place(fault.thread[0]);
                        if lowest.is_none_or(|other| place < other) {
                            lowest = Some(place);
                            launch.record(row.linear, fault);
                        }
                        !row.is_over()
                    }
                };
                if again {
                    turns[kept] = row;
                    kept += 1;
                }
            }
            turns.truncate(kept);
            turns.retain(|row| matters(lowest, row));
        }
        lowest.is_none()
    }

    /// One round of the row the context names, or all of it where rounds cannot be exchanged.
    ///
    /// # Safety
    /// As for [`Rounds::run`].
    unsafe fn turn(&self, launch: &Launch<'_>, ctx: &mut Running, row: &mut Row) -> Turn {
        let args = launch.args.as_ptr();
        if row.stride == 0 {
            if !launch.charge(ctx) {
                return Turn::Stopped;
            }
            // SAFETY: context and arguments are what the code was compiled for; the checks in it keep it to its buffers.
            if unsafe { (self.trip)(ctx.head(), args) } != 0 {
                // SAFETY: as above.
                return if unsafe { (self.plain)(ctx.head(), args) } == 0 { Turn::Done } else { Turn::Stopped };
            }
            [row.distance, row.stride] = ctx.trip;
        }
        if row.offset >= row.distance {
            return Turn::Done;
        }
        ctx.offset = row.offset;
        row.offset += row.stride;
        // SAFETY: as above.
        if unsafe { (self.round)(ctx.head(), args) } != 0 {
            return Turn::Stopped;
        }
        if row.offset < row.distance { Turn::Again } else { Turn::Done }
    }
}

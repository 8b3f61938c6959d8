//! Polls: what running code does every fraction of a millisecond.
//!
//! Generated code counts down a budget of operations and calls [`tick`] when it is used up. A fixed budget is enough: even
//! where each operation is a cache miss, it lasts a few tens of milliseconds, and where each is one cycle, a poll's 50 ns
//! are far below a thousandth of it.

use std::time::Instant;

use super::launch::{Launch, Role, Running};
use super::stop::{BUDGET, INTERRUPT_EVERY, Stop};
use super::{faults, fibers};
use crate::back::FaultKind;
use crate::back::cpu::abi::context::WorkerCtx;
use crate::back::cpu::abi::site::SiteKind;

/// Whether nobody has got on for too long. A loop that may wait and did nothing else since the last poll does only wait: one that ended
/// and began anew would have left a trace in the context's progress.
fn is_stuck(ctx: &mut Running, launch: &Launch<'_>, waits: bool) -> bool {
    let progress = waits.then_some(ctx.progress);
    if !ctx.worker.waiting.saw(progress) {
        gets_on(ctx, launch);
        return false;
    }
    only_waits(ctx, launch)
}

/// A worker does something.
pub fn gets_on(ctx: &mut Running, launch: &Launch<'_>) {
    launch.crowd.stop_waiting(&mut ctx.worker.waiting);
}

/// A worker does nothing but wait; whether all others have done nothing else for too long.
pub fn only_waits(ctx: &mut Running, launch: &Launch<'_>) -> bool {
    launch.crowd.only_waits(&mut ctx.worker.waiting)
}

/// Called by generated code, by way of [`thunk`](crate::back::cpu::make::thunk), when its budget is used up: the next budget, or -1 to stop. A `site`
/// that does not exist stands for the kernel itself; `packed` is as [`WorkerCtx::unpack_thread`] wants it.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn tick(ctx: *mut WorkerCtx, site: u64, packed: u32) -> i64 {
    // SAFETY: generated code passes the context it was given.
    if let Some(budget) = unsafe { fibers::tick(ctx, site) } {
        return budget;
    }
    // SAFETY: as above, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    ctx.unpack_thread(packed);
    if launch.is_moot(ctx.block_linear) {
        return -1;
    }
    poll(ctx, launch);
    let site = launch.site(site);
    let span = site.map_or(launch.entry.span, |s| s.span);
    // To the user the library's loops run where they called them.
    ctx.worker.in_library = site.is_some_and(|s| s.library);
    let Some((kind, detail)) = reason(launch) else {
        let waits = site.is_some_and(|s| matches!(s.kind, SiteKind::Poll { waits: true }));
        if is_stuck(ctx, launch, waits) {
            ctx.worker.fault = Some(faults::at(ctx, launch, FaultKind::NoProgress, span, WAITS.to_owned()));
            return -1;
        }
        ctx.budget = BUDGET;
        return BUDGET;
    };
    ctx.worker.fault = Some(faults::at(ctx, launch, kind, span, detail));
    -1
}

/// What is said where nobody gets on.
pub const WAITS: &str =
    "waits here for what no running thread brings: a later block, or another thread of its own block";

/// Why the launch stops, if it does.
pub fn reason(launch: &Launch<'_>) -> Option<(FaultKind, String)> {
    Some(match (launch.stop.get()?, launch.timeout) {
        (Stop::Timeout, Some(limit)) => (FaultKind::Timeout, format!("still running after {limit:?}")),
        (Stop::Timeout, None) => (FaultKind::Timeout, "still running".to_owned()),
        (Stop::Interrupted, _) => (FaultKind::Interrupted, "interrupted here".to_owned()),
    })
}

/// Looks whether to stop, and calls helpers.
pub fn poll(ctx: &mut Running, launch: &Launch<'_>) {
    let interruptible = ctx.worker.role == Role::Caller && launch.interrupt.is_some();
    if launch.deadline.is_some() || interruptible {
        let now = Instant::now();
        if launch.deadline.is_some_and(|d| now >= d) {
            launch.stop.set(Stop::Timeout);
        }
        // The first poll, early in the launch, only looks at the clock: to ask may take a launch of a fraction of a millisecond as long.
        // Launches of host code ask at once: it may make thousands of them without a poll of its own.
        let due = match ctx.worker.asked {
            Some(last) => now.duration_since(last) >= INTERRUPT_EVERY,
            None => launch.host.is_some(),
        };
        ctx.worker.asked.get_or_insert(now);
        if interruptible && due {
            ctx.worker.asked = Some(now);
            launch.ask();
        }
    }
    if ctx.worker.role != Role::Helper {
        launch.call_helpers();
    }
}

//! Ticks: calls by generated code every fraction of a millisecond to have its launch [polled](super::poll).
//!
//! Generated code counts down a budget of operations and calls [`tick`] when it is used up. A fixed budget is enough: where each operation
//! is a cache miss it lasts a few tens of milliseconds, and where each is one cycle, a poll is far below a thousandth of it.

use super::launch::Running;
use super::poll::{WAITS, is_stuck, poll, reason};
use super::stop::BUDGET;
use super::{fault_messages, fibers};
use crate::back::FaultKind;
use crate::back::cpu::abi::context::WorkerCtx;
use crate::back::cpu::abi::site::SiteKind;

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
    // The library's loops run, to the user, at the line that called them.
    ctx.worker.in_library = site.is_some_and(|s| s.library);
    let Some((kind, detail)) = reason(launch) else {
        let waits = site.is_some_and(|s| matches!(s.kind, SiteKind::Poll { waits: true }));
        if is_stuck(ctx, launch, waits) {
            ctx.worker.fault = Some(fault_messages::at(ctx, launch, FaultKind::NoProgress, span, WAITS.to_owned()));
            return -1;
        }
        ctx.budget = BUDGET;
        return BUDGET;
    };
    ctx.worker.fault = Some(fault_messages::at(ctx, launch, kind, span, detail));
    -1
}

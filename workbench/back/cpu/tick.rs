//! Polls: what running code does every fraction of a millisecond.
//!
//! Generated code counts down a budget of operations and calls [`tick`] when it is used up. A fixed budget is enough: even
//! where each operation is a cache miss, it lasts a few tens of milliseconds, and where each is one cycle, a poll's 50 ns
//! are far below a thousandth of it.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use super::context::WorkerCtx;
use super::faults;
use super::schedule::{INTERRUPT_EVERY, Launch, Role};
use crate::back::FaultKind;

/// Operations between polls: about half a millisecond of arithmetic.
pub const BUDGET: i64 = 1 << 20;

/// Why a launch stops before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// Its time is up.
    Timeout = 1,
    /// The user wants it.
    Interrupted = 2,
}

/// A [`Stop`] that any worker can set and all see.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Tells everyone to stop; the first reason stays.
    pub fn set(&self, stop: Stop) {
        let _ = self.0.compare_exchange(0, stop as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why to stop, if at all.
    pub fn get(&self) -> Option<Stop> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(Stop::Timeout),
            2 => Some(Stop::Interrupted),
            _ => None,
        }
    }
}

/// Called by generated code when its budget is used up: the next budget, or -1 to stop. A `site` that
/// does not exist stands for the kernel itself.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn tick(ctx: *mut WorkerCtx, site: u64) -> i64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
    if launch.is_moot(ctx.block_linear) {
        return -1;
    }
    poll(ctx, launch);
    let Some(stop) = launch.stop.get() else {
        ctx.budget = BUDGET;
        return BUDGET;
    };
    let span = launch.image.sites.get(site as usize).map_or(launch.entry.span, |s| s.span);
    let (kind, detail) = match (stop, launch.timeout) {
        (Stop::Timeout, Some(limit)) => (FaultKind::Timeout, format!("still running after {limit:?}")),
        (Stop::Timeout, None) => (FaultKind::Timeout, "still running".to_owned()),
        (Stop::Interrupted, _) => (FaultKind::Interrupted, "interrupted here".to_owned()),
    };
    ctx.worker.fault = Some(faults::at(ctx, launch, kind, span, detail));
    -1
}

fn poll(ctx: &mut WorkerCtx, launch: &Launch<'_>) {
    let interruptible = ctx.worker.role == Role::Caller && launch.interrupt.is_some();
    if launch.deadline.is_some() || interruptible {
        let now = Instant::now();
        if launch.deadline.is_some_and(|d| now >= d) {
            launch.stop.set(Stop::Timeout);
        }
        let due = ctx.worker.asked.is_none_or(|last| now.duration_since(last) >= INTERRUPT_EVERY);
        if interruptible && due {
            ctx.worker.asked = Some(now);
            launch.ask();
        }
    }
    if ctx.worker.role != Role::Helper {
        launch.call_helpers();
    }
}

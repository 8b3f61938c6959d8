//! Polls of a launch: whether it is to stop, whether any worker makes progress, and whether helpers should come.

use std::time::Instant;

use super::launch::{Launch, Role, Running};
use super::stop::{INTERRUPT_EVERY, Stop};
use crate::back::FaultKind;

/// True if no worker has made progress for too long. A loop that may wait and did nothing else since the last poll only waits: one that
/// ended and began anew would have left a trace in the context's progress.
pub fn is_stuck(ctx: &mut Running, launch: &Launch<'_>, waits: bool) -> bool {
    let progress = waits.then_some(ctx.progress);
    if !ctx.worker.waiting.saw(progress) {
        gets_on(ctx, launch);
        return false;
    }
    only_waits(ctx, launch)
}

/// Notes that a worker does something.
pub fn gets_on(ctx: &mut Running, launch: &Launch<'_>) {
    launch.crowd.stop_waiting(&mut ctx.worker.waiting);
}

/// Notes that a worker does nothing but wait; gives whether all others have done nothing else for too long.
pub fn only_waits(ctx: &mut Running, launch: &Launch<'_>) -> bool {
    launch.crowd.only_waits(&mut ctx.worker.waiting)
}

/// The message where no worker makes progress.
pub const WAITS: &str =
    "waits here for what no running thread brings: a later block, or another thread of its own block";

/// The reason that the launch stops, if it does.
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
        // The first poll, early in the launch, only looks at the clock: asking may take as long as a short launch. Launches of host code
        // ask at once: it may make thousands of them without a poll of its own.
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

//! Polls: what running code does every fraction of a millisecond.
//!
//! Generated code counts down a budget of operations and calls [`tick`] when it is used up. A fixed budget is enough: even
//! where each operation is a cache miss, it lasts a few tens of milliseconds, and where each is one cycle, a poll's 50 ns
//! are far below a thousandth of it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::context::WorkerCtx;
use super::faults::{self, SiteKind};
use super::fibers;
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

/// How long every worker has to do nothing but wait before that counts as no progress.
const NO_PROGRESS: Duration = Duration::from_millis(300);

/// The workers of a launch.
#[derive(Debug, Default)]
pub struct Crowd {
    running: AtomicU64,
    waiting: AtomicU64,
    /// Grows whenever somebody ends a wait, a range of blocks, or work as such.
    moves: AtomicU64,
}

impl Crowd {
    /// A worker begins.
    pub fn enter(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// A worker ends.
    pub fn leave(&self, own: &mut Waiting) {
        self.stop_waiting(own);
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.moved();
    }

    /// Somebody got on.
    pub fn moved(&self) {
        self.moves.fetch_add(1, Ordering::SeqCst);
    }

    fn stop_waiting(&self, own: &mut Waiting) {
        own.all_since = None;
        if std::mem::replace(&mut own.counted, false) {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            self.moved();
        }
    }
}

/// What a worker knows of its own waiting.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The context's progress at the last poll, where that was in a loop that may wait.
    seen: Option<u64>,
    /// Whether the launch counts it among those that wait.
    counted: bool,
    /// Since when everybody waits, and the launch's moves then.
    all_since: Option<(Instant, u64)>,
}

/// Whether nobody has got on for too long. A loop that may wait and did nothing else since the last poll does only wait: one that ended
/// and began anew would have left a trace in the context's progress.
fn is_stuck(ctx: &mut WorkerCtx, launch: &Launch<'_>, waits: bool) -> bool {
    let own = &mut ctx.worker.waiting;
    let seen = std::mem::replace(&mut own.seen, waits.then_some(ctx.progress));
    if seen.is_none() || seen != own.seen {
        gets_on(ctx, launch);
        return false;
    }
    only_waits(ctx, launch)
}

/// A worker does something.
pub fn gets_on(ctx: &mut WorkerCtx, launch: &Launch<'_>) {
    launch.crowd.stop_waiting(&mut ctx.worker.waiting);
}

/// A worker does nothing but wait; whether all others have done nothing else for too long.
pub fn only_waits(ctx: &mut WorkerCtx, launch: &Launch<'_>) -> bool {
    let (crowd, own) = (&launch.crowd, &mut ctx.worker.waiting);
    if !std::mem::replace(&mut own.counted, true) {
        crowd.waiting.fetch_add(1, Ordering::SeqCst);
    }
    // Whoever is waited for may need this core.
    std::thread::yield_now();
    let (now, moves) = (Instant::now(), crowd.moves.load(Ordering::SeqCst));
    if crowd.waiting.load(Ordering::SeqCst) < crowd.running.load(Ordering::SeqCst) {
        own.all_since = None;
        return false;
    }
    match own.all_since {
        Some((since, then)) if then == moves => now.duration_since(since) >= NO_PROGRESS,
        _ => {
            own.all_since = Some((now, moves));
            false
        }
    }
}

/// Called by generated code, by way of [`thunk`](super::thunk), when its budget is used up: the next budget, or -1 to stop. A `site`
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
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
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
pub fn poll(ctx: &mut WorkerCtx, launch: &Launch<'_>) {
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

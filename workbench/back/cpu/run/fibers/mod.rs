//! Threads of a block as fibers: each runs the whole kernel on a stack of its own, and yields where it waits for others.
//!
//! Only kernels that [`pass::independent`](crate::pass::independent) names run like this. A worker takes a block's threads in turn, in
//! their order, each from one yield to the next: at a barrier or a collective until those it waits for are there ([`meet`](mod@meet)), at
//! the end of a round of a loop that looks at what others do. So each thread that can makes progress, as on devices with independent thread
//! scheduling. A fault comes where none can: at once where all wait at barriers and collectives, after a while where some look for values
//! that another block may store.
//!
//! `__activemask()` gives the lanes that are together: a lane that asks waits until no lane of its warp can go on otherwise. The lanes that then
//! ask at the first place of the text are answered. Lanes meet again behind a condition as far as they can.
//!
//! Threads above one that faults go no further; those below it run until they end or wait, because the lowest fault is reported.
//!
//! Stacks are cut from one mapping for each worker. Polls and messages run on the worker's own stack. A warp function is over when all
//! lanes of its mask that have not left wait at the same operation with the same mask, wherever that is in the text; a barrier, when all
//! threads are at it. Threads also yield around volatile stores to shared memory, so that lanes store in step.
//! [`Tier::Fibers`](crate::back::cpu::Tier::Fibers) runs every kernel like this.

mod meet;
mod stacks;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::block_sync::index_of;
use super::launch::{Launch, Running};
use super::{fault_messages, poll, stop};
use crate::back::cpu::abi::context::{EntryFn, SlotFrame, WorkerCtx};
use crate::back::cpu::abi::host_fn::PauseReason;
use crate::back::cpu::abi::site::SiteKind;
use crate::back::{FaultKind, RawFault};
use crate::source::Span;
use stacks::{Part, Stacks};

/// Operations between polls. They are few, because a thread that looks at what others do in a called function yields at
/// a poll at the earliest.
const BUDGET: i64 = stop::BUDGET >> 6;

/// Turns between polls.
const TURNS: u32 = 1024;

/// The way from a fiber to the worker that runs it.
pub type Way = Yielder<i64, Pause>;

/// The point at which a thread yields.
#[derive(Debug, Clone, Copy)]
pub enum Pause {
    /// Its budget is used up.
    Poll(u64),
    /// A round of a loop is over.
    Spin(u64),
    /// A step.
    Step(u64),
    /// A barrier or collective, with operands; the result takes the place of the first.
    Meet(u64, *mut u64),
}

/// # Safety
/// `ctx` is the running worker's, and names a fiber.
unsafe fn pause(ctx: *mut WorkerCtx, pause: Pause) -> i64 {
    // SAFETY: the caller's promise. Nothing here owns anything, so the fiber may end at this place.
    unsafe { (*(*ctx).fiber.cast::<Way>()).suspend(pause) }
}

/// Called by generated code at a barrier or a collective: 0, or the status that stops the thread.
///
/// # Safety
/// `ctx` is the running worker's; `words` holds the operands of the site, and room for a result.
pub unsafe extern "C" fn meet(ctx: *mut WorkerCtx, site: u64, words: *mut u64) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { pause(ctx, Pause::Meet(site, words)) }
}

/// Called by generated code for a [`PauseReason`]: 0, or the status that stops the thread.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn give_way(ctx: *mut WorkerCtx, site: u64, reason: u64) -> i64 {
    let at = if reason == PauseReason::Spin as u64 { Pause::Spin(site) } else { Pause::Step(site) };
    // SAFETY: the caller's promise.
    unsafe { pause(ctx, at) }
}

/// A tick, as [`tick`](crate::back::cpu::run::tick::tick), of a fiber; `None` where the caller is none.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe fn tick(ctx: *mut WorkerCtx, site: u64) -> Option<i64> {
    // SAFETY: the caller's promise.
    unsafe { if (*ctx).fiber.is_null() { None } else { Some(pause(ctx, Pause::Poll(site))) } }
}

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ThreadState {
    /// It has not begun.
    New,
    /// It goes on when it is its turn, with this as the result of its call.
    Ready(i64),
    /// It looks at what others do, at that site; true if it did nothing else in its last turn.
    Spins(u64, bool),
    /// It waits at that site, with operands.
    Waits(u64, *mut u64),
    /// It has left the kernel.
    Gone,
    /// It faulted, or a lower one did.
    Dropped,
}

/// A thread of the running block.
struct Thread {
    state: ThreadState,
    fiber: Option<Coroutine<i64, Pause, u32, Part>>,
    /// The way back from the fiber, once it has begun.
    way: *const Way,
    /// Its slots that can be found by address.
    frames: *const SlotFrame,
    /// The number of its stack, and the lowest address of that.
    stack: (usize, u64),
}

const NEW: Thread =
    Thread { state: ThreadState::New, fiber: None, way: std::ptr::null(), frames: std::ptr::null(), stack: (0, 0) };

impl Thread {
    /// True if the thread would do something on its turn.
    fn can_run(&self) -> bool {
        matches!(self.state, ThreadState::New | ThreadState::Ready(_) | ThreadState::Spins(..))
    }

    /// True if the thread would make progress on its turn.
    fn gets_on(&self) -> bool {
        matches!(self.state, ThreadState::New | ThreadState::Ready(_) | ThreadState::Spins(_, false))
    }
}

/// The outcome of a turn.
enum Turn {
    /// The thread yielded; true if it made progress.
    Over(bool),
    /// The thread faults.
    Fault(Box<RawFault>),
    /// The launch is to stop; `None` where others tell why.
    Stop(Option<Box<RawFault>>),
}

/// The fibers of the blocks that a worker runs, one block after the other.
pub struct Fibers {
    stacks: Stacks,
    threads: Vec<Thread>,
    turns: u32,
    /// The number of threads that are gone; `joining` is the number that wait at an operation that joins the block.
    gone: usize,
    joining: usize,
}

impl Fibers {
    /// Fibers for blocks of so many threads, of code that needs so many bytes of an ordinary stack; `None` without
    /// memory.
    pub fn new(threads: usize, stack_need: usize) -> Option<Self> {
        let stacks = Stacks::new(threads, stack_need)?;
        let threads = (0..threads).map(|_| NEW).collect();
        Some(Fibers { stacks, threads, turns: 0, gone: 0, joining: 0 })
    }

    /// Leaves memory to the next launch on this thread.
    pub fn put_back(self) {
        self.stacks.put_back();
    }

    /// Runs the block that the context names; `false` when the worker has to stop.
    ///
    /// # Safety
    /// `code` is the machine code of this launch's entry point, made for fibers, and the context is a worker's of it.
    pub unsafe fn run(&mut self, launch: &Launch<'_>, ctx: &mut Running, code: EntryFn) -> bool {
        self.threads.iter_mut().for_each(|thread| *thread = NEW);
        (self.gone, self.joining) = (0, 0);
        let limit = ctx.stack_limit;
        // SAFETY: the caller's promise.
        let fault = unsafe { self.rounds(launch, ctx, code) };
        (0..self.threads.len()).for_each(|t| self.discard(t));
        (ctx.stack_limit, ctx.frames, ctx.fiber) = (limit, std::ptr::null(), std::ptr::null());
        ctx.budget = stop::BUDGET;
        match fault {
            Ok(()) => true,
            Err(fault) => {
                ctx.worker.fault = fault.map(|fault| *fault);
                false
            }
        }
    }

    /// Gives every thread its turn until all are gone.
    ///
    /// # Safety
    /// As of [`Fibers::run`].
    unsafe fn rounds(
        &mut self,
        launch: &Launch<'_>,
        ctx: &mut Running,
        code: EntryFn,
    ) -> Result<(), Option<Box<RawFault>>> {
        // Threads from here on do not count any more: a lower one has faulted.
        let mut end = self.threads.len();
        let mut lowest = None;
        loop {
            let (mut any, mut moved) = (false, false);
            let mut t = 0;
            while t < end {
                if self.threads[t].can_run() {
                    any = true;
                    // SAFETY: the caller's promise.
                    match unsafe { self.turn(launch, ctx, code, t) } {
                        Turn::Over(got_on) => moved |= got_on,
                        Turn::Fault(fault) => {
                            (t..end).for_each(|t| self.discard(t));
                            (end, lowest) = (t, Some(fault));
                        }
                        Turn::Stop(fault) => return Err(fault),
                    }
                }
                t += 1;
            }
            moved |= self.answer_together(launch, end);
            if self.gone == self.threads.len() {
                return Ok(());
            }
            if moved {
                poll::gets_on(ctx, launch);
            } else if any {
                // A thread below one that faulted may wait for another block, and fault after that.
                match self.wait(launch, ctx) {
                    Err(Some(fault)) if fault.kind == FaultKind::NoProgress => return Err(lowest.or(Some(fault))),
                    result => result?,
                }
            } else {
                return Err(lowest.or_else(|| self.stuck(launch, ctx).map(Box::new)));
            }
        }
    }

    /// No thread makes progress: all that run look at what others do.
    fn wait(&self, launch: &Launch<'_>, ctx: &mut Running) -> Result<(), Option<Box<RawFault>>> {
        let spins = |thread: &Thread| match thread.state {
            ThreadState::Spins(site, _) => Some(site),
            _ => None,
        };
        let found = self.threads.iter().enumerate().find_map(|(t, thread)| Some((t, spins(thread)?)));
        let Some((t, site)) = found else { return Ok(()) };
        if let Turn::Stop(fault) = look(launch, ctx, t, site) {
            return Err(fault);
        }
        if !poll::only_waits(ctx, launch) {
            return Ok(());
        }
        let detail = poll::WAITS.to_owned();
        Err(Some(Box::new(at(launch, ctx, t, FaultKind::NoProgress, site, detail))))
    }

    /// A thread's turn.
    ///
    /// # Safety
    /// As of [`Fibers::run`].
    unsafe fn turn(&mut self, launch: &Launch<'_>, ctx: &mut Running, code: EntryFn, t: usize) -> Turn {
        ctx.thread = index_of(ctx, t);
        let before = ctx.progress;
        let address = ctx.head();
        let thread = &mut self.threads[t];
        let was = thread.state;
        let mut input = match was {
            ThreadState::Ready(input) => input,
            _ => 0,
        };
        let fiber = match &mut thread.fiber {
            Some(fiber) => fiber,
            empty => {
                let Some((part, number, limit)) = self.stacks.take() else { return Turn::Stop(None) };
                thread.stack = (number, limit);
                ctx.budget = BUDGET;
                let (address, args) = (address.expose_provenance(), launch.args.as_ptr().expose_provenance());
                let run = move |way: &Way, _: i64| {
                    let ctx = std::ptr::with_exposed_provenance_mut::<WorkerCtx>(address);
                    // SAFETY: context and arguments outlive the block, and are what the code was compiled for.
                    unsafe {
                        (*ctx).fiber = std::ptr::from_ref(way).cast();
                        code(ctx, std::ptr::with_exposed_provenance(args))
                    }
                };
                empty.insert(Coroutine::with_stack(part, run))
            }
        };
        // SAFETY: the context is the worker's.
        unsafe {
            ((*address).fiber, (*address).frames, (*address).stack_limit) =
                (thread.way.cast(), thread.frames, thread.stack.1);
        }
        let result = loop {
            let result = fiber.resume(input);
            let CoroutineResult::Yield(Pause::Poll(site)) = result else { break result };
            if let Turn::Stop(fault) = look(launch, ctx, t, site) {
                return Turn::Stop(fault);
            }
            // A thread that computes goes on: if recursive threads took turns, all their stacks would be in use at
            // once.
            if launch.site(site).is_some_and(|site| matches!(site.kind, SiteKind::Poll { waits: true })) {
                break result;
            }
            input = BUDGET;
        };
        // SAFETY: as above.
        let (way, frames) = unsafe { ((*address).fiber, (*address).frames) };
        (thread.way, thread.frames) = (way.cast(), frames);
        ctx.fiber = std::ptr::null();
        let is_idle = {
            let changed = ctx.progress != before;
            move |site: u64| !changed && matches!(was, ThreadState::Spins(last, _) if last == site)
        };
        let (state, site) = match result {
            CoroutineResult::Return(0) => {
                self.leave(launch, t);
                return Turn::Over(true);
            }
            CoroutineResult::Return(_) => {
                return match ctx.worker.fault.take() {
                    Some(fault) => Turn::Fault(Box::new(fault)),
                    None => Turn::Stop(None),
                };
            }
            // A loop of a called function has no budget from then on, so that it polls at the end of each round.
            CoroutineResult::Yield(Pause::Poll(site) | Pause::Spin(site)) => {
                (ThreadState::Spins(site, is_idle(site)), site)
            }
            CoroutineResult::Yield(Pause::Step(site)) => (ThreadState::Ready(0), site),
            CoroutineResult::Yield(Pause::Meet(site, words)) => {
                self.threads[t].state = ThreadState::Waits(site, words);
                if let Err(fault) = self.arrive(launch, ctx, t, site) {
                    return Turn::Fault(fault);
                }
                (self.threads[t].state, site)
            }
        };
        self.threads[t].state = state;
        self.turns += 1;
        if self.turns >= TURNS {
            self.turns = 0;
            if let Turn::Stop(fault) = look(launch, ctx, t, site) {
                return Turn::Stop(fault);
            }
        }
        Turn::Over(!matches!(state, ThreadState::Spins(_, true)))
    }

    /// A thread has left the kernel.
    fn leave(&mut self, launch: &Launch<'_>, t: usize) {
        let thread = &mut self.threads[t];
        thread.fiber = None;
        thread.state = ThreadState::Gone;
        self.stacks.give_back(thread.stack.0);
        self.gone += 1;
        self.left(launch, t);
    }

    /// A thread goes no further.
    fn discard(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        if let Some(mut fiber) = thread.fiber.take() {
            if fiber.started() {
                // SAFETY: generated code has nothing to drop, and neither have the functions it calls that yield.
                unsafe { fiber.force_reset() };
            }
            self.stacks.give_back(thread.stack.0);
        }
        if thread.state != ThreadState::Gone {
            thread.state = ThreadState::Dropped;
        }
    }
}

/// A poll, for a thread.
fn look(launch: &Launch<'_>, ctx: &mut Running, t: usize, site: u64) -> Turn {
    if launch.is_moot(ctx.block_linear) {
        return Turn::Stop(None);
    }
    poll::poll(ctx, launch);
    match poll::reason(launch) {
        Some((kind, detail)) => Turn::Stop(Some(Box::new(at(launch, ctx, t, kind, site, detail)))),
        None => Turn::Over(true),
    }
}

/// The place of a site in the text.
fn span(launch: &Launch<'_>, site: u64) -> Span {
    launch.site(site).map_or(launch.entry.span, |site| site.span)
}

/// A fault of a thread.
fn at(launch: &Launch<'_>, ctx: &mut Running, t: usize, kind: FaultKind, site: u64, detail: String) -> RawFault {
    ctx.thread = index_of(ctx, t);
    fault_messages::at(ctx, launch, kind, span(launch, site), detail)
}

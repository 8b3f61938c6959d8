//! The schedule of a launch: workers claim ranges of blocks in ascending order from one counter.
//!
//! The caller always works too. It calls helpers when the estimate of the work, the time its first blocks took, or its first poll says that
//! waking a thread pays. A helper that comes too late finds the launch closed and goes away. So a launch never waits for a thread that has
//! not begun, and may be made on any thread, those of the pool included.
//!
//! `change_tier.rs` ends the claims when better code is there; the rest of the blocks is a part of its own, with that code.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::fibers::Fibers;
use super::float_env::FloatEnv;
use super::launch::{Apart, BoundArgs, Finished, Launch, LaunchCode, Role, Running, Worker, lock};
use super::memory::{BlockMemory, SharedMemory};
use super::records::merge;
use super::rounds::{self, Rounds};
use super::stop::{BUDGET, INTERRUPT_EVERY, Stop, StopFlag};
use super::wide_code::settle_stores;
use super::{pool, sums, tick};
use crate::back::cpu::abi::context::{EntryFn, THREAD_KNOWN, WorkerCtx, direct};
use crate::back::cpu::abi::site::Named;
use crate::back::cpu::image::{EntryPoint, Image, Way};
use crate::back::cpu::stack;
use crate::back::{FaultKind, Interrupt, LaunchConfig, Outcome, RawFault, name_kernel, notebook};

/// Nanoseconds of an operation of the static estimate, in code that runs thread by thread.
const NS_PER_OP: f64 = 0.35;

/// The same in vector code. It is low: what takes longer is seen when the first claim has been timed, and helpers are called then.
const NS_PER_OP_OF_VECTORS: f64 = 0.03;

/// Work worth waking helpers for, in nanoseconds.
const WORTH_HELP: f64 = 25_000.0;

/// Work of a thread worth waiting for good code, in nanoseconds: about the time it takes to make.
const WORTH_GOOD_CODE: f64 = 4e6;

/// The time a first claim aims at.
const FIRST_CLAIM: f64 = 5_000.0;

/// The time later claims aim at: long against the counter's cost, short against a launch. A stencil reads the elements on both sides of a
/// claim twice.
const CLAIM: f64 = 200_000.0;

/// Most blocks of one call of code that takes several: a fraction of a millisecond.
const MAX_RUN: u64 = 1024;

/// True if a launch is worth waiting for good code.
pub fn is_worth_good_code(entry: &EntryPoint, config: &LaunchConfig<'_>) -> bool {
    let threads = config.grid.count() as f64 * config.block.count() as f64;
    let work = threads * entry.estimate as f64 * NS_PER_OP;
    work > WORTH_GOOD_CODE * if config.serial { 1.0 } else { pool::width() as f64 }
}

/// Runs `entry`; gives the result of a host function as bits.
pub fn run<'a>(
    image: &'a Image,
    entry: &'a EntryPoint,
    code: LaunchCode<'a>,
    bound: &BoundArgs<'a>,
    config: &LaunchConfig<'a>,
) -> (u64, Outcome) {
    let (blocks, threads) = (config.grid.count(), config.block.count());
    if blocks == 0 || threads == 0 {
        return (0, Outcome::default());
    }
    let mut start = Start { code, first: 0, finished: Finished::default() };
    loop {
        match part(image, entry, start, bound, config) {
            Ended::Done(bits, outcome) => return (bits, outcome),
            Ended::Overtaken(next) => start = next,
        }
    }
}

/// The code of a part of a launch, its first block, and what the parts before gave.
struct Start<'a> {
    code: LaunchCode<'a>,
    first: u64,
    finished: Finished,
}

/// The end of a part of a launch.
enum Ended<'a> {
    /// The launch is over: the result of a host function as bits, and the outcome.
    Done(u64, Outcome),
    /// Better code runs the rest.
    Overtaken(Start<'a>),
}

/// Runs blocks until better code is there. The launch stays where it is made: it is large, and moves of it showed in the time of a small
/// launch.
fn part<'a>(
    image: &'a Image,
    entry: &'a EntryPoint,
    Start { code: LaunchCode { machine, wide, tier, better }, first, finished }: Start<'a>,
    &BoundArgs { descs, derived, args, deadline }: &BoundArgs<'a>,
    config: &LaunchConfig<'a>,
) -> Ended<'a> {
    let (blocks, threads) = (config.grid.count(), config.block.count());
    // One call of the code runs this many threads: a block, or a row.
    let whole = entry.keeps.is_some() || wide.is_some() || entry.fibers;
    let together = if whole { threads } else { u64::from(config.block.x) };
    let ns_per_op = if wide.is_some() { NS_PER_OP_OF_VECTORS } else { NS_PER_OP };
    let block_ns = threads as f64 * entry.estimate as f64 * ns_per_op;
    let work = block_ns * (blocks - first) as f64;
    entry.last.store(tier as u8, Ordering::Relaxed);
    tier.note_run();
    let sums = match &wide {
        Some(code) => sums::of_launch(&code.sums, args, descs, derived, blocks - first),
        None => Vec::new(),
    };
    let parallel = !config.serial && blocks - first > 1 && pool::width() > 1;
    let launch = Launch {
        image,
        machine,
        wide,
        better,
        is_overtaken: AtomicBool::new(false),
        overtaken_by: Mutex::default(),
        entry,
        descs,
        derived,
        args,
        reach: config.reach.iter().map(Named::reached).collect(),
        sums,
        grid: config.grid,
        block: config.block,
        timeout: config.timeout,
        deadline,
        interrupt: config.interrupt,
        host: config.host,
        blocks,
        block_ns,
        row_cost: (together * entry.straight.min(1 << 24)) as i64,
        parallel,
        next: Apart(AtomicU64::new(first)),
        stop: StopFlag::default(),
        shared_mem: u32::try_from(config.shared_mem).unwrap_or(u32::MAX),
        crowd: Apart::default(),
        fault_block: AtomicU64::new(u64::MAX),
        helped: AtomicBool::new(false),
        helpers: parallel.then(Arc::default),
        finished: Mutex::new(finished),
    };
    // A launch that is too short to be asked still ends the loop that it is in.
    if notebook::is_stopped() {
        launch.stop.set(Stop::Interrupted);
    }
    if launch.parallel && work > WORTH_HELP {
        launch.call_helpers();
    }
    if stack::remaining().is_some_and(|left| left >= launch.stack_need()) {
        launch.work(Role::Caller);
    } else {
        launch.work_elsewhere();
    }
    launch.wait();
    let finished = std::mem::take(&mut *lock(&launch.finished));
    let Some((wide, more)) = launch.better_code() else {
        let (bits, outcome) = launch.outcome(finished);
        return Ended::Done(bits, outcome);
    };
    let code = LaunchCode { machine, tier: wide.tier, wide: Some(wide), better: better.filter(|_| more) };
    Ended::Overtaken(Start { code, first: launch.next.load(Ordering::Relaxed), finished })
}

impl Launch<'_> {
    /// Asks the pool for help, once.
    pub fn call_helpers(&self) {
        let left = self.blocks.saturating_sub(self.next.load(Ordering::Relaxed));
        // The flag is read before it is written: every poll reads it, and a locked instruction waits until all stores past the cache are
        // in memory, which took 7 % of a stencil's time.
        let helped = || self.helped.load(Ordering::Relaxed) || self.helped.swap(true, Ordering::Relaxed);
        let Some(helpers) = &self.helpers else { return };
        if left == 0 || helped() {
            return;
        }
        let count = left.min(pool::width() as u64 - 1) as usize;
        let (launch, helpers) = (std::ptr::from_ref(self) as usize, Arc::clone(helpers));
        pool::spawn(count, move || {
            {
                let mut state = lock(&helpers.state);
                if state.closed {
                    return;
                }
                state.running += 1;
                helpers.busy.store(state.running, Ordering::Relaxed);
            }
            // SAFETY: the launch is not closed, and `wait` lets it end only when no helper runs.
            let launch = unsafe { &*(launch as *const Launch<'_>) };
            launch.work(Role::Helper);
            {
                let mut state = lock(&helpers.state);
                state.running -= 1;
                helpers.busy.store(state.running, Ordering::Relaxed);
            }
            helpers.left.notify_all();
        });
    }

    /// Closes the launch and waits for the helpers that have begun, asking meanwhile whether to stop.
    fn wait(&self) {
        let Some(helpers) = &self.helpers else { return };
        let mut state = lock(&helpers.state);
        state.closed = true;
        if state.running > 0 {
            // Blocks take about as long as one another, so the helpers are about to end as well.
            drop(state);
            let begin = Instant::now();
            while helpers.busy.load(Ordering::Relaxed) > 0 && begin.elapsed() < pool::LINGER {
                std::hint::spin_loop();
            }
            state = lock(&helpers.state);
        }
        while state.running > 0 {
            if self.interrupt.is_none() {
                state = helpers.left.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (guard, waited) =
                helpers.left.wait_timeout(state, INTERRUPT_EVERY).unwrap_or_else(PoisonError::into_inner);
            drop(guard);
            if waited.timed_out() {
                self.ask();
            }
            state = lock(&helpers.state);
        }
    }

    /// Asks whether to stop, on the launching thread.
    pub fn ask(&self) -> bool {
        // The caller may be generated code: nothing can unwind through it, so a callback that panics stops the launch.
        let asked = |i: &dyn Interrupt| std::panic::catch_unwind(AssertUnwindSafe(|| i.interrupted())).unwrap_or(true);
        let stop = self.interrupt.is_some_and(asked);
        if stop {
            self.stop.set(Stop::Interrupted);
        }
        stop
    }

    /// Bytes of stack a thread has to have left.
    fn stack_need(&self) -> usize {
        self.machine.stack_need.max(self.wide.as_ref().map_or(0, |code| code.stack_need))
    }

    /// Runs on a thread made for this launch, for a caller whose own stack is too small.
    fn work_elsewhere(&self) {
        let size = (self.stack_need() + stack::MARGIN).max(stack::POOL_THREAD);
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("workbench-launch".to_owned()).stack_size(size);
            match builder.spawn_scoped(scope, || self.work(Role::Stand)) {
                Ok(thread) => {
                    // The thread does not unpark this one; a launch this rare may end a poll late.
                    let mut pause = Duration::from_micros(20);
                    while !thread.is_finished() {
                        std::thread::park_timeout(pause);
                        pause = (pause * 2).min(INTERRUPT_EVERY);
                        self.ask();
                    }
                }
                Err(e) => {
                    let detail = format!("no stack to run on: the system gave no thread ({e})");
                    let fault = RawFault {
                        kind: FaultKind::StackOverflow,
                        span: self.entry.span,
                        block: [0; 3],
                        thread: [0; 3],
                        detail,
                        related: None,
                        kernel: None,
                        called: None,
                    };
                    lock(&self.finished).fault = Some((0, fault));
                }
            }
        });
    }

    fn work(&self, role: Role) {
        let float_env = FloatEnv::enter();
        let overwritten = self.wide.as_ref().map_or(&[][..], |code| &code.overwritten);
        let mut shared = SharedMemory::new(self.image.shared.len(), &self.entry.shared, self.shared_mem, overwritten);
        let mut kept = match self.keeps() {
            None => None,
            Some(needs) => match BlockMemory::new(needs, self.room(), self.block) {
                Some(kept) => Some(kept),
                None => return self.record(0, self.too_much_kept(needs.1)),
            },
        };
        let mut fibers = match self.entry.fibers && self.wide.is_none() {
            false => None,
            true => match Fibers::new(self.block.count() as usize, self.machine.stack_need) {
                Some(fibers) => Some(fibers),
                None => return self.record(0, self.no_stacks()),
            },
        };
        let has_sums = self.wide.as_ref().is_some_and(|code| !code.sums.is_empty());
        let own = sums::Own::new(&self.sums, if has_sums { self.args.len() } else { 0 });
        self.crowd.enter();
        let stack_limit = stack::pointer().saturating_sub(stack::CALLS) as u64;
        let head = self.context(stack_limit, &shared, kept.as_mut(), &own);
        let worker = Worker { role, ..Worker::default() };
        let mut ctx = Running { ctx: head, launch: std::ptr::from_ref(self).cast(), worker };
        let address = |part| self.machine.address(part).expect("every entry point has code");
        let code = self.entry_code(&mut ctx);
        let code = self.wide.as_ref().map_or(code, |wide| wide.entry);
        // SAFETY: the addresses are those of functions compiled with it, in code memory that outlives the launch.
        let rounds = self.rounds().map(|part| unsafe { Rounds::new(code, address(part), address(part + 1)) });
        let (mut size, mut begun) = (self.first_claim(), None);
        while !self.is_overtaken.load(Ordering::Relaxed) {
            let begin = self.next.fetch_add(size, Ordering::Relaxed);
            if begin >= self.blocks || begin > self.fault_block.load(Ordering::Relaxed) || self.stop.get().is_some() {
                break;
            }
            let end = begin.saturating_add(size).min(self.blocks);
            // A launch that needs one claim is not timed: the clock would show in the time of a small one.
            let start = (end < self.blocks).then(Instant::now);
            begun = begun.or(start);
            let ran = match &rounds {
                // SAFETY: the code is that of this launch's entry point.
                Some(rounds) => unsafe { rounds.run(self, &mut ctx, begin, end) },
                // SAFETY: as above.
                None => unsafe { self.run_blocks(code, &mut ctx, (&mut shared, fibers.as_mut()), begin, end) },
            };
            self.crowd.moved();
            if !ran {
                if let Some(fault) = ctx.worker.fault.take() {
                    self.record(ctx.block_linear, fault);
                }
                break;
            }
            if let (Some(begun), Some(start)) = (begun, start) {
                let block_ns = (start.elapsed().as_nanos() as f64 / (end - begin) as f64).max(0.1);
                size = self.next_claim(size, end, block_ns, role, begun);
            }
        }
        if self.wide.is_some() {
            settle_stores();
        }
        own.add_up();
        self.crowd.leave(&mut ctx.worker.waiting);
        drop(float_env);
        if let Some(kept) = kept {
            kept.put_back();
        }
        if let Some(fibers) = fibers {
            fibers.put_back();
        }
        self.hand_in(&mut ctx);
    }

    /// The context by which generated code finds everything else, before its first block.
    #[inline]
    fn context(
        &self,
        stack_limit: u64,
        shared: &SharedMemory,
        mut kept: Option<&mut BlockMemory>,
        own: &sums::Own<'_>,
    ) -> WorkerCtx {
        WorkerCtx {
            budget: BUDGET,
            stack_limit,
            frames: std::ptr::null(),
            block_linear: 0,
            block: [0; 3],
            run: 1,
            walk: 0,
            thread: [0; 3],
            grid: [self.grid.x, self.grid.y, self.grid.z],
            dims: [self.block.x, self.block.y, self.block.z],
            ret: 0,
            ret_desc: 0,
            offset: 0,
            trip: [0; 2],
            shared: shared.descs(),
            scratch: kept.as_mut().map_or(std::ptr::null_mut(), |k| k.scratch.as_mut_ptr().cast()),
            slots: kept.as_mut().map_or(std::ptr::null_mut(), |k| k.slots.as_mut_ptr().cast()),
            threads: kept.as_ref().map_or(std::ptr::null(), |k| k.threads.as_ptr()),
            sums: own.pointers(),
            progress: 0,
            fault: [0; 3],
            fiber: std::ptr::null(),
            direct: (0, self.entry.params.len()),
        }
    }

    /// The machine code of the entry point, and in `ctx` what that calls.
    #[inline]
    fn entry_code(&self, ctx: &mut Running) -> EntryFn {
        let address = |part| self.machine.address(part).expect("every entry point has code");
        match &self.entry.way {
            // SAFETY: the address is that of an entry point the code memory of `image` holds, which outlives the launch.
            Way::Part(part) => unsafe { std::mem::transmute::<usize, EntryFn>(address(*part)) },
            Way::Direct(part) => {
                ctx.direct.0 = address(*part);
                direct as EntryFn
            }
            Way::Kept(kept) => {
                // A program exists only when all kept code that it uses has been made.
                ctx.direct.0 = kept.address().expect("kept code that is used is there");
                direct as EntryFn
            }
        }
    }

    /// Keeps a worker's result, and what it printed.
    #[inline]
    fn hand_in(&self, ctx: &mut Running) {
        let mut finished = lock(&self.finished);
        finished.result = ctx.ret;
        let (records, dropped) = ctx.worker.output.take();
        finished.dropped += dropped;
        if finished.records.is_empty() {
            finished.records = records;
        } else {
            finished.records.extend(records);
        }
    }

    fn too_much_kept(&self, slots: usize) -> RawFault {
        let detail =
            format!("the local arrays of a block's {} threads, {slots} bytes each, are too much", self.block.count());
        let (kind, span) = (FaultKind::StackOverflow, self.entry.span);
        RawFault { kind, span, block: [0; 3], thread: [0; 3], detail, related: None, kernel: None, called: None }
    }

    fn no_stacks(&self) -> RawFault {
        let threads = self.block.count();
        let detail =
            format!("its threads wait for one another on stacks of their own, and there is no memory for {threads}");
        let (kind, span) = (FaultKind::StackOverflow, self.entry.span);
        RawFault { kind, span, block: [0; 3], thread: [0; 3], detail, related: None, kernel: None, called: None }
    }

    /// Runs blocks `begin..end`, row by row or each as a whole; `false` when it has to stop.
    ///
    /// # Safety
    /// `code` is the machine code of this launch's entry point.
    unsafe fn run_blocks(
        &self,
        code: EntryFn,
        ctx: &mut Running,
        (shared, mut fibers): (&mut SharedMemory, Option<&mut Fibers>),
        begin: u64,
        end: u64,
    ) -> bool {
        ctx.block = self.grid.unflatten(begin);
        if self.wide.as_ref().is_some_and(|code| code.merges) {
            // SAFETY: as above.
            return unsafe { self.run_rows(code, ctx, begin, end) };
        }
        // The number of blocks that may walk over memory together, as long as something comes of it.
        let mut together = self.wide.as_ref().and_then(|code| code.walks).map_or(0, u64::from);
        ctx.walk = 0;
        for linear in begin..end {
            ctx.block_linear = linear;
            if together > 0 {
                let all = end - linear >= together && u64::from(ctx.block[0]) + together <= u64::from(self.grid.x);
                ctx.walk = match u64::from(ctx.walk) {
                    n if (1..together).contains(&n) => ctx.walk + 1,
                    _ => u32::from(all),
                };
            }
            let walks = ctx.walk == 1;
            shared.poison();
            let whole = self.wide.is_some() || self.entry.keeps.is_some() || fibers.is_some();
            let (depth, height) = if whole { (1, 1) } else { (self.block.z, self.block.y) };
            for z in 0..depth {
                for y in 0..height {
                    ctx.thread = [0, y, z];
                    if !self.charge(ctx) {
                        return false;
                    }
                    // SAFETY: context and arguments are what the code was compiled for; the checks in it keep it to its
                    // buffers.
                    let ran = unsafe {
                        match &mut fibers {
                            Some(fibers) => fibers.run(self, ctx, code),
                            None => code(ctx.head(), self.args.as_ptr()) == 0,
                        }
                    };
                    if !ran {
                        return false;
                    }
                }
            }
            if walks && ctx.walk == 0 {
                together = 0;
            }
            let [x, y, z] = &mut ctx.block;
            *x += 1;
            if *x == self.grid.x {
                (*x, *y) = (0, *y + 1);
                if *y == self.grid.y {
                    (*y, *z) = (0, *z + 1);
                }
            }
        }
        true
    }

    /// Runs blocks `begin..end` of code that takes several at a time, as many as are neighbours in x.
    ///
    /// # Safety
    /// As of [`Launch::run_blocks`].
    unsafe fn run_rows(&self, code: EntryFn, ctx: &mut Running, begin: u64, end: u64) -> bool {
        let mut linear = begin;
        while linear < end {
            (ctx.block_linear, ctx.block) = (linear, self.grid.unflatten(linear));
            let run = (end - linear).min(u64::from(self.grid.x - ctx.block[0])).min(MAX_RUN);
            ctx.run = run as u32;
            ctx.budget -= self.row_cost.saturating_mul(run as i64 - 1);
            if !self.charge(ctx) {
                return false;
            }
            // SAFETY: context and arguments are what the code was compiled for; the checks in it keep it to its buffers.
            if unsafe { code(ctx.head(), self.args.as_ptr()) } != 0 {
                return false;
            }
            linear += run;
        }
        true
    }

    /// Takes the cost of a row off the budget, and polls when that is used up; `false` when the worker has to stop.
    pub fn charge(&self, ctx: &mut Running) -> bool {
        ctx.budget -= self.row_cost;
        // SAFETY: the context is a worker's of this launch.
        ctx.budget >= 0 || unsafe { tick::tick(ctx.head(), u64::MAX, THREAD_KNOWN) } >= 0
    }

    /// The number of the part that computes a grid-stride loop's numbers, before the part for one round; `None` where the
    /// launch's code lacks them.
    fn rounds(&self) -> Option<usize> {
        let is_there = |part: &usize| self.machine.address(part + 1).is_some();
        self.entry.rounds.filter(|part| self.wide.is_none() && is_there(part))
    }

    /// The size of the first claim: all blocks where nothing can be won by sharing, else a few microseconds' worth.
    fn first_claim(&self) -> u64 {
        if !self.parallel {
            return self.blocks;
        }
        if self.rounds().is_some() {
            return rounds::claim(self.blocks, self.blocks);
        }
        if !self.entry.has_loops && self.block_ns * self.blocks as f64 <= self.worth_no_look() {
            return self.blocks;
        }
        let share = self.blocks / (2 * pool::width() as u64);
        ((FIRST_CLAIM / self.block_ns) as u64).min(share).max(1)
    }

    /// Work so short that its first blocks are not timed, in nanoseconds. The estimate of vector code may be far too low: its loads may be scattered.
    fn worth_no_look(&self) -> f64 {
        if self.wide.is_some() { WORTH_HELP / 10.0 } else { WORTH_HELP }
    }

    fn next_claim(&self, last: u64, done: u64, block_ns: f64, role: Role, begun: Instant) -> u64 {
        let left = self.blocks - done;
        if role != Role::Helper {
            self.look_for_better(block_ns * left as f64 / pool::width() as f64, begun.elapsed());
        }
        if role != Role::Helper && block_ns * left as f64 > WORTH_HELP {
            self.call_helpers();
        }
        if self.rounds().is_some() {
            return rounds::claim(self.blocks, left);
        }
        // Without helpers claims are there to see blocks that take longer than those before.
        if role != Role::Helper && block_ns * left as f64 <= WORTH_HELP && !self.helped.load(Ordering::Relaxed) {
            return if block_ns * left as f64 <= FIRST_CLAIM { left.max(1) } else { left.div_ceil(2) };
        }
        // The claim is large enough for workers not to fight over the counter, and small enough for all to end
        // together.
        let share = left / (2 * pool::width() as u64);
        let size = ((CLAIM / block_ns) as u64).min(last.saturating_mul(8)).min(share).max(1);
        // Code that takes neighbours together is given whole rows of blocks, which it takes as one.
        let row = u64::from(self.grid.x);
        match &self.wide {
            Some(code) if code.merges && size > row => size / row * row,
            _ => size,
        }
    }

    /// Keeps the fault of the lowest block, of its faults that of the lowest thread.
    pub fn record(&self, block: u64, fault: RawFault) {
        let place = |block: u64, fault: &RawFault| (block, fault.thread[2], fault.thread[1], fault.thread[0]);
        let mut finished = lock(&self.finished);
        if finished.fault.as_ref().is_none_or(|(b, other)| place(block, &fault) < place(*b, other)) {
            finished.fault = Some((block, fault));
            self.fault_block.fetch_min(block, Ordering::Relaxed);
        }
    }

    /// True if a lower block than `block` has faulted, so that `block` should not have started.
    pub fn is_moot(&self, block: u64) -> bool {
        self.fault_block.load(Ordering::Relaxed) < block
    }

    /// The result and the outcome of a launch that is over.
    fn outcome(&self, finished: Finished) -> (u64, Outcome) {
        let mut fault = finished.fault;
        if fault.is_none() && self.stop.get() == Some(Stop::Interrupted) {
            // Every block was done before a worker noticed; the user's wish is still not swallowed.
            let kind = FaultKind::Interrupted;
            let detail = "interrupted as the last block finished".to_owned();
            let span = self.entry.span;
            fault = Some((
                self.blocks - 1,
                RawFault {
                    kind,
                    span,
                    block: [0; 3],
                    thread: [0; 3],
                    detail,
                    related: None,
                    kernel: None,
                    called: None,
                },
            ));
        }
        let last = fault.as_ref().map_or(u64::MAX, |(block, _)| *block);
        // The output of host code is in order, and so is that of the kernels that it launches.
        let (output, cut) = if self.entry.is_host {
            (finished.records.into_iter().map(|(_, record)| record).collect(), 0)
        } else {
            let (mut output, cut) = merge(finished.records, last);
            name_kernel(&mut output, &self.entry.name);
            (output, cut)
        };
        let fault = fault.map(|(_, fault)| fault);
        (finished.result, Outcome { output, dropped: finished.dropped + cut, fault })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::pool;
    use crate::runtime::{Kernel, hurried, settle};

    /// Calls for helpers of a launch on so many elements.
    fn calls(kernel: &Kernel, count: usize) -> usize {
        let (x, mut y) = (Array1::<f32>::ones(count), Array1::<f32>::zeros(count));
        let before = pool::CALLS.get();
        kernel.launch(count.div_ceil(256) as u32, 256).arg(&x).arg(&mut y).arg(count as i32).run().unwrap();
        assert!(y.iter().all(|y| *y == 1.5));
        pool::CALLS.get() - before
    }

    #[test]
    fn helpers_are_called_for_work_that_lasts() {
        let text = "__global__ void f(const float* x, float* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = x[i] * 0.5f + 1.0f;
        }";
        let kernel = crate::compile(text).unwrap().kernel("f").unwrap();
        if pool::width() == 1 {
            return;
        }
        assert!(calls(&kernel, 1 << 22) > 0);
        for _ in 0..3 {
            hurried(|| calls(&kernel, 1 << 22));
            settle();
        }
        if !matches!(kernel.tier(), Some("wide" | "lanes")) {
            // The processor has no vectors that we make code for.
            return;
        }
        // Vector code does 16,384 elements in less time than a thread takes to wake, which code that runs thread by thread does not. A thread that
        // loses its processor meanwhile may call for help.
        assert!((0..50).any(|_| calls(&kernel, 1 << 14) == 0));
        assert_eq!(calls(&kernel, 1 << 22), 1);
    }
}

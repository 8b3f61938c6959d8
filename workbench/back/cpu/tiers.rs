//! Two tiers of machine code: code made soon, which launches run at first, and good code, which a thread makes meanwhile.
//!
//! Both come from the same CLIF, so they find the same faults and compute the same bits, but for the sign and the payload of a NaN, which
//! IEEE 754 leaves open and Cranelift's optimiser does not keep (`-a * -b` becomes `a * b`). Good code takes the code generator more than
//! twice as long, most of it to hand out registers. A launch runs one tier from its start to its end. One that looks long waits until
//! the good code is there, and so does whoever times launches ([`settle`]).

mod settling;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;

use super::jit::{Assembler, CodeMemory, JitError, Links, MachineCode};
use super::placement::Helpers;
use super::wide::Case;
use super::{Image, crew, intrinsics, isa, stack};
use crate::back::Dim3;
use crate::back::cpu::isa::Effort;
use crate::ir::FuncId;
use settling::own;
pub use settling::{Settled, forget_own, settle, settle_while};

/// Most programs that wait for the thread: past that the compiling thread makes the good code itself.
const MAX_WAITING: u64 = 64;

/// How often somebody who waits for the thread looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

/// How long the launches of a program wait at most, once, which neither a time limit nor the user can shorten.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Most values in the parts of a program that a launch makes good code of itself: about as long.
const MAX_OWN: usize = 5_000;

/// Bytes of stack that takes, several times over.
const OWN_STACK: usize = 1 << 20;

/// Executable code of every part of a module.
pub struct Machine {
    memory: CodeMemory,
    /// Bytes of stack a thread has to have left.
    pub stack_need: usize,
}

impl Machine {
    /// The code in `assembler`; `calls`: whether its functions call one another. Without executable memory or a frame of a size that
    /// can be had, the error.
    pub fn new(assembler: Assembler, calls: bool) -> Result<Self, JitError> {
        let frame = assembler.largest_frame();
        if frame > stack::MAX_FRAME {
            return Err(JitError::TooLarge);
        }
        let stack_need = stack::MARGIN + frame + if calls { stack::CALLS } else { 0 };
        Ok(Machine { memory: assembler.finish()?, stack_need })
    }

    /// The address of a part, by its number.
    pub fn address(&self, part: usize) -> Option<usize> {
        self.memory.address(part)
    }
}

/// What the good code is made from.
pub struct Job {
    /// The parts, in the order of their numbers.
    pub parts: Vec<(Function, Effort)>,
    /// As [`Machine::new`] wants it.
    pub calls: bool,
    /// What they reach.
    pub links: Arc<Links>,
    /// The code of that, which had better be good by then.
    pub needs: Vec<&'static Tiers>,
}

/// The code of a program as it is now.
pub struct Tiers {
    first: Machine,
    /// Set once; `None` in it where there is nothing better than the first.
    good: OnceLock<Option<Machine>>,
    /// What is to be made, until somebody takes it. A pointer, so that no lock can be held while the process forks.
    job: AtomicPtr<Job>,
    /// The process that took the job.
    taken_by: AtomicU32,
    /// How many values the parts have.
    values: usize,
    /// The process whose thread has the job in its queue.
    queued_by: AtomicU32,
    /// Whether a launch has waited.
    waited: AtomicBool,
    /// What the last case of wide code in the queue is: the process, and with how many done it is.
    wide_due: AtomicU64,
}

impl Tiers {
    /// Code that is there, and what better code is made from.
    pub fn new(first: Machine, job: Option<Job>) -> Self {
        let good = OnceLock::new();
        let values = job.as_ref().map_or(0, |job| job.parts.iter().map(|(func, _)| func.dfg.num_values()).sum());
        let job = match job {
            Some(job) => Box::into_raw(Box::new(job)),
            None => {
                let _ = good.set(None);
                std::ptr::null_mut()
            }
        };
        Tiers {
            first,
            good,
            job: AtomicPtr::new(job),
            taken_by: AtomicU32::new(0),
            values,
            queued_by: AtomicU32::new(0),
            waited: AtomicBool::new(false),
            wide_due: AtomicU64::new(0),
        }
    }

    /// The best there is.
    pub fn now(&self) -> &Machine {
        self.good.get().and_then(Option::as_ref).unwrap_or(&self.first)
    }

    /// Whether launches run the best code they ever will.
    pub fn are_settled(&self) -> bool {
        self.good.get().is_some()
    }

    /// Whether that took the place of other code.
    pub fn are_good(&self) -> bool {
        !std::ptr::eq(self.now(), &raw const self.first)
    }

    /// Makes the good code, or waits for it where somebody else is at it, about as long as [`MAX_WAIT`]. For a launch that takes longer
    /// still.
    pub fn settle_soon(&self) {
        if self.are_settled() || self.waited.swap(true, Ordering::Relaxed) {
            return;
        }
        if self.values <= MAX_OWN && stack::remaining().is_some_and(|left| left >= OWN_STACK) {
            self.make(&|| true);
        }
        let until = Instant::now() + MAX_WAIT;
        while !self.are_settled() && Instant::now() < until {
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Makes the good code where nobody has begun, as long as it is `wanted`.
    fn make(&self, wanted: &dyn Fn() -> bool) {
        if self.job.load(Ordering::Acquire).is_null() {
            return;
        }
        // Before it is taken: who finds it taken has to find by whom.
        self.taken_by.store(std::process::id(), Ordering::Release);
        let job = self.job.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if job.is_null() {
            return;
        }
        // SAFETY: made by `Box::into_raw`, and whoever takes it out of the pointer is its only owner.
        let job = unsafe { Box::from_raw(job) };
        job.needs.iter().for_each(|tiers| tiers.make(&|| true));
        // Whatever goes wrong, there is code that runs.
        let machine = catch_unwind(AssertUnwindSafe(|| job.run(wanted))).unwrap_or(None);
        let _ = self.good.set(machine);
    }
}

impl Drop for Tiers {
    fn drop(&mut self) {
        let job = *self.job.get_mut();
        if !job.is_null() {
            // SAFETY: as in `make`.
            drop(unsafe { Box::from_raw(job) });
        }
    }
}

impl Job {
    fn run(self, wanted: &dyn Fn() -> bool) -> Option<Machine> {
        let hosts = intrinsics::addresses().ok()?;
        let mut assembler = Assembler::new(self.links);
        for (func, effort) in self.parts {
            if !wanted() {
                return None;
            }
            let isa = isa::host(effort).ok()?;
            let code = crew::with_context(func, |ctx: &mut Context| MachineCode::new(ctx, isa.as_ref(), hosts, false));
            assembler.add(&code.ok()?);
        }
        Machine::new(assembler, self.calls).ok()
    }
}

/// What good code is made for.
enum Work {
    Program(Weak<Image>),
    Glue(&'static Tiers),
    Garbage(Box<dyn Send>),
    Wide(Weak<Image>, Case),
}

/// The thread that makes good code.
struct Maker {
    process: u32,
    queue: Sender<Work>,
    /// How many programs were queued or are about to be, and how many of them are done with.
    queued: AtomicU64,
    done: Arc<AtomicU64>,
    helpers: Arc<Helpers>,
}

// As the pool: made at first use, made anew in a forked child, never freed. Wide code takes a compiler's time, which nothing else should
// wait for.
static MAKER: AtomicPtr<Maker> = AtomicPtr::new(std::ptr::null_mut());
static WIDE_MAKER: AtomicPtr<Maker> = AtomicPtr::new(std::ptr::null_mut());

/// Has the good code of a program made in time.
pub fn improve(image: &Arc<Image>) {
    if image.tiers.job.load(Ordering::Relaxed).is_null() {
        return;
    }
    own(image);
    image.tiers.queued_by.store(std::process::id(), Ordering::Relaxed);
    if queue(&MAKER, Work::Program(Arc::downgrade(image))).is_none() {
        image.tiers.make(&|| true);
    }
}

/// Has the good code of glue made in time; what is not, whoever needs it makes.
pub fn improve_glue(tiers: &'static Tiers) {
    queue(&MAKER, Work::Glue(tiers));
}

/// Has what nobody wants any more freed, on the thread that makes good code once it comes to it: a program takes as long as its parsing.
pub fn discard(garbage: impl Send + 'static) {
    queue(&MAKER, Work::Garbage(Box::new(garbage)));
}

/// Notes how long a launch of a kernel took, and has its wide code made once it is hot.
pub fn note_launch(image: &Arc<Image>, (func, block): (FuncId, Dim3), args: &[u64], took: Duration) {
    if let Some(wide) = &image.wide
        && let Some(case) = wide.hot(func, block, args, took)
    {
        queue_wide(image, case);
    }
}

/// Has wide code made that a launch had no time to wait for.
pub fn make_later(image: &Arc<Image>, case: Case) {
    if image.wide.as_ref().is_some_and(|wide| wide.leave(&case)) {
        queue_wide(image, case);
    }
}

fn queue_wide(image: &Arc<Image>, case: Case) {
    if let Some(number) = queue(&WIDE_MAKER, Work::Wide(Arc::downgrade(image), case)) {
        image.tiers.wide_due.store(due(number), Ordering::Relaxed);
        own(image);
    }
}

/// A place in the queue of this process.
fn due(number: u64) -> u64 {
    (u64::from(std::process::id()) << 32) | (number & u64::from(u32::MAX))
}

/// Queues work where the thread takes it; how many are done when it is.
fn queue(makers: &'static AtomicPtr<Maker>, work: Work) -> Option<u64> {
    maker(makers).and_then(|maker| {
        let next = |queued: u64| {
            (queued.saturating_sub(maker.done.load(Ordering::Relaxed)) < MAX_WAITING).then_some(queued + 1)
        };
        let before = maker.queued.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok()?;
        if maker.done.load(Ordering::Relaxed) == before {
            maker.helpers.keep_off_this_processor();
        }
        let taken = maker.queue.send(work).is_ok();
        if !taken {
            maker.done.fetch_add(1, Ordering::Release);
        }
        taken.then_some(before + 1)
    })
}

/// What every launch looks after.
pub fn attend(image: &Arc<Image>) {
    if !image.tiers.are_settled() {
        own(image);
        keep_queued(image);
    } else if image.tiers.wide_due.load(Ordering::Relaxed) != 0 {
        own(image);
    }
}

/// Queues again what is not made: the queue of a process stays behind when it forks.
fn keep_queued(image: &Arc<Image>) {
    let tiers = &image.tiers;
    let process = std::process::id();
    if [0, process].contains(&tiers.queued_by.load(Ordering::Relaxed)) {
        return;
    }
    if tiers.job.load(Ordering::Acquire).is_null() {
        // Taken by the parent, whose thread is not here; or here, where it will be set all the same.
        if tiers.taken_by.load(Ordering::Acquire) != process {
            let _ = tiers.good.set(None);
        }
    } else {
        improve(image);
    }
}

fn maker(makers: &'static AtomicPtr<Maker>) -> Option<&'static Maker> {
    let process = std::process::id();
    let old = makers.load(Ordering::Acquire);
    // SAFETY: what was published is never freed.
    if let Some(maker) = unsafe { old.as_ref() }
        && maker.process == process
    {
        return Some(maker);
    }
    let (queue, work) = channel();
    let done = Arc::new(AtomicU64::new(0));
    let count = done.clone();
    let helpers = Arc::new(Helpers::new());
    let joined = helpers.clone();
    let thread = std::thread::Builder::new().name("workbench-code".to_owned()).stack_size(stack::POOL_THREAD);
    let work_on = move || {
        joined.join();
        run(&work, &count);
    };
    thread.spawn(work_on).ok()?;
    let new = Box::into_raw(Box::new(Maker { process, queue, queued: AtomicU64::new(0), done, helpers }));
    match makers.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: published now, never freed.
        Ok(_) => unsafe { new.as_ref() },
        Err(winner) => {
            // SAFETY: `new` was never published, and its thread ends with its queue; `winner` was published, and is never freed.
            unsafe {
                drop(Box::from_raw(new));
                winner.as_ref()
            }
        }
    }
}

fn run(work: &Receiver<Work>, done: &AtomicU64) {
    while let Ok(work) = work.recv() {
        // A program that nobody holds any more is not worth its code. While this is at it, it holds the program, whose last other
        // holder shows in the count.
        match work {
            Work::Program(image) => {
                if let Some(image) = image.upgrade() {
                    image.tiers.make(&|| Arc::strong_count(&image) > 1);
                }
            }
            Work::Glue(tiers) => tiers.make(&|| true),
            Work::Garbage(garbage) => drop(garbage),
            Work::Wide(image, case) => {
                if let Some(image) = image.upgrade()
                    && let Some(wide) = &image.wide
                {
                    let make = || wide.make(&image.globals, &case, None);
                    let _ = catch_unwind(AssertUnwindSafe(make));
                }
            }
        }
        done.fetch_add(1, Ordering::Release);
    }
}

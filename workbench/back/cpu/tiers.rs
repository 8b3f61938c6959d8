//! Two tiers of machine code: code made soon, which launches run at first, and good code, which a thread makes meanwhile.
//!
//! Both come from the same CLIF, so they compute the same bits and find the same faults; good code takes the code generator more than
//! twice as long, most of it to hand out registers. A launch runs one tier from its start to its end. One that looks long waits until
//! the good code is there, and so does whoever times launches ([`settle`]).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;

use super::jit::{Assembler, CodeMemory, JitError, MachineCode};
use super::{Image, crew, intrinsics, isa, stack};
use crate::back::cpu::isa::Effort;

/// Most programs that wait for the thread: past that the compiling thread makes the good code itself.
const MAX_WAITING: usize = 64;

/// How often somebody who waits for the thread looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

/// How long a launch waits at most, which neither its time limit nor the user can shorten.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Most values in the parts of a program that a launch makes good code of itself: about as long.
const MAX_OWN: usize = 5_000;

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
        Tiers { first, good, job: AtomicPtr::new(job), taken_by: AtomicU32::new(0), values }
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
    #[cfg(test)]
    pub fn are_good(&self) -> bool {
        !std::ptr::eq(self.now(), &raw const self.first)
    }

    /// Makes the good code, or waits for it where somebody else is at it; neither where that would take longer than [`MAX_WAIT`]. For a
    /// launch that takes longer still.
    pub fn settle_soon(&self) {
        if self.are_settled() {
            return;
        }
        if self.values <= MAX_OWN {
            self.make(&|| true);
        }
        let until = Instant::now() + MAX_WAIT;
        // In a child that was forked meanwhile nobody is at it any more.
        let is_made = || self.taken_by.load(Ordering::Acquire) == std::process::id();
        while !self.are_settled() && is_made() && Instant::now() < until {
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
        let mut assembler = Assembler::default();
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

/// The thread that makes good code, and how many programs wait for it or are under its hands.
struct Maker {
    process: u32,
    queue: Sender<Weak<Image>>,
    waiting: Arc<AtomicUsize>,
}

// As the pool: made at first use, made anew in a forked child, never freed.
static MAKER: AtomicPtr<Maker> = AtomicPtr::new(std::ptr::null_mut());

/// Has the good code of a program made in time.
pub fn improve(image: &Arc<Image>) {
    if image.tiers.job.load(Ordering::Relaxed).is_null() {
        return;
    }
    let crowded = match maker() {
        Some(maker) if maker.waiting.load(Ordering::Relaxed) < MAX_WAITING => {
            maker.waiting.fetch_add(1, Ordering::Relaxed);
            maker.queue.send(Arc::downgrade(image)).is_err()
        }
        _ => true,
    };
    if crowded {
        image.tiers.make(&|| true);
    }
}

fn maker() -> Option<&'static Maker> {
    let process = std::process::id();
    let old = MAKER.load(Ordering::Acquire);
    // SAFETY: what was published is never freed.
    if let Some(maker) = unsafe { old.as_ref() }
        && maker.process == process
    {
        return Some(maker);
    }
    let (queue, work) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let count = waiting.clone();
    let thread = std::thread::Builder::new().name("workbench-code".to_owned()).stack_size(stack::POOL_THREAD);
    thread.spawn(move || run(&work, &count)).ok()?;
    let new = Box::into_raw(Box::new(Maker { process, queue, waiting }));
    match MAKER.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
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

fn run(work: &Receiver<Weak<Image>>, waiting: &AtomicUsize) {
    while let Ok(image) = work.recv() {
        // A program that nobody holds any more is not worth its code. While this is at it, it holds the program, whose last other
        // holder shows in the count.
        if let Some(image) = image.upgrade() {
            image.tiers.make(&|| Arc::strong_count(&image) > 1);
        }
        waiting.fetch_sub(1, Ordering::Release);
    }
}

/// Returns when every program of this process has its good code: what is timed should be that.
pub fn settle() {
    // SAFETY: what was published is never freed.
    let maker = unsafe { MAKER.load(Ordering::Acquire).as_ref() };
    if let Some(maker) = maker.filter(|maker| maker.process == std::process::id()) {
        while maker.waiting.load(Ordering::Acquire) > 0 {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

//! Two tiers of machine code: code made soon, which launches run at first, and good code, which a thread makes meanwhile.
//!
//! Both come from the same CLIF, so they find the same faults and compute the same bits, but for the sign and the payload of a NaN, which
//! IEEE 754 leaves open and Cranelift's optimiser does not keep (`-a * -b` becomes `a * b`). Good code takes the code generator more than
//! twice as long, most of it in register allocation. A launch runs one of the two from its start to its end; wide code may take over within it
//! (`run/change_tier.rs`). One that looks long waits until the good code is there, and so does a caller that times launches ([`settle`]).

mod settling;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cranelift_codegen::Context;

use super::compiled::CompiledModule;
use super::{addresses, parallel};
use crate::back::Dim3;
use crate::back::cpu::code::jit::{Assembler, MachineCode};
use crate::back::cpu::code::machine::{Job, Machine, Tiers};
use crate::back::cpu::run::placement::Helpers;
use crate::back::cpu::wide::{Case, HOT};
use crate::back::cpu::{isa, stack};
use crate::ir::FuncId;
use settling::{is_hurried, own};

pub use settling::{Settled, forget_own, hurried, settle, settle_while};

/// Most programs that wait for the thread: with more, the compiling thread makes the good code itself. Wide code always waits: it is asked
/// for once.
const MAX_WAITING: u64 = 64;

/// The interval at which a caller that waits for the thread looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

/// The longest wait of a program's launches, once, which neither a time limit nor the user can shorten.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Most values in the parts of a program whose good code a launch makes itself: that takes about as long.
const MAX_OWN: usize = 5_000;

/// Bytes of stack for that, with several times the need.
const OWN_STACK: usize = 1 << 20;

/// Makes the good code, or waits for it where another thread makes it, about as long as [`MAX_WAIT`]: for a launch that takes
/// longer still.
pub fn settle_soon(tiers: &Tiers) {
    if tiers.are_settled() || tiers.waited.swap(true, Ordering::Relaxed) {
        return;
    }
    if tiers.values <= MAX_OWN && stack::remaining().is_some_and(|left| left >= OWN_STACK) {
        make(tiers, &|| true);
    }
    let until = Instant::now() + MAX_WAIT;
    while !tiers.are_settled() && Instant::now() < until {
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Makes the good code where no thread has begun, as long as it is `wanted`.
fn make(tiers: &Tiers, wanted: &dyn Fn() -> bool) {
    let Some(job) = tiers.take_job() else { return };
    job.needs.iter().for_each(|tiers| make(tiers, &|| true));
    // The first code runs whatever goes wrong here.
    tiers.set_good(catch_unwind(AssertUnwindSafe(|| compile(*job, wanted))).unwrap_or(None));
}

/// The good code of a job; `None` where it cannot be made, or is not `wanted` any more.
fn compile(job: Job, wanted: &dyn Fn() -> bool) -> Option<Machine> {
    let hosts = addresses::addresses().ok()?;
    let mut assembler = Assembler::new(job.links);
    for (func, effort) in job.parts {
        if !wanted() {
            return None;
        }
        let isa = isa::host(effort).ok()?;
        let code = parallel::with_context(func, |ctx: &mut Context| MachineCode::new(ctx, isa.as_ref(), hosts, false));
        assembler.add(&code.ok()?);
    }
    Machine::new(assembler, job.calls).ok()
}

/// A piece of work for the thread that makes good code.
enum Work {
    Program(Weak<CompiledModule>),
    Kept(&'static Tiers),
    Garbage(Box<dyn Send>),
    Wide(Weak<CompiledModule>, Case),
}

/// The thread that makes good code.
struct Maker {
    process: u32,
    queue: Sender<Work>,
    /// The number of programs that were queued or are about to be; `done` counts those that are done with.
    queued: AtomicU64,
    done: Arc<AtomicU64>,
    helpers: Arc<Helpers>,
}

// The maker is like the pool: made at first use, made anew in a forked child, never freed. Wide code has a maker of its own, because its
// compiler takes long.
static MAKER: AtomicPtr<Maker> = AtomicPtr::new(std::ptr::null_mut());

static WIDE_MAKER: AtomicPtr<Maker> = AtomicPtr::new(std::ptr::null_mut());

/// Has the good code of a program made in the background.
pub fn improve(module: &Arc<CompiledModule>) {
    if !module.tiers.has_job() {
        return;
    }
    own(module);
    module.tiers.queued_by.store(std::process::id(), Ordering::Relaxed);
    if queue(&MAKER, Work::Program(Arc::downgrade(module))).is_none() {
        make(&module.tiers, &|| true);
    }
}

/// Has the good code of kept code made in the background; a program that needs it earlier makes it itself.
pub fn improve_kept(tiers: &'static Tiers) {
    queue(&MAKER, Work::Kept(tiers));
}

/// Frees a value later, on the thread that makes good code: freeing a program takes as long as parsing it.
pub fn discard(garbage: impl Send + 'static) {
    queue(&MAKER, Work::Garbage(Box::new(garbage)));
}

/// Notes how long a launch of a kernel took, and has its wide code made once it is hot: at once where the thread is [`hurried`].
pub fn note_launch(module: &Arc<CompiledModule>, (func, block): (FuncId, Dim3), args: &[u64], took: Duration) {
    let took = if is_hurried() { took.max(HOT) } else { took };
    if let Some(wide) = &module.wide
        && let Some(case) = wide.hot(func, block, args, took)
    {
        queue_wide(module, case);
    }
}

/// Has the wide code made that a launch had no time to wait for.
pub fn make_later(module: &Arc<CompiledModule>, case: Case) {
    if module.wide.as_ref().is_some_and(|wide| wide.leave(&case)) {
        queue_wide(module, case);
    }
}

fn queue_wide(module: &Arc<CompiledModule>, case: Case) {
    if let Some(number) = queue(&WIDE_MAKER, Work::Wide(Arc::downgrade(module), case)) {
        module.tiers.wide_due.store(due(number), Ordering::Relaxed);
        own(module);
    }
}

/// The number of a place in the queue of this process.
fn due(number: u64) -> u64 {
    (u64::from(std::process::id()) << 32) | (number & u64::from(u32::MAX))
}

/// Queues work for the thread; gives the count of finished work at which it is done.
fn queue(makers: &'static AtomicPtr<Maker>, work: Work) -> Option<u64> {
    maker(makers).and_then(|maker| {
        let next = |queued: u64| {
            let waiting = queued.saturating_sub(maker.done.load(Ordering::Relaxed));
            (waiting < MAX_WAITING || matches!(work, Work::Wide(..))).then_some(queued + 1)
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

/// The upkeep that every launch does.
pub fn attend(module: &Arc<CompiledModule>) {
    if !module.tiers.are_settled() {
        own(module);
        keep_queued(module);
    } else if module.tiers.wide_due.load(Ordering::Relaxed) != 0 {
        own(module);
    }
}

/// Queues again code that is not made: the queue of a process stays behind when it forks.
fn keep_queued(module: &Arc<CompiledModule>) {
    let tiers = &module.tiers;
    let process = std::process::id();
    if [0, process].contains(&tiers.queued_by.load(Ordering::Relaxed)) {
        return;
    }
    if !tiers.has_job() {
        // The job was taken by the parent, whose thread is not here; or in this process, where its maker will set it.
        if !tiers.is_taken_by(process) {
            tiers.set_good(None);
        }
    } else {
        improve(module);
    }
}

fn maker(makers: &'static AtomicPtr<Maker>) -> Option<&'static Maker> {
    let process = std::process::id();
    let old = makers.load(Ordering::Acquire);
    // SAFETY: a published maker is never freed.
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
        // SAFETY: the maker is published now, and never freed.
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
        // A program without other holders is not worth its code. This thread holds it meanwhile, so a count of one shows that no
        // other does.
        match work {
            Work::Program(module) => {
                if let Some(module) = module.upgrade() {
                    make(&module.tiers, &|| Arc::strong_count(&module) > 1);
                }
            }
            Work::Kept(tiers) => make(tiers, &|| true),
            Work::Garbage(garbage) => drop(garbage),
            Work::Wide(module, case) => {
                if let Some(module) = module.upgrade()
                    && let Some(wide) = &module.wide
                {
                    let make = || wide.make(&module.image.globals, &case, None);
                    let _ = catch_unwind(AssertUnwindSafe(make));
                }
            }
        }
        done.fetch_add(1, Ordering::Release);
    }
}

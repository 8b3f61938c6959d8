//! A launch and its workers: the state that all share, and the state of each. [`schedule`](super::schedule) runs it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::host::Host;
use super::records::Output;
use super::stop::{Crowd, StopFlag, Waiting};
use super::sums;
use super::wide_code::WideCode;
use crate::back::cpu::abi::context::{BufferDesc, Side, WorkerCtx};
use crate::back::cpu::abi::site::{Named, SITE_BIT, Site, SiteRoot};
use crate::back::cpu::code::kept_code;
use crate::back::cpu::code::machine::Machine;
use crate::back::cpu::data::Globals;
use crate::back::cpu::image::{Callee, EntryPoint, Image};
use crate::back::cpu::tier::Tier;
use crate::back::{Dim3, Interrupt, PrintfRecord, RawFault};
use crate::ir::Derived;

/// A value that workers write often, on cache lines of its own (they come in pairs): otherwise every poll would wait for neighbours that it
/// only reads.
#[derive(Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// One launch, shared by its workers.
pub struct Launch<'a> {
    /// The program.
    pub image: &'a Image,
    /// The code of the program.
    pub machine: &'a Machine,
    /// Wide code, which runs instead where there is some.
    pub wide: Option<Arc<WideCode>>,
    /// The maker of better code, which takes over from a block on; none where no better code will come.
    pub better: Option<&'a dyn Better>,
    /// True once better code is there: workers claim no further blocks.
    pub is_overtaken: AtomicBool,
    /// That code, and true if better code still may come.
    pub overtaken_by: Mutex<Option<(Arc<WideCode>, bool)>>,
    /// The kernel or host function.
    pub entry: &'a EntryPoint,
    /// A descriptor for each argument, then one for each of `reach`.
    pub descs: &'a [BufferDesc],
    /// A descriptor for each parameter that the launch worked out.
    pub derived: &'a [BufferDesc],
    /// A word for each parameter, those included: a scalar's bits or the address of its descriptor.
    pub args: &'a [u64],
    /// The names of the memory that pointers in structs point at.
    pub reach: Vec<Named>,
    /// Arrays that workers add to at their end.
    pub sums: Vec<sums::Sum>,
    /// `gridDim`.
    pub grid: Dim3,
    /// `blockDim`.
    pub block: Dim3,
    /// The time that the launch may take.
    pub timeout: Option<Duration>,
    /// The time at which it has to stop.
    pub deadline: Option<Instant>,
    /// The user's wish to stop, asked on the launching thread.
    pub interrupt: Option<&'a dyn Interrupt>,
    /// The run time of host code.
    pub host: Option<&'a dyn Host>,
    pub blocks: u64,
    /// The time of a block, in nanoseconds, estimated.
    pub block_ns: f64,
    /// The cost in budget of a row of threads, or of a block, besides its loops.
    pub row_cost: i64,
    pub parallel: bool,
    pub next: Apart<AtomicU64>,
    /// The reason for all workers to stop, once there is one.
    pub stop: StopFlag,
    /// Bytes of dynamic shared memory.
    pub shared_mem: u32,
    /// The counts of workers and of those that only wait, and a number that grows whenever one makes progress; see
    /// `tick`.
    pub crowd: Apart<Crowd>,
    /// The lowest block that faulted.
    pub fault_block: AtomicU64,
    pub helped: AtomicBool,
    /// The helpers, where others may help.
    pub helpers: Option<Arc<LaunchHelpers>>,
    pub finished: Mutex<Finished>,
}

/// The results that workers hand in.
#[derive(Default)]
pub struct Finished {
    pub fault: Option<(u64, RawFault)>,
    pub records: Vec<(u64, PrintfRecord)>,
    pub dropped: u64,
    pub result: u64,
}

/// The helpers of a launch; outlives it in jobs that come too late.
#[derive(Default)]
pub struct LaunchHelpers {
    pub state: Mutex<HelpersState>,
    pub left: Condvar,
    /// The number that run, for readers without the lock.
    pub busy: AtomicUsize,
}

#[derive(Default)]
pub struct HelpersState {
    pub closed: bool,
    pub running: usize,
}

/// The role of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The launching thread: asks whether to stop, and calls helpers.
    Caller,
    /// A thread that stands in for the launching one: calls helpers.
    Stand,
    /// A thread of the pool.
    #[default]
    Helper,
}

/// A worker of a launch: its context as generated code knows it, and the part that only Rust touches.
#[repr(C)]
pub struct Running {
    /// The head, whose address generated code is given.
    pub ctx: WorkerCtx,
    /// The launch it works for.
    pub launch: *const Launch<'static>,
    /// The part that only Rust touches.
    pub worker: Worker,
}

impl Running {
    /// The worker of the context that generated code passes, and its launch.
    ///
    /// # Safety
    /// `ctx` is that of a worker that runs, which nobody else refers to now.
    pub unsafe fn of<'a>(ctx: *mut WorkerCtx) -> (&'a mut Running, &'a Launch<'a>) {
        // SAFETY: a context is the head of a running worker, and the launch outlives its workers.
        unsafe {
            let running = &mut *ctx.cast::<Running>();
            let launch = &*running.launch.cast::<Launch<'a>>();
            (running, launch)
        }
    }

    /// The context that generated code is given.
    pub fn head(&mut self) -> *mut WorkerCtx {
        std::ptr::from_mut(self).cast()
    }
}

impl std::ops::Deref for Running {
    type Target = WorkerCtx;

    fn deref(&self) -> &WorkerCtx {
        &self.ctx
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut WorkerCtx {
        &mut self.ctx
    }
}

/// The part of a worker that only Rust touches.
#[derive(Default)]
pub struct Worker {
    /// The worker's role: what it may do besides running blocks.
    pub role: Role,
    /// The time when the interrupt was last asked, or of the first poll.
    pub asked: Option<Instant>,
    /// The worker's record of its own waiting.
    pub waiting: Waiting,
    /// The fault that generated code or a helper found.
    pub fault: Option<RawFault>,
    /// True if the fault was found in a function of the library, so that the user's place is where that was called.
    pub in_library: bool,
    /// True if a kernel of the library found the fault, and the line of the text that called it is not known yet.
    pub is_uncalled: bool,
    /// The printed output.
    pub output: Output,
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks; if it did, the data would still be whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The code that a launch runs, until better code is there.
pub struct LaunchCode<'a> {
    /// The code of the program.
    pub machine: &'a Machine,
    /// Wide code, which runs instead where there is some.
    pub wide: Option<Arc<WideCode>>,
    /// The tier of the code that runs.
    pub tier: Tier,
    /// The maker of better code; none where no better code will come.
    pub better: Option<&'a dyn Better>,
}

/// The maker of better code for a launch that runs.
pub trait Better: Sync {
    /// Has the code made, if that is not under way.
    fn begin(&self);

    /// The code that is better than the wide code that runs `now`, once it is there, and true if better code still may come. It may be `None` again
    /// later: nobody waits for a lock here.
    fn code(&self, now: Option<&Arc<WideCode>>) -> Option<(Arc<WideCode>, bool)>;
}

/// The values that a launch binds to parameters; see [`Launch`].
pub struct BoundArgs<'a> {
    pub descs: &'a [BufferDesc],
    pub derived: &'a [BufferDesc],
    pub args: &'a [u64],
    pub deadline: Option<Instant>,
}

impl Launch<'_> {
    /// The memory that its threads may reach besides their own.
    pub fn outside(&self) -> Outside<'_> {
        let side = self.entry.side(self.host.is_some_and(Host::is_unified));
        Outside { descs: self.descs, globals: self.image.data(), host: self.host, side }
    }

    /// The member of a struct that a fault is about.
    pub fn member(&self, root: SiteRoot) -> Option<usize> {
        let SiteRoot::KernelParam(i) = root else { return None };
        (i as usize).checked_sub(self.entry.params.len()).filter(|i| *i < self.derived.len())
    }

    /// The number of bytes of a parameter's memory that lie before the place it points at.
    pub fn before(&self, param: usize) -> u64 {
        let mut words = self.entry.derived.iter().zip(&self.args[self.entry.params.len()..]);
        let found = words.find_map(|(info, word)| match info.derived {
            Derived::Anchor(anchor) if anchor.param as usize == param => Some(word * u64::from(anchor.unit)),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// The code of the function at an address of host code's; `None` where there is no function of that signature.
    pub fn function(&self, address: u64, signature: u64) -> Option<usize> {
        if let Some(kept) = kept_code::function(address, signature) {
            return kept.address();
        }
        let index = usize::try_from(address.checked_sub(1)?).ok()?;
        match self.image.functions.get(index)? {
            Some((known, Callee::Part(part))) if *known == signature => self.machine.address(*part as usize),
            Some((known, Callee::Kept(kept))) if *known == signature => kept.address(),
            _ => None,
        }
    }

    /// The site that generated code means by a word.
    pub fn site(&self, word: u64) -> Option<&Site> {
        match &self.wide {
            Some(code) if word & SITE_BIT != 0 && word >> 63 == 0 => code.site(word),
            _ => self.image.site(word),
        }
    }

    /// The number of threads for which a block keeps local arrays.
    pub fn room(&self) -> usize {
        self.wide.as_ref().map_or(self.block.count() as usize, |code| code.room as usize)
    }

    /// The site that threads noted by its number alone.
    pub fn noted_site(&self, number: u32) -> Option<&Site> {
        match &self.wide {
            Some(code) => code.site(u64::from(number)),
            None => self.image.site(u64::from(number)),
        }
    }

    /// The memory that a block's threads keep while others run.
    pub fn keeps(&self) -> Option<(usize, usize)> {
        match &self.wide {
            Some(code) => code.keeps,
            None => self.entry.keeps,
        }
    }
}

/// The memory that a launch's kernels may reach besides their own.
pub struct Outside<'a> {
    /// The descriptors of the launch's arguments and of the memory they point at.
    pub descs: &'a [BufferDesc],
    pub globals: &'a Globals,
    pub host: Option<&'a dyn Host>,
    /// The side that asks.
    pub side: Side,
}

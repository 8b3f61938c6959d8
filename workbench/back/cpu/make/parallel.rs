//! Several functions at a time: the thread that compiles prepares jobs one after the other, idle threads of the pool take
//! prepared jobs, and it takes those left over. It waits only for jobs that a thread has begun, never for a thread that is busy
//! with a launch.
//!
//! A function that takes the code generator a long time is left to a thread of its own where the compiling thread may be asked
//! to stop.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;

use super::addresses;
use crate::back::cpu::code::jit::{JitError, MachineCode};
use crate::back::cpu::run::pool;
use crate::steps;

/// Memory of the code generator is kept for the next function, but not after a function with more instructions.
const MAX_KEPT: usize = 20_000;

/// Most functions that wait: more would only take memory.
const MAX_WAITING: usize = 32;

/// The most instructions of a function that a thread compiles which may be asked to stop: some tens of milliseconds.
const LARGE: usize = 4_000;

/// The interval at which a thread that waits for others looks whether it is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// A function that waits for its machine code.
pub struct Job {
    pub func: Function,
    pub isa: &'static OwnedTargetIsa,
    /// True if the code is wanted as text, too.
    pub disasm: bool,
}

/// A queue of jobs; each is known by the number of jobs added before it.
pub struct Parallel<J, R> {
    shared: Arc<Shared<J, R>>,
    /// The number of threads besides the caller's that may help.
    helpers: usize,
}

struct Shared<J, R> {
    state: Mutex<QueueState<J, R>>,
    /// Told when the last begun job is done.
    done: Condvar,
    work: fn(J) -> R,
}

struct QueueState<J, R> {
    /// Jobs by their numbers, with about how much work each is.
    waiting: Vec<(usize, usize, J)>,
    /// Jobs that a thread has taken and not finished.
    begun: usize,
    /// The results of the jobs; a panic where a job panicked.
    results: Vec<Option<std::thread::Result<R>>>,
}

impl<J: Send + 'static, R: Send + 'static> Parallel<J, R> {
    /// A queue for so many jobs, each of which `work` does.
    pub fn new(jobs: usize, work: fn(J) -> R) -> Self {
        let state = Mutex::new(QueueState { waiting: Vec::new(), begun: 0, results: Vec::with_capacity(jobs) });
        let helpers = jobs.min(pool::width()) - usize::from(jobs > 0);
        Parallel { shared: Arc::new(Shared { state, done: Condvar::new(), work }), helpers }
    }

    /// Adds a job of about so much work, which may begin at once; does one itself where many wait.
    pub fn add(&mut self, size: usize, job: J) {
        steps::look();
        let crowded = {
            let mut state = self.shared.lock();
            let number = state.results.len();
            state.results.push(None);
            state.waiting.push((size, number, job));
            state.waiting.len() > MAX_WAITING
        };
        if crowded {
            self.shared.work_up_to(1, if steps::is_interruptible() { LARGE } else { usize::MAX });
        }
        if self.helpers > 0 {
            self.helpers -= 1;
            let shared = self.shared.clone();
            pool::spawn(1, move || shared.work(usize::MAX));
        }
    }

    /// Does the jobs that no thread has begun, waits for the rest; the results of all jobs, in the order they were
    /// added.
    pub fn finish(self) -> Vec<std::thread::Result<R>> {
        let largest = self.leave_large();
        self.shared.work_up_to(usize::MAX, largest);
        let mut state = self.shared.lock();
        while state.begun > 0 || !state.waiting.is_empty() {
            let waited = self.shared.done.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
            drop(waited);
            steps::look();
            state = self.shared.lock();
        }
        let results = std::mem::take(&mut state.results).into_iter();
        results.map(|result| result.unwrap_or_else(|| Err(Box::new("nobody did it")))).collect()
    }
}

impl<J: Send + 'static, R: Send + 'static> Parallel<J, R> {
    /// Leaves large jobs to a thread of their own where this one may be asked to stop, which it cannot within a job; the largest job that it
    /// does itself.
    fn leave_large(&self) -> usize {
        let is_large = |(size, ..): &(usize, usize, J)| *size > LARGE;
        if !steps::is_interruptible() || !self.shared.lock().waiting.iter().any(is_large) {
            return usize::MAX;
        }
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name("workbench-large".to_owned()).stack_size(8 << 20);
        match thread.spawn(move || shared.work(usize::MAX)) {
            Ok(_) => LARGE,
            Err(_) => usize::MAX,
        }
    }
}

/// A caller that ends early wants no more results.
impl<J, R> Drop for Parallel<J, R> {
    fn drop(&mut self) {
        self.shared.lock().waiting.clear();
    }
}

impl<J, R> Shared<J, R> {
    fn lock(&self) -> MutexGuard<'_, QueueState<J, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does so many jobs, or until none waits; the largest first, so that no thread is left with a long one at the end.
    fn work(&self, most: usize) {
        self.work_up_to(most, usize::MAX);
    }

    /// As [`Self::work`]; leaves jobs of more than so much work to others.
    fn work_up_to(&self, most: usize, largest: usize) {
        let mut state = self.lock();
        for _ in 0..most {
            let sizes = state.waiting.iter().enumerate().map(|(i, (size, number, _))| (*size, Reverse(*number), i));
            let sizes = sizes.filter(|(size, ..)| *size <= largest);
            let Some((_, _, largest)) = sizes.max() else { return };
            let (_, number, job) = state.waiting.swap_remove(largest);
            state.begun += 1;
            drop(state);
            let result = catch_unwind(AssertUnwindSafe(|| (self.work)(job)));
            let mut done = self.lock();
            done.begun -= 1;
            if let Some(place) = done.results.get_mut(number) {
                *place = Some(result);
            }
            if done.begun == 0 {
                self.done.notify_all();
            }
            drop(done);
            steps::look();
            state = self.lock();
        }
    }
}

/// Machine code of one function.
///
/// # Errors
/// The code generator's.
pub fn compile(job: Job) -> Result<MachineCode, JitError> {
    let hosts = addresses::addresses().map_err(JitError::Other)?;
    with_context(job.func, |ctx| MachineCode::new(ctx, job.isa.as_ref(), hosts, job.disasm))
}

/// Runs `make` on a context with `func` in it, the memory of which this thread has used before.
pub fn with_context<T>(func: Function, make: impl FnOnce(&mut Context) -> T) -> T {
    // A panic in the middle of a function leaves no context behind.
    let mut ctx = CONTEXT.take().unwrap_or_else(Context::new);
    ctx.clear();
    ctx.func = func;
    let made = make(&mut ctx);
    if ctx.func.dfg.num_insts() <= MAX_KEPT {
        CONTEXT.set(Some(ctx));
    }
    made
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use crate::back::cpu::run::pool;
    use crate::runtime::{CompileOptions, Program};

    #[test]
    fn a_busy_pool_keeps_no_compilation_waiting() {
        let (release, hold) = mpsc::channel::<()>();
        let hold = std::sync::Arc::new(std::sync::Mutex::new(hold));
        // More than there are threads: each waits until the compilation is through.
        let busy = pool::width() + 1;
        for _ in 0..busy {
            let hold = hold.clone();
            pool::spawn(1, move || {
                let _ = hold.lock().map(|hold| hold.recv());
            });
        }
        let kernels: Vec<String> =
            (0..9).map(|i| format!("__global__ void k{i}(float* y) {{ y[threadIdx.x] = {i}; }}\n")).collect();
        let program = Program::compile(&kernels.concat(), &CompileOptions::default());
        assert_eq!(program.map(|p| p.kernel_names().len()).unwrap_or(0), 9);
        for _ in 0..busy {
            let _ = release.send(());
        }
    }
}

//! Machine code of several functions at a time: the thread that compiles lowers them one after the other, idle threads of the pool
//! take what is lowered, and it takes what is left. It waits only for what somebody has begun, never for a thread that is busy with
//! a launch.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;

use super::jit::{JitError, MachineCode};
use super::{intrinsics, pool};

/// Memory of the code generator is kept for the next function, but not what a function with more instructions took.
const MAX_KEPT: usize = 20_000;

/// Most functions that wait: more would only take memory.
const MAX_WAITING: usize = 32;

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// A function that waits for its machine code.
pub struct Job {
    pub func: Function,
    pub isa: &'static OwnedTargetIsa,
    /// Whether the code is wanted as text, too.
    pub disasm: bool,
}

/// Compiles jobs; each is known by how many were added before it.
pub struct Crew {
    shared: Arc<Shared>,
    /// How many threads besides the caller's may help.
    helpers: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Told when the last begun job is done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(usize, Job)>,
    /// Jobs that somebody has taken and not finished.
    begun: usize,
    codes: Vec<Option<Result<MachineCode, JitError>>>,
}

impl Crew {
    /// For so many jobs.
    pub fn new(jobs: usize) -> Self {
        Crew { shared: Arc::default(), helpers: jobs.min(pool::width()) - usize::from(jobs > 0) }
    }

    /// Adds a job, which may begin at once; does one where many wait.
    pub fn add(&mut self, job: Job) {
        let crowded = {
            let mut state = self.shared.lock();
            let number = state.codes.len();
            state.codes.push(None);
            state.waiting.push_back((number, job));
            state.waiting.len() > MAX_WAITING
        };
        if crowded {
            self.shared.work(1);
        }
        if self.helpers > 0 {
            self.helpers -= 1;
            let shared = self.shared.clone();
            pool::spawn(1, move || shared.work(usize::MAX));
        }
    }

    /// Does what nobody has begun, waits for the rest; the code of all jobs, in the order they were added.
    ///
    /// # Errors
    /// The first job's that has no code, and its number.
    pub fn finish(self) -> Result<Vec<MachineCode>, (usize, JitError)> {
        self.shared.work(usize::MAX);
        let mut state = self.shared.lock();
        while state.begun > 0 {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let codes = std::mem::take(&mut state.codes).into_iter().enumerate();
        let lost = || Err(JitError::Other("nobody compiled it".to_owned()));
        codes.map(|(i, code)| code.unwrap_or_else(lost).map_err(|e| (i, e))).collect()
    }
}

/// A compilation that ends early wants no more code.
impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.lock().waiting.clear();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles so many jobs, or until nothing waits.
    fn work(&self, most: usize) {
        let mut state = self.lock();
        for _ in 0..most {
            let Some((number, job)) = state.waiting.pop_front() else { return };
            state.begun += 1;
            drop(state);
            let code = catch_unwind(AssertUnwindSafe(|| compile(job)));
            let code = code.unwrap_or_else(|_| Err(JitError::Other("the code generator panicked".to_owned())));
            state = self.lock();
            state.begun -= 1;
            if let Some(place) = state.codes.get_mut(number) {
                *place = Some(code);
            }
            if state.begun == 0 {
                self.done.notify_all();
            }
        }
    }
}

fn compile(job: Job) -> Result<MachineCode, JitError> {
    let hosts = intrinsics::addresses().map_err(JitError::Other)?;
    with_context(job.func, |ctx| MachineCode::new(ctx, job.isa.as_ref(), hosts, job.disasm))
}

/// Runs `make` on a context with `func` in it, the memory of which this thread has used before.
pub fn with_context<T>(func: Function, make: impl FnOnce(&mut Context) -> T) -> T {
    // Whatever ends early in the middle of a function leaves no context behind.
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

    use crate::back::cpu::pool;
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

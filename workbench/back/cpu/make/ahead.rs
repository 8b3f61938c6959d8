//! Kernels of a text that is still being lowered: a thread that has nothing else to do makes their code meanwhile, a few at a time, each
//! group in a [`CompiledModule`] of its own. The program that the text becomes launches them from there.
//!
//! The front end takes half of the time that a text with host code needs, on one processor, and the kernels about as much of the rest. Code
//! made ahead counts as long as it is what the finished module says; where it is not, or could not be made, the program is compiled from
//! the start, and reports its errors as usual.
//!
//! Data has one place, read-only data included, as its addresses can be compared ([`Others`]), and an image of kernels looks addresses up
//! in all data of the program. Kernels that may call by address (whose callees are known only at the end), texts with much data, programs
//! of instances, and tiers other than the default are left out. Every message, and every limit, is the program's.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::build::build;
use super::compiled::CompiledModule;
use crate::back::cpu::data::{Globals, Others};
use crate::back::cpu::run::pool;
use crate::back::cpu::tier::Tier;
use crate::diagnostic::Diagnostic;
use crate::ir::{self, Block, FuncId, FuncKind, Function, GlobalData, Module};
use crate::pass;
use crate::source::Span;

/// Statements of one image, after which it gets no more kernels: work that has not begun when the front end is done is shared by all
/// threads, work that has is waited for.
const ENOUGH: usize = 300;

/// Most modules of a program, all of which wait for their good code.
const MAX_MODULES: usize = 8;

/// Most bytes of data of a text: each image is made beside a copy.
const MAX_DATA: usize = 1 << 18;

/// Most statements of a module: past that a limit of the whole program is near, whose error should not wait.
const MAX_STMTS: usize = 50_000;

/// A check of a module, which gives its errors.
pub type Check = fn(&Module) -> Vec<Diagnostic>;

/// Kernels whose code is being made ahead.
pub struct Ahead {
    /// The current reading; replaced where the text is read again.
    text: Mutex<Arc<Text>>,
    check: Check,
}

/// One reading of a text.
#[derive(Default)]
struct Text {
    state: Mutex<TextState>,
    /// Told when an image is done.
    done: Condvar,
}

#[derive(Default)]
struct TextState {
    /// Kernels that no thread has begun, each with the functions it reaches.
    waiting: Vec<(FuncId, Vec<FuncId>)>,
    functions: FxHashMap<FuncId, Arc<Function>>,
    /// The tables of the module, without functions, as they were when the last kernel was taken.
    tables: Module,
    /// The batches that a thread has begun.
    begun: Vec<Batch>,
    /// The variables of the last of these, which include those of all before.
    globals: Option<Arc<Globals>>,
    /// True while a thread that was asked is not done.
    asked: bool,
    /// True if nothing is to be begun any more.
    closed: bool,
}

/// Some kernels together.
struct Batch {
    kernels: Vec<FuncId>,
    /// All functions that they reach.
    functions: Vec<FuncId>,
    /// The image: the outer option is set when the compiling is over, the inner one if it went well.
    image: Option<Option<Arc<CompiledModule>>>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.text().close();
    }
}

impl ir::ahead::Ahead for Ahead {
    fn restart(&self) {
        let text = std::mem::take(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner));
        text.close();
    }

    fn take(&self, module: &Module, kernel: FuncId, reached: &[FuncId]) {
        // A machine with one processor has none left to do it meanwhile.
        if pool::width() < 2 {
            return;
        }
        let text = self.text();
        let mut state = text.lock();
        if state.closed {
            return;
        }
        for id in reached {
            state.functions.entry(*id).or_insert_with(|| Arc::new(module.func(*id).clone()));
        }
        let TextState { tables, .. } = &mut *state;
        let new = &module.globals[tables.globals.len()..];
        let bytes = |all: &[GlobalData]| all.iter().map(|global| global.bytes.len()).sum::<usize>();
        if bytes(&tables.globals) + bytes(new) > MAX_DATA {
            state.closed = true;
            state.waiting.clear();
            return;
        }
        tables.globals.extend_from_slice(new);
        tables.shared.extend_from_slice(&module.shared[tables.shared.len()..]);
        tables.formats.extend_from_slice(&module.formats[tables.formats.len()..]);
        state.waiting.push((kernel, reached.to_vec()));
        if !std::mem::replace(&mut state.asked, true) {
            drop(state);
            let (worker, check) = (text.clone(), self.check);
            if pool::spawn(1, move || worker.work(check)) == 0 {
                text.close();
            }
        }
    }
}

impl Ahead {
    /// A start without kernels. No code is made of a module in which `check` finds an error.
    pub fn new(check: Check) -> Ahead {
        Ahead { text: Mutex::new(Arc::default()), check }
    }

    fn text(&self) -> Arc<Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the taking. Gives the kernels of a finished module that are made ahead, whose code need not be made again.
    pub fn claim(&self, module: &Module) -> Claim {
        let text = self.text();
        let mut state = text.lock();
        state.closed = true;
        state.waiting.clear();
        let tables = &state.tables;
        let same = module.globals.starts_with(&tables.globals)
            && module.shared.starts_with(&tables.shared)
            && module.formats.starts_with(&tables.formats)
            && state.begun.iter().flat_map(|batch| &batch.functions).all(|id| {
                let pair = state.functions.get(id).zip(module.functions.get(id.index()));
                pair.is_some_and(|(taken, func)| is_same(taken, func))
            });
        let failed = |batch: &Batch| matches!(batch.image, Some(None));
        let stmts: usize = module.functions.iter().map(|func| func.body.count()).sum();
        if !same || stmts > MAX_STMTS || state.begun.iter().any(failed) {
            state.begun.clear();
            state.globals = None;
        }
        let kernels = state.begun.iter().flat_map(|batch| batch.kernels.iter().copied()).collect();
        let globals = state.globals.clone();
        drop(state);
        Claim { text, kernels, globals }
    }
}

/// The kernels of a module that are made ahead.
pub struct Claim {
    text: Arc<Text>,
    /// The kernels made ahead; in the module compiled beside them each is [`absent`].
    pub kernels: Vec<FuncId>,
    /// Their variables, which are the program's.
    pub globals: Option<Arc<Globals>>,
}

impl Claim {
    /// Waits for their code; `None` where some of it could not be made.
    pub fn modules(&self) -> Option<Vec<Arc<CompiledModule>>> {
        let mut state = self.text.lock();
        while state.begun.iter().any(|batch| batch.image.is_none()) {
            state = self.text.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.begun.iter().map(|batch| batch.image.clone().flatten()).collect()
    }
}

impl Text {
    fn lock(&self) -> MutexGuard<'_, TextState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has no more work begun.
    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
    }

    /// Compiles the waiting kernels, until none waits.
    fn work(&self, check: Check) {
        let mut state = self.lock();
        loop {
            if state.closed || state.waiting.is_empty() || state.begun.len() >= MAX_MODULES {
                state.asked = false;
                return;
            }
            let size = |(_, reached): &(FuncId, Vec<FuncId>)| -> usize {
                reached.iter().filter_map(|id| state.functions.get(id)).map(|func| func.body.count()).sum()
            };
            let before = state.waiting.iter().scan(0, |sum, one| Some(std::mem::replace(sum, *sum + size(one))));
            let many = before.take_while(|before| *before < ENOUGH).count();
            let taken: Vec<(FuncId, Vec<FuncId>)> = state.waiting.drain(..many).collect();
            let kernels = taken.iter().map(|(kernel, _)| *kernel).collect();
            let mut functions: Vec<FuncId> = taken.into_iter().flat_map(|(_, reached)| reached).collect();
            functions.sort_unstable();
            functions.dedup();
            let module = state.module(&functions);
            let before = state.globals.clone().map_or(Others::None, Others::First);
            let globals = Arc::new(Globals::new(&module, before));
            state.globals = Some(globals.clone());
            let number = state.begun.len();
            state.begun.push(Batch { kernels, functions, image: None });
            drop(state);
            let image = catch_unwind(AssertUnwindSafe(|| image(module, globals, check))).unwrap_or(None);
            state = self.lock();
            if let Some(batch) = state.begun.get_mut(number) {
                batch.image = Some(image);
            }
            self.done.notify_all();
        }
    }
}

impl TextState {
    /// The module of these functions alone, each at its number in the whole one.
    fn module(&self, functions: &[FuncId]) -> Module {
        let count = functions.last().map_or(0, |last| last.index() + 1);
        let mut module = Module {
            functions: (0..count).map(|_| absent()).collect(),
            globals: self.tables.globals.clone(),
            shared: self.tables.shared.clone(),
            formats: self.tables.formats.clone(),
            ..Module::default()
        };
        for id in functions {
            if let Some(func) = self.functions.get(id) {
                module.functions[id.index()] = Function::clone(func);
            }
        }
        module
    }
}

/// The placeholder in a module for a function that is made elsewhere.
pub fn absent() -> Function {
    Function::new("", FuncKind::Device, Span::NONE)
}

/// True if the two are the same function, whatever other texts know of it.
fn is_same(a: &Function, b: &Function) -> bool {
    let Function {
        name,
        library,
        kind,
        params,
        ret,
        values,
        locals,
        slots,
        labels,
        body,
        span,
        max_threads,
        contracts,
        ..
    } = a;
    // A body that holds a NaN equals nothing, so hashes are compared.
    let hash = |body: &Block| {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        hasher.finish()
    };
    (name, library, kind, params, ret) == (&b.name, &b.library, &b.kind, &b.params, &b.ret)
        && (values, locals, slots, labels) == (&b.values, &b.locals, &b.slots, &b.labels)
        && (span, max_threads, contracts) == (&b.span, &b.max_threads, &b.contracts)
        && (*body == b.body || hash(body) == hash(&b.body))
}

/// The code of all kernels of a module, which host code launches. Errors in it are left to the compilation of the whole
/// program.
fn image(mut module: Module, globals: Arc<Globals>, check: Check) -> Option<Arc<CompiledModule>> {
    if check(&module).iter().any(Diagnostic::is_error) {
        return None;
    }
    let watch = pass::check_and_dump::Watch::new(&module);
    let left = pass::prepare_together(&mut module, &watch);
    for (id, _) in left {
        let func = &mut module.functions[id.index()];
        let launched = func.kind == FuncKind::Kernel;
        pass::prepare_alone(func, launched, &watch);
    }
    build(&module, globals, Tier::Auto).ok().flatten().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::front;
    use crate::runtime::{CompileOptions, Program};
    use crate::source::SourceMap;

    const TEXT: &str = "#include <torch/extension.h>
        __device__ int base = 3;
        __device__ int twice(int x) { return 2 * x; }
        __global__ void first(int* y) { y[threadIdx.x] = twice(base); }
        __global__ void second(int* y) { y[threadIdx.x] = 5; }
        void f(torch::Tensor y) { first<<<1, 2>>>(y.data_ptr<int>()); second<<<1, 2>>>(y.data_ptr<int>()); }";

    /// The module of a text, and the kernels made ahead of it, once all that were taken have been begun.
    fn compiled(text: &str) -> (Module, Ahead) {
        let ahead = Ahead::new(crate::valid::validate);
        let options = front::Options::default();
        let (module, diags) =
            front::compile_with(&mut SourceMap::default(), "t.cu", text, &options, None, Some(&ahead));
        assert!(diags.iter().all(|diag| !diag.is_error()), "{diags:?}");
        let until = Instant::now() + Duration::from_secs(20);
        while pool::width() > 1 && !ahead.text().lock().waiting.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        (module, ahead)
    }

    fn names(module: &Module, claim: &Claim) -> Vec<String> {
        let mut names: Vec<String> = claim.kernels.iter().map(|id| module.func(*id).name.clone()).collect();
        names.sort();
        names
    }

    #[test]
    fn kernels_that_host_code_launches_are_made_ahead() {
        if pool::width() < 2 {
            return;
        }
        let (module, ahead) = compiled(TEXT);
        let claim = ahead.claim(&module);
        assert_eq!(names(&module, &claim), ["first", "second"]);
        let modules = claim.modules().expect("they compile");
        for kernel in &claim.kernels {
            assert_eq!(modules.iter().filter(|made| made.image.has(*kernel)).count(), 1);
        }
    }

    #[test]
    fn without_launches_nothing_is_taken() {
        let (module, ahead) = compiled("__global__ void k(int* y) { y[0] = 1; }");
        assert_eq!(ahead.claim(&module).kernels, []);
    }

    #[test]
    fn what_is_not_in_the_module_as_it_was_does_not_count() {
        if pool::width() < 2 {
            return;
        }
        let place =
            |module: &Module, name: &str| module.functions.iter().position(|f| f.name == name).expect("it is there");
        let changes: [fn(&mut Module, usize, usize); 4] = [
            |module, kernel, _| module.functions[kernel].max_threads = Some(7),
            |module, _, helper| module.functions[helper].body.stmts.clear(),
            |module, _, _| module.globals[0].bytes[0] ^= 1,
            |module, _, _| module.globals.clear(),
        ];
        for change in changes {
            let (mut module, ahead) = compiled(TEXT);
            let (kernel, helper) = (place(&module, "first"), place(&module, "twice"));
            change(&mut module, kernel, helper);
            assert_eq!(ahead.claim(&module).kernels, []);
        }
    }

    #[test]
    fn a_text_that_is_read_again_begins_anew() {
        let (module, ahead) = compiled(TEXT);
        ir::ahead::Ahead::restart(&ahead);
        assert_eq!(ahead.claim(&module).kernels, []);
    }

    #[test]
    fn what_the_back_end_refuses_is_left_to_the_program() {
        let large = "__device__ float one(int i) { float a[80000]; a[i] = 1; return a[i / 2]; }
            __device__ float two(int i) { float a[80000]; a[i] = 2; return a[i / 3]; }
            __global__ void both(float* x, int i) { x[0] = one(i) + two(i); }
            void g(torch::Tensor x) { both<<<1, 1>>>(x.data_ptr<float>(), 3); }";
        let (module, ahead) = compiled(&format!("#include <torch/extension.h>\n{large}"));
        let claim = ahead.claim(&module);
        // The code is not made yet, or nothing is claimed at all.
        assert!(claim.kernels.is_empty() || claim.modules().is_none());
    }

    #[test]
    fn a_busy_pool_makes_nothing_ahead_and_keeps_nothing_waiting() {
        let (release, hold) = mpsc::channel::<()>();
        let hold = Arc::new(Mutex::new(hold));
        let busy = pool::width() + 1;
        for _ in 0..busy {
            let hold = hold.clone();
            pool::spawn(1, move || {
                let _ = hold.lock().map(|hold| hold.recv());
            });
        }
        let program = Program::compile(TEXT, &CompileOptions::default());
        assert_eq!(program.map(|p| p.kernel_names().len()).unwrap_or(0), 2);
        for _ in 0..busy {
            let _ = release.send(());
        }
    }
}

//! The wide tier: kernels that turn out to be hot, as C with vectors as wide as the machine's, made by the machine's own C compiler in
//! the background.
//!
//! [`build`] makes a kernel of the lane IR ([`crate::back::lane`]), [`c_file`] its C for the compiler.
//!
//! C is used because 128-bit code reaches a third of what the machine can do on compute-bound kernels, and the code generator has no wider
//! vectors. A C compiler allocates registers and selects instructions for 512 bits as well as any, in a few tenths of a second during which
//! no launch waits. It is not asked to find the vectors: threads of a block run side by side in lanes because [`build`] says so ([`value_forms`]
//! decides whether a value is computed once, once for 16 threads, or for each thread). Until its code is ready, and on a machine without
//! one, [`jit`] makes code of the same kernel; a kernel with a construct that this tier does not support keeps the code of the other tiers.
//!
//! Everything is checked as in the other tiers, and gives the same bits. A fault does not stop a group of threads at once: lower threads
//! might fault later, and the fault of a block's lowest thread is the one reported, so they run on to the end of the region.

mod build;
mod c_file;
mod compile_c;
pub mod compiler;
pub mod compiler_process;
mod hoist;
mod in_step;
mod index_division;
mod jit;
mod overwritten;
mod prelude;
mod scopes;
mod spans;
mod steering;
#[cfg(test)]
mod tests;
mod unroll;
mod unsupported;
mod value_forms;
mod walk;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use self::build::Builder;
use self::compile_c::Failed;
use self::steering::{Fixed, Steer};
use self::unroll::Plain;
use self::unsupported::{Result, TOO_LONG, Unsupported};
use self::value_forms::{MOST_THREADS, Quotients, Survey};
use crate::back::cpu::abi::context::EntryFn;
use crate::back::cpu::data::Globals;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::run::wide_code::WideCode;
use crate::back::cpu::stack;
use crate::back::cpu::tier::Tier;
use crate::back::lane::not_vectorised::Left;
use crate::back::lane::valid;
use crate::back::{Dim3, Interrupt};
use crate::ir::{FuncId, FuncKind, Function, GlobalData, Module};
use crate::pass::{fold, independent, regions};

/// True if this machine can make wide code; else the error says what is missing.
///
/// # Errors
/// A sentence that says what is missing.
pub fn available() -> std::result::Result<(), &'static str> {
    compiler::available().map(|_| ())
}

/// True if a launch may run wide code, whose indices reach so many threads in each dimension.
pub fn may_be_wide(grid: Dim3, block: Dim3) -> bool {
    let threads = |blocks: u32, of_each: u32| u64::from(blocks) * u64::from(of_each);
    [threads(grid.x, block.x), threads(grid.y, block.y), threads(grid.z, block.z)].iter().all(|n| *n <= MOST_THREADS)
}

/// The total time of launches after which a kernel is worth a compiler's time.
pub const HOT: Duration = Duration::from_millis(15);

/// The shortest launch that counts: most of a shorter one is not the kernel.
const WORTH_NOTING: Duration = Duration::from_micros(10);

/// Most shapes of blocks that one kernel gets wide code for.
const MAX_SHAPES: usize = 8;

/// Most values of steering scalars that a kernel gets code of its own for, for blocks of one shape.
const MAX_FIXED: usize = 2;

/// Most such values for which the time of launches is recorded.
const MAX_WATCHED: usize = 8;

/// The purpose of a piece of code: a kernel, the shape of its blocks, and the values of the steering scalars if the code knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Case {
    func: FuncId,
    block: Dim3,
    fixed: Fixed,
}

impl Case {
    /// The same case without known scalars.
    fn any(&self) -> Case {
        Case { fixed: Fixed::new(), ..self.clone() }
    }
}

type States = HashMap<Case, State>;

/// The compiler that makes the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// The machine's C compiler, with vectors as wide as the machine's.
    Compiler,
    /// Our own compiler.
    Jit,
}

/// The state of a kernel's wide code.
enum State {
    /// The total time of launches so far.
    Cold(Duration),
    /// The code is being made, in the process of that number.
    Queued(u32),
    /// The code is being made likewise, and our own compiler's code is ready.
    Meanwhile(u32, Arc<WideCode>),
    Ready(Arc<WideCode>),
    /// There is no code, for this reason.
    None(String),
}

/// The wide code of a program.
pub struct Wide {
    module: Module,
    /// True if launches wait for the code.
    now: bool,
    maker: Maker,
    /// The addresses of the functions that the code calls, by their numbers in [`host_fn`](super::abi::host_fn).
    addresses: &'static [usize],
    /// True once there is any code, so that most launches need not look.
    any: AtomicBool,
    /// The scalars that steer each kernel, by its number.
    steers: Vec<Vec<Steer>>,
    /// A lock that no launch waits for; see [`Wide::states`].
    states: Mutex<States>,
}

impl Wide {
    /// The wide code of a program; nothing is made yet. None where no kernel will ever have any.
    pub fn of(module: &Module, tier: Tier, addresses: &'static [usize]) -> Option<Self> {
        let maker = match tier {
            Tier::Wide => Maker::Compiler,
            Tier::Auto if compiler::available().is_ok() => Maker::Compiler,
            Tier::Auto | Tier::Lanes if jit::AVAILABLE => Maker::Jit,
            Tier::Auto | Tier::Lanes | Tier::Good | Tier::Soon | Tier::Fibers => return None,
        };
        module.kernels().next()?;
        // The copy has kernels alone, and the descriptions of data without the bytes.
        let function = |f: &Function| match f.kind {
            FuncKind::Kernel => f.clone(),
            kind => Function::new("", kind, f.span),
        };
        let global = |g: &GlobalData| GlobalData { bytes: Vec::new(), name: String::new(), ..*g };
        let module = Module {
            functions: module.functions.iter().map(function).collect(),
            globals: module.globals.iter().map(global).collect(),
            shared: module.shared.clone(),
            ..Module::default()
        };
        let now = matches!(tier, Tier::Wide | Tier::Lanes);
        let steers = module.functions.iter().map(steering::find).collect();
        Some(Wide { module, now, maker, addresses, steers, any: AtomicBool::new(false), states: Mutex::default() })
    }

    /// True if launches wait for their wide code.
    pub fn is_wanted_now(&self) -> bool {
        self.now
    }

    /// The C of a kernel for blocks of a shape.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn text(&self, globals: &Globals, func: FuncId, block: Dim3) -> std::result::Result<String, String> {
        let case = Case { func, block, fixed: Fixed::new() };
        let (built, _) = self.built(globals, &case, self.maker)?;
        let kernel = valid::require(Ok(built.kernel))?;
        Ok(c_file::text(&kernel, block, built.spans, self.addresses))
    }

    /// The case of a launch.
    fn case(&self, states: &States, func: FuncId, block: Dim3, args: &[u64]) -> Case {
        let steers = self.steers.get(func.index()).map_or(&[][..], Vec::as_slice);
        let case = Case { func, block, fixed: steering::fixed(steers, args) };
        if case.fixed.is_empty() {
            return case;
        }
        let is_like = |c: &Case| c.func == func && c.block == block && !c.fixed.is_empty();
        let is_begun = |state: &State| !matches!(state, State::Cold(_));
        match states.get(&case) {
            // A case that this tier does not support may run as the general one.
            Some(State::None(_)) => case.any(),
            Some(state) if is_begun(state) => case,
            // Only the first cases that turn out to be hot get code.
            _ if count(states, |c, state| is_like(c) && is_begun(state)) >= MAX_FIXED => case.any(),
            Some(_) => case,
            None if count(states, |c, _| is_like(c)) >= MAX_WATCHED => case.any(),
            None => case,
        }
    }

    /// The code for a launch, if any, and true if better code may come: code that knows its scalars, or a C compiler's.
    pub fn code(&self, func: FuncId, block: Dim3, args: &[u64]) -> Option<(Arc<WideCode>, bool)> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let states = self.states()?;
        let case = self.case(&states, func, block, args);
        match (states.get(&case), states.get(&case.any())) {
            (Some(State::Ready(code)), _) => Some((code.clone(), false)),
            // General wide code comes before lanes that know the scalars.
            (_, Some(State::Ready(code))) => Some((code.clone(), true)),
            (Some(State::Meanwhile(_, code)), _) | (_, Some(State::Meanwhile(_, code))) => Some((code.clone(), true)),
            _ => None,
        }
    }

    /// The reason why there is no code for blocks of a shape, if known.
    pub fn reason(&self, func: FuncId, block: Dim3) -> Option<String> {
        match self.states()?.get(&Case { func, block, fixed: Fixed::new() }) {
            Some(State::None(why)) => Some(why.clone()),
            _ => None,
        }
    }

    /// The code that is there for blocks of a shape, whatever scalars steer it.
    pub fn made(&self, func: FuncId, block: Dim3) -> Option<Arc<WideCode>> {
        match self.states()?.get(&Case { func, block, fixed: Fixed::new() }) {
            Some(State::Ready(code) | State::Meanwhile(_, code)) => Some(code.clone()),
            _ => None,
        }
    }

    /// True if a C compiler makes the code in the end.
    pub fn is_by_compiler(&self) -> bool {
        self.maker == Maker::Compiler
    }

    /// The number of kinds of code, for blocks of a shape, that know the values of the scalars that steer the kernel.
    pub fn count_steered(&self, func: FuncId, block: Dim3) -> usize {
        let is_made = |state: &State| matches!(state, State::Ready(_) | State::Meanwhile(..));
        let Some(states) = self.states() else { return 0 };
        count(&states, |c, state| c.func == func && c.block == block && !c.fixed.is_empty() && is_made(state))
    }

    /// The number of loops and stretches, in lanes made for blocks of a shape, that run in the processor's widest registers, and the
    /// reasons why others do not. The lanes are thrown away.
    ///
    /// # Errors
    /// The reason that there are no lanes.
    pub fn try_lanes(
        &self,
        globals: &Globals,
        func: FuncId,
        block: Dim3,
    ) -> std::result::Result<(usize, Vec<Left>), String> {
        if !jit::AVAILABLE {
            return Err("our own compiler makes lanes for x86-64 and AArch64 alone".to_owned());
        }
        let case = Case { func, block, fixed: Fixed::new() };
        match self.build(globals, &case, Maker::Jit, None) {
            Ok(code) => Ok(code.loops.unwrap_or_default()),
            Err(Failed::Because(why)) => Err(why),
            Err(Failed::Interrupted) => Err("it was interrupted".to_owned()),
        }
    }

    /// The states for a launch, which does not wait for them: other threads hold them for less than a microsecond, but for ever in the child of
    /// a process that forked meanwhile.
    fn states(&self) -> Option<MutexGuard<'_, States>> {
        const TRIES: usize = 100;
        (0..TRIES).find_map(|_| {
            self.states.try_lock().ok().or_else(|| {
                std::hint::spin_loop();
                None
            })
        })
    }

    fn is_kernel(&self, func: FuncId) -> bool {
        self.module.functions.get(func.index()).is_some_and(|f| f.kind == FuncKind::Kernel)
    }

    /// Notes the time that a launch has taken. Returns the case whose code the caller should have made now, if any.
    pub fn hot(&self, func: FuncId, block: Dim3, args: &[u64], took: Duration) -> Option<Case> {
        if took < WORTH_NOTING || !self.is_kernel(func) {
            return None;
        }
        let mut states = self.states()?;
        let case = self.case(&states, func, block, args);
        let process = std::process::id();
        if !states.contains_key(&case) {
            let is_new = count(&states, |c, _| c.func == func && c.block == block) == 0;
            let blocks: HashSet<Dim3> = states.keys().filter(|c| c.func == func).map(|c| c.block).collect();
            if is_new && blocks.len() >= MAX_SHAPES {
                return None;
            }
            states.insert(case.clone(), State::Cold(Duration::ZERO));
        }
        let state = states.get_mut(&case)?;
        match state {
            State::Cold(total) => {
                *total += took;
                if *total < HOT {
                    return None;
                }
            }
            State::Queued(by) if *by != process => {}
            State::Meanwhile(by, _) if *by != process => {
                *by = process;
                return Some(case);
            }
            _ => return None,
        }
        *state = State::Queued(process);
        Some(case)
    }

    /// Makes the code that a launch would run now, unless it is there.
    ///
    /// # Errors
    /// The interrupted case.
    pub fn make_for(
        &self,
        globals: &Globals,
        (func, block): (FuncId, Dim3),
        args: &[u64],
        interrupt: &dyn Interrupt,
    ) -> std::result::Result<(), Case> {
        // The second round makes general code if there is none for these scalars.
        for _ in 0..2 {
            let Some(states) = self.states() else { return Ok(()) };
            let case = self.case(&states, func, block, args);
            drop(states);
            if !self.make(globals, &case, Some(interrupt)) {
                return Err(case);
            }
        }
        Ok(())
    }

    /// Notes that code is to be made in the background; true if that is new.
    pub fn leave(&self, case: &Case) -> bool {
        let Some(mut states) = self.states() else { return false };
        let process = std::process::id();
        let is_left = match states.get(case) {
            None | Some(State::Cold(_)) => true,
            Some(State::Queued(by)) => *by != process,
            Some(State::Meanwhile(..) | State::Ready(_) | State::None(_)) => false,
        };
        if is_left {
            states.insert(case.clone(), State::Queued(process));
        }
        is_left
    }

    /// The cases whose code is to be made in the background of this process.
    pub fn left(&self) -> Vec<Case> {
        let Some(states) = self.states() else { return Vec::new() };
        let process = std::process::id();
        let is_left = |state: &State| matches!(state, State::Queued(by) | State::Meanwhile(by, _) if *by == process);
        states.iter().filter(|(_, state)| is_left(state)).map(|(case, _)| case.clone()).collect()
    }

    /// Makes code now, unless it is there; `false` when interrupted.
    pub fn make(&self, globals: &Globals, case: &Case, interrupt: Option<&dyn Interrupt>) -> bool {
        if !self.is_kernel(case.func) {
            return true;
        }
        if let Some(states) = self.states()
            && matches!(states.get(case), Some(State::Ready(_) | State::None(_)))
        {
            return true;
        }
        // A C compiler takes some tenths of a second, ours a tenth of that; if no launch waits, code of ours runs until then.
        let mut first = None;
        if self.maker == Maker::Compiler
            && !self.now
            && jit::AVAILABLE
            && let Ok(code) = self.build(globals, case, Maker::Jit, None)
        {
            self.put_meanwhile(case, first.insert(Arc::new(code)).clone());
        }
        let state = match self.build(globals, case, self.maker, interrupt) {
            Ok(code) => State::Ready(Arc::new(code)),
            Err(Failed::Interrupted) => return false,
            Err(Failed::Because(why)) => first.map_or(State::None(why), State::Ready),
        };
        self.put(case, state);
        true
    }

    /// Code for the time until the C compiler's is there.
    fn put_meanwhile(&self, case: &Case, code: Arc<WideCode>) {
        self.put(case, State::Meanwhile(std::process::id(), code));
    }

    /// Notes what was made. Two threads may make the same code, the queue's and one that makes it out of turn: what came first stays.
    fn put(&self, case: &Case, state: State) {
        let is_code = matches!(state, State::Ready(_) | State::Meanwhile(..));
        let Ok(mut states) = self.states.lock() else { return };
        let is_late = matches!(states.get(case), Some(State::Ready(_) | State::None(_)));
        let unwanted = if is_late { Some(state) } else { states.insert(case.clone(), state) };
        self.any.fetch_or(is_code, Ordering::Release);
        drop(states);
        // Code takes long to unload, and launches that find the lock taken do without wide code.
        drop(unwanted);
    }

    fn built(
        &self,
        globals: &Globals,
        case: &Case,
        maker: Maker,
    ) -> std::result::Result<(build::Built, Keeps), String> {
        let steers = self.steers.get(case.func.index()).map_or(&[][..], Vec::as_slice);
        built(&self.module, (globals, self.addresses), case, steers, maker)
    }

    fn build(
        &self,
        globals: &Globals,
        case: &Case,
        maker: Maker,
        interrupt: Option<&dyn Interrupt>,
    ) -> std::result::Result<WideCode, Failed> {
        let compiler = match maker {
            Maker::Compiler => Some(compiler::available().map_err(|why| Failed::Because(why.to_owned()))?),
            Maker::Jit => None,
        };
        let (mut built, keeps) = self.built(globals, case, maker).map_err(Failed::Because)?;
        let kernel = valid::require(Ok(std::mem::take(&mut built.kernel))).map_err(Failed::Because)?;
        // A C compiler does not tell the size of its frames: the estimate is the variables of the text plus twice the usual margin.
        let mut stack_need = 2 * stack::MARGIN + built.slots;
        let mut loops = None;
        let (entry, memory) = match compiler {
            Some(compiler) => {
                let text = c_file::text(&kernel, case.block, built.spans, self.addresses);
                let library = compile_c::load(compiler, &text, interrupt)?;
                // SAFETY: the function is the kernel's, of this type.
                let entry = unsafe { library.get::<EntryFn>(b"kernel\0") }.map_err(|e| {
                    let why = compile_c::explained(&e);
                    Failed::Because(format!("what the C compiler made is not what it was given: {why}"))
                })?;
                (*entry, Box::new(library) as Box<dyn Any + Send + Sync>)
            }
            None => {
                let compiled = jit::compile(&kernel, case.block, built.spans).map_err(Failed::Because)?;
                stack_need = compiled.stack_need();
                let address = compiled.address().ok_or_else(|| Failed::Because("it has no code".to_owned()))?;
                // SAFETY: the function is the kernel's, of this type.
                let entry = unsafe { std::mem::transmute::<usize, EntryFn>(address) };
                let (count, left) = compiled.loops();
                loops = Some((count, left.to_vec()));
                (entry, Box::new(compiled) as Box<dyn Any + Send + Sync>)
            }
        };
        let build::Built { sites, slot_names: slots, room, merges, overwritten, sums, walks, .. } = built;
        let walks = walks.map(|(blocks, _)| blocks);
        let tier = if compiler.is_some() { Tier::Wide } else { Tier::Lanes };
        Ok(WideCode {
            entry,
            sites,
            slots,
            keeps,
            room,
            merges,
            overwritten,
            sums,
            walks,
            stack_need,
            loops,
            tier,
            _memory: memory,
        })
    }
}

fn count(states: &States, is: impl Fn(&Case, &State) -> bool) -> usize {
    states.iter().filter(|(case, state)| is(case, state)).count()
}

type Keeps = Option<(usize, usize)>;

fn built(
    module: &Module,
    data: (&Globals, &'static [usize]),
    Case { func, block, fixed }: &Case,
    steers: &[Steer],
    maker: Maker,
) -> std::result::Result<(build::Built, Keeps), String> {
    let (mut function, block) = (module.func(*func).clone(), *block);
    if independent::is_needed(module, &function) {
        return Err("it has threads that wait for one another in no known order".to_owned());
    }
    regions::unswitch_all(&mut function);
    if !fixed.is_empty() {
        steering::fix(&mut function, steers, fixed);
        fold::run(&mut function);
    }
    let mut unrolled = function.clone();
    let plain = if fixed.is_empty() { Plain::No } else { Plain::Short };
    let any = unroll::unroll(&mut unrolled, block, plain) | unroll::arrays_in_registers(&mut unrolled, block);
    let mut found = Err(TOO_LONG);
    if any {
        found = built_one(module, data, unrolled, (block, maker));
    }
    // An unrolled text may be more than a compiler should read.
    if found.as_ref().err() == Some(&TOO_LONG) {
        found = built_one(module, data, function, (block, maker));
    }
    found.map_err(|Unsupported(what)| format!("it has {what}"))
}

fn built_one(
    module: &Module,
    data: (&Globals, &'static [usize]),
    mut function: Function,
    (block, maker): (Dim3, Maker),
) -> Result<(build::Built, Keeps)> {
    scopes::scope_continues(&mut function);
    hoist::hoist(&mut function);
    let mut info = FuncInfo::new(module, &function);
    if info.fibers.is_some() || info.waits.contains(&true) {
        return Err(Unsupported("a loop that waits for other threads"));
    }
    let (survey, places) = (Survey::new(&function), spans::places(&function, block));
    let build = |info: &FuncInfo| {
        let walk = walk::find(&function, info, block);
        let known = (&survey, places.as_ref(), walk.as_ref());
        let build = |quotients| Builder::build(module, data, &function, info, known, (block, maker, quotients));
        let built = match build(Quotients::Pieces) {
            Err(why) if why == TOO_LONG && survey.has_quotients() => build(Quotients::Lanes)?,
            built => built?,
        };
        let more = built.walks.map_or(0, |(_, bytes)| bytes);
        let keeps = info.split.as_ref().map(|s| ((s.scratch + more) as usize, s.slot_bytes as usize));
        Ok((built, keeps))
    };
    if in_step::may_be(&function, block) {
        info.run_warps_in_step(module, &function);
        match build(&info) {
            // A stretch for all threads of a block at a time has fewer of the things that this tier has no words for.
            Err(why) if why != TOO_LONG => info = FuncInfo::new(module, &function),
            found => return found,
        }
    }
    build(&info)
}

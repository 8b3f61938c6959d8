//! IR to machine code of this CPU, and its execution.
//!
//! [`lower`] turns functions into CLIF after a look at the whole of each ([`analysis`]); [`crew`] makes machine code of several at a
//! time, [`jit`] executable memory of that; [`schedule`] runs ranges of blocks on the caller's thread and the pool's, [`rounds`] those of grid-stride loops. Every access, division and call is checked
//! in generated code, which leaves through a status and never through a signal: [`faults`] says what happened, [`tick`]
//! stops what runs too long, [`output`] keeps what is printed.

mod affine;
mod ahead;
mod analysis;
mod context;
mod crew;
mod faults;
mod fibers;
mod float_env;
mod glue;
mod host;
mod intrinsics;
mod isa;
mod jit;
mod join;
mod lower;
mod math;
mod memory;
mod output;
mod placement;
mod plan;
mod pool;
mod rounds;
mod schedule;
mod size;
mod split;
mod stack;
mod sums;
mod thunk;
mod tick;
mod tiers;
mod vector;
mod wide;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cranelift_codegen::ir as clif;
use cranelift_frontend::FunctionBuilderContext;
use smallvec::SmallVec;

use super::{FaultKind, LaunchConfig, Outcome, RawArg, RawFault};
use crate::diagnostic::{self, Diagnostic};
use crate::ir::format::Piece;
use crate::ir::{Derived, Elem, FuncId, FuncKind, Function, Global, Module, Param, ParamType, Scalar, format};
use crate::pass;
use crate::source::Span;
use analysis::FuncInfo;
use context::{BufferDesc, SlotTable};
use crew::{Crew, Job};
use faults::{Named, Site};
use isa::Effort;
use jit::{Assembler, JitError, Links, MachineCode};
use lower::{Lowering, Part};
use memory::{Globals, Others};
use plan::{Plan, plan};
use schedule::Bound;
use tiers::{Machine, Tiers};
use wide::Wide;

/// Operations, estimated, of the smallest launch that is timed to find out whether its kernel is hot.
const MIN_TIMED_WORK: u64 = 20_000;

/// Most bytes of static shared memory of a block.
const MAX_STATIC_SHARED: u32 = 48 * 1024;

/// Machine code of one module. Clones share it; its memory is freed when the last holder lets go, and a running launch is
/// a holder.
#[derive(Clone)]
pub struct Code(Arc<Image>);

/// What a module became.
struct Image {
    tiers: Tiers,
    /// For each function the way in, where there is one.
    entries: Vec<Option<Entry>>,
    sites: Vec<Site>,
    slots: Vec<Named>,
    /// Read by generated code alone.
    #[expect(clippy::vec_box, reason = "generated code holds their addresses")]
    _tables: Vec<Box<SlotTable>>,
    globals: Arc<Globals>,
    /// Those of the program, where this is a part of one that was made ahead; these are the first of them.
    all_globals: OnceLock<Arc<Globals>>,
    /// What was made ahead of the program.
    ahead: Vec<Arc<Image>>,
    /// Those of the functions whose address is taken, with what tells those of their type.
    functions: Vec<Option<(u64, Callee)>>,
    /// What messages call the shared variables; a dynamic one has no size of its own.
    shared: Vec<Named>,
    formats: Vec<Vec<Piece>>,
    /// Whether even the first code is good code.
    is_good: bool,
    /// Where hot kernels get wide code.
    wide: Option<Wide>,
    /// How many statements it was made of.
    stmts: usize,
}

impl Image {
    /// The site that generated code means by a word.
    fn site(&self, word: u64) -> Option<&Site> {
        glue::site(&self.sites, word)
    }

    /// The data of the program.
    fn data(&self) -> &Globals {
        self.all_globals.get().unwrap_or(&self.globals)
    }

    /// The entry of a function that may be launched, wherever in the program it is.
    fn entry(&self, func: FuncId) -> Option<&Entry> {
        let here = |image: &Self| image.entries.get(func.index()).is_some_and(Option::is_some);
        let image = if here(self) { self } else { self.ahead.iter().find(|image| here(image))? };
        image.entries[func.index()].as_ref()
    }
}

/// What host code finds at the address of a function.
enum Callee {
    /// A part, by its number.
    Part(u32),
    Glue(&'static glue::Glue),
}

/// A shared variable that a kernel names, and where in the block's memory it lies.
#[derive(Debug, Clone, Copy)]
struct Placed {
    /// Its index in the module.
    index: usize,
    at: u32,
    size: u32,
    dynamic: bool,
}

/// The shared memory of a kernel's blocks.
#[derive(Debug, Clone, Default)]
struct SharedPlan {
    placed: Vec<Placed>,
    /// Bytes of static variables, the alignment of dynamic ones included.
    fixed: u32,
    /// Whether it names dynamic memory.
    dynamic: bool,
}

/// A function that can be launched.
struct Entry {
    way: Way,
    name: String,
    span: Span,
    /// What a launch passes.
    params: Vec<ParamInfo>,
    /// What the launch works out from that.
    derived: Vec<DerivedInfo>,
    /// Whether a call gives a result.
    returns: bool,
    /// Whether it is a host function.
    is_host: bool,
    /// Operations of one thread, loops left out.
    straight: u64,
    /// Operations of one thread, estimated.
    estimate: u64,
    /// For a grid-stride loop the number of its numbers' code; that of one round follows.
    rounds: Option<usize>,
    shared: SharedPlan,
    /// What a block's threads keep while others run: bytes of scratch, bytes of local arrays a thread.
    keeps: Option<(usize, usize)>,
    /// Whether its code runs one thread of a block, which is a fiber; see [`fibers`].
    fibers: bool,
    /// Whether the estimate is a guess.
    has_loops: bool,
    /// Which code its last launch ran.
    last: AtomicU8,
}

/// Where the code of an entry point is.
enum Way {
    /// The part of that number.
    Part(usize),
    /// The part of that number, called by way of [`context::direct`].
    Direct(usize),
    /// Glue, called like that.
    Glue(&'static glue::Glue),
}

/// Whether a host function needs no code to be called; see [`context::direct`].
fn is_direct(func: &Function) -> bool {
    let is_word = |p: &Param| matches!(p.ty, ParamType::Scalar(Scalar::I64 | Scalar::U64));
    func.kind == FuncKind::Host
        && func.ret.is_none()
        && func.params.len() <= context::MAX_DIRECT
        && func.params.iter().all(is_word)
}

/// What messages and launches want to know of a parameter.
struct ParamInfo {
    name: String,
    is_ptr: bool,
    /// A struct by value: the launch has a copy.
    by_value: bool,
    elem: Option<Elem>,
}

/// A parameter of the code that no launch passes.
struct DerivedInfo {
    name: String,
    derived: Derived,
    ty: ParamType,
}

/// Which machine code to make; see [`tiers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Code that is there soon, good code in its place as soon as that is made, and for kernels that turn out to be hot lanes, then wide code.
    Both,
    /// Good code, which takes longer.
    Good,
    /// Code that is there soon and runs for longer.
    Soon,
    /// Lanes by our own compiler, which the first launch makes and waits for; good code where there are none.
    Lanes,
    /// Wide code, which the first launch makes and waits for; good code where there is none.
    Wide,
    /// Good code of which each thread of a kernel runs as a fiber, also where none has to wait for another: slow, and independent of any order.
    Fibers,
}

/// What [`Tier::default`] is, by its place in [`TIERS`].
static DEFAULT_TIER: AtomicU8 = AtomicU8::new(0);

const TIERS: [(Tier, &str); 6] = [
    (Tier::Both, "auto"),
    (Tier::Soon, "soon"),
    (Tier::Good, "good"),
    (Tier::Lanes, "lanes"),
    (Tier::Wide, "wide"),
    (Tier::Fibers, "fibers"),
];

impl Default for Tier {
    /// [`Tier::Both`], or what [`Tier::make_default`] said last.
    fn default() -> Self {
        TIERS[usize::from(DEFAULT_TIER.load(Ordering::Relaxed))].0
    }
}

impl Tier {
    /// What is compiled in this process from now on gets this code, unless it asks for other.
    pub fn make_default(self) {
        let at = TIERS.iter().position(|(tier, _)| *tier == self).unwrap_or(0);
        DEFAULT_TIER.store(at as u8, Ordering::Relaxed);
    }

    /// `auto`, `soon`, `good`, `lanes`, `wide` or `fibers`.
    pub fn name(self) -> &'static str {
        TIERS.iter().find(|(tier, _)| *tier == self).map_or("auto", |(_, name)| name)
    }

    /// The tier of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        TIERS.iter().find(|(_, n)| *n == name).map(|(tier, _)| *tier)
    }

    /// Whether there is good code from the first launch on, and none that is there sooner.
    fn begins_good(self) -> bool {
        matches!(self, Tier::Good | Tier::Lanes | Tier::Wide | Tier::Fibers)
    }

    /// Whether this machine can make wide code; a sentence where it cannot.
    ///
    /// # Errors
    /// What is missing.
    pub fn wide_is_available() -> std::result::Result<(), &'static str> {
        wide::available()
    }

    /// Adds folders of Python packages to the places where a C compiler for wide code is looked for: the package `ziglang` brings one. Only
    /// before it is looked for, which the first hot kernel does.
    pub fn look_in_packages(folders: impl IntoIterator<Item = std::path::PathBuf>) {
        wide::compiler::add_packages(folders);
    }

    /// Stops the compilers that run in the background, and removes what they were making: for a process that ends.
    pub fn stop_compilers() {
        wide::running::end();
    }
}

pub use ahead::{Ahead, Claim, absent};
pub use context::Side;
pub use glue::known;
pub use host::{Host, HostMemory, Lent, Raised, Refusal, Reply, Source, Word};
pub use tiers::{Settled, discard, forget_own, settle, settle_while};

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Makes of a module what [`Code::compile`] takes: as [`pass::prepare_for_cpu`], several functions at a time.
pub fn prepare(module: &mut Module) {
    let left = pass::prepare_together(module);
    let mut crew = Crew::new(left.len(), |(mut func, launched): (Function, bool)| {
        pass::prepare_alone(&mut func, launched);
        func
    });
    for (id, launched) in &left {
        let func = &mut module.functions[id.index()];
        let empty = Function::new("", func.kind, func.span);
        let size = func.values.len();
        crew.add(size, (std::mem::replace(func, empty), *launched));
    }
    for ((id, _), func) in left.iter().zip(crew.finish()) {
        module.functions[id.index()] = func.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

impl Code {
    /// Compiles every kernel and host function of a valid module, and what they call. `__constant__` and `__device__` variables that
    /// `same`, compiled from the same text, has are shared with it. What was made `ahead` is [`absent`] in the module and a part of the code.
    /// `None` where that could not be made after all, or what is [`known`] turns out to be needed with its bodies.
    ///
    /// # Errors
    /// Constructs the CPU does not run yet, a limit on code size or stack, as diagnostics.
    pub fn compile(
        module: &Module,
        same: Option<&Code>,
        tier: Tier,
        ahead: Option<&Claim>,
    ) -> std::result::Result<Option<Code>, Vec<Diagnostic>> {
        let others = match (ahead.and_then(|claim| claim.globals.clone()), same) {
            (Some(first), _) => Others::First(first),
            (None, Some(code)) => Others::Program(code.0.globals.clone()),
            (None, None) => Others::None,
        };
        let globals = Arc::new(Globals::new(module, others));
        let image = build(module, globals, tier).map_err(|diag| vec![*diag])?;
        let Some(mut image) = image else { return Ok(None) };
        if let Some(claim) = ahead {
            let Some(images) = claim.images() else { return Ok(None) };
            if images.iter().fold(image.stmts, |sum, image| sum + image.stmts) > plan::MAX_STMTS {
                return Ok(None);
            }
            for made in &images {
                let _ = made.all_globals.set(image.globals.clone());
                tiers::improve(made);
            }
            image.ahead = images;
        }
        let image = Arc::new(image);
        tiers::improve(&image);
        Ok(Some(Code(image)))
    }

    /// The part of the program that a function is in.
    fn part(&self, func: FuncId) -> &Arc<Image> {
        let is_there = |image: &&Arc<Image>| image.entries.get(func.index()).is_some_and(Option::is_some);
        self.0.ahead.iter().find(is_there).unwrap_or(&self.0)
    }

    /// Whether launches run the best code they ever will.
    pub fn is_settled(&self) -> bool {
        self.0.tiers.are_settled() && self.0.ahead.iter().all(|image| image.tiers.are_settled())
    }

    /// Runs a kernel over its grid, or a host function as one thread.
    pub fn launch(&self, func: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Outcome {
        self.call(func, args, config).1
    }

    /// As [`Code::launch`], with the result of a host function: its bits, integers extended to 64 by their signedness.
    /// A function without a result, or one that faulted, gives none.
    pub fn call(&self, func: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> (Option<u64>, Outcome) {
        let deadline = config.timeout.and_then(|limit| Instant::now().checked_add(limit));
        let image = self.part(func);
        tiers::attend(image);
        let Some(entry) = image.entries.get(func.index()).and_then(Option::as_ref) else {
            return (None, misuse(Span::NONE, format!("{func} cannot be launched")));
        };
        if args.len() != entry.params.len() {
            let detail = format!("`{}` takes {} arguments, not {}", entry.name, entry.params.len(), args.len());
            return (None, misuse(entry.span, detail));
        }
        if let Some((param, _)) =
            entry.params.iter().zip(args).find(|(p, a)| p.is_ptr == matches!(a, RawArg::Scalar(_)))
        {
            let wanted = if param.is_ptr { "an array" } else { "a number" };
            return (None, misuse(entry.span, format!("`{}` of `{}` is {wanted}", param.name, entry.name)));
        }
        let lent = config.reach.iter().map(|r| RawArg::Buffer { ptr: r.ptr, bytes: r.bytes, writable: r.writable });
        let all = args.iter().copied().chain(lent).enumerate();
        let mut descs: SmallVec<[BufferDesc; 8]> = all.map(|(i, arg)| memory::describe_arg(i, &arg)).collect();
        let (mut bits, mut derived) =
            (Vec::with_capacity(entry.derived.len()), Vec::with_capacity(entry.derived.len()));
        for info in &entry.derived {
            let (word, desc) = match info.derived {
                Derived::Member(member) => {
                    let side = entry.side(config.host);
                    let outside = memory::Outside { descs: &descs, globals: image.data(), host: config.host, side };
                    // SAFETY: the lender of the arguments' memory keeps it until the launch returns, and only a launch changes it.
                    unsafe { memory::read_member(member, info.ty, args, &outside) }
                }
                Derived::Anchor(anchor) => {
                    let param = anchor.param as usize;
                    let pointer = match param.checked_sub(args.len()) {
                        None => &mut descs[param],
                        Some(member) => &mut derived[member],
                    };
                    (memory::anchor(pointer, anchor.unit, config.host), context::NULL_DESC)
                }
            };
            bits.push(word);
            derived.push(desc);
        }
        let passed = args.iter().zip(&descs).map(|(arg, desc)| match arg {
            RawArg::Scalar(bits) => *bits,
            RawArg::Buffer { .. } | RawArg::Away { .. } | RawArg::Null => std::ptr::from_ref(desc) as u64,
        });
        let read = entry.derived.iter().zip(bits).zip(&derived).map(|((info, bits), desc)| match info.ty {
            ParamType::Scalar(_) => bits,
            ParamType::Ptr { .. } | ParamType::Bytes { .. } => std::ptr::from_ref(desc) as u64,
        });
        let words: SmallVec<[u64; 12]> = passed.chain(read).collect();
        let wide = match wide::wanted::code(image, func, &words, config, deadline) {
            Ok(wide) => wide,
            Err((kind, detail)) => return (None, unlaunched(kind, entry.span, detail)),
        };
        // The clock costs more than a small launch.
        let work = config.grid.count().saturating_mul(config.block.count()).saturating_mul(entry.estimate);
        let may_improve = wide.as_ref().is_none_or(|(_, better)| *better);
        let is_timed = image.wide.is_some() && may_improve && work > MIN_TIMED_WORK;
        let wide = wide.map(|(code, _)| code);
        let start = is_timed.then(Instant::now);
        let bound = Bound { descs: &descs, derived: &derived, args: &words, deadline };
        let (bits, outcome) = schedule::run(image, entry, wide, bound, config);
        if let Some(start) = start {
            tiers::note_launch(image, (func, config.block), &words, start.elapsed());
        }
        ((entry.returns && outcome.fault.is_none()).then_some(bits), outcome)
    }

    /// The bytes of module data as they are now.
    pub fn read_global(&self, global: Global) -> Option<Vec<u8>> {
        self.0.globals.read(global.index())
    }

    /// Replaces the bytes of module data; `false` when there are not as many.
    pub fn write_global(&self, global: Global, bytes: &[u8]) -> bool {
        self.0.globals.write(global.index(), bytes)
    }

    /// Bytes of static shared memory a block of a kernel takes.
    pub fn static_shared(&self, func: FuncId) -> u32 {
        self.0.entry(func).map_or(0, |e| e.shared.fixed)
    }

    /// Which code the last launch of a kernel ran: `soon`, `good`, `lanes`, `wide`, or `fibers`; none before the first.
    pub fn last_tier(&self, func: FuncId) -> Option<&'static str> {
        let entry = self.0.entry(func)?;
        match entry.last.load(Ordering::Relaxed) {
            1 => Some("soon"),
            2 => Some("good"),
            3 => Some("lanes"),
            4 => Some("wide"),
            5 => Some("fibers"),
            _ => None,
        }
    }

    /// The C that a kernel becomes for blocks of a shape, or why it does not, or why that did not compile.
    pub fn wide_text(&self, func: FuncId, block: super::Dim3) -> std::result::Result<String, String> {
        if block.count() == 0 || block.count() > 1024 || block.z > 64 {
            return Err("no block is like that".to_owned());
        }
        let image = self.part(func);
        match &image.wide {
            Some(wide) => match wide.reason(func, block) {
                Some(why) => Err(why),
                None => wide.text(&image.globals, func, block),
            },
            None => Err(match wide::available() {
                Ok(()) => "it was compiled without a wide tier".to_owned(),
                Err(why) => format!("this machine has no wide tier: {why}"),
            }),
        }
    }

    /// The machine code of a function of the module this was compiled from, as text; of all functions without `func`.
    /// Made anew at each call; it is the good code, whatever launches run now.
    pub fn asm(&self, module: &Module, func: Option<FuncId>) -> String {
        disassemble(module, func).unwrap_or_else(|diag| format!("; {}\n", diag.message))
    }
}

/// A launch that does not fit the code; `runtime` checks arguments before it comes here.
fn misuse(span: Span, detail: String) -> Outcome {
    unlaunched(FaultKind::Device, span, detail)
}

/// A launch that has not begun.
fn unlaunched(kind: FaultKind, span: Span, detail: String) -> Outcome {
    let (block, thread) = ([0; 3], [0; 3]);
    let fault = RawFault { kind, span, block, thread, detail, related: None, kernel: None, called: None };
    Outcome { fault: Some(fault), ..Outcome::default() }
}

fn too_large(func: &Function) -> Box<Diagnostic> {
    let message = format!("`{}` is too large to compile", func.name);
    let help = "unroll less, or split the kernel in two";
    Box::new(Diagnostic::error(diagnostic::Code::CodeLimit, func.span, message).help(help))
}

fn internal(span: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(diagnostic::Code::BadIr, span, message))
}

/// Why there is no machine code.
enum Failure {
    /// What is wrong with the text.
    Text(Box<Diagnostic>),
    /// The code generator's answer, at a function or at all of them, whose first this is.
    Code(FuncId, JitError),
}

impl From<Box<Diagnostic>> for Failure {
    fn from(diag: Box<Diagnostic>) -> Self {
        Failure::Text(diag)
    }
}

impl Failure {
    fn explain(self, module: &Module) -> Box<Diagnostic> {
        match self {
            Failure::Text(diag) => diag,
            Failure::Code(id, JitError::TooLarge) => too_large(module.func(id)),
            Failure::Code(id, JitError::Other(what)) => {
                let func = module.func(id);
                internal(func.span, format!("no code for `{}`: {what}", func.name))
            }
        }
    }
}

/// What becomes of a part besides its machine code.
enum Purpose<'a> {
    /// The code is good code.
    Good,
    /// The code is there soon; good code may be made from what is kept here.
    Soon(Option<&'a mut Vec<(clif::Function, Effort)>>),
    /// The code is good and comes with its text.
    Text,
}

/// Lowers and compiles everything in the plan: the machine code of each part, in the order that gives it its number, after that
/// of new glue. Code that is there soon lacks what only saves time: the rows of a kernel whose accesses need no checks, and the rounds of
/// grid-stride loops, the last parts.
fn compile_all(
    plan: &Plan,
    lowering: &mut Lowering<'_>,
    mut purpose: Purpose<'_>,
) -> std::result::Result<Vec<(FuncId, MachineCode)>, Failure> {
    let bodies = plan.order.iter().map(|id| (*id, Part::Body));
    let thunks = plan.hosts.iter().map(|id| (*id, Part::Thunk));
    let rounds = plan.strided.iter().flat_map(|id| [(*id, Part::Trip), (*id, Part::Round)]);
    let glue = plan.glue.new.iter().map(|(id, index)| ((*id, Part::Body), *index));
    let parts = bodies.chain(thunks).chain(rounds).zip(0..);
    let parts: Vec<((FuncId, Part), u32)> = glue.chain(parts).collect();
    let mut builder = FunctionBuilderContext::new();
    let mut crew = Crew::new(parts.len(), crew::compile);
    let mut added = Vec::with_capacity(parts.len());
    for ((id, part), number) in &parts {
        let is_round = matches!(part, Part::Trip | Part::Round);
        if is_round && matches!(purpose, Purpose::Soon(None)) {
            continue;
        }
        let mut func = clif::Function::new();
        let shortcuts = lower::function(lowering, *id, *part, *number, &mut func, &mut builder)?;
        let Some(effort) = size::effort(&func) else { return Err(too_large(lowering.module.func(*id)).into()) };
        let (now, disasm) = match &mut purpose {
            Purpose::Good => (effort, false),
            Purpose::Text => (effort, true),
            Purpose::Soon(kept) => {
                // Good code is made where nobody hears the verifier.
                if cfg!(debug_assertions) && effort == Effort::Full {
                    let wrong = |e| internal(Span::NONE, format!("the code generator's input breaks its rules: {e}"));
                    cranelift_codegen::verify_function(&func, lowering.isa).map_err(wrong)?;
                }
                if let Some(kept) = kept {
                    if is_round {
                        kept.push((func, effort));
                        continue;
                    }
                    kept.push((func.clone(), effort));
                }
                shortcuts.iter().for_each(|shortcut| shortcut.leave_out(&mut func));
                (Effort::Quick, false)
            }
        };
        let isa = isa::host(now).map_err(|e| internal(Span::NONE, e.to_owned()))?;
        added.push(*id);
        crew.add(func.dfg.num_insts(), Job { func, isa, disasm });
    }
    let made = added.iter().zip(crew.finish()).map(|(id, code)| {
        let code = code.unwrap_or_else(|panic| {
            // Good code may do without; whoever works on this wants to hear of it.
            if cfg!(debug_assertions) {
                std::panic::resume_unwind(panic);
            }
            Err(JitError::Other("the code generator panicked".to_owned()))
        });
        code.map(|code| (*id, code)).map_err(|error| Failure::Code(*id, error))
    });
    made.collect()
}

/// The code of a plan, and what better code is made from where `kept` says that it may be wanted.
fn machine(
    plan: &Plan,
    lowering: &mut Lowering<'_>,
    tier: Tier,
    calls: bool,
) -> std::result::Result<(Machine, Option<tiers::Job>), Failure> {
    let is_good = tier.begins_good();
    let mut kept = Vec::new();
    let purpose = match tier {
        Tier::Soon => Purpose::Soon(None),
        Tier::Both => Purpose::Soon(Some(&mut kept)),
        Tier::Good | Tier::Lanes | Tier::Wide | Tier::Fibers => Purpose::Good,
    };
    let mut codes = compile_all(plan, lowering, purpose)?;
    let program = codes.split_off(plan.glue.new.len());
    let parts = kept.split_off(kept.len().min(codes.len()));
    keep_glue(plan, &codes, kept).map_err(|e| Failure::Code(plan.order[0], e))?;
    glue::publish(&plan.glue, lowering.module);
    let links = Arc::new(Links { glue: plan.glue.list.clone(), own: Vec::new() });
    let mut assembler = Assembler::new(links.clone());
    let (glue, mut frames) = (assembler.all_frames(), HashMap::new());
    for (id, code) in program {
        assembler.add(&code);
        *frames.entry(id).or_insert(0) += code.frame as usize;
    }
    // Whether a chain of calls overflows the stack must not depend on which code is there either: the frames of each chain fit together.
    let fits = || plan.deepest(&frames).map_or(assembler.all_frames(), |own| glue + own) <= stack::CALLS;
    if !is_good && calls && !fits() {
        return Err(Failure::Code(plan.order[0], JitError::TooLarge));
    }
    let machine = Machine::new(assembler, calls).map_err(|e| Failure::Code(plan.order[0], e))?;
    let mut needs: Vec<&'static Tiers> = plan.glue.list.iter().filter_map(|glue| glue.tiers()).collect();
    needs.retain(|tiers| !tiers.are_settled());
    needs.sort_unstable_by_key(|tiers| std::ptr::from_ref(*tiers) as usize);
    needs.dedup_by_key(|tiers| std::ptr::from_ref(*tiers) as usize);
    Ok((machine, (!parts.is_empty()).then_some(tiers::Job { parts, calls, links, needs })))
}

/// Makes the code of a plan's new glue known to all that come after; `parts` is what better code is made from.
fn keep_glue(
    plan: &Plan,
    codes: &[(FuncId, MachineCode)],
    parts: Vec<(clif::Function, Effort)>,
) -> std::result::Result<(), JitError> {
    if codes.is_empty() {
        return Ok(());
    }
    let own = plan.glue.new.iter().map(|(_, index)| *index).collect();
    let links = Arc::new(Links { glue: plan.glue.list.clone(), own });
    let mut assembler = Assembler::new(links.clone());
    codes.iter().for_each(|(_, code)| assembler.add(code));
    let first = Machine::new(assembler, true)?;
    let job = tiers::Job { parts, calls: true, links, needs: Vec::new() };
    let tiers: &'static Tiers = Box::leak(Box::new(Tiers::new(first, Some(job))));
    let frames: Vec<u32> = codes.iter().map(|(_, code)| code.frame).collect();
    glue::keep(&plan.glue, tiers, &frames);
    tiers::improve_glue(tiers);
    Ok(())
}

/// Makes the code of a module; `None` where it takes bodies that are left out.
fn build(module: &Module, globals: Arc<Globals>, tier: Tier) -> Result<Option<Image>> {
    if tier == Tier::Both {
        let glue = glue::Uses::of(module);
        let uses_glue = !glue.list.is_empty();
        let plan = plan(module, glue, tier)?;
        // How deep a recursion may go depends on the frames, and must not depend on which code is there.
        match if plan.recurses() { None } else { Some(build_plan(module, globals.clone(), tier, plan)) } {
            Some(Err(_)) if uses_glue => {}
            Some(built) => return built.map(Some),
            None if is_partial(module) => return Ok(None),
            None => {
                let plan = plan::plan(module, glue::Uses::default(), Tier::Good)?;
                return build_plan(module, globals, Tier::Good, plan).map(Some);
            }
        }
    }
    if is_partial(module) {
        return Ok(None);
    }
    let plan = plan(module, glue::Uses::default(), tier)?;
    let tier = if plan.recurses() && tier == Tier::Soon { Tier::Good } else { tier };
    build_plan(module, globals, tier, plan).map(Some)
}

/// Whether bodies are left out.
fn is_partial(module: &Module) -> bool {
    module.functions.iter().any(|func| func.kept.is_some())
}

fn build_plan(module: &Module, globals: Arc<Globals>, tier: Tier, plan: Plan) -> Result<Image> {
    let isa = isa::host(Effort::Full).map_err(|e| internal(Span::NONE, e.to_owned()))?;
    let mut lowering = Lowering {
        module,
        isa: isa.as_ref(),
        infos: &plan.infos,
        numbers: &plan.numbers,
        globals: &globals,
        linked: &plan.linked,
        glue: &plan.glue,
        sites: Vec::new(),
        slots: Vec::new(),
        tables: Vec::new(),
    };
    let has_hosts = module.functions.iter().any(|f| f.kind == FuncKind::Host);
    let calls = has_hosts || plan.infos.iter().flatten().any(|i| !i.calls.is_empty());
    let made = match machine(&plan, &mut lowering, tier, calls) {
        // Registers handed out in one pass make large frames: good code may still fit.
        Err(Failure::Code(..)) if !tier.begins_good() && plan.glue.list.is_empty() => {
            (lowering.sites, lowering.slots, lowering.tables) = (Vec::new(), Vec::new(), Vec::new());
            machine(&plan, &mut lowering, Tier::Good, calls)
        }
        made => made,
    };
    let (first, job) = made.map_err(|failure| failure.explain(module))?;
    let (sites, slots, tables) = (lowering.sites, lowering.slots, lowering.tables);
    let tiers = Tiers::new(first, job);
    let mut entries: Vec<Option<Entry>> = module.functions.iter().map(|_| None).collect();
    let places = |all: &[FuncId]| all.iter().enumerate().map(|(i, id)| (*id, i)).collect::<HashMap<_, _>>();
    let (hosts, strided) = (places(&plan.hosts), places(&plan.strided));
    for (number, id) in plan.order.iter().enumerate() {
        let func = module.func(*id);
        let way = match func.kind {
            FuncKind::Kernel => Some(Way::Part(number)),
            FuncKind::Host if is_direct(func) => Some(Way::Direct(number)),
            FuncKind::Host => hosts.get(id).map(|i| Way::Part(plan.order.len() + i)),
            FuncKind::Device | FuncKind::HostHelper => None,
        };
        let shared = memory::place_shared(module, *id);
        if shared.fixed > MAX_STATIC_SHARED {
            let message = format!(
                "`{}` takes {} bytes of static shared memory, and a block has {MAX_STATIC_SHARED}",
                func.name, shared.fixed
            );
            let help = "use `extern __shared__`, whose size the launch gives";
            return Err(Box::new(Diagnostic::error(diagnostic::Code::StackLimit, func.span, message).help(help)));
        }
        if let (Some(way), Some(info)) = (way, &plan.infos[id.index()]) {
            let first = plan.order.len() + plan.hosts.len();
            let rounds = strided.get(id).map(|i| first + 2 * i);
            entries[id.index()] = Some(Entry::new(func, Some(info), way, rounds, shared));
        }
    }
    for (i, func) in module.functions.iter().enumerate().filter(|(_, f)| f.kind == FuncKind::Host) {
        if let Some(glue) = plan.glue.get(FuncId::new(i)) {
            entries[i] = Some(Entry::new(func, None, Way::Glue(glue), None, SharedPlan::default()));
        }
    }
    let mut functions: Vec<Option<(u64, Callee)>> = Vec::new();
    for (id, signature) in &plan.functions {
        let own = plan.numbers[id.index()].map(Callee::Part);
        functions.resize_with(id.index() + 1, || None);
        functions[id.index()] = own.or_else(|| plan.glue.get(*id).map(Callee::Glue)).map(|callee| (*signature, callee));
    }
    let mut formats = Vec::with_capacity(module.formats.len());
    for data in &module.formats {
        formats.push(format::parse(&data.text).map_err(|e| internal(data.span, e.message))?);
    }
    let name_shared = |m: &crate::ir::SharedData| Named { name: m.name.clone(), size: u64::from(m.size), elem: m.elem };
    let shared = module.shared.iter().map(name_shared).collect();
    let (wide, is_good) = (Wide::of(module, tier), tier.begins_good());
    Ok(Image {
        tiers,
        entries,
        sites,
        slots,
        _tables: tables,
        globals,
        all_globals: OnceLock::new(),
        ahead: Vec::new(),
        functions,
        shared,
        formats,
        is_good,
        wide,
        stmts: plan.stmts,
    })
}

impl Entry {
    /// Of a function, with what analysis found of one that is the program's own.
    fn new(func: &Function, info: Option<&FuncInfo>, way: Way, rounds: Option<usize>, shared: SharedPlan) -> Self {
        let passed = func.params.iter().filter(|p| p.derived.is_none());
        let known = |p: &Param| Some(DerivedInfo { name: p.name.clone(), derived: p.derived?, ty: p.ty });
        let derived = func.params.iter().filter_map(known);
        let params = passed.map(|p| {
            let (is_ptr, elem) = match p.ty {
                ParamType::Ptr { elem, .. } => (true, elem),
                ParamType::Bytes { .. } => (true, None),
                ParamType::Scalar(s) => (false, Some(s.into())),
            };
            let by_value = matches!(p.ty, ParamType::Bytes { .. });
            ParamInfo { name: p.name.clone(), is_ptr, by_value, elem }
        });
        Entry {
            way,
            name: func.name.clone(),
            span: func.span,
            params: params.collect(),
            derived: derived.collect(),
            returns: func.ret.is_some(),
            is_host: func.kind.is_host(),
            straight: info.map_or(1, |i| i.straight),
            estimate: info.map_or(1, |i| i.estimate),
            rounds,
            shared,
            keeps: info.and_then(|i| i.split.as_ref()).map(|s| (s.scratch as usize, s.slot_bytes as usize)),
            fibers: info.is_some_and(|i| i.fibers.is_some()),
            has_loops: func.labels > 0 || info.is_none_or(|i| !i.calls.is_empty()),
            last: AtomicU8::new(0),
        }
    }
}

impl Entry {
    /// On which side it runs.
    fn side(&self, host: Option<&dyn Host>) -> Side {
        match self.is_host {
            true => Side::Host,
            false if host.is_some_and(Host::is_unified) => Side::Both,
            false => Side::Device,
        }
    }
}

fn disassemble(module: &Module, wanted: Option<FuncId>) -> Result<String> {
    let isa = isa::host(Effort::Full).map_err(|e| internal(Span::NONE, e.to_owned()))?;
    let plan = plan(module, glue::Uses::default(), Tier::Good)?;
    let globals = Globals::new(module, Others::None);
    let mut lowering = Lowering {
        module,
        isa: isa.as_ref(),
        infos: &plan.infos,
        numbers: &plan.numbers,
        globals: &globals,
        linked: &plan.linked,
        glue: &plan.glue,
        sites: Vec::new(),
        slots: Vec::new(),
        tables: Vec::new(),
    };
    let mut text = String::new();
    for (id, code) in compile_all(&plan, &mut lowering, Purpose::Text).map_err(|failure| failure.explain(module))? {
        if wanted.is_none_or(|w| w == id) {
            text.push_str(&format!("; {}\n{}\n", module.func(id).name, code.text.unwrap_or_default()));
        }
    }
    Ok(text)
}

//! Building of a module: lowers the functions of the plan, has machine code made of them, and puts the image together.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::ir as clif;
use cranelift_frontend::FunctionBuilderContext;

use super::compiled::CompiledModule;
use super::failure::{Failure, Result, internal, too_large};
use super::parallel::{self, Job, Parallel};
use super::plan::{self, Plan};
use super::{addresses, background};
use crate::back::cpu::abi::context::is_direct;
use crate::back::cpu::abi::site::Named;
use crate::back::cpu::code::jit::{Assembler, JitError, MachineCode};
use crate::back::cpu::code::kept_code::{self, KeptUses};
use crate::back::cpu::code::machine::{self, Machine, Tiers};
use crate::back::cpu::code::size;
use crate::back::cpu::data::{Globals, Others};
use crate::back::cpu::image::{self, Callee, EntryPoint, Image, MAX_STATIC_SHARED, SharedPlan, Way};
use crate::back::cpu::isa::{self, Effort};
use crate::back::cpu::lower::{self, Lowering, Part};
use crate::back::cpu::stack;
use crate::back::cpu::tier::Tier;
use crate::back::cpu::wide::Wide;
use crate::diagnostic::{self, Diagnostic};
use crate::ir::{FuncId, FuncKind, Function, Module, printf_format};
use crate::pass::{self, check_and_dump::Watch};
use crate::source::Span;

/// Prepares a module for [`Code::compile`]: as [`pass::prepare_for_cpu`], several functions at a time.
pub fn prepare(module: &mut Module) {
    prepare_part(module, None);
}

/// The same for what is left of a `whole` where some of its functions are [`absent`](crate::back::cpu::absent).
pub fn prepare_part(module: &mut Module, whole: Option<&Module>) {
    let watch = Watch::new(whole.unwrap_or(module));
    let left = pass::prepare_together(module, &watch);
    let mut jobs = Parallel::new(left.len(), |(mut func, launched, watch): (Function, bool, Watch)| {
        pass::prepare_alone(&mut func, launched, &watch);
        func
    });
    for (id, launched) in &left {
        let func = &mut module.functions[id.index()];
        let empty = Function::new("", func.kind, func.span);
        let size = func.values.len();
        jobs.add(size, (std::mem::replace(func, empty), *launched, watch.clone()));
    }
    for ((id, _), func) in left.iter().zip(jobs.finish()) {
        module.functions[id.index()] = func.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

/// The use of a part besides its machine code.
enum Purpose<'a> {
    /// The code is good code.
    Good,
    /// The code is there soon; the CLIF for good code is kept here.
    Soon(Option<&'a mut Vec<(clif::Function, Effort)>>),
    /// The code is good and comes with its text.
    Text,
}

/// Lowers and compiles everything in the plan: the machine code of each part, in the order that gives it its number, after that of new kept
/// code. Soon code lacks the parts that only save time: the rows of a kernel whose accesses need no checks, and the rounds of grid-stride
/// loops, the last parts.
fn compile_all(
    plan: &Plan,
    lowering: &mut Lowering<'_>,
    mut purpose: Purpose<'_>,
) -> std::result::Result<Vec<(FuncId, MachineCode)>, Failure> {
    let bodies = plan.order.iter().map(|id| (*id, Part::Body));
    let thunks = plan.hosts.iter().map(|id| (*id, Part::Thunk));
    let rounds = plan.strided.iter().flat_map(|id| [(*id, Part::Trip), (*id, Part::Round)]);
    let kept = plan.kept.new.iter().map(|(id, index)| ((*id, Part::Body), *index));
    let parts = bodies.chain(thunks).chain(rounds).zip(0..);
    let parts: Vec<((FuncId, Part), u32)> = kept.chain(parts).collect();
    let mut builder = FunctionBuilderContext::new();
    let mut jobs = Parallel::new(parts.len(), parallel::compile);
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
                // The verifier runs here, because good code is made where no one sees its errors.
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
        jobs.add(func.dfg.num_insts(), Job { func, isa, disasm });
    }
    let made = added.iter().zip(jobs.finish()).map(|(id, code)| {
        let code = code.unwrap_or_else(|panic| {
            // A release goes on without good code; a developer wants to see the panic.
            if cfg!(debug_assertions) {
                std::panic::resume_unwind(panic);
            }
            Err(JitError::Other("the code generator panicked".to_owned()))
        });
        code.map(|code| (*id, code)).map_err(|error| Failure::Code(*id, error))
    });
    made.collect()
}

/// The code of a plan, and the job for better code where `kept` says that it may be wanted.
fn machine(
    plan: &Plan,
    lowering: &mut Lowering<'_>,
    tier: Tier,
    calls: bool,
) -> std::result::Result<(Machine, Option<machine::Job>), Failure> {
    let is_good = tier.begins_good();
    let mut kept = Vec::new();
    let purpose = match tier {
        Tier::Soon => Purpose::Soon(None),
        Tier::Auto => Purpose::Soon(Some(&mut kept)),
        Tier::Good | Tier::Lanes | Tier::Wide | Tier::Fibers => Purpose::Good,
    };
    let mut codes = compile_all(plan, lowering, purpose)?;
    let program = codes.split_off(plan.kept.new.len());
    let parts = kept.split_off(kept.len().min(codes.len()));
    keep_code(plan, &codes, kept).map_err(|e| Failure::Code(plan.order[0], e))?;
    kept_code::publish(&plan.kept, lowering.module);
    let links = Arc::new(plan.kept.links(Vec::new()));
    let mut assembler = Assembler::new(links.clone());
    let (kept, mut frames) = (assembler.all_frames(), HashMap::new());
    for (id, code) in program {
        assembler.add(&code);
        *frames.entry(id).or_insert(0) += code.frame as usize;
    }
    // A stack overflow in a chain of calls must not depend on which code is there either: the frames of each chain must fit together.
    let fits = || plan.deepest(&frames).map_or(assembler.all_frames(), |own| kept + own) <= stack::CALLS;
    if !is_good && calls && !fits() {
        return Err(Failure::Code(plan.order[0], JitError::TooLarge));
    }
    let machine = Machine::new(assembler, calls).map_err(|e| Failure::Code(plan.order[0], e))?;
    let mut needs: Vec<&'static Tiers> = plan.kept.list.iter().filter_map(|kept| kept.tiers()).collect();
    needs.retain(|tiers| !tiers.are_settled());
    needs.sort_unstable_by_key(|tiers| std::ptr::from_ref(*tiers) as usize);
    needs.dedup_by_key(|tiers| std::ptr::from_ref(*tiers) as usize);
    Ok((machine, (!parts.is_empty()).then_some(machine::Job { parts, calls, links, needs })))
}

/// Makes the code of a plan's new kept code known to all later programs; `parts` is the input for better code.
fn keep_code(
    plan: &Plan,
    codes: &[(FuncId, MachineCode)],
    parts: Vec<(clif::Function, Effort)>,
) -> std::result::Result<(), JitError> {
    if codes.is_empty() {
        return Ok(());
    }
    let own = plan.kept.new.iter().map(|(_, index)| *index).collect();
    let links = Arc::new(plan.kept.links(own));
    let mut assembler = Assembler::new(links.clone());
    codes.iter().for_each(|(_, code)| assembler.add(code));
    let first = Machine::new(assembler, true)?;
    let job = machine::Job { parts, calls: true, links, needs: Vec::new() };
    let tiers: &'static Tiers = Box::leak(Box::new(Tiers::new(first, Some(job))));
    let frames: Vec<u32> = codes.iter().map(|(_, code)| code.frame).collect();
    kept_code::keep(&plan.kept, tiers, &frames);
    background::improve_kept(tiers);
    Ok(())
}

/// Makes the code of a module; `None` where it takes bodies that are left out.
pub fn build(module: &Module, globals: Arc<Globals>, tier: Tier) -> Result<Option<CompiledModule>> {
    if tier == Tier::Auto {
        let kept = KeptUses::of(module);
        let uses_kept = !kept.list.is_empty();
        let plan = plan::plan(module, kept, tier)?;
        // The greatest depth of a recursion depends on the frames, and must not depend on which code is there.
        match if plan.recurses() { None } else { Some(build_plan(module, globals.clone(), tier, plan)) } {
            Some(Err(_)) if uses_kept => {}
            Some(built) => return built.map(Some),
            None if is_partial(module) => return Ok(None),
            None => {
                let plan = plan::plan(module, KeptUses::default(), Tier::Good)?;
                return build_plan(module, globals, Tier::Good, plan).map(Some);
            }
        }
    }
    if is_partial(module) {
        return Ok(None);
    }
    let plan = plan::plan(module, KeptUses::default(), tier)?;
    let tier = if plan.recurses() && tier == Tier::Soon { Tier::Good } else { tier };
    build_plan(module, globals, tier, plan).map(Some)
}

/// True if bodies are left out.
fn is_partial(module: &Module) -> bool {
    module.functions.iter().any(|func| func.kept.is_some())
}

fn build_plan(module: &Module, globals: Arc<Globals>, tier: Tier, plan: Plan) -> Result<CompiledModule> {
    let isa = isa::host(Effort::Full).map_err(|e| internal(Span::NONE, e.to_owned()))?;
    let mut lowering = Lowering {
        module,
        isa: isa.as_ref(),
        infos: &plan.infos,
        numbers: &plan.numbers,
        globals: &globals,
        linked: &plan.linked,
        kept: &plan.kept,
        sites: Vec::new(),
        slots: Vec::new(),
        tables: Vec::new(),
    };
    let has_hosts = module.functions.iter().any(|f| f.kind == FuncKind::Host);
    let calls = has_hosts || plan.infos.iter().flatten().any(|i| !i.calls.is_empty());
    let made = match machine(&plan, &mut lowering, tier, calls) {
        // Register allocation in one pass makes large frames: good code may still fit.
        Err(Failure::Code(..)) if !tier.begins_good() && plan.kept.list.is_empty() => {
            (lowering.sites, lowering.slots, lowering.tables) = (Vec::new(), Vec::new(), Vec::new());
            machine(&plan, &mut lowering, Tier::Good, calls)
        }
        made => made,
    };
    let (first, job) = made.map_err(|failure| failure.explain(module))?;
    let (sites, slots, tables) = (lowering.sites, lowering.slots, lowering.tables);
    let tiers = Tiers::new(first, job);
    let mut entries: Vec<Option<EntryPoint>> = module.functions.iter().map(|_| None).collect();
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
        let shared = image::place_shared(module, *id);
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
            entries[id.index()] = Some(EntryPoint::new(func, Some(info), way, rounds, shared));
        }
    }
    for (i, func) in module.functions.iter().enumerate().filter(|(_, f)| f.kind == FuncKind::Host) {
        if let Some(kept) = plan.kept.get(FuncId::new(i)) {
            entries[i] = Some(EntryPoint::new(func, None, Way::Kept(kept), None, SharedPlan::default()));
        }
    }
    let mut functions: Vec<Option<(u64, Callee)>> = Vec::new();
    for (id, signature) in &plan.functions {
        let own = plan.numbers[id.index()].map(Callee::Part);
        functions.resize_with(id.index() + 1, || None);
        functions[id.index()] = own.or_else(|| plan.kept.get(*id).map(Callee::Kept)).map(|callee| (*signature, callee));
    }
    let mut formats = Vec::with_capacity(module.formats.len());
    for data in &module.formats {
        formats.push(printf_format::parse(&data.text).map_err(|e| internal(data.span, e.message))?);
    }
    let name_shared = |m: &crate::ir::SharedData| Named { name: m.name.clone(), size: u64::from(m.size), elem: m.elem };
    let shared = module.shared.iter().map(name_shared).collect();
    let image = Image {
        entries,
        sites,
        slots,
        _tables: tables,
        globals,
        all_globals: OnceLock::new(),
        ahead: OnceLock::new(),
        functions,
        shared,
        formats,
    };
    let addresses = addresses::addresses().map_err(|e| internal(Span::NONE, e))?;
    let (image, wide, is_good) = (Arc::new(image), Wide::of(module, tier, addresses), tier.begins_good());
    Ok(CompiledModule { image, tiers, is_good, wide, ahead: Vec::new(), stmts: plan.stmts })
}

pub fn disassemble(module: &Module, wanted: Option<FuncId>) -> Result<String> {
    let isa = isa::host(Effort::Full).map_err(|e| internal(Span::NONE, e.to_owned()))?;
    let plan = plan::plan(module, KeptUses::default(), Tier::Good)?;
    let globals = Globals::new(module, Others::None);
    let mut lowering = Lowering {
        module,
        isa: isa.as_ref(),
        infos: &plan.infos,
        numbers: &plan.numbers,
        globals: &globals,
        linked: &plan.linked,
        kept: &plan.kept,
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

//! IR to CLIF, one function at a time.
//!
//! A kernel becomes a function that runs its body for a row of threads (all `x` of one `y` and `z`); one that is a grid-stride loop
//! gets two more, see [`stride`]; one with splits runs a block, see [`block`], or a thread, see [`fiber`]. A device or host function
//! becomes a function that gives (status, result). A fault calls a helper from a cold block and returns status 1; callers pass the
//! status on.
//!
//! # Checks
//! A pointer is a pair (address, buffer). Where the buffer is known at compile time (a parameter, a slot), it is an offset that is
//! checked against a limit in a register. An index that would move a pointer by more than 2^48 bytes moves it by a fixed amount that is
//! in no buffer, and the message names the index; indices made of 32-bit numbers cannot do that and are not checked. The checks of one
//! access share one exit. A division is checked with one branch.
//!
//! # Good rows
//! Affine accesses are checked once a row, in its prologue ([`row`]), with the fully checked loop as the way out. Where one guard such
//! as `if (i < n)` stands around the whole body of a kernel, a row ends at the first thread that the guard stops. In a good row, a
//! kernel that is straight-line code below its guards runs in 128-bit lanes ([`vector`]): four threads at a time, up to sixteen between
//! two looks at the guards. The scalar loop stays for all other rows and for the threads left over, and agrees bit for bit.
//!
//! # Registers
//! Polls go through a function that preserves every register, and the operands of a fault go through the context: neither calls nor block
//! parameters of cold paths burden the register allocator, which is the larger part of making good code. Functions without loops leave
//! their budget in the context.
//!
//! # Soon and good
//! Soon code lacks the parts that only save time: the branch to good rows is a jump past them ([`Shortcut`]), so the code generator never
//! sees them, and the rounds of grid-stride loops are left out. So after a fault, rounds of higher threads may have run or not. Good code
//! is made from the whole.

mod access;
mod arith;
mod atomic;
mod block;
mod collectives;
pub(in crate::back::cpu) mod dot;
mod entry;
mod expr;
mod fiber;
mod four_lanes;
pub(in crate::back::cpu) mod halves;
mod masks;
mod row;
mod stmt;
mod stride;
mod threads;
mod vector;

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, FuncRef, InstBuilder, MemFlagsData, Signature, StackSlotData,
    StackSlotKind, UserExternalName, UserFuncName, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use rustc_hash::FxHashMap;

use crate::back::cpu::abi::context::{
    BufferDesc, DANGLING_DESC, DescField, Field, NULL_DESC, Side, SlotTable, THREAD_KNOWN,
};
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::{self, HostFn};
use crate::back::cpu::abi::site::{Named, Site, SiteKind};
use crate::back::cpu::code::jit::{NAMESPACE_HOST, NAMESPACE_KEPT, NAMESPACE_MODULE};
use crate::back::cpu::code::kept_code::{self, KeptUses};
use crate::back::cpu::data::Globals;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::roots::Root;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FuncId, FuncKind, Function, Global, Label, Module, Scalar, Type, Value};
use crate::source::Span;

/// The result of lowering.
pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Deepest nesting of statements; the front end allows less.
const MAX_NESTING: usize = 512;

/// Most jumps to one pair of exit blocks. Register allocation and dominators look at all jumps to a block again for each
/// of them, which is quadratic in the function where all of its checks share one block.
const MAX_EXIT_USES: usize = 64;

/// The state that all functions of a module share while they are lowered.
pub(super) struct Lowering<'m> {
    pub module: &'m Module,
    pub isa: &'m dyn TargetIsa,
    /// The facts about each function that is reached.
    pub infos: &'m [Option<FuncInfo>],
    /// The number of each function among those compiled.
    pub numbers: &'m [Option<u32>],
    pub globals: &'m Globals,
    /// True for each function whose slots must be found by address.
    pub linked: &'m [bool],
    /// The functions that are kept code.
    pub kept: &'m KeptUses,
    pub sites: Vec<Site>,
    pub slots: Vec<Named>,
    /// The tables that slots are made from.
    #[expect(clippy::vec_box, reason = "generated code holds their addresses")]
    pub tables: Vec<Box<SlotTable>>,
}

/// A pointer value: address and buffer.
#[derive(Debug, Clone, Copy)]
enum Ptr {
    /// A pointer into one allocation known at compile time, at an offset from its start.
    Known { root: Root, off: clif::Value },
    /// An address with the descriptor of its buffer.
    Dynamic { addr: clif::Value, desc: clif::Value },
}

/// A value of the IR.
#[derive(Debug, Clone, Copy)]
enum Val {
    Scalar(clif::Value),
    Ptr(Ptr),
}

/// The home of a local.
#[derive(Debug, Clone, Copy)]
enum LocalVar {
    Scalar(Variable),
    /// The offset from the start of one allocation.
    Known(Root, Variable),
    Dynamic {
        addr: Variable,
        desc: Variable,
    },
}

/// A parameter as the body sees it.
#[derive(Debug, Clone, Copy)]
struct ParamVal {
    val: Val,
    /// The descriptor and the base address of a pointer parameter.
    desc: clif::Value,
    base: clif::Value,
    /// The address that a caller passed; the pointer's offset is its distance from the base.
    given: Option<clif::Value>,
}

/// A slot of the function: its memory, its descriptor's place, its index in the table of slots.
#[derive(Debug, Clone, Copy)]
struct SlotVal {
    /// The offset of its memory from the first descriptor.
    memory: i32,
    desc_at: i32,
    index: u32,
    size: u32,
}

/// The targets of `Break` and `Continue`.
struct Target {
    label: Label,
    exit: clif::Block,
    exit_used: bool,
    step: Option<clif::Block>,
    step_used: bool,
    /// The masks of the threads that broke out of the construct and of those that went on to its step, where regions
    /// count threads.
    masks: Option<(u32, u32)>,
}

/// One function being lowered.
struct FuncLower<'a, 'm> {
    b: FunctionBuilder<'a>,
    m: &'a mut Lowering<'m>,
    func: &'m Function,
    info: &'m FuncInfo,
    id: FuncId,
    /// True if the code belongs to no program.
    is_keepable: bool,
    ctx: clif::Value,
    values: Vec<Option<Val>>,
    locals: Vec<LocalVar>,
    params: Vec<ParamVal>,
    /// Limits of parameters' buffers, loaded once.
    limits: FxHashMap<(u32, bool, u32), clif::Value>,
    slots: Vec<SlotVal>,
    /// The descriptors of all slots.
    descs: Option<clif::StackSlot>,
    /// The link of this activation's slots.
    frame: Option<clif::StackSlot>,
    /// The stack slot for words passed to the run time: of printf, services, launches.
    words: Option<clif::StackSlot>,
    budget: Variable,
    /// True if the budget stays in the context: a function that polls as it starts and never again.
    keeps_none: bool,
    /// True while the context holds the running thread's index anyway.
    published: bool,
    /// `threadIdx.x`, in kernels; all other indices are in the context.
    thread: Option<clif::Value>,
    /// The blocks that faults and stops jump to; the last ones serve the next.
    exits: Vec<Exits>,
    /// The block that `return` of a kernel goes to.
    next_thread: Option<clif::Block>,
    /// True if this is the loop whose planned accesses are known to be in bounds.
    good_row: bool,
    /// The branches to code that may be left out of the function.
    shortcuts: Vec<Shortcut>,
    /// The index of each pointer that was moved by an index of any size.
    far: FxHashMap<Value, clif::Value>,
    labels: Vec<Target>,
    /// The number of enclosing loops that may wait for other threads.
    waiting: u32,
    refs: FxHashMap<(u32, u32), FuncRef>,
    depth: usize,
    /// The walk over regions, in a kernel with splits.
    walk: Option<block::RegionWalk<'m>>,
    /// The enclosing loops in which fibers ask which threads are together, and the number of finished rounds of each.
    rounds: Vec<(Label, Variable)>,
}

/// The ways out of a function after a fault or a stop.
#[derive(Debug, Clone, Copy)]
struct Exits {
    /// Reports the fault in the context, and leaves.
    fault: clif::Block,
    /// Leaves with status 1.
    stop: clif::Block,
    /// Places a fault in the library at the site that the context tells, and leaves.
    here: Option<clif::Block>,
    /// The number of jumps to either.
    uses: usize,
}

/// A branch to code that only saves time. A function without that code takes the other way.
pub(super) struct Shortcut(clif::Inst);

impl Shortcut {
    /// Leaves it out of the function, which then compiles faster.
    pub fn leave_out(&self, func: &mut clif::Function) {
        // The jump keeps the block arguments that the frontend added for its variables.
        if let clif::InstructionData::Brif { blocks: [_, destination], .. } = func.dfg.insts[self.0] {
            func.dfg.insts[self.0] = clif::InstructionData::Jump { opcode: clif::Opcode::Jump, destination };
        }
    }
}

/// The part of a function that is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A kernel for a row of threads, or a function in its (status, result) form.
    Body,
    /// The entry point of a host function: loads the arguments, calls the body, stores the result.
    Thunk,
    /// The trip of a kernel that is a grid-stride loop: its start, bound and stride.
    Trip,
    /// One round of a kernel that is a grid-stride loop.
    Round,
}

/// Lowers a part of a function, numbered `number`, into `out`; gives the branches that may be left out of it.
///
/// # Errors
/// A construct that the back end cannot compile, or IR that breaks the validator's rules.
pub(super) fn function(
    m: &mut Lowering<'_>,
    id: FuncId,
    part: Part,
    number: u32,
    out: &mut clif::Function,
    scratch: &mut FunctionBuilderContext,
) -> Result<Vec<Shortcut>> {
    let func = m.module.func(id);
    let device = part == Part::Body && func.kind != FuncKind::Kernel;
    out.name = UserFuncName::user(NAMESPACE_MODULE, number);
    out.signature = if device { device_signature(m.isa, func) } else { entry::entry_signature(m.isa) };
    let mut lower = FuncLower::new(m, id, out, scratch)?;
    match part {
        Part::Body if device => lower.device()?,
        Part::Body if lower.info.fibers.is_some() => lower.fiber_kernel()?,
        Part::Body => match lower.info.split.as_deref() {
            Some(plan) => lower.block_kernel(plan)?,
            None => lower.kernel(None)?,
        },
        Part::Thunk => lower.host_entry()?,
        Part::Trip => lower.trip()?,
        Part::Round => lower.round()?,
    }
    lower.b.seal_all_blocks();
    let shortcuts = std::mem::take(&mut lower.shortcuts);
    lower.b.finalize(lower.m.isa.frontend_config());
    Ok(shortcuts)
}

/// The CLIF type of a scalar.
fn scalar_type(s: Scalar) -> clif::Type {
    match s {
        Scalar::Bool | Scalar::I8 | Scalar::U8 => types::I8,
        Scalar::I16 | Scalar::U16 => types::I16,
        Scalar::I32 | Scalar::U32 => types::I32,
        Scalar::I64 | Scalar::U64 => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}

/// (ctx, parameters...) to (status, result); a pointer is two parameters, and a result's descriptor is passed in the
/// context.
fn device_signature(isa: &dyn TargetIsa, func: &Function) -> Signature {
    let mut sig = Signature::new(isa.default_call_conv());
    sig.params.push(AbiParam::new(types::I64));
    for param in &func.params {
        match param.ty.ty() {
            Type::Scalar(s) => sig.params.push(AbiParam::new(scalar_type(s))),
            Type::Ptr => sig.params.extend([AbiParam::new(types::I64); 2]),
        }
    }
    sig.returns.push(AbiParam::new(types::I32));
    if let Some(ty) = func.ret {
        sig.returns.push(AbiParam::new(ty.scalar().map_or(types::I64, scalar_type)));
    }
    sig
}

/// Flags of a load from memory that does not change while the function runs, and can be read at any time.
fn constant() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

impl<'a, 'm> FuncLower<'a, 'm> {
    fn new(
        m: &'a mut Lowering<'m>,
        id: FuncId,
        out: &'a mut clif::Function,
        scratch: &'a mut FunctionBuilderContext,
    ) -> Result<Self> {
        let func = m.module.func(id);
        let bad = || bad_ir(func.span, format!("`{}` was never analysed", func.name));
        let info = m.infos.get(id.index()).and_then(Option::as_ref).ok_or_else(bad)?;
        let is_keepable = m.kept.index(id).is_some();
        let mut b = FunctionBuilder::new(out, scratch);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let ctx = b.block_params(entry)[0];
        let budget = b.declare_var(types::I64);
        Ok(FuncLower {
            b,
            m,
            func,
            info,
            id,
            is_keepable,
            ctx,
            values: vec![None; func.values.len()],
            locals: Vec::with_capacity(func.locals.len()),
            params: Vec::with_capacity(func.params.len()),
            limits: FxHashMap::default(),
            slots: Vec::with_capacity(func.slots.len()),
            descs: None,
            frame: None,
            words: None,
            budget,
            keeps_none: false,
            published: false,
            thread: None,
            exits: Vec::new(),
            next_thread: None,
            good_row: false,
            shortcuts: Vec::new(),
            far: FxHashMap::default(),
            labels: Vec::new(),
            waiting: 0,
            refs: FxHashMap::default(),
            depth: 0,
            walk: None,
            rounds: Vec::new(),
        })
    }

    fn bad(&self, span: Span, what: impl std::fmt::Display) -> Box<Diagnostic> {
        bad_ir(if span.is_none() { self.func.span } else { span }, format!("in `{}`: {what}", self.func.name))
    }

    fn val(&self, v: Value) -> Result<Val> {
        match self.values.get(v.index()) {
            Some(Some(val)) => Ok(*val),
            _ => Err(self.bad(Span::NONE, format_args!("{v} is used where it has no value"))),
        }
    }

    fn scalar(&self, v: Value) -> Result<clif::Value> {
        match self.val(v)? {
            Val::Scalar(value) => Ok(value),
            Val::Ptr(_) => Err(self.bad(Span::NONE, format_args!("{v} is a pointer where a number is wanted"))),
        }
    }

    fn ptr(&self, v: Value) -> Result<Ptr> {
        match self.val(v)? {
            Val::Ptr(ptr) => Ok(ptr),
            Val::Scalar(_) => Err(self.bad(Span::NONE, format_args!("{v} is a number where a pointer is wanted"))),
        }
    }

    /// The scalar type of a value.
    fn scalar_of(&self, v: Value) -> Result<Scalar> {
        let ty = self.func.values.get(v.index()).and_then(|d| d.ty.scalar());
        ty.ok_or_else(|| self.bad(Span::NONE, format_args!("{v} is a pointer where a number is wanted")))
    }

    fn define(&mut self, v: Value, val: Val) -> Result<()> {
        match self.values.get_mut(v.index()) {
            Some(place) => {
                *place = Some(val);
                self.note_defined(v, val)
            }
            None => Err(self.bad(Span::NONE, format_args!("{v} is not declared"))),
        }
    }

    fn int(&mut self, ty: clif::Type, n: i64) -> clif::Value {
        // An immediate holds the bits of its type, zero-extended.
        let bits = ty.bits();
        let n = if bits < 64 { n & ((1i64 << bits) - 1) } else { n };
        self.b.ins().iconst(ty, n)
    }

    /// The integer that a CLIF value is, where it is a constant; zero-extended from its type.
    fn known_int(&self, v: clif::Value) -> Option<i64> {
        let inst = self.b.func.dfg.value_def(v).inst()?;
        match self.b.func.dfg.insts[inst] {
            clif::InstructionData::UnaryImm { opcode: clif::Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    fn new_site(&mut self, span: Span, kind: SiteKind) -> i64 {
        let span = if span.is_none() { self.func.span } else { span };
        let site = Site { span, kind, library: self.func.library };
        if self.is_keepable {
            return kept_code::site_word(site) as i64;
        }
        self.m.sites.push(site);
        self.m.sites.len() as i64 - 1
    }

    /// Jumps to the fault block, with the operands of its site, when `bad` is not zero.
    fn fault_if(&mut self, bad: clif::Value, site: i64, operands: &[clif::Value]) {
        let cold = self.b.create_block();
        self.go_cold_if(bad, cold);
        self.fill_cold(cold, site, operands);
    }

    /// Jumps to a block that is filled later, when `bad` is not zero.
    fn go_cold_if(&mut self, bad: clif::Value, cold: clif::Block) {
        let ok = self.b.create_block();
        self.b.ins().brif(bad, cold, &[], ok, &[]);
        self.b.switch_to_block(ok);
        self.b.seal_block(ok);
    }

    /// Fills a block with the way to the fault block.
    fn fill_cold(&mut self, cold: clif::Block, site: i64, operands: &[clif::Value]) {
        let here = self.b.current_block();
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        self.b.seal_block(cold);
        self.jump_to_fault(site, operands);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
    }

    /// Jumps to the fault block. The fault is passed in the context: as block parameters, its words would be values for the register
    /// allocator to bring together from all over the function. Words that the site has no operands for stay as they are.
    fn jump_to_fault(&mut self, site: i64, operands: &[clif::Value]) {
        let site = self.int(types::I64, site);
        for (i, word) in [site].iter().chain(operands).enumerate() {
            self.b.ins().store(trusted(), *word, self.ctx, Field::FAULT + 8 * i as i32);
        }
        let fault = self.exit().fault;
        self.b.ins().jump(fault, &[]);
    }

    /// Leaves with status 1 when `status` is not zero.
    fn stop_if(&mut self, status: clif::Value) {
        let (ok, stop) = (self.b.create_block(), self.exit().stop);
        self.b.ins().brif(status, stop, &[], ok, &[]);
        self.b.switch_to_block(ok);
        self.b.seal_block(ok);
    }

    /// Leaves with status 1 when `status`, of a function of the library, is not zero: the fault is placed at the call.
    fn stop_here_if(&mut self, status: clif::Value, span: Span) {
        let (cold, ok) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(status, cold, &[], ok, &[]);
        self.b.switch_to_block(cold);
        self.b.seal_block(cold);
        let site = self.new_site(span, SiteKind::Call);
        let site = self.int(types::I64, site);
        self.b.ins().store(trusted(), site, self.ctx, Field::FAULT);
        let Exits { here, .. } = self.exit();
        let here = here.unwrap_or_else(|| {
            let block = self.b.create_block();
            self.b.set_cold_block(block);
            block
        });
        if let Some(exits) = self.exits.last_mut() {
            exits.here = Some(here);
        }
        self.b.ins().jump(here, &[]);
        self.b.switch_to_block(ok);
        self.b.seal_block(ok);
    }

    /// Goes on where `status` is not zero for an exception, which is in flight then; otherwise leaves. Gives whether it was one.
    fn catch_if(
        &mut self,
        status: clif::Value,
        frames: clif::Value,
        from_library: bool,
        span: Span,
    ) -> Result<clif::Value> {
        let (cold, ok) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(status, cold, &[], ok, &[]);
        self.b.switch_to_block(cold);
        self.b.seal_block(cold);
        if from_library {
            let site = self.new_site(span, SiteKind::Call);
            let site = self.int(types::I64, site);
            self.call_host(HostFn::Relocate, &[self.ctx, site])?;
        }
        let caught = self.call_host(HostFn::Catch, &[self.ctx, frames])?[0];
        let stop = self.exit().stop;
        self.b.ins().brif(caught, ok, &[], stop, &[]);
        self.b.switch_to_block(ok);
        self.b.seal_block(ok);
        let zero = self.int(types::I32, 0);
        Ok(self.b.ins().icmp(clif::condcodes::IntCC::NotEqual, status, zero))
    }

    /// The blocks that one more fault or stop jumps to.
    fn exit(&mut self) -> Exits {
        match self.exits.last_mut() {
            Some(exits) if exits.uses < MAX_EXIT_USES => {
                exits.uses += 1;
                *exits
            }
            _ => {
                let (fault, stop) = (self.b.create_block(), self.b.create_block());
                self.b.set_cold_block(fault);
                self.b.set_cold_block(stop);
                let exits = Exits { fault, stop, here: None, uses: 1 };
                self.exits.push(exits);
                exits
            }
        }
    }

    /// Fills the blocks that faults and stops went to; later ones go to new blocks.
    fn finish_exits(&mut self) -> Result<()> {
        for Exits { fault, stop, here, .. } in std::mem::take(&mut self.exits) {
            if let Some(here) = here {
                self.b.switch_to_block(here);
                self.b.seal_block(here);
                let site = self.b.ins().load(types::I64, trusted(), self.ctx, Field::FAULT);
                self.call_host(HostFn::Relocate, &[self.ctx, site])?;
                self.b.ins().jump(stop, &[]);
            }
            self.b.switch_to_block(fault);
            self.b.seal_block(fault);
            let thread = self.packed_thread();
            self.call_host(HostFn::Fault, &[self.ctx, thread])?;
            self.b.ins().jump(stop, &[]);
            self.b.switch_to_block(stop);
            self.b.seal_block(stop);
            let mut results = vec![self.int(types::I32, 1)];
            let returns = self.b.func.signature.returns.clone();
            for ret in returns.iter().skip(1) {
                results.push(self.zero(ret.value_type));
            }
            self.b.ins().return_(&results);
        }
        Ok(())
    }

    fn zero(&mut self, ty: clif::Type) -> clif::Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    /// Stores the running thread's index for helpers, where it is not kept up to date anyway.
    fn publish_thread(&mut self) {
        if self.walk.is_some() && !self.published {
            self.publish_walked();
        }
        if let Some(thread) = self.thread
            && !self.published
        {
            self.b.ins().store(trusted(), thread, self.ctx, Field::THREAD);
        }
    }

    /// The running thread's index, as [`WorkerCtx::unpack_thread`](crate::back::cpu::abi::context::WorkerCtx::unpack_thread)
    /// wants it.
    fn packed_thread(&mut self) -> clif::Value {
        match self.walk.as_ref().and_then(|walk| walk.packed) {
            Some(packed) if !self.published => packed,
            _ => {
                self.publish_thread();
                self.int(types::I32, i64::from(THREAD_KNOWN))
            }
        }
    }

    /// Takes `cost` off the budget and polls when it is used up.
    fn poll(&mut self, cost: clif::Value, span: Span) -> Result<()> {
        let budget = self.b.use_var(self.budget);
        let left = self.b.ins().isub(budget, cost);
        self.b.def_var(self.budget, left);
        if self.keeps_none {
            self.store_budget();
        }
        let zero = self.int(types::I64, 0);
        let used_up = self.b.ins().icmp(clif::condcodes::IntCC::SignedLessThan, left, zero);
        let (tick, go) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(tick);
        self.b.ins().brif(used_up, tick, &[], go, &[]);
        self.b.switch_to_block(tick);
        self.b.seal_block(tick);
        let thread = self.packed_thread();
        let site = self.new_site(span, SiteKind::Poll { waits: self.waiting > 0 });
        let site = self.int(types::I64, site);
        self.call_host(HostFn::Tick, &[self.ctx, site, thread])?;
        let fresh = self.b.ins().load(types::I64, trusted(), self.ctx, Field::BUDGET);
        if !self.keeps_none {
            self.b.def_var(self.budget, fresh);
        }
        let zero = self.int(types::I64, 0);
        let stop = self.b.ins().icmp(clif::condcodes::IntCC::SignedLessThan, fresh, zero);
        let leave = self.exit().stop;
        self.b.ins().brif(stop, leave, &[], go, &[]);
        self.b.switch_to_block(go);
        self.b.seal_block(go);
        Ok(())
    }

    fn call_host(&mut self, host: HostFn, args: &[clif::Value]) -> Result<Vec<clif::Value>> {
        let index = host_fn::index(host);
        let func = match self.refs.get(&(NAMESPACE_HOST, index)) {
            Some(func) => *func,
            None => {
                let sig = host_fn::signature(host, self.m.isa.default_call_conv());
                self.import(NAMESPACE_HOST, index, sig)
            }
        };
        Ok(self.call(func, args))
    }

    fn call(&mut self, func: FuncRef, args: &[clif::Value]) -> Vec<clif::Value> {
        let inst = self.b.ins().call(func, args);
        self.b.inst_results(inst).to_vec()
    }

    fn import(&mut self, namespace: u32, index: u32, sig: Signature) -> FuncRef {
        let signature = self.b.import_signature(sig);
        let name = self.b.func.declare_imported_user_function(UserExternalName::new(namespace, index));
        let name = ExternalName::user(name);
        let func = self.b.import_function(ExtFuncData { name, signature, colocated: false, patchable: false });
        self.refs.insert((namespace, index), func);
        func
    }

    /// The reference to a function of the module that is compiled to (status, result).
    fn callee(&mut self, id: FuncId, span: Span) -> Result<FuncRef> {
        let Some(func) = self.m.module.functions.get(id.index()) else {
            return Err(self.bad(span, format_args!("call of {id}, which does not exist")));
        };
        let number = self.m.numbers.get(id.index()).copied().flatten().map(|number| (NAMESPACE_MODULE, number));
        let kept = || self.m.kept.index(id).map(|index| (NAMESPACE_KEPT, index));
        let Some((namespace, number)) = number.or_else(kept) else {
            return Err(self.bad(span, format_args!("call of `{}`, which has no code", func.name)));
        };
        if func.kind == FuncKind::Kernel {
            return Err(self.bad(span, format_args!("call of the kernel `{}`", func.name)));
        }
        match self.refs.get(&(namespace, number)) {
            Some(func) => Ok(*func),
            None => {
                let sig = device_signature(self.m.isa, func);
                Ok(self.import(namespace, number, sig))
            }
        }
    }

    /// The descriptor of data, and its index.
    fn global(&self, g: Global) -> Option<(&'m BufferDesc, u32)> {
        if self.is_keepable {
            return self.m.module.globals.get(g.index()).and_then(kept_code::literal);
        }
        let side = if self.func.kind.is_host() { Side::Host } else { Side::Both };
        self.m.globals.view(g.index(), side).map(|desc| (desc, g.index() as u32))
    }

    fn stack_slot(&mut self, size: u32, align: u32) -> clif::StackSlot {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, align.max(1).trailing_zeros() as u8);
        self.b.create_sized_stack_slot(data)
    }

    /// Stores to a stack slot of this function.
    fn stack_put(&mut self, value: clif::Value, slot: clif::StackSlot, at: i32) {
        let start = self.b.ins().stack_addr(types::I64, slot, 0);
        self.b.ins().store(trusted(), value, start, at);
    }

    /// Loads a word from a stack slot of this function.
    fn stack_get(&mut self, slot: clif::StackSlot, at: i32) -> clif::Value {
        let start = self.b.ins().stack_addr(types::I64, slot, 0);
        self.b.ins().load(types::I64, trusted(), start, at)
    }

    /// The descriptor of an allocation, as a value.
    fn desc_of(&mut self, root: Root) -> Result<clif::Value> {
        match root {
            Root::Param(i) => Ok(self.param(i)?.desc),
            Root::Slot(s) => match (self.slots.get(s.index()).copied(), self.descs) {
                (Some(slot), Some(descs)) => Ok(self.b.ins().stack_addr(types::I64, descs, slot.desc_at)),
                _ => Err(self.bad(Span::NONE, format_args!("{s} is not declared"))),
            },
            Root::Global(g) => match self.global(g) {
                Some((desc, _)) => Ok(self.int(types::I64, std::ptr::from_ref(desc) as i64)),
                None => Err(self.bad(Span::NONE, format_args!("{g} is not declared"))),
            },
            Root::Shared(m) => {
                let first = self.b.ins().load(types::I64, constant(), self.ctx, Field::SHARED);
                Ok(match m.index() {
                    0 => first,
                    i => {
                        let at = self.int(types::I64, i as i64 * i64::from(DescField::SIZE));
                        self.b.ins().iadd(first, at)
                    }
                })
            }
            Root::Null => Ok(self.int(types::I64, &raw const NULL_DESC as i64)),
            Root::Unset | Root::Dynamic => Ok(self.int(types::I64, &raw const DANGLING_DESC as i64)),
        }
    }

    /// The address of the first byte of an allocation, as a value.
    fn base_of(&mut self, root: Root) -> Result<clif::Value> {
        match root {
            Root::Param(i) => Ok(self.param(i)?.base),
            Root::Slot(s) => match self.slots.get(s.index()).copied() {
                Some(_) if self.is_kept_slot(s.index()) => {
                    self.kept_slot(s).ok_or_else(|| self.bad(Span::NONE, format_args!("{s} of no thread")))
                }
                Some(slot) => match self.descs {
                    Some(descs) => Ok(self.b.ins().stack_addr(types::I64, descs, slot.memory)),
                    None => Err(self.bad(Span::NONE, format_args!("{s} has no memory"))),
                },
                None => Err(self.bad(Span::NONE, format_args!("{s} is not declared"))),
            },
            Root::Global(g) => match self.global(g).map(|(desc, _)| desc.base) {
                Some(base) => Ok(self.int(types::I64, base as i64)),
                None => Err(self.bad(Span::NONE, format_args!("{g} is not declared"))),
            },
            Root::Shared(_) => {
                let desc = self.desc_of(root)?;
                Ok(self.b.ins().load(types::I64, constant(), desc, DescField::BASE))
            }
            Root::Null | Root::Unset | Root::Dynamic => Ok(self.int(types::I64, 0)),
        }
    }

    fn param(&self, index: u32) -> Result<ParamVal> {
        let missing = || self.bad(Span::NONE, format_args!("parameter {index} does not exist"));
        self.params.get(index as usize).copied().ok_or_else(missing)
    }

    /// The address a pointer holds.
    fn address(&mut self, ptr: Ptr) -> Result<clif::Value> {
        match ptr {
            Ptr::Dynamic { addr, .. } => Ok(addr),
            Ptr::Known { root, off } => {
                if let Root::Param(i) = root
                    && let ParamVal { given: Some(given), val: Val::Ptr(Ptr::Known { off: at, .. }), .. } =
                        self.param(i)?
                    && at == off
                {
                    return Ok(given);
                }
                let base = self.base_of(root)?;
                Ok(match self.known_int(off) {
                    Some(0) => base,
                    _ => self.b.ins().iadd(base, off),
                })
            }
        }
    }

    /// Address and descriptor of a pointer.
    fn pair(&mut self, ptr: Ptr) -> Result<(clif::Value, clif::Value)> {
        match ptr {
            Ptr::Dynamic { addr, desc } => Ok((addr, desc)),
            Ptr::Known { root, .. } => Ok((self.address(ptr)?, self.desc_of(root)?)),
        }
    }
}

/// A diagnostic about IR that breaks a rule.
fn bad_ir(span: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::BadIr, span, message))
}

//! Facts about a function that lowering needs before its first instruction: where pointers point, how far they are
//! aligned, how much work a thread is, which functions it calls. Flow-insensitive, linear in the function, no
//! recursion.

use std::collections::BTreeSet;

use super::affine::{self, Finder, RowPlan};
use super::roots::{Root, walk};
use super::split::SplitPlan;
use super::vector::{self, VectorPlan};
use crate::back::cpu::isa;
use crate::ir::{Const, FuncId, FuncKind, Function, Local, Module, Op, ParamType, Stmt, Type, Value};
use crate::pass::regions::Splits;
use crate::pass::stride::{self, Strided};
use crate::pass::{independent, waits};

/// Largest alignment tracked: 16 bytes, as its logarithm.
const MAX_ALIGN: u8 = 4;

/// Rounds of the fixpoint over locals, after which those that still change are given up as unknown.
const ROUNDS: usize = 8;

/// Iterations assumed for a loop, in the estimate that decides between one core and all.
const ASSUMED_TRIPS: u64 = 8;

/// Facts about one function.
#[derive(Debug)]
pub struct FuncInfo {
    /// The root of the pointers that each local is set to.
    pub local_root: Vec<Root>,
    /// The logarithm of the alignment of each value that is a pointer.
    pub align: Vec<u8>,
    /// Limits read from parameters' buffers: (parameter, write, log2 of the size).
    pub limits: BTreeSet<(u32, bool, u32)>,
    /// Functions called, each once.
    pub calls: Vec<FuncId>,
    /// Functions whose address it takes, each with the signature of its type.
    pub addresses: Vec<(FuncId, u64)>,
    /// The signature of the functions called through a pointer, if there is such a call.
    pub dispatches: Option<u64>,
    /// True if the function makes pointers out of integers or loads them from memory, or lets the run time do so.
    pub makes_pointers: bool,
    /// Work of one pass outside all loops, in operations.
    pub straight: u64,
    /// The work of one iteration outside inner loops, for each label that is a loop.
    pub loops: Vec<u64>,
    /// True if any label is a loop.
    pub has_loops: bool,
    /// Work of one call, where loops are taken to run [`ASSUMED_TRIPS`] times.
    pub estimate: u64,
    /// The number of statements.
    pub stmts: usize,
    /// The bounds checks that can be done once for a row of threads; kernels only.
    pub row: RowPlan,
    /// True for each label that is a loop which may wait for other threads.
    pub waits: Vec<bool>,
    /// True for each label that is a loop which looks at what others do, where threads are fibers: each of its rounds lets others go on.
    pub looks: Vec<bool>,
    /// The statements that the threads of a warp do in step, in a kernel whose threads wait for one another in no known order,
    /// so that each runs as a fiber. Kernels only.
    pub fibers: Option<Splits>,
    /// The regions the function is cut into; kernels with splits only.
    pub split: Option<Box<SplitPlan>>,
    /// True if the regions are those of warps whose threads run in step.
    pub in_step: bool,
    /// The plan for running the threads of a row in vectors, where they can; kernels only.
    pub vector: Option<VectorPlan>,
    /// The grid-stride loop that the kernel is, if it is one.
    pub strided: Option<Box<StridedInfo>>,
}

/// A grid-stride loop and the facts about one round of it.
#[derive(Debug)]
pub struct StridedInfo {
    /// The loop.
    pub parts: Strided,
    /// Facts about `parts.func`.
    pub info: FuncInfo,
    /// The distance between the start indices of neighbouring threads.
    pub step: i64,
    /// The row plan of the values that start, bound and stride are computed from.
    pub trip: RowPlan,
}

/// Work of a statement itself, in operations of about a third of a nanosecond.
fn cost(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::Let(_, op) => match op {
            Op::Const(_) | Op::Param(_) | Op::Get(_) | Op::Builtin(_) | Op::SlotAddr(_) => 0,
            Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::FuncAddr(..) => 0,
            Op::Math(function, _) if function.is_arithmetic() => 1,
            Op::Math(..) => 40,
            Op::Binary(crate::ir::BinaryOp::Div | crate::ir::BinaryOp::Rem, ..) => 10,
            Op::Load { .. } => 4,
            Op::IntToPtr(_) => 20,
            _ => 1,
        },
        Stmt::Store { .. } => 4,
        Stmt::Atomic { .. } => 20,
        Stmt::Collective { .. } | Stmt::Barrier(_) | Stmt::Fence => 10,
        Stmt::Call { .. } | Stmt::Dispatch(_) | Stmt::Service { .. } => 50,
        // The work of the kernel's own blocks is counted when it runs.
        Stmt::Launch { .. } => 1000,
        Stmt::Printf { .. } => 2000,
        _ => 1,
    }
}

impl FuncInfo {
    /// Analyses a function.
    pub fn new(module: &Module, func: &Function) -> Self {
        let mut info = FuncInfo {
            local_root: vec![Root::Unset; func.locals.len()],
            align: vec![MAX_ALIGN; func.values.len()],
            limits: BTreeSet::new(),
            calls: Vec::new(),
            addresses: Vec::new(),
            dispatches: None,
            makes_pointers: false,
            straight: 4,
            loops: vec![4; func.labels as usize],
            has_loops: false,
            estimate: 4,
            stmts: 0,
            row: RowPlan::default(),
            waits: waits::find(func),
            looks: Vec::new(),
            fibers: None,
            split: None,
            in_step: false,
            vector: None,
            strided: None,
        };
        info.count(func);
        let mut facts = FunctionFacts {
            module,
            func,
            root: vec![Root::Unset; func.values.len()],
            align: vec![MAX_ALIGN; func.values.len()],
            local_root: vec![Root::Unset; func.locals.len()],
            local_align: vec![MAX_ALIGN; func.locals.len()],
            consts: vec![None; func.values.len()],
        };
        facts.solve();
        for (ty, root) in func.locals.iter().map(|l| l.ty).zip(&mut facts.local_root) {
            if ty == Type::Ptr && *root == Root::Unset {
                *root = Root::Dynamic;
            }
        }
        info.limits = facts.limits();
        info.local_root = facts.local_root;
        info.align = facts.align;
        if func.kind == FuncKind::Kernel && independent::is_needed(module, func) {
            info.run_as_fibers(module, func);
            return info;
        }
        if func.kind == FuncKind::Kernel {
            info.split = SplitPlan::new(module, func).map(Box::new);
        }
        if func.kind == FuncKind::Kernel && info.split.is_none() && info.stmts <= affine::MAX_STMTS {
            let mut finder = Finder::new(func);
            info.row = affine::plan(func, &mut finder);
            info.vector = vector::plan(func, &mut info.row, &info.align, &mut finder, isa::has_fma());
            info.strided = StridedInfo::new(module, func).map(Box::new);
        }
        info
    }

    /// Makes a kernel one whose threads are fibers.
    pub fn run_as_fibers(&mut self, module: &Module, func: &Function) {
        self.fibers = Some(Splits::new(func));
        (self.waits, self.looks) = (waits::find_with_calls(module, func), waits::looks(module, func));
        (self.split, self.vector, self.strided, self.row) = (None, None, None, RowPlan::default());
    }

    /// Cuts a kernel where warps whose threads run in step wait for others.
    pub fn run_warps_in_step(&mut self, module: &Module, func: &Function) {
        self.split = SplitPlan::at(module, func, &Splits::of_warps_in_step(func)).map(Box::new);
        self.in_step = true;
    }

    /// True if the function keeps a budget: it loops or calls.
    pub fn polls(&self) -> bool {
        !self.calls.is_empty() || !self.loops.is_empty()
    }

    fn count(&mut self, func: &Function) {
        let mut calls = BTreeSet::new();
        walk(&func.body, |stmt, inside, depth| {
            self.stmts += 1;
            let cost = cost(stmt);
            let per_iteration = match inside {
                Some(label) => self.loops.get_mut(label.index()),
                None => Some(&mut self.straight),
            };
            if let Some(work) = per_iteration {
                *work = work.saturating_add(cost);
            }
            let weight = cost.saturating_mul(ASSUMED_TRIPS.saturating_pow(depth.min(6)));
            self.estimate = self.estimate.saturating_add(weight);
            match stmt {
                Stmt::Call { func, .. } => {
                    calls.insert(*func);
                }
                Stmt::Let(_, Op::FuncAddr(func, signature)) => self.addresses.push((*func, *signature)),
                Stmt::Loop { .. } => self.has_loops = true,
                Stmt::Dispatch(signature) => self.dispatches = Some(*signature),
                Stmt::Let(_, Op::IntToPtr(_) | Op::Load { ty: Type::Ptr, .. })
                | Stmt::Service { .. }
                // A kernel may reach a local variable through a struct.
                | Stmt::Launch { .. } => {
                    self.makes_pointers = true;
                }
                _ => {}
            }
        });
        self.calls = calls.into_iter().collect();
    }
}

impl StridedInfo {
    fn new(module: &Module, func: &Function) -> Option<Self> {
        let parts = stride::find(func)?;
        let (step, trip) = affine::trip(&parts)?;
        let info = FuncInfo::new(module, &parts.func);
        Some(StridedInfo { parts, info, step, trip })
    }
}

struct FunctionFacts<'m> {
    module: &'m Module,
    func: &'m Function,
    root: Vec<Root>,
    align: Vec<u8>,
    local_root: Vec<Root>,
    local_align: Vec<u8>,
    consts: Vec<Option<i64>>,
}

/// The logarithm of the largest power of two that divides `n`, up to the tracked one.
fn divisor_log2(n: u64) -> u8 {
    n.trailing_zeros().min(u32::from(MAX_ALIGN)) as u8
}

impl FunctionFacts<'_> {
    fn solve(&mut self) {
        for round in 0.. {
            let changed = self.round();
            if !changed {
                break;
            }
            if round == ROUNDS {
                // A chain of copies that is too long is left unsettled: its locals are taken as unknown, which is
                // always right.
                self.local_root.fill(Root::Dynamic);
                self.local_align.fill(0);
                self.round();
                break;
            }
        }
    }

    fn round(&mut self) -> bool {
        let func = self.func;
        let mut changed = false;
        walk(&func.body, |stmt, _, _| match stmt {
            Stmt::Let(v, op) => self.define(*v, op),
            Stmt::Call { result: Some(v), .. }
            | Stmt::Collective { result: Some(v), .. }
            | Stmt::Service { result: Some(v), .. } => self.put(*v, Root::Dynamic, 0),
            Stmt::Set(l, v) => changed |= self.assign(*l, *v),
            _ => {}
        });
        changed
    }

    fn assign(&mut self, local: Local, v: Value) -> bool {
        let (root, align) = self.get(v);
        let (Some(local_root), Some(local_align)) =
            (self.local_root.get_mut(local.index()), self.local_align.get_mut(local.index()))
        else {
            return false;
        };
        let (new_root, new_align) = (local_root.join(root), align.min(*local_align));
        let changed = new_root != *local_root || new_align != *local_align;
        (*local_root, *local_align) = (new_root, new_align);
        changed
    }

    fn get(&self, v: Value) -> (Root, u8) {
        let root = self.root.get(v.index()).copied().unwrap_or(Root::Dynamic);
        (root, self.align.get(v.index()).copied().unwrap_or(0))
    }

    fn put(&mut self, v: Value, root: Root, align: u8) {
        if let (Some(r), Some(a)) = (self.root.get_mut(v.index()), self.align.get_mut(v.index())) {
            (*r, *a) = (root, align);
        }
    }

    fn define(&mut self, v: Value, op: &Op) {
        let (root, align) = match op {
            Op::Const(Const::Null) | Op::FuncAddr(..) => (Root::Null, MAX_ALIGN),
            Op::Const(Const::Int(_, i)) => {
                if let Some(c) = self.consts.get_mut(v.index()) {
                    *c = Some(*i);
                }
                return;
            }
            Op::Param(i) => match self.func.params.get(*i as usize).map(|p| p.ty) {
                // A launch aligns its buffers to the element type; a caller in the kernel's text promises nothing.
                Some(ParamType::Ptr { elem, .. }) if self.func.kind == FuncKind::Kernel => {
                    (Root::Param(*i), elem.map_or(0, |s| divisor_log2(u64::from(s.size()))))
                }
                Some(ParamType::Ptr { .. }) => (Root::Param(*i), 0),
                _ => return,
            },
            Op::SlotAddr(s) => {
                (Root::Slot(*s), self.func.slots.get(s.index()).map_or(0, |d| divisor_log2(u64::from(d.align))))
            }
            Op::GlobalAddr(g) => {
                (Root::Global(*g), self.module.globals.get(g.index()).map_or(0, |d| divisor_log2(u64::from(d.align))))
            }
            Op::SharedAddr(m) => {
                (Root::Shared(*m), self.module.shared.get(m.index()).map_or(0, |d| divisor_log2(u64::from(d.align))))
            }
            Op::Get(l) => match (self.local_root.get(l.index()), self.local_align.get(l.index())) {
                (Some(root), Some(align)) => (*root, *align),
                _ => return,
            },
            Op::PtrAdd { ptr, index, stride } => {
                let (root, align) = self.get(*ptr);
                let by = match self.consts.get(index.index()).copied().flatten() {
                    Some(n) => n.unsigned_abs().wrapping_mul(u64::from(stride.bytes())),
                    None => u64::from(stride.bytes()),
                };
                (root, align.min(divisor_log2(by)))
            }
            Op::Select(_, a, b) => {
                let ((root_a, align_a), (root_b, align_b)) = (self.get(*a), self.get(*b));
                (root_a.join(root_b), align_a.min(align_b))
            }
            Op::IntToPtr(_) | Op::Load { ty: Type::Ptr, .. } => (Root::Dynamic, 0),
            _ => return,
        };
        self.put(v, root, align);
    }

    fn limits(&self) -> BTreeSet<(u32, bool, u32)> {
        let mut limits = BTreeSet::new();
        walk(&self.func.body, |stmt, _, _| {
            let (ptr, size, write) = match stmt {
                Stmt::Let(_, Op::Load { ptr, ty, .. }) => (*ptr, ty.size(), false),
                Stmt::Store { ptr, value, .. } | Stmt::Atomic { ptr, value, .. } => {
                    match self.func.values.get(value.index()) {
                        Some(data) => (*ptr, data.ty.size(), true),
                        None => return,
                    }
                }
                _ => return,
            };
            if let (Root::Param(i), _) = self.get(ptr) {
                limits.insert((i, write, size.trailing_zeros()));
            }
        });
        limits
    }
}

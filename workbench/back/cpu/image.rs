//! The image of a module: the data that a launch reads of compiled code besides the machine code itself.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock};

use crate::back::cpu::abi::context::{Side, SlotTable};
use crate::back::cpu::abi::site::{Named, Site};
use crate::back::cpu::code::kept_code::{self, KeptFunction};
use crate::back::cpu::data::Globals;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::ir::printf_format::Piece;
use crate::ir::{Derived, Elem, FuncId, Function, Module, Op, Param, ParamType, Stmt};
use crate::source::Span;

/// The places in a block's memory of the shared variables named by a kernel or a function it calls: static ones one after the other in
/// the order of their declarations, then all dynamic ones at one place.
pub fn place_shared(module: &Module, kernel: FuncId) -> SharedPlan {
    let mut plan = SharedPlan::default();
    if module.shared.is_empty() {
        return plan;
    }
    // The walk takes as much work as it reaches functions: it runs for every kernel of a module.
    let (mut named, mut seen, mut work) = (BTreeSet::new(), HashSet::from([kernel]), vec![kernel]);
    while let Some(id) = work.pop() {
        module.func(id).body.for_each_stmt(&mut |stmt| {
            if let Stmt::Let(_, Op::SharedAddr(m)) = stmt {
                named.insert(m.index());
            }
            work.extend(stmt.mentions().into_iter().filter(|id| seen.insert(*id)));
        });
    }
    let variables = || named.iter().filter_map(|index| Some((*index, module.shared.get(*index)?)));
    let mut fixed: Vec<_> = variables().filter(|(_, data)| !data.dynamic).collect();
    let padded =
        fixed.iter().fold(0u32, |end, (_, data)| end.next_multiple_of(data.align.max(1)).saturating_add(data.size));
    if padded > MAX_STATIC_SHARED {
        // The order is that of ptxas, without gaps between variables.
        fixed.sort_by_key(|(_, data)| std::cmp::Reverse(data.align));
    }
    for (index, data) in fixed {
        let at = plan.fixed.next_multiple_of(data.align.max(1));
        plan.placed.push(Placed { index, at, size: data.size, dynamic: false });
        plan.fixed = at.saturating_add(data.size);
    }
    for (index, _) in variables().filter(|(_, data)| data.dynamic) {
        if !plan.dynamic {
            let asked = variables().filter(|(_, data)| data.dynamic).map(|(_, data)| data.align).max();
            plan.fixed = plan.fixed.next_multiple_of(asked.unwrap_or(1).max(1));
            plan.dynamic = true;
        }
        plan.placed.push(Placed { index, at: plan.fixed, size: 0, dynamic: true });
    }
    plan
}

/// Most bytes of static shared memory of a block.
pub const MAX_STATIC_SHARED: u32 = 48 * 1024;

/// The data that a launch reads of a compiled module besides its machine code.
pub struct Image {
    /// The entry point of each function, where there is one.
    pub entries: Vec<Option<EntryPoint>>,
    pub sites: Vec<Site>,
    pub slots: Vec<Named>,
    /// The tables of slots, read by generated code alone.
    #[expect(clippy::vec_box, reason = "generated code holds their addresses")]
    pub _tables: Vec<Box<SlotTable>>,
    pub globals: Arc<Globals>,
    /// The variables of the whole program, where this is a part of one that was made ahead; `globals` are the first of
    /// them.
    pub all_globals: OnceLock<Arc<Globals>>,
    /// Images of the modules that were made ahead of the program; see [`ahead`](super::make::ahead).
    pub ahead: OnceLock<Vec<Arc<Image>>>,
    /// The functions whose address is taken, each with the signature of its type.
    pub functions: Vec<Option<(u64, Callee)>>,
    /// The names of the shared variables in messages; a dynamic one has no size of its own.
    pub shared: Vec<Named>,
    pub formats: Vec<Vec<Piece>>,
}

impl Image {
    /// The site that generated code means by a word.
    pub fn site(&self, word: u64) -> Option<&Site> {
        kept_code::site(&self.sites, word)
    }

    /// The data of the program.
    pub fn data(&self) -> &Globals {
        self.all_globals.get().unwrap_or(&self.globals)
    }

    /// True if the function of that number may be launched, and its code is here.
    pub fn has(&self, func: FuncId) -> bool {
        self.entries.get(func.index()).is_some_and(Option::is_some)
    }

    /// The entry of a function that may be launched, wherever in the program it is.
    pub fn entry(&self, func: FuncId) -> Option<&EntryPoint> {
        let image = if self.has(func) { self } else { self.ahead.get()?.iter().find(|image| image.has(func))? };
        image.entries[func.index()].as_ref()
    }
}

/// The function that host code finds at an address.
pub enum Callee {
    /// A part, by its number.
    Part(u32),
    Kept(&'static KeptFunction),
}

/// A shared variable that a kernel names, and its place in the block's memory.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Its index in the module.
    pub index: usize,
    pub at: u32,
    pub size: u32,
    pub dynamic: bool,
}

/// The shared memory of a kernel's blocks.
#[derive(Debug, Clone, Default)]
pub struct SharedPlan {
    pub placed: Vec<Placed>,
    /// Bytes of static variables, the alignment of dynamic ones included.
    pub fixed: u32,
    /// True if the kernel names dynamic memory.
    pub dynamic: bool,
}

/// A function that can be launched.
pub struct EntryPoint {
    pub way: Way,
    pub name: String,
    pub span: Span,
    /// The parameters that a launch passes.
    pub params: Vec<ParamInfo>,
    /// The parameters that the launch works out from those.
    pub derived: Vec<DerivedInfo>,
    /// True if a call gives a result.
    pub returns: bool,
    /// True if it is a host function.
    pub is_host: bool,
    /// Operations of one thread, loops left out.
    pub straight: u64,
    /// Operations of one thread, estimated.
    pub estimate: u64,
    /// The number of the part that computes a grid-stride loop's numbers; the part for one round follows.
    pub rounds: Option<usize>,
    pub shared: SharedPlan,
    /// The memory that a block's threads keep while others run: bytes of scratch for the block, bytes of local arrays
    /// for each thread.
    pub keeps: Option<(usize, usize)>,
    /// True if the code runs one thread of a block, which is a fiber; see [`fibers`](super::run::fibers).
    pub fibers: bool,
    /// True if the estimate is a guess, because there are loops.
    pub has_loops: bool,
    /// The tier of the code that its last launch ran.
    pub last: AtomicU8,
}

/// The place of an entry point's code.
pub enum Way {
    /// The part of that number.
    Part(usize),
    /// The part of that number, called by way of [`direct`](super::abi::context::direct).
    Direct(usize),
    /// Kept code, called like that.
    Kept(&'static KeptFunction),
}

/// The facts about a parameter that messages and launches need.
pub struct ParamInfo {
    pub name: String,
    pub is_ptr: bool,
    /// True for a struct by value: the launch has a copy.
    pub by_value: bool,
    pub elem: Option<Elem>,
}

/// A parameter of the code that no launch passes.
pub struct DerivedInfo {
    pub name: String,
    pub derived: Derived,
    pub ty: ParamType,
}

impl EntryPoint {
    /// An entry point for a function; `info` is given where the function is the program's own.
    pub fn new(func: &Function, info: Option<&FuncInfo>, way: Way, rounds: Option<usize>, shared: SharedPlan) -> Self {
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
        EntryPoint {
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

impl EntryPoint {
    /// The side on which it runs. `is_unified`: whether kernels may touch the host's own memory.
    pub fn side(&self, is_unified: bool) -> Side {
        match self.is_host {
            true => Side::Host,
            false if is_unified => Side::Both,
            false => Side::Device,
        }
    }
}

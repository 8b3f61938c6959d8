//! The homes of the values, locals and slots of a kernel with splits: shared by a block's threads, computed anew by each thread in
//! each region, kept in scratch while other threads run, or never leaving a region.
//!
//! A *shared* value is the same for all threads and cannot fault: it is computed once for the block, ahead of the region it is in.
//! So a shared local may be set only between regions, under uniform control (see [`uniformity`]).
//!
//! Scratch is a row of arrays, each with an element for each thread, at offsets known at compile time: as if a block had the
//! most threads that it may have.

use std::collections::{HashMap, HashSet};

use crate::ir::{BinaryOp, Block, Builtin, Const, Function, Label, Local, Module, Op, Scalar, Stmt, Type, Value};
use crate::pass::pointers::{self, Origin};
use crate::pass::regions::{self, Node, Regions, Sequence, Splits};
use crate::pass::uniformity::{self, Shape, Uniformity};

/// Most threads of a group of wide code, which works on whole groups.
const MAX_GROUP: u32 = 64;
/// Threads of a block, unless the kernel promises fewer.
const MAX_THREADS: u32 = 1024;
/// Most operations of a value that is computed anew rather than kept.
const MAX_REMAKE: u32 = 6;
/// Rounds of the fixpoint over shared locals, after which none is taken to be shared.
const ROUNDS: usize = 12;
/// Most statements looked at, over all locals, to find those that are set before they are read.
const MAX_WALKS: usize = 2_000_000;
/// Padding between the arrays of scratch, so that they do not all fall on the same lines of the cache.
const SKEW: u32 = 64;

/// The home of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueHome {
    /// In the one region that uses it.
    Region,
    /// The block has one.
    Shared,
    /// Computed anew in each region.
    Remade,
    /// In scratch, at that offset; a pointer's buffer in the array at the second one.
    Scratch(u32, u32),
}

/// The home of a local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalHome {
    /// In the one region that uses it.
    Region,
    /// The block has one.
    Shared,
    /// In scratch; whether it may be read before it is set, and so has to begin as poison.
    Scratch(u32, u32, bool),
}

/// The plan for a kernel with splits.
#[derive(Debug)]
pub struct SplitPlan {
    /// Its regions.
    pub regions: Regions,
    /// The home of each value.
    pub values: Vec<ValueHome>,
    /// The home of each local.
    pub locals: Vec<LocalHome>,
    /// The offset of each slot in the memory a thread keeps, if the thread keeps it.
    pub slots: Vec<Option<u32>>,
    /// Bytes of slots that a thread keeps.
    pub slot_bytes: u32,
    /// Bytes of scratch.
    pub scratch: u32,
    /// The offset in scratch of the sites where threads last jumped out of a construct.
    pub parted: u32,
    /// Constructs that threads leave one by one, so that masks say which threads are where.
    pub masked: HashSet<Label>,
    /// True if threads leave the kernel one by one.
    pub masked_return: bool,
    /// True if there are any masks.
    pub masks: bool,
}

impl SplitPlan {
    /// The plan of a kernel; `None` when it has no splits.
    pub fn new(module: &Module, func: &Function) -> Option<Self> {
        Self::at(module, func, &Splits::new(func))
    }

    /// As [`SplitPlan::new`], for these splits.
    pub fn at(module: &Module, func: &Function, splits: &Splits) -> Option<Self> {
        if !splits.within(&func.body) {
            return None;
        }
        let uniformity = uniformity::analyze(module, func);
        let regions = regions::split(func, splits, &uniformity);
        let mut facts = SplitFacts::new(func, &uniformity);
        facts.units(&regions.body, &func.body, 0);
        facts.share();
        let (masked, masked_return, masks) = facts.masks(&regions);
        let mut layout =
            Layout { threads: func.max_threads.unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS), next: 0, count: 0 };
        let values = facts.value_homes(&mut layout);
        let locals = facts.local_homes(&mut layout);
        let parted = if masks { layout.array(4) } else { 0 };
        let (slots, slot_bytes) = facts.slot_homes();
        Some(SplitPlan {
            regions,
            values,
            locals,
            slots,
            slot_bytes,
            scratch: layout.next,
            parted,
            masked,
            masked_return,
            masks,
        })
    }

    /// True if an `If` that is a node is decided once for the block.
    pub fn decides_once(&self, cond: Value) -> bool {
        self.values.get(cond.index()) == Some(&ValueHome::Shared)
    }
}

/// The allocation of scratch.
struct Layout {
    threads: u32,
    next: u32,
    count: u32,
}

impl Layout {
    fn array(&mut self, size: u32) -> u32 {
        let at = self.next;
        // The skew differs from array to array; elements stay aligned.
        self.count += 1;
        // The room is for whole groups of wide code.
        self.next += (size * self.threads.next_multiple_of(MAX_GROUP)).next_multiple_of(64) + SKEW * (self.count % 7);
        at
    }

    fn place(&mut self, ty: Type) -> (u32, u32) {
        match ty {
            Type::Scalar(s) => (self.array(s.size()), 0),
            Type::Ptr => (self.array(8), self.array(8)),
        }
    }
}

const NONE: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;

/// A region or a node's own statement.
struct Unit<'f> {
    stmts: &'f [Stmt],
    /// True if nested statements belong to the unit, as they do in a region.
    is_region: bool,
    /// The number of loops around the unit that are nodes.
    loops: u32,
}

struct SplitFacts<'f> {
    func: &'f Function,
    uniformity: &'f Uniformity,
    /// True if the function is small enough to walk over it once for every local.
    small: bool,
    units: Vec<Unit<'f>>,
    /// The op that defines each value between regions or at the top of one.
    tops: Vec<Option<&'f Op>>,
    /// The unit that defines each value.
    defined: Vec<u32>,
    /// The one unit that uses each value.
    used: Vec<u32>,
    /// Values that collectives and divergent nodes read from scratch.
    wanted: Vec<bool>,
    /// The one unit that mentions each local.
    mentioned: Vec<u32>,
    /// Locals set inside a statement of a region, or read there before they are set in it.
    mixed: Vec<bool>,
    /// Locals set between statements, in text order.
    sets: Vec<(Local, Value)>,
    shared: Vec<bool>,
    shared_locals: Vec<bool>,
}

fn note(place: &mut u32, unit: u32) {
    *place = if *place == NONE || *place == unit { unit } else { MANY };
}

/// The innermost part of a block that a node stands for.
fn stmt_of(node: &Node) -> Option<usize> {
    match node {
        Node::Region(_) => None,
        Node::Barrier(i) | Node::Collective(i) | Node::Jump(i) => Some(*i),
        Node::If { stmt, .. } | Node::Loop { stmt, .. } | Node::Scope { stmt, .. } => Some(*stmt),
    }
}

impl<'f> SplitFacts<'f> {
    fn new(func: &'f Function, uniformity: &'f Uniformity) -> Self {
        let (values, locals) = (func.values.len(), func.locals.len());
        SplitFacts {
            func,
            uniformity,
            small: locals.saturating_mul(func.body.count()) <= MAX_WALKS,
            units: Vec::new(),
            tops: vec![None; values],
            defined: vec![NONE; values],
            used: vec![NONE; values],
            wanted: vec![false; values],
            mentioned: vec![NONE; locals],
            mixed: vec![false; locals],
            sets: Vec::new(),
            shared: vec![false; values],
            shared_locals: vec![true; locals],
        }
    }

    /// Numbers the units and notes which unit defines, uses and mentions each value and local.
    fn units(&mut self, sequence: &Sequence, block: &'f Block, loops: u32) {
        for node in &sequence.nodes {
            let unit = self.units.len() as u32;
            let stmts = match node {
                Node::Region(range) => &block.stmts[range.clone()],
                other => {
                    let i = stmt_of(other).unwrap_or(0);
                    &block.stmts[i..=i]
                }
            };
            self.units.push(Unit { stmts, is_region: matches!(node, Node::Region(_)), loops });
            if let Node::Region(_) = node {
                self.region(stmts, unit);
                continue;
            }
            let [stmt] = stmts else { continue };
            stmt.for_each_value(|v| {
                note(&mut self.used[v.index()], unit);
                self.wanted[v.index()] = true;
            });
            if let Some(v) = stmt.result() {
                self.defined[v.index()] = unit;
            }
            let inner = stmt.blocks();
            match (node, inner.as_slice()) {
                (Node::If { then, els, .. }, [a, b]) => {
                    self.units(then, a, loops);
                    self.units(els, b, loops);
                }
                (Node::Loop { body, step, .. }, [a, b]) => {
                    self.units(body, a, loops + 1);
                    self.units(step, b, loops + 1);
                }
                (Node::Scope { body, .. }, [a]) => self.units(body, a, loops),
                _ => {}
            }
        }
    }

    fn region(&mut self, stmts: &'f [Stmt], unit: u32) {
        let mut read_inside: HashSet<Local> = HashSet::new();
        for stmt in stmts {
            match stmt {
                Stmt::Let(v, op) => self.tops[v.index()] = Some(op),
                Stmt::Set(l, v) => {
                    self.mixed[l.index()] |= read_inside.contains(l);
                    self.sets.push((*l, *v));
                }
                _ => {}
            }
            self.statement(stmt, unit);
            for inner in stmt.blocks() {
                inner.for_each_stmt(&mut |s| {
                    match s {
                        Stmt::Set(l, _) => self.mixed[l.index()] = true,
                        Stmt::Let(_, Op::Get(l)) => {
                            read_inside.insert(*l);
                        }
                        _ => {}
                    }
                    self.statement(s, unit);
                });
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt, unit: u32) {
        stmt.for_each_value(|v| note(&mut self.used[v.index()], unit));
        if let Some(v) = stmt.result() {
            self.defined[v.index()] = unit;
        }
        if let Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) = stmt {
            note(&mut self.mentioned[l.index()], unit);
        }
    }

    /// Finds the values and locals that a block has only one of.
    fn share(&mut self) {
        for (i, shared) in self.shared_locals.iter_mut().enumerate() {
            let uniform = self.uniformity.local(Local::new(i)) == Shape::Uniform;
            *shared = uniform && !self.mixed[i];
        }
        let order = self.order();
        for round in 0.. {
            if round == ROUNDS {
                self.shared_locals.fill(false);
            }
            for &v in &order {
                self.shared[v.index()] = self.is_shared(v);
            }
            let mut changed = false;
            for &(l, v) in &self.sets {
                changed |= !self.shared[v.index()] && std::mem::replace(&mut self.shared_locals[l.index()], false);
            }
            if !changed || round > ROUNDS {
                break;
            }
        }
    }

    /// The values defined between nodes and at the top of regions, in text order.
    fn order(&self) -> Vec<Value> {
        self.units.iter().flat_map(|u| u.stmts).filter_map(Stmt::result).collect()
    }

    fn is_shared(&self, v: Value) -> bool {
        let Some(op) = self.tops[v.index()] else {
            // The result of a block's collective is uniform.
            let unit = self.units.get(self.defined[v.index()] as usize);
            return unit.is_some_and(|u| matches!(u.stmts, [Stmt::Collective { op, .. }] if op.is_block()));
        };
        let own = match op {
            Op::Get(l) => self.shared_locals[l.index()],
            Op::Builtin(Builtin::ThreadIdx(_)) => false,
            other => self.is_pure(other),
        };
        own && self.uniformity.is_uniform(v) && self.all_operands(op, |s, o| s.shared[o.index()])
    }

    fn all_operands(&self, op: &Op, test: impl Fn(&Self, Value) -> bool) -> bool {
        let mut all = true;
        op.for_each_value(|o| all = all && test(self, o));
        all
    }

    /// True if an operation can be computed anywhere its operands can: it reads no memory, no local, and cannot fault.
    fn is_pure(&self, op: &Op) -> bool {
        match op {
            Op::Load { .. } | Op::IntToPtr(_) | Op::SlotAddr(_) | Op::Get(_) => false,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => {
                self.func.ty(*by).scalar().is_some_and(Scalar::is_float)
                    || matches!(self.tops[by.index()], Some(Op::Const(Const::Int(_, n))) if *n != 0 && *n != -1)
            }
            _ => true,
        }
    }

    /// The constructs, if any, that need masks.
    fn masks(&self, regions: &Regions) -> (HashSet<Label>, bool, bool) {
        let mut walk =
            Masks { facts: self, masked: HashSet::new(), masked_return: false, diverges: false, path: Vec::new() };
        loop {
            let before = (walk.masked.len(), walk.masked_return);
            walk.sequence(&regions.body, &self.func.body);
            if before == (walk.masked.len(), walk.masked_return) {
                break;
            }
        }
        let masks = walk.diverges || walk.masked_return || !walk.masked.is_empty();
        (walk.masked, walk.masked_return, masks)
    }

    fn value_homes(&self, layout: &mut Layout) -> Vec<ValueHome> {
        let mut homes = vec![ValueHome::Region; self.func.values.len()];
        let mut cost: HashMap<Value, u32> = HashMap::new();
        for v in self.order() {
            let i = v.index();
            if self.shared[i] {
                homes[i] = ValueHome::Shared;
                cost.insert(v, 0);
                continue;
            }
            let remake = self.tops[i].and_then(|op| {
                let pure = match op {
                    Op::SlotAddr(_) => true,
                    Op::Math(function, _) if function.is_arithmetic() => true,
                    Op::Math(..) | Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
                    other => self.is_pure(other),
                };
                let mut sum = pure.then_some(1u32);
                op.for_each_value(|o| sum = sum.zip(cost.get(&o)).map(|(a, b)| a + b));
                sum.filter(|n| *n <= MAX_REMAKE)
            });
            if let Some(n) = remake {
                cost.insert(v, n);
            }
            let elsewhere = self.used[i] != NONE && self.used[i] != self.defined[i];
            let made_by_all =
                matches!(self.units.get(self.defined[i] as usize).map(|u| u.stmts), Some([Stmt::Collective { .. }]));
            homes[i] = if self.wanted[i] || made_by_all {
                cost.remove(&v);
                let (a, b) = layout.place(self.func.ty(v));
                ValueHome::Scratch(a, b)
            } else if remake.is_some() {
                ValueHome::Remade
            } else if elsewhere {
                let (a, b) = layout.place(self.func.ty(v));
                ValueHome::Scratch(a, b)
            } else {
                ValueHome::Region
            };
        }
        homes
    }

    fn local_homes(&self, layout: &mut Layout) -> Vec<LocalHome> {
        let mut homes = Vec::with_capacity(self.func.locals.len());
        for (i, data) in self.func.locals.iter().enumerate() {
            let local = Local::new(i);
            homes.push(match self.mentioned[i] {
                _ if self.shared_locals[i] => LocalHome::Shared,
                NONE => LocalHome::Region,
                unit if unit != MANY && self.stays(local, unit) => LocalHome::Region,
                _ => {
                    let (a, b) = layout.place(data.ty);
                    LocalHome::Scratch(a, b, !(self.small && set_first(&self.func.body.stmts, local)))
                }
            });
        }
        homes
    }

    /// True if a local that only one region mentions carries nothing from one run of the region to the next.
    fn stays(&self, local: Local, unit: u32) -> bool {
        let unit = &self.units[unit as usize];
        unit.loops == 0 || self.small && set_first(unit.stmts, local)
    }

    fn slot_homes(&self) -> (Vec<Option<u32>>, u32) {
        let origins = pointers::origins(self.func, |op| match op {
            Op::SlotAddr(s) => Origin::One(Some(*s)),
            _ => Origin::One(None),
        });
        let mut units = vec![NONE; self.func.slots.len()];
        for (n, unit) in self.units.iter().enumerate() {
            let mut seen = |stmt: &Stmt| {
                let slot = |v: Value| match origins.get(v.index()) {
                    Some(Origin::One(Some(s))) => Some(*s),
                    _ => None,
                };
                let (keeps, through) = uses_of_pointers(stmt);
                for s in through.into_iter().filter_map(slot) {
                    note(&mut units[s.index()], n as u32);
                }
                for s in keeps.into_iter().filter_map(slot) {
                    units[s.index()] = MANY;
                }
                if let Stmt::Let(_, Op::SlotAddr(s)) = stmt {
                    note(&mut units[s.index()], n as u32);
                }
            };
            for stmt in unit.stmts {
                seen(stmt);
                // A node's blocks are units of their own.
                if unit.is_region {
                    for inner in stmt.blocks() {
                        inner.for_each_stmt(&mut seen);
                    }
                }
            }
        }
        let mut next = 0u32;
        let homes = (self.func.slots.iter().zip(units))
            .map(|(slot, unit)| {
                let inner = unit == NONE || unit != MANY && self.units[unit as usize].loops == 0;
                (!inner).then(|| {
                    let at = next.next_multiple_of(slot.align.max(1));
                    next = at + slot.size;
                    at
                })
            })
            .collect();
        (homes, stride(next))
    }
}

/// The distance between the slots of neighbouring threads: not a power of two, or they would all fall on the same lines of the
/// cache.
fn stride(bytes: u32) -> u32 {
    let bytes = bytes.next_multiple_of(16);
    if bytes.is_multiple_of(1024) && bytes > 0 { bytes + 64 } else { bytes }
}

/// The pointers that escape in a statement, and those that it accesses memory through or moves.
fn uses_of_pointers(stmt: &Stmt) -> (Vec<Value>, Vec<Value>) {
    let mut all = Vec::new();
    stmt.for_each_value(|v| all.push(v));
    match stmt {
        Stmt::Let(_, Op::PtrAdd { .. } | Op::Load { .. } | Op::Compare(..) | Op::PtrDiff(..)) => (Vec::new(), all),
        Stmt::Store { ptr, value, .. } => (vec![*value], vec![*ptr]),
        Stmt::Atomic { ptr, .. } => (Vec::new(), vec![*ptr]),
        _ => (all, Vec::new()),
    }
}

/// True if a local is set by the statements that mention it before any reads it.
fn set_first(stmts: &[Stmt], local: Local) -> bool {
    for stmt in stmts {
        match stmt {
            Stmt::Set(l, _) if *l == local => return true,
            Stmt::Let(_, Op::Get(l)) if *l == local => return false,
            _ => {}
        }
        let mentions = |block: &&Block| {
            let mut found = false;
            block.for_each_stmt(&mut |s| {
                found |= matches!(s, Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) if *l == local)
            });
            found
        };
        let inside: Vec<&Block> = stmt.blocks().into_iter().filter(mentions).collect();
        if inside.is_empty() {
            continue;
        }
        // A later statement may read it after a path around this construct, unless both sides of an `if` set it.
        let here = inside.iter().all(|b| set_first(&b.stmts, local));
        if matches!(stmt, Stmt::If { then, els, .. } if [then, els].iter().all(|b| surely_set(&b.stmts, local))) {
            return here;
        }
        let later = stmts.iter().skip_while(|s| !std::ptr::eq(*s, stmt)).skip(1).any(|s| {
            matches!(s, Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) if *l == local) || s.blocks().iter().any(mentions)
        });
        // A loop's step finds set only what its body surely set, and `continue` skips sets.
        return here && !later && !matches!(stmt, Stmt::Switch { .. });
    }
    true
}

/// True if one of the statements sets a local on every path.
fn surely_set(stmts: &[Stmt], local: Local) -> bool {
    let plain = stmts.iter().take_while(|s| s.blocks().is_empty() && !s.is_terminator());
    plain.into_iter().any(|s| matches!(s, Stmt::Set(l, _) if *l == local))
}

/// The constructs that threads leave one by one.
struct Masks<'a, 'f> {
    facts: &'a SplitFacts<'f>,
    masked: HashSet<Label>,
    masked_return: bool,
    diverges: bool,
    /// The nodes around: the label of each, and whether masks say which threads are inside.
    path: Vec<(Option<Label>, bool)>,
}

impl Masks<'_, '_> {
    fn sequence(&mut self, sequence: &Sequence, block: &Block) {
        for node in &sequence.nodes {
            match node {
                Node::Region(range) => block.stmts[range.clone()].iter().for_each(|s| self.inside(s, &mut Vec::new())),
                Node::Jump(i) => self.jump(&block.stmts[*i]),
                Node::Barrier(_) | Node::Collective(_) => {}
                Node::If { stmt, then, els } => {
                    let Stmt::If { cond, then: a, els: b } = &block.stmts[*stmt] else { continue };
                    let masked = !self.facts.shared[cond.index()];
                    self.diverges |= masked;
                    self.path.push((None, masked));
                    self.sequence(then, a);
                    self.sequence(els, b);
                    self.path.pop();
                }
                Node::Loop { stmt, body, step } => {
                    let Stmt::Loop { label, body: a, step: b } = &block.stmts[*stmt] else { continue };
                    self.path.push((Some(*label), self.masked.contains(label)));
                    self.sequence(body, a);
                    self.sequence(step, b);
                    self.path.pop();
                }
                Node::Scope { stmt, body } => {
                    let Stmt::Scope { label, body: a } = &block.stmts[*stmt] else { continue };
                    self.path.push((Some(*label), self.masked.contains(label)));
                    self.sequence(body, a);
                    self.path.pop();
                }
            }
        }
    }

    /// A jump between regions.
    fn jump(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Break(l) | Stmt::Continue(l) => {
                let within = self.path.iter().rev().take_while(|(label, _)| *label != Some(*l));
                if within.clone().any(|(_, masked)| *masked) {
                    self.masked.insert(*l);
                }
            }
            Stmt::Return(_) => self.masked_return |= self.path.iter().any(|(_, masked)| *masked),
            _ => {}
        }
    }

    /// Jumps of single threads out of a region.
    fn inside(&mut self, stmt: &Stmt, own: &mut Vec<Label>) {
        match stmt {
            Stmt::Break(l) | Stmt::Continue(l) if !own.contains(l) => {
                self.masked.insert(*l);
            }
            Stmt::Return(_) => self.masked_return = true,
            _ => {}
        }
        let label = match stmt {
            Stmt::Loop { label, .. } | Stmt::Switch { label, .. } | Stmt::Scope { label, .. } => Some(*label),
            _ => None,
        };
        own.extend(label);
        for inner in stmt.blocks() {
            inner.stmts.iter().for_each(|s| self.inside(s, own));
        }
        own.truncate(own.len() - usize::from(label.is_some()));
    }
}

//! Selects of slots' addresses: `c ? a : b` of two structs is a pointer into one of two slots, which keeps both in memory. A load through it
//! becomes a load of each and a select of what they hold, or a branch where one of the loads may fault; a store becomes a branch. After it
//! the slots may be promoted.
//!
//! A pointer is resolved if it is a select between pointers, one of them into a slot, and all its uses are loads, stores, checks of
//! alignment, and pointers that are made of it and resolved too.

use crate::ir::{Block, Const, Function, Op, Slot, Stmt, Stride, Type, Value};
use crate::source::Span;

/// The most pointers that one pointer is a select of: each of its loads becomes as many.
const MAX_LEAVES: u32 = 8;

/// Resolves selects; true if there were any.
pub fn run(func: &mut Function) -> bool {
    if func.slots.is_empty() {
        return false;
    }
    let found = Found::of(func);
    if !found.selects.iter().any(Option::is_some) {
        return false;
    }
    let mut body = std::mem::take(&mut func.body);
    let trees = vec![None; func.values.len()];
    Rewrite { func, found: &found, trees }.block(&mut body);
    func.body = body;
    true
}

/// The place of a pointer in a slot; without an offset, if that is not a constant.
type SlotPlace = (Slot, Option<i64>);

fn moved(place: SlotPlace, by: Option<i64>) -> SlotPlace {
    let (slot, offset) = place;
    (slot, offset.zip(by).and_then(|(offset, by)| offset.checked_add(by)))
}

struct Found {
    ints: Vec<Option<i64>>,
    places: Vec<Option<SlotPlace>>,
    /// For each pointer that is resolved: how many pointers it is a select of.
    selects: Vec<Option<u32>>,
    /// Each of these beside one that it is made of, in the order of the text; true if it is that one and an offset.
    bases: Vec<(Value, Value, bool)>,
}

impl Found {
    fn of(func: &Function) -> Self {
        let count = func.values.len();
        let mut found =
            Found { ints: vec![None; count], places: vec![None; count], selects: vec![None; count], bases: Vec::new() };
        func.body.for_each_stmt(&mut |stmt| found.make(func, stmt));
        let mut stays = vec![false; count];
        func.body.for_each_stmt(&mut |stmt| found.uses(stmt, &mut stays));
        // A pointer that stays needs what it is made of. Values are made before they are used, so one walk back finds all.
        for &(made, base, _) in found.bases.iter().rev() {
            stays[base.index()] |= stays[made.index()];
        }
        for (leaves, stays) in found.selects.iter_mut().zip(stays) {
            leaves.take_if(|_| stays);
        }
        // A pointer moved from one that stays is a pointer like others.
        for &(made, base, is_moved) in &found.bases {
            if is_moved && found.selects[base.index()].is_none() {
                found.selects[made.index()] = None;
            }
        }
        found
    }

    fn make(&mut self, func: &Function, stmt: &Stmt) {
        match stmt {
            Stmt::Let(v, Op::Const(Const::Int(_, n))) => self.ints[v.index()] = Some(*n),
            Stmt::Let(v, Op::SlotAddr(slot)) => self.places[v.index()] = Some((*slot, Some(0))),
            Stmt::Let(v, Op::PtrAdd { ptr, index, stride }) => {
                let by = self.ints[index.index()].and_then(|n| n.checked_mul(i64::from(stride.bytes())));
                self.places[v.index()] = self.places[ptr.index()].map(|place| moved(place, by));
                self.selects[v.index()] = self.selects[ptr.index()];
                self.note_base(*v, *ptr, true);
            }
            Stmt::Let(v, Op::Select(_, a, b)) if func.ty(*v) == Type::Ptr => {
                let leaves = |p: &Value| self.selects[p.index()];
                let is_of_slot = |p: &Value| leaves(p).is_some() || self.places[p.index()].is_some();
                let sum = leaves(a).unwrap_or(1) + leaves(b).unwrap_or(1);
                if sum <= MAX_LEAVES && (is_of_slot(a) || is_of_slot(b)) {
                    self.selects[v.index()] = Some(sum);
                }
                self.note_base(*v, *a, false);
                self.note_base(*v, *b, false);
            }
            _ => {}
        }
    }

    fn note_base(&mut self, made: Value, base: Value, is_moved: bool) {
        if self.selects[base.index()].is_some() {
            self.bases.push((made, base, is_moved));
        }
    }

    /// Marks pointers with a use that is not resolved.
    fn uses(&self, stmt: &Stmt, stays: &mut [bool]) {
        match stmt {
            Stmt::Let(_, Op::Load { .. }) | Stmt::Aligned { .. } => {}
            Stmt::Let(v, Op::PtrAdd { .. } | Op::Select(..)) if self.selects[v.index()].is_some() => {}
            Stmt::Store { value, .. } => stays[value.index()] = true,
            other => other.for_each_value(|v| stays[v.index()] = true),
        }
    }
}

/// The pointers that a pointer is a select of.
#[derive(Debug, Clone)]
enum Tree {
    /// One pointer, and its place if that is in a slot.
    Leaf(Value, Option<SlotPlace>),
    /// One of two by a condition.
    Select(Value, Box<[Tree; 2]>),
}

struct Rewrite<'a> {
    func: &'a mut Function,
    found: &'a Found,
    /// The trees of resolved pointers that are made.
    trees: Vec<Option<Tree>>,
}

impl Rewrite<'_> {
    fn block(&mut self, block: &mut Block) {
        let old = std::mem::take(block);
        for (stmt, span) in old.stmts.into_iter().zip(old.spans) {
            self.stmt(stmt, span, block);
        }
    }

    fn resolved(&self, v: Value) -> Option<Tree> {
        self.trees.get(v.index()).cloned().flatten()
    }

    /// The tree of any pointer.
    fn tree(&self, v: Value) -> Tree {
        self.resolved(v).unwrap_or_else(|| Tree::Leaf(v, self.found.places.get(v.index()).copied().flatten()))
    }

    fn stmt(&mut self, mut stmt: Stmt, span: Span, out: &mut Block) {
        match &mut stmt {
            Stmt::Let(v, Op::Select(cond, a, b)) if self.found.selects[v.index()].is_some() => {
                self.trees[v.index()] = Some(Tree::Select(*cond, Box::new([self.tree(*a), self.tree(*b)])));
                return;
            }
            Stmt::Let(v, Op::PtrAdd { ptr, index, stride }) if self.found.selects[v.index()].is_some() => {
                let (tree, span) = (self.tree(*ptr), self.func.values[v.index()].span);
                self.trees[v.index()] = Some(self.add(tree, (*index, *stride), span, out));
                return;
            }
            Stmt::Let(v, Op::Load { ptr, ty, volatile }) => {
                if let Some(tree) = self.resolved(*ptr) {
                    self.load(&tree, *v, (*ty, *volatile), self.access_span(*ptr, span), out);
                    return;
                }
            }
            Stmt::Store { ptr, .. } | Stmt::Aligned { ptr, .. } => {
                if let Some(tree) = self.resolved(*ptr) {
                    let span = self.access_span(*ptr, span);
                    self.branch(&tree, &stmt, span, out);
                    return;
                }
            }
            other => other.blocks_mut().into_iter().for_each(|inner| self.block(inner)),
        }
        out.push(stmt, span);
    }

    /// The place of an access: the expression of its pointer, where that is part of the statement.
    fn access_span(&self, ptr: Value, stmt: Span) -> Span {
        match self.func.values[ptr.index()].span {
            part if part.file == stmt.file && part.start >= stmt.start && part.end <= stmt.end => part,
            _ => stmt,
        }
    }

    /// Moves each pointer of a tree.
    fn add(&mut self, tree: Tree, by: (Value, Stride), span: Span, out: &mut Block) -> Tree {
        match tree {
            Tree::Leaf(ptr, place) => {
                let (to, (index, stride)) = (self.func.new_value(Type::Ptr, span), by);
                out.push(Stmt::Let(to, Op::PtrAdd { ptr, index, stride }), span);
                let by = self.found.ints[index.index()].and_then(|n| n.checked_mul(i64::from(stride.bytes())));
                Tree::Leaf(to, place.map(|place| moved(place, by)))
            }
            Tree::Select(cond, arms) => {
                let arms = arms.map(|arm| self.add(arm, by, span, out));
                Tree::Select(cond, Box::new(arms))
            }
        }
    }

    /// Binds `result` to what a tree points at.
    fn load(&mut self, tree: &Tree, result: Value, how: (Type, bool), span: Span, out: &mut Block) {
        let (ty, volatile) = how;
        match tree {
            Tree::Leaf(ptr, _) => out.push(Stmt::Let(result, Op::Load { ptr: *ptr, ty, volatile }), span),
            Tree::Select(cond, arms) if !volatile && arms.iter().all(|arm| self.is_readable(arm, ty)) => {
                let values = [0, 1].map(|i| {
                    let value = self.func.new_value(ty, span);
                    self.load(&arms[i], value, how, span, out);
                    value
                });
                out.push(Stmt::Let(result, Op::Select(*cond, values[0], values[1])), span);
            }
            Tree::Select(cond, arms) => {
                let local = self.func.new_local("", ty);
                let [then, els] = [0, 1].map(|i| {
                    let (value, mut block) = (self.func.new_value(ty, span), Block::default());
                    self.load(&arms[i], value, how, span, &mut block);
                    block.push(Stmt::Set(local, value), span);
                    block
                });
                out.push(Stmt::If { cond: *cond, then, els }, span);
                out.push(Stmt::Let(result, Op::Get(local)), span);
            }
        }
    }

    /// Runs `stmt`, a store or a check of alignment, with the pointer that a tree selects.
    fn branch(&mut self, tree: &Tree, stmt: &Stmt, span: Span, out: &mut Block) {
        match tree {
            Tree::Leaf(pointer, place) => {
                let mut stmt = stmt.clone();
                match &mut stmt {
                    Stmt::Aligned { align, .. } if self.is_aligned(*place, *align) => return,
                    Stmt::Store { ptr, .. } | Stmt::Aligned { ptr, .. } => *ptr = *pointer,
                    _ => {}
                }
                out.push(stmt, span);
            }
            Tree::Select(cond, arms) => {
                let [then, els] = [0, 1].map(|i| {
                    let mut block = Block::default();
                    self.branch(&arms[i], stmt, span, &mut block);
                    block
                });
                if !then.is_empty() || !els.is_empty() {
                    out.push(Stmt::If { cond: *cond, then, els }, span);
                }
            }
        }
    }

    /// True for a tree whose pointers can all be read, whichever the conditions select.
    fn is_readable(&self, tree: &Tree, ty: Type) -> bool {
        match tree {
            Tree::Leaf(_, Some((slot, Some(offset)))) => {
                let (size, end) = (i64::from(ty.size()), i64::from(self.func.slots[slot.index()].size));
                let is_inside = *offset >= 0 && offset.checked_add(size).is_some_and(|past| past <= end);
                is_inside && self.is_aligned(Some((*slot, Some(*offset))), ty.size())
            }
            Tree::Leaf(..) => false,
            Tree::Select(_, arms) => arms.iter().all(|arm| self.is_readable(arm, ty)),
        }
    }

    fn is_aligned(&self, place: Option<SlotPlace>, align: u32) -> bool {
        let Some((slot, Some(offset))) = place else { return false };
        self.func.slots[slot.index()].align >= align && offset % i64::from(align) == 0
    }
}

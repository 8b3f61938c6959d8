//! Promotion of slots to locals: a struct's members, a vector's lanes, a small array's elements, and variables whose address was taken only
//! to be passed to a function that is now inlined, live in registers.
//!
//! A slot is promoted if its address is only used by loads and stores of scalars and pointers at constant offsets inside it, aligned, and
//! no two of them overlap without covering the same bytes. Each such place becomes a local. A read as another type of the same size keeps
//! the bits (except those of a pointer, which also says which memory it points into). Locals and slots start as the same poison, once per
//! thread, so even a program that reads memory it never wrote sees no change. A slot whose address is kept in another slot is promoted
//! after that one.

use std::collections::BTreeMap;

use crate::ir::{Block, Const, Function, Local, Op, Scalar, Slot, Stmt, Type, Value};
use crate::source::Span;

/// The most places of a slot that is promoted: a slot with more is an array, and better in memory.
const MAX_CELLS: usize = 64;

/// The place that a pointer points at: a slot and an offset in bytes.
type SlotPlace = (Slot, i64);

/// Promotes slots where possible; true if any was promoted.
pub fn run(func: &mut Function) -> bool {
    if func.slots.is_empty() {
        return false;
    }
    let facts = SlotFacts::of(func);
    let places = facts.places;
    let mut locals = BTreeMap::new();
    let mut kept = Vec::new();
    for (i, cells) in facts.cells.into_iter().enumerate() {
        let slot = Slot::new(i);
        let Some(cells) = cells.filter(is_disjoint) else {
            kept.push(slot);
            continue;
        };
        let name = func.slots[i].name.clone();
        for (offset, ty) in cells {
            let name = if offset == 0 { name.clone() } else { format!("{name}+{offset}") };
            locals.insert((slot, offset), (func.new_local(name, ty), ty));
        }
    }
    if kept.len() == func.slots.len() {
        return false;
    }
    let mut numbers = vec![None; func.slots.len()];
    for (new, old) in kept.iter().enumerate() {
        numbers[old.index()] = Some(Slot::new(new));
    }
    let mut body = std::mem::take(&mut func.body);
    Rewrite { func, places: &places, locals: &locals, numbers: &numbers }.block(&mut body);
    func.body = body;
    let mut numbers = numbers.iter();
    func.slots.retain(|_| numbers.next().is_some_and(Option::is_some));
    true
}

/// The types at the offsets of a slot that are accessed; `None` if it has to stay in memory.
type Cells = Option<BTreeMap<i64, Type>>;

fn is_disjoint(cells: &BTreeMap<i64, Type>) -> bool {
    let ends = cells.iter().map(|(offset, ty)| offset + i64::from(ty.size()));
    cells.len() <= MAX_CELLS && ends.zip(cells.keys().skip(1)).all(|(end, next)| end <= *next)
}

struct SlotFacts<'f> {
    func: &'f Function,
    ints: Vec<Option<i64>>,
    places: Vec<Option<SlotPlace>>,
    cells: Vec<Cells>,
}

impl<'f> SlotFacts<'f> {
    fn of(func: &'f Function) -> Self {
        let count = func.values.len();
        let cells = vec![Some(BTreeMap::new()); func.slots.len()];
        let mut facts = SlotFacts { func, ints: vec![None; count], places: vec![None; count], cells };
        func.body.for_each_stmt(&mut |stmt| facts.stmt(stmt));
        facts
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(v, Op::Const(Const::Int(_, n))) => self.ints[v.index()] = Some(*n),
            Stmt::Let(v, Op::SlotAddr(slot)) => self.places[v.index()] = Some((*slot, 0)),
            Stmt::Let(v, Op::PtrAdd { ptr, index, stride }) => {
                let Some((slot, offset)) = self.places[ptr.index()] else { return };
                let by = self.ints[index.index()].and_then(|n| n.checked_mul(i64::from(stride.bytes())));
                match by.and_then(|by| offset.checked_add(by)) {
                    Some(offset) => self.places[v.index()] = Some((slot, offset)),
                    None => self.cells[slot.index()] = None,
                }
            }
            Stmt::Let(_, Op::Load { ptr, ty, volatile: false }) => self.access(*ptr, *ty),
            Stmt::Store { ptr, value, volatile: false } => {
                self.escape(*value);
                self.access(*ptr, self.func.ty(*value));
            }
            other => other.for_each_value(|v| self.escape(v)),
        }
    }

    fn escape(&mut self, v: Value) {
        if let Some((slot, _)) = self.places[v.index()] {
            self.cells[slot.index()] = None;
        }
    }

    fn access(&mut self, ptr: Value, ty: Type) {
        let Some((slot, offset)) = self.places[ptr.index()] else { return };
        let data = &self.func.slots[slot.index()];
        let size = i64::from(ty.size());
        let inside = offset >= 0 && offset.checked_add(size).is_some_and(|end| end <= i64::from(data.size));
        let aligned = offset % size == 0 && data.align >= ty.size();
        let place = &mut self.cells[slot.index()];
        let Some(cells) = place else { return };
        let seen = *cells.entry(offset).or_insert(ty);
        // A truth value in memory is a byte that may hold more than 0 or 1.
        let has_bits = |ty: Type| ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool);
        let same = seen == ty || seen.size() == ty.size() && has_bits(seen) && has_bits(ty);
        if !inside || !aligned || !same {
            *place = None;
        }
    }
}

struct Rewrite<'a> {
    func: &'a mut Function,
    places: &'a [Option<SlotPlace>],
    locals: &'a BTreeMap<SlotPlace, (Local, Type)>,
    /// The new number of each slot; `None` if it is gone.
    numbers: &'a [Option<Slot>],
}

impl Rewrite<'_> {
    fn local(&self, ptr: Value) -> Option<(Local, Type)> {
        self.places.get(ptr.index()).copied().flatten().and_then(|place| self.locals.get(&place)).copied()
    }

    fn is_gone(&self, v: Value) -> bool {
        let place = self.places.get(v.index()).copied().flatten();
        place.is_some_and(|(slot, _)| self.numbers[slot.index()].is_none())
    }

    fn block(&mut self, block: &mut Block) {
        let old = std::mem::take(block);
        for (stmt, span) in old.stmts.into_iter().zip(old.spans) {
            self.stmt(stmt, span, block);
        }
    }

    fn stmt(&mut self, mut stmt: Stmt, span: Span, out: &mut Block) {
        match &mut stmt {
            Stmt::Let(v, _) if self.is_gone(*v) => return,
            Stmt::Let(_, Op::SlotAddr(slot)) => {
                if let Some(new) = self.numbers[slot.index()] {
                    *slot = new;
                }
            }
            Stmt::Let(v, Op::Load { ptr, ty, .. }) => {
                if let Some((local, held)) = self.local(*ptr) {
                    match *ty {
                        Type::Scalar(scalar) if held != *ty => {
                            let bits = self.func.new_value(held, span);
                            out.push(Stmt::Let(bits, Op::Get(local)), span);
                            out.push(Stmt::Let(*v, Op::Bitcast(scalar, bits)), span);
                        }
                        _ => out.push(Stmt::Let(*v, Op::Get(local)), span),
                    }
                    return;
                }
            }
            Stmt::Store { ptr, value, .. } => {
                if let Some((local, held)) = self.local(*ptr) {
                    let mut stored = *value;
                    if let Type::Scalar(scalar) = held
                        && self.func.ty(stored) != held
                    {
                        stored = self.func.new_value(held, span);
                        out.push(Stmt::Let(stored, Op::Bitcast(scalar, *value)), span);
                    }
                    out.push(Stmt::Set(local, stored), span);
                    return;
                }
            }
            other => other.blocks_mut().into_iter().for_each(|inner| self.block(inner)),
        }
        out.push(stmt, span);
    }
}

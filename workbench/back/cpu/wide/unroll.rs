//! Unrolling of loops whose rounds are all known: loops with barriers whose rounds follow from the block's extents (the steps of a tree of
//! reductions), short loops whose bounds follow from a launch's scalars, and loops whose counter is an index of a thread's own array
//! (`for (i = 0; i < 8; ++i) sums[i] += ..`), which then lives in registers ([`arrays_in_registers`]).
//!
//! Each round of `for (int s = blockDim.x / 2; s > 0; s >>= 1)` is a region in which only the first `s` threads do anything. With a number
//! for `s` the region is built for those threads alone.

use std::collections::{HashMap, HashSet};

use super::value_forms::first_exit;
use crate::back::Dim3;
use crate::ir::{BinaryOp, Block, Builtin, Const, Function, Label, Local, Op, Scalar, Stmt, Value, eval};
use crate::pass::{fold, promote};

/// Most rounds of a loop that is unrolled.
const MAX_ROUNDS: usize = 12;

/// Most statements that a loop may become.
const MAX_STATEMENTS: usize = 600;

/// Most statements that a loop without barriers may become.
const MAX_PLAIN: usize = 250;

/// Most statements that all loops of a function may become in one go.
const MAX_ALL: usize = 4000;

/// Most rounds of a loop that goes through a thread's own array.
const MAX_ELEMENTS: usize = 64;

/// Deepest nesting of loops that are unrolled.
const MAX_NESTED: usize = 3;

/// The loops without barriers that are unrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    No,
    /// Short ones.
    Short,
    /// Those whose counter is an index of a thread's own array.
    OfArrays,
}

/// Unrolls the loops that it can, and those that lie in them; true if there were any.
pub fn unroll(func: &mut Function, block: Dim3, plain: Plain) -> bool {
    let mut any = false;
    for _ in 0..MAX_NESTED {
        if !unroll_once(func, block, plain) {
            break;
        }
        fold::run(func);
        any = true;
    }
    any
}

/// Unrolls the loops that go through a thread's own arrays, and turns these into locals; false, and nothing is changed, where all arrays would
/// stay in memory.
pub fn arrays_in_registers(func: &mut Function, block: Dim3) -> bool {
    if func.slots.is_empty() {
        return false;
    }
    let mut unrolled = func.clone();
    let is_done = unroll(&mut unrolled, block, Plain::OfArrays) && promote::run(&mut unrolled);
    if is_done {
        fold::run(&mut unrolled);
        *func = unrolled;
    }
    is_done
}

/// The pointers into slots.
fn into_slots(func: &Function) -> HashSet<Value> {
    let mut found = HashSet::new();
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Let(v, op) = stmt
            && (matches!(op, Op::SlotAddr(_)) || matches!(op, Op::PtrAdd { ptr, .. } if found.contains(ptr)))
        {
            found.insert(*v);
        }
    });
    found
}

fn unroll_once(func: &mut Function, block: Dim3, plain: Plain) -> bool {
    let slots = if plain == Plain::OfArrays { into_slots(func) } else { HashSet::new() };
    let mut body = std::mem::take(&mut func.body);
    let mut unroller = Unroller { func, block, plain, slots, room: MAX_ALL, constants: HashMap::new(), any: false };
    unroller.block(&mut body);
    let any = unroller.any;
    func.body = body;
    any
}

struct Unroller<'f> {
    func: &'f mut Function,
    block: Dim3,
    plain: Plain,
    /// The pointers into slots.
    slots: HashSet<Value>,
    /// The number of statements that loops may still become.
    room: usize,
    /// The known values.
    constants: HashMap<Value, Const>,
    any: bool,
}

/// A loop whose rounds are all known.
struct Rounds {
    local: Local,
    /// The value of the local in each round.
    counts: Vec<Const>,
    /// The place of the loop's exit.
    exit: usize,
    /// The number of statements of all rounds.
    size: usize,
}

impl Unroller<'_> {
    fn block(&mut self, block: &mut Block) {
        // The known values of locals, as far as they follow from this block.
        let mut locals: HashMap<Local, Const> = HashMap::new();
        let old = std::mem::take(block);
        for (mut stmt, span) in old.stmts.into_iter().zip(old.spans) {
            match &stmt {
                Stmt::Let(v, op) => {
                    if let Some(c) = self.value(op, &locals) {
                        self.constants.insert(*v, c);
                    }
                }
                Stmt::Set(l, v) => match self.constants.get(v) {
                    Some(c) => drop(locals.insert(*l, *c)),
                    None => drop(locals.remove(l)),
                },
                _ => {}
            }
            let rounds = self.rounds(&stmt, &locals);
            for inner in stmt.blocks() {
                inner.for_each_stmt(&mut |s| {
                    if let Stmt::Set(l, _) = s {
                        locals.remove(l);
                    }
                });
            }
            match (rounds, stmt) {
                (Some(rounds), Stmt::Loop { body, step, .. }) => {
                    self.any = true;
                    self.room -= rounds.size;
                    for count in rounds.counts {
                        let mut copy =
                            Copy { names: HashMap::new(), labels: HashMap::new(), counter: (rounds.local, count) };
                        for part in [&body, &step] {
                            for (i, (stmt, span)) in part.stmts.iter().zip(&part.spans).enumerate() {
                                if !(std::ptr::eq(part, &raw const body) && i == rounds.exit) {
                                    block.push(copy.stmt(self.func, stmt), *span);
                                }
                            }
                        }
                    }
                }
                (_, other) => {
                    stmt = other;
                    for inner in stmt.blocks_mut() {
                        self.block(inner);
                    }
                    block.push(stmt, span);
                }
            }
        }
    }

    /// The value of an op, if known.
    fn value(&self, op: &Op, locals: &HashMap<Local, Const>) -> Option<Const> {
        let of = |v: &Value| self.constants.get(v).copied();
        match op {
            Op::Const(c) => Some(*c),
            Op::Get(l) => locals.get(l).copied(),
            Op::Builtin(Builtin::BlockDim(d)) => {
                let Dim3 { x, y, z } = self.block;
                [x, y, z].get(usize::from(*d)).map(|n| Const::Int(Scalar::U32, i64::from(*n)))
            }
            Op::Unary(op, a) => eval::unary(*op, of(a)?),
            Op::Binary(op, a, b) => eval::binary(*op, of(a)?, of(b)?),
            Op::Compare(op, a, b) => eval::compare(*op, of(a)?, of(b)?),
            Op::Convert(to, a) => eval::convert(*to, of(a)?),
            _ => None,
        }
    }

    /// The rounds of a loop, if its counter is known: a local that its step alone sets, from itself.
    fn rounds(&self, stmt: &Stmt, locals: &HashMap<Local, Const>) -> Option<Rounds> {
        let Stmt::Loop { label, body, step } = stmt else { return None };
        let (exit, cond, stays) = first_exit(stmt)?;
        // The last round runs up to its exit, and the statements before it may fault.
        if goes_on(body, *label) || body.stmts[..exit].iter().any(may_fault) {
            return None;
        }
        let counts: HashSet<Local> = (body.stmts[..exit].iter())
            .filter_map(|s| match s {
                Stmt::Let(_, Op::Get(l)) => Some(*l),
                _ => None,
            })
            .collect();
        let local = *counts.iter().next().filter(|_| counts.len() == 1)?;
        let (most, most_rounds) = match self.plain {
            _ if body.stmts.iter().any(|s| matches!(s, Stmt::Barrier(_))) => (MAX_STATEMENTS, MAX_ROUNDS),
            Plain::Short => (MAX_PLAIN, MAX_ROUNDS),
            Plain::OfArrays if self.goes_through_array(body, local) => (MAX_STATEMENTS, MAX_ELEMENTS),
            _ => return None,
        };
        let mut sets = 0;
        for block in [body, step] {
            block.for_each_stmt(&mut |s| sets += usize::from(matches!(s, Stmt::Set(l, _) if *l == local)));
        }
        let next = step.stmts.iter().find_map(|s| match s {
            Stmt::Set(l, v) if *l == local => Some(*v),
            _ => None,
        })?;
        if sets != 1 {
            return None;
        }
        let mut count = *locals.get(&local)?;
        let mut found = Vec::new();
        loop {
            if self.in_round(&body.stmts[..exit], cond, (local, count))? != Const::Bool(stays) {
                let size = (body.count() + step.count()) * found.len();
                return (size <= most.min(self.room)).then_some(Rounds { local, counts: found, exit, size });
            }
            if found.len() == most_rounds {
                return None;
            }
            found.push(count);
            count = self.in_round(&step.stmts, next, (local, count))?;
        }
    }

    /// True if an index of a thread's own array is computed from a local.
    fn goes_through_array(&self, body: &Block, local: Local) -> bool {
        let (mut of_local, mut found) = (HashSet::new(), false);
        body.for_each_stmt(&mut |stmt| {
            let Stmt::Let(v, op) = stmt else { return };
            let is_of_local = match op {
                Op::Get(l) => *l == local,
                Op::PtrAdd { ptr, index, .. } => {
                    found |= self.slots.contains(ptr) && of_local.contains(index);
                    of_local.contains(ptr)
                }
                Op::Binary(..) | Op::Unary(..) | Op::Convert(..) => op.operands().iter().any(|v| of_local.contains(v)),
                _ => false,
            };
            if is_of_local {
                of_local.insert(*v);
            }
        });
        found
    }

    /// The value of an operand in a round.
    fn in_round(&self, stmts: &[Stmt], wanted: Value, (local, count): (Local, Const)) -> Option<Const> {
        let mut inner = Unroller {
            func: &mut Function::new("", self.func.kind, self.func.span),
            block: self.block,
            plain: self.plain,
            slots: HashSet::new(),
            room: 0,
            constants: self.constants.clone(),
            any: false,
        };
        let locals = HashMap::from([(local, count)]);
        for stmt in stmts {
            if let Stmt::Let(v, op) = stmt
                && let Some(c) = inner.value(op, &locals)
            {
                inner.constants.insert(*v, c);
            }
        }
        inner.constants.get(&wanted).copied()
    }
}

fn may_fault(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(_, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..) | Op::Load { .. }) => true,
        Stmt::Let(..) => false,
        _ => true,
    }
}

fn goes_on(block: &Block, label: Label) -> bool {
    let mut found = false;
    block.for_each_stmt(&mut |s| found |= matches!(s, Stmt::Continue(l) if *l == label));
    found
}

/// A copy of a round: each has its own names for values and labels.
struct Copy {
    names: HashMap<Value, Value>,
    labels: HashMap<Label, Label>,
    counter: (Local, Const),
}

impl Copy {
    fn stmt(&mut self, func: &mut Function, stmt: &Stmt) -> Stmt {
        let mut new = stmt.clone();
        new.map_values(|v| self.names.get(&v).copied().unwrap_or(v));
        if let Stmt::Let(_, op @ Op::Get(_)) = &mut new
            && *op == Op::Get(self.counter.0)
        {
            *op = Op::Const(self.counter.1);
        }
        if let Some(v) = stmt.result() {
            let data = func.values[v.index()];
            let own = func.new_value(data.ty, data.span);
            self.names.insert(v, own);
            if let Some(result) = new.result_mut() {
                *result = own;
            }
        }
        if let Stmt::Loop { label, .. } | Stmt::Scope { label, .. } | Stmt::Switch { label, .. } = &mut new {
            let own = func.new_label();
            self.labels.insert(*label, own);
            *label = own;
        }
        if let Stmt::Break(label) | Stmt::Continue(label) = &mut new {
            *label = self.labels.get(label).copied().unwrap_or(*label);
        }
        for block in new.blocks_mut() {
            let old = std::mem::take(block);
            for (stmt, span) in old.stmts.iter().zip(&old.spans) {
                block.push(self.stmt(func, stmt), *span);
            }
        }
        new
    }
}

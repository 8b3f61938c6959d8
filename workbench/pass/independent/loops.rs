//! Loops that wait for a write by another thread of the block.
//!
//! A block's threads run from split to split one after the other, so a thread can wait only for a write that a thread before it makes, or
//! that is made before the last split. Loops that wait for a write by a later thread are found here. Left out are loops that wait for other
//! blocks, and these, which need no order:
//!
//! - writes after a barrier that the waiting thread does not pass, and writes before a split that it has passed;
//! - writes of the one thread that waits itself;
//! - locks: anything taken in the loop, by whichever thread, and given back in the same stretch. Between two threads of a stretch it is
//!   free;
//! - loops in which all threads wait for the same thing, so that none gets to the writes after the loop before the others can.

use super::joins_block;
use super::lanes::Tables;
use super::places::{self, Place, Relation};
use super::shapes::{self, Shapes};
use crate::ir::{AtomicOp, CompareOp, Function, Module, Op, Stmt, Value};
use crate::pass::pointers::{self, Origin};
use crate::pass::regions::Splits;
use crate::pass::uniformity::{self, Shape, Uniformity};
use crate::pass::waits;

/// The number of pairs of a loop and a write up to which a function is analysed.
const MAX: usize = 1 << 16;

/// Memory that a pointer is into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    Param(u32),
    Global(usize),
    Shared(usize),
    Own,
}

/// The way in which a loop reads memory while it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// It reads.
    Look,
    /// It takes a thing that is free.
    Take,
    /// It writes a value computed from what it read, and ends by itself.
    Try,
}

/// True if a thread may have to wait in a loop for a later thread of its block.
pub fn may_wait(module: &Module, func: &Function) -> bool {
    let mut any = false;
    func.body.for_each_stmt(&mut |stmt| any |= matches!(stmt, Stmt::Loop { .. }));
    if !any {
        return false;
    }
    let marked = waits::find(func);
    if !marked.contains(&true) {
        return false;
    }
    let is_wait = |stmt: &Stmt| matches!(stmt, Stmt::Loop { label, .. } if marked[label.index()]);
    let memory = |op: &Op| match op {
        Op::Param(i) => Origin::One(Memory::Param(*i)),
        Op::GlobalAddr(g) => Origin::One(Memory::Global(g.index())),
        Op::SharedAddr(m) => Origin::One(Memory::Shared(m.index())),
        _ => Origin::One(Memory::Own),
    };
    let finder = Finder {
        func,
        origins: pointers::origins(func, memory),
        tables: Tables::new(func),
        shapes: Shapes::new(func, 0, &[], &[]),
        uniformity: uniformity::analyze(module, func),
        splits: Splits::new(func),
        barriers: places::find(func, &joins_block),
    };
    let loops = places::find(func, &is_wait);
    let writes = places::find(func, &|stmt| finder.changes(stmt));
    if loops.len().saturating_mul(writes.len()) > MAX {
        return false;
    }
    loops.iter().any(|wait| finder.needs(wait, &writes))
}

/// A loop that waits.
struct Wait<'p, 'f> {
    place: &'p Place<'f>,
    asks: Vec<(Place<'f>, Ask, Origin<Memory>)>,
    /// True if all threads wait for the same thing.
    is_same: bool,
    /// True if it takes something.
    takes: bool,
}

struct Finder<'f> {
    func: &'f Function,
    origins: Vec<Origin<Memory>>,
    tables: Tables<'f>,
    /// The shapes of values over the block.
    shapes: Shapes,
    uniformity: Uniformity,
    splits: Splits,
    barriers: Vec<Place<'f>>,
}

impl<'f> Finder<'f> {
    /// True if a statement may change memory that others see.
    fn changes(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Store { ptr, .. } => self.origins[ptr.index()] != Origin::One(Memory::Own),
            Stmt::Atomic { ptr, .. } => {
                self.origins[ptr.index()] != Origin::One(Memory::Own)
                    && !shapes::keeps(stmt, &|v| self.tables.number(v))
            }
            _ => false,
        }
    }

    /// The way in which an atomic or a volatile read asks, in a loop that gives the values `inside`.
    fn ask(&self, stmt: &Stmt, inside: &[bool]) -> Option<(Ask, Origin<Memory>)> {
        let read = |v: Value, ptr: Value| self.was_read(v, self.origins[ptr.index()], inside);
        let (ask, ptr) = match stmt {
            // The address of the next read depends on the value of this one.
            Stmt::Let(_, Op::Load { ptr, volatile: true, .. }) if read(*ptr, *ptr) => (Ask::Try, *ptr),
            Stmt::Let(_, Op::Load { ptr, volatile: true, .. }) => (Ask::Look, *ptr),
            Stmt::Atomic { op, ptr, value, compare, .. } => {
                let counts = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Inc | AtomicOp::Dec);
                let ask = if shapes::keeps(stmt, &|v| self.tables.number(v)) {
                    Ask::Look
                } else if counts || read(compare.unwrap_or(*value), *ptr) {
                    Ask::Try
                } else {
                    Ask::Take
                };
                (ask, *ptr)
            }
            _ => return None,
        };
        Some((ask, self.origins[ptr.index()]))
    }

    /// True if a value was computed from what memory held, read by one of the values `inside`.
    fn was_read(&self, v: Value, memory: Origin<Memory>, inside: &[bool]) -> bool {
        let (mut seen, mut work) = (vec![false; self.func.values.len()], vec![v]);
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut seen[v.index()], true) {
                continue;
            }
            match self.tables.made[v.index()] {
                Some(Stmt::Let(_, Op::Load { ptr, .. }) | Stmt::Atomic { ptr, .. })
                    if inside[v.index()] && may_be_same(self.origins[ptr.index()], memory) =>
                {
                    return true;
                }
                Some(Stmt::Let(_, Op::Get(l))) => work.extend(&self.tables.sets[l.index()]),
                Some(Stmt::Let(_, op)) => op.for_each_value(|v| work.push(v)),
                _ => {}
            }
        }
        false
    }

    fn wait<'p>(&self, place: &'p Place<'f>) -> Wait<'p, 'f> {
        let mut inside = vec![false; self.func.values.len()];
        for block in place.stmt().blocks() {
            block.for_each_stmt(&mut |stmt| stmt.result().into_iter().for_each(|v| inside[v.index()] = true));
        }
        let reads = |stmt: &Stmt| matches!(stmt, Stmt::Atomic { .. } | Stmt::Let(_, Op::Load { volatile: true, .. }));
        let within = places::find(self.func, &reads).into_iter().filter(|ask| place.holds(ask));
        let asks: Vec<_> = within
            .filter_map(|place| {
                let (ask, memory) = self.ask(place.stmt(), &inside)?;
                Some((place, ask, memory))
            })
            .collect();
        let Stmt::Loop { label, body, step } = place.stmt() else {
            return Wait { place, asks, is_same: false, takes: false };
        };
        let same = |v: &Value| self.shapes.is_same(*v);
        let is_same = asks.iter().all(|(ask, kind, _)| match (ask.stmt(), kind) {
            (Stmt::Let(_, Op::Load { ptr, .. }) | Stmt::Atomic { ptr, .. }, Ask::Look) => same(ptr),
            (Stmt::Atomic { value, compare, .. }, Ask::Take) => same(value) && compare.iter().all(same),
            _ => true,
        });
        let mut jumps = Vec::new();
        for stmt in body.stmts.iter().chain(&step.stmts) {
            self.shapes.jumps(stmt, &mut jumps);
        }
        let is_same = is_same && !self.shapes.left[label.index()] && jumps.iter().all(|(_, again)| *again);
        let takes = asks.iter().any(|(_, ask, _)| *ask == Ask::Take);
        Wait { place, asks, is_same, takes }
    }

    fn needs(&self, place: &Place<'f>, writes: &[Place<'f>]) -> bool {
        // Threads that come to a barrier in the loop go round together.
        if self.barriers.iter().any(|barrier| place.holds(barrier)) {
            return false;
        }
        let wait = self.wait(place);
        if wait.asks.iter().all(|(_, ask, _)| *ask == Ask::Try) {
            return false;
        }
        writes.iter().any(|write| self.may_end(&wait, write))
    }

    /// True if a write may end the wait, and may be made by a later thread.
    fn may_end(&self, wait: &Wait<'_, 'f>, write: &Place<'f>) -> bool {
        let place = wait.place;
        let to = match write.stmt() {
            Stmt::Store { ptr, .. } | Stmt::Atomic { ptr, .. } => self.origins[ptr.index()],
            _ => return false,
        };
        let concerns =
            |(_, ask, memory): &(Place<'f>, Ask, Origin<Memory>)| *ask != Ask::Try && may_be_same(*memory, to);
        if !wait.asks.iter().any(concerns) || self.is_one_thread(place, write) {
            return false;
        }
        match place.relation(write) {
            Relation::Within => {
                let is_node = self.holds_split(place);
                let own = wait.asks.iter().find(|(ask, ..)| std::ptr::eq(ask.stmt(), write.stmt()));
                let is_given_back = || {
                    let same = |v: &Value| self.shapes.is_same(*v);
                    wait.asks.iter().any(|(ask, kind, _)| {
                        *kind == Ask::Take
                            && ask.is_on_way_to(write)
                            && matches!(ask.stmt(), Stmt::Atomic { value, compare, .. }
                                if same(value) && compare.iter().all(same))
                    })
                };
                match own {
                    Some((ask, Ask::Take, _)) => match ask.stmt() {
                        Stmt::Atomic { value, compare, .. } => {
                            !(self.shapes.is_same(*value) && compare.iter().all(|c| self.shapes.is_same(*c)))
                        }
                        _ => true,
                    },
                    Some(_) => false,
                    None => !is_node && !is_given_back(),
                }
            }
            Relation::Sides(i) => {
                let apart = match place.levels[i].stmt() {
                    Stmt::If { cond, .. } => self.uniformity.is_uniform(*cond),
                    _ => false,
                };
                let is_first = write.levels[i].side < place.levels[i].side;
                let done = is_first && self.splits_within(place.levels[i].stmt());
                !apart && !done || self.comes_round(wait, write, i)
            }
            Relation::Order(i, true) => {
                let is_cut = self.barriers.iter().any(|barrier| {
                    matches!(place.relation(barrier), Relation::Order(_, true)) && barrier.is_on_way_to(write)
                });
                !is_cut && !self.is_passed(wait, write, i) || self.comes_round(wait, write, i)
            }
            Relation::Order(i, false) => {
                let (first, last) = (write.levels[i].at, place.levels[i].at);
                let block = place.levels[i].block;
                let is_done =
                    block.stmts[first..=last].iter().any(|stmt| self.splits.is_split(stmt) || self.splits_within(stmt));
                !is_done || self.comes_round(wait, write, i)
            }
        }
    }

    /// True if all threads that come to a write after the loop have been through the loop, and no thread waits for a thing that another
    /// one has taken.
    fn is_passed(&self, wait: &Wait<'_, 'f>, write: &Place<'f>, level: usize) -> bool {
        let on_the_way = wait.place.levels[level..wait.place.last()].iter().all(|step| match step.stmt() {
            Stmt::If { cond, .. } => self.shapes.is_same(*cond),
            Stmt::Loop { label, .. } => !self.shapes.left[label.index()],
            Stmt::Scope { .. } => true,
            _ => false,
        });
        let (first, last) = (wait.place.levels[level].at, write.levels[level].at);
        let stretch = &wait.place.levels[level].block.stmts[first..=last];
        let is_cut = stretch.iter().any(|stmt| self.splits.is_split(stmt) || self.splits_within(stmt));
        wait.is_same && on_the_way && !(wait.takes && is_cut)
    }

    /// True if another thread may come to a write in a later round of a loop around both.
    fn comes_round(&self, wait: &Wait<'_, 'f>, write: &Place<'f>, level: usize) -> bool {
        let place = wait.place;
        (0..level).any(|i| {
            let is_loop = matches!(place.levels[i].stmt(), Stmt::Loop { .. });
            let is_cut = || self.barriers.iter().any(|barrier| barrier.is_always_in(place, i));
            let passes = || {
                let on_the_way = place.levels[i + 1..place.last()].iter().all(|step| match step.stmt() {
                    Stmt::If { cond, .. } => self.shapes.is_same(*cond),
                    Stmt::Scope { .. } => true,
                    _ => false,
                });
                on_the_way && wait.is_same && !(wait.takes && self.splits_within(place.levels[i].stmt()))
            };
            is_loop && place.both_in(write, i) && !is_cut() && !passes()
        })
    }

    fn holds_split(&self, place: &Place<'f>) -> bool {
        self.splits_within(place.stmt())
    }

    fn splits_within(&self, stmt: &Stmt) -> bool {
        stmt.blocks().into_iter().any(|block| self.splits.within(block))
    }

    /// True if one thread alone, the same, comes to both.
    fn is_one_thread(&self, a: &Place<'f>, b: &Place<'f>) -> bool {
        a.guards.iter().any(|(one, holds)| {
            let same = |(other, there): &(Value, bool)| {
                there == holds && (other == one || self.table(*one).is_some_and(|t| self.table(*other) == Some(t)))
            };
            self.is_single(*one, *holds, 0) && b.guards.iter().any(same)
        })
    }

    fn table(&self, v: Value) -> Option<Vec<bool>> {
        self.tables.truth(v)
    }

    /// True if at most one thread of the block has `cond` equal to `holds`.
    fn is_single(&self, cond: Value, holds: bool, depth: usize) -> bool {
        if depth > 8 {
            return false;
        }
        if let Some(truth) = self.table(cond) {
            return truth.iter().filter(|t| **t == holds).count() == 1;
        }
        let wanted = if holds { CompareOp::Eq } else { CompareOp::Ne };
        match self.tables.op(cond) {
            Some(Op::Compare(op, a, b)) if *op == wanted => {
                let grows = |v: Value| matches!(self.uniformity.value(v), Shape::Affine { exact: true, .. });
                let is_uniform = |v: Value| self.uniformity.is_uniform(v);
                grows(*a) && is_uniform(*b) || is_uniform(*a) && grows(*b)
            }
            Some(Op::Binary(crate::ir::BinaryOp::And, a, b)) if holds => {
                self.is_single(*a, true, depth + 1) || self.is_single(*b, true, depth + 1)
            }
            Some(Op::Unary(crate::ir::UnaryOp::Not, a)) => self.is_single(*a, !holds, depth + 1),
            _ => false,
        }
    }
}

/// True if two pointers may be into the same memory.
fn may_be_same(a: Origin<Memory>, b: Origin<Memory>) -> bool {
    match (a, b) {
        (Origin::One(a), Origin::One(b)) => a == b,
        (Origin::Nothing, _) | (_, Origin::Nothing) => false,
        _ => true,
    }
}

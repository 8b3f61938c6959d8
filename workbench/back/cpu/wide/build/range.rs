//! Loops whose accesses are checked once, before the first round, and long rows of threads whose accesses are.
//!
//! Where a loop counts up to a bound that does not change, and an access is at a place that moves evenly with the counter, the places in
//! the first and the last round bound all others. If both are in bounds, for each such access, the loop runs without their checks; else it
//! runs with them. The conditions are computed in 128 bits, which nothing here leaves, or in 64 where that is certain: a 32-bit number
//! that is widened has to be in its type's range at both ends, where it then is what the kernel computes modulo 2^32. The groups of a long
//! row are such a loop, which counts the threads' places in it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::control::Stretch;
use super::line::{LARGE, Line};
use super::names::Name;
use super::{Builder, Form, Version};
use crate::back::Dim3;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::cpu::wide::value_forms::{LANES, first_exit};
use crate::back::lane::build::{all, int, long, ty, uint};
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{Expr, Field};
use crate::ir::{BinaryOp, Block, CompareOp, Local, Op, Scalar, Stmt, Type, Value};

/// Bytes to look ahead: what a memory's latency is worth.
const AHEAD: i64 = 6144;

/// Most rounds to look ahead: strides that are powers of two all fall on the same lines of the first cache, which has eight or twelve of each
/// and does not keep the oldest of them for long. A histogram of bytes is a tenth faster by three than by eight.
const MOST_AHEAD: i64 = 3;

/// Bound on the places of a row: blocks of up to 1024 threads.
const MOST_PLACES: f64 = 2.2e12;

/// Bounds that numbers of a loop may have, on the condition that they do, so that 64 bits are enough for what they are multiplied by.
pub(super) const CAPS: [Option<i64>; 5] = [None, Some(1 << 30), Some(1 << 24), Some(1 << 20), Some(1 << 17)];

/// The thing that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    Local(Local),
    /// A thread's place in a long row.
    Place,
    /// No variable; `threadIdx` differs.
    Threads,
}

/// The bound of a loop that counts.
pub(super) struct Bound {
    value: Value,
    /// True if it is passed by the last round's counter, and not reached.
    inclusive: bool,
    /// The step of a round.
    by: Value,
}

/// The counter of a loop.
pub(super) struct Counter {
    pub counts: Counts,
    /// Bound on its absolute value.
    pub most: f64,
    /// The bound that other numbers have to keep.
    pub cap: Option<i64>,
    /// The locals that the loop sets, and the values that it defines.
    pub sets: HashSet<Local>,
    pub own: HashSet<Value>,
    pub version: Version,
}

/// On what condition an access is in bounds.
pub(super) struct Bounds {
    pub conditions: Vec<Expr>,
    /// The largest number on the way there.
    pub peak: f64,
    /// The place in a round, for the group or for each chunk, where 64 bits hold all of that.
    pub lines: Option<Vec<Expr>>,
    /// The bytes that one more of the counter moves a read of neighbours.
    per_count: Option<Expr>,
    /// The start of the row, of reads of neighbours in long rows, which a thread's place moves by an element.
    row: Option<Expr>,
}

impl Bounds {
    /// None yet.
    pub fn of(counter: &Counter) -> Self {
        Bounds { conditions: Vec::new(), peak: counter.most, lines: None, per_count: None, row: None }
    }

    /// Computes in 64 bits, where that is enough.
    pub fn narrow(&mut self) {
        if self.peak < LARGE {
            self.conditions.iter_mut().for_each(|condition| *condition = narrowed(condition));
        }
    }
}

/// The same expression in 64 bits instead of 128.
pub(super) fn narrowed(expr: &Expr) -> Expr {
    expr.replaced(&|part| match part {
        Expr::Cast(of, inner) if *of == ty::WIDE => Some(narrowed(inner).cast(ty::I64)),
        _ => None,
    })
}

/// An end of what a loop counts, or what it counts now.
#[derive(Clone, Copy)]
pub(super) enum End {
    First,
    Last,
    Now,
}

/// Facts about pointers where a statement is made.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Those whose accesses are in bounds.
    pub proven: HashSet<Value>,
    /// Those that are aligned.
    pub even: HashSet<Value>,
    /// Offsets of proven ones as lines of what is counted, for the group or for each chunk: of 64 bits throughout, so that the
    /// compiler sees what is the same in all rounds and what moves by a constant.
    pub lines: HashMap<Value, Vec<Expr>>,
    /// Bytes that are the same in memory where they are used: what the loop writes besides is the block's own.
    pub bytes: HashSet<Value>,
    /// The starts of the rows that are read from each array (a parameter) of elements of that size, in the order of their C.
    pub rows: BTreeMap<(u32, u32), BTreeMap<String, Expr>>,
    /// Conditions that are the same for all, and what they are.
    pub taken: HashMap<Value, bool>,
    /// True if nothing else may fault.
    pub safe: bool,
}

impl Known {
    /// Adds what is known within a loop.
    pub fn extend(&mut self, other: Known) {
        self.proven.extend(other.proven);
        self.even.extend(other.even);
        self.lines.extend(other.lines);
        self.bytes.extend(other.bytes);
        self.rows.extend(other.rows);
        self.taken.extend(other.taken);
        self.safe |= other.safe;
    }
}

/// Accesses of a loop that need no checks.
pub(super) struct Unchecked {
    /// On what condition.
    pub test: Expr,
    /// Facts about their pointers.
    pub known: Known,
}

impl Builder<'_> {
    /// The condition on which some accesses of a loop need no checks, and their pointers; `None` where there are none.
    pub(super) fn unchecked(&mut self, stmt: &Stmt, version: Version) -> Result<Option<Unchecked>> {
        let Some((mut counter, bound, body, step)) = self.counter(stmt, version) else { return Ok(None) };
        let Some(ends) = self.ends(&counter, &bound)? else { return Ok(None) };
        self.unchecked_by(&mut counter, Some(&bound), (ends, Known::default()), &[body, step].map(Stretch::of))
    }

    /// As [`Builder::unchecked`], of the groups of all long rows; declares the places of the first group and of the last.
    pub(super) fn unchecked_row(&mut self, group: u32) -> Result<Option<Unchecked>> {
        let body = &self.func.body;
        let (mut sets, mut own) = (HashSet::new(), HashSet::new());
        body.for_each_stmt(&mut |stmt| {
            if let Stmt::Set(l, _) = stmt {
                sets.insert(*l);
            }
            own.extend(stmt.result());
        });
        let mut counter =
            Counter { counts: Counts::Place, most: MOST_PLACES, cap: None, sets, own, version: Version::Together };
        let group = || int(i64::from(group));
        self.define(Name::First(0), ty::I64, self.begin_of_row());
        let first = self.get(Name::First(0));
        let last = first.clone() + self.get(Name::Length) / group() * group() - group();
        self.define(Name::Last(0), ty::I64, last);
        let conditions = vec![first.le(self.get(Name::Last(0)))];
        self.unchecked_by(&mut counter, None, (conditions, Known::default()), &[Stretch::of(body)])
    }

    /// The accesses of some statements, on the given conditions, on which something is known, and on others.
    pub(super) fn unchecked_by(
        &mut self,
        counter: &mut Counter,
        bound: Option<&Bound>,
        (mut conditions, mut known): (Vec<Expr>, Known),
        blocks: &[Stretch<'_>],
    ) -> Result<Option<Unchecked>> {
        let (mut accesses, mut sure, mut aligned) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = false;
        let (mut bytes, mut writes) = (HashSet::new(), false);
        let taken = &known.taken;
        let for_each = |f: &mut dyn FnMut(&Stmt)| blocks.iter().for_each(|stretch| stretch.for_each_stmt(taken, f));
        for_each(&mut |stmt| match stmt {
            Stmt::Let(v, Op::Load { ty: Type::Scalar(Scalar::U8), .. }) => drop(bytes.insert(*v)),
            Stmt::Store { ptr, .. } | Stmt::Atomic { ptr, .. } => {
                writes |= !matches!(self.root_of(*ptr), Root::Shared(_));
            }
            _ => {}
        });
        for_each(&mut |stmt| match stmt {
            Stmt::Atomic { ptr, value, .. }
                if self.is_in_table(*ptr, *value) && !self.may_be_odd(*ptr, self.scalar(*value)) =>
            {
                sure.push(*ptr);
            }
            Stmt::Let(_, Op::Load { ptr, ty: Type::Scalar(s), .. }) => accesses.push((*ptr, *s, false)),
            Stmt::Store { ptr, value, .. } => {
                if let Some(s) = self.func.ty(*value).scalar() {
                    accesses.push((*ptr, s, true));
                }
            }
            Stmt::Aligned { ptr, align } => aligned.push((*ptr, *align)),
            Stmt::Let(v, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) => others |= !self.scalar(*v).is_float(),
            Stmt::Let(..) | Stmt::Set(..) | Stmt::If { .. } | Stmt::Scope { .. } => {}
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) => {}
            _ => others = true,
        });
        aligned.extend(
            accesses.iter().filter(|(ptr, s, _)| self.may_be_odd(*ptr, *s)).map(|(ptr, s, _)| (*ptr, s.size())),
        );
        known.bytes = if writes { HashSet::new() } else { bytes };
        let found = self.all_bounds(&accesses, counter)?;
        others |= found.iter().any(Option::is_none);
        for (ptr, align) in aligned {
            match self.evenness(ptr, align, counter)? {
                Some(bounds) => {
                    known.even.insert(ptr);
                    conditions.extend(bounds.conditions);
                }
                None => others = true,
            }
        }
        // Other accesses that may fault must find every store checked: after a fault it writes no more.
        for ((ptr, s, write), bounds) in accesses.iter().zip(found) {
            if let (Some(per_count), Some(bound)) = (bounds.as_ref().and_then(|b| b.per_count.as_ref()), bound) {
                self.look_ahead(*ptr, *s, per_count, (counter, bound));
            }
            if let Some(bounds) = bounds.filter(|_| !(*write && others)) {
                known.proven.insert(*ptr);
                conditions.extend(bounds.conditions);
                known.lines.extend(bounds.lines.map(|lines| (*ptr, lines)));
                if let (Some(row), Root::Param(i)) = (bounds.row, self.root_of(*ptr)) {
                    known.rows.entry((i, s.size())).or_default().insert(self.k.text_of(&row), row);
                }
            }
        }
        if !others {
            known.proven.extend(sure);
        }
        // Bounds are linear in the rows' numbers, so that the first and the last bound all between.
        for (name, [first, last]) in self.rows.into_iter().zip(self.row_ends(counter)) {
            let is_row = |part: &Expr| *part == Expr::Var(name);
            let at = |condition: &Expr, end: &Expr| condition.replaced(&|part| is_row(part).then(|| end.clone()));
            let ends = |condition: Expr| match condition.has(&is_row) {
                true => vec![at(&condition, &first), at(&condition, &last)],
                false => vec![condition],
            };
            conditions = conditions.into_iter().flat_map(ends).collect();
        }
        // Each once, in the order of their C.
        let conditions: BTreeMap<String, Expr> =
            conditions.into_iter().map(|condition| (self.k.text_of(&condition), condition)).collect();
        known.safe = !others;
        let is_any = !known.proven.is_empty() && conditions.len() <= 120;
        let is_well = !self.field(Field::Faulted);
        let test = all([is_well].into_iter().chain(conditions.into_values()));
        Ok(is_any.then_some(Unchecked { test, known }))
    }

    /// The counter of a loop: a local that its step alone sets, by adding a uniform number, up to a bound that does not change.
    fn counter<'s>(&self, stmt: &'s Stmt, version: Version) -> Option<(Counter, Bound, &'s Block, &'s Block)> {
        let Stmt::Loop { body, step, .. } = stmt else { return None };
        let (at, cond, stays) = first_exit(stmt)?;
        // Loads before the exit are done once more than there are rounds; statements behind the step's `Set` have the next counter.
        let is_load = |s: &Stmt| matches!(s, Stmt::Let(_, Op::Load { .. }));
        let is_plain = |s: &Stmt| matches!(s, Stmt::Set(..) | Stmt::Let(..)) && !is_load(s);
        if body.stmts[..at].iter().any(is_load) || !step.stmts.iter().all(is_plain) {
            return None;
        }
        let mut sets = Vec::new();
        let mut own = HashSet::new();
        let mut inner = false;
        let mut look = |stmt: &Stmt| {
            match stmt {
                Stmt::Set(l, v) => sets.push((*l, *v)),
                Stmt::Loop { .. } => inner = true,
                _ => {}
            }
            own.extend(stmt.result());
        };
        [body, step].into_iter().for_each(|block| block.for_each_stmt(&mut look));
        let Some(Op::Compare(op, a, b)) = self.op_of(cond) else { return None };
        let (op, first, bound) = match (op, stays) {
            (CompareOp::Lt | CompareOp::Le, true) => (*op, *a, *b),
            (CompareOp::Gt | CompareOp::Ge, true) => (*op, *b, *a),
            (CompareOp::Ge | CompareOp::Gt, false) => (*op, *a, *b),
            (CompareOp::Le | CompareOp::Lt, false) => (*op, *b, *a),
            _ => return None,
        };
        let inclusive =
            matches!((op, stays), (CompareOp::Le | CompareOp::Ge, true) | (CompareOp::Gt | CompareOp::Lt, false));
        let Some(Op::Get(local)) = self.op_of(first) else { return None };
        let mut own_sets = sets.iter().filter(|(l, _)| l == local);
        let (Some((_, next)), None) = (own_sets.next(), own_sets.next()) else { return None };
        let in_step = step.stmts.iter().any(|s| matches!(s, Stmt::Set(l, _) if l == local));
        let next = self.same_bits(*next);
        let Some(Op::Binary(BinaryOp::Add, x, y)) = self.op_of(next) else { return None };
        let is_own = |v: &Value| matches!(self.op_of(self.same_bits(*v)), Some(Op::Get(l)) if l == local);
        let by = match (is_own(x), is_own(y)) {
            (true, false) => *y,
            (false, true) => *x,
            _ => return None,
        };
        let s = self.func.locals[local.index()].ty.scalar()?;
        let fits = matches!(s, Scalar::I32 | Scalar::U32 | Scalar::I64) && in_step && !inner;
        let sets = sets.into_iter().map(|(l, _)| l).collect();
        let most = if s.bits() == 32 { 4.3e9 } else { 9.3e18 };
        let counter = Counter { counts: Counts::Local(*local), most, cap: None, sets, own, version };
        let fits = fits && self.func.ty(bound).scalar() == Some(s);
        fits.then_some((counter, Bound { value: bound, inclusive, by }, body, step))
    }

    /// The value of the same bits, whatever its sign.
    fn same_bits(&self, v: Value) -> Value {
        match self.op_of(v) {
            Some(Op::Convert(to, a))
                if self.func.ty(*a).scalar().is_some_and(|s| s.is_int() && s.bits() == to.bits()) =>
            {
                self.same_bits(*a)
            }
            _ => v,
        }
    }

    /// Declares the counter at both ends, once or for each chunk: `first<u>` and `last<u>`; the conditions on which these are the ends.
    fn ends(&mut self, counter: &Counter, given: &Bound) -> Result<Option<Vec<Expr>>> {
        let Counts::Local(local) = counter.counts else { return Ok(None) };
        let (is_apart, form) = self.local(local, counter.version);
        let reach = self.reach(form);
        let s = self.func.locals[local.index()].ty.scalar();
        let (Some(s), false) = (s, form == Form::Lanes || reach < 0) else { return Ok(None) };
        let parts = (self.line_of(given.value, 0, counter, 0), self.line_of(given.by, 0, counter, 0));
        let (Some(bound), Some(by)) = parts else { return Ok(None) };
        let group = |v| self.ahead(v, counter.version) == Form::Group;
        if !(bound.is_plain() && by.is_plain() && group(given.value) && group(given.by)) {
            return Ok(None);
        }
        let most = match s {
            Scalar::I32 => i64::from(i32::MAX),
            Scalar::U32 => i64::from(u32::MAX),
            _ => i64::MAX,
        };
        let is_narrow = bound.peak.max(by.peak).max(counter.most) < LARGE;
        let (number, bound, by) = match is_narrow {
            true => (ty::I64, narrowed(&bound.a), narrowed(&by.a)),
            false => (ty::WIDE, bound.a, by.a),
        };
        let last = if given.inclusive { bound } else { bound - int(1) };
        let times = self.times(form);
        for u in 0..times {
            let now = self.local_part(local, is_apart, if form.is_whole() { None } else { Some(u) });
            self.define(Name::First(u), number.clone(), now.cast(number.clone()));
            self.define(Name::Last(u), number.clone(), last.clone() - int(reach));
        }
        let grows = by.clone().gt(int(0)).both((last + by).le(long(most)));
        let mut all = vec![grows];
        all.extend((0..times).map(|u| self.get(Name::First(u)).le(self.get(Name::Last(u)))));
        Ok(Some(all))
    }

    /// The place of a group's first thread in a long row.
    pub(super) fn place_in_row(&self) -> Expr {
        self.begin_of_row() + self.get(Name::Thread)
    }

    /// The start of a long row.
    pub(super) fn begin_of_row(&self) -> Expr {
        self.get(Name::FirstBlock).cast(ty::I64) * self.span()
    }

    /// Lines of the counter as it is: what stands for it and for the numbers of rows becomes what they are where the accesses are.
    fn in_this_round(&self, lines: Vec<Expr>, counter: &Counter) -> Vec<Expr> {
        let Dim3 { y, .. } = self.geometry.block;
        let of = |(chunk, line): (u32, Expr)| {
            let line = narrowed(&line);
            match counter.counts {
                Counts::Place => line.replaced(&|part| match part {
                    Expr::Var(var) if *var == self.now[0] => Some(self.place_in_row()),
                    Expr::Var(var) if *var == self.rows[1] => Some(self.get(Name::Row) % uint(y)),
                    Expr::Var(var) if *var == self.rows[2] => Some(self.get(Name::Row) / uint(y)),
                    _ => None,
                }),
                Counts::Threads => self.at_chunk(&line, chunk),
                Counts::Local(local) => {
                    let (is_apart, form) = self.local(local, counter.version);
                    let now = |u: usize| {
                        self.local_part(local, is_apart, if form.is_whole() { None } else { Some(u as u32) })
                    };
                    self.at_chunk(&line, chunk).replaced(&|part| match part {
                        Expr::Var(var) => self.now.iter().position(|of| of == var).map(now),
                        _ => None,
                    })
                }
            }
        };
        (0..).zip(lines).map(of).collect()
    }

    /// The conditions of accesses (pointers, what is there, whether it is written), computed in 64 bits if that can be had.
    fn all_bounds(&mut self, accesses: &[(Value, Scalar, bool)], counter: &mut Counter) -> Result<Vec<Option<Bounds>>> {
        let most = counter.most;
        let mut first = None;
        for cap in CAPS {
            counter.cap = cap;
            if let (Counts::Local(_), Some(cap)) = (counter.counts, cap) {
                counter.most = most.min(cap as f64);
            }
            let mut found = Vec::new();
            for (ptr, s, write) in accesses {
                found.push(self.bounds(*ptr, *s, *write, counter)?);
            }
            if found.iter().flatten().all(|b| b.peak < LARGE) {
                return Ok(found);
            }
            first.get_or_insert(found);
        }
        Ok(first.unwrap_or_default())
    }

    /// The counter of a chunk's first thread at an end.
    pub(super) fn at_end(&self, end: End, counter: &Counter, u: u32) -> Expr {
        let form = match counter.counts {
            Counts::Local(local) => self.local(local, counter.version).1,
            Counts::Place => Form::Row(1),
            Counts::Threads => Form::Group,
        };
        let of = |u: u32| {
            let counted = match end {
                End::First => self.get(Name::First(u)),
                End::Last => self.get(Name::Last(u)),
                End::Now => Expr::Var(self.now[u as usize]),
            };
            counted.cast(ty::WIDE)
        };
        match form {
            Form::Row(step) if u > 0 => of(0) + int(step * i64::from(LANES * u)),
            form if form.is_whole() => of(0),
            _ => of(u),
        }
    }

    /// The conditions on which an expression is the line that it looks like, given the counter at both ends.
    pub(super) fn what_lines_need(&self, line: &Line, ends: &[Expr; 2], counter: &Counter) -> Vec<Expr> {
        let mut all = Vec::new();
        for need in &line.needs {
            let ends = if need.b.is_none() { &ends[..1] } else { &ends[..] };
            all.extend(ends.iter().map(|end| need.at(end)));
        }
        if let (Counts::Local(_), Some(cap)) = (counter.counts, counter.cap) {
            all.extend(ends.iter().map(|end| NumberOp::Within.on([end.clone(), int(-cap), int(cap)])));
        }
        all
    }

    /// The conditions on which an access is in bounds in all rounds; `None` where nothing is known.
    fn bounds(&mut self, ptr: Value, s: Scalar, write: bool, counter: &Counter) -> Result<Option<Bounds>> {
        let root = self.root_of(ptr);
        if matches!(root, Root::Slot(_) | Root::Null | Root::Unset | Root::Dynamic) {
            return Ok(None);
        }
        let form = self.ahead(ptr, counter.version);
        let size = i64::from(s.size());
        if form == Form::Lanes {
            return Ok(None);
        }
        // The first of neighbours tells where the window of limits allows it; of others both ends do.
        let near = form.slope() == Some(size);
        // The corners of a block's threads are those of chunks.
        let form = match form {
            Form::Row(step) if counter.counts == Counts::Threads => Form::Line(step),
            form => form,
        };
        let reach = self.reach(form);
        let mut all = Bounds::of(counter);
        let mut ahead = None;
        let mut now = Vec::new();
        for u in 0..self.times(form) {
            let Some(line) = self.line_of(ptr, u, counter, 0) else { return Ok(None) };
            let (_, limit) = self.both_limits(root, write, s.size())?;
            let limit = limit.cast(ty::WIDE);
            let (first, last) = (self.at_end(End::First, counter, u), self.at_end(End::Last, counter, u));
            let slope = line.b.known();
            let (low, high) = match slope {
                Some(slope) if slope < 0 => (&last, &first),
                _ => (&first, &last),
            };
            // Either end may be either where it is not known which is which.
            let both = slope.is_none();
            let most = if near { limit.clone() - int(reach) } else { limit.clone() };
            let add = |place: Expr, by: i64| if by == 0 { place } else { place + int(by) };
            let upper = if near { 0 } else { reach };
            all.conditions.push(add(line.at(low), reach.min(0)).ge(int(0)));
            all.conditions.push(add(line.at(high), upper.max(0)).lt(most.clone()));
            if both {
                all.conditions.push(add(line.at(high), reach.min(0)).ge(int(0)));
                all.conditions.push(add(line.at(low), upper.max(0)).lt(most));
            }
            if let Some((implied, _)) = line.implied {
                all.conditions.push(limit.le(long(implied)));
            }
            all.conditions.extend(self.what_lines_need(&line, &[first, last], counter));
            all.peak = all.peak.max(line.peak);
            now.push(line.at(&self.at_end(End::Now, counter, u)));
            if counter.counts == Counts::Place && near && !write && slope == Some(size) {
                all.row = Some(line.a.clone());
            }
            ahead = Some(self.at_chunk(&line.b.expr(), u));
        }
        all.narrow();
        all.lines = (all.peak < LARGE).then(|| self.in_this_round(now, counter));
        all.row = all.row.filter(|_| all.peak < LARGE).and_then(|row| self.in_this_round(vec![row], counter).pop());
        all.per_count = ahead.filter(|_| !write && near);
        Ok(Some(all))
    }

    /// Prefetches some of the rounds that follow where they are too far apart for the machine to see where they go; after the last ones for
    /// the first of the next block.
    fn look_ahead(&mut self, ptr: Value, s: Scalar, per_count: &Expr, (counter, bound): (&Counter, &Bound)) {
        // The machine sees by itself where small steps go.
        if self.known(bound.by).is_some() {
            return;
        }
        let Some(by) = self.line_of(bound.by, 0, counter, 0) else { return };
        let most = (AHEAD / (i64::from(LANES * self.chunks) * i64::from(s.size()))).clamp(1, MOST_AHEAD);
        let [per_count, by] = [per_count, &by.a].map(narrowed);
        let Some(next) = self.next_blocks.get(&ptr).cloned() else {
            self.looks_ahead.insert(ptr, per_count * by * int(most));
            return;
        };
        let n = self.fresh();
        let (first, last) = (self.get(Name::First(0)), self.get(Name::Last(0)));
        let by = self.constant_as(format!("by{n}"), ty::I64, by);
        let goes = by.clone().gt(int(0)).both(first.clone().le(last.clone()));
        let count = (last.clone().cast(ty::I64) - first.cast(ty::I64)) / by.clone() + int(1);
        let rounds = self.constant_as(format!("rounds{n}"), ty::I64, goes.choose(count, int(0)));
        let some = rounds.clone().lt(int(most)).choose(rounds.clone(), int(most));
        let far = self.constant_as(format!("far{n}"), ty::I64, by.clone() * some);
        let ahead = self.constant_as(format!("ahead{n}"), ty::I64, per_count.clone() * far.clone());
        let past = per_count * (far.clone() - by * rounds) + next;
        let past = self.constant_as(format!("past{n}"), ty::I64, past);
        let here = Expr::Var(self.now[0]).cast(ty::I64) + far;
        let wanted = here.le(last.cast(ty::I64)).choose(ahead, past);
        self.looks_ahead.extend(self.in_this_round(vec![wanted], counter).pop().map(|wanted| (ptr, wanted)));
    }
}

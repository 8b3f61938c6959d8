//! Regions without loops, of all of a block's threads at once: what the threads at its corners do bounds what the others do.
//!
//! Between barriers a kernel mostly brings a tile into shared memory, each thread an element or a few. Where an address is linear in each of
//! the thread's coordinates, those at the block's corners are its ends: if they are in bounds, so is every thread's. So are the sides of
//! comparisons of such numbers: where the corners are all inside an array, nobody has to be asked. The region is there for when all of
//! this holds, and as ever for when not.

use std::collections::HashMap;

use super::control::Stretch;
use super::line::LARGE;
use super::names::Name;
use super::range::{Bounds, CAPS, Counter, Counts, Known, Unchecked};
use super::{Builder, Form, MAX_TEXT, Version};
use crate::back::Dim3;
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::cpu::wide::value_forms::{FOLLOWED, LANES, SMALL};
use crate::back::lane::build::{int, long, ty, uint};
use crate::back::lane::tree::{Binary, Expr};
use crate::ir::{BinaryOp, Block, CompareOp, Local, Op, Scalar, Stmt, UnaryOp, Value};

/// Fewest threads of a block with which looking at its corners costs less than looking at each chunk.
const MIN_THREADS: u32 = 4 * LANES;

/// Most comparisons that one condition is made of.
const MAX_DEPTH: u32 = 6;

fn accesses(block: &Block) -> bool {
    let mut any = false;
    block.for_each_stmt(&mut |s| any |= matches!(s, Stmt::Let(_, Op::Load { .. }) | Stmt::Store { .. }));
    any
}

impl Builder<'_> {
    /// As [`Builder::unchecked`], of a region without loops: of all of a block's threads at once, where these fill whole chunks.
    pub(super) fn unchecked_region(&mut self, stretch: Stretch<'_>) -> Result<Option<Unchecked>> {
        let (Some(plan), Dim3 { x, .. }) = (self.split, self.geometry.block) else { return Ok(None) };
        // The text is there twice.
        if !x.is_multiple_of(LANES) || self.geometry.threads() < MIN_THREADS || self.k.length() > MAX_TEXT / 4 {
            return Ok(None);
        }
        // Values that a block has one of are known by now; all others are followed to what they are made of.
        let shared = |v: &Value| plan.values[v.index()] == ValueHome::Shared;
        let own = (0..self.func.values.len()).map(Value::new).filter(|v| !shared(v)).collect();
        let sets = (0..self.func.locals.len()).map(Local::new).collect();
        let mut counter =
            Counter { counts: Counts::Threads, most: 0.0, cap: None, sets, own, version: Version::Together };
        let (mut taken, mut conditions) = (HashMap::new(), Vec::new());
        self.take(stretch.stmts, &mut counter, &mut taken, &mut conditions);
        counter.cap = None;
        let known = Known { taken, ..Known::default() };
        let unchecked = self.unchecked_by(&mut counter, None, (conditions, known), &[stretch])?;
        Ok(unchecked.filter(|unchecked| unchecked.known.safe))
    }

    /// Finds conditions that all threads may find alike, as guards of accesses mostly are, and on what condition they do.
    fn take(
        &self,
        stmts: &[Stmt],
        counter: &mut Counter,
        taken: &mut HashMap<Value, bool>,
        conditions: &mut Vec<Expr>,
    ) {
        for stmt in stmts {
            let Stmt::If { cond, then, els } = stmt else { continue };
            // Conditions that a group shares cost nothing to ask for.
            if self.ahead(*cond, counter.version) == Form::Group {
                continue;
            }
            let side = taken.get(cond).copied();
            let wanted = side.unwrap_or(accesses(then) || !accesses(els));
            if side.is_none() {
                let Some(found) = self.agreed(*cond, wanted, counter) else { continue };
                taken.insert(*cond, wanted);
                conditions.extend(found);
            }
            self.take(if wanted { &then.stmts } else { &els.stmts }, counter, taken, conditions);
        }
    }

    /// On what conditions one is `wanted` for all threads, in 64 bits; none where that cannot be said.
    fn agreed(&self, cond: Value, wanted: bool, counter: &mut Counter) -> Option<Vec<Expr>> {
        CAPS.into_iter().find_map(|cap| {
            counter.cap = cap;
            let mut bounds = Bounds::of(counter);
            self.agree(cond, wanted, counter, (&mut bounds, 0))?;
            bounds.narrow();
            (bounds.peak < LARGE).then_some(bounds.conditions)
        })
    }

    fn agree(&self, cond: Value, wanted: bool, counter: &Counter, (all, depth): (&mut Bounds, u32)) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.ahead(cond, counter.version) == Form::Group && !counter.own.contains(&cond) {
            let one = self.one(cond, 0);
            all.conditions.push(if wanted { one } else { !one });
            return Some(());
        }
        match (self.op_of(cond)?, wanted) {
            (Op::Binary(BinaryOp::And, x, y), true) | (Op::Binary(BinaryOp::Or, x, y), false) => {
                self.agree(*x, wanted, counter, (&mut *all, depth + 1))?;
                self.agree(*y, wanted, counter, (all, depth + 1))
            }
            (Op::Unary(UnaryOp::Not, x), _) => self.agree(*x, !wanted, counter, (all, depth + 1)),
            (Op::Compare(op, a, b), _) => {
                let (less, a, b) = match (op, wanted) {
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => (Binary::Lt, *a, *b),
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => (Binary::Le, *a, *b),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => (Binary::Lt, *b, *a),
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => (Binary::Le, *b, *a),
                    _ => return None,
                };
                let ([_, a], [b, _]) = (self.ends_of(a, counter, all)?, self.ends_of(b, counter, all)?);
                all.conditions.push(a.with(less, b));
                Some(())
            }
            _ => None,
        }
    }

    /// The least and the most that a number is in a chunk; adds what that needs.
    fn ends_of(&self, v: Value, counter: &Counter, all: &mut Bounds) -> Option<[Expr; 2]> {
        let reach = match self.ahead(v, counter.version) {
            Form::Lanes => return None,
            form => form.slope().unwrap_or(0) * i64::from(LANES - 1),
        };
        let line = self.line_of(v, 0, counter, 0)?;
        let first = line.at(&int(0));
        let [least, most] = [reach.min(0), reach.max(0)].map(|by| first.clone() + int(by));
        // The counter has no range here: both its ends are 0.
        all.conditions.extend(self.what_lines_need(&line, &[int(0), int(0)], counter));
        all.peak = all.peak.max(line.peak);
        // The line is the number that the kernel computes where it is in its type's range.
        let (low, high) = match self.func.ty(v).scalar()? {
            Scalar::I32 => (long(-1 << 31), long(1 << 31)),
            Scalar::U32 => (int(0), long(1 << 32)),
            // Numbers that are computed below are far from its ends.
            Scalar::I64 => return Some([least, most]),
            Scalar::U64 => (int(0), long(i64::MAX)),
            _ => return None,
        };
        if self.forms[0].magnitude(v, FOLLOWED) >= SMALL {
            all.conditions.push(least.clone().ge(low));
            all.conditions.push(most.clone().lt(high));
        }
        Some([least, most])
    }

    /// True if a group's chunks are pieces of a block's rows, of which each begins where the one before would end or begins a row.
    pub(super) fn has_rows(&self) -> bool {
        let (Dim3 { x, y, .. }, group) = (self.geometry.block, LANES * self.chunks);
        let is_one = self.geometry.threads() == group;
        x.is_multiple_of(LANES)
            && (x.is_multiple_of(group) || group.is_multiple_of(x))
            && (is_one || (x * y).is_multiple_of(group))
    }

    /// The ends of what stands for `threadIdx`: of the block, or of the group.
    pub(super) fn row_ends(&self, counter: &Counter) -> [[Expr; 2]; 3] {
        let Dim3 { x, y, z } = self.geometry.block;
        let last = [x.saturating_sub(LANES), y - 1, z - 1];
        let of_block = last.map(|last| [int(0), int(i64::from(last))]);
        if !matches!(counter.counts, Counts::Local(_)) {
            return of_block;
        }
        let [[x0, y0, z0], [x1, y1, z1]] = [self.thread_of(0), self.thread_of(self.chunks - 1)];
        // Each of several rows has all of x.
        let [of_row, ..] = of_block;
        [if (LANES * self.chunks).is_multiple_of(x) { of_row } else { [x0, x1] }, [y0, y1], [z0, z1]]
    }

    /// An expression about a chunk's threads.
    pub(super) fn at_chunk(&self, expr: &Expr, u: u32) -> Expr {
        if !expr.has(&|part| matches!(part, Expr::Var(var) if self.rows.contains(var))) {
            return expr.clone();
        }
        let places = self.thread_of(u);
        expr.replaced(&|part| match part {
            Expr::Var(var) => self.rows.iter().position(|row| row == var).map(|i| places[i].clone()),
            _ => None,
        })
    }

    /// `threadIdx` of a chunk's first thread, in 64 bits: what is the same in all of a group, and what is known of the chunk.
    pub(super) fn thread_of(&self, u: u32) -> [Expr; 3] {
        let Dim3 { x, y, z } = self.geometry.block;
        let (first, group, plane) = (LANES * u, LANES * self.chunks, x * y);
        let is_one = self.geometry.threads() == group;
        let thread = || self.get(Name::Thread);
        let known = |n: u32| int(i64::from(n));
        let sum = |of: Expr, more: u32| match is_one {
            true => known(more),
            false => of.cast(ty::I64) + known(more),
        };
        let rows_of = |n: u32| group.is_multiple_of(n) && (is_one || plane.is_multiple_of(group));
        let in_row = x.is_multiple_of(group);
        [
            match () {
                () if x == LANES => int(0),
                () if y * z == 1 => sum(thread(), first),
                () if in_row => sum(thread() % uint(x), first),
                () if group.is_multiple_of(x) => known(first % x),
                () => ((thread() + known(first)) % uint(x)).cast(ty::I64),
            },
            match () {
                () if y == 1 => int(0),
                () if in_row => sum(thread() / uint(x) % uint(y), 0),
                () if rows_of(x) => sum(thread() / uint(x) % uint(y), first / x % y),
                () => ((thread() + known(first)) / uint(x) % uint(y)).cast(ty::I64),
            },
            match () {
                () if z == 1 => int(0),
                () if is_one => known(first / plane),
                () if plane.is_multiple_of(group) => sum(thread() / uint(plane), 0),
                () => ((thread() + known(first)) / uint(plane)).cast(ty::I64),
            },
        ]
    }
}

//! Regions without loops, of all of a block's threads at once: what the threads at its corners do bounds what the others do.
//!
//! Between barriers a kernel mostly brings a tile into shared memory, each thread an element or a few. Where an address is linear in each of
//! the thread's coordinates, those at the block's corners are its ends: if they are in bounds, so is every thread's. So are the sides of
//! comparisons of such numbers: where the corners are all inside an array, nobody has to be asked. The region is printed for when all of
//! this holds, and as ever for when not.

use std::collections::HashMap;

use super::control::Stretch;
use super::line::{LARGE, ROWS};
use super::range::{Bounds, CAPS, Counter, Counts, Known, Unchecked};
use super::{Form, MAX_TEXT, Printer, Version};
use crate::back::Dim3;
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::Result;
use crate::back::cpu::wide::forms::{FOLLOWED, LANES, SMALL};
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

impl Printer<'_> {
    /// As [`Printer::unchecked`], of a region without loops: of all of a block's threads at once, where these fill whole chunks.
    pub(super) fn unchecked_region(&mut self, stretch: Stretch<'_>) -> Result<Option<Unchecked>> {
        let (Some(plan), Dim3 { x, .. }) = (self.split, self.geometry.block) else { return Ok(None) };
        // The text is there twice.
        if !x.is_multiple_of(LANES) || self.geometry.threads() < MIN_THREADS || self.out.len() > MAX_TEXT / 4 {
            return Ok(None);
        }
        // What a block has one of is known by now; all else is what it is made of.
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
        conditions: &mut Vec<String>,
    ) {
        for stmt in stmts {
            let Stmt::If { cond, then, els } = stmt else { continue };
            // What a group shares costs nothing to ask for.
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
    fn agreed(&self, cond: Value, wanted: bool, counter: &mut Counter) -> Option<Vec<String>> {
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
            let sign = if wanted { "" } else { "!" };
            all.conditions.push(format!("{sign}{}", self.one(cond, 0)));
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
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => ("<", *a, *b),
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => ("<=", *a, *b),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => ("<", *b, *a),
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => ("<=", *b, *a),
                    _ => return None,
                };
                let (a, b) = (self.ends_of(a, counter, all)?, self.ends_of(b, counter, all)?);
                all.conditions.push(format!("{} {less} {}", a[1], b[0]));
                Some(())
            }
            _ => None,
        }
    }

    /// The least and the most that a number is in a chunk, as C; adds what that needs.
    fn ends_of(&self, v: Value, counter: &Counter, all: &mut Bounds) -> Option<[String; 2]> {
        let reach = match self.ahead(v, counter.version) {
            Form::Lanes => return None,
            form => form.slope().unwrap_or(0) * i64::from(LANES - 1),
        };
        let line = self.line_of(v, 0, counter, 0)?;
        let text = line.at("0");
        let [least, most] = [reach.min(0), reach.max(0)].map(|by| format!("({text} + {by})"));
        all.conditions.extend(self.what_lines_need(&line, &[String::new(), String::new()], counter));
        all.peak = all.peak.max(line.peak);
        // It is the number that the kernel computes where it is in its type's range.
        let (low, high) = match self.func.ty(v).scalar()? {
            Scalar::I32 => ("-2147483648ll", "2147483648ll"),
            Scalar::U32 => ("0", "4294967296ll"),
            // What is computed below is far from its ends.
            Scalar::I64 => return Some([least, most]),
            Scalar::U64 => ("0", "9223372036854775807ll"),
            _ => return None,
        };
        if self.forms[0].magnitude(v, FOLLOWED) >= SMALL {
            all.conditions.push(format!("{least} >= {low}"));
            all.conditions.push(format!("{most} < {high}"));
        }
        Some([least, most])
    }

    /// Whether a group's chunks are pieces of a block's rows, of which each begins where the one before would end or begins a row.
    pub(super) fn has_rows(&self) -> bool {
        let (Dim3 { x, y, .. }, group) = (self.geometry.block, LANES * self.chunks);
        let is_one = self.geometry.threads() == group;
        x.is_multiple_of(LANES)
            && (x.is_multiple_of(group) || group.is_multiple_of(x))
            && (is_one || (x * y).is_multiple_of(group))
    }

    /// The ends of what stands for `threadIdx`: of the block, or of the group.
    pub(super) fn row_ends(&self, counter: &Counter) -> [[String; 2]; 3] {
        let Dim3 { x, y, z } = self.geometry.block;
        let last = [x.saturating_sub(LANES), y - 1, z - 1];
        let of_block = last.map(|last| ["0".to_owned(), last.to_string()]);
        if !matches!(counter.counts, Counts::Local(_)) {
            return of_block;
        }
        let [[x0, y0, z0], [x1, y1, z1]] = [self.thread_of(0), self.thread_of(self.chunks - 1)];
        // Of several rows each has all of x.
        let [of_row, ..] = of_block;
        [if (LANES * self.chunks).is_multiple_of(x) { of_row } else { [x0, x1] }, [y0, y1], [z0, z1]]
    }

    /// A text about a chunk's threads.
    pub(super) fn at_chunk(&self, text: String, u: u32) -> String {
        ROWS.into_iter().zip(self.thread_of(u)).fold(text, |text, (name, place)| text.replace(name, &place))
    }

    /// `threadIdx` of a chunk's first thread, in 64 bits: what is the same in all of a group, and what is known of the chunk.
    pub(super) fn thread_of(&self, u: u32) -> [String; 3] {
        let Dim3 { x, y, z } = self.geometry.block;
        let (first, group, plane) = (LANES * u, LANES * self.chunks, x * y);
        let is_one = self.geometry.threads() == group;
        let sum = |text: String, more: u32| match is_one {
            true => format!("{more}"),
            false => format!("((i64)({text}) + {more})"),
        };
        let rows_of = |n: u32| group.is_multiple_of(n) && (is_one || plane.is_multiple_of(group));
        let in_row = x.is_multiple_of(group);
        [
            match () {
                () if x == LANES => "0".to_owned(),
                () if y * z == 1 => sum("t0".to_owned(), first),
                () if in_row => sum(format!("t0 % {x}u"), first),
                () if group.is_multiple_of(x) => format!("{}", first % x),
                () => format!("(i64)((t0 + {first}) % {x}u)"),
            },
            match () {
                () if y == 1 => "0".to_owned(),
                () if in_row => sum(format!("t0 / {x}u % {y}u"), 0),
                () if rows_of(x) => sum(format!("t0 / {x}u % {y}u"), first / x % y),
                () => format!("(i64)((t0 + {first}) / {x}u % {y}u)"),
            },
            match () {
                () if z == 1 => "0".to_owned(),
                () if is_one => format!("{}", first / plane),
                () if plane.is_multiple_of(group) => sum(format!("t0 / {plane}u"), 0),
                () => format!("(i64)((t0 + {first}) / {plane}u)"),
            },
        ]
    }
}

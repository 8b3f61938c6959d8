//! Long rows: several blocks that are neighbours in x run as one, of which each row of threads is one long row (see `spans.rs`).

use std::collections::{HashMap, HashSet};

use super::control::Stretch;
use super::names::Name;
use super::range::{Known, Unchecked};
use super::{Builder, Form, Mask, Version};
use crate::back::Dim3;
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::cpu::wide::value_forms::LANES;
use crate::back::lane::build::{counting, int, set, ty, uint};
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{self as lane, Binary, Expr, Field as Member, Stmt as Code};
use crate::back::lane::types::Ty;
use crate::ir::{BinaryOp, Op, Stmt, Value};

impl<'m> Builder<'m> {
    /// Declares where the farthest of the rows begins that are read from each array, and gives what asks for it some lines ahead: the others
    /// it has been before, so that alone comes from memory. The machine would see where it goes, but not past the end of a page, and
    /// a thread has too much to do for many of them to be begun at once. Took a tenth off a stencil.
    fn farthest_rows(&mut self, known: &Known, group: u32) -> Vec<Code> {
        const AHEAD: u32 = 8192;
        // An element and its neighbours in a row are in one line.
        const FEW: usize = 3;
        let mut all = Vec::new();
        for ((param, size), rows) in known.rows.iter().filter(|(_, rows)| rows.len() > FEW) {
            let n = self.fresh();
            let (bytes, size) = (*size, int(i64::from(*size)));
            let far = rows.values().cloned().reduce(|a, b| NumberOp::Largest.on([a, b])).unwrap_or(int(0));
            let far = far + size.clone() * self.begin_of_row() + int(i64::from(AHEAD));
            let far = self.constant_as(format!("far{n}"), ty::I64, far);
            for line in (0..group * bytes).step_by(64) {
                let row = self.get(Name::Base(Root::Param(*param))) + far.clone();
                let place = row + self.get(Name::Thread).cast(ty::I64) * size.clone() + int(i64::from(line));
                all.push(NumberOp::Prefetch.on([place]).stmt());
            }
        }
        all
    }

    /// All threads of several blocks that are neighbours in x, of which each row is one long row. What is left of it goes chunk by chunk.
    ///
    /// Rows follow each other, so that memory is walked in long lines; but where the threads of a row are far apart in memory, those of the
    /// next row are beside them, and each chunk does all rows before the next one.
    pub(super) fn long_rows(&mut self, stretch: Stretch<'m>) -> Result<()> {
        let Dim3 { x, y, z } = self.geometry.block;
        let by_chunks = y * z > 1 && self.is_far_apart(stretch);
        self.chunks = if by_chunks { 1 } else { self.group_size(stretch) };
        let group = LANES * self.chunks;
        self.define(Name::FirstBlock, ty::U32, self.in_context(ty::U32, Field::BLOCK));
        let length = self.in_context(ty::U32, Field::RUN) * int(i64::from(x));
        self.begin_as(Name::Length, ty::U32, length);
        // Both are named by the facts about the groups of all rows.
        let (row, thread) = (self.make(Name::Row, ty::U32, false), self.next_group());
        let unchecked = self.unchecked_row(group)?;
        let unchecked = unchecked.map(|Unchecked { test, known }| (self.constant_as("safe", Ty::Bool, test), known));
        let of_row = |builder: &Self| set(builder.field(Member::Row), Expr::Var(row));
        let rows = int(i64::from(y * z));
        self.begin();
        self.push(if by_chunks { Code::Let(row, int(0)) } else { of_row(self) });
        self.push(Code::Let(thread, int(0)));
        let all_rows = rows.clone();
        let groups = |builder: &Self, size: u32, cond: Expr, mut body: Vec<Code>| {
            if by_chunks {
                body.insert(0, of_row(builder));
                let (cond, step) = (Expr::Var(row).lt(all_rows.clone()), Expr::Var(row).changed(Binary::Add, int(1)));
                let each = lane::Loop { first: None, cond: Some(cond), step: Some(step), body: Code::Block(body) };
                body = vec![set(Expr::Var(row), int(0)), Code::Loop(Box::new(each))];
            }
            let step = builder.get(Name::Thread).changed(Binary::Add, int(i64::from(size)));
            Code::Loop(Box::new(lane::Loop {
                first: None,
                cond: Some(cond),
                step: Some(step),
                body: Code::Block(body),
            }))
        };
        let whole = (self.get(Name::Thread) + int(i64::from(group))).le(self.get(Name::Length));
        if let Some((safe, known)) = unchecked {
            let ahead = self.farthest_rows(&known, group);
            self.begin();
            for stmt in ahead {
                self.push(stmt);
            }
            self.known = known;
            self.group(stretch, &[], Mask::Full)?;
            self.known = Known::default();
            let body = self.k.end();
            let test = safe.both(!self.field(Member::Faulted)).likely();
            let all = groups(self, group, whole.clone(), body);
            self.add_if(test, all, None);
        }
        let body = vec![self.bracketed_group(stretch, &[], Mask::Full)?];
        let all = groups(self, group, whole, body);
        self.add(all);
        self.chunks = 1;
        self.begin();
        let left = self.get(Name::Length) - self.get(Name::Thread);
        let first = ((uint(1).with(Binary::Shl, left.clone())) - int(1)).cast(Ty::Mask);
        let some = left.ge(int(i64::from(LANES))).choose(int(0xffff), first);
        let mask = self.new_masks(|_, _| some.clone());
        self.group(stretch, &[], Mask::Some(mask))?;
        let body = self.k.end();
        let cond = self.get(Name::Thread).lt(self.get(Name::Length));
        let rest = groups(self, LANES, cond, body);
        self.add(rest);
        let body = Code::Block(self.k.end());
        self.add(if by_chunks { body } else { counting(row, int(0), rows, 1, body) });
        self.stop_if_faulted();
        self.check_length()
    }

    /// True if a stretch reads or writes an array at places that are in another line of the cache for each thread of a row.
    fn is_far_apart(&self, stretch: Stretch<'_>) -> bool {
        const LINE: u64 = 64;
        let mut found = false;
        stretch.for_each_stmt(&HashMap::new(), &mut |stmt| {
            let ptr = match stmt {
                Stmt::Let(_, Op::Load { ptr, .. }) | Stmt::Store { ptr, .. } => *ptr,
                _ => return,
            };
            let is_far = match self.ahead(ptr, Version::Together) {
                Form::Lanes => self.moves_by_unknown(ptr),
                form => form.slope().is_some_and(|step| step.unsigned_abs() >= LINE),
            };
            found |= is_far && matches!(self.root_of(ptr), Root::Param(_));
        });
        found
    }

    /// True if a thread's place is multiplied by a number that is not known, or not small.
    fn moves_by_unknown(&self, v: Value) -> bool {
        const SMALL: u64 = 16;
        let form = |v: &Value| self.ahead(*v, Version::Together);
        let is_factor =
            |v: &Value| form(v).is_one() && self.known(*v).is_none_or(|factor| factor.unsigned_abs() >= SMALL);
        // Each value once: a number may be in both operands of a sum.
        let (mut left, mut seen) = (vec![v], HashSet::new());
        while let Some(v) = left.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.op_of(v) {
                Some(Op::PtrAdd { ptr, index, .. }) => left.extend([*ptr, *index]),
                Some(Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)) => left.extend([*a, *b]),
                Some(Op::Convert(_, a)) => left.push(*a),
                Some(Op::Binary(BinaryOp::Mul, a, b))
                    if [(a, b), (b, a)].into_iter().any(|(a, b)| form(a).slope().is_some() && is_factor(b)) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

//! Atomics, lane after lane, and accesses at 32-bit indices of what one place is the start of.

use super::memory::Access;
use super::names::Name;
use super::{Builder, Mask, Place, types};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{int, set, ty, uint, ulong, when};
use crate::back::lane::table::{Atomic, FaultOp, Form, LaneOp, Space, Update as Change};
use crate::back::lane::tree::{Expr, Stmt};
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{AtomicOp, BinaryOp, Op, Scalar, Value};
use crate::source::Span;

/// An atomic in one of its ways.
pub(super) struct Update {
    pub result: Option<Value>,
    pub op: AtomicOp,
    /// The new number.
    pub change: Change,
    pub ptr: Value,
    pub value: Value,
    pub compare: Option<Value>,
    /// The memory that its offsets are from.
    pub base: Expr,
    /// True if nobody else works on that memory meanwhile.
    pub alone: bool,
}

impl Builder<'_> {
    /// Declares a chunk's 32-bit indices `at<n>`, and how many elements there are: `room<n>`; gives these and who of the mask is out of
    /// bounds.
    pub(super) fn outside_small(
        &mut self,
        access: &Access,
        index: Expr,
        first: &Expr,
        mask: Expr,
        n: u32,
    ) -> (Expr, Expr, Expr) {
        let (limit, size) = (access.limit.clone(), access.s.size());
        let first = first.clone().cast(ty::U64);
        let bytes = limit.clone() - first.clone() + int(i64::from(size - 1));
        let room = first.lt(limit).choose(bytes / int(i64::from(size)), int(0));
        let room = self.constant_as(format!("room{n}"), ty::U64, room);
        let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I32), index);
        let is_small = room.clone().lt(ulong(0x8000_0000));
        let count = is_small.choose(room.clone().cast(ty::U32), uint(0x8000_0000));
        let bad = mask & LaneOp::OutsideX.on([at.clone(), count]);
        (at, room, bad)
    }

    /// The place in memory of a chunk's indices of such a pointer, if they are bytes that lie there side by side.
    fn bytes_of(&mut self, ptr: Value, u: u32) -> Result<Option<Expr>> {
        let Some(Op::PtrAdd { index, .. }) = self.op_of(ptr) else { return Ok(None) };
        let mut v = *index;
        while let Some(Op::Convert(to, a)) = self.op_of(v) {
            if !to.is_int() || to.bits() < 32 || !self.scalar(*a).is_int() {
                return Ok(None);
            }
            v = *a;
        }
        let Some(Op::Load { ptr: from, .. }) = self.op_of(v) else { return Ok(None) };
        let (from, root) = (*from, self.root_of(*from));
        let is_known = self.known.bytes.contains(&v) && self.known.proven.contains(&from);
        let is_near = self.form(from).slope() == Some(1) && matches!(root, Root::Param(_));
        if !is_known || !is_near {
            return Ok(None);
        }
        Ok(Some(self.base(root)? + self.proven_at(from, u)))
    }

    /// True if the index of such a pointer is below 256.
    fn has_byte_index(&self, ptr: Value) -> bool {
        let Some(Op::PtrAdd { index, .. }) = self.op_of(ptr) else { return false };
        let is_byte = |v: Value| {
            self.scalar(v) == Scalar::U8
                || matches!(self.op_of(v), Some(Op::Binary(BinaryOp::And, a, b))
                    if [*a, *b].into_iter().any(|v| self.known(v).is_some_and(|n| (0..256).contains(&n))))
        };
        // Up to where it is no conversion that keeps the number.
        let mut v = *index;
        while !is_byte(v) {
            match self.op_of(v) {
                Some(Op::Convert(to, a)) if to.is_int() && to.bits() >= 32 && self.scalar(*a).is_int() => v = *a,
                _ => return false,
            }
        }
        true
    }

    /// True if an element is in a shared variable whatever its index: that is a byte, and there are as many.
    pub(super) fn is_in_table(&self, ptr: Value, value: Value) -> bool {
        let Some(Op::PtrAdd { ptr: start, stride, .. }) = self.op_of(ptr) else { return false };
        let Some(Op::SharedAddr(m)) = self.op_of(*start) else { return false };
        let elements = self.module.shared.get(m.index()).map_or(0, |data| data.size / stride.bytes().max(1));
        elements >= 256 && stride.bytes() == self.scalar(value).size() && self.has_byte_index(ptr)
    }

    /// For a pointer that is a shared one moved by a 32-bit number of elements, that number and the shared one's offset.
    pub(super) fn small_index(&mut self, ptr: Value, s: Scalar, u: u32) -> Result<Option<(Expr, Expr)>> {
        let Some(Op::PtrAdd { ptr: from, index, stride }) = self.op_of(ptr) else { return Ok(None) };
        let Some(Op::Convert(Scalar::I64 | Scalar::U64, small)) = self.op_of(*index) else { return Ok(None) };
        let fits = stride.bytes() == s.size() && s.size() >= 4 && self.form(*from).is_one();
        let is_small = self.func.ty(*small).scalar().is_some_and(|s| s.is_int() && s.bits() <= 32);
        // An address that another region kept may be made of what this one does not know.
        let is_known = self.defined.contains(from) && self.defined.contains(small);
        if !fits || !is_small || !is_known {
            return Ok(None);
        }
        Ok(Some((self.lanes(*small, u)?, self.one(*from, u))))
    }

    /// Reads, computes and writes memory in one step, lane after lane.
    pub(super) fn atomic(
        &mut self,
        result: Option<Value>,
        op: AtomicOp,
        (ptr, value, compare): (Value, Value, Option<Value>),
        span: Span,
        place: Place,
    ) -> Result<()> {
        let ty = self.func.ty(value);
        let access = self.access(ptr, ty, true, span)?;
        let s = access.s;
        if matches!(access.root, Root::Slot(_)) || s.size() < 4 {
            return Err(Unsupported("such an atomic"));
        }
        let change = match op {
            AtomicOp::Add => Change::Add,
            AtomicOp::Sub => Change::Sub,
            AtomicOp::Exch => Change::Exch,
            AtomicOp::Min => Change::Min,
            AtomicOp::Max => Change::Max,
            AtomicOp::Inc => Change::Inc,
            AtomicOp::Dec => Change::Dec,
            AtomicOp::And => Change::And,
            AtomicOp::Or => Change::Or,
            AtomicOp::Xor => Change::Xor,
            AtomicOp::Cas => Change::Cas,
        };
        if s.is_float() && !matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Exch) {
            return Err(Unsupported("such an atomic of floats"));
        }
        self.aligned_access(ptr, &access, place)?;
        let alone = matches!(access.root, Root::Shared(_));
        let mut update = Update { result, op, change, ptr, value, compare, base: access.base.clone(), alone };
        if let Some(own) = self.own_sums(access.root) {
            (update.base, update.alone) = (own.clone(), true);
            self.begin();
            self.update(&update, &access, place)?;
            let then = Stmt::Block(self.k.end());
            (update.base, update.alone) = (access.base.clone(), alone);
            self.begin();
            self.update(&update, &access, place)?;
            let els = Stmt::Block(self.k.end());
            self.add_if(own, then, Some(els));
        } else {
            self.update(&update, &access, place)?;
        }
        if let Some(v) = result {
            self.defined.insert(v);
            self.keep(v, place.mask)?;
        }
        Ok(())
    }

    fn update(&mut self, update: &Update, access: &Access, place: Place) -> Result<()> {
        let Update { result, change, ptr, value, compare, base, alone, .. } = update;
        let (ptr, value, s) = (*ptr, *value, access.s);
        let atomic = |form: Form| -> Result<Atomic> { Ok(Atomic { update: *change, cell: types::cell(s)?, form }) };
        for u in 0..self.chunks {
            let (mask, n) = (self.mask(place, u), self.fresh());
            let offs = self.lanes(ptr, u)?;
            let small = match (result, alone, compare) {
                (None, true, None) => self.small_index(ptr, s, u)?,
                _ => None,
            };
            if let Some(small) = small {
                self.update_small(update, access, place, (u, n), small)?;
                continue;
            }
            let words = access.indexed.map(|index| self.lanes(index, u)).transpose()?;
            let lanes = self.lanes(value, u)?;
            let compare = compare.map(|c| self.lanes(c, u)).transpose()?;
            let space = if *alone { Space::Shared } else { Space::Global };
            let is_line = *alone && self.adds_line(update, access);
            if is_line {
                self.begin();
            }
            let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I64), offs);
            let outside = mask.clone() & LaneOp::Outside.on([at.clone(), access.limit.clone()]);
            let bad = self.variable_as(format!("bad{n}"), Ty::Mask, outside);
            let words = words.unwrap_or_else(|| at.clone());
            self.note_bad_lanes(access, &bad, mask.clone(), (at.clone(), words), u);
            let args = [mask & bad.inverted(), base.clone(), at, lanes].into_iter().chain(compare).collect();
            let call = atomic(Form::At(space))?.on(args);
            match result {
                Some(v) => self.define(Name::Value(*v, Some(u)), types::lanes(s), call),
                None => self.push(call.stmt()),
            }
            if is_line {
                let other = self.k.end();
                self.add_line(update, access, place, u, other)?;
            }
        }
        Ok(())
    }

    /// Notes the lanes of a mask that are out of bounds, if there are any: what they do not do.
    fn note_bad_lanes(&mut self, access: &Access, bad: &Expr, mask: Expr, (offs, words): (Expr, Expr), u: u32) {
        let limit = access.whole.clone();
        let noted =
            FaultOp::BadLanes.on([self.state(), access.site.clone(), self.first_of(u), mask, limit, offs, words]);
        let then = Stmt::Block(vec![set(bad.clone(), noted), self.close()]);
        self.push(when(bad.clone().unlikely(), then));
    }

    /// As [`Builder::update`], at 32-bit indices of memory that nobody else works on.
    fn update_small(
        &mut self,
        update: &Update,
        access: &Access,
        place: Place,
        (u, n): (u32, u32),
        (index, first): (Expr, Expr),
    ) -> Result<()> {
        let (ptr, value, base) = (update.ptr, update.value, update.base.clone());
        let (mask, cell) = (self.mask(place, u), types::cell(access.s)?);
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        let (form, lanes) = match self.form(value).is_one() {
            true => (Form::UpOne, self.one(value, u)),
            false => (Form::Up, self.lanes(value, u)?),
        };
        let atomic = |form| Atomic { update: update.change, cell, form };
        let are_bytes = self.has_byte_index(ptr);
        let bytes = int(i64::from(are_bytes));
        let is_proven = self.known.proven.contains(&ptr);
        if let (true, Form::UpOne, Mask::Full, Some(from)) = (is_proven, form, place.mask, self.bytes_of(ptr, u)?) {
            self.push(atomic(Form::UpBytes).on(vec![base + first, from, lanes]).stmt());
            return Ok(());
        }
        if is_proven {
            self.push(atomic(form).on(vec![mask, base + first, index, lanes, bytes]).stmt());
            return Ok(());
        }
        let is_line = self.adds_line(update, access);
        if is_line {
            self.begin();
        }
        let (at, room, outside) = self.outside_small(access, index, &first, mask.clone(), n);
        let outside = match are_bytes {
            true => room.ge(int(256)).likely().choose(int(0), outside),
            false => outside,
        };
        let bad = self.variable_as(format!("bad{n}"), Ty::Mask, outside);
        self.note_bad_lanes(access, &bad, mask.clone(), (offs, words), u);
        self.push(atomic(form).on(vec![mask & bad.inverted(), base + first, at, lanes, bytes]).stmt());
        if is_line {
            let other = self.k.end();
            self.add_line(update, access, place, u, other)?;
        }
        Ok(())
    }
}

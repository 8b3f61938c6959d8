//! Loads, stores and atomics: one check for a chunk where its lanes are neighbours, and a slow way for whatever is not all in bounds.

use std::sync::OnceLock;

use super::names::Name;
use super::{Builder, Form, Mask, Place, in_row, types};
use crate::back::cpu::abi::context::DescField;
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{all, choice, int, joined, set, ty, ulong, when};
use crate::back::lane::families;
use crate::back::lane::memory::{self as lanes, Element};
use crate::back::lane::table::{LaneOp, NumberOp};
use crate::back::lane::tree::{Binary, Expr, Stmt};
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{Op, ParamType, Scalar, Type, Value};
use crate::source::Span;

/// An access to one allocation.
pub(super) struct Access {
    pub root: Root,
    /// The start of the allocation, and the number of offsets that an access may start at; of writes that which a fault leaves as it is.
    pub base: Expr,
    pub limit: Expr,
    pub whole: Expr,
    pub site: Expr,
    /// The number that is read or written in memory.
    pub s: Scalar,
    pub of: Element,
    /// True if the second word of a fault is the index that moved the pointer.
    pub indexed: Option<Value>,
}

/// Bytes of the largest cache that are this machine's to use: 32 MiB where it does not tell. A virtual machine of two cores is told of all
/// that its host has (480 MiB, seen), of which it gets no more than its neighbours leave: 16 MiB are more than a core's share.
fn cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
        let kib = told.and_then(|text| text.trim().strip_suffix('K')?.parse::<u64>().ok());
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        kib.map_or(32 << 20, |kib| (kib << 10).min(cores * (16 << 20)))
    })
}

impl Builder<'_> {
    pub(super) fn access(&mut self, ptr: Value, ty: Type, write: bool, span: Span) -> Result<Access> {
        let root = self.root_of(ptr);
        let Some(s) = ty.scalar() else { return Err(Unsupported("a pointer in memory")) };
        if matches!(root, Root::Slot(_)) && self.may_be_odd(ptr, s) {
            return Err(Unsupported("an access of a local array that may be misaligned"));
        }
        if let Root::Slot(slot) = root
            && *self.elements.entry(slot.index()).or_insert(s.size()) != s.size()
        {
            return Err(Unsupported("a local array of elements of several sizes"));
        }
        let site_root = Self::site_root(root);
        let far = match self.op_of(ptr) {
            Some(Op::PtrAdd { index, stride, .. }) if !self.is_near(*index, *stride) => Some(*index),
            _ => None,
        };
        let indexed = far.filter(|_| site_root.is_plain());
        if indexed.is_some_and(|index| !self.defined.contains(&index)) {
            return Err(Unsupported("an index of another region"));
        }
        let span = match self.func.values.get(ptr.index()).map(|d| d.span) {
            Some(s) if s.file == span.file && s.start >= span.start && s.end <= span.end => s,
            _ => span,
        };
        let site = self.site(span, SiteKind::Access { write, ty, root: site_root, indexed: indexed.is_some() });
        let (limit, whole) = self.both_limits(root, write, s.size())?;
        // A slot is found by its chunk.
        let base = if matches!(root, Root::Slot(_)) { int(0) } else { self.base(root)? };
        let of = if write { types::stored(s) } else { types::element(s) };
        Ok(Access { root, base, limit, whole, site, s, of, indexed })
    }

    /// The second word of a fault, for a chunk's one number.
    fn word_one(&self, access: &Access, off: &Expr, u: u32) -> Expr {
        access.indexed.map_or_else(|| off.clone(), |index| self.one(index, u)).cast(ty::U64)
    }

    pub(super) fn word_lanes(&mut self, access: &Access, off: &Expr, u: u32) -> Result<Expr> {
        access.indexed.map_or_else(|| Ok(off.clone()), |index| self.lanes(index, u))
    }

    /// The place of an element of all lanes in a slot's memory: elements of the lanes side by side.
    fn slot_base(&self, access: &Access, u: u32) -> Option<Expr> {
        match access.root {
            Root::Slot(s) => Some(self.get(Name::Slot(s, u))),
            _ => None,
        }
    }

    /// True if one offset is in bounds.
    fn is_inside(off: &Expr, limit: &Expr) -> Expr {
        off.clone().cast(ty::U64).lt(limit.clone())
    }

    /// True if a chunk's neighbours at an offset are in bounds: all of them, or those of a mask.
    pub(super) fn are_inside(&self, access: &Access, off: &Expr, window: &Expr, (place, mask): (Place, &Expr)) -> Expr {
        let all = Self::is_inside(off, window);
        match place.mask {
            Mask::Full => all,
            Mask::Some(_) => {
                let size = int(i64::from(access.s.size()));
                all.either(NumberOp::Inside.on([mask.clone(), off.clone(), size, access.limit.clone()]))
            }
        }
    }

    /// The one number at an offset.
    fn number_at(&self, access: &Access, off: Expr) -> Expr {
        let number = self.k.at(types::one(access.s), access.base.clone() + off);
        if access.s == Scalar::Bool { number.differs(int(0)) } else { number }
    }

    /// Notes the fault of a chunk that has one offset.
    pub(super) fn note_offset(&self, access: &Access, off: &Expr, u: u32, mask: Expr) -> Stmt {
        let words = (off.clone().cast(ty::U64), self.word_one(access, off, u));
        self.note_one(&access.site, u, mask, words)
    }

    /// Reads memory.
    pub(super) fn load(&mut self, v: Value, ptr: Value, ty: Type, span: Span, place: Place) -> Result<()> {
        let access = self.access(ptr, ty, false, span)?;
        self.aligned_access(ptr, &access, place)?;
        if let Root::Slot(_) = access.root {
            return self.load_slot(v, ptr, &access, place);
        }
        let of = types::one(access.s);
        if self.known.proven.contains(&ptr) {
            return self.load_proven(v, ptr, &access, place);
        }
        match (self.form(v), self.form(ptr)) {
            (Form::Group, _) => {
                let off = self.one(ptr, 0);
                let to = self.declare(Name::Value(v, None), of);
                let mut slow = vec![set(to.clone(), int(0))];
                slow.extend((0..self.chunks).map(|u| self.note_offset(&access, &off, u, self.mask(place, u))));
                slow.push(self.close());
                let fast = set(to, self.number_at(&access, off.clone()));
                self.push(choice(Self::is_inside(&off, &access.limit).likely(), fast, Stmt::Block(slow)));
            }
            (form, ptr_form) if ptr_form.is_one() => {
                for u in 0..self.chunks {
                    let (off, mask) = (self.one(ptr, u), self.mask(place, u));
                    let note = self.note_offset(&access, &off, u, mask);
                    let name = if form == Form::Lanes { Name::One(v, u) } else { Name::Value(v, Some(u)) };
                    let to = self.declare(name, of.clone());
                    let fast = set(to.clone(), self.number_at(&access, off.clone()));
                    let slow = Stmt::Block(vec![set(to.clone(), int(0)), note, self.close()]);
                    self.push(choice(Self::is_inside(&off, &access.limit).likely(), fast, slow));
                    if form == Form::Lanes {
                        let lanes = Self::splat(access.s, to);
                        self.define(Name::Value(v, Some(u)), types::lanes(access.s), lanes);
                    }
                }
            }
            (_, Form::Row(step) | Form::Line(step)) => self.load_line(v, ptr, step, &access, place)?,
            _ => {
                for u in 0..self.chunks {
                    self.gather(v, ptr, &access, place, u)?;
                }
            }
        }
        Ok(())
    }

    /// Elements that are a step apart, of a mask.
    fn load_apart(&self, access: &Access, off: Expr, step: i64, mask: Expr) -> Expr {
        let base = access.base.clone();
        match access.of {
            Element::F32 | Element::F64 | Element::I32 | Element::I64 => {
                self.k.access(lanes::Access::LoadLine, access.of, vec![mask, base + off, int(step)])
            }
            Element::I8 | Element::U8 | Element::I16 | Element::U16 | Element::B1 => {
                let offs = LaneOp::LineI64.on([off, int(step)]);
                self.k.access(lanes::Access::LoadAt, access.of, vec![mask, base, offs])
            }
        }
    }

    /// Reads what is in bounds and notes the rest.
    fn slow_load(&mut self, access: &Access, ptr: Value, mask: Expr, u: u32) -> Result<Expr> {
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        let Access { site, base, limit, .. } = access;
        let args = vec![self.state(), site.clone(), self.first_of(u), mask, base.clone(), limit.clone(), offs, words];
        Ok(self.k.access(lanes::Access::LoadChecked, access.of, args))
    }

    /// As [`Builder::load`], of lines: neighbours with one comparison, others with one at both ends.
    fn load_line(&mut self, v: Value, ptr: Value, step: i64, access: &Access, place: Place) -> Result<()> {
        let near = step == i64::from(access.s.size());
        let mut ways = Vec::new();
        for u in 0..self.chunks {
            let (off, mask) = (self.one(ptr, u), self.mask(place, u));
            let at = access.base.clone() + off.clone();
            let fast = match (place.mask, near) {
                (Mask::Full, true) => self.k.access(lanes::Access::Load, access.of, vec![at]),
                (Mask::Some(_), true) => self.k.access(lanes::Access::LoadSome, access.of, vec![mask.clone(), at]),
                _ => self.load_apart(access, off, step, mask.clone()),
            };
            ways.push((fast, self.slow_load(access, ptr, mask, u)?));
        }
        let mut set_by = Vec::new();
        for (u, (fast, slow)) in (0..self.chunks).zip(ways) {
            let to = self.declare(Name::Value(v, Some(u)), types::lanes(access.s));
            set_by.push((set(to.clone(), fast), set(to, slow)));
        }
        if place.mask == Mask::Full && near && matches!(self.form(ptr), Form::Row(_)) {
            let window = self.limit(access.root, false, access.s.size(), self.chunks)?;
            let (off, rests) = (self.one(ptr, 0), self.rests(ptr, 0));
            let (fast, mut slow): (Vec<Stmt>, Vec<Stmt>) = set_by.into_iter().unzip();
            if let Some(ahead) = self.next_blocks.get(&ptr).cloned() {
                for u in 0..self.chunks {
                    let off = self.one(ptr, u);
                    self.fetch(&access.base, &off, &ahead, access.s, u);
                }
            }
            slow.push(self.close());
            let test = all(rests.into_iter().chain([Self::is_inside(&off, &window)]));
            self.push(choice(test.likely(), Stmt::Block(fast), Stmt::Block(slow)));
            return Ok(());
        }
        let window = self.limit(access.root, false, access.s.size(), 1)?;
        for (u, (fast, slow)) in (0..self.chunks).zip(set_by) {
            let (off, mask, rests) = (self.one(ptr, u), self.mask(place, u), self.rests(ptr, u));
            let tests = match near {
                true => vec![self.are_inside(access, &off, &window, (place, &mask))],
                // Both ends in bounds, so all between are.
                false => {
                    let last = off.clone() + int(15 * step);
                    [off, last].iter().map(|off| Self::is_inside(off, &access.limit)).collect()
                }
            };
            let test = all(rests.into_iter().chain(tests));
            self.push(choice(test.likely(), fast, Stmt::Block(vec![slow, self.close()])));
        }
        Ok(())
    }

    /// Asks for a chunk's elements that are so far away.
    fn fetch(&mut self, base: &Expr, off: &Expr, ahead: &Expr, s: Scalar, u: u32) {
        let (begin, bytes) = (u * s.size() * 16, s.size() * 16);
        for line in (begin..begin + bytes).filter(|at| at.is_multiple_of(64)) {
            let at = base.clone() + off.clone() + int(i64::from(line - begin)) + ahead.clone();
            self.push(NumberOp::Prefetch.on([at]).stmt());
        }
    }

    /// The offset of a proven pointer for a chunk.
    pub(super) fn proven_at(&self, ptr: Value, u: u32) -> Expr {
        let form = self.form(ptr);
        let step = if let Form::Row(step) = form { step } else { 0 };
        match self.known.lines.get(&ptr).and_then(|lines| lines.get(if form.is_whole() { 0 } else { u as usize })) {
            Some(line) => in_row(line.clone(), Scalar::I64, step, u),
            None => self.one(ptr, u),
        }
    }

    /// As [`Builder::load`], of what is in bounds.
    fn load_proven(&mut self, v: Value, ptr: Value, access: &Access, place: Place) -> Result<()> {
        let s = access.s;
        if self.form(v) == Form::Group {
            let number = self.number_at(access, self.proven_at(ptr, 0));
            self.define(Name::Value(v, None), types::one(s), number);
            return Ok(());
        }
        let ahead = self.looks_ahead.get(&ptr).or_else(|| self.next_blocks.get(&ptr)).cloned();
        for u in 0..self.chunks {
            let (off, mask) = (self.proven_at(ptr, u), self.mask(place, u));
            let (of, value) = match (self.form(v), self.form(ptr)) {
                (Form::Lanes, Form::Row(step) | Form::Line(step)) if step == i64::from(s.size()) => {
                    if let Some(ahead) = &ahead {
                        self.fetch(&access.base, &off, ahead, s, u);
                    }
                    // In bounds are the elements of all threads, those that are not here included.
                    let at = access.base.clone() + off;
                    (types::lanes(s), self.k.access(lanes::Access::Load, access.of, vec![at]))
                }
                (_, Form::Row(step) | Form::Line(step)) => (types::lanes(s), self.load_apart(access, off, step, mask)),
                (Form::Lanes, _) => (types::lanes(s), Self::splat(s, self.number_at(access, off))),
                _ => (types::one(s), self.number_at(access, off)),
            };
            self.define(Name::Value(v, Some(u)), of, value);
        }
        Ok(())
    }

    /// Elements anywhere.
    fn gather(&mut self, v: Value, ptr: Value, access: &Access, place: Place, u: u32) -> Result<()> {
        let mask = self.mask(place, u);
        let offs = self.lanes(ptr, u)?;
        let slow = self.slow_load(access, ptr, mask.clone(), u)?;
        let n = self.fresh();
        let (bad, fast) = match self.small_index(ptr, access.s, u)? {
            Some((index, first)) => {
                // As 32-bit indices: a quarter of the work. Past 2^31 elements the slow way knows better.
                let (at, _, bad) = self.outside_small(access, index, &first, mask.clone(), n);
                let bad = self.variable_as(format!("bad{n}"), Ty::Mask, bad);
                let at = vec![mask, access.base.clone() + first, at];
                (bad, self.k.access(lanes::Access::LoadIndexed, access.of, at))
            }
            None => {
                let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I64), offs);
                let bad = mask.clone() & LaneOp::Outside.on([at.clone(), access.limit.clone()]);
                let bad = self.constant_as(format!("bad{n}"), Ty::Mask, bad);
                (bad, self.k.access(lanes::Access::LoadAt, access.of, vec![mask, access.base.clone(), at]))
            }
        };
        // The slow way names the lanes' offsets by what they are made of.
        let to = self.declare(Name::Value(v, Some(u)), types::lanes(access.s));
        let slow = Stmt::Block(vec![set(to.clone(), slow), self.close()]);
        self.push(choice(bad.unlikely(), slow, set(to, fast)));
        Ok(())
    }

    fn load_slot(&mut self, v: Value, ptr: Value, access: &Access, place: Place) -> Result<()> {
        let s = access.s;
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            let base = self.slot_base(access, u).unwrap_or(int(0));
            if self.form(ptr).is_one() {
                let off = self.one(ptr, u);
                let note = self.note_offset(access, &off, u, mask);
                let to = self.declare(Name::Value(v, Some(u)), types::lanes(s));
                let at = base + off.clone() * int(16);
                let fast = set(to.clone(), self.k.access(lanes::Access::Load, access.of, vec![at]));
                let slow = Stmt::Block(vec![set(to, Self::splat(s, int(0))), note, self.close()]);
                self.push(choice(Self::is_inside(&off, &access.limit).likely(), fast, slow));
                continue;
            }
            let (bad, offs) = self.checked_slot(access, ptr, mask.clone(), u)?;
            let some = vec![mask & bad.inverted(), base, offs];
            let value = self.k.access(lanes::Access::LoadAt, access.of, some);
            self.define(Name::Value(v, Some(u)), types::lanes(s), value);
        }
        Ok(())
    }

    /// Notes the lanes that access a slot out of bounds: gives these, and where elements are in the chunk's memory.
    fn checked_slot(&mut self, access: &Access, ptr: Value, mask: Expr, u: u32) -> Result<(Expr, Expr)> {
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        let n = self.fresh();
        let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I64), offs);
        let bad = mask & LaneOp::Outside.on([at.clone(), access.limit.clone()]);
        let bad = self.constant_as(format!("bad{n}"), Ty::Mask, bad);
        self.note_lanes(&access.site, u, bad.clone(), (at.clone(), words));
        let element = LaneOp::ShlI64.on([at, LaneOp::SplatI64.on([int(4)])]);
        let lane = LaneOp::LineI64.on([int(0), int(i64::from(access.s.size()))]);
        Ok((bad, LaneOp::AddI64.on([element, lane])))
    }

    /// Writes memory.
    pub(super) fn store(&mut self, ptr: Value, value: Value, span: Span, place: Place) -> Result<()> {
        let ty = self.func.ty(value);
        let access = self.access(ptr, ty, true, span)?;
        self.aligned_access(ptr, &access, place)?;
        let near = self.form(ptr).slope() == Some(i64::from(access.s.size()));
        let is_proven = self.known.proven.contains(&ptr);
        let is_whole = place.mask == Mask::Full && self.form(ptr).is_whole();
        let mut ways = Vec::new();
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            if self.form(ptr).is_one() {
                self.store_one(&access, (ptr, value), place, u)?;
                continue;
            }
            let lanes = self.lanes(value, u)?;
            if is_proven && near {
                let off = self.proven_at(ptr, u);
                match place.mask {
                    Mask::Full if is_whole => ways.push((off, lanes, None)),
                    Mask::Full => {
                        let put = self.store_full(&access, vec![(off, lanes)]);
                        self.push(Stmt::Block(put));
                    }
                    Mask::Some(_) => {
                        let put = self.store_some(&access, off, mask, lanes);
                        self.push(put);
                    }
                }
                continue;
            }
            if let Some(slot) = self.slot_base(&access, u) {
                let (bad, offs) = self.checked_slot(&access, ptr, mask.clone(), u)?;
                let some = vec![mask & bad.inverted(), slot, offs, lanes];
                self.push(self.k.access(lanes::Access::StoreAt, access.of, some).stmt());
                continue;
            }
            let slow = self.slow_store(&access, &access.site, ptr, mask.clone(), lanes.clone(), u)?;
            if near {
                let off = self.one(ptr, u);
                if is_whole {
                    ways.push((off, lanes, Some(slow)));
                    continue;
                }
                let fast = match place.mask {
                    Mask::Full => self.store_full(&access, vec![(off.clone(), lanes)]),
                    Mask::Some(_) => vec![self.store_some(&access, off.clone(), mask.clone(), lanes)],
                };
                let window = self.limit(access.root, true, access.s.size(), 1)?;
                let test = self.are_inside(&access, &off, &window, (place, &mask));
                let test = all(self.rests(ptr, u).into_iter().chain([test]));
                let slow = Stmt::Block(vec![slow, self.close()]);
                self.push(choice(test.likely(), Stmt::Block(fast), slow));
                continue;
            }
            if let Some(step) = self.form(ptr).slope().filter(|_| access.of.size() >= 4) {
                // Both ends in bounds, so all between are.
                let off = self.one(ptr, u);
                let ends = [off.clone(), off.clone() + int(15 * step)].map(|off| Self::is_inside(&off, &access.limit));
                let test = all(self.rests(ptr, u).into_iter().chain(ends));
                let to = vec![mask, access.base.clone() + off, int(step), lanes];
                let fast = self.k.access(lanes::Access::StoreLine, access.of, to).stmt();
                self.push(choice(test.likely(), fast, Stmt::Block(vec![slow, self.close()])));
                continue;
            }
            let offs = self.lanes(ptr, u)?;
            let n = self.fresh();
            let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I64), offs);
            let outside = mask.clone() & LaneOp::Outside.on([at.clone(), access.limit.clone()]);
            let fast = self.k.access(lanes::Access::StoreAt, access.of, vec![mask, access.base.clone(), at, lanes]);
            self.push(choice(outside.unlikely(), Stmt::Block(vec![slow, self.close()]), fast.stmt()));
        }
        if !ways.is_empty() {
            let (mut chunks, mut slow) = (Vec::new(), Vec::new());
            for (off, lanes, way) in ways {
                chunks.push((off, lanes));
                slow.extend(way);
            }
            self.store_chunks(&access, ptr, (chunks, slow), (0, self.chunks))?;
        }
        Ok(())
    }

    /// Stores all lanes of chunks, from one of that number on, in one way where all of them are in bounds, and otherwise in another.
    pub(super) fn store_chunks(
        &mut self,
        access: &Access,
        ptr: Value,
        (chunks, mut slow): (Vec<(Expr, Expr)>, Vec<Stmt>),
        (u, count): (u32, u32),
    ) -> Result<()> {
        let fast = Stmt::Block(self.store_full(access, chunks));
        if self.known.proven.contains(&ptr) {
            self.push(fast);
            return Ok(());
        }
        let window = self.limit(access.root, true, access.s.size(), count)?;
        let test = all(self.rests(ptr, u).into_iter().chain([Self::is_inside(&self.one(ptr, u), &window)]));
        slow.push(self.close());
        self.push(choice(test.likely(), fast, Stmt::Block(slow)));
        Ok(())
    }

    /// Stores neighbours of a mask.
    fn store_some(&self, access: &Access, off: Expr, mask: Expr, lanes: Expr) -> Stmt {
        let at = access.base.clone() + off;
        self.k.access(lanes::Access::StoreSome, access.of, vec![mask, at, lanes]).stmt()
    }

    /// Writes a chunk's one place.
    fn store_one(&mut self, access: &Access, (ptr, value): (Value, Value), place: Place, u: u32) -> Result<()> {
        let (mask, off, s) = (self.mask(place, u), self.one(ptr, u), access.s);
        let test = Self::is_inside(&off, &access.limit).likely();
        if let Some(slot) = self.slot_base(access, u) {
            let lanes = self.lanes(value, u)?;
            let at = slot + off.clone() * int(16);
            let put = match place.mask {
                Mask::Some(_) if place.apart => {
                    self.k.access(lanes::Access::StoreSome, access.of, vec![mask.clone(), at, lanes])
                }
                _ => self.k.access(lanes::Access::Store, access.of, vec![at, lanes]),
            };
            let slow = vec![self.note_offset(access, &off, u, mask), self.close()];
            self.push(choice(test, put.stmt(), Stmt::Block(slow)));
            return Ok(());
        }
        // The last of the threads that write one place is the last.
        let last = if self.form(value).is_one() {
            self.one(value, u)
        } else {
            let number = match place.mask {
                Mask::Full => int(15),
                Mask::Some(_) => NumberOp::LastLane.on([mask.clone()]),
            };
            self.lane_of(s, value, number, u)?
        };
        // After a fault the limit is 0: who is alive then is for the slow way to say.
        let lanes = self.lanes(value, u)?;
        let (offs, words) = (off.clone(), access.indexed.map_or_else(|| off.clone(), |index| self.one(index, u)));
        let splat = |one: Expr| LaneOp::SplatI64.on([one]);
        let words = splat(words.cast(ty::U64));
        let slow = self.bad_store(access, &access.site, mask.clone(), (splat(offs), words), lanes, u);
        let to = self.k.at(types::one(s), access.base.clone() + off);
        let put = choice(test, set(to, last.cast(types::one(s))), Stmt::Block(vec![slow, self.close()]));
        let put = Stmt::Block(vec![put]);
        self.push(if place.mask == Mask::Full { put } else { when(mask, put) });
        Ok(())
    }

    /// One lane of a value.
    fn lane_of(&mut self, s: Scalar, value: Value, number: Expr, u: u32) -> Result<Expr> {
        let lanes = self.lanes(value, u)?;
        Ok(match types::vector(s).kind() {
            Some(kind) => families::lane(kind).on([lanes, number]),
            None => NumberOp::LaneB1.on([lanes, number]),
        })
    }

    fn bad_store(
        &self,
        access: &Access,
        site: &Expr,
        mask: Expr,
        (offs, words): (Expr, Expr),
        lanes: Expr,
        u: u32,
    ) -> Stmt {
        let (base, limit) = (access.base.clone(), access.whole.clone());
        let args = vec![self.state(), site.clone(), self.first_of(u), mask, base, limit, offs, words, lanes];
        self.k.access(lanes::Access::StoreChecked, access.of, args).stmt()
    }

    /// Stores what is in bounds and notes the rest.
    pub(super) fn slow_store(
        &mut self,
        access: &Access,
        site: &Expr,
        ptr: Value,
        mask: Expr,
        lanes: Expr,
        u: u32,
    ) -> Result<Stmt> {
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        Ok(self.bad_store(access, site, mask, (offs, words), lanes, u))
    }

    /// Stores all lanes of chunks at neighbouring elements: past the cache where the kernel does not read the array, and the cache does not
    /// hold all that it works on. Of a row the first chunk tells whether all begin where lines of the cache do.
    pub(super) fn store_full(&mut self, access: &Access, chunks: Vec<(Expr, Expr)>) -> Vec<Stmt> {
        let put = |builder: &Self, past_cache: bool| -> Vec<Stmt> {
            let one = |(off, lanes): &(Expr, Expr)| {
                let at = access.base.clone() + off.clone();
                match past_cache {
                    true => builder.k.store_past_cache(access.of, at, lanes.clone()),
                    false => builder.k.access(lanes::Access::Store, access.of, vec![at, lanes.clone()]),
                }
            };
            chunks.iter().map(|chunk| one(chunk).stmt()).collect()
        };
        match (access.root, chunks.first()) {
            (Root::Param(i), Some((off, _))) if access.s.size() >= 4 && !self.reads.contains(&i) => {
                let cache = cache_bytes();
                let length = |i: usize| {
                    let desc = self.get(Name::Desc(Root::Param(i as u32)));
                    self.k.at(ty::U64, desc + int(i64::from(DescField::LEN)))
                };
                let params = self.func.params.iter().enumerate();
                let lengths = params.filter(|(_, param)| !matches!(param.ty, ParamType::Scalar(_)));
                let whole = joined(Binary::Add, lengths.map(|(i, _)| length(i))).unwrap_or(int(0));
                let is_large = whole.ge(ulong(cache)).both(length(i as usize).ge(ulong(cache / 16)));
                let past_cache = self.past_cache(i, is_large);
                // Groups of a long row begin whole lines apart.
                let (place, row) = (self.place_in_row(), self.begin_of_row());
                let off = off.replaced(&|part| (*part == place).then(|| row.clone()));
                let test = past_cache.both(NumberOp::IsLine.on([access.base.clone() + off]));
                vec![choice(test, Stmt::Block(put(self, true)), Stmt::Block(put(self, false)))]
            }
            _ => put(self, false),
        }
    }
}

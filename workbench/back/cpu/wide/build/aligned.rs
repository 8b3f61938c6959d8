//! Alignment: the addresses of vectors of several numbers have to be multiples of their sizes, and so have those of numbers in memory of another
//! type, such as the `int` of four bytes.

use super::memory::Access;
use super::range::{Bounds, Counter, Counts, End};
use super::{Builder, Form, Place};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{int, ty, when};
use crate::back::lane::table::LaneOp;
use crate::back::lane::tree::{Expr, Stmt};
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{Scalar, Value};
use crate::source::Span;

impl Builder<'_> {
    /// The conditions on which an address is a multiple of `align` in all rounds of a loop; `None` where nothing is known. Where
    /// a round moves it by a multiple, the first round tells for all.
    pub(super) fn evenness(&mut self, ptr: Value, align: u32, counter: &Counter) -> Result<Option<Bounds>> {
        let root = self.root_of(ptr);
        if matches!(root, Root::Slot(_) | Root::Null | Root::Unset | Root::Dynamic) {
            return Ok(None);
        }
        let form = self.ahead(ptr, counter.version);
        let align = i64::from(align);
        if form == Form::Lanes || form.slope().is_some_and(|step| step % align != 0) {
            return Ok(None);
        }
        let base = self.base(root)?.cast(ty::U64);
        let mut all = Bounds::of(counter);
        for u in 0..self.times(form) {
            let Some(line) = self.line_of(ptr, u, counter, 0) else { return Ok(None) };
            if line.b.known().is_none_or(|slope| slope % align != 0) {
                return Ok(None);
            }
            let ends = [End::First, End::Last].map(|end| self.at_end(end, counter, u));
            let place = line.at(&ends[0]);
            let place = if matches!(counter.counts, Counts::Local(_)) { self.at_chunk(&place, u) } else { place };
            // A multiple in the first row of threads and in the last need not be one between.
            if place.has(&|part| matches!(part, Expr::Var(var) if self.rows.contains(var))) {
                return Ok(None);
            }
            all.conditions.push(!((base.clone() + place.cast(ty::U64)) & int(align - 1)));
            all.conditions.extend(self.what_lines_need(&line, &ends, counter));
            all.peak = all.peak.max(line.peak);
        }
        all.narrow();
        Ok(Some(all))
    }

    /// True if an access may be at an address that is no multiple of its size, as far as is known of all launches.
    pub(super) fn may_be_odd(&self, ptr: Value, s: Scalar) -> bool {
        u32::from(self.info.align.get(ptr.index()).copied().unwrap_or(0)) < s.size().trailing_zeros()
    }

    /// Faults unless the address of a vector is a multiple of `align`.
    pub(super) fn aligned(&mut self, ptr: Value, align: u32, span: Span, place: Place) -> Result<()> {
        if self.known.even.contains(&ptr) {
            return Ok(());
        }
        let root = self.root_of(ptr);
        if matches!(root, Root::Slot(_)) {
            return Err(Unsupported("a vector in a local array"));
        }
        let base = self.base(root)?;
        let site = self.site(span, SiteKind::Align(align));
        self.fault_where_odd(ptr, align, base, &Odd::Vector(site), place)
    }

    /// Faults unless the address of an access is a multiple of its size.
    pub(super) fn aligned_access(&mut self, ptr: Value, access: &Access, place: Place) -> Result<()> {
        if !self.may_be_odd(ptr, access.s) || self.known.even.contains(&ptr) {
            return Ok(());
        }
        self.fault_where_odd(ptr, access.s.size(), access.base.clone(), &Odd::Access(access), place)
    }

    fn fault_where_odd(&mut self, ptr: Value, align: u32, base: Expr, odd: &Odd<'_>, place: Place) -> Result<()> {
        let low = int(i64::from(align - 1));
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            // The first tells for all where each step of a line is a multiple and the line is one.
            let even = self.form(ptr).slope().is_some_and(|step| step % i64::from(align) == 0);
            let off = self.one(ptr, u);
            let at = base.clone().cast(ty::U64) + off.clone().cast(ty::U64);
            let is_odd = at.clone() & low.clone();
            if self.form(ptr).is_one() {
                let note = match odd {
                    Odd::Vector(site) => self.note_one(site, u, mask, (at, int(0))),
                    Odd::Access(access) => self.note_offset(access, &off, u, mask),
                };
                self.push(when(is_odd.unlikely(), Stmt::Block(vec![note, self.close()])));
                continue;
            }
            let offs = self.lanes(ptr, u)?;
            let n = self.fresh();
            let may_be_odd = self.rests(ptr, u).into_iter().fold(is_odd, |odd, is_line| odd.either(!is_line));
            let test = if even { may_be_odd.unlikely() } else { int(1) };
            self.begin();
            let splat = |one: Expr| LaneOp::SplatI64.on([one]);
            let at = LaneOp::AddI64.on([offs.clone(), splat(base.clone().cast(ty::I64))]);
            let at = self.constant_as(format!("at{n}"), Ty::Lanes(Kind::I64), at);
            let is_odd = LaneOp::TruthI64.on([LaneOp::AndI64.on([at.clone(), splat(low.clone())])]);
            let bad = self.constant_as(format!("bad{n}"), Ty::Mask, mask & is_odd);
            match odd {
                Odd::Vector(site) => self.note_lanes(site, u, bad, (at, splat(int(0)))),
                Odd::Access(access) => {
                    let words = self.word_lanes(access, &offs, u)?;
                    self.note_lanes(&access.site, u, bad, (offs, words));
                }
            }
            let then = Stmt::Block(self.k.end());
            self.add_if(test, then, None);
        }
        Ok(())
    }
}

/// The thing whose address has to be a multiple of something.
enum Odd<'a> {
    /// A vector, by the site of its check; the fault has its address.
    Vector(Expr),
    /// An access; the fault has what a fault of its bounds has, and the check of bounds comes first.
    Access(&'a Access),
}

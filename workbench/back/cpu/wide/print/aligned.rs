//! Vectors of several numbers: their addresses have to be multiples of their sizes.

use super::line::ROWS;
use super::range::{Bounds, Counter, Counts};
use super::{Form, Place, Printer};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::Value;
use crate::source::Span;

impl Printer<'_> {
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
        let base = format!("B_{}", Self::root_name(root)?);
        let mut all = Bounds::of(counter);
        for u in 0..self.times(form) {
            let Some(line) = self.line_of(ptr, u, counter, 0) else { return Ok(None) };
            if line.slope.is_none_or(|slope| slope % align != 0) {
                return Ok(None);
            }
            let ends = ["first", "last"].map(|end| self.at_end(end, counter, u));
            let place = line.at(&ends[0]);
            let place = if matches!(counter.counts, Counts::Local(_)) { self.at_chunk(place, u) } else { place };
            // What is a multiple in the first row of threads and in the last need not be one between.
            if ROWS.iter().any(|row| place.contains(row)) {
                return Ok(None);
            }
            all.conditions.push(format!("!(((u64){base} + (u64){place}) & {})", align - 1));
            all.conditions.extend(self.what_lines_need(&line, &ends, counter));
            all.peak = all.peak.max(line.peak);
        }
        all.narrow();
        Ok(Some(all))
    }

    /// Faults unless the address is a multiple of `align`.
    pub(super) fn aligned(&mut self, ptr: Value, align: u32, span: Span, place: Place) -> Result<()> {
        if self.known.even.contains(&ptr) {
            return Ok(());
        }
        let root = self.root_of(ptr);
        if matches!(root, Root::Slot(_)) {
            return Err(Unsupported("a vector in a local array"));
        }
        let base = format!("B_{}", Self::root_name(root)?);
        let site = self.site(span, SiteKind::Align(align));
        let low = align - 1;
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            // Where each step of a line is a multiple, the first tells for all.
            let even = self.form(ptr).slope().is_some_and(|step| step % i64::from(align) == 0)
                && self.rests(ptr, u).is_empty();
            if self.form(ptr).is_one() {
                let off = self.one(ptr, u);
                self.line(format!(
                    "if (unlikely(((u64){base} + (u64){off}) & {low})) {{ note_one(&st, {site}, t0 + {}, {mask}, (u64){base} + (u64){off}, 0); CLOSE }}",
                    16 * u
                ));
                continue;
            }
            let offs = self.lanes(ptr, u)?;
            let n = self.fresh();
            let test = if even {
                format!("unlikely(((u64){base} + (u64){}) & {low})", self.one(ptr, u))
            } else {
                "1".to_owned()
            };
            self.line(format!(
                "if ({test}) {{ const vi64 at{n} = add_i64({offs}, splat_i64((i64){base}));\n\
                 const m16 bad{n} = {mask} & truth_i64(and_i64(at{n}, splat_i64({low})));\n\
                 if (unlikely(bad{n})) {{ note_lanes(&st, {site}, t0 + {}, bad{n}, at{n}, splat_i64(0)); CLOSE }} }}",
                16 * u
            ));
        }
        Ok(())
    }
}

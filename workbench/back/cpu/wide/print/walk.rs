//! The walks of neighbouring blocks in step; see [`crate::back::cpu::wide::walk`].
//!
//! `walk` is 0 where a block walks by itself, 1 in the first of those that walk together, which does it for all, and counts from there.

use std::collections::{HashMap, HashSet};
use std::mem::{replace, swap, take};

use super::control::Stretch;
use super::{Form, Mask, Place, Printer, Version, scalar_of, suffix};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::wide::Result;
use crate::back::cpu::wide::forms::{Forms, Geometry, LANES, Survey};
use crate::back::cpu::wide::walk::{CHUNKS, Walk};
use crate::ir::Stmt;

/// Bytes that one local of all blocks is kept in.
const KEPT: u32 = CHUNKS * LANES * 4;

impl<'m> Printer<'m> {
    /// Prints a walk for the blocks that do it together, unless their threads do not go as evenly as those of one.
    pub(super) fn walk_together(&mut self, walk: &'m Walk, survey: &'m Survey) -> Result<()> {
        let Some(plan) = self.split else { return Ok(()) };
        let geometry = Geometry { chunks: CHUNKS, spans: true, ..self.geometry };
        let mut forms = Forms::both(self.func, self.info, geometry, survey, Some(&walk.places))?;
        let all = [&self.forms[0], &self.forms[1], &forms[0], &forms[1]];
        if walk.results.iter().any(|l| all.iter().any(|forms| forms.locals[l.index()] != Form::Lanes)) {
            return Ok(());
        }
        let body = &self.func.body;
        let stmts: Vec<Stmt> = walk.before.iter().chain([&walk.at]).map(|i| body.stmts[*i].clone()).collect();
        let spans: Vec<_> = walk.before.iter().chain([&walk.at]).map(|i| body.spans[*i]).collect();
        swap(&mut self.forms, &mut forms);
        let geometry = replace(&mut self.geometry, geometry);
        let chunks = replace(&mut self.chunks, CHUNKS);
        let places = self.places.replace(&walk.places);
        self.split = None;
        // The next block is the next of these.
        let blocks = LANES * CHUNKS / self.geometry.block.x;
        let next = self.next_blocks.iter().map(|(ptr, by)| (*ptr, format!("({by} * {blocks}ll)"))).collect();
        let next = replace(&mut self.next_blocks, next);
        let before = (take(&mut self.defined), take(&mut self.lazy), next, self.printed.clone());
        let at = plan.scratch.next_multiple_of(64);
        // The loop alone says whether its threads go side by side.
        let looped = Stretch { stmts: &body.stmts[walk.at..=walk.at], spans: &body.spans[walk.at..=walk.at] };
        let is_even = self.walks_side_by_side(looped);
        let done = if is_even { self.print_walk(walk, Stretch { stmts: &stmts, spans: &spans }, at) } else { Ok(()) };
        (self.defined, self.lazy, self.next_blocks, self.printed) = before;
        self.split = Some(plan);
        self.places = places;
        self.chunks = chunks;
        self.geometry = geometry;
        swap(&mut self.forms, &mut forms);
        self.looks_ahead = HashMap::new();
        if is_even {
            self.together = Some((walk, at));
        }
        done
    }

    fn print_walk(&mut self, walk: &Walk, stretch: Stretch<'_>, at: u32) -> Result<()> {
        let place = Place { mask: Mask::Full, apart: false, version: Version::Together, last: false };
        self.line(format!("u32 walk = *(const u32*)(ctx + {});\nif (walk == 1) {{", Field::WALK));
        self.line("const u32 bx0 = block0, t0 = 0;");
        self.end = self.fresh();
        self.bring(stretch, Version::Together)?;
        self.line("{");
        self.stretch(stretch, place)?;
        self.line("}");
        let end = self.end;
        self.line(format!("end{end}:;"));
        for (r, l) in walk.results.iter().enumerate() {
            let kind = suffix(scalar_of(self.func.locals[l.index()].ty));
            for u in 0..CHUNKS {
                let place = at + KEPT * r as u32 + LANES * 4 * u;
                self.line(format!("st_{kind}(scratch + {place}, l{}_{u});", l.index()));
            }
        }
        // Nobody has seen anything of it.
        self.line(format!(
            "if (unlikely(st.faulted)) {{ st.faulted = 0; OPEN *(u32*)(ctx + {}) = walk = 0; }}\n}}",
            Field::WALK
        ));
        self.check_length()
    }

    /// In place of the loop what it left, where it was walked before; whether there is such a thing.
    pub(super) fn begin_unless_walked(&mut self, stmt: &Stmt) -> bool {
        let Some((walk, at)) = self.together else { return false };
        if !matches!(stmt, Stmt::Loop { label, .. } if *label == walk.label) {
            return false;
        }
        self.line("if (walk) {");
        for (r, l) in walk.results.iter().enumerate() {
            let kind = suffix(scalar_of(self.func.locals[l.index()].ty));
            let row = self.geometry.block.x * 4;
            for u in 0..self.chunks {
                let place = at + KEPT * r as u32;
                self.line(format!(
                    "l{}_{u} = ld_{kind}(scratch + {place} + (walk - 1) * {row} + (t0 + {}) * 4);",
                    l.index(),
                    LANES * u
                ));
            }
        }
        self.line("} else {");
        true
    }

    /// How many bytes of scratch the results of walks take, besides the plan's.
    pub(super) fn kept_by_walks(&self) -> u32 {
        self.together
            .map_or(0, |(walk, at)| at + KEPT * walk.results.len() as u32 - self.split.map_or(0, |plan| plan.scratch))
    }

    /// What opens the limits of writes again that a fault has closed.
    pub(super) fn open(&self) -> String {
        let closed: HashSet<&str> = self.closed.iter().map(String::as_str).collect();
        let mut all: Vec<&str> = (self.limits.iter())
            .filter_map(|text| text.strip_prefix("u64 "))
            .filter(|text| closed.contains(text.split(' ').next().unwrap_or_default()))
            .collect();
        // Windows are made of the others.
        all.sort_unstable_by_key(|text| text.contains(" > "));
        all.join(" ")
    }
}

//! The walks of neighbouring blocks in step; see [`crate::back::cpu::wide::walk`].
//!
//! `walk` is 0 where a block walks by itself, 1 in the first of those that walk together, which does it for all, and counts from there.

use std::collections::HashMap;
use std::mem::{replace, swap, take};

use super::control::Stretch;
use super::names::Name;
use super::{Builder, Form, Mask, Place, Version, scalar_of, types};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::cpu::wide::value_forms::{Forms, Geometry, LANES, Quotients, Survey};
use crate::back::cpu::wide::walk::{CHUNKS, Walk};
use crate::back::lane::build::{int, long, set, ty, when};
use crate::back::lane::memory::Access;
use crate::back::lane::tree::{Field as Member, Stmt as Code};
use crate::ir::{Local, Stmt};

/// Bytes that one local of all blocks is kept in.
const KEPT: u32 = CHUNKS * LANES * 4;

impl<'m> Builder<'m> {
    /// Makes a walk for the blocks that do it together, unless their threads do not go as evenly as those of one.
    pub(super) fn walk_together(&mut self, walk: &'m Walk, survey: &'m Survey) -> Result<()> {
        let Some(plan) = self.split else { return Ok(()) };
        let geometry = Geometry { chunks: CHUNKS, spans: true, ..self.geometry };
        let mut forms = Forms::both(self.func, self.info, geometry, survey, Some(&walk.places), Quotients::Lanes)?;
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
        let next = self.next_blocks.iter().map(|(ptr, by)| (*ptr, by.clone() * long(i64::from(blocks)))).collect();
        let next = replace(&mut self.next_blocks, next);
        let before = (take(&mut self.defined), take(&mut self.lazy), next, self.made.clone());
        let at = plan.scratch.next_multiple_of(64);
        // The loop alone says whether its threads go side by side.
        let looped = Stretch { stmts: &body.stmts[walk.at..=walk.at], spans: &body.spans[walk.at..=walk.at] };
        let is_even = self.walks_side_by_side(looped);
        let done = if is_even { self.walk_of(walk, Stretch { stmts: &stmts, spans: &spans }, at) } else { Ok(()) };
        (self.defined, self.lazy, self.next_blocks, self.made) = before;
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

    fn walk_of(&mut self, walk: &Walk, stretch: Stretch<'_>, at: u32) -> Result<()> {
        let place = Place { mask: Mask::Full, apart: false, version: Version::Together, last: false };
        self.begin_as(Name::Walk, ty::U32, self.in_context(ty::U32, Field::WALK));
        let is_first = self.get(Name::Walk).equals(int(1));
        self.begin();
        self.define(Name::FirstBlock, ty::U32, self.get(Name::Block(0)));
        self.define(Name::Thread, ty::U32, int(0));
        let id = self.fresh();
        self.end = self.label("end", id);
        self.bring(stretch, Version::Together)?;
        self.begin();
        self.stretch(stretch, place)?;
        self.end_block();
        self.here(self.end);
        for (r, l) in walk.results.iter().enumerate() {
            let of = types::whole(scalar_of(self.func.locals[l.index()].ty));
            for u in 0..CHUNKS {
                let place = at + KEPT * r as u32 + LANES * 4 * u;
                let to = self.get(Name::Scratch) + int(i64::from(place));
                let lanes = self.get(Name::Local(*l, Some(u)));
                self.push(self.k.access(Access::Store, of, vec![to, lanes]).stmt());
            }
        }
        // Nobody has seen anything of it.
        let open = self.k.declare_macro("OPEN");
        self.open = Some(open);
        let (faulted, walk) = (self.field(Member::Faulted), self.get(Name::Walk).assigned(int(0)));
        let drop =
            vec![set(faulted.clone(), int(0)), Code::Macro(open), set(self.in_context(ty::U32, Field::WALK), walk)];
        self.push(when(faulted.unlikely(), Code::Block(drop)));
        let first = Code::Block(self.k.end());
        self.add_if(is_first, first, None);
        self.check_length()
    }

    /// Opens the place of the loop where it has not been walked before; whether there is such a thing.
    pub(super) fn begin_unless_walked(&mut self, stmt: &Stmt) -> bool {
        let is_walk =
            self.together.is_some_and(|(walk, _)| matches!(stmt, Stmt::Loop { label, .. } if *label == walk.label));
        if is_walk {
            self.begin();
        }
        is_walk
    }

    /// In place of the loop what it left, where it was walked before.
    pub(super) fn end_unless_walked(&mut self) {
        let Some((walk, at)) = self.together else { return };
        let walked = Code::Block(self.k.end());
        self.begin();
        for (r, l) in walk.results.iter().enumerate() {
            self.bring_walked(*l, at + KEPT * r as u32);
        }
        let brought = Code::Block(self.k.end());
        self.add_if(self.get(Name::Walk), brought, Some(walked));
    }

    fn bring_walked(&mut self, l: Local, at: u32) {
        let of = types::whole(scalar_of(self.func.locals[l.index()].ty));
        let row = int(i64::from(self.geometry.block.x * 4));
        for u in 0..self.chunks {
            let block = (self.get(Name::Walk) - int(1)) * row.clone();
            let place = self.get(Name::Scratch) + int(i64::from(at)) + block + self.first_of(u) * int(4);
            let to = self.get(Name::Local(l, Some(u)));
            self.push(set(to, self.k.access(Access::Load, of, vec![place])));
        }
    }

    /// The bytes of scratch that the results of walks take, besides the plan's.
    pub(super) fn kept_by_walks(&self) -> u32 {
        self.together
            .map_or(0, |(walk, at)| at + KEPT * walk.results.len() as u32 - self.split.map_or(0, |plan| plan.scratch))
    }
}

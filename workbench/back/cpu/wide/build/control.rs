//! Statements: plain C control where the group goes one way, masks where it does not.
//!
//! Under [`Mask::Full`] nothing is masked. A condition that neighbours mostly share (a comparison of lines or of shared numbers) gets two
//! versions of what it guards: one for when all lanes go there, and a masked one. What follows a guarded `return`, and a loop that lanes
//! leave at different times by its first `if`, are there twice for the same reason. A masked version holds no further ones.

use std::collections::HashMap;

use super::arith::comparison;
use super::names::Name;
use super::range::Unchecked;
use super::{Builder, Form, Mask, Place, Target, Version, node};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::{FOLLOWED, SMALL, first_exit};
use crate::back::lane::build::{all, change, choice, forever, int, joined, long, set, ty, ulong, when};
use crate::back::lane::table::{FaultOp, NumberOp};
use crate::back::lane::tree::{self as lane, Binary, Expr, Stmt as Code};
use crate::back::lane::types::Ty;
use crate::ir::{BinaryOp, Block, CompareOp, Label, Op, Scalar, Scope, Stmt, UnaryOp, Value};
use crate::source::Span;

/// A stretch of statements with their spans.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub stmts: &'a [Stmt],
    pub spans: &'a [Span],
}

impl<'a> Stretch<'a> {
    pub fn of(block: &'a Block) -> Self {
        Stretch { stmts: &block.stmts, spans: &block.spans }
    }

    /// Calls for each statement, those inside others included, but for sides that nobody takes.
    pub fn for_each_stmt(self, taken: &HashMap<Value, bool>, f: &mut dyn FnMut(&Stmt)) {
        for stmt in self.stmts {
            f(stmt);
            let side = if let Stmt::If { cond, .. } = stmt { taken.get(cond) } else { None };
            for (i, block) in stmt.blocks().into_iter().enumerate() {
                if side.is_none_or(|side| *side == (i == 0)) {
                    Stretch::of(block).for_each_stmt(taken, f);
                }
            }
        }
    }

    fn from(self, at: usize) -> Self {
        Stretch { stmts: &self.stmts[at..], spans: &self.spans[at.min(self.spans.len())..] }
    }

    fn span(self, at: usize) -> Span {
        self.spans.get(at).copied().unwrap_or_default()
    }
}

/// The comparison that is the same with its operands exchanged; of equality none.
pub(super) fn turned(op: CompareOp) -> Option<CompareOp> {
    match op {
        CompareOp::Lt => Some(CompareOp::Gt),
        CompareOp::Le => Some(CompareOp::Ge),
        CompareOp::Gt => Some(CompareOp::Lt),
        CompareOp::Ge => Some(CompareOp::Le),
        CompareOp::Eq | CompareOp::Ne => None,
    }
}

/// A test that all lanes pass or none does.
struct Test {
    test: Expr,
    /// True if it is a value that the group shares.
    is_shared: bool,
}

/// True if a statement may take control to a place outside of itself.
fn escapes(stmt: &Stmt, inside: &mut Vec<Label>) -> bool {
    match stmt {
        Stmt::Return(_) => true,
        Stmt::Break(l) | Stmt::Continue(l) => !inside.contains(l),
        other => {
            let label = match other {
                Stmt::Loop { label, .. } | Stmt::Scope { label, .. } | Stmt::Switch { label, .. } => Some(*label),
                _ => None,
            };
            inside.extend(label);
            let found = other.blocks().into_iter().any(|b| b.stmts.iter().any(|s| escapes(s, inside)));
            if label.is_some() {
                inside.pop();
            }
            found
        }
    }
}

fn leaves(stmt: &Stmt) -> bool {
    escapes(stmt, &mut Vec::new())
}

impl Builder<'_> {
    /// Makes statements; leaves the mask variables as they are afterwards.
    pub(super) fn stretch(&mut self, stretch: Stretch<'_>, place: Place) -> Result<()> {
        let (mut over, known) = (None, self.pieces.quotients.len());
        for (i, stmt) in stretch.stmts.iter().enumerate() {
            let span = stretch.span(i);
            if !Self::only_computes(stmt) {
                self.pieces.instead = [None; 2];
            }
            if place.mask == Mask::Full && self.splits_group(stmt, place.version) {
                self.split_group(stretch.from(i), place)?;
                break;
            }
            if self.begins_cut(stmt, place.version) && self.cut(stretch.from(i), place)? {
                break;
            }
            let may_be_done = self.begin_unless_walked(stmt);
            self.stmt(stmt, span, Place { last: place.last && i + 1 == stretch.stmts.len(), ..place })?;
            if may_be_done {
                self.end_unless_walked();
            }
            if stmt.is_terminator() {
                break;
            }
            if let (Mask::Some(m), true) = (place.mask, leaves(stmt)) {
                // A mask without lanes skips the rest: variables that all lanes share are set without a look at the mask.
                let over = match over {
                    Some(over) => over,
                    None => {
                        let id = self.fresh();
                        *over.insert(self.label("over", id))
                    }
                };
                self.push(when(!self.any(m), Code::Goto(over)));
            }
        }
        if let Some(over) = over {
            self.here(over);
        }
        self.pieces.quotients.truncate(known);
        self.pieces.instead = [None; 2];
        Ok(())
    }

    /// The statements of a block, in brackets.
    fn block(&mut self, stretch: Stretch<'_>, place: Place) -> Result<Code> {
        self.begin();
        self.stretch(stretch, place)?;
        Ok(Code::Block(self.k.end()))
    }

    /// True if after a statement some of a full group may be gone for the rest of the stretch.
    fn splits_group(&self, stmt: &Stmt, version: Version) -> bool {
        match stmt {
            Stmt::If { cond, .. } if self.ahead(*cond, version) != Form::Group => leaves(stmt),
            Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Scope { .. } => {
                self.leaves_apart(stmt, version, false, &mut Vec::new())
            }
            _ => false,
        }
    }

    /// True if only some lanes may leave a statement for a place outside of it.
    fn leaves_apart(&self, stmt: &Stmt, version: Version, apart: bool, inside: &mut Vec<Label>) -> bool {
        match stmt {
            Stmt::Return(_) => apart,
            Stmt::Break(l) | Stmt::Continue(l) => apart && !inside.contains(l),
            other => {
                let label = match other {
                    Stmt::Loop { label, .. } | Stmt::Scope { label, .. } => Some(*label),
                    _ => None,
                };
                let apart = apart
                    || matches!(other, Stmt::If { cond, .. } if self.ahead(*cond, version) != Form::Group)
                    || label.is_some_and(|l| self.forms_in(Version::Apart).divergent[l.index()]);
                inside.extend(label);
                let found = (other.blocks().into_iter())
                    .any(|b| b.stmts.iter().any(|s| self.leaves_apart(s, version, apart, inside)));
                if label.is_some() {
                    inside.pop();
                }
                found
            }
        }
    }

    /// The first statement of a full group's stretch after which some may be gone, and all that follows.
    fn split_group(&mut self, stretch: Stretch<'_>, place: Place) -> Result<()> {
        let place = Place { last: false, ..place };
        let mut end = None;
        if let [Stmt::If { cond, then, els }, ..] = stretch.stmts
            && self.is_coherent(*cond)
            && !then.stmts.iter().chain(&els.stmts).any(|s| self.leaves_apart(s, place.version, false, &mut Vec::new()))
        {
            // All together, one way or the other; else with masks.
            let id = self.fresh();
            let done = self.label("done", id);
            let masked = self.label("masked", id);
            for (wanted, block) in [(true, then), (false, els)] {
                let test = self.all(*cond, wanted)?;
                self.begin();
                self.pieces.instead[0] = Some(masked);
                self.stretch(Stretch::of(block), place)?;
                if !block.stmts.last().is_some_and(Stmt::is_terminator) {
                    self.pieces.instead[0] = Some(masked).filter(|_| block.stmts.is_empty());
                    self.stretch(stretch.from(1), place)?;
                }
                self.push(Code::Goto(done));
                let then = Code::Block(self.k.end());
                self.add_if(test, then, None);
            }
            self.here(masked);
            end = Some(done);
        }
        self.begin();
        let all: Vec<&Stmt> = stretch.stmts.iter().collect();
        self.part(&all)?;
        let mask = self.everyone();
        // A thread that leaves for another part of the walk takes along its locals; one that returns has no more use for them.
        let apart = place.apart || self.walk.has_masks;
        self.stretch(stretch, Place { mask: Mask::Some(mask), apart, version: Version::Apart, last: false })?;
        self.end_block();
        if let Some(end) = end {
            self.here(end);
        }
        self.check_length()
    }

    /// A new mask that begins as this for each chunk.
    pub(super) fn new_masks(&mut self, value: impl Fn(&Self, u32) -> Expr) -> u32 {
        let n = self.fresh();
        for u in 0..self.chunks {
            let value = value(self, u);
            self.begin_as(Name::Mask(n, u), Ty::Mask, value);
        }
        n
    }

    /// A new mask of all lanes.
    fn everyone(&mut self) -> u32 {
        self.new_masks(|_, _| int(0xffff))
    }

    /// A new mask, a copy of another.
    fn copy_of(&mut self, place: Place) -> u32 {
        self.new_masks(|builder, u| builder.mask(place, u))
    }

    fn nobody(&mut self) -> u32 {
        self.new_masks(|_, _| int(0))
    }

    fn is_coherent(&self, cond: Value) -> bool {
        self.forms_of(cond).is_coherent(cond)
    }

    /// True if a condition is `wanted` for all lanes of a full group.
    fn all(&mut self, cond: Value, wanted: bool) -> Result<Expr> {
        if let Some(Test { test, .. }) = self.all_by_ends(cond, wanted) {
            return Ok(test);
        }
        let parts: Vec<Expr> = (0..self.chunks).map(|u| self.lanes(cond, u)).collect::<Result<_>>()?;
        let joined = |op| joined(op, parts).unwrap_or(int(0));
        Ok(match (self.form(cond), wanted) {
            (Form::Group, true) => self.one(cond, 0),
            (Form::Group, false) => !self.one(cond, 0),
            (_, true) => joined(Binary::And).cast(Ty::Mask).equals(int(0xffff)),
            (_, false) => !joined(Binary::Or),
        })
    }

    /// As [`Builder::all`], by the ends of the lines that are compared: a test that may fail where the lanes agree, and never holds where
    /// they do not.
    fn all_by_ends(&self, cond: Value, wanted: bool) -> Option<Test> {
        let op = self.op_of(cond)?;
        let signed = |one: Expr| if wanted { one } else { !one };
        let both = |is_and: bool| {
            let mut parts = Vec::new();
            self.parts(cond, op, wanted, &mut parts)?;
            // Values that the group shares mostly do not change from group to group: one test that is made once.
            let (shared, others): (Vec<Test>, Vec<Test>) = parts.into_iter().partition(|part| part.is_shared);
            let (one, all) = if is_and { (Binary::And, Binary::Both) } else { (Binary::Or, Binary::Either) };
            let tests = |parts: Vec<Test>| parts.into_iter().map(|part| part.test);
            let test = joined(all, joined(one, tests(shared)).into_iter().chain(tests(others)))?;
            (!self.is_long(&test)).then_some(Test { test, is_shared: false })
        };
        // A condition that another region kept may be made of what this one does not know.
        if !self.form(cond).is_one() && !op.operands().iter().all(|v| self.defined.contains(v)) {
            return None;
        }
        match (self.form(cond), op) {
            (Form::Group, _) => Some(Test { test: signed(self.one(cond, 0)), is_shared: true }),
            (Form::Chunk, _) => {
                let test = all((0..self.chunks).map(|u| signed(self.one(cond, u))));
                Some(Test { test, is_shared: false })
            }
            (_, Op::Compare(op, a, b)) => self.all_compared(*op, (*a, *b), wanted),
            (_, Op::Binary(BinaryOp::And, ..)) => both(wanted),
            (_, Op::Binary(BinaryOp::Or, ..)) => both(!wanted),
            (_, Op::Unary(UnaryOp::Not, a)) => self.all_by_ends(*a, !wanted),
            _ => None,
        }
    }

    /// The tests of what a chain of `&` or of `|` joins.
    fn parts(&self, cond: Value, chain: &Op, wanted: bool, found: &mut Vec<Test>) -> Option<()> {
        match (chain, self.op_of(cond)) {
            (Op::Binary(joins, ..), Some(Op::Binary(op, a, b)))
                if joins == op && !self.form(cond).is_one() && [a, b].iter().all(|v| self.defined.contains(v)) =>
            {
                self.parts(*a, chain, wanted, found)?;
                self.parts(*b, chain, wanted, found)
            }
            _ => {
                found.push(self.all_by_ends(cond, wanted)?);
                Some(())
            }
        }
    }

    /// The test of a line compared with one number.
    fn all_compared(&self, op: CompareOp, (a, b): (Value, Value), wanted: bool) -> Option<Test> {
        let (op, line, one) = match (self.form(a), self.form(b)) {
            (form, one) if form.slope().is_some() && one.is_one() => (op, a, b),
            (one, form) if one.is_one() && form.slope().is_some() => (turned(op)?, b, a),
            _ => return None,
        };
        let op = match (op, wanted) {
            (op, true) => op,
            (CompareOp::Lt, false) => CompareOp::Ge,
            (CompareOp::Le, false) => CompareOp::Gt,
            (CompareOp::Gt, false) => CompareOp::Le,
            (CompareOp::Ge, false) => CompareOp::Lt,
            _ => return None,
        };
        // The end of the line that the number has to be past.
        let of_last = match op {
            CompareOp::Lt | CompareOp::Le => true,
            CompareOp::Gt | CompareOp::Ge => false,
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        let s = self.func.ty(line).scalar()?;
        let is_whole = self.form(line).is_whole() && self.form(one) == Form::Group;
        let step = self.form(line).slope()?;
        let reach = if is_whole { self.reach(Form::Row(step)) } else { self.reach(Form::Line(step)) };
        let (number, most, least) = match s {
            Scalar::I32 => (ty::I64, long(0x7fff_ffff), long(-0x8000_0000)),
            Scalar::U32 => (ty::I64, long(0xffff_ffff), int(0)),
            Scalar::I64 => (ty::WIDE, long(i64::MAX), long(-i64::MAX) - int(1)),
            Scalar::U64 => (ty::WIDE, ulong(u64::MAX), int(0)),
            _ => return None,
        };
        // A line that wraps around has its ends in the middle. A test of the end that would wrap sees it by itself.
        let grows = step > 0;
        let sees = of_last == grows || self.forms_of(line).magnitude(line, FOLLOWED) < SMALL;
        let parts = (0..if is_whole { 1 } else { self.chunks }).flat_map(|u| {
            let (x, y) = (self.one(line, u).cast(number.clone()), self.one(one, u).cast(number.clone()));
            let far = x.clone() + int(reach);
            let end = if of_last == grows { far.clone() } else { x };
            let stays = match (sees, grows) {
                (true, _) => None,
                (false, true) => Some(far.le(most.clone())),
                (false, false) => Some(far.ge(least.clone())),
            };
            let test = end.with(comparison(op), y);
            self.rests(line, u).into_iter().chain(stays).chain([test]).collect::<Vec<_>>()
        });
        Some(Test { test: all(parts), is_shared: false })
    }

    fn stmt(&mut self, stmt: &Stmt, span: Span, place: Place) -> Result<()> {
        match stmt {
            Stmt::Let(v, op) => self.bind(*v, op, span, place),
            Stmt::Set(l, v) => self.set(*l, *v, place),
            Stmt::Store { volatile: true, .. } => Err(Unsupported("a volatile access")),
            Stmt::Store { ptr, value, .. } => self.store(*ptr, *value, span, place),
            Stmt::Atomic { result, op, ptr, value, compare } => {
                self.atomic(*result, *op, (*ptr, *value, *compare), span, place)
            }
            Stmt::Aligned { ptr, align } => self.aligned(*ptr, *align, span, place),
            Stmt::If { cond, then, els } => self.branch(*cond, (then, els), span, place),
            Stmt::Loop { .. } => self.repeat(stmt, span, place),
            Stmt::Scope { label, body } => self.scope(*label, body, place),
            Stmt::Break(label) | Stmt::Continue(label) => {
                self.jump(*label, matches!(stmt, Stmt::Continue(_)), span, place)
            }
            Stmt::Return(_) => {
                self.note_exit(place);
                if self.split.is_some() {
                    if !self.walk.has_masks {
                        return Err(Unsupported("a return out of a region"));
                    }
                    self.leave(node::EXITED, None, place);
                }
                self.end_of_group(place);
                Ok(())
            }
            Stmt::Assert { cond, message } => {
                let site = self.site(span, SiteKind::Assert(message.clone()));
                for u in 0..self.chunks {
                    let failed = self.mask(place, u) & self.lanes(*cond, u)?.inverted();
                    let note = self.note_one(&site, u, failed.clone(), (int(0), int(0)));
                    let then = Code::Block(vec![note, self.close()]);
                    self.push(when(failed.cast(Ty::Mask).unlikely(), then));
                }
                Ok(())
            }
            Stmt::Trap | Stmt::MissingReturn(_) => {
                let kind = match stmt {
                    Stmt::MissingReturn(name) => SiteKind::MissingReturn(name.clone()),
                    _ => SiteKind::Trap,
                };
                let site = self.site(span, kind);
                for u in 0..self.chunks {
                    let note = self.note_one(&site, u, self.mask(place, u), (int(0), int(0)));
                    self.push(note);
                    self.push(self.close());
                }
                Ok(())
            }
            Stmt::Fence => {
                self.push(NumberOp::Fence.on([]).stmt());
                Ok(())
            }
            Stmt::Barrier(Scope::Block | Scope::Warp) => Err(Unsupported("a barrier inside a region")),
            Stmt::Collective { result, op, args } => self.join_lanes((*result, *op, args), span, place),
            Stmt::Printf { .. } => Err(Unsupported("`printf`")),
            Stmt::Call { .. } | Stmt::Dispatch(_) => Err(Unsupported("a call of a function that is not inlined")),
            Stmt::Switch { .. } => Err(Unsupported("a switch")),
            Stmt::Service { .. } | Stmt::Launch { .. } => Err(Unsupported("host code")),
        }
    }

    /// Threads that are here are done with the region.
    fn end_of_group(&mut self, place: Place) {
        match place.mask {
            Mask::Full => self.push(Code::Goto(self.end)),
            Mask::Some(mask) => {
                for u in 0..self.chunks {
                    self.push(set(self.get(Name::Mask(mask, u)), int(0)));
                }
            }
        }
    }

    fn target(&self, label: Label) -> Result<Target> {
        self.targets.iter().rev().find(|t| t.label == label).copied().ok_or(Unsupported("a jump out of a region"))
    }

    fn jump(&mut self, label: Label, goes_on: bool, span: Span, place: Place) -> Result<()> {
        let Target { step, exit, masks, is_node, .. } = self.target(label)?;
        if is_node {
            let Some((left, again)) = masks else { return Err(Unsupported("a jump out of a region")) };
            self.leave(if goes_on { again } else { left }, Some(span), place);
            self.end_of_group(place);
            return Ok(());
        }
        match (place.mask, masks) {
            (Mask::Full, None) => {
                self.push(Code::Goto(if goes_on { step } else { exit }));
                Ok(())
            }
            (Mask::Some(m), Some((left, again))) => {
                self.move_masks(m, if goes_on { again } else { left });
                Ok(())
            }
            _ => Err(Unsupported("a jump of some lanes out of a construct of all")),
        }
    }

    /// The lanes of a mask become some of another.
    fn move_masks(&mut self, from: u32, to: u32) {
        for u in 0..self.chunks {
            let from = self.get(Name::Mask(from, u));
            self.push(change(self.get(Name::Mask(to, u)), Binary::Or, from.clone()));
            self.push(set(from, int(0)));
        }
    }

    fn branch(&mut self, cond: Value, (then, els): (&Block, &Block), span: Span, place: Place) -> Result<()> {
        if self.form(cond) == Form::Group {
            let test = self.one(cond, 0);
            let then = self.block(Stretch::of(then), place)?;
            let els = self.block(Stretch::of(els), place)?;
            self.add_if(test, then, Some(els));
            return Ok(());
        }
        if let (Mask::Full, Some(side)) = (place.mask, self.known.taken.get(&cond)) {
            let block = if *side { then } else { els };
            return self.stretch(Stretch::of(block), place);
        }
        match place.mask {
            // Nobody leaves for good, or this would have been split before.
            Mask::Full => {
                let is_coherent = self.is_coherent(cond);
                let halves = std::mem::take(&mut self.halves);
                let mut ways = Vec::new();
                let id = self.fresh();
                let masked = self.label("masked", id);
                let is_cut = is_coherent && [then, els].into_iter().any(|side| self.has_cuts(side, place.version));
                if is_coherent {
                    for (wanted, block) in [(true, then), (false, els)] {
                        let test = self.all(cond, wanted)?;
                        self.pieces.instead[0] = Some(masked).filter(|_| is_cut);
                        let way = match !wanted && halves {
                            true => Code::Block(vec![Code::Break]),
                            false => self.block(Stretch::of(block), place)?,
                        };
                        ways.push((test, way));
                    }
                }
                self.begin();
                self.sides(cond, (then, els), span, place)?;
                let apart = Code::Block(self.k.end());
                if is_cut {
                    // Chunks that turn out to have several quotients go on with masks.
                    let done = self.label("done", id);
                    for (test, way) in ways {
                        self.add_if(test, Code::Block(vec![way, Code::Goto(done)]), None);
                    }
                    self.here(masked);
                    self.add(apart);
                    self.here(done);
                    return Ok(());
                }
                let all = ways.into_iter().rev().fold(apart, |els, (test, then)| choice(test, then, els));
                self.add(all);
                Ok(())
            }
            Mask::Some(m) => {
                self.begin();
                let (yes, no) = self.sides(cond, (then, els), span, place)?;
                if then.stmts.iter().chain(&els.stmts).any(leaves) {
                    for u in 0..self.chunks {
                        let whole = self.get(Name::Mask(m, u));
                        let other = match no {
                            Some(no) => self.get(Name::Mask(no, u)),
                            None => whole.clone() & self.get(Name::Holds(yes, u)).inverted(),
                        };
                        self.push(set(whole, self.get(Name::Mask(yes, u)) | other));
                    }
                }
                self.end_block();
                Ok(())
            }
        }
    }

    /// Both sides of an `If`, one after the other, each with the lanes that take it.
    fn sides(
        &mut self,
        cond: Value,
        (then, els): (&Block, &Block),
        span: Span,
        place: Place,
    ) -> Result<(u32, Option<u32>)> {
        let yes = self.fresh();
        for u in 0..self.chunks {
            let (mask, holds) = (self.mask(place, u), self.lanes(cond, u)?);
            self.define(Name::Holds(yes, u), Ty::Mask, holds);
            self.begin_as(Name::Mask(yes, u), Ty::Mask, mask & self.get(Name::Holds(yes, u)));
        }
        let no = match els.stmts.is_empty() {
            true => None,
            false => {
                Some(self.new_masks(|builder, u| builder.mask(place, u) & builder.get(Name::Holds(yes, u)).inverted()))
            }
        };
        let both = self.both(then, els, place);
        if let Some(both) = &both {
            self.before_both(both, place)?;
        }
        for (side, (mask, block)) in [(Some(yes), then), (no, els)].into_iter().enumerate() {
            let Some(mask) = mask else { continue };
            let any = self.any(mask);
            self.begin();
            let inner = Place { mask: Mask::Some(mask), apart: true, last: false, ..place };
            self.branches.push((mask, span));
            match &both {
                Some(both) => self.side_of(both, side, block, (mask, inner))?,
                None => self.stretch(Stretch::of(block), inner)?,
            }
            self.branches.pop();
            let taken = Code::Block(self.k.end());
            self.add_if(any, taken, None);
        }
        if let (Some(both), Some(no)) = (&both, no) {
            self.after_both(both, [yes, no])?;
        }
        Ok((yes, no))
    }

    /// A construct that is not around regions, which the whole group leaves together or lanes of masks do.
    fn construct(&mut self, label: Label, masks: Option<(u32, u32)>) -> Target {
        let id = self.fresh();
        let (step, exit) = (self.label("step", id), self.label("exit", id));
        Target { label, step, exit, masks, is_node: false }
    }

    fn scope(&mut self, label: Label, body: &Block, place: Place) -> Result<()> {
        let plain = place.mask == Mask::Full && !self.forms_in(place.version).divergent[label.index()];
        self.begin();
        if plain {
            let target = self.construct(label, None);
            self.targets.push(target);
            self.stretch(Stretch::of(body), Place { last: false, ..place })?;
            self.targets.pop();
            self.end_block();
            self.here(target.exit);
            return Ok(());
        }
        let (inner, left) = (self.copy_of(place), self.nobody());
        let target = self.construct(label, Some((left, left)));
        self.targets.push(target);
        self.stretch(Stretch::of(body), Place { mask: Mask::Some(inner), apart: true, last: false, ..place })?;
        self.targets.pop();
        if let Mask::Some(m) = place.mask {
            for u in 0..self.chunks {
                let (inner, left) = (self.get(Name::Mask(inner, u)), self.get(Name::Mask(left, u)));
                self.push(set(self.get(Name::Mask(m, u)), inner | left));
            }
        }
        self.end_block();
        Ok(())
    }

    /// The cost of a round of a loop, which comes off the budget, and the poll when that is used up.
    pub(super) fn poll(&mut self, label: Label, span: Span, place: Option<Place>) {
        let work = self.info.loops.get(label.index()).copied().unwrap_or(1).min(1 << 24) * u64::from(self.chunks) * 2;
        let site = self.site(span, SiteKind::Poll { waits: false });
        let first = if place.is_some() { self.get(Name::Thread) } else { int(0) };
        let budget = self.get(Name::Budget);
        let tick = FaultOp::Tick.on([self.context(), self.state(), site, first]);
        let stopped = budget.clone().assigned(tick).lt(int(0));
        let mut refill = vec![when(stopped, Code::Return(Some(int(1))))];
        // Lanes at or past one that faulted are out of the loop: what they loaded may keep them in it for ever.
        if let Some(Place { mask: Mask::Some(m), .. }) = place {
            for u in 0..self.chunks {
                let alive = FaultOp::Alive.on([self.state(), self.first_of(u)]);
                refill.push(change(self.get(Name::Mask(m, u)), Binary::And, alive));
            }
        }
        let used_up = budget.changed(Binary::Sub, int(work as i64)).lt(int(0));
        self.push(when(used_up.unlikely(), Code::Block(refill)));
    }

    /// A body and a step of a loop of all of a group, with a poll; then where `break` goes.
    fn rounds(&mut self, target: Target, (body, step): (&Block, &Block), span: Span, place: Place) -> Result<()> {
        self.begin();
        self.targets.push(target);
        let body = self.block(Stretch::of(body), place)?;
        self.add(body);
        self.here(target.step);
        let step = self.block(Stretch::of(step), place)?;
        self.add(step);
        self.targets.pop();
        self.poll(target.label, span, Some(place));
        let round = self.k.end();
        self.add(forever(round));
        self.here(target.exit);
        self.check_length()
    }

    fn repeat(&mut self, stmt: &Stmt, span: Span, place: Place) -> Result<()> {
        let Stmt::Loop { label, body, step } = stmt else { return Ok(()) };
        let (id, label) = (self.fresh(), *label);
        let forms = self.forms_in(place.version);
        let (together, divergent) =
            (forms.rounds.contains(&label), forms.divergent[label.index()] || forms.rounds.contains(&label));
        let keeps_early = place.last;
        let place = Place { last: false, ..place };
        if place.mask == Mask::Full && !divergent {
            return self.unchecked_or_not(stmt, place, (true, keeps_early), |builder| {
                let target = builder.construct(label, None);
                builder.rounds(target, (body, step), span, place)
            });
        }
        let past = self.label("past", id);
        if place.mask == Mask::Full && together {
            // The masked rounds below do it all where not even the first round is everybody's, or something is out of bounds.
            self.unchecked_or_not(stmt, place, (false, false), |builder| builder.full_rounds(stmt, past, span, place))?;
        }
        // Lanes that went round together still count together in the rounds that only some do: what left does not look again at what a
        // round sets for all.
        self.begin();
        let version = place.version;
        let (inner, left, again) = (self.copy_of(place), self.nobody(), self.nobody());
        let target = self.construct(label, Some((left, again)));
        self.begin();
        self.targets.push(target);
        let inside = Place { mask: Mask::Some(inner), apart: true, version, last: false };
        let body = self.block(Stretch::of(body), inside)?;
        self.add(body);
        self.move_masks(again, inner);
        let ends = when(!self.any(inner), Code::Break);
        self.push(ends.clone());
        let last = self.block(Stretch::of(step), inside)?;
        self.add(last);
        self.targets.pop();
        if step.stmts.iter().any(leaves) {
            self.push(ends);
        }
        self.poll(label, span, Some(inside));
        let round = self.k.end();
        self.add(forever(round));
        if let Mask::Some(m) = place.mask {
            for u in 0..self.chunks {
                self.push(set(self.get(Name::Mask(m, u)), self.get(Name::Mask(left, u))));
            }
        }
        self.end_block();
        self.here(past);
        self.check_length()
    }

    /// A loop without the checks that hold for all of its rounds, where they do, and with them where they do not.
    /// Without `twice` no such text is needed where all is checked ahead. With `keeps_early` nothing of the group follows.
    fn unchecked_or_not(
        &mut self,
        stmt: &Stmt,
        place: Place,
        (twice, keeps_early): (bool, bool),
        rounds: impl Fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.begin();
        let mut fast = None;
        if let Some(Unchecked { test, known }) = self.unchecked(stmt, place.version)? {
            let (before, all) = (self.known.clone(), known.safe);
            self.known.extend(known);
            self.begin();
            rounds(self)?;
            self.known = before;
            if keeps_early {
                self.keep_early();
            }
            let then = Code::Block(self.k.end());
            if all && !twice {
                self.add_if(test.likely(), then, None);
                self.end_block();
                return Ok(());
            }
            fast = Some((test, then));
        }
        self.begin();
        rounds(self)?;
        let slow = Code::Block(self.k.end());
        match fast {
            Some((test, then)) => self.add_if(test.likely(), then, Some(slow)),
            None => self.add(slow),
        }
        self.end_block();
        Ok(())
    }

    /// Rounds that all lanes do, of a loop that they leave by its first `if`; what is left of it follows with masks.
    /// When all leave together, on to `past`.
    fn full_rounds(&mut self, stmt: &Stmt, past: lane::Label, span: Span, place: Place) -> Result<()> {
        let (Stmt::Loop { label, body, step }, Some((at, cond, stays))) = (stmt, first_exit(stmt)) else {
            return Ok(());
        };
        let target = self.construct(*label, None);
        self.begin();
        self.targets.push(target);
        self.begin();
        self.stretch(Stretch { stmts: &body.stmts[..at], spans: &body.spans[..at] }, place)?;
        let test = self.all(cond, stays)?;
        let nobody = self.all(cond, !stays)?;
        let leave = Code::Block(vec![when(nobody, Code::Goto(past)), Code::Break]);
        self.push(when(!test, leave));
        self.stretch(Stretch::of(body).from(at + 1), place)?;
        self.end_block();
        self.here(target.step);
        let step = self.block(Stretch::of(step), place)?;
        self.add(step);
        self.targets.pop();
        self.poll(*label, span, Some(place));
        let round = self.k.end();
        self.add(forever(round));
        Ok(())
    }
}

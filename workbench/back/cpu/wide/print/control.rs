//! Statements: plain C control where the group goes one way, masks where it does not.
//!
//! Under [`Mask::Full`] nothing is masked. A condition that neighbours mostly share (a comparison of lines or of shared numbers) gets two
//! versions of what it guards: one for when all lanes go there, and a masked one. What follows a guarded `return`, and a loop that lanes
//! leave at different times by its first `if`, are printed twice for the same reason. A masked version holds no further ones.

use std::collections::HashMap;

use super::range::Unchecked;
use super::{Form, MAX_EXPRESSION, Mask, Place, Printer, Target, Version, node};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::wide::forms::{FOLLOWED, SMALL, first_exit};
use crate::back::cpu::wide::{Result, Unsupported};
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

/// Whether a test is a name or its opposite.
fn is_name(test: &str) -> bool {
    let name = test.trim_start_matches('!');
    name.len() > 1 && name.starts_with('v') && name[1..].bytes().all(|c| c.is_ascii_digit())
}

/// Whether a statement may take control to a place outside of itself.
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

impl Printer<'_> {
    /// Prints statements; leaves the mask variables as they are afterwards.
    pub(super) fn stretch(&mut self, stretch: Stretch<'_>, place: Place) -> Result<()> {
        let mut over = None;
        for (i, stmt) in stretch.stmts.iter().enumerate() {
            let span = stretch.span(i);
            if place.mask == Mask::Full && self.splits_group(stmt, place.version) {
                return self.split_group(stretch.from(i), place);
            }
            let may_be_done = self.begin_unless_walked(stmt);
            self.stmt(stmt, span, Place { last: place.last && i + 1 == stretch.stmts.len(), ..place })?;
            if may_be_done {
                self.line("}");
            }
            if stmt.is_terminator() {
                break;
            }
            if let (Mask::Some(m), true) = (place.mask, leaves(stmt)) {
                // Where nobody is left nothing may happen: what all lanes share is set without a look at the mask.
                let over = *over.get_or_insert_with(|| self.fresh());
                let any = self.any(m);
                self.line(format!("if (!{any}) goto over{over};"));
            }
        }
        if let Some(over) = over {
            self.line(format!("over{over}:;"));
        }
        Ok(())
    }

    /// Whether after a statement some of a full group may be gone for the rest of the stretch.
    fn splits_group(&self, stmt: &Stmt, version: Version) -> bool {
        match stmt {
            Stmt::If { cond, .. } if self.ahead(*cond, version) != Form::Group => leaves(stmt),
            Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Scope { .. } => {
                self.leaves_apart(stmt, version, false, &mut Vec::new())
            }
            _ => false,
        }
    }

    /// Whether only some lanes may leave a statement for a place outside of it.
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
                    || label.is_some_and(|l| self.forms[Version::Apart as usize].divergent[l.index()]);
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
            let label = self.fresh();
            for (wanted, block) in [(true, then), (false, els)] {
                let test = self.all(*cond, wanted)?;
                self.line(format!("if ({test}) {{"));
                self.stretch(Stretch::of(block), place)?;
                if !block.stmts.last().is_some_and(Stmt::is_terminator) {
                    self.stretch(stretch.from(1), place)?;
                }
                self.line(format!("goto done{label};\n}}"));
            }
            end = Some(label);
        }
        self.line("{");
        let all: Vec<&Stmt> = stretch.stmts.iter().collect();
        self.part(&all);
        let mask = self.everyone();
        // Who leaves for another part of the walk takes along what is now in its locals; who returns has no more use for them.
        let apart = place.apart || self.walk.has_masks;
        self.stretch(stretch, Place { mask: Mask::Some(mask), apart, version: Version::Apart, last: false })?;
        self.line("}");
        if let Some(end) = end {
            self.line(format!("done{end}:;"));
        }
        self.check_length()
    }

    /// A new mask of all lanes.
    fn everyone(&mut self) -> u32 {
        let n = self.fresh();
        for u in 0..self.chunks {
            self.line(format!("m16 m{n}_{u} = 0xffff;"));
        }
        n
    }

    /// A new mask, a copy of another.
    fn copy_of(&mut self, place: Place) -> u32 {
        let n = self.fresh();
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            self.line(format!("m16 m{n}_{u} = {mask};"));
        }
        n
    }

    fn nobody(&mut self) -> u32 {
        let n = self.fresh();
        for u in 0..self.chunks {
            self.line(format!("m16 m{n}_{u} = 0;"));
        }
        n
    }

    fn is_coherent(&self, cond: Value) -> bool {
        self.forms_of(cond).is_coherent(cond)
    }

    /// Whether a condition is `wanted` for all lanes of a full group.
    fn all(&mut self, cond: Value, wanted: bool) -> Result<String> {
        if let Some(test) = self.all_by_ends(cond, wanted) {
            return Ok(test);
        }
        let parts: Vec<String> = (0..self.chunks).map(|u| self.lanes(cond, u)).collect::<Result<_>>()?;
        Ok(match (self.form(cond), wanted) {
            (Form::Group, true) => self.one(cond, 0),
            (Form::Group, false) => format!("!{}", self.one(cond, 0)),
            (_, true) => format!("(m16)({}) == 0xffff", parts.join(" & ")),
            (_, false) => format!("!({})", parts.join(" | ")),
        })
    }

    /// As [`Printer::all`], by the ends of the lines that are compared: a test that may fail where the lanes agree, and never holds where
    /// they do not.
    fn all_by_ends(&self, cond: Value, wanted: bool) -> Option<String> {
        let sign = if wanted { "" } else { "!" };
        let op = self.op_of(cond)?;
        let both = |is_and: bool| {
            let mut parts = Vec::new();
            self.parts(cond, op, wanted, &mut parts)?;
            // What the group shares mostly does not change from group to group: one test that is made once.
            let (shared, others): (Vec<String>, Vec<String>) = parts.into_iter().partition(|part| is_name(part));
            let (one, all) = if is_and { (" & ", " && ") } else { (" | ", " || ") };
            let shared = (!shared.is_empty()).then(|| format!("({})", shared.join(one)));
            let text = format!("({})", shared.into_iter().chain(others).collect::<Vec<_>>().join(all));
            (text.len() <= MAX_EXPRESSION).then_some(text)
        };
        // A condition that another region kept may be made of what this one does not know.
        if !self.form(cond).is_one() && !op.operands().iter().all(|v| self.defined.contains(v)) {
            return None;
        }
        match (self.form(cond), op) {
            (Form::Group, _) => Some(format!("{sign}{}", self.one(cond, 0))),
            (Form::Chunk, _) => {
                let parts: Vec<String> = (0..self.chunks).map(|u| format!("{sign}{}", self.one(cond, u))).collect();
                Some(format!("({})", parts.join(" && ")))
            }
            (_, Op::Compare(op, a, b)) => self.all_compared(*op, (*a, *b), wanted),
            (_, Op::Binary(BinaryOp::And, ..)) => both(wanted),
            (_, Op::Binary(BinaryOp::Or, ..)) => both(!wanted),
            (_, Op::Unary(UnaryOp::Not, a)) => self.all_by_ends(*a, !wanted),
            _ => None,
        }
    }

    /// The tests of what a chain of `&` or of `|` joins.
    fn parts(&self, cond: Value, chain: &Op, wanted: bool, found: &mut Vec<String>) -> Option<()> {
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

    /// Of a line compared with one number.
    fn all_compared(&self, op: CompareOp, (a, b): (Value, Value), wanted: bool) -> Option<String> {
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
        // Of a line the end that the number has to be past.
        let (of_last, sign) = match op {
            CompareOp::Lt => (true, "<"),
            CompareOp::Le => (true, "<="),
            CompareOp::Gt => (false, ">"),
            CompareOp::Ge => (false, ">="),
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        let s = self.func.ty(line).scalar()?;
        let is_whole = self.form(line).is_whole() && self.form(one) == Form::Group;
        let step = self.form(line).slope()?;
        let reach = if is_whole { self.reach(Form::Row(step)) } else { self.reach(Form::Line(step)) };
        let (number, most, least) = match s {
            Scalar::I32 => ("i64", "0x7fffffffll", "-0x80000000ll"),
            Scalar::U32 => ("i64", "0xffffffffll", "0"),
            Scalar::I64 => ("wide", "0x7fffffffffffffffll", "(-0x7fffffffffffffffll - 1)"),
            Scalar::U64 => ("wide", "0xffffffffffffffffull", "0"),
            _ => return None,
        };
        // A line that wraps around has its ends in the middle. A test of the end that would wrap sees it by itself.
        let grows = step > 0;
        let sees = of_last == grows || self.forms_of(line).magnitude(line, FOLLOWED) < SMALL;
        let parts: Vec<String> = (0..if is_whole { 1 } else { self.chunks })
            .map(|u| {
                let (x, y, rests) = (self.one(line, u), self.one(one, u), self.rests(line, u));
                let far = format!("({number}){x} + {reach}");
                let end = if of_last == grows { far.clone() } else { format!("({number}){x}") };
                let stays = match (sees, grows) {
                    (true, _) => String::new(),
                    (false, true) => format!("{far} <= {most} && "),
                    (false, false) => format!("{far} >= {least} && "),
                };
                format!("{rests}{stays}{end} {sign} ({number}){y}")
            })
            .collect();
        Some(format!("({})", parts.join(" && ")))
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
            Stmt::If { cond, then, els } => self.branch(*cond, then, els, place),
            Stmt::Loop { .. } => self.repeat(stmt, span, place),
            Stmt::Scope { label, body } => self.scope(*label, body, place),
            Stmt::Break(label) | Stmt::Continue(label) => {
                self.jump(*label, matches!(stmt, Stmt::Continue(_)), span, place)
            }
            Stmt::Return(_) => {
                if self.split.is_some() {
                    if !self.walk.has_masks {
                        return Err(Unsupported("a return out of a region"));
                    }
                    self.leave(node::EXITED, None, place);
                }
                match place.mask {
                    Mask::Full => {
                        let end = self.end;
                        self.line(format!("goto end{end};"));
                    }
                    Mask::Some(m) => self.clear(m),
                }
                Ok(())
            }
            Stmt::Assert { cond, message } => {
                let site = self.site(span, SiteKind::Assert(message.clone()));
                for u in 0..self.chunks {
                    let (mask, holds) = (self.mask(place, u), self.lanes(*cond, u)?);
                    self.line(format!(
                        "if (unlikely((m16)({mask} & ~{holds}))) {{ note_one(&st, {site}, t0 + {}, {mask} & ~{holds}, 0, 0); CLOSE }}",
                        16 * u
                    ));
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
                    let mask = self.mask(place, u);
                    self.line(format!("note_one(&st, {site}, t0 + {}, {mask}, 0, 0); CLOSE", 16 * u));
                }
                Ok(())
            }
            Stmt::Fence => {
                self.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
                Ok(())
            }
            Stmt::Barrier(Scope::Block | Scope::Warp) => Err(Unsupported("a barrier inside a region")),
            Stmt::Collective { .. } => Err(Unsupported("a warp function inside a region")),
            Stmt::Printf { .. } => Err(Unsupported("`printf`")),
            Stmt::Call { .. } | Stmt::Dispatch(_) => Err(Unsupported("a call of a function that is not inlined")),
            Stmt::Switch { .. } => Err(Unsupported("a switch")),
            Stmt::Service { .. } | Stmt::Launch { .. } => Err(Unsupported("host code")),
        }
    }

    fn clear(&mut self, mask: u32) {
        for u in 0..self.chunks {
            self.line(format!("m{mask}_{u} = 0;"));
        }
    }

    fn target(&self, label: Label) -> Result<Target> {
        self.targets.iter().rev().find(|t| t.label == label).copied().ok_or(Unsupported("a jump out of a region"))
    }

    fn jump(&mut self, label: Label, goes_on: bool, span: Span, place: Place) -> Result<()> {
        let Target { id, masks, is_node, .. } = self.target(label)?;
        if is_node {
            let Some((left, again)) = masks else { return Err(Unsupported("a jump out of a region")) };
            self.leave(if goes_on { again } else { left }, Some(span), place);
            match place.mask {
                Mask::Full => {
                    let end = self.end;
                    self.line(format!("goto end{end};"));
                }
                Mask::Some(m) => self.clear(m),
            }
            return Ok(());
        }
        match (place.mask, masks) {
            (Mask::Full, None) => {
                self.line(format!("goto {}{id};", if goes_on { "step" } else { "exit" }));
                Ok(())
            }
            (Mask::Some(m), Some((left, again))) => {
                let to = if goes_on { again } else { left };
                for u in 0..self.chunks {
                    self.line(format!("m{to}_{u} |= m{m}_{u}; m{m}_{u} = 0;"));
                }
                Ok(())
            }
            _ => Err(Unsupported("a jump of some lanes out of a construct of all")),
        }
    }

    fn branch(&mut self, cond: Value, then: &Block, els: &Block, place: Place) -> Result<()> {
        if self.form(cond) == Form::Group {
            let test = self.one(cond, 0);
            self.line(format!("if ({test}) {{"));
            self.stretch(Stretch::of(then), place)?;
            self.line("} else {");
            self.stretch(Stretch::of(els), place)?;
            self.line("}");
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
                if is_coherent {
                    for (wanted, block) in [(true, then), (false, els)] {
                        let test = self.all(cond, wanted)?;
                        self.line(format!("if ({test}) {{"));
                        match !wanted && halves {
                            true => self.line("break;"),
                            false => self.stretch(Stretch::of(block), place)?,
                        }
                        self.line("} else");
                    }
                }
                self.line("{");
                self.sides(cond, (then, els), place)?;
                self.line("}");
                Ok(())
            }
            Mask::Some(m) => {
                self.line("{");
                let (yes, no) = self.sides(cond, (then, els), place)?;
                if then.stmts.iter().chain(&els.stmts).any(leaves) {
                    for u in 0..self.chunks {
                        let other = no.map_or_else(|| format!("(m{m}_{u} & ~c{yes}_{u})"), |n| format!("m{n}_{u}"));
                        self.line(format!("m{m}_{u} = m{yes}_{u} | {other};"));
                    }
                }
                self.line("}");
                Ok(())
            }
        }
    }

    /// Both sides of an `If`, one after the other, each with the lanes that take it.
    fn sides(&mut self, cond: Value, (then, els): (&Block, &Block), place: Place) -> Result<(u32, Option<u32>)> {
        let yes = self.fresh();
        for u in 0..self.chunks {
            let (mask, holds) = (self.mask(place, u), self.lanes(cond, u)?);
            self.line(format!("const m16 c{yes}_{u} = {holds}; m16 m{yes}_{u} = {mask} & c{yes}_{u};"));
        }
        let no = if els.stmts.is_empty() { None } else { Some(self.fresh()) };
        if let Some(no) = no {
            for u in 0..self.chunks {
                let mask = self.mask(place, u);
                self.line(format!("m16 m{no}_{u} = {mask} & ~c{yes}_{u};"));
            }
        }
        let both = self.both(then, els, place);
        if let Some(both) = &both {
            self.before_both(both, place)?;
        }
        for (side, (mask, block)) in [(Some(yes), then), (no, els)].into_iter().enumerate() {
            let Some(mask) = mask else { continue };
            let any = self.any(mask);
            self.line(format!("if ({any}) {{"));
            let inner = Place { mask: Mask::Some(mask), apart: true, last: false, ..place };
            match &both {
                Some(both) => self.side_of(both, side, block, (mask, inner))?,
                None => self.stretch(Stretch::of(block), inner)?,
            }
            self.line("}");
        }
        if let (Some(both), Some(no)) = (&both, no) {
            self.after_both(both, [yes, no])?;
        }
        Ok((yes, no))
    }

    fn scope(&mut self, label: Label, body: &Block, place: Place) -> Result<()> {
        let id = self.fresh();
        let plain = place.mask == Mask::Full && !self.forms[place.version as usize].divergent[label.index()];
        if plain {
            self.line("{");
            self.targets.push(Target { label, id, masks: None, is_node: false });
            self.stretch(Stretch::of(body), Place { last: false, ..place })?;
            self.targets.pop();
            self.line(format!("}}\nexit{id}:;"));
            return Ok(());
        }
        self.line("{");
        let (inner, left) = (self.copy_of(place), self.nobody());
        self.targets.push(Target { label, id, masks: Some((left, left)), is_node: false });
        self.stretch(Stretch::of(body), Place { mask: Mask::Some(inner), apart: true, last: false, ..place })?;
        self.targets.pop();
        if let Mask::Some(m) = place.mask {
            for u in 0..self.chunks {
                self.line(format!("m{m}_{u} = m{inner}_{u} | m{left}_{u};"));
            }
        }
        self.line("}");
        Ok(())
    }

    /// What a round of a loop takes off the budget, and the poll when that is used up.
    pub(super) fn poll(&mut self, label: Label, span: Span, place: Option<Place>) {
        let work = self.info.loops.get(label.index()).copied().unwrap_or(1).min(1 << 24) * u64::from(self.chunks) * 2;
        let site = self.site(span, SiteKind::Poll { waits: false });
        let first = if place.is_some() { "t0" } else { "0" };
        // Lanes at or past one that faulted are out of the loop: what they loaded may keep them in it for ever.
        let mut drop = String::new();
        if let Some(Place { mask: Mask::Some(m), .. }) = place {
            for u in 0..self.chunks {
                drop.push_str(&format!(" m{m}_{u} &= alive(&st, t0 + {});", 16 * u));
            }
        }
        self.line(format!(
            "if (unlikely((budget -= {work}) < 0)) {{ if ((budget = tick(ctx, &st, {site}, {first})) < 0) return 1;{drop} }}"
        ));
    }

    fn repeat(&mut self, stmt: &Stmt, span: Span, place: Place) -> Result<()> {
        let Stmt::Loop { label, body, step } = stmt else { return Ok(()) };
        let (id, label) = (self.fresh(), *label);
        let forms = &self.forms[place.version as usize];
        let (together, divergent) =
            (forms.rounds.contains(&label), forms.divergent[label.index()] || forms.rounds.contains(&label));
        let keeps_early = place.last;
        let place = Place { last: false, ..place };
        if place.mask == Mask::Full && !divergent {
            return self.unchecked_or_not(stmt, place, (true, keeps_early), |printer| {
                let id = printer.fresh();
                printer.line("for (;;) {\n{");
                printer.targets.push(Target { label, id, masks: None, is_node: false });
                printer.stretch(Stretch::of(body), place)?;
                printer.line(format!("}}\nstep{id}:; {{"));
                printer.stretch(Stretch::of(step), place)?;
                printer.line("}");
                printer.targets.pop();
                printer.poll(label, span, Some(place));
                printer.line(format!("}}\nexit{id}:;"));
                printer.check_length()
            });
        }
        if place.mask == Mask::Full && together {
            // Where not even the first round is everybody's, or something is out of bounds, the masked rounds below do it all.
            self.unchecked_or_not(stmt, place, (false, false), |printer| printer.full_rounds(stmt, id, span, place))?;
        }
        // Lanes that went round together still count together in the rounds that only some do: what left does not look again at what a
        // round sets for all.
        self.line("{");
        let version = place.version;
        let (inner, left, again) = (self.copy_of(place), self.nobody(), self.nobody());
        self.line("for (;;) {\n{");
        self.targets.push(Target { label, id, masks: Some((left, again)), is_node: false });
        let inside = Place { mask: Mask::Some(inner), apart: true, version, last: false };
        self.stretch(Stretch::of(body), inside)?;
        self.line("}");
        for u in 0..self.chunks {
            self.line(format!("m{inner}_{u} |= m{again}_{u}; m{again}_{u} = 0;"));
        }
        let any = self.any(inner);
        self.line(format!("if (!{any}) break;\n{{"));
        self.stretch(Stretch::of(step), inside)?;
        self.line("}");
        self.targets.pop();
        if step.stmts.iter().any(leaves) {
            self.line(format!("if (!{any}) break;"));
        }
        self.poll(label, span, Some(inside));
        self.line("}");
        if let Mask::Some(m) = place.mask {
            for u in 0..self.chunks {
                self.line(format!("m{m}_{u} = m{left}_{u};"));
            }
        }
        self.line(format!("}}\npast{id}:;"));
        self.check_length()
    }

    /// A loop without the checks that hold for all of its rounds, where they do, and with them where they do not.
    /// Without `twice` no such text is needed where all is checked ahead. With `keeps_early` nothing of the group follows.
    fn unchecked_or_not(
        &mut self,
        stmt: &Stmt,
        place: Place,
        (twice, keeps_early): (bool, bool),
        print: impl Fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.line("{");
        if let Some(Unchecked { test, known }) = self.unchecked(stmt, place.version)? {
            self.line(format!("if (likely({test})) {{"));
            let (before, all) = (self.known.clone(), known.safe);
            self.known.extend(known);
            print(self)?;
            self.known = before;
            if keeps_early {
                self.keep_early();
            }
            if all && !twice {
                self.line("}\n}");
                return Ok(());
            }
            self.line("} else");
        }
        self.line("{");
        print(self)?;
        self.line("}\n}");
        Ok(())
    }

    /// Rounds that all lanes do, of a loop that they leave by its first `if`; what is left of it follows with masks.
    /// When all leave together, on to `past`.
    fn full_rounds(&mut self, stmt: &Stmt, past: u32, span: Span, place: Place) -> Result<()> {
        let (Stmt::Loop { label, body, step }, Some((at, cond, stays))) = (stmt, first_exit(stmt)) else {
            return Ok(());
        };
        let id = self.fresh();
        self.line("for (;;) {\n{");
        self.targets.push(Target { label: *label, id, masks: None, is_node: false });
        self.stretch(Stretch { stmts: &body.stmts[..at], spans: &body.spans[..at] }, place)?;
        let test = self.all(cond, stays)?;
        let nobody = self.all(cond, !stays)?;
        self.line(format!("if (!({test})) {{ if ({nobody}) goto past{past}; break; }}"));
        self.stretch(Stretch::of(body).from(at + 1), place)?;
        self.line(format!("}}\nstep{id}:; {{"));
        self.stretch(Stretch::of(step), place)?;
        self.line("}");
        self.targets.pop();
        self.poll(*label, span, Some(place));
        self.line("}");
        Ok(())
    }
}

//! Blocks: the whole body as one region, or a walk over the regions between barriers.

use std::collections::HashSet;
use std::rc::Rc;

use super::control::Stretch;
use super::names::Name;
use super::range::Unchecked;
use super::{Builder, Form, Mask, Place, Version, scalar_of, types};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::facts::split::{LocalHome, SplitPlan, ValueHome};
use crate::back::cpu::stack::MAX_FRAME;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::{LANES, Survey};
use crate::back::cpu::wide::walk::Walk;
use crate::back::lane::build::{counting, int, joined, pointer, set, ty, uint, ulong, variable, when};
use crate::back::lane::families;
use crate::back::lane::memory::Access;
use crate::back::lane::table::{FaultOp, NumberOp};
use crate::back::lane::tree::{self as lane, Binary, Expr, Field as Member, Stmt as Code};
use crate::back::lane::types::Ty;
use crate::ir::{Local, Op, POISON, Scalar, Slot, Stmt, Type, Value};

/// Eight bytes of poison.
const POISON_WORD: u64 = u64::from_le_bytes([POISON; 8]);

/// The value of a local before it is set.
fn poison(of: Type) -> Expr {
    match of {
        Type::Ptr => ulong(POISON_WORD & !15).cast(ty::I64),
        Type::Scalar(Scalar::Bool) => int(1),
        Type::Scalar(Scalar::F32) => NumberOp::F32Of.on([uint(POISON_WORD as u32)]),
        Type::Scalar(Scalar::F64) => NumberOp::F64Of.on([ulong(POISON_WORD)]),
        Type::Scalar(s) => ulong(POISON_WORD).cast(types::one(s)),
    }
}

impl<'m> Builder<'m> {
    pub(super) fn body(&mut self, together: Option<(&'m Walk, &'m Survey)>) -> Result<()> {
        match self.split {
            None if self.merges => self.blocks(),
            None => self.region(Stretch::of(&self.func.body), &[]),
            Some(plan) => {
                for (name, field) in [(Name::Scratch, Field::SCRATCH), (Name::Slots, Field::SLOTS)] {
                    self.define(name, pointer(ty::I8), self.in_context(pointer(ty::I8), field));
                }
                self.start_masks(plan);
                self.start_block(plan)?;
                if let Some((walk, survey)) = together {
                    self.walk_together(walk, survey)?;
                }
                self.sequence(&plan.regions.body, &self.func.body)?;
                self.end_of_regions();
                Ok(())
            }
        }
    }

    /// The number of threads that the memory a block keeps has room for: whole groups.
    pub(super) fn room(&self) -> u32 {
        self.geometry.threads().next_multiple_of(LANES * self.geometry.chunks)
    }

    /// Memory that a block keeps starts as poison.
    fn start_block(&mut self, plan: &SplitPlan) -> Result<()> {
        for (l, home) in plan.locals.iter().enumerate() {
            let ty = self.func.locals[l].ty;
            let s = scalar_of(ty);
            match home {
                LocalHome::Shared => {
                    if self.forms[0].locals[l] != Form::Group || self.forms[1].locals[l] != Form::Group {
                        return Err(Unsupported("a local that a block shares and a group does not"));
                    }
                    self.begin_as(Name::Local(Local::new(l), None), types::one(s), poison(ty));
                }
                LocalHome::Scratch(at, _, true) => {
                    let (room, t) = (int(i64::from(self.room())), self.k.var(variable("t", ty::U32, false)));
                    let all = (self.get(Name::Scratch) + int(i64::from(*at))).cast(pointer(types::one(s)));
                    let one = set(all.index(Expr::Var(t)), poison(ty));
                    self.push(counting(t, int(0), room, 1, one));
                }
                _ => {}
            }
        }
        if plan.slot_bytes > 0 {
            let bytes = plan.slot_bytes * self.room();
            let fill = [self.get(Name::Slots), int(i64::from(POISON)), int(i64::from(bytes))];
            self.push(NumberOp::Fill.on(fill).stmt());
        }
        Ok(())
    }

    /// Makes what the block has one of, ahead of the region; the statements that are done with by that.
    pub(super) fn share(&mut self, stretch: Stretch<'m>) -> Result<HashSet<usize>> {
        let mut done = HashSet::new();
        let Some(plan) = self.split else { return Ok(done) };
        let place = Place { mask: Mask::Full, apart: false, version: Version::Together, last: false };
        for (i, stmt) in stretch.stmts.iter().enumerate() {
            let span = stretch.spans.get(i).copied().unwrap_or_default();
            match stmt {
                Stmt::Let(v, op) if plan.values[v.index()] == ValueHome::Shared => {
                    if self.form(*v) != Form::Group || matches!(op, Op::Load { .. }) {
                        return Err(Unsupported("a value that a block shares and a group does not"));
                    }
                    self.bind(*v, op, span, place)?;
                }
                Stmt::Set(l, v) if plan.locals[l.index()] == LocalHome::Shared => self.set(*l, *v, place)?,
                _ => continue,
            }
            done.insert(i);
        }
        Ok(done)
    }

    /// All threads of several blocks that are neighbours in x: rows of blocks whose rows of threads are whole groups run one row of all
    /// blocks after the other, because these are neighbours in memory as well.
    fn blocks(&mut self) -> Result<()> {
        let stretch = Stretch::of(&self.func.body);
        if self.geometry.spans {
            return self.long_rows(stretch);
        }
        self.chunks = self.group_size(stretch);
        let (group, threads, width) = (LANES * self.chunks, self.geometry.threads(), self.geometry.block.x);
        let row = match () {
            () if threads % group != 0 => threads,
            () if width.is_multiple_of(group) => width,
            () if group.is_multiple_of(width) => group,
            () => threads,
        };
        self.define(Name::FirstBlock, ty::U32, self.in_context(ty::U32, Field::BLOCK));
        self.begin_as(Name::Blocks, ty::U32, self.in_context(ty::U32, Field::RUN));
        if row < threads {
            let rows = self.k.var(variable("row", ty::U32, false));
            self.k.begin();
            self.block_of_call();
            let thread = self.next_group();
            let groups = self.bracketed_group(stretch, &[], Mask::Full)?;
            let end = Expr::Var(rows) + int(i64::from(row));
            self.add(counting(thread, Expr::Var(rows), end, group, groups));
            let block = self.end_of_block_of_call();
            self.add(counting(rows, int(0), int(i64::from(threads)), row, block));
        } else {
            self.k.begin();
            self.block_of_call();
            self.region(stretch, &[])?;
            let block = self.end_of_block_of_call();
            self.add(block);
        }
        self.stop_if_faulted();
        Ok(())
    }

    /// Begins a block of those that a call runs.
    fn block_of_call(&mut self) {
        let block = self.k.var(variable("b", ty::U32, false));
        self.blocks = Some(block);
        let this = self.get(Name::FirstBlock) + Expr::Var(block);
        self.define(Name::ThisBlock, ty::U32, this);
        self.push(set(self.field(Member::Now), Expr::Var(block)));
    }

    /// The loop over the blocks that a call runs.
    fn end_of_block_of_call(&mut self) -> Code {
        let (block, end) = (self.blocks.take().unwrap_or(self.unknown), self.get(Name::Blocks));
        let body = Code::Block(self.k.end());
        counting(block, int(0), end, 1, body)
    }

    fn stop(&self) -> Code {
        Code::Return(Some(FaultOp::Stop.on([self.context(), self.state()])))
    }

    pub(super) fn stop_if_faulted(&mut self) {
        self.push(when(self.field(Member::Faulted).unlikely(), self.stop()));
    }

    /// The variable of the next loop over groups.
    pub(super) fn next_group(&mut self) -> lane::Var {
        self.make(Name::Thread, ty::U32, false)
    }

    /// A loop over the groups from one thread on, to another.
    fn groups(&mut self, thread: lane::Var, (begin, end): (u32, u32), body: Code) -> Code {
        counting(thread, int(i64::from(begin)), int(i64::from(end)), LANES * self.chunks, body)
    }

    /// A group in brackets.
    pub(super) fn bracketed_group(&mut self, stretch: Stretch<'m>, done: &[usize], mask: Mask) -> Result<Code> {
        self.begin();
        self.group(stretch, done, mask)?;
        Ok(Code::Block(self.k.end()))
    }

    /// A mask of the first threads of a group, of which each chunk has some.
    fn mask_of_first(&mut self, left: impl Fn(u32) -> u32) -> Mask {
        Mask::Some(self.new_masks(|_, u| int((1i64 << left(u)) - 1)))
    }

    /// A region, as a loop over groups of threads; `done` are statements that need not be made.
    pub(super) fn region(&mut self, stretch: Stretch<'m>, done: &[usize]) -> Result<()> {
        if let Some((count, at)) = self.first_threads(stretch) {
            return self.first(stretch, done, (count, at));
        }
        self.chunks = self.group_size(stretch);
        self.halves = self.halves(stretch);
        let group = LANES * self.chunks;
        let threads = self.geometry.threads();
        let full = threads / group * group;
        if self.walk.has_masks {
            return self.masked_region(stretch, done);
        }
        // Most threads do nothing in a step of a tree of reductions, so that those at the corners say nothing.
        let unchecked = if full == threads && !self.halves { self.all_unchecked(stretch, done)? } else { None };
        if full > 0 {
            self.begin();
            let thread = self.next_group();
            let body = self.bracketed_group(stretch, done, Mask::Full)?;
            // The group's names are its loop's.
            self.k.end();
            let all = self.groups(thread, (0, full), body);
            match unchecked {
                Some((test, fast)) => self.add_if(test.likely(), fast, Some(all)),
                None => self.add(all),
            }
        }
        if full < threads {
            // A loop of one turn, which a fault can leave.
            self.begin();
            let thread = self.next_group();
            self.begin();
            let mask = self.mask_of_first(|u| (threads - full).saturating_sub(LANES * u).min(LANES));
            self.group(stretch, done, mask)?;
            let body = Code::Block(self.k.end());
            self.k.end();
            let rest = self.groups(thread, (full, threads), body);
            self.add(rest);
        }
        self.check_length()
    }

    /// A region for when nothing in it is out of bounds, and when that is.
    fn all_unchecked(&mut self, stretch: Stretch<'m>, done: &[usize]) -> Result<Option<(Expr, Code)>> {
        let (size, threads) = (self.chunks, self.geometry.threads());
        let wanted = self.unchecked_size(stretch);
        if threads.is_multiple_of(LANES * wanted) {
            self.chunks = wanted;
        }
        self.begin();
        let thread = self.next_group();
        let mut found = None;
        if let Some(Unchecked { test, known }) = self.unchecked_region(stretch)? {
            let before = std::mem::replace(&mut self.known, known);
            let body = self.bracketed_group(stretch, done, Mask::Full)?;
            self.known = before;
            found = Some((test, self.groups(thread, (0, threads), body)));
        }
        self.k.end();
        self.chunks = size;
        Ok(found)
    }

    /// A region of which the first threads of the block alone do anything.
    fn first(&mut self, stretch: Stretch<'m>, done: &[usize], (count, at): (u32, usize)) -> Result<()> {
        let Some(Stmt::If { then, .. }) = stretch.stmts.get(at) else { return Ok(()) };
        let stmts = stretch.stmts[..at].iter().chain(&then.stmts).cloned();
        let spans = stretch.spans[..at].iter().chain(&then.spans).copied();
        let kept = (stmts.zip(spans).enumerate()).filter(|(i, _)| !done.contains(i)).map(|(_, both)| both);
        let (stmts, spans): (Vec<Stmt>, Vec<_>) = kept.unzip();
        let inner = Stretch { stmts: &stmts, spans: &spans };
        let wanted = self.group_size(Stretch::of(then));
        let mut begin = 0;
        while begin < count {
            self.chunks = wanted;
            while self.chunks > 1 && begin + LANES * self.chunks > count {
                self.chunks /= 2;
            }
            let group = LANES * self.chunks;
            let full = (count - begin) / group * group;
            let end = if full == 0 { begin + group } else { begin + full };
            self.begin();
            let thread = self.next_group();
            self.begin();
            let mask = if full == 0 { self.mask_of_first(|_| count - begin) } else { Mask::Full };
            self.group_of(stretch, inner, mask)?;
            let body = Code::Block(self.k.end());
            self.k.end();
            let all = self.groups(thread, (begin, end), body);
            self.add(all);
            begin = end;
        }
        self.check_length()
    }

    /// A region where masks say who is active: all of a group, some, or nobody.
    fn masked_region(&mut self, stretch: Stretch<'m>, done: &[usize]) -> Result<()> {
        let threads = self.geometry.threads();
        self.begin();
        let thread = self.next_group();
        self.begin();
        let mask = self.new_masks(|builder, u| builder.chunk_of_mask(0, u));
        let all = (0..self.chunks).map(|u| self.get(Name::Mask(mask, u)));
        let all = joined(Binary::And, all).unwrap_or(int(0)).cast(Ty::Mask).equals(int(0xffff));
        let together = self.bracketed_group(stretch, done, Mask::Full)?;
        let any = self.any(mask);
        let apart = self.bracketed_group(stretch, done, Mask::Some(mask))?;
        self.add_if(all, together, Some(when(any, apart)));
        let body = Code::Block(self.k.end());
        self.k.end();
        let all = self.groups(thread, (0, threads), body);
        self.add(all);
        self.check_length()
    }

    pub(super) fn group(&mut self, stretch: Stretch<'m>, done: &[usize], mask: Mask) -> Result<()> {
        if done.is_empty() {
            return self.group_of(stretch, stretch, mask);
        }
        let rest: (Vec<Stmt>, Vec<_>) = (stretch.stmts.iter().zip(stretch.spans).enumerate())
            .filter(|(i, _)| !done.contains(i))
            .map(|(_, (stmt, span))| (stmt.clone(), *span))
            .unzip();
        self.group_of(stretch, Stretch { stmts: &rest.0, spans: &rest.1 }, mask)
    }

    /// A group of a region, of which only some is made.
    fn group_of(&mut self, stretch: Stretch<'m>, made: Stretch<'_>, mask: Mask) -> Result<()> {
        let version = if mask == Mask::Full { Version::Together } else { Version::Apart };
        // Threads of a block's masks that are not here keep what they have.
        let place = Place { mask, apart: self.walk.has_masks && mask != Mask::Full, version, last: true };
        let id = self.fresh();
        self.end = self.label("end", id);
        let before = self.defined.clone();
        let sets = self.bring(stretch, version)?;
        self.begin_warp(made, mask);
        self.keeps = (self.keeping(&sets), None);
        self.begin();
        self.stretch(made, place)?;
        let inner = Code::Block(self.k.end());
        let is_straight = self.known.safe && mask == Mask::Full;
        self.add(if is_straight { Code::Straight(Box::new(inner)) } else { inner });
        let (keeps, early) = std::mem::take(&mut self.keeps);
        self.here(self.end);
        keeps.into_iter().for_each(|stmt| self.push(stmt));
        if let Some(early) = early {
            self.here(early);
        }
        let faulted = self.field(Member::Faulted).unlikely();
        let (now, block) = (self.field(Member::Now), self.field(Member::Block));
        match self.merges {
            _ if self.geometry.spans && self.known.safe => {}
            _ if self.geometry.spans => {
                let length = set(self.get(Name::Length), block * self.span());
                self.push(when(faulted, length));
            }
            // Lower blocks run on, and of this one nothing more: what is left of it are higher threads.
            true => {
                let last = set(self.get(Name::Blocks), block.clone());
                let then = vec![last, when(now.ge(block), Code::Break)];
                self.push(when(faulted, Code::Block(then)));
            }
            false => self.push(when(faulted, self.stop())),
        }
        self.defined = before;
        Ok(())
    }

    /// Statements that keep locals for other regions.
    fn keeping(&self, sets: &[Local]) -> Vec<Code> {
        let mut all = Vec::new();
        for l in sets {
            if let Some(LocalHome::Scratch(at, ..)) = self.split.map(|p| p.locals[l.index()]) {
                let s = scalar_of(self.func.locals[l.index()].ty);
                for u in 0..self.chunks {
                    let lanes = self.get(Name::Local(*l, Some(u)));
                    let args = vec![self.scratch_at(at, s, u), lanes];
                    all.push(self.k.access(Access::Store, types::stored(s), args).stmt());
                }
            }
        }
        all
    }

    /// Keeps the group's locals where nothing else of it follows: ways that meet before that have all their lanes to bring along.
    pub(super) fn keep_early(&mut self) {
        if self.keeps.0.is_empty() {
            return;
        }
        for stmt in self.keeps.0.clone() {
            self.push(stmt);
        }
        let past = match self.keeps.1 {
            Some(past) => past,
            None => {
                let id = self.fresh();
                *self.keeps.1.insert(self.k.label(format!("kept{id}")))
            }
        };
        self.push(Code::Goto(past));
    }

    /// The place of a chunk's part of an array in scratch.
    fn scratch_at(&self, at: u32, s: Scalar, u: u32) -> Expr {
        let begin = self.get(Name::Scratch) + int(i64::from(at + LANES * u * s.size()));
        begin + self.get(Name::Thread) * int(i64::from(s.size()))
    }

    /// Stores a value that other regions want.
    pub(super) fn keep(&mut self, v: Value, mask: Mask) -> Result<()> {
        if let Some(ValueHome::Scratch(at, _)) = self.split.map(|p| p.values[v.index()]) {
            let s = self.scalar(v);
            for u in 0..self.chunks {
                let lanes = match mask {
                    // The lanes of other pieces keep theirs.
                    Mask::Some(m) if !self.pieces.quotients.is_empty() => {
                        let (mask, before) = (self.get(Name::Mask(m, u)), self.kept_in_scratch(at, s, u));
                        families::select(types::vector(s)).on([mask, self.lanes(v, u)?, before])
                    }
                    _ => self.lanes(v, u)?,
                };
                let args = vec![self.scratch_at(at, s, u), lanes];
                self.push(self.k.access(Access::Store, types::stored(s), args).stmt());
            }
        }
        Ok(())
    }

    /// Declares the locals of a region, and brings what it uses of other regions: from scratch, or computed anew. Gives the locals that
    /// it sets.
    pub(super) fn bring(&mut self, stretch: Stretch<'_>, version: Version) -> Result<Vec<Local>> {
        let (mut mentioned, mut sets, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        let (mut used, mut own) = (Vec::new(), HashSet::new());
        let mut look = |stmt: &Stmt| {
            match stmt {
                Stmt::Set(l, _) => {
                    mentioned.push(*l);
                    sets.push(*l);
                }
                Stmt::Let(_, Op::Get(l)) => mentioned.push(*l),
                Stmt::Let(_, Op::SlotAddr(s)) => slots.push(*s),
                _ => {}
            }
            stmt.for_each_value(|v| used.push(v));
            own.extend(stmt.result());
        };
        for stmt in stretch.stmts {
            look(stmt);
            stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
        }
        mentioned.sort_unstable_by_key(|l| l.index());
        mentioned.dedup();
        sets.sort_unstable_by_key(|l| l.index());
        sets.dedup();
        for v in used {
            self.remake(v, &own, &mut slots, (version, 0))?;
        }
        for l in mentioned {
            self.declare_local(l);
        }
        slots.sort_unstable_by_key(|s| s.index());
        slots.dedup();
        for slot in slots {
            self.declare_slot(slot)?;
        }
        Ok(sets)
    }

    fn declare_slot(&mut self, slot: Slot) -> Result<()> {
        let size = self.func.slots[slot.index()].size;
        let bytes = size.next_multiple_of(8) * LANES;
        for u in 0..self.chunks {
            if let Some(at) = self.split.and_then(|p| p.slots[slot.index()]) {
                let begin = self.get(Name::Slots) + int(i64::from(at * self.room()));
                let place = begin + self.first_of(u) * int(i64::from(size));
                self.define(Name::Slot(slot, u), pointer(ty::I8), place);
                continue;
            }
            self.slot_bytes += bytes as usize;
            if self.slot_bytes > MAX_FRAME {
                return Err(Unsupported("local arrays too large for a stack"));
            }
            let array = self.declare(Name::Slot(slot, u), Ty::Array(Rc::new(ty::I8), bytes));
            let fill = [array, int(i64::from(POISON)), int(i64::from(bytes))];
            self.push(NumberOp::Fill.on(fill).stmt());
        }
        Ok(())
    }

    /// The part of an array in scratch that is a chunk's.
    fn kept_in_scratch(&self, at: u32, s: Scalar, u: u32) -> Expr {
        self.k.access(Access::Load, types::element(s), vec![self.scratch_at(at, s, u)])
    }

    fn declare_local(&mut self, l: Local) {
        let ty = self.func.locals[l.index()].ty;
        let s = scalar_of(ty);
        if self.local(l, Version::Apart).0 {
            for u in 0..self.chunks {
                self.begin_as(Name::Apart(l, Some(u)), types::lanes(s), Self::splat(s, poison(ty)));
            }
        }
        match (self.split.map(|p| p.locals[l.index()]), self.local(l, Version::Together).1) {
            (Some(LocalHome::Shared), _) => {}
            (Some(LocalHome::Scratch(at, ..)), _) => {
                for u in 0..self.chunks {
                    self.begin_as(Name::Local(l, Some(u)), types::lanes(s), self.kept_in_scratch(at, s, u));
                }
            }
            (_, Form::Group | Form::Row(_)) => self.begin_as(Name::Local(l, None), types::one(s), poison(ty)),
            (_, Form::Chunk | Form::Line(_)) => {
                for u in 0..self.chunks {
                    self.begin_as(Name::Local(l, Some(u)), types::one(s), poison(ty));
                }
            }
            (_, Form::Lanes) => {
                for u in 0..self.chunks {
                    self.begin_as(Name::Local(l, Some(u)), types::lanes(s), Self::splat(s, poison(ty)));
                }
            }
        }
    }

    /// Makes a value of another region known in this one.
    fn remake(
        &mut self,
        v: Value,
        own: &HashSet<Value>,
        slots: &mut Vec<Slot>,
        (version, depth): (Version, u32),
    ) -> Result<()> {
        let Some(plan) = self.split else { return Ok(()) };
        if own.contains(&v) || self.defined.contains(&v) {
            return Ok(());
        }
        let span = self.func.values[v.index()].span;
        match plan.values[v.index()] {
            ValueHome::Shared => Ok(()),
            ValueHome::Scratch(at, _) => {
                let (s, form) = (self.scalar(v), self.ahead(v, version));
                for u in 0..self.times(form) {
                    match form {
                        Form::Lanes => {
                            self.define(Name::Value(v, Some(u)), types::lanes(s), self.kept_in_scratch(at, s, u));
                        }
                        // All threads have the same.
                        _ => {
                            let first = self.scratch_at(at, s, u).cast(pointer(types::one(s))).index(int(0));
                            let of_chunk = (form != Form::Group).then_some(u);
                            self.define(Name::Value(v, of_chunk), types::one(s), first);
                        }
                    }
                }
                self.defined.insert(v);
                self.made[v.index()] = version;
                Ok(())
            }
            ValueHome::Remade if depth < 64 => {
                let Some(op) = self.op_of(v) else { return Err(Unsupported("a value that comes from nowhere")) };
                if let Op::SlotAddr(s) = op {
                    slots.push(*s);
                }
                for operand in op.operands() {
                    self.remake(operand, own, slots, (version, depth + 1))?;
                }
                self.bind(v, op, span, Place { mask: Mask::Full, apart: false, version, last: false })
            }
            _ => Err(Unsupported("a value of another region")),
        }
    }
}

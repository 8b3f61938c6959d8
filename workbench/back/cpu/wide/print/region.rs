//! Blocks: the whole body as one region, or a walk over the regions between barriers.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::control::Stretch;
use super::range::{Known, Unchecked};
use super::{Form, Mask, Place, Printer, Version, ctype, scalar_of, suffix, vtype};
use crate::back::Dim3;
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::facts::split::{LocalHome, SplitPlan, ValueHome};
use crate::back::cpu::stack::MAX_FRAME;
use crate::back::cpu::wide::forms::{LANES, Survey};
use crate::back::cpu::wide::walk::Walk;
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::{Local, Op, POISON, Scalar, Stmt, Type, Value};

/// Eight bytes of poison.
const POISON_WORD: u64 = u64::from_le_bytes([POISON; 8]);

/// What a local holds before it is set.
fn poison(ty: Type) -> String {
    match ty {
        Type::Ptr => format!("(i64){:#x}ull", POISON_WORD & !15),
        Type::Scalar(Scalar::Bool) => "1".to_owned(),
        Type::Scalar(Scalar::F32) => format!("f32_of({:#x}u)", POISON_WORD as u32),
        Type::Scalar(Scalar::F64) => format!("f64_of({POISON_WORD:#x}ull)"),
        Type::Scalar(s) => format!("({}){POISON_WORD:#x}ull", ctype(s)),
    }
}

impl<'m> Printer<'m> {
    pub(super) fn body(&mut self, together: Option<(&'m Walk, &'m Survey)>) -> Result<()> {
        match self.split {
            None if self.merges => self.blocks(),
            None => self.region(Stretch::of(&self.func.body), &[]),
            Some(plan) => {
                self.line(format!(
                    "char* const scratch = *(char* const*)(ctx + {}); char* const slots = *(char* const*)(ctx + {});",
                    Field::SCRATCH,
                    Field::SLOTS
                ));
                self.start_masks(plan);
                self.start_block(plan)?;
                if let Some((walk, survey)) = together {
                    self.walk_together(walk, survey)?;
                }
                self.sequence(&plan.regions.body, &self.func.body)?;
                self.line("end0:;");
                Ok(())
            }
        }
    }

    /// How many threads the memory that a block keeps has room for: whole groups.
    pub(super) fn room(&self) -> u32 {
        self.geometry.threads().next_multiple_of(LANES * self.geometry.chunks)
    }

    /// What a block keeps starts as poison.
    fn start_block(&mut self, plan: &SplitPlan) -> Result<()> {
        for (l, home) in plan.locals.iter().enumerate() {
            let ty = self.func.locals[l].ty;
            let s = scalar_of(ty);
            match home {
                LocalHome::Shared => {
                    if self.forms[0].locals[l] != Form::Group || self.forms[1].locals[l] != Form::Group {
                        return Err(Unsupported("a local that a block shares and a group does not"));
                    }
                    self.line(format!("{} l{l} = {};", ctype(s), poison(ty)));
                }
                LocalHome::Scratch(at, _, true) => {
                    let room = self.room();
                    self.line(format!(
                        "for (u32 t = 0; t < {room}; t++) (({}*)(scratch + {at}))[t] = {};",
                        ctype(s),
                        poison(ty)
                    ));
                }
                _ => {}
            }
        }
        if plan.slot_bytes > 0 {
            let bytes = plan.slot_bytes * self.room();
            self.line(format!("__builtin_memset(slots, {POISON}, {bytes});"));
        }
        Ok(())
    }

    /// Prints what the block has one of, ahead of the region; the statements that are done with by that.
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
        self.line(format!(
            "const u32 bx0 = *(const u32*)(ctx + {}); u32 blocks = *(const u32*)(ctx + {});",
            Field::BLOCK,
            Field::RUN
        ));
        if row < threads {
            self.line(format!("for (u32 row = 0; row < {threads}; row += {row}) for (u32 b = 0; b < blocks; b++) {{"));
            self.line("const u32 bx = bx0 + b; st.now = b;");
            self.line(format!("for (u32 t0 = row; t0 < row + {row}; t0 += {group}) {{"));
            self.group(stretch, &[], Mask::Full)?;
            self.line("}\n}");
        } else {
            self.line("for (u32 b = 0; b < blocks; b++) {\nconst u32 bx = bx0 + b; st.now = b;");
            self.region(stretch, &[])?;
            self.line("}");
        }
        self.line("if (unlikely(st.faulted)) return stop(ctx, &st);");
        Ok(())
    }

    /// Declares where the farthest of the rows begins that are read from each array, and gives what asks for it some lines ahead: the others
    /// it has been before, so that alone comes from memory. The machine would see where it goes, but not past the end of a page, and
    /// a thread has too much to do for many of them to be begun at once. Took a tenth off a stencil.
    fn farthest_rows(&mut self, known: &Known, group: u32) -> String {
        const AHEAD: u32 = 8192;
        // An element and its neighbours in a row are in one line.
        const FEW: usize = 3;
        let mut text = String::new();
        for ((param, size), rows) in known.rows.iter().filter(|(_, rows)| rows.len() > FEW) {
            let n = self.fresh();
            let far = rows.iter().cloned().reduce(|a, b| format!("largest({a}, {b})")).unwrap_or_default();
            self.line(format!("const i64 far{n} = {far} + {size} * (i64)bx0 * SPAN + {AHEAD};"));
            for line in (0..group * size).step_by(64) {
                let _ = writeln!(text, "__builtin_prefetch(B_p{param} + far{n} + (i64)t0 * {size} + {line});");
            }
        }
        text
    }

    /// All threads of several blocks that are neighbours in x, of which each row is one long row. What is left of it goes chunk by chunk.
    fn long_rows(&mut self, stretch: Stretch<'m>) -> Result<()> {
        let Dim3 { x, y, z } = self.geometry.block;
        self.chunks = self.group_size(stretch);
        let group = LANES * self.chunks;
        self.line(format!(
            "const u32 bx0 = *(const u32*)(ctx + {}); u32 length = *(const u32*)(ctx + {}) * {x};",
            Field::BLOCK,
            Field::RUN
        ));
        let unchecked = self.unchecked_row(group)?;
        if let Some(Unchecked { test, .. }) = &unchecked {
            self.line(format!("const b1 safe = {test};"));
        }
        self.line(format!("for (u32 row = 0; row < {}; row++) {{\nst.row = row; u32 t0 = 0;", y * z));
        let groups = format!("for (; t0 + {group} <= length; t0 += {group}) {{");
        if let Some(Unchecked { known, .. }) = unchecked {
            let ahead = self.farthest_rows(&known, group);
            self.line(format!("if (likely(safe && !st.faulted)) {groups}"));
            self.line(ahead);
            self.known = known;
            self.group(stretch, &[], Mask::Full)?;
            self.known = Known::default();
            self.line("}");
        }
        self.line(groups);
        self.group(stretch, &[], Mask::Full)?;
        self.line("}");
        self.chunks = 1;
        self.line(format!("for (; t0 < length; t0 += {LANES}) {{"));
        let mask = self.fresh();
        self.line(format!("m16 m{mask}_0 = length - t0 >= {LANES} ? 0xffff : (m16)((1u << (length - t0)) - 1);"));
        self.group(stretch, &[], Mask::Some(mask))?;
        self.line("}\n}\nif (unlikely(st.faulted)) return stop(ctx, &st);");
        self.check_length()
    }

    /// A region, as a loop over groups of threads; `done` are statements that need not be printed.
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
        // Of a step of a tree of reductions most threads do nothing, so that those at the corners say nothing.
        if full == threads && !self.halves {
            self.all_unchecked(stretch, done)?;
        }
        if full > 0 {
            self.line(format!("for (u32 t0 = 0; t0 < {full}; t0 += {group}) {{"));
            self.group(stretch, done, Mask::Full)?;
            self.line("}");
        }
        if full < threads {
            // A loop of one turn, which a fault can leave.
            self.line(format!("for (u32 t0 = {full}; t0 < {threads}; t0 += {group}) {{"));
            let mask = self.fresh();
            for u in 0..self.chunks {
                let left = (threads - full).saturating_sub(LANES * u).min(LANES);
                self.line(format!("m16 m{mask}_{u} = {};", (1u32 << left) - 1));
            }
            self.group(stretch, done, Mask::Some(mask))?;
            self.line("}");
        }
        self.check_length()
    }

    /// A region for when nothing in it is out of bounds; otherwise what follows.
    fn all_unchecked(&mut self, stretch: Stretch<'m>, done: &[usize]) -> Result<()> {
        let (size, threads) = (self.chunks, self.geometry.threads());
        let wanted = self.unchecked_size(stretch);
        if threads.is_multiple_of(LANES * wanted) {
            self.chunks = wanted;
        }
        if let Some(Unchecked { test, known }) = self.unchecked_region(stretch)? {
            let group = LANES * self.chunks;
            self.line(format!("if (likely({test})) for (u32 t0 = 0; t0 < {threads}; t0 += {group}) {{"));
            let before = std::mem::replace(&mut self.known, known);
            self.group(stretch, done, Mask::Full)?;
            self.known = before;
            self.line("} else");
        }
        self.chunks = size;
        Ok(())
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
            let (end, mask) = match full {
                0 => (begin + group, Some(self.fresh())),
                _ => (begin + full, None),
            };
            self.line(format!("for (u32 t0 = {begin}; t0 < {end}; t0 += {group}) {{"));
            if let Some(mask) = mask {
                self.line(format!("m16 m{mask}_0 = {};", (1u32 << (count - begin)) - 1));
            }
            self.group_of(stretch, inner, mask.map_or(Mask::Full, Mask::Some))?;
            self.line("}");
            begin = end;
        }
        self.check_length()
    }

    /// A region where masks say who is active: all of a group, some, or nobody.
    fn masked_region(&mut self, stretch: Stretch<'m>, done: &[usize]) -> Result<()> {
        let (group, threads) = (LANES * self.chunks, self.geometry.threads());
        self.line(format!("for (u32 t0 = 0; t0 < {threads}; t0 += {group}) {{"));
        let mask = self.fresh();
        for u in 0..self.chunks {
            self.line(format!("m16 m{mask}_{u} = ((const m16*)masks[0])[t0 / 16 + {u}];"));
        }
        let all: Vec<String> = (0..self.chunks).map(|u| format!("m{mask}_{u}")).collect();
        self.line(format!("if ((m16)({}) == 0xffff) {{", all.join(" & ")));
        self.group(stretch, done, Mask::Full)?;
        self.line(format!("}} else if ({}) {{", self.any(mask)));
        self.group(stretch, done, Mask::Some(mask))?;
        self.line("}\n}");
        self.check_length()
    }

    fn group(&mut self, stretch: Stretch<'m>, done: &[usize], mask: Mask) -> Result<()> {
        if done.is_empty() {
            return self.group_of(stretch, stretch, mask);
        }
        let rest: (Vec<Stmt>, Vec<_>) = (stretch.stmts.iter().zip(stretch.spans).enumerate())
            .filter(|(i, _)| !done.contains(i))
            .map(|(_, (stmt, span))| (stmt.clone(), *span))
            .unzip();
        self.group_of(stretch, Stretch { stmts: &rest.0, spans: &rest.1 }, mask)
    }

    /// A group of a region, of which only some is printed.
    fn group_of(&mut self, stretch: Stretch<'m>, printed: Stretch<'_>, mask: Mask) -> Result<()> {
        let version = if mask == Mask::Full { Version::Together } else { Version::Apart };
        // Of a block's masks those who are not here keep what they have.
        let place = Place { mask, apart: self.walk.has_masks && mask != Mask::Full, version, last: true };
        self.end = self.fresh();
        let before = self.defined.clone();
        let sets = self.bring(stretch, version)?;
        self.keeps = (self.keeping(&sets), false);
        self.line(if self.known.safe && mask == Mask::Full { "STRAIGHT {" } else { "{" });
        self.stretch(printed, place)?;
        self.line("}");
        let (end, (keeps, is_early)) = (self.end, std::mem::take(&mut self.keeps));
        self.line(format!("end{end}:;\n{keeps}"));
        if is_early {
            self.line(format!("kept{end}:;"));
        }
        match self.merges {
            _ if self.geometry.spans && self.known.safe => {}
            _ if self.geometry.spans => self.line("if (unlikely(st.faulted)) length = st.block * SPAN;"),
            // Lower blocks run on, and of this one nothing more: what is left of it are higher threads.
            true => self.line("if (unlikely(st.faulted)) { blocks = st.block; if (st.now >= st.block) break; }"),
            false => self.line("if (unlikely(st.faulted)) return stop(ctx, &st);"),
        }
        self.defined = before;
        Ok(())
    }

    /// What keeps locals for other regions.
    fn keeping(&self, sets: &[Local]) -> String {
        let mut text = String::new();
        for l in sets.iter().map(|l| l.index()) {
            if let Some(LocalHome::Scratch(at, ..)) = self.split.map(|p| p.locals[l]) {
                let s = scalar_of(self.func.locals[l].ty);
                for u in 0..self.chunks {
                    let _ = writeln!(text, "st_{}({}, l{l}_{u});", kept(s), self.scratch_at(at, s, u));
                }
            }
        }
        text
    }

    /// Keeps the group's locals where nothing else of it follows: ways that meet before that have all their lanes to bring along.
    pub(super) fn keep_early(&mut self) {
        let ((keeps, is_early), end) = (&mut self.keeps, self.end);
        if !keeps.is_empty() {
            *is_early = true;
            let text = format!("{keeps}goto kept{end};");
            self.line(text);
        }
    }

    /// Where in scratch a chunk's part of an array is.
    fn scratch_at(&self, at: u32, s: Scalar, u: u32) -> String {
        format!("scratch + {} + t0 * {}", at + LANES * u * s.size(), s.size())
    }

    /// Stores a value that other regions want.
    pub(super) fn keep(&mut self, v: Value) -> Result<()> {
        if let Some(ValueHome::Scratch(at, _)) = self.split.map(|p| p.values[v.index()]) {
            let s = self.scalar(v);
            for u in 0..self.chunks {
                let (to, lanes) = (self.scratch_at(at, s, u), self.lanes(v, u)?);
                self.line(format!("st_{}({to}, {lanes});", kept(s)));
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
            let (i, data) = (slot.index(), &self.func.slots[slot.index()]);
            let bytes = data.size.next_multiple_of(8) * LANES;
            for u in 0..self.chunks {
                match self.split.and_then(|p| p.slots[i]) {
                    Some(at) => {
                        let (room, first) = (self.room(), LANES * u);
                        self.line(format!(
                            "char* const S{i}_{u} = slots + {} + (t0 + {first}) * {};",
                            at * room,
                            data.size
                        ));
                    }
                    None => {
                        self.slot_bytes += bytes as usize;
                        if self.slot_bytes > MAX_FRAME {
                            return Err(Unsupported("local arrays too large for a stack"));
                        }
                        self.line(format!("char S{i}_{u}[{bytes}] __attribute__((aligned(64)));"));
                        self.line(format!("__builtin_memset(S{i}_{u}, {POISON}, {bytes});"));
                    }
                }
            }
        }
        Ok(sets)
    }

    fn declare_local(&mut self, l: Local) {
        let (i, ty) = (l.index(), self.func.locals[l.index()].ty);
        let s = scalar_of(ty);
        if self.local(l, Version::Apart).0 == "w" {
            for u in 0..self.chunks {
                self.line(format!("{} w{i}_{u} = splat_{}({});", vtype(s), suffix(s), poison(ty)));
            }
        }
        match (self.split.map(|p| p.locals[i]), self.local(l, Version::Together).1) {
            (Some(LocalHome::Shared), _) => {}
            (Some(LocalHome::Scratch(at, ..)), _) => {
                for u in 0..self.chunks {
                    let from = self.scratch_at(at, s, u);
                    self.line(format!("{} l{i}_{u} = ld_{}({from});", vtype(s), kept_from(s)));
                }
            }
            (_, Form::Group | Form::Row(_)) => self.line(format!("{} l{i} = {};", ctype(s), poison(ty))),
            (_, Form::Chunk | Form::Line(_)) => {
                for u in 0..self.chunks {
                    self.line(format!("{} l{i}_{u} = {};", ctype(s), poison(ty)));
                }
            }
            (_, Form::Lanes) => {
                for u in 0..self.chunks {
                    self.line(format!("{} l{i}_{u} = splat_{}({});", vtype(s), suffix(s), poison(ty)));
                }
            }
        }
    }

    /// Makes a value of another region known in this one.
    fn remake(
        &mut self,
        v: Value,
        own: &HashSet<Value>,
        slots: &mut Vec<crate::ir::Slot>,
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
                let s = self.scalar(v);
                for u in 0..self.chunks {
                    let from = self.scratch_at(at, s, u);
                    self.line(format!("const {} v{}_{u} = ld_{}({from});", vtype(s), v.index(), kept_from(s)));
                }
                self.defined.insert(v);
                self.printed[v.index()] = version;
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

/// How operations of memory call what scratch holds.
fn kept(s: Scalar) -> &'static str {
    match s {
        Scalar::U8 => "i8",
        Scalar::U16 => "i16",
        other => kept_from(other),
    }
}

fn kept_from(s: Scalar) -> &'static str {
    match s {
        Scalar::I8 => "i8",
        Scalar::U8 => "u8",
        Scalar::I16 => "i16",
        Scalar::U16 => "u16",
        other => suffix(other),
    }
}

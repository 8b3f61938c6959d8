//! A region: the loop over a block's threads, and the values of a thread that other regions left for it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, LocalVar, Ptr, Result, Val, constant, scalar_type};
use crate::back::cpu::abi::context::{DescField, Field};
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::masks::{ACTIVE, MaskOp};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::{LocalHome, SplitPlan, ValueHome};
use crate::ir::{Local, Op, Scalar, Slot, Stmt, Type, Value};
use crate::source::Span;

/// The values, locals and slots that a region mentions.
#[derive(Default)]
struct Mentions {
    values: Vec<Value>,
    made: Vec<Value>,
    locals: Vec<Local>,
    set: Vec<Local>,
    slots: Vec<Slot>,
}

impl Mentions {
    fn of(stmts: &[&Stmt]) -> Self {
        let mut found = Mentions::default();
        for stmt in stmts {
            found.stmt(stmt);
            for inner in stmt.blocks() {
                inner.for_each_stmt(&mut |s| found.stmt(s));
            }
        }
        for list in [&mut found.values, &mut found.made] {
            list.sort_unstable();
            list.dedup();
        }
        found.values.retain(|v| found.made.binary_search(v).is_err());
        found.locals.extend(&found.set);
        for list in [&mut found.locals, &mut found.set] {
            list.sort_unstable();
            list.dedup();
        }
        found.slots.sort_unstable();
        found.slots.dedup();
        found
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.for_each_value(|v| self.values.push(v));
        self.made.extend(stmt.result());
        match stmt {
            Stmt::Let(_, Op::Get(l)) => self.locals.push(*l),
            Stmt::Let(_, Op::SlotAddr(s)) => self.slots.push(*s),
            Stmt::Set(l, _) => self.set.push(*l),
            _ => {}
        }
    }
}

impl<'m> FuncLower<'_, 'm> {
    /// A loop over the active threads; `fill` emits the code for one thread, and tells whether control reaches its end. `kept` are
    /// the locals it sets that have to outlive it.
    pub(super) fn thread_loop(&mut self, kept: &[Local], fill: impl FnOnce(&mut Self) -> Result<bool>) -> Result<()> {
        let outer = std::mem::take(&mut self.exits);
        let (end, after) = (self.b.create_block(), self.b.create_block());
        let walk = self.walk()?;
        (walk.thread_end, walk.jumped) = (Some(end), false);
        let (table, masks, threads) = (walk.table, walk.masks, walk.threads);
        let zero = self.int(types::I64, 0);
        let one = self.int(types::I64, 1);
        // Masks make it a loop over warps around one over the bits of a warp's mask.
        let body = self.b.create_block();
        let warps = match masks {
            None => {
                let tid = self.b.append_block_param(body, types::I64);
                self.b.ins().jump(body, &[zero.into()]);
                self.b.switch_to_block(body);
                self.walk()?.tid = Some(tid);
                None
            }
            Some(masks) => {
                let (head, next) = (self.b.create_block(), self.b.create_block());
                let warp = self.b.append_block_param(head, types::I64);
                let left = self.b.append_block_param(body, types::I32);
                self.b.ins().jump(head, &[zero.into()]);
                self.b.switch_to_block(head);
                let at = self.mask_word(masks, warp, ACTIVE);
                let active = self.b.ins().load(types::I32, trusted(), at, 0);
                self.b.ins().brif(active, body, &[active.into()], next, &[]);
                self.b.switch_to_block(body);
                let lane = self.b.ins().ctz(left);
                let lane = self.b.ins().uextend(types::I64, lane);
                let five = self.int(types::I64, 5);
                let first = self.b.ins().ishl(warp, five);
                let tid = self.b.ins().iadd(first, lane);
                self.walk()?.tid = Some(tid);
                Some((head, next, warp, left))
            }
        };
        let tid = self.walk()?.tid.ok_or_else(|| super::bad_ir(Span::NONE, "no thread".to_owned()))?;
        let at = self.scaled(table, tid, 4);
        let packed = self.b.ins().load(types::I32, constant(), at, 0);
        self.walk()?.packed = Some(packed);
        self.published = false;
        if !self.info.calls.is_empty() {
            self.publish_thread();
            self.published = true;
        }
        if fill(self)? {
            self.b.ins().jump(end, &[]);
        }
        self.b.switch_to_block(end);
        self.b.seal_block(end);
        for local in kept {
            self.keep_local(*local)?;
        }
        match warps {
            None => {
                let next = self.b.ins().iadd(tid, one);
                let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, threads);
                self.b.ins().brif(more, body, &[next.into()], after, &[]);
                self.b.seal_block(body);
            }
            Some((head, next, warp, left)) => {
                let lowest = self.int(types::I32, -1);
                let below = self.b.ins().iadd(left, lowest);
                let rest = self.b.ins().band(left, below);
                self.b.ins().brif(rest, body, &[rest.into()], next, &[]);
                self.b.seal_block(body);
                self.b.switch_to_block(next);
                self.b.seal_block(next);
                let following = self.b.ins().iadd(warp, one);
                let five = self.int(types::I64, 5);
                let first = self.b.ins().ishl(following, five);
                let more = self.b.ins().icmp(IntCC::UnsignedLessThan, first, threads);
                self.b.ins().brif(more, head, &[following.into()], after, &[]);
                self.b.seal_block(head);
            }
        }
        self.finish_exits()?;
        self.exits = outer;
        let walk = self.walk()?;
        (walk.tid, walk.packed, walk.thread_end) = (None, None, None);
        let jumped = std::mem::take(&mut walk.jumped);
        for v in std::mem::take(&mut walk.defined) {
            self.values[v.index()] = None;
            self.far.remove(&v);
        }
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        if jumped {
            let any = self.mask(MaskOp::Any, 0, None)?;
            self.go_on_if(any)?;
        }
        Ok(())
    }

    pub(super) fn region(&mut self, stmts: &'m [Stmt], spans: &[Span]) -> Result<()> {
        let plan = self.walk()?.plan;
        let shared = |stmt: &Stmt| match stmt {
            Stmt::Let(v, _) => plan.values[v.index()] == ValueHome::Shared,
            Stmt::Set(l, _) => plan.locals[l.index()] == LocalHome::Shared,
            _ => false,
        };
        let idle = |stmt: &Stmt| matches!(stmt, Stmt::Let(v, _) if plan.values[v.index()] == ValueHome::Remade);
        for (stmt, span) in stmts.iter().zip(spans).filter(|(s, _)| shared(s)) {
            self.lower_stmt(stmt, *span)?;
        }
        let own: Vec<(&Stmt, Span)> = stmts.iter().zip(spans.iter().copied()).filter(|(s, _)| !shared(s)).collect();
        if own.iter().all(|(s, _)| idle(s)) {
            return Ok(());
        }
        let mentions = Mentions::of(&own.iter().map(|(s, _)| *s).collect::<Vec<_>>());
        let is_kept = |l: &Local| matches!(plan.locals[l.index()], LocalHome::Scratch(..));
        let kept: Vec<Local> = mentions.set.iter().copied().filter(is_kept).collect();
        self.thread_loop(&kept, |lower| {
            lower.set_up_thread(plan, &mentions)?;
            for (stmt, span) in own {
                if !lower.lower_stmt(stmt, span)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Fetches the values that a thread's part of a region needs.
    fn set_up_thread(&mut self, plan: &'m SplitPlan, mentions: &Mentions) -> Result<()> {
        for (i, at) in plan.slots.iter().enumerate() {
            if at.is_some()
                && let (Some(slot), Some(descs)) = (self.slots.get(i).copied(), self.descs)
            {
                let base = self.base_of(Root::Slot(Slot::new(i)))?;
                self.stack_put(base, descs, slot.desc_at + DescField::BASE);
            }
        }
        for slot in &mentions.slots {
            if plan.slots[slot.index()].is_none() {
                self.poison_slot(slot.index())?;
            }
        }
        for v in &mentions.values {
            self.fetch(*v)?;
        }
        for local in &mentions.locals {
            match plan.locals[local.index()] {
                LocalHome::Region => self.poison_local(local.index()),
                LocalHome::Shared => {}
                LocalHome::Scratch(a, b, _) => match self.locals[local.index()] {
                    LocalVar::Scalar(var) => {
                        let ty = self.func.locals[local.index()].ty.scalar().unwrap_or(Scalar::U64);
                        let value = self.kept_load(a, ty)?;
                        self.b.def_var(var, value);
                    }
                    LocalVar::Known(_, var) => {
                        let value = self.kept_load(a, Scalar::I64)?;
                        self.b.def_var(var, value);
                    }
                    LocalVar::Dynamic { addr, desc } => {
                        for (at, var) in [(a, addr), (b, desc)] {
                            let value = self.kept_load(at, Scalar::I64)?;
                            self.b.def_var(var, value);
                        }
                    }
                },
            }
        }
        Ok(())
    }

    /// Makes a value of another region known to the running thread.
    pub(super) fn fetch(&mut self, v: Value) -> Result<()> {
        if self.values.get(v.index()).is_some_and(Option::is_some) {
            return Ok(());
        }
        let walk = self.walk()?;
        match walk.plan.values[v.index()] {
            ValueHome::Remade => {
                let op =
                    walk.ops[v.index()].ok_or_else(|| super::bad_ir(Span::NONE, format!("{v} is made of nothing")))?;
                let mut operands = Vec::new();
                op.for_each_value(|o| operands.push(o));
                for operand in operands {
                    self.fetch(operand)?;
                }
                let val = self.op(v, op, Span::NONE)?;
                self.define(v, val)
            }
            ValueHome::Scratch(a, b) => {
                let root = walk.roots[v.index()];
                let val = match (self.func.ty(v), root) {
                    (Type::Scalar(s), _) => Val::Scalar(self.kept_load(a, s)?),
                    (Type::Ptr, Some(root)) => Val::Ptr(Ptr::Known { root, off: self.kept_load(a, Scalar::I64)? }),
                    (Type::Ptr, None) => {
                        let (addr, desc) = (self.kept_load(a, Scalar::I64)?, self.kept_load(b, Scalar::I64)?);
                        Val::Ptr(Ptr::Dynamic { addr, desc })
                    }
                };
                self.values[v.index()] = Some(val);
                self.walk()?.defined.push(v);
                Ok(())
            }
            ValueHome::Region | ValueHome::Shared => {
                Err(self.bad(Span::NONE, format_args!("{v} is used where it has no value")))
            }
        }
    }

    /// Called when a region defines a value: it is forgotten after the thread's part, and kept where others need it.
    pub(super) fn note_defined(&mut self, v: Value, val: Val) -> Result<()> {
        let Some(walk) = self.walk.as_mut().filter(|w| w.tid.is_some()) else { return Ok(()) };
        walk.defined.push(v);
        let ValueHome::Scratch(a, b) = walk.plan.values[v.index()] else { return Ok(()) };
        match val {
            Val::Scalar(value) => self.kept_store(a, value),
            Val::Ptr(Ptr::Known { root, off }) => {
                walk.roots[v.index()] = Some(root);
                self.kept_store(a, off)
            }
            Val::Ptr(Ptr::Dynamic { addr, desc }) => {
                self.kept_store(a, addr)?;
                self.kept_store(b, desc)
            }
        }
    }

    pub(super) fn keep_local(&mut self, local: Local) -> Result<()> {
        let LocalHome::Scratch(a, b, _) = self.walk()?.plan.locals[local.index()] else { return Ok(()) };
        match self.locals[local.index()] {
            LocalVar::Scalar(var) | LocalVar::Known(_, var) => {
                let value = self.b.use_var(var);
                self.kept_store(a, value)
            }
            LocalVar::Dynamic { addr, desc } => {
                let (addr, desc) = (self.b.use_var(addr), self.b.use_var(desc));
                self.kept_store(a, addr)?;
                self.kept_store(b, desc)
            }
        }
    }

    /// The address `base + index * size`.
    pub(super) fn scaled(&mut self, base: clif::Value, index: clif::Value, size: u32) -> clif::Value {
        let shift = self.int(types::I64, i64::from(size.trailing_zeros()));
        let by = self.b.ins().ishl(index, shift);
        self.b.ins().iadd(base, by)
    }

    pub(super) fn kept_place(&mut self, size: u32) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (scratch, tid) = (walk.scratch, walk.tid);
        let tid = tid.ok_or_else(|| super::bad_ir(Span::NONE, "scratch outside a region".to_owned()))?;
        Ok(self.scaled(scratch, tid, size))
    }

    pub(super) fn kept_load(&mut self, at: u32, ty: Scalar) -> Result<clif::Value> {
        let place = self.kept_place(ty.size())?;
        Ok(self.b.ins().load(scalar_type(ty), trusted(), place, at as i32))
    }

    pub(super) fn kept_store(&mut self, at: u32, value: clif::Value) -> Result<()> {
        let size = self.b.func.dfg.value_type(value).bytes();
        let place = self.kept_place(size)?;
        self.b.ins().store(trusted(), value, place, at as i32);
        Ok(())
    }

    /// The array of scratch that holds a value of all threads.
    pub(super) fn kept_array(&mut self, v: Value) -> Result<clif::Value> {
        let walk = self.walk()?;
        let ValueHome::Scratch(at, _) = walk.plan.values[v.index()] else {
            return Err(self.bad(Span::NONE, format_args!("{v} is not kept")));
        };
        let scratch = walk.scratch;
        let at = self.int(types::I64, i64::from(at));
        Ok(self.b.ins().iadd(scratch, at))
    }

    /// Memory of a slot that the running thread keeps.
    pub(super) fn kept_slot(&mut self, slot: Slot) -> Option<clif::Value> {
        let walk = self.walk.as_ref()?;
        let at = walk.plan.slots.get(slot.index()).copied().flatten()?;
        let (slots, tid) = (walk.slots, walk.tid?);
        let stride = self.int(types::I64, i64::from(walk.plan.slot_bytes));
        let by = self.b.ins().imul(tid, stride);
        let start = self.b.ins().iadd(slots, by);
        let at = self.int(types::I64, i64::from(at));
        Some(self.b.ins().iadd(start, at))
    }

    /// True if threads keep a slot, so that it needs no stack.
    pub(super) fn is_kept_slot(&self, index: usize) -> bool {
        self.walk.as_ref().is_some_and(|w| w.plan.slots.get(index).copied().flatten().is_some())
    }

    /// A component of the running thread's index, where regions count threads.
    pub(super) fn walked_index(&mut self, dim: u8) -> Option<clif::Value> {
        let packed = self.walk.as_ref()?.packed?;
        Some(self.unpack(packed, dim))
    }

    pub(super) fn unpack(&mut self, packed: clif::Value, dim: u8) -> clif::Value {
        let ten_bits = self.int(types::I32, 1023);
        let shifted = match dim {
            0 => packed,
            d => {
                let by = self.int(types::I32, 10 * i64::from(d));
                self.b.ins().ushr(packed, by)
            }
        };
        if dim == 2 { shifted } else { self.b.ins().band(shifted, ten_bits) }
    }

    /// Stores the running thread's index in the context.
    pub(super) fn publish_walked(&mut self) {
        let Some(packed) = self.walk.as_ref().and_then(|w| w.packed) else { return };
        for d in 0..3u8 {
            let index = self.unpack(packed, d);
            self.b.ins().store(trusted(), index, self.ctx, Field::THREAD + 4 * i32::from(d));
        }
    }

    /// True for a jump inside a region, where it moves one thread.
    pub(super) fn in_region(&self) -> bool {
        self.walk.as_ref().is_some_and(|w| w.tid.is_some())
    }
}

//! A kernel with splits: the code walks the regions of one block, and each region is a loop over the block's threads.
//!
//! Where all threads go the same way, control between regions is plain control. Where they may not, masks (a bit for each thread of
//! each warp) say who is active: mask 0 are those that run now, mask 1 those that left the kernel, the others those that a
//! construct has set aside. A thread that leaves a construct out of a region moves its bit; a region runs the threads of mask 0, and
//! when that is empty, control goes on where the innermost construct with masks brings some back.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::row::Ops;
use super::{FuncLower, LocalVar, Ptr, Result, Val, constant, exits, scalar_type, trusted};
use crate::back::cpu::analysis::Root;
use crate::back::cpu::context::{DescField, Field};
use crate::back::cpu::faults::{Join, Joined, SiteKind};
use crate::back::cpu::intrinsics::HostFn;
use crate::back::cpu::join::{ACTIVE, EXITED, FIRST_MASK, MASK_BYTES, MaskOp, OPERAND_WORDS, OPERANDS};
use crate::back::cpu::split::{LocalHome, SplitPlan, ValueHome};
use crate::ir::{Block, Collective, Label, Local, Op, Scalar, Slot, Stmt, Type, Value};
use crate::pass::regions::{Node, Sequence};
use crate::source::Span;

/// The walk over a block's regions.
pub(super) struct Walk<'m> {
    plan: &'m SplitPlan,
    ops: Ops<'m>,
    scratch: clif::Value,
    slots: clif::Value,
    table: clif::Value,
    /// How many threads a block has.
    threads: clif::Value,
    masks: Option<clif::StackSlot>,
    mask_count: u32,
    /// Where to go on when nobody is active, innermost last.
    empty: Vec<clif::Block>,
    /// The masks of the constructs around, and where threads went their own way, unless each noted that itself; innermost last.
    around: Vec<(u32, Option<Span>)>,
    /// The running thread, inside a region.
    tid: Option<clif::Value>,
    /// Its index, packed.
    packed: Option<clif::Value>,
    /// Where a thread's part of a region ends.
    thread_end: Option<clif::Block>,
    /// Whether a thread of this region may go out of a construct around it.
    jumped: bool,
    /// Values that only the running thread's part of a region knows.
    defined: Vec<Value>,
    /// The allocation that a kept pointer points into, where it is known.
    roots: Vec<Option<Root>>,
    /// Operands of warp functions.
    operands: Option<clif::StackSlot>,
}

/// What a region mentions.
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
    /// A kernel with splits, for one block.
    pub(super) fn block_kernel(&mut self, plan: &'m SplitPlan) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let args = self.b.block_params(entry)[1];
        self.load_params(args);
        self.load_budget();
        let [scratch, slots, table] = [Field::SCRATCH, Field::SLOTS, Field::THREADS]
            .map(|at| self.b.ins().load(types::I64, constant(), self.ctx, at));
        let mut threads = self.int(types::I64, 1);
        for d in 0..3 {
            let extent = self.ctx_u32(Field::DIMS + 4 * d);
            let extent = self.b.ins().uextend(types::I64, extent);
            threads = self.b.ins().imul(threads, extent);
        }
        let done = self.b.create_block();
        let masks = plan.masks.then(|| self.stack_slot(MASK_BYTES * FIRST_MASK, 8));
        self.walk = Some(Walk {
            plan,
            ops: self.ops(),
            scratch,
            slots,
            table,
            threads,
            masks,
            mask_count: FIRST_MASK,
            empty: vec![done],
            around: Vec::new(),
            tid: None,
            packed: None,
            thread_end: None,
            jumped: false,
            defined: Vec::new(),
            roots: vec![None; self.func.values.len()],
            operands: None,
        });
        self.make_slots();
        self.declare_locals();
        if masks.is_some() {
            self.mask(MaskOp::Init, 0, None)?;
        }
        self.poison_kept(plan)?;
        if self.sequence(&plan.regions.body, &self.func.body)? {
            self.b.ins().jump(done, &[]);
        }
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        self.unlink_slots();
        self.store_budget();
        let ok = self.int(types::I32, 0);
        self.b.ins().return_(&[ok]);
        self.finish_exits()
    }

    fn walk(&mut self) -> Result<&mut Walk<'m>> {
        match &mut self.walk {
            Some(walk) => Ok(walk),
            None => Err(super::bad_ir(self.func.span, "a split in a function that has none".to_owned())),
        }
    }

    /// What threads keep starts as poison.
    fn poison_kept(&mut self, plan: &'m SplitPlan) -> Result<()> {
        for (i, home) in plan.locals.iter().enumerate() {
            if *home == LocalHome::Shared {
                self.poison_local(i);
            }
        }
        let unset: Vec<Local> = (plan.locals.iter().enumerate())
            .filter(|(_, home)| matches!(home, LocalHome::Scratch(.., true)))
            .map(|(i, _)| Local::new(i))
            .collect();
        if !unset.is_empty() {
            self.thread_loop(&unset, |lower| {
                unset.iter().for_each(|l| lower.poison_local(l.index()));
                Ok(true)
            })?;
        }
        if plan.slot_bytes > 0 {
            let (slots, threads) = self.walk().map(|w| (w.slots, w.threads))?;
            let stride = self.int(types::I64, i64::from(plan.slot_bytes));
            let bytes = self.b.ins().imul(threads, stride);
            self.call_host(HostFn::Fill, &[slots, bytes])?;
        }
        Ok(())
    }

    /// The nodes of a sequence; `false` when control never reaches its end.
    fn sequence(&mut self, sequence: &'m Sequence, block: &'m Block) -> Result<bool> {
        self.depth += 1;
        self.check_depth()?;
        let mut reached = true;
        for node in &sequence.nodes {
            reached = self.node(node, block)?;
            if !reached {
                break;
            }
        }
        self.depth -= 1;
        Ok(reached)
    }

    fn node(&mut self, node: &'m Node, block: &'m Block) -> Result<bool> {
        let at = |i: usize| (&block.stmts[i], block.spans.get(i).copied().unwrap_or_default());
        match node {
            Node::Region(range) => {
                self.region(&block.stmts[range.clone()], &block.spans[range.clone()])?;
                Ok(true)
            }
            Node::Barrier(i) => {
                self.barrier(at(*i).1)?;
                Ok(true)
            }
            Node::Collective(i) => match at(*i) {
                (Stmt::Collective { result, op, args }, span) => {
                    self.collective(*result, *op, args, span)?;
                    Ok(true)
                }
                (_, span) => Err(self.bad(span, "no collective here")),
            },
            Node::Jump(i) => {
                let (stmt, span) = at(*i);
                self.node_jump(stmt, span)?;
                Ok(false)
            }
            Node::If { stmt, then, els } => match at(*stmt) {
                (Stmt::If { cond, then: a, els: b }, span) => match self.walk()?.plan.decides_once(*cond) {
                    true => self.plain_if(*cond, (then, a), (els, b)),
                    false => self.masked_if(*cond, (then, a), (els, b), span),
                },
                (_, span) => Err(self.bad(span, "no condition here")),
            },
            Node::Loop { stmt, body, step } => match at(*stmt) {
                (Stmt::Loop { label, body: a, step: b }, span) => {
                    let waits = self.enter_wait(*label);
                    let masked = self.walk()?.plan.masked.contains(label);
                    let reached = match masked {
                        true => self.masked_loop(*label, (body, a), (step, b), span)?,
                        false => self.plain_loop(*label, (body, a), (step, b), span)?,
                    };
                    self.waiting -= u32::from(waits);
                    Ok(reached)
                }
                (_, span) => Err(self.bad(span, "no loop here")),
            },
            Node::Scope { stmt, body } => match at(*stmt) {
                (Stmt::Scope { label, body: a }, span) => match self.walk()?.plan.masked.contains(label) {
                    true => self.masked_scope(*label, (body, a), span),
                    false => {
                        let exit = self.b.create_block();
                        self.push_target(*label, exit, None);
                        let falls = self.sequence(body, a)?;
                        if falls {
                            self.b.ins().jump(exit, &[]);
                        }
                        self.leave(exit, falls, span)
                    }
                },
                (_, span) => Err(self.bad(span, "no scope here")),
            },
        }
    }

    /// A jump of all active threads.
    fn node_jump(&mut self, stmt: &Stmt, span: Span) -> Result<()> {
        let park = match stmt {
            Stmt::Break(label) | Stmt::Continue(label) => {
                let goes_on = matches!(stmt, Stmt::Continue(_));
                let target = self.target(*label, span)?;
                match (target.masks, goes_on) {
                    (Some((left, _)), false) => Some(left),
                    (Some((_, again)), true) => Some(again),
                    (None, false) => {
                        target.exit_used = true;
                        let exit = target.exit;
                        self.b.ins().jump(exit, &[]);
                        None
                    }
                    (None, true) => {
                        target.step_used = true;
                        let Some(step) = target.step else {
                            return Err(self.bad(span, format_args!("`continue` of {label}, which is no loop")));
                        };
                        self.b.ins().jump(step, &[]);
                        None
                    }
                }
            }
            _ if self.walk()?.plan.masked_return => Some(EXITED),
            _ => {
                let done = self.walk()?.empty[0];
                self.b.ins().jump(done, &[]);
                None
            }
        };
        if let Some(mask) = park {
            let parted = self.parted()?;
            let site = self.new_site(span, SiteKind::Jump);
            self.mask_at(MaskOp::Park, mask, Some(parted), site)?;
            let empty = self.empty_target()?;
            self.b.ins().jump(empty, &[]);
        }
        Ok(())
    }

    fn empty_target(&mut self) -> Result<clif::Block> {
        let walk = self.walk()?;
        Ok(walk.empty.last().copied().unwrap_or(walk.empty[0]))
    }

    /// Goes on if anybody is active, else where somebody may be.
    fn go_on_if(&mut self, any: clif::Value) -> Result<()> {
        let (go, empty) = (self.b.create_block(), self.empty_target()?);
        self.b.ins().brif(any, go, &[], empty, &[]);
        self.b.switch_to_block(go);
        self.b.seal_block(go);
        Ok(())
    }

    fn plain_if(
        &mut self,
        cond: Value,
        then: (&'m Sequence, &'m Block),
        els: (&'m Sequence, &'m Block),
    ) -> Result<bool> {
        let cond = self.scalar(cond)?;
        let [yes, no, after] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(cond, yes, &[], no, &[]);
        let mut reached = false;
        for (side, (sequence, block)) in [(yes, then), (no, els)] {
            self.b.switch_to_block(side);
            self.b.seal_block(side);
            if self.sequence(sequence, block)? {
                self.b.ins().jump(after, &[]);
                reached = true;
            }
        }
        self.b.seal_block(after);
        if reached {
            self.b.switch_to_block(after);
        }
        Ok(reached)
    }

    /// Both sides in text order, each with the threads that take it.
    fn masked_if(
        &mut self,
        cond: Value,
        then: (&'m Sequence, &'m Block),
        els: (&'m Sequence, &'m Block),
        span: Span,
    ) -> Result<bool> {
        let other = self.new_mask()?;
        let cond = self.kept_array(cond)?;
        let mut any = self.mask(MaskOp::If, other, Some(cond))?;
        self.walk()?.around.push((other, Some(span)));
        for (turn, (sequence, block)) in [then, els].into_iter().enumerate() {
            if turn == 1 {
                if sequence.nodes.is_empty() {
                    break;
                }
                any = self.mask(MaskOp::Swap, other, None)?;
            }
            let (side, end) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(any, side, &[], end, &[]);
            self.b.switch_to_block(side);
            self.b.seal_block(side);
            self.walk()?.empty.push(end);
            if self.sequence(sequence, block)? {
                self.b.ins().jump(end, &[]);
            }
            self.walk()?.empty.pop();
            self.b.switch_to_block(end);
            self.b.seal_block(end);
        }
        self.walk()?.around.pop();
        let any = self.mask(MaskOp::Merge, other, None)?;
        self.go_on_if(any)?;
        Ok(true)
    }

    fn plain_loop(
        &mut self,
        label: Label,
        body: (&'m Sequence, &'m Block),
        step: (&'m Sequence, &'m Block),
        span: Span,
    ) -> Result<bool> {
        let [head, next, exit] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.push_target(label, exit, Some(next));
        let falls = self.sequence(body.0, body.1)?;
        if falls {
            self.b.ins().jump(next, &[]);
        }
        self.b.seal_block(next);
        if falls || self.labels.last().is_some_and(|t| t.step_used) {
            self.b.switch_to_block(next);
            if self.sequence(step.0, step.1)? {
                self.poll_round(label, span)?;
                self.b.ins().jump(head, &[]);
            }
        }
        self.b.seal_block(head);
        self.leave(exit, false, span)
    }

    /// Round after round with the threads that are still in it.
    fn masked_loop(
        &mut self,
        label: Label,
        body: (&'m Sequence, &'m Block),
        step: (&'m Sequence, &'m Block),
        span: Span,
    ) -> Result<bool> {
        let (left, again) = (self.new_mask()?, self.new_mask()?);
        for mask in [left, again] {
            self.mask(MaskOp::Clear, mask, None)?;
        }
        let [head, next, advance, exit] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.push_target(label, exit, Some(next));
        if let Some(target) = self.labels.last_mut() {
            target.masks = Some((left, again));
        }
        let walk = self.walk()?;
        walk.around.push((left, None));
        walk.around.push((again, None));
        walk.empty.push(next);
        if self.sequence(body.0, body.1)? {
            self.b.ins().jump(next, &[]);
        }
        let walk = self.walk()?;
        walk.empty.pop();
        walk.around.pop();
        self.b.switch_to_block(next);
        self.b.seal_block(next);
        let any = self.mask(MaskOp::Merge, again, None)?;
        self.b.ins().brif(any, advance, &[], exit, &[]);
        self.b.switch_to_block(advance);
        self.b.seal_block(advance);
        self.walk()?.empty.push(exit);
        if self.sequence(step.0, step.1)? {
            self.poll_round(label, span)?;
            self.b.ins().jump(head, &[]);
        }
        let walk = self.walk()?;
        walk.empty.pop();
        walk.around.pop();
        self.b.seal_block(head);
        self.end_masked(exit, left, span)
    }

    fn masked_scope(&mut self, label: Label, body: (&'m Sequence, &'m Block), span: Span) -> Result<bool> {
        let left = self.new_mask()?;
        self.mask(MaskOp::Clear, left, None)?;
        let exit = self.b.create_block();
        self.push_target(label, exit, None);
        if let Some(target) = self.labels.last_mut() {
            target.masks = Some((left, left));
        }
        let walk = self.walk()?;
        walk.around.push((left, None));
        walk.empty.push(exit);
        if self.sequence(body.0, body.1)? {
            self.b.ins().jump(exit, &[]);
        }
        let walk = self.walk()?;
        walk.empty.pop();
        walk.around.pop();
        self.end_masked(exit, left, span)
    }

    /// Those who left a construct are active again.
    fn end_masked(&mut self, exit: clif::Block, left: u32, span: Span) -> Result<bool> {
        self.pop_target(span)?;
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        let any = self.mask(MaskOp::Merge, left, None)?;
        self.go_on_if(any)?;
        Ok(true)
    }

    fn poll_round(&mut self, label: Label, span: Span) -> Result<()> {
        let work = self.info.loops.get(label.index()).copied().unwrap_or(1).min(1 << 32);
        let work = self.int(types::I64, work as i64);
        let threads = self.walk()?.threads;
        let cost = self.b.ins().imul(work, threads);
        self.poll(cost, span)
    }

    /// A loop over the active threads; `fill` writes what one does, and tells whether its end is reached. `kept` are the locals it
    /// sets that have to outlive it.
    fn thread_loop(&mut self, kept: &[Local], fill: impl FnOnce(&mut Self) -> Result<bool>) -> Result<()> {
        let outer = (self.fault, self.stop);
        (self.fault, self.stop) = exits(&mut self.b);
        let (end, after) = (self.b.create_block(), self.b.create_block());
        let walk = self.walk()?;
        (walk.thread_end, walk.jumped) = (Some(end), false);
        let (table, masks, threads) = (walk.table, walk.masks, walk.threads);
        let zero = self.int(types::I64, 0);
        let one = self.int(types::I64, 1);
        // With masks: a loop over warps around one over the bits of a warp's mask.
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
        (self.fault, self.stop) = outer;
        let walk = self.walk()?;
        (walk.tid, walk.packed, walk.thread_end) = (None, None, None);
        let jumped = std::mem::take(&mut walk.jumped);
        for v in std::mem::take(&mut walk.defined) {
            self.values[v.index()] = None;
        }
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        if jumped {
            let any = self.mask(MaskOp::Any, 0, None)?;
            self.go_on_if(any)?;
        }
        Ok(())
    }

    fn region(&mut self, stmts: &'m [Stmt], spans: &[Span]) -> Result<()> {
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

    /// Fetches what a thread's part of a region needs.
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
    fn fetch(&mut self, v: Value) -> Result<()> {
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

    fn keep_local(&mut self, local: Local) -> Result<()> {
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

    /// `base + index * size`
    fn scaled(&mut self, base: clif::Value, index: clif::Value, size: u32) -> clif::Value {
        let shift = self.int(types::I64, i64::from(size.trailing_zeros()));
        let by = self.b.ins().ishl(index, shift);
        self.b.ins().iadd(base, by)
    }

    fn kept_place(&mut self, size: u32) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (scratch, tid) = (walk.scratch, walk.tid);
        let tid = tid.ok_or_else(|| super::bad_ir(Span::NONE, "scratch outside a region".to_owned()))?;
        Ok(self.scaled(scratch, tid, size))
    }

    fn kept_load(&mut self, at: u32, ty: Scalar) -> Result<clif::Value> {
        let place = self.kept_place(ty.size())?;
        Ok(self.b.ins().load(scalar_type(ty), trusted(), place, at as i32))
    }

    fn kept_store(&mut self, at: u32, value: clif::Value) -> Result<()> {
        let size = self.b.func.dfg.value_type(value).bytes();
        let place = self.kept_place(size)?;
        self.b.ins().store(trusted(), value, place, at as i32);
        Ok(())
    }

    /// The array of scratch that holds a value of all threads.
    fn kept_array(&mut self, v: Value) -> Result<clif::Value> {
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

    /// Whether threads keep a slot, so that it needs no stack.
    pub(super) fn is_kept_slot(&self, index: usize) -> bool {
        self.walk.as_ref().is_some_and(|w| w.plan.slots.get(index).copied().flatten().is_some())
    }

    /// A component of the running thread's index, where regions count threads.
    pub(super) fn walked_index(&mut self, dim: u8) -> Option<clif::Value> {
        let packed = self.walk.as_ref()?.packed?;
        Some(self.unpack(packed, dim))
    }

    fn unpack(&mut self, packed: clif::Value, dim: u8) -> clif::Value {
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

    /// Writes the running thread's index to the context.
    pub(super) fn publish_walked(&mut self) {
        let Some(packed) = self.walk.as_ref().and_then(|w| w.packed) else { return };
        for d in 0..3u8 {
            let index = self.unpack(packed, d);
            self.b.ins().store(trusted(), index, self.ctx, Field::THREAD + 4 * i32::from(d));
        }
    }

    /// Whether a jump stands in a region, where it moves one thread.
    pub(super) fn in_region(&self) -> bool {
        self.walk.as_ref().is_some_and(|w| w.tid.is_some())
    }

    /// The running thread leaves what the mask stands for.
    pub(super) fn jump_out(&mut self, mask: u32, span: Span) -> Result<()> {
        if mask != EXITED {
            let site = self.new_site(span, SiteKind::Jump);
            let (site, at) = (self.int(types::I32, site), self.walk()?.plan.parted);
            self.kept_store(at, site)?;
        }
        let walk = self.walk()?;
        walk.jumped = true;
        let (Some(masks), Some(tid), Some(end)) = (walk.masks, walk.tid, walk.thread_end) else {
            return Err(self.bad(Span::NONE, "a thread leaves where no mask says so"));
        };
        let five = self.int(types::I64, 5);
        let warp = self.b.ins().ushr(tid, five);
        let lane = self.b.ins().ireduce(types::I32, tid);
        let one = self.int(types::I32, 1);
        let bit = self.b.ins().ishl(one, lane);
        let active_at = self.mask_word(masks, warp, ACTIVE);
        let active = self.b.ins().load(types::I32, trusted(), active_at, 0);
        let rest = self.b.ins().band_not(active, bit);
        self.b.ins().store(trusted(), rest, active_at, 0);
        let other_at = self.mask_word(masks, warp, mask);
        let other = self.b.ins().load(types::I32, trusted(), other_at, 0);
        let more = self.b.ins().bor(other, bit);
        self.b.ins().store(trusted(), more, other_at, 0);
        self.b.ins().jump(end, &[]);
        Ok(())
    }

    fn mask_word(&mut self, masks: clif::StackSlot, warp: clif::Value, mask: u32) -> clif::Value {
        let start = self.b.ins().stack_addr(types::I64, masks, (MASK_BYTES * mask) as i32);
        self.scaled(start, warp, 4)
    }

    fn new_mask(&mut self) -> Result<u32> {
        let walk = self.walk()?;
        let Some(masks) = walk.masks else { return Err(self.bad(Span::NONE, "a mask where there are none")) };
        let mask = walk.mask_count;
        walk.mask_count += 1;
        self.b.func.sized_stack_slots[masks].size = MASK_BYTES * (mask + 1);
        Ok(mask)
    }

    fn masks_address(&mut self) -> Result<clif::Value> {
        Ok(match self.walk()?.masks {
            Some(masks) => self.b.ins().stack_addr(types::I64, masks, 0),
            None => self.int(types::I64, 0),
        })
    }

    /// Does something to the masks; whether anybody is active then.
    fn mask(&mut self, op: MaskOp, mask: u32, cond: Option<clif::Value>) -> Result<clif::Value> {
        self.mask_at(op, mask, cond, 0)
    }

    /// Where threads note the sites of their jumps.
    fn parted(&mut self) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (scratch, at) = (walk.scratch, walk.plan.parted);
        let at = self.int(types::I64, i64::from(at));
        Ok(self.b.ins().iadd(scratch, at))
    }

    /// As [`Self::mask`], for an operation that has a site: `array` is where threads note it.
    fn mask_at(&mut self, op: MaskOp, mask: u32, array: Option<clif::Value>, site: i64) -> Result<clif::Value> {
        let masks = self.masks_address()?;
        let (code, mask) = (self.int(types::I64, op as i64), self.int(types::I64, i64::from(mask)));
        let array = match array {
            Some(array) => array,
            None => self.int(types::I64, 0),
        };
        let (threads, site) = (self.walk()?.threads, self.int(types::I64, site));
        Ok(self.call_host(HostFn::Mask, &[masks, code, mask, array, threads, site])?[0])
    }

    fn join_site(&mut self, op: Joined, span: Span) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (around, parted) = (walk.around.iter().rev().copied().collect(), walk.plan.parted);
        let site = self.new_site(span, SiteKind::Join(Box::new(Join { op, around, parted })));
        Ok(self.int(types::I64, site))
    }

    fn stop_if_negative(&mut self, value: clif::Value) {
        let zero = self.int(types::I64, 0);
        let negative = self.b.ins().icmp(IntCC::SignedLessThan, value, zero);
        self.stop_if(negative);
    }

    fn barrier(&mut self, span: Span) -> Result<()> {
        // Without masks all threads are here.
        if self.walk()?.masks.is_none() {
            return Ok(());
        }
        let site = self.join_site(Joined::Barrier, span)?;
        let masks = self.masks_address()?;
        let status = self.call_host(HostFn::Barrier, &[self.ctx, site, masks])?[0];
        self.stop_if_negative(status);
        Ok(())
    }

    fn collective(&mut self, result: Option<Value>, op: Collective, args: &[Value], span: Span) -> Result<()> {
        let plan = self.walk()?.plan;
        let area = match self.walk()?.operands {
            Some(area) => area,
            None => {
                let area = self.stack_slot(8 * OPERAND_WORDS, 8);
                self.walk()?.operands = Some(area);
                area
            }
        };
        let mut of = Scalar::U32;
        for (i, v) in args.iter().enumerate().take(OPERANDS) {
            let ty = self.scalar_of(*v)?;
            if op.is_block() || i == 1 {
                of = ty;
            }
            let (word, stride) = match plan.values[v.index()] {
                ValueHome::Shared => {
                    let value = self.scalar(*v)?;
                    (self.widen(value, ty.into()), 0)
                }
                _ => (self.kept_array(*v)?, ty.size()),
            };
            let stride = self.int(types::I64, i64::from(stride));
            self.stack_put(word, area, 16 * i as i32);
            self.stack_put(stride, area, 16 * i as i32 + 8);
        }
        let to = match result {
            Some(v) if !op.is_block() => self.kept_array(v)?,
            _ => self.int(types::I64, 0),
        };
        self.stack_put(to, area, 16 * OPERANDS as i32);
        let site = self.join_site(Joined::Collective(op, of.size(), of.is_signed()), span)?;
        let masks = self.masks_address()?;
        let start = self.b.ins().stack_addr(types::I64, area, 0);
        let answer = self.call_host(HostFn::Collect, &[self.ctx, site, masks, start])?[0];
        self.stop_if_negative(answer);
        if let Some(v) = result.filter(|_| op.is_block()) {
            let ty = scalar_type(self.scalar_of(v)?);
            let answer = self.b.ins().ireduce(ty, answer);
            self.define(v, Val::Scalar(answer))?;
        }
        Ok(())
    }
}

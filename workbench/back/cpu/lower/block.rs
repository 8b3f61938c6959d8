//! A kernel with splits: the code walks the regions of one block, and each region is a loop over the block's threads.
//!
//! Control between regions is plain control where it is uniform. Where it may diverge, masks (a bit for each thread of each warp)
//! say which threads are active: mask 0 has those that run now, mask 1 those that left the kernel, the others those that a construct
//! has set aside. A thread that leaves a construct out of a region moves its bit; a region runs the threads of mask 0, and when that
//! is empty, control goes on where the innermost construct with masks brings some back.
//!
//! A uniform value that cannot fault is computed once, ahead of the region; a cheap value is rematerialised where it is needed; any other
//! that outlives its region is kept in scratch, an array of one element a thread (`facts/split.rs` decides). Local arrays that outlive a
//! region have memory of their own. A barrier under uniform control costs nothing. With masks, an `if` runs both sides in text order, and a
//! loop runs until no thread is left. All warps of a block are walked together, which is one of the orders that CUDA allows.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::row::Ops;
use super::{FuncLower, Result, constant};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::masks::{FIRST_MASK, MASK_BYTES, MaskOp};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::{LocalHome, SplitPlan};
use crate::ir::{Block, Label, Local, Stmt, Value};
use crate::pass::regions::{Node, Sequence};
use crate::source::Span;

/// The walk over a block's regions.
pub(super) struct RegionWalk<'m> {
    pub(super) plan: &'m SplitPlan,
    pub(super) ops: Ops<'m>,
    pub(super) scratch: clif::Value,
    pub(super) slots: clif::Value,
    pub(super) table: clif::Value,
    /// The number of threads in a block.
    pub(super) threads: clif::Value,
    pub(super) masks: Option<clif::StackSlot>,
    pub(super) mask_count: u32,
    /// The blocks to go on at when no thread is active, innermost last.
    pub(super) empty: Vec<clif::Block>,
    /// The masks of the constructs around, and the places where threads diverged, unless each noted that itself; innermost
    /// last.
    pub(super) around: Vec<(u32, Option<Span>)>,
    /// The running thread, inside a region.
    pub(super) tid: Option<clif::Value>,
    /// Its index, packed.
    pub(super) packed: Option<clif::Value>,
    /// The block at which a thread's part of a region ends.
    pub(super) thread_end: Option<clif::Block>,
    /// True if a thread of this region may jump out of a construct around it.
    pub(super) jumped: bool,
    /// Values that only the running thread's part of a region knows.
    pub(super) defined: Vec<Value>,
    /// The allocation that a kept pointer points into, where it is known.
    pub(super) roots: Vec<Option<Root>>,
    /// Operands of warp functions.
    pub(super) operands: Option<clif::StackSlot>,
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
        self.walk = Some(RegionWalk {
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
        self.make_slots(false)?;
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

    pub(super) fn walk(&mut self) -> Result<&mut RegionWalk<'m>> {
        match &mut self.walk {
            Some(walk) => Ok(walk),
            None => Err(super::bad_ir(self.func.span, "a split in a function that has none".to_owned())),
        }
    }

    /// Locals and slots that threads keep start as poison.
    pub(super) fn poison_kept(&mut self, plan: &'m SplitPlan) -> Result<()> {
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
    pub(super) fn sequence(&mut self, sequence: &'m Sequence, block: &'m Block) -> Result<bool> {
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

    pub(super) fn node(&mut self, node: &'m Node, block: &'m Block) -> Result<bool> {
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

    pub(super) fn plain_if(
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

    /// Runs both sides in text order, each with the threads that take it.
    pub(super) fn masked_if(
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

    pub(super) fn plain_loop(
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

    /// Runs rounds of a loop with the threads that are still in it.
    pub(super) fn masked_loop(
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

    pub(super) fn masked_scope(&mut self, label: Label, body: (&'m Sequence, &'m Block), span: Span) -> Result<bool> {
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

    pub(super) fn poll_round(&mut self, label: Label, span: Span) -> Result<()> {
        let work = self.info.loops.get(label.index()).copied().unwrap_or(1).min(1 << 32);
        let work = self.int(types::I64, work as i64);
        let threads = self.walk()?.threads;
        let cost = self.b.ins().imul(work, threads);
        self.poll(cost, span)
    }
}

//! A kernel whose threads are fibers: its code runs one thread from beginning to end, and calls the run time where that waits for others
//! (see [`fibers`](crate::back::cpu::run::fibers)). The index of the running thread is in the context.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};

use super::{FuncLower, Result, Val, scalar_type};
use crate::back::cpu::abi::host_fn::{HostFn, PauseReason};
use crate::back::cpu::abi::site::{Join, Joined, SiteKind};
use crate::ir::{Block, Collective, Label, Scalar, Stmt, Value};
use crate::source::Span;

impl FuncLower<'_, '_> {
    /// The code of one thread.
    pub(super) fn fiber_kernel(&mut self) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let args = self.b.block_params(entry)[1];
        self.load_params(args);
        self.load_budget();
        self.make_slots(true)?;
        self.declare_locals();
        (0..self.locals.len()).for_each(|i| self.poison_local(i));
        self.published = true;
        let done = self.b.create_block();
        self.next_thread = Some(done);
        if self.lower_block(&self.func.body)? {
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

    /// True if a statement is a store that the lanes of a warp do together: all load before, all store after.
    pub(super) fn happens_in_step(&self, stmt: &Stmt) -> bool {
        self.info.fibers.as_ref().is_some_and(|splits| splits.is_split(stmt))
    }

    /// Yields to other threads.
    pub(super) fn give_way(&mut self, reason: PauseReason, span: Span) -> Result<()> {
        let site = self.new_site(span, SiteKind::Poll { waits: reason == PauseReason::Spin });
        let (site, reason) = (self.int(types::I64, site), self.int(types::I64, reason as i64));
        let status = self.call_host(HostFn::GiveWay, &[self.ctx, site, reason])?[0];
        self.stop_if(status);
        Ok(())
    }

    /// A collective.
    pub(super) fn meet_for(&mut self, op: Collective, result: Option<Value>, args: &[Value], span: Span) -> Result<()> {
        let mut of = Scalar::U32;
        for (i, v) in args.iter().enumerate() {
            if op.is_block() || i == 1 {
                of = self.scalar_of(*v)?;
            }
        }
        let op_of = Joined::Collective(op, of.size(), of.is_signed());
        if op == Collective::ActiveMask {
            return self.ask_who(op_of, result, span);
        }
        self.meet(op_of, result, args, span)
    }

    /// Begins to count the rounds of a loop, if threads in it ask which threads are together.
    pub(super) fn count_rounds(&mut self, label: Label, blocks: [&Block; 2]) -> bool {
        let mut asks = false;
        if self.info.fibers.is_some() {
            let is_asked = |stmt: &Stmt| matches!(stmt, Stmt::Collective { op: Collective::ActiveMask, .. });
            blocks.into_iter().for_each(|block| block.for_each_stmt(&mut |stmt| asks |= is_asked(stmt)));
        }
        if asks {
            let rounds = self.b.declare_var(types::I64);
            let zero = self.int(types::I64, 0);
            self.b.def_var(rounds, zero);
            self.rounds.push((label, rounds));
        }
        asks
    }

    /// Counts the end of a round of the innermost counted loop.
    pub(super) fn end_round(&mut self) {
        let Some((_, rounds)) = self.rounds.last().copied() else { return };
        let (before, one) = (self.b.use_var(rounds), self.int(types::I64, 1));
        let after = self.b.ins().iadd(before, one);
        self.b.def_var(rounds, after);
    }

    /// `__activemask()`: passes the rounds of the loops around that the thread is in.
    fn ask_who(&mut self, op: Joined, result: Option<Value>, span: Span) -> Result<()> {
        let rounds = self.rounds.clone();
        let around = rounds.iter().map(|(label, _)| (label.index() as u32, None)).collect();
        let area = self.stack_slot(8 * rounds.len().max(1) as u32, 8);
        for (i, (_, rounds)) in rounds.into_iter().enumerate() {
            let count = self.b.use_var(rounds);
            self.stack_put(count, area, 8 * i as i32);
        }
        let site = self.new_site(span, SiteKind::Join(Box::new(Join { op, around, parted: 0, branches: Vec::new() })));
        let (site, start) = (self.int(types::I64, site), self.b.ins().stack_addr(types::I64, area, 0));
        let status = self.call_host(HostFn::Meet, &[self.ctx, site, start])?[0];
        self.stop_if(status);
        if let Some(v) = result {
            let word = self.stack_get(area, 0);
            let mask = self.b.ins().ireduce(types::I32, word);
            self.define(v, Val::Scalar(mask))?;
        }
        Ok(())
    }

    /// Waits for others at a barrier or a collective.
    pub(super) fn meet(&mut self, op: Joined, result: Option<Value>, args: &[Value], span: Span) -> Result<()> {
        let join = Join { op, around: Vec::new(), parted: 0, branches: Vec::new() };
        let area = self.ask(HostFn::Meet, SiteKind::Join(Box::new(join)), args, span)?;
        let Some(v) = result else { return Ok(()) };
        let word = self.stack_get(area, 0);
        let scalar = self.scalar_of(v)?;
        let value = match scalar {
            Scalar::F64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), word),
            Scalar::F32 => {
                let bits = self.b.ins().ireduce(types::I32, word);
                self.b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
            }
            Scalar::I64 | Scalar::U64 => word,
            small => self.b.ins().ireduce(scalar_type(small), word),
        };
        self.define(v, Val::Scalar(value))
    }
}

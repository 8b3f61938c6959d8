//! Statements. Lowering one says whether control runs past it; dead code after a statement that does not is left out.

use std::collections::HashSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_frontend::Switch;

use super::{FuncLower, LocalVar, MAX_NESTING, Ptr, Result, Target, Val, scalar_type};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::{HostFn, PauseReason};
use crate::back::cpu::abi::masks::EXITED;
use crate::back::cpu::abi::site::{Joined, SiteKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::service::Kind;
use crate::ir::{Block, Case, FuncId, Label, Local, Scalar, Service, Stmt, Type, Value};
use crate::source::Span;

impl FuncLower<'_, '_> {
    /// Lowers a block; `false` when control never reaches its end.
    pub(super) fn lower_block(&mut self, block: &Block) -> Result<bool> {
        self.depth += 1;
        self.check_depth()?;
        let mut reached = true;
        for (stmt, span) in block.iter() {
            if !self.lower_stmt(stmt, span)? {
                reached = false;
                break;
            }
        }
        self.depth -= 1;
        Ok(reached)
    }

    pub(super) fn check_depth(&self) -> Result<()> {
        if self.depth <= MAX_NESTING {
            return Ok(());
        }
        let message = format!("blocks in `{}` are nested more than {MAX_NESTING} deep", self.func.name);
        let help = "move the inner part to a function";
        Err(Box::new(Diagnostic::error(Code::NestingLimit, self.func.span, message).help(help)))
    }

    pub(super) fn lower_stmt(&mut self, stmt: &Stmt, span: Span) -> Result<bool> {
        match stmt {
            Stmt::Let(v, op) => {
                let val = self.op(*v, op, span)?;
                self.define(*v, val)?;
                Ok(true)
            }
            Stmt::Set(local, v) => self.set(*local, *v, span),
            Stmt::Store { ptr, value, volatile } => {
                if self.happens_in_step(stmt) {
                    self.give_way(PauseReason::Step, span)?;
                    self.store(*ptr, *value, *volatile, span)?;
                    self.give_way(PauseReason::Step, span)?;
                } else {
                    self.store(*ptr, *value, *volatile, span)?;
                }
                Ok(true)
            }
            Stmt::If { cond, then, els } => self.lower_if(*cond, then, els),
            Stmt::Loop { label, body, step } => self.lower_loop(*label, body, step, span),
            Stmt::Switch { label, value, cases } => self.lower_switch(*label, *value, cases, span),
            Stmt::Scope { label, body } => self.lower_scope(*label, body),
            Stmt::Break(label) => self.lower_break(*label, span),
            Stmt::Continue(label) => self.lower_continue(*label, span),
            Stmt::Return(value) => self.lower_return(*value, span),
            Stmt::Call { result, func, args, raised } => self.lower_call(*result, *func, args, *raised, span),
            Stmt::Printf { result, format, args } => self.lower_printf(*result, format.index(), args, span),
            Stmt::Assert { cond, message } => {
                let cond = self.scalar(*cond)?;
                let site = self.new_site(span, SiteKind::Assert(message.clone()));
                let zero = self.int(types::I8, 0);
                let fails = self.b.ins().icmp(IntCC::Equal, cond, zero);
                self.fault_if(fails, site, &[]);
                Ok(true)
            }
            Stmt::Aligned { ptr, align } => self.lower_aligned(*ptr, *align, span),
            Stmt::Dispatch(signature) => self.lower_dispatch(*signature, span),
            Stmt::Trap | Stmt::MissingReturn(_) => {
                let kind = match stmt {
                    Stmt::MissingReturn(func) => SiteKind::MissingReturn(func.clone()),
                    _ => SiteKind::Trap,
                };
                let site = self.new_site(span, kind);
                self.jump_to_fault(site, &[]);
                Ok(false)
            }
            Stmt::Atomic { result, op, ptr, value, compare } => {
                self.lower_atomic(*result, *op, *ptr, *value, *compare, span)?;
                Ok(true)
            }
            Stmt::Fence => {
                self.b.ins().fence();
                Ok(true)
            }
            Stmt::Barrier(_) if self.info.fibers.is_some() => {
                self.meet(Joined::Barrier, None, &[], span)?;
                Ok(true)
            }
            Stmt::Collective { result, op, args } if self.info.fibers.is_some() => {
                self.meet_for(*op, *result, args, span)?;
                Ok(true)
            }
            Stmt::Barrier(_) | Stmt::Collective { .. } => Err(self.split_in_a_call(span)),
            Stmt::Service { result, service, args } => self.lower_service(*result, *service, args, span),
            Stmt::Launch { kernel, config, args } => {
                let words: Vec<Value> = config.iter().chain(args).copied().collect();
                self.ask(HostFn::Launch, SiteKind::Launch(*kernel), &words, span)?;
                Ok(true)
            }
        }
    }

    fn lower_break(&mut self, label: Label, span: Span) -> Result<bool> {
        let in_region = self.in_region();
        let target = self.target(label, span)?;
        if let Some((left, _)) = target.masks.filter(|_| in_region) {
            self.jump_out(left, span)?;
            return Ok(false);
        }
        target.exit_used = true;
        let exit = target.exit;
        self.b.ins().jump(exit, &[]);
        Ok(false)
    }

    fn lower_continue(&mut self, label: Label, span: Span) -> Result<bool> {
        let in_region = self.in_region();
        let target = self.target(label, span)?;
        if let Some((_, again)) = target.masks.filter(|_| in_region) {
            self.jump_out(again, span)?;
            return Ok(false);
        }
        target.step_used = true;
        let Some(step) = target.step else {
            return Err(self.bad(span, format_args!("`continue` of {label}, which is no loop")));
        };
        self.b.ins().jump(step, &[]);
        Ok(false)
    }

    /// A fault unless the address is aligned so, where that is not known.
    fn lower_aligned(&mut self, ptr: Value, align: u32, span: Span) -> Result<bool> {
        let log2 = align.trailing_zeros();
        if u32::from(self.info.align.get(ptr.index()).copied().unwrap_or(0)) < log2 {
            let ptr = self.ptr(ptr)?;
            let addr = self.address(ptr)?;
            let site = self.new_site(span, SiteKind::Align(align));
            let mask = self.int(types::I64, i64::from(align) - 1);
            let low = self.b.ins().band(addr, mask);
            self.fault_if(low, site, &[addr]);
        }
        Ok(true)
    }

    /// An error for a call that holds a split: such functions are inlined, unless they call themselves.
    fn split_in_a_call(&self, span: Span) -> Box<Diagnostic> {
        let message = format!(
            "`{}` waits for other threads, and calls itself or is too deep to be made part of its caller",
            self.func.name
        );
        let help = "write the recursion as a loop, or move the barrier or warp function out of it";
        Box::new(Diagnostic::error(Code::Unsupported, span, message).help(help))
    }

    fn set(&mut self, local: Local, v: Value, span: Span) -> Result<bool> {
        let val = self.val(v)?;
        match (self.locals.get(local.index()).copied(), val) {
            (Some(LocalVar::Scalar(var)), Val::Scalar(value)) => self.b.def_var(var, value),
            (Some(LocalVar::Known(root, var)), Val::Ptr(ptr)) => {
                let off = match ptr {
                    Ptr::Known { root: r, off } if r == root => off,
                    _ => return Err(self.bad(span, format_args!("{local} holds pointers into two buffers"))),
                };
                self.b.def_var(var, off);
            }
            (Some(LocalVar::Dynamic { addr, desc }), Val::Ptr(ptr)) => {
                let (a, d) = self.pair(ptr)?;
                self.b.def_var(addr, a);
                self.b.def_var(desc, d);
            }
            _ => return Err(self.bad(span, format_args!("{local} cannot hold {v}"))),
        }
        Ok(true)
    }

    /// The value that a local holds.
    pub(super) fn get(&mut self, local: Local, span: Span) -> Result<Val> {
        match self.locals.get(local.index()).copied() {
            Some(LocalVar::Scalar(var)) => Ok(Val::Scalar(self.b.use_var(var))),
            Some(LocalVar::Known(root, var)) => Ok(Val::Ptr(Ptr::Known { root, off: self.b.use_var(var) })),
            Some(LocalVar::Dynamic { addr, desc }) => {
                Ok(Val::Ptr(Ptr::Dynamic { addr: self.b.use_var(addr), desc: self.b.use_var(desc) }))
            }
            None => Err(self.bad(span, format_args!("{local} is not declared"))),
        }
    }

    pub(super) fn target(&mut self, label: Label, span: Span) -> Result<&mut Target> {
        match self.labels.iter().rposition(|t| t.label == label) {
            Some(i) => Ok(&mut self.labels[i]),
            None => Err(self.bad(span, format_args!("{label} encloses nothing here"))),
        }
    }

    pub(super) fn push_target(&mut self, label: Label, exit: clif::Block, step: Option<clif::Block>) {
        self.labels.push(Target { label, exit, exit_used: false, step, step_used: false, masks: None });
    }

    pub(super) fn pop_target(&mut self, span: Span) -> Result<Target> {
        self.labels.pop().ok_or_else(|| self.bad(span, "labels do not nest"))
    }

    fn lower_if(&mut self, cond: Value, then: &Block, els: &Block) -> Result<bool> {
        let cond = self.scalar(cond)?;
        let after = self.b.create_block();
        let sides = [(then, self.only_jump(then, after)?), (els, self.only_jump(els, after)?)];
        let mut reached = sides.iter().any(|(_, to)| *to == Some(after));
        let [yes, no] = sides.map(|(_, to)| to.unwrap_or_else(|| self.b.create_block()));
        self.b.ins().brif(cond, yes, &[], no, &[]);
        for ((body, to), begin) in sides.into_iter().zip([yes, no]) {
            if to.is_some() {
                continue;
            }
            self.b.switch_to_block(begin);
            self.b.seal_block(begin);
            if self.lower_block(body)? {
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

    /// The target of a side of an `if` that only jumps: to `after` or out of a loop. It needs no block of its own.
    fn only_jump(&mut self, body: &Block, after: clif::Block) -> Result<Option<clif::Block>> {
        let mut stmts = body.iter();
        let (first, rest) = (stmts.next(), stmts.next());
        let (Some((stmt, span)), None) = (first, rest) else {
            return Ok(first.is_none().then_some(after));
        };
        let (Stmt::Break(label) | Stmt::Continue(label)) = stmt else { return Ok(None) };
        let in_region = self.in_region();
        let target = self.target(*label, span)?;
        if in_region && target.masks.is_some() {
            return Ok(None);
        }
        Ok(match stmt {
            Stmt::Break(_) => {
                target.exit_used = true;
                Some(target.exit)
            }
            _ => {
                target.step_used |= target.step.is_some();
                target.step
            }
        })
    }

    fn lower_loop(&mut self, label: Label, body: &Block, step: &Block, span: Span) -> Result<bool> {
        let [head, next, exit] = [(); 3].map(|()| self.b.create_block());
        let waits = self.enter_wait(label);
        let counts = self.count_rounds(label, [body, step]);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.push_target(label, exit, Some(next));
        let falls = self.lower_block(body)?;
        if falls {
            self.b.ins().jump(next, &[]);
        }
        self.b.seal_block(next);
        let continued = self.labels.last().is_some_and(|t| t.step_used);
        if falls || continued {
            self.b.switch_to_block(next);
            if self.lower_block(step)? {
                if counts {
                    self.end_round();
                }
                if self.info.looks.get(label.index()).copied().unwrap_or(false) {
                    // A loop that ends by itself gets on with each round.
                    if self.waiting == 0 {
                        self.count_progress();
                    }
                    self.give_way(PauseReason::Spin, span)?;
                } else {
                    let work = self.info.loops.get(label.index()).copied().unwrap_or(1);
                    let work = self.int(types::I64, work.min(1 << 32) as i64);
                    self.poll(work, span)?;
                }
                self.b.ins().jump(head, &[]);
            }
        }
        self.b.seal_block(head);
        self.waiting -= u32::from(waits);
        self.rounds.truncate(self.rounds.len() - usize::from(counts));
        self.leave(exit, false, span)
    }

    fn lower_scope(&mut self, label: Label, body: &Block) -> Result<bool> {
        let exit = self.b.create_block();
        self.push_target(label, exit, None);
        let falls = self.lower_block(body)?;
        if falls {
            self.b.ins().jump(exit, &[]);
        }
        self.leave(exit, falls, self.func.span)
    }

    /// Ends a construct: goes on in its exit if any jump leads there.
    pub(super) fn leave(&mut self, exit: clif::Block, falls: bool, span: Span) -> Result<bool> {
        let target = self.pop_target(span)?;
        self.b.seal_block(exit);
        let reached = falls || target.exit_used;
        if reached {
            self.b.switch_to_block(exit);
        }
        Ok(reached)
    }

    fn lower_switch(&mut self, label: Label, value: Value, cases: &[Case], span: Span) -> Result<bool> {
        let scalar = self.scalar_of(value)?;
        let value = self.scalar(value)?;
        if scalar.is_float() {
            return Err(self.bad(span, "`switch` on a float"));
        }
        let exit = self.b.create_block();
        let blocks: Vec<_> = cases.iter().map(|_| self.b.create_block()).collect();
        let mask = u128::from(u64::MAX >> (64 - scalar.bits()));
        let mut switch = Switch::new();
        let mut seen = HashSet::new();
        let mut otherwise = exit;
        for (case, block) in cases.iter().zip(&blocks) {
            for v in &case.values {
                let bits = *v as u64 as u128 & mask;
                if !seen.insert(bits) {
                    return Err(self.bad(span, format_args!("`case {v}` appears twice")));
                }
                switch.set_entry(bits, *block);
            }
            if case.default {
                otherwise = *block;
            }
        }
        switch.emit(&mut self.b, value, otherwise);
        self.push_target(label, exit, None);
        let mut falls_out = otherwise == exit;
        let mut from_previous = false;
        for (i, (case, block)) in cases.iter().zip(&blocks).enumerate() {
            if from_previous {
                self.b.ins().jump(*block, &[]);
            }
            self.b.switch_to_block(*block);
            self.b.seal_block(*block);
            let falls = self.lower_block(&case.body)?;
            from_previous = falls && case.falls_through && i + 1 < cases.len();
            if falls && !from_previous {
                self.b.ins().jump(exit, &[]);
                falls_out = true;
            }
        }
        self.leave(exit, falls_out, span)
    }

    fn lower_return(&mut self, value: Option<Value>, span: Span) -> Result<bool> {
        if self.in_region() {
            self.jump_out(EXITED, span)?;
            return Ok(false);
        }
        if let Some(next) = self.next_thread {
            self.b.ins().jump(next, &[]);
            return Ok(false);
        }
        let value = match (value, self.func.ret) {
            (None, None) => None,
            (Some(v), Some(_)) => Some(self.val(v)?),
            _ => return Err(self.bad(span, "`return` does not fit the function's result")),
        };
        self.return_value(value)?;
        Ok(false)
    }

    fn lower_call(
        &mut self,
        result: Option<Value>,
        func: FuncId,
        args: &[Value],
        raised: Option<Value>,
        span: Span,
    ) -> Result<bool> {
        let callee = self.callee(func, span)?;
        let target = self.m.module.func(func);
        if target.params.len() != args.len() {
            return Err(self.bad(span, format_args!("call of `{}` with {} arguments", target.name, args.len())));
        }
        let mut given = vec![self.ctx];
        for (arg, param) in args.iter().zip(&target.params) {
            match (self.val(*arg)?, param.ty.ty()) {
                (Val::Scalar(value), Type::Scalar(_)) => given.push(value),
                (Val::Ptr(ptr), Type::Ptr) => {
                    let (addr, desc) = self.pair(ptr)?;
                    given.extend([addr, desc]);
                }
                _ => {
                    return Err(
                        self.bad(span, format_args!("{arg} does not fit `{}` of `{}`", param.name, target.name))
                    );
                }
            }
        }
        self.publish_budget();
        let frames = raised.map(|_| self.b.ins().load(types::I64, trusted(), self.ctx, Field::FRAMES));
        let results = self.call(callee, &given);
        self.reload_budget();
        let from_library = target.library && target.kind.is_host() && !self.func.library;
        if let (Some(raised), Some(frames)) = (raised, frames) {
            let caught = self.catch_if(results[0], frames, from_library, span)?;
            self.define(raised, Val::Scalar(caught))?;
        } else if from_library {
            self.stop_here_if(results[0], span);
        } else {
            self.stop_if(results[0]);
        }
        if let Some(v) = result {
            let val = match (results.get(1).copied(), target.ret) {
                (Some(addr), Some(Type::Ptr)) => {
                    let desc = self.b.ins().load(types::I64, trusted(), self.ctx, Field::RET_DESC);
                    Val::Ptr(Ptr::Dynamic { addr, desc })
                }
                (Some(value), Some(Type::Scalar(_))) => Val::Scalar(value),
                _ => return Err(self.bad(span, format_args!("`{}` has no result", target.name))),
            };
            self.define(v, val)?;
        }
        Ok(true)
    }

    /// Calls the function that the first parameter points at with the other parameters, and returns its result.
    fn lower_dispatch(&mut self, signature: u64, span: Span) -> Result<bool> {
        let mut given = Vec::with_capacity(2 * self.func.params.len());
        for i in 0..self.func.params.len() {
            match self.param(i as u32)?.val {
                Val::Scalar(value) => given.push(value),
                Val::Ptr(ptr) => {
                    let (addr, desc) = self.pair(ptr)?;
                    given.extend([addr, desc]);
                }
            }
        }
        // The context takes the place of the address and its descriptor.
        let Some((&address, rest)) = given.split_first() else { return Err(self.bad(span, "nothing to dispatch on")) };
        let mut args = vec![self.ctx];
        args.extend(rest.get(1..).unwrap_or_default());
        let wanted = self.int(types::I64, signature as i64);
        let code = self.call_host(HostFn::Function, &[self.ctx, address, wanted])?[0];
        let site = self.new_site(span, SiteKind::Dispatch);
        let zero = self.int(types::I64, 0);
        let missing = self.b.ins().icmp(IntCC::Equal, code, zero);
        self.fault_if(missing, site, &[address]);
        let mut sig = super::device_signature(self.m.isa, self.func);
        sig.params.drain(1..3);
        let sig = self.b.import_signature(sig);
        self.publish_budget();
        let call = self.b.ins().call_indirect(sig, code, &args);
        let results = self.b.inst_results(call).to_vec();
        self.reload_budget();
        self.stop_if(results[0]);
        let value = match (results.get(1).copied(), self.func.ret) {
            (Some(addr), Some(Type::Ptr)) => {
                let desc = self.b.ins().load(types::I64, trusted(), self.ctx, Field::RET_DESC);
                Some(Val::Ptr(Ptr::Dynamic { addr, desc }))
            }
            (value, _) => value.map(Val::Scalar),
        };
        self.return_value(value)?;
        Ok(false)
    }

    /// Puts values where the run time reads them: a word each, two (address, descriptor) for a pointer.
    fn put_words(&mut self, args: &[Value]) -> Result<clif::StackSlot> {
        let mut words = Vec::with_capacity(2 * args.len());
        for arg in args {
            match self.val(*arg)? {
                Val::Scalar(value) => {
                    let ty = Type::Scalar(self.scalar_of(*arg)?);
                    words.push(self.widen(value, ty));
                }
                Val::Ptr(ptr) => {
                    let (addr, desc) = self.pair(ptr)?;
                    words.extend([addr, desc]);
                }
            }
        }
        // A result takes two words at most.
        let size = 8 * words.len().max(2) as u32;
        let area = match self.words {
            Some(area) => {
                let slot = &mut self.b.func.sized_stack_slots[area];
                slot.size = slot.size.max(size);
                area
            }
            None => {
                let area = self.stack_slot(size, 8);
                self.words = Some(area);
                area
            }
        };
        for (i, word) in words.into_iter().enumerate() {
            self.stack_put(word, area, 8 * i as i32);
        }
        Ok(area)
    }

    /// Calls the run time for a site with words; leaves when its status says so.
    pub(super) fn ask(&mut self, asked: HostFn, kind: SiteKind, args: &[Value], span: Span) -> Result<clif::StackSlot> {
        let area = self.put_words(args)?;
        let site = self.new_site(span, kind);
        let site = self.int(types::I64, site);
        let start = self.b.ins().stack_addr(types::I64, area, 0);
        let status = self.call_host(asked, &[self.ctx, site, start])?[0];
        self.stop_if(status);
        Ok(area)
    }

    fn lower_service(&mut self, result: Option<Value>, service: Service, args: &[Value], span: Span) -> Result<bool> {
        let area = self.ask(HostFn::Service, SiteKind::Service(service), args, span)?;
        let Some(v) = result else { return Ok(true) };
        let word = self.stack_get(area, 0);
        let val = match service.ret() {
            Some(Kind::Int) => Val::Scalar(word),
            Some(Kind::Float) => Val::Scalar(self.b.ins().bitcast(types::F64, clif::MemFlagsData::new(), word)),
            Some(Kind::Ptr) => Val::Ptr(Ptr::Dynamic { addr: word, desc: self.stack_get(area, 8) }),
            None => return Err(self.bad(span, format_args!("service {} has no result", service.name()))),
        };
        self.define(v, val)?;
        Ok(true)
    }

    fn lower_printf(&mut self, result: Option<Value>, format: usize, args: &[Value], span: Span) -> Result<bool> {
        if format >= self.m.module.formats.len() {
            return Err(self.bad(span, "printf of a format that does not exist"));
        }
        let types = args.iter().map(|a| self.func.ty(*a)).collect();
        let area = self.put_words(args)?;
        let host = self.func.kind.is_host();
        let site = self.new_site(span, SiteKind::Printf { format, args: types, host });
        let site = self.int(types::I64, site);
        let start = self.b.ins().stack_addr(types::I64, area, 0);
        self.publish_thread();
        let count = self.call_host(HostFn::Printf, &[self.ctx, site, start])?[0];
        let zero = self.int(types::I64, 0);
        let failed = self.b.ins().icmp(IntCC::SignedLessThan, count, zero);
        self.stop_if(failed);
        if let Some(v) = result {
            let count = self.b.ins().ireduce(scalar_type(Scalar::I32), count);
            self.define(v, Val::Scalar(count))?;
        }
        Ok(true)
    }
}

//! The start of a row: compares both ends of the accesses that [`affine`](crate::back::cpu::facts::affine) found.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, Ptr, Result, Val};
use crate::back::cpu::facts::affine::RowPlan;
use crate::ir::{CompareOp, Op, Value};
use crate::source::Span;

/// The op that defines each value.
pub(super) type Ops<'m> = Vec<Option<&'m Op>>;

impl<'m> FuncLower<'_, 'm> {
    /// A value that is true if all planned accesses of the row are in bounds; `width` is the number of threads.
    pub(super) fn row_is_good(&mut self, plan: &RowPlan, width: clif::Value) -> Result<clif::Value> {
        let ops = self.ops();
        // Everything is evaluated for the first thread; the last is `width - 1` steps away.
        self.thread = Some(self.int(types::I32, 0));
        let one = self.int(types::I32, 1);
        let last = self.b.ins().isub(width, one);
        let last = self.b.ins().uextend(types::I64, last);
        let mut good = self.int(types::I8, 1);
        for &(ptr, write, log2, step) in &plan.accesses {
            let Val::Ptr(Ptr::Known { root, off }) = self.first(ptr, plan, &ops)? else {
                return Err(self.bad(Span::NONE, format_args!("{ptr} is not what analysis took it for")));
            };
            let limit = self.limit(root, write, log2)?;
            let end = self.end(off, last, step);
            for off in [off, end] {
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, off, limit);
                good = self.b.ins().band(good, inside);
            }
        }
        let straight = self.widened_stay(plan, &plan.widened, &ops, last)?;
        good = self.b.ins().band(good, straight);
        self.thread = None;
        // The values evaluated here are the first thread's; the body defines its own.
        self.values.fill(None);
        Ok(good)
    }

    /// The number of threads of the row that do anything, where there are any; else goes on in `done`.
    pub(super) fn busy_threads(
        &mut self,
        plan: &RowPlan,
        width: clif::Value,
        done: clif::Block,
    ) -> Result<clif::Value> {
        let Some(end) = &plan.end else { return Ok(width) };
        let ops = self.ops();
        let (zero, one) = (self.int(types::I32, 0), self.int(types::I32, 1));
        self.thread = Some(zero);
        let line = self.first_wide(end.line, plan, &ops)?;
        let bound = self.first_wide(end.bound, plan, &ops)?;
        let last = self.b.ins().isub(width, one);
        let last = self.b.ins().uextend(types::I64, last);
        let is_straight = self.widened_stay(plan, &end.widened, &ops, last)?;
        // Numbers of 32 bits are widened, and compare as signed ones.
        let scalar = self.scalar_of(end.line)?;
        let op = if end.inclusive { CompareOp::Le } else { CompareOp::Lt };
        let cc = super::arith::int_cc(op, scalar.is_signed() || scalar.bits() == 32);
        let begins = self.b.ins().icmp(cc, line, bound);
        let all = self.b.ins().uextend(types::I64, width);
        let mut room = self.b.ins().isub(bound, line);
        let fits = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, room, all);
        if end.inclusive {
            room = self.b.ins().iadd_imm_s(room, 1);
        }
        let none = self.int(types::I64, 0);
        let count = self.b.ins().select(fits, all, room);
        let count = self.b.ins().select(begins, count, none);
        let count = self.b.ins().select(is_straight, count, all);
        let count = self.b.ins().ireduce(types::I32, count);
        self.thread = None;
        self.values.fill(None);
        let go = self.b.create_block();
        self.b.ins().brif(count, go, &[], done, &[]);
        self.b.switch_to_block(go);
        self.b.seal_block(go);
        Ok(count)
    }

    /// A value that is true if none of the values wraps between the first thread and the last.
    pub(super) fn widened_stay(
        &mut self,
        plan: &RowPlan,
        widened: &[(Value, i64)],
        ops: &Ops<'m>,
        last: clif::Value,
    ) -> Result<clif::Value> {
        let mut good = self.int(types::I8, 1);
        for &(v, step) in widened {
            let start = self.first_wide(v, plan, ops)?;
            let scalar = self.scalar_of(v)?;
            let end = self.end(start, last, step);
            let stays = if scalar.bits() == 64 {
                // A row is far too short for 64 bits to wrap around.
                let op = if step < 0 { CompareOp::Le } else { CompareOp::Ge };
                self.b.ins().icmp(super::arith::int_cc(op, scalar.is_signed()), end, start)
            } else {
                let narrow = self.b.ins().ireduce(types::I32, end);
                let again = self.widen(narrow, scalar.into());
                self.b.ins().icmp(IntCC::Equal, end, again)
            };
            good = self.b.ins().band(good, stays);
        }
        Ok(good)
    }

    /// The number `v` for the first thread, extended to 64 bits by its signedness.
    pub(super) fn first_wide(&mut self, v: Value, plan: &RowPlan, ops: &Ops<'m>) -> Result<clif::Value> {
        let scalar = self.scalar_of(v)?;
        let Val::Scalar(first) = self.first(v, plan, ops)? else {
            return Err(self.bad(Span::NONE, format_args!("{v} is not what analysis took it for")));
        };
        Ok(self.widen(first, scalar.into()))
    }

    /// The value `v` for the thread that is set as the running one.
    pub(super) fn first(&mut self, v: Value, plan: &RowPlan, ops: &Ops<'m>) -> Result<Val> {
        if let Some(Some(known)) = self.values.get(v.index()) {
            return Ok(*known);
        }
        let unknown = || super::bad_ir(Span::NONE, format!("{v} is not what analysis took it for"));
        let op = ops.get(v.index()).copied().flatten().ok_or_else(unknown)?;
        let val = match op {
            Op::Get(local) => {
                let set = plan.forwarded.get(local.index()).copied().flatten().ok_or_else(unknown)?;
                self.first(set, plan, ops)?
            }
            _ => {
                let operands = match op {
                    Op::Unary(_, a) | Op::Convert(_, a) => [Some(*a), None],
                    Op::Binary(_, a, b) | Op::PtrAdd { ptr: a, index: b, .. } => [Some(*a), Some(*b)],
                    _ => [None, None],
                };
                for operand in operands.into_iter().flatten() {
                    self.first(operand, plan, ops)?;
                }
                self.op(v, op, Span::NONE)?
            }
        };
        self.define(v, val)?;
        Ok(val)
    }

    pub(super) fn end(&mut self, start: clif::Value, last: clif::Value, step: i64) -> clif::Value {
        if step == 0 {
            return start;
        }
        let step = self.int(types::I64, step);
        let by = self.b.ins().imul(last, step);
        self.b.ins().iadd(start, by)
    }

    /// The op that defines each value.
    pub(super) fn ops(&self) -> Ops<'m> {
        let func = self.func;
        let mut ops = vec![None; self.func.values.len()];
        crate::back::cpu::facts::roots::walk(&func.body, |stmt, _, _| {
            if let crate::ir::Stmt::Let(v, op) = stmt
                && let Some(place) = ops.get_mut(v.index())
            {
                *place = Some(op);
            }
        });
        ops
    }
}

//! Atomics: a check as for any write, then the processor's own instruction, or a loop around compare-and-swap where it has
//! none.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, AtomicRmwOp, InstBuilder, MemFlagsData, types};

use super::{FuncLower, Result, Val, scalar_type};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::flags::trusted;
use crate::ir::{AtomicOp, Label, Scalar, Type, Value};
use crate::source::Span;

impl FuncLower<'_, '_> {
    pub(super) fn lower_atomic(
        &mut self,
        result: Option<Value>,
        op: AtomicOp,
        ptr: Value,
        value: Value,
        compare: Option<Value>,
        span: Span,
    ) -> Result<()> {
        let scalar = self.scalar_of(value)?;
        let addr = self.checked(ptr, Type::Scalar(scalar), true, span)?;
        let value = self.scalar(value)?;
        let operand = self.as_bits(scalar, value);
        let ty = scalar_type(scalar).as_int();
        let rmw = match op {
            AtomicOp::Add if scalar.is_float() => None,
            AtomicOp::Add => Some(AtomicRmwOp::Add),
            AtomicOp::Sub => Some(AtomicRmwOp::Sub),
            AtomicOp::Exch => Some(AtomicRmwOp::Xchg),
            AtomicOp::Min if scalar.is_signed() => Some(AtomicRmwOp::Smin),
            AtomicOp::Min => Some(AtomicRmwOp::Umin),
            AtomicOp::Max if scalar.is_signed() => Some(AtomicRmwOp::Smax),
            AtomicOp::Max => Some(AtomicRmwOp::Umax),
            AtomicOp::And => Some(AtomicRmwOp::And),
            AtomicOp::Or => Some(AtomicRmwOp::Or),
            AtomicOp::Xor => Some(AtomicRmwOp::Xor),
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Cas => None,
        };
        let old = match (rmw, compare) {
            (Some(rmw), _) => self.b.ins().atomic_rmw(ty, trusted(), rmw, addr, operand),
            (None, Some(compare)) => {
                let compare = self.scalar(compare)?;
                let old = self.b.ins().atomic_cas(trusted(), addr, compare, operand);
                self.note_swap(old, compare, operand);
                old
            }
            (None, None) => self.swap_loop(op, scalar, addr, value),
        };
        if op != AtomicOp::Cas {
            self.note_change(op, scalar, old, value, operand);
        }
        if let Some(v) = result {
            let old = if scalar.is_float() {
                self.b.ins().bitcast(scalar_type(scalar), MemFlagsData::new(), old)
            } else {
                old
            };
            self.define(v, Val::Scalar(old))?;
        }
        Ok(())
    }

    fn as_bits(&mut self, scalar: Scalar, value: clif::Value) -> clif::Value {
        match scalar.is_float() {
            true => self.b.ins().bitcast(scalar_type(scalar).as_int(), MemFlagsData::new(), value),
            false => value,
        }
    }

    /// The old contents of memory, by a compare-and-swap loop: for an operation that is no instruction.
    fn swap_loop(&mut self, op: AtomicOp, scalar: Scalar, addr: clif::Value, value: clif::Value) -> clif::Value {
        let ty = scalar_type(scalar).as_int();
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let old = self.b.append_block_param(again, ty);
        let first = self.b.ins().atomic_load(ty, trusted(), addr);
        self.b.ins().jump(again, &[first.into()]);
        self.b.switch_to_block(again);
        let new = self.computed(op, scalar, old, value);
        let found = self.b.ins().atomic_cas(trusted(), addr, old, new);
        let same = self.b.ins().icmp(IntCC::Equal, found, old);
        self.b.ins().brif(same, done, &[], again, &[found.into()]);
        self.b.seal_block(again);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        old
    }

    /// The bits to write.
    fn computed(&mut self, op: AtomicOp, scalar: Scalar, old: clif::Value, value: clif::Value) -> clif::Value {
        let min_max = |lower: &mut Self, code| {
            let take = lower.b.ins().icmp(code, value, old);
            lower.b.ins().select(take, value, old)
        };
        match op {
            AtomicOp::Add if scalar.is_float() => {
                let float = self.b.ins().bitcast(scalar_type(scalar), MemFlagsData::new(), old);
                let sum = self.b.ins().fadd(float, value);
                self.as_bits(scalar, sum)
            }
            AtomicOp::Add => self.b.ins().iadd(old, value),
            AtomicOp::Sub => self.b.ins().isub(old, value),
            AtomicOp::Inc => {
                let below = self.b.ins().icmp(IntCC::UnsignedLessThan, old, value);
                let (one, zero) = (self.int(types::I32, 1), self.int(types::I32, 0));
                let more = self.b.ins().iadd(old, one);
                self.b.ins().select(below, more, zero)
            }
            AtomicOp::Dec => {
                // 0 - 1 is above every number, so one comparison finds both cases of wrapping.
                let one = self.int(types::I32, 1);
                let less = self.b.ins().isub(old, one);
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, less, value);
                self.b.ins().select(inside, less, value)
            }
            AtomicOp::And => self.b.ins().band(old, value),
            AtomicOp::Or => self.b.ins().bor(old, value),
            AtomicOp::Xor => self.b.ins().bxor(old, value),
            AtomicOp::Min if scalar.is_signed() => min_max(self, IntCC::SignedLessThan),
            AtomicOp::Min => min_max(self, IntCC::UnsignedLessThan),
            AtomicOp::Max if scalar.is_signed() => min_max(self, IntCC::SignedGreaterThan),
            AtomicOp::Max => min_max(self, IntCC::UnsignedGreaterThan),
            AtomicOp::Exch | AtomicOp::Cas => self.as_bits(scalar, value),
        }
    }

    /// Notes a store in a loop that may wait: a mere wait does not store.
    pub(super) fn note_progress(&mut self) {
        if self.waiting > 0 {
            self.count_progress();
        }
    }

    /// Counts a step that a mere wait does not do.
    pub(super) fn count_progress(&mut self) {
        let one = self.int(types::I64, 1);
        self.add_progress(one);
    }

    fn add_progress(&mut self, by: clif::Value) {
        let before = self.b.ins().load(types::I64, trusted(), self.ctx, Field::PROGRESS);
        let after = self.b.ins().iadd(before, by);
        self.b.ins().store(trusted(), after, self.ctx, Field::PROGRESS);
    }

    /// Counts an atomic that changed memory.
    fn note_change(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        old: clif::Value,
        value: clif::Value,
        operand: clif::Value,
    ) {
        if self.waiting == 0 {
            return;
        }
        let new = match op {
            AtomicOp::Exch => operand,
            _ => self.computed(op, scalar, old, value),
        };
        let changed = self.b.ins().icmp(IntCC::NotEqual, new, old);
        let changed = self.b.ins().uextend(types::I64, changed);
        self.add_progress(changed);
    }

    fn note_swap(&mut self, old: clif::Value, compare: clif::Value, operand: clif::Value) {
        if self.waiting == 0 {
            return;
        }
        let done = self.b.ins().icmp(IntCC::Equal, old, compare);
        let other = self.b.ins().icmp(IntCC::NotEqual, compare, operand);
        let changed = self.b.ins().band(done, other);
        let changed = self.b.ins().uextend(types::I64, changed);
        self.add_progress(changed);
    }

    /// Begins a loop; gives whether it may wait. Its beginning is progress of the loop around it.
    pub(super) fn enter_wait(&mut self, label: Label) -> bool {
        let waits = self.info.waits.get(label.index()).copied().unwrap_or(false);
        if waits {
            self.waiting += 1;
            if self.waiting == 1 {
                self.note_progress();
            }
        }
        waits
    }
}

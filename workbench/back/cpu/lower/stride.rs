//! Grid-stride loops with rounds outside and threads inside, in two functions beside the kernel's plain code.
//!
//! The *trip* is computed once a row: whether the numbers allow rounds to be exchanged, and the numbers themselves. They
//! do when the stride is positive and no thread's index can pass the range of its type, be it by the step that ends its
//! own loop or by the steps that others still make. Else the plain code has to run, where an index wraps as it should.
//!
//! The *round* is a kernel like any other: for all threads of the row `i = start + offset; if (i < bound) BODY`, with the
//! offset from the context. Neighbours touch neighbouring memory, and their accesses are checked once for the row.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, ParamVal, Result, Val, constant};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::facts::analysis::StridedInfo;
use crate::ir::Scalar;
use crate::source::Span;

/// Largest magnitude of the numbers of 64-bit loops: sums of a few of them do not wrap.
const MAX_WIDE: i64 = 1 << 60;

/// A loop's numbers in 64 bits, for the first thread of the row.
struct Numbers {
    start: clif::Value,
    bound: clif::Value,
    stride: clif::Value,
}

impl<'m> FuncLower<'_, 'm> {
    /// Switches from the kernel to one round of it.
    fn enter_round(&mut self) -> Result<&'m StridedInfo> {
        let Some(strided) = self.info.strided.as_deref() else {
            return Err(self.bad(Span::NONE, "it is no grid-stride loop"));
        };
        (self.func, self.info) = (&strided.parts.func, &strided.info);
        self.values.resize(self.func.values.len(), None);
        Ok(strided)
    }

    /// One round of all threads of a row.
    pub(super) fn round(&mut self) -> Result<()> {
        let strided = self.enter_round()?;
        self.kernel(Some(strided))
    }

    /// Polls, and defines the round's parameter as the offset.
    pub(super) fn start_round(&mut self, strided: &StridedInfo, width: clif::Value) -> Result<()> {
        self.thread = Some(self.int(types::I32, 0));
        let threads = self.b.ins().uextend(types::I64, width);
        let work = self.int(types::I64, self.info.straight.min(1 << 32) as i64);
        let cost = self.b.ins().imul(threads, work);
        self.poll(cost, strided.parts.span)?;
        self.thread = None;
        let ty = if strided.parts.index.bits() == 64 { types::I64 } else { types::I32 };
        let offset = self.b.ins().load(ty, constant(), self.ctx, Field::OFFSET);
        self.params.push(ParamVal { val: Val::Scalar(offset), desc: offset, base: offset, given: None });
        Ok(())
    }

    /// Stores a row's numbers in the context: the first thread's distance from the bound, and the stride. Returns 0 when
    /// they allow rounds to be exchanged, else 1.
    pub(super) fn trip(&mut self) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let args = self.b.block_params(entry)[1];
        let strided = self.enter_round()?;
        self.load_params(args);
        let width = self.ctx_u32(Field::DIMS);
        let (numbers, allowed) = self.numbers(strided, width)?;
        let mut distance = self.b.ins().isub(numbers.bound, numbers.start);
        if strided.parts.inclusive {
            let one = self.int(types::I64, 1);
            distance = self.b.ins().iadd(distance, one);
        }
        for (i, number) in [distance, numbers.stride].into_iter().enumerate() {
            self.b.ins().store(trusted(), number, self.ctx, Field::TRIP + 8 * i as i32);
        }
        let [ok, not] = [0, 1].map(|status| self.int(types::I32, status));
        let status = self.b.ins().select(allowed, ok, not);
        self.b.ins().return_(&[status]);
        Ok(())
    }

    /// The loop's numbers, and whether they allow the exchange.
    fn numbers(&mut self, strided: &StridedInfo, width: clif::Value) -> Result<(Numbers, clif::Value)> {
        let (parts, trip) = (&strided.parts, &strided.trip);
        let ops = self.ops();
        self.thread = Some(self.int(types::I32, 0));
        let one = self.int(types::I32, 1);
        let last = self.b.ins().isub(width, one);
        let last = self.b.ins().uextend(types::I64, last);
        let mut allowed = self.widened_stay(trip, &trip.widened, &ops, last)?;
        let start = self.first_wide(parts.start, trip, &ops)?;
        let bound = self.first_wide(parts.bound, trip, &ops)?;
        let stride = self.first_wide(parts.stride, trip, &ops)?;
        self.thread = None;
        self.values.fill(None);
        let mut want = |lower: &mut Self, code, a, b| {
            let holds = lower.b.ins().icmp(code, a, b);
            allowed = lower.b.ins().band(allowed, holds);
        };
        let (zero, wide, largest) = (
            self.int(types::I64, 0),
            self.int(types::I64, MAX_WIDE),
            self.int(types::I64, largest(parts.index, parts.compared)),
        );
        want(self, IntCC::SignedGreaterThan, stride, zero);
        // The test holds anyway for 32 bits; a number past the signed range, taken as unsigned, is negative here.
        for number in [start, bound, stride] {
            want(self, IntCC::SignedLessThan, number, wide);
        }
        let lowest = match parts.index.is_signed() && parts.compared.is_signed() {
            true => self.int(types::I64, -MAX_WIDE),
            // The number is the same in both types only if it is not negative.
            false => zero,
        };
        for number in [start, bound] {
            want(self, IntCC::SignedGreaterThanOrEqual, number, lowest);
        }
        let end = self.end(start, last, strided.step);
        want(self, IntCC::SignedLessThanOrEqual, end, largest);
        let past = self.b.ins().iadd(bound, stride);
        let past = self.end(past, last, strided.step);
        want(self, IntCC::SignedLessThanOrEqual, past, largest);
        Ok((Numbers { start, bound, stride }, allowed))
    }
}

/// The largest number that is the same in both types, as far as 64-bit arithmetic is safe.
fn largest(index: Scalar, compared: Scalar) -> i64 {
    let of = |s: Scalar| match s {
        Scalar::I32 => i64::from(i32::MAX),
        Scalar::U32 => i64::from(u32::MAX),
        _ => 4 * (MAX_WIDE - 1),
    };
    of(index).min(of(compared))
}

//! Grid-stride loops the other way round: a call runs one round, for all threads of a row, and says whether there are more.
//! Neighbours in a row touch neighbouring memory, and the accesses of a round are checked once for the row.
//!
//! In front of the kernel's plain code stands
//!
//! ```text
//! if (the numbers allow it) {
//!     offset = round * stride;                     // `round` is in the context
//!     if (start + offset >= bound) return done;    // `start`: the first thread's, the smallest
//!     for each thread of the row { i = its start + offset; if (i < bound) BODY }
//!     return start + offset + stride < bound ? more : done;
//! }
//! ```
//!
//! computed in 64 bits. The numbers allow it when the stride is positive and no thread's index can pass the range of its
//! type, be it by the step that ends its own loop or by the steps that others still make. Else the plain code runs all
//! rounds at once, and an index wraps as it should.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, ParamVal, Result, Val, trusted};
use crate::back::cpu::analysis::StridedInfo;
use crate::back::cpu::context::{Field, MORE_ROUNDS};
use crate::ir::Scalar;

/// Largest magnitude of the numbers of 64-bit loops: sums of a few of them do not wrap.
const MAX_WIDE: i64 = 1 << 60;

/// A loop's numbers in 64 bits, for the first thread of the row.
struct Numbers {
    start: clif::Value,
    bound: clif::Value,
    stride: clif::Value,
}

impl<'m> FuncLower<'_, 'm> {
    /// Runs a round of the row and returns; what follows in the current block is for numbers that do not allow it. Where
    /// no round is left it goes on in `done`.
    pub(super) fn strided(&mut self, strided: &'m StridedInfo, width: clif::Value, done: clif::Block) -> Result<()> {
        let (func, info) = (self.func, self.info);
        (self.func, self.info) = (&strided.parts.func, &strided.info);
        self.values.resize(self.func.values.len(), None);
        let (numbers, allowed) = self.numbers(strided, width)?;
        let [head, round, next, plain] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().brif(allowed, head, &[], plain, &[]);

        self.b.switch_to_block(head);
        self.b.seal_block(head);
        let number = self.b.ins().load(types::I64, trusted(), self.ctx, Field::ROUND);
        let offset = self.b.ins().imul(number, numbers.stride);
        let at = self.b.ins().iadd(numbers.start, offset);
        let below = if strided.parts.inclusive { IntCC::SignedLessThanOrEqual } else { IntCC::SignedLessThan };
        let any = self.b.ins().icmp(below, at, numbers.bound);
        self.b.ins().brif(any, round, &[], done, &[]);

        self.b.switch_to_block(round);
        self.b.seal_block(round);
        self.thread = Some(self.int(types::I32, 0));
        let threads = self.b.ins().uextend(types::I64, width);
        let work = self.int(types::I64, self.info.straight.min(1 << 32) as i64);
        let cost = self.b.ins().imul(threads, work);
        self.poll(cost, strided.parts.span)?;
        let narrow = match strided.parts.index.bits() {
            64 => offset,
            _ => self.b.ins().ireduce(types::I32, offset),
        };
        self.params.push(ParamVal { val: Val::Scalar(narrow), desc: narrow, base: narrow });
        self.rows(width, next)?;

        self.b.switch_to_block(next);
        self.b.seal_block(next);
        self.store_budget();
        let following = self.b.ins().iadd(at, numbers.stride);
        let more = self.b.ins().icmp(below, following, numbers.bound);
        let [more_rounds, nothing] = [i64::from(MORE_ROUNDS), 0].map(|n| self.int(types::I32, n));
        let status = self.b.ins().select(more, more_rounds, nothing);
        self.b.ins().return_(&[status]);

        self.b.switch_to_block(plain);
        self.b.seal_block(plain);
        self.params.pop();
        (self.func, self.info) = (func, info);
        self.start_over();
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
        let mut allowed = self.widened_stay(trip, &ops, last)?;
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
        // Holds by itself for 32 bits; a number past the signed range, taken as unsigned, is negative here.
        for number in [start, bound, stride] {
            want(self, IntCC::SignedLessThan, number, wide);
        }
        let lowest = match parts.index.is_signed() && parts.compared.is_signed() {
            true => self.int(types::I64, -MAX_WIDE),
            // The same number in both types only if it is not negative.
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

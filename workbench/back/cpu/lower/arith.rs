//! Arithmetic: integers, floats, comparisons and conversions of the IR, in CLIF.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};

use super::{FuncLower, Result, Val, halves, scalar_type};
use crate::back::cpu::abi::site::SiteKind;
use crate::ir::{BinaryOp, BitFn, CompareOp, Scalar, UnaryOp, Value};
use crate::source::Span;

impl FuncLower<'_, '_> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Result<clif::Value> {
        let (scalar, a) = (self.scalar_of(a)?, self.scalar(a)?);
        Ok(match (op, scalar) {
            (UnaryOp::Neg, Scalar::F32 | Scalar::F64) => self.b.ins().fneg(a),
            (UnaryOp::Neg, _) => self.b.ins().ineg(a),
            (UnaryOp::Not, Scalar::Bool) => {
                let one = self.int(types::I8, 1);
                self.b.ins().bxor(a, one)
            }
            (UnaryOp::Not, _) => self.b.ins().bnot(a),
        })
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, span: Span) -> Result<clif::Value> {
        let (scalar, scalar_b) = (self.scalar_of(a)?, self.scalar_of(b)?);
        let (x, y) = (self.scalar(a)?, self.scalar(b)?);
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        if !shift && scalar != scalar_b {
            return Err(self.bad(span, format_args!("{a} and {b} are not of one type")));
        }
        if scalar.is_float() {
            return match op {
                BinaryOp::Add => Ok(self.b.ins().fadd(x, y)),
                BinaryOp::Sub => Ok(self.b.ins().fsub(x, y)),
                BinaryOp::Mul => Ok(self.b.ins().fmul(x, y)),
                BinaryOp::Div => Ok(self.b.ins().fdiv(x, y)),
                _ => Err(self.bad(span, format_args!("{op:?} of floats"))),
            };
        }
        let signed = scalar.is_signed();
        Ok(match op {
            BinaryOp::Add => self.b.ins().iadd(x, y),
            BinaryOp::Sub => self.b.ins().isub(x, y),
            BinaryOp::Mul => self.b.ins().imul(x, y),
            BinaryOp::And => self.b.ins().band(x, y),
            BinaryOp::Or => self.b.ins().bor(x, y),
            BinaryOp::Xor => self.b.ins().bxor(x, y),
            BinaryOp::Min if signed => self.b.ins().smin(x, y),
            BinaryOp::Min => self.b.ins().umin(x, y),
            BinaryOp::Max if signed => self.b.ins().smax(x, y),
            BinaryOp::Max => self.b.ins().umax(x, y),
            BinaryOp::Shl | BinaryOp::Shr if scalar_b.is_float() => {
                return Err(self.bad(span, "a shift by a float"));
            }
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, scalar, x, y),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, scalar, x, y, span)?,
            BinaryOp::MulHi => self.mul_hi(scalar, x, y, span)?,
        })
    }

    /// Shifts. Amounts are unsigned; at or past the width the result is 0, or the sign of a signed right shift.
    fn shift(&mut self, op: BinaryOp, scalar: Scalar, x: clif::Value, amount: clif::Value) -> clif::Value {
        let width = i64::from(scalar.bits());
        let ty = self.b.func.dfg.value_type(amount);
        let arithmetic = op == BinaryOp::Shr && scalar.is_signed();
        let known = self.known_int(amount);
        let in_range = known.map(|n| (n as u64) < width as u64);
        let amount = match (arithmetic, in_range) {
            (true, Some(false)) => self.int(ty, width - 1),
            (true, None) => {
                let most = self.int(ty, width - 1);
                self.b.ins().umin(amount, most)
            }
            _ => amount,
        };
        let shifted = match op {
            BinaryOp::Shl => self.b.ins().ishl(x, amount),
            _ if arithmetic => return self.b.ins().sshr(x, amount),
            _ => self.b.ins().ushr(x, amount),
        };
        match in_range {
            Some(true) => shifted,
            Some(false) => self.int(scalar_type(scalar), 0),
            None => {
                let limit = self.int(ty, width);
                let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, amount, limit);
                let zero = self.int(scalar_type(scalar), 0);
                self.b.ins().select(fits, shifted, zero)
            }
        }
    }

    fn divide(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        x: clif::Value,
        y: clif::Value,
        span: Span,
    ) -> Result<clif::Value> {
        if scalar == Scalar::Bool {
            return Err(self.bad(span, "division of truth values"));
        }
        let (ty, signed, rem) = (scalar_type(scalar), scalar.is_signed(), op == BinaryOp::Rem);
        let known = self.known_int(y);
        let minus_one = self.int(ty, -1);
        let minus_one_bits = self.known_int(minus_one);
        let needs_zero_check = known.is_none_or(|n| n == 0);
        let needs_overflow_check = signed && (known.is_none() || known == minus_one_bits);
        // One branch serves both checks: each costs two blocks, and the operands tell which one failed.
        let mut bad = None;
        if needs_overflow_check {
            let min = self.int(ty, i64::MIN >> (64 - scalar.bits()));
            let is_min = self.b.ins().icmp(IntCC::Equal, x, min);
            let is_minus_one = self.b.ins().icmp(IntCC::Equal, y, minus_one);
            bad = Some(self.b.ins().band(is_min, is_minus_one));
        }
        if needs_zero_check {
            let zero = self.int(ty, 0);
            let is_zero = self.b.ins().icmp(IntCC::Equal, y, zero);
            bad = Some(match bad {
                Some(overflows) => self.b.ins().bor(is_zero, overflows),
                None => is_zero,
            });
        }
        if let Some(bad) = bad {
            let site = self.new_site(span, SiteKind::Divide { ty: scalar, rem });
            // The operands as 64 bits; the extension sinks into the cold path.
            let (a, b) = (self.widen(x, scalar.into()), self.widen(y, scalar.into()));
            self.fault_if(bad, site, &[a, b]);
        }
        // Narrow division is not worth its special cases in the code generator.
        let narrow = scalar.bits() < 32;
        let (x, y) = match (narrow, signed) {
            (false, _) => (x, y),
            (true, true) => (self.b.ins().sextend(types::I32, x), self.b.ins().sextend(types::I32, y)),
            (true, false) => (self.b.ins().uextend(types::I32, x), self.b.ins().uextend(types::I32, y)),
        };
        let value = match (rem, signed) {
            (false, true) => self.b.ins().sdiv(x, y),
            (false, false) => self.b.ins().udiv(x, y),
            (true, true) => self.b.ins().srem(x, y),
            (true, false) => self.b.ins().urem(x, y),
        };
        Ok(if narrow { self.b.ins().ireduce(ty, value) } else { value })
    }

    fn mul_hi(&mut self, scalar: Scalar, x: clif::Value, y: clif::Value, span: Span) -> Result<clif::Value> {
        match scalar {
            Scalar::I64 => Ok(self.b.ins().smulhi(x, y)),
            Scalar::U64 => Ok(self.b.ins().umulhi(x, y)),
            Scalar::I32 | Scalar::U32 => {
                let (x, y) = (self.widen(x, scalar.into()), self.widen(y, scalar.into()));
                let product = self.b.ins().imul(x, y);
                let half = self.int(types::I64, 32);
                let high = self.b.ins().ushr(product, half);
                Ok(self.b.ins().ireduce(types::I32, high))
            }
            _ => Err(self.bad(span, format_args!("the high half of a product of {}", scalar.name()))),
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Result<clif::Value> {
        let (x, y, scalar) = match (self.val(a)?, self.val(b)?) {
            (Val::Scalar(x), Val::Scalar(y)) => (x, y, self.scalar_of(a)?),
            (Val::Ptr(x), Val::Ptr(y)) => (self.address(x)?, self.address(y)?, Scalar::U64),
            _ => return Err(self.bad(Span::NONE, format_args!("{a} is compared with {b}"))),
        };
        if scalar.is_float() {
            let cc = match op {
                CompareOp::Eq => FloatCC::Equal,
                CompareOp::Ne => FloatCC::NotEqual,
                CompareOp::Lt => FloatCC::LessThan,
                CompareOp::Le => FloatCC::LessThanOrEqual,
                CompareOp::Gt => FloatCC::GreaterThan,
                CompareOp::Ge => FloatCC::GreaterThanOrEqual,
            };
            return Ok(self.b.ins().fcmp(cc, x, y));
        }
        let cc = int_cc(op, scalar.is_signed());
        Ok(self.b.ins().icmp(cc, x, y))
    }

    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, x: clif::Value) -> clif::Value {
        if from == to {
            return x;
        }
        if to == Scalar::Bool {
            let zero = self.zero(scalar_type(from));
            return if from.is_float() {
                self.b.ins().fcmp(FloatCC::NotEqual, x, zero)
            } else {
                self.b.ins().icmp(IntCC::NotEqual, x, zero)
            };
        }
        match (from.is_float(), to.is_float()) {
            (true, true) if to == Scalar::F64 => self.b.ins().fpromote(types::F64, x),
            (true, true) => self.b.ins().fdemote(types::F32, x),
            (true, false) => self.float_to_int(to, x),
            (false, true) => self.int_to_float(from, to, x),
            (false, false) => self.resize(x, from.is_signed(), scalar_type(to)),
        }
    }

    fn resize(&mut self, x: clif::Value, signed: bool, ty: clif::Type) -> clif::Value {
        let from = self.b.func.dfg.value_type(x);
        match from.bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(ty, x),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(ty, x),
            std::cmp::Ordering::Less => self.b.ins().uextend(ty, x),
        }
    }

    /// Truncates and saturates; NaN gives what the IR says: with Cranelift's instructions, 0.
    fn float_to_int(&mut self, to: Scalar, x: clif::Value) -> clif::Value {
        let bits = to.bits();
        if bits >= 32 {
            let ty = scalar_type(to);
            let number = if to.is_signed() {
                self.b.ins().fcvt_to_sint_sat(ty, x)
            } else {
                self.b.ins().fcvt_to_uint_sat(ty, x)
            };
            let is_double = self.b.func.dfg.value_type(x) == types::F64;
            return if bits == 64 || is_double { self.number_or_top(ty, x, number) } else { number };
        }
        let mut wide = self.b.ins().fcvt_to_sint_sat(types::I32, x);
        if self.b.func.dfg.value_type(x) == types::F64 {
            wide = self.number_or_top(types::I32, x, wide);
        }
        let (least, most) =
            if to.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let (least, most) = (self.int(types::I32, least), self.int(types::I32, most));
        let wide = self.b.ins().smax(wide, least);
        let wide = self.b.ins().smin(wide, most);
        self.b.ins().ireduce(scalar_type(to), wide)
    }

    /// A number, or the top bit alone where the float that it comes from is NaN.
    fn number_or_top(&mut self, ty: clif::Type, x: clif::Value, number: clif::Value) -> clif::Value {
        let top = self.int(ty, if ty.bits() == 64 { i64::MIN } else { i64::from(i32::MIN) });
        let is_number = self.b.ins().fcmp(FloatCC::Ordered, x, x);
        self.b.ins().select(is_number, number, top)
    }

    fn int_to_float(&mut self, from: Scalar, to: Scalar, x: clif::Value) -> clif::Value {
        let ty = scalar_type(to);
        match from {
            Scalar::U64 => self.b.ins().fcvt_from_uint(ty, x),
            Scalar::I64 | Scalar::I32 => self.b.ins().fcvt_from_sint(ty, x),
            // A narrower integer fits a wider signed one.
            Scalar::U32 => {
                let wide = self.b.ins().uextend(types::I64, x);
                self.b.ins().fcvt_from_sint(ty, wide)
            }
            _ => {
                let wide = self.resize(x, from.is_signed(), types::I32);
                self.b.ins().fcvt_from_sint(ty, wide)
            }
        }
    }

    pub(super) fn bitcast(&mut self, to: Scalar, a: Value, span: Span) -> Result<clif::Value> {
        let (from, x) = (self.scalar_of(a)?, self.scalar(a)?);
        if from.size() != to.size() {
            return Err(self.bad(span, format_args!("the bits of {} as {}", from.name(), to.name())));
        }
        if to == Scalar::Bool {
            return Ok(self.convert(from, to, x));
        }
        Ok(if scalar_type(from) == scalar_type(to) {
            x
        } else {
            self.b.ins().bitcast(scalar_type(to), MemFlagsData::new(), x)
        })
    }

    pub(super) fn bit(&mut self, bit: BitFn, a: Value, span: Span) -> Result<clif::Value> {
        let (scalar, x) = (self.scalar_of(a)?, self.scalar(a)?);
        if !scalar.is_int() || scalar.bits() < 32 {
            return Err(self.bad(span, format_args!("{bit:?} of {}", scalar.name())));
        }
        let count = match bit {
            BitFn::Brev => return Ok(self.b.ins().bitrev(x)),
            BitFn::HalfToFloat => return Ok(halves::to_float(&mut self.b, types::I32, x)),
            BitFn::FloatToHalf => return Ok(halves::of_float(&mut self.b, types::I32, x)),
            BitFn::Clz => self.b.ins().clz(x),
            BitFn::Popc => self.b.ins().popcnt(x),
            BitFn::Ffs => {
                let ty = scalar_type(scalar);
                let (zero, one) = (self.int(ty, 0), self.int(ty, 1));
                let lowest = self.b.ins().ctz(x);
                let place = self.b.ins().iadd(lowest, one);
                let none = self.b.ins().icmp(IntCC::Equal, x, zero);
                self.b.ins().select(none, zero, place)
            }
        };
        Ok(self.resize(count, false, types::I32))
    }
}

/// The condition code of a comparison of integers.
pub(super) fn int_cc(op: CompareOp, signed: bool) -> IntCC {
    match (op, signed) {
        (CompareOp::Eq, _) => IntCC::Equal,
        (CompareOp::Ne, _) => IntCC::NotEqual,
        (CompareOp::Lt, true) => IntCC::SignedLessThan,
        (CompareOp::Le, true) => IntCC::SignedLessThanOrEqual,
        (CompareOp::Gt, true) => IntCC::SignedGreaterThan,
        (CompareOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (CompareOp::Lt, false) => IntCC::UnsignedLessThan,
        (CompareOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (CompareOp::Gt, false) => IntCC::UnsignedGreaterThan,
        (CompareOp::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

//! Arithmetic: on one number, and on lanes.

use super::{Builder, types};
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::math::reciprocal;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{function, host, int, long, ty, uint, ulong};
use crate::back::lane::families::{self, Real, Word};
use crate::back::lane::table::{LaneOp, NumberOp};
use crate::back::lane::tree::{Binary, Expr};
use crate::back::lane::types::Ty;
use crate::ir::{BinaryOp, BitFn, CompareOp, MathFn, Scalar, UnaryOp, Value};

/// The operator of a comparison.
pub(super) fn comparison(op: CompareOp) -> Binary {
    match op {
        CompareOp::Eq => Binary::Eq,
        CompareOp::Ne => Binary::Ne,
        CompareOp::Lt => Binary::Lt,
        CompareOp::Le => Binary::Le,
        CompareOp::Gt => Binary::Gt,
        CompareOp::Ge => Binary::Ge,
    }
}

/// The operation of a comparison on lanes.
pub(super) fn comparison_of_lanes(op: CompareOp, of: families::Number) -> LaneOp {
    match op {
        CompareOp::Eq => families::eq(of),
        CompareOp::Ne => families::ne(of),
        CompareOp::Lt => families::lt(of),
        CompareOp::Le => families::le(of),
        CompareOp::Gt => families::gt(of),
        CompareOp::Ge => families::ge(of),
    }
}

/// A unary operation on one number.
pub(super) fn unary(op: UnaryOp, s: Scalar, a: Expr) -> Expr {
    match (op, s) {
        (UnaryOp::Neg, Scalar::F32) => NumberOp::F32Of.on([NumberOp::BitsF32.on([a]) ^ uint(0x8000_0000)]),
        (UnaryOp::Neg, Scalar::F64) => NumberOp::F64Of.on([NumberOp::BitsF64.on([a]) ^ ulong(1 << 63)]),
        (UnaryOp::Neg, _) => (int(0) - a).cast(types::one(s)),
        (UnaryOp::Not, Scalar::Bool) => (!a).cast(Ty::Bool),
        (UnaryOp::Not, _) => a.inverted().cast(types::one(s)),
    }
}

/// Lanes of a narrow type as they are kept.
pub(super) fn fit(s: Scalar, lanes: Expr) -> Expr {
    match types::narrow(s) {
        Some(of) => families::fit(of).on([lanes]),
        None => lanes,
    }
}

/// A unary operation on lanes.
pub(super) fn unary_lanes(op: UnaryOp, s: Scalar, a: Expr) -> Result<Expr> {
    Ok(match (op, s) {
        (UnaryOp::Not, Scalar::Bool) => a.inverted().cast(Ty::Mask),
        (UnaryOp::Not, _) => fit(s, families::not(types::word(s)?).on([a])),
        (UnaryOp::Neg, _) => fit(s, families::neg(types::kind(s)?).on([a])),
    })
}

/// A binary operation but division on one number, of a type and an amount's.
pub(super) fn binary(op: BinaryOp, s: Scalar, amount: Scalar, a: Expr, b: Expr) -> Result<Expr> {
    let of = types::one(s);
    let op = match op {
        BinaryOp::Add => Binary::Add,
        BinaryOp::Sub => Binary::Sub,
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::Div => Binary::Div,
        BinaryOp::Rem => Binary::Rem,
        BinaryOp::And => Binary::And,
        BinaryOp::Or => Binary::Or,
        BinaryOp::Xor => Binary::Xor,
        BinaryOp::Min => return Ok(a.clone().lt(b.clone()).choose(a, b)),
        BinaryOp::Max => return Ok(a.clone().gt(b.clone()).choose(a, b)),
        BinaryOp::Shl => {
            let wide = Ty::int(s.bits().max(32) as u8, false);
            return Ok(NumberOp::Shl.on([a.cast(wide), b.cast(types::unsigned(amount))]).cast(of));
        }
        BinaryOp::Shr => {
            let op = if s.is_signed() { NumberOp::Sar } else { NumberOp::Shr };
            return Ok(op.on([a.cast(of.clone()), b.cast(types::unsigned(amount))]).cast(of));
        }
        BinaryOp::MulHi => {
            let (wide, bits) = match s {
                Scalar::I32 => (ty::I64, 32),
                Scalar::U32 => (ty::U64, 32),
                Scalar::I64 => (ty::WIDE, 64),
                Scalar::U64 => (ty::UNSIGNED_WIDE, 64),
                _ => return Err(Unsupported("the high half of a narrow product")),
            };
            return Ok(((a.cast(wide) * b) >> int(bits)).cast(of));
        }
    };
    Ok(a.with(op, b).cast(of))
}

pub(super) fn convert(from: Scalar, to: Scalar, a: Expr) -> Expr {
    let of = types::one(to);
    if from == to {
        return a;
    }
    if to == Scalar::Bool {
        return a.differs(int(0)).cast(Ty::Bool);
    }
    if !from.is_float() || to.is_float() {
        return a.cast(of);
    }
    let is_double = from == Scalar::F64;
    match to {
        Scalar::I32 if is_double => NumberOp::DoubleToI32.on([a]),
        Scalar::U32 if is_double => NumberOp::DoubleToU32.on([a]),
        Scalar::I32 => NumberOp::FloatToI32.on([a]),
        Scalar::U32 => NumberOp::FloatToU32.on([a]),
        Scalar::I64 => NumberOp::ToI64.on([a]),
        Scalar::U64 => NumberOp::ToU64.on([a]),
        _ => {
            let (least, most) = types::range(to);
            let n = convert(from, Scalar::I32, a);
            let below_most = n.clone().gt(int(most)).choose(int(most), n.clone());
            n.lt(int(least)).choose(int(least), below_most).cast(of)
        }
    }
}

pub(super) fn bitcast(from: Scalar, to: Scalar, a: Expr) -> Expr {
    match (from, to) {
        (_, Scalar::Bool) => convert(from, to, a),
        (Scalar::F32, Scalar::F32) | (Scalar::F64, Scalar::F64) => a,
        (Scalar::F32, _) => NumberOp::BitsF32.on([a]).cast(types::one(to)),
        (Scalar::F64, _) => NumberOp::BitsF64.on([a]).cast(types::one(to)),
        (_, Scalar::F32) => NumberOp::F32Of.on([a.cast(ty::U32)]),
        (_, Scalar::F64) => NumberOp::F64Of.on([a.cast(ty::U64)]),
        _ => a.cast(types::one(to)),
    }
}

pub(super) fn bit(bit: BitFn, s: Scalar, a: Expr) -> Result<Expr> {
    let is_long = types::width(s)? == families::Width::W64;
    let pick = |short, long| if is_long { long } else { short };
    let bits = types::unsigned(s);
    Ok(match bit {
        BitFn::Clz => pick(NumberOp::Clz32, NumberOp::Clz64).on([a.cast(bits)]),
        BitFn::Popc => pick(NumberOp::Popc32, NumberOp::Popc64).on([a.cast(bits)]).cast(ty::I32),
        BitFn::Ffs => pick(NumberOp::Ffs32, NumberOp::Ffs64).on([a]).cast(ty::I32),
        BitFn::Brev => pick(NumberOp::Brev32, NumberOp::Brev64).on([a.cast(bits)]).cast(types::one(s)),
        BitFn::HalfToFloat => NumberOp::HalfToFloat.on([a.cast(bits)]).cast(types::one(s)),
        BitFn::FloatToHalf => NumberOp::FloatToHalf.on([a.cast(bits)]).cast(types::one(s)),
    })
}

/// A bit function on lanes.
pub(super) fn bit_lanes(bit: BitFn, s: Scalar, a: Expr) -> Result<Expr> {
    let width = types::width(s)?;
    let op = match bit {
        BitFn::Clz => families::clz(width),
        BitFn::Popc => families::popc(width),
        BitFn::Ffs => families::ffs(width),
        BitFn::Brev => families::brev(width),
        BitFn::HalfToFloat => LaneOp::HalfToFloat,
        BitFn::FloatToHalf => LaneOp::FloatToHalf,
    };
    Ok(op.on([a]))
}

/// Lanes of a type as lanes of another.
pub(super) fn convert_lanes(from: Scalar, to: Scalar, a: Expr) -> Result<Expr> {
    if from == to {
        return Ok(a);
    }
    if to == Scalar::Bool {
        return Ok(families::truth(types::kind(from)?).on([a]));
    }
    if from == Scalar::Bool {
        return Ok(families::of_truth(types::kind(to)?).on([a]));
    }
    match (types::real(from), types::real(to)) {
        (Ok(from), Ok(_)) => Ok(match from {
            Real::F32 => LaneOp::F32ToF64,
            Real::F64 => LaneOp::F64ToF32,
        }
        .on([a])),
        (Err(_), Ok(to)) => {
            let of = types::integer(from)?;
            Ok(match to {
                Real::F32 => families::to_f32(of),
                Real::F64 => families::to_f64(of),
            }
            .on([a]))
        }
        (Ok(from), Err(_)) => {
            let of = types::integer(to)?;
            let whole = match from {
                Real::F32 => families::of_f32(of),
                Real::F64 => families::of_f64(of),
            }
            .on([a]);
            if to.bits() >= 32 {
                return Ok(whole);
            }
            let (least, most) = types::range(to);
            let above = LaneOp::MaxI32.on([whole, LaneOp::SplatI32.on([int(least)])]);
            Ok(LaneOp::MinI32.on([above, LaneOp::SplatI32.on([int(most)])]))
        }
        (Err(_), Err(_)) => Ok(match (types::word(from)?, types::word(to)?) {
            (Word::I32, Word::I64) if from == Scalar::U32 => LaneOp::WidenU32.on([a]),
            (Word::I32, Word::I64) => LaneOp::WidenI32.on([a]),
            (Word::I64, Word::I32) => fit(to, LaneOp::NarrowI64.on([a])),
            _ => fit(to, a),
        }),
    }
}

/// The bits of lanes of a type as lanes of another.
pub(super) fn bitcast_lanes(from: Scalar, to: Scalar, a: Expr) -> Result<Expr> {
    if from == Scalar::Bool || to == Scalar::Bool {
        return convert_lanes(from, to, a);
    }
    let op = match (types::real(from), types::real(to)) {
        (Ok(Real::F32), Err(_)) => LaneOp::CastF32I32,
        (Ok(Real::F64), Err(_)) => LaneOp::CastF64I64,
        (Err(_), Ok(Real::F32)) => LaneOp::CastI32F32,
        (Err(_), Ok(Real::F64)) => LaneOp::CastI64F64,
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => return Ok(fit(to, a)),
    };
    Ok(op.on([a]))
}

impl Builder<'_> {
    /// A binary operation on lanes.
    pub(super) fn binary_lanes(&mut self, op: BinaryOp, s: Scalar, a: Value, b: Value, u: u32) -> Result<Expr> {
        let amount = self.scalar(b);
        let by = self.known(b);
        let (x, y) = (self.lanes(a, u)?, self.lanes(b, u)?);
        if s == Scalar::Bool {
            let op = match op {
                BinaryOp::And => Binary::And,
                BinaryOp::Or => Binary::Or,
                BinaryOp::Xor => Binary::Xor,
                _ => return Err(Unsupported("arithmetic of truth values")),
            };
            return Ok(x.with(op, y).cast(Ty::Mask));
        }
        let op = match op {
            BinaryOp::Add => families::add(types::kind(s)?),
            BinaryOp::Sub => families::sub(types::kind(s)?),
            BinaryOp::Mul => families::mul(types::kind(s)?),
            BinaryOp::And => families::and(types::word(s)?),
            BinaryOp::Or => families::or(types::word(s)?),
            BinaryOp::Xor => families::xor(types::word(s)?),
            BinaryOp::Div if s.is_float() => families::div(types::real(s)?),
            BinaryOp::Min => return Ok(families::min(types::integer(s)?).on([x, y])),
            BinaryOp::Max => return Ok(families::max(types::integer(s)?).on([x, y])),
            BinaryOp::MulHi if s.bits() < 32 => return Err(Unsupported("the high half of a narrow product")),
            BinaryOp::MulHi => return Ok(families::mulhi(types::integer(s)?).on([x, y])),
            BinaryOp::Div | BinaryOp::Rem => {
                let is_div = op == BinaryOp::Div;
                // The compiler knows multiplications that divide by a constant.
                if let Some(n) = by.filter(|n| !matches!(*n, 0 | -1) && s.bits() <= 32) {
                    let (op, of) = match (is_div, s == Scalar::U32) {
                        (true, true) => (LaneOp::DivByU32, ty::U32),
                        (true, false) => (LaneOp::DivByI32, ty::I32),
                        (false, true) => (LaneOp::RemByU32, ty::U32),
                        (false, false) => (LaneOp::RemByI32, ty::I32),
                    };
                    return Ok(op.on([x, long(n).cast(of)]));
                }
                let of = types::integer(s)?;
                if is_div { families::quotient(of) } else { families::rest(of) }
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let of = types::word(s)?;
                let y = match (of, types::word(amount)?) {
                    (Word::I32, Word::I64) => LaneOp::NarrowU64.on([y]),
                    (Word::I64, Word::I32) => LaneOp::WidenU32.on([y]),
                    _ => y,
                };
                return Ok(match (op, of) {
                    (BinaryOp::Shl, _) => fit(s, families::shl(of).on([x, y])),
                    (_, Word::I32) if s.is_signed() => LaneOp::ShrI32.on([x, y]),
                    (_, Word::I64) if s.is_signed() => LaneOp::ShrI64.on([x, y]),
                    (_, Word::I32) => LaneOp::ShrU32.on([x, y]),
                    (_, Word::I64) => LaneOp::ShrU64.on([x, y]),
                });
            }
        };
        Ok(fit(s, op.on([x, y])))
    }

    /// A math function of one number.
    pub(super) fn math_one(&self, math: MathFn, s: Scalar, args: Vec<Expr>) -> Result<Expr> {
        let is_double = s == Scalar::F64;
        let pick = |float, double| if is_double { double } else { float };
        let op = match math {
            MathFn::Ceil => pick(NumberOp::CeilF32, NumberOp::CeilF64),
            MathFn::Floor => pick(NumberOp::FloorF32, NumberOp::FloorF64),
            MathFn::Trunc => pick(NumberOp::TruncF32, NumberOp::TruncF64),
            MathFn::Rint => pick(NumberOp::RintF32, NumberOp::RintF64),
            MathFn::Sqrt => pick(NumberOp::SqrtF32, NumberOp::SqrtF64),
            MathFn::Fabs => pick(NumberOp::FabsF32, NumberOp::FabsF64),
            MathFn::Copysign => pick(NumberOp::CopysignF32, NumberOp::CopysignF64),
            MathFn::Fma => pick(NumberOp::FmaF32, NumberOp::FmaF64),
            MathFn::Fmin => pick(NumberOp::FminF32, NumberOp::FminF64),
            MathFn::Fmax => pick(NumberOp::FmaxF32, NumberOp::FmaxF64),
            MathFn::Rsqrt if !is_double && !reciprocal::has_estimate() => {
                return Ok(Expr::Real(1.0, true) / NumberOp::SqrtF32.of(args));
            }
            _ => {
                let (of, address) = (types::one(s), self.math_address(math, s)?);
                return Ok(host(of.clone(), &vec![of; math.arity()], address, args));
            }
        };
        Ok(op.of(args))
    }

    fn math_address(&self, math: MathFn, s: Scalar) -> Result<usize> {
        self.host(HostFn::Math(math, s == Scalar::F64))
    }

    /// The function of this process as a value.
    pub(super) fn math_pointer(&self, math: MathFn, s: Scalar) -> Result<Expr> {
        let of = types::one(s);
        Ok(function(of.clone(), &vec![of; math.arity()], self.math_address(math, s)?))
    }
}

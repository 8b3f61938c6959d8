//! Ops on constants, computed exactly as the back ends compute them. `None` where the op would fault, gives a NaN (whose bits depend on the
//! machine) or is a function whose last bit depends on the back end.

use crate::ir::{BinaryOp, BitFn, CompareOp, Const, MathFn, Scalar, UnaryOp};

/// The low bits of an integer, extended to 64 by the type's signedness.
pub(crate) fn extend(s: Scalar, bits: i64) -> i64 {
    let spare = 64 - s.bits();
    match s.is_signed() {
        true => bits << spare >> spare,
        false => ((bits as u64) << spare >> spare) as i64,
    }
}

fn int(s: Scalar, bits: i64) -> Option<Const> {
    Some(Const::Int(s, extend(s, bits)))
}

fn f32(x: f32) -> Option<Const> {
    (!x.is_nan()).then_some(Const::F32(x))
}

fn f64(x: f64) -> Option<Const> {
    (!x.is_nan()).then_some(Const::F64(x))
}

pub(crate) fn unary(op: UnaryOp, a: Const) -> Option<Const> {
    match (op, a) {
        (UnaryOp::Neg, Const::Int(s, x)) => int(s, x.wrapping_neg()),
        (UnaryOp::Neg, Const::F32(x)) => f32(-x),
        (UnaryOp::Neg, Const::F64(x)) => f64(-x),
        (UnaryOp::Not, Const::Int(s, x)) => int(s, !x),
        (UnaryOp::Not, Const::Bool(x)) => Some(Const::Bool(!x)),
        _ => None,
    }
}

pub(crate) fn binary(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    match (a, b) {
        (Const::Int(s, x), Const::Int(t, y)) => integers(op, s, x, t, y),
        (Const::F32(x), Const::F32(y)) => match op {
            BinaryOp::Add => f32(x + y),
            BinaryOp::Sub => f32(x - y),
            BinaryOp::Mul => f32(x * y),
            BinaryOp::Div => f32(x / y),
            _ => None,
        },
        (Const::F64(x), Const::F64(y)) => match op {
            BinaryOp::Add => f64(x + y),
            BinaryOp::Sub => f64(x - y),
            BinaryOp::Mul => f64(x * y),
            BinaryOp::Div => f64(x / y),
            _ => None,
        },
        (Const::Bool(x), Const::Bool(y)) => match op {
            BinaryOp::And => Some(Const::Bool(x & y)),
            BinaryOp::Or => Some(Const::Bool(x | y)),
            BinaryOp::Xor => Some(Const::Bool(x ^ y)),
            _ => None,
        },
        _ => None,
    }
}

fn integers(op: BinaryOp, s: Scalar, x: i64, amount_ty: Scalar, y: i64) -> Option<Const> {
    let signed = s.is_signed();
    let bits = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div | BinaryOp::Rem if !divides(s, x, y) => return None,
        BinaryOp::Div if signed => x.wrapping_div(y),
        BinaryOp::Div => (x as u64 / y as u64) as i64,
        BinaryOp::Rem if signed => x.wrapping_rem(y),
        BinaryOp::Rem => (x as u64 % y as u64) as i64,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl | BinaryOp::Shr => {
            // The amount counts as unsigned in its own width.
            let amount = (y as u64) << (64 - amount_ty.bits()) >> (64 - amount_ty.bits());
            let past = amount >= u64::from(s.bits());
            match (op, signed) {
                (BinaryOp::Shl, _) if past => 0,
                (BinaryOp::Shl, _) => x << amount,
                (_, true) => x >> amount.min(63),
                (_, false) if past => 0,
                (_, false) => ((x as u64) >> amount) as i64,
            }
        }
        BinaryOp::Min if signed => x.min(y),
        BinaryOp::Min => (x as u64).min(y as u64) as i64,
        BinaryOp::Max if signed => x.max(y),
        BinaryOp::Max => (x as u64).max(y as u64) as i64,
        BinaryOp::MulHi if signed => ((i128::from(x) * i128::from(y)) >> s.bits()) as i64,
        BinaryOp::MulHi => ((u128::from(x as u64) * u128::from(y as u64)) >> s.bits()) as i64,
    };
    int(s, bits)
}

/// True if `x / y` does not fault.
fn divides(s: Scalar, x: i64, y: i64) -> bool {
    let min = extend(s, 1i64.wrapping_shl(s.bits() - 1));
    y != 0 && !(s.is_signed() && y == -1 && x == min)
}

pub(crate) fn compare(op: CompareOp, a: Const, b: Const) -> Option<Const> {
    use std::cmp::Ordering;
    let order = match (a, b) {
        (Const::Int(s, x), Const::Int(_, y)) if s.is_signed() => Some(x.cmp(&y)),
        (Const::Int(_, x), Const::Int(_, y)) => Some((x as u64).cmp(&(y as u64))),
        (Const::F32(x), Const::F32(y)) => x.partial_cmp(&y),
        (Const::F64(x), Const::F64(y)) => x.partial_cmp(&y),
        (Const::Bool(x), Const::Bool(y)) => Some(x.cmp(&y)),
        (Const::Null, Const::Null) => Some(Ordering::Equal),
        _ => return None,
    };
    Some(Const::Bool(match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }))
}

pub(crate) fn convert(to: Scalar, a: Const) -> Option<Const> {
    match a {
        Const::Bool(b) => from_integer(to, Scalar::U8, i64::from(b)),
        Const::Int(s, x) => from_integer(to, s, x),
        Const::F32(x) => from_float(to, f64::from(x), a),
        Const::F64(x) => from_float(to, x, a),
        Const::Null => None,
    }
}

fn from_integer(to: Scalar, from: Scalar, x: i64) -> Option<Const> {
    match (to, from.is_signed()) {
        (Scalar::Bool, _) => Some(Const::Bool(x != 0)),
        // One rounding, from the integer itself.
        (Scalar::F32, true) => f32(x as f32),
        (Scalar::F32, false) => f32(x as u64 as f32),
        (Scalar::F64, true) => f64(x as f64),
        (Scalar::F64, false) => f64(x as u64 as f64),
        _ => int(to, x),
    }
}

/// `x` is the float widened, which is exact; Rust's casts truncate and saturate, as the IR does, and send NaN to 0.
fn from_float(to: Scalar, x: f64, original: Const) -> Option<Const> {
    let is_double = matches!(original, Const::F64(_));
    match to {
        Scalar::Bool => Some(Const::Bool(x != 0.0)),
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => {
            let wide = if x.is_nan() && is_double { i32::MIN } else { x as i32 };
            let bits = to.bits();
            let (least, most) =
                if to.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            int(to, i64::from(wide.clamp(least, most)))
        }
        Scalar::I32 | Scalar::U32 if x.is_nan() && is_double => int(to, 1 << 31),
        Scalar::I64 | Scalar::U64 if x.is_nan() => int(to, i64::MIN),
        Scalar::I32 => int(to, i64::from(x as i32)),
        Scalar::U32 => int(to, i64::from(x as u32)),
        Scalar::I64 => int(to, x as i64),
        Scalar::U64 => int(to, x as u64 as i64),
        Scalar::F32 => match original {
            Const::F32(same) => f32(same),
            _ => f32(x as f32),
        },
        Scalar::F64 => f64(x),
    }
}

pub(crate) fn bitcast(to: Scalar, a: Const) -> Option<Const> {
    let bits = match a {
        Const::Int(_, x) => x,
        Const::F32(x) => i64::from(x.to_bits()),
        Const::F64(x) => x.to_bits() as i64,
        Const::Bool(_) | Const::Null => return None,
    };
    match to {
        Scalar::F32 => f32(f32::from_bits(bits as u32)),
        Scalar::F64 => f64(f64::from_bits(bits as u64)),
        Scalar::Bool => None,
        _ => int(to, bits),
    }
}

/// Only functions that IEEE 754 defines to the last bit.
pub(crate) fn math(func: MathFn, args: &[Const]) -> Option<Const> {
    match *args {
        [Const::F32(x)] => f32(match func {
            MathFn::Sqrt => x.sqrt(),
            MathFn::Fabs => x.abs(),
            MathFn::Floor => x.floor(),
            MathFn::Ceil => x.ceil(),
            MathFn::Trunc => x.trunc(),
            MathFn::Rint => x.round_ties_even(),
            MathFn::Round => x.round(),
            _ => return None,
        }),
        [Const::F64(x)] => f64(match func {
            MathFn::Sqrt => x.sqrt(),
            MathFn::Fabs => x.abs(),
            MathFn::Floor => x.floor(),
            MathFn::Ceil => x.ceil(),
            MathFn::Trunc => x.trunc(),
            MathFn::Rint => x.round_ties_even(),
            MathFn::Round => x.round(),
            _ => return None,
        }),
        [Const::F32(x), Const::F32(y)] => f32(match func {
            MathFn::AddRn => x + y,
            MathFn::MulRn => x * y,
            MathFn::Copysign => x.copysign(y),
            MathFn::Fmod => x % y,
            MathFn::Fmin if !x.is_nan() && !y.is_nan() && x != y => x.min(y),
            MathFn::Fmax if !x.is_nan() && !y.is_nan() && x != y => x.max(y),
            _ => return None,
        }),
        [Const::F64(x), Const::F64(y)] => f64(match func {
            MathFn::AddRn => x + y,
            MathFn::MulRn => x * y,
            MathFn::Copysign => x.copysign(y),
            MathFn::Fmod => x % y,
            MathFn::Fmin if !x.is_nan() && !y.is_nan() && x != y => x.min(y),
            MathFn::Fmax if !x.is_nan() && !y.is_nan() && x != y => x.max(y),
            _ => return None,
        }),
        [Const::F32(x), Const::F32(y), Const::F32(z)] if func == MathFn::Fma => f32(x.mul_add(y, z)),
        [Const::F64(x), Const::F64(y), Const::F64(z)] if func == MathFn::Fma => f64(x.mul_add(y, z)),
        _ => None,
    }
}

pub(crate) fn bit(func: BitFn, a: Const) -> Option<Const> {
    let Const::Int(s, x) = a else { return None };
    let (bits, width) = (x as u64, s.bits());
    let low = if width == 64 { bits } else { bits & ((1 << width) - 1) };
    let count = |n: u32| int(Scalar::I32, i64::from(n));
    match func {
        BitFn::Clz => count(low.leading_zeros() - (64 - width)),
        BitFn::Popc => count(low.count_ones()),
        BitFn::Ffs => count(if low == 0 { 0 } else { low.trailing_zeros() + 1 }),
        BitFn::Brev => int(s, (low.reverse_bits() >> (64 - width)) as i64),
        BitFn::HalfToFloat => int(s, i64::from(half_to_float(low as u16))),
        BitFn::FloatToHalf => int(s, i64::from(float_to_half(low as u32))),
    }
}

/// The bits of a half as those of a `float`.
pub(crate) fn half_to_float(bits: u16) -> u32 {
    half::f16::from_bits(bits).to_f32().to_bits()
}

/// The bits of a `float` as those of the nearest half.
pub(crate) fn float_to_half(bits: u32) -> u16 {
    let x = f32::from_bits(bits);
    if x.is_nan() { 0x7fff } else { half::f16::from_f32(x).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const I32: Scalar = Scalar::I32;

    #[test]
    fn integers_wrap_in_their_width() {
        let max = Const::Int(I32, i64::from(i32::MAX));
        assert_eq!(binary(BinaryOp::Add, max, Const::Int(I32, 1)), Some(Const::Int(I32, i64::from(i32::MIN))));
        let ones = Const::Int(Scalar::U64, -1);
        assert_eq!(binary(BinaryOp::MulHi, ones, ones), Some(Const::Int(Scalar::U64, -2)));
        assert_eq!(unary(UnaryOp::Not, Const::Int(Scalar::U8, 1)), Some(Const::Int(Scalar::U8, 254)));
        let (a, b) = (Const::Int(Scalar::U32, 0xffff_ffff), Const::Int(Scalar::U32, 2));
        assert_eq!(binary(BinaryOp::Div, a, b), Some(Const::Int(Scalar::U32, 0x7fff_ffff)));
        assert_eq!(binary(BinaryOp::MulHi, a, b), Some(Const::Int(Scalar::U32, 1)));
    }

    #[test]
    fn what_faults_is_left_alone() {
        let min = Const::Int(I32, i64::from(i32::MIN));
        for op in [BinaryOp::Div, BinaryOp::Rem] {
            assert_eq!(binary(op, min, Const::Int(I32, -1)), None);
            assert_eq!(binary(op, min, Const::Int(I32, 0)), None);
        }
        let min = Const::Int(Scalar::I64, i64::MIN);
        assert_eq!(binary(BinaryOp::Div, min, Const::Int(Scalar::I64, -1)), None);
    }

    #[test]
    fn shifts_past_the_width_clamp() {
        let shift = |op, s, x, t, n| binary(op, Const::Int(s, x), Const::Int(t, n));
        assert_eq!(shift(BinaryOp::Shl, I32, 1, I32, 32), Some(Const::Int(I32, 0)));
        assert_eq!(shift(BinaryOp::Shl, I32, 1, I32, -1), Some(Const::Int(I32, 0)));
        assert_eq!(shift(BinaryOp::Shr, I32, -8, I32, 99), Some(Const::Int(I32, -1)));
        assert_eq!(shift(BinaryOp::Shr, Scalar::U32, 8, I32, 32), Some(Const::Int(Scalar::U32, 0)));
        assert_eq!(shift(BinaryOp::Shl, Scalar::I64, 1, Scalar::U8, 63), Some(Const::Int(Scalar::I64, i64::MIN)));
    }

    #[test]
    fn conversions_saturate_and_round_once() {
        assert_eq!(convert(Scalar::U8, Const::F32(300.0)), Some(Const::Int(Scalar::U8, 255)));
        assert_eq!(convert(I32, Const::F32(f32::NAN)), Some(Const::Int(I32, 0)));
        assert_eq!(convert(I32, Const::F64(f64::NAN)), Some(Const::Int(I32, i64::from(i32::MIN))));
        assert_eq!(convert(Scalar::U32, Const::F64(f64::NAN)), Some(Const::Int(Scalar::U32, 1 << 31)));
        assert_eq!(convert(Scalar::U64, Const::F32(f32::NAN)), Some(Const::Int(Scalar::U64, i64::MIN)));
        assert_eq!(convert(Scalar::I16, Const::F64(f64::NAN)), Some(Const::Int(Scalar::I16, -32768)));
        assert_eq!(convert(Scalar::Bool, Const::F64(f64::NAN)), Some(Const::Bool(true)));
        assert_eq!(convert(Scalar::U32, Const::F32(-1.5)), Some(Const::Int(Scalar::U32, 0)));
        assert_eq!(convert(Scalar::I8, Const::Int(I32, 200)), Some(Const::Int(Scalar::I8, -56)));
        assert_eq!(convert(Scalar::F32, Const::Int(Scalar::U64, -1)), Some(Const::F32(18446744073709551616.0)));
        assert_eq!(convert(Scalar::F32, Const::Int(I32, 16777217)), Some(Const::F32(16777216.0)));
    }

    #[test]
    fn nans_are_left_to_the_machine() {
        assert_eq!(binary(BinaryOp::Div, Const::F32(0.0), Const::F32(0.0)), None);
        assert_eq!(math(MathFn::Sqrt, &[Const::F64(-1.0)]), None);
        assert_eq!(compare(CompareOp::Ne, Const::F32(f32::NAN), Const::F32(0.0)), Some(Const::Bool(true)));
        assert_eq!(compare(CompareOp::Le, Const::F32(f32::NAN), Const::F32(0.0)), Some(Const::Bool(false)));
    }

    #[test]
    fn exact_functions_of_two_are_folded() {
        let two = |f, x, y| math(f, &[Const::F64(x), Const::F64(y)]);
        assert_eq!(two(MathFn::Fmod, -7.5, 2.0), Some(Const::F64(-1.5)));
        assert_eq!(two(MathFn::Copysign, 3.0, -0.0), Some(Const::F64(-3.0)));
        assert_eq!(two(MathFn::Fmin, 1.0, 2.0), Some(Const::F64(1.0)));
        // Zeros of either sign are equal, so the choice between them is left to the machine; so are results that are not exact.
        assert_eq!(two(MathFn::Fmax, 0.0, -0.0), None);
        assert_eq!(two(MathFn::Fmod, 1.0, 0.0), None);
        assert_eq!(two(MathFn::Pow, 2.0, 2.0), None);
    }

    #[test]
    fn bit_functions_know_their_width() {
        assert_eq!(bit(BitFn::Clz, Const::Int(I32, 0)), Some(Const::Int(I32, 32)));
        assert_eq!(bit(BitFn::Popc, Const::Int(I32, -1)), Some(Const::Int(I32, 32)));
        assert_eq!(bit(BitFn::Ffs, Const::Int(Scalar::I64, 0)), Some(Const::Int(I32, 0)));
        assert_eq!(bit(BitFn::Brev, Const::Int(I32, 1)), Some(Const::Int(I32, i64::from(i32::MIN))));
    }
}

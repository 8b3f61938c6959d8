//! Arithmetic on constants, with the IR's semantics.

use crate::ir::{BinaryOp, CompareOp, Const, Scalar, UnaryOp};

/// Brings the low bits of a number into a type's range, as [`Const::Int`] wants them.
fn wrap(scalar: Scalar, bits: i64) -> Const {
    let v = match scalar {
        Scalar::Bool => return Const::Bool(bits != 0),
        Scalar::I8 => i64::from(bits as i8),
        Scalar::U8 => i64::from(bits as u8),
        Scalar::I16 => i64::from(bits as i16),
        Scalar::U16 => i64::from(bits as u16),
        Scalar::I32 => i64::from(bits as i32),
        Scalar::U32 => i64::from(bits as u32),
        Scalar::I64 | Scalar::U64 => bits,
        Scalar::F32 => return Const::F32(bits as f32),
        Scalar::F64 => return Const::F64(bits as f64),
    };
    Const::Int(scalar, v)
}

/// A float to an integer type: truncated and saturated, as Rust's `as` does; to 8 and 16 bits by way of 32. What NaN gives depends on
/// the types, as the IR says.
fn from_float(scalar: Scalar, v: f64, is_double: bool) -> Const {
    let bits = match scalar {
        Scalar::I64 | Scalar::U64 if v.is_nan() => i64::MIN,
        Scalar::I32 if v.is_nan() && is_double => i64::from(i32::MIN),
        Scalar::U32 if v.is_nan() && is_double => 1 << 31,
        Scalar::Bool => return Const::Bool(v != 0.0),
        Scalar::I8 => i64::from(v as i32 as i8),
        Scalar::U8 => i64::from(v as u32 as u8),
        Scalar::I16 => i64::from(v as i32 as i16),
        Scalar::U16 => i64::from(v as u32 as u16),
        Scalar::I32 => i64::from(v as i32),
        Scalar::U32 => i64::from(v as u32),
        Scalar::I64 => v as i64,
        Scalar::U64 => v as u64 as i64,
        Scalar::F32 => return Const::F32(v as f32),
        Scalar::F64 => return Const::F64(v),
    };
    Const::Int(scalar, bits)
}

/// Converts a constant by value; null becomes zero.
pub fn convert(c: Const, to: Scalar) -> Const {
    match c {
        Const::Bool(b) => wrap(to, i64::from(b)),
        Const::Int(Scalar::U64, v) if to == Scalar::F32 => Const::F32(v as u64 as f32),
        Const::Int(Scalar::U64, v) if to == Scalar::F64 => Const::F64(v as u64 as f64),
        Const::Int(_, v) => wrap(to, v),
        Const::F32(v) if to == Scalar::F32 => Const::F32(v),
        Const::F32(v) => from_float(to, f64::from(v), false),
        Const::F64(v) => from_float(to, v, true),
        Const::Null => wrap(to, 0),
    }
}

/// A unary operation.
pub fn unary(op: UnaryOp, c: Const) -> Option<Const> {
    Some(match (op, c) {
        (UnaryOp::Neg, Const::Int(s, v)) => wrap(s, v.wrapping_neg()),
        (UnaryOp::Neg, Const::F32(v)) => Const::F32(-v),
        (UnaryOp::Neg, Const::F64(v)) => Const::F64(-v),
        (UnaryOp::Not, Const::Int(s, v)) => wrap(s, !v),
        (UnaryOp::Not, Const::Bool(b)) => Const::Bool(!b),
        _ => return None,
    })
}

/// A binary operation; `None` where it would fault or the operands are no numbers of one type.
pub fn binary(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    match (a, b) {
        (Const::Int(s, x), Const::Int(t, y)) if s == t || matches!(op, BinaryOp::Shl | BinaryOp::Shr) => {
            integer(op, s, x, y)
        }
        (Const::F32(x), Const::F32(y)) => {
            let v = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => return None,
            };
            Some(Const::F32(v))
        }
        (Const::F64(x), Const::F64(y)) => {
            let v = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => return None,
            };
            Some(Const::F64(v))
        }
        _ => None,
    }
}

fn integer(op: BinaryOp, s: Scalar, x: i64, y: i64) -> Option<Const> {
    let (ux, uy) = (x as u64, y as u64);
    let bits = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div | BinaryOp::Rem => {
            let min = if s == Scalar::I64 { i64::MIN } else { i64::from(i32::MIN) };
            if y == 0 || (s.is_signed() && x == min && y == -1) {
                return None;
            }
            match (op, s.is_signed()) {
                (BinaryOp::Div, true) => x / y,
                (BinaryOp::Div, false) => (ux / uy) as i64,
                (_, true) => x % y,
                (_, false) => (ux % uy) as i64,
            }
        }
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl if uy >= u64::from(s.bits()) => 0,
        BinaryOp::Shl => x << uy,
        BinaryOp::Shr if uy >= u64::from(s.bits()) => {
            if s.is_signed() && x < 0 {
                -1
            } else {
                0
            }
        }
        BinaryOp::Shr if s.is_signed() => x >> uy,
        BinaryOp::Shr => (ux >> uy) as i64,
        BinaryOp::Min if s.is_signed() => x.min(y),
        BinaryOp::Min => ux.min(uy) as i64,
        BinaryOp::Max if s.is_signed() => x.max(y),
        BinaryOp::Max => ux.max(uy) as i64,
        // No operator of the language.
        _ => return None,
    };
    Some(wrap(s, bits))
}

/// A comparison.
pub fn compare(op: CompareOp, a: Const, b: Const) -> Option<bool> {
    let order = match (a, b) {
        (Const::Int(Scalar::U64, x), Const::Int(_, y)) => Some((x as u64).cmp(&(y as u64))),
        (Const::Int(_, x), Const::Int(_, y)) => Some(x.cmp(&y)),
        (Const::F32(x), Const::F32(y)) => x.partial_cmp(&y),
        (Const::F64(x), Const::F64(y)) => x.partial_cmp(&y),
        (Const::Bool(x), Const::Bool(y)) => Some(x.cmp(&y)),
        (Const::Null, Const::Null) => Some(std::cmp::Ordering::Equal),
        _ => return None,
    };
    Some(match op {
        CompareOp::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        CompareOp::Ne => order.is_none_or(std::cmp::Ordering::is_ne),
        CompareOp::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        CompareOp::Le => order.is_some_and(std::cmp::Ordering::is_le),
        CompareOp::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        CompareOp::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_division_by_zero_is_no_constant() {
        let int = |v| Const::Int(Scalar::I32, v);
        assert_eq!(binary(BinaryOp::Add, int(i64::from(i32::MAX)), int(1)), Some(int(i64::from(i32::MIN))));
        assert_eq!(binary(BinaryOp::Div, int(1), int(0)), None);
        assert_eq!(binary(BinaryOp::Rem, int(i64::from(i32::MIN)), int(-1)), None);
        assert_eq!(binary(BinaryOp::Shl, int(1), int(32)), Some(int(0)));
        assert_eq!(convert(int(-1), Scalar::U32), Const::Int(Scalar::U32, 0xFFFF_FFFF));
        assert_eq!(convert(Const::F32(f32::NAN), Scalar::I32), int(0));
        assert_eq!(convert(Const::F64(1e20), Scalar::I32), int(i64::from(i32::MAX)));
    }

    #[test]
    fn nan_compares_unequal_only() {
        let nan = Const::F64(f64::NAN);
        assert_eq!(compare(CompareOp::Ne, nan, nan), Some(true));
        assert_eq!(compare(CompareOp::Ge, nan, nan), Some(false));
    }
}

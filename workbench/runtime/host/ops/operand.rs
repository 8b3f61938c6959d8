//! Operands in the type that an operation computes in. Each is brought there before anything is computed, as torch brings them: numbers
//! and tensors alike, each in one place.
//!
//! Types of operands: the type that an operation's operands are brought to, and the numbers that a type refuses, are
//! decided here alone.

use ndarray::{ArrayD, IxDyn};

use super::super::answer::Answer;
use super::Value;
use super::promote::result_type;
use super::wide::Wide;
use crate::back::Exception;
use crate::runtime::DType;

/// The rule for the type that an operation's operands are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The operands' common type (`torch.result_type`).
    Common,
    /// The same; but a second operand without dimensions keeps the precision of `float` beside 16-bit floats, in which torch computes.
    Precise,
    /// The common type, `float` for integers.
    Floating,
    /// The last two rules together.
    PreciseFloating,
}

/// The rule of an operation.
fn rule(name: &str) -> Rule {
    match name {
        "mul" | "floor_divide" | "trunc_divide" => Rule::Precise,
        "div" => Rule::PreciseFloating,
        "atan2" | "special_xlog1py" => Rule::Floating,
        _ => Rule::Common,
    }
}

/// The type an operation on two operands computes in, and the type the second is brought to.
pub fn types(name: &str, x: &Value, y: &Value) -> (DType, DType) {
    let rule = rule(name);
    let mut dtype = result_type(&[x, y]);
    if matches!(rule, Rule::Floating | Rule::PreciseFloating) && !dtype.is_float() {
        dtype = DType::Float32;
    }
    let lone = match y {
        Value::Tensor(t) => t.dim() == 0,
        _ => true,
    };
    let precise =
        matches!(rule, Rule::Precise | Rule::PreciseFloating) && lone && dtype.is_float() && dtype.size() == 2;
    (dtype, if precise { DType::Float32 } else { dtype })
}

/// Rounds a step of a computation to the type in which torch computes: `float` for 16-bit floats.
pub fn step(dtype: DType) -> fn(f64) -> f64 {
    if dtype == DType::Float64 { |x| x } else { |x| f64::from(x as f32) }
}

/// Rounds to an element type itself.
pub fn rounded(dtype: DType) -> fn(f64) -> f64 {
    match dtype {
        DType::Float16 => |x| half::f16::from_f32(x as f32).to_f64(),
        DType::BFloat16 => |x| half::bf16::from_f32(x as f32).to_f64(),
        DType::Float64 => |x| x,
        _ => |x| f64::from(x as f32),
    }
}

/// `a + b * c` with one rounding, to the type in which torch computes: its vector instructions fuse the two.
pub fn fused(dtype: DType) -> fn(f64, f64, f64) -> f64 {
    match dtype {
        DType::Float64 => |a, b, c| b.mul_add(c, a),
        _ => |a, b, c| f64::from((b as f32).mul_add(c as f32, a as f32)),
    }
}

/// The type in which torch computes with one.
pub fn opmath(dtype: DType) -> DType {
    if dtype.is_float() && dtype.size() == 2 { DType::Float32 } else { dtype }
}

/// The number of a value without dimensions.
pub fn number(value: &Value) -> Option<Wide> {
    Some(match value {
        Value::Bool(b) => Wide::Int(ArrayD::from_elem(IxDyn(&[]), i64::from(*b))),
        Value::Int(i) => Wide::Int(ArrayD::from_elem(IxDyn(&[]), *i)),
        Value::Float(x) => Wide::Float(ArrayD::from_elem(IxDyn(&[]), *x)),
        Value::Tensor(t) if t.dim() == 0 => Wide::of(t),
        _ => return None,
    })
}

/// The lowest and the highest integer of an element type.
fn integers(dtype: DType) -> (i128, i128) {
    match dtype {
        DType::Bool => (0, 1),
        DType::UInt8 => (0, u8::MAX.into()),
        DType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DType::UInt16 => (0, u16::MAX.into()),
        DType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DType::UInt32 => (0, u32::MAX.into()),
        DType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DType::UInt64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

/// The largest finite number of a floating-point type.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => half::f16::MAX.to_f64(),
        DType::BFloat16 => half::bf16::MAX.to_f64(),
        DType::Float32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// True if a number is outside a type (`c10::overflows`): a negative integer wraps into an unsigned type, as far as its size does.
fn overflows(value: &Wide, dtype: DType) -> bool {
    if dtype == DType::Bool {
        return false;
    }
    let (low, high) = integers(dtype);
    match value {
        Wide::Float(a) if dtype.is_float() => a.iter().any(|x| x.is_finite() && x.abs() > largest(dtype)),
        Wide::Float(a) => a.iter().any(|x| x.is_nan() || *x < low as f64 || *x > high as f64),
        Wide::Int(a) if dtype.is_float() => a.iter().any(|v| (*v as f64).abs() > largest(dtype)),
        Wide::Int(a) => {
            let low = if low == 0 { -high } else { low };
            a.iter().any(|v| i128::from(*v) < low || i128::from(*v) > high)
        }
    }
}

/// The name of an element type in torch's message.
pub fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::UInt8 => "uint8_t",
        DType::Int8 => "int8_t",
        DType::UInt16 => "uint16_t",
        DType::Int16 => "int16_t",
        DType::UInt32 => "uint32_t",
        DType::Int32 => "int",
        DType::UInt64 => "uint64_t",
        DType::Int64 => "int64_t",
        DType::Float16 => "c10::Half",
        DType::BFloat16 => "c10::BFloat16",
        DType::Float32 => "float",
        DType::Float64 => "double",
    }
}

/// A number (or a tensor without dimensions) in an element type, as `Scalar::to<T>` converts.
///
/// # Errors
/// `RuntimeError` for a number outside the type, `TypeError` for what is no number.
pub fn checked(value: &Value, dtype: DType) -> Answer<Wide> {
    let Some(number) = number(value) else {
        return Err((Exception::Type, format!("a number is wanted, not {}", value.type_name())));
    };
    if overflows(&number, dtype) {
        let message = format!("value cannot be converted to type {} without overflow", type_name(dtype));
        return Err((Exception::Runtime, message));
    }
    Ok(number.brought(dtype))
}

/// The one element of an array without dimensions.
pub fn only<T: Copy + Default>(a: &ArrayD<T>) -> T {
    a.iter().next().copied().unwrap_or_default()
}

/// A bound of `clamp` in an element type: an integer beyond the type's range becomes the end of the range where it
/// bounds nothing.
///
/// # Errors
/// `RuntimeError` for a bound that no number of the type keeps, and as [`checked`].
pub fn bound(value: &Value, dtype: DType, is_low: bool) -> Answer<Wide> {
    let outside = match value {
        Value::Int(i) if !dtype.is_float() && dtype != DType::Bool => {
            let (low, high) = integers(dtype);
            let i = i128::from(*i);
            if i < low { Some(true) } else { (i > high).then_some(false) }
        }
        _ => None,
    };
    let (low, high) = integers(dtype);
    let end = |v: i128| Ok(Wide::Int(ArrayD::from_elem(IxDyn(&[]), v as i64)));
    match outside {
        None => checked(value, dtype),
        Some(true) if is_low => end(low),
        Some(false) if !is_low => end(high),
        Some(_) => {
            let which = if is_low { "min" } else { "max" };
            let name = super::super::value::cpp_name(dtype);
            let message = format!("Clamp {which} value {value} is outside the representable range of {name}");
            Err((Exception::Runtime, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_a_type_are_told_of() {
        use DType::*;
        // Numbers that `torch.full((), value, dtype=..)` raises for, and numbers that it takes.
        for (value, dtype, outside) in [
            (Value::Int(255), UInt8, false),
            (Value::Int(256), UInt8, true),
            (Value::Int(-255), UInt8, false),
            (Value::Int(-256), UInt8, true),
            (Value::Int(-129), Int8, true),
            (Value::Float(2.7), UInt8, false),
            (Value::Float(65504.0), Float16, false),
            (Value::Float(65505.0), Float16, true),
            (Value::Float(f64::INFINITY), Float16, false),
            (Value::Float(f64::NAN), Int64, true),
            (Value::Float(1e39), Float32, true),
            (Value::Int(300), Bool, false),
        ] {
            assert_eq!(checked(&value, dtype).is_err(), outside, "{value} {dtype}");
        }
    }
}

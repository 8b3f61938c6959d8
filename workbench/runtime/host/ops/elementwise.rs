//! Operations element by element, with broadcasting.

use ndarray::{ArrayD, IxDyn, Zip};

use super::super::array::{Answer, HostTensor};
use super::promote::{promote, result_type};
use super::wide::Wide;
use super::{Args, Value};
use crate::back::Exception;
use crate::runtime::DType;

type Unary = fn(f64) -> f64;
/// The same function on doubles and on integers.
type Both = (Unary, fn(i64) -> i64);

/// Functions whose results are floats, whatever they are given.
fn floating(name: &str) -> Option<Unary> {
    Some(match name {
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "expm1" => f64::exp_m1,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "sqrt" => f64::sqrt,
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "sigmoid" => |x| 1.0 / (1.0 + (-x).exp()),
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "reciprocal" => |x| 1.0 / x,
        "asinh" => f64::asinh,
        "acosh" => f64::acosh,
        "atanh" => f64::atanh,
        "lgamma" => libm::lgamma,
        "deg2rad" => f64::to_radians,
        "rad2deg" => f64::to_degrees,
        _ => return None,
    })
}

/// Functions that keep the type.
fn keeping(name: &str) -> Option<Both> {
    Some(match name {
        "abs" => (f64::abs, i64::wrapping_abs),
        "neg" => (|x| -x, i64::wrapping_neg),
        "relu" => (|x| if x > 0.0 || x.is_nan() { x } else { 0.0 }, |x| x.max(0)),
        "square" => (|x| x * x, |x| x.wrapping_mul(x)),
        "sign" => (
            |x| {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    0.0
                }
            },
            i64::signum,
        ),
        "floor" => (f64::floor, |x| x),
        "ceil" => (f64::ceil, |x| x),
        "round" => (f64::round_ties_even, |x| x),
        "trunc" => (f64::trunc, |x| x),
        "frac" => (f64::fract, |_| 0),
        _ => return None,
    })
}

/// The extents that two shapes broadcast to.
///
/// # Errors
/// `RuntimeError`, as torch words it.
pub fn broadcast(a: &[i64], b: &[i64]) -> Answer<Vec<i64>> {
    let dims = a.len().max(b.len());
    let mut out = vec![1; dims];
    for (i, extent) in out.iter_mut().enumerate() {
        let at = |s: &[i64]| (i + s.len()).checked_sub(dims).map_or(1, |j| s[j]);
        *extent = match (at(a), at(b)) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, y) => {
                let message = format!(
                    "The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
                );
                return Err((Exception::Runtime, message));
            }
        };
    }
    Ok(out)
}

/// A tensor or number as elements.
fn wide(value: &Value, args: &Args<'_>) -> Answer<Wide> {
    Ok(match value {
        Value::Tensor(t) => Wide::of(t),
        Value::Bool(b) => Wide::Int(ArrayD::from_elem(IxDyn(&[]), i64::from(*b))),
        Value::Int(i) => Wide::Int(ArrayD::from_elem(IxDyn(&[]), *i)),
        Value::Float(x) => Wide::Float(ArrayD::from_elem(IxDyn(&[]), *x)),
        other => return args.misfit(other, "Tensor or a number"),
    })
}

/// Two arrays, broadcast.
pub(super) fn zip<T: Clone, U>(a: &ArrayD<T>, b: &ArrayD<T>, f: impl Fn(T, T) -> U) -> Answer<ArrayD<U>> {
    let shape = |a: &ArrayD<T>| -> Vec<i64> { a.shape().iter().map(|n| *n as i64).collect() };
    let shape = broadcast(&shape(a), &shape(b))?;
    super::room(&shape)?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    match (a.broadcast(IxDyn(&shape)), b.broadcast(IxDyn(&shape))) {
        (Some(a), Some(b)) => Ok(Zip::from(a).and(b).map_collect(|x, y| f(x.clone(), y.clone()))),
        _ => Err((Exception::Runtime, "shapes that do not broadcast".to_owned())),
    }
}

/// Two operands computed with in one type: by doubles when that is a floating-point one.
fn binary<F, I>(a: Wide, b: Wide, dtype: DType, f: F, i: I) -> Answer<Wide>
where
    F: Fn(f64, f64) -> f64,
    I: Fn(i64, i64) -> i64,
{
    Ok(if dtype.is_float() {
        Wide::Float(zip(&a.floats(), &b.floats(), f)?)
    } else {
        Wide::Int(zip(&wrapped(a, dtype), &wrapped(b, dtype), i)?)
    })
}

/// Integers as an element type holds them: a number beside a tensor wraps to the tensor's type.
fn wrapped(a: Wide, dtype: DType) -> ArrayD<i64> {
    let a = a.ints();
    match dtype {
        DType::UInt8 => a.mapv_into(|v| i64::from(v as u8)),
        DType::Int8 => a.mapv_into(|v| i64::from(v as i8)),
        DType::UInt16 => a.mapv_into(|v| i64::from(v as u16)),
        DType::Int16 => a.mapv_into(|v| i64::from(v as i16)),
        DType::UInt32 => a.mapv_into(|v| i64::from(v as u32)),
        DType::Int32 => a.mapv_into(|v| i64::from(v as i32)),
        _ => a,
    }
}

/// torch's floor division: from the remainder, so that a quotient just below an integer stays below it (`c10::div_floor_floating`).
fn floor_quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

fn compare(a: Wide, b: Wide, dtype: DType, name: &str) -> Answer<Wide> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let holds = |o: Option<std::cmp::Ordering>| {
        i64::from(match name {
            "eq" => o == Some(Equal),
            "ne" => o != Some(Equal),
            "lt" => o == Some(Less),
            "le" => matches!(o, Some(Less | Equal)),
            "gt" => o == Some(Greater),
            _ => matches!(o, Some(Greater | Equal)),
        })
    };
    Ok(Wide::Int(if dtype.is_float() {
        zip(&a.floats(), &b.floats(), |x, y| holds(x.partial_cmp(&y)))?
    } else {
        zip(&wrapped(a, dtype), &wrapped(b, dtype), |x, y| holds(Some(x.cmp(&y))))?
    }))
}

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    let name = args.name;
    Some(match name {
        _ if floating(name).is_some() || keeping(name).is_some() => unary(args),
        "add" | "sub" | "mul" | "div" | "pow" | "maximum" | "minimum" | "floor_divide" | "remainder" | "fmod"
        | "atan2" | "hypot" => arithmetic(args),
        "isnan" | "isinf" | "isfinite" => classified(args),
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => comparison(args),
        "logical_and"
        | "logical_or"
        | "logical_xor"
        | "logical_not"
        | "bitwise_and"
        | "bitwise_or"
        | "bitwise_xor"
        | "bitwise_not"
        | "bitwise_left_shift"
        | "bitwise_right_shift" => logic(args),
        "clamp" | "clamp_min" | "clamp_max" => clamp(args),
        "uniform" | "normal" => random(args),
        "where" => choose(args),
        "copy" => copy(args),
        "fill" => fill(args),
        _ => return None,
    })
}

/// `x << by` as torch has it: by less than nothing, or by all the type's bits and more, is 0.
fn shifted_left(x: i64, by: i64, dtype: DType) -> i64 {
    let bits = 8 * dtype.size() as i64;
    if (0..bits).contains(&by) { x.wrapping_shl(by as u32) } else { 0 }
}

/// `x >> by` as torch has it: by less than nothing, or by all the type's bits and more, leaves the sign alone.
fn shifted_right(x: i64, by: i64, dtype: DType) -> i64 {
    let bits = 8 * dtype.size() as i64;
    let is_unsigned = dtype.scalar().is_some_and(|s| !s.is_signed());
    // Numbers of 64 bits without a sign are kept as others are.
    match (is_unsigned, (0..bits).contains(&by)) {
        (true, true) => ((x as u64) >> by) as i64,
        (true, false) => 0,
        (false, true) => x >> by,
        (false, false) => x >> 63,
    }
}

fn unary(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (device, like) = (x.device(), Value::Tensor(x.clone()));
    if let Some(f) = floating(args.name) {
        let dtype = if x.dtype().is_float() { x.dtype() } else { DType::Float32 };
        let made = Wide::Float(Wide::of(&x).floats().mapv_into(f));
        return made.tensor_like(dtype, device, &[&like]).map(Value::Tensor);
    }
    let Some((f, i)) = keeping(args.name) else { return Ok(Value::None) };
    if x.dtype() == DType::Bool {
        match args.name {
            // A power: of integers then.
            "square" => return Wide::of(&x).tensor(DType::Int64, device).map(Value::Tensor),
            "sign" => {}
            name => return super::not_implemented(name, x.dtype()),
        }
    }
    let made = match Wide::of(&x) {
        Wide::Float(a) => Wide::Float(a.mapv_into(f)),
        Wide::Int(a) => Wide::Int(a.mapv_into(i)),
    };
    made.tensor_like(x.dtype(), device, &[&like]).map(Value::Tensor)
}

fn device_of(values: &[&Value], args: &Args<'_>) -> super::super::DeviceTag {
    let tensors = values.iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t.device()) } else { None });
    tensors.into_iter().next().unwrap_or(args.device)
}

fn arithmetic(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let mut dtype = result_type(&[&x, &y]);
    let is_bool = |v: &Value| matches!(v, Value::Tensor(t) if t.dtype() == DType::Bool);
    if args.name == "sub" && (is_bool(&x) || is_bool(&y)) {
        let message = "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, \
                       use the `~` or `logical_not()` operator instead.";
        return Err((Exception::NotImplemented, message.to_owned()));
    }
    if let ("pow" | "remainder" | "floor_divide" | "fmod", DType::Bool) = (args.name, dtype) {
        return super::not_implemented(args.name, dtype);
    }
    if let ("pow", Value::Int(exponent), false) = (args.name, &y, dtype.is_float())
        && *exponent < 0
    {
        return Err((Exception::Runtime, "Integers to negative integer powers are not allowed.".to_owned()));
    }
    let (a, mut b) = (wide(&x, args)?, wide(&y, args)?);
    if let "add" | "sub" = args.name {
        b = match args.next() {
            Value::None | Value::Int(1) => b,
            Value::Int(alpha) if !dtype.is_float() => Wide::Int(b.ints().mapv_into(|v| v.wrapping_mul(alpha))),
            Value::Int(alpha) => Wide::Float(b.floats().mapv_into(|v| v * alpha as f64)),
            Value::Float(alpha) if dtype.is_float() => Wide::Float(b.floats().mapv_into(|v| v * alpha)),
            other => return args.misfit(&other, "a number of the operands' kind"),
        };
    }
    // `div(a, b, "floor")`
    let rounding = if args.name == "div" { args.text()? } else { String::new() };
    let name = match rounding.as_str() {
        "" => args.name,
        "floor" => "floor_divide",
        "trunc" => "trunc_divide",
        other => {
            let message =
                format!("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{other}'");
            return Err((Exception::Runtime, message));
        }
    };
    let divides = |i: &ArrayD<i64>| i.iter().any(|v| *v == 0);
    if let ("floor_divide" | "trunc_divide" | "remainder" | "fmod", false, Wide::Int(i)) = (name, dtype.is_float(), &b)
        && divides(i)
    {
        return Err((Exception::Runtime, "ZeroDivisionError".to_owned()));
    }
    let made = match name {
        "add" => binary(a, b, dtype, |x, y| x + y, i64::wrapping_add),
        "sub" => binary(a, b, dtype, |x, y| x - y, i64::wrapping_sub),
        "mul" => binary(a, b, dtype, |x, y| x * y, i64::wrapping_mul),
        "div" => {
            if !dtype.is_float() {
                dtype = DType::Float32;
            }
            binary(a, b, dtype, |x, y| x / y, |x, _| x)
        }
        // As torch, a root where the power is one: `-0` stays, and `-inf` has none.
        "pow" if matches!(y, Value::Float(0.5)) => binary(a, b, dtype, |x, _| x.sqrt(), |x, _| x),
        "pow" => binary(a, b, dtype, f64::powf, |x, y| match u32::try_from(y) {
            Ok(y) => x.wrapping_pow(y),
            // 1 and -1 are all whose inverses are integers.
            Err(_) => match x {
                1 => 1,
                -1 => {
                    if y % 2 == 0 {
                        1
                    } else {
                        -1
                    }
                }
                _ => 0,
            },
        }),
        "maximum" => binary(a, b, dtype, |x, y| if x.is_nan() || x > y { x } else { y }, i64::max),
        "minimum" => binary(a, b, dtype, |x, y| if x.is_nan() || x < y { x } else { y }, i64::min),
        "floor_divide" => binary(a, b, dtype, floor_quotient, |x, y| {
            x.wrapping_div_euclid(y) - i64::from(y < 0 && x.wrapping_rem_euclid(y) != 0)
        }),
        "remainder" => binary(
            a,
            b,
            dtype,
            |x, y| {
                let r = x % y;
                if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
            },
            |x, y| {
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            },
        ),
        "fmod" => binary(a, b, dtype, |x, y| x % y, i64::wrapping_rem),
        "trunc_divide" => binary(a, b, dtype, |x, y| (x / y).trunc(), i64::wrapping_div),
        _ => {
            if !dtype.is_float() {
                dtype = DType::Float32;
            }
            binary(a, b, dtype, if name == "hypot" { f64::hypot } else { f64::atan2 }, |x, _| x)
        }
    }?;
    made.tensor_like(dtype, device, &[&x, &y]).map(Value::Tensor)
}

fn comparison(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let (a, b) = (wide(&x, args)?, wide(&y, args)?);
    let made = compare(a, b, result_type(&[&x, &y]), args.name)?;
    made.tensor_like(DType::Bool, device, &[&x, &y]).map(Value::Tensor)
}

fn logic(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let dtype = result_type(&[&x, &y]);
    let truth = |w: Wide| match w {
        Wide::Float(a) => a.map(|x| i64::from(*x != 0.0)),
        Wide::Int(a) => a.map(|x| i64::from(*x != 0)),
    };
    let a = wide(&x, args)?;
    if args.name == "logical_not" {
        return Wide::Int(truth(a).mapv_into(|v| 1 - v)).tensor(DType::Bool, device).map(Value::Tensor);
    }
    if args.name == "bitwise_not" && !dtype.is_float() {
        let flip = |v: i64| if dtype == DType::Bool { 1 - v } else { !v };
        return Wide::Int(a.ints().mapv_into(flip)).tensor(dtype, device).map(Value::Tensor);
    }
    let b = if args.name == "bitwise_not" { a.clone() } else { wide(&y, args)? };
    if args.name.starts_with("bitwise") {
        if dtype.is_float() {
            let message =
                format!("\"{}_cpu\" not implemented for '{}'", args.name, super::super::value::cpp_name(dtype));
            return Err((Exception::NotImplemented, message));
        }
        let made = zip(&a.ints(), &b.ints(), |x, y| match args.name {
            "bitwise_and" => x & y,
            "bitwise_or" => x | y,
            "bitwise_left_shift" => shifted_left(x, y, dtype),
            "bitwise_right_shift" => shifted_right(x, y, dtype),
            _ => x ^ y,
        })?;
        return Wide::Int(made).tensor(dtype, device).map(Value::Tensor);
    }
    let made = zip(&truth(a), &truth(b), |x, y| match args.name {
        "logical_and" => x & y,
        "logical_or" => x | y,
        _ => x ^ y,
    })?;
    Wide::Int(made).tensor(DType::Bool, device).map(Value::Tensor)
}

fn clamp(args: &mut Args<'_>) -> Answer<Value> {
    let (x, low, high) = match args.name {
        "clamp_max" => (args.next(), Value::None, args.next()),
        _ => (args.next(), args.next(), args.next()),
    };
    if let (Value::None, Value::None) = (&low, &high) {
        return Err((Exception::Runtime, "torch.clamp: At least one of 'min' or 'max' must not be None".to_owned()));
    }
    let device = device_of(&[&x], args);
    let dtype = result_type(&[&x, &low, &high]);
    let mut made = wide(&x, args)?;
    if !matches!(low, Value::None) {
        made = binary(made, wide(&low, args)?, dtype, |x, y| if x < y { y } else { x }, i64::max)?;
    }
    if !matches!(high, Value::None) {
        made = binary(made, wide(&high, args)?, dtype, |x, y| if x > y { y } else { x }, i64::min)?;
    }
    made.tensor(dtype, device).map(Value::Tensor)
}

fn classified(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let f = match args.name {
        "isnan" => f64::is_nan,
        "isinf" => f64::is_infinite,
        _ => f64::is_finite,
    };
    let made = match Wide::of(&x) {
        Wide::Float(a) => a.map(|v| i64::from(f(*v))),
        Wide::Int(a) => a.map(|_| i64::from(args.name == "isfinite")),
    };
    Wide::Int(made).tensor(DType::Bool, x.device()).map(Value::Tensor)
}

/// `self.uniform_(from, to)`, `self.normal_(mean, std)`
fn random(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (a, b) = (args.float(0.0)?, args.float(1.0)?);
    let uniform = args.name == "uniform";
    let shape: Vec<usize> = x.shape().iter().map(|n| *n as usize).collect();
    let next =
        || if uniform { a + (b - a) * super::make::random::uniform() } else { a + b * super::make::random::normal() };
    Wide::Float(ArrayD::from_shape_simple_fn(IxDyn(&shape), next)).tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn choose(args: &mut Args<'_>) -> Answer<Value> {
    let cond = args.tensor()?;
    let (x, y) = (args.next(), args.next());
    let (dtype, device) = (result_type(&[&x, &y]), cond.device());
    let (a, b) = (wide(&x, args)?, wide(&y, args)?);
    let shape = broadcast(&broadcast(&a.shape(), &b.shape())?, cond.shape())?;
    super::room(&shape)?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    let cond = Wide::of(&cond).ints();
    let misfit = || (Exception::Runtime, "shapes that do not broadcast".to_owned());
    let cond = cond.broadcast(IxDyn(&shape)).ok_or_else(misfit)?;
    let made = if dtype.is_float() {
        let (a, b) = (a.floats(), b.floats());
        let (a, b) = (a.broadcast(IxDyn(&shape)).ok_or_else(misfit)?, b.broadcast(IxDyn(&shape)).ok_or_else(misfit)?);
        Wide::Float(Zip::from(cond).and(a).and(b).map_collect(|c, x, y| if *c != 0 { *x } else { *y }))
    } else {
        let (a, b) = (a.ints(), b.ints());
        let (a, b) = (a.broadcast(IxDyn(&shape)).ok_or_else(misfit)?, b.broadcast(IxDyn(&shape)).ok_or_else(misfit)?);
        Wide::Int(Zip::from(cond).and(a).and(b).map_collect(|c, x, y| if *c != 0 { *x } else { *y }))
    };
    made.tensor(dtype, device).map(Value::Tensor)
}

/// `self.copy_(other)`, `self.fill_(value)`: the values alone, which the in-place form writes.
fn copy(args: &mut Args<'_>) -> Answer<Value> {
    args.tensor()?;
    args.tensor().map(Value::Tensor)
}

fn fill(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let value = args.next();
    let made = HostTensor::new(promote(x.dtype(), x.dtype()), &[], x.device(), true)?;
    wide(&value, args)?.write(&made)?;
    Ok(Value::Tensor(made))
}

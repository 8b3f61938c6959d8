//! Operations element by element, with broadcasting.

use std::f64::consts::LN_2;

use ndarray::{ArrayD, ArrayViewD, IxDyn, Zip};

use super::super::answer::Answer;
use super::super::value::Value;
use super::args::{Args, not_implemented, room};
use super::broadcast::broadcast;
use super::operand;
use super::promote::result_type;
use super::sweep::{self, Sweep};
use super::wide::Wide;
use crate::back::Exception;
use crate::back::cpu::erfinv;
use crate::runtime::DType;

/// The bound from which the inverse hyperbolic functions are the logarithm of twice the number, the square of which may not be a
/// number of the type.
const LARGE: f64 = 1e9;

type Unary = fn(f64) -> f64;
/// The same function on doubles and on integers.
type Both = (Unary, fn(i64) -> i64);

/// Functions whose results are floats for any operands.
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
        "erfinv" => erfinv,
        "reciprocal" => |x| 1.0 / x,
        "asinh" => |x| if x.abs() > LARGE { (x.abs().ln() + LN_2).copysign(x) } else { x.asinh() },
        "acosh" => |x| if x > LARGE { x.ln() + LN_2 } else { x.acosh() },
        "atanh" => f64::atanh,
        "lgamma" => libm::lgamma,
        "digamma" => digamma,
        "special_entr" => entropy,
        "deg2rad" => f64::to_radians,
        "rad2deg" => f64::to_degrees,
        _ => return None,
    })
}

/// The entropy of an event of this probability; there is none below zero.
fn entropy(x: f64) -> f64 {
    if x > 0.0 {
        -x * x.ln()
    } else if x == 0.0 {
        0.0
    } else if x.is_nan() {
        x
    } else {
        f64::NEG_INFINITY
    }
}

/// The derivative of the logarithm of the gamma function: its asymptotic series (Abramowitz and Stegun 6.3.18) from 10 on; the
/// recurrence (6.3.5) takes smaller arguments there, and the reflection (6.3.7) those below zero.
fn digamma(x: f64) -> f64 {
    /// `B(2k) / 2k` of the Bernoulli numbers.
    const TERMS: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.trunc() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x.fract()).tan();
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * square);
    below + x.ln() - 0.5 / x - series
}

/// Functions that keep the type.
fn keeping(name: &str) -> Option<Both> {
    Some(match name {
        "abs" => (f64::abs, i64::wrapping_abs),
        "neg" => (|x| -x, i64::wrapping_neg),
        "relu" => (|x| if x < 0.0 { 0.0 } else { x }, |x| x.max(0)),
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
pub(super) fn zip<T: Copy, U: Copy>(a: &ArrayD<T>, b: &ArrayD<T>, f: impl Fn(T, T) -> U) -> Answer<ArrayD<U>> {
    let shape = |a: &ArrayD<T>| -> Vec<i64> { a.shape().iter().map(|n| *n as i64).collect() };
    let shape = broadcast(&shape(a), &shape(b))?;
    room(&shape)?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    match (a.broadcast(IxDyn(&shape)), b.broadcast(IxDyn(&shape))) {
        (Some(a), Some(b)) => Ok(sweep::zipped(a, b, f)),
        _ => Err((Exception::Runtime, "shapes that do not broadcast".to_owned())),
    }
}

/// A tensor or number in an element type.
fn brought(value: &Value, dtype: DType, args: &Args<'_>) -> Answer<Wide> {
    let a = wide(value, args)?;
    // The elements of a tensor of this type need no conversion.
    Ok(if matches!(value, Value::Tensor(t) if t.dtype() == dtype) { a } else { a.brought(dtype) })
}

/// An operation on two operands of one kind; in doubles when that is floating-point.
fn binary<F, I>(a: Wide, b: Wide, f: F, i: I) -> Answer<Wide>
where
    F: Fn(f64, f64) -> f64,
    I: Fn(i64, i64) -> i64,
{
    Ok(match (a, b) {
        (Wide::Int(a), Wide::Int(b)) => Wide::Int(zip(&a, &b, i)?),
        (a, b) => Wide::Float(zip(&a.floats(), &b.floats(), f)?),
    })
}

/// torch's floor division: computed from the remainder, so that a quotient just below an integer stays below it
/// (`c10::div_floor_floating`). Each step is rounded to the type that is computed in.
fn floor_quotient(a: f64, b: f64, step: fn(f64) -> f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = step(step(a - rest) / b);
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient = step(quotient - 1.0);
    }
    if quotient == 0.0 {
        return 0f64.copysign(step(a / b));
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

fn compare(a: Wide, b: Wide, name: &str) -> Answer<Wide> {
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
    Ok(Wide::Int(match (a, b) {
        (Wide::Int(a), Wide::Int(b)) => zip(&a, &b, |x, y| holds(Some(x.cmp(&y))))?,
        (a, b) => zip(&a.floats(), &b.floats(), |x, y| holds(x.partial_cmp(&y)))?,
    }))
}

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    let name = args.name;
    Some(match name {
        _ if floating(name).is_some() || keeping(name).is_some() => unary(args),
        "add" | "sub" | "mul" | "div" | "pow" | "maximum" | "minimum" | "floor_divide" | "remainder" | "fmod"
        | "atan2" | "hypot" | "nextafter" | "special_xlog1py" | "fmax" | "fmin" => arithmetic(args),
        "isnan" | "isinf" | "isfinite" => classified(args),
        "signbit" => signbit(args),
        "result_type" => Ok(Value::DType(result_type(&[&args.next(), &args.next()]))),
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

/// `x << by` as in torch: 0 for a negative amount, or for one of all the type's bits or more.
fn shifted_left(x: i64, by: i64, dtype: DType) -> i64 {
    let bits = 8 * dtype.size() as i64;
    if (0..bits).contains(&by) { x.wrapping_shl(by as u32) } else { 0 }
}

/// `x >> by` as in torch: the sign alone for a negative amount, or for one of all the type's bits or more.
fn shifted_right(x: i64, by: i64, dtype: DType) -> i64 {
    let bits = 8 * dtype.size() as i64;
    let is_unsigned = dtype.scalar().is_some_and(|s| !s.is_signed());
    // Unsigned numbers of 64 bits are kept in signed ones, as all are.
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
        let step = operand::step(dtype);
        let f = |v: f64| match args.name {
            // The root and its reciprocal are two steps, each rounded to the type itself.
            "rsqrt" => 1.0 / operand::rounded(dtype)(step(v.sqrt())),
            // The logarithm and the product, too.
            "special_entr" if v > 0.0 => -v * operand::rounded(dtype)(v.ln()),
            "deg2rad" => v * step(std::f64::consts::PI / 180.0),
            "rad2deg" => v * step(180.0 / std::f64::consts::PI),
            _ => f(v),
        };
        let elements = if x.dtype() == dtype { Wide::of(&x) } else { Wide::of(&x).brought(dtype) };
        let made = Wide::Float(sweep::replaced(elements.floats(), f));
        return made.tensor_like(dtype, device, &[&like]).map(Value::Tensor);
    }
    if args.name == "frac" && !x.dtype().is_float() {
        return not_implemented("frac_cpu", x.dtype());
    }
    let Some((f, i)) = keeping(args.name) else { return Ok(Value::None) };
    if x.dtype() == DType::Bool {
        match args.name {
            // The square of a truth value is an integer, as any power of one is.
            "square" => return Wide::of(&x).tensor(DType::Int64, device).map(Value::Tensor),
            "sign" => {}
            name => return not_implemented(name, x.dtype()),
        }
    }
    let made = match Wide::of(&x) {
        Wide::Float(a) => Wide::Float(sweep::replaced(a, f)),
        Wide::Int(a) => Wide::Int(sweep::replaced(a, i)),
    };
    made.tensor_like(x.dtype(), device, &[&like]).map(Value::Tensor)
}

fn device_of(values: &[&Value], args: &Args<'_>) -> super::super::DeviceTag {
    let tensors = values.iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t.device()) } else { None });
    tensors.into_iter().next().unwrap_or(args.device)
}

/// Torch computes this with operands of such types.
fn check_types(args: &Args<'_>, name: &str, dtype: DType, (x, y): (&Value, &Value)) -> Answer<()> {
    let is_bool = |v: &Value| matches!(v, Value::Tensor(t) if t.dtype() == DType::Bool);
    if name == "sub" && (is_bool(x) || is_bool(y)) {
        let message = "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, \
                       use the `~` or `logical_not()` operator instead.";
        return Err((Exception::NotImplemented, message.to_owned()));
    }
    if let ("pow" | "remainder" | "floor_divide" | "trunc_divide" | "fmod", DType::Bool) = (name, dtype) {
        return not_implemented(args.name, dtype);
    }
    if let ("hypot" | "nextafter", false) = (name, dtype.is_float()) {
        return not_implemented(&format!("{name}_cpu"), dtype);
    }
    if let ("pow", Value::Int(exponent), false) = (name, y, dtype.is_float())
        && *exponent < 0
    {
        return Err((Exception::Runtime, "Integers to negative integer powers are not allowed.".to_owned()));
    }
    Ok(())
}

fn arithmetic(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let third = if let "add" | "sub" | "div" = args.name { args.next() } else { Value::None };
    // `div(a, b, "floor")`
    let name = match (args.name, &third) {
        ("div", Value::Text(rounding)) => match rounding.as_str() {
            "floor" => "floor_divide",
            "trunc" => "trunc_divide",
            other => {
                let message =
                    format!("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{other}'");
                return Err((Exception::Runtime, message));
            }
        },
        (name, _) => name,
    };
    let (dtype, second) = operand::types(name, &x, &y);
    check_types(args, name, dtype, (&x, &y))?;
    let a = brought(&x, dtype, args)?;
    let b = match &y {
        // An exponent that is a number is converted with a check.
        Value::Int(_) | Value::Float(_) if name == "pow" && (!dtype.is_float() || dtype.size() == 2) => {
            operand::checked(&y, dtype)?
        }
        y => brought(y, second, args)?,
    };
    let step = operand::step(dtype);
    let factor = if let "add" | "sub" = name { factor(&third, name == "sub", dtype)? } else { None };
    if let Some(factor) = factor {
        let made = match (a, b, factor) {
            (Wide::Int(a), Wide::Int(b), Wide::Int(f)) => {
                Wide::Int(zip(&a, &zip(&b, &f, i64::wrapping_mul)?, i64::wrapping_add)?)
            }
            (a, b, f) => {
                let (by, fused) = (operand::only(&f.floats()), operand::fused(dtype));
                Wide::Float(zip(&a.floats(), &b.floats(), |a, b| fused(a, b, by))?)
            }
        };
        return made.tensor_like(dtype, device, &[&x, &y]).map(Value::Tensor);
    }
    // The quotient of two tensors of 16-bit floats is rounded before it is cut.
    let quotient = if second == dtype { operand::rounded(dtype) } else { step };
    let divides = |i: &ArrayD<i64>| sweep::counted(i).any(|v| *v == 0);
    if let ("floor_divide" | "trunc_divide" | "remainder" | "fmod", Wide::Int(i)) = (name, &b)
        && divides(i)
    {
        return Err((Exception::Runtime, "ZeroDivisionError".to_owned()));
    }
    let made = match name {
        "add" => binary(a, b, |x, y| x + y, i64::wrapping_add),
        "sub" => binary(a, b, |x, y| x - y, i64::wrapping_sub),
        "mul" => binary(a, b, |x, y| x * y, i64::wrapping_mul),
        "div" => binary(a, b, |x, y| x / y, |x, _| x),
        "pow" => match y {
            Value::Int(_) | Value::Float(_) => power_of_number(a, b, dtype),
            _ => binary(a, b, f64::powf, integer_power),
        },
        "maximum" => binary(a, b, |x, y| if x.is_nan() || x > y { x } else { y }, i64::max),
        "minimum" => binary(a, b, |x, y| if x.is_nan() || x < y { x } else { y }, i64::min),
        // The result is the other one where one is NaN.
        "fmax" => binary(a, b, |x, y| if x.is_nan() || y > x { y } else { x }, i64::max),
        "fmin" => binary(a, b, |x, y| if x.is_nan() || y < x { y } else { x }, i64::min),
        "floor_divide" => binary(
            a,
            b,
            |x, y| floor_quotient(x, y, step),
            |x, y| x.wrapping_div_euclid(y).wrapping_sub(i64::from(y < 0 && x.wrapping_rem_euclid(y) != 0)),
        ),
        "remainder" => binary(
            a,
            b,
            |x, y| {
                let r = x % y;
                if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
            },
            |x, y| {
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            },
        ),
        "fmod" => binary(a, b, |x, y| x % y, i64::wrapping_rem),
        "nextafter" => binary(a, b, next(dtype), |x, _| x),
        "special_xlog1py" => binary(a, b, times_log1p(dtype), |x, _| x),
        "trunc_divide" => binary(a, b, |x, y| quotient(step(x / y)).trunc(), i64::wrapping_div),
        _ => binary(a, b, if name == "hypot" { f64::hypot } else { f64::atan2 }, |x, _| x),
    }?;
    made.tensor_like(dtype, device, &[&x, &y]).map(Value::Tensor)
}

/// The first times the logarithm of one plus the second: zero times any, unless that is NaN. The logarithm and the product are two steps,
/// each rounded to the element type.
fn times_log1p(dtype: DType) -> impl Fn(f64, f64) -> f64 {
    let rounded = operand::rounded(dtype);
    move |x, y| {
        if y.is_nan() {
            f64::NAN
        } else if x == 0.0 {
            0.0
        } else {
            x * rounded(y.ln_1p())
        }
    }
}

/// The next number of an element type after the first, towards the second: a step of the type itself.
fn next(dtype: DType) -> fn(f64, f64) -> f64 {
    match dtype {
        DType::Float16 => {
            |x, y| next_of_16(x, y, half::f16::from_f64(x).to_bits(), |bits| half::f16::from_bits(bits).into())
        }
        DType::BFloat16 => {
            |x, y| next_of_16(x, y, half::bf16::from_f64(x).to_bits(), |bits| half::bf16::from_bits(bits).into())
        }
        DType::Float64 => libm::nextafter,
        _ => |x, y| f64::from(libm::nextafterf(x as f32, y as f32)),
    }
}

/// The same of a type of 16 bits: those of the first number, and the number that bits are.
fn next_of_16(x: f64, y: f64, bits: u16, number: fn(u16) -> f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    if x == 0.0 {
        return number(1).copysign(y);
    }
    // Bits of numbers of one sign lie in the order of their sizes.
    number(if (x < y) == (x > 0.0) { bits + 1 } else { bits - 1 })
}

/// The factor of the second operand of a sum, where that is not 1; its negative for a difference.
fn factor(alpha: &Value, opposite: bool, dtype: DType) -> Answer<Option<Wide>> {
    let fail = |message: &str| Err((Exception::Runtime, message.to_owned()));
    let alpha = match alpha {
        Value::None | Value::Int(1) => return Ok(None),
        Value::Bool(_) if dtype != DType::Bool => return fail("Boolean alpha only supported for Boolean results."),
        Value::Float(_) if !dtype.is_float() => {
            return fail("For integral input tensors, argument alpha must not be a floating point number.");
        }
        Value::Int(i) if opposite => Value::Int(i.wrapping_neg()),
        Value::Float(x) if opposite => Value::Float(-x),
        alpha => alpha.clone(),
    };
    operand::checked(&alpha, dtype).map(Some)
}

/// An integer's power.
fn integer_power(x: i64, y: i64) -> i64 {
    match (u32::try_from(y), x) {
        (Ok(y), x) => x.wrapping_pow(y),
        // Large powers of even numbers are 0 in every type; those of odd numbers wrap around.
        (Err(_), x) if y > 0 => {
            let (mut made, mut base, mut left) = (1i64, x, y);
            while left > 0 {
                if left & 1 == 1 {
                    made = made.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            made
        }
        // 1 and -1 are the only integers whose inverses are integers.
        (Err(_), 1) => 1,
        (Err(_), -1) => {
            if y % 2 == 0 {
                1
            } else {
                -1
            }
        }
        (Err(_), _) => 0,
    }
}

/// A power by a number: torch takes roots and products for the common ones.
fn power_of_number(a: Wide, b: Wide, dtype: DType) -> Answer<Wide> {
    let step = operand::step(dtype);
    // No roots are taken of `c10::Half`.
    let roots = dtype != DType::Float16;
    let power = match &b {
        Wide::Float(b) => b.iter().next().copied().unwrap_or(0.0),
        Wide::Int(_) => return binary(a, b, f64::powf, integer_power),
    };
    binary(
        a,
        b,
        |x, y| {
            if power == 0.5 && roots {
                x.sqrt()
            } else if power == -0.5 && roots {
                1.0 / step(x.sqrt())
            } else if power == 2.0 {
                x * x
            } else if power == 3.0 {
                step(x * x) * x
            } else if power == -1.0 {
                1.0 / x
            } else if power == -2.0 {
                1.0 / step(x * x)
            } else {
                x.powf(y)
            }
        },
        integer_power,
    )
}

fn comparison(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let (dtype, _) = operand::types(args.name, &x, &y);
    let made = compare(brought(&x, dtype, args)?, brought(&y, dtype, args)?, args.name)?;
    made.tensor_like(DType::Bool, device, &[&x, &y]).map(Value::Tensor)
}

fn logic(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.next(), args.next());
    let device = device_of(&[&x, &y], args);
    let dtype = result_type(&[&x, &y]);
    let a = brought(&x, dtype, args)?;
    if args.name == "logical_not" {
        return Wide::Int(sweep::replaced(a.truth(), |v| 1 - v)).tensor(DType::Bool, device).map(Value::Tensor);
    }
    if args.name == "bitwise_not" && !dtype.is_float() {
        let flip = |v: i64| if dtype == DType::Bool { 1 - v } else { !v };
        return Wide::Int(sweep::replaced(a.ints(), flip)).tensor(dtype, device).map(Value::Tensor);
    }
    let b = if args.name == "bitwise_not" { a.clone() } else { brought(&y, dtype, args)? };
    if args.name.starts_with("bitwise") {
        let shifts = args.name.ends_with("_shift");
        if dtype.is_float() || shifts && dtype == DType::Bool {
            let name = match args.name {
                "bitwise_left_shift" => "lshift",
                "bitwise_right_shift" => "rshift",
                name => name,
            };
            let message = format!("\"{name}_cpu\" not implemented for '{}'", super::super::value::cpp_name(dtype));
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
    let made = zip(&a.truth(), &b.truth(), |x, y| match args.name {
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
    let end = |value: &Value, is_low: bool| match value {
        Value::Tensor(_) => brought(value, dtype, args),
        value => operand::bound(value, dtype, is_low),
    };
    // A bound that is NaN makes every number NaN.
    let mut made = brought(&x, dtype, args)?;
    if !matches!(low, Value::None) {
        let keep = |x: f64, y: f64| if y.is_nan() || x < y { y } else { x };
        made = binary(made, end(&low, true)?, |x, y| if x.is_nan() { x } else { keep(x, y) }, i64::max)?;
    }
    if !matches!(high, Value::None) {
        let keep = |x: f64, y: f64| if y.is_nan() || x > y { y } else { x };
        made = binary(made, end(&high, false)?, |x, y| if x.is_nan() { x } else { keep(x, y) }, i64::min)?;
    }
    made.tensor(dtype, device).map(Value::Tensor)
}

fn signbit(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let made = match Wide::of(&x) {
        Wide::Float(a) => sweep::map(a.view(), |v| i64::from(v.is_sign_negative())),
        Wide::Int(a) => sweep::map(a.view(), |v| i64::from(v < 0)),
    };
    Wide::Int(made).tensor(DType::Bool, x.device()).map(Value::Tensor)
}

fn classified(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let f = match args.name {
        "isnan" => f64::is_nan,
        "isinf" => f64::is_infinite,
        _ => f64::is_finite,
    };
    let made = match Wide::of(&x) {
        Wide::Float(a) => sweep::map(a.view(), |v| i64::from(f(v))),
        Wide::Int(a) => sweep::map(a.view(), |_| i64::from(args.name == "isfinite")),
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
    Wide::Float(sweep::placed(&shape, |_| next())).tensor(x.dtype(), x.device()).map(Value::Tensor)
}

/// The first ones of elements side by side where a truth value says so, else the second ones.
fn chosen<T: Copy>(cond: ArrayViewD<'_, i64>, a: ArrayViewD<'_, T>, b: ArrayViewD<'_, T>) -> ArrayD<T> {
    let mut made = sweep::owned(b);
    Zip::from(&mut made).and(cond).and(a).sweep(|(to, c, x)| {
        if *c != 0 {
            *to = *x;
        }
    });
    made
}

fn choose(args: &mut Args<'_>) -> Answer<Value> {
    let cond = args.tensor()?;
    let (x, y) = (args.next(), args.next());
    let (dtype, device) = (result_type(&[&x, &y]), cond.device());
    // Numbers are converted with a check, except to 16-bit types, where torch goes by way of `double`.
    let side = |value: &Value| match value {
        Value::Tensor(_) => brought(value, dtype, args),
        value if dtype.is_float() && dtype.size() == 2 => brought(value, dtype, args),
        value => operand::checked(value, dtype),
    };
    let (a, b) = (side(&x)?, side(&y)?);
    let shape = broadcast(&broadcast(&a.shape(), &b.shape())?, cond.shape())?;
    room(&shape)?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    let cond = Wide::of(&cond).ints();
    let misfit = || (Exception::Runtime, "shapes that do not broadcast".to_owned());
    let cond = cond.broadcast(IxDyn(&shape)).ok_or_else(misfit)?;
    let made = if dtype.is_float() {
        let (a, b) = (a.floats(), b.floats());
        let (a, b) = (a.broadcast(IxDyn(&shape)).ok_or_else(misfit)?, b.broadcast(IxDyn(&shape)).ok_or_else(misfit)?);
        Wide::Float(chosen(cond, a, b))
    } else {
        let (a, b) = (a.ints(), b.ints());
        let (a, b) = (a.broadcast(IxDyn(&shape)).ok_or_else(misfit)?, b.broadcast(IxDyn(&shape)).ok_or_else(misfit)?);
        Wide::Int(chosen(cond, a, b))
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
    let value = match &value {
        Value::Tensor(_) => brought(&value, x.dtype(), args)?,
        value => operand::checked(value, x.dtype())?,
    };
    value.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

//! Factories.

use ndarray::{ArrayD, IxDyn};

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor};
use super::super::value::Value;
use super::super::work;
use super::args::{Args, not_implemented, room};
use super::wide::Wide;
use super::{operand, sweep};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(
        match args.name {
            "empty" | "zeros" | "ones" | "rand" | "randn" => sized(args),
            "full" => full(args),
            "empty_like" | "zeros_like" | "ones_like" | "rand_like" | "randn_like" | "full_like" => like(args),
            "arange" => arange(args),
            "linspace" => linspace(args),
            "eye" => eye(args),
            "tensor" => tensor(args),
            _ => return None,
        }
        .map(Value::Tensor),
    )
}

/// Element type (if said) and device of options: `[dtype or none, device or none]`.
fn options(args: &mut Args<'_>) -> Answer<(Option<DType>, DeviceTag)> {
    let device = args.device;
    match args.next() {
        Value::List(parts) => {
            let dtype = parts.iter().find_map(|v| if let Value::DType(d) = v { Some(*d) } else { None });
            let said = parts.iter().find_map(|v| if let Value::Device(d) = v { Some(*d) } else { None });
            Ok((dtype, said.unwrap_or(device)))
        }
        Value::None => Ok((None, device)),
        other => args.misfit(&other, "TensorOptions"),
    }
}

/// A tensor filled according to the factory's name.
fn filled(name: &str, dtype: DType, shape: &[i64], device: DeviceTag) -> Answer<HostTensor> {
    let made = HostTensor::new(dtype, shape, device, name != "empty")?;
    match name {
        "ones" => Wide::Int(ArrayD::from_elem(IxDyn(&[]), 1)).write(&made)?,
        "rand" | "randn" => {
            if !dtype.is_float() {
                let message = format!("\"{name}\" not implemented for '{}'", super::super::value::cpp_name(dtype));
                return Err((Exception::NotImplemented, message));
            }
            room(shape)?;
            let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
            let normal = name == "randn";
            let values = sweep::placed(&shape, |_| if normal { random::normal() } else { random::uniform() });
            Wide::Float(values).write(&made)?;
        }
        _ => {}
    }
    Ok(made)
}

fn sized(args: &mut Args<'_>) -> Answer<HostTensor> {
    let shape = args.ints()?;
    let (dtype, device) = options(args)?;
    filled(args.name, dtype.unwrap_or(DType::Float32), &shape, device)
}

fn scalar(value: &Value, args: &Args<'_>) -> Answer<(Wide, DType)> {
    Ok(match value {
        Value::Bool(b) => (Wide::Int(ArrayD::from_elem(IxDyn(&[]), i64::from(*b))), DType::Bool),
        Value::Int(i) => (Wide::Int(ArrayD::from_elem(IxDyn(&[]), *i)), DType::Int64),
        Value::Float(x) => (Wide::Float(ArrayD::from_elem(IxDyn(&[]), *x)), DType::Float32),
        other => return args.misfit(other, "a number"),
    })
}

fn full(args: &mut Args<'_>) -> Answer<HostTensor> {
    let shape = args.ints()?;
    let value = args.next();
    let (dtype, device) = options(args)?;
    let (_, own) = scalar(&value, args)?;
    let dtype = dtype.unwrap_or(own);
    let made = HostTensor::new(dtype, &shape, device, true)?;
    operand::checked(&value, dtype)?.write(&made)?;
    Ok(made)
}

fn like(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let value = if args.name == "full_like" { Some(args.next()) } else { None };
    let device = std::mem::replace(&mut args.device, x.device());
    let (dtype, on) = options(args)?;
    args.device = device;
    let dtype = dtype.unwrap_or(x.dtype());
    if let Some(value) = value {
        let made = x.new_like(dtype, on)?;
        operand::checked(&value, dtype)?.write(&made)?;
        return Ok(made);
    }
    Ok(filled(args.name.trim_end_matches("_like"), dtype, x.shape(), on)?.ordered_as(&x))
}

/// `arange(start, end, step, options)`
fn arange(args: &mut Args<'_>) -> Answer<HostTensor> {
    let parts = [args.next(), args.next(), args.next()];
    let (dtype, device) = options(args)?;
    let whole = parts.iter().all(|v| matches!(v, Value::Int(_)));
    let number = |v: &Value| match v {
        Value::Int(i) => *i as f64,
        Value::Float(x) => *x,
        _ => 0.0,
    };
    let [start, end, step] = [number(&parts[0]), number(&parts[1]), number(&parts[2])];
    if step == 0.0 || (step > 0.0 && start > end) || (step < 0.0 && start < end) {
        let message = "step must be nonzero, and upper bound and lower bound consistent with its sign".to_owned();
        return Err((Exception::Runtime, message));
    }
    if dtype == Some(DType::Bool) {
        return not_implemented("arange_cpu", DType::Bool);
    }
    let n = match (&parts, dtype) {
        // Doubles would round large integers.
        ([Value::Int(start), Value::Int(end), Value::Int(step)], None | Some(DType::Int64)) => {
            let (start, end, step) = (i128::from(*start), i128::from(*end), i128::from(*step));
            ((end - start + step - step.signum()) / step) as f64
        }
        _ => ((end - start) / step).ceil(),
    };
    if !n.is_finite() || n > 1e12 {
        return Err((Exception::Memory, "a range of too many elements".to_owned()));
    }
    room(&[n as i64])?;
    let dtype = dtype.unwrap_or(if whole { DType::Int64 } else { DType::Float32 });
    // Integers are counted in 64 bits, 16-bit floats in `float`, others in `double`.
    let kind = match dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        dtype if dtype.is_float() => DType::Float64,
        _ => DType::Int64,
    };
    let [start, step] = [operand::checked(&parts[0], kind)?, operand::checked(&parts[2], kind)?];
    operand::checked(&parts[1], kind)?;
    let values = match (start, step) {
        (Wide::Int(start), Wide::Int(step)) => {
            let (start, step) = (operand::only(&start), operand::only(&step));
            Wide::Int(sweep::placed(&[n as usize], |i| start.wrapping_add(step.wrapping_mul(i[0] as i64))))
        }
        (start, step) => {
            let (start, step) = (operand::only(&start.floats()), operand::only(&step.floats()));
            Wide::Float(sweep::placed(&[n as usize], |i| start + step * i[0] as f64))
        }
    };
    values.tensor(dtype, device)
}

/// `linspace(start, end, steps, options)`
fn linspace(args: &mut Args<'_>) -> Answer<HostTensor> {
    let (ends, steps) = ([args.next(), args.next()], args.int(0)?);
    let (dtype, device) = options(args)?;
    let dtype = dtype.unwrap_or(DType::Float32);
    if dtype == DType::Bool {
        return not_implemented("linspace_cpu", dtype);
    }
    let [start, end] = [operand::checked(&ends[0], dtype)?, operand::checked(&ends[1], dtype)?];
    let (start, end) = (operand::only(&start.floats()), operand::only(&end.floats()));
    if !(0..1 << 40).contains(&steps) {
        return Err((Exception::Runtime, "number of steps must be non-negative".to_owned()));
    }
    room(&[steps])?;
    let (n, last) = (steps as usize, (steps - 1).max(1) as f64);
    // Elements are counted from both ends, as torch does: the last is `end` itself.
    let at = |i: usize| {
        let step = (end - start) / last;
        if i < n / 2 || n == 1 { start + step * i as f64 } else { end - step * (n - 1 - i) as f64 }
    };
    Wide::Float(sweep::placed(&[n], |i| at(i[0]))).tensor(dtype, device)
}

fn eye(args: &mut Args<'_>) -> Answer<HostTensor> {
    let n = args.int(0)?;
    let m = args.int(n)?;
    let (dtype, device) = options(args)?;
    let made = HostTensor::new(dtype.unwrap_or(DType::Float32), &[n, m], device, true)?;
    room(&[n, m])?;
    let ones = sweep::placed(&[n as usize, m as usize], |i| i64::from(i[0] == i[1]));
    Wide::Int(ones).write(&made)?;
    Ok(made)
}

/// `torch::tensor({...}, options)`, of numbers in a list.
fn tensor(args: &mut Args<'_>) -> Answer<HostTensor> {
    let given = args.next();
    let (dtype, device) = options(args)?;
    let Value::List(all) = &given else {
        let (value, own) = scalar(&given, args)?;
        return value.tensor(dtype.unwrap_or(own), device);
    };
    let whole = all.iter().all(|v| matches!(v, Value::Int(_) | Value::Bool(_)));
    let numbers = all.iter().map(|v| match v {
        Value::Int(i) => *i as f64,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Float(x) => *x,
        _ => f64::NAN,
    });
    let truth = !all.is_empty() && all.iter().all(|v| matches!(v, Value::Bool(_)));
    let own = if truth {
        DType::Bool
    } else if whole {
        DType::Int64
    } else {
        DType::Float32
    };
    let values = if whole {
        let ints =
            all.iter().map(|v| if let Value::Int(i) = v { *i } else { i64::from(matches!(v, Value::Bool(true))) });
        Wide::Int(ndarray::Array1::from_vec(work::collected(all.len(), ints)).into_dyn())
    } else {
        Wide::Float(ndarray::Array1::from_vec(work::collected(all.len(), numbers)).into_dyn())
    };
    values.tensor(dtype.unwrap_or(own), device)
}

/// Random numbers: one stream a process, which [`super::seed`] begins anew.
pub mod random {
    use std::sync::{Mutex, PoisonError};

    static STATE: Mutex<u64> = Mutex::new(0x9E37_79B9_7F4A_7C15);

    /// Begins the stream anew.
    pub fn seed(value: u64) {
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = value ^ 0x9E37_79B9_7F4A_7C15;
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    fn next() -> u64 {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1), of 24 bits, so that rounding to `float` never gives 1.
    pub fn uniform() -> f64 {
        (next() >> 40) as f64 / (1u64 << 24) as f64
    }

    /// A number of the normal distribution (Box and Muller, 1958).
    pub fn normal() -> f64 {
        let u = ((next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let v = (next() >> 11) as f64 / (1u64 << 53) as f64;
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

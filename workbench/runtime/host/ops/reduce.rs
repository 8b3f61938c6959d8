//! Reductions.

use ndarray::{ArrayD, Axis, IxDyn};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::super::work;
use super::args::Args;
use super::operand;
use super::sweep::{self, along};
use super::wide::Wide;
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "sum" | "mean" | "prod" | "any" | "all" | "var" | "std" | "norm" | "amax" | "amin" => reduce(args),
        "max" | "min" => extreme(args),
        "argmax" | "argmin" => index_of(args),
        "softmax" | "log_softmax" => softmax(args),
        "equal" => equal(args),
        "allclose" => allclose(args),
        _ => return None,
    })
}

/// The dimensions to reduce; none said: all.
fn axes(value: &Value, x: &HostTensor, args: &Args<'_>) -> Answer<Vec<usize>> {
    let mut all = match value {
        Value::None => (0..x.dim()).collect(),
        Value::Int(i) => vec![x.axis(*i)?],
        Value::List(list) if list.is_empty() => (0..x.dim()).collect(),
        Value::List(list) => {
            let mut axes = Vec::new();
            for v in list {
                match v {
                    Value::Int(i) => axes.push(x.axis(*i)?),
                    other => return args.misfit(other, "int"),
                }
            }
            axes
        }
        other => return args.misfit(other, "a dimension or a list of them"),
    };
    all.sort_unstable();
    if let Some(two) = all.windows(2).find(|two| two[0] == two[1]) {
        let message = format!("dim {} appears multiple times in the list of dims", two[0]);
        return Err((Exception::Runtime, message));
    }
    all.retain(|a| *a < x.dim());
    Ok(all)
}

/// Every lane over some dimensions, folded to one number; the dimensions stay with extent 1 when `keep` is set.
fn folded<T: Copy, U: Clone>(a: &ArrayD<T>, axes: &[usize], keep: bool, mut fold: impl FnMut(&[T]) -> U) -> ArrayD<U> {
    let rest: Vec<usize> = (0..a.ndim()).filter(|i| !axes.contains(i)).collect();
    let order: Vec<usize> = rest.iter().chain(axes).copied().collect();
    let outer: Vec<usize> = rest.iter().map(|i| a.shape()[*i]).collect();
    let inner: usize = axes.iter().map(|i| a.shape()[*i]).product();
    let count: usize = outer.iter().product();
    let lanes = sweep::flat(a.view().permuted_axes(IxDyn(&order)));
    let values = work::collected(count, (0..count).map(|i| fold(&lanes[i * inner..(i + 1) * inner])));
    let shape: Vec<usize> =
        if keep { (0..a.ndim()).map(|i| if axes.contains(&i) { 1 } else { a.shape()[i] }).collect() } else { outer };
    ArrayD::from_shape_vec(IxDyn(&shape), values).expect("as many values as the shape holds")
}

/// All elements of a lane combined: eight strands side by side, which are joined at the end.
fn strands(lane: &[f64], none: f64, join: impl Fn(f64, f64) -> f64) -> f64 {
    const STRANDS: usize = 8;
    let (rows, rest) = lane.as_chunks::<STRANDS>();
    let mut strands = [none; STRANDS];
    for piece in rows.chunks(work::PERIOD / STRANDS) {
        for row in piece {
            for (strand, x) in strands.iter_mut().zip(row) {
                *strand = join(*strand, *x);
            }
        }
        work::ticks(piece.len());
    }
    let joined = (0..STRANDS / 2).fold(none, |all, i| join(all, join(strands[i], strands[i + STRANDS / 2])));
    rest.iter().fold(joined, |all, x| join(all, *x))
}

fn sum(lane: &[f64]) -> f64 {
    strands(lane, 0.0, |a, b| a + b)
}

fn product_of_all(lane: &[f64]) -> f64 {
    strands(lane, 1.0, |a, b| a * b)
}

fn reduce(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let over = args.next();
    // The forms `norm(p)` and `var(unbiased)` reduce all dimensions.
    let (over, p) = match (args.name, over) {
        ("norm", Value::Float(p)) => (Value::None, p),
        ("norm", Value::Int(p)) => (Value::None, p as f64),
        (_, other) => (other, 2.0),
    };
    let axes = axes(&over, &x, args)?;
    let keep = matches!(args.next(), Value::Bool(true));
    let said = match args.next() {
        Value::DType(d) => Some(d),
        _ => None,
    };
    // `var` and `std`: Bessel's correction.
    let correction = if matches!(args.next(), Value::Bool(false)) { 0.0 } else { 1.0 };
    // `norm(p, dim, keepdim)`
    let p = match args.next() {
        Value::Float(p) => p,
        Value::Int(p) => p as f64,
        _ => p,
    };
    let name = args.name;
    let whole = !x.dtype().is_float();
    if let ("mean" | "var" | "std" | "norm", true, None) = (name, whole, said) {
        let message = format!(
            "{name}(): could not infer output dtype. Input dtype must be either a floating point or \
             complex dtype. Got: {}",
            super::super::value::cpp_name(x.dtype())
        );
        return Err((Exception::NotImplemented, message));
    }
    let empty = axes.iter().any(|a| x.shape()[*a] == 0);
    if empty && matches!(name, "amax" | "amin") {
        return Err((Exception::Index, format!("{name}(): Expected reduction dim to have non-zero size.")));
    }
    let dtype = said.unwrap_or(match name {
        "any" | "all" if x.dtype() == DType::UInt8 => DType::UInt8,
        "any" | "all" => DType::Bool,
        "sum" | "prod" if whole => DType::Int64,
        _ => x.dtype(),
    });
    // A type that is given is that of the elements that are combined.
    let given = if said.is_some() { Wide::of(&x).brought(dtype) } else { Wide::of(&x) };
    let made = match given {
        Wide::Int(a) if matches!(name, "any" | "all") => {
            let any = name == "any";
            Wide::Int(folded(&a, &axes, keep, |l| {
                i64::from(if any { along(l).any(|v| *v != 0) } else { along(l).all(|v| *v != 0) })
            }))
        }
        Wide::Int(a) if !dtype.is_float() => Wide::Int(folded(&a, &axes, keep, |l| match name {
            "sum" => along(l).fold(0, |s: i64, v| s.wrapping_add(*v)),
            "prod" => along(l).fold(1, |s: i64, v| s.wrapping_mul(*v)),
            "amax" => along(l).copied().max().unwrap_or(0),
            _ => along(l).copied().min().unwrap_or(0),
        })),
        wide => {
            let a = wide.floats();
            Wide::Float(folded(&a, &axes, keep, |l| {
                let n = l.len() as f64;
                let spread = || {
                    let mean = sum(l) / n;
                    let spread = along(l).map(|v| (v - mean) * (v - mean)).sum::<f64>();
                    if n <= correction { f64::NAN } else { spread / (n - correction) }
                };
                match name {
                    "sum" => sum(l),
                    "prod" => product_of_all(l),
                    "mean" => sum(l) / n,
                    "var" => spread(),
                    "std" => spread().sqrt(),
                    "norm" if p == 0.0 => along(l).filter(|v| **v != 0.0).count() as f64,
                    "norm" if p == 1.0 => along(l).map(|v| v.abs()).sum(),
                    "norm" if p == 2.0 => along(l).map(|v| v * v).sum::<f64>().sqrt(),
                    "norm" if p.is_infinite() && along(l).any(|v| v.is_nan()) => f64::NAN,
                    "norm" if p == f64::INFINITY => along(l).fold(0.0, |m: f64, v| m.max(v.abs())),
                    "norm" if p == f64::NEG_INFINITY => along(l).fold(f64::INFINITY, |m: f64, v| m.min(v.abs())),
                    // Powers may overflow the type in which torch adds them up, so each step is rounded to it.
                    "norm" => {
                        let step = operand::step(dtype);
                        let p = step(p);
                        let all = along(l).fold(0.0, |all, v| step(all + step(v.abs().powf(p))));
                        all.powf(step(1.0 / p))
                    }
                    "any" => f64::from(u8::from(along(l).any(|v| *v != 0.0))),
                    "all" => f64::from(u8::from(along(l).all(|v| *v != 0.0))),
                    "amax" => along(l).copied().fold(f64::NEG_INFINITY, |m, v| if m.is_nan() || m > v { m } else { v }),
                    _ => along(l).copied().fold(f64::INFINITY, |m, v| if m.is_nan() || m < v { m } else { v }),
                }
            }))
        }
    };
    made.tensor(dtype, x.device()).map(Value::Tensor)
}

/// The place of the largest (or smallest) of a lane: the first of equals, NaN before all.
fn place<T: PartialOrd + Copy>(lane: &[T], largest: bool) -> usize {
    let mut best = 0;
    for (i, v) in along(lane).enumerate() {
        let b = lane[best];
        let is_nan = |v: T| v.partial_cmp(&v).is_none();
        if is_nan(b) {
            break;
        }
        if is_nan(*v) || (if largest { *v > b } else { *v < b }) {
            best = i;
        }
    }
    best
}

fn no_elements(name: &str) -> (Exception, String) {
    (Exception::Index, format!("{name}(): Expected reduction dim to be specified for input.numel() == 0."))
}

fn extreme(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let largest = args.name == "max";
    match args.next() {
        Value::Tensor(y) => {
            let name = if largest { "maximum" } else { "minimum" };
            super::run(name, vec![Value::Tensor(x), Value::Tensor(y)], args.device)
        }
        Value::None if x.numel() == 0 => Err(no_elements(args.name)),
        Value::None => {
            let name = if largest { "amax" } else { "amin" };
            super::run(name, vec![Value::Tensor(x)], args.device)
        }
        Value::Int(i) => {
            let at = x.axis(i)?;
            let keep = matches!(args.next(), Value::Bool(true));
            if x.shape().get(at) == Some(&0) {
                return Err(no_elements(args.name));
            }
            let axes: Vec<usize> = if x.dim() == 0 { Vec::new() } else { vec![at] };
            let (values, places) = match Wide::of(&x) {
                Wide::Float(a) => {
                    let places = folded(&a, &axes, keep, |l| place(l, largest) as i64);
                    (Wide::Float(folded(&a, &axes, keep, |l| l[place(l, largest)])), places)
                }
                Wide::Int(a) => {
                    let places = folded(&a, &axes, keep, |l| place(l, largest) as i64);
                    (Wide::Int(folded(&a, &axes, keep, |l| l[place(l, largest)])), places)
                }
            };
            let values = values.tensor(x.dtype(), x.device())?;
            let places = Wide::Int(places).tensor(DType::Int64, x.device())?;
            Ok(Value::List(vec![Value::Tensor(values), Value::Tensor(places)]))
        }
        other => args.misfit(&other, "Tensor or a dimension"),
    }
}

fn index_of(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let largest = args.name == "argmax";
    if x.dtype() == DType::Bool {
        return Err((Exception::NotImplemented, format!("{}(): does not support bool input", args.name)));
    }
    let over = args.next();
    let keep = matches!(args.next(), Value::Bool(true));
    let axes = axes(&over, &x, args)?;
    if axes.iter().any(|a| x.shape()[*a] == 0) {
        return Err(no_elements(args.name));
    }
    let places = match Wide::of(&x) {
        Wide::Float(a) => folded(&a, &axes, keep, |l| place(l, largest) as i64),
        Wide::Int(a) => folded(&a, &axes, keep, |l| place(l, largest) as i64),
    };
    Wide::Int(places).tensor(DType::Int64, x.device()).map(Value::Tensor)
}

fn softmax(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(-1)?)?;
    let dtype = args.dtype()?.unwrap_or(x.dtype());
    if !dtype.is_float() {
        let message = format!(
            "\"softmax_lastdim_kernel_impl\" not implemented for '{}'",
            super::super::value::cpp_name(x.dtype())
        );
        return Err((Exception::NotImplemented, message));
    }
    let mut a = Wide::of(&x).floats();
    let log = args.name == "log_softmax";
    if x.dim() == 0 {
        a.fill(if log { 0.0 } else { 1.0 });
    } else {
        for mut lane in a.lanes_mut(Axis(at)) {
            let most = sweep::counted(&lane).copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = sweep::counted(&lane).map(|v| (v - most).exp()).sum();
            let whole = |v: f64| if log { v - most - sum.ln() } else { (v - most).exp() / sum };
            sweep::counted(&mut lane).for_each(|v| *v = whole(*v));
        }
    }
    Wide::Float(a).tensor(dtype, x.device()).map(Value::Tensor)
}

fn equal(args: &mut Args<'_>) -> Answer<Value> {
    let (a, b) = (args.tensor()?, args.tensor()?);
    let same = a.shape() == b.shape()
        && match (Wide::of(&a), Wide::of(&b)) {
            (Wide::Int(a), Wide::Int(b)) => sweep::counted(&a).eq(&b),
            (a, b) => sweep::counted(&a.floats()).eq(&b.floats()),
        };
    Ok(Value::Bool(same))
}

/// `allclose(a, b, rtol, atol)`
fn allclose(args: &mut Args<'_>) -> Answer<Value> {
    let (a, b) = (args.tensor()?, args.tensor()?);
    let (rtol, atol) = (args.float(1e-5)?, args.float(1e-8)?);
    if a.dtype() != b.dtype() {
        let name = super::super::value::cpp_name;
        return Err((Exception::Runtime, format!("{} did not match {}", name(a.dtype()), name(b.dtype()))));
    }
    super::broadcast::broadcast(a.shape(), b.shape())?;
    let (a, b) = (Wide::of(&a).floats(), Wide::of(&b).floats());
    let close = |x: f64, y: f64| x == y || (y.is_finite() && (x - y).abs() <= atol + rtol * y.abs());
    let all = super::elementwise::zip(&a, &b, close)?;
    Ok(Value::Bool(sweep::counted(&all).all(|c| *c)))
}

//! Derivatives of reductions and of normalisations by them.

use super::saved_variables::{Operation, Reads, Results};
use super::{
    Answer, HostTensor, Made, Step, Value, add, binary, ints, masked, mul, op, reshaped, scaled, tensor, unary,
};

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "softmax" | "log_softmax" => Reads::results(of, Results::All),
        "sum" | "mean" | "cumsum" => Reads::none(of),
        "sort" | "topk" | "cummax" | "cummin" => Reads::results(of, Results::Places),
        // The operation gives places beside values.
        "max" | "min" if matches!(of.args.get(1), Some(Value::Int(_))) => Reads::results(of, Results::Places),
        "norm" | "amax" | "amin" | "max" | "min" | "logsumexp" | "std" => Reads::all(of, Results::All),
        // The last tensor is added to the result of the others.
        "layer_norm" => Reads::tensors(of, |i| i == 0 || i == 1 && of.is_tensor(2)),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    Some(match step.name {
        "sum" | "mean" => step.each(|_| {
            let (g, count) = spread(step, step.grad()?)?;
            let g = if step.name == "mean" { scaled(&g, 1.0 / count)? } else { g };
            op("expand", vec![g, ints(step.tensor(0)?.shape().iter().copied())]).map(Some)
        }),
        "var" | "std" => step.each(|_| spread_of_values(step).map(Some)),
        "norm" => step.each(|_| norm(step).map(Some)),
        // Ties share the gradient.
        "amax" | "amin" => step.each(|_| {
            let (g, _) = spread(step, step.grad()?)?;
            let (y, _) = spread(step, step.result()?)?;
            extreme(step, &g, &y, &axes(step)?).map(Some)
        }),
        "max" | "min" if step.results.len() == 1 => step.each(|_| {
            let all: Vec<i64> = (0..step.tensor(0)?.dim() as i64).collect();
            let is_nan = unary("isnan", &step.arg(0))?;
            let is_it = binary("logical_or", &binary("eq", &step.arg(0), &step.result()?)?, &is_nan)?;
            shared(step, &step.grad()?, &is_it, &all).map(Some)
        }),
        "max" | "min" => {
            step.each(|_| picked(step, step.number(1, 0.0)? as i64, step.number(2, 0.0)? != 0.0).map(Some))
        }
        "cummax" | "cummin" => step.each(|_| picked(step, step.number(1, 0.0)? as i64, true).map(Some)),
        "sort" => step.each(|_| picked(step, step.number(1, -1.0)? as i64, true).map(Some)),
        "topk" => step.each(|_| picked(step, step.number(2, -1.0)? as i64, true).map(Some)),
        "softmax" => step.each(|_| {
            let (g, y) = (step.grad()?, step.result()?);
            let inner = along(step, &mul(&g, &y)?)?;
            mul(&y, &binary("sub", &g, &inner)?).map(Some)
        }),
        "log_softmax" => step.each(|_| {
            let (g, y) = (step.grad()?, step.result()?);
            let all = along(step, &g)?;
            binary("sub", &g, &mul(&unary("exp", &y)?, &all)?).map(Some)
        }),
        "logsumexp" => step.each(|_| {
            let (g, _) = spread(step, step.grad()?)?;
            let (y, _) = spread(step, step.result()?)?;
            mul(&g, &unary("exp", &binary("sub", &step.arg(0), &y)?)?).map(Some)
        }),
        "cumsum" => step.each(|_| {
            let turn = |a: Value| op("flip", vec![a, ints([step.number(1, 0.0)? as i64])]);
            turn(op("cumsum", vec![turn(step.grad()?)?, step.arg(1)])?).map(Some)
        }),
        "layer_norm" => layer_norm(step),
        _ => return None,
    })
}

/// The sum over the dimension that the second argument says, which stays.
fn along(step: &Step<'_>, a: &Value) -> Answer<Value> {
    op("sum", vec![a.clone(), ints([step.number(1, -1.0)? as i64]), Value::Bool(true)])
}

/// The dimensions that are reduced: those of the second argument, or all.
fn axes(step: &Step<'_>) -> Answer<Vec<i64>> {
    let x = step.tensor(0)?;
    let mut all: Vec<i64> = match step.arg(1) {
        Value::Int(d) => vec![x.axis(d)? as i64],
        Value::List(dims) if !dims.is_empty() => {
            let one =
                |d: &Value| if let Value::Int(d) = d { x.axis(*d).map(|d| d as i64) } else { step.unknown("argument") };
            dims.iter().map(one).collect::<Answer<_>>()?
        }
        _ => (0..x.dim() as i64).collect(),
    };
    all.retain(|d| *d < x.dim() as i64);
    Ok(all)
}

/// A tensor of the result's shape with the dimensions that were reduced, of extent 1; and the number of elements reduced to one.
fn spread(step: &Step<'_>, a: Value) -> Answer<(Value, f64)> {
    let axes = axes(step)?;
    let x = step.tensor(0)?;
    let kept = x.shape().iter().enumerate().map(|(d, n)| if axes.contains(&(d as i64)) { 1 } else { *n });
    let kept: Vec<i64> = kept.collect();
    let count: i64 = axes.iter().map(|d| x.shape()[*d as usize]).product();
    Ok((reshaped(&a, &kept)?, count as f64))
}

/// The gradient of `amax`: a NaN among the elements reduced gives a NaN gradient.
fn extreme(step: &Step<'_>, g: &Value, y: &Value, axes: &[i64]) -> Answer<Value> {
    let made = shared(step, g, &binary("eq", &step.arg(0), y)?, axes)?;
    let is_nan = op("expand", vec![unary("isnan", y)?, ints(step.tensor(0)?.shape().iter().copied())])?;
    op("masked_fill", vec![made, is_nan, Value::Float(f64::NAN)])
}

/// The share of the gradient of each element that `is_it` marks.
fn shared(step: &Step<'_>, g: &Value, is_it: &Value, axes: &[i64]) -> Answer<Value> {
    let mask = op("to", vec![is_it.clone(), Value::DType(step.tensor(0)?.dtype())])?;
    let count =
        if axes.is_empty() { mask } else { op("sum", vec![mask, ints(axes.iter().copied()), Value::Bool(true)])? };
    let share = binary("div", g, &count)?;
    let whole = op("expand", vec![share, ints(step.tensor(0)?.shape().iter().copied())])?;
    masked(&whole, is_it)
}

/// Puts the gradient back at the places along a dimension that the second result gives.
fn picked(step: &Step<'_>, dim: i64, keeps: bool) -> Answer<Value> {
    let x = step.tensor(0)?;
    let Some(places) = step.results.get(1).cloned() else { return step.unknown("result") };
    let (mut g, mut places) = (step.grad()?, Value::Tensor(places));
    if x.dim() == 0 {
        return Ok(g);
    }
    if !keeps {
        g = op("unsqueeze", vec![g, Value::Int(dim)])?;
        places = op("unsqueeze", vec![places, Value::Int(dim)])?;
    }
    let dtype = tensor(g.clone())?.dtype();
    let zeros = Value::Tensor(HostTensor::new(dtype, x.shape(), x.device(), true)?);
    op("scatter_add", vec![zeros, Value::Int(dim), places, g])
}

/// `var` and `std`: the last argument is true for the unbiased form.
fn spread_of_values(step: &Step<'_>) -> Answer<Value> {
    let (g, count) = spread(step, step.grad()?)?;
    let axes = ints(axes(step)?);
    let mean = op("mean", vec![step.arg(0), axes, Value::Bool(true)])?;
    let unbiased = step.number(4, 1.0)?;
    let off = binary("sub", &step.arg(0), &mean)?;
    let made = scaled(&mul(&g, &off)?, 2.0 / (count - unbiased))?;
    if step.name == "var" {
        return Ok(made);
    }
    let (y, _) = spread(step, step.result()?)?;
    let over = binary("div", &made, &scaled(&y, 2.0)?)?;
    masked_where(&over, &y)
}

/// `a`, with zeros where `y` is zero.
fn masked_where(a: &Value, y: &Value) -> Answer<Value> {
    let is_there = binary("ne", y, &Value::Int(0))?;
    let shape = tensor(a.clone())?;
    let is_there = op("expand", vec![is_there, ints(shape.shape().iter().copied())])?;
    masked(a, &is_there)
}

fn norm(step: &Step<'_>) -> Answer<Value> {
    // The norm is `norm(p)` of all elements, or `norm(dims, keep, .., .., p)`.
    let whole = step.args.len() <= 2;
    let p = if whole { step.number(1, 2.0)? } else { step.number(5, 2.0)? };
    let (g, y) = if whole {
        (step.grad()?, step.result()?)
    } else {
        (spread(step, step.grad()?)?.0, spread(step, step.result()?)?.0)
    };
    let x = step.arg(0);
    if p == 1.0 {
        return mul(&g, &unary("sign", &x)?);
    }
    if p == 2.0 {
        return masked_where(&binary("div", &mul(&x, &g)?, &y)?, &y);
    }
    if p == 0.0 {
        return unary("zeros_like", &x);
    }
    let size = unary("abs", &x)?;
    if p.is_infinite() {
        let is_it = binary("logical_or", &binary("eq", &size, &y)?, &unary("isnan", &x)?)?;
        let axes = if whole { (0..step.tensor(0)?.dim() as i64).collect() } else { axes(step)? };
        return mul(&shared(step, &g, &is_it, &axes)?, &unary("sign", &x)?);
    }
    if p < 1.0 {
        let inner = mul(&unary("sign", &x)?, &binary("pow", &size, &Value::Float(p - 1.0))?)?;
        let outer = mul(&g, &binary("pow", &y, &Value::Float(1.0 - p))?)?;
        return mul(&masked_where(&inner, &x)?, &outer);
    }
    let inner = mul(&x, &binary("pow", &unary("abs", &x)?, &Value::Float(p - 2.0))?)?;
    let inner = masked_where(&inner, &x)?;
    masked_where(&binary("div", &mul(&inner, &g)?, &binary("pow", &y, &Value::Float(p - 1.0))?)?, &y)
}

fn layer_norm(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let x = step.tensor(0)?;
    let Value::List(shape) = step.arg(1) else { return step.unknown("shape") };
    let inner: Vec<i64> = (x.dim() - shape.len()..x.dim()).map(|d| d as i64).collect();
    let outer: Vec<i64> = (0..(x.dim() - shape.len()) as i64).collect();
    let mean = |a: &Value| op("mean", vec![a.clone(), ints(inner.iter().copied()), Value::Bool(true)]);
    let off = binary("sub", &step.arg(0), &mean(&step.arg(0))?)?;
    let spread = add(&mean(&unary("square", &off)?)?, &Value::Float(step.number(4, 1e-5)?))?;
    let scale = unary("rsqrt", &spread)?;
    let normal = mul(&off, &scale)?;
    let over = |a: Value| if outer.is_empty() { Ok(a) } else { op("sum", vec![a, ints(outer.iter().copied())]) };
    let has_weight = step.is_tensor(2);
    step.each(|i| {
        let g = step.grad()?;
        match (i, has_weight) {
            (0, _) => {
                let h = if has_weight { mul(&g, &step.arg(2))? } else { g };
                let flat = binary("sub", &h, &mean(&h)?)?;
                let made = binary("sub", &flat, &mul(&normal, &mean(&mul(&h, &normal)?)?)?)?;
                mul(&made, &scale).map(Some)
            }
            (1, true) => over(mul(&g, &normal)?).map(Some),
            _ => over(g).map(Some),
        }
    })
}

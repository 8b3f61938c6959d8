//! Derivatives of products along a dimension, where zeros cannot be divided by.

use super::saved_variables::{Operation, Reads, Results};
use super::{Answer, Made, Step, Value, binary, dropped, ints, masked, mul, op, reshaped, tensor, unary};

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "prod" | "cumprod" => Reads::all(of, Results::All),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    Some(match step.name {
        "prod" => step.each(|_| product(step).map(Some)),
        "cumprod" => step.each(|_| products(step).map(Some)),
        _ => return None,
    })
}

/// An argument in the type of the result.
fn brought(step: &Step<'_>) -> Answer<Value> {
    let dtype = tensor(step.result()?)?.dtype();
    op("to", vec![step.arg(0), Value::DType(dtype)])
}

/// The sums from each element on to the last one along a dimension.
fn summed_from(a: &Value, dim: i64) -> Answer<Value> {
    let turned = |a: Value| op("flip", vec![a, ints([dim])]);
    turned(op("cumsum", vec![turned(a.clone())?, Value::Int(dim)])?)
}

/// The products of the elements before each along a dimension.
fn before(a: &Value, dim: i64, extent: i64) -> Answer<Value> {
    let first = op("narrow", vec![a.clone(), Value::Int(dim), Value::Int(0), Value::Int(1)])?;
    let rest = op("narrow", vec![a.clone(), Value::Int(dim), Value::Int(0), Value::Int(extent - 1)])?;
    let shifted = op("cat", vec![Value::List(vec![unary("ones_like", &first)?, rest]), Value::Int(dim)])?;
    op("cumprod", vec![shifted, Value::Int(dim)])
}

/// The product of the other elements, for each element: by division where there is no zero.
fn product(step: &Step<'_>) -> Answer<Value> {
    let (mut x, mut g, mut y) = (brought(step)?, step.grad()?, step.result()?);
    let shape = step.tensor(0)?.shape().to_vec();
    if shape.is_empty() {
        return Ok(g);
    }
    if step.tensor(0)?.numel() == 0 {
        return unary("zeros_like", &x);
    }
    let dim = match step.arg(1) {
        Value::Int(dim) => step.tensor(0)?.axis(dim)?,
        _ => {
            x = reshaped(&x, &[-1])?;
            0
        }
    };
    let extents = tensor(x.clone())?.shape().to_vec();
    let mut kept = extents.clone();
    kept[dim] = 1;
    (g, y) = (reshaped(&g, &kept)?, reshaped(&y, &kept)?);
    let zeros = op("any", vec![binary("eq", &x, &Value::Int(0))?])?;
    let others = if matches!(op("item", vec![zeros])?, Value::Bool(true)) {
        let dim = dim as i64;
        let turned = |a: Value| op("flip", vec![a, ints([dim])]);
        let extent = extents[dim as usize];
        let after = turned(before(&turned(x.clone())?, dim, extent)?)?;
        mul(&before(&x, dim, extent)?, &after)?
    } else {
        binary("div", &y, &x)?
    };
    reshaped(&mul(&others, &g)?, &shape)
}

/// The gradient of a running product: before the first zero of a line by division; at it as if it were one; after it
/// nothing.
fn products(step: &Step<'_>) -> Answer<Value> {
    let (x, g, y) = (brought(step)?, step.grad()?, step.result()?);
    if step.tensor(0)?.dim() == 0 {
        return Ok(g);
    }
    let dim = step.number(1, 0.0)? as i64;
    let is_zero = binary("eq", &x, &Value::Int(0))?;
    let count = op("cumsum", vec![is_zero.clone(), Value::Int(dim)])?;
    let is_first = binary("logical_and", &is_zero, &binary("eq", &count, &Value::Int(1))?)?;
    let is_before = binary("eq", &count, &Value::Int(0))?;
    let divided = binary("div", &summed_from(&masked(&mul(&g, &y)?, &is_before)?, dim)?, &x)?;
    let made = masked(&divided, &is_before)?;
    let filled = op("masked_fill", vec![x, is_first.clone(), Value::Int(1)])?;
    let rest = op("cumprod", vec![filled, Value::Int(dim)])?;
    let at_first = summed_from(&dropped(&mul(&g, &rest)?, &is_before)?, dim)?;
    op("where", vec![is_first, at_first, made])
}

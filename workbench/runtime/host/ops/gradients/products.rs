//! Derivatives of products of matrices.

use super::saved_variables::{Operation, Reads};
use super::{Answer, HostTensor, Made, Step, Value, binary, mul, op, reduced, reshaped, scaled, tensor};

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "mm" | "matmul" | "bmm" | "dot" | "mv" | "outer" | "linear" => Reads::factors(of, 0),
        "addmm" | "baddbmm" | "addmv" => Reads::factors(of, 1),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    Some(match step.name {
        "mm" | "matmul" | "bmm" | "dot" | "mv" => step.each(|i| product(step, 0, i, step.grad()?).map(Some)),
        "addmm" | "baddbmm" | "addmv" => step.each(|i| {
            let (beta, alpha) = (step.number(3, 1.0)?, step.number(4, 1.0)?);
            match i {
                0 => scaled(&step.grad()?, beta).map(Some),
                i => product(step, 1, i - 1, scaled(&step.grad()?, alpha)?).map(Some),
            }
        }),
        "outer" => step.each(|i| {
            let g = if i == 0 { step.grad()? } else { op("t", vec![step.grad()?])? };
            binary("mv", &g, &step.arg(1 - i)).map(Some)
        }),
        "linear" => linear(step),
        _ => return None,
    })
}

fn transposed(a: &Value) -> Answer<Value> {
    op("transpose", vec![a.clone(), Value::Int(-2), Value::Int(-1)])
}

/// The gradient of a factor, the left one (0) or the right one, which are the arguments from `at` on.
fn product(step: &Step<'_>, at: usize, which: usize, g: Value) -> Answer<Value> {
    let (a, b) = (step.tensor(at)?, step.tensor(at + 1)?);
    let (left, right) = (Value::Tensor(a.clone()), Value::Tensor(b.clone()));
    if a.dim() == 1 && b.dim() == 1 {
        return mul(if which == 0 { &right } else { &left }, &g);
    }
    // A vector is a row on the left and a column on the right.
    let (mut left, mut right, mut g) = (left, right, g);
    if a.dim() == 1 {
        left = op("unsqueeze", vec![left, Value::Int(0)])?;
        g = op("unsqueeze", vec![g, Value::Int(-2)])?;
    }
    if b.dim() == 1 {
        right = op("unsqueeze", vec![right, Value::Int(1)])?;
        g = op("unsqueeze", vec![g, Value::Int(-1)])?;
    }
    let (made, factor, own) = if which == 0 {
        (binary("matmul", &g, &transposed(&right)?)?, left, a)
    } else {
        (binary("matmul", &transposed(&left)?, &g)?, right, b)
    };
    let made = reduced(tensor(made)?, tensor(factor)?.shape())?;
    reshaped(&Value::Tensor(made), own.shape())
}

/// `x W^T + b`
fn linear(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let (x, weight) = (step.tensor(0)?, step.tensor(1)?);
    step.each(|i| match i {
        0 => {
            let g = step.grad()?;
            binary("matmul", &g, &step.arg(1)).map(Some)
        }
        1 => {
            let (out, inner) =
                (if weight.dim() == 2 { weight.shape()[0] } else { 1 }, x.shape().last().copied().unwrap_or(1));
            let [g, x] = [reshaped(&step.grad()?, &[-1, out])?, reshaped(&step.arg(0), &[-1, inner])?];
            reshaped(&binary("mm", &op("t", vec![g])?, &x)?, weight.shape()).map(Some)
        }
        _ => step.grad().map(Some),
    })
}

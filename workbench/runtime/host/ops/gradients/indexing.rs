//! Derivatives of operations that move elements. The operation itself tells which element goes where: it runs on the numbers of the
//! elements, and the gradient of an element is the sum of the gradients at the places where its number comes.

use super::saved_variables::{Operation, Reads, Results};
use super::{
    Answer, ElementPlaces, HostTensor, Made, Step, Value, binary, dropped, mul, of_whole, op, reshaped, scaled, tensor,
    unary,
};
use crate::runtime::DType;
use crate::runtime::host::ops::run;

/// Operations that keep the order of the elements.
const KEEPS: &[&str] =
    &["view", "reshape", "flatten", "squeeze", "unsqueeze", "unflatten", "contiguous", "clone", "to"];

/// Operations whose results are elements of their arguments, or zeros.
const MOVES: &[&str] = &[
    "permute",
    "transpose",
    "t",
    "swapaxes",
    "movedim",
    "expand",
    "narrow",
    "select",
    "slice",
    "index_select",
    "unfold",
    "flip",
    "roll",
    "repeat",
    "repeat_interleave",
    "gather",
    "take",
    "diag",
    "tril",
    "triu",
    "index",
    "chunk",
    "split",
    "split_with_sizes",
    "unbind",
    "cat",
    "stack",
    "constant_pad_nd",
    "masked_select",
    "embedding",
    "meshgrid",
];

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "as_strided" | "trace" => Reads::none(of),
        "index_add" | "index_copy" | "index_fill" | "scatter" | "scatter_add" | "index_put" | "put" => {
            Reads::chosen(of)
        }
        "scatter_reduce" => match of.args.get(4) {
            Some(Value::Text(how)) if how == "sum" || how == "mean" => Reads::chosen(of),
            _ => Reads::all(of, Results::All),
        },
        name if KEEPS.contains(&name) || MOVES.contains(&name) => Reads::chosen(of),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    Some(match step.name {
        name if KEEPS.contains(&name) => step.each(|i| match i {
            0 => reshaped(&step.grad()?, step.tensor(0)?.shape()).map(Some),
            _ => Ok(None),
        }),
        "embedding" => embedding(step),
        name if MOVES.contains(&name) => moved(step),
        "index_add" => step.each(|i| match i {
            0 => step.grad().map(Some),
            2 => {
                let picked = op("index_select", vec![step.grad()?, step.arg(1), step.arg(2)])?;
                scaled(&picked, step.number(4, 1.0)?).map(Some)
            }
            _ => Ok(None),
        }),
        "index_copy" | "index_fill" => step.each(|i| match i {
            0 => op("index_fill", vec![step.grad()?, step.arg(1), step.arg(2), Value::Int(0)]).map(Some),
            2 => op("index_select", vec![step.grad()?, step.arg(1), step.arg(2)]).map(Some),
            _ => Ok(None),
        }),
        "scatter" | "scatter_add" => step.each(|i| match i {
            0 if step.name == "scatter_add" => step.grad().map(Some),
            0 => op("scatter", vec![step.grad()?, step.arg(1), step.arg(2), Value::Int(0)]).map(Some),
            2 => op("gather", vec![step.grad()?, step.arg(1), step.arg(2)]).map(Some),
            _ => Ok(None),
        }),
        "scatter_reduce" => scatter_reduce(step),
        "put" => step.each(|i| match i {
            0 if step.number(3, 0.0)? != 0.0 => step.grad().map(Some),
            0 => {
                let none = unary("zeros_like", &step.arg(2))?;
                op("put", vec![step.grad()?, step.arg(1), none]).map(Some)
            }
            2 => reshaped(&op("take", vec![step.grad()?, step.arg(1)])?, step.tensor(2)?.shape()).map(Some),
            _ => Ok(None),
        }),
        "index_put" => {
            let last = step.needs.len() - 1;
            step.each(|i| {
                if i == 0 && step.number(3, 0.0)? != 0.0 {
                    return step.grad().map(Some);
                }
                if i == 0 {
                    let copy = op("clone", vec![step.grad()?])?;
                    return op("index_put_", vec![copy, step.arg(1), Value::Int(0), Value::Bool(false)]).map(Some);
                }
                if i == last && step.is_tensor(2) {
                    return op("index", vec![step.grad()?, step.arg(1)]).map(Some);
                }
                Ok(None)
            })
        }
        "as_strided" => step.each(|_| {
            let (Some(result), Value::Tensor(grad)) = (step.results.first(), step.grad()?) else {
                return step.unknown("result");
            };
            of_whole(&grad, &ElementPlaces::of(step.tensor(0)?), &ElementPlaces::of(result))
                .map(|grad| Some(Value::Tensor(grad)))
        }),
        "trace" => step.each(|_| {
            let shape = step.tensor(0)?.shape();
            let eye = run("eye", shape.iter().map(|n| Value::Int(*n)).collect(), step.tensor(0)?.device())?;
            let eye = op("to", vec![eye, Value::DType(step.tensor(0)?.dtype())])?;
            mul(&step.grad()?, &eye).map(Some)
        }),
        _ => return None,
    })
}

/// The numbers of elements, from `first` on, in a tensor's shape.
fn numbers(tensor: &HostTensor, first: i64) -> Answer<Value> {
    let end = first + tensor.numel();
    let line = run("arange", vec![Value::Int(first), Value::Int(end), Value::Int(1)], tensor.device())?;
    reshaped(&line, tensor.shape())
}

fn moved(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    // Zero stands for no element.
    let mut first = 1;
    let mut sources: Vec<Option<(i64, HostTensor)>> = Vec::new();
    let joins = matches!(step.name, "cat" | "stack" | "meshgrid");
    let mut number = |value: &Value| -> Answer<Value> {
        let Value::Tensor(source) = value else { return Ok(value.clone()) };
        if !source.dtype().is_float() {
            sources.push(None);
            // A part that is joined has no gradient; to any other operation it says which elements move.
            if !joins {
                return Ok(value.clone());
            }
            let whole = op("to", vec![value.clone(), Value::DType(DType::Int64)])?;
            return mul(&whole, &Value::Int(0));
        }
        let made = numbers(source, first)?;
        sources.push(Some((first, source.clone())));
        first += source.numel();
        Ok(made)
    };
    let mut args = Vec::new();
    for value in step.args {
        args.push(match value {
            Value::List(all) => Value::List(all.iter().map(&mut number).collect::<Answer<_>>()?),
            one => number(one)?,
        });
    }
    if step.name == "constant_pad_nd" && args.len() > 2 {
        args[2] = Value::Int(0);
    }
    let Some(grad) = step.grads.iter().flatten().next() else { return step.unknown("result") };
    let places = op(step.name, args)?;
    let places = match places {
        Value::Tensor(one) => vec![one],
        Value::List(all) | Value::Tuple(all) => all.into_iter().map(tensor).collect::<Answer<_>>()?,
        _ => return step.unknown("result"),
    };
    let mut total = Value::Tensor(HostTensor::new(grad.dtype(), &[first], grad.device(), true)?);
    for (place, grad) in places.into_iter().zip(step.grads) {
        if let Some(grad) = grad {
            let [place, grad] = [place, grad.clone()].map(|t| reshaped(&Value::Tensor(t), &[-1]));
            total = op("index_add", vec![total, Value::Int(0), place?, grad?])?;
        }
    }
    let mut gradients = Vec::new();
    for (i, source) in sources.into_iter().enumerate() {
        let Some((first, source)) = source.filter(|_| step.needs(i)) else {
            gradients.push(None);
            continue;
        };
        let part = op("narrow", vec![total.clone(), Value::Int(0), Value::Int(first), Value::Int(source.numel())])?;
        gradients.push(Some(tensor(reshaped(&part, source.shape())?)?));
    }
    Ok(gradients)
}

/// `embedding(weight, indices, padding_idx, scale_grad_by_freq)`: the padding row gets nothing, and a row that is named several times gets
/// the mean where that is asked for.
fn embedding(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let (rows, padding) = (step.tensor(0)?.shape()[0], step.number(2, -1.0)? as i64);
    let mut made = moved(step)?;
    if let Some(Some(grad)) = made.first_mut() {
        let mut rest = Value::Tensor(grad.clone());
        if (0..rows).contains(&padding) {
            let ends = [padding, padding + 1, 1].map(Value::Int);
            let row = run("arange", ends.to_vec(), grad.device())?;
            rest = op("index_fill", vec![rest, Value::Int(0), row, Value::Int(0)])?;
        }
        if step.number(3, 0.0)? != 0.0 {
            let named = op("flatten", vec![step.arg(1)])?;
            let counts = op("bincount", vec![named, Value::None, Value::Int(rows)])?;
            let counts = op("clamp_min", vec![op("unsqueeze", vec![counts, Value::Int(1)])?, Value::Int(1)])?;
            rest = op("div", vec![rest, counts])?;
        }
        *grad = tensor(rest)?;
    }
    Ok(made)
}

/// `scatter_reduce(self, dim, index, source, how, include_self)`
fn scatter_reduce(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let Value::Text(how) = step.arg(4) else { return step.unknown("argument") };
    if step.tensor(2)?.shape() != step.tensor(3)?.shape() {
        return step.unknown("source, whose shape is not that of the indices,");
    }
    let (dim, index, source) = (step.arg(1), step.arg(2), step.arg(3));
    let includes = step.number(5, 1.0)? != 0.0;
    let gathered = |a: Value| op("gather", vec![a, dim.clone(), index.clone()]);
    let scattered = |a: Value, to: Value| op("scatter_add", vec![to, dim.clone(), index.clone(), a]);
    let cleared = |a: Value| op("scatter", vec![a, dim.clone(), index.clone(), Value::Int(0)]);
    let g = step.grad()?;
    let (own, other) = match how.as_str() {
        "sum" => (g.clone(), gathered(g)?),
        "mean" => {
            let first = unary(if includes { "ones_like" } else { "zeros_like" }, &g)?;
            let count = scattered(unary("ones_like", &source)?, first)?;
            let share = binary("div", &g, &op("clamp_min", vec![count, Value::Int(1)])?)?;
            (share.clone(), gathered(share)?)
        }
        "amax" | "amin" => {
            let y = step.result()?;
            let of_type = |mask: Value| op("to", vec![mask, Value::DType(step.tensor(0)?.dtype())]);
            let mut is_own = of_type(binary("eq", &step.arg(0), &y)?)?;
            if !includes {
                is_own = cleared(is_own)?;
            }
            let is_other = of_type(binary("eq", &source, &gathered(y)?)?)?;
            let count = scattered(is_other.clone(), is_own.clone())?;
            let share = binary("div", &g, &count)?;
            // An extreme that no element equals any more, as the one that did was cleared, gives nothing back.
            let share = dropped(&share, &binary("eq", &count, &Value::Int(0))?)?;
            (mul(&is_own, &share)?, mul(&is_other, &gathered(share)?)?)
        }
        _ => return step.unknown("product"),
    };
    let own = if includes { own } else { cleared(own)? };
    step.each(|i| match i {
        0 => Ok(Some(own.clone())),
        2 => Ok(Some(other.clone())),
        _ => Ok(None),
    })
}

//! Derivatives of sums of products: `einsum` and convolutions.

use std::collections::BTreeMap;

use super::saved_variables::{Operation, Reads};
use super::view_places::{ElementPlaces, of_whole};
use super::{Answer, HostTensor, Made, Step, Value, ints, op, tensor};
use crate::runtime::host::array::contiguous_strides;

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "einsum" => Reads::tensors(of, |i| (0..of.count()).any(|k| k != i && of.needs(k))),
        "conv1d" | "conv2d" => Reads::factors(of, 0),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    Some(match step.name {
        "einsum" => step.each(|i| contracted(step, i).map(Some)),
        "conv1d" | "conv2d" => convolution(step),
        _ => return None,
    })
}

/// `einsum`: the gradient of an operand is the contraction of the result's with the other operands, along the labels of its own.
fn contracted(step: &Step<'_>, i: usize) -> Answer<Value> {
    let (Value::Text(equation), Value::List(operands)) = (step.arg(0), step.arg(1)) else {
        return step.unknown("argument");
    };
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = equation.split_once("->").map_or((equation.as_str(), None), |(i, o)| (i, Some(o)));
    let inputs: Vec<&str> = inputs.split(',').collect();
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    inputs.iter().flat_map(|labels| labels.chars()).for_each(|label| *counts.entry(label).or_default() += 1);
    let once = || counts.iter().filter(|(_, n)| **n == 1).map(|(label, _)| *label).collect::<String>();
    let output: String = output.map_or_else(once, str::to_owned);
    let (Some(labels), Some(own)) = (inputs.get(i), operands.get(i)) else { return step.unknown("operand") };
    let own = tensor(own.clone())?;
    // Labels of the operand, each once; those that are nowhere else were summed up alone.
    let mut distinct: Vec<char> = Vec::new();
    labels.chars().for_each(|label| {
        if !distinct.contains(&label) {
            distinct.push(label)
        }
    });
    let others = || inputs.iter().zip(&operands).enumerate().filter(move |(k, _)| *k != i).map(|(_, both)| both);
    let is_there = |label: &char| output.contains(*label) || others().any(|(labels, _)| labels.contains(*label));
    let wanted: String = distinct.iter().filter(|label| is_there(label)).collect();
    let mut left = vec![output.as_str()];
    left.extend(others().map(|(labels, _)| *labels));
    let mut tensors = vec![step.grad()?];
    tensors.extend(others().map(|(_, operand)| operand.clone()));
    let equation = format!("{}->{wanted}", left.join(","));
    let mut made = op("einsum", vec![Value::Text(equation), Value::List(tensors)])?;
    let (mut shape, mut strides): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    let dense = contiguous_strides(own.shape());
    for (at, label) in distinct.iter().enumerate() {
        if !is_there(label) {
            made = op("unsqueeze", vec![made, Value::Int(at as i64)])?;
        }
        let own_dims = || labels.chars().enumerate().filter(|(_, l)| l == label).map(|(d, _)| d);
        shape.extend(own_dims().take(1).map(|d| own.shape()[d]));
        strides.push(own_dims().map(|d| dense[d]).sum::<i64>());
    }
    made = op("expand", vec![made, ints(shape.iter().copied())])?;
    if distinct.len() == own.dim() {
        return Ok(made);
    }
    // A label that comes twice is a diagonal.
    let whole = ElementPlaces { shape: own.shape().into(), strides: dense, offset: 0 };
    let part = ElementPlaces { shape: shape[..].into(), strides: strides[..].into(), offset: 0 };
    of_whole(&tensor(made)?, &whole, &part).map(Value::Tensor)
}

/// `conv1d` and `conv2d(input, weight, bias, stride, padding, dilation, groups)`
fn convolution(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let dims = if step.name == "conv1d" { 1 } else { 2 };
    let (x, weight) = (step.tensor(0)?.clone(), step.tensor(1)?.clone());
    let is_batch = x.dim() == dims + 2;
    // One dimension is two, the first of extent 1; one sample is a batch of one.
    let spread = |a: Value, is_batch: bool| -> Answer<Value> {
        let a = if is_batch { a } else { op("unsqueeze", vec![a, Value::Int(0)])? };
        if dims == 1 { op("unsqueeze", vec![a, Value::Int(2)]) } else { Ok(a) }
    };
    let pair = |at: usize, one: i64| match step.arg(at) {
        Value::List(all) => {
            let mut all = all;
            if all.len() == 1 {
                all = vec![if dims == 1 { Value::Int(one) } else { all[0].clone() }, all[0].clone()];
            }
            Value::List(all)
        }
        given => Value::List(vec![if dims == 1 { Value::Int(one) } else { given.clone() }, given]),
    };
    let g = step.grad()?;
    let mut args = vec![spread(g.clone(), is_batch)?, spread(step.arg(0), is_batch)?, spread(step.arg(1), true)?];
    args.extend([pair(3, 1), pair(4, 0), pair(5, 1), step.arg(6)]);
    args.extend([Value::Bool(step.needs(0)), Value::Bool(step.needs(1))]);
    let Value::List(made) = op("convolution_backward", args)? else { return step.unknown("result") };
    step.each(|i| match i {
        0 => super::reshaped(&made[0], x.shape()).map(Some),
        1 => super::reshaped(&made[1], weight.shape()).map(Some),
        _ => {
            let channel = i64::from(is_batch);
            let over = (0..(dims as i64 + 1 + channel)).filter(|d| *d != channel);
            op("sum", vec![g.clone(), ints(over)]).map(Some)
        }
    })
}

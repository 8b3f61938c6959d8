//! `einsum`: sums of products over labels. Of two operands or more they are made of products of matrices.

use std::collections::BTreeMap;

use ndarray::{ArrayD, Axis, IxDyn, Zip};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::super::work::tick;
use super::args::{Args, room};
use super::promote::promote;
use super::sweep::{self, Sweep};
use super::wide::Wide;
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    (args.name == "einsum").then(|| einsum(args))
}

fn call(name: &str, values: Vec<Value>, args: &Args<'_>) -> Answer<Value> {
    super::run(name, values, args.device)
}

/// `einsum("ij,jk->ik", {a, b})`: sums of products over the labels that the result does not name.
fn einsum(args: &mut Args<'_>) -> Answer<Value> {
    let equation: String = args.text()?.chars().filter(|c| !c.is_whitespace()).collect();
    let tensors = args.tensors()?;
    let fail = |message: String| Err((Exception::Runtime, format!("einsum(): {message}")));
    let (inputs, output) = equation.split_once("->").map_or((equation.as_str(), None), |(i, o)| (i, Some(o)));
    let inputs: Vec<&str> = inputs.split(',').collect();
    if !equation.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, ',' | '-' | '>')) {
        return fail(format!(
            "the equation `{equation}` may hold letters, `,` and `->` (an ellipsis is not supported)"
        ));
    }
    if inputs.len() != tensors.len() {
        return fail(format!("the equation names {} operands, and {} are given", inputs.len(), tensors.len()));
    }
    let mut extents: BTreeMap<char, usize> = BTreeMap::new();
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for (labels, tensor) in inputs.iter().zip(&tensors) {
        if labels.chars().count() != tensor.dim() {
            return fail(format!("`{labels}` does not fit an operand of {} dimensions", tensor.dim()));
        }
        for (label, extent) in labels.chars().zip(tensor.shape()) {
            *counts.entry(label).or_default() += 1;
            let extent = *extent as usize;
            match extents.get(&label) {
                Some(old) if *old != extent => {
                    return fail(format!("`{label}` is {old} in one operand and {extent} in another"));
                }
                _ => _ = extents.insert(label, extent),
            }
        }
    }
    let once = || counts.iter().filter(|(_, n)| **n == 1).map(|(l, _)| *l).collect::<String>();
    let output: Vec<char> = output.map_or_else(once, str::to_owned).chars().collect();
    if let Some(label) = output.iter().find(|l| !extents.contains_key(l)) {
        return fail(format!("`{label}` of the result is in no operand"));
    }
    if let Some(made) = contracted(&inputs, &tensors, &output, args) {
        return made;
    }
    let summed: Vec<char> = extents.keys().copied().filter(|l| !output.contains(l)).collect();
    let order: Vec<char> = output.iter().chain(&summed).copied().collect();
    // Each operand becomes a view with all labels; those that it lacks have extent 1 and are broadcast.
    let full: Vec<usize> = order.iter().map(|l| extents[l]).collect();
    let mut operands = Vec::new();
    for (labels, tensor) in inputs.iter().zip(&tensors) {
        let labels: Vec<char> = labels.chars().collect();
        let a = Wide::of(tensor).floats();
        let view = sweep::placed(
            &order.iter().map(|l| if labels.contains(l) { extents[l] } else { 1 }).collect::<Vec<_>>(),
            |at| {
                let place: Vec<usize> =
                    labels.iter().map(|l| at[order.iter().position(|o| o == l).unwrap_or(0)]).collect();
                a[IxDyn(&place)]
            },
        );
        operands.push(view);
    }
    room(&full.iter().map(|n| *n as i64).collect::<Vec<_>>())?;
    let mut product = sweep::full(&full, 1.0);
    for operand in &operands {
        let misfit = (Exception::Runtime, "shapes that do not fit".to_owned());
        let operand = operand.broadcast(IxDyn(&full)).ok_or(misfit)?;
        Zip::from(&mut product).and(operand).sweep(|(to, x)| *to *= x);
    }
    for _ in &summed {
        product = summed_up(&product, output.len());
    }
    let dtype = tensors.iter().map(HostTensor::dtype).reduce(promote).unwrap_or(DType::Float32);
    let device = tensors.first().map_or(args.device, HostTensor::device);
    Wide::Float(product).tensor(dtype, device).map(Value::Tensor)
}

/// The sums of products of two operands or more, as products of matrices from left to right; `None` where an operand names a label twice, and
/// where the operands are not of one floating-point type.
fn contracted(inputs: &[&str], tensors: &[HostTensor], output: &[char], args: &Args<'_>) -> Option<Answer<Value>> {
    let dtype = tensors.first()?.dtype();
    let is_plain = |labels: &&str| labels.chars().enumerate().all(|(i, l)| labels.chars().skip(i + 1).all(|m| m != l));
    let is_one_type = dtype.is_float() && tensors.iter().all(|t| t.dtype() == dtype);
    if tensors.len() < 2 || !is_one_type || !inputs.iter().all(is_plain) {
        return None;
    }
    Some(Factor::of(inputs, tensors, output, args))
}

/// A tensor with a label for each dimension.
struct Factor {
    labels: Vec<char>,
    tensor: Value,
}

impl Factor {
    fn of(inputs: &[&str], tensors: &[HostTensor], output: &[char], args: &Args<'_>) -> Answer<Value> {
        let mut factors = inputs
            .iter()
            .zip(tensors)
            .map(|(labels, tensor)| Factor { labels: labels.chars().collect(), tensor: Value::Tensor(tensor.clone()) });
        let Some(mut made) = factors.next() else { return Ok(Value::None) };
        let mut rest = inputs[1..].iter();
        for factor in factors {
            rest.next();
            // A label that nothing behind it names is summed up.
            let is_kept = |label: char| output.contains(&label) || rest.clone().any(|labels| labels.contains(label));
            made = made.times(factor, &is_kept, args)?;
        }
        made.permuted(output, args)
    }

    /// The extents of some of its labels.
    fn extents(&self, labels: &[char]) -> Vec<i64> {
        let Value::Tensor(t) = &self.tensor else { return Vec::new() };
        let extent = |label: &char| self.labels.iter().position(|l| l == label).map_or(1, |at| t.shape()[at]);
        labels.iter().map(extent).collect()
    }

    /// The tensor with its dimensions in the order of labels, which are all of its own.
    fn permuted(&self, labels: &[char], args: &Args<'_>) -> Answer<Value> {
        let place = |label: &char| self.labels.iter().position(|l| l == label).map_or(0, |at| at as i64);
        let order = labels.iter().map(|label| Value::Int(place(label))).collect();
        call("permute", vec![self.tensor.clone(), Value::List(order)], args)
    }

    /// The sums over labels that neither the other factor nor the result has.
    fn summed(self, is_kept: &dyn Fn(char) -> bool, args: &Args<'_>) -> Answer<Self> {
        let (labels, over): (Vec<char>, Vec<char>) = self.labels.iter().partition(|label| is_kept(**label));
        if over.is_empty() {
            return Ok(self);
        }
        let dims = (0i64..).zip(&self.labels).filter(|(_, label)| over.contains(label)).map(|(at, _)| Value::Int(at));
        let tensor = call("sum", vec![self.tensor.clone(), Value::List(dims.collect())], args)?;
        Ok(Factor { labels, tensor })
    }

    /// The sums of products over the labels that are not kept.
    fn times(self, other: Factor, is_kept: &dyn Fn(char) -> bool, args: &Args<'_>) -> Answer<Self> {
        let (mine, others) = (self.labels.clone(), other.labels.clone());
        let a = self.summed(&|label| is_kept(label) || others.contains(&label), args)?;
        let b = other.summed(&|label| is_kept(label) || mine.contains(&label), args)?;
        let of = |factor: &Factor, is: &dyn Fn(char) -> bool| -> Vec<char> {
            factor.labels.iter().copied().filter(|label| is(*label)).collect()
        };
        let batch = of(&a, &|label| b.labels.contains(&label) && is_kept(label));
        let over = of(&a, &|label| b.labels.contains(&label) && !is_kept(label));
        let rows = of(&a, &|label| !b.labels.contains(&label));
        let cols = of(&b, &|label| !a.labels.contains(&label));
        let count = |factor: &Factor, labels: &[char]| factor.extents(labels).iter().product::<i64>();
        let matrices = |factor: &Factor, parts: [&[char]; 3]| {
            let tensor = factor.permuted(&parts.concat(), args)?;
            let shape = parts.iter().map(|labels| Value::Int(count(factor, labels))).collect();
            call("reshape", vec![tensor, Value::List(shape)], args)
        };
        let (left, right) = (matrices(&a, [&batch, &rows, &over])?, matrices(&b, [&batch, &over, &cols])?);
        let product = call("bmm", vec![left, right], args)?;
        let shape = [a.extents(&batch), a.extents(&rows), b.extents(&cols)].concat();
        let shape = shape.into_iter().map(Value::Int).collect();
        let tensor = call("reshape", vec![product, Value::List(shape)], args)?;
        Ok(Factor { labels: [batch, rows, cols].concat(), tensor })
    }
}

/// The sums along a dimension.
fn summed_up(a: &ArrayD<f64>, at: usize) -> ArrayD<f64> {
    let mut shape = a.shape().to_vec();
    shape.remove(at);
    let mut sums = sweep::full(&shape, 0.0);
    for part in a.axis_iter(Axis(at)) {
        Zip::from(&mut sums).and(part).sweep(|(sum, x)| *sum += x);
        tick();
    }
    sums
}

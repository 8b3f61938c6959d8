//! Convolutions and their backward, by their definition.

use ndarray::{ArrayD, IxDyn};

use super::super::array::Answer;
use super::super::work::ticks;
use super::sweep;
use super::wide::Wide;
use super::{Args, HostTensor, Value};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "conv1d" | "conv2d" => forward(args),
        "convolution_backward" => backward(args),
        _ => return None,
    })
}

fn call(name: &str, args: Vec<Value>, outer: &Args<'_>) -> Answer<Value> {
    super::run(name, args, outer.device)
}

/// Stride, padding and dilation of a convolution, each with a number for every dimension.
fn window_steps(args: &mut Args<'_>, dims: usize) -> Answer<Vec<Vec<i64>>> {
    let mut steps = Vec::new();
    for (what, least) in [("stride", 1), ("padding", 0), ("dilation", 1)] {
        let given = args.ints()?;
        let all = if given.len() == 1 { vec![given[0]; dims] } else { given };
        if all.len() != dims || all.iter().any(|v| *v < least || *v > i64::from(i32::MAX)) {
            return Err((Exception::Runtime, format!("{}: {what} {all:?} for {dims} dimensions", args.name)));
        }
        steps.push(all);
    }
    Ok(steps)
}

/// Input, weight and bias of a convolution fit one another.
fn check_operands(
    args: &Args<'_>,
    dims: usize,
    (x, weight, bias): (&HostTensor, &HostTensor, &Value),
    groups: i64,
) -> Answer<()> {
    let rank = dims + 2;
    let fits = (x.dim() == dims + 1 || x.dim() == rank)
        && weight.dim() == rank
        && groups > 0
        && x.dtype() == weight.dtype()
        && x.shape()[x.dim() - dims - 1] == weight.shape()[1].saturating_mul(groups)
        && weight.shape()[0] % groups == 0;
    if !fits {
        let message = format!(
            "{}: weight of {} {:?} and groups {groups} do not fit an input of {} {:?}",
            args.name,
            weight.dtype(),
            weight.shape(),
            x.dtype(),
            x.shape()
        );
        return Err((Exception::Runtime, message));
    }
    if let Value::Tensor(bias) = bias
        && (bias.shape() != &weight.shape()[..1] || bias.dtype() != x.dtype())
    {
        let message = format!(
            "{}: Given weight of size {:?}, expected bias to be 1-dimensional with {} elements of {}, but got bias of {} {:?} instead",
            args.name,
            weight.shape(),
            weight.shape()[0],
            x.dtype(),
            bias.dtype(),
            bias.shape()
        );
        return Err((Exception::Runtime, message));
    }
    Ok(())
}

/// The sums of products of a convolution in two dimensions, without the bias.
fn products(name: &str, x: &HostTensor, weight: &HostTensor, steps: &[Vec<i64>], groups: i64) -> Answer<ArrayD<f64>> {
    let (stride, padding, dilation) = (&steps[0], &steps[1], &steps[2]);
    let extent = |i: usize| {
        let covered = dilation[i].saturating_mul(weight.shape()[2 + i] - 1).saturating_add(1);
        (x.shape()[2 + i] + 2 * padding[i]).saturating_sub(covered).div_euclid(stride[i]) + 1
    };
    let shape = [x.shape()[0], weight.shape()[0], extent(0).max(0), extent(1).max(0)];
    if extent(0) <= 0 || extent(1) <= 0 {
        let message = "Kernel size can't be greater than actual input size".to_owned();
        return Err((Exception::Runtime, format!("{}: {message}", name)));
    }
    super::room(&shape)?;
    let (a, w) = (Wide::of(x).floats(), Wide::of(weight).floats());
    let (per_group, channels) = (weight.shape()[0] / groups, weight.shape()[1]);
    let bounds = [x.shape()[2], x.shape()[3]];
    Ok(sweep::placed(&shape.map(|n| n as usize), |at| {
        let mut sum = 0.0;
        let group = at[1] as i64 / per_group;
        for c in 0..channels {
            for i in 0..weight.shape()[2] {
                // Some tens of operations an element.
                ticks(weight.shape()[3] as usize * 4);
                let y = at[2] as i64 * stride[0] - padding[0] + i * dilation[0];
                for j in 0..weight.shape()[3] {
                    let z = at[3] as i64 * stride[1] - padding[1] + j * dilation[1];
                    if (0..bounds[0]).contains(&y) && (0..bounds[1]).contains(&z) {
                        let from = [at[0], (group * channels + c) as usize, y as usize, z as usize];
                        sum += a[IxDyn(&from)] * w[IxDyn(&[at[1], c as usize, i as usize, j as usize])];
                    }
                }
            }
        }
        sum
    }))
}

/// `conv1d` and `conv2d(input, weight, bias, stride, padding, dilation, groups)`: sums of products.
fn forward(args: &mut Args<'_>) -> Answer<Value> {
    let dims = if args.name == "conv1d" { 1 } else { 2 };
    let (x, weight, bias) = (args.tensor()?, args.tensor()?, args.next());
    let steps = window_steps(args, dims)?;
    let groups = args.int(1)?;
    if x.dtype() == DType::Bool {
        return super::not_implemented("slow_conv2d_cpu", DType::Bool);
    }
    check_operands(args, dims, (&x, &weight, &bias), groups)?;
    let unbatched = x.dim() == dims + 1;
    let batched =
        if unbatched { call("unsqueeze", vec![Value::Tensor(x), Value::Int(0)], args)? } else { Value::Tensor(x) };
    // One dimension is treated as two, the first of extent 1.
    let (batched, weight, steps) = if dims == 1 {
        let both = [batched, Value::Tensor(weight)].map(|t| call("unsqueeze", vec![t, Value::Int(2)], args));
        let [batched, weight] = both;
        (batched?, weight?, steps.into_iter().zip([1, 0, 1]).map(|(s, one)| vec![one, s[0]]).collect::<Vec<_>>())
    } else {
        (batched, Value::Tensor(weight), steps)
    };
    let (Value::Tensor(x), Value::Tensor(weight)) = (batched, weight) else { return Ok(Value::None) };
    let made = products(args.name, &x, &weight, &steps, groups)?;
    let (dtype, device) = (x.dtype(), x.device());
    let mut made = Value::Tensor(Wide::Float(made).tensor(dtype, device)?);
    if !matches!(bias, Value::None) {
        let column = Value::List(vec![Value::Int(-1), Value::Int(1), Value::Int(1)]);
        let bias = call("reshape", vec![bias, column], args)?;
        made = call("add", vec![made, bias], args)?;
    }
    if dims == 1 {
        made = call("squeeze", vec![made, Value::Int(2)], args)?;
    }
    if unbatched { call("squeeze", vec![made, Value::Int(0)], args) } else { Ok(made) }
}

/// `convolution_backward(grad, input, weight, stride, padding, dilation, groups, of_input, of_weight)`, all of two dimensions: gradients of
/// the input and of the weight, or nothing where one is not wanted.
fn backward(args: &mut Args<'_>) -> Answer<Value> {
    let (grad, x, weight) = (args.tensor()?, args.tensor()?, args.tensor()?);
    let (stride, padding, dilation, groups) = (args.ints()?, args.ints()?, args.ints()?, args.int(1)? as usize);
    let (of_input, of_weight) = (args.flag(true)?, args.flag(true)?);
    let flat = |t: &HostTensor| sweep::flat(Wide::of(t).floats().view());
    let extents = |t: &HostTensor| -> [usize; 4] { std::array::from_fn(|d| t.shape()[d] as usize) };
    let ([samples, outputs, rows, columns], [_, inputs, height, width]) = (extents(&grad), extents(&x));
    let [_, channels, kernel_rows, kernel_columns] = extents(&weight);
    let (g, a, w) = (flat(&grad), flat(&x), flat(&weight));
    super::room(x.shape())?;
    let mut to_input = vec![0.0; if of_input { a.len() } else { 0 }];
    let mut to_weight = vec![0.0; if of_weight { w.len() } else { 0 }];
    // The place of the input that an element of the result and one of the kernel meet at.
    let place = |d: usize, at: usize, k: usize, extent: usize| {
        let place = at as i64 * stride[d] - padding[d] + k as i64 * dilation[d];
        usize::try_from(place).ok().filter(|place| *place < extent)
    };
    for sample in 0..samples {
        for output in 0..outputs {
            let group = output / (outputs / groups);
            for row in 0..rows {
                for column in 0..columns {
                    let g = g[((sample * outputs + output) * rows + row) * columns + column];
                    ticks(channels * kernel_rows * kernel_columns + 1);
                    for channel in 0..channels {
                        let plane = (sample * inputs + group * channels + channel) * height;
                        for i in 0..kernel_rows {
                            let Some(y) = place(0, row, i, height) else { continue };
                            for j in 0..kernel_columns {
                                let Some(z) = place(1, column, j, width) else { continue };
                                let from = (plane + y) * width + z;
                                let by = ((output * channels + channel) * kernel_rows + i) * kernel_columns + j;
                                if of_input {
                                    to_input[from] += g * w[by];
                                }
                                if of_weight {
                                    to_weight[by] += g * a[from];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let shaped = |made: Vec<f64>, like: &HostTensor, is_wanted: bool| -> Answer<Value> {
        if !is_wanted {
            return Ok(Value::None);
        }
        let made = ArrayD::from_shape_vec(IxDyn(&extents(like)), made).unwrap_or_default();
        Wide::Float(made).tensor(like.dtype(), like.device()).map(Value::Tensor)
    };
    Ok(Value::List(vec![shaped(to_input, &x, of_input)?, shaped(to_weight, &weight, of_weight)?]))
}

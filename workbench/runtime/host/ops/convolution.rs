//! Convolutions and their backward, as products of matrices: of the weight and of windows of the input.

use std::ops::Range;

use ndarray::{Array2, ArrayD, ArrayView2, IxDyn};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::super::work;
use super::args::{Args, not_implemented, room};
use super::products::{Factor, product};
use super::sweep;
use super::wide::{self, Wide};
use super::windows::{Along, Windows};
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

/// A convolution in two dimensions, of the numbers that it computes with. Its shapes fit one another: `check_operands` held them
/// before the forward, which alone leads to the backward; so each `expect` here counts what the same extents have made.
struct Convolution<T> {
    windows: Windows,
    samples: usize,
    groups: usize,
    /// Channels of the result in a group.
    outputs: usize,
    x: Vec<T>,
    weight: Vec<T>,
}

impl<T: Factor> Convolution<T> {
    fn new(
        x: &HostTensor,
        weight: &HostTensor,
        (steps, result): (&[Vec<i64>], [i64; 2]),
        groups: usize,
        brought: impl Fn(&HostTensor) -> Vec<T>,
    ) -> Self {
        let extent = |t: &HostTensor, d: usize| t.shape()[d] as usize;
        let along = |d: usize| Along {
            input: extent(x, 2 + d),
            kernel: extent(weight, 2 + d),
            result: result[d] as usize,
            stride: steps[0][d],
            padding: steps[1][d],
            dilation: steps[2][d],
        };
        let windows = Windows { channels: extent(weight, 1), rows: along(0), columns: along(1) };
        let (samples, outputs) = (extent(x, 0), extent(weight, 0) / groups);
        Convolution { windows, samples, groups, outputs, x: brought(x), weight: brought(weight) }
    }

    /// The elements of a group's channels of the input, and of a channel of the result.
    fn sizes(&self) -> (usize, usize) {
        let Windows { channels, rows, columns } = &self.windows;
        (channels * rows.input * columns.input, rows.result * columns.result)
    }

    /// The weight of a group: a row for each channel of the result, a column for each element of a window.
    fn matrix(&self, group: usize) -> ArrayView2<'_, T> {
        let (rows, columns) = (self.outputs, self.windows.size());
        let part = &self.weight[group * rows * columns..][..rows * columns];
        ArrayView2::from_shape((rows, columns), part).expect("as many elements as the shape holds")
    }

    /// Calls a closure for each sample and group of it, and each band of its rows.
    fn each(&self, mut each: impl FnMut(usize, usize, Range<usize>)) {
        for sample in 0..self.samples {
            for group in 0..self.groups {
                self.windows.bands().for_each(|band| each(sample, group, band));
            }
        }
    }

    /// The planes of a sample's group in the input, and in the result the elements of its first channel and of the rows of a band.
    fn parts(&self, sample: usize, group: usize, band: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let ((input, result), width) = (self.sizes(), self.windows.columns.result);
        let at = sample * self.groups + group;
        let first = at * self.outputs * result;
        (at * input..(at + 1) * input, first + band.start * width..first + band.end * width)
    }

    /// The sums of products.
    fn forward(&self) -> Vec<T> {
        let size = self.sizes().1;
        let mut made = work::repeated(self.samples * self.groups * self.outputs * size, T::zero());
        self.each(|sample, group, band| {
            let (from, to) = self.parts(sample, group, &band);
            let columns = self.windows.columns(&self.x[from], &band);
            let columns = ArrayView2::from_shape((self.windows.size(), to.len()), &columns);
            let sums = product(self.matrix(group), columns.expect("a column for each window"));
            for (row, at) in sums.rows().into_iter().zip((to.start..).step_by(size.max(1))) {
                made[at..at + to.len()].iter_mut().zip(row).for_each(|(to, sum)| *to = *sum);
            }
        });
        made
    }

    /// The gradient of the input.
    fn of_input(&self, grad: &[T]) -> Vec<T> {
        let mut made = work::repeated(self.x.len(), T::zero());
        self.each(|sample, group, band| {
            let (to, from) = self.parts(sample, group, &band);
            let columns = product(self.matrix(group).t(), self.of_band(grad, from).view());
            self.windows.add(&columns.view(), &band, &mut made[to]);
        });
        made
    }

    /// The gradient of the weight.
    fn of_weight(&self, grad: &[T]) -> Vec<T> {
        let mut made = work::repeated(self.weight.len(), T::zero());
        let size = self.outputs * self.windows.size();
        self.each(|sample, group, band| {
            let (x, from) = self.parts(sample, group, &band);
            let columns = self.windows.columns(&self.x[x], &band);
            let columns = ArrayView2::from_shape((self.windows.size(), from.len()), &columns);
            let grad = self.of_band(grad, from);
            let sums = product(grad.view(), columns.expect("a column for each window").t());
            made[group * size..][..size].iter_mut().zip(&sums).for_each(|(to, sum)| *to = *to + *sum);
        });
        made
    }

    /// The rows of a band of all channels of a group, a row of the matrix for each channel; `first` is the first channel's part.
    fn of_band(&self, grad: &[T], first: Range<usize>) -> Array2<T> {
        let size = self.sizes().1;
        Array2::from_shape_fn((self.outputs, first.len()), |(channel, at)| grad[first.start + channel * size + at])
    }
}

/// The elements in the order of their places.
fn doubles(t: &HostTensor) -> Vec<f64> {
    sweep::flat(Wide::of(t).floats().view())
}

/// As [`doubles`], as `float`s.
fn singles(t: &HostTensor) -> Vec<f32> {
    match t.dtype() {
        DType::Float32 => sweep::flat(wide::singles(t)),
        _ => sweep::flat(sweep::map(Wide::of(t).floats().view(), |x| x as f32).view()),
    }
}

/// Rows and columns of the result.
fn result_extents(name: &str, x: &HostTensor, weight: &HostTensor, steps: &[Vec<i64>]) -> Answer<[i64; 2]> {
    let extent = |i: usize| {
        let covered = steps[2][i].saturating_mul(weight.shape()[2 + i] - 1).saturating_add(1);
        (x.shape()[2 + i] + 2 * steps[1][i]).saturating_sub(covered).div_euclid(steps[0][i]) + 1
    };
    if extent(0) <= 0 || extent(1) <= 0 {
        let message = "Kernel size can't be greater than actual input size".to_owned();
        return Err((Exception::Runtime, format!("{name}: {message}")));
    }
    Ok([extent(0), extent(1)])
}

/// The sums of products of a convolution in two dimensions, without the bias.
fn products(name: &str, x: &HostTensor, weight: &HostTensor, steps: &[Vec<i64>], groups: i64) -> Answer<HostTensor> {
    let result = result_extents(name, x, weight, steps)?;
    let shape = [x.shape()[0], weight.shape()[0], result[0], result[1]];
    room(&shape)?;
    let (shape, result, groups) = (IxDyn(&shape.map(|n| n as usize)), (steps, result), groups as usize);
    if x.dtype() == DType::Float32 {
        let made = Convolution::new(x, weight, result, groups, singles).forward();
        let made = ArrayD::from_shape_vec(shape, made).expect("as many elements as the shape holds");
        return wide::tensor_of_singles(&made, x.device());
    }
    let made = Convolution::new(x, weight, result, groups, doubles).forward();
    let made = ArrayD::from_shape_vec(shape, made).expect("as many elements as the shape holds");
    Wide::Float(made).tensor(x.dtype(), x.device())
}

/// `conv1d` and `conv2d(input, weight, bias, stride, padding, dilation, groups)`: sums of products.
fn forward(args: &mut Args<'_>) -> Answer<Value> {
    let dims = if args.name == "conv1d" { 1 } else { 2 };
    let (x, weight, bias) = (args.tensor()?, args.tensor()?, args.next());
    let steps = window_steps(args, dims)?;
    let groups = args.int(1)?;
    if x.dtype() == DType::Bool {
        return not_implemented("slow_conv2d_cpu", DType::Bool);
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
    let mut made = Value::Tensor(products(args.name, &x, &weight, &steps, groups)?);
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
    let steps = [args.ints()?, args.ints()?, args.ints()?];
    let (groups, wanted) = (args.int(1)? as usize, [args.flag(true)?, args.flag(true)?]);
    room(x.shape())?;
    let result = (steps.as_slice(), [grad.shape()[2], grad.shape()[3]]);
    let shaped = |like: &HostTensor| IxDyn(&like.shape().iter().map(|n| *n as usize).collect::<Vec<_>>());
    let mut made = Vec::new();
    if x.dtype() == DType::Float32 {
        let (of, grad) = (Convolution::new(&x, &weight, result, groups, singles), singles(&grad));
        for (values, like) in gradients(&of, &grad, wanted).into_iter().zip([&x, &weight]) {
            let values = values.map(|values| ArrayD::from_shape_vec(shaped(like), values).unwrap_or_default());
            made.push(values.map(|values| wide::tensor_of_singles(&values, like.device())).transpose()?);
        }
    } else {
        let (of, grad) = (Convolution::new(&x, &weight, result, groups, doubles), doubles(&grad));
        for (values, like) in gradients(&of, &grad, wanted).into_iter().zip([&x, &weight]) {
            let values = values.map(|values| ArrayD::from_shape_vec(shaped(like), values).unwrap_or_default());
            made.push(values.map(|values| Wide::Float(values).tensor(like.dtype(), like.device())).transpose()?);
        }
    }
    Ok(Value::List(made.into_iter().map(|one| one.map_or(Value::None, Value::Tensor)).collect()))
}

/// The gradients of input and weight that are wanted.
fn gradients<T: Factor>(of: &Convolution<T>, grad: &[T], [input, weight]: [bool; 2]) -> [Option<Vec<T>>; 2] {
    [input.then(|| of.of_input(grad)), weight.then(|| of.of_weight(grad))]
}

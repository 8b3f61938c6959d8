//! The backward of a convolution.

use ndarray::{ArrayD, IxDyn};

use super::super::array::Answer;
use super::super::work::ticks;
use super::sweep;
use super::wide::Wide;
use super::{Args, HostTensor, Value};

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    (args.name == "convolution_backward").then(|| backward(args))
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

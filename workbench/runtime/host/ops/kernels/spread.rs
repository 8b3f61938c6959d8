//! Variances and standard deviations along dimensions.

use ndarray::{ArrayD, IxDyn};

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::value::Value;
use super::super::wide::Wide;
use super::compiled::{self, Key, int, written};
use super::rows::{BLOCK, Blocks, MOST_ACROSS, ROW, WARP, all_of, all_to, beginning, whole};
use crate::back::RawArg;
use crate::runtime::DType;

const SPREAD: &str = include_str!("spread.cuh");
const COLUMNS: &str = include_str!("spread_of_columns.cuh");

/// `var(dim, keepdim, dtype, unbiased)` and `std`, as the operations are called.
pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let ("var" | "std", [Value::Tensor(x), rest @ ..]) = (name, args) else { return None };
    let given = |i: usize| rest.get(i).unwrap_or(&Value::None);
    let correction = match given(3) {
        Value::Bool(false) => 0.0,
        Value::Bool(true) | Value::None => 1.0,
        _ => return None,
    };
    if !matches!(given(2), Value::None) || rest.len() > 4 {
        return None;
    }
    spread(x, name, correction, &Blocks::of(x, given(0), given(1))?).map(|made| made.map(Value::Tensor))
}

fn spread(x: &HostTensor, name: &str, correction: f64, blocks: &Blocks) -> Option<Answer<HostTensor>> {
    if blocks.cols > 1 && blocks.outer > MOST_ACROSS {
        return None;
    }
    let x = answered!(whole(x)?);
    let (dtype, device) = (x.dtype(), x.device());
    let (operation, last) = match name {
        "var" => ("var", "(squares / (n - correction))"),
        _ => ("std", "sqrt(squares / (n - correction))"),
    };
    let by = RawArg::Scalar(correction.to_bits());
    if blocks.outer == 1 && blocks.cols == 1 {
        let (squares, count) = (answered!(of_all(&x, operation)?), x.numel() as f64);
        let variance = squares / (count - correction);
        let one = if operation == "var" { variance } else { variance.sqrt() };
        return Some(Wide::Float(ArrayD::from_elem(IxDyn(&vec![1; blocks.shape.len()]), one)).tensor(dtype, device));
    }
    let made = answered!(HostTensor::unfilled(dtype, &blocks.shape, device));
    let is_rows = blocks.cols == 1;
    let text = || {
        let lines = format!("typedef E R;\n#define LAST {last}\n#define STORE out[blockIdx.x] = (R)LAST;\n");
        beginning(dtype, &lines) + if is_rows { SPREAD } else { COLUMNS }
    };
    let kernel = compiled::kernel(Key { operation, from: dtype, to: dtype, form: u64::from(is_rows) }, text)?;
    let done = if is_rows {
        let args = [all_of(&x), all_to(&made), int(blocks.rows), int(x.numel()), by];
        kernel.launch(blocks.outer as u32, WARP, &args)
    } else {
        let args = [all_of(&x), all_to(&made), int(blocks.rows), int(blocks.cols), by];
        let grid = ((blocks.cols as u64).div_ceil(BLOCK.into()) as u32, blocks.outer as u32);
        kernel.launch(grid, BLOCK, &args)
    };
    Some(done.map(|()| made))
}

/// The sum of the squares of what all elements differ by from their mean. Rows of it are joined by the formula of Chan, Golub and LeVeque,
/// "Algorithms for computing the sample variance" (1983).
fn of_all(x: &HostTensor, operation: &'static str) -> Option<Answer<f64>> {
    let (dtype, count) = (x.dtype(), x.numel());
    let text = || {
        let store = "out[2 * blockIdx.x] = mean; out[2 * blockIdx.x + 1] = squares;";
        beginning(dtype, &format!("typedef double R;\n#define STORE {store}\n")) + SPREAD
    };
    let kernel = compiled::kernel(Key { operation, from: dtype, to: DType::Float64, form: 2 }, text)?;
    let rows = (count as u64).div_ceil(ROW as u64) as i64;
    let parts = answered!(HostTensor::unfilled(DType::Float64, &[2 * rows], x.device()));
    let args = [all_of(x), written(&parts, 2 * rows - 1), int(ROW), int(count), RawArg::Scalar(0)];
    answered!(kernel.launch(rows as u32, WARP, &args));
    // SAFETY: the tensor is contiguous, of doubles, and filled.
    let parts = unsafe { std::slice::from_raw_parts(parts.ptr().cast::<f64>(), 2 * rows as usize) };
    let (mut before, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (row, part) in (0..rows).zip(parts.chunks(2)) {
        let own = (count - row * ROW).min(ROW) as f64;
        let (all, step) = (before + own, part[0] - mean);
        squares += part[1] + step * step * before * own / all;
        mean += step * own / all;
        before = all;
    }
    Some(Ok(squares))
}

//! Operations along a dimension: reductions, places of extremes, softmax, layer norm, sums up to each element.

use ndarray::{ArrayD, IxDyn};

use super::super::super::answer::Answer;
use super::super::super::array::{Dims, HostTensor, contiguous_strides};
use super::super::super::value::Value;
use super::super::super::work::{PERIOD, ticks};
use super::super::wide::Wide;
use super::compiled::{self, Key, int, read, written};
use super::elements::{LEAST, computed_in, float_name, headers, is_aligned};
use super::layout::MOST;
use super::moves;
use crate::back::RawArg;
use crate::back::cpu::{Parts, share};
use crate::runtime::DType;

const REDUCE: &str = include_str!("reduce.cuh");
const COLUMNS: &str = include_str!("columns.cuh");
const PLACE: &str = include_str!("place.cuh");
const SOFTMAX: &str = include_str!("softmax.cuh");
const LAYER_NORM: &str = include_str!("layer_norm.cuh");

/// Elements of a row in which a tensor is reduced to one number: enough rows for all threads, and few numbers that are left.
pub const ROW: i64 = 1 << 14;

/// Most matrices one behind the other, whose columns are reduced.
pub const MOST_ACROSS: i64 = 65_535;

/// The longest row of sums: some milliseconds.
const LONGEST: i64 = 1 << 22;

/// The threads of a warp, and those of a block that goes down columns.
pub const WARP: u32 = 32;
pub const BLOCK: u32 = 256;

/// A reduction: what it keeps first, how it joins an element, what it gives.
struct Reduction {
    name: &'static str,
    /// The type of what it keeps; `T` is that of the elements.
    keeps: &'static str,
    first: &'static str,
    /// The part of an element `x`.
    part: &'static str,
    join: &'static str,
    last: &'static str,
}

const REDUCTIONS: &[Reduction] = &[
    Reduction { name: "sum", keeps: "double", first: "0", part: "x", join: "s + x", last: "s" },
    Reduction { name: "mean", keeps: "double", first: "0", part: "x", join: "s + x", last: "s / LENGTH" },
    Reduction { name: "amax", keeps: "T", first: "-INFINITY", part: "x", join: "(s != s || s > x ? s : x)", last: "s" },
    Reduction { name: "amin", keeps: "T", first: "INFINITY", part: "x", join: "(s != s || s < x ? s : x)", last: "s" },
    Reduction { name: "norm", keeps: "double", first: "0", part: "x * x", join: "s + x", last: "sqrt(s)" },
];

/// A tensor as matrices one behind the other: `outer` of them, of `rows` by `cols`, and what is reduced is their rows' index.
pub struct Blocks {
    pub outer: i64,
    pub rows: i64,
    pub cols: i64,
    /// The extents of the result.
    pub shape: Vec<i64>,
}

impl Blocks {
    /// The dimensions to reduce, none said: all. `None` where they do not lie side by side, or where an argument is wrong.
    pub fn of(x: &HostTensor, over: &Value, keep: &Value) -> Option<Self> {
        let keep = match keep {
            Value::None => false,
            Value::Bool(keep) => *keep,
            _ => return None,
        };
        let axes: Vec<usize> = match over {
            Value::None => (0..x.dim()).collect(),
            Value::Int(at) => vec![x.axis(*at).ok()?],
            Value::List(all) if all.is_empty() => (0..x.dim()).collect(),
            Value::List(all) => {
                let axis = |value: &Value| if let Value::Int(at) = value { x.axis(*at).ok() } else { None };
                all.iter().map(axis).collect::<Option<_>>()?
            }
            _ => return None,
        };
        let is_reduced = |d: &usize| axes.contains(d);
        if (0..x.dim()).filter(is_reduced).count() != axes.len() {
            return None;
        }
        let wide: Vec<usize> = (0..x.dim()).filter(|&d| x.shape()[d] != 1).collect();
        let first = wide.iter().position(is_reduced)?;
        let count = wide[first..].iter().take_while(|d| is_reduced(d)).count();
        if wide[first + count..].iter().any(&is_reduced) {
            return None;
        }
        let product = |dims: &[usize]| dims.iter().map(|&d| x.shape()[d]).product();
        let shape = (0..x.dim()).filter(|d| keep || !is_reduced(d));
        Some(Blocks {
            outer: product(&wide[..first]),
            rows: product(&wide[first..first + count]),
            cols: product(&wide[first + count..]),
            shape: shape.map(|d| if is_reduced(&d) { 1 } else { x.shape()[d] }).collect(),
        })
    }

    /// A contiguous tensor with these blocks, each turned: a row for each of its columns.
    pub fn turned(&self, x: &HostTensor) -> Option<Answer<HostTensor>> {
        if self.cols == 1 {
            return Some(Ok(x.clone()));
        }
        let (rows, cols) = (self.rows, self.cols);
        let (shape, strides) = ([self.outer, cols, rows], [rows * cols, 1, cols]);
        let view = x.viewed(Dims::from_slice(&shape), Dims::from_slice(&strides), x.offset());
        moves::copied(&view)
    }

    /// The tensor that [`Blocks::turned`] gave, or one with `rows` elements for each column, turned back; `shape` are the result's extents.
    pub fn turned_back(&self, made: &HostTensor, rows: i64, shape: &[i64]) -> Option<Answer<HostTensor>> {
        let whole = if self.cols == 1 {
            made.clone()
        } else {
            let (shape, strides) = ([self.outer, rows, self.cols], [rows * self.cols, 1, rows]);
            let view = made.viewed(Dims::from_slice(&shape), Dims::from_slice(&strides), made.offset());
            answered!(moves::copied(&view)?)
        };
        Some(Ok(whole.viewed(shape.into(), contiguous_strides(shape), whole.offset())))
    }
}

/// The tensor with its elements in their order, if a kernel may take them.
pub fn whole(x: &HostTensor) -> Option<Answer<HostTensor>> {
    let fits = x.dtype().is_float() && (LEAST..=MOST).contains(&x.numel()) && is_aligned(x);
    if !fits || x.is_contiguous() {
        return fits.then(|| Ok(x.clone()));
    }
    moves::copied(x)
}

/// The lines that a text begins with: `E` is the type of elements, `T` that of computations.
pub fn beginning(dtype: DType, more: &str) -> String {
    let element = float_name(dtype).unwrap_or("float");
    format!("{}typedef {element} E;\ntypedef {} T;\n{more}", headers([dtype]), computed_in(dtype))
}

pub fn all_of(x: &HostTensor) -> RawArg {
    read(x, x.numel() - 1)
}

pub fn all_to(x: &HostTensor) -> RawArg {
    written(x, x.numel() - 1)
}

pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let [Value::Tensor(x), rest @ ..] = args else { return None };
    let given = |i: usize| rest.get(i).unwrap_or(&Value::None);
    let is_plain = |from: usize| rest.iter().skip(from).all(|value| matches!(value, Value::None));
    match name {
        "sum" | "mean" | "amax" | "amin" if is_plain(2) => {
            let reduction = REDUCTIONS.iter().find(|known| known.name == name)?;
            reduce(x, reduction, &Blocks::of(x, given(0), given(1))?).map(|made| made.map(Value::Tensor))
        }
        "norm" => {
            // A number alone is `p`, for all elements; else `p` follows the dimensions and three more.
            let (over, p) = match given(0) {
                Value::Int(_) | Value::Float(_) => (&Value::None, given(0)),
                over => (over, given(4)),
            };
            let is_euclidean = match p {
                Value::None => true,
                Value::Int(p) => *p == 2,
                Value::Float(p) => *p == 2.0,
                _ => false,
            };
            let is_plain = (2..4).all(|i| matches!(given(i), Value::None)) && rest.len() <= 5;
            let reduction = REDUCTIONS.iter().find(|known| known.name == name).filter(|_| is_euclidean && is_plain)?;
            reduce(x, reduction, &Blocks::of(x, over, given(1))?).map(|made| made.map(Value::Tensor))
        }
        "argmax" | "argmin" if is_plain(2) => {
            let blocks = Blocks::of(x, given(0), given(1))?;
            places(x, name, &blocks).map(|made| made.map(Value::Tensor))
        }
        "max" | "min" if matches!(given(0), Value::Int(_)) && is_plain(2) => {
            let blocks = Blocks::of(x, given(0), given(1))?;
            let (values, at) = if name == "max" { ("amax", "argmax") } else { ("amin", "argmin") };
            let at = answered!(places(x, at, &blocks)?);
            let reduction = REDUCTIONS.iter().find(|known| known.name == values)?;
            let values = answered!(reduce(x, reduction, &blocks)?);
            Some(Ok(Value::List(vec![Value::Tensor(values), Value::Tensor(at)])))
        }
        "softmax" | "log_softmax" if is_plain(2) => {
            let is_same = matches!(given(1), Value::None) || matches!(given(1), Value::DType(d) if *d == x.dtype());
            let over = if let Value::None = given(0) { &Value::Int(-1) } else { given(0) };
            let blocks = Blocks::of(x, over, &Value::None)?;
            is_same.then_some(())?;
            softmax(x, name == "log_softmax", &blocks).map(|made| made.map(Value::Tensor))
        }
        "layer_norm" => layer_norm(x, rest).map(|made| made.map(Value::Tensor)),
        "cumsum" if matches!(given(0), Value::Int(_)) && is_plain(1) => {
            sums(x, &Blocks::of(x, given(0), &Value::None)?).map(|made| made.map(Value::Tensor))
        }
        _ => None,
    }
}

fn reduce(x: &HostTensor, reduction: &Reduction, blocks: &Blocks) -> Option<Answer<HostTensor>> {
    if blocks.cols > 1 && blocks.outer > MOST_ACROSS {
        return None;
    }
    let x = answered!(whole(x)?);
    let (dtype, device) = (x.dtype(), x.device());
    let lone = blocks.outer == 1 && blocks.cols == 1;
    // One number is made of the rows' own, which keep their precision.
    let (result, name, last) = match lone {
        true if reduction.keeps == "double" => (DType::Float64, "double", "s"),
        true if dtype != DType::Float64 => (DType::Float32, "float", "s"),
        true => (DType::Float64, "double", "s"),
        false => (dtype, "E", reduction.last),
    };
    let text = || {
        let length = if blocks.cols == 1 { "cols" } else { "rows" };
        let lines = format!(
            "typedef {} S;\ntypedef {name} R;\n#define FIRST {}\n#define PART(x) ({})\n#define JOIN(s, x) {}\n#define LAST(s) {last}\n#define LENGTH {length}\n",
            reduction.keeps, reduction.first, reduction.part, reduction.join
        );
        beginning(dtype, &lines) + if blocks.cols == 1 { REDUCE } else { COLUMNS }
    };
    let form = u64::from(blocks.cols == 1) << 1 | u64::from(lone);
    let kernel = compiled::kernel(Key { operation: reduction.name, from: dtype, to: result, form }, text)?;
    if blocks.cols > 1 {
        let made = answered!(HostTensor::unfilled(result, &blocks.shape, device));
        let args = [all_of(&x), all_to(&made), int(blocks.rows), int(blocks.cols)];
        let grid = ((blocks.cols as u64).div_ceil(BLOCK.into()) as u32, blocks.outer as u32);
        return Some(kernel.launch(grid, BLOCK, &args).map(|()| made));
    }
    let (rows, cols) = if lone { (x.numel().div_euclid(ROW) + 1, ROW) } else { (blocks.outer, blocks.rows) };
    // The last row of one number may be short, but never without elements.
    let rows = if lone && x.numel() % ROW == 0 { rows - 1 } else { rows };
    let made =
        answered!(HostTensor::unfilled(result, if lone { std::slice::from_ref(&rows) } else { &blocks.shape }, device));
    let args = [all_of(&x), all_to(&made), int(cols), int(x.numel())];
    answered!(kernel.launch(rows as u32, WARP, &args));
    if !lone {
        return Some(Ok(made));
    }
    // A few numbers are left.
    let parts: Vec<f64> = match result {
        // SAFETY: the tensor is contiguous, of that type, and filled.
        DType::Float64 => unsafe { std::slice::from_raw_parts(made.ptr().cast::<f64>(), rows as usize) }.to_vec(),
        _ => {
            // SAFETY: as above.
            let parts = unsafe { std::slice::from_raw_parts(made.ptr().cast::<f32>(), rows as usize) };
            parts.iter().copied().map(f64::from).collect()
        }
    };
    let join: fn(f64, f64) -> f64 = match reduction.name {
        "amax" => |s, x| if s.is_nan() || s > x { s } else { x },
        "amin" => |s, x| if s.is_nan() || s < x { s } else { x },
        _ => |s, x| s + x,
    };
    let one = parts.into_iter().reduce(join).unwrap_or(0.0);
    let one = match reduction.name {
        "mean" => one / x.numel() as f64,
        "norm" => one.sqrt(),
        _ => one,
    };
    Some(Wide::Float(ArrayD::from_elem(IxDyn(&vec![1; blocks.shape.len()]), one)).tensor(dtype, device))
}

fn places(x: &HostTensor, name: &str, blocks: &Blocks) -> Option<Answer<HostTensor>> {
    let x = answered!(whole(x)?);
    let x = answered!(blocks.turned(&x)?);
    let (operation, over) = if name == "argmax" { ("argmax", ">") } else { ("argmin", "<") };
    let text = || beginning(x.dtype(), &format!("#define OVER(x, y) ((x) {over} (y))\n")) + PLACE;
    let key = Key { operation, from: x.dtype(), to: DType::Int64, form: 0 };
    let kernel = compiled::kernel(key, text)?;
    let made = answered!(HostTensor::unfilled(DType::Int64, &blocks.shape, x.device()));
    let rows = (blocks.outer * blocks.cols) as u32;
    let done = kernel.launch(rows, WARP, &[all_of(&x), all_to(&made), int(blocks.rows)]);
    Some(done.map(|()| made))
}

fn softmax(x: &HostTensor, is_log: bool, blocks: &Blocks) -> Option<Answer<HostTensor>> {
    let x = answered!(whole(x)?);
    let turned = answered!(blocks.turned(&x)?);
    let (operation, whole, each) =
        if is_log { ("log_softmax", "log(s)", "x - by") } else { ("softmax", "T(1) / (s)", "exp(x) * by") };
    let text = || beginning(x.dtype(), &format!("#define WHOLE(s) {whole}\n#define EACH(x, by) ({each})\n")) + SOFTMAX;
    let kernel = compiled::kernel(Key { operation, from: x.dtype(), to: x.dtype(), form: 0 }, text)?;
    let made = answered!(HostTensor::unfilled(x.dtype(), &[x.numel()], x.device()));
    let rows = (blocks.outer * blocks.cols) as u32;
    answered!(kernel.launch(rows, WARP, &[all_of(&turned), all_to(&made), int(blocks.rows)]));
    blocks.turned_back(&made, blocks.rows, x.shape())
}

/// `layer_norm(input, normalized_shape, weight, bias, eps)`
fn layer_norm(x: &HostTensor, rest: &[Value]) -> Option<Answer<HostTensor>> {
    let given = |i: usize| rest.get(i).unwrap_or(&Value::None);
    let Value::List(extents) = given(0) else { return None };
    let extents: Vec<i64> =
        extents.iter().map(|v| if let Value::Int(n) = v { Some(*n) } else { None }).collect::<Option<_>>()?;
    if extents.is_empty() || !x.shape().ends_with(&extents) {
        return None;
    }
    let factor = |value| match value {
        &Value::None => Some(None),
        Value::Tensor(t) => {
            let fits = t.dtype() == x.dtype() && t.shape() == extents && t.is_contiguous() && is_aligned(t);
            fits.then_some(Some(t))
        }
        _ => None,
    };
    let (weight, bias) = (factor(given(1))?, factor(given(2))?);
    let eps = match given(3) {
        Value::None => 1e-5,
        Value::Float(eps) => *eps,
        Value::Int(eps) => *eps as f64,
        _ => return None,
    };
    let x = answered!(whole(x)?);
    let cols: i64 = extents.iter().product();
    let text = || {
        let (mut lines, param) = (String::new(), ["WEIGHT", "BIAS"]);
        for ((factor, name), (sign, letter)) in [weight, bias].iter().zip(param).zip([('*', 'w'), ('+', 'b')]) {
            lines += &match factor {
                Some(_) => {
                    format!("#define {name}_PARAM , const E *{letter}\n#define {name} {sign} (double)(T){letter}[c]\n")
                }
                None => format!("#define {name}_PARAM\n#define {name}\n"),
            };
        }
        beginning(x.dtype(), &lines) + LAYER_NORM
    };
    let form = u64::from(weight.is_some()) << 1 | u64::from(bias.is_some());
    let kernel = compiled::kernel(Key { operation: "layer_norm", from: x.dtype(), to: x.dtype(), form }, text)?;
    let made = answered!(HostTensor::unfilled(x.dtype(), x.shape(), x.device()));
    let mut args = vec![all_of(&x), all_to(&made), int(cols), RawArg::Scalar(eps.to_bits())];
    args.extend([weight, bias].into_iter().flatten().map(all_of));
    Some(kernel.launch((x.numel() / cols) as u32, WARP, &args).map(|()| made))
}

/// `cumsum(dim)`: row by row, on all threads. A sum waits for the one before it, which leaves nothing to vectors.
fn sums(x: &HostTensor, blocks: &Blocks) -> Option<Answer<HostTensor>> {
    // A row is not left before it is done. Sums of 16-bit floats are rounded to `float` one by one.
    if blocks.rows > LONGEST || !matches!(x.dtype(), DType::Float32 | DType::Float64) {
        return None;
    }
    let x = answered!(whole(x)?);
    let turned = answered!(blocks.turned(&x)?);
    let made = answered!(HostTensor::unfilled(x.dtype(), &[x.numel()], x.device()));
    let (count, cols) = (x.numel() as usize, blocks.rows as usize);
    if x.dtype() == DType::Float32 {
        // SAFETY: both tensors are contiguous, of that type and of as many elements; no other code has the new one.
        unsafe {
            let from = std::slice::from_raw_parts(turned.ptr().cast::<f32>(), count);
            add_up(from, made.ptr().cast::<f32>(), cols, f64::from, |sum| sum as f32);
        }
    } else {
        // SAFETY: as above.
        unsafe {
            let from = std::slice::from_raw_parts(turned.ptr().cast::<f64>(), count);
            add_up(from, made.ptr().cast::<f64>(), cols, |x| x, |sum| sum);
        }
    }
    blocks.turned_back(&made, blocks.rows, x.shape())
}

/// Writes the sums up to each element of rows.
///
/// # Safety
/// There is memory for as many elements behind `to`, which no other code has.
unsafe fn add_up<E: Copy + Send + Sync>(
    from: &[E],
    to: *mut E,
    cols: usize,
    wide: impl Fn(E) -> f64 + Sync,
    narrow: impl Fn(f64) -> E + Sync,
) {
    let target = Parts::new(to);
    let rows = PERIOD.div_ceil(cols);
    let pieces = (from.len() / cols).div_ceil(rows);
    let one = |piece: usize| {
        let begin = piece * rows * cols;
        let end = from.len().min(begin + rows * cols);
        for (first, row) in (begin..end).step_by(cols).zip(from[begin..end].chunks(cols)) {
            let mut sum = 0.0;
            for (at, x) in (first..).zip(row) {
                sum += wide(*x);
                // SAFETY: the place is an element's, and no other piece writes it.
                unsafe { target.at(at).write(narrow(sum)) };
            }
        }
    };
    share(pieces, &one, || ticks(rows * cols));
}

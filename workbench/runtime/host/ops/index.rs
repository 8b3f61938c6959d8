//! Operations that pick, place, order and count elements.

use ndarray::{ArrayD, Axis, Dimension, IxDyn, Zip};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::super::work;
use super::args::{Args, not_implemented, room};
use super::copies::copied;
use super::operand;
use super::order::order;
use super::sweep::{self, Sweep};
use super::wide::{Wide, each};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "cumsum" | "cumprod" => cumulated(args),
        "gather" => gather(args),
        "index_add" | "index_copy" | "index_fill" => by_slices(args),
        "take" => take(args),
        "put" => put(args),
        "masked_fill" => masked_fill(args),
        "masked_select" => masked_select(args),
        "nonzero" => nonzero(args),
        "unique" => unique(args),
        "tril" | "triu" => triangle(args),
        "diag" => diag(args),
        "trace" => trace(args),
        "flip" => flip(args),
        "roll" => roll(args),
        "repeat" => repeat(args),
        "repeat_interleave" => repeat_interleave(args),
        "constant_pad_nd" => pad(args),
        "bincount" => bincount(args),
        _ => return None,
    })
}

pub(super) fn fail<T>(message: String) -> Answer<T> {
    Err((Exception::Runtime, message))
}

/// A tensor of indices.
pub(super) fn indices(args: &mut Args<'_>) -> Answer<(ArrayD<i64>, HostTensor)> {
    let index = args.tensor()?;
    if !matches!(index.dtype(), DType::Int64 | DType::Int32) {
        return fail(format!("{}(): Expected dtype int64 for index", args.name));
    }
    Ok((Wide::of(&index).ints(), index))
}

pub(super) fn within(index: i64, at: usize, size: usize) -> Answer<usize> {
    match usize::try_from(index) {
        Ok(i) if i < size => Ok(i),
        _ => fail(format!("index {index} is out of bounds for dimension {at} with size {size}")),
    }
}

/// Tensors without dimensions count as vectors of one element.
pub(super) fn with_dims(wide: Wide) -> Wide {
    each!(wide, a => if a.ndim() == 0 { a.insert_axis(Axis(0)) } else { a })
}

pub(super) fn shaped(wide: Wide, like: &HostTensor, dtype: DType) -> Answer<HostTensor> {
    let wide =
        each!(wide, a => if like.dim() == 0 { a.into_shape_with_order(IxDyn(&[])).unwrap_or_default() } else { a });
    wide.tensor(dtype, like.device())
}

/// Combines each element with the one before it along a dimension.
fn accumulate<T: Copy>(a: &mut ArrayD<T>, at: usize, step: impl Fn(T, T) -> T) {
    if a.is_empty() {
        return;
    }
    for mut lane in a.lanes_mut(Axis(at)) {
        let mut before = None;
        for here in sweep::counted(&mut lane) {
            *here = before.map_or(*here, |before| step(before, *here));
            before = Some(*here);
        }
    }
}

fn cumulated(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let dtype = args.dtype()?.unwrap_or(if x.dtype().is_float() { x.dtype() } else { DType::Int64 });
    let sum = args.name == "cumsum";
    if dtype == DType::Bool {
        return not_implemented(&format!("{}_out_cpu", args.name), dtype);
    }
    // Sums of 16-bit floats are kept in `float`.
    let step = if dtype == DType::Float32 { |x| x } else { operand::step(dtype) };
    let made = match with_dims(Wide::of(&x).brought(dtype)) {
        Wide::Int(mut a) if !dtype.is_float() => {
            let step = |sum: bool, s: i64, v: i64| if sum { s.wrapping_add(v) } else { s.wrapping_mul(v) };
            accumulate(&mut a, at, |before, here| step(sum, before, here));
            Wide::Int(a)
        }
        wide => {
            let mut a = wide.floats();
            accumulate(&mut a, at, |before, here| step(if sum { before + here } else { before * here }));
            Wide::Float(a)
        }
    };
    shaped(made, &x, dtype).map(Value::Tensor)
}

fn gather(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let (index, like) = indices(args)?;
    let index = if index.ndim() == 0 { index.insert_axis(Axis(0)) } else { index };
    let wide = with_dims(Wide::of(&x));
    let extents: Vec<usize> = wide.shape().iter().map(|n| *n as usize).collect();
    if index.ndim() != extents.len() {
        return fail("Index tensor must have the same number of dimensions as input tensor".to_owned());
    }
    if (0..extents.len()).any(|d| d != at && index.shape()[d] > extents[d]) {
        return fail(format!(
            "Size does not match at dimension other than {at}: expected index {:?} to be no larger than self {:?}",
            like.shape(),
            x.shape()
        ));
    }
    for i in sweep::counted(&index) {
        within(*i, at, extents[at])?;
    }
    let made = each!(wide, a => sweep::placed(index.shape(), |mut place| {
        place[at] = index[&place] as usize;
        a[&place]
    }));
    shaped(made, &like, x.dtype()).map(Value::Tensor)
}

/// `index_add(dim, index, src, alpha)`, `index_copy(dim, index, src)`, `index_fill(dim, index, value)`
fn by_slices(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let (index, _) = indices(args)?;
    let (source, alpha) = (args.next(), args.next());
    let alpha = if let Value::None = alpha { Value::Int(1) } else { alpha };
    let alpha = operand::checked(&alpha, x.dtype())?;
    let (alpha, times) = (operand::only(&alpha.clone().floats()), operand::only(&alpha.ints()));
    let target = with_dims(Wide::of(&x));
    let extent = target.shape()[at] as usize;
    let name = args.name;
    let source = match source {
        Value::Tensor(t) => {
            let type_of = super::super::value::cpp_name;
            let (own, given) = (type_of(x.dtype()), type_of(t.dtype()));
            match name {
                _ if own == given => {}
                "index_add" => {
                    return fail(format!(
                        "index_add_(): self ({own}) and source ({given}) must have the same scalar type"
                    ));
                }
                _ => {
                    return fail(format!(
                        "{name}_(): self and source expected to have the same dtype, but got (self) {own} and (source) {given}"
                    ));
                }
            }
            if name == "index_add" && x.dim() > 0 && t.dim() == 0 {
                return fail(format!(
                    "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {:?} source.shape = []",
                    x.shape()
                ));
            }
            let source = with_dims(Wide::of(&t));
            let mut wanted = target.shape();
            wanted[at] = index.len() as i64;
            if source.shape() != wanted {
                let message = format!("{name}(): source of shape {:?}, where {wanted:?} is needed", t.shape());
                let kind = if name == "index_copy" { Exception::Index } else { Exception::Runtime };
                return Err((kind, message));
            }
            Some(source)
        }
        Value::None => None,
        value => Some(operand::checked(&value, x.dtype())?),
    };
    let Some(source) = source else { return fail(format!("{name}(): there is nothing to put")) };
    let mut places = work::reserved(index.len());
    for i in sweep::counted(&index) {
        // `index_fill` counts negative indices from the end.
        let i = if name == "index_fill" && *i < 0 { *i + extent as i64 } else { *i };
        if !(0..extent as i64).contains(&i) {
            return Err((
                Exception::Index,
                format!("index {i} is out of bounds for dimension {at} with size {extent}"),
            ));
        }
        places.push(i as usize);
    }
    let made = match target {
        Wide::Float(mut a) => {
            let source = source.floats();
            for (i, place) in places.into_iter().enumerate() {
                let part = if source.ndim() == 0 { source.view() } else { source.index_axis(Axis(at), i) };
                let mut slot = a.index_axis_mut(Axis(at), place);
                match name {
                    "index_add" => Zip::from(&mut slot).and_broadcast(&part).sweep(|(s, v)| *s += alpha * v),
                    _ => Zip::from(&mut slot).and_broadcast(&part).sweep(|(s, v)| *s = *v),
                }
            }
            Wide::Float(a)
        }
        Wide::Int(mut a) => {
            let source = source.ints();
            for (i, place) in places.into_iter().enumerate() {
                let part = if source.ndim() == 0 { source.view() } else { source.index_axis(Axis(at), i) };
                let mut slot = a.index_axis_mut(Axis(at), place);
                match name {
                    "index_add" => Zip::from(&mut slot)
                        .and_broadcast(&part)
                        .sweep(|(s, v)| *s = s.wrapping_add(times.wrapping_mul(*v))),
                    _ => Zip::from(&mut slot).and_broadcast(&part).sweep(|(s, v)| *s = *v),
                }
            }
            Wide::Int(a)
        }
    };
    shaped(made, &x, x.dtype()).map(Value::Tensor)
}

fn take(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (index, like) = indices(args)?;
    if like.dtype() != DType::Int64 {
        let name = super::super::value::cpp_name(like.dtype());
        return fail(format!("take(): Expected a long tensor for index, but got {name}"));
    }
    let places = flat_places(&index, x.numel())?;
    let made = each!(Wide::of(&x), a => {
        let flat = sweep::flat(a.view());
        let picked = work::collected(places.len(), places.iter().map(|p| flat[*p]));
        ArrayD::from_shape_vec(index.raw_dim(), picked).unwrap_or_default()
    });
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

/// The places of elements in a tensor of so many, in their order; negative indices count from the end.
fn flat_places(index: &ArrayD<i64>, size: i64) -> Answer<Vec<usize>> {
    let mut places = work::reserved(index.len());
    for i in sweep::counted(index) {
        let place = if *i < 0 { i + size } else { *i };
        if place < 0 || place >= size {
            return Err((
                Exception::Index,
                format!("out of range: tried to access index {i} on a tensor of {size} elements"),
            ));
        }
        places.push(place as usize);
    }
    Ok(places)
}

/// `put(index, source, accumulate)`
fn put(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (index, source, accumulate) = (args.tensor()?, args.tensor()?, args.flag(false)?);
    let type_of = super::super::value::cpp_name;
    if index.dtype() != DType::Int64 {
        return fail(format!("put_(): Expected a long tensor for index, but got {}", type_of(index.dtype())));
    }
    if source.dtype() != x.dtype() {
        return fail(format!(
            "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
            type_of(x.dtype()),
            type_of(source.dtype())
        ));
    }
    if source.numel() != index.numel() {
        let message = format!(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, index.numel() = {}",
            source.numel(),
            index.numel()
        );
        return Err((Exception::Index, message));
    }
    if x.numel() == 0 && index.numel() > 0 {
        return Err((Exception::Index, "put_(): Tried to put elements into an empty tensor".to_owned()));
    }
    let places = flat_places(&Wide::of(&index).ints(), x.numel())?;
    let rounded = operand::rounded(x.dtype());
    macro_rules! put {
        ($a:expr, $source:expr, $add:expr) => {{
            let (a, source) = ($a, $source);
            let mut flat = sweep::flat(a.view());
            for (place, value) in sweep::counted(places.iter().zip(&source)) {
                flat[*place] = if accumulate { $add(flat[*place], *value) } else { *value };
            }
            ArrayD::from_shape_vec(a.raw_dim(), flat).unwrap_or_default()
        }};
    }
    let source = Wide::of(&source);
    let made = match Wide::of(&x) {
        Wide::Float(a) => Wide::Float(put!(a, source.floats(), |s: f64, v: f64| rounded(s + v))),
        Wide::Int(a) => Wide::Int(put!(a, source.ints(), i64::wrapping_add)),
    };
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn mask(args: &mut Args<'_>) -> Answer<HostTensor> {
    let mask = args.tensor()?;
    if mask.dtype() != DType::Bool {
        return fail(format!(
            "{}: expected BoolTensor as mask, but got {}",
            args.name,
            super::super::value::cpp_name(mask.dtype())
        ));
    }
    Ok(mask)
}

/// Puts the value, in the tensor's own type, where the mask is set.
fn masked_fill(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (mask, value) = (mask(args)?, args.next());
    if let Value::Tensor(t) = &value
        && t.dim() > 0
    {
        return fail(format!(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
            t.dim()
        ));
    }
    let dtype = x.dtype();
    let value = Value::Tensor(operand::checked(&value, dtype)?.tensor(dtype, x.device())?);
    let made = super::run("where", vec![Value::Tensor(mask), value, Value::Tensor(x)], args.device)?;
    super::run("to", vec![made, Value::DType(dtype)], args.device)
}

fn masked_select(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let mask = mask(args)?;
    let shape = super::broadcast::broadcast(x.shape(), mask.shape())?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    let mask = Wide::of(&mask).ints();
    let misfit = || (Exception::Runtime, "shapes that do not broadcast".to_owned());
    let mask = mask.broadcast(IxDyn(&shape)).ok_or_else(misfit)?;
    let made = each!(Wide::of(&x), a => {
        let a = a.broadcast(IxDyn(&shape)).ok_or_else(misfit)?;
        let count = sweep::counted(mask.iter()).filter(|m| **m != 0).count();
        let mut kept = work::reserved(count);
        kept.extend(sweep::counted(a.iter().zip(mask.iter())).filter(|(_, m)| **m != 0).map(|(v, _)| *v));
        ArrayD::from_shape_vec(IxDyn(&[kept.len()]), kept).unwrap_or_default()
    });
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

/// The places of the elements that are not zero: their numbers one after the other, and how many there are.
pub fn places_of(x: &HostTensor) -> (Vec<i64>, usize) {
    let set = Wide::of(x).truth();
    let count = sweep::counted(&set).filter(|s| **s != 0).count();
    let mut numbers = work::reserved(count.saturating_mul(x.dim()));
    for (place, _) in sweep::counted(set.indexed_iter()).filter(|(_, s)| **s != 0) {
        numbers.extend(place.slice().iter().map(|i| *i as i64));
    }
    (numbers, count)
}

fn nonzero(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (places, count) = places_of(&x);
    let made = ArrayD::from_shape_vec(IxDyn(&[count, x.dim()]), places).unwrap_or_default();
    Wide::Int(made).tensor(DType::Int64, x.device()).map(Value::Tensor)
}

/// `unique(x, inverse, counts, consecutive)`: the distinct elements, sorted or in runs; for each element the number of its distinct one;
/// the counts.
fn unique(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (wants_inverse, wants_counts) = (args.flag(false)?, args.flag(false)?);
    let consecutive = args.flag(false)?;
    let mut inverse = work::repeated(x.numel() as usize, 0i64);
    let mut counts: Vec<i64> = work::reserved(inverse.len());
    macro_rules! distinct {
        ($a:expr) => {{
            let all = sweep::flat($a.view());
            let order = if consecutive { work::collected(all.len(), 0..all.len()) } else { order(&all, false) };
            let mut values = work::reserved(all.len());
            for from in sweep::counted(order) {
                // NaNs are distinct from one another.
                if values.last() != Some(&all[from]) {
                    values.push(all[from]);
                    counts.push(0);
                }
                inverse[from] = values.len() as i64 - 1;
                if let Some(count) = counts.last_mut() {
                    *count += 1;
                }
            }
            ArrayD::from_shape_vec(IxDyn(&[values.len()]), values).unwrap_or_default()
        }};
    }
    let values = each!(Wide::of(&x), a => distinct!(a)).tensor(x.dtype(), x.device())?;
    let numbers = |shape: &[usize], wanted: bool, all: Vec<i64>| {
        let (shape, all) = if wanted { (shape.to_vec(), all) } else { (vec![0], Vec::new()) };
        let made = ArrayD::from_shape_vec(IxDyn(&shape), all).unwrap_or_default();
        Wide::Int(made).tensor(DType::Int64, x.device()).map(Value::Tensor)
    };
    let shape: Vec<usize> = x.shape().iter().map(|n| *n as usize).collect();
    let inverse = numbers(&shape, wants_inverse, inverse)?;
    let counts = numbers(&[counts.len()], wants_counts, counts)?;
    Ok(Value::List(vec![Value::Tensor(values), inverse, counts]))
}

fn triangle(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let diagonal = args.int(0)?;
    if x.dim() < 2 {
        return fail(format!("{}: input tensor must have at least 2 dimensions", args.name));
    }
    let lower = args.name == "tril";
    let (r, c) = (x.dim() - 2, x.dim() - 1);
    let (rows, cols) = (x.shape()[r], x.shape()[c] as usize);
    let made = copied(&x, x.dtype(), x.device())?;
    if made.numel() > 0 {
        let bytes = made.numel() as usize * x.dtype().size();
        // SAFETY: the copy is contiguous, and no other code has it.
        let memory = unsafe { std::slice::from_raw_parts_mut(made.ptr(), bytes) };
        for (row, memory) in (0..rows).cycle().zip(memory.chunks_exact_mut(cols * x.dtype().size())) {
            // The first column past those that are kept, or the first that is.
            let border = row.saturating_add(diagonal).saturating_add(i64::from(lower)).clamp(0, cols as i64) as usize;
            let (before, after) = memory.split_at_mut(border * x.dtype().size());
            (if lower { after } else { before }).fill(0);
            work::ticks(1 + cols / 16);
        }
    }
    Ok(Value::Tensor(made))
}

fn diag(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let diagonal = args.int(0)?;
    let (down, right) = (diagonal.saturating_neg().max(0) as usize, diagonal.max(0) as usize);
    let made = match x.dim() {
        1 => {
            let side = x.shape()[0].saturating_add(diagonal.saturating_abs());
            room(&[side, side])?;
            let n = x.shape()[0] as usize + down + right;
            each!(Wide::of(&x), a => {
                let mut out = sweep::full(&[n, n], Default::default());
                sweep::counted(&a).enumerate().for_each(|(i, v)| out[[i + down, i + right]] = *v);
                out
            })
        }
        2 => {
            let extent = |i: usize, off: usize| (x.shape()[i] as usize).saturating_sub(off);
            let n = extent(0, down).min(extent(1, right));
            each!(Wide::of(&x), a => sweep::placed(&[n], |i| a[[i[0] + down, i[0] + right]]))
        }
        n => return fail(format!("diag(): Supports 1D or 2D tensors. Got {n}D")),
    };
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn trace(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    if x.dim() != 2 {
        return fail(format!("trace: expected a matrix, but got tensor with dim {}", x.dim()));
    }
    if x.dtype() == DType::Bool {
        return not_implemented("trace", x.dtype());
    }
    let diag = super::run("diag", vec![Value::Tensor(x), Value::Int(0)], args.device)?;
    super::run("sum", vec![diag], args.device)
}

fn flip(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let dims = args.ints()?.into_iter().map(|d| x.axis(d)).collect::<Answer<Vec<usize>>>()?;
    let made = each!(Wide::of(&x), a => {
        let mut view = a.view();
        dims.iter().filter(|d| **d < x.dim()).for_each(|d| view.invert_axis(Axis(*d)));
        sweep::owned(view)
    });
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn roll(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (shifts, dims) = (args.ints()?, args.ints()?);
    if dims.is_empty() && shifts.len() == 1 {
        let shape: Vec<Value> = x.shape().iter().map(|n| Value::Int(*n)).collect();
        let flat = super::run("flatten", vec![Value::Tensor(x)], args.device)?;
        let rolled = super::run("roll", vec![flat, Value::Int(shifts[0]), Value::Int(0)], args.device)?;
        return super::run("reshape", vec![rolled, Value::List(shape)], args.device);
    }
    if shifts.len() != dims.len() {
        return fail(format!("shifts and dimensions must align. shifts: {}, dims:{}", shifts.len(), dims.len()));
    }
    let (mut made, mut is_moved) = (Value::Tensor(x.clone()), false);
    for (shift, dim) in shifts.into_iter().zip(dims) {
        let at = x.axis(dim)?;
        let Some(n) = x.shape().get(at).copied().filter(|n| *n > 0) else { continue };
        let by = shift.rem_euclid(n);
        if by == 0 {
            continue;
        }
        let at = Value::Int(at as i64);
        let part = |from: i64, count: i64| {
            super::run("narrow", vec![made.clone(), at.clone(), Value::Int(from), Value::Int(count)], args.device)
        };
        let parts = vec![part(n - by, by)?, part(0, n - by)?];
        made = super::run("cat", vec![Value::List(parts), at.clone()], args.device)?;
        is_moved = true;
    }
    if is_moved { Ok(made) } else { copied(&x, x.dtype(), x.device()).map(Value::Tensor) }
}

fn repeat(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let repeats = args.ints()?;
    let Some(fresh) = repeats.len().checked_sub(x.dim()) else {
        return fail(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor".to_owned(),
        );
    };
    if repeats.iter().any(|n| *n < 0) {
        return fail(format!("Trying to create tensor with negative dimension: {repeats:?}"));
    }
    let old: Vec<usize> = (0..fresh).map(|_| 1).chain(x.shape().iter().map(|n| *n as usize)).collect();
    let wanted: Vec<i64> = old.iter().zip(&repeats).map(|(n, r)| (*n as i64).saturating_mul(*r)).collect();
    room(&wanted)?;
    let shape: Vec<usize> = wanted.iter().map(|n| *n as usize).collect();
    let made = each!(Wide::of(&x), a => {
        let a = sweep::owned(a.view()).into_shape_with_order(IxDyn(&old)).unwrap_or_default();
        sweep::placed(&shape, |mut place| {
            place.slice_mut().iter_mut().zip(&old).for_each(|(i, n)| *i %= n);
            a[&place]
        })
    });
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn repeat_interleave(args: &mut Args<'_>) -> Answer<Value> {
    let mut x = args.tensor()?;
    let repeats = args.int(1)?;
    let dim = args.next();
    if repeats < 0 {
        return fail("repeats can not be negative".to_owned());
    }
    let at = match dim {
        Value::Int(dim) => x.axis(dim)?,
        _ => {
            if let Value::Tensor(flat) = super::run("flatten", vec![Value::Tensor(x.clone())], args.device)? {
                x = flat;
            }
            0
        }
    };
    let n = x.shape().get(at).copied().unwrap_or(1);
    let mut wanted = x.shape().to_vec();
    if let Some(extent) = wanted.get_mut(at) {
        *extent = extent.saturating_mul(repeats);
    }
    room(&wanted)?;
    let made = each!(with_dims(Wide::of(&x)), a => {
        let mut shape = a.shape().to_vec();
        shape[at] = (n * repeats) as usize;
        sweep::placed(&shape, |mut place| {
            place[at] /= repeats.max(1) as usize;
            a[&place]
        })
    });
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

/// `constant_pad_nd(pad, value)`: the amounts before and after, from the last dimension on; a negative one cuts.
fn pad(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (pad, value) = (args.ints()?, args.next());
    let value = if let Value::None = value { Value::Int(0) } else { value };
    let value = operand::checked(&value, x.dtype())?;
    let (value, whole) = (operand::only(&value.clone().floats()), operand::only(&value.ints()));
    if pad.len() % 2 != 0 || pad.len() / 2 > x.dim() {
        return fail(format!("padding of {} numbers for a tensor of {} dimensions", pad.len(), x.dim()));
    }
    let mut shape: Vec<i64> = x.shape().to_vec();
    let mut before = vec![0i64; x.dim()];
    for (i, pair) in pad.chunks_exact(2).enumerate() {
        let d = x.dim() - 1 - i;
        before[d] = pair[0];
        shape[d] = shape[d].saturating_add(pair[0]).saturating_add(pair[1]);
    }
    room(&shape)?;
    let extents: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let source = |p: &IxDyn| -> Option<Vec<usize>> {
        let places = p.slice().iter().zip(&before).zip(x.shape());
        places.map(|((i, b), n)| usize::try_from(*i as i64 - b).ok().filter(|j| (*j as i64) < *n)).collect()
    };
    let made = match Wide::of(&x) {
        Wide::Float(a) => Wide::Float(sweep::placed(&extents, |p| source(&p).map_or(value, |q| a[IxDyn(&q)]))),
        Wide::Int(a) => Wide::Int(sweep::placed(&extents, |p| source(&p).map_or(whole, |q| a[IxDyn(&q)]))),
    };
    made.tensor(x.dtype(), x.device()).map(Value::Tensor)
}

fn bincount(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let (weights, least) = (args.next(), args.int(0)?);
    let bins = Wide::of(&x).ints();
    if x.dtype().is_float() {
        return not_implemented("bincount_cpu", x.dtype());
    }
    if x.dim() != 1 || sweep::counted(&bins).any(|v| *v < 0) {
        return fail("bincount only supports 1-d non-negative integral inputs.".to_owned());
    }
    let size = sweep::counted(&bins).copied().max().map_or(0, |m| m.saturating_add(1)).max(least);
    room(&[size])?;
    let made = match weights {
        Value::Tensor(weights) => {
            if weights.shape() != x.shape() {
                return fail("weights should be 1-d and have the same length as input".to_owned());
            }
            let mut out = sweep::full(&[size as usize], 0.0);
            let dtype = if weights.dtype() == DType::Float32 { DType::Float32 } else { DType::Float64 };
            sweep::counted(bins.iter().zip(&Wide::of(&weights).floats())).for_each(|(b, w)| out[[*b as usize]] += w);
            return Wide::Float(out).tensor(dtype, x.device()).map(Value::Tensor);
        }
        _ => {
            let mut out = sweep::full(&[size as usize], 0);
            sweep::counted(&bins).for_each(|b| out[[*b as usize]] += 1);
            out
        }
    };
    Wide::Int(made).tensor(DType::Int64, x.device()).map(Value::Tensor)
}

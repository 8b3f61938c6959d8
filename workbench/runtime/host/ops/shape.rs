//! Views, and operations that put elements elsewhere.

use smallvec::SmallVec;

use super::super::answer::Answer;
use super::super::array::{Dims, HostTensor, axis, count};
use super::super::value::Value;
use super::super::work;
use super::args::Args;
use super::copies::{copied, written};
use super::promote::promote;
use super::sweep;
use super::wide::Wide;
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(
        match args.name {
            "view" | "reshape" => view(args),
            "flatten" => flatten(args),
            "permute" => permute(args),
            "transpose" => transpose(args),
            "t" => t(args),
            "squeeze" => squeeze(args),
            "unsqueeze" => unsqueeze(args),
            "expand" => expand(args),
            "narrow" => narrow(args),
            "select" => select(args),
            "slice" => slice(args),
            "index_select" => index_select(args),
            "contiguous" => contiguous(args),
            "clone" => args.tensor().and_then(|x| {
                let made = x.new_like(x.dtype(), x.device())?;
                Wide::of(&x).write(&made)?;
                Ok(made)
            }),
            "to" => to(args),
            "cat" => cat(args),
            "stack" => stack(args),
            "item" => return Some(item(args)),
            "is_contiguous" => return Some(args.tensor().map(|t| Value::Bool(t.is_contiguous()))),
            "same_memory" => return Some(same_memory(args)),
            "is_nonzero" => return Some(is_nonzero(args)),
            "storage_offset" => return Some(args.tensor().map(|t| Value::Int(t.offset()))),
            "is_signed" => return Some(args.tensor().map(|t| Value::Bool(is_signed(t.dtype())))),
            "chunk" | "split" | "split_with_sizes" | "unbind" => return Some(parts(args)),
            "swapaxes" => transpose(args),
            "movedim" => movedim(args),
            "unflatten" => unflatten(args),
            "unfold" => unfold(args),
            "as_strided" => as_strided(args),
            "from_blob" => from_blob(args),
            _ => return None,
        }
        .map(Value::Tensor),
    )
}

fn bad<T>(message: String) -> Answer<T> {
    Err((Exception::Runtime, message))
}

/// A shape with its -1, if any, worked out.
fn inferred(shape: &[i64], numel: i64) -> Answer<Dims> {
    let mut out: Dims = shape.into();
    let misfit = || (Exception::Runtime, format!("shape '{shape:?}' is invalid for input of size {numel}"));
    match shape.iter().filter(|d| **d == -1).count() {
        0 => {}
        1 => {
            let others = count(&shape.iter().copied().filter(|d| *d != -1).collect::<Vec<_>>())?;
            if others == 0 || numel % others != 0 {
                return Err(misfit());
            }
            out.iter_mut().filter(|d| **d == -1).for_each(|d| *d = numel / others);
        }
        _ => return bad("only one dimension can be inferred".to_owned()),
    }
    if count(&out)? != numel {
        return Err(misfit());
    }
    Ok(out)
}

/// The strides of a view of another shape, where there is one without a copy.
fn view_strides(x: &HostTensor, shape: &[i64]) -> Option<Dims> {
    if x.numel() == 0 || x.is_contiguous() {
        return Some(super::super::array::contiguous_strides(shape));
    }
    // Runs of dimensions that lie one behind the other, from the last, are each divided among the new ones.
    let mut strides: Dims = SmallVec::from_elem(0, shape.len());
    let mut to = shape.len();
    let mut from = x.dim();
    while from > 0 {
        let (mut size, base) = (x.shape()[from - 1], x.strides()[from - 1]);
        let mut begin = from - 1;
        while begin > 0 && (x.shape()[begin - 1] == 1 || x.strides()[begin - 1] == x.strides()[from - 1] * size) {
            begin -= 1;
            size *= x.shape()[begin];
        }
        let mut taken = 1;
        while to > 0 && (taken < size || shape[to - 1] == 1) {
            to -= 1;
            strides[to] = base * taken;
            taken *= shape[to];
        }
        if taken != size {
            return None;
        }
        from = begin;
    }
    (to == 0 || shape[..to].iter().all(|n| *n == 1)).then_some(strides)
}

fn view(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let shape = inferred(&args.ints()?, x.numel())?;
    match view_strides(&x, &shape) {
        Some(strides) => Ok(x.viewed(shape, strides, x.offset())),
        None if args.name == "view" => bad(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two \
             contiguous subspaces). Use .reshape(...) instead."
                .to_owned(),
        ),
        None => {
            let x = copied(&x, x.dtype(), x.device())?;
            let strides = super::super::array::contiguous_strides(&shape);
            Ok(x.viewed(shape, strides, 0))
        }
    }
}

fn reshaped(x: &HostTensor, shape: &[i64]) -> Answer<HostTensor> {
    let shape = inferred(shape, x.numel())?;
    match view_strides(x, &shape) {
        Some(strides) => Ok(x.viewed(shape, strides, x.offset())),
        None => {
            let x = copied(x, x.dtype(), x.device())?;
            let strides = super::super::array::contiguous_strides(&shape);
            Ok(x.viewed(shape, strides, 0))
        }
    }
}

fn flatten(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (start, end) = (x.axis(args.int(0)?)?, x.axis(args.int(-1)?)?);
    if x.dim() == 0 {
        return reshaped(&x, &[1]);
    }
    if start > end {
        return bad("flatten() has invalid args: start_dim cannot come after end_dim".to_owned());
    }
    let mut shape: Vec<i64> = x.shape()[..start].to_vec();
    shape.push(x.shape()[start..=end].iter().product());
    shape.extend(&x.shape()[end + 1..]);
    reshaped(&x, &shape)
}

fn permuted(x: &HostTensor, order: &[usize]) -> HostTensor {
    let pick = |words: &[i64]| order.iter().map(|i| words[*i]).collect::<Dims>();
    x.viewed(pick(x.shape()), pick(x.strides()), x.offset())
}

fn permute(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let given = args.ints()?;
    let order = given.iter().map(|i| x.axis(*i)).collect::<Answer<Vec<usize>>>()?;
    if order.len() != x.dim() {
        let message = format!(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length \
             of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
            x.dim(),
            order.len()
        );
        return bad(message);
    }
    let mut seen = vec![false; order.len()];
    if order.iter().any(|i| std::mem::replace(&mut seen[*i], true)) {
        return bad("permute(): duplicate dims are not allowed.".to_owned());
    }
    Ok(permuted(&x, &order))
}

fn swapped(x: &HostTensor, a: usize, b: usize) -> HostTensor {
    let mut order: Vec<usize> = (0..x.dim()).collect();
    if x.dim() > 0 {
        order.swap(a, b);
    }
    permuted(x, &order)
}

fn transpose(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (a, b) = (x.axis(args.int(0)?)?, x.axis(args.int(1)?)?);
    Ok(swapped(&x, a, b))
}

fn t(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    match x.dim() {
        0 | 1 => Ok(x),
        2 => Ok(swapped(&x, 0, 1)),
        n => bad(format!("t() expects a tensor with <= 2 dimensions, but self is {n}D")),
    }
}

fn squeeze(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let only = match args.next() {
        Value::Int(i) => Some(x.axis(i)?),
        _ => None,
    };
    let keep = |i: &usize| x.shape()[*i] != 1 || only.is_some_and(|o| o != *i);
    let order: Vec<usize> = (0..x.dim()).filter(keep).collect();
    Ok(permuted(&x, &order))
}

fn unsqueezed(x: &HostTensor, at: i64) -> Answer<HostTensor> {
    let at = axis(at, x.dim() + 1)?;
    let (mut shape, mut strides): (Dims, Dims) = (x.shape().into(), x.strides().into());
    let stride = shape.get(at).map_or(1, |n| n * strides[at]);
    shape.insert(at, 1);
    strides.insert(at, stride);
    Ok(x.viewed(shape, strides, x.offset()))
}

fn unsqueeze(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let at = args.int(0)?;
    unsqueezed(&x, at)
}

fn expand(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let wanted = args.ints()?;
    let Some(fresh) = wanted.len().checked_sub(x.dim()) else {
        return bad(format!(
            "expand: the number of sizes provided ({}) must be greater or equal to the number of \
             dimensions in the tensor ({})",
            wanted.len(),
            x.dim()
        ));
    };
    let (mut shape, mut strides) = (Dims::new(), Dims::new());
    for (i, &n) in wanted.iter().enumerate() {
        let own = i.checked_sub(fresh).map(|j| (x.shape()[j], x.strides()[j]));
        let (extent, stride) = match own {
            Some((size, stride)) if n == -1 || n == size => (size, stride),
            Some((1, _)) if n >= 0 => (n, 0),
            None if n >= 0 => (n, 0),
            _ => {
                let size = own.map_or(1, |(size, _)| size);
                return bad(format!(
                    "The expanded size of the tensor ({n}) must match the existing size ({size}) at \
                     non-singleton dimension {i}.  Target sizes: {wanted:?}.  Tensor sizes: {:?}",
                    x.shape()
                ));
            }
        };
        shape.push(extent);
        strides.push(stride);
    }
    count(&shape)?;
    Ok(x.viewed(shape, strides, x.offset()))
}

fn cut(x: &HostTensor, at: usize, start: i64, len: i64, step: i64) -> HostTensor {
    let (mut shape, mut strides): (Dims, Dims) = (x.shape().into(), x.strides().into());
    let offset = x.offset() + if len > 0 { start * strides[at] } else { 0 };
    shape[at] = len;
    strides[at] *= step;
    x.viewed(shape, strides, offset)
}

fn narrow(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (at, start, len) = (x.axis(args.int(0)?)?, args.int(0)?, args.int(0)?);
    let size = x.shape().get(at).copied().unwrap_or(0);
    let from = if start < 0 { start + size } else { start };
    if x.dim() > 0 && !(-size..=size).contains(&start) {
        let message = format!("start out of range (expected to be in range of [{}, {size}], but got {start})", -size);
        return Err((Exception::Index, message));
    }
    if x.dim() == 0 || from < 0 || len < 0 || from > size - len {
        return bad(format!("start ({start}) + length ({len}) exceeds dimension size ({size})."));
    }
    Ok(cut(&x, at, from, len, 1))
}

fn select(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    if x.dim() == 0 {
        return Err((Exception::Index, "select() cannot be applied to a 0-dim tensor.".to_owned()));
    }
    let (at, index) = (x.axis(args.int(0)?)?, args.int(0)?);
    let size = x.shape()[at];
    if index < -size || index >= size {
        let message =
            format!("select(): index {index} out of range for tensor of size {:?} at dimension {at}", x.shape());
        return Err((Exception::Index, message));
    }
    let one = cut(&x, at, if index < 0 { index + size } else { index }, 1, 1);
    let order: Vec<usize> = (0..x.dim()).filter(|i| *i != at).collect();
    Ok(permuted(&one, &order))
}

fn slice(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    if x.dim() == 0 {
        return Err((Exception::Index, "slice() cannot be applied to a 0-dim tensor.".to_owned()));
    }
    let at = x.axis(args.int(0)?)?;
    let size = x.shape().get(at).copied().unwrap_or(0);
    let clip = |i: i64| (if i < 0 { i.saturating_add(size) } else { i }).clamp(0, size);
    let (start, end) = (clip(args.int(0)?), clip(args.int(i64::MAX)?));
    let step = args.int(1)?;
    if step <= 0 {
        return bad("slice step must be positive".to_owned());
    }
    let len = (end - start).max(0);
    let count = if len > 0 { (len - 1) / step + 1 } else { 0 };
    Ok(cut(&x, at, start, count, if count > 1 { step } else { 1 }))
}

fn index_select(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let index = args.tensor()?;
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return bad("index_select(): Expected dtype int32 or int64 for index".to_owned());
    }
    if index.dim() > 1 {
        return bad("index_select(): Index is supposed to be a vector".to_owned());
    }
    let size = x.shape().get(at).copied().unwrap_or(1);
    let index = Wide::of(&index).ints();
    if x.dim() == 0 {
        return match index.iter().all(|i| *i == 0) && index.len() == 1 {
            true => copied(&x, x.dtype(), x.device()),
            false => bad("index_select(): Index to scalar can have only 1 value, which is 0".to_owned()),
        };
    }
    if let Some(i) = sweep::counted(&index).find(|i| **i < 0 || **i >= size) {
        return Err((Exception::Index, format!("index out of range in self: {i} of {size}")));
    }
    let parts: Vec<HostTensor> = work::collected(index.len(), index.iter().map(|i| cut(&x, at, *i, 1, 1)));
    joined(&parts, at, x.dtype(), x.shape(), x.device())
}

fn contiguous(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    if x.is_contiguous() { Ok(x) } else { copied(&x, x.dtype(), x.device()) }
}

/// `to(dtype or none, device or none)`
fn to(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (mut dtype, mut device) = (x.dtype(), x.device());
    for _ in 0..2 {
        match args.next() {
            Value::DType(d) => dtype = d,
            Value::Device(d) if d.is_cuda != device.is_cuda || d.index >= 0 => device = d,
            Value::Device(_) | Value::None => {}
            other => return args.misfit(&other, "dtype or device"),
        }
    }
    if dtype == x.dtype() && device.is_cuda == x.device().is_cuda {
        return Ok(x);
    }
    let made = x.new_like(dtype, device)?;
    written(&x, &made)?;
    Ok(made)
}

/// Parts one behind the other along a dimension; `shape` is theirs, except in that dimension.
fn joined(
    parts: &[HostTensor],
    at: usize,
    dtype: DType,
    shape: &[i64],
    device: super::super::DeviceTag,
) -> Answer<HostTensor> {
    let mut shape: Vec<i64> = shape.to_vec();
    if shape.is_empty() {
        shape.push(0);
    }
    shape[at] = parts.iter().map(|p| p.shape().get(at).copied().unwrap_or(1)).sum();
    // The parts fill it.
    let made = HostTensor::unfilled(dtype, &shape, device)?;
    let mut from = 0;
    for part in parts {
        let len = part.shape().get(at).copied().unwrap_or(1);
        written(part, &cut(&made, at, from, len, 1))?;
        from += len;
        work::ticks(64);
    }
    Ok(made)
}

fn cat(args: &mut Args<'_>) -> Answer<HostTensor> {
    let mut parts = args.tensors()?;
    // Empty vectors join with anything, as they always did in torch.
    if parts.iter().any(|p| p.shape() != [0]) {
        parts.retain(|p| p.shape() != [0]);
    }
    let Some(first) = parts.first().cloned() else {
        return bad("torch.cat(): expected a non-empty list of Tensors".to_owned());
    };
    if first.dim() == 0 {
        return bad("zero-dimensional tensor (at position 0) cannot be concatenated".to_owned());
    }
    let at = first.axis(args.int(0)?)?;
    for (i, part) in parts.iter().enumerate() {
        let fits =
            part.dim() == first.dim() && (0..first.dim()).all(|d| d == at || part.shape()[d] == first.shape()[d]);
        if !fits {
            if part.dim() != first.dim() {
                return bad(format!(
                    "Tensors must have same number of dimensions: got {} and {}",
                    first.dim(),
                    part.dim()
                ));
            }
            let differs = (0..first.dim()).find(|&d| d != at && part.shape()[d] != first.shape()[d]).unwrap_or(0);
            return bad(format!(
                "Sizes of tensors must match except in dimension {at}. Expected size {} but got size {} for \
                 tensor number {i} in the list.",
                first.shape()[differs],
                part.shape()[differs]
            ));
        }
    }
    let dtype = parts.iter().map(HostTensor::dtype).reduce(promote).unwrap_or(DType::Float32);
    joined(&parts, at, dtype, first.shape(), first.device())
}

fn stack(args: &mut Args<'_>) -> Answer<HostTensor> {
    let parts = args.tensors()?;
    let Some(first) = parts.first().cloned() else {
        return bad("stack expects a non-empty TensorList".to_owned());
    };
    let at = axis(args.int(0)?, first.dim() + 1)?;
    if let Some((i, part)) = parts.iter().enumerate().find(|(_, p)| p.shape() != first.shape()) {
        return bad(format!(
            "stack expects each tensor to be equal size, but got {:?} at entry 0 and {:?} at entry {i}",
            first.shape(),
            part.shape()
        ));
    }
    let dtype = parts.iter().map(HostTensor::dtype).reduce(promote).unwrap_or(DType::Float32);
    let parts = parts.iter().map(|p| unsqueezed(p, at as i64)).collect::<Answer<Vec<_>>>()?;
    let shape = parts[0].shape().to_vec();
    joined(&parts, at, dtype, &shape, first.device())
}

fn item(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    if x.numel() != 1 {
        return bad(format!("a Tensor with {} elements cannot be converted to Scalar", x.numel()));
    }
    Ok(match Wide::of(&x) {
        Wide::Float(a) => Value::Float(a.iter().next().copied().unwrap_or(0.0)),
        Wide::Int(a) if x.dtype() == DType::Bool => Value::Bool(a.iter().next() != Some(&0)),
        Wide::Int(a) => Value::Int(a.iter().next().copied().unwrap_or(0)),
    })
}

fn is_nonzero(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    match x.numel() {
        1 => {}
        0 => return bad("Boolean value of Tensor with no values is ambiguous".to_owned()),
        _ => return bad("Boolean value of Tensor with more than one value is ambiguous".to_owned()),
    }
    let set = match Wide::of(&x) {
        Wide::Float(a) => a.iter().any(|v| *v != 0.0),
        Wide::Int(a) => a.iter().any(|v| *v != 0),
    };
    Ok(Value::Bool(set))
}

fn same_memory(args: &mut Args<'_>) -> Answer<Value> {
    let (a, b) = (args.tensor()?, args.tensor()?);
    Ok(Value::Bool(a.ptr() == b.ptr() && a.shape() == b.shape() && a.strides() == b.strides()))
}

fn is_signed(dtype: DType) -> bool {
    dtype.is_float() || matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64)
}

/// Views one behind the other along a dimension: `chunk(chunks, dim)`, `split(size or sizes, dim)`, `unbind(dim)`.
fn parts(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let how = if args.name == "unbind" { Value::Int(1) } else { args.next() };
    if x.dim() == 0 && args.name == "unbind" {
        return Err((Exception::Index, "Dimension specified as 0 but tensor has no dimensions".to_owned()));
    }
    if x.dim() == 0 {
        return bad(format!("{} expects at least a 1-dimensional tensor", args.name));
    }
    let at = x.axis(args.int(0)?)?;
    let size = x.shape()[at];
    match how {
        Value::List(all) => {
            let mut sizes = work::reserved(all.len());
            for v in sweep::counted(all) {
                match v {
                    Value::Int(n) if n >= 0 => sizes.push(n),
                    other => return args.misfit(&other, "a size"),
                }
            }
            if sweep::counted(&sizes).map(|n| i128::from(*n)).sum::<i128>() != i128::from(size) {
                return bad(format!(
                    "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {at}), \
                     but got split_sizes={sizes:?}"
                ));
            }
            Ok(cut_up(args, &x, at, sizes.into_iter()))
        }
        Value::Int(n) if n > 0 => {
            let step = if args.name == "chunk" { (size - 1).max(0) / n + 1 } else { n };
            let count = match args.name {
                _ if size > 0 => (size - 1) / step + 1,
                "chunk" => n.min(1 << 20),
                "unbind" => 0,
                _ => 1,
            };
            let sizes = (0..count as usize).map(|i| step.min(size - i as i64 * step).max(0));
            Ok(cut_up(args, &x, at, sizes))
        }
        Value::Int(n) if args.name == "chunk" => bad(format!("chunk expects `chunks` to be greater than 0, got: {n}")),
        Value::Int(n) => bad(format!("split expects split_size be positive, but got split_size={n}")),
        other => args.misfit(&other, "a number of parts, or sizes"),
    }
}

/// Views of these sizes, one behind the other. There may be as many as a view has elements, so each is counted before the next is made.
fn cut_up(args: &Args<'_>, x: &HostTensor, at: usize, sizes: impl ExactSizeIterator<Item = i64>) -> Value {
    let order: Vec<usize> = (0..x.dim()).filter(|i| args.name != "unbind" || *i != at).collect();
    let (count, mut from) = (sizes.len(), 0);
    let parts = sizes.map(|len| {
        let part = cut(x, at, from, len, 1);
        from += len;
        Value::Tensor(permuted(&part, &order))
    });
    Value::List(work::collected(count, parts))
}

fn movedim(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (from, to) = (x.axis(args.int(0)?)?, x.axis(args.int(0)?)?);
    let mut order: Vec<usize> = (0..x.dim()).filter(|i| *i != from).collect();
    order.insert(to.min(order.len()), from);
    order.truncate(x.dim());
    Ok(permuted(&x, &order))
}

fn unflatten(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let sizes = inferred(&args.ints()?, x.shape().get(at).copied().unwrap_or(1))?;
    let mut shape: Vec<i64> = x.shape()[..at].to_vec();
    shape.extend(&sizes);
    shape.extend(x.shape().iter().skip(at + 1));
    reshaped(&x, &shape)
}

/// `unfold(dim, size, step)`: overlapping windows, along a dimension of their own at the end.
fn unfold(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let (size, step) = (args.int(1)?, args.int(1)?);
    let extent = x.shape().get(at).copied().unwrap_or(1);
    if size < 0 || size > extent || step <= 0 {
        return bad(format!("maximum size for tensor at dimension {at} is {extent} but size is {size} (step {step})"));
    }
    let (mut shape, mut strides): (Dims, Dims) = (x.shape().into(), x.strides().into());
    let stride = strides.get(at).copied().unwrap_or(1);
    if x.dim() > 0 {
        shape[at] = (extent - size) / step + 1;
        strides[at] = stride.saturating_mul(step);
    }
    shape.push(size);
    strides.push(stride);
    Ok(x.viewed(shape, strides, x.offset()))
}

/// True if a view stays within a storage of so many elements.
fn stays_within(shape: &[i64], strides: &[i64], offset: i64, elements: i64) -> bool {
    let last = shape.iter().zip(strides).try_fold(offset, |at, (n, s)| {
        if *s < 0 {
            return None;
        }
        at.checked_add((n - 1).checked_mul(*s)?)
    });
    shape.contains(&0) || (offset >= 0 && last.is_some_and(|last| last < elements))
}

fn as_strided(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let (shape, strides, offset) = (args.ints()?, args.ints()?, args.int(x.offset())?);
    count(&shape)?;
    let elements = (x.storage().bytes() / x.dtype().size()) as i64;
    if shape.len() != strides.len() || !stays_within(&shape, &strides, offset, elements) {
        return bad(format!(
            "setStorage: sizes {shape:?}, strides {strides:?}, storage offset {offset} are out of bounds for storage of \
             {elements} elements"
        ));
    }
    Ok(x.viewed(shape[..].into(), strides[..].into(), offset))
}

/// `from_blob(bytes, shape, strides or none, dtype)`
fn from_blob(args: &mut Args<'_>) -> Answer<HostTensor> {
    let (blob, shape) = (args.tensor()?, args.ints()?);
    let strides = args.ints()?;
    let dtype = args.dtype()?.unwrap_or(DType::Float32);
    count(&shape)?;
    let strides: Dims =
        if strides.is_empty() { super::super::array::contiguous_strides(&shape) } else { strides[..].into() };
    let elements = (blob.storage().bytes() / dtype.size()) as i64;
    if shape.len() != strides.len() || !stays_within(&shape, &strides, 0, elements) {
        return bad(format!("from_blob: a tensor of shape {shape:?} does not fit memory of {elements} elements"));
    }
    Ok(HostTensor::view(blob.storage().clone(), dtype, shape[..].into(), strides, 0, blob.device()))
}

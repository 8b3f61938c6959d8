//! Elements moved: copies of views, transposes, parts joined, rows and elements picked by indices.

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::value::Value;
use super::compiled::{self, Key, int, read, written};
use super::elements::{LEAST, bits_name, is_aligned};
use super::layout::{Layout, MOST};
use super::pointwise;
use crate::runtime::DType;

const TRANSPOSE: &str = include_str!("transpose.cuh");
const PICK: &str = include_str!("pick.cuh");
const GATHER: &str = include_str!("gather.cuh");

/// Most blocks in the second and third direction of a grid.
const MOST_ACROSS: i64 = 65_535;

/// The extent of a tile.
const TILE: i64 = 32;

/// The type with which a copy of elements of a size is compiled: their bits alone matter.
fn bits(size: usize) -> DType {
    match size {
        1 => DType::UInt8,
        2 => DType::UInt16,
        4 => DType::UInt32,
        _ => DType::UInt64,
    }
}

/// Copies a tensor's elements into a tensor that they broadcast to, converted to its type; `None` where no kernel is for it.
///
/// # Errors
/// None but those of a launch.
pub fn copy(from: &HostTensor, to: &HostTensor) -> Option<Answer<()>> {
    if to.numel() < LEAST || !is_aligned(from) || !is_aligned(to) {
        return None;
    }
    if from.dtype() != to.dtype() {
        return pointwise::convert(from, to);
    }
    moved(from, to)
}

/// A contiguous copy of a tensor of any size; `None` where no kernel is for it.
pub fn copied(from: &HostTensor) -> Option<Answer<HostTensor>> {
    let made = answered!(HostTensor::unfilled(from.dtype(), from.shape(), from.device()));
    if from.numel() == 0 {
        return Some(Ok(made));
    }
    if from.numel() > MOST || !is_aligned(from) {
        return None;
    }
    answered!(moved(from, &made)?);
    Some(Ok(made))
}

/// Copies elements into a tensor of the same type that they broadcast to.
fn moved(from: &HostTensor, to: &HostTensor) -> Option<Answer<()>> {
    let layout = Layout::of(&[to, from])?;
    if let Some(done) = transpose(from, to, &layout) {
        return Some(done);
    }
    let size = from.dtype().size();
    let text = || {
        let (places, extents) = layout.places();
        let ((out, out_strides), (place, strides)) = (layout.place(0, 'o'), layout.place(1, 'x'));
        let element = bits_name(size);
        format!(
            "__global__ void k({element} *out, int count{extents}{out_strides}, const {element} *px{strides}) {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= count) return;\n    {places}\n    out[{out}] = px[{place}];\n}}\n"
        )
    };
    let kernel =
        compiled::kernel(Key { operation: "copy", from: bits(size), to: bits(size), form: layout.form() }, text)?;
    let mut args = vec![written(to, layout.last(0)), int(layout.count())];
    args.extend(layout.extent_args());
    args.extend(layout.stride_args(0));
    args.push(read(from, layout.last(1)));
    args.extend(layout.stride_args(1));
    Some(kernel.launch((layout.count() as u64).div_ceil(256) as u32, 256, &args))
}

/// Copies matrices whose columns lie in memory into such as lie there row by row.
fn transpose(from: &HostTensor, to: &HostTensor, layout: &Layout) -> Option<Answer<()>> {
    let (extents, strides, out) = (layout.extents(), layout.strides(1), layout.strides(0));
    let (&[cols, rows, ..], &[leap, 1, ..]) = (extents.as_slice(), strides.as_slice()) else { return None };
    let count = extents.get(2).copied().unwrap_or(1);
    let is_dense = out[0] == 1 && out[1] == cols && out.get(2).is_none_or(|next| *next == rows * cols);
    let across = (rows as u64).div_ceil(TILE as u64) as i64;
    if !is_dense || cols < TILE || rows < TILE || across > MOST_ACROSS || count > MOST_ACROSS {
        return None;
    }
    let size = from.dtype().size();
    let text = || format!("typedef {} E;\n{TRANSPOSE}", bits_name(size));
    let kernel = compiled::kernel(Key { operation: "transpose", from: bits(size), to: bits(size), form: 0 }, text)?;
    let next = strides.get(2).copied().unwrap_or(0);
    let args = [read(from, layout.last(1)), written(to, layout.last(0)), int(rows), int(cols), int(leap), int(next)];
    let grid = ((cols as u64).div_ceil(TILE as u64) as u32, across as u32, count as u32);
    Some(kernel.launch(grid, (TILE as u32, 8), &args))
}

pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    match (name, args) {
        ("index_select", [Value::Tensor(x), Value::Int(at), Value::Tensor(index)]) => {
            pick(x, x.axis(*at).ok()?, index).map(|made| made.map(Value::Tensor))
        }
        ("gather", [Value::Tensor(x), Value::Int(at), Value::Tensor(index)]) => {
            gather(x, x.axis(*at).ok()?, index).map(|made| made.map(Value::Tensor))
        }
        _ => None,
    }
}

/// `index_select(dim, index)`
fn pick(x: &HostTensor, at: usize, index: &HostTensor) -> Option<Answer<HostTensor>> {
    let is_index = matches!(index.dtype(), DType::Int32 | DType::Int64) && index.dim() == 1;
    if !is_index || x.dim() == 0 || !x.is_contiguous() || !index.is_contiguous() || !is_aligned(x) || !is_aligned(index)
    {
        return None;
    }
    let product = |extents: &[i64]| extents.iter().product::<i64>();
    let (outer, size, cols) = (product(&x.shape()[..at]), x.shape()[at], product(&x.shape()[at + 1..]));
    let each = index.numel();
    let most = i64::from(i32::MAX);
    let rows = outer.checked_mul(each)?;
    // Rows of few elements are for the operation's own code, as are indices outside of the tensor, of which it tells.
    if rows.checked_mul(cols)? > most || x.numel() > most || rows * cols < LEAST || cols < 8 || !are_within(index, size)
    {
        return None;
    }
    let bytes = x.dtype().size();
    let wide = index.dtype() == DType::Int64;
    let text =
        || format!("typedef {} E;\ntypedef {} I;\n{PICK}", bits_name(bytes), if wide { "long long" } else { "int" });
    let kernel =
        compiled::kernel(Key { operation: "index_select", from: bits(bytes), to: index.dtype(), form: 0 }, text)?;
    let mut shape = x.shape().to_vec();
    shape[at] = each;
    let made = match HostTensor::unfilled(x.dtype(), &shape, x.device()) {
        Ok(made) => made,
        Err(error) => return Some(Err(error)),
    };
    let args = [
        read(x, x.numel() - 1),
        read(index, each - 1),
        written(&made, made.numel() - 1),
        int(each),
        int(size),
        int(cols),
    ];
    Some(kernel.launch(rows as u32, 32, &args).map(|()| made))
}

/// True if all indices of a contiguous tensor are places of a dimension.
pub fn are_within(index: &HostTensor, size: i64) -> bool {
    let count = index.numel() as usize;
    if count == 0 {
        return true;
    }
    // SAFETY: the tensor is contiguous, aligned, and of the type that is asked for.
    unsafe {
        match index.dtype() {
            DType::Int64 => {
                std::slice::from_raw_parts(index.ptr().cast::<i64>(), count).iter().all(|i| (0..size).contains(i))
            }
            _ => std::slice::from_raw_parts(index.ptr().cast::<i32>(), count)
                .iter()
                .all(|i| (0..size).contains(&i64::from(*i))),
        }
    }
}

/// `gather(dim, index)` along the last dimension of matrices of as many rows.
fn gather(x: &HostTensor, at: usize, index: &HostTensor) -> Option<Answer<HostTensor>> {
    let is_last = at + 1 == x.dim() && index.dim() == x.dim() && x.shape()[..at] == index.shape()[..at];
    let is_plain = |t: &HostTensor| t.is_contiguous() && is_aligned(t) && (1..=MOST).contains(&t.numel());
    if !is_last || index.dtype() != DType::Int64 || index.numel() < LEAST || !is_plain(x) || !is_plain(index) {
        return None;
    }
    let bytes = x.dtype().size();
    let text = || format!("typedef {} E;\n{GATHER}", bits_name(bytes));
    let kernel = compiled::kernel(Key { operation: "gather", from: bits(bytes), to: DType::Int64, form: 0 }, text)?;
    let tensors = HostTensor::unfilled(x.dtype(), index.shape(), x.device())
        .and_then(|made| HostTensor::new(DType::Int32, &[1], x.device(), true).map(|outside| (made, outside)));
    let (made, outside) = match tensors {
        Ok(tensors) => tensors,
        Err(error) => return Some(Err(error)),
    };
    let args = [
        read(x, x.numel() - 1),
        read(index, index.numel() - 1),
        written(&made, made.numel() - 1),
        written(&outside, 0),
        int(index.numel()),
        int(x.shape()[at]),
        int(index.shape()[at]),
    ];
    if let Err(error) = kernel.launch((index.numel() as u64).div_ceil(256) as u32, 256, &args) {
        return Some(Err(error));
    }
    // SAFETY: the tensor has one element of that type. An index outside is told of by the operation's own code.
    let is_outside = unsafe { outside.ptr().cast::<i32>().read() } != 0;
    (!is_outside).then_some(Ok(made))
}

//! Elements placed where indices say: `scatter` and `scatter_add` of tensors.

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::value::Value;
use super::super::super::work::{PERIOD, ticks};
use super::elements::{LEAST, is_aligned};
use super::layout::MOST;
use super::moves::{are_within, copied};
use crate::back::cpu::{Parts, share};
use crate::runtime::DType;

/// Threads are given this many columns at least, that none writes what lies beside another one's.
const COLUMNS: usize = 16;

/// The largest block that is one piece: some milliseconds.
const LONGEST: usize = 1 << 20;

/// Time that an element takes, in elements that are computed with.
const STEP: usize = 2;

/// Elements in `outer` blocks of `rows` by `cols`, which go to rows of blocks with `extent` of them.
#[derive(Clone, Copy)]
struct Extents {
    outer: usize,
    rows: usize,
    cols: usize,
    extent: usize,
}

/// `scatter(dim, index, src)`, `scatter_add(dim, index, src)`
pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let [Value::Tensor(x), Value::Int(at), Value::Tensor(index), Value::Tensor(source)] = args else { return None };
    let adds = match name {
        "scatter" => false,
        "scatter_add" => true,
        _ => return None,
    };
    let at = x.axis(*at).ok()?;
    let is_row = |t: &HostTensor| (0..=MOST).contains(&t.numel()) && is_aligned(t);
    let fits = index.dtype() == DType::Int64
        && source.dtype() == x.dtype()
        && index.dim() == x.dim()
        && index.shape() == source.shape()
        && (0..x.dim()).all(|d| d == at || index.shape()[d] == x.shape()[d])
        && [x, index, source].into_iter().all(is_row)
        && index.numel() >= LEAST;
    if !fits {
        return None;
    }
    let whole = |t: &HostTensor| if t.is_contiguous() { Some(Ok(t.clone())) } else { copied(t) };
    let (index, source) = (answered!(whole(index)?), answered!(whole(source)?));
    // The operation's own code tells of an index that is outside of the dimension.
    if !are_within(&index, x.shape()[at]) {
        return None;
    }
    let product = |extents: &[i64]| extents.iter().product::<i64>() as usize;
    let extents = Extents {
        outer: product(&x.shape()[..at]),
        rows: index.shape()[at] as usize,
        cols: product(&x.shape()[at + 1..]),
        extent: x.shape()[at] as usize,
    };
    let made = answered!(copied(x)?);
    macro_rules! by {
        ($type:ty, $join:expr) => {
            // SAFETY: the type is that of the tensors' elements, or as large where they are only moved. The tensors are contiguous and of
            // these extents; no other code has the new one.
            unsafe { place::<$type>(&made, &index, &source, extents, $join) }
        };
    }
    match (adds, x.dtype(), x.dtype().size()) {
        (true, DType::Float32, _) => by!(f32, |old, new| old + new),
        (true, DType::Float64, _) => by!(f64, |old, new| old + new),
        (true, DType::Int32, _) => by!(i32, i32::wrapping_add),
        (true, DType::Int64, _) => by!(i64, i64::wrapping_add),
        (true, ..) => return None,
        (false, _, 1) => by!(u8, |_, new| new),
        (false, _, 2) => by!(u16, |_, new| new),
        (false, _, 4) => by!(u32, |_, new| new),
        (false, ..) => by!(u64, |_, new| new),
    }
    Some(Ok(Value::Tensor(made)))
}

/// Joins the elements of `source` to those of `made` that the indices pick, in the order of the rows.
///
/// # Safety
/// The tensors are contiguous, of these extents and of elements as large as a `T`, `index` of `i64`; all indices are within the extent, and no
/// other code has the memory of `made`.
unsafe fn place<T: Copy + Send + Sync>(
    made: &HostTensor,
    index: &HostTensor,
    source: &HostTensor,
    extents: Extents,
    join: impl Fn(T, T) -> T + Sync,
) {
    let Extents { outer, rows, cols, extent } = extents;
    let count = outer * rows * cols;
    // SAFETY: as the caller promises.
    let (index, source) = unsafe {
        (
            std::slice::from_raw_parts(index.ptr().cast::<i64>(), count),
            std::slice::from_raw_parts(source.ptr().cast::<T>(), count),
        )
    };
    let to = Parts::new(made.ptr().cast::<T>());
    let step = |block: usize, row: usize, first: usize, end: usize| {
        let begin = (block * rows + row) * cols;
        for c in first..end {
            let place = to.at((block * extent + index[begin + c] as usize) * cols + c);
            // SAFETY: the index is within the extent, and no other piece has this block's column.
            unsafe { place.write(join(place.read(), source[begin + c])) };
        }
    };
    let block = rows * cols;
    if block == 0 {
        return;
    }
    if outer > 1 {
        let each = PERIOD.div_ceil(block);
        let piece = |piece: usize| {
            for at in piece * each..outer.min((piece + 1) * each) {
                (0..rows).for_each(|row| step(at, row, 0, cols));
            }
        };
        // A block is not left before it is done.
        if block <= LONGEST {
            share(outer.div_ceil(each), &piece, || ticks(STEP * each * block));
            return;
        }
    }
    for at in 0..outer {
        // Some rows at a time, of which each thread has columns of its own.
        let (high, wide) = ((PERIOD * 4 / cols).max(1), COLUMNS.max(cols.div_ceil(8)));
        for top in (0..rows).step_by(high) {
            let bottom = rows.min(top + high);
            let piece = |piece: usize| {
                let (first, end) = (piece * wide, cols.min((piece + 1) * wide));
                (top..bottom).for_each(|row| step(at, row, first, end));
            };
            share(cols.div_ceil(wide), &piece, || ticks(STEP * high * wide));
        }
    }
}

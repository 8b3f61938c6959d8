//! Products of matrices, in the tensors' own type: `float` by gemm's kernels, others by ndarray's. The order of additions is theirs.

use std::num::Wrapping;

use ndarray::linalg::general_mat_mul;
use ndarray::{
    Array2, ArrayD, ArrayView2, ArrayView3, ArrayViewD, ArrayViewMut2, Axis, CowArray, Ix3, IxDyn, LinalgScalar,
    ShapeBuilder, s,
};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::super::work;
use super::args::{Args, not_implemented, room};
use super::promote::promote;
use super::sweep;
use super::wide::{self, Wide};
use crate::back::Exception;
use crate::back::cpu::{Parts, share};
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "mm" | "matmul" | "bmm" | "dot" | "mv" => matmul(args),
        "addmm" => addmm(args),
        _ => return None,
    })
}

/// Most and fewest multiplications of a piece: some milliseconds, and a fraction of one.
const PIECE: std::ops::RangeInclusive<usize> = 1 << 18..=1 << 27;

/// Pieces that a product has at least, so that all threads have some.
const PIECES: usize = 8;

/// Multiplications below which the calling thread makes a product by itself.
const FEW: usize = 1 << 16;

/// Elements of products of matrices.
pub trait Factor: LinalgScalar + Send + Sync {
    /// Writes the product of two matrices.
    fn multiply(a: &ArrayView2<'_, Self>, b: &ArrayView2<'_, Self>, to: &mut ArrayViewMut2<'_, Self>) {
        general_mat_mul(Self::one(), a, b, Self::zero(), to);
    }
}

impl Factor for f64 {}
impl Factor for Wrapping<i64> {}

impl Factor for f32 {
    fn multiply(a: &ArrayView2<'_, f32>, b: &ArrayView2<'_, f32>, to: &mut ArrayViewMut2<'_, f32>) {
        let (m, k, n) = (a.nrows(), a.ncols(), b.ncols());
        // SAFETY: the extents and strides are those of the three matrices; the product's memory is its own.
        unsafe {
            gemm_f32::gemm::f32::get_gemm_fn()(
                m,
                n,
                k,
                to.as_mut_ptr(),
                to.strides()[1],
                to.strides()[0],
                false,
                a.as_ptr(),
                a.strides()[1],
                a.strides()[0],
                b.as_ptr(),
                b.strides()[1],
                b.strides()[0],
                0.0,
                1.0,
                false,
                false,
                false,
                gemm_common::Parallelism::None,
            );
        }
    }
}

/// Writes the products of matrices, pair by pair, one behind the other: in pieces, on all threads.
fn multiply<T: Factor>(a: &ArrayView3<'_, T>, b: &ArrayView3<'_, T>, made: &mut [T]) {
    let ((count, m, k), n) = (a.dim(), b.dim().2);
    assert_eq!(made.len(), count * m * n, "the products have so many elements");
    if made.is_empty() || k == 0 {
        made.fill(T::zero());
        return;
    }
    // Views may have more elements than there is memory.
    let work = (m * n).saturating_mul(k);
    // A piece is as wide as high, but for whole vectors.
    let elements = (work.saturating_mul(count) / PIECES).clamp(*PIECE.start(), *PIECE.end()) / k;
    let vectors = if elements < 1024 { 16 } else { 64 };
    let columns = ((elements as f64).sqrt() as usize).max(1).next_multiple_of(vectors).min(n);
    let rows = (elements / columns).max(1).next_multiple_of(16).min(m);
    let (down, across) = (m.div_ceil(rows), n.div_ceil(columns));
    let target = Parts::new(made.as_mut_ptr());
    let one = |piece: usize| {
        let (pair, top, left) = (piece / (down * across), piece / across % down * rows, piece % across * columns);
        let (height, width) = (rows.min(m - top), columns.min(n - left));
        // SAFETY: the piece lies within the pair's product, and no other piece has elements of it.
        let mut to = unsafe {
            ArrayViewMut2::from_shape_ptr((height, width).strides((n, 1)), target.at((pair * m + top) * n + left))
        };
        T::multiply(&a.slice(s![pair, top..top + height, ..]), &b.slice(s![pair, .., left..left + width]), &mut to);
    };
    let pieces = count * down * across;
    let steps = 1 + (rows * columns).saturating_mul(k) / 8;
    if work.saturating_mul(count) < FEW {
        for piece in 0..pieces {
            one(piece);
            work::ticks(steps);
        }
    } else {
        share(pieces, &one, || work::ticks(steps));
    }
}

/// The product of two matrices.
pub fn product<T: Factor>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    let shape = (a.nrows(), b.ncols());
    let mut made = work::repeated(shape.0 * shape.1, T::zero());
    multiply(&a.insert_axis(Axis(0)), &b.insert_axis(Axis(0)), &mut made);
    Array2::from_shape_vec(shape, made).expect("as many elements as the shape holds")
}

fn matmul(args: &mut Args<'_>) -> Answer<Value> {
    let (x, y) = (args.tensor()?, args.tensor()?);
    product_of(&x, &y, args).map(Value::Tensor)
}

fn product_of(x: &HostTensor, y: &HostTensor, args: &Args<'_>) -> Answer<HostTensor> {
    let fail = |message: String| Err((Exception::Runtime, message));
    let wanted = match args.name {
        "mm" | "addmm" => Some((2, 2)),
        "bmm" => Some((3, 3)),
        "dot" => Some((1, 1)),
        "mv" => Some((2, 1)),
        _ => None,
    };
    if args.name == "dot" && (x.dim(), y.dim()) != (1, 1) {
        return fail(format!("1D tensors expected, but got {}D and {}D tensors", x.dim(), y.dim()));
    }
    if args.name == "dot" && x.shape() != y.shape() {
        return fail(format!(
            "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but got {} and \
             {} elements respectively",
            x.shape()[0],
            y.shape()[0],
            x.shape()[0],
            y.shape()[0]
        ));
    }
    if wanted.is_some_and(|w| w != (x.dim(), y.dim())) || x.dim() == 0 || y.dim() == 0 {
        return fail(format!("{}: tensors of {} and {} dimensions do not multiply", args.name, x.dim(), y.dim()));
    }
    if x.dtype() != y.dtype() {
        let name = super::super::value::cpp_name;
        let message =
            format!("expected m1 and m2 to have the same dtype, but got: {} != {}", name(x.dtype()), name(y.dtype()));
        return fail(message);
    }
    let dtype = promote(x.dtype(), y.dtype());
    if dtype == DType::Bool {
        return not_implemented(args.name, dtype);
    }
    if dtype == DType::Float32 {
        return products(wide::singles(x), wide::singles(y), args, |shape, count, fill| {
            let shape: Vec<i64> = shape.iter().map(|n| *n as i64).collect();
            let made = HostTensor::unfilled(dtype, &shape, x.device())?;
            if count > 0 {
                // SAFETY: the tensor is new, contiguous, and of that type; each of its elements is written before it is read.
                fill(unsafe { std::slice::from_raw_parts_mut(made.ptr().cast(), count) });
            }
            Ok(made)
        });
    }
    match (Wide::of(x), Wide::of(y)) {
        // Integers wrap around.
        (Wide::Int(a), Wide::Int(b)) => {
            let [a, b] = [a, b].map(|a| sweep::map(a.view(), Wrapping));
            let made = products(a.view(), b.view(), args, array)?;
            Wide::Int(sweep::map(made.view(), |v| v.0)).tensor(dtype, x.device())
        }
        (a, b) => {
            let made = products(a.floats().view(), b.floats().view(), args, array)?;
            Wide::Float(made).tensor(dtype, x.device())
        }
    }
}

/// Products in an array.
fn array<T: Factor>(shape: &[usize], count: usize, fill: &dyn Fn(&mut [T])) -> Answer<ArrayD<T>> {
    let mut made = work::repeated(count, T::zero());
    fill(&mut made);
    Ok(ArrayD::from_shape_vec(IxDyn(shape), made).expect("as many values as the shape holds"))
}

/// The products of matrices, of which there may be many, or of vectors, in what `make` makes: of their shape and number of elements, which it
/// has filled.
fn products<T: Factor, R>(
    mut a: ArrayViewD<'_, T>,
    mut b: ArrayViewD<'_, T>,
    args: &Args<'_>,
    make: impl FnOnce(&[usize], usize, &dyn Fn(&mut [T])) -> Answer<R>,
) -> Answer<R> {
    let fail = |message: String| Err((Exception::Runtime, message));
    let (are_rows, are_columns) = (a.ndim() > 1, b.ndim() > 1);
    let (first, second) = (a.shape()[0], b.shape()[0]);
    if !are_rows {
        a = a.insert_axis(Axis(0));
    }
    if !are_columns {
        b = b.insert_axis(Axis(1));
    }
    let (m, k) = (a.shape()[a.ndim() - 2], a.shape()[a.ndim() - 1]);
    let (l, n) = (b.shape()[b.ndim() - 2], b.shape()[b.ndim() - 1]);
    if args.name == "bmm" && (k != l || first != second) {
        return fail(format!(
            "Expected size for first two dimensions of batch2 tensor to be: [{}, {k}] but got: [{}, {l}].",
            first, second
        ));
    }
    if k != l {
        return fail(format!("mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {l}x{n})"));
    }
    let batch = |a: &ArrayViewD<'_, T>| -> Vec<i64> { a.shape()[..a.ndim() - 2].iter().map(|n| *n as i64).collect() };
    let outer: Vec<usize> = super::broadcast::broadcast(&batch(&a), &batch(&b))?.iter().map(|n| *n as usize).collect();
    let whole: Vec<i64> = outer.iter().chain([&m, &n]).map(|n| *n as i64).collect();
    room(&whole)?;
    let (Some(a), Some(b)) = (matrices(&a, &outer, [m, k]), matrices(&b, &outer, [k, n])) else {
        return fail("shapes that do not broadcast".to_owned());
    };
    let count: usize = outer.iter().product();
    let mut shape = outer;
    shape.extend(are_rows.then_some(m).into_iter().chain(are_columns.then_some(n)));
    make(&shape, count * m * n, &|made| multiply(&a.view(), &b.view(), made))
}

/// Matrices of that many rows and columns, one for each place of the outer extents; copied where these are no single dimension.
fn matrices<'a, T: Copy>(
    a: &'a ArrayViewD<'_, T>,
    outer: &[usize],
    [rows, columns]: [usize; 2],
) -> Option<CowArray<'a, T, Ix3>> {
    let shape: Vec<usize> = outer.iter().copied().chain([rows, columns]).collect();
    let count: usize = outer.iter().product();
    let whole = a.broadcast(IxDyn(&shape))?;
    if outer.len() < 2 {
        let three = if outer.is_empty() { whole.insert_axis(Axis(0)) } else { whole };
        return three.into_dimensionality::<Ix3>().ok().map(CowArray::from);
    }
    sweep::owned(whole).into_shape_with_order(Ix3(count, rows, columns)).ok().map(CowArray::from)
}

/// `addmm(input, a, b, beta, alpha)`
fn addmm(args: &mut Args<'_>) -> Answer<Value> {
    let (input, a, b) = (args.tensor()?, args.tensor()?, args.tensor()?);
    let number = |v: Value| match v {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
        _ => 1.0,
    };
    let (beta, alpha) = (number(args.next()), number(args.next()));
    let product = product_of(&a, &b, args)?;
    let (dtype, device) = (product.dtype(), product.device());
    let of_type = |v: f64| if dtype.is_float() { v } else { v.trunc() };
    let (beta, alpha) = (of_type(beta), of_type(alpha));
    let product = Wide::of(&product).floats();
    let added = Wide::of(&input).floats();
    let Some(added) = added.broadcast(product.raw_dim()) else {
        return Err((
            Exception::Runtime,
            format!("addmm: a tensor of shape {:?} does not fit the product", input.shape()),
        ));
    };
    // An input with the factor 0 leaves nothing, not even NaN.
    let made = if beta == 0.0 {
        sweep::replaced(product, |p| p * alpha)
    } else {
        sweep::zipped(product.view(), added, |p, a| p * alpha + a * beta)
    };
    Wide::Float(made).tensor(dtype, device).map(Value::Tensor)
}

//! Products of matrices, in `float` where the tensors are: by ndarray's blocked multiplication, whose order of additions is its own.

use std::num::Wrapping;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayD, ArrayView2, ArrayViewD, Axis, CowArray, Ix2, Ix3, IxDyn, LinalgScalar, s};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::work;
use super::promote::promote;
use super::sweep;
use super::wide::{self, Wide};
use super::{Args, Value};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "mm" | "matmul" | "bmm" | "dot" | "mv" => matmul(args),
        "addmm" => addmm(args),
        _ => return None,
    })
}

/// Multiplications between two looks at the clock: some milliseconds.
const PIECE: usize = 1 << 22;

/// The product of two matrices, block by block: each is as wide as the second one, or a part of it where even a few rows are too
/// long.
pub fn blocks<T: LinalgScalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    const ROWS: usize = 16;
    let ((m, k), n) = (a.dim(), b.ncols());
    let made = sweep::full(&[m, n], T::zero()).into_dimensionality::<Ix2>();
    let mut made = made.expect("two extents are two dimensions");
    let columns = (PIECE / k.max(1) / ROWS).clamp(ROWS, n.max(ROWS));
    let rows = (PIECE / k.max(1) / columns).clamp(ROWS, m.max(ROWS));
    for top in (0..m).step_by(rows) {
        let bottom = m.min(top + rows);
        for left in (0..n).step_by(columns) {
            let right = n.min(left + columns);
            let (a, b) = (a.slice(s![top..bottom, ..]), b.slice(s![.., left..right]));
            general_mat_mul(T::one(), &a, &b, T::zero(), &mut made.slice_mut(s![top..bottom, left..right]));
            work::ticks((bottom - top) * (right - left) * k / 8);
        }
    }
    made
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
        return super::not_implemented(args.name, dtype);
    }
    if dtype == DType::Float32 {
        let made = products(wide::singles(x), wide::singles(y), args)?;
        return wide::tensor_of_singles(&made, x.device());
    }
    match (Wide::of(x), Wide::of(y)) {
        // Integers wrap around.
        (Wide::Int(a), Wide::Int(b)) => {
            let [a, b] = [a, b].map(|a| sweep::map(a.view(), Wrapping));
            let made = products(a.view(), b.view(), args)?;
            Wide::Int(sweep::map(made.view(), |v| v.0)).tensor(dtype, x.device())
        }
        (a, b) => {
            let made = products(a.floats().view(), b.floats().view(), args)?;
            Wide::Float(made).tensor(dtype, x.device())
        }
    }
}

/// The products of matrices, of which there may be many, or of vectors.
fn products<T: LinalgScalar>(mut a: ArrayViewD<'_, T>, mut b: ArrayViewD<'_, T>, args: &Args<'_>) -> Answer<ArrayD<T>> {
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
    let outer: Vec<usize> =
        super::elementwise::broadcast(&batch(&a), &batch(&b))?.iter().map(|n| *n as usize).collect();
    let whole: Vec<i64> = outer.iter().chain([&m, &n]).map(|n| *n as i64).collect();
    super::room(&whole)?;
    let (Some(a), Some(b)) = (matrices(&a, &outer, [m, k]), matrices(&b, &outer, [k, n])) else {
        return fail("shapes that do not broadcast".to_owned());
    };
    let count: usize = outer.iter().product();
    let mut values = work::reserved(count * m * n);
    for i in 0..count {
        let one = blocks(a.index_axis(Axis(0), i), b.index_axis(Axis(0), i));
        values.extend(one.iter());
    }
    let mut shape = outer;
    shape.extend(are_rows.then_some(m).into_iter().chain(are_columns.then_some(n)));
    Ok(ArrayD::from_shape_vec(IxDyn(&shape), values).expect("as many values as the shape holds"))
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

//! Intrinsics with a stated rounding: `_rd` down, `_ru` up, `_rz` towards zero (`_rn`, to nearest, is in the tables of floats
//! and conversions).
//!
//! Arithmetic is functions of the IR. Conversions are the nearest one, moved by one step where comparing it with what
//! was converted shows that it lies on the wrong side.

use super::short::*;
use super::{Lower, Sig};
use crate::ir::{BinaryOp, Builder, CompareOp, MathFn, Scalar, UnaryOp, Value};

/// A rounding other than to nearest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Toward {
    Down,
    Up,
    Zero,
}

/// `x - y` is `x + -y` in every rounding.
pub(super) fn subtract(b: &mut Builder, add: MathFn, a: &[Value]) -> Value {
    let minus = b.unary(UnaryOp::Neg, a[1]);
    b.math(add, &[a[0], minus])
}

fn reciprocal(b: &mut Builder, divide: MathFn, a: &[Value]) -> Value {
    let one = b.float(b.scalar(a[0]), 1.0);
    b.math(divide, &[one, a[0]])
}

/// Rows for the three roundings of each operation.
macro_rules! arithmetic {
    ($(($mode:literal $add:ident $mul:ident $div:ident $fma:ident $sqrt:ident $how:literal))*) => {
        &[$(
            arithmetic!(@row "__fadd_", $mode, [F, F], F, |b, a| b.math(MathFn::$add, a), "Sum", $how),
            arithmetic!(@row "__fsub_", $mode, [F, F], F, |b, a| subtract(b, MathFn::$add, a), "Difference", $how),
            arithmetic!(@row "__fmul_", $mode, [F, F], F, |b, a| b.math(MathFn::$mul, a), "Product", $how),
            arithmetic!(@row "__fdiv_", $mode, [F, F], F, |b, a| b.math(MathFn::$div, a), "Quotient", $how),
            arithmetic!(@row "__fmaf_", $mode, [F, F, F], F, |b, a| b.math(MathFn::$fma, a), "a*b+c", $how),
            arithmetic!(@row "__fmaf_ieee_", $mode, [F, F, F], F, |b, a| b.math(MathFn::$fma, a), "a*b+c", $how),
            arithmetic!(@row "__fsqrt_", $mode, [F], F, |b, a| b.math(MathFn::$sqrt, a), "Square root", $how),
            arithmetic!(@row "__frcp_", $mode, [F], F, |b, a| reciprocal(b, MathFn::$div, a), "Reciprocal", $how),
            arithmetic!(@row "__dadd_", $mode, [D, D], D, |b, a| b.math(MathFn::$add, a), "Sum", $how),
            arithmetic!(@row "__dsub_", $mode, [D, D], D, |b, a| subtract(b, MathFn::$add, a), "Difference", $how),
            arithmetic!(@row "__dmul_", $mode, [D, D], D, |b, a| b.math(MathFn::$mul, a), "Product", $how),
            arithmetic!(@row "__ddiv_", $mode, [D, D], D, |b, a| b.math(MathFn::$div, a), "Quotient", $how),
            arithmetic!(@row "__fma_", $mode, [D, D, D], D, |b, a| b.math(MathFn::$fma, a), "a*b+c", $how),
            arithmetic!(@row "__dsqrt_", $mode, [D], D, |b, a| b.math(MathFn::$sqrt, a), "Square root", $how),
            arithmetic!(@row "__drcp_", $mode, [D], D, |b, a| reciprocal(b, MathFn::$div, a), "Reciprocal", $how),
        )*]
    };
    (@row $name:literal, $mode:literal, [$($p:ident),*], $ret:ident, $lower:expr, $what:literal, $how:literal) => {
        Sig {
            name: concat!($name, $mode),
            params: &[$($p),*],
            ret: $ret,
            lower: Lower::Value($lower),
            doc: concat!($what, ", rounded ", $how, "."),
        }
    };
}

/// Sums, products, quotients, roots.
pub const ARITHMETIC: &[Sig] = arithmetic! {
    ("rd" AddRd MulRd DivRd FmaRd SqrtRd "down")
    ("ru" AddRu MulRu DivRu FmaRu SqrtRu "up")
    ("rz" AddRz MulRz DivRz FmaRz SqrtRz "towards zero")
};

/// The neighbour of `near` on the side asked for, where `near` is on the other side of the exact value: `high` above it,
/// `low` below it. Steps are of the bits, which order floats by size.
fn step(b: &mut Builder, near: Value, high: Value, low: Value, to: Toward) -> Value {
    let float = b.scalar(near);
    let int = if float == Scalar::F32 { Scalar::I32 } else { Scalar::I64 };
    let bits = b.bitcast(int, near);
    let (zero, one) = (b.int(int, 0), b.int(int, 1));
    let negative = b.compare(CompareOp::Lt, bits, zero);
    let smaller = b.binary(BinaryOp::Sub, bits, one);
    let (moves, next) = match to {
        Toward::Zero => (b.select(negative, low, high), smaller),
        Toward::Down | Toward::Up => {
            let larger = b.binary(BinaryOp::Add, bits, one);
            let up = to == Toward::Up;
            let next = if up { b.select(negative, smaller, larger) } else { b.select(negative, larger, smaller) };
            (if up { low } else { high }, next)
        }
    };
    let bits = b.select(moves, next, bits);
    b.bitcast(float, bits)
}

fn narrow(b: &mut Builder, x: Value, to: Toward) -> Value {
    let near = b.convert(Scalar::F32, x);
    let wide = b.convert(Scalar::F64, near);
    let (high, low) = (b.compare(CompareOp::Gt, wide, x), b.compare(CompareOp::Lt, wide, x));
    step(b, near, high, low, to)
}

/// The conversion of an integer. Converting back saturates, so a result past the type's range is above whatever was converted.
fn of_integer(b: &mut Builder, x: Value, float: Scalar, to: Toward) -> Value {
    let int = b.scalar(x);
    let near = b.convert(float, x);
    let back = b.convert(int, near);
    let end = b.float(float, ((int.bits() - u32::from(int.is_signed())) as f64).exp2());
    let past = b.compare(CompareOp::Ge, near, end);
    let above = b.compare(CompareOp::Gt, back, x);
    let high = b.binary(BinaryOp::Or, past, above);
    let low = b.compare(CompareOp::Lt, back, x);
    step(b, near, high, low, to)
}

macro_rules! conversions {
    ($(($mode:literal $to:ident $how:literal))*) => {
        &[$(
            Sig {
                name: concat!("__double2float_", $mode),
                params: &[D],
                ret: F,
                lower: Lower::Value(|b, a| narrow(b, a[0], Toward::$to)),
                doc: concat!("To `float`, rounded ", $how, "."),
            },
            conversions!(@row "__int2float_", $mode, I, F, F32, $to, $how),
            conversions!(@row "__uint2float_", $mode, U, F, F32, $to, $how),
            conversions!(@row "__ll2float_", $mode, LL, F, F32, $to, $how),
            conversions!(@row "__ull2float_", $mode, ULL, F, F32, $to, $how),
            conversions!(@row "__ll2double_", $mode, LL, D, F64, $to, $how),
            conversions!(@row "__ull2double_", $mode, ULL, D, F64, $to, $how),
        )*]
    };
    (@row $name:literal, $mode:literal, $from:ident, $ret:ident, $float:ident, $to:ident, $how:literal) => {
        Sig {
            name: concat!($name, $mode),
            params: &[$from],
            ret: $ret,
            lower: Lower::Value(|b, a| of_integer(b, a[0], Scalar::$float, Toward::$to)),
            doc: concat!("From an integer, rounded ", $how, "."),
        }
    };
}

/// Conversions to floats.
pub const CONVERSIONS: &[Sig] = conversions! {
    ("rd" Down "down")
    ("ru" Up "up")
    ("rz" Zero "towards zero")
};

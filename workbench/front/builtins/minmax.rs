//! `min`, `max` and `abs` with exactly the overloads of CUDA's headers, so that what is ambiguous there is so here.

use super::short::*;
use super::{Lower, Sig, sigs};
use crate::ir::{BinaryOp, Builder, CompareOp, MathFn, Scalar, UnaryOp, Value};

/// Converts both to the type and takes the smaller or larger.
fn choose(b: &mut Builder, a: &[Value], ty: Scalar, int: BinaryOp, float: MathFn) -> Value {
    let (x, y) = (b.convert(ty, a[0]), b.convert(ty, a[1]));
    if ty.is_float() { b.math(float, &[x, y]) } else { b.binary(int, x, y) }
}

macro_rules! min {
    ($ty:ident) => {
        Lower::Value(|b, a| choose(b, a, Scalar::$ty, BinaryOp::Min, MathFn::Fmin))
    };
}

macro_rules! max {
    ($ty:ident) => {
        Lower::Value(|b, a| choose(b, a, Scalar::$ty, BinaryOp::Max, MathFn::Fmax))
    };
}

const ABS_INT: Lower = Lower::Value(|b, a| {
    let minus = b.unary(UnaryOp::Neg, a[0]);
    b.binary(BinaryOp::Max, a[0], minus)
});
const ABS_FLOAT: Lower = Lower::Value(|b, a| b.math(MathFn::Fabs, a));

/// `min` and `max`.
pub const MIN_MAX: &[Sig] = sigs! {
    "min" (I, I) -> I, min!(I32), "The smaller.";
    "min" (U, U) -> U, min!(U32), "The smaller.";
    "min" (I, U) -> U, min!(U32), "The smaller, as unsigned.";
    "min" (U, I) -> U, min!(U32), "The smaller, as unsigned.";
    "min" (L, L) -> L, min!(I64), "The smaller.";
    "min" (UL, UL) -> UL, min!(U64), "The smaller.";
    "min" (L, UL) -> UL, min!(U64), "The smaller, as unsigned.";
    "min" (UL, L) -> UL, min!(U64), "The smaller, as unsigned.";
    "min" (LL, LL) -> LL, min!(I64), "The smaller.";
    "min" (ULL, ULL) -> ULL, min!(U64), "The smaller.";
    "min" (LL, ULL) -> ULL, min!(U64), "The smaller, as unsigned.";
    "min" (ULL, LL) -> ULL, min!(U64), "The smaller, as unsigned.";
    "min" (F, F) -> F, min!(F32), "The smaller; a NaN loses to a number.";
    "min" (D, D) -> D, min!(F64), "The smaller; a NaN loses to a number.";
    "min" (F, D) -> D, min!(F64), "The smaller; a NaN loses to a number.";
    "min" (D, F) -> D, min!(F64), "The smaller; a NaN loses to a number.";
    "max" (I, I) -> I, max!(I32), "The larger.";
    "max" (U, U) -> U, max!(U32), "The larger.";
    "max" (I, U) -> U, max!(U32), "The larger, as unsigned.";
    "max" (U, I) -> U, max!(U32), "The larger, as unsigned.";
    "max" (L, L) -> L, max!(I64), "The larger.";
    "max" (UL, UL) -> UL, max!(U64), "The larger.";
    "max" (L, UL) -> UL, max!(U64), "The larger, as unsigned.";
    "max" (UL, L) -> UL, max!(U64), "The larger, as unsigned.";
    "max" (LL, LL) -> LL, max!(I64), "The larger.";
    "max" (ULL, ULL) -> ULL, max!(U64), "The larger.";
    "max" (LL, ULL) -> ULL, max!(U64), "The larger, as unsigned.";
    "max" (ULL, LL) -> ULL, max!(U64), "The larger, as unsigned.";
    "max" (F, F) -> F, max!(F32), "The larger; a NaN loses to a number.";
    "max" (D, D) -> D, max!(F64), "The larger; a NaN loses to a number.";
    "max" (F, D) -> D, max!(F64), "The larger; a NaN loses to a number.";
    "max" (D, F) -> D, max!(F64), "The larger; a NaN loses to a number.";
    "umin" (U, U) -> U, min!(U32), "The smaller.";
    "umax" (U, U) -> U, max!(U32), "The larger.";
    "llmin" (LL, LL) -> LL, min!(I64), "The smaller.";
    "llmax" (LL, LL) -> LL, max!(I64), "The larger.";
    "ullmin" (ULL, ULL) -> ULL, min!(U64), "The smaller.";
    "ullmax" (ULL, ULL) -> ULL, max!(U64), "The larger.";
};

/// Absolute values.
pub const ABS: &[Sig] = sigs! {
    "abs" (I) -> I, ABS_INT, "Absolute value.";
    "abs" (L) -> L, ABS_INT, "Absolute value.";
    "abs" (LL) -> LL, ABS_INT, "Absolute value.";
    "abs" (F) -> F, ABS_FLOAT, "Absolute value.";
    "abs" (D) -> D, ABS_FLOAT, "Absolute value.";
    "labs" (L) -> L, ABS_INT, "Absolute value.";
    "llabs" (LL) -> LL, ABS_INT, "Absolute value.";
};

/// `std::min` and `std::max` are templates: both arguments have one type, and the comparison is `<`, so that the first of
/// equal (or unordered) arguments is the result.
macro_rules! std_forms {
    ($($param:expr),*) => {
        &[$(
            Sig {
                name: "std::min",
                params: &[$param, $param],
                ret: $param,
                lower: Lower::Value(|b, a| {
                    let less = b.compare(CompareOp::Lt, a[1], a[0]);
                    b.select(less, a[1], a[0])
                }),
                doc: "The smaller; the first where neither is.",
            },
            Sig {
                name: "std::max",
                params: &[$param, $param],
                ret: $param,
                lower: Lower::Value(|b, a| {
                    let less = b.compare(CompareOp::Lt, a[0], a[1]);
                    b.select(less, a[1], a[0])
                }),
                doc: "The larger; the first where neither is.",
            },
        )*]
    };
}

/// The templates of `<algorithm>`.
pub const STD: &[Sig] = std_forms!(C, SC, UC, S, US, I, U, L, UL, LL, ULL, F, D);

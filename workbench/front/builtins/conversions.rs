//! CUDA's conversion intrinsics: by value with a stated rounding, and by bits.
//!
//! Conversions to integers are exact operations here in all four roundings; those to floats only to the nearest (the others:
//! `unsupported`).

use super::short::*;
use super::{Lower, Sig, sigs};
use crate::ir::{BinaryOp, BitFn, MathFn, Scalar};

macro_rules! to_int {
    ($round:ident, $to:ident) => {
        Lower::Value(|b, a| {
            let x = b.math(MathFn::$round, a);
            b.convert(Scalar::$to, x)
        })
    };
}

macro_rules! convert {
    ($to:ident) => {
        Lower::Value(|b, a| b.convert(Scalar::$to, a[0]))
    };
}

macro_rules! bits {
    ($to:ident) => {
        Lower::Value(|b, a| b.bitcast(Scalar::$to, a[0]))
    };
}

/// The table.
pub const TABLE: &[Sig] = sigs! {
    "__float2int_rn" (F) -> I, to_int!(Rint, I32), "To the nearest integer, saturated.";
    "__float2int_rz" (F) -> I, to_int!(Trunc, I32), "Towards zero, saturated.";
    "__float2int_ru" (F) -> I, to_int!(Ceil, I32), "Upwards, saturated.";
    "__float2int_rd" (F) -> I, to_int!(Floor, I32), "Downwards, saturated.";
    "__float2uint_rn" (F) -> U, to_int!(Rint, U32), "To the nearest integer, saturated.";
    "__float2uint_rz" (F) -> U, to_int!(Trunc, U32), "Towards zero, saturated.";
    "__float2uint_ru" (F) -> U, to_int!(Ceil, U32), "Upwards, saturated.";
    "__float2uint_rd" (F) -> U, to_int!(Floor, U32), "Downwards, saturated.";
    "__float2ll_rn" (F) -> LL, to_int!(Rint, I64), "To the nearest integer, saturated.";
    "__float2ll_rz" (F) -> LL, to_int!(Trunc, I64), "Towards zero, saturated.";
    "__float2ll_ru" (F) -> LL, to_int!(Ceil, I64), "Upwards, saturated.";
    "__float2ll_rd" (F) -> LL, to_int!(Floor, I64), "Downwards, saturated.";
    "__float2ull_rn" (F) -> ULL, to_int!(Rint, U64), "To the nearest integer, saturated.";
    "__float2ull_rz" (F) -> ULL, to_int!(Trunc, U64), "Towards zero, saturated.";
    "__float2ull_ru" (F) -> ULL, to_int!(Ceil, U64), "Upwards, saturated.";
    "__float2ull_rd" (F) -> ULL, to_int!(Floor, U64), "Downwards, saturated.";
    "__double2int_rn" (D) -> I, to_int!(Rint, I32), "To the nearest integer, saturated.";
    "__double2int_rz" (D) -> I, to_int!(Trunc, I32), "Towards zero, saturated.";
    "__double2int_ru" (D) -> I, to_int!(Ceil, I32), "Upwards, saturated.";
    "__double2int_rd" (D) -> I, to_int!(Floor, I32), "Downwards, saturated.";
    "__double2uint_rn" (D) -> U, to_int!(Rint, U32), "To the nearest integer, saturated.";
    "__double2uint_rz" (D) -> U, to_int!(Trunc, U32), "Towards zero, saturated.";
    "__double2uint_ru" (D) -> U, to_int!(Ceil, U32), "Upwards, saturated.";
    "__double2uint_rd" (D) -> U, to_int!(Floor, U32), "Downwards, saturated.";
    "__double2ll_rn" (D) -> LL, to_int!(Rint, I64), "To the nearest integer, saturated.";
    "__double2ll_rz" (D) -> LL, to_int!(Trunc, I64), "Towards zero, saturated.";
    "__double2ll_ru" (D) -> LL, to_int!(Ceil, I64), "Upwards, saturated.";
    "__double2ll_rd" (D) -> LL, to_int!(Floor, I64), "Downwards, saturated.";
    "__double2ull_rn" (D) -> ULL, to_int!(Rint, U64), "To the nearest integer, saturated.";
    "__double2ull_rz" (D) -> ULL, to_int!(Trunc, U64), "Towards zero, saturated.";
    "__double2ull_ru" (D) -> ULL, to_int!(Ceil, U64), "Upwards, saturated.";
    "__double2ull_rd" (D) -> ULL, to_int!(Floor, U64), "Downwards, saturated.";
    "__double2float_rn" (D) -> F, convert!(F32), "Rounded to nearest.";
    "__int2float_rn" (I) -> F, convert!(F32), "Rounded to nearest.";
    "__uint2float_rn" (U) -> F, convert!(F32), "Rounded to nearest.";
    "__ll2float_rn" (LL) -> F, convert!(F32), "Rounded to nearest.";
    "__ull2float_rn" (ULL) -> F, convert!(F32), "Rounded to nearest.";
    "__int2double_rn" (I) -> D, convert!(F64), "Exact.";
    "__uint2double_rn" (U) -> D, convert!(F64), "Exact.";
    "__ll2double_rn" (LL) -> D, convert!(F64), "Rounded to nearest.";
    "__ull2double_rn" (ULL) -> D, convert!(F64), "Rounded to nearest.";
    "__float_as_int" (F) -> I, bits!(I32), "The bits.";
    "__float_as_uint" (F) -> U, bits!(U32), "The bits.";
    "__int_as_float" (I) -> F, bits!(F32), "From bits.";
    "__uint_as_float" (U) -> F, bits!(F32), "From bits.";
    "__double_as_longlong" (D) -> LL, bits!(I64), "The bits.";
    "__longlong_as_double" (LL) -> D, bits!(F64), "From bits.";
    "__hiloint2double" (I, I) -> D, Lower::Value(|b, a| {
        let lo = b.convert(Scalar::U32, a[1]);
        let (hi, lo) = (b.convert(Scalar::U64, a[0]), b.convert(Scalar::U64, lo));
        let amount = b.int(Scalar::I32, 32);
        let hi = b.binary(BinaryOp::Shl, hi, amount);
        let all = b.binary(BinaryOp::Or, hi, lo);
        b.bitcast(Scalar::F64, all)
    }), "From the bits of both halves.";
    "__double2hiint" (D) -> I, Lower::Value(|b, a| {
        let all = b.bitcast(Scalar::U64, a[0]);
        let amount = b.int(Scalar::I32, 32);
        let hi = b.binary(BinaryOp::Shr, all, amount);
        b.convert(Scalar::I32, hi)
    }), "The bits of the high half.";
    "__double2loint" (D) -> I, Lower::Value(|b, a| {
        let all = b.bitcast(Scalar::U64, a[0]);
        b.convert(Scalar::I32, all)
    }), "The bits of the low half.";
};

/// Bits of halves and of `float`s, for the library's types.
pub const HALVES: &[Sig] = sigs! {
    "__wb_half_to_float_bits" (U) -> U, Lower::Value(|b, a| b.bit(BitFn::HalfToFloat, a[0])), "The bits of the `float` that a half is.";
    "__wb_float_to_half_bits" (U) -> U, Lower::Value(|b, a| b.bit(BitFn::FloatToHalf, a[0])), "The bits of the nearest half.";
};

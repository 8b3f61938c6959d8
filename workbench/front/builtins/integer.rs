//! CUDA's integer intrinsics.

use super::short::*;
use super::{Lower, Sig, sigs};
use crate::front::lower::Builder;
use crate::ir::{BinaryOp, BitFn, CompareOp, Scalar, Value};

/// The low 24 bits, extended by the type's signedness.
fn low24(b: &mut Builder, x: Value) -> Value {
    let amount = b.int(Scalar::I32, 8);
    let high = b.binary(BinaryOp::Shl, x, amount);
    b.binary(BinaryOp::Shr, high, amount)
}

fn mul24(b: &mut Builder, a: &[Value]) -> Value {
    let (x, y) = (low24(b, a[0]), low24(b, a[1]));
    b.binary(BinaryOp::Mul, x, y)
}

/// `|x - y| + z`; the difference of the ordered pair is exact as an unsigned number.
fn sad(b: &mut Builder, a: &[Value]) -> Value {
    let less = b.compare(CompareOp::Lt, a[0], a[1]);
    let (x, y) = (b.binary(BinaryOp::Sub, a[0], a[1]), b.binary(BinaryOp::Sub, a[1], a[0]));
    let size = b.select(less, y, x);
    let size = b.convert(Scalar::U32, size);
    b.binary(BinaryOp::Add, size, a[2])
}

/// The mean without overflow: common bits plus half the others.
fn mean_down(b: &mut Builder, a: &[Value]) -> Value {
    let common = b.binary(BinaryOp::And, a[0], a[1]);
    let other = b.binary(BinaryOp::Xor, a[0], a[1]);
    let one = b.int(Scalar::I32, 1);
    let half = b.binary(BinaryOp::Shr, other, one);
    b.binary(BinaryOp::Add, common, half)
}

fn mean_up(b: &mut Builder, a: &[Value]) -> Value {
    let any = b.binary(BinaryOp::Or, a[0], a[1]);
    let other = b.binary(BinaryOp::Xor, a[0], a[1]);
    let one = b.int(Scalar::I32, 1);
    let half = b.binary(BinaryOp::Shr, other, one);
    b.binary(BinaryOp::Sub, any, half)
}

/// `hi:lo` as 64 bits.
fn join(b: &mut Builder, lo: Value, hi: Value) -> Value {
    let (lo, hi) = (b.convert(Scalar::U64, lo), b.convert(Scalar::U64, hi));
    let amount = b.int(Scalar::I32, 32);
    let hi = b.binary(BinaryOp::Shl, hi, amount);
    b.binary(BinaryOp::Or, hi, lo)
}

/// Byte `i` of the result is byte `(s >> 4*i) & 7` of `y:x` (CUDA C++ Programming Guide, `__byte_perm`).
fn byte_perm(b: &mut Builder, a: &[Value]) -> Value {
    let bytes = join(b, a[0], a[1]);
    let (seven, mask) = (b.int(Scalar::U32, 7), b.int(Scalar::U64, 0xFF));
    let three = b.int(Scalar::I32, 3);
    let mut result = b.int(Scalar::U32, 0);
    for i in 0..4 {
        let at = b.int(Scalar::I32, 4 * i);
        let index = b.binary(BinaryOp::Shr, a[2], at);
        let index = b.binary(BinaryOp::And, index, seven);
        let amount = b.binary(BinaryOp::Shl, index, three);
        let byte = b.binary(BinaryOp::Shr, bytes, amount);
        let byte = b.binary(BinaryOp::And, byte, mask);
        let byte = b.convert(Scalar::U32, byte);
        let to = b.int(Scalar::I32, 8 * i);
        let byte = b.binary(BinaryOp::Shl, byte, to);
        result = b.binary(BinaryOp::Or, result, byte);
    }
    result
}

/// The amount modulo 32, or clamped to 32.
fn amount(b: &mut Builder, shift: Value, clamp: bool) -> Value {
    let limit = b.int(Scalar::U32, if clamp { 32 } else { 31 });
    b.binary(if clamp { BinaryOp::Min } else { BinaryOp::And }, shift, limit)
}

fn funnel_left(b: &mut Builder, a: &[Value], clamp: bool) -> Value {
    let both = join(b, a[0], a[1]);
    let by = amount(b, a[2], clamp);
    let moved = b.binary(BinaryOp::Shl, both, by);
    let word = b.int(Scalar::I32, 32);
    let high = b.binary(BinaryOp::Shr, moved, word);
    b.convert(Scalar::U32, high)
}

fn funnel_right(b: &mut Builder, a: &[Value], clamp: bool) -> Value {
    let both = join(b, a[0], a[1]);
    let by = amount(b, a[2], clamp);
    let moved = b.binary(BinaryOp::Shr, both, by);
    b.convert(Scalar::U32, moved)
}

/// The sum of the products of the four bytes, plus the third; bytes have the signedness of the type.
fn dp4a(b: &mut Builder, a: &[Value]) -> Value {
    let word = b.scalar(a[2]);
    let byte = if word.is_signed() { Scalar::I8 } else { Scalar::U8 };
    let mut sum = a[2];
    for i in 0..4 {
        let at = b.int(Scalar::I32, 8 * i);
        let mut part = |x: Value| {
            let moved = b.binary(BinaryOp::Shr, x, at);
            let low = b.convert(byte, moved);
            b.convert(word, low)
        };
        let (x, y) = (part(a[0]), part(a[1]));
        let product = b.binary(BinaryOp::Mul, x, y);
        sum = b.binary(BinaryOp::Add, sum, product);
    }
    sum
}

const CLZ: Lower = Lower::Value(|b, a| b.bit(BitFn::Clz, a[0]));
const POPC: Lower = Lower::Value(|b, a| b.bit(BitFn::Popc, a[0]));
const FFS: Lower = Lower::Value(|b, a| b.bit(BitFn::Ffs, a[0]));
const BREV: Lower = Lower::Value(|b, a| b.bit(BitFn::Brev, a[0]));
const MUL_HI: Lower = Lower::Value(|b, a| b.binary(BinaryOp::MulHi, a[0], a[1]));

/// The table.
pub const TABLE: &[Sig] = sigs! {
    "__clz" (I) -> I, CLZ, "Leading zero bits.";
    "__clzll" (LL) -> I, CLZ, "Leading zero bits.";
    "__popc" (U) -> I, POPC, "Set bits.";
    "__popcll" (ULL) -> I, POPC, "Set bits.";
    "__ffs" (I) -> I, FFS, "One plus the index of the lowest set bit, 0 for none.";
    "__ffsll" (LL) -> I, FFS, "One plus the index of the lowest set bit, 0 for none.";
    "__brev" (U) -> U, BREV, "Bits in reverse order.";
    "__brevll" (ULL) -> ULL, BREV, "Bits in reverse order.";
    "__mulhi" (I, I) -> I, MUL_HI, "High half of the product.";
    "__umulhi" (U, U) -> U, MUL_HI, "High half of the product.";
    "__mul64hi" (LL, LL) -> LL, MUL_HI, "High half of the product.";
    "__umul64hi" (ULL, ULL) -> ULL, MUL_HI, "High half of the product.";
    "__mul24" (I, I) -> I, Lower::Value(mul24), "Product of the low 24 bits.";
    "__umul24" (U, U) -> U, Lower::Value(mul24), "Product of the low 24 bits.";
    "__sad" (I, I, U) -> U, Lower::Value(sad), "|x - y| + z.";
    "__usad" (U, U, U) -> U, Lower::Value(sad), "|x - y| + z.";
    "__hadd" (I, I) -> I, Lower::Value(mean_down), "Mean, rounded down.";
    "__uhadd" (U, U) -> U, Lower::Value(mean_down), "Mean, rounded down.";
    "__rhadd" (I, I) -> I, Lower::Value(mean_up), "Mean, rounded up.";
    "__urhadd" (U, U) -> U, Lower::Value(mean_up), "Mean, rounded up.";
    "__byte_perm" (U, U, U) -> U, Lower::Value(byte_perm), "Bytes of two words, chosen.";
    "__funnelshift_l" (U, U, U) -> U, Lower::Value(|b, a| funnel_left(b, a, false)), "High word of hi:lo << (shift & 31).";
    "__funnelshift_lc" (U, U, U) -> U, Lower::Value(|b, a| funnel_left(b, a, true)), "High word of hi:lo << min(shift, 32).";
    "__funnelshift_r" (U, U, U) -> U, Lower::Value(|b, a| funnel_right(b, a, false)), "Low word of hi:lo >> (shift & 31).";
    "__funnelshift_rc" (U, U, U) -> U, Lower::Value(|b, a| funnel_right(b, a, true)), "Low word of hi:lo >> min(shift, 32).";
    "__dp4a" (I, I, I) -> I, Lower::Value(dp4a), "Sum of four byte products, plus the third.";
    "__dp4a" (U, U, U) -> U, Lower::Value(dp4a), "Sum of four byte products, plus the third.";
};

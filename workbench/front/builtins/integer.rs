//! CUDA's integer intrinsics.

use super::short::*;
use super::{Lower, Sig, sigs};
use crate::ir::{BinaryOp, BitFn, Builder, CompareOp, Scalar, Value};

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

/// The number of set bits modulo 2.
fn parity(b: &mut Builder, a: &[Value]) -> Value {
    let (count, one) = (b.bit(BitFn::Popc, a[0]), b.int(Scalar::I32, 1));
    b.binary(BinaryOp::And, count, one)
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

/// The two products of the first's halves and two bytes of the second, plus the third.
fn dp2a(b: &mut Builder, a: &[Value], first_byte: i64) -> Value {
    let word = b.scalar(a[2]);
    let (half, byte) = if word.is_signed() { (Scalar::I16, Scalar::I8) } else { (Scalar::U16, Scalar::U8) };
    let mut sum = a[2];
    for i in 0..2 {
        let mut part = |x: Value, at: i64, lane: Scalar| {
            let at = b.int(Scalar::I32, at);
            let moved = b.binary(BinaryOp::Shr, x, at);
            let low = b.convert(lane, moved);
            b.convert(word, low)
        };
        let (x, y) = (part(a[0], 16 * i, half), part(a[1], 8 * (first_byte + i), byte));
        let product = b.binary(BinaryOp::Mul, x, y);
        sum = b.binary(BinaryOp::Add, sum, product);
    }
    sum
}

/// The bytes of a 16-, 32- or 64-bit integer in reverse order, by exchanging ever smaller parts.
fn byte_swap(b: &mut Builder, a: &[Value]) -> Value {
    let ty = b.scalar(a[0]);
    let mut x = a[0];
    let mut part = ty.bits() / 2;
    while part >= 8 {
        // The low one of every two parts.
        let low = (0..64 / (2 * part)).fold(0u64, |m, i| m | ((1u64 << part) - 1) << (2 * part * i));
        let low = low & (u64::MAX >> (64 - ty.bits()));
        let (low, at) = (b.int(ty, low as i64), b.int(Scalar::I32, i64::from(part)));
        let down = b.binary(BinaryOp::Shr, x, at);
        let down = b.binary(BinaryOp::And, down, low);
        let up = b.binary(BinaryOp::And, x, low);
        let up = b.binary(BinaryOp::Shl, up, at);
        x = b.binary(BinaryOp::Or, up, down);
        part /= 2;
    }
    x
}

/// The position of the n-th set bit from `base`, upwards or (`n < 0`) downwards, the bit at `base` itself for 0; all ones
/// where there is none (PTX ISA, `fns`).
fn find_nth_set(b: &mut Builder, a: &[Value]) -> Value {
    let [mask, base, n] = [a[0], a[1], a[2]];
    let zero = b.int(Scalar::I32, 0);
    let (up, here) = (b.compare(CompareOp::Gt, n, zero), b.compare(CompareOp::Eq, n, zero));
    let (one, ones) = (b.int(Scalar::U32, 1), b.int(Scalar::U32, 0xffff_ffff));
    let last = b.int(Scalar::U32, 31);
    // The bits that count, the first one lowest.
    let above = b.binary(BinaryOp::Shl, ones, base);
    let above = b.binary(BinaryOp::And, mask, above);
    let at = b.binary(BinaryOp::Shl, one, base);
    let at = b.binary(BinaryOp::And, mask, at);
    let spare = b.binary(BinaryOp::Sub, last, base);
    let below = b.binary(BinaryOp::Shr, ones, spare);
    let below = b.binary(BinaryOp::And, mask, below);
    let below = b.bit(BitFn::Brev, below);
    let bits = b.select(up, above, below);
    let bits = b.select(here, at, bits);
    // The number of bits to skip; for 0 none.
    let minus = b.unary(crate::ir::UnaryOp::Neg, n);
    let size = b.select(up, n, minus);
    let skip = b.convert(Scalar::U32, size);
    let skip = b.binary(BinaryOp::Sub, skip, one);
    let none = b.int(Scalar::U32, 0);
    let mut skip = b.select(here, none, skip);
    let count = b.bit(BitFn::Popc, bits);
    let count = b.convert(Scalar::U32, count);
    let found = b.compare(CompareOp::Lt, skip, count);
    let (mut rest, mut position) = (bits, none);
    for width in [16, 8, 4, 2, 1] {
        let low = b.int(Scalar::U32, (1 << width) - 1);
        let width = b.int(Scalar::U32, width);
        let low = b.binary(BinaryOp::And, rest, low);
        let low = b.bit(BitFn::Popc, low);
        let low = b.convert(Scalar::U32, low);
        let past = b.compare(CompareOp::Ge, skip, low);
        let passed = b.select(past, low, none);
        skip = b.binary(BinaryOp::Sub, skip, passed);
        let moved = b.select(past, width, none);
        rest = b.binary(BinaryOp::Shr, rest, moved);
        position = b.binary(BinaryOp::Add, position, moved);
    }
    let mirrored = b.binary(BinaryOp::Sub, last, position);
    let forward = b.binary(BinaryOp::Or, up, here);
    let position = b.select(forward, position, mirrored);
    b.select(found, position, ones)
}

const CLZ: Lower = Lower::Value(|b, a| b.bit(BitFn::Clz, a[0]));
const POPC: Lower = Lower::Value(|b, a| b.bit(BitFn::Popc, a[0]));
const FFS: Lower = Lower::Value(|b, a| b.bit(BitFn::Ffs, a[0]));
const DP4A: Lower = Lower::Value(|b, a| b.dot4([a[0], a[1], a[2]]));
const BREV: Lower = Lower::Value(|b, a| b.bit(BitFn::Brev, a[0]));
const MUL_HI: Lower = Lower::Value(|b, a| b.binary(BinaryOp::MulHi, a[0], a[1]));

/// The table.
pub const TABLE: &[Sig] = sigs! {
    "__builtin_clz" (U) -> I, CLZ, "Leading zero bits, in host code too.";
    "__builtin_clzl" (UL) -> I, CLZ, "Leading zero bits, in host code too.";
    "__builtin_clzll" (ULL) -> I, CLZ, "Leading zero bits, in host code too.";
    "__builtin_popcount" (U) -> I, POPC, "Set bits, in host code too.";
    "__builtin_popcountl" (UL) -> I, POPC, "Set bits, in host code too.";
    "__builtin_popcountll" (ULL) -> I, POPC, "Set bits, in host code too.";
    "__builtin_parity" (U) -> I, Lower::Value(parity), "Set bits modulo 2, in host code too.";
    "__builtin_parityl" (UL) -> I, Lower::Value(parity), "Set bits modulo 2, in host code too.";
    "__builtin_parityll" (ULL) -> I, Lower::Value(parity), "Set bits modulo 2, in host code too.";
    "__builtin_ffs" (I) -> I, FFS, "One plus the index of the lowest set bit, 0 for none, in host code too.";
    "__builtin_ffsl" (L) -> I, FFS, "One plus the index of the lowest set bit, 0 for none, in host code too.";
    "__builtin_ffsll" (LL) -> I, FFS, "One plus the index of the lowest set bit, 0 for none, in host code too.";
    "__builtin_bswap32" (U) -> U, Lower::Value(byte_swap), "Bytes in reverse order, in host code too.";
    "__builtin_bswap64" (UL) -> UL, Lower::Value(byte_swap), "Bytes in reverse order, in host code too.";
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
    "__dp4a" (I, I, I) -> I, DP4A, "Sum of four byte products, plus the third.";
    "__dp4a" (U, U, U) -> U, DP4A, "Sum of four byte products, plus the third.";
    "__dp2a_lo" (I, I, I) -> I, Lower::Value(|b, a| dp2a(b, a, 0)), "Sum of two products of halves and low bytes, plus the third.";
    "__dp2a_lo" (U, U, U) -> U, Lower::Value(|b, a| dp2a(b, a, 0)), "Sum of two products of halves and low bytes, plus the third.";
    "__dp2a_hi" (I, I, I) -> I, Lower::Value(|b, a| dp2a(b, a, 2)), "Sum of two products of halves and high bytes, plus the third.";
    "__dp2a_hi" (U, U, U) -> U, Lower::Value(|b, a| dp2a(b, a, 2)), "Sum of two products of halves and high bytes, plus the third.";
    "__fns" (U, U, I) -> U, Lower::Value(find_nth_set), "Position of the n-th set bit from a base, all ones for none.";
    "__nv_bswap16" (US) -> US, Lower::Value(byte_swap), "Bytes in reverse order.";
    "__nv_bswap32" (U) -> U, Lower::Value(byte_swap), "Bytes in reverse order.";
    "__nv_bswap64" (ULL) -> ULL, Lower::Value(byte_swap), "Bytes in reverse order.";
};

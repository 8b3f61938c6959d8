//! Logarithms.
//!
//! The argument is two to the power of `e` times a mantissa in [3/4, 3/2), so that nothing cancels near 1; the logarithm of
//! the mantissa is a polynomial in it minus 1, which is exact. Zero, negative numbers, infinity and NaN come out of
//! [`Lanes::split`] such that the sums are right.

use super::{Lanes, poly};

/// The first 16 bits of the logarithm of 2, whose products with exponents are exact, and the rest.
pub(super) const LN_2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
/// The logarithm to base 10 of 2, in two parts.
const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);

/// (ln(1 + f) - f) / f^2.
const LOG: [f32; 9] = [
    -0.5,
    0.333_334_5,
    -0.250_001,
    0.199_908_1,
    -0.166_471,
    0.144_787_16,
    -0.131_632_97,
    0.104_652_204,
    -0.045_075_856,
];
/// log2(1 + f) / f - 1: the sum of exponent and `f` is exact next to where exponent and logarithm cancel.
const LOG2: [f32; 10] = [
    0.442_695_02,
    -0.721_347_5,
    0.480_902_76,
    -0.360_680_7,
    0.288_328_23,
    -0.239_922_73,
    0.209_344_4,
    -0.192_464_9,
    0.153_942_33,
    -0.065_797_92,
];
/// log10(1 + f) / f.
const LOG10: [f32; 10] = [
    0.434_294_5,
    -0.217_147_25,
    0.144_762_93,
    -0.108_571_17,
    0.086_904_9,
    -0.072_469_726,
    0.062_089_9,
    -0.054_897_65,
    0.045_131_985,
    -0.021_573_478,
];

/// The logarithm of two to the power of `e` times `1 + f`.
#[inline(always)]
pub(super) fn log_parts<B: Lanes>(b: &mut B, e: B::F, f: B::F) -> B::F {
    let (high, low) = (b.f(LN_2.0), b.f(LN_2.1));
    let q = poly(b, f, &LOG);
    let ff = b.mul(f, f);
    let low = b.mul(e, low);
    let t = b.fma(q, ff, low);
    let t = b.add(f, t);
    b.fma(e, high, t)
}

/// The natural logarithm.
/// Error: 0.92 ULP.
#[inline(always)]
pub fn log<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (e, m) = b.split(x);
    let one = b.f(1.0);
    let f = b.sub(m, one);
    log_parts(b, e, f)
}

/// The logarithm to base 2.
/// Error: 1.08 ULP.
#[inline(always)]
pub fn log2<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (e, m) = b.split(x);
    let one = b.f(1.0);
    let f = b.sub(m, one);
    let p = poly(b, f, &LOG2);
    let t = b.add(e, f);
    b.fma(f, p, t)
}

/// The logarithm to base 10.
/// Error: 2.48 ULP.
#[inline(always)]
pub fn log10<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (e, m) = b.split(x);
    let one = b.f(1.0);
    let f = b.sub(m, one);
    let (high, low) = (b.f(LOG10_2.0), b.f(LOG10_2.1));
    let p = poly(b, f, &LOG10);
    let low = b.mul(e, low);
    let t = b.fma(f, p, low);
    b.fma(e, high, t)
}

/// The logarithm of `1 + x`, for finite `x` above -1.
#[inline(always)]
pub(super) fn log1p_core<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (one, minus_one, quarter) = (b.f(1.0), b.f(-1.0), b.f(0.25));
    let u = b.add(x, one);
    // (1 + x) / 2^e - 1, rounded once; four times the power stays normal.
    let (bits, start, four) = (b.bits(u), b.i(0x3f40_0000), b.i(0x4080_0000));
    let n = b.isub(bits, start);
    let n = b.ishr(n, 23);
    let e = b.to_f(n);
    let power = b.ishl(n, 23);
    let power = b.isub(four, power);
    let power = b.of_bits(power);
    let less = b.fma(power, quarter, minus_one);
    let x = b.mul(x, quarter);
    let f = b.fma(x, power, less);
    log_parts(b, e, f)
}

/// The logarithm of one plus the argument.
/// Error: 0.92 ULP.
#[inline(always)]
pub fn log1p<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let y = log1p_core(b, x);
    let (minus_one, infinity, small) = (b.f(-1.0), b.f(f32::INFINITY), b.f(1e-9));
    let (nan, minus) = (b.f(f32::NAN), b.f(f32::NEG_INFINITY));
    let (is_pole, is_good) = (b.eq(x, minus_one), b.lt(minus_one, x));
    let other = b.select(is_pole, minus, nan);
    let y = b.select(is_good, y, other);
    // Small numbers are themselves, as infinity is.
    let a = b.abs(x);
    let (is_small, is_infinite) = (b.lt(a, small), b.eq(x, infinity));
    let same = b.or(is_small, is_infinite);
    b.select(same, x, y)
}

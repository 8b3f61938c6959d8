//! Exponential functions.
//!
//! The argument is split as `n` times the logarithm of 2 plus a rest of at most half of it, by Cody and Waite's two-part
//! constant, whose first step is exact under `fma`. The exponential of the rest is a polynomial of degree 6 (relative error
//! 3e-9), scaled by two to the power of `n` with one rounding, also where the result is subnormal.

use super::{Lanes, ROUNDER, clamp, poly};

pub(super) const LN_2: f32 = std::f32::consts::LN_2;
/// The low part of the logarithm of 2: the logarithm less `LN_2`.
pub(super) const LN_2_LOW: f32 = -1.904_654_2e-9;

/// The polynomial of `exp`, from the square on.
pub(super) const EXP: [f32; 7] = [1.0, 1.0, 0.499_999_94, 0.166_665_21, 0.041_668_262, 0.008_368_676, 0.001_382_106_8];
const EXP2: [f32; 7] = [1.0, 0.693_147_2, 0.240_226_48, 0.055_503_596, 0.009_618_5, 0.001_339_098_2, 0.000_153_289_42];

/// (exp(x) - 1 - x) / x^2.
const EXPM1: [f32; 5] = [0.5, 0.166_665_5, 0.041_666_858, 0.008_365_973, 0.001_389_785_1];

/// The integer nearest `x * by`.
#[inline(always)]
pub(super) fn nearest<B: Lanes>(b: &mut B, x: B::F, by: f32) -> B::F {
    let (by, rounder) = (b.f(by), b.f(ROUNDER));
    let sum = b.fma(x, by, rounder);
    b.sub(sum, rounder)
}

/// `x - n * (high + low)`, where the first product cancels all digits but those that a `float` holds.
#[inline(always)]
pub(super) fn rest<B: Lanes>(b: &mut B, x: B::F, n: B::F, high: f32, low: f32) -> B::F {
    let (high, low) = (b.f(-high), b.f(-low));
    let r = b.fma(n, high, x);
    b.fma(n, low, r)
}

/// `exp(x)` is `p` times two to the power of `n`, for `x` within (-170, 170).
#[inline(always)]
pub(super) fn exp_parts<B: Lanes>(b: &mut B, x: B::F) -> (B::F, B::F) {
    let n = nearest(b, x, std::f32::consts::LOG2_E);
    let r = rest(b, x, n, LN_2, LN_2_LOW);
    (poly(b, r, &EXP), n)
}

/// Two to the power of `r`, at most about one half.
#[inline(always)]
pub(super) fn exp2_small<B: Lanes>(b: &mut B, r: B::F) -> B::F {
    poly(b, r, &EXP2)
}

/// The exponential.
/// Error: 0.89 ULP.
#[inline(always)]
pub fn exp<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let x = clamp(b, x, -104.0, 89.0);
    let (p, n) = exp_parts(b, x);
    b.scale(p, n)
}

/// Two to the power of `x`.
/// Error: 0.88 ULP.
#[inline(always)]
pub fn exp2<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let x = clamp(b, x, -151.0, 129.0);
    let rounder = b.f(ROUNDER);
    let sum = b.add(x, rounder);
    let n = b.sub(sum, rounder);
    let r = b.sub(x, n);
    let p = exp2_small(b, r);
    b.scale(p, n)
}

/// Ten to the power of `x`, as a power of two computed in `double`: the number that is rounded is off by 1e-9 ULP of a `float` at
/// most, where CUDA's bound of 1 ULP leaves `float` arithmetic no room.
#[inline(always)]
pub fn exp10<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (x, by) = (b.widen(x), b.d(std::f64::consts::LOG2_10));
    let x = b.dmul(x, by);
    let y = super::double::exp::exp2(b, x);
    b.narrow(y)
}

/// `exp(r) - 1` for `r` within half the logarithm of 2.
#[inline(always)]
fn expm1_small<B: Lanes>(b: &mut B, r: B::F) -> B::F {
    let p = poly(b, r, &EXPM1);
    let rr = b.mul(r, r);
    b.fma(rr, p, r)
}

/// `exp(x) - 1` for `x` within (-87, 87); of zero, positive zero.
#[inline(always)]
pub(super) fn expm1_core<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (by, rounder, one) = (b.f(std::f32::consts::LOG2_E), b.f(ROUNDER), b.f(1.0));
    let sum = b.fma(x, by, rounder);
    let n = b.sub(sum, rounder);
    let r = rest(b, x, n, LN_2, LN_2_LOW);
    let p = expm1_small(b, r);
    let power = power_of_two(b, sum);
    let t = b.sub(power, one);
    b.fma(power, p, t)
}

/// Two to the power of `n`, for `sum = n + ROUNDER`.
#[inline(always)]
fn power_of_two<B: Lanes>(b: &mut B, sum: B::F) -> B::F {
    let (bits, one) = (b.bits(sum), b.i(0x3f80_0000));
    let bits = b.ishl(bits, 23);
    let bits = b.iadd(bits, one);
    b.of_bits(bits)
}

/// `(exp(2 * x) - 1) / 2` for `x` within (-43, 43); of zero, positive zero.
#[inline(always)]
pub(super) fn half_expm1_double<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (by, rounder, half) = (b.f(2.0 * std::f32::consts::LOG2_E), b.f(ROUNDER), b.f(0.5));
    let sum = b.fma(x, by, rounder);
    let n = b.sub(sum, rounder);
    let r = rest(b, x, n, 0.5 * LN_2, 0.5 * LN_2_LOW);
    let mut scaled = EXPM1;
    for (k, c) in scaled.iter_mut().enumerate() {
        *c *= (2 << k) as f32;
    }
    let p = poly(b, r, &scaled);
    let rr = b.mul(r, r);
    let p = b.fma(rr, p, r);
    let power = power_of_two(b, sum);
    let minus = b.neg(half);
    let t = b.fma(power, half, minus);
    b.fma(power, p, t)
}

/// The exponential minus 1: that of the reduced argument plus `1 - 2^-n`, scaled once. Error: 1.29 ULP.
#[inline(always)]
pub fn expm1<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let c = clamp(b, x, -18.0, 89.0);
    let (by, rounder, one) = (b.f(std::f32::consts::LOG2_E), b.f(ROUNDER), b.f(1.0));
    let sum = b.fma(c, by, rounder);
    let n = b.sub(sum, rounder);
    let r = rest(b, c, n, LN_2, LN_2_LOW);
    let p = poly(b, r, &EXPM1);
    let rr = b.mul(r, r);
    // A power below 2^-100 does not show.
    let most = b.f(ROUNDER + 100.0);
    let sum = b.min(most, sum);
    let power = inverse_power(b, sum);
    let t = b.sub(one, power);
    // Exact where it cancels.
    let t = b.add(r, t);
    let y = b.fma(rr, p, t);
    let y = b.scale(y, n);
    // The sign of zero.
    let zero = b.f(0.0);
    let is_zero = b.eq(x, zero);
    b.select(is_zero, x, y)
}

/// Two to the power of `-n`, for `sum = n + ROUNDER` and `n` within (-128, 127).
#[inline(always)]
pub(super) fn inverse_power<B: Lanes>(b: &mut B, sum: B::F) -> B::F {
    let (bits, one) = (b.bits(sum), b.i(0x3f80_0000));
    let bits = b.ishl(bits, 23);
    let bits = b.isub(one, bits);
    b.of_bits(bits)
}

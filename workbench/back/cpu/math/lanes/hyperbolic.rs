//! Hyperbolic functions.

use super::exp::{LN_2, LN_2_LOW, half_expm1_double, inverse_power, rest};
use super::log::{log_parts, log1p_core};
use super::{Lanes, ROUNDER, flip, poly, sign};

/// (sinh(r) / r - 1) / r^2 by r^2, to half the logarithm of 2, doubled.
const SINH: [f32; 2] = [2.0 * 0.166_665_43, 2.0 * 0.008_366_538];
/// (cosh(r) - 1) / r^2, likewise doubled.
const COSH: [f32; 3] = [2.0 * 0.5, 2.0 * 0.041_666_46, 2.0 * 0.001_393_542_6];
/// (asinh(x) / x - 1) / x^2 by x^2, to 3/4 (relative error 8e-9).
const ASINH: [f32; 6] = [-0.166_665_8, 0.074_968_76, -0.044_258_61, 0.028_140_09, -0.015_323_223, 0.004_671_573_6];

/// For a number in [0, 89.5]: twice sinh and cosh - 1 of its rest by the logarithm of 2, and a quarter of the sum and
/// of the difference of the powers of two that go with them.
#[inline(always)]
fn parts<B: Lanes>(b: &mut B, a: B::F) -> [B::F; 4] {
    let (by, rounder) = (b.f(std::f32::consts::LOG2_E), b.f(ROUNDER));
    let sum = b.fma(a, by, rounder);
    let n = b.sub(sum, rounder);
    let r = rest(b, a, n, LN_2, LN_2_LOW);
    let z = b.mul(r, r);
    let cosh = poly(b, z, &COSH);
    let cosh = b.mul(cosh, z);
    let p = poly(b, z, &SINH);
    let (cube, twice) = (b.mul(r, z), b.add(r, r));
    let sinh = b.fma(cube, p, twice);
    let (bits, quarter) = (b.bits(sum), b.i(0x3e80_0000));
    let up = b.ishl(bits, 23);
    let up = b.iadd(up, quarter);
    let up = b.of_bits(up);
    // Below 2^-100 the other does not show.
    let (most, factor) = (b.f(ROUNDER + 100.0), b.f(0.25));
    let sum = b.min(most, sum);
    let down = inverse_power(b, sum);
    let other = b.neg(down);
    [sinh, cosh, b.fma(down, factor, up), b.fma(other, factor, up)]
}

/// The hyperbolic sine: `sinh(r + n ln 2)` by the addition theorem, without cancellation next to zero.
/// Error: 1.95 ULP.
#[inline(always)]
pub fn sinh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s, most) = (b.abs(x), sign(b, x), b.f(89.5));
    let a = b.min(most, a);
    let [sinh, cosh, plus, minus] = parts(b, a);
    let t = b.mul(sinh, plus);
    let (t, two) = (b.fma(cosh, minus, t), b.f(2.0));
    let y = b.fma(minus, two, t);
    flip(b, y, s)
}

/// The hyperbolic cosine.
/// Error: 1.85 ULP.
#[inline(always)]
pub fn cosh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, most) = (b.abs(x), b.f(89.5));
    let a = b.min(most, a);
    let [sinh, cosh, plus, minus] = parts(b, a);
    let t = b.mul(sinh, minus);
    let (t, two) = (b.fma(cosh, plus, t), b.f(2.0));
    b.fma(plus, two, t)
}

/// The hyperbolic tangent: `t / (t + 1)` for `t = (exp(2 * x) - 1) / 2`, which keeps all digits next to zero.
/// Error: 2.48 ULP.
#[inline(always)]
pub fn tanh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s, one) = (b.abs(x), sign(b, x), b.f(1.0));
    // Rounds to 1 from here on.
    let most = b.f(9.02);
    let a = b.min(most, a);
    let t = half_expm1_double(b, a);
    let d = b.add(t, one);
    let y = b.div(t, d);
    flip(b, y, s)
}

/// The inverse hyperbolic sine: a polynomial to 3/4, then the logarithm of the sum with the root.
/// Error: 2.29 ULP.
#[inline(always)]
pub fn asinh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    let (one, zero, end) = (b.f(1.0), b.f(0.0), b.f(0.75));
    let z = b.mul(a, a);
    let p = poly(b, z, &ASINH);
    let cube = b.mul(a, z);
    let near = b.fma(cube, p, a);
    let square = b.add(z, one);
    let root = b.sqrt(square);
    let sum = b.add(a, root);
    // Twice the number would do from here on; the doubling goes into the exponent, so that nothing overflows.
    let bound = b.f(1e9);
    let large = b.lt(bound, a);
    let sum = b.select(large, a, sum);
    let more = b.select(large, one, zero);
    let (e, m) = b.split_normal(sum);
    let (e, f) = (b.add(e, more), b.sub(m, one));
    let far = log_parts(b, e, f);
    let (infinity, small) = (b.f(f32::INFINITY), b.lt(a, end));
    let y = b.select(small, near, far);
    let finite = b.lt(a, infinity);
    let y = b.select(finite, y, a);
    flip(b, y, s)
}

/// The inverse hyperbolic cosine: the logarithm of `1 + t + sqrt(2 t + t^2)` for `t = x - 1`.
/// Error: 2.42 ULP.
#[inline(always)]
pub fn acosh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (one, zero, two) = (b.f(1.0), b.f(0.0), b.f(2.0));
    let t = b.sub(x, one);
    let square = b.add(t, two);
    let square = b.mul(square, t);
    let root = b.sqrt(square);
    let sum = b.add(t, root);
    let bound = b.f(1e9);
    let large = b.lt(bound, x);
    // The doubling of a large number adds the logarithm of 2.
    let sum = b.select(large, t, sum);
    let y = log1p_core(b, sum);
    let ln = b.f(LN_2);
    let more = b.select(large, ln, zero);
    let y = b.add(y, more);
    let (infinity, nan) = (b.f(f32::INFINITY), b.f(f32::NAN));
    let (finite, good) = (b.lt(x, infinity), b.le(one, x));
    let y = b.select(finite, y, x);
    b.select(good, y, nan)
}

/// The inverse hyperbolic tangent: half the logarithm of `1 + 2 x / (1 - x)`.
/// Error: 2.09 ULP.
#[inline(always)]
pub fn atanh<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    let (one, half) = (b.f(1.0), b.f(0.5));
    let (d, twice) = (b.sub(one, a), b.add(a, a));
    let t = b.div(twice, d);
    let y = log1p_core(b, t);
    let y = b.mul(y, half);
    let (small, infinity, nan) = (b.f(1e-5), b.f(f32::INFINITY), b.f(f32::NAN));
    let (is_small, is_pole, is_good) = (b.lt(a, small), b.eq(a, one), b.le(a, one));
    let y = b.select(is_small, a, y);
    let y = b.select(is_pole, infinity, y);
    let y = b.select(is_good, y, nan);
    flip(b, y, s)
}

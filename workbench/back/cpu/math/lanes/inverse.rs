//! Inverse trigonometric functions.

use super::{Lanes, flip, poly, sign};

/// (atan(x) / x - 1) / x^2 by x^2, to 1 (relative error 2e-8).
const ATAN: [f32; 8] = [
    -0.333_331_53,
    0.199_937_67,
    -0.142_110_05,
    0.106_657_974,
    -0.075_517_58,
    0.043_206_31,
    -0.016_364_414,
    0.002_919_788,
];
/// (asin(x) / x - 1) / x^2 by x^2, to one half (relative error 5e-9).
const ASIN: [f32; 5] = [0.166_667_52, 0.074_953_094, 0.045_469_17, 0.024_184_575, 0.042_158_842];
/// Half of pi, and the low part of that.
const HALF_PI: (f32, f32) = (std::f32::consts::FRAC_PI_2, -4.371_139e-8);

/// The arc tangent of at most 1.
#[inline(always)]
fn atan_small<B: Lanes>(b: &mut B, t: B::F) -> B::F {
    let z = b.mul(t, t);
    let p = poly(b, z, &ATAN);
    let cube = b.mul(t, z);
    b.fma(cube, p, t)
}

/// `n` halves of pi minus `y`.
#[inline(always)]
fn reflected<B: Lanes>(b: &mut B, y: B::F, n: f32) -> B::F {
    let (high, low) = (b.f(n * HALF_PI.0), b.f(n * HALF_PI.1));
    let y = b.sub(y, low);
    b.sub(high, y)
}

/// The arc tangent, from 1 on that of the reciprocal.
/// Error: 1.57 ULP.
#[inline(always)]
pub fn atan<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s, one) = (b.abs(x), sign(b, x), b.f(1.0));
    let large = b.lt(one, a);
    let inverse = b.div(one, a);
    let t = b.select(large, inverse, a);
    let near = atan_small(b, t);
    let far = reflected(b, near, 1.0);
    let y = b.select(large, far, near);
    flip(b, y, s)
}

/// The angle of the point (x, y).
/// Error: 1.75 ULP, sampled.
#[inline(always)]
pub fn atan2<B: Lanes>(b: &mut B, y: B::F, x: B::F) -> B::F {
    let (a, c, s) = (b.abs(x), b.abs(y), sign(b, y));
    let (zero, one) = (b.f(0.0), b.f(1.0));
    let steep = b.lt(a, c);
    let (low, high) = (b.select(steep, a, c), b.select(steep, c, a));
    // Zero over zero is zero, infinity over infinity one.
    let is_zero = b.eq(high, zero);
    let high = b.select(is_zero, one, high);
    let equal = b.eq(low, high);
    let t = b.div(low, high);
    let t = b.select(equal, one, t);
    let angle = atan_small(b, t);
    let other = reflected(b, angle, 1.0);
    let angle = b.select(steep, other, angle);
    let other = reflected(b, angle, 2.0);
    let (bits, none) = (b.bits(x), b.i(0));
    let left = b.ilt(bits, none);
    let angle = b.select(left, other, angle);
    flip(b, angle, s)
}

/// For asin and acos: the absolute value, whether it is above one half, and the arc sine of the value or else of
/// `sqrt((1 - a) / 2)`, half of the complement.
#[inline(always)]
fn arc<B: Lanes>(b: &mut B, x: B::F) -> (B::F, B::M, B::F) {
    let (a, half, minus) = (b.abs(x), b.f(0.5), b.f(-0.5));
    let large = b.lt(half, a);
    let (square, rest) = (b.mul(a, a), b.fma(a, minus, half));
    let z = b.select(large, rest, square);
    let root = b.sqrt(rest);
    let t = b.select(large, root, a);
    let p = poly(b, z, &ASIN);
    let cube = b.mul(t, z);
    (a, large, b.fma(cube, p, t))
}

/// The arc sine.
/// Error: 2.36 ULP.
#[inline(always)]
pub fn asin<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let s = sign(b, x);
    let (_, large, y) = arc(b, x);
    let twice = b.add(y, y);
    let other = reflected(b, twice, 1.0);
    let y = b.select(large, other, y);
    flip(b, y, s)
}

/// The arc cosine.
/// Error: 1.12 ULP.
#[inline(always)]
pub fn acos<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (s, none) = (sign(b, x), b.i(0));
    let (_, large, y) = arc(b, x);
    let negative = b.ilt(s, none);
    // Far from zero: twice the half of the complement, or pi minus that. Near: half of pi minus the arc sine.
    let twice = b.add(y, y);
    let turned = reflected(b, twice, 2.0);
    let far = b.select(negative, turned, twice);
    let near = flip(b, y, s);
    let near = reflected(b, near, 1.0);
    b.select(large, far, near)
}

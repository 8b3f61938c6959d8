//! Trigonometric functions.
//!
//! The argument is reduced by Cody and Waite's method with a three-part constant: under `fma` the first step is exact. From
//! [`BOUND`] on that would need more bits, and the scalar function is called.

use super::{Lanes, ROUNDER, Rare, flip, poly, sign};

/// The bound of the fast reduction.
const BOUND: f32 = 131_072.0;
/// Pi in three parts, negated.
const MINUS_PI: [f32; 3] = [-std::f32::consts::PI, 8.742_278e-8, 3.430_249e-15];

/// (sin(r) - r) / r^3 by r^2, to half of pi (relative error 7e-9); the second coefficient is an ULP below the fit, so that
/// no result is above 1.
const SIN: [f32; 4] = [-0.166_666_6, 0.008_333_066, -0.000_198_094_35, 2.605_112_5e-6];

/// `a - n * pi`.
#[inline(always)]
fn without<B: Lanes>(b: &mut B, a: B::F, n: B::F, parts: [f32; 3]) -> B::F {
    parts.into_iter().fold(a, |r, part| {
        let part = b.f(part);
        b.fma(n, part, r)
    })
}

/// The sine of at most half of pi.
#[inline(always)]
fn sin_small<B: Lanes>(b: &mut B, r: B::F) -> B::F {
    let z = b.mul(r, r);
    let p = poly(b, z, &SIN);
    let cube = b.mul(r, z);
    b.fma(cube, p, r)
}

/// The sine.
/// Error: 1.89 ULP.
#[inline(always)]
pub fn sin<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    let (by, rounder, bound) = (b.f(std::f32::consts::FRAC_1_PI), b.f(ROUNDER), b.f(BOUND));
    let sum = b.fma(a, by, rounder);
    let n = b.sub(sum, rounder);
    let r = without(b, a, n, MINUS_PI);
    let fast = sin_small(b, r);
    // An odd multiple of pi turns the sign.
    let odd = b.bits(sum);
    let odd = b.ishl(odd, 31);
    let s = b.ixor(s, odd);
    let fast = flip(b, fast, s);
    let large = b.lt(bound, a);
    b.rare(large, Rare::Sin, &[x], fast)
}

/// The cosine: the sine a quarter turn ahead.
/// Error: 1.86 ULP.
#[inline(always)]
pub fn cos<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let a = b.abs(x);
    let (by, rounder, bound) = (b.f(std::f32::consts::FRAC_1_PI), b.f(ROUNDER), b.f(BOUND));
    let half = b.f(0.5);
    let turns = b.fma(a, by, half);
    let sum = b.add(turns, rounder);
    let n = b.sub(sum, rounder);
    let n = b.sub(n, half);
    let r = without(b, a, n, MINUS_PI);
    let fast = sin_small(b, r);
    let odd = b.bits(sum);
    let odd = b.ishl(odd, 31);
    let fast = flip(b, fast, odd);
    let large = b.lt(bound, a);
    b.rare(large, Rare::Cos, &[x], fast)
}

/// Half of pi, as [`MINUS_PI`].
const MINUS_HALF_PI: [f32; 3] = [0.5 * MINUS_PI[0], 0.5 * MINUS_PI[1], 0.5 * MINUS_PI[2]];
/// (tan(r) / r - 1) / r^2 by r^2, to a quarter of pi (relative error 2e-8).
const TAN: [f32; 6] = [0.333_331_23, 0.133_396_98, 0.053_335_935, 0.024_701_623, 0.002_681_070_7, 0.009_646_802];

/// The tangent, of odd multiples of half of pi as minus the reciprocal.
/// Error: 3.01 ULP.
#[inline(always)]
pub fn tan<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    let (by, rounder, bound) = (b.f(std::f32::consts::FRAC_2_PI), b.f(ROUNDER), b.f(BOUND));
    let sum = b.fma(a, by, rounder);
    let n = b.sub(sum, rounder);
    let r = without(b, a, n, MINUS_HALF_PI);
    let z = b.mul(r, r);
    let p = poly(b, z, &TAN);
    let cube = b.mul(r, z);
    let t = b.fma(cube, p, r);
    let minus = b.f(-1.0);
    let other = b.div(minus, t);
    let (odd, none) = (b.bits(sum), b.i(0));
    let odd = b.ishl(odd, 31);
    let odd = b.ilt(odd, none);
    let fast = b.select(odd, other, t);
    let fast = flip(b, fast, s);
    let large = b.lt(bound, a);
    b.rare(large, Rare::Tan, &[x], fast)
}

/// sin(pi r) / r - 2 by r^2, to one half: the part of the sine that is no power of two is small.
const SINPI: [f32; 5] = [1.141_592_6, -5.167_708, 2.550_037_6, -0.598_051_97, 0.077_201_32];

/// The sine of pi times at most one half.
#[inline(always)]
fn sinpi_small<B: Lanes>(b: &mut B, r: B::F) -> B::F {
    let (z, two) = (b.mul(r, r), b.f(2.0));
    let p = poly(b, z, &SINPI);
    let low = b.mul(r, p);
    b.fma(r, two, low)
}

/// The sign bit where the integer `n` is odd.
#[inline(always)]
fn odd_sign<B: Lanes>(b: &mut B, n: B::F) -> B::I {
    let (half, top, none) = (b.f(0.5), b.i(i32::MIN), b.i(0));
    let halved = b.mul(n, half);
    let whole = b.rint(halved);
    let even = b.eq(whole, halved);
    b.iselect(even, none, top)
}

/// The sine of pi times the argument; of integers, zero with their sign.
/// Error: 1.33 ULP.
#[inline(always)]
pub fn sinpi<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s, zero) = (b.abs(x), sign(b, x), b.f(0.0));
    let n = b.rint(a);
    let r = b.sub(a, n);
    let y = sinpi_small(b, r);
    let odd = odd_sign(b, n);
    let y = flip(b, y, odd);
    // Makes zeros positive.
    let y = b.add(y, zero);
    flip(b, y, s)
}

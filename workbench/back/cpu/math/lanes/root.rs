//! Roots.

use super::{Lanes, flip, poly, sign};

/// The cube root, from 3/4 to 3/2 (relative error 1e-5).
const CBRT: [f32; 5] = [0.460_618_82, 0.869_989_4, -0.485_562, 0.185_412_39, -0.030_449_677];

/// The cube root: a polynomial of the mantissa times a power of two to a third, and one step of Newton's method.
/// Error: 0.74 ULP.
#[inline(always)]
pub fn cbrt<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    let (e, m) = b.split(a);
    // e = 3 k + j, j one of -1, 0, 1.
    let (third, three) = (b.f(1.0 / 3.0), b.f(-3.0));
    let k = b.mul(e, third);
    let k = b.rint(k);
    let j = b.fma(k, three, e);
    let (zero, one) = (b.f(0.0), b.f(1.0));
    let (above, below) = (b.lt(zero, j), b.lt(j, zero));
    let (double, half, up, down) = (b.f(2.0), b.f(0.5), b.f(1.259_921), b.f(0.793_700_5));
    let power = b.select(above, double, one);
    let power = b.select(below, half, power);
    let root = b.select(above, up, one);
    let root = b.select(below, down, root);
    let p = poly(b, m, &CBRT);
    let (m, y) = (b.mul(m, power), b.mul(p, root));
    let square = b.mul(y, y);
    let minus = b.neg(square);
    let rest = b.fma(minus, y, m);
    let slope = b.mul(square, three);
    let step = b.div(rest, slope);
    let y = b.sub(y, step);
    let y = b.scale(y, k);
    // Zero, infinity and NaN are themselves.
    let infinity = b.f(f32::INFINITY);
    let (positive, finite) = (b.lt(zero, a), b.lt(a, infinity));
    let good = b.and(positive, finite);
    let y = b.select(good, y, a);
    flip(b, y, s)
}

/// Two numbers scaled by a power of two such that the sum of their squares neither overflows nor loses digits that matter;
/// that sum, four times the reciprocal of the power, and the power.
#[inline(always)]
fn squares<B: Lanes>(b: &mut B, x: B::F, y: B::F) -> (B::F, B::F, B::F) {
    let least = b.f(f32::MIN_POSITIVE);
    let most = b.max(x, y);
    let most = b.max(most, least);
    let (bits, mask, all) = (b.bits(most), b.i(0x7f80_0000), b.i(0x7f80_0000));
    let up = b.iand(bits, mask);
    let down = b.isub(all, up);
    let (up, down) = (b.of_bits(up), b.of_bits(down));
    let (x, y) = (b.mul(x, down), b.mul(y, down));
    let yy = b.mul(y, y);
    (b.fma(x, x, yy), up, down)
}

/// The length of the hypotenuse.
/// Error: 1.19 ULP, sampled.
#[inline(always)]
pub fn hypot<B: Lanes>(b: &mut B, x: B::F, y: B::F) -> B::F {
    let (x, y) = (b.abs(x), b.abs(y));
    let (sum, up, _) = squares(b, x, y);
    let (root, half, infinity) = (b.sqrt(sum), b.f(0.5), b.f(f32::INFINITY));
    let root = b.mul(root, half);
    let length = b.mul(root, up);
    let (first, second) = (b.eq(x, infinity), b.eq(y, infinity));
    let infinite = b.or(first, second);
    b.select(infinite, infinity, length)
}

/// The reciprocal of the length of the hypotenuse.
/// Error: 2.4 ULP, sampled.
#[inline(always)]
pub fn rhypot<B: Lanes>(b: &mut B, x: B::F, y: B::F) -> B::F {
    let (x, y) = (b.abs(x), b.abs(y));
    let (sum, _, down) = squares(b, x, y);
    let (one, zero, infinity) = (b.f(1.0), b.f(0.0), b.f(f32::INFINITY));
    let root = b.sqrt(sum);
    let inverse = b.div(one, root);
    let inverse = b.mul(inverse, down);
    let (first, second) = (b.eq(x, infinity), b.eq(y, infinity));
    let infinite = b.or(first, second);
    b.select(infinite, zero, inverse)
}

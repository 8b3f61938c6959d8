//! The error function and its relatives.

use super::exp::{EXP, LN_2, LN_2_LOW, expm1_core, nearest, rest};
use super::{Lanes, flip, poly, sign};

/// ln(erfc(x)) / x + 1, to 3.93 (relative error 5e-9 of the error function).
const ERFC_LOG: [f32; 9] = [
    -0.128_379_17,
    -0.636_619_57,
    -0.102_776_3,
    0.019_147_772,
    0.000_169_628_87,
    -0.001_675_824_9,
    0.000_637_454_56,
    -0.000_118_888_97,
    9.391_229e-6,
];

/// The error function: one minus the exponential of a polynomial, by an exponential minus one that keeps all digits next
/// to zero.
/// Error: 1.84 ULP.
#[inline(always)]
pub fn erf<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, s) = (b.abs(x), sign(b, x));
    // Rounds to 1 from here on.
    let most = b.f(3.93);
    let a = b.min(most, a);
    let p = poly(b, a, &ERFC_LOG);
    let minus = b.neg(a);
    let log = b.fma(a, p, minus);
    let y = expm1_core(b, log);
    let y = b.abs(y);
    flip(b, y, s)
}

/// (x + 2) exp(x^2) erfc(x) by (x - 2) / (x + 2), to 10.1 (relative error 7e-8). The last is a little
/// above the fit, so that erfc(0) is 1.
const ERFC: [f32; 9] = [
    1.021_582_7,
    -0.687_160_9,
    0.279_469_97,
    -0.036_435_92,
    -0.021_485_18,
    0.006_439_646_2,
    0.002_982_310_5,
    -0.000_756_994_2,
    -0.000_464_049_62,
];
/// (x + 3) exp(x^2 / 2) erfc(x / sqrt(2)) / 2 by (x - 3) / (x + 3), to 14.3 (relative error 9e-8). The last
/// is a little below the fit, so that normcdf(0) is one half.
const NORMCDF: [f32; 9] = [
    0.5 * 1.458_167_3,
    0.5 * -1.018_664_4,
    0.5 * 0.460_038_72,
    0.5 * -0.094_513_655,
    0.5 * -0.020_959_666,
    0.5 * 0.013_850_397,
    0.5 * 0.002_151_788_4,
    0.5 * -0.001_807_132_6,
    0.5 * -0.000_532_806_9,
];

/// The exponential of `-factor * a^2` times a polynomial in `(a - k) / (a + k)` and over `a + k`, as number and exponent of
/// two. The square is carried in two numbers.
#[inline(always)]
fn tail<B: Lanes>(b: &mut B, a: B::F, factor: f32, k: f32, p: &[f32]) -> (B::F, B::F) {
    let (k, by) = (b.f(k), b.f(-factor));
    let t = b.mul(a, by);
    let high = b.mul(t, a);
    let minus = b.neg(high);
    let low = b.fma(t, a, minus);
    let n = nearest(b, high, std::f32::consts::LOG2_E);
    let r = rest(b, high, n, LN_2, LN_2_LOW);
    let r = b.add(r, low);
    let exp = poly(b, r, &EXP[1..]);
    let exp = b.mul(exp, r);
    // The quotient as twice a / (a + k) less 1, which is better next to zero.
    let (d, one, two) = (b.add(a, k), b.f(1.0), b.f(2.0));
    let inverse = b.div(one, d);
    let (t, minus) = (b.mul(a, inverse), b.neg(one));
    let q = b.fma(t, two, minus);
    let p = poly(b, q, p);
    let p = b.mul(p, inverse);
    (b.fma(p, exp, p), n)
}

/// The complementary error function: the exponential of the square times a polynomial, reflected for negative arguments.
/// Error: 4.22 ULP.
#[inline(always)]
pub fn erfc<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, most, zero, two) = (b.abs(x), b.f(10.1), b.f(0.0), b.f(2.0));
    let a = b.min(most, a);
    let (y, n) = tail(b, a, 1.0, 2.0, &ERFC);
    let y = b.scale(y, n);
    let (reflected, negative) = (b.sub(two, y), b.lt(x, zero));
    b.select(negative, reflected, y)
}

/// The standard normal distribution function, likewise.
/// Error: 4.24 ULP.
#[inline(always)]
pub fn normcdf<B: Lanes>(b: &mut B, x: B::F) -> B::F {
    let (a, most, zero, one) = (b.abs(x), b.f(14.3), b.f(0.0), b.f(1.0));
    let a = b.min(most, a);
    let (y, n) = tail(b, a, 0.5, 3.0, &NORMCDF);
    let y = b.scale(y, n);
    let (reflected, positive) = (b.sub(one, y), b.lt(zero, x));
    b.select(positive, reflected, y)
}

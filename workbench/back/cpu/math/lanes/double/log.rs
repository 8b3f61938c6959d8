//! Logarithms. The argument is two to the power of `e` times `1 + f`, as for `float`s; the logarithm of `1 + f` is twice the
//! inverse hyperbolic tangent of `s = f / (2 + f)`, of which `f` is the exact part.

use super::super::{Lanes, dpoly};

/// The first 40 bits of the logarithm of 2, whose products with exponents are exact, and the rest.
const LN_2: (f64, f64) = (0.693_147_180_559_208_2, 7.371_002_565_167_799e-13);
/// (artanh(s) / s - 1) / s^2 by s^2, to one fifth, doubled (relative error 2e-17 of the logarithm).
const ARTANH: [f64; 7] = [
    0.6666666666667282,
    0.399999999961,
    0.2857142940630561,
    0.2222213760456696,
    0.18186392727578823,
    0.15249456278564757,
    0.15373879468995272,
];

/// The exponent, `f`, half of its square, and the rest of `ln(1 + f)` beyond `f` less that half.
#[inline(always)]
fn parts<B: Lanes>(b: &mut B, x: B::D) -> [B::D; 5] {
    let (e, m) = b.dsplit(x);
    let (one, two, half) = (b.d(1.0), b.d(2.0), b.d(0.5));
    let f = b.dsub(m, one);
    let d = b.dadd(f, two);
    let s = b.ddiv(f, d);
    let z = b.dmul(s, s);
    let p = dpoly(b, z, &ARTANH);
    let square = b.dmul(f, half);
    let square = b.dmul(square, f);
    let sum = b.dfma(p, z, square);
    [e, f, square, s, sum]
}

/// The natural logarithm.
/// Error: 0.84 ULP, sampled.
#[inline(always)]
pub fn log<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let [e, f, square, s, sum] = parts(b, x);
    let (high, low) = (b.d(LN_2.0), b.d(LN_2.1));
    let low = b.dmul(e, low);
    let t = b.dfma(s, sum, low);
    let t = b.dsub(t, square);
    let t = b.dadd(f, t);
    b.dfma(e, high, t)
}

/// The logarithm to base 2: the sum of `e` and `f` is exact next to where they cancel.
/// Error: 1.2 ULP, sampled.
#[inline(always)]
pub fn log2<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let [e, f, square, s, sum] = parts(b, x);
    let minus = b.dneg(square);
    let t = b.dfma(s, sum, minus);
    let (factor, less) = (b.d(std::f64::consts::LOG2_E), b.d(0.442_695_040_888_963_4));
    let part = b.dmul(f, less);
    let u = b.dfma(t, factor, part);
    let whole = b.dadd(e, f);
    b.dadd(whole, u)
}

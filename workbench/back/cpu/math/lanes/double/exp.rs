//! Exponential functions: as those of `float`s, with polynomials of degree 11.

use super::super::{DROUNDER, Lanes, dclamp, dflip, dpoly, dsign};

const LN_2: f64 = std::f64::consts::LN_2;
/// The low part of the logarithm of 2: the logarithm less `LN_2`.
const LN_2_LOW: f64 = 2.319_046_813_846_299_6e-17;

/// The polynomial of `exp` (relative error 4e-18).
const EXP: [f64; 12] = [
    1.0,
    1.0,
    0.500_000_000_000_001_1,
    0.166_666_666_666_664_4,
    0.041_666_666_666_527_03,
    0.008_333_333_333_478_11,
    0.001_388_888_894_432_573_6,
    0.000_198_412_695_393_592_4,
    2.480_149_246_166_634_7e-5,
    2.755_755_877_329_479_6e-6,
    2.763_045_460_852_914e-7,
    2.500_839_659_700_989e-8,
];
const EXP2: [f64; 12] = [
    1.0,
    0.693_147_180_559_945_3,
    0.240_226_506_959_101_08,
    0.055_504_108_664_821_715,
    0.009_618_129_107_601_599,
    0.001_333_355_814_654_847,
    0.000_154_035_304_490_481_02,
    1.525_273_363_181_788_2e-5,
    1.321_543_882_827_526_7e-6,
    1.017_816_092_941_474_1e-7,
    7.073_234_584_365_958e-9,
    4.438_734_434_945_486e-10,
];
/// (exp(x) - 1 - x) / x^2.
const EXPM1: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_77,
    0.041_666_666_666_666_685,
    0.008_333_333_333_321_752,
    0.001_388_888_888_889_074_3,
    0.000_198_412_698_854_799_58,
    2.480_158_728_887_789_7e-5,
    2.755_724_501_380_495e-6,
    2.755_731_878_944_928_3e-7,
    2.510_873_145_138_181e-8,
    2.089_770_396_951_37e-9,
];

/// The sum of a rounded `x * by` and the rounder, and the integer itself.
#[inline(always)]
fn nearest<B: Lanes>(b: &mut B, x: B::D, by: f64) -> (B::D, B::D) {
    let (by, rounder) = (b.d(by), b.d(DROUNDER));
    let sum = b.dfma(x, by, rounder);
    (sum, b.dsub(sum, rounder))
}

/// `x - n * (high + low)`.
#[inline(always)]
fn rest<B: Lanes>(b: &mut B, x: B::D, n: B::D, high: f64, low: f64) -> B::D {
    let (high, low) = (b.d(-high), b.d(-low));
    let r = b.dfma(n, high, x);
    b.dfma(n, low, r)
}

/// The exponential.
/// Error: 0.84 ULP, sampled.
#[inline(always)]
pub fn exp<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let x = dclamp(b, x, -746.0, 710.0);
    let (_, n) = nearest(b, x, std::f64::consts::LOG2_E);
    let r = rest(b, x, n, LN_2, LN_2_LOW);
    let p = dpoly(b, r, &EXP);
    b.dscale(p, n)
}

/// Two to the power of `x`.
/// Error: 0.76 ULP, sampled.
#[inline(always)]
pub fn exp2<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let x = dclamp(b, x, -1076.0, 1025.0);
    let rounder = b.d(DROUNDER);
    let sum = b.dadd(x, rounder);
    let n = b.dsub(sum, rounder);
    let r = b.dsub(x, n);
    let p = dpoly(b, r, &EXP2);
    b.dscale(p, n)
}

/// Two to the power of `x + low`, where `low` is small, for `x` within [-1200, 1200].
#[inline(always)]
pub(super) fn exp2_sum<B: Lanes>(b: &mut B, x: B::D, low: B::D) -> B::D {
    let (rounder, sum) = (b.d(DROUNDER), b.dadd(x, low));
    let sum = b.dadd(sum, rounder);
    let n = b.dsub(sum, rounder);
    let r = b.dsub(x, n);
    let r = b.dadd(r, low);
    let p = dpoly(b, r, &EXP2);
    b.dscale(p, n)
}

/// `exp(x) - 1` for `x` within (-700, 700), divided by `1 / scale` of it, `scale` being 1 or 2; of zero, positive zero.
#[inline(always)]
fn expm1_scaled<B: Lanes>(b: &mut B, x: B::D, scale: f64) -> B::D {
    let (sum, n) = nearest(b, x, scale * std::f64::consts::LOG2_E);
    let r = rest(b, x, n, LN_2 / scale, LN_2_LOW / scale);
    let mut scaled = EXPM1;
    let mut factor = scale;
    for c in &mut scaled {
        *c *= factor;
        factor *= scale;
    }
    let p = dpoly(b, r, &scaled);
    let rr = b.dmul(r, r);
    let p = b.dfma(rr, p, r);
    let (bits, one) = (b.dbits(sum), b.l(0x3ff0_0000_0000_0000));
    let bits = b.lshl(bits, 52);
    let bits = b.ladd(bits, one);
    let power = b.dof_bits(bits);
    let (part, minus) = (b.d(1.0 / scale), b.d(-1.0 / scale));
    let t = b.dfma(power, part, minus);
    b.dfma(power, p, t)
}

/// `exp(x) - 1` for `x` within (-700, 700); of zero, positive zero.
#[inline(always)]
pub(super) fn expm1_core<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    expm1_scaled(b, x, 1.0)
}

/// The hyperbolic tangent: `t / (t + 1)` for `t = (exp(2 * x) - 1) / 2`.
/// Error: 2.2 ULP, sampled.
#[inline(always)]
pub fn tanh<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let (a, s, one) = (b.dabs(x), dsign(b, x), b.d(1.0));
    // Rounds to 1 from here on.
    let most = b.d(19.1);
    let a = b.dmin(most, a);
    let t = expm1_scaled(b, a, 2.0);
    let d = b.dadd(t, one);
    let y = b.ddiv(t, d);
    dflip(b, y, s)
}

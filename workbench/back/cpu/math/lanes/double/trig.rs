//! Sine and cosine: as those of `float`s.

use super::super::{DROUNDER, Lanes, Rare, dflip, dpoly, dsign};

/// The bound of the fast reduction.
const BOUND: f64 = 1_048_576.0;
/// Pi in three parts, negated.
const MINUS_PI: [f64; 3] = [-std::f64::consts::PI, -1.224_646_799_147_353_2e-16, 2.994_769_809_718_339_7e-33];

/// (sin(r) - r) / r^3 by r^2, to half of pi (relative error 3e-19); the second coefficient is an ULP below the fit, so that
/// no result is above 1.
const SIN: [f64; 8] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_333_205,
    -0.000_198_412_698_412_125_28,
    2.755_731_921_158_799_4e-6,
    -2.505_210_690_703_177_4e-8,
    1.605_894_117_600_973_4e-10,
    -7.643_024_897_750_879e-13,
    2.721_487_289_526_6e-15,
];

/// The sine of `a - n * pi`, its sign flipped where `n`, which gave `sum` with the rounder, is odd.
#[inline(always)]
fn reduced<B: Lanes>(b: &mut B, a: B::D, n: B::D, sum: B::D) -> B::D {
    let mut r = a;
    for part in MINUS_PI {
        let part = b.d(part);
        r = b.dfma(n, part, r);
    }
    let z = b.dmul(r, r);
    let p = dpoly(b, z, &SIN);
    let cube = b.dmul(r, z);
    let y = b.dfma(cube, p, r);
    let odd = b.dbits(sum);
    let odd = b.lshl(odd, 63);
    dflip(b, y, odd)
}

/// The sine.
/// Error: 1.6 ULP, sampled.
#[inline(always)]
pub fn sin<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let (a, s) = (b.dabs(x), dsign(b, x));
    let (by, rounder, bound) = (b.d(std::f64::consts::FRAC_1_PI), b.d(DROUNDER), b.d(BOUND));
    let sum = b.dfma(a, by, rounder);
    let n = b.dsub(sum, rounder);
    let fast = reduced(b, a, n, sum);
    let fast = dflip(b, fast, s);
    let large = b.dlt(bound, a);
    b.drare(large, Rare::Sin, &[x], fast)
}

/// The cosine: the sine a quarter turn ahead.
/// Error: 1.7 ULP, sampled.
#[inline(always)]
pub fn cos<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let a = b.dabs(x);
    let (by, rounder, bound) = (b.d(std::f64::consts::FRAC_1_PI), b.d(DROUNDER), b.d(BOUND));
    let half = b.d(0.5);
    let turns = b.dfma(a, by, half);
    let sum = b.dadd(turns, rounder);
    let n = b.dsub(sum, rounder);
    let n = b.dsub(n, half);
    let fast = reduced(b, a, n, sum);
    let large = b.dlt(bound, a);
    b.drare(large, Rare::Cos, &[x], fast)
}

//! Math functions written once as straight-line code over [`Lanes`] and interpreted several ways: on plain numbers
//! ([`Scalar`]), on sixteen in the widest registers ([`avx512`]) and as the text of vector code. Every operation is an IEEE one with a defined result, so that all interpretations
//! compute the same bits. NaN results are some quiet NaN: sign and payload are left open.
//!
//! Each function's comment gives the largest error of the real value in ULP of the result, from all 2^32 arguments where
//! there is one `float` argument; the distance to the correctly rounded result is that error rounded, at most. The
//! polynomials are minimax fits of our own, made by `fit.py`.

#![expect(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "coefficients are what a fit gave, near what they may be near"
)]

#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod double;
pub mod erf;
pub mod exp;
mod functions;
pub mod hyperbolic;
pub mod inverse;
pub mod log;
pub mod power;
pub mod root;
mod scalar;
#[cfg(test)]
mod tests;
pub mod trig;

pub use functions::{double as of_doubles, double_address, float as of_floats, float_address, rare_double, rare_float};
pub use functions::{sixteen_doubles, sixteen_floats};
pub use scalar::Scalar;

/// Adding this to a small `float` rounds it to an integer, which is then in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// The same for `double`.
const DROUNDER: f64 = 6_755_399_441_055_744.0;

/// The scalar function of this name, which a few arguments need instead of the vector code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rare {
    /// Sine of arguments whose reduction needs many bits of pi.
    Sin,
    /// Cosine of such arguments.
    Cos,
    /// Tangent of such arguments.
    Tan,
}

impl Rare {
    /// The scalar function of `float`s.
    pub fn float(self, args: &[f32]) -> f32 {
        match self {
            Rare::Sin => args[0].sin(),
            Rare::Cos => args[0].cos(),
            Rare::Tan => args[0].tan(),
        }
    }

    /// The scalar function of `double`s.
    pub fn double(self, args: &[f64]) -> f64 {
        match self {
            Rare::Sin => args[0].sin(),
            Rare::Cos => args[0].cos(),
            Rare::Tan => args[0].tan(),
        }
    }
}

/// The operations. All of them round to nearest, ties to even, and keep subnormal numbers.
pub trait Lanes {
    /// `float` lanes.
    type F: Copy;
    /// 32-bit integer lanes.
    type I: Copy;
    /// `double` lanes.
    type D: Copy;
    /// 64-bit integer lanes.
    type L: Copy;
    /// Truth values.
    type M: Copy;

    /// A `float` in all lanes.
    fn f(&mut self, x: f32) -> Self::F;
    /// An integer in all lanes.
    fn i(&mut self, n: i32) -> Self::I;
    /// A `double` in all lanes.
    fn d(&mut self, x: f64) -> Self::D;
    /// A long integer in all lanes.
    fn l(&mut self, n: i64) -> Self::L;

    /// `a + b`.
    fn add(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`.
    fn mul(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`.
    fn div(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c` with one rounding.
    fn fma(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The sign bit flipped.
    fn neg(&mut self, a: Self::F) -> Self::F;
    /// The sign bit cleared.
    fn abs(&mut self, a: Self::F) -> Self::F;
    /// The square root.
    fn sqrt(&mut self, a: Self::F) -> Self::F;
    /// The nearest integer, ties to even.
    fn rint(&mut self, a: Self::F) -> Self::F;
    /// The integer of an integral value; any integer where it does not fit.
    fn to_i(&mut self, a: Self::F) -> Self::I;
    /// The rounded value of an integer.
    fn to_f(&mut self, a: Self::I) -> Self::F;
    /// The representation.
    fn bits(&mut self, a: Self::F) -> Self::I;
    /// The number of a representation.
    fn of_bits(&mut self, a: Self::I) -> Self::F;

    /// `a + b`, wrapping.
    fn iadd(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`, wrapping.
    fn isub(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a & b`.
    fn iand(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a ^ b`.
    fn ixor(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a << n`.
    fn ishl(&mut self, a: Self::I, n: u32) -> Self::I;
    /// `a >> n` with the sign.
    fn ishr(&mut self, a: Self::I, n: u32) -> Self::I;

    /// `a < b`; false with a NaN.
    fn lt(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a <= b`; false with a NaN.
    fn le(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a == b`; false with a NaN.
    fn eq(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a < b`, signed.
    fn ilt(&mut self, a: Self::I, b: Self::I) -> Self::M;
    /// Both.
    fn and(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Either.
    fn or(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Not `a`.
    fn not(&mut self, a: Self::M) -> Self::M;
    /// `a` where `m`, else `b`.
    fn select(&mut self, m: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// `a` where `m`, else `b`.
    fn iselect(&mut self, m: Self::M, a: Self::I, b: Self::I) -> Self::I;

    /// `a + b`.
    fn dadd(&mut self, a: Self::D, b: Self::D) -> Self::D;
    /// `a - b`.
    fn dsub(&mut self, a: Self::D, b: Self::D) -> Self::D;
    /// `a * b`.
    fn dmul(&mut self, a: Self::D, b: Self::D) -> Self::D;
    /// `a / b`.
    fn ddiv(&mut self, a: Self::D, b: Self::D) -> Self::D;
    /// `a * b + c` with one rounding.
    fn dfma(&mut self, a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    /// The sign bit flipped.
    fn dneg(&mut self, a: Self::D) -> Self::D;
    /// The sign bit cleared.
    fn dabs(&mut self, a: Self::D) -> Self::D;
    /// The square root.
    fn dsqrt(&mut self, a: Self::D) -> Self::D;
    /// The nearest integer, ties to even.
    fn drint(&mut self, a: Self::D) -> Self::D;
    /// The representation.
    fn dbits(&mut self, a: Self::D) -> Self::L;
    /// The number of a representation.
    fn dof_bits(&mut self, a: Self::L) -> Self::D;
    /// `a + b`, wrapping.
    fn ladd(&mut self, a: Self::L, b: Self::L) -> Self::L;
    /// `a - b`, wrapping.
    fn lsub(&mut self, a: Self::L, b: Self::L) -> Self::L;
    /// `a & b`.
    fn land(&mut self, a: Self::L, b: Self::L) -> Self::L;
    /// `a ^ b`.
    fn lxor(&mut self, a: Self::L, b: Self::L) -> Self::L;
    /// `a << n`.
    fn lshl(&mut self, a: Self::L, n: u32) -> Self::L;
    /// `a >> n` with the sign.
    fn lshr(&mut self, a: Self::L, n: u32) -> Self::L;
    /// `a < b`; false with a NaN.
    fn dlt(&mut self, a: Self::D, b: Self::D) -> Self::M;
    /// `a <= b`; false with a NaN.
    fn dle(&mut self, a: Self::D, b: Self::D) -> Self::M;
    /// `a == b`; false with a NaN.
    fn deq(&mut self, a: Self::D, b: Self::D) -> Self::M;
    /// `a < b`, signed.
    fn llt(&mut self, a: Self::L, b: Self::L) -> Self::M;
    /// `a` where `m`, else `b`.
    fn dselect(&mut self, m: Self::M, a: Self::D, b: Self::D) -> Self::D;
    /// `a` where `m`, else `b`.
    fn lselect(&mut self, m: Self::M, a: Self::L, b: Self::L) -> Self::L;

    /// The same values as `double`s.
    fn widen(&mut self, a: Self::F) -> Self::D;
    /// The values rounded to `float`.
    fn narrow(&mut self, a: Self::D) -> Self::F;

    /// The scalar function `rare` of `args` where `mask` is set, which is rare, and `fast` elsewhere.
    fn rare(&mut self, mask: Self::M, rare: Rare, args: &[Self::F], fast: Self::F) -> Self::F;
    /// The same for `double`s.
    fn drare(&mut self, mask: Self::M, rare: Rare, args: &[Self::D], fast: Self::D) -> Self::D;

    // The functions below are defined by those above; a machine may have an instruction for each.

    /// The smaller; `b` with a NaN or equal numbers (x86 `minps`).
    fn min(&mut self, a: Self::F, b: Self::F) -> Self::F {
        let m = self.lt(a, b);
        self.select(m, a, b)
    }

    /// The larger; `b` with a NaN or equal numbers (x86 `maxps`).
    fn max(&mut self, a: Self::F, b: Self::F) -> Self::F {
        let m = self.lt(b, a);
        self.select(m, a, b)
    }

    /// The smaller, as [`Lanes::min`].
    fn dmin(&mut self, a: Self::D, b: Self::D) -> Self::D {
        let m = self.dlt(a, b);
        self.dselect(m, a, b)
    }

    /// The larger, as [`Lanes::max`].
    fn dmax(&mut self, a: Self::D, b: Self::D) -> Self::D {
        let m = self.dlt(b, a);
        self.dselect(m, a, b)
    }

    /// `p` times two to the power of `n`, rounded once (AVX-512 `vscalefps`): `p` is within [2^-20, 4], an integer `n`
    /// within [-200, 200]; `p` is anything where `n` is 0, and `n` where `p` is NaN.
    fn scale(&mut self, p: Self::F, n: Self::F) -> Self::F {
        let n = self.to_i(n);
        let half = self.ishr(n, 1);
        let rest = self.isub(n, half);
        let one = self.i(0x3f80_0000);
        let (a, b) = (self.ishl(half, 23), self.ishl(rest, 23));
        let (a, b) = (self.iadd(a, one), self.iadd(b, one));
        let (a, b) = (self.of_bits(a), self.of_bits(b));
        let p = self.mul(p, a);
        self.mul(p, b)
    }

    /// The same for `double`s: `n` is within [-1600, 1600].
    fn dscale(&mut self, p: Self::D, n: Self::D) -> Self::D {
        // The integer from the low bits of a sum: few machines have the conversion.
        let rounder = self.d(DROUNDER);
        let sum = self.dadd(n, rounder);
        let (n, rounder) = (self.dbits(sum), self.dbits(rounder));
        let n = self.lsub(n, rounder);
        let half = self.lshl(n, 51);
        let half = self.lshr(half, 52);
        let rest = self.lsub(n, half);
        let one = self.l(0x3ff0_0000_0000_0000);
        let (a, b) = (self.lshl(half, 52), self.lshl(rest, 52));
        let (a, b) = (self.ladd(a, one), self.ladd(b, one));
        let (a, b) = (self.dof_bits(a), self.dof_bits(b));
        let p = self.dmul(p, a);
        self.dmul(p, b)
    }

    /// Exponent and mantissa in [3/4, 3/2) of a positive number, subnormal or not. Also (-infinity, something finite) of
    /// zeros, (infinity, something finite) of infinity, and a NaN mantissa of negative numbers and NaN. AVX-512 has it as
    /// `m = vgetmantps(x, interval 3, sign control 3)`, `e = vgetexpps(x) - vgetexpps(m)`.
    fn split(&mut self, x: Self::F) -> (Self::F, Self::F) {
        let (least, up, zero) = (self.f(f32::MIN_POSITIVE), self.f(16_777_216.0), self.f(0.0));
        let (shift, infinity, nan) = (self.f(24.0), self.f(f32::INFINITY), self.f(f32::NAN));
        let tiny = self.lt(x, least);
        let scaled = self.mul(x, up);
        let scaled = self.select(tiny, scaled, x);
        let (e, m) = self.split_normal(scaled);
        let shift = self.select(tiny, shift, zero);
        let e = self.sub(e, shift);
        let (is_zero, is_infinite, is_good) = (self.eq(x, zero), self.eq(x, infinity), self.le(zero, x));
        let minus = self.neg(infinity);
        let e = self.select(is_zero, minus, e);
        let e = self.select(is_infinite, infinity, e);
        (e, self.select(is_good, m, nan))
    }

    /// [`Lanes::split`] of numbers that are neither zero, subnormal, infinite, negative nor NaN; for others, a finite
    /// exponent and a mantissa in the same range.
    fn split_normal(&mut self, x: Self::F) -> (Self::F, Self::F) {
        let bits = self.bits(x);
        let start = self.i(0x3f40_0000);
        let e = self.isub(bits, start);
        let e = self.ishr(e, 23);
        let high = self.ishl(e, 23);
        let m = self.isub(bits, high);
        (self.to_f(e), self.of_bits(m))
    }

    /// [`Lanes::split`] of `double`s.
    fn dsplit(&mut self, x: Self::D) -> (Self::D, Self::D) {
        let (least, up, zero) = (self.d(f64::MIN_POSITIVE), self.d(18_014_398_509_481_984.0), self.d(0.0));
        let (shift, infinity, nan) = (self.d(54.0), self.d(f64::INFINITY), self.d(f64::NAN));
        let tiny = self.dlt(x, least);
        let scaled = self.dmul(x, up);
        let scaled = self.dselect(tiny, scaled, x);
        let bits = self.dbits(scaled);
        let start = self.l(0x3fe8_0000_0000_0000);
        let e = self.lsub(bits, start);
        let e = self.lshr(e, 52);
        let high = self.lshl(e, 52);
        let m = self.lsub(bits, high);
        let m = self.dof_bits(m);
        // The number of a small integer, by the low bits of a sum.
        let rounder = self.d(DROUNDER);
        let low = self.dbits(rounder);
        let e = self.ladd(e, low);
        let e = self.dof_bits(e);
        let e = self.dsub(e, rounder);
        let shift = self.dselect(tiny, shift, zero);
        let e = self.dsub(e, shift);
        let (is_zero, is_infinite, is_good) = (self.deq(x, zero), self.deq(x, infinity), self.dle(zero, x));
        let minus = self.dneg(infinity);
        let e = self.dselect(is_zero, minus, e);
        let e = self.dselect(is_infinite, infinity, e);
        (e, self.dselect(is_good, m, nan))
    }
}

/// The polynomial with these coefficients, the constant first.
#[inline(always)]
fn poly<B: Lanes>(b: &mut B, x: B::F, coefficients: &[f32]) -> B::F {
    let (&last, others) = coefficients.split_last().expect("a polynomial has a coefficient");
    let mut sum = b.f(last);
    for &c in others.iter().rev() {
        let c = b.f(c);
        sum = b.fma(sum, x, c);
    }
    sum
}

/// The polynomial of `double`s, likewise.
#[inline(always)]
fn dpoly<B: Lanes>(b: &mut B, x: B::D, coefficients: &[f64]) -> B::D {
    let (&last, others) = coefficients.split_last().expect("a polynomial has a coefficient");
    let mut sum = b.d(last);
    for &c in others.iter().rev() {
        let c = b.d(c);
        sum = b.dfma(sum, x, c);
    }
    sum
}

/// The sign bit of `x`, for [`flip`].
#[inline(always)]
fn sign<B: Lanes>(b: &mut B, x: B::F) -> B::I {
    let (bits, top) = (b.bits(x), b.i(i32::MIN));
    b.iand(bits, top)
}

/// `x` with its sign flipped where `sign` has the sign bit.
#[inline(always)]
fn flip<B: Lanes>(b: &mut B, x: B::F, sign: B::I) -> B::F {
    let bits = b.bits(x);
    let bits = b.ixor(bits, sign);
    b.of_bits(bits)
}

/// [`sign`] of `double`s.
#[inline(always)]
fn dsign<B: Lanes>(b: &mut B, x: B::D) -> B::L {
    let (bits, top) = (b.dbits(x), b.l(i64::MIN));
    b.land(bits, top)
}

/// [`flip`] of `double`s.
#[inline(always)]
fn dflip<B: Lanes>(b: &mut B, x: B::D, sign: B::L) -> B::D {
    let bits = b.dbits(x);
    let bits = b.lxor(bits, sign);
    b.dof_bits(bits)
}

/// `x` within `[low, high]`; a NaN stays one.
#[inline(always)]
fn clamp<B: Lanes>(b: &mut B, x: B::F, low: f32, high: f32) -> B::F {
    let (low, high) = (b.f(low), b.f(high));
    let x = b.min(high, x);
    b.max(low, x)
}

/// `x` within `[low, high]`; a NaN stays one.
#[inline(always)]
fn dclamp<B: Lanes>(b: &mut B, x: B::D, low: f64, high: f64) -> B::D {
    let (low, high) = (b.d(low), b.d(high));
    let x = b.dmin(high, x);
    b.dmax(low, x)
}

//! Math functions of CUDA that neither the C library nor `libm` has. Each stays within the bound that the CUDA C++
//! Programming Guide gives for the `double` form ("Mathematical Functions", table of maximum ULP errors).
//!
//! The inverse functions are computed by Newton's method, on a form whose rounding errors do not reach the result. The
//! others carry the low half of their argument along, because the function would magnify its loss.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// The low part of pi: pi less `PI`.
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;
/// The low part of the root of one half: the root less `FRAC_1_SQRT_2`.
const FRAC_1_SQRT_2_LOW: f64 = -4.833_646_656_726_457e-17;
/// Two over the root of pi.
const FRAC_2_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// Sine and cosine of `PI * r` for `|r| <= 1/4`, the product carried in two doubles.
fn sin_cos_pi(r: f64) -> (f64, f64) {
    let high = PI * r;
    let low = PI.mul_add(r, -high) + PI_LOW * r;
    let (sin, cos) = (high.sin(), high.cos());
    (low.mul_add(cos, sin), (-low).mul_add(sin, cos))
}

/// `x` as a multiple of one half (modulo 4 halves) and a rest in `[-1/4, 1/4]`; exact.
fn half_turns(x: f64) -> (u8, f64) {
    let x = x % 2.0;
    let halves = (2.0 * x).round();
    (halves.rem_euclid(4.0) as u8, x - 0.5 * halves)
}

/// Sine of pi times `x`.
pub fn sinpi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (quarter, rest) = half_turns(x);
    let (sin, cos) = sin_cos_pi(rest);
    match quarter {
        // Zeros keep the sign of the argument (C23 F.10.1.13), as CUDA's do.
        0 if sin == 0.0 => 0f64.copysign(x),
        0 => sin,
        1 => cos,
        2 if sin == 0.0 => 0f64.copysign(x),
        2 => -sin,
        _ => -cos,
    }
}

/// Cosine of pi times `x`.
pub fn cospi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (quarter, rest) = half_turns(x);
    let (sin, cos) = sin_cos_pi(rest);
    match quarter {
        0 => cos,
        // Adding zero makes the zero positive.
        1 => 0.0 - sin,
        2 => -cos,
        _ => 0.0 + sin,
    }
}

/// `exp(x * x) * erfc(x)`.
pub fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        // The square in two doubles: `exp` would turn the lost half into hundreds of ULP.
        let square = x * x;
        let low = x.mul_add(x, -square);
        let exp = square.exp();
        return if exp.is_finite() { low.mul_add(exp, exp) * libm::erfc(x) } else { f64::INFINITY };
    }
    // The asymptotic series (DLMF 7.12.1); past 25 its seventh term is below 1e-17.
    let t = 0.5 / (x * x);
    let series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t * (1.0 - 11.0 * t)))));
    0.5 * FRAC_2_SQRT_PI / x * series
}

/// The `x` with `erfc(x) = q`, for `q` in `(0, 1/2]`.
fn erfcinv_small(q: f64) -> f64 {
    let log_q = q.ln();
    // A start from the leading term of the tail, good to a few percent; below, Newton on ln(erfcx(x)) - x^2 - ln(q), which
    // is smooth and nearly quadratic for all `q`, denormal ones included.
    let l = -(log_q + 0.5 * (PI * (0.6 - log_q)).ln());
    let mut x = l.max(0.2).sqrt();
    for _ in 0..10 {
        let scaled = erfcx(x);
        // (ln erfcx)' - 2x = -2 / (sqrt(pi) erfcx).
        let step = (x.mul_add(-x, scaled.ln()) - log_q) * scaled / FRAC_2_SQRT_PI;
        x += step;
        if step.abs() <= 1e-9 * x {
            break;
        }
    }
    x
}

/// Inverse of `erf`.
pub fn erfinv(p: f64) -> f64 {
    let a = p.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return f64::INFINITY.copysign(p);
    }
    if a >= 0.5 {
        // 1 - a is exact here (Sterbenz).
        return erfcinv_small(1.0 - a).copysign(p);
    }
    if a < 1e-9 {
        return p / FRAC_2_SQRT_PI;
    }
    // Two terms of the Maclaurin series, then Halley on erf, which is well conditioned here: error 1e-2, then its cube.
    let t = a / FRAC_2_SQRT_PI;
    let mut x = t * (1.0 + t * t * (1.0 / 3.0 + t * t * (7.0 / 30.0)));
    for _ in 0..3 {
        let step = (libm::erf(x) - a) / (FRAC_2_SQRT_PI * (-x * x).exp());
        x -= step / step.mul_add(x, 1.0);
        if step.abs() <= 1e-9 * x {
            break;
        }
    }
    x.copysign(p)
}

/// Inverse of `erfc`.
pub fn erfcinv(q: f64) -> f64 {
    if q.is_nan() || !(0.0..=2.0).contains(&q) {
        f64::NAN
    } else if q == 0.0 {
        f64::INFINITY
    } else if q == 2.0 {
        f64::NEG_INFINITY
    } else if q <= 0.5 {
        erfcinv_small(q)
    } else if q < 1.5 {
        // Exact: both are within a factor of two of 1.
        erfinv(1.0 - q)
    } else {
        -erfcinv_small(2.0 - q)
    }
}

/// The standard normal distribution function.
pub fn normcdf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // Past 40 the result is 0 or 1; the bound keeps the products finite.
    let x = x.clamp(-40.0, 40.0);
    let high = -x * FRAC_1_SQRT_2;
    let low = (-x).mul_add(FRAC_1_SQRT_2, -high) - x * FRAC_1_SQRT_2_LOW;
    0.5 * (libm::erfc(high) - low * FRAC_2_SQRT_PI * (-high * high).exp())
}

/// Inverse of the standard normal distribution function.
pub fn normcdfinv(p: f64) -> f64 {
    // Subtracted from zero, so that one half gives a positive zero.
    0.0 - SQRT_2 * erfcinv(2.0 * p)
}

/// Reciprocal cube root.
pub fn rcbrt(x: f64) -> f64 {
    let y = 1.0 / libm::cbrt(x);
    if !y.is_normal() || !x.is_normal() {
        return y;
    }
    // One Newton step on x y^3 = 1 with the residual in two doubles.
    let (t, u) = (x * y, y * y);
    let (t_low, u_low) = (x.mul_add(y, -t), y.mul_add(y, -u));
    let residual = (-t).mul_add(u, 1.0) - t.mul_add(u_low, t_low * u);
    (y * residual).mul_add(1.0 / 3.0, y)
}

/// Reciprocal square root.
pub fn rsqrt(x: f64) -> f64 {
    let y = 1.0 / x.sqrt();
    if !y.is_normal() || !x.is_normal() {
        return y;
    }
    let t = x * y;
    let t_low = x.mul_add(y, -t);
    let residual = (-t).mul_add(y, 1.0) - t_low * y;
    (0.5 * y).mul_add(residual, y)
}

/// Reciprocal of the length of the hypotenuse.
pub fn rhypot(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    if x.is_infinite() || y.is_infinite() {
        return 0.0;
    }
    let most = x.max(y);
    if x.is_nan() || y.is_nan() || most == 0.0 {
        return if most == 0.0 && !x.is_nan() && !y.is_nan() { f64::INFINITY } else { f64::NAN };
    }
    // Scaled by a power of two, the squares neither overflow nor vanish where they matter.
    let exponent = frexp(most).1 as i32;
    let (x, y) = (libm::ldexp(x, -exponent), libm::ldexp(y, -exponent));
    let (xx, yy) = (x * x, y * y);
    let sum = xx + yy;
    let (big, small) = if xx > yy { (xx, yy) } else { (yy, xx) };
    let low = (big - sum) + small + x.mul_add(x, -xx) + y.mul_add(y, -yy);
    let r = 1.0 / sum.sqrt();
    let t = sum * r;
    let t_low = sum.mul_add(r, -t) + low * r;
    let residual = (-t).mul_add(r, 1.0) - t_low * r;
    libm::ldexp((0.5 * r).mul_add(residual, r), -exponent)
}

/// Mantissa in `[0.5, 1)` and exponent; (x, 0) for zero, infinity and NaN.
pub fn frexp(x: f64) -> (f64, f64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0.0);
    }
    let (mantissa, exponent) = libm::frexp(x);
    (mantissa, f64::from(exponent))
}

/// The exponent of a number in `[1, 2)` times a power of two.
pub fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        frexp(x).1 - 1.0
    } else {
        x * x
    }
}

/// The number of low bits of the quotient that [`remquo_quotient`] gives: as many as a `float` holds.
const QUOTIENT_BITS: u32 = 23;

/// The low bits of the integer nearest `x / y` (halves to even), with the quotient's sign; 0 where `remainder` is NaN. CUDA
/// promises three bits.
pub fn remquo_quotient(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y == 0.0 || y.is_nan() || y.is_infinite() {
        return 0.0;
    }
    let sign = if x.is_sign_negative() == y.is_sign_negative() { 1.0 } else { -1.0 };
    let (x, y) = (x.abs(), y.abs());
    // Long division, bit by bit: the remainder is exact at every step.
    let steps = libm::frexp(x).1 - libm::frexp(y).1;
    let (mut rest, mut quotient) = (x, 0u64);
    if steps > 60 {
        // Higher bits of the quotient do not show.
        rest %= libm::ldexp(y, 60.min(1024 - libm::frexp(y).1));
    }
    for shift in (0..=steps.clamp(-1, 60)).rev() {
        quotient <<= 1;
        let part = libm::ldexp(y, shift);
        if rest >= part {
            rest -= part;
            quotient |= 1;
        }
    }
    // rest < y: the half decides, and evenness between.
    let other = y - rest;
    if rest > other || (rest == other && quotient & 1 == 1) {
        quotient += 1;
    }
    sign * (quotient & ((1 << QUOTIENT_BITS) - 1)) as f64
}

/// Inverse hyperbolic cosine; `libm`'s gives numbers below -1.
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Hyperbolic tangent within one ULP; the C library's is off by up to two.
pub fn tanh(x: f64) -> f64 {
    let size = x.abs();
    // Numerator and denominator, each as a number and a correction to it.
    let (top, top_low, bottom, bottom_low) = if size < 0.55 {
        // The series of sinh and cosh, whose first terms are exact.
        let square = size * size;
        let series = |first: u32| {
            (1..=9).rev().fold(0.0, |sum, k| {
                let n = 2 * k + first;
                square / f64::from(n * (n - 1)) * (1.0 + sum)
            })
        };
        (size, size * series(1), 1.0, series(0))
    } else if size < 20.0 {
        let exp = (2.0 * size).exp();
        let (top, bottom) = (exp - 1.0, exp + 1.0);
        (top, (exp - top) - 1.0, bottom, 1.0 - (bottom - exp))
    } else {
        // Within half an ULP; a NaN stays one.
        return if size.is_nan() { x } else { 1f64.copysign(x) };
    };
    if top == 0.0 {
        return x;
    }
    let whole = bottom + bottom_low;
    let quotient = (top + top_low) / whole;
    let whole_low = bottom_low - (whole - bottom);
    let rest = (-quotient).mul_add(whole, top) + top_low - quotient * whole_low;
    (quotient + rest / whole).copysign(x)
}

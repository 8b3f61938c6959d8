//! Bessel functions.
//!
//! Below 8, where CUDA's bounds are in ULP, the functions of order 0 and 1 are Taylor series about tabulated points, their zeros
//! among them, so that results near a zero keep all their digits. Beyond, where the bounds are absolute, `libm`'s functions do.
//! Hankel's asymptotic series is used where it reaches the last bit of a `double`: it reduces a large argument once, not
//! three times.

use std::f64::consts::{FRAC_2_PI, PI};

use super::bessel_table::{CENTERS_J0, CENTERS_J1, CENTERS_Y0, CENTERS_Y1, Center};
use super::double::Double;
use super::logarithm;

/// The argument from which the bounds are absolute.
const NEAR: f64 = 8.0;
/// The argument from which Hankel's series is used: its smallest term, about `exp(-2 x)`, is far below a ULP there.
const ASYMPTOTIC: f64 = 25.0;
/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Euler's constant less the logarithm of 2.
const EULER_LESS_LN_2: Double = Double::new(-0.11593151565841245, -3.7780767526472776e-19);

/// The Taylor series about the nearest centre. The coefficients follow from Bessel's equation
/// `x^2 y'' + x y' + (x^2 - n^2) y = 0`, written about the centre.
fn taylor(centers: &[Center], order: f64, x: f64) -> f64 {
    let next = centers.partition_point(|c| c.at < x);
    let near = match (next.checked_sub(1).and_then(|i| centers.get(i)), centers.get(next)) {
        (Some(a), Some(b)) => {
            if x - a.at < b.at - x {
                a
            } else {
                b
            }
        }
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return f64::NAN,
    };
    let (c, t) = (near.at, (x - near.at) - near.at_low);
    let c2 = c * c;
    // The last four coefficients.
    let (mut a0, mut a1, mut before, mut before2) = (near.value, near.slope, 0.0, 0.0);
    let (mut sum, mut power) = (near.slope * t, t);
    for k in 0..60 {
        let k = f64::from(k);
        let a2 =
            -(c * (k + 1.0) * (2.0 * k + 1.0) * a1 + (k * k + c2 - order * order) * a0 + 2.0 * c * before + before2)
                / (c2 * (k + 1.0) * (k + 2.0));
        power *= t;
        let term = a2 * power;
        sum += term;
        if term.abs() < 1e-18 * sum.abs() && (a1 * power).abs() < 1e-18 * sum.abs() {
            break;
        }
        (before2, before, a0, a1) = (before, a0, a1, a2);
    }
    near.value + sum
}

/// `sum of (-x^2/4)^k / (k! (k+n)!) * weight(k)` for `x <= 1` (DLMF 10.2.2).
fn power_series(n: u32, x: f64, weight: impl Fn(u32) -> f64) -> f64 {
    let quarter = -0.25 * x * x;
    let (mut term, mut sum) = (1.0, weight(0));
    for k in 1..16 {
        term *= quarter / f64::from(k * (k + n));
        let next = sum + term * weight(k);
        // Each term is less than a third of the one before, so once one does not count, none after it does.
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// `(J, Y)` of order 0 or 1 for `x >= ASYMPTOTIC`: `sqrt(2 / (pi x))` times `P cos(w) - Q sin(w)` and `P sin(w) + Q cos(w)`, where
/// `w = x - (n/2 + 1/4) pi` and `P` and `Q` are Hankel's series (DLMF 10.17.3, 10.17.4).
fn hankel(order: u32, x: f64) -> (f64, f64) {
    if x == f64::INFINITY {
        return (0.0, 0.0);
    }
    // a(k) / x^k, those of even k in P and of odd k in Q, the sign changing every second time.
    let (mut term, mut p, mut q) = (1.0, 1.0, 0.0);
    for k in 1..40 {
        let odd = f64::from(2 * k - 1);
        term *= (f64::from(4 * order * order) - odd * odd) / (f64::from(8 * k) * x);
        if term.abs() < 1e-18 {
            break;
        }
        let signed = if k & 2 == 0 { term } else { -term };
        if k % 2 == 0 {
            p += signed;
        } else {
            q += signed;
        }
    }
    let (sin, cos) = x.sin_cos();
    // cos(w) and sin(w), times sqrt(2).
    let (cos_w, sin_w) = if order == 0 { (cos + sin, sin - cos) } else { (sin - cos, -sin - cos) };
    // One root each: the product may overflow.
    let scale = PI.sqrt() * x.sqrt();
    ((p * cos_w - q * sin_w) / scale, (p * sin_w + q * cos_w) / scale)
}

/// The sum of the first `k` reciprocals.
fn harmonic(k: u32) -> f64 {
    (1..=k).rev().map(|i| 1.0 / f64::from(i)).sum()
}

/// The Bessel function of the first kind, order 0.
pub fn j0(x: f64) -> f64 {
    let x = x.abs();
    if x <= 0.75 {
        power_series(0, x, |_| 1.0)
    } else if x < NEAR {
        taylor(CENTERS_J0, 0.0, x)
    } else if x >= ASYMPTOTIC {
        hankel(0, x).0
    } else {
        libm::j0(x)
    }
}

/// The Bessel function of the first kind, order 1.
pub fn j1(x: f64) -> f64 {
    let size = x.abs();
    if size <= 0.75 {
        0.5 * x * power_series(1, x, |_| 1.0)
    } else if size < NEAR {
        taylor(CENTERS_J1, 1.0, size) * x.signum()
    } else if size >= ASYMPTOTIC {
        hankel(1, size).0 * x.signum()
    } else {
        libm::j1(x)
    }
}

/// The Bessel function of the second kind, order 0.
pub fn y0(x: f64) -> f64 {
    if x >= ASYMPTOTIC {
        return hankel(0, x).1;
    }
    if !(0.0 < x && x < NEAR) {
        return libm::y0(x);
    }
    if x > 0.7 {
        return taylor(CENTERS_Y0, 0.0, x);
    }
    // 2/pi ((ln(x/2) + euler) J0 + sum of -(-x^2/4)^k / k!^2 H_k) (DLMF 10.8.2).
    let log = logarithm::natural(x).plus(EULER_LESS_LN_2).value();
    FRAC_2_PI * (log * power_series(0, x, |_| 1.0) - power_series(0, x, harmonic))
}

/// The Bessel function of the second kind, order 1.
pub fn y1(x: f64) -> f64 {
    if x >= ASYMPTOTIC {
        return hankel(1, x).1;
    }
    if !(0.0 < x && x < NEAR) {
        return libm::y1(x);
    }
    if x > 0.75 {
        return taylor(CENTERS_Y1, 1.0, x);
    }
    // -2/(pi x) + 2/pi ln(x/2) J1 - 1/pi sum of (psi(k+1) + psi(k+2)) ... (DLMF 10.8.1).
    let log = x.ln() - std::f64::consts::LN_2;
    let series = power_series(1, x, |_| 1.0);
    let psi = power_series(1, x, |k| harmonic(k) + harmonic(k + 1) - 2.0 * EULER);
    -FRAC_2_PI / x + FRAC_2_PI * (0.5 * x) * (log * series - 0.5 * psi)
}

/// The Bessel function of the first kind of integer order; CUDA has NaN for negative orders.
pub fn jn(n: i32, x: f64) -> f64 {
    match n {
        0 => j0(x),
        1 => j1(x),
        ..0 => f64::NAN,
        _ => libm::jn(n, x),
    }
}

/// The Bessel function of the second kind of integer order, by its recurrence, which is stable upwards; CUDA has NaN for
/// negative orders.
pub fn yn(n: i32, x: f64) -> f64 {
    match n {
        0 => y0(x),
        1 => y1(x),
        ..0 => f64::NAN,
        // Large arguments are libm's, whose bound is absolute.
        _ if !(0.0 < x && x < 1e6) => libm::yn(n, x),
        _ => {
            let (mut before, mut value) = (y0(x), y1(x));
            for k in 1..n {
                if value == f64::NEG_INFINITY {
                    break;
                }
                (before, value) = (value, 2.0 * f64::from(k) / x * value - before);
            }
            value
        }
    }
}

/// The argument from which the asymptotic series is exact to a double: its smallest term is about `exp(-2x)`.
const FAR: f64 = 30.0;

/// The modified Bessel function of the first kind of order `n`, 0 or 1, for `x >= 0`.
fn modified(n: u32, x: f64) -> f64 {
    if x < FAR {
        // sum of (x^2/4)^k / (k! (k+n)!) (DLMF 10.25.2); all terms are positive.
        let quarter = Double::product(0.5 * x, 0.5 * x);
        let (mut term, mut sum) = (Double::from(1.0), Double::from(1.0));
        for k in 1..100 {
            term = term.times(quarter).over(Double::from(f64::from(k * (k + n))));
            sum = sum.plus(term);
            if term.high < 1e-19 * sum.high {
                break;
            }
        }
        return if n == 0 { sum.value() } else { 0.5 * x * sum.value() };
    }
    if x > 720.0 {
        return f64::INFINITY;
    }
    // exp(x) / sqrt(2 pi x) * sum of (-1)^k a_k / x^k (DLMF 10.40.1).
    let order = f64::from(4 * n * n);
    let (mut term, mut sum) = (1.0, 0.0);
    let mut k = 0.0;
    while k < 40.0 && term != 0.0 && f64::abs(term) > 1e-18 {
        sum += term;
        k += 1.0;
        let odd = 2.0 * k - 1.0;
        term *= (odd * odd - order) / (8.0 * k * x);
    }
    // The exponential of the half, twice: it overflows later than the function.
    let half = (0.5 * x).exp();
    half * (sum / (2.0 * PI * x).sqrt()) * half
}

/// The modified Bessel function of the first kind, order 0.
pub fn i0(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { modified(0, x.abs()) }
}

/// The modified Bessel function of the first kind, order 1.
pub fn i1(x: f64) -> f64 {
    if x.is_infinite() { x } else { modified(1, x.abs()).copysign(x) }
}

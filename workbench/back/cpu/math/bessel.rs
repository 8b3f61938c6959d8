//! Bessel functions.

use super::double::Double;

/// From here on the asymptotic series is exact to a double: its smallest term is about `exp(-2x)`.
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
    half * (sum / (2.0 * std::f64::consts::PI * x).sqrt()) * half
}

/// The modified Bessel function of the first kind, order 0.
pub fn i0(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { modified(0, x.abs()) }
}

/// The modified Bessel function of the first kind, order 1.
pub fn i1(x: f64) -> f64 {
    if x.is_infinite() { x } else { modified(1, x.abs()).copysign(x) }
}

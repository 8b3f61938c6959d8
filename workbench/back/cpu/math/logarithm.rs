//! The logarithm to about 70 bits, for functions that lose some of them.

use super::double::Double;

/// The natural logarithm of 2.
const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// The logarithm to base 10 of 2.
const LOG10_2: Double = Double::new(std::f64::consts::LOG10_2, -2.803_728_127_785_170_4e-18);
/// The logarithm to base 10 of e.
const LOG10_E: Double = Double::new(std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);

/// A positive finite number as exponent and the natural logarithm of the rest, which is within half a power of two of 1.
fn parts(x: f64) -> (f64, Double) {
    let (mut m, mut e) = libm::frexp(x);
    if m < std::f64::consts::FRAC_1_SQRT_2 {
        m *= 2.0;
        e -= 1;
    }
    // ln m = 2 artanh(s), s = (m - 1) / (m + 1); both are exact as they stand, and |s| < 0.172.
    let s = Double::from(m - 1.0).over(Double::sum(m, 1.0));
    let square = s.high * s.high;
    let series = (1..=13).rev().fold(0.0, |sum, k| square * (1.0 / f64::from(2 * k + 1) + sum));
    let ln = s.plus(Double::from(s.high * series)).scaled(2.0);
    (f64::from(e), ln)
}

/// The natural logarithm of a positive finite number.
pub fn natural(x: f64) -> Double {
    let (e, ln) = parts(x);
    LN_2.scaled(e).plus(ln)
}

/// The logarithm to base 10.
pub fn base_10(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() {
        let (e, ln) = parts(x);
        LOG10_2.scaled(e).plus(ln.times(LOG10_E)).value()
    } else {
        x.log10()
    }
}

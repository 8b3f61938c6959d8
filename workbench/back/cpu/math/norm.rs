//! Lengths of vectors of up to four components and their reciprocals, without overflow on the way.

use super::double::Double;

/// The length scaled by a power of two, and that power; the other forms are the results of special values.
enum Length {
    Scaled(Double, i32),
    Zero,
    Infinite,
    Nan,
}

/// Infinities win over NaNs, as in C's `hypot`.
fn length(v: &[f64]) -> Length {
    if v.iter().any(|x| x.is_infinite()) {
        return Length::Infinite;
    }
    if v.iter().any(|x| x.is_nan()) {
        return Length::Nan;
    }
    let most = v.iter().fold(0f64, |m, x| m.max(x.abs()));
    if most == 0.0 {
        return Length::Zero;
    }
    let exponent = libm::frexp(most).1;
    let sum = v.iter().fold(Double::from(0.0), |sum, &x| {
        let x = libm::ldexp(x, -exponent);
        sum.plus(Double::product(x, x))
    });
    Length::Scaled(sum.root(), exponent)
}

/// The length.
pub fn norm(v: &[f64]) -> f64 {
    match length(v) {
        Length::Scaled(root, exponent) => libm::ldexp(root.value(), exponent),
        Length::Zero => 0.0,
        Length::Infinite => f64::INFINITY,
        Length::Nan => f64::NAN,
    }
}

/// One over the length.
pub fn reciprocal(v: &[f64]) -> f64 {
    match length(v) {
        Length::Scaled(root, exponent) => libm::ldexp(Double::from(1.0).over(root).value(), -exponent),
        Length::Zero => f64::INFINITY,
        Length::Infinite => 0.0,
        Length::Nan => f64::NAN,
    }
}

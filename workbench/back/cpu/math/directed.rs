//! Arithmetic rounded down, up, or towards zero.
//!
//! Each function computes the nearest result, then the exact sign of its error, and moves it by one step where it lies on
//! the wrong side. This needs no change of the machine's rounding mode, which compiled code may not see. `float` forms
//! find the sign in `double`, which holds a product of two `float`s.

use super::double::{two_product, two_sum};

/// A rounding other than to nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// To the next number not above.
    Down,
    /// To the next number not below.
    Up,
    /// To the next number not larger in size.
    Zero,
}

/// `near`, or its neighbour, from the sign of the exact result less `near`.
macro_rules! finish {
    ($name:ident, $ty:ident) => {
        fn $name(near: $ty, lack: f64, to: Toward) -> $ty {
            match to {
                Toward::Down if lack < 0.0 => near.next_down(),
                Toward::Up if lack > 0.0 => near.next_up(),
                Toward::Zero if near > 0.0 && lack < 0.0 => near.next_down(),
                Toward::Zero if near < 0.0 && lack > 0.0 => near.next_up(),
                _ => near,
            }
        }
    };
}

finish!(finish, f64);
finish!(finish_f32, f32);

/// A number as mantissa of size [1/2, 1) and exponent.
fn parts(x: f64) -> (f64, i32) {
    libm::frexp(x)
}

/// True if a zero sum of these is negative: rounding down, every zero sum is but that of two positive zeros (IEEE
/// 754-2019, 6.3).
fn is_negative_zero(a: f64, b: f64, to: Toward) -> bool {
    let positive = |x: f64| x == 0.0 && x.is_sign_positive();
    to == Toward::Down && !(positive(a) && positive(b))
}

/// `a + b`.
pub fn add(a: f64, b: f64, to: Toward) -> f64 {
    let near = a + b;
    if !near.is_finite() {
        let overflow = a.is_finite() && b.is_finite();
        return if overflow { finish(near, -near, to) } else { near };
    }
    if near == 0.0 {
        return if is_negative_zero(a, b, to) { -0.0 } else { near };
    }
    let (big, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
    finish(near, small - (near - big), to)
}

/// `a * b`.
pub fn mul(a: f64, b: f64, to: Toward) -> f64 {
    let near = a * b;
    if !near.is_finite() {
        let overflow = a.is_finite() && b.is_finite();
        return if overflow { finish(near, -near, to) } else { near };
    }
    if a == 0.0 || b == 0.0 {
        return near;
    }
    let ((x, i), (y, j)) = (parts(a), parts(b));
    finish(near, x.mul_add(y, -libm::ldexp(near, -(i + j))), to)
}

/// `a / b`.
pub fn div(a: f64, b: f64, to: Toward) -> f64 {
    let near = a / b;
    if !near.is_finite() {
        let overflow = a.is_finite() && b.is_finite() && b != 0.0;
        return if overflow { finish(near, -near, to) } else { near };
    }
    if a == 0.0 || b.is_infinite() {
        return near;
    }
    let ((x, i), (y, j)) = (parts(a), parts(b));
    let lack = (-libm::ldexp(near, j - i)).mul_add(y, x);
    finish(near, lack * y.signum(), to)
}

/// The square root.
pub fn sqrt(x: f64, to: Toward) -> f64 {
    let near = x.sqrt();
    if near == 0.0 || !near.is_finite() {
        return near;
    }
    let (mut m, mut e) = parts(x);
    if e % 2 != 0 {
        m *= 2.0;
        e -= 1;
    }
    let root = libm::ldexp(near, -e / 2);
    finish(near, (-root).mul_add(root, m), to)
}

/// The sign of a sum of numbers that neither overflow nor underflow when added: the largest part of its exact expansion
/// (Shewchuk, "Adaptive precision floating-point arithmetic", 1997).
fn sign_of_sum(terms: [f64; 4]) -> f64 {
    let mut expansion = [0.0; 4];
    for (n, term) in terms.into_iter().enumerate() {
        let mut rest = term;
        for part in &mut expansion[..n] {
            (rest, *part) = two_sum(rest, *part);
        }
        expansion[n] = rest;
    }
    expansion.into_iter().rev().find(|&x| x != 0.0).unwrap_or(0.0)
}

/// `a * b + c`, rounded once.
pub fn fma(a: f64, b: f64, c: f64, to: Toward) -> f64 {
    let near = a.mul_add(b, c);
    if !near.is_finite() {
        let overflow = a.is_finite() && b.is_finite() && c.is_finite();
        return if overflow { finish(near, -near, to) } else { near };
    }
    if a == 0.0 || b == 0.0 {
        return add(a * b, c, to);
    }
    if c == 0.0 {
        return mul(a, b, to);
    }
    let ((x, i), (y, j), (z, k)) = (parts(a), parts(b), parts(c));
    let (exponent, distance) = (i + j, k - (i + j));
    // Past this distance the smaller of product and addend decides only where the larger is exact.
    const FAR: i32 = 120;
    let lack = if distance > FAR {
        x * y
    } else {
        let scaled = libm::ldexp(near, -exponent);
        if distance < -FAR {
            let lack = x.mul_add(y, -scaled);
            if lack == 0.0 { z } else { lack }
        } else {
            let (product, error) = two_product(x, y);
            sign_of_sum([error, product, libm::ldexp(z, distance), -scaled])
        }
    };
    if near == 0.0 && lack == 0.0 && to == Toward::Down { -0.0 } else { finish(near, lack, to) }
}

/// `a + b`.
pub fn add_f32(a: f32, b: f32, to: Toward) -> f32 {
    fma_f32(a, 1.0, b, to)
}

/// `a * b`.
pub fn mul_f32(a: f32, b: f32, to: Toward) -> f32 {
    let near = a * b;
    if !(near.is_finite() || a.is_finite() && b.is_finite()) {
        return near;
    }
    finish_f32(near, f64::from(a) * f64::from(b) - f64::from(near), to)
}

/// `a / b`.
pub fn div_f32(a: f32, b: f32, to: Toward) -> f32 {
    let near = a / b;
    if b == 0.0 || !(a.is_finite() && b.is_finite()) {
        return near;
    }
    if near.is_infinite() {
        return finish_f32(near, -f64::from(near), to);
    }
    let lack = (-f64::from(near)).mul_add(f64::from(b), f64::from(a));
    finish_f32(near, lack * f64::from(b).signum(), to)
}

/// The square root.
pub fn sqrt_f32(x: f32, to: Toward) -> f32 {
    let near = x.sqrt();
    if !near.is_finite() {
        return near;
    }
    let root = f64::from(near);
    finish_f32(near, (-root).mul_add(root, f64::from(x)), to)
}

/// `a * b + c`, rounded once.
pub fn fma_f32(a: f32, b: f32, c: f32, to: Toward) -> f32 {
    let near = a.mul_add(b, c);
    if !(near.is_finite() || a.is_finite() && b.is_finite() && c.is_finite()) {
        return near;
    }
    let (product, addend) = (f64::from(a) * f64::from(b), f64::from(c));
    let (sum, error) = two_sum(product, addend);
    if sum == 0.0 {
        // Exact: both are multiples of one small number.
        return if is_negative_zero(product, addend, to) { -0.0 } else { near };
    }
    let lack = sum - f64::from(near);
    finish_f32(near, if lack == 0.0 { error } else { lack }, to)
}

#[cfg(test)]
mod tests;

//! Directed rounding against exact rational arithmetic on integers, and at the ends of the range.

use super::*;

const ALL: [Toward; 3] = [Toward::Down, Toward::Up, Toward::Zero];

/// A float as `mantissa * 2^exponent`.
fn exact(x: f64) -> (i128, i32) {
    let bits = x.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i128;
    let (m, e) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    (if x < 0.0 { -m } else { m }, e)
}

/// Random floats whose exponents are within `spread` of 0.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn double(&mut self, spread: u64) -> f64 {
        let bits = self.bits();
        // Some have few digits, so that exact results and ties come up.
        let keep = [!0u64, !0, 0xffff_ff00_0000_0000, 0xffff_0000_0000_0000][(bits & 3) as usize];
        let exponent = 1023 - spread / 2 + self.bits() % spread.max(1);
        f64::from_bits((self.bits() & 0x800f_ffff_ffff_ffff & keep) | exponent << 52)
    }

    fn float(&mut self) -> f32 {
        loop {
            let x = f32::from_bits(self.bits() as u32);
            if x.is_finite() {
                return x;
            }
        }
    }
}

/// True if `x` is the exact value `m * 2^e` rounded as asked.
fn is_rounded(x: f64, (m, e): (i128, i32), to: Toward) -> bool {
    let below = |y: f64| {
        // y <= value
        let (n, f) = exact(y);
        let least = e.min(f);
        n << (f - least) <= m << (e - least)
    };
    let above = |y: f64| {
        let (n, f) = exact(y);
        let least = e.min(f);
        n << (f - least) >= m << (e - least)
    };
    match to {
        Toward::Zero if m < 0 => above(x) && (x.next_down() == f64::NEG_INFINITY || !above(x.next_down())),
        Toward::Down | Toward::Zero => below(x) && !below(x.next_up()),
        Toward::Up => above(x) && !above(x.next_down()),
    }
}

#[test]
fn sums_and_fused_products_are_the_neighbours_of_the_exact_value() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let (a, b) = (random.double(30), random.double(30));
        let ((m, i), (n, j)) = (exact(a), exact(b));
        let least = i.min(j);
        let sum = ((m << (i - least)) + (n << (j - least)), least);
        for to in ALL {
            assert!(sum.0 == 0 || is_rounded(add(a, b, to), sum, to), "{a:e} + {b:e} {to:?}");
            assert!(sum.0 == 0 || is_rounded(fma(a, 1.0, b, to), sum, to), "fma {a:e} + {b:e} {to:?}");
        }
    }
}

#[test]
fn products_quotients_and_roots_are_the_neighbours_of_the_exact_value() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let (a, b) = (random.double(8), random.double(8));
        let ((m, i), (n, j)) = (exact(a), exact(b));
        for to in ALL {
            let product = mul(a, b, to);
            let (p, k) = exact(product);
            let lost = m * n - (p << (k - i - j));
            let ulp = 1i128 << (k - i - j);
            assert!(side(lost, ulp, m * n, to), "{a:e} * {b:e} {to:?}");
            assert_eq!(product.to_bits(), fma(a, b, 0.0, to).to_bits());
            // q <= a/b < q + ulp, times b.
            let q = div(a, b, to);
            let (p, k) = exact(q);
            let shift = i - j - k;
            let (top, bottom) = if shift >= 0 { (m << shift, n) } else { (m, n << -shift) };
            let lost = (top - p * bottom) * n.signum();
            assert!(side(lost, bottom.abs(), m * n, to), "{a:e} / {b:e} {to:?}");
            // r^2 <= a < (r + ulp)^2
            let a = a.abs();
            let r = sqrt(a, to);
            let (p, k) = exact(r);
            let m = exact(a).0;
            let square = |p: i128| {
                let shift = i - 2 * k;
                assert!(shift >= 0);
                (p * p).cmp(&(m << shift))
            };
            let fits = match to {
                Toward::Up => square(p).is_ge() && square(p - 1).is_lt(),
                _ => square(p).is_le() && square(p + 1).is_gt(),
            };
            assert!(fits, "sqrt {a:e} {to:?}");
        }
    }
}

/// True if the error of a result is less than an ULP and on the side that the rounding allows.
fn side(lost: i128, ulp: i128, sign: i128, to: Toward) -> bool {
    match to {
        Toward::Down => 0 <= lost && lost < ulp,
        Toward::Up => -ulp < lost && lost <= 0,
        Toward::Zero if sign < 0 => -ulp < lost && lost <= 0,
        Toward::Zero => 0 <= lost && lost < ulp,
    }
}

/// Twice the digits hold any sum, product or quotient of `float`s well enough: rounding the `double` form down is the `float`
/// form unless the `double` is itself inexact on a `float`, which directed rounding of the `double` keeps on its side.
#[test]
fn float_forms_are_the_double_forms_rounded_again() {
    let narrow = |x: f64, to: Toward| {
        let near = x as f32;
        let lack = x - f64::from(near);
        finish_f32(near, if near.is_infinite() && x.is_finite() { -f64::from(near) } else { lack }, to)
    };
    let mut random = Random(3);
    for _ in 0..200_000 {
        let (a, b, c) = (random.float(), random.float(), random.float());
        let (x, y, z) = (f64::from(a), f64::from(b), f64::from(c));
        for to in ALL {
            assert_eq!(add_f32(a, b, to).to_bits(), narrow(add(x, y, to), to).to_bits(), "{a:e} + {b:e} {to:?}");
            assert_eq!(mul_f32(a, b, to).to_bits(), narrow(mul(x, y, to), to).to_bits(), "{a:e} * {b:e} {to:?}");
            assert_eq!(div_f32(a, b, to).to_bits(), narrow(div(x, y, to), to).to_bits(), "{a:e} / {b:e} {to:?}");
            assert_eq!(
                fma_f32(a, b, c, to).to_bits(),
                narrow(fma(x, y, z, to), to).to_bits(),
                "{a:e} {b:e} {c:e} {to:?}"
            );
            let a = a.abs();
            assert_eq!(sqrt_f32(a, to).to_bits(), narrow(sqrt(x.abs(), to), to).to_bits(), "sqrt {a:e} {to:?}");
        }
    }
}

#[test]
fn ends_of_the_range_and_zeros_are_ieees() {
    let (max, tiny, inf) = (f64::MAX, 5e-324, f64::INFINITY);
    let [down, up, zero] = ALL;
    let same = |a: f64, b: f64| assert_eq!(a.to_bits(), b.to_bits(), "{a:e} {b:e}");
    same(add(max, max, down), max);
    same(add(max, max, up), inf);
    same(add(-max, -max, zero), -max);
    same(add(inf, -1.0, down), inf);
    same(add(1.0, -1.0, down), -0.0);
    same(add(1.0, -1.0, up), 0.0);
    same(add(0.0, 0.0, down), 0.0);
    same(add(0.0, -0.0, down), -0.0);
    same(add(1.0, tiny, up), 1.0f64.next_up());
    same(add(1.0, tiny, down), 1.0);
    same(add(1.0, -tiny, zero), 1.0f64.next_down());
    same(mul(tiny, 0.5, up), tiny);
    same(mul(tiny, 0.5, down), 0.0);
    same(mul(-tiny, 0.5, down), -tiny);
    same(mul(-tiny, 0.5, zero), -0.0);
    same(mul(1e200, 1e200, zero), max);
    same(mul(inf, -2.0, up), -inf);
    same(div(tiny, 2.0, up), tiny);
    same(div(1.0, 0.0, down), inf);
    same(div(max, 0.5, down), max);
    same(div(1.0, -inf, down), -0.0);
    same(div(1.0, 3.0, up), (1.0f64 / 3.0).next_up());
    same(sqrt(2.0, down), 2f64.sqrt().next_down());
    same(sqrt(-0.0, down), -0.0);
    same(sqrt(inf, down), inf);
    assert!(sqrt(-1.0, up).is_nan() && mul(0.0, inf, up).is_nan() && fma(f64::NAN, 1.0, 1.0, zero).is_nan());
    same(fma(1e300, 1e300, -tiny, down), max);
    same(fma(1.0, 1.0, -1.0, down), -0.0);
    same(fma(1.0, 1.0, tiny, up), 1.0f64.next_up());
    same(fma(1.0, 1.0, -tiny, zero), 1.0f64.next_down());
    same(fma(1e-200, 1e-200, 1.0, up), 1.0f64.next_up());
    same(fma(1e-200, -1e-200, 1.0, down), 1.0f64.next_down());
    // 1 + e times 1 - e is 1 - e^2: below 1, and 1 to nearest.
    let e = f64::EPSILON;
    same(fma(1.0 + e, 1.0 - e, 0.0, down), 1.0f64.next_down());
    same(fma(1.0 + e, 1.0 - e, -1.0, up), -e * e);
    assert_eq!(add_f32(f32::MAX, f32::MAX, zero), f32::MAX);
    assert_eq!(mul_f32(1e-30, 1e-30, up), f32::from_bits(1));
    assert_eq!(add_f32(1.0, -1.0, down).to_bits(), (-0.0f32).to_bits());
    assert_eq!(div_f32(-1.0, 0.0, up), f32::NEG_INFINITY);
}

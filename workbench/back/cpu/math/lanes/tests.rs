//! The errors of the functions on plain numbers, against `double` functions, whose own errors do not show in a `float`.

use super::*;
use crate::ir::MathFn;

/// The distance in numbers between two floats; zero between NaNs, and between zeros only of the same sign.
fn distance(a: f32, b: f32) -> i64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() && b.is_nan() { 0 } else { i64::MAX };
    }
    if a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        return i64::MAX;
    }
    let place = |x: f32| i64::from(x.abs().to_bits()) * if x.is_sign_negative() { -1 } else { 1 };
    (place(a) - place(b)).abs()
}

/// Numbers where functions change: zeros, ends of ranges, infinities, NaN and their neighbours.
fn edges() -> Vec<f32> {
    let mut all = Vec::new();
    let near = [0.0, 1e-45, f32::MIN_POSITIVE, 1e-9, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 9.02, 88.7, 103.9, 149.0];
    let far = [1e5, 131_072.0, 8_388_608.0, 16_777_216.0, 1e10, 2_147_483_648.0, 1e30, f32::MAX, f32::INFINITY];
    for x in near.into_iter().chain(far) {
        for d in -2..=2 {
            let y = f32::from_bits((x.to_bits() as i32 + d).max(0) as u32);
            all.extend([y, -y]);
        }
    }
    all
}

/// Checks the function at every 9973rd float and at the edges.
fn check(name: &str, most: i64, f: impl Fn(&mut Scalar, f32) -> f32, reference: impl Fn(f64) -> f64) {
    let all = (0..=u32::MAX).step_by(9973).map(f32::from_bits);
    for x in all.chain(edges()) {
        let (got, want) = (f(&mut Scalar, x), reference(f64::from(x)) as f32);
        assert!(distance(got, want) <= most, "{name}({x:e}) = {got:e}, not {want:e}");
    }
}

/// Checks the function of pairs: of edges and of scattered floats, half of them of similar size.
fn check_pairs(name: &str, most: i64, f: impl Fn(&mut Scalar, f32, f32) -> f32, reference: impl Fn(f64, f64) -> f64) {
    let edges = edges();
    let mut pairs: Vec<_> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    let mut state = 1u64;
    for k in 0..200_000u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (x, y) = ((state >> 32) as u32, (state as u32).rotate_left(k));
        let y = if k % 2 == 0 { y } else { (x & 0x7f80_0000) ^ (y & 0x81ff_ffff) };
        pairs.push((f32::from_bits(x), f32::from_bits(y)));
    }
    for (x, y) in pairs {
        let (got, want) = (f(&mut Scalar, x, y), reference(f64::from(x), f64::from(y)) as f32);
        assert!(distance(got, want) <= most, "{name}({x:e}, {y:e}) = {got:e}, not {want:e}");
    }
}

#[test]
fn exponentials_and_logarithms() {
    check("exp", 1, exp::exp, f64::exp);
    check("exp2", 1, exp::exp2, f64::exp2);
    check("exp10", 2, exp::exp10, libm::exp10);
    check("expm1", 1, exp::expm1, f64::exp_m1);
    check("log", 1, log::log, f64::ln);
    check("log2", 1, log::log2, f64::log2);
    check("log10", 2, log::log10, f64::log10);
    check("log1p", 1, log::log1p, f64::ln_1p);
    check_pairs("pow", 1, power::pow, f64::powf);
}

#[test]
fn trigonometric() {
    check("sin", 2, trig::sin, f64::sin);
    check("cos", 2, trig::cos, f64::cos);
    check("tan", 4, trig::tan, f64::tan);
    check("sinpi", 2, trig::sinpi, crate::back::cpu::math::special::sinpi);
    check("atan", 2, inverse::atan, f64::atan);
    check("asin", 2, inverse::asin, f64::asin);
    check("acos", 2, inverse::acos, f64::acos);
    check_pairs("atan2", 3, inverse::atan2, f64::atan2);
}

#[test]
fn hyperbolic() {
    check("sinh", 3, hyperbolic::sinh, f64::sinh);
    check("cosh", 2, hyperbolic::cosh, f64::cosh);
    check("tanh", 2, hyperbolic::tanh, f64::tanh);
    check("asinh", 3, hyperbolic::asinh, libm::asinh);
    check("acosh", 4, hyperbolic::acosh, crate::back::cpu::math::special::acosh);
    check("atanh", 3, hyperbolic::atanh, libm::atanh);
}

#[test]
fn error_functions_and_roots() {
    check("erf", 2, erf::erf, libm::erf);
    check("erfc", 4, erf::erfc, libm::erfc);
    check("normcdf", 5, erf::normcdf, crate::back::cpu::math::special::normcdf);
    check("cbrt", 1, root::cbrt, f64::cbrt);
    let finite = |x: f64, y: f64| !(x.is_infinite() || y.is_infinite());
    let length = |x: f64, y: f64| x.mul_add(x, y * y).sqrt();
    check_pairs("hypot", 2, root::hypot, |x, y| if finite(x, y) { length(x, y) } else { f64::INFINITY });
    check_pairs("rhypot", 2, root::rhypot, |x, y| if finite(x, y) { 1.0 / length(x, y) } else { 0.0 });
}

/// Checks the function of `double`s against one whose own error is below one ULP, at numbers of all sizes, of the sizes
/// in the function's range, next to 1 and at the edges.
fn check_doubles(
    name: &str,
    most: i64,
    range: f64,
    f: impl Fn(&mut Scalar, f64) -> f64,
    reference: impl Fn(f64) -> f64,
) {
    let mut all: Vec<f64> = edges().into_iter().map(f64::from).collect();
    all.extend([5e-324, f64::MIN_POSITIVE, 709.78, 709.79, -708.5, -745.1, -745.2, 1024.0, -1074.0, -1075.5, f64::MAX]);
    let mut state = 1u64;
    for k in 0..200_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        all.push(match k % 3 {
            0 => f64::from_bits(state ^ (state >> 31)) + 0.0,
            1 => part * range,
            _ => 1.0 + part * 0.5f64.powi(k % 12),
        });
    }
    for x in all {
        let (got, want) = (f(&mut Scalar, x), reference(x));
        assert!(double_distance(got, want) <= most, "{name}({x:e}) = {got:e}, not {want:e}");
    }
}

/// [`distance`] of `double`s.
fn double_distance(a: f64, b: f64) -> i64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() && b.is_nan() { 0 } else { i64::MAX };
    }
    if a.is_sign_negative() != b.is_sign_negative() {
        return i64::MAX;
    }
    (a.abs().to_bits() as i64 - b.abs().to_bits() as i64).abs()
}

#[test]
fn doubles() {
    use super::double::{erf, exp, log, power, root, trig};
    check_doubles("exp", 1, 745.0, exp::exp, f64::exp);
    check_doubles("exp2", 1, 1075.0, exp::exp2, f64::exp2);
    check_doubles("tanh", 2, 20.0, exp::tanh, crate::back::cpu::math::special::tanh);
    check_doubles("log", 1, 10.0, log::log, f64::ln);
    check_doubles("log2", 1, 10.0, log::log2, f64::log2);
    check_doubles("sin", 2, 1e6, trig::sin, f64::sin);
    check_doubles("cos", 2, 1e6, trig::cos, f64::cos);
    check_doubles("erf", 3, 6.0, erf::erf, libm::erf);
    check_doubles("rsqrt", 2, 10.0, root::rsqrt, |x| 1.0 / x.sqrt());
    for y in [-1777.501, -3.0, -0.5, -0.0, 0.0, 1e-300, 0.25, 1.0 / 3.0, 2.0, 5.0, 1e9, 1e300, f64::INFINITY, f64::NAN]
    {
        check_doubles("pow", 1, 4.0, |b, x| power::pow(b, x, y), |x| x.powf(y));
    }
}

/// Aligned as the vectors are.
#[repr(align(64))]
struct Sixteen<T>([T; 16]);

/// Checks that sixteen numbers at a time are the same bits as one at a time, but for the bits of a NaN; pairs are made of numbers far
/// apart in the list.
macro_rules! check_sixteen {
    ($ty:ty, $all:expr, $math:expr, $address:expr, $one:path) => {{
        let (math, all): (MathFn, &[$ty]) = ($math, $all);
        for (k, x) in all.chunks_exact(16).enumerate() {
            let y = &all[(k * 7 + 5) % (all.len() - 15)..][..16];
            let (x, y) = (Sixteen(x.try_into().expect("sixteen")), Sixteen(y.try_into().expect("sixteen")));
            let mut out = Sixteen([<$ty>::NAN; 16]);
            // SAFETY: the function at the address takes as many lanes, by address, and this processor has its
            // instructions.
            unsafe {
                if math.arity() == 1 {
                    type One = extern "C" fn(&Sixteen<$ty>, &mut Sixteen<$ty>);
                    std::mem::transmute::<usize, One>($address)(&x, &mut out);
                } else {
                    type Two = extern "C" fn(&Sixteen<$ty>, &Sixteen<$ty>, &mut Sixteen<$ty>);
                    std::mem::transmute::<usize, Two>($address)(&x, &y, &mut out);
                }
            }
            let (x, y, out): ([$ty; 16], [$ty; 16], [$ty; 16]) = (x.0, y.0, out.0);
            for l in 0..16 {
                let want = $one(&mut Scalar, math, &[x[l], y[l]][..math.arity()]).expect("there is one for sixteen");
                let same = out[l].to_bits() == want.to_bits() || out[l].is_nan() && want.is_nan();
                assert!(same, "{} of {:e} ({:e}): {:e}, not {want:e}", math.name(), x[l], y[l], out[l]);
            }
        }
    }};
}

#[test]
fn sixteen_are_as_one() {
    let mut all: Vec<f32> = (0..=u32::MAX).step_by(9973).map(f32::from_bits).chain(edges()).collect();
    all.resize(all.len().next_multiple_of(16), 1.0);
    // The bits below those of a `float` are another's; exponents go as far as a `double`'s.
    let double = |i: usize| {
        let (x, low) = (f64::from(all[i]), u64::from(all[i / 2].to_bits() >> 3));
        f64::from_bits(x.to_bits() ^ low) * if i.is_multiple_of(3) { x.abs().powi(7) } else { 1.0 }
    };
    let doubles: Vec<f64> = (0..all.len()).map(double).collect();
    let mut tried = 0;
    for &math in MathFn::ALL {
        if let Some(address) = sixteen_floats(math) {
            check_sixteen!(f32, &all, math, address, of_floats);
            tried += 1;
        }
        if let Some(address) = sixteen_doubles(math) {
            check_sixteen!(f64, &doubles, math, address, of_doubles);
            tried += 1;
        }
    }
    // All of them, or, on another processor, none.
    let known = |math: &&MathFn| of_floats(&mut Scalar, **math, &[0.5; 4][..math.arity()]).is_some();
    let floats = MathFn::ALL.iter().filter(known).count();
    assert!(tried == 0 || tried > floats, "{tried}, {floats} of floats");
}

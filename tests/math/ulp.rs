//! Accuracy of the math functions against correctly rounded values, over the whole range.
//!
//! The bounds are those of the CUDA C++ Programming Guide ("Mathematical Functions", tables of maximum ULP errors): the
//! distance between a result and the correctly rounded one.

use crate::arguments::{self, Record};
use crate::harness::Kernel;

/// Where a bound in ULP ends, and the absolute bounds beyond it.
pub struct Beyond {
    /// Whether a first argument is there.
    past: fn(f64) -> bool,
    /// The same as CUDA C++ of `x`.
    pub text: &'static str,
    /// Of the `double` form, relative to results larger than 1.
    double: f64,
    /// Of the `float` form.
    pub float: f64,
}

/// A function's bounds.
pub struct Bound {
    /// Its `double` form.
    pub name: &'static str,
    /// How many arguments it takes.
    pub arity: usize,
    /// Of the `double` form, in ULP.
    double: u64,
    /// Of the `float` form, in ULP.
    pub float: u64,
    /// Where that bound ends, if it does.
    pub absolute: Option<Beyond>,
}

const fn bound(name: &'static str, arity: usize, double: u64, float: u64) -> Bound {
    Bound { name, arity, double, float, absolute: None }
}

/// Bessel functions: absolute bounds from 8 on.
const fn bessel(name: &'static str) -> Bound {
    let beyond = Beyond { past: |x| x.abs() >= 8.0, text: "fabs(x) >= 8.0", double: 5e-12, float: 2.2e-6 };
    Bound { name, arity: 1, double: 7, float: 9, absolute: Some(beyond) }
}

/// Every function with a bound.
pub const BOUNDS: &[Bound] = &[
    bound("acos", 1, 2, 2),
    bound("acosh", 1, 3, 4),
    bound("asin", 1, 2, 2),
    bound("asinh", 1, 3, 3),
    bound("atan", 1, 2, 2),
    bound("atan2", 2, 2, 3),
    bound("atanh", 1, 2, 3),
    bound("cbrt", 1, 1, 1),
    bound("cos", 1, 2, 2),
    bound("cosh", 1, 1, 2),
    bound("cospi", 1, 2, 1),
    bound("cyl_bessel_i0", 1, 6, 6),
    bound("cyl_bessel_i1", 1, 6, 6),
    bound("erf", 1, 2, 2),
    bound("erfc", 1, 5, 4),
    bound("erfcinv", 1, 6, 4),
    bound("erfcx", 1, 4, 4),
    bound("erfinv", 1, 5, 2),
    bound("exp", 1, 1, 1),
    bound("exp10", 1, 1, 1),
    bound("exp2", 1, 1, 2),
    bound("expm1", 1, 1, 1),
    bound("hypot", 2, 2, 3),
    bessel("j0"),
    bessel("j1"),
    Bound {
        // Between its zeros on the negative side the guide gives no bound; an absolute one is ours.
        absolute: Some(Beyond {
            past: |x| (-23.0001..-2.2637).contains(&x),
            text: "x >= -23.0001 && x < -2.2637",
            double: 1e-14,
            float: 1e-5,
        }),
        ..bound("lgamma", 1, 4, 6)
    },
    bound("log", 1, 1, 1),
    bound("log10", 1, 1, 2),
    bound("log1p", 1, 1, 1),
    bound("log2", 1, 1, 1),
    bound("norm3d", 3, 2, 3),
    bound("norm4d", 4, 2, 3),
    bound("normcdf", 1, 5, 5),
    bound("normcdfinv", 1, 8, 5),
    bound("pow", 2, 2, 4),
    bound("rcbrt", 1, 1, 1),
    bound("rhypot", 2, 1, 2),
    bound("rnorm3d", 3, 1, 2),
    bound("rnorm4d", 4, 1, 2),
    bound("rsqrt", 1, 1, 2),
    bound("sin", 1, 2, 2),
    bound("sinh", 1, 2, 3),
    bound("sinpi", 1, 2, 1),
    bound("sqrt", 1, 0, 0),
    bound("tan", 1, 2, 4),
    bound("tanh", 1, 1, 2),
    bound("tgamma", 1, 10, 5),
    bessel("y0"),
    bessel("y1"),
];

/// Whether a result is within an absolute bound, relative to results larger than 1.
fn is_close(got: f64, wanted: f64, limit: f64) -> bool {
    (got - wanted).abs() <= limit * wanted.abs().max(1.0) || got == wanted || got.is_nan() && wanted.is_nan()
}

impl Bound {
    fn double_error(&self, first: f64, got: f64, wanted: f64) -> u64 {
        match &self.absolute {
            Some(beyond) if (beyond.past)(first) => {
                if is_close(got, wanted, beyond.double) {
                    0
                } else {
                    u64::MAX
                }
            }
            _ => distance(got, wanted),
        }
    }

    /// How far a `float` result is from the `double` one rounded; `first` is the first argument.
    pub fn float_error(&self, first: f32, got: f32, wanted: f64) -> u64 {
        match &self.absolute {
            Some(beyond) if (beyond.past)(first.into()) => {
                if is_close(got.into(), wanted, beyond.float) {
                    0
                } else {
                    u64::MAX
                }
            }
            _ => distance_f32(got, wanted as f32),
        }
    }
}

/// How many numbers of the type lie between two; a NaN only equals a NaN.
macro_rules! distance {
    ($name:ident, $ty:ident, $int:ident) => {
        fn $name(a: $ty, b: $ty) -> u64 {
            if a.is_nan() || b.is_nan() {
                return if a.is_nan() && b.is_nan() { 0 } else { u64::MAX };
            }
            // Where on the line of all floats, zeros together.
            let place = |x: $ty| {
                let bits = x.to_bits() as $int;
                if bits < 0 { $int::MIN - bits } else { bits }
            };
            i128::from(place(a)).abs_diff(i128::from(place(b))).try_into().unwrap_or(u64::MAX)
        }
    };
}

distance!(distance, f64, i64);
distance!(distance_f32, f32, i32);

/// `k`, which applies a function to every argument list.
pub fn kernel(name: &str, arity: usize, ty: &str) -> Kernel {
    let list: Vec<String> = (0..arity).map(|j| format!("x[{arity} * i + {j}]")).collect();
    Kernel::new(&format!(
        "__global__ void k({ty}* out, const {ty}* x, int n) {{\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) out[i] = {name}({});\n}}\n",
        list.join(", ")
    ))
}

#[test]
fn double_forms_keep_cudas_bounds_on_the_whole_range() {
    let arity = |name: &str| BOUNDS.iter().find(|b| b.name == name).map_or(1, |b| b.arity);
    let records = arguments::records(arity);
    assert_eq!(records.len(), BOUNDS.len());
    let mut wrong = Vec::new();
    for (bound, Record { name, arguments, results }) in BOUNDS.iter().zip(&records) {
        assert_eq!(bound.name, name);
        let got = kernel(name, bound.arity, "double").map::<f64, f64>(arguments, results.len());
        let mut worst = (0, String::new());
        for (i, (got, wanted)) in got.iter().zip(results).enumerate() {
            let args = &arguments[bound.arity * i..][..bound.arity];
            let error = bound.double_error(args[0], *got, *wanted);
            if error > worst.0 {
                worst = (error, format!("{name}{args:?} = {got:e}, not {wanted:e}"));
            }
        }
        println!("{name}: {} of {} ULP", worst.0, bound.double);
        if worst.0 > bound.double {
            wrong.push(format!("{}: {} ULP, more than {}", worst.1, worst.0, bound.double));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The `double` form, which the test above holds to a few of its own ULP, is the reference; arguments are of every exponent
/// and both signs, denormal ones included.
#[test]
fn float_forms_keep_cudas_bounds_on_the_whole_range() {
    let mut wrong = Vec::new();
    for bound in BOUNDS {
        let mut arguments = Vec::new();
        let mut state = 7u64;
        for high in 0..512u32 {
            for _ in 0..16 * bound.arity {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // The first is of every exponent, the others near the middle.
                let exponent = if arguments.len() % bound.arity == 0 { high } else { 120 + (state >> 60) as u32 };
                arguments.push(f32::from_bits(exponent << 23 | (state >> 33) as u32 & 0x7f_ffff));
            }
        }
        arguments.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0, -1.0, 2.0].repeat(bound.arity));
        let n = arguments.len() / bound.arity;
        let wide: Vec<f64> = arguments.iter().map(|&x| f64::from(x)).collect();
        let wanted = kernel(bound.name, bound.arity, "double").map::<f64, f64>(&wide, n);
        let got = kernel(&format!("{}f", bound.name), bound.arity, "float").map::<f32, f32>(&arguments, n);
        let mut worst = (0, String::new());
        for i in 0..n {
            let args = &arguments[bound.arity * i..][..bound.arity];
            let error = bound.float_error(args[0], got[i], wanted[i]);
            if error > worst.0 {
                worst = (error, format!("{}f{args:?} = {:e}, not {:e}", bound.name, got[i], wanted[i] as f32));
            }
        }
        println!("{}f: {} of {} ULP", bound.name, worst.0, bound.float);
        if worst.0 > bound.float {
            wrong.push(format!("{}: {} ULP, more than {}", worst.1, worst.0, bound.float));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Accuracy of the math functions against correctly rounded values, over the whole range.
//!
//! The bounds are those of the CUDA C++ Programming Guide ("Mathematical Functions", tables of maximum ULP errors): the
//! distance between a result and the correctly rounded one. The table of the functions has them.

use std::sync::LazyLock;

use workbench::ir::MathFn;

use crate::arguments::{self, Record};
use crate::harness::Kernel;

/// The end of a bound in ULP, and the absolute bounds beyond it.
pub struct Beyond {
    /// True if a first argument is beyond the end.
    past: fn(f64) -> bool,
    /// The same condition on `x` in CUDA C++.
    pub text: &'static str,
    /// The bound of the `double` form, relative to results larger than 1.
    double: f64,
    /// The bound of the `float` form.
    pub float: f64,
}

/// A function's bounds.
pub struct Bound {
    /// The name of its `double` form.
    pub name: &'static str,
    /// The number of arguments it takes.
    pub arity: usize,
    /// The bound of the `double` form, in ULP.
    double: u64,
    /// The bound of the `float` form, in ULP.
    pub float: u64,
    /// The end of that bound, if it has one.
    pub absolute: Option<Beyond>,
}

/// Bessel functions: absolute bounds from 8 on.
const BESSEL: Beyond = Beyond { past: |x| x.abs() >= 8.0, text: "fabs(x) >= 8.0", double: 5e-12, float: 2.2e-6 };

/// The guide gives `lgamma` no bound between its zeros on the negative side; an absolute one is ours.
const LGAMMA: Beyond = Beyond {
    past: |x| (-23.0001..-2.2637).contains(&x),
    text: "x >= -23.0001 && x < -2.2637",
    double: 1e-14,
    float: 1e-5,
};

/// True if the reference has the function: all that have a bound are there, except those whose first argument is an integer. The square
/// root, which is correctly rounded, stands for the exact ones.
fn is_in_reference(function: MathFn) -> bool {
    let is_bounded = function.bounds() != [0, 0] && !matches!(function, MathFn::Jn | MathFn::Yn);
    is_bounded || function == MathFn::Sqrt
}

/// Every function of the reference.
pub static BOUNDS: LazyLock<Vec<Bound>> = LazyLock::new(|| {
    let functions = MathFn::ALL.iter().filter(|function| is_in_reference(**function));
    let bound = |function: &MathFn| {
        let [double, float] = function.bounds();
        let absolute = match function {
            MathFn::J0 | MathFn::J1 | MathFn::Y0 | MathFn::Y1 => Some(BESSEL),
            MathFn::Lgamma => Some(LGAMMA),
            _ => None,
        };
        Bound { name: function.name(), arity: function.arity(), double, float, absolute }
    };
    functions.map(bound).collect()
});

/// True if a result is within an absolute bound, relative to results larger than 1.
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

    /// The distance of a `float` result from the `double` one rounded; `first` is the first argument.
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

/// The distance of two numbers, counted in numbers of the type; a NaN only equals a NaN.
macro_rules! distance {
    ($name:ident, $ty:ident, $int:ident) => {
        fn $name(a: $ty, b: $ty) -> u64 {
            if a.is_nan() || b.is_nan() {
                return if a.is_nan() && b.is_nan() { 0 } else { u64::MAX };
            }
            // The position on the line of all floats, zeros together.
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

/// The kernel `k`, which applies a function to every argument list.
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
    let have: Vec<&str> = records.iter().map(|record| record.name.as_str()).collect();
    let wanted: Vec<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
    assert_eq!(have, wanted, "reference.py has other functions than the table, or in another order");
    let mut wrong = Vec::new();
    for (bound, Record { name, arguments, results }) in BOUNDS.iter().zip(&records) {
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

/// The `double` form, which the test above holds to a few ULP of `double`, is the reference; arguments have every exponent and both signs,
/// denormal ones included.
#[test]
fn float_forms_keep_cudas_bounds_on_the_whole_range() {
    let mut wrong = Vec::new();
    for bound in BOUNDS.iter() {
        let mut arguments = Vec::new();
        let mut state = 7u64;
        for high in 0..512u32 {
            for _ in 0..16 * bound.arity {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // The first has any exponent, the others one near the middle.
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

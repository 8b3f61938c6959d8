//! Every `float` there is, through every function of one argument: hours of work, run by `cargo xtask ulp`. The reference is
//! the `double` form, which `ulp` holds to a few of its own ULP.

use crate::ulp::{BOUNDS, kernel};

/// Arguments a launch takes.
const CHUNK: u64 = 1 << 20;

/// Prints a table of the largest errors. `WORKBENCH_ULP_STRIDE=n` takes every n-th bit pattern, all by default.
#[test]
#[ignore = "takes hours: cargo xtask ulp"]
fn every_float() {
    let stride: u64 = std::env::var("WORKBENCH_ULP_STRIDE").map_or(1, |s| s.parse().expect("a number"));
    let mut wrong = Vec::new();
    println!("| function | largest error (ULP) | at | CUDA's bound |\n|---|---|---|---|");
    for bound in BOUNDS.iter().filter(|b| b.arity == 1) {
        let narrow = kernel(&format!("{}f", bound.name), 1, "float");
        let wide = kernel(bound.name, 1, "double");
        let (mut worst, mut at) = (0, 0f32);
        let mut first = 0u64;
        while first <= u64::from(u32::MAX) {
            let patterns = (0..CHUNK).map(|i| first + i * stride).take_while(|&p| p <= u64::from(u32::MAX));
            let arguments: Vec<f32> = patterns.map(|p| f32::from_bits(p as u32)).collect();
            let doubles: Vec<f64> = arguments.iter().map(|&x| f64::from(x)).collect();
            let got = narrow.map::<f32, f32>(&arguments, arguments.len());
            let wanted = wide.map::<f64, f64>(&doubles, doubles.len());
            for ((&x, got), wanted) in arguments.iter().zip(got).zip(wanted) {
                let error = bound.float_error(x, got, wanted);
                if error > worst {
                    (worst, at) = (error, x);
                }
            }
            first += CHUNK * stride;
        }
        println!("| `{}f` | {worst} | {at:e} | {} |", bound.name, bound.float);
        if worst > bound.float {
            wrong.push(bound.name);
        }
    }
    assert!(wrong.is_empty(), "past CUDA's bounds: {wrong:?}");
}

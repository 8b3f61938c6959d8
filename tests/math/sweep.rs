//! Every `float`, through every function of one argument: `cargo xtask ulp`. The reference is the `double` form, rounded, which `ulp` holds
//! to a few ULP of `double`; so next to a tie between two floats the distance may be off by one.
//!
//! The sweep is itself a kernel: a thread walks a range of bit patterns and keeps the worst.

use std::path::{Path, PathBuf};

use workbench::front::reference::accuracy::Row;

use crate::harness::Kernel;
use crate::ulp::{BOUNDS, Bound, kernel};

/// Threads of a launch, each with so many bit patterns.
const THREADS: u64 = 1 << 12;
const EACH: u64 = 1 << 12;

/// The kernel that finds the worst argument of a function. It keeps the distance and the pattern of each thread, in one number each.
fn sweep(bound: &Bound) -> Kernel {
    let name = bound.name;
    let absolute = bound.absolute.as_ref().map_or_else(String::new, |beyond| {
        format!(
            "if ({}) {{\n\
             const double limit = {:e} * fmax(1.0, fabs(wanted));\n\
             error = fabs(got - wanted) <= limit || got == wanted || isnan(got) && isnan(wanted) ? 0 : ~0ull;\n}} else",
            beyond.text, beyond.float
        )
    });
    Kernel::new(&format!(
        "__device__ long long place(float x) {{\n\
         const int bits = __float_as_int(x);\n\
         return bits < 0 ? (long long)INT_MIN - bits : bits;\n}}\n\
         __device__ unsigned long long distance(float a, float b) {{\n\
         if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : ~0ull;\n\
         return llabs(place(a) - place(b));\n}}\n\
         __global__ void k(unsigned long long* worst, const unsigned long long* range, int n) {{\n\
         const int t = blockIdx.x * blockDim.x + threadIdx.x;\n\
         const unsigned long long stride = range[1];\n\
         unsigned long long p = range[0] + t * {EACH}ull * stride, most = 0, where = 0;\n\
         for (int i = 0; i < {EACH} && p >> 32 == 0; ++i, p += stride) {{\n\
         const float x = __uint_as_float((unsigned)p);\n\
         const float got = {name}f(x);\n\
         const double wanted = {name}((double)x);\n\
         unsigned long long error;\n\
         {absolute} error = distance(got, (float)wanted);\n\
         if (error > most) {{ most = error; where = p; }}\n\
         }}\n\
         worst[2 * t] = most; worst[2 * t + 1] = where;\n}}\n"
    ))
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workbench/front/LANGUAGE.md")
}

/// Prints the largest errors. `WORKBENCH_ULP_STRIDE=n` takes every n-th bit pattern; all are taken by default, and their lines of the page rewritten.
/// `WORKBENCH_ULP_ONLY` names functions, separated by spaces.
#[test]
#[ignore = "takes hours: cargo xtask ulp"]
fn every_float() {
    let stride: u64 = std::env::var("WORKBENCH_ULP_STRIDE").map_or(1, |s| s.parse().expect("a number"));
    let only = std::env::var("WORKBENCH_ULP_ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split_whitespace().collect();
    let mut wrong = Vec::new();
    for name in &only {
        assert!(BOUNDS.iter().any(|b| b.arity == 1 && format!("{}f", b.name) == *name), "no function `{name}`");
    }
    for bound in BOUNDS.iter().filter(|b| b.arity == 1) {
        let name = format!("{}f", bound.name);
        if !only.is_empty() && !only.contains(&name.as_str()) {
            continue;
        }
        let kernel = sweep(bound);
        let (mut worst, mut at) = (0, 0);
        let mut first = 0u64;
        while first >> 32 == 0 {
            let found =
                kernel.map_blocks::<u64, u64>(&[first, stride], 2 * THREADS as usize, (THREADS / 64) as u32, 64);
            for pair in found.chunks(2) {
                if pair[0] > worst {
                    (worst, at) = (pair[0], pair[1] as u32);
                }
            }
            first += THREADS * EACH * stride;
        }
        println!("{name}: {worst} of {} ULP, at {:e}", bound.float, f32::from_bits(at));
        if worst > bound.float {
            wrong.push(name.clone());
        }
        if stride == 1 {
            keep(&name, worst, at, bound.float);
        }
    }
    assert!(wrong.is_empty(), "past CUDA's bounds: {wrong:?}");
}

/// Puts the result for a function into its line of the page.
fn keep(name: &str, worst: u64, at: u32, bound: u64) {
    let found = Row { name, error: Some(worst), at: f32::from_bits(at), bound };
    let page = std::fs::read_to_string(page()).expect("the page can be read");
    let is_its = |line: &str| Row::of_line(line).is_some_and(|row| row.name == name);
    assert!(page.lines().any(is_its), "`{name}` is not on the page: WORKBENCH_BLESS=1 cargo test --test language");
    let lines: Vec<String> =
        page.lines().map(|line| if is_its(line) { found.line() } else { line.to_owned() }).collect();
    std::fs::write(self::page(), lines.join("\n") + "\n").expect("the page can be written");
}

/// A table that is older than the functions is detected at their worst arguments, or by a missing function.
#[test]
fn the_kept_table_is_of_these_functions() {
    let page = std::fs::read_to_string(page()).expect("the page can be read");
    let rows: Vec<Row<'_>> = page.lines().filter_map(Row::of_line).collect();
    for bound in BOUNDS.iter().filter(|b| b.arity == 1) {
        let name = format!("{}f", bound.name);
        let row = rows.iter().find(|row| row.name == name);
        let row =
            row.unwrap_or_else(|| panic!("`{name}` is not on the page: WORKBENCH_BLESS=1 cargo test --test language"));
        assert!(row.error <= Some(bound.float) && row.bound == bound.float, "{name}");
        let Some(error) = row.error else { continue };
        let x = row.at;
        let got = kernel(&name, 1, "float").map::<f32, f32>(&[x], 1)[0];
        let wanted = kernel(bound.name, 1, "double").map::<f64, f64>(&[x.into()], 1)[0];
        assert_eq!(bound.float_error(x, got, wanted), error, "`{name}` has changed: cargo xtask ulp {name}");
    }
}

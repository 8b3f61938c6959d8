//! Comparing results: absolute, relative and ULP errors, with `torch.testing.assert_close`'s rules.
//!
//! Two numbers agree when `|actual - expected| <= atol + rtol * |expected|`. Infinities agree only with themselves; NaN
//! agrees with NaN only when asked. Integers and bools must be equal unless tolerances are given.

use serde::Serialize;

use crate::runtime::{DType, Tensor};

/// How far results may differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

impl Tolerance {
    /// torch.testing's defaults (PyTorch documentation of `assert_close`).
    pub fn default_for(dtype: DType) -> Self {
        match dtype {
            DType::Float32 => Tolerance { rtol: 1.3e-6, atol: 1e-5 },
            DType::Float64 => Tolerance { rtol: 1e-7, atol: 1e-7 },
            _ => Tolerance { rtol: 0.0, atol: 0.0 },
        }
    }

    /// The looser of two, as torch takes it when the types differ.
    #[must_use]
    pub fn max(self, other: Tolerance) -> Self {
        Tolerance { rtol: self.rtol.max(other.rtol), atol: self.atol.max(other.atol) }
    }
}

/// The thread that wrote an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Writer {
    /// Block index (x, y, z).
    pub block: [u32; 3],
    /// Thread index (x, y, z).
    pub thread: [u32; 3],
}

/// One element that does not agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mismatch {
    /// Its place.
    pub index: Vec<usize>,
    /// What came.
    pub actual: f64,
    /// What was wanted.
    pub expected: f64,
    /// Absolute error.
    pub abs: f64,
    /// Relative error.
    pub rel: f64,
    /// Distance in units in the last place of the actual type; infinite where that means nothing.
    pub ulp: f64,
    /// Who wrote it, where that is known.
    pub writer: Option<Writer>,
    /// Whether the element still holds the poison it was given before the launch: nobody wrote it.
    pub unwritten: bool,
}

/// How many mismatches are listed.
const LISTED: usize = 8;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Whether everything agrees.
    pub passed: bool,
    /// Why nothing could be compared (shapes or types that differ), if so.
    pub incomparable: Option<String>,
    /// The tolerance used.
    pub tolerance: Tolerance,
    /// Largest absolute error over finite pairs.
    pub max_abs: f64,
    /// Largest relative error over finite pairs.
    pub max_rel: f64,
    /// Largest distance in ULP (0 for integers that are equal).
    pub max_ulp: f64,
    /// How many elements do not agree.
    pub mismatches: usize,
    /// How many were compared.
    pub total: usize,
    /// The first of them.
    pub first: Vec<Mismatch>,
}

/// Compares two arrays. `expected` may be of another element type (a float64 reference of a float32 result): it is rounded to the
/// actual's for ULP distances only. Without a tolerance torch's default counts, the looser one where the types differ. Integers of any
/// width are compared as integers, to the last bit.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Option<Tolerance>, equal_nan: bool) -> Comparison {
    let tolerance = tolerance
        .unwrap_or_else(|| Tolerance::default_for(actual.dtype()).max(Tolerance::default_for(expected.dtype())));
    let mut out = Comparison {
        passed: true,
        incomparable: None,
        tolerance,
        max_abs: 0.0,
        max_rel: 0.0,
        max_ulp: 0.0,
        mismatches: 0,
        total: actual.numel(),
        first: Vec::new(),
    };
    if actual.shape() != expected.shape() {
        out.passed = false;
        out.incomparable =
            Some(format!("the result has shape {:?}, and the reference {:?}", actual.shape(), expected.shape()));
        return out;
    }
    if actual.dtype().is_float() != expected.dtype().is_float() {
        out.passed = false;
        out.incomparable = Some(format!("the result is {}, and the reference {}", actual.dtype(), expected.dtype()));
        return out;
    }
    let exact = !actual.dtype().is_float() && tolerance.rtol == 0.0 && tolerance.atol == 0.0;
    let size = actual.dtype().size();
    let (a, e) = (actual.to_f64_vec(), expected.to_f64_vec());
    for i in 0..a.len() {
        let (x, y) = (a[i], e[i]);
        let both_nan = x.is_nan() && y.is_nan();
        let finite = x.is_finite() && y.is_finite();
        let abs = if exact {
            integer(actual, i).abs_diff(integer(expected, i)) as f64
        } else if x == y {
            0.0
        } else {
            (x - y).abs()
        };
        let rel = if abs == 0.0 { 0.0 } else { abs / y.abs() };
        let ulp = if exact { abs } else { ulp_distance(actual.dtype(), x, y) };
        if finite {
            out.max_abs = out.max_abs.max(abs);
            out.max_rel = out.max_rel.max(rel);
            out.max_ulp = out.max_ulp.max(ulp);
        }
        // 64-bit integers do not survive the way through doubles.
        let agrees = if exact {
            integer(actual, i) == integer(expected, i)
        } else if both_nan {
            equal_nan
        } else if finite {
            abs <= tolerance.atol + tolerance.rtol * y.abs()
        } else {
            x == y
        };
        if !agrees {
            out.passed = false;
            out.mismatches += 1;
            if out.first.len() < LISTED {
                out.first.push(Mismatch {
                    index: unravel(i, actual.shape()),
                    actual: x,
                    expected: y,
                    abs,
                    rel,
                    ulp,
                    writer: None,
                    unwritten: actual.raw()[i * size..(i + 1) * size].iter().all(|b| *b == crate::ir::POISON),
                });
            }
        }
    }
    out
}

/// An element of an array of integers or bools.
fn integer(tensor: &Tensor, element: usize) -> i128 {
    let size = tensor.dtype().size();
    let bytes = &tensor.raw()[element * size..][..size];
    let signed = matches!(tensor.dtype(), DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    // The sign, or zero, in every byte above those of the element.
    let fill = if signed && bytes[size - 1] >= 0x80 { 0xff } else { 0 };
    let mut wide = [fill; 16];
    wide[..size].copy_from_slice(bytes);
    match tensor.dtype() {
        DType::Bool => i128::from(bytes[0] != 0),
        _ => i128::from_le_bytes(wide),
    }
}

/// Distance in units in the last place of `dtype`: how many representable numbers lie between, both rounded to it. Infinite when one is NaN;
/// for integers the plain difference.
pub fn ulp_distance(dtype: DType, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() && b.is_nan() { 0.0 } else { f64::INFINITY };
    }
    match dtype {
        // Ordered integers of IEEE bits: negative numbers count downwards from zero (both zeros are 0).
        DType::Float32 => {
            let ordered = |x: f64| {
                let bits = (x as f32).to_bits() as i32;
                i64::from(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits })
            };
            (ordered(a) - ordered(b)).unsigned_abs() as f64
        }
        DType::Float64 => {
            let ordered = |x: f64| {
                let bits = x.to_bits() as i64;
                i128::from(if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits })
            };
            (ordered(a) - ordered(b)).unsigned_abs() as f64
        }
        _ => (a - b).abs(),
    }
}

/// The index of a linear place, row-major.
pub fn unravel(mut linear: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, extent) in index.iter_mut().zip(shape).rev() {
        *slot = linear % extent.max(&1);
        linear /= extent.max(&1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::from_slice(&[values.len()], values).expect("a vector")
    }

    #[test]
    fn errors_are_measured_as_defined() {
        let c = compare(&tensor(&[1.0, 2.0, 4.5]), &tensor(&[1.0, 2.5, 4.0]), None, false);
        assert!(!c.passed && c.mismatches == 2 && c.total == 3);
        assert_eq!((c.max_abs, c.max_rel), (0.5, 0.2));
        // 2.0 to 2.5 is a quarter of the way to 4 at 2^23 numbers a binade.
        assert_eq!(c.first[0].ulp, f64::from(1 << 21));
        assert_eq!(c.first[1].index, vec![2]);
    }

    #[test]
    fn special_values_follow_torch() {
        let nan = f32::NAN;
        let inf = f32::INFINITY;
        assert!(!compare(&tensor(&[nan]), &tensor(&[nan]), None, false).passed);
        assert!(compare(&tensor(&[nan]), &tensor(&[nan]), None, true).passed);
        assert!(compare(&tensor(&[inf, -inf]), &tensor(&[inf, -inf]), None, false).passed);
        assert!(!compare(&tensor(&[inf]), &tensor(&[-inf]), None, false).passed);
        assert!(
            !compare(&tensor(&[inf]), &tensor(&[f32::MAX]), Some(Tolerance { rtol: 1.0, atol: 1e30 }), false).passed
        );
        assert!(compare(&tensor(&[0.0]), &tensor(&[-0.0]), None, false).passed);
    }

    #[test]
    fn integers_are_exact_to_the_last_bit() {
        let big = |v: i64| Tensor::from_slice(&[1], &[v]).expect("a vector");
        assert!(!compare(&big((1 << 53) + 1), &big(1 << 53), None, false).passed);
        assert!(compare(&big((1 << 53) + 1), &big((1 << 53) + 1), None, false).passed);
        // Also where the widths or the signs of the types differ.
        let unsigned = |v: u64| Tensor::from_slice(&[1], &[v]).expect("a vector");
        let c = compare(&big((1 << 53) + 1), &unsigned(1 << 53), None, false);
        assert!(!c.passed && c.max_abs == 1.0 && c.max_ulp == 1.0);
        assert!(!compare(&big(-1), &unsigned(u64::MAX), None, false).passed);
        let narrow = Tensor::from_slice(&[1], &[-7i8]).expect("a vector");
        assert!(compare(&narrow, &big(-7), None, false).passed);
    }

    #[test]
    fn the_default_tolerance_is_the_looser_types() {
        let wide = Tensor::from_slice(&[1], &[1.0f64 + 1e-6]).expect("a vector");
        assert!(compare(&wide, &tensor(&[1.0]), None, false).passed);
        assert!(compare(&tensor(&[1.0]), &wide, None, false).passed);
        assert!(!compare(&wide, &Tensor::from_slice(&[1], &[1.0f64]).expect("a vector"), None, false).passed);
    }

    #[test]
    fn shapes_and_kinds_that_differ_are_said() {
        let wide = Tensor::zeros(DType::Float32, &[2, 2]);
        let c = compare(&wide, &tensor(&[0.0; 4]), None, false);
        assert!(c.incomparable.is_some_and(|why| why.contains("[2, 2]") && why.contains("[4]")));
        let ints = Tensor::zeros(DType::Int32, &[1]);
        assert!(compare(&ints, &tensor(&[0.0]), None, false).incomparable.is_some());
    }

    proptest! {
        #[test]
        fn one_step_is_one_ulp(bits in any::<u32>()) {
            let x = f32::from_bits(bits);
            prop_assume!(x.is_finite() && x != f32::MAX && x != f32::MIN);
            let next = x.next_up();
            prop_assert_eq!(ulp_distance(DType::Float32, f64::from(x), f64::from(next)), if x == next { 0.0 } else { 1.0 });
            prop_assert_eq!(ulp_distance(DType::Float32, f64::from(next), f64::from(x)), if x == next { 0.0 } else { 1.0 });
        }
    }
}

//! Comparison of results: absolute, relative and ULP errors, by the rules of `torch.testing.assert_close`.
//!
//! Two numbers agree when `|actual - expected| <= atol + rtol * |expected|`. Infinities agree only with themselves; NaN agrees with NaN
//! only when asked. Integers and bools must be equal unless tolerances are given. Arrays of half precision are compared as float32:
//! [`Precision`] keeps their own precision.

use std::fmt;

use half::{bf16, f16};
use serde::Serialize;

use crate::runtime::{DType, Tensor};

/// The precision of an array's numbers: that of its element type, or that of 16-bit floats that were widened to float32 without loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// The precision of an element type.
    Of(DType),
    /// IEEE binary16.
    Float16,
    /// The upper half of a binary32.
    BFloat16,
}

impl Precision {
    /// NumPy's name, or torch's.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Of(dtype) => dtype.name(),
            Precision::Float16 => "float16",
            Precision::BFloat16 => "bfloat16",
        }
    }
}

impl From<DType> for Precision {
    fn from(dtype: DType) -> Self {
        match dtype {
            DType::Float16 => Precision::Float16,
            DType::BFloat16 => Precision::BFloat16,
            _ => Precision::Of(dtype),
        }
    }
}

/// The tolerance for results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tolerance {
    /// Tolerance relative to the expected value.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
}

impl Tolerance {
    /// torch.testing's defaults (PyTorch documentation of `assert_close`).
    pub fn default_for(precision: impl Into<Precision>) -> Self {
        match precision.into() {
            Precision::Float16 => Tolerance { rtol: 1e-3, atol: 1e-5 },
            Precision::BFloat16 => Tolerance { rtol: 1.6e-2, atol: 1e-5 },
            Precision::Of(DType::Float32) => Tolerance { rtol: 1.3e-6, atol: 1e-5 },
            Precision::Of(DType::Float64) => Tolerance { rtol: 1e-7, atol: 1e-7 },
            _ => Tolerance { rtol: 0.0, atol: 0.0 },
        }
    }

    /// The error that an element may have.
    pub fn of(self, expected: f64) -> f64 {
        self.atol + self.rtol * expected.abs()
    }

    /// The looser of two, as in torch when the types differ.
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

/// The value of an element: a float, or an integer with all its digits (a truth value is 1 or 0).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An element of an array of floats.
    Float(f64),
    /// An element of an array of integers or truth values.
    Integer(i128),
}

impl Value {
    /// An element of an array.
    fn of(tensor: &Tensor, element: usize, as_float: f64) -> Self {
        if tensor.dtype().is_float() { Value::Float(as_float) } else { Value::Integer(integer(tensor, element)) }
    }
}

/// Floats with a point or an exponent, integers without.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Float(value) => fmt::Debug::fmt(value, f),
            Value::Integer(value) => fmt::Display::fmt(value, f),
        }
    }
}

/// One element that does not agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mismatch {
    /// Its place.
    pub index: Vec<usize>,
    /// The result.
    pub actual: Value,
    /// The value that was expected.
    pub expected: Value,
    /// Absolute error.
    pub abs: f64,
    /// Relative error.
    pub rel: f64,
    /// Distance in units in the last place of the actual type; infinite where one is NaN or infinite.
    pub ulp: f64,
    /// The thread that wrote it, where that is known.
    pub writer: Option<Writer>,
    /// True if the element still holds the poison it was given before the launch: nobody wrote it.
    pub unwritten: bool,
    /// True if nobody wrote the element that it is compared with, as another version of an operator may leave some out.
    pub expected_unwritten: bool,
    /// True if nobody wrote the element of an argument, which keeps its value.
    pub kept: bool,
}

/// The number of mismatches that are listed.
const LISTED: usize = 8;

/// The result of a comparison. Errors are those of elements that were written: what an element that nobody wrote holds is no result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// True if everything agrees.
    pub passed: bool,
    /// The reason why nothing could be compared (shapes or types that differ), if so.
    pub incomparable: Option<String>,
    /// The tolerance used.
    pub tolerance: Tolerance,
    /// Largest absolute error: infinite where an infinity stands against another number; NaN where a NaN disagrees, and where
    /// nothing could be compared.
    pub max_abs: f64,
    /// Largest relative error; infinite and NaN as the absolute one.
    pub max_rel: f64,
    /// Largest distance in ULP (0 for integers that are equal): infinite where a NaN or an infinity disagrees, NaN where nothing
    /// could be compared.
    pub max_ulp: f64,
    /// Largest share of its tolerance that an element's error takes: at most 1 where all agree. Infinite where an error has no tolerance, or
    /// an infinity stands against another number; NaN as the absolute error.
    pub max_share: f64,
    /// The number of elements that do not agree.
    pub mismatches: usize,
    /// The numbers of those in row-major order.
    #[serde(skip)]
    pub differing: Vec<usize>,
    /// True if some element, or some of what it is compared with, has the bytes of the poison: the writers tell whether it was written.
    #[serde(skip)]
    pub has_poison: [bool; 2],
    /// The numbers of those that nobody wrote: they still hold the poison. Data has their count.
    #[serde(serialize_with = "count")]
    pub unwritten: Vec<usize>,
    /// As `unwritten`, of the elements that they are compared with.
    #[serde(serialize_with = "count")]
    pub expected_unwritten: Vec<usize>,
    /// The number of those that are NaN on both sides, which agree only where that is asked for.
    pub both_nan: usize,
    /// The number of elements that were compared.
    pub total: usize,
    /// The first mismatches.
    pub first: Vec<Mismatch>,
    /// The mismatch whose error takes the largest share of its tolerance, of those that were written on both sides; the first of several.
    pub worst: Option<Mismatch>,
}

/// Data has the count of a list.
fn count<S: serde::Serializer>(list: &[usize], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(list.len() as u64)
}

/// The errors of an element.
#[derive(Debug, Clone, Copy)]
struct Errors {
    abs: f64,
    rel: f64,
    ulp: f64,
    share: f64,
}

impl Errors {
    /// The larger of each error.
    fn worse(self, other: Errors) -> Errors {
        Errors {
            abs: worse(self.abs, other.abs),
            rel: worse(self.rel, other.rel),
            ulp: worse(self.ulp, other.ulp),
            share: worse(self.share, other.share),
        }
    }
}

/// An error by a size. An infinite error has no ratio.
fn by(abs: f64, size: f64) -> f64 {
    if abs == 0.0 || abs.is_infinite() { abs } else { abs / size }
}

/// The elements of two arrays that were compared, as doubles, and their errors in ULP.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    /// Those of the result.
    pub actual: &'a [f64],
    /// Those that were expected.
    pub expected: &'a [f64],
    /// Their distances.
    pub ulps: &'a [f64],
    /// The extents of both arrays.
    pub shape: &'a [usize],
    /// True for arrays of floats.
    pub is_float: bool,
}

impl Elements<'_> {
    fn errors(&self, i: usize, tolerance: Tolerance) -> Errors {
        let (x, y) = (self.actual[i], self.expected[i]);
        let abs = if x == y { 0.0 } else { (x - y).abs() };
        Errors { abs, rel: by(abs, y.abs()), ulp: self.ulps[i], share: by(abs, tolerance.of(y)) }
    }

    fn value(&self, value: f64) -> Value {
        if self.is_float { Value::Float(value) } else { Value::Integer(value as i128) }
    }
}

/// True if some element has the bytes of the poison.
fn has_poison(tensor: &Tensor) -> bool {
    let is_poison = |element: &[u8]| element.iter().all(|byte| *byte == crate::ir::POISON);
    tensor.raw().chunks_exact(tensor.dtype().size()).any(is_poison)
}

/// True if an element still holds the poison. Elements of one and two bytes may have been written with that value: the writers tell.
fn is_poison(tensor: &Tensor, element: usize) -> bool {
    let size = tensor.dtype().size();
    size >= 4 && tensor.raw()[element * size..][..size].iter().all(|byte| *byte == crate::ir::POISON)
}

/// Compares two arrays. `expected` may be of another element type (a float64 reference of a float32 result): it is rounded to the actual
/// type for ULP distances only. Without a tolerance torch's default is used, the looser one where the types differ. Integers of any width
/// are compared as integers, to the last bit.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Option<Tolerance>, equal_nan: bool) -> Comparison {
    let precisions = [actual.dtype().into(), expected.dtype().into()];
    compare_as(actual, expected, precisions, tolerance, equal_nan)
}

/// [`compare`], with the precision of either array.
pub fn compare_as(
    actual: &Tensor,
    expected: &Tensor,
    precisions: [Precision; 2],
    tolerance: Option<Tolerance>,
    equal_nan: bool,
) -> Comparison {
    let [precision, wanted] = precisions;
    let tolerance = tolerance.unwrap_or_else(|| Tolerance::default_for(precision).max(Tolerance::default_for(wanted)));
    let mut out = Comparison::begun(actual, expected, tolerance);
    if actual.shape() != expected.shape() {
        let why = format!("the result has shape {:?}, and the reference {:?}", actual.shape(), expected.shape());
        return out.impossible(why);
    }
    if actual.dtype().is_float() != expected.dtype().is_float() {
        let why = format!("the result is {}, and the reference {}", precision.name(), wanted.name());
        return out.impossible(why);
    }
    let exact = !actual.dtype().is_float() && tolerance.rtol == 0.0 && tolerance.atol == 0.0;
    let (a, e) = (actual.to_f64_vec(), expected.to_f64_vec());
    let mismatch = |i: usize, errors: Errors| Mismatch {
        index: unravel(i, actual.shape()),
        actual: Value::of(actual, i, a[i]),
        expected: Value::of(expected, i, e[i]),
        abs: errors.abs,
        rel: errors.rel,
        ulp: errors.ulp,
        writer: None,
        unwritten: is_poison(actual, i),
        expected_unwritten: false,
        kept: false,
    };
    let mut largest = Errors { abs: 0.0, rel: 0.0, ulp: 0.0, share: 0.0 };
    let mut worst: Option<(usize, Errors)> = None;
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
        let rel = by(abs, y.abs());
        let ulp = match () {
            () if exact => abs,
            () if finite || x == y => ulp_distance(precision, x, y),
            () => f64::INFINITY,
        };
        // 64-bit integers cannot be converted to doubles without loss.
        let agrees = if exact {
            integer(actual, i) == integer(expected, i)
        } else if both_nan {
            equal_nan
        } else if finite {
            abs <= tolerance.of(y)
        } else {
            x == y
        };
        let errors = Errors { abs, rel, ulp, share: by(abs, tolerance.of(y)) };
        let unwritten = !agrees && is_poison(actual, i);
        out.unwritten.extend(unwritten.then_some(i));
        if !unwritten && (finite || !agrees) {
            largest = largest.worse(errors);
            if !agrees && worst.is_none_or(|(_, worst)| is_worse(errors.share, worst.share)) {
                worst = Some((i, errors));
            }
        }
        if !agrees {
            out.passed = false;
            out.mismatches += 1;
            out.differing.push(i);
            out.both_nan += usize::from(both_nan);
            if out.first.len() < LISTED {
                out.first.push(mismatch(i, errors));
            }
        }
    }
    out.set_largest(largest);
    out.worst = worst.map(|(i, errors)| mismatch(i, errors));
    out
}

impl Comparison {
    /// The comparison before the first element.
    fn begun(actual: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Self {
        Comparison {
            passed: true,
            incomparable: None,
            tolerance,
            max_abs: 0.0,
            max_rel: 0.0,
            max_ulp: 0.0,
            max_share: 0.0,
            mismatches: 0,
            differing: Vec::new(),
            has_poison: [actual, expected].map(has_poison),
            unwritten: Vec::new(),
            expected_unwritten: Vec::new(),
            both_nan: 0,
            total: actual.numel(),
            first: Vec::new(),
            worst: None,
        }
    }

    /// The number of mismatches that nobody wrote on one of the sides.
    pub fn left_out(&self) -> usize {
        // An element that neither side wrote is in both lists.
        let both = self.expected_unwritten.iter().filter(|i| self.unwritten.binary_search(i).is_ok()).count();
        self.unwritten.len() + self.expected_unwritten.len() - both
    }

    /// The mismatches that are listed: the worst, if it is not among the first anyway, then the first.
    pub fn listed(&self) -> impl Iterator<Item = &Mismatch> {
        let worst = self.worst.iter().filter(|worst| self.first.iter().all(|m| m.index != worst.index));
        worst.chain(&self.first)
    }

    /// Sets the largest errors: NaN where there is no element that was written on both sides.
    fn set_largest(&mut self, errors: Errors) {
        let none = Errors { abs: f64::NAN, rel: f64::NAN, ulp: f64::NAN, share: f64::NAN };
        let errors = if self.total > 0 && self.left_out() == self.total { none } else { errors };
        (self.max_abs, self.max_rel, self.max_ulp, self.max_share) = (errors.abs, errors.rel, errors.ulp, errors.share);
    }

    /// Corrects which elements nobody wrote, of the result or of the `other` side, and what follows from that, by the writers of the elements: a value
    /// that is the poison by chance was written, and what elements of one and two bytes hold tells nothing. What nobody wrote agrees with nothing,
    /// whatever it holds. `written` is true for an element that somebody wrote.
    pub fn note_written(&mut self, other: bool, written: &dyn Fn(usize) -> bool, elements: &Elements<'_>) {
        let unwritten: Vec<usize> = (0..elements.actual.len()).filter(|i| !written(*i)).collect();
        let known = if other { &mut self.expected_unwritten } else { &mut self.unwritten };
        if unwritten == *known {
            return;
        }
        *known = unwritten;
        let is_in = |list: &[usize], i: usize| list.binary_search(&i).is_ok();
        let (mut first, before) = (Vec::new(), std::mem::take(&mut self.first));
        let mut largest = Errors { abs: 0.0, rel: 0.0, ulp: 0.0, share: 0.0 };
        let mut worst: Option<(usize, Errors)> = None;
        let mismatch = |i: usize, errors: Errors, left_out: [bool; 2]| {
            let index = unravel(i, elements.shape);
            let known = before.iter().find(|m| m.index == index);
            Mismatch {
                actual: known.map_or_else(|| elements.value(elements.actual[i]), |m| m.actual),
                expected: known.map_or_else(|| elements.value(elements.expected[i]), |m| m.expected),
                index,
                abs: errors.abs,
                rel: errors.rel,
                ulp: errors.ulp,
                writer: None,
                unwritten: left_out[0],
                expected_unwritten: left_out[1],
                kept: false,
            }
        };
        (self.mismatches, self.both_nan) = (0, 0);
        for i in 0..elements.actual.len() {
            let left_out = [is_in(&self.unwritten, i), is_in(&self.expected_unwritten, i)];
            let (x, y) = (elements.actual[i], elements.expected[i]);
            let differs = is_in(&self.differing, i);
            let errors = elements.errors(i, self.tolerance);
            if left_out == [false; 2] && (differs || (x.is_finite() && y.is_finite())) {
                largest = largest.worse(errors);
                if differs && worst.is_none_or(|(_, worst)| is_worse(errors.share, worst.share)) {
                    worst = Some((i, errors));
                }
            }
            if differs || left_out != [false; 2] {
                self.passed = false;
                self.mismatches += 1;
                self.both_nan += usize::from(left_out == [false; 2] && x.is_nan() && y.is_nan());
                if first.len() < LISTED {
                    first.push(mismatch(i, errors, left_out));
                }
            }
        }
        self.worst = worst.map(|(i, errors)| mismatch(i, errors, [false; 2]));
        self.first = first;
        self.set_largest(largest);
    }

    /// The largest share in words: "2 % of its tolerance", "95 times its tolerance".
    pub fn share(&self) -> String {
        match self.max_share {
            0.0 => "exact".to_owned(),
            share if share < 0.01 => "less than 1 % of its tolerance".to_owned(),
            // Rounded down, so that 100 % is reached by no element that agrees only just.
            share if share <= 1.0 => format!("{:.0} % of its tolerance", (100.0 * share).floor()),
            share if share < 10.0 => format!("{share:.1} times its tolerance"),
            share if share.is_finite() && share < 1e6 => format!("{share:.0} times its tolerance"),
            share if share.is_finite() => format!("{share:.1e} times its tolerance"),
            share if share.is_nan() => "NaN".to_owned(),
            _ => "beyond any tolerance".to_owned(),
        }
    }

    /// The comparison when nothing can be compared.
    pub(crate) fn impossible(self, why: String) -> Self {
        let none = f64::NAN;
        Comparison {
            passed: false,
            incomparable: Some(why),
            max_abs: none,
            max_rel: none,
            max_ulp: none,
            max_share: none,
            ..self
        }
    }
}

/// True if a share is worse than another: NaN, which has none, as an infinite one.
fn is_worse(a: f64, b: f64) -> bool {
    let order = |share: f64| if share.is_nan() { f64::INFINITY } else { share };
    order(a) > order(b)
}

/// The larger of two errors; NaN is worse than any number.
pub fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// An element of an array of integers or bools.
fn integer(tensor: &Tensor, element: usize) -> i128 {
    let size = tensor.dtype().size();
    let bytes = &tensor.raw()[element * size..][..size];
    let signed = matches!(tensor.dtype(), DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    // The bytes above the element: copies of its sign, or zero.
    let fill = if signed && bytes[size - 1] >= 0x80 { 0xff } else { 0 };
    let mut wide = [fill; 16];
    wide[..size].copy_from_slice(bytes);
    match tensor.dtype() {
        DType::Bool => i128::from(bytes[0] != 0),
        _ => i128::from_le_bytes(wide),
    }
}

/// Distance in units in the last place of a precision: the number of steps from one to the other, both rounded to it. Infinite when one of
/// them is NaN, and when one is infinite and the other is not the same infinity; for integers the plain difference.
pub fn ulp_distance(precision: impl Into<Precision>, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() && b.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let precision = precision.into();
    let round = |x: f64| match precision {
        Precision::Float16 => f16::from_f64(x).to_f64(),
        Precision::BFloat16 => bf16::from_f64(x).to_f64(),
        Precision::Of(DType::Float32) => f64::from(x as f32),
        Precision::Of(_) => x,
    };
    let (near, far) = (round(a), round(b));
    if near != far && (near.is_infinite() || far.is_infinite()) {
        return f64::INFINITY;
    }
    let steps = |ordered: fn(f64) -> i128| (ordered(a) - ordered(b)).unsigned_abs() as f64;
    match precision {
        Precision::Float16 => steps(|x| ordered(f16::from_f64(x).to_bits().into(), 16)),
        Precision::BFloat16 => steps(|x| ordered(bf16::from_f64(x).to_bits().into(), 16)),
        Precision::Of(DType::Float32) => steps(|x| ordered((x as f32).to_bits().into(), 32)),
        Precision::Of(DType::Float64) => steps(|x| ordered(x.to_bits(), 64)),
        Precision::Of(_) => (a - b).abs(),
    }
}

/// IEEE bits as integers in the order of the numbers: negative ones count downwards from zero, and both zeros are 0.
fn ordered(bits: u64, width: u32) -> i128 {
    let sign = 1u64 << (width - 1);
    if bits & sign == 0 { i128::from(bits) } else { -i128::from(bits ^ sign) }
}

/// The number of an element in row-major order.
pub fn linear(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |at, (i, extent)| at * extent + i)
}

/// The index of a linear position, row-major.
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
    fn an_infinity_is_no_count_of_steps_away() {
        let inf = f64::INFINITY;
        assert_eq!(ulp_distance(DType::Float32, inf, 1.0), inf);
        assert_eq!(ulp_distance(DType::Float32, inf, -inf), inf);
        assert_eq!(ulp_distance(DType::Float32, inf, inf), 0.0);
        // 1e39 and 70000 are infinite once they are rounded.
        assert_eq!(ulp_distance(DType::Float32, inf, 1e39), 0.0);
        assert_eq!(ulp_distance(Precision::Float16, inf, 70_000.0), 0.0);
        assert_eq!(ulp_distance(Precision::Float16, inf, 65_504.0), inf);
    }

    #[test]
    fn the_worst_element_is_told_by_its_tolerance() {
        // The tolerance of 4 is 0.5 + 0.125 * 4 = 1, and that of 100 is 13; all are exact.
        let tolerance = Some(Tolerance { rtol: 0.125, atol: 0.5 });
        let share = |actual: &[f32], expected: &[f32]| {
            let c = compare(&tensor(actual), &tensor(expected), tolerance, false);
            (c.max_share, c.share(), c.passed)
        };
        assert_eq!(share(&[4.25, 103.25], &[4.0, 100.0]), (0.25, "25 % of its tolerance".to_owned(), true));
        assert_eq!(share(&[5.0], &[4.0]), (1.0, "100 % of its tolerance".to_owned(), true));
        assert_eq!(share(&[6.5, 4.0], &[4.0, 4.0]), (2.5, "2.5 times its tolerance".to_owned(), false));
        assert_eq!(share(&[4.0 + 1.0 / 256.0], &[4.0]).1, "less than 1 % of its tolerance");
        assert_eq!(share(&[4.0], &[4.0]).1, "exact");
        assert_eq!(share(&[f32::INFINITY], &[4.0]).1, "beyond any tolerance");
        assert_eq!(share(&[f32::NAN], &[4.0]).1, "NaN");
        // Without a tolerance any error is beyond it, and none is exact.
        let exact = Some(Tolerance { rtol: 0.0, atol: 0.0 });
        assert_eq!(compare(&tensor(&[1.0]), &tensor(&[2.0]), exact, false).share(), "beyond any tolerance");
        assert_eq!(compare(&tensor(&[2.0]), &tensor(&[2.0]), exact, false).share(), "exact");
    }

    #[test]
    fn errors_are_measured_as_defined() {
        let c = compare(&tensor(&[1.0, 2.0, 4.5]), &tensor(&[1.0, 2.5, 4.0]), None, false);
        assert!(!c.passed && c.mismatches == 2 && c.total == 3);
        assert_eq!((c.max_abs, c.max_rel), (0.5, 0.2));
        // The step from 2.0 to 2.5 is a quarter of the way to 4, with 2^23 numbers a binade.
        assert_eq!(c.first[0].ulp, f64::from(1 << 21));
        assert_eq!(c.first[1].index, vec![2]);
    }

    /// An array of 4 whose elements nobody wrote, but for those given.
    fn poisoned(written: &[(usize, f32)]) -> Tensor {
        let mut values = [f32::from_ne_bytes([crate::ir::POISON; 4]); 4];
        written.iter().for_each(|&(i, value)| values[i] = value);
        tensor(&values)
    }

    #[test]
    fn errors_are_those_of_what_was_written() {
        let expected = tensor(&[1.0; 4]);
        let c = compare(&poisoned(&[(0, 1.0), (2, 1.5)]), &expected, None, false);
        assert_eq!((c.mismatches, &c.unwritten[..], c.max_abs, c.max_rel), (3, &[1, 3][..], 0.5, 0.5));
        assert_eq!(c.worst.as_ref().map(|m| (m.index.clone(), m.abs)), Some((vec![2], 0.5)));
        assert!(c.first[0].unwritten && !c.first[1].unwritten);
        // An array whose written elements agree has no error and no worst element.
        let c = compare(&poisoned(&[(0, 1.0)]), &expected, None, false);
        assert_eq!((c.passed, c.max_abs, c.max_ulp, c.worst), (false, 0.0, 0.0, None));
        // A NaN on the other side is no reason to count what nobody wrote. Where nobody wrote anything there are no errors at all.
        let c = compare(&poisoned(&[(0, 1.0)]), &tensor(&[1.0, f32::NAN, f32::NAN, f32::NAN]), None, true);
        assert_eq!((c.unwritten.len(), c.max_abs), (3, 0.0));
        let c = compare(&poisoned(&[]), &tensor(&[f32::NAN; 4]), None, true);
        assert!(c.unwritten.len() == 4 && c.max_abs.is_nan() && c.max_share.is_nan());
        // Version 1 left out elements 0 and 1, the other one 1 and 3: what memory holds is the same for both.
        let (old, new) = (poisoned(&[(2, 1.0), (3, 1.0)]), poisoned(&[(0, 1.0), (2, 1.0)]));
        let mut c = compare(&new, &old, None, false);
        assert!(c.has_poison == [true, true]);
        with_elements(&new, &old, |elements| {
            c.note_written(true, &|i| i > 1, elements);
            c.note_written(false, &|i| i == 0 || i == 2, elements);
        });
        assert_eq!(
            (&c.unwritten[..], &c.expected_unwritten[..], c.left_out(), c.mismatches, c.max_abs),
            (&[1, 3][..], &[0, 1][..], 3, 3, 0.0)
        );
    }

    /// The elements of two arrays, all of one step in ULP.
    fn with_elements(actual: &Tensor, expected: &Tensor, then: impl FnOnce(&Elements<'_>)) {
        let (a, e) = (actual.to_f64_vec(), expected.to_f64_vec());
        let (ulps, is_float) = (vec![1.0; a.len()], actual.dtype().is_float());
        then(&Elements { actual: &a, expected: &e, ulps: &ulps, shape: actual.shape(), is_float });
    }

    #[test]
    fn what_is_the_poison_by_chance_was_written() {
        let (actual, expected) = (poisoned(&[(0, 1.0), (2, 1.5)]), tensor(&[1.0; 4]));
        let mut c = compare(&actual, &expected, None, false);
        let poison = actual.to_f64_vec()[3];
        with_elements(&actual, &expected, |elements| c.note_written(false, &|i| i != 1, elements));
        assert_eq!((&c.unwritten[..], c.max_abs), (&[1][..], (poison - 1.0).abs()));
        assert_eq!(c.first.iter().map(|m| m.unwritten).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(c.worst.as_ref().map(|m| m.index.clone()), Some(vec![3]));
    }

    #[test]
    fn short_elements_that_nobody_wrote_are_known_by_their_writers() {
        // Element 1 holds what the poison is, and was written; 2 and 3 were not.
        let bytes = |values: &[u8]| Tensor::from_slice(&[values.len()], values).expect("bytes");
        let (actual, expected) = (bytes(&[7, 203, 203, 203, 9]), bytes(&[7, 200, 1, 203, 10]));
        let mut c = compare(&actual, &expected, None, false);
        assert_eq!((c.max_abs, c.unwritten.len()), (202.0, 0));
        with_elements(&actual, &expected, |elements| c.note_written(false, &|i| i != 2 && i != 3, elements));
        // The third has the value that is expected by chance, which is no agreement.
        assert_eq!((&c.unwritten[..], c.mismatches, c.max_abs, c.max_ulp), (&[2, 3][..], 4, 3.0, 1.0));
        assert_eq!(c.first.iter().map(|m| m.unwritten).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(c.worst.map(|m| (m.index, m.actual)), Some((vec![1], Value::Integer(203))));

        // Truth values: the poison reads as true.
        let truths = Tensor::try_poisoned(DType::Bool, &[2]).expect("an array");
        let mut c = compare(&truths, &Tensor::from_slice(&[2], &[true, true]).expect("truths"), None, false);
        assert!(c.passed && c.has_poison == [true, false]);
        with_elements(&truths, &truths, |elements| c.note_written(false, &|i| i == 0, elements));
        assert!(!c.passed && c.unwritten == [1] && c.mismatches == 1 && c.first[0].unwritten);

        // Halves: NaN against a number, an error of a half, and one that nobody wrote.
        let halves = |values: &[f64]| Tensor::from_f64(DType::Float16, &[values.len()], values).expect("halves");
        let (actual, expected) = (halves(&[1.0, 1.5, -15.59375, 2.0]), halves(&[1.0, 1.0, 1.0, f64::NAN]));
        let mut c = compare(&actual, &expected, None, false);
        assert!(c.max_abs.is_nan() && c.unwritten.is_empty());
        with_elements(&actual, &expected, |elements| c.note_written(false, &|i| i != 2, elements));
        assert!(c.max_abs.is_nan() && c.unwritten == [2] && c.worst.is_some_and(|m| m.index == [3]));
    }

    #[test]
    fn the_worst_is_listed() {
        let mut actual = [2.0f32; 20];
        actual[15] = 9.0;
        let c = compare(&tensor(&actual), &tensor(&[1.0; 20]), None, false);
        let listed: Vec<usize> = c.listed().map(|m| m.index[0]).collect();
        assert_eq!(listed, [15, 0, 1, 2, 3, 4, 5, 6, 7]);
        actual[3] = 9.0;
        let c = compare(&tensor(&actual), &tensor(&[1.0; 20]), None, false);
        assert_eq!(c.listed().count(), 8);
        // A NaN is as bad as anything.
        actual[16] = f32::NAN;
        let c = compare(&tensor(&actual), &tensor(&[1.0; 20]), None, false);
        assert_eq!(c.worst.map(|m| m.index), Some(vec![16]));
    }

    #[test]
    fn special_values_follow_torch() {
        let nan = f32::NAN;
        let inf = f32::INFINITY;
        assert!(!compare(&tensor(&[nan]), &tensor(&[nan]), None, false).passed);
        assert_eq!(compare(&tensor(&[nan, nan, 1.0]), &tensor(&[nan, 1.0, nan]), None, false).both_nan, 1);
        assert_eq!(compare(&tensor(&[nan]), &tensor(&[nan]), None, true).both_nan, 0);
        assert!(compare(&tensor(&[nan]), &tensor(&[nan]), None, true).passed);
        assert!(compare(&tensor(&[inf, -inf]), &tensor(&[inf, -inf]), None, false).passed);
        assert!(!compare(&tensor(&[inf]), &tensor(&[-inf]), None, false).passed);
        assert!(
            !compare(&tensor(&[inf]), &tensor(&[f32::MAX]), Some(Tolerance { rtol: 1.0, atol: 1e30 }), false).passed
        );
        assert!(compare(&tensor(&[0.0]), &tensor(&[-0.0]), None, false).passed);
    }

    #[test]
    fn a_failing_comparison_has_an_error() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        for (got, want) in [(inf, 1.0), (1.0, inf), (inf, -inf), (0.0, -inf)] {
            let c = compare(&tensor(&[1.0, got]), &tensor(&[1.0, want]), None, false);
            assert!(!c.passed, "{got} {want}");
            assert_eq!(
                (c.max_abs, c.max_rel, c.max_ulp),
                (f64::INFINITY, f64::INFINITY, f64::INFINITY),
                "{got} {want}"
            );
            assert_eq!((c.first[0].abs, c.first[0].rel, c.first[0].ulp), (f64::INFINITY, f64::INFINITY, f64::INFINITY));
        }
        for (got, want) in [(nan, 1.0), (1.0, nan), (nan, nan), (nan, inf)] {
            // A later mismatch, even one with a large error, does not hide it.
            let c = compare(&tensor(&[got, 9.0]), &tensor(&[want, 1.0]), None, false);
            assert!(!c.passed && c.max_abs.is_nan() && c.max_rel.is_nan(), "{got} {want}: {c:?}");
            assert_eq!(c.max_ulp, f64::INFINITY, "{got} {want}");
        }
        let c = compare(&tensor(&[nan, inf, 2.0]), &tensor(&[nan, inf, 2.0]), None, true);
        assert_eq!((c.passed, c.max_abs, c.max_rel, c.max_ulp), (true, 0.0, 0.0, 0.0));
        let c = compare(&tensor(&[1.0]), &tensor(&[1.0, 2.0]), None, false);
        assert!(!c.passed && c.max_abs.is_nan() && c.max_rel.is_nan() && c.max_ulp.is_nan());
    }

    #[test]
    fn half_precision_has_its_own_tolerance_and_ulps() {
        let as_half = |got: f32, want: f32, precisions: [Precision; 2]| {
            compare_as(&tensor(&[got]), &tensor(&[want]), precisions, None, false)
        };
        let (half, brain, single) = (Precision::Float16, Precision::BFloat16, Precision::Of(DType::Float32));
        // torch.testing: rtol 1e-3 and atol 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16. At 1 an ULP is 2^-10 and 2^-7.
        let (step, wide_step) = (2f32.powi(-10), 2f32.powi(-7));
        let c = as_half(1.0 + step, 1.0, [half, half]);
        assert_eq!((c.passed, c.max_ulp), (true, 1.0));
        let c = as_half(1.0 + 2.0 * step, 1.0, [half, half]);
        assert_eq!((c.passed, c.max_ulp), (false, 2.0));
        let c = as_half(1.0 + 2.0 * wide_step, 1.0, [brain, brain]);
        assert_eq!((c.passed, c.max_ulp), (true, 2.0));
        let c = as_half(1.0 + 3.0 * wide_step, 1.0, [brain, brain]);
        assert_eq!((c.passed, c.max_ulp), (false, 3.0));
        // The looser tolerance of the two is used, and the result's ULPs.
        let c = as_half(1.0 + step, 1.0, [single, half]);
        assert_eq!((c.passed, c.max_ulp), (true, f64::from(1 << 13)));
        let c = as_half(1.0 + step, 1.0, [half, single]);
        assert_eq!((c.passed, c.max_ulp), (true, 1.0));
        // Subnormals of binary16 are 2^-24 apart, and -0 is 0.
        assert_eq!(ulp_distance(half, 3.0 * 2f64.powi(-24), -2f64.powi(-24)), 4.0);
        assert_eq!(ulp_distance(half, -0.0, 0.0), 0.0);
    }

    #[test]
    fn integers_are_exact_to_the_last_bit() {
        let big = |v: i64| Tensor::from_slice(&[1], &[v]).expect("a vector");
        assert!(!compare(&big((1 << 53) + 1), &big(1 << 53), None, false).passed);
        assert!(compare(&big((1 << 53) + 1), &big((1 << 53) + 1), None, false).passed);
        // Integers are compared exactly also where the widths or the signs of the types differ.
        let unsigned = |v: u64| Tensor::from_slice(&[1], &[v]).expect("a vector");
        let c = compare(&big((1 << 53) + 1), &unsigned(1 << 53), None, false);
        assert!(!c.passed && c.max_abs == 1.0 && c.max_ulp == 1.0);
        assert!(!compare(&big(-1), &unsigned(u64::MAX), None, false).passed);
        // 2^53 + 1 and 2^53 are one double, and the mismatch still tells them apart.
        assert_eq!((c.first[0].actual, c.first[0].expected), (Value::Integer((1 << 53) + 1), Value::Integer(1 << 53)));
        assert_eq!(c.first[0].actual.to_string(), "9007199254740993");
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

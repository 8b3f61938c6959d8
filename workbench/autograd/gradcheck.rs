//! Registered gradients against finite differences, column by column, as in `torch.autograd.gradcheck`.
//!
//! For an output `y` and an input `x`, column `j` of the numerical Jacobian is `(y(x + eps e_j) - y(x - eps e_j)) / (2 eps)`, and row `i` of the
//! analytical one is the gradient for the output gradient `e_i`. Central differences are wrong by `O(eps^2)`, and by `|y| u / eps` for rounding with
//! unit `u`: in float64 with `eps = 1e-6` both are near 1e-10, far below `atol = 1e-5`; in float32 no step below `eps = 1e-2` is of use.

use std::fmt;

use serde::Serialize;

use crate::ir::POISON;
use crate::line_width::write_line;
use crate::ops::{IntoArgs, Op, OwnedArg, Watched, dispatch, fill_defaults, poison_outputs, watch_writers};
use crate::runtime::{DType, Error, Result, Tensor};

/// Limit on the elements of all Jacobians together: 2048 outputs of 2048 inputs. Every output takes a backward pass.
const MOST_COMPARED: usize = 1 << 22;

/// The options of a gradient check.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GradOptions {
    /// Step of the finite differences.
    pub eps: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Relative tolerance.
    pub rtol: f64,
}

impl Default for GradOptions {
    /// torch's defaults.
    fn default() -> Self {
        GradOptions { eps: 1e-6, atol: 1e-5, rtol: 1e-3 }
    }
}

impl GradOptions {
    /// The options for float32, whose finite differences are less accurate.
    pub fn float32() -> Self {
        GradOptions { eps: 1e-2, atol: 1e-2, rtol: 1e-3 }
    }
}

/// An element of a Jacobian that is off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradMismatch {
    /// The number of the argument.
    pub input: usize,
    /// The index of the argument's element.
    pub input_index: Vec<usize>,
    /// The number of the output.
    pub output: usize,
    /// The index of the output's element.
    pub output_index: Vec<usize>,
    /// The value by the registered gradient.
    pub analytical: f64,
    /// The value by finite differences.
    pub numerical: f64,
    /// The thread that wrote the gradient's element, where the gradient is the result of an operator's kernel.
    pub writer: Option<GradWriter>,
    /// True if the gradient's element still holds the poison.
    pub unwritten: bool,
}

impl GradMismatch {
    /// The writer of the gradient's element, in words; `None` where it is not known.
    pub fn written_by(&self) -> Option<String> {
        let nobody = || self.unwritten.then(|| "nobody: it still holds the poison".to_owned());
        self.writer.as_ref().map(ToString::to_string).or_else(nobody)
    }
}

/// A thread that wrote an element of a gradient.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradWriter {
    /// The kernel.
    pub kernel: String,
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
}

impl fmt::Display for GradWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        write!(f, "block {} thread {} of `{}`", triple(self.block), triple(self.thread), self.kernel)
    }
}

/// The result of a gradient check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradReport {
    /// The name of the operator or function that was checked.
    pub name: String,
    /// The names of its arguments; empty where they are not known.
    pub inputs: Vec<String>,
    /// The names of its outputs; empty where they are not known.
    pub outputs: Vec<String>,
    /// True if every element agrees.
    pub passed: bool,
    /// `float64`, or `float32` with the reason.
    pub precision: String,
    /// Step and tolerances.
    pub options: GradOptions,
    /// Largest absolute error for each argument that is a float array.
    pub max_error: Vec<(usize, f64)>,
    /// The element that is furthest off.
    pub worst: Option<GradMismatch>,
    /// The number of elements of the Jacobians that were compared.
    pub compared: usize,
    /// The number of those that do not agree.
    pub mismatches: usize,
    /// The first of them, by argument, then by the argument's element.
    pub first: Vec<GradMismatch>,
    /// The Jacobians, for pictures.
    #[serde(skip)]
    pub jacobians: Vec<Jacobian>,
}

/// The Jacobian of all outputs with respect to one argument, by both ways: a row for each element of the outputs, a column for each of the
/// argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Jacobian {
    /// The number of the argument.
    pub input: usize,
    /// Rows and columns.
    pub shape: [usize; 2],
    /// The extents of the argument.
    pub input_shape: Vec<usize>,
    /// Number and extents of each output that the rows are of.
    pub outputs: Vec<(usize, Vec<usize>)>,
    /// By the registered gradient, row-major.
    pub analytical: Vec<f64>,
    /// By finite differences, row-major.
    pub numerical: Vec<f64>,
}

/// The number of mismatches that are listed.
const LISTED: usize = 8;

impl GradReport {
    /// Sets the names of arguments and outputs.
    #[must_use]
    pub fn with_names(mut self, inputs: Vec<String>, outputs: Vec<String>) -> Self {
        (self.inputs, self.outputs) = (inputs, outputs);
        self
    }

    /// The report as JSON. Numbers that are not finite are the texts `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// [`Error::Other`] where it cannot be written.
    pub fn to_json(&self) -> Result<String> {
        Ok(crate::json::text(self)?)
    }

    /// An argument by its name, or by its number where it has none.
    pub fn input(&self, number: usize) -> String {
        self.inputs.get(number).map_or_else(|| format!("argument {number}"), |name| format!("`{name}`"))
    }

    /// An output by its name, or by its number where it has none.
    pub fn output(&self, number: usize) -> String {
        let name = self.outputs.get(number).filter(|name| !name.is_empty());
        name.map_or_else(|| format!("output {number}"), |name| format!("`{name}`"))
    }
}

impl fmt::Display for GradReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "agrees with finite differences" } else { "DIFFERS from finite differences" };
        write_line(f, &format!("the gradient of {} {verdict}", self.name))?;
        let facts = format!(
            "  {}, eps {:.0e}, atol {:.0e}, rtol {:.0e}; {} elements of Jacobians compared",
            self.precision, self.options.eps, self.options.atol, self.options.rtol, self.compared
        );
        write_line(f, &facts)?;
        for (input, error) in &self.max_error {
            writeln!(f, "  {}: largest error {error:.3e}", self.input(*input))?;
        }
        if let Some(w) = self.worst.as_ref().filter(|_| !self.passed) {
            let worst = format!(
                "  {} {} not agree; worst: d {}{:?} / d {}{:?} is {:?} by backward and {:?} by differences",
                self.mismatches,
                if self.mismatches == 1 { "does" } else { "do" },
                self.output(w.output),
                w.output_index,
                self.input(w.input),
                w.input_index,
                w.analytical,
                w.numerical
            );
            write_line(f, &worst)?;
            if let Some(writer) = w.written_by() {
                write_line(f, &format!("  that element of the gradient was written by {writer}"))?;
            }
        }
        Ok(())
    }
}

/// The forward pass: every argument in, every output out.
pub type Forward<'a> = dyn FnMut(&[OwnedArg]) -> Result<Vec<Tensor>> + 'a;

/// The backward pass: every argument and the outputs' gradients in, one gradient per argument out.
pub type Backward<'a> = dyn FnMut(&[OwnedArg], &[Tensor]) -> Result<Vec<Option<Tensor>>> + 'a;

/// Checks a gradient with respect to the float arrays among `args`; a missing gradient counts as zeros.
///
/// # Errors
/// Errors of the passes; [`Error::Argument`] for a gradient of the wrong shape or type, or when no argument is a float array.
pub fn gradcheck(
    name: &str,
    forward: &mut Forward<'_>,
    backward: &mut Backward<'_>,
    args: &[OwnedArg],
    options: GradOptions,
) -> Result<GradReport> {
    let compared = Jacobians::of(name, forward, args)?;
    let rows = compared.by_backward(backward)?;
    let mut report = GradReport {
        name: name.to_owned(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        passed: true,
        precision: "float64".to_owned(),
        options,
        max_error: Vec::new(),
        worst: None,
        compared: 0,
        mismatches: 0,
        first: Vec::new(),
        jacobians: Vec::new(),
    };
    for (slot, &i) in compared.inputs.iter().enumerate() {
        let Some(tensor) = args[i].tensor() else { continue };
        let values = tensor.to_f64_vec();
        let mut largest = 0.0f64;
        let shape = [rows[slot].len(), values.len()];
        let analytical = rows[slot].concat();
        let mut by_differences = vec![0.0; analytical.len()];
        for (j, _) in values.iter().enumerate() {
            let numerical = compared.column_by_differences(forward, (i, j), &values, options.eps)?;
            for (row, &n) in numerical.iter().enumerate() {
                let a = rows[slot][row][j];
                let error = if a == n { 0.0 } else { (a - n).abs() };
                report.compared += 1;
                // Infinity agrees with itself and NaN with nothing, as in torch.
                let fine = error <= options.atol + options.rtol * n.abs();
                by_differences[row * shape[1] + j] = n;
                let (k, element) = compared.places[row];
                let mismatch = || GradMismatch {
                    input: i,
                    input_index: unravel(j, tensor.shape()),
                    output: k,
                    output_index: unravel(element, compared.base[k].shape()),
                    analytical: a,
                    numerical: n,
                    writer: None,
                    unwritten: is_poison(a, tensor.dtype()),
                };
                if !fine {
                    report.passed = false;
                    report.mismatches += 1;
                    if report.first.len() < LISTED {
                        report.first.push(mismatch());
                    }
                }
                if (error > largest || error.is_nan() || report.worst.is_none()) && report.is_worse(error) {
                    report.worst = Some(mismatch());
                }
                largest = if error.is_nan() { f64::NAN } else { largest.max(error) };
            }
        }
        report.jacobians.push(Jacobian {
            input: i,
            shape,
            input_shape: tensor.shape().to_vec(),
            outputs: compared.outputs.iter().map(|&k| (k, compared.base[k].shape().to_vec())).collect(),
            analytical,
            numerical: by_differences,
        });
        report.max_error.push((i, largest));
    }
    for mismatch in report.first.iter_mut().chain(&mut report.worst).filter(|_| !report.passed) {
        mismatch.writer = compared.writer(backward, mismatch)?;
    }
    Ok(report)
}

impl GradReport {
    /// The error is larger than that of the worst element so far.
    fn is_worse(&self, error: f64) -> bool {
        self.worst.as_ref().is_none_or(|w| {
            let known = (w.analytical - w.numerical).abs();
            error > known || (error.is_nan() && !known.is_nan())
        })
    }
}

/// The Jacobians of a call: which arguments and outputs they are of, and what the outputs are.
struct Jacobians<'a> {
    name: &'a str,
    args: &'a [OwnedArg],
    /// The arguments that are arrays of floats.
    inputs: Vec<usize>,
    /// All outputs of the call.
    base: Vec<Tensor>,
    /// Those that are arrays of floats.
    outputs: Vec<usize>,
    /// The elements of these: the rows of each Jacobian.
    places: Vec<(usize, usize)>,
}

impl<'a> Jacobians<'a> {
    /// Those of a call, which is made here.
    fn of(name: &'a str, forward: &mut Forward<'_>, args: &'a [OwnedArg]) -> Result<Self> {
        let inputs: Vec<usize> =
            (0..args.len()).filter(|&i| args[i].tensor().is_some_and(|t| t.dtype().is_float())).collect();
        if inputs.is_empty() {
            return Err(Error::argument(format!(
                "`{name}`: no argument is an array of floats, so there is no gradient to check"
            )));
        }
        let is_half = |d: DType| matches!(d, DType::Float16 | DType::BFloat16);
        if let Some(dtype) = args.iter().filter_map(|a| a.tensor()).map(Tensor::dtype).find(|d| is_half(*d)) {
            return Err(Error::argument(format!(
                "`{name}`: differences of {dtype} are too coarse to check a gradient with; give float32 arrays"
            )));
        }
        let base = forward(args)?;
        let outputs: Vec<usize> = (0..base.len()).filter(|&k| base[k].dtype().is_float()).collect();
        if outputs.is_empty() {
            return Err(Error::argument(format!(
                "`{name}`: no output is an array of floats, so there is no gradient to check"
            )));
        }
        let numel = |tensors: &mut dyn Iterator<Item = &Tensor>| tensors.map(Tensor::numel).sum::<usize>();
        let ins = numel(&mut inputs.iter().filter_map(|&i| args[i].tensor()));
        let outs = numel(&mut outputs.iter().map(|&k| &base[k]));
        if ins.saturating_mul(outs) > MOST_COMPARED {
            return Err(Error::argument(format!(
                "`{name}`: gradcheck compares whole Jacobians, here of {outs} outputs by {ins} inputs; \
                 use arrays so small that the product is at most {MOST_COMPARED}"
            )));
        }
        let places = outputs.iter().flat_map(|&k| (0..base[k].numel()).map(move |element| (k, element))).collect();
        Ok(Jacobians { name, args, inputs, base, outputs, places })
    }

    /// The thread that wrote the gradient's element of a mismatch, in one more backward pass: the last array that a kernel wrote in it with the
    /// gradient's elements is the gradient.
    fn writer(&self, backward: &mut Backward<'_>, mismatch: &GradMismatch) -> Result<Option<GradWriter>> {
        let element = ravel(&mismatch.output_index, self.base[mismatch.output].shape());
        let grads = self.unit_gradients(mismatch.output, element)?;
        let (made, watched) = watch_writers(|| poison_outputs(|| backward(self.args, &grads)));
        let made = made?;
        let Some(gradient) = made.get(mismatch.input).and_then(Option::as_ref) else { return Ok(None) };
        let is_gradient = |array: &&Watched| {
            let values = &array.values;
            values.dtype() == gradient.dtype() && values.bytes() == gradient.bytes() && values.raw() == gradient.raw()
        };
        let at = ravel(&mismatch.input_index, gradient.shape());
        Ok(watched.iter().rev().find(is_gradient).and_then(|array| {
            let (block, thread) = array.written.writer(at)?;
            Some(GradWriter { kernel: array.kernel.clone(), block, thread })
        }))
    }

    /// Gradients of the outputs that are zero but for one element of one output.
    fn unit_gradients(&self, output: usize, element: usize) -> Result<Vec<Tensor>> {
        let gradient = |(o, out): (usize, &Tensor)| {
            let mut values = vec![0.0; out.numel()];
            if o == output {
                values[element] = 1.0;
            }
            Tensor::from_f64(out.dtype(), out.shape(), &values)
        };
        self.base.iter().enumerate().map(gradient).collect()
    }

    /// The analytical Jacobians' rows, for each input: one backward pass per output element.
    fn by_backward(&self, backward: &mut Backward<'_>) -> Result<Vec<Vec<Vec<f64>>>> {
        let mut rows: Vec<Vec<Vec<f64>>> = vec![Vec::new(); self.inputs.len()];
        for &(k, element) in &self.places {
            let grads = self.unit_gradients(k, element)?;
            let made = poison_outputs(|| backward(self.args, &grads))?;
            for (slot, &i) in self.inputs.iter().enumerate() {
                let Some(tensor) = self.args[i].tensor() else { continue };
                rows[slot].push(match made.get(i).and_then(Option::as_ref) {
                    None => vec![0.0; tensor.numel()],
                    Some(grad) if grad.shape() == tensor.shape() && grad.dtype() == tensor.dtype() => grad.to_f64_vec(),
                    Some(grad) => {
                        return Err(Error::argument(format!(
                            "`{}`: the gradient of argument {i} is {} {:?}, and the argument {} {:?}",
                            self.name,
                            grad.dtype(),
                            grad.shape(),
                            tensor.dtype(),
                            tensor.shape()
                        )));
                    }
                });
            }
        }
        Ok(rows)
    }

    /// The column of element `j` of argument `i`, whose elements are `values`, by a step in each direction.
    fn column_by_differences(
        &self,
        forward: &mut Forward<'_>,
        (i, j): (usize, usize),
        values: &[f64],
        eps: f64,
    ) -> Result<Vec<f64>> {
        let Some(tensor) = self.args[i].tensor() else { return Ok(Vec::new()) };
        let mut shifted = |delta: f64| -> Result<(Vec<Tensor>, f64)> {
            let mut moved = values.to_vec();
            moved[j] += delta;
            let at = Tensor::from_f64(tensor.dtype(), tensor.shape(), &moved)?;
            // The step actually taken, after rounding to the element type.
            let taken = at.to_f64_vec()[j];
            let mut args = self.args.to_vec();
            args[i] = OwnedArg::Tensor(at);
            Ok((forward(&args)?, taken))
        };
        let ((up, high), (down, low)) = (shifted(eps)?, shifted(-eps)?);
        let mut numerical = Vec::with_capacity(self.places.len());
        for &k in &self.outputs {
            let (up, down) = (up[k].to_f64_vec(), down[k].to_f64_vec());
            numerical.extend(up.iter().zip(&down).map(|(u, d)| (u - d) / (high - low)));
        }
        Ok(numerical)
    }
}

/// True if a value of a gradient, read as a double, is the poison of its type.
fn is_poison(value: f64, dtype: DType) -> bool {
    match dtype {
        DType::Float64 => value.to_bits() == u64::from_ne_bytes([POISON; 8]),
        DType::Float32 => (value as f32).to_bits() == u32::from_ne_bytes([POISON; 4]),
        _ => false,
    }
}

fn ravel(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |at, (i, extent)| at * extent + i)
}

fn unravel(mut linear: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, extent) in index.iter_mut().zip(shape).rev() {
        *slot = linear % extent.max(&1);
        linear /= extent.max(&1);
    }
    index
}

/// Widens the float32 arrays among arguments to float64.
///
/// # Errors
/// None in practice.
pub fn widen_args(args: &[OwnedArg]) -> Result<Vec<OwnedArg>> {
    args.iter()
        .map(|arg| match arg.tensor() {
            Some(t) if t.dtype() == DType::Float32 => Ok(OwnedArg::Tensor(t.cast(DType::Float64)?)),
            _ => Ok(arg.clone()),
        })
        .collect()
}

/// Runs a check in float64, with kernels replaced by their float64 twins; where a twin is refused (bits are punned) it runs in float32 with
/// [`GradOptions::float32`], and the report says why.
///
/// # Errors
/// As [`gradcheck`].
pub fn gradcheck_wide(
    name: &str,
    forward: &mut Forward<'_>,
    backward: &mut Backward<'_>,
    args: &[OwnedArg],
    options: GradOptions,
) -> Result<GradReport> {
    let wide = widen_args(args)?;
    // A forward and a backward pass tell if every kernel on the way has a twin.
    let probe = dispatch::with_twins(|| -> Result<()> {
        let outputs = forward(&wide)?;
        let ones: Result<Vec<Tensor>> =
            outputs.iter().map(|o| Tensor::from_f64(o.dtype(), o.shape(), &vec![1.0; o.numel()])).collect();
        backward(&wide, &ones?).map(drop)
    });
    match probe {
        Ok(()) => dispatch::with_twins(|| gradcheck(name, forward, backward, &wide, options)),
        Err(Error::Other(why)) if why.contains("no float64 twin") => {
            let mut report = gradcheck(name, forward, backward, args, GradOptions::float32())?;
            report.precision = format!("float32 ({why})");
            Ok(report)
        }
        Err(error) => Err(error),
    }
}

impl Op {
    /// Checks the registered gradient against finite differences.
    ///
    /// # Errors
    /// As [`gradcheck`]; [`Error::Argument`] when no gradient is registered.
    pub fn gradcheck(&self, args: impl IntoArgs, options: GradOptions) -> Result<GradReport> {
        let mut args = args.into_args();
        fill_defaults(&self.definition().schema, &mut args)?;
        let mut forward = |args: &[OwnedArg]| Ok(self.call(args)?.tensors);
        let mut backward = |args: &[OwnedArg], grads: &[Tensor]| self.vjp(args)?.1.call(grads);
        let report = gradcheck_wide(self.name(), &mut forward, &mut backward, &args, options)?;
        Ok(self.named(report))
    }

    /// A report on its gradient with the names of its arguments and outputs.
    pub fn named(&self, report: GradReport) -> GradReport {
        let definition = self.definition();
        let inputs = definition.schema.args.iter().map(|arg| arg.name.clone()).collect();
        let outputs = definition.output_names().into_iter().map(Option::unwrap_or_default).collect();
        report.with_names(inputs, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(args: &[OwnedArg]) -> Result<Vec<Tensor>> {
        let x = args[0].tensor().expect("an array");
        let y: Vec<f64> = x.to_f64_vec().iter().map(|v| v * v).collect();
        Ok(vec![Tensor::from_f64(x.dtype(), x.shape(), &y)?])
    }

    fn times(factor: f64) -> impl FnMut(&[OwnedArg], &[Tensor]) -> Result<Vec<Option<Tensor>>> {
        move |args, grads| {
            let x = args[0].tensor().expect("an array");
            let g: Vec<f64> = x.to_f64_vec().iter().zip(grads[0].to_f64_vec()).map(|(v, g)| factor * v * g).collect();
            Ok(vec![Some(Tensor::from_f64(x.dtype(), x.shape(), &g)?)])
        }
    }

    fn input() -> Vec<OwnedArg> {
        vec![OwnedArg::Tensor(Tensor::from_slice(&[2, 2], &[0.5f64, -1.5, 2.0, 3.0]).expect("2 x 2"))]
    }

    #[test]
    fn a_right_gradient_passes() {
        let report = gradcheck("sq", &mut square, &mut times(2.0), &input(), GradOptions::default()).expect("runs");
        assert!(report.passed && report.compared == 16, "{report}");
    }

    #[test]
    fn a_wrong_gradient_names_the_worst_element() {
        let report = gradcheck("sq", &mut square, &mut times(2.01), &input(), GradOptions::default()).expect("runs");
        assert!(!report.passed);
        let worst = report.worst.clone().expect("there is one");
        // The largest error of 2.01 x against 2 x is at x = 3, the last element, on the diagonal.
        assert_eq!((worst.input_index, worst.output_index), (vec![1, 1], vec![1, 1]));
        assert!((worst.analytical - 6.03).abs() < 1e-9 && (worst.numerical - 6.0).abs() < 1e-6);
        // The four on the diagonal are off: by 0.005 at x = 0.5, more than 1e-5 + 1e-3 * 1.
        assert_eq!((report.mismatches, report.first.len(), report.compared), (4, 4, 16));
        assert_eq!((&report.first[1].input_index, &report.first[1].output_index), (&vec![0, 1], &vec![0, 1]));
        let [jacobian] = report.jacobians.as_slice() else { panic!("one argument: {report:?}") };
        assert_eq!((jacobian.input, jacobian.shape), (0, [4, 4]));
        assert!((jacobian.analytical[5] - 2.01 * -1.5).abs() < 1e-12 && jacobian.analytical[1] == 0.0);
        assert!((jacobian.numerical[5] + 3.0).abs() < 1e-6, "{jacobian:?}");
    }

    #[test]
    fn a_missing_gradient_counts_as_zeros() {
        let mut none = |_: &[OwnedArg], _: &[Tensor]| Ok(vec![None]);
        let report = gradcheck("sq", &mut square, &mut none, &input(), GradOptions::default()).expect("runs");
        assert!(!report.passed);
    }

    #[test]
    fn nothing_to_compare_is_no_pass() {
        let mut signs = |args: &[OwnedArg]| Ok(vec![args[0].tensor().expect("an array").cast(DType::Int32)?]);
        let error =
            gradcheck("sign", &mut signs, &mut times(2.0), &input(), GradOptions::default()).expect_err("refused");
        assert_eq!(error.to_string(), "`sign`: no output is an array of floats, so there is no gradient to check");
        let large = vec![OwnedArg::Tensor(Tensor::zeros(DType::Float64, &[4096]))];
        let error = gradcheck("sq", &mut square, &mut times(2.0), &large, GradOptions::default()).expect_err("refused");
        assert!(error.to_string().contains("4096 outputs by 4096 inputs"), "{error}");
    }

    #[test]
    fn nan_agrees_with_nothing() {
        let nan = vec![OwnedArg::Tensor(Tensor::from_slice(&[1], &[f64::NAN]).expect("a vector"))];
        let report = gradcheck("sq", &mut square, &mut times(2.0), &nan, GradOptions::default()).expect("runs");
        assert!(!report.passed && report.worst.is_some());
    }

    #[test]
    fn a_gradient_of_the_wrong_shape_is_an_error() {
        let mut wrong = |_: &[OwnedArg], _: &[Tensor]| Ok(vec![Some(Tensor::zeros(DType::Float64, &[4]))]);
        let error = gradcheck("sq", &mut square, &mut wrong, &input(), GradOptions::default()).expect_err("refused");
        assert!(error.to_string().contains("[4]") && error.to_string().contains("[2, 2]"), "{error}");
    }
}

//! Checks of an operator against its reference, on poisoned outputs, with the threads that wrote wrong elements.

pub mod compare;
pub mod reference;
pub mod report;
pub mod samples;

#[cfg(test)]
mod tests;

pub use compare::{Comparison, Mismatch, Precision, Tolerance, Value, Writer, compare, compare_as, ulp_distance};
pub use reference::CheckArgs;
pub use report::{CheckReport, OutputCheck, REFERENCE};

use std::time::Duration;

use crate::ops::binding::Source;
use crate::ops::{IntoArgs, Op, OwnedArg, RunConfig, Written, fill_defaults};
use crate::plural::{is_or_are, plural};
use crate::runtime::{Result, Tensor};

/// The longest call that looks for early reads, where no limit is given.
const LONGEST: Duration = Duration::from_secs(10);

/// The options of a check.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckOptions {
    /// The tolerance for results; `None`: torch's default for the result's type.
    pub tolerance: Option<Tolerance>,
    /// True if NaN agrees with NaN.
    pub equal_nan: bool,
}

/// Compares results with references, output by output.
pub fn check_outputs(
    name: &str,
    actual: &[Tensor],
    expected: &[Tensor],
    names: &[String],
    options: &CheckOptions,
) -> CheckReport {
    let of = |tensors: &[Tensor]| tensors.iter().map(|t| t.dtype().into()).collect::<Vec<_>>();
    check_outputs_as(name, (actual, &of(actual)), (expected, &of(expected)), names, options)
}

/// [`check_outputs`], with the precision of each array.
pub fn check_outputs_as(
    name: &str,
    actual: (&[Tensor], &[Precision]),
    expected: (&[Tensor], &[Precision]),
    names: &[String],
    options: &CheckOptions,
) -> CheckReport {
    let mut outputs = Vec::new();
    let results = actual.0.iter().zip(actual.1);
    for (k, ((a, &ap), (e, &ep))) in results.zip(expected.0.iter().zip(expected.1)).enumerate() {
        let comparison = compare_as(a, e, [ap, ep], options.tolerance, options.equal_nan);
        let (av, ev) = (a.to_f64_vec(), e.to_f64_vec());
        // NaN that does not agree with NaN is as far from it as from any number.
        let is_far = |x: &f64, y: &f64| x.is_nan() && y.is_nan() && !options.equal_nan;
        let ulp = |(x, y)| if is_far(x, y) { f64::INFINITY } else { ulp_distance(ap, *x, *y) };
        let ulps = av.iter().zip(&ev).map(ulp).collect();
        outputs.push(OutputCheck {
            name: names.get(k).cloned().unwrap_or_else(|| format!("output {k}")),
            comparison,
            shape: a.shape().to_vec(),
            dtype: ap.name().to_owned(),
            read_early: false,
            against: REFERENCE.to_owned(),
            equal_nan: options.equal_nan,
            actual: av,
            expected: ev,
            ulps,
        });
    }
    let (given, wanted) = (actual.0.len(), expected.0.len());
    if given != wanted {
        let nothing = Tensor::zeros(crate::runtime::DType::Bool, &[0]);
        let comparison = compare(&nothing, &nothing, None, false).impossible(format!(
            "there {} {}, and the reference gives {wanted}",
            is_or_are(given),
            plural(given, "result")
        ));
        outputs.push(OutputCheck {
            name: "outputs".to_owned(),
            comparison,
            shape: vec![0],
            dtype: "bool".to_owned(),
            read_early: false,
            against: REFERENCE.to_owned(),
            equal_nan: false,
            actual: Vec::new(),
            expected: Vec::new(),
            ulps: Vec::new(),
        });
    }
    let passed = outputs.iter().all(|o| o.comparison.passed);
    CheckReport { name: name.to_owned(), against: REFERENCE.to_owned(), passed, outputs }
}

impl Op {
    /// Runs the operator on poisoned outputs and compares the result with that of a reference on the same arguments. The reference is a
    /// function of as many arrays of `f64` as there are arguments, with numbers as arrays without axes, that gives the one result.
    ///
    /// ```
    /// # use workbench::prelude::*;
    /// # fn main() -> Result<()> {
    /// let source = "__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    ///     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < n) out[i] = a[i] * b[i] + c;
    /// }";
    /// let schema = "doc::muladd(Tensor a, Tensor b, float c) -> Tensor";
    /// let op = Op::new(schema).source(source).shape("a[n], b[n] -> out[n]").build()?;
    /// let (a, b) = (array![1.0f32, 2.0], array![3.0f32, 4.0]);
    /// assert!(op.check((&a, &b, 2.0), |a, b, c| &a * &b + &c)?.passed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The reference cannot capture variables, so that its parameters need no types; [`Op::check_with`] takes a reference that does, or
    /// that has several results, and options.
    ///
    /// # Errors
    /// As [`Op::call`], and for arguments that are no arrays of numbers.
    pub fn check<A: CheckArgs>(&self, args: A, reference: A::Reference) -> Result<CheckReport> {
        let expected = move |args: &[OwnedArg]| Ok(vec![A::apply(reference, args)?]);
        self.check_with(args, expected, &CheckOptions::default())
    }

    /// Runs [`Op::check`] with any reference: it gets the arguments, with defaults filled in, and gives every result, those written in
    /// place last. Where elements differ, the operator runs once more with the writing threads recorded, and the first mismatches name
    /// their writers.
    ///
    /// # Errors
    /// As [`Op::call`], and errors of the reference.
    pub fn check_with(
        &self,
        args: impl IntoArgs,
        reference: impl FnOnce(&[OwnedArg]) -> Result<Vec<Tensor>>,
        options: &CheckOptions,
    ) -> Result<CheckReport> {
        let number = self.version_number();
        let mut args = args.into_args();
        fill_defaults(&self.definition().schema, &mut args)?;
        let expected = reference(&args)?;
        let got = self.call(args.clone())?;
        let definition = self.definition();
        let names: Vec<String> = definition
            .output_names()
            .into_iter()
            .enumerate()
            .map(|(k, n)| n.unwrap_or_else(|| format!("output {k}")))
            .chain(definition.schema.args.iter().filter(|a| a.mutated).map(|a| a.name.clone()))
            .collect();
        let mut actual = got.tensors;
        // Arguments written in place are results too.
        for (arg, after) in definition.schema.args.iter().zip(&got.args) {
            if arg.mutated
                && let Some(tensor) = after.tensor()
            {
                actual.push(tensor.clone());
            }
        }
        let mut report = check_outputs(self.name(), &actual, &expected, &names, options);
        if report.needs_writers() {
            self.name_writers(args.clone(), &mut report)?;
        }
        if !report.passed {
            self.find_early_reads(&args, &mut report, &RunConfig::default());
        }
        self.note_check(number, report.note());
        Ok(report)
    }

    /// Finds outputs of a report on this operator with these arguments that were read before they were written: by two more calls, on poisoned
    /// and on zeroed outputs. A call that fails says nothing.
    pub fn find_early_reads(&self, args: &[OwnedArg], report: &mut CheckReport, config: &RunConfig<'_>) {
        let is_written = |m: &Mismatch| !m.unwritten;
        if !report.outputs.iter().any(|output| output.comparison.listed().any(is_written)) {
            return;
        }
        // A kernel may wait for what it finds in an output.
        let config = RunConfig { timeout: Some(config.timeout.unwrap_or(LONGEST)), ..*config };
        let again = self.call_with(args.to_vec(), &config);
        if let (Ok(again), Ok(zeroed)) = (again, self.call_zeroed(args.to_vec(), &config)) {
            report.note_early_reads(&again.tensors, &zeroed.tensors);
        }
    }

    /// Fills in the writers of the first mismatches of a report on this operator with these arguments, and what nobody wrote.
    ///
    /// # Errors
    /// As [`Op::call`].
    pub fn name_writers(&self, args: Vec<OwnedArg>, report: &mut CheckReport) -> Result<()> {
        for (k, written) in self.written_outputs(args)? {
            let Some(output) = report.outputs.get_mut(k) else { continue };
            let is_fresh = matches!(written.source, Source::Output(_));
            if is_fresh {
                output.note_written(false, &written);
            }
            let shape = output.shape.clone();
            for mismatch in output.comparison.first.iter_mut().chain(&mut output.comparison.worst) {
                let at = compare::linear(&mismatch.index, &shape);
                mismatch.writer = written.writer(at).map(|(block, thread)| Writer { block, thread });
                mismatch.kept = !is_fresh && mismatch.writer.is_none();
            }
        }
        report.passed = report.outputs.iter().all(|output| output.comparison.passed);
        Ok(())
    }

    /// Notes what nobody writes in a report on another operator beside this one, with these arguments.
    ///
    /// # Errors
    /// As [`Op::call`].
    pub fn note_left_out(&self, args: Vec<OwnedArg>, report: &mut CheckReport) -> Result<()> {
        for (k, written) in self.written_outputs(args)? {
            if let (Some(output), Source::Output(_)) = (report.outputs.get_mut(k), written.source) {
                output.note_written(true, &written);
            }
        }
        report.passed = report.outputs.iter().all(|output| output.comparison.passed);
        Ok(())
    }

    /// The writers of the arrays that a call writes, each with the number of its output in a report.
    fn written_outputs(&self, args: Vec<OwnedArg>) -> Result<Vec<(usize, Written)>> {
        let fresh = self.definition().output_count();
        let schema = self.definition().schema.clone();
        let number = |source: Source| match source {
            Source::Output(k) => Some(k),
            // Written arguments follow the fresh outputs in the schema's order, whatever the kernel's order is.
            Source::Input(arg, true) => Some(fresh + schema.args[..arg].iter().filter(|a| a.mutated).count()),
            _ => None,
        };
        Ok(self.writers(args)?.into_iter().filter_map(|written| Some((number(written.source)?, written))).collect())
    }
}

impl OutputCheck {
    /// Notes which elements of it were written, or of the `other` side.
    fn note_written(&mut self, other: bool, written: &Written) {
        if self.comparison.incomparable.is_none() {
            let elements = compare::Elements {
                actual: &self.actual,
                expected: &self.expected,
                ulps: &self.ulps,
                shape: &self.shape,
                is_float: self.dtype.contains("float"),
            };
            self.comparison.note_written(other, &|at| written.writer(at).is_some(), &elements);
        }
    }
}

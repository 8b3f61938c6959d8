//! Checks of operators and of callables, and gradient checks, with references and gradients in Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use workbench::autograd::{self, GradOptions, gradcheck::gradcheck_wide};
use workbench::check::report::OutputCheck;
use workbench::check::{self, CheckOptions, Mismatch, Precision, Tolerance, Value, check_outputs_as};
use workbench::ops::{OwnedArg, RunConfig};
use workbench::plot::{Writers, writer_map};
use workbench::runtime::Tensor;

use crate::args::Keep;
use crate::bench::mime;
use crate::errors::{self, argument};
use crate::interrupt::Poll;
use crate::kernel::failed;
use crate::op::NativeOp;
use crate::output;
use crate::pictures::{self, MapWords, Svg};
use crate::values::{self, carried};

/// The result of a check.
#[pyclass(module = "workbench", frozen)]
pub struct CheckReport(pub check::CheckReport);

#[pymethods]
impl CheckReport {
    /// True if every element agrees.
    #[getter]
    fn passed(&self) -> bool {
        self.0.passed
    }

    /// Largest absolute error of the elements that were written: inf if an infinity stands against another number; nan if a NaN disagrees, or if
    /// nothing could be compared (other shapes, say).
    #[getter]
    fn max_abs(&self) -> f64 {
        self.0.max_abs()
    }

    /// Largest relative error; inf and nan as `max_abs`.
    #[getter]
    fn max_rel(&self) -> f64 {
        self.0.max_rel()
    }

    /// Largest distance in units in the last place of the result's dtype; inf if a NaN or an infinity disagrees.
    #[getter]
    fn max_ulp(&self) -> f64 {
        self.0.max_ulp()
    }

    /// Largest share of its tolerance that an element's error takes: at most 1 where all agree; inf and nan as `max_abs`, and inf where there
    /// is an error and no tolerance.
    #[getter]
    fn max_share(&self) -> f64 {
        self.0.max_share()
    }

    /// The number of elements that do not agree, of all outputs.
    #[getter]
    fn count(&self) -> usize {
        self.0.mismatches()
    }

    /// The number of elements that do not agree because nobody wrote them, of all outputs: they still hold the poison, and no error counts them.
    #[getter]
    fn unwritten(&self) -> usize {
        self.0.unwritten()
    }

    /// The first mismatches, each with `output index got want abs rel ulp block thread unwritten want_unwritten`. Elements of integers are ints with all
    /// their digits.
    #[getter]
    fn mismatches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for output in &self.0.outputs {
            for m in &output.comparison.first {
                list.append(mismatch(py, output, m)?)?;
            }
        }
        Ok(list)
    }

    /// The mismatch whose error takes the largest share of its tolerance, as those of `mismatches`; None where there is none that somebody wrote.
    #[getter]
    fn worst<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.worst().map(|(output, m)| mismatch(py, output, m)).transpose()
    }

    /// All of it as JSON, for `to_json`.
    fn _json(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_json().map_err(|e| errors::to_py(py, e))
    }

    /// The number of the first output that could be compared, for its picture.
    fn _pictured(&self) -> Option<usize> {
        self.0.outputs.iter().position(|output| output.comparison.incomparable.is_none())
    }

    /// The map of the differences of an output, by its number: a profile for one dimension, slices side by side for three and more.
    ///
    /// `kind` is "signed" (result less reference), "absolute", "relative" (by the size of the reference) or "tolerance" (by the tolerance: what is
    /// up to 1 agrees). `scale` of the colours is "linear", "sqrt", "log" or "auto". `slice` is an index into all but the last two
    /// dimensions, and shows that slice alone. Raises ArgumentError for others, and for an output that could not be compared.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> report = wb.check(lambda x: x, lambda x: x + 1, np.zeros((2, 3, 4)))
    /// >>> report.plot(kind="tolerance", slice=(1,))
    /// <picture of ... bytes of SVG>
    #[pyo3(signature = (output=0, *, kind="signed", scale="auto", slice=None))]
    fn plot(&self, py: Python<'_>, output: usize, kind: &str, scale: &str, slice: Option<Vec<i64>>) -> PyResult<Svg> {
        pictures::map(py, self.output(py, output)?, MapWords { kind, scale, slice })
    }

    /// The number of elements of an output by the size of their errors: `kind` is "ulp", "absolute" or "relative", `scale` of the counts
    /// "linear", "log" or "auto". Raises ArgumentError for others, and for ULP of what is no float.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> wb.check(np.sqrt, lambda x: x ** 0.5, np.arange(9.0)).histogram()
    /// <picture of ... bytes of SVG>
    #[pyo3(signature = (output=0, *, kind="ulp", scale="auto"))]
    fn histogram(&self, py: Python<'_>, output: usize, kind: &str, scale: &str) -> PyResult<Svg> {
        pictures::histogram(py, self.output(py, output)?, kind, scale)
    }

    /// The errors of an output against the size of the reference, with the tolerance as a line. Raises ArgumentError for an output that could
    /// not be compared.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> wb.check(np.sqrt, lambda x: x ** 0.51, np.arange(9.0)).scatter()
    /// <picture of ... bytes of SVG>
    #[pyo3(signature = (output=0))]
    fn scatter(&self, py: Python<'_>, output: usize) -> PyResult<Svg> {
        Ok(Svg(self.output(py, output)?.scatter()))
    }

    /// Raises an AssertionError with the whole report, unless it passed.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> wb.check(np.sqrt, lambda x: x ** 0.5, np.ones(3)).raise_if_failed()
    /// >>> wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).raise_if_failed()
    /// Traceback (most recent call last):
    ///   ...
    /// AssertionError: sqrt DIFFERS from its reference
    /// ...
    fn raise_if_failed(&self) -> PyResult<()> {
        if self.0.passed { Ok(()) } else { Err(pyo3::exceptions::PyAssertionError::new_err(self.0.to_string())) }
    }

    fn __bool__(&self) -> bool {
        self.0.passed
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    #[pyo3(signature = (include=None, exclude=None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<&Bound<'py, PyAny>>,
        exclude: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = (include, exclude);
        mime(py, &self.0)
    }
}

/// A mismatch of an output, for Python.
fn mismatch<'py>(py: Python<'py>, output: &OutputCheck, m: &Mismatch) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("output", &output.name)?;
    fields.set_item("index", PyTuple::new(py, &m.index)?)?;
    for (name, value) in [("got", m.actual), ("want", m.expected)] {
        match value {
            Value::Float(value) => fields.set_item(name, value)?,
            Value::Integer(value) => fields.set_item(name, value)?,
        }
    }
    fields.set_item("abs", m.abs)?;
    fields.set_item("rel", m.rel)?;
    fields.set_item("ulp", m.ulp)?;
    fields.set_item("block", m.writer.map(|w| (w.block[0], w.block[1], w.block[2])))?;
    fields.set_item("thread", m.writer.map(|w| (w.thread[0], w.thread[1], w.thread[2])))?;
    fields.set_item("unwritten", m.unwritten)?;
    fields.set_item("want_unwritten", m.expected_unwritten)?;
    py.import("workbench.operators")?.getattr("Mismatch")?.call((), Some(&fields))
}

impl CheckReport {
    /// An output that was compared; ArgumentError where there is none of this number.
    fn output(&self, py: Python<'_>, number: usize) -> PyResult<&OutputCheck> {
        let Some(output) = self.0.outputs.get(number) else {
            return Err(argument(py, format!("there is no output {number}: the check has {}", self.0.outputs.len())));
        };
        match &output.comparison.incomparable {
            None => Ok(output),
            Some(why) => {
                Err(argument(py, format!("output {number} has no picture, because it could not be compared: {why}")))
            }
        }
    }
}

/// The result of a gradient check.
#[pyclass(module = "workbench", frozen)]
pub struct GradReport(autograd::GradReport);

#[pymethods]
impl GradReport {
    /// True if every element of every Jacobian agrees.
    #[getter]
    fn passed(&self) -> bool {
        self.0.passed
    }

    /// "float64", or "float32" with the reason.
    #[getter]
    fn precision(&self) -> &str {
        &self.0.precision
    }

    /// The number of elements that do not agree.
    #[getter]
    fn count(&self) -> usize {
        self.0.mismatches
    }

    /// The first elements that do not agree, each with `output`, `output_index`, `argument`, `argument_index`, and the derivative by `backward`
    /// and by `differences`; `kernel`, `block` and `thread` wrote the gradient's element, None where it is the result of no operator's kernel; it is `unwritten` if it still holds the poison.
    #[getter]
    fn mismatches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for m in &self.0.first {
            let fields = PyDict::new(py);
            fields.set_item("output", m.output)?;
            fields.set_item("output_index", PyTuple::new(py, &m.output_index)?)?;
            fields.set_item("argument", m.input)?;
            fields.set_item("argument_index", PyTuple::new(py, &m.input_index)?)?;
            fields.set_item("backward", m.analytical)?;
            fields.set_item("differences", m.numerical)?;
            fields.set_item("unwritten", m.unwritten)?;
            let writer = m.writer.as_ref();
            fields.set_item("kernel", writer.map(|w| w.kernel.as_str()))?;
            fields.set_item("block", writer.map(|w| (w.block[0], w.block[1], w.block[2])))?;
            fields.set_item("thread", writer.map(|w| (w.thread[0], w.thread[1], w.thread[2])))?;
            list.append(fields)?;
        }
        Ok(list)
    }

    /// All of it as JSON, for `to_json`.
    fn _json(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_json().map_err(|e| errors::to_py(py, e))
    }

    /// The map of the difference between the Jacobians of an argument, by its number (the first that is an array of floats by default): a row for
    /// each element of the outputs, a column for each of the argument. Raises ArgumentError for an argument that has no Jacobian.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> twice = wb.op("doc::twice_jacobian(Tensor x) -> Tensor",
    /// ...               "__global__ void twice(const float* x, float* y, int n) "
    /// ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }")
    /// >>> _ = twice.register_autograd(lambda ctx, grad: 3 * grad)
    /// >>> twice.gradcheck(np.ones(4, np.float32), raise_exception=False).plot()
    /// <picture of ... bytes of SVG>
    #[pyo3(signature = (argument=None))]
    fn plot(&self, py: Python<'_>, argument: Option<usize>) -> PyResult<Svg> {
        let numbers: Vec<usize> = self.0.jacobians.iter().map(|j| j.input).collect();
        let at = match argument {
            None => 0,
            Some(number) => numbers.iter().position(|n| *n == number).ok_or_else(|| {
                errors::argument(py, format!("argument {number} has no Jacobian; these have: {numbers:?}"))
            })?,
        };
        self.0.pictures().into_iter().nth(at).map(Svg).ok_or_else(|| errors::argument(py, "no argument has a Jacobian"))
    }

    /// Largest error over all elements.
    #[getter]
    fn max_error(&self) -> f64 {
        self.0.max_error.iter().map(|(_, e)| *e).fold(0.0, f64::max)
    }

    fn __bool__(&self) -> bool {
        self.0.passed
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    #[pyo3(signature = (include=None, exclude=None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<&Bound<'py, PyAny>>,
        exclude: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = (include, exclude);
        mime(py, &self.0)
    }
}

/// Takes both tolerances or neither, as `torch.testing` does.
fn options(py: Python<'_>, rtol: Option<f64>, atol: Option<f64>, equal_nan: bool) -> PyResult<CheckOptions> {
    let tolerance = match (rtol, atol) {
        (Some(rtol), Some(atol)) if rtol >= 0.0 && atol >= 0.0 => Some(Tolerance { rtol, atol }),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(argument(py, "rtol and atol must be 0 or more")),
        _ => return Err(argument(py, "give both rtol and atol, or neither")),
    };
    Ok(CheckOptions { tolerance, equal_nan })
}

impl NativeOp {
    /// Copies of the arguments of a call.
    fn owned(&self, args: &Bound<'_, PyTuple>) -> PyResult<Vec<OwnedArg>> {
        let definition = self.op().definition();
        let mut keep = Keep::default();
        let mut owned = Vec::with_capacity(args.len());
        for (arg, object) in definition.schema.args.iter().zip(args.iter()) {
            owned.push(values::owned(&values::value(self.op().name(), arg, &object, &mut keep)?));
        }
        Ok(owned)
    }

    /// The names of the results of a call; the arguments that it wrote are added to them.
    fn result_names(&self, results: &mut Vec<Tensor>, after: &[OwnedArg]) -> Vec<String> {
        let definition = self.op().definition();
        let fresh = definition.output_names().into_iter().enumerate();
        let mut names: Vec<String> = fresh.map(|(k, n)| n.unwrap_or_else(|| format!("output {k}"))).collect();
        for (arg, after) in definition.schema.args.iter().zip(after) {
            if let (true, Some(tensor)) = (arg.mutated, after.tensor()) {
                names.push(arg.name.clone());
                results.push(tensor.clone());
            }
        }
        names
    }

    /// The results of a reference, with the copies of arguments that it has written in place where it returns none of them, as calls of the
    /// operator write theirs.
    fn with_written<'py>(
        &self,
        py: Python<'py>,
        result: Bound<'py, PyAny>,
        copies: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let definition = self.op().definition();
        let is_written = definition.schema.args.iter().map(|arg| arg.mutated);
        let written = copies.iter().zip(is_written).filter(|(_, is_written)| *is_written).map(|(copy, _)| copy.clone());
        let mut every: Vec<Bound<'py, PyAny>> = if result.is_none() {
            Vec::new()
        } else if result.is_instance_of::<PyTuple>() || result.is_instance_of::<PyList>() {
            result.try_iter()?.collect::<PyResult<_>>()?
        } else {
            vec![result.clone()]
        };
        let written: Vec<_> = written.filter(|copy| !copy.is_none()).collect();
        if written.is_empty() || every.len() != definition.output_count() {
            return Ok(result);
        }
        every.extend(written);
        Ok(PyTuple::new(py, every)?.into_any())
    }

    /// Notes outputs that were read before they were written; see [`Op::find_early_reads`](workbench::ops::Op::find_early_reads).
    fn find_early_reads(&self, py: Python<'_>, args: &[OwnedArg], report: &mut check::CheckReport) -> PyResult<()> {
        let objects = args.iter().map(|a| values::to_python(py, a)).collect::<PyResult<Vec<_>>>()?;
        let poll = Poll::new(false);
        let config = RunConfig { timeout: self.timeout(), interrupt: Some(&poll), queue: None };
        let op = self.op();
        self.with_arguments(py, &objects, || py.detach(|| op.find_early_reads(args, report, &config)))?;
        poll.into_raised().map_or(Ok(()), Err)
    }

    /// Calls the operator on owned arguments: poisoned outputs, interruptible.
    fn call_owned(&self, py: Python<'_>, args: &[OwnedArg]) -> PyResult<workbench::ops::Outputs> {
        let objects = args.iter().map(|a| values::to_python(py, a)).collect::<PyResult<Vec<_>>>()?;
        let poll = Poll::new(false);
        let config = RunConfig { timeout: self.timeout(), interrupt: Some(&poll), queue: None };
        let op = self.op();
        let called = self.with_arguments(py, &objects, || py.detach(|| op.call_with(args, &config)))?;
        match called {
            Ok(outputs) => Ok(outputs),
            Err(error) => Err(failed(py, error, poll)),
        }
    }
}

/// Checks an operator against a reference; `Op.check` is the public function. `args` are complete.
#[pyfunction]
#[pyo3(signature = (op, args, reference, rtol, atol, equal_nan, title))]
#[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
pub fn check_op(
    py: Python<'_>,
    op: &Bound<'_, NativeOp>,
    args: &Bound<'_, PyTuple>,
    reference: &Bound<'_, PyAny>,
    rtol: Option<f64>,
    atol: Option<f64>,
    equal_nan: bool,
    title: String,
) -> PyResult<CheckReport> {
    let op = op.get();
    let options = options(py, rtol, atol, equal_nan)?;
    let owned = op.owned(args)?;
    // The reference works on copies, so it may change them.
    let copies = owned.iter().map(|a| values::to_python(py, a)).collect::<PyResult<Vec<_>>>()?;
    let reference = reference.call1(PyTuple::new(py, &copies)?)?;
    let reference = op.with_written(py, reference, &copies)?;
    let (expected, wanted) = values::measured(&reference, "the result of the reference")?;
    let got = op.call_owned(py, &owned)?;
    output::write(py, &got.report.output, got.report.dropped)?;
    let mut actual = got.tensors;
    let names = op.result_names(&mut actual, &got.args);
    let precisions: Vec<_> = actual.iter().map(|t| t.dtype().into()).collect();
    let mut report = check_outputs_as(&title, (&actual, &precisions), (&expected, &wanted), &names, &options);
    if report.needs_writers() {
        let objects: Vec<_> = args.iter().collect();
        let named = op.with_arguments(py, &objects, || op.op().name_writers(owned.clone(), &mut report))?;
        named.map_err(|e| errors::to_py(py, e))?;
    }
    if !report.passed {
        op.find_early_reads(py, &owned, &mut report)?;
    }
    Ok(CheckReport(report))
}

/// Compares the results of two versions of an operator on the same arguments, both on poisoned outputs; the older one is the reference.
#[pyfunction]
#[pyo3(signature = (old, new, args, rtol, atol, equal_nan, title, against))]
#[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
pub fn check_versions(
    py: Python<'_>,
    old: &Bound<'_, NativeOp>,
    new: &Bound<'_, NativeOp>,
    args: &Bound<'_, PyTuple>,
    rtol: Option<f64>,
    atol: Option<f64>,
    equal_nan: bool,
    title: String,
    against: String,
) -> PyResult<CheckReport> {
    let options = options(py, rtol, atol, equal_nan)?;
    let (mut names, mut results) = (Vec::new(), Vec::new());
    for op in [old.get(), new.get()] {
        let got = op.call_owned(py, &op.owned(args)?)?;
        output::write(py, &got.report.output, got.report.dropped)?;
        let mut tensors = got.tensors;
        names = op.result_names(&mut tensors, &got.args);
        let precisions: Vec<Precision> = tensors.iter().map(|t| t.dtype().into()).collect();
        results.push((tensors, precisions));
    }
    let [(expected, wanted), (actual, precisions)] = &results[..] else { return Err(argument(py, "two versions")) };
    let mut report =
        check_outputs_as(&title, (actual, precisions), (expected, wanted), &names, &options).with_against(against);
    let (op, objects): (_, Vec<_>) = (new.get(), args.iter().collect());
    let owned = op.owned(args)?;
    if report.outputs.iter().any(|output| output.comparison.has_poison[1]) {
        let old = old.get();
        let noted = old.with_arguments(py, &objects, || old.op().note_left_out(owned.clone(), &mut report))?;
        noted.map_err(|e| errors::to_py(py, e))?;
    }
    if report.needs_writers() {
        let named = op.with_arguments(py, &objects, || op.op().name_writers(owned.clone(), &mut report))?;
        named.map_err(|e| errors::to_py(py, e))?;
    }
    if !report.passed {
        op.find_early_reads(py, &owned, &mut report)?;
    }
    Ok(CheckReport(report))
}

/// The writers of each array that a call writes; `Op.writer_map` is the public function. `args` are complete.
#[pyfunction]
pub fn writers_of(py: Python<'_>, op: &Bound<'_, NativeOp>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<NativeWriters>> {
    let (op, objects): (_, Vec<_>) = (op.get(), args.iter().collect());
    let owned = op.owned(args)?;
    let found = op.with_arguments(py, &objects, || op.op().writers_of(owned))?.map_err(|e| errors::to_py(py, e))?;
    Ok(found.into_iter().map(NativeWriters).collect())
}

/// The native half of `WriterMap`.
#[pyclass(module = "workbench", frozen)]
pub struct NativeWriters(Writers);

#[pymethods]
impl NativeWriters {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.shape)
    }

    #[getter]
    fn block(&self) -> [u32; 3] {
        self.0.block
    }

    /// Six int32 for each element: block and thread (x, y, z), -1 where nobody wrote.
    fn records<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let one = |writer: &Option<([u32; 3], [u32; 3])>| match writer {
            Some((block, thread)) => [block, thread].into_iter().flatten().map(|n| *n as i32).collect(),
            None => vec![-1; 6],
        };
        let bytes: Vec<u8> = self.0.writers.iter().flat_map(one).flat_map(i32::to_ne_bytes).collect();
        PyBytes::new(py, &bytes)
    }

    /// The map from an element on, by its number.
    fn plot(&self, at: Option<usize>) -> Svg {
        Svg(writer_map(&self.0, at))
    }
}

/// The work of a call, as the fields of `workbench.Work`; `Op.work` is the public function. `args` are complete.
#[pyfunction]
pub fn work_of<'py>(
    py: Python<'py>,
    op: &Bound<'py, NativeOp>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyDict>> {
    let (op, objects): (_, Vec<_>) = (op.get(), args.iter().collect());
    let owned = op.owned(args)?;
    let poll = Poll::new(false);
    let config = RunConfig { timeout: op.timeout(), interrupt: Some(&poll), queue: None };
    let native = op.op();
    let work = match op.with_arguments(py, &objects, || py.detach(|| native.work_of(owned, &config)))? {
        Ok(work) => work,
        Err(error) => return Err(failed(py, error, poll)),
    };
    let fields = PyDict::new(py);
    fields.set_item("flops", work.flops)?;
    fields.set_item("math_functions", work.math_functions)?;
    fields.set_item("bytes_read", work.bytes_read)?;
    fields.set_item("bytes_written", work.bytes_written)?;
    fields.set_item("bytes_accessed", work.bytes_accessed)?;
    fields.set_item("all_bytes_counted", work.all_bytes_counted)?;
    Ok(fields)
}

/// Compares the results of two callables; `workbench.check` is the public function.
#[pyfunction]
#[pyo3(signature = (actual, expected, rtol, atol, equal_nan, title, against=None))]
#[expect(clippy::too_many_arguments, reason = "one call from a few places in Python")]
pub fn check_results(
    py: Python<'_>,
    actual: &Bound<'_, PyAny>,
    expected: &Bound<'_, PyAny>,
    rtol: Option<f64>,
    atol: Option<f64>,
    equal_nan: bool,
    title: &str,
    against: Option<String>,
) -> PyResult<CheckReport> {
    let options = options(py, rtol, atol, equal_nan)?;
    let (actual, precisions) = values::measured(actual, "the result")?;
    let (expected, wanted) = values::measured(expected, "the result of the reference")?;
    let mut report = check_outputs_as(title, (&actual, &precisions), (&expected, &wanted), &[], &options);
    if let Some(against) = against {
        report = report.with_against(against);
    }
    Ok(CheckReport(report))
}

/// Checks a gradient by finite differences, of a callable: `forward(*arrays)` gives an array or several, `pullback(*arrays)` the map from
/// their gradients to those of the arrays.
#[pyfunction]
#[pyo3(signature = (forward, pullback, arrays, names, eps, atol, rtol, title, why_not_float64=None))]
#[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
pub fn gradcheck_call(
    py: Python<'_>,
    forward: &Bound<'_, PyAny>,
    pullback: &Bound<'_, PyAny>,
    arrays: Vec<Bound<'_, PyAny>>,
    names: Vec<String>,
    eps: f64,
    atol: f64,
    rtol: f64,
    title: &str,
    why_not_float64: Option<String>,
) -> PyResult<GradReport> {
    let mut owned = Vec::with_capacity(arrays.len());
    for (array, name) in arrays.iter().zip(&names) {
        owned.push(OwnedArg::Tensor(values::tensor(array, name)?));
    }
    let numpy = |args: &[OwnedArg]| args.iter().map(|a| values::to_python(py, a)).collect::<PyResult<Vec<_>>>();
    let mut forward = |args: &[OwnedArg]| {
        let run = || -> PyResult<Vec<Tensor>> {
            py.check_signals()?;
            Ok(values::measured(&forward.call1(PyTuple::new(py, numpy(args)?)?)?, "the result")?.0)
        };
        carried(py, run())
    };
    let mut backward = |args: &[OwnedArg], grads: &[Tensor]| {
        let run = || -> PyResult<Vec<Option<Tensor>>> {
            py.check_signals()?;
            let grads = grads.iter().map(|g| values::to_numpy(py, g)).collect::<PyResult<Vec<_>>>()?;
            let made = pullback.call1(PyTuple::new(py, numpy(args)?)?)?.call1(PyTuple::new(py, grads)?)?;
            let made = made.cast_into::<PyTuple>().map_err(PyErr::from)?;
            let one = |g: Bound<'_, PyAny>| {
                if g.is_none() { Ok(None) } else { values::tensor(&g, "a gradient").map(Some) }
            };
            made.iter().map(one).collect()
        };
        carried(py, run())
    };
    let options = GradOptions { eps, atol, rtol };
    match autograd::gradcheck::gradcheck(title, &mut forward, &mut backward, &owned, options) {
        Ok(mut report) => {
            if let Some(why) = why_not_float64 {
                report.precision = format!("float32 ({why})");
            }
            Ok(GradReport(report.with_names(names, Vec::new())))
        }
        Err(error) => Err(errors::to_py(py, error)),
    }
}

/// Checks a gradient by finite differences; `Op.gradcheck` is the public function. `pullback(*inputs)` gives the map from gradients of the
/// outputs to gradients of the inputs.
#[pyfunction]
#[pyo3(signature = (op, args, pullback, eps, atol, rtol, title))]
#[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
pub fn gradcheck_op(
    py: Python<'_>,
    op: &Bound<'_, NativeOp>,
    args: &Bound<'_, PyTuple>,
    pullback: &Bound<'_, PyAny>,
    eps: f64,
    atol: f64,
    rtol: f64,
    title: &str,
) -> PyResult<GradReport> {
    let op = op.get();
    let owned = op.owned(args)?;
    let mut forward = |args: &[OwnedArg]| {
        carried(py, py.check_signals())?;
        Ok(carried(py, op.call_owned(py, args))?.tensors)
    };
    let mut backward = |args: &[OwnedArg], grads: &[Tensor]| {
        let run = || -> PyResult<Vec<Option<Tensor>>> {
            py.check_signals()?;
            let inputs = args.iter().map(|a| values::to_python(py, a)).collect::<PyResult<Vec<_>>>()?;
            let grads = grads.iter().map(|g| values::to_numpy(py, g)).collect::<PyResult<Vec<_>>>()?;
            let made = pullback.call1(PyTuple::new(py, inputs)?)?.call1(PyTuple::new(py, grads)?)?;
            let made = made.cast_into::<PyTuple>().map_err(PyErr::from)?;
            made.iter()
                .map(|g| if g.is_none() { Ok(None) } else { values::tensor(&g, "a gradient").map(Some) })
                .collect()
        };
        carried(py, run())
    };
    let options = GradOptions { eps, atol, rtol };
    match gradcheck_wide(title, &mut forward, &mut backward, &owned, options) {
        Ok(report) => Ok(GradReport(op.op().named(report))),
        Err(error) => Err(errors::to_py(py, error)),
    }
}

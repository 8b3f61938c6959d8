//! Checks of operators and of callables, and gradient checks, with references and gradients in Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use workbench::autograd::{self, GradOptions, gradcheck::gradcheck_wide};
use workbench::check::{self, CheckOptions, Precision, Tolerance, check_outputs_as};
use workbench::ops::{OwnedArg, RunConfig};
use workbench::runtime::Tensor;

use crate::args::Keep;
use crate::bench::mime;
use crate::errors::{self, argument};
use crate::interrupt::Poll;
use crate::kernel::failed;
use crate::op::NativeOp;
use crate::output;
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

    /// Largest absolute error: inf if an infinity stands against another number; nan if a NaN disagrees, or if nothing could be compared
    /// (other shapes, say).
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

    /// The first mismatches, each with `output index got want abs rel ulp block thread unwritten`.
    #[getter]
    fn mismatches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let make = py.import("workbench.operators")?.getattr("Mismatch")?;
        let list = PyList::empty(py);
        for output in &self.0.outputs {
            for m in &output.comparison.first {
                let fields = PyDict::new(py);
                fields.set_item("output", &output.name)?;
                fields.set_item("index", PyTuple::new(py, &m.index)?)?;
                fields.set_item("got", m.actual)?;
                fields.set_item("want", m.expected)?;
                fields.set_item("abs", m.abs)?;
                fields.set_item("rel", m.rel)?;
                fields.set_item("ulp", m.ulp)?;
                fields.set_item("block", m.writer.map(|w| (w.block[0], w.block[1], w.block[2])))?;
                fields.set_item("thread", m.writer.map(|w| (w.thread[0], w.thread[1], w.thread[2])))?;
                fields.set_item("unwritten", m.unwritten)?;
                list.append(make.call((), Some(&fields))?)?;
            }
        }
        Ok(list)
    }

    /// The listed mismatches as a DataFrame of pandas, which has to be installed: the fields of `mismatches`, places as tuples.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> list(wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).to_pandas()["index"])  # doctest: +SKIP
    /// [(0,), (1,), (2,)]
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("workbench.tables")?.call_method1("mismatches_to_pandas", (self.mismatches(py)?,))
    }

    /// The listed mismatches as a DataFrame of polars, which has to be installed; see `to_pandas`. Places are lists.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).to_polars().height  # doctest: +SKIP
    /// 3
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("workbench.tables")?.call_method1("mismatches_to_polars", (self.mismatches(py)?,))
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
    let reference = reference.call1(PyTuple::new(py, copies)?)?;
    let (expected, wanted) = values::measured(&reference, "the result of the reference")?;
    let got = op.call_owned(py, &owned)?;
    output::write(py, &got.report.output, got.report.dropped)?;
    let mut actual = got.tensors;
    let names = op.result_names(&mut actual, &got.args);
    let precisions: Vec<_> = actual.iter().map(|t| t.dtype().into()).collect();
    let mut report = check_outputs_as(&title, (&actual, &precisions), (&expected, &wanted), &names, &options);
    if !report.passed {
        let objects: Vec<_> = args.iter().collect();
        let named = op.with_arguments(py, &objects, || op.op().name_writers(owned, &mut report))?;
        named.map_err(|e| errors::to_py(py, e))?;
    }
    Ok(CheckReport(report))
}

/// Compares the results of two versions of an operator on the same arguments, both on poisoned outputs; the older one is the reference.
#[pyfunction]
#[pyo3(signature = (old, new, args, rtol, atol, equal_nan, title))]
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
) -> PyResult<CheckReport> {
    let options = options(py, rtol, atol, equal_nan)?;
    let (mut names, mut results) = (Vec::new(), Vec::new());
    for op in [old.get(), new.get()] {
        let got = op.call_owned(py, &op.owned(args)?)?;
        output::write(py, &got.report.output, got.report.dropped)?;
        let mut tensors = got.tensors;
        if results.is_empty() {
            // Elements that neither version writes are no agreement.
            tensors.iter_mut().for_each(Tensor::spoil_poison);
        }
        names = op.result_names(&mut tensors, &got.args);
        let precisions: Vec<Precision> = tensors.iter().map(|t| t.dtype().into()).collect();
        results.push((tensors, precisions));
    }
    let [(expected, wanted), (actual, precisions)] = &results[..] else { return Err(argument(py, "two versions")) };
    let mut report = check_outputs_as(&title, (actual, precisions), (expected, wanted), &names, &options);
    if !report.passed {
        let (op, objects): (_, Vec<_>) = (new.get(), args.iter().collect());
        let owned = op.owned(args)?;
        let named = op.with_arguments(py, &objects, || op.op().name_writers(owned, &mut report))?;
        named.map_err(|e| errors::to_py(py, e))?;
    }
    Ok(CheckReport(report))
}

/// Compares the results of two callables; `workbench.check` is the public function.
#[pyfunction]
#[pyo3(signature = (actual, expected, rtol, atol, equal_nan, title))]
pub fn check_results(
    py: Python<'_>,
    actual: &Bound<'_, PyAny>,
    expected: &Bound<'_, PyAny>,
    rtol: Option<f64>,
    atol: Option<f64>,
    equal_nan: bool,
    title: &str,
) -> PyResult<CheckReport> {
    let options = options(py, rtol, atol, equal_nan)?;
    let (actual, precisions) = values::measured(actual, "the result")?;
    let (expected, wanted) = values::measured(expected, "the result of the reference")?;
    let report = check_outputs_as(title, (&actual, &precisions), (&expected, &wanted), &[], &options);
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
            Ok(GradReport(report))
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
        Ok(report) => Ok(GradReport(report)),
        Err(error) => Err(errors::to_py(py, error)),
    }
}

//! Timing: sweeps over sizes with Python callables as contestants, and Triton's `do_bench`.

use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use workbench::bench::{self, Asking, BenchConfig, CachePolicy, Contestant, Progress, ReturnMode};
use workbench::display::Show;
use workbench::runtime::{Error, Interrupt};

use crate::errors;
use crate::interrupt::Poll;
use crate::pictures::{self, Svg};

/// A mime bundle as a dict: always plain text, and HTML if there is some.
pub fn mime<'py>(py: Python<'py>, shown: &dyn Show) -> PyResult<Bound<'py, PyDict>> {
    let bundle = shown.bundle();
    let dict = PyDict::new(py);
    dict.set_item("text/plain", bundle.plain)?;
    if let Some(html) = bundle.html {
        dict.set_item("text/html", html)?;
    }
    Ok(dict)
}

/// The result of a sweep.
#[pyclass(module = "workbench", frozen)]
pub struct BenchReport(pub bench::BenchReport);

#[pymethods]
impl BenchReport {
    /// One dict per contestant and size: `name`, `size`, and in seconds per call `median`, `low` and `high` (the ends of
    /// the median's interval), `mean`, `min`, `max`; `samples`, `batch`, `bytes` and `flops` of a call or
    /// None, `tier` (that of the machine code which the samples ran, as `wide`; None where they launched nothing on the CPU), and all `times`.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in &self.0.rows {
            let dict = PyDict::new(py);
            dict.set_item("name", &row.name)?;
            dict.set_item("size", row.size)?;
            dict.set_item("median", row.median_s)?;
            dict.set_item("low", row.ci_low)?;
            dict.set_item("high", row.ci_high)?;
            dict.set_item("mean", row.mean_s)?;
            dict.set_item("min", row.min_s)?;
            dict.set_item("max", row.max_s)?;
            dict.set_item("samples", row.samples)?;
            dict.set_item("batch", row.batch)?;
            dict.set_item("bytes", row.bytes)?;
            dict.set_item("flops", row.flops)?;
            dict.set_item("tier", &row.tier)?;
            dict.set_item("times", row.times_s.clone())?;
            rows.append(dict)?;
        }
        Ok(rows)
    }

    /// The conclusions that the samples support, one sentence for each contestant after the first.
    #[getter]
    fn headlines(&self) -> Vec<String> {
        self.0.headlines()
    }

    /// A picture of it, with bands for the intervals.
    ///
    /// `kind` is "time" per call, "throughput" (needs `bytes`), "arithmetic" (operations per second; needs `flops`), "speedup" of the first
    /// contestant over each other, "samples" (each sample of one `size`, the last by default), "roofline" (needs both; measures the ceilings of
    /// this machine once) or "auto": throughput where the bytes of all rows are known, else time. Raises ArgumentError for another.
    ///
    /// >>> import workbench as wb
    /// >>> report = wb.bench({"sum": sum}, sizes=[10], make_args=lambda n: (range(n),), seconds_per_size=0.01)
    /// >>> report.plot()
    /// <picture of ... bytes of SVG>
    /// >>> report.plot("samples", size=10)
    /// <picture of ... bytes of SVG>
    #[pyo3(signature = (kind="auto", *, size=None))]
    fn plot(&self, py: Python<'_>, kind: &str, size: Option<u64>) -> PyResult<Svg> {
        pictures::benchmark(py, &self.0, kind, size)
    }

    /// The report with the bytes and the operations on floats of a call: callables take a contestant's name and a size and give a count or None.
    fn _with_work(&self, py: Python<'_>, bytes: Option<Py<PyAny>>, flops: Option<Py<PyAny>>) -> PyResult<BenchReport> {
        let mut report = self.0.clone();
        for row in &mut report.rows {
            let count =
                |function: &Py<PyAny>| function.call1(py, (row.name.as_str(), row.size))?.extract::<Option<u64>>(py);
            row.bytes = bytes.as_ref().map(count).transpose()?.flatten().or(row.bytes);
            row.flops = flops.as_ref().map(count).transpose()?.flatten().or(row.flops);
        }
        Ok(BenchReport(report))
    }

    /// All of it as JSON, for `to_json`.
    fn _json(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_json().map_err(|e| errors::to_py(py, e))
    }

    /// The notes for the reader.
    #[getter]
    fn _notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// The title; empty where it has none.
    #[getter]
    fn _title(&self) -> &str {
        &self.0.title
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
        // IPython filters by itself; the protocol only allows it here.
        let _ = (include, exclude);
        mime(py, &self.0)
    }
}

/// Times contestants over sizes; `workbench.bench` is the public function.
#[pyfunction]
#[pyo3(signature = (contestants, sizes, make_args, title, flush, seconds_per_size, max_seconds, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
pub fn sweep(
    py: Python<'_>,
    contestants: Vec<(String, Py<PyAny>)>,
    sizes: Vec<u64>,
    make_args: Py<PyAny>,
    title: String,
    flush: bool,
    seconds_per_size: f64,
    max_seconds: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<BenchReport> {
    let duration = |what: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| errors::argument(py, format!("{what} is {seconds} s; it must be 0 or more")))
    };
    let config = BenchConfig {
        target_time_per_size: duration("seconds_per_size", seconds_per_size)?,
        max_total: duration("max_seconds", max_seconds)?,
        cache: if flush { CachePolicy::Flush } else { CachePolicy::Warm },
        ..BenchConfig::default()
    };
    let names: Vec<String> = contestants.iter().map(|(name, _)| name.clone()).collect();
    // Contestants of a size share its arguments, so that none works on warmer memory than another.
    let mut made: Option<(u64, Bound<'_, PyTuple>)> = None;
    let make = |contestant: usize, size: u64| -> workbench::runtime::Result<Contestant<'_>> {
        let args = match &made {
            Some((n, args)) if *n == size => args.clone(),
            _ => {
                let args = arguments(py, make_args.bind(py), size).map_err(|e| errors::from_py(py, e))?;
                made = Some((size, args.clone()));
                args
            }
        };
        let function = contestants[contestant].1.bind(py).clone();
        Ok(Box::new(move || {
            let result = function.call1(args.clone()).and_then(|_| py.check_signals());
            result.map_err(|e| errors::from_py(py, e))
        }))
    };
    let poll = Poll::new(true);
    let ask = || go_on(py, &poll);
    let is_stop = |error: &Error| poll.has_raised() || errors::is_interrupt(py, error);
    let tell = |now: &Progress<'_>| {
        let Some(progress) = &progress else { return };
        let report = BenchReport(now.report.clone().with_title(title.clone()));
        show_line(py, progress.call1(py, (now.line(), report)));
    };
    let asking = Asking { ask: &ask, is_stop: &is_stop, tell: progress.is_some().then_some(&tell) };
    match bench::sweep_while(&names, &sizes, make, &config, &asking) {
        Ok(report) => {
            errors::forget();
            Ok(BenchReport(report.with_title(title)))
        }
        Err(error) => Err(poll.into_raised().unwrap_or_else(|| errors::to_py(py, error))),
    }
}

/// What came of showing a line of progress: one that cannot be shown is no reason to lose the measurement. A stop meanwhile is raised at the next
/// call.
pub(crate) fn show_line(py: Python<'_>, shown: PyResult<Py<PyAny>>) {
    if let Err(error) = shown
        && error.is_instance_of::<PyKeyboardInterrupt>(py)
    {
        let _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
    }
}

/// A time as reports show it: `4.30 µs`.
#[pyfunction]
pub fn format_seconds(seconds: f64) -> String {
    bench::units::seconds(seconds)
}

/// An error if the user wants the wait for code to stop; lets other threads run.
pub(crate) fn go_on(py: Python<'_>, poll: &Poll) -> workbench::runtime::Result<()> {
    let stop = || errors::from_py(py, PyKeyboardInterrupt::new_err("the measurement was interrupted"));
    if poll.interrupted() { Err(stop()) } else { Ok(()) }
}

/// The result of `make_args`, as the arguments of a call: a tuple as it is, anything else as the only one.
fn arguments<'py>(py: Python<'py>, make_args: &Bound<'py, PyAny>, size: u64) -> PyResult<Bound<'py, PyTuple>> {
    let made = make_args.call1((size,))?;
    match made.cast_into::<PyTuple>() {
        Ok(tuple) => Ok(tuple),
        Err(other) => PyTuple::new(py, [other.into_inner()]),
    }
}

/// Times of `fn` in milliseconds, summarised; `workbench.do_bench` is the public function.
#[pyfunction]
#[pyo3(signature = (function, warmup, rep, quantiles, return_mode))]
pub fn time_function(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    warmup: f64,
    rep: f64,
    quantiles: Vec<f64>,
    return_mode: &str,
) -> PyResult<Vec<f64>> {
    let poll = Poll::new(true);
    let run = || {
        let result = function.call0().and_then(|_| py.check_signals());
        result.map_err(|e| errors::from_py(py, e))
    };
    let measure = || {
        let mode = ReturnMode::from_name(return_mode)?;
        bench::summarize(&[], &quantiles, mode)?;
        bench::summarize(&bench::do_bench_while(run, warmup, rep, &|| go_on(py, &poll))?, &quantiles, mode)
    };
    let measured = measure();
    measured.map_err(|e| poll.into_raised().unwrap_or_else(|| errors::to_py(py, e)))
}

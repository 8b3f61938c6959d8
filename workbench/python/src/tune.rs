//! Tunings: timing by elimination, and the report that `wb.tune` shows.

use std::time::Duration;

use pyo3::prelude::*;
use workbench::bench::elimination::{self, Standing};
use workbench::bench::{Asking, Contestant};
use workbench::display::Show;
use workbench::runtime::Error;
use workbench::tune::{Parameter, Status, TuneReport, TuneRow};

use crate::bench::go_on;
use crate::errors;
use crate::interrupt::Poll;
use crate::pictures::Svg;

/// Times of a configuration: median, low, high (seconds), ratio, samples, round.
type Times = (f64, f64, f64, f64, usize, usize);

/// A configuration: texts of its values, status, message, times, machine.
type Row = (Vec<String>, String, String, Option<Times>, String);

/// The native half of `TuneReport`.
#[pyclass(module = "workbench", frozen)]
pub struct NativeTuneReport(TuneReport);

#[pymethods]
impl NativeTuneReport {
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        size: u64,
        params: Vec<(String, Vec<String>)>,
        rows: Vec<Row>,
        notes: Vec<String>,
    ) -> PyResult<Self> {
        let params = params.into_iter().map(|(name, values)| Parameter { name, values }).collect();
        let row = |(config, status, message, times, machine): Row| {
            let standing = |(median, low, high, ratio, samples, round): Times| Standing {
                median,
                low,
                high,
                ratio,
                samples,
                round,
            };
            let known = Status::from_name(&status);
            let status = known.ok_or_else(|| errors::argument(py, format!("a configuration is `{status}`")))?;
            Ok(TuneRow { config, status, message, standing: times.map(standing), machine })
        };
        let rows = rows.into_iter().map(row).collect::<PyResult<_>>()?;
        Ok(NativeTuneReport(TuneReport { name, size, params, rows, notes }))
    }

    /// The numbers of the rows that are right, the fastest first.
    fn ranked(&self) -> Vec<usize> {
        self.0.ranked()
    }

    /// The number of the fastest row.
    fn best(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.best().map_err(|e| errors::to_py(py, e))
    }

    fn plot(&self, py: Python<'_>, across: Option<&str>, down: Option<&str>) -> PyResult<Svg> {
        self.0.plot_of(across, down).map(Svg).map_err(|e| errors::to_py(py, e))
    }

    fn html(&self) -> String {
        self.0.bundle().html.unwrap_or_default()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// Times calls at one size by elimination. Gives the times of each, None where a stop came first, and true if a stop came.
#[pyfunction]
pub fn eliminate(
    py: Python<'_>,
    calls: Vec<Py<PyAny>>,
    size: u64,
    seconds: f64,
) -> PyResult<(Vec<Option<Times>>, bool)> {
    let poll = Poll::new(true);
    let make = |at: usize| -> workbench::runtime::Result<Contestant<'_>> {
        let function = calls[at].bind(py).clone();
        Ok(Box::new(move || {
            let result = function.call0().and_then(|_| py.check_signals());
            result.map_err(|e| errors::from_py(py, e))
        }))
    };
    let ask = || go_on(py, &poll);
    let is_stop = |error: &Error| poll.has_raised() || errors::is_interrupt(py, error);
    let asking = Asking { ask: &ask, is_stop: &is_stop, tell: None };
    let seconds = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    match elimination::eliminate(calls.len(), size, make, seconds, &asking) {
        Ok(outcome) => {
            errors::forget();
            let times = |s: Standing| (s.median, s.low, s.high, s.ratio, s.samples, s.round);
            Ok((outcome.standings.into_iter().map(|s| s.map(times)).collect(), outcome.stop.is_some()))
        }
        Err(error) => Err(poll.into_raised().unwrap_or_else(|| errors::to_py(py, error))),
    }
}

//! Tunings: timing by elimination, and the report that `wb.tune` shows.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use workbench::bench::elimination::{self, Doing, Standing};
use workbench::bench::{Asking, Contestant};
use workbench::display::Show;
use workbench::runtime::Error;
use workbench::tune::{Parameter, Status, TuneReport, TuneRow};

use crate::bench::{go_on, show_line};
use crate::errors;
use crate::interrupt::Poll;
use crate::pictures::Svg;

/// Times of a configuration: median, low, high (seconds), the ratio with its interval, samples, round.
type Times = (f64, f64, f64, f64, f64, f64, usize, usize);

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
            let standing = |(median, low, high, ratio, ratio_low, ratio_high, samples, round): Times| Standing {
                median,
                low,
                high,
                ratio,
                ratio_low,
                ratio_high,
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

    /// The numbers of the rows that are right and timed, the best first.
    fn ranked(&self) -> Vec<usize> {
        self.0.ranked()
    }

    /// The numbers of the rows that are not told apart from the best.
    fn tied(&self) -> Vec<usize> {
        self.0.tied()
    }

    /// The times of the rows as the table has them, in seconds; None for those that were not timed.
    fn times(&self) -> Vec<Option<f64>> {
        self.0.rows.iter().map(|row| self.0.time(row).map(|(time, _)| time)).collect()
    }

    /// The number of the best row.
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

/// Times calls, each with a name, at one size by elimination. `others` more are to come. `tell` is told what is done now, in a line. Gives the times of each, None where a stop
/// came before its first sample, and true if a stop came.
#[pyfunction]
pub fn eliminate(
    py: Python<'_>,
    calls: Vec<(String, Py<PyAny>)>,
    size: u64,
    seconds: f64,
    others: usize,
    tell: Py<PyAny>,
) -> PyResult<(Vec<Option<Times>>, bool)> {
    let poll = Poll::new(true);
    let (names, calls): (Vec<String>, Vec<Py<PyAny>>) = calls.into_iter().unzip();
    let make = |at: usize| -> workbench::runtime::Result<Contestant<'_>> {
        let function = calls[at].bind(py).clone();
        Ok(Box::new(move || {
            let result = function.call0().and_then(|_| py.check_signals());
            result.map_err(|e| errors::from_py(py, e))
        }))
    };
    let ask = || go_on(py, &poll);
    let is_stop = |error: &Error| poll.has_raised() || errors::is_interrupt(py, error);
    let begun = Instant::now();
    let told = |doing: &Doing<'_>| {
        let line = doing.line_with_left(begun.elapsed().as_secs_f64(), others);
        show_line(py, tell.call1(py, (line,)));
    };
    let asking = Asking { ask: &ask, is_stop: &is_stop, tell: None };
    let seconds = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    match elimination::eliminate(&names, size, make, seconds, &asking, &told) {
        Ok(outcome) => {
            errors::forget();
            let times = |s: Standing| (s.median, s.low, s.high, s.ratio, s.ratio_low, s.ratio_high, s.samples, s.round);
            Ok((outcome.standings.into_iter().map(|s| s.map(times)).collect(), outcome.stop.is_some()))
        }
        Err(error) => Err(poll.into_raised().unwrap_or_else(|| errors::to_py(py, error))),
    }
}

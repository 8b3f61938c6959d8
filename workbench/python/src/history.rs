//! Versions of operators; `Op.history` is the public property.

use std::time::{Duration, SystemTime};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use workbench::ops::history;
use workbench::plot;

use crate::bench::mime;
use crate::errors;
use crate::pictures::Svg;

/// The versions of an operator, or of a cell's kernel.
#[pyclass(module = "workbench", frozen)]
pub struct NativeHistory(pub history::History);

#[pymethods]
impl NativeHistory {
    /// The qualified name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// One dict per version, the oldest first: `number`, `made` (seconds since 1970), `schema`, `text`, `options`, `changes` (those that changed),
    /// `restores` (a number or None), `check` (None or a dict of `passed`, `mismatches`, `max_share`), `times` (dicts of `size`, and in seconds
    /// `median`, `low`, `high`).
    #[getter]
    fn versions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let versions = PyList::empty(py);
        for version in &self.0.versions {
            let dict = PyDict::new(py);
            dict.set_item("number", version.number)?;
            let made = version.made.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            dict.set_item("made", made.as_secs_f64())?;
            dict.set_item("schema", &version.schema)?;
            dict.set_item("text", &version.text)?;
            dict.set_item("options", &version.options)?;
            dict.set_item("changes", &version.changes)?;
            dict.set_item("restores", version.restores)?;
            let check = version.check.as_ref().map(|check| -> PyResult<_> {
                let dict = PyDict::new(py);
                dict.set_item("passed", check.passed)?;
                dict.set_item("mismatches", check.mismatches)?;
                dict.set_item("max_share", check.max_share)?;
                Ok(dict)
            });
            dict.set_item("check", check.transpose()?)?;
            let times = PyList::empty(py);
            for time in &version.times {
                let dict = PyDict::new(py);
                dict.set_item("size", time.size)?;
                dict.set_item("median", time.seconds)?;
                dict.set_item("low", time.low)?;
                dict.set_item("high", time.high)?;
                times.append(dict)?;
            }
            dict.set_item("times", times)?;
            versions.append(dict)?;
        }
        Ok(versions)
    }

    /// The difference between the texts of two versions, as `diff` shows it.
    fn difference(&self, py: Python<'_>, old: u32, new: u32) -> PyResult<String> {
        self.0.difference(old, new).map(|found| found.to_string()).map_err(|e| errors::to_py(py, e))
    }

    /// The difference between the texts of two versions, as a card.
    fn difference_card(&self, py: Python<'_>, old: u32, new: u32) -> PyResult<String> {
        self.0.difference_card(old, new).map_err(|e| errors::to_py(py, e))
    }

    /// All of it as JSON, for `to_json`.
    fn _json(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_json().map_err(|e| errors::to_py(py, e))
    }

    /// The picture of its versions, for `plot`.
    fn _plot(&self) -> Svg {
        Svg(plot::versions(&self.0))
    }

    /// The card of all versions, with the times at which they were made, for a file.
    fn _file_html(&self) -> String {
        self.0.file_html()
    }

    /// The text of all versions, as `_file_html`.
    fn _file_text(&self) -> String {
        self.0.file_text()
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

/// The history of a name by its texts alone, each with the time at which it was made, in seconds since 1970.
#[pyfunction]
pub fn history_of_texts(name: String, texts: Vec<(f64, String)>) -> NativeHistory {
    let made = |seconds: f64| SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let texts = texts.into_iter().map(|(seconds, text)| (made(seconds), text));
    NativeHistory(history::History::of_texts(name, texts))
}

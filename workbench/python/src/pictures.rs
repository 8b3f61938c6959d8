//! Pictures for Python: the class, its files, and the words that choose what a picture shows.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use workbench::check::report::OutputCheck;
use workbench::display::{self, Column, Table};
use workbench::plot::{self, Case, CaseOutcome, CountScale, DepthScale, DifferenceKind, ErrorKind, Quantity};

use crate::bench::mime;
use crate::errors::argument;

/// A picture, as SVG text. It shows itself in notebooks.
#[pyclass(module = "workbench", frozen)]
pub struct Svg(pub plot::Svg);

#[pymethods]
impl Svg {
    /// Writes the picture to a path ending in `.svg`, or in `.png` (with twice the pixels of its size), which needs the package `resvg-py`.
    ///
    /// `page` is its ground: "light" (white) or "dark"; None leaves it transparent, in middle tones for either.
    ///
    /// Raises ArgumentError for any other ending or page, ImportError where the package is missing, and OSError if the file cannot be written.
    ///
    /// >>> import pathlib, tempfile, numpy as np, workbench as wb
    /// >>> picture = wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).plot()
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     picture.save(pathlib.Path(folder) / "difference.svg")
    /// ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    /// ['difference.svg']
    #[pyo3(signature = (path, *, page="light"))]
    pub fn save(&self, py: Python<'_>, path: PathBuf, page: Option<&str>) -> PyResult<()> {
        let pages = [("light", plot::Page::Light), ("dark", plot::Page::Dark)];
        let page = page.map(|word| chosen(py, "page", word, &pages)).transpose()?;
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let content = match (ending.as_str(), page) {
            ("svg", Some(page)) => PyBytes::new(py, self.0.on_page(page).as_str().as_bytes()).into_any(),
            ("svg", None) => PyBytes::new(py, self.0.as_str().as_bytes()).into_any(),
            ("png", _) => {
                let text = page.map_or_else(|| self.0.without_variables(), |page| self.0.on_page(page).into_string());
                py.import("workbench._png")?.call_method1("png_of", (text,))?
            }
            _ => return Err(argument(py, format!("`{}` ends in neither `.svg` nor `.png`", path.display()))),
        };
        py.import("pathlib")?.getattr("Path")?.call1((path,))?.call_method1("write_bytes", (content,))?;
        Ok(())
    }

    fn __str__(&self) -> &str {
        self.0.as_str()
    }

    fn __repr__(&self) -> String {
        format!("<picture of {} bytes of SVG>", self.0.as_str().len())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let bundle = mime(py, &self.0)?;
        Ok(bundle.get_item("text/html")?.map_or_else(|| py.None(), Bound::unbind))
    }
}

/// The value that a word stands for; ArgumentError with all words for another.
fn chosen<T: Copy>(py: Python<'_>, what: &str, word: &str, words: &[(&str, T)]) -> PyResult<T> {
    words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = words.iter().map(|(name, _)| format!("{name:?}")).collect();
        argument(py, format!("{what} is {word:?}; it is one of {}", names.join(", ")))
    })
}

/// What [`map`] shows.
pub struct MapWords<'a> {
    pub kind: &'a str,
    pub scale: &'a str,
    pub slice: Option<Vec<i64>>,
}

/// The map of the differences of an output.
pub fn map(py: Python<'_>, output: &OutputCheck, words: MapWords<'_>) -> PyResult<Svg> {
    let kinds = [
        ("signed", DifferenceKind::Signed),
        ("absolute", DifferenceKind::Absolute),
        ("relative", DifferenceKind::Relative),
        ("tolerance", DifferenceKind::Tolerance),
    ];
    let scales = [
        ("auto", DepthScale::Auto),
        ("linear", DepthScale::Linear),
        ("sqrt", DepthScale::SquareRoot),
        ("log", DepthScale::Log),
    ];
    let kind = chosen(py, "kind", words.kind, &kinds)?;
    let what = match kind {
        DifferenceKind::Signed => "difference from the reference",
        DifferenceKind::Absolute => "absolute difference from the reference",
        DifferenceKind::Relative => "relative difference from the reference",
        DifferenceKind::Tolerance => "difference from the reference in tolerances",
    };
    let mut options = output.picture_options(what);
    options.kind = kind;
    options.scale = chosen(py, "scale", words.scale, &scales)?;
    let lead = output.shape.len().saturating_sub(2);
    if let Some(slice) = words.slice {
        let shape = &output.shape;
        let inside = |(i, dim): (&i64, &usize)| usize::try_from(*i).ok().filter(|i| i < dim);
        let index: Option<Vec<usize>> = slice.iter().zip(&shape[..lead]).map(inside).collect();
        options.slice = index.filter(|_| slice.len() == lead).ok_or_else(|| {
            let ends: Vec<String> = shape[..lead].iter().map(|dim| format!("0 to {}", dim.saturating_sub(1))).collect();
            let wanted = if lead == 0 { "none".to_owned() } else { ends.join(", ") };
            argument(
                py,
                format!(
                    "slice is {slice:?}; it is an index into all but the last two dimensions of {shape:?}: {wanted}"
                ),
            )
        })?;
    }
    Ok(Svg(plot::difference_map(&output.actual, &output.expected, &output.shape, &options)))
}

/// The histogram of the errors of an output.
pub fn histogram(py: Python<'_>, output: &OutputCheck, kind: &str, scale: &str) -> PyResult<Svg> {
    let kinds = [("ulp", ErrorKind::Ulp), ("absolute", ErrorKind::Absolute), ("relative", ErrorKind::Relative)];
    let scales = [("auto", CountScale::Auto), ("linear", CountScale::Linear), ("log", CountScale::Log)];
    let (kind, scale) = (chosen(py, "kind", kind, &kinds)?, chosen(py, "scale", scale, &scales)?);
    if kind == ErrorKind::Ulp && !output.dtype.contains("float") {
        return Err(argument(py, format!("{} has no last place; kind is \"absolute\" or \"relative\"", output.dtype)));
    }
    let options = output.picture_options("");
    let all = output.actual.iter().zip(&output.expected).enumerate();
    let pairs = || all.clone().filter(|(i, _)| options.is_written(*i)).map(|(_, pair)| pair);
    let size =
        |a: f64, e: f64| if a == e || (output.equal_nan && a.is_nan() && e.is_nan()) { 0.0 } else { (a - e).abs() };
    let errors = match kind {
        ErrorKind::Ulp => output.written_ulps(),
        ErrorKind::Absolute => pairs().map(|(a, e)| size(*a, *e)).collect(),
        // Zero less zero is no error.
        ErrorKind::Relative => {
            pairs().map(|(a, e)| if size(*a, *e) == 0.0 { 0.0 } else { size(*a, *e) / e.abs() }).collect()
        }
    };
    Ok(Svg(plot::error_histogram(&errors, kind, scale, &output.name)))
}

/// The picture of a benchmark that a word names.
pub fn benchmark(
    py: Python<'_>,
    report: &workbench::bench::BenchReport,
    kind: &str,
    size: Option<u64>,
) -> PyResult<Svg> {
    let words = [
        ("auto", Some(Quantity::Auto)),
        ("time", Some(Quantity::Time)),
        ("throughput", Some(Quantity::Throughput)),
        ("arithmetic", Some(Quantity::Arithmetic)),
        ("speedup", Some(Quantity::SpeedUp)),
        ("roofline", None),
        ("samples", None),
    ];
    let quantity = chosen(py, "kind", kind, &words)?;
    let sizes = report.sizes();
    if size.is_some() && kind != "samples" {
        return Err(argument(py, format!("size is about kind=\"samples\", and kind is {kind:?}")));
    }
    if let Some(size) = size.filter(|size| !sizes.contains(size)) {
        return Err(argument(py, format!("size is {size}, and {sizes:?} were measured")));
    }
    Ok(Svg(match quantity {
        Some(quantity) => plot::sweep(report, quantity),
        None if kind == "samples" => plot::samples(report, size.or(sizes.last().copied()).unwrap_or(0)),
        None => {
            let ceilings = py.detach(workbench::bench::Ceilings::this);
            plot::roofline(report, &ceilings)
        }
    }))
}

/// A card for a report that Python makes: facts by name and value, a table whose columns are numbers where their flag says so, a picture.
#[pyfunction]
#[pyo3(signature = (title, facts, columns, rows, picture, passed=None))]
pub fn report_card(
    title: &str,
    facts: Vec<(String, String)>,
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
    picture: Option<&Svg>,
    passed: Option<bool>,
) -> String {
    let columns = columns.into_iter().map(|(title, numeric)| Column { title, numeric }).collect();
    display::report_card(title, passed, &facts, &Table { columns, rows }, picture.map_or("", |p| p.0.as_str()))
}

/// The picture of a sweep over shapes and dtypes: a case is its group, its label, its outcome ("ok", "wrong", "failed" or "unknown") and the text
/// under the pointer.
#[pyfunction]
pub fn case_picture(
    py: Python<'_>,
    title: &str,
    caption: &str,
    cases: Vec<(String, String, String, String)>,
) -> PyResult<Svg> {
    let case = |(group, label, outcome, tip): (String, String, String, String)| {
        let words = [
            ("ok", CaseOutcome::Right),
            ("wrong", CaseOutcome::Wrong),
            ("failed", CaseOutcome::Failed),
            ("unknown", CaseOutcome::Unknown),
        ];
        Ok(Case { group, label, outcome: chosen(py, "a case", &outcome, &words)?, tip })
    };
    let cases = cases.into_iter().map(case).collect::<PyResult<Vec<_>>>()?;
    Ok(Svg(plot::cases(title, caption, &cases)))
}

/// Pictures as one, each below the one before.
#[pyfunction]
pub fn stacked_pictures(label: &str, pictures: Vec<PyRef<'_, Svg>>) -> Svg {
    let pictures: Vec<plot::Svg> = pictures.iter().map(|picture| picture.0.clone()).collect();
    Svg(plot::Svg::stacked(label, &pictures))
}

/// The picture of a text, line by line: of a report that has nothing to draw.
#[pyfunction]
pub fn text_picture(label: &str, text: &str) -> Svg {
    Svg(plot::text(label, text))
}

/// The numbers of a benchmark's ceilings, for Python.
#[pyfunction]
pub fn ceilings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let ceilings = py.detach(workbench::bench::Ceilings::measured_again);
    let dict = PyDict::new(py);
    dict.set_item("bytes_per_second", ceilings.bytes_per_s)?;
    dict.set_item("flops_per_second", ceilings.flops_per_s)?;
    Ok(dict)
}

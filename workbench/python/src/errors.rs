//! Rust errors as Python exceptions, in one exhaustive match; and Python exceptions that pass through Rust and back.
//!
//! The exception classes are in `workbench/errors.py`: two of them have two bases, which creation in C does not allow.

use std::cell::RefCell;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use workbench::diagnostic::{Diagnostic, Severity};
use workbench::runtime::{Error, Fault, FaultKind, fault_display};
use workbench::source::{SourceMap, Span};

thread_local! {
    /// The exception of a user's callable, while an [`Error::Other`] with its text travels through Rust.
    static PENDING: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// The Python module that declares the exceptions.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    crate::gil::once(py, &MODULE, || Ok(py.import("workbench.errors")?.into_any().unbind()))
}

/// The Python exception of an error.
pub fn to_py(py: Python<'_>, error: Error) -> PyErr {
    let drawn = |error: &Error| (error.to_string(), fault_display::error_html(error));
    let made = match error {
        Error::Compile { ref diagnostics, ref sources } => compile_error(py, diagnostics, sources, drawn(&error)),
        Error::Fault(ref fault) => match fault.kind {
            FaultKind::Interrupted => return PyKeyboardInterrupt::new_err("the launch was interrupted"),
            FaultKind::Raised(_) => fault_error(py, "make_raised", fault, drawn(&error)),
            FaultKind::Timeout => fault_error(py, "make_timeout", fault, drawn(&error)),
            _ => fault_error(py, "make_fault", fault, drawn(&error)),
        },
        Error::Argument(message) => one(py, "make_argument_error", &message),
        Error::DeviceUnavailable(message) => one(py, "make_device_unavailable", &message),
        Error::Other(message) => match take_pending(&message) {
            Some(err) => return err,
            None => return PyRuntimeError::new_err(message),
        },
    };
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(err) => err,
    }
}

/// An `ArgumentError` with this text.
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_py(py, Error::Argument(message.into()))
}

/// An error for a user's exception, which [`to_py`] turns back into the same exception.
pub fn from_py(py: Python<'_>, err: PyErr) -> Error {
    let message = err.value(py).to_string();
    PENDING.with(|slot| *slot.borrow_mut() = Some((message.clone(), err)));
    Error::Other(message)
}

/// True if an error comes of the user's wish to stop.
pub fn is_interrupt(py: Python<'_>, error: &Error) -> bool {
    match error {
        Error::Fault(fault) => fault.kind == FaultKind::Interrupted,
        Error::Other(message) => PENDING.with(|slot| {
            let stored = slot.borrow();
            stored.as_ref().is_some_and(|(text, err)| message == text && err.is_instance_of::<PyKeyboardInterrupt>(py))
        }),
        _ => false,
    }
}

/// Forgets the stored exception, whose error went no further.
pub fn forget() {
    PENDING.with(|slot| slot.borrow_mut().take());
}

/// The stored exception, if a message that comes out of Rust contains its text.
fn take_pending(message: &str) -> Option<PyErr> {
    PENDING.with(|slot| {
        let (text, err) = slot.borrow_mut().take()?;
        (message == text || !text.is_empty() && message.contains(&text)).then_some(err)
    })
}

fn one<'py>(py: Python<'py>, maker: &str, message: &str) -> PyResult<Bound<'py, PyAny>> {
    module(py)?.call_method1(maker, (message,))
}

fn fault_error<'py>(
    py: Python<'py>,
    maker: &str,
    fault: &Fault,
    (text, html): (String, String),
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    let place = fault.sources.line_column(fault.span);
    fields.set_item("kind", fault.kind.name())?;
    fields.set_item("kernel", &fault.kernel)?;
    fields.set_item("line", place.map(|p| p.line))?;
    fields.set_item("column", place.map(|p| p.column))?;
    fields.set_item("block", (fault.block[0], fault.block[1], fault.block[2]))?;
    fields.set_item("thread", (fault.thread[0], fault.thread[1], fault.thread[2]))?;
    fields.set_item("detail", &fault.detail)?;
    module(py)?.call_method1(maker, (text, fields, html))
}

fn compile_error<'py>(
    py: Python<'py>,
    diags: &[Diagnostic],
    sources: &SourceMap,
    (text, html): (String, String),
) -> PyResult<Bound<'py, PyAny>> {
    module(py)?.call_method1("make_compile_error", (text, diagnostics(py, diags, sources)?, html))
}

/// Diagnostics as a list of dicts, which `errors.py` turns into objects.
pub fn diagnostics<'py>(py: Python<'py>, diags: &[Diagnostic], sources: &SourceMap) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for diag in diags {
        let item = PyDict::new(py);
        item.set_item("code", diag.code.id())?;
        item.set_item("severity", if diag.severity == Severity::Error { "error" } else { "warning" })?;
        item.set_item("message", &diag.message)?;
        item.set_item("label", &diag.label)?;
        item.set_item("help", diag.help.as_deref())?;
        place(&item, diag.span, sources)?;
        list.append(item)?;
    }
    Ok(list)
}

/// Sets `file`, `line`, `column`, `end` and `text` of a span.
fn place(item: &Bound<'_, PyDict>, span: Span, sources: &SourceMap) -> PyResult<()> {
    let (Some(file), Some(start)) = (sources.file(span.file), sources.line_column(span)) else {
        for key in ["file", "line", "column", "end", "text"] {
            item.set_item(key, item.py().None())?;
        }
        return Ok(());
    };
    let end = file.line_column(span.end.max(span.start));
    item.set_item("file", &file.name)?;
    item.set_item("line", start.line)?;
    item.set_item("column", start.column)?;
    item.set_item("end", (end.line, end.column))?;
    item.set_item("text", file.line(start.line))
}

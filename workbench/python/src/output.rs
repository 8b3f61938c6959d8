//! Writes printf records to `sys.stdout`, so that they appear in the cell, in order with Python's own output.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use workbench::runtime::PrintfRecord;
use workbench::runtime::output_text;

/// Writes the records, and a line with the number dropped.
pub fn write(py: Python<'_>, records: &[PrintfRecord], dropped: u64) -> PyResult<()> {
    if records.is_empty() && dropped == 0 {
        return Ok(());
    }
    let text = output_text(records, dropped);
    let stdout = py.import("sys")?.getattr("stdout")?;
    // `sys.stdout` is None in a process without a console.
    if !stdout.is_none() {
        stdout.call_method1("write", (text,))?;
    }
    Ok(())
}

/// Emits the warnings of host code.
pub fn warn(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    for text in warnings {
        let text = std::ffi::CString::new(text.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}

//! Writes printf records to `sys.stdout`, so that they appear in the cell, in order with Python's own output. How much of it a cell shows is
//! decided in `workbench/_printed.py`.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use workbench::runtime::PrintfRecord;
use workbench::runtime::output_text;

/// Writes the records, and a line with the number dropped.
pub fn write(py: Python<'_>, records: &[PrintfRecord], dropped: u64) -> PyResult<()> {
    if records.is_empty() && dropped == 0 {
        return Ok(());
    }
    py.import("workbench._printed")?.call_method1("write", (output_text(records, dropped),))?;
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

//! printf records to `sys.stdout`, so that they appear in the cell, in order with Python's own output.

use pyo3::prelude::*;
use workbench::runtime::PrintfRecord;

/// Writes the records, and a line with the number dropped.
pub fn write(py: Python<'_>, records: &[PrintfRecord], dropped: u64) -> PyResult<()> {
    if records.is_empty() && dropped == 0 {
        return Ok(());
    }
    let mut text = String::with_capacity(records.iter().map(|r| r.text.len()).sum());
    for record in records {
        text.push_str(&record.text);
    }
    if dropped > 0 {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[workbench: {dropped} more printf records were dropped]\n"));
    }
    let stdout = py.import("sys")?.getattr("stdout")?;
    // `sys.stdout` is None in a process without a console.
    if !stdout.is_none() {
        stdout.call_method1("write", (text,))?;
    }
    Ok(())
}

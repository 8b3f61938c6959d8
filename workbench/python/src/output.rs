//! Writes printf records to `sys.stdout`, so that they appear in the cell, in order with Python's own output. How much of it a cell shows, and
//! how much is kept for `wb.printed_table`, is decided in `workbench/_printf_output.py`.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use workbench::runtime::PrintfRecord;
use workbench::runtime::output_text;

/// The number of a record's kernel where host code printed it.
const NO_KERNEL: u32 = u32::MAX;

/// Writes the records, and a line with the number dropped.
pub fn write(py: Python<'_>, records: &[PrintfRecord], dropped: u64) -> PyResult<()> {
    if records.is_empty() && dropped == 0 {
        return Ok(());
    }
    let (places, kernels) = places(records);
    let arguments = (output_text(records, dropped), PyBytes::new(py, &places), kernels, dropped);
    py.import("workbench._printf_output")?.call_method1("write", arguments)?;
    Ok(())
}

/// The places of records as Python keeps them, eight 32-bit numbers each, little-endian: the characters of its text, the number of its kernel
/// among the names that come second, its block and its thread. A Python object for each of a hundred thousand records would take longer than the
/// launch.
fn places(records: &[PrintfRecord]) -> (Vec<u8>, Vec<&str>) {
    let mut kernels: Vec<&str> = Vec::new();
    let mut bytes = Vec::with_capacity(32 * records.len());
    for PrintfRecord { block, thread, text, kernel } in records {
        let number = match kernel.as_deref() {
            None => NO_KERNEL,
            Some(name) => {
                let known = kernels.iter().position(|known| *known == name);
                known.unwrap_or_else(|| {
                    kernels.push(name);
                    kernels.len() - 1
                }) as u32
            }
        };
        let characters = text.chars().count() as u32;
        for word in [characters, number].iter().chain(block).chain(thread) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    (bytes, kernels)
}

/// Emits the warnings of host code.
pub fn warn(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    for text in warnings {
        let text = std::ffi::CString::new(text.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}

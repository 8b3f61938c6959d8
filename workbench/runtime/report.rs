//! Reports: the output that a launch or a call of host code that went well gives besides its results.

use crate::back::PrintfRecord;

/// The report of a launch that went well.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// printf records in (block, thread, time) order.
    pub output: Vec<PrintfRecord>,
    /// The number of records dropped past the bound.
    pub dropped: u64,
    /// The warnings of a host function (`TORCH_WARN`).
    pub warnings: Vec<String>,
}

impl Report {
    /// All output joined, with a line that tells the number of records dropped.
    pub fn text(&self) -> String {
        output_text(&self.output, self.dropped)
    }
}

/// printf records joined, with a line that tells the number dropped.
pub fn output_text(output: &[PrintfRecord], dropped: u64) -> String {
    let mut text: String = output.iter().map(|r| r.text.as_str()).collect();
    if dropped > 0 {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{dropped} more printf calls were dropped]\n"));
    }
    text
}

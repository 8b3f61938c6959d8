//! Diagnostics as terminal text.

use super::Diagnostic;
use crate::source::SourceMap;

/// All diagnostics, one below the other.
pub fn render(diags: &[Diagnostic], sources: &SourceMap) -> String {
    let lines: Vec<String> =
        diags.iter().map(|d| format!("{}: {}: {}", sources.place(d.span), d.code, d.message)).collect();
    lines.join("\n")
}

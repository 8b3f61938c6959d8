//! Diagnostics as HTML.

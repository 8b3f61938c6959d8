//! Pictures: timing sweeps, maps of differences, histograms of errors. One interface: data in, [`Svg`] out.
//!
//! Everything is drawn with plotters on our own backend (`canvas`), which writes *roles* (ink, grid, first contestant, ...) instead of
//! colours; [`theme`] defines the look of each role. A picture works on its own, as a file or an `<img>`, in tones that are readable on
//! white and on black; in a card of [`crate::display`] the same text takes the page's colours through CSS variables. Fonts are the
//! reader's, so text cannot be measured: margins are generous.
//!
//! No function here fails: data that cannot be drawn gives a picture with a message.

mod axis;
mod canvas;
mod cases;
mod compare;
pub mod difference;
pub mod histogram;
pub mod landscape;
mod marks;
mod roofline;
mod samples;
mod save;
mod scatter;
pub mod sparkline;
pub mod sweep;
mod text;
pub mod theme;
mod versions;
mod writers;

pub use cases::{Case, CaseOutcome, cases};
pub use difference::{DepthScale, DifferenceKind, DifferenceOptions, Side, Slice, difference_map, difference_slices};
pub use histogram::{CountScale, ErrorKind, error_histogram};
pub use roofline::roofline;
pub use samples::samples;
pub use scatter::error_scatter;
pub use sweep::{Quantity, sweep};
pub use text::text;
pub use versions::versions;
pub use writers::{Writers, writer_map};

use std::fmt;

/// A picture as SVG text, complete and self-contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Svg(String);

impl Svg {
    /// The text, for a file, an `image/svg+xml` bundle or for putting into a page.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text with the colours of a picture alone, for readers that know no CSS variables.
    pub fn without_variables(&self) -> String {
        // A rule has the plain colour first; what follows it with a variable goes.
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find(":var(--wb-") {
            let from = rest[..at].rfind(';').unwrap_or(at);
            let to = rest[at..].find(')').map_or(rest.len(), |end| at + end + 1);
            out.push_str(&rest[..from]);
            rest = &rest[to..];
        }
        out.push_str(rest);
        out
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;

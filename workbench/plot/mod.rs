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
mod compare;
pub mod difference;
pub mod histogram;
mod save;
pub mod sparkline;
pub mod sweep;
pub mod theme;

pub use difference::{DifferenceKind, DifferenceOptions, difference_map};
pub use histogram::{ErrorKind, error_histogram};
pub use sweep::sweep;

use std::fmt;

/// A picture as SVG text, complete and self-contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Svg(String);

impl Svg {
    /// The text, for a file, an `image/svg+xml` bundle or for putting into a page.
    pub fn as_str(&self) -> &str {
        &self.0
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

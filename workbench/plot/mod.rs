//! Pictures: timing sweeps, maps of differences, histograms of errors. One interface: data in, [`Svg`] out.
//!
//! Everything is drawn with plotters on our own backend (`canvas`), which writes *roles* (ink, grid, first contestant, ...) instead of
//! colours; [`theme`] defines the look of each role. A picture works on its own, as an `<img>`, in tones that are readable on white and on black; a
//! file has a page with a ground of its own ([`Svg::on_page`]); in a card of [`crate::display`] the same text takes the page's colours through CSS variables. Fonts are the
//! reader's, so text cannot be measured: margins are generous.
//!
//! No function here fails: data that cannot be drawn gives a picture with a message.

mod axis;
mod canvas;
mod cases;
mod contestants;
pub mod difference;
pub mod histogram;
pub mod landscape;
mod marks;
mod roofline;
mod samples;
mod save;
mod scatter;
pub mod sparkline;
mod svg;
pub mod sweep;
mod text;
pub mod theme;
mod versions;
mod writers;

pub use cases::{Case, CaseOutcome, cases};
pub use difference::{
    DepthScale, DifferenceKind, DifferenceOptions, LeftOut, Side, Slice, difference_map, difference_slices,
};
pub use histogram::{CountScale, ErrorKind, error_histogram};
pub use roofline::roofline;
pub use samples::samples;
pub use scatter::error_scatter;
pub use svg::Svg;
pub use sweep::{Quantity, sweep};
pub use text::text;
pub use theme::Page;
pub use versions::versions;
pub use writers::{Writers, writer_map};

#[cfg(test)]
mod tests;

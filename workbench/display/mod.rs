//! Display of results: as text, as HTML with pictures, in Python and in Rust notebooks.
//!
//! A result implements [`Show`]; [`MimeBundle`] is what a notebook gets. [`html`] holds the parts of cards and [`card`] the cards;
//! [`evcxr`] prints bundles in the way the Rust kernel reads them.

pub mod card;
pub mod evcxr;
mod history;
pub mod html;
pub mod mime;
mod progress;
mod reports;
pub mod text_diff;

pub use card::{bench_card, check_card, message_card, report_card};
pub use html::{Column, Table};
pub use mime::{MimeBundle, Show};

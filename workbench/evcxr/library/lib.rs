//! Workbench for the cells of a Rust notebook.

pub use ::library::*;

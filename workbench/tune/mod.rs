//! Tuning: the configurations of an operator, each checked, those that are right timed in turns, the best made an operator.
//!
//! [`tune()`] runs one; [`report`] says what came of it. Times are measured by elimination (`bench/elimination.rs`), in groups of
//! configurations that all have the first one in common; the best of all groups are timed once more, side by side.

pub mod report;
mod tuner;

pub use report::{Parameter, Status, TuneReport, TuneRow};
pub use tuner::{Config, Tuner, Tuning, tune};

//! Timing that can be trusted: warm-up, many samples, contestants interleaved in rounds, medians with confidence intervals, and a verdict
//! only where the interval supports one.
//!
//! - [`sweep`] times several contestants over several sizes and gives a [`BenchReport`].
//! - [`Op::bench`](crate::ops::Op::bench) times an operator beside others and its own versions.
//! - [`elimination`] times many contestants, those behind only shortly.
//! - [`do_bench`] times one function as Triton's `testing.do_bench` does.
//! - [`stats`] holds the estimators, each with its source; [`units`] writes numbers for people.
//!
//! The method follows Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC 2015): report medians with
//! distribution-free intervals, and state how often, in what order and on which machine they were measured.

pub mod ceilings;
pub mod elimination;
pub mod machine;
pub mod operator;
pub mod quick;
pub mod report;
pub mod sampling;
pub mod settled;
pub mod stats;
pub mod timer;
pub mod units;

pub use ceilings::Ceilings;
pub use machine::Machine;
pub use operator::OpBench;
pub use quick::{ReturnMode, do_bench, do_bench_while, summarize};
pub use report::{BenchReport, BenchRow, Policy};
pub use sampling::{Asking, BenchConfig, CachePolicy, Contestant, LEAST, Progress, sweep, sweep_while};
pub use stats::{MedianInterval, Outcome, Verdict, median_interval, verdict};
pub use timer::Timer;

//! Kernels built by hand, run, and compared with results that Rust computes.

mod arith;
mod build;
mod faults;
mod math;
mod rounds;
mod run;
mod tiers;

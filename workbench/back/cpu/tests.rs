//! Kernels built by hand, run, and held against what Rust computes.

mod arith;
mod build;
mod faults;
mod math;
mod rounds;
mod run;
mod tiers;

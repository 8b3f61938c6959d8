//! CUDA's math API through compiled kernels, against references written or computed independently.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arguments;
mod harness;
mod nvrtc;
mod simd;
mod sweep;
mod ulp;

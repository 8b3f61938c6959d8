//! Math functions that neither the C library nor `libm` has, or has less accurately than CUDA promises.

pub mod bessel;
mod bessel_table;
pub mod directed;
pub mod double;
pub mod lanes;
pub mod logarithm;
pub mod norm;
pub mod reciprocal;
pub mod rounded;
pub mod special;

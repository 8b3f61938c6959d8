//! Parts that the integration tests share.

pub mod filetest;
pub mod passes;
pub mod value;

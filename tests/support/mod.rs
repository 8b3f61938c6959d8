//! What the integration tests share.

pub mod filetest;
pub mod value;

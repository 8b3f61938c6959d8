//! Owned, contiguous host arrays of any element type.

/// An owned, contiguous host array.
pub struct Tensor {}

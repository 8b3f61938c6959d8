//! Roots.

use super::super::Lanes;

/// The reciprocal square root, as two rounded operations.
/// Error: 1.5 ULP, sampled.
#[inline(always)]
pub fn rsqrt<B: Lanes>(b: &mut B, x: B::D) -> B::D {
    let (root, one) = (b.dsqrt(x), b.d(1.0));
    b.ddiv(one, root)
}

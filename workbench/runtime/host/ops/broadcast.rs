//! The shapes that operands broadcast to.

use super::super::answer::Answer;
use crate::back::Exception;

/// The extents that two shapes broadcast to.
///
/// # Errors
/// `RuntimeError`, as torch words it.
pub fn broadcast(a: &[i64], b: &[i64]) -> Answer<Vec<i64>> {
    let dims = a.len().max(b.len());
    let mut out = vec![1; dims];
    for (i, extent) in out.iter_mut().enumerate() {
        let at = |s: &[i64]| (i + s.len()).checked_sub(dims).map_or(1, |j| s[j]);
        *extent = match (at(a), at(b)) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, y) => {
                let message = format!(
                    "The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
                );
                return Err((Exception::Runtime, message));
            }
        };
    }
    Ok(out)
}

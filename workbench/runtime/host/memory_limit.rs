//! The limit of memory: memory whose size the user decides is asked for here before it is taken, so that a lack of it is an exception.
//!
//! Large memory is asked for by its size. Small memory is counted, and from time to time the system is asked for as much as
//! all that may be taken until the next time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are there for small things and for memory that is not asked for.
const SLACK: usize = 16 << 20;

/// Bytes taken between two looks at most.
const BETWEEN: usize = SLACK / 4;

/// Bytes that the process has taken since the last look.
static TAKEN: AtomicUsize = AtomicUsize::new(BETWEEN);

/// True if there is memory for so many bytes.
pub fn has(bytes: usize) -> bool {
    if bytes < BETWEEN && TAKEN.fetch_add(bytes, Ordering::Relaxed) < BETWEEN - bytes {
        return true;
    }
    let mut probe: Vec<u8> = Vec::new();
    let Some(size) = bytes.checked_add(SLACK) else { return false };
    let is_there = probe.try_reserve_exact(size).is_ok();
    TAKEN.store(if is_there { bytes.min(BETWEEN) } else { BETWEEN }, Ordering::Relaxed);
    is_there
}

/// True if there is memory for so many elements.
pub fn has_elements<T>(count: usize) -> bool {
    count.checked_mul(size_of::<T>()).is_some_and(has)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_no_machine_has_is_not_there() {
        assert!(!super::has(usize::MAX));
        assert!(!super::has(1 << 60));
        assert!(!super::has_elements::<u64>(usize::MAX / 4));
        assert!((0..100).all(|_| super::has(1 << 20)));
    }
}

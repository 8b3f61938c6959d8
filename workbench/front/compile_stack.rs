//! The stack that a compilation gets: a large one of its own, on the caller's thread, which the thread keeps for its next compilation.
//!
//! A thread of its own would cost a compilation memory that one thread asks for and another frees; a new stack each time, pages that the
//! system clears, gives and takes back.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use memmap2::{MmapMut, MmapOptions, UncheckedAdvice};

/// Bounds on nesting (of expressions, of templates) are bounds on stack, and these are generous; memory that is not reached costs
/// nothing.
pub const SIZE: usize = 256 << 20;

/// Below the stack, so that what runs past it stops instead of writing elsewhere.
const GUARD: usize = 64 << 10;

/// Bytes that are kept of what was reached; two large pages.
const KEPT: usize = 4 << 20;

thread_local! {
    static STACK: Cell<Option<MmapMut>> = const { Cell::new(None) };
}

/// Runs `work` on a stack of [`SIZE`]; `None` where the system has no memory for one.
pub fn with<R>(work: impl FnOnce() -> R) -> Option<R> {
    // A compilation within a compilation gets another stack.
    let mut stack = match STACK.take() {
        Some(stack) => stack,
        None => map()?,
    };
    let base = stack.as_mut_ptr();
    // SAFETY: the memory above the guard is this call's alone, whole pages of it, and no panic leaves the closure.
    let result = unsafe { psm::on_stack(base.add(GUARD), SIZE, || catch_unwind(AssertUnwindSafe(work))) };
    // SAFETY: nobody is on the stack any more, and nothing of what it holds is wanted.
    let given_back = unsafe { stack.unchecked_advise_range(UncheckedAdvice::DontNeed, GUARD, SIZE - KEPT) };
    if given_back.is_ok() {
        STACK.set(Some(stack));
    }
    Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
}

fn map() -> Option<MmapMut> {
    let mut map = MmapOptions::new().len(GUARD + SIZE).no_reserve_swap().map_anon().ok()?;
    // SAFETY: the first pages of a mapping of ours, which nobody uses yet.
    let guarded = unsafe { libc::mprotect(map.as_mut_ptr().cast(), GUARD, libc::PROT_NONE) };
    (guarded == 0).then_some(map)
}

#[cfg(test)]
mod tests {
    use super::{SIZE, with};

    /// Goes down the stack.
    fn deep(left: usize) -> usize {
        let frame = std::hint::black_box([left as u8; 1 << 10]);
        if left == 0 { 0 } else { 1 + deep(left - 1) + usize::from(frame[0]) - usize::from(left as u8) }
    }

    #[test]
    fn one_is_large_and_another_is_there_within_it() {
        let depth = SIZE / (4 << 10);
        assert_eq!(with(|| deep(depth)), Some(depth));
        assert_eq!(with(|| with(|| deep(depth)).map(|inner| inner + deep(depth))), Some(Some(2 * depth)));
    }

    #[test]
    fn a_panic_goes_through_and_the_next_one_runs() {
        let panic = std::panic::catch_unwind(|| with(|| std::panic::panic_any(7)));
        assert_eq!(panic.err().and_then(|p| p.downcast_ref::<i32>().copied()), Some(7));
        assert_eq!(with(|| deep(100)), Some(100));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_reached_is_given_back() {
        let resident = || {
            let text = std::fs::read_to_string("/proc/thread-self/statm")
                .or_else(|_| std::fs::read_to_string("/proc/self/statm"));
            let pages = text.ok().and_then(|t| t.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()));
            pages.expect("a number of pages") * 4096
        };
        assert_eq!(with(|| deep(10)), Some(10));
        let (depth, mut seen) = (SIZE / (4 << 10), Vec::new());
        // Other tests of this process take and give back memory meanwhile, hundreds of megabytes at times; not always at this moment.
        for _ in 0..10 {
            let (before, mut within) = (resident(), 0);
            with(|| {
                deep(depth);
                within = resident();
            });
            let after = resident();
            // The frames alone are a quarter of it.
            if within > before + SIZE / 8 && after < within - SIZE / 8 {
                return;
            }
            seen.push((before, within, after));
        }
        panic!("{seen:?}");
    }
}

//! Work: the steps of an operation on tensors, counted, so that it ends on its way when its time is up, when the user wants it to end, or
//! when there is no memory to go on with. It unwinds to [`watched`] or to [`contained`] then, and nothing of it is used any more.
//!
//! Loops over elements go through `ops/sweep.rs`, which counts them; other loops call `tick`.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::memory_limit;
use crate::back::Exception;
use crate::back::cpu::Raised;

/// Elements between two looks at the clock: a millisecond of a slow operation.
pub const PERIOD: usize = 1 << 14;

/// A function that says why a call is to end, once it is.
type Ask<'a> = dyn Fn() -> Result<(), Raised> + 'a;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(PERIOD) };
    static ASK: Cell<Option<NonNull<Ask<'static>>>> = const { Cell::new(None) };
}

/// The reason that an operation ends before it is done.
enum Stop {
    /// The operation's call is to end.
    Raised(Raised),
    /// There is no memory for so many bytes.
    Memory(Option<usize>),
}

/// Counts an element.
#[inline]
pub fn tick() {
    let left = LEFT.get() - 1;
    LEFT.set(left);
    if left == 0 {
        look();
    }
}

/// Counts so many elements.
pub fn ticks(count: usize) {
    match LEFT.get().checked_sub(count) {
        Some(left) if left > 0 => LEFT.set(left),
        _ => look(),
    }
}

#[cold]
#[inline(never)]
fn look() {
    LEFT.set(PERIOD);
    let Some(ask) = ASK.get() else { return };
    // SAFETY: `watched` keeps the function that it set there until it has set it back.
    if let Err(raised) = unsafe { ask.as_ref() }() {
        resume_unwind(Box::new(Stop::Raised(raised)));
    }
}

/// Asks whether the operation is to end, for what runs on its behalf elsewhere.
///
/// # Errors
/// Why it is to end.
pub fn asked() -> Result<(), Raised> {
    // SAFETY: as above.
    ASK.get().map_or(Ok(()), |ask| unsafe { ask.as_ref() }())
}

/// Ends the operation, as its call is to end.
pub fn end(raised: Raised) -> ! {
    resume_unwind(Box::new(Stop::Raised(raised)))
}

/// Waits for so long.
pub fn wait(time: Duration) {
    /// The longest wait without a look.
    const SLICE: Duration = Duration::from_millis(5);
    let start = Instant::now();
    while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::sleep(left.min(SLICE));
        look();
    }
}

/// Writes the same byte to all of some memory, piece by piece.
pub fn fill(memory: &mut [MaybeUninit<u8>], byte: u8) {
    for piece in memory.chunks_mut(PERIOD) {
        piece.fill(MaybeUninit::new(byte));
        // A piece takes as long as a few elements that are computed with.
        ticks(PERIOD / 16);
    }
}

/// Runs `work`, during which `ask` is asked every few thousand elements.
///
/// # Errors
/// The error that `ask` gives.
pub fn watched<R>(ask: &Ask<'_>, work: impl FnOnce() -> R) -> Result<R, Raised> {
    /// Sets the earlier function to ask again.
    struct Restore(Option<NonNull<Ask<'static>>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASK.set(self.0);
        }
    }
    // SAFETY: only the lifetime differs; it is set back before this returns.
    let ask = unsafe { std::mem::transmute::<NonNull<Ask<'_>>, NonNull<Ask<'static>>>(NonNull::from(ask)) };
    let restore = Restore(ASK.replace(Some(ask)));
    let result = catch_unwind(AssertUnwindSafe(work));
    drop(restore);
    match result {
        Ok(result) => Ok(result),
        Err(panic) => match panic.downcast::<Stop>().map(|stop| *stop) {
            Ok(Stop::Raised(raised)) => Err(raised),
            Ok(stop) => resume_unwind(Box::new(stop)),
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// Runs an operation; a lack of memory in it is an exception.
///
/// # Errors
/// Its own, and `MemoryError`.
pub fn contained<R>(work: impl FnOnce() -> Answer<R>) -> Answer<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(panic) => match panic.downcast::<Stop>().map(|stop| *stop) {
            Ok(Stop::Memory(bytes)) => Err((Exception::Memory, no_memory(bytes))),
            Ok(stop) => resume_unwind(Box::new(stop)),
            Err(panic) => resume_unwind(panic),
        },
    }
}

fn no_memory(bytes: Option<usize>) -> String {
    match bytes {
        Some(bytes) => format!("no memory to compute with: {bytes} bytes are needed"),
        None => "no memory to compute with: more bytes are needed than there are addresses".to_owned(),
    }
}

/// Ends the operation unless there is memory for so many elements, which the caller then takes.
pub fn need<T>(count: usize) {
    if !memory_limit::has_elements::<T>(count) {
        resume_unwind(Box::new(Stop::Memory(count.checked_mul(size_of::<T>()))));
    }
}

/// A vector with room for so many elements.
pub fn reserved<T>(count: usize) -> Vec<T> {
    need::<T>(count);
    let mut made = Vec::new();
    if made.try_reserve_exact(count).is_err() {
        resume_unwind(Box::new(Stop::Memory(count.checked_mul(size_of::<T>()))));
    }
    made
}

/// A vector of at most so many elements, counted.
pub fn collected<T>(count: usize, elements: impl IntoIterator<Item = T>) -> Vec<T> {
    let (mut made, mut elements) = (reserved(count), elements.into_iter());
    loop {
        let before = made.len();
        made.extend(elements.by_ref().take((count - before).min(PERIOD)));
        let got = made.len() - before;
        if got == 0 {
            return made;
        }
        ticks(got);
    }
}

/// A vector of so many equal elements.
pub fn repeated<T: Clone>(count: usize, value: T) -> Vec<T> {
    collected(count, std::iter::repeat_n(value, count))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{PERIOD, collected, contained, need, tick, ticks, watched};
    use crate::back::cpu::Raised;
    use crate::back::{Exception, FaultKind};

    #[test]
    fn who_is_asked_ends_it() {
        let asked = Cell::new(0);
        let late = Raised { kind: FaultKind::Timeout, detail: "late".to_owned() };
        let ask = || {
            asked.set(asked.get() + 1);
            if asked.get() == 3 { Err(late.clone()) } else { Ok(()) }
        };
        let endless = || -> () {
            loop {
                tick();
            }
        };
        assert_eq!(watched(&ask, endless), Err(late.clone()));
        assert_eq!(asked.get(), 3);
        // There is no function to ask any more.
        ticks(10 * PERIOD);
        assert_eq!(asked.get(), 3);
        asked.set(0);
        assert_eq!(watched(&ask, || collected(usize::MAX >> 40, std::iter::repeat(1u8)).len()), Err(late));
    }

    #[test]
    fn no_memory_is_an_exception() {
        let answer = contained(|| {
            need::<u64>(1 << 58);
            Ok(())
        });
        assert_eq!(answer.map_err(|(exception, _)| exception), Err(Exception::Memory));
        assert_eq!(contained(|| Ok(7)), Ok(7));
    }
}

//! Steps of a compilation, counted so that it can be stopped on its way and its growth can be tested.
//!
//! The parser counts the tokens it looks at, the lowerer the expressions, statements, names and candidates. Every few milliseconds the
//! thread asks if the user wants it to stop; then the compilation ends at once, wherever it is: it unwinds to [`interruptible`], and none
//! of its results are used.
//!
//! Tokens, expressions, statements, names, candidates and copies of typed trees count. No sub-expression is checked twice: entries of a
//! braced list that were checked to rank functions are kept until their values are needed (`Lowerer::kept`). The back end asks between
//! functions; functions that take the code generator longer get a thread of their own if the compilation can be interrupted
//! (`back/cpu/make/parallel.rs`). `front/complexity` compares the steps of every construct that nests or chains with the size of its text.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Steps between two looks at the clock: some tens of microseconds.
const PERIOD: u32 = 1 << 12;

/// The shortest time between two questions; a question may take the interpreter's lock.
const ASK_EVERY: Duration = Duration::from_millis(4);

/// The error that the user wanted a compilation to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// The function that a thread asks, and the time of its last question.
struct Asked {
    ask: Rc<dyn Fn() -> bool>,
    last: Instant,
}

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(PERIOD) };
    static PERIODS: Cell<u64> = const { Cell::new(0) };
    static ASKED: RefCell<Option<Asked>> = const { RefCell::new(None) };
}

/// Counts a step.
#[inline]
pub(crate) fn step() {
    let left = LEFT.get() - 1;
    LEFT.set(left);
    if left == 0 {
        turn();
    }
}

/// Counts so many steps.
pub(crate) fn steps(count: usize) {
    let (mut rest, left) = (count as u64, u64::from(LEFT.get()));
    if rest < left {
        LEFT.set((left - rest) as u32);
        return;
    }
    rest -= left;
    PERIODS.set(PERIODS.get() + rest / u64::from(PERIOD));
    turn();
    // Less than a period is left, as after a turn.
    LEFT.set(PERIOD - (rest % u64::from(PERIOD)) as u32);
}

#[cold]
#[inline(never)]
fn turn() {
    LEFT.set(PERIOD);
    PERIODS.set(PERIODS.get() + 1);
    look();
}

/// Asks if the work should stop, when a question is due: for places between pieces of work that count no steps.
pub(crate) fn look() {
    if is_unwanted() {
        resume_unwind(Box::new(Interrupted));
    }
}

/// True if this thread can be asked to stop.
pub(crate) fn is_interruptible() -> bool {
    ASKED.with_borrow(Option::is_some)
}

fn is_unwanted() -> bool {
    let due = ASKED.with_borrow_mut(|asked| {
        let asked = asked.as_mut()?;
        let now = Instant::now();
        let is_due = now.duration_since(asked.last) >= ASK_EVERY;
        is_due.then(|| {
            asked.last = now;
            asked.ask.clone()
        })
    });
    // The borrow has ended: the function that is asked may compile something.
    let Some(ask) = due else { return false };
    let stop = ask();
    ASKED.with_borrow_mut(|asked| asked.iter_mut().for_each(|asked| asked.last = Instant::now()));
    stop
}

/// Runs a compilation; `ask` is called every few milliseconds, on this thread, and gives true to stop it.
///
/// # Errors
/// [`Interrupted`], once `ask` has given true.
pub fn interruptible<R>(ask: Rc<dyn Fn() -> bool>, work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    let outer = ASKED.replace(Some(Asked { ask, last: Instant::now() }));
    let result = catch_unwind(AssertUnwindSafe(work));
    ASKED.set(outer);
    match result {
        Ok(result) => Ok(result),
        Err(panic) if panic.is::<Interrupted>() => Err(Interrupted),
        Err(panic) => resume_unwind(panic),
    }
}

/// The number of steps that this thread has counted so far.
#[cfg(test)]
pub(crate) fn counted() -> u64 {
    (PERIODS.get() + 1) * u64::from(PERIOD) - u64::from(LEFT.get())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::{Interrupted, PERIOD, counted, interruptible, step, steps};

    #[test]
    fn steps_add_up() {
        for n in [0, 1, 7, PERIOD as usize - 1, PERIOD as usize, PERIOD as usize + 1, 10 * PERIOD as usize + 3] {
            let before = counted();
            steps(n);
            step();
            assert_eq!(counted() - before, n as u64 + 1, "{n}");
        }
    }

    #[test]
    fn who_is_asked_ends_it() {
        let asked = Rc::new(Cell::new(0));
        let counts = asked.clone();
        let ask = move || {
            counts.set(counts.get() + 1);
            counts.get() == 3
        };
        let result = interruptible(Rc::new(ask), || -> () {
            loop {
                step();
            }
        });
        assert_eq!((result, asked.get()), (Err(Interrupted), 3));
        assert_eq!(interruptible(Rc::new(|| false), || 7), Ok(7));
    }
}

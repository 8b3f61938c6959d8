//! Turns: functions of a program that keeps variables of host code between calls run in one thread at a time, as under the lock of Python's
//! interpreter, which holds back all other threads while a C++ function runs.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The turns of a program.
#[derive(Debug, Default)]
pub struct Turns {
    taken: Mutex<bool>,
    free: Condvar,
}

/// A turn, which ends when this is dropped. A turn within another of the same thread is no turn of its own.
#[derive(Debug)]
pub struct Turn(Option<Arc<Turns>>);

thread_local! {
    /// The turns that this thread has.
    static HELD: RefCell<Vec<Arc<Turns>>> = const { RefCell::new(Vec::new()) };
}

impl Turns {
    /// A turn, where no other thread has one.
    pub fn try_take(self: &Arc<Self>) -> Option<Turn> {
        if HELD.with_borrow(|held| held.iter().any(|turns| Arc::ptr_eq(turns, self))) {
            return Some(Turn(None));
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *taken, true) {
            return None;
        }
        HELD.with_borrow_mut(|held| held.push(self.clone()));
        Some(Turn(Some(self.clone())))
    }

    /// Waits until there may be a turn, at most so long.
    pub fn wait(&self, most: Duration) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if *taken {
            drop(self.free.wait_timeout(taken, most).unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn give_back(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.free.notify_one();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = &self.0 {
            HELD.with_borrow_mut(|held| held.retain(|other| !Arc::ptr_eq(other, turns)));
            turns.give_back();
        }
    }
}

/// Runs a function during which other threads may have turns: a call into Python, which lets other threads run as well.
pub fn paused<R>(what: impl FnOnce() -> R) -> R {
    /// Takes the turns again.
    struct Again(Vec<Arc<Turns>>);
    impl Drop for Again {
        fn drop(&mut self) {
            for turns in &self.0 {
                let mut taken = turns.taken.lock().unwrap_or_else(PoisonError::into_inner);
                while std::mem::replace(&mut *taken, true) {
                    taken = turns.free.wait(taken).unwrap_or_else(PoisonError::into_inner);
                }
            }
            HELD.set(std::mem::take(&mut self.0));
        }
    }
    let again = Again(HELD.take());
    again.0.iter().for_each(|turns| turns.give_back());
    what()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Turns, paused};

    #[test]
    fn one_thread_has_a_turn_at_a_time() {
        let turns = Arc::new(Turns::default());
        let elsewhere = || std::thread::scope(|s| s.spawn(|| turns.try_take().is_some()).join().expect("it ends"));
        let turn = turns.try_take().expect("nobody has one");
        assert!(turns.try_take().is_some(), "one within another is the same");
        assert!(!elsewhere());
        assert!(paused(elsewhere));
        assert!(!elsewhere());
        drop(turn);
        assert!(elsewhere());
    }
}

//! The wait for a contestant's best code: what every benchmark and every tuning does before its first sample.
//!
//! A launch runs code that is there at once, and better code takes over when kernels turn out to be hot. Samples of a kernel that was
//! just defined would be of the first code, or of both. So contestants are called until their code is the best that they will get.

use std::time::{Duration, Instant};

use super::timer::Timer;
use crate::runtime::{self, Result};

/// The longest wait for the best code of a contestant, where nothing else is said: many times what a C compiler takes.
pub const MAX_WAIT: Duration = Duration::from_secs(10);

/// Most calls that have code made: code for the launch's scalars, general code where there can be none for these, and once more where a
/// thread was in the way. More have only contestants that compile in each call.
const MOST_CALLS: usize = 6;

/// The limit on a wait for compiled code.
pub struct Patience<'a> {
    ask: &'a dyn Fn() -> Result<()>,
    until: Option<Instant>,
}

impl<'a> Patience<'a> {
    /// The wait from now on, at most this long. `ask` is called every few milliseconds, and its error ends the wait.
    pub fn new(ask: &'a dyn Fn() -> Result<()>, wait: Duration) -> Self {
        Patience { ask, until: Instant::now().checked_add(wait) }
    }

    fn goes_on(&self) -> Result<bool> {
        (self.ask)().map(|()| self.until.is_none_or(|until| Instant::now() < until))
    }
}

/// A contestant that has been called until its code is settled.
#[derive(Debug, Clone, Copy)]
pub struct Settled {
    /// The seconds that the last call took.
    pub last_call: f64,
    /// True if its best code is there.
    pub is_best: bool,
}

/// Calls a contestant, at least once, until the best code of what it launches is there.
///
/// # Errors
/// Those of the contestant and of the patience.
pub fn bring(timer: &Timer, run: &mut dyn FnMut() -> Result<()>, patience: &Patience<'_>) -> Result<Settled> {
    let mut last_call = 0.0;
    for _ in 0..MOST_CALLS {
        last_call = runtime::hurried(|| timer.time(1, &mut *run))?;
        let settled = runtime::settle_while(|| patience.goes_on())?;
        // A call that launched nothing whose code was being made ran what there is.
        if !settled.is_done || !settled.had_any {
            return Ok(Settled { last_call, is_best: settled.is_done });
        }
    }
    Ok(Settled { last_call, is_best: true })
}

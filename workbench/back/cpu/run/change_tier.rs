//! A change of tier within a launch: one that lasts has better code made meanwhile. Once that is there, workers claim no further blocks; those
//! claimed are finished, and another part of the launch with the better code takes the rest (`schedule.rs`). Blocks ascend, so the first
//! part has run exactly the blocks before the second's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::launch::{Launch, lock};
use super::wide_code::WideCode;

/// The age of a launch at which it has better code made, if as much work is left as [`WORTH_BETTER_CODE`].
const OLD: Duration = Duration::from_micros(500);

/// Work that is worth making lanes for, in nanoseconds: they take a few milliseconds of one thread.
const WORTH_BETTER_CODE: f64 = 5e6;

impl Launch<'_> {
    /// Has better code made once the launch is old and `left_ns` of work are left; and once it is there, ends the claims.
    pub(super) fn look_for_better(&self, left_ns: f64, age: Duration) {
        let Some(better) = self.better else { return };
        if left_ns < WORTH_BETTER_CODE || age < OLD {
            return;
        }
        match better.code(self.wide.as_ref()) {
            Some(found) => {
                *lock(&self.overtaken_by) = Some(found);
                self.is_overtaken.store(true, Ordering::Release);
            }
            None => better.begin(),
        }
    }

    /// The better code that takes over, if there is any and blocks are left for it.
    pub(super) fn better_code(&self) -> Option<(Arc<WideCode>, bool)> {
        let is_left = self.next.load(Ordering::Relaxed) < self.blocks;
        let is_sound = self.fault_block.load(Ordering::Relaxed) == u64::MAX && self.stop.get().is_none();
        if is_left && is_sound { lock(&self.overtaken_by).take() } else { None }
    }
}

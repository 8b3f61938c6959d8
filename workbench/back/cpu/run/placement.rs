//! Placement of helping threads: they wake on other processors than the one of the thread that wakes them.
//!
//! Schedulers may wake a thread on its waker's processor and leave the others idle until their next tick. A helper that wakes there has
//! to wait until the compilation or the launch that it should help with is nearly done (`MEASUREMENTS.md`).

use std::sync::atomic::{AtomicI32, Ordering};

#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};

/// Most processors of a machine where helpers are kept off one. With more, the scheduler finds an idle one, and telling many
/// threads takes longer than a wake.
#[cfg(target_os = "linux")]
const MAX_PROCESSORS: i32 = 8;

/// Helping threads that sleep and wake together.
pub struct Helpers {
    #[cfg(target_os = "linux")]
    threads: Mutex<Vec<libc::pid_t>>,
    /// The processor that they keep off, or less than 0.
    avoided: AtomicI32,
}

impl Helpers {
    /// No helpers yet.
    pub const fn new() -> Self {
        Helpers {
            #[cfg(target_os = "linux")]
            threads: Mutex::new(Vec::new()),
            avoided: AtomicI32::new(-1),
        }
    }

    /// Makes the running thread one of the helpers.
    #[cfg(target_os = "linux")]
    pub fn join(&self) {
        // SAFETY: the call only returns a number.
        let id = unsafe { libc::gettid() };
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        // The next caller that wakes the helpers tells this one, too.
        self.avoided.store(-1, Ordering::Relaxed);
    }

    /// Keeps the helpers off the processor of the running thread, which is about to wake them; they sleep.
    #[cfg(target_os = "linux")]
    pub fn keep_off_this_processor(&self) {
        // SAFETY: the call only returns a number.
        let here = unsafe { libc::sched_getcpu() };
        if here < 0 || self.avoided.swap(here, Ordering::Relaxed) == here {
            return;
        }
        // SAFETY: zeros are the empty set of bits. The calls read and write only the set, and for a thread that has ended they give
        // an error and change nothing.
        unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 || libc::CPU_COUNT(&allowed) > MAX_PROCESSORS {
                return;
            }
            libc::CPU_CLR(here as usize, &mut allowed);
            if libc::CPU_COUNT(&allowed) > 0 {
                for id in self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    libc::sched_setaffinity(*id, size, &raw const allowed);
                }
            }
        }
    }

    /// As on Linux; this system has no way to say where threads run.
    #[cfg(not(target_os = "linux"))]
    pub fn join(&self) {
        self.avoided.store(-1, Ordering::Relaxed);
    }

    /// As on Linux; this system has no way to say where threads run.
    #[cfg(not(target_os = "linux"))]
    pub fn keep_off_this_processor(&self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::channel;

    use super::{Helpers, MAX_PROCESSORS};

    /// The processors that a thread may run on.
    fn allowed() -> Vec<usize> {
        // SAFETY: as above.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
            (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
        }
    }

    /// The processors that a helper may run on, as it says before it is woken and after; `wake` is what the waker does.
    fn woken(helpers: &Arc<Helpers>, wake: impl FnOnce() + Send + 'static) -> [Vec<usize>; 2] {
        let (begin, work) = channel::<()>();
        let (say, answer) = channel();
        let joins = helpers.clone();
        let thread = std::thread::spawn(move || {
            joins.join();
            while say.send(allowed()).is_ok() && work.recv().is_ok() {}
        });
        let before = answer.recv().expect("an answer");
        std::thread::spawn(wake).join().expect("a waker");
        begin.send(()).expect("it waits");
        let after = answer.recv().expect("an answer");
        drop(begin);
        thread.join().expect("an end");
        [before, after]
    }

    #[test]
    fn helpers_leave_their_wakers_processor() {
        let helpers = Arc::new(Helpers::new());
        let waker = helpers.clone();
        let [before, mut after] = woken(&helpers, move || waker.keep_off_this_processor());
        if !(2..=MAX_PROCESSORS as usize).contains(&before.len()) {
            assert_eq!(before, after);
            return;
        }
        after.push(helpers.avoided.load(Ordering::Relaxed) as usize);
        after.sort_unstable();
        assert_eq!(before, after);
    }

    #[test]
    fn who_may_run_on_one_processor_alone_says_nothing_of_the_others() {
        let helpers = Arc::new(Helpers::new());
        let waker = helpers.clone();
        let [before, after] = woken(&helpers, move || {
            // SAFETY: as above.
            unsafe {
                let mut only: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(libc::sched_getcpu() as usize, &mut only);
                assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const only), 0);
            }
            waker.keep_off_this_processor();
        });
        assert_eq!(before, after);
    }
}

//! The threads that help a launch: one pool for the process, made at first use, made anew in a forked child.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::placement::Helpers;
use crate::back::cpu::stack;

struct Pool {
    process: u32,
    threads: usize,
    /// `None` where the system gives no threads: launches then run on their caller's thread.
    pool: Option<rayon::ThreadPool>,
    helpers: Arc<Helpers>,
    /// Jobs that were asked for and are not done.
    pending: Arc<AtomicUsize>,
}

// A pointer rather than a lock: a lock held by another thread while the process forks would stay locked in the child.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// The number of threads that may work on a launch, the caller's included.
pub fn width() -> usize {
    static WIDTH: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *WIDTH.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Runs `job` on up to `count` threads of the pool; gives how many were asked.
pub fn spawn(count: usize, job: impl Fn() + Send + Clone + 'static) -> usize {
    let pool = current();
    let Some(threads) = &pool.pool else { return 0 };
    let count = count.min(pool.threads);
    // Helpers that are awake stay on their processors.
    if pool.pending.fetch_add(count, Ordering::Relaxed) == 0 {
        pool.helpers.keep_off_this_processor();
    }
    for _ in 0..count {
        let done = Done(pool.pending.clone());
        let job = job.clone();
        threads.spawn(move || {
            job();
            drop(done);
            linger();
        });
    }
    count
}

/// The time that a thread looks for something to do before it sleeps, and a launch for its helpers to end: waking a thread takes as
/// long.
pub const LINGER: Duration = Duration::from_micros(50);

/// Takes other work for a while: launches often follow one another.
fn linger() {
    thread_local! {
        static LINGERS: Cell<bool> = const { Cell::new(false) };
    }
    // A job that was taken while lingering returns to that loop.
    if LINGERS.replace(true) {
        return;
    }
    let mut idle = Instant::now();
    while idle.elapsed() < LINGER {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => idle = Instant::now(),
            Some(rayon::Yield::Idle) => std::hint::spin_loop(),
            None => break,
        }
    }
    LINGERS.set(false);
}

/// Counts a job as done, however it ends.
struct Done(Arc<AtomicUsize>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn current() -> &'static Pool {
    let process = std::process::id();
    let old = POOL.load(Ordering::Acquire);
    // SAFETY: a published pool is never freed.
    if let Some(pool) = unsafe { old.as_ref() }
        && pool.process == process
    {
        return pool;
    }
    // The helpers: the caller is one more. A pool left over from before a fork has no threads any more and is leaked,
    // because dropping it would wait for them.
    let threads = width().saturating_sub(1).max(1);
    let helpers = Arc::new(Helpers::new());
    let joined = helpers.clone();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(stack::POOL_THREAD)
        .thread_name(|i| format!("workbench-{i}"))
        .start_handler(move |_| joined.join())
        .build()
        .ok();
    let new = Box::into_raw(Box::new(Pool { process, threads, pool, helpers, pending: Arc::default() }));
    match POOL.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the pool is published now, and never freed.
        Ok(_) => unsafe { &*new },
        Err(winner) => {
            // SAFETY: `new` was never published; `winner` was, by another thread of this process, and is never freed.
            unsafe {
                drop(Box::from_raw(new));
                &*winner
            }
        }
    }
}

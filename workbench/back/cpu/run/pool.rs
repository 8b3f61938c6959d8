//! The threads that help a launch, or other work in pieces: one pool for the process, made at first use, made anew in a forked child.

use std::any::Any;
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

#[cfg(test)]
thread_local! {
    /// Calls of [`spawn`] by this thread.
    pub static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Runs `job` on up to `count` threads of the pool; gives how many were asked.
pub fn spawn(count: usize, job: impl Fn() + Send + Clone + 'static) -> usize {
    #[cfg(test)]
    CALLS.set(CALLS.get() + 1);
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

/// Work in pieces that threads claim.
struct Shared {
    /// The caller's closure, which is called only by threads that are counted as `running`.
    work: *const (dyn Fn(usize) + Sync),
    next: AtomicUsize,
    count: usize,
    running: AtomicUsize,
    is_closed: AtomicBool,
    /// The panic of a helper.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the closure is `Sync`, and `share` does not return before the last thread that calls it is done.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Claims pieces until there are none.
    fn claim(&self, mut after: impl FnMut()) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.count {
                return;
            }
            // SAFETY: this thread is counted, or it is the caller.
            unsafe { (*self.work)(piece) };
            after();
        }
    }

    fn help(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
        if !self.is_closed.load(Ordering::SeqCst) {
            let ended = std::panic::catch_unwind(AssertUnwindSafe(|| self.claim(|| {})));
            if let Err(panic) = ended {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Memory that pieces of shared work write in parts of their own.
pub struct Parts<T>(*mut T);

// SAFETY: it is an address; who writes there says why no other piece does.
unsafe impl<T: Send> Sync for Parts<T> {}

impl<T> Parts<T> {
    /// Memory that begins at an address.
    pub fn new(first: *mut T) -> Self {
        Parts(first)
    }

    /// The address of an element.
    pub fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

/// Calls a closure for each of `count` pieces of work, on the calling thread and the pool's. `after` is called on the calling thread after each
/// piece of its own; where it unwinds, no further piece is begun.
///
/// # Panics
/// With the panic of a piece.
pub fn share(count: usize, work: &(dyn Fn(usize) + Sync), after: impl FnMut()) {
    /// Waits for the helpers, however the caller's part ends.
    struct Closing<'a>(&'a Shared);
    impl Drop for Closing<'_> {
        fn drop(&mut self) {
            self.0.next.store(self.0.count, Ordering::Relaxed);
            self.0.is_closed.store(true, Ordering::SeqCst);
            let began = Instant::now();
            while self.0.running.load(Ordering::SeqCst) > 0 {
                if began.elapsed() < LINGER { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        }
    }
    // SAFETY: only the lifetime differs; no thread calls it once `Closing` has waited.
    let work =
        unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(work) };
    let shared = Arc::new(Shared {
        work,
        next: AtomicUsize::new(0),
        count,
        running: AtomicUsize::new(0),
        is_closed: AtomicBool::new(false),
        panic: Mutex::default(),
    });
    let closing = Closing(&shared);
    if count > 1 {
        let helped = shared.clone();
        spawn((width() - 1).min(count - 1), move || helped.help());
    }
    shared.claim(after);
    drop(closing);
    let panic = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = panic {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::share;

    #[test]
    fn each_piece_is_done_once() {
        for count in [0, 1, 2, 1000] {
            let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let mut own = 0;
            share(count, &|piece| _ = done[piece].fetch_add(1, Ordering::Relaxed), || own += 1);
            assert!(done.iter().all(|n| n.load(Ordering::Relaxed) == 1));
            assert!(own <= count);
        }
    }

    #[test]
    fn a_panic_ends_it_and_the_next_works() {
        let begun = AtomicUsize::new(0);
        let work = |piece: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            assert!(piece != 3, "piece 3");
        };
        assert!(std::panic::catch_unwind(|| share(100, &work, || ())).is_err());
        // The caller's own wish to end.
        let stopped = std::panic::catch_unwind(|| share(1 << 20, &|_| (), || panic!("enough")));
        assert!(stopped.is_err());
        each_piece_is_done_once();
    }
}

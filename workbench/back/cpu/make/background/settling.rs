//! Settling: a thread that times launches waits for the code of its own programs, not for code that other threads have
//! queued.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::{LOOK_AGAIN, Maker, WIDE_MAKER, due, keep_queued, make};
use crate::back::cpu::make::compiled::CompiledModule;
use crate::back::cpu::stack;

/// The interval at which a waiting thread asks whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(5);

/// Most programs that a thread remembers.
const MAX_OWN: usize = 64;

thread_local! {
    /// The programs that this thread has compiled or launched before their code was made, since it last settled.
    static OWN: RefCell<Vec<Weak<CompiledModule>>> = const { RefCell::new(Vec::new()) };
    /// True while a launch of this thread is reason enough to have wide code made.
    static HURRIED: Cell<bool> = const { Cell::new(false) };
}

/// The findings of a thread that settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// True if the thread had compiled or launched anything before its code was made, so that runs until now may have been
    /// slower.
    pub had_any: bool,
    /// True if the code of all of it is made now.
    pub is_done: bool,
}

/// Notes a program that this thread has compiled or launched.
pub(super) fn own(module: &Arc<CompiledModule>) {
    OWN.with_borrow_mut(|own| {
        let is_it = |known: &Weak<CompiledModule>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(module));
        if own.last().is_some_and(is_it) || own.iter().any(is_it) {
            return;
        }
        if own.len() >= MAX_OWN {
            own.retain(|known| known.strong_count() > 0);
            own.drain(..own.len().saturating_sub(MAX_OWN - 1));
        }
        own.push(Arc::downgrade(module));
    });
}

/// Makes a call whose launches have their kernels' wide code made as if they were hot, so that it is there after [`settle`]: for a
/// thread that is about to time them. Launches with too little work for that stay as they are.
pub fn hurried<T>(call: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            HURRIED.set(self.0);
        }
    }
    let _before = Before(HURRIED.replace(true));
    call()
}

/// True within a call that is [`hurried`].
pub(super) fn is_hurried() -> bool {
    HURRIED.get()
}

/// Has the thread wait for no program that it has compiled or launched until now.
pub fn forget_own() {
    OWN.set(Vec::new());
}

/// Returns when every program that this thread has compiled or launched since it last asked has its best code, so that timings are of
/// that. Tells whether there was any program.
pub fn settle() -> bool {
    match settle_while(|| Ok::<_, Infallible>(true)) {
        Ok(settled) => settled.had_any,
        Err(never) => match never {},
    }
}

/// As [`settle`], as long as `go_on`, which is asked every few milliseconds, says so.
///
/// # Errors
/// Those of `go_on`.
pub fn settle_while<E>(mut go_on: impl FnMut() -> Result<bool, E>) -> Result<Settled, E> {
    let own = OWN.take();
    let had_any = !own.is_empty();
    let mut last = Instant::now();
    let mut wait = |is_done: &dyn Fn() -> bool| -> Result<bool, E> {
        while !is_done() {
            if last.elapsed() >= ASK_EVERY {
                if !go_on()? {
                    return Ok(false);
                }
                last = Instant::now();
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(true)
    };
    for module in own.iter().filter_map(Weak::upgrade) {
        let is_done = wait_for_good(&module, &mut wait)? && wait_for_wide(&module, &mut wait)?;
        if !is_done {
            return Ok(Settled { had_any, is_done });
        }
    }
    Ok(Settled { had_any, is_done: true })
}

/// Waits for the good code of a program, and has it made out of turn where no thread has begun.
fn wait_for_good<E>(
    module: &Arc<CompiledModule>,
    wait: &mut impl FnMut(&dyn Fn() -> bool) -> Result<bool, E>,
) -> Result<bool, E> {
    if module.tiers.are_settled() {
        return Ok(true);
    }
    keep_queued(module);
    if module.tiers.has_job() {
        let held = module.clone();
        aside(move || make(&held.tiers, &|| Arc::strong_count(&held) > 1));
    }
    wait(&|| module.tiers.are_settled())
}

/// Waits for the wide code that is queued for a program, and makes it out of turn where others are in front of it.
fn wait_for_wide<E>(
    module: &Arc<CompiledModule>,
    wait: &mut impl FnMut(&dyn Fn() -> bool) -> Result<bool, E>,
) -> Result<bool, E> {
    // SAFETY: a published maker is never freed.
    let maker: Option<&Maker> = unsafe { WIDE_MAKER.load(Ordering::Acquire).as_ref() };
    let number = module.tiers.wide_due.load(Ordering::Relaxed);
    // The number is of another process, whose queue stayed there, or of none.
    let Some(maker) = maker.filter(|_| number >> 32 == u64::from(std::process::id())) else { return Ok(true) };
    let left = || {
        let done = due(maker.done.load(Ordering::Acquire));
        number.saturating_sub(done)
    };
    let is_made = || left() == 0;
    let cases = module.wide.as_ref().map(|wide| wide.left()).unwrap_or_default();
    if left() <= 1 || cases.is_empty() {
        let is_done = cases.is_empty() || wait(&is_made)?;
        if is_made() {
            module.tiers.wide_due.store(0, Ordering::Relaxed);
        }
        return Ok(is_done);
    }
    let finished = Arc::new(AtomicBool::new(false));
    let (held, ends) = (module.clone(), finished.clone());
    aside(move || {
        if let Some(wide) = &held.wide {
            let make = || cases.iter().for_each(|case| _ = wide.make(&held.image.globals, case, None));
            let _ = catch_unwind(AssertUnwindSafe(make));
        }
        ends.store(true, Ordering::Release);
    });
    wait(&|| is_made() || finished.load(Ordering::Acquire))
}

/// Does work out of turn, on a thread of its own. Where there can be none, the thread of the queue comes to it.
fn aside(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("workbench-code".to_owned()).stack_size(stack::POOL_THREAD);
    drop(thread.spawn(work));
}

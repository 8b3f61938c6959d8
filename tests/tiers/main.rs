//! Random kernels give, in every tier, the bits that their IR defines: an interpreter of its own runs each. Every second one is contracted
//! (`-fmad=true`).
//!
//! `WORKBENCH_TIERS_CASES` is the number of kernels to try, `WORKBENCH_TIERS_SEED` the seed of the first; a kernel is determined by its seed.
//! `WORKBENCH_TIERS_TRACE=1` names each seed before it runs, for failures that end the process; `WORKBENCH_TIERS_SHOW=1` prints each kernel.
//! A C compiler takes longer than everything else, so one kernel in `WORKBENCH_TIERS_WIDE` (10) gets wide code. `WORKBENCH_TIERS_WALKS` and
//! `WORKBENCH_TIERS_TILES` are the numbers of walks over arrays and of tiles in shared memory that are tried besides.

mod expr;
mod indices;
mod interpreter;
mod kernel;
mod launch;
mod memory;
mod places;
mod random;
mod shrink;
mod stmt;
mod text;
mod thread;
mod tile;
mod together;
mod ty;
mod value;
mod walk;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use std::time::Duration;

use workbench::runtime::Tier;

/// The limit of a launch: long enough for the C compiler on a busy machine, so that only a hang ends so.
const LIMIT: Duration = Duration::from_secs(120);

/// The tiers that are compared with the interpreter: a new tier is a new name here, the wide one last.
const TIERS: [Tier; 5] = [Tier::Soon, Tier::Good, Tier::Fibers, Tier::Lanes, Tier::Wide];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn machine_code_does_what_the_ir_says() {
    compare(setting("WORKBENCH_TIERS_CASES", 1000), setting("WORKBENCH_TIERS_WIDE", 10), kernel::kernel);
}

/// Bounds checks hoisted out of a loop are wide code's, so each of these kernels is compiled wide.
#[test]
fn what_is_looked_at_before_a_loop_is_what_it_reads() {
    compare(setting("WORKBENCH_TIERS_WALKS", 150), 1, kernel::walks);
}

/// Bounds checks hoisted to once per block are wide code's, which each of these kernels gets unless told otherwise.
#[test]
fn what_is_looked_at_for_a_block_is_what_its_threads_do() {
    compare(setting("WORKBENCH_TIERS_TILES", 150), setting("WORKBENCH_TIERS_WIDE", 1), kernel::tiles);
}

thread_local! {
    /// True on a thread that runs kernels, whose panics are reported with their kernels.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Leaves panics of workers untold. The hook belongs to the process, and tests run side by side, so it is set once and never taken back.
fn tell_panics_of_tests_alone() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_WORKER.get() {
                tell(panic);
            }
        }));
    });
}

/// Runs the kernels of so many seeds in every tier; every `wide`th in the wide tier, too.
fn compare(cases: u64, wide: u64, make: fn(u64) -> kernel::Kernel) {
    let (first, wide) = (setting("WORKBENCH_TIERS_SEED", 1), wide.max(1));
    let trace = setting("WORKBENCH_TIERS_TRACE", 0) > 0;
    let (next, faults, failures) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        IS_WORKER.set(true);
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            if case >= cases || failures.lock().expect("nobody panics with it").len() >= 5 {
                return;
            }
            let seed = first + case;
            if trace {
                eprintln!("seed {seed}");
            }
            let kernel = make(seed);
            if setting("WORKBENCH_TIERS_SHOW", 0) > 0 {
                println!(
                    "// seed {seed}: <<<{:?}, {:?}>>>\n{}",
                    kernel.grid,
                    kernel.block,
                    text::render(&kernel.nodes)
                );
            }
            let tiers = if seed.is_multiple_of(wide) { &TIERS[..] } else { &TIERS[..TIERS.len() - 1] };
            let source = text::render(&kernel.nodes);
            let tried = catch_unwind(AssertUnwindSafe(|| launch::try_kernel(&kernel, &source, tiers, LIMIT)));
            match tried {
                Ok(Ok(ended)) => _ = faults.fetch_add(ended.faults, Ordering::Relaxed),
                Ok(Err(failure)) => {
                    let first = failure.message.clone();
                    let told = shrink::shrink(&kernel, failure);
                    failures
                        .lock()
                        .expect("nobody panics with it")
                        .push(format!("seed {seed}: {first}\nsmaller: {told}"));
                }
                Err(panic) => {
                    let told = panic.downcast_ref::<String>().map(String::as_str);
                    let told = told.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("something");
                    let source = text::render(&kernel.nodes);
                    failures
                        .lock()
                        .expect("nobody panics with it")
                        .push(format!("seed {seed} panics with {told}:\n{source}"));
                }
            }
        }
    };
    tell_panics_of_tests_alone();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(work)));
    let failures = failures.into_inner().expect("nobody panicked with it");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    println!("{cases} kernels, {} faults", faults.into_inner());
}

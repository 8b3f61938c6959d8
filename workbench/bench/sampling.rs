//! Sampling: warm-up, batches, rounds, order, cache.
//!
//! For each size every contestant is called until its best code is there ([`super::settled`]), warmed up, and its batch calibrated; then contestants take turns, one sample per round, in an order
//! that rotates from round to round. So drift of the clock frequency and noise of other processes affect all alike, and samples of one
//! round can be compared as pairs.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::machine::Machine;
use super::report::{BenchReport, BenchRow, Policy};
use super::settled::{self, Patience};
use super::stats::CONFIDENCE;
use super::timer::Timer;
use super::units;
use crate::back::{FaultKind, notebook};
use crate::runtime::{self, Error, Result, Tiers};

/// The contents of the caches when a sample begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePolicy {
    /// The data that earlier calls left there: data that fits stays in cache.
    #[default]
    Warm,
    /// No data of the contestant's: before every sample a buffer of twice the last-level cache is written. A sample is then one call.
    Flush,
}

/// One contestant at one size, ready to be called.
pub type Contestant<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// The length and number of measurements. Durations bound the sampling; a running call is never cut short.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchConfig {
    /// Sampling ends for a size once this much time is spent on it, all contestants together.
    pub target_time_per_size: Duration,
    /// Most rounds (samples of each contestant) for a size.
    pub rounds: usize,
    /// Rounds that are taken even where [`target_time_per_size`](Self::target_time_per_size) is spent.
    pub min_samples: usize,
    /// The contents of the caches.
    pub cache: CachePolicy,
    /// No new round begins once the whole sweep has taken this long; the report then says what is missing.
    pub max_total: Duration,
    /// The time that each contestant runs unmeasured at each size; at least one call.
    pub warm_up: Duration,
    /// The time up to which calls are batched into a sample, so that the clock's resolution does not matter.
    pub min_sample: Duration,
    /// The longest wait for the best code of a contestant at a size, within [`max_total`](Self::max_total); the report then says that it was not
    /// there.
    pub max_wait: Duration,
    /// Samples of each contestant from which a size counts that a stop came into.
    pub least: usize,
    /// The time after which it is told how far the measurement is.
    pub first_told: Duration,
}

impl Default for BenchConfig {
    fn default() -> Self {
        BenchConfig {
            target_time_per_size: Duration::from_millis(200),
            rounds: 200,
            min_samples: 11,
            cache: CachePolicy::Warm,
            max_total: Duration::from_secs(60),
            warm_up: Duration::from_millis(10),
            min_sample: Duration::from_micros(50),
            max_wait: settled::MAX_WAIT,
            least: LEAST,
            first_told: FIRST_TOLD,
        }
    }
}

impl BenchConfig {
    /// The policy, as a report tells it.
    fn policy(&self, timer: &Timer) -> Policy {
        Policy {
            confidence: CONFIDENCE,
            timer_overhead_s: timer.overhead_s,
            min_sample_s: self.min_sample.as_secs_f64(),
            warm_up_s: self.warm_up.as_secs_f64(),
            target_time_per_size_s: self.target_time_per_size.as_secs_f64(),
            max_rounds: self.rounds,
        }
    }
}

/// Most calls in a batch: reached only by a contestant that does nothing.
const MOST_CALLS: u64 = 1 << 24;

/// Samples of each contestant from which a size that was not finished counts, where nothing else is said.
pub const LEAST: usize = 5;

/// Samples that a median's 95 % interval needs.
pub const LEAST_OF_INTERVAL: usize = 6;

struct Entrant<'a> {
    run: Contestant<'a>,
    batch: u64,
    times: Vec<f64>,
    /// The tiers of the code that samples ran, where they are others than those of the sample before.
    tiers: Vec<Tiers>,
}

/// Times each contestant at each size.
///
/// `make(contestant, size)` prepares one contestant (an index into `names`) for one size, with its arguments allocated; the closure it
/// gives makes one call. All contestants of a size live at the same time. If closures cross into another language the crossing is part of
/// the time. Sizes are measured in the order given.
///
/// # Errors
/// The first error of `make` or of a contestant; an argument error where there is no contestant, no size or no round.
pub fn sweep<'a>(
    names: &[String],
    sizes: &[u64],
    make: impl FnMut(usize, u64) -> Result<Contestant<'a>>,
    config: &BenchConfig,
) -> Result<BenchReport> {
    let line = notebook::Line::default();
    let tell = |now: &Progress<'_>| line.show(&now.line(), "");
    sweep_while(names, sizes, make, config, &Asking::notebook(Some(&tell)))
}

/// An error if the cell of a Rust notebook is to stop.
fn go_on() -> Result<()> {
    if notebook::is_stopped() { Err(Error::Other("the measurement was stopped".to_owned())) } else { Ok(()) }
}

/// The user's wish to stop a measurement.
pub struct Asking<'a> {
    /// Called every few milliseconds during waits for code that is being compiled; its error ends the measurement.
    pub ask: &'a dyn Fn() -> Result<()>,
    /// True for an error, of `ask` or of a contestant, that comes of the user's wish.
    pub is_stop: &'a dyn Fn(&Error) -> bool,
    /// Told during waits and between samples how far the measurement is, after [`BenchConfig::first_told`] and then every [`TOLD_EVERY`].
    pub tell: Option<&'a dyn Fn(&Progress<'_>)>,
}

/// True for an error that comes of the stop button.
fn is_stop_of_notebook(error: &Error) -> bool {
    match error {
        Error::Fault(fault) => fault.kind == FaultKind::Interrupted,
        _ => notebook::is_stopped(),
    }
}

impl<'a> Asking<'a> {
    /// The stop button of a Rust notebook; outside of one nothing stops a measurement.
    pub fn notebook(tell: Option<&'a dyn Fn(&Progress<'_>)>) -> Self {
        Asking { ask: &go_on, is_stop: &is_stop_of_notebook, tell }
    }
}

/// The time after which a measurement tells how far it is, where nothing else is said.
pub const FIRST_TOLD: Duration = Duration::from_secs(1);

/// The time between two tellings.
pub const TOLD_EVERY: Duration = Duration::from_millis(400);

/// The stage of the measurement of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Contestants are called until their best code is there: the number of those that are ready.
    Preparing(usize),
    /// Contestants take turns: the number of samples that each has.
    Sampling(usize),
}

/// The progress of a measurement.
#[derive(Debug)]
pub struct Progress<'p> {
    /// The number of sizes that have been measured.
    pub done: usize,
    /// The number of sizes.
    pub sizes: usize,
    /// The size that is being measured.
    pub size: u64,
    /// The stage of its measurement.
    pub stage: Stage,
    /// The time since the beginning.
    pub elapsed: Duration,
    /// The medians of the size that is being measured so far, in seconds per call, by contestant; 0 where there is none.
    pub medians: Vec<(&'p str, f64)>,
    /// The report on the sizes that have been measured.
    pub report: BenchReport,
}

impl Progress<'_> {
    /// The progress as a line: `4 Ki  7/13 sizes  mine 4.30 µs  numpy 7.80 µs  about 6 s left`.
    pub fn line(&self) -> String {
        let mut parts = vec![units::count(self.size), format!("{}/{} sizes", self.done, self.sizes)];
        let known = self.medians.iter().filter(|(_, median)| *median > 0.0);
        parts.extend(known.map(|(name, median)| format!("{name} {}", units::seconds(*median))));
        if let Stage::Preparing(ready) = self.stage
            && let Some((name, _)) = self.medians.get(ready)
        {
            parts.push(format!("waiting for the best code of {name}"));
        }
        let elapsed = self.elapsed.as_secs_f64();
        parts.push(match self.done {
            0 => format!("{elapsed:.0} s so far"),
            done => format!("about {:.0} s left", (elapsed / done as f64 * (self.sizes - done) as f64).max(1.0)),
        });
        parts.join("  ")
    }
}

/// The next telling.
struct Teller<'a> {
    tell: Option<&'a dyn Fn(&Progress<'_>)>,
    next: Instant,
}

impl Teller<'_> {
    /// Tells what `progress` gives, if it is time.
    fn tell<'p>(&mut self, progress: impl FnOnce() -> Progress<'p>) {
        let Some(tell) = self.tell else { return };
        if Instant::now() >= self.next {
            tell(&progress());
            self.next = Instant::now() + TOLD_EVERY;
        }
    }
}

/// The error of a sweep that has nothing to time.
fn hold(names: &[String], sizes: &[u64], config: &BenchConfig) -> Result<()> {
    let missing = match () {
        () if names.is_empty() => "no contestant is given",
        () if sizes.is_empty() => "`sizes` is empty",
        () if config.rounds == 0 => "`rounds` is 0",
        () => return Ok(()),
    };
    Err(Error::argument(format!("nothing to time: {missing}")))
}

/// Times as [`sweep`] does until the user wants it to stop. What was measured until then is the result, with a note; a size counts
/// if each contestant has [`BenchConfig::least`] samples of it.
///
/// # Errors
/// As [`sweep`]; and the user's wish where nothing was measured yet.
pub fn sweep_while<'a>(
    names: &[String],
    sizes: &[u64],
    mut make: impl FnMut(usize, u64) -> Result<Contestant<'a>>,
    config: &BenchConfig,
    asking: &Asking<'_>,
) -> Result<BenchReport> {
    hold(names, sizes, config)?;
    let timer = Timer::get();
    let mut flusher = (config.cache == CachePolicy::Flush).then(Flusher::new);
    // Code compiled earlier that is not timed here is not waited for.
    runtime::forget_own();
    let begin = Instant::now();
    // A contestant whose code was waited for in vain is not waited for again.
    let mut late = vec![false; names.len()];
    let teller = RefCell::new(Teller { tell: asking.tell, next: begin + config.first_told });
    let policy = config.policy(&timer);
    let report = |rows: Vec<BenchRow>, notes: Vec<String>| BenchReport {
        title: String::new(),
        size_name: "n".to_owned(),
        rows,
        machine: Machine::this().clone(),
        cache: config.cache,
        policy: policy.clone(),
        notes,
    };
    let mut rows = Vec::with_capacity(names.len() * sizes.len());
    let mut notes = Vec::new();

    for (measured, &size) in sizes.iter().enumerate() {
        if measured > 0 && begin.elapsed() >= config.max_total {
            let missing = sizes.len() - measured;
            let limit = units::seconds(config.max_total.as_secs_f64());
            notes.push(format!("stopped after {limit}: {missing} of {} sizes not measured", sizes.len()));
            break;
        }
        let mut entrants: Vec<Entrant<'a>> = Vec::with_capacity(names.len());
        let told = |stage: Stage, medians: &dyn Fn(usize) -> f64| {
            teller.borrow_mut().tell(|| Progress {
                done: measured,
                sizes: sizes.len(),
                size,
                stage,
                elapsed: begin.elapsed(),
                medians: names.iter().enumerate().map(|(i, name)| (name.as_str(), medians(i))).collect(),
                report: report(rows.clone(), Vec::new()),
            });
        };
        let mut measure = || -> Result<()> {
            for (contestant, name) in names.iter().enumerate() {
                told(Stage::Preparing(contestant), &|_| 0.0);
                let mut run = make(contestant, size)?;
                let left = config.max_total.saturating_sub(begin.elapsed());
                let wait = if late[contestant] { Duration::ZERO } else { config.max_wait.min(left) };
                let ask = || {
                    told(Stage::Preparing(contestant), &|_| 0.0);
                    (asking.ask)()
                };
                let (batch, is_best) = warm_up(&timer, &mut *run, config, &Patience::new(&ask, wait))?;
                if !is_best && !std::mem::replace(&mut late[contestant], true) {
                    let limit = units::seconds(config.max_wait.min(config.max_total).as_secs_f64());
                    notes.push(format!(
                        "after {limit} the best code of {name} was not made yet: measured with what there was"
                    ));
                }
                entrants.push(Entrant { run, batch, times: Vec::new(), tiers: Vec::new() });
            }
            let mut told = |entrants: &[Entrant<'_>]| {
                let samples = entrants.iter().map(|e| e.times.len()).min().unwrap_or(0);
                told(Stage::Sampling(samples), &|i| entrants[i].median());
            };
            sample(&timer, &mut entrants, &mut flusher, config, begin, &mut told)
        };
        let stop = match measure() {
            Err(error) if (asking.is_stop)(&error) => Some(error),
            ended => ended.map(|()| None)?,
        };
        let least = entrants.iter().map(|e| e.times.len()).min().unwrap_or(0);
        let counts = stop.is_none() || entrants.len() == names.len() && least >= config.least.max(1);
        if counts {
            let finished = entrants.into_iter().zip(names);
            rows.extend(finished.map(|(e, name)| {
                notes.extend(e.change(name, size));
                let tier = e.tier();
                BenchRow { tier, ..BenchRow::from_samples(name, size, e.batch, e.times) }
            }));
        }
        if let Some(stop) = stop {
            if rows.is_empty() {
                return Err(stop);
            }
            let missing = sizes.len() - measured - usize::from(counts);
            let last = if counts { ", and the last one with fewer samples" } else { "" };
            notes.push(format!("stopped by you: {missing} of {} sizes not measured{last}", sizes.len()));
            break;
        }
    }

    Ok(report(rows, notes))
}

/// The rounds of one size.
fn sample(
    timer: &Timer,
    entrants: &mut [Entrant<'_>],
    flusher: &mut Option<Flusher>,
    config: &BenchConfig,
    begin: Instant,
    told: &mut dyn FnMut(&[Entrant<'_>]),
) -> Result<()> {
    let start = Instant::now();
    let count = entrants.len();
    for round in 0..config.rounds {
        // A flush takes longer than most calls: then the samples that an interval needs are enough.
        let least = if flusher.is_some() { config.min_samples.min(LEAST_OF_INTERVAL) } else { config.min_samples };
        let enough = round >= least && start.elapsed() >= config.target_time_per_size;
        if enough || (round > 0 && begin.elapsed() >= config.max_total) {
            break;
        }
        for turn in 0..count {
            let entrant = &mut entrants[(round + turn) % count];
            if let Some(flusher) = flusher {
                flusher.flush();
            }
            // A contestant that launches nothing is not asked by anything else.
            go_on()?;
            Tiers::take();
            let time = timer.time(entrant.batch, &mut *entrant.run)?;
            entrant.times.push(time);
            let tiers = Tiers::take();
            if entrant.tiers.last() != Some(&tiers) {
                entrant.tiers.push(tiers);
            }
        }
        told(entrants);
    }
    Ok(())
}

impl Entrant<'_> {
    /// The median of its times so far, in seconds per call.
    fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(0.0)
    }

    /// The tiers of the code that its samples ran; `None` where they launched nothing on the CPU.
    fn tier(&self) -> Option<String> {
        let all = self.tiers.iter().fold(Tiers::default(), |all, tiers| all.and(*tiers));
        (!all.is_empty()).then(|| all.names())
    }

    /// A note that its code changed while it was measured.
    fn change(&self, name: &str, size: u64) -> Option<String> {
        let ran: Vec<String> = self.tiers.iter().filter(|tiers| !tiers.is_empty()).map(|tiers| tiers.names()).collect();
        let (first, last) = (ran.first()?, ran.last()?);
        (ran.len() > 1).then(|| {
            let size = units::count(size);
            format!("the code of {name} changed while it was measured at {size}: {first} first, {last} at the end")
        })
    }
}

/// Runs a contestant until it is warm, and gives the number of calls that make a sample of `min_sample`, and true if it runs the best code.
fn warm_up(
    timer: &Timer,
    run: &mut dyn FnMut() -> Result<()>,
    config: &BenchConfig,
    patience: &Patience<'_>,
) -> Result<(u64, bool)> {
    let goal = config.min_sample.as_secs_f64();
    let settled = settled::bring(timer, run, patience)?;
    let (mut batch, mut total) = (1u64, settled.last_call);
    let start = Instant::now();
    let start = start.checked_sub(Duration::try_from_secs_f64(total).unwrap_or_default()).unwrap_or(start);
    loop {
        // A batch would warm the caches that were flushed before it.
        let long_enough = config.cache == CachePolicy::Flush || total >= goal || batch >= MOST_CALLS;
        if long_enough && start.elapsed() >= config.warm_up {
            return Ok((batch, settled.is_best));
        }
        if !long_enough {
            // Slightly more than the estimate, since the first calls are slow; at most ten times as many, since they are few.
            let wanted = if total > 0.0 { 1.2 * goal / total } else { 10.0 };
            batch = ((batch as f64 * wanted.clamp(1.5, 10.0)).ceil() as u64).min(MOST_CALLS);
        }
        total = timer.time(batch, run)? * batch as f64;
    }
}

/// Evicts the contents of the caches by writing a larger buffer.
struct Flusher {
    buffer: Vec<u64>,
}

impl Flusher {
    /// A buffer of twice the last-level cache, since replacement is not exactly least-recently-used; 64 MiB if the size is unknown.
    fn new() -> Self {
        const UNKNOWN: u64 = 32 << 20;
        const MOST: u64 = 512 << 20;
        let bytes = (2 * Machine::this().last_level_cache.unwrap_or(UNKNOWN)).min(MOST);
        Flusher { buffer: vec![0; (bytes / 8) as usize] }
    }

    fn flush(&mut self) {
        for line in self.buffer.chunks_mut(8) {
            line[0] = line[0].wrapping_add(1);
        }
        black_box(&mut self.buffer);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn quick() -> BenchConfig {
        BenchConfig {
            target_time_per_size: Duration::from_millis(1),
            warm_up: Duration::ZERO,
            min_sample: Duration::from_micros(5),
            ..BenchConfig::default()
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn every_contestant_has_a_row_at_every_size_with_equal_samples() {
        let report = sweep(
            &names(&["a", "b"]),
            &[1, 10],
            |_, size| {
                Ok(Box::new(move || {
                    black_box((0..size * 100).fold(0u64, |a, b| a ^ black_box(b)));
                    Ok(())
                }))
            },
            &quick(),
        )
        .unwrap();
        let keys: Vec<_> = report.rows.iter().map(|r| (r.name.as_str(), r.size)).collect();
        assert_eq!(keys, [("a", 1), ("b", 1), ("a", 10), ("b", 10)]);
        assert!(report.rows.iter().all(|r| r.samples >= 11 && r.samples == r.times_s.len()));
        assert_eq!(report.rows[0].samples, report.rows[1].samples);
        assert!(report.rows[2].median_s > report.rows[0].median_s);
    }

    #[test]
    fn what_the_first_call_compiles_is_timed_at_its_best() {
        let programs: RefCell<Vec<runtime::Program>> = RefCell::default();
        let config = BenchConfig { warm_up: Duration::from_millis(1), ..quick() };
        sweep(
            &names(&["a"]),
            &[1],
            |_, _| {
                Ok(Box::new(|| {
                    let mut programs = programs.borrow_mut();
                    match programs.first() {
                        Some(program) => assert!(program.is_settled()),
                        None => {
                            programs.push(crate::compile("__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }")?)
                        }
                    }
                    Ok(())
                }))
            },
            &config,
        )
        .unwrap();
        assert_eq!(programs.borrow().len(), 1);
    }

    /// A contestant of a program that launches run for the first time, and the tiers that its calls ran.
    fn launched(kernel: &runtime::Kernel, size: usize) -> Contestant<'_> {
        let (x, mut y) = (ndarray::Array1::<f32>::ones(size), ndarray::Array1::<f32>::zeros(size));
        Box::new(move || kernel.launch(size as u32 / 128, 128).arg(&x).arg(&mut y).arg(size as i32).run().map(drop))
    }

    const LOOP: &str = "__global__ void f(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        for (int k = 0; k < 40; ++k) v = v * 0.5f + 0.25f;
        y[i] = v;
    }";

    #[test]
    fn every_sample_runs_the_code_that_the_last_one_runs() {
        let kernel = crate::compile(LOOP).unwrap().kernel("f").unwrap();
        let config = BenchConfig { rounds: 12, ..quick() };
        let report = sweep(&names(&["f"]), &[2048], |_, size| Ok(launched(&kernel, size as usize)), &config).unwrap();
        assert_eq!(report.rows[0].tier.as_deref(), kernel.tier());
        assert_ne!(kernel.tier(), Some("soon"));
        assert_eq!(report.notes, [""; 0]);
    }

    #[test]
    fn code_that_changes_between_samples_is_told() {
        let tiers = [runtime::Tier::Good, runtime::Tier::Good, runtime::Tier::Wide];
        let calls = Cell::new(0);
        let make = |_: usize, _: u64| -> Result<Contestant<'_>> {
            Ok(Box::new(|| {
                tiers[(calls.get()).min(2)].note_run();
                calls.set(calls.get() + 1);
                Ok(())
            }))
        };
        let config = BenchConfig { rounds: 3, min_sample: Duration::ZERO, ..quick() };
        let report = sweep(&names(&["a"]), &[64], make, &config).unwrap();
        // The first call warms up.
        assert_eq!(report.rows[0].tier.as_deref(), Some("good, wide"));
        assert_eq!(report.notes, ["the code of a changed while it was measured at 64: good first, wide at the end"]);
    }

    #[test]
    fn tiny_functions_are_batched_and_the_order_rotates() {
        let order = RefCell::new(Vec::new());
        let config = BenchConfig { rounds: 3, min_sample: Duration::ZERO, ..quick() };
        sweep(
            &names(&["a", "b", "c"]),
            &[1],
            |contestant, _| {
                let order = &order;
                Ok(Box::new(move || {
                    order.borrow_mut().push(contestant);
                    Ok(())
                }))
            },
            &config,
        )
        .unwrap();
        assert_eq!(*order.borrow(), [0, 1, 2, 0, 1, 2, 1, 2, 0, 2, 0, 1]);

        let report = sweep(&names(&["a"]), &[1], |_, _| Ok(Box::new(|| Ok(()))), &quick()).unwrap();
        assert!(report.rows[0].batch > 100, "{}", report.rows[0].batch);
    }

    #[test]
    fn flushing_takes_one_call_a_sample() {
        let config = BenchConfig { cache: CachePolicy::Flush, rounds: 2, ..quick() };
        let calls = Cell::new(0);
        let count = || {
            calls.set(calls.get() + 1);
            Ok(())
        };
        let report = sweep(&names(&["a"]), &[1], |_, _| Ok(Box::new(count)), &config).unwrap();
        assert_eq!((report.rows[0].batch, report.rows[0].samples, calls.get()), (1, 2, 3));
    }

    #[test]
    fn the_whole_sweep_is_bounded_and_says_what_is_missing() {
        let config = BenchConfig { max_total: Duration::ZERO, ..quick() };
        let report = sweep(&names(&["a"]), &[1, 2, 3], |_, _| Ok(Box::new(|| Ok(()))), &config).unwrap();
        assert_eq!(report.rows.len(), 1);
        assert_eq!(report.rows[0].samples, 1);
        assert_eq!(report.notes, ["stopped after 0 s: 2 of 3 sizes not measured"]);
    }

    /// A sweep over three sizes in which the contestant's `calls`th call at the size `at` is stopped by the user.
    fn stopped_at(at: u64, calls: usize) -> Result<BenchReport> {
        let make = |_: usize, size: u64| {
            let mut left = calls;
            let run: Contestant<'_> = Box::new(move || {
                left -= usize::from(size == at);
                std::thread::sleep(Duration::from_millis(1));
                if left == 0 { Err(Error::Other("stop".to_owned())) } else { Ok(()) }
            });
            Ok(run)
        };
        let is_stop = |error: &Error| error.to_string() == "stop";
        let config = BenchConfig { target_time_per_size: Duration::from_millis(30), ..quick() };
        sweep_while(
            &names(&["a"]),
            &[1, 2, 3],
            make,
            &config,
            &Asking { ask: &|| Ok(()), is_stop: &is_stop, tell: None },
        )
    }

    #[test]
    fn a_stop_keeps_what_was_measured() {
        let sizes = |report: &BenchReport| report.rows.iter().map(|row| row.size).collect::<Vec<_>>();
        // In the first warm-up there is nothing to keep; at the second size too few samples to count.
        assert_eq!(stopped_at(1, 1).unwrap_err().to_string(), "stop");
        let report = stopped_at(2, 3).unwrap();
        assert_eq!(sizes(&report), [1]);
        assert_eq!(report.notes, ["stopped by you: 2 of 3 sizes not measured"]);
        // One call warms up, and each sample is one call.
        let report = stopped_at(2, 2 + LEAST).unwrap();
        assert_eq!(sizes(&report), [1, 2]);
        assert_eq!(report.rows[1].samples, LEAST);
        assert_eq!(report.notes, ["stopped by you: 1 of 3 sizes not measured, and the last one with fewer samples"]);
    }

    #[test]
    fn a_wait_is_told_and_who_wants_it_keeps_a_single_sample() {
        let stages = RefCell::new(Vec::new());
        let tell = |now: &Progress<'_>| stages.borrow_mut().push(now.stage);
        let calls = Cell::new(0);
        // A call that warms up, and a sample; the third is stopped.
        let call = || {
            calls.set(calls.get() + 1);
            std::thread::sleep(Duration::from_millis(1));
            if calls.get() == 3 { Err(Error::Other("stop".to_owned())) } else { Ok(()) }
        };
        let asking =
            Asking { ask: &|| Ok(()), is_stop: &|error: &Error| error.to_string() == "stop", tell: Some(&tell) };
        let config = BenchConfig { least: 1, first_told: Duration::ZERO, ..quick() };
        let report = sweep_while(&names(&["a"]), &[1], |_, _| Ok(Box::new(call)), &config, &asking).unwrap();
        assert_eq!(report.rows[0].samples, 1);
        assert_eq!(stages.borrow()[0], Stage::Preparing(0));
    }

    #[test]
    fn errors_come_back() {
        let fails =
            |_: usize, _: u64| -> Result<Contestant<'static>> { Ok(Box::new(|| Err(Error::Other("x".into())))) };
        assert!(sweep(&names(&["a"]), &[1], fails, &quick()).is_err());
        assert!(sweep(&[], &[1], fails, &quick()).is_err());
        assert!(sweep(&names(&["a"]), &[], fails, &quick()).is_err());
        assert!(sweep(&names(&["a"]), &[1], fails, &BenchConfig { rounds: 0, ..quick() }).is_err());
    }

    #[test]
    fn the_line_says_what_is_left() {
        let report = sweep(&names(&["a"]), &[1], |_, _| Ok(Box::new(|| Ok(()))), &quick()).unwrap();
        let told = |stage, done, sizes, size, elapsed, medians: &[(&str, f64)]| {
            let (medians, elapsed) = (medians.to_vec(), Duration::from_secs_f64(elapsed));
            Progress { done, sizes, size, stage, elapsed, medians, report: report.clone() }.line()
        };
        let line = |done, sizes, size, elapsed, medians: &[(&str, f64)]| {
            told(Stage::Sampling(1), done, sizes, size, elapsed, medians)
        };
        // 14 s for 7 sizes leave 12 s for the other 6.
        assert_eq!(
            line(7, 13, 4096, 14.0, &[("mine", 4.3e-6), ("numpy", 7.8e-6)]),
            "4 Ki  7/13 sizes  mine 4.30 µs  numpy 7.80 µs  about 12 s left"
        );
        assert_eq!(line(0, 2, 64, 3.2, &[("mine", 0.0)]), "64  0/2 sizes  3 s so far");
        assert_eq!(
            told(Stage::Preparing(1), 0, 2, 64, 3.2, &[("mine", 0.0), ("theirs", 0.0)]),
            "64  0/2 sizes  waiting for the best code of theirs  3 s so far"
        );
    }
}

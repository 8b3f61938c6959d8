//! Timing of many contestants by elimination: all of them shortly, those near the best again and longer. The first one stays to the end, because
//! all are compared with it.
//!
//! Contestants that leave are clearly behind: the interval of their ratio lies past that of the best. A busy machine may time the first one otherwise in each round,
//! so ratios of earlier rounds are brought to those of the last by the contestants that stayed.

use std::cell::Cell;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::report::BenchReport;
use super::sampling::{Asking, BenchConfig, Contestant, LEAST_OF_INTERVAL, Progress, Stage, sweep_while};
use super::stats::{CONFIDENCE, MedianInterval, median, median_interval};
use crate::plural::plural;
use crate::runtime::{Error, Result};

/// One round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The share of a contestant's time that the round takes.
    pub share: f64,
    /// Samples of each contestant that it takes at least.
    pub samples: usize,
    /// How much slower than the best of the round a contestant may be, even clearly, to take part in the next.
    pub limit: f64,
}

/// The rounds.
pub const ROUNDS: [Round; 3] = [
    Round { share: 0.2, samples: LEAST_OF_INTERVAL, limit: 1.5 },
    Round { share: 0.3, samples: 11, limit: 1.15 },
    Round { share: 0.5, samples: 11, limit: 1.0 },
];

/// The number of a round in which the best of several eliminations are timed once more, side by side.
pub const FINAL_ROUND: usize = ROUNDS.len() + 1;

/// The standing of a contestant after the last round that it took part in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Standing {
    /// Median seconds per call.
    pub median: f64,
    /// Lower end of the median's interval.
    pub low: f64,
    /// Upper end of the median's interval.
    pub high: f64,
    /// The median of the paired ratios of its time by the first contestant's.
    pub ratio: f64,
    /// Lower end of that median's interval: 0 where the samples are too few for one.
    pub ratio_low: f64,
    /// Upper end of that median's interval: infinite where the samples are too few for one.
    pub ratio_high: f64,
    /// The number of samples.
    pub samples: usize,
    /// The number of the round, from 1.
    pub round: usize,
}

/// The outcome of an elimination.
#[derive(Debug)]
pub struct Elimination {
    /// A standing for each contestant; `None` where a stop came before it had a sample.
    pub standings: Vec<Option<Standing>>,
    /// The user's wish to stop, if it came.
    pub stop: Option<Error>,
}

/// The present state of an elimination: its round, the best so far, the time left.
#[derive(Debug)]
pub struct Doing<'d> {
    /// The number of the round, from 1; 0 while contestants are called until their best code is there.
    pub round: usize,
    /// The number of contestants in it.
    pub contestants: usize,
    /// The stage of its measurement.
    pub stage: Stage,
    /// The name of the fastest so far, and its time by the first one's.
    pub best: Option<(&'d str, f64)>,
    /// An estimate of the seconds that are left.
    pub left: Option<f64>,
}

impl Doing<'_> {
    /// The progress as a line: `round 2 of 3: 5 configurations, 14 samples of each; best so far block=64, 0.50 of the first's time`.
    pub fn line(&self) -> String {
        let mut line = match (self.round, self.stage) {
            (0, Stage::Preparing(ready)) => {
                format!("{ready} of {} configurations have their best code", self.contestants)
            }
            (0, Stage::Sampling(_)) => "all configurations have their best code".to_owned(),
            (round, stage) => {
                let samples = match stage {
                    Stage::Sampling(samples @ 1..) => format!(", {} of each", plural(samples, "sample")),
                    _ => String::new(),
                };
                format!("round {round} of {}: {} configurations{samples}", ROUNDS.len(), self.contestants)
            }
        };
        if let Some((name, ratio)) = self.best {
            line.push_str(&format!("; best so far {name}, {ratio:.2} of the first's time"));
        }
        line
    }

    /// The line with the time that is left, where as many eliminations are to come as `others`: each may last as long as this one, which began
    /// `elapsed` seconds ago.
    pub fn line_with_left(&self, elapsed: f64, others: usize) -> String {
        let left = self.left.map(|left| left + others as f64 * (elapsed + left));
        let left = left.map_or_else(String::new, |left| format!("; about {:.0} s left", left.max(1.0)));
        self.line() + &left
    }
}

/// An estimate of what rounds last: their share of the time, or as long as their least samples take.
struct Pace {
    seconds: f64,
}

impl Pace {
    /// The seconds that a round and those after it last, from samples that take `turn` seconds each. Half of the contestants leave after each.
    fn of_rounds(&self, round: usize, contestants: usize, turn: f64) -> f64 {
        let BenchConfig { rounds: most, min_sample, .. } = BenchConfig::default();
        let turn = turn.max(min_sample.as_secs_f64());
        let rounds = ROUNDS.iter().enumerate().skip(round.saturating_sub(1));
        let lasts = |(at, next): (usize, &Round)| {
            let count = contestants as f64 / f64::from(1u32 << (at + 1 - round.max(1)).min(16));
            let share = (self.seconds * next.share).min(turn * most as f64);
            count.max(1.0) * share.max(turn * next.samples as f64)
        };
        rounds.map(lasts).sum()
    }

    /// The seconds that are left, `elapsed` seconds after a round began; `None` where nothing is known yet.
    fn left(&self, round: usize, contestants: usize, stage: Stage, elapsed: f64) -> Option<f64> {
        match stage {
            Stage::Preparing(0) if round == 0 => None,
            Stage::Preparing(ready) if round == 0 => {
                let wait = elapsed / ready as f64 * contestants.saturating_sub(ready) as f64;
                Some(wait + self.of_rounds(1, contestants, 0.0))
            }
            Stage::Sampling(samples) if samples > 0 => {
                let turn = elapsed / (samples * contestants.max(1)) as f64;
                Some((self.of_rounds(round, contestants, turn) - elapsed).max(0.0))
            }
            _ => Some((self.of_rounds(round, contestants, 0.0) - elapsed).max(0.0)),
        }
    }
}

/// Times contestants, of which there are as many as names, at one size in rounds. `make(i)` prepares one, each time anew; `seconds` is for each
/// that stays to the end. `tell` is told what is done now.
///
/// # Errors
/// The first error of `make` or of a contestant that is no wish to stop; an argument error where there is no contestant.
pub fn eliminate<'a>(
    names: &[String],
    size: u64,
    mut make: impl FnMut(usize) -> Result<Contestant<'a>>,
    seconds: Duration,
    asking: &Asking<'_>,
    tell: &dyn Fn(&Doing<'_>),
) -> Result<Elimination> {
    let count = names.len();
    let pace = Pace { seconds: seconds.as_secs_f64() };
    let mut standings = vec![None; count];
    let stopped = Cell::new(false);
    let is_stop = |error: &Error| {
        let is_stop = (asking.is_stop)(error);
        stopped.set(stopped.get() || is_stop);
        is_stop
    };
    let mut remaining: Vec<usize> = (0..count).collect();
    let mut run = |number: usize, contestants: &[usize], seconds: Duration, samples: usize| -> Result<BenchReport> {
        let names: Vec<String> = contestants.iter().map(|&i| names[i].clone()).collect();
        let config = BenchConfig {
            target_time_per_size: seconds,
            min_samples: samples,
            max_total: Duration::MAX,
            max_wait: Duration::MAX,
            // A stop leaves what there is, even a single sample.
            least: 1,
            first_told: Duration::ZERO,
            ..BenchConfig::default()
        };
        let begun = Instant::now();
        let told = |now: &Progress<'_>| {
            let first = now.medians.first().map_or(0.0, |(_, median)| *median);
            let timed = now.medians.iter().filter(|(_, median)| *median > 0.0 && first > 0.0);
            let best = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, median)| (*name, median / first));
            let left = pace.left(number, contestants.len(), now.stage, begun.elapsed().as_secs_f64());
            let best = best.filter(|_| number > 0);
            tell(&Doing { round: number, contestants: contestants.len(), stage: now.stage, best, left });
        };
        let asking = Asking { ask: asking.ask, is_stop: &is_stop, tell: Some(&told) };
        sweep_while(&names, &[size], |i, _| make(contestants[i]), &config, &asking)
    };
    // A benchmark waits for a contestant's best code before its first sample: this one is for that alone, since the code of one
    // contestant is made while another's is waited for.
    let mut result = run(0, &remaining, Duration::ZERO, 1).map(drop);
    for (number, round) in (1..).zip(ROUNDS) {
        if result.is_err() || stopped.get() {
            break;
        }
        let share = seconds.mul_f64(round.share * remaining.len() as f64).max(Duration::from_millis(1));
        let report = match run(number, &remaining, share, round.samples) {
            Ok(report) => report,
            Err(error) => {
                result = Err(error);
                break;
            }
        };
        // Rows are in the order of the contestants.
        let Some(first) = report.rows.first() else { break };
        let mut ratios = Vec::with_capacity(remaining.len());
        let mut shifts = Vec::new();
        for (&contestant, row) in remaining.iter().zip(&report.rows) {
            let pairs: Vec<f64> = row.times_s.iter().zip(&first.times_s).map(|(own, first)| own / first).collect();
            let ratio = ratio_interval(&pairs, contestant == 0);
            ratios.push(ratio);
            let before: Option<Standing> = standings[contestant];
            // The first one's ratio is 1 in every round.
            shifts.extend(before.filter(|_| contestant != 0).map(|before| ratio.median / before.ratio));
            standings[contestant] = Some(Standing {
                median: row.median_s,
                low: row.ci_low,
                high: row.ci_high,
                ratio: ratio.median,
                ratio_low: ratio.low,
                ratio_high: ratio.high,
                samples: row.times_s.len(),
                round: number,
            });
        }
        bring_to(number, &mut standings, &shifts);
        remaining = staying(&remaining, &ratios, round.limit);
        if remaining.len() == 1 {
            break;
        }
    }
    match result {
        Err(error) if stopped.get() => Ok(Elimination { standings, stop: Some(error) }),
        Err(error) => Err(error),
        Ok(()) => {
            let stop = stopped.get().then(|| Error::Other("the measurement was stopped".to_owned()));
            Ok(Elimination { standings, stop })
        }
    }
}

/// Brings the ratios of those that left before a round to it: by the median of what the ratios of those that stayed are now to what they were.
fn bring_to(round: usize, standings: &mut [Option<Standing>], shifts: &[f64]) {
    if !shifts.is_empty() {
        let shift = median(shifts);
        let left = |standing: &&mut Standing| standing.round < round;
        standings.iter_mut().flatten().filter(left).for_each(|standing| {
            standing.ratio *= shift;
            standing.ratio_low *= shift;
            standing.ratio_high *= shift;
        });
    }
}

/// The interval of the median of paired ratios; of the first contestant's with itself it is a point.
fn ratio_interval(pairs: &[f64], is_first: bool) -> MedianInterval {
    let interval = median_interval(pairs, CONFIDENCE);
    match pairs.len() {
        0..LEAST_OF_INTERVAL if !is_first => MedianInterval { low: 0.0, high: f64::INFINITY, ..interval },
        _ => interval,
    }
}

/// The contestants that stay: the first one, and those whose ratio is not clearly larger than the best, or is larger by no more than a limit.
fn staying(contestants: &[usize], ratios: &[MedianInterval], limit: f64) -> Vec<usize> {
    let Some(best) = ratios.iter().min_by(|a, b| a.median.total_cmp(&b.median)) else { return contestants.to_vec() };
    let is_behind = |own: &MedianInterval| own.median > best.median * limit && own.low > best.high;
    let stays =
        |(&contestant, own): (&usize, &MedianInterval)| (contestant == 0 || !is_behind(own)).then_some(contestant);
    contestants.iter().zip(ratios).filter_map(stays).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Instant;

    use super::*;
    use crate::runtime;

    fn patient(is_stop: &dyn Fn(&Error) -> bool) -> Asking<'_> {
        Asking { ask: &|| Ok(()), is_stop, tell: None }
    }

    /// An elimination of so many contestants that tells nobody.
    fn eliminate_quietly<'a>(
        count: usize,
        size: u64,
        make: impl FnMut(usize) -> Result<Contestant<'a>>,
        seconds: Duration,
        asking: &Asking<'_>,
    ) -> Result<Elimination> {
        let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        eliminate(&names, size, make, seconds, asking, &|_| ())
    }

    /// A contestant that spins for a time.
    fn spinning<'a>(time: Duration) -> Contestant<'a> {
        Box::new(move || {
            let begun = Instant::now();
            while begun.elapsed() < time {
                std::hint::spin_loop();
            }
            Ok(())
        })
    }

    #[test]
    fn those_that_are_behind_leave_and_the_first_stays() {
        // The first and the third take ten times as long as the second. The third leaves; the first stays because all are compared with it.
        let times = [200, 20, 200].map(Duration::from_micros);
        let outcome =
            eliminate_quietly(3, 1, |i| Ok(spinning(times[i])), Duration::from_millis(5), &patient(&|_| false))
                .unwrap();
        let rounds: Vec<usize> = outcome.standings.iter().map(|s| s.unwrap().round).collect();
        // On a busy machine the third may not be clearly behind at once.
        assert_eq!(rounds[..2], [ROUNDS.len(); 2]);
        assert!(outcome.stop.is_none());
        let ratio = |i: usize| outcome.standings[i].unwrap().ratio;
        assert_eq!(ratio(0), 1.0);
        assert!(ratio(1) < ratio(2) && ratio(1) < 1.0, "{:?}", outcome.standings);
    }

    #[test]
    fn who_left_is_compared_with_the_first_as_it_was_in_the_last_round() {
        let standing = |ratio, round| {
            let (ratio_low, ratio_high) = (ratio, 2.0 * ratio);
            Some(Standing { median: 1.0, low: 1.0, high: 1.0, ratio, ratio_low, ratio_high, samples: 11, round })
        };
        // A busy machine timed the first one ten times as slow in the first round: the third left with 0.4, when the second had 0.08.
        let mut standings = [standing(1.0, 2), standing(0.8, 2), standing(0.4, 1), None];
        bring_to(2, &mut standings, &[0.8 / 0.08]);
        let ratios: Vec<f64> = standings.iter().flatten().map(|s| s.ratio).collect();
        assert_eq!(ratios[..2], [1.0, 0.8]);
        assert!((ratios[2] - 4.0).abs() < 1e-12, "{ratios:?}");
        assert_eq!(standings[2].map(|s| s.ratio_high), Some(2.0 * ratios[2]));
        bring_to(3, &mut standings, &[]);
        assert_eq!(standings[2].map(|s| s.ratio), Some(ratios[2]));
    }

    #[test]
    fn who_may_be_as_fast_as_the_best_stays() {
        let ratio = |low, median, high| MedianInterval { median, low, high, coverage: 0.95 };
        let ratios = [
            ratio(1.0, 1.0, 1.0),
            ratio(0.4, 0.5, 0.7),
            // Its median is far off, and its interval meets the best one's.
            ratio(0.65, 2.0, 3.0),
            // Clearly slower, by less than the round asks for, and by more.
            ratio(0.71, 0.74, 0.8),
            ratio(0.71, 0.76, 0.8),
        ];
        assert_eq!(staying(&[0, 3, 5, 6, 9], &ratios, 1.5), [0, 3, 5, 6]);
        assert_eq!(staying(&[0, 3, 5, 6, 9], &ratios, 1.0), [0, 3, 5]);
        assert_eq!(staying(&[0, 3], &ratios[..2], 1.5), [0, 3]);
        assert_eq!(staying(&[0], &ratios[..1], 1.0), [0]);
    }

    #[test]
    fn rounds_begin_when_the_best_code_is_there() {
        // Code that others have asked for is in front of it, or none is.
        for others in 0..4 {
            let texts = (0..others).map(|k| format!("__global__ void f(float* y) {{ y[threadIdx.x] += {k}.0f; }}"));
            let kernels: Vec<_> = texts.map(|text| crate::compile(&text).unwrap().kernel("f").unwrap()).collect();
            for kernel in &kernels {
                let mut y = ndarray::Array1::<f32>::zeros(256);
                runtime::hurried(|| kernel.launch(2_000, 256).arg(&mut y).run()).unwrap();
            }
            rounds_are_of_one_tier();
        }
    }

    fn rounds_are_of_one_tier() {
        let text = "__global__ void f(const float* x, float* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float v = x[i];
            for (int k = 0; k < 20; ++k) v = v * 0.5f + 0.25f;
            y[i] = v;
        }";
        // Contestants are prepared once for each round that they take part in, and before that for the wait for code.
        let (prepared, tiers) = (RefCell::new(0usize), RefCell::new(Vec::new()));
        let kernels = [(); 2].map(|()| crate::compile(text).unwrap().kernel("f").unwrap());
        let make = |i: usize| -> Result<Contestant<'_>> {
            *prepared.borrow_mut() += 1;
            let number = *prepared.borrow();
            let (kernel, tiers) = (&kernels[i], &tiers);
            let (x, mut y) = (ndarray::Array1::<f32>::ones(50_000), ndarray::Array1::<f32>::zeros(50_000));
            Ok(Box::new(move || {
                kernel.launch(196, 256).arg(&x).arg(&mut y).arg(50_000).run()?;
                tiers.borrow_mut().push((number, kernel.tier()));
                Ok(())
            }))
        };
        let outcome = eliminate_quietly(2, 50_000, make, Duration::from_millis(20), &patient(&|_| false)).unwrap();
        let of_rounds: usize = outcome.standings.iter().map(|s| s.unwrap().round).sum();
        let before = prepared.into_inner() - of_rounds;
        let rounds = tiers.into_inner().into_iter().filter(|(number, _)| *number > before);
        let mut seen: Vec<_> = rounds.map(|(_, tier)| tier).collect();
        assert!(seen.len() > 10);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1, "{seen:?}");
    }

    #[test]
    fn one_contestant_is_timed_once() {
        let outcome =
            eliminate_quietly(1, 1, |_| Ok(spinning(Duration::ZERO)), Duration::from_millis(1), &patient(&|_| false));
        assert_eq!(outcome.unwrap().standings[0].unwrap().round, 1);
    }

    #[test]
    fn a_stop_keeps_what_was_measured_and_an_error_is_an_error() {
        // Contestants are prepared for the wait for code and for each round; the stop comes in the second round.
        let prepared = RefCell::new(0);
        let make = |message: &'static str, at: usize| {
            let prepared = &prepared;
            move |_: usize| -> Result<Contestant<'static>> {
                *prepared.borrow_mut() += 1;
                let fails = *prepared.borrow() > at;
                Ok(Box::new(move || if fails { Err(Error::Other(message.to_owned())) } else { Ok(()) }))
            }
        };
        let is_stop = |error: &Error| error.to_string() == "stop";
        let outcome = eliminate_quietly(2, 1, make("stop", 4), Duration::from_millis(1), &patient(&is_stop)).unwrap();
        assert_eq!(outcome.standings.iter().map(|s| s.map(|s| s.round)).collect::<Vec<_>>(), [Some(1), Some(1)]);
        assert_eq!(outcome.stop.unwrap().to_string(), "stop");
        *prepared.borrow_mut() = 0;
        let outcome = eliminate_quietly(2, 1, make("stop", 0), Duration::from_millis(1), &patient(&is_stop)).unwrap();
        assert_eq!(outcome.standings, [None, None]);
        *prepared.borrow_mut() = 0;
        let error =
            eliminate_quietly(2, 1, make("broken", 4), Duration::from_millis(1), &patient(&is_stop)).unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert!(eliminate_quietly(0, 1, make("", 9), Duration::ZERO, &patient(&is_stop)).is_err());
    }

    #[test]
    fn a_stop_in_the_first_round_keeps_a_single_sample() {
        // Contestants are called once while they wait for code, and once to be warm; the first round has samples of one call each.
        let calls = Cell::new(0);
        let make = |at: usize| -> Result<Contestant<'_>> {
            let calls = &calls;
            Ok(Box::new(move || {
                std::thread::sleep(Duration::from_millis(11));
                calls.set(calls.get() + 1);
                if calls.get() > 8 && at == 0 { Err(Error::Other("stop".to_owned())) } else { Ok(()) }
            }))
        };
        let is_stop = |error: &Error| error.to_string() == "stop";
        let outcome = eliminate_quietly(2, 1, make, Duration::from_millis(1), &patient(&is_stop)).unwrap();
        let standings: Vec<Standing> = outcome.standings.into_iter().flatten().collect();
        assert_eq!(standings.len(), 2);
        assert!(standings.iter().all(|s| s.round == 1 && s.samples < LEAST_OF_INTERVAL), "{standings:?}");
        // So few samples have no interval.
        assert_eq!((standings[1].ratio_low, standings[1].ratio_high), (0.0, f64::INFINITY));
        assert_eq!((standings[0].ratio_low, standings[0].ratio_high), (1.0, 1.0));
    }

    #[test]
    fn each_stage_is_told() {
        let told = RefCell::new(Vec::new());
        let names = ["a", "b"].map(str::to_owned);
        let times = [400, 100].map(Duration::from_micros);
        let tell = |doing: &Doing<'_>| told.borrow_mut().push((doing.round, doing.line()));
        let asking = patient(&|_| false);
        eliminate(&names, 1, |i| Ok(spinning(times[i])), Duration::from_millis(20), &asking, &tell).unwrap();
        let told = told.into_inner();
        let line = |round: usize| &told.iter().find(|(number, _)| *number == round).expect("it is told").1;
        assert_eq!(line(0), "0 of 2 configurations have their best code");
        assert!(line(1).starts_with("round 1 of 3: 2 configurations"), "{told:?}");
        assert!(line(3).contains("round 3 of 3"), "{told:?}");
    }

    #[test]
    fn a_line_tells_the_best_and_the_time_that_is_left() {
        let doing = |round, stage, best, left, others| {
            Doing { round, contestants: 12, stage, best, left }.line_with_left(2.0, others)
        };
        assert_eq!(
            doing(0, Stage::Preparing(3), None, Some(40.4), 0),
            "3 of 12 configurations have their best code; about 40 s left"
        );
        assert_eq!(
            doing(2, Stage::Sampling(14), Some(("block=64", 0.5)), Some(0.2), 0),
            "round 2 of 3: 12 configurations, 14 samples of each; best so far block=64, 0.50 of the first's time; about 1 s left"
        );
        // Two more of the same kind last 2.2 s each.
        assert!(doing(2, Stage::Sampling(14), None, Some(0.2), 2).ends_with("; about 5 s left"));
        assert!(doing(0, Stage::Preparing(0), None, None, 2).ends_with("best code"));
    }

    #[test]
    fn the_time_that_is_left_follows_the_shares_and_the_samples() {
        let pace = Pace { seconds: 0.01 };
        let near =
            |left: Option<f64>, wanted: f64| assert!((left.unwrap() - wanted).abs() < 1e-9, "{left:?}, {wanted}");
        // 8 contestants have 2 ms each in the first round, 4 have 3 ms, 2 have 5 ms.
        near(pace.left(1, 8, Stage::Preparing(8), 0.0), 0.016 + 0.012 + 0.010);
        near(pace.left(2, 4, Stage::Sampling(11), 0.004), 0.012 + 0.010 - 0.004);
        // A wait of 3 s for the code of 2 of 8 means 9 s for that of the other 6.
        near(pace.left(0, 8, Stage::Preparing(2), 3.0), 9.0 + 0.038);
        assert_eq!(pace.left(0, 8, Stage::Preparing(0), 3.0), None);
        // However much time there is, 200 samples of 50 us end a round.
        near(Pace { seconds: 100.0 }.left(3, 2, Stage::Preparing(0), 0.0), 2.0 * 200.0 * 50e-6);
        // Calls of a second each: the least samples of each round are longer than its share.
        near(pace.left(1, 8, Stage::Sampling(1), 8.0), 8.0 * 6.0 + 4.0 * 11.0 + 2.0 * 11.0 - 8.0);
    }
}

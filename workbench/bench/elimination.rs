//! Timing of many contestants by elimination: all of them shortly, those near the best again and longer. The first one stays to the end, because
//! all are compared with it.
//!
//! Contestants that leave are clearly behind: the interval of their ratio lies past that of the best. A busy machine may time the first one otherwise in each round,
//! so ratios of earlier rounds are brought to those of the last by the contestants that stayed.

use std::cell::Cell;
use std::time::Duration;

use serde::Serialize;

use super::report::BenchReport;
use super::sampling::{Asking, BenchConfig, Contestant, sweep_while};
use super::stats::{CONFIDENCE, MedianInterval, median, median_interval};
use crate::runtime::{Error, Result};

/// One round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The share of a contestant's time that the round takes.
    pub share: f64,
    /// How much slower than the best of the round a contestant may be, even clearly, to take part in the next.
    pub limit: f64,
}

/// The rounds.
pub const ROUNDS: [Round; 3] =
    [Round { share: 0.2, limit: 1.5 }, Round { share: 0.3, limit: 1.15 }, Round { share: 0.5, limit: 1.0 }];

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
    /// The number of samples.
    pub samples: usize,
    /// The number of the round, from 1.
    pub round: usize,
}

/// The outcome of an elimination.
#[derive(Debug)]
pub struct Elimination {
    /// A standing for each contestant; `None` where a stop came before its first round was over.
    pub standings: Vec<Option<Standing>>,
    /// The user's wish to stop, if it came.
    pub stop: Option<Error>,
}

/// Times `count` contestants at one size in rounds. `make(i)` prepares one, each time anew; `seconds` is for each that stays to the end.
///
/// # Errors
/// The first error of `make` or of a contestant that is no wish to stop; an argument error where there is no contestant.
pub fn eliminate<'a>(
    count: usize,
    size: u64,
    mut make: impl FnMut(usize) -> Result<Contestant<'a>>,
    seconds: Duration,
    asking: &Asking<'_>,
) -> Result<Elimination> {
    let mut standings = vec![None; count];
    let stopped = Cell::new(false);
    let is_stop = |error: &Error| {
        let is_stop = (asking.is_stop)(error);
        stopped.set(stopped.get() || is_stop);
        is_stop
    };
    let mut remaining: Vec<usize> = (0..count).collect();
    let mut run = |contestants: &[usize], seconds: Duration| -> Result<BenchReport> {
        let names: Vec<String> = contestants.iter().map(usize::to_string).collect();
        let config = BenchConfig {
            target_time_per_size: seconds,
            max_total: Duration::MAX,
            max_wait: Duration::MAX,
            ..BenchConfig::default()
        };
        let asking = Asking { ask: asking.ask, is_stop: &is_stop, tell: None };
        sweep_while(&names, &[size], |i, _| make(contestants[i]), &config, &asking)
    };
    // A benchmark waits for a contestant's best code before its first sample: this one is for that alone, since the code of one
    // contestant is made while another's is waited for.
    let mut result = run(&remaining, Duration::ZERO).map(drop);
    for (number, round) in (1..).zip(ROUNDS) {
        if result.is_err() || stopped.get() {
            break;
        }
        let share = seconds.mul_f64(round.share * remaining.len() as f64).max(Duration::from_millis(1));
        let report = match run(&remaining, share) {
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
            let ratio = median_interval(&pairs, CONFIDENCE);
            ratios.push(ratio);
            let before: Option<Standing> = standings[contestant];
            // The first one's ratio is 1 in every round.
            shifts.extend(before.filter(|_| contestant != 0).map(|before| ratio.median / before.ratio));
            standings[contestant] = Some(Standing {
                median: row.median_s,
                low: row.ci_low,
                high: row.ci_high,
                ratio: ratio.median,
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
        standings.iter_mut().flatten().filter(left).for_each(|standing| standing.ratio *= shift);
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
            eliminate(3, 1, |i| Ok(spinning(times[i])), Duration::from_millis(5), &patient(&|_| false)).unwrap();
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
        let standing = |ratio, round| Some(Standing { median: 1.0, low: 1.0, high: 1.0, ratio, samples: 11, round });
        // A busy machine timed the first one ten times as slow in the first round: the third left with 0.4, when the second had 0.08.
        let mut standings = [standing(1.0, 2), standing(0.8, 2), standing(0.4, 1), None];
        bring_to(2, &mut standings, &[0.8 / 0.08]);
        let ratios: Vec<f64> = standings.iter().flatten().map(|s| s.ratio).collect();
        assert_eq!(ratios[..2], [1.0, 0.8]);
        assert!((ratios[2] - 4.0).abs() < 1e-12, "{ratios:?}");
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
        let outcome = eliminate(2, 50_000, make, Duration::from_millis(20), &patient(&|_| false)).unwrap();
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
        let outcome = eliminate(1, 1, |_| Ok(spinning(Duration::ZERO)), Duration::from_millis(1), &patient(&|_| false));
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
        let outcome = eliminate(2, 1, make("stop", 4), Duration::from_millis(1), &patient(&is_stop)).unwrap();
        assert_eq!(outcome.standings.iter().map(|s| s.map(|s| s.round)).collect::<Vec<_>>(), [Some(1), Some(1)]);
        assert_eq!(outcome.stop.unwrap().to_string(), "stop");
        *prepared.borrow_mut() = 0;
        let outcome = eliminate(2, 1, make("stop", 0), Duration::from_millis(1), &patient(&is_stop)).unwrap();
        assert_eq!(outcome.standings, [None, None]);
        *prepared.borrow_mut() = 0;
        let error = eliminate(2, 1, make("broken", 4), Duration::from_millis(1), &patient(&is_stop)).unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert!(eliminate(0, 1, make("", 9), Duration::ZERO, &patient(&is_stop)).is_err());
    }
}

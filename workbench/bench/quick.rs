//! One function, timed as Triton's `testing.do_bench` times it.

use super::settled::{self, Patience};
use super::stats;
use super::timer::Timer;
use crate::runtime::{self, Error, Result};

/// The limit on samples: each takes eight bytes, and by then the estimate no longer moves.
const MOST_SAMPLES: u64 = 1_000_000;

/// Runs `f` for about `warmup_ms`, then for about `rep_ms`, and gives the time of every call in milliseconds.
///
/// As in Triton, both counts follow from an estimate over five calls, each is at least one, and each call is a sample of its own, with the
/// clock's overhead subtracted. Unlike in Triton no cache is flushed: flushing a processor's last-level cache takes ten milliseconds, so a
/// microsecond function would take half an hour. Use [`super::sweep`] with [`super::CachePolicy::Flush`] for that. Fails with the first
/// error of `f`.
pub fn do_bench(f: impl FnMut() -> Result<()>, warmup_ms: f64, rep_ms: f64) -> Result<Vec<f64>> {
    do_bench_while(f, warmup_ms, rep_ms, &|| Ok(()))
}

/// Times as [`do_bench`] does; `ask` is called every few milliseconds during waits for code that is being compiled, and its error ends the
/// call.
pub fn do_bench_while(
    mut f: impl FnMut() -> Result<()>,
    warmup_ms: f64,
    rep_ms: f64,
    ask: &dyn Fn() -> Result<()>,
) -> Result<Vec<f64>> {
    let valid = |ms: f64| ms.is_finite() && ms >= 0.0;
    if !valid(warmup_ms) || !valid(rep_ms) {
        return Err(Error::argument(format!(
            "`warmup` and `rep` are milliseconds of at least 0, not {warmup_ms} and {rep_ms}"
        )));
    }
    let timer = Timer::get();
    runtime::forget_own();
    settled::bring(&timer, &mut f, &Patience::new(ask, settled::MAX_WAIT))?;
    let estimate_ms = timer.time(5, &mut f)? * 1e3;
    let calls = |ms: f64| {
        let count = if estimate_ms > 0.0 { ms / estimate_ms } else { f64::INFINITY };
        (count as u64).clamp(1, MOST_SAMPLES)
    };
    for _ in 0..calls(warmup_ms) {
        f()?;
    }
    (0..calls(rep_ms)).map(|_| Ok(timer.time(1, &mut f)? * 1e3)).collect()
}

/// The statistic of the times, by Triton's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReturnMode {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The arithmetic mean.
    #[default]
    Mean,
    /// The median.
    Median,
    /// Every time, in the order measured.
    All,
}

impl ReturnMode {
    /// The mode of a name; an error lists the valid names.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "min" => Ok(ReturnMode::Min),
            "max" => Ok(ReturnMode::Max),
            "mean" => Ok(ReturnMode::Mean),
            "median" => Ok(ReturnMode::Median),
            "all" => Ok(ReturnMode::All),
            _ => Err(Error::argument(format!(
                "`return_mode` is one of `min`, `max`, `mean`, `median`, `all`, not `{name}`"
            ))),
        }
    }
}

/// The times as Triton returns them: the quantiles if any are asked for, else the statistic of `mode`. One value stands for a number,
/// several for a list.
pub fn summarize(times: &[f64], quantiles: &[f64], mode: ReturnMode) -> Result<Vec<f64>> {
    if let Some(q) = quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::argument(format!("a quantile lies between 0 and 1, and {q} does not")));
    }
    let ascending = stats::sorted(times);
    if !quantiles.is_empty() {
        return Ok(quantiles.iter().map(|&q| stats::quantile(&ascending, q)).collect());
    }
    Ok(match mode {
        ReturnMode::Min => vec![stats::quantile(&ascending, 0.0)],
        ReturnMode::Max => vec![stats::quantile(&ascending, 1.0)],
        ReturnMode::Mean => vec![stats::mean(times)],
        ReturnMode::Median => vec![stats::quantile(&ascending, 0.5)],
        ReturnMode::All => times.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn repetitions_follow_the_time_asked_for() {
        let mut calls = 0;
        let times = do_bench(
            || {
                calls += 1;
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            },
            2.0,
            10.0,
        )
        .unwrap();
        assert!((1..=10).contains(&times.len()), "{}", times.len());
        assert!(times.iter().all(|t| *t >= 0.9));
        assert!(calls > times.len());
    }

    #[test]
    fn what_the_first_call_compiles_is_timed_at_its_best() {
        let mut programs: Vec<runtime::Program> = Vec::new();
        let first = || crate::compile("__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }");
        do_bench(
            || {
                match programs.first() {
                    Some(program) => assert!(program.is_settled()),
                    None => programs.push(first()?),
                }
                Ok(())
            },
            0.0,
            0.0,
        )
        .unwrap();
        assert_eq!(programs.len(), 1);
    }

    #[test]
    fn a_long_call_is_still_sampled_once() {
        let slow = || {
            std::thread::sleep(Duration::from_millis(3));
            Ok(())
        };
        assert_eq!(do_bench(slow, 0.0, 0.0).unwrap().len(), 1);
    }

    #[test]
    fn bad_arguments_are_named() {
        assert!(do_bench(|| Ok(()), -1.0, 1.0).is_err());
        assert!(do_bench(|| Ok(()), 1.0, f64::NAN).is_err());
        assert!(do_bench(|| Err(Error::Other("stop".into())), 1.0, 1.0).is_err());
        assert!(ReturnMode::from_name("mode").is_err());
        assert!(summarize(&[1.0], &[1.5], ReturnMode::Mean).is_err());
    }

    #[test]
    fn summaries() {
        let times = [3.0, 1.0, 2.0, 10.0];
        let one = |name| summarize(&times, &[], ReturnMode::from_name(name).unwrap()).unwrap();
        assert_eq!(one("min"), [1.0]);
        assert_eq!(one("max"), [10.0]);
        assert_eq!(one("mean"), [4.0]);
        assert_eq!(one("median"), [2.5]);
        assert_eq!(one("all"), times);
        assert_eq!(summarize(&times, &[0.0, 0.5], ReturnMode::Mean).unwrap(), [1.0, 2.5]);
    }
}

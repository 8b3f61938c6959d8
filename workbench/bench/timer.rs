//! The clock: monotonic, with its own overhead measured and subtracted from every sample.

use std::sync::OnceLock;
use std::time::Instant;

use crate::runtime::Result;

/// A monotonic clock that knows the cost of a reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timer {
    /// Seconds between two readings with nothing between them: the smallest of many, so that subtracting it from a sample never subtracts
    /// work.
    pub overhead_s: f64,
}

/// Readings from which the overhead is computed; about a tenth of a millisecond in all.
const READINGS: usize = 2_000;

impl Timer {
    /// The timer of this process, measured once.
    pub fn get() -> Timer {
        static TIMER: OnceLock<Timer> = OnceLock::new();
        *TIMER.get_or_init(Timer::measure_overhead)
    }

    /// Measures the clock's overhead again.
    pub fn measure_overhead() -> Timer {
        let smallest = (0..READINGS).map(|_| Instant::now().elapsed()).min().unwrap_or_default();
        Timer { overhead_s: smallest.as_secs_f64() }
    }

    /// Seconds per call of `f`, called `batch` times in a row between two readings of the clock.
    ///
    /// The loop itself and the indirect call (about a nanosecond) are part of the time. Fails with the first error of
    /// `f`. The result is never negative.
    pub fn time(&self, batch: u64, f: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let batch = batch.max(1);
        let start = Instant::now();
        for _ in 0..batch {
            f()?;
        }
        let total = start.elapsed().as_secs_f64() - self.overhead_s;
        Ok(total.max(0.0) / batch as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::runtime::Error;

    #[test]
    fn overhead_is_small_and_never_negative() {
        let timer = Timer::get();
        assert!((0.0..1e-4).contains(&timer.overhead_s), "{timer:?}");
        assert!(timer.time(1, &mut || Ok(())).is_ok_and(|t| t >= 0.0));
    }

    #[test]
    fn a_sleep_is_at_least_as_long_as_asked() {
        let mut nap = || {
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        };
        let t = Timer::get().time(3, &mut nap).unwrap();
        assert!(t >= 0.0019, "{t}");
    }

    #[test]
    fn an_error_of_the_function_ends_the_sample() {
        let mut calls = 0;
        let result = Timer::get().time(10, &mut || {
            calls += 1;
            Err(Error::Other("no".into()))
        });
        assert!(result.is_err());
        assert_eq!(calls, 1);
    }
}

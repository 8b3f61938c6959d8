//! Axes: a range, the map from values to it, and ticks where people expect them.

use crate::bench::units;

/// One axis. Positions are in the plane's unit: the value, or its decimal logarithm.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// Both ends, as positions.
    pub ends: (f64, f64),
    /// Position and label, ascending.
    pub ticks: Vec<(f64, String)>,
    log: bool,
}

/// Most labels on an axis.
const MOST_TICKS: usize = 8;

impl Axis {
    /// The position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    /// A logarithmic axis over positive values, which must not be empty.
    pub(super) fn log(low: f64, high: f64, label: impl Fn(f64) -> String) -> Axis {
        let (mut a, mut b) = (low.log10(), high.log10());
        if b - a < 0.3 {
            // A single value, or nearly so, gets half an octave of space on both sides.
            let middle = (a + b) / 2.0;
            (a, b) = (middle - 0.2, middle + 0.2);
        }
        let pad = (b - a) * 0.05;
        let ends = (a - pad, b + pad);
        let ticks = log_ticks(ends).into_iter().map(|v| (v.log10(), label(v))).collect();
        Axis { ends, ticks, log: true }
    }

    /// A linear axis from zero to `high > 0`.
    pub(super) fn from_zero(high: f64, label: impl Fn(f64) -> String) -> Axis {
        let step = nice_step(high / 5.0);
        let count = (high * 1.05 / step).floor() as usize;
        let ticks = (0..=count.min(2 * MOST_TICKS)).map(|i| i as f64 * step).map(|v| (v, label(v))).collect();
        Axis { ends: (0.0, high * 1.08), ticks, log: false }
    }

    /// A logarithmic axis of sizes (all positive), with ticks at powers of two if the sizes are powers of two.
    pub(super) fn sizes(sizes: &[u64]) -> Axis {
        let low = sizes.iter().copied().min().unwrap_or(1);
        let high = sizes.iter().copied().max().unwrap_or(1);
        let mut axis = Axis::log(low as f64, high as f64, |v| units::count(v.round() as u64));
        if let [only] = sizes {
            axis.ticks = vec![((*only as f64).log10(), units::count(*only))];
        } else if sizes.iter().all(|s| s.is_power_of_two()) {
            let (first, last) = (low.trailing_zeros(), high.trailing_zeros());
            let step = (last - first).div_ceil(MOST_TICKS as u32).max(1);
            // Multiples of the step read best: 1 Ki, 32 Ki, 1 Mi.
            let from = first.next_multiple_of(step);
            let exponents = (from..=last).step_by(step as usize);
            axis.ticks =
                exponents.map(|e| ((1u64 << e) as f64, 1u64 << e)).map(|(v, n)| (v.log10(), units::count(n))).collect();
        }
        axis
    }
}

/// Values for the ticks of a logarithmic range: decades, or 1-2-5, or evenly spaced where less than a decade shows.
fn log_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let decades = high - low;
    let inside = |value: &f64| (low..=high).contains(&value.log10());
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    if decades >= 2.5 {
        let step = ((last - first) as usize).div_ceil(MOST_TICKS).max(1);
        return (first..=last).filter(|e| e.rem_euclid(step as i32) == 0).map(power).filter(inside).collect();
    }
    if decades >= 0.9 {
        let steps = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * power(e)));
        return steps.filter(inside).collect();
    }
    let (from, to) = (10f64.powf(low), 10f64.powf(high));
    let step = nice_step((to - from) / 4.0);
    let begin = (from / step).ceil() as i64;
    (begin..=begin + MOST_TICKS as i64).map(|i| i as f64 * step).filter(inside).collect()
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

/// 1, 2 or 5 times a power of ten, at least `raw`.
fn nice_step(raw: f64) -> f64 {
    let base = 10f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|m| m * base);
    steps.into_iter().find(|s| *s >= raw * 0.999).unwrap_or(10.0 * base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn time_axes_take_decades_then_steps() {
        assert_eq!(labels(&Axis::log(1e-6, 1e-2, units::tick_seconds)), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(labels(&Axis::log(1e-6, 2e-5, units::tick_seconds)), ["1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]);
        let flat = Axis::log(1e-6, 1e-6, units::tick_seconds);
        assert!((2..=8).contains(&flat.ticks.len()), "{flat:?}");
    }

    #[test]
    fn size_axes_take_powers_of_two() {
        let sizes: Vec<u64> = (10..=24).map(|e| 1 << e).collect();
        let axis = Axis::sizes(&sizes);
        assert_eq!(labels(&axis), ["1 Ki", "4 Ki", "16 Ki", "64 Ki", "256 Ki", "1 Mi", "4 Mi", "16 Mi"]);
        assert_eq!(labels(&Axis::sizes(&[1000, 1_000_000])), ["1 k", "10 k", "100 k", "1 M"]);
        assert_eq!(labels(&Axis::sizes(&[777])), ["777"]);
    }

    #[test]
    fn linear_axes_start_at_zero() {
        let axis = Axis::from_zero(47.0, |v| v.to_string());
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40"]);
        assert_eq!(axis.at(20.0), 20.0);
    }

    #[test]
    fn every_range_has_few_ticks_inside_it() {
        for low in [1e-12, 3e-9, 0.7, 4e5] {
            for factor in [1.0, 1.01, 1.9, 7.0, 33.0, 1e3, 1e9, 1e30] {
                let axis = Axis::log(low, low * factor, units::number);
                assert!((1..=MOST_TICKS + 1).contains(&axis.ticks.len()), "{low} {factor} {axis:?}");
                assert!(axis.ticks.iter().all(|(at, _)| (axis.ends.0..=axis.ends.1).contains(at)));
            }
        }
    }
}

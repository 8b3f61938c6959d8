//! Estimators for samples of running times: robust, distribution-free, each with its source.
//!
//! Running times are skewed and have outliers, so nothing here assumes a normal distribution. All functions take
//! samples in any order; samples that are not finite are left out.

use std::fmt;

use serde::Serialize;

/// The confidence level of every interval that is shown.
pub const CONFIDENCE: f64 = 0.95;

/// Ratios within `1 / PRACTICAL..PRACTICAL` count as no difference in practice; an interval that holds 1 and reaches
/// further says nothing either way.
pub const PRACTICAL: f64 = 1.1;

/// Differences below this are not claimed, however narrow the interval: alignment and code placement alone cause them.
pub const SMALLEST_CLAIM: f64 = 1.001;

/// The finite samples in ascending order.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite
}

/// The quantile `q` in 0..=1 of ascending samples, linear between neighbours (type 7 of Hyndman and Fan, "Sample
/// Quantiles in Statistical Packages", 1996; NumPy's and torch's default). NaN where there are no samples.
pub fn quantile(ascending: &[f64], q: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    let fraction = at - below as f64;
    ascending[below] + (ascending[above] - ascending[below]) * fraction
}

/// The median; NaN where there are no samples.
pub fn median(samples: &[f64]) -> f64 {
    quantile(&sorted(samples), 0.5)
}

/// The arithmetic mean; NaN where there are no samples.
pub fn mean(samples: &[f64]) -> f64 {
    let finite = sorted(samples);
    if finite.is_empty() { f64::NAN } else { finite.iter().sum::<f64>() / finite.len() as f64 }
}

/// An interval that holds the true median with at least the probability `coverage`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MedianInterval {
    /// The sample median.
    pub median: f64,
    /// Lower end, a sample.
    pub low: f64,
    /// Upper end, a sample.
    pub high: f64,
    /// The coverage attained: at least the one asked for, or less where there are too few samples.
    pub coverage: f64,
}

/// The interval of the median between two order statistics.
///
/// With `B ~ Binomial(n, 1/2)` the samples of rank `k` and `n + 1 - k` hold the median between them with probability
/// `1 - 2 P(B < k)`, whatever the (continuous) distribution (Conover, "Practical Nonparametric Statistics", 3rd ed.,
/// section 3.2; David and Nagaraja, "Order Statistics", section 7.1). The largest `k` that keeps `confidence` is
/// taken. Fewer than six samples cannot give 95 %: then the interval is the whole range, and `coverage` says
/// what it is worth.
pub fn median_interval(samples: &[f64], confidence: f64) -> MedianInterval {
    let ascending = sorted(samples);
    let n = ascending.len();
    if n == 0 {
        return MedianInterval { median: f64::NAN, low: f64::NAN, high: f64::NAN, coverage: 0.0 };
    }
    let (rank, coverage) = interval_rank(n, confidence);
    MedianInterval { median: quantile(&ascending, 0.5), low: ascending[rank - 1], high: ascending[n - rank], coverage }
}

/// The rank (from 1) of the lower end and the coverage attained, for `n >= 1`.
fn interval_rank(n: usize, confidence: f64) -> (usize, f64) {
    // P(B = 0) = 2^-n, then P(B = i) from its logarithm, which does not underflow before it stops to matter.
    let log_half_n = n as f64 * 0.5f64.ln();
    let mut log_binomial = 0.0;
    let mut below = log_half_n.exp();
    let mut best = (1, 1.0 - 2.0 * below);
    for i in 1..n.div_ceil(2) {
        log_binomial += ((n - i + 1) as f64 / i as f64).ln();
        below += (log_binomial + log_half_n).exp();
        let coverage = 1.0 - 2.0 * below;
        if coverage < confidence {
            break;
        }
        best = (i + 1, coverage);
    }
    (best.0, best.1.max(0.0))
}

/// The median absolute deviation from the median, times 1.4826, which makes it the standard deviation of normal samples
/// (Rousseeuw and Croux, "Alternatives to the Median Absolute Deviation", 1993).
pub fn mad(samples: &[f64]) -> f64 {
    let center = median(samples);
    let deviations: Vec<f64> = samples.iter().map(|x| (x - center).abs()).collect();
    1.4826 * median(&deviations)
}

/// The number of samples that lie further than 3.5 scaled MADs from the median (Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
/// 1993). They are counted, never removed.
pub fn outliers(samples: &[f64]) -> usize {
    let (center, spread) = (median(samples), mad(samples));
    if spread.is_nan() || spread == 0.0 {
        return 0;
    }
    samples.iter().filter(|x| (*x - center).abs() > 3.5 * spread).count()
}

/// The conclusion from two contestants' paired samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The first takes less time.
    Faster,
    /// The first takes more time.
    Slower,
    /// The interval of the ratio holds 1 and stays within [`PRACTICAL`].
    NoDifference,
    /// The interval holds 1 but is too wide to say that there is no difference.
    Undecided,
    /// Too few rounds for an interval of [`CONFIDENCE`].
    TooFew,
}

/// A comparison of two contestants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    /// The conclusion.
    pub outcome: Outcome,
    /// Median over rounds of the second's time by the first's: above 1 where the first is faster.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// The probability with which the interval holds the true median ratio.
    pub coverage: f64,
}

/// Compares `a` with `b`, paired by round: sample `i` of both was taken in round `i`, side by side, so that what
/// slows the machine for a while slows both. The interval is that of the median of the ratios `b[i] / a[i]`.
///
/// Each comparison stands alone: of twenty verdicts on equal contestants one may err.
pub fn verdict(a: &[f64], b: &[f64]) -> Verdict {
    let ratios: Vec<f64> = a.iter().zip(b).filter(|(a, b)| **a > 0.0 && **b > 0.0).map(|(a, b)| b / a).collect();
    let MedianInterval { median: ratio, low, high, coverage } = median_interval(&ratios, CONFIDENCE);
    let outcome = if coverage < CONFIDENCE {
        Outcome::TooFew
    } else if low >= SMALLEST_CLAIM {
        Outcome::Faster
    } else if high <= 1.0 / SMALLEST_CLAIM {
        Outcome::Slower
    } else if low >= 1.0 / PRACTICAL && high <= PRACTICAL {
        Outcome::NoDifference
    } else {
        Outcome::Undecided
    };
    Verdict { outcome, ratio, low, high, coverage }
}

impl Verdict {
    /// The same comparison seen from the second contestant.
    #[must_use]
    pub fn swapped(self) -> Verdict {
        let outcome = match self.outcome {
            Outcome::Faster => Outcome::Slower,
            Outcome::Slower => Outcome::Faster,
            same => same,
        };
        Verdict {
            outcome,
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            coverage: self.coverage,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            Outcome::Faster => write!(f, "faster by {}", Factor(self)),
            Outcome::Slower => write!(f, "slower by {}", Factor(&self.swapped())),
            Outcome::NoDifference => write!(f, "no difference shown ({:.2}–{:.2})", self.low, self.high),
            Outcome::Undecided => write!(f, "undecided ({:.2}–{:.2})", self.low, self.high),
            Outcome::TooFew => f.write_str("too few rounds to say"),
        }
    }
}

/// A ratio above 1 with its interval: as few decimals as tell its lower end from 1 and, if two suffice, its ends apart.
struct Factor<'a>(&'a Verdict);

impl fmt::Display for Factor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { ratio, low, high, .. } = *self.0;
        let first = if low >= 10.0 { 0 } else { 1 };
        let text = |value: f64, decimals: usize| format!("{value:.decimals$}");
        let above_one = |d: &usize| text(low, *d) != text(1.0, *d);
        let apart = |d: &usize| text(low, *d) != text(high, *d);
        let decimals =
            (first..=2).find(|d| above_one(d) && apart(d)).or_else(|| (first..=3).find(above_one)).unwrap_or(3);
        write!(f, "{ratio:.decimals$}x ({low:.decimals$}–{high:.decimals$})")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Marsaglia's xorshift64*, enough to draw uniform samples with a fixed seed.
    pub(crate) struct Random(pub(crate) u64);

    impl Random {
        pub(crate) fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Exponential: skewed as running times are; its median is ln 2.
        fn exponential(&mut self) -> f64 {
            -(1.0 - self.uniform()).ln()
        }
    }

    #[test]
    fn quantiles_interpolate_as_numpy_does() {
        let samples = sorted(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!(quantile(&samples, 0.0), 1.0);
        assert_eq!(quantile(&samples, 0.25), 1.75);
        assert_eq!(quantile(&samples, 0.5), 2.5);
        assert_eq!(quantile(&samples, 1.0), 4.0);
        assert!(quantile(&[], 0.5).is_nan());
        assert!(mean(&[]).is_nan());
        assert_eq!(mean(&[1.0, f64::NAN, 3.0]), 2.0);
    }

    #[test]
    fn ranks_are_those_of_the_published_tables() {
        // Lower rank of the 95 % interval of the median, Conover, table of the binomial with p = 1/2.
        for (n, rank) in [(6, 1), (8, 1), (9, 2), (10, 2), (15, 4), (20, 6), (25, 8), (30, 10), (50, 18), (100, 40)] {
            let (got, coverage) = interval_rank(n, 0.95);
            assert_eq!(got, rank, "n = {n}");
            assert!(coverage >= 0.95, "n = {n}: {coverage}");
        }
        assert!((interval_rank(6, 0.95).1 - (1.0 - 2.0 / 64.0)).abs() < 1e-12);
    }

    #[test]
    fn too_few_samples_give_the_range_and_its_true_worth() {
        for (n, coverage) in [(1usize, 0.0), (2, 0.5), (5, 0.9375)] {
            let samples: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let interval = median_interval(&samples, 0.95);
            assert_eq!((interval.low, interval.high), (0.0, (n - 1) as f64));
            assert!((interval.coverage - coverage).abs() < 1e-12, "{n}");
        }
        assert_eq!(median_interval(&[], 0.95).coverage, 0.0);
    }

    #[test]
    fn many_samples_do_not_underflow() {
        // For large n the rank is n/2 - 0.98 sqrt(n) to within a rank.
        let n = 1_000_000;
        let (rank, coverage) = interval_rank(n, 0.95);
        let normal = n as f64 / 2.0 - 0.979_982 * (n as f64).sqrt();
        assert!((rank as f64 - normal).abs() <= 1.5, "{rank} {normal}");
        assert!((0.95..0.9502).contains(&coverage));
    }

    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let trials = 4_000;
        for n in [7, 12, 25, 60] {
            let mut held = 0;
            let mut nominal = 0.0;
            for _ in 0..trials {
                let samples: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
                let interval = median_interval(&samples, 0.95);
                nominal = interval.coverage;
                held += usize::from((interval.low..=interval.high).contains(&std::f64::consts::LN_2));
            }
            let observed = f64::from(held as u32) / f64::from(trials);
            // Four standard errors of a proportion.
            let margin = 4.0 * (nominal * (1.0 - nominal) / f64::from(trials)).sqrt();
            assert!(nominal >= 0.95);
            assert!((observed - nominal).abs() <= margin, "n = {n}: {observed} of {nominal}");
        }
    }

    #[test]
    fn mad_of_normal_scale_and_outliers() {
        assert!((mad(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 1.4826).abs() < 1e-12);
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.0, 1.05, 9.0]), 1);
        assert_eq!(outliers(&[1.0; 8]), 0);
        assert_eq!(outliers(&[]), 0);
    }

    #[test]
    fn verdicts_follow_the_interval() {
        let mut random = Random(7);
        let mut draw = |scale: f64| (0..30).map(|_| scale * (0.99 + 0.02 * random.uniform())).collect::<Vec<_>>();
        let (a, b) = (draw(1.0), draw(1.8));
        let faster = verdict(&a, &b);
        assert_eq!(faster.outcome, Outcome::Faster);
        assert!(faster.low <= 1.8 && 1.8 <= faster.high);
        assert_eq!(verdict(&b, &a).outcome, Outcome::Slower);
        assert_eq!(faster.swapped().outcome, Outcome::Slower);
        assert_eq!(verdict(&a, &draw(1.0)).outcome, Outcome::NoDifference);
        assert_eq!(verdict(&a[..5], &b[..5]).outcome, Outcome::TooFew);
        let wild: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 0.4 } else { 2.5 }).collect();
        assert_eq!(verdict(&[1.0; 12], &wild).outcome, Outcome::Undecided);
        assert_eq!(verdict(&[], &[]).outcome, Outcome::TooFew);
        assert_eq!(verdict(&[0.0; 9], &[1.0; 9]).outcome, Outcome::TooFew);
    }

    #[test]
    fn equal_contestants_are_called_different_at_most_one_time_in_twenty() {
        let mut random = Random(42);
        let trials = 2_000;
        let mut wrong = 0;
        for _ in 0..trials {
            let mut draw = || (0..21).map(|_| 1.0 + 0.3 * random.exponential()).collect::<Vec<_>>();
            let (a, b) = (draw(), draw());
            wrong += usize::from(matches!(verdict(&a, &b).outcome, Outcome::Faster | Outcome::Slower));
        }
        // 0.05 and four standard errors.
        assert!(
            wrong as f64 / f64::from(trials) <= 0.05 + 4.0 * (0.05f64 * 0.95 / f64::from(trials)).sqrt(),
            "{wrong}"
        );
    }

    #[test]
    fn verdicts_in_words() {
        let say = |outcome, ratio, low, high| Verdict { outcome, ratio, low, high, coverage: 0.96 }.to_string();
        assert_eq!(say(Outcome::Faster, 1.8, 1.7, 1.9), "faster by 1.8x (1.7–1.9)");
        assert_eq!(say(Outcome::Slower, 0.5, 0.4, 0.625), "slower by 2.0x (1.6–2.5)");
        assert_eq!(say(Outcome::Faster, 1.02, 1.01, 1.03), "faster by 1.02x (1.01–1.03)");
        assert_eq!(say(Outcome::Faster, 1.7931, 1.7930, 1.7932), "faster by 1.8x (1.8–1.8)");
        assert_eq!(say(Outcome::Faster, 1.004, 1.002, 1.006), "faster by 1.004x (1.002–1.006)");
        assert_eq!(say(Outcome::Faster, 123.0, 120.0, 131.0), "faster by 123x (120–131)");
        assert_eq!(say(Outcome::NoDifference, 1.0, 0.98, 1.02), "no difference shown (0.98–1.02)");
        assert_eq!(say(Outcome::Undecided, 1.0, 0.5, 2.0), "undecided (0.50–2.00)");
        assert_eq!(say(Outcome::TooFew, f64::NAN, f64::NAN, f64::NAN), "too few rounds to say");
    }
}

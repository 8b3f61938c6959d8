//! Distribution of errors: a histogram with logarithmic bins.

use std::ops::Range;

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, notice, picture, place, shorten, text_width};
use super::theme::Role;
use crate::bench::units;

/// The unit of the errors, which decides the bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Units in the last place: bins end at 1, 2, 4, 8, ...
    Ulp,
    /// `|actual - expected|`: bins end at powers of ten.
    Absolute,
    /// `|actual - expected| / |expected|`: bins end at powers of ten.
    Relative,
}

impl ErrorKind {
    fn name(self) -> &'static str {
        match self {
            ErrorKind::Ulp => "ULP error",
            ErrorKind::Absolute => "absolute error",
            ErrorKind::Relative => "relative error",
        }
    }

    /// The exponent `e` of the bin `(b^(e-1), b^e]` (`b` is 2 for ULP, else 10) that holds an error above zero.
    fn exponent(self, error: f64) -> i32 {
        let exponent = if self == ErrorKind::Ulp { error.log2() } else { error.log10() };
        // Powers of the base end their bin, though their logarithm may come out a rounding error too large.
        let exponent = (exponent - 1e-9).ceil() as i32;
        if self == ErrorKind::Ulp { exponent.max(0) } else { exponent }
    }

    /// The label of a bin's upper end.
    fn label(self, exponent: i32) -> String {
        match self {
            ErrorKind::Ulp => match 1u64.checked_shl(exponent.max(0) as u32) {
                Some(value) if value < 10_000 => value.to_string(),
                Some(value) if exponent < 40 => units::count(value),
                _ => format!("2^{exponent}"),
            },
            _ if (-2..=2).contains(&exponent) => units::number(10f64.powi(exponent)),
            _ => format!("1e{exponent}"),
        }
    }
}

/// The scale of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountScale {
    /// Logarithmic where one bin has more than a hundred times as many as another, else in proportion.
    #[default]
    Auto,
    /// In proportion.
    Linear,
    /// By the logarithm: a bar of one element has the height of a third of a decade.
    Log,
}

/// The number of bins, besides those of exact zero and of values that are not finite.
const MOST_BINS: i32 = 20;

/// Counts by bin.
#[derive(Debug, PartialEq)]
struct Bins {
    zero: usize,
    odd: usize,
    /// Exponents of the upper ends, each bin `width` exponents wide.
    ends: Vec<i32>,
    counts: Vec<usize>,
}

impl Bins {
    fn new(errors: &[f64], kind: ErrorKind) -> Bins {
        let zero = errors.iter().filter(|e| **e == 0.0).count();
        let odd = errors.iter().filter(|e| !e.is_finite()).count();
        let above = || errors.iter().map(|e| e.abs()).filter(|e| *e > 0.0 && e.is_finite());
        let exponents = || above().map(|e| kind.exponent(e));
        let Some(range) = exponents().fold(None, |range: Option<Range<i32>>, e| {
            Some(range.map_or(e..e + 1, |r| r.start.min(e)..r.end.max(e + 1)))
        }) else {
            return Bins { zero, odd, ends: Vec::new(), counts: Vec::new() };
        };
        let low = if kind == ErrorKind::Ulp { 0 } else { range.start };
        let width = ((range.end - low + MOST_BINS - 1) / MOST_BINS).max(1);
        let bins = (range.end - low + width - 1) / width;
        let ends: Vec<i32> = (0..bins).map(|i| low + (i + 1) * width - 1).collect();
        let mut counts = vec![0; ends.len()];
        for e in exponents() {
            counts[((e - low) / width) as usize] += 1;
        }
        Bins { zero, odd, ends, counts }
    }

    /// The ratio of the largest and the smallest count of bins that are not empty.
    fn span(&self) -> f64 {
        let counts = || self.counts.iter().copied().chain([self.zero, self.odd]).filter(|count| *count > 0);
        counts().max().unwrap_or(1) as f64 / counts().min().unwrap_or(1) as f64
    }
}

/// Draws the number of elements by the size of their errors. Exact matches and errors that are not finite have a bar each; every bar shows
/// its count, so that the smallest is seen.
pub fn error_histogram(errors: &[f64], kind: ErrorKind, scale: CountScale, title: &str) -> Svg {
    let heading = if title.is_empty() {
        format!("Distribution of the {}", kind.name())
    } else {
        format!("{}: {}", shorten(title, 60), kind.name())
    };
    if errors.is_empty() {
        return notice(&heading, "no element was compared");
    }
    let bins = Bins::new(errors, kind);
    let is_log = match scale {
        CountScale::Linear => false,
        CountScale::Log => true,
        CountScale::Auto => bins.span() > 100.0,
    };
    picture(700, 270, &heading, |canvas| draw(canvas, errors, kind, &heading, &bins, is_log))
}

fn draw(canvas: &Canvas, errors: &[f64], kind: ErrorKind, heading: &str, bins: &Bins, is_log: bool) -> Drawn {
    const LEFT: f64 = 24.0;
    const TOP: f64 = 78.0;
    const WIDE: f64 = 652.0;
    const TALL: f64 = 138.0;
    const BROADEST: f64 = 64.0;
    let largest = errors.iter().map(|e| e.abs()).filter(|e| e.is_finite()).fold(0.0, f64::max);
    let total = errors.len();
    let exact = 100.0 * bins.zero as f64 / total as f64;
    let mut caption = format!("{total} elements, {} at zero", percent(exact));
    match bins.odd {
        0 => caption.push_str(&format!(", largest {}", units::number(largest))),
        n if n == total => {}
        n if bins.counts.is_empty() => caption.push_str(&format!(", {n} not finite")),
        n => caption.push_str(&format!(", {n} not finite, largest of the others {}", units::number(largest))),
    }
    canvas.heading(heading, &caption)?;

    let mut bars: Vec<(Role, f64, usize, String)> = vec![(Role::Series(2), 0.9, bins.zero, "0".to_owned())];
    for (&count, &end) in bins.counts.iter().zip(&bins.ends) {
        let label = kind.label(end);
        bars.push((Role::Series(0), 0.9, count, label));
    }
    if bins.odd > 0 {
        bars.push((Role::Odd, 0.9, bins.odd, "inf, nan".to_owned()));
    }
    let slots = (bars.len() as f64).max(WIDE / BROADEST);
    // A count of one is a third of a decade high.
    let height = |count: f64| if is_log { (count * 10f64.powf(1.0 / 3.0)).log10() } else { count };
    let highest = height(bars.iter().map(|b| b.2).max().unwrap_or(0).max(1) as f64);
    let plane = canvas.plane((LEFT, TOP), (WIDE, TALL), (0.0, slots), (0.0, highest));
    let bottom = TOP + TALL;
    let used = WIDE * bars.len() as f64 / slots;
    let labels: Vec<&str> = bars.iter().map(|b| b.3.as_str()).collect();
    let labelled = labelled(&labels, WIDE / slots);
    for (i, (role, alpha, count, label)) in bars.iter().enumerate() {
        let at = i as f64;
        let (middle, top) = place(&plane, (at + 0.5, height((*count).max(1) as f64)));
        // A count above zero always shows.
        let top = if *count > 0 { top.min(bottom - 1.5) } else { bottom };
        if *count > 0 {
            let (x0, _) = place(&plane, (at + 0.1, 0.0));
            let (x1, _) = place(&plane, (at + 0.9, 0.0));
            canvas.rect(Canvas::fill(*role, *alpha), (x0, top), (x1 - x0, bottom - top))?;
            let above = (middle, top - 3.0);
            canvas.text(
                Role::Ink,
                11.0,
                Weight::Normal,
                (HPos::Center, VPos::Bottom),
                above,
                &units::rough_count(*count as f64),
            )?;
        }
        if labelled[i] {
            let below = (middle, bottom + 9.0);
            canvas.text(Role::Muted, LABEL_SIZE, Weight::Normal, (HPos::Center, VPos::Top), below, label)?;
        }
    }
    canvas.line(Role::Muted, 1.0, &[(LEFT, bottom), (LEFT + used, bottom)])?;
    let scale = if is_log { ", heights on a log scale" } else { "" };
    let note = format!("below a bar: upper limit of its {}; above it: number of elements{scale}", kind.name());
    canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), (LEFT, bottom + 29.0), &note)
}

/// Size of the bars' labels.
const LABEL_SIZE: f64 = 12.0;
/// Least room between two labels.
const LABEL_GAP: f64 = 6.0;

/// The bars, `pitch` apart, that get their label: every one, or every second, ..., such that no two touch; and the last one.
fn labelled(labels: &[&str], pitch: f64) -> Vec<bool> {
    let fits = |a: usize, b: usize| {
        let half = |i: usize| text_width(labels[i], LABEL_SIZE) / 2.0;
        half(a) + half(b) + LABEL_GAP <= (b - a) as f64 * pitch
    };
    let count = labels.len();
    let clear = |every: usize| (0..count).step_by(every).zip((every..count).step_by(every)).all(|(a, b)| fits(a, b));
    let every = (1..count).find(|&every| clear(every)).unwrap_or(count.max(1));
    let mut shown: Vec<bool> = (0..count).map(|i| i % every == 0).collect();
    if let Some(last) = count.checked_sub(1)
        && !shown[last]
    {
        // The range ends there: the label before gives way.
        if let Some(before) = shown.iter().rposition(|s| *s).filter(|&before| before > 0 && !fits(before, last)) {
            shown[before] = false;
        }
        shown[last] = true;
    }
    shown
}

fn percent(value: f64) -> String {
    if value > 0.0 && value < 0.1 {
        "under 0.1 %".to_owned()
    } else if value < 100.0 && value > 99.9 {
        "over 99.9 %".to_owned()
    } else if value.fract() == 0.0 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulp_bins_end_at_powers_of_two() {
        let bins = Bins::new(&[0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], ErrorKind::Ulp);
        assert_eq!(bins, Bins { zero: 2, odd: 1, ends: vec![0, 1, 2, 3], counts: vec![2, 1, 2, 1] });
    }

    #[test]
    fn decimal_bins_end_at_powers_of_ten() {
        let bins = Bins::new(&[1e-7, 1.5e-7, 1e-6, 0.0], ErrorKind::Absolute);
        assert_eq!(bins, Bins { zero: 1, odd: 0, ends: vec![-7, -6], counts: vec![1, 2] });
    }

    #[test]
    fn a_wide_range_takes_wider_bins_and_loses_nothing() {
        let errors = [5e-324, 1e-300, 1.0, 1e300, f64::MAX];
        let bins = Bins::new(&errors, ErrorKind::Relative);
        assert!(bins.ends.len() <= MOST_BINS as usize);
        assert_eq!(bins.counts.iter().sum::<usize>(), errors.len());
        let huge = Bins::new(&[1.8e19, f64::MAX], ErrorKind::Ulp);
        assert_eq!(huge.counts.iter().sum::<usize>(), 2);
    }

    #[test]
    fn labels_never_touch() {
        // ULP errors from 0 to 2^62, and not finite ones: the widest range there is, and every narrower one.
        for largest in 0..63 {
            let errors: Vec<f64> = (0..=largest).map(|e| 2f64.powi(e)).chain([0.0, f64::NAN]).collect();
            for kind in [ErrorKind::Ulp, ErrorKind::Absolute] {
                let bins = Bins::new(&errors, kind);
                let mut labels = vec!["0".to_owned()];
                labels.extend(bins.ends.iter().map(|&e| kind.label(e)));
                labels.push("inf, nan".to_owned());
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let pitch = 652.0 / (labels.len() as f64).max(652.0 / 64.0);
                let shown = labelled(&labels, pitch);
                assert!(shown[0] && shown[labels.len() - 1], "{labels:?}");
                let ends: Vec<(f64, f64)> = (0..labels.len())
                    .filter(|&i| shown[i])
                    .map(|i| {
                        let half = text_width(labels[i], LABEL_SIZE) / 2.0;
                        (i as f64 * pitch - half, i as f64 * pitch + half)
                    })
                    .collect();
                assert!(ends.len() >= 3 || labels.len() < 3, "{labels:?}");
                assert!(ends.windows(2).all(|w| w[0].1 + 5.0 < w[1].0), "{largest} {labels:?}: {ends:?}");
            }
        }
    }

    #[test]
    fn the_numbers_above_and_below_a_bar_are_explained() {
        let note = |errors: &[f64], kind, scale| {
            let svg = error_histogram(errors, kind, scale, "");
            svg.as_str().split("below a bar: ").nth(1).and_then(|s| s.split('<').next()).map(str::to_owned)
        };
        let ulp = note(&[0.0, 1.0, 3.0], ErrorKind::Ulp, CountScale::Linear);
        assert_eq!(ulp.as_deref(), Some("upper limit of its ULP error; above it: number of elements"));
        let log = note(&[1e-3], ErrorKind::Relative, CountScale::Log);
        assert!(log.is_some_and(|log| log.ends_with("elements, heights on a log scale")));
    }

    #[test]
    fn percentages_never_round_to_all_or_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.001), "under 0.1 %");
        assert_eq!(percent(99.99), "over 99.9 %");
        assert_eq!(percent(100.0), "100 %");
        assert_eq!(percent(12.34), "12.3 %");
    }
}

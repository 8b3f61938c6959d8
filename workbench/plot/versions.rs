//! The picture of an operator's versions: a bar of the time of each at one size, broken ones in another colour.

use super::Svg;
use super::canvas::notice;
use super::contestants::compare;
use super::sweep::{Line, Point, Quantity};
use super::theme::Role;
use crate::bench::units;
use crate::ops::history::{History, Version};

/// Most versions that are drawn, the newest ones.
const MOST: usize = 50;

/// The times of the versions that were measured at the size that most of them were.
pub fn versions(history: &History) -> Svg {
    let name = history.name.rsplit("::").next().unwrap_or(&history.name);
    let title = format!("{name}: time per call by version");
    let Some(size) = history.common_size() else { return notice(&title, "no version was timed") };
    let measured: Vec<(&Version, Point)> =
        history.versions.iter().filter_map(|version| Some((version, point(version, size)?))).collect();
    if measured.is_empty() {
        return notice(&title, "no version was timed");
    }
    let left_out = measured.len().saturating_sub(MOST);
    let not_timed = history.versions.len() - measured.len();
    let lines: Vec<Line> = measured
        .into_iter()
        .skip(left_out)
        .map(|(version, point)| Line {
            name: format!("version {}{}", version.number, if is_broken(version) { " ✗" } else { "" }),
            role: if is_broken(version) { Role::Positive } else { Role::Series(0) },
            points: vec![point],
        })
        .collect();
    let mut caption =
        "median with interval of separate benchmarks, between which the machine may have drifted".to_owned();
    if lines.iter().any(|line| line.role == Role::Positive) {
        caption.push_str("; ✗ broken");
    }
    if not_timed > 0 {
        let at = if size == 0 { "" } else { " at this size" };
        caption.push_str(&format!("; {not_timed} of {} versions not timed{at}", history.versions.len()));
    }
    if left_out > 0 {
        caption.push_str(&format!("; {left_out} older versions are left out"));
    }
    let at = if size == 0 { String::new() } else { format!(", n = {}", units::count(size)) };
    compare(&format!("{title}{at}"), &caption, Quantity::Time, &lines)
}

fn is_broken(version: &Version) -> bool {
    version.check.as_ref().is_some_and(|check| !check.passed)
}

/// The time of a version at a size; `None` where it has none that can be drawn.
fn point(version: &Version, size: u64) -> Option<Point> {
    let time = version.time(size)?;
    let sound = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    if !sound(time.seconds) {
        return None;
    }
    let or_median = |seconds: f64| if sound(seconds) { seconds } else { time.seconds };
    let (low, high) = (or_median(time.low), or_median(time.high));
    let (median, interval) = (units::seconds(time.seconds), units::seconds_range(low, high));
    let broken = if is_broken(version) { ", broken" } else { "" };
    let tip = format!("version {}: {median} ({interval}){broken}", version.number);
    Some(Point { size: size as f64, value: time.seconds, low, high, tip })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::ops::history::{CheckNote, TimeNote};

    fn history(times: &[&[(u64, f64)]]) -> History {
        let texts = times.iter().map(|_| (SystemTime::UNIX_EPOCH, "a text".to_owned()));
        let mut history = History::of_texts("lab::scale".to_owned(), texts);
        for (version, times) in history.versions.iter_mut().zip(times) {
            let note = |&(size, seconds): &(u64, f64)| TimeNote { size, seconds, low: seconds, high: seconds };
            version.times = times.iter().map(note).collect();
        }
        history
    }

    #[test]
    fn versions_that_were_timed_at_the_common_size_have_bars() {
        let mut history = history(&[&[(64, 1e-6), (1024, 2e-6)], &[(1024, 3e-6)], &[], &[(1024, f64::NAN)]]);
        history.versions[1].check = Some(CheckNote { passed: false, mismatches: 3, max_share: 7.0 });
        let picture = versions(&history).into_string();
        assert!(picture.contains("scale: time per call by version, n = 1 Ki"), "{picture}");
        assert!(picture.contains("version 1") && picture.contains("2.00 µs") && picture.contains("version 2 ✗"));
        assert!(picture.contains("version 2: 3.00 µs") && picture.contains(", broken"), "{picture}");
        assert!(!picture.contains("version 3") && !picture.contains("version 4"), "{picture}");
    }

    #[test]
    fn versions_without_a_time_are_counted() {
        let words = |svg: Svg| svg.into_string().replace("</text>\n", " ");
        let picture = words(versions(&history(&[&[(1024, 2e-6)], &[(1024, 3e-6)], &[], &[(64, 1e-6)]])));
        let caption: String = picture.split('<').map(|part| part.rsplit('>').next().unwrap_or("")).collect();
        assert!(caption.contains("2 of 4 versions not timed at this size"), "{caption}");
        assert!(!versions(&history(&[&[(0, 1e-6)]])).as_str().contains("not timed"));
    }

    #[test]
    fn a_history_without_times_says_so() {
        for times in [&[] as &[&[(u64, f64)]], &[&[]], &[&[(0, f64::NAN)], &[(0, f64::INFINITY)]]] {
            assert!(versions(&history(times)).as_str().contains("no version was timed"));
        }
        let many: Vec<&[(u64, f64)]> = vec![&[(0, 1e-6)]; 60];
        assert!(versions(&history(&many)).as_str().contains("10 older versions are left out"));
    }
}

//! A sparkline: times of versions in order, a small picture for a card; broken versions are marked.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, caption_width, picture};
use super::theme::Role;
use crate::bench::units;

/// A version in a sparkline.
#[derive(Debug, Clone, PartialEq)]
pub struct Spark {
    /// Its name, for the tip under the mouse.
    pub name: String,
    /// Its time in seconds, where it was measured.
    pub seconds: Option<f64>,
    /// Its check has failed.
    pub is_broken: bool,
}

const HEIGHT: u32 = 80;
const STEP: f64 = 26.0;
const MOST_WIDTH: f64 = 720.0;
/// The room at either side, for a time in words.
const SIDE: f64 = 104.0;
const TOP: f64 = 14.0;
/// The line on which versions without a time lie.
const BASE: f64 = 48.0;

/// A picture of times on a logarithmic scale, with the first, the last and the best in words. A version without a time is hollow and lies on the
/// base line; a broken one is a cross, and never the best.
pub fn sparkline(versions: &[Spark]) -> Svg {
    let times: Vec<(usize, f64)> = versions.iter().enumerate().filter_map(|(i, v)| Some((i, time(v)?))).collect();
    let label = match (times.first(), times.last()) {
        (Some((_, first)), Some((_, last))) => {
            let (first, last) = (units::seconds(*first), units::seconds(*last));
            format!("times of {} versions, from {first} to {last}", versions.len())
        }
        _ => format!("{} versions, none of them measured", versions.len()),
    };
    let best = times.iter().filter(|(i, _)| !versions[*i].is_broken).min_by(|a, b| a.1.total_cmp(&b.1)).copied();
    let caption = caption(versions, best);
    let inside = STEP * versions.len().saturating_sub(1) as f64;
    let width = (2.0 * SIDE + inside).max(caption_width(&caption)).clamp(240.0, MOST_WIDTH);
    picture(width as u32, HEIGHT, &label, |canvas| {
        draw(canvas, versions, &times, best, (width - 2.0 * SIDE).min(inside))?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Bottom), (1.0, 75.0), &caption)
    })
}

/// The time of a version, where it can be drawn.
fn time(version: &Spark) -> Option<f64> {
    version.seconds.filter(|s| s.is_finite() && *s > 0.0)
}

fn caption(versions: &[Spark], best: Option<(usize, f64)>) -> String {
    let timed = versions.iter().filter(|version| time(version).is_some()).count();
    let hollow = versions.iter().filter(|version| !version.is_broken && time(version).is_none()).count();
    let mut words = Vec::new();
    if let Some((at, seconds)) = best {
        words.push(format!("best {} (ring, {})", units::seconds(seconds), versions[at].name));
    }
    if versions.iter().any(|version| version.is_broken) {
        words.push("✗ broken".to_owned());
    }
    if hollow > 0 {
        words.push(format!("hollow: {hollow} not timed"));
    }
    if timed > 1 {
        words.push("log scale".to_owned());
    }
    words.join("; ")
}

fn draw(canvas: &Canvas, versions: &[Spark], times: &[(usize, f64)], best: Option<(usize, f64)>, inside: f64) -> Drawn {
    let logs = || times.iter().map(|(_, seconds)| seconds.ln());
    let (low, high) = (logs().fold(f64::INFINITY, f64::min), logs().fold(f64::NEG_INFINITY, f64::max));
    let x = |i: usize| SIDE + inside * i as f64 / versions.len().saturating_sub(1).max(1) as f64;
    let y = |seconds: f64| {
        let share = if high - low < 1e-9 { 0.5 } else { (seconds.ln() - low) / (high - low) };
        TOP + (BASE - 10.0 - TOP) * (1.0 - share)
    };
    let path: Vec<(f64, f64)> = times.iter().map(|&(i, seconds)| (x(i), y(seconds))).collect();
    canvas.line(Role::Grid, 1.0, &[(SIDE, BASE), (SIDE + inside, BASE)])?;
    if path.len() > 1 {
        canvas.line(Role::Series(0), 1.5, &path)?;
    }
    for (i, version) in versions.iter().enumerate() {
        let seconds = time(version);
        let at = (x(i), seconds.map_or(BASE, y));
        let told = seconds.map_or_else(|| "not timed".to_owned(), units::seconds);
        canvas.tip(format!("{}: {told}{}", version.name, if version.is_broken { ", broken" } else { "" }));
        let corner = (at.0 - 2.5, at.1 - 2.5);
        if version.is_broken {
            let r = 4.0;
            canvas.line(Role::Positive, 2.0, &[(at.0 - r, at.1 - r), (at.0 + r, at.1 + r)])?;
            canvas.line(Role::Positive, 2.0, &[(at.0 - r, at.1 + r), (at.0 + r, at.1 - r)])?;
        } else if seconds.is_some() {
            canvas.rect(Canvas::fill(Role::Series(0), 1.0), corner, (5.0, 5.0))?;
        } else {
            canvas.rect(Canvas::stroke(Role::Muted, 1.2), corner, (5.0, 5.0))?;
        }
    }
    if let Some((i, seconds)) = best {
        canvas.circle(Canvas::stroke(Role::Ink, 1.4), (x(i), y(seconds)), 6.0)?;
    }
    let beside = |h, at, text: &str| canvas.text(Role::Ink, 12.0, Weight::Normal, (h, VPos::Center), at, text);
    if let (Some(&(first, from)), Some(&(last, to))) = (times.first(), times.last()) {
        if first < last {
            beside(HPos::Left, (x(last) + 10.0, y(to)), &format!("last {}", units::seconds(to)))?;
        }
        // Versions without a time lie below, so that the words may stand above them.
        beside(HPos::Right, (x(first) - 10.0, y(from)), &format!("first {}", units::seconds(from)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spark(number: u32, seconds: Option<f64>, is_broken: bool) -> Spark {
        Spark { name: format!("version {number}"), seconds, is_broken }
    }

    #[test]
    fn the_first_the_last_and_the_best_time_are_told() {
        let versions = [
            spark(1, Some(4e-3), false),
            spark(2, Some(1e-6), true),
            spark(3, Some(1e-3), false),
            spark(4, None, false),
            spark(5, Some(2e-3), false),
        ];
        let text = sparkline(&versions).into_string();
        for shown in ["first 4.00 ms", "last 2.00 ms", "best 1.00 ms (ring, version 3)", "hollow: 1 not timed"] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        assert!(text.contains("✗ broken") && text.contains("version 4: not timed"), "{text}");
    }

    #[test]
    fn the_first_time_stands_beside_its_own_version() {
        let place = |versions: &[Spark]| {
            let text = sparkline(versions).into_string();
            let before = text.split("first 1.00 µs").next().unwrap();
            before.rsplit(" x=\"").next().unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        let timed = |number| spark(number, Some(1e-6), false);
        let (first, second) = (place(&[timed(1), timed(2)]), place(&[spark(1, None, true), timed(2)]));
        assert!((second - first - STEP).abs() < 0.6, "{first} {second}");
    }

    #[test]
    fn any_times_are_drawn() {
        let none = sparkline(&[spark(1, None, false), spark(2, Some(f64::NAN), true)]).into_string();
        assert!(none.contains("hollow: 1 not timed") && !none.contains("best") && !none.contains("NaN"), "{none}");
        let one = sparkline(&[spark(1, Some(1e-6), false)]).into_string();
        assert!(one.contains("first 1.00 µs") && !one.contains("last"), "{one}");
        let many: Vec<Spark> = (0..500).map(|i| spark(i, Some(1e-6 * f64::from(i + 1)), i % 7 == 0)).collect();
        assert!(sparkline(&many).as_str().contains("viewBox=\"0 0 720 80\""));
        assert!(sparkline(&[]).as_str().contains("0 versions"));
    }
}

//! The distribution of the samples of a benchmark at one size: a dot for each, the median and its interval.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::axis::Axis;
use super::canvas::{Canvas, Drawn, Weight, dot, notice, picture, place, shorten, text_width};
use super::theme::Role;
use crate::bench::{BenchReport, BenchRow, units};

const WIDTH: f64 = 700.0;
const TOP: f64 = 62.0;
const ROW: f64 = 46.0;
/// Characters of a name beside its row.
const NAME: usize = 26;
/// Most dots of a contestant: evenly chosen by time of measurement.
const MOST: usize = 400;

/// Draws every sample of a size, in the order of measurement from the top of a row to its foot, so that a drift is seen.
pub fn samples(report: &BenchReport, size: u64) -> Svg {
    let title =
        if report.title.is_empty() { "Samples".to_owned() } else { format!("{}: samples", shorten(&report.title, 50)) };
    let title = format!("{title} at {} = {}", shorten(&report.size_name, 16), units::count(size));
    let is_drawn = |time: &f64| time.is_finite() && *time > 0.0;
    let rows: Vec<(usize, &BenchRow)> = report
        .names()
        .into_iter()
        .enumerate()
        .filter_map(|(i, name)| report.row(name, size).map(|row| (i, row)))
        .filter(|(_, row)| row.times_s.iter().any(is_drawn))
        .collect();
    if rows.is_empty() {
        return notice(&title, "nothing was measured at this size");
    }
    let times = || rows.iter().flat_map(|(_, row)| row.times_s.iter().copied().filter(is_drawn));
    let (low, high) = times().fold((f64::INFINITY, 0.0f64), |(low, high), t| (low.min(t), high.max(t)));
    let axis = Axis::log(low, high, units::tick_seconds);
    let height = TOP + ROW * rows.len() as f64 + 40.0;
    picture(WIDTH as u32, height as u32, &title, |canvas| {
        let caption =
            "a dot: one sample, in the order of measurement downwards; line and band: median and its interval";
        canvas.heading(&title, caption)?;
        draw(canvas, &axis, &rows)
    })
}

fn draw(canvas: &Canvas, axis: &Axis, rows: &[(usize, &BenchRow)]) -> Drawn {
    const INSIDE: f64 = 7.0;
    let names = rows.iter().map(|(_, row)| text_width(&shorten(&row.name, NAME), 13.0)).fold(0.0, f64::max);
    let left = names.clamp(40.0, 220.0) + 18.0;
    let (wide, tall) = (WIDTH - left - 24.0, ROW * rows.len() as f64);
    let plane = canvas.plane((left, TOP), (wide, tall), axis.ends, (tall, 0.0));
    for (at, label) in &axis.ticks {
        let (x, _) = place(&plane, (*at, 0.0));
        canvas.line(Role::Grid, 1.0, &[(x, TOP), (x, TOP + tall)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Center, VPos::Top), (x, TOP + tall + 9.0), label)?;
    }
    for (line, (index, row)) in rows.iter().enumerate() {
        let role = Role::Series(*index);
        let (from, to) = (ROW * line as f64 + INSIDE, ROW * (line + 1) as f64 - INSIDE);
        let at = (left - 12.0, TOP + (from + to) / 2.0);
        let name = shorten(&row.name, NAME);
        canvas.text(Role::Ink, 13.0, Weight::Normal, (HPos::Right, VPos::Center), at, &name)?;
        let across = |value: f64| place(&plane, (axis.at(value.max(f64::MIN_POSITIVE)), 0.0)).0;
        let (low, high) = (across(row.ci_low), across(row.ci_high));
        let band = (high - low).max(1.0);
        canvas.rect(Canvas::fill(role, 0.25), (low.max(left), TOP + from - 4.0), (band, to - from + 8.0))?;
        let every = row.times_s.len().div_ceil(MOST);
        let count = row.times_s.len().max(2) - 1;
        for (i, time) in row.times_s.iter().enumerate().step_by(every.max(1)) {
            if time.is_finite() && *time > 0.0 {
                let down = from + (to - from) * i as f64 / count as f64;
                canvas.tip(format!("{}, sample {}: {}", row.name, i + 1, units::seconds(*time)));
                dot(&plane, Canvas::fill(role, 0.55), (axis.at(*time), down), 1.7)?;
            }
        }
        let middle = across(row.median_s);
        canvas.tip(format!(
            "{}: median {} ({})",
            row.name,
            units::seconds(row.median_s),
            units::seconds_range(row.ci_low, row.ci_high)
        ));
        canvas.line(Role::Ink, 2.0, &[(middle, TOP + from - 4.0), (middle, TOP + to + 4.0)])?;
    }
    Ok(())
}

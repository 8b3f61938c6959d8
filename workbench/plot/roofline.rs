//! A roofline: operations per second against operations per byte, below the measured ceilings of the machine.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::axis::Axis;
use super::canvas::{Canvas, Drawn, Weight, curve, notice, picture, place, shorten, text_width};
use super::marks;
use super::theme::Role;
use crate::bench::{BenchReport, BenchRow, Ceilings, units};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 62.0;
/// Characters of a name beside its last point.
const NAME: usize = 26;

/// A measurement under the roof.
struct Point<'a> {
    row: &'a BenchRow,
    /// Operations per byte, and per second.
    at: (f64, f64),
}

/// Draws each row that has its bytes and its operations. The sloped line is what memory allows, the flat one what the processor does.
pub fn roofline(report: &BenchReport, ceilings: &Ceilings) -> Svg {
    let title = match report.title.as_str() {
        "" => "Roofline".to_owned(),
        title => format!("{}: roofline", shorten(title, 60)),
    };
    let point = |row| -> Option<Point<'_>> {
        let row: &BenchRow = row;
        let (bytes, rate) = (row.bytes.filter(|b| *b > 0)?, row.flop_rate().filter(|r| *r > 0.0)?);
        Some(Point { row, at: (row.flops? as f64 / bytes as f64, rate) })
    };
    let points: Vec<Point<'_>> = report.rows.iter().filter_map(point).collect();
    if points.is_empty() {
        return notice(&title, "a roofline needs bytes and operations of a call: wb.bench takes bytes= and flops=");
    }
    picture(WIDTH as u32, HEIGHT as u32, &title, |canvas| draw(canvas, report, &title, &points, ceilings))
}

fn draw(canvas: &Canvas, report: &BenchReport, title: &str, points: &[Point<'_>], ceilings: &Ceilings) -> Drawn {
    let caption = format!(
        "ceilings: {} of memory (triad), {} (float32 multiply-adds), measured here; caches may be above the slope",
        units::rate(ceilings.bytes_per_s),
        units::flop_rate(ceilings.flops_per_s),
    );
    canvas.heading(title, &shorten(&caption, 122))?;
    let ridge = ceilings.flops_per_s / ceilings.bytes_per_s;
    let span =
        |values: &mut dyn Iterator<Item = f64>| values.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    let (low, high) = span(&mut points.iter().map(|p| p.at.0));
    let x = Axis::log((low / 2.0).min(ridge / 4.0), (high * 2.0).max(ridge * 4.0), units::number);
    let (slow, fast) = span(&mut points.iter().map(|p| p.at.1));
    let left_end = ceilings.at(10f64.powf(x.ends.0));
    let y = Axis::log(slow.min(left_end), fast.max(ceilings.flops_per_s), units::tick_flop_rate);

    let names = report.names();
    let longest = names.iter().map(|name| text_width(&shorten(name, NAME), 13.0)).fold(0.0, f64::max);
    let right = (longest + 40.0).clamp(60.0, 240.0);
    let (width, height) = (WIDTH - LEFT - right, HEIGHT - TOP - BOTTOM);
    let plane = canvas.plane((LEFT, TOP), (width, height), x.ends, y.ends);
    let bottom = TOP + height;
    for (at, label) in &y.ticks {
        let (_, py) = place(&plane, (x.ends.0, *at));
        canvas.line(Role::Grid, 1.0, &[(LEFT, py), (LEFT + width, py)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Right, VPos::Center), (LEFT - 10.0, py), label)?;
    }
    canvas.line(Role::Muted, 1.0, &[(LEFT, bottom), (LEFT + width, bottom)])?;
    for (at, label) in &x.ticks {
        let (px, _) = place(&plane, (*at, y.ends.0));
        canvas.line(Role::Muted, 1.0, &[(px, bottom), (px, bottom + 4.0)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Center, VPos::Top), (px, bottom + 9.0), label)?;
    }
    let foot = (LEFT + width, bottom + 30.0);
    canvas.text(Role::Ink, 12.0, Weight::Normal, (HPos::Right, VPos::Top), foot, "operations per byte")?;

    let roof: Vec<(f64, f64)> = [x.ends.0, ridge.log10().clamp(x.ends.0, x.ends.1), x.ends.1]
        .map(|at| (at, y.at(ceilings.at(10f64.powf(at)))))
        .to_vec();
    curve(&plane, Canvas::stroke(Role::Ink, 2.0), roof)?;
    for (index, name) in names.iter().enumerate() {
        let own = || points.iter().filter(|p| p.row.name == *name);
        for point in own() {
            let share = 100.0 * point.at.1 / ceilings.at(point.at.0);
            canvas.tip(format!(
                "{name}, {}: {} at {} operations per byte, {share:.0} % of the ceiling",
                units::count(point.row.size),
                units::flop_rate(point.at.1),
                units::number(point.at.0)
            ));
            let at = place(&plane, (x.at(point.at.0), y.at(point.at.1)));
            marks::point(canvas, index, at, 4.0)?;
        }
    }
    // Names in a list, as the points of one contestant often lie above one another.
    let drawn: Vec<(usize, &&str)> =
        names.iter().enumerate().filter(|(_, name)| points.iter().any(|p| p.row.name == **name)).collect();
    for (line, (index, name)) in drawn.into_iter().enumerate() {
        let at = (LEFT + width + 18.0, TOP + 10.0 + 19.0 * line as f64);
        marks::point(canvas, index, (at.0 + 4.0, at.1), 4.0)?;
        canvas.text(
            Role::Ink,
            13.0,
            Weight::Normal,
            (HPos::Left, VPos::Center),
            (at.0 + 14.0, at.1),
            &shorten(name, NAME),
        )?;
    }
    Ok(())
}

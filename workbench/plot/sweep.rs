//! The picture of a timing sweep: size against time, throughput, operations per second or speed-up.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::axis::Axis;
use super::canvas::{
    Canvas, Drawn, Plane, Weight, capitalised, curve, dot, notice, picture, place, region, shorten, text_width,
};
use super::contestants::compare;
use super::theme::Role;
use crate::bench::{BenchReport, BenchRow, CachePolicy, units};

const WIDTH: u32 = 760;
const HEIGHT: u32 = 420;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 48.0;
/// The least margin at the left.
const LEAST_LEFT: f64 = 72.0;
/// Throughput that spans more than this is shown on a logarithmic axis.
const LINEAR_SPAN: f64 = 30.0;
/// Characters of a name beside its line.
const NAME: usize = 26;

/// The quantity that a sweep shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quantity {
    /// Throughput where every row has its bytes, else time.
    #[default]
    Auto,
    /// Seconds per call.
    Time,
    /// Bytes per second.
    Throughput,
    /// Operations on floats per second.
    Arithmetic,
    /// The time of each other contestant by that of the first, paired by round: above 1 where the first is faster.
    SpeedUp,
}

impl Quantity {
    /// The quantity that is shown of a report; never [`Quantity::Auto`].
    fn of(self, report: &BenchReport) -> Quantity {
        let all_moved = !report.rows.is_empty() && report.rows.iter().all(|r| r.bytes.is_some_and(|b| b > 0));
        match self {
            Quantity::Auto if all_moved => Quantity::Throughput,
            Quantity::Auto => Quantity::Time,
            named => named,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Quantity::Auto | Quantity::Time => "time per call",
            Quantity::Throughput => "throughput",
            Quantity::Arithmetic => "operations per second",
            Quantity::SpeedUp => "speed-up",
        }
    }

    pub(super) fn tick(self, value: f64) -> String {
        match self {
            Quantity::Auto | Quantity::Time => units::tick_seconds(value),
            Quantity::Throughput => units::tick_rate(value),
            Quantity::Arithmetic => units::tick_flop_rate(value),
            Quantity::SpeedUp => units::tick_ratio(value),
        }
    }

    pub(super) fn exact(self, value: f64) -> String {
        match self {
            Quantity::Auto | Quantity::Time => units::seconds(value),
            Quantity::Throughput => units::rate(value),
            Quantity::Arithmetic => units::flop_rate(value),
            Quantity::SpeedUp => format!("{value:.2}x"),
        }
    }
}

/// One contestant at one size, in the unit of the y axis.
pub(super) struct Point {
    pub(super) size: f64,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) tip: String,
}

/// One contestant.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) points: Vec<Point>,
}

/// Draws size against median, one line per contestant, with the interval of the median as a band around it. A single size gives bars.
/// Hovering over a point shows its numbers.
pub fn sweep(report: &BenchReport, quantity: Quantity) -> Svg {
    let quantity = quantity.of(report);
    let what = quantity.name();
    let title =
        if report.title.is_empty() { capitalised(what) } else { format!("{}: {what}", shorten(&report.title, 60)) };
    let names = report.names();
    let first = names.first().copied().unwrap_or_default();
    let line = |(index, name): (usize, &str)| {
        let rows = report.rows.iter().filter(|r| r.name == name);
        let points: Vec<Point> = match quantity {
            Quantity::SpeedUp if index == 0 => Vec::new(),
            Quantity::SpeedUp => rows.filter_map(|r| ratio(report, first, r)).collect(),
            _ => rows.filter_map(|r| point(r, quantity)).collect(),
        };
        let name = if quantity == Quantity::SpeedUp { format!("over {name}") } else { name.to_owned() };
        (!points.is_empty()).then_some(Line { name, role: Role::Series(index), points })
    };
    let mut lines: Vec<Line> = names.iter().copied().enumerate().filter_map(line).collect();
    for line in &mut lines {
        line.points.sort_by(|a, b| a.size.total_cmp(&b.size));
    }
    if lines.is_empty() {
        return notice(&title, nothing(report, quantity));
    }
    let title = if quantity == Quantity::SpeedUp { format!("{title} of {}", shorten(first, NAME)) } else { title };
    if let [only] = report.sizes().as_slice() {
        let title = format!("{title}, {} = {}", shorten(&report.size_name, 16), units::count(*only));
        let caption = caption(report, quantity, lines.iter().map(|l| l.points.len()).sum());
        return compare(&title, &caption, quantity, &lines);
    }
    picture(WIDTH, HEIGHT, &title, |canvas| draw(canvas, report, &title, quantity, &lines))
}

/// The reason why there is no line.
fn nothing(report: &BenchReport, quantity: Quantity) -> &'static str {
    match quantity {
        _ if report.rows.is_empty() => "nothing was measured",
        Quantity::Throughput => "how many bytes a call moves is not known: wb.bench takes bytes=",
        Quantity::Arithmetic => "how many operations a call does is not known: wb.bench takes flops=",
        Quantity::SpeedUp if report.names().len() < 2 => "one contestant has nothing to be compared with",
        _ => "nothing was measured",
    }
}

/// A row beside the first contestant's of its size.
fn ratio(report: &BenchReport, first: &str, row: &BenchRow) -> Option<Point> {
    let verdict = report.verdict(first, &row.name, row.size)?;
    let sound = |v: f64| v.is_finite() && v > 0.0;
    if !sound(verdict.ratio) || row.size == 0 {
        return None;
    }
    let or_value = |v: f64| if sound(v) { v } else { verdict.ratio };
    let tip = format!("{first} against {}, {}: {verdict}", row.name, units::count(row.size));
    let (low, high) = (or_value(verdict.low), or_value(verdict.high));
    Some(Point { size: row.size as f64, value: verdict.ratio, low, high, tip })
}

/// A row as a point; `None` if it cannot be drawn on logarithmic axes.
fn point(row: &BenchRow, quantity: Quantity) -> Option<Point> {
    let interval = units::seconds_range(row.ci_low, row.ci_high);
    let median = units::seconds(row.median_s);
    let mut tip = format!("{}, {}: {median} ({interval}), {} samples", row.name, units::count(row.size), row.samples);
    let work = match quantity {
        Quantity::Throughput => Some(row.bytes?),
        Quantity::Arithmetic => Some(row.flops?),
        _ => None,
    };
    let (value, low, high) = match work {
        Some(work) => {
            let work = work as f64;
            tip.push_str(&format!(", {}", quantity.exact(work / row.median_s)));
            (work / row.median_s, work / row.ci_high, work / row.ci_low)
        }
        None => (row.median_s, row.ci_low, row.ci_high),
    };
    let sound = |v: f64| v.is_finite() && v > 0.0;
    if !sound(value) || row.size == 0 {
        return None;
    }
    // A clock too coarse for one sample may give an end of zero; the band then ends at the median.
    let or_value = |v: f64| if sound(v) { v } else { value };
    Some(Point { size: row.size as f64, value, low: or_value(low), high: or_value(high), tip })
}

fn caption(report: &BenchReport, quantity: Quantity, shown: usize) -> String {
    let cache = match report.cache {
        CachePolicy::Warm => "caches warm",
        CachePolicy::Flush => "caches flushed",
    };
    let level = report.policy.confidence * 100.0;
    let of = if quantity == Quantity::SpeedUp { "median of paired ratios" } else { "median" };
    let mut text = format!("{of} with {level:.0} % interval, {cache}; {}", report.machine.short());
    let compared =
        |row: &&BenchRow| quantity != Quantity::SpeedUp || Some(row.name.as_str()) != report.names().first().copied();
    let left_out = report.rows.iter().filter(compared).count() - shown;
    if left_out > 0 {
        let lack = match quantity {
            Quantity::Throughput => "count of bytes",
            Quantity::Arithmetic => "count of operations",
            _ => "time",
        };
        text.push_str(&format!("; {left_out} without a {lack} not shown"));
    }
    shorten(&text, 118)
}

fn draw(canvas: &Canvas, report: &BenchReport, title: &str, quantity: Quantity, lines: &[Line]) -> Drawn {
    let points = || lines.iter().flat_map(|l| &l.points);
    let low = points().map(|p| p.low).fold(f64::INFINITY, f64::min);
    let high = points().map(|p| p.high).fold(0.0, f64::max);
    let mut sizes: Vec<u64> = points().map(|p| p.size as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let x = Axis::sizes(&sizes);
    let tick = |value: f64| quantity.tick(value);
    let y = match quantity {
        Quantity::Auto | Quantity::Time => Axis::log(low, high, tick),
        // The line of equal times is always in sight.
        Quantity::SpeedUp => Axis::log(low.min(1.0), high.max(1.0), tick),
        _ if high / low > LINEAR_SPAN => Axis::log(low, high, tick),
        _ => Axis::from_zero(high, tick),
    };
    canvas.heading(title, &caption(report, quantity, points().count()))?;

    let widest = y.ticks.iter().map(|(_, label)| text_width(label, 12.0)).fold(0.0, f64::max);
    let left = (widest + 18.0).max(LEAST_LEFT);
    let names = lines.iter().map(|l| text_width(&shorten(&l.name, NAME), 13.0)).fold(0.0, f64::max);
    let right = (names + 34.0).clamp(60.0, 240.0);
    let (width, height) = (f64::from(WIDTH) - left - right, f64::from(HEIGHT) - TOP - BOTTOM);
    let plane = canvas.plane((left, TOP), (width, height), x.ends, y.ends);

    let bottom = TOP + height;
    for (at, label) in &y.ticks {
        let (_, py) = place(&plane, (x.ends.0, *at));
        canvas.line(Role::Grid, 1.0, &[(left, py), (left + width, py)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Right, VPos::Center), (left - 10.0, py), label)?;
    }
    canvas.line(Role::Muted, 1.0, &[(left, bottom), (left + width, bottom)])?;
    for (at, label) in &x.ticks {
        let (px, _) = place(&plane, (*at, y.ends.0));
        canvas.line(Role::Muted, 1.0, &[(px, bottom), (px, bottom + 4.0)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Center, VPos::Top), (px, bottom + 10.0), label)?;
    }
    let corner = (left + width + 14.0, bottom + 10.0);
    canvas.text(Role::Ink, 12.0, Weight::Normal, (HPos::Left, VPos::Top), corner, &shorten(&report.size_name, 16))?;

    if quantity == Quantity::SpeedUp {
        let (_, py) = place(&plane, (x.ends.0, y.at(1.0)));
        canvas.line(Role::Muted, 1.5, &[(left, py), (left + width, py)])?;
    }
    for line in lines {
        band(&plane, &x, &y, line)?;
    }
    // The first contestant is the user's own: it lies on top.
    for line in lines.iter().rev() {
        let at = |p: &Point| (x.at(p.size), y.at(p.value));
        curve(&plane, Canvas::stroke(line.role, 2.0), line.points.iter().map(at).collect())?;
        for p in &line.points {
            canvas.tip(&p.tip);
            dot(&plane, Canvas::fill(line.role, 1.0), at(p), 2.8)?;
        }
    }
    labels(canvas, &plane, &x, &y, lines, left + width)
}

/// The interval around a line; around a single point, a vertical stroke.
fn band(plane: &Plane, x: &Axis, y: &Axis, line: &Line) -> Drawn {
    if let [only] = line.points.as_slice() {
        let stroke = [only.low, only.high].map(|v| (x.at(only.size), y.at(v)));
        return curve(plane, Canvas::stroke(line.role, 1.5), stroke.to_vec());
    }
    let upper = line.points.iter().map(|p| (x.at(p.size), y.at(p.high)));
    let lower = line.points.iter().rev().map(|p| (x.at(p.size), y.at(p.low)));
    region(plane, Canvas::fill(line.role, 0.22), upper.chain(lower).collect())
}

/// Each name beside the end of its line, moved apart where lines end close together.
fn labels(canvas: &Canvas, plane: &Plane, x: &Axis, y: &Axis, lines: &[Line], edge: f64) -> Drawn {
    const APART: f64 = 17.0;
    let mut ends: Vec<(f64, f64, &Line)> = lines
        .iter()
        .filter_map(|line| line.points.last().map(|p| (line, place(plane, (x.at(p.size), y.at(p.value))))))
        .map(|(line, (px, py))| (px, py, line))
        .collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let wanted: Vec<f64> = ends.iter().map(|e| e.1).collect();
    let bottom = f64::from(HEIGHT) - BOTTOM;
    let places = spread(&wanted, APART, (TOP, bottom));
    for ((px, py, line), at) in ends.into_iter().zip(places) {
        let left = edge + 14.0;
        canvas.line(line.role, 1.0, &[(px + 5.0, py), (left - 4.0, at)])?;
        let name = shorten(&line.name, NAME);
        canvas.text(Role::Ink, 13.0, Weight::Normal, (HPos::Left, VPos::Center), (left, at), &name)?;
    }
    Ok(())
}

/// Ascending positions as close to `wanted` (ascending) as possible with a distance of `apart`; inside `bounds` if they fit.
fn spread(wanted: &[f64], apart: f64, bounds: (f64, f64)) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = bounds.0;
    for &want in wanted {
        let at = f64::max(want, least);
        places.push(at);
        least = at + apart;
    }
    let mut most = bounds.1;
    for at in places.iter_mut().rev() {
        *at = at.min(most);
        most = *at - apart;
    }
    // Names that were pushed down only by those above share the shift with them.
    for i in (1..places.len()).rev() {
        let (gap, slack) = (places[i] - places[i - 1], wanted[i - 1] - places[i - 1]);
        if gap <= apart + 1e-9 && slack >= 0.0 && places[i] > wanted[i] {
            let above = if i >= 2 { places[i - 2] + apart } else { bounds.0 };
            let shift = ((places[i] - wanted[i]) / 2.0).min(places[i - 1] - above).max(0.0);
            places[i] -= shift;
            places[i - 1] -= shift;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_inside() {
        for wanted in [vec![50.0, 52.0, 53.0], vec![0.0, 0.0, 0.0, 0.0], vec![99.0, 99.5], vec![10.0, 90.0]] {
            let places = spread(&wanted, 10.0, (0.0, 100.0));
            assert!(places.windows(2).all(|w| w[1] - w[0] >= 10.0 - 1e-9), "{wanted:?} {places:?}");
            assert!(places.iter().all(|p| (0.0..=100.0).contains(p)), "{wanted:?} {places:?}");
        }
        assert_eq!(spread(&[10.0, 90.0], 10.0, (0.0, 100.0)), [10.0, 90.0]);
    }
}

//! Errors against the size of what was expected, with the tolerance as a line.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::axis::Axis;
use super::canvas::{Canvas, Drawn, Plane, Weight, curve, notice, picture, place};
use super::difference::DifferenceOptions;
use super::theme::Role;
use crate::bench::units;

/// Places across and up in which elements are counted together.
const ACROSS: usize = 90;
const UP: usize = 44;
/// Steps of depth, by the logarithm of the count.
const STEPS: u32 = 8;

/// The plane: its corner at the top left, its width and height.
const LEFT: f64 = 84.0;
const TOP: f64 = 76.0;
const WIDE: f64 = 560.0;
const TALL: f64 = 198.0;

/// The elements that a picture shows, and the number of those that it does not.
struct Points {
    /// `|expected|` and `|actual - expected|`, both above zero, and whether the element is beyond the tolerance.
    shown: Vec<(f64, f64, bool)>,
    /// Errors where zero was expected, which has no place on a logarithmic axis: they stand at its left end.
    of_zero: Vec<(f64, bool)>,
    exact: usize,
    odd: usize,
    unwritten: usize,
}

impl Points {
    fn new(actual: &[f64], expected: &[f64], options: &DifferenceOptions) -> Points {
        let mut points = Points { shown: Vec::new(), of_zero: Vec::new(), exact: 0, odd: 0, unwritten: 0 };
        for (i, (&a, &e)) in actual.iter().zip(expected).enumerate() {
            if !options.is_written(i) {
                points.unwritten += 1;
                continue;
            }
            if a == e || (a.is_nan() && e.is_nan() && options.equal_nan) {
                points.exact += 1;
                continue;
            }
            let error = (a - e).abs();
            let beyond = error > options.atol + options.rtol * e.abs();
            match (error.is_finite(), e == 0.0) {
                (false, _) => points.odd += 1,
                (true, true) => points.of_zero.push((error, beyond)),
                (true, false) => points.shown.push((e.abs(), error, beyond)),
            }
        }
        points
    }
}

/// Draws `|actual - expected|` against `|expected|`, both on logarithmic axes, with the tolerance `atol + rtol |expected|` as a line. Elements
/// that lie together are counted together. Exact ones and differences that are not finite are counted in the caption.
pub fn error_scatter(actual: &[f64], expected: &[f64], options: &DifferenceOptions) -> Svg {
    let title = match options.title.as_str() {
        "" => format!("Error against the size of {}", options.against),
        title => super::canvas::shorten(title, 70),
    };
    if actual.len() != expected.len() {
        return notice(&title, &format!("{} elements against {} cannot be compared", actual.len(), expected.len()));
    }
    let points = Points::new(actual, expected, options);
    if points.shown.is_empty() && points.of_zero.is_empty() {
        let message = if actual.is_empty() {
            "the arrays are empty"
        } else {
            "no element has an error that is finite and not zero"
        };
        return notice(&title, message);
    }
    picture(724, 330, &title, |canvas| draw(canvas, &title, &points, options, actual.len()))
}

fn draw(canvas: &Canvas, title: &str, points: &Points, options: &DifferenceOptions, total: usize) -> Drawn {
    let beyond = points.shown.iter().filter(|p| p.2).count() + points.of_zero.iter().filter(|p| p.1).count();
    let mut caption = format!("{beyond} of {total} elements above the tolerance; {} without any error", points.exact);
    if points.odd > 0 {
        caption.push_str(&format!(", {} not finite", points.odd));
    }
    if points.unwritten > 0 {
        caption.push_str(&format!(", {} unwritten", points.unwritten));
    }
    let is_of_zero = points.shown.is_empty();
    if !points.of_zero.is_empty() && !is_of_zero {
        caption.push_str(&format!("; {} of 0 at the left end", points.of_zero.len()));
    }
    canvas.heading(title, &caption)?;
    let errors = || points.shown.iter().map(|p| p.1).chain(points.of_zero.iter().map(|p| p.0));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    let sizes = range(&mut points.shown.iter().map(|p| p.0));
    let sizes = if is_of_zero { (1.0, 1.0) } else { sizes };
    let (low, high) = range(&mut errors());
    // Where only zero is expected the relative tolerance allows nothing.
    let rtol = if is_of_zero { 0.0 } else { options.rtol };
    // The line is seen even where all errors are far from it, up to three decades.
    let least = options.atol + rtol * sizes.0;
    let high = if least > high && least < high * 1e3 { least } else { high };
    let most = options.atol + rtol * sizes.1;
    let low = if most > 0.0 && most < low && most > low * 1e-3 { most } else { low };
    let (mut x, y) = (Axis::log(sizes.0, sizes.1, units::number), Axis::log(low, high, units::number));
    if is_of_zero {
        x.ticks = vec![(x.ends.0, "0".to_owned())];
    }
    let plane = canvas.plane((LEFT, TOP), (WIDE, TALL), x.ends, y.ends);
    let bottom = TOP + TALL;
    for (at, label) in &y.ticks {
        let (_, py) = place(&plane, (x.ends.0, *at));
        canvas.line(Role::Grid, 1.0, &[(LEFT, py), (LEFT + WIDE, py)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Right, VPos::Center), (LEFT - 10.0, py), label)?;
    }
    canvas.line(Role::Muted, 1.0, &[(LEFT, bottom), (LEFT + WIDE, bottom)])?;
    for (at, label) in &x.ticks {
        let (px, _) = place(&plane, (*at, y.ends.0));
        canvas.line(Role::Muted, 1.0, &[(px, bottom), (px, bottom + 4.0)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Center, VPos::Top), (px, bottom + 9.0), label)?;
    }
    let axis = |h, at, text: &str| canvas.text(Role::Ink, 12.0, Weight::Normal, (h, VPos::Bottom), at, text);
    let against = options.against.trim_start_matches("the ");
    axis(HPos::Left, (1.0, TOP - 10.0), &format!("|result - {against}|"))?;
    axis(HPos::Right, (LEFT + WIDE, bottom + 42.0), &format!("|{against}|"))?;

    let places = counted(points, &x, &y);
    let fullest = places.iter().map(|p| p.count()).max().unwrap_or(1);
    for (number, counts) in places.iter().enumerate().filter(|(_, counts)| counts.count() > 0) {
        let (row, column) = (number / ACROSS, number % ACROSS);
        let (w, h) = (WIDE / ACROSS as f64, TALL / UP as f64);
        let at = (LEFT + column as f64 * w, bottom - (row + 1) as f64 * h);
        let role = if counts.beyond > 0 { Role::Positive } else { Role::Negative };
        let share = if fullest > 1 { f64::from(counts.count()).ln() / f64::from(fullest).ln() } else { 1.0 };
        let step = (share * f64::from(STEPS - 1)).round() + 1.0;
        canvas.rect(Canvas::fill(role, 0.25 + 0.75 * step / f64::from(STEPS)), at, (w, h))?;
    }
    tolerance(canvas, &plane, (&x, &y), options.atol, rtol)
}

/// The elements of a place.
#[derive(Clone, Copy, Default)]
struct Counts {
    within: u32,
    beyond: u32,
}

impl Counts {
    fn count(self) -> u32 {
        self.within.saturating_add(self.beyond)
    }
}

/// The counts of all places, from the lowest row up.
fn counted(points: &Points, x: &Axis, y: &Axis) -> Vec<Counts> {
    let mut places = vec![Counts::default(); ACROSS * UP];
    let index = |at: f64, (low, high): (f64, f64), count: usize| {
        (((at - low) / (high - low) * count as f64) as usize).min(count - 1)
    };
    let shown = points.shown.iter().map(|&(size, error, beyond)| (index(x.at(size), x.ends, ACROSS), error, beyond));
    let of_zero = points.of_zero.iter().map(|&(error, beyond)| (0, error, beyond));
    for (column, error, beyond) in shown.chain(of_zero) {
        let place = &mut places[index(y.at(error), y.ends, UP) * ACROSS + column];
        if beyond { place.beyond += 1 } else { place.within += 1 }
    }
    places
}

/// The tolerance as a line with its name; where all of it lies outside the plane, an arrow at that edge tells its values.
fn tolerance(canvas: &Canvas, plane: &Plane, (x, y): (&Axis, &Axis), atol: f64, rtol: f64) -> Drawn {
    const STEPS: usize = 480;
    let at = |i: usize| x.ends.0 + (x.ends.1 - x.ends.0) * i as f64 / STEPS as f64;
    // A product of zero and a size beyond the largest double would be no number.
    let share = |position: f64| if rtol == 0.0 { 0.0 } else { rtol * 10f64.powf(position) };
    let allowed = |position: f64| atol + share(position);
    let inside = |v: f64| v.is_finite() && (y.ends.0..=y.ends.1).contains(&v);
    let line: Vec<(f64, f64)> =
        (0..=STEPS).map(|i| (at(i), allowed(at(i)).log10())).filter(|(_, v)| inside(*v)).collect();
    let say = |h, v, at, text: &str| canvas.text(Role::Ink, 12.0, Weight::Normal, (h, v), at, text);
    if let (Some(&end), 2..) = (line.last(), line.len()) {
        curve(plane, Canvas::stroke(Role::Ink, 1.6), line)?;
        let (px, py) = place(plane, end);
        // The line never falls: it ends at the right, or at the top.
        return if px > LEFT + WIDE - 2.0 {
            say(HPos::Left, VPos::Center, (LEFT + WIDE + 6.0, py), "tolerance")
        } else {
            say(HPos::Center, VPos::Bottom, (px.max(LEFT + 130.0), TOP - 4.0), "tolerance")
        };
    }
    let (low, high) = (units::number(allowed(x.ends.0)), units::number(allowed(x.ends.1)));
    let values = if low == high { low } else { format!("{low} to {high}") };
    let is_above = allowed(x.ends.0).log10() > y.ends.1;
    let (edge, outwards, words) = if is_above { (TOP, -1.0, "above") } else { (TOP + TALL, 1.0, "below") };
    let (tip, wing) = ((LEFT + WIDE + 12.0, edge + 8.0 * outwards), 4.0);
    canvas.line(Role::Ink, 1.6, &[(tip.0, edge - 10.0 * outwards), tip])?;
    let back = tip.1 - 5.0 * outwards;
    canvas.line(Role::Ink, 1.6, &[(tip.0 - wing, back), tip, (tip.0 + wing, back)])?;
    // Beside the arrow, where no label of an axis stands.
    let beside = if is_above { (LEFT + WIDE, TOP - 10.0) } else { (LEFT, TOP + TALL + 42.0) };
    let side = if is_above { HPos::Right } else { HPos::Left };
    say(side, VPos::Bottom, beside, &format!("tolerance: {values}, {words} what is shown"))
}

#[cfg(test)]
mod tests {
    use super::super::difference::LeftOut;
    use super::*;

    #[test]
    fn every_element_is_counted_once() {
        let actual = [1.0, 2.1, 0.5, f64::NAN, 1e-9, 3.0];
        let expected = [1.0, 2.0, 0.0, 1.0, 0.0, 3.0];
        let options = DifferenceOptions::default();
        let points = Points::new(&actual, &expected, &options);
        assert_eq!((points.shown.len(), points.of_zero.len(), points.exact, points.odd), (1, 2, 2, 1));
        assert_eq!(points.of_zero, [(0.5, true), (1e-9, false)]);
        let (x, y) = (Axis::log(2.0, 2.0, units::number), Axis::log(1e-9, 0.5, units::number));
        let places = counted(&points, &x, &y);
        assert_eq!(places.iter().map(|p| p.count()).sum::<u32>(), 3);
        assert_eq!(places.iter().map(|p| p.beyond).sum::<u32>(), 2);
    }

    #[test]
    fn the_caption_counts_what_is_not_drawn() {
        let svg = error_scatter(&[1.0, 2.1, f64::INFINITY], &[1.0, 2.0, 1.0], &DifferenceOptions::default());
        assert!(svg.as_str().contains("1 of 3 elements above the tolerance"), "{svg}");
        assert!(svg.as_str().contains("1 without any error, 1 not finite"), "{svg}");
        let none = error_scatter(&[1.0], &[1.0], &DifferenceOptions::default());
        assert!(none.as_str().contains("no element has an error"), "{none}");
    }

    #[test]
    fn a_reference_of_zeros_has_the_absolute_tolerance_alone() {
        let options = DifferenceOptions { rtol: 0.5, atol: 1e-3, ..DifferenceOptions::default() };
        let svg = error_scatter(&[1e-2, 1e-4], &[0.0, 0.0], &options).into_string();
        assert!(svg.contains("1 of 2 elements above the tolerance; 0 without any error<"), "{svg}");
        // The line of the tolerance is there, and the axis has the one size that there is.
        assert!(svg.contains(">tolerance<") && svg.contains(">0<") && !svg.contains(">1<"), "{svg}");
        let mixed = error_scatter(&[1e-2, 1.5], &[0.0, 1.0], &options).into_string();
        assert!(mixed.contains("1 of 0 at the left end"), "{mixed}");
    }

    #[test]
    fn what_nobody_wrote_is_counted_alone() {
        let left_out = [LeftOut::ByResult, LeftOut::ByNobody].into();
        let options = DifferenceOptions { left_out, ..DifferenceOptions::default() };
        let svg = error_scatter(&[-2.67e7, 1.5], &[1.0, 1.0], &options).into_string();
        assert!(svg.contains("1 of 2 elements above the tolerance; 0 without any error, 1 unwritten"), "{svg}");
    }

    #[test]
    fn the_tolerance_is_shown_or_told_wherever_it_is() {
        let expected = [1.0, 2.0, 4.0];
        let drawn = |error: f64, rtol: f64, atol: f64| {
            let actual = expected.map(|e| e + error);
            let options = DifferenceOptions { rtol, atol, ..DifferenceOptions::default() };
            error_scatter(&actual, &expected, &options).into_string()
        };
        // Errors of 1e-3 beside a tolerance of that size, and of sizes far above and below.
        let line = drawn(1e-3, 0.0, 1e-3);
        assert!(line.contains(">tolerance<") && !line.contains("what is shown"), "{line}");
        let above = drawn(1e-6, 0.0, 1e3);
        assert!(above.contains("tolerance: 1000, above what is shown"), "{above}");
        let below = drawn(1e-1, 1e-9, 0.0);
        assert!(below.contains("tolerance: ") && below.contains(", below what is shown"), "{below}");
        assert!(drawn(1e-1, 0.0, 0.0).contains("tolerance: 0, below what is shown"));
    }
}

//! The depth of a colour, and the colour bar that explains it.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Cell, Figures, Grid};
use super::options::{DepthScale, DifferenceKind, DifferenceOptions};
use crate::plot::canvas::{Canvas, Drawn, Weight};
use crate::plot::marks::{Hatching, hatch};
use crate::plot::theme::Role;

/// Steps of a hue from nothing to the largest error.
pub(super) const STEPS: u32 = 16;

/// The most that a logarithmic scale spans, as the ratio of the largest error and the least that is told apart.
const DECADES: f64 = 1e6;

/// The map from errors to steps of a hue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Depth {
    largest: f64,
    /// The error of the first step of a logarithmic scale.
    least: f64,
    scale: DepthScale,
}

impl Depth {
    /// The scale for errors of these figures; never [`DepthScale::Auto`].
    pub(super) fn new(figures: &Figures, scale: DepthScale) -> Depth {
        let scale = match scale {
            DepthScale::Auto if figures.small * 10 >= figures.differing && figures.small > 0 => DepthScale::Log,
            DepthScale::Auto => DepthScale::SquareRoot,
            // One size of error has no decades.
            DepthScale::Log if figures.smallest >= figures.largest => DepthScale::Linear,
            named => named,
        };
        Depth { largest: figures.largest, least: figures.smallest.max(figures.largest / DECADES), scale }
    }

    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// The share of the whole depth that an error has, between 0 and 1.
    fn share(&self, error: f64) -> f64 {
        let ratio = error.abs() / self.largest;
        match self.scale {
            DepthScale::Linear => ratio,
            DepthScale::Log => {
                let decades = (self.largest / self.least).ln();
                if decades > 0.0 { 1.0 + ratio.ln() / decades } else { ratio }
            }
            DepthScale::Auto | DepthScale::SquareRoot => ratio.sqrt(),
        }
    }

    /// The error at a share of the depth.
    fn error(&self, share: f64) -> f64 {
        match self.scale {
            DepthScale::Linear => self.largest * share,
            DepthScale::Log => self.largest * ((share - 1.0) * (self.largest / self.least).ln()).exp(),
            DepthScale::Auto | DepthScale::SquareRoot => self.largest * share * share,
        }
    }

    /// The depth of an error's hue, in steps; 0 for none at all.
    pub(super) fn step(&self, error: f64) -> u32 {
        if error == 0.0 || self.largest == 0.0 {
            return 0;
        }
        // The product of a share that is a rounding error too large stays in its step.
        ((self.share(error) * f64::from(STEPS) - 1e-9).ceil() as u32).clamp(1, STEPS)
    }

    /// The fill of a cell; `None` where nothing differs.
    pub(super) fn look(&self, cell: &Cell) -> Option<(Role, u32)> {
        if cell.unwritten {
            return Some((Role::Muted, STEPS));
        }
        if cell.odd {
            return Some((Role::Odd, STEPS));
        }
        let step = self.step(cell.mean(self.largest).max(if cell.worst() == 0.0 { 0.0 } else { f64::MIN_POSITIVE }));
        let hue = if cell.worst() < 0.0 { Role::Negative } else { Role::Positive };
        (step > 0).then_some((hue, step))
    }

    /// The name of a scale that is not linear, for the foot of its bar.
    fn name(&self) -> &'static str {
        match self.scale {
            DepthScale::Linear => "",
            DepthScale::Log => "log scale",
            DepthScale::Auto | DepthScale::SquareRoot => "√ scale",
        }
    }
}

/// The opacity of a step.
pub(super) fn alpha(step: u32) -> f64 {
    0.04 + 0.96 * f64::from(step) / f64::from(STEPS)
}

/// The opacity of a step in a cell that stays in the background.
pub(super) fn quiet_alpha(step: u32) -> f64 {
    0.15 * alpha(step)
}

/// The opacity of what is not finite, so low that its hatching is seen on a light and on a dark page.
pub(super) const ODD_ALPHA: f64 = 0.5;

/// The opacity of what nobody wrote, as that of what is not finite.
pub(super) const UNWRITTEN_ALPHA: f64 = 0.3;

/// The distance of two keys below a colour bar.
const OTHER: f64 = 20.0;

/// The least height of a colour bar, with its foot.
pub(super) const LEAST_HEIGHT: f64 = 96.0;

/// The colour bar of a grid.
pub(super) fn bar(
    canvas: &Canvas,
    (grid, depth): (&Grid, &Depth),
    options: &DifferenceOptions,
    (left, top): (f64, f64),
    height: f64,
) -> Drawn {
    const BROAD: f64 = 12.0;
    let signed = options.kind == DifferenceKind::Signed && grid.is_signed;
    let label = |y: f64, text: &str| {
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Center), (left + BROAD + 8.0, y), text)
    };
    let others = [
        (grid.has_odd, Role::Odd, ODD_ALPHA, Hatching::Rising, "inf, nan"),
        (grid.has_unwritten, Role::Muted, UNWRITTEN_ALPHA, Hatching::Falling, "unwritten"),
    ];
    let mut bottom = top + height;
    for (_, role, alpha, hatching, name) in others.into_iter().filter(|other| other.0) {
        let (at, size) = ((left, bottom - 14.0), (BROAD, 14.0));
        canvas.rect(Canvas::fill(role, alpha), at, size)?;
        hatch(canvas, hatching, (at, size), (1, 1), |_, _| true);
        label(bottom - 7.0, name)?;
        bottom -= OTHER;
    }
    if depth.largest() == 0.0 {
        return Ok(());
    }
    let room = if bottom < top + height { bottom + OTHER - 30.0 - top } else { height };
    let step = room / if signed { 2.0 } else { 1.0 } / f64::from(STEPS);
    let zero = top + step * f64::from(STEPS);
    canvas.rect(Canvas::fill(Role::Zero, 1.0), (left, top), (BROAD, room))?;
    for i in 1..=STEPS {
        canvas.rect(Canvas::fill(Role::Positive, alpha(i)), (left, zero - step * f64::from(i)), (BROAD, step))?;
        if signed {
            let at = (left, zero + step * f64::from(i - 1));
            canvas.rect(Canvas::fill(Role::Negative, alpha(i)), at, (BROAD, step))?;
        }
    }
    let (full, half) = (options.number(depth.largest()), options.number(depth.error(0.5)));
    let least = if depth.scale == DepthScale::Log {
        format!("≤ {}", options.number(depth.error(0.0)))
    } else {
        "0".to_owned()
    };
    let plus = if signed { "+" } else { "" };
    label(top + 4.0, &format!("{plus}{full}"))?;
    label((top + zero) / 2.0, &format!("{plus}{half}"))?;
    label(if signed { zero } else { zero - 4.0 }, &least)?;
    if signed {
        label((zero + top + room) / 2.0, &format!("-{half}"))?;
        label(top + room - 4.0, &format!("-{full}"))?;
    }
    if options.kind == DifferenceKind::Tolerance && (depth.error(0.02)..depth.largest()).contains(&1.0) {
        // The border between what agrees and what does not.
        let y = zero - depth.share(1.0) * step * f64::from(STEPS);
        canvas.line(Role::Ink, 1.5, &[(left - 4.0, y), (left + BROAD + 4.0, y)])?;
    }
    // A bar that is not linear says so.
    canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), (left, top + height + 8.0), depth.name())
}

#[cfg(test)]
mod tests {
    use super::super::grid::Elements;
    use super::*;

    fn depth(errors: &[f64], scale: DepthScale) -> Depth {
        let options = DifferenceOptions::default();
        let expected = vec![0.0; errors.len()];
        let elements = Elements { actual: errors, expected: &expected, options: &options };
        Depth::new(&Figures::of(&elements, 0..errors.len()), scale)
    }

    #[test]
    fn a_scale_never_hides_an_error() {
        for scale in [DepthScale::Auto, DepthScale::Linear, DepthScale::SquareRoot, DepthScale::Log] {
            let d = depth(&[1.0, 1e-300, -1.0], scale);
            assert_eq!((d.step(0.0), d.step(1e-300), d.step(-1.0), d.step(1.0)), (0, 1, STEPS, STEPS), "{scale:?}");
            assert_eq!(depth(&[f64::MAX, f64::MIN_POSITIVE], scale).step(f64::MIN_POSITIVE), 1, "{scale:?}");
        }
    }

    #[test]
    fn steps_follow_the_scale() {
        assert_eq!(depth(&[1.0, 0.25], DepthScale::Linear).step(0.25), 4);
        assert_eq!(depth(&[1.0, 0.25], DepthScale::SquareRoot).step(0.25), 8);
        // Four decades: an error of a hundredth is in their middle.
        let log = depth(&[1.0, 1e-4], DepthScale::Log);
        assert_eq!((log.step(1e-2), log.step(1e-4), log.step(0.1)), (8, 1, 12));
        assert!((log.error(0.5) - 1e-2).abs() < 1e-12);
    }

    #[test]
    fn the_scale_is_logarithmic_where_errors_span_decades() {
        assert_eq!(depth(&[1.0, 0.5, 0.9], DepthScale::Auto).scale, DepthScale::SquareRoot);
        assert_eq!(depth(&[1.0, 1e-3, 0.9], DepthScale::Auto).scale, DepthScale::Log);
        assert_eq!(depth(&[2.0, 2.0], DepthScale::Log).scale, DepthScale::Linear);
    }
}

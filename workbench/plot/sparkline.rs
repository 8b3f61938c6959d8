//! A sparkline: times of versions in order, a small picture for a card; broken versions are marked.

use super::Svg;
use super::canvas::{Canvas, Drawn, picture};
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

const HEIGHT: u32 = 56;
const STEP: f64 = 26.0;
const MOST_WIDTH: f64 = 720.0;
const MARGIN: f64 = 14.0;

/// A picture of times on a logarithmic scale. A version without a time lies on the base line; a broken one is a cross.
pub fn sparkline(versions: &[Spark]) -> Svg {
    let count = versions.len();
    let width = (2.0 * MARGIN + STEP * count.saturating_sub(1) as f64).clamp(120.0, MOST_WIDTH);
    let times = || versions.iter().filter_map(|v| v.seconds).filter(|s| s.is_finite() && *s > 0.0);
    let label = match (times().next(), times().next_back()) {
        (Some(first), Some(last)) => {
            format!("times of {count} versions, from {} to {}", units::seconds(first), units::seconds(last))
        }
        _ => format!("{count} versions, none of them measured"),
    };
    picture(width as u32, HEIGHT, &label, |canvas| draw(canvas, versions, width))
}

fn draw(canvas: &Canvas, versions: &[Spark], width: f64) -> Drawn {
    let base = f64::from(HEIGHT) - MARGIN;
    let logs: Vec<Option<f64>> =
        versions.iter().map(|v| v.seconds.filter(|s| s.is_finite() && *s > 0.0).map(f64::ln)).collect();
    let known = || logs.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let span = (high - low).max(1e-9);
    let x = |i: usize| {
        let steps = versions.len().saturating_sub(1).max(1) as f64;
        MARGIN + (width - 2.0 * MARGIN) * if versions.len() < 2 { 0.5 } else { i as f64 / steps }
    };
    let y = |log: f64| {
        if high - low < 1e-9 { HEIGHT as f64 / 2.0 } else { MARGIN + (base - MARGIN) * (1.0 - (log - low) / span) }
    };
    let path: Vec<(f64, f64)> = logs.iter().enumerate().filter_map(|(i, log)| Some((x(i), y((*log)?)))).collect();
    canvas.line(Role::Grid, 1.0, &[(MARGIN, base + 6.0), (width - MARGIN, base + 6.0)])?;
    if path.len() > 1 {
        canvas.line(Role::Series(0), 1.5, &path)?;
    }
    for (i, version) in versions.iter().enumerate() {
        let at = (x(i), logs[i].map_or(base + 6.0, y));
        let time = version.seconds.map_or_else(|| "not measured".to_owned(), units::seconds);
        canvas.tip(format!("{}: {time}{}", version.name, if version.is_broken { ", broken" } else { "" }));
        if version.is_broken {
            let r = 4.0;
            canvas.line(Role::Positive, 2.0, &[(at.0 - r, at.1 - r), (at.0 + r, at.1 + r)])?;
            canvas.line(Role::Positive, 2.0, &[(at.0 - r, at.1 + r), (at.0 + r, at.1 - r)])?;
        } else {
            let role = if version.seconds.is_some() { Role::Series(0) } else { Role::Muted };
            canvas.rect(Canvas::fill(role, 1.0), (at.0 - 2.5, at.1 - 2.5), (5.0, 5.0))?;
        }
    }
    Ok(())
}

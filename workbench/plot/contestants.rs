//! The picture of a sweep of one size: a bar for each contestant, the interval of its median across the end.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::axis::Axis;
use super::canvas::{CAPTION_LINE, Canvas, Drawn, Weight, caption_lines, picture, place, shorten, text_width};
use super::sweep::{Line, Quantity};
use super::theme::Role;

const WIDTH: f64 = 640.0;
const TOP: f64 = 62.0;
const ROW: f64 = 30.0;
const BAR: f64 = 16.0;
/// Characters of a name beside its bar.
const NAME: usize = 28;

/// Bars from zero, since their lengths are compared; `lines` have one point each.
pub(super) fn compare(title: &str, caption: &str, quantity: Quantity, lines: &[Line]) -> Svg {
    let caption = caption_lines(caption, WIDTH);
    let top = TOP + CAPTION_LINE * caption.len().saturating_sub(1) as f64;
    let height = top + ROW * lines.len() as f64 + 40.0;
    picture(WIDTH as u32, height as u32, title, |canvas| {
        canvas.heading_of_lines(title, &caption)?;
        draw(canvas, quantity, lines, top)
    })
}

fn draw(canvas: &Canvas, quantity: Quantity, lines: &[Line], top: f64) -> Drawn {
    let points = || lines.iter().flat_map(|line| line.points.first().map(|point| (line, point)));
    let highest = points().map(|(_, p)| p.high.max(p.value)).fold(f64::MIN_POSITIVE, f64::max);
    let axis = Axis::from_zero(highest, |value| quantity.tick(value));
    let left =
        points().map(|(l, _)| text_width(&shorten(&l.name, NAME), 13.0)).fold(0.0, f64::max).clamp(40.0, 220.0) + 18.0;
    let (wide, tall) = (WIDTH - left - 84.0, ROW * lines.len() as f64);
    let plane = canvas.plane((left, top), (wide, tall), axis.ends, (0.0, 1.0));
    let across = |value: f64| place(&plane, (value, 0.0)).0;

    for (at, label) in &axis.ticks {
        let x = across(*at);
        let role = if *at == 0.0 { Role::Muted } else { Role::Grid };
        canvas.line(role, 1.0, &[(x, top), (x, top + tall)])?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Center, VPos::Top), (x, top + tall + 9.0), label)?;
    }
    for (row, (line, point)) in points().enumerate() {
        let middle = top + (row as f64 + 0.5) * ROW;
        let (end, low, high) = (across(point.value), across(point.low), across(point.high));
        let name = shorten(&line.name, NAME);
        canvas.text(Role::Ink, 13.0, Weight::Normal, (HPos::Right, VPos::Center), (left - 12.0, middle), &name)?;
        canvas.tip(&point.tip);
        canvas.rect(Canvas::fill(line.role, 0.85), (left, middle - BAR / 2.0), (end - left, BAR))?;
        canvas.line(Role::Ink, 1.2, &[(low, middle), (high, middle)])?;
        for x in [low, high] {
            canvas.line(Role::Ink, 1.2, &[(x, middle - 4.0), (x, middle + 4.0)])?;
        }
        let beside = (high.max(end) + 9.0, middle);
        canvas.text(
            Role::Ink,
            12.0,
            Weight::Normal,
            (HPos::Left, VPos::Center),
            beside,
            &quantity.exact(point.value),
        )?;
    }
    Ok(())
}

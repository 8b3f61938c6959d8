//! The profile of one dimension: a bar for each element, or for a few together.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Cell, Elements, Figures, Grid};
use super::options::{DifferenceKind, runs};
use super::scale::{ODD_ALPHA, UNWRITTEN_ALPHA};
use crate::plot::Svg;
use crate::plot::canvas::{Canvas, Drawn, Plane, Weight, bar, caption_width, picture, place};
use crate::plot::marks::{Hatching, hatch};
use crate::plot::theme::Role;

/// Most bars, two pixels each.
const BARS: usize = 295;
/// The width of a bar where few are shown.
const BROADEST: f64 = 26.0;
/// Most places that tell their numbers under the pointer.
const MOST_TIPS: usize = 100;

/// Draws the differences of arrays of one dimension, or of none.
pub(super) fn draw(title: &str, elements: &Elements<'_>, figures: &Figures) -> Svg {
    const LEFT: f64 = 84.0;
    const TOP: f64 = 64.0;
    const TALL: f64 = 150.0;
    /// The strip that marks mismatches.
    const STRIP: f64 = 5.0;
    /// The line below a narrow profile.
    const NOTE: f64 = 17.0;
    let options = elements.options;
    let total = elements.actual.len();
    let grid = Grid::new(elements, 0, (1, total), (1, BARS), figures);
    let count = grid.columns as f64;
    let wide = (count * BROADEST).clamp(160.0, 590.0);
    let caption = figures.caption(&[total], 0, options);
    let width = (LEFT + wide + 26.0).max(caption_width(&caption)).max(560.0);
    let foot = if wide > 400.0 { 52.0 } else { 52.0 + NOTE };
    picture(width as u32, (TOP + TALL + foot) as u32, title, |canvas| {
        canvas.heading(title, &caption)?;
        let signed = options.kind == DifferenceKind::Signed;
        let largest = if figures.largest > 0.0 { figures.largest } else { 1.0 };
        let floor = if signed { -largest } else { 0.0 };
        let plane = canvas.plane((LEFT, TOP), (wide, TALL), (0.0, count), (floor, largest));
        let levels = if signed { vec![largest, 0.0, -largest] } else { vec![largest, largest / 2.0, 0.0] };
        for level in levels {
            let (_, y) = place(&plane, (0.0, level));
            let role = if level == 0.0 { Role::Muted } else { Role::Grid };
            canvas.line(role, 1.0, &[(LEFT, y), (LEFT + wide, y)])?;
            let text = match (figures.largest > 0.0 || level == 0.0, signed && level > 0.0) {
                (false, _) => continue,
                (true, true) => format!("+{}", options.number(level)),
                (true, false) => options.number(level),
            };
            canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Right, VPos::Center), (LEFT - 10.0, y), &text)?;
        }
        if options.kind == DifferenceKind::Tolerance && (0.0..figures.largest).contains(&1.0) {
            // The border between what agrees and what does not.
            let (_, y) = place(&plane, (0.0, 1.0));
            canvas.line(Role::Ink, 1.2, &[(LEFT, y), (LEFT + wide, y)])?;
        }
        let gap = if wide / count >= 6.0 { 0.12 } else { 0.0 };
        let looks = [(Role::Positive, false), (Role::Positive, true), (Role::Negative, false), (Role::Negative, true)];
        for (role, beyond) in looks {
            for (i, cell) in grid.cells.iter().enumerate().filter(|(_, c)| (c.mismatches > 0) == beyond && !c.odd) {
                let end = if role == Role::Positive { cell.above } else { cell.below };
                if end != 0.0 {
                    let style = Canvas::fill(role, if beyond { 1.0 } else { 0.55 });
                    bar(&plane, style, (i as f64 + gap, end.max(0.0)), ((i + 1) as f64 - gap, end.min(0.0)))?;
                }
            }
        }
        full_height(canvas, &plane, &grid, ((LEFT, TOP), (wide, TALL)), (floor, largest), gap)?;
        let under = TOP + TALL + 6.0;
        let at = |column: usize| LEFT + column as f64 * wide / count;
        for (from, to) in runs(grid.columns, |i| grid.cells[i].mismatches > 0) {
            canvas.rect(Canvas::fill(Role::Ink, 1.0), (at(from), under), ((at(to) - at(from)).max(1.5), STRIP))?;
        }
        let places = grid.columns.min(MOST_TIPS);
        for i in 0..places {
            let columns = Grid::span(i, places, grid.columns);
            let cells = &grid.cells[columns.clone()];
            let worst = cells.iter().max_by(|a, b| a.worst().abs().total_cmp(&b.worst().abs()));
            let odd = cells.iter().find(|c| c.unwritten).or(cells.iter().find(|c| c.odd));
            let Some(worst) = odd.or(worst) else { continue };
            let flat = worst.worst_at;
            canvas.tip(elements.told(flat, &[total]));
            canvas.rect(
                Canvas::fill(Role::Pointer, 1.0),
                (at(columns.start), TOP),
                (at(columns.end) - at(columns.start), TALL),
            )?;
        }
        let small = |h, x, text: &str| {
            canvas.text(Role::Muted, 12.0, Weight::Normal, (h, VPos::Top), (x, under + STRIP + 8.0), text)
        };
        small(HPos::Left, LEFT, "0")?;
        if total > 1 {
            small(HPos::Right, LEFT + wide, &(total - 1).to_string())?;
        }
        let mut note = if figures.mismatches > 0 { "marked below: beyond tolerance".to_owned() } else { String::new() };
        let kinds = [(figures.odd > 0, "inf, nan (/)"), (figures.unwritten > 0, "unwritten (\\)")];
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| kind.0).map(|kind| kind.1).collect();
        if !kinds.is_empty() {
            note.push_str(&format!("; full height: {}", kinds.join(", ")));
        }
        if wide > 400.0 {
            return small(HPos::Center, LEFT + wide / 2.0, &note);
        }
        let below = (LEFT, under + STRIP + 8.0 + NOTE);
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), below, &note)
    })
}

/// Bars of the whole height, for cells with what is not finite, and with what nobody wrote.
fn full_height(
    canvas: &Canvas,
    plane: &Plane,
    grid: &Grid,
    all: ((f64, f64), (f64, f64)),
    (floor, largest): (f64, f64),
    gap: f64,
) -> Drawn {
    let full =
        [(false, Role::Odd, ODD_ALPHA, Hatching::Rising), (true, Role::Muted, UNWRITTEN_ALPHA, Hatching::Falling)];
    for (unwritten, role, alpha, hatching) in full {
        let is_full = |cell: &Cell| if unwritten { cell.unwritten } else { cell.odd && !cell.unwritten };
        for (i, _) in grid.cells.iter().enumerate().filter(|(_, cell)| is_full(cell)) {
            let (left, right) = (i as f64 + gap, (i + 1) as f64 - gap);
            bar(plane, Canvas::fill(role, alpha), (left, largest), (right, floor))?;
            let (from, to) = (place(plane, (left, largest)), place(plane, (right, floor)));
            if gap > 0.0 {
                hatch(canvas, hatching, (from, (to.0 - from.0, to.1 - from.1)), (1, 1), |_, _| true);
            }
        }
        if gap == 0.0 && grid.cells.iter().any(is_full) {
            hatch(canvas, hatching, all, (1, grid.columns), |_, column| is_full(grid.cell(0, column)));
        }
    }
    Ok(())
}

//! The map of a plane of elements: coloured cells, a line round the mismatches, the colour bar.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Elements, Grid};
use super::options::runs;
use super::scale::{self, Depth, LEAST_HEIGHT, alpha};
use crate::plot::Svg;
use crate::plot::canvas::{Canvas, Drawn, Weight, caption_width, picture};
use crate::plot::theme::Role;

/// Most cells of a map down and across: few enough that a picture stays under a hundred kilobytes.
pub(super) const MOST: (usize, usize) = (56, 80);
/// As `MOST`, for a map that is one of many in a card.
pub(super) const MOST_OF_SLICES: (usize, usize) = (36, 52);
/// Most places of a map that tell their numbers under the pointer.
const MOST_TIPS: (usize, usize) = (14, 20);

/// A part of a picture that shows a grid.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// The corner at the top left.
    pub(super) at: (f64, f64),
    /// Width and height.
    pub(super) size: (f64, f64),
}

impl Frame {
    /// The corner at the top left of a cell.
    fn corner(&self, grid: &Grid, row: usize, column: usize) -> (f64, f64) {
        let (width, height) = (self.size.0 / grid.columns as f64, self.size.1 / grid.rows as f64);
        (self.at.0 + column as f64 * width, self.at.1 + row as f64 * height)
    }
}

/// Lengths of the two sides of a map with such a grid: square cells of whole pixels where that leaves the map large enough.
pub(super) fn extent(rows: usize, columns: usize, widest: f64, highest: f64) -> (f64, f64) {
    const LEAST: f64 = 72.0;
    let (rows, columns) = (rows as f64, columns as f64);
    let side = (widest / columns).min(highest / rows).min(30.0).floor().max(1.0);
    let stretch = |count: f64, most: f64| {
        let length = count * side;
        if length >= LEAST { length } else { (count * (LEAST / count).ceil()).min(most) }
    };
    (stretch(columns, widest), stretch(rows, highest))
}

/// Draws the map of a grid, whose elements are a plane of an array of this shape.
pub(super) fn draw(
    title: &str,
    caption: &str,
    (grid, depth): (&Grid, &Depth),
    elements: &Elements<'_>,
    shape: &[usize],
) -> Svg {
    const LEFT: f64 = 64.0;
    const TOP: f64 = 64.0;
    let (width, height) = extent(grid.rows, grid.columns, 560.0, 340.0);
    let size = (
        (LEFT + width + 120.0).max(caption_width(caption)).max(560.0) as u32,
        (TOP + height.max(LEAST_HEIGHT) + 44.0) as u32,
    );
    picture(size.0, size.1, title, |canvas| {
        canvas.heading(title, caption)?;
        let frame = Frame { at: (LEFT, TOP), size: (width, height) };
        cells(canvas, (grid, depth), frame)?;
        tips(canvas, grid, elements, shape, frame)?;
        ends(canvas, grid, frame)?;
        scale::bar(canvas, (grid, depth), elements.options, (LEFT + width + 22.0, TOP), height.max(LEAST_HEIGHT))
    })
}

/// Draws the cells and the line round the mismatches.
pub(super) fn cells(canvas: &Canvas, (grid, depth): (&Grid, &Depth), frame: Frame) -> Drawn {
    canvas.rect(Canvas::fill(Role::Zero, 1.0), frame.at, frame.size)?;
    let (width, height) = (frame.size.0 / grid.columns as f64, frame.size.1 / grid.rows as f64);
    // One look after the other, so that cells of one look share an element.
    let looks: Vec<Option<(Role, u32)>> = grid.cells.iter().map(|c| depth.look(c)).collect();
    let mut all: Vec<(Role, u32)> = looks.iter().copied().flatten().collect();
    all.sort_by_key(|&(role, step)| (role != Role::Positive, role != Role::Negative, step));
    all.dedup();
    for (role, step) in all {
        for (row, line) in looks.chunks(grid.columns).enumerate() {
            for (from, to) in runs(grid.columns, |column| line[column] == Some((role, step))) {
                let size = (width * (to - from) as f64, height);
                canvas.rect(Canvas::fill(role, alpha(step)), frame.corner(grid, row, from), size)?;
            }
        }
    }
    outline(canvas, grid, frame)
}

/// A line round the mismatches: every side between a cell with one and a cell without, neighbours joined.
fn outline(canvas: &Canvas, grid: &Grid, frame: Frame) -> Drawn {
    const THICK: f64 = 1.2;
    let corner = |row: usize, column: usize| frame.corner(grid, row, column);
    for row in 0..=grid.rows {
        let side =
            |column: usize| grid.mismatch(row.checked_sub(1), Some(column)) != grid.mismatch(Some(row), Some(column));
        for (from, to) in runs(grid.columns, side) {
            canvas.line(Role::Ink, THICK, &[corner(row, from), corner(row, to)])?;
        }
    }
    for column in 0..=grid.columns {
        let side =
            |row: usize| grid.mismatch(Some(row), column.checked_sub(1)) != grid.mismatch(Some(row), Some(column));
        for (from, to) in runs(grid.rows, side) {
            canvas.line(Role::Ink, THICK, &[corner(from, column), corner(to, column)])?;
        }
    }
    Ok(())
}

/// Places under the pointer: each tells which elements it shows, how many are beyond the tolerance, and the worst of them.
fn tips(canvas: &Canvas, grid: &Grid, elements: &Elements<'_>, shape: &[usize], frame: Frame) -> Drawn {
    let (down, across) = (grid.rows.min(MOST_TIPS.0), grid.columns.min(MOST_TIPS.1));
    for row in 0..down {
        for column in 0..across {
            let (rows, columns) = (Grid::span(row, down, grid.rows), Grid::span(column, across, grid.columns));
            let inside = rows.clone().flat_map(|r| columns.clone().map(move |c| r * grid.columns + c));
            let cells: Vec<_> = inside.map(|i| &grid.cells[i]).collect();
            let worst = cells.iter().max_by(|a, b| {
                (a.odd, a.worst().abs()).partial_cmp(&(b.odd, b.worst().abs())).unwrap_or(std::cmp::Ordering::Equal)
            });
            let Some(worst) = worst else { continue };
            let count: u32 = cells.iter().map(|c| c.elements).sum();
            let beyond: u32 = cells.iter().map(|c| c.mismatches).sum();
            let at = worst.worst_at;
            let pair = elements.told(at, shape);
            canvas.tip(match count {
                1 => pair,
                _ if worst.worst() == 0.0 && !worst.odd => format!("{count} elements, all equal"),
                _ => format!("{beyond} of {count} elements beyond the tolerance; worst {pair}"),
            });
            let (from, to) = (frame.corner(grid, rows.start, columns.start), frame.corner(grid, rows.end, columns.end));
            canvas.rect(Canvas::fill(Role::Pointer, 1.0), from, (to.0 - from.0, to.1 - from.1))?;
        }
    }
    Ok(())
}

/// First and last index along both sides of a map.
fn ends(canvas: &Canvas, grid: &Grid, frame: Frame) -> Drawn {
    let ((left, top), (width, height)) = (frame.at, frame.size);
    let (rows, columns) = grid.extents;
    let small = |h, v, at, text: &str| canvas.text(Role::Muted, 12.0, Weight::Normal, (h, v), at, text);
    small(HPos::Left, VPos::Top, (left, top + height + 8.0), "0")?;
    if columns > 1 {
        small(HPos::Right, VPos::Top, (left + width, top + height + 8.0), &(columns - 1).to_string())?;
    }
    small(HPos::Right, VPos::Top, (left - 8.0, top), "0")?;
    if rows > 1 {
        small(HPos::Right, VPos::Bottom, (left - 8.0, top + height), &(rows - 1).to_string())?;
    }
    let (down, across) = (rows.div_ceil(grid.rows), columns.div_ceil(grid.columns));
    // A cell of several elements is not what the bar says of one.
    if down * across > 1 && width > 360.0 {
        let note = format!("a cell: up to {down} × {across} elements; its depth: their root mean square");
        small(HPos::Center, VPos::Top, (left + width / 2.0, top + height + 8.0), &note)?;
    }
    Ok(())
}

//! The map of a plane of elements: coloured cells, a line round those beyond the tolerance, the colour bar.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Cell, Elements, Frame, Grid};
use super::options::runs;
use super::scale::{self, Depth, LEAST_HEIGHT, ODD_ALPHA, UNWRITTEN_ALPHA, alpha, quiet_alpha};
use super::sides;
use crate::plot::Svg;
use crate::plot::canvas::{Canvas, Drawn, Weight, caption_width, picture};
use crate::plot::marks::{Hatching, hatch};
use crate::plot::theme::Role;

/// Most cells of a map down and across: few enough that a picture stays under a hundred kilobytes.
pub(super) const MOST: (usize, usize) = (64, 80);
/// As `MOST`, for a map that is one of many in a card.
pub(super) const MOST_OF_SLICES: (usize, usize) = (40, 52);
/// Most places of a map that tell their numbers under the pointer.
const MOST_TIPS: (usize, usize) = (14, 20);

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
    let (width, height) = extent(grid.rows, grid.columns, 560.0, 340.0);
    let sides = elements.options.sides_of(shape);
    let frame = Frame { at: sides::corner(grid, sides), size: (width, height) };
    let (left, top) = frame.at;
    let notes = notes(grid);
    let lines = notes.len() + usize::from(grid.has_mismatch);
    let tall = height.max(LEAST_HEIGHT);
    let size = (
        (left + width + 120.0).max(caption_width(caption)).max(560.0) as u32,
        (top + tall + 30.0 + LINE * lines as f64) as u32,
    );
    picture(size.0, size.1, title, |canvas| {
        canvas.heading(title, caption)?;
        cells(canvas, (grid, depth), frame)?;
        tips(canvas, grid, elements, shape, frame)?;
        sides::names(canvas, grid, sides, frame)?;
        scale::bar(canvas, (grid, depth), elements.options, (left + width + 22.0, top), tall)?;
        let foot = |line: usize| (left, top + tall + 28.0 + LINE * line as f64);
        for (line, note) in notes.iter().enumerate() {
            canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), foot(line), note)?;
        }
        if grid.has_mismatch { key(canvas, grid.has_within(), foot(notes.len())) } else { Ok(()) }
    })
}

/// The distance of two lines below a map.
pub(super) const LINE: f64 = 18.0;

/// The sentence below a map of cells of several elements: such a cell is not what the bar says of one.
pub(super) fn notes(grid: &Grid) -> Vec<String> {
    let (down, across) = grid.each;
    let note = || format!("a cell: up to {down} × {across} elements; its depth: their root mean square");
    (down * across > 1).then(note).into_iter().collect()
}

/// The key of the line round cells; `has_within` is true where some cell agrees.
pub(super) fn key(canvas: &Canvas, has_within: bool, at: (f64, f64)) -> Drawn {
    canvas.rect(Canvas::stroke(Role::Ink, THICK), (at.0 + 1.0, at.1), (10.0, 10.0))?;
    let words =
        if has_within { "beyond the tolerance; faint: within" } else { "beyond the tolerance; no cell is within" };
    canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), (at.0 + 18.0, at.1), words)
}

/// Draws the cells and the line round those beyond the tolerance.
pub(super) fn cells(canvas: &Canvas, (grid, depth): (&Grid, &Depth), frame: Frame) -> Drawn {
    canvas.rect(Canvas::fill(Role::Zero, 1.0), frame.at, frame.size)?;
    let (width, height) = (frame.size.0 / grid.columns as f64, frame.size.1 / grid.rows as f64);
    // One look after the other, so that cells of one look share an element.
    let look = |cell| depth.look(cell).map(|(role, step)| (role, step, grid.is_quiet(cell)));
    let looks: Vec<Option<(Role, u32, bool)>> = grid.cells.iter().map(look).collect();
    let mut all: Vec<(Role, u32, bool)> = looks.iter().copied().flatten().collect();
    all.sort_by_key(|&(role, step, quiet)| (!quiet, role != Role::Positive, role != Role::Negative, step));
    all.dedup();
    for look in all {
        let (role, step, quiet) = look;
        let opacity = match (role, quiet) {
            (Role::Odd, _) => ODD_ALPHA,
            (Role::Muted, _) => UNWRITTEN_ALPHA,
            (_, true) => quiet_alpha(step),
            (_, false) => alpha(step),
        };
        let style = Canvas::fill(role, opacity);
        for (row, line) in looks.chunks(grid.columns).enumerate() {
            for (from, to) in runs(grid.columns, |column| line[column] == Some(look)) {
                let size = (width * (to - from) as f64, height);
                canvas.rect(style, frame.corner(grid, row, from), size)?;
            }
        }
    }
    if grid.has_odd {
        let is_odd = |row, column| grid.cell(row, column).odd && !grid.cell(row, column).unwritten;
        hatch(canvas, Hatching::Rising, (frame.at, frame.size), (grid.rows, grid.columns), is_odd);
    }
    if grid.has_unwritten {
        let is_unwritten = |row, column| grid.cell(row, column).unwritten;
        hatch(canvas, Hatching::Falling, (frame.at, frame.size), (grid.rows, grid.columns), is_unwritten);
    }
    outline(canvas, grid, frame)
}

/// The width of the line round cells.
const THICK: f64 = 1.2;

/// A line round the cells beyond the tolerance: every side between such a cell and one that is none, neighbours joined.
fn outline(canvas: &Canvas, grid: &Grid, frame: Frame) -> Drawn {
    let corner = |row: usize, column: usize| frame.corner(grid, row, column);
    let is = |row: Option<usize>, column: Option<usize>| grid.is_beyond(row, column);
    for row in 0..=grid.rows {
        let side = |column: usize| is(row.checked_sub(1), Some(column)) != is(Some(row), Some(column));
        for (from, to) in runs(grid.columns, side) {
            canvas.line(Role::Ink, THICK, &[corner(row, from), corner(row, to)])?;
        }
    }
    for column in 0..=grid.columns {
        let side = |row: usize| is(Some(row), column.checked_sub(1)) != is(Some(row), Some(column));
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
                let rank = |cell: &Cell| (cell.unwritten, cell.odd, cell.worst().abs());
                rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            let Some(worst) = worst else { continue };
            let count: u32 = cells.iter().map(|c| c.elements).sum();
            let beyond: u32 = cells.iter().map(|c| c.mismatches).sum();
            let at = worst.worst_at;
            let pair = elements.told(at, shape);
            canvas.tip(match count {
                1 => pair,
                _ if worst.worst() == 0.0 && !worst.odd && !worst.unwritten => format!("{count} elements, all equal"),
                _ => format!("{beyond} of {count} elements beyond the tolerance; worst {pair}"),
            });
            let (from, to) = (frame.corner(grid, rows.start, columns.start), frame.corner(grid, rows.end, columns.end));
            canvas.rect(Canvas::fill(Role::Pointer, 1.0), from, (to.0 - from.0, to.1 - from.1))?;
        }
    }
    Ok(())
}

//! The sides of a map: indices, or names where its rows and columns have them.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Frame, Grid};
use super::options::Side;
use crate::plot::canvas::{Canvas, Drawn, Weight, shorten, text_width};
use crate::plot::theme::Role;

/// Most letters of a name.
const NAME: usize = 24;
/// The size of names.
const SIZE: f64 = 12.0;
/// The least height of a row with its name.
const ROW: f64 = 15.0;

/// The corner at the top left of a map, which leaves room for the names of rows.
pub(super) fn corner(grid: &Grid, sides: Option<&[Side; 2]>) -> (f64, f64) {
    const PLAIN: (f64, f64) = (64.0, 64.0);
    let Some([down, _]) = sides else { return PLAIN };
    let widest = shown(&down.names, grid.rows).map(|(_, name)| text_width(&name, SIZE)).fold(0.0, f64::max);
    ((widest + 18.0).max(PLAIN.0), PLAIN.1 + 20.0)
}

/// The names that may stand beside a map: of all rows or columns where each has a cell of its own, else of the first and the last.
fn shown(names: &[String], cells: usize) -> impl Iterator<Item = (usize, String)> + '_ {
    let all = names.len() == cells;
    let last = names.len().saturating_sub(1);
    let chosen = names.iter().enumerate().filter(move |(i, _)| all || *i == 0 || *i == last);
    chosen.map(|(i, name)| (i, shorten(name, NAME)))
}

/// Draws what is along both sides of a map.
pub(super) fn names(canvas: &Canvas, grid: &Grid, sides: Option<&[Side; 2]>, frame: Frame) -> Drawn {
    let ((left, top), (width, height)) = (frame.at, frame.size);
    let small = |h, v, at, text: &str| canvas.text(Role::Muted, SIZE, Weight::Normal, (h, v), at, text);
    let (rows, columns) = grid.extents;
    let numbers = |count: usize| (0..count).map(|i| i.to_string()).collect();
    let (down, across): (Vec<String>, Vec<String>) = match sides {
        Some([down, across]) => {
            let words = format!("down: {}; across: {}", down.title, across.title);
            canvas.text(Role::Ink, SIZE, Weight::Normal, (HPos::Left, VPos::Bottom), (1.0, top - 10.0), &words)?;
            (down.names.clone(), across.names.clone())
        }
        None => (numbers(rows), numbers(columns)),
    };
    let (first_row, first_column) = (down.first().map_or("", |n| n), across.first().map_or("", |n| n));
    if sides.is_some() && rows == grid.rows && height / rows as f64 >= ROW {
        for (i, name) in shown(&down, grid.rows) {
            let middle = top + height * (i as f64 + 0.5) / rows as f64;
            small(HPos::Right, VPos::Center, (left - 8.0, middle), &name)?;
        }
    } else {
        small(HPos::Right, VPos::Top, (left - 8.0, top), &shorten(first_row, NAME))?;
        if let Some(last) = down.last().filter(|_| rows > 1) {
            small(HPos::Right, VPos::Bottom, (left - 8.0, top + height), &shorten(last, NAME))?;
        }
    }
    let below = top + height + 8.0;
    let widest = shown(&across, grid.columns).map(|(_, name)| text_width(&name, SIZE)).fold(0.0, f64::max);
    if sides.is_some() && columns == grid.columns && widest + 2.0 <= width / columns as f64 {
        for (i, name) in shown(&across, grid.columns) {
            small(HPos::Center, VPos::Top, (left + width * (i as f64 + 0.5) / columns as f64, below), &name)?;
        }
        return Ok(());
    }
    let first = shorten(first_column, NAME);
    let Some(last) = across.last().filter(|_| columns > 1).map(|last| shorten(last, NAME)) else {
        return small(HPos::Left, VPos::Top, (left, below), &first);
    };
    if text_width(&first, SIZE) + text_width(&last, SIZE) + 10.0 > width {
        return small(HPos::Left, VPos::Top, (left, below), &format!("{first} to {last}"));
    }
    small(HPos::Left, VPos::Top, (left, below), &first)?;
    small(HPos::Right, VPos::Top, (left + width, below), &last)
}

//! Arrays of three and more dimensions as slices along the last two: side by side in one picture, or each a map of its own.

use plotters_backend::text_anchor::{HPos, VPos};

use super::grid::{Elements, Figures, Frame, Grid};
use super::map;
use super::options::slice_name;
use super::scale::{self, Depth, LEAST_HEIGHT};
use crate::check::compare::unravel;
use crate::plot::Svg;
use crate::plot::canvas::{Canvas, Weight, caption_width, picture, text_width};
use crate::plot::theme::Role;

/// Most slices of a mosaic, and maps that [`difference_slices`] makes.
const MOST_SLICES: usize = 12;
/// Most cells of all slices of a mosaic.
const MOST_CELLS: usize = 4480;

/// The slices that are shown: all of a few, else of those that differ the ones with most mismatches, then with the largest errors; in the array's
/// order.
pub(super) fn chosen(elements: &Elements<'_>, shape: &[usize]) -> Vec<(usize, Figures)> {
    let plane: usize = shape[shape.len() - 2..].iter().product();
    let count = elements.actual.len() / plane.max(1);
    let mut slices: Vec<(usize, Figures)> =
        (0..count).map(|i| (i, Figures::of(elements, i * plane..(i + 1) * plane))).collect();
    if count > MOST_SLICES {
        slices.retain(|(_, figures)| !figures.are_equal());
        let wrong = |f: &Figures| (f.mismatches + f.odd, f.largest);
        slices.sort_by(|(_, a), (_, b)| wrong(b).partial_cmp(&wrong(a)).unwrap_or(std::cmp::Ordering::Equal));
        slices.truncate(MOST_SLICES);
        slices.sort_by_key(|(i, _)| *i);
    }
    slices
}

/// Draws slices side by side, with one scale of colours.
pub(super) fn draw(title: &str, elements: &Elements<'_>, all: &Figures, shape: &[usize]) -> Svg {
    const LEFT: f64 = 2.0;
    const TOP: f64 = 62.0;
    const WIDE: f64 = 600.0;
    const GAP: f64 = 18.0;
    const LABEL: f64 = 20.0;
    const SIZE: f64 = 12.0;
    let slices = chosen(elements, shape);
    let lead = &shape[..shape.len() - 2];
    let plane = (shape[lead.len()], shape[lead.len() + 1]);
    let total = elements.actual.len() / (plane.0 * plane.1);

    let names: Vec<String> = slices.iter().map(|(i, _)| slice_name(&unravel(*i, lead))).collect();
    let label = names.iter().map(|name| text_width(name, SIZE)).fold(0.0, f64::max).min(WIDE);
    // As many in a row as make tiles as large as possible, with room for their labels.
    let across = (1..=slices.len())
        .filter(|n| *n == 1 || (WIDE + GAP) / *n as f64 - GAP >= label.max(64.0))
        .max_by_key(|n| {
            let rows = slices.len().div_ceil(*n) as f64;
            let (wide, tall) = ((WIDE + GAP) / *n as f64 - GAP, (440.0 + GAP) / rows - GAP - LABEL);
            (wide / plane.1 as f64).min(tall / plane.0 as f64).to_bits()
        })
        .unwrap_or(1);
    let down = slices.len().div_ceil(across);
    let room = ((WIDE + GAP) / across as f64 - GAP, ((440.0 + GAP) / down as f64 - GAP - LABEL).max(40.0));
    let budget = (MOST_CELLS / slices.len()) as f64;
    let ratio = (plane.0 as f64 / plane.1 as f64).clamp(0.05, 20.0);
    let most = ((budget * ratio).sqrt().floor().max(1.0) as usize, (budget / ratio).sqrt().floor().max(1.0) as usize);
    let most = (most.0.min(room.1 as usize), most.1.min(room.0 as usize));
    let tile = map::extent(Grid::cells_along(plane.0, most.0), Grid::cells_along(plane.1, most.1), room.0, room.1);
    let pitch = (tile.0.max(label) + GAP, tile.1 + LABEL + GAP);
    let height = pitch.1 * down as f64 - GAP;
    let width = pitch.0 * across as f64 - GAP;

    let mut caption = all.caption(shape, 0, elements.options);
    if slices.len() < total {
        caption.push_str(&format!("; {} of {total} slices", slices.len()));
    }
    let grid = |(number, _): &(usize, Figures)| Grid::new(elements, number * plane.0 * plane.1, plane, most, all);
    let grids: Vec<Grid> = slices.iter().map(grid).collect();
    let notes = grids.first().map(map::notes).unwrap_or_default();
    let lines = notes.len() + usize::from(all.mismatches > 0);
    let size = (
        (LEFT + width + 120.0).max(caption_width(&caption)).max(560.0) as u32,
        (TOP + height.max(LEAST_HEIGHT) + 30.0 + map::LINE * lines as f64) as u32,
    );
    picture(size.0, size.1, title, |canvas| {
        canvas.heading(title, &caption)?;
        let depth = Depth::new(all, elements.options.scale);
        for (place, (((_, figures), name), grid)) in slices.iter().zip(&names).zip(&grids).enumerate() {
            let at = (LEFT + pitch.0 * (place % across) as f64, TOP + pitch.1 * (place / across) as f64);
            canvas.text(Role::Muted, SIZE, Weight::Normal, (HPos::Left, VPos::Top), at, name)?;
            let frame = Frame { at: (at.0, at.1 + LABEL), size: tile };
            map::cells(canvas, (grid, &depth), frame)?;
            canvas.tip(format!("{name}: {} of {} elements beyond the tolerance", figures.mismatches, figures.count));
            canvas.rect(Canvas::fill(Role::Pointer, 1.0), frame.at, frame.size)?;
        }
        let foot = |line: usize| (LEFT, TOP + height.max(LEAST_HEIGHT) + 28.0 + map::LINE * line as f64);
        for (line, note) in notes.iter().enumerate() {
            canvas.text(Role::Muted, SIZE, Weight::Normal, (HPos::Left, VPos::Top), foot(line), note)?;
        }
        if all.mismatches > 0 {
            map::key(canvas, grids.iter().any(Grid::has_within), foot(notes.len()))?;
        }
        match grids.last() {
            Some(grid) => {
                let at = (LEFT + width + 22.0, TOP + LABEL);
                scale::bar(canvas, (grid, &depth), elements.options, at, (height - LABEL).max(LEAST_HEIGHT - LABEL))
            }
            None => Ok(()),
        }
    })
}

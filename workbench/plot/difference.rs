//! Pictures of the difference of two arrays: a map for two and more dimensions, a profile for one.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, bar, notice, picture, place};
use super::theme::Role;
use crate::bench::units;

/// The difference that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DifferenceKind {
    /// `actual - expected`: too large and too small each have a hue.
    #[default]
    Signed,
    /// `|actual - expected|`.
    Absolute,
}

/// The options of the picture, and of what counts as a mismatch.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferenceOptions {
    /// The title, which names the arrays; may be empty.
    pub title: String,
    /// Signed or absolute.
    pub kind: DifferenceKind,
    /// An element matches where `|actual - expected| <= atol + rtol * |expected|`, as in torch.testing.
    pub rtol: f64,
    /// See [`rtol`](Self::rtol).
    pub atol: f64,
    /// True if NaN matches NaN.
    pub equal_nan: bool,
}

impl Default for DifferenceOptions {
    /// torch.testing's tolerances for float32.
    fn default() -> Self {
        DifferenceOptions {
            title: String::new(),
            kind: DifferenceKind::Signed,
            rtol: 1.3e-6,
            atol: 1e-5,
            equal_nan: false,
        }
    }
}

/// Most cells of a map across and down: few enough that a picture stays under a hundred kilobytes.
const ACROSS: usize = 80;
const DOWN: usize = 56;
/// Most bars of a profile, two pixels each.
const BARS: usize = 295;
/// Steps of a hue from nothing to the largest error.
const STEPS: u32 = 16;

/// One cell: the worst of the elements it stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cell {
    /// Largest finite error above zero.
    above: f64,
    /// Largest finite error below zero, as a negative number.
    below: f64,
    /// Some difference is not a finite number.
    odd: bool,
    /// Some element is beyond the tolerance.
    mismatch: bool,
}

impl Cell {
    fn add(&mut self, actual: f64, expected: f64, options: &DifferenceOptions) {
        let both_nan = actual.is_nan() && expected.is_nan();
        if actual == expected || (both_nan && options.equal_nan) {
            return;
        }
        let error = actual - expected;
        if !error.is_finite() {
            self.odd = true;
            self.mismatch = true;
            return;
        }
        let error = if options.kind == DifferenceKind::Absolute { error.abs() } else { error };
        self.above = self.above.max(error);
        self.below = self.below.min(error);
        self.mismatch |= error.abs() > options.atol + options.rtol * expected.abs();
    }

    /// The error of the largest magnitude.
    fn worst(&self) -> f64 {
        if self.above >= -self.below { self.above } else { self.below }
    }
}

/// All elements as cells of a grid of at most `rows` by `columns`, with the figures of the whole.
struct Grid {
    cells: Vec<Cell>,
    rows: usize,
    columns: usize,
    /// Largest finite magnitude.
    largest: f64,
    /// Flat index of the first element with it.
    largest_at: usize,
    mismatches: usize,
    odd: usize,
}

impl Grid {
    fn new(
        actual: &[f64],
        expected: &[f64],
        (height, width): (usize, usize),
        most: (usize, usize),
        options: &DifferenceOptions,
    ) -> Grid {
        let (rows, columns) = (height.min(most.0), width.min(most.1));
        let mut grid = Grid {
            cells: vec![Cell::default(); rows * columns],
            rows,
            columns,
            largest: 0.0,
            largest_at: 0,
            mismatches: 0,
            odd: 0,
        };
        for (index, (&a, &e)) in actual.iter().zip(expected).enumerate() {
            let mut one = Cell::default();
            one.add(a, e, options);
            if one.worst().abs() > grid.largest {
                grid.largest = one.worst().abs();
                grid.largest_at = index;
            }
            grid.mismatches += usize::from(one.mismatch);
            grid.odd += usize::from(one.odd);
            let (row, column) = (index / width * rows / height, index % width * columns / width);
            let cell = &mut grid.cells[row * columns + column];
            cell.above = cell.above.max(one.above);
            cell.below = cell.below.min(one.below);
            cell.odd |= one.odd;
            cell.mismatch |= one.mismatch;
        }
        grid
    }

    fn mismatch(&self, row: Option<usize>, column: Option<usize>) -> bool {
        let inside = row.filter(|r| *r < self.rows).zip(column.filter(|c| *c < self.columns));
        inside.is_some_and(|(row, column)| self.cells[row * self.columns + column].mismatch)
    }

    fn caption(&self, shape: &[usize], options: &DifferenceOptions) -> String {
        let total: usize = shape.iter().product();
        let verdict = match self.mismatches {
            0 => format!("all {total} elements within"),
            1 => format!("1 of {total} elements beyond"),
            n => format!("{n} of {total} elements beyond"),
        };
        let tolerance = format!("rtol {}, atol {}", units::number(options.rtol), units::number(options.atol));
        let mut text = format!("{verdict} {tolerance}");
        if self.largest > 0.0 {
            let at = coordinates(self.largest_at, shape);
            text.push_str(&format!("; largest error {} at {at}", units::number(self.largest)));
        }
        if self.odd > 0 {
            text.push_str(&format!("; {} not finite", self.odd));
        }
        text
    }
}

/// The index of an element, such as `[3, 17]`.
fn coordinates(flat: usize, shape: &[usize]) -> String {
    let mut rest = flat;
    let mut index: Vec<String> = Vec::with_capacity(shape.len());
    for &dim in shape.iter().rev() {
        index.push((rest % dim.max(1)).to_string());
        rest /= dim.max(1);
    }
    index.reverse();
    format!("[{}]", index.join(", "))
}

/// Draws the differences of `actual` from `expected`, both of `shape`, row-major.
///
/// Two dimensions make a map, more are folded into rows (all dimensions but the last), one makes a profile. Large arrays are cut into cells
/// that show their worst element. The hue shows too large or too small, its depth the size of the error (by the square root, so that small
/// errors are visible); a line surrounds the elements beyond the tolerance.
pub fn difference_map(actual: &[f64], expected: &[f64], shape: &[usize], options: &DifferenceOptions) -> Svg {
    let title = match (options.title.as_str(), options.kind) {
        ("", DifferenceKind::Signed) => "Difference from the reference".to_owned(),
        ("", DifferenceKind::Absolute) => "Absolute difference from the reference".to_owned(),
        (title, _) => super::canvas::shorten(title, 70),
    };
    let total = shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    if total != Some(actual.len()) || actual.len() != expected.len() {
        let (a, e) = (actual.len(), expected.len());
        return notice(&title, &format!("{a} elements against {e} do not fill the shape {shape:?}"));
    }
    if actual.is_empty() {
        return notice(&title, "the arrays are empty");
    }
    let width = shape.last().copied().unwrap_or(1);
    let height = actual.len() / width;
    if shape.len() < 2 {
        let grid = Grid::new(actual, expected, (1, width), (1, BARS), options);
        return profile(&title, &grid, shape, options);
    }
    let grid = Grid::new(actual, expected, (height, width), (DOWN, ACROSS), options);
    map(&title, &grid, shape, options)
}

/// The depth of an error's hue, in steps; 0 for none at all.
fn depth(error: f64, largest: f64) -> u32 {
    if error == 0.0 || largest == 0.0 {
        return 0;
    }
    (((error.abs() / largest).sqrt() * f64::from(STEPS)).ceil() as u32).clamp(1, STEPS)
}

fn hue(error: f64) -> Role {
    if error < 0.0 { Role::Negative } else { Role::Positive }
}

/// The fill of a cell; `None` where nothing differs.
fn look(cell: &Cell, largest: f64) -> Option<(Role, u32)> {
    if cell.odd {
        return Some((Role::Odd, STEPS));
    }
    let step = depth(cell.worst(), largest);
    (step > 0).then(|| (hue(cell.worst()), step))
}

fn alpha(step: u32) -> f64 {
    0.04 + 0.96 * f64::from(step) / f64::from(STEPS)
}

/// Lengths of the two sides of a map with such a grid.
fn extent(rows: usize, columns: usize) -> (f64, f64) {
    const WIDEST: f64 = 560.0;
    const HIGHEST: f64 = 340.0;
    const LEAST: f64 = 72.0;
    let (rows, columns) = (rows as f64, columns as f64);
    // Square cells of whole pixels where that leaves the map wide enough.
    let side = (WIDEST / columns).min(HIGHEST / rows).min(30.0).floor().max(1.0);
    let stretch = |count: f64, most: f64| {
        let length = count * side;
        if length >= LEAST { length } else { (count * (LEAST / count).ceil()).min(most) }
    };
    (stretch(columns, WIDEST), stretch(rows, HIGHEST))
}

fn map(title: &str, grid: &Grid, shape: &[usize], options: &DifferenceOptions) -> Svg {
    const LEFT: f64 = 64.0;
    const TOP: f64 = 64.0;
    let (width, height) = extent(grid.rows, grid.columns);
    let size = ((LEFT + width + 120.0).max(560.0) as u32, (TOP + height.max(96.0) + 44.0) as u32);
    picture(size.0, size.1, title, |canvas| {
        canvas.heading(title, &grid.caption(shape, options))?;
        let cell = (width / grid.columns as f64, height / grid.rows as f64);
        let corner = |row: usize, column: usize| (LEFT + column as f64 * cell.0, TOP + row as f64 * cell.1);
        canvas.rect(Canvas::fill(Role::Zero, 1.0), (LEFT, TOP), (width, height))?;
        // One look after the other, so that cells of one look share an element.
        let looks: Vec<Option<(Role, u32)>> = grid.cells.iter().map(|c| look(c, grid.largest)).collect();
        let mut all: Vec<(Role, u32)> = looks.iter().copied().flatten().collect();
        all.sort_by_key(|&(role, step)| (role != Role::Positive, role != Role::Negative, step));
        all.dedup();
        for (role, step) in all {
            for (row, line) in looks.chunks(grid.columns).enumerate() {
                for (from, to) in runs(grid.columns, |column| line[column] == Some((role, step))) {
                    let size = (cell.0 * (to - from) as f64, cell.1);
                    canvas.rect(Canvas::fill(role, alpha(step)), corner(row, from), size)?;
                }
            }
        }
        outline(canvas, grid, corner)?;
        ends(canvas, shape, (LEFT, TOP), (width, height))?;
        scale(canvas, grid, options, (LEFT + width + 22.0, TOP), height.max(96.0))
    })
}

/// A line round the mismatches: every side between a cell with one and a cell without, neighbours joined.
fn outline(canvas: &Canvas, grid: &Grid, corner: impl Fn(usize, usize) -> (f64, f64)) -> Drawn {
    const THICK: f64 = 1.2;
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

/// The maximal half-open runs of `0..count` where `holds`.
fn runs(count: usize, holds: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = None;
    for i in 0..=count {
        match (from, i < count && holds(i)) {
            (None, true) => from = Some(i),
            (Some(start), false) => {
                found.push((start, i));
                from = None;
            }
            _ => {}
        }
    }
    found
}

/// First and last index along both sides of a map.
fn ends(canvas: &Canvas, shape: &[usize], (left, top): (f64, f64), (width, height): (f64, f64)) -> Drawn {
    let columns = shape.last().copied().unwrap_or(1);
    let lead = &shape[..shape.len() - 1];
    let rows: usize = lead.iter().product();
    let small = |h, v, at, text: &str| canvas.text(Role::Muted, 12.0, Weight::Normal, (h, v), at, text);
    small(HPos::Left, VPos::Top, (left, top + height + 8.0), "0")?;
    if columns > 1 {
        small(HPos::Right, VPos::Top, (left + width, top + height + 8.0), &(columns - 1).to_string())?;
    }
    small(HPos::Right, VPos::Top, (left - 8.0, top), "0")?;
    if rows > 1 {
        small(HPos::Right, VPos::Bottom, (left - 8.0, top + height), &(rows - 1).to_string())?;
    }
    let folded: Vec<String> = lead.iter().map(usize::to_string).collect();
    let note = if lead.len() > 1 { format!("rows: {} folded", folded.join(" × ")) } else { String::new() };
    small(HPos::Center, VPos::Top, (left + width / 2.0, top + height + 8.0), &note)
}

/// The colour bar.
fn scale(canvas: &Canvas, grid: &Grid, options: &DifferenceOptions, (left, top): (f64, f64), height: f64) -> Drawn {
    const BROAD: f64 = 12.0;
    let signed = options.kind == DifferenceKind::Signed && grid.cells.iter().any(|c| c.below < 0.0);
    let label = |y: f64, text: &str| {
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Center), (left + BROAD + 8.0, y), text)
    };
    if grid.largest == 0.0 {
        canvas.rect(Canvas::fill(Role::Zero, 1.0), (left, top), (BROAD, 14.0))?;
        return label(top + 7.0, "equal");
    }
    let room = if grid.odd > 0 { height - 30.0 } else { height };
    let sides = if signed { 2.0 } else { 1.0 };
    let step = room / sides / f64::from(STEPS);
    let zero = top + step * f64::from(STEPS);
    canvas.rect(Canvas::fill(Role::Zero, 1.0), (left, top), (BROAD, room))?;
    for i in 1..=STEPS {
        canvas.rect(Canvas::fill(Role::Positive, alpha(i)), (left, zero - step * f64::from(i)), (BROAD, step))?;
        if signed {
            canvas.rect(
                Canvas::fill(Role::Negative, alpha(i)),
                (left, zero + step * f64::from(i - 1)),
                (BROAD, step),
            )?;
        }
    }
    // Half the way up the bar is a quarter of the error: depth goes by the square root.
    let (full, half) = (units::number(grid.largest), units::number(grid.largest / 4.0));
    let plus = if signed { "+" } else { "" };
    label(top + 4.0, &format!("{plus}{full}"))?;
    label((top + zero) / 2.0, &format!("{plus}{half}"))?;
    label(if signed { zero } else { zero - 4.0 }, "0")?;
    if signed {
        label((zero + top + room) / 2.0, &format!("-{half}"))?;
        label(top + room - 4.0, &format!("-{full}"))?;
    }
    if grid.odd > 0 {
        canvas.rect(Canvas::fill(Role::Odd, 1.0), (left, top + height - 14.0), (BROAD, 14.0))?;
        label(top + height - 7.0, "inf, nan")?;
    }
    // A bar that is not linear says so.
    canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Top), (left, top + height + 8.0), "√ scale")
}

fn profile(title: &str, grid: &Grid, shape: &[usize], options: &DifferenceOptions) -> Svg {
    const LEFT: f64 = 84.0;
    const TOP: f64 = 64.0;
    const TALL: f64 = 150.0;
    const WIDE: f64 = 590.0;
    /// The strip that marks mismatches.
    const STRIP: f64 = 5.0;
    picture(700, (TOP + TALL + 52.0) as u32, title, |canvas| {
        canvas.heading(title, &grid.caption(shape, options))?;
        let signed = options.kind == DifferenceKind::Signed;
        let largest = if grid.largest > 0.0 { grid.largest } else { 1.0 };
        let count = grid.columns as f64;
        let floor = if signed { -largest } else { 0.0 };
        let plane = canvas.plane((LEFT, TOP), (WIDE, TALL), (0.0, count), (floor, largest));
        let levels = if signed { vec![largest, 0.0, -largest] } else { vec![largest, largest / 2.0, 0.0] };
        for level in levels {
            let (_, y) = place(&plane, (0.0, level));
            let role = if level == 0.0 { Role::Muted } else { Role::Grid };
            canvas.line(role, 1.0, &[(LEFT, y), (LEFT + WIDE, y)])?;
            let text = match (grid.largest > 0.0 || level == 0.0, signed && level > 0.0) {
                (false, _) => continue,
                (true, true) => format!("+{}", units::number(level)),
                (true, false) => units::number(level),
            };
            canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Right, VPos::Center), (LEFT - 10.0, y), &text)?;
        }
        let gap = if WIDE / count >= 6.0 { 0.12 } else { 0.0 };
        let looks = [(Role::Positive, false), (Role::Positive, true), (Role::Negative, false), (Role::Negative, true)];
        for (role, beyond) in looks {
            for (i, cell) in grid.cells.iter().enumerate().filter(|(_, c)| c.mismatch == beyond && !c.odd) {
                let end = if role == Role::Positive { cell.above } else { cell.below };
                if end != 0.0 {
                    let style = Canvas::fill(role, if beyond { 1.0 } else { 0.55 });
                    bar(&plane, style, (i as f64 + gap, end.max(0.0)), ((i + 1) as f64 - gap, end.min(0.0)))?;
                }
            }
        }
        for (i, _) in grid.cells.iter().enumerate().filter(|(_, c)| c.odd) {
            let style = Canvas::fill(Role::Odd, 0.8);
            bar(&plane, style, (i as f64 + gap, largest), ((i + 1) as f64 - gap, floor))?;
        }
        let under = TOP + TALL + 6.0;
        for (from, to) in runs(grid.columns, |i| grid.cells[i].mismatch) {
            let (x0, x1) = (LEFT + from as f64 * WIDE / count, LEFT + to as f64 * WIDE / count);
            canvas.rect(Canvas::fill(Role::Ink, 1.0), (x0, under), ((x1 - x0).max(1.5), STRIP))?;
        }
        let small = |h, x, text: &str| {
            canvas.text(Role::Muted, 12.0, Weight::Normal, (h, VPos::Top), (x, under + STRIP + 8.0), text)
        };
        let total: usize = shape.iter().product();
        small(HPos::Left, LEFT, "0")?;
        if total > 1 {
            small(HPos::Right, LEFT + WIDE, &(total - 1).to_string())?;
        }
        let note = match (grid.mismatches > 0, grid.odd > 0) {
            (false, _) => "",
            (true, false) => "marked below: beyond tolerance",
            (true, true) => "marked below: beyond tolerance; full height: inf, nan",
        };
        small(HPos::Center, LEFT + WIDE / 2.0, note)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_the_worst_of_their_elements() {
        let options = DifferenceOptions { rtol: 0.0, atol: 0.5, ..DifferenceOptions::default() };
        let mut actual = vec![0.0; 1000 * 1000];
        actual[999_999] = -3.0;
        actual[0] = 0.25;
        let grid = Grid::new(&actual, &vec![0.0; 1_000_000], (1000, 1000), (DOWN, ACROSS), &options);
        assert_eq!((grid.rows, grid.columns), (DOWN, ACROSS));
        assert_eq!(grid.cells[0].worst(), 0.25);
        assert_eq!(grid.cells.last().map(Cell::worst), Some(-3.0));
        assert_eq!((grid.mismatches, grid.odd, grid.largest, grid.largest_at), (1, 0, 3.0, 999_999));
    }

    #[test]
    fn nan_and_infinity_match_as_torch_has_it() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let count = |equal_nan: bool| {
            let options = DifferenceOptions { equal_nan, ..DifferenceOptions::default() };
            let grid = Grid::new(&[nan, inf, inf, nan, 1.0], &[nan, inf, -inf, 1.0, inf], (1, 5), (1, BARS), &options);
            (grid.mismatches, grid.odd)
        };
        assert_eq!(count(false), (4, 4));
        assert_eq!(count(true), (3, 3));
    }

    #[test]
    fn runs_are_maximal() {
        assert_eq!(runs(6, |i| i != 2 && i != 5), [(0, 2), (3, 5)]);
        assert_eq!(runs(0, |_| true), []);
        assert_eq!(coordinates(23, &[2, 3, 4]), "[1, 2, 3]");
        assert_eq!(coordinates(0, &[]), "[]");
    }

    #[test]
    fn depth_never_hides_an_error() {
        assert_eq!(depth(0.0, 1.0), 0);
        assert_eq!(depth(1e-300, 1.0), 1);
        assert_eq!(depth(-1.0, 1.0), STEPS);
        assert_eq!(depth(f64::MIN_POSITIVE, f64::MAX), 1);
    }
}

//! Elements, sorted into cells, and the figures of them all.

use std::ops::Range;

use super::options::{DifferenceKind, DifferenceOptions, LeftOut};
use crate::bench::units;

/// Two arrays and the way in which they are compared.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub(super) actual: &'a [f64],
    pub(super) expected: &'a [f64],
    pub(super) options: &'a DifferenceOptions,
}

/// The comparison of one element.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Compared {
    /// The error, as the kind of the picture counts it; 0 where it is not finite.
    pub(super) error: f64,
    /// The difference is not a finite number.
    pub(super) odd: bool,
    /// The element was left out: nobody wrote it.
    pub(super) unwritten: bool,
    /// The element is beyond the tolerance.
    pub(super) mismatch: bool,
}

impl Elements<'_> {
    /// The comparison of an element.
    pub(super) fn compare(&self, index: usize) -> Compared {
        let (actual, expected, options) = (self.actual[index], self.expected[index], self.options);
        if !options.is_written(index) {
            return Compared { unwritten: true, mismatch: true, ..Compared::default() };
        }
        let both_nan = actual.is_nan() && expected.is_nan();
        if actual == expected || (both_nan && options.equal_nan) {
            return Compared::default();
        }
        let difference = actual - expected;
        if !difference.is_finite() {
            return Compared { odd: true, mismatch: true, ..Compared::default() };
        }
        let tolerance = options.atol + options.rtol * expected.abs();
        let mismatch = difference.abs() > tolerance;
        let error = match options.kind {
            DifferenceKind::Signed => difference,
            DifferenceKind::Absolute => difference.abs(),
            DifferenceKind::Relative => difference.abs() / expected.abs(),
            DifferenceKind::Tolerance => difference.abs() / tolerance,
        };
        match error.is_finite() {
            true => Compared { error, mismatch, ..Compared::default() },
            false => Compared { odd: true, mismatch, ..Compared::default() },
        }
    }
}

impl Elements<'_> {
    /// An element in words, such as `[3, 4]: 1.5 instead of 1, off by 0.5`; the error is counted as the kind of the picture has it.
    pub(super) fn told(&self, index: usize, shape: &[usize]) -> String {
        let (got, want) = (units::exact(self.actual[index]), units::exact(self.expected[index]));
        let one = self.compare(index);
        let at = self.options.place(index, shape);
        match self.options.left_out(index) {
            LeftOut::ByNobody => {}
            LeftOut::ByResult => return format!("{at}: nobody wrote it; {want} is expected"),
            LeftOut::ByOther => return format!("{at}: {got}, which {} leaves out", self.options.against),
        }
        if one.error == 0.0 {
            return format!("{at}: {got} instead of {want}");
        }
        let sign = if self.options.kind == DifferenceKind::Signed && one.error > 0.0 { "+" } else { "" };
        format!("{at}: {got} instead of {want}, off by {sign}{}", self.options.number(one.error))
    }
}

/// The figures of a range of elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) count: usize,
    /// Largest finite magnitude.
    pub(super) largest: f64,
    /// The place of the first element with it, in the range.
    largest_at: usize,
    /// Smallest magnitude above zero; as `largest` where there is none.
    pub(super) smallest: f64,
    /// Errors that are finite and not zero.
    pub(super) differing: usize,
    /// Those below a hundredth of the largest.
    pub(super) small: usize,
    pub(super) mismatches: usize,
    pub(super) odd: usize,
    pub(super) unwritten: usize,
    /// Some error is below zero.
    pub(super) is_signed: bool,
}

impl Figures {
    pub(super) fn of(elements: &Elements<'_>, range: Range<usize>) -> Figures {
        let mut figures = Figures {
            count: range.len(),
            largest: 0.0,
            largest_at: 0,
            smallest: f64::INFINITY,
            differing: 0,
            small: 0,
            mismatches: 0,
            odd: 0,
            unwritten: 0,
            is_signed: false,
        };
        for (place, index) in range.clone().enumerate() {
            let one = elements.compare(index);
            let size = one.error.abs();
            if size > figures.largest {
                figures.largest = size;
                figures.largest_at = place;
            }
            if size > 0.0 {
                figures.smallest = figures.smallest.min(size);
                figures.differing += 1;
                figures.is_signed |= one.error < 0.0;
            }
            figures.mismatches += usize::from(one.mismatch);
            figures.odd += usize::from(one.odd);
            figures.unwritten += usize::from(one.unwritten);
        }
        figures.smallest = figures.smallest.min(figures.largest);
        let little = figures.largest / 100.0;
        let is_small = |index: &usize| (f64::MIN_POSITIVE..little).contains(&elements.compare(*index).error.abs());
        figures.small = range.filter(is_small).count();
        figures
    }

    /// True if no element differs.
    pub(super) fn are_equal(&self) -> bool {
        self.differing == 0 && self.odd == 0 && self.unwritten == 0
    }

    /// The line under the title; the range begins at element `first` of an array of this shape.
    pub(super) fn caption(&self, shape: &[usize], first: usize, options: &DifferenceOptions) -> String {
        let total = self.count;
        let verdict = match self.mismatches {
            0 => format!("all {total} elements within"),
            1 => format!("1 of {total} elements beyond"),
            n => format!("{n} of {total} elements beyond"),
        };
        let tolerance = format!("rtol {}, atol {}", units::number(options.rtol), units::number(options.atol));
        let mut text = format!("{verdict} {tolerance}");
        if self.largest > 0.0 {
            let at = options.place(first + self.largest_at, shape);
            text.push_str(&format!("; largest error {} at {at}", options.number(self.largest)));
        }
        if self.odd > 0 {
            text.push_str(&format!("; {} not finite", self.odd));
        }
        match self.unwritten {
            0 => {}
            n => text.push_str(&format!("; {n} of them unwritten")),
        }
        text
    }
}

/// One cell: the elements it stands for, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cell {
    /// Largest error above zero.
    pub(super) above: f64,
    /// Largest error below zero, as a negative number.
    pub(super) below: f64,
    /// The squares of all errors, in units of the square of the largest of all cells.
    squares: f64,
    pub(super) elements: u32,
    pub(super) odd: bool,
    pub(super) unwritten: bool,
    pub(super) mismatches: u32,
    /// The flat index of the first element of the largest error.
    pub(super) worst_at: usize,
}

impl Cell {
    /// The error of the largest magnitude.
    pub(super) fn worst(&self) -> f64 {
        if self.above >= -self.below { self.above } else { self.below }
    }

    /// The root mean square of the errors.
    pub(super) fn mean(&self, largest: f64) -> f64 {
        largest * (self.squares / f64::from(self.elements.max(1))).sqrt()
    }
}

/// Elements as cells of a grid.
pub(super) struct Grid {
    pub(super) cells: Vec<Cell>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The extents in elements.
    pub(super) extents: (usize, usize),
    /// The elements of a cell down and across; cells at the far sides may have fewer.
    pub(super) each: (usize, usize),
    /// Some error of all that share the colours is below zero, or not finite, or beyond the tolerance.
    pub(super) is_signed: bool,
    pub(super) has_odd: bool,
    pub(super) has_unwritten: bool,
    pub(super) has_mismatch: bool,
}

impl Grid {
    /// The elements of a cell along an extent, for at most `most` cells: one, or an even number, the same for all, so that rows that alternate make
    /// cells that are alike.
    fn each(extent: usize, most: usize) -> usize {
        match extent.div_ceil(most.max(1)) {
            0 | 1 => 1,
            several => several.next_multiple_of(2),
        }
    }

    /// The cells along an extent, at most `most`.
    pub(super) fn cells_along(extent: usize, most: usize) -> usize {
        extent.div_ceil(Grid::each(extent, most))
    }

    /// The grid of the `height * width` elements from `first` on, of at most `most` rows and columns. `figures` are those of all elements
    /// that share its colours.
    pub(super) fn new(
        elements: &Elements<'_>,
        first: usize,
        (height, width): (usize, usize),
        most: (usize, usize),
        figures: &Figures,
    ) -> Grid {
        let (down, across) = (Grid::each(height, most.0), Grid::each(width, most.1));
        let (rows, columns) = (height.div_ceil(down), width.div_ceil(across));
        let mut cells = vec![Cell::default(); rows * columns];
        for place in 0..height * width {
            let one = elements.compare(first + place);
            let (row, column) = (place / width / down, place % width / across);
            let cell = &mut cells[row * columns + column];
            // Elements that nobody wrote rank before those that are no numbers, and these before any error.
            let rank = |unwritten: bool, odd: bool| 2 * u8::from(unwritten) + u8::from(odd);
            let (own, worst) = (rank(one.unwritten, one.odd), rank(cell.unwritten, cell.odd));
            if cell.elements == 0 || own > worst || (own == worst && one.error.abs() > cell.worst().abs()) {
                cell.worst_at = first + place;
            }
            cell.above = cell.above.max(one.error);
            cell.below = cell.below.min(one.error);
            cell.odd |= one.odd;
            cell.unwritten |= one.unwritten;
            cell.elements += 1;
            cell.mismatches += u32::from(one.mismatch);
            if one.error != 0.0 {
                cell.squares += (one.error / figures.largest).powi(2);
            }
        }
        Grid {
            cells,
            rows,
            columns,
            extents: (height, width),
            each: (down, across),
            is_signed: figures.is_signed,
            has_odd: figures.odd > 0,
            has_unwritten: figures.unwritten > 0,
            has_mismatch: figures.mismatches > 0,
        }
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &Cell {
        &self.cells[row * self.columns + column]
    }

    /// True if a cell has an element beyond the tolerance; false outside.
    pub(super) fn is_beyond(&self, row: Option<usize>, column: Option<usize>) -> bool {
        let inside = row.filter(|r| *r < self.rows).zip(column.filter(|c| *c < self.columns));
        inside.is_some_and(|(row, column)| self.cell(row, column).mismatches > 0)
    }

    /// True if some cell agrees.
    pub(super) fn has_within(&self) -> bool {
        self.cells.iter().any(|cell| cell.mismatches == 0)
    }

    /// True if a cell stays in the background, because it agrees where others do not.
    pub(super) fn is_quiet(&self, cell: &Cell) -> bool {
        self.has_mismatch && cell.mismatches == 0 && !cell.odd
    }

    /// The rows of elements of a row of cells; likewise columns, with the other extents.
    pub(super) fn span(cell: usize, cells: usize, extent: usize) -> Range<usize> {
        (cell * extent).div_ceil(cells)..((cell + 1) * extent).div_ceil(cells)
    }
}

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
    pub(super) fn corner(&self, grid: &Grid, row: usize, column: usize) -> (f64, f64) {
        let (width, height) = (self.size.0 / grid.columns as f64, self.size.1 / grid.rows as f64);
        (self.at.0 + column as f64 * width, self.at.1 + row as f64 * height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(actual: &[f64], expected: &[f64], options: &DifferenceOptions) -> Figures {
        Figures::of(&Elements { actual, expected, options }, 0..actual.len())
    }

    #[test]
    fn cells_keep_their_worst_element_and_the_mean_of_all() {
        let options = DifferenceOptions { rtol: 0.0, atol: 0.5, ..DifferenceOptions::default() };
        let mut actual = vec![0.0; 1000 * 1000];
        actual[999_999] = -3.0;
        actual[0] = 0.25;
        let expected = vec![0.0; 1_000_000];
        let elements = Elements { actual: &actual, expected: &expected, options: &options };
        let all = Figures::of(&elements, 0..1_000_000);
        let grid = Grid::new(&elements, 0, (1000, 1000), (50, 100), &all);
        assert_eq!((grid.rows, grid.columns), (50, 100));
        assert_eq!((grid.cells[0].worst(), grid.cells[0].worst_at, grid.cells[0].elements), (0.25, 0, 200));
        let last = grid.cells.last().expect("a cell");
        assert_eq!((last.worst(), last.worst_at, last.mismatches), (-3.0, 999_999, 1));
        // One error of 3 among 200 elements: 3 / sqrt(200).
        assert!((last.mean(all.largest) - 3.0 / 200f64.sqrt()).abs() < 1e-12);
        assert_eq!((all.mismatches, all.odd, all.largest, all.largest_at), (1, 0, 3.0, 999_999));
        assert_eq!((all.differing, all.smallest, all.is_signed), (2, 0.25, true));
    }

    #[test]
    fn what_repeats_is_no_pattern_of_the_cells() {
        let options = DifferenceOptions { rtol: 0.0, atol: 0.5, ..DifferenceOptions::default() };
        for (height, width) in [(64, 64), (60, 50), (57, 81), (113, 7), (1000, 3)] {
            // Every second row is wrong.
            let actual: Vec<f64> = (0..height * width).map(|i| (i / width % 2) as f64).collect();
            let expected = vec![0.0; height * width];
            let elements = Elements { actual: &actual, expected: &expected, options: &options };
            let figures = Figures::of(&elements, 0..height * width);
            let grid = Grid::new(&elements, 0, (height, width), (56, 80), &figures);
            assert!(grid.rows <= 56 && grid.columns <= 80);
            assert_eq!((grid.rows, grid.columns), (Grid::cells_along(height, 56), Grid::cells_along(width, 80)));
            let shares: Vec<f64> =
                grid.cells.iter().map(|cell| f64::from(cell.mismatches) / f64::from(cell.elements)).collect();
            // Cells have rows of both kinds, as many of each, but those of the last row, which may be short.
            let alike = &shares[..(grid.rows - 1) * grid.columns];
            assert!(alike.iter().all(|share| *share == 0.5), "{height} x {width}: {alike:?}");
            let full = grid.each.0 * grid.each.1;
            assert!(grid.cells.iter().all(|cell| (1..=full).contains(&(cell.elements as usize))));
        }
    }

    #[test]
    fn spans_are_the_elements_that_cells_are_made_of() {
        for (extent, cells) in [(1000, 56), (80, 80), (81, 80), (7, 3), (1, 1), (113, 56)] {
            for cell in 0..cells {
                let span = Grid::span(cell, cells, extent);
                let made: Vec<usize> = (0..extent).filter(|i| i * cells / extent == cell).collect();
                assert_eq!(span.collect::<Vec<_>>(), made, "{cell} of {cells} over {extent}");
            }
        }
    }

    #[test]
    fn nan_and_infinity_match_as_torch_has_it() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let count = |equal_nan: bool| {
            let options = DifferenceOptions { equal_nan, ..DifferenceOptions::default() };
            let all = figures(&[nan, inf, inf, nan, 1.0], &[nan, inf, -inf, 1.0, inf], &options);
            (all.mismatches, all.odd)
        };
        assert_eq!(count(false), (4, 4));
        assert_eq!(count(true), (3, 3));
    }

    #[test]
    fn what_nobody_wrote_has_no_error() {
        let options = DifferenceOptions {
            left_out: [LeftOut::ByNobody, LeftOut::ByResult, LeftOut::ByNobody].into(),
            ..DifferenceOptions::default()
        };
        let elements = Elements { actual: &[1.0, -3e7, 1.5], expected: &[1.0; 3], options: &options };
        let all = Figures::of(&elements, 0..3);
        assert_eq!((all.largest, all.mismatches, all.unwritten, all.is_signed), (0.5, 2, 1, false));
        let caption = all.caption(&[3], 0, &options);
        assert!(caption.contains("2 of 3 elements beyond") && caption.ends_with("; 1 of them unwritten"), "{caption}");
        let grid = Grid::new(&elements, 0, (1, 3), (1, 1), &all);
        assert!(grid.cells[0].unwritten);
        assert_eq!(elements.told(grid.cells[0].worst_at, &[3]), "[1]: nobody wrote it; 1 is expected");
        let options = DifferenceOptions {
            left_out: [LeftOut::ByOther].into(),
            against: "version 2".to_owned(),
            ..DifferenceOptions::default()
        };
        let elements = Elements { actual: &[5.0], expected: &[-3e7], options: &options };
        assert_eq!(elements.told(0, &[1]), "[0]: 5, which version 2 leaves out");
    }

    #[test]
    fn kinds_count_as_they_say() {
        let error = |kind, actual, expected| {
            let options = DifferenceOptions { kind, rtol: 0.5, atol: 1.0, ..DifferenceOptions::default() };
            Elements { actual: &[actual], expected: &[expected], options: &options }.compare(0)
        };
        let fine = |error| Compared { error, ..Compared::default() };
        assert_eq!(error(DifferenceKind::Signed, 2.0, 4.0), fine(-2.0));
        assert_eq!(error(DifferenceKind::Absolute, 2.0, 4.0), fine(2.0));
        assert_eq!(
            error(DifferenceKind::Relative, 2.0, -4.0),
            Compared { error: 1.5, mismatch: true, ..Compared::default() }
        );
        // The tolerance of 4 is 1 + 0.5 * 4.
        assert_eq!(error(DifferenceKind::Tolerance, 5.5, 4.0), fine(0.5));
        assert_eq!(error(DifferenceKind::Relative, 1.0, 0.0), Compared { odd: true, ..Compared::default() });
    }
}

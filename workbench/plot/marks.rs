//! Marks that are told apart without their hue: shapes of points, and hatched fills.

use super::canvas::{Canvas, Drawn};
use super::theme::Role;

/// Corners of the shapes of points, about a circle's radius of 1; the first shape is the circle itself. With the hues, of which there is
/// another number, they tell 42 contestants apart.
const SHAPES: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.25), (1.2, 0.9), (-1.2, 0.9)],
    &[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)],
    &[(0.0, 1.25), (1.2, -0.9), (-1.2, -0.9)],
    &[
        (-0.45, -1.3),
        (0.45, -1.3),
        (0.45, -0.45),
        (1.3, -0.45),
        (1.3, 0.45),
        (0.45, 0.45),
        (0.45, 1.3),
        (-0.45, 1.3),
        (-0.45, 0.45),
        (-1.3, 0.45),
        (-1.3, -0.45),
        (-0.45, -0.45),
    ],
];

/// The point of a contestant, by its number: a hue and a shape.
pub(super) fn point(canvas: &Canvas, contestant: usize, at: (f64, f64), radius: f64) -> Drawn {
    let style = Canvas::fill(Role::Series(contestant), 0.85);
    let corners = SHAPES[contestant % SHAPES.len()];
    if corners.is_empty() {
        return canvas.circle(style, at, radius);
    }
    let corners: Vec<(f64, f64)> = corners.iter().map(|(x, y)| (at.0 + radius * x, at.1 + radius * y)).collect();
    canvas.polygon(style, &corners)
}

/// The distance of two lines of a hatching along either side.
const PITCH: f64 = 6.0;

/// The direction of the lines of a hatching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hatching {
    /// They rise to the right: what is no finite number.
    Rising,
    /// They fall to the right: what nobody wrote.
    Falling,
}

/// Hatches those cells of a grid for which `holds` is true, by lines that go on from cell to cell. `at` is the grid's corner at the top left, `size` its
/// width and height.
pub(super) fn hatch(
    canvas: &Canvas,
    hatching: Hatching,
    (at, size): ((f64, f64), (f64, f64)),
    (rows, columns): (usize, usize),
    holds: impl Fn(usize, usize) -> bool,
) {
    // Falling lines are rising ones of the grid's mirror image.
    let mirrored = |column: usize| if hatching == Hatching::Rising { column } else { columns - 1 - column };
    let mut lines = Vec::new();
    let (wide, tall) = (size.0 / columns as f64, size.1 / rows as f64);
    let count = ((size.0 + size.1) / PITCH).ceil() as usize;
    for sum in (0..count).map(|i| (i as f64 + 0.5) * PITCH) {
        // The line is x + y = sum, between the sides of the grid; it leaves a cell where x or y does.
        let (from, to) = ((sum - size.1).max(0.0), sum.min(size.0));
        let mut cuts: Vec<f64> = (0..=columns).map(|c| c as f64 * wide).collect();
        cuts.extend((0..=rows).map(|r| sum - r as f64 * tall));
        cuts.retain(|x| from < *x && *x < to);
        cuts.extend([from, to]);
        cuts.sort_by(f64::total_cmp);
        let mut open: Option<[f64; 2]> = None;
        for pair in cuts.windows(2).filter(|pair| pair[1] - pair[0] > 1e-9) {
            let middle = (pair[0] + pair[1]) / 2.0;
            let (row, column) = (((sum - middle) / tall) as usize, (middle / wide) as usize);
            let inside = holds(row.min(rows - 1), mirrored(column.min(columns - 1)));
            open = match (open, inside) {
                (Some([start, _]), true) => Some([start, pair[1]]),
                (None, true) => Some([pair[0], pair[1]]),
                (Some(done), false) => {
                    lines.push((sum, done));
                    None
                }
                (None, false) => None,
            };
        }
        lines.extend(open.map(|done| (sum, done)));
    }
    let place = |x: f64| if hatching == Hatching::Rising { at.0 + x } else { at.0 + size.0 - x };
    let ends = |(sum, xs): (f64, [f64; 2])| xs.map(|x| (place(x), at.1 + sum - x));
    canvas.strokes(Role::Ink, 1.0, &lines.into_iter().map(ends).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::super::canvas::picture;
    use super::*;

    /// The lines of a hatching, as their two ends.
    fn lines(cells: (usize, usize), holds: impl Fn(usize, usize) -> bool) -> Vec<[(f64, f64); 2]> {
        hatched(Hatching::Rising, cells, holds)
    }

    fn hatched(
        hatching: Hatching,
        cells: (usize, usize),
        holds: impl Fn(usize, usize) -> bool,
    ) -> Vec<[(f64, f64); 2]> {
        let svg = picture(100, 100, "", |canvas| {
            hatch(canvas, hatching, ((10.0, 20.0), (60.0, 40.0)), cells, holds);
            Ok(())
        });
        let path = svg.as_str().split(" d=\"").nth(1).and_then(|s| s.split('"').next()).unwrap_or("").to_owned();
        let pair = |text: &str| {
            let (x, y) = text.split_once(',').expect("two numbers");
            (x.parse().expect("x"), y.parse().expect("y"))
        };
        let line = |text: &str| {
            let (from, to) = text.split_once('L').expect("two ends");
            [pair(from), pair(to)]
        };
        path.split('M').filter(|part| !part.is_empty()).map(line).collect()
    }

    #[test]
    fn a_hatching_fills_its_cells_and_no_others() {
        assert!(lines((2, 3), |_, _| false).is_empty());
        // The cell of the second row and the third column: 20 by 20, at (50, 40).
        let one = lines((2, 3), |row, column| (row, column) == (1, 2));
        assert!((5..=7).contains(&one.len()), "{one:?}");
        for (x, y) in one.iter().flatten() {
            assert!((50.0..=70.0).contains(x) && (40.0..=60.0).contains(y), "{x}, {y}");
        }
        // Lines go on from cell to cell: all cells have as many as one cell of their size.
        assert_eq!(lines((2, 3), |_, _| true).len(), lines((1, 1), |_, _| true).len());
    }

    #[test]
    fn falling_lines_fill_the_same_cells() {
        let only = |row: usize, column: usize| (row, column) == (1, 2);
        let (rising, falling) = (lines((2, 3), only), hatched(Hatching::Falling, (2, 3), only));
        let falls = |[from, to]: &[(f64, f64); 2]| (to.0 - from.0) * (to.1 - from.1) > 0.0;
        assert!(!falling.is_empty() && falling.iter().all(falls) && !rising.iter().any(falls), "{falling:?}");
        for (x, y) in falling.iter().flatten() {
            assert!((50.0..=70.0).contains(x) && (40.0..=60.0).contains(y), "{x}, {y}");
        }
    }

    #[test]
    fn contestants_of_one_hue_have_different_shapes() {
        let drawn = |contestant| {
            let svg = picture(20, 20, "", |canvas| point(canvas, contestant, (10.0, 10.0), 4.0));
            svg.as_str().split("</style>").nth(1).expect("a body").split(" d=").last().map(str::to_owned)
        };
        let all: Vec<_> = (0..SHAPES.len()).map(drawn).collect();
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one), "{i}");
        }
        assert_ne!(drawn(0), drawn(7));
    }
}

//! Pictures of the difference of two arrays: a profile for one dimension, a map for two, a mosaic of slices for more.
//!
//! `grid` sorts the elements into cells and counts, `scale` gives an error its depth of colour, `map`, `mosaic` and `profile` draw,
//! `sides` names rows and columns.

mod grid;
mod map;
mod mosaic;
mod options;
mod profile;
mod scale;
mod sides;

pub use options::{DepthScale, DifferenceKind, DifferenceOptions, LeftOut, Side};

use super::Svg;
use super::canvas::notice;
use crate::check::compare::unravel;
use grid::{Elements, Figures, Grid};
use options::slice_name;
use scale::Depth;

/// A slice of an array, as a map of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// Its name, such as `[3, :, :]`.
    pub name: String,
    /// The number of its elements beyond the tolerance.
    pub mismatches: usize,
    /// The number of its elements.
    pub elements: usize,
    /// Its map.
    pub map: Svg,
}

/// The maps of the slices of an array of three and more dimensions along its last two: all of at most twelve, else of those that
/// differ the twelve with most mismatches. None where
/// [`difference_map`] has a message or nothing differs. Each map has a scale of its own.
pub fn difference_slices(actual: &[f64], expected: &[f64], shape: &[usize], options: &DifferenceOptions) -> Vec<Slice> {
    let total = shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    let fits = total == Some(actual.len()) && actual.len() == expected.len() && !actual.is_empty();
    if shape.len() < 3 || !fits || actual.len() == shape[shape.len() - 2] * shape[shape.len() - 1] {
        return Vec::new();
    }
    let elements = Elements { actual, expected, options };
    let slices = mosaic::chosen(&elements, shape);
    if slices.iter().all(|(_, figures)| figures.are_equal()) {
        return Vec::new();
    }
    let lead = &shape[..shape.len() - 2];
    let map = |(i, figures): (usize, Figures)| {
        let index = unravel(i, lead);
        let name = slice_name(&index);
        let options = DifferenceOptions { slice: index, ..options.clone() };
        let map = slice(&options.heading(), &Elements { options: &options, ..elements }, shape, map::MOST_OF_SLICES);
        Slice { name, mismatches: figures.mismatches, elements: figures.count, map }
    };
    slices.into_iter().map(map).collect()
}

/// Draws the differences of `actual` from `expected`, both of `shape`, row-major.
///
/// One dimension makes a profile, two a map, more a mosaic of slices along the last two. Large arrays are cut into cells: the hue of a cell
/// shows whether its worst element is too large or too small, its depth the root mean square of its errors, so that one wrong element in a
/// cell looks other than all of them. A line surrounds the elements beyond the tolerance; what is not finite and what nobody wrote is hatched.
pub fn difference_map(actual: &[f64], expected: &[f64], shape: &[usize], options: &DifferenceOptions) -> Svg {
    let title = options.heading();
    let total = shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    if total != Some(actual.len()) || actual.len() != expected.len() {
        let (a, e) = (actual.len(), expected.len());
        return notice(&title, &format!("{a} elements against {e} do not fill the shape {shape:?}"));
    }
    if actual.is_empty() {
        return notice(&title, "the arrays are empty");
    }
    let elements = Elements { actual, expected, options };
    if options.kind == DifferenceKind::Tolerance && options.rtol == 0.0 && options.atol == 0.0 {
        return notice(&title, "there is no tolerance that an error could be measured in: rtol and atol are 0");
    }
    if !options.slice.is_empty() {
        return slice(&title, &elements, shape, map::MOST);
    }
    let figures = Figures::of(&elements, 0..actual.len());
    if figures.are_equal() {
        let all = if actual.len() == 1 {
            "the one element is".to_owned()
        } else {
            format!("all {} elements are", actual.len())
        };
        return notice(&title, &format!("{all} equal"));
    }
    match *shape {
        [] | [_] => profile::draw(&title, &elements, &figures),
        [height, width] => {
            let grid = Grid::new(&elements, 0, (height, width), map::MOST, &figures);
            let depth = Depth::new(&figures, options.scale);
            map::draw(&title, &figures.caption(shape, 0, options), (&grid, &depth), &elements, shape)
        }
        _ => mosaic::draw(&title, &elements, &figures, shape),
    }
}

/// The map of the slice that the options name.
fn slice(title: &str, elements: &Elements<'_>, shape: &[usize], most: (usize, usize)) -> Svg {
    let index = &elements.options.slice;
    let lead = &shape[..shape.len().saturating_sub(2)];
    if index.len() != lead.len() || index.iter().zip(lead).any(|(i, dim)| i >= dim) {
        let message = match lead.len() {
            0 => format!("an array of shape {shape:?} has no slices: it is shown whole"),
            _ => format!("there is no slice {} of an array of shape {shape:?}", slice_name(index)),
        };
        return notice(title, &message);
    }
    let (height, width) = (shape[lead.len()], shape[lead.len() + 1]);
    let number = index.iter().zip(lead).fold(0, |at, (i, dim)| at * dim + i);
    let first = number * height * width;
    let figures = Figures::of(elements, first..first + height * width);
    let grid = Grid::new(elements, first, (height, width), most, &figures);
    let caption = figures.caption(shape, first, elements.options);
    let depth = Depth::new(&figures, elements.options.scale);
    map::draw(&format!("{title}, {}", slice_name(index)), &caption, (&grid, &depth), elements, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_takes_one_line() {
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for shape in [&[6][..], &[2, 3], &[1, 2, 3]] {
            let svg = difference_map(&six, &six, shape, &DifferenceOptions::default());
            assert!(
                svg.as_str().contains("all 6 elements are equal") && svg.as_str().contains("height=\"76\""),
                "{svg}"
            );
        }
    }

    #[test]
    fn a_slice_is_named_and_counted_alone() {
        let expected = vec![0.0; 2 * 3 * 4 * 5];
        let mut actual = expected.clone();
        // Two in [1, 2, :, :], one of them at [1, 2, 3, 4], the last; one elsewhere.
        actual[119] = 2.0;
        actual[100] = 1.0;
        actual[0] = 9.0;
        let options = DifferenceOptions { slice: vec![1, 2], ..DifferenceOptions::default() };
        let svg = difference_map(&actual, &expected, &[2, 3, 4, 5], &options);
        assert!(svg.as_str().contains("[1, 2, :, :]"), "{svg}");
        assert!(
            svg.as_str().contains("2 of 20 elements beyond")
                && svg.as_str().contains("largest error 2 at [1, 2, 3, 4]"),
            "{svg}"
        );
        for (wrong, shape) in
            [(vec![2, 0], &[2, 3, 4, 5][..]), (vec![1], &[2, 3, 4, 5]), (vec![0], &[6, 20]), (vec![0], &[120])]
        {
            let options = DifferenceOptions { slice: wrong, ..DifferenceOptions::default() };
            let svg = difference_map(&actual, &expected, shape, &options);
            assert!(svg.as_str().contains("slice"), "{svg}");
        }
    }

    #[test]
    fn errors_in_tolerances_need_a_tolerance() {
        let options =
            DifferenceOptions { kind: DifferenceKind::Tolerance, rtol: 0.0, atol: 0.0, ..DifferenceOptions::default() };
        let svg = difference_map(&[1.0], &[2.0], &[1], &options);
        assert!(svg.as_str().contains("there is no tolerance"), "{svg}");
    }

    /// 20 slices of 2 x 3; slice 7 has two mismatches, slice 19 one large one.
    fn arrays() -> (Vec<f64>, Vec<f64>) {
        let expected = vec![1.0; 20 * 6];
        let mut actual = expected.clone();
        actual[7 * 6] = 1.5;
        actual[7 * 6 + 5] = 0.5;
        actual[19 * 6 + 1] = 100.0;
        (actual, expected)
    }

    #[test]
    fn the_slices_with_most_mismatches_are_shown() {
        let (actual, expected) = arrays();
        let slices = difference_slices(&actual, &expected, &[4, 5, 2, 3], &DifferenceOptions::default());
        assert_eq!(slices.len(), 2, "the others agree");
        let wrong: Vec<(&str, usize)> =
            slices.iter().filter(|s| s.mismatches > 0).map(|s| (s.name.as_str(), s.mismatches)).collect();
        assert_eq!(wrong, [("[1, 2, :, :]", 2), ("[3, 4, :, :]", 1)]);
        assert!(slices.iter().all(|s| s.elements == 6));
    }

    #[test]
    fn arrays_without_slices_have_none() {
        let options = DifferenceOptions::default();
        assert_eq!(difference_slices(&[1.0; 6], &[2.0; 6], &[2, 3], &options), []);
        assert_eq!(difference_slices(&[1.0; 6], &[2.0; 6], &[1, 2, 3], &options), [], "one slice is no slider");
        assert_eq!(difference_slices(&[1.0; 6], &[1.0; 6], &[3, 2, 1], &options), [], "nothing differs");
        assert_eq!(difference_slices(&[], &[], &[0, 2, 3], &options), []);
        assert_eq!(difference_slices(&[1.0], &[1.0; 2], &[1, 1, 2], &options), []);
    }

    #[test]
    fn a_mosaic_names_its_slices() {
        let (actual, expected) = arrays();
        let svg = difference_map(&actual, &expected, &[4, 5, 2, 3], &DifferenceOptions::default());
        assert!(svg.as_str().contains("[1, 2, :, :]") && svg.as_str().contains("; 2 of 20 slices"), "{svg}");
        let few = difference_map(&actual, &expected, &[2, 10, 6], &DifferenceOptions::default());
        assert!(few.as_str().contains("[1, :, :]") && !few.as_str().contains("of 2 slices"), "{few}");
    }

    /// A map of 10 by 10 elements, of which the first `wrong` are beyond the tolerance by a wide margin and the others by none.
    fn with_wrong(wrong: usize) -> String {
        let options = DifferenceOptions { rtol: 0.0, atol: 0.1, ..DifferenceOptions::default() };
        let actual: Vec<f64> = (0..100).map(|i| if i < wrong { 1.0 } else { 0.05 }).collect();
        difference_map(&actual, &[0.0; 100], &[10, 10], &options).into_string()
    }

    #[test]
    fn the_line_surrounds_what_is_beyond_the_tolerance() {
        assert!(with_wrong(3).contains("beyond the tolerance; faint: within"));
        assert!(with_wrong(97).contains("beyond the tolerance; faint: within"));
        assert!(with_wrong(100).contains("beyond the tolerance; no cell is within"));
        assert!(!with_wrong(0).contains("faint"));
        // The first three cells of 30 pixels have a line round them: above, below, at the left and at the right.
        let few = with_wrong(3);
        let sides = ["M64,64L154,64", "M64,94L154,94", "M64,64L64,94", "M154,64L154,94"];
        assert!(sides.iter().all(|side| few.contains(side)), "{few}");
    }

    #[test]
    fn what_nobody_wrote_is_hatched_and_has_no_colour() {
        for (shape, count) in [(&[4][..], 4), (&[2, 2], 4), (&[2, 2, 2], 8)] {
            let mut actual = vec![1.0; count];
            (actual[0], actual[1]) = (-2.67e7, 1.5);
            let left_out = (0..count).map(|i| if i == 0 { LeftOut::ByResult } else { LeftOut::ByNobody }).collect();
            let options = DifferenceOptions { left_out, ..DifferenceOptions::default() };
            let svg = difference_map(&actual, &vec![1.0; count], shape, &options).into_string();
            assert!(svg.contains("largest error 0.5") && svg.contains("1 of them unwritten"), "{svg}");
            assert!(svg.contains(">unwritten<") || svg.contains("full height: unwritten"), "{svg}");
            // Nothing is too small.
            assert!(!svg.contains("class=\"f50\" "), "{svg}");
        }
    }

    #[test]
    fn what_agrees_is_quiet_where_something_does_not() {
        // Cells of an error of 0.05 have the full depth alone, and nearly none beside larger ones.
        assert!(with_wrong(0).contains("<path class=\"f40\" shape-rendering"));
        let beside = with_wrong(3);
        // Seven cells of 30 pixels in the first row.
        let before = beside.split("h210v30").next().expect("a row");
        let opacity = before.rsplit("opacity=\"").next().and_then(|s| s.split('"').next()).expect("an opacity");
        assert!(opacity.parse::<f64>().expect("a number") < 0.1, "{opacity}");
    }

    #[test]
    fn what_is_not_finite_is_hatched() {
        for (shape, count) in [(&[4][..], 4), (&[2, 2], 4), (&[2, 2, 2], 8)] {
            let mut actual = vec![0.0; count];
            let hatches = |actual: &[f64]| {
                let svg = difference_map(actual, &vec![0.0; count], shape, &DifferenceOptions::default());
                svg.as_str().matches("class=\"s00\" stroke-width=\"1\"").count()
            };
            actual[1] = 5.0;
            assert_eq!(hatches(&actual), 0, "{shape:?}");
            actual[2] = f64::NAN;
            assert!(hatches(&actual) > 0, "{shape:?}");
        }
    }

    #[test]
    fn sides_have_the_names_that_fit() {
        let names = |name: &str, count: usize| (0..count).map(|i| format!("{name}[{i}]")).collect();
        let drawn = |rows: usize, columns: usize| {
            let side = |name: &str, count| Side { title: format!("elements of {name}"), names: names(name, count) };
            let sides = Some([side("y", rows), side("x", columns)]);
            let options = DifferenceOptions { sides, ..DifferenceOptions::default() };
            let actual: Vec<f64> = (0..rows * columns).map(|i| i as f64).collect();
            difference_map(&actual, &vec![0.0; rows * columns], &[rows, columns], &options).into_string()
        };
        let few = drawn(3, 4);
        assert!((0..4).all(|i| few.contains(&format!(">x[{i}]<"))) && few.contains(">y[1]<"), "{few}");
        let many = drawn(100, 100);
        assert!(many.contains(">x[99]<") && many.contains(">y[99]<") && !many.contains(">x[50]<"), "{many}");
        assert!(many.contains("y[98] by x[98]") || many.contains("y[99] by x[99]"), "{many}");
        // One column of letters is too narrow for two names.
        assert!(drawn(30, 1).contains(">x[0]<"));
        assert!(drawn(1, 30).contains(">y[0]<"));
    }
}

//! The map of writers: which block and which thread wrote each element of an array.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, caption_width, notice, picture, shorten};
use super::marks::{Hatching, hatch};
use super::theme::Role;
use crate::check::compare::unravel;
use crate::check::report::index;
use crate::ops::binding::Source;
use crate::ops::{Op, OwnedArg, fill_defaults};
use crate::runtime::{Result, Tensor};

impl Op {
    /// The writers of each array that a call writes. Empty for an implementation that is no kernel for the CPU.
    ///
    /// # Errors
    /// As [`Op::call`].
    pub fn writers_of(&self, args: Vec<OwnedArg>) -> Result<Vec<Writers>> {
        let definition = self.definition();
        let mut args = args;
        fill_defaults(&definition.schema, &mut args)?;
        let outputs = self.call(args.clone())?;
        let names = definition.output_names();
        let mut found = Vec::new();
        for written in self.writers(args.clone())? {
            let (name, tensor) = match written.source {
                Source::Output(k) => (names.get(k).cloned().flatten(), outputs.tensors.get(k)),
                Source::Input(i, true) => (Some(definition.schema.args[i].name.clone()), args[i].tensor()),
                _ => continue,
            };
            let Some(tensor) = tensor else { continue };
            let name = name.unwrap_or_else(|| "the result".to_owned());
            let writers = (0..tensor.numel()).map(|i| written.writer(i)).collect();
            found.push(Writers { name, shape: tensor.shape().to_vec(), writers, block: written.block() });
        }
        // Nothing is launched for arrays without elements.
        if found.is_empty() && !outputs.tensors.is_empty() && outputs.tensors.iter().all(|t| t.numel() == 0) {
            let empty = |(k, tensor): (usize, &Tensor)| Writers {
                name: names.get(k).cloned().flatten().unwrap_or_else(|| "the result".to_owned()),
                shape: tensor.shape().to_vec(),
                writers: Vec::new(),
                block: [1; 3],
            };
            found.extend(outputs.tensors.iter().enumerate().map(empty));
        }
        Ok(found)
    }
}

/// Most elements shown down and across: each has a tip of its own.
const DOWN: usize = 24;
const ACROSS: usize = 64;
/// Rows that are shown above an element that nobody wrote.
const ABOVE: usize = 2;
const LEFT: f64 = 68.0;
const TOP: f64 = 64.0;
/// Hues of blocks. Neighbours in any direction differ.
const HUES: u32 = 6;

/// The writers of the elements of one array.
#[derive(Debug, Clone, PartialEq)]
pub struct Writers {
    /// The array's name.
    pub name: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// For each element in row-major order block and thread (x, y, z); `None` where nobody wrote.
    pub writers: Vec<Option<([u32; 3], [u32; 3])>>,
    /// Extents of a block (x, y, z).
    pub block: [u32; 3],
}

impl Writers {
    /// The numbers of the elements that nobody wrote.
    pub fn unwritten(&self) -> impl Iterator<Item = usize> {
        self.writers.iter().enumerate().filter(|(_, writer)| writer.is_none()).map(|(i, _)| i)
    }
}

/// A window on an array: rows and columns of one slice along its last two dimensions, or of an array of one dimension in rows of 64.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Window {
    /// The index of the slice.
    lead: Vec<usize>,
    /// Its rows and columns.
    plane: (usize, usize),
    /// The first row and column that are shown.
    from: (usize, usize),
    /// The rows and columns that are shown.
    shown: (usize, usize),
    /// True for an array of one dimension.
    is_line: bool,
}

impl Window {
    /// The window with an element, its slice's rows and columns from there on as far as they fill it; without one, the first of an array, or the first
    /// that has an element that nobody wrote.
    fn new(writers: &Writers, at: Option<usize>) -> Window {
        let shape = writers.shape.as_slice();
        let (plane, is_line) = match *shape {
            [] => ((1, 1), false),
            [n] => ((n.div_ceil(ACROSS), n.min(ACROSS)), true),
            [.., height, width] => ((height, width), false),
        };
        let size = plane.0 * plane.1;
        let shown = (plane.0.min(DOWN), plane.1.min(ACROSS));
        let clamped = |(row, column): (usize, usize)| (row.min(plane.0 - shown.0), column.min(plane.1 - shown.1));
        let window = |element: usize, above: usize| {
            let (slice, place) = (element / size, element % size);
            let lead = unravel(slice, &shape[..shape.len().saturating_sub(2)]);
            let from = clamped((
                (place / plane.1).saturating_sub(above),
                if place % plane.1 < shown.1 { 0 } else { place % plane.1 },
            ));
            Window { lead, plane, from, shown, is_line }
        };
        match at {
            Some(element) => {
                let place = element % size;
                Window { from: clamped((place / plane.1, place % plane.1)), ..window(element, 0) }
            }
            None => {
                let first = window(0, 0);
                match writers.unwritten().next() {
                    Some(element) if !first.holds(element, size) => window(element, ABOVE),
                    _ => first,
                }
            }
        }
    }

    /// True for an element of the first slice that is shown.
    fn holds(&self, element: usize, size: usize) -> bool {
        element < size && element / self.plane.1 < self.shown.0 && element % self.plane.1 < self.shown.1
    }

    /// The number of the element of a row and a column that are shown.
    fn flat(&self, writers: &Writers, row: usize, column: usize) -> usize {
        let lead_shape = &writers.shape[..writers.shape.len().saturating_sub(2)];
        let slice = self.lead.iter().zip(lead_shape).fold(0, |at, (i, extent)| at * extent + i);
        (slice * self.plane.0 + self.from.0 + row) * self.plane.1 + self.from.1 + column
    }

    /// The window as Python slices an array; `None` where it is all of it.
    fn sliced(&self, writers: &Writers) -> Option<String> {
        let shape = &writers.shape;
        if self.is_line {
            let (first, last) = (self.from.0 * ACROSS, ((self.from.0 + self.shown.0) * ACROSS).min(shape[0]));
            return (last - first < shape[0]).then(|| format!("[{first}:{last}] of {}", index(shape)));
        }
        let along = |from: usize, count: usize, all: usize| {
            if count == all { ":".to_owned() } else { format!("{from}:{}", from + count) }
        };
        let mut parts: Vec<String> = self.lead.iter().map(usize::to_string).collect();
        parts.push(along(self.from.0, self.shown.0, self.plane.0));
        parts.push(along(self.from.1, self.shown.1, self.plane.1));
        (self.shown != self.plane || !self.lead.is_empty())
            .then(|| format!("[{}] of {}", parts.join(", "), index(shape)))
    }
}

/// Draws the writers of 24 x 64 elements of an array: the hue is the block's, the depth the thread's place in it; what nobody wrote is hatched. One
/// dimension is shown in rows of 64, more than two as a slice along the last two. `at` is the number of the first element shown; without one these
/// are the first, or, if nobody wrote some and all of these are further on, those around the first of them.
pub fn writer_map(writers: &Writers, at: Option<usize>) -> Svg {
    let title = format!("Writers of {}", shorten(&writers.name, 50));
    let total: usize = writers.shape.iter().product();
    if total != writers.writers.len() {
        return notice(&title, &format!("{} writers do not fill the shape {:?}", writers.writers.len(), writers.shape));
    }
    if total == 0 {
        return notice(&title, "the array is empty");
    }
    let window = Window::new(writers, at.map(|at| at.min(total - 1)));
    let (rows, columns) = window.shown;
    let side = (640.0 / columns as f64).min(300.0 / rows as f64).floor().clamp(6.0, 30.0);
    let (wide, tall) = (side * columns as f64, side * rows as f64);
    let caption = caption(writers, &window);
    let size = ((LEFT + wide + 20.0).max(caption_width(&caption)).max(560.0) as u32, (TOP + tall + 40.0) as u32);
    picture(size.0, size.1, &title, |canvas| {
        canvas.heading(&title, &caption)?;
        let corner = |row: usize, column: usize| (LEFT + side * column as f64, TOP + side * row as f64);
        let writer = |row: usize, column: usize| writers.writers.get(window.flat(writers, row, column));
        for row in 0..rows {
            for column in 0..columns {
                cell(canvas, writers, window.flat(writers, row, column), corner(row, column), side)?;
            }
        }
        hatch(canvas, Hatching::Falling, ((LEFT, TOP), (wide, tall)), (rows, columns), |row, column| {
            writer(row, column) == Some(&None)
        });
        let block = |row: usize, column: usize| writer(row, column).copied().flatten().map(|(block, _)| block);
        for row in 0..rows {
            for column in 0..columns {
                let (at, own) = (corner(row, column), block(row, column));
                let beside = |row: usize, column: usize| (row < rows && column < columns).then(|| block(row, column));
                let differs = |other: Option<Option<[u32; 3]>>| {
                    other.flatten().is_some_and(|other| own.is_some_and(|own| own != other))
                };
                // A line where the block changes: neighbouring hues are not told apart by everybody.
                if differs(beside(row, column + 1)) {
                    edge(canvas, (at.0 + side - 0.5, at.1 - 0.5), (0.0, side))?;
                }
                if differs(beside(row + 1, column)) {
                    edge(canvas, (at.0 - 0.5, at.1 + side - 0.5), (side, 0.0))?;
                }
            }
        }
        ends(canvas, &window, (wide, tall))
    })
}

fn edge(canvas: &Canvas, at: (f64, f64), by: (f64, f64)) -> Drawn {
    canvas.line(Role::Ink, 1.5, &[at, (at.0 + by.0, at.1 + by.1)])
}

fn caption(writers: &Writers, window: &Window) -> String {
    let mut text = "hue, and lines between: block; depth: thread in its block".to_owned();
    match writers.unwritten().count() {
        0 => {}
        n => text = format!("{n} of {} elements unwritten (hatched); {text}", writers.writers.len()),
    }
    if let Some(sliced) = window.sliced(writers) {
        text.push_str(&format!("; {sliced}"));
    }
    text
}

fn cell(canvas: &Canvas, writers: &Writers, flat: usize, at: (f64, f64), side: f64) -> Drawn {
    let Some(writer) = writers.writers.get(flat) else { return Ok(()) };
    let index = index(&unravel(flat, &writers.shape));
    let size = (side - 1.0, side - 1.0);
    let Some((block, thread)) = writer else {
        canvas.tip(format!("{index}: nobody wrote it"));
        return canvas.rect(Canvas::fill(Role::Muted, 0.3), at, size);
    };
    let [x, y, _] = writers.block.map(|n| n.max(1));
    let threads = writers.block.iter().map(|n| n.max(&1)).product::<u32>();
    let place = thread[0] + x * (thread[1] + y * thread[2]);
    let depth = 0.35 + 0.65 * f64::from(place) / f64::from(threads.saturating_sub(1).max(1));
    canvas.tip(format!("{index}: block {}, thread {}", triple(*block), triple(*thread)));
    canvas.rect(Canvas::fill(Role::Series(hue(*block)), depth.min(1.0)), at, size)
}

/// The hue of a block; blocks beside, below and behind it have others.
fn hue([x, y, z]: [u32; 3]) -> usize {
    (u64::from(x) + 2 * u64::from(y) + 3 * u64::from(z)).rem_euclid(u64::from(HUES)) as usize
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// The numbers of the first and the last row and column.
fn ends(canvas: &Canvas, window: &Window, size: (f64, f64)) -> Drawn {
    let small =
        |h, v, at, number: usize| canvas.text(Role::Muted, 12.0, Weight::Normal, (h, v), at, &number.to_string());
    let ((top, left), (rows, columns)) = (window.from, window.shown);
    small(HPos::Left, VPos::Top, (LEFT, TOP + size.1 + 6.0), left)?;
    if columns > 1 {
        small(HPos::Right, VPos::Top, (LEFT + size.0, TOP + size.1 + 6.0), left + columns - 1)?;
    }
    // Rows of one dimension begin at multiples of their length.
    let number = |row: usize| if window.is_line { row * ACROSS } else { row };
    small(HPos::Right, VPos::Top, (LEFT - 8.0, TOP), number(top))?;
    if rows > 1 {
        small(HPos::Right, VPos::Bottom, (LEFT - 8.0, TOP + size.1), number(top + rows - 1))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_blocks_differ() {
        for block in [[0, 0, 0], [7, 3, 1], [u32::MAX - 1, 5, 5]] {
            for axis in 0..3 {
                let mut beside = block;
                beside[axis] += 1;
                assert_ne!(hue(block), hue(beside), "{block:?} {beside:?}");
            }
        }
    }

    #[test]
    fn every_element_tells_its_writer() {
        let writer = |i: u32| Some(([i / 4, 0, 0], [i % 4, 0, 0]));
        let mut all: Vec<_> = (0..70).map(writer).collect();
        all[69] = None;
        let map = writer_map(&Writers { name: "out".into(), shape: vec![70], writers: all, block: [4, 1, 1] }, None);
        let text = map.as_str();
        assert!(
            text.contains("[65]: block (16, 0, 0), thread (1, 0, 0)") && text.contains("[69]: nobody wrote it"),
            "{text}"
        );
        assert!(text.contains("1 of 70 elements unwritten (hatched)") && !text.contains(" of [70]"), "{text}");
    }

    fn all_written(shape: &[usize]) -> Writers {
        let writers = vec![Some(([0; 3], [0; 3])); shape.iter().product()];
        Writers { name: "out".into(), shape: shape.to_vec(), writers, block: [1, 1, 1] }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let map = writer_map(&all_written(&[2, 30, 80]), None);
        assert!(map.as_str().contains("; [0, 0:24, 0:64] of [2, 30, 80]"), "{map}");
        let wrong = writer_map(&Writers { writers: vec![], ..all_written(&[3]) }, None);
        assert!(wrong.as_str().contains("do not fill"), "{wrong}");
    }

    #[test]
    fn the_window_goes_where_nobody_wrote() {
        let caption_of = |shape: &[usize], hole: usize, at: Option<usize>| {
            let mut writers = all_written(shape);
            writers.writers[hole] = None;
            let map = writer_map(&writers, at).into_string();
            let hatched = map.contains("nobody wrote it");
            (map.split("in its block; ").nth(1).and_then(|s| s.split('<').next()).unwrap_or("").to_owned(), hatched)
        };
        let hole = |shape: &[usize], hole: usize| caption_of(shape, hole, None);
        // Within the first window it stays there.
        assert_eq!(hole(&[2, 30, 80], 23 * 80 + 63), ("[0, 0:24, 0:64] of [2, 30, 80]".to_owned(), true));
        // Row 200 of slice 1, column 5: two rows above it.
        let far = 300 * 80 + 200 * 80 + 5;
        assert_eq!(hole(&[2, 300, 80], far), ("[1, 198:222, 0:64] of [2, 300, 80]".to_owned(), true));
        assert_eq!(hole(&[300, 80], 299 * 80 + 79), ("[276:300, 16:80] of [300, 80]".to_owned(), true));
        assert_eq!(hole(&[100_000], 64 * 1000 + 3), ("[63872:65408] of [100000]".to_owned(), true));
        assert_eq!(hole(&[2000], 1999), ("[512:2000] of [2000]".to_owned(), true));
        assert_eq!(hole(&[30], 29), (String::new(), true));
        // Who asks for another place gets it.
        assert_eq!(
            caption_of(&[300, 80], 101 * 80 + 5, Some(100 * 80 + 3)),
            ("[100:124, 3:67] of [300, 80]".to_owned(), true)
        );
        assert_eq!(caption_of(&[300, 80], 0, Some(usize::MAX)), ("[276:300, 16:80] of [300, 80]".to_owned(), false));
    }
}

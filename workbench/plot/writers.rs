//! The map of writers: which block and which thread wrote each element of an array.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, caption_width, notice, picture, shorten};
use super::theme::Role;
use crate::check::compare::unravel;
use crate::check::report::index;
use crate::ops::binding::Source;
use crate::ops::{Op, OwnedArg, fill_defaults};
use crate::runtime::Result;

impl Op {
    /// The maps of the writers of each array that a call writes, by name. Empty for an implementation that is no kernel for the CPU.
    ///
    /// # Errors
    /// As [`Op::call`].
    pub fn writer_maps(&self, args: Vec<OwnedArg>) -> Result<Vec<(String, Svg)>> {
        let definition = self.definition();
        let mut args = args;
        fill_defaults(&definition.schema, &mut args)?;
        let outputs = self.call(args.clone())?;
        let names = definition.output_names();
        let mut maps = Vec::new();
        for written in self.writers(args.clone())? {
            let (name, tensor) = match written.source {
                Source::Output(k) => (names.get(k).cloned().flatten(), outputs.tensors.get(k)),
                Source::Input(i, true) => (Some(definition.schema.args[i].name.clone()), args[i].tensor()),
                _ => continue,
            };
            let Some(tensor) = tensor else { continue };
            let name = name.unwrap_or_else(|| "the result".to_owned());
            let writers = (0..tensor.numel()).map(|i| written.writer(i)).collect();
            let writers =
                Writers { name: name.clone(), shape: tensor.shape().to_vec(), writers, block: written.block() };
            maps.push((name, writer_map(&writers)));
        }
        Ok(maps)
    }
}

/// Most elements shown down and across: each has a tip of its own.
const DOWN: usize = 24;
const ACROSS: usize = 64;
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

/// Draws the first 24 x 64 elements of an array: the hue is the block's, the depth the thread's place in it. One dimension is shown in rows of
/// 64, more than two as the first slice along the last two.
pub fn writer_map(writers: &Writers) -> Svg {
    let title = format!("Writers of {}", shorten(&writers.name, 50));
    let total: usize = writers.shape.iter().product();
    if total != writers.writers.len() {
        return notice(&title, &format!("{} writers do not fill the shape {:?}", writers.writers.len(), writers.shape));
    }
    if total == 0 {
        return notice(&title, "the array is empty");
    }
    let plane = match *writers.shape.as_slice() {
        [] => (1, 1),
        [n] => (n.div_ceil(ACROSS), n.min(ACROSS)),
        [.., height, width] => (height, width),
    };
    let (rows, columns) = (plane.0.min(DOWN), plane.1.min(ACROSS));
    let side = (640.0 / columns as f64).min(300.0 / rows as f64).floor().clamp(6.0, 30.0);
    let (wide, tall) = (side * columns as f64, side * rows as f64);
    let caption = caption(writers, (rows, columns), plane);
    let size = ((68.0 + wide + 20.0).max(caption_width(&caption)).max(560.0) as u32, (64.0 + tall + 40.0) as u32);
    picture(size.0, size.1, &title, |canvas| {
        canvas.heading(&title, &caption)?;
        for row in 0..rows {
            for column in 0..columns {
                cell(
                    canvas,
                    writers,
                    row * plane.1 + column,
                    (68.0 + side * column as f64, 64.0 + side * row as f64),
                    side,
                )?;
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let at = (68.0 + side * column as f64, 64.0 + side * row as f64);
                let beside = |to: usize, is_there: bool| is_there.then(|| block_of(writers, to)).flatten();
                let flat = row * plane.1 + column;
                let own = block_of(writers, flat);
                // A line where the block changes: neighbouring hues are not told apart by everybody.
                let right = beside(flat + 1, column + 1 < columns);
                if right.is_some() && own.is_some() && right != own {
                    edge(canvas, (at.0 + side - 0.5, at.1 - 0.5), (0.0, side))?;
                }
                let below = beside(flat + plane.1, row + 1 < rows);
                if below.is_some() && own.is_some() && below != own {
                    edge(canvas, (at.0 - 0.5, at.1 + side - 0.5), (side, 0.0))?;
                }
            }
        }
        ends(canvas, writers, (rows, columns), plane, (wide, tall))
    })
}

/// The block that wrote an element.
fn block_of(writers: &Writers, flat: usize) -> Option<[u32; 3]> {
    writers.writers.get(flat).copied().flatten().map(|(block, _)| block)
}

fn edge(canvas: &Canvas, at: (f64, f64), by: (f64, f64)) -> Drawn {
    canvas.line(Role::Ink, 1.5, &[at, (at.0 + by.0, at.1 + by.1)])
}

fn caption(writers: &Writers, (rows, columns): (usize, usize), plane: (usize, usize)) -> String {
    let unwritten = writers.writers.iter().filter(|w| w.is_none()).count();
    let mut text = match unwritten {
        0 => "hue, and lines between: block; depth: thread in its block".to_owned(),
        n => format!(
            "{n} of {} elements unwritten (grey); hue, and lines between: block; depth: thread in its block",
            writers.writers.len()
        ),
    };
    let shown = rows * columns;
    if shown < writers.writers.len() {
        let what = if writers.shape.len() == 1 {
            format!("the first {shown} of {} elements", writers.writers.len())
        } else {
            format!("the first {rows} × {columns} of {} × {}", plane.0, plane.1)
        };
        text.push_str(&format!("; {what}"));
    }
    if writers.shape.len() > 2 {
        let lead = vec!["0".to_owned(); writers.shape.len() - 2].join(", ");
        text.push_str(&format!(" of [{lead}, :, :]"));
    }
    text
}

fn cell(canvas: &Canvas, writers: &Writers, flat: usize, at: (f64, f64), side: f64) -> Drawn {
    let Some(writer) = writers.writers.get(flat) else { return Ok(()) };
    let index = index(&unravel(flat, &writers.shape));
    let size = (side - 1.0, side - 1.0);
    let Some((block, thread)) = writer else {
        canvas.tip(format!("{index}: nobody wrote it"));
        return canvas.rect(Canvas::fill(Role::Zero, 1.0), at, size);
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

fn ends(
    canvas: &Canvas,
    writers: &Writers,
    (rows, columns): (usize, usize),
    plane: (usize, usize),
    size: (f64, f64),
) -> Drawn {
    let small = |h, v, at, text: &str| canvas.text(Role::Muted, 12.0, Weight::Normal, (h, v), at, text);
    small(HPos::Left, VPos::Top, (68.0, 64.0 + size.1 + 6.0), "0")?;
    if columns > 1 {
        small(HPos::Right, VPos::Top, (68.0 + size.0, 64.0 + size.1 + 6.0), &(columns - 1).to_string())?;
    }
    // Rows of one dimension begin at multiples of their length.
    let first = |row: usize| if writers.shape.len() == 1 { row * plane.1 } else { row };
    small(HPos::Right, VPos::Top, (60.0, 64.0), "0")?;
    if rows > 1 {
        small(HPos::Right, VPos::Bottom, (60.0, 64.0 + size.1), &first(rows - 1).to_string())?;
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
        let map = writer_map(&Writers { name: "out".into(), shape: vec![70], writers: all, block: [4, 1, 1] });
        let text = map.as_str();
        assert!(
            text.contains("[65]: block (16, 0, 0), thread (1, 0, 0)") && text.contains("[69]: nobody wrote it"),
            "{text}"
        );
        assert!(text.contains("1 of 70 elements unwritten") && !text.contains("the first"), "{text}");
    }

    #[test]
    fn what_is_left_out_is_said() {
        let writers = vec![Some(([0; 3], [0; 3])); 2 * 30 * 80];
        let map = writer_map(&Writers { name: "out".into(), shape: vec![2, 30, 80], writers, block: [1, 1, 1] });
        assert!(map.as_str().contains("the first 24 × 64 of 30 × 80 of [0, :, :]"), "{map}");
        let wrong = writer_map(&Writers { name: "out".into(), shape: vec![3], writers: vec![], block: [1, 1, 1] });
        assert!(wrong.as_str().contains("do not fill"), "{wrong}");
    }
}

//! The picture of a text, line by line: of a report that has nothing to draw.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Weight, code_picture, notice, shorten};
use super::theme::Role;

const SIZE: f64 = 13.0;
const LINE: f64 = 18.0;
const MARGIN: f64 = 10.0;
/// Most lines that are drawn.
const MOST: usize = 200;
/// Most characters of a line.
const WIDTH: usize = 200;

/// A picture of a text in letters of one width; `label` is the text for screen readers.
pub fn text(label: &str, text: &str) -> Svg {
    let all: Vec<&str> = text.trim_end().lines().collect();
    if all.is_empty() {
        return notice(label, "there is nothing to show");
    }
    let mut lines: Vec<String> = all.iter().take(MOST).map(|line| shorten(line, WIDTH)).collect();
    if let Some(rest @ 1..) = all.len().checked_sub(MOST) {
        lines.push(format!("and {rest} more lines"));
    }
    // A letter of these fonts is 0.6 of its size wide, but for those of other scripts.
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = widest as f64 * SIZE * 0.62 + 2.0 * MARGIN;
    let height = lines.len() as f64 * LINE + 2.0 * MARGIN;
    code_picture(width.ceil() as u32, height.ceil() as u32, label, |canvas| {
        for (i, line) in lines.iter().enumerate() {
            let at = (MARGIN, MARGIN + LINE * i as f64);
            // Spaces in a row count as one in SVG.
            let line = line.replace([' ', '\t'], "\u{a0}");
            canvas.text(Role::Ink, SIZE, Weight::Normal, (HPos::Left, VPos::Top), at, &line)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_is_a_line() {
        let picture = super::text("tiers", "k in blocks of 64\n  soon   made\n\n  good & <lanes>\n").into_string();
        assert_eq!(picture.matches("<text").count(), 4);
        assert!(
            picture.contains(">\u{a0}\u{a0}soon\u{a0}\u{a0}\u{a0}made<")
                && picture.contains("good\u{a0}&amp;\u{a0}&lt;lanes&gt;"),
            "{picture}"
        );
        assert!(picture.contains("monospace") && picture.contains("aria-label=\"tiers\""));
        let long = super::text("long", &"x".repeat(1000)).into_string();
        assert!(long.contains('…') && !long.contains(&"x".repeat(200)));
        assert!(super::text("many", &"line\n".repeat(500)).as_str().contains("and\u{a0}300\u{a0}more\u{a0}lines"));
        assert!(super::text("none", "\n").as_str().contains("there is nothing to show"));
    }
}

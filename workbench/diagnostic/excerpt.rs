//! The line a span is in, cut to a length that fits on a screen: the part of the user's text that renderers show.

use crate::source::{SourceFile, SourceMap, Span};

/// The longest line, in characters, that is shown whole.
const WHOLE: usize = 160;
/// The most characters of a longer line that are shown on either side of a place.
const MARGIN: usize = 50;
/// The most characters of a place in a longer line that are shown.
const MARKED: usize = 60;

/// A line with a marked part. A place of several lines is marked on its first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line's number, from 1.
    pub line: u32,
    /// The text before the marked part.
    pub before: String,
    /// The marked part; empty for a place between two characters.
    pub marked: String,
    /// The text after it.
    pub after: String,
    /// True if the line was too long and has been cut.
    pub trimmed: bool,
}

/// The line of a span; `None` for [`Span::NONE`].
pub fn excerpt(sources: &SourceMap, span: Span) -> Option<Excerpt> {
    let file = sources.file(span.file)?;
    let (line, start, end) = first_line(file, span);
    let text = file.line(line);
    let (before, rest) = text.split_at(start);
    let (marked, after) = rest.split_at(end - start);
    if text.chars().nth(WHOLE).is_none() {
        let (before, marked, after) = (before.to_owned(), marked.to_owned(), after.to_owned());
        return Some(Excerpt { line, before, marked, after, trimmed: false });
    }
    let marked_whole = marked.chars().nth(MARKED).is_none();
    let after = if marked_whole { head(after, MARGIN) } else { String::new() };
    Some(Excerpt { line, before: tail(before, MARGIN), marked: head(marked, MARKED), after, trimmed: true })
}

/// The line of a span's start, and byte offsets in it, both on character boundaries whatever the span says.
fn first_line(file: &SourceFile, span: Span) -> (u32, usize, usize) {
    let start = span.start.min(file.text.len() as u32);
    let line = file.line_column(start).line;
    let text = file.line(line);
    let line_start = file.offset(line, 1);
    let floor = |offset: u32| {
        let mut at = (offset.saturating_sub(line_start) as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = floor(start);
    (line, from, floor(span.end).max(from))
}

/// The first characters of a text.
pub(super) fn head(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

fn tail(text: &str, most: usize) -> String {
    match text.char_indices().rev().nth(most) {
        Some((cut, c)) => format!("...{}", &text[cut + c.len_utf8()..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, start: u32, end: u32) -> Excerpt {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", text);
        excerpt(&sources, Span::new(file, start, end)).expect("a file")
    }

    #[test]
    fn a_place_is_cut_out_of_its_line() {
        let found = marked("int a;\nint b = c;\n", 15, 16);
        assert_eq!((found.line, &*found.before, &*found.marked, &*found.after), (2, "int b = ", "c", ";"));
    }

    #[test]
    fn a_place_of_several_lines_ends_with_its_first() {
        assert_eq!(marked("ab\ncd\nef", 1, 7).marked, "b");
    }

    #[test]
    fn long_lines_are_trimmed_on_both_sides() {
        let text = format!("{}x{}", "a".repeat(500), "b".repeat(500));
        let found = marked(&text, 500, 501);
        assert_eq!((found.before.len(), &*found.marked, found.after.len()), (53, "x", 53));
        assert!(found.before.starts_with("...") && found.after.ends_with("..."));
        assert_eq!(marked(&text, 0, 1001).marked.len(), 63);
    }

    #[test]
    fn places_that_are_off_do_not_panic() {
        assert_eq!(marked("é", 1, 2).marked, "é");
        assert_eq!(marked("ab", 7, 3).marked, "");
        assert_eq!(marked("", 0, 0).line, 1);
        assert_eq!(marked("a\n", 2, 2).line, 2);
        assert_eq!(excerpt(&SourceMap::new(), Span::NONE), None);
    }
}

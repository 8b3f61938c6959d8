//! Differences between two texts, line by line, with the words that differ in lines that were changed.

use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::html::escape;
use crate::ops::history::bare;

/// Lines of context round a change.
const CONTEXT: usize = 2;

/// Most lines of a difference that are shown, and most characters of one of them.
const MOST_LINES: usize = 300;
const MOST_CHARACTERS: usize = 400;

/// The time after which a difference may be larger than it has to be.
const DEADLINE: Duration = Duration::from_millis(50);

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The sign of the line: `' '`, `'-'` or `'+'`; `'@'` for lines that are left out, whose number is the text.
    pub sign: char,
    /// Pieces of the line; true for words that the other text does not have there.
    pub pieces: Vec<(bool, String)>,
}

/// The difference of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its lines, with some context.
    pub lines: Vec<Line>,
    /// The number of lines that only the new text has.
    pub added: usize,
    /// The number of lines that only the old text has.
    pub removed: usize,
}

/// The difference between an old and a new text, blank lines before and after them left out.
pub fn difference(old: &str, new: &str) -> Difference {
    let (old, new) = (bare(old), bare(new));
    let diff = TextDiff::configure().timeout(DEADLINE).diff_lines(old, new);
    let mut lines = Vec::new();
    let (added, removed) = changed(&diff);
    let mut end = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let start = group.first().map_or(0, |op| op.old_range().start);
        left_out(&mut lines, start.saturating_sub(end));
        for op in &group {
            if lines.len() > MOST_LINES {
                let text = "more lines differ, which are not shown".to_owned();
                lines.push(Line { sign: '@', pieces: vec![(false, text)] });
                return Difference { lines, added, removed };
            }
            for change in diff.iter_inline_changes_deadline(op, Some(Instant::now() + DEADLINE)).take(MOST_LINES) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let pieces =
                    change.iter_strings_lossy().map(|(differs, text)| (differs, text.replace(['\n', '\r'], "")));
                let pieces: Vec<(bool, String)> = pieces.filter(|(_, text)| !text.is_empty()).collect();
                lines.push(Line { sign, pieces: cut(pieces) });
            }
            end = op.old_range().end;
        }
    }
    if !lines.is_empty() {
        left_out(&mut lines, old.lines().count().saturating_sub(end));
    }
    Difference { lines, added, removed }
}

/// The numbers of added and removed lines of a difference.
fn changed<'t>(diff: &TextDiff<'t, 't, '_, str>) -> (usize, usize) {
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

/// The numbers of added and removed lines, `+3 −1`.
pub fn counts(old: &str, new: &str) -> String {
    let (added, removed) = changed(&TextDiff::configure().timeout(DEADLINE).diff_lines(bare(old), bare(new)));
    Difference { lines: Vec::new(), added, removed }.counts()
}

/// The first lines of a text, each cut where it is long.
pub fn shortened(text: &str) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .take(MOST_LINES)
        .map(|line| cut(vec![(false, line.to_owned())]).into_iter().map(|(_, text)| text).collect())
        .collect();
    if let Some(more) = text.lines().count().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        lines.push(format!("\u{22ef} {more} more lines"));
    }
    lines.join("\n")
}

/// The pieces of a line up to its limit.
fn cut(pieces: Vec<(bool, String)>) -> Vec<(bool, String)> {
    let mut left = MOST_CHARACTERS;
    let mut kept = Vec::new();
    for (differs, text) in pieces {
        let end = text.char_indices().nth(left).map(|(end, _)| end);
        left -= text.chars().count().min(left);
        kept.push((differs, end.map_or(text.clone(), |end| format!("{}\u{2026}", &text[..end]))));
        if end.is_some() {
            break;
        }
    }
    kept
}

fn left_out(lines: &mut Vec<Line>, count: usize) {
    match count {
        0 => {}
        1 => lines.push(Line { sign: '@', pieces: vec![(false, "1 line as before".to_owned())] }),
        n => lines.push(Line { sign: '@', pieces: vec![(false, format!("{n} lines as before"))] }),
    }
}

impl Difference {
    /// The numbers of added and removed lines, `+3 −1`.
    pub fn counts(&self) -> String {
        match (self.added, self.removed) {
            (0, 0) => "no change".to_owned(),
            (added, 0) => format!("+{added}"),
            (0, removed) => format!("\u{2212}{removed}"),
            (added, removed) => format!("+{added} \u{2212}{removed}"),
        }
    }

    /// The difference as HTML; the words that differ are marked.
    pub fn html(&self) -> String {
        let mut out = String::from("<pre class=\"wb-diff\">");
        for line in &self.lines {
            let (class, sign) = match line.sign {
                '+' => ("wb-added", "+ "),
                '-' => ("wb-removed", "\u{2212} "),
                '@' => ("wb-muted", "\u{22ef} "),
                _ => ("wb-same", "  "),
            };
            let _ = write!(out, "<span class=\"{class}\">{sign}");
            for (differs, text) in &line.pieces {
                let text = escape(text);
                let _ = if *differs { write!(out, "<mark>{text}</mark>") } else { write!(out, "{text}") };
            }
            out.push_str("</span>\n");
        }
        out.push_str("</pre>");
        out
    }
}

impl std::fmt::Display for Difference {
    /// The lines with their signs, as `diff` shows them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in &self.lines {
            let sign = if line.sign == '@' { '\u{22ef}' } else { line.sign };
            let text: String = line.pieces.iter().map(|(_, text)| text.as_str()).collect();
            writeln!(f, "{}", format!("{sign} {text}").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_marked_and_other_lines_left_out() {
        let old: Vec<String> = (0..20).map(|i| format!("line {i}")).collect();
        let mut new = old.clone();
        new[9] = "line nine < 10".to_owned();
        new.insert(10, "another".to_owned());
        let found = difference(&(old.join("\n") + "\n"), &(new.join("\n") + "\n"));
        assert_eq!((found.added, found.removed, found.counts()), (2, 1, "+2 \u{2212}1".to_owned()));
        let expected = "⋯ 7 lines as before\n  line 7\n  line 8\n- line 9\n+ line nine < 10\n+ another\n  line 10\n  line 11\n⋯ 8 lines as before\n";
        assert_eq!(found.to_string(), expected);
        let html = difference("int a = 1 < x;\n", "int a = 2 < x;\n").html();
        assert!(html.contains("<span class=\"wb-removed\">\u{2212} int a = <mark>1</mark> &lt; x;</span>"), "{html}");
        assert!(html.contains("<span class=\"wb-added\">+ int a = <mark>2</mark> &lt; x;</span>"), "{html}");
    }

    #[test]
    fn long_texts_are_cut_and_take_bounded_time() {
        let text = |word: &str| (0..20_000).map(|i| format!("line {i} {word} {}\n", i % 7)).collect::<String>();
        let found = difference(&text("old"), &text("new"));
        assert!(
            found.lines.len() <= 2 * MOST_LINES + 2 && found.added == 20_000,
            "{} {}",
            found.lines.len(),
            found.added
        );
        let found = difference("a\n", &"\u{e9}".repeat(100_000));
        assert!(found.to_string().chars().count() < 500);
        assert!(shortened(&text("x")).ends_with("\u{22ef} 19700 more lines"));
    }

    #[test]
    fn equal_and_empty_texts_have_no_difference() {
        assert_eq!(difference("a\nb", "a\nb").lines, []);
        assert_eq!(difference("", "").counts(), "no change");
        assert_eq!(difference("", "a\n").counts(), "+1");
        assert_eq!(difference("a\n", "").to_string(), "- a\n");
        // A last line without its end is the same line, and blank lines round a text are none of its own.
        assert_eq!(difference("a\nb\n", "a\nb").lines, []);
        assert_eq!(difference("\n \n  a\n\nb\n\n", "  a\n\nb").counts(), "no change");
        assert_eq!(difference("\n  a", "a").counts(), "+1 \u{2212}1");
    }
}

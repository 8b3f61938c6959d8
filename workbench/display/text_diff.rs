//! Differences between two texts, line by line, with the words that differ in lines that were changed.

use std::fmt::Write;

use similar::{ChangeTag, TextDiff};

use super::html::escape;

/// Lines of context round a change.
const CONTEXT: usize = 2;

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

/// The difference between an old and a new text.
pub fn difference(old: &str, new: &str) -> Difference {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    let (mut added, mut removed) = (0, 0);
    let mut end = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let start = group.first().map_or(0, |op| op.old_range().start);
        left_out(&mut lines, start.saturating_sub(end));
        for op in &group {
            for change in diff.iter_inline_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                added += usize::from(sign == '+');
                removed += usize::from(sign == '-');
                let pieces =
                    change.iter_strings_lossy().map(|(differs, text)| (differs, text.replace(['\n', '\r'], "")));
                lines.push(Line { sign, pieces: pieces.filter(|(_, text)| !text.is_empty()).collect() });
            }
            end = op.old_range().end;
        }
    }
    if !lines.is_empty() {
        left_out(&mut lines, old.lines().count().saturating_sub(end));
    }
    Difference { lines, added, removed }
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
    fn equal_and_empty_texts_have_no_difference() {
        assert_eq!(difference("a\nb", "a\nb").lines, []);
        assert_eq!(difference("", "").counts(), "no change");
        assert_eq!(difference("", "a\n").counts(), "+1");
        assert_eq!(difference("a\n", "").to_string(), "- a\n");
        // A last line without its end is the same line.
        assert_eq!(difference("a\nb\n", "a\nb").added, 1);
    }
}

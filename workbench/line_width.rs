//! The width of reports in text: a line that is too long for a terminal goes on below, further in.

use std::fmt;

/// The columns that a line has at most, unless a word of it is longer.
pub const COLUMNS: usize = 80;

/// Writes a line and its end, broken between words; the lines that it goes on in are indented by four columns more than it is itself.
///
/// # Errors
/// Those of writing.
pub fn write_line(out: &mut impl fmt::Write, line: &str) -> fmt::Result {
    for part in folded(line) {
        writeln!(out, "{part}")?;
    }
    Ok(())
}

/// The lines that a line is broken into.
pub fn folded(line: &str) -> Vec<String> {
    let width = |text: &str| text.chars().count();
    let line = line.trim_end();
    let indent = width(line) - width(line.trim_start());
    let mut parts = Vec::new();
    let mut rest = line.to_owned();
    while width(&rest) > COLUMNS {
        let first = rest.chars().take_while(|c| *c == ' ').count();
        // The last blank within the columns, or the first after them where a word is longer; blanks of the indentation are none.
        let blanks = rest.char_indices().enumerate().filter(|(column, (_, c))| *c == ' ' && *column > first);
        let (within, after): (Vec<_>, Vec<_>) = blanks.partition(|(column, _)| *column <= COLUMNS);
        let Some(&(_, (at, _))) = within.last().or(after.first()) else { break };
        let tail = rest[at..].trim_start().to_owned();
        rest.truncate(at);
        parts.push(rest.trim_end().to_owned());
        rest = format!("{}{tail}", " ".repeat(indent + 4));
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_go_on_further_in() {
        assert_eq!(folded("short"), ["short"]);
        assert_eq!(folded(""), [""]);
        let exact = "x".repeat(COLUMNS);
        assert_eq!(folded(&exact), [exact.as_str()]);
        let words = ["abcd"; 31].join(" ");
        let parts = folded(&format!("  {words}"));
        // Fifteen words and the two blanks before them have 76 columns, and a sixteenth does not fit.
        assert_eq!(parts[0], format!("  {}", ["abcd"; 15].join(" ")));
        assert_eq!(parts[1], format!("      {}", ["abcd"; 15].join(" ")));
        assert_eq!(parts[2], "      abcd");
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole_and_wide_letters_count_once() {
        let long = "y".repeat(100);
        assert_eq!(folded(&format!("a {long} b")), ["a".to_owned(), format!("    {long}"), "    b".to_owned()]);
        assert_eq!(folded(&format!("    {long}")), [format!("    {long}")]);
        let greek = ["µµµ"; 20].join(" ");
        assert_eq!(folded(&greek), [greek.as_str()]);
    }
}

//! Requests and answers: lines of JSON. Positions in code are counted in characters, as Jupyter counts them.

use std::collections::HashMap;
use std::io::Write as _;

use evcxr::Completions;
use serde::{Deserialize, Serialize};

/// A request. The answers to those with an `id` carry it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Runs a cell; answered by `done` or `error`.
    Execute { id: u64, code: String },
    /// Asks for what may stand at a place; answered by `completed`.
    Complete { id: u64, code: String, at: usize },
    /// Asks what a name is; answered by `inspected`.
    Inspect { id: u64, code: String, at: usize },
    /// Stops the cell that runs.
    Stop {},
    /// The line that the cell asked for.
    Input { value: String },
}

/// A message of Workbench's beside a cell's output (`workbench/back/notebook.rs`): a line of its output between two marks.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Progress of a measurement: a line, and a picture as HTML or nothing.
    Progress { line: String, html: String },
    /// Something to show among the cell's outputs.
    Display { plain: String, html: String },
    /// The error that ends the cell.
    Error { name: String, text: String },
}

impl Told {
    /// The thing that a line tells, if it tells any, and the output of the cell before it, which had no end of line.
    pub fn of(line: &str) -> Option<(&str, Self)> {
        let (before, told) = line.split_once("\u{1b}_workbench ")?;
        let told = serde_json::from_str(told.strip_suffix("\u{1b}\\")?).ok()?;
        Some((before, told))
    }
}

/// An answer.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The session takes requests.
    Ready {},
    /// The session cannot go on.
    Failed { message: String },
    /// Output of the cell that runs.
    Stream { name: &'static str, text: String },
    /// Progress of the cell: a line, and a picture as HTML or nothing. An empty line takes away the one before.
    Progress { line: String, html: String },
    /// The cell asks for a line.
    Input { prompt: String, password: bool },
    /// A part of the output of a cell, by MIME type.
    Display { data: HashMap<String, String> },
    /// The cell ended; its value by MIME type, if it has one. `stopped` if the user wanted it to.
    Done { id: u64, data: HashMap<String, String>, stopped: bool },
    /// The cell does not compile, or did not end well.
    Error { id: u64, name: String, message: String, text: String, stopped: bool },
    /// What may stand in place of the characters from `start` to `end`.
    Completed { id: u64, start: usize, end: usize, matches: Vec<Match> },
    /// What a name is, as plain text and as HTML.
    Inspected { id: u64, found: Option<(String, String)> },
}

/// A text that completes a name.
#[derive(Serialize)]
pub struct Match {
    text: String,
    label: String,
    kind: &'static str,
}

impl Answer {
    /// Completions with their place counted in characters.
    pub fn completions(id: u64, code: &str, found: Completions) -> Self {
        let character = |byte: usize| code.char_indices().take_while(|(at, _)| *at < byte).count();
        Answer::Completed {
            id,
            start: character(found.start_offset),
            end: character(found.end_offset),
            matches: found
                .completions
                .into_iter()
                .map(|c| Match { text: c.code, label: c.label, kind: c.kind })
                .collect(),
        }
    }
}

/// Writes an answer. The standard output is locked for the whole line, as several threads answer.
pub fn answer(answer: &Answer) {
    let mut line = serde_json::to_string(answer).unwrap_or_else(|e| format!("{{\"failed\":{{\"message\":\"{e}\"}}}}"));
    line.push('\n');
    let mut out = std::io::stdout().lock();
    // A reader that is gone ends the session by the end of the standard input.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::Told;

    #[test]
    fn a_line_between_the_marks_is_told_and_others_are_not() {
        let told = Told::of("\u{1b}_workbench {\"progress\":{\"line\":\"1/2\",\"html\":\"<b>\"}}\u{1b}\\");
        assert!(matches!(told, Some(("", Told::Progress { line, html })) if line == "1/2" && html == "<b>"));
        let told = Told::of("half a line\u{1b}_workbench {\"display\":{\"plain\":\"a\\nb\",\"html\":\"\"}}\u{1b}\\");
        assert!(matches!(told, Some(("half a line", Told::Display { plain, .. })) if plain == "a\nb"));
        let told = Told::of("\u{1b}_workbench {\"error\":{\"name\":\"CompileError\",\"text\":\"no\"}}\u{1b}\\");
        assert!(matches!(told, Some(("", Told::Error { name, .. })) if name == "CompileError"));
        for other in [
            "",
            "text",
            "\u{1b}_workbench {",
            "\u{1b}_workbench {\"unknown\":{}}\u{1b}\\",
            "\u{1b}_workbench {}\u{1b}\\ more",
        ] {
            assert!(Told::of(other).is_none(), "{other:?}");
        }
    }
}

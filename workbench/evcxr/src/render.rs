//! Errors of cells as text, in the manner of rustc: each with one excerpt of the cell, in which all its places are marked.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};
use evcxr::{CompilationError, Error};

use crate::output::End;
use crate::protocol::Answer;

/// The number of columns of the text: a notebook's output is about as wide.
const WIDTH: usize = 120;

/// The answer to a cell that failed.
pub fn error(id: u64, error: &Error, code: &str, stopped: bool) -> Answer {
    let (name, message, text) = match error {
        Error::CompilationErrors(errors) => {
            let texts: Vec<String> = errors.iter().map(|e| compilation(e, code)).collect();
            let first = errors.first().map(CompilationError::message).unwrap_or_default();
            ("CompileError", first, texts.join("\n\n"))
        }
        Error::SubprocessTerminated(how) => {
            let message = format!("the process that ran the cell ended, and the variables with it: {}", how.trim());
            ("ProcessEnded", message.clone(), message)
        }
        // What cargo says when it is ended is of no use.
        _ if stopped => ("Stopped", String::new(), String::new()),
        other => ("Error", other.to_string(), other.to_string()),
    };
    Answer::Error { id, name: name.to_owned(), message, text, stopped }
}

/// The answer to a cell that was stopped before it began.
pub fn stopped(id: u64) -> Answer {
    Answer::Error { id, name: "Stopped".to_owned(), message: String::new(), text: String::new(), stopped: true }
}

/// The answer to a cell that did not end well by its own doing.
pub fn ended(id: u64, end: &End, stopped: bool) -> Answer {
    let (name, text) = match end {
        End::Panic(message) => ("Panic", format!("the cell panicked: {}", message.trim_end())),
        End::Error(name, text) => (name.as_str(), text.trim_end().to_owned()),
    };
    let first = |text: &str| text.lines().next().unwrap_or("").to_owned();
    let message = match end {
        End::Panic(message) => first(message),
        // Colours are for the text alone.
        End::Error(_, text) => first(&without_colours(text)),
    };
    Answer::Error { id, name: name.to_owned(), message, text, stopped }
}

/// A text without the codes that colour it.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = code.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}

/// One error of the compiler.
fn compilation(error: &CompilationError, code: &str) -> String {
    let mut annotations = Vec::new();
    for place in error.spanned_messages() {
        let Some(range) = place.span.and_then(|span| {
            let start = offset(code, span.start_line, span.start_column)?;
            Some(start..offset(code, span.end_line, span.end_column)?.max(start))
        }) else {
            continue;
        };
        let kind = if place.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        // A place without words of its own has the whole message, which stands above already.
        let label = if place.label.contains(&error.message()) { "" } else { place.label.as_str() };
        annotations.push((kind, range, label));
    }
    annotations.dedup_by(|b, a| b.1 == a.1 && b.2 == a.2);
    let mut elements: Vec<Element<'_>> = Vec::new();
    if !annotations.is_empty() {
        let marks = annotations
            .iter()
            .map(|(kind, range, label): &(_, Range<usize>, _)| kind.span(range.clone()).label(*label));
        elements.push(Snippet::source(code).path("cell").annotations(marks).into());
    }
    let helps: Vec<String> =
        error.help().iter().map(|h| one_line(h)).chain(error.evcxr_extra_hint().map(str::to_owned)).collect();
    elements.extend(helps.iter().map(|help| Level::HELP.message(help.as_str()).into()));
    let level = if error.level() == "warning" { Level::WARNING } else { Level::ERROR };
    let message = error.message();
    let mut title = level.primary_title(message.as_str());
    if let Some(id) = error.code() {
        title = title.id(id);
    }
    Renderer::styled().term_width(WIDTH).render(&[title.elements(elements)])
}

/// A suggestion with what to write in the same line; evcxr puts it below an empty one.
fn one_line(help: &str) -> String {
    match help.split_once("\n\n") {
        Some((help, text)) if !text.contains('\n') => format!("{help}: `{}`", text.trim()),
        _ => help.to_owned(),
    }
}

/// The byte of a place; lines and columns count from one, columns in characters.
fn offset(code: &str, line: usize, column: usize) -> Option<usize> {
    let start: usize = code.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let text = code.get(start..)?.lines().next().unwrap_or("");
    let within = text.char_indices().nth(column.checked_sub(1)?).map_or(text.len(), |(byte, _)| byte);
    Some(start + within)
}

//! Diagnostics as HTML: one self-contained fragment with inline style, for a notebook's output.
//!
//! Colours are JupyterLab's variables, so that they follow its theme; elsewhere the fallbacks are mid-tones that are readable on white and
//! on black, and plain text inherits the page's colour. Everything that comes from a user is escaped.

use std::fmt::Write;

use super::excerpt::excerpt;
use super::text::{and_more, in_order};
use super::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};

// Colours are JupyterLab's. Elsewhere they follow the page's text, with a contrast of at least 4.5: dark tones beside dark text (#c62a2f,
// #945000, #2a6ba8), light ones beside light text (#ff6b6e, #e08a1e, #5aa2e0), in Oklab as in `plot/theme.rs`.

/// Red: errors and the marked place.
const ERROR: &str = "var(--jp-error-color1,oklab(from currentColor clamp(0.5409,(l - .6)*1000,0.7122) clamp(0.1681,(l - .6)*-1000,0.1735) clamp(0.0668,(l - .6)*-1000,0.0813)))";
/// Amber: warnings.
const WARNING: &str = "var(--jp-warn-color1,oklab(from currentColor clamp(0.5025,(l - .6)*1000,0.7082) clamp(0.0607,(l - .6)*1000,0.0641) clamp(0.1020,(l - .6)*1000,0.1365)))";
/// Calm blue: help and related places.
const HELP: &str = "var(--jp-info-color1,oklab(from currentColor clamp(0.5166,(l - .6)*1000,0.6914) clamp(-0.0467,(l - .6)*-1000,-0.0400) clamp(-0.1098,(l - .6)*1000,-0.1073)))";
/// Line numbers and places.
const FAINT: &str = "var(--jp-ui-font-color2,color-mix(in srgb,currentColor 68%,transparent))";

/// All diagnostics, in text order, one below the other.
pub fn render(diags: &[Diagnostic], sources: &SourceMap) -> String {
    let (shown, hidden) = in_order(diags);
    let mut out = open();
    for (i, diag) in shown.into_iter().enumerate() {
        let margin = if i == 0 { "0" } else { "1em" };
        let _ = write!(out, "<div style=\"margin-top:{margin}\">");
        one(&mut out, diag, sources);
        out.push_str("</div>");
    }
    if hidden > 0 {
        let _ = write!(out, "<div style=\"margin-top:1em;color:{FAINT}\">{}</div>", and_more(hidden));
    }
    out.push_str("</div>");
    out
}

/// A titled message about a place, for faults and other errors.
///
/// `title` is bold, `message` follows it; then the line of `span`, marked, with `label` under it; then `notes`.
pub fn message(title: &str, message: &str, span: Span, label: &str, notes: &[String], sources: &SourceMap) -> String {
    let mut out = open();
    heading(&mut out, ERROR, title, message);
    code(&mut out, ERROR, span, label, sources);
    for note in notes {
        let _ = write!(out, "<div style=\"color:{FAINT}\">{}</div>", escape(note));
    }
    out.push_str("</div>");
    out
}

/// Text that is safe between tags and inside quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has no spelling for other control characters.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn open() -> String {
    "<div style=\"color:var(--jp-content-font-color1,inherit);\
     font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);\
     font-size:var(--jp-code-font-size,13px);line-height:1.4\">"
        .to_owned()
}

fn one(out: &mut String, diag: &Diagnostic, sources: &SourceMap) {
    let (word, colour) = match diag.severity {
        Severity::Error => ("error", ERROR),
        Severity::Warning => ("warning", WARNING),
    };
    heading(out, colour, &format!("{word}[{}]", diag.code), &diag.message);
    code(out, colour, diag.span, &diag.label, sources);
    for (span, label) in &diag.related {
        code(out, HELP, *span, label, sources);
    }
    if let Some(help) = &diag.help {
        let _ = write!(
            out,
            "<div style=\"color:{HELP};white-space:pre-wrap\"><b>help</b>: {}</div>",
            backquotes(&escape(help))
        );
    }
}

fn heading(out: &mut String, colour: &str, title: &str, message: &str) {
    let colon = if message.is_empty() { "" } else { ": " };
    let _ = write!(
        out,
        "<div style=\"white-space:pre-wrap\"><b style=\"color:{colour}\">{}</b>{colon}{}</div>",
        escape(title),
        backquotes(&escape(message))
    );
}

/// The place and its line; nothing for a span without a place, except for the label.
fn code(out: &mut String, colour: &str, span: Span, label: &str, sources: &SourceMap) {
    let label = backquotes(&escape(label));
    let Some(excerpt) = excerpt(sources, span) else {
        if !label.is_empty() {
            let _ = write!(out, "<div style=\"color:{colour};white-space:pre-wrap\">{label}</div>");
        }
        return;
    };
    let _ = write!(out, "<div style=\"color:{FAINT}\">{}</div>", escape(&sources.place(span)));
    // An empty place between two characters is drawn as wide as one.
    let marked = if excerpt.marked.is_empty() { "&nbsp;".to_owned() } else { escape(&excerpt.marked) };
    let _ = write!(
        out,
        "<pre style=\"margin:.15em 0;padding:.2em .6em;overflow-x:auto;background:transparent;color:inherit;\
         font:inherit;border-left:3px solid {colour}\"><span style=\"color:{FAINT};user-select:none\">{} | </span>{}\
         <span style=\"text-decoration:underline wavy {colour};text-underline-offset:3px;\
         text-decoration-skip-ink:none\">{marked}</span>{}",
        excerpt.line,
        escape(&excerpt.before),
        escape(&excerpt.after),
    );
    if !label.is_empty() {
        let _ = write!(out, "\n<span style=\"color:{colour};white-space:pre-wrap\">{label}</span>");
    }
    out.push_str("</pre>");
}

/// Marks text in backquotes as code. The text is already escaped.
fn backquotes(escaped: &str) -> String {
    let pieces: Vec<&str> = escaped.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        // An odd backquote is an ordinary character.
        return escaped.to_owned();
    }
    let mut out = String::with_capacity(escaped.len());
    for (i, piece) in pieces.into_iter().enumerate() {
        match i % 2 {
            0 => out.push_str(piece),
            _ => {
                let _ = write!(
                    out,
                    "<code style=\"font:inherit;font-weight:bold;color:inherit;background:transparent;\
                     padding:0\">{piece}</code>"
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    #[test]
    fn everything_of_a_user_is_escaped() {
        let mut sources = SourceMap::new();
        let file = sources.add("<img src=x>", "a<b>& \"c\" </pre><script>");
        let diag = Diagnostic::error(Code::Syntax, Span::new(file, 1, 4), "<script>alert(1)</script>")
            .label("<b>")
            .related(Span::new(file, 0, 1), "<i>")
            .help("<u> `<s>`");
        let html = render(&[diag], &sources);
        for tag in ["<script", "<img", "<b>", "<i>", "<u>", "<s>", "</pre><"] {
            // `<b>help</b>` and the closing of our own `pre` are ours.
            let own = html.replace("<b>help</b>", "").replace("</pre><div", "");
            assert!(!own.contains(tag), "{tag} in {html}");
        }
        assert!(html.contains("&lt;img src=x&gt;:1:2"));
    }

    #[test]
    fn the_place_is_underlined_and_tags_balance() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", "int a;\nint b = c;\n");
        let diag =
            Diagnostic::error(Code::UnknownName, Span::new(file, 15, 16), "nothing is called `c` here").help("h");
        let html = render(&[diag], &sources);
        assert!(html.contains(">c</span>;") && html.contains("2 | ") && html.contains("error[WB0301]"), "{html}");
        for tag in ["div", "span", "pre", "b", "code"] {
            let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag} in {html}");
        }
    }

    #[test]
    fn a_message_without_a_place_is_fine() {
        let html = render(&[Diagnostic::warning(Code::NvrtcWarning, Span::NONE, "odd ` one")], &SourceMap::new());
        assert!(html.contains("odd ` one") && !html.contains("<pre"));
    }
}

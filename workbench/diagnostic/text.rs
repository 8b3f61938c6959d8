//! Diagnostics as terminal text, in the manner of rustc.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};

use super::excerpt::{Excerpt, excerpt, head};
use super::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};

/// The number of diagnostics that are written out; a text that is wrong throughout makes thousands.
pub const MAX_SHOWN: usize = 50;

/// All diagnostics as plain text, in text order, with a blank line between two.
pub fn render(diags: &[Diagnostic], sources: &SourceMap) -> String {
    render_with(&Renderer::plain(), diags, sources)
}

/// All diagnostics as [`render`] writes them, with ANSI colours.
pub fn render_styled(diags: &[Diagnostic], sources: &SourceMap) -> String {
    render_with(&Renderer::styled(), diags, sources)
}

/// The diagnostics to show, in text order, with those without a place last; and the number left out. Warnings are left out before errors.
pub(super) fn in_order(diags: &[Diagnostic]) -> (Vec<&Diagnostic>, usize) {
    let mut shown: Vec<&Diagnostic> = diags.iter().collect();
    if shown.len() > MAX_SHOWN {
        shown.sort_by_key(|d| !d.is_error());
        shown.truncate(MAX_SHOWN);
    }
    shown.sort_by_key(|d| (d.span.file, d.span.start, d.span.end));
    let hidden = diags.len() - shown.len();
    (shown, hidden)
}

/// The line in place of the diagnostics left out.
pub(super) fn and_more(hidden: usize) -> String {
    format!("... and {hidden} more {}", if hidden == 1 { "message" } else { "messages" })
}

fn render_with(renderer: &Renderer, diags: &[Diagnostic], sources: &SourceMap) -> String {
    let (shown, hidden) = in_order(diags);
    let mut parts: Vec<String> = shown.into_iter().map(|d| one(renderer, d, sources)).collect();
    if hidden > 0 {
        parts.push(and_more(hidden));
    }
    parts.join("\n\n")
}

/// The distance from the primary place, in lines, up to which another place shares its excerpt.
const TOGETHER: u32 = 200;
/// Characters shown of a line between two places.
const BETWEEN: usize = 160;

/// A place to point at.
struct Annotation<'a> {
    kind: AnnotationKind,
    excerpt: Excerpt,
    span: Span,
    label: &'a str,
}

fn one(renderer: &Renderer, diag: &Diagnostic, sources: &SourceMap) -> String {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let primary = place(AnnotationKind::Primary, diag.span, &diag.label, sources);
    let mut snippets: Vec<Vec<Annotation<'_>>> = primary.into_iter().map(|p| vec![p]).collect();
    for (span, label) in &diag.related {
        let Some(other) = place(AnnotationKind::Context, *span, label, sources) else { continue };
        match snippets.first_mut().filter(|places| together(&places[0], &other)) {
            Some(places) => places.push(other),
            None => snippets.push(vec![other]),
        }
    }
    let mut elements: Vec<Element<'_>> = Vec::new();
    for places in &snippets {
        show(&mut elements, places, sources);
    }
    if let Some(help) = &diag.help {
        elements.push(Level::HELP.message(&**help).into());
    }
    let report = [level.primary_title(&*diag.message).id(diag.code.id()).elements(elements)];
    let mut text = renderer.clone().term_width(usize::MAX / 2).render(&report);
    for place in snippets.iter().filter_map(|places| places.first()).filter(|p| p.excerpt.trimmed) {
        // The header counts columns in the excerpt; the user counts them in the line.
        let shown = place.excerpt.before.chars().count() + 1;
        let name = sources.file(place.span.file).map_or("", |f| f.name.as_str());
        let header = format!("{name}:{}:{shown}", place.excerpt.line);
        text = text.replacen(&header, &sources.place(place.span), 1);
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// True if the second place is shown in the first one's excerpt.
fn together(a: &Annotation<'_>, b: &Annotation<'_>) -> bool {
    a.span.file == b.span.file
        && a.excerpt.line.abs_diff(b.excerpt.line) <= TOGETHER
        && !a.excerpt.trimmed
        && !b.excerpt.trimmed
}

fn place<'a>(kind: AnnotationKind, span: Span, label: &'a str, sources: &SourceMap) -> Option<Annotation<'a>> {
    Some(Annotation { kind, excerpt: excerpt(sources, span)?, span, label })
}

/// Adds the header of the first place and the lines of all places; all are in one file, and only a line with a single place is trimmed.
fn show<'a>(elements: &mut Vec<Element<'a>>, places: &[Annotation<'a>], sources: &SourceMap) {
    let Some(first) = places.first() else { return };
    let Some(file) = sources.file(first.span.file) else { return };
    let (low, high) =
        places.iter().fold((u32::MAX, 0), |(low, high), p| (low.min(p.excerpt.line), high.max(p.excerpt.line)));
    let mut source = String::new();
    let mut annotations = Vec::new();
    for line in low..=high {
        let start = source.len();
        let mut own = None;
        for p in places.iter().filter(|p| p.excerpt.line == line) {
            let from = start + p.excerpt.before.len();
            let range: Range<usize> = from..from + p.excerpt.marked.len();
            let annotation = p.kind.span(range);
            annotations.push(if p.label.is_empty() { annotation } else { annotation.label(p.label) });
            own = Some(&p.excerpt);
        }
        match own {
            Some(e) => source.extend([&*e.before, &*e.marked, &*e.after]),
            None => source.push_str(&head(file.line(line), BETWEEN)),
        }
        source.push('\n');
    }
    let snippet = Snippet::source(source).path(file.name.clone()).line_start(low as usize);
    elements.push(snippet.annotations(annotations).into());
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::diagnostic::Code;

    const TEXT: &str = "__global__ void saxpy(int n, float *y) {\n    int i = threadIdx.x;\n    int blok = 1;\n    if (i < n) y[i] = block;\n}\n";

    fn check(diags: &[Diagnostic], sources: &SourceMap, expected: &Expect) {
        expected.assert_eq(&render(diags, sources));
    }

    /// The span of the `n`th occurrence of `part`.
    fn find(sources: &SourceMap, file: crate::source::FileId, part: &str) -> Span {
        let at = sources.file(file).expect("a file").text.find(part).expect("it occurs") as u32;
        Span::new(file, at, at + part.len() as u32)
    }

    #[test]
    fn an_error_shows_line_caret_related_place_and_help() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", TEXT);
        let diag =
            Diagnostic::error(Code::UnknownName, find(&sources, file, "block"), "nothing is called `block` here")
                .label("not declared")
                .related(find(&sources, file, "blok"), "`blok` is declared here")
                .help("write `blok`");
        check(
            &[diag],
            &sources,
            &expect![[r#"
                error[WB0301]: nothing is called `block` here
                 --> cell:4:23
                  |
                3 |     int blok = 1;
                  |         ---- `blok` is declared here
                4 |     if (i < n) y[i] = block;
                  |                       ^^^^^ not declared
                  |
                  = help: write `blok`"#]],
        );
    }

    #[test]
    fn messages_come_in_text_order_and_without_a_place_last() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", TEXT);
        let late = Diagnostic::error(Code::TypeMismatch, find(&sources, file, "y[i]"), "second");
        let early = Diagnostic::warning(Code::Unused, find(&sources, file, "int i"), "first");
        let nowhere = Diagnostic::error(Code::BadIr, Span::NONE, "third").help("report it");
        check(
            &[nowhere, late, early],
            &sources,
            &expect![[r#"
                warning[WB0315]: first
                 --> cell:2:5
                  |
                2 |     int i = threadIdx.x;
                  |     ^^^^^

                error[WB0303]: second
                 --> cell:4:16
                  |
                4 |     if (i < n) y[i] = block;
                  |                ^^^^

                error[WB0501]: third
                 |
                 = help: report it"#]],
        );
    }

    #[test]
    fn a_long_line_is_trimmed_and_keeps_its_column() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", format!("{}X{}", "a = b; ".repeat(100), " c = d;".repeat(100)));
        let diag = Diagnostic::error(Code::Syntax, find(&sources, file, "X"), "what is this").label("here");
        check(
            &[diag],
            &sources,
            &expect![[r#"
                error[WB0201]: what is this
                 --> cell:1:701
                  |
                1 | ... a = b; a = b; a = b; a = b; a = b; a = b; a = b; X c = d; c = d; c = d; c = d; c = d; c = d; c = d; ...
                  |                                                      ^ here"#]],
        );
    }

    #[test]
    fn places_in_two_files_have_a_header_each() {
        let mut sources = SourceMap::new();
        let header = sources.add("util.h", "#define N 1\n");
        let file = sources.add("cell", TEXT);
        let diag = Diagnostic::error(Code::BadMacro, find(&sources, file, "n, float"), "two of them")
            .related(find(&sources, header, "N"), "the other");
        check(
            &[diag],
            &sources,
            &expect![[r#"
                error[WB0103]: two of them
                 --> cell:1:27
                  |
                1 | __global__ void saxpy(int n, float *y) {
                  |                           ^^^^^^^^
                  |
                 ::: util.h:1:9
                  |
                1 | #define N 1
                  |         - the other"#]],
        );
    }

    #[test]
    fn the_end_of_the_text_can_be_pointed_at() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", "int a;\n");
        let diag = Diagnostic::error(Code::Syntax, Span::new(file, 7, 7), "the text ends here");
        check(
            &[diag],
            &sources,
            &expect![[r#"
                error[WB0201]: the text ends here
                 --> cell:2:1
                  |
                2 |
                  | ^"#]],
        );
    }

    #[test]
    fn thousands_of_messages_are_bounded_and_errors_go_first() {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", "x".repeat(5000));
        let mut diags: Vec<Diagnostic> =
            (0..4999).map(|i| Diagnostic::warning(Code::Syntax, Span::new(file, i, i + 1), "w")).collect();
        diags.push(Diagnostic::error(Code::Syntax, Span::new(file, 4999, 5000), "the error"));
        let text = render(&diags, &sources);
        assert!(text.contains("the error") && text.ends_with("... and 4950 more messages"), "{text}");
    }

    #[test]
    fn colours_come_on_request() {
        let diag = Diagnostic::error(Code::BadIr, Span::NONE, "no");
        assert!(render_styled(std::slice::from_ref(&diag), &SourceMap::new()).contains("\u{1b}["));
        assert!(!render(&[diag], &SourceMap::new()).contains('\u{1b}'));
    }
}

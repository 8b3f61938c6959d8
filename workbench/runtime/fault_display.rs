//! Faults and errors as text and as HTML: the fault, its thread, and the user's line with the place marked.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Error, Fault, FaultKind};
use crate::diagnostic::excerpt::excerpt;
use crate::diagnostic::html;
use crate::source::{SourceMap, Span};

/// A fault as terminal text.
///
/// ```text
/// kernel fault: out-of-bounds write in `saxpy` at cell:3:14, block (1, 0, 0), thread (5, 0, 0)
///   |
/// 3 |     c[i] = a[i];
///   |     ^^^^ `c[i]` writes index 1000 of `c`, which has 1000 elements
/// ```
pub fn fault(fault: &Fault) -> String {
    // The message of an exception is its author's; the place where it was raised comes after.
    let heading = match fault.kind {
        FaultKind::Raised(_) => format!("{}\nraised {}", fault.detail, summary(fault)),
        _ => format!("{TITLE}: {}", summary(fault)),
    };
    let Some(excerpt) = excerpt(&fault.sources, fault.span) else {
        let colon = if fault.detail.is_empty() { "" } else { ": " };
        if let FaultKind::Raised(_) = fault.kind {
            return heading;
        }
        return format!("{heading}{colon}{}", fault.detail);
    };
    let start = excerpt.before.len();
    let annotation = AnnotationKind::Primary.span(start..start + excerpt.marked.len());
    let told = fault.detail.is_empty() || matches!(fault.kind, FaultKind::Raised(_));
    let annotation = if told { annotation } else { annotation.label(&*fault.detail) };
    let source = [excerpt.before, excerpt.marked, excerpt.after].concat();
    let snippet = Snippet::source(source).line_start(excerpt.line as usize).annotation(annotation);
    let report = [Level::ERROR.no_name().primary_title("").element(snippet)];
    let text = Renderer::plain().term_width(usize::MAX / 2).render(&report);
    // The lines above the numbered one belong to the renderer's own title.
    let number = excerpt.line.to_string();
    let lines: Vec<&str> = text.lines().skip_while(|l| !l.starts_with(&number)).map(str::trim_end).collect();
    format!("{heading}\n{} |\n{}", " ".repeat(number.len()), lines.join("\n"))
}

/// A fault as an HTML fragment.
pub fn fault_html(fault: &Fault) -> String {
    let title = if let FaultKind::Raised(exception) = fault.kind { exception.name() } else { TITLE };
    html::message(title, &summary(fault), fault.span, &fault.detail, &[], &fault.sources)
}

/// Any error as an HTML fragment.
pub fn error_html(error: &Error) -> String {
    let plain = |title: &str, text: &str| html::message(title, text, Span::NONE, "", &[], &SourceMap::new());
    match error {
        Error::Compile { diagnostics, sources } => html::render(diagnostics, sources),
        Error::Fault(fault) => fault_html(fault),
        Error::Argument(text) => plain("argument error", text),
        Error::DeviceUnavailable(text) => plain("device unavailable", text),
        Error::Other(text) => plain("error", text),
    }
}

const TITLE: &str = "kernel fault";

fn summary(fault: &Fault) -> String {
    let place = match fault.span.is_none() {
        true => String::new(),
        false => format!(" at {}", fault.sources.place(fault.span)),
    };
    let head = format!("{} in `{}`{place}", fault.kind.name(), fault.kernel);
    match fault.kind {
        FaultKind::Raised(_) => format!("in `{}`{place}", fault.kernel),
        // These stop the launch as a whole, and the driver's faults name no thread.
        FaultKind::Timeout | FaultKind::Interrupted | FaultKind::Device => head,
        _ => format!("{head}, block {}, thread {}", triple(fault.block), triple(fault.thread)),
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use super::*;

    fn sample(text: &str, span: impl FnOnce(crate::source::FileId) -> Span, detail: &str) -> Fault {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", text);
        Fault {
            kind: FaultKind::OutOfBoundsWrite,
            kernel: "saxpy".into(),
            span: span(file),
            block: [1, 0, 0],
            thread: [5, 0, 0],
            detail: detail.into(),
            output: Vec::new(),
            dropped: 0,
            warnings: Vec::new(),
            sources: Arc::new(sources),
        }
    }

    #[test]
    fn a_fault_shows_line_thread_and_detail() {
        let detail = "`c[i]` writes index 1000 of `c`, which has 1000 elements";
        let sample = sample("a\nb\n    c[i] = a[i];\n", |f| Span::new(f, 8, 12), detail);
        expect![[r#"
            kernel fault: out-of-bounds write in `saxpy` at cell:3:5, block (1, 0, 0), thread (5, 0, 0)
              |
            3 |     c[i] = a[i];
              |     ^^^^ `c[i]` writes index 1000 of `c`, which has 1000 elements"#]]
        .assert_eq(&fault(&sample));
        let html = fault_html(&sample);
        assert!(html.contains(">c[i]</span> = a[i];") && html.contains("thread (5, 0, 0)"), "{html}");
    }

    #[test]
    fn a_fault_without_a_place_is_one_line() {
        let mut sample = sample("", |_| Span::NONE, "the driver said 700");
        sample.kind = FaultKind::Device;
        expect!["kernel fault: device error in `saxpy`: the driver said 700"].assert_eq(&fault(&sample));
    }

    #[test]
    fn an_exception_begins_with_its_message() {
        let mut sample = sample("a\nb\n    TORCH_CHECK(ok);\n", |f| Span::new(f, 8, 23), "x must be a vector");
        sample.kind = FaultKind::Raised(crate::back::Exception::Runtime);
        expect![[r#"
            x must be a vector
            raised in `saxpy` at cell:3:5
              |
            3 |     TORCH_CHECK(ok);
              |     ^^^^^^^^^^^^^^^"#]]
        .assert_eq(&fault(&sample));
    }

    #[test]
    fn every_error_has_html() {
        let plain = Error::argument("`x` is <float64>");
        assert!(error_html(&plain).contains("&lt;float64&gt;"));
        assert!(error_html(&Error::DeviceUnavailable("no driver".into())).contains("device unavailable"));
    }
}

//! One [`Diagnostic`] type for every stage; rendered as terminal text ([`text`]) or as HTML ([`html`]).
//!
//! Text that a message quotes may be as long as the user made it, so the constructors cut each quotation ([`shortened`]).
//!
//! A stage collects all its diagnostics in a `Vec<Diagnostic>`; nothing stops at the first error. Codes are declared once, in [`codes`],
//! each with a paragraph that explains it.

pub mod codes;
pub mod excerpt;
pub mod html;
pub mod text;

pub use codes::Code;

use crate::source::Span;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text compiles; something about it deserves a look.
    Warning,
    /// The text does not compile.
    Error,
}

/// A message about a place in the user's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, declared in [`codes`].
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a final full stop, lower case first letter.
    pub message: String,
    /// The place the message is about.
    pub span: Span,
    /// The text beside the caret; may be empty.
    pub label: String,
    /// Other places that matter ("declared here").
    pub related: Vec<(Span, String)>,
    /// The remedy.
    pub help: Option<String>,
    /// A change of the text that is the remedy: a place, and what to write there instead.
    pub replacement: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error of kind `code` at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: shortened(message.into()),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
            replacement: None,
        }
    }

    /// A warning of kind `code` at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Sets the text beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = shortened(label.into());
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// Sets a change of the text that is the remedy.
    #[must_use]
    pub fn replacement(mut self, span: Span, text: impl Into<String>) -> Self {
        self.replacement = Some((span, text.into()));
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, shortened(label.into())));
        self
    }

    /// True if this is an error rather than a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The number of characters between two backquotes up to which a quotation stays whole.
const QUOTED_WHOLE: usize = 160;
/// The number of characters that are kept of a longer quotation.
const QUOTED: usize = 40;

/// A message with every long quotation (the text between two backquotes) cut to its start and an ellipsis.
pub fn shortened(message: String) -> String {
    if message.len() <= QUOTED_WHOLE {
        return message;
    }
    let mut out = String::new();
    for (i, part) in message.split('`').enumerate() {
        if i > 0 {
            out.push('`');
        }
        let quoted = i % 2 == 1;
        match part.char_indices().nth(QUOTED) {
            Some((end, _)) if quoted && part.chars().nth(QUOTED_WHOLE).is_some() => {
                out.push_str(&part[..end]);
                out.push('…');
            }
            _ => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_quotations_are_cut_and_short_ones_are_not() {
        let long = "é".repeat(1000);
        let cut = format!("{}…", "é".repeat(40));
        let diag = Diagnostic::error(Code::UnknownName, Span::NONE, format!("nothing is called `{long}` or `x`"))
            .label(format!("`{long}`"))
            .help(format!("write `{long}`"))
            .related(Span::NONE, format!("`{long}` is here"));
        assert_eq!(diag.message, format!("nothing is called `{cut}` or `x`"));
        assert_eq!(diag.label, format!("`{cut}`"));
        assert_eq!(diag.help, Some(format!("write `{cut}`")));
        assert_eq!(diag.related[0].1, format!("`{cut}` is here"));
        let words = format!("no quotation {}", "word ".repeat(100));
        assert_eq!(shortened(words.clone()), words);
        let whole = format!("`{}`", "x".repeat(160));
        assert_eq!(shortened(whole.clone()), whole);
    }
}

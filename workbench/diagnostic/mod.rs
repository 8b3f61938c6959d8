//! One [`Diagnostic`] type for every stage; rendered as terminal text ([`text`]) or as HTML ([`html`]).
//!
//! A stage collects all it finds in a `Vec<Diagnostic>`; nothing stops at the first error. Codes are declared once, in
//! [`codes`], each with a paragraph that explains it.

pub mod codes;
pub mod excerpt;
pub mod html;
pub mod text;

pub use codes::Code;

use crate::source::Span;

/// How bad it is.
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
    /// What to write beside the caret; empty for none.
    pub label: String,
    /// Other places that matter ("declared here").
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of kind `code` at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// A warning of kind `code` at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Writes `label` beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Whether this is an error rather than a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

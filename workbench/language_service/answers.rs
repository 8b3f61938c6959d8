//! Answers to what an editor asks, and places in the text.

use std::ops::Range;

use crate::diagnostic::Severity;
use crate::front::cursor::{KnownName, NameKind};
use crate::source::{FileId, Span};

/// A name that may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The name, which replaces [`Completions::replaced`].
    pub name: String,
    /// Its kind.
    pub kind: NameKind,
    /// Its declaration as C++ writes it; the first, where it has overloads. Empty for words.
    pub declaration: String,
    /// Sentences about it: the comment at its declaration, or CUDA's meaning in a sentence. May be empty.
    pub documentation: String,
}

/// The names that may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    /// The part of the text that a completion replaces: the beginning of the name in front of the cursor.
    pub replaced: Range<usize>,
    /// The names, those of the innermost scope first, by the alphabet within a scope.
    pub items: Vec<Completion>,
}

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The name's place.
    pub range: Range<usize>,
    /// The kind of what it names.
    pub kind: NameKind,
    /// Its declarations as C++ writes them, one for each overload.
    pub declarations: Vec<String>,
    /// Sentences about it; may be empty.
    pub documentation: String,
    /// The place of its declaration, where the text has it.
    pub declared: Option<Range<usize>>,
}

/// One overload of a function that is being called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its declaration as C++ writes it.
    pub declaration: String,
    /// The parameters, as ranges of bytes in the declaration.
    pub parameters: Vec<Range<usize>>,
}

/// The function that is being called at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHelp {
    /// Its overloads.
    pub signatures: Vec<Signature>,
    /// Sentences about it; may be empty.
    pub documentation: String,
    /// The overload that has a parameter for each argument so far: the first such.
    pub active_signature: usize,
    /// The argument that the cursor is in, from 0.
    pub active_parameter: usize,
}

/// Something wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its place.
    pub range: Range<usize>,
    /// Error or warning.
    pub severity: Severity,
    /// The code of the diagnostic, `WB0301`.
    pub code: &'static str,
    /// One sentence without a final full stop, lower case first letter.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
    /// A change of the text that is the remedy: a place, and what to write there instead.
    pub replacement: Option<(Range<usize>, String)>,
}

/// The file of the text, the first that its sources have.
pub(super) const TEXT: FileId = FileId(0);

/// The place of a span, where that is in the text.
pub(super) fn range(span: Span) -> Option<Range<usize>> {
    (span.file == TEXT).then_some(span.start as usize..span.end as usize)
}

/// The place of a declaration in the text.
pub(super) fn declared(known: &KnownName) -> Option<Range<usize>> {
    range(known.span)
}

impl Completion {
    /// A word without a declaration.
    pub(super) fn word(name: &str, kind: NameKind) -> Self {
        Completion { name: name.to_owned(), kind, declaration: String::new(), documentation: String::new() }
    }
}

impl Signature {
    /// The parameters in a declaration of a function; `None` for what is none.
    pub(super) fn of(declaration: String) -> Option<Self> {
        let mut depth = 0usize;
        let mut parameters = Vec::new();
        let mut start = None;
        for (at, c) in declaration.char_indices() {
            match c {
                '(' | '[' | '{' | '<' => {
                    depth += 1;
                    if c == '(' && depth == 1 {
                        // The last list is that of the parameters; one before it belongs to an attribute.
                        parameters.clear();
                        start = Some(at + 1);
                    }
                }
                ')' | ']' | '}' | '>' => {
                    depth = depth.saturating_sub(1);
                    if c == ')' && depth == 0 {
                        parameters.extend(start.take().map(|start| start..at));
                    }
                }
                ',' if depth == 1 => {
                    if let Some(start) = start.replace(at + 1) {
                        parameters.push(start..at);
                    }
                }
                _ => {}
            }
        }
        if !declaration.contains('(') {
            return None;
        }
        let trim = |range: Range<usize>| {
            let part = &declaration[range.clone()];
            let start = range.start + part.len() - part.trim_start().len();
            start..start + part.trim().len()
        };
        let parameters: Vec<Range<usize>> =
            parameters.into_iter().map(trim).filter(|range| !range.is_empty()).collect();
        Some(Signature { declaration, parameters })
    }
}

//! The cursor of an editor in a text: the place of which the front end notes, while it lowers the text, what a name there may be or means.
//!
//! For completion [`NAME`], which nothing declares, stands in the text where the cursor is: the first lookup of it notes the names that it
//! could have found. So it comes through macros like any other name. For the meaning of a name the text stays as it is.

use std::cell::RefCell;

use super::ast::{Interner, Item, TemplateParam, TemplateParamKind};
use crate::source::Span;

/// The name that stands at the cursor for completion. It is one of the library's own, which are offered to nobody.
pub const NAME: &str = "__wb_cursor";

/// Kind of a name, as editors know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// A variable of a function.
    Variable,
    /// A field of a struct.
    Field,
    /// A function, or a set of them.
    Function,
    /// A function that runs on an object.
    Method,
    /// A struct, an enum, or another name of a type.
    Type,
    /// A constant.
    Constant,
    /// A namespace.
    Namespace,
    /// A macro.
    Macro,
    /// A word of the language.
    Keyword,
    /// A word of the text, of which nothing is known.
    Text,
}

impl NameKind {
    /// The kind in a word.
    pub fn word(self) -> &'static str {
        match self {
            NameKind::Variable => "variable",
            NameKind::Field => "field",
            NameKind::Function => "function",
            NameKind::Method => "method",
            NameKind::Type => "type",
            NameKind::Constant => "constant",
            NameKind::Namespace => "namespace",
            NameKind::Macro => "macro",
            NameKind::Keyword => "keyword",
            NameKind::Text => "text",
        }
    }
}

/// A name that may stand at the cursor, or does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownName {
    /// The name.
    pub name: String,
    /// Its kind.
    pub kind: NameKind,
    /// Its declarations as C++ writes them, one for each overload; a function's as the text has it.
    pub declarations: Vec<String>,
    /// Place of the first declaration; [`Span::NONE`] for what the text does not declare.
    pub span: Span,
}

/// A question about the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The names that may stand there, of those that begin so.
    Names(String),
    /// The members that may stand there, of those that begin so: behind `.`, `->` and `::`.
    Members(String),
    /// The meaning of the name there.
    Meaning,
}

/// A cursor.
#[derive(Debug)]
pub struct Cursor {
    question: Question,
    /// Place of the name at it.
    span: Span,
    /// The names found, and the number of scopes round the place where they were looked up.
    found: RefCell<Option<(usize, Vec<KnownName>)>>,
}

impl Cursor {
    /// A cursor at a name, whose place is `span`.
    pub fn new(question: Question, span: Span) -> Self {
        Cursor { question, span, found: RefCell::new(None) }
    }

    /// The names found; `None` if nothing has looked one up there.
    pub fn into_found(self) -> Option<Vec<KnownName>> {
        self.found.into_inner().map(|(_, names)| names)
    }

    /// The beginning of the names that are wanted, where names are.
    pub(super) fn prefix(&self) -> Option<&str> {
        match &self.question {
            Question::Names(prefix) | Question::Members(prefix) => Some(prefix),
            Question::Meaning => None,
        }
    }

    /// Names of any scope may stand there.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.question, Question::Names(_))
    }

    /// The meaning of the name at this place is wanted, and has not been found.
    pub(super) fn asks_for(&self, span: Span) -> bool {
        self.question == Question::Meaning && span == self.span && self.found.borrow().is_none()
    }

    /// The place of the name whose meaning is wanted.
    pub(super) fn watched(&self) -> Option<Span> {
        (self.question == Question::Meaning).then_some(self.span)
    }

    /// True if nothing has been found within so many scopes. A lambda's body is looked through for what it captures before it is lowered in a
    /// scope of its own.
    pub(super) fn is_open(&self, depth: usize) -> bool {
        self.found.borrow().as_ref().is_none_or(|(found, _)| *found < depth)
    }

    /// Notes what was found within so many scopes; the first finding within the most stays.
    pub(super) fn note(&self, depth: usize, names: Vec<KnownName>) {
        if self.is_open(depth) {
            *self.found.borrow_mut() = Some((depth, names));
        }
    }

    /// The cursor lies between these ends of one text.
    pub(super) fn is_in(&self, span: Span) -> bool {
        span.file == self.span.file && span.start <= self.span.start && self.span.end <= span.end
    }

    /// An instance of the template of functions that it is in: nothing of a template is looked at before it is used, and this one may not
    /// be. Types are `float` there, and numbers 1.
    pub(super) fn instance_round(&self, items: &[Item], interner: &Interner) -> Option<String> {
        for item in items {
            match item {
                Item::Namespace(inner) => {
                    if let Some(found) = self.instance_round(&inner.items, interner) {
                        let path = inner.name.map(|name| format!("{}::", interner.name(name.name)));
                        return Some(path.unwrap_or_default() + &found);
                    }
                }
                Item::Function(f) => {
                    let is_round = f.body.as_ref().is_some_and(|body| self.is_in(body.span));
                    if let ([head], true) = (&f.templates[..], is_round && f.name.qualifiers().is_empty()) {
                        let args: Option<Vec<&str>> = head.params.iter().map(stand_in).collect();
                        return Some(format!("{}<{}>", interner.name(f.name.last().name), args?.join(", ")));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// An argument for a template's parameter; none where no plain one fits.
fn stand_in(param: &TemplateParam) -> Option<&'static str> {
    match param.kind {
        TemplateParamKind::Type { .. } => Some("float"),
        TemplateParamKind::Value { .. } => Some("1"),
        TemplateParamKind::Template { .. } => None,
    }
}

//! Questions of an editor about a text that is being written: what may stand at the cursor ([`complete`]), what a name means ([`hover`]), what
//! a function takes ([`signature_help`]), and what is wrong ([`problems`]). The names are those of the Language Server Protocol.
//!
//! The front end itself answers, by reading the text once with a cursor in it ([`crate::front::cursor`]); what needs no declaration comes from
//! its tables ([`catalogue`]). A text that is being written seldom parses: where the cursor's place is not reached, what is open in front of
//! it is closed behind it, and where that does not help either, the words of the text are offered. Nothing here fails, whatever the text is.
//!
//! Places are byte offsets into the text.

mod answers;
mod catalogue;
mod comments;
mod complete;
mod place;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::back;
use crate::diagnostic::Diagnostic;
pub use crate::front::cursor::NameKind;
use crate::front::cursor::{self, Cursor, KnownName, Question};
use crate::front::{self, Options};
use crate::source::{SourceMap, Span};
use crate::valid;
pub use answers::{Completion, Completions, Hover, Problem, Signature, SignatureHelp};
use answers::{TEXT, declared, range};
pub use complete::complete;
use place::{Call, Place, Within};

/// The meaning of the name at `offset` in a text; `None` where no name stands, or nothing is known of it.
pub fn hover(text: &str, offset: usize, options: &Options) -> Option<Hover> {
    let place = Place::of(text, offset);
    let name = text.get(place.word.clone()).filter(|name| !name.is_empty())?;
    let hovers = |known: KnownName| Hover {
        range: place.word.clone(),
        kind: known.kind,
        documentation: comments::documentation(text, &known),
        declared: declared(&known),
        declarations: known.declarations,
    };
    match place.within {
        Within::Nothing | Within::Include | Within::Directive => return None,
        Within::Index => return catalogue::component(name).map(|item| item.hover(place.word)),
        Within::Code | Within::Member | Within::Std => {}
    }
    let is_free = matches!(place.within, Within::Code | Within::Std);
    if let Some(known) = place.macros.iter().find(|known| place.within == Within::Code && known.name == name) {
        return Some(hovers(known.clone()));
    }
    let found = look(text, options, || Question::Meaning, place.word.clone());
    if let Some(known) = found.into_iter().flatten().next() {
        return Some(hovers(known));
    }
    if is_free { catalogue::of(name).map(|item| item.hover(place.word)) } else { None }
}

/// The function that is called round `offset` in a text, and the argument that it is in.
pub fn signature_help(text: &str, offset: usize, options: &Options) -> Option<SignatureHelp> {
    let Call { callee, argument, arguments } = place::call(text, offset)?;
    let Some(callee) = callee else { return Some(catalogue::launch(argument)) };
    let found = hover(text, callee, options)?;
    let signatures: Vec<Signature> = found.declarations.into_iter().filter_map(Signature::of).collect();
    if signatures.is_empty() {
        return None;
    }
    let active_signature = signatures.iter().position(|s| s.parameters.len() >= arguments).unwrap_or(0);
    let documentation = found.documentation;
    Some(SignatureHelp { signatures, documentation, active_signature, active_parameter: argument })
}

/// Everything that is wrong with a text, in the order of its places.
pub fn problems(text: &str, options: &Options) -> Vec<Problem> {
    let mut sources = SourceMap::new();
    let (module, mut diags) =
        front::compile_with(&mut sources, "<kernel>", text, options, Some(back::cpu::known), None);
    if !diags.iter().any(Diagnostic::is_error) {
        diags.extend(valid::validate(&module));
    }
    let mut found: Vec<Problem> = diags.into_iter().filter_map(|diag| problem(text, diag)).collect();
    found.sort_by_key(|problem| problem.range.start);
    found
}

fn problem(text: &str, diag: Diagnostic) -> Option<Problem> {
    let range = range(diag.span)?;
    // A token of a macro has the place of the macro's use, which says something else.
    let is_meant = |at: &Range<usize>| match text.get(at.clone()) {
        Some("" | ".") => true,
        Some(old) => diag.message.contains(&format!("{old}`")),
        None => false,
    };
    let replacement = diag.replacement.as_ref().and_then(|(span, new)| {
        let at = self::range(*span)?;
        is_meant(&at).then(|| (at, new.clone()))
    });
    Some(Problem {
        range,
        severity: diag.severity,
        code: diag.code.id(),
        message: diag.message,
        help: diag.help.unwrap_or_default(),
        replacement,
    })
}

/// Reads the text with a cursor at a word: as it is, then with what is open in front of it closed behind it.
fn look(text: &str, options: &Options, question: impl Fn() -> Question, at: Range<usize>) -> Option<Vec<KnownName>> {
    let word = match question() {
        Question::Meaning => &text[at.clone()],
        Question::Names(_) | Question::Members(_) => cursor::NAME,
    };
    let head = format!("{}{word}", &text[..at.start]);
    let span = Span::new(TEXT, u32::try_from(at.start).ok()?, u32::try_from(head.len()).ok()?);
    ["", place::closers(&text[..at.start]).as_str()].into_iter().find_map(|closers| {
        let cursor = Cursor::new(question(), span);
        let mut sources = SourceMap::new();
        let file = sources.add("<kernel>", format!("{head}{closers}{}", &text[at.end..]));
        front::look(&mut sources, file, options, Some(back::cpu::known), &cursor);
        let mut found = cursor.into_found()?;
        // Places behind the cursor are those of the text that was read.
        let longer = (head.len() + closers.len()).cast_signed() - at.end.cast_signed();
        let is_behind = |known: &&mut KnownName| known.span.file == TEXT && known.span.start as usize >= head.len();
        for known in found.iter_mut().filter(is_behind) {
            let moved = |at: u32| (at as isize - longer) as u32;
            known.span = Span { start: moved(known.span.start), end: moved(known.span.end), ..known.span };
        }
        Some(found)
    })
}

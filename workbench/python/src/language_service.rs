//! Questions of editors about a text, for `workbench.language_service`. Offsets are in characters, as Python counts them.

use std::collections::BTreeMap;
use std::ops::Range;

use pyo3::prelude::*;
use workbench::diagnostic::Severity;
use workbench::front::Options;
use workbench::language_service::{self as service, Hover, NameKind};

/// Characters of a text and their bytes.
struct Places<'t>(&'t str);

impl Places<'_> {
    fn byte(&self, character: usize) -> usize {
        self.0.char_indices().nth(character).map_or(self.0.len(), |(at, _)| at)
    }

    fn character(&self, byte: usize) -> usize {
        self.0.get(..byte).map_or(0, |before| before.chars().count())
    }

    fn range(&self, bytes: &Range<usize>) -> (usize, usize) {
        (self.character(bytes.start), self.character(bytes.end))
    }
}

fn options(defines: Vec<(String, String)>, headers: BTreeMap<String, String>) -> Options {
    Options { defines, headers, ..Options::default() }
}

/// A name, its kind in a word, its declaration, its documentation.
type Item = (String, &'static str, String, String);

/// The names that may stand at a place: the range of what they replace, and the names.
#[pyfunction]
pub fn complete(
    py: Python<'_>,
    source: &str,
    offset: usize,
    defines: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
) -> (usize, usize, Vec<Item>) {
    let places = Places(source);
    let found = py.detach(|| service::complete(source, places.byte(offset), &options(defines, headers)));
    let (start, end) = places.range(&found.replaced);
    let item = |item: service::Completion| (item.name, item.kind.word(), item.declaration, item.documentation);
    (start, end, found.items.into_iter().map(item).collect())
}

/// The range of a name, its kind, its declarations, its documentation, and the range of its declaration.
type Meaning = ((usize, usize), &'static str, Vec<String>, String, Option<(usize, usize)>);

/// The meaning of the name at a place.
#[pyfunction]
pub fn hover(
    py: Python<'_>,
    source: &str,
    offset: usize,
    defines: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
) -> Option<Meaning> {
    let places = Places(source);
    let found = py.detach(|| service::hover(source, places.byte(offset), &options(defines, headers)))?;
    let Hover { range, kind, declarations, documentation, declared } = found;
    let declared = declared.map(|declared| places.range(&declared));
    Some((places.range(&range), NameKind::word(kind), declarations, documentation, declared))
}

/// Overloads with the ranges of their parameters, documentation, the active overload, the active parameter.
type Help = (Vec<(String, Vec<(usize, usize)>)>, String, usize, usize);

/// The function that is called round a place.
#[pyfunction]
pub fn signature_help(
    py: Python<'_>,
    source: &str,
    offset: usize,
    defines: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
) -> Option<Help> {
    let byte = Places(source).byte(offset);
    let found = py.detach(|| service::signature_help(source, byte, &options(defines, headers)))?;
    let signature = |signature: service::Signature| {
        let places = Places(&signature.declaration);
        let parameters = signature.parameters.iter().map(|range| places.range(range)).collect();
        (signature.declaration, parameters)
    };
    let signatures = found.signatures.into_iter().map(signature).collect();
    Some((signatures, found.documentation, found.active_signature, found.active_parameter))
}

/// A range, error or warning, code, message, help, and a replacement: a range and its new text.
type Problem = ((usize, usize), &'static str, &'static str, String, String, Option<((usize, usize), String)>);

/// Everything that is wrong with a text.
#[pyfunction]
pub fn problems(
    py: Python<'_>,
    source: &str,
    defines: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
) -> Vec<Problem> {
    let found = py.detach(|| service::problems(source, &options(defines, headers)));
    let places = Places(source);
    let problem = |problem: service::Problem| {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        let replacement = problem.replacement.map(|(range, text)| (places.range(&range), text));
        (places.range(&problem.range), severity, problem.code, problem.message, problem.help, replacement)
    };
    found.into_iter().map(problem).collect()
}

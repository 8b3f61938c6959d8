//! Completion: the names that may stand at the cursor.

use super::answers::{Completion, Completions};
use super::place::{Place, Within};
use super::{catalogue, comments, look};
use crate::front::Options;
use crate::front::cursor::{KnownName, NameKind, Question};

/// Names that may stand at `offset` in a text.
pub fn complete(text: &str, offset: usize, options: &Options) -> Completions {
    let place = Place::of(text, offset);
    let prefix = &text[place.word.start..place.offset];
    let replaced = place.word.start..place.offset;
    let begins = |name: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let mut items = match &place.within {
        Within::Nothing => Vec::new(),
        Within::Directive => catalogue::directives(),
        Within::Include => catalogue::headers(options),
        Within::Index => catalogue::components(),
        Within::Code | Within::Member | Within::Std => {
            let question = || match place.within {
                Within::Code => Question::Names(prefix.to_owned()),
                _ => Question::Members(prefix.to_owned()),
            };
            let found = look(text, options, question, place.word.clone());
            let is_known = found.is_some();
            let mut items: Vec<Completion> =
                found.unwrap_or_default().into_iter().map(|name| completion(text, name)).collect();
            if place.within == Within::Code {
                items.extend(place.macros.iter().map(|name| completion(text, name.clone())));
                // An empty word could be anything.
                items.extend(if prefix.is_empty() { catalogue::variables() } else { catalogue::all() });
                items.extend(catalogue::keywords());
                items.extend(options.defines.iter().map(|(name, value)| catalogue::macro_of(name, value)));
                if !prefix.is_empty() {
                    items.extend(catalogue::macros());
                }
            }
            if place.within == Within::Std {
                items.extend(catalogue::of_std());
            }
            if !is_known {
                let words = if place.within == Within::Code { &place.words } else { &place.members };
                items.extend(words.iter().map(|word| Completion::word(word, NameKind::Text)));
            }
            items
        }
    };
    let mut seen = std::collections::HashSet::new();
    items.retain(|item| begins(&item.name) && seen.insert(item.name.clone()));
    Completions { replaced, items }
}

fn completion(text: &str, known: KnownName) -> Completion {
    let documentation = comments::documentation(text, &known);
    let declaration = known.declarations.into_iter().next().unwrap_or_default();
    Completion { name: known.name, kind: known.kind, declaration, documentation }
}

//! Translation units that are read as one text: `load_inline`'s C++ and CUDA sources, the files of `load`. A compiler would never see them
//! together, so what one of them keeps to itself another may have as well. What both say alike is read once; a `static` function or a
//! name in an anonymous namespace that they mean differently gets a name of its own in the later one.

use super::ast::{Interner, Symbol};
use super::lexer::{Keyword as K, Token, TokenKind as T};
use super::spare::{Declaration, declarations};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// What sets a renamed name apart: not visible in messages, and no character of an identifier.
const APART: char = '\u{200b}';

/// Takes apart what units declare twice. `starts` are the places in `tokens` where units begin.
pub(super) fn separate(tokens: &mut Vec<Token>, starts: &[usize], interner: &mut Interner) {
    let filled: Vec<usize> = starts.iter().copied().filter(|at| *at + 1 < tokens.len()).collect();
    if filled.len() < 2 {
        return;
    }
    let unit_of = |at: usize| filled.iter().filter(|start| **start <= at).count();
    let all: Vec<Declaration> = declarations(tokens, interner);
    let anonymous = anonymous_namespaces(tokens);
    let is_private = |d: &Declaration| {
        let head = tokens[d.start..d.end].iter().take_while(|t| !matches!(t.kind, T::LBrace | T::LParen | T::Assign));
        head.into_iter().any(|t| t.kind == T::Keyword(K::Static))
            || anonymous.iter().any(|(from, to)| *from < d.start && d.end <= *to)
    };
    let mut by_name: HashMap<Symbol, Vec<usize>> = HashMap::default();
    for (i, d) in all.iter().enumerate() {
        d.names.iter().for_each(|name| by_name.entry(*name).or_default().push(i));
    }
    let mut dropped: Vec<(usize, usize)> = Vec::new();
    let mut renamed: HashSet<(usize, Symbol)> = HashSet::default();
    for (name, places) in &by_name {
        for (at, &later) in places.iter().enumerate() {
            let unit = unit_of(all[later].start);
            let others = || places[..at].iter().filter(|&&i| unit_of(all[i].start) < unit);
            let same =
                |&&i: &&usize| alike(&tokens[all[i].start..all[i].end], &tokens[all[later].start..all[later].end]);
            if others().any(|i| same(&i)) {
                dropped.push((all[later].start, all[later].end));
            } else if is_private(&all[later]) && others().any(|&i| is_private(&all[i])) {
                renamed.insert((unit, *name));
            }
        }
    }
    let mut spelled: HashMap<(usize, Symbol), Symbol> = HashMap::default();
    for &(unit, name) in &renamed {
        let text = format!("{}{}", interner.name(name), APART.to_string().repeat(unit - 1));
        spelled.insert((unit, name), interner.intern(&text));
    }
    if !spelled.is_empty() {
        for (at, token) in tokens.iter_mut().enumerate().filter(|(_, t)| t.kind == T::Ident) {
            if let Some(other) = spelled.get(&(unit_of(at), token.symbol)) {
                token.symbol = *other;
            }
        }
    }
    if dropped.is_empty() {
        return;
    }
    // A unit that has its own of a name needs all that it says of it.
    let keeps = |(start, end): &(usize, usize)| {
        all.iter().any(|d| {
            (d.start, d.end) == (*start, *end) && d.names.iter().any(|n| renamed.contains(&(unit_of(*start), *n)))
        })
    };
    dropped.retain(|range| !keeps(range));
    dropped.sort_unstable();
    dropped.dedup();
    let mut at = 0;
    let mut ranges = dropped.into_iter().peekable();
    tokens.retain(|_| {
        while ranges.next_if(|(_, end)| *end <= at).is_some() {}
        let inside = ranges.peek().is_some_and(|(start, end)| (*start..*end).contains(&at));
        at += 1;
        !inside
    });
}

/// Whether two declarations are the same word for word.
fn alike(a: &[Token], b: &[Token]) -> bool {
    let same = |(x, y): (&Token, &Token)| x.kind == y.kind && (!x.kind.has_symbol() || x.symbol == y.symbol);
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Where `namespace { .. }` begin and end.
fn anonymous_namespaces(tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            T::LBrace => {
                let is = at > 0 && tokens[at - 1].kind == T::Keyword(K::Namespace);
                open.push(is.then_some(at));
            }
            T::RBrace => {
                if let Some(Some(start)) = open.pop() {
                    found.push((start, at));
                }
            }
            _ => {}
        }
    }
    found
}

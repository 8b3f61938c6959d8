//! Scopes: which declaration a name means at a point of the text, and which known name a misspelled one is nearest to.

use super::tree::{FuncIndex, VarId};
use crate::front::ast::Symbol;
use crate::front::types::Ty;
use crate::ir::Const;
use crate::source::Span;

/// What a name means.
#[derive(Debug, Clone)]
pub enum Decl {
    /// A variable or parameter.
    Var(VarId),
    /// A type: typedef, alias, enum.
    Type(Ty),
    /// A constant of an enum.
    Constant(Ty, Const),
    /// A function with its overloads.
    Functions(Vec<FuncIndex>),
}

struct Entry {
    symbol: Symbol,
    decl: Decl,
    span: Span,
    depth: u32,
    /// The entry this one hides.
    hidden: u32,
}

const NONE: u32 = u32::MAX;

/// All names in scope. Lookup is one index: for each symbol the head of the chain of its declarations.
#[derive(Default)]
pub struct Scopes {
    heads: Vec<u32>,
    entries: Vec<Entry>,
    marks: Vec<usize>,
}

impl Scopes {
    fn head(&self, symbol: Symbol) -> u32 {
        self.heads.get(symbol.0 as usize).copied().unwrap_or(NONE)
    }

    /// What a name means here.
    pub fn lookup(&self, symbol: Symbol) -> Option<&Decl> {
        self.entries.get(self.head(symbol) as usize).map(|e| &e.decl)
    }

    /// What a name means here, to be changed.
    pub fn lookup_mut(&mut self, symbol: Symbol) -> Option<&mut Decl> {
        let head = self.head(symbol);
        self.entries.get_mut(head as usize).map(|e| &mut e.decl)
    }

    /// Where the meaning of a name was declared.
    pub fn span(&self, symbol: Symbol) -> Option<Span> {
        self.entries.get(self.head(symbol) as usize).map(|e| e.span)
    }

    /// Declares a name in the current scope; gives back the place of a declaration that is already there.
    pub fn declare(&mut self, symbol: Symbol, decl: Decl, span: Span) -> Result<(), Span> {
        let (depth, hidden) = (self.depth(), self.head(symbol));
        if let Some(old) = self.entries.get(hidden as usize)
            && old.depth == depth
        {
            return Err(old.span);
        }
        let index = symbol.0 as usize;
        if self.heads.len() <= index {
            self.heads.resize(index + 64, NONE);
        }
        self.heads[index] = self.entries.len() as u32;
        self.entries.push(Entry { symbol, decl, span, depth, hidden });
        Ok(())
    }

    /// How many scopes are open besides the global one.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.marks.push(self.entries.len());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        for entry in self.entries.drain(mark..).rev() {
            self.heads[entry.symbol.0 as usize] = entry.hidden;
        }
    }

    /// Every name in scope.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.entries.iter().map(|e| e.symbol)
    }
}

/// The candidate nearest to a misspelled name, if one is near enough to be meant.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl Iterator<Item = S>) -> Option<String> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates {
        let candidate = candidate.as_ref();
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let near = distance(name, candidate);
        // One letter is near to every other one: only the case may differ.
        let short = name.chars().count() < 3 && !name.eq_ignore_ascii_case(candidate);
        if near <= limit && !short && best.as_ref().is_none_or(|(least, _)| near < *least) {
            best = Some((near, candidate.to_owned()));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edit distance (insert, delete, replace, swap neighbours); a change of case alone counts nothing, so it wins.
fn distance(a: &str, b: &str) -> usize {
    let fold = |s: &str| s.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (a, b) = (fold(a), fold(b));
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_scopes_hide_outer_ones_until_they_close() {
        let (mut scopes, x) = (Scopes::default(), Symbol(3));
        let var = |i| Decl::Var(VarId(i));
        assert!(scopes.declare(x, var(0), Span::NONE).is_ok());
        assert!(scopes.declare(x, var(1), Span::NONE).is_err());
        scopes.open();
        assert!(scopes.declare(x, var(2), Span::NONE).is_ok());
        assert!(matches!(scopes.lookup(x), Some(Decl::Var(VarId(2)))));
        scopes.close();
        assert!(matches!(scopes.lookup(x), Some(Decl::Var(VarId(0)))));
    }

    #[test]
    fn misspelled_names_find_the_nearest_known_one() {
        let known = || ["threadIdx", "blockIdx", "sqrtf", "n", "value"].into_iter();
        assert_eq!(nearest("threadidx", known()).as_deref(), Some("threadIdx"));
        assert_eq!(nearest("sqtrf", known()).as_deref(), Some("sqrtf"));
        assert_eq!(nearest("vlaue", known()).as_deref(), Some("value"));
        assert_eq!(nearest("N", known()).as_deref(), Some("n"));
        assert_eq!(nearest("q", known()), None);
        assert_eq!(nearest("result", known()), None);
    }
}

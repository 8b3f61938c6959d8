//! The syntax tree: what the parser hands to `lower`. It holds what was written, resolved in nothing.
//!
//! Names are [`Symbol`]s of the session's [`Interner`]. Boxes, not arenas: trees are short-lived and small, but for those of the library,
//! which all compilations share. What several declarators of one declaration have in common (template arguments, structs) is shared, so that a tree grows with its text
//! only. A template is kept as written: whoever instantiates it walks its tree again.

mod decl;
mod expr;
mod name;
mod stmt;

pub use decl::*;
pub use expr::*;
pub use name::*;
pub use stmt::*;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::Arc;

/// An interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The handle that tokens without a name have; its name is empty.
    pub const NONE: Symbol = Symbol(u32::MAX);
}

/// Names to handles and back.
#[derive(Debug, Clone, Default)]
struct NameTable {
    map: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl NameTable {
    fn add(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.map.get(name) {
            return index;
        }
        let shared: Arc<str> = name.into();
        let index = self.names.len() as u32;
        self.names.push(shared.clone());
        self.map.insert(shared, index);
        index
    }
}

/// The names of one compilation: those that its text mentions, and behind them those of the library, which all compilations share and of
/// which it has met those that it was asked for.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    common: Arc<NameTable>,
    /// Names of `common` that have been met.
    met: Vec<bool>,
    /// The others; their handles follow.
    own: NameTable,
}

impl Interner {
    /// Knows the names of `library`, of which none has been met.
    pub fn beside(library: &Interner) -> Self {
        debug_assert!(library.own.names.is_empty(), "names in common are sealed");
        let common = library.common.clone();
        Interner { met: vec![false; common.names.len()], common, own: NameTable::default() }
    }

    /// The name is one that the library mentions.
    pub fn is_common(&self, symbol: Symbol) -> bool {
        (symbol.0 as usize) < self.common.names.len()
    }

    /// Makes all its names common ones, with the handles that they have.
    pub fn seal(&mut self) {
        let common = Arc::make_mut(&mut self.common);
        for name in std::mem::take(&mut self.own).names {
            common.add(&name);
        }
        self.met = vec![true; common.names.len()];
    }

    /// The handle of a name.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&index) = self.common.map.get(name) {
            self.met[index as usize] = true;
            return Symbol(index);
        }
        Symbol(self.common.names.len() as u32 + self.own.add(name))
    }

    /// The handle of a name of the library's.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.common.map.get(name).map(|index| Symbol(*index))
    }

    /// The names of the library that have been met.
    pub fn met(&self) -> impl Iterator<Item = Symbol> {
        self.met.iter().enumerate().filter(|(_, met)| **met).map(|(index, _)| Symbol(index as u32))
    }

    /// The name has been met.
    pub fn contains(&self, name: &str) -> bool {
        match self.common.map.get(name) {
            Some(&index) => self.met[index as usize],
            None => self.own.map.contains_key(name),
        }
    }

    /// The name of a handle; that of [`Symbol::NONE`] is empty.
    pub fn name(&self, symbol: Symbol) -> &str {
        if symbol == Symbol::NONE {
            return "";
        }
        let index = symbol.0 as usize;
        self.common.names.get(index).unwrap_or_else(|| &self.own.names[index - self.common.names.len()])
    }
}

/// A whole text.
#[derive(Debug, Clone, Default)]
pub struct TranslationUnit {
    /// Top-level declarations, in order.
    pub items: Vec<Item>,
    /// Names whose declaration has been reported and left out (statements that do not parse, what is not supported). Later
    /// stages stay silent about their uses.
    pub skipped: HashSet<Symbol>,
}

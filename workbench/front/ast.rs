//! The syntax tree: what the parser hands to `lower`. It holds what was written, resolved in nothing.
//!
//! Names are [`Symbol`]s of the session's [`Interner`]. Boxes, not arenas: trees are short-lived and small. What several
//! declarators of one declaration have in common (template arguments, structs) is shared, so that a tree grows with its text
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
use std::rc::Rc;

/// An interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// Names to handles and back, for one compilation.
#[derive(Debug, Default)]
pub struct Interner {
    map: HashMap<Rc<str>, Symbol>,
    names: Vec<Rc<str>>,
}

impl Interner {
    /// The handle of a name.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&s) = self.map.get(name) {
            return s;
        }
        let rc: Rc<str> = name.into();
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(rc.clone());
        self.map.insert(rc, symbol);
        symbol
    }

    /// The names that have been met.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Whether a name has been met.
    pub fn contains(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// The name of a handle.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0 as usize]
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

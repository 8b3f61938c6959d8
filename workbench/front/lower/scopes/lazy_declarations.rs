//! Lazy declarations: declarations of the library, lowered when a lookup meets their names. A text of tensors looks up a small part of what
//! those mention in turn.
//!
//! A lookup that comes to a namespace of the library's, or to a struct of it, where declarations of the name wait, stops there ([`Waits`]);
//! they are lowered as if nothing else were being lowered, and the lookup starts again. So every lookup of the lowerer goes through
//! `Lowerer::lookup`, `lookup_in` or `here`. A declaration asks for those before it alone, as in any text of C++: no two wait for each
//! other. Bodies come later and ask for all. A declaration would also see later ones that somebody has asked for; the library is written so
//! that they mean nothing to it, and the tests look all of it up, each declaration alone and in three orders.
//!
//! Operators are looked up by their sign, which many share: one waits until a type that it is for has been lowered. Constructors, operators
//! and fields of a struct belong to it; its other functions wait for their names.

use std::mem::{replace, take};

use super::names::{Decl, GLOBAL, ScopeId, ScopeKind, Waits};
use crate::front::ast::{Item, Symbol};
use crate::front::library_cache::{Library, LibraryNamespaceId, declared};
use crate::front::lower::{FuncState, Lowerer};

/// Declarations at namespace scope that wait.
pub struct LazyDeclarations<'a> {
    library: &'a Library<'a>,
    /// True for each declaration that has been lowered, or that stands in a text which the compilation has not.
    done: Vec<bool>,
    /// The number of declarations of each symbol that are not lowered.
    left: Vec<u16>,
    /// True for each symbol of a type that has been lowered.
    known: Vec<bool>,
    /// The declaration being lowered; what stands after it is not seen.
    limit: u32,
}

impl<'a> LazyDeclarations<'a> {
    /// All of a library.
    pub fn new(library: &'a Library<'a>) -> Self {
        let left = library.counts();
        LazyDeclarations { library, done: library.closed(), known: vec![false; left.len()], left, limit: u32::MAX }
    }

    /// Declarations of the name wait in a namespace.
    pub fn has(&self, space: LibraryNamespaceId, symbol: Symbol) -> bool {
        let left = self.left.get(symbol.0 as usize).copied().unwrap_or(0);
        left > 0 && self.library.declarations(space, symbol).iter().any(|number| self.is_next(*number))
    }

    fn is_next(&self, number: u32) -> bool {
        let is_known = |symbol: &Symbol| self.known.get(symbol.0 as usize).copied().unwrap_or(false);
        number < self.limit && !self.done[number as usize] && {
            let types = self.library.types(number);
            types.is_empty() || types.iter().any(is_known)
        }
    }

    /// Notes that a type is known, so that operators may be for it.
    pub fn know(&mut self, symbol: Symbol) {
        if let Some(known) = self.known.get_mut(symbol.0 as usize) {
            *known = true;
        }
    }

    /// Every name that the library declares in a namespace.
    pub fn names(&self, space: LibraryNamespaceId) -> impl Iterator<Item = Symbol> {
        self.library.names_in(space)
    }

    /// The declarations of a name in a namespace of the library.
    pub fn items(&self, space: LibraryNamespaceId, symbol: Symbol) -> impl Iterator<Item = &'a Item> {
        self.library.declarations(space, symbol).iter().map(|number| self.library.declaration(*number).0)
    }

    /// A declaration of the library's is being lowered.
    pub fn is_declaring(&self) -> bool {
        self.limit != u32::MAX
    }
}

impl<'a> Lowerer<'a> {
    /// The meaning of a name here.
    pub(in crate::front::lower) fn lookup(&mut self, symbol: Symbol) -> Option<Decl> {
        self.look_round(symbol);
        loop {
            match self.scopes.lookup(symbol) {
                Ok(found) => return found,
                Err(Waits(scope)) => self.declare_lazily(scope, symbol),
            }
        }
    }

    /// The meaning of a name in a scope itself and in those visible through it.
    pub(in crate::front::lower) fn lookup_in(&mut self, scope: ScopeId, symbol: Symbol) -> Option<Decl> {
        self.look_into(scope, symbol);
        loop {
            match self.scopes.member(scope, symbol) {
                Ok(found) => return found,
                Err(Waits(scope)) => self.declare_lazily(scope, symbol),
            }
        }
    }

    /// The meaning of a name in the current scope itself, those round it left out.
    pub(in crate::front::lower) fn here(&mut self, symbol: Symbol) -> Option<Decl> {
        self.settle(symbol);
        self.scopes.here(symbol).cloned()
    }

    /// Lowers what waits by a name in the current scope itself.
    pub(in crate::front::lower) fn settle(&mut self, symbol: Symbol) {
        let scope = self.scopes.current();
        if self.scopes.waits(scope, symbol) {
            self.declare_lazily(scope, symbol);
        }
    }

    /// Lowers what waits in a scope by a name.
    fn declare_lazily(&mut self, scope: ScopeId, symbol: Symbol) {
        if let Some(space) = self.scopes.space(scope) {
            for &number in self.library.declarations(space, symbol) {
                if self.scopes.lazy.is_next(number) {
                    self.declare_number(number, scope);
                }
            }
            return;
        }
        let members = self.scopes.ask(scope, symbol);
        let ScopeKind::Class(id) = self.scopes.kind(scope) else { return };
        let class = self.class(id);
        let (ty, context) = (class.ty.clone(), class.context.clone());
        self.apart(scope, |this| {
            this.context = context;
            let (mut fields, mut methods) = (Vec::new(), Vec::new());
            for member in members {
                this.member_declaration(&ty, member, &mut fields, &mut methods);
            }
            methods.into_iter().for_each(|method| this.method_declaration(&ty, method));
        });
    }

    /// Lowers a declaration of the library in the scope of its namespace.
    fn declare_number(&mut self, number: u32, scope: ScopeId) {
        let (item, _) = self.library.declaration(number);
        let lazy = &mut self.scopes.lazy;
        lazy.done[number as usize] = true;
        for name in declared(item) {
            lazy.left[name.0 as usize] -= 1;
            lazy.know(name);
        }
        let limit = replace(&mut lazy.limit, number);
        self.apart(scope, |this| this.item(item));
        self.scopes.lazy.limit = limit;
    }

    /// Does something in a scope of the library as if nothing else were being lowered.
    fn apart(&mut self, scope: ScopeId, does: impl FnOnce(&mut Self)) {
        let here = self.scopes.enter(scope);
        let saw = self.scopes.see_library(true);
        let f = replace(&mut self.f, FuncState::outside());
        let (context, held, obstacle) = (take(&mut self.context), take(&mut self.held), take(&mut self.obstacle_found));
        let (quiet, failed, unevaluated) = (take(&mut self.quiet), take(&mut self.failed), take(&mut self.unevaluated));
        let (depth, list_depth) = (take(&mut self.depth), take(&mut self.list_depth));
        does(self);
        (self.depth, self.list_depth) = (depth, list_depth);
        (self.quiet, self.failed, self.unevaluated) = (quiet, failed, unevaluated);
        (self.context, self.held, self.obstacle_found) = (context, held, obstacle);
        self.f = f;
        self.scopes.see_library(saw);
        self.scopes.enter(here);
    }

    /// Makes the namespaces of the library, and lowers what nobody looks up.
    pub(in crate::front::lower) fn open_library(&mut self) {
        let library = self.library;
        let mut scopes = vec![GLOBAL];
        for (LibraryNamespaceId(at), space) in library.spaces() {
            let parent = scopes[space.parent.0 as usize];
            let scope = self.scopes.create(ScopeKind::Namespace, parent, Some(space.name));
            self.scopes.stand_for(scope, LibraryNamespaceId(at));
            self.scopes.redeclare(parent, space.name, Decl::Namespace(scope), space.span);
            if space.is_inline {
                self.scopes.also(parent, scope);
            }
            scopes.resize(at as usize + 1, GLOBAL);
            scopes[at as usize] = scope;
        }
        for number in library.unnamed() {
            let (_, LibraryNamespaceId(at)) = library.declaration(number);
            self.declare_number(number, scopes[at as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::front::ast::{Interner, TranslationUnit};
    use crate::front::library_cache::LibraryCache;
    use crate::front::lower::FuncInfo;
    use crate::library::all;
    use crate::source::SourceMap;

    /// Looks up what has these numbers, and all members of the classes that there are then; what there is at the end, and what was said.
    fn look_up(cache: &LibraryCache, numbers: &[u32]) -> (Vec<String>, Vec<Diagnostic>) {
        let (mut sources, mut diags, unit) = (SourceMap::new(), Vec::new(), TranslationUnit::default());
        let mut interner = Interner::beside(&cache.interner);
        let library = cache.library(&all(), &mut sources, &interner, None);
        let mut lowerer = Lowerer::new(&library, &unit, None, &sources, &mut interner, &mut diags);
        lowerer.open_library();
        let mut scopes = vec![GLOBAL];
        for (LibraryNamespaceId(at), space) in library.spaces() {
            let found = lowerer.lookup_in(scopes[space.parent.0 as usize], space.name);
            let Some(Decl::Namespace(scope)) = found else { unreachable!("all namespaces are there") };
            scopes.resize(at as usize + 1, GLOBAL);
            scopes[at as usize] = scope;
        }
        // Twice: an operator waits for a type that it is for, which may come after it.
        for &number in numbers.iter().chain(numbers) {
            let (item, LibraryNamespaceId(at)) = library.declaration(number);
            for name in declared(item) {
                let found = lowerer.lookup_in(scopes[at as usize], name).is_some();
                assert!(found || !library.types(number).is_empty(), "{}", lowerer.interner.name(name));
            }
        }
        let mut at = 0;
        while at < lowerer.classes.len() {
            let (scope, decl) = (lowerer.classes[at].scope, lowerer.classes[at].decl);
            let mut names: Vec<Symbol> = decl.into_iter().flat_map(|decl| decl.waiting.keys().copied()).collect();
            names.sort_unstable();
            for name in names {
                assert!(lowerer.lookup_in(scope, name).is_some(), "{}", lowerer.interner.name(name));
            }
            at += 1;
        }
        let shown = |f: &FuncInfo<'_>| {
            let params: Vec<String> = f.params.iter().map(ToString::to_string).collect();
            format!("{} {}({}) at {:?}", f.ret, f.display, params.join(", "), f.span)
        };
        // Instances of templates come and go with what is tried on the way.
        let is_written = |f: &&FuncInfo<'_>| f.template.is_none() && !f.display.contains('<');
        let mut functions: Vec<String> = lowerer.funcs.iter().filter(is_written).map(shown).collect();
        functions.sort();
        drop(lowerer);
        (functions, diags)
    }

    #[test]
    fn the_library_means_the_same_in_whatever_order_it_is_looked_up() {
        let cache = LibraryCache::default().with(&all());
        let count = cache.library(&all(), &mut SourceMap::new(), &Interner::default(), None).closed().len() as u32;
        let forward: Vec<u32> = (0..count).collect();
        let (first, diags) = look_up(&cache, &forward);
        assert_eq!(diags, []);
        assert!(first.len() > 1000, "{}", first.len());
        let backward: Vec<u32> = (0..count).rev().collect();
        // The order jumps from place to place.
        let mixed: Vec<u32> = (0..count).map(|i| (u64::from(i) * 7919 % u64::from(count)) as u32).collect();
        for order in [backward, mixed] {
            let (functions, diags) = look_up(&cache, &order);
            assert_eq!(diags, []);
            let differs = functions.iter().zip(&first).find(|(a, b)| a != b);
            assert_eq!((differs, functions.len()), (None, first.len()));
        }
    }

    #[test]
    fn a_declaration_of_the_library_needs_no_other_to_be_looked_up_before() {
        let cache = LibraryCache::default().with(&all());
        let count = cache.library(&all(), &mut SourceMap::new(), &Interner::default(), None).closed().len() as u32;
        for number in 0..count {
            let (_, diags) = look_up(&cache, &[number]);
            assert_eq!(diags, [], "{number}");
        }
    }
}

//! Scopes: which declaration a name means at a point of the text.
//!
//! Scopes form a tree that only grows: a template's instance, a local struct or a lambda is lowered later, in the scope it
//! was written in.

use std::collections::{HashSet, hash_map};
use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use super::lazy_declarations::LazyDeclarations;
use crate::front::ast::{Member, Symbol};
use crate::front::library_cache::{Library, LibraryNamespaceId};
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex, Typed, VarId};
use crate::front::types::{Bits, Field, Ty};
use crate::ir::Const;
use crate::source::Span;
use crate::steps::step;

/// A scope: an index into [`Scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(u32);

/// The outermost scope.
pub const GLOBAL: ScopeId = ScopeId(0);

/// A function or a template of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callable {
    /// A function.
    Func(FuncIndex),
    /// A template.
    Template(TemplateIndex),
}

/// Functions of a set that another one does not have.
pub fn fresh(known: &[Callable], more: &[Callable]) -> Vec<Callable> {
    /// Most declarations that are looked through.
    const FEW: usize = 16;
    if known == more {
        return Vec::new();
    }
    if known.len() <= FEW {
        return more.iter().filter(|c| !known.contains(c)).copied().collect();
    }
    let known: HashSet<Callable> = known.iter().copied().collect();
    more.iter().filter(|c| !known.contains(c)).copied().collect()
}

/// A template argument, in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TArg {
    /// A type.
    Type(Ty),
    /// A constant of integer, `bool` or enumeration type, extended to 64 bits.
    Value(Ty, i64),
    /// A function.
    Function(FuncIndex),
    /// A template.
    Template(TemplateIndex),
    /// Arguments that a parameter pack stands for.
    Pack(Rc<[TArg]>),
}

/// Meaning of a name.
#[derive(Debug, Clone)]
pub enum Decl {
    /// A variable or parameter.
    Var(VarId),
    /// A type: typedef, alias, enum, struct, a template's type parameter.
    Type(Ty),
    /// A constant of an enum, or a template's constant parameter.
    Constant(Ty, Const),
    /// A function with its overloads.
    Functions(Rc<[Callable]>),
    /// A namespace.
    Namespace(ScopeId),
    /// A template of structs, aliases or variables.
    Template(TemplateIndex),
    /// A field of a struct.
    Field(Rc<FieldDecl>),
    /// Something that reads as an expression: a captured variable, a part of a structured binding.
    Place(Rc<Typed>),
    /// A template's parameter pack.
    Pack(Rc<[TArg]>),
    /// A function's parameter pack.
    Vars(Rc<[VarId]>),
}

/// A field as a name.
#[derive(Debug)]
pub struct FieldDecl {
    /// The struct's id.
    pub owner: u32,
    /// The offset in bytes from its start.
    pub offset: u32,
    /// Declared type.
    pub ty: Ty,
    /// Bits, where it is a bit-field.
    pub bits: Option<Bits>,
    /// Written even in a const object.
    pub mutable: bool,
}

impl FieldDecl {
    /// The field of a struct that stands so many bytes into the owner.
    pub fn of(owner: u32, field: &Field, base: u32) -> FieldDecl {
        let offset = base + field.offset;
        FieldDecl { owner, offset, ty: field.ty.clone(), bits: field.bits, mutable: field.mutable }
    }
}

/// Kind of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The global one, or a namespace.
    Namespace,
    /// Scope of a struct, by its id.
    Class(u32),
    /// The parameters of a template, bound.
    Template,
    /// Scope of a function or a block in one.
    Block,
}

struct ScopeEntry {
    decl: Decl,
    span: Span,
    /// Declaration of the library's that was there, if anything, where the user's text has declared the name in a namespace.
    library: Option<Option<Decl>>,
}

struct Scope<'a> {
    kind: ScopeKind,
    parent: Option<ScopeId>,
    name: Option<Symbol>,
    names: HashMap<Symbol, ScopeEntry>,
    /// Namespaces whose names are visible here too, and bases of a struct.
    also: Vec<ScopeId>,
    /// Functions of its own hide those of the others.
    hides: bool,
    /// The namespace of the library's that it is.
    space: Option<LibraryNamespaceId>,
    /// Member functions of a struct of the library's, and those of their names that have been asked for.
    members: Option<&'a HashMap<Symbol, Vec<Member>>>,
    asked: Vec<Symbol>,
}

impl Scope<'_> {
    fn new(kind: ScopeKind, parent: Option<ScopeId>, name: Option<Symbol>) -> Self {
        let (names, also) = (HashMap::default(), Vec::new());
        Scope { kind, parent, name, names, also, hides: false, space: None, members: None, asked: Vec::new() }
    }
}

/// Scope in which declarations of a name wait to be lowered.
pub struct Waits(pub ScopeId);

/// All scopes, and the one the text being lowered is in.
pub struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    current: ScopeId,
    /// Declarations of the user's text in namespaces are hidden.
    is_library: bool,
    /// The user's text has given a meaning to a name of the library's.
    pub shadows: bool,
    /// The place of a name at an editor's cursor, and what was declared there.
    pub watched: Option<Span>,
    pub seen: Option<(ScopeId, Symbol)>,
    /// Declarations of the library at namespace scope.
    pub lazy: LazyDeclarations<'a>,
}

impl<'a> Scopes<'a> {
    /// The global scope, beside a library.
    pub fn new(library: &'a Library<'a>) -> Self {
        let global = Scope { space: Some(LibraryNamespaceId(0)), ..Scope::new(ScopeKind::Namespace, None, None) };
        let lazy = LazyDeclarations::new(library);
        Scopes {
            all: vec![global],
            current: GLOBAL,
            is_library: false,
            shadows: false,
            watched: None,
            seen: None,
            lazy,
        }
    }

    fn get(&self, scope: ScopeId) -> &Scope<'a> {
        &self.all[scope.0 as usize]
    }

    fn get_mut(&mut self, scope: ScopeId) -> &mut Scope<'a> {
        &mut self.all[scope.0 as usize]
    }

    /// The innermost scope.
    pub fn current(&self) -> ScopeId {
        self.current
    }

    /// Goes to another scope; gives back the one left.
    pub fn enter(&mut self, scope: ScopeId) -> ScopeId {
        std::mem::replace(&mut self.current, scope)
    }

    /// The kind of a scope.
    pub fn kind(&self, scope: ScopeId) -> ScopeKind {
        self.get(scope).kind
    }

    /// The scope round another.
    pub fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.get(scope).parent
    }

    /// The name of a namespace.
    pub fn name(&self, scope: ScopeId) -> Option<Symbol> {
        self.get(scope).name
    }

    /// A new scope in another, which is not entered.
    pub fn create(&mut self, kind: ScopeKind, parent: ScopeId, name: Option<Symbol>) -> ScopeId {
        self.all.push(Scope::new(kind, Some(parent), name));
        ScopeId(self.all.len() as u32 - 1)
    }

    /// Opens a block.
    pub fn open(&mut self) {
        self.current = self.create(ScopeKind::Block, self.current, None);
    }

    /// Leaves the innermost scope for the one round it.
    pub fn close(&mut self) {
        let closed = self.current;
        self.current = self.get(closed).parent.unwrap_or(GLOBAL);
        // A block that declared nothing leaves nothing behind.
        if closed.0 as usize + 1 == self.all.len() && self.get(closed).names.is_empty() {
            self.all.pop();
        }
    }

    /// Makes the names of one scope visible in another.
    pub fn also(&mut self, scope: ScopeId, other: ScopeId) {
        let also = &mut self.get_mut(scope).also;
        if scope != other && !also.contains(&other) {
            also.push(other);
        }
    }

    /// The namespace without a name in another, where there is one yet.
    pub fn unnamed(&self, scope: ScopeId) -> Option<ScopeId> {
        let is_it = |at: &Scope<'_>| at.kind == ScopeKind::Namespace && at.name.is_none() && at.parent == Some(scope);
        self.get(scope).also.iter().copied().find(|other| is_it(self.get(*other)))
    }

    /// The namespace a scope lies in.
    pub fn namespace_of(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        while self.get(at).kind != ScopeKind::Namespace {
            at = self.get(at).parent.unwrap_or(GLOBAL);
        }
        at
    }

    /// Makes a scope the library's namespace of a number.
    pub fn stand_for(&mut self, scope: ScopeId, space: LibraryNamespaceId) {
        self.get_mut(scope).space = Some(space);
    }

    /// Lets the functions that a namespace declares itself hide those of the namespaces visible through it, as they do where a text names
    /// the namespace.
    pub fn hide(&mut self, scope: ScopeId) {
        self.get_mut(scope).hides = true;
    }

    /// Lets member functions of a struct's scope wait until somebody asks for their names.
    pub fn let_wait(&mut self, scope: ScopeId, members: &'a HashMap<Symbol, Vec<Member>>) {
        self.get_mut(scope).members = Some(members).filter(|members| !members.is_empty());
    }

    /// The library declares the name in a scope and nobody has asked for it.
    pub fn waits(&self, scope: ScopeId, symbol: Symbol) -> bool {
        let this = self.get(scope);
        match (this.space, this.members) {
            (Some(space), _) => self.lazy.has(space, symbol),
            (None, Some(members)) => members.contains_key(&symbol) && !this.asked.contains(&symbol),
            (None, None) => false,
        }
    }

    /// The library's namespace that a scope is.
    pub fn space(&self, scope: ScopeId) -> Option<LibraryNamespaceId> {
        self.get(scope).space
    }

    /// The member functions of a name, which wait no more.
    pub fn ask(&mut self, scope: ScopeId, symbol: Symbol) -> &'a [Member] {
        let this = self.get_mut(scope);
        this.asked.push(symbol);
        this.members.and_then(|members| members.get(&symbol)).map_or(&[], Vec::as_slice)
    }

    /// The meaning of a name in a scope itself and in those visible through it.
    pub fn member(&self, scope: ScopeId, symbol: Symbol) -> Result<Option<Decl>, Waits> {
        step();
        Ok(self.entry(scope, symbol, &mut Vec::new())?.map(|(decl, _)| decl))
    }

    pub(in crate::front::lower) fn entry(
        &self,
        scope: ScopeId,
        symbol: Symbol,
        seen: &mut Vec<ScopeId>,
    ) -> Result<Option<(Decl, Span)>, Waits> {
        if self.waits(scope, symbol) {
            return Err(Waits(scope));
        }
        let this = self.get(scope);
        let own = this.names.get(&symbol).and_then(|e| match &e.library {
            Some(library) if self.is_library => Some((library.clone()?, e.span)),
            _ => Some((e.decl.clone(), e.span)),
        });
        if this.also.is_empty() || seen.contains(&scope) {
            return Ok(own);
        }
        // A name in a struct hides the base's; functions of namespaces are taken together.
        let merges = !this.hides && matches!(this.kind, ScopeKind::Namespace | ScopeKind::Block);
        if own.is_some() && !(merges && matches!(own, Some((Decl::Functions(_), _)))) {
            return Ok(own);
        }
        seen.push(scope);
        let mut found = own;
        for &other in &this.also {
            let Some(more) = self.entry(other, symbol, seen)? else { continue };
            found = match (found, more) {
                (Some((Decl::Functions(a), span)), (Decl::Functions(b), _)) => {
                    let new = fresh(&a, &b);
                    Some((Decl::Functions(a.iter().copied().chain(new).collect()), span))
                }
                (Some(first), _) => Some(first),
                (None, more) => Some(more),
            };
        }
        Ok(found)
    }

    fn find(&self, from: ScopeId, symbol: Symbol) -> Result<Option<(Decl, Span)>, Waits> {
        step();
        let mut at = Some(from);
        while let Some(scope) = at {
            if let Some(found) = self.entry(scope, symbol, &mut Vec::new())? {
                return Ok(Some(found));
            }
            at = self.get(scope).parent;
        }
        Ok(None)
    }

    /// The meaning of a name here.
    pub fn lookup(&self, symbol: Symbol) -> Result<Option<Decl>, Waits> {
        Ok(self.find(self.current, symbol)?.map(|(decl, _)| decl))
    }

    /// The meaning of a name in the current scope itself, those round it left out.
    pub fn here(&self, symbol: Symbol) -> Option<&Decl> {
        self.get(self.current).names.get(&symbol).map(|e| &e.decl)
    }

    /// The place where the meaning of a name that has been looked up was declared.
    pub fn span(&self, symbol: Symbol) -> Option<Span> {
        self.find(self.current, symbol).ok()?.map(|(_, span)| span)
    }

    /// Declares a name in the current scope; gives back the place of a declaration that is already there.
    pub fn declare(&mut self, symbol: Symbol, decl: Decl, span: Span) -> Result<(), Span> {
        self.declare_in(self.current, symbol, decl, span)
    }

    /// [`Self::declare`] in another scope.
    pub fn declare_in(&mut self, scope: ScopeId, symbol: Symbol, decl: Decl, span: Span) -> Result<(), Span> {
        self.watch(scope, symbol, span);
        let own = self.get(scope).kind == ScopeKind::Namespace && !span.file.is_common();
        match self.get_mut(scope).names.entry(symbol) {
            hash_map::Entry::Occupied(old) => Err(old.get().span),
            hash_map::Entry::Vacant(place) => {
                place.insert(ScopeEntry { decl, span, library: own.then_some(None) });
                Ok(())
            }
        }
    }

    /// Declares a name or gives it another meaning.
    pub fn redeclare(&mut self, scope: ScopeId, symbol: Symbol, decl: Decl, span: Span) {
        self.watch(scope, symbol, span);
        let own = self.get(scope).kind == ScopeKind::Namespace && !span.file.is_common();
        match self.get_mut(scope).names.entry(symbol) {
            hash_map::Entry::Vacant(place) => _ = place.insert(ScopeEntry { decl, span, library: own.then_some(None) }),
            hash_map::Entry::Occupied(mut place) => {
                let old = place.get_mut();
                let library = match old.library.take() {
                    Some(library) if own => Some(library),
                    // A friend of an instance: the library's functions of that name are among these.
                    Some(_) => Some(Some(decl.clone())),
                    None if own => Some(Some(old.decl.clone())),
                    None => None,
                };
                let shadows = matches!(library, Some(Some(_)));
                *old = ScopeEntry { decl, span, library };
                self.shadows |= shadows;
            }
        }
    }

    fn watch(&mut self, scope: ScopeId, symbol: Symbol, span: Span) {
        if self.watched == Some(span) && self.seen.is_none() {
            self.seen = Some((scope, symbol));
        }
    }

    /// Takes a name out of a scope.
    pub fn forget(&mut self, scope: ScopeId, symbol: Symbol) {
        self.get_mut(scope).names.remove(&symbol);
    }

    /// Lookups find what the library alone declares, from here on; gives whether they did.
    pub fn see_library(&mut self, alone: bool) -> bool {
        std::mem::replace(&mut self.is_library, alone)
    }

    /// Every name in scope.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let up = std::iter::successors(Some(self.current), |&s| self.get(s).parent);
        up.flat_map(|s| self.names_within(s))
    }

    /// Every name that a scope itself and those visible through it declare.
    pub fn names_within(&self, scope: ScopeId) -> impl Iterator<Item = Symbol> {
        let mut all = vec![scope];
        let mut at = 0;
        while let Some(&scope) = all.get(at) {
            let also = self.get(scope).also.iter().copied();
            let new: Vec<ScopeId> = also.filter(|other| !all.contains(other)).collect();
            all.extend(new);
            at += 1;
        }
        all.into_iter().flat_map(|scope| self.names_of(scope))
    }

    /// Every name that a scope itself declares.
    pub fn names_of(&self, scope: ScopeId) -> impl Iterator<Item = Symbol> {
        let this = self.get(scope);
        let members = this.members.into_iter().flat_map(|members| members.keys().copied());
        let library = this.space.into_iter().flat_map(|space| self.lazy.names(space));
        this.names.keys().copied().chain(members).chain(library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::ast::Interner;
    use crate::front::library_cache::LibraryCache;
    use crate::source::SourceMap;

    #[test]
    fn inner_scopes_hide_outer_ones_until_they_close() {
        let cache = LibraryCache::default();
        let library = cache.library(&[], &mut SourceMap::new(), &Interner::default(), None);
        let (mut scopes, x) = (Scopes::new(&library), Symbol(3));
        let var = |i| Decl::Var(VarId(i));
        assert!(scopes.declare(x, var(0), Span::NONE).is_ok());
        assert!(scopes.declare(x, var(1), Span::NONE).is_err());
        scopes.open();
        assert!(scopes.declare(x, var(2), Span::NONE).is_ok());
        assert!(matches!(scopes.lookup(x), Ok(Some(Decl::Var(VarId(2))))));
        scopes.close();
        assert!(matches!(scopes.lookup(x), Ok(Some(Decl::Var(VarId(0))))));
    }
}

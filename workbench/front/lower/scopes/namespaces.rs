//! Namespaces: their scopes, and what makes the names of one visible in another.

use std::rc::Rc;

use super::lookup::Found;
use super::names::{Callable, Decl, ScopeId, ScopeKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Name, Namespace, NamespaceAlias};
use crate::front::lower::Lowerer;
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// `namespace a { ... }`
    pub(in crate::front::lower) fn namespace(&mut self, decl: &'a Namespace) {
        let here = self.scopes.current();
        let existing = match decl.name.map(|n| self.here(n.name)) {
            Some(Some(Decl::Namespace(scope))) => Some(scope),
            Some(_) => None,
            // There is one without a name in each ([namespace.unnamed]).
            None => self.scopes.unnamed(here),
        };
        let scope = match existing {
            Some(scope) => scope,
            None => {
                let scope = self.scopes.create(ScopeKind::Namespace, here, decl.name.map(|n| n.name));
                if let Some(name) = decl.name {
                    self.declare(name.name, Decl::Namespace(scope), name.span);
                }
                scope
            }
        };
        if decl.is_inline || decl.name.is_none() {
            self.scopes.also(here, scope);
        }
        self.scopes.enter(scope);
        self.declarations(&decl.items);
        self.scopes.enter(here);
    }

    /// The scope of a namespace by name; reports when there is none.
    fn namespace_scope(&mut self, name: &'a Name) -> Option<ScopeId> {
        match self.find(name) {
            Found::Namespace(scope) => Some(scope),
            Found::Error => None,
            _ => {
                // Builtin functions lie in no scope: their names need no namespace.
                let path = name.path(self.interner);
                if !matches!(path.as_str(), "std" | "cuda::std") {
                    self.unknown_namespace(&name.parts, name.span);
                }
                None
            }
        }
    }

    /// `using namespace a;`
    pub(in crate::front::lower) fn using_namespace(&mut self, name: &'a Name) {
        if let Some(scope) = self.namespace_scope(name) {
            self.scopes.also(self.scopes.current(), scope);
            // `using namespace ::std;` of libcu++, whose names texts qualify.
            if name.global && self.in_library(name.span) {
                self.scopes.hide(self.scopes.current());
            }
        }
    }

    /// `namespace a = b;`
    pub(in crate::front::lower) fn namespace_alias(&mut self, alias: &'a NamespaceAlias) {
        if let Some(scope) = self.namespace_scope(&alias.target) {
            // Saying it again is allowed.
            if matches!(self.here(alias.name.name), Some(Decl::Namespace(old)) if old == scope) {
                return;
            }
            self.declare(alias.name.name, Decl::Namespace(scope), alias.name.span);
        }
    }

    /// `using a::f;`
    pub(in crate::front::lower) fn using_declaration(&mut self, name: &'a Name) {
        let ident = name.last();
        let decl = match self.find(name) {
            Found::Error => return,
            Found::None => {
                // All builtin functions of `std` are visible anyway.
                let builtin = name.parts.first().is_some_and(|p| p.ident.name == self.known.std);
                let first = name.parts.first().map_or("", |p| self.interner.name(p.ident.name));
                match crate::front::builtins::unsupported_namespace(first) {
                    Some(advice) if name.parts.len() > 1 => {
                        self.unsupported_name(advice, name.path(self.interner), name.span);
                        return;
                    }
                    _ => {}
                }
                if !builtin {
                    self.unknown(&ident, name.span, "name");
                }
                return;
            }
            Found::Var(id) => Decl::Var(id),
            Found::Type(ty) => Decl::Type(ty),
            Found::Constant(ty, c) => Decl::Constant(ty, c),
            Found::Functions(set, _) => return self.add_functions(ident.name, &set, ident.span),
            Found::Namespace(_) => {
                let message = format!("`{}` is a namespace", self.text(&ident));
                self.report(
                    Diagnostic::error(Code::TypeMismatch, name.span, message).help("write `using namespace ...`"),
                );
                return;
            }
            Found::Template(index) => Decl::Template(index),
            Found::Field(field) => Decl::Field(field),
            Found::Place(place) => Decl::Place(place),
            Found::Pack(pack) => Decl::Pack(pack),
            Found::Vars(vars) => Decl::Vars(vars),
        };
        if self.here(ident.name).is_none() {
            self.declare(ident.name, decl, ident.span);
        }
    }

    /// Adds functions to the overloads of a name in the current scope.
    pub(in crate::front::lower) fn add_functions(
        &mut self,
        name: crate::front::ast::Symbol,
        new: &[Callable],
        span: Span,
    ) {
        let here = self.scopes.current();
        let set: Rc<[_]> = match self.here(name) {
            Some(Decl::Functions(old)) => {
                let fresh: Vec<_> = new.iter().copied().filter(|c| !old.contains(c)).collect();
                old.iter().copied().chain(fresh).collect()
            }
            Some(_) if self.in_library(self.scopes.span(name).unwrap_or(Span::NONE)) && !self.in_library(span) => {
                new.into()
            }
            Some(_) => {
                let old = self.scopes.span(name).unwrap_or(Span::NONE);
                let message = format!("`{}` is declared twice", self.interner.name(name));
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(old, "first declared here"));
                return;
            }
            None => new.into(),
        };
        self.scopes.redeclare(here, name, Decl::Functions(set), span);
    }
}

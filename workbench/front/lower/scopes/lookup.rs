//! Names to what they mean: qualified ones part by part, template arguments applied on the way.

use std::rc::Rc;

use super::names::{Callable, Decl, FieldDecl, GLOBAL, ScopeId, TArg};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Name, NamePart};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::typed_tree::{TemplateIndex, Typed, VarId};
use crate::front::spelling::nearest;
use crate::front::types::{Kind, Ty};
use crate::ir::Const;
use crate::source::Span;

/// Result of a lookup: the meaning of a name.
#[derive(Debug, Clone)]
pub enum Found {
    /// Nothing declares it; nothing has been reported.
    None,
    /// It was reported.
    Error,
    /// A variable.
    Var(VarId),
    /// A type.
    Type(Ty),
    /// A constant.
    Constant(Ty, Const),
    /// Functions, with the template arguments written after the name.
    Functions(Rc<[Callable]>, Option<Rc<[TArg]>>),
    /// A namespace.
    Namespace(ScopeId),
    /// A template without its arguments.
    Template(TemplateIndex),
    /// A field.
    Field(Rc<FieldDecl>),
    /// A place with a name.
    Place(Rc<Typed>),
    /// A template's parameter pack.
    Pack(Rc<[TArg]>),
    /// A function's parameter pack.
    Vars(Rc<[VarId]>),
}

/// Place where the next part of a qualified name is looked up.
enum Within {
    Nothing,
    Scope(ScopeId),
    /// A type, and where it is named.
    Type(Ty, Span),
}

impl<'a> Lowerer<'a> {
    /// The meaning of a name here.
    pub(in crate::front::lower) fn find(&mut self, name: &'a Name) -> Found {
        let mut within = if name.global { Within::Scope(GLOBAL) } else { Within::Nothing };
        let last = name.parts.len() - 1;
        for (i, part) in name.parts.iter().enumerate() {
            // The name before `::` is a namespace or a type: functions and variables do not hide those.
            let hidden = i < last
                && matches!(within, Within::Nothing)
                && matches!(self.lookup(part.ident.name), Some(Decl::Functions(_) | Decl::Field(_) | Decl::Var(_)));
            if hidden {
                within = Within::Scope(GLOBAL);
            }
            let found = self.find_part(&within, part);
            if i == last {
                match within {
                    Within::Scope(scope) => self.warn_of_removed(scope, part),
                    Within::Nothing if !matches!(found, Found::None) => self.warn_of_removed_and_used(part),
                    _ => {}
                }
                return found;
            }
            within = match found {
                Found::Namespace(scope) => Within::Scope(scope),
                Found::Type(ty) if ty.is_error() => return Found::Error,
                Found::Type(ty) => Within::Type(ty.referred().clone(), part.ident.span),
                Found::Error => return Found::Error,
                Found::None => return Found::None,
                _ => {
                    let message = format!("`{}` is neither a namespace nor a type", self.text(&part.ident));
                    self.report(Diagnostic::error(Code::UnknownName, part.ident.span, message));
                    return Found::Error;
                }
            };
        }
        Found::None
    }

    /// Warns of a name of CUB's that the last CUDA has no more.
    fn warn_of_removed(&mut self, scope: ScopeId, part: &NamePart) {
        let span = part.ident.span;
        let is_cub = scope != GLOBAL
            && self.scopes.parent(scope) == Some(GLOBAL)
            && self.scopes.name(scope).is_some_and(|name| self.interner.name(name) == "cub");
        if !is_cub || self.in_library(span) {
            return;
        }
        let name = self.text(&part.ident).to_owned();
        let Some(instead) = crate::library::removed_of_cub(&name) else { return };
        let message = format!("`cub::{name}` is not in CUB any more, since CUDA 13");
        let diag = Diagnostic::warning(Code::Deprecated, span, message).help(format!("write `{instead}`"));
        if self.removed.insert(span) {
            self.report(diag);
        }
    }

    /// The same where `using namespace cub` makes it visible.
    fn warn_of_removed_and_used(&mut self, part: &NamePart) {
        let (symbol, span) = (part.ident.name, part.ident.span);
        let name = self.text(&part.ident);
        // All of them begin so, and few names of other texts do.
        let may_be = name.starts_with(|c: char| c.is_ascii_uppercase()) && !self.in_library(span);
        if !may_be || crate::library::removed_of_cub(name).is_none() {
            return;
        }
        let cub = self.interner.find("cub").and_then(|cub| self.lookup_in(GLOBAL, cub));
        if let Some(Decl::Namespace(scope)) = cub
            && let Ok(Some((_, declared))) = self.scopes.entry(scope, symbol, &mut Vec::new())
            && self.scopes.span(symbol) == Some(declared)
        {
            self.warn_of_removed(scope, part);
        }
    }

    fn find_part(&mut self, within: &Within, part: &'a NamePart) -> Found {
        let symbol = part.ident.name;
        let decl = match within {
            Within::Nothing => self.lookup(symbol),
            Within::Scope(scope) => self.lookup_in(*scope, symbol),
            Within::Type(ty, span) => return self.find_in_type(ty, *span, part),
        };
        let scope = if let Within::Scope(scope) = within { Some(*scope) } else { None };
        decl.iter().for_each(|decl| self.note_meaning(&part.ident, decl, scope));
        match decl {
            Some(decl) => self.apply(decl, part),
            None => Found::None,
        }
    }

    /// A member by name of a struct or enum; reports when there is none.
    fn find_in_type(&mut self, ty: &Ty, span: Span, part: &'a NamePart) -> Found {
        let symbol = part.ident.name;
        match &ty.kind {
            Kind::Enum(e) => {
                let (id, name) = (e.id, e.name.clone());
                self.look_into_enum(id, ty, symbol);
                if let Some(c) = self.enum_constant(id, symbol) {
                    self.note_meaning(&part.ident, &Decl::Constant(ty.clone(), c), None);
                    return Found::Constant(ty.clone(), c);
                }
                let names: Vec<&str> = self.enum_names(id).map(|s| self.interner.name(s)).collect();
                let near = nearest(self.text(&part.ident), names.into_iter());
                let message = format!("`{name}` has no constant `{}`", self.text(&part.ident));
                let mut diag = Diagnostic::error(Code::UnknownName, part.ident.span, message);
                if let Some(near) = near {
                    diag = diag.help(format!("did you mean `{near}`?")).replacement(part.ident.span, near);
                }
                self.report(diag);
                Found::Error
            }
            Kind::Struct(s) => {
                let s = s.clone();
                if !self.complete(&s, span) {
                    return Found::Error;
                }
                let scope = self.class(s.id).scope;
                match self.lookup_in(scope, symbol) {
                    Some(decl) if !self.may_name(s.id, &part.ident, matches!(decl, Decl::Functions(_))) => Found::Error,
                    Some(decl) => {
                        self.note_meaning(&part.ident, &decl, Some(scope));
                        self.apply(decl, part)
                    }
                    None => {
                        self.no_member(&s, &part.ident);
                        Found::Error
                    }
                }
            }
            _ => {
                let message = format!("`{ty}` has no members, so no `{}`", self.text(&part.ident));
                self.report(Diagnostic::error(Code::TypeMismatch, part.ident.span, message));
                Found::Error
            }
        }
    }

    /// A declaration with the template arguments after its name.
    fn apply(&mut self, decl: Decl, part: &'a NamePart) -> Found {
        let Some(args) = &part.args else {
            return match decl {
                Decl::Var(id) => Found::Var(id),
                Decl::Type(ty) => Found::Type(ty),
                Decl::Constant(ty, c) => Found::Constant(ty, c),
                Decl::Functions(set) => Found::Functions(set, None),
                Decl::Namespace(scope) => Found::Namespace(scope),
                Decl::Template(index) => Found::Template(index),
                Decl::Field(field) => Found::Field(field),
                Decl::Place(place) => Found::Place(place),
                Decl::Pack(pack) => Found::Pack(pack),
                Decl::Vars(vars) => Found::Vars(vars),
            };
        };
        let Some(given) = self.template_args(args) else { return Found::Error };
        match decl {
            Decl::Functions(set) => Found::Functions(set, Some(given.into())),
            Decl::Template(index) => self.instantiate(index, &given, part.ident.span),
            // Inside a template's own scope its name alone is the instance, and with arguments the template again.
            Decl::Type(ty) if ty.as_struct().is_some_and(|s| self.class(s.id).template.is_some()) => {
                match ty.as_struct().and_then(|s| self.class(s.id).template.clone()) {
                    Some((index, _)) => self.instantiate(index, &given, part.ident.span),
                    None => Found::Error,
                }
            }
            Decl::Type(ty) if ty.is_error() => Found::Error,
            _ => {
                let message = format!("`{}` is no template and takes no arguments in `<...>`", self.text(&part.ident));
                let mut diag = Diagnostic::error(Code::TypeMismatch, part.ident.span, message);
                if let Some(place) = self.scopes.span(part.ident.name) {
                    diag = diag.related(place, "declared here");
                }
                self.report(diag);
                Found::Error
            }
        }
    }
}

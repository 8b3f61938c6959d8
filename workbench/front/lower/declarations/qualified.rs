//! Declarations with qualified names: members defined outside of their struct, functions of namespaces.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{FunctionDecl, FunctionKind, Name, NamePart};
use crate::front::lower::classes::definitions::Stage;
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex};
use crate::front::lower::functions::declarations::Signature;
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl, GLOBAL, ScopeId};
use crate::front::lower::templates::declarations::{Instance, TemplateKind};
use crate::front::lower::{FuncInfo, Lowerer, Progress, Role, Side};
use crate::front::types::{Kind, StructTy, Ty};
use std::rc::Rc;

impl<'a> Lowerer<'a> {
    /// A function with a qualified name: a member defined outside of its struct, or a function of a namespace.
    pub(in crate::front::lower) fn out_of_line(&mut self, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        if decl.is_defaulted {
            let message =
                "`= default` outside of a class is supported for destructors and constructors without parameters";
            self.report(
                Diagnostic::error(Code::Unsupported, decl.name.span, message)
                    .help("write it where the class declares it"),
            );
            return;
        }
        // `template <typename T> void S<T>::f() { ... }`
        if let Some(part) = decl.name.qualifiers().last()
            && part.args.is_some()
            && decl.templates.first().is_some_and(|h| !h.params.is_empty())
        {
            self.out_of_template(decl, part);
            return;
        }
        let Some((scope, owner)) = self.scope_outside(&decl.name) else { return };
        let Some(s) = owner else {
            let here = self.scopes.enter(scope);
            self.in_namespace(decl);
            self.scopes.enter(here);
            return;
        };
        let set = self.members_like(s.id, decl);
        if self.defines_template(decl, s.id, &set) {
            return;
        }
        let (info, _) = self.quietly(|this| this.signature(Signature::of(decl, String::new(), scope)));
        let this = Ty::new(Kind::Struct(s.clone())).qualified(decl.is_const, false);
        match self.same_member(&set, &info, &this) {
            Some(index) => {
                self.define(index, decl, scope);
                if self.func(index).side != Side::Host && self.func(index).progress == Progress::Idle {
                    self.func_mut(index).progress = Progress::Queued;
                    self.enqueue(index);
                }
            }
            None => {
                let message = format!("`{}` declares no `{}` with these parameters", s.name, self.text(&ident));
                let place = self.class(s.id).span;
                self.report(
                    Diagnostic::error(Code::UnknownName, decl.name.span, message).related(place, "it is declared here"),
                );
            }
        }
    }

    /// `template <typename T> void S<T>::f() { ... }`, whose struct `part` names.
    fn out_of_template(&mut self, decl: &'a FunctionDecl, part: &'a NamePart) {
        let mut name = decl.name.clone();
        name.parts.pop();
        let template = self.template_by_parts(&name);
        match template {
            Some(index) => {
                if let TemplateKind::Struct { members, .. } = &mut self.template_mut(index).kind {
                    members.push(decl);
                }
                self.define_in_instances(index, decl);
            }
            None => self.unknown(&part.ident, part.ident.span, "struct template"),
        }
    }

    /// The scope of the struct or namespace that a qualified name is in, and the struct if it is one.
    fn scope_outside(&mut self, name: &'a Name) -> Option<(ScopeId, Option<Rc<StructTy>>)> {
        let mut scope = None;
        let mut owner = None;
        let mut first = !name.global;
        for part in name.qualifiers() {
            let found = match (first, scope) {
                (true, _) => self.lookup(part.ident.name),
                (false, Some(scope)) => self.lookup_in(scope, part.ident.name),
                (false, None) => self.lookup_in(GLOBAL, part.ident.name),
            };
            first = false;
            let found = match (&part.args, found) {
                (Some(args), Some(Decl::Template(index))) => {
                    let given = self.template_args(args)?;
                    match self.instantiate(index, &given, part.ident.span) {
                        Found::Type(ty) => Some(Decl::Type(ty)),
                        _ => return None,
                    }
                }
                (_, found) => found,
            };
            match found {
                Some(Decl::Namespace(inner)) => scope = Some(inner),
                Some(Decl::Type(ty)) if ty.is_error() => return None,
                Some(Decl::Type(ty)) if ty.is_struct() => {
                    let s = ty.as_struct().cloned()?;
                    if !self.complete(&s, part.ident.span) {
                        return None;
                    }
                    scope = Some(self.class(s.id).scope);
                    owner = Some(s);
                }
                _ => {
                    self.unknown(&part.ident, part.ident.span, "struct or namespace");
                    return None;
                }
            }
        }
        Some((scope?, owner))
    }

    /// The body of a member template goes to the one of `set` that the class `owner` declares without.
    fn defines_template(&mut self, decl: &'a FunctionDecl, owner: u32, set: &[Callable]) -> bool {
        if decl.templates.last().is_none_or(|h| h.params.is_empty()) {
            return false;
        }
        for callable in set {
            if let Callable::Template(index) = *callable
                && let TemplateKind::Function { decl: old, .. } = &self.template(index).kind
                && old.body.is_none()
                && old.params.len() == decl.params.len()
            {
                let template = self.template_mut(index);
                template.kind = TemplateKind::Function { decl, owner: Some(owner) };
                template.params = Self::own_head(&decl.templates);
                return true;
            }
        }
        false
    }

    /// The one of some members that a declaration outside of their class means.
    fn same_member(&self, set: &[Callable], info: &FuncInfo<'a>, this: &Ty) -> Option<FuncIndex> {
        if info.role != Role::Conversion {
            return self.same_parameters(set, &info.params, Some(this));
        }
        let gives = |c: &Callable| matches!(c, Callable::Func(index) if self.func(*index).ret == info.ret);
        let set: Vec<Callable> = set.iter().filter(|c| gives(c)).copied().collect();
        self.same_parameters(&set, &[], Some(this))
    }

    /// `void ns::f() { ... }`
    pub(super) fn in_namespace(&mut self, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        let info = self.signature(Signature::of(decl, self.text(&ident).to_owned(), self.scopes.current()));
        let set = match self.here(ident.name) {
            Some(Decl::Functions(set)) => set.clone(),
            _ => Rc::new([]),
        };
        match self.same_parameters(&set, &info.params, None) {
            Some(index) => {
                let scope = self.scopes.current();
                self.define(index, decl, scope);
                self.lower_body(index);
            }
            None => {
                let message = format!("the namespace declares no `{}` with these parameters", self.text(&ident));
                self.report(Diagnostic::error(Code::UnknownName, decl.name.span, message));
            }
        }
    }

    /// A template by the identifiers of a name, its arguments left aside.
    pub(super) fn template_by_parts(&mut self, name: &Name) -> Option<TemplateIndex> {
        let mut scope = None;
        for part in &name.parts {
            let decl = match scope {
                None => self.lookup(part.ident.name),
                Some(scope) => self.lookup_in(scope, part.ident.name),
            };
            match decl? {
                Decl::Namespace(inner) => scope = Some(inner),
                Decl::Template(index) => return Some(index),
                _ => return None,
            }
        }
        None
    }

    /// Instances made before a member was defined get its body.
    pub(super) fn define_in_instances(&mut self, template: TemplateIndex, decl: &'a FunctionDecl) {
        let instances: Vec<u32> = self
            .template(template)
            .instances
            .values()
            .filter_map(|i| match i {
                Instance::Struct(s) => Some(s.id),
                _ => None,
            })
            .filter(|&id| self.class(id).stage == Stage::Complete)
            .collect();
        for id in instances {
            let class_scope = self.class(id).scope;
            let set = self.members_like(id, decl);
            if set.is_empty() {
                continue;
            }
            let scope = self.outside_scope(decl, id, class_scope);
            let here = self.scopes.enter(scope);
            let (info, _) = self.quietly(|this| this.signature(Signature::of(decl, String::new(), scope)));
            self.scopes.enter(here);
            let this = Ty::new(Kind::Struct(self.class(id).ty.clone())).qualified(decl.is_const, false);
            if let Some(index) = self.same_member(&set, &info, &this)
                && self.func(index).code.is_none()
            {
                self.define(index, decl, scope);
            }
        }
    }

    /// The members of a struct that a declaration outside of it may mean, its parameters left aside.
    fn members_like(&mut self, id: u32, decl: &'a FunctionDecl) -> Vec<Callable> {
        let found = self.lookup_in(self.class(id).scope, decl.name.last().name);
        let class = self.class(id);
        match (&decl.kind, found) {
            (FunctionKind::Constructor, _) => class.constructors.clone(),
            (FunctionKind::Destructor, _) => class.destructor.map(Callable::Func).into_iter().collect(),
            (FunctionKind::Conversion(_), _) => class.conversions.clone(),
            (FunctionKind::Plain, Some(Decl::Functions(set))) => set.to_vec(),
            _ => Vec::new(),
        }
    }
}

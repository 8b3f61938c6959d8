//! Methods of structs, and what the language makes of a struct by itself.

use super::definitions::Moves;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{FunctionDecl, FunctionKind, MemberKind, StructDecl, Symbol};
use crate::front::link::Linkage;
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex};
use crate::front::lower::functions::declarations;
use crate::front::lower::functions::declarations::{Signature, body_of};
use crate::front::lower::scopes::names::{Callable, Decl, ScopeId, ScopeKind};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::lower::{Lowerer, Progress, Role, Side};
use crate::front::types::{Kind, StructTy, Ty};
use std::rc::Rc;

impl<'a> Lowerer<'a> {
    /// The parts of a method's signature that its struct decides.
    pub(in crate::front::lower) fn method_signature(
        &mut self,
        sig: &mut Signature<'a>,
        decl: &'a FunctionDecl,
        owner: u32,
    ) {
        let class = Ty::new(Kind::Struct(self.class(owner).ty.clone()));
        sig.guard = self.guard_of(owner, decl);
        if !decl.specs.is_static {
            sig.this = Some(class.qualified(decl.is_const, false));
        }
        // A member is known where its class is; `static` says something else of it.
        let inline = decl.body.is_some() || decl.is_defaulted || decl.specs.inline || decl.specs.constexpr;
        sig.linkage = if inline { Linkage::Inline } else { Linkage::External };
        if decl.is_defaulted && sig.side == Side::Host && !decl.specs.host {
            sig.side = Side::Both;
        }
        if sig.code.is_none()
            && let Some((template, _)) = self.class(owner).template.clone()
            && let Some(outside) = self.member_outside(template, decl)
        {
            let code = body_of(outside);
            sig.params = &outside.params;
            sig.code = code;
            sig.whole = outside.span;
            sig.span = outside.name.last().span;
            sig.scope = self.outside_scope(outside, owner, sig.scope);
        }
    }

    /// The definition outside of a struct template for a method declared in it.
    pub(super) fn member_outside(&self, template: TemplateIndex, decl: &FunctionDecl) -> Option<&'a FunctionDecl> {
        let TemplateKind::Struct { members, .. } = &self.template(template).kind else { return None };
        let name = decl.name.last().name;
        let text = |span| self.sources.text(span);
        let mut fits: Vec<&'a FunctionDecl> = members
            .iter()
            .copied()
            .filter(|m| {
                m.name.last().name == name && m.params.len() == decl.params.len() && m.is_const == decl.is_const
            })
            .collect();
        if fits.len() > 1 {
            fits.retain(|m| m.params.iter().zip(&decl.params).all(|(a, b)| text(a.ty.span) == text(b.ty.span)));
        }
        fits.first().copied()
    }

    /// The scope of a definition outside of its struct template, whose parameters may have other names there.
    pub(in crate::front::lower) fn outside_scope(
        &mut self,
        decl: &'a FunctionDecl,
        owner: u32,
        inner: ScopeId,
    ) -> ScopeId {
        let Some((_, args)) = self.class(owner).template.clone() else { return inner };
        let scope = self.scopes.create(ScopeKind::Template, inner, None);
        if let Some(head) = decl.templates.first() {
            self.bind(scope, &head.params, &args);
        }
        scope
    }

    pub(in crate::front::lower) fn method_declaration(&mut self, s: &Rc<StructTy>, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        let scope = self.scopes.current();
        let templated = decl.templates.last().is_some_and(|h| !h.params.is_empty());
        if templated || declarations::has_auto(&decl.params) {
            let params = Self::own_head(&decl.templates);
            let index = self.add_template(ident, params, TemplateKind::Function { decl, owner: Some(s.id) });
            let callable = Callable::Template(index);
            match decl.kind {
                FunctionKind::Constructor => self.class_mut(s.id).constructors.push(callable),
                FunctionKind::Conversion(_) => self.class_mut(s.id).conversions.push(callable),
                _ => self.add_functions(ident.name, &[callable], ident.span),
            }
            return;
        }
        let display = [&s.name, "::", self.text(&ident)].concat();
        let mut sig = Signature::of(decl, display, scope);
        self.method_signature(&mut sig, decl, s.id);
        let mut info = self.signature(sig);
        // Default arguments stand in the struct.
        if info.defaults.len() == decl.params.len() {
            info.defaults = decl.params.iter().map(|p| p.default.as_ref()).collect();
        }
        let role = info.role;
        let same = match role {
            Role::Constructor => self.same_parameters(&self.class(s.id).constructors, &info.params, None),
            Role::Plain => match self.here(ident.name) {
                Some(Decl::Functions(set)) => {
                    let set = set.clone();
                    self.same_parameters(&set, &info.params, info.this.as_ref())
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(old) = same {
            let place = self.func(old).span;
            // The types `const T&` and `T&&` are the same for a reference `T`; the library leaves that to this check.
            if self.in_library(place) && self.class(s.id).template.is_some() {
                return;
            }
            let message = format!("`{}` is declared twice", info.display);
            self.report(Diagnostic::error(Code::Redefinition, ident.span, message).related(place, "first here"));
            return;
        }
        let index = self.add_func(info);
        match role {
            Role::Constructor => self.class_mut(s.id).constructors.push(Callable::Func(index)),
            Role::Destructor => self.class_mut(s.id).destructor = Some(index),
            Role::Conversion => self.class_mut(s.id).conversions.push(Callable::Func(index)),
            Role::Plain => self.add_functions(ident.name, &[Callable::Func(index)], ident.span),
        }
    }

    /// Special members: what the language makes of a struct by itself follows from what it declares.
    pub(super) fn special_members(&mut self, s: &Rc<StructTy>, decl: &'a StructDecl) {
        let own = Ty::new(Kind::Struct(s.clone()));
        let mut defaulted = Vec::new();
        let (mut deleted_default, mut plain_destructor) = (false, false);
        // The declared operations, defaulted or deleted ones too: those that copy, assign or destroy.
        let (mut says_copy, mut says_other) = (false, false);
        let assignment = self.known.operators["="];
        for member in &decl.members {
            let MemberKind::Function(f) = &member.kind else { continue };
            match f.kind {
                FunctionKind::Constructor => {
                    if f.is_defaulted {
                        defaulted.push(f.name.last().span);
                    }
                    deleted_default |= f.is_deleted && f.params.is_empty();
                }
                FunctionKind::Destructor => {
                    plain_destructor = f.is_defaulted;
                    says_other = true;
                }
                FunctionKind::Plain => says_other |= f.name.last().name == assignment,
                FunctionKind::Conversion(_) => {}
            }
        }
        let constructors = self.class(s.id).constructors.clone();
        let mut kept = Vec::new();
        let mut copies = None;
        let mut moves = None;
        let mut default_constructor = None;
        let mut constructed = false;
        for callable in constructors {
            if let Callable::Func(index) = callable {
                let f = self.func(index);
                let takes_own = f.params.len() == 1 && f.params[0].target().is_some_and(|t| t.unqualified() == own);
                let is_copy = takes_own && matches!(f.params[0].kind, Kind::Reference(_));
                let is_move = takes_own && matches!(f.params[0].kind, Kind::RvalueReference(_));
                says_copy |= is_copy;
                if defaulted.contains(&f.span) && f.code.is_none() {
                    if is_move {
                        moves = Some(Moves::Members);
                    }
                    // The language's own: as if it were not there.
                    if f.params.is_empty() {
                        default_constructor = Some(true);
                    }
                    continue;
                }
                constructed = true;
                if f.params.is_empty() && !f.deleted {
                    default_constructor = Some(true);
                }
                if is_copy {
                    copies = Some(index);
                }
                if is_move {
                    moves = Some(Moves::Constructor(index));
                }
            } else {
                constructed = true;
            }
            kept.push(callable);
        }
        // A destructor that is empty does nothing at the end of a scope.
        if let Some(index) = self.class(s.id).destructor {
            let empty = self.func(index).code.is_some_and(|c| c.body.stmts.is_empty());
            let members = s.layout.get().is_some_and(|l| {
                let fields = l.fields.iter().map(|f| &f.ty);
                fields.chain(l.bases.iter().map(|(b, _)| b)).any(|t| self.needs_destructor(t))
            });
            if plain_destructor || empty && !members {
                self.class_mut(s.id).destructor = None;
            }
        }
        let class = self.class_mut(s.id);
        class.constructors = kept;
        class.constructed = constructed;
        class.copies = copies;
        class.moves = moves.unwrap_or(if says_copy || says_other { Moves::Copies } else { Moves::Members });
        class.moves_only = moves.is_some() && !says_copy;
        class.default_allowed = !deleted_default && (!constructed || default_constructor.is_some());
    }

    /// Bodies of methods of ordinary structs are checked whether they are called or not.
    pub(super) fn check_methods(&mut self, s: &Rc<StructTy>) {
        if self.in_library(self.class(s.id).span) || self.class(s.id).template.is_some() || self.context.is_some() {
            return;
        }
        let class = self.class(s.id);
        let scope = class.scope;
        let mut all: Vec<Callable> = class.constructors.clone();
        all.extend(class.conversions.iter().copied());
        all.extend(class.destructor.map(Callable::Func));
        let names: Vec<Symbol> = self.scopes.names_of(scope).collect();
        for name in names {
            if let Some(Decl::Functions(set)) = self.lookup_in(scope, name) {
                all.extend(set.iter().copied());
            }
        }
        let mut methods: Vec<FuncIndex> = all
            .into_iter()
            .filter_map(|c| match c {
                Callable::Func(index) => Some(index),
                Callable::Template(_) => None,
            })
            .filter(|&i| self.func(i).side != Side::Host && self.func(i).code.is_some())
            .collect();
        methods.sort_by_key(|i| i.0);
        methods.dedup();
        for index in methods {
            let info = self.func_mut(index);
            if info.progress == Progress::Idle && !info.broken {
                info.progress = Progress::Queued;
                self.enqueue(index);
            }
        }
    }
}

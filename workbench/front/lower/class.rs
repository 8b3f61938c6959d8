//! Structs: their members, their layout, and what the language generates for them.

use std::cell::OnceCell;
use std::rc::Rc;

use super::find::Found;
use super::function::{Signature, code_of};
use super::names::{Callable, Decl, FieldDecl, ScopeId, ScopeKind, TArg};
use super::template::{Instance, Partial, PartialDecl, TemplateKind};
use super::tree::{FuncIndex, TemplateIndex};
use super::{Context, Lowerer, Role, Side, Storage};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, Declaration, Expr, FunctionDecl, Ident, Init, Member, MemberKind, Name, StructDecl, StructKey, Symbol,
};
use crate::front::types::{Field, Kind, Layout, StructTy, Ty};
use crate::source::Span;

/// How far a struct has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Named only.
    Declared,
    /// An instance whose members nobody has asked for.
    Waiting,
    /// Its members are being read.
    Running,
    /// Its layout is known.
    Complete,
    /// It was reported.
    Broken,
}

/// What is known of a struct besides its layout.
pub struct Class<'a> {
    pub ty: Rc<StructTy>,
    pub scope: ScopeId,
    pub span: Span,
    pub decl: Option<&'a StructDecl>,
    /// The template and arguments it is an instance of.
    pub template: Option<(TemplateIndex, Rc<[TArg]>)>,
    pub stage: Stage,
    pub constructors: Vec<Callable>,
    pub destructor: Option<FuncIndex>,
    pub conversions: Vec<Callable>,
    /// `= v` of fields, by the field's index.
    pub defaults: Vec<(usize, &'a Init)>,
    /// It has constructors of its own, so that a braced list calls one of them.
    pub constructed: bool,
    /// `S() = default;` or no constructor at all.
    pub default_allowed: bool,
    /// Copying it takes more than copying bytes: the text's own constructor.
    pub copies: Option<FuncIndex>,
    pub context: Option<Rc<Context>>,
    /// A lambda's.
    pub is_closure: bool,
    /// Where a lambda holds the `this` round it.
    pub captured_this: Option<(u32, Ty)>,
    /// Where a lambda's calls may run.
    pub side: Side,
}

impl<'a> Lowerer<'a> {
    pub(super) fn class(&self, id: u32) -> &Class<'a> {
        &self.classes[id as usize]
    }

    pub(super) fn class_mut(&mut self, id: u32) -> &mut Class<'a> {
        &mut self.classes[id as usize]
    }

    /// A new struct type.
    pub(super) fn new_struct(&mut self, name: String, is_union: bool, parent: ScopeId, span: Span) -> Rc<StructTy> {
        let id = self.classes.len() as u32;
        let ty = Rc::new(StructTy { id, name, is_union, vector: None, layout: OnceCell::new(), alias: OnceCell::new() });
        let scope = self.scopes.create(ScopeKind::Class(id), parent, None);
        self.classes.push(Class {
            ty: ty.clone(),
            scope,
            span,
            decl: None,
            template: None,
            stage: Stage::Declared,
            constructors: Vec::new(),
            destructor: None,
            conversions: Vec::new(),
            defaults: Vec::new(),
            constructed: false,
            default_allowed: true,
            copies: None,
            context: self.context.clone(),
            is_closure: false,
            captured_this: None,
            side: Side::Both,
        });
        ty
    }

    /// A type that is nothing but itself, for ordering templates.
    pub(super) fn invented_type(&mut self) -> Ty {
        let scope = self.scopes.current();
        let ty = self.new_struct("T".to_owned(), false, scope, Span::NONE);
        Ty::new(Kind::Struct(ty))
    }

    /// `struct S { ... };`; the type, when it is not a template.
    pub(super) fn struct_declaration(&mut self, decl: &'a StructDecl) -> Ty {
        let is_union = decl.key == StructKey::Union;
        let Some(name) = &decl.name else {
            let scope = self.scopes.current();
            let ty = self.new_struct("struct".to_owned(), is_union, scope, decl.span);
            self.begin_struct(&ty, decl);
            return Ty::new(Kind::Struct(ty));
        };
        let ident = name.last();
        let args = name.last_part().args.as_deref();
        let own = decl.templates.last();
        if args.is_none()
            && let Some(head) = own.filter(|h| !h.params.is_empty())
        {
            self.struct_template(decl, ident, &head.params);
            return Ty::error();
        }
        if let Some(args) = args {
            let Some(index) = self.template_named(name) else {
                self.unknown(&ident, name.span, "struct template");
                return Ty::error();
            };
            if let Some(head) = own.filter(|h| !h.params.is_empty()) {
                let scope = self.scopes.current();
                let partial =
                    Rc::new(Partial { params: &head.params, args, decl: PartialDecl::Struct(decl), scope });
                if let TemplateKind::Struct { partials, .. } = &mut self.template_mut(index).kind {
                    partials.push(partial);
                }
                return Ty::error();
            }
            return self.explicit_struct(index, args, decl, name);
        }
        if name.parts.len() > 1 {
            // `struct A::B { ... };`
            let Found::Type(ty) = self.find(name) else {
                self.unknown(&ident, name.span, "struct");
                return Ty::error();
            };
            if let Some(s) = ty.as_struct().cloned() {
                self.begin_struct(&s, decl);
            }
            return ty;
        }
        let known = match self.scopes.here(ident.name) {
            Some(Decl::Type(ty)) => ty.as_struct().cloned(),
            _ => None,
        };
        let known = match known {
            None if !decl.complete => match self.scopes.lookup(ident.name) {
                Some(Decl::Type(ty)) if ty.is_struct() => ty.as_struct().cloned(),
                _ => None,
            },
            known => known,
        };
        let ty = match known {
            Some(ty) => ty,
            None => {
                let scope = self.scopes.current();
                let ty = self.new_struct(self.text(&ident).to_owned(), is_union, scope, ident.span);
                self.declare(ident.name, Decl::Type(Ty::new(Kind::Struct(ty.clone()))), ident.span);
                ty
            }
        };
        if decl.complete {
            self.begin_struct(&ty, decl);
        }
        Ty::new(Kind::Struct(ty))
    }

    fn struct_template(&mut self, decl: &'a StructDecl, ident: Ident, params: &'a [crate::front::ast::TemplateParam]) {
        if let Some(Decl::Template(index)) = self.scopes.here(ident.name).cloned()
            && matches!(self.template(index).kind, TemplateKind::Struct { .. })
        {
            let TemplateKind::Struct { decl: old, .. } = &self.template(index).kind else { return };
            let (old, place) = (*old, self.template(index).span);
            if old.complete && decl.complete {
                let message = format!("template `{}` is defined twice", self.text(&ident));
                self.report(
                    Diagnostic::error(Code::Redefinition, ident.span, message).related(place, "first defined here"),
                );
            } else if decl.complete {
                let template = self.template_mut(index);
                template.params = params;
                if let TemplateKind::Struct { decl: d, .. } = &mut template.kind {
                    *d = decl;
                }
            }
            return;
        }
        let kind = TemplateKind::Struct { decl, partials: Vec::new(), members: Vec::new() };
        let index = self.add_template(ident, params, kind);
        self.declare(ident.name, Decl::Template(index), ident.span);
    }

    /// `template <> struct S<int> { ... };`
    fn explicit_struct(
        &mut self,
        index: TemplateIndex,
        args: &'a [crate::front::ast::TemplateArg],
        decl: &'a StructDecl,
        name: &'a Name,
    ) -> Ty {
        let Some(given) = self.template_args(args) else { return Ty::error() };
        let Some(full) = self.complete_args(index, &given, name.span) else { return Ty::error() };
        let shown = format!("{}{}", self.text(&name.last()), self.args_text(&full));
        let existing = match self.template(index).instances.get(&full) {
            Some(Instance::Struct(s)) => Some(s.clone()),
            _ => None,
        };
        let ty = match existing {
            Some(ty) if matches!(self.class(ty.id).stage, Stage::Declared | Stage::Waiting) => ty,
            Some(_) => {
                let message = format!("`{shown}` is specialised after it has been used");
                self.report(Diagnostic::error(Code::Redefinition, name.span, message));
                return Ty::error();
            }
            None => {
                let scope = self.scopes.current();
                let ty = self.new_struct(shown, decl.key == StructKey::Union, scope, name.span);
                self.template_mut(index).instances.insert(full.clone(), Instance::Struct(ty.clone()));
                ty
            }
        };
        self.class_mut(ty.id).template = Some((index, full));
        self.class_mut(ty.id).stage = Stage::Declared;
        // The template's own name means this instance inside.
        let scope = self.class(ty.id).scope;
        self.scopes.redeclare(
            scope,
            name.last().name,
            Decl::Type(Ty::new(Kind::Struct(ty.clone()))),
            name.span,
        );
        if decl.complete {
            self.begin_struct(&ty, decl);
        }
        Ty::new(Kind::Struct(ty))
    }

    /// An instance of a struct template; its members are read when they are needed.
    pub(super) fn struct_instance(&mut self, index: TemplateIndex, args: &Rc<[TArg]>, name: String) -> Rc<StructTy> {
        let TemplateKind::Struct { decl, .. } = &self.template(index).kind else {
            let scope = self.scopes.current();
            return self.new_struct(name, false, scope, Span::NONE);
        };
        let (decl, span) = (*decl, self.template(index).span);
        let scope = self.instance_scope(index, args);
        let ty = self.new_struct(name, decl.key == StructKey::Union, scope, span);
        let class = self.class_mut(ty.id);
        class.template = Some((index, args.clone()));
        class.stage = Stage::Waiting;
        ty
    }

    /// Makes sure that the members of a struct are known; reports one that is only declared.
    pub(super) fn complete(&mut self, s: &Rc<StructTy>, span: Span) -> bool {
        match self.class(s.id).stage {
            Stage::Complete | Stage::Running => true,
            Stage::Broken => false,
            Stage::Declared => {
                let place = self.class(s.id).span;
                let message = format!("`{}` is declared, and what it holds is not known here", s.name);
                self.report(Diagnostic::error(Code::Incomplete, span, message).related(place, "declared here"));
                false
            }
            Stage::Waiting => self.complete_instance(s, span),
        }
    }

    /// [`Self::complete`] for a type, arrays looked into; anything that is no struct is complete.
    pub(super) fn complete_type(&mut self, ty: &Ty, span: Span) -> bool {
        match ty.innermost().as_struct().cloned() {
            Some(s) => self.complete(&s, span),
            None => true,
        }
    }

    /// Completes a struct where that takes no more than reading an instance's members; nothing is reported of one that is
    /// only declared.
    pub(super) fn try_complete(&mut self, ty: &Ty) {
        if let Some(s) = ty.as_struct().cloned()
            && self.class(s.id).stage == Stage::Waiting
        {
            let span = self.class(s.id).span;
            self.complete_instance(&s, span);
        }
    }

    fn complete_instance(&mut self, s: &Rc<StructTy>, span: Span) -> bool {
        let Some((index, args)) = self.class(s.id).template.clone() else { return false };
        let TemplateKind::Struct { decl, partials, .. } = &self.template(index).kind else { return false };
        let (mut decl, partials) = (*decl, partials.clone());
        let Some(outer) = self.push_context(s.name.clone(), span) else {
            self.class_mut(s.id).stage = Stage::Broken;
            return false;
        };
        self.class_mut(s.id).stage = Stage::Running;
        match self.best_partial(&partials, &args, span) {
            Ok(Some((partial, bound))) => {
                let scope = self.scopes.create(ScopeKind::Template, partial.scope, None);
                self.bind(scope, partial.params, &bound);
                let own = self.scopes.create(ScopeKind::Class(s.id), scope, None);
                self.class_mut(s.id).scope = own;
                if let PartialDecl::Struct(d) = partial.decl {
                    decl = d;
                }
            }
            Ok(None) => {}
            Err(()) => {
                self.class_mut(s.id).stage = Stage::Broken;
                self.context = outer;
                return false;
            }
        }
        if !decl.complete {
            self.class_mut(s.id).stage = Stage::Waiting;
            self.context = outer;
            let message = format!("template `{}` is declared, and what it holds is not known here", s.name);
            self.report(Diagnostic::error(Code::Incomplete, span, message).related(decl.span, "declared here"));
            return false;
        }
        let name = self.template(index).name;
        let scope = self.class(s.id).scope;
        self.scopes.redeclare(scope, name, Decl::Type(Ty::new(Kind::Struct(s.clone()))), decl.span);
        self.class_mut(s.id).context = self.context.clone();
        self.members(s, decl);
        self.context = outer;
        self.class(s.id).stage == Stage::Complete
    }

    /// Reads the members of a struct that is not an instance.
    fn begin_struct(&mut self, s: &Rc<StructTy>, decl: &'a StructDecl) {
        if self.class(s.id).stage != Stage::Declared {
            let place = self.class(s.id).span;
            let message = format!("`{}` is defined twice", s.name);
            self.report(Diagnostic::error(Code::Redefinition, decl.span, message).related(place, "first defined here"));
            return;
        }
        self.class_mut(s.id).stage = Stage::Running;
        if let Some(name) = &decl.name {
            self.class_mut(s.id).span = name.last().span;
        }
        self.members(s, decl);
    }

    fn members(&mut self, s: &Rc<StructTy>, decl: &'a StructDecl) {
        self.class_mut(s.id).decl = Some(decl);
        let scope = self.class(s.id).scope;
        let here = self.scopes.enter(scope);
        let errors = self.diags.len();
        let mut fine = true;
        let bases = self.bases(s, decl, &mut fine);
        let mut fields: Vec<Field> = Vec::new();
        let mut methods: Vec<&'a FunctionDecl> = Vec::new();
        for member in &decl.members {
            fine &= self.member_declaration(s, member, &mut fields, &mut methods);
        }
        let align = self.asked_alignment(decl.align.as_deref());
        // Static members and aliases have seen what they need; fields get their places now.
        match Layout::new(bases, fields, s.is_union, align) {
            Some(layout) if layout.size <= 1 << 30 => {
                self.declare_fields(s, &layout, 0, scope);
                let _ = s.layout.set(layout);
            }
            _ => {
                if fine {
                    let message = format!("`{}` holds something whose size is not known, or is too large", s.name);
                    self.report(Diagnostic::error(Code::TypeMismatch, decl.span, message));
                }
                fine = false;
            }
        }
        for method in methods {
            self.method_declaration(s, method);
        }
        self.special_members(s, decl);
        self.class_mut(s.id).stage = if fine { Stage::Complete } else { Stage::Broken };
        if !fine && self.diags.len() == errors && self.quiet == 0 {
            let message = format!("`{}` cannot be laid out", s.name);
            self.report(Diagnostic::error(Code::TypeMismatch, decl.span, message));
        }
        self.scopes.enter(here);
        self.check_methods(s);
    }

    fn bases(&mut self, s: &Rc<StructTy>, decl: &'a StructDecl, fine: &mut bool) -> Vec<Ty> {
        let mut bases = Vec::new();
        let scope = self.class(s.id).scope;
        for base in &decl.bases {
            let mut one = |this: &mut Self| {
                let ty = this.named_type(&base.name, base.name.span);
                let Some(b) = ty.as_struct().cloned() else {
                    if !ty.is_error() {
                        let message = format!("`{ty}` is no struct and cannot be a base");
                        this.report(Diagnostic::error(Code::TypeMismatch, base.name.span, message));
                    }
                    *fine = false;
                    return;
                };
                if !this.complete(&b, base.name.span) || b.layout.get().is_none() {
                    *fine = false;
                    return;
                }
                let base_scope = this.class(b.id).scope;
                this.scopes.also(scope, base_scope);
                bases.push(ty.unqualified());
            };
            if base.pack {
                let mut names = Vec::new();
                super::walk::names_in_name(&base.name, &mut |n| names.push(n));
                self.expand(&names, base.name.span, one);
            } else {
                one(self);
            }
        }
        bases
    }

    /// `alignas(n)`, `__align__(n)`: 1 where there is none.
    pub(super) fn asked_alignment(&mut self, align: Option<&'a Expr>) -> u32 {
        let Some(e) = align else { return 1 };
        let Some(n) = self.constant_integer(e, "an alignment") else { return 1 };
        match u32::try_from(n) {
            Ok(n) if n.is_power_of_two() && n <= 256 => n,
            _ => {
                let message = format!("an alignment is a power of two up to 256, not {n}");
                self.report(Diagnostic::error(Code::TypeMismatch, e.span, message));
                1
            }
        }
    }

    fn member_declaration(
        &mut self,
        s: &Rc<StructTy>,
        member: &'a Member,
        fields: &mut Vec<Field>,
        methods: &mut Vec<&'a FunctionDecl>,
    ) -> bool {
        match &member.kind {
            MemberKind::Field(decl) if !decl.templates.is_empty() => {
                self.variable_template(decl);
                true
            }
            MemberKind::Field(decl) if decl.specs.is_static => {
                self.static_member(s, decl);
                true
            }
            MemberKind::Field(decl) => self.fields(s, decl, fields),
            MemberKind::Function(decl) => {
                methods.push(decl);
                true
            }
            MemberKind::Alias(alias) => {
                self.alias(alias);
                true
            }
            MemberKind::Enum(decl) => {
                self.enumeration(decl);
                true
            }
            MemberKind::Struct(inner) => {
                let unnamed = inner.name.is_none();
                let ty = self.struct_declaration(inner);
                if unnamed {
                    if ty.layout().is_none() {
                        return false;
                    }
                    fields.push(Field { name: None, ty, offset: 0, mutable: false });
                }
                true
            }
            MemberKind::StaticAssert(assertion) => {
                self.static_assert(assertion);
                true
            }
            MemberKind::Using(name) => {
                self.using_member(s, name);
                true
            }
            MemberKind::FriendFunction(decl) => {
                // A friend lives in the namespace round the struct, and is found through its arguments.
                let scope = self.scopes.namespace_of(self.scopes.current());
                let here = self.scopes.enter(scope);
                self.friend(decl, here);
                self.scopes.enter(here);
                true
            }
            MemberKind::FriendType(_) => true,
        }
    }

    /// A friend defined in a struct: a function of the namespace that sees the struct's names.
    fn friend(&mut self, decl: &'a FunctionDecl, class_scope: ScopeId) {
        let ident = decl.name.last();
        if decl.name.parts.len() > 1 || (decl.body.is_none() && decl.templates.is_empty()) {
            return;
        }
        if decl.templates.last().is_some_and(|h| !h.params.is_empty()) {
            let namespace = self.scopes.enter(class_scope);
            let params = Self::own_head(&decl.templates);
            let index = self.add_template(ident, params, TemplateKind::Function { decl, owner: None });
            self.scopes.enter(namespace);
            self.add_functions(ident.name, &[Callable::Template(index)], ident.span);
            return;
        }
        let info = self.signature(Signature::of(decl, self.text(&ident).to_owned(), class_scope));
        let index = self.add_func(info);
        self.add_functions(ident.name, &[Callable::Func(index)], ident.span);
    }

    fn using_member(&mut self, s: &Rc<StructTy>, name: &'a Name) {
        // `using Base::Base;` takes the base's constructors over.
        let [.., outer, last] = name.parts.as_slice() else {
            return;
        };
        if outer.ident.name == last.ident.name
            || self.scopes.lookup(last.ident.name).is_some_and(|d| matches!(d, Decl::Type(t) if t.is_struct()))
        {
            let bases: Vec<u32> = self
                .class(s.id)
                .decl
                .map(|d| d.bases.iter().collect::<Vec<_>>())
                .unwrap_or_default()
                .into_iter()
                .filter_map(|b| self.named_type(&b.name, b.name.span).as_struct().map(|s| s.id))
                .collect();
            for base in bases {
                let inherited = self.class(base).constructors.clone();
                self.class_mut(s.id).constructors.extend(inherited);
            }
            return;
        }
        self.using_declaration(name);
    }

    fn fields(&mut self, s: &Rc<StructTy>, decl: &'a Declaration, fields: &mut Vec<Field>) -> bool {
        let mut fine = true;
        for var in &decl.vars {
            if var.bits.is_some() {
                let message = format!("bit-fields are not supported: `{}`", self.text(&var.name));
                self.report(
                    Diagnostic::error(Code::Unsupported, var.name.span, message)
                        .help("use a whole integer, and shifts and masks"),
                );
                fine = false;
                continue;
            }
            let mut ty = match (&var.ty.base, var.ty.layers.is_empty()) {
                (BaseType::Auto, _) => {
                    let message = "a field cannot be `auto`";
                    self.report(Diagnostic::error(Code::TypeMismatch, var.ty.span, message).help("write its type"));
                    Ty::error()
                }
                _ => self.type_name(&var.ty),
            };
            if !ty.is_error() && !ty.is_reference() {
                self.complete_type(&ty, var.ty.span);
            }
            if ty.innermost().as_struct().is_some_and(|inner| inner.id == s.id) && !ty.is_reference() {
                let message = format!("`{}` cannot hold itself", s.name);
                self.report(
                    Diagnostic::error(Code::TypeMismatch, var.name.span, message).help("hold a pointer to it"),
                );
                ty = Ty::error();
            }
            if ty.is_error() || (!ty.is_reference() && ty.size().is_none()) {
                if !ty.is_error() && !ty.innermost().is_struct() {
                    let message = format!("`{}` is `{ty}`, which has no size", self.text(&var.name));
                    self.report(Diagnostic::error(Code::TypeMismatch, var.name.span, message));
                }
                fine = false;
                continue;
            }
            if let Some(init) = &var.init {
                let at = fields.len();
                self.class_mut(s.id).defaults.push((at, init));
            }
            fields.push(Field { name: Some(var.name.name), ty, offset: 0, mutable: decl.specs.mutable });
        }
        fine
    }

    /// Declares the names of fields, those of unnamed members in the struct round them.
    pub(super) fn declare_fields(&mut self, s: &Rc<StructTy>, layout: &Layout, base: u32, scope: ScopeId) {
        let span = self.class(s.id).span;
        for field in &layout.fields {
            match field.name {
                Some(name) => {
                    let decl = FieldDecl {
                        owner: s.id,
                        offset: base + field.offset,
                        ty: field.ty.clone(),
                        mutable: field.mutable,
                    };
                    if self.scopes.declare_in(scope, name, Decl::Field(decl.into()), span).is_err() {
                        let message = format!("`{}` has two members `{}`", s.name, self.interner.name(name));
                        self.report(Diagnostic::error(Code::Redefinition, span, message));
                    }
                }
                None => {
                    if let Some(inner) = field.ty.layout() {
                        self.declare_fields(s, &inner.clone(), base + field.offset, scope);
                    }
                }
            }
        }
    }

    /// Static members: constants, or data of the device that is refused elsewhere.
    fn static_member(&mut self, s: &Rc<StructTy>, decl: &'a Declaration) {
        for var in &decl.vars {
            if var.init.is_some() {
                self.member_constant(&decl.specs, var);
                continue;
            }
            let ty = self.type_name(&var.ty);
            let message = format!("static member `{}::{}` without a constant value", s.name, self.text(&var.name));
            self.report(
                Diagnostic::error(Code::Unsupported, var.name.span, format!("{message} is not supported"))
                    .help("make it `static constexpr` with its value here"),
            );
            self.declare_var(var, ty, Storage::Nowhere, None);
        }
    }

    /// The parts of a method's signature that its struct decides.
    pub(super) fn method_signature(&mut self, sig: &mut Signature<'a>, decl: &'a FunctionDecl, owner: u32) {
        let class = Ty::new(Kind::Struct(self.class(owner).ty.clone()));
        if !decl.specs.is_static {
            sig.this = Some(class.qualified(decl.is_const, false));
        }
        if decl.is_defaulted && sig.side == Side::Host && !decl.specs.host {
            sig.side = Side::Both;
        }
        if sig.code.is_none()
            && let Some((template, _)) = self.class(owner).template.clone()
            && let Some(outside) = self.member_outside(template, owner, decl)
        {
            let code = code_of(outside);
            sig.params = &outside.params;
            sig.code = code;
            sig.whole = outside.span;
            sig.span = outside.name.last().span;
            sig.scope = self.outside_scope(outside, owner, sig.scope);
        }
    }

    /// The definition outside of a struct template for a method declared in it.
    fn member_outside(&self, template: TemplateIndex, _owner: u32, decl: &FunctionDecl) -> Option<&'a FunctionDecl> {
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
    fn outside_scope(&mut self, decl: &'a FunctionDecl, owner: u32, inner: ScopeId) -> ScopeId {
        let Some((_, args)) = self.class(owner).template.clone() else { return inner };
        let scope = self.scopes.create(ScopeKind::Template, inner, None);
        if let Some(head) = decl.templates.first() {
            self.bind(scope, &head.params, &args);
        }
        scope
    }

    fn method_declaration(&mut self, s: &Rc<StructTy>, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        let scope = self.scopes.current();
        let templated = decl.templates.last().is_some_and(|h| !h.params.is_empty());
        if templated || super::function::has_auto(&decl.params) {
            let params = Self::own_head(&decl.templates);
            let index = self.add_template(ident, params, TemplateKind::Function { decl, owner: Some(s.id) });
            let callable = Callable::Template(index);
            match decl.kind {
                crate::front::ast::FunctionKind::Constructor => self.class_mut(s.id).constructors.push(callable),
                crate::front::ast::FunctionKind::Conversion(_) => self.class_mut(s.id).conversions.push(callable),
                _ => self.add_functions(ident.name, &[callable], ident.span),
            }
            return;
        }
        let display = format!("{}::{}", s.name, self.text(&ident));
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
            Role::Plain => match self.scopes.here(ident.name) {
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

    /// What the language makes of a struct by itself follows from what it declares.
    fn special_members(&mut self, s: &Rc<StructTy>, decl: &'a StructDecl) {
        let own = Ty::new(Kind::Struct(s.clone()));
        let mut defaulted = Vec::new();
        let mut deleted_default = false;
        for member in &decl.members {
            if let MemberKind::Function(f) = &member.kind
                && matches!(f.kind, crate::front::ast::FunctionKind::Constructor)
            {
                if f.is_defaulted {
                    defaulted.push(f.name.last().span);
                }
                deleted_default |= f.is_deleted && f.params.is_empty();
            }
        }
        let constructors = self.class(s.id).constructors.clone();
        let mut kept = Vec::new();
        let mut copies = None;
        let mut default_constructor = None;
        let mut constructed = false;
        for callable in constructors {
            if let Callable::Func(index) = callable {
                let f = self.func(index);
                if defaulted.contains(&f.span) && f.code.is_none() {
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
                let is_copy = f.params.len() == 1
                    && f.params[0].target().is_some_and(|t| t.unqualified() == own)
                    && matches!(f.params[0].kind, Kind::Reference(_));
                if is_copy {
                    copies = Some(index);
                }
            } else {
                constructed = true;
            }
            kept.push(callable);
        }
        // A destructor that is empty does nothing at the end of a scope.
        if let Some(index) = self.class(s.id).destructor {
            let empty = self.func(index).code.is_some_and(|c| c.body.stmts.is_empty()) || self.func(index).code.is_none();
            let members = s.layout.get().is_some_and(|l| {
                let fields = l.fields.iter().map(|f| &f.ty);
                fields.chain(l.bases.iter().map(|(b, _)| b)).any(|t| self.needs_destructor(t))
            });
            if empty && !members {
                self.class_mut(s.id).destructor = None;
            }
        }
        let class = self.class_mut(s.id);
        class.constructors = kept;
        class.constructed = constructed;
        class.copies = copies;
        class.default_allowed = !deleted_default && (!constructed || default_constructor.is_some());
    }

    /// Bodies of methods of ordinary structs are checked whether they are called or not.
    fn check_methods(&mut self, s: &Rc<StructTy>) {
        if self.class(s.id).template.is_some() || self.context.is_some() {
            return;
        }
        let class = self.class(s.id);
        let scope = class.scope;
        let mut all: Vec<Callable> = class.constructors.clone();
        all.extend(class.conversions.iter().copied());
        all.extend(class.destructor.map(Callable::Func));
        let names: Vec<Symbol> = self.scopes.names_of(scope).collect();
        for name in names {
            if let Some(Decl::Functions(set)) = self.scopes.member(scope, name) {
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
            if info.progress == super::Progress::Idle && !info.broken {
                info.progress = super::Progress::Queued;
                self.queue.push_back(index);
            }
        }
    }

    /// A function with a qualified name: a member defined outside of its struct, or a function of a namespace.
    pub(super) fn out_of_line(&mut self, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        // `template <typename T> void S<T>::f() { ... }`
        if let Some(part) = decl.name.qualifiers().last()
            && part.args.is_some()
            && decl.templates.first().is_some_and(|h| !h.params.is_empty())
        {
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
            return;
        }
        let mut scope = None;
        let mut owner = None;
        let mut first = !decl.name.global;
        for part in decl.name.qualifiers() {
            let found = match (first, scope) {
                (true, _) => self.scopes.lookup(part.ident.name),
                (false, Some(scope)) => self.scopes.member(scope, part.ident.name),
                (false, None) => self.scopes.member(super::names::GLOBAL, part.ident.name),
            };
            first = false;
            let found = match (&part.args, found) {
                (Some(args), Some(Decl::Template(index))) => {
                    let Some(given) = self.template_args(args) else { return };
                    match self.instantiate(index, &given, part.ident.span) {
                        Found::Type(ty) => Some(Decl::Type(ty)),
                        _ => return,
                    }
                }
                (_, found) => found,
            };
            match found {
                Some(Decl::Namespace(inner)) => scope = Some(inner),
                Some(Decl::Type(ty)) if ty.is_error() => return,
                Some(Decl::Type(ty)) if ty.is_struct() => {
                    let Some(s) = ty.as_struct().cloned() else { return };
                    if !self.complete(&s, part.ident.span) {
                        return;
                    }
                    scope = Some(self.class(s.id).scope);
                    owner = Some(s);
                }
                _ => {
                    self.unknown(&part.ident, part.ident.span, "struct or namespace");
                    return;
                }
            }
        }
        let Some(scope) = scope else { return };
        let Some(s) = owner else {
            let here = self.scopes.enter(scope);
            self.in_namespace(decl);
            self.scopes.enter(here);
            return;
        };
        let templated = decl.templates.last().is_some_and(|h| !h.params.is_empty());
        let set: Vec<Callable> = match (&decl.kind, self.scopes.member(scope, ident.name)) {
            (crate::front::ast::FunctionKind::Constructor, _) => self.class(s.id).constructors.clone(),
            (crate::front::ast::FunctionKind::Destructor, _) => {
                self.class(s.id).destructor.map(Callable::Func).into_iter().collect()
            }
            (crate::front::ast::FunctionKind::Conversion(_), _) => self.class(s.id).conversions.clone(),
            (_, Some(Decl::Functions(set))) => set.to_vec(),
            _ => Vec::new(),
        };
        if templated {
            for callable in &set {
                if let Callable::Template(index) = *callable
                    && let TemplateKind::Function { decl: old, .. } = &self.template(index).kind
                    && old.body.is_none()
                    && old.params.len() == decl.params.len()
                {
                    let template = self.template_mut(index);
                    template.kind = TemplateKind::Function { decl, owner: Some(s.id) };
                    template.params = Self::own_head(&decl.templates);
                    return;
                }
            }
        }
        let (info, _) = self.quietly(|this| this.signature(Signature::of(decl, String::new(), scope)));
        let this = Ty::new(Kind::Struct(s.clone())).qualified(decl.is_const, false);
        match self.same_parameters(&set, &info.params, Some(&this)) {
            Some(index) => {
                self.define(index, decl, scope);
                if self.func(index).side != Side::Host && self.func(index).progress == super::Progress::Idle {
                    self.func_mut(index).progress = super::Progress::Queued;
                    self.queue.push_back(index);
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

    /// `void ns::f() { ... }`
    fn in_namespace(&mut self, decl: &'a FunctionDecl) {
        let ident = decl.name.last();
        let info = self.signature(Signature::of(decl, self.text(&ident).to_owned(), self.scopes.current()));
        let set = match self.scopes.here(ident.name) {
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
    fn template_by_parts(&self, name: &Name) -> Option<TemplateIndex> {
        let mut scope = None;
        for part in &name.parts {
            let decl = match scope {
                None => self.scopes.lookup(part.ident.name),
                Some(scope) => self.scopes.member(scope, part.ident.name),
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
    fn define_in_instances(&mut self, template: TemplateIndex, decl: &'a FunctionDecl) {
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
            let Some(Decl::Functions(set)) = self.scopes.member(class_scope, decl.name.last().name) else { continue };
            for callable in set.iter() {
                let Callable::Func(index) = *callable else { continue };
                let f = self.func(index);
                let is_const = f.this.as_ref().is_some_and(|t| t.is_const);
                if f.code.is_none() && f.params.len() == decl.params.len() && is_const == decl.is_const {
                    let scope = self.outside_scope(decl, id, class_scope);
                    self.define(index, decl, scope);
                }
            }
        }
    }

    /// Reports a name that a struct does not have.
    pub(super) fn no_member(&mut self, s: &Rc<StructTy>, ident: &Ident) {
        let scope = self.class(s.id).scope;
        let names: Vec<Symbol> = self.scopes.names_of(scope).collect();
        let near = super::names::nearest(self.text(ident), names.into_iter().map(|n| self.interner.name(n)));
        let place = self.class(s.id).span;
        let message = format!("`{}` has no member `{}`", s.name, self.text(ident));
        let mut diag = Diagnostic::error(Code::UnknownName, ident.span, message);
        if place != Span::NONE {
            diag = diag.related(place, format!("`{}` is declared here", s.name));
        }
        if let Some(near) = near {
            diag = diag.help(format!("did you mean `{near}`?"));
        }
        self.report(diag);
    }
}

//! Structs: their members, their layout, and what the language generates for them.

use std::cell::OnceCell;
use std::rc::Rc;

use super::access::Guards;
use super::bit_fields::MAX_BITS;
use super::fields::MAX_ALIGN;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{FunctionDecl, Ident, Init, Name, StructDecl, StructKey};
use crate::front::class_layout::Packing;
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl, ScopeId, ScopeKind, TArg};
use crate::front::lower::templates::declarations::{Instance, Partial, PartialDecl, TemplateKind};
use crate::front::lower::{InstanceContext, Lowerer, Side};
use crate::front::types::{Field, Kind, Layout, MAX_PARTS, StructTy, Ty};
use crate::source::Span;

/// Stages of a struct's definition.
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

/// Ways a class's objects are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// Member by member; as a whole they are copied where none of those moves.
    Members,
    /// Its own move constructor moves them; the copy constructor is then deleted if the class does not declare it.
    Constructor(FuncIndex),
    /// Moves are copies: the class has a copy constructor, an assignment or a destructor of its own, and declares no move.
    Copies,
}

/// Struct of the text or the library, besides its layout.
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
    /// Way an object is made from one that may be taken apart.
    pub moves: Moves,
    /// It says how it moves and not how it is copied, so it is not.
    pub moves_only: bool,
    pub context: Option<Rc<InstanceContext>>,
    /// A lambda's.
    pub is_closure: bool,
    /// Function that a closure which captures nothing converts to a pointer to.
    pub plain: Option<FuncIndex>,
    /// Place where a lambda holds the `this` round it.
    pub captured_this: Option<(u32, Ty)>,
    /// Access to its members.
    pub guards: Guards,
    /// Side that a lambda's calls may run on.
    pub side: Side,
}

impl<'a> Lowerer<'a> {
    pub(in crate::front::lower) fn class(&self, id: u32) -> &Class<'a> {
        &self.classes[id as usize]
    }

    pub(in crate::front::lower) fn class_mut(&mut self, id: u32) -> &mut Class<'a> {
        &mut self.classes[id as usize]
    }

    /// A new struct type.
    pub(in crate::front::lower) fn new_struct(
        &mut self,
        name: String,
        is_union: bool,
        parent: ScopeId,
        span: Span,
    ) -> Rc<StructTy> {
        let id = self.classes.len() as u32;
        let ty =
            Rc::new(StructTy { id, name, is_union, vector: None, layout: OnceCell::new(), alias: OnceCell::new() });
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
            moves: Moves::Members,
            moves_only: false,
            context: self.context.clone(),
            is_closure: false,
            plain: None,
            captured_this: None,
            guards: Guards::default(),
            side: Side::Both,
        });
        ty
    }

    /// A type that is nothing but itself, for ordering templates.
    pub(in crate::front::lower) fn invented_type(&mut self) -> Ty {
        let scope = self.scopes.current();
        let ty = self.new_struct("T".to_owned(), false, scope, Span::NONE);
        Ty::new(Kind::Struct(ty))
    }

    /// `struct S { ... };`; the type, when it is not a template.
    pub(in crate::front::lower) fn struct_declaration(&mut self, decl: &'a StructDecl) -> Ty {
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
                    Rc::new(Partial { of: index, params: &head.params, args, decl: PartialDecl::Struct(decl), scope });
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
        let known = match self.here(ident.name) {
            Some(Decl::Type(ty)) => ty.as_struct().cloned(),
            _ => None,
        };
        let known = match known {
            None if !decl.complete => match self.lookup(ident.name) {
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
        if let Some(Decl::Template(index)) = self.here(ident.name)
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
                template.earlier = std::mem::replace(&mut template.params, params);
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
        self.scopes.redeclare(scope, name.last().name, Decl::Type(Ty::new(Kind::Struct(ty.clone()))), name.span);
        if decl.complete {
            self.begin_struct(&ty, decl);
        }
        Ty::new(Kind::Struct(ty))
    }

    /// An instance of a struct template; its members are read when they are needed.
    pub(in crate::front::lower) fn struct_instance(
        &mut self,
        index: TemplateIndex,
        args: &Rc<[TArg]>,
        name: String,
    ) -> Rc<StructTy> {
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
    pub(in crate::front::lower) fn complete(&mut self, s: &Rc<StructTy>, span: Span) -> bool {
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
    pub(in crate::front::lower) fn complete_type(&mut self, ty: &Ty, span: Span) -> bool {
        match ty.innermost().as_struct().cloned() {
            Some(s) => self.complete(&s, span),
            None => true,
        }
    }

    /// Completes a struct where that takes no more than reading an instance's members; nothing is reported of one that is
    /// only declared.
    pub(in crate::front::lower) fn try_complete(&mut self, ty: &Ty) {
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
        self.note_guards(s, decl);
        let scope = self.class(s.id).scope;
        let here = self.scopes.enter(scope);
        let errors = self.diags.len();
        let mut fine = true;
        let bases = self.bases(s, decl, &mut fine);
        self.note_passed_on(s);
        let mut fields: Vec<Field> = Vec::new();
        let mut methods: Vec<&'a FunctionDecl> = Vec::new();
        for member in &decl.members {
            fine &= self.member_declaration(s, member, &mut fields, &mut methods);
        }
        let align = self.asked_alignment(decl.align.as_deref(), MAX_ALIGN);
        let packing = Packing { packed: decl.packed, most: decl.pack.unwrap_or(u32::MAX) };
        // Static members and aliases have seen what they need; fields get their places now.
        match Layout::new(bases, fields, s.is_union, align, packing) {
            Some(layout) if layout.parts > MAX_PARTS => {
                let message = format!("`{}` has more than {MAX_PARTS} members, those of its members counted", s.name);
                self.report(
                    Diagnostic::error(Code::CodeLimit, decl.span, message).help("hold an array, or a pointer to it"),
                );
                fine = false;
            }
            Some(layout) if layout.fields.iter().any(|f| f.bits.is_some_and(|b| b.first + b.width > MAX_BITS)) => {
                let message = format!("a bit-field of `{}` lies in more than 8 bytes, which is not supported", s.name);
                let help = "order the members so that it begins with a byte";
                self.report(Diagnostic::error(Code::Unsupported, decl.span, message).help(help));
                fine = false;
            }
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
        self.scopes.let_wait(scope, &decl.waiting);
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

    /// Reports a name that a struct does not have.
    pub(in crate::front::lower) fn no_member(&mut self, s: &Rc<StructTy>, ident: &Ident) {
        let scope = self.class(s.id).scope;
        let near = self.near(self.text(ident), self.scopes.names_within(scope));
        let place = self.class(s.id).span;
        let message = format!("`{}` has no member `{}`", s.name, self.text(ident));
        let mut diag = Diagnostic::error(Code::UnknownName, ident.span, message);
        if place != Span::NONE {
            diag = diag.related(place, format!("`{}` is declared here", s.name));
        }
        if let Some(near) = near {
            diag = diag.help(format!("did you mean `{near}`?")).replacement(ident.span, near);
        }
        self.report(diag);
    }
}

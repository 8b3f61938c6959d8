//! Members in the braces of a struct: bases, fields, static members, nested declarations, friends.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BaseType, Declaration, Expr, FunctionDecl, Member, MemberKind, Name, StructDecl, VarDecl};
use crate::front::lower::functions::declarations::Signature;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Callable, Decl, FieldDecl, ScopeId};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::lower::{Lowerer, Storage};
use crate::front::types::{Bits, Field, Kind, Layout, StructTy, Ty};
use crate::ir::Scalar;
use std::rc::Rc;

/// Most alignment of a class.
pub(super) const MAX_ALIGN: u32 = 256;

impl<'a> Lowerer<'a> {
    pub(in crate::front::lower) fn bases(
        &mut self,
        s: &Rc<StructTy>,
        decl: &'a StructDecl,
        fine: &mut bool,
    ) -> Vec<Ty> {
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
                this.note_base(s, b.id, base.access);
                bases.push(ty.unqualified());
            };
            if base.pack {
                let mut names = Vec::new();
                mentioned_names::names_in_name(&base.name, &mut |n| names.push(n));
                self.expand(&names, base.name.span, one);
            } else {
                one(self);
            }
        }
        bases
    }

    /// `alignas(n)`, `__align__(n)`: 1 where there is none.
    pub(in crate::front::lower) fn asked_alignment(&mut self, align: Option<&'a Expr>, most: u32) -> u32 {
        let Some(e) = align else { return 1 };
        let Some(n) = self.constant_integer(e, "an alignment") else { return 1 };
        match u32::try_from(n) {
            Ok(n) if n.is_power_of_two() && n <= most => n,
            _ => {
                let message = format!("an alignment is a power of two up to {most}, not {n}");
                self.report(Diagnostic::error(Code::TypeMismatch, e.span, message));
                1
            }
        }
    }

    pub(in crate::front::lower) fn member_declaration(
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
                    fields.push(Field::new(None, ty));
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
    pub(super) fn friend(&mut self, decl: &'a FunctionDecl, class_scope: ScopeId) {
        let ident = decl.name.last();
        if decl.name.parts.len() > 1 || decl.body.is_none() {
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

    pub(super) fn using_member(&mut self, s: &Rc<StructTy>, name: &'a Name) {
        // `using Base::Base;` takes the base's constructors over.
        let [.., outer, last] = name.parts.as_slice() else {
            return;
        };
        if outer.ident.name == last.ident.name
            || self.lookup(last.ident.name).is_some_and(|d| matches!(d, Decl::Type(t) if t.is_struct()))
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

    pub(in crate::front::lower) fn fields(
        &mut self,
        s: &Rc<StructTy>,
        decl: &'a Declaration,
        fields: &mut Vec<Field>,
    ) -> bool {
        let mut fine = true;
        for var in &decl.vars {
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
                self.report(Diagnostic::error(Code::TypeMismatch, var.name.span, message).help("hold a pointer to it"));
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
            let bits = match &var.bits {
                Some(width) => match self.bit_field(&ty, var, width) {
                    Some(bits) => Some(bits),
                    None => {
                        fine = false;
                        continue;
                    }
                },
                None => None,
            };
            if let Some(init) = &var.init {
                // Bit-fields without a name are none of the layout's fields.
                let at = fields.iter().filter(|f| f.bits.is_none() || f.name.is_some()).count();
                self.class_mut(s.id).defaults.push((at, init));
            }
            let name = Some(var.name.name).filter(|&name| bits.is_none() || name != self.known.empty);
            let align = self.asked_alignment(var.align.as_deref(), MAX_ALIGN);
            fields.push(Field { align, packed: var.packed, bits, mutable: decl.specs.mutable, ..Field::new(name, ty) });
        }
        fine
    }

    /// The width of a bit-field; `None` once reported.
    fn bit_field(&mut self, ty: &Ty, var: &'a VarDecl, width: &'a Expr) -> Option<Bits> {
        let name = self.text(&var.name).to_owned();
        let Some(scalar) = ty.scalar().filter(|s| !s.is_float()) else {
            let message = format!("a bit-field is an integer, and `{name}` is `{ty}`");
            self.report(Diagnostic::error(Code::TypeMismatch, var.ty.span, message));
            return None;
        };
        let written = self.constant_integer(width, "the width of a bit-field")?;
        let most = if scalar == Scalar::Bool { 8 } else { i64::from(scalar.bits()) };
        let mut report = |message: String, help: &str| {
            self.report(Diagnostic::error(Code::TypeMismatch, width.span, message).help(help.to_owned()));
        };
        if written < 0 || written > most {
            report(format!("a bit-field of `{ty}` has up to {most} bits, not {written}"), "take a wider type");
            return None;
        }
        if written == 0 && !name.is_empty() {
            report(
                format!("`{name}` has no bits"),
                "leave the name out: then the next bit-field begins a unit of its own",
            );
            return None;
        }
        let unsigned = matches!(&ty.kind, Kind::Enum(e) if e.unsigned);
        Some(Bits { first: 0, width: written as u32, unsigned })
    }

    /// Declares the names of fields, those of unnamed members in the struct round them.
    pub(super) fn declare_fields(&mut self, s: &Rc<StructTy>, layout: &Layout, base: u32, scope: ScopeId) {
        let span = self.class(s.id).span;
        for field in &layout.fields {
            match field.name {
                Some(name) => {
                    let decl = FieldDecl::of(s.id, field, base);
                    let at = self.scopes.watched.and_then(|_| self.field_span(s.id, name)).unwrap_or(span);
                    if self.scopes.declare_in(scope, name, Decl::Field(decl.into()), at).is_err() {
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
    pub(super) fn static_member(&mut self, s: &Rc<StructTy>, decl: &'a Declaration) {
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
}

//! Types as written to types.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Alias, BaseType, EnumDecl, Expr, ExprKind, Name, ParamDecl, StaticAssert, StructDecl, Symbol, TypeLayer, TypeName,
};
use crate::front::builtins::{self, NamedType};
use crate::front::lower::Lowerer;
use crate::front::lower::constants::folding;
use crate::front::lower::expressions::typed_tree::Node;
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::Decl;
use crate::front::spelling::nearest;
use crate::front::types::{EnumTy, FnTy, Kind, Num, Ty};
use crate::ir::{Const, Scalar};
use crate::source::Span;

/// Most parts of a function's type, those of its parameters' types counted.
const MAX_TYPE: u32 = 1000;

/// The largest object, as CUDA's local memory bounds it many times over.
const MAX_SIZE: u64 = 1 << 31;

impl<'a> Lowerer<'a> {
    /// The type of a name; an error type once reported. `auto` is an error here.
    pub(in crate::front::lower) fn type_name(&mut self, ty: &'a TypeName) -> Ty {
        self.type_with_auto(ty, None)
    }

    /// The type of a name in which `auto` stands for a type.
    pub(in crate::front::lower) fn type_with_auto(&mut self, name: &'a TypeName, auto: Option<&Ty>) -> Ty {
        self.type_of_layers(name, &name.layers, auto)
    }

    /// The type of a name of whose pointers, references and arrays only so many count.
    pub(super) fn type_of_layers(&mut self, name: &'a TypeName, layers: &'a [TypeLayer], auto: Option<&Ty>) -> Ty {
        let base: Ty = match &name.base {
            BaseType::Void => Ty::void(),
            BaseType::Bool => Num::Bool.into(),
            BaseType::Char => Num::Char.into(),
            BaseType::SChar => Num::SChar.into(),
            BaseType::UChar => Num::UChar.into(),
            BaseType::Short => Num::Short.into(),
            BaseType::UShort => Num::UShort.into(),
            BaseType::Int => Num::Int.into(),
            BaseType::UInt => Num::UInt.into(),
            BaseType::Long => Num::Long.into(),
            BaseType::ULong => Num::ULong.into(),
            BaseType::LongLong => Num::LongLong.into(),
            BaseType::ULongLong => Num::ULongLong.into(),
            BaseType::Float => Num::Float.into(),
            BaseType::Double => Num::Double.into(),
            BaseType::Auto => match auto {
                Some(ty) => ty.clone(),
                None => {
                    let message = "`auto` needs an initialiser to take its type from";
                    self.report(Diagnostic::error(Code::TypeMismatch, name.span, message).help("write the type"));
                    Ty::error()
                }
            },
            BaseType::DecltypeAuto => match auto {
                Some(ty) => ty.clone(),
                None => {
                    let message = "`decltype(auto)` needs an initialiser to take its type from";
                    self.report(Diagnostic::error(Code::TypeMismatch, name.span, message).help("write the type"));
                    Ty::error()
                }
            },
            BaseType::Decltype(e) => self.decltype(e),
            BaseType::Struct(decl) => self.unnamed_struct(decl),
            BaseType::Named(written) => self.named_type(written, written.span),
        };
        let mut ty = base.qualified(name.is_const, name.is_volatile);
        for layer in layers {
            ty = self.layer(ty, layer, name.span);
        }
        ty
    }

    /// `decltype(e)` ([dcl.type.decltype]).
    fn decltype(&mut self, e: &'a Expr) -> Ty {
        let typed = self.unevaluated(e);
        if typed.is_error() {
            return Ty::error();
        }
        let named = matches!(e.kind, ExprKind::Name(_) | ExprKind::Member { .. });
        if named {
            if let Node::Var(id) = typed.node {
                return self.var(id).ty.clone();
            }
            if let Some(ty) = self.declared_member(e) {
                return ty;
            }
            return typed.ty;
        }
        match (typed.lvalue, typed.xvalue) {
            (true, true) => typed.ty.rvalue_reference(),
            (true, false) => typed.ty.reference(),
            _ => typed.ty,
        }
    }

    /// The type that a member is declared with, whatever the object it is named with.
    fn declared_member(&mut self, e: &'a Expr) -> Option<Ty> {
        let decl = match &e.kind {
            ExprKind::Name(name) => match self.find(name) {
                Found::Field(field) => return Some(field.ty.clone()),
                _ => return None,
            },
            ExprKind::Member { object, member, arrow } => {
                let object = self.unevaluated(object).ty;
                let class = if *arrow { object.pointee()?.clone() } else { object };
                let scope = self.class(class.as_struct()?.id).scope;
                self.lookup_in(scope, member.last().name)
            }
            _ => return None,
        };
        match decl {
            Some(Decl::Field(field)) => Some(field.ty.clone()),
            _ => None,
        }
    }

    /// A struct without a name, which several declarators may share.
    fn unnamed_struct(&mut self, decl: &'a StructDecl) -> Ty {
        let key: *const StructDecl = decl;
        let here = self.scopes.current();
        if let Some((_, _, ty)) = self.unnamed.iter().find(|(k, scope, _)| *k == key && *scope == here) {
            return ty.clone();
        }
        let ty = self.struct_declaration(decl);
        self.unnamed.push((key, here, ty.clone()));
        ty
    }

    /// The type of a name.
    pub(in crate::front::lower) fn named_type(&mut self, written: &'a Name, span: Span) -> Ty {
        match self.find(written) {
            Found::Type(ty) => return ty,
            Found::Error => return Ty::error(),
            Found::None => {}
            Found::Template(index) => {
                let name = self.interner.name(self.template(index).name).to_owned();
                let place = self.template(index).span;
                let message = format!("`{name}` is a template and needs its arguments");
                self.report(
                    Diagnostic::error(Code::ArgumentCount, span, message)
                        .related(place, "declared here")
                        .help(format!("write `{name}<...>`")),
                );
                return Ty::error();
            }
            _ => {
                let symbol = written.last().name;
                if self.unit.skipped.contains(&symbol) {
                    return Ty::error();
                }
                let message = format!("`{}` is not a type", self.interner.name(symbol));
                let mut diag = Diagnostic::error(Code::TypeMismatch, span, message);
                if let Some(place) = self.scopes.span(symbol) {
                    diag = diag.related(place, "declared here");
                }
                self.report(diag);
                return Ty::error();
            }
        }
        let parts = self.strip_std(written);
        if written.parts.iter().any(|p| self.unit.skipped.contains(&p.ident.name)) {
            return Ty::error();
        }
        let path = written.path(self.interner);
        let of_std = path.starts_with("std::");
        let path = path.trim_start_matches("std::").to_owned();
        if parts.len() > 1 {
            if self.unknown_type_within(written, span) {
                return Ty::error();
            }
            match path.split_once("::").and_then(|(n, _)| builtins::unsupported_namespace(n)) {
                Some(advice) => self.unsupported_name(advice, path, span),
                None if of_std => {
                    let message = format!("`std::{path}` is not supported: it is a part of the standard library");
                    self.report(Diagnostic::error(Code::Unsupported, span, message).help("use plain C++"));
                }
                None => self.report(Diagnostic::error(Code::UnknownName, span, format!("unknown type `{path}`"))),
            }
            return Ty::error();
        }
        let name = self.interner.name(written.last().name).to_owned();
        let name = name.as_str();
        if let Some(ty) = self.vector_type(name) {
            return ty;
        }
        match builtins::named_type(name) {
            Some(NamedType::Num(num)) => num.into(),
            Some(NamedType::Nullptr) => Ty::new(Kind::Nullptr),
            Some(NamedType::Unsupported(advice)) => {
                self.unsupported_name(advice, name.to_owned(), span);
                Ty::error()
            }
            None => {
                if self.quiet > 0 || self.room == 0 {
                    // Nobody will read what it might have meant.
                    self.failed = true;
                    return Ty::error();
                }
                if self.unknown_type_within(written, span) {
                    return Ty::error();
                }
                let words = ["float", "double", "int", "unsigned", "char", "short", "long", "bool", "void"];
                let near = self.near(name, self.scopes.symbols());
                let near = near.or_else(|| nearest(name, builtins::names())).or_else(|| nearest(name, words.iter()));
                let mut diag = Diagnostic::error(Code::UnknownName, span, format!("unknown type `{name}`"));
                if let Some(near) = near {
                    diag.message = format!("{}; the nearest known one is `{near}`", diag.message);
                    diag = diag.help(format!("write `{near}`")).replacement(written.last().span, near);
                }
                self.report(diag);
                Ty::error()
            }
        }
    }

    fn layer(&mut self, ty: Ty, layer: &'a TypeLayer, span: Span) -> Ty {
        if ty.is_error() {
            return ty;
        }
        match layer {
            TypeLayer::Pointer { is_const, is_volatile, .. } => {
                if ty.is_reference() {
                    self.report(Diagnostic::error(Code::TypeMismatch, span, "there are no pointers to references"));
                    return Ty::error();
                }
                ty.pointer().qualified(*is_const, *is_volatile)
            }
            TypeLayer::Reference { rvalue: true } => {
                if ty.is_void() {
                    self.report(Diagnostic::error(Code::TypeMismatch, span, "there are no references to `void`"));
                    return Ty::error();
                }
                ty.rvalue_reference()
            }
            TypeLayer::Reference { rvalue: false } => {
                if ty.is_void() {
                    self.report(Diagnostic::error(Code::TypeMismatch, span, "there are no references to `void`"));
                    return Ty::error();
                }
                ty.reference()
            }
            TypeLayer::Array(len) => self.array(ty, len.as_deref(), span),
            TypeLayer::Function(params) => {
                let params: &'a [ParamDecl] = params;
                let mut types = Vec::with_capacity(params.len());
                for param in params {
                    if !param.pack {
                        types.push(self.parameter_type(param));
                        continue;
                    }
                    let mut names = Vec::new();
                    mentioned_names::names_in_type(&param.ty, &mut |n| names.push(n));
                    self.expand(&names, param.span, |this| types.push(this.parameter_type(param)));
                }
                types.retain(|ty| !ty.is_void());
                if types.iter().any(Ty::is_error) {
                    return Ty::error();
                }
                let made = Ty::new(Kind::Function(FnTy { ret: ty, params: types }.into()));
                let mut budget = MAX_TYPE;
                if !made.fits(&mut budget) {
                    let message = "a type of too many parts";
                    self.report(Diagnostic::error(Code::NestingLimit, span, message));
                    return Ty::error();
                }
                made
            }
        }
    }

    /// The type that a parameter has in a function's type.
    fn parameter_type(&mut self, param: &'a ParamDecl) -> Ty {
        let ty = self.type_name(&param.ty).decayed_parameter();
        if ty.is_reference() { ty } else { ty.unqualified() }
    }

    fn array(&mut self, elem: Ty, len: Option<&'a Expr>, span: Span) -> Ty {
        let complete = self.complete_type(&elem, span) && elem.size().is_some();
        if !complete || elem.is_reference() {
            let message = match elem.kind {
                Kind::Array(..) => "only the first dimension of an array may be left open".to_owned(),
                _ => format!("there are no arrays of `{elem}`"),
            };
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return Ty::error();
        }
        let Some(len) = len else { return elem.array(None) };
        let Some(n) = self.constant_integer(len, "the length of an array") else { return Ty::error() };
        if n <= 0 {
            let message = format!("an array cannot have {n} elements");
            self.report(Diagnostic::error(Code::TypeMismatch, len.span, message));
            return Ty::error();
        }
        let bytes = u64::from(elem.size().unwrap_or(1)).checked_mul(n as u64);
        match (bytes, u32::try_from(n)) {
            (Some(bytes), Ok(n)) if bytes <= MAX_SIZE => elem.array(Some(n)),
            _ => {
                self.report(Diagnostic::error(
                    Code::StackLimit,
                    len.span,
                    format!("an array of {n} elements is too large"),
                ));
                Ty::error()
            }
        }
    }

    /// `typedef T name;`, `using name = T;`
    pub(in crate::front::lower) fn alias(&mut self, alias: &'a Alias) {
        if !alias.templates.is_empty() {
            return self.alias_template(alias);
        }
        let ty = self.type_name(&alias.ty);
        if ty.is_struct() && alias.ty.layers.is_empty() {
            self.name_unnamed(&ty, alias);
        }
        if let Some(Decl::Type(old)) = self.here(alias.name.name)
            && old == ty
        {
            return;
        }
        self.declare(alias.name.name, Decl::Type(ty), alias.name.span);
    }

    /// `typedef struct { ... } S;` names the struct.
    fn name_unnamed(&mut self, ty: &Ty, alias: &'a Alias) {
        if matches!(alias.ty.base, BaseType::Struct(_))
            && let Some(s) = ty.as_struct()
        {
            let name = self.interner.name(alias.name.name).to_owned();
            let _ = s.alias.set(name);
        }
    }

    /// Reports a qualified type that is near to one of its namespace; whether there is one.
    fn unknown_type_within(&mut self, written: &Name, span: Span) -> bool {
        // Nobody will read what it might have meant.
        if self.quiet > 0 {
            return false;
        }
        let Some((_, Some(near))) = self.namespace_without(&written.parts) else { return false };
        let message = format!("unknown type `{}`", written.path(self.interner));
        let diag = Diagnostic::error(Code::UnknownName, span, message).help(format!("did you mean `{near}`?"));
        self.report(diag.replacement(span, near));
        true
    }

    /// Declares a name, reporting one that is taken.
    pub(in crate::front::lower) fn declare(&mut self, name: Symbol, decl: Decl, span: Span) {
        self.settle(name);
        if let Err(old) = self.scopes.declare(name, decl.clone(), span) {
            if self.in_library(old) && !self.in_library(span) {
                self.scopes.redeclare(self.scopes.current(), name, decl, span);
                return;
            }
            let message = format!("`{}` is declared twice", self.interner.name(name));
            self.report(Diagnostic::error(Code::Redefinition, span, message).related(old, "first declared here"));
        }
    }

    /// `enum`
    pub(in crate::front::lower) fn enumeration(&mut self, decl: &'a EnumDecl) {
        let written = decl.underlying.as_ref().map(|ty| (self.type_name(ty), ty.span));
        let fixed = match written {
            Some((ty, span)) => {
                let num = ty.num().filter(|n| n.is_integral());
                if num.is_none() && !ty.is_error() {
                    let message = format!("an enum's underlying type must be an integer, not `{ty}`");
                    self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                }
                num.or(Some(Num::Int))
            }
            None if decl.scoped => Some(Num::Int),
            None => None,
        };
        let namespace = self.scopes.namespace_of(self.scopes.current());
        self.enum_scopes.push((self.enums, namespace));
        self.enum_places.push((decl.span, self.scopes.current()));
        // Constants see the ones before them, as plain integers until the enum is complete.
        self.scopes.open();
        let mut values: Vec<i64> = Vec::new();
        let mut wide = Num::Int;
        for (name, value) in &decl.constants {
            let next = values.last().map_or(0, |v: &i64| v.wrapping_add(1));
            let value = match value {
                Some(e) => {
                    let e = self.value(e);
                    if let Some(num) = e.ty.num().filter(|n| n.scalar().bits() == 64) {
                        wide = num;
                    }
                    self.as_constant_integer(&e, "the value of an enum constant").unwrap_or(next)
                }
                None => next,
            };
            let num = fixed.unwrap_or(if i32::try_from(value).is_ok() { Num::Int } else { Num::Long });
            self.declare(name.name, Decl::Constant(num.into(), Const::Int(num.scalar(), value)), name.span);
            values.push(value);
        }
        self.scopes.close();
        let underlying = fixed.unwrap_or_else(|| {
            if values.iter().all(|&v| i32::try_from(v).is_ok()) {
                Num::Int
            } else if values.iter().all(|&v| u32::try_from(v).is_ok()) {
                Num::UInt
            } else if wide == Num::ULongLong || wide == Num::ULong {
                Num::ULong
            } else {
                Num::Long
            }
        });
        let id = self.enums;
        self.enums += 1;
        let unsigned = fixed.is_none() && values.iter().all(|v| *v >= 0);
        let name = decl.name.map_or("enum", |n| self.interner.name(n.name)).to_owned();
        let ty = Ty::new(Kind::Enum(EnumTy { id, name, underlying, scoped: decl.scoped, unsigned }.into()));
        if let Some(name) = decl.name {
            self.declare(name.name, Decl::Type(ty.clone()), name.span);
        }
        for ((name, _), value) in decl.constants.iter().zip(values) {
            let c = folding::convert(Const::Int(Scalar::I64, value), underlying.scalar());
            self.enum_constants.push((id, name.name, c));
            if !decl.scoped {
                self.declare(name.name, Decl::Constant(ty.clone(), c), name.span);
            }
        }
    }

    /// The constant of an enum by name.
    pub(in crate::front::lower) fn enum_constant(&self, id: u32, name: Symbol) -> Option<Const> {
        self.enum_constants.iter().find(|(e, n, _)| *e == id && *n == name).map(|&(_, _, c)| c)
    }

    /// The names of an enum's constants.
    pub(in crate::front::lower) fn enum_names(&self, id: u32) -> impl Iterator<Item = Symbol> {
        self.enum_constants.iter().filter(move |(e, ..)| *e == id).map(|&(_, name, _)| name)
    }

    /// `static_assert`
    pub(in crate::front::lower) fn static_assert(&mut self, assertion: &'a StaticAssert) {
        let cond = self.expr(&assertion.cond);
        let cond = self.condition(cond);
        let cond = self.folded(cond);
        match cond.constant() {
            _ if cond.is_error() => {}
            Some(Const::Bool(true)) => {}
            Some(_) => {
                let text = self.sources.text(assertion.cond.span);
                let reason = assertion.message.clone().unwrap_or_else(|| format!("`{text}` is false"));
                let message = format!("static assertion failed: {reason}");
                self.report(Diagnostic::error(Code::UserError, assertion.span, message));
            }
            None => self.not_constant(&cond, "the condition of `static_assert`"),
        }
    }
}

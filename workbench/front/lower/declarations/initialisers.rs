//! Initialisers: the declared type of a variable, `auto`, and the value an initialiser gives.

use super::aggregates::ListEntry;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BaseType, Init, TypeLayer, VarDecl};
use crate::front::lower::Lowerer;
use crate::front::lower::classes::initializer_list;
use crate::front::lower::constants::folding;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::Const;
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// The declared type of a variable; `auto` is taken from the initialiser. `None` once reported.
    pub(super) fn declared_type(&mut self, var: &'a VarDecl) -> Option<Ty> {
        let ty = match &var.ty.base {
            BaseType::Auto | BaseType::DecltypeAuto => {
                let auto = self.deduce(var)?;
                self.type_with_auto(&var.ty, Some(&auto))
            }
            _ => self.type_name(&var.ty),
        };
        let ty = if let Kind::RvalueReference(inner) = &ty.kind
            && var.ty.base.is_auto()
            && let Some(inner) = inner.target()
        {
            inner.clone().reference()
        } else {
            ty
        };
        if ty.is_void() {
            let message = format!("`{}` cannot be `void`", self.text(&var.name));
            self.report(Diagnostic::error(Code::TypeMismatch, var.ty.span, message));
            return None;
        }
        if !ty.is_reference() && !self.complete_type(&ty, var.ty.span) {
            return None;
        }
        (!ty.is_error()).then_some(ty)
    }

    /// The type that `auto` stands for ([dcl.spec.auto]).
    fn deduce(&mut self, var: &'a VarDecl) -> Option<Ty> {
        let Some(init) = var.init.as_ref().and_then(Init::only_expr) else {
            let message = format!("`auto` needs one initialiser to take the type of `{}` from", self.text(&var.name));
            self.report(Diagnostic::error(Code::BadInitializer, var.name.span, message).help("write the type"));
            return None;
        };
        let e = self.expr(init);
        if e.is_error() {
            return None;
        }
        let auto = self.deduced_auto(&e, &var.ty, init.span)?;
        // Checked once: a lambda is another type each time.
        self.held = Some((std::ptr::from_ref(init), e));
        Some(auto)
    }

    /// The type that `auto` in a type stands for when something of the type is made from an expression.
    pub(in crate::front::lower) fn deduced_auto(
        &mut self,
        e: &Typed,
        ty: &'a crate::front::ast::TypeName,
        span: Span,
    ) -> Option<Ty> {
        if matches!(ty.base, BaseType::DecltypeAuto) {
            return Some(if e.lvalue && !matches!(e.node, Node::Var(_)) {
                e.ty.clone().reference()
            } else {
                e.ty.unqualified()
            });
        }
        let value = self.settled(e);
        match ty.layers.first() {
            Some(TypeLayer::Reference { rvalue: true }) if e.lvalue && !e.xvalue => Some(e.ty.clone().reference()),
            Some(TypeLayer::Reference { .. }) => {
                let mut inner = e.ty.clone();
                inner.is_const &= !ty.is_const;
                Some(inner)
            }
            Some(TypeLayer::Pointer { .. }) => match value.pointee() {
                Some(pointee) => {
                    let mut pointee = pointee.clone();
                    pointee.is_const &= !ty.is_const;
                    Some(pointee)
                }
                None => {
                    let message = format!("`auto*` needs a pointer, and this is `{}`", e.ty);
                    self.report(Diagnostic::error(Code::BadInitializer, span, message));
                    None
                }
            },
            _ => {
                if matches!(value.kind, Kind::Braced) {
                    let message = "`auto` cannot take its type from a braced list";
                    self.report(Diagnostic::error(Code::BadInitializer, span, message).help("write the type"));
                    return None;
                }
                Some(value)
            }
        }
    }

    /// The type of a value, a set of one function being that function.
    pub(in crate::front::lower) fn settled(&mut self, e: &Typed) -> Ty {
        if let Node::Overloads(at) = e.node {
            let (set, explicit) = self.overloads[at as usize].clone();
            if let Some(index) = self.only_function(&set, explicit.as_deref()) {
                return self.function_type(index).pointer();
            }
        }
        e.ty.decayed()
    }

    /// The value that initialises a scalar; zero for `{}`. `None` when there is no initialiser, or it was reported.
    pub(in crate::front::lower) fn scalar_init(&mut self, var: &'a VarDecl, ty: &Ty) -> Option<Typed> {
        let name = self.text(&var.name).to_owned();
        self.scalar_value(&name, ty, var.init.as_ref()?)
    }

    pub(super) fn scalar_value(&mut self, name: &str, ty: &Ty, init: &'a Init) -> Option<Typed> {
        if let Init::List(items, span) = init
            && items.is_empty()
        {
            return Some(self.zero_of(ty, *span));
        }
        if let Init::Paren(items, span) = init
            && items.is_empty()
        {
            return Some(self.zero_of(ty, *span));
        }
        let Some(e) = init.only_expr() else {
            let span = init.span();
            let message = format!("`{name}` is `{ty}`, one value, and the list has more");
            self.report(Diagnostic::error(Code::BadInitializer, span, message));
            return None;
        };
        let e = self.expr(e);
        let explicit = matches!(init, Init::Paren(..) | Init::List(..));
        let value = if explicit && e.ty.is_struct() {
            self.explicit_conversion(e, &ty.unqualified(), Use::Init(name))
        } else {
            self.implicit(e, &ty.unqualified(), Use::Init(name))
        };
        (!value.is_error()).then_some(value)
    }

    pub(in crate::front::lower) fn zero_of(&mut self, ty: &Ty, span: Span) -> Typed {
        let zero = Typed { null: true, ..Typed::int(Num::Int, 0, span) };
        self.cast(zero, ty)
    }

    /// The value that initialises an object of any type; `None` once reported.
    pub(in crate::front::lower) fn init_value(&mut self, name: &str, ty: &Ty, init: &'a Init) -> Option<Typed> {
        let ty = ty.unqualified();
        match &ty.kind {
            Kind::Array(..) => {
                let span = init.span();
                let (ty, elements) = self.array_elements(name, ty, init)?;
                Some(Typed::value(ty, span, Node::Init(elements.into())))
            }
            Kind::Struct(_) => {
                let value = match init {
                    Init::Expr(e) => {
                        let e = self.expr(e);
                        self.implicit(e, &ty, Use::Init(name))
                    }
                    Init::Paren(args, span) => {
                        let args = self.arguments(args);
                        self.construct(&ty, args, *span)
                    }
                    Init::List(entries, span) => self.braced_value(name, &ty, entries, *span),
                    Init::Designated(_, value) => return self.init_value(name, &ty, value),
                };
                (!value.is_error()).then_some(value)
            }
            _ => self.scalar_value(name, &ty, init),
        }
    }

    /// `T{...}`
    pub(in crate::front::lower) fn braced_value(
        &mut self,
        name: &str,
        ty: &Ty,
        entries: &'a [Init],
        span: Span,
    ) -> Typed {
        if ty.is_error() || !self.complete_type(ty, span) {
            return Typed::error(span);
        }
        let Some(s) = ty.as_struct().cloned() else {
            return match entries {
                [] => self.zero_of(ty, span),
                [Init::Expr(e)] => {
                    let e = self.expr(e);
                    self.implicit(e, ty, Use::Init(name))
                }
                _ => {
                    let message = format!("`{ty}` is made from one value, not a list");
                    self.report(Diagnostic::error(Code::ArgumentCount, span, message));
                    Typed::error(span)
                }
            };
        };
        if entries.is_empty() {
            return self.value_initialised(ty, span);
        }
        if let Some(elem) = initializer_list::element(ty) {
            let mut args = Vec::new();
            for item in self.items(entries, span).list {
                args.push(match item {
                    ListEntry::Checked(e) => e,
                    ListEntry::Written(init) => self.entry(init),
                });
            }
            if args.iter().any(Typed::is_error) {
                return Typed::error(span);
            }
            let copies = matches!(args.as_slice(), [one] if one.ty.unqualified() == ty.unqualified());
            if !copies {
                return self.list_of(&ty.unqualified(), &elem, args, span);
            }
        }
        if self.class(s.id).constructed {
            let mut args = Vec::new();
            for item in self.items(entries, span).list {
                args.push(match item {
                    ListEntry::Checked(e) => e,
                    ListEntry::Written(init) => self.entry(init),
                });
            }
            return match self.list_constructor(&s) {
                Some(list) if !self.is_copy(&s, &args) => self.construct_of_list(ty, list, args, span),
                _ => self.construct(ty, args, span),
            };
        }
        let mut items = self.items(entries, span);
        // `S{s}` copies.
        if let [ListEntry::Written(Init::Expr(e))] = items.list.as_slice() {
            let e = self.expr(e);
            if e.is_error() {
                return e;
            }
            if e.ty.as_struct().is_some_and(|from| from.id == s.id || e.ty.base_offset(&s).is_some()) {
                return self.implicit(e, ty, Use::Init(name));
            }
            items.list[0] = ListEntry::Checked(e);
        }
        let errors = self.error_count();
        if !entries.is_empty() && !self.may_fill(&s, span) {
            return Typed::error(span);
        }
        let mut out = Vec::new();
        self.fill_struct(name, ty, &mut items, 0, &mut out);
        self.leftover(name, &items);
        if self.error_count() > errors {
            return Typed::error(span);
        }
        Typed::value(ty.unqualified(), span, Node::Init(out.into()))
    }

    /// Errors so far, those held back included.
    pub(super) fn error_count(&self) -> usize {
        self.diags.iter().filter(|d| d.is_error()).count()
            + usize::from(self.failed)
            + if self.room == 0 { usize::MAX / 2 } else { 0 }
    }

    /// An entry of a list as an argument.
    pub(in crate::front::lower) fn entry(&mut self, init: &'a Init) -> Typed {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List(entries, span) => self.braced_argument(entries, *span),
            Init::Designated(_, value) => self.entry(value),
            Init::Paren(args, span) => match args.as_slice() {
                [e] => self.expr(e),
                _ => Typed::error(*span),
            },
        }
    }

    /// `{...}` as an argument: it waits for the type of its parameter.
    pub(in crate::front::lower) fn braced_argument(&mut self, entries: &'a [Init], span: Span) -> Typed {
        let scope = self.scopes.current();
        self.braced.push((entries, scope));
        Typed::value(Ty::new(Kind::Braced), span, Node::Braced(self.braced.len() as u32 - 1))
    }
}

/// A zero of a scalar or pointer type, as an element not named by a list has.
pub(in crate::front::lower) fn zero_const(ty: &Ty) -> Const {
    match ty.scalar() {
        Some(scalar) => folding::convert(Const::Bool(false), scalar),
        None => Const::Null,
    }
}

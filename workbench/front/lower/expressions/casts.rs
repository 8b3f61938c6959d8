//! Explicit conversions: C casts, functional casts, `static_cast`, `reinterpret_cast`, `const_cast`.

use super::conversions::Use;
use super::typed_tree::{Node, TemplateIndex, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{CastKind, Expr, ExprKind, TypeName};
use crate::front::lower::Lowerer;
use crate::front::lower::overloads::ranking::{Arg, implicit};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::templates::declarations;
use crate::front::types::{Kind, Num, Ty};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    pub(super) fn cast_expr(
        &mut self,
        kind: CastKind,
        ty: &'a TypeName,
        operand: Option<&'a Expr>,
        span: Span,
    ) -> Typed {
        let to = self.type_name(ty);
        let Some(operand) = operand else { return self.zero(&to, span) };
        let e = self.expr(operand);
        self.explicit(kind, e, &to, span)
    }

    /// `T(args)`
    pub(super) fn construct_expr(&mut self, ty: &'a TypeName, args: &'a [Expr], span: Span) -> Typed {
        if let Some(name) = declarations::plain_name(ty)
            && ty.layers.is_empty()
            && let Some(Decl::Template(index)) = self.lookup(name)
        {
            return self.construct_deduced(index, args, span);
        }
        let to = self.type_name(ty);
        if to.is_struct() {
            let args = self.arguments(args);
            return self.construct(&to, args, span);
        }
        match args {
            [] => self.zero(&to, span),
            [one] if !matches!(one.kind, ExprKind::PackExpansion(_)) => {
                let e = self.expr(one);
                self.explicit(CastKind::Functional, e, &to, span)
            }
            _ => {
                let mut all = self.arguments(args);
                if all.len() == 1
                    && let Some(e) = all.pop()
                {
                    return self.explicit(CastKind::Functional, e, &to, span);
                }
                if !to.is_error() {
                    let message = format!("`{to}` is made from one value, not {}", all.len());
                    self.report(Diagnostic::error(Code::ArgumentCount, span, message));
                }
                Typed::error(span)
            }
        }
    }

    /// `S(args)` of a template whose arguments are to be found from them.
    pub(super) fn construct_deduced(&mut self, index: TemplateIndex, args: &'a [Expr], span: Span) -> Typed {
        let args = self.arguments(args);
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        match self.deduced_struct(index, &args) {
            Some(ty) => {
                let Some(s) = ty.as_struct().cloned() else { return Typed::error(span) };
                if !self.complete(&s, span) {
                    return Typed::error(span);
                }
                self.construct(&ty, args, span)
            }
            None => {
                let name = self.interner.name(self.template(index).name).to_owned();
                let message = format!("the arguments of template `{name}` cannot be found from these values");
                let place = self.template(index).span;
                self.report(
                    Diagnostic::error(Code::ArgumentCount, span, message)
                        .related(place, "declared here")
                        .help(format!("write them: `{name}<...>`")),
                );
                Typed::error(span)
            }
        }
    }

    /// `T()`
    fn zero(&mut self, to: &Ty, span: Span) -> Typed {
        if to.is_error() {
            return Typed::error(span);
        }
        if to.is_void() {
            return Typed::value(Ty::void(), span, Node::Convert(Box::new(Typed::int(Num::Int, 0, span))));
        }
        self.zero_of(to, span)
    }

    /// A cast of a checked expression.
    pub(in crate::front::lower) fn explicit(&mut self, kind: CastKind, e: Typed, to: &Ty, span: Span) -> Typed {
        if e.is_error() || to.is_error() {
            return Typed::error(span);
        }
        if let Some(target) = to.target() {
            let xvalue = matches!(to.kind, Kind::RvalueReference(_));
            let target = target.clone();
            let e =
                if xvalue && !e.lvalue { Typed::place(e.ty.clone(), span, Node::Temporary(Box::new(e))) } else { e };
            let place = self.reference_cast(kind, e, &target, span);
            return Typed { xvalue: place.xvalue || xvalue, ..place };
        }
        if to.is_void() {
            return Typed::value(Ty::void(), span, Node::Convert(Box::new(e)));
        }
        if to.is_array() {
            self.report(Diagnostic::error(
                Code::TypeMismatch,
                span,
                format!("nothing can be cast to `{to}`, an array"),
            ));
            return Typed::error(span);
        }
        if to.is_struct() {
            return match e.node {
                Node::Braced(_) => self.implicit(e, to, Use::Init("a value")),
                _ => self.construct(to, vec![e], span),
            };
        }
        if let Node::Overloads(_) = e.node {
            return self.implicit(e, to, Use::Init("a pointer to a function"));
        }
        if e.ty.is_struct() && kind != CastKind::Reinterpret {
            let value = self.explicit_conversion(e, to, Use::Init("a value"));
            return Typed { span, ..value };
        }
        let arg = Arg::from(&e);
        let e = self.operand(e);
        if e.is_error() {
            return Typed::error(span);
        }
        if !allowed(kind, &arg, &e.ty, to) {
            let name = cast_name(kind);
            let message = format!("{name} cannot turn `{}` into `{to}`", e.ty);
            let mut diag =
                Diagnostic::error(Code::TypeMismatch, span, message).related(e.span, format!("this is `{}`", e.ty));
            diag.help = cast_help(kind, &e.ty, to);
            self.report(diag);
            return Typed::error(span);
        }
        let converted = self.cast(e, to);
        Typed { span, null: false, ..converted }
    }

    /// `reinterpret_cast<T&>(place)`: the same place seen as another type.
    fn reference_cast(&mut self, kind: CastKind, e: Typed, target: &Ty, span: Span) -> Typed {
        if !e.lvalue {
            let message = format!("a cast to `{target}&` needs a place in memory, and this is only a value");
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return Typed::error(span);
        }
        let same = e.ty.unqualified() == target.unqualified();
        if !same
            && kind != CastKind::Reinterpret
            && let Some(base) = target.as_struct().filter(|t| e.ty.base_offset(t).is_some()).cloned()
        {
            let place = self.upcast_place(e, &base);
            return Typed { xvalue: false, ty: target.clone(), ..place };
        }
        if !same
            && kind != CastKind::Reinterpret
            && let Some(offset) = e.ty.as_struct().and_then(|s| target.base_offset(s))
        {
            let address = Typed::value(e.ty.clone().pointer(), span, Node::AddrOf(Box::new(e)));
            let ptr = Typed::value(target.clone().pointer(), span, Node::Adjust(Box::new(address), -i64::from(offset)));
            return Typed::place(target.clone(), span, Node::Deref(Box::new(ptr)));
        }
        if !same && matches!(kind, CastKind::Static | CastKind::Const) {
            let message = format!("{} cannot turn `{}` into `{target}&`", cast_name(kind), e.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write `reinterpret_cast`"));
            return Typed::error(span);
        }
        if same && e.ty == *target {
            return Typed { span, ..e };
        }
        let ptr = Typed::value(target.clone().pointer(), span, Node::AddrOf(Box::new(e)));
        Typed::place(target.clone(), span, Node::Deref(Box::new(ptr)))
    }
}

fn cast_name(kind: CastKind) -> &'static str {
    match kind {
        CastKind::C | CastKind::Functional => "a cast",
        CastKind::Static => "`static_cast`",
        CastKind::Reinterpret => "`reinterpret_cast`",
        CastKind::Const => "`const_cast`",
    }
}

fn cast_help(kind: CastKind, from: &Ty, to: &Ty) -> Option<String> {
    match (kind, &from.kind, &to.kind) {
        (CastKind::Static, Kind::Pointer(_), Kind::Pointer(_)) => Some("write `reinterpret_cast`".to_owned()),
        (CastKind::Reinterpret, Kind::Num(_), Kind::Num(_)) => {
            Some("for the value write `static_cast`, for the bits `__float_as_int` and its kin".to_owned())
        }
        (_, Kind::Pointer(_), Kind::Num(_)) => {
            Some("a pointer fits only `size_t` and other 64-bit integers".to_owned())
        }
        _ => None,
    }
}

fn wide_integer(ty: &Ty) -> bool {
    ty.arithmetic().is_some_and(|n| n.is_integral() && n.scalar().bits() == 64)
}

fn pointee_without_qualifiers(ty: &Ty) -> Option<Ty> {
    ty.pointee().map(without_qualifiers)
}

/// The same type without qualifiers at any level of pointers.
fn without_qualifiers(ty: &Ty) -> Ty {
    match ty.pointee() {
        Some(inner) => without_qualifiers(inner).pointer(),
        None => ty.unqualified(),
    }
}

/// The cast is allowed ([expr.static.cast], [expr.reinterpret.cast], [expr.const.cast], [expr.cast]).
fn allowed(kind: CastKind, arg: &Arg, from: &Ty, to: &Ty) -> bool {
    let number = |ty: &Ty| ty.num().is_some() || matches!(ty.kind, Kind::Enum(_));
    let pointers = from.pointee().is_some() && to.pointee().is_some();
    let derived = || match (from.pointee(), to.pointee()) {
        (Some(f), Some(t)) => f.as_struct().is_some_and(|f| t.base_offset(f).is_some()),
        _ => false,
    };
    let static_ok = || {
        implicit(arg, to).is_some()
            || derived()
            || (number(from) && number(to))
            || (from.pointee().is_some_and(Ty::is_void)
                && to.pointee().is_some_and(|t| {
                    let f = from.pointee();
                    f.is_some_and(|f| (t.is_const || !f.is_const) && (t.is_volatile || !f.is_volatile))
                }))
    };
    let keeps_const = || match (from.pointee(), to.pointee()) {
        (Some(f), Some(t)) => t.innermost().is_const || !f.innermost().is_const,
        _ => true,
    };
    let reinterpret_ok = || {
        pointers
            || (from.pointee().is_some() && wide_integer(to))
            || (from.arithmetic().is_some_and(Num::is_integral) && to.pointee().is_some())
            || (from.unqualified() == to.unqualified())
    };
    match kind {
        CastKind::C | CastKind::Functional => static_ok() || reinterpret_ok(),
        CastKind::Static => static_ok(),
        CastKind::Reinterpret => reinterpret_ok() && keeps_const(),
        CastKind::Const => {
            pointee_without_qualifiers(from) == pointee_without_qualifiers(to) && from.kind_name() == to.kind_name()
        }
    }
}

impl Ty {
    /// The sort of type it is; `const_cast` changes nothing but qualifiers.
    fn kind_name(&self) -> std::mem::Discriminant<Kind> {
        std::mem::discriminant(&self.kind)
    }
}

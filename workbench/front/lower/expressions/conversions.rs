//! Conversions of typed expressions: lvalue to rvalue, implicit, to a condition, each folded where constant.

use super::typed_tree::{FuncIndex, Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::lower::Lowerer;
use crate::front::lower::constants::folding;
use crate::front::lower::overloads::ranking::{Arg, implicit};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{CompareOp, Const, Scalar};
use crate::source::Span;

/// Use that a value is converted for; it words the message when it does not fit.
#[derive(Debug, Clone)]
pub enum Use<'s> {
    /// The initialiser of a variable.
    Init(&'s str),
    /// The right side of `=`.
    Assign,
    /// The result of a function.
    Return(&'s str),
    /// An argument, counted from 1, of a function.
    Argument(usize, &'s str),
}

impl<'a> Lowerer<'a> {
    /// The value of an expression: places are read, arrays become pointers, constant variables their values.
    pub(in crate::front::lower) fn rvalue(&mut self, e: Typed) -> Typed {
        if !e.lvalue || e.is_error() {
            return e;
        }
        let span = e.span;
        if let Node::Conditional(parts) = e.node {
            if e.ty.is_struct() {
                let place = Typed { node: Node::Conditional(parts), ..e };
                return self.copy_value(place, span);
            }
            let [cond, a, b] = *parts;
            let (a, b) = (self.rvalue(a), self.rvalue(b));
            return Typed::value(e.ty.unqualified(), span, Node::Conditional(Box::new([cond, a, b])));
        }
        if e.ty.is_array() || matches!(e.ty.kind, Kind::Function(_)) {
            return Typed::value(e.ty.decayed(), span, Node::Decay(Box::new(e)));
        }
        if e.ty.is_struct() {
            return self.copy_value(e, span);
        }
        if let Node::Var(id) = e.node
            && let Some(c) = self.var(id).constant
            && !e.ty.is_volatile
        {
            return Typed::value(e.ty.unqualified(), span, Node::Const(c));
        }
        Typed::value(e.ty.unqualified(), span, Node::Load(Box::new(e)))
    }

    /// Like [`Self::rvalue`], and reports `void`.
    pub(in crate::front::lower) fn operand(&mut self, e: Typed) -> Typed {
        let e = self.rvalue(e);
        if e.ty.is_void() {
            self.report(
                Diagnostic::error(Code::TypeMismatch, e.span, "this has no value: its type is `void`")
                    .label("used as a value here"),
            );
            return Typed::error(e.span);
        }
        self.promoted_bits(e)
    }

    /// Converts a value to a type that it is known to convert to.
    pub(in crate::front::lower) fn cast(&mut self, e: Typed, to: &Ty) -> Typed {
        if e.is_error() || to.is_error() {
            return Typed::error(e.span);
        }
        let to = to.unqualified();
        if e.ty.kind == to.kind {
            return e;
        }
        let span = e.span;
        if let Node::Const(c) = e.node {
            let folded = match (c, to.scalar()) {
                (Const::Null, Some(Scalar::Bool)) => Some(Const::Bool(false)),
                (c, Some(scalar)) => Some(folding::convert(c, scalar)),
                (Const::Null, None) => Some(Const::Null),
                (c, None) if folding::convert(c, Scalar::I64) == Const::Int(Scalar::I64, 0) => Some(Const::Null),
                _ => None,
            };
            if let Some(c) = folded {
                return Typed { ty: to, span, lvalue: false, xvalue: false, null: false, node: Node::Const(c) };
            }
        }
        if let (Some(from), Some(base)) = (e.ty.pointee(), to.pointee().and_then(Ty::as_struct))
            && from.as_struct().is_some_and(|f| f.id != base.id)
        {
            if let Some(offset) = from.base_offset(base) {
                return Typed::value(to, span, Node::Adjust(Box::new(e), i64::from(offset)));
            }
            // Down to a type derived from it; the caller has checked that this is meant.
            if let (Some(from), Some(target)) = (from.as_struct(), to.pointee())
                && let Some(offset) = target.base_offset(from)
            {
                return Typed::value(to, span, Node::Adjust(Box::new(e), -i64::from(offset)));
            }
        }
        if e.ty.is_struct() && to.is_struct() {
            return self.struct_cast(e, &to, span);
        }
        if e.ty.ir() == to.ir() && e.ty.ir().is_some() {
            return Typed { ty: to, null: false, ..e };
        }
        Typed::value(to, span, Node::Convert(Box::new(e)))
    }

    /// A struct as one that has the same layout (`dim3`, `uint3`) or is a base of it.
    fn struct_cast(&mut self, e: Typed, to: &Ty, span: Span) -> Typed {
        let place = match e.node {
            Node::Load(place) => *place,
            _ => Typed::place(e.ty.clone(), span, Node::Temporary(Box::new(e))),
        };
        if let Some(base) = to.as_struct().filter(|t| place.ty.base_offset(t).is_some()).cloned() {
            let part = self.upcast_place(place, &base);
            return Typed::value(to.unqualified(), span, Node::Load(Box::new(part)));
        }
        let ptr = Typed::value(to.clone().pointer(), span, Node::AddrOf(Box::new(place)));
        let place = Typed::place(to.clone(), span, Node::Deref(Box::new(ptr)));
        Typed::value(to.unqualified(), span, Node::Load(Box::new(place)))
    }

    /// Converts an arithmetic value to an arithmetic type.
    pub(in crate::front::lower) fn number(&mut self, e: Typed, num: Num) -> Typed {
        self.cast(e, &num.into())
    }

    /// The implicit conversion of a value (or place) to a type that is no reference; reports when there is none.
    pub(in crate::front::lower) fn implicit(&mut self, e: Typed, to: &Ty, why: Use<'_>) -> Typed {
        if e.is_error() || to.is_error() {
            return Typed::error(e.span);
        }
        match e.node {
            Node::Braced(at) => {
                let (entries, scope) = self.braced[at as usize];
                let here = self.scopes.enter(scope);
                let name = match why {
                    Use::Init(name) => name.to_owned(),
                    _ => to.to_string(),
                };
                let value = self.braced_value(&name, to, entries, e.span);
                self.scopes.enter(here);
                return value;
            }
            Node::Overloads(at) => {
                if let Some(index) = self.overload_for(at, to) {
                    let ty = self.function_type(index);
                    let place = Typed::place(ty, e.span, Node::Function(index));
                    return self.rvalue(place);
                }
                let message = format!("none of the functions named here is `{to}`");
                self.report(Diagnostic::error(Code::NoOverload, e.span, message));
                return Typed::error(e.span);
            }
            _ => {}
        }
        if let Some(wanted) = to.pointee().filter(|p| matches!(p.kind, Kind::Function(_))).cloned()
            && let Some(plain) = self.plain_function(&e.ty)
            && self.function_type(plain).kind == wanted.kind
        {
            let span = e.span;
            return self.function_pointer(plain, span);
        }
        self.try_complete(&e.ty);
        self.try_complete(to);
        if to.is_struct()
            && e.ty.as_struct().is_some_and(|s| {
                e.ty.kind == to.kind || to.as_struct().is_some_and(|t| e.ty.base_offset(t).is_some() && t.id != s.id)
            })
        {
            let span = e.span;
            return self.copied(e, to, span);
        }
        if implicit(&Arg::from(&e), to).is_some() {
            let e = self.operand(e);
            return self.cast(e, to);
        }
        if (to.is_struct() || e.ty.is_struct())
            && let Some(function) = self.user_conversion(&Arg::from(&e), to, false)
        {
            let span = e.span;
            let value = self.converted_by(function, e, span);
            if value.is_error() {
                return value;
            }
            let value = self.rvalue(value);
            return self.cast(value, to);
        }
        if e.ty.is_void() {
            return self.operand(e);
        }
        let (from, span) = (e.ty.decayed(), e.span);
        let message = match why {
            Use::Init(name) => format!("`{name}` is `{to}` and cannot be initialised with `{from}`"),
            Use::Assign => format!("`{from}` cannot be assigned to `{to}`"),
            Use::Return(name) => format!("`{name}` returns `{to}`, not `{from}`"),
            Use::Argument(index, name) => format!("argument {index} of `{name}` is `{to}`, not `{from}`"),
        };
        let mut diag = Diagnostic::error(Code::TypeMismatch, span, message).label(format!("this is `{from}`"));
        diag.help = mismatch_help(&from, to);
        self.report(diag);
        Typed::error(span)
    }

    /// The function that a closure without captures converts to a pointer to.
    pub(in crate::front::lower) fn plain_function(&self, ty: &Ty) -> Option<FuncIndex> {
        self.class(ty.as_struct()?.id).plain
    }

    /// A function's address.
    pub(super) fn function_pointer(&mut self, index: FuncIndex, span: Span) -> Typed {
        if !self.known_result(index, span) {
            return Typed::error(span);
        }
        let ty = self.function_type(index);
        self.rvalue(Typed::place(ty, span, Node::Function(index)))
    }

    /// A condition: contextually converted to `bool`.
    pub(in crate::front::lower) fn condition(&mut self, e: Typed) -> Typed {
        let e = self.as_condition(e);
        let e = self.operand(e);
        if e.is_error() {
            return e;
        }
        let fits = e.ty.arithmetic().is_some() || matches!(e.ty.kind, Kind::Pointer(_) | Kind::Nullptr);
        if !fits {
            let message = format!("a condition must be a number or a pointer, not `{}`", e.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, e.span, message));
            return Typed::error(e.span);
        }
        self.truth(e)
    }

    /// `e != 0`
    pub(in crate::front::lower) fn truth(&mut self, e: Typed) -> Typed {
        self.cast(e, &Ty::bool())
    }

    /// The two operands of a comparison as one type, folded.
    pub(in crate::front::lower) fn compare(&mut self, op: CompareOp, a: Typed, b: Typed, span: Span) -> Typed {
        if let (Some(x), Some(y)) = (a.constant(), b.constant())
            && let Some(truth) = folding::compare(op, x, y)
        {
            return Typed::truth(truth, span);
        }
        Typed::value(Num::Bool, span, Node::Compare(op, Box::new(a), Box::new(b)))
    }
}

fn mismatch_help(from: &Ty, to: &Ty) -> Option<String> {
    match (&from.kind, &to.kind) {
        (Kind::Pointer(a), Kind::Pointer(b)) if a.unqualified() == b.unqualified() => {
            Some(format!("declare it `{from}`: what it points at is const"))
        }
        (Kind::Pointer(a), Kind::Pointer(_)) if a.is_void() => Some(format!("write a cast: `({to})...`")),
        (Kind::Pointer(_), Kind::Pointer(_)) => {
            Some(format!("declare it `{from}`; to read the same bytes as another type, write the cast `({to})...`"))
        }
        (Kind::Pointer(inner), Kind::Num(_)) if inner.arithmetic().is_some() => {
            Some("read what it points at: `*p` or `p[i]`".to_owned())
        }
        (Kind::Num(_), Kind::Pointer(_)) => Some("take an address: `&x`".to_owned()),
        (Kind::Num(_), Kind::Enum(_)) | (Kind::Enum(_), _) => Some(format!("write `static_cast<{to}>(...)`")),
        _ => None,
    }
}

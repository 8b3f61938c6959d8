//! Conversions of typed expressions: lvalue to rvalue, implicit, to a condition, each folded where constant.

use super::rank::{Arg, implicit};
use super::tree::{Node, Typed};
use super::{Lowerer, fold};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{CompareOp, Const, Scalar};
use crate::source::Span;

/// What a value is converted for; it words the message when it does not fit.
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

impl Lowerer<'_> {
    /// The value of an expression: places are read, arrays become pointers, constant variables their values.
    pub(super) fn rvalue(&mut self, e: Typed) -> Typed {
        if !e.lvalue || e.is_error() {
            return e;
        }
        let span = e.span;
        if let Node::Conditional(parts) = e.node {
            let [cond, a, b] = *parts;
            let (a, b) = (self.rvalue(a), self.rvalue(b));
            return Typed::value(e.ty.unqualified(), span, Node::Conditional(Box::new([cond, a, b])));
        }
        if e.ty.is_array() {
            return Typed::value(e.ty.decayed(), span, Node::Decay(Box::new(e)));
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
    pub(super) fn operand(&mut self, e: Typed) -> Typed {
        let e = self.rvalue(e);
        if e.ty.is_void() {
            self.report(
                Diagnostic::error(Code::TypeMismatch, e.span, "this has no value: its type is `void`")
                    .label("used as a value here"),
            );
            return Typed::error(e.span);
        }
        e
    }

    /// Converts a value to a type that it is known to convert to.
    pub(super) fn cast(&mut self, e: Typed, to: &Ty) -> Typed {
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
                (c, Some(scalar)) => Some(fold::convert(c, scalar)),
                (Const::Null, None) => Some(Const::Null),
                (c, None) if fold::convert(c, Scalar::I64) == Const::Int(Scalar::I64, 0) => Some(Const::Null),
                _ => None,
            };
            if let Some(c) = folded {
                return Typed { ty: to, span, lvalue: false, null: false, node: Node::Const(c) };
            }
        }
        if e.ty.ir() == to.ir() && e.ty.ir().is_some() {
            return Typed { ty: to, null: false, ..e };
        }
        Typed::value(to, span, Node::Convert(Box::new(e)))
    }

    /// Converts an arithmetic value to an arithmetic type.
    pub(super) fn number(&mut self, e: Typed, num: Num) -> Typed {
        self.cast(e, &num.into())
    }

    /// The implicit conversion of a value (or place) to a type that is no reference; reports when there is none.
    pub(super) fn implicit(&mut self, e: Typed, to: &Ty, why: Use<'_>) -> Typed {
        if e.is_error() || to.is_error() {
            return Typed::error(e.span);
        }
        if implicit(&Arg::from(&e), to).is_some() {
            let e = self.operand(e);
            return self.cast(e, to);
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

    /// A condition: contextually converted to `bool`.
    pub(super) fn condition(&mut self, e: Typed) -> Typed {
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
    pub(super) fn truth(&mut self, e: Typed) -> Typed {
        self.cast(e, &Ty::bool())
    }

    /// The two operands of a comparison as one type, folded.
    pub(super) fn compare(&mut self, op: CompareOp, a: Typed, b: Typed, span: Span) -> Typed {
        if let (Some(x), Some(y)) = (a.constant(), b.constant())
            && let Some(truth) = fold::compare(op, x, y)
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

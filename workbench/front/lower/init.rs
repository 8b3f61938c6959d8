//! Initialisers: which element of an array each expression of a braced list goes to ([dcl.init.aggr]).

use super::Lowerer;
use super::convert::Use;
use super::global::{only_expr, string_literal};
use super::tree::Typed;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Init, TypeLayer, VarDecl};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::Const;
use crate::source::Span;

/// Where a value goes: the index counts scalars of the whole array, in memory order.
pub(super) type Element = (u32, Typed);

/// A list being handed out.
struct Items<'i> {
    list: &'i [Init],
    at: usize,
}

impl<'i> Items<'i> {
    fn peek(&self) -> Option<&'i Init> {
        self.list.get(self.at)
    }
}

impl Lowerer<'_> {
    /// The declared type of a variable; `auto` is taken from the initialiser. `None` once reported.
    pub(super) fn declared_type(&mut self, var: &VarDecl) -> Option<Ty> {
        let ty = if var.ty.base.is_auto() {
            let auto = self.deduce(var)?;
            self.type_with_auto(&var.ty, Some(&auto))
        } else {
            self.type_name(&var.ty)
        };
        if ty.is_void() {
            let message = format!("`{}` cannot be `void`", self.text(&var.name));
            self.report(Diagnostic::error(Code::TypeMismatch, var.ty.span, message));
            return None;
        }
        (!ty.is_error()).then_some(ty)
    }

    /// What `auto` stands for ([dcl.spec.auto]).
    fn deduce(&mut self, var: &VarDecl) -> Option<Ty> {
        let Some(init) = var.init.as_ref().and_then(only_expr) else {
            let message = format!("`auto` needs one initialiser to take the type of `{}` from", self.text(&var.name));
            self.report(Diagnostic::error(Code::BadInitializer, var.name.span, message).help("write the type"));
            return None;
        };
        // Only the type matters here: what it reports is reported when it is checked for its value.
        let (before, room) = (self.diags.len(), self.room);
        let e = self.expr(init);
        self.diags.truncate(before);
        self.room = room;
        if e.is_error() {
            // The declaration is reported now, for its value is never asked for.
            self.expr(init);
            return None;
        }
        match var.ty.layers.first() {
            Some(TypeLayer::Reference { .. }) => Some(e.ty),
            Some(TypeLayer::Pointer { .. }) => match e.ty.decayed().pointee() {
                Some(pointee) => Some(pointee.clone()),
                None => {
                    let message = format!("`auto*` needs a pointer, and this is `{}`", e.ty);
                    self.report(Diagnostic::error(Code::BadInitializer, init.span, message));
                    None
                }
            },
            _ => Some(e.ty.decayed()),
        }
    }

    /// The value that initialises a scalar; zero for `{}`. `None` when there is no initialiser, or it was reported.
    pub(super) fn scalar_init(&mut self, var: &VarDecl, ty: &Ty) -> Option<Typed> {
        let name = self.text(&var.name).to_owned();
        self.scalar_value(&name, ty, var.init.as_ref()?)
    }

    fn scalar_value(&mut self, name: &str, ty: &Ty, init: &Init) -> Option<Typed> {
        if let Init::List(items, span) = init
            && items.is_empty()
        {
            return Some(self.zero_of(ty, *span));
        }
        let Some(e) = only_expr(init) else {
            let span = init_span(init);
            let message = format!("`{name}` is `{ty}`, one value, and the list has more");
            self.report(Diagnostic::error(Code::BadInitializer, span, message));
            return None;
        };
        let e = self.expr(e);
        let value = self.implicit(e, &ty.unqualified(), Use::Init(name));
        (!value.is_error()).then_some(value)
    }

    fn zero_of(&mut self, ty: &Ty, span: Span) -> Typed {
        let zero = Typed { null: true, ..Typed::int(Num::Int, 0, span) };
        self.cast(zero, ty)
    }

    /// The elements that an initialiser of an array names, in order, and the type with its length. Every other element is
    /// zero. `None` once reported.
    pub(super) fn array_elements(&mut self, name: &str, ty: Ty, init: &Init) -> Option<(Ty, Vec<Element>)> {
        let mut out = Vec::new();
        let (Kind::Array(elem, len), Some(list)) = (&ty.kind, as_list(init)) else {
            let message = format!("`{name}` is an array and needs a list in braces");
            self.report(Diagnostic::error(Code::BadInitializer, init_span(init), message).help("write `= {...}`"));
            return None;
        };
        let errors = self.diags.len();
        if let (Some(text), Some(_)) = (string_literal(init), character(elem)) {
            let len = self.string_elements(text, elem, *len, 0, init_span(init), &mut out)?;
            return Some(((**elem).clone().array(Some(len)), out));
        }
        if !matches!(init, Init::List(..)) {
            let message = format!("`{name}` is an array and needs a list in braces");
            self.report(Diagnostic::error(Code::BadInitializer, init_span(init), message).help("write `= {...}`"));
            return None;
        }
        let mut items = Items { list, at: 0 };
        let len = self.fill(name, elem, *len, &mut items, 0, &mut out);
        self.leftover(name, &items);
        let failed = self.diags.len() > errors && self.diags[errors..].iter().any(Diagnostic::is_error);
        if len == 0 {
            let message = format!("`{name}` has no length: its list is empty");
            self.report(Diagnostic::error(Code::BadInitializer, init_span(init), message).help("write the length"));
            return None;
        }
        (!failed).then(|| ((**elem).clone().array(Some(len)), out))
    }

    fn leftover(&mut self, name: &str, items: &Items<'_>) {
        if let Some(extra) = items.peek() {
            let message = format!("too many initialisers for `{name}`");
            self.report(
                Diagnostic::error(Code::BadInitializer, init_span(extra), message).label("the first one too many"),
            );
        }
    }

    /// Fills an array from a list that may hold more than its elements; the number of elements reached or declared.
    fn fill(
        &mut self,
        name: &str,
        elem: &Ty,
        len: Option<u32>,
        items: &mut Items<'_>,
        base: u32,
        out: &mut Vec<Element>,
    ) -> u32 {
        let scalars = scalars_of(elem);
        let mut i = 0u32;
        while len.is_none_or(|n| i < n) {
            let Some(init) = items.peek() else { break };
            let at = base.saturating_add(i.saturating_mul(scalars));
            match &elem.kind {
                Kind::Array(inner, inner_len) => match init {
                    _ if string_literal(init).is_some() && character(inner).is_some() => {
                        items.at += 1;
                        if let Some(text) = string_literal(init) {
                            self.string_elements(text, inner, *inner_len, at, init_span(init), out);
                        }
                    }
                    Init::List(list, _) => {
                        items.at += 1;
                        let mut nested = Items { list, at: 0 };
                        self.fill(name, inner, *inner_len, &mut nested, at, out);
                        self.leftover(name, &nested);
                    }
                    // Braces left out: the row takes what it needs from this list.
                    Init::Expr(_) | Init::Paren(..) | Init::Designated(..) => {
                        self.fill(name, inner, *inner_len, items, at, out);
                    }
                },
                _ => {
                    items.at += 1;
                    if let Some(value) = self.scalar_value(name, elem, init) {
                        out.push((at, value));
                    }
                }
            }
            i += 1;
        }
        len.unwrap_or(i)
    }

    fn string_elements(
        &mut self,
        text: &str,
        elem: &Ty,
        len: Option<u32>,
        base: u32,
        span: Span,
        out: &mut Vec<Element>,
    ) -> Option<u32> {
        let num = character(elem)?;
        let bytes = text.as_bytes();
        let needed = u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(1);
        if len.is_some_and(|n| n < needed) {
            let message =
                format!("the text needs {needed} bytes with its closing zero, and the array has {}", len.unwrap_or(0));
            self.report(Diagnostic::error(Code::BadInitializer, span, message));
            return None;
        }
        for (i, &byte) in (0u32..).zip(bytes) {
            let value = Typed::int(num, i64::from(byte), span);
            out.push((base + i, value));
        }
        Some(len.unwrap_or(needed))
    }
}

fn as_list(init: &Init) -> Option<&[Init]> {
    match init {
        Init::List(items, _) => Some(items),
        Init::Expr(_) | Init::Paren(..) | Init::Designated(..) => Some(std::slice::from_ref(init)),
    }
}

/// Where an initialiser stands.
pub(super) fn init_span(init: &Init) -> Span {
    match init {
        Init::Expr(e) => e.span,
        Init::List(_, span) | Init::Paren(_, span) => *span,
        Init::Designated(name, value) => name.span.to(init_span(value)),
    }
}

/// How many scalars an element holds.
fn scalars_of(ty: &Ty) -> u32 {
    let one = ty.innermost().size().unwrap_or(1).max(1);
    ty.size().unwrap_or(one) / one
}

fn character(ty: &Ty) -> Option<Num> {
    ty.num().filter(|n| matches!(n, Num::Char | Num::SChar | Num::UChar))
}

/// A zero of a scalar or pointer type, as an element not named by a list has.
pub(super) fn zero_const(ty: &Ty) -> Const {
    match ty.scalar() {
        Some(scalar) => super::fold::convert(Const::Bool(false), scalar),
        None => Const::Null,
    }
}

//! Aggregates: which part of an array or struct each expression of a braced list goes to ([dcl.init.aggr]).

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, Init};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::check::bare;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::Typed;
use crate::front::lower::overloads::ranking::Arg;
use crate::front::types::{Field, Kind, Num, Ty};
use crate::source::Span;

/// Value with the place it goes to: in bytes from the start of the whole object, in memory order.
pub(super) type Element = (u32, Typed);

/// An entry of a list.
pub(in crate::front::lower) enum ListEntry<'a> {
    Written(&'a Init),
    /// An expression checked already: an element of a pack, or one that did not fit what it was tried for.
    Checked(Typed),
}

impl ListEntry<'_> {
    pub fn span(&self) -> Span {
        match self {
            ListEntry::Written(init) => init.span(),
            ListEntry::Checked(e) => e.span,
        }
    }
}

/// A list being handed out.
pub(super) struct ListEntries<'a> {
    pub list: Vec<ListEntry<'a>>,
    pub at: usize,
    /// Place of the list.
    pub span: Span,
}

impl<'a> ListEntries<'a> {
    pub fn done(&self) -> bool {
        self.at >= self.list.len()
    }

    pub fn written(&self) -> Option<&'a Init> {
        match self.list.get(self.at) {
            Some(ListEntry::Written(init)) => Some(init),
            _ => None,
        }
    }
}

impl<'a> Lowerer<'a> {
    /// The entries of a list, packs expanded.
    pub(super) fn items(&mut self, entries: &'a [Init], span: Span) -> ListEntries<'a> {
        let mut list = Vec::new();
        for init in entries {
            match init {
                Init::Expr(Expr { kind: ExprKind::PackExpansion(pattern), span }) => {
                    let all = self.expanded(pattern, *span);
                    list.extend(all.into_iter().map(ListEntry::Checked));
                }
                _ => list.push(ListEntry::Written(init)),
            }
        }
        ListEntries { list, at: 0, span }
    }

    /// The elements that an initialiser of an array names, in order, and the type with its length. Every other element is
    /// zero. `None` once reported.
    pub(in crate::front::lower) fn array_elements(
        &mut self,
        name: &str,
        ty: Ty,
        init: &'a Init,
    ) -> Option<(Ty, Vec<Element>)> {
        let mut out = Vec::new();
        let span = init.span();
        let Kind::Array(elem, len) = &ty.kind else {
            self.report(Diagnostic::error(Code::BadInitializer, span, format!("`{name}` is no array")));
            return None;
        };
        if let (Some(text), Some(_)) = (string_literal(init), character(elem)) {
            let len = self.string_elements(text, elem, *len, 0, span, &mut out)?;
            return Some(((**elem).clone().array(Some(len)), out));
        }
        let &Init::List(ref list, span) = init else {
            let message = format!("`{name}` is an array and needs a list in braces");
            self.report(Diagnostic::error(Code::BadInitializer, span, message).help("write `= {...}`"));
            return None;
        };
        let errors = self.error_count();
        let mut items = self.items(list, span);
        let len = self.fill_array_items(name, elem, *len, &mut items, 0, &mut out);
        self.leftover(name, &items);
        let failed = self.error_count() > errors;
        if len == 0 {
            let message = format!("`{name}` has no length: its list is empty");
            self.report(Diagnostic::error(Code::BadInitializer, span, message).help("write the length"));
            return None;
        }
        (!failed).then(|| ((**elem).clone().array(Some(len)), out))
    }

    pub(super) fn leftover(&mut self, name: &str, items: &ListEntries<'a>) {
        if let Some(extra) = items.list.get(items.at) {
            let message = format!("too many initialisers for `{name}`");
            self.report(Diagnostic::error(Code::BadInitializer, extra.span(), message).label("the first one too many"));
        }
    }

    /// Fills an array from a list that may hold more than its elements; the number of elements reached or declared.
    pub(super) fn fill_array_items(
        &mut self,
        name: &str,
        elem: &Ty,
        len: Option<u32>,
        items: &mut ListEntries<'a>,
        base: u32,
        out: &mut Vec<Element>,
    ) -> u32 {
        let size = elem.size().unwrap_or(1);
        let mut i = 0u32;
        while len.is_none_or(|n| i < n) && !items.done() {
            let at = base.saturating_add(i.saturating_mul(size));
            self.fill_one(name, elem, items, at, out);
            i += 1;
        }
        let count = len.unwrap_or(i);
        if i < count && elem.innermost().is_struct() {
            self.fill_rest(elem, base, i..count, items.span, out);
        }
        count
    }

    /// Elements that a list leaves out and that are not simply zero.
    fn fill_rest(&mut self, elem: &Ty, base: u32, range: std::ops::Range<u32>, span: Span, out: &mut Vec<Element>) {
        let size = elem.size().unwrap_or(1);
        let Some(value) = self.default_initialised(elem, span) else { return };
        if !self.few_objects(elem, range.end - range.start, span) {
            return;
        }
        for i in range {
            let value = value.clone();
            out.push((base.saturating_add(i.saturating_mul(size)), value));
        }
    }

    /// Fills one part of an aggregate.
    pub(super) fn fill_one(
        &mut self,
        name: &str,
        ty: &Ty,
        items: &mut ListEntries<'a>,
        at: u32,
        out: &mut Vec<Element>,
    ) {
        match &ty.kind {
            Kind::Array(inner, len) => match items.written() {
                Some(init) if string_literal(init).is_some() && character(inner).is_some() => {
                    items.at += 1;
                    if let Some(text) = string_literal(init) {
                        self.string_elements(text, inner, *len, at, init.span(), out);
                    }
                }
                Some(&Init::List(ref list, span)) => {
                    items.at += 1;
                    let mut nested = self.items(list, span);
                    self.fill_array_items(name, inner, *len, &mut nested, at, out);
                    self.leftover(name, &nested);
                }
                // Braces left out: the row takes what it needs from this list.
                _ => {
                    self.fill_array_items(name, inner, *len, items, at, out);
                }
            },
            Kind::Struct(s) => {
                let s = s.clone();
                if let Some(Init::List(list, span)) = items.written() {
                    items.at += 1;
                    let value = self.braced_value(name, &ty.unqualified(), list, *span);
                    out.push((at, value));
                    return;
                }
                let checked = match items.list.get_mut(items.at) {
                    Some(ListEntry::Written(Init::Expr(e))) => {
                        let e: &'a Expr = e;
                        self.expr(e)
                    }
                    Some(ListEntry::Checked(e)) => e.clone(),
                    _ => {
                        items.at += 1;
                        return;
                    }
                };
                let fits = checked.is_error() || self.conversion(&Arg::from(&checked), &ty.unqualified()).is_some();
                if fits || self.class(s.id).constructed {
                    items.at += 1;
                    let value = self.implicit(checked, &ty.unqualified(), Use::Init(name));
                    out.push((at, value));
                } else {
                    items.list[items.at] = ListEntry::Checked(checked);
                    self.fill_struct(name, ty, items, at, out);
                }
            }
            Kind::Reference(target) => {
                let Some(e) = self.next_expr(items) else { return };
                let value = self.bind_reference(e, target, |from| {
                    format!("a member of `{name}` is `{ty}`, which cannot refer to this `{from}`")
                });
                out.push((at, value));
            }
            _ => {
                let value = match items.written() {
                    Some(init) => {
                        items.at += 1;
                        self.scalar_value(name, ty, init)
                    }
                    None => match self.next_expr(items) {
                        Some(e) => {
                            let value = self.implicit(e, &ty.unqualified(), Use::Init(name));
                            (!value.is_error()).then_some(value)
                        }
                        None => None,
                    },
                };
                if let Some(value) = value {
                    out.push((at, value));
                }
            }
        }
    }

    pub(super) fn next_expr(&mut self, items: &mut ListEntries<'a>) -> Option<Typed> {
        let at = items.at;
        items.at += 1;
        match items.list.get(at)? {
            ListEntry::Checked(e) => Some(e.clone()),
            ListEntry::Written(init) => {
                let init: &'a Init = init;
                Some(self.entry(init))
            }
        }
    }

    /// Fills the bases and fields of a struct.
    pub(super) fn fill_struct(
        &mut self,
        name: &str,
        ty: &Ty,
        items: &mut ListEntries<'a>,
        base: u32,
        out: &mut Vec<Element>,
    ) {
        let Some(layout) = ty.layout().cloned() else { return };
        let Some(s) = ty.as_struct().cloned() else { return };
        let start = out.len();
        if matches!(items.written(), Some(Init::Designated(..))) {
            self.fill_designated(name, ty, items, base, out);
        } else if s.is_union {
            if let Some(field) = layout.fields.first()
                && !items.done()
            {
                self.fill_field(name, field, items, base, out);
            }
        } else {
            for (b, at) in &layout.bases {
                if !items.done() && !b.is_empty_struct() {
                    self.fill_one(name, b, items, base + at, out);
                }
            }
            for (i, field) in layout.fields.iter().enumerate() {
                if items.done() {
                    self.fill_default(&s, i, &field.ty, base + field.offset, out);
                } else {
                    self.fill_field(name, field, items, base, out);
                }
            }
        }
        out[start..].sort_by_key(|(at, _)| *at);
    }

    /// Fills a field of a struct that begins at `base`.
    fn fill_field(
        &mut self,
        name: &str,
        field: &Field,
        items: &mut ListEntries<'a>,
        base: u32,
        out: &mut Vec<Element>,
    ) {
        let from = out.len();
        self.fill_one(name, &field.ty, items, base + field.offset, out);
        for (_, value) in &mut out[from..] {
            let written = std::mem::replace(value, Typed::error(value.span));
            *value = Self::into_bits(written, field.bits);
        }
    }

    /// `{.a = 1, .c = 2}`
    pub(super) fn fill_designated(
        &mut self,
        name: &str,
        ty: &Ty,
        items: &mut ListEntries<'a>,
        base: u32,
        out: &mut Vec<Element>,
    ) {
        let Some(layout) = ty.layout().cloned() else { return };
        let Some(s) = ty.as_struct().cloned() else { return };
        let mut next = 0;
        while let Some(Init::Designated(ident, value)) = items.written() {
            items.at += 1;
            let Some(i) = layout.fields.iter().position(|f| f.name == Some(ident.name)) else {
                self.no_member(&s, ident);
                return;
            };
            if i < next && !s.is_union {
                let message = format!("`.{}` must stand in the order of the members", self.text(ident));
                self.report(Diagnostic::error(Code::BadInitializer, ident.span, message));
                return;
            }
            for (j, field) in layout.fields.iter().enumerate().take(i).skip(next) {
                if !s.is_union {
                    self.fill_default(&s, j, &field.ty, base + field.offset, out);
                }
            }
            let field = &layout.fields[i];
            let mut one = ListEntries { list: vec![ListEntry::Written(value)], at: 0, span: value.span() };
            self.fill_field(name, field, &mut one, base, out);
            next = i + 1;
        }
        for (j, field) in layout.fields.iter().enumerate().skip(next) {
            if !s.is_union {
                self.fill_default(&s, j, &field.ty, base + field.offset, out);
            }
        }
    }

    /// A field that no entry of a list names: its own initialiser, or what its type does by itself.
    pub(in crate::front::lower) fn fill_default(
        &mut self,
        s: &crate::front::types::StructTy,
        index: usize,
        ty: &Ty,
        at: u32,
        out: &mut Vec<Element>,
    ) {
        // Components of a `dim3` that are left out are 1.
        if s.name == "dim3"
            && let Some((num, _)) = s.vector
        {
            out.push((at, Typed::int(num, 1, Span::NONE)));
            return;
        }
        let init = self.class(s.id).defaults.iter().find(|(i, _)| *i == index).map(|(_, init)| *init);
        let value = match init {
            Some(init) => {
                let scope = self.class(s.id).scope;
                let here = self.scopes.enter(scope);
                let value = if let Some(target) = ty.target() {
                    init.only_expr().map(|e| {
                        let e = self.expr(e);
                        self.bind_reference(e, target, |from| {
                            format!("a member is `{ty}`, which cannot refer to this `{from}`")
                        })
                    })
                } else {
                    self.init_value(&s.name, ty, init)
                };
                self.scopes.enter(here);
                value
            }
            None => {
                if ty.is_reference() {
                    let message = format!("a member of `{}` is `{ty}` and must be initialised", s.name);
                    let span = self.class(s.id).span;
                    self.report(Diagnostic::error(Code::BadInitializer, span, message));
                }
                self.default_initialised(ty, Span::NONE)
            }
        };
        if let Some(value) = value {
            let bits = s.layout.get().and_then(|l| l.fields.get(index)?.bits);
            out.push((at, Self::into_bits(value, bits)));
        }
    }

    pub(super) fn string_elements(
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

/// The text of a string literal that initialises an array.
fn string_literal(init: &Init) -> Option<&str> {
    match init.only_expr().map(|e| &bare(e).kind) {
        Some(ExprKind::Str(text)) => Some(text),
        _ => None,
    }
}

/// The type of a character, if it is one.
fn character(ty: &Ty) -> Option<Num> {
    ty.num().filter(|n| matches!(n, Num::Char | Num::SChar | Num::UChar))
}

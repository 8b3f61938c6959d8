//! Range-based `for` ([stmt.ranged]): loops over arrays, over lists, and over what has `begin` and `end`.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp, Expr, Ident, RangeVar, Stmt, TypeName, UnaryOp};
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Lowerer, Storage, TargetKind, Variable};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{self, Block, CompareOp};
use crate::source::Span;
use std::rc::Rc;

impl<'a> Lowerer<'a> {
    /// `for (auto x : range)` over an array or a struct with `begin` and `end` that give pointers.
    pub(super) fn range_for(&mut self, var: &'a RangeVar, range: &'a Expr, body: &'a Stmt, span: Span) {
        let e = self.expr(range);
        if e.is_error() {
            self.unreachable_range(var, body);
            return;
        }
        let (first, last) = match self.range_ends(e, range.span) {
            Some(ends) => ends,
            None => {
                self.unreachable_range(var, body);
                return;
            }
        };
        let pointer = first.ty.clone();
        if pointer.pointee().is_none() {
            return self.iterator_for(var, (first, last), range.span, body, span);
        }
        if !pointer.pointee().cloned().is_some_and(|p| self.complete_type(&p, range.span)) {
            self.unreachable_range(var, body);
            return;
        }
        let (start, end) = (self.emit_value(&first), self.emit_value(&last));
        let stride = pointer.pointee().and_then(Ty::stride).unwrap_or(ir::Stride::Bytes(1));
        let counter = self.f.b.func.new_local("", ir::Type::Ptr);
        self.at(span).push(ir::Stmt::Set(counter, start));
        let at = self.nameless(pointer.clone(), Storage::Local(counter), span);
        let label = self.enter(TargetKind::Loop);
        self.f.b.open();
        let b = self.at(span);
        let current = b.bind(ir::Type::Ptr, ir::Op::Get(counter));
        let more = b.compare(CompareOp::Ne, current, end);
        b.open();
        b.push(ir::Stmt::Break(label));
        let els = b.close();
        b.push(ir::Stmt::If { cond: more, then: Block::default(), els });
        let place = Typed::place(pointer.clone(), range.span, Node::Var(at));
        let ptr = self.rvalue(place);
        let element = self.deref(ptr, range.span);
        self.range_round(var, element, body, span);
        let body = self.f.b.close();
        self.f.b.open();
        let b = self.at(span);
        let current = b.bind(ir::Type::Ptr, ir::Op::Get(counter));
        let next = b.offset(current, 1, stride);
        b.push(ir::Stmt::Set(counter, next));
        let step = self.f.b.close();
        self.leave();
        self.at(span).push(ir::Stmt::Loop { label, body, step });
    }

    /// The same where `begin` and `end` give objects: `!=`, `*` and `++` are theirs.
    fn iterator_for(&mut self, var: &'a RangeVar, ends: (Typed, Typed), at: Span, body: &'a Stmt, span: Span) {
        let (first, last) = ends;
        let (Some(it), Some(end)) = (self.kept(first, at), self.kept(last, at)) else {
            self.unreachable_range(var, body);
            return;
        };
        let label = self.enter(TargetKind::Loop);
        self.f.b.open();
        let differs = self.binary(BinaryOp::Ne, it.clone(), end, at, at);
        let more = self.condition(differs);
        self.leave_unless(&more, label);
        let element = self.unary(UnaryOp::Deref, it.clone(), at);
        if element.is_error() {
            self.unreachable_range(var, body);
        } else {
            self.range_round(var, element, body, span);
        }
        let body = self.f.b.close();
        self.f.b.open();
        let step = self.unary(UnaryOp::PreInc, it, at);
        if !step.is_error() {
            self.effect(&step);
        }
        let step = self.f.b.close();
        self.leave();
        self.at(span).push(ir::Stmt::Loop { label, body, step });
    }

    /// A variable without a name that holds a value.
    fn kept(&mut self, value: Typed, span: Span) -> Option<Typed> {
        let ty = value.ty.unqualified();
        let value = self.implicit(value, &ty, Use::Init("the iterator"));
        let size = ty.size().filter(|_| !value.is_error())?;
        let slot = self.slot(String::new(), size, ty.align(), ty.uniform(), span);
        let var = self.nameless(ty.clone(), Storage::Slot(slot), span);
        let place = Typed::place(ty, span, Node::Var(var));
        self.initialise(&place, &value, span);
        Some(place)
    }

    /// One round: the names of the element, and the body.
    fn range_round(&mut self, var: &'a RangeVar, element: Typed, body: &'a Stmt, span: Span) {
        self.scopes.open();
        let mark = self.begin_scope();
        if var.brackets {
            self.bind_names(&var.names, &var.ty, element, span);
        } else if let Some(name) = var.names.first() {
            self.range_variable(name, &var.ty, element);
        }
        self.stmt(body);
        self.end_scope(mark, span);
        self.scopes.close();
    }

    /// Checks the body of a loop whose range was refused.
    pub(super) fn unreachable_range(&mut self, var: &'a RangeVar, body: &'a Stmt) {
        self.scopes.open();
        for name in &var.names {
            self.declare(name.name, Decl::Place(Rc::new(Typed::error(name.span))), name.span);
        }
        self.unreachable(body);
        self.scopes.close();
    }

    pub(super) fn range_ends(&mut self, e: Typed, span: Span) -> Option<(Typed, Typed)> {
        if let Node::Braced(at) = e.node {
            let whole = self.listed_range(at, span)?;
            return self.range_ends(whole, span);
        }
        if let Kind::Array(_, Some(len)) = e.ty.kind {
            let first = self.rvalue(e);
            let count = Typed::int(Num::Long, i64::from(len), span);
            let last = self.pointer_add(first.clone(), count, false, span);
            return Some((first, last));
        }
        if !e.ty.is_struct() {
            let message = format!("`{}` is no range: it is neither an array nor has `begin` and `end`", e.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return None;
        }
        let whole = if e.lvalue {
            let ptr = self.emit_address(&e);
            let var = self.nameless(e.ty.clone().reference(), Storage::Reference(ptr), span);
            Typed::place(e.ty.clone(), span, Node::Var(var))
        } else {
            let ptr = self.emit_object(&e);
            let var = self.nameless(e.ty.clone().reference(), Storage::Reference(ptr), span);
            Typed::place(e.ty.clone(), span, Node::Var(var))
        };
        let (begin, end) = (self.known.begin, self.known.end);
        let first = self.named_method(whole.clone(), begin, "begin", Vec::new(), span)?;
        let last = self.named_method(whole, end, "end", Vec::new(), span)?;
        Some((self.operand(first), self.operand(last)))
    }

    /// `for (int x : {1, 2, 3})`: an array of the type of the first.
    fn listed_range(&mut self, at: u32, span: Span) -> Option<Typed> {
        let (entries, _) = self.braced[at as usize];
        let values: Vec<Typed> = entries.iter().map(|init| self.entry(init)).collect();
        let Some(first) = values.first() else {
            self.report(Diagnostic::error(Code::TypeMismatch, span, "an empty list has no type to loop over"));
            return None;
        };
        let elem = first.ty.decayed();
        let size = elem.size()?;
        let mut items = Vec::new();
        for (i, value) in (0u32..).zip(values) {
            let value = self.implicit(value, &elem, Use::Init("the element"));
            if value.is_error() {
                return None;
            }
            items.push((i * size, value));
        }
        let ty = elem.constant().array(Some(items.len() as u32));
        let slot = self.slot(String::new(), ty.size()?, ty.align(), ty.uniform(), span);
        let to = self.at(span).bind(ir::Type::Ptr, ir::Op::SlotAddr(slot));
        let value = Typed::value(ty.clone(), span, Node::Init(items.into()));
        self.emit_into(&value, to);
        let var = self.nameless(ty.clone(), Storage::Slot(slot), span);
        Some(Typed::place(ty, span, Node::Var(var)))
    }

    /// The variable of a range-based `for` in one round.
    pub(super) fn range_variable(&mut self, name: &'a Ident, written: &'a TypeName, element: Typed) {
        let ty = if written.base.is_auto() {
            match self.deduced_auto(&element, written, written.span) {
                Some(auto) => self.type_with_auto(written, Some(&auto)),
                None => Ty::error(),
            }
        } else {
            self.type_name(written)
        };
        let span = name.span;
        let text = self.text(name).to_owned();
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if let Some(target) = ty.target() {
            let address = self.bind_to(element, &ty, target, |from| {
                format!("`{text}` is `{ty}`, which cannot refer to this `{from}`")
            });
            if address.is_error() { Storage::Nowhere } else { Storage::Reference(self.emit_value(&address)) }
        } else {
            let value = self.implicit(element, &ty.unqualified(), Use::Init(&text));
            match ty.size() {
                Some(size) if !value.is_error() => {
                    let slot = self.slot(text, size, ty.align(), ty.uniform(), span);
                    let place = self.nameless(ty.clone(), Storage::Slot(slot), span);
                    let place = Typed::place(ty.clone(), span, Node::Var(place));
                    self.initialise(&place, &value, span);
                    if self.needs_destructor(&ty) {
                        self.note_cleanup(slot, &ty);
                    }
                    Storage::Slot(slot)
                }
                _ => Storage::Nowhere,
            }
        };
        let owner = self.f.serial;
        let id = self.add_var(Variable { name: name.name, ty, span, storage, constant: None, owner });
        self.declare(name.name, Decl::Var(id), span);
    }
}

//! Structured bindings ([dcl.struct.bind]): arrays and structs taken apart.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Binding, Ident, TypeLayer, TypeName};
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::scopes::names::{Decl, FieldDecl};
use crate::front::lower::{Lowerer, Storage, Variable};
use crate::front::types::{Kind, Ty};
use crate::ir;
use crate::source::Span;
use std::rc::Rc;

impl<'a> Lowerer<'a> {
    /// `auto [a, b] = e;`
    pub(in crate::front::lower) fn binding(&mut self, binding: &'a Binding) {
        let e = self.expr(&binding.init);
        self.bind_names(&binding.names, &binding.ty, e, binding.span);
    }

    /// Takes an array or struct apart into names.
    pub(in crate::front::lower) fn bind_names(
        &mut self,
        names: &'a [Ident],
        written: &'a TypeName,
        e: Typed,
        span: Span,
    ) {
        let whole = if e.is_error() { None } else { self.bound_object(written, e, span) };
        let parts = whole.and_then(|w| self.parts_of(w, span));
        match parts {
            Some(parts) if parts.len() == names.len() => {
                for (name, part) in names.iter().zip(parts) {
                    self.declare(name.name, Decl::Place(Rc::new(part)), name.span);
                }
            }
            other => {
                if let Some(parts) = other {
                    let message = format!("this has {} parts, and {} names are given", parts.len(), names.len());
                    self.report(Diagnostic::error(Code::ArgumentCount, span, message));
                }
                for name in names {
                    self.declare(name.name, Decl::Place(Rc::new(Typed::error(name.span))), name.span);
                }
            }
        }
    }

    /// The object that a structured binding names the parts of: a copy, or what a reference refers to.
    fn bound_object(&mut self, written: &'a TypeName, e: Typed, span: Span) -> Option<Typed> {
        let reference = matches!(written.layers.last(), Some(TypeLayer::Reference { .. }));
        let is_const = written.is_const;
        if reference {
            let target = e.ty.clone().qualified(is_const, false);
            let place = if e.lvalue { e } else { Typed::place(target.clone(), span, Node::Temporary(Box::new(e))) };
            let ptr = self.emit_address(&place);
            let var = self.nameless(target.clone().reference(), Storage::Reference(ptr), span);
            return Some(Typed::place(target, span, Node::Var(var)));
        }
        let value = if e.lvalue && e.ty.is_array() {
            let ty = e.ty.unqualified();
            Typed::value(ty, span, Node::Load(Box::new(e)))
        } else {
            self.rvalue(e)
        };
        if value.is_error() {
            return None;
        }
        let ty = value.ty.clone();
        let slot = self.slot(String::new(), ty.size()?, ty.align(), ty.uniform(), span);
        let to = self.at(span).bind(ir::Type::Ptr, ir::Op::SlotAddr(slot));
        self.emit_into(&value, to);
        if self.needs_destructor(&ty) {
            self.note_cleanup(slot, &ty);
        }
        let ty = ty.qualified(is_const, false);
        let var = self.nameless(ty.clone(), Storage::Slot(slot), span);
        Some(Typed::place(ty, span, Node::Var(var)))
    }

    /// A new variable that no name stands for.
    pub(in crate::front::lower) fn nameless(&mut self, ty: Ty, storage: Storage, span: Span) -> VarId {
        let (name, owner) = (self.known.empty, self.f.serial);
        self.add_var(Variable { name, ty, span, storage, constant: None, owner })
    }

    /// The elements of an array, or the fields of a struct.
    fn parts_of(&mut self, whole: Typed, span: Span) -> Option<Vec<Typed>> {
        if let Kind::Array(elem, Some(len)) = &whole.ty.kind {
            let (elem, len, size) = ((**elem).clone(), *len, elem.size()?);
            let part = |i: u32| Typed::place(elem.clone(), span, Node::Member(Box::new(whole.clone()), i * size));
            return Some((0..len.min(1024)).map(part).collect());
        }
        let Some(s) = whole.ty.as_struct().cloned() else {
            let message = format!("`{}` has no parts to name", whole.ty);
            self.report(
                Diagnostic::error(Code::TypeMismatch, span, message).help("only arrays and structs are taken apart"),
            );
            return None;
        };
        let layout = s.layout.get()?.clone();
        // `std::array`
        if let [field] = layout.fields.as_slice()
            && field.ty.is_array()
            && field.name.is_some_and(|name| self.interner.name(name) == "__elements")
        {
            let elements = Typed::place(field.ty.clone(), span, Node::Member(Box::new(whole), field.offset));
            return self.parts_of(elements, span);
        }
        let (owner, fields) = if layout.fields.is_empty() && layout.bases.len() == 1 {
            let (b, _) = &layout.bases[0];
            (b.as_struct()?.id, b.layout()?.fields.clone())
        } else {
            (s.id, layout.fields)
        };
        let mut parts = Vec::new();
        for field in fields {
            let decl = FieldDecl::of(owner, &field, 0);
            parts.push(self.field(whole.clone(), &decl, span));
        }
        Some(parts)
    }
}

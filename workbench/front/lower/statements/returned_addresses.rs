//! `return` of a pointer or reference to something that ends with the function.
//!
//! Only what an expression shows by itself is found: `return a;`, `return &x;`, `return a + k;`, a cast or either branch of
//! one. A pointer that has been through a variable is not followed.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::{Lowerer, Storage};
use crate::front::types::Kind;

/// Thing that ends with the function.
enum Ended {
    Variable(VarId),
    Temporary,
}

impl Lowerer<'_> {
    /// Reports the value of a `return` that points into the function's own variables; whether it does.
    pub(super) fn dangles(&mut self, value: &Typed) -> bool {
        let Some(ended) = self.ended(value) else { return false };
        let function = self.f.name.clone();
        let diag = match ended {
            Ended::Variable(id) => {
                let var = self.var(id);
                let (name, place) = (self.interner.name(var.name).to_owned(), var.span);
                let message = format!("`{function}` returns the address of `{name}`, which ends with it");
                Diagnostic::error(Code::DanglingReturn, value.span, message).related(place, "declared here")
            }
            Ended::Temporary => {
                let message = format!("`{function}` returns a reference to a value that ends with it");
                Diagnostic::error(Code::DanglingReturn, value.span, message)
            }
        };
        self.report(diag.help("return the value itself, or let the caller pass a pointer to write to"));
        true
    }

    /// The thing that a pointer value points into, when that ends with the function.
    fn ended(&self, pointer: &Typed) -> Option<Ended> {
        match &pointer.node {
            Node::Decay(place) | Node::AddrOf(place) => self.ended_place(place),
            Node::Convert(from) if matches!(from.ty.kind, Kind::Pointer(..)) => self.ended(from),
            Node::PtrAdd(from, ..) | Node::Adjust(from, _) | Node::Comma(_, from) => self.ended(from),
            Node::Conditional(parts) => {
                let [_, yes, no] = &**parts;
                self.ended(yes).or_else(|| self.ended(no))
            }
            _ => None,
        }
    }

    /// The thing that a place lies in, when that ends with the function.
    fn ended_place(&self, place: &Typed) -> Option<Ended> {
        match &place.node {
            Node::Var(id) => match self.var(*id).storage {
                Storage::Value(_) | Storage::Local(_) | Storage::Slot(_) => Some(Ended::Variable(*id)),
                _ => None,
            },
            Node::Temporary(_) => Some(Ended::Temporary),
            Node::Deref(pointer) => self.ended(pointer),
            Node::Convert(from) | Node::Member(from, _) | Node::BitField(from, _) | Node::Comma(_, from) => {
                self.ended_place(from)
            }
            Node::Conditional(parts) => {
                let [_, yes, no] = &**parts;
                self.ended_place(yes).or_else(|| self.ended_place(no))
            }
            Node::Assign(to, _) => self.ended_place(to),
            Node::Compound(compound) => self.ended_place(&compound.place),
            Node::Step { place, prefix: true, .. } => self.ended_place(place),
            _ => None,
        }
    }
}

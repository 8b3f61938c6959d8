//! The end of a variable's life: pointers into it that are kept in variables of the scopes round its own point at nothing from there on, and
//! whoever follows one is told so. Pointers that went through memory, or through a function, are not followed.
//!
//! A pointer to a local variable is good for as long as its function's frame, as code has one descriptor a slot. So when a variable's scope
//! ends, variables of the scopes round it that may have been assigned a pointer into it are made to point at `ir::ENDED`, if they then
//! point there. Pointers that are not followed are found where the frame has ended.

use crate::front::ast::VarDecl;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Cleaned, Lowerer, Storage};
use crate::front::types::{Num, Ty};
use crate::ir::{CompareOp, Const, ENDED, Scalar};

impl<'a> Lowerer<'a> {
    /// Notes what becomes of pointers into a variable that has just been declared.
    pub(in crate::front::lower) fn note_end_of_life(&mut self, var: &'a VarDecl) {
        let name = var.name.name;
        if !self.f.inside {
            return;
        }
        let Some(Decl::Var(id)) = self.here(name) else { return };
        let span = var.name.span;
        let ty = self.var(id).ty.clone();
        let (Storage::Slot(_), Some(size)) = (self.var(id).storage, ty.size()) else { return };
        for keeper in self.f.usage.keepers(name) {
            // A keeper that ends as soon does not matter; for variables of other functions, and for data, the end is not known.
            if self.here(keeper).is_some() {
                continue;
            }
            let Some(Decl::Var(to)) = self.lookup(keeper) else { continue };
            let (kept, owner) = (self.var(to).ty.clone(), self.var(to).owner);
            let is_own = owner == self.f.serial && matches!(self.var(to).storage, Storage::Local(_) | Storage::Slot(_));
            if !is_own
                || kept.is_const
                || kept.pointee().is_none_or(|p| p.ir().is_none() && !p.is_struct() && !p.is_void())
            {
                continue;
            }
            let number: Ty = Num::ULongLong.into();
            let place = Typed::place(kept.clone(), span, Node::Var(to));
            let whole = Typed::place(ty.clone(), span, Node::Var(id));
            let address = Typed::value(ty.clone().pointer(), span, Node::AddrOf(Box::new(whole)));
            let [pointer, start] = [self.rvalue(place.clone()), address]
                .map(|p| Typed::value(number.clone(), span, Node::Convert(Box::new(p))));
            let far = Typed::value(
                number.clone(),
                span,
                Node::Binary(crate::ir::BinaryOp::Sub, Box::new(pointer), Box::new(start)),
            );
            let constant = |n: i64| Typed::value(number.clone(), span, Node::Const(Const::Int(Scalar::U64, n)));
            let is_inside = self.compare(CompareOp::Lt, far, constant(size.into()), span);
            let ended = Typed::value(kept.clone(), span, Node::Convert(Box::new(constant(ENDED))));
            let value = self.rvalue(place.clone());
            let chosen = Typed::value(kept.clone(), span, Node::Conditional(Box::new([is_inside, ended, value])));
            let assign = Typed::place(kept, span, Node::Assign(Box::new(place), Box::new(chosen)));
            self.note(Cleaned::Handler(Box::new(assign)));
        }
    }
}

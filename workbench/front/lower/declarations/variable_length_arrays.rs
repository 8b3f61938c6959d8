//! Arrays whose length is known as they run, `int64_t p[n];`: an extension of g++'s that host code of real texts uses. They are memory of
//! the heap that goes back where their scope ends; the name is a place of a type without a size, so `sizeof` of it is an error.

use crate::front::ast::{Expr, TypeLayer, VarDecl};
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::{Cleaned, Lowerer, Side, Storage, Variable};
use crate::front::types::{Num, Ty};
use crate::ir::{BinaryOp, Const, Scalar, Service, Stmt, Type};

impl<'a> Lowerer<'a> {
    /// Declares such an array, if a declaration in host code is one: of numbers or pointers, its outermost length no constant.
    pub(super) fn array_of_run_time_length(&mut self, var: &'a VarDecl) -> bool {
        if self.f.side != Side::Host || !self.f.inside || var.ty.base.is_auto() {
            return false;
        }
        let Some((TypeLayer::Array(Some(len)), inner)) = var.ty.layers.split_last() else { return false };
        let len: &'a Expr = len;
        let (_, is_constant) = self.quietly(|this| this.constant_integer(len, "the length of an array"));
        if is_constant {
            return false;
        }
        let (elem, fine) = self.quietly(|this| {
            let elem = this.type_of_layers(&var.ty, inner, None);
            let count = this.expr(len);
            (elem, count.ty.referred().scalar().is_some_and(Scalar::is_int))
        });
        let (elem, is_integer) = elem;
        let Some(size) = elem.size().filter(|_| fine && is_integer && !elem.innermost().is_struct()) else {
            return false;
        };
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        let long: Ty = Num::LongLong.into();
        let count = self.expr(len);
        let count = self.implicit(count, &long, Use::Init(&name));
        if count.is_error() {
            return false;
        }
        let size = Typed::value(long.clone(), span, Node::Const(Const::Int(Scalar::I64, size.into())));
        let bytes = Typed::value(long, span, Node::Binary(BinaryOp::Mul, Box::new(count), Box::new(size)));
        let pointer = elem.clone().pointer();
        let memory = self.emit_service(Service::Alloc, &[bytes], true, span);
        let Some(memory) = memory else { return false };
        let local = self.f.b.func.new_local(name.clone(), Type::Ptr);
        self.at(span).push(Stmt::Set(local, memory));
        // Nobody can name what gives it back.
        let holder = Variable {
            name: self.known.empty,
            ty: pointer.clone(),
            span,
            storage: Storage::Local(local),
            constant: None,
            owner: self.f.serial,
        };
        let holder = self.add_var(holder);
        let held = self.rvalue(Typed::place(pointer, span, Node::Var(holder)));
        self.note(Cleaned::Handler(Box::new(Typed::value(Ty::void(), span, Node::Service(Service::Free, vec![held])))));
        self.declare_var(var, elem.array(None), Storage::Reference(memory), None);
        true
    }
}

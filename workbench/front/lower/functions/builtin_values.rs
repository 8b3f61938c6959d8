//! Functions that are built in, as values: `fold(fmaxf, x, n)`, a pointer to one, a template's argument. Each becomes a function of its own
//! that calls it, made where the first such value is.

use super::pointers::made_function;
use crate::front::ast::{Ident, Symbol};
use crate::front::builtins::{self, Form};
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed, VarId};
use crate::front::lower::scopes::names::Callable;
use crate::front::lower::{FuncState, Lowerer, Side};
use crate::front::types::{Num, Ty};
use crate::ir::{Builder, Stmt};
use crate::source::Span;
use std::rc::Rc;

/// The parameters and the result of each overload of what is built in.
fn overloads(name: &str) -> Vec<(Vec<Ty>, Ty)> {
    let sigs = builtins::lookup(name);
    if !sigs.is_empty() {
        return sigs.iter().map(|sig| (sig.params.iter().map(|p| p.ty()).collect(), sig.ret.ty())).collect();
    }
    let Some((f, form)) = builtins::math(name) else { return Vec::new() };
    let nums: &[Num] = if form == Form::Float { &[Num::Float] } else { &[Num::Float, Num::Double] };
    nums.iter().map(|&num| (vec![Ty::from(num); f.arity()], Ty::from(num))).collect()
}

impl<'a> Lowerer<'a> {
    /// The functions that stand for what is built in of a name; none where it is no function, or not an ordinary one.
    pub(in crate::front::lower) fn builtin_functions(&mut self, ident: &Ident) -> Option<Rc<[Callable]>> {
        if let Some(known) = self.builtin_values.get(&ident.name) {
            return Some(known.clone());
        }
        let name = self.text(ident).to_owned();
        let overloads = overloads(&name);
        if overloads.is_empty() {
            return None;
        }
        let made: Rc<[Callable]> = overloads
            .into_iter()
            .map(|(params, ret)| Callable::Func(self.builtin_function(ident.name, &name, params, ret, ident.span)))
            .collect();
        self.builtin_values.insert(ident.name, made.clone());
        Some(made)
    }

    /// A function that calls one overload.
    fn builtin_function(&mut self, symbol: Symbol, name: &str, params: Vec<Ty>, ret: Ty, span: Span) -> FuncIndex {
        let side = if builtins::device_only(name) { Side::Device } else { Side::Both };
        let index = self.add_func(made_function(symbol, name.to_owned(), side, params.clone(), ret.clone(), span));
        let id = self.func_id(index);
        let func = self.module.functions[id.index()].clone();
        self.serials += 1;
        let state = FuncState {
            b: Builder::new(func),
            side,
            inside: true,
            index: Some(index),
            name: name.to_owned(),
            ret: ret.clone(),
            serial: self.serials,
            ..FuncState::outside()
        };
        let outer = std::mem::replace(&mut self.f, state);
        let unevaluated = std::mem::take(&mut self.unevaluated);
        let parameter = Ident { name: symbol, span };
        let ids: Vec<VarId> =
            params.iter().filter_map(|ty| self.declare_parameter(Some(parameter), ty.clone(), span, false)).collect();
        let args = ids.iter().zip(params).map(|(id, ty)| Typed::place(ty, span, Node::Var(*id))).collect();
        let sigs = builtins::lookup(name);
        let result = match builtins::math(name) {
            Some((f, form)) if sigs.is_empty() => self.call_math(name, f, form, args, span),
            _ => self.call_builtin(name, sigs, args, span),
        };
        if ret.is_void() {
            self.effect(&result);
            self.at(span).push(Stmt::Return(None));
        } else {
            let value = self.emit_value(&result);
            self.at(span).push(Stmt::Return(Some(value)));
        }
        self.unevaluated = unevaluated;
        let state = std::mem::replace(&mut self.f, outer);
        let mut func = state.b.finish();
        func.ret = ret.ir();
        self.module.functions[id.index()] = func;
        self.is_whole(id, side);
        index
    }
}

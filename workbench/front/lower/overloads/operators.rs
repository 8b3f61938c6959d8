//! Operators that the text declares for its structs and enums ([over.oper]).

use super::ranking::Arg;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp as Op, Symbol, UnaryOp as Un};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::calls;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::scopes::names::{Callable, Decl};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::types::{Kind, Num, Ty};
use crate::source::Span;

/// A binary operator as it is written, with `=` for the assigning form.
pub(in crate::front::lower) fn sign_of(op: Op, assigns: bool) -> &'static str {
    match (op, assigns) {
        (Op::Mul, false) => "*",
        (Op::Div, false) => "/",
        (Op::Rem, false) => "%",
        (Op::Add, false) => "+",
        (Op::Sub, false) => "-",
        (Op::Shl, false) => "<<",
        (Op::Shr, false) => ">>",
        (Op::BitAnd, false) => "&",
        (Op::BitXor, false) => "^",
        (Op::BitOr, false) => "|",
        (Op::Mul, true) => "*=",
        (Op::Div, true) => "/=",
        (Op::Rem, true) => "%=",
        (Op::Add, true) => "+=",
        (Op::Sub, true) => "-=",
        (Op::Shl, true) => "<<=",
        (Op::Shr, true) => ">>=",
        (Op::BitAnd, true) => "&=",
        (Op::BitXor, true) => "^=",
        (Op::BitOr, true) => "|=",
        (Op::Lt, _) => "<",
        (Op::Le, _) => "<=",
        (Op::Gt, _) => ">",
        (Op::Ge, _) => ">=",
        (Op::Eq, _) => "==",
        (Op::Ne, _) => "!=",
        (Op::And, _) => "&&",
        (Op::Or, _) => "||",
        (Op::Comma, _) => ",",
    }
}

/// A unary operator as it is written.
pub(in crate::front::lower) fn unary_sign(op: Un) -> &'static str {
    match op {
        Un::Plus => "+",
        Un::Minus => "-",
        Un::Not => "!",
        Un::BitNot => "~",
        Un::Deref => "*",
        Un::AddrOf => "&",
        Un::PreInc | Un::PostInc => "++",
        Un::PreDec | Un::PostDec => "--",
    }
}

impl<'a> Lowerer<'a> {
    /// A call of the text's operator for these operands, which it takes; `None` when the built-in meaning applies, and they stay.
    pub(in crate::front::lower) fn user_operator(
        &mut self,
        sign: &'static str,
        args: &mut [Typed],
        span: Span,
    ) -> Option<Typed> {
        let own = |ty: &Ty| matches!(ty.kind, Kind::Struct(_) | Kind::Enum(_));
        if !args.iter().any(|a| own(&a.ty)) {
            return None;
        }
        if args.iter().any(Typed::is_error) {
            return Some(Typed::error(span));
        }
        let symbol = *self.known.operators.get(sign)?;
        self.operator_call(symbol, sign, args, span)
    }

    fn operator_call(&mut self, symbol: Symbol, sign: &str, args: &mut [Typed], span: Span) -> Option<Typed> {
        let taken = |arg: &mut Typed| std::mem::replace(arg, Typed::error(span));
        let first = &args[0];
        let mut tied = Vec::new();
        if let Some(s) = first.ty.as_struct().cloned() {
            if !self.complete(&s, span) {
                return Some(Typed::error(span));
            }
            let scope = self.class(s.id).scope;
            if let Some(Decl::Functions(set)) = self.lookup_in(scope, symbol) {
                let set = if sign == "=" { self.assignments(&set, args, s.id) } else { set.to_vec() };
                let object = Arg::from(first);
                match self.try_choose(&set, None, Some(&object), &args[1..], span) {
                    Ok(Some(index)) => {
                        let mut all = args.iter_mut().map(taken);
                        let object = all.next().unwrap_or_else(|| Typed::error(span));
                        let rest = all.collect();
                        return Some(self.method_call(index, object, rest, span));
                    }
                    Ok(None) => {}
                    Err(which) => tied = which,
                }
            }
        }
        let mut set: Vec<Callable> = match self.lookup(symbol) {
            Some(Decl::Functions(found)) => found.iter().copied().filter(|c| !self.is_method(*c)).collect(),
            _ => Vec::new(),
        };
        // Inside a struct its own operators hide those of the namespace.
        let mut scope = self.scopes.namespace_of(self.scopes.current());
        loop {
            if let Some(Decl::Functions(found)) = self.lookup_in(scope, symbol) {
                let fresh: Vec<_> = found.iter().copied().filter(|c| !set.contains(c)).collect();
                set.extend(fresh);
            }
            match self.scopes.parent(scope) {
                Some(outer) => scope = outer,
                None => break,
            }
        }
        let associated = self.associated(symbol, args);
        set.extend(associated.into_iter().filter(|c| !set.contains(c)).collect::<Vec<_>>());
        if !args.iter().any(|a| a.ty.is_struct()) {
            // [over.match.oper]: for enums only functions that take one of them as such.
            set.retain(|c| self.takes_enum(*c, args));
        }
        if !set.is_empty() && sign != "=" {
            match self.try_choose(&set, None, None, args, span) {
                Ok(Some(index)) => {
                    let args = args.iter_mut().map(taken).collect();
                    return Some(self.call_function(index, args, span));
                }
                Ok(None) => {}
                Err(which) => tied = which,
            }
        }
        if tied.is_empty() {
            return None;
        }
        let message = format!("operator `{sign}` is ambiguous for {}", calls::list_of(args));
        let mut diag = Diagnostic::error(Code::NoOverload, span, message);
        for index in tied {
            diag = diag.related(self.func(index).span, "this one takes them");
        }
        self.report(diag);
        Some(Typed::error(span))
    }

    /// The function takes an operand's enum as it is. Templates may.
    fn takes_enum(&self, callable: Callable, args: &[Typed]) -> bool {
        let Callable::Func(index) = callable else { return true };
        let params = self.func(index).params.iter().zip(args);
        params.into_iter().any(|(param, arg)| match (&param.referred().kind, &arg.ty.kind) {
            (Kind::Enum(x), Kind::Enum(y)) => x == y,
            _ => false,
        })
    }

    /// Assignment operators that compete with copying: for a value of the struct's own type only those that take it.
    fn assignments(&self, set: &[Callable], args: &[Typed], id: u32) -> Vec<Callable> {
        let same = args.get(1).is_some_and(|a| a.ty.as_struct().is_some_and(|s| s.id == id));
        let takes = |c: &Callable| match c {
            Callable::Func(f) => {
                let f = self.func(*f);
                f.code.is_some()
                    && (!same || f.params.first().is_some_and(|p| p.referred().as_struct().is_some_and(|s| s.id == id)))
            }
            Callable::Template(_) => !same,
        };
        set.iter().copied().filter(takes).collect()
    }

    fn is_method(&self, callable: Callable) -> bool {
        match callable {
            Callable::Func(index) => self.func(index).this.is_some(),
            Callable::Template(index) => {
                matches!(&self.template(index).kind, TemplateKind::Function { owner: Some(_), .. })
            }
        }
    }

    /// An operand of struct type as the number or pointer that its conversion function makes of it.
    pub(in crate::front::lower) fn as_builtin(&mut self, e: Typed) -> Typed {
        if !e.ty.is_struct() || e.is_error() {
            return e;
        }
        let from = e.ty.clone();
        let Some(function) = self.builtin_conversion(&from) else { return e };
        let span = e.span;
        let value = self.converted_by(function, e, span);
        self.operand(value)
    }

    /// The only conversion function to a number or pointer.
    fn builtin_conversion(&mut self, from: &Ty) -> Option<FuncIndex> {
        let s = from.as_struct()?.clone();
        self.try_complete(from);
        let mut found = None;
        for callable in self.class(s.id).conversions.clone() {
            let Callable::Func(index) = callable else { continue };
            let f = self.func(index);
            let ret = f.ret.referred();
            let fits = ret.arithmetic().is_some() || ret.pointee().is_some();
            let constant = from.is_const && f.this.as_ref().is_some_and(|t| !t.is_const);
            if fits && !f.explicit && !constant {
                if found.is_some() {
                    return None;
                }
                found = Some(index);
            }
        }
        found.or_else(|| {
            let bases: Vec<Ty> = s.layout.get()?.bases.iter().map(|(b, _)| b.clone()).collect();
            bases.iter().find_map(|b| self.builtin_conversion(&b.clone().qualified(from.is_const, false)))
        })
    }

    /// A condition's operand of struct type as `bool`, explicit conversions included.
    pub(in crate::front::lower) fn as_condition(&mut self, e: Typed) -> Typed {
        if !e.ty.is_struct() {
            return e;
        }
        let from = e.ty.clone();
        let function = self.conversion_function(&from, &Num::Bool.into(), true);
        match function {
            Some(function) => {
                let span = e.span;
                let value = self.converted_by(function, e, span);
                self.operand(value)
            }
            None => e,
        }
    }

    /// `a[b]`, `a(b)` of a struct.
    pub(in crate::front::lower) fn operator_method(
        &mut self,
        symbol: Symbol,
        sign: &str,
        object: Typed,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        self.named_method(object, symbol, sign, args, span).unwrap_or_else(|| Typed::error(span))
    }

    /// `x` of `x++` where the text's operator is asked: the postfix form takes an `int` that means nothing.
    pub(in crate::front::lower) fn postfix_marker(span: Span) -> Typed {
        Typed { node: Node::Const(crate::ir::Const::Int(crate::ir::Scalar::I32, 0)), ..Typed::int(Num::Int, 0, span) }
    }
}

//! Types of operators ([expr]): what operands they take, what conversions those get, what comes out.

use super::conversions::Use;
use super::typed_tree::{CompoundAssign, Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp as Op, UnaryOp as Un};
use crate::front::lower::classes::bit_fields;
use crate::front::lower::constants::folding;
use crate::front::lower::declarations::initialisers;
use crate::front::lower::overloads::operators::{sign_of, unary_sign};
use crate::front::lower::overloads::ranking::{Arg, implicit};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Lowerer, Storage, Variable};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{BinaryOp, CompareOp, Const, Space, UnaryOp};
use crate::source::Span;

/// The operator as written.
pub(in crate::front::lower) fn sign(op: Op) -> &'static str {
    sign_of(op, false)
}

fn arithmetic_op(op: Op) -> Option<BinaryOp> {
    Some(match op {
        Op::Mul => BinaryOp::Mul,
        Op::Div => BinaryOp::Div,
        Op::Rem => BinaryOp::Rem,
        Op::Add => BinaryOp::Add,
        Op::Sub => BinaryOp::Sub,
        Op::Shl => BinaryOp::Shl,
        Op::Shr => BinaryOp::Shr,
        Op::BitAnd => BinaryOp::And,
        Op::BitXor => BinaryOp::Xor,
        Op::BitOr => BinaryOp::Or,
        _ => return None,
    })
}

fn comparison(op: Op) -> Option<CompareOp> {
    Some(match op {
        Op::Lt => CompareOp::Lt,
        Op::Le => CompareOp::Le,
        Op::Gt => CompareOp::Gt,
        Op::Ge => CompareOp::Ge,
        Op::Eq => CompareOp::Eq,
        Op::Ne => CompareOp::Ne,
        _ => return None,
    })
}

fn integers_only(op: Op) -> bool {
    matches!(op, Op::Rem | Op::Shl | Op::Shr | Op::BitAnd | Op::BitXor | Op::BitOr)
}

impl<'a> Lowerer<'a> {
    /// A binary operator on checked operands.
    pub(in crate::front::lower) fn binary(&mut self, op: Op, a: Typed, b: Typed, span: Span, sign: Span) -> Typed {
        let mut operands = [a, b];
        if let Some(call) = self.user_operator(sign_of(op, false), &mut operands, span) {
            return call;
        }
        let [a, b] = operands;
        let (a, b) = if op == Op::Comma { (a, b) } else { (self.as_builtin(a), self.as_builtin(b)) };
        match op {
            Op::Comma => {
                let (a, b) = (a, self.rvalue(b));
                if a.is_error() || b.is_error() {
                    return Typed::error(span);
                }
                let ty = b.ty.clone();
                return Typed::value(ty, span, Node::Comma(Box::new(a), Box::new(b)));
            }
            Op::And | Op::Or => {
                let (a, b) = (self.condition(a), self.condition(b));
                return self.logical(op == Op::And, a, b, span);
            }
            _ => {}
        }
        let (a, b) = (self.operand(a), self.operand(b));
        if a.is_error() || b.is_error() {
            return Typed::error(span);
        }
        if let Some(compare) = comparison(op) {
            return self.comparison(op, compare, a, b, span, sign);
        }
        let both = (a.ty.arithmetic(), b.ty.arithmetic());
        match (both, arithmetic_op(op)) {
            ((Some(x), Some(y)), Some(ir)) => {
                if integers_only(op) && (x.is_float() || y.is_float()) {
                    return self.bad_operands(op, &a, &b, sign);
                }
                let (a, b) = if matches!(op, Op::Shl | Op::Shr) {
                    (self.number(a, x.promoted()), self.number(b, y.promoted()))
                } else {
                    let common = x.usual(y);
                    (self.number(a, common), self.number(b, common))
                };
                self.arithmetic(ir, a, b, span)
            }
            _ => self.pointer_arithmetic(op, a, b, span, sign),
        }
    }

    /// Operands are of one type (shifts apart).
    pub(in crate::front::lower) fn arithmetic(&mut self, op: BinaryOp, a: Typed, b: Typed, span: Span) -> Typed {
        let ty = a.ty.clone();
        if let (Some(x), Some(y)) = (a.constant(), b.constant())
            && let Some(c) = folding::binary(op, x, y)
        {
            return Typed::value(ty, span, Node::Const(c));
        }
        Typed::value(ty, span, Node::Binary(op, Box::new(a), Box::new(b)))
    }

    fn logical(&mut self, and: bool, a: Typed, b: Typed, span: Span) -> Typed {
        if a.is_error() || b.is_error() {
            return Typed::error(span);
        }
        match a.constant() {
            Some(Const::Bool(truth)) if truth != and => Typed::truth(truth, span),
            Some(Const::Bool(_)) => Typed { span, ..b },
            _ => Typed::value(Num::Bool, span, Node::Logical(and, Box::new(a), Box::new(b))),
        }
    }

    fn comparison(&mut self, op: Op, ir: CompareOp, a: Typed, b: Typed, span: Span, sign: Span) -> Typed {
        if let (Some(x), Some(y)) = (a.ty.arithmetic(), b.ty.arithmetic()) {
            let common = x.usual(y);
            let (a, b) = (self.number(a, common), self.number(b, common));
            return self.compare(ir, a, b, span);
        }
        if let (Kind::Enum(x), Kind::Enum(y)) = (&a.ty.kind, &b.ty.kind)
            && x == y
        {
            return self.compare(ir, a, b, span);
        }
        match self.composite(&a, &b) {
            Some(ty) => {
                let (a, b) = (self.cast(a, &ty), self.cast(b, &ty));
                self.compare(ir, a, b, span)
            }
            None => self.bad_operands(op, &a, &b, sign),
        }
    }

    /// The pointer type two pointers are compared or chosen in ([expr.type]).
    fn composite(&self, a: &Typed, b: &Typed) -> Option<Ty> {
        let is_pointer = |e: &Typed| matches!(e.ty.kind, Kind::Pointer(_) | Kind::Nullptr);
        if !is_pointer(a) && !is_pointer(b) {
            return None;
        }
        if implicit(&Arg::from(a), &b.ty).is_some() && is_pointer(b) {
            return Some(b.ty.clone());
        }
        if implicit(&Arg::from(b), &a.ty).is_some() && is_pointer(a) {
            return Some(a.ty.clone());
        }
        // `float*` and `const void*`, `const float*` and `volatile float*`: both qualifiers on the more general pointee.
        let (x, y) = (a.ty.pointee()?, b.ty.pointee()?);
        let general = if y.is_void() { y } else { x };
        let merged = general.clone().qualified(x.is_const || y.is_const, x.is_volatile || y.is_volatile).pointer();
        let fits = |e: &Typed| implicit(&Arg::from(e), &merged).is_some();
        (fits(a) && fits(b)).then_some(merged)
    }

    fn pointer_arithmetic(&mut self, op: Op, a: Typed, b: Typed, span: Span, sign: Span) -> Typed {
        let integral = |e: &Typed| e.ty.arithmetic().is_some_and(Num::is_integral);
        match (op, a.ty.pointee().is_some(), b.ty.pointee().is_some()) {
            (Op::Add | Op::Sub, true, false) if integral(&b) => self.pointer_add(a, b, op == Op::Sub, span),
            (Op::Add, false, true) if integral(&a) => self.pointer_add(b, a, false, span),
            (Op::Sub, true, true) => {
                let same = a.ty.pointee().map(Ty::unqualified) == b.ty.pointee().map(Ty::unqualified);
                if !same {
                    return self.bad_operands(op, &a, &b, sign);
                }
                if !self.has_stride(&a, span) {
                    return Typed::error(span);
                }
                Typed::value(Num::Long, span, Node::PtrDiff(Box::new(a), Box::new(b)))
            }
            _ => self.bad_operands(op, &a, &b, sign),
        }
    }

    /// `ptr + index`; the index is an integer of any type.
    pub(in crate::front::lower) fn pointer_add(&mut self, ptr: Typed, index: Typed, down: bool, span: Span) -> Typed {
        if !self.has_stride(&ptr, span) {
            return Typed::error(span);
        }
        let index = self.number(index, Num::Long);
        let ty = ptr.ty.clone();
        Typed::value(ty, span, Node::PtrAdd(Box::new(ptr), Box::new(index), down))
    }

    fn has_stride(&mut self, ptr: &Typed, span: Span) -> bool {
        if let Some(pointee) = ptr.ty.pointee().cloned() {
            self.try_complete(pointee.innermost());
        }
        let known = ptr.ty.pointee().is_some_and(|p| p.stride().is_some());
        if !known {
            let message = format!("arithmetic on `{}`: what it points at has no size", ptr.ty);
            let help = "cast it first, for example to `char*`";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help(help));
        }
        known
    }

    fn bad_operands(&mut self, op: Op, a: &Typed, b: &Typed, place: Span) -> Typed {
        let sign = sign(op);
        let message = format!("`{sign}` cannot take `{}` and `{}`", a.ty, b.ty);
        let mut diag = Diagnostic::error(Code::TypeMismatch, place, message)
            .related(a.span, format!("this is `{}`", a.ty))
            .related(b.span, format!("this is `{}`", b.ty));
        let float = |e: &Typed| e.ty.num().is_some_and(Num::is_float);
        if op == Op::Rem && (float(a) || float(b)) {
            diag = diag.help("use `fmodf` or `fmod` for floating point");
        } else if integers_only(op) && (float(a) || float(b)) {
            diag = diag.help("convert to an integer first: `(int)x`");
        } else if matches!((&a.ty.kind, &b.ty.kind), (Kind::Enum(_), _) | (_, Kind::Enum(_))) {
            diag = diag.help("an `enum class` converts only with `static_cast`");
        } else if a.ty.pointee().is_some() != b.ty.pointee().is_some() {
            diag = diag.help("read what the pointer points at: `*p` or `p[i]`");
        }
        self.report(diag);
        Typed::error(place)
    }

    /// A unary operator on a checked operand.
    pub(in crate::front::lower) fn unary(&mut self, op: Un, a: Typed, span: Span) -> Typed {
        let mut operands = vec![a];
        if matches!(op, Un::PostInc | Un::PostDec) {
            operands.push(Self::postfix_marker(span));
        }
        if op != Un::AddrOf
            && let Some(call) = self.user_operator(unary_sign(op), &mut operands, span)
        {
            return call;
        }
        let a = operands.swap_remove(0);
        let a = if matches!(op, Un::AddrOf | Un::Not) { a } else { self.as_builtin(a) };
        match op {
            Un::AddrOf => return self.address_of(a, span),
            Un::Deref => {
                let a = self.operand(a);
                return self.deref(a, span);
            }
            Un::PreInc | Un::PreDec | Un::PostInc | Un::PostDec => return self.step(op, a, span),
            Un::Not => {
                let a = self.condition(a);
                return self.negate(a, span);
            }
            Un::Plus | Un::Minus | Un::BitNot => {}
        }
        if op == Un::Plus
            && let Some(plain) = self.plain_function(&a.ty)
        {
            return self.function_pointer(plain, span);
        }
        let a = self.operand(a);
        if a.is_error() {
            return Typed::error(span);
        }
        let sign = match op {
            Un::Plus => "+",
            Un::Minus => "-",
            _ => "~",
        };
        match a.ty.arithmetic() {
            Some(num) if op != Un::BitNot || num.is_integral() => {
                let a = self.number(a, num.promoted());
                match op {
                    Un::Plus => Typed { span, null: false, ..a },
                    Un::Minus => self.fold_unary(UnaryOp::Neg, a, span),
                    _ => self.fold_unary(UnaryOp::Not, a, span),
                }
            }
            None if op == Un::Plus && a.ty.pointee().is_some() => Typed { span, ..a },
            _ => {
                let message = format!("`{sign}` cannot take `{}`", a.ty);
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                Typed::error(span)
            }
        }
    }

    fn fold_unary(&mut self, op: UnaryOp, a: Typed, span: Span) -> Typed {
        let ty = a.ty.clone();
        match a.constant().and_then(|c| folding::unary(op, c)) {
            Some(c) => Typed::value(ty, span, Node::Const(c)),
            None => Typed::value(ty, span, Node::Unary(op, Box::new(a))),
        }
    }

    /// `!a` of a `bool`.
    pub(super) fn negate(&mut self, a: Typed, span: Span) -> Typed {
        if a.is_error() {
            return Typed::error(span);
        }
        self.fold_unary(UnaryOp::Not, a, span)
    }

    /// `*a` of a value.
    pub(in crate::front::lower) fn deref(&mut self, a: Typed, span: Span) -> Typed {
        if a.is_error() {
            return Typed::error(span);
        }
        match a.ty.pointee() {
            Some(pointee) if matches!(pointee.kind, Kind::Function(_)) => {
                let ty = pointee.clone();
                match Self::as_function(&a) {
                    Some(index) => Typed::place(ty, span, Node::Function(index)),
                    None => a,
                }
            }
            Some(pointee) if !pointee.is_void() => {
                let ty = pointee.clone();
                Typed::place(ty, span, Node::Deref(Box::new(a)))
            }
            Some(_) => {
                let message = format!("`{}` cannot be dereferenced: what it points at has no type", a.ty);
                let help = "cast it to a pointer to the element type first";
                self.report(Diagnostic::error(Code::TypeMismatch, span, message).help(help));
                Typed::error(span)
            }
            None => {
                let message = format!("`*` needs a pointer, and this is `{}`", a.ty);
                self.report(
                    Diagnostic::error(Code::TypeMismatch, span, message).related(a.span, format!("this is `{}`", a.ty)),
                );
                Typed::error(span)
            }
        }
    }

    fn address_of(&mut self, a: Typed, span: Span) -> Typed {
        if a.is_error() {
            return Typed::error(span);
        }
        if !a.lvalue || a.xvalue && !matches!(a.node, Node::Deref(_)) {
            let message = "`&` needs something that lives in memory, and this is only a value";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("store it in a variable first"));
            return Typed::error(span);
        }
        if let Node::BitField(..) = a.node {
            let message = "a bit-field has no address";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("copy it into a variable first"));
            return Typed::error(span);
        }
        // The use of the address chooses among several functions, as without the `&`.
        if matches!(a.node, Node::Overloads(_)) {
            return Typed { span, ..a };
        }
        let ty = a.ty.clone().pointer();
        Typed::value(ty, span, Node::AddrOf(Box::new(a)))
    }

    fn step(&mut self, op: Un, a: Typed, span: Span) -> Typed {
        if a.is_error() || !self.modifiable(&a) {
            return Typed::error(span);
        }
        let (down, prefix) = (matches!(op, Un::PreDec | Un::PostDec), matches!(op, Un::PreInc | Un::PreDec));
        let fits = match a.ty.num() {
            Some(Num::Bool) | None => false,
            Some(_) => true,
        };
        if a.ty.pointee().is_some() {
            if !self.has_stride(&a, span) {
                return Typed::error(span);
            }
        } else if !fits {
            let sign = if down { "--" } else { "++" };
            let message = format!("`{sign}` cannot take `{}`", a.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return Typed::error(span);
        }
        let ty = a.ty.clone();
        let node = Node::Step { place: Box::new(a), down, prefix };
        if prefix { Typed::place(ty, span, node) } else { Typed::value(ty.unqualified(), span, node) }
    }

    /// The `__constant__` variable that something is a part of.
    fn in_constant_memory(&self, e: &Typed) -> Option<&Variable> {
        let mut root = e;
        while let Node::Deref(inner)
        | Node::PtrAdd(inner, ..)
        | Node::Decay(inner)
        | Node::Member(inner, _)
        | Node::BitField(inner, _) = &root.node
        {
            root = inner;
        }
        let Node::Var(id) = root.node else { return None };
        let var = self.var(id);
        let Storage::Global(global) = var.storage else { return None };
        (self.module.globals[global.index()].space == Space::Constant).then_some(var)
    }

    /// The place can be written to; reports where it cannot.
    pub(super) fn modifiable(&mut self, e: &Typed) -> bool {
        let diag = if !e.lvalue {
            let help = if matches!(e.node, Node::Compare(..) | Node::Const(_)) {
                "for a comparison write `==`"
            } else {
                "assign to a variable, `*p` or `p[i]`"
            };
            Diagnostic::error(Code::NotAssignable, e.span, "this is a value, not a place that can be written")
                .help(help)
        } else if e.ty.is_array() {
            let message = format!("an array (`{}`) cannot be assigned as a whole", e.ty);
            Diagnostic::error(Code::NotAssignable, e.span, message).help("assign its elements")
        } else if let Some(var) = self.in_constant_memory(e) {
            let (name, place) = (self.interner.name(var.name), var.span);
            let message = format!("`{name}` is in constant memory, which kernels cannot write");
            Diagnostic::error(Code::NotAssignable, e.span, message)
                .related(place, format!("`{name}` is declared `__constant__` here"))
                .help("the host sets it between launches; declare it `__device__` if kernels are to")
        } else if e.ty.innermost().is_const {
            let mut root = e;
            let mut diag =
                Diagnostic::error(Code::NotAssignable, e.span, format!("this is `{}` and cannot be written", e.ty));
            while let Node::Deref(inner)
            | Node::PtrAdd(inner, ..)
            | Node::Decay(inner)
            | Node::Load(inner)
            | Node::BitField(inner, _)
            | Node::Member(inner, _) = &root.node
            {
                root = inner;
            }
            if let Node::Var(id) = root.node {
                let var = self.var(id);
                let name = self.interner.name(var.name).to_owned();
                diag = diag.related(var.span, format!("`{name}` is declared `{}` here", var.ty));
            }
            diag.help("take `const` out of the declaration if it is meant to change")
        } else {
            return true;
        };
        self.report(diag);
        false
    }

    /// `place = value` and `place op= value` on checked operands.
    pub(in crate::front::lower) fn assign(&mut self, op: Option<Op>, place: Typed, value: Typed, span: Span) -> Typed {
        let sign_text = op.map_or("=", |op| sign_of(op, true));
        // Library classes may define the assignment to a value that is no variable: `x[0] = y` writes to the elements that `x[0]` shows.
        if let (None, false, Some(s)) = (op, place.lvalue, place.ty.as_struct().cloned())
            && let Some(Decl::Functions(set)) = self.lookup_in(self.class(s.id).scope, self.known.assign_value)
        {
            return self.call_methods("operator=", place, &set, None, vec![value], span);
        }
        let mut operands = [place, value];
        if let Some(call) = self.user_operator(sign_text, &mut operands, span) {
            return call;
        }
        let [mut place, value] = operands;
        if place.ty.is_struct() && !place.lvalue && op.is_none() {
            // `f() = x` of a struct writes to something that goes at once.
            place = Typed::place(place.ty.clone(), place.span, Node::Temporary(Box::new(place)));
        }
        if place.is_error() || value.is_error() || !self.modifiable(&place) {
            return Typed::error(span);
        }
        let ty = place.ty.clone();
        let Some(op) = op else {
            let value = self.implicit(value, &ty.unqualified(), Use::Assign);
            if value.is_error() {
                return Typed::error(span);
            }
            return Typed::place(ty, span, Node::Assign(Box::new(place), Box::new(value)));
        };
        let value = self.as_builtin(value);
        let value = self.operand(value);
        if value.is_error() {
            return Typed::error(span);
        }
        let integral = value.ty.arithmetic().is_some_and(Num::is_integral);
        let Some(ir) = arithmetic_op(op) else { return Typed::error(span) };
        let (value, common) = match (ty.arithmetic(), value.ty.arithmetic()) {
            (None, _) if ty.pointee().is_some() && integral && matches!(op, Op::Add | Op::Sub) => {
                if !self.has_stride(&place, span) {
                    return Typed::error(span);
                }
                (self.number(value, Num::Long), ty.unqualified())
            }
            (Some(x), Some(y)) if ty.num().is_some() && !(integers_only(op) && (x.is_float() || y.is_float())) => {
                let x = bit_fields::narrow(&place).unwrap_or(x);
                if matches!(op, Op::Shl | Op::Shr) {
                    (self.number(value, y.promoted()), x.promoted().into())
                } else {
                    let common = x.usual(y);
                    (self.number(value, common), common.into())
                }
            }
            _ => {
                let message = format!("`{}=` cannot take `{}` and `{}`", sign(op), ty, value.ty);
                let mut diag = Diagnostic::error(Code::TypeMismatch, span, message)
                    .related(place.span, format!("this is `{ty}`"))
                    .related(value.span, format!("this is `{}`", value.ty));
                if op == Op::Rem {
                    diag = diag.help("use `fmodf` or `fmod` for floating point");
                }
                self.report(diag);
                return Typed::error(span);
            }
        };
        Typed::place(ty, span, Node::Compound(Box::new(CompoundAssign { place, value, op: ir, common })))
    }

    /// Operands of `?:` of which one is a struct and the other converts to it, or the other way round.
    fn common_struct(&mut self, a: Typed, b: Typed) -> (Typed, Typed) {
        if a.ty.kind == b.ty.kind || !(a.ty.is_struct() || b.ty.is_struct()) {
            return (a, b);
        }
        let (to_b, to_a) =
            (self.conversion(&Arg::from(&a), &b.ty.clone()), self.conversion(&Arg::from(&b), &a.ty.clone()));
        match (to_b.is_some(), to_a.is_some()) {
            (true, false) => {
                let to = b.ty.clone();
                (self.implicit(a, &to, Use::Assign), b)
            }
            (false, true) => {
                let to = a.ty.clone();
                let b = self.implicit(b, &to, Use::Assign);
                (a, b)
            }
            _ => (a, b),
        }
    }

    /// `cond ? a : b` on checked operands ([expr.cond]).
    pub(super) fn conditional(&mut self, cond: Typed, a: Typed, b: Typed, span: Span) -> Typed {
        let cond = self.condition(cond);
        if cond.is_error() || a.is_error() || b.is_error() {
            return Typed::error(span);
        }
        let (a, b) = match (a.ty.is_void(), b.ty.is_void()) {
            (true, false) if self.never_returns(&a) => (thrown_as(a, &b), b),
            (false, true) if self.never_returns(&b) => {
                let b = thrown_as(b, &a);
                (a, b)
            }
            _ => (a, b),
        };
        let functions = matches!(a.ty.kind, Kind::Function(_)) || matches!(b.ty.kind, Kind::Function(_));
        let places = a.lvalue && b.lvalue && a.xvalue == b.xvalue;
        if places && a.ty == b.ty && !a.ty.is_array() && !functions && cond.constant().is_none() {
            let (ty, xvalue) = (a.ty.clone(), a.xvalue);
            return Typed { xvalue, ..Typed::place(ty, span, Node::Conditional(Box::new([cond, a, b]))) };
        }
        let (a, b) = (self.rvalue(a), self.rvalue(b));
        let (a, b) = self.common_struct(a, b);
        if a.is_error() || b.is_error() {
            return Typed::error(span);
        }
        let ty = match (a.ty.arithmetic(), b.ty.arithmetic()) {
            _ if a.ty == b.ty => a.ty.clone(),
            (Some(x), Some(y)) => x.usual(y).into(),
            _ => match self.composite(&a, &b) {
                Some(ty) => ty,
                None => {
                    let message = format!("`?:` cannot choose between `{}` and `{}`", a.ty, b.ty);
                    self.report(
                        Diagnostic::error(Code::TypeMismatch, span, message)
                            .related(a.span, format!("this is `{}`", a.ty))
                            .related(b.span, format!("this is `{}`", b.ty)),
                    );
                    return Typed::error(span);
                }
            },
        };
        let (a, b) = (self.cast(a, &ty), self.cast(b, &ty));
        match cond.constant() {
            Some(Const::Bool(true)) => Typed { span, null: false, ..a },
            Some(Const::Bool(false)) => Typed { span, null: false, ..b },
            _ => Typed::value(ty, span, Node::Conditional(Box::new([cond, a, b]))),
        }
    }
}

/// A `throw`, which stands for whatever the other operand of `?:` is ([expr.cond]).
fn thrown_as(thrown: Typed, other: &Typed) -> Typed {
    let (ty, span) = (other.ty.clone(), thrown.span);
    if other.lvalue {
        let pointer = ty.clone().pointer();
        let null = Typed::value(pointer.clone(), span, Node::Const(Const::Null));
        let pointer = Typed::value(pointer, span, Node::Comma(Box::new(thrown), Box::new(null)));
        return Typed { xvalue: other.xvalue, ..Typed::place(ty, span, Node::Deref(Box::new(pointer))) };
    }
    let nothing = match ty.is_struct() {
        true => Node::Init([].into()),
        false => Node::Const(initialisers::zero_const(&ty)),
    };
    let nothing = Typed::value(ty.clone(), span, nothing);
    Typed::value(ty, span, Node::Comma(Box::new(thrown), Box::new(nothing)))
}

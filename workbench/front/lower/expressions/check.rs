//! Check of expressions: from the syntax tree to typed expressions. Operators are in `operators`, calls in `calls`.

use super::typed_tree::{FuncIndex, Node, Typed, VarId};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp, Expr, ExprKind, FoldOp, Ident, IntSuffix, Literal, Name, NamePart, Symbol};
use crate::front::builtins::{self, Advice};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Callable, Decl, TArg};
use crate::front::lower::{Lowerer, Side, Storage};
use crate::front::spelling::nearest;
use crate::front::types::{FnTy, Kind, Num, Ty};
use crate::ir::{Builtin, Const, Scalar};
use crate::source::Span;
use crate::steps::step;
use std::rc::Rc;

/// Most nested expressions; the parser's own limit is lower, so this only guards the stack.
const MAX_DEPTH: u32 = 600;

/// The variables of a thread that have components.
pub(super) fn index_variable(name: &str) -> Option<fn(u8) -> Builtin> {
    Some(match name {
        "threadIdx" => Builtin::ThreadIdx,
        "blockIdx" => Builtin::BlockIdx,
        "blockDim" => Builtin::BlockDim,
        "gridDim" => Builtin::GridDim,
        _ => return None,
    })
}

/// An expression without the parentheses round it.
pub(in crate::front::lower) fn bare(mut e: &Expr) -> &Expr {
    while let ExprKind::Paren(inner) = &e.kind {
        e = inner;
    }
    e
}

impl<'a> Lowerer<'a> {
    /// Checks an expression; the result may be a place.
    pub(in crate::front::lower) fn expr(&mut self, e: &'a Expr) -> Typed {
        if self.held.as_ref().is_some_and(|(held, _)| std::ptr::eq(*held, e))
            && let Some((_, typed)) = self.held.take()
        {
            return typed;
        }
        if !self.kept.is_empty()
            && let Some(typed) = self.kept.remove(&(std::ptr::from_ref(e), self.f.serial, self.scopes.current()))
        {
            self.failed |= typed.is_error();
            return typed;
        }
        step();
        self.depth += 1;
        let typed = if self.depth > MAX_DEPTH { self.too_deep(e.span) } else { self.expr_kind(e) };
        self.depth -= 1;
        typed
    }

    fn too_deep(&mut self, span: Span) -> Typed {
        self.report(
            Diagnostic::error(Code::NestingLimit, span, format!("expressions nest more than {MAX_DEPTH} deep"))
                .help("store a part in a variable"),
        );
        Typed::error(span)
    }

    /// Checks an expression and takes its value.
    pub(in crate::front::lower) fn value(&mut self, e: &'a Expr) -> Typed {
        let typed = self.expr(e);
        self.operand(typed)
    }

    fn expr_kind(&mut self, e: &'a Expr) -> Typed {
        let span = e.span;
        match &e.kind {
            ExprKind::Literal(literal) => literal_value(*literal, span),
            ExprKind::Str(text) => string(text, span),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Unary(op, a) => {
                let a = self.expr(a);
                self.unary(*op, a, span)
            }
            ExprKind::Binary(..) => self.chain(e),
            ExprKind::Assign(op, a, b) => {
                let place = self.expr(a);
                let value = self.expr(b);
                self.assign(*op, place, value, span)
            }
            ExprKind::Conditional(cond, a, b) => {
                let cond = self.expr(cond);
                let a = self.expr(a);
                let b = self.expr(b);
                self.conditional(cond, a, b, span)
            }
            ExprKind::Call(f, args) => self.call(f, args, span),
            ExprKind::Index(a, b) => {
                let a = self.expr(a);
                let b = self.expr(b);
                self.index(a, b, span)
            }
            ExprKind::Member { object, member, arrow } => self.member(object, member, *arrow, span),
            ExprKind::Cast { kind, ty, operand } => self.cast_expr(*kind, ty, Some(operand), span),
            ExprKind::Construct { ty, args } => self.construct_expr(ty, args, span),
            ExprKind::Braced { ty: Some(ty), entries } => {
                let ty = self.type_with_auto(ty, None);
                if ty.is_error() {
                    return Typed::error(span);
                }
                self.braced_value(&ty.to_string(), &ty, entries, span)
            }
            ExprKind::Braced { ty: None, entries } => self.braced_argument(entries, span),
            ExprKind::This => {
                let this = self.this(span);
                let closure = this.ty.pointee().and_then(Ty::as_struct).is_some_and(|s| self.class(s.id).is_closure);
                if closure { self.outer_this(span) } else { this }
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda, span),
            ExprKind::SizeofPack(ident) => match self.lookup(ident.name) {
                Some(Decl::Pack(args)) => Typed::int(Num::ULong, args.len() as i64, span),
                Some(Decl::Vars(vars)) => Typed::int(Num::ULong, vars.len() as i64, span),
                _ => {
                    let message = format!("`{}` is no parameter pack", self.text(ident));
                    self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                    Typed::error(span)
                }
            },
            ExprKind::Fold { op, left, right } => self.fold_expr(*op, left.as_deref(), right.as_deref(), span),
            ExprKind::Noexcept(_) => Typed::truth(true, span),
            ExprKind::SizeofType(ty) => {
                let ty = self.type_name(ty);
                self.size_of(&ty, span)
            }
            ExprKind::SizeofExpr(e) => {
                let ty = self.unevaluated(e).ty;
                self.size_of(&ty, span)
            }
            ExprKind::AlignofType(ty) => {
                let ty = self.type_name(ty);
                if ty.is_error() || !self.complete_type(ty.referred(), span) {
                    Typed::error(span)
                } else {
                    Typed::int(Num::ULong, i64::from(ty.align()), span)
                }
            }
            ExprKind::Paren(inner) => {
                let inner = self.expr(inner);
                Typed { span: if inner.lvalue { inner.span } else { span }, ..inner }
            }
            ExprKind::Error => Typed::error(span),
            _ => self.unsupported_expr(e),
        }
    }

    /// Binary operators lean left; the chain is walked in a loop, so that a long sum needs no stack.
    fn chain(&mut self, e: &'a Expr) -> Typed {
        let mut links = Vec::new();
        let mut at = e;
        while let ExprKind::Binary(op, a, b, sign) = &at.kind {
            links.push((*op, b, *sign, at.span));
            at = a;
        }
        let mut left = self.expr(at);
        while let Some((op, b, sign, span)) = links.pop() {
            let right = self.expr(b);
            left = self.binary(op, left, right, span, sign);
        }
        left
    }

    fn name(&mut self, name: &'a Name, span: Span) -> Typed {
        let found = self.find(name);
        self.name_found(found, name, span)
    }

    /// The value of a name that has been looked up.
    pub(in crate::front::lower) fn name_found(&mut self, found: Found, name: &'a Name, span: Span) -> Typed {
        let ident = &name.last_part().ident;
        match found {
            Found::Error => return Typed::error(span),
            Found::Var(id) => return self.variable(id, ident, span),
            Found::Place(place) => return Typed { span, ..(*place).clone() },
            Found::Constant(ty, c) => return Typed::value(ty, span, Node::Const(c)),
            Found::Field(field) => return self.own_field(&field, ident, span),
            Found::Type(ty) => {
                if !ty.is_error() {
                    let message = format!("`{}` is a type, and a value is needed here", self.text(ident));
                    self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                }
                return Typed::error(span);
            }
            Found::Functions(set, explicit) => return self.function_name(set, explicit, ident, span),
            Found::Namespace(_) | Found::Template(_) => {
                let what = if matches!(self.lookup(ident.name), Some(Decl::Namespace(_))) {
                    "a namespace"
                } else {
                    "a template and needs its arguments"
                };
                let message = format!("`{}` is {what}", self.text(ident));
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                return Typed::error(span);
            }
            Found::Pack(_) | Found::Vars(_) => {
                let message = format!("`{}` is a parameter pack and must be expanded", self.text(ident));
                self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write `...` after it"));
                return Typed::error(span);
            }
            Found::None => {}
        }
        let parts = self.strip_std(name);
        if parts.len() > 1 {
            self.unknown_namespace(parts, span);
            return Typed::error(span);
        }
        let name = self.text(ident);
        if name == "warpSize" {
            return Typed::int(Num::Int, 32, span);
        }
        if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
            let name = self.f.b.func.name.clone();
            return string(&name, span);
        }
        if let Some(make) = index_variable(name) {
            let name = name.to_owned();
            if !self.device_variable(&name, span) {
                return Typed::error(span);
            }
            return self.index_vector(&name, make, span);
        }
        if let Some(set) = self.builtin_functions(ident) {
            return self.function_name(set, None, ident, span);
        }
        let name = self.text(ident);
        if builtins::is_function(name) {
            let message = format!("`{name}` is a function and must be called");
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help(format!("write `{name}(...)`")));
            return Typed::error(span);
        }
        if let Some(advice) = builtins::unsupported(name) {
            self.unsupported_name(advice, name.to_owned(), span);
            return Typed::error(span);
        }
        self.unknown(ident, span, "name");
        Typed::error(span)
    }

    /// A variable by name.
    pub(in crate::front::lower) fn variable(&mut self, id: VarId, ident: &Ident, span: Span) -> Typed {
        let var = self.var(id);
        let (ty, host, owner) = (var.ty.referred().clone(), var.is_host(), var.owner);
        let in_frame =
            matches!(var.storage, Storage::Value(_) | Storage::Local(_) | Storage::Slot(_) | Storage::Reference(_));
        if matches!(var.storage, Storage::Nowhere) {
            return Typed::error(span);
        }
        if host && self.on_device() {
            return self.host_variable(ident, span);
        }
        if in_frame && owner != self.f.serial && owner != u32::MAX && var.constant.is_none() {
            let place = var.span;
            let message = format!("`{}` is a variable of the function round this one", self.text(ident));
            self.report(
                Diagnostic::error(Code::UnknownName, span, message)
                    .related(place, "declared here")
                    .help(format!("capture it: `[{}]` or `[=]`", self.text(ident))),
            );
            return Typed::error(span);
        }
        Typed::place(ty, span, Node::Var(id))
    }

    /// Functions named without a call: a pointer to one, or an argument that picks one.
    fn function_name(&mut self, set: Rc<[Callable]>, explicit: Option<Rc<[TArg]>>, ident: &Ident, span: Span) -> Typed {
        let only = self.only_function(&set, explicit.as_deref()).or_else(|| self.bound_function(&set, span));
        if let Some(index) = only {
            if self.needs_object(index, span) || !self.known_result(index, span) {
                return Typed::error(span);
            }
            if self.func(index).side == Side::Kernel && self.f.inside && self.f.side != Side::Host {
                let message = format!("`{}` is a kernel, which has no address here", self.text(ident));
                self.report(Diagnostic::error(Code::WrongSide, span, message));
                return Typed::error(span);
            }
            let ty = self.function_type(index);
            return Typed::place(ty, span, Node::Function(index));
        }
        self.overloads.push((set, explicit));
        let at = self.overloads.len() as u32 - 1;
        let ty = Ty::new(Kind::Function(Rc::new(FnTy { ret: Ty::void(), params: Vec::new() })));
        Typed::place(ty, span, Node::Overloads(at))
    }

    /// The function that `functions` of `load_inline` means by a name: torch's own text sees the host functions that the C++ text declares,
    /// and not what else the CUDA text calls so, such as the kernel.
    fn bound_function(&self, set: &[Callable], span: Span) -> Option<FuncIndex> {
        if self.sources.file(span.file).is_none_or(|file| file.name != crate::front::options::FUNCTIONS) {
            return None;
        }
        let host = |c: &Callable| match c {
            Callable::Func(f) if self.func(*f).side != Side::Kernel => Some(*f),
            _ => None,
        };
        let mut functions = set.iter().filter_map(host);
        functions.next().filter(|_| functions.next().is_none())
    }

    fn host_variable(&mut self, ident: &Ident, span: Span) -> Typed {
        let message = format!("`{}` is a variable of the host, which device code cannot read", self.text(ident));
        let mut diag = Diagnostic::error(Code::WrongSide, span, message)
            .help("make it `constexpr` with a constant value, or pass it to the kernel as a parameter");
        if let Some(place) = self.scopes.span(ident.name) {
            diag = diag.related(place, "declared here");
        }
        self.report(diag);
        Typed::error(span)
    }

    /// Parts of a name without the `std::` before it, which says nothing of what is built in.
    pub(in crate::front::lower) fn strip_std<'p>(&self, name: &'p Name) -> &'p [NamePart] {
        let mut parts = name.parts.as_slice();
        while let [first, rest @ ..] = parts
            && !rest.is_empty()
            && matches!(self.text(&first.ident), "std" | "cuda")
        {
            parts = rest;
        }
        parts
    }

    /// The name among some that is nearest to a misspelled one; what the library keeps to itself is nobody's to mean.
    pub(in crate::front::lower) fn near(&self, name: &str, among: impl Iterator<Item = Symbol>) -> Option<String> {
        let known = among.map(|symbol| self.interner.name(symbol));
        nearest(name, known.filter(|known| !known.starts_with("__wb") && !known.starts_with("operator")))
    }

    /// The namespace of a qualified name that does not have the next part of it, and the name there that is nearest to that.
    pub(in crate::front::lower) fn namespace_without(
        &mut self,
        parts: &[NamePart],
    ) -> Option<(String, Option<String>)> {
        let (first, rest) = parts.split_first()?;
        let Some(Decl::Namespace(mut scope)) = self.lookup(first.ident.name) else { return None };
        let mut path = self.text(&first.ident).to_owned();
        for part in rest {
            match self.lookup_in(scope, part.ident.name) {
                Some(Decl::Namespace(inner)) => {
                    scope = inner;
                    path = format!("{path}::{}", self.text(&part.ident));
                }
                Some(_) => break,
                None => {
                    let near = self.near(self.text(&part.ident), self.scopes.names_within(scope));
                    let near = near.map(|near| format!("{path}::{near}"));
                    return Some((path, near));
                }
            }
        }
        Some((path, None))
    }

    /// Reports a qualified name, of which something is not declared where it says.
    pub(in crate::front::lower) fn unknown_namespace(&mut self, parts: &[NamePart], span: Span) {
        let Some(first) = parts.first() else { return };
        let first = &first.ident;
        if self.unit.skipped.contains(&first.name) {
            return;
        }
        let name = self.text(first).to_owned();
        if let Some((path, near)) = self.namespace_without(parts) {
            let message = format!("`{path}` has nothing of this name here");
            let diag = Diagnostic::error(Code::Unsupported, span, message);
            self.report(match near {
                Some(near) => diag.help(format!("did you mean `{near}`?")).replacement(span, near),
                None => diag.help("LANGUAGE.md lists what it has"),
            });
            return;
        }
        match builtins::unsupported_namespace(&name) {
            Some(advice) => self.unsupported_name(advice, name, span),
            None => {
                let message = format!("`{name}` is no namespace or enum that is known here");
                self.report(Diagnostic::error(Code::UnknownName, first.span, message));
            }
        }
    }

    /// Reports a construct of the table of unsupported ones.
    pub(in crate::front::lower) fn unsupported_name(&mut self, advice: &Advice, name: String, span: Span) {
        let message = format!("`{name}` is not supported: it is {}", advice.what);
        self.report(Diagnostic::error(Code::Unsupported, span, message).help(advice.help));
    }

    /// Reports a name that nothing declares, with the nearest known one.
    pub(in crate::front::lower) fn unknown(&mut self, ident: &Ident, span: Span, what: &str) {
        if self.unit.skipped.contains(&ident.name) {
            return;
        }
        if self.quiet > 0 || self.room == 0 {
            // Nobody will read what it might have meant.
            self.failed = true;
            return;
        }
        let name = self.text(ident).to_owned();
        let mut diag = Diagnostic::error(Code::UnknownName, span, format!("unknown {what} `{name}`"));
        if let Some(place) = self.declared_later(ident.name) {
            diag = diag
                .related(place, "declared only here")
                .help(format!("move the declaration of `{name}` above its first use"));
        } else {
            let known = self.near(&name, self.scopes.symbols());
            if let Some(near) = known.or_else(|| nearest(&name, builtins::names())) {
                diag.message = format!("{}; the nearest known one is `{near}`", diag.message);
                diag = diag.help(format!("write `{near}`")).replacement(ident.span, near);
            }
        }
        self.report(diag);
    }

    /// `a[b]`, and `b[a]` which is the same.
    fn index(&mut self, a: Typed, b: Typed, span: Span) -> Typed {
        if a.ty.is_struct() && !a.is_error() {
            let from = a.ty.clone();
            let symbol = self.known.index;
            let has = a.ty.as_struct().is_some_and(|s| self.lookup_in(self.class(s.id).scope, symbol).is_some());
            if has || self.conversion_function(&from, &Ty::void().pointer(), false).is_none() {
                return self.operator_method(symbol, "[]", a, vec![b], span);
            }
        }
        let (a, b) = (self.as_builtin(a), self.as_builtin(b));
        let (a, b) = (self.operand(a), self.operand(b));
        if a.is_error() || b.is_error() {
            return Typed::error(span);
        }
        let (ptr, index) = if a.ty.pointee().is_none() && b.ty.pointee().is_some() { (b, a) } else { (a, b) };
        if ptr.ty.pointee().is_none() {
            let message = format!("this is `{}`, which cannot be subscripted", ptr.ty);
            self.report(
                Diagnostic::error(Code::TypeMismatch, ptr.span, message).help("only arrays and pointers take `[...]`"),
            );
            return Typed::error(span);
        }
        if !index.ty.arithmetic().is_some_and(Num::is_integral) {
            let message = format!("a subscript must be an integer, not `{}`", index.ty);
            let mut diag = Diagnostic::error(Code::TypeMismatch, index.span, message);
            if index.ty.num().is_some() {
                diag = diag.help("convert it first: `(int)x`");
            }
            self.report(diag);
            return Typed::error(span);
        }
        let place = self.pointer_add(ptr, index, false, span);
        self.deref(place, span)
    }

    fn size_of(&mut self, ty: &Ty, span: Span) -> Typed {
        if ty.is_error() {
            return Typed::error(span);
        }
        if !self.complete_type(ty.referred(), span) {
            return Typed::error(span);
        }
        match ty.size() {
            Some(size) => Typed::int(Num::ULong, i64::from(size), span),
            None => {
                self.report(Diagnostic::error(Code::TypeMismatch, span, format!("`{ty}` has no size")));
                Typed::error(span)
            }
        }
    }

    /// A constant integer; reports when it is none. `what` completes "must be known when compiling".
    pub(in crate::front::lower) fn constant_integer(&mut self, e: &'a Expr, what: &str) -> Option<i64> {
        let typed = self.value(e);
        self.as_constant_integer(&typed, what)
    }

    /// [`Self::constant_integer`] of a checked expression.
    pub(in crate::front::lower) fn as_constant_integer(&mut self, typed: &Typed, what: &str) -> Option<i64> {
        if typed.is_error() {
            return None;
        }
        let typed = &if typed.ty.is_struct() {
            let value = self.as_builtin(typed.clone());
            self.folded(value)
        } else {
            self.folded(typed.clone())
        };
        if !matches!(typed.ty.kind, Kind::Enum(_)) && !typed.ty.num().is_some_and(Num::is_integral) {
            let message = format!("{what} must be an integer, not `{}`", typed.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, typed.span, message));
            return None;
        }
        if typed.integer().is_none() {
            self.not_constant(typed, what);
        }
        typed.integer()
    }

    /// An expression whose type is asked for, not its value.
    pub(in crate::front::lower) fn unevaluated(&mut self, e: &'a Expr) -> Typed {
        self.unevaluated += 1;
        let typed = self.expr(e);
        self.unevaluated -= 1;
        typed
    }

    /// A fold over a parameter pack ([expr.prim.fold]).
    fn fold_expr(&mut self, op: FoldOp, left: Option<&'a Expr>, right: Option<&'a Expr>, span: Span) -> Typed {
        let has_pack = |this: &mut Self, e: &'a Expr| {
            let mut any = false;
            mentioned_names::names_in_expr(e, &mut |n| {
                any |= matches!(this.lookup(n), Some(Decl::Pack(_) | Decl::Vars(_)));
            });
            any
        };
        // `(pack op ...)` and `(pack op ... op init)` associate to the right, the others to the left.
        let (pattern, init, from_right) = match (left, right) {
            (Some(l), None) => (l, None, true),
            (None, Some(r)) => (r, None, false),
            (Some(l), Some(r)) if has_pack(self, r) => (r, Some(l), false),
            (Some(l), Some(r)) => (l, Some(r), true),
            (None, None) => return Typed::error(span),
        };
        let mut all = self.expanded(pattern, span);
        if let Some(init) = init {
            let e = self.expr(init);
            if from_right { all.push(e) } else { all.insert(0, e) }
        }
        if all.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        if from_right {
            all.reverse();
        }
        let mut all = all.into_iter();
        let Some(mut result) = all.next() else {
            return match op {
                FoldOp::Binary(BinaryOp::And) => Typed::truth(true, span),
                FoldOp::Binary(BinaryOp::Or) => Typed::truth(false, span),
                FoldOp::Binary(BinaryOp::Comma) => {
                    Typed::value(Ty::void(), span, Node::Convert(Box::new(Typed::int(Num::Int, 0, span))))
                }
                _ => {
                    let message = "a fold over an empty pack has no value";
                    self.report(
                        Diagnostic::error(Code::TypeMismatch, span, message)
                            .help("add an initial value: `(0 + ... + p)`"),
                    );
                    Typed::error(span)
                }
            };
        };
        for next in all {
            let (a, b) = if from_right { (next, result) } else { (result, next) };
            result = match op {
                FoldOp::Binary(op) => self.binary(op, a, b, span, span),
                FoldOp::Assign(op) => self.assign(op, a, b, span),
            };
        }
        result
    }

    /// An expression once for each element of the packs in it.
    pub(in crate::front::lower) fn expanded(&mut self, pattern: &'a Expr, span: Span) -> Vec<Typed> {
        let mut names = Vec::new();
        mentioned_names::names_in_expr(pattern, &mut |n| names.push(n));
        let mut out = Vec::new();
        if !self.expand(&names, span, |this| {
            let e = this.expr(pattern);
            out.push(e);
        }) {
            out.push(Typed::error(span));
        }
        out
    }

    /// The text of a name.
    pub(in crate::front::lower) fn text(&self, ident: &Ident) -> &str {
        self.interner.name(ident.name)
    }
}

/// A string literal.
pub(in crate::front::lower) fn string(text: &str, span: Span) -> Typed {
    let len = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
    let ty = Ty::from(Num::Char).constant().array(Some(len));
    Typed::place(ty, span, Node::Str(text.into()))
}

fn literal_value(literal: Literal, span: Span) -> Typed {
    match literal {
        Literal::Int(value, suffix) => {
            let num = match suffix {
                IntSuffix::Int => Num::Int,
                IntSuffix::UInt => Num::UInt,
                IntSuffix::Long => Num::Long,
                IntSuffix::ULong => Num::ULong,
                IntSuffix::LongLong => Num::LongLong,
                IntSuffix::ULongLong => Num::ULongLong,
            };
            Typed { null: value == 0, ..Typed::int(num, value as i64, span) }
        }
        Literal::Float(v) => Typed::value(Num::Float, span, Node::Const(Const::F32(v))),
        Literal::Double(v) => Typed::value(Num::Double, span, Node::Const(Const::F64(v))),
        Literal::Char(c) => Typed::value(Num::Char, span, Node::Const(Const::Int(Scalar::I8, i64::from(c)))),
        Literal::Bool(b) => Typed::truth(b, span),
        Literal::Nullptr => {
            Typed { null: true, ..Typed::value(Ty::new(Kind::Nullptr), span, Node::Const(Const::Null)) }
        }
    }
}

/// The expression is an assignment not put in parentheses of its own, as in `if (a = b)`.
pub(in crate::front::lower) fn is_bare_assignment(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Assign(None, ..))
}

/// The name is one of CUDA's or the library's functions.
pub(in crate::front::lower) fn is_known(name: &str) -> bool {
    builtins::is_function(name) || builtins::unsupported(name).is_some()
}

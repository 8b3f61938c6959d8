//! Checks expressions: from the syntax tree to typed expressions. Operators are in `operators`, calls in `call`.

use super::names::{Decl, nearest};
use super::tree::{Node, Typed};
use super::{Lowerer, Side, Storage};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, Ident, IntSuffix, Literal, Name, NamePart};
use crate::front::builtins::{self, Advice};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{Builtin, Const, Scalar};
use crate::source::Span;

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
pub(super) fn bare(mut e: &Expr) -> &Expr {
    while let ExprKind::Paren(inner) = &e.kind {
        e = inner;
    }
    e
}

impl Lowerer<'_> {
    /// Checks an expression; the result may be a place.
    pub(super) fn expr(&mut self, e: &Expr) -> Typed {
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
    pub(super) fn value(&mut self, e: &Expr) -> Typed {
        let typed = self.expr(e);
        self.operand(typed)
    }

    fn expr_kind(&mut self, e: &Expr) -> Typed {
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
            ExprKind::Braced { ty: Some(ty), entries } => self.braced_expr(ty, entries, span),
            ExprKind::SizeofType(ty) => {
                let ty = self.type_name(ty);
                self.size_of(&ty, span)
            }
            ExprKind::SizeofExpr(e) => {
                let ty = self.expr(e).ty;
                self.size_of(&ty, span)
            }
            ExprKind::AlignofType(ty) => {
                let ty = self.type_name(ty);
                if ty.is_error() { Typed::error(span) } else { Typed::int(Num::ULong, i64::from(ty.align()), span) }
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
    fn chain(&mut self, e: &Expr) -> Typed {
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

    fn name(&mut self, name: &Name, span: Span) -> Typed {
        let parts = self.strip_std(name);
        let [part] = parts else { return self.qualified(parts, span) };
        if part.args.is_some() {
            return self.template_arguments(name);
        }
        let ident = &part.ident;
        match self.scopes.lookup(ident.name) {
            Some(Decl::Var(id)) => {
                let id = *id;
                let var = self.var(id);
                let (ty, host) = (var.ty.referred().clone(), var.is_host());
                if matches!(var.storage, Storage::Nowhere) {
                    return Typed::error(span);
                }
                if host && self.on_device() {
                    return self.host_variable(ident, span);
                }
                return Typed::place(ty, span, Node::Var(id));
            }
            Some(Decl::Constant(ty, c)) => return Typed::value(ty.clone(), span, Node::Const(*c)),
            Some(Decl::Type(_)) => {
                let message = format!("`{}` is a type, and a value is needed here", self.text(ident));
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                return Typed::error(span);
            }
            Some(Decl::Functions(_)) => {
                let message =
                    format!("`{}` is a function; pointers to functions are not supported yet (T11)", self.text(ident));
                self.report(Diagnostic::error(Code::Unsupported, span, message).help("call it: `f(...)`"));
                return Typed::error(span);
            }
            None => {}
        }
        let name = self.text(ident);
        if name == "warpSize" {
            return Typed::int(Num::Int, 32, span);
        }
        if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
            let name = self.f.b.func.name.clone();
            return string(&name, span);
        }
        if index_variable(name).is_some() {
            let message = format!("`{name}` as a whole is a vector type, which is not supported yet (T6)");
            self.report(
                Diagnostic::error(Code::Unsupported, span, message).help(format!("use its components: `{name}.x`")),
            );
            return Typed::error(span);
        }
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

    /// Names in `std` and the global namespace are the same here.
    pub(super) fn strip_std<'p>(&self, name: &'p Name) -> &'p [NamePart] {
        let mut parts = name.parts.as_slice();
        while let [first, rest @ ..] = parts
            && !rest.is_empty()
            && (self.text(&first.ident) == "std" || self.namespaces.contains(&first.ident.name))
        {
            parts = rest;
        }
        parts
    }

    /// `E::A`
    fn qualified(&mut self, parts: &[NamePart], span: Span) -> Typed {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Typed::error(span) };
        let (first, last) = (&first.ident, &last.ident);
        if let Some(Decl::Type(ty)) = self.scopes.lookup(first.name)
            && let Kind::Enum(e) = &ty.kind
        {
            let (id, ty) = (e.id, ty.clone());
            if let Some(c) = self.enum_constant(id, last.name) {
                return Typed::value(ty, span, Node::Const(c));
            }
            let names: Vec<&str> = self.enum_names(id).map(|s| self.interner.name(s)).collect();
            let near = nearest(self.text(last), names.into_iter());
            let message = format!("`{}` has no constant `{}`", self.text(first), self.text(last));
            let mut diag = Diagnostic::error(Code::UnknownName, last.span, message);
            diag.help = near.map(|n| format!("did you mean `{n}`?"));
            self.report(diag);
            return Typed::error(span);
        }
        self.unknown_namespace(first, span);
        Typed::error(span)
    }

    /// Reports a qualified name whose first part nothing declares.
    pub(super) fn unknown_namespace(&mut self, first: &Ident, span: Span) {
        if self.unit.skipped.contains(&first.name) {
            return;
        }
        let name = self.text(first).to_owned();
        match builtins::unsupported_namespace(&name) {
            Some(advice) => self.unsupported_name(advice, name, span),
            None => {
                let message = format!("`{name}` is no namespace or enum that is known here");
                self.report(Diagnostic::error(Code::UnknownName, first.span, message));
            }
        }
    }

    /// Reports a construct of the table of unsupported ones.
    pub(super) fn unsupported_name(&mut self, advice: &Advice, name: String, span: Span) {
        let message = format!("`{name}` is not supported yet: it is {} ({})", advice.what, advice.tier);
        self.report(Diagnostic::error(Code::Unsupported, span, message).help(advice.help));
    }

    /// Reports a name that nothing declares, with the nearest known one.
    pub(super) fn unknown(&mut self, ident: &Ident, span: Span, what: &str) {
        if self.unit.skipped.contains(&ident.name) {
            return;
        }
        let name = self.text(ident).to_owned();
        let mut diag = Diagnostic::error(Code::UnknownName, span, format!("unknown {what} `{name}`"));
        if let Some(place) = self.declared_later(ident.name) {
            diag = diag
                .related(place, "declared only here")
                .help(format!("move the declaration of `{name}` above its first use"));
        } else {
            let interner = self.interner;
            let known = self.scopes.symbols().map(|s| interner.name(s));
            if let Some(near) = nearest(&name, known).or_else(|| nearest(&name, builtins::names())) {
                diag.message = format!("{}; the nearest known one is `{near}`", diag.message);
                diag = diag.help(format!("write `{near}`"));
            }
        }
        self.report(diag);
    }

    fn member(&mut self, object: &Expr, member: &Name, arrow: bool, span: Span) -> Typed {
        let member = member.last();
        if !arrow
            && let ExprKind::Name(name) = &bare(object).kind
            && let Some(ident) = name.simple()
            && self.scopes.lookup(ident.name).is_none()
            && let Some(make) = index_variable(self.text(&ident))
        {
            return self.component(&ident, make, member, span);
        }
        let object = self.expr(object);
        if object.is_error() {
            return Typed::error(span);
        }
        let message = format!("`{}` has no members, so no `{}`", object.ty, self.text(&member));
        self.report(
            Diagnostic::error(Code::TypeMismatch, span, message)
                .related(object.span, format!("this is `{}`", object.ty)),
        );
        Typed::error(span)
    }

    fn component(&mut self, ident: &Ident, make: fn(u8) -> Builtin, member: Ident, span: Span) -> Typed {
        let name = self.text(ident).to_owned();
        if self.f.side == Side::Host {
            let message = format!("`{name}` exists only in device code");
            self.report(
                Diagnostic::error(Code::WrongSide, span, message)
                    .help("make the function `__device__` or `__global__`"),
            );
            return Typed::error(span);
        }
        let dim = match self.text(&member) {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            other => {
                let message = format!("`{name}` has no member `{other}`");
                self.report(
                    Diagnostic::error(Code::UnknownName, member.span, message).help("its members are `x`, `y` and `z`"),
                );
                return Typed::error(span);
            }
        };
        Typed::value(Num::UInt, span, Node::Builtin(make(dim)))
    }

    /// `a[b]`, and `b[a]` which is the same.
    fn index(&mut self, a: Typed, b: Typed, span: Span) -> Typed {
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
        match ty.size() {
            Some(size) => Typed::int(Num::ULong, i64::from(size), span),
            None => {
                self.report(Diagnostic::error(Code::TypeMismatch, span, format!("`{ty}` has no size")));
                Typed::error(span)
            }
        }
    }

    /// A constant integer; reports when it is none. `what` completes "must be known when compiling".
    pub(super) fn constant_integer(&mut self, e: &Expr, what: &str) -> Option<i64> {
        let typed = self.value(e);
        self.as_constant_integer(&typed, what)
    }

    /// [`Self::constant_integer`] of a checked expression.
    pub(super) fn as_constant_integer(&mut self, typed: &Typed, what: &str) -> Option<i64> {
        if typed.is_error() {
            return None;
        }
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

    /// Reports an expression that has to be constant and is not.
    pub(super) fn not_constant(&mut self, typed: &Typed, what: &str) {
        let mut diag = Diagnostic::error(
            Code::NotConstant,
            typed.span,
            format!("{what} must be known when compiling, and this is not"),
        );
        diag.help = Some(match self.obstacle(typed) {
            Some(Obstacle::Division) => "it divides by zero, or overflows".to_owned(),
            Some(Obstacle::Variable(name, span)) => {
                diag = diag.related(span, format!("`{name}` gets its value only when running"));
                format!("make `{name}` a `const` with a constant value, or a macro")
            }
            None => "use literals, `constexpr` variables and macros".to_owned(),
        });
        self.report(diag);
    }

    /// The first thing in an expression that keeps it from being constant.
    fn obstacle(&self, e: &Typed) -> Option<Obstacle> {
        match &e.node {
            Node::Var(id) if self.var(*id).constant.is_none() => {
                let var = self.var(*id);
                Some(Obstacle::Variable(self.interner.name(var.name).to_owned(), var.span))
            }
            Node::Binary(_, a, b) => {
                let constant = a.constant().is_some() && b.constant().is_some();
                if constant { Some(Obstacle::Division) } else { self.obstacle(a).or_else(|| self.obstacle(b)) }
            }
            Node::Load(a) | Node::Convert(a) | Node::Unary(_, a) | Node::Decay(a) | Node::Deref(a) => self.obstacle(a),
            Node::Compare(_, a, b) | Node::Logical(_, a, b) | Node::PtrAdd(a, b, _) => {
                self.obstacle(a).or_else(|| self.obstacle(b))
            }
            Node::Conditional(parts) => parts.iter().find_map(|p| self.obstacle(p)),
            _ => None,
        }
    }

    /// The text of a name.
    pub(super) fn text(&self, ident: &Ident) -> &str {
        self.interner.name(ident.name)
    }
}

enum Obstacle {
    Division,
    Variable(String, Span),
}

/// A string literal.
pub(super) fn string(text: &str, span: Span) -> Typed {
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

/// Whether an expression is an assignment not put in parentheses of its own, as in `if (a = b)`.
pub(super) fn is_bare_assignment(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Assign(None, ..))
}

//! Every part of a tree stands inside what it is part of.

use crate::front::ast::*;
use crate::source::Span;

/// Checks a whole text.
pub fn check(unit: &TranslationUnit) {
    unit.items.iter().for_each(item);
}

fn within(outer: Span, inner: Span, what: &str) {
    // Macros put one place on many tokens; here are none that cross.
    assert!(
        outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end,
        "{what}: {inner:?} is not inside {outer:?}"
    );
}

fn item(item_: &Item) {
    match item_ {
        Item::Function(f) => function(f),
        Item::Variables(d) => declaration(d),
        Item::Struct(s) => record(s),
        Item::Namespace(n) => n.items.iter().for_each(item),
        _ => {}
    }
}

fn function(f: &FunctionDecl) {
    for p in &f.params {
        within(f.span, p.span, "parameter");
        if let Some(e) = &p.default {
            within(p.span, e.span, "default");
            expr(e);
        }
    }
    if let Some(body) = &f.body {
        body.stmts.iter().for_each(|s| stmt(body.span, s));
    }
}

fn record(s: &StructDecl) {
    for m in &s.members {
        match &m.kind {
            MemberKind::Function(f) | MemberKind::FriendFunction(f) => {
                within(m.span, f.span, "member function");
                function(f);
            }
            MemberKind::Field(d) => {
                within(m.span, d.span, "field");
                declaration(d);
            }
            MemberKind::Struct(s) => record(s),
            _ => {}
        }
    }
}

fn declaration(d: &Declaration) {
    for v in &d.vars {
        within(d.span, v.ty.span, "type");
        if let Some(i) = &v.init {
            init(d.span, i);
        }
    }
}

fn init(outer: Span, i: &Init) {
    match i {
        Init::Expr(e) => inside(outer, e),
        Init::Paren(args, span) => {
            within(outer, *span, "initializer");
            args.iter().for_each(|e| inside(*span, e));
        }
        Init::List(entries, span) => {
            within(outer, *span, "list");
            entries.iter().for_each(|i| init(*span, i));
        }
        Init::Designated(_, i) => init(outer, i),
    }
}

fn inside(outer: Span, e: &Expr) {
    within(outer, e.span, "expression");
    expr(e);
}

fn stmt(outer: Span, s: &Stmt) {
    within(outer, s.span, "statement");
    let span = s.span;
    match &s.kind {
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => inside(span, e),
        StmtKind::Declaration(d) => declaration(d),
        StmtKind::Binding(b) => inside(span, &b.init),
        StmtKind::Compound(c) => c.stmts.iter().for_each(|s| stmt(c.span, s)),
        StmtKind::If { init, cond, then, els, .. } => {
            init.iter().chain([&**then]).chain(els.as_deref()).for_each(|s| stmt(span, s));
            inside(span, cond);
        }
        StmtKind::While(e, b) | StmtKind::DoWhile(b, e) | StmtKind::Switch(e, b) | StmtKind::Case(e, b) => {
            inside(span, e);
            stmt(span, b);
        }
        StmtKind::Default(b) => stmt(span, b),
        StmtKind::For { init, cond, step, body } => {
            init.iter().chain([body]).for_each(|s| stmt(span, s));
            cond.iter().chain(step).for_each(|e| inside(span, e));
        }
        StmtKind::RangeFor { range, body, .. } => {
            inside(span, range);
            stmt(span, body);
        }
        _ => {}
    }
}

fn expr(e: &Expr) {
    let span = e.span;
    let one = |a: &Expr| inside(span, a);
    match &e.kind {
        ExprKind::Unary(_, a)
        | ExprKind::Paren(a)
        | ExprKind::PackExpansion(a)
        | ExprKind::SizeofExpr(a)
        | ExprKind::Noexcept(a) => one(a),
        ExprKind::Binary(_, a, b, _) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
            one(a);
            one(b);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| one(e)),
        ExprKind::Call(f, args) => {
            one(f);
            args.iter().for_each(one);
        }
        ExprKind::Launch { callee, config, args } => {
            one(callee);
            config.iter().chain(args).for_each(one);
        }
        ExprKind::Member { object, member, .. } => {
            one(object);
            within(span, member.span, "member");
        }
        ExprKind::Cast { ty, operand, .. } => {
            within(span, ty.span, "type");
            one(operand);
        }
        ExprKind::Construct { ty, args } => {
            within(span, ty.span, "type");
            args.iter().for_each(one);
        }
        ExprKind::Braced { entries, .. } => entries.iter().for_each(|i| init(span, i)),
        ExprKind::Lambda(l) => l.body.stmts.iter().for_each(|s| stmt(span, s)),
        ExprKind::Fold { left, right, .. } => left.iter().chain(right).for_each(|e| one(e)),
        ExprKind::Name(name) => within(span, name.span, "name"),
        _ => {}
    }
}

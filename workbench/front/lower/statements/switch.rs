//! `switch`: the cases of its braces, with fall through.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, Stmt, StmtKind};
use crate::front::lower::Lowerer;
use crate::front::lower::constants::folding;
use crate::front::types::{Kind, Num};
use crate::ir::{self, Case, Const, Label, Scalar};
use crate::source::Span;
use rustc_hash::FxHashMap as HashMap;

/// The labels and statements of one case.
#[derive(Default)]
struct Group<'s> {
    values: Vec<&'s Expr>,
    default: Option<Span>,
    stmts: Vec<&'s Stmt>,
}

/// A body's statements by the labels before them; the first group has no labels and never runs.
fn groups(stmts: &[Stmt]) -> Vec<Group<'_>> {
    let mut all = vec![Group::default()];
    for stmt in stmts {
        let mut at = stmt;
        let mut labels = Group::default();
        loop {
            match &at.kind {
                StmtKind::Case(value, inner) => {
                    labels.values.push(value);
                    at = inner;
                }
                StmtKind::Default(inner) => {
                    labels.default = Some(at.span);
                    at = inner;
                }
                _ => break,
            }
        }
        if !labels.values.is_empty() || labels.default.is_some() {
            all.push(labels);
        }
        if let Some(group) = all.last_mut() {
            group.stmts.push(at);
        }
    }
    all
}

impl<'a> Lowerer<'a> {
    pub(super) fn switch_stmt(&mut self, value: &'a Expr, body: &'a Stmt, span: Span) {
        let value = self.value(value);
        let num = match &value.ty.kind {
            Kind::Enum(e) => Some(e.underlying.promoted()),
            _ => value.ty.num().filter(|n| n.is_integral()).map(Num::promoted),
        };
        if num.is_none() && !value.is_error() {
            let message = format!("`switch` needs an integer, and this is `{}`", value.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, value.span, message));
        }
        let StmtKind::Compound(block) = &body.kind else {
            self.report(
                Diagnostic::error(Code::Unsupported, body.span, "a `switch` without braces is not supported")
                    .help("write `switch (x) { ... }`"),
            );
            return;
        };
        let scoped_enum = match &value.ty.kind {
            Kind::Enum(e) if e.scoped => Some(value.ty.clone()),
            _ => None,
        };
        let num = num.unwrap_or(Num::Int);
        let emitted = if value.is_error() || value.ty.scalar().is_none_or(Scalar::is_float) {
            None
        } else {
            let value = self.number(value, num);
            Some(self.emit_value(&value))
        };
        self.scopes.open();
        let label = self.enter_switch();
        let mut seen: HashMap<i64, Span> = HashMap::default();
        let mut default: Option<Span> = None;
        let mut jumped: Option<Span> = None;
        let mut cases: Vec<Case> = Vec::new();
        let mut last_ended = false;
        for (i, group) in groups(&block.stmts).into_iter().enumerate() {
            if i == 0 {
                for stmt in group.stmts {
                    self.before_first_case(stmt);
                }
                continue;
            }
            let at = group.default.or(group.values.first().map(|e| e.span)).unwrap_or(span);
            if let Some(place) = jumped.take() {
                self.report(
                    Diagnostic::error(Code::BadControlFlow, at, "this `case` jumps past an initialisation")
                        .related(place, "initialised here")
                        .help("put the statements of the earlier `case` in braces"),
                );
            }
            let values = self.case_values(&group, scoped_enum.as_ref(), num, &mut seen);
            if let (Some(here), Some(old)) = (group.default, default) {
                self.report(
                    Diagnostic::error(Code::Redefinition, here, "a second `default`").related(old, "the first one"),
                );
            }
            default = default.or(group.default);
            self.f.b.open();
            for stmt in group.stmts {
                jumped = jumped.or(initialisation(stmt));
                self.stmt(stmt);
            }
            last_ended = self.f.b.has_ended();
            let mut body = self.f.b.close();
            drop_last_break(&mut body, label);
            cases.push(Case { values, default: group.default.is_some(), body, falls_through: !last_ended });
        }
        if let Some(last) = cases.last_mut() {
            last.falls_through = false;
        }
        let broken = self.leave_switch();
        self.scopes.close();
        let Some(value) = emitted else { return };
        if cases.is_empty() {
            return;
        }
        self.at(span).push(ir::Stmt::Switch { label, value, cases });
        if default.is_some() && !broken && last_ended {
            self.f.b.end_block();
        }
    }

    /// Declarations there are in scope of the cases; nothing there runs.
    fn before_first_case(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Declaration(decl) if decl.vars.iter().all(|v| v.init.is_none()) => self.local_declaration(decl),
            StmtKind::Alias(_) | StmtKind::Enum(_) | StmtKind::StaticAssert(_) | StmtKind::Empty => self.stmt(stmt),
            _ => {
                let message = "this stands before the first `case` and never runs";
                self.report(Diagnostic::warning(Code::Unused, stmt.span, message));
                self.unreachable(stmt);
            }
        }
    }

    fn case_values(
        &mut self,
        group: &Group<'a>,
        scoped_enum: Option<&crate::front::types::Ty>,
        num: Num,
        seen: &mut HashMap<i64, Span>,
    ) -> Vec<i64> {
        let mut values = Vec::new();
        for e in &group.values {
            let typed = self.value(e);
            if typed.is_error() {
                continue;
            }
            let is_scoped = matches!(&typed.ty.kind, Kind::Enum(en) if en.scoped);
            if scoped_enum.map(|t| &t.kind) != is_scoped.then_some(&typed.ty.kind) {
                let wanted = scoped_enum.map_or_else(|| num.name().to_owned(), ToString::to_string);
                let message = format!("this `case` is `{}`, and the `switch` is on `{wanted}`", typed.ty);
                self.report(Diagnostic::error(Code::TypeMismatch, e.span, message));
                continue;
            }
            let Some(value) = self.as_constant_integer(&typed, "the value of a `case`") else { continue };
            let value = match folding::convert(Const::Int(Scalar::I64, value), num.scalar()) {
                Const::Int(_, v) => v,
                _ => value,
            };
            if let Some(&old) = seen.get(&value) {
                let message = format!("`case {value}` stands twice in this `switch`");
                self.report(Diagnostic::error(Code::Redefinition, e.span, message).related(old, "the first one"));
                continue;
            }
            seen.insert(value, e.span);
            values.push(value);
        }
        values
    }
}

/// The place where a statement directly in the braces initialises a variable.
fn initialisation(stmt: &Stmt) -> Option<Span> {
    match &stmt.kind {
        StmtKind::Declaration(decl) => decl.vars.iter().find(|v| v.init.is_some()).map(|v| v.name.span),
        _ => None,
    }
}

/// A case that ends in `break` needs none: it does not fall through.
fn drop_last_break(body: &mut ir::Block, label: Label) {
    if matches!(body.stmts.last(), Some(ir::Stmt::Break(l)) if *l == label) {
        body.stmts.pop();
        body.spans.pop();
    }
}

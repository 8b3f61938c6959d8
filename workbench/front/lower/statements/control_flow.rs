//! Statements to the structured control flow of the IR.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Compound, Expr, Stmt, StmtKind, TypeName};
use crate::front::lower::expressions::check;
use crate::front::lower::expressions::check::is_bare_assignment;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::{Lowerer, Side, Storage, Target, TargetKind};
use crate::front::types::Ty;
use crate::ir::{self, Block, CompareOp, Const, Label};
use crate::source::Span;
use crate::steps::step;

/// Most nested statements; the parser's own limit is lower, so this only guards the stack.
const MAX_DEPTH: u32 = 600;

impl<'a> Lowerer<'a> {
    /// Lowers a statement into the current block.
    pub(in crate::front::lower) fn stmt(&mut self, stmt: &'a Stmt) {
        step();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("statements nest more than {MAX_DEPTH} deep");
            self.report(
                Diagnostic::error(Code::NestingLimit, stmt.span, message).help("move the inner part into a function"),
            );
        } else {
            self.stmt_kind(stmt);
        }
        self.depth -= 1;
    }

    fn stmt_kind(&mut self, stmt: &'a Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(e) => {
                let mark = self.begin_scope();
                self.expr_stmt(e);
                self.end_scope(mark, span);
            }
            StmtKind::Declaration(decl) => self.local_declaration(decl),
            StmtKind::Alias(alias) => self.alias(alias),
            StmtKind::Enum(decl) => self.enumeration(decl),
            StmtKind::StaticAssert(assertion) => self.static_assert(assertion),
            StmtKind::Compound(block) => self.compound(block),
            StmtKind::If { init, cond, then, els, is_constexpr } => {
                self.scopes.open();
                let mark = self.begin_scope();
                for init in init {
                    self.stmt(init);
                }
                self.if_stmt(cond, then, els.as_deref(), *is_constexpr, span);
                self.end_scope(mark, span);
                self.scopes.close();
            }
            StmtKind::While(cond, body) => self.while_stmt(Some(cond), None, body, span),
            StmtKind::For { init, cond, step, body } => {
                self.scopes.open();
                let mark = self.begin_scope();
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.while_stmt(cond.as_ref(), step.as_ref(), body, span);
                self.end_scope(mark, span);
                self.scopes.close();
            }
            StmtKind::DoWhile(body, cond) => self.do_stmt(body, cond, span),
            StmtKind::Switch(value, body) => self.switch_stmt(value, body, span),
            StmtKind::Case(_, inner) | StmtKind::Default(inner) => {
                self.stray_label(span);
                self.stmt(inner);
            }
            StmtKind::Break => self.break_stmt(span),
            StmtKind::Continue => self.continue_stmt(span),
            StmtKind::Return(value) => self.return_stmt(value.as_ref(), span),
            StmtKind::UsingNamespace(name) => self.using_namespace(name),
            StmtKind::UsingDecl(name) => self.using_declaration(name),
            StmtKind::Struct(decl) => {
                self.struct_declaration(decl);
            }
            StmtKind::Binding(binding) => self.binding(binding),
            StmtKind::RangeFor { init, var, range, body } => {
                self.scopes.open();
                let mark = self.begin_scope();
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.range_for(var, range, body, span);
                self.end_scope(mark, span);
                self.scopes.close();
            }
            StmtKind::NamespaceAlias(alias) => self.namespace_alias(alias),
            StmtKind::Try(whole) => self.try_stmt(whole, span),
        }
    }

    fn compound(&mut self, block: &'a Compound) {
        self.scopes.open();
        let mark = self.begin_scope();
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.end_scope(mark, block.span);
        self.scopes.close();
    }

    /// A statement in a scope of its own, as the branches and bodies of others are.
    pub(in crate::front::lower) fn scoped(&mut self, stmt: &'a Stmt) {
        self.scopes.open();
        let mark = self.begin_scope();
        self.stmt(stmt);
        self.end_scope(mark, stmt.span);
        self.scopes.close();
    }

    fn expr_stmt(&mut self, e: &'a Expr) {
        let typed = self.expr(e);
        if typed.is_error() {
            return;
        }
        if typed.is_idle() {
            let mut diag = Diagnostic::warning(Code::Unused, typed.span, "the result of this expression is not used");
            if matches!(typed.node, Node::Compare(CompareOp::Eq, ..)) {
                diag = diag.help("to assign write `=`");
            }
            self.report(diag);
        }
        self.effect(&typed);
    }

    /// The condition of a statement.
    fn stmt_condition(&mut self, e: &'a Expr) -> Typed {
        if is_bare_assignment(e) {
            let message = "an assignment is used as a condition";
            self.report(
                Diagnostic::warning(Code::Unused, e.span, message)
                    .help("to compare write `==`; to say it is meant, put the assignment in parentheses"),
            );
        }
        let cond = self.expr(e);
        self.condition(cond)
    }

    fn if_stmt(&mut self, cond: &'a Expr, then: &'a Stmt, els: Option<&'a Stmt>, is_constexpr: bool, span: Span) {
        let cond = self.stmt_condition(cond);
        let cond = if is_constexpr { self.folded(cond) } else { cond };
        if is_constexpr && cond.constant().is_none() && !cond.is_error() {
            self.not_constant(&cond, "the condition of `if constexpr`");
        }
        if let Some(Const::Bool(truth)) = cond.constant() {
            let (taken, other) = if truth { (Some(then), els) } else { (els, Some(then)) };
            if let Some(stmt) = taken {
                self.scoped(stmt);
            }
            if let Some(stmt) = other {
                // The branch that a template leaves out need not make sense for these arguments.
                if !is_constexpr || self.context.is_none() {
                    self.unreachable(stmt);
                }
            }
            return;
        }
        let failed = cond.is_error();
        let mark = self.begin_scope();
        let value = if failed { None } else { Some(self.emit_value(&cond)) };
        self.end_scope(mark, cond.span);
        let (then, then_ended) = self.nested(then);
        let (els, els_ended) = match els {
            Some(stmt) => self.nested(stmt),
            None => (Block::default(), false),
        };
        let Some(cond) = value else { return };
        self.at(span).push(ir::Stmt::If { cond, then, els });
        if then_ended && els_ended {
            self.f.b.end_block();
        }
    }

    /// A statement in a block of its own, and whether the block's end is never reached.
    fn nested(&mut self, stmt: &'a Stmt) -> (Block, bool) {
        self.f.b.open();
        self.scoped(stmt);
        let ended = self.f.b.has_ended();
        (self.f.b.close(), ended)
    }

    /// Checks a statement that cannot run, and drops it.
    pub(in crate::front::lower) fn unreachable(&mut self, stmt: &'a Stmt) {
        self.f.b.open();
        self.f.b.end_block();
        self.scoped(stmt);
        self.f.b.close();
    }

    pub(in crate::front::lower) fn enter(&mut self, kind: TargetKind) -> Label {
        let label = self.f.b.func.new_label();
        self.f.targets.push(Target { label, kind, broken: false, continued: false, cleanups: self.f.cleanups.len() });
        label
    }

    /// Leaves a construct: whether it was broken out of, whether it was continued.
    pub(in crate::front::lower) fn leave(&mut self) -> (bool, bool) {
        self.f.targets.pop().map_or((false, false), |t| (t.broken, t.continued))
    }

    /// `while` and `for`: the condition is tested first in each round.
    fn while_stmt(&mut self, cond: Option<&'a Expr>, step: Option<&'a Expr>, body: &'a Stmt, span: Span) {
        let label = self.enter(TargetKind::Loop);
        self.f.b.open();
        let mut forever = true;
        if let Some(cond) = cond {
            let cond = self.stmt_condition(cond);
            forever = cond.constant() == Some(Const::Bool(true));
            self.leave_unless(&cond, label);
        }
        self.scoped(body);
        let body = self.f.b.close();
        self.f.b.open();
        if let Some(step) = step {
            let mark = self.begin_scope();
            let step = self.expr(step);
            if !step.is_error() {
                self.effect(&step);
            }
            self.end_scope(mark, span);
        }
        let step = self.f.b.close();
        let (broken, _) = self.leave();
        self.at(span).push(ir::Stmt::Loop { label, body, step });
        if forever && !broken {
            self.f.b.end_block();
        }
    }

    /// Leaves the loop unless a condition holds.
    pub(super) fn leave_unless(&mut self, cond: &Typed, label: Label) {
        if cond.is_error() {
            return;
        }
        match cond.constant() {
            Some(Const::Bool(true)) => {}
            Some(_) => self.at(cond.span).push(ir::Stmt::Break(label)),
            None => {
                let mark = self.begin_scope();
                let value = self.emit_value(cond);
                self.end_scope(mark, cond.span);
                let b = self.at(cond.span);
                b.open();
                b.push(ir::Stmt::Break(label));
                let els = b.close();
                b.push(ir::Stmt::If { cond: value, then: Block::default(), els });
            }
        }
    }

    fn do_stmt(&mut self, body: &'a Stmt, cond: &'a Expr, span: Span) {
        // The condition is checked after the body, in its order of the text; whether it is the usual `0` shows before.
        let once = is_zero(cond);
        let label = self.enter(if once { TargetKind::Once } else { TargetKind::Loop });
        self.f.b.open();
        self.scoped(body);
        let ended = self.f.b.has_ended();
        let body = self.f.b.close();
        if once {
            let (broken, _) = self.leave();
            if broken {
                self.at(span).push(ir::Stmt::Scope { label, body });
            } else {
                self.at(span).splice(body, ended);
            }
            return;
        }
        let cond = self.stmt_condition(cond);
        self.f.b.open();
        self.leave_unless(&cond, label);
        let step = self.f.b.close();
        let (broken, continued) = self.leave();
        let forever = cond.constant() == Some(Const::Bool(true));
        self.at(span).push(ir::Stmt::Loop { label, body, step });
        let tested = !ended || continued;
        if !broken && (forever || !tested) {
            self.f.b.end_block();
        }
    }

    fn break_stmt(&mut self, span: Span) {
        let live = self.f.b.is_live();
        match self.f.targets.last_mut() {
            Some(target) => {
                target.broken |= live;
                let (label, mark) = (target.label, target.cleanups);
                self.run_cleanups(mark, span);
                self.at(span).push(ir::Stmt::Break(label));
            }
            None => self.report(Diagnostic::error(Code::BadControlFlow, span, "`break` outside a loop or `switch`")),
        }
    }

    fn continue_stmt(&mut self, span: Span) {
        let live = self.f.b.is_live();
        let target = self.f.targets.iter_mut().rev().find(|t| t.kind != TargetKind::Switch);
        match target {
            Some(target) => {
                let (label, once) = (target.label, target.kind == TargetKind::Once);
                target.continued |= live;
                target.broken |= live && once;
                let mark = target.cleanups;
                self.run_cleanups(mark, span);
                self.at(span).push(if once { ir::Stmt::Break(label) } else { ir::Stmt::Continue(label) });
            }
            None => self.report(Diagnostic::error(Code::BadControlFlow, span, "`continue` outside a loop")),
        }
    }

    fn stray_label(&mut self, span: Span) {
        let inside = self.f.targets.iter().any(|t| t.kind == TargetKind::Switch);
        let diag = if inside {
            Diagnostic::error(
                Code::Unsupported,
                span,
                "a `case` inside another statement of the `switch` is not supported",
            )
            .help("put every `case` directly into the braces of its `switch`")
        } else {
            Diagnostic::error(Code::BadControlFlow, span, "`case` or `default` outside a `switch`")
        };
        self.report(diag);
    }

    /// The expression is an object that the function takes with it when it returns ([class.copy.elision]).
    fn ends_here(&self, e: &Typed) -> bool {
        let Node::Var(id) = e.node else { return false };
        let var = self.var(id);
        let is_own = var.owner == self.f.serial && matches!(var.storage, Storage::Slot(_) | Storage::Reference(_));
        e.lvalue && is_own && !var.ty.is_reference()
    }

    fn return_stmt(&mut self, value: Option<&'a Expr>, span: Span) {
        let name = self.f.name.clone();
        let Some(e) = value else {
            if self.f.auto.take().is_some() {
                self.f.ret = Ty::void();
            }
            let ret = self.f.ret.clone();
            if !ret.is_void() && !ret.is_error() {
                let message = format!("`{name}` returns `{ret}`, and this `return` has no value");
                self.report(Diagnostic::error(Code::BadControlFlow, span, message));
            }
            self.run_cleanups(0, span);
            self.at(span).push(ir::Stmt::Return(None));
            return;
        };
        let typed = self.expr(e);
        if let Some(written) = self.f.auto {
            if typed.is_error() {
                self.f.ret = Ty::error();
            } else {
                self.f.ret = self.deduced_result(&typed, written, e.span);
            }
            self.f.auto = None;
        }
        let ret = self.f.ret.clone();
        if typed.is_error() || ret.is_error() {
            self.f.b.end_block();
            return;
        }
        if ret.is_void() {
            if !typed.ty.is_void() {
                let message = format!("`{name}` returns nothing, and this `return` has a value");
                let help = if self.f.side == Side::Kernel {
                    "write the result through a pointer parameter"
                } else {
                    "declare the function with the value's type"
                };
                self.report(Diagnostic::error(Code::BadControlFlow, e.span, message).help(help));
            }
            self.effect(&typed);
            self.run_cleanups(0, span);
            self.at(span).push(ir::Stmt::Return(None));
            return;
        }
        if ret.is_struct() {
            let xvalue = typed.xvalue || self.ends_here(&typed);
            let typed = Typed { xvalue, ..typed };
            let value = self.implicit(typed, &ret.unqualified(), Use::Return(&name));
            if value.is_error() {
                self.f.b.end_block();
                return;
            }
            let result = self.f.result;
            let to = self.at(span).bind(ir::Type::Ptr, ir::Op::Param(result));
            self.emit_into(&value, to);
            self.run_cleanups(0, span);
            self.at(span).push(ir::Stmt::Return(None));
            return;
        }
        let value = match ret.target() {
            Some(target) => self.bind_to(typed, &ret, target, |from| {
                format!("`{name}` returns `{ret}`, which cannot refer to this `{from}`")
            }),
            None => self.implicit(typed, &ret.unqualified(), Use::Return(&name)),
        };
        if value.is_error() {
            self.f.b.end_block();
            return;
        }
        if self.dangles(&value) {
            self.f.b.end_block();
            return;
        }
        let value = self.emit_value(&value);
        self.run_cleanups(0, span);
        self.at(span).push(ir::Stmt::Return(Some(value)));
    }

    /// The result of a function declared `auto`, from its first `return`.
    fn deduced_result(&mut self, e: &Typed, written: Option<&'a TypeName>, span: Span) -> Ty {
        if e.ty.is_void() {
            return Ty::void();
        }
        let Some(written) = written else { return self.settled(e) };
        match self.deduced_auto(e, written, span) {
            Some(auto) => self.type_with_auto(written, Some(&auto)),
            None => Ty::error(),
        }
    }

    /// The parts of a construct that `break` leaves, for `switch`.
    pub(super) fn enter_switch(&mut self) -> Label {
        self.enter(TargetKind::Switch)
    }

    /// Leaves a `switch`: whether it was broken out of.
    pub(super) fn leave_switch(&mut self) -> bool {
        self.leave().0
    }
}

/// `0` or `false`, as `do ... while (0)` has it.
fn is_zero(e: &Expr) -> bool {
    use crate::front::ast::{ExprKind, Literal};
    matches!(check::bare(e).kind, ExprKind::Literal(Literal::Int(0, _) | Literal::Bool(false)))
}

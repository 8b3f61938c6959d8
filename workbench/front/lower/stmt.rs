//! Statements to the structured control flow of the IR.

use super::convert::Use;
use super::expr::is_bare_assignment;
use super::names::{Decl, FieldDecl};
use super::tree::{Node, Typed, VarId};
use super::{Lowerer, Storage, Target, TargetKind, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Binding, Compound, Expr, Ident, RangeVar, Stmt, StmtKind, TypeLayer, TypeName};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{self, Block, CompareOp, Const, Label};
use crate::source::Span;
use std::rc::Rc;

/// Most nested statements; the parser's own limit is lower, so this only guards the stack.
const MAX_DEPTH: u32 = 600;

impl<'a> Lowerer<'a> {
    /// Lowers a statement into the current block.
    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
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
            StmtKind::Expr(e) => self.expr_stmt(e),
            StmtKind::Declaration(decl) => self.local_declaration(decl),
            StmtKind::Alias(alias) => self.alias(alias),
            StmtKind::Enum(decl) => self.enumeration(decl),
            StmtKind::StaticAssert(assertion) => self.static_assert(assertion),
            StmtKind::Compound(block) => self.compound(block),
            StmtKind::If { init, cond, then, els, is_constexpr } => {
                self.scopes.open();
                let mark = self.f.cleanups.len();
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
                let mark = self.f.cleanups.len();
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
                let mark = self.f.cleanups.len();
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.range_for(var, range, body, span);
                self.end_scope(mark, span);
                self.scopes.close();
            }
            StmtKind::NamespaceAlias(alias) => self.namespace_alias(alias),
        }
    }

    fn compound(&mut self, block: &'a Compound) {
        self.scopes.open();
        let mark = self.f.cleanups.len();
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.end_scope(mark, block.span);
        self.scopes.close();
    }

    /// A statement in a scope of its own, as the branches and bodies of others are.
    pub(super) fn scoped(&mut self, stmt: &'a Stmt) {
        self.scopes.open();
        let mark = self.f.cleanups.len();
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
                // What a template leaves out need not make sense for these arguments.
                if !is_constexpr || self.context.is_none() {
                    self.unreachable(stmt);
                }
            }
            return;
        }
        let failed = cond.is_error();
        let value = if failed { None } else { Some(self.emit_value(&cond)) };
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
    pub(super) fn unreachable(&mut self, stmt: &'a Stmt) {
        self.f.b.open();
        self.f.b.end_block();
        self.scoped(stmt);
        self.f.b.close();
    }

    pub(super) fn enter(&mut self, kind: TargetKind) -> Label {
        let label = self.f.b.func.new_label();
        self.f.targets.push(Target { label, kind, broken: false, continued: false, cleanups: self.f.cleanups.len() });
        label
    }

    /// Leaves a construct: whether it was broken out of, whether it was continued.
    fn leave(&mut self) -> (bool, bool) {
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
            let step = self.expr(step);
            if !step.is_error() {
                self.effect(&step);
            }
        }
        let step = self.f.b.close();
        let (broken, _) = self.leave();
        self.at(span).push(ir::Stmt::Loop { label, body, step });
        if forever && !broken {
            self.f.b.end_block();
        }
    }

    /// Leaves the loop unless a condition holds.
    fn leave_unless(&mut self, cond: &Typed, label: Label) {
        if cond.is_error() {
            return;
        }
        match cond.constant() {
            Some(Const::Bool(true)) => {}
            Some(_) => self.at(cond.span).push(ir::Stmt::Break(label)),
            None => {
                let value = self.emit_value(cond);
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
                let help = if self.f.side == super::Side::Kernel {
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

    /// `auto [a, b] = e;`
    fn binding(&mut self, binding: &'a Binding) {
        let e = self.expr(&binding.init);
        self.bind_names(&binding.names, &binding.ty, e, binding.span);
    }

    /// Takes an array or struct apart into names.
    fn bind_names(&mut self, names: &'a [Ident], written: &'a TypeName, e: Typed, span: Span) {
        let whole = if e.is_error() { None } else { self.bound_object(written, e, span) };
        let parts = whole.and_then(|w| self.parts_of(w, span));
        match parts {
            Some(parts) if parts.len() == names.len() => {
                for (name, part) in names.iter().zip(parts) {
                    self.declare(name.name, Decl::Place(Rc::new(part)), name.span);
                }
            }
            other => {
                if let Some(parts) = other {
                    let message = format!("this has {} parts, and {} names are given", parts.len(), names.len());
                    self.report(Diagnostic::error(Code::ArgumentCount, span, message));
                }
                for name in names {
                    self.declare(name.name, Decl::Place(Rc::new(Typed::error(name.span))), name.span);
                }
            }
        }
    }

    /// The object that a structured binding names the parts of: a copy, or what a reference refers to.
    fn bound_object(&mut self, written: &'a TypeName, e: Typed, span: Span) -> Option<Typed> {
        let reference = matches!(written.layers.last(), Some(TypeLayer::Reference { .. }));
        let is_const = written.is_const;
        if reference {
            let target = e.ty.clone().qualified(is_const, false);
            let place = if e.lvalue {
                e
            } else {
                Typed::place(target.clone(), span, Node::Temporary(Box::new(e)))
            };
            let ptr = self.emit_address(&place);
            let var = self.nameless(target.clone().reference(), Storage::Reference(ptr), span);
            return Some(Typed::place(target, span, Node::Var(var)));
        }
        let value = if e.lvalue && e.ty.is_array() {
            let ty = e.ty.unqualified();
            Typed::value(ty, span, Node::Load(Box::new(e)))
        } else {
            self.rvalue(e)
        };
        if value.is_error() {
            return None;
        }
        let ty = value.ty.clone();
        let slot = self.slot(String::new(), ty.size()?, ty.align(), ty.uniform(), span);
        let to = self.at(span).bind(ir::Type::Ptr, ir::Op::SlotAddr(slot));
        self.emit_into(&value, to);
        let ty = ty.qualified(is_const, false);
        let var = self.nameless(ty.clone(), Storage::Slot(slot), span);
        Some(Typed::place(ty, span, Node::Var(var)))
    }

    fn nameless(&mut self, ty: Ty, storage: Storage, span: Span) -> VarId {
        let (name, owner) = (self.known.empty, self.f.serial);
        self.add_var(Variable { name, ty, span, storage, constant: None, owner })
    }

    /// The elements of an array, or the fields of a struct.
    fn parts_of(&mut self, whole: Typed, span: Span) -> Option<Vec<Typed>> {
        if let Kind::Array(elem, Some(len)) = &whole.ty.kind {
            let (elem, len, size) = ((**elem).clone(), *len, elem.size()?);
            let part = |i: u32| Typed::place(elem.clone(), span, Node::Member(Box::new(whole.clone()), i * size));
            return Some((0..len.min(1024)).map(part).collect());
        }
        let Some(s) = whole.ty.as_struct().cloned() else {
            let message = format!("`{}` has no parts to name", whole.ty);
            self.report(
                Diagnostic::error(Code::TypeMismatch, span, message).help("only arrays and structs are taken apart"),
            );
            return None;
        };
        let layout = s.layout.get()?.clone();
        let (owner, base, fields) = if layout.fields.is_empty() && layout.bases.len() == 1 {
            let (b, at) = &layout.bases[0];
            (b.as_struct()?.id, *at, b.layout()?.fields.clone())
        } else {
            (s.id, 0, layout.fields)
        };
        let _ = base;
        let mut parts = Vec::new();
        for field in fields {
            let decl = FieldDecl { owner, offset: field.offset, ty: field.ty, mutable: field.mutable };
            parts.push(self.field(whole.clone(), &decl, span));
        }
        Some(parts)
    }

    /// `for (auto x : range)` over an array or a struct with `begin` and `end`.
    fn range_for(&mut self, var: &'a RangeVar, range: &'a Expr, body: &'a Stmt, span: Span) {
        let e = self.expr(range);
        if e.is_error() {
            self.unreachable_range(var, body);
            return;
        }
        let (first, last) = match self.range_ends(e, range.span) {
            Some(ends) => ends,
            None => {
                self.unreachable_range(var, body);
                return;
            }
        };
        let pointer = first.ty.clone();
        if pointer.pointee().is_none() {
            let message = format!("ranges whose `begin` gives `{pointer}` are not supported");
            self.report(
                Diagnostic::error(Code::Unsupported, range.span, message).help("let `begin` and `end` give pointers"),
            );
            self.unreachable_range(var, body);
            return;
        }
        let (start, end) = (self.emit_value(&first), self.emit_value(&last));
        let stride = pointer.pointee().and_then(Ty::stride).unwrap_or(ir::Stride::Bytes(1));
        let counter = self.f.b.func.new_local("", ir::Type::Ptr);
        self.at(span).push(ir::Stmt::Set(counter, start));
        let at = self.nameless(pointer.clone(), Storage::Local(counter), span);
        let label = self.enter(TargetKind::Loop);
        self.f.b.open();
        let b = self.at(span);
        let current = b.bind(ir::Type::Ptr, ir::Op::Get(counter));
        let more = b.compare(CompareOp::Ne, current, end);
        b.open();
        b.push(ir::Stmt::Break(label));
        let els = b.close();
        b.push(ir::Stmt::If { cond: more, then: Block::default(), els });
        self.scopes.open();
        let mark = self.f.cleanups.len();
        let place = Typed::place(pointer.clone(), range.span, Node::Var(at));
        let ptr = self.rvalue(place);
        let element = self.deref(ptr, range.span);
        if var.brackets {
            self.bind_names(&var.names, &var.ty, element, span);
        } else if let Some(name) = var.names.first() {
            self.range_variable(name, &var.ty, element);
        }
        self.stmt(body);
        self.end_scope(mark, span);
        self.scopes.close();
        let body = self.f.b.close();
        self.f.b.open();
        let b = self.at(span);
        let current = b.bind(ir::Type::Ptr, ir::Op::Get(counter));
        let next = b.offset(current, 1, stride);
        b.push(ir::Stmt::Set(counter, next));
        let step = self.f.b.close();
        self.leave();
        self.at(span).push(ir::Stmt::Loop { label, body, step });
    }

    /// Checks the body of a loop whose range was refused.
    fn unreachable_range(&mut self, var: &'a RangeVar, body: &'a Stmt) {
        self.scopes.open();
        for name in &var.names {
            self.declare(name.name, Decl::Place(Rc::new(Typed::error(name.span))), name.span);
        }
        self.unreachable(body);
        self.scopes.close();
    }

    fn range_ends(&mut self, e: Typed, span: Span) -> Option<(Typed, Typed)> {
        if let Kind::Array(_, Some(len)) = e.ty.kind {
            let first = self.rvalue(e);
            let count = Typed::int(Num::Long, i64::from(len), span);
            let last = self.pointer_add(first.clone(), count, false, span);
            return Some((first, last));
        }
        if !e.ty.is_struct() {
            let message = format!("`{}` is no range: it is neither an array nor has `begin` and `end`", e.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return None;
        }
        let whole = if e.lvalue {
            let ptr = self.emit_address(&e);
            let var = self.nameless(e.ty.clone().reference(), Storage::Reference(ptr), span);
            Typed::place(e.ty.clone(), span, Node::Var(var))
        } else {
            let ptr = self.emit_object(&e);
            let var = self.nameless(e.ty.clone().reference(), Storage::Reference(ptr), span);
            Typed::place(e.ty.clone(), span, Node::Var(var))
        };
        let (begin, end) = (self.known.begin, self.known.end);
        let first = self.named_method(whole.clone(), begin, "begin", Vec::new(), span)?;
        let last = self.named_method(whole, end, "end", Vec::new(), span)?;
        Some((self.operand(first), self.operand(last)))
    }

    /// The variable of a range-based `for` in one round.
    fn range_variable(&mut self, name: &'a Ident, written: &'a TypeName, element: Typed) {
        let ty = if written.base.is_auto() {
            match self.deduced_auto(&element, written, written.span) {
                Some(auto) => self.type_with_auto(written, Some(&auto)),
                None => Ty::error(),
            }
        } else {
            self.type_name(written)
        };
        let span = name.span;
        let text = self.text(name).to_owned();
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if let Some(target) = ty.target() {
            let address = self.bind_to(element, &ty, target, |from| {
                format!("`{text}` is `{ty}`, which cannot refer to this `{from}`")
            });
            if address.is_error() { Storage::Nowhere } else { Storage::Reference(self.emit_value(&address)) }
        } else {
            let value = self.implicit(element, &ty.unqualified(), Use::Init(&text));
            match ty.size() {
                Some(size) if !value.is_error() => {
                    let slot = self.slot(text, size, ty.align(), ty.uniform(), span);
                    let place = self.nameless(ty.clone(), Storage::Slot(slot), span);
                    let place = Typed::place(ty.clone(), span, Node::Var(place));
                    self.initialise(&place, &value, span);
                    Storage::Slot(slot)
                }
                _ => Storage::Nowhere,
            }
        };
        let owner = self.f.serial;
        let id = self.add_var(Variable { name: name.name, ty, span, storage, constant: None, owner });
        self.declare(name.name, Decl::Var(id), span);
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
    matches!(super::expr::bare(e).kind, ExprKind::Literal(Literal::Int(0, _) | Literal::Bool(false)))
}

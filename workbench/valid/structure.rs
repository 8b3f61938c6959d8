//! Scopes, labels and statements: rules 5 to 12 and 16 to 20, by one walk over the body.

use std::collections::HashSet;
use std::fmt::Display;

use super::{Errors, MAX_NESTING, types};
use crate::ir::printf_format::ArgKind;
use crate::ir::{Block, Case, Const, Function, Label, Local, Module, Op, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// The place where nesting passes the limit, if it does. The walk has a stack of its own, so any depth is safe.
pub(super) fn too_deep(body: &Block) -> Option<Span> {
    let mut pending = vec![(body, 0)];
    while let Some((block, depth)) = pending.pop() {
        for (i, stmt) in block.stmts.iter().enumerate() {
            if depth >= MAX_NESTING && !stmt.blocks().is_empty() {
                return Some(block.spans.get(i).copied().unwrap_or_default());
            }
            pending.extend(stmt.blocks().into_iter().map(|inner| (inner, depth + 1)));
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum Defined {
    No,
    InScope,
    OutOfScope,
}

#[derive(Clone, Copy, PartialEq)]
enum Construct {
    Unseen,
    /// `Break` may name it.
    Plain,
    LoopBody,
    LoopStep,
    Closed,
}

#[derive(Clone, Copy)]
struct LabelState {
    construct: Construct,
    /// True if a reachable `Break` names it.
    left: bool,
    /// True if a reachable `Continue` names it.
    continued: bool,
}

/// The walk over one function.
pub(super) struct Checker<'a> {
    pub(super) errors: &'a mut Errors,
    pub(super) module: &'a Module,
    pub(super) formats: &'a [Option<Vec<ArgKind>>],
    pub(super) func: &'a Function,
    defined: Vec<Defined>,
    /// Values of the open blocks, innermost last.
    in_scope: Vec<Value>,
    /// The truth of each `Bool` constant, where it is known.
    truth: Vec<Option<bool>>,
    labels: Vec<LabelState>,
    /// The statement at hand.
    pub(super) span: Span,
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        errors: &'a mut Errors,
        module: &'a Module,
        formats: &'a [Option<Vec<ArgKind>>],
        func: &'a Function,
    ) -> Self {
        Checker {
            errors,
            module,
            formats,
            func,
            defined: vec![Defined::No; func.values.len()],
            in_scope: Vec::new(),
            truth: vec![None; func.values.len()],
            labels: vec![
                LabelState { construct: Construct::Unseen, left: false, continued: false };
                func.labels as usize
            ],
            span: func.span,
        }
    }

    pub(super) fn run(mut self) {
        let ends = self.block(&self.func.body, true);
        if ends && self.func.ret.is_some() {
            self.span = self.func.span;
            self.error(format!("`{}` has a result and can run to its end", self.func.name));
        }
    }

    pub(super) fn error(&mut self, message: String) {
        self.errors.push(self.span, message);
    }

    /// Checks a block, reachable or not; true if its end is reachable.
    fn block(&mut self, block: &Block, mut reachable: bool) -> bool {
        if block.stmts.len() != block.spans.len() {
            self.error(format!("a block has {} statements and {} spans", block.stmts.len(), block.spans.len()));
        }
        let outer = self.in_scope.len();
        for (i, stmt) in block.stmts.iter().enumerate() {
            self.span = block.spans.get(i).copied().unwrap_or_default();
            reachable = self.stmt(stmt, reachable);
        }
        for v in self.in_scope.drain(outer..) {
            self.defined[v.index()] = Defined::OutOfScope;
        }
        reachable
    }

    /// Checks a statement, reachable or not; true if its end is reachable.
    fn stmt(&mut self, stmt: &Stmt, reachable: bool) -> bool {
        match stmt {
            Stmt::Let(v, op) => {
                self.let_op(*v, op);
                reachable
            }
            Stmt::Set(local, v) => {
                self.set(*local, *v);
                reachable
            }
            Stmt::Store { ptr, value, .. } => {
                self.expect(*ptr, Type::Ptr, "the pointer of a store");
                self.use_value(*value);
                reachable
            }
            Stmt::If { cond, then, els } => {
                self.expect(*cond, Scalar::Bool.into(), "the condition of an `if`");
                let known = self.truth.get(cond.index()).copied().flatten();
                let then_ends = self.block(then, reachable && known != Some(false));
                let els_ends = self.block(els, reachable && known != Some(true));
                then_ends || els_ends
            }
            Stmt::Loop { label, body, step } => self.repeat(*label, body, step, reachable),
            Stmt::Switch { label, value, cases } => self.switch(*label, *value, cases, reachable),
            Stmt::Scope { label, body } => {
                self.open(*label, Construct::Plain);
                let ends = self.block(body, reachable);
                self.close(*label) || ends
            }
            Stmt::Break(label) => {
                self.break_out(*label, reachable);
                false
            }
            Stmt::Continue(label) => {
                self.continue_loop(*label, reachable);
                false
            }
            Stmt::Return(value) => {
                self.return_value(*value);
                false
            }
            Stmt::Call { result, func, args, raised } => {
                self.call(*result, *func, args);
                if let Some(raised) = raised {
                    self.raised(*raised, *func);
                }
                reachable
            }
            Stmt::Printf { result, format, args } => {
                self.printf(*result, *format, args);
                reachable
            }
            Stmt::Assert { cond, .. } => {
                self.expect(*cond, Scalar::Bool.into(), "the condition of an `assert`");
                reachable
            }
            Stmt::Aligned { ptr, align } => {
                self.expect(*ptr, Type::Ptr, "the address of an alignment check");
                if !align.is_power_of_two() {
                    self.error("an alignment is no power of two".to_owned());
                }
                reachable
            }
            Stmt::Dispatch(_) => {
                if !self.func.kind.is_host() || self.func.params.first().is_none_or(|p| p.ty.ty() != Type::Ptr) {
                    self.error("a dispatch outside of a host function of an address".to_owned());
                }
                false
            }
            Stmt::Trap | Stmt::MissingReturn(_) => false,
            Stmt::Fence => reachable,
            Stmt::Barrier(_) => {
                self.barrier("a barrier");
                reachable
            }
            Stmt::Atomic { result, op, ptr, value, compare } => {
                self.atomic(*result, *op, *ptr, *value, *compare);
                reachable
            }
            Stmt::Collective { result, op, args } => {
                self.collective(*result, *op, args);
                reachable
            }
            Stmt::Service { result, service, args } => {
                self.service(*result, *service, args);
                reachable
            }
            Stmt::Launch { kernel, config, args } => {
                self.launch(*kernel, config, args);
                reachable
            }
        }
    }

    fn repeat(&mut self, label: Label, body: &Block, step: &Block, reachable: bool) -> bool {
        self.open(label, Construct::LoopBody);
        let ends = self.block(body, reachable);
        let continued = self.labels.get(label.index()).is_some_and(|state| state.continued);
        self.set_construct(label, Construct::LoopStep);
        self.block(step, ends || continued);
        self.close(label)
    }

    fn switch(&mut self, label: Label, value: Value, cases: &[Case], reachable: bool) -> bool {
        self.switch_values(value, cases);
        self.open(label, Construct::Plain);
        let mut ends = reachable && !cases.iter().any(|c| c.default);
        for (i, case) in cases.iter().enumerate() {
            let case_ends = self.block(&case.body, reachable);
            ends |= case_ends && (!case.falls_through || i + 1 == cases.len());
        }
        self.close(label) || ends
    }

    fn set(&mut self, local: Local, v: Value) {
        let ty = self.use_value(v);
        match self.func.locals.get(local.index()) {
            None => self.error(format!("local {local} does not exist")),
            Some(data) if ty.is_some_and(|ty| ty != data.ty) => {
                self.error(format!("local {local} of type {} is set to {v}", data.ty));
            }
            Some(_) => {}
        }
    }

    fn break_out(&mut self, label: Label, reachable: bool) {
        match self.construct(label) {
            Some(Construct::Plain | Construct::LoopBody | Construct::LoopStep) => {
                self.labels[label.index()].left |= reachable;
            }
            _ => self.error(format!("`break {label}` is in no construct of that label")),
        }
    }

    fn continue_loop(&mut self, label: Label, reachable: bool) {
        match self.construct(label) {
            Some(Construct::LoopBody) => self.labels[label.index()].continued |= reachable,
            Some(Construct::LoopStep) => self.error(format!("`continue {label}` is in the step of its loop")),
            _ => self.error(format!("`continue {label}` is in no loop of that label")),
        }
    }

    fn return_value(&mut self, value: Option<Value>) {
        let ty = value.map(|v| self.use_value(v));
        match (ty, self.func.ret) {
            (None, None) | (Some(None), Some(_)) => {}
            (Some(Some(ty)), Some(ret)) if ty == ret => {}
            (Some(Some(ty)), Some(ret)) => self.error(format!("`return` of {ty}, the result is {ret}")),
            (None, Some(_)) => self.error("`return` without a value in a function with a result".to_owned()),
            (Some(_), None) => self.error("`return` with a value in a function without a result".to_owned()),
        }
    }

    fn let_op(&mut self, v: Value, op: &Op) {
        let mut known = true;
        op.for_each_value(|o| known &= self.use_value(o).is_some());
        // An operand that is already reported says nothing about the op.
        if known
            && let Some(data) = self.func.values.get(v.index())
            && let Err(message) = types::check(self.module, self.func, op, data.ty)
        {
            self.error(format!("{v} = {op}: {message}"));
        }
        self.define(v);
        if let (Op::Const(Const::Bool(b)), Some(slot)) = (op, self.truth.get_mut(v.index())) {
            *slot = Some(*b);
        }
    }

    fn switch_values(&mut self, value: Value, cases: &[Case]) {
        let ty = self.use_value(value);
        let scalar = ty.and_then(Type::scalar).filter(|s| s.is_int());
        if ty.is_some() && scalar.is_none() {
            self.error(format!("a switch over {value}, which is no integer"));
        }
        let mut seen = HashSet::new();
        for &v in cases.iter().flat_map(|c| &c.values) {
            if !seen.insert(v) {
                self.error(format!("case {v} appears twice"));
            }
            if scalar.is_some_and(|s| !types::is_extended(s, v)) {
                self.error(format!("case {v} does not fit the switch's type"));
            }
        }
        if cases.iter().filter(|c| c.default).count() > 1 {
            self.error("a switch has two defaults".to_owned());
        }
    }

    /// Binds a value here.
    pub(super) fn define(&mut self, v: Value) {
        match self.defined.get(v.index()) {
            None => self.error(format!("value {v} does not exist")),
            Some(Defined::No) => {
                self.defined[v.index()] = Defined::InScope;
                self.in_scope.push(v);
            }
            Some(_) => self.error(format!("value {v} is defined twice")),
        }
    }

    /// The type of a value that may be used here; reports one that may not.
    pub(super) fn use_value(&mut self, v: Value) -> Option<Type> {
        match self.defined.get(v.index()) {
            Some(Defined::InScope) => Some(self.func.ty(v)),
            None => {
                self.error(format!("value {v} does not exist"));
                None
            }
            Some(Defined::No) => {
                self.error(format!("value {v} is used before its definition"));
                None
            }
            Some(Defined::OutOfScope) => {
                self.error(format!("value {v} is used outside the block that defines it"));
                None
            }
        }
    }

    /// Uses a value as something of type `ty`.
    pub(super) fn expect(&mut self, v: Value, ty: Type, what: impl Display) {
        if let Some(found) = self.use_value(v).filter(|&found| found != ty) {
            self.error(format!("{what} is {v} of type {found}, not {ty}"));
        }
    }

    fn construct(&self, label: Label) -> Option<Construct> {
        self.labels.get(label.index()).map(|l| l.construct)
    }

    fn set_construct(&mut self, label: Label, construct: Construct) {
        if let Some(state) = self.labels.get_mut(label.index()) {
            state.construct = construct;
        }
    }

    fn open(&mut self, label: Label, construct: Construct) {
        match self.construct(label) {
            None => self.error(format!("label {label} does not exist")),
            Some(Construct::Unseen) => {}
            Some(_) => self.error(format!("label {label} is defined twice")),
        }
        self.set_construct(label, construct);
    }

    /// Leaves a construct; true if a `Break` left it too.
    fn close(&mut self, label: Label) -> bool {
        self.set_construct(label, Construct::Closed);
        self.labels.get(label.index()).is_none_or(|l| l.left)
    }
}

//! Exceptions of host code: `try`, its handlers, and what goes when an exception leaves a block.
//!
//! In a text that has handlers every call of a host function says whether it raised ([`Stmt::Call`]), and where it did control goes to the
//! innermost *landing*: the end of what is tried, or of the function. There the objects go that were made in between, the last first, each
//! with a flag that says whether it is there. Then come the handlers; an exception that none of them takes goes on to the next landing, or
//! out of the function. A function that has nothing to clean up asks its calls nothing. The library's functions have no landings: what they
//! hold is memory of the call.
//!
//! Texts tell what may catch an object: the key of each type that it is, with the offset of that base in it.
//!
//! # Without handlers
//! `throw` is a call of the library that ends the call of host code with the class that pybind11 gives its exception (`Service::Raise`). No
//! destructor runs in a text without `try`, and none has to: the memory goes with the call. A text without `try` pays nothing.
//!
//! # With handlers
//! A call binds whether it raised, and a branch follows; the structured IR needs no other notion of exceptions. What is tried is a `Scope`
//! that the branch breaks out of, and so is a function that has objects to destroy. Statuses come up through the library's functions as
//! faults do; `services::catch` takes the exceptions among them out of the context, and memory faults, deadlines and interrupts pass. What
//! the run time or a `TORCH_CHECK` raises has a number, of which `__wb_land` makes an object of the class that torch or the standard
//! library has. `what()` is no virtual function: it is asked once, as the object is thrown.
//!
//! # Objects
//! Objects go at the end of their statement or scope; one that is made on one of several paths there has a flag that says so
//! (`Lowerer::note_cleanup`). An object made of parts counts those that are made (`Cleaned::Parts`), and a landing destroys so many. A
//! vector, which goes however far it has come, is zeros before its constructor begins. In a `noexcept` function, in any text, calls go to a
//! landing that ends the call (`Service::Terminate`); destructors are such functions.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Handler, Try};
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Cleaned, Landing, Lowerer, Side, Storage};
use crate::front::types::Ty;
use crate::ir::{Block, CompareOp, Const, FuncId, Label, Op, Scalar, Service, Stmt, Value};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// Calls a function; where an exception may come out of it and there is something to do about that, goes to the landing.
    pub(in crate::front::lower) fn push_call(&mut self, result: Option<Value>, func: FuncId, args: Vec<Value>) {
        let may_raise = self.module.func(func).kind.is_host();
        let is_live = self.f.b.is_live();
        let b = &mut self.f.b;
        let Some(landing) = self.f.landings.last_mut().filter(|_| may_raise) else {
            return b.push(Stmt::Call { result, func, args, raised: None });
        };
        landing.used |= is_live;
        let raised = b.func.new_value(Scalar::Bool.into(), b.span);
        b.push(Stmt::Call { result, func, args, raised: Some(raised) });
        b.open();
        b.push(Stmt::Break(landing.label));
        let then = b.close();
        b.push(Stmt::If { cond: raised, then, els: Block::default() });
    }

    fn ask(&mut self, service: Service, args: Vec<Value>, span: Span) -> Option<Value> {
        let b = self.at(span);
        let result = service.ret().map(|kind| b.func.new_value(kind.ty(), span));
        b.push(Stmt::Service { result, service, args });
        result
    }

    /// Opens a block that exceptions leave to go to what follows it.
    pub(in crate::front::lower) fn begin_landing(&mut self) {
        let label = self.f.b.func.new_label();
        self.f.landings.push(Landing { label, made: Vec::new(), used: false });
        self.f.b.open();
    }

    /// Ends the block of a whole function: what exceptions leave behind goes.
    pub(in crate::front::lower) fn end_of_landings(&mut self, span: Span) {
        let ended = self.f.b.has_ended();
        let mut body = self.f.b.close();
        let Some(landing) = self.f.landings.pop() else { return };
        if landing.made.is_empty() || !landing.used {
            let_through(&mut body, landing.label);
            return self.at(span).splice(body, ended);
        }
        self.at(span).push(Stmt::Scope { label: landing.label, body });
        self.clean_up(&landing, span);
        self.go_on(span);
    }

    /// Ends the block of a function that no exception leaves: one that would ends the call. Nothing goes then, as with GCC.
    pub(in crate::front::lower) fn end_of_noexcept(&mut self, span: Span) {
        let ended = self.f.b.has_ended();
        let mut body = self.f.b.close();
        let Some(landing) = self.f.landings.pop() else { return };
        if !landing.used {
            let_through(&mut body, landing.label);
            return self.at(span).splice(body, ended);
        }
        self.at(span).push(Stmt::Scope { label: landing.label, body });
        let name = self.add_string(&self.f.name.clone());
        let name = self.at(span).bind(crate::ir::Type::Ptr, Op::GlobalAddr(name));
        self.ask(Service::Terminate, vec![name], span);
        self.at(span).push(Stmt::Trap);
    }

    /// Objects that were made in a landing's block go.
    fn clean_up(&mut self, landing: &Landing, span: Span) {
        for cleanup in landing.made.iter().rev() {
            self.run_cleanup(cleanup, span);
        }
    }

    /// The exception in flight goes to the landing outside.
    fn go_on(&mut self, span: Span) {
        let is_live = self.f.b.is_live();
        match self.f.landings.last_mut() {
            Some(outer) => {
                outer.used |= is_live;
                let label = outer.label;
                self.at(span).push(Stmt::Break(label));
            }
            None => {
                self.ask(Service::Resume, Vec::new(), span);
                self.at(span).push(Stmt::Trap);
            }
        }
    }

    /// `try { .. } catch (..) { .. }`
    pub(super) fn try_stmt(&mut self, whole: &'a Try, span: Span) {
        if self.f.side != Side::Host {
            let message = "exceptions are not supported in device code";
            let help = "return an error code, or use `assert`";
            self.report(Diagnostic::error(Code::Unsupported, whole.land.span, message).help(help));
            return self.block_of(&whole.body.stmts, whole.body.span);
        }
        let depth = self.ask(Service::Depth, Vec::new(), span);
        let end = self.f.b.func.new_label();
        self.f.b.open();
        self.begin_landing();
        self.block_of(&whole.body.stmts, whole.body.span);
        let mut reaches_end = self.f.b.is_live();
        self.at(span).push(Stmt::Break(end));
        let body = self.f.b.close();
        let Some(landing) = self.f.landings.pop() else { return };
        self.at(span).push(Stmt::Scope { label: landing.label, body });
        if !landing.used {
            self.f.b.end_block();
        }
        self.clean_up(&landing, span);
        self.ask(Service::Land, depth.into_iter().collect(), span);
        let land = self.expr(&whole.land);
        self.effect(&land);
        let done = self.expr(&whole.done);
        for handler in &whole.handlers {
            reaches_end |= self.handler(handler, &done, end);
        }
        if self.f.b.is_live() {
            self.go_on(span);
        }
        let body = self.f.b.close();
        self.at(span).push(Stmt::Scope { label: end, body });
        if !reaches_end {
            self.f.b.end_block();
        }
    }

    fn block_of(&mut self, stmts: &'a [crate::front::ast::Stmt], span: Span) {
        self.scopes.open();
        let mark = self.begin_scope();
        for stmt in stmts {
            self.stmt(stmt);
        }
        self.end_scope(mark, span);
        self.scopes.close();
    }

    /// A handler; whether its end is reached.
    fn handler(&mut self, handler: &'a Handler, done: &Typed, end: Label) -> bool {
        let span = handler.span;
        let Some(param) = &handler.param else {
            return self.handles(handler, None, done, end);
        };
        let written = self.type_name(&param.ty);
        let caught = written.target().cloned().unwrap_or(written);
        if !caught.is_error() && !self.is_catchable(&caught, param.ty.span) || caught.is_error() {
            self.f.b.open();
            self.f.b.end_block();
            self.handles(handler, Some((Typed::error(span), false)), done, end);
            self.f.b.close();
            return false;
        }
        let key = self.add_string(&self.exception_key(&caught));
        let key = self.at(span).bind(crate::ir::Type::Ptr, Op::GlobalAddr(key));
        let Some(found) = self.ask(Service::CaughtAs, vec![key], span) else { return false };
        let b = self.at(span);
        let null = b.constant(Const::Null);
        let cond = b.compare(CompareOp::Ne, found, null);
        b.open();
        let var = self.nameless(caught.clone().reference(), Storage::Reference(found), span);
        let object = Typed::place(caught, span, Node::Var(var));
        let reaches = self.handles(handler, Some((object, true)), done, end);
        let then = self.f.b.close();
        self.at(span).push(Stmt::If { cond, then, els: Block::default() });
        reaches
    }

    /// The body of a handler, which has what it caught.
    fn handles(&mut self, handler: &'a Handler, object: Option<(Typed, bool)>, done: &Typed, end: Label) -> bool {
        let span = handler.span;
        self.ask(Service::BeginCatch, Vec::new(), span);
        self.scopes.open();
        let mark = self.begin_scope();
        self.note(Cleaned::Handler(Box::new(done.clone())));
        let name = handler.param.as_ref().and_then(|p| Some((p.name.as_ref()?, &p.ty)));
        if let (Some((object, fine)), Some((name, ty))) = (object, name) {
            match fine {
                true => self.range_variable(name, ty, object),
                false => self.declare(name.name, Decl::Place(object.into()), name.span),
            }
        }
        for stmt in &handler.body.stmts {
            self.stmt(stmt);
        }
        self.end_scope(mark, handler.body.span);
        self.scopes.close();
        let reaches = self.f.b.is_live();
        self.at(span).push(Stmt::Break(end));
        reaches
    }

    /// Exceptions of the type may exist ([except.handle]).
    fn is_catchable(&mut self, ty: &Ty, span: Span) -> bool {
        let whole = if let Some(to) = ty.pointee() { to.clone() } else { ty.clone() };
        if ty.is_void() || ty.is_array() {
            let message = format!("there are no exceptions of type `{ty}`");
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return false;
        }
        whole.is_void() || self.complete_type(&whole, span)
    }

    /// The key that tells a type among those of exceptions.
    fn exception_key(&self, ty: &Ty) -> String {
        let ty = ty.unqualified();
        match ty.as_struct() {
            Some(s) => {
                let place = self.class(s.id).span;
                format!("{}@{}:{}", s.name, place.file.0, place.start)
            }
            None => ty.to_string(),
        }
    }

    /// The types that an object of a type may be caught as: keys with offsets, a line each.
    pub(in crate::front::lower) fn exception_types(&self, ty: &Ty) -> String {
        let mut lines = String::new();
        self.tell_types(ty, 0, &mut lines);
        lines
    }

    fn tell_types(&self, ty: &Ty, offset: u32, lines: &mut String) {
        lines.push_str(&format!("{offset} {}\n", self.exception_key(ty)));
        if let Some(to) = ty.pointee() {
            self.tell_pointers(to, lines);
            let nothing = Ty::void().qualified(to.is_const, to.is_volatile);
            self.tell_pointers(&nothing, lines);
        }
        for (base, at) in ty.layout().into_iter().flat_map(|l| &l.bases) {
            self.tell_types(base, offset + at, lines);
        }
    }
}

impl Lowerer<'_> {
    /// The types that a pointer converts to ([except.handle]) without a change of the address.
    fn tell_pointers(&self, to: &Ty, lines: &mut String) {
        for target in [to.clone(), to.clone().constant()] {
            lines.push_str(&format!("0 {}\n", self.exception_key(&target.pointer())));
        }
        for (base, at) in to.layout().into_iter().flat_map(|l| &l.bases) {
            if *at == 0 {
                self.tell_pointers(&base.clone().qualified(to.is_const, to.is_volatile), lines);
            }
        }
    }
}

/// Lets exceptions through that would go to a label only to leave the function.
fn let_through(block: &mut Block, label: Label) {
    let goes = |stmt: Option<&Stmt>, raised: Value| match stmt {
        Some(Stmt::If { cond, then, .. }) => {
            *cond == raised && matches!(then.stmts[..], [Stmt::Break(to)] if to == label)
        }
        _ => false,
    };
    let mut out = Block::default();
    let whole = std::mem::take(block);
    let mut stmts = whole.stmts.into_iter().zip(whole.spans).peekable();
    while let Some((mut stmt, span)) = stmts.next() {
        if let Stmt::Call { raised, .. } = &mut stmt
            && raised.is_some_and(|v| goes(stmts.peek().map(|(next, _)| next), v))
        {
            *raised = None;
            stmts.next();
        }
        if matches!(stmt, Stmt::Break(to) if to == label) {
            out.push(Stmt::Service { result: None, service: Service::Resume, args: Vec::new() }, span);
            stmt = Stmt::Trap;
        }
        for inner in stmt.blocks_mut() {
            let_through(inner, label);
        }
        out.push(stmt, span);
    }
    *block = out;
}

//! The body of a function: its parameters, its statements, its end.
//!
//! A function for both sides that does what only the host can, and that nothing of the device reaches, is lowered once more as the host's.

use super::usage::{Callee, Usage};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp, Compound, Expr, Ident, ParamDecl, Symbol};
use crate::front::builtins::{self, Lower};
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed, VarId};
use crate::front::lower::scopes::names::{Callable, Decl};
use crate::front::lower::{Body, FuncState, InstanceContext, Lowerer, Progress, Role, Side, Storage, Variable};
use crate::front::types::{Kind, StructTy, Ty};
use crate::ir::layout::{Member, MemberType, StructLayout};
use crate::ir::{
    Builder, Const, Elem, FuncId, Function, Identity, KnownFunction, Op, Param, ParamType, Scalar, SlotData, Stmt, Type,
};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Most threads of a block, CUDA's limit, which bounds `__launch_bounds__` too.
const MAX_THREADS: i64 = 1024;
/// Largest struct parameter of a kernel, CUDA's limit.
const MAX_PARAMETER: u32 = 4096;

impl<'a> Lowerer<'a> {
    /// Lowers a function's body into the module, whatever else is being lowered. One for both sides that does what only the host can is the
    /// host's, where nothing of the device calls it: compilers check it for the device no sooner.
    pub(in crate::front::lower) fn lower_body(&mut self, index: FuncIndex) {
        let before = self.diags.len();
        self.lower_body_once(index);
        let both = self.func(index).side == Side::Both && self.func(index).progress == Progress::Done;
        let wrong = |d: &Diagnostic| d.is_error() && d.code == Code::WrongSide;
        if !both || !self.diags.get(before..).is_some_and(|new| new.iter().any(wrong)) || self.is_of_device(index) {
            return;
        }
        let Some(body) = self.func(index).code.map(|code| code.body.span) else { return };
        let within = |d: &Diagnostic| d.span.file == body.file && (body.start..body.end).contains(&d.span.start);
        let (own, others): (Vec<_>, Vec<_>) = self.diags.drain(before..).partition(within);
        self.diags.extend(others);
        let after = self.diags.len();
        let info = self.func_mut(index);
        (info.side, info.progress) = (Side::Host, Progress::Idle);
        let id = self.func_id(index);
        self.module.functions[id.index()] = self.empty_function(index);
        self.lower_body_once(index);
        if self.diags.get(after..).is_some_and(|new| new.iter().any(|d| d.is_error() && within(d))) {
            self.diags.truncate(after);
            self.diags.extend(own);
        }
    }

    /// The function is called by what runs on the device, directly or through others.
    fn is_of_device(&self, index: FuncIndex) -> bool {
        let mut seen = vec![index];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            let info = self.func(at);
            if matches!(info.side, Side::Kernel | Side::Device) {
                return true;
            }
            for caller in &info.callers {
                if !seen.contains(caller) {
                    seen.push(*caller);
                }
            }
        }
        false
    }

    fn lower_body_once(&mut self, index: FuncIndex) {
        let Some(code) = self.func(index).code else { return };
        if self.func(index).broken || matches!(self.func(index).progress, Progress::Done | Progress::Running) {
            return;
        }
        let id = self.func_id(index);
        if self.func(index).progress == Progress::Done || self.is_defined_elsewhere(index) {
            self.func_mut(index).progress = Progress::Done;
            return;
        }
        if self.func(index).side == Side::Host {
            self.hand_over();
        }
        self.func_mut(index).progress = Progress::Running;
        let own = self.context_of_body(index);
        let context = std::mem::replace(&mut self.context, own);
        let identity = self.identity(index);
        let known = self.known_before(index, identity);
        // Declarations of the user's text mean nothing to the library.
        let saw = self.scopes.see_library(identity.is_some());
        let body_scope = self.body_scope(self.func(index).scope);
        let here = self.scopes.enter(body_scope);
        let state = self.state_of_body((index, id), code.body, known.is_some());
        let outer = std::mem::replace(&mut self.f, state);
        let depth = self.depth;
        self.declare_parameters(index, code.params);
        self.lower_statements(index, code, known.is_some());
        self.scopes.see_library(saw);
        self.depth = depth;
        self.scopes.enter(here);
        let state = std::mem::replace(&mut self.f, outer);
        self.context = context;
        self.keep_lowered((index, id), state, identity, known);
    }

    /// The instance that what is wrong in a body is said of: that of the function, or, where it is of the library, the call that needs it.
    fn context_of_body(&self, index: FuncIndex) -> Option<Rc<InstanceContext>> {
        let info = self.func(index);
        match info.called {
            Some(span) if info.this.is_some() && self.in_library(info.whole) => {
                let outer = info.called_in.clone().or_else(|| info.context.clone());
                Some(Rc::new(InstanceContext { what: info.display.clone(), span, outer }))
            }
            _ => info.context.clone(),
        }
    }

    /// The state in which the body of a function is lowered; one that is known is not looked at.
    fn state_of_body(&mut self, (index, id): (FuncIndex, FuncId), body: &'a Compound, is_known: bool) -> FuncState<'a> {
        let info = self.func(index);
        let (name, whole, side, bounds) = (info.display.clone(), info.whole, info.side, info.bounds);
        let (ret, auto) = (info.ret.clone(), info.auto);
        let max_threads = self.launch_bounds(bounds);
        let symbol = self.inline_symbol(index);
        let mut func = self.module.functions[id.index()].clone();
        (func.span, func.max_threads) = (whole, max_threads);
        func.library = self.in_library(whole);
        // The library's own functions are the same in every text, whatever its options; what is inlined into a kernel is the kernel's.
        func.contracts = self.fmad && (side == Side::Kernel || side == Side::Device && !func.library);
        let usage = if is_known {
            Usage::default()
        } else {
            let taking = self.taking_operators(side);
            Usage::scan(body, &taking, &mut |name| self.callee(name))
        };
        self.serials += 1;
        FuncState {
            b: Builder::new(func),
            side,
            inside: true,
            index: Some(index),
            name,
            ret,
            auto,
            usage,
            serial: self.serials,
            symbol,
            ..FuncState::outside()
        }
    }

    /// Declares `this` and the parameters, those of a pack among them, and the place of a result in memory.
    fn declare_parameters(&mut self, index: FuncIndex, written: &'a [ParamDecl]) {
        let info = self.func(index);
        let (this, whole, params) = (info.this.clone(), info.whole, info.params.clone());
        if let Some(this) = &this {
            self.declare_this(this, whole);
        }
        let mut rest = params.into_iter();
        for param in written {
            if param.pack {
                let after = written.iter().rev().take_while(|p| !p.pack).count();
                let count = rest.len().saturating_sub(after);
                let ids: Vec<VarId> = rest
                    .by_ref()
                    .take(count)
                    .filter_map(|ty| self.declare_parameter(param.name, ty, param.span, false))
                    .collect();
                if let Some(name) = param.name {
                    self.declare(name.name, Decl::Vars(ids.into()), name.span);
                }
                continue;
            }
            let Some(ty) = rest.next() else { break };
            self.declare_parameter(param.name, ty, param.span, true);
        }
        self.f.result = self.f.b.func.params.len() as u32;
        if self.f.side == Side::Kernel {
            self.launch_defaults(index);
        }
    }

    /// The statements of a body, with what a constructor or destructor does beside them and where exceptions land. Of one that is known there
    /// are none.
    fn lower_statements(&mut self, index: FuncIndex, code: Body<'a>, is_known: bool) {
        let info = self.func(index);
        let (role, name) = (info.role, info.name);
        let is_own = self.f.side == Side::Host && !is_known && !self.f.b.func.library;
        let keeps = code.noexcept && is_own;
        if self.catches && is_own || keeps {
            self.begin_landing();
        }
        if !is_known {
            if role == Role::Constructor {
                self.member_initialisers(index, code.inits);
            }
            // A body is in the scope of the parameters: redeclaring one is an error.
            for stmt in &code.body.stmts {
                self.stmt(stmt);
            }
            if role == Role::Destructor {
                self.destroy_members(index, code.body.span);
            }
            self.end_of_body(name, code.body);
        }
        if keeps {
            self.end_of_noexcept(code.body.span);
        } else if self.catches && is_own {
            self.end_of_landings(code.body.span);
        }
    }

    /// Puts what was lowered, or what was known before, into the module.
    fn keep_lowered(
        &mut self,
        (index, id): (FuncIndex, FuncId),
        state: FuncState<'a>,
        identity: Option<Identity>,
        known: Option<KnownFunction>,
    ) {
        let (side, ret) = (state.side, state.ret.clone());
        let mut func = state.b.finish();
        func.identity = identity.filter(|_| !state.is_own);
        match known {
            None => {}
            Some(KnownFunction::Body(body)) => {
                let Function { values, locals, slots, labels, body, .. } = body.clone();
                func = Function { values, locals, slots, labels, body, ..func };
            }
            Some(KnownFunction::Kept(kept)) => {
                let empty = Function::new(func.name, func.kind, func.span);
                func = Function { params: func.params, library: true, identity, kept: Some(kept), ..empty };
            }
        }
        let whole = self.func(index).whole;
        if ret.is_struct() {
            let ty = ParamType::Ptr { elem: self.element(&ret), is_const: false };
            func.params.push(Param::new("result", ty, whole));
        }
        let info = self.func_mut(index);
        info.progress = Progress::Done;
        if info.auto.take().is_some() {
            info.broken |= ret.is_error();
            info.ret = ret.clone();
        }
        func.ret = ret.ir();
        self.note_definition(index);
        if let Some(identity) = func.identity.filter(|_| !self.links.is_single()) {
            self.links.add_library(identity, id);
        }
        self.module.functions[id.index()] = func;
        self.is_whole(id, side);
    }

    /// The result type of a function, its body looked at if it takes that. Reports recursion that needs its own result.
    pub(in crate::front::lower) fn known_result(&mut self, index: FuncIndex, span: Span) -> bool {
        if self.func(index).auto.is_none() {
            return true;
        }
        match self.func(index).progress {
            Progress::Idle | Progress::Queued => {
                if self.func(index).code.is_none() {
                    return false;
                }
                // The body is lowered for good even if it is only tried: it may be needed again, and only its errors are lost.
                let Some(outer) = self.push_context(self.func(index).display.clone(), span) else {
                    self.func_mut(index).broken = true;
                    return false;
                };
                self.lower_body(index);
                self.context = outer;
                !self.func(index).broken
            }
            Progress::Running => {
                let name = self.func(index).display.clone();
                let message = format!("`{name}` is called before its `auto` result is known");
                self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write the result's type"));
                false
            }
            Progress::Done => !self.func(index).broken,
        }
    }

    fn end_of_body(&mut self, name: Symbol, body: &'a Compound) {
        if !self.f.b.is_live() {
            // Nothing is returned by what always throws.
            if self.f.auto.take().is_some() && self.f.ret.is_error() {
                self.f.ret = Ty::void();
            }
            return;
        }
        let close = Span { start: body.span.end.saturating_sub(1).max(body.span.start), ..body.span };
        if self.f.auto.take().is_some() {
            self.f.ret = Ty::void();
        }
        if self.f.ret.is_void() || self.f.ret.is_error() {
            self.run_cleanups(0, close);
            self.at(close).push(Stmt::Return(None));
            return;
        }
        let inside = |d: &Diagnostic| {
            d.is_error() && d.span.file == body.span.file && (body.span.start..body.span.end).contains(&d.span.start)
        };
        // The refused statement in the body may well have been the `return`.
        if self.failed || self.diags.iter().any(inside) {
            return;
        }
        let message = format!(
            "`{}` returns `{}`, and its end can be reached without `return`",
            self.interner.name(name),
            self.f.ret
        );
        let place = self.f.b.func.span;
        let place = self.named_at(name, place);
        self.report(
            Diagnostic::warning(Code::MissingReturn, place, message)
                .related(close, "the end is here")
                .help("return a value on every path; reaching the end is a fault"),
        );
        let name = self.interner.name(name).to_owned();
        self.at(close).push(Stmt::MissingReturn(name));
    }

    /// The place in a declaration where its name stands.
    fn named_at(&self, name: Symbol, whole: Span) -> Span {
        self.funcs.iter().rev().find(|f| f.name == name && f.whole == whole).map_or(whole, |f| f.span)
    }

    fn launch_bounds(&mut self, bounds: &'a [Expr]) -> Option<u32> {
        let first = bounds.first()?;
        let n = self.constant_integer(first, "the bound of `__launch_bounds__`")?;
        if !(1..=MAX_THREADS).contains(&n) {
            let message = format!("`__launch_bounds__` is between 1 and {MAX_THREADS} threads, not {n}");
            self.report(Diagnostic::error(Code::BadKernel, first.span, message));
            return None;
        }
        u32::try_from(n).ok()
    }

    /// The operators that may write their right operand: those that read from streams, and archives' `&`. Kernels shift bits; of those only
    /// what is declared counts.
    fn taking_operators(&mut self, side: Side) -> Vec<BinaryOp> {
        let mut taking = Vec::new();
        for (op, sign) in [(BinaryOp::Shr, ">>"), (BinaryOp::BitAnd, "&")] {
            let declared = match self.lookup(self.known.operators[sign]) {
                Some(Decl::Functions(set)) => set.iter().any(|c| match c {
                    Callable::Func(f) => {
                        self.func(*f).params.last().is_some_and(|p| p.is_reference() && !p.referred().is_const)
                    }
                    Callable::Template(_) => true,
                }),
                _ => false,
            };
            if declared || op == BinaryOp::Shr && side == Side::Host {
                taking.push(op);
            }
        }
        taking
    }

    /// The answer about a called name, for the scan for addresses.
    fn callee(&mut self, name: Symbol) -> Callee {
        match self.lookup(name) {
            Some(Decl::Functions(set)) => {
                let references = set.iter().any(|c| match c {
                    Callable::Func(f) => self.func(*f).params.iter().any(Ty::is_reference),
                    Callable::Template(_) => true,
                });
                // A parameter of the caller's may hide a builtin of that name.
                if references { Callee::References } else { Callee::Plain }
            }
            Some(Decl::Type(ty)) if !ty.is_struct() => Callee::Plain,
            Some(_) => Callee::References,
            None => {
                let text = self.interner.name(name);
                let outputs = builtins::lookup(text).iter().any(|s| matches!(s.lower, Lower::Outs(_)));
                match outputs {
                    true => Callee::Outputs,
                    false if builtins::is_function(text) || text.starts_with("__") => Callee::Plain,
                    false => Callee::Unknown,
                }
            }
        }
    }

    fn declare_this(&mut self, class: &Ty, span: Span) {
        let ty = ParamType::Ptr { elem: self.element(class), is_const: class.is_const };
        let at = self.f.b.func.params.len() as u32;
        self.f.b.func.params.push(Param::new("this".to_owned(), ty, span));
        let value = self.at(span).bind(Type::Ptr, Op::Param(at));
        self.f.this_value = Some(value);
        self.f.this = Some(Typed::value(class.clone().pointer(), span, Node::This));
    }

    /// The default arguments of a kernel that are constants, for launches that leave them out.
    fn launch_defaults(&mut self, index: FuncIndex) {
        let func = self.func(index);
        let (scope, name, types) = (func.scope, func.display.clone(), func.params.clone());
        let defaults = func.defaults.clone();
        for (i, (default, ty)) in defaults.into_iter().zip(types).enumerate() {
            let Some(default) = default else { continue };
            let here = self.scopes.enter(scope);
            // A default that is no constant, or not known here, has to be given by the caller.
            let (constant, fine) = self.quietly(|this| {
                let value = this.expr(default);
                if ty.pointee().is_some() {
                    // The only pointer that every caller can pass is null.
                    let null = matches!(value.ty.kind, Kind::Nullptr) || value.integer() == Some(0);
                    return null.then_some(Const::Null);
                }
                let value = this.argument(value, &ty, i + 1, &name);
                this.folded(value).constant()
            });
            self.scopes.enter(here);
            let constant = constant.filter(|_| fine);
            if let Some(param) = self.f.b.func.params.get_mut(i) {
                param.default = constant;
            }
        }
    }

    pub(super) fn declare_parameter(
        &mut self,
        name: Option<Ident>,
        ty: Ty,
        span: Span,
        declare: bool,
    ) -> Option<VarId> {
        let i = self.f.b.func.params.len();
        let text = name.map_or_else(|| format!("arg{i}"), |n| self.text(&n).to_owned());
        let kernel = self.f.side == Side::Kernel;
        self.complete_type(&ty, span);
        let param_ty = self.param_type(&ty, kernel);
        let mut param = Param::new(text.clone(), param_ty, span);
        if let Some(s) = ty.as_struct().filter(|_| kernel) {
            param.layout = self.struct_layout(s).map(Arc::new);
        }
        if kernel && let Kind::Pointer(inner) = &ty.kind {
            let inner = inner.innermost();
            self.try_complete(inner);
            param.pointee = self.pointee(inner).map(Arc::new);
        }
        self.f.b.func.params.push(param);
        let value = self.at(span).bind(param_ty.ty(), Op::Param(i as u32));
        let name = name?;
        let symbol = name.name;
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if ty.is_reference() {
            Storage::Reference(value)
        } else if ty.is_struct() && !kernel {
            // The caller has made a copy for this call.
            Storage::Reference(value)
        } else if ty.is_struct() {
            let size = ty.size().unwrap_or(1);
            if size > MAX_PARAMETER {
                let message = format!("`{text}` takes {size} bytes, and a kernel's parameter may have {MAX_PARAMETER}");
                self.report(
                    Diagnostic::error(Code::BadKernel, span, message).help("pass a pointer to the data instead"),
                );
                Storage::Nowhere
            } else {
                let slot = self.slot(text, size, ty.align(), ty.uniform(), span);
                let to = self.at(span).bind(Type::Ptr, Op::SlotAddr(slot));
                self.copy(to, value, &ty.unqualified(), span);
                Storage::Slot(slot)
            }
        } else if self.f.usage.is_taken(symbol) || ty.is_volatile {
            let size = param_ty.ty().size();
            let slot = self.f.b.func.new_slot(SlotData { name: text, size, align: size, elem: ty.scalar() });
            let b = self.at(span);
            let ptr = b.bind(Type::Ptr, Op::SlotAddr(slot));
            b.store(ptr, value, ty.is_volatile);
            self.f.stack += u64::from(size);
            Storage::Slot(slot)
        } else if self.f.usage.is_assigned(symbol) {
            let local = self.f.b.func.new_local(text, param_ty.ty());
            self.at(span).push(Stmt::Set(local, value));
            Storage::Local(local)
        } else {
            Storage::Value(value)
        };
        let owner = self.f.serial;
        let id = self.add_var(Variable { name: symbol, ty, span: name.span, storage, constant: None, owner });
        if declare {
            self.declare(symbol, Decl::Var(id), name.span);
        }
        Some(id)
    }

    pub(in crate::front::lower) fn add_var(&mut self, var: Variable) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    /// A function of its own for something that no text declares: an initialiser to be evaluated.
    pub(in crate::front::lower) fn in_scratch<T>(
        &mut self,
        ret: Option<Type>,
        what: impl FnOnce(&mut Self) -> T,
    ) -> (T, Function) {
        let mut func = Function::new("", crate::ir::FuncKind::Device, Span::NONE);
        func.ret = ret;
        self.serials += 1;
        let state = FuncState {
            b: Builder::new(func),
            side: self.f.side,
            inside: true,
            serial: self.serials,
            this: self.f.this.clone(),
            ..FuncState::outside()
        };
        let outer = std::mem::replace(&mut self.f, state);
        let result = what(self);
        let state = std::mem::replace(&mut self.f, outer);
        if state.foreign.is_some() {
            self.f.foreign = state.foreign;
        }
        self.f.is_own |= state.is_own;
        (result, state.b.finish())
    }

    /// A context for messages, shared.
    pub(in crate::front::lower) fn context_of(&self) -> Option<Rc<InstanceContext>> {
        self.context.clone()
    }
}

impl Lowerer<'_> {
    /// The layout of a struct, for the host that fills it.
    fn struct_layout(&self, s: &StructTy) -> Option<StructLayout> {
        let layout = s.layout.get()?;
        if let Some(elem) = self.half(s) {
            let value = Member { name: String::new(), offset: 0, ty: MemberType::Scalar(elem) };
            return Some(StructLayout { name: s.name.clone(), size: layout.size, members: vec![value] });
        }
        let mut members = Vec::new();
        let mut within = |inner: Option<StructLayout>, offset: u32| {
            let inner = inner.into_iter().flat_map(|l| l.members);
            members.extend(inner.map(|m| Member { offset: m.offset + offset, ..m }));
        };
        for (base, offset) in &layout.bases {
            within(base.as_struct().and_then(|b| self.struct_layout(b)), *offset);
        }
        for field in &layout.fields {
            match (field.name, field.ty.as_struct()) {
                (Some(name), _) => {
                    let name = self.interner.name(name).to_owned();
                    let ty = match (field.bits, field.ty.scalar()) {
                        (Some(bits), Some(scalar)) => MemberType::Bits(scalar, bits),
                        _ => self.member_type(&field.ty),
                    };
                    let member = Member { name, offset: field.offset, ty };
                    within(Some(StructLayout { name: String::new(), size: 0, members: vec![member] }), 0);
                }
                (None, Some(inner)) if !inner.is_union => within(self.struct_layout(inner), field.offset),
                (None, _) => {
                    let ty = MemberType::Opaque(field.ty.size().unwrap_or(0));
                    let member = Member { name: "union".to_owned(), offset: field.offset, ty };
                    within(Some(StructLayout { name: String::new(), size: 0, members: vec![member] }), 0);
                }
            }
        }
        Some(StructLayout { name: s.name.clone(), size: layout.size, members })
    }

    /// The type that a pointer to structs or to pointers points at; `None` for numbers, and for what is declared alone.
    fn pointee(&self, ty: &Ty) -> Option<MemberType> {
        match &ty.kind {
            Kind::Struct(s) if self.half(s).is_some() => None,
            Kind::Struct(s) => s.layout.get().map(|_| self.member_type(ty)),
            Kind::Pointer(_) => Some(self.member_type(ty)),
            _ => None,
        }
    }

    fn member_type(&self, ty: &Ty) -> MemberType {
        let opaque = MemberType::Opaque(ty.size().unwrap_or(0));
        match &ty.kind {
            Kind::Array(of, Some(count)) => MemberType::Array(Box::new(self.member_type(of)), *count),
            Kind::Struct(s) if s.is_union => opaque,
            Kind::Struct(s) if self.half(s).is_some() => self.half(s).map_or(opaque, MemberType::Scalar),
            Kind::Struct(s) => self.struct_layout(s).map_or(opaque, |l| MemberType::Struct(Box::new(l))),
            Kind::Pointer(_) | Kind::Reference(_) | Kind::RvalueReference(_) => match self.param_type(ty, true) {
                ParamType::Ptr { elem, is_const } => MemberType::Pointer { elem, is_const },
                _ => opaque,
            },
            _ => ty.scalar().map_or(opaque, |s| MemberType::Scalar(s.into())),
        }
    }

    /// The 16-bit float that one of our structs is.
    fn half(&self, s: &StructTy) -> Option<Elem> {
        let elem = match s.name.rsplit("::").next().unwrap_or("") {
            "__half" | "Half" => Elem::F16,
            "__nv_bfloat16" | "BFloat16" => Elem::BF16,
            _ => return None,
        };
        self.in_library(self.class(s.id).span).then_some(elem)
    }

    /// The element that a type is all made of; `None` when it is made of several types.
    fn element(&self, ty: &Ty) -> Option<Elem> {
        match &ty.kind {
            Kind::Array(of, _) => self.element(of),
            Kind::Struct(s) => {
                if let Some(half) = self.half(s) {
                    return Some(half);
                }
                let scalar = ty.uniform()?;
                if scalar != Scalar::U16 {
                    return Some(scalar.into());
                }
                // Made of the bits of 16-bit floats, or of numbers.
                let layout = s.layout.get()?;
                let parts = layout.bases.iter().map(|(b, _)| b).chain(layout.fields.iter().map(|f| &f.ty));
                let mut elems = parts.map(|part| self.element(part));
                let first = elems.next()??;
                elems.all(|e| e == Some(first)).then_some(first)
            }
            _ => ty.uniform().map(Elem::from),
        }
    }

    /// The declared type of a parameter, for launches and calls.
    fn param_type(&self, ty: &Ty, kernel: bool) -> ParamType {
        match &ty.kind {
            Kind::Pointer(inner) | Kind::Reference(inner) | Kind::RvalueReference(inner) => {
                let innermost = inner.innermost();
                ParamType::Ptr { elem: self.element(innermost), is_const: innermost.is_const }
            }
            Kind::Struct(_) if kernel => ParamType::Bytes { size: ty.size().unwrap_or(1), align: ty.align() },
            _ => match ty.scalar() {
                Some(scalar) => ParamType::Scalar(scalar),
                None => ParamType::Ptr { elem: None, is_const: false },
            },
        }
    }
}

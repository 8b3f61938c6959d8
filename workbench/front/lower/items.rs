//! Functions: their declarations, what may be declared, and the lowering of a body.

use super::names::Decl;
use super::tree::{FuncIndex, VarId};
use super::usage::{Callee, Usage};
use super::{Builder, FuncInfo, FuncState, Lowerer, Side, Storage, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Compound, FunctionDecl, Item, Specifiers, Symbol};
use crate::front::builtins::{self, Lower};
use crate::front::types::{Kind, Ty};
use crate::ir::{FuncId, FuncKind, Function, Op, Param, ParamType, SlotData, Stmt, Type};
use crate::source::Span;

/// Most threads of a block, CUDA's limit, which bounds `__launch_bounds__` too.
const MAX_THREADS: i64 = 1024;

fn side(specs: &Specifiers) -> Side {
    match (specs.global, specs.device, specs.host) {
        (true, ..) => Side::Kernel,
        (_, true, true) => Side::Both,
        (_, true, false) => Side::Device,
        _ => Side::Host,
    }
}

impl Lowerer<'_> {
    /// A function, defined or declared.
    pub(super) fn function(&mut self, decl: &FunctionDecl) {
        let side = side(&decl.specs);
        if side == Side::Host && self.needs_host_code(decl) {
            self.refuse_host_function(decl);
            return;
        }
        let ret = self.type_name(&decl.ret);
        let params: Vec<Ty> = decl.params.iter().map(|p| self.parameter(&p.ty)).collect();
        if side == Side::Kernel {
            self.check_kernel(decl, &ret, &params);
        } else if ret.is_array() {
            self.report(Diagnostic::error(Code::TypeMismatch, decl.ret.span, "a function cannot return an array"));
        }
        let index = self.declare_function(decl, side, ret, params);
        if let (Some(body), Some(index)) = (&decl.body, index) {
            self.body(decl, body, index);
        }
    }

    fn parameter(&mut self, ty: &crate::front::ast::TypeName) -> Ty {
        let resolved = self.type_name(ty);
        if resolved.is_void() {
            self.report(Diagnostic::error(Code::TypeMismatch, ty.span, "a parameter cannot be `void`"));
            return Ty::error();
        }
        // The parser has done so for arrays it saw; a typedef may still hide one.
        if resolved.is_array() { resolved.decayed() } else { resolved }
    }

    fn check_kernel(&mut self, decl: &FunctionDecl, ret: &Ty, params: &[Ty]) {
        let name = self.text(&decl.name).to_owned();
        if !ret.is_void() && !ret.is_error() {
            let message = format!("kernel `{name}` returns `{ret}`, and a kernel must return `void`");
            self.report(
                Diagnostic::error(Code::BadKernel, decl.ret.span, message)
                    .help("write the result through a pointer parameter"),
            );
        }
        if decl.specs.device || decl.specs.host {
            let message = format!("kernel `{name}` cannot also be `__device__` or `__host__`");
            self.report(Diagnostic::error(Code::BadKernel, decl.span, message).help("leave only `__global__`"));
        }
        for (param, ty) in decl.params.iter().zip(params) {
            if ty.is_reference() {
                let message = format!("a kernel cannot take `{ty}`: a launch passes values");
                self.report(Diagnostic::error(Code::BadKernel, param.span, message).help("take a value or a pointer"));
            }
        }
        if decl.specs.is_static && decl.body.is_none() {
            let message = format!("kernel `{name}` is declared `static` and needs a body here");
            self.report(Diagnostic::warning(Code::Incomplete, decl.span, message));
        }
    }

    /// Adds the function to its overload set, or finds its earlier declaration.
    fn declare_function(&mut self, decl: &FunctionDecl, side: Side, ret: Ty, params: Vec<Ty>) -> Option<FuncIndex> {
        let (symbol, span) = (decl.name.name, decl.name.span);
        let name = self.text(&decl.name).to_owned();
        let same =
            |a: &[Ty], b: &[Ty]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.unqualified() == y.unqualified());
        let set = match self.scopes.lookup(symbol) {
            Some(Decl::Functions(set)) => set.clone(),
            None => Vec::new(),
            Some(_) => {
                let old = self.scopes.span(symbol).unwrap_or(Span::NONE);
                let message = format!("`{name}` is declared twice");
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(old, "first declared here"));
                return None;
            }
        };
        let defines = decl.body.is_some();
        if let Some(&index) = set.iter().find(|&&f| same(&self.func(f).params, &params)) {
            let old = self.func(index);
            let (place, defined, broken) = (old.span, old.defined, old.broken);
            if broken {
                return None;
            }
            if old.ret != ret && !old.ret.is_error() && !ret.is_error() {
                let message = format!("`{name}` returns `{ret}` here and `{}` there", old.ret);
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(place, "first declared here"));
                return None;
            }
            if old.side != side {
                let message =
                    format!("`{name}` is declared twice with different `__device__`, `__host__` or `__global__`");
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(place, "first declared here"));
                return None;
            }
            if defined && defines {
                let message = format!("`{name}` is defined twice");
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(place, "first defined here"));
                return None;
            }
            self.add_defaults(decl, index);
            let info = &mut self.funcs[index.0 as usize];
            if defines {
                (info.defined, info.span) = (true, span);
            }
            return Some(index);
        }
        if side == Side::Kernel && !set.is_empty() {
            let place = self.func(set[0]).span;
            let message = format!("overloaded kernels are not supported: `{name}` names another function already");
            self.report(
                Diagnostic::error(Code::Unsupported, span, message)
                    .related(place, "the other one")
                    .help("give each a name of its own"),
            );
            return None;
        }
        let index = FuncIndex(self.funcs.len() as u32);
        let broken = ret.is_error() || params.iter().any(Ty::is_error);
        let defaults = vec![None; params.len()];
        self.funcs.push(FuncInfo {
            name: symbol,
            side,
            params,
            defaults,
            ret,
            span,
            id: None,
            defined: defines,
            called: None,
            broken,
        });
        match self.scopes.lookup_mut(symbol) {
            Some(Decl::Functions(set)) => set.push(index),
            _ => self.declare(symbol, Decl::Functions(vec![index]), span),
        }
        self.add_defaults(decl, index);
        Some(index)
    }

    /// Default arguments are checked where they are written.
    fn add_defaults(&mut self, decl: &FunctionDecl, index: FuncIndex) {
        for (i, param) in decl.params.iter().enumerate() {
            let at = index.0 as usize;
            if let Some(e) = &param.default {
                if self.funcs[at].side == Side::Kernel {
                    let message = "a kernel's parameter cannot have a default: a launch passes all of them";
                    self.report(Diagnostic::error(Code::BadKernel, e.span, message));
                    continue;
                }
                let e = self.expr(e);
                self.funcs[at].defaults[i] = Some(e);
            } else if i > 0 && self.funcs[at].defaults[i - 1].is_some() && self.funcs[at].defaults[i].is_none() {
                let message = "every parameter after one with a default needs a default too";
                self.report(Diagnostic::error(Code::ArgumentCount, param.span, message));
            }
        }
    }

    /// The handle of a function, made when first needed.
    fn func_id(&mut self, index: FuncIndex) -> FuncId {
        let info = &mut self.funcs[index.0 as usize];
        if let Some(id) = info.id {
            return id;
        }
        let id = FuncId::new(self.module.functions.len());
        info.id = Some(id);
        let kind = match info.side {
            Side::Kernel => FuncKind::Kernel,
            Side::Host => FuncKind::Host,
            Side::Device | Side::Both => FuncKind::Device,
        };
        let mut func = Function::new(self.interner.name(info.name), kind, info.span);
        func.ret = info.ret.ir();
        self.module.functions.push(func);
        id
    }

    /// Notes a call, for functions that turn out to have no body.
    pub(super) fn note_call(&mut self, index: FuncIndex, span: Span) {
        self.func_id(index);
        self.funcs[index.0 as usize].called.get_or_insert(span);
    }

    /// Reports functions that are called and have no body.
    pub(super) fn report_missing_bodies(&mut self) {
        let missing: Vec<(Span, Span, Symbol)> = self
            .funcs
            .iter()
            .filter(|f| !f.defined && !f.broken)
            .filter_map(|f| Some((f.called?, f.span, f.name)))
            .collect();
        for (call, place, name) in missing {
            let name = self.interner.name(name);
            let message = format!("`{name}` is called, and has no body");
            self.report(
                Diagnostic::error(Code::Incomplete, call, message)
                    .related(place, "only declared here")
                    .help(format!("define `{name}` in this text")),
            );
        }
    }

    /// Where a name is declared further down at namespace scope.
    pub(super) fn declared_later(&self, name: Symbol) -> Option<Span> {
        self.unit.items.iter().find_map(|item| match item {
            Item::Function(f) if f.name.name == name => Some(f.name.span),
            Item::Variables(d) => d.vars.iter().find(|v| v.name.name == name).map(|v| v.name.span),
            Item::Alias(a) if a.name.name == name => Some(a.name.span),
            _ => None,
        })
    }

    fn body(&mut self, decl: &FunctionDecl, body: &Compound, index: FuncIndex) {
        let id = self.func_id(index);
        let max_threads = self.launch_bounds(decl);
        let mut func = self.module.functions[id.index()].clone();
        (func.span, func.max_threads) = (decl.span, max_threads);
        let usage = {
            let this = &*self;
            Usage::scan(body, &|name| this.callee(name))
        };
        let info = self.func(index);
        let (side, ret, params) = (info.side, info.ret.clone(), info.params.clone());
        self.f = FuncState {
            b: Builder::new(func),
            side,
            inside: true,
            name: decl.name.name,
            ret,
            usage,
            first_var: self.vars.len(),
            ..FuncState::outside()
        };
        self.scopes.open();
        for (i, (param, ty)) in decl.params.iter().zip(params).enumerate() {
            self.declare_parameter(i, param.name, ty, param.span);
        }
        // A body is in the scope of the parameters: redeclaring one is an error.
        for stmt in &body.stmts {
            self.stmt(stmt);
        }
        self.end_of_body(decl, body);
        self.scopes.close();
        let state = std::mem::replace(&mut self.f, FuncState::outside());
        self.vars.truncate(state.first_var);
        self.module.functions[id.index()] = state.b.finish();
    }

    fn end_of_body(&mut self, decl: &FunctionDecl, body: &Compound) {
        if !self.f.b.is_live() {
            return;
        }
        let close = Span { start: body.span.end.saturating_sub(1).max(body.span.start), ..body.span };
        if self.f.ret.is_void() || self.f.ret.is_error() {
            self.at(close).push(Stmt::Return(None));
            return;
        }
        let inside = |d: &Diagnostic| {
            d.is_error() && d.span.file == body.span.file && (body.span.start..body.span.end).contains(&d.span.start)
        };
        // What was refused in the body may well have been the `return`.
        if self.diags.iter().any(inside) {
            return;
        }
        let message = format!(
            "`{}` returns `{}`, and its end can be reached without `return`",
            self.text(&decl.name),
            self.f.ret
        );
        self.report(
            Diagnostic::warning(Code::MissingReturn, decl.name.span, message)
                .related(close, "the end is here")
                .help("return a value on every path; reaching the end is a fault"),
        );
        let name = self.text(&decl.name).to_owned();
        self.at(close).push(Stmt::MissingReturn(name));
    }

    fn launch_bounds(&mut self, decl: &FunctionDecl) -> Option<u32> {
        let first = decl.launch_bounds.first()?;
        let n = self.constant_integer(first, "the bound of `__launch_bounds__`")?;
        if !(1..=MAX_THREADS).contains(&n) {
            let message = format!("`__launch_bounds__` is between 1 and {MAX_THREADS} threads, not {n}");
            self.report(Diagnostic::error(Code::BadKernel, first.span, message));
            return None;
        }
        u32::try_from(n).ok()
    }

    /// What the scan for addresses needs to know of a called name.
    fn callee(&self, name: Symbol) -> Callee {
        match self.scopes.lookup(name) {
            Some(Decl::Functions(set)) => {
                let references = set.iter().any(|&f| self.func(f).params.iter().any(Ty::is_reference));
                // A parameter of the caller's may hide a builtin of that name.
                if references { Callee::References } else { Callee::Plain }
            }
            Some(_) => Callee::Plain,
            None => {
                let outputs =
                    builtins::lookup(self.interner.name(name)).iter().any(|s| matches!(s.lower, Lower::Outs(_)));
                if outputs { Callee::Outputs } else { Callee::Plain }
            }
        }
    }

    fn declare_parameter(&mut self, i: usize, name: Option<crate::front::ast::Ident>, ty: Ty, span: Span) {
        let text = name.map_or_else(|| format!("arg{i}"), |n| self.text(&n).to_owned());
        let param_ty = param_type(&ty);
        self.f.b.func.params.push(Param { name: text.clone(), ty: param_ty, span });
        let value = self.at(span).bind(param_ty.ty(), Op::Param(i as u32));
        let Some(name) = name else { return };
        let symbol = name.name;
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if ty.is_reference() {
            Storage::Reference(value)
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
        let id = self.add_var(Variable { name: symbol, ty, span: name.span, storage, constant: None });
        self.declare(symbol, Decl::Var(id), name.span);
    }

    pub(super) fn add_var(&mut self, var: Variable) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }
}

/// The declared type of a parameter, for launches and calls.
fn param_type(ty: &Ty) -> ParamType {
    match &ty.kind {
        Kind::Pointer(inner) | Kind::Reference(inner) => {
            let innermost = inner.innermost();
            ParamType::Ptr { elem: innermost.scalar(), is_const: innermost.is_const }
        }
        _ => match ty.scalar() {
            Some(scalar) => ParamType::Scalar(scalar),
            None => ParamType::Ptr { elem: None, is_const: false },
        },
    }
}

//! Functions: their declarations, what may be declared, and when their bodies are lowered.

use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, Expr, FunctionDecl, FunctionKind, Ident, Item, ParamDecl, Specifiers, Symbol, TypeName,
};
use crate::front::link::Linkage;
use crate::front::lower::classes::access::Guard;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::host::launches::ENTRY;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Callable, Decl, ScopeId, ScopeKind, TArg};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::lower::{Body, FuncInfo, Lowerer, Progress, Role, Side, Storage, Variable};
use crate::front::types::{Kind, Ty};
use crate::ir::FuncId;
use crate::library::{LAND, THROW, THROW_OBJECT};
use crate::source::Span;

/// The side a function may run on by its specifiers. A `constexpr` one without any runs on both.
pub(in crate::front::lower) fn side(specs: &Specifiers) -> Side {
    match (specs.global, specs.device, specs.host) {
        (true, ..) => Side::Kernel,
        (_, true, true) => Side::Both,
        (_, true, false) => Side::Device,
        (_, false, false) if specs.constexpr => Side::Both,
        _ => Side::Host,
    }
}

/// Signature of a function as declared, before its types are known.
pub(in crate::front::lower) struct Signature<'a> {
    pub name: Symbol,
    pub display: String,
    pub span: Span,
    pub whole: Span,
    pub side: Side,
    pub role: Role,
    /// `None` for a lambda without one.
    pub ret: Option<&'a TypeName>,
    pub params: &'a [ParamDecl],
    pub code: Option<Body<'a>>,
    pub bounds: &'a [Expr],
    /// The scope its types and body are in.
    pub scope: ScopeId,
    pub this: Option<Ty>,
    pub constexpr: bool,
    /// It is for both sides by `constexpr` alone.
    pub unmarked: bool,
    pub deleted: bool,
    pub explicit: bool,
    pub guard: Guard,
    /// Types that `auto` stands for in its parameters.
    pub autos: Vec<Ty>,
    pub linkage: Linkage,
}

impl<'a> Signature<'a> {
    /// The signature of a declaration.
    pub fn of(decl: &'a FunctionDecl, display: String, scope: ScopeId) -> Self {
        let ident = decl.name.last();
        Signature {
            name: ident.name,
            display,
            span: ident.span,
            whole: decl.span,
            side: side(&decl.specs),
            role: match decl.kind {
                FunctionKind::Plain => Role::Plain,
                FunctionKind::Constructor => Role::Constructor,
                FunctionKind::Destructor => Role::Destructor,
                FunctionKind::Conversion(_) => Role::Conversion,
            },
            ret: Some(&decl.ret),
            params: &decl.params,
            code: body_of(decl),
            bounds: &decl.launch_bounds,
            scope,
            this: None,
            constexpr: decl.specs.constexpr,
            unmarked: decl.specs.constexpr && !decl.specs.device && !decl.specs.host,
            deleted: decl.is_deleted,
            explicit: decl.is_explicit,
            guard: None,
            autos: Vec::new(),
            linkage: linkage(&decl.specs),
        }
    }
}

/// The linkage of a function at namespace scope.
fn linkage(specs: &Specifiers) -> Linkage {
    match (specs.is_static, specs.inline || specs.constexpr, specs.extern_c) {
        (true, ..) => Linkage::Internal,
        (_, true, _) => Linkage::Inline,
        (_, _, true) => Linkage::C,
        _ => Linkage::External,
    }
}

impl Lowerer<'_> {
    /// The body throws, or checks as torch does.
    fn raises(&self, code: &Body<'_>) -> bool {
        let mut raises = false;
        mentioned_names::names_in_stmts(&code.body.stmts, &mut |name| {
            raises |= [THROW, THROW_OBJECT, LAND, "__wb"].contains(&self.interner.name(name));
        });
        raises
    }
}

/// The body that a definition runs.
pub(in crate::front::lower) fn body_of(decl: &FunctionDecl) -> Option<Body<'_>> {
    let body = decl.body.as_ref()?;
    let is_destructor = matches!(decl.kind, FunctionKind::Destructor);
    let noexcept = decl.specs.noexcept.unwrap_or(is_destructor);
    Some(Body { params: &decl.params, inits: &decl.ctor_inits, body, noexcept })
}

/// The function is a template without saying so: a parameter is `auto`.
pub(in crate::front::lower) fn has_auto(params: &[ParamDecl]) -> bool {
    params.iter().any(|p| p.ty.base.is_auto())
}

impl<'a> Lowerer<'a> {
    /// A function, defined or declared.
    pub(in crate::front::lower) fn function(&mut self, decl: &'a FunctionDecl) {
        if decl.name.global || decl.name.parts.len() > 1 {
            return self.out_of_line(decl);
        }
        match decl.templates.last() {
            Some(head) if head.params.is_empty() => return self.specialise_function(decl),
            Some(_) => return self.function_template(decl, None),
            None if has_auto(&decl.params) => return self.function_template(decl, None),
            None => {}
        }
        let side = side(&decl.specs);
        if self.is_main(decl) {
            return self.refuse_host_function(decl);
        }
        let display = self.text(&decl.name.last()).to_owned();
        if crate::front::parser::is_of_heap(&display) && !self.in_library(decl.span) {
            let message = format!("an `{display}` of one's own for all classes is not supported");
            let help = "declare it in the class whose objects it is for";
            self.report(Diagnostic::error(Code::Unsupported, decl.name.span, message).help(help));
            return;
        }
        let scope = self.scopes.current();
        let before = self.diags.len();
        let info = self.signature(Signature::of(decl, display, scope));
        if side == Side::Host && decl.body.is_none() && info.broken {
            // A declaration of a library's types that nobody here knows, and nobody needs.
            let unknown = |d: &Diagnostic| d.code == Code::UnknownName;
            let own: Vec<Diagnostic> = self.diags.drain(before..).filter(|d| !unknown(d)).collect();
            self.diags.extend(own);
            return;
        }
        if side == Side::Kernel {
            self.check_kernel(decl, &info.ret, &info.params);
        }
        let index = self.declare_function(decl, info);
        if let (Some(_), Some(index)) = (&decl.body, index)
            && (!self.in_library(decl.span) || self.text(&decl.name.last()).starts_with(ENTRY))
        {
            self.lower_body(index);
        }
    }

    /// The types of a signature, resolved in its scope.
    pub(in crate::front::lower) fn signature(&mut self, sig: Signature<'a>) -> FuncInfo<'a> {
        let here = self.scopes.enter(sig.scope);
        let auto = match sig.ret {
            None => Some(None),
            Some(ty) if sig.role == Role::Plain && matches!(ty.base, BaseType::Auto | BaseType::DecltypeAuto) => {
                Some(Some(ty))
            }
            Some(_) => None,
        };
        // A result written after `->` may mention the parameters.
        let mut params = Vec::new();
        let mut defaults = Vec::new();
        let mut autos = sig.autos.into_iter();
        self.scopes.open();
        for param in sig.params {
            if param.pack {
                let mut names = Vec::new();
                mentioned_names::names_in_type(&param.ty, &mut |n| names.push(n));
                let mut types = Vec::new();
                let expanded = if param.ty.base.is_auto() {
                    for auto in autos.by_ref() {
                        types.push(self.parameter(&param.ty, Some(&auto)));
                    }
                    true
                } else {
                    self.expand(&names, param.span, |this| {
                        let ty = this.parameter(&param.ty, None);
                        types.push(ty);
                    })
                };
                // An expansion that names no pack is reported, and stays one parameter of unknown type.
                if !expanded {
                    types = vec![Ty::error()];
                }
                defaults.resize(defaults.len() + types.len(), None);
                params.extend(types);
                continue;
            }
            let auto = if param.ty.base.is_auto() { autos.next() } else { None };
            let ty = self.parameter(&param.ty, auto.as_ref());
            if let Some(name) = param.name {
                self.declare_for_type(name, &ty);
            }
            params.push(ty);
            defaults.push(param.default.as_ref());
        }
        // It may mention the members and `this` as well.
        let this = sig.this.as_ref().map(|class| Typed::value(class.clone().pointer(), sig.span, Node::This));
        let outer = std::mem::replace(&mut self.f.this, this);
        let ret = match sig.ret {
            _ if auto.is_some() => Ty::error(),
            Some(ty) if sig.role == Role::Plain || sig.role == Role::Conversion => self.type_name(ty),
            _ => Ty::void(),
        };
        self.f.this = outer;
        self.scopes.close();
        self.scopes.enter(here);
        if ret.is_array() {
            let at = sig.ret.map_or(sig.span, |t| t.span);
            self.report(Diagnostic::error(Code::TypeMismatch, at, "a function cannot return an array"));
        }
        let broken = (ret.is_error() && auto.is_none()) || params.iter().any(Ty::is_error);
        // `std::swap` of tensors and the like: what is for both sides is for the host's where its types are.
        let of_host = sig.side == Side::Both
            && (params.iter().chain(&sig.this).chain([&ret]).any(|ty| self.is_of_host(ty, 0))
                || sig.unmarked && sig.code.as_ref().is_some_and(|code| self.raises(code)));
        FuncInfo {
            name: sig.name,
            display: sig.display,
            side: if of_host { Side::Host } else { sig.side },
            role: sig.role,
            params,
            defaults,
            ret,
            auto,
            span: sig.span,
            whole: sig.whole,
            id: None,
            defined: sig.code.is_some(),
            called: None,
            called_in: None,
            callers: Vec::new(),
            broken,
            code: sig.code,
            bounds: sig.bounds,
            scope: sig.scope,
            this: sig.this,
            constexpr: sig.constexpr,
            deleted: sig.deleted,
            explicit: sig.explicit,
            guard: sig.guard,
            progress: Progress::Idle,
            template: None,
            context: self.context.clone(),
            linkage: sig.linkage,
            symbol: None,
        }
    }

    /// The type is a class that only host code can make or destroy, or an instance of a template for one.
    fn is_of_host(&self, ty: &Ty, depth: u32) -> bool {
        const DEEPEST: u32 = 4;
        if depth > DEEPEST {
            return false;
        }
        match &ty.kind {
            Kind::Pointer(t) | Kind::Reference(t) | Kind::RvalueReference(t) | Kind::Array(t, _) => {
                self.is_of_host(t, depth + 1)
            }
            Kind::Struct(s) => {
                let class = self.class(s.id);
                let mut special = class.copies.iter().chain(&class.destructor);
                let args = class.template.iter().flat_map(|(_, args)| args.iter());
                let parts = s
                    .layout
                    .get()
                    .into_iter()
                    .flat_map(|l| l.fields.iter().map(|f| &f.ty).chain(l.bases.iter().map(|(b, _)| b)));
                special.any(|f| self.func(*f).side == Side::Host)
                    || parts.into_iter().any(|t| t.is_struct() && self.is_of_host(t, depth + 1))
                    || args.into_iter().any(|a| matches!(a, TArg::Type(t) if self.is_of_host(t, depth + 1)))
            }
            _ => false,
        }
    }

    /// A parameter's name, for what follows it in the declaration to ask its type.
    fn declare_for_type(&mut self, name: Ident, ty: &Ty) {
        let var = Variable {
            name: name.name,
            ty: ty.clone(),
            span: name.span,
            storage: Storage::Local(crate::ir::Local::new(0)),
            constant: None,
            owner: u32::MAX,
        };
        let id = self.add_var(var);
        self.declare(name.name, Decl::Var(id), name.span);
    }

    fn parameter(&mut self, ty: &'a TypeName, auto: Option<&Ty>) -> Ty {
        let resolved = self.type_with_auto(ty, auto);
        if resolved.is_void() {
            self.report(Diagnostic::error(Code::TypeMismatch, ty.span, "a parameter cannot be `void`"));
            return Ty::error();
        }
        // The parser has done so for arrays it saw; a typedef may still hide one.
        if resolved.is_array() || matches!(resolved.kind, Kind::Function(_)) { resolved.decayed() } else { resolved }
    }

    pub(in crate::front::lower) fn check_kernel(&mut self, decl: &'a FunctionDecl, ret: &Ty, params: &[Ty]) {
        let name = self.text(&decl.name.last()).to_owned();
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

    pub(in crate::front::lower) fn add_func(&mut self, info: FuncInfo<'a>) -> FuncIndex {
        self.funcs.push(info);
        FuncIndex(self.funcs.len() as u32 - 1)
    }

    /// Adds the function to its overload set, or finds its earlier declaration.
    fn declare_function(&mut self, decl: &'a FunctionDecl, info: FuncInfo<'a>) -> Option<FuncIndex> {
        let Ident { name: symbol, span } = decl.name.last();
        let name = self.interner.name(symbol).to_owned();
        let set = match self.here(symbol) {
            Some(Decl::Functions(set)) => set.clone(),
            None => Rc::new([]),
            Some(_) if self.in_library(self.scopes.span(symbol).unwrap_or(Span::NONE)) => Rc::new([]),
            Some(_) => {
                let old = self.scopes.span(symbol).unwrap_or(Span::NONE);
                let message = format!("`{name}` is declared twice");
                self.report(Diagnostic::error(Code::Redefinition, span, message).related(old, "first declared here"));
                return None;
            }
        };
        let side = info.side;
        let defines = decl.body.is_some();
        // A text that defines what the library has too means its own; one that declares it means the library's.
        let same = self.same_parameters(&set, &info.params, None);
        let theirs = same.filter(|i| {
            let of_library = self.in_library(self.func(*i).span);
            defines && of_library && !self.in_library(span)
        });
        let (set, same) = match theirs {
            Some(theirs) => {
                let rest: Rc<[Callable]> = set.iter().copied().filter(|c| *c != Callable::Func(theirs)).collect();
                self.scopes.redeclare(self.scopes.current(), symbol, Decl::Functions(rest.clone()), span);
                let same = self.same_parameters(&rest, &info.params, None);
                (rest, same)
            }
            None => (set, same),
        };
        if let Some(index) = same {
            let old = self.func(index);
            let (place, defined, broken) = (old.span, old.defined, old.broken);
            if broken {
                return None;
            }
            let same_ret = old.ret == info.ret || old.ret.is_error() || info.ret.is_error();
            if !same_ret {
                let message = format!("`{name}` returns `{}` here and `{}` there", info.ret, old.ret);
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
            let here = self.scopes.current();
            let params = info.params;
            let info = self.func_mut(index);
            if decl.specs.inline && info.linkage == Linkage::External {
                info.linkage = Linkage::Inline;
            }
            if defines {
                // `const` of a parameter itself is the definition's own matter.
                info.params = params;
                (info.defined, info.span, info.whole, info.scope) = (true, span, decl.span, here);
                info.code = body_of(decl);
            }
            if info.bounds.is_empty() {
                info.bounds = &decl.launch_bounds;
            }
            return Some(index);
        }
        let mut info = info;
        info.defaults.fill(None);
        if side == Side::Kernel {
            let overload = set.iter().any(|c| matches!(c, Callable::Func(f) if self.func(*f).side == Side::Kernel));
            if overload {
                // The first of a name has it alone, the others are told apart as C++ does.
                let params: Vec<String> = info.params.iter().map(ToString::to_string).collect();
                info.display = format!("{}({})", info.display, params.join(", "));
            }
            info.display = self.kernel_name(info.display);
        }
        let index = self.add_func(info);
        self.add_functions(symbol, &[Callable::Func(index)], span);
        self.add_defaults(decl, index);
        Some(index)
    }

    /// The name by which a launch calls a kernel: its own, with its namespace only where another has it already.
    fn kernel_name(&self, name: String) -> String {
        let taken = |name: &str| self.funcs.iter().any(|f| f.side == Side::Kernel && f.display == name);
        if !taken(&name) {
            return name;
        }
        let mut full = name;
        let mut at = Some(self.scopes.current());
        while let Some(scope) = at {
            if let Some(outer) = self.scopes.name(scope) {
                full = format!("{}::{full}", self.interner.name(outer));
            }
            at = self.scopes.parent(scope);
        }
        full
    }

    /// The function of a set that takes just these parameters.
    pub(in crate::front::lower) fn same_parameters(
        &self,
        set: &[Callable],
        params: &[Ty],
        this: Option<&Ty>,
    ) -> Option<FuncIndex> {
        set.iter().find_map(|c| match c {
            Callable::Func(index) => {
                let f = self.func(*index);
                let same = f.params.len() == params.len()
                    && f.params.iter().zip(params).all(|(x, y)| x.kind == y.kind)
                    && this.is_none_or(|t| f.this.as_ref().is_none_or(|o| o.is_const == t.is_const));
                same.then_some(*index)
            }
            Callable::Template(_) => None,
        })
    }

    /// Default arguments are checked where they are written, and taken again where they are used.
    fn add_defaults(&mut self, decl: &'a FunctionDecl, index: FuncIndex) {
        let at = index.0 as usize;
        let count = self.funcs[at].params.len();
        let mut is_past_pack = false;
        for (i, param) in decl.params.iter().enumerate() {
            if param.pack {
                is_past_pack = true;
                continue;
            }
            // A pack before it stands for any number of parameters.
            let i = if is_past_pack { (count + i).saturating_sub(decl.params.len()) } else { i };
            if let Some(e) = &param.default {
                if self.funcs[at].side == Side::Kernel {
                    // Nobody but a launch leaves it out: `launch_defaults` looks at it.
                    self.funcs[at].defaults[i] = Some(e);
                    continue;
                }
                let ty = self.funcs[at].params[i].clone();
                let value = self.expr(e);
                if value.is_error() || ty.is_error() {
                    self.funcs[at].broken |= value.is_error();
                } else {
                    let name = self.funcs[at].display.clone();
                    self.argument(value, &ty, i + 1, &name);
                }
                self.funcs[at].defaults[i] = Some(e);
            } else if i > 0 && self.funcs[at].defaults[i - 1].is_some() && self.funcs[at].defaults[i].is_none() {
                let message = "every parameter after one with a default needs a default too";
                self.report(Diagnostic::error(Code::ArgumentCount, param.span, message));
            }
        }
    }

    /// The handle of a function, made when first needed.
    pub(in crate::front::lower) fn func_id(&mut self, index: FuncIndex) -> FuncId {
        match self.func(index).id.or_else(|| self.linked_function(index)) {
            Some(id) => id,
            None => self.new_function(index),
        }
    }

    /// Notes a call: the body is wanted, if it is not there already.
    pub(in crate::front::lower) fn note_call(&mut self, index: FuncIndex, span: Span) {
        if self.unevaluated > 0 {
            return;
        }
        self.func_id(index);
        let info = &mut self.funcs[index.0 as usize];
        if info.called.is_none() {
            (info.called, info.called_in) = (Some(span), self.context.clone());
        }
        if let Some(caller) = self.f.index.filter(|c| self.f.side != Side::Host && !info.callers.contains(c)) {
            info.callers.push(caller);
        }
        if info.progress == Progress::Idle && info.code.is_some() && !info.broken {
            info.progress = Progress::Queued;
            self.enqueue(index);
        }
    }

    /// Has a body wait. What runs on the device goes first: others make code of it meanwhile.
    pub(in crate::front::lower) fn enqueue(&mut self, index: FuncIndex) {
        match self.func(index).side {
            Side::Kernel | Side::Device => self.device_queue.push_back(index),
            Side::Host | Side::Both => self.queue.push_back(index),
        }
    }

    /// Lowers the bodies that wait, once no other is being lowered.
    pub(in crate::front::lower) fn drain(&mut self) {
        if self.f.inside || self.quiet > 0 || self.scopes.lazy.is_declaring() {
            return;
        }
        while let Some(index) = self.device_queue.pop_front().or_else(|| self.queue.pop_front()) {
            if self.func(index).progress == Progress::Queued {
                self.lower_body(index);
            }
        }
    }

    /// Gives instances of templates that were called before their template had a body the body that it has now.
    pub(in crate::front::lower) fn complete_instances(&mut self) {
        loop {
            let open: Vec<FuncIndex> = (0..self.funcs.len())
                .filter(|i| {
                    let f = &self.funcs[*i];
                    f.called.is_some() && !f.defined && !f.broken && !f.deleted && f.code.is_none()
                })
                .map(|i| FuncIndex(i as u32))
                .collect();
            let completed = open.into_iter().filter(|index| self.complete_function(*index)).count();
            if completed == 0 {
                return;
            }
            self.drain();
        }
    }

    fn complete_function(&mut self, index: FuncIndex) -> bool {
        let Some((template, args)) = self.func(index).template.clone() else { return false };
        let TemplateKind::Function { decl, owner } = self.template(template).kind else {
            return false;
        };
        let Some(called) = self.func(index).called.filter(|_| decl.body.is_some()) else { return false };
        let display = self.func(index).display.clone();
        let Some(outer) = self.push_context(display.clone(), called) else { return false };
        let scope = self.instance_scope(template, &args);
        let mut sig = Signature::of(decl, display, scope);
        if let Some(owner) = owner {
            self.method_signature(&mut sig, decl, owner);
        }
        let (made, fine) = self.quietly(|this| this.signature(sig));
        self.context = outer;
        if !fine || made.broken {
            return false;
        }
        let info = self.func_mut(index);
        (info.params, info.code, info.scope, info.defined) = (made.params, made.code, made.scope, made.defined);
        (info.span, info.whole) = (made.span, made.whole);
        if info.bounds.is_empty() {
            info.bounds = made.bounds;
        }
        info.progress = Progress::Queued;
        self.enqueue(index);
        true
    }

    /// Reports a function that is called and has no body.
    pub(in crate::front::lower) fn report_missing_body(&mut self, name: &str, call: Span, place: Span) {
        let message = format!("`{name}` is called, and has no body");
        let diag = Diagnostic::error(Code::Incomplete, call, message).related(place, "only declared here");
        self.report(diag.help(format!("define `{name}` in this text")));
    }

    /// The place where a name is declared further down at namespace scope.
    pub(in crate::front::lower) fn declared_later(&self, name: Symbol) -> Option<Span> {
        self.unit.items.iter().find_map(|item| match item {
            Item::Function(f) if f.name.last().name == name => Some(f.name.span),
            Item::Variables(d) => d.vars.iter().find(|v| v.name.name == name).map(|v| v.name.span),
            Item::Alias(a) if a.name.name == name => Some(a.name.span),
            Item::Struct(s) => s.name.as_ref().filter(|n| n.last().name == name).map(|n| n.span),
            _ => None,
        })
    }

    /// A new scope for the body of a function, in that of its declaration.
    pub(in crate::front::lower) fn body_scope(&mut self, scope: ScopeId) -> ScopeId {
        self.scopes.create(ScopeKind::Block, scope, None)
    }
}

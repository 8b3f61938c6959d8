//! Templates: their declarations, their arguments, and the scope in which an instance has its parameters bound.

use std::collections::HashMap;
use std::rc::Rc;

use super::find::Found;
use super::names::{Callable, Decl, ScopeId, ScopeKind, TArg};
use super::tree::{FuncIndex, Node, TemplateIndex, Typed, VarId};
use super::{Context, Lowerer, walk};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Alias, BaseType, Declaration, Expr, ExprKind, FunctionDecl, Ident, Lambda, StructDecl, Symbol, TemplateArg,
    TemplateArgKind, TemplateHead, TemplateParam, TemplateParamKind, TypeName, VarDecl,
};
use crate::front::types::{Kind, StructTy, Ty};
use crate::ir::{Const, Scalar};
use crate::source::Span;

/// Most instances being made inside one another, as nvcc's front end has it.
pub(super) const MAX_INSTANCE_DEPTH: usize = 200;
/// Most instances of one text.
pub(super) const MAX_INSTANCES: u32 = 20_000;
/// Most elements of a pack.
const MAX_PACK: usize = 1024;

/// A partial specialisation.
pub struct Partial<'a> {
    pub params: &'a [TemplateParam],
    pub args: &'a [TemplateArg],
    pub decl: PartialDecl<'a>,
    pub scope: ScopeId,
}

/// What a partial specialisation specialises.
#[derive(Clone, Copy)]
pub enum PartialDecl<'a> {
    Struct(&'a StructDecl),
    Variable(&'a Declaration, &'a VarDecl),
}

/// What a template makes.
pub enum TemplateKind<'a> {
    /// Functions; the struct they are methods of.
    Function { decl: &'a FunctionDecl, owner: Option<u32> },
    /// The calls of a lambda whose parameters are `auto`.
    Lambda { lambda: &'a Lambda, owner: u32 },
    /// Structs; the definitions of members that stand outside.
    Struct { decl: &'a StructDecl, partials: Vec<Rc<Partial<'a>>>, members: Vec<&'a FunctionDecl> },
    /// Types.
    Alias(&'a Alias),
    /// Variables.
    Variable { decl: &'a Declaration, var: &'a VarDecl, partials: Vec<Rc<Partial<'a>>> },
}

/// What an instance is.
#[derive(Clone)]
pub enum Instance {
    Func(Option<FuncIndex>),
    Struct(Rc<StructTy>),
    Var(VarId),
    Type(Ty),
}

/// A template of the text.
pub struct Template<'a> {
    pub name: Symbol,
    pub span: Span,
    /// The scope it was declared in.
    pub scope: ScopeId,
    pub params: &'a [TemplateParam],
    pub kind: TemplateKind<'a>,
    pub instances: HashMap<Rc<[TArg]>, Instance>,
}

impl<'a> Lowerer<'a> {
    pub(super) fn template(&self, index: TemplateIndex) -> &Template<'a> {
        &self.templates[index.0 as usize]
    }

    pub(super) fn template_mut(&mut self, index: TemplateIndex) -> &mut Template<'a> {
        &mut self.templates[index.0 as usize]
    }

    pub(super) fn add_template(
        &mut self,
        name: Ident,
        params: &'a [TemplateParam],
        kind: TemplateKind<'a>,
    ) -> TemplateIndex {
        let scope = self.scopes.current();
        self.templates.push(Template {
            name: name.name,
            span: name.span,
            scope,
            params,
            kind,
            instances: HashMap::new(),
        });
        TemplateIndex(self.templates.len() as u32 - 1)
    }

    /// The innermost head of a declaration, which is its own; the others belong to what surrounds it.
    pub(super) fn own_head(heads: &'a [TemplateHead]) -> &'a [TemplateParam] {
        heads.last().map_or(&[], |h| h.params.as_slice())
    }

    /// `template <...> using X = ...;`
    pub(super) fn alias_template(&mut self, alias: &'a Alias) {
        let index = self.add_template(alias.name, Self::own_head(&alias.templates), TemplateKind::Alias(alias));
        self.declare(alias.name.name, Decl::Template(index), alias.name.span);
    }

    /// `template <...> constexpr T x = ...;` and its specialisations.
    pub(super) fn variable_template(&mut self, decl: &'a Declaration) {
        let params = Self::own_head(&decl.templates);
        for var in &decl.vars {
            let args = var.qualified.as_ref().and_then(|n| n.last_part().args.as_deref());
            let Some(args) = args else {
                let kind = TemplateKind::Variable { decl, var, partials: Vec::new() };
                let index = self.add_template(var.name, params, kind);
                self.declare(var.name.name, Decl::Template(index), var.name.span);
                continue;
            };
            let Some(Decl::Template(index)) = self.scopes.lookup(var.name.name) else {
                self.unknown(&var.name, var.name.span, "variable template");
                continue;
            };
            if params.is_empty() {
                let Some(given) = self.template_args(args) else { continue };
                let Some(full) = self.complete_args(index, &given, var.name.span) else { continue };
                let id = self.template_variable(decl, var);
                self.template_mut(index).instances.insert(full, Instance::Var(id));
            } else {
                let scope = self.scopes.current();
                let partial = Rc::new(Partial { params, args, decl: PartialDecl::Variable(decl, var), scope });
                if let TemplateKind::Variable { partials, .. } = &mut self.template_mut(index).kind {
                    partials.push(partial);
                }
            }
        }
    }

    /// Template arguments as written to their canonical form; `None` once reported.
    pub(super) fn template_args(&mut self, args: &'a [TemplateArg]) -> Option<Vec<TArg>> {
        let mut out = Vec::new();
        let mut fine = true;
        for arg in args {
            if arg.pack {
                let mut packs = Vec::new();
                let mut found = |s| packs.push(s);
                match &arg.kind {
                    TemplateArgKind::Type(ty) => walk::names_in_type(ty, &mut found),
                    TemplateArgKind::Expr(e) => {
                        walk::names_in_expr(e, &mut found);
                    }
                }
                let done = self.expand(&packs, arg.span, |this| {
                    let one = this.template_arg(arg);
                    fine &= one.is_some();
                    out.extend(one);
                });
                fine &= done;
            } else {
                match self.template_arg(arg) {
                    // A pack named where one argument stands: `f<Ts>` inside an expansion is bound already.
                    Some(one) => out.push(one),
                    None => fine = false,
                }
            }
        }
        fine.then_some(out)
    }

    fn template_arg(&mut self, arg: &'a TemplateArg) -> Option<TArg> {
        match &arg.kind {
            TemplateArgKind::Type(ty) => {
                if let (BaseType::Named(name), true) = (&ty.base, ty.layers.is_empty() && !ty.is_const) {
                    let (found, _) = self.quietly(|this| this.find(name));
                    match found {
                        Found::Template(index) => return Some(TArg::Template(index)),
                        Found::Constant(ty, c) => return Some(TArg::Value(ty, bits(c))),
                        _ => {}
                    }
                }
                let ty = self.type_name(ty);
                (!ty.is_error()).then_some(TArg::Type(ty))
            }
            TemplateArgKind::Expr(e) => self.template_value(e),
        }
    }

    fn template_value(&mut self, e: &'a Expr) -> Option<TArg> {
        if let ExprKind::Name(name) = &super::expr::bare(e).kind {
            let (found, _) = self.quietly(|this| this.find(name));
            match found {
                Found::Type(ty) => return (!ty.is_error()).then_some(TArg::Type(ty)),
                Found::Template(index) => return Some(TArg::Template(index)),
                Found::None => {
                    // A type that is built in.
                    let (ty, fine) = self.quietly(|this| this.named_type(name, name.span));
                    if fine && !ty.is_error() {
                        return Some(TArg::Type(ty));
                    }
                }
                _ => {}
            }
        }
        let typed = self.expr(e);
        self.constant_arg(typed)
    }

    /// A checked expression as a template argument.
    fn constant_arg(&mut self, typed: Typed) -> Option<TArg> {
        let function = match &typed.node {
            Node::AddrOf(inner) | Node::Decay(inner) => inner,
            _ => &typed,
        };
        match function.node {
            Node::Function(index) => return Some(TArg::Function(index)),
            Node::Overloads(at) => {
                let (set, explicit) = self.overloads[at as usize].clone();
                if let Some(index) = self.only_function(&set, explicit.as_deref()) {
                    return Some(TArg::Function(index));
                }
            }
            _ => {}
        }
        let typed = self.operand(typed);
        if typed.is_error() {
            return None;
        }
        let typed = self.folded(typed);
        let ty = typed.ty.clone();
        let integral = matches!(ty.kind, Kind::Enum(_)) || ty.num().is_some_and(|n| n.is_integral());
        match typed.constant() {
            Some(c) if integral => Some(TArg::Value(ty, bits(c))),
            Some(_) => {
                let message = format!("a template argument must be a type or an integer, not `{ty}`");
                self.report(Diagnostic::error(Code::TypeMismatch, typed.span, message));
                None
            }
            None => {
                self.not_constant(&typed, "a template argument");
                None
            }
        }
    }

    /// Runs something once for each element of the packs among some names, each pack's name bound to its element.
    pub(super) fn expand(&mut self, names: &[Symbol], span: Span, mut each: impl FnMut(&mut Self)) -> bool {
        let mut packs: Vec<(Symbol, Decl)> = Vec::new();
        for &name in names {
            if packs.iter().all(|(n, _)| *n != name)
                && let Some(decl @ (Decl::Pack(_) | Decl::Vars(_))) = self.scopes.lookup(name)
            {
                packs.push((name, decl));
            }
        }
        let length = |d: &Decl| match d {
            Decl::Pack(args) => args.len(),
            Decl::Vars(vars) => vars.len(),
            _ => 0,
        };
        let Some(len) = packs.first().map(|(_, d)| length(d)) else {
            let message = "this names no parameter pack, so `...` has nothing to expand";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("leave out `...`"));
            return false;
        };
        if packs.iter().any(|(_, d)| length(d) != len) {
            let message = "the packs expanded together have different lengths";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message));
            return false;
        }
        let here = self.scopes.current();
        for i in 0..len {
            let scope = self.scopes.create(ScopeKind::Block, here, None);
            for (name, decl) in &packs {
                let one = match decl {
                    Decl::Pack(args) => Self::bound(&args[i]),
                    Decl::Vars(vars) => Decl::Var(vars[i]),
                    _ => continue,
                };
                self.scopes.redeclare(scope, *name, one, span);
            }
            self.scopes.enter(scope);
            each(self);
            self.scopes.enter(here);
        }
        true
    }

    /// What a template parameter bound to an argument means.
    fn bound(arg: &TArg) -> Decl {
        match arg {
            TArg::Type(ty) => Decl::Type(ty.clone()),
            TArg::Value(ty, v) => {
                let scalar = ty.scalar().unwrap_or(Scalar::I32);
                Decl::Constant(ty.clone(), super::fold::convert(Const::Int(Scalar::I64, *v), scalar))
            }
            TArg::Function(index) => Decl::Functions(Rc::new([Callable::Func(*index)])),
            TArg::Template(index) => Decl::Template(*index),
            TArg::Pack(args) => Decl::Pack(args.clone()),
        }
    }

    /// Binds parameters to arguments in a scope.
    pub(super) fn bind(&mut self, scope: ScopeId, params: &'a [TemplateParam], args: &[TArg]) {
        for (param, arg) in params.iter().zip(args) {
            if let Some(name) = param.name {
                self.scopes.redeclare(scope, name.name, Self::bound(arg), name.span);
            }
        }
    }

    /// All arguments of a template: those given, and the defaults of the rest; packs gathered. `None` once reported.
    pub(super) fn complete_args(&mut self, index: TemplateIndex, given: &[TArg], span: Span) -> Option<Rc<[TArg]>> {
        let (params, scope, name, place) = {
            let t = self.template(index);
            (t.params, t.scope, self.interner.name(t.name).to_owned(), t.span)
        };
        let scope = self.scopes.create(ScopeKind::Template, scope, None);
        let mut rest = given.iter();
        let mut out: Vec<TArg> = Vec::new();
        for param in params {
            let arg = if param.pack {
                let all: Vec<TArg> = rest.by_ref().cloned().collect();
                if all.len() > MAX_PACK {
                    let message = format!("a parameter pack of more than {MAX_PACK}");
                    self.report(Diagnostic::error(Code::CodeLimit, span, message));
                    return None;
                }
                let all: Option<Vec<TArg>> =
                    all.into_iter().map(|a| self.fitted(param, a, scope, span, &name)).collect();
                TArg::Pack(all?.into())
            } else if let Some(arg) = rest.next() {
                self.fitted(param, arg.clone(), scope, span, &name)?
            } else {
                match self.default_arg(param, scope) {
                    Some(arg) => self.fitted(param, arg?, scope, span, &name)?,
                    None => {
                        let missing = param.name.map_or("", |n| self.interner.name(n.name)).to_owned();
                        let message = format!("template `{name}` needs an argument for `{missing}`");
                        self.report(
                            Diagnostic::error(Code::ArgumentCount, span, message).related(place, "declared here"),
                        );
                        return None;
                    }
                }
            };
            if let Some(ident) = param.name {
                self.scopes.redeclare(scope, ident.name, Self::bound(&arg), ident.span);
            }
            out.push(arg);
        }
        if rest.next().is_some() {
            let message = format!("template `{name}` takes {} arguments, and {} are given", params.len(), given.len());
            self.report(Diagnostic::error(Code::ArgumentCount, span, message).related(place, "declared here"));
            return None;
        }
        Some(out.into())
    }

    /// The default of a parameter: `None` when there is none, `Some(None)` once reported.
    pub(super) fn default_arg(&mut self, param: &'a TemplateParam, scope: ScopeId) -> Option<Option<TArg>> {
        let here = self.scopes.enter(scope);
        let arg = match &param.kind {
            TemplateParamKind::Type { default: Some(ty) } => {
                let ty = self.type_name(ty);
                Some((!ty.is_error()).then_some(TArg::Type(ty)))
            }
            TemplateParamKind::Value { default: Some(e), .. } => Some(self.template_value(e)),
            TemplateParamKind::Template { default: Some(name), .. } => Some(match self.find(name) {
                Found::Template(index) => Some(TArg::Template(index)),
                Found::Error => None,
                _ => {
                    self.unknown(&name.last(), name.span, "template");
                    None
                }
            }),
            _ => None,
        };
        self.scopes.enter(here);
        arg
    }

    /// An argument as its parameter wants it; `None` once reported.
    pub(super) fn fitted(
        &mut self,
        param: &'a TemplateParam,
        arg: TArg,
        scope: ScopeId,
        span: Span,
        template: &str,
    ) -> Option<TArg> {
        let name = param.name.map_or("", |n| self.interner.name(n.name)).to_owned();
        let wanted = match (&param.kind, &arg) {
            (TemplateParamKind::Type { .. }, TArg::Type(_))
            | (TemplateParamKind::Template { .. }, TArg::Template(_))
            | (_, TArg::Pack(_)) => return Some(arg),
            (TemplateParamKind::Type { .. }, _) => "a type",
            (TemplateParamKind::Template { .. }, _) => "a template",
            (TemplateParamKind::Value { ty, .. }, TArg::Value(from, v)) => {
                if ty.base.is_auto() {
                    return Some(arg);
                }
                let here = self.scopes.enter(scope);
                let to = self.type_name(ty).unqualified();
                self.scopes.enter(here);
                if to.is_error() {
                    return None;
                }
                let same_enum = matches!(to.kind, Kind::Enum(_)) && to.kind == from.kind;
                let number = to.num().is_some_and(|n| n.is_integral()) && from.arithmetic().is_some();
                if same_enum || number {
                    let scalar = to.scalar().unwrap_or(Scalar::I32);
                    let c = super::fold::convert(Const::Int(Scalar::I64, *v), scalar);
                    return Some(TArg::Value(to, bits(c)));
                }
                let message = format!("argument `{name}` of template `{template}` is `{to}`, not `{from}`");
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                return None;
            }
            (TemplateParamKind::Value { .. }, TArg::Function(_)) => return Some(arg),
            (TemplateParamKind::Value { .. }, _) => "a value",
        };
        let message = format!("argument `{name}` of template `{template}` must be {wanted}");
        self.report(Diagnostic::error(Code::TypeMismatch, span, message));
        None
    }

    /// Arguments as a name shows them: `<float, 4>`.
    pub(super) fn args_text(&self, args: &[TArg]) -> String {
        let mut parts = Vec::new();
        fn show(this: &Lowerer<'_>, arg: &TArg, parts: &mut Vec<String>) {
            match arg {
                TArg::Type(ty) => parts.push(ty.to_string()),
                TArg::Value(ty, v) => parts.push(match &ty.kind {
                    Kind::Num(crate::front::types::Num::Bool) => (*v != 0).to_string(),
                    Kind::Enum(e) => {
                        let constants = this.enum_constants.iter();
                        let name = constants.filter(|(id, ..)| *id == e.id).find(|(_, _, c)| bits(*c) == *v);
                        match name {
                            Some((_, n, _)) if e.scoped => format!("{}::{}", e.name, this.interner.name(*n)),
                            Some((_, n, _)) => this.interner.name(*n).to_owned(),
                            None => format!("({}){v}", e.name),
                        }
                    }
                    Kind::Num(n) if n.scalar() == Scalar::U64 => (*v as u64).to_string(),
                    _ => v.to_string(),
                }),
                TArg::Function(f) => parts.push(this.func(*f).display.clone()),
                TArg::Template(t) => parts.push(this.interner.name(this.template(*t).name).to_owned()),
                TArg::Pack(all) => all.iter().for_each(|a| show(this, a, parts)),
            }
        }
        args.iter().for_each(|a| show(self, a, &mut parts));
        format!("<{}>", parts.join(", "))
    }

    /// An instance of a template of structs, aliases or variables.
    pub(super) fn instantiate(&mut self, index: TemplateIndex, given: &[TArg], span: Span) -> Found {
        let Some(args) = self.complete_args(index, given, span) else { return Found::Error };
        if let Some(instance) = self.template(index).instances.get(&args) {
            return match instance.clone() {
                Instance::Struct(s) => Found::Type(Ty::new(Kind::Struct(s))),
                Instance::Var(id) => Found::Var(id),
                Instance::Type(ty) => Found::Type(ty),
                Instance::Func(_) => Found::Error,
            };
        }
        let what = format!("{}{}", self.interner.name(self.template(index).name), self.args_text(&args));
        match &self.template(index).kind {
            TemplateKind::Struct { .. } => {
                let ty = self.struct_instance(index, &args, what);
                self.template_mut(index).instances.insert(args, Instance::Struct(ty.clone()));
                Found::Type(Ty::new(Kind::Struct(ty)))
            }
            TemplateKind::Alias(alias) => {
                let alias = *alias;
                let Some(outer) = self.push_context(what, span) else { return Found::Error };
                let scope = self.instance_scope(index, &args);
                let here = self.scopes.enter(scope);
                let ty = self.type_name(&alias.ty);
                self.scopes.enter(here);
                self.context = outer;
                if ty.is_error() {
                    return Found::Error;
                }
                self.template_mut(index).instances.insert(args, Instance::Type(ty.clone()));
                Found::Type(ty)
            }
            TemplateKind::Variable { decl, var, partials } => {
                let (mut decl, mut var, partials) = (*decl, *var, partials.clone());
                let Some(outer) = self.push_context(what, span) else { return Found::Error };
                let mut scope = self.instance_scope(index, &args);
                match self.best_partial(&partials, &args, span) {
                    Ok(Some((partial, bound))) => {
                        if let PartialDecl::Variable(d, v) = partial.decl {
                            (decl, var) = (d, v);
                        }
                        scope = self.scopes.create(ScopeKind::Template, partial.scope, None);
                        self.bind(scope, partial.params, &bound);
                    }
                    Ok(None) => {}
                    Err(()) => return Found::Error,
                }
                let here = self.scopes.enter(scope);
                let id = self.template_variable(decl, var);
                self.scopes.enter(here);
                self.context = outer;
                self.template_mut(index).instances.insert(args, Instance::Var(id));
                Found::Var(id)
            }
            TemplateKind::Function { .. } | TemplateKind::Lambda { .. } => Found::Error,
        }
    }

    /// The scope of an instance: the template's own, with its parameters bound.
    pub(super) fn instance_scope(&mut self, index: TemplateIndex, args: &[TArg]) -> ScopeId {
        let (params, parent) = (self.template(index).params, self.template(index).scope);
        let scope = self.scopes.create(ScopeKind::Template, parent, None);
        self.bind(scope, params, args);
        scope
    }

    /// Notes what is being instantiated, for messages; gives back what was before. `None` once too deep, reported.
    pub(super) fn push_context(&mut self, what: String, span: Span) -> Option<Option<Rc<Context>>> {
        let depth = std::iter::successors(self.context.as_deref(), |c| c.outer.as_deref()).count();
        self.instances += 1;
        if depth >= MAX_INSTANCE_DEPTH || self.instances > MAX_INSTANCES {
            let message = if depth >= MAX_INSTANCE_DEPTH {
                format!("templates are instantiated more than {MAX_INSTANCE_DEPTH} deep: `{what}`")
            } else {
                format!("more than {MAX_INSTANCES} instances of templates")
            };
            self.report(
                Diagnostic::error(Code::NestingLimit, span, message)
                    .help("end the recursion with a specialisation or `if constexpr`"),
            );
            return None;
        }
        let outer = self.context.clone();
        self.context = Some(Rc::new(Context { what, span, outer: outer.clone() }));
        Some(outer)
    }

    /// The most specialised partial specialisation that fits, with its parameters' arguments; ambiguity is reported.
    pub(super) fn best_partial(
        &mut self,
        partials: &[Rc<Partial<'a>>],
        args: &[TArg],
        span: Span,
    ) -> Result<Option<(Rc<Partial<'a>>, Vec<TArg>)>, ()> {
        let mut fits: Vec<(Rc<Partial<'a>>, Vec<TArg>)> = Vec::new();
        for partial in partials {
            if let Some(bound) = self.match_partial(partial, args) {
                fits.push((partial.clone(), bound));
            }
        }
        let best = (0..fits.len()).find(|&i| {
            (0..fits.len()).all(|j| {
                i == j || {
                    let (a, b) = (fits[i].0.clone(), fits[j].0.clone());
                    self.partial_is_narrower(&a, &b)
                }
            })
        });
        match best {
            Some(i) => Ok(Some(fits.swap_remove(i))),
            None if fits.is_empty() => Ok(None),
            None => {
                let message = "several partial specialisations fit equally well";
                let mut diag = Diagnostic::error(Code::NoOverload, span, message);
                for (partial, _) in &fits {
                    if let Some(arg) = partial.args.first() {
                        diag = diag.related(arg.span, "this one fits");
                    }
                }
                self.report(diag);
                Err(())
            }
        }
    }

    /// Whether everything that fits one specialisation fits the other, and not the other way round.
    fn partial_is_narrower(&mut self, a: &Rc<Partial<'a>>, b: &Rc<Partial<'a>>) -> bool {
        let Some(unique) = self.unique_args(a) else { return false };
        let fits_b = self.match_partial(b, &unique).is_some();
        let Some(unique) = self.unique_args(b) else { return false };
        let fits_a = self.match_partial(a, &unique).is_some();
        fits_b && !fits_a
    }

    /// A specialisation's own arguments with its parameters standing for types and values of their own.
    fn unique_args(&mut self, partial: &Rc<Partial<'a>>) -> Option<Vec<TArg>> {
        let scope = self.scopes.create(ScopeKind::Template, partial.scope, None);
        let bound = self.invented(partial.params);
        self.bind(scope, partial.params, &bound);
        let here = self.scopes.enter(scope);
        let (args, fine) = self.quietly(|this| this.template_args(partial.args));
        self.scopes.enter(here);
        args.filter(|_| fine)
    }

    /// Arguments that are equal to nothing else.
    pub(super) fn invented(&mut self, params: &'a [TemplateParam]) -> Vec<TArg> {
        params
            .iter()
            .map(|param| {
                let one = match &param.kind {
                    TemplateParamKind::Type { .. } => TArg::Type(self.invented_type()),
                    TemplateParamKind::Value { .. } => {
                        self.instances += 1;
                        TArg::Value(Ty::int(), i64::from(i32::MIN) - i64::from(self.instances))
                    }
                    TemplateParamKind::Template { .. } => TArg::Type(self.invented_type()),
                };
                if param.pack { TArg::Pack(Rc::new([one])) } else { one }
            })
            .collect()
    }
}

/// A constant's value as 64 bits.
pub(super) fn bits(c: Const) -> i64 {
    match c {
        Const::Bool(b) => i64::from(b),
        Const::Int(_, v) => v,
        _ => 0,
    }
}

/// Whether a type as written is a template's parameter and nothing else.
pub(super) fn plain_name(ty: &TypeName) -> Option<Symbol> {
    match &ty.base {
        BaseType::Named(name) => name.simple().map(|i| i.name),
        _ => None,
    }
}

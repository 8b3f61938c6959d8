//! Templates: their declarations, their arguments, and the scope in which an instance has its parameters bound.

use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Alias, BaseType, Declaration, FunctionDecl, Ident, Lambda, StructDecl, Symbol, TemplateArg, TemplateHead,
    TemplateParam, TypeName, VarDecl,
};
use crate::front::lower::constants::folding;
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex, VarId};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl, ScopeId, ScopeKind, TArg};
use crate::front::lower::{InstanceContext, Lowerer};
use crate::front::types::{Kind, StructTy, Ty};
use crate::ir::{Const, Scalar};
use crate::source::Span;

/// Most instances being made inside one another, as nvcc's front end has it.
pub(super) const MAX_INSTANCE_DEPTH: usize = 200;
/// Most instances of one text.
pub(super) const MAX_INSTANCES: u32 = 20_000;

/// A partial specialisation.
pub struct Partial<'a> {
    /// The template, whose defaults stand for arguments that are left out.
    pub of: TemplateIndex,
    pub params: &'a [TemplateParam],
    pub args: &'a [TemplateArg],
    pub decl: PartialDecl<'a>,
    pub scope: ScopeId,
}

/// Declaration of a partial specialisation.
#[derive(Clone, Copy)]
pub enum PartialDecl<'a> {
    Struct(&'a StructDecl),
    Variable(&'a Declaration, &'a VarDecl),
}

/// Kind of a template: what it makes.
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

/// Instance of a template.
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
    /// Parameters of the declaration before the definition: defaults stand on the first only.
    pub earlier: &'a [TemplateParam],
    pub kind: TemplateKind<'a>,
    pub instances: HashMap<Rc<[TArg]>, Instance>,
}

impl<'a> Lowerer<'a> {
    pub(in crate::front::lower) fn template(&self, index: TemplateIndex) -> &Template<'a> {
        &self.templates[index.0 as usize]
    }

    pub(in crate::front::lower) fn template_mut(&mut self, index: TemplateIndex) -> &mut Template<'a> {
        &mut self.templates[index.0 as usize]
    }

    pub(in crate::front::lower) fn add_template(
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
            earlier: &[],
            kind,
            instances: HashMap::default(),
        });
        TemplateIndex(self.templates.len() as u32 - 1)
    }

    /// The innermost head of a declaration, which is its own; the others belong to what surrounds it.
    pub(in crate::front::lower) fn own_head(heads: &'a [TemplateHead]) -> &'a [TemplateParam] {
        heads.last().map_or(&[], |h| h.params.as_slice())
    }

    /// `template <...> using X = ...;`
    pub(in crate::front::lower) fn alias_template(&mut self, alias: &'a Alias) {
        let index = self.add_template(alias.name, Self::own_head(&alias.templates), TemplateKind::Alias(alias));
        self.declare(alias.name.name, Decl::Template(index), alias.name.span);
    }

    /// `template <...> constexpr T x = ...;` and its specialisations.
    pub(in crate::front::lower) fn variable_template(&mut self, decl: &'a Declaration) {
        let params = Self::own_head(&decl.templates);
        for var in &decl.vars {
            let args = var.qualified.as_ref().and_then(|n| n.last_part().args.as_deref());
            let Some(args) = args else {
                let kind = TemplateKind::Variable { decl, var, partials: Vec::new() };
                let index = self.add_template(var.name, params, kind);
                self.declare(var.name.name, Decl::Template(index), var.name.span);
                continue;
            };
            let Some(Decl::Template(index)) = self.lookup(var.name.name) else {
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
                let partial =
                    Rc::new(Partial { of: index, params, args, decl: PartialDecl::Variable(decl, var), scope });
                if let TemplateKind::Variable { partials, .. } = &mut self.template_mut(index).kind {
                    partials.push(partial);
                }
            }
        }
    }

    /// The meaning of a template parameter bound to an argument.
    pub(in crate::front::lower) fn bound(arg: &TArg) -> Decl {
        match arg {
            TArg::Type(ty) => Decl::Type(ty.clone()),
            TArg::Value(ty, v) => {
                let scalar = ty.scalar().unwrap_or(Scalar::I32);
                Decl::Constant(ty.clone(), folding::convert(Const::Int(Scalar::I64, *v), scalar))
            }
            TArg::Function(index) => Decl::Functions(Rc::new([Callable::Func(*index)])),
            TArg::Template(index) => Decl::Template(*index),
            TArg::Pack(args) => Decl::Pack(args.clone()),
        }
    }

    /// Binds parameters to arguments in a scope.
    pub(in crate::front::lower) fn bind(&mut self, scope: ScopeId, params: &'a [TemplateParam], args: &[TArg]) {
        for (param, arg) in params.iter().zip(args) {
            if let Some(name) = param.name {
                self.scopes.redeclare(scope, name.name, Self::bound(arg), name.span);
            }
        }
    }

    /// An instance of a template of structs, aliases or variables.
    pub(in crate::front::lower) fn instantiate(&mut self, index: TemplateIndex, given: &[TArg], span: Span) -> Found {
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
    pub(in crate::front::lower) fn instance_scope(&mut self, index: TemplateIndex, args: &[TArg]) -> ScopeId {
        let (params, parent) = (self.template(index).params, self.template(index).scope);
        let scope = self.scopes.create(ScopeKind::Template, parent, None);
        self.bind(scope, params, args);
        scope
    }

    /// Notes what is being instantiated, for messages; gives back what was before. `None` once too deep, reported.
    pub(in crate::front::lower) fn push_context(
        &mut self,
        what: String,
        span: Span,
    ) -> Option<Option<Rc<InstanceContext>>> {
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
        self.context = Some(Rc::new(InstanceContext { what, span, outer: outer.clone() }));
        Some(outer)
    }
}

/// A constant's value as 64 bits.
pub(in crate::front::lower) fn bits(c: Const) -> i64 {
    match c {
        Const::Bool(b) => i64::from(b),
        Const::Int(_, v) => v,
        _ => 0,
    }
}

/// The name that a type is written as, where that is one plain name: it may be a template's parameter.
pub(in crate::front::lower) fn plain_name(ty: &TypeName) -> Option<Symbol> {
    match &ty.base {
        BaseType::Named(name) => name.simple().map(|i| i.name),
        _ => None,
    }
}

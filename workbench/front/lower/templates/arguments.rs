//! Template arguments: as written, completed by defaults, fitted to their parameters, and as messages show them.

use super::declarations::bits;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, Expr, ExprKind, Symbol, TemplateArg, TemplateArgKind, TemplateParam, TemplateParamKind,
};
use crate::front::lower::Lowerer;
use crate::front::lower::constants::folding;
use crate::front::lower::expressions::check;
use crate::front::lower::expressions::typed_tree::{Node, TemplateIndex, Typed};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Decl, ScopeId, ScopeKind, TArg};
use crate::front::types::{Kind, Ty};
use crate::ir::{Const, Scalar};
use crate::plural::{is_or_are, plural};
use crate::source::Span;
use std::rc::Rc;

/// Longest list of arguments in a name.
const MAX_NAME: usize = 200;

/// Most elements of a pack.
pub(in crate::front::lower) const MAX_PACK: usize = 1024;

/// The message about a parameter pack, or a list expanded from one, that is too long.
pub(in crate::front::lower) fn too_long(span: Span) -> Diagnostic {
    let message = format!("a parameter pack of more than {MAX_PACK}");
    Diagnostic::error(Code::CodeLimit, span, message).help("end the recursion with `if constexpr` or an overload")
}

impl<'a> Lowerer<'a> {
    /// Template arguments as written to their canonical form; `None` once reported.
    pub(in crate::front::lower) fn template_args(&mut self, args: &'a [TemplateArg]) -> Option<Vec<TArg>> {
        let mut out = Vec::new();
        let mut fine = true;
        for arg in args {
            if arg.pack {
                let mut packs = Vec::new();
                let mut found = |s| packs.push(s);
                match &arg.kind {
                    TemplateArgKind::Type(ty) => mentioned_names::names_in_type(ty, &mut found),
                    TemplateArgKind::Expr(e) => {
                        mentioned_names::names_in_expr(e, &mut found);
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

    pub(super) fn template_arg(&mut self, arg: &'a TemplateArg) -> Option<TArg> {
        match &arg.kind {
            TemplateArgKind::Type(ty) => {
                if let (BaseType::Named(name), true) = (&ty.base, ty.layers.is_empty() && !ty.is_const) {
                    let (found, fine) = self.quietly(|this| this.find(name));
                    match found {
                        Found::Template(index) => return Some(TArg::Template(index)),
                        Found::Constant(ty, c) => return Some(TArg::Value(ty, bits(c))),
                        Found::Type(found) if fine && !found.is_error() && !ty.is_volatile => {
                            return Some(TArg::Type(found));
                        }
                        _ if !fine && self.quiet > 0 => {
                            // Nobody reads what is wrong.
                            self.failed = true;
                            return None;
                        }
                        _ => {}
                    }
                }
                let ty = self.type_name(ty);
                (!ty.is_error()).then_some(TArg::Type(ty))
            }
            TemplateArgKind::Expr(e) => self.template_value(e),
        }
    }

    pub(super) fn template_value(&mut self, e: &'a Expr) -> Option<TArg> {
        if let ExprKind::Name(name) = &check::bare(e).kind {
            let (found, fine) = self.quietly(|this| this.find(name));
            match found {
                _ if !fine && self.quiet > 0 => {
                    self.failed = true;
                    return None;
                }
                Found::Type(ty) => return (!ty.is_error()).then_some(TArg::Type(ty)),
                Found::Template(index) => return Some(TArg::Template(index)),
                Found::None => {
                    // A type that is built in.
                    let (ty, fine) = self.quietly(|this| this.named_type(name, name.span));
                    if fine && !ty.is_error() {
                        return Some(TArg::Type(ty));
                    }
                }
                found @ (Found::Var(_) | Found::Place(_) | Found::Constant(..) | Found::Functions(..)) if fine => {
                    let typed = self.name_found(found, name, name.span);
                    return self.constant_arg(typed);
                }
                _ => {}
            }
        }
        let typed = self.expr(e);
        self.constant_arg(typed)
    }

    /// A checked expression as a template argument.
    pub(super) fn constant_arg(&mut self, typed: Typed) -> Option<TArg> {
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
    pub(in crate::front::lower) fn expand(
        &mut self,
        names: &[Symbol],
        span: Span,
        mut each: impl FnMut(&mut Self),
    ) -> bool {
        let mut packs: Vec<(Symbol, Decl)> = Vec::new();
        for &name in names {
            if packs.iter().all(|(n, _)| *n != name)
                && let Some(decl @ (Decl::Pack(_) | Decl::Vars(_))) = self.lookup(name)
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
        if len > MAX_PACK {
            self.report(too_long(span));
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

    /// All arguments of a template: those given, and the defaults of the rest; packs gathered. `None` once reported.
    pub(in crate::front::lower) fn complete_args(
        &mut self,
        index: TemplateIndex,
        given: &[TArg],
        span: Span,
    ) -> Option<Rc<[TArg]>> {
        let (params, earlier, scope, name, place) = {
            let t = self.template(index);
            (t.params, t.earlier, t.scope, self.interner.name(t.name).to_owned(), t.span)
        };
        let scope = self.scopes.create(ScopeKind::Template, scope, None);
        let mut rest = given.iter();
        let mut out: Vec<TArg> = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let before = earlier.get(i);
            let arg = if param.pack {
                let all: Vec<TArg> = rest.by_ref().cloned().collect();
                if all.len() > MAX_PACK {
                    self.report(too_long(span));
                    return None;
                }
                let all: Option<Vec<TArg>> =
                    all.into_iter().map(|a| self.fitted(param, a, scope, span, &name)).collect();
                TArg::Pack(all?.into())
            } else if let Some(arg) = rest.next() {
                self.fitted(param, arg.clone(), scope, span, &name)?
            } else {
                let own = self.default_arg(param, scope);
                match own.or_else(|| before.and_then(|before| self.default_arg(before, scope))) {
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
            for ident in [before.and_then(|before| before.name), param.name].into_iter().flatten() {
                self.scopes.redeclare(scope, ident.name, Self::bound(&arg), ident.span);
            }
            if let Some(at) = self.unmet(param, scope) {
                let message = format!("the arguments of template `{name}` are not what it requires");
                self.report(
                    Diagnostic::error(Code::NoOverload, span, message).related(at, "this is not true for them"),
                );
                return None;
            }
            out.push(arg);
        }
        if rest.next().is_some() {
            let message = format!(
                "template `{name}` takes {}, and {} {} given",
                plural(params.len(), "argument"),
                given.len(),
                is_or_are(given.len())
            );
            self.report(Diagnostic::error(Code::ArgumentCount, span, message).related(place, "declared here"));
            return None;
        }
        Some(out.into())
    }

    /// The place of a constraint that is not met by the arguments in `scope`; one that means nothing for them is not.
    pub(super) fn unmet(&mut self, param: &'a TemplateParam, scope: ScopeId) -> Option<Span> {
        if self.ordering || param.constraints.is_empty() {
            return None;
        }
        let here = self.scopes.enter(scope);
        let unmet = param.constraints.iter().find(|constraint| {
            let (value, fine) = self.quietly(|this| this.constant_integer(constraint, "a constraint"));
            !fine || value.is_none_or(|value| value == 0)
        });
        self.scopes.enter(here);
        unmet.map(|constraint| constraint.span)
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
                    let c = folding::convert(Const::Int(Scalar::I64, *v), scalar);
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
    pub(in crate::front::lower) fn args_text(&self, args: &[TArg]) -> String {
        let mut parts = Vec::new();
        fn show(this: &Lowerer<'_>, arg: &TArg, parts: &mut Vec<String>) {
            match arg {
                TArg::Type(ty) => parts.push(this.qualified_type(ty)),
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
        let mut text = parts.join(", ");
        // Arguments that hold one another double; their names must not.
        if text.len() > MAX_NAME {
            let end = (0..=MAX_NAME).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
            text.truncate(end);
            text.push_str("...");
        }
        format!("<{text}>")
    }

    /// A type by a name that it has everywhere: another compiler is asked for the instance by it.
    fn qualified_type(&self, ty: &Ty) -> String {
        let mut inner = ty;
        while let Kind::Pointer(of) | Kind::Reference(of) | Kind::RvalueReference(of) | Kind::Array(of, _) = &inner.kind
        {
            inner = of;
        }
        let text = ty.to_string();
        let Kind::Struct(s) = &inner.kind else { return text };
        if s.vector.is_some() || self.class(s.id).is_closure {
            return text;
        }
        let mut path = String::new();
        let mut at = self.scopes.parent(self.class(s.id).scope);
        while let Some(scope) = at {
            match self.scopes.kind(scope) {
                ScopeKind::Namespace => {
                    if let Some(name) = self.scopes.name(scope) {
                        path = format!("{}::{path}", self.interner.name(name));
                    }
                }
                ScopeKind::Class(id) => path = format!("{}::{path}", self.class(id).ty.name),
                ScopeKind::Template => {}
                // Local to a function: it has no name elsewhere.
                ScopeKind::Block => return text,
            }
            at = self.scopes.parent(scope);
        }
        text.replacen(&s.name, &format!("{path}{}", s.name), 1)
    }
}

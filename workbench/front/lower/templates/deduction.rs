//! Template argument deduction ([temp.deduct]): a parameter's type as written is laid against an argument's type.

use std::rc::Rc;

use super::declarations;
use super::declarations::{Partial, TemplateKind, plain_name};
use crate::front::ast::{
    Alias, BaseType, Expr, ExprKind, ParamDecl, Symbol, TemplateArg, TemplateArgKind, TemplateParam, TemplateParamKind,
    TypeLayer, TypeName,
};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::check;
use crate::front::lower::expressions::typed_tree::{TemplateIndex, Typed};
use crate::front::lower::overloads::ranking::Arg;
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Callable, ScopeId, ScopeKind, TArg};
use crate::front::types::{Kind, Num, Ty};

/// State of a deduction: the arguments as far as they are known.
#[derive(Clone)]
pub(super) struct Deduction<'a> {
    params: &'a [TemplateParam],
    found: Vec<Option<TArg>>,
    /// Number of those that were written: what follows from the arguments of a call cannot change them.
    written: usize,
    /// Elements of packs, gathered.
    packs: Vec<Vec<TArg>>,
    /// Types that each `auto` among the function's parameters stands for.
    autos: Vec<Ty>,
    /// Scope in which names that are no parameters are looked up.
    scope: ScopeId,
    depth: u32,
    /// Deduction that is to fit one of several functions: parameter types that nothing is deduced of are held against its own.
    exact: bool,
}

/// Most layers of a type that deduction looks through.
const MAX_DEPTH: u32 = 100;

impl<'a> Deduction<'a> {
    fn new(params: &'a [TemplateParam], scope: ScopeId) -> Self {
        Deduction {
            params,
            found: vec![None; params.len()],
            written: 0,
            packs: vec![Vec::new(); params.len()],
            autos: Vec::new(),
            scope,
            depth: 0,
            exact: false,
        }
    }

    fn index(&self, name: Symbol) -> Option<usize> {
        self.params.iter().position(|p| p.name.is_some_and(|n| n.name == name))
    }

    /// Binds a parameter; a second binding must agree.
    fn set(&mut self, i: usize, arg: TArg) -> bool {
        if self.params[i].pack {
            self.packs[i].push(arg);
            return true;
        }
        if i < self.written {
            return true;
        }
        match (&self.found[i], &arg) {
            (None, _) => {
                self.found[i] = Some(arg);
                true
            }
            // The type a value was deduced in says nothing.
            (Some(TArg::Value(_, a)), TArg::Value(_, b)) => a == b,
            (Some(old), new) => old == new,
        }
    }
}

impl<'a> Lowerer<'a> {
    /// The arguments of a function template for a call: those given, those deduced, defaults. `None` when it does not fit.
    /// The type follows the others for a parameter `auto`.
    pub(in crate::front::lower) fn deduce_call(
        &mut self,
        index: TemplateIndex,
        explicit: &[TArg],
        args: &[Arg],
    ) -> Option<(Rc<[TArg]>, Vec<Ty>)> {
        let (params, fn_params, parent): (_, &'a [ParamDecl], _) = {
            let t = self.template(index);
            let fn_params = match &t.kind {
                TemplateKind::Function { decl, .. } => decl.params.as_slice(),
                TemplateKind::Lambda { lambda, .. } => lambda.params.as_slice(),
                _ => return None,
            };
            (t.params, fn_params, t.scope)
        };
        self.deduce_with(index, params, fn_params, parent, explicit, args)
    }

    /// The struct that a template makes for values given to one of its constructors.
    pub(in crate::front::lower) fn deduced_struct(&mut self, index: TemplateIndex, args: &[Typed]) -> Option<Ty> {
        use crate::front::ast::{FunctionKind, MemberKind};
        let (params, parent) = (self.template(index).params, self.template(index).scope);
        let TemplateKind::Struct { decl, .. } = &self.template(index).kind else { return None };
        let decl = *decl;
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        for member in &decl.members {
            let MemberKind::Function(function) = &member.kind else { continue };
            if !matches!(function.kind, FunctionKind::Constructor) || !function.templates.is_empty() {
                continue;
            }
            if let Some((found, _)) = self.deduce_with(index, params, &function.params, parent, &[], &shapes)
                && let Found::Type(ty) = self.instantiate(index, &found, decl.span)
            {
                return Some(ty);
            }
        }
        None
    }

    fn deduce_with(
        &mut self,
        index: TemplateIndex,
        params: &'a [TemplateParam],
        fn_params: &'a [ParamDecl],
        parent: ScopeId,
        explicit: &[TArg],
        args: &[Arg],
    ) -> Option<(Rc<[TArg]>, Vec<Ty>)> {
        let mut d = Deduction::new(params, parent);
        self.give_explicit(&mut d, explicit)?;
        let variadic = fn_params.iter().any(|p| p.pack);
        let required = fn_params.iter().filter(|p| p.default.is_none() && !p.pack).count();
        if args.len() < required || (!variadic && args.len() > fn_params.len()) {
            return None;
        }
        let mut at = 0;
        for (i, param) in fn_params.iter().enumerate() {
            if param.pack {
                let after = fn_params.len() - i - 1;
                let end = args.len().saturating_sub(after);
                while at < end {
                    if !self.deduce_param(&mut d, &param.ty, &args[at]) {
                        return None;
                    }
                    at += 1;
                }
            } else if let Some(arg) = args.get(at) {
                // Each parameter gives a pack whole; a second must agree.
                let empty = vec![Vec::new(); d.packs.len()];
                let before = std::mem::replace(&mut d.packs, empty);
                if !self.is_written(&d, &param.ty) && !self.deduce_param(&mut d, &param.ty, arg) {
                    return None;
                }
                for (now, old) in d.packs.iter_mut().zip(before) {
                    if now.is_empty() {
                        *now = old;
                    } else if !old.is_empty() && *now != old {
                        return None;
                    }
                }
                at += 1;
            }
        }
        let autos = std::mem::take(&mut d.autos);
        Some((self.finish(d, index)?, autos))
    }

    /// The arguments of a function template for a declaration of an instance with these parameter types.
    pub(in crate::front::lower) fn deduce_declaration(
        &mut self,
        index: TemplateIndex,
        explicit: &[TArg],
        types: &[Ty],
        ret: Option<&Ty>,
    ) -> Option<Rc<[TArg]>> {
        let (params, fn_params, result, parent): (_, &'a [ParamDecl], &'a TypeName, _) = {
            let t = self.template(index);
            let TemplateKind::Function { decl, .. } = &t.kind else { return None };
            (t.params, decl.params.as_slice(), &decl.ret, t.scope)
        };
        let mut d = Deduction::new(params, parent);
        self.give_explicit(&mut d, explicit)?;
        if !fn_params.iter().any(|p| p.pack) && fn_params.len() != types.len() {
            return None;
        }
        for (i, ty) in types.iter().enumerate() {
            let param = fn_params.get(i).or_else(|| fn_params.last().filter(|p| p.pack))?;
            if !self.unify(&mut d, &param.ty, param.ty.layers.len(), ty) {
                return None;
            }
        }
        if let Some(ret) = ret.filter(|_| !result.base.is_auto())
            && !self.unify(&mut d, result, result.layers.len(), ret)
        {
            return None;
        }
        self.finish(d, index)
    }

    fn give_explicit(&mut self, d: &mut Deduction<'a>, explicit: &[TArg]) -> Option<()> {
        let mut given = explicit.iter();
        for (i, param) in d.params.iter().enumerate() {
            if param.pack {
                d.packs[i] = given.by_ref().cloned().collect();
                // Deduced arguments must then agree; they are gathered anew and compared at the end.
                if !d.packs[i].is_empty() {
                    d.found[i] = Some(TArg::Pack(std::mem::take(&mut d.packs[i]).into()));
                }
            } else if let Some(arg) = given.next() {
                let name = "";
                let scope = self.scopes.create(ScopeKind::Template, d.scope, None);
                let known: Vec<TArg> = d.found[..i].iter().flatten().cloned().collect();
                self.bind(scope, &d.params[..i.min(known.len())], &known);
                let (arg, fine) = self.quietly(|this| this.fitted(param, arg.clone(), scope, param.span, name));
                d.found[i] = Some(arg.filter(|_| fine)?);
                d.written = i + 1;
            }
        }
        given.next().is_none().then_some(())
    }

    /// Puts deduced arguments and defaults together.
    fn finish(&mut self, d: Deduction<'a>, index: TemplateIndex) -> Option<Rc<[TArg]>> {
        let name = String::new();
        let scope = self.scopes.create(ScopeKind::Template, d.scope, None);
        let mut out = Vec::new();
        let span = self.template(index).span;
        for (i, param) in d.params.iter().enumerate() {
            let arg = if param.pack {
                match (&d.found[i], d.packs[i].is_empty()) {
                    (Some(given @ TArg::Pack(all)), false) => {
                        let agrees = all.len() <= d.packs[i].len() && all.iter().zip(&d.packs[i]).all(|(a, b)| a == b);
                        if !agrees && all.len() >= d.packs[i].len() {
                            given.clone()
                        } else {
                            TArg::Pack(d.packs[i].as_slice().into())
                        }
                    }
                    (Some(given), true) => given.clone(),
                    _ => TArg::Pack(d.packs[i].as_slice().into()),
                }
            } else {
                match &d.found[i] {
                    Some(arg) => {
                        let (arg, fine) = self.quietly(|this| this.fitted(param, arg.clone(), scope, span, &name));
                        arg.filter(|_| fine)?
                    }
                    None => {
                        let (arg, fine) = self.quietly(|this| this.default_arg(param, scope));
                        let arg = arg.flatten().filter(|_| fine)?;
                        let (arg, fine) = self.quietly(|this| this.fitted(param, arg, scope, span, &name));
                        arg.filter(|_| fine)?
                    }
                }
            };
            self.bind(scope, &d.params[i..=i], std::slice::from_ref(&arg));
            if self.unmet(param, scope).is_some() {
                return None;
            }
            out.push(arg);
        }
        Some(out.into())
    }

    /// `std::initializer_list<T>` from the entries of a braced list; of anything else a list says nothing.
    fn deduce_list(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, arg: &Arg) -> bool {
        let BaseType::Named(name) = &pattern.base else { return true };
        let last = name.parts.last();
        let Some(part) = last.filter(|p| self.text(&p.ident) == "initializer_list") else { return true };
        let (Some([TemplateArg { kind: TemplateArgKind::Type(elem), .. }]), Some(list)) =
            (part.args.as_deref(), arg.list)
        else {
            return true;
        };
        let Some(shapes) = self.entries_of(list) else { return true };
        shapes.iter().all(|shape| self.deduce_param(d, elem, shape))
    }

    /// A set of functions says what the only one of them says that fits; with a template among them, or where several fit, nothing.
    fn deduce_set(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, set: u32) -> bool {
        let (set, _) = self.overloads[set as usize].clone();
        let mut fitting: Option<Deduction<'a>> = None;
        for callable in set.iter() {
            let Callable::Func(index) = *callable else { return true };
            let mut tried = Deduction { exact: true, ..d.clone() };
            let arg = Arg { ty: self.function_type(index), lvalue: true, xvalue: false, null: false, list: None };
            if self.deduce_param(&mut tried, pattern, &arg) && fitting.replace(tried).is_some() {
                return true;
            }
        }
        let Some(only) = fitting else { return false };
        *d = Deduction { exact: false, ..only };
        true
    }

    /// One parameter of a call ([temp.deduct.call]).
    fn deduce_param(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, arg: &Arg) -> bool {
        if arg.ty.is_error() {
            return true;
        }
        if matches!(arg.ty.kind, Kind::Braced) {
            return self.deduce_list(d, pattern, arg);
        }
        if let (Some(set), Kind::Function(_)) = (arg.list, &arg.ty.kind) {
            return self.deduce_set(d, pattern, set);
        }
        let layers = pattern.layers.len();
        match pattern.layers.last() {
            Some(TypeLayer::Reference { rvalue }) => {
                let forwarding = *rvalue
                    && layers == 1
                    && !pattern.is_const
                    && (pattern.base.is_auto() || plain_name(pattern).is_some_and(|n| d.index(n).is_some()));
                let lvalue = arg.lvalue && !arg.xvalue;
                if forwarding {
                    let ty = if lvalue { arg.ty.clone().reference() } else { arg.ty.clone() };
                    return self.unify(d, pattern, 0, &ty);
                }
                let inner = pattern.layers[..layers - 1].is_empty() && pattern.is_const;
                let ty = if inner { arg.ty.clone().qualified(true, false) } else { arg.ty.clone() };
                self.unify(d, pattern, layers - 1, &ty)
            }
            _ => {
                let ty = arg.ty.decayed();
                self.unify(d, pattern, layers, &ty)
            }
        }
    }

    /// Lays the first `layers` layers of a pattern against a type.
    fn unify(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, layers: usize, ty: &Ty) -> bool {
        d.depth += 1;
        let fits = d.depth < MAX_DEPTH && self.unify_layers(d, pattern, layers, ty);
        d.depth -= 1;
        fits
    }

    fn unify_layers(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, layers: usize, ty: &Ty) -> bool {
        let Some(at) = layers.checked_sub(1) else { return self.unify_base(d, pattern, ty) };
        match (&pattern.layers[at], &ty.kind) {
            (TypeLayer::Pointer { .. }, Kind::Pointer(inner)) => self.unify(d, pattern, at, inner),
            (TypeLayer::Reference { rvalue: false }, Kind::Reference(inner))
            | (TypeLayer::Reference { rvalue: true }, Kind::RvalueReference(inner)) => {
                self.unify(d, pattern, at, inner)
            }
            (TypeLayer::Reference { .. }, _) => false,
            (TypeLayer::Array(len), Kind::Array(elem, n)) => {
                let fits = match (len, n) {
                    (Some(len), Some(n)) => self.unify_value(d, len, &Num::ULong.into(), i64::from(*n)),
                    (None, _) => true,
                    (Some(_), None) => false,
                };
                fits && self.unify(d, pattern, at, elem)
            }
            (TypeLayer::Function(params), Kind::Function(func)) => {
                let params: &'a [ParamDecl] = params;
                let func = func.clone();
                let mut fits = self.unify(d, pattern, at, &func.ret);
                let mut types = func.params.iter();
                for param in params {
                    if d.exact && !self.mentions(d, &param.ty) {
                        fits = fits && self.has_types(d, param, &mut types);
                    } else if param.pack {
                        for ty in types.by_ref() {
                            fits = fits && self.unify(d, &param.ty, param.ty.layers.len(), ty);
                        }
                    } else {
                        match types.next() {
                            Some(ty) => fits = fits && self.unify(d, &param.ty, param.ty.layers.len(), ty),
                            None => fits = false,
                        }
                    }
                }
                fits && types.next().is_none()
            }
            _ => !self.mentions(d, pattern),
        }
    }

    /// The parameter, of which nothing is deduced, has the next types.
    fn has_types(&mut self, d: &Deduction<'a>, param: &'a ParamDecl, types: &mut std::slice::Iter<'_, Ty>) -> bool {
        let here = self.scopes.enter(d.scope);
        let mut wanted = Vec::new();
        if param.pack {
            let mut names = Vec::new();
            mentioned_names::names_in_type(&param.ty, &mut |n| names.push(n));
            self.expand(&names, param.span, |this| wanted.push(this.type_name(&param.ty)));
        } else {
            wanted.push(self.type_name(&param.ty));
        }
        self.scopes.enter(here);
        wanted.iter().all(|ty| types.next().is_some_and(|given| given.unqualified() == ty.unqualified()))
    }

    /// All that a pattern mentions was written, so that nothing of it is deduced and an ordinary conversion decides.
    fn is_written(&self, d: &Deduction<'a>, pattern: &'a TypeName) -> bool {
        let (mut any, mut all) = (false, d.written > 0 && !pattern.base.is_auto());
        mentioned_names::names_in_type(pattern, &mut |n| {
            if let Some(i) = d.index(n) {
                any = true;
                all &= i < d.written && !d.params[i].pack;
            }
        });
        any && all
    }

    /// The pattern mentions a parameter to deduce; where it mentions none, an ordinary conversion decides.
    fn mentions(&self, d: &Deduction<'a>, pattern: &'a TypeName) -> bool {
        let mut any = pattern.base.is_auto();
        mentioned_names::names_in_type(pattern, &mut |n| any |= d.index(n).is_some());
        any
    }

    fn unify_base(&mut self, d: &mut Deduction<'a>, pattern: &'a TypeName, ty: &Ty) -> bool {
        let name = match &pattern.base {
            BaseType::Named(name) => name,
            BaseType::Auto => {
                let mut ty = ty.clone();
                ty.is_const &= !pattern.is_const;
                d.autos.push(ty);
                return true;
            }
            _ => return true,
        };
        let stripped = || {
            let mut ty = ty.clone();
            ty.is_const &= !pattern.is_const;
            ty.is_volatile &= !pattern.is_volatile;
            ty
        };
        if let Some(ident) = name.simple() {
            let Some(i) = d.index(ident.name) else { return true };
            // `const T` against something that is not const binds only where the qualifier may be added.
            return match &d.params[i].kind {
                TemplateParamKind::Type { .. } => {
                    let mut bound = stripped();
                    if let (true, Kind::Array(elem, n)) = (pattern.is_const, &bound.kind) {
                        let mut e = (**elem).clone();
                        e.is_const = false;
                        bound = e.array(*n);
                    }
                    d.set(i, TArg::Type(bound))
                }
                // A template parameter is invented as a type, for ordering; it stands where templates do.
                TemplateParamKind::Template { .. } => d.set(i, TArg::Type(ty.clone())),
                TemplateParamKind::Value { .. } => false,
            };
        }
        let part = name.last_part();
        let Some(args) = &part.args else { return true };
        if name.parts.len() > 1 && name.qualifiers().iter().any(|p| p.args.is_some()) {
            // `typename S<T>::type` deduces nothing.
            return true;
        }
        // `S<T>`: the argument must be an instance of it, or derived from one.
        let wanted = match d.index(part.ident.name) {
            Some(i) => Err(i),
            None => {
                let here = self.scopes.enter(d.scope);
                let index = self.quietly(|this| this.template_named(name)).0;
                self.scopes.enter(here);
                match index {
                    Some(index) => Ok(index),
                    None => return true,
                }
            }
        };
        if let Ok(index) = wanted
            && let TemplateKind::Alias(alias) = &self.template(index).kind
        {
            // The aliased type tells the arguments of the alias.
            let alias: &'a Alias = alias;
            let (params, scope) = (self.template(index).params, self.template(index).scope);
            let mut inner = Deduction::new(params, scope);
            inner.depth = d.depth;
            if !self.unify(&mut inner, &alias.ty, alias.ty.layers.len(), ty) {
                return false;
            }
            if (0..params.len()).any(|i| inner.found[i].is_none() && inner.packs[i].is_empty()) {
                // Some arguments do not follow from the aliased type: `void_t<...>`.
                return true;
            }
            return match self.finish(inner, index) {
                Some(given) => self.unify_args(d, args, &given),
                None => true,
            };
        }
        let Some(s) = ty.as_struct().cloned() else { return false };
        if !self.quietly(|this| this.complete(&s, name.span)).0 {
            return false;
        }
        let mut candidates = vec![Ty::new(Kind::Struct(s))];
        let mut next = 0;
        while let Some(candidate) = candidates.get(next).cloned() {
            next += 1;
            let Some(s) = candidate.as_struct() else { continue };
            if let Some((template, given)) = self.class(s.id).template.clone()
                && wanted.is_err_and(|_| true) | (wanted == Ok(template))
            {
                let fits = match wanted {
                    Err(i) => d.set(i, TArg::Template(template)),
                    Ok(_) => true,
                };
                return fits && self.unify_args(d, args, &given);
            }
            candidates.extend(candidate.layout().into_iter().flat_map(|l| l.bases.iter().map(|(b, _)| b.clone())));
        }
        false
    }

    /// Template arguments as written against those of an instance.
    fn unify_args(&mut self, d: &mut Deduction<'a>, patterns: &'a [TemplateArg], given: &[TArg]) -> bool {
        let mut flat: Vec<TArg> = Vec::new();
        for arg in given {
            match arg {
                TArg::Pack(all) => flat.extend(all.iter().cloned()),
                one => flat.push(one.clone()),
            }
        }
        let mut rest = flat.iter();
        for pattern in patterns {
            if pattern.pack {
                for arg in rest.by_ref() {
                    if !self.unify_arg(d, pattern, arg) {
                        return false;
                    }
                }
            } else {
                match rest.next() {
                    Some(arg) if self.unify_arg(d, pattern, arg) => {}
                    _ => return false,
                }
            }
        }
        // Arguments left over are defaults of the template that the pattern does not mention.
        patterns.len() <= flat.len() || patterns.last().is_some_and(|p| p.pack)
    }

    fn unify_arg(&mut self, d: &mut Deduction<'a>, pattern: &'a TemplateArg, arg: &TArg) -> bool {
        match (&pattern.kind, arg) {
            (TemplateArgKind::Type(ty), TArg::Type(given)) => {
                // Inside arguments the types must be the same, not only convertible.
                self.unify(d, ty, ty.layers.len(), given) && self.agrees(d, ty, given)
            }
            (TemplateArgKind::Expr(e), TArg::Value(ty, v)) => self.unify_value(d, e, ty, *v),
            (TemplateArgKind::Expr(e), other) => match &check::bare(e).kind {
                ExprKind::Name(name) => match name.simple().and_then(|i| d.index(i.name)) {
                    Some(i) => d.set(i, other.clone()),
                    None => match (self.quietly(|this| this.find(name)).0, other) {
                        (Found::Type(a), TArg::Type(b)) => a == *b,
                        (Found::Template(a), TArg::Template(b)) => a == *b,
                        _ => false,
                    },
                },
                _ => false,
            },
            (TemplateArgKind::Type(ty), other) => match plain_name(ty).and_then(|n| d.index(n)) {
                Some(i) => d.set(i, other.clone()),
                None => match (&ty.base, other) {
                    (BaseType::Named(name), TArg::Template(b)) => {
                        matches!(self.quietly(|this| this.find(name)).0, Found::Template(a) if a == *b)
                    }
                    (BaseType::Named(name), TArg::Value(_, v)) => {
                        matches!(self.quietly(|this| this.find(name)).0, Found::Constant(_, c) if declarations::bits(c) == *v)
                    }
                    _ => false,
                },
            },
        }
    }

    /// The pattern, which mentions no parameter, is the given type; others have been bound.
    fn agrees(&mut self, d: &Deduction<'a>, pattern: &'a TypeName, given: &Ty) -> bool {
        if self.mentions(d, pattern) {
            return given.is_const || !pattern.is_const || !pattern.layers.is_empty();
        }
        let here = self.scopes.enter(d.scope);
        let (ty, fine) = self.quietly(|this| this.type_name(pattern));
        self.scopes.enter(here);
        fine && ty == *given
    }

    fn unify_value(&mut self, d: &mut Deduction<'a>, e: &'a Expr, ty: &Ty, v: i64) -> bool {
        if let ExprKind::Name(name) = &check::bare(e).kind
            && let Some(i) = name.simple().and_then(|n| d.index(n.name))
        {
            return d.set(i, TArg::Value(ty.clone(), v));
        }
        let mut mentions = false;
        mentioned_names::names_in_expr(e, &mut |n| mentions |= d.index(n).is_some());
        if mentions {
            return true;
        }
        let here = self.scopes.enter(d.scope);
        let (value, fine) = self.quietly(|this| this.constant_integer(e, ""));
        self.scopes.enter(here);
        fine && value == Some(v)
    }

    /// The arguments of a partial specialisation's parameters, where it fits.
    pub(super) fn match_partial(&mut self, partial: &Rc<Partial<'a>>, args: &[TArg]) -> Option<Vec<TArg>> {
        let mut d = Deduction::new(partial.params, partial.scope);
        if !self.unify_args(&mut d, partial.args, args) {
            return None;
        }
        let scope = self.scopes.create(ScopeKind::Template, partial.scope, None);
        let mut bound = Vec::new();
        for (i, param) in partial.params.iter().enumerate() {
            let arg = if param.pack { TArg::Pack(d.packs[i].as_slice().into()) } else { d.found[i].clone()? };
            self.bind(scope, std::slice::from_ref(param), std::slice::from_ref(&arg));
            if self.unmet(param, scope).is_some() {
                return None;
            }
            bound.push(arg);
        }
        // Arguments that deduce nothing must still come out the same: `enable_if_t<...>`, `N + 1`.
        let here = self.scopes.enter(scope);
        let (own, fine) = self.quietly(|this| this.partial_args(partial));
        self.scopes.enter(here);
        let flat = |args: &[TArg]| -> Vec<TArg> {
            args.iter()
                .flat_map(|a| match a {
                    TArg::Pack(all) => all.to_vec(),
                    one => vec![one.clone()],
                })
                .collect()
        };
        let same = |a: &TArg, b: &TArg| match (a, b) {
            (TArg::Value(_, x), TArg::Value(_, y)) => x == y,
            _ => a == b,
        };
        let (own, args) = (flat(&own.filter(|_| fine)?), flat(args));
        (own.len() == args.len() && own.iter().zip(&args).all(|(a, b)| same(a, b))).then_some(bound)
    }
}

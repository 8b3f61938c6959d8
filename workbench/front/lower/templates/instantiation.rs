//! Instances of function templates, explicit specialisations and instantiations.

use std::borrow::Cow;
use std::rc::Rc;

use super::declarations::{Instance, Template, TemplateKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{FunctionDecl, Instantiate, InstantiationTarget, Name, TemplateParam};
use crate::front::link::Linkage;
use crate::front::lower::expressions::typed_tree::{FuncIndex, TemplateIndex};
use crate::front::lower::functions::declarations::{Signature, body_of};
use crate::front::lower::overloads::ranking::Arg;
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl, GLOBAL, ScopeId, ScopeKind, TArg};
use crate::front::lower::{FuncInfo, Lowerer, Progress, Side};
use crate::front::types::Ty;
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// Declares a template of functions, or of methods of a struct; gives it when it is new.
    pub(in crate::front::lower) fn function_template(&mut self, decl: &'a FunctionDecl, owner: Option<u32>) {
        let name = decl.name.last();
        let params = Self::own_head(&decl.templates);
        if decl.specs.global {
            let text = self.text(&name).to_owned();
            if !self.module.templates.contains(&text) {
                self.module.templates.push(text);
            }
        }
        // A definition takes the place of the declaration before it.
        if let Some(Decl::Functions(set)) = self.here(name.name) {
            for callable in set.iter() {
                let Callable::Template(index) = *callable else { continue };
                if self.is_redeclared(index, decl) {
                    let TemplateKind::Function { decl: old, .. } = &self.template(index).kind else { continue };
                    if old.body.is_some() && decl.body.is_some() {
                        let place = old.name.span;
                        let message = format!("template `{}` is defined twice", self.text(&name));
                        self.report(
                            Diagnostic::error(Code::Redefinition, name.span, message)
                                .related(place, "first defined here"),
                        );
                    } else if decl.body.is_some() {
                        let template = self.template_mut(index);
                        template.kind = TemplateKind::Function { decl, owner };
                        // Defaults stand on the first declaration only.
                        if !has_defaults(template.params) {
                            template.params = params;
                        }
                    }
                    return;
                }
            }
        }
        let index = self.add_template(name, params, TemplateKind::Function { decl, owner });
        self.add_functions(name.name, &[Callable::Template(index)], name.span);
    }

    /// The declaration is of the same template: as many parameters of each kind, spelled alike.
    fn is_redeclared(&self, index: TemplateIndex, decl: &FunctionDecl) -> bool {
        let TemplateKind::Function { decl: old, .. } = &self.template(index).kind else { return false };
        let heads = [old, decl].map(|d| d.templates.last().map_or(&[][..], |h| h.params.as_slice()));
        let defines = [old, decl].map(|d| d.body.is_some());
        // The library defines nothing twice; comparing its templates by their words takes longer than all else about them.
        let is_theirs = [old, decl].iter().all(|d| d.name.span.file.is_common());
        let asked = heads.map(|head| {
            let constraints = head.iter().flat_map(|param| &param.constraints);
            constraints.flat_map(|e| self.spelling(self.sources.text(e.span), head)).collect::<Vec<_>>()
        });
        if heads[0].len() != heads[1].len()
            || asked[0] != asked[1]
            || old.params.len() != decl.params.len()
            || old.is_const != decl.is_const
            || is_theirs && defines == [true, true]
        {
            return false;
        }
        let text = |span| self.sources.text(span);
        let mine = |span| self.spelling(text(span), heads[0]);
        let other = |span| self.spelling(text(span), heads[1]);
        let same = |a: &crate::front::ast::ParamDecl, b: &crate::front::ast::ParamDecl| {
            a.ty.layers.len() == b.ty.layers.len() && mine(a.ty.span) == other(b.ty.span)
        };
        // The part after `=` is a default. Templates that differ only in the constraints on their parameters are two.
        let asks = |span| text(span).split(" = ").next().unwrap_or_default();
        let alike = || {
            let mut pairs = heads[0].iter().zip(heads[1]);
            pairs.all(|(a, b)| self.spelling(asks(a.span), heads[0]) == self.spelling(asks(b.span), heads[1]))
        };
        old.params.iter().zip(&decl.params).all(|(a, b)| same(a, b))
            && mine(old.ret.span) == other(decl.ret.span)
            && (defines[0] != defines[1] || alike())
    }

    /// A piece of text as a row of words, the parameters of a template by their places in it: names are each declaration's own.
    fn spelling<'t>(&self, text: &'t str, head: &[TemplateParam]) -> Vec<Cow<'t, str>> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (word, after) = rest.split_at(end);
            let own = head.iter().position(|p| p.name.as_ref().is_some_and(|name| self.text(name) == word));
            words.push(match (own, word) {
                (Some(place), _) => Cow::Owned(format!("${place}")),
                (None, "class") => Cow::Borrowed("typename"),
                (None, word) => Cow::Borrowed(word),
            });
            rest = after.trim_start();
        }
        words
    }

    /// The function that a template makes from its arguments; `autos` are the types of its `auto` parameters. `None` when
    /// the types that come out mean nothing.
    pub(in crate::front::lower) fn function_instance(
        &mut self,
        index: TemplateIndex,
        args: &Rc<[TArg]>,
        autos: &[Ty],
        span: Span,
    ) -> Option<FuncIndex> {
        let key: Rc<[TArg]> = if autos.is_empty() {
            args.clone()
        } else {
            args.iter().cloned().chain(autos.iter().cloned().map(TArg::Type)).collect()
        };
        if let Some(Instance::Func(found)) = self.template(index).instances.get(&key) {
            return *found;
        }
        let template = self.template(index);
        let name = self.interner.name(template.name).to_owned();
        let shown = if args.is_empty() { String::new() } else { self.args_text(args) };
        let prefix = match &template.kind {
            TemplateKind::Function { owner: Some(owner), .. } => format!("{}::", self.class(*owner).ty.name),
            _ => String::new(),
        };
        let display = match &template.kind {
            TemplateKind::Lambda { .. } => "lambda".to_owned(),
            _ => format!("{prefix}{name}{shown}"),
        };
        let outer = self.push_context(display.clone(), span)?;
        let scope = self.instance_scope(index, args);
        let sig = match &self.template(index).kind {
            TemplateKind::Function { decl, owner } => {
                let (decl, owner) = (*decl, *owner);
                let mut sig = Signature::of(decl, display, scope);
                if let Some(owner) = owner {
                    self.method_signature(&mut sig, decl, owner);
                }
                sig
            }
            TemplateKind::Lambda { lambda, owner } => {
                let (lambda, owner) = (*lambda, *owner);
                self.lambda_signature(lambda, owner, scope)
            }
            _ => {
                self.context = outer;
                return None;
            }
        };
        let sig = Signature { autos: autos.to_vec(), ..sig };
        let decl = match &self.template(index).kind {
            TemplateKind::Function { decl, .. } => Some(*decl),
            _ => None,
        };
        // Too many errors hide behind a template that does not fit: the call says that it does not.
        let (mut info, fine) = self.quietly(|this| this.signature(sig));
        info.template = Some((index, args.clone()));
        info.context = self.context_of();
        self.context = outer;
        let made = if fine && !info.broken {
            if info.side == Side::Kernel
                && let Some(decl) = decl
            {
                self.check_kernel(decl, &info.ret, &info.params);
            }
            Some(self.add_func(info))
        } else {
            None
        };
        self.template_mut(index).instances.insert(key, Instance::Func(made));
        made
    }

    /// `template <> void f<int>(int) { ... }`
    pub(in crate::front::lower) fn specialise_function(&mut self, decl: &'a FunctionDecl) {
        let name = decl.name.last();
        let display = self.text(&name).to_owned();
        let scope = self.scopes.current();
        let info = self.signature(Signature::of(decl, display, scope));
        if info.broken {
            return;
        }
        let Some((template, args)) = self.specialised(&decl.name, &info.params, &info.ret) else { return };
        self.add_specialisation(template, args, info, decl);
    }

    /// The template that a specialisation or instantiation names, and its arguments.
    fn specialised(&mut self, name: &'a Name, params: &[Ty], ret: &Ty) -> Option<(TemplateIndex, Rc<[TArg]>)> {
        let ident = name.last();
        let (set, explicit) = match self.find(name) {
            Found::Functions(set, explicit) => (set, explicit),
            Found::Error => return None,
            _ => {
                self.unknown(&ident, name.span, "function template");
                return None;
            }
        };
        let explicit = explicit.unwrap_or_else(|| Rc::new([]));
        let mut fits = Vec::new();
        for callable in set.iter() {
            let Callable::Template(index) = *callable else { continue };
            if let Some(args) = self.deduce_declaration(index, &explicit, params, Some(ret))
                && let Some(made) = self.function_instance(index, &args, &[], ident.span)
                && self.func(made).params.iter().zip(params).all(|(a, b)| a.unqualified() == b.unqualified())
            {
                fits.push((index, args));
            }
        }
        // The most specialised of several.
        let best = (0..fits.len())
            .find(|&i| (0..fits.len()).all(|j| i == j || self.template_is_narrower(fits[i].0, fits[j].0)));
        match best {
            Some(i) => Some(fits.swap_remove(i)),
            None => {
                let message = format!("no template `{}` has an instance with these parameters", self.text(&ident));
                self.report(Diagnostic::error(Code::NoOverload, name.span, message));
                None
            }
        }
    }

    fn add_specialisation(
        &mut self,
        template: TemplateIndex,
        args: Rc<[TArg]>,
        mut info: FuncInfo<'a>,
        decl: &'a FunctionDecl,
    ) {
        info.display = format!("{}{}", self.interner.name(info.name), self.args_text(&args));
        info.template = Some((template, args.clone()));
        let existing = match self.template(template).instances.get(&args) {
            Some(Instance::Func(Some(index))) => Some(*index),
            _ => None,
        };
        if info.side == Side::Kernel {
            self.check_kernel(decl, &info.ret, &info.params);
        }
        match existing {
            Some(index) => {
                if self.func(index).progress != Progress::Idle {
                    let place = self.func(index).called.unwrap_or(self.func(index).span);
                    let message = format!("`{}` is specialised after it has been used", info.display);
                    self.report(Diagnostic::error(Code::Redefinition, info.span, message).related(place, "used here"));
                    return;
                }
                let defaults = std::mem::take(&mut self.func_mut(index).defaults);
                info.defaults = defaults;
                *self.func_mut(index) = info;
                if self.func(index).side == Side::Kernel {
                    self.lower_body(index);
                }
            }
            None => {
                let index = self.add_func(info);
                self.template_mut(template).instances.insert(args, Instance::Func(Some(index)));
            }
        }
    }

    /// `template __global__ void f<int>(int*);`, `template struct S<int>;`
    pub(in crate::front::lower) fn explicit_instantiation(&mut self, instance: &'a Instantiate) {
        match &instance.what {
            InstantiationTarget::Struct(name) => {
                let ty = self.named_type(name, name.span);
                if let Some(s) = ty.as_struct().cloned() {
                    self.complete(&s, name.span);
                    if !instance.is_extern {
                        self.instantiated.push(s.id);
                    }
                }
            }
            InstantiationTarget::Function(decl) => {
                let display = self.text(&decl.name.last()).to_owned();
                let scope = self.scopes.current();
                let info = self.signature(Signature::of(decl, display, scope));
                if info.broken {
                    return;
                }
                let Some((template, args)) = self.specialised(&decl.name, &info.params, &info.ret) else { return };
                if let Some(index) = self.function_instance(template, &args, &[], instance.span)
                    && !instance.is_extern
                {
                    self.note_call(index, instance.span);
                }
            }
        }
    }

    /// This unit is to make an instance that is asked for: it has the template, or is the last and nobody has it.
    pub(in crate::front::lower) fn is_unit_of(&self, name: &'a Name, shown: &str) -> bool {
        let is_made = || self.module.functions.iter().any(|f| f.name == shown);
        self.kernel_template(name.last().name).is_some() || self.links.is_last() && !is_made()
    }

    /// The instance of a kernel's template that a name asks for, `scale<float, 4>`: it is called what it was asked for by.
    pub(in crate::front::lower) fn wanted_instance(&mut self, name: &'a Name, shown: &str) {
        let ident = name.last();
        match self.find(name) {
            Found::Functions(set, Some(explicit)) => self.wanted_of(&set, &explicit, name, shown),
            Found::Functions(..) => {
                let message = format!("`{}` needs template arguments", self.text(&ident));
                self.report(Diagnostic::error(Code::ArgumentCount, name.span, message).help("write `name<...>`"));
            }
            Found::Error => {}
            _ => match self.kernel_template(ident.name) {
                Some(index) => {
                    let last = name.parts.last().and_then(|p| p.args.as_ref());
                    let explicit = last.and_then(|args| self.template_args(args)).unwrap_or_default();
                    self.wanted_of(&[Callable::Template(index)], &explicit, name, shown);
                }
                None => self.unknown(&ident, name.span, "kernel"),
            },
        }
    }

    fn wanted_of(&mut self, set: &[Callable], explicit: &[TArg], name: &'a Name, shown: &str) {
        let ident = name.last();
        for callable in set {
            let Callable::Template(index) = *callable else { continue };
            let (args, fine) = self.quietly(|this| this.complete_args(index, explicit, ident.span));
            if let Some(args) = args.filter(|_| fine)
                && let Some(made) = self.function_instance(index, &args, &[], ident.span)
            {
                self.note_call(made, ident.span);
                if self.func(made).side == Side::Kernel {
                    let id = self.func_id(made);
                    shown.clone_into(&mut self.func_mut(made).display);
                    shown.clone_into(&mut self.module.functions[id.index()].name);
                }
                return;
            }
        }
        let text = self.text(&ident).to_owned();
        let diag = if set.iter().any(|callable| matches!(callable, Callable::Template(_))) {
            Diagnostic::error(Code::NoOverload, name.span, format!("no template `{text}` takes these arguments"))
        } else {
            let message = format!("`{text}` is no template, so it has no instances");
            Diagnostic::error(Code::NoOverload, name.span, message).help(format!("ask for `{text}`"))
        };
        self.report(diag);
    }

    /// The only template of a kernel by that name, in whatever namespace.
    fn kernel_template(&self, name: crate::front::ast::Symbol) -> Option<TemplateIndex> {
        let is = |t: &Template<'a>| match &t.kind {
            TemplateKind::Function { decl, .. } => t.name == name && decl.specs.global,
            _ => false,
        };
        let mut found = (0..self.templates.len()).filter(|&i| is(&self.templates[i]));
        let first = found.next()?;
        found.next().is_none().then_some(TemplateIndex(first as u32))
    }

    /// The template that a name means.
    pub(in crate::front::lower) fn template_named(&mut self, name: &'a Name) -> Option<TemplateIndex> {
        let ident = name.last();
        let decl = match name.qualifiers() {
            [] if !name.global => self.lookup(ident.name),
            _ => None,
        };
        match decl {
            Some(Decl::Template(index)) => Some(index),
            Some(Decl::Type(ty)) => {
                ty.as_struct().and_then(|s| self.class(s.id).template.as_ref().map(|(index, _)| *index))
            }
            _ => self.qualified_template(name),
        }
    }

    /// `ns::S<T>`: the template, its arguments left aside.
    fn qualified_template(&mut self, name: &'a Name) -> Option<TemplateIndex> {
        let mut scope = GLOBAL;
        let mut first = !name.global;
        for part in name.qualifiers() {
            let decl = if first { self.lookup(part.ident.name) } else { self.lookup_in(scope, part.ident.name) };
            first = false;
            match decl? {
                Decl::Namespace(inner) => scope = inner,
                _ => return None,
            }
        }
        match self.lookup_in(scope, name.last().name)? {
            Decl::Template(index) => Some(index),
            _ => None,
        }
    }

    /// The function that a set is when nothing but its name tells: it holds one, or its template arguments are complete.
    pub(in crate::front::lower) fn only_function(
        &mut self,
        set: &[Callable],
        explicit: Option<&[TArg]>,
    ) -> Option<FuncIndex> {
        match set {
            [Callable::Func(index)] if explicit.is_none() => Some(*index),
            [Callable::Template(index)] => {
                let (index, span) = (*index, self.template(*index).span);
                let explicit = explicit?;
                let (args, fine) = self.quietly(|this| this.complete_args(index, explicit, span));
                self.function_instance(index, &args.filter(|_| fine)?, &[], span)
            }
            _ => None,
        }
    }

    /// Every call that fits one template fits the other, and not the other way round ([temp.func.order]).
    pub(in crate::front::lower) fn template_is_narrower(&mut self, a: TemplateIndex, b: TemplateIndex) -> bool {
        match (self.fits_template(a, b), self.fits_template(b, a)) {
            (true, false) => true,
            (true, true) => self.refers_narrower(a, b) || self.asks_more(a, b),
            _ => false,
        }
    }

    /// The first of two templates that take the same requires something of its arguments and the other nothing ([temp.constr.order]).
    fn asks_more(&self, a: TemplateIndex, b: TemplateIndex) -> bool {
        let asks = |index| self.template(index).params.iter().any(|param| !param.constraints.is_empty());
        asks(a) && !asks(b) && !self.refers_narrower(b, a)
    }

    /// Between templates that take the same, `T&` is narrower than `T&&`, and `const T&` than `T&` ([temp.deduct.partial]).
    fn refers_narrower(&self, a: TemplateIndex, b: TemplateIndex) -> bool {
        let params = |index| match &self.template(index).kind {
            TemplateKind::Function { decl, .. } => decl.params.as_slice(),
            _ => &[],
        };
        let reference = |p: &crate::front::ast::ParamDecl| match p.ty.layers.last() {
            Some(crate::front::ast::TypeLayer::Reference { rvalue }) => {
                Some((!*rvalue, p.ty.layers.len() == 1 && p.ty.is_const))
            }
            _ => None,
        };
        let orders: Vec<std::cmp::Ordering> =
            params(a).iter().zip(params(b)).filter_map(|(x, y)| Some(reference(x)?.cmp(&reference(y)?))).collect();
        orders.iter().all(|o| o.is_ge()) && orders.iter().any(|o| o.is_gt())
    }

    /// The parameters of `a`, its own parameters standing for types of their own, fit `b`.
    fn fits_template(&mut self, a: TemplateIndex, b: TemplateIndex) -> bool {
        let (params, parent) = (self.template(a).params, self.template(a).scope);
        let TemplateKind::Function { decl, .. } = &self.template(a).kind else { return false };
        let decl = *decl;
        let unique = self.invented(params);
        let scope = self.scopes.create(ScopeKind::Template, parent, None);
        self.bind(scope, params, &unique);
        let sig = Signature::of(decl, String::new(), scope);
        let variadic = decl.params.iter().any(|p| p.pack);
        let (info, _) = self.quietly(|this| this.signature(sig));
        let TemplateKind::Function { decl: other, .. } = &self.template(b).kind else { return false };
        // A pack takes what a plain parameter takes, and not the other way round.
        if variadic && !other.params.iter().any(|p| p.pack) {
            return false;
        }
        let outer = std::mem::replace(&mut self.ordering, true);
        let fits = self.deduce_ordering(b, &info.params);
        self.ordering = outer;
        fits
    }

    /// [`Self::deduce_declaration`] with references left aside.
    fn deduce_ordering(&mut self, index: TemplateIndex, types: &[Ty]) -> bool {
        let args: Vec<Arg> = types
            .iter()
            .map(|ty| Arg { ty: ty.referred().clone(), lvalue: true, xvalue: false, null: false, list: None })
            .collect();
        let Some((bound, _)) = self.deduce_call(index, &[], &args) else { return false };
        // A call may convert its arguments; here they must be what the parameters are.
        let (params, parent) = (self.template(index).params, self.template(index).scope);
        let TemplateKind::Function { decl, .. } = &self.template(index).kind else { return false };
        let decl = *decl;
        let scope = self.scopes.create(ScopeKind::Template, parent, None);
        self.bind(scope, params, &bound);
        let (info, _) = self.quietly(|this| this.signature(Signature::of(decl, String::new(), scope)));
        let mut pairs = info.params.iter().zip(types);
        pairs.all(|(p, t)| p.referred().unqualified() == t.referred().unqualified())
    }

    /// The definition of a function from a declaration.
    pub(in crate::front::lower) fn define(&mut self, index: FuncIndex, decl: &'a FunctionDecl, scope: ScopeId) {
        let span = decl.name.last().span;
        if self.func(index).defined {
            let place = self.func(index).span;
            let message = format!("`{}` is defined twice", self.func(index).display);
            self.report(Diagnostic::error(Code::Redefinition, span, message).related(place, "first defined here"));
            return;
        }
        let info = self.func_mut(index);
        (info.defined, info.code, info.scope) = (true, body_of(decl), scope);
        (info.span, info.whole) = (span, decl.span);
        if decl.specs.inline {
            info.linkage = Linkage::Inline;
        }
        if info.progress == Progress::Idle && info.called.is_some() {
            info.progress = Progress::Queued;
            self.enqueue(index);
        }
    }
}

fn has_defaults(params: &[TemplateParam]) -> bool {
    use crate::front::ast::TemplateParamKind as K;
    params.iter().any(|p| match &p.kind {
        K::Type { default } => default.is_some(),
        K::Value { default, .. } => default.is_some(),
        K::Template { default, .. } => default.is_some(),
    })
}

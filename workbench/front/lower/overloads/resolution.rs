//! Overload resolution with everything a text can declare: templates, conversions of structs, braced lists, objects of
//! methods ([over.match]).

use std::rc::Rc;

use super::ranking::{Arg, Conversion, Rank, better, implicit};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Init, Symbol};
use crate::front::lower::Lowerer;
use crate::front::lower::classes::initializer_list;
use crate::front::lower::expressions::calls;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, TemplateIndex, Typed};
use crate::front::lower::scopes::names::{Callable, Decl, ScopeId, ScopeKind, TArg};
use crate::front::types::{FnTy, Kind, Ty};
use crate::source::Span;
use crate::steps::step;

/// A function that takes the arguments.
struct Candidate {
    index: FuncIndex,
    template: Option<TemplateIndex>,
    conversions: Vec<Conversion>,
}

/// Outcome of a choice among candidates.
enum Chosen {
    Best(FuncIndex),
    None,
    Ambiguous(Vec<FuncIndex>),
}

impl<'a> Lowerer<'a> {
    /// The implicit conversion of an argument to a type, those of structs included.
    pub(in crate::front::lower) fn conversion(&mut self, arg: &Arg, to: &Ty) -> Option<Conversion> {
        if arg.ty.is_error() || to.is_error() {
            return implicit(arg, to);
        }
        if let Some(list) = arg.list {
            return match arg.ty.kind {
                Kind::Braced => self.list_conversion(list, to).map(|c| c.made_for(to)),
                _ => self.overload_conversion(list, to),
            };
        }
        self.try_complete(&arg.ty);
        self.try_complete(to.referred());
        if let Some(conversion) = implicit(arg, to) {
            return Some(conversion);
        }
        let target = to.referred();
        if !arg.ty.is_struct() && !target.is_struct() {
            return None;
        }
        // A closure without captures, as the address of its function: a value that a conversion makes.
        if let Some(wanted) = target.pointee().filter(|to| matches!(to.kind, Kind::Function(_)))
            && let Some(plain) = self.plain_function(&arg.ty)
        {
            let binds = target.is_const || !matches!(to.kind, Kind::Reference(_));
            let fits = self.known_result(plain, Span::NONE) && self.function_type(plain).kind == wanted.kind;
            return (binds && fits).then(|| Conversion::of(Rank::User).made_for(to));
        }
        // A place of its type or of a type derived from it binds to no rvalue reference, by way of a copy either ([dcl.init.ref]).
        if matches!(to.kind, Kind::RvalueReference(_)) && arg.lvalue && !arg.xvalue {
            let is_related = match &target.kind {
                Kind::Struct(s) => arg.ty.base_offset(s).is_some(),
                _ => false,
            };
            if is_related {
                return None;
            }
        }
        // The result of a conversion is a value: it binds to no lvalue reference that is not const.
        if matches!(to.kind, Kind::Reference(_)) && !target.is_const {
            let from = arg.ty.clone();
            let function = self.conversion_function(&from, to, false)?;
            return self.func(function).ret.is_reference().then_some(Conversion::of(Rank::User));
        }
        let target = target.unqualified();
        if self.user_depth() {
            return None;
        }
        let found = self.user_conversion(arg, &target, false);
        self.depth -= 40;
        found.map(|_| Conversion::of(Rank::User).made_for(to))
    }

    /// Conversions of conversions stop somewhere.
    fn user_depth(&mut self) -> bool {
        if self.depth > 500 {
            return true;
        }
        self.depth += 40;
        false
    }

    /// The entries of a braced argument, for ranking; `None` for designators, and in lists that hold calls with lists that hold
    /// more of them: there only numbers of entries are compared.
    pub(in crate::front::lower) fn entries_of(&mut self, list: u32) -> Option<Rc<[Arg]>> {
        const DEEPEST: u32 = 4;
        if let Some(known) = self.braced_shapes.get(&list) {
            return known.clone();
        }
        let (entries, scope) = self.braced[list as usize];
        let plain = entries.iter().all(|e| matches!(e, Init::List(..)) || e.only_expr().is_some());
        let shapes = if plain && self.list_depth < DEEPEST {
            self.list_depth += 1;
            let here = self.scopes.enter(scope);
            let warned = std::mem::replace(&mut self.warned, false);
            let (typed, fine) = self.quietly(|this| entries.iter().map(|e| this.entry(e)).collect::<Vec<Typed>>());
            let shapes: Rc<[Arg]> = typed.iter().map(Arg::from).collect();
            if (fine || self.quiet > 0) && !self.warned {
                for (entry, typed) in entries.iter().zip(typed) {
                    // The elements of a list within the list wait for a type of their own.
                    if let Init::Expr(e) = entry {
                        self.kept.insert((std::ptr::from_ref(e), self.f.serial, scope), typed);
                    }
                }
            }
            self.warned |= warned;
            self.scopes.enter(here);
            self.list_depth -= 1;
            fine.then_some(shapes)
        } else {
            None
        };
        self.braced_shapes.insert(list, shapes.clone());
        shapes
    }

    /// The conversion of a braced list ([over.ics.list]).
    fn list_conversion(&mut self, list: u32, to: &Ty) -> Option<Conversion> {
        let (entries, _) = self.braced[list as usize];
        let target = to.referred();
        if matches!(to.kind, Kind::Reference(_)) && !target.is_const {
            return None;
        }
        if let Some(s) = target.as_struct().cloned() {
            self.try_complete(target);
            let layout = s.layout.get()?;
            let shapes = self.entries_of(list);
            if let Some(elem) = initializer_list::element(target) {
                let mut worst = Conversion::of(Rank::Exact);
                for shape in shapes.iter().flat_map(|s| s.iter()) {
                    let one = self.conversion(shape, &elem)?;
                    if worst.order(&one).is_lt() {
                        worst = one;
                    }
                }
                return Some(worst.of_list());
            }
            let by_list = self.list_constructor(&s);
            let all_convert = match (&by_list, &shapes) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(by), Some(shapes)) => shapes.iter().all(|shape| self.conversion(shape, by.element()).is_some()),
            };
            let fits = if all_convert {
                true
            } else if let (Some(shapes), true) = (&shapes, self.class(s.id).constructed) {
                let set = self.class(s.id).constructors.clone();
                let chosen = if self.user_depth() {
                    Chosen::None
                } else {
                    let chosen = self.quietly(|this| this.choose_among(&set, None, None, shapes, true)).0;
                    self.depth -= 40;
                    chosen
                };
                let copies = matches!(&**shapes, [one] if one.ty.as_struct().is_some_and(|from| from.id == s.id));
                copies || shapes.is_empty() || !matches!(chosen, Chosen::None)
            } else if self.class(s.id).constructed {
                let set = self.class(s.id).constructors.clone();
                set.iter().any(|c| match c {
                    Callable::Func(f) => {
                        let f = self.func(*f);
                        (f.required()..=f.params.len()).contains(&entries.len())
                    }
                    Callable::Template(_) => true,
                }) || entries.is_empty()
            } else {
                entries.len() <= layout.fields.len().max(1) * 16
            };
            return fits.then_some(Conversion::of(Rank::User));
        }
        (entries.len() <= 1 && target.ir().is_some()).then_some(Conversion::of(Rank::Exact))
    }

    fn overload_conversion(&mut self, at: u32, to: &Ty) -> Option<Conversion> {
        self.overload_for(at, to).map(|_| Conversion::of(Rank::Exact))
    }

    /// The function of a set that has the type a pointer (or reference) asks for.
    pub(in crate::front::lower) fn overload_for(&mut self, at: u32, to: &Ty) -> Option<FuncIndex> {
        let (set, explicit) = self.overloads[at as usize].clone();
        let target = to.pointee().or(to.target()).unwrap_or(to).clone();
        let Kind::Function(wanted) = &target.kind else { return None };
        // A function that is no template comes first.
        let is_template = |c: &&Callable| matches!(c, Callable::Template(_));
        let (templates, plain): (Vec<&Callable>, Vec<&Callable>) = set.iter().partition(is_template);
        for callable in plain.into_iter().chain(templates) {
            let index = match callable {
                Callable::Func(index) if explicit.is_none() => *index,
                Callable::Func(_) => continue,
                Callable::Template(template) => {
                    let explicit = explicit.clone().unwrap_or_else(|| Rc::new([]));
                    let Some(args) = self.deduce_declaration(*template, &explicit, &wanted.params, Some(&wanted.ret))
                    else {
                        continue;
                    };
                    match self.function_instance(*template, &args, &[], Span::NONE) {
                        Some(index) => index,
                        None => continue,
                    }
                }
            };
            if self.function_type(index).kind == target.kind {
                return Some(index);
            }
        }
        None
    }

    /// The type of a function.
    pub(in crate::front::lower) fn function_type(&mut self, index: FuncIndex) -> Ty {
        let span = self.func(index).span;
        self.known_result(index, span);
        let f = self.func(index);
        let params = f.params.iter().map(|p| if p.is_reference() { p.clone() } else { p.unqualified() }).collect();
        Ty::new(Kind::Function(Rc::new(FnTy { ret: f.ret.clone(), params })))
    }

    /// The best of several functions for some arguments; quiet.
    pub(in crate::front::lower) fn best_of(
        &mut self,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        object: Option<&Arg>,
        args: &[Arg],
        user: bool,
    ) -> Option<FuncIndex> {
        match self.choose_among(set, explicit, object, args, user) {
            Chosen::Best(index) => Some(index),
            _ => None,
        }
    }

    fn choose_among(
        &mut self,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        object: Option<&Arg>,
        args: &[Arg],
        user: bool,
    ) -> Chosen {
        if explicit.is_none()
            && let Some(index) = self.exact(set, object, args)
            && self.viable(index, object, args, user).is_some()
        {
            return Chosen::Best(index);
        }
        let mut viable: Vec<Candidate> = Vec::new();
        for callable in set {
            step();
            let (index, template) = match callable {
                Callable::Func(_) if explicit.is_some() => continue,
                Callable::Func(index) => (*index, None),
                Callable::Template(template) => {
                    let Some((found, autos)) = self.deduce_call(*template, explicit.unwrap_or(&[]), args) else {
                        continue;
                    };
                    match self.function_instance(*template, &found, &autos, self.call_span()) {
                        Some(index) => (index, Some(*template)),
                        None => continue,
                    }
                }
            };
            if viable.iter().any(|c| c.index == index) {
                continue;
            }
            if let Some(conversions) = self.viable(index, object, args, user) {
                viable.push(Candidate { index, template, conversions });
            }
        }
        let mut best = None;
        for i in 0..viable.len() {
            let mut wins = true;
            for j in 0..viable.len() {
                wins &= i == j || self.is_better(&viable[i], &viable[j]);
            }
            if wins {
                best = Some(viable[i].index);
            }
        }
        // The user's function is meant if one of the library fits as well.
        if best.is_none() && !viable.is_empty() {
            let mut own = viable.iter().filter(|c| !self.in_library(self.func(c.index).span));
            if let (Some(one), None) = (own.next(), own.next()) {
                let rest = viable.iter().filter(|c| c.index != one.index);
                let worse = |c: &Candidate| !better(&c.conversions, &one.conversions);
                best = rest.clone().all(worse).then_some(one.index);
            }
        }
        match best {
            Some(index) => Chosen::Best(index),
            None if viable.is_empty() => Chosen::None,
            None => Chosen::Ambiguous(viable.into_iter().map(|c| c.index).collect()),
        }
    }

    /// The place where an instance is said to be asked for.
    fn call_span(&self) -> Span {
        self.f.b.span
    }

    fn is_better(&mut self, a: &Candidate, b: &Candidate) -> bool {
        if better(&a.conversions, &b.conversions) {
            return true;
        }
        if better(&b.conversions, &a.conversions) {
            return false;
        }
        let equal = a.conversions.iter().zip(&b.conversions).all(|(x, y)| x.order(y).is_eq());
        if !equal {
            return false;
        }
        match (a.template, b.template) {
            (None, Some(_)) => true,
            (Some(x), Some(y)) => x != y && self.template_is_narrower(x, y),
            _ => false,
        }
    }

    /// The conversions of the arguments (an object first) to a function's parameters.
    fn viable(&mut self, index: FuncIndex, object: Option<&Arg>, args: &[Arg], user: bool) -> Option<Vec<Conversion>> {
        let f = self.func(index);
        if !(f.required()..=f.params.len()).contains(&args.len()) {
            return None;
        }
        let (params, this) = (f.params.clone(), f.this.clone());
        let mut conversions = Vec::with_capacity(args.len() + 1);
        if let Some(object) = object {
            match this {
                Some(this) => {
                    let class = this.as_struct()?;
                    object.ty.base_offset(class)?;
                    if (object.ty.is_const && !this.is_const) || (object.ty.is_volatile && !this.is_volatile) {
                        return None;
                    }
                    conversions.push(Conversion::object(this.is_const != object.ty.is_const));
                }
                None => conversions.push(Conversion::of(Rank::Exact)),
            }
        }
        for (arg, param) in args.iter().zip(&params) {
            let conversion = if user { self.conversion(arg, param) } else { self.plain_conversion(arg, param) };
            conversions.push(conversion?);
        }
        Some(conversions)
    }

    /// Without further conversions of structs: a converting constructor's argument gets none.
    fn plain_conversion(&mut self, arg: &Arg, to: &Ty) -> Option<Conversion> {
        if arg.list.is_some() {
            return self.conversion(arg, to);
        }
        self.try_complete(&arg.ty);
        self.try_complete(to.referred());
        implicit(arg, to)
    }

    /// Chooses among functions and reports when none or several fit.
    pub(in crate::front::lower) fn choose_function(
        &mut self,
        name: &str,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        object: Option<&Arg>,
        args: &[Typed],
        span: Span,
    ) -> Option<FuncIndex> {
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        self.f.b.span = span;
        match self.choose_among(set, explicit, object, &shapes, true) {
            Chosen::Best(index) => Some(index),
            Chosen::None => {
                self.no_overload(name, set, explicit, object, args, span);
                None
            }
            Chosen::Ambiguous(which) => {
                let message = format!("call of `{name}` is ambiguous for {}", calls::list_of(args));
                let mut diag =
                    Diagnostic::error(Code::NoOverload, span, message).help("cast the arguments to the types meant");
                for index in which {
                    diag = diag.related(self.func(index).span, "this one takes them");
                }
                self.report(diag);
                None
            }
        }
    }

    /// [`Self::choose_function`] that stays silent when nothing fits; ambiguity is still reported.
    pub(in crate::front::lower) fn try_choose(
        &mut self,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        object: Option<&Arg>,
        args: &[Typed],
        span: Span,
    ) -> Result<Option<FuncIndex>, Vec<FuncIndex>> {
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        self.f.b.span = span;
        match self.choose_among(set, explicit, object, &shapes, true) {
            Chosen::Best(index) => Ok(Some(index)),
            Chosen::None => Ok(None),
            Chosen::Ambiguous(which) => Err(which),
        }
    }

    fn no_overload(
        &mut self,
        name: &str,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        object: Option<&Arg>,
        args: &[Typed],
        span: Span,
    ) {
        let shown = calls::list_of(args);
        if let ([Callable::Func(only)], None) = (set, explicit) {
            return self.not_viable(name, *only, object, args, span);
        }
        let message = match set {
            [Callable::Template(_)] => format!("template `{name}` cannot take {shown}"),
            _ => format!("no `{name}` takes {shown}"),
        };
        let mut diag = Diagnostic::error(Code::NoOverload, span, message);
        for callable in set.iter().take(6) {
            let place = match callable {
                Callable::Func(f) => self.func(*f).span,
                Callable::Template(t) => self.template(*t).span,
            };
            if place != Span::NONE {
                diag = diag.related(place, "this one does not");
            }
        }
        self.report(diag);
    }

    /// One candidate: says what of it does not fit.
    fn not_viable(&mut self, name: &str, only: FuncIndex, object: Option<&Arg>, args: &[Typed], span: Span) {
        let f = self.func(only);
        let (least, most, place) = (f.required(), f.params.len(), f.span);
        if f.broken {
            return;
        }
        if !(least..=most).contains(&args.len()) {
            let wanted = if least == most { calls::count(most) } else { format!("{least} to {most} arguments") };
            let message = format!("`{name}` takes {wanted}, and {} given", calls::given(args.len()));
            self.report(Diagnostic::error(Code::ArgumentCount, span, message).related(place, "declared here"));
            return;
        }
        if let (Some(object), Some(this)) = (object, &f.this)
            && object.ty.is_const
            && !this.is_const
        {
            let message = format!("`{name}` may change its object, and this one is const");
            self.report(
                Diagnostic::error(Code::TypeMismatch, span, message)
                    .related(place, "declared here")
                    .help("write `const` after the parameters of the method"),
            );
            return;
        }
        let params = f.params.clone();
        let before = self.diags.len();
        for (i, (arg, param)) in args.iter().zip(&params).enumerate() {
            self.argument(arg.clone(), param, i + 1, name);
        }
        // Whatever was not chosen is an error, whether or not one of the arguments is one by itself.
        if self.diags.len() == before {
            let message = format!("`{name}` cannot take {}", calls::list_of(args));
            self.report(Diagnostic::error(Code::NoOverload, span, message).related(place, "this one does not"));
        }
    }

    /// The functions that are found through the types of a call's arguments ([basic.lookup.argdep]).
    pub(in crate::front::lower) fn associated(&mut self, name: Symbol, args: &[Typed]) -> Vec<Callable> {
        let mut scopes: Vec<ScopeId> = Vec::new();
        for arg in args {
            self.associated_scopes(&arg.ty.clone(), &mut scopes, 0);
        }
        let mut out = Vec::new();
        for scope in scopes {
            if let Some(Decl::Functions(set)) = self.lookup_in(scope, name) {
                out.extend(set.iter().copied().filter(|c| !out.contains(c)).collect::<Vec<_>>());
            }
        }
        out
    }

    fn associated_scopes(&mut self, ty: &Ty, scopes: &mut Vec<ScopeId>, depth: u32) {
        if depth > 8 {
            return;
        }
        match &ty.kind {
            Kind::Pointer(inner) | Kind::Reference(inner) | Kind::RvalueReference(inner) | Kind::Array(inner, _) => {
                self.associated_scopes(inner, scopes, depth + 1);
            }
            Kind::Struct(s) => {
                if s.vector.is_some() {
                    return;
                }
                let scope = self.scopes.namespace_of(self.class(s.id).scope);
                if !scopes.contains(&scope) && self.scopes.kind(scope) == ScopeKind::Namespace {
                    scopes.push(scope);
                }
                if let Some((_, args)) = self.class(s.id).template.clone() {
                    for arg in args.iter() {
                        if let TArg::Type(ty) = arg {
                            self.associated_scopes(ty, scopes, depth + 1);
                        }
                    }
                }
                let bases: Vec<Ty> =
                    s.layout.get().map(|l| l.bases.iter().map(|(b, _)| b.clone()).collect()).unwrap_or_default();
                for base in bases {
                    self.associated_scopes(&base, scopes, depth + 1);
                }
            }
            Kind::Enum(e) => {
                if let Some(&(_, scope)) = self.enum_scopes.iter().find(|(id, _)| *id == e.id)
                    && !scopes.contains(&scope)
                {
                    scopes.push(scope);
                }
            }
            _ => {}
        }
    }

    /// A value converted to a type by every means an explicit conversion has.
    pub(in crate::front::lower) fn explicit_conversion(&mut self, e: Typed, to: &Ty, why: Use<'_>) -> Typed {
        if e.is_error() || to.is_error() {
            return Typed::error(e.span);
        }
        let arg = Arg::from(&e);
        if implicit(&arg, to).is_none()
            && e.ty.is_struct()
            && let Some(function) = self.conversion_function(&e.ty.clone(), to, true)
        {
            let span = e.span;
            let value = self.converted_by(function, e, span);
            let value = self.operand(value);
            return self.cast(value, to);
        }
        self.implicit(e, to, why)
    }

    /// The function that an expression is, or is the address of.
    pub(in crate::front::lower) fn as_function(e: &Typed) -> Option<FuncIndex> {
        match &e.node {
            Node::Function(index) => Some(*index),
            Node::AddrOf(inner) | Node::Decay(inner) | Node::Convert(inner) => Self::as_function(inner),
            Node::Deref(inner) => Self::as_function(inner),
            _ => None,
        }
    }
}

//! Calls: functions of the text, builtins, and what looks like a call but is not.

use super::check::bare;
use super::conversions::Use;
use super::members::MemberFound;
use super::typed_tree::{FuncIndex, Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{CastKind, Expr, ExprKind, Ident, Name};
use crate::front::builtins::{self, Form};
use crate::front::lower::overloads::ranking;
use crate::front::lower::overloads::ranking::{Arg, Choice, choose};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names;
use crate::front::lower::scopes::names::{Callable, GLOBAL, TArg};
use crate::front::lower::templates::arguments;
use crate::front::lower::templates::arguments::MAX_PACK;
use crate::front::lower::{Lowerer, Side, Storage};
use crate::front::types::{FnTy, Kind, Ty};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// `f(args)`
    pub(in crate::front::lower) fn call(&mut self, f: &'a Expr, args: &'a [Expr], span: Span) -> Typed {
        match &bare(f).kind {
            ExprKind::Name(name) => self.call_name(name, f, args, span),
            ExprKind::Member { object, member, arrow } => match self.find_member(object, member, *arrow, f.span) {
                Some(MemberFound::Methods(object, set, explicit)) => {
                    let args = self.arguments(args);
                    let name = self.text(&member.last()).to_owned();
                    self.call_methods(&name, object, &set, explicit.as_deref(), args, span)
                }
                Some(MemberFound::Value(callee)) => self.call_of_value(callee, f, args, span),
                None => {
                    self.arguments(args);
                    Typed::error(span)
                }
            },
            _ => {
                let callee = self.expr(f);
                self.call_of_value(callee, f, args, span)
            }
        }
    }

    fn call_name(&mut self, name: &'a Name, f: &'a Expr, args: &'a [Expr], span: Span) -> Typed {
        let ident = name.last();
        let plain = name.parts.len() == 1 && !name.global;
        let throws = [crate::library::THROW, crate::library::THROW_OBJECT].contains(&self.text(&ident));
        if name.global && throws && self.f.side != Side::Host {
            let message = "exceptions are not supported in device code";
            self.report(
                Diagnostic::error(Code::Unsupported, span, message).help("return an error code, or use `assert`"),
            );
            return Typed::error(span);
        }
        if name.global && crate::library::HEAP.contains(&self.text(&ident)) && self.f.side != Side::Host {
            let word = if self.text(&ident).starts_with("__wb_new") { "new" } else { "delete" };
            let message = format!("`{word}` is not supported in device code");
            let help = "use a local array, or pass the memory as a parameter";
            self.report(Diagnostic::error(Code::Unsupported, span, message).help(help));
            return Typed::error(span);
        }
        match self.find(name) {
            Found::Functions(set, explicit) => {
                let args = self.arguments(args);
                if args.iter().any(Typed::is_error) {
                    return Typed::error(span);
                }
                if let Some(object) = self.implicit_object(&set, span) {
                    let name = self.text(&ident).to_owned();
                    return self.call_methods(&name, object, &set, explicit.as_deref(), args, span);
                }
                if let Some(outer) = self.outer_object(&set, span) {
                    let name = self.text(&ident).to_owned();
                    return self.call_methods(&name, outer, &set, explicit.as_deref(), args, span);
                }
                let mut set = set;
                if plain {
                    let more = self.associated(ident.name, &args);
                    let fresh = names::fresh(&set, &more);
                    if !fresh.is_empty() {
                        set = set.iter().copied().chain(fresh).collect();
                    }
                }
                self.call_user(&ident, &set, explicit.as_deref(), args, span)
            }
            Found::Type(ty) => {
                if ty.is_error() {
                    self.arguments(args);
                    return Typed::error(span);
                }
                self.construct_type(&ty, args, span)
            }
            Found::Error => {
                self.arguments(args);
                Typed::error(span)
            }
            Found::Template(index) => self.construct_deduced(index, args, span),
            Found::None => {
                let in_std = name.qualifiers().first().is_some_and(|p| self.text(&p.ident) == "std");
                let parts = self.strip_std(name);
                let [part] = parts else {
                    self.unknown_namespace(parts, f.span);
                    return Typed::error(span);
                };
                let extreme = matches!(self.text(&ident), "min" | "max");
                if part.args.is_some() && !(extreme && in_std) {
                    return self.template_arguments(name);
                }
                if extreme && in_std {
                    let explicit = part.args.as_ref();
                    if let Some(call) = self.std_extreme(&ident, explicit, args, span) {
                        return call;
                    }
                }
                if let Some(call) = self.call_output(&ident, args, span) {
                    return call;
                }
                let typed = self.arguments(args);
                if plain {
                    // A function that only the types of the arguments lead to.
                    let set = self.associated(ident.name, &typed);
                    if !set.is_empty() {
                        return self.call_user(&ident, &set, None, typed, span);
                    }
                }
                self.call_named(&ident, (args, typed), in_std, span)
            }
            _ => {
                let callee = self.expr(f);
                self.call_of_value(callee, f, args, span)
            }
        }
    }

    /// The object round a lambda, where a method of it is called by its name alone.
    fn outer_object(&mut self, set: &[Callable], span: Span) -> Option<Typed> {
        let closure = self.f.this.as_ref()?.ty.pointee()?.as_struct()?.clone();
        self.class(closure.id).captured_this.as_ref()?;
        let this = self.outer_this(span);
        let class = this.ty.pointee()?.clone();
        let object = Typed::place(class, span, Node::Deref(Box::new(this)));
        let owner = set.iter().find_map(|c| match c {
            Callable::Func(index) => self.func(*index).this.clone(),
            Callable::Template(_) => None,
        })?;
        object.ty.base_offset(owner.as_struct()?)?;
        Some(object)
    }

    fn call_of_value(&mut self, callee: Typed, f: &'a Expr, args: &'a [Expr], span: Span) -> Typed {
        let args = self.arguments(args);
        if callee.is_error() || args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        if callee.ty.is_struct() {
            let symbol = self.known.call;
            return self.operator_method(symbol, "()", callee, args, span);
        }
        if let Some(index) = Self::as_function(&callee) {
            return self.call_function_checked(index, args, span);
        }
        let target = callee.ty.decayed();
        if let Some(Kind::Function(func)) = target.pointee().map(|t| &t.kind) {
            let func = func.clone();
            return self.call_pointer(callee, &func, args, span);
        }
        let message = format!("this is `{}` and cannot be called", callee.ty);
        let mut diag = Diagnostic::error(Code::TypeMismatch, f.span, message);
        if let Node::Var(id) = callee.node {
            diag = diag.related(self.var(id).span, "declared here");
        }
        self.report(diag);
        Typed::error(span)
    }

    /// A call through a pointer whose function is known only when running.
    fn call_pointer(&mut self, callee: Typed, func: &FnTy, args: Vec<Typed>, span: Span) -> Typed {
        if args.len() != func.params.len() {
            self.exactly("the function pointed at", func.params.len(), args.len(), span);
            return Typed::error(span);
        }
        let mut converted = Vec::new();
        for (i, (arg, param)) in args.into_iter().zip(&func.params).enumerate() {
            converted.push(self.argument(arg, param, i + 1, "the function pointed at"));
        }
        if converted.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let callee = self.operand(callee);
        let index = self.dispatcher(func, span);
        converted.insert(0, callee);
        self.finished_call(index, converted, span)
    }

    fn call_function_checked(&mut self, index: FuncIndex, args: Vec<Typed>, span: Span) -> Typed {
        let name = self.func(index).display.clone();
        match self.choose_function(&name, &[Callable::Func(index)], None, None, &args, span) {
            Some(index) => self.call_function(index, args, span),
            None => Typed::error(span),
        }
    }

    /// `T(x)` where the parser could not know that `T` is a type.
    fn construct_type(&mut self, ty: &Ty, args: &'a [Expr], span: Span) -> Typed {
        if ty.is_struct() {
            let args = self.arguments(args);
            return self.construct(ty, args, span);
        }
        match args {
            [] => self.zero_of(ty, span),
            [arg] => {
                let e = self.expr(arg);
                self.explicit(CastKind::Functional, e, ty, span)
            }
            _ => {
                let message = format!("`{ty}` is made from one value, not {}", args.len());
                self.report(Diagnostic::error(Code::ArgumentCount, span, message));
                Typed::error(span)
            }
        }
    }

    /// Checks arguments; packs are expanded.
    pub(in crate::front::lower) fn arguments(&mut self, args: &'a [Expr]) -> Vec<Typed> {
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            match &arg.kind {
                ExprKind::PackExpansion(pattern) => out.extend(self.expanded(pattern, arg.span)),
                _ => out.push(self.expr(arg)),
            }
            if out.len() > MAX_PACK {
                self.report(arguments::too_long(arg.span));
                return vec![Typed::error(arg.span)];
            }
        }
        out
    }

    fn call_user(
        &mut self,
        ident: &Ident,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let name = self.text(ident).to_owned();
        // The text's overloads join CUDA's own of that name.
        if explicit.is_none() && builtins::is_function(&name) {
            let structs = args.iter().any(|a| a.ty.is_struct());
            match self.try_choose(set, None, None, &args, span) {
                Ok(Some(index)) if structs || !self.is_taken(&name, &args) => {
                    return self.call_function(index, args, span);
                }
                Ok(Some(index)) if !self.takes_user_conversion(index, &args) && !self.is_worse(index, &name, &args) => {
                    return self.call_function(index, args, span);
                }
                Err(_) if structs => {}
                _ => {
                    let sigs = builtins::lookup(&name);
                    let math = builtins::math(&name);
                    if !sigs.is_empty() || math.is_some() {
                        let args: Vec<Typed> = args.into_iter().map(|arg| self.as_builtin(arg)).collect();
                        return match math {
                            Some((f, form)) if sigs.is_empty() => self.call_math(&name, f, form, args, span),
                            _ => self.call_builtin(&name, sigs, args, span),
                        };
                    }
                }
            }
        }
        if explicit.is_none()
            && self.makes_vector_of(&name, args.len())
            && !matches!(self.try_choose(set, None, None, &args, span), Ok(Some(_)))
            && let Some(made) = self.make_vector(&name, args.clone(), span)
        {
            return made;
        }
        match self.choose_function(&name, set, explicit, None, &args, span) {
            Some(index) => self.call_function(index, args, span),
            None => Typed::error(span),
        }
    }

    /// The builtin of a name can take arguments.
    fn is_taken(&mut self, name: &str, args: &[Typed]) -> bool {
        let args: Vec<Typed> = args.iter().map(|arg| self.as_builtin(arg.clone())).collect();
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        let sigs = builtins::lookup(name);
        if sigs.is_empty() {
            return args.iter().all(|arg| arg.ty.num().is_some());
        }
        let count = |i: usize| sigs[i].params.len()..=sigs[i].params.len();
        !matches!(choose(sigs.len(), &shapes, count, |i, j| sigs[i].params[j].ty()), Choice::None)
    }

    /// The call needs a constructor or conversion function, so that what is built in fits better.
    fn takes_user_conversion(&mut self, index: FuncIndex, args: &[Typed]) -> bool {
        let params = self.func(index).params.clone();
        args.iter().zip(&params).any(|(arg, param)| ranking::implicit(&Arg::from(arg), param).is_none())
    }

    /// The function, which stands beside CUDA's own of its name at global scope, converts what one of those takes as it is ([over.ics.rank]).
    fn is_worse(&self, index: FuncIndex, name: &str, args: &[Typed]) -> bool {
        let func = self.func(index);
        let takes = |arg: &Typed, param: &Ty| param.referred().unqualified() == arg.ty.referred().unqualified();
        if self.scopes.namespace_of(func.scope) != GLOBAL || args.iter().zip(&func.params).all(|(a, p)| takes(a, p)) {
            return false;
        }
        let sigs = builtins::lookup(name);
        if sigs.is_empty() {
            let first = args.first().map(|arg| arg.ty.referred().unqualified());
            let is_float = first.as_ref().and_then(Ty::num).is_some_and(|num| num.is_float());
            let is_overloaded = matches!(builtins::math(name), Some((_, Form::Overloaded)));
            return is_overloaded && is_float && args.iter().all(|a| first.as_ref().is_some_and(|ty| takes(a, ty)));
        }
        sigs.iter().any(|s| s.params.len() == args.len() && args.iter().zip(s.params).all(|(a, p)| takes(a, &p.ty())))
    }

    /// Converts an argument to a parameter's type; a reference takes the address.
    pub(in crate::front::lower) fn argument(&mut self, arg: Typed, param: &Ty, index: usize, name: &str) -> Typed {
        let Some(target) = param.target() else {
            return self.implicit(arg, &param.unqualified(), Use::Argument(index, name));
        };
        self.bind_to(arg, param, target, |from| {
            format!("argument {index} of `{name}` is `{param}`, which cannot refer to this `{from}`")
        })
    }

    /// The address that an lvalue reference to `target` holds.
    pub(in crate::front::lower) fn bind_reference(
        &mut self,
        e: Typed,
        target: &Ty,
        message: impl Fn(&Ty) -> String,
    ) -> Typed {
        let reference = target.clone().reference();
        self.bind_to(e, &reference, target, message)
    }

    /// The number lives in no memory and is bound to a reference to a constant, for which a copy will do: an operator's operand.
    fn is_read_only_copy(&self, e: &Typed, target: &Ty) -> bool {
        let local = e.as_var().is_some_and(|id| {
            let var = self.var(id);
            matches!(var.storage, Storage::Local(_)) && var.owner == self.f.serial
        });
        local && target.is_const && !target.is_volatile && !e.ty.is_struct()
    }

    /// The address that a reference holds.
    pub(in crate::front::lower) fn bind_to(
        &mut self,
        e: Typed,
        reference: &Ty,
        target: &Ty,
        message: impl Fn(&Ty) -> String,
    ) -> Typed {
        if e.is_error() || target.is_error() {
            return Typed::error(e.span);
        }
        let span = e.span;
        let ptr = target.clone().pointer();
        if let Node::Overloads(at) = e.node
            && let Some(index) = self.overload_for(at, target)
        {
            let place = Typed::place(target.clone(), span, Node::Function(index));
            return Typed::value(ptr, span, Node::AddrOf(Box::new(place)));
        }
        if self.conversion(&Arg::from(&e), reference).is_none() {
            let mut diag = Diagnostic::error(Code::TypeMismatch, span, message(&e.ty));
            if !e.lvalue {
                diag = diag.help("store the value in a variable first, or take a `const` reference");
            } else if matches!(reference.kind, Kind::RvalueReference(_)) {
                diag = diag.help("write `std::move(...)` to give its value away");
            }
            self.report(diag);
            return Typed::error(span);
        }
        let apart = self.bits_of(&e).is_some();
        if apart && !target.is_const {
            let what = if let Node::BitField(..) = e.node { "a bit-field" } else { "a member of a packed struct" };
            let message = format!("a reference cannot bind to {what}, which no address is enough for");
            let help = "copy it into a variable, or take a `const` reference";
            self.report(Diagnostic::error(Code::TypeMismatch, span, message).help(help));
            return Typed::error(span);
        }
        if let Node::Braced(_) = e.node {
            let value = self.implicit(e, &target.unqualified(), Use::Assign);
            if value.is_error() {
                return value;
            }
            let place = Typed::place(target.clone(), span, Node::Temporary(Box::new(value)));
            return Typed::value(ptr, span, Node::AddrOf(Box::new(place)));
        }
        let same = e.ty.unqualified() == target.unqualified() || e.ty.is_array() && target.is_array();
        let derived = target.as_struct().filter(|t| !same && e.ty.base_offset(t).is_some()).cloned();
        let place = if let Some(base) = derived {
            let whole = if e.lvalue { e } else { Typed::place(e.ty.clone(), span, Node::Temporary(Box::new(e))) };
            self.upcast_place(whole, &base)
        } else if same && e.lvalue && !apart && !self.is_read_only_copy(&e, target) {
            e
        } else if same && e.lvalue {
            let value = Typed::value(e.ty.unqualified(), span, Node::Load(Box::new(e)));
            Typed::place(target.clone(), span, Node::Temporary(Box::new(value)))
        } else if same && e.ty.is_struct() {
            Typed::place(target.clone(), span, Node::Temporary(Box::new(e)))
        } else {
            let value = self.implicit(e, &target.unqualified(), Use::Assign);
            if value.is_error() {
                return value;
            }
            Typed::place(target.clone(), span, Node::Temporary(Box::new(value)))
        };
        Typed::value(ptr, span, Node::AddrOf(Box::new(place)))
    }

    /// A call of a function of the text that has been chosen.
    pub(in crate::front::lower) fn call_function(&mut self, index: FuncIndex, args: Vec<Typed>, span: Span) -> Typed {
        if self.needs_object(index, span) {
            return Typed::error(span);
        }
        self.call_with(index, None, args, span)
    }

    /// A call with its object, the address of one, before the arguments.
    pub(super) fn call_with(&mut self, index: FuncIndex, this: Option<Typed>, args: Vec<Typed>, span: Span) -> Typed {
        if !self.may_call(index, span) || !self.known_result(index, span) {
            return Typed::error(span);
        }
        let Some(mut converted) = self.converted_arguments(index, args, span) else { return Typed::error(span) };
        if self.func(index).ret.is_error() {
            return Typed::error(span);
        }
        if let Some(this) = this {
            converted.insert(0, this);
        }
        self.note_call(index, span);
        self.finished_call(index, converted, span)
    }

    /// A call's node, what a reference refers to looked through.
    fn finished_call(&mut self, index: FuncIndex, args: Vec<Typed>, span: Span) -> Typed {
        let ret = self.func(index).ret.clone();
        if ret.is_struct() && !self.complete_type(&ret, span) {
            return Typed::error(span);
        }
        let call = Typed::value(ret.decayed(), span, Node::Call(index, args));
        match ret.target() {
            Some(target) => {
                let ptr = Typed { ty: target.clone().pointer(), ..call };
                let xvalue = matches!(ret.kind, Kind::RvalueReference(_));
                Typed { xvalue, ..Typed::place(target.clone(), span, Node::Deref(Box::new(ptr))) }
            }
            None => call,
        }
    }

    /// Arguments as the parameters want them, defaults added; `None` once reported.
    pub(in crate::front::lower) fn converted_arguments(
        &mut self,
        index: FuncIndex,
        args: Vec<Typed>,
        span: Span,
    ) -> Option<Vec<Typed>> {
        let func = self.func(index);
        let name = func.display.clone();
        let (params, scope) = (func.params.clone(), func.scope);
        let rest: Vec<&'a Expr> = func.defaults.iter().skip(args.len()).copied().flatten().collect();
        let mut all = args;
        if !rest.is_empty() {
            let here = self.scopes.enter(scope);
            for e in rest {
                let value = self.expr(e);
                // A default is said to stand where the call does.
                all.push(Typed { span, ..value });
            }
            self.scopes.enter(here);
        }
        let mut converted = Vec::with_capacity(params.len());
        for (i, (arg, param)) in all.into_iter().zip(&params).enumerate() {
            converted.push(self.argument(arg, param, i + 1, &name));
        }
        (!converted.iter().any(Typed::is_error)).then_some(converted)
    }

    pub(in crate::front::lower) fn may_call(&mut self, index: FuncIndex, span: Span) -> bool {
        let func = self.func(index);
        let (name, place, side) = (func.display.clone(), func.span, func.side);
        if func.broken {
            return false;
        }
        if func.deleted {
            let diag = match builtins::unsupported_method(&name) {
                Some(advice) => {
                    let message = format!("`{name}` is not supported: it is {}", advice.what);
                    Diagnostic::error(Code::Unsupported, span, message).help(advice.help)
                }
                None => Diagnostic::error(Code::NoOverload, span, format!("`{name}` is deleted"))
                    .related(place, "declared here"),
            };
            self.report(diag);
            return false;
        }
        if !self.may_use(index, span) {
            return false;
        }
        if !self.f.inside || self.unevaluated > 0 {
            return true;
        }
        let is_ours = self.in_library(place);
        let word = self.interner.name(self.func(index).name);
        let advice = builtins::unsupported(word).filter(|_| is_ours);
        let diag = match (side, self.f.side) {
            (Side::Host, Side::Kernel | Side::Device | Side::Both) if is_ours => {
                let diag = match advice {
                    Some(advice) => {
                        let message = format!("`{word}` is not supported in device code: it is {}", advice.what);
                        Diagnostic::error(Code::WrongSide, span, message).help(advice.help)
                    }
                    None => {
                        let message = format!("`{name}` is the host's, and this is device code");
                        let help = "do it on the host, and pass the result as a parameter";
                        Diagnostic::error(Code::WrongSide, span, message).help(help)
                    }
                };
                self.report(diag);
                return false;
            }
            (Side::Kernel, _) => {
                Diagnostic::error(Code::WrongSide, span, format!("`{name}` is a kernel: it is launched, not called"))
                    .help("move what both need into a `__device__` function")
            }
            (Side::Host, Side::Kernel | Side::Device | Side::Both) => Diagnostic::error(
                Code::WrongSide,
                span,
                format!("`{name}` is a host function, and this is device code"),
            )
            .help(format!("write `__device__` before the declaration of `{name}`")),
            (Side::Device, Side::Host) => Diagnostic::error(
                Code::WrongSide,
                span,
                format!("`{name}` is a device function, and this is host code"),
            )
            .help(format!("declare `{name}` as `__host__ __device__`")),
            _ => return true,
        };
        self.report(diag.related(place, "declared here"));
        false
    }
}

pub(in crate::front::lower) fn count(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

pub(in crate::front::lower) fn given(n: usize) -> String {
    match n {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        n => format!("{n} are"),
    }
}

/// The types of arguments, for messages.
pub(in crate::front::lower) fn list_of(args: &[Typed]) -> String {
    let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
    list(&shapes)
}

pub(in crate::front::lower) fn list(args: &[Arg]) -> String {
    let types: Vec<String> = args.iter().map(|a| format!("`{}`", a.ty.decayed())).collect();
    match types.len() {
        0 => "no arguments".to_owned(),
        _ => types.join(", "),
    }
}

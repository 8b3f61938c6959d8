//! Calls: functions of the text, builtins, and what looks like a call but is not.

use super::convert::Use;
use super::expr::bare;
use super::names::Decl;
use super::rank::{Arg, Choice, choose};
use super::tree::{FuncIndex, Node, Typed};
use super::{Lowerer, Side};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{CastKind, Expr, ExprKind, Ident};
use crate::front::builtins::{self, Form, Sig};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::MathFn;
use crate::source::Span;

impl Lowerer<'_> {
    /// `f(args)`
    pub(super) fn call(&mut self, f: &Expr, args: &[Expr], span: Span) -> Typed {
        let ExprKind::Name(written) = &bare(f).kind else { return self.call_of_value(f, args, span) };
        let parts = self.strip_std(written);
        let in_std = written.qualifiers().first().is_some_and(|p| self.text(&p.ident) == "std");
        let [part] = parts else {
            if let Some(first) = parts.first() {
                self.unknown_namespace(&first.ident, f.span);
            }
            return Typed::error(span);
        };
        if part.args.is_some() {
            return self.template_arguments(written);
        }
        let ident = part.ident;
        if !in_std {
            match self.scopes.lookup(ident.name) {
                Some(Decl::Functions(set)) => {
                    let set = set.clone();
                    let args = self.arguments(args);
                    return self.call_user(&ident, &set, args, span);
                }
                Some(Decl::Type(ty)) => {
                    let ty = ty.clone();
                    return self.construct(&ty, args, span);
                }
                Some(_) => return self.call_of_value(f, args, span),
                None => {}
            }
        }
        self.call_named(&ident, args, in_std, span)
    }

    fn call_of_value(&mut self, f: &Expr, args: &[Expr], span: Span) -> Typed {
        if let ExprKind::Member { member, .. } = &bare(f).kind {
            let message = format!("methods such as `{}` are not supported yet (T9)", self.text(&member.last()));
            self.report(
                Diagnostic::error(Code::Unsupported, span, message)
                    .help("write a function that takes the object's parts"),
            );
            return Typed::error(span);
        }
        let callee = self.expr(f);
        for arg in args {
            self.expr(arg);
        }
        if !callee.is_error() {
            let message = format!("this is `{}` and cannot be called", callee.ty);
            let mut diag = Diagnostic::error(Code::TypeMismatch, f.span, message);
            if let Node::Var(id) = callee.node {
                diag = diag.related(self.var(id).span, "declared here");
            }
            self.report(diag);
        }
        Typed::error(span)
    }

    /// `T(x)` where the parser could not know that `T` is a type.
    fn construct(&mut self, ty: &Ty, args: &[Expr], span: Span) -> Typed {
        match args {
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

    fn arguments(&mut self, args: &[Expr]) -> Vec<Typed> {
        args.iter().map(|a| self.expr(a)).collect()
    }

    /// A call of a name that the text does not declare.
    fn call_named(&mut self, ident: &Ident, args: &[Expr], in_std: bool, span: Span) -> Typed {
        let name = self.text(ident).to_owned();
        match name.as_str() {
            "printf" => return self.printf(args, span),
            "assert" => return self.assert(args, span),
            "__trap" => {
                return if self.exactly("__trap", 0, args.len(), span) && self.device_only("__trap", span) {
                    Typed::value(Ty::void(), span, Node::Trap)
                } else {
                    Typed::error(span)
                };
            }
            _ => {}
        }
        if let Some((num, c)) = builtins::constant(&name) {
            return Typed::value(num, span, Node::Const(c));
        }
        let args = self.arguments(args);
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let std_form = match (in_std, name.as_str()) {
            (true, "min") => Some("std::min"),
            (true, "max") => Some("std::max"),
            _ => None,
        };
        if let Some(name) = std_form {
            return self.std_min_max(name, args, span);
        }
        let sigs = builtins::lookup(&name);
        if !sigs.is_empty() {
            return self.call_builtin(&name, sigs, args, span);
        }
        if let Some((f, form)) = builtins::math(&name) {
            return self.call_math(&name, f, form, args, span);
        }
        match builtins::unsupported(&name) {
            Some(advice) => self.unsupported_name(advice, name, span),
            None => self.unknown(ident, ident.span, "function"),
        }
        Typed::error(span)
    }

    fn call_user(&mut self, ident: &Ident, set: &[FuncIndex], args: Vec<Typed>, span: Span) -> Typed {
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        let choice = choose(
            set.len(),
            &shapes,
            |i| {
                let func = self.func(set[i]);
                func.required()..=func.params.len()
            },
            |i, j| self.func(set[i]).params[j].clone(),
        );
        match choice {
            Choice::Best(i) => self.call_function(set[i], args, span),
            // The text's overloads join CUDA's own of that name.
            Choice::None if builtins::is_function(self.text(ident)) => {
                let name = self.text(ident).to_owned();
                let sigs = builtins::lookup(&name);
                match builtins::math(&name) {
                    _ if !sigs.is_empty() => self.call_builtin(&name, sigs, args, span),
                    Some((f, form)) => self.call_math(&name, f, form, args, span),
                    None => self.no_overload(ident, set, &shapes, args, span),
                }
            }
            Choice::None => self.no_overload(ident, set, &shapes, args, span),
            Choice::Ambiguous(which) => {
                let name = self.text(ident);
                let message = format!("call of `{name}` is ambiguous for {}", list(&shapes));
                let mut diag =
                    Diagnostic::error(Code::NoOverload, span, message).help("cast the arguments to the types meant");
                for i in which {
                    diag = diag.related(self.func(set[i]).span, "this one takes them");
                }
                self.report(diag);
                Typed::error(span)
            }
        }
    }

    fn no_overload(&mut self, ident: &Ident, set: &[FuncIndex], shapes: &[Arg], args: Vec<Typed>, span: Span) -> Typed {
        let name = self.text(ident).to_owned();
        let [only] = set else {
            let message = format!("no `{name}` takes {}", list(shapes));
            let mut diag = Diagnostic::error(Code::NoOverload, span, message);
            for &f in set {
                diag = diag.related(self.func(f).span, "this one does not");
            }
            self.report(diag);
            return Typed::error(span);
        };
        let func = self.func(*only);
        let (least, most, place) = (func.required(), func.params.len(), func.span);
        if !(least..=most).contains(&args.len()) {
            let wanted = if least == most { count(most) } else { format!("{least} to {most} arguments") };
            let message = format!("`{name}` takes {wanted}, and {} given", given(args.len()));
            self.report(Diagnostic::error(Code::ArgumentCount, span, message).related(place, "declared here"));
            return Typed::error(span);
        }
        // One candidate: say which argument does not fit.
        let params = func.params.clone();
        for (i, (arg, param)) in args.into_iter().zip(&params).enumerate() {
            self.argument(arg, param, i + 1, &name);
        }
        Typed::error(span)
    }

    /// Converts an argument to a parameter's type; a reference takes the address.
    fn argument(&mut self, arg: Typed, param: &Ty, index: usize, name: &str) -> Typed {
        let Kind::Reference(target) = &param.kind else {
            return self.implicit(arg, &param.unqualified(), Use::Argument(index, name));
        };
        self.bind_reference(arg, target, |from| {
            format!("argument {index} of `{name}` is `{param}`, which cannot refer to this `{from}`")
        })
    }

    /// The address that a reference to `target` holds.
    pub(super) fn bind_reference(&mut self, e: Typed, target: &Ty, message: impl Fn(&Ty) -> String) -> Typed {
        if e.is_error() || target.is_error() {
            return Typed::error(e.span);
        }
        let span = e.span;
        let ptr = target.clone().pointer();
        let fits = super::rank::implicit(&Arg::from(&e), &target.clone().reference()).is_some();
        if !fits {
            let mut diag = Diagnostic::error(Code::TypeMismatch, span, message(&e.ty));
            if !e.lvalue {
                diag = diag.help("store the value in a variable first, or take a `const` reference");
            }
            self.report(diag);
            return Typed::error(span);
        }
        let direct = e.lvalue && (e.ty.unqualified() == target.unqualified() || e.ty.is_array());
        let place = if direct {
            e
        } else {
            let value = self.operand(e);
            let value = self.cast(value, &target.unqualified());
            Typed::place(target.clone(), span, Node::Temporary(Box::new(value)))
        };
        Typed::value(ptr, span, Node::AddrOf(Box::new(place)))
    }

    fn call_function(&mut self, index: FuncIndex, args: Vec<Typed>, span: Span) -> Typed {
        if !self.may_call(index, span) {
            return Typed::error(span);
        }
        let func = self.func(index);
        let name = self.interner.name(func.name).to_owned();
        let (params, ret) = (func.params.clone(), func.ret.clone());
        let rest: Vec<Option<Typed>> = func.defaults.iter().skip(args.len()).cloned().collect();
        let mut converted = Vec::with_capacity(params.len());
        for (i, (arg, param)) in args.into_iter().chain(rest.into_iter().flatten()).zip(&params).enumerate() {
            converted.push(self.argument(arg, param, i + 1, &name));
        }
        if converted.iter().any(Typed::is_error) || ret.is_error() {
            return Typed::error(span);
        }
        self.note_call(index, span);
        let call = Typed::value(ret.decayed(), span, Node::Call(index, converted));
        match &ret.kind {
            Kind::Reference(target) => {
                let ptr = Typed { ty: (**target).clone().pointer(), ..call };
                Typed::place((**target).clone(), span, Node::Deref(Box::new(ptr)))
            }
            _ => call,
        }
    }

    fn may_call(&mut self, index: FuncIndex, span: Span) -> bool {
        let func = self.func(index);
        let (name, place, side) = (self.interner.name(func.name).to_owned(), func.span, func.side);
        if func.broken {
            return false;
        }
        let diag = match (side, self.f.side) {
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

    fn call_builtin(&mut self, name: &str, sigs: &'static [&'static Sig], args: Vec<Typed>, span: Span) -> Typed {
        if !self.device_only(name, span) {
            return Typed::error(span);
        }
        let shapes: Vec<Arg> = args.iter().map(Arg::from).collect();
        let choice =
            choose(sigs.len(), &shapes, |i| sigs[i].params.len()..=sigs[i].params.len(), |i, j| sigs[i].params[j].ty());
        match choice {
            Choice::Best(i) => {
                let sig = sigs[i];
                let args: Vec<Typed> = args
                    .into_iter()
                    .zip(sig.params)
                    .map(|(arg, param)| {
                        let arg = self.operand(arg);
                        self.cast(arg, &param.ty())
                    })
                    .collect();
                Typed::value(sig.ret.ty(), span, Node::Intrinsic(sig, args))
            }
            Choice::None if sigs.iter().all(|s| s.params.len() != args.len()) => {
                self.exactly(name, sigs[0].params.len(), args.len(), span);
                Typed::error(span)
            }
            Choice::None => {
                let message = format!("no `{name}` takes {}", list(&shapes));
                let mut diag = Diagnostic::error(Code::NoOverload, span, message);
                if let [only] = sigs {
                    diag = diag.help(format!("it is `{}`", only.declaration()));
                }
                self.report(diag);
                Typed::error(span)
            }
            Choice::Ambiguous(_) => {
                let message = format!("call of `{name}` is ambiguous for {}", list(&shapes));
                let help = match args.first().and_then(|a| a.ty.num()) {
                    Some(num) if args.len() > 1 => {
                        format!("cast to one type: `{name}(({})a, ({})b)`", num.name(), num.name())
                    }
                    _ => "cast the argument to the type meant".to_owned(),
                };
                self.report(Diagnostic::error(Code::NoOverload, span, message).help(help));
                Typed::error(span)
            }
        }
    }

    /// The templates deduce one type from both arguments.
    fn std_min_max(&mut self, name: &str, args: Vec<Typed>, span: Span) -> Typed {
        let args: Vec<Typed> = args.into_iter().map(|a| self.operand(a)).collect();
        if !self.exactly(name, 2, args.len(), span) || args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let sigs = builtins::lookup(name);
        let found = sigs.iter().find(|s| s.params.iter().zip(&args).all(|(p, a)| p.ty() == a.ty));
        match found {
            Some(&sig) => Typed::value(sig.ret.ty(), span, Node::Intrinsic(sig, args)),
            None => {
                let message =
                    format!("`{name}` needs two numbers of one type, not `{}` and `{}`", args[0].ty, args[1].ty);
                let plain = name.trim_start_matches("std::");
                self.report(
                    Diagnostic::error(Code::NoOverload, span, message)
                        .help(format!("cast one of them, or write `{plain}` without `std::`")),
                );
                Typed::error(span)
            }
        }
    }

    fn call_math(&mut self, name: &str, f: MathFn, form: Form, args: Vec<Typed>, span: Span) -> Typed {
        if !self.exactly(name, f.arity(), args.len(), span) {
            return Typed::error(span);
        }
        let args: Vec<Typed> = args.into_iter().map(|a| self.operand(a)).collect();
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        for (i, arg) in args.iter().enumerate() {
            if arg.ty.arithmetic().is_none() {
                let message = format!("argument {} of `{name}` is a number, not `{}`", i + 1, arg.ty);
                let help = arg.ty.pointee().map(|_| "read what it points at: `*p` or `p[i]`".to_owned());
                let mut diag = Diagnostic::error(Code::TypeMismatch, arg.span, message);
                diag.help = help;
                self.report(diag);
                return Typed::error(span);
            }
        }
        let all_float = args.iter().all(|a| a.ty.num() == Some(Num::Float));
        let num = if form == Form::Float || all_float { Num::Float } else { Num::Double };
        let args = args.into_iter().map(|a| self.number(a, num)).collect();
        Typed::value(num, span, Node::Math(f, args))
    }

    fn assert(&mut self, args: &[Expr], span: Span) -> Typed {
        if !self.exactly("assert", 1, args.len(), span) {
            return Typed::error(span);
        }
        let text = self.sources.text(args[0].span).to_owned();
        let cond = self.expr(&args[0]);
        let cond = self.condition(cond);
        if cond.is_error() {
            return Typed::error(span);
        }
        Typed::value(Ty::void(), span, Node::Assert(Box::new(cond), text))
    }

    /// Checks the number of arguments of a builtin.
    pub(super) fn exactly(&mut self, name: &str, wanted: usize, got: usize, span: Span) -> bool {
        if wanted != got {
            let message = format!("`{name}` takes {}, and {} given", count(wanted), given(got));
            let mut diag = Diagnostic::error(Code::ArgumentCount, span, message);
            if let [only] = builtins::lookup(name) {
                diag = diag.help(format!("it is `{}`", only.declaration()));
            }
            self.report(diag);
        }
        wanted == got
    }

    /// Refuses an intrinsic of the device in host code.
    fn device_only(&mut self, name: &str, span: Span) -> bool {
        let refused = name.starts_with("__") && self.f.side == Side::Host;
        if refused {
            let message = format!("`{name}` exists only in device code");
            self.report(
                Diagnostic::error(Code::WrongSide, span, message)
                    .help("make the function `__host__ __device__` and keep it out of there"),
            );
        }
        !refused
    }
}

fn count(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

fn given(n: usize) -> String {
    match n {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        n => format!("{n} are"),
    }
}

/// The types of arguments, for messages.
fn list(args: &[Arg]) -> String {
    let types: Vec<String> = args.iter().map(|a| format!("`{}`", a.ty.decayed())).collect();
    match types.len() {
        0 => "no arguments".to_owned(),
        _ => types.join(", "),
    }
}

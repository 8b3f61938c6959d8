//! Calls of what is built in: intrinsics by their records, math functions, `assert`.

use std::sync::Arc;

use super::calls::{count, given, list};
use super::check::bare;
use super::typed_tree::{Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, Ident, Init, TemplateArg};
use crate::front::builtins::{self, Form, Sig};
use crate::front::lower::classes::initializer_list;
use crate::front::lower::overloads::ranking::{Arg, Choice, choose};
use crate::front::lower::scopes::names::{Callable, Decl, TArg};
use crate::front::lower::{Lowerer, Side};
use crate::front::types::{Num, Ty};
use crate::ir::MathFn;
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// `stdout` and `stderr`: what host code prints goes where kernels print.
    fn is_output(&self, e: &Expr) -> bool {
        matches!(&bare(e).kind, ExprKind::Name(n) if n.simple().is_some_and(|i| matches!(self.text(&i), "stdout" | "stderr")))
    }

    /// `fprintf(stderr, ...)` and `fflush(stdout)` in host code: their first argument is no value here.
    pub(super) fn call_output(&mut self, ident: &Ident, args: &'a [Expr], span: Span) -> Option<Typed> {
        let prints = self.text(ident) == "fprintf";
        let named = prints || self.text(ident) == "fflush";
        if !named || self.f.side != Side::Host || !args.first().is_some_and(|a| self.is_output(a)) {
            return None;
        }
        if !prints {
            return Some(Typed::int(Num::Int, 0, span));
        }
        let typed = self.arguments(&args[1..]);
        Some(self.printf(args.get(1), typed, span))
    }

    /// A call of a name that the text does not declare; the arguments as written, and checked.
    pub(super) fn call_named(
        &mut self,
        ident: &Ident,
        (written, args): (&'a [Expr], Vec<Typed>),
        in_std: bool,
        span: Span,
    ) -> Typed {
        let name = self.text(ident).to_owned();
        match name.as_str() {
            "printf" => return self.printf(written.first(), args, span),
            "assert" => return self.assert(written, args, span),
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
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        if name.starts_with("make_")
            && let Some(made) = self.make_vector(&name, args.clone(), span)
        {
            return made;
        }
        if let Some(access) = self.hinted_access(&name, &args, span) {
            return access;
        }
        if let Some(call) = self.memory_function(&name, &args, span) {
            return call;
        }
        if let Some(life) = self.life(&name, &args, span) {
            return life;
        }
        let args: Vec<Typed> = args.into_iter().map(|a| self.as_builtin(a)).collect();
        let std_form = match (in_std, name.as_str()) {
            (true, "min") => Some("std::min"),
            (true, "max") => Some("std::max"),
            _ => None,
        };
        if let Some(name) = std_form {
            return self.std_min_max(name, args, span);
        }
        if let Some(service) = self.service(&name, &args, span) {
            return service;
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

    pub(in crate::front::lower) fn call_builtin(
        &mut self,
        name: &str,
        sigs: &'static [&'static Sig],
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
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
    pub(super) fn std_min_max(&mut self, name: &str, args: Vec<Typed>, span: Span) -> Typed {
        if let [list] = args.as_slice() {
            self.try_complete(&list.ty);
        }
        if let [list] = args.as_slice()
            && initializer_list::element(&list.ty).is_some()
            && let Some(s) = list.ty.as_struct().cloned()
        {
            let method = self.interner.find(&format!("__wb_{}", name.trim_start_matches("std::")));
            if let Some(method) = method
                && let Some(Decl::Functions(set)) = self.lookup_in(self.class(s.id).scope, method)
                && let Some(&Callable::Func(index)) = set.first()
            {
                return self.method_call(index, list.clone(), Vec::new(), span);
            }
        }
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

    /// `std::max<float>(1, x)`, where the arguments are converted first, and `std::max({a, b, c})`; `None` for the plain form.
    pub(super) fn std_extreme(
        &mut self,
        ident: &Ident,
        explicit: Option<&'a Arc<[TemplateArg]>>,
        args: &'a [Expr],
        span: Span,
    ) -> Option<Typed> {
        let entries = match args {
            [Expr { kind: ExprKind::Braced { ty: None, entries }, .. }] => Some(entries),
            _ => None,
        };
        if explicit.is_none() && entries.is_none() {
            return None;
        }
        let name = format!("std::{}", self.text(ident));
        let ty = match explicit.map(|args| self.template_args(args)) {
            None => None,
            Some(Some(given)) => match given.first() {
                Some(TArg::Type(ty)) => Some(ty.clone()),
                _ => {
                    let message = format!("the template argument of `{name}` is a type");
                    self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                    return Some(Typed::error(span));
                }
            },
            Some(None) => return Some(Typed::error(span)),
        };
        let mut values = Vec::new();
        match entries {
            Some(entries) => {
                for entry in entries {
                    let Init::Expr(e) = entry else {
                        let message = format!("`{name}` takes a list of numbers, not of lists");
                        self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                        return Some(Typed::error(span));
                    };
                    values.push(self.expr(e));
                }
            }
            None => values = self.arguments(args),
        }
        let mut values: Vec<Typed> = values.into_iter().map(|v| self.operand(v)).collect();
        if values.iter().any(Typed::is_error) {
            return Some(Typed::error(span));
        }
        if let Some(ty) = ty.filter(|ty| ty.arithmetic().is_some()) {
            values = values.into_iter().map(|v| self.cast(v, &ty)).collect();
        }
        if entries.is_none() {
            return Some(self.std_min_max(&name, values, span));
        }
        let mut values = values.into_iter();
        let Some(first) = values.next() else {
            let message = format!("`{name}` of no values");
            self.report(Diagnostic::error(Code::ArgumentCount, span, message));
            return Some(Typed::error(span));
        };
        Some(values.fold(first, |best, v| self.std_min_max(&name, vec![best, v], span)))
    }

    pub(in crate::front::lower) fn call_math(
        &mut self,
        name: &str,
        f: MathFn,
        form: Form,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
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

    fn assert(&mut self, written: &'a [Expr], mut args: Vec<Typed>, span: Span) -> Typed {
        let (true, [one], Some(cond)) = (self.exactly("assert", 1, args.len(), span), written, args.pop()) else {
            return Typed::error(span);
        };
        let text = self.sources.text(one.span).to_owned();
        let cond = self.condition(cond);
        if cond.is_error() {
            return Typed::error(span);
        }
        Typed::value(Ty::void(), span, Node::Assert(Box::new(cond), text))
    }

    /// Checks the number of arguments of a builtin.
    pub(in crate::front::lower) fn exactly(&mut self, name: &str, wanted: usize, got: usize, span: Span) -> bool {
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
    pub(in crate::front::lower) fn device_only(&mut self, name: &str, span: Span) -> bool {
        let refused = builtins::device_only(name) && self.f.side == Side::Host;
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

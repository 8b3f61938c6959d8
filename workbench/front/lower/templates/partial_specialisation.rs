//! Partial specialisations: which fits, and which of several is the narrower.

use super::declarations::Partial;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{TemplateParam, TemplateParamKind};
use crate::front::lower::Lowerer;
use crate::front::lower::scopes::names::{ScopeKind, TArg};
use crate::front::types::Ty;
use crate::source::Span;
use std::rc::Rc;

/// A specialisation that fits, with its parameters' arguments.
type Fit<'a> = (Rc<Partial<'a>>, Vec<TArg>);

impl<'a> Lowerer<'a> {
    /// The most specialised partial specialisation that fits, with its parameters' arguments; ambiguity is reported.
    pub(in crate::front::lower) fn best_partial(
        &mut self,
        partials: &[Rc<Partial<'a>>],
        args: &[TArg],
        span: Span,
    ) -> Result<Option<Fit<'a>>, ()> {
        let mut fits: Vec<Fit<'a>> = Vec::new();
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

    /// Everything that fits one specialisation fits the other, and not the other way round.
    pub(super) fn partial_is_narrower(&mut self, a: &Rc<Partial<'a>>, b: &Rc<Partial<'a>>) -> bool {
        let outer = std::mem::replace(&mut self.ordering, true);
        let mut fits = |x: &Rc<Partial<'a>>, y: &Rc<Partial<'a>>| {
            let unique = self.unique_args(x)?;
            Some(self.match_partial(y, &unique).is_some())
        };
        let order = (fits(a, b), fits(b, a));
        self.ordering = outer;
        let asks = |partial: &Partial<'a>| partial.params.iter().any(|param| !param.constraints.is_empty());
        match order {
            (Some(true), Some(false)) => true,
            (Some(true), Some(true)) => asks(a) && !asks(b),
            _ => false,
        }
    }

    /// A specialisation's own arguments with its parameters standing for types and values of their own.
    pub(super) fn unique_args(&mut self, partial: &Rc<Partial<'a>>) -> Option<Vec<TArg>> {
        let scope = self.scopes.create(ScopeKind::Template, partial.scope, None);
        let bound = self.invented(partial.params);
        self.bind(scope, partial.params, &bound);
        let here = self.scopes.enter(scope);
        let (args, fine) = self.quietly(|this| this.partial_args(partial));
        self.scopes.enter(here);
        args.filter(|_| fine)
    }

    /// The arguments that a specialisation writes, and the template's defaults for those it leaves out.
    pub(super) fn partial_args(&mut self, partial: &Rc<Partial<'a>>) -> Option<Vec<TArg>> {
        let written = self.template_args(partial.args)?;
        let params = self.template(partial.of).params;
        if written.len() >= params.len() || params.iter().any(|p| p.pack) {
            return Some(written.to_vec());
        }
        let span = partial.args.first().map_or(Span::NONE, |arg| arg.span);
        self.complete_args(partial.of, &written, span).map(|all| all.to_vec())
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

//! Expressions that the parser reads and this stage does not support yet, each with one message.

use super::check;
use super::typed_tree::Typed;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, Name};
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Lowerer, Storage};

impl<'a> Lowerer<'a> {
    /// Reports `f<int>`, unless its template has been reported.
    pub(super) fn template_arguments(&mut self, name: &'a Name) -> Typed {
        let quiet = name.parts.iter().any(|p| {
            self.unit.skipped.contains(&p.ident.name)
                || match self.lookup(p.ident.name) {
                    Some(Decl::Var(id)) => matches!(self.var(id).storage, Storage::Nowhere),
                    Some(Decl::Type(ty)) => ty.is_error(),
                    _ => false,
                }
        });
        if !quiet {
            let ident = name.last();
            let known = check::is_known(self.text(&ident));
            if known {
                let message = format!("`{}` takes no template arguments here", self.text(&ident));
                self.report(
                    Diagnostic::error(Code::Unsupported, name.span, message)
                        .help("leave them out, or convert the function's arguments"),
                );
            } else {
                self.unknown(&ident, ident.span, "template");
            }
        }
        Typed::error(name.span)
    }

    /// An expression of a kind that is not supported, or out of place.
    pub(super) fn unsupported_expr(&mut self, e: &'a Expr) -> Typed {
        if let ExprKind::Launch { callee, config, args } = &e.kind {
            return self.launch(callee, config, args, e.span);
        }
        let message = "a parameter pack is expanded where only one value can stand";
        self.report(Diagnostic::error(Code::Unsupported, e.span, message).help("leave out `...`"));
        Typed::error(e.span)
    }
}

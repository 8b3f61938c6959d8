//! What the parser reads and this stage does not support yet, each with one message.

use super::tree::Typed;
use super::{Lowerer, Storage, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, FunctionDecl, FunctionKind, Ident, Name, StructDecl, StructKey, Symbol};
use crate::front::types::Ty;
use crate::source::Span;

use super::names::Decl;

impl<'a> Lowerer<'a> {
    /// Reports a construct; `what` is its name in the plural, or one without a number.
    pub(super) fn refuse(&mut self, span: Span, what: &str) {
        let (verb, help) = match what {
            "`decltype`" => ("is", "write the type, or `auto`"),
            "range-based `for`" => ("is", "write a loop over an index"),
            "structured bindings" => ("are", "declare each variable by itself"),
            "namespace aliases" => ("are", "write the namespace's own name"),
            "lambdas" => ("are", "write a `__device__` function"),
            "templates" | "variable templates" | "alias templates" => {
                ("are", "write the function once for each type, with the type in place of the parameter")
            }
            "structs" | "classes" => ("are", "pass the members as separate parameters"),
            "unions" => ("are", "convert with `__float_as_int` and its like"),
            "operator overloads" => ("are", "write an ordinary function"),
            "launches in host functions" => ("are", "call the kernel from Python or Rust with its grid and block"),
            "pointers to functions" => ("are", "call the function directly, or choose with `switch`"),
            "braced lists in expressions" => ("are", "declare a variable with these values"),
            _ => ("are", "write it without them"),
        };
        let message = format!("{what} {verb} not supported yet");
        self.report(Diagnostic::error(Code::Unsupported, span, message).help(help));
    }

    /// Reports `f<int>`, unless its template has been reported.
    pub(super) fn template_arguments(&mut self, name: &'a Name) -> Typed {
        let quiet = name.parts.iter().any(|p| {
            self.unit.skipped.contains(&p.ident.name)
                || match self.scopes.lookup(p.ident.name) {
                    Some(Decl::Var(id)) => matches!(self.var(id).storage, Storage::Nowhere),
                    Some(Decl::Type(ty)) => ty.is_error(),
                    _ => false,
                }
        });
        if !quiet {
            let ident = name.last();
            let known = super::expr::is_known(self.text(&ident));
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

    /// An expression of a kind that is not supported.
    pub(super) fn unsupported_expr(&mut self, e: &'a Expr) -> Typed {
        let what = match &e.kind {
            ExprKind::Lambda(_) => "lambdas",
            ExprKind::Launch { .. } => "launches in host functions",
            ExprKind::This => "structs",
            ExprKind::Braced { .. } => "braced lists in expressions",
            ExprKind::Noexcept(_) => "questions about exceptions",
            _ => "parameter packs",
        };
        self.refuse(e.span, what);
        Typed::error(e.span)
    }
}

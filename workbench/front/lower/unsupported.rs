//! What the parser reads and this stage does not support yet, each with one message.

use super::tree::Typed;
use super::{Lowerer, Storage, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, FunctionDecl, FunctionKind, Ident, Name, StructDecl, StructKey, Symbol};
use crate::front::types::Ty;
use crate::source::Span;

use super::names::Decl;

impl Lowerer<'_> {
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

    /// Reports a function that needs templates or structs. Whether it is one.
    pub(super) fn refuse_class_function(&mut self, decl: &FunctionDecl) -> bool {
        let ident = decl.name.last();
        let what = if let Some(head) = decl.templates.first() {
            Some((head.span, "templates"))
        } else if decl.name.simple().is_none() {
            Some((decl.name.span, "members defined outside their struct"))
        } else if !matches!(decl.kind, FunctionKind::Plain) || self.text(&ident).starts_with("operator") {
            Some((decl.name.span, "operator overloads"))
        } else {
            None
        };
        let Some((span, what)) = what else { return false };
        self.refuse(span, what);
        self.declare_nowhere(&ident);
        true
    }

    /// Reports a struct; its name is known from here on.
    pub(super) fn refuse_struct(&mut self, decl: &StructDecl) {
        let (span, what) = match (decl.templates.first(), decl.key) {
            (Some(head), _) => (head.span, "templates"),
            (None, StructKey::Union) => (decl.span, "unions"),
            (None, StructKey::Class) => (decl.span, "classes"),
            (None, StructKey::Struct) => (decl.span, "structs"),
        };
        self.refuse(span, what);
        if let Some(name) = &decl.name {
            self.declare_type_nowhere(name.last().name, span);
        }
    }

    fn declare_type_nowhere(&mut self, name: Symbol, span: Span) {
        if self.scopes.lookup(name).is_none() {
            self.declare(name, Decl::Type(Ty::error()), span);
        }
    }

    /// Declares a name about whose uses nothing more is said.
    pub(super) fn declare_nowhere(&mut self, name: &Ident) {
        if self.scopes.lookup(name.name).is_some() {
            return;
        }
        let var =
            Variable { name: name.name, ty: Ty::error(), span: name.span, storage: Storage::Nowhere, constant: None };
        let id = self.add_var(var);
        self.declare(name.name, Decl::Var(id), name.span);
    }

    /// Reports `f<int>`, unless its template has been reported.
    pub(super) fn template_arguments(&mut self, name: &Name) -> Typed {
        let quiet = name.parts.iter().any(|p| {
            self.unit.skipped.contains(&p.ident.name)
                || match self.scopes.lookup(p.ident.name) {
                    Some(Decl::Var(id)) => matches!(self.var(*id).storage, Storage::Nowhere),
                    Some(Decl::Type(ty)) => ty.is_error(),
                    _ => false,
                }
        });
        if !quiet {
            let text = self.sources.text(name.span).to_owned();
            let message = format!("template arguments, as in `{text}`, are not supported yet");
            self.report(
                Diagnostic::error(Code::Unsupported, name.span, message)
                    .help("leave them out, or convert the function's arguments"),
            );
        }
        Typed::error(name.span)
    }

    /// An expression of a kind that is not supported.
    pub(super) fn unsupported_expr(&mut self, e: &Expr) -> Typed {
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

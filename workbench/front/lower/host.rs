//! Which host functions are beyond what is supported: all that handle tensors, launch kernels or use libraries.

use super::find::Found;
use super::function::side;
use super::names::Decl;
use super::{Lowerer, Side};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, Declaration, Expr, ExprKind, FunctionDecl, Init, Name, Stmt, StmtKind, TypeLayer, TypeName,
};
use crate::front::builtins;

/// Host functions that are named one by one when they are left out.
const MAX_REFUSED: usize = 8;

impl<'a> Lowerer<'a> {
    /// Whether a specialisation or instantiation is of a host function's template that was left out, or would be.
    pub(super) fn is_of_host_template(&mut self, decl: &'a FunctionDecl) -> bool {
        let name = decl.name.path(self.interner);
        side(&decl.specs) == Side::Host
            && (self.refused.iter().any(|(refused, _)| *refused == name)
                || self.needs_host_code(decl)
                    && self.quietly(|this| matches!(this.find(&decl.name), Found::Functions(..))).0)
    }

    /// Whether a host function is more than arithmetic on scalars.
    pub(super) fn needs_host_code(&self, decl: &FunctionDecl) -> bool {
        let types = decl.params.iter().map(|p| &p.ty).chain([&decl.ret]);
        self.text(&decl.name.last()) == "main"
            || types.into_iter().any(|ty| self.is_foreign(ty) || !ty.layers.is_empty())
            || decl.body.as_ref().is_some_and(|b| b.stmts.iter().any(|s| self.stmt_is_foreign(s)))
    }

    /// Leaves the instantiation of a host function's template out.
    pub(super) fn refuse_host_instance(&mut self, decl: &FunctionDecl) {
        let name = decl.name.path(self.interner);
        if !self.refused.iter().any(|(refused, _)| *refused == name) {
            self.refused.push((name, decl.span));
        }
    }

    /// Leaves a host function out, and stays silent about what is in it: the kernels beside it need none of it. Without a body
    /// there is nothing to leave out.
    pub(super) fn refuse_host_function(&mut self, decl: &FunctionDecl) {
        if decl.body.is_some() && !self.in_library(decl.span) {
            self.refused.push((decl.name.path(self.interner), decl.span));
        }
    }

    /// Warns of the host functions that were left out.
    pub(super) fn report_refused(&mut self) {
        let refused = std::mem::take(&mut self.refused);
        let shown = refused.len().min(MAX_REFUSED);
        for (i, (name, span)) in refused.iter().take(shown).enumerate() {
            let mut message =
                format!("host code with tensors, pointers or launches is not supported: `{name}` is left out");
            if i + 1 == shown && refused.len() > shown {
                let more: Vec<String> = refused[shown..].iter().map(|(name, _)| format!("`{name}`")).collect();
                message.push_str(&format!(", and {}", more.join(", ")));
            }
            self.report(
                Diagnostic::warning(Code::Unsupported, *span, message)
                    .help("launch the kernel from the notebook: `m.kernel[grid, block](...)`"),
            );
        }
    }

    /// A type that is no number.
    fn is_foreign(&self, ty: &TypeName) -> bool {
        let BaseType::Named(written) = &ty.base else { return false };
        if let Some(ident) = written.simple()
            && let Some(decl) = self.scopes.lookup(ident.name)
        {
            return !matches!(decl, Decl::Type(_));
        }
        if written.parts.iter().any(|p| p.args.is_some()) {
            return true;
        }
        let path = written.path(self.interner);
        let name = path.trim_start_matches("std::");
        !matches!(builtins::named_type(name), Some(builtins::NamedType::Num(_)))
            && (name.contains("::") || self.is_foreign_name(name) || builtins::named_type(name).is_some())
    }

    /// Whether the first part of a name, `std` aside, is one of some that the text does not declare.
    fn names_one(&self, name: &Name, is_one: impl Fn(&str) -> bool) -> bool {
        let mut parts = name.parts.iter().map(|p| p.ident);
        let first = parts.find(|p| self.text(p) != "std" || name.parts.len() == 1);
        first.is_some_and(|p| is_one(self.text(&p)) && self.scopes.lookup(p.name).is_none())
    }

    /// Names of libraries that only host code with tensors uses.
    fn is_foreign_name(&self, name: &str) -> bool {
        const EXACT: [&str; 10] = [
            "torch",
            "at",
            "c10",
            "dim3",
            "Tensor",
            "malloc",
            "free",
            "new",
            "TORCH_CHECK",
            "AT_DISPATCH_FLOATING_TYPES",
        ];
        EXACT.contains(&name)
            || name.starts_with("cuda")
            || name.starts_with("AT_DISPATCH")
            || builtins::is_host_object(name)
    }

    fn stmt_is_foreign(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => self.expr_is_foreign(e),
            StmtKind::Declaration(decl) => self.declaration_is_foreign(decl),
            StmtKind::Compound(block) => block.stmts.iter().any(|s| self.stmt_is_foreign(s)),
            StmtKind::If { init, cond, then, els, .. } => {
                self.expr_is_foreign(cond)
                    || self.stmt_is_foreign(then)
                    || init.iter().chain(els.as_deref()).any(|s| self.stmt_is_foreign(s))
            }
            StmtKind::While(e, s) | StmtKind::DoWhile(s, e) | StmtKind::Switch(e, s) | StmtKind::Case(e, s) => {
                self.expr_is_foreign(e) || self.stmt_is_foreign(s)
            }
            StmtKind::Default(s) => self.stmt_is_foreign(s),
            StmtKind::For { init, cond, step, body } => {
                init.as_ref().is_some_and(|s| self.stmt_is_foreign(s))
                    || [cond, step].into_iter().flatten().any(|e| self.expr_is_foreign(e))
                    || self.stmt_is_foreign(body)
            }
            _ => false,
        }
    }

    fn declaration_is_foreign(&self, decl: &Declaration) -> bool {
        decl.vars.iter().any(|var| {
            let reference = var.ty.layers.iter().any(|l| matches!(l, TypeLayer::Reference { rvalue: true }));
            reference || self.is_foreign(&var.ty) || var.init.as_ref().is_some_and(|i| self.init_is_foreign(i))
        })
    }

    fn init_is_foreign(&self, init: &Init) -> bool {
        match init {
            Init::Expr(e) => self.expr_is_foreign(e),
            Init::List(items, _) => items.iter().any(|i| self.init_is_foreign(i)),
            Init::Paren(args, _) => args.iter().any(|e| self.expr_is_foreign(e)),
            Init::Designated(_, value) => self.init_is_foreign(value),
        }
    }

    fn expr_is_foreign(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.names_one(name, |text| self.is_foreign_name(text)),
            ExprKind::Launch { .. } | ExprKind::Lambda(_) => true,
            ExprKind::Construct { ty, args } => self.is_foreign(ty) || args.iter().any(|a| self.expr_is_foreign(a)),
            ExprKind::Braced { ty, entries } => {
                ty.as_ref().is_none_or(|ty| self.is_foreign(ty)) || entries.iter().any(|i| self.init_is_foreign(i))
            }
            ExprKind::Unary(_, a) | ExprKind::Paren(a) => self.expr_is_foreign(a),
            ExprKind::Binary(..) => {
                let mut at = e;
                while let ExprKind::Binary(_, a, b, _) = &at.kind {
                    if self.expr_is_foreign(b) {
                        return true;
                    }
                    at = a;
                }
                self.expr_is_foreign(at)
            }
            ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => self.expr_is_foreign(a) || self.expr_is_foreign(b),
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().any(|e| self.expr_is_foreign(e)),
            ExprKind::Call(f, args) => {
                let method = matches!(f.kind, ExprKind::Member { .. });
                // A variable may have such a name, `time`, but is not called.
                let library =
                    matches!(&f.kind, ExprKind::Name(name) if self.names_one(name, builtins::is_host_function));
                method || library || self.expr_is_foreign(f) || args.iter().any(|a| self.expr_is_foreign(a))
            }
            ExprKind::Cast { ty, operand, .. } => self.is_foreign(ty) || self.expr_is_foreign(operand),
            _ => false,
        }
    }
}

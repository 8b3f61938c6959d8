//! Host functions that are left out: a program's `main`, which notebooks do not run.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::FunctionDecl;
use crate::front::lower::functions::declarations::side;
use crate::front::lower::{Lowerer, Side};

impl<'a> Lowerer<'a> {
    /// Leaves a host function out, and stays silent about what is in it: nothing needs any of it.
    pub(in crate::front::lower) fn refuse_host_function(&mut self, decl: &FunctionDecl) {
        if decl.body.is_some() {
            self.report(
                Diagnostic::warning(Code::Unsupported, decl.span, "`main` is left out: the notebook is what runs")
                    .help("call what it calls from the notebook"),
            );
        }
    }

    /// The function is a program's `main`.
    pub(in crate::front::lower) fn is_main(&self, decl: &FunctionDecl) -> bool {
        side(&decl.specs) == Side::Host && decl.name.simple().is_some_and(|name| self.text(&name) == "main")
    }
}

//! Variables: made, declared and asked for by their names.

use super::Builder;
use super::names::Name;
use crate::back::lane::build::variable;
use crate::back::lane::tree::{Expr, Stmt, Var};
use crate::back::lane::types::Ty;

impl Builder<'_> {
    /// The variable of a name; what has none the validator refuses.
    pub(super) fn get(&self, name: Name) -> Expr {
        Expr::Var(self.k.find(name).unwrap_or(self.unknown))
    }

    /// Makes a variable of that name in the current block, which is declared elsewhere.
    pub(super) fn make(&mut self, name: Name, ty: Ty, constant: bool) -> Var {
        let var = self.k.var(name.data(ty, constant));
        self.k.name(name, var);
        var
    }

    /// Declares a constant.
    pub(super) fn define(&mut self, name: Name, ty: Ty, value: Expr) {
        let var = self.make(name, ty, true);
        self.k.push(Stmt::Let(var, value));
    }

    /// Declares a variable that begins as this.
    pub(super) fn begin_as(&mut self, name: Name, ty: Ty, value: Expr) {
        let var = self.make(name, ty, false);
        self.k.push(Stmt::Let(var, value));
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, name: Name, ty: Ty) -> Expr {
        let var = self.make(name, ty, false);
        self.k.push(Stmt::Declare(var));
        Expr::Var(var)
    }

    /// A constant that nothing asks for by its name.
    pub(super) fn constant_as(&mut self, name: impl Into<String>, ty: Ty, value: Expr) -> Expr {
        let var = self.k.var(variable(name, ty, true));
        self.k.push(Stmt::Let(var, value));
        Expr::Var(var)
    }

    /// A variable that nothing asks for by its name.
    pub(super) fn variable_as(&mut self, name: impl Into<String>, ty: Ty, value: Expr) -> Expr {
        let var = self.k.var(variable(name, ty, false));
        self.k.push(Stmt::Let(var, value));
        Expr::Var(var)
    }
}

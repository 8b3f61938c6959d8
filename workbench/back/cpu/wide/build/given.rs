//! The parameters of a kernel, and the limits of buffers that its body needs.

use std::collections::BTreeMap;

use super::names::Name;
use crate::back::lane::build::{KernelBuilder, int, pointer, set, ty, variable};
use crate::back::lane::tree::{Expr, MacroId, Stmt, Var, VarData};
use crate::back::lane::types::Ty;

/// Kinds of limits, in the order in which they are declared: those that others are made of come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    /// A limit of writes that a fault leaves as it is.
    True,
    /// True if stores go past the cache.
    PastCache,
    /// A limit that nothing changes.
    Limit,
    /// A limit of writes, which a fault sets to 0.
    Closed,
    /// A limit of several neighbours.
    Window,
    /// A limit of writes of several neighbours.
    ClosedWindow,
}

/// The limits that the body turned out to need: by kind and name the variable and its value at first.
#[derive(Default)]
pub(super) struct Limits(pub BTreeMap<(Of, String), (Var, Expr)>);

impl Limits {
    /// Those that a fault sets to 0.
    fn closed(&self) -> impl Iterator<Item = (&str, Var, &Expr)> {
        let closed = self.0.iter().filter(|((of, _), _)| matches!(of, Of::Closed | Of::ClosedWindow));
        closed.map(|((_, name), (var, value))| (name.as_str(), *var, value))
    }

    /// Statements that follow a fault: nothing is written any more.
    pub fn close(&self) -> Vec<Stmt> {
        let by_name: BTreeMap<&str, Var> = self.closed().map(|(name, var, _)| (name, var)).collect();
        by_name.into_values().map(|var| set(Expr::Var(var), int(0))).collect()
    }

    /// Statements that open them again.
    pub fn open(&self) -> Vec<Stmt> {
        self.closed().map(|(_, var, value)| set(Expr::Var(var), value.clone())).collect()
    }

    /// The variable of a limit.
    pub fn of(&mut self, k: &mut KernelBuilder<Name>, (of, data): (Of, VarData), value: Expr) -> Expr {
        let key = (of, data.name.clone());
        let (var, _) = self.0.entry(key).or_insert_with(|| (k.var(data), value));
        Expr::Var(*var)
    }
}

/// The variables of what a kernel is given, and the macro of what it does in several places.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub context: Var,
    pub args: Var,
    pub state: Var,
    /// After a fault nothing is written.
    pub close: MacroId,
}

impl Given {
    /// The parameters of a kernel, and the state, which it declares.
    pub fn new(k: &mut KernelBuilder<Name>) -> Self {
        let context = k.var(variable("ctx", pointer(ty::I8), true));
        let args = k.var(variable("args", pointer(ty::U64), true));
        k.kernel_mut().params = vec![context, args];
        let state = k.var(variable("st", Ty::State, false));
        k.push(Stmt::Declare(state));
        let close = k.declare_macro("CLOSE");
        Given { context, args, state, close }
    }
}

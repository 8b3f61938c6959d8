//! Kernels that are whole go to whoever makes code of them, while host functions are still being lowered.
//!
//! A copy of a kernel goes as soon as it is lowered with all that it calls, and before the next host function is.

use crate::diagnostic::Diagnostic;
use crate::front::lower::{Lowerer, Side};
use crate::ir::{FuncId, Op, Stmt};

impl Lowerer<'_> {
    /// Notes that a function is in the module as it will be.
    pub(in crate::front::lower) fn is_whole(&mut self, id: FuncId, side: Side) {
        if self.ahead.is_none() {
            return;
        }
        if self.whole.len() <= id.index() {
            self.whole.resize(self.module.functions.len(), false);
        }
        self.whole[id.index()] = true;
        if side == Side::Kernel {
            self.untaken.push(id);
        }
    }

    /// Hands over the kernels that are whole with all that they reach.
    pub(in crate::front::lower) fn hand_over(&mut self) {
        let Some(ahead) = self.ahead.filter(|_| !self.untaken.is_empty()) else { return };
        // A declaration with an error may be missing in the module.
        if self.diags.iter().any(Diagnostic::is_error) {
            self.untaken.clear();
            return;
        }
        let mut untaken = std::mem::take(&mut self.untaken);
        untaken.retain(|kernel| match self.reach_of(*kernel) {
            Some(reached) => {
                ahead.take(&self.module, *kernel, &reached);
                false
            }
            None => true,
        });
        self.untaken = untaken;
    }

    /// The functions that a kernel reaches, if all of them are whole. What goes by way of addresses is only known in the end.
    fn reach_of(&self, kernel: FuncId) -> Option<Vec<FuncId>> {
        let mut reached = vec![kernel];
        let (mut next, mut whole) = (0, true);
        while let Some(id) = reached.get(next).copied().filter(|_| whole) {
            next += 1;
            whole = self.whole.get(id.index()).is_some_and(|whole| *whole);
            self.module.func(id).body.for_each_stmt(&mut |stmt| match stmt {
                Stmt::Call { func, .. } if !reached.contains(func) => reached.push(*func),
                Stmt::Dispatch(_) | Stmt::Let(_, Op::FuncAddr(..)) => whole = false,
                _ => {}
            });
        }
        whole.then_some(reached)
    }
}

//! Hoisting of uniform numbers out of loops: `cols / 4` in `i < cols / 4` is computed in front of the loop. A check that is made once for all rounds
//! reads such numbers in front of it. Sums and products stay where they are: [`line`](super::build) follows them in place.

use crate::ir::{BinaryOp, Block, Builtin, Const, Function, Op, Stmt, Value};
use crate::source::Span;

/// Moves uniform numbers in front of the outermost loops that compute them.
pub fn hoist(func: &mut Function) {
    let mut found = Found { uniform: vec![false; func.values.len()], constants: vec![None; func.values.len()] };
    func.body.for_each_stmt(&mut |stmt| found.look(func, stmt));
    let mut wanted = vec![false; func.values.len()];
    found.block(&mut func.body, &mut wanted);
}

/// Facts about values, by their numbers.
struct Found {
    /// True if the number follows from parameters and the launch alone, and its computation cannot fault.
    uniform: Vec<bool>,
    /// The integer, if it is a constant.
    constants: Vec<Option<i64>>,
}

impl Found {
    fn look(&mut self, func: &Function, stmt: &Stmt) {
        let Stmt::Let(v, op) = stmt else { return };
        if let Op::Const(Const::Int(_, n)) = op {
            self.constants[v.index()] = Some(*n);
        }
        let is_int = |v: Value| func.ty(v).scalar().is_some_and(|s| s.is_int());
        self.uniform[v.index()] = is_int(*v)
            && match op {
                Op::Const(_)
                | Op::Param(_)
                | Op::Builtin(Builtin::BlockIdx(_) | Builtin::BlockDim(_) | Builtin::GridDim(_)) => true,
                Op::Binary(BinaryOp::Div | BinaryOp::Rem, a, b) => {
                    self.uniform[a.index()] && !matches!(self.constants[b.index()], None | Some(0 | -1))
                }
                Op::Unary(..) | Op::Binary(..) | Op::Convert(..) | Op::Bit(..) => {
                    op.operands().iter().all(|v| is_int(*v) && self.uniform[v.index()])
                }
                _ => false,
            };
    }

    fn block(&self, block: &mut Block, wanted: &mut [bool]) {
        let old = std::mem::take(block);
        for (mut stmt, span) in old.stmts.into_iter().zip(old.spans) {
            if matches!(stmt, Stmt::Loop { .. }) {
                self.wanted(&stmt, wanted);
                let mut moved = Vec::new();
                for inner in stmt.blocks_mut() {
                    take(inner, wanted, &mut moved);
                }
                moved.into_iter().for_each(|(stmt, span)| block.push(stmt, span));
            } else {
                stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner, wanted));
            }
            block.push(stmt, span);
        }
    }

    /// Marks the numbers of a loop that are worth moving, and those that they are computed from.
    fn wanted(&self, stmt: &Stmt, wanted: &mut [bool]) {
        let mut all = Vec::new();
        for block in stmt.blocks() {
            block.for_each_stmt(&mut |stmt| {
                if let Stmt::Let(v, op) = stmt
                    && self.uniform[v.index()]
                {
                    all.push((*v, op));
                }
            });
        }
        // Values are defined before they are used, so one walk back finds all.
        for (v, op) in all.into_iter().rev() {
            let is_followed = matches!(
                op,
                Op::Const(_)
                    | Op::Param(_)
                    | Op::Builtin(_)
                    | Op::Convert(..)
                    | Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
            );
            wanted[v.index()] |= !is_followed;
            if wanted[v.index()] {
                op.for_each_value(|operand| wanted[operand.index()] = true);
            }
        }
    }
}

/// Takes the definitions of wanted values out of a block and of those in it.
fn take(block: &mut Block, wanted: &[bool], moved: &mut Vec<(Stmt, Span)>) {
    let old = std::mem::take(block);
    for (mut stmt, span) in old.stmts.into_iter().zip(old.spans) {
        if matches!(&stmt, Stmt::Let(v, _) if wanted[v.index()]) {
            moved.push((stmt, span));
            continue;
        }
        stmt.blocks_mut().into_iter().for_each(|inner| take(inner, wanted, moved));
        block.push(stmt, span);
    }
}

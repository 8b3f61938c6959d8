//! Roots of pointers, and walks over statements that all analyses share.

use crate::ir::{Block, Global, Label, Shared, Slot, Stmt};

/// The one allocation that a pointer can point into, as far as it is known at compile time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// Nothing was ever assigned.
    Unset,
    /// The null pointer constant.
    Null,
    /// The buffer of a parameter.
    Param(u32),
    /// A slot of the function.
    Slot(Slot),
    /// Module data.
    Global(Global),
    /// A shared variable.
    Shared(Shared),
    /// Any allocation, known only at run time.
    Dynamic,
}

impl Root {
    pub fn join(self, other: Root) -> Root {
        match (self, other) {
            (Root::Unset, r) | (r, Root::Unset) => r,
            (a, b) if a == b => a,
            _ => Root::Dynamic,
        }
    }

    /// True if the root is a single allocation.
    pub fn is_known(self) -> bool {
        !matches!(self, Root::Unset | Root::Dynamic)
    }
}

/// Calls `f` on every statement in text order, with the label of the innermost loop it lies in and the number of loops
/// around it.
pub fn walk<'f>(body: &'f Block, mut f: impl FnMut(&'f Stmt, Option<Label>, u32)) {
    struct Frame<'f> {
        rest: std::slice::Iter<'f, Stmt>,
        inside: Option<Label>,
        depth: u32,
    }
    let mut stack = vec![Frame { rest: body.stmts.iter(), inside: None, depth: 0 }];
    while let Some(top) = stack.last_mut() {
        let Some(stmt) = top.rest.next() else {
            stack.pop();
            continue;
        };
        let (inside, depth) = (top.inside, top.depth);
        f(stmt, inside, depth);
        let frame = |block: &'f Block, inside, depth| Frame { rest: block.stmts.iter(), inside, depth };
        match stmt {
            Stmt::If { then, els, .. } => {
                stack.push(frame(els, inside, depth));
                stack.push(frame(then, inside, depth));
            }
            Stmt::Loop { label, body, step } => {
                stack.push(frame(step, Some(*label), depth + 1));
                stack.push(frame(body, Some(*label), depth + 1));
            }
            Stmt::Switch { cases, .. } => {
                stack.extend(cases.iter().rev().map(|case| frame(&case.body, inside, depth)));
            }
            Stmt::Scope { body, .. } => stack.push(frame(body, inside, depth)),
            _ => {}
        }
    }
}

/// The side of an `If` that holds the threads' work, if the `If` is a guard, and the value its condition must have: the
/// other side is empty, or leaves.
pub fn guarded_side<'b>(then: &'b Block, els: &'b Block) -> Option<(&'b Block, bool)> {
    let out = |block: &Block| matches!(block.stmts[..], [] | [Stmt::Return(None) | Stmt::Break(_)]);
    match (out(then), out(els)) {
        (_, true) if !matches!(then.stmts.last(), Some(Stmt::Break(_) | Stmt::Return(_))) => Some((then, true)),
        (true, _) => Some((els, false)),
        _ => None,
    }
}

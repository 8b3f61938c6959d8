//! `continue` as an exit from a scope: lanes that continue early wait at the end of the loop's body, so that all lanes still go through the
//! rounds together.

use crate::ir::{Block, Function, Label, Stmt};

/// Makes a scope of the statements after the first `if` of every loop with a `continue`, which then leaves that scope.
pub fn scope_continues(func: &mut Function) {
    let mut body = std::mem::take(&mut func.body);
    block(func, &mut body);
    func.body = body;
}

fn block(func: &mut Function, outer: &mut Block) {
    for stmt in &mut outer.stmts {
        for inner in stmt.blocks_mut() {
            block(func, inner);
        }
        let Stmt::Loop { label, body, .. } = stmt else { continue };
        let is_first = |s: &Stmt| !matches!(s, Stmt::Let(..));
        let from = body.stmts.iter().position(is_first).map_or(0, |at| match &body.stmts[at] {
            first @ Stmt::If { .. } if !continues(first, *label) => at + 1,
            _ => at,
        });
        if !body.stmts[from..].iter().any(|s| continues(s, *label)) {
            continue;
        }
        let scope = func.new_label();
        let mut rest = Block { stmts: body.stmts.split_off(from), spans: body.spans.split_off(from) };
        let span = rest.spans.first().copied().unwrap_or_default();
        leave_instead(&mut rest, *label, scope);
        body.push(Stmt::Scope { label: scope, body: rest }, span);
    }
}

fn continues(stmt: &Stmt, label: Label) -> bool {
    matches!(stmt, Stmt::Continue(l) if *l == label)
        || stmt.blocks().into_iter().any(|b| b.stmts.iter().any(|s| continues(s, label)))
}

fn leave_instead(block: &mut Block, label: Label, scope: Label) {
    for stmt in &mut block.stmts {
        if matches!(stmt, Stmt::Continue(l) if *l == label) {
            *stmt = Stmt::Break(scope);
        }
        for inner in stmt.blocks_mut() {
            leave_instead(inner, label, scope);
        }
    }
}

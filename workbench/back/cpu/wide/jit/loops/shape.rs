//! Pieces of a loop.

use crate::back::cpu::wide::jit::emit::After;
use crate::back::lane::not_vectorised::Reason;
use crate::back::lane::table::{LaneOp, NumberOp, Op};
use crate::back::lane::tree::{Binary, Expr, If, Kernel, Label, Role, Stmt, Unary, Var};

/// The reason why an expression must be computed even if it is not used; none if computing it has no effect.
pub(super) fn effect(expr: &Expr) -> Option<Reason> {
    match expr {
        Expr::Int(..) | Expr::Real(..) | Expr::Var(_) | Expr::Field(..) => None,
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::At(_, a) => effect(a),
        Expr::Binary(_, a, b) | Expr::Index(a, b) => effect(a).or_else(|| effect(b)),
        Expr::Choose(parts) => parts.iter().find_map(effect),
        Expr::Op(op, args) => {
            let is_known = match op {
                Op::Number(op) => {
                    matches!(op, NumberOp::Likely | NumberOp::Unlikely | NumberOp::Within | NumberOp::F32Of)
                }
                Op::Lanes(op) => is_of_places(*op),
                Op::Memory(_) | Op::Atomic(_) | Op::Fault(_) => false,
            };
            if is_known { args.iter().find_map(effect) } else { Some(Reason::Operation(*op)) }
        }
        Expr::Call(..) | Expr::Host(_) | Expr::Assign(..) => Some(Reason::Effect),
    }
}

/// True for the operations of addresses and of conditions on them, whose results are mostly not used.
fn is_of_places(op: LaneOp) -> bool {
    use LaneOp as L;
    matches!(
        op,
        L::LtF32
            | L::LtF64
            | L::LtI32
            | L::LtU32
            | L::LtI64
            | L::LtU64
            | L::LeF32
            | L::LeF64
            | L::LeI32
            | L::LeU32
            | L::LeI64
            | L::LeU64
            | L::GtF32
            | L::GtF64
            | L::GtI32
            | L::GtU32
            | L::GtI64
            | L::GtU64
            | L::GeF32
            | L::GeF64
            | L::GeI32
            | L::GeU32
            | L::GeI64
            | L::GeU64
            | L::EqF32
            | L::EqF64
            | L::EqI32
            | L::EqU32
            | L::EqI64
            | L::EqU64
            | L::NeF32
            | L::NeF64
            | L::NeI32
            | L::NeU32
            | L::NeI64
            | L::NeU64
            | L::LineI32
            | L::LineI64
            | L::SplatF32
            | L::SplatF64
            | L::SplatI32
            | L::SplatI64
            | L::SplatB1
            | L::WidenI32
            | L::WidenU32
            | L::AddF32
            | L::AddF64
            | L::AddI32
            | L::AddI64
            | L::SubF32
            | L::SubF64
            | L::SubI32
            | L::SubI64
            | L::MulF32
            | L::MulF64
            | L::MulI32
            | L::MulI64
            | L::ShlI32
            | L::ShlI64
    )
}

/// The variables that statements set; none if one is changed by a compound assignment.
pub(super) fn assigned(all: &[Stmt]) -> Option<Vec<Var>> {
    let (mut set, mut changes) = (Vec::new(), false);
    for stmt in all {
        stmt.for_each_expr(&mut |expr| match expr {
            Expr::Assign(Some(_), ..) => changes = true,
            Expr::Assign(None, to, _) => {
                if let Expr::Var(var) = **to
                    && !set.contains(&var)
                {
                    set.push(var);
                }
            }
            _ => {}
        });
    }
    (!changes).then_some(set)
}

/// True if statements that follow mention one of some variables.
pub(super) fn is_mentioned(after: &After<'_, '_>, vars: &[Var]) -> bool {
    let mut found = false;
    for stmt in after.all() {
        stmt.for_each_expr(&mut |expr| found |= matches!(expr, Expr::Var(var) if vars.contains(var)));
    }
    found
}

/// `if (cond) { } else { ... goto label; }` and `if (!cond) { ... break; }`: the condition to stay, and the label.
pub(super) fn leaving(of: &If) -> Option<(&Expr, Option<Label>)> {
    let (cond, leaves) = match (&of.cond, &of.then, &of.els) {
        (Expr::Unary(Unary::Not, cond), then, None) => (&**cond, then),
        (cond, Stmt::Block(then), Some(els)) if then.is_empty() => (cond, els),
        _ => return None,
    };
    let Stmt::Block(leaves) = leaves else { return None };
    // The last statement leaves the loop.
    match leaves.last()? {
        Stmt::Break => Some((cond, None)),
        Stmt::Goto(label) => Some((cond, Some(*label))),
        _ => None,
    }
}

/// `if (unlikely((budget -= cost) < 0)) { ... }`: the cost.
pub(super) fn budget(kernel: &Kernel, of: &If) -> Option<i32> {
    let Expr::Op(Op::Number(NumberOp::Unlikely), args) = &of.cond else { return None };
    let [Expr::Binary(Binary::Lt, assign, zero)] = &args[..] else { return None };
    let (Expr::Assign(Some(Binary::Sub), var, cost), Expr::Int(0, ..)) = (&**assign, &**zero) else { return None };
    let (Expr::Var(var), Expr::Int(cost, ..)) = (&**var, &**cost) else { return None };
    let is_plain = kernel.var(*var).role == Role::Budget && of.els.is_none();
    if is_plain { i32::try_from(*cost).ok() } else { None }
}

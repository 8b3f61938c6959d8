//! Removes statements that compute something nobody reads, from the last to the first.

use crate::ir::{BinaryOp, Block, Const, Function, Local, Op, Scalar, Stmt, Value};

pub(super) fn run(func: &mut Function) {
    let mut counts = Counts {
        uses: vec![0; func.values.len()],
        gets: vec![0; func.locals.len()],
        ints: vec![None; func.values.len()],
        floats: func.values.iter().map(|data| data.ty.scalar().is_some_and(Scalar::is_float)).collect(),
    };
    func.body.for_each_stmt(&mut |stmt| counts.count(stmt));
    let mut body = std::mem::take(&mut func.body);
    counts.block(&mut body);
    func.body = body;
}

/// Removes the locals that are neither set nor read any more.
pub(crate) fn locals(func: &mut Function) {
    let mut used = vec![false; func.locals.len()];
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) = stmt {
            used[l.index()] = true;
        }
    });
    if used.iter().all(|used| *used) {
        return;
    }
    let mut numbers = vec![Local::new(0); used.len()];
    let kept = used.iter().enumerate().filter(|(_, used)| **used);
    kept.zip(0..).for_each(|((old, _), new)| numbers[old] = Local::new(new));
    renumber(&mut func.body, &numbers);
    let mut used = used.into_iter();
    func.locals.retain(|_| used.next().unwrap_or(true));
}

fn renumber(block: &mut Block, numbers: &[Local]) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) => *l = numbers[l.index()],
            other => other.blocks_mut().into_iter().for_each(|inner| renumber(inner, numbers)),
        }
    }
}

struct Counts {
    /// The number of reads of each value.
    uses: Vec<u32>,
    /// The number of reads of each local.
    gets: Vec<u32>,
    /// The constant that each integer value is, where it is one.
    ints: Vec<Option<i64>>,
    /// True for values that are floats.
    floats: Vec<bool>,
}

impl Counts {
    fn count(&mut self, stmt: &Stmt) {
        stmt.for_each_value(|v| self.uses[v.index()] += 1);
        match stmt {
            Stmt::Let(_, Op::Get(l)) => self.gets[l.index()] += 1,
            Stmt::Let(v, Op::Const(Const::Int(_, x))) => self.ints[v.index()] = Some(*x),
            _ => {}
        }
    }

    fn block(&mut self, block: &mut Block) {
        let mut keep = vec![true; block.stmts.len()];
        for (stmt, keep) in block.stmts.iter_mut().zip(&mut keep).rev() {
            for inner in stmt.blocks_mut().into_iter().rev() {
                self.block(inner);
            }
            *keep = self.needed(stmt);
            if !*keep {
                stmt.for_each_value(|v| self.uses[v.index()] -= 1);
                if let Stmt::Let(_, Op::Get(l)) = stmt {
                    self.gets[l.index()] -= 1;
                }
            }
        }
        let mut kept = keep.iter();
        block.stmts.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        block.spans.retain(|_| *kept.next().unwrap_or(&true));
    }

    fn needed(&self, stmt: &mut Stmt) -> bool {
        let unread = |v: &Value| self.uses[v.index()] == 0;
        match stmt {
            Stmt::Let(v, op) => !unread(v) || self.may_fault(op),
            Stmt::Set(l, _) => self.gets[l.index()] > 0,
            Stmt::If { then, els, .. } => !then.is_empty() || !els.is_empty(),
            Stmt::Scope { body, .. } => !body.is_empty(),
            // The flag that says if the call raised stays, read or not: the exception ends there.
            Stmt::Call { result, .. }
            | Stmt::Printf { result, .. }
            | Stmt::Atomic { result, .. }
            | Stmt::Collective { result, .. }
            | Stmt::Service { result, .. } => {
                *result = result.filter(|v| !unread(v));
                true
            }
            _ => true,
        }
    }

    fn may_fault(&self, op: &Op) -> bool {
        match op {
            Op::Load { .. } => true,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                !self.floats[divisor.index()] && matches!(self.ints[divisor.index()], None | Some(0 | -1))
            }
            _ => false,
        }
    }
}

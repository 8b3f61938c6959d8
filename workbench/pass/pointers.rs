//! Origins of pointers: the memory that each comes from, by data flow through pointer arithmetic, selections and locals.

use crate::ir::{Block, Const, Function, Op, Stmt, Type, Value};

/// The origin of a pointer, as far as it is known: a lattice of height two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<T> {
    /// Nothing reaches it but null and poison.
    Nothing,
    /// One origin.
    One(T),
    /// Several, or one that is unknown: loaded from memory, made of an integer, returned by a call.
    Unknown,
}

impl<T: Copy + PartialEq> Origin<T> {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Origin::Nothing, x) | (x, Origin::Nothing) => x,
            (a, b) if a == b => a,
            _ => Origin::Unknown,
        }
    }

    /// The origin, where there is one.
    pub fn one(self) -> Option<T> {
        match self {
            Origin::One(t) => Some(t),
            Origin::Nothing | Origin::Unknown => None,
        }
    }
}

/// The origin of each value of a function; `root` gives the origin of the ops that start one (`Param`, `SlotAddr`, `GlobalAddr`,
/// `SharedAddr`).
pub fn origins<T: Copy + PartialEq>(func: &Function, root: impl Fn(&Op) -> Origin<T>) -> Vec<Origin<T>> {
    let mut flow = Flow {
        func,
        root,
        values: vec![Origin::Nothing; func.values.len()],
        locals: vec![Origin::Nothing; func.locals.len()],
        changed: true,
    };
    // Each round but the last moves a local up the lattice; long chains of locals copied backwards are given up on.
    let mut rounds = 0;
    while flow.changed {
        if rounds == MAX_ROUNDS {
            flow.locals.fill(Origin::Unknown);
        }
        rounds += 1;
        flow.changed = false;
        flow.block(&func.body);
    }
    flow.values
}

/// Keeps the analysis linear.
const MAX_ROUNDS: usize = 8;

struct Flow<'a, T, F> {
    func: &'a Function,
    root: F,
    values: Vec<Origin<T>>,
    locals: Vec<Origin<T>>,
    changed: bool,
}

impl<T: Copy + PartialEq, F: Fn(&Op) -> Origin<T>> Flow<'_, T, F> {
    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(v, op) if self.func.ty(*v) == Type::Ptr => self.values[v.index()] = self.op(op),
                Stmt::Set(l, v) if self.func.ty(*v) == Type::Ptr => {
                    let joined = self.locals[l.index()].join(self.values[v.index()]);
                    self.changed |= joined != self.locals[l.index()];
                    self.locals[l.index()] = joined;
                }
                Stmt::Call { result: Some(v), .. } | Stmt::Service { result: Some(v), .. } => {
                    self.values[v.index()] = Origin::Unknown;
                }
                other => other.blocks().into_iter().for_each(|inner| self.block(inner)),
            }
        }
    }

    fn op(&self, op: &Op) -> Origin<T> {
        let of = |v: Value| self.values[v.index()];
        match op {
            Op::Const(Const::Null) => Origin::Nothing,
            Op::Param(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) => (self.root)(op),
            Op::Get(l) => self.locals[l.index()],
            Op::PtrAdd { ptr, .. } => of(*ptr),
            Op::Select(_, a, b) => of(*a).join(of(*b)),
            _ => Origin::Unknown,
        }
    }
}

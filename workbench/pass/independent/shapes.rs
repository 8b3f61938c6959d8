//! Values that the lanes of a group share: of a warp, of a part of one, or all threads of the block.
//!
//! The analysis is that of [`uniformity`](crate::pass::uniformity), but it only decides what is worth a closer look, so it may assume more:
//! all who read one place in memory get the same value, and the lanes of a group are neighbours in x.

use crate::ir::{
    AtomicOp, BinaryOp, Block, Builtin, Collective, CompareOp, Const, Function, Local, Op, Shuffle, Stmt, Value,
};

/// Keeps the analysis linear in the length of the function.
const MAX_ROUNDS: usize = 12;

/// The shape of a value over the lanes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One number; true if it is a multiple of the group's size.
    Same(bool),
    /// A multiple of the group's size and the lane's number in it.
    Lane,
    /// Anything.
    Any,
}

/// The shapes of a function.
#[derive(Debug)]
pub struct Shapes {
    values: Vec<Shape>,
    /// Constructs that lanes leave, or pass parts of, at different times.
    divergent: Vec<bool>,
    /// Loops that lanes leave after different numbers of rounds.
    pub left: Vec<bool>,
}

impl Shapes {
    /// True if all lanes of a group have one number there.
    pub fn is_same(&self, v: Value) -> bool {
        matches!(self.values[v.index()], Shape::Same(_))
    }

    /// The jumps out of a statement that only some lanes make: labels, and true if the jump is to the next round.
    pub fn jumps(&self, stmt: &Stmt, found: &mut Vec<(usize, bool)>) {
        self.jumps_in(stmt, false, found);
    }

    fn jumps_in(&self, stmt: &Stmt, varying: bool, found: &mut Vec<(usize, bool)>) {
        match stmt {
            Stmt::Break(l) if varying => found.push((l.index(), false)),
            Stmt::Continue(l) if varying => found.push((l.index(), true)),
            _ => {}
        }
        let varying = varying
            || match stmt {
                Stmt::If { cond: v, .. } | Stmt::Switch { value: v, .. } if !self.is_same(*v) => true,
                Stmt::Loop { label, .. } | Stmt::Switch { label, .. } | Stmt::Scope { label, .. } => {
                    self.divergent[label.index()]
                }
                _ => false,
            };
        for inner in stmt.blocks() {
            inner.stmts.iter().for_each(|stmt| self.jumps_in(stmt, varying, found));
        }
    }

    /// The shapes over groups of `lanes` neighbours, a power of two; 0 stands for the block. The lanes of a group are those that share the
    /// given values and locals.
    pub fn new(func: &Function, lanes: u32, shared: &[Value], kept: &[Local]) -> Self {
        let labels = func.labels as usize;
        let mut analysis = Analysis {
            lanes: u64::from(lanes),
            consts: vec![None; func.values.len()],
            values: vec![Shape::Same(false); func.values.len()],
            locals: vec![None; func.locals.len()],
            divergent: vec![false; labels],
            left: vec![false; labels],
            around: Vec::new(),
            changed: true,
            shared: vec![false; func.values.len()],
            kept: vec![false; func.locals.len()],
        };
        shared.iter().for_each(|v| analysis.shared[v.index()] = true);
        kept.iter().for_each(|l| analysis.kept[l.index()] = true);
        let mut rounds = 0;
        while analysis.changed {
            if rounds == MAX_ROUNDS {
                analysis.locals.fill(Some(Shape::Any));
                analysis.divergent.fill(true);
                analysis.left.fill(true);
            }
            rounds += 1;
            analysis.changed = false;
            analysis.block(&func.body, false);
        }
        Shapes { values: analysis.values, divergent: analysis.divergent, left: analysis.left }
    }
}

fn join(a: Option<Shape>, b: Shape) -> Shape {
    match (a, b) {
        (None, b) => b,
        (Some(Shape::Same(m)), Shape::Same(n)) => Shape::Same(m && n),
        (Some(Shape::Lane), Shape::Lane) => Shape::Lane,
        _ => Shape::Any,
    }
}

struct Analysis {
    lanes: u64,
    consts: Vec<Option<i64>>,
    values: Vec<Shape>,
    locals: Vec<Option<Shape>>,
    divergent: Vec<bool>,
    left: Vec<bool>,
    /// Labels of the enclosing constructs, innermost last.
    around: Vec<usize>,
    changed: bool,
    /// True for the given values, which the lanes of a group share.
    shared: Vec<bool>,
    kept: Vec<bool>,
}

impl Analysis {
    fn block(&mut self, block: &Block, varying: bool) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt, varying));
    }

    fn stmt(&mut self, stmt: &Stmt, varying: bool) {
        match stmt {
            Stmt::Let(v, op) => {
                if let Op::Const(Const::Int(_, n)) = op {
                    self.consts[v.index()] = Some(*n);
                }
                self.values[v.index()] = if self.shared[v.index()] { Shape::Same(false) } else { self.op(op) };
            }
            Stmt::Set(l, _) if self.kept[l.index()] => {}
            Stmt::Set(l, v) => {
                let joined = join(self.locals[l.index()], if varying { Shape::Any } else { self.values[v.index()] });
                self.changed |= self.locals[l.index()] != Some(joined);
                self.locals[l.index()] = Some(joined);
            }
            Stmt::If { cond, then, els } => {
                let varying = varying || !self.same(*cond);
                self.block(then, varying);
                self.block(els, varying);
            }
            Stmt::Switch { label, value, cases } => {
                let varying = varying || !self.same(*value);
                cases.iter().for_each(|case| self.construct(label.index(), &case.body, varying));
            }
            Stmt::Loop { label, body, step } => {
                self.construct(label.index(), body, varying);
                self.construct(label.index(), step, varying);
            }
            Stmt::Scope { label, body } => self.construct(label.index(), body, varying),
            Stmt::Break(label) | Stmt::Continue(label) if varying => {
                let again = matches!(stmt, Stmt::Continue(_));
                for i in (0..self.around.len()).rev() {
                    let (at, is_last) = (self.around[i], self.around[i] == label.index());
                    self.changed |= !std::mem::replace(&mut self.divergent[at], true);
                    if !is_last || !again {
                        self.left[at] = true;
                    }
                    if is_last {
                        break;
                    }
                }
            }
            other => {
                if let Some(v) = other.result() {
                    self.values[v.index()] =
                        if self.shared[v.index()] { Shape::Same(false) } else { self.result(other) };
                }
            }
        }
    }

    fn construct(&mut self, label: usize, block: &Block, varying: bool) {
        let varying = varying || self.divergent[label];
        self.around.push(label);
        self.block(block, varying);
        self.around.pop();
    }

    fn same(&self, v: Value) -> bool {
        matches!(self.values[v.index()], Shape::Same(_))
    }

    /// The shape of the result of a statement other than `Let`.
    fn result(&self, stmt: &Stmt) -> Shape {
        let all = |values: &[Value]| values.iter().all(|v| self.same(*v));
        let is_same = match stmt {
            Stmt::Collective { op, .. } if op.is_block() => true,
            Stmt::Collective { .. } if self.lanes == 0 => false,
            Stmt::Collective { op, args, .. } => match op {
                Collective::Shfl(Shuffle::Idx) => self.same(args[0]) && self.same(args[2]) && self.same(args[3]),
                Collective::Shfl(_) | Collective::MatchAny => false,
                _ => args.first().is_none_or(|mask| self.same(*mask)),
            },
            // The result is the same for any thread that takes a thing that is free.
            Stmt::Atomic { op, ptr, value, compare, .. } if self.lanes == 0 => {
                let operands: Vec<Value> = [*value].into_iter().chain(*compare).collect();
                let counts = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Inc | AtomicOp::Dec);
                all(&operands) && if self.keeps(stmt) { self.same(*ptr) } else { !counts }
            }
            _ => false,
        };
        if is_same { Shape::Same(false) } else { Shape::Any }
    }

    /// True if an atomic only reads.
    fn keeps(&self, stmt: &Stmt) -> bool {
        keeps(stmt, &|v| self.consts[v.index()])
    }

    fn op(&self, op: &Op) -> Shape {
        let shape = |v: Value| self.values[v.index()];
        let number = |v: Value| self.consts[v.index()];
        let divides = |n: i64| self.lanes > 0 && (n as u64).is_multiple_of(self.lanes);
        // The number of a lane among more than the group.
        let ends = |n: i64| n > 0 && divides(n + 1) && (n as u64 + 1).is_power_of_two();
        let shift = |v: Value| number(v).filter(|n| self.lanes > 0 && *n >= i64::from(self.lanes.trailing_zeros()));
        match op {
            Op::Const(Const::Int(_, n)) => Shape::Same(divides(*n)),
            Op::Builtin(Builtin::ThreadIdx(_)) if self.lanes == 0 => Shape::Any,
            Op::Builtin(Builtin::ThreadIdx(0)) => Shape::Lane,
            Op::Builtin(Builtin::BlockDim(0)) => Shape::Same(true),
            Op::SlotAddr(_) => Shape::Any,
            Op::Get(l) => self.locals[l.index()].unwrap_or(Shape::Same(false)),
            Op::Convert(to, a) if to.is_int() => shape(*a),
            Op::Select(c, a, b) if self.same(*c) => join(Some(shape(*a)), shape(*b)),
            Op::Binary(binary, a, b) => match (binary, shape(*a), shape(*b)) {
                (BinaryOp::Add | BinaryOp::Sub, Shape::Same(m), Shape::Same(n)) => Shape::Same(m && n),
                (BinaryOp::Add, Shape::Lane, Shape::Same(true)) | (BinaryOp::Add, Shape::Same(true), Shape::Lane) => {
                    Shape::Lane
                }
                (BinaryOp::Sub, Shape::Lane, Shape::Same(true)) => Shape::Lane,
                (BinaryOp::Mul, Shape::Same(m), Shape::Same(n)) => Shape::Same(m || n),
                (BinaryOp::Shl, Shape::Same(m), Shape::Same(_)) => Shape::Same(m || shift(*b).is_some()),
                (BinaryOp::Shr, Shape::Lane, _) if shift(*b).is_some() => Shape::Same(false),
                (BinaryOp::Div, Shape::Lane, _) if number(*b).is_some_and(|n| n > 0 && divides(n)) => {
                    Shape::Same(false)
                }
                (BinaryOp::And, Shape::Lane, _) if number(*b).is_some_and(ends) => Shape::Lane,
                (BinaryOp::Rem, Shape::Lane, _) if number(*b).is_some_and(|n| n > 0 && divides(n)) => Shape::Lane,
                (BinaryOp::And, Shape::Lane, _) if number(*b).is_some_and(divides) => Shape::Same(true),
                (BinaryOp::And, _, Shape::Lane) if number(*a).is_some_and(divides) => Shape::Same(true),
                (_, Shape::Same(_), Shape::Same(_)) => Shape::Same(false),
                _ => Shape::Any,
            },
            Op::Compare(compare, a, b) => {
                let next = |v: Value| number(v).is_some_and(|n| n >= 0 && divides(n + 1));
                let first = match (shape(*a), shape(*b)) {
                    (Shape::Lane, Shape::Same(true)) => matches!(compare, CompareOp::Lt | CompareOp::Ge),
                    (Shape::Same(true), Shape::Lane) => matches!(compare, CompareOp::Gt | CompareOp::Le),
                    (Shape::Same(_), Shape::Same(_)) => true,
                    (Shape::Lane, _) if next(*b) => matches!(compare, CompareOp::Le | CompareOp::Gt),
                    (_, Shape::Lane) if next(*a) => matches!(compare, CompareOp::Ge | CompareOp::Lt),
                    _ => false,
                };
                if first { Shape::Same(false) } else { Shape::Any }
            }
            _ => {
                let mut all = true;
                op.for_each_value(|v| all &= self.same(v));
                if all { Shape::Same(false) } else { Shape::Any }
            }
        }
    }
}

/// True if an atomic leaves memory as it is.
pub fn keeps(stmt: &Stmt, number: &dyn Fn(Value) -> Option<i64>) -> bool {
    let Stmt::Atomic { op, value, compare, .. } = stmt else { return false };
    match op {
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor => number(*value) == Some(0),
        AtomicOp::And => number(*value) == Some(-1) || number(*value) == Some(i64::from(u32::MAX)),
        AtomicOp::Cas => {
            *compare == Some(*value) || compare.is_some_and(|c| number(c).is_some() && number(c) == number(*value))
        }
        _ => false,
    }
}

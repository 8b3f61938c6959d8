//! Kernels whose threads can run four at a time in vector registers.
//!
//! A kernel qualifies when, below guards such as `if (i < n)`, it is straight-line code (branches without stores become
//! selections) on 32- and 64-bit numbers, and every access is one that the row's plan has checked for all threads: at
//! neighbouring elements for neighbouring threads, or at one element for all. Everything else keeps the scalar loop, which with
//! every check, also runs the threads left over at a row's end, chunks that a guard cuts, and rows whose accesses are not all in
//! bounds.
//!
//! A guard compares affine numbers. Where they do not wrap (the row's plan checks that, too), it holds for all threads of
//! a chunk if it holds for the first and for the last.

use std::collections::{BTreeMap, BTreeSet};

use super::affine::{Finder, RowPlan};
use super::roots::{Root, guarded_side};
use crate::back::cpu::math::reciprocal;
use crate::ir::{BinaryOp, Block, CompareOp, Function, Local, MathFn, Op, Scalar, Stmt, Type, UnaryOp, Value};

/// Threads that share one vector of 32-bit numbers.
pub const LANES: i64 = 4;

/// Groups of four threads in a chunk, that is between two looks at the guards, for bodies of up to so many ops in lanes: a long body
/// keeps the machine busy by itself, and every copy of it costs its time to compile.
const GROUPS: [(usize, i64); 3] = [(12, 4), (32, 2), (usize::MAX, 1)];

/// The form that a value has in the vector code of a chunk of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Not computed.
    Unused,
    /// A uniform number or pointer, or the first thread's of an affine one with that step.
    Line(i64),
    /// A number per thread.
    Lanes(Scalar),
    /// A truth value per thread, as all ones or zeros in lanes of that many bytes.
    Mask(u32),
}

/// A comparison of affine values that must have the same result in all threads of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    pub op: CompareOp,
    pub a: Value,
    pub b: Value,
    /// The result that the comparison must have.
    pub want: bool,
}

/// A plan for running a kernel's body on chunks of threads.
#[derive(Debug)]
pub struct VectorPlan {
    /// The number of groups of [`LANES`] threads in a chunk.
    pub groups: i64,
    /// The kind of each value.
    pub kinds: Vec<Kind>,
    /// The value that each value which reads a local reads; `None` where branches were joined.
    pub alias: Vec<Option<Value>>,
    /// The comparison of each `If` that is a guard, by its condition.
    pub guards: Vec<Guard>,
    /// The conditions of the `If`s that are guards.
    pub conds: BTreeSet<Value>,
}

/// The value that a local holds at some place of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LocalBound {
    Value(Value),
    /// Lanes or a mask chosen from both sides of a branch.
    Joined(Kind),
}

type Env = BTreeMap<Local, LocalBound>;

struct Planner<'p, 'f> {
    func: &'f Function,
    row: &'p RowPlan,
    align: &'p [u8],
    finder: &'p mut Finder<'f>,
    plan: VectorPlan,
    widened: BTreeSet<(Value, i64)>,
    stored: bool,
    has_fma: bool,
}

/// Finds out whether the threads of a kernel can run in vectors, and adds the conditions for that to the row's plan.
pub(super) fn plan<'f>(
    func: &'f Function,
    row: &mut RowPlan,
    align: &[u8],
    finder: &mut Finder<'f>,
    has_fma: bool,
) -> Option<VectorPlan> {
    if row.is_empty() || !func.slots.is_empty() {
        return None;
    }
    let count = func.values.len();
    let plan = VectorPlan {
        groups: 1,
        kinds: vec![Kind::Unused; count],
        alias: vec![None; count],
        guards: Vec::new(),
        conds: BTreeSet::new(),
    };
    let mut planner = Planner { func, row, align, finder, plan, widened: BTreeSet::new(), stored: false, has_fma };
    planner.guarded(&func.body, &mut Env::new())?;
    let Planner { mut plan, widened, stored, .. } = planner;
    if !stored {
        return None;
    }
    let in_lanes = plan.kinds.iter().filter(|kind| matches!(kind, Kind::Lanes(_) | Kind::Mask(_))).count();
    plan.groups = GROUPS.iter().find(|(ops, _)| in_lanes <= *ops).map_or(1, |(_, groups)| *groups);
    let known: BTreeSet<_> = row.widened.iter().copied().collect();
    row.widened.extend(widened.into_iter().filter(|w| !known.contains(w)));
    Some(plan)
}

impl VectorPlan {
    /// The number of threads in a chunk.
    pub fn chunk(&self) -> i64 {
        self.groups * LANES
    }
}

impl Planner<'_, '_> {
    /// Plans a list of statements that all threads of a chunk run, guards among them.
    fn guarded(&mut self, block: &Block, env: &mut Env) -> Option<()> {
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                Stmt::If { cond, then, els } => match guarded_side(then, els) {
                    Some((side, want)) if self.guard(*cond, want) => {
                        self.plan.conds.insert(*cond);
                        self.guarded(side, env)?;
                    }
                    _ => self.branch(*cond, then, els, env)?,
                },
                // A scope that no thread leaves is the same as its body.
                Stmt::Scope { body, .. } => self.guarded(body, env)?,
                Stmt::Return(None) if i == last && std::ptr::eq(block, &raw const self.func.body) => {}
                _ => self.stmt(stmt, env, false)?,
            }
        }
        Some(())
    }

    /// True if a condition is a guard; notes its comparisons.
    fn guard(&mut self, cond: Value, want: bool) -> bool {
        let (guards, widened) = (self.plan.guards.len(), self.widened.clone());
        let is = self.leaves(cond, want, 0);
        if !is {
            self.plan.guards.truncate(guards);
            self.widened = widened;
        }
        is
    }

    fn leaves(&mut self, cond: Value, want: bool, depth: u32) -> bool {
        const MAX_DEPTH: u32 = 16;
        if depth > MAX_DEPTH {
            return false;
        }
        match self.finder.op(cond) {
            Some(Op::Binary(BinaryOp::And, a, b)) if want => {
                self.leaves(*a, want, depth + 1) && self.leaves(*b, want, depth + 1)
            }
            Some(Op::Binary(BinaryOp::Or, a, b)) if !want => {
                self.leaves(*a, want, depth + 1) && self.leaves(*b, want, depth + 1)
            }
            Some(Op::Unary(UnaryOp::Not, a)) => self.leaves(*a, !want, depth + 1),
            Some(Op::Compare(op, a, b)) => {
                let (op, a, b) = (*op, *a, *b);
                let (Some(x), Some(y)) = (self.int_line(a), self.int_line(b)) else { return false };
                let flat = x == 0 && y == 0;
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && !flat {
                    return false;
                }
                for (v, step) in [(a, x), (b, y)] {
                    if step != 0 {
                        self.widened.insert((v, step));
                    }
                    self.finder.widenings(v, &mut self.widened);
                }
                self.plan.guards.push(Guard { op, a, b, want });
                true
            }
            _ => false,
        }
    }

    /// The step of an affine integer.
    fn int_line(&mut self, v: Value) -> Option<i64> {
        let scalar = self.scalar(v)?;
        (scalar.is_int() && scalar.bits() >= 32).then_some(())?;
        self.finder.line(v).map(|l| l.step)
    }

    fn scalar(&self, v: Value) -> Option<Scalar> {
        self.func.values.get(v.index())?.ty.scalar()
    }

    fn kind(&self, v: Value) -> Kind {
        self.plan.kinds.get(v.index()).copied().unwrap_or(Kind::Unused)
    }

    /// Plans one statement; `masked` where not all threads run it.
    fn stmt(&mut self, stmt: &Stmt, env: &mut Env, masked: bool) -> Option<()> {
        match stmt {
            Stmt::Let(v, op) => {
                let kind = self.op(*v, op, env, masked)?;
                *self.plan.kinds.get_mut(v.index())? = kind;
                Some(())
            }
            Stmt::Set(local, v) => {
                env.insert(*local, LocalBound::Value(*v));
                Some(())
            }
            Stmt::If { cond, then, els } => self.branch(*cond, then, els, env),
            Stmt::Store { ptr, value, volatile: false } if !masked => {
                let scalar = self.scalar(*value)?;
                self.access(*ptr, scalar, true).filter(|step| *step == i64::from(scalar.size()))?;
                self.lanes(*value)?;
                self.stored = true;
                Some(())
            }
            _ => None,
        }
    }

    /// Plans a branch, both sides of which are computed and joined by selection.
    fn branch(&mut self, cond: Value, then: &Block, els: &Block, env: &mut Env) -> Option<()> {
        if self.kind(cond) == Kind::Unused {
            return None;
        }
        let mut sides = [env.clone(), env.clone()];
        for (side, block) in sides.iter_mut().zip([then, els]) {
            for stmt in &block.stmts {
                self.stmt(stmt, side, true)?;
            }
        }
        let [yes, no] = sides;
        for (local, a) in yes {
            match no.get(&local) {
                Some(b) if *b == a => {
                    env.insert(local, a);
                }
                Some(b) => {
                    let (a, b) = (self.bound_kind(a)?, self.bound_kind(*b)?);
                    match (a, b) {
                        (Kind::Mask(_), Kind::Mask(_)) => {}
                        _ if a == b => {}
                        _ => return None,
                    }
                    env.insert(local, LocalBound::Joined(a));
                }
                // The local is set on one side only, and read on no path after that: it is the text's own poison.
                None => {
                    env.remove(&local);
                }
            }
        }
        Some(())
    }

    /// The kind of a local's value, in a form that lanes can be chosen from.
    fn bound_kind(&self, bound: LocalBound) -> Option<Kind> {
        match bound {
            LocalBound::Joined(kind) => Some(kind),
            LocalBound::Value(v) => self.lanes(v).map(Kind::Lanes).or_else(|| self.truth(v).map(Kind::Mask)),
        }
    }

    /// The size of a truth value's lanes.
    fn truth(&self, v: Value) -> Option<u32> {
        match self.kind(v) {
            Kind::Mask(bytes) => Some(bytes),
            Kind::Line(0) if self.scalar(v) == Some(Scalar::Bool) => Some(4),
            _ => None,
        }
    }

    /// The type of a value's lanes, where it has or can be given some.
    fn lanes(&self, v: Value) -> Option<Scalar> {
        let scalar = self.scalar(v)?;
        let fits = matches!(scalar, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32);
        match self.kind(v) {
            Kind::Lanes(s) => Some(s),
            Kind::Line(0) if fits => Some(scalar),
            Kind::Line(step) if fits && !scalar.is_float() && i32::try_from(step).is_ok() => Some(scalar),
            _ => None,
        }
    }

    /// The step of an access that the row's plan has checked, and that is aligned.
    fn access(&mut self, ptr: Value, scalar: Scalar, write: bool) -> Option<i64> {
        let log2 = scalar.size().trailing_zeros();
        let aligned = u32::from(self.align.get(ptr.index()).copied().unwrap_or(0)) >= log2;
        let line = self.finder.line(ptr)?;
        let planned = matches!(line.root, Root::Param(_)) && self.row.covers(ptr, write, log2);
        (aligned && planned && self.kind(ptr) != Kind::Unused).then_some(line.step)
    }

    fn op(&mut self, v: Value, op: &Op, env: &Env, masked: bool) -> Option<Kind> {
        if let Op::Get(local) = op {
            return match env.get(local)? {
                LocalBound::Value(from) => {
                    *self.plan.alias.get_mut(v.index())? = Some(*from);
                    Some(self.kind(*from))
                }
                LocalBound::Joined(kind) => Some(*kind),
            };
        }
        if let Some(line) = self.finder.line(v) {
            return Some(Kind::Line(line.step));
        }
        match op {
            Op::Const(_) | Op::Param(_) | Op::Builtin(_) => Some(Kind::Line(0)),
            Op::Load { ptr, ty: Type::Scalar(scalar), volatile: false } => match self.access(*ptr, *scalar, false)? {
                // The element is read once for the chunk; a store before it in the text could be to the same element.
                0 if !self.stored => Some(Kind::Line(0)),
                step if step == i64::from(scalar.size()) => self.numbers(*scalar),
                _ => None,
            },
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Bitcast(..)
            | Op::Select(..)
            | Op::Math(..) => {
                let operands = op.operands();
                if operands.iter().all(|a| self.kind(*a) == Kind::Line(0)) {
                    // A fault names the running thread, and a chunk has none; a constant divisor other than 0 and -1
                    // never faults.
                    let faults = may_fault(op)
                        && self.func.ty(v).scalar().is_some_and(|s| !s.is_float())
                        && operands.get(1).and_then(|b| self.finder.constant(*b)).is_none_or(|n| matches!(n, 0 | -1));
                    return (!faults && (!masked || !may_fault(op))).then_some(Kind::Line(0));
                }
                match self.lane_op(v, op) {
                    // The value may be needed by guards alone; any other use finds that it has no form.
                    None if !may_fault(op) => Some(Kind::Unused),
                    kind => kind,
                }
            }
            _ => None,
        }
    }

    fn numbers(&self, scalar: Scalar) -> Option<Kind> {
        matches!(scalar, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32).then_some(Kind::Lanes(scalar))
    }

    /// The lanes of an op, for those whose vector form means the same as the scalar one.
    fn lane_op(&mut self, v: Value, op: &Op) -> Option<Kind> {
        match op {
            Op::Unary(UnaryOp::Not, a) if self.truth(*a).is_some() => self.truth(*a).map(Kind::Mask),
            Op::Unary(_, a) => self.lanes(*a).map(Kind::Lanes),
            Op::Binary(op, a, b) => {
                if let (Some(x), Some(_)) = (self.truth(*a), self.truth(*b)) {
                    let logical = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
                    return logical.then_some(Kind::Mask(x));
                }
                let (x, y) = (self.lanes(*a)?, self.lanes(*b)?);
                let fits = match op {
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => x == y,
                    BinaryOp::Div => x == y && x.is_float(),
                    BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Min | BinaryOp::Max => {
                        x == y && !x.is_float()
                    }
                    BinaryOp::Shl | BinaryOp::Shr => {
                        !x.is_float() && self.finder.constant(*b).is_some_and(|n| (0..32).contains(&n))
                    }
                    _ => false,
                };
                fits.then_some(Kind::Lanes(x))
            }
            Op::Compare(_, a, b) => {
                let (x, y) = (self.lanes(*a)?, self.lanes(*b)?);
                (x == y).then_some(Kind::Mask(x.size()))
            }
            Op::Convert(to @ (Scalar::I32 | Scalar::U32), a) if self.truth(*a).is_some() => Some(Kind::Lanes(*to)),
            Op::Convert(Scalar::Bool, a) => self.lanes(*a).map(|s| Kind::Mask(s.size())),
            Op::Convert(to, a) => {
                let from = self.lanes(*a)?;
                let known = match (from, *to) {
                    (from, to) if from == to => true,
                    (Scalar::I32 | Scalar::U32, Scalar::I32 | Scalar::U32 | Scalar::F32) => true,
                    (Scalar::F32, Scalar::F64) | (Scalar::F64, Scalar::F32) => true,
                    (Scalar::F32, Scalar::I32) => true,
                    _ => false,
                };
                known.then_some(Kind::Lanes(*to))
            }
            Op::Bitcast(to, a) => {
                let from = self.lanes(*a)?;
                (from.size() == to.size()).then_some(())?;
                self.numbers(*to)
            }
            Op::Select(cond, a, b) => {
                matches!(self.kind(*cond), Kind::Mask(_) | Kind::Line(0)).then_some(())?;
                let (x, y) = (self.lanes(*a)?, self.lanes(*b)?);
                (x == y).then_some(Kind::Lanes(x))
            }
            Op::Math(math, args) => {
                let scalar = self.scalar(v)?;
                for arg in args {
                    self.lanes(*arg)?;
                }
                let known = match math {
                    MathFn::Ceil | MathFn::Floor | MathFn::Trunc | MathFn::Rint | MathFn::Sqrt | MathFn::Fabs => true,
                    MathFn::Fmin | MathFn::Fmax => true,
                    MathFn::Rsqrt => scalar == Scalar::F32 && !reciprocal::has_estimate(),
                    MathFn::Fma => self.has_fma,
                    _ => false,
                };
                known.then_some(Kind::Lanes(scalar))
            }
            _ => None,
        }
    }
}

/// True if an operation on numbers may end the thread.
fn may_fault(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..))
}

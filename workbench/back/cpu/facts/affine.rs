//! Accesses whose checks can be made once for a row of threads.
//!
//! An offset `off0 + c * threadIdx.x` with a constant `c` is affine in the thread's index: if it is in bounds for the
//! first thread and for the last, it is in bounds for all. A kernel with such accesses gets two loops: one without their
//! checks, taken when both ends of all of them are in bounds, and one with every check, which also finds the fault.
//!
//! Arithmetic that wraps does not matter as long as nothing widens: sums and products of affine values are affine modulo
//! 2^32. Only where a 32-bit affine value is widened to 64 bits must it not wrap within the row; those places are listed
//! too.

use std::collections::{BTreeSet, HashSet};

use super::roots::{Root, guarded_side, walk};
use crate::ir::{
    BinaryOp, Block, Builtin, CompareOp, Const, Function, Op, ParamType, Scalar, Stmt, Type, UnaryOp, Value,
};
use crate::pass::stride::Strided;

/// Tallest expression followed.
const MAX_HEIGHT: u32 = 48;
/// Largest step of an offset from thread to thread, in bytes: too small for 64 bits to wrap in a row.
const MAX_STEP: i64 = 1 << 31;
/// Most statements of a kernel that gets two loops: a larger one would take twice the time to compile for little gain.
pub const MAX_STMTS: usize = 400;
/// Largest distance between the start indices of neighbouring threads of a grid-stride loop.
const MAX_START_STEP: i64 = 1 << 16;
/// Most accesses worth a comparison at the start of each row.
const MAX_ACCESSES: usize = 24;

/// The comparisons to make at the start of a row.
#[derive(Debug, Default)]
pub struct RowPlan {
    /// Accesses: pointer, whether it writes, log2 of the size, and the step of the offset in bytes.
    pub accesses: Vec<(Value, bool, u32, i64)>,
    /// Values that are widened or that a guard compares, and their steps: they must not wrap within the row.
    pub widened: Vec<(Value, i64)>,
    /// The value that each local is set to, if it is set once, before every use.
    pub forwarded: Vec<Option<Value>>,
    /// The guard past which threads do nothing.
    pub end: Option<RowEnd>,
}

/// A guard around the whole body of a kernel, `if (i < n)`: from the first thread that it stops, no thread of a row does anything. Most
/// threads of a row are like that where an array is small.
#[derive(Debug)]
pub struct RowEnd {
    /// The value that rises by one from thread to thread.
    pub line: Value,
    /// The bound it is compared with, uniform over all threads.
    pub bound: Value,
    /// True if the comparison is `<=`.
    pub inclusive: bool,
    /// Values on the way to it that are widened, and their steps: where one wraps within the row, later threads may
    /// pass the guard again.
    pub widened: Vec<(Value, i64)>,
}

impl RowPlan {
    /// True if there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// True if the comparisons at the start of a row stand for the check of an access.
    pub fn covers(&self, ptr: Value, write: bool, log2: u32) -> bool {
        self.accesses.iter().any(|(p, w, l, _)| (*p, *w, *l) == (ptr, write, log2))
    }
}

/// The affine form of a value in `threadIdx.x`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub step: i64,
    pub root: Root,
    height: u32,
}

/// Finds the accesses of a kernel that need no check of their own in a good row.
pub(super) fn plan(func: &Function, finder: &mut Finder<'_>) -> RowPlan {
    let mut end = None;
    let end = end_of(&func.body, finder, &mut end).and(end);
    let mut accesses = BTreeSet::new();
    walk(&func.body, |stmt, inside, _| {
        let (ptr, ty, write) = match stmt {
            Stmt::Let(_, Op::Load { ptr, ty, .. }) => (*ptr, Some(*ty), false),
            Stmt::Store { ptr, value, .. } => (*ptr, func.values.get(value.index()).map(|d| d.ty), true),
            _ => return,
        };
        // An access in a loop, which may not run or may run far, is not worth the comparison.
        let (Some(ty), None) = (ty, inside) else { return };
        if let Some(Line { step, root: Root::Param(_), .. }) = finder.line(ptr) {
            accesses.insert((ptr, write, ty.size().trailing_zeros(), step));
        }
    });
    let forwarded = finder.forwarded.clone();
    if accesses.is_empty() || accesses.len() > MAX_ACCESSES {
        return RowPlan { end, forwarded, ..RowPlan::default() };
    }
    let mut widened = BTreeSet::new();
    for (ptr, ..) in &accesses {
        finder.widenings(*ptr, &mut widened);
    }
    RowPlan { accesses: accesses.into_iter().collect(), widened: widened.into_iter().collect(), forwarded, end }
}

/// Looks for the one guard around the whole body; `None` where there is code beside it.
fn end_of(block: &Block, finder: &mut Finder<'_>, end: &mut Option<RowEnd>) -> Option<()> {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let(_, op) if is_harmless(op, finder) => {}
            Stmt::Set(..) | Stmt::Return(None) => {}
            Stmt::Scope { body, .. } => end_of(body, finder, end)?,
            Stmt::If { cond, then, els } if end.is_none() => {
                let (_, want) = guarded_side(then, els)?;
                *end = Some(end_by(*cond, want, finder, 0)?);
            }
            _ => return None,
        }
    }
    Some(())
}

/// True if an operation has no effect in a thread that does nothing more: it neither faults nor looks at memory.
fn is_harmless(op: &Op, finder: &Finder<'_>) -> bool {
    match op {
        Op::Binary(BinaryOp::Div | BinaryOp::Rem, a, b) => {
            finder.scalar(*a).is_some_and(Scalar::is_float) || finder.constant(*b).is_some_and(|n| n != 0 && n != -1)
        }
        Op::Const(_) | Op::Param(_) | Op::Builtin(_) | Op::Get(_) | Op::Unary(..) | Op::Binary(..) => true,
        Op::Compare(..) | Op::Convert(..) | Op::Bitcast(..) | Op::Select(..) | Op::Math(..) | Op::PtrAdd { .. } => true,
        _ => false,
    }
}

/// The comparison in a condition that ends a row when it fails; `want` is the result that lets a thread through.
fn end_by(cond: Value, want: bool, finder: &mut Finder<'_>, depth: u32) -> Option<RowEnd> {
    const MAX_DEPTH: u32 = 16;
    match finder.op(cond)? {
        _ if depth > MAX_DEPTH => None,
        Op::Unary(UnaryOp::Not, a) => end_by(*a, !want, finder, depth + 1),
        Op::Binary(op, a, b) if *op == if want { BinaryOp::And } else { BinaryOp::Or } => {
            let first = end_by(*a, want, finder, depth + 1);
            first.or_else(|| end_by(*b, want, finder, depth + 1))
        }
        Op::Compare(op, a, b) => {
            let (line, bound, inclusive) = match (op, want) {
                (CompareOp::Lt, true) | (CompareOp::Ge, false) => (*a, *b, false),
                (CompareOp::Le, true) | (CompareOp::Gt, false) => (*a, *b, true),
                (CompareOp::Gt, true) | (CompareOp::Le, false) => (*b, *a, false),
                (CompareOp::Ge, true) | (CompareOp::Lt, false) => (*b, *a, true),
                _ => return None,
            };
            let is_number = finder.scalar(line).is_some_and(|s| s.is_int() && s.bits() >= 32);
            if !is_number || finder.line(line)?.step != 1 || finder.line(bound)?.step != 0 {
                return None;
            }
            let mut widened = BTreeSet::from([(line, 1)]);
            finder.widenings(line, &mut widened);
            Some(RowEnd { line, bound, inclusive, widened: widened.into_iter().collect() })
        }
        _ => None,
    }
}

/// The facts that a row of a grid-stride loop needs before its first round: the distance between the threads' first
/// indices, and the 32-bit values on the way that must not wrap within the row. `None` where start, bound or stride are
/// not affine.
pub fn trip(strided: &Strided) -> Option<(i64, RowPlan)> {
    let mut finder = Finder::new(&strided.func);
    let step = finder.line(strided.start)?.step;
    let flat = finder.line(strided.bound)?.step == 0 && finder.line(strided.stride)?.step == 0;
    if !flat || !(0..=MAX_START_STEP).contains(&step) {
        return None;
    }
    let mut widened = BTreeSet::new();
    finder.widenings(strided.start, &mut widened);
    let plan = RowPlan { widened: widened.into_iter().collect(), forwarded: finder.forwarded, ..RowPlan::default() };
    Some((step, plan))
}

/// A finder, which follows values back to the ops that define them.
pub(super) struct Finder<'f> {
    func: &'f Function,
    ops: Vec<Option<&'f Op>>,
    forwarded: Vec<Option<Value>>,
    /// The affine forms found, so that shared operands are followed once.
    lines: Vec<Option<Option<Line>>>,
}

impl<'f> Finder<'f> {
    pub(super) fn new(func: &'f Function) -> Self {
        let mut ops = vec![None; func.values.len()];
        let mut forwarded = vec![None; func.locals.len()];
        // A local is forwarded when its only `Set` is in the body's own list, ahead of every `Get`.
        let mut spoiled = vec![false; func.locals.len()];
        let top: BTreeSet<*const Stmt> = func.body.stmts.iter().map(std::ptr::from_ref).collect();
        walk(&func.body, |stmt, _, _| match stmt {
            Stmt::Let(v, op) => {
                if let Some(place) = ops.get_mut(v.index()) {
                    *place = Some(op);
                }
                if let Op::Get(l) = op
                    && let (Some(spoiled), Some(None)) = (spoiled.get_mut(l.index()), forwarded.get(l.index()))
                {
                    *spoiled = true;
                }
            }
            Stmt::Set(l, v) => {
                let (Some(spoiled), Some(place)) = (spoiled.get_mut(l.index()), forwarded.get_mut(l.index())) else {
                    return;
                };
                if place.is_some() || !top.contains(&std::ptr::from_ref(stmt)) {
                    *spoiled = true;
                }
                *place = Some(*v);
            }
            _ => {}
        });
        for (place, spoiled) in forwarded.iter_mut().zip(spoiled) {
            if spoiled {
                *place = None;
            }
        }
        Finder { func, ops, forwarded, lines: vec![None; func.values.len()] }
    }

    fn scalar(&self, v: Value) -> Option<Scalar> {
        self.func.values.get(v.index()).and_then(|d| d.ty.scalar())
    }

    pub(super) fn op(&self, v: Value) -> Option<&'f Op> {
        self.ops.get(v.index()).copied().flatten()
    }

    pub(super) fn constant(&self, v: Value) -> Option<i64> {
        match self.op(v)? {
            Op::Const(Const::Int(_, n)) => Some(*n),
            _ => None,
        }
    }

    pub(super) fn line(&mut self, v: Value) -> Option<Line> {
        if let Some(Some(known)) = self.lines.get(v.index()) {
            return *known;
        }
        let line = self.find(v).filter(|l| l.step.abs() <= MAX_STEP && l.height <= MAX_HEIGHT);
        if let Some(place) = self.lines.get_mut(v.index()) {
            *place = Some(line);
        }
        line
    }

    fn find(&mut self, v: Value) -> Option<Line> {
        let leaf = |step, root| Some(Line { step, root, height: 0 });
        match self.op(v)? {
            Op::Const(Const::Int(..) | Const::Bool(_)) => leaf(0, Root::Unset),
            Op::Param(i) => match self.func.params.get(*i as usize)?.ty {
                ParamType::Scalar(s) if !s.is_float() => leaf(0, Root::Unset),
                ParamType::Scalar(_) => None,
                ParamType::Ptr { .. } | ParamType::Bytes { .. } => leaf(0, Root::Param(*i)),
            },
            Op::Builtin(Builtin::ThreadIdx(0)) => leaf(1, Root::Unset),
            Op::Builtin(_) => leaf(0, Root::Unset),
            Op::Get(local) => {
                let set = self.forwarded.get(local.index()).copied().flatten()?;
                let line = self.line(set)?;
                Some(Line { height: line.height + 1, ..line })
            }
            Op::Unary(UnaryOp::Neg, a) if self.scalar(*a)?.is_int() => {
                let line = self.line(*a)?;
                Some(Line { step: -line.step, height: line.height + 1, ..line })
            }
            Op::Binary(op, a, b) if self.scalar(*a)?.is_int() => {
                let (x, y) = (self.line(*a)?, self.line(*b)?);
                let step = self.binary_step(*op, *a, *b, x.step, y.step)?;
                Some(Line { step, root: Root::Unset, height: x.height.max(y.height) + 1 })
            }
            Op::Convert(to, a) => {
                let from = self.scalar(*a)?;
                let line = self.line(*a)?;
                // Types below 32 bits are widened by C's promotions at every step, so they are not worth following.
                let followed = to.is_int() && from.is_int() && to.bits() >= 32 && from.bits() >= 32;
                let flat = line.step == 0 && to.is_int() && !from.is_float();
                (followed || flat).then_some(Line { height: line.height + 1, ..line })
            }
            Op::PtrAdd { ptr, index, stride } => {
                let (start, by) = (self.line(*ptr)?, self.line(*index)?);
                let step = start.step.checked_add(by.step.checked_mul(i64::from(stride.bytes()))?)?;
                Some(Line { step, root: start.root, height: start.height.max(by.height) + 1 })
            }
            _ => None,
        }
    }

    /// The step of `a op b`, where `x` and `y` are the steps of the operands.
    fn binary_step(&self, op: BinaryOp, a: Value, b: Value, x: i64, y: i64) -> Option<i64> {
        let flat = x == 0 && y == 0;
        match op {
            // The division is evaluated ahead of the body, where no op may fault.
            BinaryOp::Div | BinaryOp::Rem if !self.constant(b).is_some_and(|n| n != 0 && n != -1) => None,
            BinaryOp::MulHi => None,
            _ if flat => Some(0),
            BinaryOp::Add => Some(x + y),
            BinaryOp::Sub => Some(x - y),
            BinaryOp::Mul => match (self.constant(a), self.constant(b)) {
                (_, Some(n)) => x.checked_mul(n),
                (Some(n), None) => y.checked_mul(n),
                (None, None) => None,
            },
            BinaryOp::Shl => match self.constant(b) {
                Some(n @ 0..=30) => Some(x << n),
                _ => None,
            },
            _ => None,
        }
    }

    /// The widened values that the affine form of `v` goes through.
    pub(super) fn widenings(&mut self, v: Value, out: &mut BTreeSet<(Value, i64)>) {
        // Each value is visited once: a chain of values used twice would take exponential time.
        let (mut seen, mut next) = (HashSet::new(), vec![v]);
        while let Some(v) = next.pop() {
            let Some(step) = self.line(v).map(|l| l.step) else { continue };
            let is_ptr = self.func.values.get(v.index()).is_some_and(|d| d.ty == Type::Ptr);
            if step == 0 && !is_ptr || !seen.insert(v) {
                continue;
            }
            match self.op(v) {
                Some(Op::Get(local)) => next.extend(self.forwarded.get(local.index()).copied().flatten()),
                Some(Op::Unary(_, a)) => next.push(*a),
                Some(Op::Convert(to, a)) => {
                    if let Some(from) = self.scalar(*a)
                        && to.bits() > from.bits()
                        && let Some(line) = self.line(*a)
                    {
                        out.insert((*a, line.step));
                    }
                    next.push(*a);
                }
                Some(Op::Binary(_, a, b) | Op::PtrAdd { ptr: a, index: b, .. }) => next.extend([*a, *b]),
                _ => {}
            }
        }
    }
}

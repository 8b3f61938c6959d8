//! Values that are uniform over a block, and values that are affine in `threadIdx.x`.
//!
//! # Lattice
//! The lattice has one element for each value and local, from the most known to nothing known:
//!
//! - `Uniform`: the same for all threads of the block that evaluate it.
//! - `Affine`: `base + stride * threadIdx.x`, the base uniform. For pointers the stride is in bytes.
//! - `Varying`: anything.
//!
//! Uniform is affine of stride 0; two different strides join to `Varying`. An affine value is *exact* when the equation
//! holds in whole numbers; else it holds modulo two to the width of its type, and widening it gives `Varying`. Exactness is
//! proved with intervals: `threadIdx.x` is at most 1023, `blockDim` at most 1024, a type has its range.
//!
//! # Control
//! A value depends on its operands alone. A local also depends on *who set it*: a `Set` that some threads run and others do not makes it
//! `Varying`. That is the case under a divergent condition, and in a construct that threads leave at different times by `Break` (or pass by
//! `Continue`). Threads that left by `Return` or `Trap` never read a local again, so an early return makes nothing vary. A local before its
//! first `Set` has no guarantee, and is ignored.
//!
//! Memory may change between one thread's read and the next, so a load is `Varying`, except from read-only module data.
//!
//! Locals and constructs go up the lattice in rounds until nothing changes; past [`MAX_ROUNDS`] the rest is `Varying`.

use super::pointers::{self, Origin};
use crate::ir::{
    BinaryOp, Block, Builtin, Const, Function, Global, Label, Local, Module, Op, Scalar, Stmt, Stride, Type, UnaryOp,
    Value,
};

/// Keeps the analysis linear in the length of the function.
const MAX_ROUNDS: usize = 12;

/// The variation of a value between the threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The same for all threads of the block that evaluate it.
    Uniform,
    /// A uniform base plus `stride` times `threadIdx.x`.
    Affine {
        /// The growth from one thread in x to the next: units of the integer, bytes of a pointer. Not 0.
        stride: i64,
        /// True if this holds in whole numbers, rather than modulo two to the width.
        exact: bool,
    },
    /// Anything.
    Varying,
}

/// The shapes of the values and locals of a function.
#[derive(Debug, Clone)]
pub struct Uniformity {
    values: Vec<Shape>,
    locals: Vec<Shape>,
    /// Constructs that threads leave at different times.
    divergent: Vec<bool>,
}

impl Uniformity {
    /// The shape of a value.
    pub fn value(&self, v: Value) -> Shape {
        self.values[v.index()]
    }

    /// The shape of all values that a local ever holds.
    pub fn local(&self, l: Local) -> Shape {
        self.locals[l.index()]
    }

    /// True if all threads of the block that evaluate a value get the same.
    pub fn is_uniform(&self, v: Value) -> bool {
        self.value(v) == Shape::Uniform
    }

    /// True if all threads that enter a construct and stay in the function leave it together, a loop after equally many rounds.
    pub fn leaves_together(&self, label: Label) -> bool {
        !self.divergent[label.index()]
    }
}

/// Analyses a function; its parameters are assumed to be uniform, as a kernel's are.
///
/// For a device function that means: uniform *if* called with uniform arguments under uniform control.
pub fn analyze(module: &Module, func: &Function) -> Uniformity {
    let constant = |g: &Global| module.globals.get(g.index()).is_some_and(|data| !data.space.is_writable());
    let read_only = pointers::origins(func, |op| Origin::One(matches!(op, Op::GlobalAddr(g) if constant(g))));
    let mut analysis = Analysis {
        func,
        read_only: read_only.into_iter().map(|o| o == Origin::One(true)).collect(),
        values: vec![UNSEEN; func.values.len()],
        locals: vec![None; func.locals.len()],
        divergent: vec![false; func.labels as usize],
        enclosing: Vec::new(),
        changed: true,
    };
    let mut rounds = 0;
    while analysis.changed {
        if rounds == MAX_ROUNDS {
            analysis.locals.fill(Some(Shape::Varying));
            analysis.divergent.fill(true);
        }
        rounds += 1;
        analysis.changed = false;
        analysis.block(&func.body, false);
    }
    Uniformity {
        values: analysis.values.into_iter().map(|info| info.shape).collect(),
        locals: analysis.locals.into_iter().map(|shape| shape.unwrap_or(Shape::Uniform)).collect(),
        divergent: analysis.divergent,
    }
}

/// A closed interval that contains the value in every thread.
type Range = Option<(i128, i128)>;

#[derive(Debug, Clone, Copy)]
struct Info {
    shape: Shape,
    /// Known for integers that do not wrap.
    range: Range,
}

const UNSEEN: Info = Info { shape: Shape::Uniform, range: None };
const VARYING: Info = Info { shape: Shape::Varying, range: None };

impl Info {
    /// Stride and exactness; `None` for varying.
    fn stride(self) -> Option<(i64, bool)> {
        match self.shape {
            Shape::Uniform => Some((0, true)),
            Shape::Affine { stride, exact } => Some((stride, exact)),
            Shape::Varying => None,
        }
    }
}

fn affine(stride: i64, exact: bool) -> Shape {
    if stride == 0 { Shape::Uniform } else { Shape::Affine { stride, exact } }
}

fn join(a: Option<Shape>, b: Shape) -> Shape {
    match (a, b) {
        (None, b) => b,
        (Some(Shape::Affine { stride: s, exact: e }), Shape::Affine { stride: t, exact: f }) if s == t => {
            Shape::Affine { stride: s, exact: e && f }
        }
        (Some(a), b) if a == b => a,
        _ => Shape::Varying,
    }
}

/// The range of an integer type.
fn type_range(s: Scalar) -> (i128, i128) {
    match (s, s.is_signed()) {
        (Scalar::Bool, _) => (0, 1),
        (_, true) => (-(1 << (s.bits() - 1)), (1 << (s.bits() - 1)) - 1),
        (_, false) => (0, (1 << s.bits()) - 1),
    }
}

fn fits(range: Range, s: Scalar) -> bool {
    let (low, high) = type_range(s);
    range.is_some_and(|(a, b)| low <= a && b <= high)
}

struct Analysis<'a> {
    func: &'a Function,
    /// Pointers into read-only module data.
    read_only: Vec<bool>,
    values: Vec<Info>,
    locals: Vec<Option<Shape>>,
    divergent: Vec<bool>,
    /// Labels of the enclosing constructs, innermost last.
    enclosing: Vec<Label>,
    changed: bool,
}

impl Analysis<'_> {
    /// `varying` is true if some threads of the block run this while others do not.
    fn block(&mut self, block: &Block, varying: bool) {
        for stmt in &block.stmts {
            self.stmt(stmt, varying);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, varying: bool) {
        match stmt {
            Stmt::Let(v, op) => self.values[v.index()] = self.op(*v, op),
            Stmt::Set(l, v) => {
                let shape = if varying { Shape::Varying } else { self.values[v.index()].shape };
                let joined = join(self.locals[l.index()], shape);
                if self.locals[l.index()] != Some(joined) {
                    self.locals[l.index()] = Some(joined);
                    self.changed = true;
                }
            }
            Stmt::If { cond, then, els } => {
                let varying = varying || !self.uniform(*cond);
                self.block(then, varying);
                self.block(els, varying);
            }
            Stmt::Switch { label, value, cases } => {
                let varying = varying || !self.uniform(*value);
                let bodies: Vec<&Block> = cases.iter().map(|c| &c.body).collect();
                self.construct(*label, &bodies, varying);
            }
            Stmt::Loop { label, body, step } => self.construct(*label, &[body, step], varying),
            Stmt::Scope { label, body } => self.construct(*label, &[body], varying),
            Stmt::Break(label) | Stmt::Continue(label) if varying => {
                for i in (0..self.enclosing.len()).rev() {
                    let around = self.enclosing[i];
                    self.changed |= !std::mem::replace(&mut self.divergent[around.index()], true);
                    if around == *label {
                        break;
                    }
                }
            }
            // One result for the block.
            Stmt::Collective { result: Some(v), op, .. } if op.is_block() => {
                let ty = self.func.ty(*v);
                let range = ty.scalar().filter(|s| s.is_int()).map(type_range);
                self.values[v.index()] = Info { shape: Shape::Uniform, range };
            }
            Stmt::Call { result: Some(v), .. }
            | Stmt::Printf { result: Some(v), .. }
            | Stmt::Atomic { result: Some(v), .. }
            | Stmt::Collective { result: Some(v), .. }
            | Stmt::Service { result: Some(v), .. } => {
                self.values[v.index()] = VARYING;
            }
            _ => {}
        }
    }

    fn construct(&mut self, label: Label, blocks: &[&Block], varying: bool) {
        // Facts found in an earlier round; a fact found in this round causes another round.
        let varying = varying || self.divergent[label.index()];
        self.enclosing.push(label);
        for block in blocks {
            self.block(block, varying);
        }
        self.enclosing.pop();
    }

    fn uniform(&self, v: Value) -> bool {
        self.values[v.index()].shape == Shape::Uniform
    }

    fn info(&self, v: Value) -> Info {
        self.values[v.index()]
    }

    fn op(&self, v: Value, op: &Op) -> Info {
        let ty = self.func.ty(v);
        let uniform = Info { shape: Shape::Uniform, range: ty.scalar().filter(|s| s.is_int()).map(type_range) };
        match op {
            Op::Const(Const::Int(s, x)) => {
                let x = if s.is_signed() { i128::from(*x) } else { i128::from(*x as u64) };
                Info { shape: Shape::Uniform, range: Some((x, x)) }
            }
            Op::Builtin(Builtin::ThreadIdx(0)) => Info { shape: affine(1, true), range: Some((0, 1023)) },
            Op::Builtin(Builtin::ThreadIdx(_)) => VARYING,
            Op::Builtin(Builtin::BlockDim(_)) => Info { range: Some((1, 1024)), ..uniform },
            Op::Const(_) | Op::Param(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::FuncAddr(..) | Op::Builtin(_) => {
                uniform
            }
            Op::SlotAddr(_) => VARYING,
            Op::Get(l) => {
                let shape = self.locals[l.index()].unwrap_or(Shape::Uniform);
                // Exact values lie in their type's range; no narrower one is kept for locals.
                let exact = !matches!(shape, Shape::Varying | Shape::Affine { exact: false, .. });
                Info { shape, range: uniform.range.filter(|_| exact) }
            }
            Op::Load { ptr, .. } => match self.read_only[ptr.index()] && self.uniform(*ptr) {
                true => uniform,
                false => VARYING,
            },
            Op::Binary(binary, a, b) => {
                self.binary(ty, *binary, self.info(*a), self.info(*b)).unwrap_or_else(|| self.rest(op, uniform))
            }
            Op::Unary(UnaryOp::Neg, a) => {
                let zero = Info { shape: Shape::Uniform, range: Some((0, 0)) };
                self.binary(ty, BinaryOp::Sub, zero, self.info(*a)).unwrap_or_else(|| self.rest(op, uniform))
            }
            Op::Convert(to, a) => self.convert(*to, *a).unwrap_or_else(|| self.rest(op, uniform)),
            Op::Select(c, a, b) if self.uniform(*c) => {
                let (a, b) = (self.info(*a), self.info(*b));
                let range = a.range.zip(b.range).map(|((a, b), (c, d))| (a.min(c), b.max(d)));
                Info { shape: join(Some(a.shape), b.shape), range }
            }
            Op::PtrAdd { ptr, index, stride } => self.ptr_add(*ptr, *index, *stride),
            Op::PtrToInt(a) | Op::IntToPtr(a) => {
                Info { range: uniform.range.filter(|_| self.uniform(*a)), ..self.info(*a) }
            }
            _ => self.rest(op, uniform),
        }
    }

    /// Uniform operands give a uniform result, others anything.
    fn rest(&self, op: &Op, uniform: Info) -> Info {
        let mut all = true;
        op.for_each_value(|v| all &= self.uniform(v));
        if all { uniform } else { VARYING }
    }

    /// Sums, differences, products and shifts of affine integers; `None` for everything else.
    fn binary(&self, ty: Type, op: BinaryOp, a: Info, b: Info) -> Option<Info> {
        let s = ty.scalar().filter(|s| s.is_int())?;
        let ((sa, ea), (sb, eb)) = (a.stride()?, b.stride()?);
        let ranges = a.range.zip(b.range);
        let constant =
            |info: Info| info.range.filter(|(low, high)| low == high).and_then(|(x, _)| i64::try_from(x).ok());
        let (stride, range) = match op {
            BinaryOp::Add => (sa.checked_add(sb)?, ranges.map(|((a, b), (c, d))| (a + c, b + d))),
            BinaryOp::Sub => (sa.checked_sub(sb)?, ranges.map(|((a, b), (c, d))| (a - d, b - c))),
            BinaryOp::Mul => {
                let stride = match (sa, sb) {
                    (0, 0) => 0,
                    (0, _) => sb.checked_mul(constant(a)?)?,
                    (_, 0) => sa.checked_mul(constant(b)?)?,
                    _ => return None,
                };
                (stride, ranges.and_then(|(a, b)| product(a, b)))
            }
            BinaryOp::Shl => {
                let amount = constant(b).filter(|&n| (0..i64::from(s.bits().min(63))).contains(&n))?;
                let factor = 1i128 << amount;
                let stride = i64::try_from(i128::from(sa) * factor).ok()?;
                (stride, a.range.and_then(|a| product(a, (factor, factor))))
            }
            _ => return None,
        };
        let exact = ea && eb && fits(range, s);
        // A uniform number that wraps stays uniform, somewhere in its type.
        let range = if exact { range } else { (stride == 0).then(|| type_range(s)) };
        Some(Info { shape: affine(stride, exact), range })
    }

    fn convert(&self, to: Scalar, a: Value) -> Option<Info> {
        let from = self.func.ty(a).scalar().filter(|s| s.is_int())?;
        if !to.is_int() {
            return None;
        }
        let info = self.info(a);
        let (stride, exact) = info.stride()?;
        if exact && fits(info.range, to) {
            return Some(info);
        }
        // The low bits stay affine; new high bits come from a number that may have wrapped.
        if stride != 0 && to.size() > from.size() {
            return Some(VARYING);
        }
        Some(Info { shape: affine(stride, false), range: (stride == 0).then(|| type_range(to)) })
    }

    fn ptr_add(&self, ptr: Value, index: Value, stride: Stride) -> Info {
        let (Some((sp, ep)), Some((si, ei))) = (self.info(ptr).stride(), self.info(index).stride()) else {
            return VARYING;
        };
        let unit = i64::from(stride.bytes());
        let Some(total) = si.checked_mul(unit).and_then(|s| s.checked_add(sp)) else { return VARYING };
        // Addresses count modulo 2^64, as the offset does; exact when the offset in bytes does not wrap.
        let offset = self.info(index).range.and_then(|r| product(r, (i128::from(unit), i128::from(unit))));
        Info { shape: affine(total, ep && ei && fits(offset, Scalar::I64)), range: None }
    }
}

fn product((a, b): (i128, i128), (c, d): (i128, i128)) -> Range {
    let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

//! Kernels for which blocks that are neighbours in x form one long row of threads: kernels that use `blockIdx.x` and `threadIdx.x` only to
//! compute `blockIdx.x * blockDim.x + threadIdx.x`.
//!
//! Several blocks of such a kernel run as if they were one block of several times the width, row by row. So rows of 8 or 16 threads, which
//! the blocks of images and volumes have, fill groups as well as rows of 256 do, and accesses side by side are one long piece.

use std::collections::{HashMap, HashSet};

use crate::back::Dim3;
use crate::ir::{BinaryOp, Builtin, Const, Function, Op, Scalar, Stmt, Value};

/// The dependence of a value on the two indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Block,
    Thread,
    /// `blockIdx.x * blockDim.x`.
    Start,
    /// The sum of `Start` and `Thread`.
    Place,
}

/// The values that are `blockIdx.x * blockDim.x + threadIdx.x`, if the kernel uses the two indices for nothing else.
pub fn places(func: &Function, block: Dim3) -> Option<HashSet<Value>> {
    let mut all = Vec::new();
    func.body.for_each_stmt(&mut |stmt| all.push(stmt));
    places_among(func, &all, block)
}

/// The same for some statements of a kernel.
pub fn places_among(func: &Function, stmts: &[&Stmt], block: Dim3) -> Option<HashSet<Value>> {
    let mut ops: HashMap<Value, &Op> = HashMap::new();
    for stmt in stmts {
        if let Stmt::Let(v, op) = stmt {
            ops.insert(*v, op);
        }
    }
    let mut parts: HashMap<Value, Part> = HashMap::new();
    for stmt in stmts {
        if let Stmt::Let(v, op) = stmt
            && let Some(part) = part(op, func, &ops, &parts, block.x)
        {
            parts.insert(*v, part);
        }
    }
    // A value that is computed from parts of a place, and is no part itself, depends on the place of a thread in its block.
    let mut asks = false;
    for stmt in stmts {
        let is_part = stmt.result().is_some_and(|v| parts.contains_key(&v));
        stmt.for_each_value(|v| asks |= !is_part && parts.get(&v).is_some_and(|part| *part != Part::Place));
    }
    let places: HashSet<Value> = parts.iter().filter(|(_, part)| **part == Part::Place).map(|(v, _)| *v).collect();
    (!asks && !places.is_empty()).then_some(places)
}

fn part(op: &Op, func: &Function, ops: &HashMap<Value, &Op>, parts: &HashMap<Value, Part>, width: u32) -> Option<Part> {
    let of = |v: &Value| parts.get(v).copied();
    match op {
        Op::Builtin(Builtin::BlockIdx(0)) => Some(Part::Block),
        Op::Builtin(Builtin::ThreadIdx(0)) => Some(Part::Thread),
        // Both are below 2^31, so that they are the same in all types of 32 bits and more.
        Op::Convert(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64, a) => match of(a)? {
            part @ (Part::Block | Part::Thread) => Some(part),
            // A product that has wrapped around has to keep its width.
            Part::Start if is_as_wide(op, *a, func) => Some(Part::Start),
            _ => None,
        },
        Op::Binary(BinaryOp::Mul, a, b) => {
            let is =
                |x: &Value, y: &Value| of(x) == Some(Part::Block) && constant(*y, ops, width) == Some(i64::from(width));
            (is(a, b) || is(b, a)).then_some(Part::Start)
        }
        Op::Binary(BinaryOp::Shl, a, b) => {
            let by = constant(*b, ops, width).filter(|n| (0..31).contains(n))?;
            (of(a) == Some(Part::Block) && 1 << by == width).then_some(Part::Start)
        }
        Op::Binary(BinaryOp::Add, a, b) => match (of(a)?, of(b)?) {
            (Part::Start, Part::Thread) | (Part::Thread, Part::Start) => Some(Part::Place),
            _ => None,
        },
        _ => None,
    }
}

fn is_as_wide(op: &Op, a: Value, func: &Function) -> bool {
    let Op::Convert(to, _) = op else { return false };
    func.ty(a).scalar().is_some_and(|from| from.bits() == to.bits())
}

fn constant(v: Value, ops: &HashMap<Value, &Op>, width: u32) -> Option<i64> {
    match ops.get(&v)? {
        Op::Const(Const::Int(_, n)) => Some(*n),
        Op::Builtin(Builtin::BlockDim(0)) => Some(i64::from(width)),
        Op::Convert(to, a) if to.is_int() && to.bits() >= 32 => constant(*a, ops, width),
        _ => None,
    }
}

//! Elements that the next block will read: the same places as this one, moved by what `blockIdx.x` moves them.
//!
//! A block's threads begin all their loads at once and then wait for memory. The worker that runs a block mostly runs the next one too, so
//! the first load from each array asks for that block's elements as well. How far they are away is the derivative of the address by
//! `blockIdx.x`, where that is made of numbers that every place knows. An address that leads nowhere costs nothing.

use std::collections::{HashMap, HashSet};

use super::Builder;
use super::names::Name;
use crate::back::cpu::facts::roots::Root;
use crate::back::lane::build::{int, long, ty};
use crate::back::lane::tree::{Binary, Expr};
use crate::ir::{BinaryOp, Builtin, Local, Op, Scalar, Stmt, Type, Value};

/// Deepest expression that is followed.
const MAX_DEPTH: u32 = 24;

/// A derivative: none is zero.
type Slope = Option<Expr>;

fn sum(a: Slope, b: Slope, op: Binary) -> Slope {
    match (a, b, op) {
        (a, None, _) => a,
        (None, b, Binary::Add) => b,
        (None, Some(b), _) => Some(int(0) - b),
        (Some(a), Some(b), op) => Some(a.with(op, b)),
    }
}

impl Builder<'_> {
    /// For the pointers of loads that ask for the next block's elements, how many bytes these are away.
    pub(super) fn next_blocks(&self) -> HashMap<Value, Expr> {
        let mut found = HashMap::new();
        // Without barriers blocks mostly read again and again what their neighbours read too: the naive product lost a fifth by this.
        if self.split.is_none() {
            return found;
        }
        let mut sets: HashMap<Local, Vec<Value>> = HashMap::new();
        let mut loads = Vec::new();
        self.func.body.for_each_stmt(&mut |stmt| match stmt {
            Stmt::Set(l, v) => sets.entry(*l).or_default().push(*v),
            Stmt::Let(_, Op::Load { ptr, .. }) => loads.push(*ptr),
            _ => {}
        });
        let mut seen = HashSet::new();
        for ptr in loads {
            let Root::Param(i) = self.root_of(ptr) else { continue };
            if seen.contains(&i) {
                continue;
            }
            seen.insert(i);
            if let Some(Some(by)) = self.slope(ptr, &sets, &mut HashMap::new(), 0) {
                found.insert(ptr, by);
            }
        }
        found
    }

    /// The derivative of a number, or of a pointer in bytes; `None` where nothing is known.
    fn slope(
        &self,
        v: Value,
        sets: &HashMap<Local, Vec<Value>>,
        locals: &mut HashMap<Local, Slope>,
        depth: u32,
    ) -> Option<Slope> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut of = |v: &Value| self.slope(*v, sets, locals, depth + 1);
        let slope = match self.op_of(v)? {
            Op::Const(_) | Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) => Some(None),
            Op::Builtin(Builtin::BlockIdx(0)) => Some(Some(int(1))),
            Op::Builtin(_) => Some(None),
            Op::Convert(to, a) if to.is_int() && self.scalar(*a).is_int() => of(a),
            Op::Binary(BinaryOp::Add, a, b) => Some(sum(of(a)?, of(b)?, Binary::Add)),
            Op::Binary(BinaryOp::Sub, a, b) => Some(sum(of(a)?, of(b)?, Binary::Sub)),
            Op::Binary(BinaryOp::Mul, a, b) => match (of(a)?, of(b)?) {
                (None, None) => Some(None),
                (Some(slope), None) => Some(Some(slope * self.leaf(*b, depth)?)),
                (None, Some(slope)) => Some(Some(slope * self.leaf(*a, depth)?)),
                _ => None,
            },
            Op::Binary(BinaryOp::Shl, a, b) => match of(a)? {
                None => Some(None),
                Some(slope) => {
                    let by = self.known(*b).filter(|n| (0..31).contains(n))?;
                    Some(Some(slope * int(1 << by)))
                }
            },
            Op::PtrAdd { ptr, index, stride } => {
                let moved = of(index)?.map(|slope| slope * long(i64::from(stride.bytes())));
                Some(sum(of(ptr)?, moved, Binary::Add))
            }
            Op::Get(l) => {
                if let Some(slope) = locals.get(l) {
                    return Some(slope.clone());
                }
                // The first value decides, if the others agree.
                let (first, others) = sets.get(l)?.split_first()?;
                let slope = self.slope(*first, sets, locals, depth + 1)?;
                locals.insert(*l, slope.clone());
                for other in others {
                    if self.slope(*other, sets, locals, depth + 1)? != slope {
                        return None;
                    }
                }
                Some(slope)
            }
            _ => None,
        };
        slope.filter(|by| by.as_ref().is_none_or(|by| !self.is_long(by)))
    }

    /// A number that is the same everywhere, made of what every place can read.
    fn leaf(&self, v: Value, depth: u32) -> Option<Expr> {
        if depth > MAX_DEPTH || !self.func.ty(v).scalar().is_some_and(Scalar::is_int) {
            return None;
        }
        if let Some(n) = self.known(v) {
            return Some(long(n));
        }
        let both = |a: &Value, b: &Value, op: Binary| {
            let whole = self.leaf(*a, depth + 1)?.with(op, self.leaf(*b, depth + 1)?);
            (!self.is_long(&whole)).then_some(whole)
        };
        match self.op_of(v)? {
            Op::Param(i) if !matches!(self.func.ty(v), Type::Ptr) => Some(self.get(Name::Argument(*i)).cast(ty::I64)),
            Op::Builtin(b @ Builtin::GridDim(_)) => Some(self.builtin_one(*b, 0).cast(ty::I64)),
            Op::Convert(to, a) if to.is_int() => self.leaf(*a, depth + 1),
            Op::Binary(BinaryOp::Add, a, b) => both(a, b, Binary::Add),
            Op::Binary(BinaryOp::Sub, a, b) => both(a, b, Binary::Sub),
            Op::Binary(BinaryOp::Mul, a, b) => both(a, b, Binary::Mul),
            _ => None,
        }
    }
}

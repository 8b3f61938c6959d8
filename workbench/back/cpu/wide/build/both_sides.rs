//! Both sides of an `if` that end by storing to the same place: `if (inside) out[i] = f(i); else out[i] = in[i];`.
//!
//! A group that takes both ways stores once: each side says what its lanes store and one store of all lanes follows: whole lines of memory, which can
//! go past the cache, instead of two masked pieces of each. Which lane's store is whose is known where one is out of bounds.

use super::control::Stretch;
use super::names::Name;
use super::{Builder, Mask, Place, types};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::lane::build::{int, set};
use crate::back::lane::families;
use crate::ir::{BinaryOp, Block, Op, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// Deepest address that is followed.
const MAX_DEPTH: u32 = 6;

/// Stores that both sides end with.
pub(super) struct Both {
    ptr: Value,
    values: [Value; 2],
    spans: [Span; 2],
    /// Values of the first side that the address is made of, in order.
    first: Vec<Value>,
    /// The number of the variables that hold what is stored.
    name: u32,
}

fn last_store(block: &Block) -> Option<(Value, Value, Span)> {
    match block.stmts.last()? {
        Stmt::Store { ptr, value, volatile: false } => Some((*ptr, *value, block.spans.last().copied()?)),
        _ => None,
    }
}

impl Builder<'_> {
    /// The stores that both sides of an `if` of a full group end with, if these are neighbours' and to the same places.
    pub(super) fn both(&mut self, then: &Block, els: &Block, place: Place) -> Option<Both> {
        let ((p, a, first_span), (q, b, second_span)) = (last_store(then)?, last_store(els)?);
        let Type::Scalar(s) = self.func.ty(a) else { return None };
        let near = self.ahead(p, place.version).slope() == Some(i64::from(s.size()));
        if place.mask != Mask::Full
            || matches!(self.root_of(p), Root::Slot(_))
            || !near
            || self.may_be_odd(p, s)
            || [then, els].into_iter().any(|side| self.has_cuts(side, place.version))
            || self.func.ty(b) != self.func.ty(a)
            || !self.is_same(p, q, 0)
        {
            return None;
        }
        let mut first = Vec::new();
        self.made_of(p, then, &mut first, 0)?;
        let name = self.fresh();
        Some(Both { ptr: p, values: [a, b], spans: [first_span, second_span], first, name })
    }

    /// True if two values are the same because they are computed alike.
    fn is_same(&self, a: Value, b: Value, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let same = |x: &Value, y: &Value| self.is_same(*x, *y, depth + 1);
        match (self.op_of(a), self.op_of(b)) {
            _ if depth > MAX_DEPTH => false,
            (Some(Op::Convert(s, x)), Some(Op::Convert(t, y))) => s == t && same(x, y),
            (Some(Op::Binary(f, w, x)), Some(Op::Binary(g, y, z))) => f == g && same(w, y) && same(x, z),
            (Some(Op::PtrAdd { ptr: w, index: x, stride: f }), Some(Op::PtrAdd { ptr: y, index: z, stride: g })) => {
                f == g && same(w, y) && same(x, z)
            }
            (Some(x @ (Op::Const(_) | Op::Param(_) | Op::Builtin(_))), Some(y)) => x == y,
            _ => false,
        }
    }

    /// The values of a block that an address is made of, in order; `None` where one of them cannot come earlier.
    fn made_of(&self, v: Value, block: &Block, found: &mut Vec<Value>, depth: u32) -> Option<()> {
        if !block.stmts.iter().any(|s| s.result() == Some(v)) || found.contains(&v) {
            return Some(());
        }
        let op = self.op_of(v).filter(|_| depth <= MAX_DEPTH)?;
        let is_pure = match op {
            Op::Const(_) | Op::Param(_) | Op::Builtin(_) | Op::Convert(..) | Op::PtrAdd { .. } => true,
            Op::Binary(op, ..) => !matches!(op, BinaryOp::Div | BinaryOp::Rem),
            _ => false,
        };
        for operand in op.operands() {
            self.made_of(operand, block, found, depth + 1)?;
        }
        found.push(v);
        is_pure.then_some(())
    }

    /// Statements ahead of both sides: the address, and variables for what they store.
    pub(super) fn before_both(&mut self, both: &Both, place: Place) -> Result<()> {
        for v in &both.first {
            if let Some(op) = self.op_of(*v) {
                let span = self.func.values[v.index()].span;
                self.bind(*v, op, span, place)?;
            }
        }
        let s = self.scalar(both.values[0]);
        for u in 0..self.chunks {
            let zero = if s == Scalar::Bool { int(0) } else { Self::splat(s, int(0)) };
            self.begin_as(Name::Stored(both.name, u), types::lanes(s), zero);
        }
        Ok(())
    }

    /// A side without its store, which only says what it would have stored.
    pub(super) fn side_of(
        &mut self,
        both: &Both,
        side: usize,
        block: &Block,
        (mask, place): (u32, Place),
    ) -> Result<()> {
        let count = block.stmts.len() - 1;
        self.stretch(Stretch { stmts: &block.stmts[..count], spans: &block.spans[..count] }, place)?;
        let value = both.values[side];
        let select = families::select(types::vector(self.scalar(value)));
        for u in 0..self.chunks {
            let (lanes, to) = (self.lanes(value, u)?, self.get(Name::Stored(both.name, u)));
            self.push(set(to.clone(), select.on([self.get(Name::Mask(mask, u)), lanes, to])));
        }
        Ok(())
    }

    /// The store of all lanes that follows both sides, of which the lanes are in the masks of that number each.
    pub(super) fn after_both(&mut self, both: &Both, masks: [u32; 2]) -> Result<()> {
        let (ptr, ty) = (both.ptr, self.func.ty(both.values[0]));
        let [first, second] = both.spans.map(|span| self.access(ptr, ty, true, span));
        let (access, second) = (first?, second?.site);
        let sites = [access.site.clone(), second];
        let proven = self.known.proven.contains(&ptr);
        let (mut chunks, mut slow) = (Vec::new(), Vec::new());
        for u in 0..self.chunks {
            let off = if proven { self.proven_at(ptr, u) } else { self.one(ptr, u) };
            let lanes = self.get(Name::Stored(both.name, u));
            let mut ways = Vec::new();
            for (site, mask) in sites.iter().zip(masks) {
                let mask = self.get(Name::Mask(mask, u));
                ways.push(self.slow_store(&access, site, ptr, mask, lanes.clone(), u)?);
            }
            chunks.push((off, lanes));
            slow.push(ways);
        }
        if self.form(ptr).is_whole() {
            let slow = slow.into_iter().flatten().collect();
            return self.store_chunks(&access, ptr, (chunks, slow), (0, self.chunks));
        }
        for (u, (chunk, slow)) in (0..).zip(chunks.into_iter().zip(slow)) {
            self.store_chunks(&access, ptr, (vec![chunk], slow), (u, 1))?;
        }
        Ok(())
    }
}

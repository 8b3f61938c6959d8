//! Collectives (votes, shuffles, reductions) of wide code: a call of the run time, which looks at all threads at once.

use super::names::Name;
use super::{Builder, types};
use crate::back::cpu::abi::masks::OPERANDS;
use crate::back::cpu::abi::site::{Join, Joined, SiteKind};
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{int, set, ty, when};
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{Expr, Stmt as Code};
use crate::ir::{Collective, Scalar, Value};
use crate::source::Span;

impl Builder<'_> {
    pub(super) fn join(&mut self, op: Joined, span: Span) -> Expr {
        let join = self.joint_site(op);
        self.site(span, SiteKind::Join(Box::new(join)))
    }

    /// The facts that the run time is told of an operation which joins threads.
    pub(super) fn joint_site(&self, op: Joined) -> Join {
        let around = self.walk.around.iter().rev().copied().collect();
        let parted = self.split.map_or(0, |plan| plan.parted);
        Join { op, around, parted, branches: Vec::new() }
    }

    /// The place of a value that is kept for all threads.
    pub(super) fn kept_array(&self, v: Value) -> Result<Expr> {
        match self.split.map(|plan| plan.values[v.index()]) {
            Some(ValueHome::Scratch(at, _)) => Ok(self.get(Name::Scratch) + int(i64::from(at))),
            _ => Err(Unsupported("an operand that is not kept")),
        }
    }

    pub(super) fn collective(
        &mut self,
        result: Option<Value>,
        op: Collective,
        args: &[Value],
        span: Span,
    ) -> Result<()> {
        let Some(plan) = self.split else { return Err(Unsupported("a warp function")) };
        let mut of = Scalar::U32;
        for (i, v) in args.iter().enumerate().take(OPERANDS) {
            let s = self.scalar(*v);
            if op.is_block() || i == 1 {
                of = s;
            }
            let (word, stride) = match plan.values[v.index()] {
                ValueHome::Shared => (self.as_word(*v, s), 0),
                _ => (self.kept_array(*v)?.cast(ty::U64), s.size()),
            };
            self.push(set(self.operand(2 * i), word));
            self.push(set(self.operand(2 * i + 1), int(i64::from(stride))));
        }
        let to = match result {
            Some(v) if !op.is_block() => self.kept_array(v)?.cast(ty::U64),
            _ => int(0),
        };
        self.push(set(self.operand(2 * OPERANDS), to));
        let site = self.join(Joined::Collective(op, of.size(), of.is_signed()), span);
        let n = self.fresh();
        let answer = self.constant_as(format!("answer{n}"), ty::I64, self.collect(site));
        self.push(when(answer.clone().lt(int(0)), Code::Return(Some(int(1)))));
        if let Some(v) = result.filter(|_| op.is_block()) {
            let of = types::one(self.scalar(v));
            self.define(Name::Value(v, None), of.clone(), answer.cast(of));
        }
        Ok(())
    }

    /// A word that describes the operands of a warp function.
    fn operand(&self, number: usize) -> Expr {
        self.get(Name::Operands).index(int(number as i64))
    }

    /// The 64 bits that a number of a block is to the run time.
    fn as_word(&self, v: Value, s: Scalar) -> Expr {
        let one = self.one(v, 0);
        match s {
            Scalar::F32 => NumberOp::BitsF32.on([one]).cast(ty::U64),
            Scalar::F64 => NumberOp::BitsF64.on([one]),
            s if s.is_signed() => one.cast(ty::I64).cast(ty::U64),
            _ => one.cast(ty::U64),
        }
    }
}

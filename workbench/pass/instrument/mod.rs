//! Kernels that also record something about a run of theirs, in parameters that are added after their own.
//!
//! | module | what is recorded |
//! |---|---|
//! | [`writers`] | the thread that wrote each element, for mismatches of a check |
//! | [`work`] | operations on floats, and the memory that is touched, for rates and rooflines |

pub mod work;
pub mod writers;

use crate::ir::{BinaryOp, Block, Builtin, Const, Function, Op, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// Appends ops to a block.
struct Adder<'a> {
    func: &'a mut Function,
    out: &'a mut Block,
    span: Span,
}

impl Adder<'_> {
    fn op(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let v = self.func.new_value(ty.into(), self.span);
        self.out.push(Stmt::Let(v, op), self.span);
        v
    }

    fn param(&mut self, index: usize) -> Value {
        self.op(Type::Ptr, Op::Param(index as u32))
    }

    fn builtin(&mut self, builtin: Builtin) -> Value {
        let v = self.op(Scalar::U32, Op::Builtin(builtin));
        self.op(Scalar::U64, Op::Convert(Scalar::U64, v))
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.op(Scalar::U64, Op::Binary(op, a, b))
    }

    /// `(z * extent y + y) * extent x + x`
    fn linear(&mut self, index: fn(u8) -> Builtin, extent: fn(u8) -> Builtin) -> Value {
        let mut sum = self.builtin(index(2));
        for dim in [1, 0] {
            let (extent, index) = (self.builtin(extent(dim)), self.builtin(index(dim)));
            sum = self.binary(BinaryOp::Mul, sum, extent);
            sum = self.binary(BinaryOp::Add, sum, index);
        }
        sum
    }

    fn thread_number(&mut self) -> Value {
        let mut number = self.linear(Builtin::BlockIdx, Builtin::GridDim);
        for dim in 0..3 {
            let extent = self.builtin(Builtin::BlockDim(dim));
            number = self.binary(BinaryOp::Mul, number, extent);
        }
        let thread = self.linear(Builtin::ThreadIdx, Builtin::BlockDim);
        let one = self.op(Scalar::U64, Op::Const(Const::Int(Scalar::U64, 1)));
        let number = self.binary(BinaryOp::Add, number, thread);
        self.binary(BinaryOp::Add, number, one)
    }
}

//! Builder of one IR function: open blocks and values. Unreachable code is left out.

use crate::ir::{
    BinaryOp, BitFn, Block, CompareOp, Const, Function, Local, MathFn, Op, Scalar, Stmt, Stride, Type, UnaryOp, Value,
};
use crate::source::Span;

/// A block being written.
struct Open {
    block: Block,
    /// Set by the statement that ends the block: the mark of its contents then. The rest is dropped when the block closes.
    dead: Option<Mark>,
}

#[derive(Clone, Copy)]
struct Mark {
    stmts: usize,
    values: usize,
}

/// A function being written. Statements go to the innermost open block.
pub struct Builder {
    /// The function; its body is set by [`Builder::finish`].
    pub func: Function,
    /// Place that values come from: every `let` takes it.
    pub span: Span,
    open: Vec<Open>,
}

impl Builder {
    /// Starts a function, its body open.
    pub fn new(func: Function) -> Self {
        let span = func.span;
        Builder { func, span, open: vec![Open { block: Block::default(), dead: None }] }
    }

    /// Closes the body.
    pub fn finish(mut self) -> Function {
        self.func.body = self.close();
        self.func
    }

    /// Opens a block nested in the current one.
    pub fn open(&mut self) {
        self.open.push(Open { block: Block::default(), dead: None });
    }

    /// Closes the innermost block and drops unreachable statements.
    pub fn close(&mut self) -> Block {
        let Some(Open { mut block, dead }) = self.open.pop() else { return Block::default() };
        if let Some(mark) = dead {
            block.stmts.truncate(mark.stmts);
            block.spans.truncate(mark.stmts);
            self.func.values.truncate(mark.values);
        }
        block
    }

    /// The number of blocks that are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// A new truth value that is false when the function starts.
    pub fn new_flag(&mut self) -> Local {
        self.new_start(Const::Bool(false))
    }

    /// A new local variable that has a value when the function starts.
    pub fn new_start(&mut self, start: Const) -> Local {
        let local = self.func.new_local("", start.ty());
        let value = self.func.new_value(start.ty(), self.span);
        let block = &mut self.open[0].block;
        block.stmts.splice(0..0, [Stmt::Let(value, Op::Const(start)), Stmt::Set(local, value)]);
        block.spans.splice(0..0, [self.span; 2]);
        local
    }

    /// The point reached in the current block can run.
    pub fn is_live(&self) -> bool {
        self.open.iter().all(|o| o.dead.is_none())
    }

    /// The innermost block has ended.
    pub fn has_ended(&self) -> bool {
        self.open.last().is_some_and(|o| o.dead.is_some())
    }

    /// Says that nothing after this point of the current block runs.
    pub fn end_block(&mut self) {
        let values = self.func.values.len();
        if let Some(open) = self.open.last_mut()
            && open.dead.is_none()
        {
            open.dead = Some(Mark { stmts: open.block.stmts.len(), values });
        }
    }

    /// Appends a statement; one that leaves the block ends it.
    pub fn push(&mut self, stmt: Stmt) {
        let ends = stmt.is_terminator();
        let span = self.span;
        if let Some(open) = self.open.last_mut() {
            open.block.push(stmt, span);
        }
        if ends {
            self.end_block();
        }
    }

    /// Appends the statements of a block closed before; `ended` when nothing runs after them.
    pub fn splice(&mut self, block: Block, ended: bool) {
        if let Some(open) = self.open.last_mut() {
            open.block.stmts.extend(block.stmts);
            open.block.spans.extend(block.spans);
        }
        if ended {
            self.end_block();
        }
    }

    /// Binds an op to a new value.
    pub fn bind(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let value = self.func.new_value(ty.into(), self.span);
        self.push(Stmt::Let(value, op));
        value
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// The scalar that a value is; a pointer, which no caller asks about, gives its address type.
    pub fn scalar(&self, value: Value) -> Scalar {
        self.ty(value).scalar().unwrap_or(Scalar::U64)
    }

    /// A constant.
    pub fn constant(&mut self, c: Const) -> Value {
        self.bind(c.ty(), Op::Const(c))
    }

    /// An integer constant.
    pub fn int(&mut self, scalar: Scalar, value: i64) -> Value {
        self.constant(Const::Int(scalar, value))
    }

    /// A constant of a float type.
    pub fn float(&mut self, scalar: Scalar, value: f64) -> Value {
        self.constant(if scalar == Scalar::F32 { Const::F32(value as f32) } else { Const::F64(value) })
    }

    /// A unary operation.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        self.bind(self.ty(a), Op::Unary(op, a))
    }

    /// A binary operation of the left operand's type.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.bind(self.ty(a), Op::Binary(op, a, b))
    }

    /// A comparison.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.bind(Scalar::Bool, Op::Compare(op, a, b))
    }

    /// A conversion by value; none when the type is already that.
    pub fn convert(&mut self, to: Scalar, a: Value) -> Value {
        if self.ty(a) == Type::Scalar(to) { a } else { self.bind(to, Op::Convert(to, a)) }
    }

    /// A conversion by bits.
    pub fn bitcast(&mut self, to: Scalar, a: Value) -> Value {
        self.bind(to, Op::Bitcast(to, a))
    }

    /// `cond ? a : b`
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.bind(self.ty(a), Op::Select(cond, a, b))
    }

    /// A math function.
    pub fn math(&mut self, f: MathFn, args: &[Value]) -> Value {
        let ty = args.first().map_or(Type::Scalar(Scalar::F64), |&a| self.ty(a));
        self.bind(ty, Op::Math(f, args.to_vec()))
    }

    /// A bit function.
    pub fn bit(&mut self, f: BitFn, a: Value) -> Value {
        self.bind(f.result(self.ty(a)), Op::Bit(f, a))
    }

    /// The sum of the products of four bytes, plus the third.
    pub fn dot4(&mut self, [x, y, sum]: [Value; 3]) -> Value {
        self.bind(self.ty(sum), Op::Dot4(x, y, sum))
    }

    /// `ptr + index`, the index an `i64` constant.
    pub fn offset(&mut self, ptr: Value, index: i64, stride: Stride) -> Value {
        if index == 0 {
            return ptr;
        }
        let index = self.int(Scalar::I64, index);
        self.bind(Type::Ptr, Op::PtrAdd { ptr, index, stride })
    }

    /// A read of memory.
    pub fn load(&mut self, ptr: Value, ty: Type, volatile: bool) -> Value {
        self.bind(ty, Op::Load { ptr, ty, volatile })
    }

    /// A write to memory.
    pub fn store(&mut self, ptr: Value, value: Value, volatile: bool) {
        self.push(Stmt::Store { ptr, value, volatile });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::FuncKind;

    #[test]
    fn what_follows_a_return_is_dropped_with_its_values() {
        let mut b = Builder::new(Function::new("f", FuncKind::Device, Span::NONE));
        b.push(Stmt::Return(None));
        b.int(Scalar::I32, 1);
        assert!(!b.is_live());
        let func = b.finish();
        assert_eq!((func.body.stmts.len(), func.values.len()), (1, 0));
    }
}

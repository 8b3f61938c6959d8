//! Builder of IR by hand, for the tests of validator and passes.

use super::*;

/// Builds one function statement by statement.
pub(crate) struct Builder {
    /// The function built so far, without the blocks still open.
    pub func: Function,
    open: Vec<Block>,
}

/// The parameter type `ptr elem`.
pub(crate) fn pointer(elem: Scalar) -> ParamType {
    ParamType::Ptr { elem: Some(elem.into()), is_const: false }
}

impl Builder {
    /// A function and the values of its parameters.
    pub fn new(kind: FuncKind, params: &[(&str, ParamType)]) -> (Self, Vec<Value>) {
        let mut func = Function::new("test", kind, Span::NONE);
        let param = |&(name, ty): &(&str, ParamType)| Param::new(name.to_owned(), ty, Span::NONE);
        func.params = params.iter().map(param).collect();
        let mut builder = Builder { func, open: vec![Block::default()] };
        let values = params.iter().enumerate().map(|(i, &(_, ty))| builder.op(ty.ty(), Op::Param(i as u32))).collect();
        (builder, values)
    }

    /// Appends a statement.
    pub fn stmt(&mut self, stmt: Stmt) {
        self.open.last_mut().expect("a block is open").push(stmt, Span::NONE);
    }

    /// Binds a new value to an op.
    pub fn op(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let v = self.func.new_value(ty.into(), Span::NONE);
        self.stmt(Stmt::Let(v, op));
        v
    }

    /// A constant.
    pub fn constant(&mut self, c: Const) -> Value {
        self.op(c.ty(), Op::Const(c))
    }

    /// An `i32` constant.
    pub fn i32(&mut self, i: i32) -> Value {
        self.constant(Const::Int(Scalar::I32, i64::from(i)))
    }

    /// A binary op, typed as its left operand.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.op(self.func.ty(a), Op::Binary(op, a, b))
    }

    /// A comparison.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.op(Scalar::Bool, Op::Compare(op, a, b))
    }

    /// `ptr + index` in elements, the index converted to `i64`.
    pub fn at(&mut self, ptr: Value, index: Value, elem: Scalar) -> Value {
        let index = self.op(Scalar::I64, Op::Convert(Scalar::I64, index));
        self.op(Type::Ptr, Op::PtrAdd { ptr, index, stride: Stride::Elem(elem) })
    }

    /// A plain load.
    pub fn load(&mut self, ptr: Value, ty: impl Into<Type>) -> Value {
        let ty = ty.into();
        self.op(ty, Op::Load { ptr, ty, volatile: false })
    }

    /// A plain store.
    pub fn store(&mut self, ptr: Value, value: Value) {
        self.stmt(Stmt::Store { ptr, value, volatile: false });
    }

    /// A block built by `fill`, not yet in any statement.
    pub fn block(&mut self, fill: impl FnOnce(&mut Self)) -> Block {
        self.open.push(Block::default());
        fill(self);
        self.open.pop().expect("the block just opened")
    }

    /// `if cond { then }`.
    pub fn if_then(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        let then = self.block(then);
        self.stmt(Stmt::If { cond, then, els: Block::default() });
    }

    /// The finished function.
    pub fn finish(mut self) -> Function {
        self.func.body = self.open.pop().expect("the body is open");
        assert!(self.open.is_empty());
        self.func
    }

    /// A module of the finished function alone.
    pub fn module(self) -> Module {
        Module { functions: vec![self.finish()], ..Module::default() }
    }
}

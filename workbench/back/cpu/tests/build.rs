//! Helpers that build IR in few words.

use crate::back::cpu::Code;
use crate::back::cpu::tier::Tier;
use crate::back::{LaunchConfig, Outcome, RawArg};
use crate::ir::*;
use crate::source::{FileId, Span};

/// A place that no two statements share.
pub fn place(n: u32) -> Span {
    Span::new(FileId(0), 10 * n, 10 * n + 9)
}

/// A function under construction; statements go to the innermost open block.
pub struct Build {
    pub func: Function,
    blocks: Vec<Block>,
    line: u32,
}

impl Build {
    pub fn new(name: &str, kind: FuncKind) -> Self {
        Build { func: Function::new(name, kind, place(0)), blocks: vec![Block::default()], line: 0 }
    }

    pub fn kernel(name: &str) -> Self {
        Self::new(name, FuncKind::Kernel)
    }

    /// The span the last statement got.
    pub fn here(&self) -> Span {
        place(self.line)
    }

    pub fn stmt(&mut self, stmt: Stmt) {
        self.line += 1;
        let span = self.here();
        self.blocks.last_mut().expect("a block is open").push(stmt, span);
    }

    pub fn op(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let v = self.func.new_value(ty.into(), Span::NONE);
        self.stmt(Stmt::Let(v, op));
        v
    }

    fn param(&mut self, name: &str, ty: ParamType) -> Value {
        self.func.params.push(Param::new(name, ty, Span::NONE));
        let index = self.func.params.len() as u32 - 1;
        self.op(ty.ty(), Op::Param(index))
    }

    pub fn ptr(&mut self, name: &str, elem: Scalar) -> Value {
        self.param(name, ParamType::Ptr { elem: Some(elem.into()), is_const: false })
    }

    pub fn scalar(&mut self, name: &str, s: Scalar) -> Value {
        self.param(name, ParamType::Scalar(s))
    }

    pub fn int(&mut self, s: Scalar, n: i64) -> Value {
        self.op(s, Op::Const(Const::Int(s, n)))
    }

    pub fn i32(&mut self, n: i64) -> Value {
        self.int(Scalar::I32, n)
    }

    pub fn i64(&mut self, n: i64) -> Value {
        self.int(Scalar::I64, n)
    }

    pub fn bin(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(ty, Op::Binary(op, a, b))
    }

    pub fn cmp(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.op(Scalar::Bool, Op::Compare(op, a, b))
    }

    pub fn convert(&mut self, to: Scalar, v: Value) -> Value {
        self.op(to, Op::Convert(to, v))
    }

    pub fn builtin(&mut self, b: Builtin) -> Value {
        self.op(Scalar::U32, Op::Builtin(b))
    }

    /// `blockIdx.x * blockDim.x + threadIdx.x` as `int`.
    pub fn global_index(&mut self) -> Value {
        let (block, dim) = (self.builtin(Builtin::BlockIdx(0)), self.builtin(Builtin::BlockDim(0)));
        let thread = self.builtin(Builtin::ThreadIdx(0));
        let start = self.bin(BinaryOp::Mul, block, dim);
        let index = self.bin(BinaryOp::Add, start, thread);
        self.convert(Scalar::I32, index)
    }

    /// `&ptr[index]`.
    pub fn at(&mut self, ptr: Value, index: Value, elem: Scalar) -> Value {
        let index = self.convert(Scalar::I64, index);
        self.op(Type::Ptr, Op::PtrAdd { ptr, index, stride: Stride::Elem(elem) })
    }

    pub fn load(&mut self, ptr: Value, ty: impl Into<Type>) -> Value {
        let ty = ty.into();
        self.op(ty, Op::Load { ptr, ty, volatile: false })
    }

    pub fn store(&mut self, ptr: Value, value: Value) {
        self.stmt(Stmt::Store { ptr, value, volatile: false });
    }

    pub fn slot(&mut self, name: &str, elem: Scalar, count: u32) -> Value {
        let (size, align) = (elem.size() * count, elem.size());
        let slot = self.func.new_slot(SlotData { name: name.into(), size, align, elem: Some(elem) });
        self.op(Type::Ptr, Op::SlotAddr(slot))
    }

    pub fn open(&mut self) {
        self.blocks.push(Block::default());
    }

    pub fn close(&mut self) -> Block {
        self.blocks.pop().expect("a block is open")
    }

    pub fn when(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        self.open();
        then(self);
        let then = self.close();
        self.stmt(Stmt::If { cond, then, els: Block::default() });
    }

    /// A loop without end, unless `body` breaks it; gives the span it has.
    pub fn forever(&mut self, body: impl FnOnce(&mut Self, Label)) -> Span {
        let label = self.func.new_label();
        self.open();
        body(self, label);
        let body = self.close();
        self.stmt(Stmt::Loop { label, body, step: Block::default() });
        self.here()
    }

    /// `for (int i = 0; i < n; i++)`.
    pub fn count_to(&mut self, n: Value, body: impl FnOnce(&mut Self, Value)) {
        let i = self.func.new_local("i", Scalar::I32.into());
        let zero = self.i32(0);
        self.stmt(Stmt::Set(i, zero));
        let label = self.func.new_label();
        self.open();
        let now = self.op(Scalar::I32, Op::Get(i));
        let done = self.cmp(CompareOp::Ge, now, n);
        self.when(done, |b| b.stmt(Stmt::Break(label)));
        body(self, now);
        let inner = self.close();
        self.open();
        let now = self.op(Scalar::I32, Op::Get(i));
        let one = self.i32(1);
        let next = self.bin(BinaryOp::Add, now, one);
        self.stmt(Stmt::Set(i, next));
        let step = self.close();
        self.stmt(Stmt::Loop { label, body: inner, step });
    }

    pub fn done(mut self) -> Function {
        self.func.body = self.close();
        assert!(self.blocks.is_empty(), "every block is closed");
        self.func
    }
}

pub fn module(functions: Vec<Function>) -> Module {
    Module { functions, ..Module::default() }
}

pub fn compile(functions: Vec<Function>) -> Code {
    compile_module(&module(functions))
}

pub fn compile_module(module: &Module) -> Code {
    match Code::compile(module, None, Tier::Good, None) {
        Ok(code) => code.expect("it has all bodies"),
        Err(diags) => panic!("{diags:?}"),
    }
}

pub fn buffer<T>(data: &mut [T]) -> RawArg {
    RawArg::Buffer { ptr: data.as_mut_ptr().cast(), bytes: size_of_val(data), writable: true }
}

pub fn read_only<T>(data: &[T]) -> RawArg {
    RawArg::Buffer { ptr: data.as_ptr().cast_mut().cast(), bytes: size_of_val(data), writable: false }
}

/// Launches the first function.
pub fn launch(code: &Code, grid: u32, block: u32, args: &[RawArg]) -> Outcome {
    code.launch(FuncId::new(0), args, &LaunchConfig::new(grid, block))
}

//! Random programs give the same result, or end in the same fault, with and without the passes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use workbench::back::cpu::{Code, Tier};
use workbench::back::{FaultKind, LaunchConfig, RawArg};
use workbench::ir::*;
use workbench::pass;
use workbench::source::Span;
use workbench::valid::validate;

const CELLS: usize = 24;
const SCALARS: [Scalar; 6] = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U8, Scalar::F32, Scalar::Bool];

/// A generator of functions from a stream of numbers.
struct Gen<'a> {
    choices: &'a mut dyn Iterator<Item = u32>,
    func: Function,
    open: Vec<Block>,
    /// Values in scope, innermost last.
    scope: Vec<Value>,
    locals: Vec<Local>,
    /// Labels that a `Break` may name here.
    targets: Vec<Label>,
    out: Option<Value>,
    stored: usize,
    fuel: usize,
    callee: bool,
}

impl Gen<'_> {
    fn pick(&mut self, n: usize) -> usize {
        self.choices.next().unwrap_or(0) as usize % n
    }

    fn stmt(&mut self, stmt: Stmt) {
        self.open.last_mut().unwrap().push(stmt, Span::NONE);
    }

    fn op(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let v = self.func.new_value(ty.into(), Span::NONE);
        self.stmt(Stmt::Let(v, op));
        if self.func.ty(v) != Type::Ptr {
            self.scope.push(v);
        }
        v
    }

    fn constant(&mut self, s: Scalar) -> Value {
        const INTS: [i64; 10] = [0, 1, 2, 3, 7, -1, 31, i32::MAX as i64, i32::MIN as i64, 100];
        const FLOATS: [f32; 8] = [0.0, 1.0, -1.5, 0.1, 3e9, -0.0, 1e-40, f32::INFINITY];
        let c = match s {
            Scalar::F32 => Const::F32(FLOATS[self.pick(8)]),
            Scalar::Bool => Const::Bool(self.pick(2) == 1),
            _ => {
                let spare = 64 - s.bits();
                let x = INTS[self.pick(10)];
                let x = if s.is_signed() { x << spare >> spare } else { ((x as u64) << spare >> spare) as i64 };
                Const::Int(s, x)
            }
        };
        self.op(s, Op::Const(c))
    }

    /// A value of a type.
    fn value(&mut self, s: Scalar) -> Value {
        let fitting: Vec<Value> = self.scope.iter().copied().filter(|&v| self.func.ty(v) == s.into()).collect();
        if fitting.is_empty() || self.pick(5) == 0 {
            return self.constant(s);
        }
        fitting[self.pick(fitting.len())]
    }

    fn expression(&mut self) {
        let s = SCALARS[self.pick(6)];
        let a = self.value(s);
        match self.pick(7) {
            0 => {
                let to = SCALARS[self.pick(6)];
                self.op(to, Op::Convert(to, a));
            }
            1 => {
                let op = if s == Scalar::Bool || s != Scalar::F32 && self.pick(2) == 0 {
                    UnaryOp::Not
                } else {
                    UnaryOp::Neg
                };
                self.op(s, Op::Unary(op, a));
            }
            2 => {
                let b = self.value(s);
                let op = CompareOp::ALL[self.pick(CompareOp::ALL.len())];
                self.op(Scalar::Bool, Op::Compare(op, a, b));
            }
            3 => {
                let (c, b) = (self.value(Scalar::Bool), self.value(s));
                self.op(s, Op::Select(c, a, b));
            }
            4 if matches!(s, Scalar::I32 | Scalar::U32 | Scalar::I64) => {
                let all: Vec<BitFn> = BitFn::ALL.iter().copied().filter(|bit| bit.takes().has(s)).collect();
                let bit = all[self.pick(all.len())];
                let ty = bit.result(s.into());
                self.op(ty, Op::Bit(bit, a));
            }
            5 if matches!(s, Scalar::I32 | Scalar::U32) => {
                let (b, c) = (self.value(s), self.value(s));
                self.op(s, Op::Dot4(a, b, c));
            }
            _ => self.binary(s, a),
        }
    }

    fn binary(&mut self, s: Scalar, a: Value) {
        let is_rare = |op: BinaryOp| matches!(op, BinaryOp::Div | BinaryOp::Rem) && s != Scalar::F32;
        let fitting: Vec<BinaryOp> = BinaryOp::ALL.iter().copied().filter(|op| op.takes().has(s)).collect();
        // Ops that fault for many operands end a program early.
        let (often, rarely): (Vec<BinaryOp>, Vec<BinaryOp>) = fitting.into_iter().partition(|op| !is_rare(*op));
        let ops = if !rarely.is_empty() && self.pick(8) == 0 { rarely } else { often };
        let op = ops[self.pick(ops.len())];
        let b = self.value(if op.is_shift() { Scalar::I32 } else { s });
        self.op(s, Op::Binary(op, a, b));
    }

    fn nested(&mut self, length: usize) -> Block {
        let visible = self.scope.len();
        self.open.push(Block::default());
        self.statements(length);
        self.scope.truncate(visible);
        self.open.pop().unwrap()
    }

    fn statements(&mut self, length: usize) {
        for _ in 0..length {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        let length = 1 + self.pick(4);
        match self.pick(16) {
            0 | 1 => {
                let pick = self.pick(self.locals.len());
                let local = self.locals[pick];
                let Type::Scalar(s) = self.func.locals[local.index()].ty else { return };
                let v = self.value(s);
                self.stmt(Stmt::Set(local, v));
            }
            2 | 3 => {
                let pick = self.pick(self.locals.len());
                let local = self.locals[pick];
                self.op(self.func.locals[local.index()].ty, Op::Get(local));
            }
            4 | 5 => {
                let cond = self.value(Scalar::Bool);
                let then = self.nested(length);
                let els = if self.pick(2) == 0 { Block::default() } else { self.nested(length) };
                self.stmt(Stmt::If { cond, then, els });
            }
            6 => self.bounded_loop(length),
            7 => {
                let label = self.func.new_label();
                self.targets.push(label);
                let body = self.nested(length + 2);
                self.targets.pop();
                self.stmt(Stmt::Scope { label, body });
            }
            8 => {
                let (label, value) = (self.func.new_label(), self.value(Scalar::I32));
                self.targets.push(label);
                let cases = (0..3i64)
                    .map(|i| Case {
                        values: vec![i, i + 10],
                        default: i == 1,
                        body: self.nested(length),
                        falls_through: self.pick(2) == 0,
                    })
                    .collect();
                self.targets.pop();
                self.stmt(Stmt::Switch { label, value, cases });
            }
            9 if !self.targets.is_empty() => {
                let pick = self.pick(self.targets.len());
                let (cond, label) = (self.value(Scalar::Bool), self.targets[pick]);
                let then = Block { stmts: vec![Stmt::Break(label)], spans: vec![Span::NONE] };
                self.stmt(Stmt::If { cond, then, els: Block::default() });
            }
            10 if self.func.ret.is_some() => {
                let (cond, result) = (self.value(Scalar::Bool), self.value(Scalar::I32));
                let then = Block { stmts: vec![Stmt::Return(Some(result))], spans: vec![Span::NONE] };
                self.stmt(Stmt::If { cond, then, els: Block::default() });
            }
            11 if self.callee => {
                let args = vec![self.value(Scalar::I32), self.value(Scalar::F32)];
                let result = self.func.new_value(Scalar::I32.into(), Span::NONE);
                self.stmt(Stmt::Call { result: Some(result), func: FuncId::new(0), args, raised: None });
                self.scope.push(result);
            }
            12 => self.output(),
            _ => self.expression(),
        }
    }

    /// A loop of at most three rounds, counted by a local of its own.
    fn bounded_loop(&mut self, length: usize) {
        let counter = self.func.new_local("counter", Scalar::I32.into());
        let label = self.func.new_label();
        let zero = self.op(Scalar::I32, Op::Const(Const::Int(Scalar::I32, 0)));
        self.stmt(Stmt::Set(counter, zero));
        let visible = self.scope.len();
        self.open.push(Block::default());
        let i = self.op(Scalar::I32, Op::Get(counter));
        let three = self.op(Scalar::I32, Op::Const(Const::Int(Scalar::I32, 3)));
        let done = self.op(Scalar::Bool, Op::Compare(CompareOp::Ge, i, three));
        let then = Block { stmts: vec![Stmt::Break(label)], spans: vec![Span::NONE] };
        self.stmt(Stmt::If { cond: done, then, els: Block::default() });
        self.targets.push(label);
        self.statements(length);
        if self.pick(3) == 0 {
            let cond = self.value(Scalar::Bool);
            let then = Block { stmts: vec![Stmt::Continue(label)], spans: vec![Span::NONE] };
            self.stmt(Stmt::If { cond, then, els: Block::default() });
            self.statements(length);
        }
        self.targets.pop();
        self.scope.truncate(visible);
        let body = self.open.pop().unwrap();
        self.open.push(Block::default());
        let i = self.op(Scalar::I32, Op::Get(counter));
        let one = self.op(Scalar::I32, Op::Const(Const::Int(Scalar::I32, 1)));
        let next = self.op(Scalar::I32, Op::Binary(BinaryOp::Add, i, one));
        self.stmt(Stmt::Set(counter, next));
        self.scope.truncate(visible);
        let step = self.open.pop().unwrap();
        self.stmt(Stmt::Loop { label, body, step });
    }

    /// Stores a value to the next cell, 8 bytes each, as an `i64`; a float is converted to an integer.
    fn output(&mut self) {
        let Some(out) = self.out.filter(|_| self.stored < CELLS) else { return };
        let s = SCALARS[self.pick(6)];
        let mut v = self.value(s);
        if s == Scalar::F32 {
            let scale = self.op(Scalar::F32, Op::Const(Const::F32(1024.0)));
            v = self.op(Scalar::F32, Op::Binary(BinaryOp::Mul, v, scale));
        }
        let wide = self.op(Scalar::I64, Op::Convert(Scalar::I64, v));
        let index = self.op(Scalar::I64, Op::Const(Const::Int(Scalar::I64, self.stored as i64)));
        let ptr = self.op(Type::Ptr, Op::PtrAdd { ptr: out, index, stride: Stride::Bytes(8) });
        self.stmt(Stmt::Store { ptr, value: wide, volatile: false });
        self.stored += 1;
    }
}

fn function(choices: &mut dyn Iterator<Item = u32>, kind: FuncKind, params: &[ParamType], fuel: usize) -> Function {
    let mut func = Function::new("k", kind, Span::NONE);
    func.params = params.iter().map(|&ty| Param::new("p", ty, Span::NONE)).collect();
    if kind == FuncKind::Device {
        func.ret = Some(Scalar::I32.into());
    }
    let mut g = Gen {
        choices,
        func,
        open: vec![Block::default()],
        scope: Vec::new(),
        locals: Vec::new(),
        targets: Vec::new(),
        out: None,
        stored: 0,
        fuel,
        callee: kind == FuncKind::Kernel,
    };
    for (i, ty) in params.iter().enumerate() {
        let v = g.op(ty.ty(), Op::Param(i as u32));
        if ty.ty() == Type::Ptr {
            g.out = Some(v);
        }
    }
    for s in SCALARS {
        let local = g.func.new_local("x", s.into());
        let v = g.value(s);
        g.stmt(Stmt::Set(local, v));
        g.locals.push(local);
    }
    while g.fuel > 0 {
        g.statements(10);
    }
    for local in g.locals.clone() {
        g.op(g.func.locals[local.index()].ty, Op::Get(local));
    }
    for _ in 0..6 {
        g.output();
    }
    if kind == FuncKind::Device {
        let v = g.value(Scalar::I32);
        g.stmt(Stmt::Return(Some(v)));
    }
    g.func.body = g.open.pop().unwrap();
    g.func
}

fn run(module: &Module, n: i32, x: f32) -> (Option<FaultKind>, Vec<i64>) {
    let code = Code::compile(module, None, Tier::Good, None).expect("within limits").expect("it has all bodies");
    let mut cells = vec![0i64; CELLS];
    let buffer = RawArg::Buffer { ptr: cells.as_mut_ptr().cast(), bytes: CELLS * 8, writable: true };
    let args = [buffer, RawArg::Scalar(n as i64 as u64), RawArg::Scalar(u64::from(x.to_bits()))];
    let outcome = code.launch(FuncId::new(1), &args, &LaunchConfig::new(1, 1));
    (outcome.fault.map(|f| f.kind), cells)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_change_no_result(choices in prop::collection::vec(any::<u32>(), 600), n in -3i32..12, x in -2.0f32..2.0) {
        let mut choices = choices.into_iter();
        let scalars = [ParamType::Scalar(Scalar::I32), ParamType::Scalar(Scalar::F32)];
        let out = ParamType::Ptr { elem: Some(Scalar::I64.into()), is_const: false };
        let callee = function(&mut choices, FuncKind::Device, &scalars, 12);
        let kernel = function(&mut choices, FuncKind::Kernel, &[out, scalars[0], scalars[1]], 50);
        let module = Module { functions: vec![callee, kernel], ..Module::default() };
        prop_assert_eq!(validate(&module), vec![], "{}", module);
        let mut prepared = module.clone();
        pass::prepare_for_cpu(&mut prepared);
        prop_assert_eq!(validate(&prepared), vec![], "{}\n{}", module, prepared);
        prop_assert_eq!(run(&module, n, x), run(&prepared, n, x), "{}\n{}", module, prepared);
    }
}

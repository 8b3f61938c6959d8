//! Evaluator of IR while compiling: what `constexpr` functions and initialisers come to. Bounded in steps, calls and memory.
//!
//! Everything that a program may not do in a constant expression stops it: reading what was never written, leaving an
//! array, dividing by zero, asking for the thread's index, calling a function that is not `constexpr`.

use crate::ir::eval;
use crate::ir::{
    BinaryOp, Block, CompareOp, Const, FuncId, Function, Label, Module, Op, Scalar, Space, Stmt, Type, UnaryOp, Value,
};
use crate::source::Span;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Stands for a variable where a pointer holds the number of a function.
const FUNCTIONS: usize = usize::MAX;

/// Most statements of one evaluation.
const MAX_STEPS: u32 = 2_000_000;
/// Most calls inside one another.
const MAX_CALLS: u32 = 400;
/// Most bytes of all variables together.
const MAX_MEMORY: u64 = 4 << 20;

/// Reason why an evaluation came to no value.
#[derive(Debug)]
pub enum Stop {
    /// This function's body is needed first.
    Body(FuncId),
    /// Operation that is not allowed in a constant, at this place.
    NotConstant(String, Span),
}

/// A value: a number, or an address in the memory of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Val {
    Const(Const),
    Ptr { block: usize, offset: i64 },
    Unset,
}

/// One variable's memory.
struct Memory {
    bytes: Vec<u8>,
    written: Vec<bool>,
    pointers: HashMap<usize, Val>,
    constant: bool,
}

/// Way a block was left.
enum Flow {
    Next,
    Break(Label),
    Continue(Label),
    Return(Val),
}

/// An evaluation.
pub struct Evaluator<'m> {
    module: &'m Module,
    allowed: &'m dyn Fn(FuncId) -> bool,
    memory: Vec<Memory>,
    globals: HashMap<usize, usize>,
    /// Functions whose bodies are not in the module yet.
    pub pending: HashSet<FuncId>,
    steps: u32,
    calls: u32,
    total: u64,
}

struct CallFrame<'f> {
    func: &'f Function,
    values: Vec<Val>,
    locals: Vec<Val>,
    slots: Vec<usize>,
    args: Vec<Val>,
}

impl CallFrame<'_> {
    /// The number that a value is.
    fn number(&self, v: Value, span: Span) -> Result<Const, Stop> {
        let stop = |what: &str| Stop::NotConstant(what.to_owned(), span);
        match self.values[v.index()] {
            Val::Const(c) => Ok(c),
            Val::Ptr { .. } => Err(stop("it computes with an address")),
            Val::Unset => Err(stop("it reads something that has no value yet")),
        }
    }
}

/// The comparison of two addresses, each a variable and an offset; nothing if they have no order.
fn compared(op: CompareOp, a: (usize, i64), b: (usize, i64)) -> Option<bool> {
    let order = a.cmp(&b);
    match op {
        CompareOp::Eq => Some(order.is_eq()),
        CompareOp::Ne => Some(order.is_ne()),
        _ if a.0 != b.0 => None,
        CompareOp::Lt => Some(order.is_lt()),
        CompareOp::Le => Some(order.is_le()),
        CompareOp::Gt => Some(order.is_gt()),
        CompareOp::Ge => Some(order.is_ge()),
    }
}

impl<'m> Evaluator<'m> {
    /// An evaluation in a module; `allowed` tells which functions may be called.
    pub fn new(module: &'m Module, allowed: &'m dyn Fn(FuncId) -> bool) -> Self {
        Evaluator {
            module,
            allowed,
            memory: Vec::new(),
            globals: HashMap::default(),
            pending: HashSet::default(),
            steps: 0,
            calls: 0,
            total: 0,
        }
    }

    /// The number that a function without parameters returns.
    pub fn number(&mut self, func: &Function) -> Result<Const, Stop> {
        match self.call(func, Vec::new())? {
            Val::Const(c) => Ok(c),
            _ => Err(Stop::NotConstant("its value is an address".to_owned(), func.span)),
        }
    }

    /// The bytes that a function without parameters leaves in its first slot.
    pub fn object(&mut self, func: &Function) -> Result<Vec<u8>, Stop> {
        self.call(func, Vec::new())?;
        match self.memory.first() {
            Some(first)
                if first
                    .pointers
                    .values()
                    .all(|v| matches!(v, Val::Const(Const::Null) | Val::Ptr { block: FUNCTIONS, .. })) =>
            {
                Ok(first.bytes.clone())
            }
            _ => Err(Stop::NotConstant("it holds an address".to_owned(), func.span)),
        }
    }

    fn allocate(&mut self, size: usize, span: Span) -> Result<usize, Stop> {
        self.total += size as u64;
        if self.total > MAX_MEMORY {
            return Err(Stop::NotConstant(format!("it needs more than {MAX_MEMORY} bytes"), span));
        }
        self.memory.push(Memory {
            bytes: vec![0; size],
            written: vec![false; size],
            pointers: HashMap::default(),
            constant: false,
        });
        Ok(self.memory.len() - 1)
    }

    fn call(&mut self, func: &Function, args: Vec<Val>) -> Result<Val, Stop> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(Stop::NotConstant(format!("its calls nest more than {MAX_CALLS} deep"), func.span));
        }
        let mut slots = Vec::with_capacity(func.slots.len());
        for slot in &func.slots {
            slots.push(self.allocate(slot.size as usize, func.span)?);
        }
        let mut frame = CallFrame {
            func,
            values: vec![Val::Unset; func.values.len()],
            locals: vec![Val::Unset; func.locals.len()],
            slots,
            args,
        };
        let flow = self.block(&mut frame, &func.body)?;
        self.calls -= 1;
        // Addresses of its variables outlive the call only in error; their bytes are given back.
        if self.calls > 0 {
            for &slot in &frame.slots {
                self.total -= self.memory[slot].bytes.len() as u64;
                self.memory[slot].bytes = Vec::new();
                self.memory[slot].written = Vec::new();
            }
        }
        Ok(match flow {
            Flow::Return(v) => v,
            _ => Val::Unset,
        })
    }

    fn block(&mut self, frame: &mut CallFrame<'_>, block: &Block) -> Result<Flow, Stop> {
        for (stmt, span) in block.iter() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(Stop::NotConstant(format!("it takes more than {MAX_STEPS} steps"), span));
            }
            let flow = self.stmt(frame, stmt, span)?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, frame: &mut CallFrame<'_>, stmt: &Stmt, span: Span) -> Result<Flow, Stop> {
        let refuse = |what: &str| Err(Stop::NotConstant(what.to_owned(), span));
        match stmt {
            Stmt::Let(value, op) => {
                let span = frame.func.values[value.index()].span;
                let result = self.op(frame, op, frame.func.ty(*value), span)?;
                frame.values[value.index()] = result;
            }
            Stmt::Set(local, value) => frame.locals[local.index()] = frame.values[value.index()],
            Stmt::Store { ptr, value, .. } => {
                let value = frame.values[value.index()];
                self.store(frame.values[ptr.index()], value, span)?;
            }
            Stmt::If { cond, then, els } => {
                let taken = if self.truth(frame, *cond, span)? { then } else { els };
                return self.block(frame, taken);
            }
            Stmt::Loop { label, body, step } => loop {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return Err(Stop::NotConstant(format!("it takes more than {MAX_STEPS} steps"), span));
                }
                match self.block(frame, body)? {
                    Flow::Next => {}
                    Flow::Continue(l) if l == *label => {}
                    Flow::Break(l) if l == *label => break,
                    other => return Ok(other),
                }
                match self.block(frame, step)? {
                    Flow::Next => {}
                    Flow::Break(l) if l == *label => break,
                    other => return Ok(other),
                }
            },
            Stmt::Switch { label, value, cases } => {
                let Val::Const(Const::Int(_, v)) = frame.values[value.index()] else {
                    return refuse("it chooses by something unknown");
                };
                let found = cases.iter().position(|c| c.values.contains(&v));
                let mut at = found.or_else(|| cases.iter().position(|c| c.default));
                while let Some(i) = at {
                    match self.block(frame, &cases[i].body)? {
                        Flow::Next => {}
                        Flow::Break(l) if l == *label => return Ok(Flow::Next),
                        other => return Ok(other),
                    }
                    at = (cases[i].falls_through && i + 1 < cases.len()).then_some(i + 1);
                }
            }
            Stmt::Scope { label, body } => match self.block(frame, body)? {
                Flow::Break(l) if l == *label => {}
                other => return Ok(other),
            },
            Stmt::Break(label) => return Ok(Flow::Break(*label)),
            Stmt::Continue(label) => return Ok(Flow::Continue(*label)),
            Stmt::Return(value) => return Ok(Flow::Return(value.map_or(Val::Unset, |v| frame.values[v.index()]))),
            Stmt::Call { result, func, args, raised } => {
                if !(self.allowed)(*func) {
                    let name = self.module.func(*func).name.clone();
                    return Err(Stop::NotConstant(format!("it calls `{name}`, which is not `constexpr`"), span));
                }
                let callee = self.module.func(*func);
                if self.pending.contains(func) {
                    return Err(Stop::Body(*func));
                }
                let args = args.iter().map(|a| frame.values[a.index()]).collect();
                let value = self.call(callee, args)?;
                if let Some(result) = result {
                    frame.values[result.index()] = value;
                }
                if let Some(raised) = raised {
                    frame.values[raised.index()] = Val::Const(Const::Bool(false));
                }
            }
            Stmt::Assert { cond, message } => {
                if !self.truth(frame, *cond, span)? {
                    return refuse(&format!("its assertion `{message}` fails"));
                }
            }
            Stmt::Aligned { .. } => {}
            Stmt::Printf { .. } => return refuse("it prints"),
            Stmt::MissingReturn(_) => return refuse("it reaches its end without a value"),
            Stmt::Trap => return refuse("it traps"),
            _ => return refuse("it does what only a running kernel can do"),
        }
        Ok(Flow::Next)
    }

    fn truth(&self, frame: &CallFrame<'_>, cond: Value, span: Span) -> Result<bool, Stop> {
        match frame.values[cond.index()] {
            Val::Const(Const::Bool(b)) => Ok(b),
            _ => Err(Stop::NotConstant("it depends on something unknown".to_owned(), span)),
        }
    }

    fn op(&mut self, frame: &CallFrame<'_>, op: &Op, ty: Type, span: Span) -> Result<Val, Stop> {
        let get = |v: &Value| frame.values[v.index()];
        let stop = |what: &str| Stop::NotConstant(what.to_owned(), span);
        let number = |v: &Value| frame.number(*v, span);
        let known = |c: Option<Const>| c.map(Val::Const).ok_or_else(|| stop("it divides by zero, or overflows"));
        match op {
            Op::Const(c) => Ok(Val::Const(*c)),
            Op::Param(i) => Ok(frame.args.get(*i as usize).copied().unwrap_or(Val::Unset)),
            Op::Get(local) => Ok(frame.locals[local.index()]),
            Op::SlotAddr(slot) => Ok(Val::Ptr { block: frame.slots[slot.index()], offset: 0 }),
            Op::GlobalAddr(global) => self.constant_variable(global.index(), span),
            Op::Builtin(_) => Err(stop("it asks for the thread's index")),
            Op::Unary(UnaryOp::Not, v) if matches!(get(v), Val::Const(Const::Bool(_))) => match get(v) {
                Val::Const(Const::Bool(b)) => Ok(Val::Const(Const::Bool(!b))),
                _ => Err(stop("it depends on something unknown")),
            },
            Op::Unary(op, v) => known(eval::unary(*op, number(v)?)),
            Op::Binary(op, a, b) => {
                let (x, y) = (number(a)?, number(b)?);
                match (op, x, y) {
                    (BinaryOp::And, Const::Bool(x), Const::Bool(y)) => Ok(Val::Const(Const::Bool(x & y))),
                    (BinaryOp::Or, Const::Bool(x), Const::Bool(y)) => Ok(Val::Const(Const::Bool(x | y))),
                    (BinaryOp::Xor, Const::Bool(x), Const::Bool(y)) => Ok(Val::Const(Const::Bool(x ^ y))),
                    _ => known(eval::binary(*op, x, y)),
                }
            }
            Op::Compare(op, a, b) => match (get(a), get(b)) {
                (Val::Ptr { block: i, offset: x }, Val::Ptr { block: j, offset: y }) => {
                    let truth = compared(*op, (i, x), (j, y));
                    let truth = truth.ok_or_else(|| stop("it compares addresses of different variables"))?;
                    Ok(Val::Const(Const::Bool(truth)))
                }
                (Val::Ptr { .. }, Val::Const(Const::Null)) | (Val::Const(Const::Null), Val::Ptr { .. }) => {
                    Ok(Val::Const(Const::Bool(*op == CompareOp::Ne)))
                }
                _ => known(eval::compare(*op, number(a)?, number(b)?)),
            },
            Op::Convert(to, v) => known(eval::convert(*to, number(v)?)),
            Op::Bitcast(to, v) => known(eval::bitcast(*to, number(v)?)),
            Op::Select(c, a, b) => match number(c)? {
                Const::Bool(true) => Ok(get(a)),
                _ => Ok(get(b)),
            },
            Op::Math(func, args) => {
                let args: Result<Vec<Const>, Stop> = args.iter().map(number).collect();
                eval::math(*func, &args?)
                    .map(Val::Const)
                    .ok_or_else(|| stop("it calls a math function that is not computed when compiling"))
            }
            Op::Bit(func, v) => known(eval::bit(*func, number(v)?)),
            Op::PtrAdd { ptr, index, stride } => match (get(ptr), number(index)?) {
                (Val::Ptr { block, offset }, Const::Int(_, i)) => {
                    let offset = offset.wrapping_add(i.wrapping_mul(i64::from(stride.bytes())));
                    Ok(Val::Ptr { block, offset })
                }
                (Val::Const(Const::Null), Const::Int(_, 0)) => Ok(Val::Const(Const::Null)),
                // The address of a function is made like this.
                (Val::Const(Const::Null), Const::Int(_, i)) if stride.bytes() == 1 => {
                    Ok(Val::Ptr { block: FUNCTIONS, offset: i })
                }
                _ => Err(stop("it moves a null pointer")),
            },
            Op::PtrDiff(a, b, stride) => match (get(a), get(b)) {
                (Val::Ptr { block: i, offset: x }, Val::Ptr { block: j, offset: y }) if i == j => {
                    Ok(Val::Const(Const::Int(Scalar::I64, (x - y) / i64::from(stride.bytes().max(1)))))
                }
                _ => Err(stop("it subtracts addresses of different variables")),
            },
            Op::Load { ptr, .. } => self.load(get(ptr), ty, span),
            _ => Err(stop("it turns an address into a number, or does what only a running kernel can")),
        }
    }

    /// The address of a variable that never changes, in memory that holds its bytes.
    fn constant_variable(&mut self, index: usize, span: Span) -> Result<Val, Stop> {
        if self.module.globals[index].space != Space::ReadOnly {
            return Err(Stop::NotConstant("it uses a variable that may change".to_owned(), span));
        }
        let block = match self.globals.get(&index) {
            Some(&block) => block,
            None => {
                let bytes = self.module.globals[index].bytes.clone();
                let block = self.allocate(bytes.len(), span)?;
                let memory = &mut self.memory[block];
                memory.written = vec![true; bytes.len()];
                (memory.bytes, memory.constant) = (bytes, true);
                self.globals.insert(index, block);
                block
            }
        };
        Ok(Val::Ptr { block, offset: 0 })
    }

    /// The bytes an access touches, inside its variable.
    fn range(&self, ptr: Val, size: usize, span: Span) -> Result<(usize, usize), Stop> {
        let Val::Ptr { block, offset } = ptr else {
            return Err(Stop::NotConstant("it reads or writes through a null pointer".to_owned(), span));
        };
        if block == FUNCTIONS {
            return Err(Stop::NotConstant("it reads or writes through the address of a function".to_owned(), span));
        }
        let len = self.memory[block].bytes.len();
        let start = usize::try_from(offset).ok().filter(|s| s.checked_add(size).is_some_and(|end| end <= len));
        match start {
            Some(start) => Ok((block, start)),
            None => Err(Stop::NotConstant("it leaves the bounds of a variable".to_owned(), span)),
        }
    }

    fn load(&self, ptr: Val, ty: Type, span: Span) -> Result<Val, Stop> {
        let size = ty.size() as usize;
        let (block, start) = self.range(ptr, size, span)?;
        let memory = &self.memory[block];
        if !memory.written[start..start + size].iter().all(|w| *w) {
            return Err(Stop::NotConstant("it reads something that has no value yet".to_owned(), span));
        }
        match ty {
            Type::Ptr => Ok(memory.pointers.get(&start).copied().unwrap_or(Val::Const(Const::Null))),
            Type::Scalar(scalar) => {
                let mut word = [0u8; 8];
                word[..size].copy_from_slice(&memory.bytes[start..start + size]);
                Ok(Val::Const(from_bits(scalar, u64::from_le_bytes(word))))
            }
        }
    }

    fn store(&mut self, ptr: Val, value: Val, span: Span) -> Result<(), Stop> {
        let mut bytes = Vec::with_capacity(8);
        match value {
            Val::Const(c) => bytes.extend(c.bytes()),
            Val::Ptr { block: FUNCTIONS, offset } => bytes.extend_from_slice(&offset.to_le_bytes()),
            Val::Ptr { .. } => bytes.extend_from_slice(&[0; 8]),
            Val::Unset => return Err(Stop::NotConstant("it reads something that has no value yet".to_owned(), span)),
        }
        let (block, start) = self.range(ptr, bytes.len(), span)?;
        let memory = &mut self.memory[block];
        if memory.constant {
            return Err(Stop::NotConstant("it writes to a constant".to_owned(), span));
        }
        memory.bytes[start..start + bytes.len()].copy_from_slice(&bytes);
        memory.written[start..start + bytes.len()].fill(true);
        memory.pointers.retain(|at, _| *at + 8 <= start || *at >= start + bytes.len());
        if matches!(value, Val::Ptr { .. } | Val::Const(Const::Null)) {
            memory.pointers.insert(start, value);
        }
        Ok(())
    }
}

/// A number from its bits in memory.
pub fn from_bits(scalar: Scalar, bits: u64) -> Const {
    match scalar {
        Scalar::Bool => Const::Bool(bits & 0xFF != 0),
        Scalar::F32 => Const::F32(f32::from_bits(bits as u32)),
        Scalar::F64 => Const::F64(f64::from_bits(bits)),
        Scalar::I8 => Const::Int(scalar, i64::from(bits as i8)),
        Scalar::U8 => Const::Int(scalar, i64::from(bits as u8)),
        Scalar::I16 => Const::Int(scalar, i64::from(bits as i16)),
        Scalar::U16 => Const::Int(scalar, i64::from(bits as u16)),
        Scalar::I32 => Const::Int(scalar, i64::from(bits as i32)),
        Scalar::U32 => Const::Int(scalar, i64::from(bits as u32)),
        Scalar::I64 | Scalar::U64 => Const::Int(scalar, bits as i64),
    }
}

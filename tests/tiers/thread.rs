//! One thread: a stack of running functions, each with its open blocks, that stops at operations that threads do together.

use workbench::back::FaultKind;
use workbench::ir::{
    Block, Builtin, Case, Collective, Const, FuncId, Function, Label, Module, Op, Param, Scalar, Scope, Stmt, Type,
    Value,
};
use workbench::source::Span;

use super::memory::{Memory, NULL, OWN, View};
use super::value::{self, Val};

/// The reason why a thread does not go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// It faulted.
    Fault(FaultKind, Span),
    /// It ran for too long.
    Endless,
    /// It met an op that the interpreter does not know.
    Unsupported(String),
}

/// The state that a launch gives to all threads.
pub struct World<'m> {
    pub module: &'m Module,
    pub memory: Memory,
    /// The pointer to each module datum and shared variable.
    pub globals: Vec<Val>,
    pub shared: Vec<Val>,
    pub args: Vec<Val>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The running block.
    pub at: [u32; 3],
    /// The number of statements that may still be run.
    pub steps: u64,
}

/// The operation at which threads wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    Barrier,
    Warp,
    Collective(Collective),
}

/// A thread's part in an operation that threads do together.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub meeting: Meeting,
    pub args: Vec<u64>,
    /// The type of the operand that is passed around, if there is one.
    pub ty: Option<Scalar>,
    pub span: Span,
    /// The statement, and the calls on the way to it.
    pub path: Vec<*const Stmt>,
    result: Option<Value>,
}

#[derive(Debug, Clone)]
pub enum State {
    Ready,
    Waiting(Waiting),
    Done,
    Faulted,
}

/// The construct that an open block belongs to.
enum Kind<'m> {
    /// A function or a side of an `If`.
    Plain,
    Scope(Label),
    Body(Label, &'m Block, &'m Block),
    Step(Label, &'m Block, &'m Block),
    Switch(Label, &'m [Case], usize),
}

struct Open<'m> {
    block: &'m Block,
    at: usize,
    kind: Kind<'m>,
}

struct Frame<'m> {
    func: &'m Function,
    args: Vec<Val>,
    values: Vec<Val>,
    locals: Vec<Val>,
    /// The number of buffers that the thread had before.
    slots: usize,
    open: Vec<Open<'m>>,
    /// The value that the caller binds the result to.
    result: Option<Value>,
    current: *const Stmt,
}

pub struct Thread<'m> {
    pub index: [u32; 3],
    pub state: State,
    frames: Vec<Frame<'m>>,
    own: Memory,
}

fn poison(ty: Type) -> Val {
    let all = u64::from_le_bytes([workbench::ir::POISON; 8]);
    match ty {
        Type::Ptr => Val { bits: all, buffer: super::memory::DANGLING },
        Type::Scalar(Scalar::F32) => Val::new(all & 0xffff_ffff),
        Type::Scalar(Scalar::F64) => Val::new(all),
        Type::Scalar(s) => Val::new(value::wrap(s, i128::from(all))),
    }
}

impl<'m> Thread<'m> {
    pub fn new(index: [u32; 3], kernel: FuncId, world: &World<'m>) -> Self {
        let own = Memory::new(0x7000_0000_0000);
        let mut thread = Thread { index, state: State::Ready, frames: Vec::new(), own };
        thread.enter(world.module.func(kernel), world.args.clone(), None);
        thread
    }

    fn enter(&mut self, func: &'m Function, args: Vec<Val>, result: Option<Value>) {
        let slots = self.own.buffers.len();
        for slot in &func.slots {
            self.own.poisoned(slot.size as usize);
        }
        self.frames.push(Frame {
            func,
            args,
            values: vec![Val::default(); func.values.len()],
            locals: func.locals.iter().map(|l| poison(l.ty)).collect(),
            slots,
            open: vec![Open { block: &func.body, at: 0, kind: Kind::Plain }],
            result,
            current: std::ptr::null(),
        });
    }

    fn leave(&mut self, value: Option<Val>) {
        let Some(frame) = self.frames.pop() else { return };
        self.own.truncate(frame.slots);
        match self.frames.last_mut() {
            None => self.state = State::Done,
            Some(caller) => {
                if let (Some(result), Some(value)) = (frame.result, value) {
                    caller.values[result.index()] = value;
                }
            }
        }
    }

    /// Goes on after an operation that threads did together.
    pub fn resume(&mut self, bits: u64) {
        let State::Waiting(waiting) = std::mem::replace(&mut self.state, State::Ready) else { return };
        if let (Some(result), Some(frame)) = (waiting.result, self.frames.last_mut()) {
            frame.values[result.index()] = Val::new(bits);
        }
    }

    /// Runs until the thread waits or is done.
    pub fn run(&mut self, world: &mut World<'m>) -> Result<(), Trouble> {
        while matches!(self.state, State::Ready) {
            let Some(frame) = self.frames.last_mut() else { break };
            let Some(open) = frame.open.last_mut() else {
                self.leave(None);
                continue;
            };
            world.steps = world.steps.checked_sub(1).ok_or(Trouble::Endless)?;
            let block = open.block;
            match block.stmts.get(open.at) {
                None => frame.block_ended(),
                Some(stmt) => {
                    let span = block.spans[open.at];
                    open.at += 1;
                    frame.current = stmt;
                    self.statement(world, stmt, span)?;
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, world: &mut World<'m>, stmt: &'m Stmt, span: Span) -> Result<(), Trouble> {
        let index = self.index;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let mut view = View { shared: &mut world.memory, own: &mut self.own };
        let fault = |kind: FaultKind| Trouble::Fault(kind, span);
        match stmt {
            Stmt::Let(v, op) => {
                let places = Places {
                    globals: &world.globals,
                    shared: &world.shared,
                    sizes: [index, world.at, world.block, world.grid],
                };
                frame.values[v.index()] = frame.op(op, frame.func.ty(*v), &mut view, &places, span)?;
            }
            Stmt::Set(l, v) => frame.locals[l.index()] = frame.get(*v),
            Stmt::Store { ptr, value, .. } => {
                view.store(frame.get(*ptr), frame.func.ty(*value), frame.get(*value)).map_err(fault)?;
            }
            Stmt::If { cond, then, els } => {
                let block = if frame.get(*cond).holds() { then } else { els };
                frame.open.push(Open { block, at: 0, kind: Kind::Plain });
            }
            Stmt::Loop { label, body, step } => {
                frame.open.push(Open { block: body, at: 0, kind: Kind::Body(*label, body, step) });
            }
            Stmt::Switch { label, value, cases } => {
                let bits = frame.get(*value).bits as i64;
                let hit = cases.iter().position(|c| c.values.contains(&bits));
                if let Some(i) = hit.or_else(|| cases.iter().position(|c| c.default)) {
                    frame.open.push(Open { block: &cases[i].body, at: 0, kind: Kind::Switch(*label, cases, i) });
                }
            }
            Stmt::Scope { label, body } => frame.open.push(Open { block: body, at: 0, kind: Kind::Scope(*label) }),
            Stmt::Break(label) => frame.leave_construct(*label),
            Stmt::Continue(label) => frame.next_round(*label),
            Stmt::Return(v) => {
                let value = v.map(|v| frame.get(v));
                self.leave(value);
            }
            Stmt::Call { result, func, args, .. } => {
                let args = args.iter().map(|a| frame.get(*a)).collect();
                if self.frames.len() > 200 {
                    return Err(fault(FaultKind::StackOverflow));
                }
                self.enter(world.module.func(*func), args, *result);
            }
            Stmt::Assert { cond, .. } if frame.get(*cond).holds() => {}
            Stmt::Assert { .. } => return Err(fault(FaultKind::Assert)),
            Stmt::Aligned { ptr, align } => {
                if !frame.get(*ptr).bits.is_multiple_of(u64::from(*align)) {
                    return Err(fault(FaultKind::Misaligned));
                }
            }
            Stmt::Trap | Stmt::MissingReturn(_) => return Err(fault(FaultKind::Trap)),
            Stmt::Fence => {}
            Stmt::Atomic { result, op, ptr, value, compare } => {
                let ty = frame.scalar(*value);
                let (operand, compare) = (frame.get(*value).bits, compare.map_or(0, |c| frame.get(c).bits));
                let old = view.atomic(*op, frame.get(*ptr), ty, operand, compare).map_err(fault)?;
                if let Some(v) = result {
                    frame.values[v.index()] = Val::new(old);
                }
            }
            Stmt::Barrier(scope) => {
                let meeting = if *scope == Scope::Block { Meeting::Barrier } else { Meeting::Warp };
                self.wait(meeting, &[], None, span);
            }
            Stmt::Collective { result, op, args } => self.wait(Meeting::Collective(*op), args, *result, span),
            Stmt::Printf { .. } | Stmt::Service { .. } | Stmt::Launch { .. } | Stmt::Dispatch(_) => {
                return Err(Trouble::Unsupported(format!("{stmt:?}")));
            }
        }
        Ok(())
    }

    fn wait(&mut self, meeting: Meeting, args: &[Value], result: Option<Value>, span: Span) {
        let path = self.frames.iter().map(|f| f.current).collect();
        let Some(frame) = self.frames.last_mut() else { return };
        let passed = matches!(
            meeting,
            Meeting::Collective(
                Collective::Shfl(_) | Collective::MatchAny | Collective::MatchAll | Collective::Reduce(_)
            )
        );
        let ty = args.get(1).filter(|_| passed).map(|v| frame.scalar(*v));
        let args = args.iter().map(|v| frame.get(*v).bits).collect();
        self.state = State::Waiting(Waiting { meeting, args, ty, span, path, result });
    }
}

/// The addresses and sizes, for the thread that runs.
struct Places<'a> {
    globals: &'a [Val],
    shared: &'a [Val],
    /// `threadIdx`, `blockIdx`, `blockDim`, `gridDim`.
    sizes: [[u32; 3]; 4],
}

impl<'m> Frame<'m> {
    fn get(&self, v: Value) -> Val {
        self.values[v.index()]
    }

    fn scalar(&self, v: Value) -> Scalar {
        self.func.ty(v).scalar().expect("a number is wanted")
    }

    fn block_ended(&mut self) {
        let Some(open) = self.open.pop() else { return };
        match open.kind {
            Kind::Plain | Kind::Scope(_) => {}
            Kind::Body(label, body, step) => {
                self.open.push(Open { block: step, at: 0, kind: Kind::Step(label, body, step) });
            }
            Kind::Step(label, body, step) => {
                self.open.push(Open { block: body, at: 0, kind: Kind::Body(label, body, step) });
            }
            Kind::Switch(label, cases, i) => {
                if let Some(next) = cases.get(i + 1).filter(|_| cases[i].falls_through) {
                    self.open.push(Open { block: &next.body, at: 0, kind: Kind::Switch(label, cases, i + 1) });
                }
            }
        }
    }

    fn leave_construct(&mut self, label: Label) {
        while let Some(open) = self.open.pop() {
            match open.kind {
                Kind::Scope(l) | Kind::Body(l, ..) | Kind::Step(l, ..) | Kind::Switch(l, ..) if l == label => return,
                _ => {}
            }
        }
    }

    fn next_round(&mut self, label: Label) {
        while let Some(open) = self.open.pop() {
            match open.kind {
                Kind::Body(l, body, step) if l == label => {
                    self.open.push(Open { block: step, at: 0, kind: Kind::Step(l, body, step) });
                    return;
                }
                _ => {}
            }
        }
    }

    fn op(&self, op: &Op, ty: Type, view: &mut View<'_>, places: &Places<'_>, span: Span) -> Result<Val, Trouble> {
        let fault = |kind: FaultKind| Trouble::Fault(kind, span);
        let bits = match op {
            Op::Const(c) => match c {
                Const::Bool(b) => u64::from(*b),
                Const::Int(_, x) => *x as u64,
                Const::F32(x) => value::of_f32(*x),
                Const::F64(x) => value::of_f64(*x),
                Const::Null => return Ok(Val { bits: 0, buffer: NULL }),
            },
            Op::Param(i) => return Ok(self.args[*i as usize]),
            Op::Get(l) => return Ok(self.locals[l.index()]),
            Op::SlotAddr(s) => {
                let at = self.slots + s.index();
                return Ok(Val { bits: view.own.buffers[at].base, buffer: OWN | at as u32 });
            }
            Op::GlobalAddr(g) => return Ok(places.globals[g.index()]),
            Op::SharedAddr(m) => return Ok(places.shared[m.index()]),
            // The address is for host code; it points into nothing.
            Op::FuncAddr(func, _) => return Ok(Val { bits: func.address() as u64, buffer: NULL }),
            Op::Builtin(b) => u64::from(match b {
                Builtin::ThreadIdx(d) => places.sizes[0][usize::from(*d)],
                Builtin::BlockIdx(d) => places.sizes[1][usize::from(*d)],
                Builtin::BlockDim(d) => places.sizes[2][usize::from(*d)],
                Builtin::GridDim(d) => places.sizes[3][usize::from(*d)],
            }),
            Op::Unary(op, a) => value::unary(*op, self.scalar(*a), self.get(*a).bits),
            Op::Binary(op, a, b) => {
                let (s, t) = (self.scalar(*a), self.scalar(*b));
                value::binary(*op, s, self.get(*a).bits, t, self.get(*b).bits).map_err(fault)?
            }
            Op::Compare(op, a, b) => {
                let s = self.func.ty(*a).scalar();
                u64::from(value::compare(*op, s, self.get(*a).bits, self.get(*b).bits))
            }
            Op::Convert(to, a) => value::convert(self.scalar(*a), *to, self.get(*a).bits),
            Op::Bitcast(to, a) => value::bitcast(self.scalar(*a), *to, self.get(*a).bits),
            Op::Select(c, a, b) => return Ok(if self.get(*c).holds() { self.get(*a) } else { self.get(*b) }),
            Op::Math(func, args) => {
                let s = ty.scalar().expect("a math function gives a number");
                let args: Vec<u64> = args.iter().map(|a| self.get(*a).bits).collect();
                value::math(*func, s, &args).ok_or_else(|| Trouble::Unsupported(format!("{func:?}")))?
            }
            Op::Bit(func, a) => value::bit(*func, self.scalar(*a), self.get(*a).bits),
            Op::Dot4(x, y, sum) => {
                let s = self.scalar(*sum);
                let [x, y, sum] = [x, y, sum].map(|v| self.get(*v).bits as u32);
                value::dot4(s, [x, y, sum])
            }
            Op::PtrAdd { ptr, index, stride } => {
                let ptr = self.get(*ptr);
                let moved = i128::from(self.get(*index).bits as i64) * i128::from(stride.bytes());
                // A pointer moved past all memory must not wrap round to it again.
                let far = 0x2d35_8dcc_aa6c_78a0;
                let by = if moved.unsigned_abs() > 1 << 48 { far } else { moved as u64 };
                return Ok(Val { bits: ptr.bits.wrapping_add(by), buffer: ptr.buffer });
            }
            Op::PtrDiff(a, b, stride) => {
                let bytes = self.get(*a).bits.wrapping_sub(self.get(*b).bits) as i64;
                (bytes / i64::from(stride.bytes())) as u64
            }
            Op::PtrToInt(a) => self.get(*a).bits,
            Op::IntToPtr(a) => {
                let bits = self.get(*a).bits;
                return Ok(Val { bits, buffer: view.lookup(bits) });
            }
            Op::Load { ptr, ty, .. } => return view.load(self.get(*ptr), *ty).map_err(fault),
        };
        Ok(Val::new(bits))
    }
}

/// True for a kernel's parameter that points at something constant.
pub fn is_const(param: &Param) -> bool {
    matches!(param.ty, workbench::ir::ParamType::Ptr { is_const: true, .. })
}

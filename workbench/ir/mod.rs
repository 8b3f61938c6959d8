//! The intermediate representation: the language between the front end and the back ends. This page is its specification.
//!
//! # Shape
//! A [`Module`] holds functions, constant data and printf formats. A [`Function`] holds *values* (each defined once),
//! *locals* (mutable registers), *slots* (per-thread memory) and a body of structured statements. There is no goto.
//! [`print`] writes all of it as text, and [`read`] reads that back and holds the grammar. Handles print as `v0`, `l0`, `s0`, `f0`, `b0`, `g0`,
//! `p0`.
//!
//! # Types
//! [`Type::Scalar`] carries signedness; `Bool` is one byte holding 0 or 1 in memory. [`Type::Ptr`] is opaque: the access says what it
//! reads. A pointer value is a pair (address, buffer): arithmetic keeps the buffer, every access is checked against it. Structs and vectors exist only in the front end; here they are slots and accesses at byte offsets.
//!
//! # Evaluation
//! Statements run in order. `Let(v, op)` evaluates `op` at that point and binds `v`, which is visible in the statements that follow in the
//! same block and in blocks nested in those; never outside. A value is defined exactly once. A [`Local`] holds the value last `Set` and the
//! poison pattern before that (no undefined behaviour, no guarantee).
//! Ops have no side effects except that `Load` reads memory and may fault, and integer `Div`/`Rem` may fault.
//!
//! # Arithmetic
//! - Integers wrap. `Div`/`Rem` fault on a zero divisor and on `MIN / -1`. Shift amounts are taken as unsigned and at
//!   or past the width give 0 (`Shr` of signed: the sign), as PTX's do.
//! - Floats are IEEE, one rounding an operation. In a function that [`contracts`](Function::contracts), [`crate::pass::contract`] makes `fma` of a
//!   product and a sum; after it there is no contraction. `mul.rn` and `add.rn` are a product and a sum that it leaves alone.
//! - `Convert`: integer to integer truncates or extends by the *source's* signedness; float to integer truncates and
//!   saturates at the target's range. NaN of an `F32` gives 0 in 32 bits; of an `F64`, and in 64 bits, it gives `1 << (bits - 1)` (PTX ISA 9.0,
//!   `cvt`). To fewer than 32 bits goes by way of `I32`, saturated once more. Anything to `Bool` is `!= 0`.
//! - `Compare` of floats is ordered, except `Ne`, which is true for NaN. Pointers compare by address.
//! - `Unary::Not` on `Bool` is logical.
//!
//! # Control flow
//! `Loop` runs `body` then `step`, for ever; `Continue` goes to `step`, `Break` leaves. `Break` may also leave an enclosing `Switch` or
//! `Scope`. `step` holds no `Continue` of its own loop. A `Switch` runs the case that matches (else the default, else nothing), and falls
//! into the next case when `falls_through` is set and its body runs to its end.
//! Labels are unique in a function. `Return` leaves the function; the value is present exactly when the function has a result.
//!
//! # Memory
//! Slots start every thread, shared variables every block, as one fixed poison pattern ([`POISON`]). Accesses are aligned to their size; a
//! misaligned, null or out-of-bounds access is a fault. `volatile` accesses are neither merged nor moved; those of shared memory happen in
//! step over a warp: all its lanes load before any stores.
//!
//! All dynamic shared variables of a kernel begin at one address and are as large as the launch says. A [`GlobalData`] that is [`Space::Device`],
//! [`Space::Managed`] or [`Space::Host`] may be written; it keeps its contents from launch to launch, as does what the host wrote to a [`Space::Constant`] one.
//!
//! `Atomic` reads, computes and writes in one step, sequentially consistent over the whole launch. A `Fence` orders all
//! accesses of a thread.
//!
//! # Collectives
//! A `Barrier` is passed when every thread of the block that has not left the kernel is at it; a thread that goes another way is a fault. A
//! [`Collective`] of a warp acts, for each lane that executes it, on the lanes its mask names: each must be at the same statement with the
//! same mask, or have left the kernel; anything else is a fault. All lanes of a warp walk through a divergent construct that holds a
//! collective: through the sides of an `If` one after the other, through a `Loop` until no lane is left.
//!
//! Threads run independently instead where [`crate::pass::independent`] says so: each gets on as far as it can, and lanes meet at the same
//! operation with the same mask, even at different statements.
//!
//! # Calls
//! `Call` passes scalars and pointers by value. Recursion is allowed; the stack is bounded in bytes.
//!
//! # Host code
//! A [`FuncKind::Host`] function runs as one thread, called from the notebook. It and the [`FuncKind::HostHelper`]s it calls may
//! ask the run time for a [`Service`] and `Launch` kernels, and call through pointers (`Dispatch`); nobody else may. A launch is over
//! before the next statement.
//!
//! A service may *raise* an exception. The exception leaves every function up to the nearest `Call` that binds `raised`, which goes on with
//! the next statement. From then on the exception is in flight, until it is caught or goes on ([`Service::BeginCatch`], [`Service::Resume`]).
//! Faults are no exceptions.

pub mod ahead;
pub mod builder;
pub mod collective;
pub mod constants;
pub mod data;
pub mod elem;
pub mod entities;
pub(crate) mod eval;
pub mod host_op;
pub mod kept;
pub mod layout;
pub mod math;
pub mod ops;
pub mod param;
pub mod print;
pub mod printf_format;
pub mod read;
pub mod service;
#[cfg(test)]
pub(crate) mod testing;
pub mod types;
pub mod visit;
mod words;

pub use builder::Builder;
pub use collective::{AtomicOp, Collective, ReduceOp, Shuffle};
pub use data::{FormatData, GlobalData, MAX_SHARED_ALIGN, SharedData, Space};
pub use elem::Elem;
pub use entities::{Format, FuncId, Global, Label, Local, Shared, Slot, Value};
pub use host_op::HostOp;
pub use kept::{Identity, KeptHandle, KnownFunction};
pub use math::MathFn;
pub(crate) use math::math_fns;
pub use ops::{BinaryOp, BitFn, CompareOp, Op, Takes, UnaryOp};
pub use param::{Anchor, Derived, MemberAt, Param, ParamType};
pub use service::Service;
pub use types::{Builtin, Const, Scalar, Stride, Type};

use crate::source::Span;

/// Byte that uninitialised slots, locals and shared memory are filled with (also every output before a check).
pub const POISON: u8 = 0xCB;

/// The address of pointers into a variable whose scope has ended: it is in no memory, and far from all.
pub const ENDED: i64 = 0x7dea_d000_0000_0000;

/// The limit on the nesting of constructs (`If`, `Loop`, `Switch`, `Scope`), since recursion over a body costs stack.
pub const MAX_NESTING: usize = 1000;

/// A sequence of statements, with their spans.
#[derive(Debug, Clone, Default, PartialEq, Hash)]
pub struct Block {
    /// The statements, in order.
    pub stmts: Vec<Stmt>,
    /// The place that each statement came from.
    pub spans: Vec<Span>,
}

impl Block {
    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt, span: Span) {
        self.stmts.push(stmt);
        self.spans.push(span);
    }

    /// Statements with their spans.
    pub fn iter(&self) -> impl Iterator<Item = (&Stmt, Span)> {
        self.stmts.iter().zip(self.spans.iter().copied())
    }

    /// True if it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty()
    }
}

/// One case of a `Switch`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Case {
    /// The values that select it, as the switch value's type extended to 64 bits.
    pub values: Vec<i64>,
    /// True if it is (also) the default.
    pub default: bool,
    /// The block it runs.
    pub body: Block,
    /// True if running to the end of `body` enters the next case.
    pub falls_through: bool,
}

/// The threads that a synchronisation joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `__syncthreads()`.
    Block,
    /// `__syncwarp()`.
    Warp,
}

/// A statement; see the module page for what each means.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Stmt {
    /// Evaluates an op and binds it.
    Let(Value, Op),
    /// Changes a local.
    Set(Local, Value),
    /// Writes memory; the value's type is the type that is written.
    Store {
        /// The address.
        ptr: Value,
        /// The value that is written.
        value: Value,
        /// True if the access is neither merged nor moved.
        volatile: bool,
    },
    /// Runs one of two blocks.
    If {
        /// A `Bool`.
        cond: Value,
        /// The block that runs when `cond` is true.
        then: Block,
        /// The block that runs when `cond` is false.
        els: Block,
    },
    /// Runs `body`, then `step`, for ever.
    Loop {
        /// The label that `Break` and `Continue` name.
        label: Label,
        /// The part `Continue` leaves.
        body: Block,
        /// The part `Continue` enters.
        step: Block,
    },
    /// Runs the case that matches.
    Switch {
        /// The label that `Break` names.
        label: Label,
        /// An integer.
        value: Value,
        /// In text order, at most one default.
        cases: Vec<Case>,
    },
    /// A block that `Break` can leave.
    Scope {
        /// The label that `Break` names.
        label: Label,
        /// The block it runs.
        body: Block,
    },
    /// Leaves the construct.
    Break(Label),
    /// Goes to the loop's `step`.
    Continue(Label),
    /// Leaves the function.
    Return(Option<Value>),
    /// Calls a function of the module.
    Call {
        /// Bound to the result, when there is one and it is used.
        result: Option<Value>,
        /// The function called.
        func: FuncId,
        /// One value per parameter.
        args: Vec<Value>,
        /// In host code: bound to true if an exception came out of the call; the result is then zero. Where no call binds it, the exception
        /// leaves this function as well.
        raised: Option<Value>,
    },
    /// Calls the function whose address is the first parameter, with the other parameters, and returns its result. Faults unless it is a
    /// function whose address was taken with this number: functions of one type have the same number, in all texts of a process.
    Dispatch(u64),
    /// Records a line of output.
    Printf {
        /// Bound to printf's result (`i32`), when used.
        result: Option<Value>,
        /// The format.
        format: Format,
        /// Promoted arguments: `i32 u32 i64 u64 f64` or pointers (`%s`: a pointer into a global; `%p`).
        args: Vec<Value>,
    },
    /// Faults unless `cond` holds.
    Assert {
        /// A `Bool`.
        cond: Value,
        /// The text of the condition, as the user wrote it.
        message: String,
    },
    /// Faults as misaligned unless the address is a multiple of `align`: the check of a vector access on its pointer, before the accesses
    /// to its members.
    Aligned {
        /// The pointer that is checked.
        ptr: Value,
        /// A power of two.
        align: u32,
    },
    /// Faults (`__trap`).
    Trap,
    /// Faults: the end of a function that has a result, reached without `return`. Holds the function's name.
    MissingReturn(String),
    /// Joins the threads of a block or warp.
    Barrier(Scope),
    /// Reads, computes and writes memory in one step.
    Atomic {
        /// Bound to the value that memory held before, when used; of the operand's type.
        result: Option<Value>,
        /// The operation.
        op: AtomicOp,
        /// The address.
        ptr: Value,
        /// The operand: a scalar, not `Bool`.
        value: Value,
        /// For `Cas`, the value that memory must hold; of the operand's type.
        compare: Option<Value>,
    },
    /// Computes something from the values of several threads.
    Collective {
        /// Bound to the thread's result, when used.
        result: Option<Value>,
        /// The operation.
        op: Collective,
        /// The operands.
        args: Vec<Value>,
    },
    /// Orders the accesses before it before those after it (`__threadfence` and its kin).
    Fence,
    /// Asks something of the run time, in host code; may fault.
    Service {
        /// Bound to the result, when there is one and it is used.
        result: Option<Value>,
        /// The service that is asked for.
        service: Service,
        /// One value per parameter.
        args: Vec<Value>,
    },
    /// Launches a kernel and waits for it, in host code; its faults are the host code's.
    Launch {
        /// The kernel.
        kernel: FuncId,
        /// Blocks (x, y, z), threads of a block (x, y, z): `u32` each; bytes of dynamic shared memory: `u64`.
        config: [Value; 7],
        /// One value per parameter.
        args: Vec<Value>,
    },
}

/// The type and the origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// The expression it came from.
    pub span: Span,
}

/// The name and the type of a local.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct LocalData {
    /// The user's name, or empty.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// The name, size and alignment of a slot.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct SlotData {
    /// The user's name, or empty.
    pub name: String,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two up to 16.
    pub align: u32,
    /// The scalar its elements are, when all are the same (for printing and widening).
    pub elem: Option<Scalar>,
}

/// The kind of a function: the side it runs on, and the callers it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FuncKind {
    /// `__global__`: launched.
    Kernel,
    /// `__device__` (or `__host__ __device__`): called by kernels.
    Device,
    /// A host function of scalars: called from the notebook, runs as one thread.
    Host,
    /// A host function that only host functions call.
    HostHelper,
}

impl FuncKind {
    /// True if it is the host's.
    pub fn is_host(self) -> bool {
        matches!(self, FuncKind::Host | FuncKind::HostHelper)
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The user's name.
    pub name: String,
    /// True if its text is one of [`crate::library`], not the user's: faults in it are reported at its call.
    pub library: bool,
    /// Kernel, device or host.
    pub kind: FuncKind,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// The result, if not void.
    pub ret: Option<Type>,
    /// Every value, indexed by [`Value`].
    pub values: Vec<ValueData>,
    /// Every local, indexed by [`Local`].
    pub locals: Vec<LocalData>,
    /// Every slot, indexed by [`Slot`].
    pub slots: Vec<SlotData>,
    /// The number of labels that have been handed out.
    pub labels: u32,
    /// The body.
    pub body: Block,
    /// The declaration.
    pub span: Span,
    /// `__launch_bounds__`'s first argument: the most threads a block may have.
    pub max_threads: Option<u32>,
    /// True if a product and the sum that it goes into may become one `fma` (`-fmad=true`).
    pub contracts: bool,
    /// For a function of the library that is the same in every text: its identity.
    pub identity: Option<Identity>,
    /// The code it was made into before. Its body is then left out.
    pub kept: Option<KeptHandle>,
}

impl Function {
    /// An empty function.
    pub fn new(name: impl Into<String>, kind: FuncKind, span: Span) -> Self {
        Function {
            name: name.into(),
            kind,
            library: false,
            params: Vec::new(),
            ret: None,
            values: Vec::new(),
            locals: Vec::new(),
            slots: Vec::new(),
            labels: 0,
            body: Block::default(),
            span,
            max_threads: None,
            contracts: false,
            identity: None,
            kept: None,
        }
    }

    /// A new value of type `ty`.
    pub fn new_value(&mut self, ty: Type, span: Span) -> Value {
        self.values.push(ValueData { ty, span });
        Value::new(self.values.len() - 1)
    }

    /// A new local of type `ty`.
    pub fn new_local(&mut self, name: impl Into<String>, ty: Type) -> Local {
        self.locals.push(LocalData { name: name.into(), ty });
        Local::new(self.locals.len() - 1)
    }

    /// A new slot.
    pub fn new_slot(&mut self, data: SlotData) -> Slot {
        self.slots.push(data);
        Slot::new(self.slots.len() - 1)
    }

    /// A new label.
    pub fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label::new(self.labels as usize - 1)
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v.index()].ty
    }
}

/// Everything one source text became.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// Functions, callees and kernels alike, indexed by [`FuncId`].
    pub functions: Vec<Function>,
    /// Data, indexed by [`Global`].
    pub globals: Vec<GlobalData>,
    /// Shared variables, indexed by [`Shared`].
    pub shared: Vec<SharedData>,
    /// printf formats, indexed by [`Format`].
    pub formats: Vec<FormatData>,
    /// Names of kernels' templates, of which a launch may ask for an instance.
    pub templates: Vec<String>,
    /// The kernels that calls from outside asked for, in the order of the calls; there is none for a call that no template takes.
    pub deduced: Vec<FuncId>,
    /// Functions whose address is taken as a number, [`FuncId::address`], by code that host code may call them from, each with the number
    /// of its type.
    pub addressed: Vec<(FuncId, u64)>,
    /// The declarations of the text that are not in the module.
    pub left_out: Vec<LeftOut>,
}

/// A declaration of the text that was left out, as no kernel needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// The error in it, in one sentence, and the remedy.
    pub why: String,
    /// The place of the error.
    pub span: Span,
}

impl Module {
    /// The function of a handle.
    pub fn func(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The function of a name.
    pub fn find(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|f| f.name == name).map(FuncId::new)
    }

    /// The text of a function and of those that it calls, in the module's order.
    pub fn text_of(&self, id: FuncId) -> String {
        print::with_callees(self, id)
    }

    /// The kernels, in text order.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.functions.iter().enumerate().filter(|(_, f)| f.kind == FuncKind::Kernel).map(|(i, f)| (FuncId::new(i), f))
    }
}

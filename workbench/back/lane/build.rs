//! Kernels made in steps: expressions by operators and typed operations, statements one after another, variables by names in blocks.
//!
//! A name is whatever the maker of a kernel knows a variable by. A block may hide a name of a block around it.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shr, Sub};
use std::rc::Rc;

use super::memory::{Access, Element, MemoryOp, Space};
use super::table::{Atomic, FaultOp, LaneOp, NumberOp, Op};
use super::tree::{
    Binary, Expr, Host, If, Kernel, Label, Loop, Macro, MacroId, Role, Stmt, Table, Unary, Var, VarData,
};
use super::types::Ty;
use super::write_c;

/// Types by short names.
#[expect(missing_docs, reason = "their names say what they are")]
pub mod ty {
    use super::Ty;

    pub const I8: Ty = Ty::int(8, true);
    pub const U32: Ty = Ty::int(32, false);
    pub const I32: Ty = Ty::int(32, true);
    pub const U64: Ty = Ty::int(64, false);
    pub const I64: Ty = Ty::int(64, true);
    /// An integer of 128 bits.
    pub const WIDE: Ty = Ty::int(128, true);
    /// An integer of 128 bits without a sign.
    pub const UNSIGNED_WIDE: Ty = Ty::int(128, false);
}

/// The address of such a thing.
pub fn pointer(of: Ty) -> Ty {
    Ty::Ptr(Rc::new(of))
}

/// An `int`, or of 64 bits where it is larger than that.
pub fn int(n: i64) -> Expr {
    let size = n.unsigned_abs();
    let bits = if size >> 31 == 0 { 32 } else { 64 };
    signed(n, Expr::Int(size, bits, size >> 63 != 0))
}

/// A signed integer of 64 bits.
pub fn long(n: i64) -> Expr {
    signed(n, Expr::Int(n.unsigned_abs(), 64, false))
}

fn signed(n: i64, size: Expr) -> Expr {
    if n < 0 { -size } else { size }
}

/// An unsigned integer of 32 bits.
pub const fn uint(n: u32) -> Expr {
    Expr::Int(n as u64, 32, true)
}

/// An unsigned integer of 64 bits.
pub const fn ulong(n: u64) -> Expr {
    Expr::Int(n, 64, true)
}

impl From<Var> for Expr {
    fn from(var: Var) -> Expr {
        Expr::Var(var)
    }
}

impl LaneOp {
    /// The operation of these operands.
    pub fn on<const N: usize>(self, args: [Expr; N]) -> Expr {
        Expr::Op(Op::Lanes(self), Box::new(args))
    }

    /// The operation of as many operands as there are.
    pub fn of(self, args: Vec<Expr>) -> Expr {
        Expr::Op(Op::Lanes(self), args.into())
    }
}

impl NumberOp {
    /// The operation of these operands.
    pub fn on<const N: usize>(self, args: [Expr; N]) -> Expr {
        Expr::Op(Op::Number(self), Box::new(args))
    }

    /// The operation of as many operands as there are.
    pub fn of(self, args: Vec<Expr>) -> Expr {
        Expr::Op(Op::Number(self), args.into())
    }
}

impl FaultOp {
    /// The operation of these operands.
    pub fn on<const N: usize>(self, args: [Expr; N]) -> Expr {
        Expr::Op(Op::Fault(self), Box::new(args))
    }
}

impl Atomic {
    /// The atomic of these operands.
    pub fn on(self, args: Vec<Expr>) -> Expr {
        Expr::Op(Op::Atomic(self), args.into())
    }
}

macro_rules! operators {
    ($($Trait:ident $method:ident $Op:ident;)*) => {$(
        impl $Trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                self.with(Binary::$Op, other)
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Rem;
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
    Shr shr Shr;
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::Unary(Unary::Neg, Box::new(self))
    }
}

/// The truth value that is the other one.
impl Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        Expr::Unary(Unary::Not, Box::new(self))
    }
}

impl Expr {
    /// An operator's result.
    pub fn with(self, op: Binary, other: Expr) -> Expr {
        Expr::Binary(op, Box::new(self), Box::new(other))
    }

    /// The bits inverted.
    pub fn inverted(self) -> Expr {
        Expr::Unary(Unary::Invert, Box::new(self))
    }

    /// The value as a type.
    pub fn cast(self, ty: Ty) -> Expr {
        Expr::Cast(ty, Box::new(self))
    }

    /// `self < other`.
    pub fn lt(self, other: Expr) -> Expr {
        self.with(Binary::Lt, other)
    }

    /// `self <= other`.
    pub fn le(self, other: Expr) -> Expr {
        self.with(Binary::Le, other)
    }

    /// `self > other`.
    pub fn gt(self, other: Expr) -> Expr {
        self.with(Binary::Gt, other)
    }

    /// `self >= other`.
    pub fn ge(self, other: Expr) -> Expr {
        self.with(Binary::Ge, other)
    }

    /// `self == other`.
    pub fn equals(self, other: Expr) -> Expr {
        self.with(Binary::Eq, other)
    }

    /// `self != other`.
    pub fn differs(self, other: Expr) -> Expr {
        self.with(Binary::Ne, other)
    }

    /// `self && other`.
    pub fn both(self, other: Expr) -> Expr {
        self.with(Binary::Both, other)
    }

    /// `self || other`.
    pub fn either(self, other: Expr) -> Expr {
        self.with(Binary::Either, other)
    }

    /// `self ? a : b`.
    pub fn choose(self, a: Expr, b: Expr) -> Expr {
        Expr::Choose(Box::new([self, a, b]))
    }

    /// The element at an index from an address.
    pub fn index(self, index: Expr) -> Expr {
        Expr::Index(Box::new(self), Box::new(index))
    }

    /// `self = value`, as an expression.
    pub fn assigned(self, value: Expr) -> Expr {
        Expr::Assign(None, Box::new(self), Box::new(value))
    }

    /// `self op= value`, as an expression.
    pub fn changed(self, op: Binary, value: Expr) -> Expr {
        Expr::Assign(Some(op), Box::new(self), Box::new(value))
    }

    /// The condition, which mostly holds.
    pub fn likely(self) -> Expr {
        NumberOp::Likely.on([self])
    }

    /// The condition, which mostly does not hold.
    pub fn unlikely(self) -> Expr {
        NumberOp::Unlikely.on([self])
    }

    /// The statement that computes it for what it does.
    pub fn stmt(self) -> Stmt {
        Stmt::Do(self)
    }
}

/// Expressions joined by an operator, from the left; none of none.
pub fn joined(op: Binary, parts: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    parts.into_iter().reduce(|all, part| all.with(op, part))
}

/// Conditions that hold all; true of none.
pub fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
    joined(Binary::Both, parts).unwrap_or(int(1))
}

/// A call of a function of this process.
pub fn host(gives: Ty, params: &[Ty], address: usize, args: Vec<Expr>) -> Expr {
    Expr::Host(Box::new(Host { gives, params: params.into(), address: ulong(address as u64), args }))
}

/// A function of this process as a value.
pub fn function(gives: Ty, params: &[Ty], address: usize) -> Expr {
    ulong(address as u64).cast(Ty::Fn(Rc::new(gives), params.into()))
}

/// `place = value;`.
pub fn set(place: Expr, value: Expr) -> Stmt {
    place.assigned(value).stmt()
}

/// `place op= value;`.
pub fn change(place: Expr, op: Binary, value: Expr) -> Stmt {
    place.changed(op, value).stmt()
}

/// `if (cond) then`.
pub fn when(cond: Expr, then: Stmt) -> Stmt {
    Stmt::If(Box::new(If { cond, then, els: None }))
}

/// `if (cond) then else els`.
pub fn choice(cond: Expr, then: Stmt, els: Stmt) -> Stmt {
    Stmt::If(Box::new(If { cond, then, els: Some(els) }))
}

/// `for (;;) body`.
pub fn forever(body: Vec<Stmt>) -> Stmt {
    Stmt::Loop(Box::new(Loop { first: None, cond: None, step: None, body: Stmt::Block(body) }))
}

/// `for (var = first; var < end; var += step) body`.
pub fn counting(var: Var, first: Expr, end: Expr, step: u32, body: Stmt) -> Stmt {
    let (counter, first) = (Expr::Var(var), Some(Stmt::Let(var, first)));
    let cond = Some(counter.clone().lt(end));
    let step = Some(counter.changed(Binary::Add, int(i64::from(step))));
    Stmt::Loop(Box::new(Loop { first, cond, step, body }))
}

/// A variable that is nothing but its type.
pub fn variable(name: impl Into<String>, ty: Ty, constant: bool) -> VarData {
    VarData { name: name.into(), ty, space: Space::Unknown, role: Role::Plain, constant }
}

/// A kernel in the making.
pub struct KernelBuilder<N> {
    kernel: Kernel,
    /// The blocks that are open, innermost last.
    open: Vec<Vec<Stmt>>,
    names: HashMap<N, Var>,
    /// Names that each open block has given, and what they were before.
    hidden: Vec<Vec<(N, Option<Var>)>>,
    /// Characters of C so far.
    length: usize,
}

impl<N: Copy + Eq + Hash> Default for KernelBuilder<N> {
    fn default() -> Self {
        KernelBuilder {
            kernel: Kernel::default(),
            open: vec![Vec::new()],
            names: HashMap::new(),
            hidden: vec![Vec::new()],
            length: 0,
        }
    }
}

impl<N: Copy + Eq + Hash> KernelBuilder<N> {
    /// The kernel so far, without its body.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel so far, without its body, to be added to.
    pub fn kernel_mut(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// Characters of C that the body has so far.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Forgets how long the body is.
    pub fn restart_length(&mut self) {
        self.length = 0;
    }

    /// Characters of an expression as C.
    pub fn length_of(&self, expr: &Expr) -> usize {
        write_c::length(&self.kernel, expr)
    }

    /// An expression as C.
    pub fn text_of(&self, expr: &Expr) -> String {
        write_c::expression(&self.kernel, expr)
    }

    /// Makes a variable, which has to be declared.
    pub fn var(&mut self, data: VarData) -> Var {
        self.kernel.vars.push(data);
        Var(self.kernel.vars.len() as u32 - 1)
    }

    /// Gives a variable a name in the current block.
    pub fn name(&mut self, name: N, var: Var) {
        let before = self.names.insert(name, var);
        if let Some(hidden) = self.hidden.last_mut() {
            hidden.push((name, before));
        }
    }

    /// The variable of a name.
    pub fn find(&self, name: N) -> Option<Var> {
        self.names.get(&name).copied()
    }

    /// Makes a label.
    pub fn label(&mut self, name: String) -> Label {
        self.kernel.labels.push(name);
        Label(self.kernel.labels.len() as u32 - 1)
    }

    /// Makes a macro, which is to be defined.
    pub fn declare_macro(&mut self, name: &str) -> MacroId {
        self.kernel.macros.push(Macro { name: name.to_owned(), body: Vec::new() });
        MacroId(self.kernel.macros.len() as u32 - 1)
    }

    /// Makes a constant array of words.
    pub fn table(&mut self, var: Var, words: Vec<u32>) {
        self.kernel.vars[var.index()].ty = Ty::Array(Rc::new(ty::U32), words.len() as u32);
        self.kernel.tables.push(Table { var, words: words.into() });
    }

    /// Opens a block.
    pub fn begin(&mut self) {
        self.open.push(Vec::new());
        self.hidden.push(Vec::new());
    }

    /// Closes the innermost block: its statements.
    pub fn end(&mut self) -> Vec<Stmt> {
        for (name, before) in self.hidden.pop().into_iter().flatten().rev() {
            match before {
                Some(var) => self.names.insert(name, var),
                None => self.names.remove(&name),
            };
        }
        self.open.pop().unwrap_or_default()
    }

    /// Adds a statement.
    pub fn push(&mut self, stmt: Stmt) {
        self.length += write_c::length_of_statement(&self.kernel, &stmt);
        self.push_around(stmt, 0);
    }

    /// Adds a statement of which the parts have been added to blocks that are closed, so that all of its text but some is counted.
    pub fn push_around(&mut self, stmt: Stmt, more: usize) {
        self.length += more;
        if let Some(all) = self.open.last_mut() {
            all.push(stmt);
        }
    }

    /// An access of memory, in the space that its address tells.
    pub fn access(&self, access: Access, of: Element, args: Vec<Expr>) -> Expr {
        self.memory(access, of, false, args)
    }

    /// A store of neighbours past the cache.
    pub fn store_past_cache(&self, of: Element, place: Expr, lanes: Expr) -> Expr {
        self.memory(Access::Store, of, true, vec![place, lanes])
    }

    fn memory(&self, access: Access, of: Element, past_cache: bool, args: Vec<Expr>) -> Expr {
        let space = args.get(access.place()).map(|at| self.kernel.space(at)).unwrap_or_default();
        Expr::Op(Op::Memory(MemoryOp { access, of, space, past_cache }), args.into())
    }

    /// The number of a type at an address.
    pub fn at(&self, ty: Ty, address: Expr) -> Expr {
        let address = address.cast(pointer(ty));
        Expr::At(self.kernel.space(&address), Box::new(address))
    }

    /// The whole kernel.
    pub fn finish(mut self) -> Kernel {
        self.kernel.body = self.open.pop().unwrap_or_default();
        self.kernel
    }
}

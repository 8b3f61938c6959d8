//! The typed expression: every name resolved, every conversion written out, constants folded.
//!
//! It lives between the check of one statement's expressions and their emission. An expression is constant exactly
//! when it is a [`Node::Const`], since building folds.

use crate::front::lower::constants::folding;
use std::rc::Rc;

use crate::front::builtins::Sig;
use crate::front::types::{Bits, Kind, Num, Ty};
use crate::ir::{self, BinaryOp, CompareOp, Const, MathFn, UnaryOp};
use crate::source::Span;
use crate::steps::step;

/// A variable of the text: an index into the lowerer's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VarId(pub u32);

/// A function of the text: an index into the lowerer's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FuncIndex(pub u32);

/// A template of the text: an index into the lowerer's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TemplateIndex(pub u32);

/// A typed expression.
#[derive(Debug)]
pub struct Typed {
    /// Type; never a reference.
    pub ty: Ty,
    /// Place of the expression in the text.
    pub span: Span,
    /// The expression names a place in memory (or a register that stands for one).
    pub lvalue: bool,
    /// A place whose value may be taken over: what `std::move` gives.
    pub xvalue: bool,
    /// The literal `0` or `nullptr`: converts to any pointer.
    pub null: bool,
    /// Node of the tree.
    pub node: Node,
}

/// Node of a typed expression.
#[derive(Debug, Clone)]
pub enum Node {
    /// Already reported.
    Error,
    /// A number, truth value or null.
    Const(Const),
    /// A string literal: an lvalue array of `const char`.
    Str(Rc<str>),
    /// A variable.
    Var(VarId),
    /// A component of `threadIdx` and the like.
    Builtin(ir::Builtin),
    /// The value in a place.
    Load(Box<Typed>),
    /// The pointer to an array's first element.
    Decay(Box<Typed>),
    /// The value as this expression's type.
    Convert(Box<Typed>),
    /// Unary operation on the promoted operand.
    Unary(UnaryOp, Box<Typed>),
    /// Binary operation on operands of one type, shift amounts apart.
    Binary(BinaryOp, Box<Typed>, Box<Typed>),
    /// Comparison of operands of one type.
    Compare(CompareOp, Box<Typed>, Box<Typed>),
    /// `&&` when set, else `||`; operands are `bool`.
    Logical(bool, Box<Typed>, Box<Typed>),
    /// `a ? b : c`, both of this type.
    Conditional(Box<[Typed; 3]>),
    /// The first for its effects, then the second.
    Comma(Box<Typed>, Box<Typed>),
    /// A pointer moved by a `long`, backwards when set.
    PtrAdd(Box<Typed>, Box<Typed>, bool),
    /// The distance of two pointers in elements.
    PtrDiff(Box<Typed>, Box<Typed>),
    /// The place a pointer points at.
    Deref(Box<Typed>),
    /// The address of a place.
    AddrOf(Box<Typed>),
    /// A place that holds a value for as long as the function runs, so that a reference can bind to it.
    Temporary(Box<Typed>),
    /// The object a method runs on: a pointer.
    This,
    /// The part of a struct's place that begins so many bytes into it.
    Member(Box<Typed>, u32),
    /// A bit-field, which begins in a byte that is such a part.
    BitField(Box<Typed>, Bits),
    /// A member among the values of a struct that goes into some bits of the byte at its offset and those after it.
    Bits(Box<Typed>, Bits),
    /// A pointer moved by so many bytes, to or from a base of what it points at; null stays null.
    Adjust(Box<Typed>, i64),
    /// A struct or array made from values at offsets in bytes; everything else in it is zero.
    Init(Rc<[(u32, Typed)]>),
    /// A struct made by a constructor from arguments; the members are zeroed first when set.
    Construct(FuncIndex, Vec<Typed>, bool),
    /// A braced list that has not met its type yet: an index into the lowerer's table.
    Braced(u32),
    /// A function, or the address of one.
    Function(FuncIndex),
    /// Several functions of one name, among which the type wanted decides: an index into the lowerer's table.
    Overloads(u32),
    /// Copies (moves) or fills so many bytes: `memcpy(to, from, n)`, `memset(to, byte, n)`; the result is the first.
    Memory {
        /// Function on the bytes.
        op: MemoryOp,
        /// The target, the source or the byte, the count.
        args: Box<[Typed; 3]>,
    },
    /// Writes a value, already of the place's type; the place is the result.
    Assign(Box<Typed>, Box<Typed>),
    /// Reads, computes in a common type, converts back, writes; the place is the result.
    Compound(Box<CompoundAssign>),
    /// `++` and `--`.
    Step {
        /// Place that changes.
        place: Box<Typed>,
        /// `--`.
        down: bool,
        /// The result is the new value's place.
        prefix: bool,
    },
    /// A call of a function of the text; reference parameters take addresses.
    Call(FuncIndex, Vec<Typed>),
    /// A call of a builtin, by its chosen signature.
    Intrinsic(&'static Sig, Vec<Typed>),
    /// A math function.
    Math(MathFn, Vec<Typed>),
    /// `printf`, its arguments promoted.
    Printf(ir::Format, Vec<Typed>),
    /// `assert`, with its text.
    Assert(Box<Typed>, String),
    /// `__trap()`
    Trap,
    /// Service that the library asks of the run time.
    Service(ir::Service, Vec<Typed>),
    /// Begins the life of an object where a pointer points, from a value; ends it, without one.
    Life(Box<(Typed, Option<Typed>)>),
    /// `kernel<<<...>>>(...)`
    Launch(Box<LaunchExpr>),
}

/// Function on a run of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOp {
    /// `memcpy`
    Copy,
    /// `memmove`
    Move,
    /// `memset`
    Fill,
}

/// Kernel that is launched.
#[derive(Debug, Clone)]
pub enum Launched {
    /// A kernel by its name.
    Kernel(FuncIndex),
    /// A pointer to a kernel, and what launches the kernels of its type (`Lowerer::launcher`).
    Pointer(Typed, FuncIndex),
}

/// A launch, checked.
#[derive(Debug, Clone)]
pub struct LaunchExpr {
    /// The kernel.
    pub kernel: Launched,
    /// Grid and block, of type `dim3`.
    pub extents: [Typed; 2],
    /// Bytes of dynamic shared memory.
    pub shared: Option<Typed>,
    /// The stream: evaluated, and all streams are one.
    pub stream: Option<Typed>,
    /// The kernel's arguments, as its parameters want them.
    pub args: Vec<Typed>,
}

/// `place op= value`
#[derive(Debug, Clone)]
pub struct CompoundAssign {
    /// Place that changes.
    pub place: Typed,
    /// The right side, of the common type (shifts: promoted; pointers: `long`).
    pub value: Typed,
    /// The operation.
    pub op: BinaryOp,
    /// The type it is done in; a pointer's own for pointers.
    pub common: Ty,
}

// A copy of a tree is as much work as the tree is large, so it counts.
impl Clone for Typed {
    fn clone(&self) -> Self {
        step();
        Typed { ty: self.ty.clone(), node: self.node.clone(), ..*self }
    }
}

impl Typed {
    /// A value (not a place) of a type.
    pub fn value(ty: impl Into<Ty>, span: Span, node: Node) -> Self {
        Typed { ty: ty.into(), span, lvalue: false, xvalue: false, null: false, node }
    }

    /// A place of a type.
    pub fn place(ty: Ty, span: Span, node: Node) -> Self {
        Typed { ty, span, lvalue: true, xvalue: false, null: false, node }
    }

    /// Something already reported.
    pub fn error(span: Span) -> Self {
        Typed::value(Ty::error(), span, Node::Error)
    }

    /// A constant of an arithmetic type, brought into that type's range.
    pub fn int(num: Num, value: i64, span: Span) -> Self {
        let c = folding::convert(Const::Int(ir::Scalar::I64, value), num.scalar());
        Typed::value(num, span, Node::Const(c))
    }

    /// A `bool` constant.
    pub fn truth(value: bool, span: Span) -> Self {
        Typed::value(Num::Bool, span, Node::Const(Const::Bool(value)))
    }

    /// It was already reported.
    pub fn is_error(&self) -> bool {
        self.ty.is_error()
    }

    /// The constant it is.
    pub fn constant(&self) -> Option<Const> {
        match self.node {
            Node::Const(c) => Some(c),
            _ => None,
        }
    }

    /// The integer (or truth value) it is.
    pub fn integer(&self) -> Option<i64> {
        match self.constant()? {
            Const::Int(_, v) => Some(v),
            Const::Bool(b) => Some(i64::from(b)),
            _ => None,
        }
    }

    /// It does nothing but compute a value, so that throwing that away is probably a mistake.
    pub fn is_idle(&self) -> bool {
        match &self.node {
            Node::Binary(..) | Node::Compare(..) | Node::Unary(..) | Node::PtrAdd(..) | Node::PtrDiff(..) => true,
            Node::Var(_) | Node::Const(_) | Node::Builtin(_) => true,
            Node::Deref(a) => a.is_idle(),
            Node::This | Node::Function(_) | Node::Overloads(_) => true,
            Node::Member(a, _) | Node::BitField(a, _) => a.is_idle(),
            Node::Load(a) | Node::Convert(a) if !matches!(self.ty.kind, Kind::Void) => a.is_idle(),
            _ => false,
        }
    }
}

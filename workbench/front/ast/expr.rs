//! Expressions.

use std::sync::Arc;

use super::{Compound, Ident, Init, Name, ParamDecl, Specifiers, TemplateHead, TypeName};
use crate::source::Span;

/// An expression with its place.
#[derive(Debug, Clone)]
pub struct Expr {
    /// Sort of expression, with its parts.
    pub kind: ExprKind,
    /// Place of the expression.
    pub span: Span,
}

/// The type a numeric literal has by its spelling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// An integer, its value and its type by C++'s table (`int`, `unsigned`, `long`, `unsigned long`, `long long`, `unsigned long long`).
    Int(u64, IntSuffix),
    /// `1.0f`: parsed straight to binary32.
    Float(f32),
    /// `1.0`.
    Double(f64),
    /// `'a'`: type `char`.
    Char(i8),
    /// `true`, `false`.
    Bool(bool),
    /// `nullptr`.
    Nullptr,
}

/// The type of an integer literal, already resolved from suffix, base and value ([lex.icon]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntSuffix {
    /// `int`.
    Int,
    /// `unsigned`.
    UInt,
    /// `long`.
    Long,
    /// `unsigned long`.
    ULong,
    /// `long long`.
    LongLong,
    /// `unsigned long long`.
    ULongLong,
}

/// Prefix and postfix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+a`
    Plus,
    /// `-a`
    Minus,
    /// `!a`
    Not,
    /// `~a`
    BitNot,
    /// `*a`
    Deref,
    /// `&a`
    AddrOf,
    /// `++a`
    PreInc,
    /// `--a`
    PreDec,
    /// `a++`
    PostInc,
    /// `a--`
    PostDec,
}

/// Infix operators, assignments apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `,`
    Comma,
}

/// Ways to write a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastKind {
    /// `(T)e`
    C,
    /// `T(e)`; written as [`ExprKind::Construct`], but the same conversion.
    Functional,
    /// `static_cast<T>(e)`
    Static,
    /// `reinterpret_cast<T>(e)`
    Reinterpret,
    /// `const_cast<T>(e)`
    Const,
}

/// Sorts of expressions.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A number, character, truth value or `nullptr`.
    Literal(Literal),
    /// Adjacent string literals joined, escapes resolved.
    Str(String),
    /// A name.
    Name(Name),
    /// `this`
    This,
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator; the span of the operator sign is kept for messages.
    Binary(BinaryOp, Box<Expr>, Box<Expr>, Span),
    /// `a = b`, and `a op= b` when the operator is present.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(args)`; also `T(args)` where nothing tells that `T` is a type.
    Call(Box<Expr>, Vec<Expr>),
    /// `kernel<<<grid, block, bytes, stream>>>(args)`
    Launch {
        /// The kernel.
        callee: Box<Expr>,
        /// Between the angle brackets: two to four.
        config: Vec<Expr>,
        /// The kernel's arguments.
        args: Vec<Expr>,
    },
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`, `a->b` when `arrow`; `a.B::x`, `a.template f<int>`.
    Member {
        /// The object.
        object: Box<Expr>,
        /// The member.
        member: Name,
        /// `->`.
        arrow: bool,
    },
    /// A cast that is no [`ExprKind::Construct`].
    Cast {
        /// Way the cast is written.
        kind: CastKind,
        /// The type that it converts to.
        ty: Box<TypeName>,
        /// Operand.
        operand: Box<Expr>,
    },
    /// `T(args)`, with any number of arguments.
    Construct {
        /// Type that it is of.
        ty: Box<TypeName>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `T{...}`, or `{...}` where an expression stands: as an argument, a result, the right side of `=`.
    Braced {
        /// The type before it.
        ty: Option<Box<TypeName>>,
        /// The entries.
        entries: Vec<Init>,
    },
    /// `[...](...) { ... }`
    Lambda(Arc<Lambda>),
    /// `sizeof(T)`
    SizeofType(Box<TypeName>),
    /// `sizeof expr`
    SizeofExpr(Box<Expr>),
    /// `sizeof...(pack)`
    SizeofPack(Ident),
    /// `alignof(T)`
    AlignofType(Box<TypeName>),
    /// `noexcept(e)`
    Noexcept(Box<Expr>),
    /// `e...` among arguments or in a braced list.
    PackExpansion(Box<Expr>),
    /// `(... + pack)`, `(pack + ...)`, `(init + ... + pack)`, `(pack + ... + init)`
    Fold {
        /// The operator.
        op: FoldOp,
        /// Before `... op`, or before `op ...`.
        left: Option<Box<Expr>>,
        /// After `... op`.
        right: Option<Box<Expr>>,
    },
    /// `( e )`: kept, for messages and for printing assertions.
    Paren(Box<Expr>),
    /// Something already reported; later stages stay silent about it.
    Error,
}

/// The operator of a fold expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldOp {
    /// An infix operator.
    Binary(BinaryOp),
    /// `=`, `+=` and the like.
    Assign(Option<BinaryOp>),
}

/// A lambda expression.
#[derive(Debug, Clone)]
pub struct Lambda {
    /// `[=]` or `[&]`.
    pub default_capture: Option<CaptureMode>,
    /// The captures named one by one.
    pub captures: Vec<Capture>,
    /// `[]<typename T>(...)`.
    pub template: Option<TemplateHead>,
    /// Parameters in order.
    pub params: Vec<ParamDecl>,
    /// `__device__`, `__host__`, `constexpr`.
    pub specs: Specifiers,
    /// `mutable`.
    pub is_mutable: bool,
    /// After `->`.
    pub ret: Option<TypeName>,
    /// The body.
    pub body: Compound,
    /// The span from the bracket to the closing brace.
    pub span: Span,
}

/// Ways a lambda holds a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureMode {
    /// `=`
    Copy,
    /// `&`
    Reference,
}

/// One capture.
#[derive(Debug, Clone)]
pub struct Capture {
    /// Sort of capture.
    pub kind: CaptureKind,
    /// `args...`
    pub pack: bool,
    /// Place of the capture.
    pub span: Span,
}

/// Sorts of captures.
#[derive(Debug, Clone)]
pub enum CaptureKind {
    /// `x`, `&x`
    Variable(CaptureMode, Ident),
    /// `x = e`, `&x = e`
    Init(CaptureMode, Ident, Init),
    /// `this`; `*this` when by copy.
    This(CaptureMode),
}

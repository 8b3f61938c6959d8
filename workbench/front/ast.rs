//! The syntax tree: what the parser hands to `lower`. It holds what was written, resolved in nothing.
//!
//! Names are [`Symbol`]s of the session's [`Interner`]. Boxes, not arenas: trees are short-lived and small. Templates, structs
//! and host statements join as further variants.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::source::Span;

/// An interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// Names to handles and back, for one compilation.
#[derive(Debug, Default)]
pub struct Interner {
    map: HashMap<Rc<str>, Symbol>,
    names: Vec<Rc<str>>,
}

impl Interner {
    /// The handle of a name.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&s) = self.map.get(name) {
            return s;
        }
        let rc: Rc<str> = name.into();
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(rc.clone());
        self.map.insert(rc, symbol);
        symbol
    }

    /// The name of a handle.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0 as usize]
    }
}

/// A name where it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Where.
    pub span: Span,
}

/// A whole text.
#[derive(Debug, Clone, Default)]
pub struct TranslationUnit {
    /// Top-level declarations, in order.
    pub items: Vec<Item>,
    /// Names whose declaration has been reported and left out (templates, structs, statements that do not parse). Later
    /// stages stay silent about their uses.
    pub skipped: HashSet<Symbol>,
}

/// A top-level declaration.
#[derive(Debug, Clone)]
pub enum Item {
    /// A function, defined or only declared.
    Function(FunctionDecl),
    /// Variables at namespace scope: `const float k = 2;`, `__constant__ int t[4];`.
    Variables(Declaration),
    /// `typedef` or `using X = ...`.
    Alias(Alias),
    /// `enum`.
    Enum(EnumDecl),
    /// `static_assert(cond, "text")`.
    StaticAssert(StaticAssert),
}

/// CUDA and C++ specifiers of a declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Specifiers {
    /// `__global__`.
    pub global: bool,
    /// `__device__`.
    pub device: bool,
    /// `__host__`.
    pub host: bool,
    /// `__shared__`.
    pub shared: bool,
    /// `__constant__`.
    pub constant: bool,
    /// `static`.
    pub is_static: bool,
    /// `extern` (also `extern "C"`).
    pub is_extern: bool,
    /// `inline`, `__inline__`, `__forceinline__`.
    pub inline: bool,
    /// `__noinline__`.
    pub noinline: bool,
    /// `constexpr`.
    pub constexpr: bool,
    /// `volatile` where it stands with the specifiers is in [`TypeName::is_volatile`].
    pub is_typedef: bool,
}

/// A function.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// Specifiers.
    pub specs: Specifiers,
    /// The result type, pointers included.
    pub ret: TypeName,
    /// The name.
    pub name: Ident,
    /// Parameters in order.
    pub params: Vec<ParamDecl>,
    /// The arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expr>,
    /// The body; `None` for a declaration.
    pub body: Option<Compound>,
    /// From the first specifier to the closing parenthesis.
    pub span: Span,
}

/// A parameter.
#[derive(Debug, Clone)]
pub struct ParamDecl {
    /// Its type; an array declarator has been turned into a pointer to its element type (`int a[][3]` to `int (*)[3]`).
    pub ty: TypeName,
    /// Its name, if any.
    pub name: Option<Ident>,
    /// The default argument.
    pub default: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// The named part of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum BaseType {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// `char`: signed, as on x86-64 and in CUDA.
    Char,
    /// `signed char`.
    SChar,
    /// `unsigned char`.
    UChar,
    /// `short`.
    Short,
    /// `unsigned short`.
    UShort,
    /// `int`.
    Int,
    /// `unsigned`.
    UInt,
    /// `long` (64 bits).
    Long,
    /// `unsigned long`.
    ULong,
    /// `long long`.
    LongLong,
    /// `unsigned long long`.
    ULongLong,
    /// `float`.
    Float,
    /// `double` (and `long double` in host code is refused by the parser).
    Double,
    /// `auto`.
    Auto,
    /// Any other name: a typedef, `size_t`, `uint8_t`, `float4`, an enum. `std::size_t` is `size_t`; other qualified names
    /// and template arguments are kept in one spelling (`torch::Tensor`, `std::vector<int>`).
    Named(Symbol),
}

/// One step outward from the base type.
#[derive(Debug, Clone)]
pub enum TypeLayer {
    /// `*`, with what stands after it.
    Pointer {
        /// `* const`.
        is_const: bool,
        /// `* volatile`.
        is_volatile: bool,
        /// `* __restrict__`.
        restrict: bool,
    },
    /// `&` (or `&&` with `rvalue`).
    Reference {
        /// `&&`.
        rvalue: bool,
    },
    /// `[n]`; `[]` has no size.
    Array(Option<Box<Expr>>),
}

/// A type as written. `layers` run from the base outward: `int *a[3]` is `[Pointer, Array(3)]` and reads "array of 3 of pointer to int".
#[derive(Debug, Clone)]
pub struct TypeName {
    /// The named part.
    pub base: BaseType,
    /// `const` on the base.
    pub is_const: bool,
    /// `volatile` on the base.
    pub is_volatile: bool,
    /// Pointers, references and arrays, from the base outward.
    pub layers: Vec<TypeLayer>,
    /// Where it was written.
    pub span: Span,
}

/// `T a = 1, *b, c[3] = {...};`
#[derive(Debug, Clone)]
pub struct Declaration {
    /// Specifiers.
    pub specs: Specifiers,
    /// One entry per declarator.
    pub vars: Vec<VarDecl>,
    /// All of it.
    pub span: Span,
}

/// One declared variable.
#[derive(Debug, Clone)]
pub struct VarDecl {
    /// Its whole type.
    pub ty: TypeName,
    /// Its name.
    pub name: Ident,
    /// `= expr`, `= {...}`, `(expr)` or `{...}`.
    pub init: Option<Init>,
}

/// An initializer.
#[derive(Debug, Clone)]
pub enum Init {
    /// One expression.
    Expr(Expr),
    /// A braced list, possibly nested or empty.
    List(Vec<Init>, Span),
}

/// `typedef T name;` or `using name = T;`
#[derive(Debug, Clone)]
pub struct Alias {
    /// The new name.
    pub name: Ident,
    /// What it means.
    pub ty: TypeName,
}

/// `enum [class] E : T { A, B = 3 };`
#[derive(Debug, Clone)]
pub struct EnumDecl {
    /// Its name, if any.
    pub name: Option<Ident>,
    /// `enum class`: constants are reached as `E::A`.
    pub scoped: bool,
    /// The underlying type, if written.
    pub underlying: Option<TypeName>,
    /// The constants.
    pub constants: Vec<(Ident, Option<Expr>)>,
    /// All of it.
    pub span: Span,
}

/// `static_assert`.
#[derive(Debug, Clone)]
pub struct StaticAssert {
    /// The condition.
    pub cond: Expr,
    /// The text, if any.
    pub message: Option<String>,
    /// All of it.
    pub span: Span,
}

/// `{ ... }`
#[derive(Debug, Clone)]
pub struct Compound {
    /// Statements in order.
    pub stmts: Vec<Stmt>,
    /// With its braces.
    pub span: Span,
}

/// A statement with its place.
#[derive(Debug, Clone)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// What a statement is.
#[derive(Debug, Clone)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `expr;`
    Expr(Expr),
    /// A declaration.
    Declaration(Declaration),
    /// `typedef`, `using`.
    Alias(Alias),
    /// A local enum.
    Enum(EnumDecl),
    /// `static_assert`.
    StaticAssert(StaticAssert),
    /// `{ ... }`
    Compound(Compound),
    /// `if (cond) then else els`
    If {
        /// A declaration before the `;` (C++17), in scope of all.
        init: Option<Box<Stmt>>,
        /// The condition.
        cond: Expr,
        /// When true.
        then: Box<Stmt>,
        /// When false.
        els: Option<Box<Stmt>>,
        /// `if constexpr`.
        is_constexpr: bool,
    },
    /// `while (cond) body`
    While(Expr, Box<Stmt>),
    /// `do body while (cond);`
    DoWhile(Box<Stmt>, Expr),
    /// `for (init; cond; step) body`
    For {
        /// Declaration or expression.
        init: Option<Box<Stmt>>,
        /// `true` when absent.
        cond: Option<Expr>,
        /// After each round.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `switch (value) body`
    Switch(Expr, Box<Stmt>),
    /// `case value: stmt`
    Case(Expr, Box<Stmt>),
    /// `default: stmt`
    Default(Box<Stmt>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return expr;`
    Return(Option<Expr>),
}

/// An expression with its place.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
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

/// How a cast was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastKind {
    /// `(T)e`
    C,
    /// `T(e)`
    Functional,
    /// `static_cast<T>(e)`
    Static,
    /// `reinterpret_cast<T>(e)`
    Reinterpret,
    /// `const_cast<T>(e)`
    Const,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A number, character, truth value or `nullptr`.
    Literal(Literal),
    /// Adjacent string literals joined, escapes resolved.
    Str(String),
    /// A name; qualified ones (`std::max`, `E::A`) keep all their parts, template arguments in one spelling with their part
    /// (`numeric_limits<float>`). Namespaces that the text itself declares are left out.
    Name(Vec<Ident>),
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator; the span of the operator sign is kept for messages.
    Binary(BinaryOp, Box<Expr>, Box<Expr>, Span),
    /// `a = b`, and `a op= b` when the operator is present.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(args)`
    Call(Box<Expr>, Vec<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`, `a->b` when `arrow`.
    Member {
        /// The object.
        object: Box<Expr>,
        /// The member.
        member: Ident,
        /// `->`.
        arrow: bool,
    },
    /// A cast; a functional one may have zero arguments (`int()`), then `operand` is absent.
    Cast {
        /// How it was written.
        kind: CastKind,
        /// To what.
        ty: Box<TypeName>,
        /// Of what.
        operand: Option<Box<Expr>>,
    },
    /// `sizeof(T)`
    SizeofType(Box<TypeName>),
    /// `sizeof expr`
    SizeofExpr(Box<Expr>),
    /// `alignof(T)`
    AlignofType(Box<TypeName>),
    /// `( e )`: kept, for messages and for printing assertions.
    Paren(Box<Expr>),
    /// Something already reported; later stages stay silent about it.
    Error,
}

//! Statements.

use std::sync::Arc;

use super::{
    Alias, Declaration, EnumDecl, Expr, Ident, Name, NamespaceAlias, ParamDecl, Specifiers, StaticAssert, StructDecl,
    TypeName,
};
use crate::source::Span;

/// `{ ... }`
#[derive(Debug, Clone)]
pub struct Compound {
    /// Statements in order.
    pub stmts: Vec<Stmt>,
    /// The span with its braces.
    pub span: Span,
}

/// A statement with its place.
#[derive(Debug, Clone)]
pub struct Stmt {
    /// Sort of statement, with its parts.
    pub kind: StmtKind,
    /// Place of the statement.
    pub span: Span,
}

/// Sorts of statements.
#[derive(Debug, Clone)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `expr;`
    Expr(Expr),
    /// A declaration.
    Declaration(Declaration),
    /// `auto [a, b] = e;`
    Binding(Binding),
    /// `typedef`, `using`.
    Alias(Alias),
    /// A local enum.
    Enum(EnumDecl),
    /// A local struct.
    Struct(Arc<StructDecl>),
    /// `static_assert`.
    StaticAssert(StaticAssert),
    /// `using namespace a::b;`
    UsingNamespace(Name),
    /// `using a::f;`
    UsingDecl(Name),
    /// `namespace a = b::c;`
    NamespaceAlias(NamespaceAlias),
    /// `{ ... }`
    Compound(Compound),
    /// `if (cond) then else els`. A condition that declares a variable is written as that declaration, in `init`, and the
    /// variable's name.
    If {
        /// Statement before the `;` (C++17) and declaration of the condition, in scope of all; at most two.
        init: Vec<Stmt>,
        /// The condition.
        cond: Expr,
        /// Statement when the condition is true.
        then: Box<Stmt>,
        /// Statement when it is false.
        els: Option<Box<Stmt>>,
        /// `if constexpr`.
        is_constexpr: bool,
    },
    /// `while (cond) body`. One that declares a variable is written as `while (true) { declaration; if (!x) break; body }`.
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
    /// `for (init; ty name : range) body`
    RangeFor {
        /// Before the `;` (C++20).
        init: Option<Box<Stmt>>,
        /// Variable that each element is bound to.
        var: RangeVar,
        /// The elements; braced lists are [`super::ExprKind::Braced`].
        range: Expr,
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
    /// `return expr;`; a braced list is [`super::ExprKind::Braced`].
    Return(Option<Expr>),
    /// `try { ... } catch (...) { ... }`
    Try(Box<Try>),
}

/// `try body handlers`
#[derive(Debug, Clone)]
pub struct Try {
    /// Block that may throw.
    pub body: Compound,
    /// A call of what the library makes ready for the handlers.
    pub land: Expr,
    /// A call of what the library does at the end of one.
    pub done: Expr,
    /// The handlers, at least one.
    pub handlers: Vec<Handler>,
}

/// `catch (declaration) body`
#[derive(Debug, Clone)]
pub struct Handler {
    /// Parameter that takes what is caught; none for `...`.
    pub param: Option<ParamDecl>,
    /// Block that handles it.
    pub body: Compound,
    /// The head: `catch (declaration)`.
    pub span: Span,
}

/// `auto& [a, b] = e;`
#[derive(Debug, Clone)]
pub struct Binding {
    /// Specifiers.
    pub specs: Specifiers,
    /// `auto`, with `const` and a reference.
    pub ty: TypeName,
    /// The names in brackets.
    pub names: Vec<Ident>,
    /// Object that is taken apart.
    pub init: Expr,
    /// All of it.
    pub span: Span,
}

/// The variable of a range-based `for`: one name, or several when it takes the element apart (`brackets`).
#[derive(Debug, Clone)]
pub struct RangeVar {
    /// Type.
    pub ty: TypeName,
    /// The names; one unless `brackets`.
    pub names: Vec<Ident>,
    /// `auto [a, b]`.
    pub brackets: bool,
}

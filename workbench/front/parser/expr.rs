//! Expressions: one Pratt loop for infix operators, recursive descent for the rest.
//!
//! [`Parser::height`] is the height of the expression parsed last; whoever builds a node on top of others goes through
//! [`Parser::node`], which holds it against the limit.

use super::declared_names::NameKind;
use super::fundamental_types::is_simple_type_word;
use super::{MAX_HEIGHT, PResult, Parser};
use crate::front::ast::{BinaryOp, CastKind, Expr, ExprKind, FoldOp, TypeName, UnaryOp};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Binding powers of the operators that are not in [`infix`]'s table by themselves.
const COMMA: u8 = 1;
const ASSIGN: u8 = 2;
const CONDITIONAL: u8 = 3;

/// An infix operator.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Assign(Option<BinaryOp>),
    Conditional,
}

/// The operator of a token and how tightly it binds.
fn infix(kind: T) -> Option<(u8, Infix)> {
    use BinaryOp::*;
    let (power, op) = match kind {
        T::Comma => (COMMA, Comma),
        T::PipePipe => (4, Or),
        T::AmpAmp => (5, And),
        T::Pipe => (6, BitOr),
        T::Caret => (7, BitXor),
        T::Amp => (8, BitAnd),
        T::EqEq => (9, Eq),
        T::NotEq => (9, Ne),
        T::Lt => (10, Lt),
        T::Le => (10, Le),
        T::Gt => (10, Gt),
        T::Ge => (10, Ge),
        T::Shl => (11, Shl),
        T::Shr => (11, Shr),
        T::Plus => (12, Add),
        T::Minus => (12, Sub),
        T::Star => (13, Mul),
        T::Slash => (13, Div),
        T::Percent => (13, Rem),
        T::Question => return Some((CONDITIONAL, Infix::Conditional)),
        _ => {
            let op = match kind {
                T::Assign => None,
                T::PlusAssign => Some(Add),
                T::MinusAssign => Some(Sub),
                T::StarAssign => Some(Mul),
                T::SlashAssign => Some(Div),
                T::PercentAssign => Some(Rem),
                T::ShlAssign => Some(Shl),
                T::ShrAssign => Some(Shr),
                T::AmpAssign => Some(BitAnd),
                T::CaretAssign => Some(BitXor),
                T::PipeAssign => Some(BitOr),
                _ => return None,
            };
            return Some((ASSIGN, Infix::Assign(op)));
        }
    };
    Some((power, Infix::Binary(op)))
}

/// The operator of a token, for a fold.
pub(super) fn fold_operator(kind: T) -> Option<FoldOp> {
    match infix(kind)?.1 {
        Infix::Binary(op) => Some(FoldOp::Binary(op)),
        Infix::Assign(op) => Some(FoldOp::Assign(op)),
        Infix::Conditional => None,
    }
}

impl Parser<'_> {
    /// expression: with commas.
    pub(super) fn expression(&mut self) -> PResult<Expr> {
        self.infix_expr(COMMA)
    }

    /// assignment-expression: without commas at the top.
    pub(super) fn assignment_expr(&mut self) -> PResult<Expr> {
        self.infix_expr(ASSIGN)
    }

    /// constant-expression: without assignments, either.
    pub(super) fn constant_expr(&mut self) -> PResult<Expr> {
        self.infix_expr(CONDITIONAL)
    }

    /// Makes a node above children of height `below`.
    pub(super) fn node(&mut self, kind: ExprKind, span: Span, below: u32) -> PResult<Expr> {
        self.height = below + 1;
        self.peak = self.peak.max(self.height);
        if self.height > MAX_HEIGHT {
            return Err(self.too_deep(span));
        }
        Ok(Expr { kind, span })
    }

    /// Makes a node without children.
    pub(super) fn leaf(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.height = 1;
        self.peak = self.peak.max(1);
        Expr { kind, span }
    }

    /// Operators that bind at least as tightly as `least`.
    fn infix_expr(&mut self, least: u8) -> PResult<Expr> {
        self.enter()?;
        let result = self.infix_loop(least);
        self.leave();
        result
    }

    fn infix_loop(&mut self, least: u8) -> PResult<Expr> {
        let mut left = self.unary()?;
        let mut height = self.height;
        while let Some((power, op)) = infix(self.kind()) {
            if power < least || self.ends_here() {
                break;
            }
            let sign = self.bump().span;
            let start = left.span;
            // Assignments group to the right, all others to the left.
            let (kind, end) = match op {
                Infix::Binary(op) => {
                    let right = self.infix_expr(power + 1)?;
                    let end = right.span;
                    (ExprKind::Binary(op, Box::new(left), Box::new(right), sign), end)
                }
                Infix::Assign(op) => {
                    let right = if self.at(T::LBrace) { self.argument_value()? } else { self.infix_expr(ASSIGN)? };
                    let end = right.span;
                    (ExprKind::Assign(op, Box::new(left), Box::new(right)), end)
                }
                Infix::Conditional => {
                    let then = self.unangled(Self::expression)?;
                    height = height.max(self.height);
                    self.expect(T::Colon)?;
                    let els = self.assignment_expr()?;
                    let end = els.span;
                    (ExprKind::Conditional(Box::new(left), Box::new(then), Box::new(els)), end)
                }
            };
            let span = start.to(end);
            height = height.max(self.height);
            left = self.node(kind, span, height)?;
            height = self.height;
        }
        self.height = height;
        Ok(left)
    }

    /// The operator here belongs to what is around the expression: it closes template arguments, or folds a pack.
    fn ends_here(&self) -> bool {
        self.in_angle && self.at_angle_close() || self.kind_at(1) == T::Ellipsis
    }

    /// unary-expression and cast-expression.
    pub(super) fn unary(&mut self) -> PResult<Expr> {
        let token = self.peek();
        let op = match token.kind {
            T::Plus => UnaryOp::Plus,
            T::Minus => UnaryOp::Minus,
            T::Bang => UnaryOp::Not,
            T::Tilde => UnaryOp::BitNot,
            T::Star => UnaryOp::Deref,
            T::Amp => UnaryOp::AddrOf,
            T::PlusPlus => UnaryOp::PreInc,
            T::MinusMinus => UnaryOp::PreDec,
            T::LParen if self.cast_follows() => return self.nested_by(2, Self::c_cast),
            T::Keyword(K::Sizeof | K::Alignof) => return self.nested_by(2, Self::sizeof),
            T::Keyword(K::Noexcept) => return self.nested(Self::noexcept),
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let span = token.span.to(operand.span);
        self.node(ExprKind::Unary(op, Box::new(operand)), span, self.height)
    }

    /// The `(` here holds the type of a cast.
    fn cast_follows(&mut self) -> bool {
        let index = self.pos + 1;
        match self.at_index(index).kind {
            T::Keyword(word) if is_simple_type_word(word) => {
                let mut at = index;
                while matches!(self.at_index(at).kind, T::Keyword(word) if is_simple_type_word(word)) {
                    at += 1;
                }
                // `(float(x) + 1)` and `(int{2})` are no casts, `(int (*)[3])` is one.
                match self.at_index(at).kind {
                    T::LBrace => false,
                    T::LParen => self.abstract_pointer_at(at),
                    _ => true,
                }
            }
            // `(typename T::type(x))` and `(decltype(x)(y))` are rare, and read as casts only where they close.
            T::Keyword(word) => super::fundamental_types::is_type_word(word) && !self.is_typed_value(index),
            T::Ident | T::ColonColon => {
                // The usual parenthesis starts with a variable.
                if self.declared_value(index) {
                    return false;
                }
                let Some(scan) = self.scan_name(index) else { return false };
                let at = self.skip_pointers(scan.end);
                let closed = self.at_index(at).kind == T::RParen;
                match scan.kind {
                    NameKind::Type => closed || self.at_index(at).kind == T::LParen && self.abstract_pointer_at(at),
                    NameKind::Value | NameKind::Concept => false,
                    // `(Foo*)p` and `(Foo)x` are nothing but casts to an unknown type.
                    _ if at > scan.end => closed,
                    _ => {
                        closed
                            && matches!(
                                self.at_index(at + 1).kind,
                                T::Ident
                                    | T::Number
                                    | T::Str
                                    | T::Char
                                    | T::LBrace
                                    | T::Keyword(
                                        K::True
                                            | K::False
                                            | K::Nullptr
                                            | K::StaticCast
                                            | K::ReinterpretCast
                                            | K::Sizeof
                                    )
                            )
                    }
                }
            }
            _ => false,
        }
    }

    /// A `(*)` or `(&)` stands at `index`, as after the result of a function type.
    fn abstract_pointer_at(&self, index: usize) -> bool {
        matches!(self.at_index(index + 1).kind, T::Star | T::Amp | T::AmpAmp)
            && self.at_index(self.skip_pointers(index + 1)).kind == T::RParen
    }

    /// A value starts with the `typename` or `decltype` at `index`: `(typename T::type(x))`.
    pub(super) fn is_typed_value(&mut self, index: usize) -> bool {
        let end = match self.at_index(index).kind {
            T::Keyword(K::Typename) => self.scan_name(index + 1).map(|s| s.end),
            T::Keyword(K::Decltype) => self.bracket_end(index + 1).map(|end| end + 1),
            _ => None,
        };
        end.is_some_and(|end| {
            matches!(self.at_index(end).kind, T::LParen | T::LBrace) && !self.abstract_pointer_at(end)
        })
    }

    /// `( type ) operand`
    #[inline(never)]
    fn c_cast(&mut self) -> PResult<Expr> {
        let open = self.bump().span;
        let (ty, below) = self.measured(|p| p.unangled(Self::type_id))?;
        self.expect_close(T::RParen, open)?;
        if self.at(T::LBrace) {
            // GNU's compound literal: a value of the type, made from the list.
            let literal = self.construct(ty, open, below)?;
            return self.postfix_of(literal);
        }
        let operand = self.unary()?;
        self.cast(CastKind::C, ty, operand, open, below)
    }

    /// A cast of the expression parsed last to a type of height `below`.
    pub(super) fn cast(
        &mut self,
        kind: CastKind,
        ty: TypeName,
        operand: Expr,
        start: Span,
        below: u32,
    ) -> PResult<Expr> {
        let kind = ExprKind::Cast { kind, ty: Box::new(ty), operand: Box::new(operand) };
        self.node(kind, self.since(start), self.height.max(below))
    }

    /// `sizeof(T)`, `sizeof e`, `sizeof...(pack)`, `alignof(T)`
    #[inline(never)]
    fn sizeof(&mut self) -> PResult<Expr> {
        let word = self.bump();
        let is_sizeof = word.kind == T::Keyword(K::Sizeof);
        if is_sizeof && self.eat(T::Ellipsis) {
            let open = self.expect(T::LParen)?;
            let pack = self.ident("the name of a parameter pack")?;
            self.expect_close(T::RParen, open)?;
            return Ok(self.leaf(ExprKind::SizeofPack(pack), self.since(word.span)));
        }
        if self.at(T::LParen) && self.type_at(self.pos + 1) && !self.is_constructed(self.pos + 1) {
            let open = self.bump().span;
            let (ty, below) = self.measured(|p| p.unangled(Self::type_id))?;
            let ty = Box::new(ty);
            self.expect_close(T::RParen, open)?;
            let kind = if is_sizeof { ExprKind::SizeofType(ty) } else { ExprKind::AlignofType(ty) };
            return self.node(kind, self.since(word.span), below);
        }
        if !is_sizeof {
            return Err(self.expected("a type in parentheses"));
        }
        let operand = self.unary()?;
        self.node(ExprKind::SizeofExpr(Box::new(operand)), self.since(word.span), self.height)
    }

    /// The type at `index` starts a value: `sizeof(S{})`, `sizeof(T().x)`.
    fn is_constructed(&mut self, index: usize) -> bool {
        let end = match self.at_index(index).kind {
            T::Ident | T::ColonColon => self.scan_name(index).map(|s| s.end),
            T::Keyword(word) if is_simple_type_word(word) => Some(index + 1),
            _ => return self.is_typed_value(index),
        };
        end.is_some_and(|end| match self.at_index(end).kind {
            T::LBrace => true,
            T::LParen => !self.abstract_pointer_at(end) && !self.type_at(end + 1),
            _ => false,
        })
    }

    /// `noexcept(e)`
    fn noexcept(&mut self) -> PResult<Expr> {
        let start = self.bump().span;
        let open = self.expect(T::LParen)?;
        let inner = self.unangled(Self::expression)?;
        let height = self.height;
        self.expect_close(T::RParen, open)?;
        self.node(ExprKind::Noexcept(Box::new(inner)), self.since(start), height)
    }
}

//! Expressions: one Pratt loop for infix operators, recursive descent for the rest.
//!
//! [`Parser::height`] is the height of the expression parsed last; whoever builds a node on top of others goes through
//! [`Parser::node`], which holds it against the limit.

use super::names::NameKind;
use super::types::{is_function_specifier, is_simple_type_word};
use super::{MAX_HEIGHT, PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BinaryOp, CastKind, Expr, ExprKind, Ident, Init, Literal, Name, NamePart, TypeName, UnaryOp};
use crate::front::lexer::{Keyword as K, Token, TokenKind as T, literal};
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

impl Parser<'_> {
    /// expression: with commas.
    pub(super) fn expression(&mut self) -> PResult<Expr> {
        self.infix_expr(COMMA)
    }

    /// assignment-expression: without commas at the top.
    pub(super) fn assignment_expr(&mut self) -> PResult<Expr> {
        self.infix_expr(ASSIGN)
    }

    /// Makes a node above children of height `below`.
    fn node(&mut self, kind: ExprKind, span: Span, below: u32) -> PResult<Expr> {
        self.height = below + 1;
        if self.height > MAX_HEIGHT {
            return Err(self.too_deep(span));
        }
        Ok(Expr { kind, span })
    }

    /// Makes a node without children.
    fn leaf(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.height = 1;
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
            if power < least {
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
                    let right = self.assigned_value()?;
                    let end = right.span;
                    (ExprKind::Assign(op, Box::new(left), Box::new(right)), end)
                }
                Infix::Conditional => {
                    let then = self.expression()?;
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

    /// The right side of an assignment.
    fn assigned_value(&mut self) -> PResult<Expr> {
        if self.at(T::LBrace) {
            let span = self.peek().span;
            let text = "a braced list on the right of `=` is not supported yet";
            return Err(self.unsupported(span, text, "assign each element by itself"));
        }
        self.infix_expr(ASSIGN)
    }

    /// unary-expression and cast-expression.
    fn unary(&mut self) -> PResult<Expr> {
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
            T::LParen if self.cast_follows() => return self.nested(Self::c_cast),
            T::Keyword(K::Sizeof | K::Alignof) => return self.nested(Self::sizeof),
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let span = token.span.to(operand.span);
        self.node(ExprKind::Unary(op, Box::new(operand)), span, self.height)
    }

    /// Whether the `(` here holds the type of a cast.
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
                    T::LParen => {
                        matches!(self.at_index(at + 1).kind, T::Star) && self.at_index(at + 2).kind == T::RParen
                    }
                    _ => true,
                }
            }
            T::Keyword(word) => super::types::is_type_word(word),
            T::Ident | T::ColonColon => {
                // The usual parenthesis starts with a variable.
                if self.declared_value(index) {
                    return false;
                }
                let Some(scan) = self.scan_name(index) else { return false };
                let mut at = scan.end;
                while matches!(
                    self.at_index(at).kind,
                    T::Star | T::Amp | T::AmpAmp | T::Keyword(K::Const | K::Volatile | K::Restrict)
                ) {
                    at += 1;
                }
                let closed = self.at_index(at).kind == T::RParen;
                match scan.kind {
                    NameKind::Type => closed || self.at_index(at).kind == T::LParen && at > scan.end,
                    NameKind::Value => false,
                    // `(Foo*)p` and `(Foo)x` are nothing but casts to an unknown type.
                    _ if at > scan.end => closed,
                    _ => {
                        closed
                            && matches!(
                                self.at_index(at + 1).kind,
                                T::Ident | T::Number | T::Str | T::Char | T::Keyword(K::True | K::False | K::Nullptr)
                            )
                    }
                }
            }
            _ => false,
        }
    }

    /// `( type ) operand`
    fn c_cast(&mut self) -> PResult<Expr> {
        let open = self.bump().span;
        let ty = self.type_id()?;
        self.expect_close(T::RParen, open)?;
        if self.at(T::LBrace) {
            let span = self.peek().span;
            return Err(self.unsupported(span, "compound literals are not supported", "declare a variable"));
        }
        let operand = self.unary()?;
        self.cast(CastKind::C, ty, operand, open)
    }

    fn cast(&mut self, kind: CastKind, ty: TypeName, operand: Expr, start: Span) -> PResult<Expr> {
        let kind = ExprKind::Cast { kind, ty: Box::new(ty), operand: Box::new(operand) };
        self.node(kind, self.since(start), self.height)
    }

    /// `sizeof(T)`, `sizeof e`, `alignof(T)`
    fn sizeof(&mut self) -> PResult<Expr> {
        let word = self.bump();
        let is_sizeof = word.kind == T::Keyword(K::Sizeof);
        if self.at(T::Ellipsis) {
            let text = "parameter packs are not supported yet";
            return Err(self.unsupported(word.span, text, "write the number"));
        }
        if self.at(T::LParen) && self.type_at(self.pos + 1) {
            let open = self.bump().span;
            let ty = Box::new(self.type_id()?);
            self.expect_close(T::RParen, open)?;
            let kind = if is_sizeof { ExprKind::SizeofType(ty) } else { ExprKind::AlignofType(ty) };
            return Ok(self.leaf(kind, self.since(word.span)));
        }
        if !is_sizeof {
            return Err(self.expected("a type in parentheses"));
        }
        let operand = self.unary()?;
        self.node(ExprKind::SizeofExpr(Box::new(operand)), self.since(word.span), self.height)
    }

    /// postfix-expression.
    fn postfix(&mut self) -> PResult<Expr> {
        let mut expr = self.primary()?;
        let mut height = self.height;
        loop {
            let start = expr.span;
            let kind = match self.kind() {
                T::LParen => {
                    let args = self.call_args()?;
                    height = height.max(self.height);
                    ExprKind::Call(Box::new(expr), args)
                }
                T::LBracket => {
                    let open = self.bump().span;
                    let index = self.expression()?;
                    height = height.max(self.height);
                    self.expect_close(T::RBracket, open)?;
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                T::Dot | T::Arrow => {
                    let arrow = self.bump().kind == T::Arrow;
                    let member = self.member_name()?;
                    ExprKind::Member { object: Box::new(expr), member: member.into(), arrow }
                }
                T::PlusPlus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostInc, Box::new(expr))
                }
                T::MinusMinus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostDec, Box::new(expr))
                }
                T::LaunchOpen => {
                    self.launch();
                    height = 0;
                    ExprKind::Error
                }
                T::DotStar | T::ArrowStar => {
                    let span = self.peek().span;
                    let text = "pointers to members are not supported";
                    return Err(self.unsupported(span, text, "name the member"));
                }
                _ => break,
            };
            let span = self.since(start);
            expr = self.node(kind, span, height)?;
            height = self.height;
        }
        self.height = height;
        Ok(expr)
    }

    /// What follows `.` or `->`; template arguments stay with the name in one spelling.
    fn member_name(&mut self) -> PResult<Ident> {
        if self.at_word(K::Operator) {
            return Err(self.operator_overload());
        }
        self.eat_word(K::Template);
        let mut member = self.ident("the name of a member")?;
        if self.at(T::Lt)
            && let Some(args) = self.scan_template_args(self.pos)
            && args.split == 0
            && self.at_index(args.end).kind == T::LParen
        {
            let text = format!("{}{}", self.interner.name(member.name), args.text);
            self.pos = args.end;
            member = Ident { name: self.interner.intern(&text), span: self.since(member.span) };
        }
        Ok(member)
    }

    /// `( expr, ... )`; leaves the greatest height of the arguments.
    pub(super) fn call_args(&mut self) -> PResult<Vec<Expr>> {
        let open = self.bump().span;
        let mut args = Vec::new();
        let mut height = 0;
        if !self.at(T::RParen) {
            loop {
                if self.at(T::LBrace) {
                    let span = self.peek().span;
                    let text = "a braced list as an argument is not supported yet";
                    return Err(self.unsupported(span, text, "declare a variable with these values and pass it"));
                }
                args.push(self.assignment_expr()?);
                height = height.max(self.height);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        self.expect_close(T::RParen, open)?;
        self.height = height;
        Ok(args)
    }

    /// primary-expression, and casts that start with a word.
    fn primary(&mut self) -> PResult<Expr> {
        let token = self.peek();
        match token.kind {
            T::Number => Ok(self.number_literal()),
            T::Str => Ok(self.string_literal()),
            T::Char => Ok(self.char_literal()),
            T::LParen => self.nested(Self::parenthesised),
            T::Ident | T::ColonColon => self.name_expr(),
            T::LBracket => {
                let span = self.lambda();
                Ok(self.leaf(ExprKind::Error, span))
            }
            T::LBrace => {
                let text = "a braced list can only initialise a variable";
                Err(self.report(Diagnostic::error(Code::Syntax, token.span, text)))
            }
            T::Keyword(word) => self.word_expr(word, token),
            _ => Err(self.expected("an expression")),
        }
    }

    /// `( expr )`
    fn parenthesised(&mut self) -> PResult<Expr> {
        let open = self.bump().span;
        let inner = self.expression()?;
        let height = self.height;
        self.expect_close(T::RParen, open)?;
        self.node(ExprKind::Paren(Box::new(inner)), self.since(open), height)
    }

    /// Expressions that start with a keyword.
    fn word_expr(&mut self, word: K, token: Token) -> PResult<Expr> {
        let cast = match word {
            K::True | K::False => {
                self.bump();
                return Ok(self.leaf(ExprKind::Literal(Literal::Bool(word == K::True)), token.span));
            }
            K::Nullptr => {
                self.bump();
                return Ok(self.leaf(ExprKind::Literal(Literal::Nullptr), token.span));
            }
            K::StaticCast => CastKind::Static,
            K::ReinterpretCast => CastKind::Reinterpret,
            K::ConstCast => CastKind::Const,
            K::New | K::Delete | K::Throw | K::Typeid | K::DynamicCast | K::This | K::Decltype => {
                return Err(self.unsupported_expression(word));
            }
            K::Typename => return self.nested(Self::functional_cast),
            _ if is_simple_type_word(word) => return self.nested(Self::functional_cast),
            K::Asm => {
                self.unsupported_statement(word);
                return Ok(self.leaf(ExprKind::Error, token.span));
            }
            _ if is_function_specifier(word) || super::types::is_type_word(word) => {
                let text = format!("`{}` starts a declaration, which cannot stand here", word.spelling());
                return Err(self.report(Diagnostic::error(Code::Syntax, token.span, text)));
            }
            _ => return Err(self.expected("an expression")),
        };
        self.nested(|p| p.word_cast(cast))
    }

    /// `static_cast<T>(e)` and its kin.
    fn word_cast(&mut self, kind: CastKind) -> PResult<Expr> {
        let start = self.bump().span;
        self.expect(T::Lt)?;
        let ty = self.type_id()?;
        match self.kind() {
            T::Shr => self.split_angle(1),
            T::LaunchClose => self.split_angle(2),
            _ => {
                self.expect(T::Gt)?;
            }
        }
        let open = self.expect(T::LParen)?;
        let operand = self.expression()?;
        let height = self.height;
        self.expect_close(T::RParen, open)?;
        self.height = height;
        self.cast(kind, ty, operand, start)
    }

    /// `T(e)`, `T{e}`, `T()`
    fn functional_cast(&mut self) -> PResult<Expr> {
        let start = self.peek().span;
        let specs = self.decl_specifiers()?;
        let ty = specs.with(Vec::new(), self.prev());
        let ty = Box::new(ty);
        let kind = match self.kind() {
            T::LParen => ExprKind::Construct { ty, args: self.call_args()? },
            T::LBrace => {
                let entries = self.braced_args()?.into_iter().map(Init::Expr).collect();
                ExprKind::Braced { ty: Some(ty), entries }
            }
            _ => {
                let text = "a type stands where a value is expected";
                let diag = Diagnostic::error(Code::Syntax, specs.ty_span, text);
                return Err(
                    self.report(diag.help("a conversion is written `float(x)`; a declaration starts a statement"))
                );
            }
        };
        self.node(kind, self.since(start), self.height)
    }

    /// `{ expr, ... }` after a type.
    fn braced_args(&mut self) -> PResult<Vec<Expr>> {
        self.bump();
        let mut args = Vec::new();
        let mut height = 0;
        while !self.at(T::RBrace) {
            args.push(self.assignment_expr()?);
            height = height.max(self.height);
            if !self.eat(T::Comma) {
                break;
            }
        }
        if !self.at(T::RBrace) {
            return Err(self.expected("`,` or `}`"));
        }
        self.bump();
        self.height = height;
        Ok(args)
    }

    /// id-expression: a plain or qualified name, a conversion to a named type, or a constant of the compiler's.
    fn name_expr(&mut self) -> PResult<Expr> {
        let start = self.peek();
        if start.kind == T::Ident && !matches!(self.kind_at(1), T::ColonColon | T::Lt) {
            if self.names.kind(start.symbol, self.interner) == NameKind::Type {
                return match self.kind_at(1) {
                    T::LParen | T::LBrace => self.nested(Self::functional_cast),
                    _ => {
                        let text = format!("`{}` is a type; a value is expected here", start.text(self.interner));
                        Err(self.report(Diagnostic::error(Code::Syntax, start.span, text)))
                    }
                };
            }
            self.bump();
            if let Some(constant) = self.compiler_constant(start)? {
                return Ok(self.leaf(constant, self.since(start.span)));
            }
            let name = Ident { name: start.symbol, span: start.span };
            return Ok(self.leaf(ExprKind::Name(name.into()), start.span));
        }
        self.qualified_name()
    }

    /// A name with `::` or template arguments.
    fn qualified_name(&mut self) -> PResult<Expr> {
        let start = self.peek().span;
        if let Some(scan) = self.scan_name(self.pos)
            && scan.kind == NameKind::Type
            && matches!(self.at_index(scan.end).kind, T::LParen | T::LBrace)
        {
            return self.nested(Self::functional_cast);
        }
        self.eat(T::ColonColon);
        let mut parts: Vec<Ident> = Vec::new();
        let mut silent = false;
        loop {
            let mut part = self.ident("a name")?;
            let kind = self.names.kind(part.name, self.interner);
            if self.at(T::Lt)
                && (kind != NameKind::Value || self.unit.skipped.contains(&part.name))
                && let Some(args) = self.scan_template_args(self.pos)
                && args.split == 0
                && matches!(self.at_index(args.end).kind, T::LParen | T::ColonColon | T::LBrace | T::LaunchOpen)
            {
                silent |= self.unit.skipped.contains(&part.name);
                let base = self.interner.name(part.name).to_owned();
                let text = format!("{base}{}", args.text);
                self.pos = args.end;
                let span = self.since(part.span);
                if base != "numeric_limits" && !silent {
                    let what = format!("template arguments, as in `{text}`, are not supported yet");
                    self.unsupported(span, &what, "leave them out, or convert the function's arguments");
                    silent = true;
                }
                part = Ident { name: self.interner.intern(&text), span };
            }
            let more = self.at(T::ColonColon) && self.kind_at(1) == T::Ident;
            if !(kind == NameKind::Namespace && more) {
                parts.push(part);
            }
            if !more {
                break;
            }
            self.bump();
        }
        let span = self.since(start);
        let parts: Vec<NamePart> = parts.into_iter().map(|ident| NamePart { ident, args: None }).collect();
        let name = Name { global: false, parts, span };
        let kind = if silent { ExprKind::Error } else { ExprKind::Name(name) };
        Ok(self.leaf(kind, span))
    }

    /// `__func__` and the constants that the macros of `<math.h>` stand for.
    fn compiler_constant(&mut self, name: Token) -> PResult<Option<ExprKind>> {
        let text = name.text(self.interner);
        if !text.starts_with("__") {
            return Ok(None);
        }
        let value = match text {
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                let function = self.function.map_or("", |f| self.interner.name(f)).to_owned();
                return Ok(Some(ExprKind::Str(function)));
            }
            "__builtin_inff" | "__builtin_huge_valf" => Literal::Float(f32::INFINITY),
            "__builtin_inf" | "__builtin_huge_val" => Literal::Double(f64::INFINITY),
            "__builtin_nanf" => Literal::Float(f32::NAN),
            "__builtin_nan" => Literal::Double(f64::NAN),
            _ => return Ok(None),
        };
        let open = self.expect(T::LParen)?;
        self.eat(T::Str);
        self.expect_close(T::RParen, open)?;
        Ok(Some(ExprKind::Literal(value)))
    }

    fn number_literal(&mut self) -> Expr {
        let token = self.bump();
        match literal::number(token.text(self.interner)) {
            Ok(number) => {
                if let Some(text) = number.warning {
                    self.diags.push(Diagnostic::warning(Code::BadLiteral, token.span, text).help("write `INFINITY`"));
                }
                self.leaf(ExprKind::Literal(number.literal), token.span)
            }
            Err(text) => self.bad_literal(token.span, text),
        }
    }

    fn char_literal(&mut self) -> Expr {
        let token = self.bump();
        match literal::character(token.text(self.interner)) {
            Ok(value) => self.leaf(ExprKind::Literal(Literal::Char(value)), token.span),
            Err(text) => self.bad_literal(token.span, text),
        }
    }

    /// Adjacent string literals, joined.
    pub(super) fn string_literal(&mut self) -> Expr {
        let start = self.peek().span;
        let mut bytes = Vec::new();
        let mut problem = None;
        while self.at(T::Str) {
            let token = self.bump();
            if let Err(text) = literal::string(token.text(self.interner), &mut bytes) {
                problem.get_or_insert((token.span, text));
            }
        }
        let span = self.since(start);
        match (problem, String::from_utf8(bytes)) {
            (Some((span, text)), _) => self.bad_literal(span, text),
            (None, Ok(text)) => self.leaf(ExprKind::Str(text), span),
            (None, Err(_)) => self.bad_literal(span, "the bytes of this string are no UTF-8 text".to_owned()),
        }
    }

    #[cold]
    fn bad_literal(&mut self, span: Span, text: String) -> Expr {
        self.report(Diagnostic::error(Code::BadLiteral, span, text));
        self.leaf(ExprKind::Error, span)
    }
}

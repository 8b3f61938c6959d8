//! Primary and postfix expressions.

use super::declared_names::NameKind;
use super::fundamental_types::is_simple_type_word;
use super::name::Position;
use super::types::is_function_specifier;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BaseType, CastKind, Expr, ExprKind, Ident, Literal, Name, NamePart, TypeName, UnaryOp};
use crate::front::lexer::{Keyword as K, Token, TokenKind as T, literal};
use crate::source::Span;

impl Parser<'_> {
    /// postfix-expression.
    pub(super) fn postfix(&mut self) -> PResult<Expr> {
        let expr = self.primary()?;
        self.postfix_of(expr)
    }

    /// Postfix operators after the expression parsed last.
    pub(super) fn postfix_of(&mut self, mut expr: Expr) -> PResult<Expr> {
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
                    let index = match self.kind() {
                        // The argument of an operator of the object's.
                        T::LBrace => self.nested(|p| p.unangled(Self::argument))?,
                        _ => self.nested(|p| p.unangled(Self::expression))?,
                    };
                    height = height.max(self.height);
                    self.expect_close(T::RBracket, open)?;
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                T::Dot | T::Arrow => {
                    let arrow = self.bump().kind == T::Arrow;
                    if self.at_word(K::Operator) && self.names_conversion() {
                        expr = self.conversion_call(expr, arrow, height, start)?;
                        height = self.height;
                        continue;
                    }
                    let (member, below) = self.measured(Self::member_name)?;
                    height = height.max(below);
                    ExprKind::Member { object: Box::new(expr), member, arrow }
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
                    let (launch, below) = self.measured(|p| p.launch(expr))?;
                    height = height.max(below);
                    launch
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

    /// `x.operator T()`: the conversion, written out. Leaves its height.
    #[inline(never)]
    fn conversion_call(&mut self, object: Expr, arrow: bool, height: u32, start: Span) -> PResult<Expr> {
        self.bump();
        let (ty, below) = self.measured(Self::conversion_type)?;
        let open = self.expect(T::LParen)?;
        self.expect_close(T::RParen, open)?;
        let height = height.max(below);
        let span = self.since(start);
        let operand =
            if arrow { self.node(ExprKind::Unary(UnaryOp::Deref, Box::new(object)), span, height)? } else { object };
        let height = if arrow { self.height } else { height };
        self.node(ExprKind::Cast { kind: CastKind::Static, ty: Box::new(ty), operand: Box::new(operand) }, span, height)
    }

    /// A type follows `operator`, not a sign.
    fn names_conversion(&self) -> bool {
        let next = self.kind_at(1);
        !super::name::is_overloadable(next) && !matches!(next, T::LParen | T::LBracket)
    }

    /// The name after `.` or `->`.
    fn member_name(&mut self) -> PResult<Name> {
        let template = self.eat_word(K::Template);
        if self.at(T::Tilde) {
            let span = self.peek().span;
            let text = "a destructor cannot be called by name";
            return Err(self.unsupported(span, text, "leave it out: it runs at the end of the object's scope"));
        }
        if self.at_word(K::Operator) || self.at(T::Ident) && self.kind_at(1) == T::ColonColon {
            return self.name(Position::Expr);
        }
        let ident = self.ident("the name of a member")?;
        let args =
            if self.at(T::Lt) && (template || self.member_args_follow()) { Some(self.template_args()?) } else { None };
        Ok(Name { global: false, parts: vec![NamePart { ident, args }], span: self.since(ident.span) })
    }

    /// The `<` after a member, of which nothing is known, starts template arguments: a call must follow.
    fn member_args_follow(&mut self) -> bool {
        self.scan_template_args(self.pos, false)
            .is_some_and(|args| !args.split && self.at_index(args.end).kind == T::LParen)
    }

    /// `( expr, ... )`; leaves the greatest height of the arguments.
    pub(super) fn call_args(&mut self) -> PResult<Vec<Expr>> {
        let open = self.bump().span;
        let (args, height) = self.nested(|p| p.unangled(|p| p.arguments(T::RParen)))?;
        self.expect_close(T::RParen, open)?;
        self.height = height;
        Ok(args)
    }

    /// Arguments up to what closes them, and their greatest height.
    pub(super) fn arguments(&mut self, close: T) -> PResult<(Vec<Expr>, u32)> {
        let mut args = Vec::new();
        let mut height = 0;
        if !self.at(close) {
            loop {
                args.push(self.argument()?);
                height = height.max(self.height);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        Ok((args, height))
    }

    /// One argument: an expression or a braced list, as a pack expansion or not.
    pub(super) fn argument(&mut self) -> PResult<Expr> {
        let value = self.argument_value()?;
        if !self.eat(T::Ellipsis) {
            return Ok(value);
        }
        let span = self.since(value.span);
        self.node(ExprKind::PackExpansion(Box::new(value)), span, self.height)
    }

    /// primary-expression, and casts that start with a word.
    pub(super) fn primary(&mut self) -> PResult<Expr> {
        let token = self.peek();
        match token.kind {
            T::Number => Ok(self.number_literal()),
            T::Str => self.literal_with_suffix(),
            T::Char => Ok(self.char_literal()),
            T::LParen => self.nested(|p| p.unangled(Self::parenthesised)),
            T::Ident
                if matches!(self.kind_at(1), T::LParen | T::LBrace)
                    && self.at_context_word("requires")
                    && self.names.kind(token.symbol, self.interner) == NameKind::Free =>
            {
                Err(self.requirements())
            }
            T::Ident | T::ColonColon => self.name_expr(),
            T::LBracket => self.lambda_expr(),
            T::LBrace => {
                let text = "a braced list stands where a value is expected";
                let diag = Diagnostic::error(Code::Syntax, token.span, text);
                Err(self.report(diag.help("write its type before it: `float4{...}`")))
            }
            T::Keyword(word) => self.word_expr(word, token),
            _ => Err(self.expected("an expression")),
        }
    }

    /// `( expr )`, or a fold.
    fn parenthesised(&mut self) -> PResult<Expr> {
        let open = self.bump().span;
        if self.at(T::Ellipsis) {
            return self.left_fold(open);
        }
        let inner = self.expression()?;
        if self.kind_at(1) == T::Ellipsis && super::expr::fold_operator(self.kind()).is_some() {
            return self.right_fold(inner, open);
        }
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
            K::This => {
                self.bump();
                return Ok(self.leaf(ExprKind::This, token.span));
            }
            K::StaticCast => CastKind::Static,
            K::ReinterpretCast => CastKind::Reinterpret,
            K::ConstCast => CastKind::Const,
            K::Throw => return self.nested(Self::throw_expression),
            K::New => return self.nested(Self::new_expression),
            K::Delete => return self.nested(Self::delete_expression),
            K::Typeid | K::DynamicCast => {
                return Err(self.unsupported_expression(word));
            }
            K::Operator => return self.plain_name(),
            K::Typename | K::Decltype => return self.nested(Self::functional_cast),
            _ if is_simple_type_word(word) => return self.nested(Self::functional_cast),
            K::Asm => {
                self.unsupported_statement(word);
                return Ok(self.leaf(ExprKind::Error, token.span));
            }
            _ if is_function_specifier(word) || super::fundamental_types::is_type_word(word) => {
                let text = format!("`{}` starts a declaration, which cannot stand here", word.spelling());
                return Err(self.report(Diagnostic::error(Code::Syntax, token.span, text)));
            }
            _ => return Err(self.expected("an expression")),
        };
        self.nested(|p| p.word_cast(cast))
    }

    /// `static_cast<T>(e)` and its kin.
    #[inline(never)]
    fn word_cast(&mut self, kind: CastKind) -> PResult<Expr> {
        let start = self.bump().span;
        let angle = self.expect(T::Lt)?;
        let outer = std::mem::replace(&mut self.in_angle, true);
        let ty = self.measured(Self::type_id);
        self.in_angle = outer;
        let (ty, below) = ty?;
        self.close_angle(angle)?;
        let open = self.expect(T::LParen)?;
        let operand = self.unangled(Self::expression)?;
        let height = self.height;
        self.expect_close(T::RParen, open)?;
        self.height = height;
        self.cast(kind, ty, operand, start, below)
    }

    /// `T(e)`, `T{e}`, `T()`
    #[inline(never)]
    fn functional_cast(&mut self) -> PResult<Expr> {
        let start = self.peek().span;
        let class = self.class.take();
        let specs = self.measured(Self::decl_specifiers);
        self.class = class;
        let (specs, below) = specs?;
        let ty = specs.with(Vec::new(), self.prev());
        self.construct(ty, start, below)
    }

    /// The rest of a value after its type, which is of height `below`.
    #[inline(never)]
    pub(super) fn construct(&mut self, ty: TypeName, start: Span, below: u32) -> PResult<Expr> {
        let ty = Box::new(ty);
        match self.kind() {
            T::LParen => {
                let args = self.call_args()?;
                self.node(ExprKind::Construct { ty, args }, self.since(start), self.height.max(below))
            }
            T::LBrace => {
                let (entries, inner) = self.measured(|p| p.nested_by(4, |p| p.unangled(Self::braced_entries)))?;
                self.node(ExprKind::Braced { ty: Some(ty), entries }, self.since(start), inner.max(below))
            }
            _ => {
                let text = "a type stands where a value is expected";
                let diag = Diagnostic::error(Code::Syntax, ty.span, text);
                Err(self.report(diag.help("a conversion is written `float(x)`; a declaration starts a statement")))
            }
        }
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
            let name: Name = Ident { name: start.symbol, span: start.span }.into();
            if self.at(T::LBrace) && self.names.kind(start.symbol, self.interner) == NameKind::Free {
                return self.foreign_braces(name, 0);
            }
            return Ok(self.leaf(ExprKind::Name(name), start.span));
        }
        if let Some(scan) = self.scan_name(self.pos)
            && scan.kind == NameKind::Type
            && matches!(self.at_index(scan.end).kind, T::LParen | T::LBrace)
        {
            return self.nested(Self::functional_cast);
        }
        self.plain_name()
    }

    /// A name with `::` or template arguments, or of an operator.
    fn plain_name(&mut self) -> PResult<Expr> {
        let (name, below) = self.measured(|p| p.name(Position::Expr))?;
        let last = name.last_part();
        let known = self.names.kind(last.ident.name, self.interner) == NameKind::Value && name.parts.len() == 1;
        if self.at(T::LBrace) && !known {
            return self.foreign_braces(name, below);
        }
        let span = name.span;
        self.node(ExprKind::Name(name), span, below)
    }

    /// `Foo{...}` of a type that the text does not declare.
    fn foreign_braces(&mut self, name: Name, below: u32) -> PResult<Expr> {
        let span = name.span;
        let base = BaseType::Named(name);
        let ty = TypeName { base, is_const: false, is_volatile: false, layers: Vec::new(), span };
        self.nested(|p| p.construct(ty, span, below))
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

    /// `throw x`: a call of what the library ends a call with, or of what throws an object where the text has handlers.
    fn throw_expression(&mut self) -> PResult<Expr> {
        let start = self.bump().span;
        let nothing = matches!(self.peek().kind, T::Semi | T::RParen | T::Colon | T::Comma | T::RBrace);
        let (args, height) = if nothing {
            (Vec::new(), 0)
        } else {
            let (value, height) = self.measured(Self::assignment_expr)?;
            (vec![value], height)
        };
        let catches = self.interner.contains(crate::library::LAND);
        let callee = match catches {
            true => crate::library::THROW_OBJECT,
            false => crate::library::THROW,
        };
        self.call_of(&[callee], args, start, height)
    }

    /// A call of a function of the library.
    pub(super) fn call_of(&mut self, path: &[&str], args: Vec<Expr>, start: Span, height: u32) -> PResult<Expr> {
        let part =
            |name: &&str| NamePart { ident: Ident { name: self.interner.intern(name), span: start }, args: None };
        let name = Name { global: true, parts: path.iter().map(part).collect(), span: start };
        let callee = self.leaf(ExprKind::Name(name), start);
        let span = self.since(start);
        self.node(ExprKind::Call(Box::new(callee), args), span, height)
    }

    /// A string, with the suffix of a user-defined literal perhaps: those of the standard library and of pybind11.
    fn literal_with_suffix(&mut self) -> PResult<Expr> {
        let start = self.peek().span;
        let string = self.string_literal();
        let suffix = self.peek();
        if suffix.kind != T::Ident || suffix.span.file != string.span.file || suffix.span.start != string.span.end {
            return Ok(string);
        }
        let path: &[&str] = match suffix.text(self.interner) {
            "_a" => &["pybind11", "arg"],
            "s" => &["std", "string"],
            "sv" => &["std", "string_view"],
            _ => {
                let text = "this user-defined literal is not supported";
                return Err(self.unsupported(suffix.span, text, "call the function that it stands for"));
            }
        };
        self.bump();
        self.call_of(path, vec![string], start, 0)
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

//! Loops.

use super::declared_names::NameKind;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Compound, Expr, ExprKind, Literal, Name, RangeVar, Stmt, StmtKind, UnaryOp};
use crate::front::lexer::Keyword as K;
use crate::front::lexer::TokenKind as T;

impl Parser<'_> {
    /// `while ( cond ) body`
    #[inline(never)]
    pub(super) fn while_statement(&mut self) -> PResult<StmtKind> {
        let start = self.bump().span;
        self.names.open();
        let head = self.condition();
        let body = head.and_then(|head| Ok((head, self.body()?)));
        self.names.close();
        let ((init, cond), body) = body?;
        if init.is_empty() {
            return Ok(StmtKind::While(cond, body));
        }
        if init.len() > 1 || !matches!(init.first().map(|s| &s.kind), Some(StmtKind::Declaration(_))) {
            let text = "only one variable can be declared in the condition of `while`";
            return Err(self.unsupported(start, text, "declare the others before the loop"));
        }
        // while (true) { declaration; if (!variable) break; body }
        let span = cond.span;
        let fresh = |kind| Expr { kind, span };
        let stop = Box::new(Stmt { kind: StmtKind::Break, span });
        let not = fresh(ExprKind::Unary(UnaryOp::Not, Box::new(cond)));
        let test = StmtKind::If { init: Vec::new(), cond: not, then: stop, els: None, is_constexpr: false };
        let mut stmts = init;
        stmts.push(Stmt { kind: test, span });
        stmts.push(*body);
        let whole = self.since(start);
        let body = Stmt { kind: StmtKind::Compound(Compound { stmts, span: whole }), span: whole };
        Ok(StmtKind::While(fresh(ExprKind::Literal(Literal::Bool(true))), Box::new(body)))
    }

    /// `do body while ( cond ) ;`
    #[inline(never)]
    pub(super) fn do_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        let body = self.body()?;
        if !self.eat_word(K::While) {
            return Err(self.expected("`while`"));
        }
        let open = self.expect(T::LParen)?;
        let cond = self.expression()?;
        self.expect_close(T::RParen, open)?;
        self.expect_semi("the condition of `do`")?;
        Ok(StmtKind::DoWhile(body, cond))
    }

    /// `for ( init ; cond ; step ) body`
    #[inline(never)]
    pub(super) fn for_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        let is_range = self.is_range_for();
        self.names.open();
        let result = if is_range { self.range_for() } else { self.for_parts() };
        self.names.close();
        result
    }

    /// `( [init;] declaration : range ) body`
    #[inline(never)]
    fn range_for(&mut self) -> PResult<StmtKind> {
        let open = self.expect(T::LParen)?;
        let mut init = None;
        if self.semi_before_colon() {
            let mut stmts = Vec::new();
            self.block_item(&mut stmts)?;
            init = stmts.pop().map(Box::new);
        }
        let var = if self.binding_at(self.pos) {
            let (_, ty, names) = self.binding_head()?;
            RangeVar { ty, names, brackets: true }
        } else {
            let outer = std::mem::replace(&mut self.want_type, true);
            let specs = self.decl_specifiers();
            self.want_type = outer;
            let specs = specs?;
            let declarator = self.declarator(true)?;
            let Some(name) = declarator.name.as_ref().and_then(Name::simple) else {
                return Err(self.expected("the name of a variable"));
            };
            RangeVar { ty: specs.with(declarator.layers, declarator.ty_end), names: vec![name], brackets: false }
        };
        self.expect(T::Colon)?;
        // The variable is not in scope of the range.
        let range = if self.at(T::LBrace) { self.argument_value()? } else { self.expression()? };
        for name in &var.names {
            self.names.declare(name.name, NameKind::Value);
        }
        self.expect_close(T::RParen, open)?;
        let body = self.body()?;
        Ok(StmtKind::RangeFor { init, var, range, body })
    }

    fn for_parts(&mut self) -> PResult<StmtKind> {
        let open = self.expect(T::LParen)?;
        let mut init = None;
        if self.starts_declaration(self.pos) {
            let first = self.peek().span;
            let mut stmts = Vec::new();
            self.block_item(&mut stmts)?;
            let span = self.since(first);
            init = match stmts.len() {
                1 => stmts.pop().map(Box::new),
                _ => {
                    return Err(self.report(Diagnostic::error(Code::Syntax, span, "one declaration is expected here")));
                }
            };
        } else if !self.eat(T::Semi) {
            let expr = self.expression()?;
            init = Some(Box::new(Stmt { span: expr.span, kind: StmtKind::Expr(expr) }));
            self.expect_head_semi()?;
        }
        if !self.at(T::Semi) && self.starts_declaration(self.pos) {
            let span = self.peek().span;
            let text = "a declaration in the condition of `for` is not supported";
            return Err(self.unsupported(span, text, "declare the variable in the body, and `break`"));
        }
        let cond = if self.at(T::Semi) { None } else { Some(self.expression()?) };
        self.expect_head_semi()?;
        let step = if self.at(T::RParen) { None } else { Some(self.expression()?) };
        self.expect_close(T::RParen, open)?;
        let body = self.body()?;
        Ok(StmtKind::For { init, cond, step, body })
    }

    /// A `;` in the head of `for`.
    fn expect_head_semi(&mut self) -> PResult<()> {
        if self.eat(T::Semi) {
            return Ok(());
        }
        let found = self.found();
        let span = self.peek().span;
        let text = format!("`;` is expected here, not {found}");
        let help = "the head of `for` is `for (init; condition; step)`";
        Err(self.report(Diagnostic::error(Code::Syntax, span, text).help(help)))
    }

    /// A `:` stands in the parentheses here, behind at most one `;`.
    fn is_range_for(&self) -> bool {
        self.range_colon().is_some()
    }

    /// A `;` stands before that `:`.
    fn semi_before_colon(&self) -> bool {
        // The search starts after the opening parenthesis.
        self.pos > 0 && self.range_colon_from(self.pos - 1).is_some_and(|(_, semi)| semi)
    }

    fn range_colon(&self) -> Option<(usize, bool)> {
        self.range_colon_from(self.pos)
    }

    /// The index of the `:` of a range in the parentheses at `index`, and whether a `;` stands before it.
    fn range_colon_from(&self, index: usize) -> Option<(usize, bool)> {
        let mut depth = 0usize;
        let mut questions = 0usize;
        let mut semi = false;
        let mut at = index;
        while at < self.tokens.len() {
            match self.at_index(at).kind {
                T::LParen | T::LBracket => depth += 1,
                T::RParen | T::RBracket => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return None;
                    }
                }
                T::Question => questions += 1,
                T::Colon if questions > 0 => questions -= 1,
                T::Colon => return (depth == 1).then_some((at, semi)),
                T::Semi if depth == 1 && !semi => semi = true,
                T::LBrace => at = self.closer(at),
                T::Semi | T::RBrace | T::Eof => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

//! `try` and its handlers.

use super::declared_names::NameKind;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Compound, Handler, ParamDecl, StmtKind, Try};
use crate::front::lexer::Keyword as K;
use crate::front::lexer::TokenKind as T;

impl Parser<'_> {
    /// `try compound-statement handler-seq`
    #[inline(never)]
    pub(super) fn try_statement(&mut self) -> PResult<StmtKind> {
        let start = self.bump().span;
        if !self.at(T::LBrace) {
            return Err(self.expected("the `{` of what is tried"));
        }
        let body = self.compound()?;
        let [land, done] = [crate::library::LAND, crate::library::HANDLED];
        let land = self.call_of(&[land], Vec::new(), start, 0)?;
        let done = self.call_of(&[done], Vec::new(), start, 0)?;
        let mut handlers: Vec<Handler> = Vec::new();
        while self.at_word(K::Catch) {
            let handler = self.handler()?;
            if let Some(all) = handlers.last().filter(|h| h.param.is_none()) {
                let text = "this handler is never reached: the one before it catches everything";
                let diag = Diagnostic::error(Code::BadControlFlow, handler.span, text);
                self.report(diag.related(all.span, "this one").help("write `catch (...)` last"));
            }
            handlers.push(handler);
        }
        if handlers.is_empty() {
            let text = "`try` needs a `catch` after its `}`";
            self.report(Diagnostic::error(Code::Syntax, self.prev(), text).related(start, "this `try`"));
            return Ok(StmtKind::Compound(body));
        }
        Ok(StmtKind::Try(Box::new(Try { body, land, done, handlers })))
    }

    /// `catch ( declaration-or-... ) compound-statement`
    pub(super) fn handler(&mut self) -> PResult<Handler> {
        let start = self.bump().span;
        self.names.open();
        let parts = self.handler_parts();
        self.names.close();
        let (param, span, body) = parts?;
        Ok(Handler { param, body, span: start.to(span) })
    }

    fn handler_parts(&mut self) -> PResult<(Option<ParamDecl>, crate::source::Span, Compound)> {
        let open = self.expect(T::LParen)?;
        let param = if self.eat(T::Ellipsis) { None } else { Some(self.nested(Self::parameter)?) };
        if let Some(default) = param.as_ref().and_then(|p| p.default.as_ref()) {
            let text = "what a handler catches has no value of its own";
            return Err(self.report(Diagnostic::error(Code::Syntax, default.span, text)));
        }
        if let Some(name) = param.as_ref().and_then(|p| p.name) {
            self.names.declare(name.name, NameKind::Value);
        }
        self.expect_close(T::RParen, open)?;
        let head = self.prev();
        if !self.at(T::LBrace) {
            return Err(self.expected("the `{` of the handler"));
        }
        Ok((param, head, self.compound()?))
    }
}

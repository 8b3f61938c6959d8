//! Attributes: `[[...]]` and `__attribute__((...))` are hints, but for those that say how memory is laid out.

use std::sync::Arc;

use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, IntSuffix, Literal};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::front::preprocess::PACK;

/// Layout of a type or a variable, as attributes give it.
#[derive(Debug, Clone, Default)]
pub(super) struct LayoutAttributes {
    /// `alignas(n)`, `__align__(n)`, `aligned(n)`.
    pub align: Option<Arc<Expr>>,
    /// `packed`
    pub packed: bool,
    /// The most alignment of members, by `#pragma pack`.
    pub pack: Option<u32>,
}

/// `__attribute__((aligned))`: the greatest alignment that the target has for a number.
const GREATEST: u64 = 16;

impl Parser<'_> {
    /// Attributes of what is laid out.
    pub(super) fn attributes(&mut self, layout: &mut LayoutAttributes) -> PResult<()> {
        loop {
            match self.kind() {
                T::Keyword(K::Align | K::Alignas) => layout.align = Some(self.alignment()?),
                T::Keyword(K::Attribute) => {
                    self.bump();
                    self.attribute_list(layout)?;
                }
                T::LBracket if self.kind_at(1) == T::LBracket => self.attribute_list(layout)?,
                _ => return Ok(()),
            }
        }
    }

    /// Attributes of what has no layout of its own.
    pub(super) fn skip_attributes(&mut self) {
        while self.at_word(K::Attribute) || self.at(T::LBracket) && self.kind_at(1) == T::LBracket {
            self.eat_word(K::Attribute);
            let mut layout = LayoutAttributes::default();
            let start = self.pos;
            if self.attribute_list(&mut layout).is_err() {
                return;
            }
            if layout.packed {
                let span = self.tokens[start].span;
                let diag = Diagnostic::error(Code::Unsupported, span, "`packed` is not supported here");
                self.report(diag.help("pack the struct: `struct __attribute__((packed)) S { ... };`"));
            }
        }
    }

    /// `((a, b(1)))`, `[[a, ns::b(1)]]`.
    fn attribute_list(&mut self, layout: &mut LayoutAttributes) -> PResult<()> {
        let start = self.pos;
        let end = self.closers.get(start).copied().unwrap_or(u32::MAX) as usize;
        if end <= start || end >= self.tokens.len() {
            self.skip_brackets();
            return Ok(());
        }
        while self.pos < end {
            let token = self.peek();
            let follows = self.kind_at(1) == T::LParen;
            if token.kind != T::Ident {
                match token.kind {
                    // The outer brackets; arguments of others are passed over whole.
                    T::LParen | T::LBracket if self.pos > start + 1 => {
                        self.skip_brackets();
                    }
                    _ => {
                        self.bump();
                    }
                }
                continue;
            }
            match token.text(self.interner).trim_matches('_') {
                "packed" => {
                    layout.packed = true;
                    self.bump();
                }
                PACK => {
                    self.bump();
                    self.bump();
                    let most = self.peek().text(self.interner).parse().ok();
                    layout.pack = most;
                    self.bump();
                    self.bump();
                }
                "aligned" if follows => layout.align = Some(self.alignment()?),
                "aligned" => {
                    let span = self.bump().span;
                    layout.align = Some(Arc::new(self.node(
                        ExprKind::Literal(Literal::Int(GREATEST, IntSuffix::Int)),
                        span,
                        0,
                    )?));
                }
                _ => {
                    self.bump();
                }
            }
        }
        self.pos = end;
        self.bump();
        Ok(())
    }
}

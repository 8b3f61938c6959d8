//! Recovery: matching braces beforehand, and skipping to where the next statement or declaration starts.

use super::Parser;
use super::declared_names::NameKind;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::lexer::{Flags, Keyword, TokenKind};
use crate::source::Span;

impl Parser<'_> {
    /// Pairs every `{` with its `}` and reports those that have no partner.
    pub(super) fn match_braces(&mut self) {
        self.closers = vec![u32::MAX; self.tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        // Those of `(` and `[`, each with how many braces were open before it.
        let mut brackets: Vec<(usize, usize)> = Vec::new();
        for (i, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::LParen | TokenKind::LBracket => brackets.push((i, open.len())),
                TokenKind::RParen | TokenKind::RBracket => {
                    if let Some((start, _)) = brackets.pop_if(|(_, braces)| *braces == open.len()) {
                        self.closers[start] = i as u32;
                    }
                }
                _ => {}
            }
            match token.kind {
                TokenKind::LBrace => open.push(i),
                TokenKind::RBrace => match open.pop() {
                    Some(start) => {
                        self.closers[start] = i as u32;
                        while brackets.pop_if(|(_, braces)| *braces > open.len()).is_some() {}
                    }
                    None if !self.unbalanced => {
                        brackets.clear();
                        self.unbalanced = true;
                        self.diags.push(
                            Diagnostic::error(Code::UnbalancedBrace, token.span, "this `}` closes nothing")
                                .help("remove it, or add the `{` it belongs to"),
                        );
                    }
                    None => brackets.clear(),
                },
                _ => {}
            }
        }
        let Some(&first) = open.first() else { return };
        self.unbalanced = true;
        let last = self.tokens.len() as u32 - 1;
        open.iter().for_each(|&start| self.closers[start] = last);
        // A literal or comment that is never closed may well have swallowed the `}`.
        if self.diags.iter().any(|d| d.code == Code::UnterminatedLiteral) {
            return;
        }
        let end = self.tokens[self.tokens.len() - 1].span;
        let mut diag = Diagnostic::error(Code::UnbalancedBrace, self.tokens[first].span, "this `{` is never closed");
        // A kernel inside a function body tells where the `}` should have been.
        let in_function = first > 0 && self.tokens[first - 1].kind == TokenKind::RParen;
        let global = TokenKind::Keyword(Keyword::Global);
        if let Some(kernel) = self.tokens[first..].iter().find(|t| in_function && t.kind == global) {
            diag = diag.related(kernel.span, "it is still open where this function starts");
        }
        self.diags.push(diag.related(end, "the text ends here").help("add the missing `}`"));
    }

    /// The index at which the `{` at `index` closes.
    pub(super) fn closer(&self, index: usize) -> usize {
        (self.closers[index] as usize).min(self.tokens.len() - 1)
    }

    /// The index of the bracket that closes the `(` or `[` at `index`; `None` when braces or the end come first.
    pub(super) fn bracket_end(&self, index: usize) -> Option<usize> {
        if matches!(self.at_index(index).kind, TokenKind::LParen | TokenKind::LBracket) {
            let end = self.closers.get(index).copied().filter(|end| *end != u32::MAX);
            return end.map(|end| end as usize);
        }
        let mut depth = 0usize;
        let mut at = index;
        loop {
            match self.at_index(at).kind {
                TokenKind::LParen | TokenKind::LBracket => depth += 1,
                TokenKind::RParen | TokenKind::RBracket => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at);
                    }
                }
                TokenKind::LBrace => at = self.closer(at),
                TokenKind::RBrace | TokenKind::Eof => return None,
                _ => {}
            }
            if at + 1 >= self.tokens.len() {
                return None;
            }
            at += 1;
        }
    }

    /// Skips `( ... )` or `[ ... ]`, if it stands here.
    pub(super) fn skip_brackets(&mut self) -> Span {
        let start = self.peek().span;
        if matches!(self.kind(), TokenKind::LParen | TokenKind::LBracket) {
            match self.bracket_end(self.pos) {
                Some(end) => self.pos = (end + 1).min(self.tokens.len() - 1),
                None => {
                    self.bump();
                }
            }
        }
        self.since(start)
    }

    /// Skips `{ ... }`, if it stands here.
    pub(super) fn skip_braces(&mut self) {
        if self.at(TokenKind::LBrace) {
            self.pos = (self.closer(self.pos) + 1).min(self.tokens.len() - 1);
        }
    }

    /// Skips the statement that starts at token `start` and failed at the current one; `mark` is from before it.
    pub(super) fn skip_statement(&mut self, start: usize, mark: usize) {
        self.unit.skipped.extend(self.names.declared_since(mark));
        let failed = self.pos;
        let is_for = self.at_index(start).kind == TokenKind::Keyword(Keyword::For);
        let mut parens = 0usize;
        let mut at = start;
        loop {
            let token = self.at_index(at);
            match token.kind {
                TokenKind::LParen | TokenKind::LBracket => parens += 1,
                TokenKind::RParen | TokenKind::RBracket => parens = parens.saturating_sub(1),
                TokenKind::Semi
                    if at >= failed
                        && !(is_for && parens > 0)
                        && self.at_index(at + 1).kind != TokenKind::Keyword(Keyword::Else) =>
                {
                    at += 1;
                    break;
                }
                TokenKind::LBrace => {
                    at = self.closer(at);
                    let next = self.at_index(at + 1).kind;
                    let goes_on = matches!(
                        next,
                        TokenKind::Keyword(Keyword::Else) | TokenKind::Semi | TokenKind::Comma | TokenKind::RParen
                    );
                    if at >= failed && !goes_on {
                        at += 1;
                        break;
                    }
                }
                TokenKind::RBrace if at >= failed => break,
                TokenKind::Eof => break,
                TokenKind::Keyword(Keyword::Global) if self.unbalanced && at > start => break,
                _ => {}
            }
            at += 1;
        }
        self.pos = at.min(self.tokens.len() - 1);
        self.forget_names(start, self.pos);
    }

    /// Skips the top-level declaration that starts at token `start` and failed at the current one; `mark` is from before it.
    pub(super) fn skip_item(&mut self, start: usize, mark: usize) {
        self.unit.skipped.extend(self.names.declared_since(mark));
        let mut at = self.pos;
        loop {
            let token = self.at_index(at);
            let starts_line = at > start && token.flags.has(Flags::LINE_START);
            match token.kind {
                TokenKind::Semi => {
                    at += 1;
                    break;
                }
                TokenKind::LBrace => {
                    at = self.closer(at) + 1;
                    if self.at_index(at).kind == TokenKind::Semi {
                        at += 1;
                    }
                    break;
                }
                TokenKind::RBrace | TokenKind::Eof => break,
                TokenKind::Keyword(
                    Keyword::Global
                    | Keyword::Device
                    | Keyword::Host
                    | Keyword::Template
                    | Keyword::Extern
                    | Keyword::Namespace
                    | Keyword::Typedef,
                ) if starts_line => break,
                _ => {}
            }
            at += 1;
        }
        self.pos = at.min(self.tokens.len() - 1);
        // Only the head declares names that others may use.
        let head = (start..self.pos).find(|&i| self.at_index(i).kind == TokenKind::LBrace).unwrap_or(self.pos);
        self.forget_names(start, head);
    }

    /// Remembers names that skipped text may have declared, so that nobody complains about them later.
    pub(super) fn forget_names(&mut self, start: usize, end: usize) {
        for index in start..end {
            let token = self.at_index(index);
            if token.kind == TokenKind::Ident && self.names.kind(token.symbol, self.interner) == NameKind::Free {
                self.unit.skipped.insert(token.symbol);
            }
        }
    }
}

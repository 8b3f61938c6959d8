//! Reading ahead: what a name means, whether a declaration, a type or parameters start here. Nothing is consumed.

use super::Parser;
use super::names::{NameKind, is_builtin_type};
use super::types::{is_function_specifier, is_simple_type_word, is_type_word};
use crate::front::ast::Symbol;
use crate::front::lexer::{Keyword as K, TokenKind as T};

/// A name read ahead.
pub(super) struct NameScan {
    /// Index of the token after it.
    pub end: usize,
    /// Its one spelling.
    pub symbol: Symbol,
    pub kind: NameKind,
    /// Signs of the closing `>>` that do not belong to it.
    pub split: i32,
}

/// Template arguments read ahead.
pub(super) struct TemplateArgs {
    /// Index of the token after them.
    pub end: usize,
    /// How they are spelled, blanks normalised.
    pub text: String,
    /// As in [`NameScan`].
    pub split: i32,
}

impl Parser<'_> {
    /// Reads a possibly qualified name with template arguments at `index`, without consuming it.
    pub(super) fn scan_name(&mut self, index: usize) -> Option<NameScan> {
        let mut at = index;
        if self.at_index(at).kind == T::ColonColon {
            at += 1;
        }
        let mut parts: Vec<(Symbol, String)> = Vec::new();
        let mut split = 0;
        let mut plain = true;
        loop {
            let token = self.at_index(at);
            if token.kind != T::Ident {
                return None;
            }
            at += 1;
            if self.at_index(at).kind != T::ColonColon && self.at_index(at).kind != T::Lt && parts.is_empty() {
                // The usual case, a plain name, costs no text.
                let kind = self.names.kind(token.symbol, self.interner);
                return Some(NameScan { end: at, symbol: token.symbol, kind, split: 0 });
            }
            let mut text = token.text(self.interner).to_owned();
            if self.at_index(at).kind == T::Lt
                && self.names.kind(token.symbol, self.interner) != NameKind::Value
                && let Some(args) = self.scan_template_args(at)
            {
                text.push_str(&args.text);
                at = args.end;
                split = args.split;
                plain = false;
            }
            let own_namespace = self.names.kind(token.symbol, self.interner) == NameKind::Namespace;
            let more = split == 0 && self.at_index(at).kind == T::ColonColon && self.at_index(at + 1).kind == T::Ident;
            if !(own_namespace && more) {
                parts.push((token.symbol, text));
            }
            if !more {
                break;
            }
            at += 1;
        }
        let (last, last_text) = parts.last()?;
        let is_std = parts.len() > 1
            && plain
            && parts[..parts.len() - 1].iter().all(|(_, p)| p == "std" || p == "cuda")
            && is_builtin_type(last_text);
        if plain && (parts.len() == 1 || is_std) {
            let kind = if is_std { NameKind::Type } else { self.names.kind(*last, self.interner) };
            return Some(NameScan { end: at, symbol: *last, kind, split });
        }
        let text = parts.iter().map(|(_, p)| p.as_str()).collect::<Vec<_>>().join("::");
        let symbol = self.interner.intern(&text);
        let kind = self.names.kind(symbol, self.interner);
        Some(NameScan { end: at, symbol, kind, split })
    }

    /// Reads `< ... >` at `index`, if it can be template arguments.
    pub(super) fn scan_template_args(&mut self, index: usize) -> Option<TemplateArgs> {
        let mut depth = 0i32;
        let mut text = String::new();
        let mut at = index;
        loop {
            let token = self.at_index(at);
            let closing = match token.kind {
                T::Lt => {
                    depth += 1;
                    0
                }
                T::Gt => 1,
                T::Shr => 2,
                T::LaunchClose => 3,
                T::Ident | T::Number | T::ColonColon | T::Comma | T::Star | T::Amp | T::Ellipsis => 0,
                T::Keyword(word) if is_simple_type_word(word) => 0,
                T::Keyword(K::Const | K::Volatile | K::True | K::False | K::Typename) => 0,
                _ => return None,
            };
            // Arguments are short; a limit keeps comparisons in long texts cheap.
            if at - index > 64 {
                return None;
            }
            let used = closing.min(depth);
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let spelling = if closing > 0 { ">".repeat(used as usize) } else { token.text(self.interner).to_owned() };
            if text.ends_with(word) && spelling.starts_with(word) {
                text.push(' ');
            }
            text.push_str(&spelling);
            depth -= used;
            at += 1;
            if depth == 0 {
                let split = closing - used;
                // With a `>` left over the token stays, to be split by whoever consumes it.
                return Some(TemplateArgs { end: if split > 0 { at - 1 } else { at }, text, split });
            }
        }
    }

    /// Turns the current `>>` or `>>>`, part of which has been used, into the `rest` signs left of it.
    pub(super) fn split_angle(&mut self, rest: i32) {
        let token = &mut self.tokens[self.pos];
        token.kind = if rest == 1 { T::Gt } else { T::Shr };
        token.span.start = token.span.end.saturating_sub(rest as u32).max(token.span.start);
    }

    /// Whether a type starts at `index`, as in a cast or `sizeof`.
    pub(super) fn type_at(&mut self, index: usize) -> bool {
        match self.at_index(index).kind {
            T::Keyword(word) => is_type_word(word),
            T::Ident | T::ColonColon => self.scan_name(index).is_some_and(|s| s.kind == NameKind::Type),
            _ => false,
        }
    }

    /// Whether the `(` after a name holds parameters rather than an initializer.
    pub(super) fn parameters_follow(&mut self) -> bool {
        let index = self.pos + 1;
        match self.at_index(index).kind {
            T::RParen | T::Ellipsis => true,
            T::LBracket => self.at_index(index + 1).kind == T::LBracket,
            T::Keyword(word) => {
                is_type_word(word)
                    && !(is_simple_type_word(word)
                        && self.at_index(index + 1).kind == T::LParen
                        && self.at_index(index + 2).kind != T::Star)
            }
            T::Ident | T::ColonColon => {
                let Some(scan) = self.scan_name(index) else { return false };
                let next = self.at_index(scan.end).kind;
                let after = self.at_index(scan.end + 1).kind;
                match scan.kind {
                    NameKind::Type => !matches!(next, T::LParen | T::LBrace | T::ColonColon),
                    NameKind::Value => false,
                    _ => {
                        next == T::Ident
                            || next == T::Keyword(K::Const)
                            || matches!(next, T::Star | T::Amp | T::AmpAmp)
                                && (matches!(after, T::RParen | T::Comma | T::Keyword(K::Const | K::Restrict))
                                    || after == T::Ident
                                        && matches!(
                                            self.at_index(scan.end + 2).kind,
                                            T::RParen | T::Comma | T::Assign | T::LBracket | T::Ident
                                        )
                                        && !self.declared_value(scan.end + 1))
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether the token at `index` names a variable or function.
    pub(super) fn declared_value(&mut self, index: usize) -> bool {
        let token = self.at_index(index);
        token.kind == T::Ident && self.names.kind(token.symbol, self.interner) == NameKind::Value
    }

    /// Whether a declaration starts at `index` rather than an expression.
    pub(super) fn starts_declaration(&mut self, index: usize) -> bool {
        match self.at_index(index).kind {
            T::Keyword(K::Attribute) => false,
            T::Keyword(word) if is_simple_type_word(word) => {
                let mut at = index;
                while matches!(self.at_index(at).kind, T::Keyword(word) if is_simple_type_word(word)) {
                    at += 1;
                }
                match self.at_index(at).kind {
                    T::LParen => self.paren_declares(at),
                    T::LBrace | T::ColonColon => false,
                    _ => true,
                }
            }
            T::Keyword(word) => {
                is_function_specifier(word)
                    || is_type_word(word)
                    || matches!(word, K::Using | K::StaticAssert | K::Template | K::Namespace)
            }
            T::LBracket if self.at_index(index + 1).kind == T::LBracket => {
                let end = self.bracket_end(index);
                end.is_some_and(|end| self.at_index(end + 1).kind != T::LBracket && self.starts_declaration(end + 1))
            }
            T::Ident | T::ColonColon => self.name_declares(index),
            _ => false,
        }
    }

    /// Whether the name at `index` is the type of a declaration.
    fn name_declares(&mut self, index: usize) -> bool {
        // The usual statement starts with a variable or a call.
        if self.declared_value(index) || self.at_index(index + 1).kind == T::LParen && !self.type_at(index) {
            return false;
        }
        let Some(scan) = self.scan_name(index) else { return false };
        let next = self.at_index(scan.end).kind;
        match scan.kind {
            NameKind::Value => false,
            NameKind::Type => match next {
                T::Ident | T::Star | T::Amp | T::AmpAmp | T::LBracket => true,
                T::Keyword(word) => is_type_word(word) || is_function_specifier(word) || word == K::Operator,
                T::LParen => self.paren_declares(scan.end),
                _ => false,
            },
            _ => match next {
                T::Ident | T::Keyword(K::Const | K::Volatile) => true,
                T::Star | T::Amp | T::AmpAmp => {
                    let mut at = scan.end;
                    while matches!(
                        self.at_index(at).kind,
                        T::Star | T::Amp | T::AmpAmp | T::Keyword(K::Const | K::Volatile | K::Restrict)
                    ) {
                        at += 1;
                    }
                    self.at_index(at).kind == T::Ident
                        && !self.declared_value(at)
                        && matches!(
                            self.at_index(at + 1).kind,
                            T::Assign | T::Semi | T::Comma | T::LBracket | T::Colon | T::LBrace
                        )
                }
                _ => false,
            },
        }
    }

    /// Whether the `(` at `index`, after a type, starts a declarator: what can be a declaration is one.
    fn paren_declares(&mut self, index: usize) -> bool {
        match self.at_index(index + 1).kind {
            T::Star | T::Amp | T::AmpAmp => {
                // `int (*p)[3]` declares, `int(*p)` alone converts unless nothing else follows.
                let end = self.bracket_end(index);
                end.is_some_and(|end| {
                    matches!(self.at_index(end + 1).kind, T::LBracket | T::LParen | T::Assign | T::Semi)
                })
            }
            T::Ident => {
                self.at_index(index + 2).kind == T::RParen
                    && matches!(self.at_index(index + 3).kind, T::Assign | T::Semi | T::LBracket)
            }
            _ => false,
        }
    }
}

//! Lookahead: what a name means, whether a declaration, a type or parameters start here. Nothing is consumed.

use super::Parser;
use super::declared_names::{NameEntry, NameKind};
use super::fundamental_types::{is_simple_type_word, is_type_word};
use super::name::{Lookup, MAX_PARTS, Position};
use super::types::is_function_specifier;
use crate::front::ast::Symbol;
use crate::front::lexer::{Keyword as K, TokenKind as T};

/// Most tokens of template arguments after a name that is not known to be a template; a limit keeps comparisons in long
/// texts cheap.
const MAX_UNSURE: usize = 64;
/// Most tokens of template arguments that are read ahead at all.
const MAX_SURE: usize = 1024;

/// A name read ahead.
pub(super) struct NameScan {
    /// Index of the token after it.
    pub end: usize,
    /// Last identifier.
    pub symbol: Symbol,
    /// The identifier before the last one.
    pub before: Option<Symbol>,
    pub kind: NameKind,
    /// It has template arguments somewhere.
    pub has_args: bool,
}

/// Template arguments read ahead.
pub(super) struct TemplateArgs {
    /// Index of the token after them; of the `>>` they share with others, when `split`.
    pub end: usize,
    /// They end inside a `>>`, of which signs are left.
    pub split: bool,
}

impl Parser<'_> {
    /// Reads a possibly qualified name with template arguments at `index`, without consuming it.
    pub(super) fn scan_name(&mut self, index: usize) -> Option<NameScan> {
        let mut at = index;
        let mut lookup = Lookup::Here;
        if self.at_index(at).kind == T::ColonColon {
            at += 1;
            lookup = Lookup::Global;
        }
        let mut before = None;
        let mut has_args = false;
        for _ in 0..MAX_PARTS {
            let template = before.is_some() && self.at_index(at).kind == T::Keyword(K::Template);
            at += usize::from(template);
            let token = self.at_index(at);
            if token.kind != T::Ident {
                return None;
            }
            at += 1;
            let entry = self.lookup_part(lookup, token.symbol);
            let mut split = false;
            if self.at_index(at).kind == T::Lt {
                let args = if template {
                    self.scan_template_args(at, true)
                } else {
                    self.args_follow(entry, lookup, at, Position::Type)
                };
                if let Some(args) = args {
                    (at, split, has_args) = (args.end, args.split, true);
                }
            }
            let more = !split
                && self.at_index(at).kind == T::ColonColon
                && matches!(self.at_index(at + 1).kind, T::Ident | T::Keyword(K::Template));
            if !more {
                return Some(NameScan { end: at, symbol: token.symbol, before, kind: entry.kind, has_args });
            }
            at += 1;
            before = Some(token.symbol);
            lookup = Self::lookup_in(lookup, entry);
        }
        None
    }

    /// The end of the template arguments that the `<` at `index` after a name starts, if it does.
    pub(super) fn args_follow(
        &mut self,
        entry: NameEntry,
        lookup: Lookup,
        index: usize,
        position: Position,
    ) -> Option<TemplateArgs> {
        if entry.template {
            // It cannot be anything else, even where the end is not found.
            let args = self.scan_template_args(index, true);
            return Some(args.unwrap_or(TemplateArgs { end: index + 1, split: false }));
        }
        let known = match entry.kind {
            NameKind::Value => {
                let name = self.at_index(index.saturating_sub(1)).symbol;
                if !self.unit.skipped.contains(&name) {
                    return None;
                }
                false
            }
            NameKind::Type => matches!(lookup, Lookup::Here | Lookup::Global | Lookup::Scope(_)),
            _ if matches!(lookup, Lookup::Dependent) => return None,
            _ => matches!(lookup, Lookup::Foreign),
        };
        let args = self.scan_template_args(index, known)?;
        // `a < b > c` compares; what follows arguments is no operand.
        let operand = matches!(
            self.at_index(args.end).kind,
            T::Ident | T::Number | T::Str | T::Char | T::Minus | T::Bang | T::Tilde | T::Keyword(K::True | K::False)
        );
        // A type among them is no operand, either.
        let sure = args.split || position == Position::Type || !operand || self.holds_type(index, args.end);
        sure.then_some(args)
    }

    /// An argument of the `<` at `index`, up to `end`, can be nothing but a type.
    fn holds_type(&mut self, index: usize, end: usize) -> bool {
        (index + 1..end).any(|at| {
            matches!(self.at_index(at - 1).kind, T::Lt | T::Comma) && self.type_at(at) && {
                let after = match self.at_index(at).kind {
                    T::Ident | T::ColonColon => self.scan_name(at).map_or(at, |scan| scan.end),
                    T::Keyword(K::Typename | K::Decltype) if self.is_typed_value(at) => return false,
                    _ => at + 1,
                };
                !matches!(self.at_index(after).kind, T::LParen | T::LBrace)
                    || matches!(self.at_index(at).kind, T::Keyword(K::Typename | K::Decltype))
            }
        })
    }

    /// Reads `< ... >` at `index`, if it can be template arguments. Where that is not `sure`, only what types and plain
    /// constants are made of is accepted.
    pub(super) fn scan_template_args(&mut self, index: usize, sure: bool) -> Option<TemplateArgs> {
        let mut depth = 0i32;
        let mut at = index;
        let limit = if sure { MAX_SURE } else { MAX_UNSURE };
        loop {
            let token = self.at_index(at);
            let closing = match token.kind {
                T::Lt => {
                    // Inside arguments a `<` after a value compares.
                    depth += i32::from(depth == 0 || !self.declared_value(at - 1));
                    0
                }
                T::Gt => 1,
                T::Shr => 2,
                T::LaunchClose => 3,
                T::Semi | T::RBrace | T::RParen | T::RBracket | T::Eof | T::LaunchOpen => return None,
                T::LParen | T::LBracket if sure => {
                    at = self.bracket_end(at)?;
                    0
                }
                T::LBrace if sure => {
                    at = self.closer(at);
                    0
                }
                // Parentheses of a function type, or of `decltype`.
                T::LParen if at > index + 1 && self.function_type_at(at) => {
                    at = self.bracket_end(at)?;
                    0
                }
                T::Keyword(K::Decltype) if self.at_index(at + 1).kind == T::LParen => {
                    at = self.bracket_end(at + 1)?;
                    0
                }
                T::Ident | T::Number | T::ColonColon | T::Comma | T::Star | T::Amp | T::Ellipsis => 0,
                T::Keyword(word) if is_simple_type_word(word) => 0,
                T::Keyword(K::Const | K::Volatile | K::True | K::False | K::Typename) => 0,
                _ if sure => 0,
                _ => return None,
            };
            if at - index > limit {
                return None;
            }
            if depth <= closing {
                let split = closing > depth;
                // A token with a `>` left over stays, to be split by the function that consumes it.
                return Some(TemplateArgs { end: if split { at } else { at + 1 }, split });
            }
            depth -= closing;
            at += 1;
        }
    }

    /// Turns the current `>>` or `>>>`, part of which has been used, into the `rest` signs left of it.
    pub(super) fn split_angle(&mut self, rest: u32) {
        let token = &mut self.tokens[self.pos];
        token.kind = if rest == 1 { T::Gt } else { T::Shr };
        token.span.start = token.span.end.saturating_sub(rest).max(token.span.start);
    }

    /// The index after `*`, `&` and qualifiers at `index`.
    pub(super) fn skip_pointers(&self, index: usize) -> usize {
        let mut at = index;
        while matches!(
            self.at_index(at).kind,
            T::Star | T::Amp | T::AmpAmp | T::Keyword(K::Const | K::Volatile | K::Restrict)
        ) {
            at += 1;
        }
        at
    }

    /// A type starts at `index`, as in a cast or `sizeof`.
    pub(super) fn type_at(&mut self, index: usize) -> bool {
        match self.at_index(index).kind {
            T::Keyword(word) => is_type_word(word),
            T::Ident | T::ColonColon => self
                .scan_name(index)
                .is_some_and(|s| s.kind == NameKind::Type && self.at_index(s.end).kind != T::ColonColon),
            _ => false,
        }
    }

    /// The `(` after a name holds parameters rather than an initializer.
    pub(super) fn parameters_follow(&mut self) -> bool {
        let index = self.pos + 1;
        match self.at_index(index).kind {
            T::RParen | T::Ellipsis => true,
            T::LBracket => self.at_index(index + 1).kind == T::LBracket,
            T::Keyword(K::GridConstant | K::Register | K::Attribute | K::Alignas | K::Align) => true,
            T::Keyword(word) => {
                is_type_word(word)
                    && !(is_simple_type_word(word)
                        && self.at_index(index + 1).kind == T::LParen
                        && !self.pointer_in_parens(index + 1))
            }
            T::Ident | T::ColonColon => {
                let Some(scan) = self.scan_name(index) else { return false };
                let next = self.at_index(scan.end).kind;
                let after = self.at_index(scan.end + 1).kind;
                match scan.kind {
                    NameKind::Type => {
                        !matches!(next, T::LParen | T::LBrace | T::ColonColon) || self.pointer_in_parens(scan.end)
                    }
                    NameKind::Value => false,
                    _ => {
                        let qualified = scan.has_args || scan.before.is_some();
                        next == T::Ident
                            || matches!(next, T::Keyword(K::Const | K::GridConstant))
                            || next == T::Ellipsis && after != T::RParen
                            || matches!(next, T::RParen | T::Comma) && qualified && self.function.is_none()
                            || matches!(next, T::Star | T::Amp | T::AmpAmp)
                                && (matches!(
                                    after,
                                    T::RParen | T::Comma | T::Ellipsis | T::Keyword(K::Const | K::Restrict)
                                ) || after == T::Ident
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

    /// The `(` at `index` begins `(&name)[n]`, `(*name)(...)` or `(*)(...)`: a parameter, not a call.
    fn pointer_in_parens(&self, index: usize) -> bool {
        if !matches!(self.at_index(index + 1).kind, T::Star | T::Amp | T::AmpAmp) {
            return false;
        }
        let named = self.skip_pointers(index + 1);
        let end = if self.at_index(named).kind == T::Ident { named + 1 } else { named };
        self.at_index(index).kind == T::LParen
            && self.at_index(end).kind == T::RParen
            && matches!(self.at_index(end + 1).kind, T::LBracket | T::LParen)
    }

    /// The token at `index` names a variable or function that is no template.
    pub(super) fn declared_value(&mut self, index: usize) -> bool {
        let token = self.at_index(index);
        token.kind == T::Ident && {
            let entry = self.names.lookup(token.symbol, self.interner);
            entry.kind == NameKind::Value && !entry.template
        }
    }

    /// A declaration starts at `index` rather than an expression.
    pub(super) fn starts_declaration(&mut self, mut index: usize) -> bool {
        // Attributes stand before either.
        loop {
            let is_list = self.at_index(index).kind == T::LBracket && self.at_index(index + 1).kind == T::LBracket;
            let open = match self.at_index(index).kind {
                T::Keyword(K::Attribute) => index + 1,
                _ if is_list => index,
                _ => break,
            };
            match self.bracket_end(open) {
                Some(end)
                    if !is_list
                        || self.at_index(end + 1).kind != T::LBracket
                        || self.at_index(end + 2).kind == T::LBracket =>
                {
                    index = end + 1
                }
                _ => return false,
            }
        }
        match self.at_index(index).kind {
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
            T::Keyword(K::Typename | K::Decltype) => !self.is_typed_value(index),
            T::Keyword(word) => {
                is_function_specifier(word)
                    || is_type_word(word)
                    || matches!(word, K::Using | K::StaticAssert | K::Template | K::Namespace)
            }
            T::Ident | T::ColonColon => self.name_declares(index),
            _ => false,
        }
    }

    /// The name at `index` is the type of a declaration.
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
                    let at = self.skip_pointers(scan.end);
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

    /// The `(` at `index`, after a type, starts a declarator: what can be a declaration is one.
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

    /// A binding `auto [a, b]` stands at `index`, with specifiers before it.
    pub(super) fn binding_at(&self, index: usize) -> bool {
        let mut at = index;
        let mut auto = false;
        loop {
            match self.at_index(at).kind {
                T::Keyword(K::Const | K::Volatile | K::Static | K::Constexpr) => {}
                T::Keyword(K::Auto) if !auto => auto = true,
                T::LBracket if !auto && self.at_index(at + 1).kind == T::LBracket => match self.bracket_end(at) {
                    Some(end) => at = end,
                    None => return false,
                },
                _ if auto => break,
                _ => return false,
            }
            at += 1;
        }
        at += usize::from(matches!(self.at_index(at).kind, T::Amp | T::AmpAmp));
        self.at_index(at).kind == T::LBracket && self.at_index(at + 1).kind != T::LBracket
    }
}

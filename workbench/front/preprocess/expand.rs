//! Expansion of macros: argument collection, `#`, `##`, replacement and rescanning.

use std::rc::Rc;

use super::macro_uses::MacroUse;
use super::macros::{BuiltinMacro, Macro, Piece, ReplacementItem};
use super::{MAX_NESTING, PendingTokens, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::lexer::{Flags, Token, TokenKind, lex_one};
use crate::source::Span;

/// An argument of a function-like macro: as written, and expanded once that is asked for.
struct Argument {
    raw: Vec<Token>,
    expanded: Option<Vec<Token>>,
}

impl Preprocessor<'_> {
    /// The next token with macros expanded; `None` at the end of an argument, or when stopped.
    pub(super) fn next_expanded(&mut self) -> Option<Token> {
        loop {
            let mut token = self.next_raw()?;
            if token.kind != TokenKind::Ident || token.flags.has(Flags::PAINTED) {
                return Some(token);
            }
            if self.in_condition
                && let Some(value) = self.condition_operator(token)
            {
                return Some(value);
            }
            let Some(found) = self.lookup(token.symbol) else { return Some(token) };
            if self.slot(token.symbol).disabled > 0 {
                token.flags = token.flags.with(Flags::PAINTED);
                return Some(token);
            }
            if let Some(result) = self.enter(token, &found) {
                return Some(result);
            }
        }
    }

    /// Expands tokens on their own, as an argument or a condition.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let depth = self.contexts.len();
        self.contexts.push(PendingTokens { tokens, pos: 0, owner: None, barrier: true });
        let mut out = Vec::new();
        while let Some(token) = self.next_expanded() {
            out.push(token);
        }
        while self.contexts.len() > depth {
            self.pop_context();
        }
        out
    }

    /// Replaces a use of a macro. Gives the token back when it is no use after all, or the result when that is one token.
    fn enter(&mut self, name: Token, found: &Rc<Macro>) -> Option<Token> {
        if let Some(builtin) = found.builtin {
            return self.builtin(name, builtin);
        }
        let mut use_span = name.span;
        let mut args = Vec::new();
        if let Some(params) = &found.params {
            if !self.paren_follows() {
                return Some(name);
            }
            let (raw, close) = self.collect(name, params.len(), found.variadic)?;
            if !name.flags.has(Flags::FROM_MACRO) {
                use_span = name.span.to(close);
            }
            args = match self.check_count(found, raw, name, use_span) {
                Some(args) => args,
                // A value in its place lets the parser go on.
                None => return Some(self.text_token(TokenKind::Number, "0", name)),
            };
        }
        if self.contexts.len() >= MAX_NESTING {
            self.stop(use_span, format!("macros nest more than {MAX_NESTING} deep"));
            return None;
        }
        if !name.flags.has(Flags::FROM_MACRO) {
            self.uses.push(MacroUse { span: use_span, name: name.symbol, defined: found.span });
        }
        let mut tokens = self.substitute(&found.items, found, &mut args, use_span);
        if let Some(first) = tokens.first_mut() {
            let blanks = Flags::SPACE.with(Flags::LINE_START);
            first.flags = first.flags.without(blanks);
            for flag in [Flags::SPACE, Flags::LINE_START] {
                if name.flags.has(flag) {
                    first.flags = first.flags.with(flag);
                }
            }
        }
        if !self.charge(tokens.len() + 1, use_span) {
            return None;
        }
        self.slot(name.symbol).disabled += 1;
        self.contexts.push(PendingTokens { tokens, pos: 0, owner: Some(name.symbol), barrier: false });
        None
    }

    /// `__LINE__` and its like.
    fn builtin(&mut self, name: Token, builtin: BuiltinMacro) -> Option<Token> {
        match builtin {
            BuiltinMacro::Line => {
                let line = self.sources.line_column(name.span).map_or(0, |lc| lc.line);
                Some(self.text_token(TokenKind::Number, &line.to_string(), name))
            }
            BuiltinMacro::File => {
                let file = self.sources.file(name.span.file).map_or("", |f| f.name.as_str());
                let text = format!("\"{}\"", file.replace('\\', "\\\\").replace('"', "\\\""));
                Some(self.text_token(TokenKind::Str, &text, name))
            }
            BuiltinMacro::Counter => {
                self.counter += 1;
                let text = (self.counter - 1).to_string();
                Some(self.text_token(TokenKind::Number, &text, name))
            }
            BuiltinMacro::Pragma => {
                if !self.paren_follows() {
                    self.error(Code::BadDirective, name.span, "`_Pragma` needs a string in parentheses");
                    return None;
                }
                let (args, close) = self.collect(name, 1, false)?;
                let span = if name.flags.has(Flags::FROM_MACRO) { name.span } else { name.span.to(close) };
                let mut bytes = Vec::new();
                let text = match args[0][..] {
                    [arg] if arg.kind == TokenKind::Str => {
                        crate::front::lexer::literal::string(self.interner.name(arg.symbol), &mut bytes).ok()
                    }
                    _ => None,
                };
                match text.and_then(|()| String::from_utf8(bytes).ok()) {
                    Some(text) => self.pragma(&text, span),
                    None => self.error(Code::BadDirective, span, "`_Pragma` needs a string in parentheses"),
                }
                None
            }
        }
    }

    /// The next token is `(`; used-up contexts are left on the way.
    fn paren_follows(&mut self) -> bool {
        while let Some(context) = self.contexts.last() {
            if let Some(token) = context.tokens.get(context.pos) {
                return token.kind == TokenKind::LParen;
            }
            if context.barrier {
                return false;
            }
            self.pop_context();
        }
        self.frames.last().is_some_and(|f| f.tokens[f.pos].kind == TokenKind::LParen)
    }

    /// Reads `( a, b, c )`: the arguments and where they close. A variadic macro's last argument keeps its commas.
    fn collect(&mut self, name: Token, params: usize, variadic: bool) -> Option<(Vec<Vec<Token>>, Span)> {
        let was_collecting = std::mem::replace(&mut self.collecting, true);
        let mut args: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0usize;
        let mut close = None;
        self.next_raw();
        while let Some(mut token) = self.next_raw() {
            match token.kind {
                TokenKind::Eof => break,
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => {
                    close = Some(token.span);
                    break;
                }
                TokenKind::RParen => depth -= 1,
                TokenKind::Comma if depth == 0 && !(variadic && args.len() >= params) => {
                    args.push(Vec::new());
                    continue;
                }
                TokenKind::Ident if self.slot(token.symbol).disabled > 0 => {
                    token.flags = token.flags.with(Flags::PAINTED);
                }
                _ => {}
            }
            // Arguments inside expansions are read again at every level: that is work, too.
            if !self.contexts.is_empty() && !self.charge(1, name.span) {
                break;
            }
            if let Some(last) = args.last_mut() {
                last.push(token);
            }
        }
        self.collecting = was_collecting;
        if close.is_none() && !self.stopped {
            let message = format!("the arguments of macro `{}` are never closed", self.interner.name(name.symbol));
            let diag = Diagnostic::error(Code::BadMacro, name.span, message).help("add the missing `)`");
            self.diags.push(diag);
        }
        close.map(|span| (args, span))
    }

    /// Holds the number of arguments against the parameters.
    fn check_count(
        &mut self,
        found: &Macro,
        mut raw: Vec<Vec<Token>>,
        name: Token,
        span: Span,
    ) -> Option<Vec<Argument>> {
        let params = found.params.as_ref().map_or(0, Vec::len);
        if params == 0 && raw.len() == 1 && raw[0].is_empty() {
            raw.clear();
        }
        // `...` may be left out altogether.
        if found.variadic && raw.len() + 1 == params {
            raw.push(Vec::new());
        }
        if raw.len() != params {
            let least = if found.variadic { params - 1 } else { params };
            let text = format!(
                "macro `{}` takes {}{} argument{}, {} given",
                self.interner.name(name.symbol),
                if found.variadic { "at least " } else { "" },
                least,
                if least == 1 { "" } else { "s" },
                raw.len(),
            );
            let mut diag = Diagnostic::error(Code::BadMacro, span, text);
            if !found.span.is_none() {
                diag = diag.related(found.span, "defined here");
            }
            self.diags.push(diag);
            return None;
        }
        Some(raw.into_iter().map(|raw| Argument { raw, expanded: None }).collect())
    }

    /// The replacement with arguments put in.
    fn substitute(
        &mut self,
        items: &[ReplacementItem],
        found: &Macro,
        args: &mut [Argument],
        use_span: Span,
    ) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        // True if the operand left of a `##` was empty.
        let mut left_empty = true;
        for (i, item) in items.iter().enumerate() {
            if self.stopped {
                break;
            }
            let pasted = i > 0 && items[i - 1].paste;
            let comma_before = pasted && items[i - 1].token.kind == TokenKind::Comma;
            let blanks = item.token.flags;
            let variadic_param = matches!(item.piece, Piece::Param(p) if found.variadic && p + 1 == args.len());
            // GNU: `, ## args` drops the comma when there are none, and pastes nothing otherwise.
            let gnu_comma = comma_before && variadic_param;
            let mut fragment = match &item.piece {
                Piece::Token => vec![body_token(item.token, use_span)],
                Piece::Stringify(p) => vec![self.stringify(&args[*p].raw, item.token, use_span)],
                Piece::Param(p) if (pasted && !gnu_comma) || item.paste => args[*p].raw.clone(),
                Piece::Param(p) => self.expanded(&mut args[*p]),
                Piece::VaOpt(inner) => {
                    let present = match args.len().checked_sub(1) {
                        Some(last) => !self.expanded(&mut args[last]).is_empty(),
                        None => false,
                    };
                    if present { self.substitute(inner, found, args, use_span) } else { Vec::new() }
                }
            };
            if let (Some(first), false) = (fragment.first_mut(), matches!(item.piece, Piece::Token)) {
                let keep = if blanks.has(Flags::SPACE) { Flags::SPACE } else { Flags::default() };
                first.flags = first.flags.without(Flags::SPACE.with(Flags::LINE_START)).with(keep);
            }
            if !self.charge(fragment.len(), use_span) || !self.charge_text(&fragment, use_span) {
                break;
            }
            if gnu_comma {
                if fragment.is_empty() {
                    out.pop();
                }
                left_empty = fragment.is_empty();
                out.append(&mut fragment);
                continue;
            }
            if pasted && !left_empty && !fragment.is_empty() {
                let left = out.pop();
                let right = fragment.remove(0);
                if let Some(left) = left {
                    self.paste(left, right, use_span, &mut out);
                }
                out.append(&mut fragment);
                continue;
            }
            left_empty = if pasted { left_empty && fragment.is_empty() } else { fragment.is_empty() };
            out.append(&mut fragment);
        }
        out
    }

    /// An argument expanded on its own, once.
    fn expanded(&mut self, arg: &mut Argument) -> Vec<Token> {
        if let Some(done) = &arg.expanded {
            return done.clone();
        }
        // A bound on how deep arguments hold uses that hold arguments.
        let tokens = if self.contexts.len() >= MAX_NESTING {
            let span = arg.raw.first().map_or(Span::NONE, |t| t.span);
            self.stop(span, format!("macros nest more than {MAX_NESTING} deep"));
            Vec::new()
        } else if arg.raw.iter().any(|t| t.kind == TokenKind::Ident) {
            self.expand_list(arg.raw.clone())
        } else {
            arg.raw.clone()
        };
        arg.expanded = Some(tokens.clone());
        tokens
    }

    /// `left ## right`.
    fn paste(&mut self, left: Token, right: Token, use_span: Span, out: &mut Vec<Token>) {
        if !self.token_fits(left.text(self.interner).len() + right.text(self.interner).len(), use_span) {
            return;
        }
        let text = format!("{}{}", left.text(self.interner), right.text(self.interner));
        match lex_one(&text, self.interner) {
            Some(token) => {
                let flags = left.flags.without(Flags::PAINTED).with(Flags::FROM_MACRO);
                out.push(Token { flags, span: use_span, ..token });
            }
            None => {
                let diag = Diagnostic::error(Code::BadMacro, use_span, format!("`##` makes no token of `{text}`"));
                self.diags.push(diag.help("take the `##` away"));
                out.push(left);
                out.push(right);
            }
        }
    }

    /// `#param`: the argument as a string literal.
    fn stringify(&mut self, raw: &[Token], hash: Token, use_span: Span) -> Token {
        let mut text = String::from("\"");
        for (i, token) in raw.iter().enumerate() {
            if i > 0 && token.spaced() {
                text.push(' ');
            }
            let spelling = token.text(self.interner);
            if matches!(token.kind, TokenKind::Str | TokenKind::Char) {
                for c in spelling.chars() {
                    match c {
                        '"' | '\\' => text.extend(['\\', c]),
                        '\n' => text.push_str("\\n"),
                        _ => text.push(c),
                    }
                }
            } else {
                text.push_str(spelling);
            }
            // One argument may hold millions of long tokens: the text never grows far past the limit.
            if !self.token_fits(text.len() + 1, use_span) {
                break;
            }
        }
        text.push('"');
        self.text_token(TokenKind::Str, &text, Token { span: use_span, ..hash })
    }
}

/// A token of a replacement at the place of use.
fn body_token(token: Token, span: Span) -> Token {
    Token { span, flags: token.flags.with(Flags::FROM_MACRO).without(Flags::LINE_START), ..token }
}

//! Definitions of macros: `#define` lines to [`Macro`]s.

use std::rc::Rc;

use super::{MacroState, Preprocessor, headers};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::Symbol;
use crate::front::lexer::{Token, TokenKind, lex};
use crate::source::{FileId, Span};

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// `None` for an object-like macro. A variadic one has its variadic parameter last.
    pub params: Option<Vec<Symbol>>,
    pub variadic: bool,
    pub items: Vec<ReplacementItem>,
    /// The replacement as written, to compare definitions.
    raw: Vec<Token>,
    /// The name where it was defined; [`Span::NONE`] for predefined ones.
    pub span: Span,
    pub builtin: Option<BuiltinMacro>,
}

/// Macros whose replacement depends on the place of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltinMacro {
    Line,
    File,
    Counter,
    /// `_Pragma("...")`.
    Pragma,
}

/// A part of a replacement.
#[derive(Debug, Clone)]
pub(super) struct ReplacementItem {
    pub piece: Piece,
    /// The token it was written as; gives blanks and messages.
    pub token: Token,
    /// `##` stands between it and the next item.
    pub paste: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Piece {
    Token,
    Param(usize),
    /// `#param`.
    Stringify(usize),
    /// `__VA_OPT__( items )`.
    VaOpt(Vec<ReplacementItem>),
}

impl Macro {
    fn builtin(builtin: BuiltinMacro) -> Macro {
        Macro {
            params: None,
            variadic: false,
            items: Vec::new(),
            raw: Vec::new(),
            span: Span::NONE,
            builtin: Some(builtin),
        }
    }

    /// The two definitions say the same.
    fn same(&self, other: &Macro) -> bool {
        let key = |t: &Token, first: bool| (t.kind, t.kind.has_symbol().then_some(t.symbol), !first && t.spaced());
        self.params == other.params
            && self.variadic == other.variadic
            && self.raw.len() == other.raw.len()
            && self.raw.iter().zip(&other.raw).enumerate().all(|(i, (a, b))| key(a, i == 0) == key(b, i == 0))
    }
}

impl Preprocessor<'_> {
    /// The macro of a name, predefined ones made on first sight.
    pub(super) fn lookup(&mut self, symbol: Symbol) -> Option<Rc<Macro>> {
        match &self.slot(symbol).state {
            MacroState::Defined(found) => return Some(found.clone()),
            MacroState::Undefined => return None,
            MacroState::Unseen => {}
        }
        let made = self.predefined(symbol).map(Rc::new);
        self.set_state(symbol, made.clone().map_or(MacroState::Undefined, MacroState::Defined));
        made
    }

    /// Makes a predefined macro.
    fn predefined(&mut self, symbol: Symbol) -> Option<Macro> {
        let name = self.interner.name(symbol);
        let builtin = match name {
            "__LINE__" => Some(BuiltinMacro::Line),
            "__FILE__" => Some(BuiltinMacro::File),
            "__COUNTER__" => Some(BuiltinMacro::Counter),
            "_Pragma" => Some(BuiltinMacro::Pragma),
            _ => None,
        };
        if let Some(builtin) = builtin {
            return Some(Macro::builtin(builtin));
        }
        if name == "assert" {
            let ndebug = self.interner.intern("NDEBUG");
            self.lookup(ndebug)?;
            return self.macro_of_text("(...) ((void)0)");
        }
        let text = headers::predefined(name)?;
        self.macro_of_text(text)
    }

    /// A macro from what follows its name in a definition of ours.
    fn macro_of_text(&mut self, text: &str) -> Option<Macro> {
        let mut tokens = lex(text, FileId(u32::MAX), self.interner);
        tokens.pop();
        let function = text.starts_with('(') && text.contains(") ");
        self.parse_macro(&tokens, function, Span::NONE).ok()
    }

    /// Defines what a header of the CUDA samples defines.
    pub(super) fn samples_macros(&mut self) {
        for (name, text) in crate::library::SAMPLES_MACROS {
            let symbol = self.interner.intern(name);
            if let Some(made) = self.macro_of_text(text) {
                self.set_state(symbol, MacroState::Defined(Rc::new(made)));
            }
        }
    }

    /// `#define`: `line` is what follows the word.
    pub(super) fn define(&mut self, line: &[Token], directive: Span) {
        let Some(name) = self.macro_name(line, directive) else { return };
        let function = line.get(1).is_some_and(|t| t.kind == TokenKind::LParen && !t.spaced());
        let made = match self.parse_macro(&line[1..], function, name.span) {
            Ok(made) => made,
            Err(diag) => {
                self.diags.push(*diag);
                return;
            }
        };
        if let MacroState::Defined(old) = &self.slot(name.symbol).state
            && !old.span.is_none()
            && !old.same(&made)
        {
            let span = old.span;
            let text = format!("macro `{}` is defined anew with another replacement", self.interner.name(name.symbol));
            let diag = Diagnostic::warning(Code::BadMacro, name.span, text).related(span, "first defined here");
            self.diags.push(diag.help("write `#undef` before it if this is meant"));
        }
        self.set_state(name.symbol, MacroState::Defined(Rc::new(made)));
    }

    /// The name a `#define`, `#undef` or `#ifdef` is about.
    pub(super) fn macro_name(&mut self, line: &[Token], directive: Span) -> Option<Token> {
        match line.first() {
            Some(&token) if token.kind == TokenKind::Ident => {
                let name = self.interner.name(token.symbol);
                if !matches!(name, "defined" | "__VA_ARGS__" | "__VA_OPT__") {
                    return Some(token);
                }
                let message = format!("`{name}` cannot be the name of a macro");
                self.error(Code::BadMacro, token.span, message);
            }
            Some(token) => self.error(Code::BadDirective, token.span, "the name of a macro is expected here"),
            None => self.error(Code::BadDirective, directive, "this directive needs the name of a macro"),
        }
        None
    }

    /// Parameters and replacement.
    fn parse_macro(&mut self, rest: &[Token], function: bool, span: Span) -> Result<Macro, Box<Diagnostic>> {
        let mut made = Macro { params: None, variadic: false, items: Vec::new(), raw: Vec::new(), span, builtin: None };
        let mut body = rest;
        if function {
            let (params, variadic, used) = self.parameters(rest, span)?;
            made.params = Some(params);
            made.variadic = variadic;
            body = &rest[used..];
        }
        made.raw = body.to_vec();
        made.items = self.items(body, &made)?;
        Ok(made)
    }

    /// `( a, b, ... )`: names, whether variadic, tokens used.
    fn parameters(&mut self, rest: &[Token], name: Span) -> Result<(Vec<Symbol>, bool, usize), Box<Diagnostic>> {
        let bad = |span: Span, text: &str| Box::new(Diagnostic::error(Code::BadMacro, span, text));
        let mut params: Vec<Symbol> = Vec::new();
        let mut at = 1;
        if rest.get(1).is_some_and(|t| t.kind == TokenKind::RParen) {
            return Ok((params, false, 2));
        }
        loop {
            let mut variadic = false;
            match rest.get(at) {
                Some(t) if t.kind == TokenKind::Ellipsis => {
                    params.push(self.interner.intern("__VA_ARGS__"));
                    variadic = true;
                    at += 1;
                }
                Some(t) if t.kind == TokenKind::Ident => {
                    if params.contains(&t.symbol) {
                        return Err(bad(t.span, "two parameters of the macro have this name"));
                    }
                    params.push(t.symbol);
                    at += 1;
                    if rest.get(at).is_some_and(|t| t.kind == TokenKind::Ellipsis) {
                        variadic = true;
                        at += 1;
                    }
                }
                Some(t) => return Err(bad(t.span, "the name of a macro parameter is expected here")),
                None => return Err(bad(name, "the parameter list of this macro is never closed")),
            }
            match rest.get(at).map(|t| t.kind) {
                Some(TokenKind::RParen) => return Ok((params, variadic, at + 1)),
                Some(TokenKind::Comma) if !variadic => at += 1,
                Some(_) if variadic => return Err(bad(rest[at].span, "`...` must be the last parameter")),
                Some(_) => return Err(bad(rest[at].span, "`,` or `)` is expected between macro parameters")),
                None => return Err(bad(name, "the parameter list of this macro is never closed")),
            }
        }
    }

    /// A replacement as items.
    fn items(&mut self, body: &[Token], made: &Macro) -> Result<Vec<ReplacementItem>, Box<Diagnostic>> {
        let bad = |span: Span, text: &str| Box::new(Diagnostic::error(Code::BadMacro, span, text));
        let mut items: Vec<ReplacementItem> = Vec::new();
        let param = |t: &Token| match (&made.params, t.kind) {
            (Some(params), TokenKind::Ident) => params.iter().position(|&p| p == t.symbol),
            _ => None,
        };
        let mut at = 0;
        while at < body.len() {
            let token = body[at];
            at += 1;
            let piece = match token.kind {
                TokenKind::HashHash => {
                    match items.last_mut() {
                        Some(last) if at < body.len() => last.paste = true,
                        _ => return Err(bad(token.span, "`##` needs a token on either side")),
                    }
                    continue;
                }
                TokenKind::Hash if made.params.is_some() => match body.get(at).and_then(&param) {
                    Some(index) => {
                        at += 1;
                        Piece::Stringify(index)
                    }
                    None => return Err(bad(token.span, "`#` must be followed by a parameter of the macro")),
                },
                TokenKind::Ident => match (param(&token), self.interner.name(token.symbol)) {
                    (Some(index), _) => Piece::Param(index),
                    (None, "__VA_ARGS__") => {
                        return Err(bad(
                            token.span,
                            "`__VA_ARGS__` stands for the `...` that this macro does not have",
                        ));
                    }
                    (None, "__VA_OPT__") if made.variadic => {
                        let Some(len) = parenthesised(&body[at..]) else {
                            return Err(bad(token.span, "`__VA_OPT__` needs text in parentheses"));
                        };
                        let inner = &body[at + 1..at + len - 1];
                        if inner.iter().any(|t| t.kind == TokenKind::Ident && t.symbol == token.symbol) {
                            return Err(bad(token.span, "`__VA_OPT__` cannot stand inside itself"));
                        }
                        at += len;
                        Piece::VaOpt(self.items(inner, made)?)
                    }
                    _ => Piece::Token,
                },
                _ => Piece::Token,
            };
            items.push(ReplacementItem { piece, token, paste: false });
        }
        Ok(items)
    }
}

/// The number of tokens that `( ... )` at the start of `tokens` takes.
fn parenthesised(tokens: &[Token]) -> Option<usize> {
    if tokens.first()?.kind != TokenKind::LParen {
        return None;
    }
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LParen => depth += 1,
            TokenKind::RParen => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

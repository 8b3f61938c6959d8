//! Tokens to the syntax tree: recursive descent, one function a production, Pratt for expressions.
//!
//! Productions return `Err(Reported)` once they have reported something they cannot go on from; statements and top-level
//! declarations catch it and skip to where the next one starts ([`recover`]). Nesting is bounded twice: [`MAX_NESTING`] bounds
//! the parser's own recursion, [`MAX_HEIGHT`] the height of expressions that grow without recursion (`a + b + c + ...`), so
//! that every later walk, and dropping the tree, may recurse freely.
//!
//! C++ cannot be parsed without knowing which names are types and which are templates ([`declared_names`]); where the text does not
//! tell (dependent names, the names of libraries), what follows decides ([`lookahead`]). Templates are read once, as
//! written. The bodies of member functions are read after all members of their struct, since they may use them.

mod attribute;
mod concept;
mod decl;
mod declarator;
mod declared_names;
mod enums;
mod exceptions;
mod expr;
mod function;
mod fundamental_types;
mod lambda;
mod lookahead;
mod loops;
mod name;
mod new_delete;
mod primary;
mod record;
mod recover;
mod stmt;
mod template;
#[cfg(test)]
mod tests;
mod types;
mod unsupported;

use super::ast::{Ident, Interner, Item, Symbol, TranslationUnit};
use super::lexer::{Flags, Keyword, Token, TokenKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::steps::step;
pub use declared_names::DeclaredNames;
pub(super) use function::is_of_heap;
pub(super) use name::is_overloadable;

/// Deepest nesting of statements, declarators and parentheses, `else if` included.
pub const MAX_NESTING: u32 = 256;
/// Greatest height of an expression tree.
pub const MAX_HEIGHT: u32 = 500;
/// Syntax errors after which the rest of the text is not examined.
const MAX_ERRORS: usize = 50;

/// Parses a whole text, recovering at statement and declaration boundaries.
pub fn parse(tokens: Vec<Token>, interner: &mut Interner, diags: &mut Vec<Diagnostic>) -> TranslationUnit {
    parse_after(&mut DeclaredNames::default(), tokens, interner, diags)
}

/// Parses a text that follows others, which declared `names`; adds its own.
pub fn parse_after(
    names: &mut DeclaredNames,
    mut tokens: Vec<Token>,
    interner: &mut Interner,
    diags: &mut Vec<Diagnostic>,
) -> TranslationUnit {
    let mut unit = TranslationUnit::default();
    if tokens.is_empty() {
        return unit;
    }
    lambda::join_launches(&mut tokens);
    let mut parser = Parser {
        closers: Vec::new(),
        tokens,
        pos: 0,
        interner,
        diags,
        names: std::mem::take(names),
        unit: &mut unit,
        depth: 0,
        height: 0,
        errors: 0,
        last_error: Span::NONE,
        nesting_reported: false,
        unbalanced: false,
        function: None,
        class: None,
        in_members: false,
        in_angle: false,
        want_type: false,
        peak: 0,
        ahead: Vec::new(),
    };
    parser.match_braces();
    let mut items = Vec::new();
    parser.items(false, &mut items);
    *names = parser.names;
    unit.items = items;
    unit
}

/// Something has been reported, and the production cannot go on.
#[derive(Debug, Clone, Copy)]
struct Reported;

type PResult<T> = Result<T, Reported>;

struct Parser<'a> {
    tokens: Vec<Token>,
    /// The index of the closing bracket of each `{`, `(` and `[`; `u32::MAX` for other tokens, and for a `(` that is followed by braces or
    /// the end first.
    closers: Vec<u32>,
    pos: usize,
    interner: &'a mut Interner,
    diags: &'a mut Vec<Diagnostic>,
    names: DeclaredNames,
    unit: &'a mut TranslationUnit,
    /// Productions open inside one another, held against [`MAX_NESTING`].
    depth: u32,
    /// Height of the expression parsed last.
    height: u32,
    errors: usize,
    last_error: Span,
    nesting_reported: bool,
    /// Braces do not match, which has been reported.
    unbalanced: bool,
    /// The function being read, for `__func__`.
    function: Option<Symbol>,
    /// The struct whose members are being read: its name before `(` declares a constructor.
    class: Option<Symbol>,
    /// Members of a struct are being read: parentheses after a name hold parameters.
    in_members: bool,
    /// Template arguments or parameters are being read: `>` ends an expression.
    in_angle: bool,
    /// A type must stand here, so that an unknown name is one.
    want_type: bool,
    /// Functions of the namespace that blocks declare.
    ahead: Vec<Item>,
    /// Greatest height of the expressions made since [`Parser::measured`] began.
    peak: u32,
}

impl Parser<'_> {
    /// The current token; `Eof` for ever once there.
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// The token `n` further on.
    fn peek_at(&self, n: usize) -> Token {
        self.at_index(self.pos + n)
    }

    fn at_index(&self, index: usize) -> Token {
        step();
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    fn kind_at(&self, n: usize) -> TokenKind {
        self.peek_at(n).kind
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        token
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn at_word(&self, word: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(word)
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: Keyword) -> bool {
        self.eat(TokenKind::Keyword(word))
    }

    /// The span of the token before the current one.
    fn prev(&self) -> Span {
        if self.pos == 0 { self.peek().span } else { self.tokens[self.pos - 1].span }
    }

    /// The span from `start` to the last token consumed.
    fn since(&self, start: Span) -> Span {
        start.to(self.prev())
    }

    /// The empty span right after the last token consumed.
    fn after_prev(&self) -> Span {
        let prev = self.prev();
        Span { start: prev.end, ..prev }
    }

    /// The current token as messages call it.
    fn found(&self) -> String {
        let token = self.peek();
        match token.kind {
            TokenKind::Eof => "the end of the text".to_owned(),
            TokenKind::Str => "a string".to_owned(),
            _ => format!("`{}`", token.text(self.interner)),
        }
    }

    /// Reports a syntax error; a second one at the same place is dropped, and after [`MAX_ERRORS`] reading ends.
    #[cold]
    fn report(&mut self, diag: Diagnostic) -> Reported {
        let again = self.last_error == diag.span && !diag.span.is_none();
        // A consequence of braces that do not match needs no second message.
        let at_end = self.at(TokenKind::Eof) && self.unbalanced;
        if !again && !at_end && self.errors <= MAX_ERRORS {
            self.last_error = diag.span;
            self.errors += 1;
            if self.errors > MAX_ERRORS {
                let span = diag.span;
                self.diags.push(diag);
                let text = format!("more than {MAX_ERRORS} syntax errors; the rest of the text is not examined");
                self.diags.push(Diagnostic::error(Code::Syntax, span, text));
                self.pos = self.tokens.len() - 1;
            } else {
                self.diags.push(diag);
            }
        }
        Reported
    }

    /// Reports that something else was expected at the current token.
    #[cold]
    fn expected(&mut self, what: &str) -> Reported {
        let span = self.peek().span;
        if self.at(TokenKind::Hash) {
            return self.misplaced_hash(span);
        }
        let found = self.found();
        self.report(Diagnostic::error(Code::Syntax, span, format!("{what} is expected here, not {found}")))
    }

    #[cold]
    fn misplaced_hash(&mut self, span: Span) -> Reported {
        self.report(
            Diagnostic::error(Code::Syntax, span, "`#` cannot stand inside a line of code")
                .help("a directive starts its own line"),
        )
    }

    /// Consumes a token of a kind, or reports that it is missing.
    fn expect(&mut self, kind: TokenKind) -> PResult<Span> {
        if self.at(kind) { Ok(self.bump().span) } else { Err(self.expected(&format!("`{}`", kind.spelling()))) }
    }

    /// `;`. Where the next line starts something new the missing one is reported and taken as read.
    fn expect_semi(&mut self, after: &str) -> PResult<()> {
        if self.eat(TokenKind::Semi) {
            return Ok(());
        }
        let next = self.peek();
        if next.kind == TokenKind::Hash {
            return Err(self.misplaced_hash(next.span));
        }
        let fresh = next.flags.has(Flags::LINE_START) || matches!(next.kind, TokenKind::RBrace | TokenKind::Eof);
        let diag = if fresh {
            Diagnostic::error(Code::Syntax, self.after_prev(), format!("`;` is missing after {after}"))
                .replacement(self.after_prev(), ";")
        } else {
            let found = self.found();
            Diagnostic::error(Code::Syntax, next.span, format!("`;` is expected after {after}, not {found}"))
        };
        let reported = self.report(diag);
        if fresh { Ok(()) } else { Err(reported) }
    }

    /// The `)` of the `(` at `open`. Where a body or a new line follows the missing one is taken as read.
    fn expect_close(&mut self, kind: TokenKind, open: Span) -> PResult<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let next = self.peek();
        if next.kind == TokenKind::Hash {
            return Err(self.misplaced_hash(next.span));
        }
        let opening = if kind == TokenKind::RParen { "(" } else { "[" };
        let soft = matches!(next.kind, TokenKind::LBrace | TokenKind::Semi | TokenKind::RBrace | TokenKind::Eof);
        let diag = if soft {
            Diagnostic::error(Code::Syntax, self.after_prev(), format!("`{}` is missing here", kind.spelling()))
        } else {
            let found = self.found();
            let text = format!("`{}` is expected here, not {found}", kind.spelling());
            Diagnostic::error(Code::Syntax, next.span, text)
        };
        let reported = self.report(diag.related(open, format!("to close this `{opening}`")));
        if soft { Ok(()) } else { Err(reported) }
    }

    /// A name.
    fn ident(&mut self, what: &str) -> PResult<Ident> {
        let token = self.peek();
        if token.kind == TokenKind::Ident {
            self.bump();
            return Ok(Ident { name: token.symbol, span: token.span });
        }
        if let TokenKind::Keyword(_) = token.kind {
            let text = format!("`{}` is a keyword and cannot be {what}", token.text(self.interner));
            return Err(self.report(Diagnostic::error(Code::Syntax, token.span, text).help("choose another name")));
        }
        Err(self.expected(what))
    }

    /// Enters a nested production; [`Parser::leave`] must follow on every way out.
    fn enter(&mut self) -> PResult<()> {
        if self.depth >= MAX_NESTING {
            let span = self.peek().span;
            return Err(self.too_deep(span));
        }
        self.depth += 1;
        Ok(())
    }

    /// Runs a production one level deeper.
    fn nested<R>(&mut self, production: impl FnOnce(&mut Self) -> PResult<R>) -> PResult<R> {
        self.nested_by(1, production)
    }

    /// Runs a production that takes as much stack as `levels` ordinary ones.
    fn nested_by<R>(&mut self, levels: u32, production: impl FnOnce(&mut Self) -> PResult<R>) -> PResult<R> {
        if self.depth + levels > MAX_NESTING {
            let span = self.peek().span;
            return Err(self.too_deep(span));
        }
        self.depth += levels;
        let result = production(self);
        self.depth -= levels;
        result
    }

    /// Runs a production inside brackets of its own, where `>` compares.
    fn unangled<R>(&mut self, production: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.in_angle, false);
        let result = production(self);
        self.in_angle = outer;
        result
    }

    /// Runs a production; the greatest height of the expressions it made, wherever in its tree they are.
    fn measured<R>(&mut self, production: impl FnOnce(&mut Self) -> PResult<R>) -> PResult<(R, u32)> {
        let outer = std::mem::replace(&mut self.peak, 0);
        let result = production(self);
        let inner = self.peak;
        self.peak = outer.max(inner);
        Ok((result?, inner))
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Reports the nesting limit, once in a text.
    #[cold]
    fn too_deep(&mut self, span: Span) -> Reported {
        if !self.nesting_reported {
            self.nesting_reported = true;
            let text = format!(
                "this is nested too deeply; the limits are {MAX_NESTING} levels and {MAX_HEIGHT} operators in a row"
            );
            self.diags.push(
                Diagnostic::error(Code::NestingLimit, span, text)
                    .help("split it with a variable or a function of its own"),
            );
        }
        Reported
    }
}

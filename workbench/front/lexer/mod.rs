//! Text to tokens.
//!
//! The lexer never reports: what it cannot read becomes a token of a garbage kind ([`TokenKind::is_garbage`]), so that text
//! in a skipped `#if` group may hold anything. Numbers and strings stay as spelled until someone needs their value
//! ([`literal`]); `#` and `##` need the spelling. Names are told from keywords only after preprocessing
//! ([`TokenKind::of_word`]), as C++ has it.

pub mod kind;
pub mod literal;
#[cfg(test)]
mod tests;

pub use kind::{Keyword, TokenKind};

use logos::Logos;

use super::ast::{Interner, Symbol};
use crate::source::{FileId, Span};

/// A token: what it is, its text where that varies, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Token {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Blanks and line ends before it, and how it came to be.
    pub flags: Flags,
    /// Spelling, where [`TokenKind::has_symbol`]; meaningless otherwise.
    pub symbol: Symbol,
    /// Place of the token; for a token out of a macro's body the place of the macro's use.
    pub span: Span,
}

/// Facts about a token, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// Blanks or a comment stand before it.
    pub const SPACE: Flags = Flags(1);
    /// It is the first of its line (continued lines count as one).
    pub const LINE_START: Flags = Flags(2);
    /// A name that must not be expanded again ("painted blue").
    pub const PAINTED: Flags = Flags(4);
    /// It comes from the body of a macro, not from text that the user sees at its span.
    pub const FROM_MACRO: Flags = Flags(8);

    /// Bits of `other` are set, one at least.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags with the bits of `other`.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Without the bits of `other`.
    #[must_use]
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

impl Token {
    /// The text of the token, for messages, `#` and `##`.
    pub fn text<'a>(&self, interner: &'a Interner) -> &'a str {
        if self.kind.has_symbol() { interner.name(self.symbol) } else { self.kind.spelling() }
    }

    /// Something separates it from the token before it.
    pub fn spaced(&self) -> bool {
        self.flags.has(Flags::SPACE.with(Flags::LINE_START))
    }
}

/// Tokens of a text, ended by one `Eof`. Time is linear in the text.
pub fn lex(text: &str, file: FileId, interner: &mut Interner) -> Vec<Token> {
    match splice(text) {
        None => lex_spliced(text, text, &[], file, interner),
        Some((joined, splices)) => lex_spliced(&joined, text, &splices, file, interner),
    }
}

/// Reads `text` as exactly one token, as `##` needs; `None` when it is none or several.
pub fn lex_one(text: &str, interner: &mut Interner) -> Option<Token> {
    let mut tokens = lex_spliced(text, text, &[], FileId(u32::MAX), interner);
    tokens.pop();
    match tokens[..] {
        [token] if !token.kind.is_garbage() && !token.spaced_after_start(text) => Some(token),
        _ => None,
    }
}

impl Token {
    /// The token leaves part of `text`, its whole source, uncovered.
    fn spaced_after_start(&self, text: &str) -> bool {
        self.span.start != 0 || self.span.end as usize != text.len()
    }
}

/// A removed backslash-newline: where it stood in the joined text, and how many bytes were removed up to it.
#[derive(Debug, Clone, Copy)]
struct Splice {
    at: u32,
    removed: u32,
}

/// Joins continued lines; `None` when there are none, which is the usual case and costs one search.
fn splice(text: &str) -> Option<(String, Vec<Splice>)> {
    let bytes = text.as_bytes();
    let mut joined = String::new();
    let mut splices: Vec<Splice> = Vec::new();
    let mut copied = 0;
    let mut search = 0;
    while let Some(found) = text[search..].find('\\') {
        let at = search + found;
        let end = match (bytes.get(at + 1), bytes.get(at + 2)) {
            (Some(b'\n'), _) => at + 2,
            (Some(b'\r'), Some(b'\n')) => at + 3,
            _ => {
                search = at + 1;
                continue;
            }
        };
        joined.push_str(&text[copied..at]);
        let removed = splices.last().map_or(0, |s| s.removed) + (end - at) as u32;
        splices.push(Splice { at: joined.len() as u32, removed });
        copied = end;
        search = end;
    }
    if splices.is_empty() {
        return None;
    }
    joined.push_str(&text[copied..]);
    Some((joined, splices))
}

/// Offsets of joined text back to offsets of the original, for ascending queries.
struct OffsetMap<'a> {
    splices: &'a [Splice],
    next: usize,
}

impl OffsetMap<'_> {
    /// Start of a token: behind continuations that stand right before it.
    fn start(&mut self, at: u32) -> u32 {
        while self.splices.get(self.next).is_some_and(|s| s.at <= at) {
            self.next += 1;
        }
        at + self.removed()
    }

    /// End of a token: before continuations that stand right behind it.
    fn end(&mut self, at: u32) -> u32 {
        while self.splices.get(self.next).is_some_and(|s| s.at < at) {
            self.next += 1;
        }
        at + self.removed()
    }

    fn removed(&self) -> u32 {
        if self.next == 0 { 0 } else { self.splices[self.next - 1].removed }
    }
}

/// Lexes `text`, whose continued lines are joined; spans are those of `original`.
fn lex_spliced(text: &str, original: &str, splices: &[Splice], file: FileId, interner: &mut Interner) -> Vec<Token> {
    // Kernel text runs to about four bytes a token.
    let mut tokens = Vec::with_capacity(text.len() / 4 + 4);
    let mut map = OffsetMap { splices, next: 0 };
    let mut flags = Flags::LINE_START;
    // A byte order mark says nothing.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lexer = TokenKind::lexer(text);
    lexer.bump(mark);
    while let Some(result) = lexer.next() {
        let mut kind = result.unwrap_or(TokenKind::Unknown);
        match kind {
            TokenKind::Space | TokenKind::LineComment => {
                flags = flags.with(Flags::SPACE);
                continue;
            }
            TokenKind::Newline => {
                flags = flags.with(Flags::LINE_START);
                continue;
            }
            TokenKind::BlockOpen => match lexer.remainder().find("*/") {
                Some(at) => {
                    lexer.bump(at + 2);
                    flags = flags.with(Flags::SPACE);
                    continue;
                }
                None => {
                    lexer.bump(lexer.remainder().len());
                    kind = TokenKind::UnterminatedComment;
                }
            },
            TokenKind::RawOpen => {
                let opening = lexer.slice();
                let delimiter = opening.split('"').nth(1).unwrap_or("").trim_end_matches('(');
                let closing = format!("){delimiter}\"");
                match lexer.remainder().find(&closing) {
                    Some(at) => {
                        lexer.bump(at + closing.len());
                        kind = TokenKind::Str;
                    }
                    None => {
                        lexer.bump(lexer.remainder().len());
                        kind = TokenKind::UnterminatedStr;
                    }
                }
            }
            _ => {}
        }
        let range = lexer.span();
        let start = map.start(range.start as u32);
        let end = map.end(range.end as u32);
        // A run of garbage is one token.
        if kind == TokenKind::Unknown
            && !flags.has(Flags::SPACE.with(Flags::LINE_START))
            && let Some(last) = tokens.last_mut().filter(|t: &&mut Token| t.kind == TokenKind::Unknown)
        {
            last.span.end = end;
            continue;
        }
        let symbol = match kind {
            // A raw string keeps its backslash-newlines.
            TokenKind::Str if !splices.is_empty() && is_raw(lexer.slice()) => {
                interner.intern(&original[start as usize..end as usize])
            }
            _ if kind.has_symbol() => interner.intern(lexer.slice()),
            _ => Symbol::NONE,
        };
        tokens.push(Token { kind, flags, symbol, span: Span::new(file, start, end) });
        flags = Flags::default();
    }
    let end = original.len() as u32;
    tokens.push(Token {
        kind: TokenKind::Eof,
        flags: Flags::LINE_START,
        symbol: Symbol::NONE,
        span: Span::new(file, end, end),
    });
    tokens
}

/// The string literal, spelled with prefix and quotes, is a raw one.
pub fn is_raw(spelling: &str) -> bool {
    spelling.split('"').next().is_some_and(|prefix| prefix.ends_with('R'))
}

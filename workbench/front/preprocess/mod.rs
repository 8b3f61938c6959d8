//! The preprocessor: one file with its directives to a flat list of tokens.
//!
//! Tokens come from a stack of files; expansions lie above it as a stack of contexts, each the replacement of one macro,
//! which stays disabled until its context is used up (C++'s rule against recursion: a name met while disabled is painted and
//! never expands again). Predefined macros cost nothing until their name is first met. Everything is bounded: tokens made
//! ([`MAX_TOKENS`]) and their text ([`MAX_EXPANSION_BYTES`], [`MAX_TOKEN_BYTES`]), nesting ([`MAX_NESTING`]), includes ([`MAX_INCLUDE_DEPTH`], [`MAX_INCLUDES`]).

mod condition;
mod directive;
mod expand;
pub(crate) mod headers;
pub(crate) mod macro_uses;
mod macros;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

use super::ast::{Interner, Symbol};
use super::lexer::{Flags, Keyword, Token, TokenKind, is_raw, lex};
use super::options::Options;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, SourceMap, Span};
use crate::steps::{step, steps};
use macro_uses::MacroUse;
use macros::Macro;

/// Spelling of the attribute that `#pragma pack(n)` puts behind `struct`, with the number: no name of a text is it.
pub(super) const PACK: &str = "#pragma pack";

/// Most tokens that expansion and included headers may produce in one compilation.
pub const MAX_TOKENS: usize = 2_000_000;
/// Most bytes of text that the tokens of all expansions may have; a name used twice counts twice.
pub const MAX_EXPANSION_BYTES: usize = 64 << 20;
/// Longest token, in bytes, that `##` and `#` make: what the C++ standard asks of a string literal.
pub const MAX_TOKEN_BYTES: usize = 65_536;
/// Most macros being expanded inside one another.
pub const MAX_NESTING: usize = 200;
/// Most headers including one another.
pub const MAX_INCLUDE_DEPTH: usize = 64;
/// Most `#include`s of user headers in one compilation.
pub const MAX_INCLUDES: usize = 10_000;
/// Longest text, in bytes.
pub const MAX_SOURCE: usize = 16 << 20;
/// Unknown characters reported one by one; the rest are counted.
const MAX_GARBAGE: usize = 20;

/// Result of preprocessing a file.
#[derive(Debug)]
pub struct Preprocessed {
    /// The tokens end with one `Eof`; where a limit was passed there is nothing but it.
    pub tokens: Vec<Token>,
    /// The macros that were used on the way.
    pub uses: Vec<MacroUse>,
    /// The files that the text itself includes, and where the tokens of each begin.
    pub units: Vec<(FileId, usize)>,
}

/// Preprocesses a file.
pub fn preprocess(
    sources: &mut SourceMap,
    file: FileId,
    options: &Options,
    interner: &mut Interner,
    diags: &mut Vec<Diagnostic>,
) -> Preprocessed {
    let mut pp = Preprocessor {
        sources,
        options,
        interner,
        diags,
        frames: Vec::new(),
        contexts: Vec::new(),
        slots: Vec::new(),
        headers: HashMap::default(),
        includes: 0,
        counter: 0,
        work: 0,
        bytes: 0,
        uses: Vec::new(),
        stopped: false,
        garbage: 0,
        in_condition: false,
        collecting: false,
        last_eof: Span::new(file, 0, 0),
        own_includes: Vec::new(),
        before_unit: None,
        pack: None,
        packs: Vec::new(),
    };
    pp.push_file(file);
    pp.push_options();
    let (tokens, units) = pp.run();
    Preprocessed { tokens, uses: pp.uses, units }
}

/// A file being read.
struct FileFrame {
    tokens: Rc<[Token]>,
    pos: usize,
    file: FileId,
    /// The name a header was included by; empty for the main text.
    name: String,
    conditions: Vec<Condition>,
}

/// An open `#if`.
struct Condition {
    /// The directive.
    span: Span,
    /// One of its groups has been read.
    taken: bool,
    /// The `#else` has been passed.
    seen_else: bool,
}

/// Tokens waiting to be read before the file goes on.
struct PendingTokens {
    tokens: Vec<Token>,
    pos: usize,
    /// The macro they replace.
    owner: Option<Symbol>,
    /// Reading stops here: an argument expanded for itself.
    barrier: bool,
}

/// State of a name.
#[derive(Default)]
struct NameState {
    state: MacroState,
    /// Number of open contexts of this macro.
    disabled: u32,
    /// Kind of the name after preprocessing, once asked.
    word: Option<TokenKind>,
}

#[derive(Clone, Default)]
enum MacroState {
    /// The name has not been met yet; it may be predefined.
    #[default]
    Unseen,
    Undefined,
    Defined(Rc<Macro>),
}

/// A user header that has been read.
struct Header {
    file: FileId,
    tokens: Rc<[Token]>,
    once: bool,
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    options: &'a Options,
    interner: &'a mut Interner,
    diags: &'a mut Vec<Diagnostic>,
    frames: Vec<FileFrame>,
    contexts: Vec<PendingTokens>,
    slots: Vec<NameState>,
    headers: HashMap<String, Header>,
    includes: usize,
    counter: u32,
    /// Tokens made so far, held against [`MAX_TOKENS`].
    work: usize,
    /// Bytes of text of the tokens that expansions made, held against [`MAX_EXPANSION_BYTES`].
    bytes: usize,
    /// Uses of macros in the files, as they were met.
    uses: Vec<MacroUse>,
    /// A limit was passed: nothing more is read.
    stopped: bool,
    garbage: usize,
    /// Reading the condition of an `#if`, where `defined` has meaning.
    in_condition: bool,
    /// Collecting macro arguments, which end with their file.
    collecting: bool,
    last_eof: Span,
    /// The files that the text itself has included.
    own_includes: Vec<FileId>,
    /// Packing that `#pragma pack` says now, and what it said at each `push`, with the name that was given there.
    pack: Option<u32>,
    packs: Vec<(Option<String>, Option<u32>)>,
    /// States of names that the unit being read has changed, as they were: with the unit its macros end.
    before_unit: Option<Vec<(Symbol, MacroState)>>,
}

impl Preprocessor<'_> {
    /// Reads everything.
    fn run(&mut self) -> (Vec<Token>, Vec<(FileId, usize)>) {
        let mut units = Vec::new();
        let mut out = Vec::with_capacity(self.frames.first().map_or(0, |f| f.tokens.len()));
        while let Some(mut token) = self.next_expanded() {
            step();
            if token.kind == TokenKind::Eof {
                break;
            }
            if token.kind == TokenKind::Ident {
                token.kind = self.word(token.symbol);
            }
            let new = units.len()..self.own_includes.len();
            units.extend(new.map(|at| (self.own_includes[at], out.len())));
            out.push(token);
            if self.pack.is_some()
                && matches!(token.kind, TokenKind::Keyword(Keyword::Struct | Keyword::Class | Keyword::Union))
            {
                self.pack_attribute(&mut out);
            }
        }
        if self.garbage > MAX_GARBAGE {
            let more = self.garbage - MAX_GARBAGE;
            self.error(Code::UnknownCharacter, self.last_eof, format!("and {more} more runs of unknown characters"));
        }
        if self.stopped {
            out.clear();
        }
        out.push(self.token(TokenKind::Eof, self.last_eof));
        (out, units)
    }

    /// The kind of a name once preprocessing is over.
    fn word(&mut self, symbol: Symbol) -> TokenKind {
        if let Some(kind) = self.slot(symbol).word {
            return kind;
        }
        let kind = TokenKind::of_word(self.interner.name(symbol));
        self.slot(symbol).word = Some(kind);
        kind
    }

    /// A punctuator or `Eof`.
    fn token(&self, kind: TokenKind, span: Span) -> Token {
        Token { kind, flags: Flags::LINE_START, symbol: Symbol(u32::MAX), span }
    }

    /// A token with text.
    fn text_token(&mut self, kind: TokenKind, text: &str, like: Token) -> Token {
        let flags = like.flags.without(Flags::PAINTED).with(Flags::FROM_MACRO);
        Token { kind, flags, symbol: self.interner.intern(text), span: like.span }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::error(code, span, message));
    }

    fn warning(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::warning(code, span, message));
    }

    /// Counts tokens made; `false` once the limit is passed.
    fn charge(&mut self, tokens: usize, span: Span) -> bool {
        self.work += tokens;
        steps(tokens);
        if self.work > MAX_TOKENS {
            self.stop(span, format!("macro expansion produces more than {MAX_TOKENS} tokens"));
        }
        !self.stopped
    }

    /// Counts the text of tokens made; `false` once the limit is passed.
    fn charge_text(&mut self, tokens: &[Token], span: Span) -> bool {
        self.bytes += tokens.iter().map(|token| token.text(self.interner).len()).sum::<usize>();
        if self.bytes > MAX_EXPANSION_BYTES {
            self.stop(span, format!("macro expansion produces more than {MAX_EXPANSION_BYTES} bytes of text"));
        }
        !self.stopped
    }

    /// Holds the length of a token that `#` or `##` makes against the limit; `false` when it is too long.
    fn token_fits(&mut self, len: usize, span: Span) -> bool {
        if len > MAX_TOKEN_BYTES {
            self.stop(span, format!("macro expansion produces a token of more than {MAX_TOKEN_BYTES} bytes"));
        }
        !self.stopped
    }

    /// Ends preprocessing for good.
    fn stop(&mut self, span: Span, message: String) {
        if !self.stopped {
            self.stopped = true;
            self.error(Code::MacroLimit, span, message);
        }
    }

    fn slot(&mut self, symbol: Symbol) -> &mut NameState {
        let index = symbol.0 as usize;
        if index >= self.slots.len() {
            self.slots.resize_with(index + 64, NameState::default);
        }
        &mut self.slots[index]
    }

    /// Gives a macro's name a new state; within a unit the old one is noted.
    fn set_state(&mut self, symbol: Symbol, state: MacroState) {
        let old = std::mem::replace(&mut self.slot(symbol).state, state);
        if let Some(before) = &mut self.before_unit {
            before.push((symbol, old));
        }
    }

    /// The next token of the files, directives carried out.
    fn file_token(&mut self) -> Option<Token> {
        loop {
            if self.stopped {
                return None;
            }
            let frame = self.frames.last_mut()?;
            let token = frame.tokens[frame.pos];
            match token.kind {
                TokenKind::Eof if self.collecting => return Some(token),
                TokenKind::Eof => {
                    if !self.pop_file() {
                        return Some(token);
                    }
                }
                TokenKind::Hash if token.flags.has(Flags::LINE_START) => self.directive(),
                kind => {
                    frame.pos += 1;
                    if !kind.is_garbage() {
                        return Some(token);
                    }
                    self.report_garbage(token);
                }
            }
        }
    }

    /// The next token without expansion; `None` at the end of an argument, or when stopped.
    fn next_raw(&mut self) -> Option<Token> {
        loop {
            let Some(context) = self.contexts.last_mut() else { return self.file_token() };
            if self.stopped {
                return None;
            }
            if let Some(&token) = context.tokens.get(context.pos) {
                context.pos += 1;
                return Some(token);
            }
            if context.barrier {
                return None;
            }
            self.pop_context();
        }
    }

    fn pop_context(&mut self) {
        if let Some(owner) = self.contexts.pop().and_then(|c| c.owner) {
            self.slot(owner).disabled -= 1;
        }
    }

    /// Reports a token the lexer could not read.
    fn report_garbage(&mut self, token: Token) {
        let text = self.sources.text(token.span);
        let diag = match token.kind {
            TokenKind::UnterminatedComment => {
                let open = Span { end: token.span.start + 2, ..token.span };
                Diagnostic::error(Code::UnterminatedLiteral, open, "this comment is never closed")
                    .help("close it with `*/`")
            }
            TokenKind::UnterminatedStr => Diagnostic::error(
                Code::UnterminatedLiteral,
                first_line(token.span, text),
                "this string is never closed",
            )
            .help(match raw_closing(text) {
                Some(closing) => format!("close it with `{closing}`"),
                None => "close it with `\"` on the same line".to_owned(),
            }),
            TokenKind::UnterminatedChar => {
                let span = first_line(token.span, text);
                Diagnostic::error(Code::UnterminatedLiteral, span, "this character literal is never closed")
                    .help("close it with `'` on the same line")
            }
            _ => {
                self.garbage += 1;
                if self.garbage > MAX_GARBAGE {
                    return;
                }
                garbage_diagnostic(token.span, text)
            }
        };
        self.diags.push(diag);
    }

    /// Starts reading a file that is in the source map.
    fn push_file(&mut self, file: FileId) {
        let Some(source) = self.sources.file(file) else { return };
        let text = source.text.clone();
        if text.len() > MAX_SOURCE {
            let message = format!("the text is {} bytes long; the limit is {MAX_SOURCE}", text.len());
            self.error(Code::SourceLimit, Span::new(file, 0, 0), message);
            self.stopped = true;
        }
        let tokens: Rc<[Token]> =
            if self.stopped { lex("", file, self.interner) } else { lex(&text, file, self.interner) }.into();
        self.push_frame(tokens, file, String::new());
    }

    fn push_frame(&mut self, tokens: Rc<[Token]>, file: FileId, name: String) {
        self.frames.push(FileFrame { tokens, pos: 0, file, name, conditions: Vec::new() });
    }

    /// Makes a file of the `-D` options, to be read before the text.
    fn push_options(&mut self) {
        if self.options.defines.is_empty() || self.stopped {
            return;
        }
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            let line = format!("#define {name} {value}").replace(['\n', '\r'], " ");
            text.push_str(&line);
            text.push('\n');
        }
        let file = self.sources.add("<options>", text);
        self.push_file(file);
    }

    /// Ends the current file; `false` when it was the last.
    fn pop_file(&mut self) -> bool {
        let Some(frame) = self.frames.last_mut() else { return false };
        let open = std::mem::take(&mut frame.conditions);
        let eof = frame.tokens[frame.tokens.len() - 1].span;
        for condition in open {
            self.diags.push(
                Diagnostic::error(Code::BadDirective, condition.span, "this conditional is never closed")
                    .help("close it with `#endif`"),
            );
        }
        if self.frames.len() == 1 {
            self.last_eof = eof;
            return false;
        }
        self.frames.pop();
        if self.frames.len() == 1 {
            self.end_unit();
        }
        true
    }

    /// Begins a translation unit, where the text's own files are some.
    fn begin_unit(&mut self) {
        if self.options.units {
            self.before_unit = Some(Vec::new());
        }
    }

    /// Ends one: its macros, and what it has included once, are no other's.
    fn end_unit(&mut self) {
        let Some(before) = self.before_unit.take() else { return };
        before.into_iter().rev().for_each(|(symbol, state)| self.slot(symbol).state = state);
        self.headers.values_mut().for_each(|header| header.once = false);
        self.counter = 0;
    }
}

/// The characters that close the raw string which a text starts with.
fn raw_closing(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"').filter(|_| is_raw(text))?;
    rest.split_once('(').map(|(delimiter, _)| format!("){delimiter}\""))
}

/// A span cut at the end of its first line.
fn first_line(span: Span, text: &str) -> Span {
    let len = text.find('\n').unwrap_or(text.len()) as u32;
    Span { end: span.start + len, ..span }
}

/// The message about characters that start no token.
fn garbage_diagnostic(span: Span, text: &str) -> Diagnostic {
    let first = text.chars().next().unwrap_or('\u{fffd}');
    let visible =
        !first.is_control() && !first.is_whitespace() && !matches!(first, '\u{200b}'..='\u{200f}' | '\u{feff}');
    let name = if visible { format!("`{first}`") } else { format!("U+{:04X}", first as u32) };
    let plural = if text.chars().nth(1).is_some() { "these characters start" } else { "this character starts" };
    let diag = Diagnostic::error(Code::UnknownCharacter, span, format!("{plural} no token: {name}"));
    match first {
        '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' => diag.help("write the straight quotes `\"` and `'`"),
        '\\' => diag.help("a backslash continues a line only when nothing follows it, not even a blank"),
        '\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => diag.help("replace it by an ordinary blank"),
        '\u{2212}' | '\u{2013}' | '\u{2014}' => diag.help("write the minus sign `-`"),
        _ if first.is_alphanumeric() => diag.help("names are made of the letters a to z, digits and `_`"),
        _ => diag,
    }
}

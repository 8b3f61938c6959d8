//! The place of a cursor in a text, by its tokens alone: the word that it is in, what stands in front of that, the call round it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::front::ast::Interner;
use crate::front::cursor::{KnownName, NameKind};
use crate::front::lexer::{Flags, Keyword, Token, TokenKind as T, lex};
use crate::source::Span;

use super::answers::TEXT;

/// The surroundings of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// A comment, a literal, a number: nothing to complete.
    Nothing,
    /// A preprocessor directive's name.
    Directive,
    /// The name of a header.
    Include,
    /// Behind `threadIdx.` and the like.
    Index,
    /// Behind `.`, `->` or `::`.
    Member,
    /// Behind `std::`, where CUDA's functions are as well.
    Std,
    /// Anywhere else.
    Code,
}

/// The place of a cursor.
#[derive(Debug)]
pub struct Place {
    /// The cursor, at a character's start within the text.
    pub offset: usize,
    /// The word that it is in, or behind; empty where there is none.
    pub word: Range<usize>,
    pub within: Within,
    /// The macros that the text defines.
    pub macros: Vec<KnownName>,
    /// The other words of the text.
    pub words: BTreeSet<String>,
    /// Those that stand behind `.` or `->` somewhere.
    pub members: BTreeSet<String>,
}

/// A call round a cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    /// The place of the function's name; `None` for the brackets of a launch, `<<<...>>>`.
    pub callee: Option<usize>,
    /// The argument that the cursor is in, from 0.
    pub argument: usize,
    /// The number of arguments that have been begun.
    pub arguments: usize,
}

const INDEX_VARIABLES: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The offset, moved back to a character's start within the text.
fn within(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

impl Place {
    /// The place of an offset in a text.
    pub fn of(text: &str, offset: usize) -> Place {
        let offset = within(text, offset);
        let start = text[..offset]
            .rfind(|c| !is_word(c))
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let end = text[offset..].find(|c| !is_word(c)).map_or(text.len(), |at| offset + at);
        let word = start..end;
        let mut interner = Interner::default();
        let tokens = lex(text, TEXT, &mut interner);
        let mut place = Place {
            offset,
            within: Within::Code,
            macros: Vec::new(),
            words: BTreeSet::new(),
            members: BTreeSet::new(),
            word,
        };
        for (at, token) in tokens.iter().enumerate() {
            let own = token.span.start as usize == place.word.start;
            if token.kind == T::Ident && !own {
                let before = at.checked_sub(1).map(|before| tokens[before].kind);
                let word = token.text(&interner).to_owned();
                if matches!(before, Some(T::Dot | T::Arrow)) {
                    place.members.insert(word.clone());
                }
                place.words.insert(word);
            }
            // Macros that hold at the cursor are defined in front of it.
            let is_directive = token.kind == T::Hash && token.flags.has(Flags::LINE_START);
            if is_directive && (token.span.start as usize) < offset {
                match tokens[at..] {
                    [_, word, name, ..] if word.text(&interner) == "undef" => {
                        place.macros.retain(|known| known.name != name.text(&interner));
                    }
                    _ => {
                        if let Some(known) = defined(text, &tokens[at..], &interner) {
                            place.macros.retain(|old| old.name != known.name);
                            place.macros.push(known);
                        }
                    }
                }
            }
        }
        place.within = place.within(text, &tokens, &interner);
        place
    }

    fn within(&self, text: &str, tokens: &[Token], interner: &Interner) -> Within {
        let begins_number = text[self.word.clone()].starts_with(|c: char| c.is_ascii_digit());
        if begins_number {
            return Within::Nothing;
        }
        let before =
            tokens.iter().take_while(|t| t.kind != T::Eof && (t.span.start as usize) < self.word.start).count();
        let line = text[..self.word.start].rfind('\n').map_or(0, |at| at + 1);
        let first = tokens[..before].iter().position(|t| t.span.start as usize >= line);
        let in_directive = first.is_some_and(|first| tokens[first].kind == T::Hash);
        if let Some(first) = first.filter(|_| in_directive) {
            let words = &tokens[first + 1..before];
            match words.first() {
                None => return Within::Directive,
                Some(word) if matches!(word.text(interner), "include" | "include_next") => return Within::Include,
                Some(_) => {}
            }
        }
        let Some(last) = tokens[..before].last() else {
            return if in_comment(&text[..self.word.start]) { Within::Nothing } else { Within::Code };
        };
        let (end, start) = (last.span.end as usize, self.word.start);
        let is_literal = matches!(last.kind, T::Str | T::Char | T::UnterminatedStr | T::UnterminatedChar);
        let is_open = matches!(last.kind, T::UnterminatedStr | T::UnterminatedChar | T::UnterminatedComment);
        let is_number = last.kind == T::Number && end == start;
        if end > start || is_open || is_number || is_literal && end == start && end < self.offset {
            return Within::Nothing;
        }
        if in_comment(&text[end..start]) {
            return Within::Nothing;
        }
        match last.kind {
            T::Dot | T::Arrow | T::ColonColon => {
                let object = tokens[..before].iter().rev().nth(1);
                let is_index = |t: &Token| t.kind == T::Ident && INDEX_VARIABLES.contains(&t.text(interner));
                let is_index = last.kind == T::Dot && object.is_some_and(is_index);
                let is_std = last.kind == T::ColonColon
                    && object.is_some_and(|t| t.kind == T::Ident && matches!(t.text(interner), "std" | "cuda"));
                match (is_index, is_std) {
                    (true, _) => Within::Index,
                    (_, true) => Within::Std,
                    _ => Within::Member,
                }
            }
            _ => Within::Code,
        }
    }
}

/// Blanks and comments between two tokens end in a comment.
fn in_comment(gap: &str) -> bool {
    let mut rest = gap;
    while let Some(at) = rest.find('/') {
        rest = &rest[at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n'),
            Some(b'*') => rest.get(2..).and_then(|inner| inner.find("*/")).map(|end| end + 4),
            _ => Some(1),
        };
        match end {
            Some(end) => rest = &rest[end..],
            None => return true,
        }
    }
    false
}

/// The macro that a directive defines.
fn defined(text: &str, tokens: &[Token], interner: &Interner) -> Option<KnownName> {
    let [_, define, name, ..] = tokens else { return None };
    if define.text(interner) != "define" || name.kind != T::Ident {
        return None;
    }
    let start = name.span.start as usize;
    // A line that ends with a backslash goes on.
    let mut words = Vec::new();
    for line in text.get(start..)?.lines() {
        let line = line.trim_end();
        let more = line.strip_suffix('\\');
        words.extend(more.unwrap_or(line).split("//").next().unwrap_or("").split_whitespace());
        if more.is_none() {
            break;
        }
    }
    let line = words.join(" ");
    Some(KnownName {
        name: name.text(interner).to_owned(),
        kind: NameKind::Macro,
        declarations: vec![format!("#define {line}")],
        span: Span { start: tokens[0].span.start, ..name.span },
    })
}

/// The call round an offset: the innermost bracket of one that is open there.
pub fn call(text: &str, offset: usize) -> Option<Call> {
    let offset = within(text, offset);
    let mut interner = Interner::default();
    let tokens = lex(text, TEXT, &mut interner);
    let before = tokens.iter().take_while(|t| t.kind != T::Eof && t.span.end as usize <= offset).count();
    let tokens = &tokens[..before];
    if in_comment(&text[tokens.last()?.span.end as usize..offset]) {
        return None;
    }
    let (mut depth, mut commas) = (0usize, 0);
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            T::RParen | T::RBracket | T::RBrace | T::LaunchClose => depth += 1,
            T::LParen if depth == 0 => {
                let mut name = at.checked_sub(1)?;
                if tokens[name].kind == T::LaunchClose {
                    name = tokens[..name].iter().rposition(|t| t.kind == T::LaunchOpen)?.checked_sub(1)?;
                }
                if tokens[name].kind == T::Gt || tokens[name].kind == T::Shr {
                    name = before_arguments(&tokens[..=name])?;
                }
                let name = &tokens[name];
                if name.kind != T::Ident || T::of_word(name.text(&interner)) != T::Ident {
                    return None;
                }
                let is_empty = commas == 0 && at + 1 == tokens.len();
                let arguments = if is_empty { 0 } else { commas + 1 };
                return Some(Call { callee: Some(name.span.start as usize), argument: commas, arguments });
            }
            T::LaunchOpen if depth == 0 => return Some(Call { callee: None, argument: commas, arguments: commas + 1 }),
            T::LBrace if depth == 0 => return None,
            T::LParen | T::LBracket | T::LBrace | T::LaunchOpen => depth = depth.saturating_sub(1),
            T::Semi if depth == 0 => return None,
            T::Comma if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// The token before the `<` that the last one, a `>`, closes.
fn before_arguments(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            T::Gt => depth += 1,
            T::Shr => depth += 2,
            T::Lt => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at.checked_sub(1);
                }
            }
            T::Semi | T::LBrace | T::RBrace => return None,
            _ => {}
        }
    }
    None
}

/// The text that closes all that is open at the end of another, within the innermost braces, and ends the statement.
pub fn closers(text: &str) -> String {
    let mut interner = Interner::default();
    let tokens = lex(text, TEXT, &mut interner);
    let mut closers = String::new();
    let (mut depth, mut semicolons) = (0usize, 0usize);
    for (at, token) in tokens.iter().enumerate().rev() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        match token.kind {
            T::RParen | T::RBracket | T::RBrace | T::LaunchClose => depth += 1,
            // A list in a call or a declaration is closed, a block is not.
            T::LBrace if depth == 0 => {
                let is_list = before.is_some_and(|before| match before.kind {
                    T::LParen | T::Comma | T::Assign | T::Gt | T::LBrace => true,
                    T::Ident => matches!(T::of_word(before.text(&interner)), T::Ident | T::Keyword(Keyword::Return)),
                    _ => false,
                });
                if !is_list {
                    break;
                }
                closers.push('}');
            }
            T::LParen | T::LBracket if depth == 0 => {
                if before.is_some_and(|before| before.text(&interner) == "for") {
                    closers.push_str(&";".repeat(2usize.saturating_sub(semicolons)));
                }
                closers.push(if token.kind == T::LParen { ')' } else { ']' });
                semicolons = 0;
            }
            T::LaunchOpen if depth == 0 => closers.push_str(">>>()"),
            T::LParen | T::LBracket | T::LBrace | T::LaunchOpen => depth -= 1,
            T::Semi if depth == 0 => semicolons += 1,
            _ => {}
        }
    }
    closers.push(';');
    closers
}

//! Directives: conditionals, includes, definitions, pragmas.

use super::{Condition, Header, MAX_INCLUDE_DEPTH, MAX_INCLUDES, MacroState, PACK, Preprocessor, headers};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::Symbol;
use crate::front::lexer::{Flags, Keyword, Token, TokenKind, lex};
use crate::source::Span;

impl Preprocessor<'_> {
    /// Carries out the directive that starts at the current token, a `#`.
    pub(super) fn directive(&mut self) {
        let (hash, line) = self.take_line();
        let Some(&word) = line.first() else { return };
        let span = hash.span.to(word.span);
        let rest = &line[1..];
        let name =
            if word.kind == TokenKind::Ident { self.interner.name(word.symbol).to_owned() } else { String::new() };
        match name.as_str() {
            "define" => {
                if !self.reject_garbage(rest) {
                    self.define(rest, span);
                }
            }
            "undef" => {
                if let Some(name) = self.macro_name(rest, span) {
                    self.set_state(name.symbol, MacroState::Undefined);
                    self.extra(&rest[1..]);
                }
            }
            "include" | "include_next" | "import" => self.include(rest, span),
            "if" => {
                let value = !self.reject_garbage(rest) && self.condition(rest.to_vec(), span);
                self.open_condition(span, value);
            }
            "ifdef" | "ifndef" => {
                let defined = self.ifdef(rest, span);
                self.open_condition(span, defined.is_some_and(|d| d == (name == "ifdef")));
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => self.group_end(&name, rest, span),
            "error" | "warning" => {
                let text = self.line_text(rest);
                let text = if text.is_empty() { format!("`#{name}` without a text") } else { text };
                if name == "error" {
                    self.error(Code::UserError, hash.span.to(last_span(&line)), text);
                } else {
                    self.warning(Code::UserError, hash.span.to(last_span(&line)), text);
                }
            }
            "pragma" => {
                let text = self.line_text(rest);
                self.pragma(&text, hash.span.to(last_span(&line)));
            }
            // Places in messages are those of the text itself; other numberings are not followed.
            "line" | "ident" => {}
            _ if word.kind == TokenKind::Number => {}
            _ => {
                let text = word.text(self.interner).to_owned();
                let mut diag = Diagnostic::error(Code::BadDirective, span, format!("`#{text}` is not a directive"));
                if let Some(near) = nearest(&text) {
                    diag = diag.help(format!("write `#{near}`")).replacement(word.span, near);
                }
                self.diags.push(diag);
            }
        }
    }

    /// The `#` and the rest of its line, which is consumed.
    fn take_line(&mut self) -> (Token, Vec<Token>) {
        let Some(frame) = self.frames.last_mut() else {
            return (self.token(TokenKind::Eof, self.last_eof), Vec::new());
        };
        let hash = frame.tokens[frame.pos];
        let start = frame.pos + 1;
        let len = frame.tokens[start..].iter().take_while(|t| !t.flags.has(Flags::LINE_START)).count();
        frame.pos = start + len;
        (hash, frame.tokens[start..start + len].to_vec())
    }

    /// The text of a line as written, from its first token to its last.
    fn line_text(&self, line: &[Token]) -> String {
        match (line.first(), line.last()) {
            (Some(first), Some(last)) => self.sources.text(first.span.to(last.span)).to_owned(),
            _ => String::new(),
        }
    }

    /// Reports unreadable tokens of a line; whether there were any.
    fn reject_garbage(&mut self, line: &[Token]) -> bool {
        let bad: Vec<Token> = line.iter().filter(|t| t.kind.is_garbage()).copied().collect();
        bad.iter().for_each(|&token| self.report_garbage(token));
        !bad.is_empty()
    }

    /// Warns of text after a directive that takes no more.
    fn extra(&mut self, rest: &[Token]) {
        if let Some(first) = rest.first() {
            self.warning(Code::BadDirective, first.span, "text after the end of this directive is ignored");
        }
    }

    /// `#ifdef`, `#ifndef`: whether the name is defined; `None` when there is none.
    fn ifdef(&mut self, rest: &[Token], span: Span) -> Option<bool> {
        let name = self.macro_name(rest, span)?;
        self.extra(&rest[1..]);
        Some(self.is_defined(name))
    }

    fn open_condition(&mut self, span: Span, value: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.conditions.push(Condition { span, taken: value, seen_else: false });
        }
        if !value {
            self.skip_group();
        }
    }

    /// `#elif`, `#else`, `#endif` met while reading a group.
    fn group_end(&mut self, name: &str, rest: &[Token], span: Span) {
        if self.enter_group(name, rest, span, false) == Some(false) {
            self.skip_group();
        }
    }

    /// Handles a directive that ends a group. `Some(true)`: the next group is read, `Some(false)`: skipped, `None`: the
    /// conditional is over.
    fn enter_group(&mut self, name: &str, rest: &[Token], span: Span, skipping: bool) -> Option<bool> {
        let Some(condition) = self.frames.last_mut().and_then(|f| f.conditions.last_mut()) else {
            self.diags.push(
                Diagnostic::error(Code::BadDirective, span, format!("`#{name}` without `#if`"))
                    .help("remove it, or write the `#if` it belongs to"),
            );
            return None;
        };
        if name == "endif" {
            if let Some(frame) = self.frames.last_mut() {
                frame.conditions.pop();
            }
            self.extra(rest);
            return None;
        }
        if condition.seen_else {
            let open = condition.span;
            let diag = Diagnostic::error(Code::BadDirective, span, format!("`#{name}` after `#else`"));
            self.diags.push(diag.related(open, "the conditional starts here"));
            return Some(false);
        }
        let taken = condition.taken;
        if name == "else" {
            condition.seen_else = true;
            condition.taken = true;
            self.extra(rest);
            return Some(!taken);
        }
        // Once a group has been read, later conditions are not even looked at.
        let value = skipping
            && !taken
            && match name {
                "elif" => !self.reject_garbage(rest) && self.condition(rest.to_vec(), span),
                _ => self.ifdef(rest, span).is_some_and(|d| d == (name == "elifdef")),
            };
        if let Some(condition) = self.frames.last_mut().and_then(|f| f.conditions.last_mut()) {
            condition.taken |= value;
        }
        Some(value)
    }

    /// Skips to the group that is read, or past `#endif`. Text in skipped groups may hold anything but open comments.
    fn skip_group(&mut self) {
        let mut depth = 0usize;
        loop {
            let Some(frame) = self.frames.last_mut() else { return };
            let tokens = frame.tokens.clone();
            let found = tokens[frame.pos..].iter().position(|t| {
                t.kind == TokenKind::Eof
                    || t.kind == TokenKind::UnterminatedComment
                    || t.kind == TokenKind::Hash && t.flags.has(Flags::LINE_START)
            });
            frame.pos += found.unwrap_or(0);
            if tokens[frame.pos].kind != TokenKind::Hash {
                return;
            }
            let (hash, line) = self.take_line();
            let Some(word) = line.first().filter(|t| t.kind == TokenKind::Ident) else { continue };
            let name = self.interner.name(word.symbol).to_owned();
            let ends_group = matches!(name.as_str(), "elif" | "elifdef" | "elifndef" | "else" | "endif");
            if ends_group && depth == 0 {
                if self.enter_group(&name, &line[1..], hash.span.to(word.span), true) != Some(false) {
                    return;
                }
            } else if name == "endif" {
                depth -= 1;
            } else if matches!(name.as_str(), "if" | "ifdef" | "ifndef") {
                depth += 1;
            }
        }
    }

    /// `#include`.
    fn include(&mut self, rest: &[Token], directive: Span) {
        if self.collecting {
            self.error(Code::BadDirective, directive, "`#include` cannot stand among the arguments of a macro");
            return;
        }
        let Some((name, quoted, span)) = self.header_name(rest, directive, true) else { return };
        if let Some(key) = self.resolve_header(&name, quoted) {
            self.include_user(key, span);
        } else if crate::library::is_helper_math(&name) {
            // The word counts as named by the text: that opens the part of the library.
            self.interner.intern(crate::library::HELPER_MATH_WORD);
        } else if crate::library::is_of_samples(&name) {
            self.interner.intern(crate::library::SAMPLES_WORD);
            self.samples_macros();
        } else if headers::is_known(&name) {
            if name.starts_with("cuda/") {
                self.interner.intern(crate::library::LIBCU_WORD);
            }
            self.builtin_header(&name);
        } else {
            let (open, close) = if quoted { ('"', '"') } else { ('<', '>') };
            let text = format!("there is no header {open}{name}{close}");
            let help = format!("give its text with `headers={{\"{name}\": ...}}`");
            // A missing header of a library is an error only where its declarations are used; a missing header of the user's is an error
            // here.
            let diag = if quoted {
                Diagnostic::error(Code::UnknownInclude, span, text)
            } else {
                Diagnostic::warning(Code::UnknownInclude, span, format!("{text}: it is left out"))
            };
            self.diags.push(diag.help(help));
        }
    }

    /// The name between `<>` or quotes; macros are expanded when it is neither.
    fn header_name(&mut self, rest: &[Token], directive: Span, expand: bool) -> Option<(String, bool, Span)> {
        match rest.first() {
            Some(first) if first.kind == TokenKind::Str => {
                let name = first.text(self.interner).trim_matches('"').to_owned();
                self.extra(&rest[1..]);
                Some((name, true, first.span))
            }
            Some(first) if first.kind == TokenKind::Lt => {
                let close = rest.iter().position(|t| t.kind == TokenKind::Gt);
                let Some(close) = close else {
                    self.error(Code::BadDirective, first.span, "the `<` of this include is never closed");
                    return None;
                };
                let inner = &rest[1..close];
                // The name is as written if it is written here, so that blanks and `//` survive; else it is spelled from tokens.
                let from_macro = rest[..=close].iter().any(|t| t.flags.has(Flags::FROM_MACRO));
                let name = if from_macro {
                    inner.iter().map(|t| t.text(self.interner)).collect()
                } else {
                    let span = Span { start: first.span.end, end: rest[close].span.start, ..first.span };
                    self.sources.text(span).to_owned()
                };
                self.extra(&rest[close + 1..]);
                Some((name, false, first.span.to(rest[close].span)))
            }
            Some(_) if expand => {
                let tokens = self.expand_list(rest.to_vec());
                self.header_name(&tokens, directive, false)
            }
            _ => {
                self.diags.push(
                    Diagnostic::error(Code::BadDirective, directive, "`#include` needs the name of a header")
                        .help("write `#include <name>` or `#include \"name\"`"),
                );
                None
            }
        }
    }

    /// The header that `__has_include` asks for is there.
    pub(super) fn find_header(&mut self, name: &str, quoted: bool) -> bool {
        self.resolve_header(name, quoted).is_some() || headers::is_known(name)
    }

    /// The key of a user header: in quotes relative to the file that includes it, if there is one; else the name as written.
    fn resolve_header(&self, name: &str, quoted: bool) -> Option<String> {
        if self.options.headers.is_empty() {
            return None;
        }
        let includer = self.frames.last().map_or("", |f| f.name.as_str());
        let folder = includer.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
        for part in name.split('/') {
            match part {
                "." | "" => {}
                ".." => {
                    parts.pop();
                }
                _ => parts.push(part),
            }
        }
        let root = if includer.starts_with('/') { "/" } else { "" };
        let joined = format!("{root}{}", parts.join("/"));
        let known = |key: &String| self.options.headers.contains_key(key);
        let given = name.to_owned();
        // The library of a folder may include its own in angles: what stands beside comes last then.
        let order = if quoted { [joined, given] } else { [given, joined] };
        order.into_iter().find(known)
    }

    fn include_user(&mut self, key: String, span: Span) {
        if self.headers.get(&key).is_some_and(|h| h.once) {
            return;
        }
        if self.frames.len() > MAX_INCLUDE_DEPTH {
            let open: Vec<&str> = self.frames.iter().rev().take(2).map(|f| f.name.as_str()).collect();
            let message =
                format!("headers include one another more than {MAX_INCLUDE_DEPTH} deep: `{}`", open.join("`, `"));
            self.diags.push(
                Diagnostic::error(Code::BadDirective, span, message)
                    .help("write `#pragma once` at the top of the header"),
            );
            self.stopped = true;
            return;
        }
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            self.stop(span, format!("more than {MAX_INCLUDES} headers are included"));
            return;
        }
        let repeated = self.headers.contains_key(&key);
        if !repeated {
            let text = self.options.headers.get(&key).map_or("", String::as_str);
            // One file under two names.
            let again = |h: &Header| h.once && self.sources.file(h.file).is_some_and(|f| &*f.text == text);
            if self.headers.values().any(again) {
                return;
            }
            let file = self.sources.add(key.clone(), text);
            if text.len() > super::MAX_SOURCE {
                let message = format!("the header is {} bytes long; the limit is {}", text.len(), super::MAX_SOURCE);
                self.error(Code::SourceLimit, span, message);
                self.stopped = true;
                return;
            }
            let tokens = lex(text, file, self.interner).into();
            self.headers.insert(key.clone(), Header { file, tokens, once: false });
        }
        let Some(header) = self.headers.get(&key) else { return };
        let (tokens, file) = (header.tokens.clone(), header.file);
        // The first reading of a header is linear in its text; only repetitions are held against the limit.
        if self.charge(if repeated { tokens.len() } else { 0 }, span) {
            if self.frames.len() == 1 {
                self.own_includes.push(file);
                self.begin_unit();
            }
            self.push_frame(tokens, file, key);
        }
    }

    /// Built-in headers contribute nothing: their names are known always. `<assert.h>` follows `NDEBUG` anew.
    fn builtin_header(&mut self, name: &str) {
        if matches!(name, "assert.h" | "cassert") {
            let assert = self.interner.intern("assert");
            self.set_state(assert, MacroState::Unseen);
        }
    }

    /// `#pragma text`, or `_Pragma("text")`.
    pub(super) fn pragma(&mut self, text: &str, span: Span) {
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty());
        match words.next().unwrap_or("") {
            "once" => {
                let file = self.frames.last().map(|f| f.file);
                for header in self.headers.values_mut() {
                    header.once |= Some(header.file) == file;
                }
            }
            "pack" => self.pragma_pack(text, span),
            // None of these changes what the text means.
            ""
            | "unroll"
            | "nounroll"
            | "GCC"
            | "clang"
            | "STDC"
            | "region"
            | "endregion"
            | "message"
            | "warning"
            | "nv_exec_check_disable"
            | "hd_warning_disable"
            | "diag_suppress"
            | "diag_default"
            | "diag_warning"
            | "nv_diag_suppress"
            | "nv_diag_default"
            | "nv_diag_warning"
            | "nv_diagnostic" => {}
            word => {
                let message = format!("unknown pragma `{word}` is ignored");
                self.warning(Code::BadDirective, span, message);
            }
        }
    }
}

impl Preprocessor<'_> {
    /// `#pragma pack(n)`, `pack()`, `pack(push)`, `pack(push, n)`, `pack(push, name, n)`, `pack(pop)`, `pack(pop, name)`.
    fn pragma_pack(&mut self, text: &str, span: Span) {
        let inside = text.trim_start().strip_prefix("pack").map_or("", str::trim);
        let Some(inside) = inside.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
            self.warning(Code::BadDirective, span, "`#pragma pack` without parentheses is ignored");
            return;
        };
        let words: Vec<&str> = inside.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
        let (push, rest) = match words.split_first() {
            Some((&"push", rest)) => (Some(true), rest),
            Some((&"pop", rest)) => (Some(false), rest),
            _ => (None, words.as_slice()),
        };
        let is_name = |w: &str| w.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let (label, rest) = match rest.split_first() {
            Some((label, rest)) if push.is_some() && is_name(label) => (Some((*label).to_owned()), rest),
            _ => (None, rest),
        };
        let wanted = match rest {
            [] => None,
            [n] => match n.parse::<u32>() {
                Ok(n) if n.is_power_of_two() && n <= 16 => Some(n),
                _ => {
                    let message = format!("`#pragma pack` takes 1, 2, 4, 8 or 16, not `{n}`");
                    self.error(Code::BadDirective, span, message);
                    return;
                }
            },
            _ => {
                self.error(Code::BadDirective, span, "`#pragma pack` takes one alignment");
                return;
            }
        };
        match push {
            Some(true) => {
                self.packs.push((label, self.pack));
                self.pack = wanted.or(self.pack);
            }
            Some(false) => {
                let at = match &label {
                    Some(_) => self.packs.iter().rposition(|(name, _)| *name == label),
                    None => self.packs.len().checked_sub(1),
                };
                match at {
                    Some(at) => {
                        self.pack = wanted.or(self.packs[at].1);
                        self.packs.truncate(at);
                    }
                    None => {
                        let message = "`#pragma pack(pop)` without a `#pragma pack(push)` before it is ignored";
                        self.warning(Code::BadDirective, span, message);
                    }
                }
            }
            None => self.pack = wanted,
        }
    }

    /// Behind the `struct` that was written last: the attribute that says how `#pragma pack` packs it.
    pub(super) fn pack_attribute(&mut self, out: &mut Vec<Token>) {
        let Some(most) = self.pack else { return };
        let Some((&like, before)) = out.split_last() else { return };
        // `template <class T>`, `enum class`: no struct begins there.
        let begins = before.last().is_none_or(|token| {
            !matches!(token.kind, TokenKind::Lt | TokenKind::Comma | TokenKind::LParen)
                && token.kind != TokenKind::Keyword(Keyword::Enum)
        });
        if begins {
            let name = self.text_token(TokenKind::Ident, PACK, like);
            let number = self.text_token(TokenKind::Number, &most.to_string(), like);
            let word = self.text_token(TokenKind::Keyword(Keyword::Attribute), "__attribute__", like);
            let punctuator = |kind| Token { kind, flags: name.flags, symbol: Symbol(u32::MAX), span: like.span };
            let (open, close) = (punctuator(TokenKind::LParen), punctuator(TokenKind::RParen));
            out.extend([word, open, open, name, open, number, close, close, close]);
        }
    }
}

/// The end of a line.
fn last_span(line: &[Token]) -> Span {
    line.last().map_or(Span::NONE, |t| t.span)
}

/// The directive a misspelt word may mean.
fn nearest(word: &str) -> Option<&'static str> {
    let known = ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "pragma"];
    known.into_iter().map(|k| (headers::distance(word, k), k)).filter(|&(d, k)| d * 3 <= k.len()).min().map(|(_, k)| k)
}

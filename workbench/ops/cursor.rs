//! A place in a text of a line or a few: what the grammars of schemas and shape signatures have in common.

use crate::runtime::{Error, Result};

/// Longest schema, signature or expression read; a person writes a line or a few.
const LONGEST: usize = 16 * 1024;

/// An error: its place, in bytes, and its message.
pub(super) type Wrong = (usize, String);

/// The error about a text: what it is, what is wrong, and a caret under the place, in the line that it is in.
pub(super) fn caret(what: &str, text: &str, at: usize, message: &str) -> Error {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let column = before[start..].chars().count();
    Error::argument(format!("{what}: {message}\n  {line}\n  {}^", " ".repeat(column)))
}

/// Refuses a text that nobody wrote.
///
/// # Errors
/// [`Error::Argument`].
pub(super) fn check_length(what: &str, text: &str) -> Result<()> {
    if text.len() > LONGEST {
        return Err(Error::argument(format!("{what}: a text of {} bytes is too long", text.len())));
    }
    Ok(())
}

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Bytes read.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start.
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// The text that is left.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// True if nothing is left.
    pub fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Goes past white space and comments, `# to the end of the line`.
    pub fn space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Goes past white space, and past a token if it stands there.
    pub fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// As [`Cursor::eat`], for a token that must stand there.
    pub fn expect(&mut self, token: &str, wanted: &str) -> std::result::Result<(), Wrong> {
        if self.eat(token) { Ok(()) } else { Err((self.at, format!("expected {wanted}"))) }
    }

    /// Goes past white space and an identifier.
    pub fn word(&mut self) -> Option<String> {
        self.space();
        let rest = self.rest();
        let len = rest
            .char_indices()
            .find(|&(i, c)| !(c == '_' || c.is_ascii_alphabetic() || (i > 0 && c.is_ascii_digit())))
            .map_or(rest.len(), |(i, _)| i);
        self.at += len;
        (len > 0).then(|| rest[..len].to_owned())
    }

    /// As [`Cursor::word`], for one that must stand there.
    pub fn ident(&mut self, what: &str) -> std::result::Result<String, Wrong> {
        self.word().ok_or_else(|| (self.at, format!("expected {what}")))
    }
}

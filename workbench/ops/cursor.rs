//! A place in a text of one or a few lines, for the grammars of schemas and shape signatures.

use crate::runtime::{Error, Result};

/// Length of the longest schema, signature or expression that is read; people write a line or a few.
const LONGEST: usize = 16 * 1024;

/// An error: its place, in bytes, and its message.
pub(super) type Wrong = (usize, String);

/// The error about a text: its kind, its message, and a caret under the place, in its line.
pub(super) fn caret(what: &str, text: &str, at: usize, message: &str) -> Error {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let column = before[start..].chars().count();
    Error::argument(format!("{what}: {message}\n  {line}\n  {}^", " ".repeat(column)))
}

/// Refuses a text that is too long to be written by hand.
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
    /// The start of a text.
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

    /// Skips white space and comments, `# to the end of the line`.
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

    /// Skips white space, and a token if it stands there; true if it does.
    pub fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Skips a token as [`Cursor::eat`] does; an error if it does not stand there.
    pub fn expect(&mut self, token: &str, wanted: &str) -> std::result::Result<(), Wrong> {
        if self.eat(token) { Ok(()) } else { Err((self.at, format!("expected {wanted}"))) }
    }

    /// Reads an identifier after white space.
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

    /// Reads an identifier as [`Cursor::word`] does; an error if none stands there.
    pub fn ident(&mut self, what: &str) -> std::result::Result<String, Wrong> {
        self.word().ok_or_else(|| (self.at, format!("expected {what}")))
    }
}

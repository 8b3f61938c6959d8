//! The place in a line of textual IR: reads its tokens, and makes errors that say what should stand there.

use std::fmt;
use std::str::FromStr;

/// The largest index of a handle, since tables grow with the largest index.
const MAX_INDEX: usize = 1 << 24;

/// An error in textual IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The text that should stand there.
    pub expected: String,
    /// The text that stands there; empty at the end of a line.
    pub found: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadError { line, column, expected, found } = self;
        write!(f, "line {line}, column {column}: expected {expected}, found ")?;
        if found.is_empty() { f.write_str("the end of the line") } else { write!(f, "`{found}`") }
    }
}

impl std::error::Error for ReadError {}

pub(super) type Result<T> = std::result::Result<T, ReadError>;

/// A place in a line.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    /// The first place of a line that is no blank.
    pub fn new(text: &'a str, line: usize) -> Self {
        let text = text.trim_end();
        Cursor { text, at: text.len() - text.trim_start().len(), line }
    }

    /// The rest of the line.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The error that something else should stand here.
    pub fn wanted<T>(&self, expected: impl Into<String>) -> Result<T> {
        let found = self.rest().chars().take(24).collect();
        Err(ReadError { line: self.line, column: self.at + 1, expected: expected.into(), found })
    }

    /// Skips a token, if it stands here.
    pub fn eats(&mut self, token: &str) -> bool {
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    /// Skips a token that must stand here.
    pub fn eat(&mut self, token: &str) -> Result<()> {
        if self.eats(token) { Ok(()) } else { self.wanted(format!("`{token}`")) }
    }

    /// Checks that the line is over.
    pub fn end(&self) -> Result<()> {
        if self.rest().is_empty() { Ok(()) } else { self.wanted("the end of the line") }
    }

    /// Letters, digits and the other characters of numbers and names of operations; empty if none stands here.
    pub fn word(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// A word that `read` takes.
    pub fn read<T>(&mut self, expected: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let mut next = self.clone();
        match read(next.word()) {
            Some(found) => {
                *self = next;
                Ok(found)
            }
            None => self.wanted(expected),
        }
    }

    /// A number in decimal digits.
    pub fn number<T: FromStr>(&mut self) -> Result<T> {
        self.read("a number", |word| word.parse().ok())
    }

    /// The index of a handle with that letter.
    pub fn index(&mut self, letter: char, what: &str) -> Result<usize> {
        self.read(&format!("{what}, as `{letter}0`"), |word| {
            word.strip_prefix(letter)?.parse().ok().filter(|index| *index < MAX_INDEX)
        })
    }

    /// A bare name up to `stop`, or a quoted one.
    pub fn name(&mut self, stop: &str) -> Result<String> {
        if self.rest().starts_with('"') {
            return self.text();
        }
        match self.rest().find(stop) {
            Some(len) if len > 0 => {
                let name = self.rest()[..len].to_owned();
                self.at += len;
                Ok(name)
            }
            _ => self.wanted(format!("a name and `{stop}`")),
        }
    }

    /// Text in quotes.
    pub fn text(&mut self) -> Result<String> {
        let start = self.clone();
        String::from_utf8(self.bytes()?).or_else(|_| start.wanted("text in UTF-8"))
    }

    /// Bytes in quotes.
    pub fn bytes(&mut self) -> Result<Vec<u8>> {
        let start = self.clone();
        if !self.eats("\"") {
            return self.wanted("text in quotes");
        }
        let mut bytes = Vec::new();
        loop {
            let mut chars = self.rest().chars();
            let Some(c) = chars.next() else { return start.wanted("text with a closing quote") };
            if c == '\\' {
                self.escape(&mut bytes)?;
                continue;
            }
            self.at += c.len_utf8();
            if c == '"' {
                return Ok(bytes);
            }
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// An escape in quotes, as Rust writes them.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        const SIMPLE: [(char, u8); 7] =
            [('n', b'\n'), ('r', b'\r'), ('t', b'\t'), ('0', 0), ('"', b'"'), ('\'', b'\''), ('\\', b'\\')];
        let escaped = &self.rest()[1..];
        let next = escaped.chars().next();
        if let Some((_, byte)) = SIMPLE.iter().find(|(c, _)| Some(*c) == next) {
            bytes.push(*byte);
            self.at += 2;
            return Ok(());
        }
        let byte = escaped.strip_prefix('x').and_then(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        if let Some(byte) = byte {
            bytes.push(byte);
            self.at += 4;
            return Ok(());
        }
        let scalar = escaped.strip_prefix("u{").and_then(|hex| hex.split_once('}'));
        let scalar = scalar.and_then(|(hex, _)| Some((hex, char::from_u32(u32::from_str_radix(hex, 16).ok()?)?)));
        let Some((hex, c)) = scalar else { return self.wanted("an escape") };
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += hex.len() + 4;
        Ok(())
    }
}

/// The lines that are not blank.
pub(super) struct Lines<'a> {
    left: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    pub fn new(text: &'a str) -> Self {
        Lines { left: text.lines(), number: 0 }
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Cursor<'a>> {
        loop {
            let line = self.left.next()?;
            self.number += 1;
            let is_comment = line.trim_start().starts_with("//");
            if !is_comment && !line.trim().is_empty() {
                return Some(Cursor::new(line, self.number));
            }
        }
    }

    /// The end of the text.
    pub fn end(&self) -> Cursor<'a> {
        Cursor::new("", self.number + 1)
    }
}

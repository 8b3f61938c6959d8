//! Source text: files (notebook cells, headers, option strings) and spans into them.
//!
//! Every later message points back into a [`SourceMap`]. A [`Span`] is a byte range of one file; a token that a macro produced has the span
//! of the macro's *use* in the user's text, so no message ever points at text the user cannot see.

use std::fmt;
use std::sync::Arc;

/// One text in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file{}", self.0)
    }
}

/// A half-open byte range `start..end` of one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The text the range lies in; [`Span::NONE`] for generated code.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Default for Span {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{}..{}]", self.file, self.start, self.end)
    }
}

impl Span {
    /// No place at all: generated code, which no text of the user's stands for.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    /// A range of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// True if this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.file.0 == u32::MAX
    }

    /// The smallest span that covers both; spans of different files give the first.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if other.is_none() || other.file != self.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One text with its name and line table.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The user's name for it: a cell name, a header path, `<options>`.
    pub name: String,
    /// The text as given.
    pub text: Arc<str>,
    line_starts: Arc<[u32]>,
}

/// Line and column of a place, both counted from 1; the column counts characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The first handle of texts that are the same in every compilation.
const COMMON: u32 = 1 << 30;

/// All texts of one compilation.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    common: Vec<(FileId, SourceFile)>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns its handle.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile::new(name, text));
        FileId(self.files.len() as u32 - 1)
    }

    /// The number of texts that were added, for [`SourceMap::rewind`].
    pub fn mark(&self) -> usize {
        self.files.len()
    }

    /// Forgets texts added since `mark`.
    pub fn rewind(&mut self, mark: usize) {
        self.files.truncate(mark);
    }

    /// The handle of a text with that number, in all compilations.
    pub fn common_id(number: u32) -> FileId {
        FileId(COMMON + number)
    }

    /// Adds a text that has the same number, and so the same handle, in all compilations.
    pub fn add_common(&mut self, number: u32, file: SourceFile) -> FileId {
        let id = Self::common_id(number);
        if self.file(id).is_none() {
            self.common.push((id, file));
        }
        id
    }

    /// The file of a handle; `None` for [`Span::NONE`]'s.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        if id.is_common() {
            return self.common.iter().find(|(own, _)| *own == id).map(|(_, file)| file);
        }
        self.files.get(id.0 as usize)
    }

    /// True if a text of that name is there.
    pub fn has(&self, name: &str) -> bool {
        self.files.iter().chain(self.common.iter().map(|(_, file)| file)).any(|file| file.name == name)
    }

    /// The text a span covers; empty for [`Span::NONE`].
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Line and column where a span starts.
    pub fn line_column(&self, span: Span) -> Option<LineColumn> {
        self.file(span.file).map(|f| f.line_column(span.start))
    }

    /// `name:line:column`, or `<generated>`.
    pub fn place(&self, span: Span) -> String {
        match (self.file(span.file), self.line_column(span)) {
            (Some(f), Some(lc)) => format!("{}:{}:{}", f.name, lc.line, lc.column),
            _ => "<generated>".to_owned(),
        }
    }
}

impl FileId {
    /// True if it stands for the same text in every compilation.
    pub fn is_common(self) -> bool {
        (COMMON..u32::MAX).contains(&self.0)
    }
}

impl SourceFile {
    /// A text.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0u32];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        SourceFile { name: name.into(), text, line_starts: line_starts.into() }
    }

    /// Line and column of a byte offset.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.line_starts.partition_point(|&s| s <= offset).max(1) - 1;
        let start = self.line_starts[line] as usize;
        let prefix = self.text.as_bytes().get(start..offset as usize).unwrap_or(&[]);
        // Bytes 0x80..0xC0 continue a character that began before them.
        let column = prefix.iter().filter(|&&b| !(0x80..0xC0).contains(&b)).count() as u32 + 1;
        LineColumn { line: line as u32 + 1, column }
    }

    /// The text of a line (from 1), without its newline.
    pub fn line(&self, line: u32) -> &str {
        let Some(&start) = self.line_starts.get((line as usize).wrapping_sub(1)) else { return "" };
        let rest = &self.text[start as usize..];
        rest.split('\n').next().unwrap_or("").trim_end_matches('\r')
    }

    /// The number of lines of the text.
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// Byte offset of a line and a column in characters (both from 1), clamped to the line's end.
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let Some(&start) = self.line_starts.get((line as usize).wrapping_sub(1)) else { return self.text.len() as u32 };
        let text = self.line(line);
        let skipped: usize = text.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        start + skipped as u32
    }
}

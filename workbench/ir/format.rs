//! printf formats: their grammar (C17 7.21.6.1), shared by the front end (argument checks) and the back ends.

/// A piece of a format.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text as is (`%%` already resolved).
    Text(String),
    /// A conversion.
    Conversion(Conversion),
}

/// Width or precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Written out.
    Fixed(u32),
    /// `*`: an `int` argument before the converted one.
    Star,
}

/// Length modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// None: `int`, `double`.
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `l` (64 bits)
    Long,
    /// `ll`
    LongLong,
    /// `z`, `t`, `j` (64 bits)
    Size,
    /// `L`, refused for floats on a GPU; accepted as `double`.
    LongDouble,
}

/// One `%...` conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    /// space
    pub space: bool,
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zero: bool,
    /// Minimum width.
    pub width: Option<Count>,
    /// Precision.
    pub precision: Option<Count>,
    /// Length modifier.
    pub length: Length,
    /// The letter: one of `diouxXeEfFgGaAcsp`.
    pub letter: char,
    /// Byte offset of the `%` in the format.
    pub start: usize,
    /// One past the letter.
    pub end: usize,
}

/// What went wrong in a format, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Byte offset in the format.
    pub offset: usize,
    /// One sentence.
    pub message: String,
}

/// The kind of argument a conversion takes (after C's default promotions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgKind {
    /// An integer of 32 bits (`int`, `unsigned`, promoted smaller ones).
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// A `double`.
    Double,
    /// A string.
    Str,
    /// A pointer.
    Pointer,
}

//! printf formats: their grammar (C17 7.21.6.1), shared by the front end (argument checks) and the back ends.

/// The largest width or precision a format may write out; one taken from an argument is clamped to it.
pub const MAX_COUNT: u32 = 65_535;

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

impl Conversion {
    /// The kind of the converted argument.
    pub fn arg_kind(&self) -> ArgKind {
        match self.letter {
            's' => ArgKind::Str,
            'p' => ArgKind::Pointer,
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => ArgKind::Double,
            _ => match self.length {
                Length::Long | Length::LongLong | Length::Size => ArgKind::Int64,
                Length::None | Length::Char | Length::Short | Length::LongDouble => ArgKind::Int32,
            },
        }
    }

    /// The number of `int` arguments that its `*`s take, before the converted one.
    pub fn stars(&self) -> usize {
        usize::from(self.width == Some(Count::Star)) + usize::from(self.precision == Some(Count::Star))
    }

    /// True if the converted argument is read as signed (`d`, `i`).
    pub fn is_signed(&self) -> bool {
        matches!(self.letter, 'd' | 'i')
    }
}

/// An error in a format, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Byte offset in the format.
    pub offset: usize,
    /// One sentence.
    pub message: String,
}

impl FormatError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        FormatError { offset, message: message.into() }
    }
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

impl ArgKind {
    /// The kind in words, for messages: `a 32-bit integer`.
    pub fn describe(self) -> &'static str {
        match self {
            ArgKind::Int32 => "a 32-bit integer",
            ArgKind::Int64 => "a 64-bit integer",
            ArgKind::Double => "a `double`",
            ArgKind::Str => "a string literal",
            ArgKind::Pointer => "a pointer",
        }
    }
}

/// Every argument a format takes, in order: an `Int32` for each `*`, then the converted one.
pub fn arg_kinds(pieces: &[Piece]) -> Vec<ArgKind> {
    let mut kinds = Vec::new();
    for piece in pieces {
        if let Piece::Conversion(conv) = piece {
            kinds.extend(std::iter::repeat_n(ArgKind::Int32, conv.stars()));
            kinds.push(conv.arg_kind());
        }
    }
    kinds
}

/// Takes a format apart. Neighbouring text is one piece.
///
/// # Errors
/// The first conversion that C does not define, or that CUDA refuses (`%n`, wide characters).
pub fn parse(format: &str) -> Result<Vec<Piece>, FormatError> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut parser = Parser { format, at: 0 };
    while let Some(c) = parser.bump() {
        if c != '%' {
            text.push(c);
        } else if parser.eat('%') {
            text.push('%');
        } else {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Conversion(parser.conversion()?));
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

struct Parser<'a> {
    format: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.format[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(c);
        if hit {
            self.at += c.len_utf8();
        }
        hit
    }

    /// conversion: `%` flags width? (`.` precision?)? length? letter; the `%` is already taken.
    fn conversion(&mut self) -> Result<Conversion, FormatError> {
        let start = self.at - 1;
        let mut conv = Conversion {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
            length: Length::None,
            letter: 'd',
            start,
            end: start,
        };
        loop {
            let flag = match self.peek() {
                Some('-') => &mut conv.left,
                Some('+') => &mut conv.plus,
                Some(' ') => &mut conv.space,
                Some('#') => &mut conv.alternate,
                Some('0') => &mut conv.zero,
                _ => break,
            };
            *flag = true;
            self.at += 1;
        }
        conv.width = self.count()?;
        if self.eat('.') {
            // A lone `.` is precision 0.
            conv.precision = Some(self.count()?.unwrap_or(Count::Fixed(0)));
        }
        conv.length = self.length();
        let Some(letter) = self.bump() else {
            return Err(FormatError::new(start, "the format ends inside a conversion"));
        };
        let written = &self.format[start..self.at];
        let fits = match letter {
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' => conv.length != Length::LongDouble,
            // `l` has no effect on floats (C17 7.21.6.1 paragraph 7).
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => {
                matches!(conv.length, Length::None | Length::Long | Length::LongDouble)
            }
            'c' | 's' | 'p' => conv.length == Length::None,
            'n' => return Err(FormatError::new(start, "`%n` is not part of CUDA's printf")),
            '%' => {
                return Err(FormatError::new(
                    start,
                    format!("`{written}` is not a conversion, a percent sign is `%%`"),
                ));
            }
            _ => return Err(FormatError::new(start, format!("`{written}` is not a printf conversion"))),
        };
        if !fits {
            let message = format!("the length modifier of `{written}` does not go with `{letter}`");
            return Err(FormatError::new(start, message));
        }
        conv.letter = letter;
        conv.end = self.at;
        Ok(conv)
    }

    /// count: `*` | digits
    fn count(&mut self) -> Result<Option<Count>, FormatError> {
        if self.eat('*') {
            return Ok(Some(Count::Star));
        }
        let start = self.at;
        let mut value: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        if value.is_some_and(|v| v > MAX_COUNT) {
            let message =
                format!("a width or precision of `{}` is past the limit of {MAX_COUNT}", &self.format[start..self.at]);
            return Err(FormatError::new(start, message));
        }
        Ok(value.map(Count::Fixed))
    }

    /// length: `hh` | `h` | `l` | `ll` | `z` | `t` | `j` | `L`
    fn length(&mut self) -> Length {
        match self.peek() {
            Some('h') => {
                self.at += 1;
                if self.eat('h') { Length::Char } else { Length::Short }
            }
            Some('l') => {
                self.at += 1;
                if self.eat('l') { Length::LongLong } else { Length::Long }
            }
            Some('z' | 't' | 'j') => {
                self.at += 1;
                Length::Size
            }
            Some('L') => {
                self.at += 1;
                Length::LongDouble
            }
            _ => Length::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(format: &str) -> Conversion {
        match parse(format).expect("parses").as_slice() {
            [Piece::Conversion(conv)] => *conv,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_and_percent_signs_are_one_piece() {
        assert_eq!(parse("a 100%% b\n").unwrap(), [Piece::Text("a 100% b\n".into())]);
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn every_part_of_a_conversion_is_read() {
        let conv = only("%-+ #0*.*lld");
        assert!(conv.left && conv.plus && conv.space && conv.alternate && conv.zero);
        assert_eq!((conv.width, conv.precision), (Some(Count::Star), Some(Count::Star)));
        assert_eq!((conv.length, conv.letter, conv.start, conv.end), (Length::LongLong, 'd', 0, 12));
        assert_eq!((conv.stars(), conv.arg_kind()), (2, ArgKind::Int64));
        assert_eq!(only("%8.f").precision, Some(Count::Fixed(0)));
        assert_eq!(only("%hhu").length, Length::Char);
    }

    #[test]
    fn arguments_are_listed_in_order() {
        use ArgKind::{Double, Int32, Int64, Pointer, Str};
        let pieces = parse("%c %*d %zu %Lf %s %p").unwrap();
        assert_eq!(arg_kinds(&pieces), [Int32, Int32, Int32, Int64, Double, Str, Pointer]);
    }

    #[test]
    fn what_c_does_not_define_is_refused_with_its_place() {
        for (format, offset) in
            [("ab%n", 2), ("x %q", 2), ("%", 0), ("%5", 0), ("%5%", 0), ("%ls", 0), ("%hhf", 0), ("%Ld", 0), ("é%é", 2)]
        {
            let err = parse(format).expect_err(format);
            assert_eq!(err.offset, offset, "{format}: {}", err.message);
        }
        assert_eq!(parse("%99999d").unwrap_err().offset, 1);
    }
}

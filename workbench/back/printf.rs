//! Formatting of printf records, as glibc's `printf` does it in the C locale, bit for bit.
//!
//! A back end records a thread's arguments, and turns them into text here, outside the kernel: no `FILE`s or locales are involved. Digits
//! come from the exact decimal expansion of the double and are rounded half to even.

use super::PrintfRecord;
use crate::ir::printf_format::{Conversion, Count, Length, MAX_COUNT, Piece};

/// One argument of a record, after C's default promotions.
#[derive(Debug, Clone, PartialEq)]
pub enum PrintfArg {
    /// A signed integer, sign-extended.
    Int(i64),
    /// An unsigned integer, zero-extended.
    UInt(u64),
    /// A float.
    Double(f64),
    /// A string, without its closing NUL.
    Str(String),
    /// An address.
    Pointer(u64),
}

/// The text for an argument that is missing, or of another kind than its conversion's; the validator lets neither pass.
const MISFIT: &str = "(?)";

/// The text of one printf call. Bytes that are not UTF-8 (a `%c` past 127, a precision that cuts a character) come out
/// as U+FFFD, unless neighbours complete them. A width or precision taken from an argument is clamped to [`MAX_COUNT`].
pub fn format_record(pieces: &[Piece], args: &[PrintfArg]) -> String {
    let mut out = Vec::new();
    let mut args = args.iter();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Conversion(conv) => {
                let spec = Spec::new(conv, &mut args);
                match args.next() {
                    Some(arg) => convert(&mut out, &spec, arg),
                    None => out.extend_from_slice(MISFIT.as_bytes()),
                }
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// The number of records of a launch that are kept.
pub const MAX_RECORDS: usize = 100_000;
/// The number of bytes of text of a launch that are kept.
pub const MAX_BYTES: usize = 16 << 20;

/// Puts records, each with the time or sequence number its thread wrote it at, into (block, thread, sequence) order: blocks
/// and threads by their linear index, x running fastest.
pub fn sort_records(records: Vec<(u64, PrintfRecord)>) -> Vec<PrintfRecord> {
    let mut records = records;
    let linear = |[x, y, z]: [u32; 3]| (z, y, x);
    records.sort_by_key(|(seq, r)| (linear(r.block), linear(r.thread), *seq));
    records.into_iter().map(|(_, r)| r).collect()
}

/// A conversion with its `*`s filled in.
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    length: Length,
    letter: char,
}

impl Spec {
    fn new<'a>(conv: &Conversion, args: &mut impl Iterator<Item = &'a PrintfArg>) -> Self {
        let mut star = || match args.next() {
            Some(PrintfArg::Int(i)) => *i as i32,
            Some(PrintfArg::UInt(u)) => *u as i32,
            _ => 0,
        };
        let clamp = |n: u32| n.min(MAX_COUNT) as usize;
        let mut left = conv.left;
        let width = match conv.width {
            None => 0,
            Some(Count::Fixed(n)) => clamp(n),
            Some(Count::Star) => {
                let n = star();
                // A negative width is the `-` flag and its absolute value (C17 7.21.6.1 paragraph 5).
                left |= n < 0;
                clamp(n.unsigned_abs())
            }
        };
        let precision = match conv.precision {
            None => None,
            Some(Count::Fixed(n)) => Some(clamp(n)),
            // A negative precision counts as none.
            Some(Count::Star) => u32::try_from(star()).ok().map(clamp),
        };
        Spec {
            left,
            plus: conv.plus,
            space: conv.space,
            alternate: conv.alternate,
            zero: conv.zero && !left,
            width,
            precision,
            length: conv.length,
            letter: conv.letter,
        }
    }

    fn uppercase(&self) -> bool {
        self.letter.is_ascii_uppercase()
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    /// `prefix` and `body` padded to the width: with zeros between them, or with spaces on one side.
    fn pad(&self, out: &mut Vec<u8>, prefix: &str, body: &[u8], zeros: bool) {
        let fill = self.width.saturating_sub(prefix.len() + body.len());
        let (before, between, after) = match (self.left, zeros) {
            (true, _) => (0, 0, fill),
            (false, true) => (0, fill, 0),
            (false, false) => (fill, 0, 0),
        };
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(prefix.as_bytes());
        out.resize(out.len() + between, b'0');
        out.extend_from_slice(body);
        out.resize(out.len() + after, b' ');
    }
}

fn convert(out: &mut Vec<u8>, spec: &Spec, arg: &PrintfArg) {
    match (spec.letter, arg) {
        ('d' | 'i' | 'o' | 'u' | 'x' | 'X' | 'c', PrintfArg::Int(i)) => integer(out, spec, *i as u64),
        ('d' | 'i' | 'o' | 'u' | 'x' | 'X' | 'c', PrintfArg::UInt(u)) => integer(out, spec, *u),
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A', PrintfArg::Double(d)) => float(out, spec, *d),
        ('s', PrintfArg::Str(s)) => {
            let shown = spec.precision.map_or(s.len(), |p| p.min(s.len()));
            spec.pad(out, "", &s.as_bytes()[..shown], false);
        }
        ('p', PrintfArg::Pointer(0)) => spec.pad(out, "", b"(nil)", false),
        ('p', PrintfArg::Pointer(p)) => {
            let prefix = format!("{}0x", spec.sign(false));
            number(out, spec, &prefix, format!("{p:x}"));
        }
        _ => out.extend_from_slice(MISFIT.as_bytes()),
    }
}

fn integer(out: &mut Vec<u8>, spec: &Spec, bits: u64) {
    if spec.letter == 'c' {
        return spec.pad(out, "", &[bits as u8], false);
    }
    if matches!(spec.letter, 'd' | 'i') {
        let value = match spec.length {
            Length::Char => i64::from(bits as i8),
            Length::Short => i64::from(bits as i16),
            Length::None | Length::LongDouble => i64::from(bits as i32),
            Length::Long | Length::LongLong | Length::Size => bits as i64,
        };
        return number(out, spec, spec.sign(value < 0), value.unsigned_abs().to_string());
    }
    let value = match spec.length {
        Length::Char => u64::from(bits as u8),
        Length::Short => u64::from(bits as u16),
        Length::None | Length::LongDouble => u64::from(bits as u32),
        Length::Long | Length::LongLong | Length::Size => bits,
    };
    let alternate = spec.alternate && value != 0;
    match spec.letter {
        'o' => {
            let mut digits = if value == 0 && spec.precision == Some(0) { String::new() } else { format!("{value:o}") };
            // `#` raises the precision just enough for the first digit to be 0.
            if spec.alternate && !digits.starts_with('0') && spec.precision.is_none_or(|p| p <= digits.len()) {
                digits.insert(0, '0');
            }
            number(out, spec, "", digits);
        }
        'x' => number(out, spec, if alternate { "0x" } else { "" }, format!("{value:x}")),
        'X' => number(out, spec, if alternate { "0X" } else { "" }, format!("{value:X}")),
        _ => number(out, spec, "", value.to_string()),
    }
}

/// Digits padded to the precision; a precision switches the `0` flag off, and with precision 0 a zero has no digits.
fn number(out: &mut Vec<u8>, spec: &Spec, prefix: &str, digits: String) {
    let digits = match spec.precision {
        Some(0) if digits == "0" && !(spec.letter == 'o' && spec.alternate) => String::new(),
        Some(p) => format!("{}{digits}", "0".repeat(p.saturating_sub(digits.len()))),
        None => digits,
    };
    spec.pad(out, prefix, digits.as_bytes(), spec.zero && spec.precision.is_none());
}

fn float(out: &mut Vec<u8>, spec: &Spec, value: f64) {
    let sign = spec.sign(value.is_sign_negative());
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        let name = if spec.uppercase() { name.to_uppercase() } else { name.to_owned() };
        return spec.pad(out, sign, name.as_bytes(), false);
    }
    let magnitude = value.abs();
    let (prefix, body) = match spec.letter.to_ascii_lowercase() {
        'f' => ("", fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate)),
        'e' => {
            let (digits, exponent) = scientific(magnitude, spec.precision.unwrap_or(6));
            ("", with_exponent(digits, exponent, spec.alternate))
        }
        'g' => ("", general(magnitude, spec.precision.unwrap_or(6), spec.alternate)),
        _ => ("0x", hexadecimal(magnitude, spec.precision, spec.alternate)),
    };
    let (prefix, body) = match spec.uppercase() {
        true => (format!("{sign}{}", prefix.to_uppercase()), body.to_uppercase()),
        false => (format!("{sign}{prefix}"), body),
    };
    spec.pad(out, &prefix, body.as_bytes(), spec.zero);
}

fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    // Rust's formatting with a precision is exact for any number of digits, ties to even.
    let mut digits = format!("{value:.precision$}");
    if alternate && precision == 0 {
        digits.push('.');
    }
    digits
}

/// `d.ddd` with `precision` digits after the point, and the decimal exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').expect("Rust's scientific form has an `e`");
    (digits.to_owned(), exponent.parse().expect("Rust's scientific form ends in an integer"))
}

fn with_exponent(mut digits: String, exponent: i32, alternate: bool) -> String {
    if alternate && !digits.contains('.') {
        digits.push('.');
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: C17 7.21.6.1 paragraph 8. The exponent is that of the rounded number.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let significant = precision.max(1);
    let (digits, exponent) = scientific(value, significant - 1);
    let strip = |text: String| match alternate || !text.contains('.') {
        true => text,
        false => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    match usize::try_from(exponent) {
        Ok(e) if e < significant => strip(fixed(value, significant - 1 - e, alternate)),
        Err(_) if exponent >= -4 => {
            let places = significant - 1 + exponent.unsigned_abs() as usize;
            strip(fixed(value, places.min(MAX_COUNT as usize), alternate))
        }
        _ => with_exponent(strip(digits), exponent, alternate),
    }
}

/// `%a`, as glibc normalises it: a leading 1 (0 for subnormals, with exponent -1022), 13 hexadecimal digits, rounded
/// half to even without renormalising.
fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52) as i32;
    let (lead, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let mut significand = lead << 52 | fraction;
    if let Some(kept) = precision.filter(|&p| p < 13) {
        let shift = 4 * (13 - kept as u32);
        let (rest, half) = (significand & ((1 << shift) - 1), 1u64 << (shift - 1));
        significand >>= shift;
        if rest > half || rest == half && significand & 1 == 1 {
            significand += 1;
        }
        significand <<= shift;
    }
    let digits = format!("{:013x}", significand & ((1 << 52) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(p) if p <= 13 => digits[..p].to_owned(),
        Some(p) => format!("{digits}{}", "0".repeat(p - 13)),
    };
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}{point}{digits}p{sign}{}", significand >> 52, exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use std::ffi::{CString, c_char, c_int};

    use proptest::prelude::*;

    use super::*;
    use crate::ir::printf_format;

    unsafe extern "C" {
        fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
    }

    /// The output of C's own `snprintf` for a format with one conversion.
    fn c_printf(format: &str, stars: &[i32], arg: &PrintfArg) -> String {
        let format = CString::new(format).unwrap();
        let mut buffer = vec![0u8; 8192];
        let (out, size, f) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len(), format.as_ptr());
        macro_rules! call {
            ($value:expr) => {
                // SAFETY: the buffer has `size` bytes, the format is NUL-terminated and its arguments are of its types.
                unsafe {
                    match stars {
                        [] => snprintf(out, size, f, $value),
                        [a] => snprintf(out, size, f, *a, $value),
                        [a, b] => snprintf(out, size, f, *a, *b, $value),
                        _ => unreachable!(),
                    }
                }
            };
        }
        let written = match arg {
            PrintfArg::Int(i) => call!(*i),
            PrintfArg::UInt(u) | PrintfArg::Pointer(u) => call!(*u),
            PrintfArg::Double(d) => call!(*d),
            PrintfArg::Str(s) => {
                let s = CString::new(s.as_str()).unwrap();
                call!(s.as_ptr())
            }
        };
        let written = usize::try_from(written).unwrap();
        assert!(written < buffer.len());
        String::from_utf8_lossy(&buffer[..written]).into_owned()
    }

    fn ours(format: &str, stars: &[i32], arg: &PrintfArg) -> String {
        let mut args: Vec<_> = stars.iter().map(|&s| PrintfArg::Int(i64::from(s))).collect();
        args.push(arg.clone());
        format_record(&printf_format::parse(format).expect(format), &args)
    }

    #[derive(Debug, Clone)]
    struct Case {
        format: String,
        stars: Vec<i32>,
    }

    fn case(lengths: &'static [&'static str], letters: &'static str) -> impl Strategy<Value = Case> {
        let count = || {
            prop_oneof![
                2 => Just((String::new(), None)),
                4 => (0u32..40).prop_map(|n| (n.to_string(), None)),
                1 => (-40i32..40).prop_map(|n| ("*".to_owned(), Some(n))),
            ]
        };
        let letters: Vec<char> = letters.chars().collect();
        ("[-+ #0]{0,3}", count(), any::<bool>(), count(), prop::sample::select(lengths), prop::sample::select(letters))
            .prop_map(|(flags, (width, w), has_precision, (precision, p), length, letter)| {
                let dot = if has_precision { format!(".{precision}") } else { String::new() };
                let stars = w.into_iter().chain(p.filter(|_| has_precision)).collect();
                // A width that starts with 0 is a flag.
                Case { format: format!("[%{flags}{width}{dot}{length}{letter}]"), stars }
            })
    }

    fn double() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            any::<i32>().prop_map(|i| f64::from(i) / 64.0),
            any::<i16>().prop_map(|i| f64::from(i) / 1000.0),
            (any::<i8>(), -30i32..30).prop_map(|(m, e)| f64::from(m) * 10f64.powi(e)),
            prop::sample::select(vec![
                0.0,
                -0.0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                -f64::NAN,
                0.5,
                1.5,
                2.5,
                9.5,
                99.5,
                0.25,
                0.125,
                1e22,
                999999.5,
                9.9999995e-5,
                f64::MAX,
                f64::MIN_POSITIVE,
                5e-324
            ]),
        ]
    }

    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![
            any::<i64>(),
            any::<i32>().prop_map(i64::from),
            -300i64..300,
            Just(0),
            Just(i64::MIN),
            Just(i64::MAX)
        ]
    }

    /// glibc drops the zeros of `%#g` (which C keeps) where rounding carries into a new digit: 999999.5 is `1.e+06`.
    fn glibc_loses_zeros(case: &Case, value: f64) -> bool {
        let pieces = printf_format::parse(&case.format).expect("a conversion");
        let conv = pieces.iter().find_map(|p| if let Piece::Conversion(c) = p { Some(c) } else { None });
        let conv = conv.expect("a conversion");
        if !conv.alternate || !value.is_finite() || !matches!(conv.letter, 'g' | 'G') {
            return false;
        }
        let stars: Vec<_> = case.stars.iter().map(|&s| PrintfArg::Int(i64::from(s))).collect();
        let significant = Spec::new(conv, &mut stars.iter()).precision.unwrap_or(6).max(1);
        scientific(value, 40).1 != scientific(value, significant - 1).1
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn integers_print_as_in_c(case in case(&["", "hh", "h", "l", "ll", "z", "t", "j"], "diouxX"), value in integer()) {
            let arg = PrintfArg::Int(value);
            prop_assert_eq!(ours(&case.format, &case.stars, &arg), c_printf(&case.format, &case.stars, &arg));
        }

        #[test]
        fn doubles_print_as_in_c(case in case(&["", "l"], "eEfFgGaA"), value in double()) {
            prop_assume!(!glibc_loses_zeros(&case, value));
            let arg = PrintfArg::Double(value);
            prop_assert_eq!(ours(&case.format, &case.stars, &arg), c_printf(&case.format, &case.stars, &arg));
        }

        #[test]
        fn strings_pointers_and_characters_print_as_in_c(
            text in "[ -~é]{0,12}",
            string in case(&[""], "s"),
            pointer in case(&[""], "p"),
            character in case(&[""], "c"),
            value in integer(),
        ) {
            let arg = PrintfArg::Str(text);
            prop_assert_eq!(ours(&string.format, &string.stars, &arg), c_printf(&string.format, &string.stars, &arg));
            let arg = PrintfArg::Pointer(value as u64);
            prop_assert_eq!(ours(&pointer.format, &pointer.stars, &arg), c_printf(&pointer.format, &pointer.stars, &arg));
            let arg = PrintfArg::UInt(value as u64);
            prop_assert_eq!(
                ours(&character.format, &character.stars, &arg),
                c_printf(&character.format, &character.stars, &arg)
            );
        }

        #[test]
        fn any_precision_is_exact(value in double(), precision in 0i32..1200) {
            for format in ["%.*f", "%.*e", "%.*g", "%#.*g", "%.*a"] {
                prop_assume!(!glibc_loses_zeros(&Case { format: format.to_owned(), stars: vec![precision] }, value));
                let arg = PrintfArg::Double(value);
                prop_assert_eq!(ours(format, &[precision], &arg), c_printf(format, &[precision], &arg));
            }
        }
    }

    #[test]
    fn a_character_may_be_nul_and_bytes_join_to_utf8() {
        let args = [0xC3u64, 0xA9, 0].map(PrintfArg::UInt);
        assert_eq!(format_record(&printf_format::parse("%c%c|%c|").unwrap(), &args), "é|\0|");
    }

    #[test]
    fn missing_and_misfitting_arguments_do_not_panic() {
        let pieces = printf_format::parse("%*d %s %f").unwrap();
        assert_eq!(format_record(&pieces, &[PrintfArg::Int(3), PrintfArg::Double(1.0)]), "(?) (?) (?)");
    }

    #[test]
    fn records_sort_by_block_then_thread_then_time() {
        let record = |block, thread, text: &str| PrintfRecord { block, thread, text: text.to_owned(), kernel: None };
        let sorted = sort_records(vec![
            (9, record([0, 1, 0], [0, 0, 0], "d")),
            (3, record([1, 0, 0], [0, 0, 0], "c")),
            (2, record([0, 0, 0], [1, 0, 0], "b2")),
            (1, record([0, 0, 0], [1, 0, 0], "b1")),
            (7, record([0, 0, 0], [0, 0, 0], "a")),
        ]);
        assert_eq!(sorted.iter().map(|r| r.text.as_str()).collect::<Vec<_>>(), ["a", "b1", "b2", "c", "d"]);
    }
}

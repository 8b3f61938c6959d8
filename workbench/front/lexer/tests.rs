//! Tests of the lexer.
use super::literal::{character, number, string};
use super::*;
use crate::front::ast::{IntSuffix, Literal};

fn texts(text: &str) -> Vec<String> {
    let mut interner = Interner::default();
    let tokens = lex(text, FileId(0), &mut interner);
    tokens.iter().take(tokens.len() - 1).map(|t| t.text(&interner).to_owned()).collect()
}

fn kinds(text: &str) -> Vec<TokenKind> {
    lex(text, FileId(0), &mut Interner::default()).iter().map(|t| t.kind).collect()
}

#[test]
fn longest_punctuators_win() {
    assert_eq!(texts("a<<=b>>c->d...e"), ["a", "<<=", "b", ">>", "c", "->", "d", "...", "e"]);
    assert_eq!(texts("k<<<g,b>>>(x)"), ["k", "<<<", "g", ",", "b", ">>>", "(", "x", ")"]);
    assert_eq!(texts("a+++b ..c"), ["a", "++", "+", "b", ".", ".", "c"]);
}

#[test]
fn numbers_are_preprocessing_numbers() {
    assert_eq!(
        texts("1.f .5 1e-5f 0x1p-3 1'000 1+2 0xe+1"),
        ["1.f", ".5", "1e-5f", "0x1p-3", "1'000", "1", "+", "2", "0xe+1"]
    );
}

#[test]
fn continued_lines_join_even_inside_tokens_and_spans_stay_original() {
    let mut interner = Interner::default();
    let tokens = lex("ab\\\ncd = 1\\\r\n2;", FileId(0), &mut interner);
    let seen: Vec<_> = tokens.iter().map(|t| (t.text(&interner), t.span.start, t.span.end)).collect();
    assert_eq!(seen, [("abcd", 0, 6), ("=", 7, 8), ("12", 9, 14), (";", 14, 15), ("", 15, 15)]);
}

#[test]
fn comments_are_blanks_and_do_not_nest() {
    assert_eq!(texts("a/* x /* y */b//c\nd"), ["a", "b", "d"]);
    assert_eq!(kinds("a /* never"), [TokenKind::Ident, TokenKind::UnterminatedComment, TokenKind::Eof]);
    let tokens = lex("a /*\n*/ #x\n /**/ #y", FileId(0), &mut Interner::default());
    let hashes: Vec<bool> =
        tokens.iter().filter(|t| t.kind == TokenKind::Hash).map(|t| t.flags.has(Flags::LINE_START)).collect();
    assert_eq!(hashes, [false, true]);
}

#[test]
fn garbage_runs_are_one_token() {
    assert_eq!(kinds("a @@`\u{e9} b"), [TokenKind::Ident, TokenKind::Unknown, TokenKind::Ident, TokenKind::Eof]);
    assert_eq!(kinds("\"open\n'x"), [TokenKind::UnterminatedStr, TokenKind::UnterminatedChar, TokenKind::Eof]);
    assert_eq!(kinds("\"open\\"), [TokenKind::UnterminatedStr, TokenKind::Unknown, TokenKind::Eof]);
    assert_eq!(kinds("\u{feff}a"), [TokenKind::Ident, TokenKind::Eof]);
}

#[test]
fn raw_strings_hold_anything() {
    assert_eq!(texts("R\"x(a\\n\")\" )x\" b"), ["R\"x(a\\n\")\" )x\"", "b"]);
    assert_eq!(kinds("R\"(never"), [TokenKind::UnterminatedStr, TokenKind::Eof]);
    let mut bytes = Vec::new();
    string("R\"x(a\\n\")\" )x\"", &mut bytes).unwrap();
    assert_eq!(bytes, b"a\\n\")\" ");
}

#[test]
fn integer_types_follow_base_suffix_and_value() {
    use IntSuffix::*;
    for (text, value, ty) in [
        ("0", 0, Int),
        ("0u", 0, UInt),
        ("2147483647", 0x7fff_ffff, Int),
        ("2147483648", 0x8000_0000, Long),
        ("0x80000000", 0x8000_0000, UInt),
        ("0xFFFFFFFFFF", 0xff_ffff_ffff, Long),
        ("0x8000000000000000", 1 << 63, ULong),
        ("4294967296u", 1 << 32, ULong),
        ("1L", 1, Long),
        ("1uL", 1, ULong),
        ("1LL", 1, LongLong),
        ("1llu", 1, ULongLong),
        ("5z", 5, Long),
        ("0b101", 5, Int),
        ("017", 15, Int),
        ("1'000'000", 1_000_000, Int),
        ("18446744073709551615u", u64::MAX, ULong),
    ] {
        assert_eq!(number(text).map(|n| n.literal), Ok(Literal::Int(value, ty)), "{text}");
    }
    for text in ["09", "0b2", "1x", "0x", "99999999999999999999", "18446744073709551615", "1f", "0b", "1uu"] {
        assert!(number(text).is_err(), "{text}");
    }
}

#[test]
fn floats_round_once() {
    for (text, value) in [
        ("1.f", 1.0f32),
        (".5F", 0.5),
        ("1e-5f", 1e-5),
        ("3.402823466e+38F", f32::MAX),
        // Between two floats, above the middle by less than a double sees.
        ("1.00000005960464477539062500000000000000001f", 1.0 + f32::EPSILON),
        ("0x1.8p3f", 12.0),
        ("0x1p-149f", f32::from_bits(1)),
        ("0x1p-150f", 0.0),
        ("0x1.000001p0f", 1.0),
        ("0x1.0000010000000000001p0f", 1.0 + f32::EPSILON),
        ("0x.8p1f", 1.0),
    ] {
        assert_eq!(number(text).map(|n| n.literal), Ok(Literal::Float(value)), "{text}");
    }
    assert_eq!(number("1e3").unwrap().literal, Literal::Double(1000.0));
    assert_eq!(number("1.5L").unwrap().literal, Literal::Double(1.5));
    assert_eq!(number("0x1p-1074").unwrap().literal, Literal::Double(f64::from_bits(1)));
    assert_eq!(number("0x1.fffffffffffffp1023").unwrap().literal, Literal::Double(f64::MAX));
    assert_eq!(number("09.5").unwrap().literal, Literal::Double(9.5));
    let big = number("1e39f").unwrap();
    assert_eq!(big.literal, Literal::Float(f32::INFINITY));
    assert!(big.warning.is_some());
    assert_eq!(number("0x1p99999999999999999999f").unwrap().literal, Literal::Float(f32::INFINITY));
    for text in ["1e", "1e+f", "0x1.8", "1.5ff", "1..2", "0x.p1", "0xe+1"] {
        assert!(number(text).is_err(), "{text}");
    }
}

#[test]
fn escapes_resolve() {
    assert_eq!(character("'a'"), Ok(97));
    assert_eq!(character("'\\n'"), Ok(10));
    assert_eq!(character("'\\0'"), Ok(0));
    assert_eq!(character("'\\377'"), Ok(-1));
    assert_eq!(character("'\\''"), Ok(39));
    assert!(character("''").is_err() && character("'ab'").is_err() && character("L'a'").is_err());
    let mut bytes = Vec::new();
    string("\"a\\x41\\t\\u00e9\\\"\"", &mut bytes).unwrap();
    assert_eq!(bytes, "aA\t\u{e9}\"".as_bytes());
    assert!(string("\"\\q\"", &mut bytes).is_err() && string("\"\\x100\"", &mut bytes).is_err());
}

//! Values of literals: numbers by [lex.icon] and [lex.fcon], characters and strings with their escapes.

use crate::front::ast::{IntSuffix, Literal};

/// A number with its value, and a remark that is worth a warning.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Value and type.
    pub literal: Literal,
    /// Warning about it, as one sentence.
    pub warning: Option<String>,
}

/// Reads a preprocessing number. The error is one sentence for a message.
pub fn number(spelling: &str) -> Result<Number, String> {
    let text: String = spelling.chars().filter(|&c| c != '\'').collect();
    let lower = text.to_ascii_lowercase();
    let hex = lower.strip_prefix("0x");
    let is_float = match hex {
        Some(digits) => digits.contains(['.', 'p']),
        None => !lower.starts_with("0b") && lower.contains(['.', 'e']),
    };
    match (is_float, hex) {
        (false, _) => integer(&lower, spelling),
        (true, None) => decimal_float(&lower, spelling),
        (true, Some(digits)) => hex_float(digits, spelling),
    }
}

/// An integer by [lex.icon]; `long` has 64 bits.
fn integer(lower: &str, spelling: &str) -> Result<Number, String> {
    let (base, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower)
    };
    let split = digits.find(|c: char| !c.is_digit(base.max(10))).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(split);
    // `0` and `0u` have no digit left after the octal prefix.
    if digits.is_empty() && base != 8 {
        return Err(format!("the number `{spelling}` has no digits"));
    }
    let (unsigned, longs) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" | "z" => (false, 1),
        "ul" | "lu" | "uz" | "zu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        "f" if base == 10 => {
            return Err(format!(
                "`{spelling}` is not a number: a float needs a point or an exponent, as in `{}.f`",
                &lower[..split]
            ));
        }
        _ => return Err(format!("`{suffix}` is not a suffix of integers")),
    };
    let mut value: u64 = 0;
    for c in digits.chars() {
        let Some(digit) = c.to_digit(base) else {
            let name = if base == 8 { "octal" } else { "binary" };
            return Err(format!("`{c}` is not an {name} digit").replace("an binary", "a binary"));
        };
        value = value
            .checked_mul(u64::from(base))
            .and_then(|v| v.checked_add(u64::from(digit)))
            .ok_or_else(|| format!("`{spelling}` is larger than any integer type holds"))?;
    }
    // Decimal literals without `u` never become unsigned; others may.
    let decimal = base == 10;
    let fits_int = value <= i32::MAX as u64;
    let fits_uint = value <= u64::from(u32::MAX);
    let fits_long = value <= i64::MAX as u64;
    let ty = match (longs, unsigned) {
        (0, false) if fits_int => IntSuffix::Int,
        (0, false) if fits_uint && !decimal => IntSuffix::UInt,
        (0, true) if fits_uint => IntSuffix::UInt,
        (0 | 1, false) if fits_long => IntSuffix::Long,
        (0 | 1, false) if !decimal => IntSuffix::ULong,
        (0 | 1, true) => IntSuffix::ULong,
        (_, false) if fits_long => IntSuffix::LongLong,
        (_, false) if !decimal => IntSuffix::ULongLong,
        (_, true) => IntSuffix::ULongLong,
        _ => return Err(format!("`{spelling}` is larger than `long long` holds; write `{spelling}u`")),
    };
    Ok(Number { literal: Literal::Int(value, ty), warning: None })
}

/// Splits off a float's suffix: `true` for binary32.
fn float_suffix<'a>(text: &'a str, exponent_end: usize, spelling: &str) -> Result<(&'a str, bool), String> {
    let (digits, suffix) = text.split_at(exponent_end);
    match suffix {
        "" | "l" => Ok((digits, false)),
        "f" => Ok((digits, true)),
        _ => Err(format!("`{spelling}` is not a number: `{suffix}` is not a suffix of floats")),
    }
}

/// The literal of a value, with a warning where a finite spelling became infinite.
fn float(single: f32, double: f64, is_single: bool, spelling: &str) -> Number {
    let infinite = if is_single { single.is_infinite() } else { double.is_infinite() };
    let ty = if is_single { "float" } else { "double" };
    Number {
        literal: if is_single { Literal::Float(single) } else { Literal::Double(double) },
        warning: infinite.then(|| format!("`{spelling}` is larger than any `{ty}` and becomes infinity")),
    }
}

/// `1.5`, `.5`, `1.f`, `1e-5f`.
fn decimal_float(lower: &str, spelling: &str) -> Result<Number, String> {
    let bytes = lower.as_bytes();
    let digits_from = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits_from(0);
    if bytes.get(at) == Some(&b'.') {
        at = digits_from(at + 1);
    }
    if bytes.get(at) == Some(&b'e') {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits_from(at + 1 + sign);
        if end == at + 1 + sign {
            return Err(format!("the exponent of `{spelling}` has no digits"));
        }
        at = end;
    }
    let (digits, is_single) = float_suffix(lower, at, spelling)?;
    // Parsing binary32 through binary64 would round twice.
    let malformed = || format!("`{spelling}` is not a number");
    let single = if is_single { digits.parse::<f32>().map_err(|_| malformed())? } else { 0.0 };
    let double = if is_single { 0.0 } else { digits.parse::<f64>().map_err(|_| malformed())? };
    Ok(float(single, double, is_single, spelling))
}

/// `0x1.8p3f`; `digits` is what follows `0x`, in lower case.
fn hex_float(digits: &str, spelling: &str) -> Result<Number, String> {
    let Some((mantissa, rest)) = digits.split_once('p') else {
        return Err(format!("the hexadecimal float `{spelling}` needs an exponent, as in `0x1.8p3`"));
    };
    let sign_len = usize::from(rest.starts_with(['+', '-']));
    let end = rest[sign_len..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| n + sign_len);
    if end == sign_len {
        return Err(format!("the exponent of `{spelling}` has no digits"));
    }
    let (exponent, is_single) = float_suffix(rest, end, spelling)?;
    // Exponents past this are zero or infinity whatever the mantissa that fits in a text.
    let bound = 1 << 28;
    let exponent: i64 =
        exponent.trim_start_matches('+').parse().unwrap_or(if exponent.starts_with('-') { -bound } else { bound });
    let exponent = exponent.clamp(-bound, bound);
    // 64 significant bits and a sticky bit decide the rounding to 53 or 24.
    let (mut bits, mut shift, mut seen_point, mut any) = (0u64, 0i64, false, false);
    for c in mantissa.chars() {
        if c == '.' && !seen_point {
            seen_point = true;
            continue;
        }
        let Some(digit) = c.to_digit(16) else { return Err(format!("`{spelling}` is not a number")) };
        any = true;
        if bits >> 60 == 0 {
            bits = bits << 4 | u64::from(digit);
            shift -= if seen_point { 4 } else { 0 };
        } else {
            bits |= u64::from(digit != 0);
            shift += if seen_point { 0 } else { 4 };
        }
    }
    if !any {
        return Err(format!("the number `{spelling}` has no digits"));
    }
    let exponent = exponent + shift;
    let single = if is_single { f32::from_bits(round_bits(bits, exponent, 24, -126, 127) as u32) } else { 0.0 };
    let double = if is_single { 0.0 } else { f64::from_bits(round_bits(bits, exponent, 53, -1022, 1023)) };
    Ok(float(single, double, is_single, spelling))
}

/// `bits * 2^exponent` as an IEEE encoding with `precision` bits, rounded to nearest even; the lowest bit of `bits` is sticky.
fn round_bits(bits: u64, exponent: i64, precision: u32, min_exp: i64, max_exp: i64) -> u64 {
    if bits == 0 {
        return 0;
    }
    let fraction_bits = precision - 1;
    let infinity = ((max_exp * 2 + 1) as u64) << fraction_bits;
    let lead = 63 - i64::from(bits.leading_zeros());
    let top = exponent + lead;
    if top > max_exp {
        return infinity;
    }
    // The weight of the last kept bit; subnormals keep fewer bits.
    let last = top.max(min_exp) - i64::from(fraction_bits);
    let drop = last - exponent;
    let kept = if drop <= 0 {
        bits << (-drop).min(63)
    } else if drop > 64 {
        0
    } else {
        let wide = u128::from(bits);
        let half = 1u128 << (drop - 1);
        let low = wide & ((1u128 << drop) - 1);
        let kept = wide >> drop;
        (kept + u128::from(low > half || (low == half && kept & 1 == 1))) as u64
    };
    // Adding the fraction lets a carry run into the exponent, up to infinity.
    let biased = (top.max(min_exp) - min_exp) as u64;
    (biased << fraction_bits) + kept
}

/// Reads a character literal, spelled with its quotes.
pub fn character(spelling: &str) -> Result<i8, String> {
    let (prefix, rest) = spelling.split_once('\'').unwrap_or(("", spelling));
    if !matches!(prefix, "" | "u8") {
        return Err(format!("wide characters such as `{spelling}` are not supported"));
    }
    let mut bytes = Vec::new();
    unescape(rest.strip_suffix('\'').unwrap_or(rest), &mut bytes)?;
    match bytes[..] {
        [] => Err("a character literal needs a character".to_owned()),
        [byte] => Ok(byte as i8),
        _ => Err(format!("`{spelling}` holds more than one byte")),
    }
}

/// Appends the bytes of a string literal, spelled with prefix and quotes.
pub fn string(spelling: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let (prefix, rest) = spelling.split_once('"').unwrap_or(("", spelling));
    let body = rest.strip_suffix('"').unwrap_or(rest);
    let width = prefix.strip_suffix('R').unwrap_or(prefix);
    if !matches!(width, "" | "u8") {
        return Err(format!("wide strings such as `{width}\"...\"` are not supported"));
    }
    if prefix.ends_with('R') {
        let (delimiter, text) = body.split_once('(').unwrap_or(("", body));
        let text = text.strip_suffix(delimiter).unwrap_or(text);
        out.extend_from_slice(text.strip_suffix(')').unwrap_or(text).as_bytes());
        return Ok(());
    }
    unescape(body, out)
}

/// Appends `text` with its escapes resolved.
fn unescape(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { return Err("a backslash needs a character after it".to_owned()) };
        if let Some(byte) = simple_escape(c) {
            out.push(byte);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (base, skip, most) = match c {
            'x' => (16, 1, usize::MAX),
            'u' => (16, 1, 4),
            'U' => (16, 1, 8),
            '0'..='7' => (8, 0, 3),
            _ => return Err(format!("`\\{c}` is not an escape sequence")),
        };
        let digits = &rest[skip..];
        let len = digits.bytes().take(most).take_while(|&b| char::from(b).is_digit(base)).count();
        if len == 0 || (most == 4 || most == 8) && len != most {
            return Err(format!("`\\{c}` needs {} hexadecimal digits", if most > 8 { 1 } else { most }));
        }
        let value = u32::from_str_radix(&digits[..len], base).unwrap_or(u32::MAX);
        if matches!(c, 'u' | 'U') {
            let c = char::from_u32(value).ok_or_else(|| format!("`\\{}` is not a character", &rest[..skip + len]))?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            let byte = u8::try_from(value).map_err(|_| format!("`\\{}` is more than a byte", &rest[..skip + len]))?;
            out.push(byte);
        }
        rest = &rest[skip + len..];
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(())
}

/// The value of an escape of one letter.
fn simple_escape(c: char) -> Option<u8> {
    Some(match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        'e' => 27,
        '\\' | '\'' | '"' | '?' => c as u8,
        _ => return None,
    })
}

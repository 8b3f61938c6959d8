//! Words of the text, with its macros' bodies in the place of their names.

use std::collections::HashMap;

use crate::back::lane::valid::{Invalid, Result};

/// A word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tok<'t> {
    /// A name.
    Name(&'t str),
    /// An integer, how many bits it has at least, and whether it is unsigned.
    Int(u64, u8, bool),
    /// A number with a point; `true` of a `float`.
    Real(f64, bool),
    /// An operator, a bracket, a separator.
    Sign(&'static str),
}

/// All signs, longer ones before what they begin with.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "|=", "&=", "^=", "->", "++", "--",
    "(", ")", "{", "}", "[", "]", ",", ";", ":", "?", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=",
    ".",
];

/// An error: a piece of the text is no word.
fn wrong(what: impl Into<String>) -> Invalid {
    Invalid(what.into())
}

/// The depth to which macros may lie in one another.
const DEPTH: usize = 16;

struct Macro<'t> {
    params: Option<Vec<&'t str>>,
    body: Vec<Tok<'t>>,
}

/// The words of a text of one macro a line.
pub fn words(text: &str) -> Result<Vec<Tok<'_>>> {
    let (mut out, mut macros) = (Vec::with_capacity(text.len() / 3), HashMap::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("#define ") {
            define(rest, &mut macros)?;
        } else {
            expand(&split(line)?, &macros, &mut out, 0)?;
        }
    }
    Ok(out)
}

fn define<'t>(rest: &'t str, macros: &mut HashMap<&'t str, Macro<'t>>) -> Result<()> {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let (params, body) = match rest.strip_prefix('(') {
        Some(rest) => {
            let (params, body) = rest.split_once(')').ok_or_else(|| wrong("a macro without an end"))?;
            (Some(params.split(',').map(str::trim).collect()), body)
        }
        None => (None, rest),
    };
    macros.insert(name, Macro { params, body: split(body)? });
    Ok(())
}

/// One line's words.
fn split(mut text: &str) -> Result<Vec<Tok<'_>>> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { return Ok(out) };
        let length = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        if first.is_ascii_alphabetic() || first == '_' {
            let (name, rest) = text.split_at(length(text));
            out.push(Tok::Name(name));
            text = rest;
        } else if first.is_ascii_digit() {
            let mut end = length(text);
            let mut is_real = false;
            if text[end..].starts_with('.') {
                is_real = true;
                end += 1 + length(&text[end + 1..]);
            }
            let (number, rest) = text.split_at(end);
            out.push(if is_real { real(number)? } else { integer(number)? });
            text = rest;
        } else {
            let sign = SIGNS.iter().find(|sign| text.starts_with(**sign)).ok_or_else(|| wrong(format!("`{first}`")))?;
            out.push(Tok::Sign(sign));
            text = &text[sign.len()..];
        }
    }
}

fn real(text: &str) -> Result<Tok<'static>> {
    let (number, is_float) = text.strip_suffix('f').map_or((text, false), |number| (number, true));
    number.parse().map(|x| Tok::Real(x, is_float)).map_err(|_| wrong(text))
}

fn integer(text: &str) -> Result<Tok<'static>> {
    let digits = text.trim_end_matches(['u', 'l']);
    let suffix = &text[digits.len()..];
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |digits| (digits, 16));
    let n = u64::from_str_radix(digits, radix).map_err(|_| wrong(text))?;
    let unsigned = suffix.contains('u');
    // The type is the first that a hexadecimal number fits in, and the first signed one for a decimal number.
    let fits = if unsigned { n >> 32 == 0 } else { n >> 31 == 0 };
    let (bits, unsigned) = match (suffix.contains('l'), radix) {
        (true, _) => (64, unsigned),
        (false, _) if fits => (32, unsigned),
        (false, 16) if n >> 32 == 0 => (32, true),
        _ => (64, unsigned || n >> 63 != 0),
    };
    Ok(Tok::Int(n, bits, unsigned))
}

fn expand<'t>(
    words: &[Tok<'t>],
    macros: &HashMap<&'t str, Macro<'t>>,
    out: &mut Vec<Tok<'t>>,
    depth: usize,
) -> Result<()> {
    if depth > DEPTH {
        return Err(wrong("a macro of itself"));
    }
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let Tok::Name(name) = word else {
            out.push(*word);
            continue;
        };
        match macros.get(name) {
            None => out.push(*word),
            Some(Macro { params: None, body }) => expand(body, macros, out, depth + 1)?,
            Some(Macro { params: Some(params), body }) => {
                let (args, end) = arguments(words, at)?;
                at = end;
                let mut replaced = Vec::with_capacity(body.len());
                for word in body {
                    let place = match word {
                        Tok::Name(name) => params.iter().position(|param| param == name),
                        _ => None,
                    };
                    match place.and_then(|i| args.get(i)) {
                        Some(arg) => replaced.extend_from_slice(arg),
                        None => replaced.push(*word),
                    }
                }
                expand(&replaced, macros, out, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// The arguments that begin at a bracket, and where they end.
fn arguments<'w, 't>(words: &'w [Tok<'t>], start: usize) -> Result<(Vec<&'w [Tok<'t>]>, usize)> {
    if words.get(start) != Some(&Tok::Sign("(")) {
        return Err(wrong("a macro without arguments"));
    }
    let (mut args, mut depth, mut begin) = (Vec::new(), 0, start + 1);
    for (at, word) in words.iter().enumerate().skip(start) {
        match word {
            Tok::Sign("(" | "[") => depth += 1,
            Tok::Sign("]") => depth -= 1,
            Tok::Sign(")") => {
                depth -= 1;
                if depth == 0 {
                    args.push(&words[begin..at]);
                    return Ok((args, at + 1));
                }
            }
            Tok::Sign(",") if depth == 1 => {
                args.push(&words[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    Err(wrong("a macro's arguments without an end"))
}

#[cfg(test)]
mod tests {
    use super::{Invalid, Tok, words};

    #[test]
    fn literals_have_the_types_of_c() {
        let of = |text: &'static str| words(text).map(|all| all[0]).unwrap_or_else(|Invalid(why)| panic!("{why}"));
        assert_eq!(of("2147483647"), Tok::Int(0x7fff_ffff, 32, false));
        assert_eq!(of("2147483648"), Tok::Int(0x8000_0000, 64, false));
        assert_eq!(of("0x80000000"), Tok::Int(0x8000_0000, 32, true));
        assert_eq!(of("5u"), Tok::Int(5, 32, true));
        assert_eq!(of("5ull"), Tok::Int(5, 64, true));
        assert_eq!(of("1.5f"), Tok::Real(1.5, true));
    }
}

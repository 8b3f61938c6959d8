//! Objects as texts: `repr` and `str`.

use super::super::answer::Answer;
use super::super::value::Value;
use super::{MAX_DEPTH, MAX_SHOWN, Object, Python};
use crate::back::Exception;

impl Python {
    /// `repr(object)`
    pub(super) fn repr(&self, handle: i64) -> Answer<String> {
        let mut out = String::new();
        self.show(handle, 0, &mut out)?;
        Ok(out)
    }

    /// `str(object)`
    pub(super) fn str(&self, handle: i64) -> Answer<String> {
        match self.get(handle)? {
            Object::Leaf(Value::Text(text)) => Ok(text.clone()),
            Object::Leaf(Value::Foreign(foreign)) => foreign.show(false),
            _ => self.repr(handle),
        }
    }

    pub(super) fn show(&self, handle: i64, depth: u32, out: &mut String) -> Answer<()> {
        if depth > MAX_DEPTH || out.len() > MAX_SHOWN {
            return Err((Exception::Runtime, "an object is too large to be shown as a text".to_owned()));
        }
        if handle == 0 {
            out.push_str("<NULL>");
            return Ok(());
        }
        let mut list = |open: &str, items: &[i64], close: &str| -> Answer<()> {
            out.push_str(open);
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                self.show(*item, depth + 1, out)?;
            }
            out.push_str(close);
            Ok(())
        };
        match self.get(handle)? {
            Object::List(items) => return list("[", items, "]"),
            Object::Tuple(items) => return list("(", items, if items.len() == 1 { ",)" } else { ")" }),
            Object::Dict(dict) => {
                out.push('{');
                for (i, (key, value)) in dict.live().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    self.show(key, depth + 1, out)?;
                    out.push_str(": ");
                    self.show(value, depth + 1, out)?;
                }
                out.push('}');
            }
            Object::Leaf(Value::Bool(b)) => out.push_str(if *b { "True" } else { "False" }),
            Object::Leaf(Value::Float(x)) => out.push_str(&float(*x)),
            Object::Leaf(Value::Text(text)) => quoted(text, out),
            Object::Leaf(Value::Bytes(bytes)) => {
                out.push_str("b'");
                for byte in bytes {
                    match byte {
                        b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
                        b' '..=b'~' => out.push(char::from(*byte)),
                        _ => out.push_str(&format!("\\x{byte:02x}")),
                    }
                }
                out.push('\'');
            }
            Object::Leaf(Value::Foreign(foreign)) => out.push_str(&foreign.show(true)?),
            Object::Leaf(value) => out.push_str(&value.to_string()),
            Object::Module => out.push_str("<module>"),
            Object::Method { name, .. } => out.push_str(&format!("<built-in method {name}>")),
            Object::Exception(exception) => out.push_str(&format!("<class '{}'>", exception.name())),
            Object::Iterator { .. } => out.push_str("<iterator object>"),
        }
        Ok(())
    }
}

/// `repr(x)` of a float.
fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let shortest = format!("{x:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{x}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// `repr(text)`
fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_shown_as_python_shows_them() {
        for (x, text) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
        ] {
            assert_eq!(float(x), text);
        }
    }
}

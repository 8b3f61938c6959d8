//! `Py_BuildValue`: objects by a format.

use super::super::answer::Answer;
use super::super::value::Value;
use super::parse::{MAX_DEPTH, misused};
use super::{Object, Python};
use crate::back::Exception;

impl Python {
    /// `Py_BuildValue(format, ..)`
    pub(super) fn build(&mut self, format: &str, args: &[Value]) -> Answer<Value> {
        let chars: Vec<char> = format.chars().filter(|c| !" ,:\t".contains(*c)).collect();
        let mut given = args.iter();
        let mut at = 0;
        let mut made = Vec::new();
        let mut failed = false;
        while at < chars.len() {
            match self.built(&chars, &mut at, &mut given, 0)? {
                0 => failed = true,
                handle => made.push(handle),
            }
        }
        if failed {
            if self.pending.is_none() {
                self.set(Exception::System, "NULL object passed to Py_BuildValue");
            }
            return Ok(Value::Int(0));
        }
        match made.as_slice() {
            [] => self.leaf(Value::None),
            [one] => Ok(Value::Int(*one)),
            _ => self.add(Object::Tuple(made)).map(Value::Int),
        }
    }

    /// The next object of a format, 0 where one of its parts is NULL.
    fn built(
        &mut self,
        chars: &[char],
        at: &mut usize,
        given: &mut dyn Iterator<Item = &Value>,
        depth: u32,
    ) -> Answer<i64> {
        let letter = chars[*at];
        *at += 1;
        if let Some(close) = match letter {
            '(' => Some(')'),
            '[' => Some(']'),
            '{' => Some('}'),
            _ => None,
        } {
            return self.built_container(close, chars, at, given, depth);
        }
        let Some(value) = given.next() else {
            return misused(format!("the format of a value has `{letter}`, and no argument is left for it"));
        };
        let next = chars.get(*at).copied().unwrap_or(' ');
        match (letter, value) {
            ('b' | 'B' | 'h' | 'H' | 'i' | 'l' | 'L' | 'n', Value::Int(_)) => self.import(value, false),
            ('I', Value::Int(i)) => self.import(&Value::Int(i64::from(*i as u32)), false),
            ('k' | 'K', Value::Int(bits)) => {
                let bits = *bits as u64;
                let value = i64::try_from(bits).map_or_else(|_| Value::BigInt(bits.to_string()), Value::Int);
                self.import(&value, false)
            }
            ('p', Value::Int(i)) => self.import(&Value::Bool(*i != 0), false),
            ('c', Value::Int(i)) => self.import(&Value::Bytes(vec![*i as u8]), false),
            ('C', Value::Int(i)) => match u32::try_from(*i).ok().and_then(char::from_u32) {
                Some(c) => self.import(&Value::Text(c.to_string()), false),
                None => {
                    self.set(Exception::Overflow, "character argument not in range(0x110000)");
                    Ok(0)
                }
            },
            ('f' | 'd', Value::Float(_)) => self.import(value, false),
            ('s' | 'z' | 'U' | 'y', value) if matches!(value, Value::None) || is_text(value) => {
                let text = if next == '#' {
                    *at += 1;
                    sized_text(value, given.next())?
                } else {
                    text_of(value)
                };
                match text {
                    None => self.import(&Value::None, false),
                    Some(text) if letter == 'y' => self.import(&Value::Bytes(text.into_bytes()), false),
                    Some(text) => self.import(&Value::Text(text), false),
                }
            }
            ('O' | 'N' | 'S', Value::Tuple(parts)) if next != '&' && parts.len() == 1 => match parts[0] {
                Value::Int(handle) if handle != 0 => {
                    self.get(handle)?;
                    Ok(handle)
                }
                _ => Ok(0),
            },
            ('O' | 'N' | 'S', Value::None) => Ok(0),
            ('O', _) if next == '&' => {
                Err((Exception::NotImplemented, "`O&` in the format of a value is not supported".to_owned()))
            }
            (letter, value) if "bBhHiIlkLKnpcCfdszUyONS".contains(letter) => {
                let came = match value {
                    Value::Int(_) => "an integer",
                    Value::Float(_) => "a floating-point number",
                    _ => "a pointer",
                };
                misused(format!("`{letter}` in the format of a value does not fit {came}"))
            }
            (letter, _) => misused(format!("bad format char passed to Py_BuildValue: `{letter}`")),
        }
    }

    /// A tuple, a list or a dictionary of a format, up to what closes it; 0 where something in it is NULL.
    fn built_container(
        &mut self,
        close: char,
        chars: &[char],
        at: &mut usize,
        given: &mut dyn Iterator<Item = &Value>,
        depth: u32,
    ) -> Answer<i64> {
        if depth > MAX_DEPTH {
            return misused("the format of a value is too deep");
        }
        let (mut items, mut failed) = (Vec::new(), false);
        loop {
            match chars.get(*at) {
                Some(c) if *c == close => break,
                Some(_) => {
                    let item = self.built(chars, at, given, depth + 1)?;
                    failed |= item == 0;
                    items.push(item);
                }
                None => return misused(format!("missing '{close}' in the format of a value")),
            }
        }
        *at += 1;
        if failed {
            return Ok(0);
        }
        match close {
            ')' => self.add(Object::Tuple(items)),
            ']' => self.add(Object::List(items)),
            _ => {
                if items.len() % 2 != 0 {
                    return misused("a `{` in the format of a value has a key without a value");
                }
                let Value::Int(dict) = self.dict_new()? else { return Ok(0) };
                for pair in items.chunks(2) {
                    if let Value::Int(-1) = self.dict_set(dict, pair[0], pair[1])? {
                        return Ok(0);
                    }
                }
                Ok(dict)
            }
        }
    }
}

/// The text of a `char *`, none of a null pointer.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Tuple(parts) => match parts.as_slice() {
            [_, Value::Text(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// As [`text_of`], of so many bytes.
fn sized_text(value: &Value, size: Option<&Value>) -> Answer<Option<String>> {
    let Some(Value::Int(size)) = size else {
        return misused("`#` in the format of a value needs a Py_ssize_t");
    };
    let mut text = text_of(value);
    if let (Some(text), Ok(size)) = (&mut text, usize::try_from(*size)) {
        if size > text.len() || !text.is_char_boundary(size) {
            let message = "`s#` in the format of a value goes past the text's zero byte, which is not supported";
            return Err((Exception::NotImplemented, message.to_owned()));
        }
        text.truncate(size);
    }
    Ok(text)
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::Tuple(parts) if matches!(parts.as_slice(), [Value::Int(_), Value::Text(_)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn values_are_built() {
        let build = |format: &str, args: &[Value]| {
            let mut python = Python::default();
            match python.build(format, args).unwrap() {
                Value::Int(0) => python.pending.unwrap().1,
                Value::Int(handle) => python.repr(handle).unwrap(),
                _ => String::new(),
            }
        };
        let given = |s: &str| Value::Tuple(vec![Value::Int(16), text(s)]);
        assert_eq!(build("", &[]), "None");
        assert_eq!(build("ii", &[Value::Int(8), Value::Int(9)]), "(8, 9)");
        assert_eq!(
            build("(s[ii](d))", &[given("n"), Value::Int(1), Value::Int(2), Value::Float(3.0)]),
            "('n', [1, 2], (3.0,))"
        );
        assert_eq!(
            build("{s:i,s:d}", &[given("a"), Value::Int(2), given("b"), Value::Float(0.5)]),
            "{'a': 2, 'b': 0.5}"
        );
        assert_eq!(build("K", &[Value::Int(-1)]), "18446744073709551615");
        assert_eq!(build("O", &[Value::Tuple(vec![Value::Int(0)])]), "NULL object passed to Py_BuildValue");
    }
}

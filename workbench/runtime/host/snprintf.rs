//! Formats that host code fills in while it runs: those of `snprintf`, and those of Python's C interface.
//!
//! Numbers come as they are; a text comes as a tuple of its address and itself, any other pointer as a tuple of its address alone, a null
//! pointer to a text as `None`.

use super::answer::Answer;
use super::value::Value;
use crate::back::Exception;
use crate::back::printf::{PrintfArg, format_record};
use crate::ir::printf_format::{ArgKind, Conversion, MAX_COUNT, Piece, parse};

fn wrong<T>(message: String) -> Answer<T> {
    Err((Exception::Runtime, message))
}

/// The text that `snprintf` writes.
pub(super) fn c(format: &str, args: &[Value]) -> Answer<String> {
    written(format, &mut args.iter())
}

fn written<'v>(format: &str, args: &mut impl Iterator<Item = &'v Value>) -> Answer<String> {
    let pieces = match parse(format) {
        Ok(pieces) => pieces,
        Err(error) => return wrong(format!("the format \"{format}\": {}", error.message)),
    };
    let mut given = Vec::new();
    for piece in &pieces {
        let Piece::Conversion(conversion) = piece else { continue };
        for _ in 0..conversion.stars() {
            match args.next() {
                Some(Value::Int(n)) => given.push(PrintfArg::Int(*n)),
                _ => return wrong(format!("the format \"{format}\" wants an int for `*`")),
            }
        }
        let written = &format[conversion.start..conversion.end];
        match args.next() {
            Some(value) => given.push(argument(conversion, written, value)?),
            None => return wrong(format!("the format \"{format}\" has nothing for `{written}`")),
        }
    }
    Ok(format_record(&pieces, &given))
}

/// An argument in the form that its conversion wants.
fn argument(conversion: &Conversion, written: &str, value: &Value) -> Answer<PrintfArg> {
    let kind = conversion.arg_kind();
    let fits = |n: i64| i32::try_from(n).is_ok() || u32::try_from(n).is_ok();
    Ok(match (kind, value) {
        (ArgKind::Int32, Value::Int(n)) if fits(*n) => PrintfArg::Int(*n),
        (ArgKind::Int64, Value::Int(n)) => PrintfArg::Int(*n),
        (ArgKind::Double, Value::Float(x)) => PrintfArg::Double(*x),
        (ArgKind::Str, Value::None) => PrintfArg::Str("(null)".to_owned()),
        (ArgKind::Pointer, Value::None) => PrintfArg::Pointer(0),
        (kind, Value::Tuple(parts)) => match (kind, parts.as_slice()) {
            (ArgKind::Str, [Value::Int(_), Value::Text(text)]) => PrintfArg::Str(text.clone()),
            (ArgKind::Pointer, [Value::Int(address), ..]) => PrintfArg::Pointer(*address as u64),
            _ => return wrong(format!("`{written}` of a format prints {}, and a pointer is given", kind.describe())),
        },
        (kind, value) => {
            return wrong(format!("`{written}` of a format prints {}, and {value} is given", kind.describe()));
        }
    })
}

/// The text that `PyErr_Format` and `PyUnicode_FromFormat` write; `shown` gives the text of an object for `%R`, `%S` and
/// their like.
pub(super) fn python(
    format: &str,
    args: &[Value],
    mut shown: impl FnMut(char, i64) -> Answer<String>,
) -> Answer<String> {
    let mut args = args.iter();
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let spec = &rest[at..];
        let letter = |c: char| c == '%' || c.is_ascii_alphabetic() && !"hlzjt".contains(c);
        let Some(end) = spec[1..].find(letter).map(|i| i + 2) else {
            return wrong(format!("the format \"{format}\" ends within a conversion"));
        };
        let (one, after) = spec.split_at(end);
        rest = after;
        match one.as_bytes()[end - 1] {
            letter @ (b'R' | b'S' | b'A' | b'U' | b'V' | b'T') => {
                let handle = match args.next() {
                    Some(Value::Tuple(parts)) if matches!(parts.as_slice(), [Value::Int(_)]) => &parts[0],
                    _ => return wrong(format!("`{one}` of a format shows an object, and none is given")),
                };
                let Value::Int(handle) = handle else { continue };
                let otherwise = if letter == b'V' { args.next() } else { None };
                let text = match otherwise {
                    Some(Value::Tuple(parts)) if *handle == 0 => match parts.as_slice() {
                        [_, Value::Text(text)] => text.clone(),
                        _ => String::new(),
                    },
                    _ => shown(char::from(letter), *handle)?,
                };
                let (width, precision) = match one[1..end - 1].split_once('.') {
                    Some((width, precision)) => (width, precision.parse().ok()),
                    None => (&one[1..end - 1], None),
                };
                let width = width.trim_start_matches('-').parse().unwrap_or(0).min(MAX_COUNT as usize);
                let text: String = text.chars().take(precision.unwrap_or(usize::MAX)).collect();
                out.push_str(&format!("{text:>width$}"));
            }
            b'c' => match args.next() {
                Some(Value::Int(n)) if u32::try_from(*n).ok().and_then(char::from_u32).is_some() => {
                    out.extend(u32::try_from(*n).ok().and_then(char::from_u32));
                }
                _ => return Err((Exception::Overflow, "character argument not in range(0x110000)".to_owned())),
            },
            _ => out.push_str(&written(one, &mut args)?),
        }
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Tuple(vec![Value::Int(4096), Value::Text(text.to_owned())])
    }

    #[test]
    fn values_are_written_as_in_c() {
        let args = [Value::Int(3), text("pear"), Value::Float(0.25), text("!")];
        assert_eq!(c("%d x %s at %.3f%s", &args).unwrap(), "3 x pear at 0.250!");
        assert_eq!(
            c("%5.2f|%-4d|%08lx|%%", &[Value::Float(1.0), Value::Int(-7), Value::Int(255)]).unwrap(),
            " 1.00|-7  |000000ff|%"
        );
        assert_eq!(c("%.*f", &[Value::Int(2), Value::Float(0.125)]).unwrap(), "0.12");
        assert_eq!(c("%p", &[Value::Tuple(vec![Value::Int(16)])]).unwrap(), "0x10");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(c("%d", &[Value::Float(1.0)]).is_err());
        assert!(c("%d", &[Value::Int(1 << 40)]).is_err());
        assert!(c("%s", &[Value::Int(1)]).is_err());
        assert!(c("%d %d", &[Value::Int(1)]).is_err());
    }

    #[test]
    fn objects_are_shown() {
        let shown = |letter, handle| Ok(format!("{letter}{handle}"));
        let args = [Value::Tuple(vec![Value::Int(7)]), Value::Int(9), text("x")];
        assert_eq!(python("%R is %zd of %.200s", &args, shown).unwrap(), "R7 is 9 of x");
        let wide = python("%99999R", &args, shown).unwrap();
        assert_eq!((wide.len(), wide.trim_start()), (65_535, "R7"));
    }
}

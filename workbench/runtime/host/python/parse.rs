//! `PyArg_ParseTuple` and its kin: formats of arguments.
//!
//! The library tells the type of each place that an argument goes to; a format that does not fit them ends the call before any value is stored.
//! The values to store come back as a list, with `None` for a place that stays as it is.

use super::super::answer::Answer;
use super::super::value::Value;
use super::{Object, Python};
use crate::back::Exception;
use crate::runtime::arrange::{Misarranged, Named, arrange};

/// Most parentheses in one another.
pub(super) const MAX_DEPTH: u32 = 30;

/// A unit of a format for arguments.
#[derive(Debug, Clone, PartialEq)]
enum Unit {
    /// A letter, and the mark that follows it: `#`, `!`, or a space for none.
    One(char, char),
    /// `( .. )`
    Several(Vec<Unit>),
}

/// A format for arguments.
#[derive(Debug, Default)]
struct Format {
    units: Vec<Unit>,
    /// The number that must be given: those before `|`.
    required: usize,
    /// The number that may be given without names: those before `$`.
    positional: usize,
    /// `:name`
    name: Option<String>,
    /// `;message`
    message: Option<String>,
}

/// A place that an argument goes to.
struct Slot<'v> {
    kind: &'v str,
    address: i64,
}

/// The reason that an argument does not fit.
enum Refused {
    /// It must be something else.
    Wanted(String),
    /// The error is set.
    Set,
}

type Converted = Answer<Result<(), Refused>>;

/// The arguments by name of a call from Python.
struct OfCall<'a> {
    python: &'a Python,
    /// The dictionary, or NULL.
    keywords: i64,
    /// Its keys.
    names: &'a [String],
}

/// The reason that arguments are not arranged.
enum Unarranged {
    /// They do not fit.
    Misarranged(Misarranged),
    /// The call ends.
    Failed((Exception, String)),
}

impl Named for OfCall<'_> {
    type Value = i64;
    type Error = Unarranged;

    fn count(&self) -> usize {
        self.names.len()
    }

    fn take(&mut self, name: &str) -> Result<Option<i64>, Unarranged> {
        // A parameter without a name is given by position.
        if name.is_empty() || self.keywords == 0 {
            return Ok(None);
        }
        self.python.find_text(self.keywords, name).map_err(Unarranged::Failed)
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Result<Option<String>, Unarranged> {
        Ok(self.names.iter().find(|name| name.is_empty() || wanted(name)).cloned())
    }
}

pub(super) fn misused<T>(message: impl Into<String>) -> Answer<T> {
    Err((Exception::System, message.into()))
}

impl Format {
    fn of(text: &str) -> Answer<Self> {
        let mut format = Format::default();
        let (mut required, mut positional) = (None, None);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                ' ' => {}
                '|' => required = required.or(Some(format.units.len())),
                '$' => positional = positional.or(Some(format.units.len())),
                ':' => {
                    format.name = Some(chars.collect());
                    break;
                }
                ';' => {
                    format.message = Some(chars.collect());
                    break;
                }
                c => {
                    let unit = unit(c, &mut chars, text, 0)?;
                    format.units.push(unit);
                }
            }
        }
        format.required = required.unwrap_or(format.units.len());
        format.positional = positional.unwrap_or(format.units.len());
        Ok(format)
    }

    /// The name of the function in messages, with parentheses.
    fn function(&self) -> String {
        self.name.as_ref().map_or("function".to_owned(), |name| format!("{name}()"))
    }

    /// The message of CPython's for arguments that do not fit, for parameters of these names.
    fn misarranged(&self, wrong: Misarranged, names: &[&str], given: usize) -> String {
        let function = self.function();
        match wrong {
            Misarranged::TooMany { most, .. } => {
                let is_exact = self.required >= most && self.required == self.units.len();
                let how = if is_exact { "exactly" } else { "at most" };
                format!("{function} takes {how} {most} positional argument{} ({given} given)", plural(most))
            }
            Misarranged::Twice(at) => {
                format!("argument for {function} given by name ('{}') and position ({})", names[at], at + 1)
            }
            Misarranged::Missing { at, .. } if names[at].is_empty() => {
                let low = names.iter().take(self.required).filter(|n| n.is_empty()).count();
                format!("{function} takes at least {low} positional argument{} ({given} given)", plural(low))
            }
            Misarranged::Missing { at, .. } => {
                format!("{function} missing required argument '{}' (pos {})", names[at], at + 1)
            }
            Misarranged::Unknown(unknown) => {
                let function = if self.name.is_some() { function } else { "this function".to_owned() };
                format!("'{unknown}' is an invalid keyword argument for {function}")
            }
        }
    }
}

fn unit(c: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>, text: &str, depth: u32) -> Answer<Unit> {
    if depth > MAX_DEPTH {
        return misused(format!("the format \"{text}\" of arguments is too deep"));
    }
    if c == '(' {
        let mut inner = Vec::new();
        loop {
            match chars.next() {
                Some(')') => return Ok(Unit::Several(inner)),
                Some(c) => inner.push(unit(c, chars, text, depth + 1)?),
                None => return misused(format!("missing ')' in the format \"{text}\"")),
            }
        }
    }
    let after = match (c, chars.peek()) {
        ('s' | 'z' | 'y', Some('#')) | ('O', Some('!')) => chars.next().unwrap_or(' '),
        ('s' | 'z' | 'y', Some('*')) | ('O', Some('&')) => {
            let after = chars.next().unwrap_or(' ');
            let message = format!("`{c}{after}` in the format \"{text}\" of arguments is not supported");
            return Err((Exception::NotImplemented, message));
        }
        _ => ' ',
    };
    if !"bBhHiIlkLKncCfdpszyOSU".contains(c) {
        return misused(format!("impossible<bad format char>: `{c}` in the format \"{text}\" of arguments"));
    }
    Ok(Unit::One(c, after))
}

/// True if a type is the one that a letter is stored in; with the latter in words.
fn belongs(letter: char, kind: &str) -> (bool, &'static str) {
    let bytes = match kind {
        "char" | "signed char" | "unsigned char" => 1,
        "short" | "unsigned short" => 2,
        "int" | "unsigned int" => 4,
        "long" | "unsigned long" | "long long" | "unsigned long long" => 8,
        _ => 0,
    };
    match letter {
        'b' | 'B' => (bytes == 1, "an unsigned char"),
        'c' => (bytes == 1, "a char"),
        'h' => (bytes == 2, "a short"),
        'H' => (bytes == 2, "an unsigned short"),
        'i' | 'p' | 'C' => (bytes == 4, "an int"),
        'I' => (bytes == 4, "an unsigned int"),
        'l' => (bytes == 8, "a long"),
        'k' => (bytes == 8, "an unsigned long"),
        'L' => (bytes == 8, "a long long"),
        'K' => (bytes == 8, "an unsigned long long"),
        'n' | '#' => (bytes == 8, "a Py_ssize_t"),
        'f' => (kind == "float", "a float"),
        'd' => (kind == "double", "a double"),
        's' | 'z' | 'y' => (kind == "const char*", "a const char*"),
        '!' => (kind == "PyTypeObject", "a PyTypeObject*, the type that is wanted"),
        _ => (kind == "PyObject*", "a PyObject*"),
    }
}

/// The places that a unit takes.
fn take<'v, 's>(slots: &mut &'s [Slot<'v>], letter: char) -> Answer<&'s Slot<'v>> {
    let Some((first, rest)) = slots.split_first() else {
        return misused(format!("the format of arguments has `{letter}`, and no place is given for it"));
    };
    *slots = rest;
    let (fits, wanted) = belongs(letter, first.kind);
    if !fits {
        let message = format!(
            "`{letter}` in the format of arguments needs the address of {wanted}, and what is given is that of {}",
            first.kind
        );
        return misused(message);
    }
    if first.address == 0 {
        return misused(format!("`{letter}` in the format of arguments is given a null pointer"));
    }
    Ok(first)
}

/// Passes over the places of a unit whose argument is not given.
fn skip(unit: &Unit, slots: &mut &[Slot<'_>], out: &mut Vec<Value>) -> Answer<()> {
    match unit {
        Unit::Several(inner) => inner.iter().try_for_each(|unit| skip(unit, slots, out)),
        Unit::One(letter, after) => {
            if *after == '!' {
                take(slots, '!')?;
                out.push(Value::None);
            }
            take(slots, *letter)?;
            out.push(Value::None);
            if *after == '#' {
                take(slots, '#')?;
                out.push(Value::None);
            }
            Ok(())
        }
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

impl Python {
    /// `PyArg_ParseTuple(args, format, ..)` and with keywords; with `keywords` -1 `args` is the only argument itself.
    pub(super) fn parse(
        &mut self,
        args: i64,
        keywords: i64,
        names: &Value,
        format: &str,
        slots: &[Value],
    ) -> Answer<Value> {
        let format = Format::of(format)?;
        let slots: Vec<Slot<'_>> = slots
            .chunks(2)
            .filter_map(|pair| match pair {
                [Value::Text(kind), Value::Int(address)] => Some(Slot { kind, address: *address }),
                _ => None,
            })
            .collect();
        // All places are checked before any value is stored.
        let mut rest = slots.as_slice();
        for unit in &format.units {
            skip(unit, &mut rest, &mut Vec::new())?;
        }
        if !rest.is_empty() {
            return misused(format!("{} places are given that the format of arguments has nothing for", rest.len()));
        }
        let given = match (keywords, self.get(args)?) {
            (-1, _) => vec![args],
            (_, Object::Tuple(items)) => items.clone(),
            _ => return misused("new style getargs format but argument is not a tuple"),
        };
        let arguments = match names {
            Value::List(names) => {
                let names: Vec<&str> =
                    names.iter().map(|n| if let Value::Text(n) = n { n.as_str() } else { "" }).collect();
                self.by_name(&format, &given, keywords, &names)?
            }
            _ => self.by_place(&format, given),
        };
        let Some(arguments) = arguments else { return Ok(Value::Bool(false)) };
        let mut out = Vec::with_capacity(slots.len());
        let mut rest = slots.as_slice();
        for (i, (unit, argument)) in format.units.iter().zip(arguments).enumerate() {
            let Some(argument) = argument else {
                skip(unit, &mut rest, &mut out)?;
                continue;
            };
            let mut at = vec![i + 1];
            match self.convert(unit, argument, &mut rest, &mut out, &mut at)? {
                Ok(()) => {}
                Err(Refused::Set) => return Ok(Value::Bool(false)),
                Err(Refused::Wanted(wanted)) => {
                    let items: String = at.iter().skip(1).map(|i| format!(", item {i}")).collect();
                    let name = format.name.as_ref().map_or(String::new(), |name| format!("{name}() "));
                    let message = format!("{name}argument {}{items} {wanted}", i + 1);
                    self.set(Exception::Type, format.message.clone().unwrap_or(message));
                    return Ok(Value::Bool(false));
                }
            }
        }
        Ok(Value::List(out))
    }

    /// An argument for each unit, or none where it is optional; `None` where the error is set.
    fn by_place(&mut self, format: &Format, given: Vec<i64>) -> Option<Vec<Option<i64>>> {
        let (low, high, n) = (format.required, format.units.len(), given.len());
        if (low..=high).contains(&n) {
            return Some(given.into_iter().map(Some).chain(std::iter::repeat(None)).take(high).collect());
        }
        let (how, wanted) = match n < low {
            _ if low == high => ("exactly", high),
            true => ("at least", low),
            false => ("at most", high),
        };
        let message = format!("{} takes {how} {wanted} argument{} ({n} given)", format.function(), plural(wanted));
        self.set(Exception::Type, format.message.clone().unwrap_or(message));
        None
    }

    fn by_name(
        &mut self,
        format: &Format,
        given: &[i64],
        keywords: i64,
        names: &[&str],
    ) -> Answer<Option<Vec<Option<i64>>>> {
        let units = format.units.len();
        if names.len() != units {
            let more = if names.len() < units {
                "argument specifiers than keyword list entries"
            } else {
                "keyword list entries than argument specifiers"
            };
            return misused(format!("more {more}"));
        }
        let function = format.function();
        let named = if keywords == 0 { Vec::new() } else { self.text_keys(keywords)? };
        let total = given.len() + named.len();
        if total > units {
            let how = if format.required == units { "exactly" } else { "at most" };
            let word = if given.is_empty() { "keyword " } else { "" };
            let message = format!("{function} takes {how} {units} {word}argument{} ({total} given)", plural(units));
            self.set(Exception::Type, message);
            return Ok(None);
        }
        let params: Vec<(&str, bool)> =
            names.iter().enumerate().map(|(i, name)| (*name, i >= format.required)).collect();
        let mut arguments = Vec::with_capacity(units);
        let put = |_, argument| {
            arguments.push(argument);
            Ok(())
        };
        let mut of_call = OfCall { python: self, keywords, names: &named };
        let wrong = |wrong| Unarranged::Misarranged(wrong);
        match arrange(&params, format.positional, given.iter().copied(), &mut of_call, put, wrong) {
            Ok(()) => Ok(Some(arguments)),
            Err(Unarranged::Failed(error)) => Err(error),
            Err(Unarranged::Misarranged(wrong)) => {
                self.set(Exception::Type, format.misarranged(wrong, names, given.len()));
                Ok(None)
            }
        }
    }

    /// Converts an argument, and adds the values for its places; `at` is its number, with those of the items within it.
    fn convert(
        &mut self,
        unit: &Unit,
        argument: i64,
        slots: &mut &[Slot<'_>],
        out: &mut Vec<Value>,
        at: &mut Vec<usize>,
    ) -> Converted {
        let (letter, after) = match unit {
            Unit::One(letter, after) => (*letter, *after),
            Unit::Several(units) => {
                let came = self.came(argument)?;
                let items = match self.get(argument)? {
                    Object::List(items) | Object::Tuple(items) => items.clone(),
                    _ => {
                        let wanted = format!("must be {}-item sequence, not {came}", units.len());
                        return Ok(Err(Refused::Wanted(wanted)));
                    }
                };
                if items.len() != units.len() {
                    let wanted = format!("must be sequence of length {}, not {}", units.len(), items.len());
                    return Ok(Err(Refused::Wanted(wanted)));
                }
                for (i, (unit, item)) in units.iter().zip(items).enumerate() {
                    at.push(i);
                    if let Err(refused) = self.convert(unit, item, slots, out, at)? {
                        return Ok(Err(refused));
                    }
                    at.pop();
                }
                return Ok(Ok(()));
            }
        };
        let wanted_type = if after == '!' { Some(take(slots, '!')?.address) } else { None };
        take(slots, letter)?;
        let integer = |found: Option<i64>| found.map(Value::Int);
        let value = match letter {
            'i' => self.bounded(argument, i32::MIN.into(), i32::MAX.into(), "signed integer")?,
            'h' => self.bounded(argument, i16::MIN.into(), i16::MAX.into(), "signed short integer")?,
            'b' => self.bounded(argument, 0, u8::MAX.into(), "unsigned byte integer")?,
            'l' => integer(self.as_int(argument, "long")?),
            'L' => integer(self.as_int(argument, "long long")?),
            'n' => {
                // A float is refused with the message of the other formats, not with that of `PyLong_AsSsize_t`.
                let is_int = self.type_name(argument)? == "int" || self.type_name(argument)? == "bool";
                integer(self.as_int(argument, if is_int { "ssize_t" } else { "long" })?)
            }
            'k' | 'K' if !matches!(self.type_name(argument)?.as_str(), "int" | "bool") => {
                return self.wanted(argument, "int");
            }
            'B' | 'H' | 'I' | 'k' | 'K' => {
                // A number that does not fit is cut off; the place's type sees to it.
                let low = if matches!(self.type_name(argument)?.as_str(), "int" | "bool") { "mask" } else { "long" };
                integer(self.as_int(argument, low)?)
            }
            'f' | 'd' => self.as_double(argument)?.map(Value::Float),
            'p' => self.truth(argument)?.map(|truth| Value::Int(truth.into())),
            'c' => match self.get(argument)? {
                Object::Leaf(Value::Bytes(bytes)) if bytes.len() == 1 => Some(Value::Int(bytes[0].into())),
                _ => return self.wanted(argument, "a byte string of length 1"),
            },
            'C' => match self.get(argument)? {
                Object::Leaf(Value::Text(text)) if text.chars().count() == 1 => {
                    text.chars().next().map(|c| Value::Int(i64::from(u32::from(c))))
                }
                _ => return self.wanted(argument, "a unicode character"),
            },
            's' | 'z' | 'y' => return self.text(letter, after, argument, slots, out),
            'U' if self.type_name(argument)? != "str" => return self.wanted(argument, "str"),
            'S' if self.type_name(argument)? != "bytes" => return self.wanted(argument, "bytes"),
            _ => {
                if let Some(address) = wanted_type {
                    out.push(Value::None);
                    match self.is_at(argument, address)? {
                        Some((true, _)) => {}
                        Some((false, name)) => return self.wanted(argument, name),
                        None => return misused("`O!` in the format of arguments is given something that is no type"),
                    }
                }
                Some(Value::Int(argument))
            }
        };
        match value {
            Some(value) => {
                out.push(value);
                Ok(Ok(()))
            }
            None => Ok(Err(Refused::Set)),
        }
    }

    /// The type of an argument, as messages name it.
    fn came(&self, argument: i64) -> Answer<String> {
        let name = self.type_name(argument)?;
        Ok(if name == "NoneType" { "None".to_owned() } else { name })
    }

    fn wanted(&self, argument: i64, what: &str) -> Converted {
        Ok(Err(Refused::Wanted(format!("must be {what}, not {}", self.came(argument)?))))
    }

    fn bounded(&mut self, argument: i64, low: i64, high: i64, what: &str) -> Answer<Option<Value>> {
        let Some(found) = self.as_int(argument, "long")? else { return Ok(None) };
        if found < low {
            self.set(Exception::Overflow, format!("{what} is less than minimum"));
            return Ok(None);
        }
        if found > high {
            self.set(Exception::Overflow, format!("{what} is greater than maximum"));
            return Ok(None);
        }
        Ok(Some(Value::Int(found)))
    }

    /// `s`, `z`, `y` and the same with `#`.
    fn text(
        &mut self,
        letter: char,
        after: char,
        argument: i64,
        slots: &mut &[Slot<'_>],
        out: &mut Vec<Value>,
    ) -> Converted {
        let text = match self.get(argument)? {
            Object::Leaf(Value::Text(text)) if letter != 'y' => Some(text.clone()),
            Object::Leaf(Value::Bytes(bytes)) if letter == 'y' || after == '#' => {
                match String::from_utf8(bytes.clone()) {
                    Ok(text) => Some(text),
                    Err(_) => {
                        let message = "bytes that are no UTF-8 are not supported as an argument that is a text";
                        return Err((Exception::NotImplemented, message.to_owned()));
                    }
                }
            }
            Object::Leaf(Value::None) if letter == 'z' => None,
            _ => {
                return self.wanted(
                    argument,
                    match (letter, after) {
                        ('s', '#') => "read-only bytes-like object",
                        ('s', _) => "str",
                        ('z', _) => "str or None",
                        _ => "bytes",
                    },
                );
            }
        };
        if after != '#' && text.as_ref().is_some_and(|text| text.contains('\0')) {
            let what = if letter == 'y' { "embedded null byte" } else { "embedded null character" };
            self.set(Exception::Value, what);
            return Ok(Err(Refused::Set));
        }
        let size = text.as_ref().map_or(0, String::len);
        // A null pointer is the number 0.
        out.push(text.map_or(Value::Int(0), Value::Text));
        if after == '#' {
            take(slots, '#')?;
            out.push(Value::Int(size as i64));
        }
        Ok(Ok(()))
    }

    /// `PyArg_UnpackTuple(args, name, low, high, ..)`
    pub(super) fn unpack(&mut self, args: i64, name: &Value, low: i64, high: i64, slots: usize) -> Answer<Value> {
        let Object::Tuple(items) = self.get(args)? else {
            return misused("PyArg_UnpackTuple() argument list is not a tuple");
        };
        let items = items.clone();
        let (low, high) = (usize::try_from(low).unwrap_or(0), usize::try_from(high).unwrap_or(0));
        if slots < high {
            return misused(format!("PyArg_UnpackTuple() is given {slots} places for {high} arguments"));
        }
        let n = items.len();
        if !(low..=high).contains(&n) {
            let (how, wanted) = if n < low { ("at least ", low) } else { ("at most ", high) };
            let how = if low == high { "" } else { how };
            let name = if let Value::Text(name) = name { name.as_str() } else { "unpacked tuple" };
            let verb = if name == "unpacked tuple" { "should have" } else { "expected" };
            let word = if name == "unpacked tuple" { "element" } else { "argument" };
            let verb_end = if name == "unpacked tuple" { ", but has" } else { ", got" };
            let message = format!("{name} {verb} {how}{wanted} {word}{}{verb_end} {n}", plural(wanted));
            self.set(Exception::Type, message);
            return Ok(Value::Bool(false));
        }
        let given = items.into_iter().map(Value::Int).chain(std::iter::repeat(Value::None));
        Ok(Value::List(given.take(slots).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn parse(format: &str, args: Vec<Value>, kinds: &[&str]) -> Result<Vec<Value>, String> {
        let mut python = Python::default();
        let args = python.import(&Value::Tuple(args), true).unwrap();
        let slots: Vec<Value> = kinds.iter().flat_map(|kind| [text(kind), Value::Int(16)]).collect();
        match python.parse(args, 0, &Value::None, format, &slots) {
            Ok(Value::List(all)) => Ok(all),
            Ok(_) => Err(python.pending.unwrap().1),
            Err((exception, message)) => Err(format!("{}: {message}", exception.name())),
        }
    }

    #[test]
    fn arguments_are_counted_and_converted() {
        let got =
            parse("sid|p:f", vec![text("a"), Value::Int(3), Value::Int(2)], &["const char*", "int", "double", "int"]);
        assert!(matches!(got.unwrap().as_slice(), [Value::Text(_), Value::Int(3), Value::Float(_), Value::None]));
        let error = |format, args, kinds: &[&str]| parse(format, args, kinds).unwrap_err();
        assert_eq!(error("ii", vec![Value::Int(1)], &["int", "int"]), "function takes exactly 2 arguments (1 given)");
        assert_eq!(error("i:f", vec![], &["int"]), "f() takes exactly 1 argument (0 given)");
        assert_eq!(error("s:f", vec![Value::Int(1)], &["const char*"]), "f() argument 1 must be str, not int");
        assert_eq!(error("i", vec![Value::Int(1 << 40)], &["int"]), "signed integer is greater than maximum");
        assert_eq!(error("i", vec![Value::Float(1.0)], &["int"]), "'float' object cannot be interpreted as an integer");
        assert_eq!(error("(ii)", vec![Value::Int(1)], &["int", "int"]), "argument 1 must be 2-item sequence, not int");
    }

    #[test]
    fn places_of_other_types_are_refused() {
        for (format, kind) in [
            ("i", "long"),
            ("l", "int"),
            ("d", "float"),
            ("f", "double"),
            ("s", "char"),
            ("O", "const char*"),
            ("p", "bool"),
        ] {
            let error = parse(format, vec![Value::Int(1)], &[kind]).unwrap_err();
            assert!(error.starts_with("SystemError: "), "{format}: {error}");
        }
        assert!(parse("ii", vec![Value::Int(1), Value::Int(2)], &["int"]).is_err());
        assert!(parse("i", vec![Value::Int(1)], &["int", "int"]).is_err());
        assert!(parse("Q", vec![Value::Int(1)], &["int"]).is_err());
        assert!(parse(&"(".repeat(100), vec![Value::Int(1)], &["int"]).is_err());
    }
}

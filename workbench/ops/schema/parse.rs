//! Parser of schemas: recursive descent, one function per production.

use std::ops::{Deref, DerefMut};

use super::super::cursor::{Cursor, Wrong, caret, check_length};
use super::{Argument, Default, ESCAPES, Kind, Return, SCALAR_TYPES, Schema};
use crate::runtime::{DType, Result};

/// Limit on nested types, and on the suffixes of a type; torch's schemas have at most two (`Tensor?[]`).
const MOST_NESTED: usize = 8;

/// The largest stated size of a list, since one number stands for that many.
const MOST_ELEMENTS: u32 = 1024;

/// Types that are a name and nothing more.
const NAMES: [&str; 18] = [
    "Device",
    "Layout",
    "MemoryFormat",
    "Generator",
    "complex",
    "Storage",
    "Stream",
    "SymBool",
    "Any",
    "AnyClassType",
    "AnyEnumType",
    "QScheme",
    "Quantizer",
    "Capsule",
    "NoneType",
    "list",
    "tuple",
    "Dimname",
];

/// Generic types, and the number of their parameters.
const GENERICS: [(&str, Option<usize>); 5] =
    [("Dict", Some(2)), ("Future", Some(1)), ("RRef", Some(1)), ("Await", Some(1)), ("Union", None)];

/// Reserved words of Python and TorchScript, which cannot be names.
const RESERVED: [&str; 29] = [
    "False", "None", "True", "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "for",
    "global", "if", "import", "in", "is", "lambda", "not", "or", "pass", "raise", "return", "try", "while", "with",
    "yield",
];

/// Names of torch's that stand for numbers in defaults, besides those of element types.
const CONSTANTS: [(&str, i64); 3] = [("Mean", 1), ("contiguous_format", 0), ("strided", 0)];

/// Element types by their names in C.
const C_TYPES: [(&str, i64); 8] =
    [("short", 2), ("int", 3), ("long", 4), ("half", 5), ("float", 6), ("double", 7), ("cfloat", 9), ("cdouble", 10)];

type Parsed<T> = std::result::Result<T, Wrong>;

/// A type with its alias annotation.
struct Written {
    kind: Kind,
    text: String,
    alias: Option<String>,
    mutated: bool,
}

pub(super) fn schema(text: &str) -> Result<Schema> {
    check_length("schema", text)?;
    Parser(Cursor::new(text)).schema().map(|(schema, _)| schema).map_err(|(at, why)| caret("schema", text, at, &why))
}

pub(super) fn operator(text: &str) -> Result<Schema> {
    check_length("schema", text)?;
    let parsed = Parser(Cursor::new(text)).schema().and_then(|(schema, open)| match open {
        None => Ok(schema),
        Some(at) => {
            Err((at, "an operator that is called takes and gives what its schema lists; leave out `...`".to_owned()))
        }
    });
    parsed.map_err(|(at, why)| caret("schema", text, at, &why))
}

struct Parser<'a>(Cursor<'a>);

impl<'a> Deref for Parser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.0
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Parser<'_> {
    /// schema: name `(` args `)` `->` returns; and the place of its first `...`
    fn schema(&mut self) -> Parsed<(Schema, Option<usize>)> {
        let namespace = self.ident("the operator's namespace, as in `lab::muladd`")?;
        self.expect("::", "`::` and the operator's name")?;
        let name = self.name("the operator's name")?;
        let overload = if self.rest().starts_with('.') {
            self.at += 1;
            let at = self.at;
            let overload = self.name("an overload name")?;
            if overload == "default" {
                return Err((at, "`default` is torch's name for the overload without one; leave it out".to_owned()));
            }
            overload
        } else {
            String::new()
        };
        self.expect("(", "`(` and the arguments")?;
        let (args, open_args) = self.args()?;
        self.expect("->", "`->` and the results")?;
        let (returns, open_returns) = self.returns()?;
        self.space();
        if !self.is_done() {
            return Err((self.at, "nothing may follow the results".to_owned()));
        }
        let (is_vararg, is_varret) = (open_args.is_some(), open_returns.is_some());
        Ok((Schema { namespace, name, overload, args, is_vararg, returns, is_varret }, open_args.or(open_returns)))
    }

    /// A name that is valid in Python.
    fn name(&mut self, what: &str) -> Parsed<String> {
        self.space();
        let at = self.at;
        let name = self.ident(what)?;
        match RESERVED.contains(&name.as_str()) {
            true => Err((at, format!("`{name}` is a word of the language, and no name"))),
            false => Ok(name),
        }
    }

    /// args: [arg {`,` arg}] `)`, one of them `*`, the last one `...`
    fn args(&mut self) -> Parsed<(Vec<Argument>, Option<usize>)> {
        let mut args: Vec<Argument> = Vec::new();
        let mut keyword_only = false;
        if self.eat(")") {
            return Ok((args, None));
        }
        loop {
            self.space();
            if let Some(at) = self.open(&[")"])? {
                self.expect(")", "`)`")?;
                return Ok((args, Some(at)));
            }
            if self.eat("*") {
                if keyword_only {
                    return Err((self.at - 1, "`*` stands once".to_owned()));
                }
                keyword_only = true;
            } else {
                let arg = self.arg(&args, keyword_only)?;
                args.push(arg);
            }
            if self.eat(")") {
                return Ok((args, None));
            }
            self.expect(",", "`,` or `)`")?;
        }
    }

    /// `...`, before one of `ends`
    fn open(&mut self, ends: &[&str]) -> Parsed<Option<usize>> {
        let at = self.at;
        if !self.eat("...") {
            return Ok(None);
        }
        self.space();
        let ends_here = ends.iter().any(|end| self.rest().starts_with(end)) || (ends.is_empty() && self.is_done());
        if ends_here { Ok(Some(at)) } else { Err((self.at, "nothing may follow `...`".to_owned())) }
    }

    /// arg: type name [`=` default]
    fn arg(&mut self, before: &[Argument], keyword_only: bool) -> Parsed<Argument> {
        let start = self.at;
        let Written { kind, text, alias, mutated } = self.kind(0)?;
        self.space();
        let at = self.at;
        let name = self.name("the argument's name")?;
        if before.iter().any(|a| a.name == name) {
            return Err((at, format!("there are two arguments `{name}`")));
        }
        let default = if self.eat("=") { Some(self.default(&kind)?) } else { None };
        if let Some(value) = default.as_ref().filter(|d| !d.fits(&kind)) {
            return Err((at, format!("`{value}` is no default of `{kind} {name}`{}", hint(&kind, value))));
        }
        let late = !keyword_only && before.last().is_some_and(|a| a.default.is_some());
        if default.is_none() && late {
            return Err((start, format!("`{name}` has no default and follows an argument that has one")));
        }
        Ok(Argument { name, kind, text, alias, mutated, default, keyword_only })
    }

    /// type: base [annotation] {suffix [annotation]}
    fn kind(&mut self, depth: usize) -> Parsed<Written> {
        self.space();
        let at = self.at;
        if depth > MOST_NESTED {
            return Err((at, format!("types more than {MOST_NESTED} within one another")));
        }
        let mut kind = self.base(depth)?;
        let mut made = Written { text: kind.to_string(), kind: Kind::Tensor, alias: None, mutated: false };
        // A tuple's own annotation would be read as the next type.
        if !matches!(kind, Kind::Tuple(_)) {
            self.annotation(&mut made)?;
        }
        for _ in 0..=MOST_NESTED {
            self.space();
            let has_size = matches!(&kind, Kind::List(_, Some(_)))
                || matches!(&kind, Kind::Optional(inner) if matches!(**inner, Kind::List(_, Some(_))));
            if self.eat("?") {
                // An optional of an optional is one optional, as in torch.
                if !matches!(kind, Kind::Optional(_)) {
                    made.text.push('?');
                    kind = Kind::Optional(Box::new(kind));
                }
            } else if self.rest().starts_with('[') {
                if has_size {
                    return Err((self.at, "a list of a stated size is the last of a type".to_owned()));
                }
                let size = self.size()?;
                made.text.push_str(&size.map_or("[]".to_owned(), |n| format!("[{n}]")));
                kind = Kind::List(Box::new(kind), size);
                self.annotation(&mut made)?;
            } else {
                return Ok(Written { kind, ..made });
            }
        }
        Err((at, format!("a type with more than {MOST_NESTED} suffixes")))
    }

    /// base: `(` types `)` or a name, with types after a generic one's
    fn base(&mut self, depth: usize) -> Parsed<Kind> {
        if self.eat("(") {
            return Ok(Kind::Tuple(self.kinds(depth)?));
        }
        let at = self.at;
        let word = self.ident("a type")?;
        Ok(match word.as_str() {
            "Tensor" => Kind::Tensor,
            "int" | "ConstQuantizerPtr" => Kind::Int,
            "SymInt" => Kind::SymInt,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            "str" => Kind::Str,
            "Scalar" => Kind::Scalar,
            "ScalarType" => Kind::ScalarType,
            // The type as torch prints it.
            "None" => Kind::Named("NoneType".to_owned()),
            // A class that C++ registers under its full name.
            "__torch__" => {
                let mut name = word;
                while self.eat(".") {
                    name = format!("{name}.{}", self.ident("a part of the class's name")?);
                }
                Kind::Named(name)
            }
            name if NAMES.contains(&name) || is_variable(name) => Kind::Named(word),
            name if GENERICS.iter().any(|(generic, _)| *generic == name) => {
                let wanted = GENERICS.iter().find(|(generic, _)| *generic == name).and_then(|(_, count)| *count);
                self.expect("(", "`(` and its types")?;
                let inner = self.kinds(depth)?;
                if wanted.is_some_and(|count| count != inner.len()) {
                    let count = wanted.unwrap_or_default();
                    return Err((at, format!("`{name}` is of {count} types, and {} are written", inner.len())));
                }
                Kind::Generic(word, inner)
            }
            name => return Err((at, unknown(name))),
        })
    }

    /// types: [type {`,` type}] `)`
    fn kinds(&mut self, depth: usize) -> Parsed<Vec<Kind>> {
        let mut kinds = Vec::new();
        if self.eat(")") {
            return Ok(kinds);
        }
        loop {
            // The type as torch prints it: annotations belong to whole arguments.
            kinds.push(self.kind(depth + 1)?.kind);
            if self.eat(")") {
                return Ok(kinds);
            }
            self.expect(",", "`,` or `)`")?;
        }
    }

    /// size: `[` [number] `]`
    fn size(&mut self) -> Parsed<Option<u32>> {
        self.expect("[", "`[`")?;
        self.space();
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        let from = self.at;
        self.at += digits.len();
        let size = match digits.as_str() {
            "" => None,
            d => {
                let fits = d.parse().ok().filter(|n| *n <= MOST_ELEMENTS);
                Some(fits.ok_or((from, format!("a list of more than {MOST_ELEMENTS} elements")))?)
            }
        };
        self.expect("]", "`]`")?;
        Ok(size)
    }

    /// annotation: [`!` | `(` set [`!`] [`->` set] `)`]
    fn annotation(&mut self, made: &mut Written) -> Parsed<()> {
        self.space();
        if self.rest().starts_with('!') {
            // An alias set of its own.
            self.at += 1;
            made.text.push('!');
            made.alias.get_or_insert_default();
            made.mutated = true;
            return Ok(());
        }
        if !self.eat("(") {
            return Ok(());
        }
        let before = self.alias_set()?;
        let is_written = self.eat("!");
        let after = if self.eat("->") { self.alias_set()? } else { before.clone() };
        self.expect(")", "`)`")?;
        let arrow = if after == before { String::new() } else { format!(" -> {after}") };
        made.text.push_str(&format!("({before}{}{arrow})", if is_written { "!" } else { "" }));
        made.alias.get_or_insert(before);
        made.mutated |= is_written;
        Ok(())
    }

    /// set: letter {`|` letter}, a letter being a name or `*`; as text, sorted
    fn alias_set(&mut self) -> Parsed<String> {
        let mut letters = Vec::new();
        loop {
            letters.push(if self.eat("*") {
                "*".to_owned()
            } else {
                self.ident("an alias letter, as in `Tensor(a!)`")?
            });
            if !self.eat("|") {
                letters.sort();
                letters.dedup();
                return Ok(letters.join("|"));
            }
        }
    }

    /// default: a quoted string, a list of defaults, a number, or a name, for an argument of a type
    fn default(&mut self, kind: &Kind) -> Parsed<Default> {
        self.space();
        let at = self.at;
        match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => return self.quoted(quote),
            Some('[') => {
                self.at += 1;
                let mut all = Vec::new();
                while !self.eat("]") {
                    if !all.is_empty() {
                        self.expect(",", "`,` or `]`")?;
                    }
                    all.push(self.default(kind)?);
                }
                return Ok(Default::List(all));
            }
            _ => {}
        }
        if let Some(name) = self.word() {
            return named(&name, kind).ok_or_else(|| (at, format!("`{name}` is no default value that torch knows")));
        }
        self.number(kind)
    }

    /// number: [`-`] digits [`.` digits] [`e` [sign] digits] [`j`]
    fn number(&mut self, kind: &Kind) -> Parsed<Default> {
        let at = self.at;
        let sign = if self.eat("-") { "-" } else { "" };
        self.space();
        let rest = self.rest();
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let mut len = digits(rest);
        let whole = len;
        let mut is_float = false;
        if rest[len..].starts_with('.') {
            is_float = true;
            len += 1 + digits(&rest[len + 1..]);
        }
        if whole + usize::from(len > whole + 1) == 0 {
            return Err((at, "expected a default value".to_owned()));
        }
        if rest[len..].starts_with('e') {
            let signed = len + 1 + usize::from(rest[len + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[signed..]);
            (is_float, len) = if exponent > 0 { (true, signed + exponent) } else { (is_float, len) };
        }
        let text = format!("{sign}{}", &rest[..len]);
        self.at += len;
        let wrong = || (at, format!("`{text}` is no number that fits"));
        if self.rest().starts_with('j') {
            self.at += 1;
            return text.parse().map(Default::Imaginary).map_err(|_| wrong());
        }
        if self.rest().starts_with(|c: char| c == '_' || c.is_ascii_alphanumeric()) {
            return Err((
                at,
                "a number is written in decimal digits and with a small e, as in 12, 0.5 or 1e-5".to_owned(),
            ));
        }
        let kind = match kind {
            Kind::List(inner, _) => inner,
            kind => kind,
        };
        // Digits beyond 64 bits are a float's; torch reads those of an optional as an int.
        match is_float || (*kind == Kind::Float && text.parse::<i64>().is_err()) {
            true => text.parse().ok().filter(|v: &f64| v.is_finite()).map(Default::Float).ok_or_else(wrong),
            false => text.parse().map(Default::Int).map_err(|_| wrong()),
        }
    }

    fn quoted(&mut self, quote: char) -> Parsed<Default> {
        let (at, mut value, mut escaped) = (self.at, String::new(), false);
        for (i, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => {
                    escaped = false;
                    value.push(ESCAPES.iter().find(|(letter, _)| *letter == c).map_or(c, |(_, meant)| *meant));
                }
                '\\' => escaped = true,
                c if c == quote => {
                    self.at += i + 1;
                    return Ok(Default::Str(value));
                }
                c => value.push(c),
            }
        }
        Err((at, "a string that is never closed".to_owned()))
    }

    /// returns: `...`, a result, or `(` [result {`,` result}] `)`; and the place of `...`
    fn returns(&mut self) -> Parsed<(Vec<Return>, Option<usize>)> {
        self.space();
        if let Some(at) = self.open(&[])? {
            return Ok((Vec::new(), Some(at)));
        }
        if !self.eat("(") {
            return Ok((vec![self.result()?], None));
        }
        let mut returns = Vec::new();
        if self.eat(")") {
            return Ok((returns, None));
        }
        loop {
            self.space();
            if let Some(at) = self.open(&[")"])? {
                self.expect(")", "`)`")?;
                return Ok((returns, Some(at)));
            }
            returns.push(self.result()?);
            if self.eat(")") {
                return Ok((returns, None));
            }
            self.expect(",", "`,` or `)`")?;
        }
    }

    /// result: type [name]
    fn result(&mut self) -> Parsed<Return> {
        let Written { kind, text, alias, mutated } = self.kind(0)?;
        self.space();
        let is_named = self.rest().starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        let name = if is_named { Some(self.name("the result's name")?) } else { None };
        Ok(Return { name, kind, text, alias, mutated })
    }
}

/// True if a name stands for any type: `t`, `t1`, `tVal`. torch takes every name in small letters for one; longer ones are slips.
fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    name == "tVal" || chars.next().is_some_and(|c| c.is_ascii_lowercase()) && chars.all(|c| c.is_ascii_digit())
}

/// The message about a type that does not exist.
fn unknown(name: &str) -> String {
    let instead = match name {
        "double" | "float32" | "float64" => Some(("float", "every floating-point number")),
        "long" | "int64_t" | "int32" | "int64" => Some(("int", "every integer")),
        "string" | "string_view" => Some(("str", "texts")),
        "number" => Some(("Scalar", "any number")),
        _ => None,
    };
    match instead {
        Some((word, what)) => format!("torch's schemas write `{word}` for {what}"),
        None => format!("`{name}` is no type of torch's schemas (Tensor, int, float, bool, str, Scalar, ...)"),
    }
}

/// The advice for a default that does not fit.
fn hint(kind: &Kind, value: &Default) -> String {
    match (kind, value) {
        (Kind::List(inner, _), _) if !inner.is_listed() => {
            "; torch has defaults for lists of int, float, bool and complex alone".to_owned()
        }
        (Kind::List(_, None), Default::Int(_) | Default::Float(_) | Default::Bool(_)) => {
            format!("; a list is written [{value}]")
        }
        (Kind::Named(name), Default::Int(_) | Default::Float(_)) if name == "complex" => {
            "; torch reads imaginary numbers alone, as in 2j".to_owned()
        }
        (_, Default::None) => format!("; `{kind}?` is one that may be None"),
        _ => String::new(),
    }
}

/// The value of a word, for an argument of a type.
fn named(name: &str, kind: &Kind) -> Option<Default> {
    let kind = match kind {
        Kind::Optional(inner) => inner,
        kind => kind,
    };
    let dtype = || {
        let complex = [("complex64", 9), ("complex128", 10)].into_iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        let number = |dtype: DType| SCALAR_TYPES.iter().find(|(_, d)| *d == dtype).map(|(n, _)| *n);
        complex.or_else(|| DType::from_name(name).and_then(number))
    };
    let listed = |all: &[(&str, i64)]| all.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    match name {
        "True" => Some(Default::Bool(true)),
        "False" => Some(Default::Bool(false)),
        "None" => Some(Default::None),
        _ if *kind == Kind::ScalarType => listed(&C_TYPES).or_else(dtype).map(Default::Int),
        _ if kind.is_int() || matches!(kind, Kind::Named(_)) => listed(&CONSTANTS).map(Default::Int),
        _ => None,
    }
}

//! Operator schemas in torch's grammar: `ns::name.overload(Tensor a, int[2] k=1, *, bool flag=False) -> (Tensor out)`.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::cursor::{Cursor, Wrong, caret, check_length};
use crate::runtime::Result;

/// The type of an argument or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `Tensor`
    Tensor,
    /// `int` (also `SymInt`)
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `str`
    Str,
    /// `Scalar`
    Scalar,
    /// `ScalarType`
    ScalarType,
    /// `Device`, `Layout`, `MemoryFormat`, `Generator`, `complex`: named, carried along, not bound to kernels.
    Other(String),
    /// `T?`
    Optional(Box<Kind>),
    /// `T[]` or `T[n]`
    List(Box<Kind>, Option<u32>),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Tensor => f.write_str("Tensor"),
            Kind::Int => f.write_str("int"),
            Kind::Float => f.write_str("float"),
            Kind::Bool => f.write_str("bool"),
            Kind::Str => f.write_str("str"),
            Kind::Scalar => f.write_str("Scalar"),
            Kind::ScalarType => f.write_str("ScalarType"),
            Kind::Other(name) => f.write_str(name),
            Kind::Optional(inner) => write!(f, "{inner}?"),
            Kind::List(inner, None) => write!(f, "{inner}[]"),
            Kind::List(inner, Some(n)) => write!(f, "{inner}[{n}]"),
        }
    }
}

/// A default value.
#[derive(Debug, Clone, PartialEq)]
pub enum Default {
    /// An integer.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// A quoted string.
    Str(String),
    /// `None`
    None,
    /// Anything else as written: `[]`, `[1, 2]`, `contiguous_format`.
    Other(String),
}

impl fmt::Display for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Default::Int(v) => write!(f, "{v}"),
            // As Python's repr: an exponent has two digits at least.
            Default::Float(v) => match format!("{v:?}").split_once('e') {
                Some((mantissa, exponent)) => {
                    let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |d| ("-", d));
                    write!(f, "{mantissa}e{sign}{digits:0>2}")
                }
                None => write!(f, "{v:?}"),
            },
            Default::Bool(v) => f.write_str(if *v { "True" } else { "False" }),
            Default::Str(v) => write!(
                f,
                "\"{}\"",
                v.replace('\\', "\\\\")
                    .replace('"', "\\\"")
                    .replace('\n', "\\n")
                    .replace('\t', "\\t")
                    .replace('\r', "\\r")
            ),
            Default::None => f.write_str("None"),
            Default::Other(v) => f.write_str(v),
        }
    }
}

impl Default {
    /// Whether an argument of this type can have it; names and lists are taken as written.
    fn fits(&self, kind: &Kind) -> bool {
        match (kind, self) {
            (Kind::Optional(_), Default::None) | (Kind::Other(_) | Kind::ScalarType, _) => true,
            (Kind::Optional(inner), value) => value.fits(inner),
            (Kind::List(..), Default::Other(_)) => true,
            // One number stands for a list of a stated size.
            (Kind::List(inner, Some(_)), value) => value.fits(inner),
            // torch's enumerations are ints: `int reduction=Mean`.
            (Kind::Int, Default::Other(name)) => !name.starts_with('['),
            (Kind::Int, Default::Int(_))
            | (Kind::Float, Default::Int(_) | Default::Float(_))
            | (Kind::Bool, Default::Bool(_))
            | (Kind::Str, Default::Str(_))
            | (Kind::Scalar, Default::Int(_) | Default::Float(_) | Default::Bool(_)) => true,
            _ => false,
        }
    }
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its alias set, as in `Tensor(a!)`: the letters, without `!`.
    pub alias: Option<String>,
    /// Whether the operator writes it (`!`).
    pub mutated: bool,
    /// Its default, if any.
    pub default: Option<Default>,
    /// Whether it stands after `*`.
    pub keyword_only: bool,
}

impl Argument {
    /// Whether a tensor is passed here (also an optional one).
    pub fn is_tensor(&self) -> bool {
        match &self.kind {
            Kind::Optional(inner) => **inner == Kind::Tensor,
            kind => *kind == Kind::Tensor,
        }
    }
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct Return {
    /// Its name, if any.
    pub name: Option<String>,
    /// Its type.
    pub kind: Kind,
    /// Its alias set and whether it is written.
    pub alias: Option<String>,
    /// Whether the alias set is written (`!`).
    pub mutated: bool,
}

/// A whole schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The part before `::`.
    pub namespace: String,
    /// The part after it, without the overload.
    pub name: String,
    /// The overload name, or empty.
    pub overload: String,
    /// Arguments in order, keyword-only ones last.
    pub args: Vec<Argument>,
    /// Results in order.
    pub returns: Vec<Return>,
}

impl Schema {
    /// Parses a schema.
    ///
    /// # Errors
    /// [`Error::Argument`] with the schema and a caret under the place.
    pub fn parse(text: &str) -> Result<Schema> {
        check_length("schema", text)?;
        Parser(Cursor::new(text)).schema().map_err(|(at, message)| caret("schema", text, at, &message))
    }

    /// `ns::name` (with `.overload` where there is one).
    pub fn qualified_name(&self) -> String {
        let dot = if self.overload.is_empty() { "" } else { "." };
        format!("{}::{}{dot}{}", self.namespace, self.name, self.overload)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn aliased(kind: &Kind, alias: Option<&str>, mutated: bool) -> String {
            let text = kind.to_string();
            match alias {
                None => text,
                Some(a) => {
                    let sign = if mutated { "!" } else { "" };
                    let mark = if a.is_empty() { sign.to_owned() } else { format!("({a}{sign})") };
                    // The alias stands after the element type: `Tensor(a!)[]`, `Tensor(a)?`.
                    match text.find(['?', '[']) {
                        Some(i) => format!("{}{mark}{}", &text[..i], &text[i..]),
                        None => text + &mark,
                    }
                }
            }
        }
        write!(f, "{}(", self.qualified_name())?;
        let mut star = false;
        for (i, arg) in self.args.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if arg.keyword_only && !star {
                star = true;
                f.write_str("*, ")?;
            }
            write!(f, "{} {}", aliased(&arg.kind, arg.alias.as_deref(), arg.mutated), arg.name)?;
            if let Some(default) = &arg.default {
                write!(f, "={default}")?;
            }
        }
        f.write_str(") -> ")?;
        let one = |r: &Return| {
            let kind = aliased(&r.kind, r.alias.as_deref(), r.mutated);
            r.name.as_ref().map_or(kind.clone(), |n| format!("{kind} {n}"))
        };
        match self.returns.as_slice() {
            [only] if only.name.is_none() => f.write_str(&one(only)),
            many => write!(f, "({})", many.iter().map(one).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Most suffixes of one type; torch's schemas have two at most (`Tensor?[]`).
const MOST_SUFFIXES: usize = 4;

/// The largest stated size of a list; one number stands for that many.
const MOST_ELEMENTS: u32 = 1024;

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
    /// schema: name `(` args `)` `->` returns
    fn schema(&mut self) -> std::result::Result<Schema, Wrong> {
        let namespace = self.ident("the operator's namespace, as in `lab::muladd`")?;
        self.expect("::", "`::` and the operator's name")?;
        let name = self.ident("the operator's name")?;
        let overload = if self.rest().starts_with('.') {
            self.at += 1;
            self.ident("an overload name")?
        } else {
            String::new()
        };
        self.expect("(", "`(` and the arguments")?;
        let args = self.args()?;
        self.expect("->", "`->` and the results")?;
        let returns = self.returns()?;
        self.space();
        if !self.is_done() {
            return Err((self.at, "nothing may follow the results".to_owned()));
        }
        Ok(Schema { namespace, name, overload, args, returns })
    }

    fn args(&mut self) -> std::result::Result<Vec<Argument>, Wrong> {
        let mut args: Vec<Argument> = Vec::new();
        let mut keyword_only = false;
        if self.eat(")") {
            return Ok(args);
        }
        loop {
            self.space();
            if self.eat("*") {
                if keyword_only {
                    return Err((self.at - 1, "`*` stands once".to_owned()));
                }
                keyword_only = true;
            } else {
                let start = self.at;
                let (kind, alias, mutated) = self.kind()?;
                self.space();
                let at = self.at;
                let name = self.ident("the argument's name")?;
                if args.iter().any(|a| a.name == name) {
                    return Err((at, format!("there are two arguments `{name}`")));
                }
                let default = if self.eat("=") { Some(self.default()?) } else { None };
                if let Some(value) = default.as_ref().filter(|d| !d.fits(&kind)) {
                    return Err((at, format!("`{value}` is no default of `{kind} {name}`")));
                }
                let late = args.last().is_some_and(|a| a.default.is_some() && a.keyword_only == keyword_only);
                if default.is_none() && late && !keyword_only {
                    return Err((start, format!("`{name}` has no default and follows an argument that has one")));
                }
                args.push(Argument { name, kind, alias, mutated, default, keyword_only });
            }
            if self.eat(")") {
                return Ok(args);
            }
            self.expect(",", "`,` or `)`")?;
        }
    }

    fn kind(&mut self) -> std::result::Result<(Kind, Option<String>, bool), Wrong> {
        self.space();
        let at = self.at;
        let word = self.ident("a type")?;
        let mut kind = match word.as_str() {
            "Tensor" => Kind::Tensor,
            "int" | "SymInt" => Kind::Int,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            "str" => Kind::Str,
            "Scalar" => Kind::Scalar,
            "ScalarType" => Kind::ScalarType,
            "Device" | "Layout" | "MemoryFormat" | "Generator" | "complex" | "Storage" | "Dimname" | "Stream" => {
                Kind::Other(word)
            }
            "double" => return Err((at, "torch's schemas write `float` for C++'s double".to_owned())),
            "long" | "int64_t" => return Err((at, "torch's schemas write `int` for C++'s int64_t".to_owned())),
            _ => {
                return Err((
                    at,
                    format!("`{word}` is no type of torch's schemas (Tensor, int, float, bool, str, Scalar, ...)"),
                ));
            }
        };
        let (mut alias, mut mutated) = (None, false);
        if self.rest().starts_with('(') {
            if kind != Kind::Tensor {
                return Err((self.at, "only a Tensor has an alias annotation".to_owned()));
            }
            self.at += 1;
            let mut letters = self.ident("an alias letter, as in `Tensor(a!)`")?;
            while self.eat("|") {
                letters = format!("{letters}|{}", self.ident("an alias letter")?);
            }
            mutated = self.eat("!");
            if self.eat("->") {
                self.space();
                if !self.eat("*") {
                    self.ident("an alias letter or `*`")?;
                }
            }
            self.expect(")", "`)`")?;
            alias = Some(letters);
        } else if kind == Kind::Tensor && self.rest().starts_with('!') {
            // An alias set of its own.
            self.at += 1;
            (alias, mutated) = (Some(String::new()), true);
        }
        for _ in 0..=MOST_SUFFIXES {
            if self.rest().starts_with('?') {
                self.at += 1;
                kind = Kind::Optional(Box::new(kind));
            } else if self.rest().starts_with('[') {
                self.at += 1;
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
                kind = Kind::List(Box::new(kind), size);
            } else {
                return Ok((kind, alias, mutated));
            }
        }
        Err((at, format!("a type with more than {MOST_SUFFIXES} suffixes")))
    }

    fn default(&mut self) -> std::result::Result<Default, Wrong> {
        self.space();
        let at = self.at;
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let mut value = String::new();
            let mut escaped = false;
            for (i, c) in rest.char_indices().skip(1) {
                match c {
                    _ if escaped => {
                        escaped = false;
                        value.push(match c {
                            'n' => '\n',
                            't' => '\t',
                            'r' => '\r',
                            c => c,
                        });
                    }
                    '\\' => escaped = true,
                    c if c == quote => {
                        self.at += i + 1;
                        return Ok(Default::Str(value));
                    }
                    c => value.push(c),
                }
            }
            return Err((at, "a string that is never closed".to_owned()));
        }
        let mut depth = 0;
        let len = rest
            .char_indices()
            .find(|&(_, c)| {
                match c {
                    '[' | '(' => depth += 1,
                    ']' => depth -= 1,
                    ')' if depth > 0 => depth -= 1,
                    _ => {}
                }
                depth == 0 && matches!(c, ',' | ')')
            })
            .map_or(rest.len(), |(i, _)| i);
        let word = rest[..len].trim();
        if word.is_empty() {
            return Err((at, "expected a default value".to_owned()));
        }
        let value = match word {
            "True" => Default::Bool(true),
            "False" => Default::Bool(false),
            "None" => Default::None,
            w if w.parse::<i64>().is_ok() => Default::Int(w.parse().unwrap_or(0)),
            w if w.parse::<f64>().is_ok() => Default::Float(w.parse().unwrap_or(0.0)),
            w if w.starts_with('[') || w.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) => {
                Default::Other(w.to_owned())
            }
            w => return Err((at, format!("`{w}` is no default value"))),
        };
        self.at += len;
        Ok(value)
    }

    fn returns(&mut self) -> std::result::Result<Vec<Return>, Wrong> {
        if !self.eat("(") {
            let (kind, alias, mutated) = self.kind()?;
            return Ok(vec![Return { name: None, kind, alias, mutated }]);
        }
        let mut returns = Vec::new();
        if self.eat(")") {
            return Ok(returns);
        }
        loop {
            let (kind, alias, mutated) = self.kind()?;
            self.space();
            let named = self.rest().starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
            let name = if named { Some(self.ident("a name")?) } else { None };
            returns.push(Return { name, kind, alias, mutated });
            if self.eat(")") {
                return Ok(returns);
            }
            self.expect(",", "`,` or `)`")?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_print_back_canonically() {
        for text in [
            "lab::muladd(Tensor a, Tensor b, float c) -> Tensor",
            "lab::f(Tensor(a!) x, int[2] k=1, *, bool flag=False, str? s=None) -> Tensor(a!)",
            "ns::g.out(Tensor[] xs, Scalar alpha=1, ScalarType? dtype=None) -> (Tensor values, Tensor indices)",
            "ns::h(float eps=1e-05, str mode=\"mean\") -> ()",
            "ns::i() -> int",
            "ns::j(Tensor?[] xs, int[] d=[]) -> Tensor[]",
            "ns::k(Tensor! out, Tensor![] outs, Tensor x) -> ()",
        ] {
            assert_eq!(Schema::parse(text).map(|s| s.to_string()).map_err(|e| e.to_string()), Ok(text.to_owned()));
        }
        let spaced = Schema::parse(" a :: b ( Tensor  x ) ->Tensor ").map(|s| s.to_string());
        assert_eq!(spaced.map_err(|e| e.to_string()), Ok("a::b(Tensor x) -> Tensor".to_owned()));
    }

    #[test]
    fn errors_point_into_the_schema() {
        for (text, column, part) in [
            ("muladd(Tensor a) -> Tensor", 6, "`::`"),
            ("lab::f(Tensr a) -> Tensor", 7, "`Tensr` is no type"),
            ("lab::f(double a) -> Tensor", 7, "write `float`"),
            ("lab::f(Tensor a, Tensor a) -> Tensor", 24, "two arguments `a`"),
            ("lab::f(Tensor a)", 16, "`->`"),
            ("lab::f(int a=1, Tensor b) -> Tensor", 16, "has no default"),
            ("lab::f(int a=1.5) -> Tensor", 11, "no default of `int a`"),
            ("lab::f(int[][][][][] a) -> Tensor", 7, "more than 4 suffixes"),
            ("lab::f(int[1025] a) -> Tensor", 11, "a list of more than 1024 elements"),
            ("lab::f(int[99999999999] a) -> Tensor", 11, "a list of more than 1024 elements"),
            ("lab::f(Tensor a) -> Tensor x y", 27, "nothing may follow"),
            ("lab::f(int(a!) x) -> Tensor", 10, "only a Tensor"),
            ("", 0, "namespace"),
        ] {
            let message = Schema::parse(text).expect_err(text).to_string();
            let caret = message.lines().last().unwrap_or("").find('^').unwrap_or(0) - 2;
            assert!(message.contains(part) && caret == column, "{text}: column {caret}\n{message}");
        }
    }
}

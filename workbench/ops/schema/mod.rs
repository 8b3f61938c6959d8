//! Operator schemas in torch's grammar: `ns::name.overload(Tensor a, int[2] k=1, *, bool flag=False) -> (Tensor out)`.
//!
//! Schemas that torch reads are read here, and torch reads a printed schema as the same schema. A text that torch reads as something else
//! than it says (`complex x=1.5`, `int x=0x10`) is refused; one that torch would print so that it cannot read it again is printed as it was
//! written.

use std::fmt;

use crate::runtime::{DType, Result};

mod parse;
#[cfg(test)]
mod tests;

/// The type of an argument or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `Tensor`
    Tensor,
    /// `int`: a number, which torch's compilers treat as a constant.
    Int,
    /// `SymInt`: an int that may be a symbol while torch's compilers trace shapes.
    SymInt,
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
    /// `Device`, `Layout`, `MemoryFormat`, `Generator`, `complex`, `Any`, a type variable (`t`): named, carried along, not bound to
    /// kernels.
    Named(String),
    /// `Dict(str, int)`, `Future(t)`, `Union(int, str)`
    Generic(String, Vec<Kind>),
    /// `(int, Tensor)`
    Tuple(Vec<Kind>),
    /// `T?`
    Optional(Box<Kind>),
    /// `T[]` or `T[n]`
    List(Box<Kind>, Option<u32>),
}

impl Kind {
    /// True if it is an integer, `int` or `SymInt`.
    pub fn is_int(&self) -> bool {
        matches!(self, Kind::Int | Kind::SymInt)
    }
}

fn joined(kinds: &[Kind]) -> String {
    kinds.iter().map(Kind::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Tensor => f.write_str("Tensor"),
            Kind::Int => f.write_str("int"),
            Kind::SymInt => f.write_str("SymInt"),
            Kind::Float => f.write_str("float"),
            Kind::Bool => f.write_str("bool"),
            Kind::Str => f.write_str("str"),
            Kind::Scalar => f.write_str("Scalar"),
            Kind::ScalarType => f.write_str("ScalarType"),
            Kind::Named(name) => f.write_str(name),
            Kind::Generic(name, inner) => write!(f, "{name}({})", joined(inner)),
            Kind::Tuple(inner) => write!(f, "({})", joined(inner)),
            Kind::Optional(inner) => write!(f, "{inner}?"),
            Kind::List(inner, None) => write!(f, "{inner}[]"),
            Kind::List(inner, Some(n)) => write!(f, "{inner}[{n}]"),
        }
    }
}

/// torch's numbers of element types, c10::ScalarType.
const SCALAR_TYPES: [(i64, DType); 13] = [
    (0, DType::UInt8),
    (1, DType::Int8),
    (2, DType::Int16),
    (3, DType::Int32),
    (4, DType::Int64),
    (5, DType::Float16),
    (6, DType::Float32),
    (7, DType::Float64),
    (11, DType::Bool),
    (15, DType::BFloat16),
    (27, DType::UInt16),
    (28, DType::UInt32),
    (29, DType::UInt64),
];

/// The element type of a number of torch's.
pub fn scalar_type(number: i64) -> Option<DType> {
    SCALAR_TYPES.iter().find(|(n, _)| *n == number).map(|(_, dtype)| *dtype)
}

/// A default value.
#[derive(Debug, Clone, PartialEq)]
pub enum Default {
    /// An integer; also the value of a name of torch's enumerations (`Mean`, `contiguous_format`, and `long` of a `ScalarType`).
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// An imaginary number, `2j`: torch's schemas have no other complex ones.
    Imaginary(f64),
    /// `True` or `False`.
    Bool(bool),
    /// A quoted string.
    Str(String),
    /// `None`
    None,
    /// `[1, 2]`
    List(Vec<Default>),
}

/// torch's device types.
const DEVICES: [&str; 20] = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// `cpu`, `cuda:1`
fn is_device(text: &str) -> bool {
    let (name, index) = text.split_once(':').map_or((text, None), |(name, index)| (name, Some(index)));
    DEVICES.contains(&name) && index.is_none_or(|i| i.parse::<i8>().is_ok_and(|i| i >= 0))
}

/// The characters that stand after a backslash, and their meanings.
const ESCAPES: [(char, char); 9] = [
    ('\\', '\\'),
    ('"', '"'),
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('f', '\x0c'),
    ('v', '\x0b'),
];

/// A number as Python's repr: an exponent has at least two digits.
fn repr(v: f64) -> String {
    match format!("{v:?}").split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |d| ("-", d));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => format!("{v:?}"),
    }
}

impl fmt::Display for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Default::Int(v) => write!(f, "{v}"),
            Default::Float(v) => f.write_str(&repr(*v)),
            Default::Imaginary(v) => write!(f, "{}j", repr(*v)),
            Default::Bool(v) => f.write_str(if *v { "True" } else { "False" }),
            Default::Str(v) => {
                let escaped = |c: char| match ESCAPES.iter().find(|(_, meant)| *meant == c) {
                    Some((letter, _)) => format!("\\{letter}"),
                    None => c.to_string(),
                };
                write!(f, "\"{}\"", v.chars().map(escaped).collect::<String>())
            }
            Default::None => f.write_str("None"),
            Default::List(all) => {
                write!(f, "[{}]", all.iter().map(Default::to_string).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Default {
    /// True if an argument of this type can have it.
    fn fits(&self, kind: &Kind) -> bool {
        match (kind, self) {
            (Kind::Optional(_) | Kind::Tensor, Default::None) => true,
            // torch cannot read such defaults.
            (Kind::Optional(inner), Default::List(_)) if matches!(**inner, Kind::List(..)) => false,
            (Kind::Optional(inner), value) => value.fits(inner),
            (Kind::List(inner, _), Default::List(all)) => {
                inner.is_listed() && all.iter().all(|one| one.fits_in_list(inner))
            }
            // A single number stands for a list of a stated size.
            (Kind::List(inner, Some(_)), value) => value.fits_in_list(inner),
            (Kind::Int | Kind::SymInt, Default::Int(_) | Default::Bool(_))
            | (Kind::Float, Default::Int(_) | Default::Float(_) | Default::Bool(_))
            | (Kind::Bool, Default::Bool(_) | Default::Int(0 | 1))
            | (Kind::Str, Default::Str(_))
            | (Kind::Scalar, Default::Int(_) | Default::Float(_) | Default::Bool(_) | Default::Imaginary(_)) => true,
            (Kind::ScalarType, Default::Int(v)) => *v >= 0,
            (Kind::Named(name), Default::Int(v)) => matches!(name.as_str(), "Layout" | "MemoryFormat") && *v >= 0,
            (Kind::Named(name), Default::Imaginary(_)) => name == "complex",
            (Kind::Named(name), Default::Str(text)) => name == "Device" && is_device(text),
            _ => false,
        }
    }
}

impl Default {
    /// True if it can be an element of a list, where a truth value is no number.
    fn fits_in_list(&self, of: &Kind) -> bool {
        of.is_listed() && self.fits(of) && matches!(self, Default::Bool(_)) == (*of == Kind::Bool)
    }
}

impl Kind {
    /// True if torch has defaults for lists of it.
    fn is_listed(&self) -> bool {
        matches!(self, Kind::Int | Kind::SymInt | Kind::Float | Kind::Bool)
            || matches!(self, Kind::Named(name) if name == "complex")
    }
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its type as it is written, with its annotations.
    pub text: String,
    /// Its alias set, as in `Tensor(a!)`: the letters, without `!`.
    pub alias: Option<String>,
    /// True if the operator writes it (`!`).
    pub mutated: bool,
    /// Its default, if any.
    pub default: Option<Default>,
    /// True if it stands after `*`.
    pub keyword_only: bool,
}

impl Argument {
    /// True if a tensor is passed here (also an optional one).
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
    /// Its type as it is written, with its annotations.
    pub text: String,
    /// Its alias set.
    pub alias: Option<String>,
    /// True if the alias set is written (`!`).
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
    /// True if any number of arguments may follow, `...`: torch's own primitives, no operator that can be called by its schema.
    pub is_vararg: bool,
    /// Results in order.
    pub returns: Vec<Return>,
    /// True if any number of results may follow, likewise.
    pub is_varret: bool,
}

impl Schema {
    /// The number of arguments that may be given by position: those before `*`.
    pub fn positional(&self) -> usize {
        self.args.iter().take_while(|arg| !arg.keyword_only).count()
    }

    /// Parses a schema.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::runtime::Error::Argument) with the schema and a caret under the place.
    pub fn parse(text: &str) -> Result<Schema> {
        parse::schema(text)
    }

    /// Parses the schema of an operator that is to be called: one with a fixed number of arguments and results.
    ///
    /// # Errors
    /// As [`Schema::parse`].
    pub fn parse_operator(text: &str) -> Result<Schema> {
        parse::operator(text)
    }

    /// `ns::name` (with `.overload` where there is one).
    pub fn qualified_name(&self) -> String {
        let dot = if self.overload.is_empty() { "" } else { "." };
        format!("{}::{}{dot}{}", self.namespace, self.name, self.overload)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut args = Vec::new();
        for (i, arg) in self.args.iter().enumerate() {
            if arg.keyword_only && (i == 0 || !self.args[i - 1].keyword_only) {
                args.push("*".to_owned());
            }
            let default = arg.default.as_ref().map_or(String::new(), |value| format!("={value}"));
            args.push(format!("{} {}{default}", arg.text, arg.name));
        }
        let one = |r: &Return| r.name.as_ref().map_or(r.text.clone(), |n| format!("{} {n}", r.text));
        let mut returns: Vec<String> = self.returns.iter().map(one).collect();
        for (is_open, list) in [(self.is_vararg, &mut args), (self.is_varret, &mut returns)] {
            list.extend(is_open.then(|| "...".to_owned()));
        }
        write!(f, "{}({}) -> ", self.qualified_name(), args.join(", "))?;
        match returns.as_slice() {
            // A text that begins with a parenthesis is a list of results.
            [only] if !only.starts_with('(') => f.write_str(only),
            many => write!(f, "({})", many.join(", ")),
        }
    }
}

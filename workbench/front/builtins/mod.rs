//! Builtins of CUDA C++, which need no declaration, as tables: functions ([`Sig`] records), constants, type names, and what is
//! understood and not supported.
//!
//! One record says a function's name, types, effect and meaning; overloads are records of one name. The type checker
//! chooses among them by C++'s rules, emission runs the record's [`Lower`].

mod atomic;
mod constants;
mod conversions;
mod directed_rounding;
mod dpx;
mod floats;
mod integer;
mod math;
mod memory;
mod minmax;
mod simd;
mod sync;
mod types;
mod unsupported;
mod vector;
mod warp;

use std::borrow::Cow;

pub use constants::constant;
pub use math::{Form, math, names as math_names};
pub use types::{NamedType, named_type, names as type_names};
pub use unsupported::{
    Advice, all as all_unsupported, is_host_function, is_host_object, unsupported, unsupported_method,
    unsupported_namespace,
};
pub use vector::{Vector, vector, vector_names};

use super::types::{Num, Ty};
use crate::ir::{Builder, Value};
use crate::once::Once;

/// The type of a parameter or result of a builtin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum P {
    /// No result.
    Void,
    /// A number.
    Num(Num),
    /// A pointer the builtin writes through.
    Out(Num),
    /// A pointer the builtin reads through.
    In(Num),
}

impl P {
    /// The parameter as a type of the text.
    pub fn ty(self) -> Ty {
        match self {
            P::Void => Ty::void(),
            P::Num(num) => num.into(),
            P::Out(num) => Ty::from(num).pointer(),
            P::In(num) => Ty::from(num).constant().pointer(),
        }
    }
}

/// Results of a builtin that writes through pointers: its own result, and one value for each [`P::Out`] in order.
#[derive(Debug)]
pub struct Outs {
    /// The function's result.
    pub result: Option<Value>,
    /// Values to write.
    pub stores: Vec<Value>,
}

/// Ways a builtin becomes IR.
#[derive(Debug, Clone, Copy)]
pub enum Lower {
    /// A function from the arguments, in order, to the result.
    Value(fn(&mut Builder, &[Value]) -> Value),
    /// A function of the arguments, for its effect.
    Effect(fn(&mut Builder, &[Value])),
    /// A function of the arguments that are no pointers, to result and outputs.
    Outs(fn(&mut Builder, &[Value]) -> Outs),
    /// Reads through its only argument.
    Load,
    /// Writes its second argument through its first.
    Store,
}

/// One builtin function, or one overload of it.
#[derive(Debug)]
pub struct Sig {
    /// The name, without `std::`.
    pub name: &'static str,
    /// The parameters.
    pub params: &'static [P],
    /// The result.
    pub ret: P,
    /// Way it becomes IR.
    pub lower: Lower,
    /// Sentence about what it computes.
    pub doc: &'static str,
}

impl Sig {
    /// The declaration as C++ writes it.
    pub fn declaration(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|p| p.ty().to_string()).collect();
        format!("{} {}({})", self.ret.ty(), self.name, params.join(", "))
    }

    /// Device code alone may call it.
    pub fn device_only(&self) -> bool {
        device_only(self.name)
    }
}

/// Device code alone may call a builtin of this name: CUDA's intrinsics begin with two underscores, and atomics are of the device. GCC's are
/// everybody's.
pub fn device_only(name: &str) -> bool {
    name.starts_with("__") && !name.starts_with("__builtin_") || name.starts_with("atomic")
}

/// Rows of a table: `"name" (params) -> ret, lower, "doc";`
macro_rules! sigs {
    ($($name:literal ($($param:expr),*) -> $ret:expr, $lower:expr, $doc:literal;)*) => {
        &[$(crate::front::builtins::Sig { name: $name, params: &[$($param),*], ret: $ret, lower: $lower, doc: $doc },)*]
    };
}
use sigs;

/// Short names for the tables.
mod short {
    use super::{Num, P};

    pub const B: P = P::Num(Num::Bool);
    pub const C: P = P::Num(Num::Char);
    pub const SC: P = P::Num(Num::SChar);
    pub const UC: P = P::Num(Num::UChar);
    pub const S: P = P::Num(Num::Short);
    pub const US: P = P::Num(Num::UShort);
    pub const I: P = P::Num(Num::Int);
    pub const U: P = P::Num(Num::UInt);
    pub const L: P = P::Num(Num::Long);
    pub const UL: P = P::Num(Num::ULong);
    pub const LL: P = P::Num(Num::LongLong);
    pub const ULL: P = P::Num(Num::ULongLong);
    pub const F: P = P::Num(Num::Float);
    pub const D: P = P::Num(Num::Double);
    pub const STR: P = P::In(Num::Char);
}

/// The tables, by what they are about.
pub static GROUPS: &[(&str, &[&[Sig]])] = &[
    ("Minimum, maximum, absolute value", &[minmax::MIN_MAX, minmax::ABS, minmax::STD]),
    ("Floating point", &[floats::BASIC, floats::INTRINSICS]),
    ("Directed rounding", &[directed_rounding::ARITHMETIC]),
    ("Conversions", &[conversions::TABLE, directed_rounding::CONVERSIONS]),
    ("Integers", &[integer::TABLE]),
    ("SIMD within a word", &[simd::TABLE]),
    ("Dynamic programming (DPX)", &[dpx::TABLE, dpx::TWO, dpx::CHOICE]),
    ("Loads and stores with cache hints", &[memory::LOADS, memory::STORES]),
    ("Barriers and fences", &[sync::TABLE]),
    (
        "Warp functions",
        &[warp::SHFL, warp::SHFL_UP, warp::SHFL_DOWN, warp::SHFL_XOR, warp::VOTES, warp::MATCHES, warp::TABLE],
    ),
    ("Atomic functions", &[atomic::TABLE, atomic::SHORT]),
];

/// Functions that the library's texts alone call; their names begin with `__wb`.
static OF_LIBRARY: &[Sig] = conversions::HALVES;

/// All records, by name; overloads keep the order of their table.
static SIGS: Once<Vec<&'static Sig>> = Once::new(|| {
    let mut all: Vec<&'static Sig> = GROUPS.iter().flat_map(|(_, tables)| tables.iter().copied().flatten()).collect();
    all.extend(OF_LIBRARY);
    all.sort_by_key(|s| s.name);
    all
});

/// The overloads of a name; empty when it is no builtin of the tables ([`math`] has the math functions).
pub fn lookup(name: &str) -> &'static [&'static Sig] {
    let all: &'static [&'static Sig] = &SIGS;
    let start = all.partition_point(|s| s.name < name);
    let len = all[start..].partition_point(|s| s.name == name);
    &all[start..start + len]
}

/// The name is a builtin function of any kind.
pub fn is_function(name: &str) -> bool {
    !lookup(name).is_empty() || math(name).is_some() || matches!(name, "printf" | "assert" | "__trap")
}

/// The name means something to CUDA without a declaration: a function, a type, a constant, or a keyword of its own.
pub fn is_device_word(name: &str) -> bool {
    name.starts_with("__")
        || is_half_function(name)
        || is_function(name)
        || vector(name).is_some()
        || named_type(name).is_some()
        || constant(name).is_some()
}

/// The name is one of the functions and types of CUDA's headers for half precision, `hexp`, `nv_bfloat162`.
fn is_half_function(name: &str) -> bool {
    let is_word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    name.len() > 3 && (name.starts_with('h') || name.starts_with("nv_bf")) && is_word(crate::library::half_text())
}

/// Every builtin name worth suggesting for a misspelled one.
pub fn names() -> impl Iterator<Item = Cow<'static, str>> {
    let other = ["printf", "assert", "__trap", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];
    let float_forms = math::names().map(|n| Cow::Owned(format!("{n}f")));
    SIGS.iter()
        .map(|s| s.name)
        .filter(|name| !name.starts_with("__wb"))
        .chain(math::names())
        .chain(types::names())
        .chain(vector_names())
        .chain(unsupported::names())
        .chain(other)
        .filter(|n| !n.contains(':'))
        .map(Cow::Borrowed)
        .chain(float_forms)
}

#[cfg(test)]
mod tests;

//! Type names that need no declaration.

use super::unsupported::{Advice, unsupported_type};
use crate::front::types::Num;

const TABLE: &[(&str, Num)] = &[
    ("size_t", Num::ULong),
    ("ssize_t", Num::Long),
    ("ptrdiff_t", Num::Long),
    ("intptr_t", Num::Long),
    ("uintptr_t", Num::ULong),
    ("int8_t", Num::SChar),
    ("uint8_t", Num::UChar),
    ("int16_t", Num::Short),
    ("uint16_t", Num::UShort),
    ("int32_t", Num::Int),
    ("uint32_t", Num::UInt),
    ("int64_t", Num::Long),
    ("uint64_t", Num::ULong),
    ("intmax_t", Num::Long),
    ("uintmax_t", Num::ULong),
    ("uchar", Num::UChar),
    ("ushort", Num::UShort),
    ("uint", Num::UInt),
    ("ulong", Num::ULong),
    ("clock_t", Num::Long),
];

/// Type that a name stands for which the text did not declare.
#[derive(Debug, Clone, Copy)]
pub enum NamedType {
    /// A number.
    Num(Num),
    /// `nullptr_t`
    Nullptr,
    /// Understood, not supported.
    Unsupported(&'static Advice),
}

/// The builtin type of a name (`std::` stripped).
pub fn named_type(name: &str) -> Option<NamedType> {
    if let Some(&(_, num)) = TABLE.iter().find(|(n, _)| *n == name) {
        return Some(NamedType::Num(num));
    }
    if name == "nullptr_t" {
        return Some(NamedType::Nullptr);
    }
    unsupported_type(name).map(NamedType::Unsupported)
}

/// Every name.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(n, _)| *n).chain(["nullptr_t"])
}

//! Arrays of structs, of complex numbers and of 8-bit floats as arguments of kernels: which memory a pointer to structs takes, and what
//! to say of an array that does not fit.
//!
//! A pointer takes an array of its element type. The front end keeps the type that a kernel's pointer to structs or to pointers points at
//! (`Param::pointee`). NumPy's structured types are compared by names, places and types; complex numbers as two floats; 8-bit floats by
//! their kind. A list of arrays becomes a table of addresses, memory of the launch's like any other, and each array is lent to the launch.
//! An array that does not fit is reported with both layouts, or with the `view` that keeps the meaning of the bits.

use super::DType;
use super::program::numpy_name;
use crate::ir::Elem;
use crate::ir::layout::{MemberType, StructLayout};

/// Names that arrays have for elements that are structs in C++: NumPy's, ml_dtypes' and torch's, each with the type of the
/// element's parts.
const COMPLEX: [(&str, DType); 2] = [("complex64", DType::Float32), ("complex128", DType::Float64)];

/// 8-bit floats by the arrays' names and by the structs'.
const FLOAT8: [(&str, &[&str]); 2] =
    [("float8_e4m3fn", &["__nv_fp8_e4m3", "Float8_e4m3fn"]), ("float8_e5m2", &["__nv_fp8_e5m2", "Float8_e5m2"])];

/// The layout of an element type that is no scalar of C++: a struct of that name without members.
pub fn named_element(name: &str) -> Option<StructLayout> {
    let size = match COMPLEX.iter().find(|(n, _)| *n == name) {
        Some((_, part)) => 2 * part.size(),
        None => FLOAT8.iter().any(|(n, _)| *n == name).then_some(1)?,
    };
    Some(StructLayout { name: name.to_owned(), size: size as u32, members: Vec::new() })
}

/// True if memory that an array lays out as `came` is what C++ lays out as `wanted`: the same names, places and types all the way down.
/// A complex number matches any struct of two such floats, an 8-bit float CUDA's or torch's type of that kind.
pub fn is_same_memory(wanted: &MemberType, came: &MemberType) -> bool {
    match (wanted, came) {
        (MemberType::Scalar(a), MemberType::Scalar(b)) => a == b,
        (MemberType::Array(a, n), MemberType::Array(b, m)) => n == m && is_same_memory(a, b),
        (MemberType::Opaque(n), MemberType::Opaque(m)) => n == m,
        (MemberType::Struct(a), MemberType::Struct(b)) => is_same_struct(a, b),
        _ => false,
    }
}

fn is_same_struct(wanted: &StructLayout, came: &StructLayout) -> bool {
    if came.members.is_empty() {
        return is_named(wanted, &came.name);
    }
    let mut members = (wanted.members.iter().collect::<Vec<_>>(), came.members.iter().collect::<Vec<_>>());
    members.0.sort_by_key(|m| m.offset);
    members.1.sort_by_key(|m| m.offset);
    let pairs = || members.0.iter().zip(&members.1);
    wanted.size == came.size
        && members.0.len() == members.1.len()
        && pairs().all(|(a, b)| a.name == b.name && a.offset == b.offset && is_same_memory(&a.ty, &b.ty))
}

/// True if a struct is the type that arrays call `name`, a name of their own.
fn is_named(layout: &StructLayout, name: &str) -> bool {
    let of_kind =
        |(n, kinds): &(&str, &[&str])| *n == name && kinds.contains(&layout.name.rsplit("::").next().unwrap_or(""));
    let parts = flat(&MemberType::Struct(Box::new(layout.clone())));
    let complex = |(n, part): &(&str, DType)| {
        let both = [(0, Elem::from(*part)), (part.size() as u32, Elem::from(*part))];
        *n == name && layout.size as usize == 2 * part.size() && parts.as_deref() == Some(&both)
    };
    COMPLEX.iter().any(complex) || FLOAT8.iter().any(of_kind)
}

/// The most numbers of a struct that are looked at one by one.
const MOST_PARTS: usize = 64;

/// The numbers that a type is made of and where they are; `None` for a type that holds anything else, or a great many.
fn flat(ty: &MemberType) -> Option<Vec<(u32, Elem)>> {
    let mut parts = Vec::new();
    add_parts(ty, 0, &mut parts)?;
    Some(parts)
}

fn add_parts(ty: &MemberType, at: u32, parts: &mut Vec<(u32, Elem)>) -> Option<()> {
    match ty {
        MemberType::Scalar(elem) if parts.len() < MOST_PARTS => parts.push((at, *elem)),
        MemberType::Array(of, count) => {
            for i in 0..*count {
                add_parts(of, at + i * of.size(), parts)?;
            }
        }
        MemberType::Struct(layout) if layout.members.is_empty() => {
            let (_, part) = COMPLEX.iter().find(|(n, _)| *n == layout.name)?;
            parts.extend([(at, Elem::from(*part)), (at + part.size() as u32, Elem::from(*part))]);
        }
        MemberType::Struct(layout) => {
            for member in &layout.members {
                add_parts(&member.ty, at + member.offset, parts)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// A layout as a person reads it: `{float x at 0, int id at 4, double w at 8; 16 bytes}`.
pub fn describe(ty: &MemberType) -> String {
    match ty {
        MemberType::Scalar(elem) => elem.c_name().to_owned(),
        MemberType::Pointer { .. } => "pointer".to_owned(),
        MemberType::Array(of, count) => format!("{}[{count}]", describe(of)),
        MemberType::Bits(scalar, bits) => format!("{} bits of {}", bits.width, scalar.c_name()),
        MemberType::Opaque(size) => format!("{size} bytes"),
        MemberType::Struct(layout) if layout.members.is_empty() => layout.name.clone(),
        MemberType::Struct(layout) if FLOAT8.iter().any(|(n, _)| is_named(layout, n)) => {
            let kind = FLOAT8.iter().find(|(n, _)| is_named(layout, n)).map_or("", |(n, _)| n);
            format!("an 8-bit float, {kind}")
        }
        MemberType::Struct(layout) => {
            let one = |m: &crate::ir::layout::Member| format!("{} {} at {}", describe(&m.ty), m.name, m.offset);
            let all: Vec<String> = layout.members.iter().map(one).collect();
            let s = if layout.size == 1 { "" } else { "s" };
            format!("{{{}; {} byte{s}}}", all.join(", "), layout.size)
        }
    }
}

/// The expression to write so that an array `x` whose elements have the name `came` (and, if it is structured, that layout) is one of
/// `wanted`: `view` where the bits mean the same, else a conversion that loses nothing but what the user asked to lose; empty where
/// there is none.
pub fn advice(x: &str, came: &str, layout: Option<&MemberType>, wanted: DType) -> String {
    let to = numpy_name(wanted);
    if let Some((_, part)) = COMPLEX.iter().find(|(n, _)| *n == came) {
        return match wanted {
            wanted if wanted == *part => format!(", try {x}.view({to})"),
            DType::Float32 => format!(", try {x}.astype(np.complex64).view({to})"),
            DType::Float64 => format!(", try {x}.astype(np.complex128).view({to})"),
            _ => format!("; pass {x}.real or {x}.imag, or both by {x}.view({})", numpy_name(*part)),
        };
    }
    let is_bytes = matches!(wanted, DType::UInt8 | DType::Int8);
    if let Some(layout) = layout.filter(|_| FLOAT8.iter().all(|(n, _)| *n != came)) {
        let parts = flat(layout).unwrap_or_default();
        let want = Elem::from(wanted);
        let packed = parts.len() * wanted.size() == layout.size() as usize;
        if is_bytes || packed && parts.iter().all(|(_, elem)| *elem == want) {
            return format!(", try {x}.view({to})");
        }
        let MemberType::Struct(layout) = layout else { return String::new() };
        let field = layout.members.iter().find(|m| m.ty == MemberType::Scalar(want));
        return match field {
            Some(m) => format!("; pass one of its fields, as np.ascontiguousarray({x}[\"{}\"])", m.name),
            None => String::new(),
        };
    }
    let times = came.starts_with("datetime64") || came.starts_with("timedelta64");
    match wanted {
        _ if came.starts_with("float8") && is_bytes => format!(", try {x}.view({to})"),
        DType::Int64 if times => format!(", try {x}.view({to})"),
        _ if times || came.starts_with("<U") || came.starts_with("|S") || came.starts_with(">U") => String::new(),
        _ => format!(", try {x}.astype({to})"),
    }
}

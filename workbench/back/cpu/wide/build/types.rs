//! Types of the IR as types of the lane IR, and as types of its families of operations.

use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::families::{Integer, Narrow, Number, Real, Vector, Width, Word};
use crate::back::lane::memory::Element;
use crate::back::lane::table::Cell;
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{Scalar, Type};

/// The scalar that stands for a value: of a pointer its offset.
pub(in super::super) fn scalar_of(ty: Type) -> Scalar {
    ty.scalar().unwrap_or(Scalar::I64)
}

/// One number.
pub(super) fn one(s: Scalar) -> Ty {
    match s {
        Scalar::Bool => Ty::Bool,
        Scalar::F32 => Ty::F32,
        Scalar::F64 => Ty::F64,
        int => Ty::int(int.bits() as u8, int.is_signed()),
    }
}

/// One number of as many bits without a sign.
pub(super) fn unsigned(s: Scalar) -> Ty {
    Ty::int(s.bits() as u8, false)
}

/// The lanes of a number, or its mask.
pub(super) fn vector(s: Scalar) -> Vector {
    match s {
        Scalar::Bool => Vector::Mask,
        Scalar::F32 => Vector::F32,
        Scalar::F64 => Vector::F64,
        Scalar::I64 | Scalar::U64 => Vector::I64,
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::I32 | Scalar::U32 => Vector::I32,
    }
}

/// The type of what 16 threads have of a number.
pub(super) fn lanes(s: Scalar) -> Ty {
    vector(s).ty()
}

/// The lanes that hold a number; truth values have none.
pub(super) fn kind(s: Scalar) -> Result<Kind> {
    vector(s).kind().ok_or(Unsupported("arithmetic of truth values"))
}

/// The float.
pub(super) fn real(s: Scalar) -> Result<Real> {
    match s {
        Scalar::F32 => Ok(Real::F32),
        Scalar::F64 => Ok(Real::F64),
        _ => Err(Unsupported("a function of floats of something else")),
    }
}

/// The integer but for its sign.
pub(super) fn word(s: Scalar) -> Result<Word> {
    match kind(s)? {
        Kind::I32 => Ok(Word::I32),
        Kind::I64 => Ok(Word::I64),
        Kind::F32 | Kind::F64 => Err(Unsupported("bits of floats")),
    }
}

/// The integer with its sign. Narrow numbers are kept extended, so that they are `int`s.
pub(super) fn integer(s: Scalar) -> Result<Integer> {
    Ok(match (word(s)?, s) {
        (_, Scalar::U32) => Integer::U32,
        (Word::I32, _) => Integer::I32,
        (_, Scalar::U64) => Integer::U64,
        (Word::I64, _) => Integer::I64,
    })
}

/// The number with its sign, likewise.
pub(super) fn number(s: Scalar) -> Result<Number> {
    Ok(match kind(s)? {
        Kind::F32 => Number::F32,
        Kind::F64 => Number::F64,
        Kind::I32 | Kind::I64 => match integer(s)? {
            Integer::I32 => Number::I32,
            Integer::U32 => Number::U32,
            Integer::I64 => Number::I64,
            Integer::U64 => Number::U64,
        },
    })
}

/// The number where it is smaller than its lane.
pub(super) fn narrow(s: Scalar) -> Option<Narrow> {
    match s {
        Scalar::I8 => Some(Narrow::I8),
        Scalar::U8 => Some(Narrow::U8),
        Scalar::I16 => Some(Narrow::I16),
        Scalar::U16 => Some(Narrow::U16),
        Scalar::Bool | Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 => None,
    }
}

/// The width of a number whose bits are asked for.
pub(super) fn width(s: Scalar) -> Result<Width> {
    match s.bits() {
        32 => Ok(Width::W32),
        64 => Ok(Width::W64),
        _ => Err(Unsupported("a bit function of a narrow number")),
    }
}

/// The element of a number in memory.
pub(super) fn element(s: Scalar) -> Element {
    match s {
        Scalar::Bool => Element::B1,
        Scalar::I8 => Element::I8,
        Scalar::U8 => Element::U8,
        Scalar::I16 => Element::I16,
        Scalar::U16 => Element::U16,
        Scalar::I32 | Scalar::U32 => Element::I32,
        Scalar::I64 | Scalar::U64 => Element::I64,
        Scalar::F32 => Element::F32,
        Scalar::F64 => Element::F64,
    }
}

/// Elements as large as the lanes that hold a number.
pub(super) fn whole(s: Scalar) -> Element {
    match vector(s) {
        Vector::F32 => Element::F32,
        Vector::F64 => Element::F64,
        Vector::I32 => Element::I32,
        Vector::I64 => Element::I64,
        Vector::Mask => Element::B1,
    }
}

/// As [`element`], of what is stored: the sign makes no difference.
pub(super) fn stored(s: Scalar) -> Element {
    match s {
        Scalar::U8 => Element::I8,
        Scalar::U16 => Element::I16,
        other => element(other),
    }
}

/// The cell of a number in atomics.
pub(super) fn cell(s: Scalar) -> Result<Cell> {
    match s {
        Scalar::I32 => Ok(Cell::I32),
        Scalar::U32 => Ok(Cell::U32),
        Scalar::I64 => Ok(Cell::I64),
        Scalar::U64 => Ok(Cell::U64),
        Scalar::F32 => Ok(Cell::F32),
        Scalar::F64 => Ok(Cell::F64),
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Err(Unsupported("such an atomic")),
    }
}

/// The least and the most of a narrow type.
pub(super) fn range(s: Scalar) -> (i64, i64) {
    let bits = s.bits();
    if s.is_signed() { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

//! Types of the lane IR.

use std::fmt;
use std::rc::Rc;

/// The kind of number that 16 lanes hold. Lanes of a kind have no sign: operations have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 32-bit floats.
    F32,
    /// 32-bit integers; 8- and 16-bit numbers are kept extended in them.
    I32,
    /// 64-bit floats.
    F64,
    /// 64-bit integers, and offsets in bytes.
    I64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::F32, Kind::I32, Kind::F64, Kind::I64];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::F32 => "f32",
            Kind::I32 => "i32",
            Kind::F64 => "f64",
            Kind::I64 => "i64",
        }
    }

    /// True if lanes are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }

    /// One lane.
    pub const fn scalar(self) -> Ty {
        match self {
            Kind::F32 => Ty::F32,
            Kind::F64 => Ty::F64,
            Kind::I32 => Ty::int(32, true),
            Kind::I64 => Ty::int(64, true),
        }
    }
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ty {
    /// No value.
    Void,
    /// An integer of 8 to 128 bits.
    Int {
        /// The number of bits.
        bits: u8,
        /// True if it has a sign.
        signed: bool,
    },
    /// 0 or 1, a byte in memory.
    Bool,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
    /// A mask: a bit for each of 16 lanes.
    Mask,
    /// 16 lanes.
    Lanes(Kind),
    /// An address of such a thing.
    Ptr(Rc<Ty>),
    /// So many of a thing, in memory.
    Array(Rc<Ty>, u32),
    /// The record of the fault of the lowest thread.
    State,
    /// The address of a function of this process.
    Fn(Rc<Ty>, Rc<[Ty]>),
}

impl Ty {
    /// An integer.
    pub const fn int(bits: u8, signed: bool) -> Self {
        Ty::Int { bits, signed }
    }

    /// The type of what an operation gives; of an integer of any type, and of an address, none.
    pub const fn of(operand: Operand) -> Self {
        match operand {
            Operand::Lanes(kind) => Ty::Lanes(kind),
            Operand::Mask => Ty::Mask,
            Operand::Int { bits, signed } => Ty::int(bits, signed),
            Operand::Truth => Ty::Bool,
            Operand::F32 => Ty::F32,
            Operand::F64 => Ty::F64,
            Operand::Nothing | Operand::Any | Operand::Place | Operand::State | Operand::Function => Ty::Void,
        }
    }

    /// Bytes in memory.
    pub fn size(&self) -> u32 {
        match self {
            Ty::Void | Ty::State | Ty::Bool => 1,
            Ty::Int { bits, .. } => u32::from(bits / 8),
            Ty::F32 => 4,
            Ty::Mask => 2,
            Ty::F64 | Ty::Ptr(_) | Ty::Fn(..) => 8,
            Ty::Lanes(Kind::F32 | Kind::I32) => 64,
            Ty::Lanes(Kind::F64 | Kind::I64) => 128,
            Ty::Array(of, count) => of.size() * count,
        }
    }

    /// The type of the value: of an array and the state, an address.
    pub fn decayed(&self) -> Ty {
        match self {
            Ty::Array(of, _) => Ty::Ptr(of.clone()),
            Ty::State => Ty::Ptr(Rc::new(Ty::State)),
            other => other.clone(),
        }
    }

    /// True if it is an integer, a truth value, a float or an address.
    pub fn is_number(&self) -> bool {
        matches!(self, Ty::Int { .. } | Ty::Bool | Ty::F32 | Ty::F64 | Ty::Ptr(_) | Ty::Fn(..))
    }

    /// True if it is a float.
    pub fn is_float(&self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Void => f.write_str("void"),
            Ty::Int { bits, signed } => write!(f, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Ty::Bool => f.write_str("bool"),
            Ty::F32 => f.write_str("f32"),
            Ty::F64 => f.write_str("f64"),
            Ty::Mask => f.write_str("mask"),
            Ty::Lanes(kind) => write!(f, "{}x16", kind.name()),
            Ty::Ptr(of) => write!(f, "*{of}"),
            Ty::Array(of, count) => write!(f, "[{of}; {count}]"),
            Ty::State => f.write_str("state"),
            Ty::Fn(gives, params) => {
                f.write_str("fn(")?;
                for (i, ty) in params.iter().enumerate() {
                    write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
                }
                write!(f, ") -> {gives}")
            }
        }
    }
}

/// The type of an operand or a result, by its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Lanes of a kind.
    Lanes(Kind),
    /// The kind of lanes.
    Mask,
    /// A number that is converted to this type.
    Int {
        /// The number of bits.
        bits: u8,
        /// True if it has a sign.
        signed: bool,
    },
    /// A truth value: as an operand any number but a float, or a mask, that is not zero.
    Truth,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
    /// An address.
    Place,
    /// The address of the state.
    State,
    /// An integer of any type. Given: of the type of the first operand, made unsigned by shifts to the left and of truth values.
    Any,
    /// The address of a function of lanes of a kind, one lane at a time.
    Function,
    /// No value.
    Nothing,
}

/// Operands by short names, as the tables have them: lanes, masks, then single numbers.
pub(super) mod short {
    use super::{Kind, Operand};

    pub const F32: Operand = Operand::Lanes(Kind::F32);
    pub const F64: Operand = Operand::Lanes(Kind::F64);
    pub const I32: Operand = Operand::Lanes(Kind::I32);
    pub const I64: Operand = Operand::Lanes(Kind::I64);
    pub const MASK: Operand = Operand::Mask;
    pub const ONE_F32: Operand = Operand::F32;
    pub const ONE_F64: Operand = Operand::F64;
    pub const ONE_I32: Operand = Operand::Int { bits: 32, signed: true };
    pub const ONE_U32: Operand = Operand::Int { bits: 32, signed: false };
    pub const ONE_I64: Operand = Operand::Int { bits: 64, signed: true };
    pub const ONE_U64: Operand = Operand::Int { bits: 64, signed: false };
    pub const TRUTH: Operand = Operand::Truth;
    pub const PLACE: Operand = Operand::Place;
    pub const STATE: Operand = Operand::State;
    pub const ANY: Operand = Operand::Any;
    pub const FUNCTION: Operand = Operand::Function;
    pub const NOTHING: Operand = Operand::Nothing;
}

/// The number of bits of an integer, and true if it has a sign.
pub fn bits_of(ty: &Ty) -> (u8, bool) {
    match ty {
        Ty::Int { bits, signed } => (*bits, *signed),
        Ty::Bool => (8, false),
        _ => (64, false),
    }
}

/// The type that two numbers are brought to.
pub fn common(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        (Ty::F64, _) | (_, Ty::F64) => Ty::F64,
        (Ty::F32, _) | (_, Ty::F32) => Ty::F32,
        (Ty::Ptr(_), _) => a.clone(),
        (_, Ty::Ptr(_)) => b.clone(),
        _ => {
            let ((x, sx), (y, sy)) = (bits_of(a), bits_of(b));
            match x.cmp(&y) {
                std::cmp::Ordering::Equal => Ty::int(x.max(32), (sx && sy) || x < 32),
                std::cmp::Ordering::Greater => Ty::int(x.max(32), sx || x < 32),
                std::cmp::Ordering::Less => Ty::int(y.max(32), sy || y < 32),
            }
        }
    }
}

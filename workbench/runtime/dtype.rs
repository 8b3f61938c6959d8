//! Element types of arrays.

use std::fmt;

use crate::ir::{Elem, Scalar};

/// The element type of an array, by NumPy's and torch's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Unsigned, 8 bits.
    UInt8,
    /// Signed, 16 bits.
    Int16,
    /// Unsigned, 16 bits.
    UInt16,
    /// Signed, 32 bits.
    Int32,
    /// Unsigned, 32 bits.
    UInt32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 64 bits.
    UInt64,
    /// IEEE binary16: `__half`.
    Float16,
    /// The upper half of a binary32: `__nv_bfloat16`; NumPy has it from `ml_dtypes`.
    BFloat16,
    /// IEEE binary32.
    Float32,
    /// IEEE binary64.
    Float64,
}

impl DType {
    /// Writes a number to the bytes of an element; integers take it truncated, from 0 to 127.
    pub fn write(self, element: &mut [u8], number: f32) {
        element.fill(0);
        match self {
            DType::Float64 => element.copy_from_slice(&f64::from(number).to_ne_bytes()),
            DType::Float32 => element.copy_from_slice(&number.to_ne_bytes()),
            DType::Float16 => element.copy_from_slice(&half::f16::from_f32(number).to_ne_bytes()),
            DType::BFloat16 => element.copy_from_slice(&half::bf16::from_f32(number).to_ne_bytes()),
            DType::Bool => element[0] = u8::from(number >= 1.0),
            // Integers are written little end first, as on every machine here.
            _ => element[0] = number.clamp(0.0, 127.0) as u8,
        }
    }

    /// Every element type.
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::Int8,
        DType::UInt8,
        DType::Int16,
        DType::UInt16,
        DType::Int32,
        DType::UInt32,
        DType::Int64,
        DType::UInt64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
    ];

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Int8 => "int8",
            DType::UInt8 => "uint8",
            DType::Int16 => "int16",
            DType::UInt16 => "uint16",
            DType::Int32 => "int32",
            DType::UInt32 => "uint32",
            DType::Int64 => "int64",
            DType::UInt64 => "uint64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
        }
    }

    /// The type of a NumPy name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Size of an element in bytes.
    pub fn size(self) -> usize {
        Elem::from(self).size() as usize
    }

    /// True if it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
    }

    /// The scalar that elements are; `None` for 16-bit floats.
    pub fn scalar(self) -> Option<Scalar> {
        Elem::from(self).scalar()
    }
}

impl From<DType> for Elem {
    fn from(d: DType) -> Elem {
        match d {
            DType::Bool => Elem::Scalar(Scalar::Bool),
            DType::Int8 => Elem::Scalar(Scalar::I8),
            DType::UInt8 => Elem::Scalar(Scalar::U8),
            DType::Int16 => Elem::Scalar(Scalar::I16),
            DType::UInt16 => Elem::Scalar(Scalar::U16),
            DType::Int32 => Elem::Scalar(Scalar::I32),
            DType::UInt32 => Elem::Scalar(Scalar::U32),
            DType::Int64 => Elem::Scalar(Scalar::I64),
            DType::UInt64 => Elem::Scalar(Scalar::U64),
            DType::Float16 => Elem::F16,
            DType::BFloat16 => Elem::BF16,
            DType::Float32 => Elem::Scalar(Scalar::F32),
            DType::Float64 => Elem::Scalar(Scalar::F64),
        }
    }
}

impl From<Elem> for DType {
    fn from(e: Elem) -> DType {
        match e {
            Elem::Scalar(s) => DType::from(s),
            Elem::F16 => DType::Float16,
            Elem::BF16 => DType::BFloat16,
        }
    }
}

impl From<Scalar> for DType {
    fn from(s: Scalar) -> DType {
        match s {
            Scalar::Bool => DType::Bool,
            Scalar::I8 => DType::Int8,
            Scalar::U8 => DType::UInt8,
            Scalar::I16 => DType::Int16,
            Scalar::U16 => DType::UInt16,
            Scalar::I32 => DType::Int32,
            Scalar::U32 => DType::UInt32,
            Scalar::I64 => DType::Int64,
            Scalar::U64 => DType::UInt64,
            Scalar::F32 => DType::Float32,
            Scalar::F64 => DType::Float64,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

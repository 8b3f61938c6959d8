//! The types of values, constants, built-in variables and the units of pointer arithmetic.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

/// A scalar type; integers carry their signedness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// One byte, 0 or 1.
    Bool,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Scalar {
    /// Size in bytes, which is also the alignment.
    pub fn size(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        self.size() * 8
    }

    /// `F32` or `F64`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// An integer type; `Bool` is none.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Scalar::Bool
    }

    /// A signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The name in the textual IR: `i32`, `u8`, `f64`, `bool`.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The CUDA C++ spelling: `int`, `unsigned char`, `long long`.
    pub fn c_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "signed char",
            Scalar::U8 => "unsigned char",
            Scalar::I16 => "short",
            Scalar::U16 => "unsigned short",
            Scalar::I32 => "int",
            Scalar::U32 => "unsigned int",
            Scalar::I64 => "long long",
            Scalar::U64 => "unsigned long long",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number or a truth value.
    Scalar(Scalar),
    /// An opaque pointer with its buffer.
    Ptr,
}

impl Type {
    /// Size in the memory a kernel's text can see.
    pub fn size(self) -> u32 {
        match self {
            Type::Scalar(s) => s.size(),
            Type::Ptr => 8,
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) => Some(s),
            Type::Ptr => None,
        }
    }
}

impl From<Scalar> for Type {
    fn from(s: Scalar) -> Self {
        Type::Scalar(s)
    }
}

/// A constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// An integer of the scalar type: its bits, sign- or zero-extended to 64 by the type's signedness.
    Int(Scalar, i64),
    /// A binary32 number.
    F32(f32),
    /// A binary64 number.
    F64(f64),
    /// The null pointer.
    Null,
}

/// Hashes the bits, because equal floats may have different bits.
impl Hash for Const {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Const::Bool(b) => (0u8, b).hash(state),
            Const::Int(scalar, n) => (1u8, scalar, n).hash(state),
            Const::F32(x) => (2u8, x.to_bits()).hash(state),
            Const::F64(x) => (3u8, x.to_bits()).hash(state),
            Const::Null => 4u8.hash(state),
        }
    }
}

impl Const {
    /// The type of the constant.
    pub fn ty(self) -> Type {
        match self {
            Const::Bool(_) => Type::Scalar(Scalar::Bool),
            Const::Int(s, _) => Type::Scalar(s),
            Const::F32(_) => Type::Scalar(Scalar::F32),
            Const::F64(_) => Type::Scalar(Scalar::F64),
            Const::Null => Type::Ptr,
        }
    }

    /// Its bytes in memory, little endian; null is eight zeros.
    pub fn bytes(self) -> SmallVec<[u8; 8]> {
        match self {
            Const::Bool(b) => SmallVec::from_slice(&[u8::from(b)]),
            Const::Int(s, v) => SmallVec::from_slice(&v.to_le_bytes()[..s.size() as usize]),
            Const::F32(v) => SmallVec::from_slice(&v.to_le_bytes()),
            Const::F64(v) => SmallVec::from_slice(&v.to_le_bytes()),
            Const::Null => SmallVec::from_slice(&[0; 8]),
        }
    }
}

/// Built-in variables of a thread; each is a `u32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `threadIdx` of a dimension (0 = x, 1 = y, 2 = z).
    ThreadIdx(u8),
    /// `blockIdx`.
    BlockIdx(u8),
    /// `blockDim`.
    BlockDim(u8),
    /// `gridDim`.
    GridDim(u8),
}

/// The unit of pointer arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Elements of a scalar type.
    Elem(Scalar),
    /// A size in bytes (arrays of arrays, structs, pointers).
    Bytes(u32),
}

impl Stride {
    /// The unit in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Stride::Elem(s) => s.size(),
            Stride::Bytes(b) => b,
        }
    }
}

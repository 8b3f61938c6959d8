//! C types, and things with a C type: variables, arrays, functions.

/// A C type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

use Ty::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// Types, repeated by how often they are wanted.
pub const TYPES: [Ty; 22] =
    [F32, F32, F32, F32, F32, F32, I32, I32, I32, I32, I32, U32, U32, U32, F64, F64, I64, U64, I16, U8, U16, I8];

/// The number of [`TYPES`], from the first, that most kernels keep to.
pub const COMMON: usize = 16;

impl Ty {
    pub fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "signed char",
            U8 => "unsigned char",
            I16 => "short",
            U16 => "unsigned short",
            I32 => "int",
            U32 => "unsigned",
            I64 => "long long",
            U64 => "unsigned long long",
            F32 => "float",
            F64 => "double",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, F32 | F64)
    }

    pub fn is_narrow(self) -> bool {
        matches!(self, Bool | I8 | U8 | I16 | U16)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, I32 | I64)
    }

    pub fn bits(self) -> u32 {
        if matches!(self, I64 | U64) { 64 } else { 32 }
    }
}

/// A variable in scope.
#[derive(Debug, Clone)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    pub mutable: bool,
    /// True if it is the same for all threads of a block.
    pub uniform: bool,
    /// For an integer that is never negative, the most it can be.
    pub max: Option<usize>,
}

/// A local array in scope; its length is a power of two.
#[derive(Debug, Clone)]
pub struct Array {
    pub name: String,
    pub ty: Ty,
    pub len: usize,
}

/// A function that may be called.
#[derive(Debug, Clone)]
pub struct Helper {
    pub name: String,
    pub params: Vec<Ty>,
    pub ret: Ty,
    /// True if it calls warp functions.
    pub warp: bool,
}

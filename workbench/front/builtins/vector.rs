//! CUDA's vector types (`vector_types.h`): components and alignment.

use crate::front::types::Num;

/// A vector type.
#[derive(Debug)]
pub struct Vector {
    /// `float4`
    pub name: &'static str,
    /// Type of its components.
    pub num: Num,
    /// Number of its components.
    pub len: u32,
    /// The alignment in bytes.
    pub align: u32,
}

macro_rules! vectors {
    ($($num:ident: $one:literal $two:literal $three:literal $four:literal, $a1:literal $a2:literal $a3:literal $a4:literal;)*) => {
        &[$(
            Vector { name: $one, num: Num::$num, len: 1, align: $a1 },
            Vector { name: $two, num: Num::$num, len: 2, align: $a2 },
            Vector { name: $three, num: Num::$num, len: 3, align: $a3 },
            Vector { name: $four, num: Num::$num, len: 4, align: $a4 },
        )*
        Vector { name: "dim3", num: Num::UInt, len: 3, align: 4 },
        ]
    };
}

/// The alignments are the "Alignment Requirements" of the CUDA C++ Programming Guide; `long` has 64 bits here.
const TABLE: &[Vector] = vectors! {
    SChar: "char1" "char2" "char3" "char4", 1 2 1 4;
    UChar: "uchar1" "uchar2" "uchar3" "uchar4", 1 2 1 4;
    Short: "short1" "short2" "short3" "short4", 2 4 2 8;
    UShort: "ushort1" "ushort2" "ushort3" "ushort4", 2 4 2 8;
    Int: "int1" "int2" "int3" "int4", 4 8 4 16;
    UInt: "uint1" "uint2" "uint3" "uint4", 4 8 4 16;
    Long: "long1" "long2" "long3" "long4", 8 16 8 16;
    ULong: "ulong1" "ulong2" "ulong3" "ulong4", 8 16 8 16;
    LongLong: "longlong1" "longlong2" "longlong3" "longlong4", 8 16 8 16;
    ULongLong: "ulonglong1" "ulonglong2" "ulonglong3" "ulonglong4", 8 16 8 16;
    Float: "float1" "float2" "float3" "float4", 4 8 4 16;
    Double: "double1" "double2" "double3" "double4", 8 16 8 16;
};

/// The vector type of a name.
pub fn vector(name: &str) -> Option<&'static Vector> {
    let end = name.as_bytes().last()?;
    if !matches!(end, b'1'..=b'4') {
        return None;
    }
    TABLE.iter().find(|v| v.name == name)
}

/// Every name.
pub fn vector_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|v| v.name)
}

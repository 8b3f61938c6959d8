//! Operations that come in families: a family's function gives the operation for what lanes hold. A type of lanes that a family lacks is none
//! of its argument's, so an operation that is not there cannot be written.

use super::table::LaneOp;
use super::types::{Kind, Ty};

/// 16 lanes of a kind, or a mask: what 16 threads have of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vector {
    /// 32-bit floats.
    F32,
    /// 32-bit integers.
    I32,
    /// 64-bit floats.
    F64,
    /// 64-bit integers.
    I64,
    /// Truth values.
    Mask,
}

impl Vector {
    /// The kind of its lanes; a mask has none.
    pub const fn kind(self) -> Option<Kind> {
        match self {
            Vector::F32 => Some(Kind::F32),
            Vector::I32 => Some(Kind::I32),
            Vector::F64 => Some(Kind::F64),
            Vector::I64 => Some(Kind::I64),
            Vector::Mask => None,
        }
    }

    /// Its type.
    pub const fn ty(self) -> Ty {
        match self.kind() {
            Some(kind) => Ty::Lanes(kind),
            None => Ty::Mask,
        }
    }
}

/// Floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Real {
    F32,
    F64,
}

/// Integers, of which the sign makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Word {
    I32,
    I64,
}

/// Integers, with a sign or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Integer {
    I32,
    U32,
    I64,
    U64,
}

/// Floats and integers, with a sign or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Number {
    F32,
    F64,
    I32,
    U32,
    I64,
    U64,
}

/// Integers kept in 32-bit lanes that are smaller than these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Narrow {
    I8,
    U8,
    I16,
    U16,
}

/// Bits of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say what they are")]
pub enum Width {
    W32,
    W64,
}

/// Makes families of one record each: a line, its name, what it is of, and for each case of that the operation.
macro_rules! families {
    ($($(#[doc = $doc:literal])+ $name:ident $Of:ident { $($Case:ident $Op:ident),+ })*) => {$(
        $(#[doc = $doc])+
        pub const fn $name(of: $Of) -> LaneOp {
            match of {
                $($Of::$Case => LaneOp::$Op,)+
            }
        }
    )*};
}

families! {
    /// One number in all lanes.
    splat Vector { F32 SplatF32, F64 SplatF64, I32 SplatI32, I64 SplatI64, Mask SplatB1 }
    /// Numbers a step apart.
    line Word { I32 LineI32, I64 LineI64 }
    /// The sum.
    add Kind { F32 AddF32, F64 AddF64, I32 AddI32, I64 AddI64 }
    /// The difference.
    sub Kind { F32 SubF32, F64 SubF64, I32 SubI32, I64 SubI64 }
    /// The product.
    mul Kind { F32 MulF32, F64 MulF64, I32 MulI32, I64 MulI64 }
    /// The other sign.
    neg Kind { F32 NegF32, F64 NegF64, I32 NegI32, I64 NegI64 }
    /// The quotient.
    div Real { F32 DivF32, F64 DivF64 }
    /// A product and a sum, rounded once.
    fma Real { F32 FmaF32, F64 FmaF64 }
    /// The smaller one; the second where both are equal.
    min2 Real { F32 Min2F32, F64 Min2F64 }
    /// The larger one; the second where both are equal.
    max2 Real { F32 Max2F32, F64 Max2F64 }
    /// CUDA's `fmin`.
    fmin Real { F32 FminF32, F64 FminF64 }
    /// CUDA's `fmax`.
    fmax Real { F32 FmaxF32, F64 FmaxF64 }
    /// CUDA's `fdim`.
    fdim Real { F32 FdimF32, F64 FdimF64 }
    /// The first with the sign of the second.
    copysign Real { F32 CopysignF32, F64 CopysignF64 }
    /// The next number towards the second.
    nextafter Real { F32 NextafterF32, F64 NextafterF64 }
    /// The exponent as a float.
    logb Real { F32 LogbF32, F64 LogbF64 }
    /// The absolute value.
    fabs Real { F32 FabsF32, F64 FabsF64 }
    /// The square root.
    sqrt Real { F32 SqrtF32, F64 SqrtF64 }
    /// The nearest integer.
    rint Real { F32 RintF32, F64 RintF64 }
    /// The next lower integer.
    floor Real { F32 FloorF32, F64 FloorF64 }
    /// The next higher integer.
    ceil Real { F32 CeilF32, F64 CeilF64 }
    /// The next integer towards zero.
    trunc Real { F32 TruncF32, F64 TruncF64 }
    /// The nearest integer, halves away from zero.
    round Real { F32 RoundF32, F64 RoundF64 }
    /// Bits of both.
    and Word { I32 AndI32, I64 AndI64 }
    /// Bits of either.
    or Word { I32 OrI32, I64 OrI64 }
    /// Bits of one alone.
    xor Word { I32 XorI32, I64 XorI64 }
    /// The other bits.
    not Word { I32 NotI32, I64 NotI64 }
    /// To the left.
    shl Word { I32 ShlI32, I64 ShlI64 }
    /// To the right.
    shr Integer { I32 ShrI32, U32 ShrU32, I64 ShrI64, U64 ShrU64 }
    /// The smaller integer.
    min Integer { I32 MinI32, U32 MinU32, I64 MinI64, U64 MinU64 }
    /// The larger integer.
    max Integer { I32 MaxI32, U32 MaxU32, I64 MaxI64, U64 MaxU64 }
    /// The high half of the product.
    mulhi Integer { I32 MulhiI32, U32 MulhiU32, I64 MulhiI64, U64 MulhiU64 }
    /// The quotient of integers.
    quotient Integer { I32 DivI32, U32 DivU32, I64 DivI64, U64 DivU64 }
    /// The rest of integers.
    rest Integer { I32 RemI32, U32 RemU32, I64 RemI64, U64 RemU64 }
    /// Wrapped to fewer bits.
    fit Narrow { I8 FitI8, U8 FitU8, I16 FitI16, U16 FitU16 }
    /// The zeros that lead.
    clz Width { W32 Clz32, W64 Clz64 }
    /// The bits that are set.
    popc Width { W32 Popc32, W64 Popc64 }
    /// The place of the lowest bit.
    ffs Width { W32 Ffs32, W64 Ffs64 }
    /// The bits in the other order.
    brev Width { W32 Brev32, W64 Brev64 }
    /// Lanes where both are equal.
    eq Number { F32 EqF32, F64 EqF64, I32 EqI32, U32 EqU32, I64 EqI64, U64 EqU64 }
    /// Lanes where both differ.
    ne Number { F32 NeF32, F64 NeF64, I32 NeI32, U32 NeU32, I64 NeI64, U64 NeU64 }
    /// Lanes where the first is less.
    lt Number { F32 LtF32, F64 LtF64, I32 LtI32, U32 LtU32, I64 LtI64, U64 LtU64 }
    /// Lanes where the first is less, or both are equal.
    le Number { F32 LeF32, F64 LeF64, I32 LeI32, U32 LeU32, I64 LeI64, U64 LeU64 }
    /// Lanes where the first is greater.
    gt Number { F32 GtF32, F64 GtF64, I32 GtI32, U32 GtU32, I64 GtI64, U64 GtU64 }
    /// Lanes where the first is greater, or both are equal.
    ge Number { F32 GeF32, F64 GeF64, I32 GeI32, U32 GeU32, I64 GeI64, U64 GeU64 }
    /// The first where the mask is set, else the second.
    select Vector { F32 SelectF32, F64 SelectF64, I32 SelectI32, I64 SelectI64, Mask SelectB1 }
    /// 1 where the mask is set, else 0.
    of_truth Kind { F32 B1ToF32, F64 B1ToF64, I32 B1ToI32, I64 B1ToI64 }
    /// Lanes where it is not zero.
    truth Kind { F32 TruthF32, F64 TruthF64, I32 TruthI32, I64 TruthI64 }
    /// A float as an integer.
    of_f32 Integer { I32 F32ToI32, U32 F32ToU32, I64 F32ToI64, U64 F32ToU64 }
    /// A double as an integer.
    of_f64 Integer { I32 F64ToI32, U32 F64ToU32, I64 F64ToI64, U64 F64ToU64 }
    /// An integer as a float.
    to_f32 Integer { I32 I32ToF32, U32 U32ToF32, I64 I64ToF32, U64 U64ToF32 }
    /// An integer as a double.
    to_f64 Integer { I32 I32ToF64, U32 U32ToF64, I64 I64ToF64, U64 U64ToF64 }
    /// One lane.
    lane Kind { F32 LaneF32, F64 LaneF64, I32 LaneI32, I64 LaneI64 }
    /// Lanes of two vectors by their numbers.
    take Kind { F32 TakeF32, F64 TakeF64, I32 TakeI32, I64 TakeI64 }
    /// A function of one number for each lane.
    each1 Real { F32 Each1F32, F64 Each1F64 }
    /// A function of two numbers for each lane.
    each2 Real { F32 Each2F32, F64 Each2F64 }
    /// A function of three numbers for each lane.
    each3 Real { F32 Each3F32, F64 Each3F64 }
}

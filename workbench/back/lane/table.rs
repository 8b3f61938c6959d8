//! The table of operations: what lanes are computed by, one record each.
//!
//! An operation is of lanes ([`LaneOp`], this page), of one number ([`NumberOp`]), an access of memory ([`MemoryOp`]), an atomic
//! ([`Atomic`]), or about faults ([`FaultOp`]). Its name is what C calls it, in the preludes of `back::cpu::wide` too. A record is written
//! `/// What it gives.` and `Name "c_name" (operands) -> result, what it does with NaN;`.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

pub use super::atomic::{Atomic, Cell, Form, Update};
pub use super::memory::{Access, Element, MemoryOp, Space};
pub use super::number::{FaultOp, NumberOp};
use super::types::short::*;
pub use super::types::{Kind, Operand};

/// The rule of an operation for NaN among its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nan {
    /// Floats are not among its operands.
    Never,
    /// NaN is the result.
    Spreads,
    /// A NaN loses to a number; of two NaNs it gives one.
    Loses,
    /// The second operand is the result where either is NaN.
    Second,
    /// Bits are moved as they are.
    Moves,
    /// False or zero is the result.
    Zero,
    /// True is the result.
    True,
    /// The integer whose top bit alone is set is the result.
    TopBit,
    /// Any value may be the result.
    Anything,
}

/// Makes an enum of operations of one record each.
macro_rules! operations {
    ($(#[doc = $about:literal])+ $Enum:ident { $($(#[doc = $doc:literal])+ $Name:ident $name:literal ($($operand:expr),*) -> $gives:expr, $nan:ident;)* }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $Enum {
            $($(#[doc = $doc])+ $Name,)*
        }

        impl $Enum {
            /// All of them.
            pub const ALL: &'static [$Enum] = &[$($Enum::$Name),*];

            /// The name in C.
            pub const fn name(self) -> &'static str {
                match self {
                    $($Enum::$Name => $name,)*
                }
            }

            /// The types of the operands.
            pub const fn operands(self) -> &'static [$crate::back::lane::types::Operand] {
                match self {
                    $($Enum::$Name => &[$($operand),*],)*
                }
            }

            /// The type of the result.
            pub const fn gives(self) -> $crate::back::lane::types::Operand {
                match self {
                    $($Enum::$Name => $gives,)*
                }
            }

            /// The rule for NaN among the operands.
            pub const fn nan(self) -> $crate::back::lane::table::Nan {
                match self {
                    $($Enum::$Name => $crate::back::lane::table::Nan::$nan,)*
                }
            }

            /// The meaning, in a line.
            pub const fn about(self) -> &'static str {
                match self {
                    $($Enum::$Name => concat!($($doc),+),)*
                }
            }
        }
    };
}
pub(super) use operations;

operations! {
    /// An operation of 16 lanes.
    LaneOp {
        /// One number in all lanes.
        SplatF32 "splat_f32" (ONE_F32) -> F32, Moves;
        /// One number in all lanes.
        SplatF64 "splat_f64" (ONE_F64) -> F64, Moves;
        /// One number in all lanes.
        SplatI32 "splat_i32" (ONE_I32) -> I32, Never;
        /// One number in all lanes.
        SplatI64 "splat_i64" (ONE_I64) -> I64, Never;
        /// All lanes or none.
        SplatB1 "splat_b1" (TRUTH) -> MASK, Never;
        /// Numbers a step apart: the first, the step.
        LineI32 "line_i32" (ONE_I32, ONE_I32) -> I32, Never;
        /// Numbers a step apart: the first, the step.
        LineI64 "line_i64" (ONE_I64, ONE_I64) -> I64, Never;

        /// The sum.
        AddF32 "add_f32" (F32, F32) -> F32, Spreads;
        /// The sum.
        AddF64 "add_f64" (F64, F64) -> F64, Spreads;
        /// The sum, which wraps around.
        AddI32 "add_i32" (I32, I32) -> I32, Never;
        /// The sum, which wraps around.
        AddI64 "add_i64" (I64, I64) -> I64, Never;
        /// The difference.
        SubF32 "sub_f32" (F32, F32) -> F32, Spreads;
        /// The difference.
        SubF64 "sub_f64" (F64, F64) -> F64, Spreads;
        /// The difference, which wraps around.
        SubI32 "sub_i32" (I32, I32) -> I32, Never;
        /// The difference, which wraps around.
        SubI64 "sub_i64" (I64, I64) -> I64, Never;
        /// The product.
        MulF32 "mul_f32" (F32, F32) -> F32, Spreads;
        /// The product.
        MulF64 "mul_f64" (F64, F64) -> F64, Spreads;
        /// The product, which wraps around.
        MulI32 "mul_i32" (I32, I32) -> I32, Never;
        /// The product, which wraps around.
        MulI64 "mul_i64" (I64, I64) -> I64, Never;
        /// The quotient.
        DivF32 "div_f32" (F32, F32) -> F32, Spreads;
        /// The quotient.
        DivF64 "div_f64" (F64, F64) -> F64, Spreads;
        /// A product and a sum, rounded once.
        FmaF32 "fma_f32" (F32, F32, F32) -> F32, Spreads;
        /// A product and a sum, rounded once.
        FmaF64 "fma_f64" (F64, F64, F64) -> F64, Spreads;
        /// The smaller one; the second where both are equal.
        Min2F32 "min2_f32" (F32, F32) -> F32, Second;
        /// The smaller one; the second where both are equal.
        Min2F64 "min2_f64" (F64, F64) -> F64, Second;
        /// The larger one; the second where both are equal.
        Max2F32 "max2_f32" (F32, F32) -> F32, Second;
        /// The larger one; the second where both are equal.
        Max2F64 "max2_f64" (F64, F64) -> F64, Second;
        /// CUDA's `fmin`: of two zeros the negative one.
        FminF32 "fmin_f32" (F32, F32) -> F32, Loses;
        /// CUDA's `fmin`: of two zeros the negative one.
        FminF64 "fmin_f64" (F64, F64) -> F64, Loses;
        /// CUDA's `fmax`: of two zeros the positive one.
        FmaxF32 "fmax_f32" (F32, F32) -> F32, Loses;
        /// CUDA's `fmax`: of two zeros the positive one.
        FmaxF64 "fmax_f64" (F64, F64) -> F64, Loses;
        /// CUDA's `fdim`: the first minus the second where that is positive, else zero.
        FdimF32 "fdim_f32" (F32, F32) -> F32, Spreads;
        /// CUDA's `fdim`: the first minus the second where that is positive, else zero.
        FdimF64 "fdim_f64" (F64, F64) -> F64, Spreads;
        /// The first with the sign of the second.
        CopysignF32 "copysign_f32" (F32, F32) -> F32, Moves;
        /// The first with the sign of the second.
        CopysignF64 "copysign_f64" (F64, F64) -> F64, Moves;
        /// The next number after the first towards the second; the second where both are equal.
        NextafterF32 "nextafter_f32" (F32, F32) -> F32, Spreads;
        /// The next number after the first towards the second; the second where both are equal.
        NextafterF64 "nextafter_f64" (F64, F64) -> F64, Spreads;
        /// The exponent as a float: of zero it is negative infinity, of infinities infinity.
        LogbF32 "logb_f32" (F32) -> F32, Spreads;
        /// The exponent as a float: of zero it is negative infinity, of infinities infinity.
        LogbF64 "logb_f64" (F64) -> F64, Spreads;
        /// The other sign.
        NegF32 "neg_f32" (F32) -> F32, Moves;
        /// The other sign.
        NegF64 "neg_f64" (F64) -> F64, Moves;
        /// Zero minus it, which wraps around.
        NegI32 "neg_i32" (I32) -> I32, Never;
        /// Zero minus it, which wraps around.
        NegI64 "neg_i64" (I64) -> I64, Never;
        /// Without its sign.
        FabsF32 "fabs_f32" (F32) -> F32, Moves;
        /// Without its sign.
        FabsF64 "fabs_f64" (F64) -> F64, Moves;
        /// The square root.
        SqrtF32 "sqrt_f32" (F32) -> F32, Spreads;
        /// The square root.
        SqrtF64 "sqrt_f64" (F64) -> F64, Spreads;
        /// One by the square root, as `math/reciprocal.rs` has it.
        RsqrtF32 "rsqrt_f32" (F32) -> F32, Spreads;
        /// To the nearest integer, halves to even.
        RintF32 "rint_f32" (F32) -> F32, Spreads;
        /// To the nearest integer, halves to even.
        RintF64 "rint_f64" (F64) -> F64, Spreads;
        /// To the next lower integer.
        FloorF32 "floor_f32" (F32) -> F32, Spreads;
        /// To the next lower integer.
        FloorF64 "floor_f64" (F64) -> F64, Spreads;
        /// To the next higher integer.
        CeilF32 "ceil_f32" (F32) -> F32, Spreads;
        /// To the next higher integer.
        CeilF64 "ceil_f64" (F64) -> F64, Spreads;
        /// To the next integer towards zero.
        TruncF32 "trunc_f32" (F32) -> F32, Spreads;
        /// To the next integer towards zero.
        TruncF64 "trunc_f64" (F64) -> F64, Spreads;
        /// To the nearest integer, halves away from zero.
        RoundF32 "round_f32" (F32) -> F32, Spreads;
        /// To the nearest integer, halves away from zero.
        RoundF64 "round_f64" (F64) -> F64, Spreads;
        /// The first times two to the power of the second, an integer, rounded once.
        ScaleF32 "scale_f32" (F32, F32) -> F32, Spreads;
        /// The first times two to the power of the second, an integer, rounded once.
        ScaleF64 "scale_f64" (F64, F64) -> F64, Spreads;
        /// The mantissa of a positive number, in [3/4, 3/2).
        MantissaF32 "mantissa_f32" (F32) -> F32, Spreads;
        /// The exponent of a positive number, to the mantissa that comes second.
        ExponentF32 "exponent_f32" (F32, F32) -> F32, Spreads;

        /// Bits of both.
        AndI32 "and_i32" (I32, I32) -> I32, Never;
        /// Bits of both.
        AndI64 "and_i64" (I64, I64) -> I64, Never;
        /// Bits of either.
        OrI32 "or_i32" (I32, I32) -> I32, Never;
        /// Bits of either.
        OrI64 "or_i64" (I64, I64) -> I64, Never;
        /// Bits of one alone.
        XorI32 "xor_i32" (I32, I32) -> I32, Never;
        /// Bits of one alone.
        XorI64 "xor_i64" (I64, I64) -> I64, Never;
        /// The other bits.
        NotI32 "not_i32" (I32) -> I32, Never;
        /// The other bits.
        NotI64 "not_i64" (I64) -> I64, Never;
        /// To the left; amounts at or past the width leave zero.
        ShlI32 "shl_i32" (I32, I32) -> I32, Never;
        /// To the left; amounts at or past the width leave zero.
        ShlI64 "shl_i64" (I64, I64) -> I64, Never;
        /// To the right without a sign; amounts at or past the width leave zero.
        ShrU32 "shr_u32" (I32, I32) -> I32, Never;
        /// To the right without a sign; amounts at or past the width leave zero.
        ShrU64 "shr_u64" (I64, I64) -> I64, Never;
        /// To the right with the sign; amounts at or past the width leave the sign.
        ShrI32 "shr_i32" (I32, I32) -> I32, Never;
        /// To the right with the sign; amounts at or past the width leave the sign.
        ShrI64 "shr_i64" (I64, I64) -> I64, Never;
        /// The smaller one.
        MinI32 "min_i32" (I32, I32) -> I32, Never;
        /// The smaller one, unsigned.
        MinU32 "min_u32" (I32, I32) -> I32, Never;
        /// The smaller one.
        MinI64 "min_i64" (I64, I64) -> I64, Never;
        /// The smaller one, unsigned.
        MinU64 "min_u64" (I64, I64) -> I64, Never;
        /// The larger one.
        MaxI32 "max_i32" (I32, I32) -> I32, Never;
        /// The larger one, unsigned.
        MaxU32 "max_u32" (I32, I32) -> I32, Never;
        /// The larger one.
        MaxI64 "max_i64" (I64, I64) -> I64, Never;
        /// The larger one, unsigned.
        MaxU64 "max_u64" (I64, I64) -> I64, Never;
        /// The high half of the product.
        MulhiI32 "mulhi_i32" (I32, I32) -> I32, Never;
        /// The high half of the product, unsigned.
        MulhiU32 "mulhi_u32" (I32, I32) -> I32, Never;
        /// The high half of the product.
        MulhiI64 "mulhi_i64" (I64, I64) -> I64, Never;
        /// The high half of the product, unsigned.
        MulhiU64 "mulhi_u64" (I64, I64) -> I64, Never;
        /// The quotient, towards zero; anything where the divisor is 0, or it overflows.
        DivI32 "div_i32" (I32, I32) -> I32, Never;
        /// The quotient, unsigned; anything where the divisor is 0.
        DivU32 "div_u32" (I32, I32) -> I32, Never;
        /// The quotient, towards zero; anything where the divisor is 0, or it overflows.
        DivI64 "div_i64" (I64, I64) -> I64, Never;
        /// The quotient, unsigned; anything where the divisor is 0.
        DivU64 "div_u64" (I64, I64) -> I64, Never;
        /// The rest; anything where the divisor is 0, or the quotient overflows.
        RemI32 "rem_i32" (I32, I32) -> I32, Never;
        /// The rest, unsigned; anything where the divisor is 0.
        RemU32 "rem_u32" (I32, I32) -> I32, Never;
        /// The rest; anything where the divisor is 0, or the quotient overflows.
        RemI64 "rem_i64" (I64, I64) -> I64, Never;
        /// The rest, unsigned; anything where the divisor is 0.
        RemU64 "rem_u64" (I64, I64) -> I64, Never;
        /// The quotient by one constant that is neither 0 nor -1.
        DivByI32 "div_by_i32" (I32, ONE_I32) -> I32, Never;
        /// The quotient by one constant that is not 0, unsigned.
        DivByU32 "div_by_u32" (I32, ONE_U32) -> I32, Never;
        /// The rest by one constant that is neither 0 nor -1.
        RemByI32 "rem_by_i32" (I32, ONE_I32) -> I32, Never;
        /// The rest by one constant that is not 0, unsigned.
        RemByU32 "rem_by_u32" (I32, ONE_U32) -> I32, Never;
        /// Wrapped to 8 bits, with a sign.
        FitI8 "fit_i8" (I32) -> I32, Never;
        /// Wrapped to 8 bits.
        FitU8 "fit_u8" (I32) -> I32, Never;
        /// Wrapped to 16 bits, with a sign.
        FitI16 "fit_i16" (I32) -> I32, Never;
        /// Wrapped to 16 bits.
        FitU16 "fit_u16" (I32) -> I32, Never;
        /// The number of leading zeros.
        Clz32 "clz_32" (I32) -> I32, Never;
        /// The number of leading zeros.
        Clz64 "clz_64" (I64) -> I32, Never;
        /// The number of set bits.
        Popc32 "popc_32" (I32) -> I32, Never;
        /// The number of set bits.
        Popc64 "popc_64" (I64) -> I32, Never;
        /// The place of the lowest bit, counted from 1; 0 where there is none.
        Ffs32 "ffs_32" (I32) -> I32, Never;
        /// The place of the lowest bit, counted from 1; 0 where there is none.
        Ffs64 "ffs_64" (I64) -> I32, Never;
        /// The bits in the other order.
        Brev32 "brev_32" (I32) -> I32, Never;
        /// The bits in the other order.
        Brev64 "brev_64" (I64) -> I64, Never;
        /// The bits of the `float` that the half in the low 16 bits is; NaN is quiet.
        HalfToFloat "half_to_float" (I32) -> I32, Never;
        /// The sum of the products of four bytes with signs, plus the third.
        Dot4I32 "dot4_i32" (I32, I32, I32) -> I32, Never;
        /// The sum of the products of four bytes without signs, plus the third.
        Dot4U32 "dot4_u32" (I32, I32, I32) -> I32, Never;
        /// The bits of the half that is nearest to the `float` of these bits; NaN is 0x7fff.
        FloatToHalf "float_to_half" (I32) -> I32, Never;

        /// Lanes where both are equal.
        EqF32 "eq_f32" (F32, F32) -> MASK, Zero;
        /// Lanes where both are equal.
        EqF64 "eq_f64" (F64, F64) -> MASK, Zero;
        /// Lanes where both are equal.
        EqI32 "eq_i32" (I32, I32) -> MASK, Never;
        /// Lanes where both are equal.
        EqU32 "eq_u32" (I32, I32) -> MASK, Never;
        /// Lanes where both are equal.
        EqI64 "eq_i64" (I64, I64) -> MASK, Never;
        /// Lanes where both are equal.
        EqU64 "eq_u64" (I64, I64) -> MASK, Never;
        /// Lanes where they differ.
        NeF32 "ne_f32" (F32, F32) -> MASK, True;
        /// Lanes where they differ.
        NeF64 "ne_f64" (F64, F64) -> MASK, True;
        /// Lanes where they differ.
        NeI32 "ne_i32" (I32, I32) -> MASK, Never;
        /// Lanes where they differ.
        NeU32 "ne_u32" (I32, I32) -> MASK, Never;
        /// Lanes where they differ.
        NeI64 "ne_i64" (I64, I64) -> MASK, Never;
        /// Lanes where they differ.
        NeU64 "ne_u64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is less.
        LtF32 "lt_f32" (F32, F32) -> MASK, Zero;
        /// Lanes where the first is less.
        LtF64 "lt_f64" (F64, F64) -> MASK, Zero;
        /// Lanes where the first is less.
        LtI32 "lt_i32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is less, unsigned.
        LtU32 "lt_u32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is less.
        LtI64 "lt_i64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is less, unsigned.
        LtU64 "lt_u64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is less, or both are equal.
        LeF32 "le_f32" (F32, F32) -> MASK, Zero;
        /// Lanes where the first is less, or both are equal.
        LeF64 "le_f64" (F64, F64) -> MASK, Zero;
        /// Lanes where the first is less, or both are equal.
        LeI32 "le_i32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is less, or both are equal, unsigned.
        LeU32 "le_u32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is less, or both are equal.
        LeI64 "le_i64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is less, or both are equal, unsigned.
        LeU64 "le_u64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is greater.
        GtF32 "gt_f32" (F32, F32) -> MASK, Zero;
        /// Lanes where the first is greater.
        GtF64 "gt_f64" (F64, F64) -> MASK, Zero;
        /// Lanes where the first is greater.
        GtI32 "gt_i32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is greater, unsigned.
        GtU32 "gt_u32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is greater.
        GtI64 "gt_i64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is greater, unsigned.
        GtU64 "gt_u64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is greater, or both are equal.
        GeF32 "ge_f32" (F32, F32) -> MASK, Zero;
        /// Lanes where the first is greater, or both are equal.
        GeF64 "ge_f64" (F64, F64) -> MASK, Zero;
        /// Lanes where the first is greater, or both are equal.
        GeI32 "ge_i32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is greater, or both are equal, unsigned.
        GeU32 "ge_u32" (I32, I32) -> MASK, Never;
        /// Lanes where the first is greater, or both are equal.
        GeI64 "ge_i64" (I64, I64) -> MASK, Never;
        /// Lanes where the first is greater, or both are equal, unsigned.
        GeU64 "ge_u64" (I64, I64) -> MASK, Never;

        /// The first where the mask is set, else the second.
        SelectF32 "select_f32" (MASK, F32, F32) -> F32, Moves;
        /// The first where the mask is set, else the second.
        SelectF64 "select_f64" (MASK, F64, F64) -> F64, Moves;
        /// The first where the mask is set, else the second.
        SelectI32 "select_i32" (MASK, I32, I32) -> I32, Never;
        /// The first where the mask is set, else the second.
        SelectI64 "select_i64" (MASK, I64, I64) -> I64, Never;
        /// The first where the mask is set, else the second.
        SelectB1 "select_b1" (MASK, MASK, MASK) -> MASK, Never;

        /// With their signs to 64 bits.
        WidenI32 "widen_i32" (I32) -> I64, Never;
        /// With zeros to 64 bits.
        WidenU32 "widen_u32" (I32) -> I64, Never;
        /// The low 32 bits.
        NarrowI64 "narrow_i64" (I64) -> I32, Never;
        /// As 32 bits, saturated, unsigned.
        NarrowU64 "narrow_u64" (I64) -> I32, Never;
        /// As doubles, exactly.
        F32ToF64 "f32_to_f64" (F32) -> F64, Spreads;
        /// As floats, rounded.
        F64ToF32 "f64_to_f32" (F64) -> F32, Spreads;
        /// As floats, rounded.
        I32ToF32 "i32_to_f32" (I32) -> F32, Never;
        /// Unsigned as floats, rounded.
        U32ToF32 "u32_to_f32" (I32) -> F32, Never;
        /// As doubles, exactly.
        I32ToF64 "i32_to_f64" (I32) -> F64, Never;
        /// Unsigned as doubles, exactly.
        U32ToF64 "u32_to_f64" (I32) -> F64, Never;
        /// As floats, rounded.
        I64ToF32 "i64_to_f32" (I64) -> F32, Never;
        /// Unsigned as floats, rounded.
        U64ToF32 "u64_to_f32" (I64) -> F32, Never;
        /// As doubles, rounded.
        I64ToF64 "i64_to_f64" (I64) -> F64, Never;
        /// Unsigned as doubles, rounded.
        U64ToF64 "u64_to_f64" (I64) -> F64, Never;
        /// Truncated, saturated.
        F32ToI32 "f32_to_i32" (F32) -> I32, Zero;
        /// Truncated, saturated, unsigned.
        F32ToU32 "f32_to_u32" (F32) -> I32, Zero;
        /// Truncated, saturated.
        F32ToI64 "f32_to_i64" (F32) -> I64, TopBit;
        /// Truncated, saturated, unsigned.
        F32ToU64 "f32_to_u64" (F32) -> I64, TopBit;
        /// Truncated, saturated.
        F64ToI32 "f64_to_i32" (F64) -> I32, TopBit;
        /// Truncated, saturated, unsigned.
        F64ToU32 "f64_to_u32" (F64) -> I32, TopBit;
        /// Truncated, saturated.
        F64ToI64 "f64_to_i64" (F64) -> I64, TopBit;
        /// Truncated, saturated, unsigned.
        F64ToU64 "f64_to_u64" (F64) -> I64, TopBit;
        /// The integer of an integral value; anything where it does not fit.
        WholeI32 "whole_i32" (F32) -> I32, Anything;
        /// 1 where the mask is set, else 0.
        B1ToI32 "b1_to_i32" (MASK) -> I32, Never;
        /// 1 where the mask is set, else 0.
        B1ToI64 "b1_to_i64" (MASK) -> I64, Never;
        /// 1 where the mask is set, else 0.
        B1ToF32 "b1_to_f32" (MASK) -> F32, Never;
        /// 1 where the mask is set, else 0.
        B1ToF64 "b1_to_f64" (MASK) -> F64, Never;
        /// Lanes where it is not zero.
        TruthI32 "truth_i32" (I32) -> MASK, Never;
        /// Lanes where it is not zero.
        TruthI64 "truth_i64" (I64) -> MASK, Never;
        /// Lanes where it is not zero.
        TruthF32 "truth_f32" (F32) -> MASK, True;
        /// Lanes where it is not zero.
        TruthF64 "truth_f64" (F64) -> MASK, True;
        /// The same bits.
        CastI32F32 "cast_i32_f32" (I32) -> F32, Moves;
        /// The same bits.
        CastF32I32 "cast_f32_i32" (F32) -> I32, Moves;
        /// The same bits.
        CastI64F64 "cast_i64_f64" (I64) -> F64, Moves;
        /// The same bits.
        CastF64I64 "cast_f64_i64" (F64) -> I64, Moves;

        /// Lanes where an offset is not below the limit, unsigned.
        Outside "outside" (I64, ONE_U64) -> MASK, Never;
        /// Lanes where an index is not below the count, unsigned.
        OutsideX "outside_x" (I32, ONE_U32) -> MASK, Never;
        /// Indices times a size; far outside of all memory where they are farther than the reach that comes second.
        FarV "far_v" (I64, ONE_I64, ONE_I64) -> I64, Never;
        /// One lane, by its number.
        LaneF32 "lane_f32" (F32, ONE_U32) -> ONE_F32, Moves;
        /// One lane, by its number.
        LaneF64 "lane_f64" (F64, ONE_U32) -> ONE_F64, Moves;
        /// One lane, by its number.
        LaneI32 "lane_i32" (I32, ONE_U32) -> ONE_I32, Never;
        /// One lane, by its number.
        LaneI64 "lane_i64" (I64, ONE_U32) -> ONE_I64, Never;
        /// For each lane one of the 32 lanes of both, by its number modulo 32.
        TakeF32 "take_f32" (F32, F32, I32) -> F32, Moves;
        /// For each lane one of the 32 lanes of both, by its number modulo 32.
        TakeF64 "take_f64" (F64, F64, I32) -> F64, Moves;
        /// For each lane one of the 32 lanes of both, by its number modulo 32.
        TakeI32 "take_i32" (I32, I32, I32) -> I32, Never;
        /// For each lane one of the 32 lanes of both, by its number modulo 32.
        TakeI64 "take_i64" (I64, I64, I32) -> I64, Never;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each1F32 "each1_f32" (MASK, FUNCTION, F32) -> F32, Anything;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each2F32 "each2_f32" (MASK, FUNCTION, F32, F32) -> F32, Anything;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each3F32 "each3_f32" (MASK, FUNCTION, F32, F32, F32) -> F32, Anything;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each1F64 "each1_f64" (MASK, FUNCTION, F64) -> F64, Anything;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each2F64 "each2_f64" (MASK, FUNCTION, F64, F64) -> F64, Anything;
        /// A function of this process for each lane of the mask; the others keep the first.
        Each3F64 "each3_f64" (MASK, FUNCTION, F64, F64, F64) -> F64, Anything;
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// An operation of lanes.
    Lanes(LaneOp),
    /// An operation of one number.
    Number(NumberOp),
    /// An access of memory.
    Memory(MemoryOp),
    /// An atomic.
    Atomic(Atomic),
    /// About faults.
    Fault(FaultOp),
}

impl Op {
    /// All of them. Of accesses those in no known space.
    pub fn all() -> impl Iterator<Item = Op> {
        let lanes = LaneOp::ALL.iter().map(|op| Op::Lanes(*op));
        let numbers = NumberOp::ALL.iter().map(|op| Op::Number(*op));
        let faults = FaultOp::ALL.iter().map(|op| Op::Fault(*op));
        let memory = MemoryOp::all().map(Op::Memory);
        lanes.chain(numbers).chain(memory).chain(Atomic::all().map(Op::Atomic)).chain(faults)
    }

    /// The operation that C calls so.
    pub fn find(name: &str) -> Option<Op> {
        static ALL: OnceLock<HashMap<String, Op>> = OnceLock::new();
        ALL.get_or_init(|| Op::all().map(|op| (op.name(), op)).collect()).get(name).copied()
    }

    /// The name in C.
    pub fn name(self) -> String {
        match self {
            Op::Lanes(op) => op.name().to_owned(),
            Op::Number(op) => op.name().to_owned(),
            Op::Memory(op) => op.name(),
            Op::Atomic(op) => op.name(),
            Op::Fault(op) => op.name().to_owned(),
        }
    }

    /// Writes its name.
    ///
    /// # Errors
    /// Those of what it is written to.
    pub fn write_name(self, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Op::Lanes(op) => out.write_str(op.name()),
            Op::Number(op) => out.write_str(op.name()),
            Op::Fault(op) => out.write_str(op.name()),
            Op::Memory(_) | Op::Atomic(_) => out.write_str(&self.name()),
        }
    }

    /// The types of the operands.
    pub fn operands(self) -> Vec<Operand> {
        match self {
            Op::Lanes(op) => op.operands().to_vec(),
            Op::Number(op) => op.operands().to_vec(),
            Op::Memory(op) => op.operands(),
            Op::Atomic(op) => op.operands(),
            Op::Fault(op) => op.operands().to_vec(),
        }
    }

    /// The type of the result.
    pub fn gives(self) -> Operand {
        match self {
            Op::Lanes(op) => op.gives(),
            Op::Number(op) => op.gives(),
            Op::Memory(op) => op.gives(),
            Op::Atomic(op) => op.gives(),
            Op::Fault(op) => op.gives(),
        }
    }

    /// The rule for NaN among the operands.
    pub fn nan(self) -> Nan {
        match self {
            Op::Lanes(op) => op.nan(),
            Op::Number(op) => op.nan(),
            Op::Memory(op) => op.nan(),
            Op::Atomic(op) => op.nan(),
            Op::Fault(op) => op.nan(),
        }
    }

    /// True if it writes memory, or does something else besides giving a value.
    pub fn has_effect(self) -> bool {
        match self {
            Op::Lanes(_) => false,
            Op::Number(op) => op.gives() == Operand::Nothing,
            Op::Memory(op) => op.access.writes() || op.access == Access::LoadChecked,
            Op::Atomic(_) | Op::Fault(_) => true,
        }
    }
}

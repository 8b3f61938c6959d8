//! Operations of one number, and those about faults; records are as in [`super::table`].

use super::table::operations;
use super::types::short::*;

operations! {
    /// An operation of one number, or of a whole mask.
    NumberOp {
        /// The condition, which mostly holds.
        Likely "likely" (TRUTH) -> TRUTH, Never;
        /// The condition, which mostly does not hold.
        Unlikely "unlikely" (TRUTH) -> TRUTH, Never;
        /// The float of these bits.
        F32Of "f32_of" (ONE_U32) -> ONE_F32, Moves;
        /// The double of these bits.
        F64Of "f64_of" (ONE_U64) -> ONE_F64, Moves;
        /// The bits of a float.
        BitsF32 "bits_f32" (ONE_F32) -> ONE_U32, Moves;
        /// The bits of a double.
        BitsF64 "bits_f64" (ONE_F64) -> ONE_U64, Moves;
        /// The larger one.
        Largest "largest" (ONE_I64, ONE_I64) -> ONE_I64, Never;
        /// True if the first is not below the second and is below the third.
        Within "within" (ANY, ANY, ANY) -> TRUTH, Never;
        /// CUDA's `fmin`: of two zeros the negative one.
        FminF32 "sfmin_f32" (ONE_F32, ONE_F32) -> ONE_F32, Loses;
        /// CUDA's `fmin`: of two zeros the negative one.
        FminF64 "sfmin_f64" (ONE_F64, ONE_F64) -> ONE_F64, Loses;
        /// CUDA's `fmax`: of two zeros the positive one.
        FmaxF32 "sfmax_f32" (ONE_F32, ONE_F32) -> ONE_F32, Loses;
        /// CUDA's `fmax`: of two zeros the positive one.
        FmaxF64 "sfmax_f64" (ONE_F64, ONE_F64) -> ONE_F64, Loses;
        /// To the left; amounts at or past the width leave zero.
        Shl "SLL" (ANY, ANY) -> ANY, Never;
        /// To the right, unsigned; amounts at or past the width leave zero.
        Shr "SRL" (ANY, ANY) -> ANY, Never;
        /// To the right, signed; amounts at or past the width leave the sign.
        Sar "SRA" (ANY, ANY) -> ANY, Never;
        /// The bits in the other order.
        Brev32 "brev_s32" (ONE_U32) -> ONE_U32, Never;
        /// The bits in the other order.
        Brev64 "brev_s64" (ONE_U64) -> ONE_U64, Never;
        /// The bits of the `float` that the half in the low 16 bits is; NaN is quiet.
        HalfToFloat "half_to_float_s" (ONE_U32) -> ONE_U32, Never;
        /// The bits of the half that is nearest to the `float` of these bits; NaN is 0x7fff.
        FloatToHalf "float_to_half_s" (ONE_U32) -> ONE_U32, Never;
        /// The sum of the products of four bytes with signs, plus the third.
        Dot4I32 "dot4_s_i32" (ONE_I32, ONE_I32, ONE_I32) -> ONE_I32, Never;
        /// The sum of the products of four bytes without signs, plus the third.
        Dot4U32 "dot4_s_u32" (ONE_U32, ONE_U32, ONE_U32) -> ONE_U32, Never;
        /// The number of leading zeros.
        Clz32 "clz_s32" (ONE_U32) -> ONE_I32, Never;
        /// The number of leading zeros.
        Clz64 "clz_s64" (ONE_U64) -> ONE_I32, Never;
        /// The number of set bits.
        Popc32 "__builtin_popcount" (ONE_U32) -> ONE_I32, Never;
        /// The number of set bits.
        Popc64 "__builtin_popcountll" (ONE_U64) -> ONE_I32, Never;
        /// The place of the lowest bit, counted from 1; 0 where there is none.
        Ffs32 "__builtin_ffs" (ONE_U32) -> ONE_I32, Never;
        /// The place of the lowest bit, counted from 1; 0 where there is none.
        Ffs64 "__builtin_ffsll" (ONE_U64) -> ONE_I32, Never;
        /// Truncated, saturated.
        FloatToI32 "s_to_i32" (ONE_F64) -> ONE_I32, Zero;
        /// Truncated, saturated.
        FloatToU32 "s_to_u32" (ONE_F64) -> ONE_U32, Zero;
        /// Truncated, saturated.
        ToI64 "s_to_i64" (ONE_F64) -> ONE_I64, TopBit;
        /// Truncated, saturated.
        ToU64 "s_to_u64" (ONE_F64) -> ONE_U64, TopBit;
        /// Truncated, saturated.
        DoubleToI32 "d_to_i32" (ONE_F64) -> ONE_I32, TopBit;
        /// Truncated, saturated.
        DoubleToU32 "d_to_u32" (ONE_F64) -> ONE_U32, TopBit;
        /// To the next higher integer.
        CeilF32 "__builtin_ceilf" (ONE_F32) -> ONE_F32, Spreads;
        /// To the next higher integer.
        CeilF64 "__builtin_ceil" (ONE_F64) -> ONE_F64, Spreads;
        /// To the next lower integer.
        FloorF32 "__builtin_floorf" (ONE_F32) -> ONE_F32, Spreads;
        /// To the next lower integer.
        FloorF64 "__builtin_floor" (ONE_F64) -> ONE_F64, Spreads;
        /// To the next integer towards zero.
        TruncF32 "__builtin_truncf" (ONE_F32) -> ONE_F32, Spreads;
        /// To the next integer towards zero.
        TruncF64 "__builtin_trunc" (ONE_F64) -> ONE_F64, Spreads;
        /// To the nearest integer, halves to even.
        RintF32 "__builtin_rintf" (ONE_F32) -> ONE_F32, Spreads;
        /// To the nearest integer, halves to even.
        RintF64 "__builtin_rint" (ONE_F64) -> ONE_F64, Spreads;
        /// The square root.
        SqrtF32 "__builtin_sqrtf" (ONE_F32) -> ONE_F32, Spreads;
        /// The square root.
        SqrtF64 "__builtin_sqrt" (ONE_F64) -> ONE_F64, Spreads;
        /// Without its sign.
        FabsF32 "__builtin_fabsf" (ONE_F32) -> ONE_F32, Moves;
        /// Without its sign.
        FabsF64 "__builtin_fabs" (ONE_F64) -> ONE_F64, Moves;
        /// The first with the sign of the second.
        CopysignF32 "__builtin_copysignf" (ONE_F32, ONE_F32) -> ONE_F32, Moves;
        /// The first with the sign of the second.
        CopysignF64 "__builtin_copysign" (ONE_F64, ONE_F64) -> ONE_F64, Moves;
        /// A product and a sum, rounded once.
        FmaF32 "__builtin_fmaf" (ONE_F32, ONE_F32, ONE_F32) -> ONE_F32, Spreads;
        /// A product and a sum, rounded once.
        FmaF64 "__builtin_fma" (ONE_F64, ONE_F64, ONE_F64) -> ONE_F64, Spreads;
        /// True if an address is that of a line of the cache.
        IsLine "is_line" (PLACE) -> TRUTH, Never;
        /// True if neighbours of a mask from an offset on, of a size, are all below the limit.
        Inside "inside" (MASK, ONE_I64, ONE_I64, ONE_U64) -> TRUTH, Never;
        /// An index times a size; far outside of all memory where it is farther than the reach that comes second.
        Far "far_s" (ONE_I64, ONE_I64, ONE_I64) -> ONE_I64, Never;
        /// The number of the first lane of a mask that has any.
        FirstLane "first_lane" (MASK) -> ONE_U32, Never;
        /// The number of the last lane of a mask that has any.
        LastLane "last_lane" (MASK) -> ONE_U32, Never;
        /// True if a mask has a lane.
        LaneB1 "lane_b1" (MASK, ONE_U32) -> TRUTH, Never;
        /// Asks for a line of the cache, which need not be anybody's.
        Prefetch "__builtin_prefetch" (PLACE) -> NOTHING, Never;
        /// Sets so many bytes to a byte: the place, the byte, how many.
        Fill "__builtin_memset" (PLACE, ONE_I32, ONE_U64) -> NOTHING, Never;
        /// Orders what is read and written before and after; C gives it `__ATOMIC_SEQ_CST`.
        Fence "__atomic_thread_fence" () -> NOTHING, Never;
    }
}

operations! {
    /// An operation about faults. A site is the number of a place in the program; lanes are told by the first thread of theirs.
    FaultOp {
        /// Notes a fault at a place that all lanes of a mask share: state, site, first thread, mask, two words.
        NoteOne "note_one" (STATE, ONE_U64, ONE_U32, MASK, ONE_U64, ONE_U64) -> NOTHING, Never;
        /// Notes the fault of a mask's first lane: state, site, first thread, mask, lanes of two words.
        NoteLanes "note_lanes" (STATE, ONE_U64, ONE_U32, MASK, I64, I64) -> NOTHING, Never;
        /// Those of 16 threads that have not faulted: state, first thread.
        Alive "alive" (STATE, ONE_U32) -> MASK, Never;
        /// Lanes of a mask that do not do an access: state, site, first thread, mask, limit, offsets, words. Those out of bounds are noted.
        BadLanes "bad_lanes" (STATE, ONE_U64, ONE_U32, MASK, ONE_U64, I64, I64) -> MASK, Never;
        /// Tells what went wrong, and gives what the kernel returns then: context, state.
        Stop "stop" (PLACE, STATE) -> ONE_U32, Never;
        /// Looks at the clock, and gives a new budget, negative to stop: context, state, site, thread.
        Tick "tick" (PLACE, STATE, ONE_U64, ONE_U32) -> ONE_I64, Never;
    }
}

/* Lanes in AVX2 registers, for machines without wider ones: 32-bit lanes are two registers, 64-bit lanes four; 8- and 16-bit numbers are
   kept extended in 32-bit lanes. All gives the bits that AVX-512's gives. */
typedef struct { __m256 a, b; } vf32;
typedef struct { __m256i a, b; } vi32;
typedef struct { __m256i a, b, c, d; } vi64;
typedef struct { __m256d a, b, c, d; } vf64;

/* Whole registers as C numbers, for operations that C has an operator for. */
typedef i32 ci32 __attribute__((vector_size(32), may_alias));
typedef u32 cu32 __attribute__((vector_size(32), may_alias));
typedef i64 ci64 __attribute__((vector_size(32), may_alias));
typedef u64 cu64 __attribute__((vector_size(32), may_alias));

/* One value for all lanes, and lines. */
FN vf32 splat_f32(f32 x) { return (vf32){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
FN vf64 splat_f64(f64 x) { return (vf64){_mm256_set1_pd(x), _mm256_set1_pd(x), _mm256_set1_pd(x), _mm256_set1_pd(x)}; }
FN vi32 splat_i32(i32 x) { return (vi32){_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
FN vi64 splat_i64(i64 x) { return (vi64){_mm256_set1_epi64x(x), _mm256_set1_epi64x(x), _mm256_set1_epi64x(x), _mm256_set1_epi64x(x)}; }
#define IOTA8(n) _mm256_setr_epi32((n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7)
#define IOTA4(n) _mm256_setr_epi64x((n), (n) + 1, (n) + 2, (n) + 3)
#define LINE8(n) (__m256i)((ci32)_mm256_set1_epi32(x) + (ci32)IOTA8(n) * step)
#define LINE4(n) (__m256i)((ci64)_mm256_set1_epi64x(x) + (ci64)IOTA4(n) * step)
FN vi32 line_i32(i32 x, i32 step) { return (vi32){LINE8(0), LINE8(8)}; }
FN vi64 line_i64(i64 x, i64 step) { return (vi64){LINE4(0), LINE4(4), LINE4(8), LINE4(12)}; }

/* Masks as vectors: bits `n` and up as the signs of lanes, which are all that blends, masked accesses and gathers look at. */
#define SIGNS8(m, n) _mm256_sllv_epi32(_mm256_set1_epi32((i32)(m)), _mm256_sub_epi32(_mm256_set1_epi32(31 - (n)), IOTA8(0)))
#define SIGNS4(m, n) _mm256_sllv_epi64(_mm256_set1_epi32((i32)(m)), _mm256_sub_epi64(_mm256_set1_epi64x(63 - (n)), IOTA4(0)))
#define SIGNS_PS(m, n) _mm256_castsi256_ps(SIGNS8(m, n))
#define SIGNS_PD(m, n) _mm256_castsi256_pd(SIGNS4(m, n))

/* Floats. */
#define FLOAT2(name, one, two) \
    FN vf32 name##_f32(vf32 x, vf32 y) { return (vf32){one(x.a, y.a), one(x.b, y.b)}; } \
    FN vf64 name##_f64(vf64 x, vf64 y) { return (vf64){two(x.a, y.a), two(x.b, y.b), two(x.c, y.c), two(x.d, y.d)}; }
FLOAT2(add, _mm256_add_ps, _mm256_add_pd)
FLOAT2(sub, _mm256_sub_ps, _mm256_sub_pd)
FLOAT2(mul, _mm256_mul_ps, _mm256_mul_pd)
FLOAT2(div, _mm256_div_ps, _mm256_div_pd)
/* The minimum and the maximum; the second operand if either is NaN or both are zero. */
FLOAT2(min2, _mm256_min_ps, _mm256_min_pd)
FLOAT2(max2, _mm256_max_ps, _mm256_max_pd)
#define FLOAT1(name, one, two) \
    FN vf32 name##_f32(vf32 x) { return (vf32){one(x.a), one(x.b)}; } \
    FN vf64 name##_f64(vf64 x) { return (vf64){two(x.a), two(x.b), two(x.c), two(x.d)}; }
#define ROUND_PS(x) _mm256_round_ps(x, 8)
#define ROUND_PD(x) _mm256_round_pd(x, 8)
#define FLOOR_PS(x) _mm256_round_ps(x, 9)
#define FLOOR_PD(x) _mm256_round_pd(x, 9)
#define CEIL_PS(x) _mm256_round_ps(x, 10)
#define CEIL_PD(x) _mm256_round_pd(x, 10)
#define TRUNC_PS(x) _mm256_round_ps(x, 11)
#define TRUNC_PD(x) _mm256_round_pd(x, 11)
#define NEG_PS(x) _mm256_xor_ps(x, _mm256_set1_ps(-0.0f))
#define NEG_PD(x) _mm256_xor_pd(x, _mm256_set1_pd(-0.0))
#define ABS_PS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x)
#define ABS_PD(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
FLOAT1(neg, NEG_PS, NEG_PD)
FLOAT1(fabs, ABS_PS, ABS_PD)
FLOAT1(sqrt, _mm256_sqrt_ps, _mm256_sqrt_pd)
FLOAT1(rint, ROUND_PS, ROUND_PD)
FLOAT1(floor, FLOOR_PS, FLOOR_PD)
FLOAT1(ceil, CEIL_PS, CEIL_PD)
FLOAT1(trunc, TRUNC_PS, TRUNC_PD)
/* The reciprocal square root of `math/reciprocal.rs`, operation by operation. */
#ifdef RSQRT_ESTIMATE
FN __m256 rsqrt8(__m256 x) {
    __m256 y = _mm256_rsqrt14_ps(x), t = _mm256_mul_ps(x, y), e = _mm256_fnmadd_ps(t, y, _mm256_set1_ps(1));
    return _mm256_mask3_fmadd_ps(_mm256_mul_ps(y, _mm256_set1_ps(0.5f)), e, y, _mm256_cmp_ps_mask(t, t, _CMP_ORD_Q));
}
#else
FN __m256 rsqrt8(__m256 x) { return _mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(x)); }
#endif
FN vf32 rsqrt_f32(vf32 x) { return (vf32){rsqrt8(x.a), rsqrt8(x.b)}; }
FN vf32 fma_f32(vf32 x, vf32 y, vf32 z) { return (vf32){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
FN vf64 fma_f64(vf64 x, vf64 y, vf64 z) {
    return (vf64){_mm256_fmadd_pd(x.a, y.a, z.a), _mm256_fmadd_pd(x.b, y.b, z.b),
                  _mm256_fmadd_pd(x.c, y.c, z.c), _mm256_fmadd_pd(x.d, y.d, z.d)};
}
#define SIGN_PS(x, y) _mm256_or_ps(ABS_PS(x), _mm256_and_ps(y, _mm256_set1_ps(-0.0f)))
#define SIGN_PD(x, y) _mm256_or_pd(ABS_PD(x), _mm256_and_pd(y, _mm256_set1_pd(-0.0)))
FLOAT2(copysign, SIGN_PS, SIGN_PD)
/* A NaN loses to a number; of two zeros the sign decides. Of equal numbers the machine gives the second. */
FN __m256 fmin8(__m256 x, __m256 y) {
    __m256 r = _mm256_or_ps(_mm256_min_ps(x, y), _mm256_and_ps(x, _mm256_cmp_ps(x, y, _CMP_EQ_OQ)));
    return _mm256_blendv_ps(r, x, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
}
FN __m256 fmax8(__m256 x, __m256 y) {
    __m256 r = _mm256_and_ps(_mm256_max_ps(x, y), _mm256_or_ps(x, _mm256_cmp_ps(x, y, _CMP_NEQ_UQ)));
    return _mm256_blendv_ps(r, x, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
}
FN __m256d fmin4(__m256d x, __m256d y) {
    __m256d r = _mm256_or_pd(_mm256_min_pd(x, y), _mm256_and_pd(x, _mm256_cmp_pd(x, y, _CMP_EQ_OQ)));
    return _mm256_blendv_pd(r, x, _mm256_cmp_pd(y, y, _CMP_UNORD_Q));
}
FN __m256d fmax4(__m256d x, __m256d y) {
    __m256d r = _mm256_and_pd(_mm256_max_pd(x, y), _mm256_or_pd(x, _mm256_cmp_pd(x, y, _CMP_NEQ_UQ)));
    return _mm256_blendv_pd(r, x, _mm256_cmp_pd(y, y, _CMP_UNORD_Q));
}
FLOAT2(fmin, fmin8, fmin4)
FLOAT2(fmax, fmax8, fmax4)

/* Two to the power of an integer times a number, rounded once; a positive number as mantissa in [3/4, 3/2) and exponent.
   The power is two factors, both normal numbers: the number is within [2^-20, 4] and the integer within [-200, 200], for
   doubles [-1600, 1600]; if the integer is 0 the number may be any, if the number is NaN the integer may be any. */
FN __m256 scale8(__m256 x, __m256 n) {
    __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(2 * 127)), half = _mm256_srai_epi32(e, 1);
    x = _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(half, 23)));
    return _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_sub_epi32(e, half), 23)));
}
/* The low bits of a sum with this number hold a small integer. */
#define LOW_BITS 6755399441055744.0
FN __m256d scale4(__m256d x, __m256d n) {
    const __m256d zero = _mm256_set1_pd(LOW_BITS + 1023);
    __m256d half = _mm256_fmadd_pd(n, _mm256_set1_pd(0.5), zero), rest = _mm256_add_pd(_mm256_sub_pd(n, _mm256_sub_pd(half, zero)), zero);
    x = _mm256_mul_pd(x, _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(half), 52)));
    return _mm256_mul_pd(x, _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(rest), 52)));
}
FLOAT2(scale, scale8, scale4)
/* Subnormal numbers times 2^24, and their exponents. */
FN __m256 tiny8(__m256 x) { return _mm256_cmp_ps(x, _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ); }
FN __m256i normal8(__m256 x) { return _mm256_castps_si256(_mm256_blendv_ps(x, _mm256_mul_ps(x, _mm256_set1_ps(0x1p24f)), tiny8(x))); }
FN __m256i power8(__m256 x) { return _mm256_srai_epi32(_mm256_sub_epi32(normal8(x), _mm256_set1_epi32(0x3f400000)), 23); }
/* The mantissa; NaN for NaN and negative numbers, 1 for zero and infinity. */
FN __m256 mantissa8(__m256 x) {
    __m256i m = _mm256_sub_epi32(normal8(x), _mm256_slli_epi32(power8(x), 23));
    return _mm256_or_ps(_mm256_castsi256_ps(m), _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NGE_UQ));
}
/* The exponent; infinite for zero and infinity, anything where the mantissa is NaN. */
FN __m256 exponent8(__m256 x) {
    const __m256 infinity = _mm256_set1_ps(__builtin_inff());
    __m256 e = _mm256_sub_ps(_mm256_cvtepi32_ps(power8(x)), _mm256_and_ps(tiny8(x), _mm256_set1_ps(24)));
    e = _mm256_blendv_ps(e, NEG_PS(infinity), _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ));
    return _mm256_blendv_ps(e, infinity, _mm256_cmp_ps(x, infinity, _CMP_EQ_OQ));
}
FN vf32 mantissa_f32(vf32 x) { return (vf32){mantissa8(x.a), mantissa8(x.b)}; }
FN vf32 exponent_f32(vf32 x, vf32 m) { return (vf32){exponent8(x.a), exponent8(x.b)}; }
/* The exponent of any number: the bits of its size, that of subnormal ones made normal; a square of what is not finite. The bits of a double's
   are a number behind those of 2^52. */
FN __m256 logb8(__m256 x) {
    const __m256 infinity = _mm256_set1_ps(__builtin_inff()), size = ABS_PS(x);
    __m256 e = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(normal8(size), 23), _mm256_set1_epi32(127)));
    e = _mm256_sub_ps(e, _mm256_and_ps(tiny8(size), _mm256_set1_ps(24)));
    e = _mm256_blendv_ps(e, NEG_PS(infinity), _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_EQ_OQ));
    return _mm256_blendv_ps(_mm256_mul_ps(x, x), e, _mm256_cmp_ps(size, infinity, _CMP_LT_OQ));
}
FN __m256d logb4(__m256d x) {
    const __m256d infinity = _mm256_set1_pd(__builtin_inf()), size = ABS_PD(x), whole = _mm256_set1_pd(0x1p52);
    const __m256d tiny = _mm256_cmp_pd(size, _mm256_set1_pd(0x1p-1022), _CMP_LT_OQ);
    const __m256d normal = _mm256_blendv_pd(size, _mm256_mul_pd(size, _mm256_set1_pd(0x1p54)), tiny);
    __m256d e = _mm256_or_pd(_mm256_castsi256_pd(_mm256_srli_epi64(_mm256_castpd_si256(normal), 52)), whole);
    e = _mm256_sub_pd(_mm256_sub_pd(e, _mm256_set1_pd(0x1p52 + 1023)), _mm256_and_pd(tiny, _mm256_set1_pd(54)));
    e = _mm256_blendv_pd(e, NEG_PD(infinity), _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_EQ_OQ));
    return _mm256_blendv_pd(_mm256_mul_pd(x, x), e, _mm256_cmp_pd(size, infinity, _CMP_LT_OQ));
}
FLOAT1(logb, logb8, logb4)

/* Integers: operations that wrap are the same for both signs. */
#define INT2I(name, one, two) \
    FN vi32 name##32(vi32 x, vi32 y) { return (vi32){one(x.a, y.a), one(x.b, y.b)}; } \
    FN vi64 name##64(vi64 x, vi64 y) { return (vi64){two(x.a, y.a), two(x.b, y.b), two(x.c, y.c), two(x.d, y.d)}; }
#define INT2(name, op) \
    FN __m256i name##8(__m256i x, __m256i y) { return (__m256i)((cu32)x op (cu32)y); } \
    FN __m256i name##4(__m256i x, __m256i y) { return (__m256i)((cu64)x op (cu64)y); } \
    INT2I(name##_i, name##8, name##4)
INT2(add, +)
INT2(sub, -)
INT2(mul, *)
INT2(and, &)
INT2(or, |)
INT2(xor, ^)
FN vi32 neg_i32(vi32 x) { return sub_i32(splat_i32(0), x); }
FN vi64 neg_i64(vi64 x) { return sub_i64(splat_i64(0), x); }
FN vi32 not_i32(vi32 x) { return xor_i32(x, splat_i32(-1)); }
FN vi64 not_i64(vi64 x) { return xor_i64(x, splat_i64(-1)); }
/* A comparison of 64-bit numbers exists for signed ones alone. */
#define LEAST4 _mm256_set1_epi64x((i64)0x8000000000000000ull)
FN __m256i gt4_i64(__m256i x, __m256i y) { return _mm256_cmpgt_epi64(x, y); }
FN __m256i gt4_u64(__m256i x, __m256i y) { return _mm256_cmpgt_epi64(_mm256_xor_si256(x, LEAST4), _mm256_xor_si256(y, LEAST4)); }
FN __m256i min4_i64(__m256i x, __m256i y) { return _mm256_blendv_epi8(x, y, gt4_i64(x, y)); }
FN __m256i min4_u64(__m256i x, __m256i y) { return _mm256_blendv_epi8(x, y, gt4_u64(x, y)); }
FN __m256i max4_i64(__m256i x, __m256i y) { return _mm256_blendv_epi8(y, x, gt4_i64(x, y)); }
FN __m256i max4_u64(__m256i x, __m256i y) { return _mm256_blendv_epi8(y, x, gt4_u64(x, y)); }
INT2I(min_i, _mm256_min_epi32, min4_i64)
INT2I(min_u, _mm256_min_epu32, min4_u64)
INT2I(max_i, _mm256_max_epi32, max4_i64)
INT2I(max_u, _mm256_max_epu32, max4_u64)
/* Shifts; amounts at or past the width shift everything out, as in PTX. */
FN __m256i sra4(__m256i x, __m256i n) {
    __m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(x, sign), n), sign);
}
INT2I(shl_i, _mm256_sllv_epi32, _mm256_sllv_epi64)
INT2I(shr_u, _mm256_srlv_epi32, _mm256_srlv_epi64)
INT2I(shr_i, _mm256_srav_epi32, sra4)
#define INT1(name, one) FN vi32 name(vi32 x) { return (vi32){one(x.a), one(x.b)}; }
#define FIT_I8(x) _mm256_srai_epi32(_mm256_slli_epi32(x, 24), 24)
#define FIT_I16(x) _mm256_srai_epi32(_mm256_slli_epi32(x, 16), 16)
#define FIT_U8(x) _mm256_and_si256(x, _mm256_set1_epi32(0xff))
#define FIT_U16(x) _mm256_and_si256(x, _mm256_set1_epi32(0xffff))
INT1(fit_i8, FIT_I8)
INT1(fit_i16, FIT_I16)
INT1(fit_u8, FIT_U8)
INT1(fit_u16, FIT_U16)
#define MULHI8(x, y, mul) \
    _mm256_blend_epi32(_mm256_srli_epi64(mul(x, y), 32), mul(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32)), 0xaa)
FN vi32 mulhi_i32(vi32 x, vi32 y) { return (vi32){MULHI8(x.a, y.a, _mm256_mul_epi32), MULHI8(x.b, y.b, _mm256_mul_epi32)}; }
FN vi32 mulhi_u32(vi32 x, vi32 y) { return (vi32){MULHI8(x.a, y.a, _mm256_mul_epu32), MULHI8(x.b, y.b, _mm256_mul_epu32)}; }

/* Four lanes of 32 bits, and the low halves of eight lanes of 64 bits. */
#define LOW4(x) _mm256_castsi256_si128(x)
#define HIGH4(x) _mm256_extracti128_si256(x, 1)
FN __m256i low_halves(__m256i x, __m256i y) {
    __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8);
}
/* Numbers of 32 bits are the low bits of their sums with 2^52. */
#define ONES_52 4503599627370496.0
FN __m256d u32_to_pd(__m128i x) {
    const __m256d ones = _mm256_set1_pd(ONES_52);
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(_mm256_cvtepu32_epi64(x), _mm256_castpd_si256(ones))), ones);
}
FN __m256i pd_low_bits(__m256d x) { return _mm256_castpd_si256(_mm256_add_pd(x, _mm256_set1_pd(ONES_52))); }

/* Division, after the checks; inactive lanes may hold any divisor. */
FN __m128i div4_i32(__m128i x, __m128i y) { return _mm256_cvttpd_epi32(_mm256_div_pd(_mm256_cvtepi32_pd(x), _mm256_cvtepi32_pd(y))); }
FN __m256i div4_u32(__m128i x, __m128i y) { return pd_low_bits(FLOOR_PD(_mm256_div_pd(u32_to_pd(x), u32_to_pd(y)))); }
#define DIV8_I32(x, y) _mm256_set_m128i(div4_i32(HIGH4(x), HIGH4(y)), div4_i32(LOW4(x), LOW4(y)))
#define DIV8_U32(x, y) low_halves(div4_u32(LOW4(x), LOW4(y)), div4_u32(HIGH4(x), HIGH4(y)))
FN vi32 div_i32(vi32 x, vi32 y) { return (vi32){DIV8_I32(x.a, y.a), DIV8_I32(x.b, y.b)}; }
FN vi32 div_u32(vi32 x, vi32 y) { return (vi32){DIV8_U32(x.a, y.a), DIV8_U32(x.b, y.b)}; }
/* Division by a number that the compiler sees, which it does by multiplication. It is a macro, as in a function it would see the number too late. */
#define BOTH8(ty, x, op, n) ({ const vi32 x_ = (x); (vi32){(__m256i)((ty)x_.a op (n)), (__m256i)((ty)x_.b op (n))}; })
#define div_by_i32(x, n) BOTH8(ci32, x, /, n)
#define div_by_u32(x, n) BOTH8(cu32, x, /, n)
#define rem_by_i32(x, n) BOTH8(ci32, x, %, n)
#define rem_by_u32(x, n) BOTH8(cu32, x, %, n)

/* Bits. */
#define TABLE16(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
/* Leading zeros, by the exponent of a number of the same size whose second bit is clear, so that
   it does not round up to a power of two; saturating subtraction takes negative numbers to 0. */
FN __m256i clz8(__m256i x) {
    __m256 f = _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(x, 1), x));
    __m256i e = _mm256_srli_epi32(_mm256_castps_si256(f), 23);
    return _mm256_min_epi16(_mm256_subs_epu16(_mm256_set1_epi32(127 + 31), e), _mm256_set1_epi32(32));
}
FN __m256i popc8(__m256i x) {
    const __m256i counts = TABLE16(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4), mask = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, mask));
    __m256i high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi32(x, 4), mask));
    return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}
FN __m256i brev8(__m256i x) {
    const __m256i turned = TABLE16(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), mask = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(turned, _mm256_and_si256(x, mask));
    __m256i high = _mm256_shuffle_epi8(turned, _mm256_and_si256(_mm256_srli_epi32(x, 4), mask));
    return _mm256_shuffle_epi8(_mm256_or_si256(_mm256_slli_epi32(low, 4), high), TABLE16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
FN __m256i half_to_float8(__m256i x) {
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0xffff)), x), 0x08);
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
}
FN __m256i float_to_half8(__m256i x) {
    const __m256 f = _mm256_castsi256_ps(x), is_nan = _mm256_cmp_ps(f, f, _CMP_UNORD_Q);
    const __m256i h = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT));
    return _mm256_blendv_epi8(h, _mm256_set1_epi32(0x7fff), _mm256_castps_si256(is_nan));
}
/* Bytes become numbers of 16 bits, those at even places apart from those at odd ones. */
#define DOT4(name, shift) \
    FN __m256i name(__m256i x, __m256i y, __m256i sum) { \
        const __m256i even = _mm256_madd_epi16(shift(_mm256_slli_epi16(x, 8), 8), shift(_mm256_slli_epi16(y, 8), 8)); \
        return _mm256_add_epi32(_mm256_add_epi32(sum, even), _mm256_madd_epi16(shift(x, 8), shift(y, 8))); \
    }
DOT4(dot8_i32, _mm256_srai_epi16)
DOT4(dot8_u32, _mm256_srli_epi16)
FN vi32 dot4_i32(vi32 x, vi32 y, vi32 sum) { return (vi32){dot8_i32(x.a, y.a, sum.a), dot8_i32(x.b, y.b, sum.b)}; }
FN vi32 dot4_u32(vi32 x, vi32 y, vi32 sum) { return (vi32){dot8_u32(x.a, y.a, sum.a), dot8_u32(x.b, y.b, sum.b)}; }
INT1(half_to_float, half_to_float8)
INT1(float_to_half, float_to_half8)
INT1(clz_32, clz8)
INT1(popc_32, popc8)
INT1(brev_32, brev8)
/* The first set bit; for zero 32 - 32. */
FN vi32 ffs_32(vi32 x) { return sub_i32(splat_i32(32), clz_32(and_i32(x, neg_i32(x)))); }

/* Comparisons, which give masks. */
FN m16 mask8(__m256 x, __m256 y) { return (m16)(_mm256_movemask_ps(x) | _mm256_movemask_ps(y) << 8); }
FN m16 mask4(__m256d x, __m256d y, __m256d z, __m256d w) {
    return (m16)(_mm256_movemask_pd(x) | _mm256_movemask_pd(y) << 4 | _mm256_movemask_pd(z) << 8 | _mm256_movemask_pd(w) << 12);
}
#define CMPF(name, code) \
    FN m16 name##_f32(vf32 x, vf32 y) { return mask8(_mm256_cmp_ps(x.a, y.a, code), _mm256_cmp_ps(x.b, y.b, code)); } \
    FN m16 name##_f64(vf64 x, vf64 y) { \
        return mask4(_mm256_cmp_pd(x.a, y.a, code), _mm256_cmp_pd(x.b, y.b, code), _mm256_cmp_pd(x.c, y.c, code), _mm256_cmp_pd(x.d, y.d, code)); \
    }
CMPF(eq, _CMP_EQ_OQ)
CMPF(ne, _CMP_NEQ_UQ)
CMPF(lt, _CMP_LT_OQ)
CMPF(le, _CMP_LE_OQ)
CMPF(gt, _CMP_GT_OQ)
CMPF(ge, _CMP_GE_OQ)
FN __m256i ge8_u32(__m256i x, __m256i y) { return _mm256_cmpeq_epi32(_mm256_max_epu32(x, y), x); }
#define CMP8(f, x, y) mask8(_mm256_castsi256_ps(f(x.a, y.a)), _mm256_castsi256_ps(f(x.b, y.b)))
#define CMP4(f, x, y) \
    mask4(_mm256_castsi256_pd(f(x.a, y.a)), _mm256_castsi256_pd(f(x.b, y.b)), _mm256_castsi256_pd(f(x.c, y.c)), _mm256_castsi256_pd(f(x.d, y.d)))
FN m16 eq_i32(vi32 x, vi32 y) { return CMP8(_mm256_cmpeq_epi32, x, y); }
FN m16 gt_i32(vi32 x, vi32 y) { return CMP8(_mm256_cmpgt_epi32, x, y); }
FN m16 ge_u32(vi32 x, vi32 y) { return CMP8(ge8_u32, x, y); }
FN m16 eq_i64(vi64 x, vi64 y) { return CMP4(_mm256_cmpeq_epi64, x, y); }
FN m16 gt_i64(vi64 x, vi64 y) { return CMP4(gt4_i64, x, y); }
FN m16 gt_u64(vi64 x, vi64 y) { return CMP4(gt4_u64, x, y); }
FN m16 gt_u32(vi32 x, vi32 y) { return ~ge_u32(y, x); }
#define CMPI(ty, vty, is) \
    FN m16 ne_##ty(vty x, vty y) { return ~eq_##is(x, y); } \
    FN m16 lt_##ty(vty x, vty y) { return gt_##ty(y, x); } \
    FN m16 le_##ty(vty x, vty y) { return ~gt_##ty(x, y); }
CMPI(i32, vi32, i32)
CMPI(u32, vi32, i32)
CMPI(i64, vi64, i64)
CMPI(u64, vi64, i64)
FN m16 eq_u32(vi32 x, vi32 y) { return eq_i32(x, y); }
FN m16 eq_u64(vi64 x, vi64 y) { return eq_i64(x, y); }
FN m16 ge_i32(vi32 x, vi32 y) { return ~gt_i32(y, x); }
FN m16 ge_i64(vi64 x, vi64 y) { return ~gt_i64(y, x); }
FN m16 ge_u64(vi64 x, vi64 y) { return ~gt_u64(y, x); }

/* Lanes of the first operand where the mask is set, of the second elsewhere. */
FN vf32 select_f32(m16 m, vf32 x, vf32 y) {
    return (vf32){_mm256_blendv_ps(y.a, x.a, SIGNS_PS(m, 0)), _mm256_blendv_ps(y.b, x.b, SIGNS_PS(m, 8))};
}
FN vf64 select_f64(m16 m, vf64 x, vf64 y) {
    return (vf64){_mm256_blendv_pd(y.a, x.a, SIGNS_PD(m, 0)), _mm256_blendv_pd(y.b, x.b, SIGNS_PD(m, 4)),
                  _mm256_blendv_pd(y.c, x.c, SIGNS_PD(m, 8)), _mm256_blendv_pd(y.d, x.d, SIGNS_PD(m, 12))};
}

/* Conversions. */
FN vf32 cast_i32_f32(vi32 x) { return (vf32){_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)}; }
FN vi32 cast_f32_i32(vf32 x) { return (vi32){_mm256_castps_si256(x.a), _mm256_castps_si256(x.b)}; }
FN vf64 cast_i64_f64(vi64 x) {
    return (vf64){_mm256_castsi256_pd(x.a), _mm256_castsi256_pd(x.b), _mm256_castsi256_pd(x.c), _mm256_castsi256_pd(x.d)};
}
FN vi64 cast_f64_i64(vf64 x) {
    return (vi64){_mm256_castpd_si256(x.a), _mm256_castpd_si256(x.b), _mm256_castpd_si256(x.c), _mm256_castpd_si256(x.d)};
}
FN vi32 select_i32(m16 m, vi32 x, vi32 y) { return cast_f32_i32(select_f32(m, cast_i32_f32(x), cast_i32_f32(y))); }
FN vi64 select_i64(m16 m, vi64 x, vi64 y) { return cast_f64_i64(select_f64(m, cast_i64_f64(x), cast_i64_f64(y))); }

/* Lanes of two vectors by their numbers. */
#define TAKE(name, ty, vty) \
    FN vty name(vty x, vty y, vi32 i) { \
        ty p[32], r[16]; u32 q[16]; vty z; \
        __builtin_memcpy(p, &x, sizeof x); __builtin_memcpy(p + 16, &y, sizeof y); __builtin_memcpy(q, &i, sizeof q); \
        for (int l = 0; l < 16; l++) r[l] = p[q[l] & 31]; \
        __builtin_memcpy(&z, r, sizeof r); return z; \
    }
TAKE(take_f32, f32, vf32)
TAKE(take_i32, i32, vi32)
TAKE(take_f64, f64, vf64)
TAKE(take_i64, i64, vi64)

/* Conversions of each four lanes, and of each two registers of four. */
#define LOW_PS(x) _mm256_castps256_ps128(x)
#define HIGH_PS(x) _mm256_extractf128_ps(x, 1)
#define FOURS(f, x) f(LOW4(x.a)), f(HIGH4(x.a)), f(LOW4(x.b)), f(HIGH4(x.b))
#define FOURS_PS(f, x) f(LOW_PS(x.a)), f(HIGH_PS(x.a)), f(LOW_PS(x.b)), f(HIGH_PS(x.b))
#define JOIN_PS(f, x) _mm256_set_m128(f(x.b), f(x.a)), _mm256_set_m128(f(x.d), f(x.c))
FN vi64 widen_i32(vi32 x) { return (vi64){FOURS(_mm256_cvtepi32_epi64, x)}; }
FN vi64 widen_u32(vi32 x) { return (vi64){FOURS(_mm256_cvtepu32_epi64, x)}; }
FN vi32 narrow_i64(vi64 x) { return (vi32){low_halves(x.a, x.b), low_halves(x.c, x.d)}; }
FN vi32 narrow_u64(vi64 x) { return narrow_i64(min_u64(x, splat_i64(0xffffffff))); }
FN vf64 f32_to_f64(vf32 x) { return (vf64){FOURS_PS(_mm256_cvtps_pd, x)}; }
FN vf32 f64_to_f32(vf64 x) { return (vf32){JOIN_PS(_mm256_cvtpd_ps, x)}; }
FN vf32 i32_to_f32(vi32 x) { return (vf32){_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
FN vf64 i32_to_f64(vi32 x) { return (vf64){FOURS(_mm256_cvtepi32_pd, x)}; }
FN vf64 u32_to_f64(vi32 x) { return (vf64){FOURS(u32_to_pd, x)}; }
/* Halves are exact, their sum is rounded. */
FN __m256 u32_to_ps(__m256i x) {
    __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(x, 16)), low = _mm256_cvtepi32_ps(FIT_U16(x));
    return _mm256_fmadd_ps(high, _mm256_set1_ps(65536), low);
}
FN vf32 u32_to_f32(vi32 x) { return (vf32){u32_to_ps(x.a), u32_to_ps(x.b)}; }
/* The high half, of signed numbers plus 2^31, becomes a number that begins with 2^84, the low half one that begins with 2^52. */
FN __m256d halves_to_pd(__m256i high, __m256i low, f64 ones) {
    low = _mm256_blend_epi32(low, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(ones)), _mm256_castsi256_pd(low));
}
FN __m256d i64_to_pd(__m256i x) {
    __m256i high = _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84 + 0x1p63)));
    return halves_to_pd(high, x, 0x1p84 + 0x1p63 + 0x1p52);
}
FN __m256d u64_to_pd(__m256i x) {
    __m256i high = _mm256_or_si256(_mm256_srli_epi64(x, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84)));
    return halves_to_pd(high, x, 0x1p84 + 0x1p52);
}
FN vf64 i64_to_f64(vi64 x) { return (vf64){i64_to_pd(x.a), i64_to_pd(x.b), i64_to_pd(x.c), i64_to_pd(x.d)}; }
FN vf64 u64_to_f64(vi64 x) { return (vf64){u64_to_pd(x.a), u64_to_pd(x.b), u64_to_pd(x.c), u64_to_pd(x.d)}; }
/* A conversion that rounds once, not twice: large numbers get one bit for their low 12 bits
   (the second rounding only asks if they are 0), so that the first rounding is exact. */
FN __m256i odd4(__m256i x, __m256i large) {
    const __m256i low = _mm256_set1_epi64x(0xfff);
    __m256i none = _mm256_cmpeq_epi64(_mm256_and_si256(x, low), _mm256_setzero_si256());
    __m256i odd = _mm256_or_si256(_mm256_andnot_si256(low, x), _mm256_andnot_si256(none, _mm256_set1_epi64x(0x800)));
    return _mm256_blendv_epi8(x, odd, large);
}
FN __m128 i64_to_ps(__m256i x) {
    __m256i size = _mm256_xor_si256(x, _mm256_cmpgt_epi64(_mm256_setzero_si256(), x));
    return _mm256_cvtpd_ps(i64_to_pd(odd4(x, _mm256_cmpgt_epi64(size, _mm256_set1_epi64x(1ll << 50)))));
}
FN __m128 u64_to_ps(__m256i x) {
    return _mm256_cvtpd_ps(u64_to_pd(odd4(x, _mm256_cmpgt_epi64(_mm256_srli_epi64(x, 50), _mm256_setzero_si256()))));
}
FN vf32 i64_to_f32(vi64 x) { return (vf32){JOIN_PS(i64_to_ps, x)}; }
FN vf32 u64_to_f32(vi64 x) { return (vf32){JOIN_PS(u64_to_ps, x)}; }
/* Conversions that truncate and saturate. NaN of a float gives 0; of a double, and in 64 bits, the top bit alone.
   The machine gives 0x80000000 for all that does not fit; `min` and `max` give the second operand if one is NaN. */
#define UNLESS_NAN_PD(x, n, bits) _mm256_blendv_epi8(n, _mm256_set1_epi64x((long long)(bits)), _mm256_castpd_si256(_mm256_cmp_pd(x, x, _CMP_UNORD_Q)))
FN __m256i ps_to_i32(__m256 x) {
    __m256 large = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ), number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
    return _mm256_and_si256(_mm256_xor_si256(_mm256_cvttps_epi32(x), _mm256_castps_si256(large)), _mm256_castps_si256(number));
}
FN __m256i ps_to_u32(__m256 x) {
    x = _mm256_max_ps(x, _mm256_setzero_ps());
    /* The first conversion gives the top bit from 2^31 on. */
    __m256i less = _mm256_cvttps_epi32(x), more = _mm256_cvttps_epi32(_mm256_sub_ps(x, _mm256_set1_ps(0x1p31f)));
    __m256i all = _mm256_castps_si256(_mm256_cmp_ps(x, _mm256_set1_ps(0x1p32f), _CMP_GE_OQ));
    return _mm256_or_si256(_mm256_or_si256(less, _mm256_and_si256(more, _mm256_srai_epi32(less, 31))), all);
}
FN vi32 f32_to_i32(vf32 x) { return (vi32){ps_to_i32(x.a), ps_to_i32(x.b)}; }
FN vi32 f32_to_u32(vf32 x) { return (vi32){ps_to_u32(x.a), ps_to_u32(x.b)}; }
FN __m128i pd_to_i32(__m256d x) { return _mm256_cvttpd_epi32(_mm256_min_pd(_mm256_set1_pd(2147483647), x)); }
FN __m256i pd_to_u32(__m256d x) {
    __m256i n = pd_low_bits(FLOOR_PD(_mm256_min_pd(_mm256_max_pd(x, _mm256_setzero_pd()), _mm256_set1_pd(4294967295))));
    return UNLESS_NAN_PD(x, n, 0x80000000u);
}
FN vi32 f64_to_i32(vf64 x) { return (vi32){_mm256_set_m128i(pd_to_i32(x.b), pd_to_i32(x.a)), _mm256_set_m128i(pd_to_i32(x.d), pd_to_i32(x.c))}; }
FN vi32 f64_to_u32(vf64 x) { return (vi32){low_halves(pd_to_u32(x.a), pd_to_u32(x.b)), low_halves(pd_to_u32(x.c), pd_to_u32(x.d))}; }
/* The high half of an integral number, of which the low 32 bits count, and the low half; both without a rounding. */
FN __m256i whole_to_i64(__m256d x) {
    __m256d high = FLOOR_PD(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-32))), low = _mm256_fmadd_pd(high, _mm256_set1_pd(-0x1p32), x);
    __m256i bits = _mm256_castpd_si256(_mm256_add_pd(high, _mm256_set1_pd(LOW_BITS)));
    return _mm256_blend_epi32(pd_low_bits(low), _mm256_slli_epi64(bits, 32), 0xaa);
}
FN __m256i pd_to_i64(__m256d x) {
    const __m256i most = _mm256_set1_epi64x(0x7fffffffffffffffll);
    __m256d large = _mm256_cmp_pd(x, _mm256_set1_pd(0x1p63), _CMP_GE_OQ);
    __m256i n = whole_to_i64(TRUNC_PD(_mm256_max_pd(x, _mm256_set1_pd(-0x1p63))));
    return _mm256_blendv_epi8(n, most, _mm256_castpd_si256(large));
}
FN __m256i pd_to_u64(__m256d x) {
    __m256d large = _mm256_cmp_pd(x, _mm256_set1_pd(0x1p64), _CMP_GE_OQ);
    __m256i n = _mm256_or_si256(whole_to_i64(FLOOR_PD(_mm256_max_pd(x, _mm256_setzero_pd()))), _mm256_castpd_si256(large));
    return UNLESS_NAN_PD(x, n, 0x8000000000000000ull);
}
FN vi64 f64_to_i64(vf64 x) { return (vi64){pd_to_i64(x.a), pd_to_i64(x.b), pd_to_i64(x.c), pd_to_i64(x.d)}; }
FN vi64 f64_to_u64(vf64 x) { return (vi64){pd_to_u64(x.a), pd_to_u64(x.b), pd_to_u64(x.c), pd_to_u64(x.d)}; }
FN m16 truth_i32(vi32 x) { return ne_i32(x, splat_i32(0)); }
/* The integer of an integral value; any number if it does not fit. */
FN vi32 whole_i32(vf32 x) { return (vi32){_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
FN vf32 b1_to_f32(m16 m) { return select_f32(m, splat_f32(1), splat_f32(0)); }
FN vf64 b1_to_f64(m16 m) { return select_f64(m, splat_f64(1), splat_f64(0)); }
#define BITS8(m, n) _mm256_srli_epi32(SIGNS8(m, n), 31)
#define BITS4(m, n) _mm256_srli_epi64(SIGNS4(m, n), 63)
FN vi32 b1_to_i32(m16 m) { return (vi32){BITS8(m, 0), BITS8(m, 8)}; }
FN vi64 b1_to_i64(m16 m) { return (vi64){BITS4(m, 0), BITS4(m, 4), BITS4(m, 8), BITS4(m, 12)}; }

/* Neighbouring elements; `_m`: for the lanes in the mask, zero elsewhere. */
#define AS_I4(p) ((const __m128i*)(p))
#define AS_I8(p) ((const __m256i*)(p))
FN vf32 ld_f32(const char* p) { return (vf32){_mm256_loadu_ps((const f32*)p), _mm256_loadu_ps((const f32*)(p + 32))}; }
FN vi32 ld_i32(const char* p) { return (vi32){_mm256_loadu_si256(AS_I8(p)), _mm256_loadu_si256(AS_I8(p + 32))}; }
FN vi64 ld_i64(const char* p) {
    return (vi64){_mm256_loadu_si256(AS_I8(p)), _mm256_loadu_si256(AS_I8(p + 32)),
                  _mm256_loadu_si256(AS_I8(p + 64)), _mm256_loadu_si256(AS_I8(p + 96))};
}
FN vf64 ld_f64(const char* p) { return cast_i64_f64(ld_i64(p)); }
#define OF_BYTES(f, p) (vi32){f(_mm_loadl_epi64(AS_I4(p))), f(_mm_loadl_epi64(AS_I4(p + 8)))}
#define OF_PAIRS(f, p) (vi32){f(_mm_loadu_si128(AS_I4(p))), f(_mm_loadu_si128(AS_I4(p + 16)))}
FN vi32 ld_i8(const char* p) { return OF_BYTES(_mm256_cvtepi8_epi32, p); }
FN vi32 ld_u8(const char* p) { return OF_BYTES(_mm256_cvtepu8_epi32, p); }
FN vi32 ld_i16(const char* p) { return OF_PAIRS(_mm256_cvtepi16_epi32, p); }
FN vi32 ld_u16(const char* p) { return OF_PAIRS(_mm256_cvtepu16_epi32, p); }
/* The bytes that are not 0. */
FN m16 truth16(__m128i x) { return ~_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())); }
FN m16 ld_b1(const char* p) { return truth16(_mm_loadu_si128(AS_I4(p))); }
/* A known mask of first lanes is a shorter vector, which store forwarding gets from a longer store just before.
   Registers known to be full or empty need no mask: masked stores are slow, and delay loads of the stored data. */
#define NONE_OF(m, bits) (__builtin_constant_p(m) && ((m) & (bits)) == 0)
#define EACH_OF(m, bits) (__builtin_constant_p(m) && ((m) & (bits)) == (bits))
#define PART8(m, n, p) \
    (NONE_OF(m, 0xff << (n)) ? _mm256_setzero_ps() : EACH_OF(m, 0xff << (n)) ? _mm256_loadu_ps((const f32*)(p)) \
                             : _mm256_maskload_ps((const f32*)(p), SIGNS8(m, n)))
#define PART4(m, n, p) \
    (NONE_OF(m, 0xf << (n)) ? _mm256_setzero_pd() : EACH_OF(m, 0xf << (n)) ? _mm256_loadu_pd((const f64*)(p)) \
                            : _mm256_maskload_pd((const f64*)(p), SIGNS4(m, n)))
FN vf32 ldm_f32(m16 m, const char* p) {
    if (FIRST(m, 4)) return (vf32){_mm256_zextps128_ps256(_mm_loadu_ps((const f32*)p)), _mm256_setzero_ps()};
    if (FIRST(m, 2)) return (vf32){_mm256_zextps128_ps256(_mm_castpd_ps(_mm_load_sd((const f64*)p))), _mm256_setzero_ps()};
    if (FIRST(m, 1)) return (vf32){_mm256_zextps128_ps256(_mm_load_ss((const f32*)p)), _mm256_setzero_ps()};
    return (vf32){PART8(m, 0, p), PART8(m, 8, p + 32)};
}
FN vi32 ldm_i32(m16 m, const char* p) { return cast_f32_i32(ldm_f32(m, p)); }
FN vf64 ldm_f64(m16 m, const char* p) { return (vf64){PART4(m, 0, p), PART4(m, 4, p + 32), PART4(m, 8, p + 64), PART4(m, 12, p + 96)}; }
FN vi64 ldm_i64(m16 m, const char* p) { return cast_f64_i64(ldm_f64(m, p)); }
/* Bytes and pairs of bytes have no masked loads. The page of a lane in the mask is readable, so a load within that page is safe. */
#define ON_A_PAGE(m, p, size) ((m) != 0 && ((u64)(p) & 4095) <= 4096 - (size))
FN __m128i mask_bytes(m16 m) {
    const __m128i bits = _mm_set1_epi64x((i64)0x8040201008040201ull);
    __m128i all = _mm_shuffle_epi8(_mm_cvtsi32_si128(m), _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
    return _mm_cmpeq_epi8(_mm_and_si128(all, bits), bits);
}
FN __m256i mask_pairs(m16 m) {
    const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((i16)m), bits), bits);
}
COLD __m128i few_bytes(m16 m, const char* p) {
    u8 r[16] = {0};
    LOOP_LANES(m) r[l] = (u8)p[l];
    return _mm_loadu_si128(AS_I4(r));
}
COLD __m256i few_pairs(m16 m, const char* p) {
    u16 r[16] = {0};
    LOOP_LANES(m) r[l] = ((const u16*)p)[l];
    return _mm256_loadu_si256(AS_I8(r));
}
FN __m128i ldm_bytes(m16 m, const char* p) {
    if (FIRST(m, 8)) return _mm_loadl_epi64(AS_I4(p));
    return likely(ON_A_PAGE(m, p, 16)) ? _mm_and_si128(_mm_loadu_si128(AS_I4(p)), mask_bytes(m)) : few_bytes(m, p);
}
FN __m256i ldm_pairs(m16 m, const char* p) {
    if (FIRST(m, 8)) return _mm256_zextsi128_si256(_mm_loadu_si128(AS_I4(p)));
    return likely(ON_A_PAGE(m, p, 32)) ? _mm256_and_si256(_mm256_loadu_si256(AS_I8(p)), mask_pairs(m)) : few_pairs(m, p);
}
#define ALL_BYTES(x) (x)
#define LAST_BYTES(x) _mm_srli_si128(x, 8)
#define LOAD_SOME(name, load, first, last, widen) \
    FN vi32 name(m16 m, const char* p) { const __auto_type x = load(m, p); return (vi32){widen(first(x)), widen(last(x))}; }
LOAD_SOME(ldm_i8, ldm_bytes, ALL_BYTES, LAST_BYTES, _mm256_cvtepi8_epi32)
LOAD_SOME(ldm_u8, ldm_bytes, ALL_BYTES, LAST_BYTES, _mm256_cvtepu8_epi32)
LOAD_SOME(ldm_i16, ldm_pairs, LOW4, HIGH4, _mm256_cvtepi16_epi32)
LOAD_SOME(ldm_u16, ldm_pairs, LOW4, HIGH4, _mm256_cvtepu16_epi32)
FN m16 ldm_b1(m16 m, const char* p) { return truth16(ldm_bytes(m, p)); }
#define TO_I4(p) ((__m128i*)(p))
#define TO_I8(p) ((__m256i*)(p))
FN void st_f32(char* p, vf32 x) { _mm256_storeu_ps((f32*)p, x.a); _mm256_storeu_ps((f32*)(p + 32), x.b); }
FN void st_i32(char* p, vi32 x) { _mm256_storeu_si256(TO_I8(p), x.a); _mm256_storeu_si256(TO_I8(p + 32), x.b); }
FN void st_i64(char* p, vi64 x) {
    _mm256_storeu_si256(TO_I8(p), x.a); _mm256_storeu_si256(TO_I8(p + 32), x.b);
    _mm256_storeu_si256(TO_I8(p + 64), x.c); _mm256_storeu_si256(TO_I8(p + 96), x.d);
}
FN void st_f64(char* p, vf64 x) { st_i64(p, cast_f64_i64(x)); }
/* The low bits of lanes. Packing saturates, so the other bits are cleared first; it gives fours of lanes of `a` and `b` in turn. */
FN __m128i to_bytes(vi32 x) {
    __m256i twos = _mm256_packus_epi32(FIT_U8(x.a), FIT_U8(x.b)), ones = _mm256_packus_epi16(twos, twos);
    return LOW4(_mm256_permutevar8x32_epi32(ones, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5)));
}
FN __m256i to_pairs(vi32 x) { return _mm256_permute4x64_epi64(_mm256_packus_epi32(FIT_U16(x.a), FIT_U16(x.b)), 0xd8); }
FN void st_i8(char* p, vi32 x) { _mm_storeu_si128(TO_I4(p), to_bytes(x)); }
FN void st_i16(char* p, vi32 x) { _mm256_storeu_si256(TO_I8(p), to_pairs(x)); }
FN void st_b1(char* p, m16 x) { _mm_storeu_si128(TO_I4(p), _mm_and_si128(mask_bytes(x), _mm_set1_epi8(1))); }
#define PUT8(m, n, p, x) \
    do { \
        if (NONE_OF(m, 0xff << (n))) break; \
        if (EACH_OF(m, 0xff << (n))) _mm256_storeu_ps((f32*)(p), x); else _mm256_maskstore_ps((f32*)(p), SIGNS8(m, n), x); \
    } while (0)
#define PUT4(m, n, p, x) \
    do { \
        if (NONE_OF(m, 0xf << (n))) break; \
        if (EACH_OF(m, 0xf << (n))) _mm256_storeu_pd((f64*)(p), x); else _mm256_maskstore_pd((f64*)(p), SIGNS4(m, n), x); \
    } while (0)
FN void stm_f32(m16 m, char* p, vf32 x) {
    if (m == 0xffff) st_f32(p, x);
    else if (FIRST(m, 4)) _mm_storeu_ps((f32*)p, LOW_PS(x.a));
    else if (FIRST(m, 2)) _mm_store_sd((f64*)p, _mm_castps_pd(LOW_PS(x.a)));
    else if (FIRST(m, 1)) _mm_store_ss((f32*)p, LOW_PS(x.a));
    else { PUT8(m, 0, p, x.a); PUT8(m, 8, p + 32, x.b); }
}
FN void stm_i32(m16 m, char* p, vi32 x) { stm_f32(m, p, cast_i32_f32(x)); }
FN void stm_f64(m16 m, char* p, vf64 x) {
    if (m == 0xffff) st_f64(p, x);
    else { PUT4(m, 0, p, x.a); PUT4(m, 4, p + 32, x.b); PUT4(m, 8, p + 64, x.c); PUT4(m, 12, p + 96, x.d); }
}
FN void stm_i64(m16 m, char* p, vi64 x) { stm_f64(m, p, cast_i64_f64(x)); }
FN void stm_bytes(m16 m, char* p, __m128i x) {
    u8 r[16];
    if (m == 0xffff) { _mm_storeu_si128(TO_I4(p), x); return; }
    if (FIRST(m, 8)) { _mm_storel_epi64(TO_I4(p), x); return; }
    _mm_storeu_si128(TO_I4(r), x);
    LOOP_LANES(m) ((u8*)p)[l] = r[l];
}
FN void stm_i8(m16 m, char* p, vi32 x) { stm_bytes(m, p, to_bytes(x)); }
FN void stm_b1(m16 m, char* p, m16 x) { stm_bytes(m, p, _mm_and_si128(mask_bytes(x), _mm_set1_epi8(1))); }
FN void stm_i16(m16 m, char* p, vi32 x) {
    u16 r[16];
    if (m == 0xffff) { st_i16(p, x); return; }
    _mm256_storeu_si256(TO_I8(r), to_pairs(x));
    LOOP_LANES(m) ((u16*)p)[l] = r[l];
}

/* Stores past the cache, if the address is that of a line. */
FN void nt_i32(char* p, vi32 x) { _mm256_stream_si256(TO_I8(p), x.a); _mm256_stream_si256(TO_I8(p + 32), x.b); }
FN void nt_f32(char* p, vf32 x) { nt_i32(p, cast_f32_i32(x)); }
FN void nt_i64(char* p, vi64 x) { nt_i32(p, (vi32){x.a, x.b}); nt_i32(p + 64, (vi32){x.c, x.d}); }
FN void nt_f64(char* p, vf64 x) { nt_i64(p, cast_f64_i64(x)); }

/* Elements anywhere: at byte offsets, or at 32-bit indices of elements. If all lanes are active they are
   loaded one by one, which is faster than a gather on many machines. `AT(l)` is the element of lane `l`. */
#define FOUR(l) _mm_setr_ps(AT(l), AT(l + 1), AT(l + 2), AT(l + 3))
#define FOUR_PD(l) _mm256_setr_pd(AT(l), AT(l + 1), AT(l + 2), AT(l + 3))
#define SIXTEEN (vf32){_mm256_set_m128(FOUR(4), FOUR(0)), _mm256_set_m128(FOUR(12), FOUR(8))}
#define SIXTEEN_PD (vf64){FOUR_PD(0), FOUR_PD(4), FOUR_PD(8), FOUR_PD(12)}
/* A lane whose number is known to the compiler. */
#define OF4(x, l) ((l) < 4 ? x.a[(l) % 4] : (l) < 8 ? x.b[(l) % 4] : (l) < 12 ? x.c[(l) % 4] : x.d[(l) % 4])
#define OF8(x, l) ((l) < 8 ? x.a[(l) % 8] : x.b[(l) % 8])
/* Two lanes as one number: the fastest way to read them one by one. */
FN u64 pair(vi32 i, int n) {
    __m128i four = n < 2 ? LOW4(i.a) : n < 4 ? HIGH4(i.a) : n < 6 ? LOW4(i.b) : HIGH4(i.b);
    return (u64)(n & 1 ? _mm_extract_epi64(four, 1) : _mm_extract_epi64(four, 0));
}
/* A lane of numbers below 256. */
FN u64 byte(vi32 i, int l) {
    __m128i all = _mm_packus_epi16(_mm_packus_epi32(LOW4(i.a), HIGH4(i.a)), _mm_packus_epi32(LOW4(i.b), HIGH4(i.b)));
    return (u64)(l < 8 ? _mm_extract_epi64(all, 0) : _mm_extract_epi64(all, 1)) >> l % 8 * 8 & 255;
}
#define SIGNS_4(m, n) _mm_castsi128_ps(_mm_sllv_epi32(_mm_set1_epi32((i32)(m)), _mm_setr_epi32(31 - (n), 30 - (n), 29 - (n), 28 - (n))))
FN vf32 ga_f32(m16 m, const char* p, vi64 o) {
#define AT(l) *(const f32*)(p + OF4(o, l))
    if (ALL_OF(m)) return SIXTEEN;
#undef AT
#define SOME(n, o) _mm256_mask_i64gather_ps(_mm_setzero_ps(), (const f32*)p, o, SIGNS_4(m, n), 1)
    return (vf32){_mm256_set_m128(SOME(4, o.b), SOME(0, o.a)), _mm256_set_m128(SOME(12, o.d), SOME(8, o.c))};
#undef SOME
}
FN vf64 ga_f64(m16 m, const char* p, vi64 o) {
#define AT(l) *(const f64*)(p + OF4(o, l))
    if (ALL_OF(m)) return SIXTEEN_PD;
#undef AT
#define SOME(n, o) _mm256_mask_i64gather_pd(_mm256_setzero_pd(), (const f64*)p, o, SIGNS_PD(m, n), 1)
    return (vf64){SOME(0, o.a), SOME(4, o.b), SOME(8, o.c), SOME(12, o.d)};
#undef SOME
}
FN vf32 gx_f32(m16 m, const char* p, vi32 i) {
#define AT(l) ((const f32*)p)[(u32)(pair(i, (l) / 2) >> (l) % 2 * 32)]
    if (ALL_OF(m)) return SIXTEEN;
#undef AT
#define SOME(n, i) _mm256_mask_i32gather_ps(_mm256_setzero_ps(), (const f32*)p, i, SIGNS_PS(m, n), 4)
    return (vf32){SOME(0, i.a), SOME(8, i.b)};
#undef SOME
}
FN vf64 gx_f64(m16 m, const char* p, vi32 i) {
#define AT(l) ((const f64*)p)[(u32)(pair(i, (l) / 2) >> (l) % 2 * 32)]
    if (ALL_OF(m)) return SIXTEEN_PD;
#undef AT
#define SOME(n, i) _mm256_mask_i32gather_pd(_mm256_setzero_pd(), (const f64*)p, i, SIGNS_PD(m, n), 8)
    return (vf64){SOME(0, LOW4(i.a)), SOME(4, HIGH4(i.a)), SOME(8, LOW4(i.b)), SOME(12, HIGH4(i.b))};
#undef SOME
}
/* A line of elements, all in bounds; the step is in bytes. */
FN vf32 gl_f32(m16 m, const char* p, i32 step) {
#define AT(l) *(const f32*)(p + (l) * (i64)step)
    if (ALL_OF(m)) return SIXTEEN;
#undef AT
    const vi32 i = line_i32(0, step);
#define SOME(n, i) _mm256_mask_i32gather_ps(_mm256_setzero_ps(), (const f32*)p, i, SIGNS_PS(m, n), 1)
    return (vf32){SOME(0, i.a), SOME(8, i.b)};
#undef SOME
}
FN vf64 gl_f64(m16 m, const char* p, i32 step) {
#define AT(l) *(const f64*)(p + (l) * (i64)step)
    if (ALL_OF(m)) return SIXTEEN_PD;
#undef AT
    return ga_f64(m, p, line_i64(0, step));
}
FN vi32 ga_i32(m16 m, const char* p, vi64 o) { return cast_f32_i32(ga_f32(m, p, o)); }
FN vi64 ga_i64(m16 m, const char* p, vi64 o) { return cast_f64_i64(ga_f64(m, p, o)); }
FN vi32 gx_i32(m16 m, const char* p, vi32 i) { return cast_f32_i32(gx_f32(m, p, i)); }
FN vi64 gx_i64(m16 m, const char* p, vi32 i) { return cast_f64_i64(gx_f64(m, p, i)); }
FN vi32 gl_i32(m16 m, const char* p, i32 step) { return cast_f32_i32(gl_f32(m, p, step)); }
FN vi64 gl_i64(m16 m, const char* p, i32 step) { return cast_f64_i64(gl_f64(m, p, step)); }
/* Scatters: if several lanes go to one place, the last one stays. */
#define EACH16(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define SCATTER(name, ty, vty, of) \
    FN void name(m16 m, char* p, vi64 o, vty x) { \
        i64 q[16]; ty r[16]; \
        if (m == 0xffff) { EACH16(of) return; } \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(r, &x, sizeof r); \
        LOOP_LANES(m) *(ty*)(p + q[l]) = r[l]; \
    }
#define PUT_F32(l) *(f32*)(p + OF4(o, l)) = OF8(x, l);
#define PUT_F64(l) *(f64*)(p + OF4(o, l)) = OF4(x, l);
SCATTER(sc_f32, f32, vf32, PUT_F32)
SCATTER(sc_f64, f64, vf64, PUT_F64)
/* The same in a line; the step is in bytes. */
FN void sl_f32(m16 m, char* p, i32 step, vf32 x) {
    f32 r[16];
    __builtin_memcpy(r, &x, sizeof r);
    LOOP_LANES(m) *(f32*)(p + (i64)step * l) = r[l];
}
FN void sl_f64(m16 m, char* p, i32 step, vf64 x) {
    f64 r[16];
    __builtin_memcpy(r, &x, sizeof r);
    LOOP_LANES(m) *(f64*)(p + (i64)step * l) = r[l];
}
FN void sl_i32(m16 m, char* p, i32 step, vi32 x) { sl_f32(m, p, step, cast_i32_f32(x)); }
FN void sl_i64(m16 m, char* p, i32 step, vi64 x) { sl_f64(m, p, step, cast_i64_f64(x)); }
FN void sc_i32(m16 m, char* p, vi64 o, vi32 x) { sc_f32(m, p, o, cast_i32_f32(x)); }
FN void sc_i64(m16 m, char* p, vi64 o, vi64 x) { sc_f64(m, p, o, cast_i64_f64(x)); }

/* Lanes in AVX-512 registers: 32-bit lanes are one register, 64-bit lanes two; 8- and 16-bit numbers are kept extended in 32-bit
   lanes. */
typedef __m512 vf32;
typedef __m512i vi32;
typedef struct { __m512i a, b; } vi64;
typedef struct { __m512d a, b; } vf64;
#define LOW(m) ((__mmask8)(m))
#define HIGH(m) ((__mmask8)((m) >> 8))

/* Whole vectors as C numbers, for operations that C has an operator for. */
typedef i32 ci32 __attribute__((vector_size(64), may_alias));
typedef u32 cu32 __attribute__((vector_size(64), may_alias));
typedef i64 ci64 __attribute__((vector_size(64), may_alias));
typedef u64 cu64 __attribute__((vector_size(64), may_alias));

/* One value for all lanes, and lines. */
FN vf32 splat_f32(f32 x) { return _mm512_set1_ps(x); }
FN vf64 splat_f64(f64 x) { return (vf64){_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
FN vi32 splat_i32(i32 x) { return _mm512_set1_epi32(x); }
FN vi64 splat_i64(i64 x) { return (vi64){_mm512_set1_epi64(x), _mm512_set1_epi64(x)}; }
#define IOTA32 _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define IOTA64A _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
#define IOTA64B _mm512_setr_epi64(8, 9, 10, 11, 12, 13, 14, 15)
FN vi32 line_i32(i32 x, i32 step) { return (vi32)((ci32)_mm512_set1_epi32(x) + (ci32)IOTA32 * step); }
FN vi64 line_i64(i64 x, i64 step) {
    return (vi64){(__m512i)((ci64)_mm512_set1_epi64(x) + (ci64)IOTA64A * step),
                  (__m512i)((ci64)_mm512_set1_epi64(x) + (ci64)IOTA64B * step)};
}

/* Floats. */
#define FLOAT2(name, one, two) \
    FN vf32 name##_f32(vf32 x, vf32 y) { return one(x, y); } \
    FN vf64 name##_f64(vf64 x, vf64 y) { return (vf64){two(x.a, y.a), two(x.b, y.b)}; }
FLOAT2(add, _mm512_add_ps, _mm512_add_pd)
FLOAT2(sub, _mm512_sub_ps, _mm512_sub_pd)
FLOAT2(mul, _mm512_mul_ps, _mm512_mul_pd)
FLOAT2(div, _mm512_div_ps, _mm512_div_pd)
/* The minimum and the maximum; the second operand if either is NaN or both are zero. */
FLOAT2(min2, _mm512_min_ps, _mm512_min_pd)
FLOAT2(max2, _mm512_max_ps, _mm512_max_pd)
#define FLOAT1(name, one, two) \
    FN vf32 name##_f32(vf32 x) { return one(x); } \
    FN vf64 name##_f64(vf64 x) { return (vf64){two(x.a), two(x.b)}; }
#define ROUND_PS(x) _mm512_roundscale_ps(x, 8)
#define ROUND_PD(x) _mm512_roundscale_pd(x, 8)
#define FLOOR_PS(x) _mm512_roundscale_ps(x, 9)
#define FLOOR_PD(x) _mm512_roundscale_pd(x, 9)
#define CEIL_PS(x) _mm512_roundscale_ps(x, 10)
#define CEIL_PD(x) _mm512_roundscale_pd(x, 10)
#define TRUNC_PS(x) _mm512_roundscale_ps(x, 11)
#define TRUNC_PD(x) _mm512_roundscale_pd(x, 11)
#define NEG_PS(x) _mm512_xor_ps(x, _mm512_set1_ps(-0.0f))
#define NEG_PD(x) _mm512_xor_pd(x, _mm512_set1_pd(-0.0))
FLOAT1(neg, NEG_PS, NEG_PD)
FLOAT1(fabs, _mm512_abs_ps, _mm512_abs_pd)
FLOAT1(sqrt, _mm512_sqrt_ps, _mm512_sqrt_pd)
FLOAT1(rint, ROUND_PS, ROUND_PD)
FLOAT1(floor, FLOOR_PS, FLOOR_PD)
FLOAT1(ceil, CEIL_PS, CEIL_PD)
FLOAT1(trunc, TRUNC_PS, TRUNC_PD)
FN vf32 fma_f32(vf32 x, vf32 y, vf32 z) { return _mm512_fmadd_ps(x, y, z); }
FN vf64 fma_f64(vf64 x, vf64 y, vf64 z) { return (vf64){_mm512_fmadd_pd(x.a, y.a, z.a), _mm512_fmadd_pd(x.b, y.b, z.b)}; }
/* The reciprocal square root of `math/reciprocal.rs`, operation by operation. */
#ifdef RSQRT_ESTIMATE
FN vf32 rsqrt_f32(vf32 x) {
    vf32 y = _mm512_rsqrt14_ps(x), t = _mm512_mul_ps(x, y), e = _mm512_fnmadd_ps(t, y, _mm512_set1_ps(1));
    return _mm512_mask3_fmadd_ps(_mm512_mul_ps(y, _mm512_set1_ps(0.5f)), e, y, _mm512_cmp_ps_mask(t, t, _CMP_ORD_Q));
}
#else
FN vf32 rsqrt_f32(vf32 x) { return div_f32(splat_f32(1), sqrt_f32(x)); }
#endif
FN vf32 copysign_f32(vf32 x, vf32 y) { return _mm512_or_ps(_mm512_abs_ps(x), _mm512_and_ps(y, _mm512_set1_ps(-0.0f))); }
FN __m512d copysign8(__m512d x, __m512d y) { return _mm512_or_pd(_mm512_abs_pd(x), _mm512_and_pd(y, _mm512_set1_pd(-0.0))); }
FN vf64 copysign_f64(vf64 x, vf64 y) { return (vf64){copysign8(x.a, y.a), copysign8(x.b, y.b)}; }
/* A NaN loses to a number; of two zeros the sign decides. */
FN vf32 fmin_f32(vf32 x, vf32 y) {
    vf32 r = _mm512_min_ps(x, y);
    r = _mm512_mask_or_ps(r, _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ), x, y);
    return _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), x);
}
FN vf32 fmax_f32(vf32 x, vf32 y) {
    vf32 r = _mm512_max_ps(x, y);
    r = _mm512_mask_and_ps(r, _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ), x, y);
    return _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), x);
}
FN __m512d fmin8(__m512d x, __m512d y) {
    __m512d r = _mm512_mask_or_pd(_mm512_min_pd(x, y), _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), x, y);
    return _mm512_mask_mov_pd(r, _mm512_cmp_pd_mask(y, y, _CMP_UNORD_Q), x);
}
FN __m512d fmax8(__m512d x, __m512d y) {
    __m512d r = _mm512_mask_and_pd(_mm512_max_pd(x, y), _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), x, y);
    return _mm512_mask_mov_pd(r, _mm512_cmp_pd_mask(y, y, _CMP_UNORD_Q), x);
}
FN vf64 fmin_f64(vf64 x, vf64 y) { return (vf64){fmin8(x.a, y.a), fmin8(x.b, y.b)}; }
FN vf64 fmax_f64(vf64 x, vf64 y) { return (vf64){fmax8(x.a, y.a), fmax8(x.b, y.b)}; }

/* Two to the power of an integer times a number, rounded once; a positive number as mantissa in [3/4, 3/2) and exponent. */
FLOAT2(scale, _mm512_scalef_ps, _mm512_scalef_pd)
FN vf32 mantissa_f32(vf32 x) { return _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan); }
FN vf32 exponent_f32(vf32 x, vf32 m) { return _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m)); }
/* The exponent of any number. */
FLOAT1(logb, _mm512_getexp_ps, _mm512_getexp_pd)

/* Integers: operations that wrap are the same for both signs. */
#define INT2(name, op) \
    FN vi32 name##_i32(vi32 x, vi32 y) { return (vi32)((cu32)x op (cu32)y); } \
    FN vi64 name##_i64(vi64 x, vi64 y) { return (vi64){(__m512i)((cu64)x.a op (cu64)y.a), (__m512i)((cu64)x.b op (cu64)y.b)}; }
INT2(add, +)
INT2(sub, -)
INT2(and, &)
INT2(or, |)
INT2(xor, ^)
FN vi32 mul_i32(vi32 x, vi32 y) { return _mm512_mullo_epi32(x, y); }
FN vi64 mul_i64(vi64 x, vi64 y) { return (vi64){_mm512_mullo_epi64(x.a, y.a), _mm512_mullo_epi64(x.b, y.b)}; }
FN vi32 neg_i32(vi32 x) { return _mm512_sub_epi32(_mm512_setzero_si512(), x); }
FN vi64 neg_i64(vi64 x) { return sub_i64(splat_i64(0), x); }
FN vi32 not_i32(vi32 x) { return (vi32)~(cu32)x; }
FN vi64 not_i64(vi64 x) { return (vi64){(__m512i)~(cu64)x.a, (__m512i)~(cu64)x.b}; }
#define INT2I(name, one, two) \
    FN vi32 name##32(vi32 x, vi32 y) { return one(x, y); } \
    FN vi64 name##64(vi64 x, vi64 y) { return (vi64){two(x.a, y.a), two(x.b, y.b)}; }
INT2I(min_i, _mm512_min_epi32, _mm512_min_epi64)
INT2I(min_u, _mm512_min_epu32, _mm512_min_epu64)
INT2I(max_i, _mm512_max_epi32, _mm512_max_epi64)
INT2I(max_u, _mm512_max_epu32, _mm512_max_epu64)
/* Shifts; amounts at or past the width shift everything out, as in PTX. */
INT2I(shl_i, _mm512_sllv_epi32, _mm512_sllv_epi64)
INT2I(shr_u, _mm512_srlv_epi32, _mm512_srlv_epi64)
INT2I(shr_i, _mm512_srav_epi32, _mm512_srav_epi64)
FN vi32 fit_i8(vi32 x) { return _mm512_srai_epi32(_mm512_slli_epi32(x, 24), 24); }
FN vi32 fit_i16(vi32 x) { return _mm512_srai_epi32(_mm512_slli_epi32(x, 16), 16); }
FN vi32 fit_u8(vi32 x) { return _mm512_and_si512(x, _mm512_set1_epi32(0xff)); }
FN vi32 fit_u16(vi32 x) { return _mm512_and_si512(x, _mm512_set1_epi32(0xffff)); }
FN vi32 mulhi_i32(vi32 x, vi32 y) {
    __m512i even = _mm512_srli_epi64(_mm512_mul_epi32(x, y), 32);
    __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32));
    return _mm512_mask_mov_epi32(even, 0xaaaa, odd);
}
FN vi32 mulhi_u32(vi32 x, vi32 y) {
    __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(x, y), 32);
    __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32));
    return _mm512_mask_mov_epi32(even, 0xaaaa, odd);
}

/* Division, after the checks; inactive lanes may hold any divisor. */
FN vi32 div_i32(vi32 x, vi32 y) {
    __m512d a = _mm512_div_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(x)), _mm512_cvtepi32_pd(_mm512_castsi512_si256(y)));
    __m512d b = _mm512_div_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(x, 1)),
                              _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(y, 1)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a)), _mm512_cvttpd_epi32(b), 1);
}
FN vi32 div_u32(vi32 x, vi32 y) {
    __m512d a = _mm512_div_pd(_mm512_cvtepu32_pd(_mm512_castsi512_si256(x)), _mm512_cvtepu32_pd(_mm512_castsi512_si256(y)));
    __m512d b = _mm512_div_pd(_mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(x, 1)),
                              _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(y, 1)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epu32(a)), _mm512_cvttpd_epu32(b), 1);
}
/* Division by a number that the compiler sees, which it does by multiplication. */
#define div_by_i32(x, n) ((vi32)((ci32)(x) / (n)))
#define div_by_u32(x, n) ((vi32)((cu32)(x) / (n)))
#define rem_by_i32(x, n) ((vi32)((ci32)(x) % (n)))
#define rem_by_u32(x, n) ((vi32)((cu32)(x) % (n)))

/* Bits. */
FN vi32 clz_32(vi32 x) { return _mm512_lzcnt_epi32(x); }
FN vi32 popc_32(vi32 x) {
    cu32 v = (cu32)x;
    v -= (v >> 1) & 0x55555555u;
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    return (vi32)((v * 0x01010101u) >> 24);
}
FN vi32 brev_32(vi32 x) {
    cu32 v = (cu32)x;
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
    v = ((v >> 8) & 0x00ff00ffu) | ((v & 0x00ff00ffu) << 8);
    return (vi32)((v >> 16) | (v << 16));
}
/* Bytes become numbers of 16 bits, those at even places apart from those at odd ones. The instruction for bytes takes some without signs and some
   with; 128 more or less of each is taken out by the sum of the others. */
#ifdef __AVX512VNNI__
FN vi32 sum_of_128(vi32 bytes, vi32 ones) { return _mm512_slli_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), bytes, ones), 7); }
FN vi32 dot4_i32(vi32 x, vi32 y, vi32 sum) {
    const vi32 more = _mm512_xor_si512(x, _mm512_set1_epi8(-128));
    return _mm512_sub_epi32(_mm512_dpbusd_epi32(sum, more, y), sum_of_128(_mm512_set1_epi8(1), y));
}
FN vi32 dot4_u32(vi32 x, vi32 y, vi32 sum) {
    const vi32 less = _mm512_xor_si512(y, _mm512_set1_epi8(-128));
    return _mm512_add_epi32(_mm512_dpbusd_epi32(sum, x, less), sum_of_128(x, _mm512_set1_epi8(1)));
}
#else
#define DOT4(name, shift) \
    FN vi32 name(vi32 x, vi32 y, vi32 sum) { \
        const vi32 even = _mm512_madd_epi16(shift(_mm512_slli_epi16(x, 8), 8), shift(_mm512_slli_epi16(y, 8), 8)); \
        return _mm512_add_epi32(_mm512_add_epi32(sum, even), _mm512_madd_epi16(shift(x, 8), shift(y, 8))); \
    }
DOT4(dot4_i32, _mm512_srai_epi16)
DOT4(dot4_u32, _mm512_srli_epi16)
#endif
FN vi32 half_to_float(vi32 x) { return _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(x))); }
FN vi32 float_to_half(vi32 x) {
    const vf32 f = _mm512_castsi512_ps(x);
    const vi32 h = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT));
    return _mm512_mask_mov_epi32(h, _mm512_cmp_ps_mask(f, f, _CMP_UNORD_Q), _mm512_set1_epi32(0x7fff));
}
FN vi32 ffs_32(vi32 x) {
    __m512i low = _mm512_and_si512(x, neg_i32(x));
    return _mm512_maskz_sub_epi32(_mm512_test_epi32_mask(x, x), _mm512_set1_epi32(32), _mm512_lzcnt_epi32(low));
}

/* Comparisons, which give masks. */
#define CMPF(name, code) \
    FN m16 name##_f32(vf32 x, vf32 y) { return _mm512_cmp_ps_mask(x, y, code); } \
    FN m16 name##_f64(vf64 x, vf64 y) { return (m16)(_mm512_cmp_pd_mask(x.a, y.a, code) | _mm512_cmp_pd_mask(x.b, y.b, code) << 8); }
CMPF(eq, _CMP_EQ_OQ)
CMPF(ne, _CMP_NEQ_UQ)
CMPF(lt, _CMP_LT_OQ)
CMPF(le, _CMP_LE_OQ)
CMPF(gt, _CMP_GT_OQ)
CMPF(ge, _CMP_GE_OQ)
#define CMPI(name, code) \
    FN m16 name##_i32(vi32 x, vi32 y) { return _mm512_cmp_epi32_mask(x, y, code); } \
    FN m16 name##_u32(vi32 x, vi32 y) { return _mm512_cmp_epu32_mask(x, y, code); } \
    FN m16 name##_i64(vi64 x, vi64 y) { return (m16)(_mm512_cmp_epi64_mask(x.a, y.a, code) | _mm512_cmp_epi64_mask(x.b, y.b, code) << 8); } \
    FN m16 name##_u64(vi64 x, vi64 y) { return (m16)(_mm512_cmp_epu64_mask(x.a, y.a, code) | _mm512_cmp_epu64_mask(x.b, y.b, code) << 8); }
CMPI(eq, _MM_CMPINT_EQ)
CMPI(ne, _MM_CMPINT_NE)
CMPI(lt, _MM_CMPINT_LT)
CMPI(le, _MM_CMPINT_LE)
CMPI(gt, _MM_CMPINT_NLE)
CMPI(ge, _MM_CMPINT_NLT)

/* Lanes of the first operand where the mask is set, of the second elsewhere. */
FN vf32 select_f32(m16 m, vf32 x, vf32 y) { return _mm512_mask_mov_ps(y, m, x); }
FN vi32 select_i32(m16 m, vi32 x, vi32 y) { return _mm512_mask_mov_epi32(y, m, x); }
FN vf64 select_f64(m16 m, vf64 x, vf64 y) { return (vf64){_mm512_mask_mov_pd(y.a, LOW(m), x.a), _mm512_mask_mov_pd(y.b, HIGH(m), x.b)}; }
FN vi64 select_i64(m16 m, vi64 x, vi64 y) { return (vi64){_mm512_mask_mov_epi64(y.a, LOW(m), x.a), _mm512_mask_mov_epi64(y.b, HIGH(m), x.b)}; }

/* Lanes of two vectors by their numbers. */
FN vf32 take_f32(vf32 x, vf32 y, vi32 i) { return _mm512_permutex2var_ps(x, i, y); }
FN vi32 take_i32(vi32 x, vi32 y, vi32 i) { return _mm512_permutex2var_epi32(x, i, y); }
FN __m512i take8(vi64 x, vi64 y, __m256i i) {
    const __m512i n = _mm512_cvtepi32_epi64(i);
    const __m512i low = _mm512_permutex2var_epi64(x.a, n, x.b), high = _mm512_permutex2var_epi64(y.a, n, y.b);
    return _mm512_mask_mov_epi64(low, _mm512_test_epi64_mask(n, _mm512_set1_epi64(16)), high);
}
FN vi64 take_i64(vi64 x, vi64 y, vi32 i) {
    return (vi64){take8(x, y, _mm512_castsi512_si256(i)), take8(x, y, _mm512_extracti64x4_epi64(i, 1))};
}
FN vf64 take_f64(vf64 x, vf64 y, vi32 i) {
    const vi64 p = {_mm512_castpd_si512(x.a), _mm512_castpd_si512(x.b)}, q = {_mm512_castpd_si512(y.a), _mm512_castpd_si512(y.b)};
    const vi64 z = take_i64(p, q, i);
    return (vf64){_mm512_castsi512_pd(z.a), _mm512_castsi512_pd(z.b)};
}

/* Conversions. */
FN __m256i low8(vi32 x) { return _mm512_castsi512_si256(x); }
FN __m256i high8(vi32 x) { return _mm512_extracti64x4_epi64(x, 1); }
FN vi32 join8(__m256i a, __m256i b) { return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1); }
FN vf32 joinf8(__m256 a, __m256 b) { return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1); }
FN vi64 widen_i32(vi32 x) { return (vi64){_mm512_cvtepi32_epi64(low8(x)), _mm512_cvtepi32_epi64(high8(x))}; }
FN vi64 widen_u32(vi32 x) { return (vi64){_mm512_cvtepu32_epi64(low8(x)), _mm512_cvtepu32_epi64(high8(x))}; }
FN vi32 narrow_i64(vi64 x) { return join8(_mm512_cvtepi64_epi32(x.a), _mm512_cvtepi64_epi32(x.b)); }
FN vi32 narrow_u64(vi64 x) { return join8(_mm512_cvtusepi64_epi32(x.a), _mm512_cvtusepi64_epi32(x.b)); }
FN vf64 f32_to_f64(vf32 x) { return (vf64){_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))}; }
FN vf32 f64_to_f32(vf64 x) { return joinf8(_mm512_cvtpd_ps(x.a), _mm512_cvtpd_ps(x.b)); }
FN vf32 i32_to_f32(vi32 x) { return _mm512_cvtepi32_ps(x); }
FN vf32 u32_to_f32(vi32 x) { return _mm512_cvtepu32_ps(x); }
FN vf64 i32_to_f64(vi32 x) { return (vf64){_mm512_cvtepi32_pd(low8(x)), _mm512_cvtepi32_pd(high8(x))}; }
FN vf64 u32_to_f64(vi32 x) { return (vf64){_mm512_cvtepu32_pd(low8(x)), _mm512_cvtepu32_pd(high8(x))}; }
FN vf32 i64_to_f32(vi64 x) { return joinf8(_mm512_cvtepi64_ps(x.a), _mm512_cvtepi64_ps(x.b)); }
FN vf32 u64_to_f32(vi64 x) { return joinf8(_mm512_cvtepu64_ps(x.a), _mm512_cvtepu64_ps(x.b)); }
FN vf64 i64_to_f64(vi64 x) { return (vf64){_mm512_cvtepi64_pd(x.a), _mm512_cvtepi64_pd(x.b)}; }
FN vf64 u64_to_f64(vi64 x) { return (vf64){_mm512_cvtepu64_pd(x.a), _mm512_cvtepu64_pd(x.b)}; }
/* Conversions that truncate and saturate. NaN of a float gives 0; of a double, and in 64 bits, the
   top bit alone, which is the machine's result for all numbers that do not fit in a signed one. */
FN vi32 f32_to_i32(vf32 x) {
    vi32 r = _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
    return _mm512_mask_mov_epi32(r, _mm512_cmp_ps_mask(x, _mm512_set1_ps(2147483648.0f), _CMP_GE_OQ), _mm512_set1_epi32(0x7fffffff));
}
FN vi32 f32_to_u32(vf32 x) { return _mm512_maskz_cvttps_epu32(_mm512_cmp_ps_mask(x, _mm512_set1_ps(-1.0f), _CMP_GT_OQ), x); }
FN __m256i pd_to_i32(__m512d x) {
    return _mm256_mask_mov_epi32(_mm512_cvttpd_epi32(x), _mm512_cmp_pd_mask(x, _mm512_set1_pd(2147483648.0), _CMP_GE_OQ), _mm256_set1_epi32(0x7fffffff));
}
FN vi32 f64_to_i32(vf64 x) { return join8(pd_to_i32(x.a), pd_to_i32(x.b)); }
FN __m256i pd_to_u32(__m512d x) {
    __m256i r = _mm512_maskz_cvttpd_epu32(_mm512_cmp_pd_mask(x, _mm512_set1_pd(-1.0), _CMP_GT_OQ), x);
    return _mm256_mask_mov_epi32(r, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), _mm256_set1_epi32((int)0x80000000));
}
FN vi32 f64_to_u32(vf64 x) { return join8(pd_to_u32(x.a), pd_to_u32(x.b)); }
FN __m512i pd_to_i64(__m512d x) {
    return _mm512_mask_mov_epi64(_mm512_cvttpd_epi64(x), _mm512_cmp_pd_mask(x, _mm512_set1_pd(9223372036854775808.0), _CMP_GE_OQ), _mm512_set1_epi64(0x7fffffffffffffffll));
}
FN __m512i pd_to_u64(__m512d x) {
    __m512i r = _mm512_maskz_cvttpd_epu64(_mm512_cmp_pd_mask(x, _mm512_set1_pd(-1.0), _CMP_GT_OQ), x);
    return _mm512_mask_mov_epi64(r, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), _mm512_set1_epi64((long long)0x8000000000000000ull));
}
FN vi64 f64_to_i64(vf64 x) { return (vi64){pd_to_i64(x.a), pd_to_i64(x.b)}; }
FN vi64 f64_to_u64(vf64 x) { return (vi64){pd_to_u64(x.a), pd_to_u64(x.b)}; }
FN m16 truth_i32(vi32 x) { return _mm512_test_epi32_mask(x, x); }
/* The integer of an integral value; any number if it does not fit. */
FN vi32 whole_i32(vf32 x) { return _mm512_cvtps_epi32(x); }
FN vi32 b1_to_i32(m16 m) { return _mm512_maskz_set1_epi32(m, 1); }
FN vi64 b1_to_i64(m16 m) { return (vi64){_mm512_maskz_set1_epi64(LOW(m), 1), _mm512_maskz_set1_epi64(HIGH(m), 1)}; }
FN vf32 b1_to_f32(m16 m) { return _mm512_maskz_mov_ps(m, _mm512_set1_ps(1)); }
FN vf64 b1_to_f64(m16 m) { return (vf64){_mm512_maskz_mov_pd(LOW(m), _mm512_set1_pd(1)), _mm512_maskz_mov_pd(HIGH(m), _mm512_set1_pd(1))}; }
FN vf32 cast_i32_f32(vi32 x) { return _mm512_castsi512_ps(x); }
FN vi32 cast_f32_i32(vf32 x) { return _mm512_castps_si512(x); }
FN vf64 cast_i64_f64(vi64 x) { return (vf64){_mm512_castsi512_pd(x.a), _mm512_castsi512_pd(x.b)}; }
FN vi64 cast_f64_i64(vf64 x) { return (vi64){_mm512_castpd_si512(x.a), _mm512_castpd_si512(x.b)}; }

/* Neighbouring elements; `_m`: for the lanes in the mask, zero elsewhere. */
FN vf32 ld_f32(const char* p) { return _mm512_loadu_ps(p); }
FN vi32 ld_i32(const char* p) { return _mm512_loadu_si512(p); }
FN vf64 ld_f64(const char* p) { return (vf64){_mm512_loadu_pd(p), _mm512_loadu_pd(p + 64)}; }
FN vi64 ld_i64(const char* p) { return (vi64){_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64)}; }
FN vi32 ld_i8(const char* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p)); }
FN vi32 ld_u8(const char* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)); }
FN vi32 ld_i16(const char* p) { return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)p)); }
FN vi32 ld_u16(const char* p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)); }
FN m16 ld_b1(const char* p) { return truth_i32(ld_u8(p)); }
/* A known mask of first lanes is a shorter vector, which store forwarding
   gets from a longer store just before; masked stores delay later loads. */
FN vf32 ldm_f32(m16 m, const char* p) {
    if (FIRST(m, 8)) return _mm512_zextps256_ps512(_mm256_loadu_ps((const f32*)p));
    if (FIRST(m, 4)) return _mm512_zextps128_ps512(_mm_loadu_ps((const f32*)p));
    if (FIRST(m, 2)) return _mm512_zextps128_ps512(_mm_castpd_ps(_mm_load_sd((const f64*)p)));
    if (FIRST(m, 1)) return _mm512_zextps128_ps512(_mm_load_ss((const f32*)p));
    return _mm512_maskz_loadu_ps(m, p);
}
FN vi32 ldm_i32(m16 m, const char* p) {
    if (FIRST(m, 8) || FIRST(m, 4) || FIRST(m, 2) || FIRST(m, 1)) return _mm512_castps_si512(ldm_f32(m, p));
    return _mm512_maskz_loadu_epi32(m, p);
}
FN vf64 ldm_f64(m16 m, const char* p) { return (vf64){_mm512_maskz_loadu_pd(LOW(m), p), _mm512_maskz_loadu_pd(HIGH(m), p + 64)}; }
FN vi64 ldm_i64(m16 m, const char* p) { return (vi64){_mm512_maskz_loadu_epi64(LOW(m), p), _mm512_maskz_loadu_epi64(HIGH(m), p + 64)}; }
FN vi32 ldm_i8(m16 m, const char* p) { return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(m, p)); }
FN vi32 ldm_u8(m16 m, const char* p) { return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(m, p)); }
FN vi32 ldm_i16(m16 m, const char* p) { return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(m, p)); }
FN vi32 ldm_u16(m16 m, const char* p) { return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, p)); }
FN m16 ldm_b1(m16 m, const char* p) { return truth_i32(ldm_u8(m, p)); }
FN void st_f32(char* p, vf32 x) { _mm512_storeu_ps(p, x); }
FN void st_i32(char* p, vi32 x) { _mm512_storeu_si512(p, x); }
FN void st_f64(char* p, vf64 x) { _mm512_storeu_pd(p, x.a); _mm512_storeu_pd(p + 64, x.b); }
FN void st_i64(char* p, vi64 x) { _mm512_storeu_si512(p, x.a); _mm512_storeu_si512(p + 64, x.b); }
FN void st_i8(char* p, vi32 x) { _mm_storeu_si128((__m128i*)p, _mm512_cvtepi32_epi8(x)); }
FN void st_i16(char* p, vi32 x) { _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16(x)); }
FN void st_b1(char* p, m16 x) { st_i8(p, b1_to_i32(x)); }
FN void stm_f32(m16 m, char* p, vf32 x) {
    if (FIRST(m, 8)) _mm256_storeu_ps((f32*)p, _mm512_castps512_ps256(x));
    else if (FIRST(m, 4)) _mm_storeu_ps((f32*)p, _mm512_castps512_ps128(x));
    else if (FIRST(m, 2)) _mm_store_sd((f64*)p, _mm_castps_pd(_mm512_castps512_ps128(x)));
    else if (FIRST(m, 1)) _mm_store_ss((f32*)p, _mm512_castps512_ps128(x));
    else _mm512_mask_storeu_ps(p, m, x);
}
FN void stm_i32(m16 m, char* p, vi32 x) { stm_f32(m, p, _mm512_castsi512_ps(x)); }
FN void stm_f64(m16 m, char* p, vf64 x) { _mm512_mask_storeu_pd(p, LOW(m), x.a); _mm512_mask_storeu_pd(p + 64, HIGH(m), x.b); }
FN void stm_i64(m16 m, char* p, vi64 x) { _mm512_mask_storeu_epi64(p, LOW(m), x.a); _mm512_mask_storeu_epi64(p + 64, HIGH(m), x.b); }
FN void stm_i8(m16 m, char* p, vi32 x) { _mm512_mask_cvtepi32_storeu_epi8(p, m, x); }
FN void stm_i16(m16 m, char* p, vi32 x) { _mm512_mask_cvtepi32_storeu_epi16(p, m, x); }
FN void stm_b1(m16 m, char* p, m16 x) { stm_i8(m, p, b1_to_i32(x)); }

/* Stores past the cache, if the address is that of a line. */
FN void nt_f32(char* p, vf32 x) { _mm512_stream_ps((float*)p, x); }
FN void nt_i32(char* p, vi32 x) { _mm512_stream_si512((__m512i*)p, x); }
FN void nt_f64(char* p, vf64 x) { _mm512_stream_pd((double*)p, x.a); _mm512_stream_pd((double*)(p + 64), x.b); }
FN void nt_i64(char* p, vi64 x) { _mm512_stream_si512((__m512i*)p, x.a); _mm512_stream_si512((__m512i*)(p + 64), x.b); }

/* Elements anywhere: at byte offsets, or at 32-bit indices of elements. */
FN vf32 ga_f32(m16 m, const char* p, vi64 o) {
    __m256 a = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), LOW(m), o.a, p, 1);
    return joinf8(a, _mm512_mask_i64gather_ps(_mm256_setzero_ps(), HIGH(m), o.b, p, 1));
}
FN vi32 ga_i32(m16 m, const char* p, vi64 o) {
    __m256i a = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), LOW(m), o.a, p, 1);
    return join8(a, _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), HIGH(m), o.b, p, 1));
}
FN vf64 ga_f64(m16 m, const char* p, vi64 o) {
    return (vf64){_mm512_mask_i64gather_pd(_mm512_setzero_pd(), LOW(m), o.a, p, 1), _mm512_mask_i64gather_pd(_mm512_setzero_pd(), HIGH(m), o.b, p, 1)};
}
FN vi64 ga_i64(m16 m, const char* p, vi64 o) {
    return (vi64){_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), LOW(m), o.a, p, 1), _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), HIGH(m), o.b, p, 1)};
}
/* Two lanes as one number: the fastest way to read them one by one. */
FN u64 pair(vi32 i, int n) {
    __m128i four = n < 2 ? _mm512_castsi512_si128(i) : n < 4 ? _mm512_extracti32x4_epi32(i, 1)
                 : n < 6 ? _mm512_extracti32x4_epi32(i, 2) : _mm512_extracti32x4_epi32(i, 3);
    return (u64)(n & 1 ? _mm_extract_epi64(four, 1) : _mm_extract_epi64(four, 0));
}
/* A lane of numbers below 256. */
FN u64 byte(vi32 i, int l) {
    __m128i all = _mm512_cvtepi32_epi8(i);
    return (u64)(l < 8 ? _mm_extract_epi64(all, 0) : _mm_extract_epi64(all, 1)) >> l % 8 * 8 & 255;
}
/* Sixteen loads, which take half the time of a gather on some machines. */
FN __m128 four(f32 a, f32 b, f32 c, f32 d) { return _mm_setr_ps(a, b, c, d); }
FN vf32 join4(__m128 a, __m128 b, __m128 c, __m128 d) {
    return joinf8(_mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1), _mm256_insertf128_ps(_mm256_castps128_ps256(c), d, 1));
}
#define SIXTEEN(at) \
    join4(four(at(0), at(1), at(2), at(3)), four(at(4), at(5), at(6), at(7)), four(at(8), at(9), at(10), at(11)), \
          four(at(12), at(13), at(14), at(15)))
FN vf32 gx_f32(m16 m, const char* p, vi32 i) {
    if (ALL_OF(m)) {
#define AT(l) ((const f32*)p)[(u32)(pair(i, (l) / 2) >> (l) % 2 * 32)]
        return SIXTEEN(AT);
#undef AT
    }
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), m, i, p, 4);
}
FN vi32 gx_i32(m16 m, const char* p, vi32 i) {
    if (ALL_OF(m)) return _mm512_castps_si512(gx_f32(m, p, i));
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, i, p, 4);
}
FN vf64 gx_f64(m16 m, const char* p, vi32 i) {
    return (vf64){_mm512_mask_i32gather_pd(_mm512_setzero_pd(), LOW(m), low8(i), p, 8), _mm512_mask_i32gather_pd(_mm512_setzero_pd(), HIGH(m), high8(i), p, 8)};
}
FN vi64 gx_i64(m16 m, const char* p, vi32 i) {
    return (vi64){_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), LOW(m), low8(i), p, 8), _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), HIGH(m), high8(i), p, 8)};
}
/* Every second, fourth or eighth number, as the members of `float2` and `float4` lie and what threads read that have eight results each.
   What follows the last one is not read. */
#define EVERY2 _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define EVERY4 _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28)
#define EVERY8 _mm512_setr_epi32(0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24)
#define EVERY2_64 _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)
FN vf32 every2(const char* p) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(p), EVERY2, _mm512_maskz_loadu_ps(0x7fff, p + 64));
}
FN vf32 every4(const char* p) {
    const vf32 a = _mm512_permutex2var_ps(_mm512_loadu_ps(p), EVERY4, _mm512_loadu_ps(p + 64));
    const vf32 b = _mm512_permutex2var_ps(_mm512_loadu_ps(p + 128), EVERY4, _mm512_maskz_loadu_ps(0x1fff, p + 192));
    return joinf8(_mm512_castps512_ps256(a), _mm512_castps512_ps256(b));
}
FN __m128 four_of_8(vf32 a, vf32 b) { return _mm512_castps512_ps128(_mm512_permutex2var_ps(a, EVERY8, b)); }
FN vf32 every8(const char* p) {
#define AT(i) _mm512_loadu_ps(p + 64 * i)
    return join4(four_of_8(AT(0), AT(1)), four_of_8(AT(2), AT(3)), four_of_8(AT(4), AT(5)),
                 four_of_8(AT(6), _mm512_maskz_loadu_ps(0x1ff, p + 448)));
#undef AT
}
FN vf64 every2_f64(const char* p) {
    return (vf64){_mm512_permutex2var_pd(_mm512_loadu_pd(p), EVERY2_64, _mm512_loadu_pd(p + 64)),
                  _mm512_permutex2var_pd(_mm512_loadu_pd(p + 128), EVERY2_64, _mm512_maskz_loadu_pd(0x7f, p + 192))};
}
/* A line of elements, all in bounds; the step is in bytes. */
FN vf32 gl_f32(m16 m, const char* p, i32 step) {
    if (ALL_OF(m) && step == 8) return every2(p);
    if (ALL_OF(m) && step == 16) return every4(p);
    if (ALL_OF(m) && step == 32) return every8(p);
#define AT(l) (*(const f32*)(p + (l) * (i64)step))
    if (ALL_OF(m)) return SIXTEEN(AT);
#undef AT
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), m, line_i32(0, step), p, 1);
}
FN vi32 gl_i32(m16 m, const char* p, i32 step) {
    if (ALL_OF(m)) return _mm512_castps_si512(gl_f32(m, p, step));
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, line_i32(0, step), p, 1);
}
FN vf64 gl_f64(m16 m, const char* p, i32 step) {
    if (ALL_OF(m) && step == 16) return every2_f64(p);
    return ga_f64(m, p, line_i64(0, step));
}
FN vi64 gl_i64(m16 m, const char* p, i32 step) {
    const vf64 x = gl_f64(m, p, step);
    return (vi64){_mm512_castpd_si512(x.a), _mm512_castpd_si512(x.b)};
}
/* The same, written. Numbers between those of a line belong to others, and are left alone. */
#define SPREAD(name, k, n) \
    FN void name(char* p, vf32 x) { \
        for (int i = 0; i < n; ++i) { \
            const vi32 of = _mm512_srli_epi32(_mm512_add_epi32(IOTA32, _mm512_set1_epi32(16 * i)), k); \
            _mm512_mask_storeu_ps(p + 64 * i, n == 2 ? 0x5555 : 0x1111, _mm512_permutexvar_ps(of, x)); \
        } \
    }
SPREAD(spread2, 1, 2)
SPREAD(spread4, 2, 4)
FN void sl_f32(m16 m, char* p, i32 step, vf32 x) {
    if (ALL_OF(m) && step == 8) spread2(p, x);
    else if (ALL_OF(m) && step == 16) spread4(p, x);
    else _mm512_mask_i32scatter_ps(p, m, line_i32(0, step), x, 1);
}
FN void sl_i32(m16 m, char* p, i32 step, vi32 x) { sl_f32(m, p, step, _mm512_castsi512_ps(x)); }
FN void sl_f64(m16 m, char* p, i32 step, vf64 x) {
    _mm512_mask_i32scatter_pd(p, LOW(m), low8(line_i32(0, step)), x.a, 1);
    _mm512_mask_i32scatter_pd(p, HIGH(m), high8(line_i32(0, step)), x.b, 1);
}
FN void sl_i64(m16 m, char* p, i32 step, vi64 x) {
    sl_f64(m, p, step, (vf64){_mm512_castsi512_pd(x.a), _mm512_castsi512_pd(x.b)});
}
FN void sc_f32(m16 m, char* p, vi64 o, vf32 x) {
    _mm512_mask_i64scatter_ps(p, LOW(m), o.a, _mm512_castps512_ps256(x), 1);
    _mm512_mask_i64scatter_ps(p, HIGH(m), o.b, _mm512_extractf32x8_ps(x, 1), 1);
}
FN void sc_i32(m16 m, char* p, vi64 o, vi32 x) {
    _mm512_mask_i64scatter_epi32(p, LOW(m), o.a, low8(x), 1);
    _mm512_mask_i64scatter_epi32(p, HIGH(m), o.b, high8(x), 1);
}
FN void sc_f64(m16 m, char* p, vi64 o, vf64 x) {
    _mm512_mask_i64scatter_pd(p, LOW(m), o.a, x.a, 1);
    _mm512_mask_i64scatter_pd(p, HIGH(m), o.b, x.b, 1);
}
FN void sc_i64(m16 m, char* p, vi64 o, vi64 x) {
    _mm512_mask_i64scatter_epi64(p, LOW(m), o.a, x.a, 1);
    _mm512_mask_i64scatter_epi64(p, HIGH(m), o.b, x.b, 1);
}

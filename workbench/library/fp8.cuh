// 8-bit floats (CUDA Math API, "FP8 Intrinsics").
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

__host__ __device__ inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float f, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    bool wide = kind == __NV_E5M2;
    unsigned x = __float_as_uint(f), sign = (x >> 24) & 0x80u, a = x & 0x7fffffffu;
    if (a > 0x7f800000u) return 0x7fu;
    unsigned drop = wide ? 21u : 20u, bias = wide ? 112u : 120u, r;
    if (a < (bias + 1) << 23) {
        // The last bit of this sum is worth as much as the smallest subnormal: the addition does the rounding.
        float steps = wide ? 128.0f : 16384.0f;
        r = __float_as_uint(__uint_as_float(a) + steps) - __float_as_uint(steps);
    } else {
        r = ((a + (1u << (drop - 1)) - 1 + ((a >> drop) & 1u)) >> drop) - (bias << (23 - drop));
    }
    unsigned most = wide ? 0x7bu : 0x7eu;
    return sign | (r <= most ? r : saturate == __NV_SATFINITE ? most : most + 1);
}
__host__ __device__ inline float __wb_fp8_to_float(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    unsigned sign = (x & 0x80u) << 24, a = x & 0x7fu;
    if (a > (kind == __NV_E5M2 ? 0x7cu : 0x7eu)) return __uint_as_float(0x7fffffffu);
    if (kind == __NV_E5M2) return __wb_half_to_float(x << 8);
    if (a < 8) return __uint_as_float(sign | __float_as_uint((float)a * 0.001953125f));
    return __uint_as_float(sign | ((a << 20) + (120u << 23)));
}
__host__ __device__ inline float2 __wb_fp8x2_to_float2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return make_float2(__wb_fp8_to_float((__nv_fp8_storage_t)x, kind), __wb_fp8_to_float((__nv_fp8_storage_t)(x >> 8), kind));
}
__host__ __device__ inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    __half_raw raw;
    raw.x = __wb_float_to_half(__wb_fp8_to_float(x, kind));
    return raw;
}
__host__ __device__ inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    __half2_raw raw;
    raw.x = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x;
    raw.y = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x;
    return raw;
}

// Conversions from other types by way of `float`, rounded to odd if it has too few bits, and of two numbers at a time.
#define __WB_TO_FP8(T, WORD, FLOAT)                                         \
    __host__ __device__ inline __nv_fp8_storage_t __nv_cvt_##WORD##_to_fp8( \
        T v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {  \
        return __nv_cvt_float_to_fp8(FLOAT, saturate, kind);                \
    }
#define __WB_TO_FP8X2(T, WORD, X, Y)                                                                              \
    __host__ __device__ inline __nv_fp8x2_storage_t __nv_cvt_##WORD##_to_fp8x2(                                   \
        T v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {                                        \
        unsigned low = __nv_cvt_float_to_fp8(X, saturate, kind), high = __nv_cvt_float_to_fp8(Y, saturate, kind); \
        return low | high << 8;                                                                                   \
    }
__WB_TO_FP8(double, double, __wb_to_odd(v))
__WB_TO_FP8(__half_raw, halfraw, __wb_half_to_float(v.x))
__WB_TO_FP8(__nv_bfloat16_raw, bfloat16raw, __wb_bfloat_to_float(v.x))
__WB_TO_FP8X2(float2, float2, v.x, v.y)
__WB_TO_FP8X2(double2, double2, __wb_to_odd(v.x), __wb_to_odd(v.y))
__WB_TO_FP8X2(__half2_raw, halfraw2, __wb_half_to_float(v.x), __wb_half_to_float(v.y))
__WB_TO_FP8X2(__nv_bfloat162_raw, bfloat16raw2, __wb_bfloat_to_float(v.x), __wb_bfloat_to_float(v.y))

// Conversions to integers: toward zero, clamped to their range; NaN gives 0, or with 64 bits the highest bit alone.
__host__ __device__ inline int __wb_fp8_to_int(float f, int low, int high) {
    int i = __float2int_rz(f);
    return i < low ? low : i > high ? high : i;
}
__host__ __device__ inline long long __wb_fp8_to_ll(float f) { return f != f ? 1ll << 63 : __float2ll_rz(f); }
__host__ __device__ inline unsigned long long __wb_fp8_to_ull(float f) { return f != f ? 1ull << 63 : __float2ull_rz(f); }

#define __WB_FP8(T, KIND)                                                                                                                \
    struct T {                                                                                                                           \
        __nv_fp8_storage_t __x;                                                                                                          \
        T() = default;                                                                                                                   \
        __host__ __device__ explicit T(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, KIND)) {}                                 \
        __host__ __device__ explicit T(double v) : __x(__nv_cvt_float_to_fp8(__wb_to_odd(v), __NV_SATFINITE, KIND)) {}                   \
        __host__ __device__ explicit T(__half v) : __x(__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, KIND)) {}                         \
        __host__ __device__ explicit T(__nv_bfloat16 v) : __x(__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, KIND)) {}                  \
        __host__ __device__ explicit T(short v) : __x(__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, KIND)) {}                          \
        __host__ __device__ explicit T(unsigned short v) : __x(__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, KIND)) {}                 \
        __host__ __device__ explicit T(int v) : __x(__nv_cvt_float_to_fp8(__wb_to_odd((double)v), __NV_SATFINITE, KIND)) {}              \
        __host__ __device__ explicit T(unsigned v) : __x(__nv_cvt_float_to_fp8(__wb_to_odd((double)v), __NV_SATFINITE, KIND)) {}         \
        __host__ __device__ explicit T(long v) : __x(__nv_cvt_float_to_fp8(__wb_ll_to_odd(v), __NV_SATFINITE, KIND)) {}                  \
        __host__ __device__ explicit T(unsigned long v) : __x(__nv_cvt_float_to_fp8(__wb_ull_to_odd(v), __NV_SATFINITE, KIND)) {}        \
        __host__ __device__ explicit T(long long v) : __x(__nv_cvt_float_to_fp8(__wb_ll_to_odd(v), __NV_SATFINITE, KIND)) {}             \
        __host__ __device__ explicit T(unsigned long long v) : __x(__nv_cvt_float_to_fp8(__wb_ull_to_odd(v), __NV_SATFINITE, KIND)) {}   \
        __host__ __device__ explicit operator float() const { return __wb_fp8_to_float(__x, KIND); }                                     \
        __host__ __device__ explicit operator double() const { return (float)*this; }                                                    \
        __host__ __device__ explicit operator __half() const { return __half((float)*this); }                                            \
        __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                              \
        __host__ __device__ explicit operator bool() const { return (__x & 0x7fu) != 0; }                                                \
        __host__ __device__ explicit operator char() const { return (char)__wb_fp8_to_int((float)*this, -128, 127); }                    \
        __host__ __device__ explicit operator signed char() const { return (signed char)__wb_fp8_to_int((float)*this, -128, 127); }      \
        __host__ __device__ explicit operator unsigned char() const { return (unsigned char)__wb_fp8_to_int((float)*this, 0, 255); }     \
        __host__ __device__ explicit operator short() const { return (short)__wb_fp8_to_int((float)*this, -32768, 32767); }              \
        __host__ __device__ explicit operator unsigned short() const { return (unsigned short)__wb_fp8_to_int((float)*this, 0, 65535); } \
        __host__ __device__ explicit operator int() const { return __float2int_rz((float)*this); }                                       \
        __host__ __device__ explicit operator unsigned() const { return __float2uint_rz((float)*this); }                                 \
        __host__ __device__ explicit operator long() const { return __wb_fp8_to_ll((float)*this); }                                      \
        __host__ __device__ explicit operator unsigned long() const { return __wb_fp8_to_ull((float)*this); }                            \
        __host__ __device__ explicit operator long long() const { return __wb_fp8_to_ll((float)*this); }                                 \
        __host__ __device__ explicit operator unsigned long long() const { return __wb_fp8_to_ull((float)*this); }                       \
    };

#define __WB_FP8X2(T, KIND)                                                                                    \
    struct T {                                                                                                 \
        __nv_fp8x2_storage_t __x;                                                                              \
        T() = default;                                                                                         \
        __host__ __device__ explicit T(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}   \
        __host__ __device__ explicit T(__half2 v)                                                              \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2((float)v.x, (float)v.y), __NV_SATFINITE, KIND)) {}      \
        __host__ __device__ explicit T(__nv_bfloat162 v)                                                       \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2((float)v.x, (float)v.y), __NV_SATFINITE, KIND)) {}      \
        __host__ __device__ explicit T(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, KIND)) {} \
        __host__ __device__ explicit operator float2() const {                                                 \
            return __wb_fp8x2_to_float2(__x, KIND);                                                            \
        }                                                                                                      \
        __host__ __device__ explicit operator __half2() const {                                                \
            float2 v = __wb_fp8x2_to_float2(__x, KIND);                                                        \
            return __half2(__half(v.x), __half(v.y));                                                          \
        }                                                                                                      \
    };

#define __WB_FP8X4(T, T2, KIND)                                                                                                          \
    struct T {                                                                                                                           \
        __nv_fp8x4_storage_t __x;                                                                                                        \
        T() = default;                                                                                                                   \
        __host__ __device__ explicit T(float4 v) : __x(T2(make_float2(v.x, v.y)).__x | (unsigned)T2(make_float2(v.z, v.w)).__x << 16) {} \
        __host__ __device__ explicit T(double4 v)                                                                                        \
            : __x(T2(make_double2(v.x, v.y)).__x | (unsigned)T2(make_double2(v.z, v.w)).__x << 16) {}                                    \
        __host__ __device__ explicit T(__half2 low, __half2 high) : __x(T2(low).__x | (unsigned)T2(high).__x << 16) {}                   \
        __host__ __device__ explicit T(__nv_bfloat162 low, __nv_bfloat162 high) : __x(T2(low).__x | (unsigned)T2(high).__x << 16) {}     \
        __host__ __device__ explicit operator float4() const {                                                                           \
            float2 low = __wb_fp8x2_to_float2((__nv_fp8x2_storage_t)__x, KIND);                                                          \
            float2 high = __wb_fp8x2_to_float2((__nv_fp8x2_storage_t)(__x >> 16), KIND);                                                 \
            return make_float4(low.x, low.y, high.x, high.y);                                                                            \
        }                                                                                                                                \
    };

__WB_FP8(__nv_fp8_e4m3, __NV_E4M3)
__WB_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
__WB_FP8X4(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3, __NV_E4M3)
__WB_FP8(__nv_fp8_e5m2, __NV_E5M2)
__WB_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
__WB_FP8X4(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2, __NV_E5M2)

// 8-bit exponents, the scales of MX formats: 2^(x - 127), and NaN for 255 (OCP Microscaling Formats, "E8M0").
__host__ __device__ inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
    __nv_bfloat16_raw raw;
    raw.x = x == 0 ? 0x0040 : x == 255 ? 0x7fff : (unsigned short)(x << 7);
    return raw;
}

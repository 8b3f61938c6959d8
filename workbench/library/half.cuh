__host__ __device__ inline unsigned short __wb_float_to_half(float f) { return __wb_float_to_half_bits(__float_as_uint(f)); }
__host__ __device__ inline float __wb_half_to_float(unsigned short h) { return __uint_as_float(__wb_half_to_float_bits(h)); }
__host__ __device__ inline unsigned short __wb_float_to_bfloat(float f) {
    unsigned x = __float_as_uint(f);
    return (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
}
__host__ __device__ inline float __wb_bfloat_to_float(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
__host__ __device__ inline float __wb_to_odd(double d) {
    float f = (float)d;
    double back = f;
    if (back == d || d != d || back - back != 0) return f;
    unsigned x = __float_as_uint(f);
    if ((back < 0 ? -back : back) > (d < 0 ? -d : d)) x -= 1;
    return __uint_as_float(x | 1u);
}
__host__ __device__ inline float __wb_ll_to_odd(long long i) {
    double d = __ll2double_rz(i);
    return __wb_to_odd((long long)d == i ? d : __longlong_as_double(__double_as_longlong(d) | 1));
}
__host__ __device__ inline float __wb_ull_to_odd(unsigned long long i) {
    double d = __ull2double_rz(i);
    return __wb_to_odd((unsigned long long)d == i ? d : __longlong_as_double(__double_as_longlong(d) | 1));
}
// The neighbour of the nearest 16-bit float `r`, which has the value `back`, in the direction that directed rounding of `f` needs.
__host__ __device__ inline unsigned short __wb_toward_zero(unsigned short r, float back, float f) {
    return fabsf(back) > fabsf(f) ? r - 1 : r;
}
__host__ __device__ inline unsigned short __wb_downward(unsigned short r, float back, float f) {
    return back > f ? (f < 0 ? r + 1 : r - 1) : r;
}
__host__ __device__ inline unsigned short __wb_upward(unsigned short r, float back, float f) {
    return back < f ? (f < 0 ? r - 1 : r + 1) : r;
}

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };

#define __WB_HALF(T, NAME, ENCODE, DECODE)                                                                    \
    struct __align__(2) T {                                                                                   \
        unsigned short __x;                                                                                   \
        T() = default;                                                                                        \
        __host__ __device__ T(float f) : __x(ENCODE(f)) {}                                                    \
        __host__ __device__ T(double f) : __x(ENCODE(__wb_to_odd(f))) {}                                      \
        __host__ __device__ T(int i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                 \
        __host__ __device__ T(unsigned i) : __x(ENCODE(__wb_to_odd((double)i))) {}                            \
        __host__ __device__ T(short i) : __x(ENCODE((float)i)) {}                                             \
        __host__ __device__ T(unsigned short i) : __x(ENCODE((float)i)) {}                                    \
        __host__ __device__ T(long i) : __x(ENCODE(__wb_ll_to_odd(i))) {}                                \
        __host__ __device__ T(unsigned long i) : __x(ENCODE(__wb_ull_to_odd(i))) {}                       \
        __host__ __device__ T(long long i) : __x(ENCODE(__wb_ll_to_odd(i))) {}                           \
        __host__ __device__ T(unsigned long long i) : __x(ENCODE(__wb_ull_to_odd(i))) {}                  \
        __host__ __device__ T(const T##_raw& raw) : __x(raw.x) {}                                             \
        __host__ __device__ operator float() const { return DECODE(__x); }                                    \
        __host__ __device__ operator T##_raw() const { T##_raw raw; raw.x = __x; return raw; }                \
        __host__ __device__ T& operator+=(const T& o) { __x = ENCODE(DECODE(__x) + DECODE(o.__x)); return *this; } \
        __host__ __device__ T& operator-=(const T& o) { __x = ENCODE(DECODE(__x) - DECODE(o.__x)); return *this; } \
        __host__ __device__ T& operator*=(const T& o) { __x = ENCODE(DECODE(__x) * DECODE(o.__x)); return *this; } \
        __host__ __device__ T& operator/=(const T& o) { __x = ENCODE(DECODE(__x) / DECODE(o.__x)); return *this; } \
        __host__ __device__ T& operator++() { __x = ENCODE(DECODE(__x) + 1.0f); return *this; }               \
        __host__ __device__ T& operator--() { __x = ENCODE(DECODE(__x) - 1.0f); return *this; }               \
        __host__ __device__ T operator+() const { return *this; }                                             \
        __host__ __device__ T operator-() const { T r; r.__x = __x ^ 0x8000u; return r; }                     \
    };                                                                                                        \
    __host__ __device__ inline T operator+(const T& a, const T& b) { return T(DECODE(a.__x) + DECODE(b.__x)); } \
    __host__ __device__ inline T operator-(const T& a, const T& b) { return T(DECODE(a.__x) - DECODE(b.__x)); } \
    __host__ __device__ inline T operator*(const T& a, const T& b) { return T(DECODE(a.__x) * DECODE(b.__x)); } \
    __host__ __device__ inline T operator/(const T& a, const T& b) { return T(DECODE(a.__x) / DECODE(b.__x)); } \
    __host__ __device__ inline bool operator==(const T& a, const T& b) { return DECODE(a.__x) == DECODE(b.__x); } \
    __host__ __device__ inline bool operator!=(const T& a, const T& b) {                                      \
        float x = DECODE(a.__x), y = DECODE(b.__x);                                                           \
        return x != y && x == x && y == y;                                                                    \
    }                                                                                                         \
    __host__ __device__ inline bool operator<(const T& a, const T& b) { return DECODE(a.__x) < DECODE(b.__x); } \
    __host__ __device__ inline bool operator>(const T& a, const T& b) { return DECODE(a.__x) > DECODE(b.__x); } \
    __host__ __device__ inline bool operator<=(const T& a, const T& b) { return DECODE(a.__x) <= DECODE(b.__x); } \
    __host__ __device__ inline bool operator>=(const T& a, const T& b) { return DECODE(a.__x) >= DECODE(b.__x); } \
    __host__ __device__ inline T __hadd(T a, T b) { return a + b; }                                           \
    __host__ __device__ inline T __hsub(T a, T b) { return a - b; }                                           \
    __host__ __device__ inline T __hmul(T a, T b) { return a * b; }                                           \
    __host__ __device__ inline T __hadd_rn(T a, T b) { return a + b; }                                        \
    __host__ __device__ inline T __hsub_rn(T a, T b) { return a - b; }                                        \
    __host__ __device__ inline T __hmul_rn(T a, T b) { return a * b; }                                        \
    __host__ __device__ inline T __hdiv(T a, T b) { return a / b; }                                           \
    __host__ __device__ inline T __hfma(T a, T b, T c) {                                                      \
        return T((double)DECODE(a.__x) * (double)DECODE(b.__x) + (double)DECODE(c.__x));                      \
    }                                                                                                         \
    __host__ __device__ inline T __hneg(T a) { return -a; }                                                   \
    __host__ __device__ inline T __habs(T a) { T r; r.__x = a.__x & 0x7fffu; return r; }                      \
    __host__ __device__ inline T __hmax(T a, T b) { return T(fmaxf(DECODE(a.__x), DECODE(b.__x))); }          \
    __host__ __device__ inline T __hmin(T a, T b) { return T(fminf(DECODE(a.__x), DECODE(b.__x))); }          \
    __host__ __device__ inline bool __heq(T a, T b) { return a == b; }                                        \
    __host__ __device__ inline bool __hne(T a, T b) { return a != b; }                                        \
    __host__ __device__ inline bool __hlt(T a, T b) { return a < b; }                                         \
    __host__ __device__ inline bool __hle(T a, T b) { return a <= b; }                                        \
    __host__ __device__ inline bool __hgt(T a, T b) { return a > b; }                                         \
    __host__ __device__ inline bool __hge(T a, T b) { return a >= b; }                                        \
    __host__ __device__ inline bool __hisnan(T a) { float x = DECODE(a.__x); return x != x; }                 \
    __device__ inline T hsqrt(T a) { return T(sqrtf(DECODE(a.__x))); }                                        \
    __device__ inline T hrsqrt(T a) { return T(rsqrtf(DECODE(a.__x))); }                                      \
    __device__ inline T hrcp(T a) { return T(1.0f / DECODE(a.__x)); }                                         \
    __device__ inline T hexp(T a) { return T(expf(DECODE(a.__x))); }                                          \
    __device__ inline T hexp2(T a) { return T(exp2f(DECODE(a.__x))); }                                        \
    __device__ inline T hexp10(T a) { return T(exp10f(DECODE(a.__x))); }                                      \
    __device__ inline T hlog(T a) { return T(logf(DECODE(a.__x))); }                                          \
    __device__ inline T hlog2(T a) { return T(log2f(DECODE(a.__x))); }                                        \
    __device__ inline T hlog10(T a) { return T(log10f(DECODE(a.__x))); }                                      \
    __device__ inline T hsin(T a) { return T(sinf(DECODE(a.__x))); }                                          \
    __device__ inline T hcos(T a) { return T(cosf(DECODE(a.__x))); }                                          \
    __device__ inline T htanh(T a) { return T(tanhf(DECODE(a.__x))); }                                        \
    __device__ inline T hfloor(T a) { return T(floorf(DECODE(a.__x))); }                                      \
    __device__ inline T hceil(T a) { return T(ceilf(DECODE(a.__x))); }                                        \
    __device__ inline T htrunc(T a) { return T(truncf(DECODE(a.__x))); }                                      \
    __device__ inline T hrint(T a) { return T(rintf(DECODE(a.__x))); }                                        \
    __host__ __device__ inline unsigned short __##NAME##_as_ushort(T a) { return a.__x; }                     \
    __host__ __device__ inline short __##NAME##_as_short(T a) { return (short)a.__x; }                        \
    __host__ __device__ inline T __ushort_as_##NAME(unsigned short x) { T r; r.__x = x; return r; }           \
    __host__ __device__ inline T __short_as_##NAME(short x) { T r; r.__x = (unsigned short)x; return r; }     \
    __host__ __device__ inline T __float2##NAME(float f) { return T(f); }                                     \
    __host__ __device__ inline T __float2##NAME##_rn(float f) { return T(f); }                                \
    __host__ __device__ inline T __double2##NAME(double f) { return T(f); }                                   \
    __host__ __device__ inline float __##NAME##2float(T a) { return DECODE(a.__x); }

#define __WB_HALF2(T2, T, NAME)                                                                               \
    struct __align__(4) T2 {                                                                                  \
        T x, y;                                                                                               \
        T2() = default;                                                                                       \
        __host__ __device__ T2(const T& a, const T& b) : x(a), y(b) {}                                        \
        __host__ __device__ T2(const T2##_raw& raw) : x(T##_raw{raw.x}), y(T##_raw{raw.y}) {}                 \
        __host__ __device__ operator T2##_raw() const { return T2##_raw{x.__x, y.__x}; }                      \
        __host__ __device__ T2& operator+=(const T2& o) { x += o.x; y += o.y; return *this; }                 \
        __host__ __device__ T2& operator-=(const T2& o) { x -= o.x; y -= o.y; return *this; }                 \
        __host__ __device__ T2& operator*=(const T2& o) { x *= o.x; y *= o.y; return *this; }                 \
        __host__ __device__ T2& operator/=(const T2& o) { x /= o.x; y /= o.y; return *this; }                 \
        __host__ __device__ T2 operator-() const { return T2(-x, -y); }                                       \
    };                                                                                                        \
    __host__ __device__ inline T2 operator+(const T2& a, const T2& b) { return T2(a.x + b.x, a.y + b.y); }    \
    __host__ __device__ inline T2 operator-(const T2& a, const T2& b) { return T2(a.x - b.x, a.y - b.y); }    \
    __host__ __device__ inline T2 operator*(const T2& a, const T2& b) { return T2(a.x * b.x, a.y * b.y); }    \
    __host__ __device__ inline T2 operator/(const T2& a, const T2& b) { return T2(a.x / b.x, a.y / b.y); }    \
    __host__ __device__ inline bool operator==(const T2& a, const T2& b) { return a.x == b.x && a.y == b.y; } \
    __host__ __device__ inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                       \
    __host__ __device__ inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                       \
    __host__ __device__ inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                       \
    __host__ __device__ inline T2 __h2div(T2 a, T2 b) { return a / b; }                                       \
    __host__ __device__ inline T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
    __host__ __device__ inline T2 __hneg2(T2 a) { return -a; }                                                \
    __host__ __device__ inline T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                      \
    __host__ __device__ inline T2 __hmax2(T2 a, T2 b) { return T2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }      \
    __host__ __device__ inline T2 __hmin2(T2 a, T2 b) { return T2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }      \
    __device__ inline T2 h2sqrt(T2 a) { return T2(hsqrt(a.x), hsqrt(a.y)); }                                  \
    __device__ inline T2 h2rsqrt(T2 a) { return T2(hrsqrt(a.x), hrsqrt(a.y)); }                               \
    __device__ inline T2 h2rcp(T2 a) { return T2(hrcp(a.x), hrcp(a.y)); }                                     \
    __device__ inline T2 h2exp(T2 a) { return T2(hexp(a.x), hexp(a.y)); }                                     \
    __device__ inline T2 h2exp2(T2 a) { return T2(hexp2(a.x), hexp2(a.y)); }                                  \
    __device__ inline T2 h2log(T2 a) { return T2(hlog(a.x), hlog(a.y)); }                                     \
    __device__ inline T2 h2sin(T2 a) { return T2(hsin(a.x), hsin(a.y)); }                                     \
    __device__ inline T2 h2cos(T2 a) { return T2(hcos(a.x), hcos(a.y)); }                                     \
    __device__ inline T2 h2tanh(T2 a) { return T2(htanh(a.x), htanh(a.y)); }                                  \
    __host__ __device__ inline T2 make_##NAME##2(T a, T b) { return T2(a, b); }                               \
    __host__ __device__ inline T2 __halves2##NAME##2(T a, T b) { return T2(a, b); }                           \
    __host__ __device__ inline T2 __##NAME##2##NAME##2(T a) { return T2(a, a); }                              \
    __host__ __device__ inline T2 __float2##NAME##2_rn(float f) { return T2(T(f), T(f)); }                    \
    __host__ __device__ inline T2 __floats2##NAME##2_rn(float a, float b) { return T2(T(a), T(b)); }          \
    __host__ __device__ inline T2 __float22##NAME##2_rn(float2 f) { return T2(T(f.x), T(f.y)); }              \
    __host__ __device__ inline float2 __##NAME##22float2(T2 a) { return make_float2((float)a.x, (float)a.y); } \
    __host__ __device__ inline T __low2##NAME(T2 a) { return a.x; }                                           \
    __host__ __device__ inline T __high2##NAME(T2 a) { return a.y; }                                          \
    __host__ __device__ inline T2 __low2##NAME##2(T2 a) { return T2(a.x, a.x); }                              \
    __host__ __device__ inline T2 __high2##NAME##2(T2 a) { return T2(a.y, a.y); }                             \
    __host__ __device__ inline T2 __lows2##NAME##2(T2 a, T2 b) { return T2(a.x, b.x); }                       \
    __host__ __device__ inline T2 __highs2##NAME##2(T2 a, T2 b) { return T2(a.y, b.y); }                      \
    __host__ __device__ inline T2 __lowhigh2highlow(T2 a) { return T2(a.y, a.x); }                            \
    __host__ __device__ inline float __low2float(T2 a) { return (float)a.x; }                                 \
    __host__ __device__ inline float __high2float(T2 a) { return (float)a.y; }

// Conversions from and to integers and floats, by rounding.
#define __WB_HALF_ROUND(T, NAME, ENCODE, DECODE)                                                              \
    __host__ __device__ inline T __float2##NAME##_rz(float f) {                                               \
        unsigned short r = ENCODE(f);                                                                         \
        return __ushort_as_##NAME(__wb_toward_zero(r, DECODE(r), f));                                         \
    }                                                                                                         \
    __host__ __device__ inline T __float2##NAME##_rd(float f) {                                               \
        unsigned short r = ENCODE(f);                                                                         \
        return __ushort_as_##NAME(__wb_downward(r, DECODE(r), f));                                            \
    }                                                                                                         \
    __host__ __device__ inline T __float2##NAME##_ru(float f) {                                               \
        unsigned short r = ENCODE(f);                                                                         \
        return __ushort_as_##NAME(__wb_upward(r, DECODE(r), f));                                              \
    }

#define __WB_HALF_FROM(T, NAME, I, WORD, ODD)                                                                 \
    __host__ __device__ inline T __##WORD##2##NAME##_rn(I i) { return __float2##NAME##_rn(ODD(i)); }          \
    __host__ __device__ inline T __##WORD##2##NAME##_rz(I i) { return __float2##NAME##_rz(ODD(i)); }          \
    __host__ __device__ inline T __##WORD##2##NAME##_rd(I i) { return __float2##NAME##_rd(ODD(i)); }          \
    __host__ __device__ inline T __##WORD##2##NAME##_ru(I i) { return __float2##NAME##_ru(ODD(i)); }

#define __WB_HALF_TO(T, NAME, I, WORD)                                                                        \
    __host__ __device__ inline I __##NAME##2##WORD##_rn(T a) { return __float2##WORD##_rn((float)a); }        \
    __host__ __device__ inline I __##NAME##2##WORD##_rz(T a) { return __float2##WORD##_rz((float)a); }        \
    __host__ __device__ inline I __##NAME##2##WORD##_rd(T a) { return __float2##WORD##_rd((float)a); }        \
    __host__ __device__ inline I __##NAME##2##WORD##_ru(T a) { return __float2##WORD##_ru((float)a); }

// Conversions to integers of fewer bits than any conversion of `float`: clamped to their range, NaN gives 0.
#define __WB_HALF_TO_SMALL(T, NAME, I, WORD, MODE, LOW, HIGH)                                                 \
    __host__ __device__ inline I __##NAME##2##WORD##_##MODE(T a) {                                            \
        int i = __float2int_##MODE((float)a);                                                                 \
        return (I)(i < LOW ? LOW : i > HIGH ? HIGH : i);                                                      \
    }

#define __WB_HALF_MORE(T, NAME, ENCODE, DECODE)                                                               \
    __WB_HALF_ROUND(T, NAME, ENCODE, DECODE)                                                                  \
    __WB_HALF_FROM(T, NAME, int, int, __wb_to_odd)                                                            \
    __WB_HALF_FROM(T, NAME, unsigned, uint, __wb_to_odd)                                                      \
    __WB_HALF_FROM(T, NAME, short, short, (float))                                                            \
    __WB_HALF_FROM(T, NAME, unsigned short, ushort, (float))                                                  \
    __WB_HALF_FROM(T, NAME, long long, ll, __wb_ll_to_odd)                                                    \
    __WB_HALF_FROM(T, NAME, unsigned long long, ull, __wb_ull_to_odd)                                         \
    __WB_HALF_TO(T, NAME, int, int)                                                                           \
    __WB_HALF_TO(T, NAME, unsigned, uint)                                                                     \
    __WB_HALF_TO(T, NAME, long long, ll)                                                                      \
    __WB_HALF_TO(T, NAME, unsigned long long, ull)                                                            \
    __WB_HALF_TO_SMALL(T, NAME, short, short, rn, -32768, 32767)                                              \
    __WB_HALF_TO_SMALL(T, NAME, short, short, rz, -32768, 32767)                                              \
    __WB_HALF_TO_SMALL(T, NAME, short, short, rd, -32768, 32767)                                              \
    __WB_HALF_TO_SMALL(T, NAME, short, short, ru, -32768, 32767)                                              \
    __WB_HALF_TO_SMALL(T, NAME, unsigned short, ushort, rn, 0, 65535)                                         \
    __WB_HALF_TO_SMALL(T, NAME, unsigned short, ushort, rz, 0, 65535)                                         \
    __WB_HALF_TO_SMALL(T, NAME, unsigned short, ushort, rd, 0, 65535)                                         \
    __WB_HALF_TO_SMALL(T, NAME, unsigned short, ushort, ru, 0, 65535)                                         \
    __WB_HALF_TO_SMALL(T, NAME, signed char, char, rz, -128, 127)                                             \
    __WB_HALF_TO_SMALL(T, NAME, unsigned char, uchar, rz, 0, 255)                                             \
    __host__ __device__ inline T __wb_sat(T a) { return a > T(0.0f) ? (a < T(1.0f) ? a : T(1.0f)) : T(0.0f); } \
    __host__ __device__ inline T __wb_relu(T a) { return __hisnan(a) ? __ushort_as_##NAME(0x7fff) : a > T(0.0f) ? a : T(0.0f); } \
    __host__ __device__ inline T __hadd_sat(T a, T b) { return __wb_sat(a + b); }                             \
    __host__ __device__ inline T __hsub_sat(T a, T b) { return __wb_sat(a - b); }                             \
    __host__ __device__ inline T __hmul_sat(T a, T b) { return __wb_sat(a * b); }                             \
    __host__ __device__ inline T __hfma_sat(T a, T b, T c) { return __wb_sat(__hfma(a, b, c)); }              \
    __host__ __device__ inline T __hfma_relu(T a, T b, T c) { return __wb_relu(__hfma(a, b, c)); }            \
    __host__ __device__ inline T __hmax_nan(T a, T b) {                                                       \
        return __hisnan(a) || __hisnan(b) ? __ushort_as_##NAME(0x7fff) : __hmax(a, b);                        \
    }                                                                                                         \
    __host__ __device__ inline T __hmin_nan(T a, T b) {                                                       \
        return __hisnan(a) || __hisnan(b) ? __ushort_as_##NAME(0x7fff) : __hmin(a, b);                        \
    }                                                                                                         \
    __host__ __device__ inline bool __hequ(T a, T b) { return !((float)a < (float)b || (float)a > (float)b); } \
    __host__ __device__ inline bool __hneu(T a, T b) { return (float)a != (float)b; }                         \
    __host__ __device__ inline bool __hltu(T a, T b) { return !((float)a >= (float)b); }                      \
    __host__ __device__ inline bool __hleu(T a, T b) { return !((float)a > (float)b); }                       \
    __host__ __device__ inline bool __hgtu(T a, T b) { return !((float)a <= (float)b); }                      \
    __host__ __device__ inline bool __hgeu(T a, T b) { return !((float)a < (float)b); }                       \
    __host__ __device__ inline T operator++(T& a, int) { T old = a; ++a; return old; }                        \
    __host__ __device__ inline T operator--(T& a, int) { T old = a; --a; return old; }                        \
    __host__ __device__ inline T __wb_shuffled_##NAME(unsigned x) { return __ushort_as_##NAME((unsigned short)x); } \
    __device__ inline T __shfl_sync(unsigned m, T v, int lane, int w = 32) {                                  \
        return __wb_shuffled_##NAME(__shfl_sync(m, (unsigned)v.__x, lane, w));                                \
    }                                                                                                         \
    __device__ inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) {                             \
        return __wb_shuffled_##NAME(__shfl_up_sync(m, (unsigned)v.__x, d, w));                                \
    }                                                                                                         \
    __device__ inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) {                           \
        return __wb_shuffled_##NAME(__shfl_down_sync(m, (unsigned)v.__x, d, w));                              \
    }                                                                                                         \
    __device__ inline T __shfl_xor_sync(unsigned m, T v, int bits, int w = 32) {                              \
        return __wb_shuffled_##NAME(__shfl_xor_sync(m, (unsigned)v.__x, bits, w));                            \
    }

#define __WB_HALF2_COMPARE(T2, T, NAME, OP)                                                                   \
    __host__ __device__ inline T2 __h##OP##2(T2 a, T2 b) {                                                    \
        return T2(T(__h##OP(a.x, b.x) ? 1.0f : 0.0f), T(__h##OP(a.y, b.y) ? 1.0f : 0.0f));                    \
    }                                                                                                         \
    __host__ __device__ inline bool __hb##OP##2(T2 a, T2 b) { return __h##OP(a.x, b.x) && __h##OP(a.y, b.y); } \
    __host__ __device__ inline unsigned __h##OP##2_mask(T2 a, T2 b) {                                         \
        return (__h##OP(a.x, b.x) ? 0xffffu : 0u) | (__h##OP(a.y, b.y) ? 0xffff0000u : 0u);                   \
    }

#define __WB_HALF2_MORE(T2, T, NAME)                                                                          \
    __WB_HALF2_COMPARE(T2, T, NAME, eq)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, ne)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, lt)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, le)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, gt)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, ge)                                                                       \
    __WB_HALF2_COMPARE(T2, T, NAME, equ)                                                                      \
    __WB_HALF2_COMPARE(T2, T, NAME, neu)                                                                      \
    __WB_HALF2_COMPARE(T2, T, NAME, ltu)                                                                      \
    __WB_HALF2_COMPARE(T2, T, NAME, leu)                                                                      \
    __WB_HALF2_COMPARE(T2, T, NAME, gtu)                                                                      \
    __WB_HALF2_COMPARE(T2, T, NAME, geu)                                                                      \
    __host__ __device__ inline bool operator!=(const T2& a, const T2& b) { return a.x != b.x && a.y != b.y; } \
    __host__ __device__ inline bool operator<(const T2& a, const T2& b) { return a.x < b.x && a.y < b.y; }    \
    __host__ __device__ inline bool operator>(const T2& a, const T2& b) { return a.x > b.x && a.y > b.y; }    \
    __host__ __device__ inline bool operator<=(const T2& a, const T2& b) { return a.x <= b.x && a.y <= b.y; } \
    __host__ __device__ inline bool operator>=(const T2& a, const T2& b) { return a.x >= b.x && a.y >= b.y; } \
    __host__ __device__ inline T2 __hadd2_rn(T2 a, T2 b) { return a + b; }                                    \
    __host__ __device__ inline T2 __hsub2_rn(T2 a, T2 b) { return a - b; }                                    \
    __host__ __device__ inline T2 __hmul2_rn(T2 a, T2 b) { return a * b; }                                    \
    __host__ __device__ inline T2 __hadd2_sat(T2 a, T2 b) { return T2(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)); } \
    __host__ __device__ inline T2 __hsub2_sat(T2 a, T2 b) { return T2(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)); } \
    __host__ __device__ inline T2 __hmul2_sat(T2 a, T2 b) { return T2(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)); } \
    __host__ __device__ inline T2 __hfma2_sat(T2 a, T2 b, T2 c) { return T2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); } \
    __host__ __device__ inline T2 __hfma2_relu(T2 a, T2 b, T2 c) { return T2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); } \
    __host__ __device__ inline T2 __hcmadd(T2 a, T2 b, T2 c) {                                                \
        return T2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));         \
    }                                                                                                         \
    __host__ __device__ inline T2 __hmax2_nan(T2 a, T2 b) { return T2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); } \
    __host__ __device__ inline T2 __hmin2_nan(T2 a, T2 b) { return T2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); } \
    __host__ __device__ inline T2 __hisnan2(T2 a) { return T2(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)); } \
    __device__ inline T2 h2floor(T2 a) { return T2(hfloor(a.x), hfloor(a.y)); }                               \
    __device__ inline T2 h2ceil(T2 a) { return T2(hceil(a.x), hceil(a.y)); }                                  \
    __device__ inline T2 h2trunc(T2 a) { return T2(htrunc(a.x), htrunc(a.y)); }                               \
    __device__ inline T2 h2rint(T2 a) { return T2(hrint(a.x), hrint(a.y)); }                                  \
    __device__ inline T2 h2exp10(T2 a) { return T2(hexp10(a.x), hexp10(a.y)); }                               \
    __device__ inline T2 h2log2(T2 a) { return T2(hlog2(a.x), hlog2(a.y)); }                                  \
    __device__ inline T2 h2log10(T2 a) { return T2(hlog10(a.x), hlog10(a.y)); }                               \
    __host__ __device__ inline unsigned __wb_bits(T2 a) { return a.x.__x | (unsigned)a.y.__x << 16; }         \
    __host__ __device__ inline T2 __wb_pair_##NAME(unsigned x) {                                              \
        return T2(__ushort_as_##NAME((unsigned short)x), __ushort_as_##NAME((unsigned short)(x >> 16)));      \
    }                                                                                                         \
    __device__ inline T2 __shfl_sync(unsigned m, T2 v, int lane, int w = 32) {                                \
        return __wb_pair_##NAME(__shfl_sync(m, __wb_bits(v), lane, w));                                       \
    }                                                                                                         \
    __device__ inline T2 __shfl_up_sync(unsigned m, T2 v, unsigned d, int w = 32) {                           \
        return __wb_pair_##NAME(__shfl_up_sync(m, __wb_bits(v), d, w));                                       \
    }                                                                                                         \
    __device__ inline T2 __shfl_down_sync(unsigned m, T2 v, unsigned d, int w = 32) {                         \
        return __wb_pair_##NAME(__shfl_down_sync(m, __wb_bits(v), d, w));                                     \
    }                                                                                                         \
    __device__ inline T2 __shfl_xor_sync(unsigned m, T2 v, int bits, int w = 32) {                            \
        return __wb_pair_##NAME(__shfl_xor_sync(m, __wb_bits(v), bits, w));                                   \
    }

__WB_HALF(__half, half, __wb_float_to_half, __wb_half_to_float)
__WB_HALF(__nv_bfloat16, bfloat16, __wb_float_to_bfloat, __wb_bfloat_to_float)
__WB_HALF_MORE(__half, half, __wb_float_to_half, __wb_half_to_float)
__WB_HALF_MORE(__nv_bfloat16, bfloat16, __wb_float_to_bfloat, __wb_bfloat_to_float)
__WB_HALF2(__half2, __half, half)
__WB_HALF2(__nv_bfloat162, __nv_bfloat16, bfloat16)
__WB_HALF2_MORE(__half2, __half, half)
__WB_HALF2_MORE(__nv_bfloat162, __nv_bfloat16, bfloat16)
__host__ __device__ inline int __hisinf(__half a) { return (a.__x & 0x7fffu) == 0x7c00u ? (a.__x >> 15 ? -1 : 1) : 0; }
__host__ __device__ inline int __hisinf(__nv_bfloat16 a) { return (a.__x & 0x7fffu) == 0x7f80u ? (a.__x >> 15 ? -1 : 1) : 0; }
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Atomics of 16-bit floats, and of pairs of them (each half by itself), by compare and swap.
#define __WB_HALF_ATOMIC(T, NAME)                                                                             \
    __device__ inline T atomicAdd(T* address, T value) {                                                      \
        unsigned short* at = reinterpret_cast<unsigned short*>(address);                                      \
        unsigned short seen = *at, before;                                                                    \
        do {                                                                                                  \
            before = seen;                                                                                    \
            seen = atomicCAS(at, before, __##NAME##_as_ushort(__ushort_as_##NAME(before) + value));           \
        } while (seen != before);                                                                             \
        return __ushort_as_##NAME(before);                                                                    \
    }                                                                                                         \
    __device__ inline T##2 atomicAdd(T##2* address, T##2 value) {                                             \
        unsigned* at = reinterpret_cast<unsigned*>(address);                                                  \
        unsigned seen = *at, before, next;                                                                    \
        T##2 sum;                                                                                             \
        do {                                                                                                  \
            before = seen;                                                                                    \
            __builtin_memcpy(&sum, &before, 4);                                                               \
            sum = sum + value;                                                                                \
            __builtin_memcpy(&next, &sum, 4);                                                                 \
            seen = atomicCAS(at, before, next);                                                               \
        } while (seen != before);                                                                             \
        __builtin_memcpy(&sum, &before, 4);                                                                   \
        return sum;                                                                                           \
    }
__WB_HALF_ATOMIC(__half, half)
__WB_HALF_ATOMIC(__nv_bfloat16, bfloat16)

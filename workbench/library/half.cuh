__device__ inline unsigned short __wb_float_to_half(float f) {
    unsigned x = __float_as_uint(f), sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
    if (a > 0x7f800000u) return 0x7fffu;
    if (a >= 0x477ff000u) return sign | 0x7c00u;
    if (a <= 0x33000000u) return sign;
    unsigned r, rest, middle;
    if (a < 0x38800000u) {
        unsigned shift = 126 - (a >> 23), m = (a & 0x7fffffu) | 0x800000u;
        r = m >> shift;
        rest = m & ((1u << shift) - 1);
        middle = 1u << (shift - 1);
    } else {
        r = (a - 0x38000000u) >> 13;
        rest = a & 0x1fffu;
        middle = 0x1000u;
    }
    return sign | (r + (rest > middle || (rest == middle && (r & 1u))));
}
__device__ inline float __wb_half_to_float(unsigned short h) {
    unsigned sign = (h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 1023u;
    if (e == 31) return __uint_as_float(sign | 0x7f800000u | (m << 13));
    if (e == 0) return __uint_as_float(sign | __float_as_uint((float)m * 5.9604644775390625e-8f));
    return __uint_as_float(sign | ((e + 112) << 23) | (m << 13));
}
__device__ inline unsigned short __wb_float_to_bfloat(float f) {
    unsigned x = __float_as_uint(f);
    if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
}
__device__ inline float __wb_bfloat_to_float(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
__device__ inline float __wb_to_odd(double d) {
    float f = (float)d;
    double back = f;
    if (back == d || d != d || back - back != 0) return f;
    unsigned x = __float_as_uint(f);
    if ((back < 0 ? -back : back) > (d < 0 ? -d : d)) x -= 1;
    return __uint_as_float(x | 1u);
}

#define __WB_HALF(T, NAME, ENCODE, DECODE)                                                                    \
    struct __align__(2) T {                                                                                   \
        unsigned short __x;                                                                                   \
        T() = default;                                                                                        \
        __device__ T(float f) : __x(ENCODE(f)) {}                                                             \
        __device__ T(double f) : __x(ENCODE(__wb_to_odd(f))) {}                                               \
        __device__ T(int i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                          \
        __device__ T(unsigned i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                     \
        __device__ T(short i) : __x(ENCODE((float)i)) {}                                                      \
        __device__ T(unsigned short i) : __x(ENCODE((float)i)) {}                                             \
        __device__ T(long i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                         \
        __device__ T(unsigned long i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                \
        __device__ T(long long i) : __x(ENCODE(__wb_to_odd((double)i))) {}                                    \
        __device__ T(unsigned long long i) : __x(ENCODE(__wb_to_odd((double)i))) {}                           \
        __device__ operator float() const { return DECODE(__x); }                                             \
        __device__ T& operator+=(const T& o) { __x = ENCODE(DECODE(__x) + DECODE(o.__x)); return *this; }     \
        __device__ T& operator-=(const T& o) { __x = ENCODE(DECODE(__x) - DECODE(o.__x)); return *this; }     \
        __device__ T& operator*=(const T& o) { __x = ENCODE(DECODE(__x) * DECODE(o.__x)); return *this; }     \
        __device__ T& operator/=(const T& o) { __x = ENCODE(DECODE(__x) / DECODE(o.__x)); return *this; }     \
        __device__ T& operator++() { __x = ENCODE(DECODE(__x) + 1.0f); return *this; }                        \
        __device__ T& operator--() { __x = ENCODE(DECODE(__x) - 1.0f); return *this; }                        \
        __device__ T operator+() const { return *this; }                                                      \
        __device__ T operator-() const { T r; r.__x = __x ^ 0x8000u; return r; }                              \
    };                                                                                                        \
    __device__ inline T operator+(const T& a, const T& b) { return T(DECODE(a.__x) + DECODE(b.__x)); }        \
    __device__ inline T operator-(const T& a, const T& b) { return T(DECODE(a.__x) - DECODE(b.__x)); }        \
    __device__ inline T operator*(const T& a, const T& b) { return T(DECODE(a.__x) * DECODE(b.__x)); }        \
    __device__ inline T operator/(const T& a, const T& b) { return T(DECODE(a.__x) / DECODE(b.__x)); }        \
    __device__ inline bool operator==(const T& a, const T& b) { return DECODE(a.__x) == DECODE(b.__x); }      \
    __device__ inline bool operator!=(const T& a, const T& b) {                                               \
        float x = DECODE(a.__x), y = DECODE(b.__x);                                                           \
        return x != y && x == x && y == y;                                                                    \
    }                                                                                                         \
    __device__ inline bool operator<(const T& a, const T& b) { return DECODE(a.__x) < DECODE(b.__x); }        \
    __device__ inline bool operator>(const T& a, const T& b) { return DECODE(a.__x) > DECODE(b.__x); }        \
    __device__ inline bool operator<=(const T& a, const T& b) { return DECODE(a.__x) <= DECODE(b.__x); }      \
    __device__ inline bool operator>=(const T& a, const T& b) { return DECODE(a.__x) >= DECODE(b.__x); }      \
    __device__ inline T __hadd(T a, T b) { return a + b; }                                                    \
    __device__ inline T __hsub(T a, T b) { return a - b; }                                                    \
    __device__ inline T __hmul(T a, T b) { return a * b; }                                                    \
    __device__ inline T __hadd_rn(T a, T b) { return a + b; }                                                 \
    __device__ inline T __hsub_rn(T a, T b) { return a - b; }                                                 \
    __device__ inline T __hmul_rn(T a, T b) { return a * b; }                                                 \
    __device__ inline T __hdiv(T a, T b) { return a / b; }                                                    \
    __device__ inline T __hfma(T a, T b, T c) {                                                               \
        return T((double)DECODE(a.__x) * (double)DECODE(b.__x) + (double)DECODE(c.__x));                      \
    }                                                                                                         \
    __device__ inline T __hneg(T a) { return -a; }                                                            \
    __device__ inline T __habs(T a) { T r; r.__x = a.__x & 0x7fffu; return r; }                               \
    __device__ inline T __hmax(T a, T b) { return T(fmaxf(DECODE(a.__x), DECODE(b.__x))); }                   \
    __device__ inline T __hmin(T a, T b) { return T(fminf(DECODE(a.__x), DECODE(b.__x))); }                   \
    __device__ inline bool __heq(T a, T b) { return a == b; }                                                 \
    __device__ inline bool __hne(T a, T b) { return a != b; }                                                 \
    __device__ inline bool __hlt(T a, T b) { return a < b; }                                                  \
    __device__ inline bool __hle(T a, T b) { return a <= b; }                                                 \
    __device__ inline bool __hgt(T a, T b) { return a > b; }                                                  \
    __device__ inline bool __hge(T a, T b) { return a >= b; }                                                 \
    __device__ inline bool __hisnan(T a) { float x = DECODE(a.__x); return x != x; }                          \
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
    __device__ inline unsigned short __##NAME##_as_ushort(T a) { return a.__x; }                              \
    __device__ inline short __##NAME##_as_short(T a) { return (short)a.__x; }                                 \
    __device__ inline T __ushort_as_##NAME(unsigned short x) { T r; r.__x = x; return r; }                    \
    __device__ inline T __short_as_##NAME(short x) { T r; r.__x = (unsigned short)x; return r; }              \
    __device__ inline T __float2##NAME(float f) { return T(f); }                                              \
    __device__ inline T __float2##NAME##_rn(float f) { return T(f); }                                         \
    __device__ inline T __double2##NAME(double f) { return T(f); }                                            \
    __device__ inline float __##NAME##2float(T a) { return DECODE(a.__x); }                                   \
    __device__ inline T __int2##NAME##_rn(int i) { return T(i); }                                             \
    __device__ inline T __uint2##NAME##_rn(unsigned i) { return T(i); }                                       \
    __device__ inline T __ll2##NAME##_rn(long long i) { return T(i); }                                        \
    __device__ inline T __short2##NAME##_rn(short i) { return T(i); }                                         \
    __device__ inline int __##NAME##2int_rn(T a) { return __float2int_rn(DECODE(a.__x)); }                    \
    __device__ inline int __##NAME##2int_rz(T a) { return __float2int_rz(DECODE(a.__x)); }                    \
    __device__ inline int __##NAME##2int_rd(T a) { return __float2int_rd(DECODE(a.__x)); }                    \
    __device__ inline int __##NAME##2int_ru(T a) { return __float2int_ru(DECODE(a.__x)); }                    \
    __device__ inline unsigned __##NAME##2uint_rn(T a) { return __float2uint_rn(DECODE(a.__x)); }

#define __WB_HALF2(T2, T, NAME)                                                                               \
    struct __align__(4) T2 {                                                                                  \
        T x, y;                                                                                               \
        T2() = default;                                                                                       \
        __device__ T2(const T& a, const T& b) : x(a), y(b) {}                                                 \
        __device__ T2& operator+=(const T2& o) { x += o.x; y += o.y; return *this; }                          \
        __device__ T2& operator-=(const T2& o) { x -= o.x; y -= o.y; return *this; }                          \
        __device__ T2& operator*=(const T2& o) { x *= o.x; y *= o.y; return *this; }                          \
        __device__ T2& operator/=(const T2& o) { x /= o.x; y /= o.y; return *this; }                          \
        __device__ T2 operator-() const { return T2(-x, -y); }                                                \
    };                                                                                                        \
    __device__ inline T2 operator+(const T2& a, const T2& b) { return T2(a.x + b.x, a.y + b.y); }             \
    __device__ inline T2 operator-(const T2& a, const T2& b) { return T2(a.x - b.x, a.y - b.y); }             \
    __device__ inline T2 operator*(const T2& a, const T2& b) { return T2(a.x * b.x, a.y * b.y); }             \
    __device__ inline T2 operator/(const T2& a, const T2& b) { return T2(a.x / b.x, a.y / b.y); }             \
    __device__ inline bool operator==(const T2& a, const T2& b) { return a.x == b.x && a.y == b.y; }          \
    __device__ inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                                \
    __device__ inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                                \
    __device__ inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                                \
    __device__ inline T2 __h2div(T2 a, T2 b) { return a / b; }                                                \
    __device__ inline T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
    __device__ inline T2 __hneg2(T2 a) { return -a; }                                                         \
    __device__ inline T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                               \
    __device__ inline T2 __hmax2(T2 a, T2 b) { return T2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }               \
    __device__ inline T2 __hmin2(T2 a, T2 b) { return T2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }               \
    __device__ inline T2 __heq2(T2 a, T2 b) { return T2(T(a.x == b.x ? 1.0f : 0.0f), T(a.y == b.y ? 1.0f : 0.0f)); } \
    __device__ inline T2 __hlt2(T2 a, T2 b) { return T2(T(a.x < b.x ? 1.0f : 0.0f), T(a.y < b.y ? 1.0f : 0.0f)); } \
    __device__ inline T2 __hgt2(T2 a, T2 b) { return T2(T(a.x > b.x ? 1.0f : 0.0f), T(a.y > b.y ? 1.0f : 0.0f)); } \
    __device__ inline T2 h2sqrt(T2 a) { return T2(hsqrt(a.x), hsqrt(a.y)); }                                  \
    __device__ inline T2 h2rsqrt(T2 a) { return T2(hrsqrt(a.x), hrsqrt(a.y)); }                               \
    __device__ inline T2 h2rcp(T2 a) { return T2(hrcp(a.x), hrcp(a.y)); }                                     \
    __device__ inline T2 h2exp(T2 a) { return T2(hexp(a.x), hexp(a.y)); }                                     \
    __device__ inline T2 h2exp2(T2 a) { return T2(hexp2(a.x), hexp2(a.y)); }                                  \
    __device__ inline T2 h2log(T2 a) { return T2(hlog(a.x), hlog(a.y)); }                                     \
    __device__ inline T2 h2sin(T2 a) { return T2(hsin(a.x), hsin(a.y)); }                                     \
    __device__ inline T2 h2cos(T2 a) { return T2(hcos(a.x), hcos(a.y)); }                                     \
    __device__ inline T2 h2tanh(T2 a) { return T2(htanh(a.x), htanh(a.y)); }                                  \
    __device__ inline T2 make_##NAME##2(T a, T b) { return T2(a, b); }                                        \
    __device__ inline T2 __halves2##NAME##2(T a, T b) { return T2(a, b); }                                    \
    __device__ inline T2 __##NAME##2##NAME##2(T a) { return T2(a, a); }                                       \
    __device__ inline T2 __float2##NAME##2_rn(float f) { return T2(T(f), T(f)); }                             \
    __device__ inline T2 __floats2##NAME##2_rn(float a, float b) { return T2(T(a), T(b)); }                   \
    __device__ inline T2 __float22##NAME##2_rn(float2 f) { return T2(T(f.x), T(f.y)); }                       \
    __device__ inline float2 __##NAME##22float2(T2 a) { return make_float2((float)a.x, (float)a.y); }         \
    __device__ inline T __low2##NAME(T2 a) { return a.x; }                                                    \
    __device__ inline T __high2##NAME(T2 a) { return a.y; }                                                   \
    __device__ inline T2 __low2##NAME##2(T2 a) { return T2(a.x, a.x); }                                       \
    __device__ inline T2 __high2##NAME##2(T2 a) { return T2(a.y, a.y); }                                      \
    __device__ inline T2 __lows2##NAME##2(T2 a, T2 b) { return T2(a.x, b.x); }                                \
    __device__ inline T2 __highs2##NAME##2(T2 a, T2 b) { return T2(a.y, b.y); }                               \
    __device__ inline T2 __lowhigh2highlow(T2 a) { return T2(a.y, a.x); }                                     \
    __device__ inline float __low2float(T2 a) { return (float)a.x; }                                          \
    __device__ inline float __high2float(T2 a) { return (float)a.y; }

__WB_HALF(__half, half, __wb_float_to_half, __wb_half_to_float)
__WB_HALF(__nv_bfloat16, bfloat16, __wb_float_to_bfloat, __wb_bfloat_to_float)
__WB_HALF2(__half2, __half, half)
__WB_HALF2(__nv_bfloat162, __nv_bfloat16, bfloat16)
__device__ inline int __hisinf(__half a) { return (a.__x & 0x7fffu) == 0x7c00u ? (a.__x >> 15 ? -1 : 1) : 0; }
__device__ inline int __hisinf(__nv_bfloat16 a) { return (a.__x & 0x7fffu) == 0x7f80u ? (a.__x >> 15 ? -1 : 1) : 0; }
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
            memcpy(&sum, &before, 4);                                                                         \
            sum = sum + value;                                                                                \
            memcpy(&next, &sum, 4);                                                                           \
            seen = atomicCAS(at, before, next);                                                               \
        } while (seen != before);                                                                             \
        memcpy(&sum, &before, 4);                                                                             \
        return sum;                                                                                           \
    }
__WB_HALF_ATOMIC(__half, half)
__WB_HALF_ATOMIC(__nv_bfloat16, bfloat16)

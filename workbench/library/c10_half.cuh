#include <cuda_fp16.h>
#include <cuda_bf16.h>

// 16-bit floats of torch's headers: arithmetic with `float` or `double` gives `float` or `double`.
#define __WB_C10_HALF(T, CUDA, RAW, VALUE)                                                                    \
    struct alignas(2) T {                                                                                     \
        unsigned short x;                                                                                     \
        struct from_bits_t {};                                                                                \
        __host__ __device__ static constexpr from_bits_t from_bits() { return from_bits_t(); }                \
        T() = default;                                                                                        \
        __host__ __device__ constexpr T(unsigned short bits, from_bits_t) : x(bits) {}                        \
        __host__ __device__ T(float value) : x(RAW(CUDA(value))) {}                                           \
        __host__ __device__ T(const CUDA& value) : x(RAW(value)) {}                                           \
        __host__ __device__ operator float() const { return (float)VALUE(x); }                                \
        __host__ __device__ operator CUDA() const { return VALUE(x); }                                        \
    };                                                                                                        \
    __host__ __device__ inline T operator+(const T& a, const T& b) { return (float)a + (float)b; }            \
    __host__ __device__ inline T operator-(const T& a, const T& b) { return (float)a - (float)b; }            \
    __host__ __device__ inline T operator*(const T& a, const T& b) { return (float)a * (float)b; }            \
    __host__ __device__ inline T operator/(const T& a, const T& b) { return (float)a / (float)b; }            \
    __host__ __device__ inline T operator-(const T& a) { return T((unsigned short)(a.x ^ 0x8000u), T::from_bits()); } \
    __host__ __device__ inline T& operator+=(T& a, const T& b) { a = a + b; return a; }                       \
    __host__ __device__ inline T& operator-=(T& a, const T& b) { a = a - b; return a; }                       \
    __host__ __device__ inline T& operator*=(T& a, const T& b) { a = a * b; return a; }                       \
    __host__ __device__ inline T& operator/=(T& a, const T& b) { a = a / b; return a; }                       \
    __host__ __device__ inline float& operator+=(float& a, const T& b) { return a += (float)b; }              \
    __host__ __device__ inline float& operator-=(float& a, const T& b) { return a -= (float)b; }              \
    __host__ __device__ inline float& operator*=(float& a, const T& b) { return a *= (float)b; }              \
    __host__ __device__ inline float& operator/=(float& a, const T& b) { return a /= (float)b; }              \
    __WB_C10_MIXED(T, float, float, (float))                                                                  \
    __WB_C10_MIXED(T, double, double, (double)(float))                                                        \
    __WB_C10_MIXED(T, int, T, (T))                                                                            \
    __WB_C10_MIXED(T, int64_t, T, (T))                                                                        \
    __host__ __device__ inline bool operator==(const T& a, const T& b) { return (float)a == (float)b; }       \
    __host__ __device__ inline bool operator!=(const T& a, const T& b) { return (float)a != (float)b; }       \
    __host__ __device__ inline bool operator<(const T& a, const T& b) { return (float)a < (float)b; }         \
    __host__ __device__ inline bool operator>(const T& a, const T& b) { return (float)a > (float)b; }         \
    __host__ __device__ inline bool operator<=(const T& a, const T& b) { return (float)a <= (float)b; }       \
    __host__ __device__ inline bool operator>=(const T& a, const T& b) { return (float)a >= (float)b; }

#define __WB_C10_MIXED(T, U, R, OF)                                                                           \
    __host__ __device__ inline R operator+(T a, U b) { return OF a + (R)b; }                                  \
    __host__ __device__ inline R operator-(T a, U b) { return OF a - (R)b; }                                  \
    __host__ __device__ inline R operator*(T a, U b) { return OF a * (R)b; }                                  \
    __host__ __device__ inline R operator/(T a, U b) { return OF a / (R)b; }                                  \
    __host__ __device__ inline R operator+(U a, T b) { return (R)a + OF b; }                                  \
    __host__ __device__ inline R operator-(U a, T b) { return (R)a - OF b; }                                  \
    __host__ __device__ inline R operator*(U a, T b) { return (R)a * OF b; }                                  \
    __host__ __device__ inline R operator/(U a, T b) { return (R)a / OF b; }

namespace c10 {
__WB_C10_HALF(Half, __half, __half_as_ushort, __ushort_as_half)
__WB_C10_HALF(BFloat16, __nv_bfloat16, __bfloat16_as_ushort, __ushort_as_bfloat16)
}

#ifdef __WB_STD
#define __WB_C10_LIMITS(T, MIN, MAX, EPSILON, INFINITE, DENORM, DIGITS)                                       \
    template <> struct numeric_limits<c10::T> {                                                               \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;  \
        static constexpr bool has_infinity = true, has_quiet_NaN = true;                                      \
        static constexpr int digits = DIGITS, radix = 2;                                                      \
        __host__ __device__ static constexpr c10::T min() { return c10::T(MIN, c10::T::from_bits()); }        \
        __host__ __device__ static constexpr c10::T max() { return c10::T(MAX, c10::T::from_bits()); }        \
        __host__ __device__ static constexpr c10::T lowest() { return c10::T(MAX | 0x8000, c10::T::from_bits()); } \
        __host__ __device__ static constexpr c10::T epsilon() { return c10::T(EPSILON, c10::T::from_bits()); } \
        __host__ __device__ static constexpr c10::T infinity() { return c10::T(INFINITE, c10::T::from_bits()); } \
        __host__ __device__ static constexpr c10::T quiet_NaN() { return c10::T(0x7fff, c10::T::from_bits()); } \
        __host__ __device__ static constexpr c10::T denorm_min() { return c10::T(DENORM, c10::T::from_bits()); } \
    };
namespace std {
__WB_C10_LIMITS(Half, 0x0400, 0x7bff, 0x1400, 0x7c00, 0x0001, 11)
__WB_C10_LIMITS(BFloat16, 0x0080, 0x7f7f, 0x3c00, 0x7f80, 0x0001, 8)
}
#endif

__device__ inline c10::Half atomicAdd(c10::Half* address, c10::Half value) {
    return atomicAdd(reinterpret_cast<__half*>(address), (__half)value);
}
__device__ inline c10::BFloat16 atomicAdd(c10::BFloat16* address, c10::BFloat16 value) {
    return atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), (__nv_bfloat16)value);
}

namespace at {
using c10::Half;
using c10::BFloat16;
}
namespace torch {
using c10::Half;
using c10::BFloat16;
}
#define __WB_C10_HALVES 1

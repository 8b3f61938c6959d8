// Complex numbers: the functions of <cuComplex.h>, and the class of `thrust` and `cuda::std`, whose objects
// lie in memory as two numbers do. Division scales by the size of the divisor, as in <cuComplex.h>.
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
#define __WB_CU(C, T, S, MAKE, ABS, HYPOT)                                                                   \
    __host__ __device__ inline C make_cu##MAKE(T x, T y) {                                                   \
        C z;                                                                                                 \
        z.x = x;                                                                                             \
        z.y = y;                                                                                             \
        return z;                                                                                            \
    }                                                                                                        \
    __host__ __device__ inline T cuCreal##S(C z) { return z.x; }                                             \
    __host__ __device__ inline T cuCimag##S(C z) { return z.y; }                                             \
    __host__ __device__ inline C cuConj##S(C z) { return make_cu##MAKE(z.x, -z.y); }                         \
    __host__ __device__ inline C cuCadd##S(C a, C b) { return make_cu##MAKE(a.x + b.x, a.y + b.y); }         \
    __host__ __device__ inline C cuCsub##S(C a, C b) { return make_cu##MAKE(a.x - b.x, a.y - b.y); }         \
    __host__ __device__ inline C cuCmul##S(C a, C b) {                                                       \
        return make_cu##MAKE((a.x * b.x) - (a.y * b.y), (a.x * b.y) + (a.y * b.x));                          \
    }                                                                                                        \
    __host__ __device__ inline C cuCdiv##S(C a, C b) {                                                       \
        T size = ABS(b.x) + ABS(b.y), one = (T)1 / size;                                                     \
        T ax = a.x * one, ay = a.y * one, bx = b.x * one, by = b.y * one, scale = (T)1 / (bx * bx + by * by); \
        return make_cu##MAKE(((ax * bx) + (ay * by)) * scale, ((ay * bx) - (ax * by)) * scale);              \
    }                                                                                                        \
    __host__ __device__ inline T cuCabs##S(C z) { return HYPOT(z.x, z.y); }                                  \
    __host__ __device__ inline C cuCfma##S(C a, C b, C c) {                                                  \
        return make_cu##MAKE((a.x * b.x - a.y * b.y) + c.x, (a.y * b.x + a.x * b.y) + c.y);                  \
    }
__WB_CU(cuFloatComplex, float, f, FloatComplex, fabsf, hypotf)
__WB_CU(cuDoubleComplex, double, , DoubleComplex, fabs, hypot)
#undef __WB_CU
__host__ __device__ inline cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
__host__ __device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
__host__ __device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_cuFloatComplex((float)z.x, (float)z.y); }

namespace __wb_complex {
template <typename T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T __re, __im;
    __host__ __device__ constexpr complex(T re = T(), T im = T()) : __re(re), __im(im) {}
    template <typename U> __host__ __device__ constexpr complex(const complex<U>& z) : __re((T)z.real()), __im((T)z.imag()) {}
    __host__ __device__ constexpr T real() const { return __re; }
    __host__ __device__ constexpr T imag() const { return __im; }
    __host__ __device__ void real(T re) { __re = re; }
    __host__ __device__ void imag(T im) { __im = im; }
    __host__ __device__ complex& operator=(T re) {
        __re = re;
        __im = T();
        return *this;
    }
#define __WB_ASSIGN(op)                                                                                        \
    template <typename U> __host__ __device__ complex& operator op##=(const complex<U>& z) {                   \
        complex<T> made = *this op complex<T>(z);                                                              \
        __re = made.__re;                                                                                      \
        __im = made.__im;                                                                                      \
        return *this;                                                                                          \
    }                                                                                                          \
    __host__ __device__ complex& operator op##=(T x) { return *this op##= complex<T>(x); }
    __WB_ASSIGN(+) __WB_ASSIGN(-) __WB_ASSIGN(*) __WB_ASSIGN(/)
#undef __WB_ASSIGN
};
template <typename T> __host__ __device__ inline complex<T> operator+(const complex<T>& z) { return z; }
template <typename T> __host__ __device__ inline complex<T> operator-(const complex<T>& z) { return complex<T>(-z.real(), -z.imag()); }
template <typename T> __host__ __device__ inline complex<T> operator+(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.real() + b.real(), a.imag() + b.imag());
}
template <typename T> __host__ __device__ inline complex<T> operator-(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.real() - b.real(), a.imag() - b.imag());
}
template <typename T> __host__ __device__ inline complex<T> operator*(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
template <typename T> __host__ __device__ inline complex<T> operator/(const complex<T>& a, const complex<T>& b) {
    T one = T(1) / (::fabs(b.real()) + ::fabs(b.imag()));
    T ax = a.real() * one, ay = a.imag() * one, bx = b.real() * one, by = b.imag() * one, scale = T(1) / (bx * bx + by * by);
    return complex<T>((ax * bx + ay * by) * scale, (ay * bx - ax * by) * scale);
}
#define __WB_MIXED(op)                                                                                                         \
    template <typename T> __host__ __device__ inline complex<T> operator op(const complex<T>& a, T b) { return a op complex<T>(b); } \
    template <typename T> __host__ __device__ inline complex<T> operator op(T a, const complex<T>& b) { return complex<T>(a) op b; }
__WB_MIXED(+) __WB_MIXED(-) __WB_MIXED(*)
#undef __WB_MIXED
template <typename T> __host__ __device__ inline complex<T> operator/(const complex<T>& a, T b) { return complex<T>(a.real() / b, a.imag() / b); }
template <typename T> __host__ __device__ inline complex<T> operator/(T a, const complex<T>& b) { return complex<T>(a) / b; }
template <typename T> __host__ __device__ inline bool operator==(const complex<T>& a, const complex<T>& b) {
    return a.real() == b.real() && a.imag() == b.imag();
}
template <typename T> __host__ __device__ inline bool operator!=(const complex<T>& a, const complex<T>& b) { return !(a == b); }
template <typename T> __host__ __device__ inline bool operator==(const complex<T>& a, T b) { return a == complex<T>(b); }
template <typename T> __host__ __device__ inline bool operator!=(const complex<T>& a, T b) { return !(a == complex<T>(b)); }
template <typename T> __host__ __device__ inline T real(const complex<T>& z) { return z.real(); }
template <typename T> __host__ __device__ inline T imag(const complex<T>& z) { return z.imag(); }
template <typename T> __host__ __device__ inline T abs(const complex<T>& z) { return ::hypot(z.real(), z.imag()); }
template <typename T> __host__ __device__ inline T arg(const complex<T>& z) { return ::atan2(z.imag(), z.real()); }
template <typename T> __host__ __device__ inline T norm(const complex<T>& z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <typename T> __host__ __device__ inline complex<T> conj(const complex<T>& z) { return complex<T>(z.real(), -z.imag()); }
template <typename T> __host__ __device__ inline complex<T> polar(T r, T angle = T()) { return complex<T>(r * ::cos(angle), r * ::sin(angle)); }
template <typename T> __host__ __device__ inline complex<T> exp(const complex<T>& z) { return polar<T>(::exp(z.real()), z.imag()); }
template <typename T> __host__ __device__ inline complex<T> log(const complex<T>& z) { return complex<T>(::log(abs(z)), arg(z)); }
template <typename T> __host__ __device__ inline complex<T> sqrt(const complex<T>& z) {
    T size = abs(z);
    if (size == T()) return complex<T>();
    T re = ::sqrt((size + ::fabs(z.real())) / 2), im = ::fabs(z.imag()) / (2 * re);
    T x = z.real() >= T() ? re : im, y = z.real() >= T() ? im : re;
    return complex<T>(x, ::copysign(y, z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> pow(const complex<T>& a, const complex<T>& b) { return exp(b * log(a)); }
template <typename T> __host__ __device__ inline complex<T> pow(const complex<T>& a, T b) { return exp(complex<T>(b) * log(a)); }
template <typename T> __host__ __device__ inline complex<T> sinh(const complex<T>& z) {
    return complex<T>(::sinh(z.real()) * ::cos(z.imag()), ::cosh(z.real()) * ::sin(z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> cosh(const complex<T>& z) {
    return complex<T>(::cosh(z.real()) * ::cos(z.imag()), ::sinh(z.real()) * ::sin(z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> sin(const complex<T>& z) {
    return complex<T>(::sin(z.real()) * ::cosh(z.imag()), ::cos(z.real()) * ::sinh(z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> cos(const complex<T>& z) {
    return complex<T>(::cos(z.real()) * ::cosh(z.imag()), -::sin(z.real()) * ::sinh(z.imag()));
}
}
#define __WB_TAKE                                                                                                                             \
    using __wb_complex::complex;                                                                                                              \
    using __wb_complex::real;                                                                                                                 \
    using __wb_complex::imag;                                                                                                                 \
    using __wb_complex::abs;                                                                                                                  \
    using __wb_complex::arg;                                                                                                                  \
    using __wb_complex::norm;                                                                                                                 \
    using __wb_complex::conj;                                                                                                                 \
    using __wb_complex::polar;                                                                                                                \
    using __wb_complex::exp;                                                                                                                  \
    using __wb_complex::log;                                                                                                                  \
    using __wb_complex::sqrt;                                                                                                                 \
    using __wb_complex::pow;                                                                                                                  \
    using __wb_complex::sin;                                                                                                                  \
    using __wb_complex::cos;                                                                                                                  \
    using __wb_complex::sinh;                                                                                                                 \
    using __wb_complex::cosh;
namespace thrust {
__WB_TAKE
}
namespace cuda {
namespace std {
__WB_TAKE
}
}
#undef __WB_TAKE

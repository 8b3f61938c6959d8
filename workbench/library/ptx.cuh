// What inline PTX becomes calls of (`front/ptx`). A register is a variable of as many bits; an instruction says what they are.
namespace __wb_ptx {

// The value of a register as a type: bits stay, and are cut or filled with zeros.
template <typename T, typename U> __host__ __device__ inline T as(U x) {
    if constexpr (std::is_same_v<T, U>) return x;
    else if constexpr (std::is_pointer_v<U>) return (T)(unsigned long long)x;
    else if constexpr (std::is_same_v<U, float>) {
        if constexpr (std::is_same_v<T, double>) return (double)x;
        else return (T)__float_as_uint(x);
    }
    else if constexpr (std::is_same_v<U, double>) {
        if constexpr (std::is_same_v<T, float>) return (float)x;
        else return (T)__double_as_longlong(x);
    }
    else if constexpr (std::is_same_v<T, float>) return __uint_as_float((unsigned)x);
    else if constexpr (std::is_same_v<T, double>) return __longlong_as_double((long long)x);
    else return (T)x;
}
template <typename T, typename U> __host__ __device__ inline void put(T& to, U value) { to = as<T>(value); }

// An address stays a pointer where it is one.
template <typename T> __host__ __device__ inline T* address(T* pointer) { return pointer; }
template <typename T> __host__ __device__ inline unsigned long long address(T number) { return (unsigned long long)number; }
template <typename T, typename U> __host__ __device__ inline T& at(U base, long offset) {
    if constexpr (std::is_pointer_v<U>) return *(T*)((char*)base + offset);
    else return *(T*)((unsigned long long)base + offset);
}
template <typename T, typename U> __host__ __device__ inline volatile T& volatile_at(U base, long offset) {
    if constexpr (std::is_pointer_v<U>) return *(volatile T*)((char*)base + offset);
    else return *(volatile T*)((unsigned long long)base + offset);
}

// `.ftz`: denormal numbers are zeros of their sign.
__host__ __device__ inline float flush(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0.f, x) : x; }
__host__ __device__ inline double flush(double x) { return x; }

// Shifts of as many bits as there are, or more, shift all out.
template <typename T> __host__ __device__ inline T shl(T x, unsigned n) { return n >= 8 * sizeof(T) ? (T)0 : (T)(x << n); }
template <typename T> __host__ __device__ inline T shr(T x, unsigned n) {
    if (n >= 8 * sizeof(T)) n = 8 * sizeof(T) - 1, x = (T)(x >> (n / 2)), n = n - n / 2, x = (T)(x >> 1);
    return (T)(x >> n);
}
// A field of bits, its sign extended where the type has one.
template <typename T> __host__ __device__ inline T bfe(T x, unsigned at, unsigned n) {
    at &= 255u;
    n &= 255u;
    if (n == 0) return (T)0;
    const bool negative = (T)-1 < (T)0 && ((unsigned)x >> (at + n - 1 < 31u ? at + n - 1 : 31u) & 1u) != 0;
    const unsigned mask = n >= 32 ? ~0u : (1u << n) - 1u;
    const unsigned there = at >= 32 ? 0u : (unsigned)x >> at;
    // Past the last bit of the word are copies of the sign.
    const unsigned known = at >= 32 ? 0u : ~0u >> at;
    const unsigned field = there & mask;
    return (T)(negative ? field | ~(mask & known) : field);
}
__host__ __device__ inline unsigned bfi(unsigned field, unsigned into, unsigned at, unsigned n) {
    at &= 255u;
    n &= 255u;
    if (at >= 32 || n == 0) return into;
    const unsigned mask = (n >= 32 ? ~0u : (1u << n) - 1u) << at;
    return (field << at & mask) | (into & ~mask);
}
__host__ __device__ inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned made = 0;
    if (table & 0x01u) made |= ~a & ~b & ~c;
    if (table & 0x02u) made |= ~a & ~b & c;
    if (table & 0x04u) made |= ~a & b & ~c;
    if (table & 0x08u) made |= ~a & b & c;
    if (table & 0x10u) made |= a & ~b & ~c;
    if (table & 0x20u) made |= a & ~b & c;
    if (table & 0x40u) made |= a & b & ~c;
    if (table & 0x80u) made |= a & b & c;
    return made;
}

__device__ inline unsigned thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__device__ inline unsigned lane() { return thread() % 32u; }

}

// There is one address space.
__device__ inline size_t __cvta_generic_to_global(const void* pointer) { return (size_t)pointer; }

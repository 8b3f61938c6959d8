// Functions that inline PTX becomes calls of (`front/ptx`). A register is a variable of as many bits; the instruction gives its type.
namespace __wb_ptx {

// The bits of a register as a type. A wider register is cut; a narrower
// value is extended by its sign, as for `ld.s8`, or with zeros.
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

// An operand has the type of its constraint, as in nvcc.
template <typename T, typename U> __host__ __device__ inline T given(const U& x) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) static_assert(std::is_same_v<U, T>, "an operand of inline PTX is of another type than its constraint says");
    else static_assert(!std::is_floating_point_v<U> && !std::is_pointer_v<U> && !__wb_is_class(x) && sizeof(U) <= sizeof(T), "an operand of inline PTX is of another type than its constraint says");
    return (T)x;
}
template <typename U, typename T> __host__ __device__ inline void give(U& to, T value) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) static_assert(std::is_same_v<U, T> || std::is_same_v<U, volatile T>, "an output of inline PTX is of another type than its constraint says");
    else static_assert((std::is_pointer_v<U> || std::is_integral_v<U>) && sizeof(U) == sizeof(T), "an output of inline PTX is of another type than its constraint says");
    to = (U)value;
}

// An address that is a pointer stays one.
template <typename T> __host__ __device__ inline T* address(T* pointer) { return pointer; }
template <typename T> __host__ __device__ inline unsigned long long address(T number) {
    static_assert(std::is_integral_v<T>, "an operand of inline PTX is of another type than its constraint says");
    return (unsigned long long)number;
}
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

// A field of bits, its sign extended where the type has one.
template <typename T> __host__ __device__ inline T bfe(T x, unsigned at, unsigned n) {
    at &= 255u;
    n &= 255u;
    if (n == 0) return (T)0;
    const bool negative = (T)-1 < (T)0 && ((unsigned)x >> (at + n - 1 < 31u ? at + n - 1 : 31u) & 1u) != 0;
    const unsigned mask = n >= 32 ? ~0u : (1u << n) - 1u;
    const unsigned there = at >= 32 ? 0u : (unsigned)x >> at;
    // Bits past the last of the word are copies of the sign.
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
// Bytes of two words, by selectors of four bits: the highest bit selects the sign of the byte.
__host__ __device__ inline unsigned prmt(unsigned a, unsigned b, unsigned selectors) {
    const unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned made = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned selector = selectors >> 4 * i;
        unsigned byte = (unsigned)(both >> 8 * (selector & 7u)) & 255u;
        if (selector & 8u) byte = byte & 128u ? 255u : 0u;
        made |= byte << 8 * i;
    }
    return made;
}
// A number clamped to the range of a smaller type.
template <typename T> __host__ __device__ inline T narrow(int x) {
    const bool has_sign = (T)-1 < (T)0;
    const int bits = 8 * (int)sizeof(T) - (has_sign ? 1 : 0);
    const int high = (1 << bits) - 1, low = has_sign ? -(1 << bits) : 0;
    return (T)(x < low ? low : x > high ? high : x);
}
// A function of three words, bit by bit: for bits of `a`, `b` and `c` it is the bit `4 a + 2 b + c` of the table.
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

// Shared memory has 32-bit addresses of its own: the low halves of our addresses, as all of a block's are near to one another.
__device__ inline void* shared(unsigned long long number, long offset = 0) {
    __shared__ char window;
    const unsigned long long here = (unsigned long long)&window;
    return (void*)(here + (long long)(int)((unsigned)(number + offset) - (unsigned)here));
}
template <typename T> __device__ inline void* shared(T* number, long offset = 0) { return shared((unsigned long long)number, offset); }

// `cp.async`: the copy is complete at once; zeros follow the first `n` bytes.
template <typename T> __device__ inline void copy(void* to, const void* from, unsigned n) {
    T value{};
    if (n >= sizeof(T)) value = *(const T*)from;
    else for (unsigned i = 0; i < n; ++i) ((char*)&value)[i] = ((const char*)from)[i];
    *(T*)to = value;
}

__device__ inline unsigned thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__device__ inline unsigned lane() { return thread() % 32u; }

// `shfl`: the source lane is within the caller's segment, and not past the clamp; for another one the caller gets its own value.
template <int Mode> __device__ inline unsigned shfl(unsigned mask, unsigned value, unsigned b, unsigned c, bool& there) {
    const int me = (int)lane(), by = (int)(b & 31u), clamp = (int)(c & 31u), segment = (int)(c >> 8 & 31u);
    const int low = me & segment, high = low | (clamp & ~segment);
    const int from = Mode == 0 ? me ^ by : Mode == 1 ? me - by : Mode == 2 ? me + by : low | (by & ~segment);
    there = Mode == 1 ? from >= high : from <= high;
    return __shfl_sync(mask, value, there ? from : me);
}

// 16-bit floats of a register, and back.
template <typename To, typename From> __host__ __device__ inline To bits(From from) {
    To made;
    __builtin_memcpy(&made, &from, sizeof(To));
    return made;
}
template <typename Pair> __device__ inline Pair tanh2(Pair x) {
    x.x = tanhf((float)x.x);
    x.y = tanhf((float)x.y);
    return x;
}

}

// Addresses are the same in all spaces but shared memory.
__device__ inline size_t __cvta_generic_to_global(const void* pointer) { return (size_t)pointer; }
__device__ inline size_t __cvta_generic_to_local(const void* pointer) { return (size_t)pointer; }
__device__ inline size_t __cvta_generic_to_constant(const void* pointer) { return (size_t)pointer; }
__device__ inline size_t __cvta_generic_to_shared(const void* pointer) { return (unsigned)(size_t)pointer; }
__device__ inline void* __cvta_global_to_generic(size_t number) { return (void*)number; }
__device__ inline void* __cvta_local_to_generic(size_t number) { return (void*)number; }
__device__ inline void* __cvta_constant_to_generic(size_t number) { return (void*)number; }
__device__ inline void* __cvta_shared_to_generic(size_t number) { return __wb_ptx::shared(number); }

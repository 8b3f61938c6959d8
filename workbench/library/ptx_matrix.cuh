// Functions that inline PTX of matrices becomes calls of: NVIDIA's "Parallel Thread Execution ISA", chapter "Warp Level Matrix
// Multiply-Accumulate Instructions", says which elements of a tile each lane holds. Lane 4 g + t is thread t of group g.
namespace __wb_ptx {

// Elements of a factor, by the registers that hold them.
struct tf32 {
    using sum = float;
    static constexpr int per_register = 1;
    static __device__ float element(unsigned word, int) { return __uint_as_float(word & 0xffffe000u); }
};
struct bf16 {
    using sum = float;
    static constexpr int per_register = 2;
    static __device__ float element(unsigned word, int i) { return __uint_as_float(i ? word & 0xffff0000u : word << 16); }
};
template <typename Half> struct f16 {
    using sum = float;
    static constexpr int per_register = 2;
    static __device__ float element(unsigned word, int i) { return (float)__ushort_as_half((unsigned short)(i ? word >> 16 : word)); }
};
template <typename Byte> struct byte8 {
    using sum = long long;
    static constexpr int per_register = 4;
    static __device__ int element(unsigned word, int i) { return (Byte)(word >> 8 * i); }
};

// Products of 16 x K and K x 8, added to `c`: a lane holds rows g and g + 8 of A, column g of B, and columns 2 t and 2 t
// + 1 of rows g and g + 8 of the result. `Words` registers belong to one row or column; each holds K = 4 t + i of lane t.
template <typename A, typename B, int Words, typename T>
__device__ inline void mma(T* d, const unsigned* a, const unsigned* b, const T* c, bool saturates) {
    const unsigned me = lane(), mine = me & ~3u, left = 8 * (me & 3u), right = left + 4;
    typename A::sum d0 = c[0], d1 = c[1], d2 = c[2], d3 = c[3];
    for (unsigned s = 0; s < 4; ++s) {
        for (int q = 0; q < Words; ++q) {
            const unsigned long long rows = __shfl_sync(~0u, (unsigned long long)a[2 * q + 1] << 32 | a[2 * q], mine + s);
            const unsigned x0 = __shfl_sync(~0u, b[q], left + s), x1 = __shfl_sync(~0u, b[q], right + s);
            for (int i = 0; i < A::per_register; ++i) {
                const auto top = A::element((unsigned)rows, i), bottom = A::element((unsigned)(rows >> 32), i);
                const auto b0 = B::element(x0, i), b1 = B::element(x1, i);
                d0 += top * b0;
                d1 += top * b1;
                d2 += bottom * b0;
                d3 += bottom * b1;
            }
        }
    }
    typename A::sum all[4] = {d0, d1, d2, d3};
    for (int i = 0; i < 4; ++i) {
        if constexpr (std::is_integral_v<T>) {
            const long long x = all[i];
            d[i] = (T)(!saturates ? x : x < -2147483648ll ? -2147483648ll : x > 2147483647ll ? 2147483647ll : x);
        } else d[i] = all[i];
    }
}
// Results in two registers of two 16-bit floats.
template <typename A, typename B, int Words>
__device__ inline void mma_half(unsigned* d, const unsigned* a, const unsigned* b, const unsigned* c) {
    float to[4], from[4] = {A::element(c[0], 0), A::element(c[0], 1), A::element(c[1], 0), A::element(c[1], 1)};
    mma<A, B, Words>(to, a, b, from, false);
    for (int i = 0; i < 2; ++i) {
        d[i] = (unsigned)__half_as_ushort(__float2half(to[2 * i])) | (unsigned)__half_as_ushort(__float2half(to[2 * i + 1])) << 16;
    }
}

// Tiles of 8 x 8 elements of 16 bits; lanes 8 n to 8 n + 7 hold the addresses of the n-th tile's rows.
template <bool Transposed> __device__ inline unsigned tile(void* row, unsigned n) {
    const unsigned me = lane(), group = me >> 2, thread = me & 3u;
    const unsigned long long number = (unsigned long long)row;
    if constexpr (Transposed) {
        const unsigned long long even = __shfl_sync(~0u, number, 8 * n + 2 * thread), odd = __shfl_sync(~0u, number, 8 * n + 2 * thread + 1);
        return (unsigned)((const unsigned short*)even)[group] | (unsigned)((const unsigned short*)odd)[group] << 16;
    } else return ((const unsigned*)__shfl_sync(~0u, number, 8 * n + group))[thread];
}
template <bool Transposed> __device__ inline void store_tile(void* row, unsigned n, unsigned word) {
    const unsigned me = lane(), group = me >> 2, thread = me & 3u;
    const unsigned long long number = (unsigned long long)row;
    if constexpr (Transposed) {
        const unsigned long long even = __shfl_sync(~0u, number, 8 * n + 2 * thread), odd = __shfl_sync(~0u, number, 8 * n + 2 * thread + 1);
        ((unsigned short*)even)[group] = (unsigned short)word;
        ((unsigned short*)odd)[group] = (unsigned short)(word >> 16);
    } else ((unsigned*)__shfl_sync(~0u, number, 8 * n + group))[thread] = word;
}

}

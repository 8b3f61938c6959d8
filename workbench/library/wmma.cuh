// Warp matrix functions (CUDA C++ Programming Guide): products of small tiles by a warp.
namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}

__device__ inline float __float_to_tf32(float f) {
    unsigned x = __float_as_uint(f);
    return (x & 0x7fffffffu) >= 0x7f800000u ? f : __uint_as_float((x + 0x1000u) & 0xffffe000u);
}

// The properties of an element type: its storage, the type of its sums and of its results, and the shapes it has (`__wb_tile::shape`).
template <typename T> struct __wb_element {};
template <typename T> struct __wb_half_element {
    using storage = T;
    using sum = float;
    using result = float;
    static constexpr int shapes = 1;
    static __device__ float factor(T x) { return (float)x; }
};
template <> struct __wb_element<__half> : __wb_half_element<__half> {};
template <> struct __wb_element<__nv_bfloat16> : __wb_half_element<__nv_bfloat16> {};
template <> struct __wb_element<precision::tf32> {
    using storage = float;
    using sum = float;
    using result = float;
    static constexpr int shapes = 2;
    static __device__ float factor(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }
};
template <> struct __wb_element<double> {
    using storage = double;
    using sum = double;
    using result = double;
    static constexpr int shapes = 3;
    static __device__ double factor(double x) { return x; }
};
// Sums of bytes have more bits than their results, which wrap or saturate at the end.
template <typename T> struct __wb_byte_element {
    using storage = T;
    using sum = long long;
    using result = int;
    static constexpr int shapes = 1;
    static __device__ int factor(T x) { return x; }
};
template <> struct __wb_element<signed char> : __wb_byte_element<signed char> {};
template <> struct __wb_element<unsigned char> : __wb_byte_element<unsigned char> {};
template <> struct __wb_element<float> {
    using storage = float;
    static constexpr int shapes = 0;
};
template <> struct __wb_element<int> {
    using storage = int;
    static constexpr int shapes = 0;
};

__device__ inline void __wb_result(float& d, float s, bool satf) {
    d = !satf ? s : s != s ? 0.0f : fminf(fmaxf(s, -3.4028234663852886e38f), 3.4028234663852886e38f);
}
__device__ inline void __wb_result(__half& d, float s, bool satf) {
    d = __half(!satf ? s : s != s ? 0.0f : fminf(fmaxf(s, -65504.0f), 65504.0f));
}
__device__ inline void __wb_result(double& d, double s, bool) { d = s; }
__device__ inline void __wb_result(int& d, long long s, bool satf) {
    d = (int)(!satf ? s : s < -2147483648ll ? -2147483648ll : s > 2147483647ll ? 2147483647ll : s);
}

template <typename A, typename B> struct __wb_same { static constexpr bool value = false; };
template <typename A> struct __wb_same<A, A> { static constexpr bool value = true; };

// Each lane owns a patch of `rows` by `cols` results, and patches cover the tile row by row. A
// lane keeps the rows of A and the columns of B that its patch needs, so that a product needs
// no other lane: elements of A and B are held by several lanes, those of accumulators by one.
template <int M, int N, int K> struct __wb_tile {
    // The shape is 1 for 16-bit floats and bytes, 2 for tf32, 3 for `double`, and -1 for none.
    static constexpr int shape = K == 16 ? (M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32) ? 1 : -1
                                         : M == 16 && N == 16 && K == 8 ? 2 : M == 8 && N == 8 && K == 4 ? 3 : -1;
    static constexpr int rows = shape == 3 ? 1 : 2, cols = shape == 3 ? 2 : 4;
    static __device__ unsigned lane() { return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) & 31u; }
    static __device__ unsigned row() { return lane() / (N / cols) * rows; }
    static __device__ unsigned col() { return lane() % (N / cols) * cols; }
};

template <typename T, int Count> struct __wb_elements {
    using element_type = T;
    using storage_element_type = typename __wb_element<T>::storage;
    static constexpr int num_elements = Count;
    storage_element_type x[Count];
};

// A type that is no fragment is refused where it is loaded or multiplied.
template <typename Use, int M, int N, int K, typename T, typename Layout = void> class fragment;
template <int M, int N, int K, typename T, typename Layout>
class fragment<matrix_a, M, N, K, T, Layout> : public __wb_elements<T, __wb_tile<M, N, K>::rows * K> {};
template <int M, int N, int K, typename T, typename Layout>
class fragment<matrix_b, M, N, K, T, Layout> : public __wb_elements<T, __wb_tile<M, N, K>::cols * K> {};
template <int M, int N, int K, typename T>
class fragment<accumulator, M, N, K, T, void> : public __wb_elements<T, __wb_tile<M, N, K>::rows * __wb_tile<M, N, K>::cols> {};

template <typename Use, int M, int N, int K, typename T, typename Layout>
__device__ inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const typename __wb_element<T>::storage& v) {
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = v;
}

template <typename T, typename Layout, int Shape> __device__ inline void __wb_check() {
    static_assert(__wb_element<T>::shapes == Shape, "no factors of such a type have that shape");
    static_assert(__wb_same<Layout, row_major>::value || __wb_same<Layout, col_major>::value, "factors are `row_major` or `col_major`");
}
// Loads rows or columns, from the one at `p` on, as lines of K elements.
template <int Lines, int K, typename T> __device__ inline void __wb_load(T* x, const T* p, unsigned line, unsigned step) {
    __syncwarp();
    for (int k = 0; k < K; ++k) {
        const T* q = p + k * step;
        x[k] = q[0];
        if constexpr (Lines >= 2) x[K + k] = q[line];
        if constexpr (Lines == 4) {
            x[2 * K + k] = q[2 * line];
            x[3 * K + k] = q[3 * line];
        }
    }
}
template <int M, int N, int K, typename T, typename Layout>
__device__ inline void load_matrix_sync(fragment<matrix_a, M, N, K, T, Layout>& f, const typename __wb_element<T>::storage* p,
                                        unsigned ldm) {
    using tile = __wb_tile<M, N, K>;
    __wb_check<T, Layout, tile::shape>();
    constexpr bool by_rows = __wb_same<Layout, row_major>::value;
    unsigned line = by_rows ? ldm : 1u, step = by_rows ? 1u : ldm;
    __wb_load<tile::rows, K>(f.x, p + tile::row() * line, line, step);
}
template <int M, int N, int K, typename T, typename Layout>
__device__ inline void load_matrix_sync(fragment<matrix_b, M, N, K, T, Layout>& f, const typename __wb_element<T>::storage* p,
                                        unsigned ldm) {
    using tile = __wb_tile<M, N, K>;
    __wb_check<T, Layout, tile::shape>();
    constexpr bool by_rows = __wb_same<Layout, row_major>::value;
    unsigned line = by_rows ? 1u : ldm, step = by_rows ? ldm : 1u;
    __wb_load<tile::cols, K>(f.x, p + tile::col() * line, line, step);
}
template <int M, int N, int K, typename T>
__device__ inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const typename __wb_element<T>::storage* p, unsigned ldm,
                                        layout_t layout) {
    using tile = __wb_tile<M, N, K>;
    unsigned down = layout == mem_row_major ? ldm : 1u, right = layout == mem_row_major ? 1u : ldm;
    p += tile::row() * down + tile::col() * right;
    __syncwarp();
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = p[i / tile::cols * down + i % tile::cols * right];
}
template <int M, int N, int K, typename T>
__device__ inline void store_matrix_sync(typename __wb_element<T>::storage* p, const fragment<accumulator, M, N, K, T>& f, unsigned ldm,
                                         layout_t layout) {
    using tile = __wb_tile<M, N, K>;
    unsigned down = layout == mem_row_major ? ldm : 1u, right = layout == mem_row_major ? 1u : ldm;
    p += tile::row() * down + tile::col() * right;
    // The tile's memory may still be read by other lanes, and may be read right after this.
    __syncwarp();
    for (int i = 0; i < f.num_elements; ++i) p[i / tile::cols * down + i % tile::cols * right] = f.x[i];
    __syncwarp();
}

template <int M, int N, int K, typename T, typename LayoutA, typename LayoutB, typename D, typename C>
__device__ inline void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
                                bool satf = false) {
    using element = __wb_element<T>;
    using sum = typename element::sum;
    constexpr bool either = __wb_same<T, __half>::value && !__wb_same<C, int>::value && !__wb_same<D, int>::value;
    __wb_check<T, LayoutA, __wb_tile<M, N, K>::shape>();
    __wb_check<T, LayoutB, __wb_tile<M, N, K>::shape>();
    static_assert(either || __wb_same<C, typename element::result>::value && __wb_same<D, typename element::result>::value,
                  "results of that product have another element type");
    // Sums are separate variables: an array would be memory.
    sum s00 = c.x[0], s01 = c.x[1];
    if constexpr (__wb_tile<M, N, K>::rows == 1) {
        for (int k = 0; k < K; ++k) {
            s00 += a.x[k] * b.x[k];
            s01 += a.x[k] * b.x[K + k];
        }
    } else {
        sum s02 = c.x[2], s03 = c.x[3], s10 = c.x[4], s11 = c.x[5], s12 = c.x[6], s13 = c.x[7];
        for (int k = 0; k < K; ++k) {
            auto a0 = element::factor(a.x[k]), a1 = element::factor(a.x[K + k]);
            auto b0 = element::factor(b.x[k]), b1 = element::factor(b.x[K + k]);
            auto b2 = element::factor(b.x[2 * K + k]), b3 = element::factor(b.x[3 * K + k]);
            s00 += a0 * b0;
            s01 += a0 * b1;
            s02 += a0 * b2;
            s03 += a0 * b3;
            s10 += a1 * b0;
            s11 += a1 * b1;
            s12 += a1 * b2;
            s13 += a1 * b3;
        }
        __wb_result(d.x[2], s02, satf);
        __wb_result(d.x[3], s03, satf);
        __wb_result(d.x[4], s10, satf);
        __wb_result(d.x[5], s11, satf);
        __wb_result(d.x[6], s12, satf);
        __wb_result(d.x[7], s13, satf);
    }
    __wb_result(d.x[0], s00, satf);
    __wb_result(d.x[1], s01, satf);
}

}
}

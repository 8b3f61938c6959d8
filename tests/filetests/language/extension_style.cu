// test run

#include <type_traits>

#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define DEFINE_UNARY(NAME, EXPR)                                      \
    template <typename scalar_t>                                      \
    struct NAME##_op {                                                \
        __device__ __forceinline__ scalar_t operator()(scalar_t x) const { return EXPR; } \
    };                                                                \
    template <typename scalar_t>                                      \
    __global__ void NAME##_kernel(const scalar_t* __restrict__ in, scalar_t* __restrict__ out, int n) { \
        CUDA_KERNEL_LOOP(i, n) { out[i] = NAME##_op<scalar_t>()(in[i]); } \
    }
DEFINE_UNARY(relu, x > scalar_t(0) ? x : scalar_t(0))
DEFINE_UNARY(square, x * x)
// run: relu_kernel<float><<<2, 2>>>(in = [-1, 2, -3, 4, 5], out = poison(5), n = 5)
//   out == [0, 2, 0, 4, 5]
// run: square_kernel<double><<<1, 2>>>(in = [-1, 2, -3], out = poison(3), n = 3)
//   out == [1, 4, 9]

template <typename T, int N> struct alignas(sizeof(T) * N) AlignedVector { T val[N]; };
template <typename T, int VEC, typename Op>
__device__ void vectorized(const T* in, T* out, int i, Op op) {
    using Vec = AlignedVector<T, VEC>;
    Vec v = *reinterpret_cast<const Vec*>(in + i * VEC);
#pragma unroll
    for (int k = 0; k < VEC; ++k) v.val[k] = op(v.val[k]);
    *reinterpret_cast<Vec*>(out + i * VEC) = v;
}
template <typename T, int VEC> __global__ void add_one(const T* in, T* out) {
    vectorized<T, VEC>(in, out, threadIdx.x, [] __device__(T x) { return x + T(1); });
}
// run: add_one<float, 4><<<1, 2>>>(in = iota(8), out = poison(8))
//   out == [1, 2, 3, 4, 5, 6, 7, 8]

template <typename T> struct MaxOp {
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
    static __device__ constexpr T identity() { return std::numeric_limits<T>::lowest(); }
};
template <typename T> struct SumOp {
    __device__ T operator()(T a, T b) const { return a + b; }
    static __device__ constexpr T identity() { return T(0); }
};
template <template <typename> class Op, typename T, int BLOCK = 4>
__global__ void reduce(const T* in, T* out, int n) {
    Op<T> op;
    T acc = Op<T>::identity();
    for (int i = 0; i < n; i++) acc = op(acc, in[i]);
    out[0] = acc;
    out[1] = BLOCK;
}
// run: reduce<MaxOp, int><<<1, 1>>>(in = [3, 9, 2], out = poison(2), n = 3)
//   out == [9, 4]
// run: reduce<SumOp, float, 8><<<1, 1>>>(in = [3, 9, 2], out = poison(2), n = 3)
//   out == [14, 8]

struct Config {
    int rows, cols;
    float alpha;
    __host__ __device__ int index(int r, int c) const { return r * cols + c; }
};
template <bool Transpose, typename T> __global__ void apply(Config cfg, const T* in, T* out) {
    int r = threadIdx.y, c = threadIdx.x;
    if (r >= cfg.rows || c >= cfg.cols) return;
    if constexpr (Transpose) {
        out[c * cfg.rows + r] = in[cfg.index(r, c)] * cfg.alpha;
    } else {
        out[cfg.index(r, c)] = in[cfg.index(r, c)] * cfg.alpha;
    }
}
// run: apply<true, float><<<1, (3, 2, 1)>>>(cfg = bytes(i32 2, i32 3, f32 2), in = [1, 2, 3, 4, 5, 6], out = poison(6))
//   out == [2, 8, 4, 10, 6, 12]
// run: apply<false, double><<<1, (3, 2, 1)>>>(cfg = bytes(i32 2, i32 3, f32 0.5), in = [2, 4, 6, 8, 10, 12], out = poison(6))
//   out == [1, 2, 3, 4, 5, 6]

namespace detail {
template <typename T> struct acc_type { using type = T; };
template <> struct acc_type<float> { using type = double; };
template <typename T> using acc_t = typename acc_type<T>::type;
template <typename T, typename std::enable_if<std::is_floating_point<T>::value, int>::type = 0>
__device__ T safe_div(T a, T b) { return b == T(0) ? T(0) : a / b; }
template <typename T, typename std::enable_if<!std::is_floating_point<T>::value, int>::type = 0>
__device__ T safe_div(T a, T b) { return b == 0 ? -1 : a / b; }
}
template <typename T> __global__ void ratios(const T* a, const T* b, T* out, int n) {
    typename detail::acc_t<T> total = 0;
    for (int i = 0; i < n; i++) {
        out[i] = detail::safe_div(a[i], b[i]);
        total += out[i];
    }
    out[n] = static_cast<T>(total) + sizeof(total);
}
// run: ratios<float><<<1, 1>>>(a = [1, 2], b = [4, 0], out = poison(3), n = 2)
//   out == [0.25, 0, 8.25]
// run: ratios<int><<<1, 1>>>(a = [7, 2], b = [2, 0], out = poison(3), n = 2)
//   out == [3, -1, 6]

class Matrix {
public:
    __device__ Matrix(float* data, int stride) : data_(data), stride_(stride) {}
    __device__ float& operator()(int r, int c) { return data_[r * stride_ + c]; }
    __device__ const float& operator()(int r, int c) const { return data_[r * stride_ + c]; }
    __device__ Matrix row(int r) const { return Matrix(data_ + r * stride_, stride_); }
private:
    float* data_;
    int stride_;
};
typedef struct { float r, g, b; } Color;
typedef struct Node { int value; struct Node* next; } Node;
enum Kind { FIRST, SECOND = 5 };
__device__ __forceinline__ Color mix(const Color a, const Color b, float t) {
    Color c;
    c.r = a.r + (b.r - a.r) * t; c.g = a.g + (b.g - a.g) * t; c.b = a.b + (b.b - a.b) * t;
    return c;
}
__global__ void objects(float* data, float* out) {
    Matrix m(data, 3);
    m(1, 2) = 50;
    const Matrix& cm = m;
    out[0] = cm(1, 2) + m.row(1)(0, 0);
    Color c = mix({0, 0, 0}, {2, 4, 6}, 0.5f);
    out[1] = c.r + c.g * 10 + c.b * 100;
    Node nodes[3];
    for (int i = 0; i < 3; i++) { nodes[i].value = i + 1; nodes[i].next = i < 2 ? &nodes[i + 1] : nullptr; }
    int s = 0;
    for (Node* n = nodes; n; n = n->next) s = s * 10 + n->value;
    out[2] = s;
    Kind k = SECOND;
    out[3] = k;
}
// run: objects<<<1, 1>>>(data = iota(6), out = poison(4))
//   out == [53, 321, 123, 5]

// One reduction for every operation: a functor as template parameter, vectorised grid-stride loads.
#include <cfloat>
#include <climits>

#define CUDA_KERNEL_LOOP(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

namespace ops {

template <typename T>
struct Sum {
    __host__ __device__ static constexpr T identity() { return T(0); }
    __device__ __forceinline__ T operator()(const T& a, const T& b) const { return a + b; }
};

template <typename T> struct Limits;
template <> struct Limits<float> {
    __host__ __device__ static constexpr float lowest() { return -FLT_MAX; }
    __host__ __device__ static constexpr float highest() { return FLT_MAX; }
};
template <> struct Limits<int> {
    __host__ __device__ static constexpr int lowest() { return INT_MIN; }
    __host__ __device__ static constexpr int highest() { return INT_MAX; }
};

template <typename T>
struct Max {
    __host__ __device__ static constexpr T identity() { return Limits<T>::lowest(); }
    __device__ __forceinline__ T operator()(const T& a, const T& b) const { return a > b ? a : b; }
};

template <typename T>
struct Min {
    __host__ __device__ static constexpr T identity() { return Limits<T>::highest(); }
    __device__ __forceinline__ T operator()(const T& a, const T& b) const { return a < b ? a : b; }
};

}  // namespace ops

template <typename T, template <typename> class Op, int BLOCK>
__global__ void reduce(const T* __restrict__ x, T* __restrict__ block_results, int n)
{
    using op_t = Op<T>;
    const op_t op{};
    T acc = op_t::identity();
    CUDA_KERNEL_LOOP(i, n) { acc = op(acc, x[i]); }

#pragma unroll
    for (int mask = 16; mask >= 1; mask >>= 1) acc = op(acc, __shfl_xor_sync(0xffffffffu, acc, mask));

    __shared__ T warp_results[BLOCK / 32];
    if ((threadIdx.x & 31) == 0) warp_results[threadIdx.x >> 5] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        T result = op_t::identity();
#pragma unroll
        for (int w = 0; w < BLOCK / 32; ++w) result = op(result, warp_results[w]);
        block_results[blockIdx.x] = result;
    }
}

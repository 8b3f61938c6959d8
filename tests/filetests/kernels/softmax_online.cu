// Online softmax: running maximum and normaliser in one pass, merged over the block as pairs.
#include <cfloat>

struct __align__(8) Running {
    float peak;
    float mass;  // sum of exp(x - peak)

    __device__ static Running none() { return {-FLT_MAX, 0.0f}; }
    __device__ static Running of(float x) { return {x, 1.0f}; }
};

// The side with the lower peak is scaled down to the other's.
__device__ __forceinline__ Running merge(const Running& a, const Running& b)
{
    const float peak = fmaxf(a.peak, b.peak);
    const float lower = fminf(a.peak, b.peak);
    const float scale = expf(lower - peak);
    return {peak, a.peak < b.peak ? fmaf(a.mass, scale, b.mass) : fmaf(b.mass, scale, a.mass)};
}

template <int kThreads>
__launch_bounds__(kThreads)
__global__ void online_softmax(const float* __restrict x, float* __restrict y, int cols)
{
    constexpr int kWarps = kThreads / 32;
    __shared__ Running of_warps[kWarps];
    __shared__ Running of_row;

    x += static_cast<long>(blockIdx.x) * cols;
    y += static_cast<long>(blockIdx.x) * cols;

    Running mine = Running::none();
    for (int c = threadIdx.x; c < cols; c += kThreads) mine = merge(mine, Running::of(x[c]));

    for (int mask = 16; mask > 0; mask >>= 1) {
        const Running other{__shfl_xor_sync(~0u, mine.peak, mask), __shfl_xor_sync(~0u, mine.mass, mask)};
        mine = merge(mine, other);
    }
    if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = mine;
    __syncthreads();

    if (threadIdx.x == 0) {
        of_row = of_warps[0];
        for (int w = 1; w < kWarps; ++w) of_row = merge(of_row, of_warps[w]);
    }
    __syncthreads();

    const float inverse = 1.0f / of_row.mass;
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = expf(x[c] - of_row.peak) * inverse;
}

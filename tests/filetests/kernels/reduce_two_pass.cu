// Mean and variance in two launches: partial sums a block, then one block that combines them.

struct Moments {
    double sum;
    double sum_sq;

    __host__ __device__ Moments() : sum(0.0), sum_sq(0.0) {}
    __host__ __device__ Moments(double s, double q) : sum(s), sum_sq(q) {}

    __host__ __device__ Moments& operator+=(const Moments& other)
    {
        sum += other.sum;
        sum_sq += other.sum_sq;
        return *this;
    }
};

__device__ __forceinline__ Moments shuffle_down(const Moments& m, unsigned int delta)
{
    return Moments(__shfl_down_sync(0xffffffffu, m.sum, delta), __shfl_down_sync(0xffffffffu, m.sum_sq, delta));
}

template <int kThreads>
__device__ Moments block_combine(Moments m)
{
    constexpr int kWarps = kThreads / 32;
    static_assert(kThreads % 32 == 0 && kWarps <= 32, "whole warps, please");
    __shared__ double sums[kWarps];
    __shared__ double squares[kWarps];

    for (int delta = 16; delta > 0; delta >>= 1) m += shuffle_down(m, delta);
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (lane == 0) {
        sums[warp] = m.sum;
        squares[warp] = m.sum_sq;
    }
    __syncthreads();
    Moments total;
    if (threadIdx.x == 0) {
        for (int w = 0; w < kWarps; ++w) total += Moments(sums[w], squares[w]);
    }
    return total;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads) moments_partial(const float* __restrict__ x, double* __restrict__ partial, int n)
{
    Moments mine;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const double v = x[i];
        mine += Moments(v, v * v);
    }
    const Moments block = block_combine<kThreads>(mine);
    if (threadIdx.x == 0) {
        partial[2 * blockIdx.x] = block.sum;
        partial[2 * blockIdx.x + 1] = block.sum_sq;
    }
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    moments_final(const double* __restrict__ partial, float* __restrict__ mean, float* __restrict__ var, int blocks, int n)
{
    Moments mine;
    for (int b = threadIdx.x; b < blocks; b += kThreads) mine += Moments(partial[2 * b], partial[2 * b + 1]);
    const Moments total = block_combine<kThreads>(mine);
    if (threadIdx.x == 0) {
        const double m = total.sum / n;
        *mean = static_cast<float>(m);
        *var = static_cast<float>(total.sum_sq / n - m * m);
    }
}

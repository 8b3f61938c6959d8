// Layer norm forward, a block a row: mean and variance by warp shuffles, an optional affine map, statistics kept for backward.

template <typename T>
struct BlockSum {
    T* slots;  // one a warp

    __device__ explicit BlockSum(T* s) : slots(s) {}

    // Every thread gets the sum. May be called again: the slots are guarded on both sides.
    __device__ T operator()(T v) const
    {
        const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
        for (int d = 16; d >= 1; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        __syncthreads();
        if (lane == 0) slots[warp] = v;
        __syncthreads();
        T total = T(0);
        for (unsigned w = 0; w < blockDim.x / 32; ++w) total += slots[w];
        return total;
    }
};

template <typename T>
__global__ void layernorm_forward(int cols, T eps, const T* __restrict__ x, const T* __restrict__ gamma,
                                  const T* __restrict__ beta, T* __restrict__ y, T* __restrict__ means, T* __restrict__ rstds)
{
    __shared__ T slots[32];
    const BlockSum<T> block_sum(slots);
    const T* row = x + static_cast<size_t>(blockIdx.x) * cols;

    T sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c];
    const T mean = block_sum(sum) / cols;

    T squares = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const T centred = row[c] - mean;
        squares += centred * centred;
    }
    const T rstd = T(1) / sqrt(block_sum(squares) / cols + eps);

    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        rstds[blockIdx.x] = rstd;
    }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        T v = (row[c] - mean) * rstd;
        if (gamma) v *= gamma[c];
        if (beta) v += beta[c];
        y[static_cast<size_t>(blockIdx.x) * cols + c] = v;
    }
}

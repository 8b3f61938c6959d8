// Sums of rows by warp shuffles: a shared slot a warp, the first warp finishes; the accumulator's type is its own parameter.

namespace {

constexpr unsigned int kAllLanes = 0xffffffff;

template <typename T>
__device__ __forceinline__ T sum_of_warp(T v)
{
#pragma unroll
    for (int distance = warpSize >> 1; distance > 0; distance >>= 1) v += __shfl_down_sync(kAllLanes, v, distance);
    return v;
}

// The sum is whole in the first thread only.
template <typename T>
__device__ __forceinline__ T sum_of_block(T v)
{
    static __shared__ T of_warps[32];
    const unsigned int lane = threadIdx.x % warpSize;
    const unsigned int warp = threadIdx.x / warpSize;
    const unsigned int warps = blockDim.x / warpSize;

    v = sum_of_warp(v);
    if (lane == 0) of_warps[warp] = v;
    __syncthreads();
    if (warp > 0) return v;
    return sum_of_warp(lane < warps ? of_warps[lane] : T());
}

}  // namespace

template <typename scalar_t, typename acc_t = scalar_t>
__global__ void reduce_rows(const scalar_t* __restrict__ x, acc_t* __restrict__ out, int cols)
{
    const scalar_t* row = x + static_cast<size_t>(blockIdx.x) * cols;
    acc_t sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<acc_t>(row[c]);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

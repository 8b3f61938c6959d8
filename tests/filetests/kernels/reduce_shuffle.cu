// Block reduction by warp shuffles: one shared slot a warp, the first warp finishes.
#define FULL_MASK 0xffffffff

template <typename T>
__inline__ __device__ T warpReduceSum(T val)
{
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(FULL_MASK, val, offset);
    return val;
}

template <typename T>
__inline__ __device__ T blockReduceSum(T val)
{
    static __shared__ T shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;

    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();

    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : T(0);
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

template <typename scalar_t, typename acc_t = scalar_t>
__global__ void reduce_rows(const scalar_t* __restrict__ x, acc_t* __restrict__ out, int cols)
{
    const scalar_t* row = x + static_cast<size_t>(blockIdx.x) * cols;
    acc_t sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<acc_t>(row[c]);
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

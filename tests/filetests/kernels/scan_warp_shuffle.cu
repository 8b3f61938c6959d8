// Inclusive scan of a block by shuffles: each warp scans, the first warp scans the warps' sums.

template <typename T>
__device__ __forceinline__ T warp_inclusive_scan(T x, unsigned lane)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const T up = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d) x += up;
    }
    return x;
}

template <typename T, int kItems>
__global__ void block_inclusive_scan(const T* __restrict__ in, T* __restrict__ out, int n)
{
    __shared__ T warp_sums[32];
    __shared__ T running;
    const unsigned lane = threadIdx.x & 31u;
    const unsigned warp = threadIdx.x >> 5;
    const unsigned warps = blockDim.x >> 5;
    if (threadIdx.x == 0) running = 0;
    __syncthreads();

    const int tile = blockDim.x * kItems;
    for (int base = 0; base < n; base += tile) {
        T items[kItems];
        const int first = base + threadIdx.x * kItems;
#pragma unroll
        for (int k = 0; k < kItems; ++k) {
            items[k] = first + k < n ? in[first + k] : T(0);
            if (k) items[k] += items[k - 1];
        }

        const T inclusive = warp_inclusive_scan(items[kItems - 1], lane);
        if (lane == 31) warp_sums[warp] = inclusive;
        __syncthreads();
        if (warp == 0) {
            const T sum = warp_inclusive_scan(lane < warps ? warp_sums[lane] : T(0), lane);
            warp_sums[lane] = sum;
        }
        __syncthreads();

        const T before = running + (warp ? warp_sums[warp - 1] : T(0)) + inclusive - items[kItems - 1];
#pragma unroll
        for (int k = 0; k < kItems; ++k)
            if (first + k < n) out[first + k] = before + items[k];
        __syncthreads();
        if (threadIdx.x == 0) running += warp_sums[warps - 1];
        __syncthreads();
    }
}

// The unrolled reduction of older code: the last warp runs without barriers, through a volatile pointer.

// All lanes take part in every step; what the upper ones compute is never read.
template <unsigned int kBlock, typename T>
__device__ void fold_last_warp(volatile T* cache, unsigned int lane)
{
    if (kBlock >= 64) cache[lane] += cache[lane + 32];
    if (kBlock >= 32) cache[lane] += cache[lane + 16];
    if (kBlock >= 16) cache[lane] += cache[lane + 8];
    if (kBlock >= 8) cache[lane] += cache[lane + 4];
    if (kBlock >= 4) cache[lane] += cache[lane + 2];
    if (kBlock >= 2) cache[lane] += cache[lane + 1];
}

#define FOLD(width)                                                  \
    if (kBlock >= 2 * (width)) {                                     \
        if (me < (width)) cache[me] += cache[me + (width)];          \
        __syncthreads();                                             \
    }

template <unsigned int kBlock, typename T>
__global__ void reduce_unrolled(const T* values, T* partials, unsigned int n)
{
    // A warp of room past the end for the reads of the upper lanes.
    __shared__ T cache[kBlock + 32];

    const unsigned int me = threadIdx.x;
    if (me < 32) cache[kBlock + me] = T(0);

    T mine = T(0);
    for (unsigned int i = blockIdx.x * kBlock * 2 + me; i < n; i += kBlock * 2 * gridDim.x) {
        mine += values[i];
        if (i + kBlock < n) mine += values[i + kBlock];
    }
    cache[me] = mine;
    __syncthreads();

    FOLD(256)
    FOLD(128)
    FOLD(64)

    if (me < 32) fold_last_warp<kBlock>(cache, me);
    if (me == 0) partials[blockIdx.x] = cache[0];
}

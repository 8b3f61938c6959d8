// Sum of integers, one partial a block, with neighbours added first: by a modulo test, and by strided indices.

__global__ void reduce_interleaved(const int* values, int* partials, unsigned int n)
{
    extern __shared__ int cache[];

    const unsigned int me = threadIdx.x;
    const unsigned int i = blockIdx.x * blockDim.x + me;
    cache[me] = i < n ? values[i] : 0;
    __syncthreads();

    for (unsigned int gap = 1; gap < blockDim.x; gap *= 2) {
        // Half of the threads drop out in every round, scattered over all warps.
        if (me % (2 * gap) == 0) cache[me] += cache[me + gap];
        __syncthreads();
    }

    if (me == 0) partials[blockIdx.x] = cache[0];
}

__global__ void reduce_interleaved_strided(const int* values, int* partials, unsigned int n)
{
    extern __shared__ int cache[];

    const unsigned int me = threadIdx.x;
    const unsigned int i = blockIdx.x * blockDim.x + me;
    cache[me] = i < n ? values[i] : 0;
    __syncthreads();

    unsigned int gap = 1;
    while (gap < blockDim.x) {
        const unsigned int left = 2 * gap * me;
        if (left + gap < blockDim.x) cache[left] += cache[left + gap];
        gap <<= 1;
        __syncthreads();
    }

    if (me == 0) partials[blockIdx.x] = cache[0];
}

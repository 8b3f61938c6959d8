// A single launch: every block leaves a partial sum, the last one to finish adds them up.

__device__ unsigned int blocks_done = 0;

template <unsigned int BLOCK>
__device__ float block_sum(float value, float* scratch)
{
    const unsigned int me = threadIdx.x;
    scratch[me] = value;
    __syncthreads();
#pragma unroll
    for (unsigned int width = BLOCK / 2; width > 0; width /= 2) {
        if (me < width) scratch[me] += scratch[me + width];
        __syncthreads();
    }
    return scratch[0];
}

template <unsigned int BLOCK>
__global__ void reduce_last_block(const float* __restrict__ in, volatile float* partial, float* __restrict__ out, unsigned int n)
{
    __shared__ float scratch[BLOCK];
    __shared__ bool is_last;

    float sum = 0.0f;
    for (unsigned int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) sum += in[i];
    sum = block_sum<BLOCK>(sum, scratch);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // visible to all before this block counts as done
        is_last = atomicInc(&blocks_done, gridDim.x) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return;

    float total = 0.0f;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += BLOCK) total += partial[b];
    total = block_sum<BLOCK>(total, scratch);
    if (threadIdx.x == 0) {
        *out = total;
        blocks_done = 0;  // ready for the next launch
    }
}

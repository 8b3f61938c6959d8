// A single launch: every block leaves a partial sum, the last one to finish adds them up.

__device__ unsigned int retirementCount = 0;

template <unsigned int BLOCK>
__device__ float block_sum(float value, float* scratch)
{
    const unsigned int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
#pragma unroll
    for (unsigned int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) scratch[tid] += scratch[tid + s];
        __syncthreads();
    }
    return scratch[0];
}

template <unsigned int BLOCK>
__global__ void reduce_last_block(const float* __restrict__ in, volatile float* partial, float* __restrict__ out, unsigned int n)
{
    __shared__ float scratch[BLOCK];
    __shared__ bool amLast;

    float sum = 0.0f;
    for (unsigned int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) sum += in[i];
    sum = block_sum<BLOCK>(sum, scratch);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        // The partial sum is visible to all before the ticket is taken.
        __threadfence();
        unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();

    if (amLast) {
        float total = 0.0f;
        for (unsigned int b = threadIdx.x; b < gridDim.x; b += BLOCK) total += partial[b];
        total = block_sum<BLOCK>(total, scratch);
        if (threadIdx.x == 0) {
            *out = total;
            retirementCount = 0;  // ready for the next launch
        }
    }
}

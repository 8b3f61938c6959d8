// Sum and maximum with sequential addressing; the first addition happens during the load.
#include <cfloat>

#define REDUCE_TREE(OP)                                      \
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {  \
        if (tid < s) {                                       \
            sdata[tid] = OP(sdata[tid], sdata[tid + s]);     \
        }                                                    \
        __syncthreads();                                     \
    }

__device__ __forceinline__ float add(float a, float b) { return a + b; }

__global__ void reduce_sum(const float* __restrict__ in, float* __restrict__ out, int n)
{
    extern __shared__ float sdata[];
    const unsigned int tid = threadIdx.x;
    const unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;

    float mine = i < n ? in[i] : 0.f;
    if (i + blockDim.x < n) mine += in[i + blockDim.x];
    sdata[tid] = mine;
    __syncthreads();

    REDUCE_TREE(add)

    if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_max(const float* __restrict__ in, float* __restrict__ out, int n)
{
    extern __shared__ float sdata[];
    const unsigned int tid = threadIdx.x;
    const unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;

    float mine = i < n ? in[i] : -FLT_MAX;
    if (i + blockDim.x < n) mine = fmaxf(mine, in[i + blockDim.x]);
    sdata[tid] = mine;
    __syncthreads();

    REDUCE_TREE(fmaxf)

    if (tid == 0) out[blockIdx.x] = sdata[0];
}

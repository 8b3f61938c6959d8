// RMS norm of rows of __half, a block a row, two elements a load; sums in float.
#include <cuda_fp16.h>

__global__ void rmsnorm_half2(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, int cols,
                              float eps) {
    __shared__ float shared[33];
    const __half2* row = reinterpret_cast<const __half2*>(x + (size_t)blockIdx.x * cols);
    const __half2* w = reinterpret_cast<const __half2*>(weight);
    __half2* to = reinterpret_cast<__half2*>(out + (size_t)blockIdx.x * cols);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
        float2 v = __half22float2(row[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < (blockDim.x >> 5) ? shared[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0) shared[32] = rsqrtf(sum / cols + eps);
    }
    __syncthreads();
    float scale = shared[32];
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
        float2 v = __half22float2(row[i]);
        __half2 normed = __floats2half2_rn(v.x * scale, v.y * scale);
        to[i] = __hmul2(normed, w[i]);
    }
}

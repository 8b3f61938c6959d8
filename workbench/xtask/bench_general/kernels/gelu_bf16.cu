// GELU (tanh) of bfloat16 with a bias a column, a grid-stride loop.
#include <cuda_bf16.h>

template <typename T>
__inline__ __device__ T gelu(T x) {
    float cdf = 0.5f * (1.0f + tanhf((0.7978845608028654f * (x + 0.044715f * x * x * x))));
    return x * cdf;
}

__global__ void gelu_bf16(const __nv_bfloat16* x, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* out, int m, int n) {
    for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < m * n; id += blockDim.x * gridDim.x) {
        float value = __bfloat162float(x[id]) + __bfloat162float(bias[id % n]);
        out[id] = __float2bfloat16(gelu(value));
    }
}

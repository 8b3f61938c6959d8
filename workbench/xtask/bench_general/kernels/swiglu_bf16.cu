// SwiGLU of two arrays of bfloat16, two elements a thread.
#include <cuda_bf16.h>

__device__ __forceinline__ float silu(float x) { return x / (1.0f + expf(-x)); }

__global__ void swiglu_bf16(const __nv_bfloat16* __restrict__ gate, const __nv_bfloat16* __restrict__ up, __nv_bfloat16* __restrict__ out,
                            int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    __nv_bfloat162 g2 = reinterpret_cast<const __nv_bfloat162*>(gate)[i];
    __nv_bfloat162 u2 = reinterpret_cast<const __nv_bfloat162*>(up)[i];
    float2 g = __bfloat1622float2(g2);
    float2 u = __bfloat1622float2(u2);
    reinterpret_cast<__nv_bfloat162*>(out)[i] = __floats2bfloat162_rn(silu(g.x) * u.x, silu(g.y) * u.y);
}

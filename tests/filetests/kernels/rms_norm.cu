// RMS norm fused with the residual addition of inference engines; storage and arithmetic types differ.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

template <typename T> struct Convert;

template <> struct Convert<float> {
    static __device__ __forceinline__ float load(float v) { return v; }
    static __device__ __forceinline__ float store(float v) { return v; }
};
template <> struct Convert<__half> {
    static __device__ __forceinline__ float load(__half v) { return __half2float(v); }
    static __device__ __forceinline__ __half store(float v) { return __float2half_rn(v); }
};
template <> struct Convert<__nv_bfloat16> {
    static __device__ __forceinline__ float load(__nv_bfloat16 v) { return __bfloat162float(v); }
    static __device__ __forceinline__ __nv_bfloat16 store(float v) { return __float2bfloat16_rn(v); }
};

// input := residual + input (in T), then input := rms_norm(input) * weight; residual holds the sum.
template <typename scalar_t>
__global__ void add_rms_norm(scalar_t* __restrict__ input,
                             scalar_t* __restrict__ residual,
                             const scalar_t* __restrict__ weight,
                             const float eps,
                             const int cols)
{
    using C = Convert<scalar_t>;
    __shared__ float scale;
    extern __shared__ float of_warps[];

    float squares = 0.0f;
    for (int idx = threadIdx.x; idx < cols; idx += blockDim.x) {
        const int at = blockIdx.x * cols + idx;
        const scalar_t z = C::store(C::load(input[at]) + C::load(residual[at]));
        const float x = C::load(z);
        squares += x * x;
        residual[at] = z;
    }

    for (int offset = 16; offset > 0; offset >>= 1) squares += __shfl_xor_sync(0xffffffff, squares, offset);
    if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = squares;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < (blockDim.x + 31) / 32; ++w) total += of_warps[w];
        scale = rsqrtf(total / cols + eps);
    }
    __syncthreads();

    for (int idx = threadIdx.x; idx < cols; idx += blockDim.x) {
        const int at = blockIdx.x * cols + idx;
        const float x = C::load(residual[at]);
        input[at] = C::store(x * scale * C::load(weight[idx]));
    }
}

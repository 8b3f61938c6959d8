// GELU on halves, two at a time, with bias; the odd element at the end goes alone.
#include <cuda_fp16.h>

constexpr float kAlpha = 0.79788456f;  // sqrt(2 / pi)
constexpr float kBeta = 0.044715f;

__device__ __forceinline__ float gelu_tanh(float x)
{
    const float inner = kAlpha * (x + kBeta * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ __forceinline__ __half2 gelu_tanh(__half2 v)
{
    const float2 f = __half22float2(v);
    return __floats2half2_rn(gelu_tanh(f.x), gelu_tanh(f.y));
}

__global__ void gelu_half(const __half* __restrict__ x, __half* __restrict__ y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2* x2 = reinterpret_cast<const half2*>(x);
    half2* y2 = reinterpret_cast<half2*>(y);
    if (i < n / 2) y2[i] = gelu_tanh(x2[i]);
    if (i == 0 && (n & 1)) y[n - 1] = __float2half(gelu_tanh(__half2float(x[n - 1])));
}

// Bias added in half precision, as fused kernels do; columns are even.
__global__ void add_bias_gelu(__half2* __restrict__ out, const __half2* __restrict__ bias, int rows, int cols2)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int c = threadIdx.x; c < cols2; c += blockDim.x) {
            __half2 value = out[row * cols2 + c];
            value = __hadd2(value, __ldg(&bias[c]));
            out[row * cols2 + c] = gelu_tanh(value);
        }
    }
}

"""KernelBench-like answer: linear + bias, max pool of 2, sum and scale fused to one kernel; a second one fuses swish, bias, group norm; long comments."""
CPP = (
    "torch::Tensor linear_pool_sum_cuda(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int kernel_size, float scale_factor);\n"
    "torch::Tensor swish_bias_groupnorm_cuda(torch::Tensor x, torch::Tensor bias, torch::Tensor gamma, torch::Tensor beta, int num_groups, double eps);"
)
CUDA = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

// Each block computes one row of the batch:
//   y    = x @ weight.T + bias
//   p    = max over windows of kernel_size neighbours of y
//   out  = scale_factor * sum(p)
// The row of x is staged in shared memory, and y never touches global memory.
__global__ void linear_pool_sum_kernel(
    const float* __restrict__ x,
    const float* __restrict__ weight,
    const float* __restrict__ bias,
    float* __restrict__ out,
    const int in_features,
    const int out_features,
    const int kernel_size,
    const float scale_factor
) {
    extern __shared__ float shared_mem[];
    float* s_x = shared_mem;                      // in_features
    float* s_sum = shared_mem + in_features;      // blockDim.x

    const int row = blockIdx.x;
    const int tid = threadIdx.x;

    // Step 1: load the input row
    for (int i = tid; i < in_features; i += blockDim.x) {
        s_x[i] = x[row * in_features + i];
    }
    __syncthreads();

    // Step 2: every thread handles whole pooling windows
    const int windows = out_features / kernel_size;
    float local_sum = 0.0f;
    for (int w = tid; w < windows; w += blockDim.x) {
        float window_max = -1e20f;
        for (int k = 0; k < kernel_size; ++k) {
            const int o = w * kernel_size + k;
            float acc = bias[o];
            #pragma unroll 4
            for (int i = 0; i < in_features; ++i) {
                acc += s_x[i] * weight[o * in_features + i];
            }
            window_max = fmaxf(window_max, acc);
        }
        local_sum += window_max;
    }

    // Step 3: block reduction
    s_sum[tid] = local_sum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) s_sum[tid] += s_sum[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        // last warp
        volatile float* v = s_sum;
        float r = v[tid] + v[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2) r += __shfl_down_sync(0xffffffff, r, offset);
        if (tid == 0) out[row] = r * scale_factor;
    }
}

torch::Tensor linear_pool_sum_cuda(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int kernel_size, float scale_factor) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    TORCH_CHECK(weight.is_contiguous(), "weight must be contiguous");
    TORCH_CHECK(x.size(1) == weight.size(1), "in_features differ");

    auto batch_size = x.size(0);
    auto in_features = x.size(1);
    auto out_features = weight.size(0);
    auto out = torch::empty({batch_size}, x.options());

    const int threads = 64;
    size_t shared_mem_size = (in_features + threads) * sizeof(float);
    linear_pool_sum_kernel<<<batch_size, threads, shared_mem_size>>>(
        x.data_ptr<float>(),
        weight.data_ptr<float>(),
        bias.data_ptr<float>(),
        out.data_ptr<float>(),
        in_features,
        out_features,
        kernel_size,
        scale_factor
    );
    return out;
}

__device__ __forceinline__ float swish(float v) { return v / (1.0f + expf(-v)); }

__inline__ __device__ float2 warpReduceSum2(float2 val) {
    for (int mask = 16; mask > 0; mask >>= 1) {
        val.x += __shfl_xor_sync(0xffffffff, val.x, mask);
        val.y += __shfl_xor_sync(0xffffffff, val.y, mask);
    }
    return val;
}

// grid: (groups, batch); block: 128
__global__ void swish_bias_groupnorm_kernel(const float* x, const float* bias, const float* gamma, const float* beta, float* y, int channels, int groups, float eps) {
    const int per_group = channels / groups;
    const int first = blockIdx.x * per_group;
    const float* row = x + blockIdx.y * channels;
    __shared__ float2 warp_sums[4];
    __shared__ float mean, inv_std;

    float2 sums = make_float2(0.0f, 0.0f);
    for (int c = first + threadIdx.x; c < first + per_group; c += blockDim.x) {
        const float v = swish(row[c]) + bias[c];
        sums.x += v;
        sums.y += v * v;
    }
    sums = warpReduceSum2(sums);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sums;
    __syncthreads();
    if (threadIdx.x == 0) {
        float2 total = {0.0f, 0.0f};
        for (auto& w : warp_sums) { total.x += w.x; total.y += w.y; }
        mean = total.x / per_group;
        inv_std = rsqrtf(total.y / per_group - mean * mean + eps);
    }
    __syncthreads();
    for (int c = first + threadIdx.x; c < first + per_group; c += blockDim.x) {
        y[blockIdx.y * channels + c] = (swish(row[c]) + bias[c] - mean) * inv_std * gamma[c] + beta[c];
    }
}

torch::Tensor swish_bias_groupnorm_cuda(torch::Tensor x, torch::Tensor bias, torch::Tensor gamma, torch::Tensor beta, int num_groups, double eps) {
    auto channels = x.size(1);
    TORCH_CHECK(channels % num_groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape ", x.sizes(), " and num_groups=", num_groups);
    auto y = torch::empty_like(x);
    dim3 grid(num_groups, x.size(0));
    dim3 block(128);
    swish_bias_groupnorm_kernel<<<grid, block>>>(x.data_ptr<float>(), bias.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), (int)channels, num_groups, (float)eps);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        throw std::runtime_error(std::string("CUDA error: ") + cudaGetErrorString(err));
    }
    return y;
}
"""
FUNCTIONS = ["linear_pool_sum_cuda", "swish_bias_groupnorm_cuda"]


def check(m, t):
    import numpy as np

    for batch, i, o, k in ((13, 37, 90, 2), (1, 5, 7, 3), (3, 100, 200, 4)):
        x, w, b = (t.rng.standard_normal(s).astype(np.float32) for s in ((batch, i), (o, i), o))
        y = x.astype(np.float64) @ w.T.astype(np.float64) + b
        want = 0.5 * y[:, : o // k * k].reshape(batch, -1, k).max(-1).sum(-1)
        t.close(m.linear_pool_sum_cuda(t(x), t(w), t(b), k, 0.5), want, rtol=1e-4, atol=1e-4)  # sums of sums of 100 products
    for batch, c, groups in ((5, 96, 3), (2, 520, 2), (3, 6, 6)):
        x, b, g, s = (t.rng.standard_normal(z).astype(np.float32) for z in ((batch, c), c, c, c))
        v = x / (1 + np.exp(-x.astype(np.float64))) + b
        v = v.reshape(batch, groups, -1)
        v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-2)
        got = m.swish_bias_groupnorm_cuda(t(x), t(b), t(g), t(s), groups, 1e-2)
        t.close(got, v.reshape(batch, c) * g + s, rtol=1e-4, atol=1e-4)  # the variance is a difference of sums
    with t.raises(RuntimeError, "but got input of shape [3, 6] and num_groups=4"):
        m.swish_bias_groupnorm_cuda(t(x), t(b), t(g), t(s), 4, 1e-5)
    with t.raises(RuntimeError, "in_features differ"):
        m.linear_pool_sum_cuda(t(x), t(np.zeros((4, 5), np.float32)), t(b), 2, 1.0)

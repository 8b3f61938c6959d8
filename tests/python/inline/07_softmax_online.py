"""Online softmax over the last dimension, one warp per row, competition-answer style (KernelBench-like ModelNew helper)."""
CPP = "torch::Tensor softmax_cuda(torch::Tensor x);"
CUDA = r'''
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void online_softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols)
{
    const int warps_per_block = blockDim.x >> 5;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int row = blockIdx.x * warps_per_block + warp;
    if (row >= rows) return;
    const float* xr = x + (long long)row * cols;
    float* yr = y + (long long)row * cols;

    float m = -FLT_MAX, d = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        float v = __ldg(&xr[c]);
        float m_new = fmaxf(m, v);
        d = d * __expf(m - m_new) + __expf(v - m_new);
        m = m_new;
    }
    #pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        float m_other = __shfl_xor_sync(0xffffffff, m, mask);
        float d_other = __shfl_xor_sync(0xffffffff, d, mask);
        float m_new = fmaxf(m, m_other);
        d = d * __expf(m - m_new) + d_other * __expf(m_other - m_new);
        m = m_new;
    }
    const float inv = __frcp_rn(d);
    for (int c = lane; c < cols; c += 32) yr[c] = __expf(xr[c] - m) * inv;
}

torch::Tensor softmax_cuda(torch::Tensor x) {
    auto xc = x.contiguous();
    auto out = torch::empty_like(xc);
    int cols = xc.size(-1);
    int rows = xc.numel() / cols;
    const int block = 128;
    dim3 grid((rows + 3) / 4);
    online_softmax_kernel<<<grid, block>>>(xc.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    return out;
}
'''
FUNCTIONS = ["softmax_cuda"]


def check(m, t):
    import numpy as np

    for shape in ((37, 5), (2, 3, 101), (1, 1003)):
        x = (5 * t.rng.standard_normal(shape)).astype(np.float32)
        e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        t.close(m.softmax_cuda(t(x)), e / e.sum(-1, keepdims=True), rtol=2e-5)  # __expf: a few ulp plus |x|*eps
    x = t.rng.standard_normal((7, 33)).astype(np.float32)
    e = np.exp(x.T.astype(np.float64))
    t.close(m.softmax_cuda(t(x.T)), e / e.sum(-1, keepdims=True), rtol=2e-5)

"""KernelBench-like loss collection: mse, huber, hinge and cosine similarity as small CUDA kernels, several sources in lists."""
CPP = [
    "torch::Tensor mse(torch::Tensor p, torch::Tensor y);",
    "torch::Tensor huber(torch::Tensor p, torch::Tensor y, double delta);",
    "torch::Tensor hinge(torch::Tensor p, torch::Tensor y);\ntorch::Tensor cosine(torch::Tensor a, torch::Tensor b, double margin);",
]
CUDA = [r'''
#include <torch/extension.h>
#include <cuda_runtime.h>

template <typename Loss>
__global__ void pairwise_loss_kernel(const float* p, const float* y, float* out, int n, float weight, Loss loss) {
    __shared__ float cache[256];
    float acc = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) acc += loss(p[i], y[i]);
    cache[threadIdx.x] = acc;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, cache[0] * weight);
}

template <typename Loss>
torch::Tensor mean_of(const torch::Tensor& p, const torch::Tensor& y, Loss loss) {
    TORCH_CHECK(p.sizes() == y.sizes(), "predictions and targets differ in shape: ", p.sizes(), " and ", y.sizes());
    auto out = torch::zeros({1}, p.options());
    const int n = p.numel();
    pairwise_loss_kernel<<<std::min((n + 255) / 256, 16), 256>>>(p.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n, 1.0f / n, loss);
    return out.squeeze();
}

struct Mse { __device__ float operator()(float p, float y) const { float d = p - y; return d * d; } };
struct Hinge { __device__ float operator()(float p, float y) const { return fmaxf(0.0f, 1.0f - p * y); } };
struct Huber {
    float delta;
    __device__ float operator()(float p, float y) const {
        const float d = fabsf(p - y);
        return d < delta ? 0.5f * d * d : delta * (d - 0.5f * delta);
    }
};
torch::Tensor mse(torch::Tensor p, torch::Tensor y) { return mean_of(p, y, Mse()); }
torch::Tensor hinge(torch::Tensor p, torch::Tensor y) { return mean_of(p, y, Hinge{}); }
torch::Tensor huber(torch::Tensor p, torch::Tensor y, double delta) { return mean_of(p, y, Huber{(float)delta}); }
''', r'''
__global__ void cosine_kernel(const float* a, const float* b, float* out, int D) {
    const int row = blockIdx.x, lane = threadIdx.x;
    float ab = 0, aa = 0, bb = 0;
    for (int i = lane; i < D; i += warpSize) {
        const float x = a[row * D + i], y = b[row * D + i];
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    for (int o = warpSize / 2; o; o /= 2) {
        ab += __shfl_down_sync(0xffffffff, ab, o);
        aa += __shfl_down_sync(0xffffffff, aa, o);
        bb += __shfl_down_sync(0xffffffff, bb, o);
    }
    if (lane == 0) out[row] = ab * rsqrtf(fmaxf(aa, 1e-12f)) * rsqrtf(fmaxf(bb, 1e-12f));
}

torch::Tensor cosine(torch::Tensor a, torch::Tensor b, double margin) {
    auto similarity = torch::empty({a.size(0)}, a.options());
    cosine_kernel<<<a.size(0), 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), similarity.data_ptr<float>(), a.size(1));
    return torch::clamp_min(1.0 - similarity - margin, 0.0).mean();
}
''']
FUNCTIONS = ["mse", "huber", "hinge", "cosine"]


def check(m, t):
    import numpy as np

    p, y = (t.rng.standard_normal((37, 27)).astype(np.float32) for _ in range(2))
    P, Y = p.astype(np.float64), y.astype(np.float64)
    t.close(m.mse(t(p), t(y)), ((P - Y) ** 2).mean())
    d = abs(P - Y)
    t.close(m.huber(t(p), t(y), 0.7), np.where(d < 0.7, 0.5 * d * d, 0.7 * (d - 0.35)).mean())
    s = np.sign(y)
    t.close(m.hinge(t(p), t(s)), np.maximum(0, 1 - P * s).mean())
    cos = (P * Y).sum(1) / np.linalg.norm(P, axis=1) / np.linalg.norm(Y, axis=1)
    t.close(m.cosine(t(p), t(y), 0.25), np.maximum(1 - cos - 0.25, 0).mean(), rtol=1e-4)
    with t.raises(RuntimeError, "predictions and targets differ in shape: [37, 27] and [5]"):
        m.mse(t(p), t(y[0, :5].copy()))

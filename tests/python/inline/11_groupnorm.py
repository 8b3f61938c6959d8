"""GroupNorm forward with packed accessors and Welford merging; affine weights optional."""
CPP = r'''
#include <optional>
torch::Tensor group_norm_fwd(torch::Tensor x, int64_t groups, std::optional<torch::Tensor> weight, std::optional<torch::Tensor> bias, double eps);
'''
CUDA = r'''
#include <torch/extension.h>
#include <optional>

using Acc4 = torch::PackedTensorAccessor32<float, 4, torch::RestrictPtrTraits>;
using Acc1 = torch::PackedTensorAccessor32<float, 1, torch::RestrictPtrTraits>;

struct Welford {
    float mean = 0.f;
    float m2 = 0.f;
    int count = 0;

    __device__ void push(float v) {
        ++count;
        const float delta = v - mean;
        mean += delta / count;
        m2 += delta * (v - mean);
    }
    __device__ void merge(const Welford& o) {
        if (o.count == 0) return;
        const int total = count + o.count;
        const float delta = o.mean - mean;
        mean += delta * o.count / total;
        m2 += o.m2 + delta * delta * count * o.count / total;
        count = total;
    }
};

__global__ void group_norm_kernel(const Acc4 x, Acc4 y, const Acc1 weight, const Acc1 bias, int per_group, float eps) {
    const int n = blockIdx.y, g = blockIdx.x;
    const int H = x.size(2), W = x.size(3);
    const int total = per_group * H * W;
    Welford w;
    for (int i = threadIdx.x; i < total; i += blockDim.x)
        w.push(x[n][g * per_group + i / (H * W)][(i / W) % H][i % W]);
    __shared__ float means[64], m2s[64];
    __shared__ int counts[64];
    means[threadIdx.x] = w.mean;
    m2s[threadIdx.x] = w.m2;
    counts[threadIdx.x] = w.count;
    __syncthreads();
    __shared__ float mu, rstd;
    if (threadIdx.x == 0) {
        Welford all;
        for (int i = 0; i < blockDim.x; ++i) {
            Welford part;
            part.mean = means[i];
            part.m2 = m2s[i];
            part.count = counts[i];
            all.merge(part);
        }
        mu = all.mean;
        rstd = rsqrtf(all.m2 / total + eps);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        const int c = g * per_group + i / (H * W), h = (i / W) % H, v = i % W;
        y[n][c][h][v] = (x[n][c][h][v] - mu) * rstd * weight[c] + bias[c];
    }
}

torch::Tensor group_norm_fwd(torch::Tensor x, int64_t groups, std::optional<torch::Tensor> weight, std::optional<torch::Tensor> bias, double eps) {
    TORCH_CHECK(x.dim() == 4, "expected NCHW");
    const int64_t C = x.size(1);
    TORCH_CHECK(groups > 0 && C % groups == 0, "channels (", C, ") must be divisible by groups (", groups, ")");
    auto w = weight.value_or(torch::ones({C}, x.options()));
    auto b = bias.value_or(torch::zeros({C}, x.options()));
    auto y = torch::empty(x.sizes(), x.options());
    const dim3 grid(groups, x.size(0));
    group_norm_kernel<<<grid, 64>>>(x.packed_accessor32<float, 4, torch::RestrictPtrTraits>(),
                                    y.packed_accessor32<float, 4, torch::RestrictPtrTraits>(),
                                    w.packed_accessor32<float, 1, torch::RestrictPtrTraits>(),
                                    b.packed_accessor32<float, 1, torch::RestrictPtrTraits>(), C / groups, static_cast<float>(eps));
    return y;
}
'''
FUNCTIONS = ["group_norm_fwd"]


def check(m, t):
    import numpy as np

    x = (2 + t.rng.standard_normal((3, 6, 5, 7))).astype(np.float32)
    w, b = (t.rng.standard_normal(6).astype(np.float32) for _ in range(2))

    def ref(x, groups):
        d = x.astype(np.float64).reshape(x.shape[0], groups, -1)
        return ((d - d.mean(-1, keepdims=True)) / np.sqrt(d.var(-1, keepdims=True) + 1e-5)).reshape(x.shape)

    for groups in (1, 2, 3, 6):
        t.close(m.group_norm_fwd(t(x), groups, None, None, 1e-5), ref(x, groups), rtol=1e-4, atol=1e-5)
    t.close(m.group_norm_fwd(t(x), 2, t(w), t(b), 1e-5), ref(x, 2) * w.reshape(1, 6, 1, 1) + b.reshape(1, 6, 1, 1), rtol=1e-4, atol=1e-5)
    odd = x.transpose(0, 1, 3, 2)  # accessors take strides
    t.close(m.group_norm_fwd(t(odd), 3, t(w), None, 1e-5), ref(odd, 3) * w.reshape(1, 6, 1, 1), rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "channels (6) must be divisible by groups (4)"):
        m.group_norm_fwd(t(x), 4, None, None, 1e-5)

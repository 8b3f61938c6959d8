"""Dropout by a given bool mask with residual add, forward and backward; std::pair result and structured bindings in the host code."""
CPP = r'''
std::pair<at::Tensor, at::Tensor> dropout_add(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& mask, double p);
at::Tensor dropout_grad(const at::Tensor& grad, const at::Tensor& mask, double p);
at::Tensor dropped_fraction(const at::Tensor& x, const at::Tensor& mask) {
    auto [y, kept] = dropout_add(x, at::zeros_like(x), mask, 0.0);
    return 1.0 - kept.to(at::kFloat) / static_cast<float>(x.numel());
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <utility>

__global__ void dropout_add_kernel(const float* x, const float* residual, const bool* mask, float* y, int* kept, const int n, const float scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keep = i < n && mask[i];
    if (i < n) y[i] = residual[i] + (keep ? x[i] * scale : 0.f);
    const int votes = __syncthreads_count(keep);
    if (threadIdx.x == 0) atomicAdd(kept, votes);
}

__global__ void dropout_grad_kernel(const float* g, const uint8_t* mask, float* dx, int n, float scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) dx[i] = g[i] * scale * mask[i];
}

std::pair<at::Tensor, at::Tensor> dropout_add(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& mask, double p) {
    TORCH_CHECK(p >= 0 && p < 1, "dropout probability has to be between 0 and 1, but got ", p);
    TORCH_CHECK(mask.scalar_type() == at::kBool, "mask must be a bool tensor");
    TORCH_CHECK(x.sizes().equals(mask.sizes()), "mask must have the shape of the input");
    auto y = at::empty_like(x);
    auto kept = at::zeros({}, x.options().dtype(at::kInt));
    const int n = x.numel();
    dropout_add_kernel<<<(n + 95) / 96, 96>>>(x.data_ptr<float>(), residual.data_ptr<float>(), mask.data_ptr<bool>(), y.data_ptr<float>(),
                                              kept.data_ptr<int>(), n, 1.0 / (1.0 - p));
    return std::make_pair(y, kept);
}

at::Tensor dropout_grad(const at::Tensor& grad, const at::Tensor& mask, double p) {
    auto bytes = mask.to(at::kByte);
    auto dx = at::empty_like(grad);
    dropout_grad_kernel<<<4, 64>>>(grad.data_ptr<float>(), bytes.data_ptr<uint8_t>(), dx.data_ptr<float>(), grad.numel(), float(1 / (1 - p)));
    return dx;
}
'''
FUNCTIONS = ["dropout_add", "dropout_grad", "dropped_fraction"]


def check(m, t):
    import numpy as np

    x, r = (t.rng.standard_normal((37, 27)).astype(np.float32) for _ in range(2))
    mask = t.rng.random((37, 27)) > 0.3
    y, kept = m.dropout_add(t(x), t(r), t(mask), 0.3)
    t.close(y, r + np.where(mask, x / 0.7, 0), atol=1e-6)
    t.close(kept, np.array(mask.sum(), np.int32))
    t.close(m.dropout_grad(t(x), t(mask), 0.3), np.where(mask, x / 0.7, 0))
    t.close(m.dropped_fraction(t(x), t(mask)), 1 - mask.mean())
    with t.raises(RuntimeError, "dropout probability has to be between 0 and 1, but got 1"):
        m.dropout_add(t(x), t(r), t(mask), 1.0)
    with t.raises(RuntimeError, "mask must be a bool tensor"):
        m.dropout_add(t(x), t(r), t(x), 0.5)
    with t.raises(RuntimeError, "mask must have the shape of the input"):
        m.dropout_add(t(x), t(r), t(mask[:3].copy()), 0.5)

"""Embedding lookup with padding index and its scatter-add backward, torch-tutorial style with a namespace and int64 indices."""
CPP = r'''
torch::Tensor embed_forward(torch::Tensor weight, torch::Tensor ids);
torch::Tensor embed_backward(torch::Tensor grad, torch::Tensor ids, int64_t vocab, int64_t padding_idx);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &embed_forward, "embedding lookup (CUDA)");
    m.def("backward", &embed_backward, "embedding gradient (CUDA)", py::arg("grad"), py::arg("ids"), py::arg("vocab"), py::arg("padding_idx") = -1);
}
'''
CUDA = r'''
#include <torch/extension.h>
namespace embed {
__global__ void gather(const float4* __restrict__ weight, const int64_t* __restrict__ ids, float4* __restrict__ out, int n, int d4) {
    const int i = blockIdx.x;
    const int64_t id = ids[i];
    for (int j = threadIdx.x; j < d4; j += blockDim.x) out[i * d4 + j] = weight[id * d4 + j];
}
__global__ void scatter(const float* __restrict__ grad, const int64_t* __restrict__ ids, float* out, int n, int d, int64_t padding) {
    const int i = blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= n || ids[i] == padding) return;
    for (int j = threadIdx.x; j < d; j += blockDim.x) atomicAdd(&out[ids[i] * d + j], grad[i * d + j]);
}
}  // namespace embed

torch::Tensor embed_forward(torch::Tensor weight, torch::Tensor ids) {
    TORCH_CHECK(weight.dim() == 2);
    TORCH_CHECK(weight.size(1) % 4 == 0, "embedding dimension must be a multiple of 4");
    TORCH_CHECK(ids.dtype() == torch::kInt64, "ids must be int64, got ", ids.dtype());
    auto shape = ids.sizes().vec();
    shape.push_back(weight.size(1));
    auto out = torch::empty(shape, weight.options());
    const int n = ids.numel();
    if (n > 0)
        embed::gather<<<n, 32>>>(reinterpret_cast<const float4*>(weight.data_ptr<float>()), ids.data_ptr<int64_t>(),
                                 reinterpret_cast<float4*>(out.data_ptr<float>()), n, weight.size(1) / 4);
    return out;
}

torch::Tensor embed_backward(torch::Tensor grad, torch::Tensor ids, int64_t vocab, int64_t padding_idx) {
    const int64_t d = grad.size(-1);
    auto out = torch::zeros({vocab, d}, grad.options());
    const int n = ids.numel();
    embed::scatter<<<(n + 3) / 4, dim3(32, 4)>>>(grad.contiguous().data_ptr<float>(), ids.contiguous().data_ptr<int64_t>(), out.data_ptr<float>(), n, d, padding_idx);
    return out;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    w = t.rng.standard_normal((23, 12)).astype(np.float32)
    ids = t.rng.integers(0, 23, (7, 5))
    t.close(m.forward(t(w), t(ids)), w[ids], rtol=0, atol=0)
    assert t.np(m.forward(t(w), t(ids[:0].copy()))).shape == (0, 5, 12)
    g = t.rng.standard_normal((7, 5, 12)).astype(np.float32)
    want = np.zeros((23, 12))
    np.add.at(want, ids, g.astype(np.float64))
    t.close(m.backward(t(g), t(ids), 23), want)
    want[ids[0, 0]] = 0
    t.close(m.backward(t(g), t(ids), vocab=23, padding_idx=int(ids[0, 0])), want)
    with t.raises(RuntimeError, "ids must be int64, got int"):
        m.forward(t(w), t(ids.astype(np.int32)))
    with t.raises(RuntimeError, "must be a multiple of 4"):
        m.forward(t(w[:, :5].copy()), t(ids))

"""Fused Adam/AdamW step in place over a list of parameters, hyper-parameters in a struct passed by value, keyword defaults."""
CPP = r'''
#include <vector>
void adam_step(std::vector<torch::Tensor> params, const std::vector<torch::Tensor>& grads, std::vector<torch::Tensor> ms,
               std::vector<torch::Tensor> vs, int64_t step, double lr, double beta1, double beta2, double eps, double weight_decay, bool adamw);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("adam_step", &adam_step, "one fused Adam step, in place", py::arg("params"), py::arg("grads"), py::arg("ms"), py::arg("vs"),
          py::arg("step"), py::kw_only(), py::arg("lr") = 1e-3, py::arg("beta1") = 0.9, py::arg("beta2") = 0.999,
          py::arg("eps") = 1e-8, py::arg("weight_decay") = 0.0, py::arg("adamw") = false);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <cmath>

struct AdamArgs {
    float lr, beta1, beta2, eps, decay;
    float correction1, correction2;
    bool decoupled;
};

template <typename T>
__global__ void adam_kernel(T* __restrict__ p, const T* __restrict__ g, T* __restrict__ m, T* __restrict__ v, const size_t n, AdamArgs a) {
    for (size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        T param = p[i], grad = g[i];
        if (a.decay != 0.f) {
            if (a.decoupled) param -= a.lr * a.decay * param;
            else grad += a.decay * param;
        }
        const T mi = m[i] = a.beta1 * m[i] + (T(1) - a.beta1) * grad;
        const T vi = v[i] = a.beta2 * v[i] + (T(1) - a.beta2) * grad * grad;
        const T denom = sqrt(vi) / a.correction2 + a.eps;
        p[i] = param - (a.lr / a.correction1) * mi / denom;
    }
}

void adam_step(std::vector<torch::Tensor> params, const std::vector<torch::Tensor>& grads, std::vector<torch::Tensor> ms,
               std::vector<torch::Tensor> vs, int64_t step, double lr, double beta1, double beta2, double eps, double weight_decay, bool adamw) {
    TORCH_CHECK(params.size() == grads.size(), "got ", params.size(), " parameters and ", grads.size(), " gradients");
    TORCH_CHECK(step >= 1, "step counts from 1");
    AdamArgs args{(float)lr, (float)beta1, (float)beta2, (float)eps, (float)weight_decay,
                  (float)(1.0 - std::pow(beta1, step)), (float)std::sqrt(1.0 - std::pow(beta2, step)), adamw};
    auto stream = at::cuda::getCurrentCUDAStream().stream();
    for (size_t i = 0; i < params.size(); ++i) {
        auto& p = params[i];
        TORCH_CHECK(p.is_contiguous() && grads[i].is_contiguous(), "parameter ", i, " is not contiguous");
        const size_t n = p.numel();
        if (!n) continue;
        const unsigned blocks = std::min<size_t>((n + 127) / 128, 1024);
        AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "adam_step", [&] {
            adam_kernel<scalar_t><<<blocks, 128, 0, stream>>>(p.data_ptr<scalar_t>(), grads[i].data_ptr<scalar_t>(),
                                                              ms[i].data_ptr<scalar_t>(), vs[i].data_ptr<scalar_t>(), n, args);
        });
    }
    AT_CUDA_CHECK(cudaGetLastError());
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for adamw, decay in ((False, 0.0), (False, 0.1), (True, 0.1)):
        shapes = [(37, 5), (1003,), (0,)]
        p0 = [t.rng.standard_normal(s).astype(np.float32) for s in shapes]
        ps, ms, vs = [t(p) for p in p0], [t(np.zeros(s, np.float32)) for s in shapes], [t(np.zeros(s, np.float32)) for s in shapes]
        P = [p.astype(np.float64) for p in p0]
        M, V = [np.zeros(s) for s in shapes], [np.zeros(s) for s in shapes]
        for step in (1, 2, 3):
            gs = [t.rng.standard_normal(s).astype(np.float32) for s in shapes]
            m.adam_step(ps, [t(g) for g in gs], ms, vs, step, lr=0.01, weight_decay=decay, adamw=adamw)
            for i, g in enumerate(gs):
                g = g.astype(np.float64)
                if adamw:
                    P[i] -= 0.01 * decay * P[i]
                else:
                    g = g + decay * P[i]
                M[i] = 0.9 * M[i] + 0.1 * g
                V[i] = 0.999 * V[i] + 0.001 * g * g
                P[i] -= 0.01 / (1 - 0.9**step) * M[i] / (np.sqrt(V[i]) / np.sqrt(1 - 0.999**step) + 1e-8)
        for got, want in zip([*ps, *ms], [*P, *M]):
            t.close(got, want, rtol=1e-4, atol=1e-5)  # 1 - 0.999f loses four digits of the second moment's factor
    with t.raises(RuntimeError, "got 3 parameters and 1 gradients"):
        m.adam_step(ps, ps[:1], ms, vs, 1)
    with t.raises(TypeError):
        m.adam_step(ps, ps, ms, vs, 1, 0.01)

"""Element-wise activations as functors passed to one template kernel; a string chooses, PYBIND11_MODULE with keyword defaults."""
CPP = ""
CUDA = r'''
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <string>

namespace {

struct Silu {
    __device__ __forceinline__ float operator()(float v) const { return v / (1.0f + expf(-v)); }
};
struct LeakyRelu {
    float slope;
    __host__ __device__ explicit LeakyRelu(float s) : slope(s) {}
    __device__ float operator()(float v) const { return v >= 0.f ? v : slope * v; }
};
struct Softplus {
    float beta, threshold;
    __device__ float operator()(float v) const {
        const float b = beta * v;
        return b > threshold ? v : log1pf(expf(b)) / beta;
    }
};

template <typename Op>
__global__ void apply(const float* in, float* out, size_t n, Op op) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = op(in[i]);
}

template <typename Op>
void run(const at::Tensor& in, at::Tensor& out, Op op) {
    apply<<<8, 64, 0, c10::cuda::getCurrentCUDAStream()>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel(), op);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace

at::Tensor activation(const at::Tensor& x_, const std::string& kind, double slope = 0.01, double beta = 1.0) {
    const c10::cuda::CUDAGuard guard(x_.device());
    auto x = x_.contiguous();
    auto y = at::empty(x.sizes(), x.options());
    if (kind == "silu") {
        run(x, y, Silu{});
    } else if (kind == "leaky_relu") {
        run(x, y, LeakyRelu(static_cast<float>(slope)));
    } else if (kind == "softplus") {
        run(x, y, Softplus{static_cast<float>(beta), 20.0f});
    } else {
        throw std::invalid_argument("unknown activation: " + kind);
    }
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "point-wise activations";
    m.def("activation", &activation, "applies an activation", py::arg("x"), py::arg("kind") = "silu", py::arg("slope") = 0.01,
          py::arg("beta") = 1.0);
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    x = (3 * t.rng.standard_normal((37, 5))).astype(np.float32)
    d = x.astype(np.float64)
    t.close(m.activation(t(x)), d / (1 + np.exp(-d)))
    t.close(m.activation(t(x), "leaky_relu", slope=0.2), np.where(d >= 0, d, 0.2 * d))
    t.close(m.activation(x=t(x), kind="softplus", beta=2.0), np.log1p(np.exp(2 * d)) / 2)
    wide = t(x.T)  # not contiguous
    t.close(m.activation(wide, kind="silu"), (d / (1 + np.exp(-d))).T)
    with t.raises(ValueError, "unknown activation: swish"):
        m.activation(t(x), "swish")

"""ReLU forward kernel, the minimal example as in a forum post: declaration in cpp_sources, definition in cuda_sources."""
CPP = "torch::Tensor my_relu(torch::Tensor x);"
CUDA = r'''
#include <torch/extension.h>

__global__ void relu_kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] > 0.f ? in[i] : 0.f;
    }
}

torch::Tensor my_relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    relu_kernel<<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
'''
FUNCTIONS = ["my_relu"]


def check(m, t):
    import numpy as np

    for shape in ((1003,), (37, 5), (2, 3, 17)):
        x = t.rng.standard_normal(shape).astype(np.float32)
        t.close(m.my_relu(t(x)), np.maximum(x, 0), rtol=0, atol=0)

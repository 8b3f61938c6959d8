"""Negative: CUDA launch errors met by cudaGetLastError, own check macros and C10_CUDA_KERNEL_LAUNCH_CHECK; the context lives on afterwards."""
CPP = r'''
#include <string>
torch::Tensor fill_with_block(torch::Tensor x, int64_t threads);
std::string launch_status(int64_t threads, int64_t shared_bytes);
torch::Tensor checked_fill(torch::Tensor x, int64_t threads);
std::string name_of_error(int64_t code);
'''
CUDA = r'''
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <sstream>
#include <stdexcept>

static inline void throw_on_cuda_error(cudaError_t code, const char* file, int line) {
    if (code != cudaSuccess) {
        std::stringstream ss;
        ss << "CUDA failure (" << static_cast<int>(code) << "): " << cudaGetErrorString(code);
        throw std::runtime_error(ss.str());
    }
}
#define CUDA_OK(x) throw_on_cuda_error((x), __FILE__, __LINE__)

__global__ void fill_kernel(float* x, int n, float v) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = v;
}

torch::Tensor fill_with_block(torch::Tensor x, int64_t threads) {
    fill_kernel<<<1, threads>>>(x.data_ptr<float>(), x.numel(), 3.0f);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    return x;
}

std::string launch_status(int64_t threads, int64_t shared_bytes) {
    auto x = torch::zeros({4}, torch::TensorOptions().device(torch::kCUDA));
    fill_kernel<<<dim3(1), dim3(threads), shared_bytes>>>(x.data_ptr<float>(), 4, 1.0f);
    cudaError_t e = cudaPeekAtLastError();
    const cudaError_t same = cudaGetLastError();   // resets it
    TORCH_CHECK(e == same, "peek and get differ");
    TORCH_CHECK(cudaGetLastError() == cudaSuccess, "not reset");
    return cudaGetErrorName(e);
}

torch::Tensor checked_fill(torch::Tensor x, int64_t threads) {
    fill_kernel<<<1, threads>>>(x.data_ptr<float>(), x.numel(), 5.0f);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return x;
}

std::string name_of_error(int64_t code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); }
'''
FUNCTIONS = ["fill_with_block", "launch_status", "checked_fill", "name_of_error"]


def check(m, t):
    import numpy as np

    x = t(np.zeros(37, np.float32))
    t.close(m.fill_with_block(x, 64), np.full(37, 3, np.float32))
    for threads in (2048, 0):
        with t.raises(RuntimeError, "CUDA failure (9): invalid configuration argument"):
            m.fill_with_block(x, threads)
    t.close(m.fill_with_block(x, 1024), np.full(37, 3, np.float32))
    assert m.launch_status(128, 0) == "cudaSuccess"
    assert m.launch_status(1025, 0) == "cudaErrorInvalidConfiguration"
    assert m.launch_status(32, 1 << 20) == "cudaErrorInvalidValue"  # more dynamic shared memory than any device has
    with t.raises(RuntimeError, "invalid configuration argument"):
        m.checked_fill(x, 4096)
    t.close(m.checked_fill(x, 32), np.full(37, 5, np.float32))
    assert m.name_of_error(0) == "no error" and m.name_of_error(1) == "invalid argument"

"""Exact and tanh GELU with AT_DISPATCH over float, double, half and bfloat16; tutorial style with CHECK_INPUT macros."""
CPP = r'''
torch::Tensor gelu_fwd(torch::Tensor input, std::string approximate);
torch::Tensor gelu_fwd_bf16(torch::Tensor input);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cmath>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

template <typename scalar_t, bool kTanh>
__global__ void gelu_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int64_t n) {
  using acc_t = float;
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += stride) {
    const acc_t v = static_cast<acc_t>(x[i]);
    acc_t r;
    if constexpr (kTanh) {
      const acc_t k = 0.7978845608028654f;
      r = 0.5f * v * (1.f + tanhf(k * (v + 0.044715f * v * v * v)));
    } else {
      r = 0.5f * v * (1.f + erff(v * static_cast<acc_t>(M_SQRT1_2)));
    }
    y[i] = static_cast<scalar_t>(r);
  }
}

torch::Tensor gelu_fwd(torch::Tensor input, std::string approximate) {
  CHECK_INPUT(input);
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate must be none or tanh, got ", approximate);
  auto output = torch::empty_like(input);
  const int64_t n = input.numel();
  if (n == 0) return output;
  const dim3 block(128);
  const dim3 grid(std::min<int64_t>((n + 127) / 128, 4));
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, input.scalar_type(), "gelu_fwd", [&] {
    if (approximate == "tanh") {
      gelu_kernel<scalar_t, true><<<grid, block, 0, stream>>>(input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), n);
    } else {
      gelu_kernel<scalar_t, false><<<grid, block, 0, stream>>>(input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), n);
    }
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

torch::Tensor gelu_fwd_bf16(torch::Tensor input) {
  return gelu_fwd(input.to(torch::kBFloat16), "none").to(torch::kFloat32);
}
'''
FUNCTIONS = ["gelu_fwd", "gelu_fwd_bf16"]


def check(m, t):
    import math

    import numpy as np

    erf = np.vectorize(math.erf)
    x = t.rng.standard_normal(1003).astype(np.float32)
    d = x.astype(np.float64)
    exact = 0.5 * d * (1 + erf(d / math.sqrt(2)))
    tanh = 0.5 * d * (1 + np.tanh(math.sqrt(2 / math.pi) * (d + 0.044715 * d**3)))
    t.close(m.gelu_fwd(t(x), "none"), exact)
    t.close(m.gelu_fwd(t(x), "tanh"), tanh)
    t.close(m.gelu_fwd(t(d), "none"), exact, atol=1e-6)  # the kernel accumulates in float
    h = x.astype(np.float16)
    hd = h.astype(np.float64)
    y = m.gelu_fwd(t(h), "none")
    assert t.np(y).dtype == np.float16
    t.close(y, 0.5 * hd * (1 + erf(hd / math.sqrt(2))), rtol=1e-3, atol=1e-4)  # half: 11 bits
    t.close(m.gelu_fwd_bf16(t(x)), exact, rtol=2e-2, atol=1e-2)  # bfloat16: 8 bits, in and out
    assert t.np(m.gelu_fwd(t(np.zeros((0, 4), np.float32)), "tanh")).shape == (0, 4)
    with t.raises(RuntimeError, "approximate must be none or tanh, got exact"):
        m.gelu_fwd(t(x), "exact")

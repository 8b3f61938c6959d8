"""Fused bias + leaky ReLU with gain for NCHW tensors, with its backward, generative-model repository style."""
CPP = r'''
torch::Tensor fused_bias_act(const torch::Tensor& input, const c10::optional<torch::Tensor>& bias, float alpha, float scale);
torch::Tensor fused_bias_act_grad(const torch::Tensor& grad, const torch::Tensor& ref, float alpha, float scale);
'''
CUDA = r'''
#include <torch/types.h>
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
static __global__ void fused_bias_act_kernel(scalar_t* out, const scalar_t* p_x, const scalar_t* p_b, const scalar_t* p_ref,
                                             int grad, scalar_t alpha, scalar_t scale, int loop_x, int size_x, int step_b, int size_b) {
  int xi = blockIdx.x * loop_x * blockDim.x + threadIdx.x;
  const scalar_t zero = 0.0;
  for (int loop_idx = 0; loop_idx < loop_x && xi < size_x; loop_idx++, xi += blockDim.x) {
    scalar_t x = p_x[xi];
    if (p_b != nullptr) {
      x += p_b[(xi / step_b) % size_b];
    }
    scalar_t ref = p_ref ? p_ref[xi] : x;
    scalar_t y;
    switch (grad) {
      default:
      case 0: y = (x > zero) ? x : x * alpha; break;
      case 1: y = (ref > zero) ? x : x * alpha; break;
    }
    out[xi] = y * scale;
  }
}

static torch::Tensor dispatch(const torch::Tensor& input, const torch::Tensor* bias, const torch::Tensor* ref, int grad, float alpha, float scale) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto x = input.contiguous();
  int step_b = 1;
  for (int i = 2; i < x.dim(); i++) step_b *= x.size(i);
  int size_x = x.numel();
  int size_b = bias ? bias->numel() : 1;
  int loop_x = 4;
  int block_size = 4 * 32;
  int grid_size = (size_x - 1) / (loop_x * block_size) + 1;
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fused_bias_act_kernel", [&] {
    fused_bias_act_kernel<scalar_t><<<grid_size, block_size, 0, stream>>>(
        y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), bias ? bias->data_ptr<scalar_t>() : nullptr,
        ref ? ref->data_ptr<scalar_t>() : nullptr, grad, alpha, scale, loop_x, size_x, step_b, size_b);
  });
  return y;
}

torch::Tensor fused_bias_act(const torch::Tensor& input, const c10::optional<torch::Tensor>& bias, float alpha, float scale) {
  if (bias.has_value()) {
    TORCH_CHECK(bias->dim() == 1 && bias->size(0) == input.size(1), "bias must have ", input.size(1), " elements");
    return dispatch(input, &bias.value(), nullptr, 0, alpha, scale);
  }
  return dispatch(input, nullptr, nullptr, 0, alpha, scale);
}

torch::Tensor fused_bias_act_grad(const torch::Tensor& grad, const torch::Tensor& ref, float alpha, float scale) {
  return dispatch(grad, nullptr, &ref, 1, alpha, scale);
}
'''
FUNCTIONS = ["fused_bias_act", "fused_bias_act_grad"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal((3, 5, 7, 9)).astype(np.float32)
    b = t.rng.standard_normal(5).astype(np.float32)
    z = x.astype(np.float64) + b.reshape(1, 5, 1, 1)
    want = np.where(z > 0, z, 0.2 * z) * np.sqrt(2)
    t.close(m.fused_bias_act(t(x), t(b), 0.2, 2**0.5), want)
    t.close(m.fused_bias_act(t(x), None, 0.2, 1.0), np.where(x > 0, x, np.float64(0.2) * x))
    g = t.rng.standard_normal(x.shape).astype(np.float32)
    t.close(m.fused_bias_act_grad(t(g), t(want.astype(np.float32)), 0.2, 2**0.5), np.where(z > 0, g, 0.2 * g) * np.sqrt(2))
    t.close(m.fused_bias_act(t(x.astype(np.float64)), None, 0.5, 3.0), np.where(x > 0, x, 0.5 * x) * 3.0)
    with t.raises(RuntimeError, "bias must have 5 elements"):
        m.fused_bias_act(t(x), t(b[:3].copy()), 0.2, 1.0)

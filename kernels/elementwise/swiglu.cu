// SwiGLU without its matrices, silu(gate) * up: Shazeer, "GLU Variants Improve Transformer", 2020, equation 6.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <tuple>

namespace {

constexpr int kThreads = 256;

template <typename scalar_t, typename acc_t>
__global__ void swiglu_kernel(const scalar_t* __restrict__ gate, const scalar_t* __restrict__ up,
                              scalar_t* __restrict__ out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const acc_t v = static_cast<acc_t>(gate[i]);
  out[i] = static_cast<scalar_t>(v / (acc_t(1) + exp(-v)) * static_cast<acc_t>(up[i]));
}

// With s the logistic function: d/dgate = up s (1 + gate (1 - s)), d/dup = gate s.
template <typename scalar_t, typename acc_t>
__global__ void swiglu_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ gate,
                                       const scalar_t* __restrict__ up, scalar_t* __restrict__ grad_gate,
                                       scalar_t* __restrict__ grad_up, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const acc_t g = static_cast<acc_t>(grad[i]);
  const acc_t v = static_cast<acc_t>(gate[i]);
  const acc_t s = acc_t(1) / (acc_t(1) + exp(-v));
  grad_gate[i] = static_cast<scalar_t>(g * static_cast<acc_t>(up[i]) * s * (acc_t(1) + v * (acc_t(1) - s)));
  grad_up[i] = static_cast<scalar_t>(g * v * s);
}

void check_alike(const char* op, const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cuda() && b.is_cuda(), op, ": expected CUDA tensors, got ", a.device(), " and ", b.device());
  TORCH_CHECK(a.device() == b.device(), op, ": the tensors are on ", a.device(), " and ", b.device());
  TORCH_CHECK(a.sizes() == b.sizes(), op, ": the tensors have the shapes ", a.sizes(), " and ", b.sizes());
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), op, ": the tensors are of ", a.scalar_type(), " and ", b.scalar_type());
}

at::Tensor swiglu_cuda(const at::Tensor& gate, const at::Tensor& up) {
  check_alike("swiglu", gate, up);
  const c10::cuda::CUDAGuard guard(gate.device());
  const at::Tensor left = gate.contiguous(), right = up.contiguous();
  at::Tensor out = at::empty_like(left);
  const int64_t n = out.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, left.scalar_type(), "swiglu", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    swiglu_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        left.const_data_ptr<scalar_t>(), right.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward_cuda(const at::Tensor& grad, const at::Tensor& gate, const at::Tensor& up) {
  check_alike("swiglu_backward", gate, up);
  check_alike("swiglu_backward", grad, gate);
  const c10::cuda::CUDAGuard guard(gate.device());
  const at::Tensor g = grad.contiguous(), left = gate.contiguous(), right = up.contiguous();
  at::Tensor grad_gate = at::empty_like(left), grad_up = at::empty_like(right);
  const int64_t n = g.numel();
  if (n == 0) return {grad_gate, grad_up};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "swiglu_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    swiglu_backward_kernel<scalar_t, acc_t>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            g.const_data_ptr<scalar_t>(), left.const_data_ptr<scalar_t>(), right.const_data_ptr<scalar_t>(),
            grad_gate.mutable_data_ptr<scalar_t>(), grad_up.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_gate, grad_up};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("swiglu(Tensor gate, Tensor up) -> Tensor");
  m.def("swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("swiglu", &swiglu_cuda);
  m.impl("swiglu_backward", &swiglu_backward_cuda);
}

// SiLU, x * sigmoid(x): Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016, section 2; also known as Swish.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

namespace {

constexpr int kThreads = 256;

template <typename scalar_t, typename acc_t>
__global__ void silu_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const acc_t v = static_cast<acc_t>(x[i]);
  out[i] = static_cast<scalar_t>(v / (acc_t(1) + exp(-v)));
}

// d/dx x s(x) = s(x) (1 + x (1 - s(x))), since s' = s (1 - s).
template <typename scalar_t, typename acc_t>
__global__ void silu_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                     scalar_t* __restrict__ grad_x, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const acc_t v = static_cast<acc_t>(x[i]);
  const acc_t s = acc_t(1) / (acc_t(1) + exp(-v));
  grad_x[i] = static_cast<scalar_t>(static_cast<acc_t>(grad[i]) * s * (acc_t(1) + v * (acc_t(1) - s)));
}

at::Tensor silu_cuda(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "silu: expected a CUDA tensor, got one on ", x.device());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "silu", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    silu_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor silu_backward_cuda(const at::Tensor& grad, const at::Tensor& x) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == x.device(), "silu_backward: the tensors are on ", grad.device(), " and ", x.device());
  TORCH_CHECK(grad.sizes() == x.sizes(), "silu_backward: grad is ", grad.sizes(), ", x is ", x.sizes());
  TORCH_CHECK(grad.scalar_type() == x.scalar_type(), "silu_backward: grad is of ", grad.scalar_type(), ", x of ", x.scalar_type());
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), in = x.contiguous();
  at::Tensor grad_x = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return grad_x;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "silu_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    silu_backward_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), grad_x.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("silu(Tensor x) -> Tensor");
  m.def("silu_backward(Tensor grad, Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("silu", &silu_cuda);
  m.impl("silu_backward", &silu_backward_cuda);
}

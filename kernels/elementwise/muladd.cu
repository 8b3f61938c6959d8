// a * b + c for tensors of one shape and a number c, as in PyTorch's page on custom operators.

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
__global__ void muladd_kernel(const scalar_t* __restrict__ a, const scalar_t* __restrict__ b, acc_t c,
                              scalar_t* __restrict__ out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<scalar_t>(static_cast<acc_t>(a[i]) * static_cast<acc_t>(b[i]) + c);
}

template <typename scalar_t, typename acc_t>
__global__ void muladd_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ a,
                                       const scalar_t* __restrict__ b, scalar_t* __restrict__ grad_a,
                                       scalar_t* __restrict__ grad_b, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const acc_t g = static_cast<acc_t>(grad[i]);
  grad_a[i] = static_cast<scalar_t>(g * static_cast<acc_t>(b[i]));
  grad_b[i] = static_cast<scalar_t>(g * static_cast<acc_t>(a[i]));
}

void check_alike(const char* op, const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cuda() && b.is_cuda(), op, ": expected CUDA tensors, got ", a.device(), " and ", b.device());
  TORCH_CHECK(a.device() == b.device(), op, ": the tensors are on ", a.device(), " and ", b.device());
  TORCH_CHECK(a.sizes() == b.sizes(), op, ": the tensors have the shapes ", a.sizes(), " and ", b.sizes());
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), op, ": the tensors are of ", a.scalar_type(), " and ", b.scalar_type());
}

at::Tensor muladd_cuda(const at::Tensor& a, const at::Tensor& b, double c) {
  check_alike("muladd", a, b);
  const c10::cuda::CUDAGuard guard(a.device());
  const at::Tensor lhs = a.contiguous(), rhs = b.contiguous();
  at::Tensor out = at::empty_like(lhs);
  const int64_t n = out.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, lhs.scalar_type(), "muladd", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    muladd_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        lhs.const_data_ptr<scalar_t>(), rhs.const_data_ptr<scalar_t>(), static_cast<acc_t>(c),
        out.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> muladd_backward_cuda(const at::Tensor& grad, const at::Tensor& a, const at::Tensor& b) {
  check_alike("muladd_backward", a, b);
  check_alike("muladd_backward", grad, a);
  const c10::cuda::CUDAGuard guard(a.device());
  const at::Tensor g = grad.contiguous(), lhs = a.contiguous(), rhs = b.contiguous();
  at::Tensor grad_a = at::empty_like(lhs), grad_b = at::empty_like(rhs);
  const int64_t n = g.numel();
  if (n == 0) return {grad_a, grad_b};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "muladd_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    muladd_backward_kernel<scalar_t, acc_t>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            g.const_data_ptr<scalar_t>(), lhs.const_data_ptr<scalar_t>(), rhs.const_data_ptr<scalar_t>(),
            grad_a.mutable_data_ptr<scalar_t>(), grad_b.mutable_data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_a, grad_b};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("muladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("muladd_backward(Tensor grad, Tensor a, Tensor b) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("muladd", &muladd_cuda);
  m.impl("muladd_backward", &muladd_backward_cuda);
}

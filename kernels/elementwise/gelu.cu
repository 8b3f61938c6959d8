// GELU: Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016, section 2. x Phi(x) exactly (approximate="none"),
// or with the tanh of the same section (approximate="tanh").

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <string_view>

namespace {

constexpr int kThreads = 256;
constexpr double kSqrt1_2 = 0.70710678118654752440;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kCubic = 0.044715;

template <typename acc_t, bool tanh_form>
__device__ acc_t gelu_value(acc_t x) {
  if constexpr (tanh_form) {
    return acc_t(0.5) * x * (acc_t(1) + tanh(acc_t(kSqrt2OverPi) * (x + acc_t(kCubic) * x * x * x)));
  } else {
    // erfc keeps its digits where 1 + erf cancels, at large negative x.
    return acc_t(0.5) * x * erfc(-x * acc_t(kSqrt1_2));
  }
}

// Exactly: Phi(x) + x phi(x), with phi the normal density.
template <typename acc_t, bool tanh_form>
__device__ acc_t gelu_slope(acc_t x) {
  if constexpr (tanh_form) {
    const acc_t t = tanh(acc_t(kSqrt2OverPi) * (x + acc_t(kCubic) * x * x * x));
    const acc_t inner = acc_t(kSqrt2OverPi) * (acc_t(1) + acc_t(3 * kCubic) * x * x);
    return acc_t(0.5) * (acc_t(1) + t) + acc_t(0.5) * x * (acc_t(1) - t * t) * inner;
  } else {
    return acc_t(0.5) * erfc(-x * acc_t(kSqrt1_2)) + x * acc_t(kInvSqrt2Pi) * exp(acc_t(-0.5) * x * x);
  }
}

template <typename scalar_t, typename acc_t, bool tanh_form>
__global__ void gelu_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<scalar_t>(gelu_value<acc_t, tanh_form>(static_cast<acc_t>(x[i])));
}

template <typename scalar_t, typename acc_t, bool tanh_form>
__global__ void gelu_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                     scalar_t* __restrict__ grad_x, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    grad_x[i] = static_cast<scalar_t>(static_cast<acc_t>(grad[i]) * gelu_slope<acc_t, tanh_form>(static_cast<acc_t>(x[i])));
  }
}

bool is_tanh(const char* op, std::string_view approximate) {
  TORCH_CHECK_VALUE(approximate == "none" || approximate == "tanh", op, ": approximate must be 'none' or 'tanh', got '", approximate, "'");
  return approximate == "tanh";
}

at::Tensor gelu_cuda(const at::Tensor& x, std::string_view approximate) {
  TORCH_CHECK(x.is_cuda(), "gelu: expected a CUDA tensor, got one on ", x.device());
  const bool tanh_form = is_tanh("gelu", approximate);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return out;
  const int64_t blocks = at::ceil_div(n, int64_t{kThreads});
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "gelu", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    if (tanh_form) {
      gelu_kernel<scalar_t, acc_t, true><<<blocks, kThreads, 0, stream>>>(from, to, n);
    } else {
      gelu_kernel<scalar_t, acc_t, false><<<blocks, kThreads, 0, stream>>>(from, to, n);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor gelu_backward_cuda(const at::Tensor& grad, const at::Tensor& x, std::string_view approximate) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == x.device(), "gelu_backward: the tensors are on ", grad.device(), " and ", x.device());
  TORCH_CHECK(grad.sizes() == x.sizes(), "gelu_backward: grad is ", grad.sizes(), ", x is ", x.sizes());
  TORCH_CHECK(grad.scalar_type() == x.scalar_type(), "gelu_backward: grad is of ", grad.scalar_type(), ", x of ", x.scalar_type());
  const bool tanh_form = is_tanh("gelu_backward", approximate);
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), in = x.contiguous();
  at::Tensor grad_x = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return grad_x;
  const int64_t blocks = at::ceil_div(n, int64_t{kThreads});
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "gelu_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const scalar_t* g_data = g.const_data_ptr<scalar_t>();
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = grad_x.mutable_data_ptr<scalar_t>();
    if (tanh_form) {
      gelu_backward_kernel<scalar_t, acc_t, true><<<blocks, kThreads, 0, stream>>>(g_data, from, to, n);
    } else {
      gelu_backward_kernel<scalar_t, acc_t, false><<<blocks, kThreads, 0, stream>>>(g_data, from, to, n);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("gelu(Tensor x, str approximate='none') -> Tensor");
  m.def("gelu_backward(Tensor grad, Tensor x, str approximate='none') -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("gelu", &gelu_cuda);
  m.impl("gelu_backward", &gelu_backward_cuda);
}

// The tanh form once more as bare kernels over arrays of float, for launches by hand.

#define SQRT_2_OVER_PI 0.7978845608f
#define CUBIC 0.044715f

__global__ void gelu(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + tanhf(SQRT_2_OVER_PI * (x[i] + CUBIC * x[i] * x[i] * x[i])));
}

__global__ void gelu_backward(const float* x, const float* grad, float* grad_x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float t = tanhf(SQRT_2_OVER_PI * (x[i] + CUBIC * x[i] * x[i] * x[i]));
  const float slope = SQRT_2_OVER_PI * (1.0f + 3.0f * CUBIC * x[i] * x[i]);
  grad_x[i] = grad[i] * (0.5f * (1.0f + t) + 0.5f * x[i] * (1.0f - t * t) * slope);
}

// One step of Adam in place: Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1. Weight decay is added to the
// gradient, or, decoupled, taken off the parameter: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <cmath>

namespace {

constexpr int kThreads = 256;

template <typename acc_t>
struct Step {
  acc_t lr, beta1, beta2, eps, weight_decay;
  // 1 - beta and 1 - beta^step: worked out in double, where little cancels.
  acc_t rest1, rest2, step_size, root_correction2;
  bool decoupled;
};

template <typename scalar_t, typename acc_t>
__global__ void adam_kernel(scalar_t* __restrict__ param, const scalar_t* __restrict__ grad, scalar_t* __restrict__ exp_avg,
                            scalar_t* __restrict__ exp_avg_sq, int64_t n, Step<acc_t> s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  acc_t p = static_cast<acc_t>(param[i]), g = static_cast<acc_t>(grad[i]);
  if (s.decoupled) {
    p -= s.lr * s.weight_decay * p;
  } else {
    g += s.weight_decay * p;
  }
  const acc_t m = s.beta1 * static_cast<acc_t>(exp_avg[i]) + s.rest1 * g;
  const acc_t v = s.beta2 * static_cast<acc_t>(exp_avg_sq[i]) + s.rest2 * g * g;
  p -= s.step_size * m / (sqrt(v) / s.root_correction2 + s.eps);
  param[i] = static_cast<scalar_t>(p);
  exp_avg[i] = static_cast<scalar_t>(m);
  exp_avg_sq[i] = static_cast<scalar_t>(v);
}

void check_alike(const char* name, const at::Tensor& param, const at::Tensor& other) {
  TORCH_CHECK(other.device() == param.device(), "adam_step_: ", name, " is on ", other.device(), ", param on ", param.device());
  TORCH_CHECK(other.sizes() == param.sizes(), "adam_step_: ", name, " has the shape ", other.sizes(), ", param ", param.sizes());
  TORCH_CHECK(other.scalar_type() == param.scalar_type(), "adam_step_: ", name, " is of ", other.scalar_type(), ", param of ", param.scalar_type());
}

void adam_step_cuda_(at::Tensor& param, const at::Tensor& grad, at::Tensor& exp_avg, at::Tensor& exp_avg_sq, int64_t step, double lr,
                     double beta1, double beta2, double eps, double weight_decay, bool decoupled) {
  TORCH_CHECK(param.is_cuda(), "adam_step_: expected CUDA tensors, got one on ", param.device());
  check_alike("grad", param, grad);
  check_alike("exp_avg", param, exp_avg);
  check_alike("exp_avg_sq", param, exp_avg_sq);
  TORCH_CHECK_VALUE(step >= 1, "adam_step_: steps count from 1, got ", step);
  TORCH_CHECK_VALUE(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "adam_step_: the betas are in [0, 1), got ", beta1, " and ", beta2);
  const int64_t n = param.numel();
  if (n == 0) return;
  const c10::cuda::CUDAGuard guard(param.device());
  // A strided argument is worked on as a copy and written back.
  at::Tensor p = param.contiguous(), m = exp_avg.contiguous(), v = exp_avg_sq.contiguous();
  const at::Tensor g = grad.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, p.scalar_type(), "adam_step_", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    Step<acc_t> s;
    s.lr = static_cast<acc_t>(lr);
    s.beta1 = static_cast<acc_t>(beta1);
    s.beta2 = static_cast<acc_t>(beta2);
    s.eps = static_cast<acc_t>(eps);
    s.weight_decay = static_cast<acc_t>(weight_decay);
    s.rest1 = static_cast<acc_t>(1 - beta1);
    s.rest2 = static_cast<acc_t>(1 - beta2);
    s.step_size = static_cast<acc_t>(lr / (1 - std::pow(beta1, static_cast<double>(step))));
    s.root_correction2 = static_cast<acc_t>(std::sqrt(1 - std::pow(beta2, static_cast<double>(step))));
    s.decoupled = decoupled;
    adam_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        p.mutable_data_ptr<scalar_t>(), g.const_data_ptr<scalar_t>(), m.mutable_data_ptr<scalar_t>(), v.mutable_data_ptr<scalar_t>(), n, s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  if (!param.is_contiguous()) param.copy_(p);
  if (!exp_avg.is_contiguous()) exp_avg.copy_(m);
  if (!exp_avg_sq.is_contiguous()) exp_avg_sq.copy_(v);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def(
      "adam_step_(Tensor(a!) param, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, int step, float lr=0.001, float beta1=0.9, "
      "float beta2=0.999, float eps=1e-08, float weight_decay=0.0, bool decoupled=False) -> ()");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("adam_step_", &adam_step_cuda_);
}

// Causal convolution of each channel with a filter of its own, as Mamba has it before its state space: Gu and Dao, "Mamba: Linear-Time
// Sequence Modeling with Selective State Spaces", 2023, section 3.4. out[b, c, t] = bias[c] + sum over k of
// weight[c, k] * x[b, c, t - (width - 1) + k], where x before its beginning is 0.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

namespace {

constexpr int kThreads = 256;

// The sum over the block, known to every thread of it; blockDim.x is a multiple of 32.
template <typename acc_t>
__device__ acc_t block_sum(acc_t value) {
  __shared__ acc_t partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? partial[lane] : acc_t(0);
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();  // The next call writes `partial` again.
  return value;
}

template <typename scalar_t, typename acc_t>
__global__ void depthwise_conv1d_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,
                                        const scalar_t* __restrict__ bias, scalar_t* __restrict__ out, int64_t n, int64_t channels,
                                        int64_t length, int64_t width) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t t = i % length, c = i / length % channels;
  acc_t sum = bias != nullptr ? static_cast<acc_t>(bias[c]) : acc_t(0);
  for (int64_t k = 0; k < width; ++k) {
    const int64_t back = width - 1 - k;
    if (back <= t) sum += static_cast<acc_t>(weight[c * width + k]) * static_cast<acc_t>(x[i - back]);
  }
  out[i] = static_cast<scalar_t>(sum);
}

// x[t] reaches the outputs t to t + width - 1.
template <typename scalar_t, typename acc_t>
__global__ void grad_x_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_x,
                              int64_t n, int64_t channels, int64_t length, int64_t width) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t t = i % length, c = i / length % channels;
  acc_t sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    const int64_t ahead = width - 1 - k;
    if (t + ahead < length) sum += static_cast<acc_t>(weight[c * width + k]) * static_cast<acc_t>(grad[i + ahead]);
  }
  grad_x[i] = static_cast<scalar_t>(sum);
}

// One block for each weight sums over batch and time; the blocks after those of the weights sum for the biases.
template <typename scalar_t, typename acc_t>
__global__ void grad_weight_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x, scalar_t* __restrict__ grad_weight,
                                   scalar_t* __restrict__ grad_bias, int64_t batch, int64_t channels, int64_t length, int64_t width) {
  const int64_t weights = channels * width;
  const bool is_bias = blockIdx.x >= weights;
  const int64_t c = is_bias ? blockIdx.x - weights : blockIdx.x / width;
  const int64_t back = is_bias ? 0 : width - 1 - blockIdx.x % width;
  acc_t sum = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = (b * channels + c) * length;
    for (int64_t t = back + threadIdx.x; t < length; t += blockDim.x) {
      const acc_t g = static_cast<acc_t>(grad[first + t]);
      sum += is_bias ? g : g * static_cast<acc_t>(x[first + t - back]);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  if (is_bias) {
    grad_bias[c] = static_cast<scalar_t>(sum);
  } else {
    grad_weight[blockIdx.x] = static_cast<scalar_t>(sum);
  }
}

void check_arguments(const char* op, const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  TORCH_CHECK(x.is_cuda() && x.device() == weight.device(), op, ": the tensors are on ", x.device(), " and ", weight.device());
  TORCH_CHECK(x.dim() == 3, op, ": expected an input of [batch, channels, length], got the shape ", x.sizes());
  TORCH_CHECK(weight.dim() == 2 && weight.size(0) == x.size(1), op, ": weight has the shape ", weight.sizes(), ", expected [", x.size(1), ", width]");
  TORCH_CHECK(weight.scalar_type() == x.scalar_type(), op, ": weight is of ", weight.scalar_type(), ", the input of ", x.scalar_type());
  if (!bias) return;
  TORCH_CHECK(bias->dim() == 1 && bias->size(0) == x.size(1), op, ": bias has the shape ", bias->sizes(), ", expected [", x.size(1), "]");
  TORCH_CHECK(bias->scalar_type() == x.scalar_type(), op, ": bias is of ", bias->scalar_type(), ", the input of ", x.scalar_type());
  TORCH_CHECK(bias->device() == x.device(), op, ": bias is on ", bias->device(), ", the input on ", x.device());
}

at::Tensor depthwise_conv1d_cuda(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  check_arguments("depthwise_conv1d", x, weight, bias);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous(), w = weight.contiguous(), b = bias ? bias->contiguous() : at::Tensor();
  at::Tensor out = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "depthwise_conv1d", [&] {
    depthwise_conv1d_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            in.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(), b.defined() ? b.const_data_ptr<scalar_t>() : nullptr,
            out.mutable_data_ptr<scalar_t>(), n, in.size(1), in.size(2), w.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

// The gradient of an absent bias is an undefined tensor.
std::tuple<at::Tensor, at::Tensor, at::Tensor> depthwise_conv1d_backward_cuda(const at::Tensor& grad, const at::Tensor& x,
                                                                              const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  check_arguments("depthwise_conv1d_backward", x, weight, bias);
  TORCH_CHECK(grad.device() == x.device(), "depthwise_conv1d_backward: grad is on ", grad.device(), ", the input on ", x.device());
  TORCH_CHECK(grad.sizes() == x.sizes(), "depthwise_conv1d_backward: grad is ", grad.sizes(), ", the input is ", x.sizes());
  TORCH_CHECK(grad.scalar_type() == x.scalar_type(), "depthwise_conv1d_backward: grad is of ", grad.scalar_type(), ", the input of ",
              x.scalar_type());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor g = grad.contiguous(), in = x.contiguous(), w = weight.contiguous();
  at::Tensor grad_x = at::empty_like(in), grad_weight = at::zeros(w.sizes(), w.options()), grad_bias;
  if (bias) grad_bias = at::zeros({w.size(0)}, w.options());
  const int64_t n = in.numel();
  if (n == 0) return {grad_x, grad_weight, grad_bias};
  const int64_t channels = in.size(1), length = in.size(2), width = w.size(1);
  const int64_t sums = channels * width + (bias ? channels : 0);
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "depthwise_conv1d_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    grad_x_kernel<scalar_t, acc_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, stream>>>(
        g.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(), grad_x.mutable_data_ptr<scalar_t>(), n, channels, length, width);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (sums == 0) return;
    grad_weight_kernel<scalar_t, acc_t><<<sums, length <= 64 ? 32 : kThreads, 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), grad_weight.mutable_data_ptr<scalar_t>(),
        bias ? grad_bias.mutable_data_ptr<scalar_t>() : nullptr, in.size(0), channels, length, width);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_x, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("depthwise_conv1d(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor");
  m.def("depthwise_conv1d_backward(Tensor grad, Tensor x, Tensor weight, Tensor? bias) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("depthwise_conv1d", &depthwise_conv1d_cuda);
  m.impl("depthwise_conv1d_backward", &depthwise_conv1d_backward_cuda);
}

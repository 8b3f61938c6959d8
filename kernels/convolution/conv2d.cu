// Convolution of [batch, channels, height, width] by a weight of [out channels, channels / groups, kernel height, kernel width], straight from
// its definition; the arithmetic of sizes is that of Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016,
// sections 2.4 and 5.1. Each kernel gathers: a thread or a block owns what it writes, so no atomics, and the same results in every run.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
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

struct Conv {
  int64_t batch, channels, height, width;
  int64_t out_channels, out_height, out_width;
  int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
  int64_t group_in, group_out;  // the channels of one group
};

template <typename scalar_t, typename acc_t>
__global__ void conv2d_kernel(const scalar_t* __restrict__ input, const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                              scalar_t* __restrict__ out, int64_t n, Conv s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t x = i % s.out_width, y = i / s.out_width % s.out_height;
  const int64_t o = i / (s.out_width * s.out_height) % s.out_channels, b = i / (s.out_width * s.out_height * s.out_channels);
  acc_t sum = bias != nullptr ? static_cast<acc_t>(bias[o]) : acc_t(0);
  for (int64_t c = 0; c < s.group_in; ++c) {
    const scalar_t* plane = input + (b * s.channels + o / s.group_out * s.group_in + c) * s.height * s.width;
    const scalar_t* filter = weight + (o * s.group_in + c) * s.kernel_h * s.kernel_w;
    for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
      const int64_t iy = y * s.stride_h - s.padding_h + ky * s.dilation_h;
      if (iy < 0 || iy >= s.height) continue;
      for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
        const int64_t ix = x * s.stride_w - s.padding_w + kx * s.dilation_w;
        if (ix < 0 || ix >= s.width) continue;
        sum += static_cast<acc_t>(plane[iy * s.width + ix]) * static_cast<acc_t>(filter[ky * s.kernel_w + kx]);
      }
    }
  }
  out[i] = static_cast<scalar_t>(sum);
}

// An input pixel gathers from the outputs whose windows cover it: those with y * stride - padding + ky * dilation == iy.
template <typename scalar_t, typename acc_t>
__global__ void grad_input_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_input,
                                  int64_t n, Conv s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t ix = i % s.width, iy = i / s.width % s.height;
  const int64_t c = i / (s.width * s.height) % s.channels, b = i / (s.width * s.height * s.channels);
  const int64_t group = c / s.group_in;
  acc_t sum = 0;
  for (int64_t o = group * s.group_out; o < (group + 1) * s.group_out; ++o) {
    const scalar_t* plane = grad + (b * s.out_channels + o) * s.out_height * s.out_width;
    const scalar_t* filter = weight + (o * s.group_in + c % s.group_in) * s.kernel_h * s.kernel_w;
    for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
      const int64_t from_y = iy + s.padding_h - ky * s.dilation_h, y = from_y / s.stride_h;
      if (from_y < 0 || from_y % s.stride_h != 0 || y >= s.out_height) continue;
      for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
        const int64_t from_x = ix + s.padding_w - kx * s.dilation_w, x = from_x / s.stride_w;
        if (from_x < 0 || from_x % s.stride_w != 0 || x >= s.out_width) continue;
        sum += static_cast<acc_t>(plane[y * s.out_width + x]) * static_cast<acc_t>(filter[ky * s.kernel_w + kx]);
      }
    }
  }
  grad_input[i] = static_cast<scalar_t>(sum);
}

// One block for each weight sums over batch and space.
template <typename scalar_t, typename acc_t>
__global__ void grad_weight_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ input, scalar_t* __restrict__ grad_weight,
                                   int64_t weights, Conv s) {
  const int64_t area = s.out_height * s.out_width;
  for (int64_t i = blockIdx.x; i < weights; i += gridDim.x) {
    const int64_t kx = i % s.kernel_w, ky = i / s.kernel_w % s.kernel_h;
    const int64_t c = i / (s.kernel_w * s.kernel_h) % s.group_in, o = i / (s.kernel_w * s.kernel_h * s.group_in);
    acc_t sum = 0;
    for (int64_t p = threadIdx.x; p < s.batch * area; p += blockDim.x) {
      const int64_t b = p / area, y = p % area / s.out_width, x = p % s.out_width;
      const int64_t iy = y * s.stride_h - s.padding_h + ky * s.dilation_h, ix = x * s.stride_w - s.padding_w + kx * s.dilation_w;
      if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
      const int64_t plane = b * s.channels + o / s.group_out * s.group_in + c;
      sum += static_cast<acc_t>(grad[(b * s.out_channels + o) * area + p % area]) *
             static_cast<acc_t>(input[(plane * s.height + iy) * s.width + ix]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) grad_weight[i] = static_cast<scalar_t>(sum);
  }
}

template <typename scalar_t, typename acc_t>
__global__ void grad_bias_kernel(const scalar_t* __restrict__ grad, scalar_t* __restrict__ grad_bias, Conv s) {
  const int64_t area = s.out_height * s.out_width, o = blockIdx.x;
  acc_t sum = 0;
  for (int64_t p = threadIdx.x; p < s.batch * area; p += blockDim.x) {
    sum += static_cast<acc_t>(grad[(p / area * s.out_channels + o) * area + p % area]);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) grad_bias[o] = static_cast<scalar_t>(sum);
}

int64_t out_size(const char* op, int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t reach = dilation * (kernel - 1) + 1;
  TORCH_CHECK(in + 2 * padding >= reach, op, ": a padded input of ", in + 2 * padding, " is smaller than the kernel's reach of ", reach);
  return (in + 2 * padding - reach) / stride + 1;
}

Conv check_arguments(const char* op, const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                     at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(input.is_cuda() && input.device() == weight.device(), op, ": the tensors are on ", input.device(), " and ", weight.device());
  TORCH_CHECK(input.dim() == 4, op, ": expected an input of [batch, channels, height, width], got the shape ", input.sizes());
  TORCH_CHECK(weight.dim() == 4, op, ": expected a weight of four dimensions, got the shape ", weight.sizes());
  TORCH_CHECK(weight.scalar_type() == input.scalar_type(), op, ": weight is of ", weight.scalar_type(), ", the input of ", input.scalar_type());
  TORCH_CHECK_VALUE(stride.size() == 2 && padding.size() == 2 && dilation.size() == 2, op, ": stride, padding and dilation are of two numbers each");
  TORCH_CHECK_VALUE(stride[0] > 0 && stride[1] > 0, op, ": stride is ", stride, ", expected it above 0");
  TORCH_CHECK_VALUE(padding[0] >= 0 && padding[1] >= 0, op, ": padding is ", padding, ", expected none below 0");
  TORCH_CHECK_VALUE(dilation[0] > 0 && dilation[1] > 0, op, ": dilation is ", dilation, ", expected it above 0");
  TORCH_CHECK(groups > 0 && input.size(1) % groups == 0 && weight.size(0) % groups == 0,
              op, ": ", input.size(1), " channels in and ", weight.size(0), " out do not divide into ", groups, " groups");
  TORCH_CHECK(weight.size(1) == input.size(1) / groups, op, ": weight has the shape ", weight.sizes(), ", the input ", input.sizes(), " in ", groups,
              " groups");
  TORCH_CHECK(weight.size(2) > 0 && weight.size(3) > 0, op, ": the kernel is empty, weight has the shape ", weight.sizes());
  if (bias) {
    TORCH_CHECK(bias->dim() == 1 && bias->size(0) == weight.size(0), op, ": bias has the shape ", bias->sizes(), ", expected [", weight.size(0), "]");
    TORCH_CHECK(bias->scalar_type() == input.scalar_type(), op, ": bias is of ", bias->scalar_type(), ", the input of ", input.scalar_type());
    TORCH_CHECK(bias->device() == input.device(), op, ": bias is on ", bias->device(), ", the input on ", input.device());
  }
  Conv s;
  s.batch = input.size(0);
  s.channels = input.size(1);
  s.height = input.size(2);
  s.width = input.size(3);
  s.out_channels = weight.size(0);
  s.kernel_h = weight.size(2);
  s.kernel_w = weight.size(3);
  s.stride_h = stride[0];
  s.stride_w = stride[1];
  s.padding_h = padding[0];
  s.padding_w = padding[1];
  s.dilation_h = dilation[0];
  s.dilation_w = dilation[1];
  s.group_in = s.channels / groups;
  s.group_out = s.out_channels / groups;
  s.out_height = out_size(op, s.height, s.kernel_h, s.stride_h, s.padding_h, s.dilation_h);
  s.out_width = out_size(op, s.width, s.kernel_w, s.stride_w, s.padding_w, s.dilation_w);
  return s;
}

at::Tensor conv2d_cuda(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  const Conv s = check_arguments("conv2d", input, weight, bias, stride, padding, dilation, groups);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous(), w = weight.contiguous(), b = bias ? bias->contiguous() : at::Tensor();
  at::Tensor out = at::empty({s.batch, s.out_channels, s.out_height, s.out_width}, in.options());
  const int64_t n = out.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "conv2d", [&] {
    conv2d_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            in.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(), b.defined() ? b.const_data_ptr<scalar_t>() : nullptr,
            out.mutable_data_ptr<scalar_t>(), n, s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

// The gradient of an absent bias is an undefined tensor.
std::tuple<at::Tensor, at::Tensor, at::Tensor> conv2d_backward_cuda(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight,
                                                                    const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                                                                    at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  const Conv s = check_arguments("conv2d_backward", input, weight, bias, stride, padding, dilation, groups);
  TORCH_CHECK(grad.device() == input.device(), "conv2d_backward: grad is on ", grad.device(), ", the input on ", input.device());
  TORCH_CHECK(grad.dim() == 4 && grad.size(0) == s.batch && grad.size(1) == s.out_channels && grad.size(2) == s.out_height &&
              grad.size(3) == s.out_width,
              "conv2d_backward: grad is ", grad.sizes(), ", expected [", s.batch, ", ", s.out_channels, ", ", s.out_height, ", ", s.out_width, "]");
  TORCH_CHECK(grad.scalar_type() == input.scalar_type(), "conv2d_backward: grad is of ", grad.scalar_type(), ", the input of ", input.scalar_type());
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous(), in = input.contiguous(), w = weight.contiguous();
  at::Tensor grad_input = at::zeros(in.sizes(), in.options()), grad_weight = at::zeros(w.sizes(), w.options()), grad_bias;
  if (bias) grad_bias = at::zeros({s.out_channels}, w.options());
  if (g.numel() == 0) return {grad_input, grad_weight, grad_bias};
  const int64_t inputs = in.numel(), weights = w.numel();
  const int threads = s.batch * s.out_height * s.out_width <= 64 ? 32 : kThreads;
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "conv2d_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    if (inputs > 0) {
      grad_input_kernel<scalar_t, acc_t><<<at::ceil_div(inputs, int64_t{kThreads}), kThreads, 0, stream>>>(
          g.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(), grad_input.mutable_data_ptr<scalar_t>(), inputs, s);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    if (weights > 0) {
      grad_weight_kernel<scalar_t, acc_t><<<std::min<int64_t>(weights, 1 << 20), threads, 0, stream>>>(
          g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), grad_weight.mutable_data_ptr<scalar_t>(), weights, s);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    if (bias) {
      grad_bias_kernel<scalar_t, acc_t><<<s.out_channels, threads, 0, stream>>>(
          g.const_data_ptr<scalar_t>(), grad_bias.mutable_data_ptr<scalar_t>(), s);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  });
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def(
      "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> "
      "Tensor");
  m.def(
      "conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor? bias, int[2] stride, int[2] padding, int[2] dilation, int groups) "
      "-> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("conv2d", &conv2d_cuda);
  m.impl("conv2d_backward", &conv2d_backward_cuda);
}

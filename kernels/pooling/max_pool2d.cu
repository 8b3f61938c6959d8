// The greatest element of each window of [batch, channels, height, width] or [channels, height, width], and its place, as
// torch.nn.functional.max_pool2d with return_indices has it: an index counts within its plane, the first of equals wins, a NaN wins over
// every number. The arithmetic of sizes: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, section 3.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <cmath>
#include <tuple>
#include <vector>

namespace {

constexpr int kThreads = 256;

struct Pool {
  int64_t planes, height, width, out_height, out_width;
  int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
};

template <typename scalar_t, typename acc_t>
__global__ void max_pool2d_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ values, int64_t* __restrict__ indices, int64_t n,
                                  Pool s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t x = i % s.out_width, y = i / s.out_width % s.out_height;
  const scalar_t* plane = input + i / (s.out_width * s.out_height) * s.height * s.width;
  acc_t greatest = -INFINITY;
  int64_t place = -1;
  for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
    const int64_t iy = y * s.stride_h - s.padding_h + ky * s.dilation_h;
    if (iy < 0 || iy >= s.height) continue;
    for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
      const int64_t ix = x * s.stride_w - s.padding_w + kx * s.dilation_w;
      if (ix < 0 || ix >= s.width) continue;
      const acc_t value = static_cast<acc_t>(plane[iy * s.width + ix]);
      // The first pixel is taken whatever it is, so that a window of minus infinities has a place.
      if (place < 0 || value > greatest || isnan(value)) {
        greatest = value;
        place = iy * s.width + ix;
      }
    }
  }
  values[i] = static_cast<scalar_t>(greatest);
  indices[i] = place;
}

// A pixel gathers from the windows that cover it and chose it. Windows overlap, so scattering would need atomics.
template <typename scalar_t, typename acc_t>
__global__ void max_pool2d_backward_kernel(const scalar_t* __restrict__ grad, const int64_t* __restrict__ indices,
                                           scalar_t* __restrict__ grad_input, int64_t n, Pool s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t area = s.height * s.width, place = i % area, ix = place % s.width, iy = place / s.width;
  const int64_t first = i / area * s.out_height * s.out_width;
  acc_t sum = 0;
  for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
    const int64_t from_y = iy + s.padding_h - ky * s.dilation_h, y = from_y / s.stride_h;
    if (from_y < 0 || from_y % s.stride_h != 0 || y >= s.out_height) continue;
    for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
      const int64_t from_x = ix + s.padding_w - kx * s.dilation_w, x = from_x / s.stride_w;
      if (from_x < 0 || from_x % s.stride_w != 0 || x >= s.out_width) continue;
      const int64_t window = first + y * s.out_width + x;
      if (indices[window] == place) sum += static_cast<acc_t>(grad[window]);
    }
  }
  grad_input[i] = static_cast<scalar_t>(sum);
}

int64_t out_size(const char* op, int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  const int64_t slack = in + 2 * padding - dilation * (kernel - 1) - 1;
  TORCH_CHECK(slack >= 0, op, ": a padded input of ", in + 2 * padding, " is smaller than the window's reach of ", dilation * (kernel - 1) + 1);
  int64_t out = (slack + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // The last window begins inside the input or its left padding, or it is left out.
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

Pool check_arguments(const char* op, const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef stride, at::IntArrayRef padding,
                     at::IntArrayRef dilation, bool ceil_mode) {
  TORCH_CHECK(input.is_cuda(), op, ": expected a CUDA tensor, got one on ", input.device());
  TORCH_CHECK(input.dim() == 3 || input.dim() == 4, op,
              ": expected an input of [batch, channels, height, width] or [channels, height, width], got the shape ", input.sizes());
  if (stride.empty()) stride = kernel_size;  // windows side by side
  TORCH_CHECK_VALUE(kernel_size.size() == 2 && stride.size() == 2 && padding.size() == 2 && dilation.size() == 2,
                    op, ": kernel_size, stride, padding and dilation are of two numbers each");
  TORCH_CHECK_VALUE(kernel_size[0] > 0 && kernel_size[1] > 0, op, ": kernel_size is ", kernel_size, ", expected it above 0");
  TORCH_CHECK_VALUE(stride[0] > 0 && stride[1] > 0, op, ": stride is ", stride, ", expected it above 0");
  TORCH_CHECK_VALUE(dilation[0] > 0 && dilation[1] > 0, op, ": dilation is ", dilation, ", expected it above 0");
  TORCH_CHECK_VALUE(padding[0] >= 0 && padding[1] >= 0 && 2 * padding[0] <= kernel_size[0] && 2 * padding[1] <= kernel_size[1],
                    op, ": padding is ", padding, ", expected at most half of the kernel_size ", kernel_size);
  Pool s;
  s.planes = input.dim() == 4 ? input.size(0) * input.size(1) : input.size(0);
  s.height = input.size(-2);
  s.width = input.size(-1);
  TORCH_CHECK(s.height > 0 && s.width > 0, op, ": the input has no pixels, its shape is ", input.sizes());
  s.kernel_h = kernel_size[0];
  s.kernel_w = kernel_size[1];
  s.stride_h = stride[0];
  s.stride_w = stride[1];
  s.padding_h = padding[0];
  s.padding_w = padding[1];
  s.dilation_h = dilation[0];
  s.dilation_w = dilation[1];
  s.out_height = out_size(op, s.height, s.kernel_h, s.stride_h, s.padding_h, s.dilation_h, ceil_mode);
  s.out_width = out_size(op, s.width, s.kernel_w, s.stride_w, s.padding_w, s.dilation_w, ceil_mode);
  return s;
}

std::tuple<at::Tensor, at::Tensor> max_pool2d_cuda(const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef stride,
                                                   at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode) {
  const Pool s = check_arguments("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous();
  std::vector<int64_t> shape = in.sizes().vec();
  shape[shape.size() - 2] = s.out_height;
  shape[shape.size() - 1] = s.out_width;
  at::Tensor values = at::empty(shape, in.options()), indices = at::empty(shape, in.options().dtype(at::kLong));
  const int64_t n = values.numel();
  if (n == 0) return {values, indices};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "max_pool2d", [&] {
    max_pool2d_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            in.const_data_ptr<scalar_t>(), values.mutable_data_ptr<scalar_t>(), indices.mutable_data_ptr<int64_t>(), n, s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {values, indices};
}

// `input` gives the shape alone.
at::Tensor max_pool2d_backward_cuda(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& indices, at::IntArrayRef kernel_size,
                                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode) {
  const Pool s = check_arguments("max_pool2d_backward", input, kernel_size, stride, padding, dilation, ceil_mode);
  TORCH_CHECK(grad.device() == input.device() && indices.device() == input.device(),
              "max_pool2d_backward: grad is on ", grad.device(), ", the indices on ", indices.device(), ", the input on ", input.device());
  TORCH_CHECK(grad.sizes() == indices.sizes(), "max_pool2d_backward: grad is ", grad.sizes(), ", the indices are ", indices.sizes());
  TORCH_CHECK(grad.dim() == input.dim() && grad.numel() == s.planes * s.out_height * s.out_width, "max_pool2d_backward: grad is ", grad.sizes(),
              ", the input is ", input.sizes());
  TORCH_CHECK(indices.scalar_type() == at::kLong, "max_pool2d_backward: expected indices of Long, got ", indices.scalar_type());
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), places = indices.contiguous();
  at::Tensor grad_input = at::empty(input.sizes(), g.options());
  const int64_t n = grad_input.numel();
  if (n == 0) return grad_input;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "max_pool2d_backward", [&] {
    max_pool2d_backward_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            g.const_data_ptr<scalar_t>(), places.const_data_ptr<int64_t>(), grad_input.mutable_data_ptr<scalar_t>(), n, s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_input;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def(
      "max_pool2d(Tensor input, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> "
      "(Tensor values, Tensor indices)");
  m.def(
      "max_pool2d_backward(Tensor grad, Tensor input, Tensor indices, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, "
      "bool ceil_mode) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("max_pool2d", &max_pool2d_cuda);
  m.impl("max_pool2d_backward", &max_pool2d_backward_cuda);
}

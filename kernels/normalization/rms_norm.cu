// Division by the root of the mean square over the trailing dimensions: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019,
// equation 4. Without eps, torch's: the machine epsilon of the type computed in.

#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace {

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

// Short rows get few threads; the kernels loop over rows, so that any number of them fits a grid.
int threads_for(int64_t size) { return size <= 64 ? 32 : size <= 512 ? 128 : 256; }
unsigned blocks_for(int64_t rows) { return static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)); }

template <typename scalar_t, typename acc_t>
__device__ acc_t reciprocal_root(const scalar_t* x, int64_t size, acc_t eps) {
  acc_t squares = 0;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) squares += static_cast<acc_t>(x[i]) * static_cast<acc_t>(x[i]);
  return rsqrt(block_sum(squares) / size + eps);
}

template <typename scalar_t, typename acc_t>
__global__ void rms_norm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight, scalar_t* __restrict__ out,
                                int64_t rows, int64_t size, acc_t eps) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const scalar_t* from = x + row * size;
    const acc_t scale = reciprocal_root(from, size, eps);
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t h = static_cast<acc_t>(from[i]) * scale;
      out[row * size + i] = static_cast<scalar_t>(weight != nullptr ? h * static_cast<acc_t>(weight[i]) : h);
    }
  }
}

// With h = x * scale and d = grad * weight: grad_x = scale * (d - h * mean(d * h)). The scales are kept for the kernel below.
template <typename scalar_t, typename acc_t>
__global__ void rms_norm_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                         const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_x, acc_t* __restrict__ scales,
                                         int64_t rows, int64_t size, acc_t eps) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const scalar_t* g = grad + row * size;
    const scalar_t* from = x + row * size;
    const acc_t scale = reciprocal_root(from, size, eps);
    acc_t product = 0;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[i]) : acc_t(1));
      product += d * static_cast<acc_t>(from[i]) * scale;
    }
    product = block_sum(product) / size;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[i]) : acc_t(1));
      grad_x[row * size + i] = static_cast<scalar_t>(scale * (d - static_cast<acc_t>(from[i]) * scale * product));
    }
    if (threadIdx.x == 0) scales[row] = scale;
  }
}

constexpr int kColumns = 32, kRows = 8;

// The sum over the rows, without atomics, so that it comes out the same in every run: a block has 32 columns, 8 threads share each.
template <typename scalar_t, typename acc_t>
__global__ void rms_norm_weight_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x, const acc_t* __restrict__ scales,
                                       scalar_t* __restrict__ grad_weight, int64_t rows, int64_t size) {
  __shared__ acc_t partial[kRows][kColumns];
  const int64_t column = int64_t{blockIdx.x} * kColumns + threadIdx.x;
  acc_t sum = 0;
  if (column < size) {
    for (int64_t row = threadIdx.y; row < rows; row += kRows) {
      sum += static_cast<acc_t>(grad[row * size + column]) * static_cast<acc_t>(x[row * size + column]) * scales[row];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= size) return;
  for (int other = 1; other < kRows; ++other) sum += partial[other][threadIdx.x];
  grad_weight[column] = static_cast<scalar_t>(sum);
}

template <typename scalar_t>
const scalar_t* data_or_null(const at::Tensor& x) { return x.defined() ? x.const_data_ptr<scalar_t>() : nullptr; }

// How many elements one row has; checks that the trailing sizes of the input are `shape`.
int64_t row_size(const char* op, const at::Tensor& input, at::IntArrayRef shape) {
  const int64_t rank = shape.size();
  TORCH_CHECK(rank >= 1, op, ": normalized_shape is empty");
  TORCH_CHECK(input.dim() >= rank && input.sizes().slice(input.dim() - rank) == shape,
              op, ": normalized_shape is ", shape, ", the input has the shape ", input.sizes());
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  return size;
}

void check_scale(const char* op, const char* name, const at::Tensor& input, at::IntArrayRef shape, const std::optional<at::Tensor>& scale) {
  if (!scale) return;
  TORCH_CHECK(scale->sizes() == shape, op, ": ", name, " has the shape ", scale->sizes(), ", expected ", shape);
  TORCH_CHECK(scale->scalar_type() == input.scalar_type(), op, ": ", name, " is of ", scale->scalar_type(), ", the input of ", input.scalar_type());
  TORCH_CHECK(scale->device() == input.device(), op, ": ", name, " is on ", scale->device(), ", the input on ", input.device());
}

template <typename acc_t>
acc_t eps_or_default(std::optional<double> eps) {
  return eps ? static_cast<acc_t>(*eps) : std::numeric_limits<acc_t>::epsilon();
}

at::Tensor rms_norm_cuda(const at::Tensor& input, at::IntArrayRef normalized_shape, const std::optional<at::Tensor>& weight,
                         std::optional<double> eps) {
  TORCH_CHECK(input.is_cuda(), "rms_norm: expected a CUDA tensor, got one on ", input.device());
  const int64_t size = row_size("rms_norm", input, normalized_shape);
  check_scale("rms_norm", "weight", input, normalized_shape, weight);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous(), w = weight ? weight->contiguous() : at::Tensor();
  at::Tensor out = at::empty_like(in);
  if (out.numel() == 0) return out;
  const int64_t rows = in.numel() / size;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    rms_norm_kernel<scalar_t, acc_t><<<blocks_for(rows), threads_for(size), 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), out.mutable_data_ptr<scalar_t>(), rows, size, eps_or_default<acc_t>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

void check_grad(const char* op, const at::Tensor& grad, const at::Tensor& input) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == input.device(), op, ": the tensors are on ", grad.device(), " and ", input.device());
  TORCH_CHECK(grad.sizes() == input.sizes(), op, ": grad is ", grad.sizes(), ", the input is ", input.sizes());
  TORCH_CHECK(grad.scalar_type() == input.scalar_type(), op, ": grad is of ", grad.scalar_type(), ", the input of ", input.scalar_type());
}

// The gradient of an absent weight is an undefined tensor.
std::tuple<at::Tensor, at::Tensor> rms_norm_backward_cuda(const at::Tensor& grad, const at::Tensor& input, at::IntArrayRef normalized_shape,
                                                          const std::optional<at::Tensor>& weight, std::optional<double> eps) {
  check_grad("rms_norm_backward", grad, input);
  const int64_t size = row_size("rms_norm_backward", input, normalized_shape);
  check_scale("rms_norm_backward", "weight", input, normalized_shape, weight);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous(), in = input.contiguous(), w = weight ? weight->contiguous() : at::Tensor();
  at::Tensor grad_input = at::empty_like(in), grad_weight;
  if (weight) grad_weight = at::zeros(normalized_shape, in.options());
  if (in.numel() == 0) return {grad_input, grad_weight};
  const int64_t rows = in.numel() / size;
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    at::Tensor scales = at::empty({rows}, in.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
    rms_norm_backward_kernel<scalar_t, acc_t><<<blocks_for(rows), threads_for(size), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), grad_input.mutable_data_ptr<scalar_t>(),
        scales.mutable_data_ptr<acc_t>(), rows, size, eps_or_default<acc_t>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (!weight) return;
    rms_norm_weight_kernel<scalar_t, acc_t><<<(size + kColumns - 1) / kColumns, dim3(kColumns, kRows), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), scales.const_data_ptr<acc_t>(),
        grad_weight.mutable_data_ptr<scalar_t>(), rows, size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_input, grad_weight};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor");
  m.def("rms_norm_backward(Tensor grad, Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("rms_norm", &rms_norm_cuda);
  m.impl("rms_norm_backward", &rms_norm_backward_cuda);
}

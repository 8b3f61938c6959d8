// Layer normalization over the trailing dimensions: Ba, Kiros and Hinton, "Layer Normalization", 2016, section 3.
// The backward computes mean and deviation anew: that costs one more reading of a row, and spares two saved tensors.

#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
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

// Mean and reciprocal deviation of a row. Two passes: E[x^2] - E[x]^2 would cancel where the mean is large.
template <typename scalar_t, typename acc_t>
__device__ void row_statistics(const scalar_t* x, int64_t size, acc_t eps, acc_t& mean, acc_t& rstd) {
  acc_t sum = 0;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) sum += static_cast<acc_t>(x[i]);
  mean = block_sum(sum) / size;
  acc_t squares = 0;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const acc_t centred = static_cast<acc_t>(x[i]) - mean;
    squares += centred * centred;
  }
  rstd = rsqrt(block_sum(squares) / size + eps);
}

template <typename scalar_t, typename acc_t>
__global__ void layer_norm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                                  scalar_t* __restrict__ out, int64_t rows, int64_t size, acc_t eps) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const scalar_t* from = x + row * size;
    scalar_t* to = out + row * size;
    acc_t mean, rstd;
    row_statistics(from, size, eps, mean, rstd);
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      acc_t y = (static_cast<acc_t>(from[i]) - mean) * rstd;
      if (weight != nullptr) y *= static_cast<acc_t>(weight[i]);
      if (bias != nullptr) y += static_cast<acc_t>(bias[i]);
      to[i] = static_cast<scalar_t>(y);
    }
  }
}

// With h the normalized row and d = grad * weight: grad_x = rstd * (d - mean(d) - h * mean(d * h)).
// The statistics go to `means` and `rstds` for the kernel below.
template <typename scalar_t, typename acc_t>
__global__ void layer_norm_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                           const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_x,
                                           acc_t* __restrict__ means, acc_t* __restrict__ rstds, int64_t rows, int64_t size, acc_t eps) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const scalar_t* g = grad + row * size;
    const scalar_t* from = x + row * size;
    acc_t mean, rstd;
    row_statistics(from, size, eps, mean, rstd);
    acc_t sum = 0, product = 0;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[i]) : acc_t(1));
      sum += d;
      product += d * (static_cast<acc_t>(from[i]) - mean) * rstd;
    }
    sum = block_sum(sum) / size;
    product = block_sum(product) / size;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[i]) : acc_t(1));
      const acc_t h = (static_cast<acc_t>(from[i]) - mean) * rstd;
      grad_x[row * size + i] = static_cast<scalar_t>(rstd * (d - sum - h * product));
    }
    if (threadIdx.x == 0) {
      means[row] = mean;
      rstds[row] = rstd;
    }
  }
}

constexpr int kColumns = 32, kRows = 8;

// Sums over the rows, without atomics, so that they come out the same in every run: a block has 32 columns, 8 threads share each.
template <typename scalar_t, typename acc_t>
__global__ void layer_norm_scale_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x, const acc_t* __restrict__ means,
                                        const acc_t* __restrict__ rstds, scalar_t* __restrict__ grad_weight,
                                        scalar_t* __restrict__ grad_bias, int64_t rows, int64_t size) {
  __shared__ acc_t weights[kRows][kColumns], biases[kRows][kColumns];
  const int64_t column = int64_t{blockIdx.x} * kColumns + threadIdx.x;
  acc_t weight = 0, bias = 0;
  if (column < size) {
    for (int64_t row = threadIdx.y; row < rows; row += kRows) {
      const acc_t g = static_cast<acc_t>(grad[row * size + column]);
      weight += g * (static_cast<acc_t>(x[row * size + column]) - means[row]) * rstds[row];
      bias += g;
    }
  }
  weights[threadIdx.y][threadIdx.x] = weight;
  biases[threadIdx.y][threadIdx.x] = bias;
  __syncthreads();
  if (threadIdx.y != 0 || column >= size) return;
  for (int other = 1; other < kRows; ++other) {
    weight += weights[other][threadIdx.x];
    bias += biases[other][threadIdx.x];
  }
  if (grad_weight != nullptr) grad_weight[column] = static_cast<scalar_t>(weight);
  if (grad_bias != nullptr) grad_bias[column] = static_cast<scalar_t>(bias);
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

at::Tensor layer_norm_cuda(const at::Tensor& input, at::IntArrayRef normalized_shape, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, double eps) {
  TORCH_CHECK(input.is_cuda(), "layer_norm: expected a CUDA tensor, got one on ", input.device());
  const int64_t size = row_size("layer_norm", input, normalized_shape);
  check_scale("layer_norm", "weight", input, normalized_shape, weight);
  check_scale("layer_norm", "bias", input, normalized_shape, bias);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous();
  const at::Tensor w = weight ? weight->contiguous() : at::Tensor(), b = bias ? bias->contiguous() : at::Tensor();
  at::Tensor out = at::empty_like(in);
  if (out.numel() == 0) return out;
  const int64_t rows = in.numel() / size;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "layer_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    layer_norm_kernel<scalar_t, acc_t><<<blocks_for(rows), threads_for(size), 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), data_or_null<scalar_t>(b), out.mutable_data_ptr<scalar_t>(), rows, size,
        static_cast<acc_t>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

void check_grad(const char* op, const at::Tensor& grad, const at::Tensor& input) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == input.device(), op, ": the tensors are on ", grad.device(), " and ", input.device());
  TORCH_CHECK(grad.sizes() == input.sizes(), op, ": grad is ", grad.sizes(), ", the input is ", input.sizes());
  TORCH_CHECK(grad.scalar_type() == input.scalar_type(), op, ": grad is of ", grad.scalar_type(), ", the input of ", input.scalar_type());
}

// The gradient of an absent weight or bias is an undefined tensor.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_cuda(
    const at::Tensor& grad, const at::Tensor& input, at::IntArrayRef normalized_shape, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, double eps) {
  check_grad("layer_norm_backward", grad, input);
  const int64_t size = row_size("layer_norm_backward", input, normalized_shape);
  check_scale("layer_norm_backward", "weight", input, normalized_shape, weight);
  check_scale("layer_norm_backward", "bias", input, normalized_shape, bias);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous(), in = input.contiguous();
  const at::Tensor w = weight ? weight->contiguous() : at::Tensor();
  at::Tensor grad_input = at::empty_like(in), grad_weight, grad_bias;
  if (weight) grad_weight = at::zeros(normalized_shape, in.options());
  if (bias) grad_bias = at::zeros(normalized_shape, in.options());
  if (in.numel() == 0) return {grad_input, grad_weight, grad_bias};
  const int64_t rows = in.numel() / size;
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const auto statistics = in.options().dtype(c10::CppTypeToScalarType<acc_t>::value);
    at::Tensor means = at::empty({rows}, statistics), rstds = at::empty({rows}, statistics);
    layer_norm_backward_kernel<scalar_t, acc_t><<<blocks_for(rows), threads_for(size), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), grad_input.mutable_data_ptr<scalar_t>(),
        means.mutable_data_ptr<acc_t>(), rstds.mutable_data_ptr<acc_t>(), rows, size, static_cast<acc_t>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (!weight && !bias) return;
    layer_norm_scale_kernel<scalar_t, acc_t><<<(size + kColumns - 1) / kColumns, dim3(kColumns, kRows), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), means.const_data_ptr<acc_t>(), rstds.const_data_ptr<acc_t>(),
        weight ? grad_weight.mutable_data_ptr<scalar_t>() : nullptr, bias ? grad_bias.mutable_data_ptr<scalar_t>() : nullptr, rows, size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor");
  m.def(
      "layer_norm_backward(Tensor grad, Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) "
      "-> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("layer_norm", &layer_norm_cuda);
  m.impl("layer_norm_backward", &layer_norm_backward_cuda);
}

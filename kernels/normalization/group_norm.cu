// Group normalization: Wu and He, "Group Normalization", 2018, section 3.1. Channels are dimension 1, and a group of them in one sample is
// one row of memory. The backward computes mean and deviation anew rather than have them saved.

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

struct Groups {
  int64_t samples, channels, spatial, groups;
  __host__ __device__ int64_t rows() const { return samples * groups; }
  __host__ __device__ int64_t size() const { return channels / groups * spatial; }
  __device__ int64_t channel(int64_t row, int64_t i) const { return row % groups * (channels / groups) + i / spatial; }
};

template <typename scalar_t, typename acc_t>
__global__ void group_norm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                                  scalar_t* __restrict__ out, Groups s, acc_t eps) {
  const int64_t size = s.size();
  for (int64_t row = blockIdx.x; row < s.rows(); row += gridDim.x) {
    const scalar_t* from = x + row * size;
    acc_t mean, rstd;
    row_statistics(from, size, eps, mean, rstd);
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const int64_t c = s.channel(row, i);
      acc_t y = (static_cast<acc_t>(from[i]) - mean) * rstd;
      if (weight != nullptr) y *= static_cast<acc_t>(weight[c]);
      if (bias != nullptr) y += static_cast<acc_t>(bias[c]);
      out[row * size + i] = static_cast<scalar_t>(y);
    }
  }
}

// With h the normalized row and d = grad * weight: grad_x = rstd * (d - mean(d) - h * mean(d * h)).
// The statistics go to `means` and `rstds` for the kernel below.
template <typename scalar_t, typename acc_t>
__global__ void group_norm_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                           const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_x,
                                           acc_t* __restrict__ means, acc_t* __restrict__ rstds, Groups s, acc_t eps) {
  const int64_t size = s.size();
  for (int64_t row = blockIdx.x; row < s.rows(); row += gridDim.x) {
    const scalar_t* g = grad + row * size;
    const scalar_t* from = x + row * size;
    acc_t mean, rstd;
    row_statistics(from, size, eps, mean, rstd);
    acc_t sum = 0, product = 0;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[s.channel(row, i)]) : acc_t(1));
      sum += d;
      product += d * (static_cast<acc_t>(from[i]) - mean) * rstd;
    }
    sum = block_sum(sum) / size;
    product = block_sum(product) / size;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const acc_t d = static_cast<acc_t>(g[i]) * (weight != nullptr ? static_cast<acc_t>(weight[s.channel(row, i)]) : acc_t(1));
      const acc_t h = (static_cast<acc_t>(from[i]) - mean) * rstd;
      grad_x[row * size + i] = static_cast<scalar_t>(rstd * (d - sum - h * product));
    }
    if (threadIdx.x == 0) {
      means[row] = mean;
      rstds[row] = rstd;
    }
  }
}

// One block per channel sums over the samples and over space.
template <typename scalar_t, typename acc_t>
__global__ void group_norm_scale_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x, const acc_t* __restrict__ means,
                                        const acc_t* __restrict__ rstds, scalar_t* __restrict__ grad_weight,
                                        scalar_t* __restrict__ grad_bias, Groups s) {
  const int64_t c = blockIdx.x;
  acc_t weight = 0, bias = 0;
  for (int64_t sample = 0; sample < s.samples; ++sample) {
    const int64_t row = sample * s.groups + c / (s.channels / s.groups);
    const int64_t first = (sample * s.channels + c) * s.spatial;
    for (int64_t i = threadIdx.x; i < s.spatial; i += blockDim.x) {
      const acc_t g = static_cast<acc_t>(grad[first + i]);
      weight += g * (static_cast<acc_t>(x[first + i]) - means[row]) * rstds[row];
      bias += g;
    }
  }
  weight = block_sum(weight);
  bias = block_sum(bias);
  if (threadIdx.x != 0) return;
  if (grad_weight != nullptr) grad_weight[c] = static_cast<scalar_t>(weight);
  if (grad_bias != nullptr) grad_bias[c] = static_cast<scalar_t>(bias);
}

template <typename scalar_t>
const scalar_t* data_or_null(const at::Tensor& x) { return x.defined() ? x.const_data_ptr<scalar_t>() : nullptr; }

Groups groups_of(const char* op, const at::Tensor& input, int64_t num_groups) {
  TORCH_CHECK(input.dim() >= 2, op, ": expected an input of [batch, channels, ...], got the shape ", input.sizes());
  TORCH_CHECK(num_groups > 0 && input.size(1) % num_groups == 0, op, ": ", input.size(1), " channels do not divide into ", num_groups, " groups");
  int64_t spatial = 1;
  for (int64_t d = 2; d < input.dim(); ++d) spatial *= input.size(d);
  return {input.size(0), input.size(1), spatial, num_groups};
}

void check_scale(const char* op, const char* name, const at::Tensor& input, const std::optional<at::Tensor>& scale) {
  if (!scale) return;
  TORCH_CHECK(scale->dim() == 1 && scale->size(0) == input.size(1), op, ": ", name, " has the shape ", scale->sizes(), ", expected [", input.size(1),
              "]");
  TORCH_CHECK(scale->scalar_type() == input.scalar_type(), op, ": ", name, " is of ", scale->scalar_type(), ", the input of ", input.scalar_type());
  TORCH_CHECK(scale->device() == input.device(), op, ": ", name, " is on ", scale->device(), ", the input on ", input.device());
}

at::Tensor group_norm_cuda(const at::Tensor& input, int64_t num_groups, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, double eps) {
  TORCH_CHECK(input.is_cuda(), "group_norm: expected a CUDA tensor, got one on ", input.device());
  const Groups s = groups_of("group_norm", input, num_groups);
  check_scale("group_norm", "weight", input, weight);
  check_scale("group_norm", "bias", input, bias);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous();
  const at::Tensor w = weight ? weight->contiguous() : at::Tensor(), b = bias ? bias->contiguous() : at::Tensor();
  at::Tensor out = at::empty_like(in);
  if (out.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "group_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    group_norm_kernel<scalar_t, acc_t><<<blocks_for(s.rows()), threads_for(s.size()), 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), data_or_null<scalar_t>(b), out.mutable_data_ptr<scalar_t>(), s,
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
std::tuple<at::Tensor, at::Tensor, at::Tensor> group_norm_backward_cuda(
    const at::Tensor& grad, const at::Tensor& input, int64_t num_groups, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, double eps) {
  check_grad("group_norm_backward", grad, input);
  const Groups s = groups_of("group_norm_backward", input, num_groups);
  check_scale("group_norm_backward", "weight", input, weight);
  check_scale("group_norm_backward", "bias", input, bias);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous(), in = input.contiguous();
  const at::Tensor w = weight ? weight->contiguous() : at::Tensor();
  at::Tensor grad_input = at::empty_like(in), grad_weight, grad_bias;
  if (weight) grad_weight = at::zeros({s.channels}, in.options());
  if (bias) grad_bias = at::zeros({s.channels}, in.options());
  if (in.numel() == 0) return {grad_input, grad_weight, grad_bias};
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "group_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const auto statistics = in.options().dtype(c10::CppTypeToScalarType<acc_t>::value);
    at::Tensor means = at::empty({s.rows()}, statistics), rstds = at::empty({s.rows()}, statistics);
    group_norm_backward_kernel<scalar_t, acc_t><<<blocks_for(s.rows()), threads_for(s.size()), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(w), grad_input.mutable_data_ptr<scalar_t>(),
        means.mutable_data_ptr<acc_t>(), rstds.mutable_data_ptr<acc_t>(), s, static_cast<acc_t>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (!weight && !bias) return;
    group_norm_scale_kernel<scalar_t, acc_t><<<static_cast<unsigned>(s.channels), threads_for(s.spatial), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), in.const_data_ptr<scalar_t>(), means.const_data_ptr<acc_t>(), rstds.const_data_ptr<acc_t>(),
        weight ? grad_weight.mutable_data_ptr<scalar_t>() : nullptr, bias ? grad_bias.mutable_data_ptr<scalar_t>() : nullptr, s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor");
  m.def("group_norm_backward(Tensor grad, Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("group_norm", &group_norm_cuda);
  m.impl("group_norm_backward", &group_norm_backward_cuda);
}

// Sums of the rows of x that carry the same number: out[index[i]] += x[i], as jax.ops.segment_sum has it. The index need not be sorted; a
// row whose number is in no segment is an error.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <vector>

namespace {

constexpr int kThreads = 256;
// A thread adds up this many rows of one column before it goes to memory, so that a sorted index costs few atomics.
constexpr int64_t kRun = 8;

template <typename scalar_t, typename acc_t, typename index_t>
__global__ void segment_sum_kernel(const scalar_t* __restrict__ x, const index_t* __restrict__ index, acc_t* __restrict__ sums,
                                   int64_t rows, int64_t width, int64_t segments) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t first = i / width * kRun, column = i % width;
  if (first >= rows) return;
  const int64_t end = first + kRun < rows ? first + kRun : rows;
  int64_t segment = -1;
  acc_t sum = 0;
  for (int64_t row = first; row < end; ++row) {
    const int64_t next = index[row];
    CUDA_KERNEL_ASSERT(next >= 0 && next < segments && "segment_sum: an index is not a segment");
    if (next != segment) {
      if (segment >= 0) atomicAdd(&sums[segment * width + column], sum);
      segment = next;
      sum = 0;
    }
    sum += static_cast<acc_t>(x[row * width + column]);
  }
  atomicAdd(&sums[segment * width + column], sum);
}

template <typename scalar_t, typename index_t>
__global__ void segment_sum_backward_kernel(const scalar_t* __restrict__ grad, const index_t* __restrict__ index,
                                            scalar_t* __restrict__ grad_x, int64_t n, int64_t width) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) grad_x[i] = grad[int64_t{index[i / width]} * width + i % width];
}

void check_index(const char* op, const at::Tensor& values, const at::Tensor& index) {
  TORCH_CHECK(values.is_cuda() && values.device() == index.device(), op, ": the tensors are on ", values.device(), " and ", index.device());
  TORCH_CHECK(index.dim() == 1, op, ": expected an index of one dimension, got the shape ", index.sizes());
  TORCH_CHECK(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt, op, ": expected an index of Long or Int, got ",
              index.scalar_type());
  TORCH_CHECK(values.dim() >= 1, op, ": the values have no dimension of rows");
}

at::Tensor segment_sum_cuda(const at::Tensor& x, const at::Tensor& index, int64_t num_segments) {
  check_index("segment_sum", x, index);
  TORCH_CHECK(x.size(0) == index.size(0), "segment_sum: x has ", x.size(0), " rows, the index ", index.size(0));
  TORCH_CHECK_VALUE(num_segments >= 0, "segment_sum: num_segments is ", num_segments);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous(), segments = index.contiguous();
  std::vector<int64_t> shape = in.sizes().vec();
  shape[0] = num_segments;
  if (in.numel() == 0) return at::zeros(shape, in.options());
  const int64_t rows = in.size(0), width = in.numel() / rows;
  const int64_t blocks = at::ceil_div(at::ceil_div(rows, kRun) * width, int64_t{kThreads});
  at::Tensor out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "segment_sum", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    // In half precision a sum of many rows would stop growing, so it is kept in the wider type to the end.
    at::Tensor sums = at::zeros(shape, in.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
    AT_DISPATCH_INDEX_TYPES(segments.scalar_type(), "segment_sum", [&] {
      segment_sum_kernel<scalar_t, acc_t, index_t><<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
          in.const_data_ptr<scalar_t>(), segments.const_data_ptr<index_t>(), sums.mutable_data_ptr<acc_t>(), rows, width, num_segments);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    out = sums.to(in.scalar_type());
  });
  return out;
}

at::Tensor segment_sum_backward_cuda(const at::Tensor& grad, const at::Tensor& index) {
  check_index("segment_sum_backward", grad, index);
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), segments = index.contiguous();
  std::vector<int64_t> shape = g.sizes().vec();
  shape[0] = segments.size(0);
  at::Tensor grad_x = at::empty(shape, g.options());
  const int64_t n = grad_x.numel();
  if (n == 0) return grad_x;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "segment_sum_backward", [&] {
    AT_DISPATCH_INDEX_TYPES(segments.scalar_type(), "segment_sum_backward", [&] {
      segment_sum_backward_kernel<scalar_t, index_t>
          <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
              g.const_data_ptr<scalar_t>(), segments.const_data_ptr<index_t>(), grad_x.mutable_data_ptr<scalar_t>(), n, n / segments.size(0));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
  return grad_x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("segment_sum(Tensor x, Tensor index, int num_segments) -> Tensor");
  m.def("segment_sum_backward(Tensor grad, Tensor index) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("segment_sum", &segment_sum_cuda);
  m.impl("segment_sum_backward", &segment_sum_backward_cuda);
}

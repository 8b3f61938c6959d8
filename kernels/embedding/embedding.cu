// Rows of a table by their numbers, as torch.nn.functional.embedding has it: Bengio et al., "A Neural Probabilistic Language Model", 2003,
// section 2. The row `padding_idx` gets no gradient.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <optional>
#include <vector>

namespace {

constexpr int kThreads = 256;

template <typename scalar_t, typename index_t>
__global__ void embedding_kernel(const index_t* __restrict__ input, const scalar_t* __restrict__ weight, scalar_t* __restrict__ out,
                                 int64_t n, int64_t rows, int64_t width) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t row = input[i / width];
  CUDA_KERNEL_ASSERT(row >= 0 && row < rows && "embedding: an index is outside the table");
  out[i] = weight[row * width + i % width];
}

// One number may occur many times, so the rows are added to with atomics, and in the wider type: in half precision a sum of many
// gradients would stop growing.
template <typename scalar_t, typename acc_t, typename index_t>
__global__ void embedding_backward_kernel(const scalar_t* __restrict__ grad, const index_t* __restrict__ input,
                                          acc_t* __restrict__ grad_weight, int64_t n, int64_t rows, int64_t width, int64_t padding_idx) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t row = input[i / width];
  CUDA_KERNEL_ASSERT(row >= 0 && row < rows && "embedding_backward: an index is outside the table");
  if (row != padding_idx) atomicAdd(&grad_weight[row * width + i % width], static_cast<acc_t>(grad[i]));
}

void check_table(const char* op, const at::Tensor& input, const at::Tensor& weight, std::optional<int64_t> padding_idx) {
  TORCH_CHECK(weight.is_cuda() && weight.device() == input.device(), op, ": the tensors are on ", input.device(), " and ", weight.device());
  TORCH_CHECK(weight.dim() == 2, op, ": expected a weight of [rows, width], got the shape ", weight.sizes());
  TORCH_CHECK(input.scalar_type() == at::kLong || input.scalar_type() == at::kInt, op, ": expected indices of Long or Int, got ",
              input.scalar_type());
  TORCH_CHECK(!padding_idx || (*padding_idx >= -weight.size(0) && *padding_idx < weight.size(0)),
              op, ": padding_idx is outside the ", weight.size(0), " rows of the weight");
}

at::Tensor embedding_cuda(const at::Tensor& input, const at::Tensor& weight, std::optional<int64_t> padding_idx) {
  check_table("embedding", input, weight, padding_idx);
  const c10::cuda::CUDAGuard guard(weight.device());
  const at::Tensor indices = input.contiguous(), table = weight.contiguous();
  std::vector<int64_t> shape = indices.sizes().vec();
  shape.push_back(table.size(1));
  at::Tensor out = at::empty(shape, table.options());
  const int64_t n = out.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, table.scalar_type(), "embedding", [&] {
    AT_DISPATCH_INDEX_TYPES(indices.scalar_type(), "embedding", [&] {
      embedding_kernel<scalar_t, index_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
          indices.const_data_ptr<index_t>(), table.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), n, table.size(0),
          table.size(1));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
  return out;
}

at::Tensor embedding_backward_cuda(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight,
                                   std::optional<int64_t> padding_idx) {
  check_table("embedding_backward", input, weight, padding_idx);
  TORCH_CHECK(grad.device() == weight.device(), "embedding_backward: grad is on ", grad.device(), ", the weight on ", weight.device());
  TORCH_CHECK(grad.scalar_type() == weight.scalar_type(), "embedding_backward: grad is of ", grad.scalar_type(), ", the weight of ",
              weight.scalar_type());
  TORCH_CHECK(grad.dim() == input.dim() + 1 && grad.sizes().slice(0, input.dim()) == input.sizes() && grad.size(-1) == weight.size(1),
              "embedding_backward: grad is ", grad.sizes(), " for indices of ", input.sizes(), " and a weight of ", weight.sizes());
  const c10::cuda::CUDAGuard guard(weight.device());
  const at::Tensor g = grad.contiguous(), indices = input.contiguous();
  const int64_t n = g.numel(), rows = weight.size(0);
  if (n == 0) return at::zeros(weight.sizes(), weight.options());
  int64_t padding = padding_idx.value_or(-rows - 1);
  if (padding_idx && padding < 0) padding += rows;
  at::Tensor grad_weight;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "embedding_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    at::Tensor sums = at::zeros(weight.sizes(), g.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
    AT_DISPATCH_INDEX_TYPES(indices.scalar_type(), "embedding_backward", [&] {
      embedding_backward_kernel<scalar_t, acc_t, index_t>
          <<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
              g.const_data_ptr<scalar_t>(), indices.const_data_ptr<index_t>(), sums.mutable_data_ptr<acc_t>(), n, rows, weight.size(1),
              padding);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    grad_weight = sums.to(g.scalar_type());
  });
  return grad_weight;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("embedding(Tensor input, Tensor weight, int? padding_idx=None) -> Tensor");
  m.def("embedding_backward(Tensor grad, Tensor input, Tensor weight, int? padding_idx) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("embedding", &embedding_cuda);
  m.impl("embedding_backward", &embedding_backward_cuda);
}

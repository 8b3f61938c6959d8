// log(softmax(x)) along one dimension, from the greatest element down so that nothing overflows: Goodfellow, Bengio and Courville,
// "Deep Learning", 2016, section 4.1.

#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>

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

// The greatest value of the block, likewise.
template <typename acc_t>
__device__ acc_t block_max(acc_t value) {
  __shared__ acc_t partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? partial[lane] : acc_t(-INFINITY);
  for (int offset = 16; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();  // The next call writes `partial` again.
  return value;
}

// A tensor seen as rows along one dimension: element i of row r is at r / inner * size * inner + r % inner + i * inner.
struct Rows {
  int64_t count, size, inner;
  __device__ int64_t first(int64_t row) const { return row / inner * size * inner + row % inner; }
};

Rows rows_along(const char* op, const at::Tensor& x, int64_t dim) {
  const int64_t rank = std::max<int64_t>(x.dim(), 1);
  TORCH_CHECK_INDEX(dim >= -rank && dim < rank, op, ": dim is ", dim, ", expected it in [", -rank, ", ", rank - 1, "]");
  if (x.dim() == 0) return {1, 1, 1};
  if (dim < 0) dim += rank;
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= x.size(d);
  for (int64_t d = dim + 1; d < rank; ++d) inner *= x.size(d);
  return {outer * inner, x.size(dim), inner};
}

// Short rows get few threads; the kernels loop over rows, so that any number of them fits a grid.
int threads_for(int64_t size) { return size <= 64 ? 32 : size <= 512 ? 128 : 256; }
unsigned blocks_for(int64_t rows) { return static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)); }

template <typename scalar_t, typename acc_t>
__global__ void log_softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, Rows rows) {
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const int64_t first = rows.first(row);
    acc_t greatest = -INFINITY;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) greatest = max(greatest, static_cast<acc_t>(x[first + i * rows.inner]));
    greatest = block_max(greatest);
    acc_t sum = 0;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) sum += exp(static_cast<acc_t>(x[first + i * rows.inner]) - greatest);
    const acc_t log_sum = log(block_sum(sum));
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      const int64_t at = first + i * rows.inner;
      out[at] = static_cast<scalar_t>((static_cast<acc_t>(x[at]) - greatest) - log_sum);
    }
  }
}

// The Jacobian is I - 1 softmax^T, so grad_x = grad - softmax * sum(grad).
template <typename scalar_t, typename acc_t>
__global__ void log_softmax_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ output,
                                       scalar_t* __restrict__ grad_x, Rows rows) {
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const int64_t first = rows.first(row);
    acc_t sum = 0;
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      sum += static_cast<acc_t>(grad[first + i * rows.inner]);
    }
    sum = block_sum(sum);
    for (int64_t i = threadIdx.x; i < rows.size; i += blockDim.x) {
      const int64_t at = first + i * rows.inner;
      grad_x[at] = static_cast<scalar_t>(static_cast<acc_t>(grad[at]) - exp(static_cast<acc_t>(output[at])) * sum);
    }
  }
}

at::Tensor log_softmax_cuda(const at::Tensor& x, int64_t dim) {
  TORCH_CHECK(x.is_cuda(), "log_softmax: expected a CUDA tensor, got one on ", x.device());
  const Rows rows = rows_along("log_softmax", x, dim);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty_like(in);
  if (out.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "log_softmax", [&] {
    log_softmax_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<blocks_for(rows.count), threads_for(rows.size), 0, at::cuda::getCurrentCUDAStream()>>>(
            in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), rows);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor log_softmax_backward_cuda(const at::Tensor& grad, const at::Tensor& output, int64_t dim) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == output.device(), "log_softmax_backward: the tensors are on ", grad.device(), " and ",
              output.device());
  TORCH_CHECK(grad.sizes() == output.sizes(), "log_softmax_backward: grad is ", grad.sizes(), ", output is ", output.sizes());
  TORCH_CHECK(grad.scalar_type() == output.scalar_type(), "log_softmax_backward: grad is of ", grad.scalar_type(), ", output of ",
              output.scalar_type());
  const Rows rows = rows_along("log_softmax_backward", output, dim);
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), out = output.contiguous();
  at::Tensor grad_x = at::empty_like(g);
  if (g.numel() == 0) return grad_x;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "log_softmax_backward", [&] {
    log_softmax_backward_kernel<scalar_t, at::opmath_type<scalar_t>>
        <<<blocks_for(rows.count), threads_for(rows.size), 0, at::cuda::getCurrentCUDAStream()>>>(
            g.const_data_ptr<scalar_t>(), out.const_data_ptr<scalar_t>(), grad_x.mutable_data_ptr<scalar_t>(), rows);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("log_softmax(Tensor x, int dim=-1) -> Tensor");
  m.def("log_softmax_backward(Tensor grad, Tensor output, int dim) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("log_softmax", &log_softmax_cuda);
  m.impl("log_softmax_backward", &log_softmax_backward_cuda);
}

// The running sum along a dimension: each warp scans by shuffles (Hillis and Steele, "Data Parallel Algorithms", 1986, section on sums), each
// thread adds the warps before its own, and the block carries its total on to the next stretch of the row. Integers sum in 64 bits.

#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>

namespace {

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

// Backwards it sums from each element to the end of the row, which is the gradient of the running sum.
template <typename scalar_t, typename acc_t, bool backwards>
__global__ void cumsum_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, Rows rows) {
  __shared__ acc_t totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const int64_t first = rows.first(row);
    acc_t carry = 0;
    for (int64_t base = 0; base < rows.size; base += blockDim.x) {
      const int64_t i = base + threadIdx.x;
      const int64_t at = first + (backwards ? rows.size - 1 - i : i) * rows.inner;
      acc_t sum = i < rows.size ? static_cast<acc_t>(x[at]) : acc_t(0);
      for (int offset = 1; offset < 32; offset *= 2) {
        const acc_t other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += other;
      }
      if (lane == 31) totals[warp] = sum;
      __syncthreads();
      acc_t before = carry;
      for (int w = 0; w < warps; ++w) {
        if (w < warp) before += totals[w];
        carry += totals[w];
      }
      if (i < rows.size) out[at] = static_cast<scalar_t>(before + sum);
      __syncthreads();  // The next stretch writes `totals` again.
    }
  }
}

template <bool backwards>
at::Tensor running_sum(const char* op, const at::Tensor& x, int64_t dim) {
  TORCH_CHECK(x.is_cuda(), op, ": expected a CUDA tensor, got one on ", x.device());
  const Rows rows = rows_along(op, x, dim);
  const c10::cuda::CUDAGuard guard(x.device());
  const bool integral = at::isIntegralType(x.scalar_type(), /*includeBool=*/true);
  const at::Tensor in = (integral ? x.to(at::kLong) : x).contiguous();
  at::Tensor out = at::empty_like(in);
  if (in.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND3(at::kHalf, at::kBFloat16, at::kLong, in.scalar_type(), "cumsum", [&] {
    cumsum_kernel<scalar_t, at::opmath_type<scalar_t>, backwards>
        <<<blocks_for(rows.count), threads_for(rows.size), 0, at::cuda::getCurrentCUDAStream()>>>(
            in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), rows);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor cumsum_cuda(const at::Tensor& x, int64_t dim) { return running_sum<false>("cumsum", x, dim); }

at::Tensor cumsum_backward_cuda(const at::Tensor& grad, int64_t dim) { return running_sum<true>("cumsum_backward", grad, dim); }

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("cumsum(Tensor x, int dim) -> Tensor");
  m.def("cumsum_backward(Tensor grad, int dim) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("cumsum", &cumsum_cuda);
  m.impl("cumsum_backward", &cumsum_backward_cuda);
}

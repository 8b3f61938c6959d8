// Matrix product of [..., m, k] and [..., k, n] with the same leading sizes, in tiles of shared memory: NVIDIA, "CUDA C++ Programming
// Guide", section on shared memory. Each thread sums four rows of the tile, so that one read of shared memory serves four products.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace {

constexpr int kTile = 32;
constexpr int kPerThread = 4;
constexpr int kLanes = kTile / kPerThread;

// A batch of matrices; by its strides a transposed one needs no copy.
template <typename scalar_t>
struct Matrices {
  const scalar_t* data;
  int64_t batch_stride, row_stride, column_stride;
  __device__ scalar_t at(int64_t batch, int64_t row, int64_t column) const {
    return data[batch * batch_stride + row * row_stride + column * column_stride];
  }
};

template <typename scalar_t, typename acc_t>
__global__ void matmul_kernel(Matrices<scalar_t> a, Matrices<scalar_t> b, scalar_t* __restrict__ out, int64_t batches, int64_t m,
                              int64_t n, int64_t k) {
  __shared__ acc_t left[kTile][kTile + 1], right[kTile][kTile + 1];
  const int64_t tiles_across = at::ceil_div(n, int64_t{kTile});
  const int64_t first_row = blockIdx.x / tiles_across * kTile, first_column = blockIdx.x % tiles_across * kTile;
  const int x = threadIdx.x, y = threadIdx.y;
  for (int64_t batch = blockIdx.y; batch < batches; batch += gridDim.y) {
    acc_t sum[kPerThread] = {};
    for (int64_t first = 0; first < k; first += kTile) {
      for (int r = y; r < kTile; r += kLanes) {
        const bool in_left = first_row + r < m && first + x < k, in_right = first + r < k && first_column + x < n;
        left[r][x] = in_left ? static_cast<acc_t>(a.at(batch, first_row + r, first + x)) : acc_t(0);
        right[r][x] = in_right ? static_cast<acc_t>(b.at(batch, first + r, first_column + x)) : acc_t(0);
      }
      __syncthreads();
      for (int i = 0; i < kTile; ++i) {
        const acc_t factor = right[i][x];
#pragma unroll
        for (int r = 0; r < kPerThread; ++r) sum[r] += left[y + r * kLanes][i] * factor;
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < kPerThread; ++r) {
      const int64_t row = first_row + y + r * kLanes, column = first_column + x;
      if (row < m && column < n) out[(batch * m + row) * n + column] = static_cast<scalar_t>(sum[r]);
    }
  }
}

template <typename scalar_t>
Matrices<scalar_t> matrices(const at::Tensor& x, bool transposed) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const scalar_t* data = x.const_data_ptr<scalar_t>();
  return transposed ? Matrices<scalar_t>{data, rows * columns, 1, columns} : Matrices<scalar_t>{data, rows * columns, columns, 1};
}

// The product of contiguous tensors, each taken transposed if so said.
at::Tensor product(const at::Tensor& a, bool a_transposed, const at::Tensor& b, bool b_transposed) {
  const int64_t m = a.size(a_transposed ? -1 : -2), k = a.size(a_transposed ? -2 : -1), n = b.size(b_transposed ? -2 : -1);
  std::vector<int64_t> shape = a.sizes().vec();
  int64_t batches = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) batches *= shape[d];
  shape[shape.size() - 2] = m;
  shape[shape.size() - 1] = n;
  at::Tensor out = at::empty(shape, a.options());
  if (out.numel() == 0) return out;
  const int64_t tiles = at::ceil_div(m, int64_t{kTile}) * at::ceil_div(n, int64_t{kTile});
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(std::min<int64_t>(batches, 65535)));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "matmul", [&] {
    matmul_kernel<scalar_t, at::opmath_type<scalar_t>><<<grid, dim3(kTile, kLanes), 0, at::cuda::getCurrentCUDAStream()>>>(
        matrices<scalar_t>(a, a_transposed), matrices<scalar_t>(b, b_transposed), out.mutable_data_ptr<scalar_t>(), batches, m, n, k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

void check_factors(const char* op, const at::Tensor& input, const at::Tensor& other) {
  TORCH_CHECK(input.is_cuda() && input.device() == other.device(), op, ": the tensors are on ", input.device(), " and ", other.device());
  TORCH_CHECK(input.dim() >= 2 && input.dim() == other.dim(), op, ": expected two matrices or two batches of them, got the shapes ", input.sizes(),
              " and ", other.sizes());
  TORCH_CHECK(input.scalar_type() == other.scalar_type(), op, ": the tensors are of ", input.scalar_type(), " and ", other.scalar_type());
  const int64_t leading = input.dim() - 2;
  TORCH_CHECK(input.sizes().slice(0, leading) == other.sizes().slice(0, leading), op, ": the batches ", input.sizes(), " and ", other.sizes(),
              " differ");
  TORCH_CHECK(input.size(-1) == other.size(-2), op, ": ", input.sizes(), " has ", input.size(-1), " columns, ", other.sizes(), " has ",
              other.size(-2), " rows");
}

at::Tensor matmul_cuda(const at::Tensor& input, const at::Tensor& other) {
  check_factors("matmul", input, other);
  const c10::cuda::CUDAGuard guard(input.device());
  return product(input.contiguous(), false, other.contiguous(), false);
}

// For C = A B: dA = dC B^T and dB = A^T dC.
std::tuple<at::Tensor, at::Tensor> matmul_backward_cuda(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& other) {
  check_factors("matmul_backward", input, other);
  check_factors("matmul_backward", grad, other.transpose(-2, -1));
  TORCH_CHECK(grad.size(-2) == input.size(-2), "matmul_backward: grad is ", grad.sizes(), " for the factors ", input.sizes(), " and ", other.sizes());
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous();
  return {product(g, false, other.contiguous(), true), product(input.contiguous(), true, g, false)};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("matmul(Tensor input, Tensor other) -> Tensor");
  m.def("matmul_backward(Tensor grad, Tensor input, Tensor other) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("matmul", &matmul_cuda);
  m.impl("matmul_backward", &matmul_backward_cuda);
}

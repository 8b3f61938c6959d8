// softmax(scale * Q K^T) V where a query sees the keys up to its own position, over tensors of [batch, heads, seq, dim], without the matrix of
// scores in memory. The softmax is taken as the keys come by: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018,
// algorithm 3; Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022, algorithm 1, and for the
// backward appendix B.4. Without a scale it is 1 / sqrt(dim).
//
// A warp has one query (or one key, in one kernel of the backward) and looks at 32 positions at a time, one for each lane; the dimensions of
// its result are spread over the lanes. No atomics: the results are the same in every run.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace {

constexpr int kWarps = 8;
constexpr int kLanes = 32;
constexpr int kPerLane = 8;
constexpr int kMaxDim = kPerLane * kLanes;
constexpr unsigned kAll = 0xffffffffu;

struct Shape {
  int64_t batches, queries, keys;
  int dim;
};

template <typename acc_t>
__device__ acc_t warp_sum(acc_t value) {
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAll, value, offset);
  return value;
}

template <typename acc_t>
__device__ acc_t warp_max(acc_t value) {
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(kAll, value, offset));
  return value;
}

// The product of a warp's vector with row `first + lane` of a matrix. The whole block takes part: it brings the 32 rows into `tile` 32
// columns at a time, read along the rows, and the padding column keeps the lanes in different banks when they go down it.
template <typename scalar_t, typename acc_t>
__device__ acc_t dot_with_row(const scalar_t* vector, const scalar_t* matrix, int64_t first, int64_t rows, int dim,
                              acc_t (&tile)[kLanes][kLanes + 1]) {
  const int lane = threadIdx.x, warp = threadIdx.y;
  acc_t sum = 0;
  for (int base = 0; base < dim; base += kLanes) {
    __syncthreads();
    for (int r = warp; r < kLanes; r += kWarps) {
      const bool inside = first + r < rows && base + lane < dim;
      tile[r][lane] = inside ? static_cast<acc_t>(matrix[(first + r) * dim + base + lane]) : acc_t(0);
    }
    __syncthreads();
    const int columns = min(kLanes, dim - base);
    for (int c = 0; c < columns; ++c) sum += static_cast<acc_t>(vector[base + c]) * tile[lane][c];
  }
  return sum;
}

// result += sum over lanes j of factor_j * matrix[first + j]
template <typename scalar_t, typename acc_t>
__device__ void add_rows(acc_t (&result)[kPerLane], acc_t factor, const scalar_t* matrix, int64_t first, int64_t rows, int dim) {
  const int count = static_cast<int>(min(int64_t{kLanes}, rows - first));
  for (int j = 0; j < count; ++j) {
    const acc_t f = __shfl_sync(kAll, factor, j);
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int d = threadIdx.x + i * kLanes;
      if (d < dim) result[i] += f * static_cast<acc_t>(matrix[(first + j) * dim + d]);
    }
  }
}

template <typename scalar_t, typename acc_t>
__device__ void store(scalar_t* out, const acc_t (&result)[kPerLane], acc_t factor, int dim) {
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int d = threadIdx.x + i * kLanes;
    if (d < dim) out[d] = static_cast<scalar_t>(factor * result[i]);
  }
}

template <typename scalar_t, typename acc_t>
__global__ void attention_kernel(const scalar_t* __restrict__ query, const scalar_t* __restrict__ key, const scalar_t* __restrict__ value,
                                 scalar_t* __restrict__ out, Shape s, acc_t scale) {
  __shared__ acc_t tile[kLanes][kLanes + 1];
  const int64_t first_row = int64_t{blockIdx.x} * kWarps, row = first_row + threadIdx.y;
  // Warps past the last query go along with it, for the barriers' sake, and store nothing.
  const int64_t mine = min(row, s.queries - 1), end = min(min(first_row + kWarps, s.queries), s.keys);
  for (int64_t batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    const scalar_t* q = query + (batch * s.queries + mine) * s.dim;
    const scalar_t* k = key + batch * s.keys * s.dim;
    const scalar_t* v = value + batch * s.keys * s.dim;
    acc_t greatest = -INFINITY, total = 0, result[kPerLane] = {};
    for (int64_t first = 0; first < end; first += kLanes) {
      const int64_t column = first + threadIdx.x;
      const bool seen = column <= mine && column < s.keys;
      const acc_t score = scale * dot_with_row(q, k, first, s.keys, s.dim, tile);
      const acc_t next = max(greatest, warp_max(seen ? score : acc_t(-INFINITY)));
      // What has been summed so far was relative to the old maximum.
      const acc_t correction = exp(greatest - next);
      const acc_t weight = seen ? exp(score - next) : acc_t(0);
      total = total * correction + warp_sum(weight);
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) result[i] *= correction;
      add_rows(result, weight, v, first, s.keys, s.dim);
      greatest = next;
    }
    if (row < s.queries) store(out + (batch * s.queries + row) * s.dim, result, acc_t(1) / total, s.dim);
  }
}

// For each query, log(sum(exp(scores))) and grad . output: with them the weights come back one by one, and the softmax's gradient is
// weight * (grad . value - grad . output).
template <typename scalar_t, typename acc_t>
__global__ void row_terms_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ output, const scalar_t* __restrict__ query,
                                 const scalar_t* __restrict__ key, acc_t* __restrict__ log_sums, acc_t* __restrict__ deltas, Shape s,
                                 acc_t scale) {
  __shared__ acc_t tile[kLanes][kLanes + 1];
  const int64_t first_row = int64_t{blockIdx.x} * kWarps, row = first_row + threadIdx.y;
  const int64_t mine = min(row, s.queries - 1), end = min(min(first_row + kWarps, s.queries), s.keys);
  for (int64_t batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    const int64_t at = (batch * s.queries + mine) * s.dim;
    acc_t greatest = -INFINITY, total = 0, delta = 0;
    for (int64_t first = 0; first < end; first += kLanes) {
      const int64_t column = first + threadIdx.x;
      const bool seen = column <= mine && column < s.keys;
      const acc_t score = scale * dot_with_row(query + at, key + batch * s.keys * s.dim, first, s.keys, s.dim, tile);
      const acc_t next = max(greatest, warp_max(seen ? score : acc_t(-INFINITY)));
      total = total * exp(greatest - next) + warp_sum(seen ? exp(score - next) : acc_t(0));
      greatest = next;
    }
    for (int d = threadIdx.x; d < s.dim; d += kLanes) delta += static_cast<acc_t>(grad[at + d]) * static_cast<acc_t>(output[at + d]);
    delta = warp_sum(delta);
    if (row < s.queries && threadIdx.x == 0) {
      log_sums[batch * s.queries + row] = greatest + log(total);
      deltas[batch * s.queries + row] = delta;
    }
  }
}

template <typename scalar_t, typename acc_t>
__global__ void grad_query_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ query, const scalar_t* __restrict__ key,
                                  const scalar_t* __restrict__ value, const acc_t* __restrict__ log_sums, const acc_t* __restrict__ deltas,
                                  scalar_t* __restrict__ grad_query, Shape s, acc_t scale) {
  __shared__ acc_t tile[kLanes][kLanes + 1];
  const int64_t first_row = int64_t{blockIdx.x} * kWarps, row = first_row + threadIdx.y;
  const int64_t mine = min(row, s.queries - 1), end = min(min(first_row + kWarps, s.queries), s.keys);
  for (int64_t batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    const int64_t term = batch * s.queries + mine;
    const scalar_t* k = key + batch * s.keys * s.dim;
    acc_t result[kPerLane] = {};
    for (int64_t first = 0; first < end; first += kLanes) {
      const int64_t column = first + threadIdx.x;
      const bool seen = column <= mine && column < s.keys;
      const acc_t score = scale * dot_with_row(query + term * s.dim, k, first, s.keys, s.dim, tile);
      const acc_t through = dot_with_row(grad + term * s.dim, value + batch * s.keys * s.dim, first, s.keys, s.dim, tile);
      const acc_t weight = seen ? exp(score - log_sums[term]) : acc_t(0);
      add_rows(result, weight * (through - deltas[term]), k, first, s.keys, s.dim);
    }
    if (row < s.queries) store(grad_query + (batch * s.queries + row) * s.dim, result, scale, s.dim);
  }
}

// A warp has one key here, and its lanes 32 of the queries that see it.
template <typename scalar_t, typename acc_t>
__global__ void grad_key_value_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ query, const scalar_t* __restrict__ key,
                                      const scalar_t* __restrict__ value, const acc_t* __restrict__ log_sums,
                                      const acc_t* __restrict__ deltas, scalar_t* __restrict__ grad_key, scalar_t* __restrict__ grad_value,
                                      Shape s, acc_t scale) {
  __shared__ acc_t tile[kLanes][kLanes + 1];
  const int64_t first_key = int64_t{blockIdx.x} * kWarps, row = first_key + threadIdx.y, mine = min(row, s.keys - 1);
  for (int64_t batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    const int64_t at = (batch * s.keys + mine) * s.dim;
    const scalar_t* q = query + batch * s.queries * s.dim;
    const scalar_t* g = grad + batch * s.queries * s.dim;
    acc_t for_key[kPerLane] = {}, for_value[kPerLane] = {};
    for (int64_t first = first_key; first < s.queries; first += kLanes) {
      const int64_t i = first + threadIdx.x;
      const bool sees = i >= mine && i < s.queries;
      const acc_t score = scale * dot_with_row(key + at, q, first, s.queries, s.dim, tile);
      const acc_t through = dot_with_row(value + at, g, first, s.queries, s.dim, tile);
      const int64_t term = batch * s.queries + min(i, s.queries - 1);
      const acc_t weight = sees ? exp(score - log_sums[term]) : acc_t(0);
      add_rows(for_value, weight, g, first, s.queries, s.dim);
      add_rows(for_key, weight * (through - deltas[term]), q, first, s.queries, s.dim);
    }
    if (row >= s.keys) continue;
    store(grad_key + at, for_key, scale, s.dim);
    store(grad_value + at, for_value, acc_t(1), s.dim);
  }
}

Shape check_arguments(const char* op, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  TORCH_CHECK(query.is_cuda() && query.device() == key.device() && query.device() == value.device(),
              op, ": the tensors are on ", query.device(), ", ", key.device(), " and ", value.device());
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4, op, ": expected tensors of [batch, heads, seq, dim], got the shapes ", query.sizes(), " and ",
              key.sizes());
  TORCH_CHECK(key.sizes() == value.sizes(), op, ": key has the shape ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(query.size(0) == key.size(0) && query.size(1) == key.size(1) && query.size(3) == key.size(3),
              op, ": query has the shape ", query.sizes(), ", key ", key.sizes(), ", which may differ in seq alone");
  TORCH_CHECK(query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(),
              op, ": query is of ", query.scalar_type(), ", key of ", key.scalar_type(), ", value of ", value.scalar_type());
  TORCH_CHECK(query.size(3) <= kMaxDim, op, ": dim is ", query.size(3), ", expected at most ", kMaxDim);
  TORCH_CHECK(query.numel() == 0 || key.size(2) > 0, op, ": there are no keys");
  return {query.size(0) * query.size(1), query.size(2), key.size(2), static_cast<int>(query.size(3))};
}

// A block for every kWarps rows, and the batches and heads across the second dimension.
dim3 grid_for(int64_t rows, int64_t batches) {
  return dim3(static_cast<unsigned>(at::ceil_div(rows, int64_t{kWarps})), static_cast<unsigned>(std::min<int64_t>(batches, 65535)));
}

at::Tensor causal_attention_cuda(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::optional<double> scale) {
  const Shape s = check_arguments("causal_attention", query, key, value);
  const c10::cuda::CUDAGuard guard(query.device());
  const at::Tensor q = query.contiguous(), k = key.contiguous(), v = value.contiguous();
  at::Tensor out = at::empty_like(q);
  if (out.numel() == 0) return out;
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(s.dim));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "causal_attention", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    attention_kernel<scalar_t, acc_t><<<grid_for(s.queries, s.batches), dim3(kLanes, kWarps), 0, at::cuda::getCurrentCUDAStream()>>>(
        q.const_data_ptr<scalar_t>(), k.const_data_ptr<scalar_t>(), v.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), s,
        static_cast<acc_t>(factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> causal_attention_backward_cuda(const at::Tensor& grad, const at::Tensor& output,
                                                                              const at::Tensor& query, const at::Tensor& key,
                                                                              const at::Tensor& value, std::optional<double> scale) {
  const Shape s = check_arguments("causal_attention_backward", query, key, value);
  TORCH_CHECK(grad.device() == query.device() && output.device() == query.device(),
              "causal_attention_backward: grad is on ", grad.device(), ", output on ", output.device(), ", query on ", query.device());
  TORCH_CHECK(grad.sizes() == query.sizes() && output.sizes() == query.sizes(),
              "causal_attention_backward: grad is ", grad.sizes(), ", output is ", output.sizes(), ", query is ", query.sizes());
  TORCH_CHECK(grad.scalar_type() == query.scalar_type() && output.scalar_type() == query.scalar_type(),
              "causal_attention_backward: grad is of ", grad.scalar_type(), ", output of ", output.scalar_type(), ", query of ", query.scalar_type());
  const c10::cuda::CUDAGuard guard(query.device());
  const at::Tensor g = grad.contiguous(), o = output.contiguous(), q = query.contiguous(), k = key.contiguous(), v = value.contiguous();
  // Keys that no query sees keep the gradient 0 when there are no queries at all.
  at::Tensor grad_query = at::empty_like(q), grad_key = at::zeros_like(k), grad_value = at::zeros_like(v);
  if (q.numel() == 0) return {grad_query, grad_key, grad_value};
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(s.dim));
  const dim3 block(kLanes, kWarps), query_grid = grid_for(s.queries, s.batches), key_grid = grid_for(s.keys, s.batches);
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "causal_attention_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const auto options = q.options().dtype(c10::CppTypeToScalarType<acc_t>::value);
    at::Tensor log_sums = at::empty({s.batches * s.queries}, options), deltas = at::empty({s.batches * s.queries}, options);
    const scalar_t *g_data = g.const_data_ptr<scalar_t>(), *q_data = q.const_data_ptr<scalar_t>();
    const scalar_t *k_data = k.const_data_ptr<scalar_t>(), *v_data = v.const_data_ptr<scalar_t>();
    row_terms_kernel<scalar_t, acc_t><<<query_grid, block, 0, stream>>>(
        g_data, o.const_data_ptr<scalar_t>(), q_data, k_data, log_sums.mutable_data_ptr<acc_t>(), deltas.mutable_data_ptr<acc_t>(), s,
        static_cast<acc_t>(factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    grad_query_kernel<scalar_t, acc_t><<<query_grid, block, 0, stream>>>(
        g_data, q_data, k_data, v_data, log_sums.const_data_ptr<acc_t>(), deltas.const_data_ptr<acc_t>(),
        grad_query.mutable_data_ptr<scalar_t>(), s, static_cast<acc_t>(factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    grad_key_value_kernel<scalar_t, acc_t><<<key_grid, block, 0, stream>>>(
        g_data, q_data, k_data, v_data, log_sums.const_data_ptr<acc_t>(), deltas.const_data_ptr<acc_t>(),
        grad_key.mutable_data_ptr<scalar_t>(), grad_value.mutable_data_ptr<scalar_t>(), s, static_cast<acc_t>(factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_query, grad_key, grad_value};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("causal_attention(Tensor query, Tensor key, Tensor value, float? scale=None) -> Tensor");
  m.def(
      "causal_attention_backward(Tensor grad, Tensor output, Tensor query, Tensor key, Tensor value, float? scale) -> (Tensor, Tensor, "
      "Tensor)");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("causal_attention", &causal_attention_cuda);
  m.impl("causal_attention_backward", &causal_attention_backward_cuda);
}

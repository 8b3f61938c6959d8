// The k greatest (or least) elements along a dimension, by radix selection: Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection
// Algorithms for Graphics Processing Units", 2012, section 3. Each number becomes an unsigned key of the same order (Terdiman, "Radix Sort
// Revisited", 2000), and the k-th key is found digit by digit. A NaN is greater than every number. Of equal elements the first are taken.

#include <ATen/AccumulateType.h>
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

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kDigits = 256;

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

__device__ uint32_t key_of(float value) {
  if (isnan(value)) return 0xffffffffu;
  // Both zeros are one number, so they get one key.
  const uint32_t bits = __float_as_uint(value == 0.0f ? 0.0f : value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ uint64_t key_of(double value) {
  if (isnan(value)) return ~uint64_t{0};
  const uint64_t bits = static_cast<uint64_t>(__double_as_longlong(value == 0.0 ? 0.0 : value)), sign = uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

__device__ uint64_t key_of(int64_t value) { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }

template <typename acc_t>
struct KeyOf {
  using type = uint64_t;
};
template <>
struct KeyOf<float> {
  using type = uint32_t;
};

// One row of the input, as keys: the k elements wanted have the greatest ones.
template <typename scalar_t, typename acc_t>
struct Keys {
  using key_t = typename KeyOf<acc_t>::type;
  const scalar_t* row;
  int64_t stride;
  bool largest;
  __device__ key_t operator[](int64_t i) const {
    const key_t key = key_of(static_cast<acc_t>(row[i * stride]));
    return largest ? key : static_cast<key_t>(~key);
  }
};

// The k-th greatest key; `taken` becomes the number of elements equal to it that are among the k.
template <typename scalar_t, typename acc_t>
__device__ typename KeyOf<acc_t>::type kth_key(const Keys<scalar_t, acc_t>& keys, int64_t size, int64_t k, int64_t& taken) {
  using key_t = typename KeyOf<acc_t>::type;
  __shared__ unsigned long long counts[kDigits];
  __shared__ int found_digit;
  __shared__ int64_t found_rest;
  key_t prefix = 0, mask = 0;
  int64_t rest = k;
  for (int shift = 8 * sizeof(key_t) - 8; shift >= 0; shift -= 8) {
    for (int digit = threadIdx.x; digit < kDigits; digit += blockDim.x) counts[digit] = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const key_t key = keys[i];
      if ((key & mask) == prefix) atomicAdd(&counts[(key >> shift) & (kDigits - 1)], 1ull);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = kDigits - 1;
      while (static_cast<int64_t>(counts[digit]) < rest) rest -= counts[digit--];
      found_digit = digit;
      found_rest = rest;
    }
    __syncthreads();
    rest = found_rest;
    prefix |= static_cast<key_t>(found_digit) << shift;
    mask |= static_cast<key_t>(kDigits - 1) << shift;
  }
  taken = rest;
  return prefix;
}

// How many threads before this one say yes; `all` becomes the number in the whole block.
__device__ int count_before(bool yes, int& all) {
  __shared__ int in_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned ballot = __ballot_sync(0xffffffffu, yes);
  if (lane == 0) in_warp[warp] = __popc(ballot);
  __syncthreads();
  int before = __popc(ballot & ((1u << lane) - 1));
  all = 0;
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) before += in_warp[w];
    all += in_warp[w];
  }
  __syncthreads();
  return before;
}

// Whether the element at place a comes before the one at b: by key, among equals by place, and -1, which is none, last.
template <typename scalar_t, typename acc_t>
__device__ bool comes_before(const Keys<scalar_t, acc_t>& keys, int64_t a, int64_t b) {
  if (a < 0 || b < 0) return a > b;
  const auto key_a = keys[a], key_b = keys[b];
  return key_a > key_b || (key_a == key_b && a < b);
}

// Sorts the block's places, a power of two of them: Batcher, "Sorting networks and their applications", 1968, the bitonic sorter.
template <typename scalar_t, typename acc_t>
__device__ void sort_places(const Keys<scalar_t, acc_t>& keys, int64_t* places, int64_t count) {
  for (int64_t run = 2; run <= count; run *= 2) {
    for (int64_t stride = run / 2; stride > 0; stride /= 2) {
      for (int64_t i = threadIdx.x; i < count / 2; i += blockDim.x) {
        const int64_t low = 2 * i - (i & (stride - 1)), high = low + stride;
        const int64_t at_low = places[low], at_high = places[high];
        if (comes_before(keys, at_high, at_low) == ((low & run) == 0)) {
          places[low] = at_high;
          places[high] = at_low;
        }
      }
      __syncthreads();
    }
  }
}

// `scratch` has `room` places for each row: k, or as many more as make a power of two where they are to be sorted.
template <typename scalar_t, typename acc_t>
__global__ void topk_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ values, int64_t* __restrict__ indices, int64_t* scratch,
                            int64_t room, Rows rows, int64_t k, bool largest, bool sorted) {
  using key_t = typename KeyOf<acc_t>::type;
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const Keys<scalar_t, acc_t> keys{x + rows.first(row), rows.inner, largest};
    int64_t* chosen = scratch + row * room;
    for (int64_t i = k + threadIdx.x; i < room; i += blockDim.x) chosen[i] = -1;
    int64_t taken;
    const key_t threshold = kth_key(keys, rows.size, k, taken);
    // The elements above the threshold first, then those equal to it, both in the order of the row.
    int64_t above = 0, equal = k - taken;
    for (int64_t base = 0; base < rows.size; base += kThreads) {
      const int64_t i = base + threadIdx.x;
      const key_t key = i < rows.size ? keys[i] : key_t(0);
      const bool is_above = i < rows.size && key > threshold, is_equal = i < rows.size && key == threshold;
      int all_above, all_equal;
      const int64_t to_above = above + count_before(is_above, all_above), to_equal = equal + count_before(is_equal, all_equal);
      if (is_above) chosen[to_above] = i;
      if (is_equal && to_equal < k) chosen[to_equal] = i;
      above += all_above;
      equal += all_equal;
    }
    __syncthreads();
    if (sorted) sort_places(keys, chosen, room);
    const int64_t first_out = row / rows.inner * k * rows.inner + row % rows.inner;
    for (int64_t i = threadIdx.x; i < k; i += blockDim.x) {
      values[first_out + i * rows.inner] = keys.row[chosen[i] * keys.stride];
      indices[first_out + i * rows.inner] = chosen[i];
    }
  }
}

template <typename scalar_t>
__global__ void topk_backward_kernel(const scalar_t* __restrict__ grad, const int64_t* __restrict__ indices, scalar_t* __restrict__ grad_x,
                                     int64_t n, Rows rows, int64_t k) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // No two indices of a row are the same, so nothing is written twice.
  const int64_t outer = i / (k * rows.inner), inner = i % rows.inner;
  CUDA_KERNEL_ASSERT(indices[i] >= 0 && indices[i] < rows.size && "topk_backward: an index is outside the row");
  grad_x[(outer * rows.size + indices[i]) * rows.inner + inner] = grad[i];
}

std::tuple<at::Tensor, at::Tensor> topk_cuda(const at::Tensor& x, int64_t k, int64_t dim, bool largest, bool sorted) {
  TORCH_CHECK(x.is_cuda(), "topk: expected a CUDA tensor, got one on ", x.device());
  const Rows rows = rows_along("topk", x, dim);
  TORCH_CHECK(k >= 0 && k <= rows.size, "topk: k is ", k, ", the dimension has ", rows.size, " elements");
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  std::vector<int64_t> shape = in.sizes().vec();
  if (!shape.empty()) shape[dim < 0 ? dim + in.dim() : dim] = k;
  at::Tensor values = at::empty(shape, in.options()), indices = at::empty(shape, in.options().dtype(at::kLong));
  if (values.numel() == 0) return {values, indices};
  int64_t room = sorted ? 1 : k;
  while (room < k) room *= 2;
  at::Tensor scratch = at::empty({rows.count, room}, indices.options());
  const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(rows.count, 1 << 20));
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "topk", [&] {
    using acc_t = at::acc_type<scalar_t, /*is_cuda=*/true>;
    topk_kernel<scalar_t, acc_t><<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), values.mutable_data_ptr<scalar_t>(), indices.mutable_data_ptr<int64_t>(),
        scratch.mutable_data_ptr<int64_t>(), room, rows, k, largest, sorted);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {values, indices};
}

// `x` gives the shape alone.
at::Tensor topk_backward_cuda(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& indices, int64_t dim) {
  TORCH_CHECK(grad.is_cuda() && grad.device() == indices.device(), "topk_backward: the tensors are on ", grad.device(), " and ", indices.device());
  TORCH_CHECK(grad.sizes() == indices.sizes(), "topk_backward: grad is ", grad.sizes(), ", the indices are ", indices.sizes());
  TORCH_CHECK(grad.dim() == x.dim(), "topk_backward: grad is ", grad.sizes(), ", x is ", x.sizes());
  TORCH_CHECK(indices.scalar_type() == at::kLong, "topk_backward: expected indices of Long, got ", indices.scalar_type());
  const Rows rows = rows_along("topk_backward", x, dim), narrow = rows_along("topk_backward", grad, dim);
  TORCH_CHECK(narrow.inner == rows.inner && (narrow.count == rows.count || grad.numel() == 0), "topk_backward: grad is ", grad.sizes(), ", x is ",
              x.sizes());
  const c10::cuda::CUDAGuard guard(grad.device());
  const at::Tensor g = grad.contiguous(), places = indices.contiguous();
  at::Tensor grad_x = at::zeros(x.sizes(), g.options());
  const int64_t n = g.numel();
  if (n == 0) return grad_x;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "topk_backward", [&] {
    topk_backward_kernel<scalar_t><<<at::ceil_div(n, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        g.const_data_ptr<scalar_t>(), places.const_data_ptr<int64_t>(), grad_x.mutable_data_ptr<scalar_t>(), n, rows, narrow.size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("topk(Tensor x, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)");
  m.def("topk_backward(Tensor grad, Tensor x, Tensor indices, int dim) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("topk", &topk_cuda);
  m.impl("topk_backward", &topk_backward_cuda);
}

// The places of the elements that are not zero, in order, one row of coordinates each. How many there are is known only after a first pass
// has counted them; the second, which knows where each block's places begin, writes them.

#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
// Each block looks at this many elements, kThreads consecutive ones at a time.
constexpr int64_t kChunk = 8 * kThreads;
constexpr int kMaxRank = 16;

struct Shape {
  int rank;
  int64_t sizes[kMaxRank];
};

template <typename scalar_t>
__global__ void count_kernel(const scalar_t* __restrict__ x, int64_t* __restrict__ counts, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kChunk;
  int count = 0;
  for (int64_t base = first; base < first + kChunk; base += kThreads) {
    const int64_t i = base + threadIdx.x;
    count += __syncthreads_count(i < n && x[i] != scalar_t(0));
  }
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

template <typename scalar_t>
__global__ void write_kernel(const scalar_t* __restrict__ x, const int64_t* __restrict__ counts, const int64_t* __restrict__ ends,
                             int64_t* __restrict__ out, int64_t n, Shape shape) {
  __shared__ int in_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t first = int64_t{blockIdx.x} * kChunk;
  int64_t place = ends[blockIdx.x] - counts[blockIdx.x];
  for (int64_t base = first; base < first + kChunk; base += kThreads) {
    const int64_t i = base + threadIdx.x;
    const bool found = i < n && x[i] != scalar_t(0);
    const unsigned ballot = __ballot_sync(0xffffffffu, found);
    if (lane == 0) in_warp[warp] = __popc(ballot);
    __syncthreads();
    int before = __popc(ballot & ((1u << lane) - 1)), all = 0;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) before += in_warp[w];
      all += in_warp[w];
    }
    if (found) {
      int64_t rest = i;
      for (int d = shape.rank - 1; d >= 0; --d) {
        out[(place + before) * shape.rank + d] = rest % shape.sizes[d];
        rest /= shape.sizes[d];
      }
    }
    place += all;
    __syncthreads();  // The next round writes `in_warp` again.
  }
}

at::Tensor nonzero_cuda(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "nonzero: expected a CUDA tensor, got one on ", x.device());
  TORCH_CHECK(x.dim() <= kMaxRank, "nonzero: expected at most ", kMaxRank, " dimensions, got ", x.dim());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  const auto places = in.options().dtype(at::kLong);
  const int64_t n = in.numel();
  if (n == 0) return at::empty({0, x.dim()}, places);
  Shape shape;
  shape.rank = static_cast<int>(x.dim());
  for (int d = 0; d < shape.rank; ++d) shape.sizes[d] = x.size(d);
  const int64_t blocks = at::ceil_div(n, kChunk);
  const auto stream = at::cuda::getCurrentCUDAStream();
  at::Tensor counts = at::empty({blocks}, places), out;
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, in.scalar_type(), "nonzero", [&] {
    count_kernel<scalar_t><<<blocks, kThreads, 0, stream>>>(in.const_data_ptr<scalar_t>(), counts.mutable_data_ptr<int64_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const at::Tensor ends = at::cumsum(counts, 0);
    // The host waits here: it has to know the size of the result.
    const int64_t found = ends[blocks - 1].item<int64_t>();
    out = at::empty({found, x.dim()}, places);
    if (out.numel() == 0) return;
    write_kernel<scalar_t><<<blocks, kThreads, 0, stream>>>(in.const_data_ptr<scalar_t>(), counts.const_data_ptr<int64_t>(),
                                                            ends.const_data_ptr<int64_t>(), out.mutable_data_ptr<int64_t>(), n, shape);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) { m.def("nonzero(Tensor x) -> Tensor"); }

TORCH_LIBRARY_IMPL(kernels, CUDA, m) { m.impl("nonzero", &nonzero_cuda); }

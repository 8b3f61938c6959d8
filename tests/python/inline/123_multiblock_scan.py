"""A scan over many blocks, host recursion on the sums of blocks: functor for the operation, inclusive or exclusive, int64, int32 and float; compaction."""
CPP = r'''
torch::Tensor scan(const torch::Tensor& x, const std::string& op, bool exclusive);
torch::Tensor compact(const torch::Tensor& x, double above);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAStream.h>
#include <limits>

template <typename T> struct Plus { static T identity() { return T(0); } __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct Maximum { static T identity() { return std::numeric_limits<T>::lowest(); } __device__ T operator()(T a, T b) const { return a > b ? a : b; } };

constexpr int kBlock = 128;      // threads
constexpr int kItems = 2;        // elements of each
constexpr int kTile = kBlock * kItems;

template <typename T, typename Op>
__global__ void scan_tiles(const T* __restrict__ in, T* __restrict__ out, T* __restrict__ totals, int64_t n, bool exclusive, T identity, Op op) {
  __shared__ T warp_total[kBlock / 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int64_t base = (int64_t)blockIdx.x * kTile + threadIdx.x * kItems;
  T item[kItems], sum = identity;
  for (int k = 0; k < kItems; ++k) {
    item[k] = base + k < n ? in[base + k] : identity;
    sum = op(sum, item[k]);
  }
  T running = sum;
  for (int d = 1; d < 32; d <<= 1) {
    const T left = __shfl_up_sync(0xffffffff, running, d);
    if (lane >= d) running = op(left, running);
  }
  if (lane == 31) warp_total[warp] = running;
  __syncthreads();
  T before = __shfl_up_sync(0xffffffff, running, 1);
  if (lane == 0) before = identity;
  for (int w = warp - 1; w >= 0; --w) before = op(warp_total[w], before);
  for (int k = 0; k < kItems; ++k) {
    const T after = op(before, item[k]);
    if (base + k < n) out[base + k] = exclusive ? before : after;
    before = after;
  }
  if (totals && threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = before;
}

template <typename T, typename Op>
__global__ void add_offsets(T* out, const T* offsets, int64_t n, Op op) {
  const int64_t i = blockIdx.x * (int64_t)kTile + threadIdx.x;
  const T offset = offsets[blockIdx.x];
  if (i < n) out[i] = op(offset, out[i]);
  if (i + kBlock < n) out[i + kBlock] = op(offset, out[i + kBlock]);
}

template <typename T, template <typename> class Op>
void scan_into(const T* in, T* out, int64_t n, bool exclusive, const torch::TensorOptions& options) {
  const int64_t blocks = (n + kTile - 1) / kTile;
  auto stream = c10::cuda::getCurrentCUDAStream();
  if (blocks == 1) {
    scan_tiles<T, Op<T>><<<1, kBlock, 0, stream>>>(in, out, nullptr, n, exclusive, Op<T>::identity(), Op<T>());
    return;
  }
  auto totals = torch::empty({blocks}, options), offsets = torch::empty({blocks}, options);
  scan_tiles<T, Op<T>><<<blocks, kBlock, 0, stream>>>(in, out, totals.template data_ptr<T>(), n, exclusive, Op<T>::identity(), Op<T>());
  scan_into<T, Op>(totals.template data_ptr<T>(), offsets.template data_ptr<T>(), blocks, /*exclusive=*/true, options);
  add_offsets<T, Op<T>><<<blocks, kBlock, 0, stream>>>(out, offsets.template data_ptr<T>(), n, Op<T>());
}

torch::Tensor scan(const torch::Tensor& x, const std::string& op, bool exclusive) {
  TORCH_CHECK(x.dim() == 1, "scan wants a vector");
  auto in = x.contiguous(), out = torch::empty_like(in);
  const auto n = in.numel();
  if (n == 0) return out;
  AT_DISPATCH_ALL_TYPES(in.scalar_type(), "scan", [&] {
    if constexpr (sizeof(scalar_t) < 4) {
      TORCH_CHECK(false, "scan of ", in.scalar_type(), " would overflow");
    } else {
      if (op == "sum") scan_into<scalar_t, Plus>(in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n, exclusive, in.options());
      else if (op == "max") scan_into<scalar_t, Maximum>(in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n, exclusive, in.options());
      else TORCH_CHECK(false, "no scan by ", op);
    }
  });
  return out;
}

__global__ void scatter_kept(const float* x, const int* position, const bool* keep, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && keep[i]) out[position[i]] = x[i];
}

torch::Tensor compact(const torch::Tensor& x, double above) {
  const int n = x.numel();
  if (n == 0) return x.clone();
  auto keep = x > above;
  auto position = scan(keep.to(torch::kInt), "sum", true);
  const int count = position[-1].item<int>() + keep[-1].item<bool>();
  auto out = torch::empty({count}, x.options());
  scatter_kept<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), position.data_ptr<int>(), keep.data_ptr<bool>(), out.data_ptr<float>(), n);
  return out;
}
'''
FUNCTIONS = ["scan", "compact"]


def check(m, t):
    import numpy as np

    for n in (1, 37, 256, 257, 1003, 70001):  # the last needs a second level of blocks
        for dtype, low in ((np.int64, -(2**40)), (np.int32, -1000), (np.float64, None), (np.float32, None)):
            x = t.rng.standard_normal(n).astype(dtype) if low is None else t.rng.integers(low, -low, n).astype(dtype)
            sums = np.cumsum(x, dtype=np.float64 if low is None else np.int64)
            tol = dict(rtol=1e-4, atol=1e-3) if dtype is np.float32 else dict(rtol=1e-9, atol=1e-9)  # up to 70001 terms that cancel
            t.close(m.scan(t(x), "sum", False), sums.astype(dtype), **tol)
            t.close(m.scan(t(x), "sum", True), np.concatenate([[0], sums[:-1]]).astype(dtype), **tol)
            t.close(m.scan(t(x), "max", False), np.maximum.accumulate(x), rtol=0, atol=0)
    x = t.rng.standard_normal(1003).astype(np.float32)
    t.close(m.compact(t(x), 0.5), x[x > 0.5], rtol=0, atol=0)
    assert t.np(m.compact(t(x), 100.0)).shape == (0,)
    assert t.np(m.scan(t(x[:0].copy()), "sum", False)).shape == (0,)
    with t.raises(RuntimeError, "no scan by min"):
        m.scan(t(x), "min", False)
    with t.raises(RuntimeError, "would overflow"):
        m.scan(t(np.ones(3, np.uint8)), "sum", False)

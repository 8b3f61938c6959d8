"""Histogram with privatised shared-memory bins and atomics; integer inputs by AT_DISPATCH_INTEGRAL_TYPES, float inputs by range."""
CPP = r'''
torch::Tensor histogram_ints(const torch::Tensor& values, int64_t bins);
torch::Tensor histogram_range(const torch::Tensor& values, int64_t bins, double lo, double hi);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename index_t>
__global__ void hist_int_kernel(const index_t* v, int64_t n, int* out, int bins) {
  extern __shared__ int local[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int64_t i = threadIdx.x + (int64_t)blockIdx.x * blockDim.x; i < n; i += (int64_t)blockDim.x * gridDim.x) {
    const long long x = v[i];
    if (x >= 0 && x < bins) atomicAdd(&local[x], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (local[b] > 0) atomicAdd(&out[b], local[b]);
}

__global__ void hist_float_kernel(const float* v, int n, unsigned long long* out, int bins, float lo, float hi) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  const float x = v[i];
  if (!(x >= lo && x <= hi)) return;
  int b = static_cast<int>((x - lo) * bins / (hi - lo));
  if (b == bins) b -= 1;
  atomicAdd(out + b, 1ULL);
}

torch::Tensor histogram_ints(const torch::Tensor& values, int64_t bins) {
  TORCH_CHECK_VALUE(bins > 0, "bins must be positive, got ", bins);
  auto v = values.contiguous().view({-1});
  auto out = torch::zeros({bins}, v.options().dtype(torch::kInt32));
  AT_DISPATCH_INTEGRAL_TYPES(v.scalar_type(), "histogram_ints", [&] {
    hist_int_kernel<scalar_t><<<3, 64, bins * sizeof(int), at::cuda::getCurrentCUDAStream()>>>(
        v.data_ptr<scalar_t>(), v.numel(), out.data_ptr<int>(), (int)bins);
  });
  return out.to(torch::kInt64);
}

torch::Tensor histogram_range(const torch::Tensor& values, int64_t bins, double lo, double hi) {
  auto v = values.to(torch::kFloat).flatten();
  auto out = torch::zeros({bins}, v.options().dtype(torch::kLong));
  hist_float_kernel<<<(v.numel() + 127) / 128, 128>>>(v.data_ptr<float>(), v.numel(),
      reinterpret_cast<unsigned long long*>(out.data_ptr<int64_t>()), bins, lo, hi);
  return out;
}
'''
FUNCTIONS = ["histogram_ints", "histogram_range"]


def check(m, t):
    import numpy as np

    for dtype in (np.int32, np.int64, np.uint8, np.int16, np.int8):
        x = t.rng.integers(0, 40, (37, 27)).astype(dtype)
        t.close(m.histogram_ints(t(x), 31), np.bincount(x.ravel(), minlength=40)[:31].astype(np.int64))
    x = t.rng.random(1003).astype(np.float32) * 2 - 0.5
    inside = x[(x >= 0) & (x <= 1)]
    want = np.bincount(np.minimum((inside * np.float32(16)).astype(int), 15), minlength=16)
    t.close(m.histogram_range(t(x), 16, 0.0, 1.0), want.astype(np.int64))
    with t.raises(ValueError, "bins must be positive, got 0"):
        m.histogram_ints(t(np.zeros(3, np.int32)), 0)
    with t.raises(RuntimeError, "not implemented for 'Float'"):
        m.histogram_ints(t(x), 4)

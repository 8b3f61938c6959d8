"""Bitonic sort of each row in shared memory with indices, then top-k by slicing; power-of-two padding and #pragma unroll."""
CPP = "std::tuple<torch::Tensor, torch::Tensor> topk_rows(torch::Tensor x, int64_t k, bool largest);"
CUDA = r'''
#include <torch/extension.h>
#include <limits>

template <typename T> struct Entry { T key; int idx; };

template <typename T>
__device__ inline bool before(const Entry<T>& a, const Entry<T>& b) {
  return a.key < b.key || (a.key == b.key && a.idx < b.idx);
}

template <typename T>
__global__ void bitonic_rows(const T* in, T* keys, int64_t* idx, int cols, int padded, bool descending) {
  extern __shared__ __align__(16) unsigned char storage[];
  auto* s = reinterpret_cast<Entry<T>*>(storage);
  const T* row = in + (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < padded; i += blockDim.x) {
    Entry<T> e;
    e.key = i < cols ? (descending ? -row[i] : row[i]) : std::numeric_limits<T>::max();
    e.idx = i;
    s[i] = e;
  }
  __syncthreads();
  for (int k = 2; k <= padded; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      for (int i = threadIdx.x; i < padded; i += blockDim.x) {
        const int other = i ^ j;
        if (other > i) {
          const bool up = (i & k) == 0;
          if (before(s[other], s[i]) == up) {
            Entry<T> tmp = s[i];
            s[i] = s[other];
            s[other] = tmp;
          }
        }
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    keys[(size_t)blockIdx.x * cols + i] = descending ? -s[i].key : s[i].key;
    idx[(size_t)blockIdx.x * cols + i] = s[i].idx;
  }
}

std::tuple<torch::Tensor, torch::Tensor> topk_rows(torch::Tensor x, int64_t k, bool largest) {
  using torch::indexing::Slice;
  using torch::indexing::None;
  TORCH_CHECK(x.dim() == 2, "want a matrix");
  TORCH_CHECK(k >= 0 && k <= x.size(1), "selected index k out of range");
  int padded = 1;
  while (padded < x.size(1)) padded *= 2;
  auto keys = torch::empty_like(x);
  auto idx = torch::empty(x.sizes(), x.options().dtype(torch::kLong));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "topk_rows", [&] {
    const size_t bytes = padded * sizeof(Entry<scalar_t>);
    bitonic_rows<scalar_t><<<x.size(0), 64, bytes>>>(x.contiguous().data_ptr<scalar_t>(), keys.data_ptr<scalar_t>(), idx.data_ptr<int64_t>(),
                                                     x.size(1), padded, largest);
  });
  return {keys.index({Slice(), Slice(None, k)}).contiguous(), idx.index({"...", Slice(None, k)}).contiguous()};
}
'''
FUNCTIONS = ["topk_rows"]


def check(m, t):
    import numpy as np

    for dtype, cols in ((np.float32, 101), (np.float64, 5), (np.float32, 128)):
        x = np.round(4 * t.rng.standard_normal((7, cols))).astype(dtype)  # ties: the smaller index first
        for k, largest in ((3, True), (5, False), (0, True)):
            order = np.argsort(-x if largest else x, axis=1, kind="stable")[:, :k]
            keys, idx = m.topk_rows(t(x), k, largest)
            t.close(keys, np.take_along_axis(x, order, 1), rtol=0, atol=0)
            t.close(idx, order.astype(np.int64))
    with t.raises(RuntimeError, "selected index k out of range"):
        m.topk_rows(t(x), 129, True)

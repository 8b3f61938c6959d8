"""Dynamic time warping by anti-diagonals, one block for each pair: three rotating rows in dynamic shared memory, Sakoe-Chiba band, soft-DTW by a flag."""
CPP = r'''
#include <torch/extension.h>
torch::Tensor dtw(torch::Tensor x, torch::Tensor y, c10::optional<int64_t> band, double gamma);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("dtw", &dtw, "batched (soft) DTW", py::arg("x"), py::arg("y"), py::kw_only(), py::arg("band") = py::none(), py::arg("gamma") = 0.0);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <math_constants.h>

namespace dtw_impl {

struct HardMin {
  __device__ float operator()(float a, float b, float c) const { return fminf(a, fminf(b, c)); }
};

struct SoftMin {
  float gamma;
  __device__ float operator()(float a, float b, float c) const {
    const float lo = fminf(a, fminf(b, c));
    if (isinf(lo)) return lo;
    return lo - gamma * logf(expf((lo - a) / gamma) + expf((lo - b) / gamma) + expf((lo - c) / gamma));
  }
};

template <typename Min>
__global__ void wavefront(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ result, int n, int m, int dim, int band, Min minimum) {
  extern __shared__ float rows[];
  const int width = n + 1;
  float* prev2 = rows;            // diagonal d - 2, by i
  float* prev = rows + width;     // d - 1
  float* cur = rows + 2 * width;
  x += static_cast<long long>(blockIdx.x) * n * dim;
  y += static_cast<long long>(blockIdx.x) * m * dim;

  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    prev2[i] = i == 0 ? 0.f : CUDART_INF_F;
    prev[i] = CUDART_INF_F;
  }
  __syncthreads();
  for (int d = 2; d <= n + m; ++d) {
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
      const int j = d - i;
      float v = CUDART_INF_F;
      if (i >= 1 && j >= 1 && j <= m && abs(i - j) <= band) {
        float c = 0.f;
        for (int k = 0; k < dim; ++k) {
          const float diff = x[(i - 1) * dim + k] - y[(j - 1) * dim + k];
          c += diff * diff;
        }
        v = c + minimum(prev2[i - 1], prev[i - 1], prev[i]);
      }
      cur[i] = v;
    }
    __syncthreads();
    float* const spare = prev2;
    prev2 = prev;
    prev = cur;
    cur = spare;
  }
  if (threadIdx.x == 0) result[blockIdx.x] = prev[n];
}

}  // namespace dtw_impl

torch::Tensor dtw(torch::Tensor x, torch::Tensor y, c10::optional<int64_t> band, double gamma) {
  TORCH_CHECK(x.dim() == 3 && y.dim() == 3, "sequences are (batch, time, features)");
  TORCH_CHECK(x.size(0) == y.size(0) && x.size(2) == y.size(2), "sequences do not fit: ", x.sizes(), " and ", y.sizes());
  x = x.to(torch::kFloat).contiguous();
  y = y.to(torch::kFloat).contiguous();
  const int batch = x.size(0), n = x.size(1), m = y.size(1), dim = x.size(2);
  TORCH_CHECK(n > 0 && m > 0, "a sequence is empty");
  const int width = static_cast<int>(band.value_or(std::max(n, m)));
  TORCH_CHECK(width >= std::abs(n - m), "a band of ", width, " leaves no path between lengths ", n, " and ", m);
  auto out = torch::empty({batch}, x.options());
  if (batch == 0) return out;
  const int threads = std::min(64, (n + 32) / 32 * 32);
  const size_t bytes = 3 * (n + 1) * sizeof(float);
  auto run = [&](auto op) {
    dtw_impl::wavefront<<<batch, threads, bytes, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n, m, dim, width, op);
  };
  if (gamma > 0)
    run(dtw_impl::SoftMin{static_cast<float>(gamma)});
  else
    run(dtw_impl::HardMin());
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    def reference(x, y, band, gamma):
        n, k = len(x), len(y)
        r = np.full((n + 1, k + 1), np.inf)
        r[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(1, k + 1):
                if abs(i - j) <= band:
                    a = np.array([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]])
                    low = a.min()
                    if gamma and np.isfinite(low):
                        low -= gamma * np.log(np.exp((low - a) / gamma).sum())
                    r[i, j] = ((x[i - 1] - y[j - 1]) ** 2).sum() + low
        return r[n, k]

    for batch, n, k, dim in ((3, 37, 29, 2), (2, 5, 9, 1), (1, 1, 1, 3), (2, 80, 75, 1)):
        x, y = t.rng.standard_normal((batch, n, dim)).astype(np.float32), t.rng.standard_normal((batch, k, dim)).astype(np.float32)
        X, Y = x.astype(np.float64), y.astype(np.float64)
        for band, gamma in ((None, 0.0), (8, 0.0), (None, 0.5)):
            want = np.array([reference(X[b], Y[b], band or 1000, gamma) for b in range(batch)])
            t.close(m.dtw(t(x), t(y), band=band, gamma=gamma), want, rtol=1e-4, atol=1e-4)  # a chain of 150 additions
        t.close(m.dtw(t(X), t(X)), np.zeros(batch))
    assert t.np(m.dtw(t(x[:0].copy()), t(y[:0].copy()))).shape == (0,)
    with t.raises(RuntimeError, "a band of 3 leaves no path between lengths 80 and 75"):
        m.dtw(t(x), t(y), band=3)
    with t.raises(RuntimeError, "sequences do not fit: [2, 80, 1] and [1, 80, 1]"):
        m.dtw(t(x), t(x[:1].copy()))
    with t.raises(TypeError):
        m.dtw(t(x), t(y), 3)

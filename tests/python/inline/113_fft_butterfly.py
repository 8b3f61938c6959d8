"""Radix-2 FFT in shared memory: float2 with operators, bit reversal by __brev, sincospif; templates over log2 of the size, inverse by a flag."""
CPP = r'''
#include <torch/extension.h>
torch::Tensor fft(torch::Tensor x, bool inverse);
torch::Tensor power_spectrum(torch::Tensor signal);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fft", &fft, "complex FFT over the last-but-one dimension, pairs of floats", py::arg("x"), py::arg("inverse") = false);
  m.def("ifft", [](torch::Tensor x) { return fft(x, true); });
  m.def("power_spectrum", &power_spectrum, R"doc(
    |FFT|^2 of a real signal, the non-negative frequencies.
  )doc");
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

using cplx = float2;
__device__ __forceinline__ cplx operator+(cplx a, cplx b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ cplx operator-(cplx a, cplx b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ cplx operator*(cplx a, cplx b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ cplx operator*(cplx a, float s) { return {a.x * s, a.y * s}; }

template <int LOG_N>
__global__ void fft_kernel(const cplx* in, cplx* out, float direction) {
  constexpr int N = 1 << LOG_N;
  __shared__ cplx s[N];
  const cplx* src = in + size_t(blockIdx.x) * N;
  for (int i = threadIdx.x; i < N; i += blockDim.x) s[__brev(i) >> (32 - LOG_N)] = src[i];
  __syncthreads();

#pragma unroll
  for (int stage = 1; stage <= LOG_N; ++stage) {
    const int half = 1 << (stage - 1);
    for (int t = threadIdx.x; t < N / 2; t += blockDim.x) {
      const int k = t & (half - 1), lo = ((t >> (stage - 1)) << stage) + k, hi = lo + half;
      cplx w;
      sincospif(direction * (float)k / (float)half, &w.y, &w.x);
      const cplx a = s[lo], b = s[hi] * w;
      s[lo] = a + b;
      s[hi] = a - b;
    }
    __syncthreads();
  }
  const float scale = direction > 0 ? 1.f / N : 1.f;
  for (int i = threadIdx.x; i < N; i += blockDim.x) out[size_t(blockIdx.x) * N + i] = s[i] * scale;
}

torch::Tensor fft(torch::Tensor x, bool inverse) {
  TORCH_CHECK(x.size(-1) == 2 && x.dim() >= 2, "want (..., N, 2)");
  x = x.contiguous();
  const auto n = x.size(-2);
  TORCH_CHECK(n > 1 && (n & (n - 1)) == 0 && n <= 1024, n, " is not a power of two from 2 to 1024");
  auto y = torch::empty_like(x);
  const int rows = x.numel() / (2 * n);
  const auto* in = reinterpret_cast<const cplx*>(x.data_ptr<float>());
  auto* out = reinterpret_cast<cplx*>(y.data_ptr<float>());
  auto s = c10::cuda::getCurrentCUDAStream();
  const float dir = inverse ? 1.0f : -1.0f;
  switch (n) {
#define CASE(L) case 1 << L: fft_kernel<L><<<rows, (1 << L) < 128 ? (1 << L) : 128, 0, s>>>(in, out, dir); break
    CASE(1); CASE(2); CASE(3); CASE(4); CASE(5);
    CASE(6); CASE(7); CASE(8); CASE(9); CASE(10);
#undef CASE
    default: TORCH_INTERNAL_ASSERT(false);
  }
  return y;
}

torch::Tensor power_spectrum(torch::Tensor signal) {
  auto z = torch::stack({signal, torch::zeros_like(signal)}, -1);
  auto f = fft(z, false).narrow(-2, 0, signal.size(-1) / 2 + 1);
  return f.square().sum(-1);
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for n in (2, 16, 128, 1024):
        x = t.rng.standard_normal((3, n, 2)).astype(np.float32)
        want = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1])
        y = m.fft(t(x))
        t.close(y, np.stack([want.real, want.imag], -1), rtol=1e-4, atol=1e-5 * n**0.5)  # a sum of n, by a tree
        t.close(m.ifft(y), x, rtol=1e-4, atol=1e-5)
        t.close(m.fft(x=y, inverse=True), x, rtol=1e-4, atol=1e-5)
    s = t.rng.standard_normal((2, 64)).astype(np.float32)
    t.close(m.power_spectrum(t(s)), abs(np.fft.rfft(s.astype(np.float64))) ** 2, rtol=1e-4, atol=1e-3)
    with t.raises(RuntimeError, "12 is not a power of two from 2 to 1024"):
        m.fft(t(np.zeros((12, 2), np.float32)))
    with t.raises(RuntimeError, "want (..., N, 2)"):
        m.fft(t(np.zeros((2, 4), np.float32)))

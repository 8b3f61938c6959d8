"""Per-row activation and per-channel weight int8 quantisation and a product by __dp4a on int32-cast rows; absmax by warp shuffles."""
CPP = r'''
std::pair<at::Tensor, at::Tensor> quantize_rows(const at::Tensor& x);
at::Tensor int8_linear(const at::Tensor& a, const at::Tensor& a_scale, const at::Tensor& w, const at::Tensor& w_scale, const c10::optional<at::Tensor>& bias);
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/util/Optional.h>
#include <torch/extension.h>
#include <utility>

namespace quant {

__device__ __forceinline__ int8_t saturate(float v) {
  return static_cast<int8_t>(max(-127, min(127, __float2int_rn(v))));
}

__device__ float block_absmax(float v) {
  static __shared__ float partial[32];
  const int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
  if (lane == 0) partial[wid] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0.f;
  if (wid == 0)
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
  if (threadIdx.x == 0) partial[0] = v;
  __syncthreads();
  return partial[0];
}

__global__ void rows_kernel(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale, int k, int k4) {
  const float* row = x + (long)blockIdx.x * k;
  float amax = 0.f;
  for (int i = threadIdx.x; i < k; i += blockDim.x) amax = fmaxf(amax, fabsf(__ldg(row + i)));
  amax = block_absmax(amax);
  const float s = amax > 0.f ? amax / 127.f : 1.f;
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
  // rows are padded with zeros to a multiple of four
  for (int i = threadIdx.x; i < k4; i += blockDim.x) q[(long)blockIdx.x * k4 + i] = i < k ? saturate(row[i] / s) : 0;
}

template <int TILE>
__global__ void gemm_kernel(const int* __restrict__ a, const int* __restrict__ w, const float* sa, const float* sw, const float* bias, float* out, int M, int N, int K4) {
  __shared__ int As[TILE][TILE + 1], Ws[TILE][TILE + 1];
  const int m = blockIdx.y * TILE + threadIdx.y, n = blockIdx.x * TILE + threadIdx.x;
  const int wn = blockIdx.x * TILE + threadIdx.y;
  int acc = 0;
  for (int base = 0; base < K4; base += TILE) {
    const int k = base + threadIdx.x;
    As[threadIdx.y][threadIdx.x] = m < M && k < K4 ? a[m * K4 + k] : 0;
    Ws[threadIdx.y][threadIdx.x] = wn < N && k < K4 ? w[wn * K4 + k] : 0;
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < TILE; ++i) acc = __dp4a(As[threadIdx.y][i], Ws[threadIdx.x][i], acc);
    __syncthreads();
  }
  if (m < M && n < N) out[m * N + n] = fmaf(acc * sa[m], sw[n], bias ? bias[n] : 0.f);
}

}  // namespace quant

std::pair<at::Tensor, at::Tensor> quantize_rows(const at::Tensor& x) {
  TORCH_CHECK(x.dim() == 2 && x.is_contiguous() && x.is_floating_point(), "x must be a contiguous floating matrix");
  const auto m = x.size(0), k = x.size(1), k4 = (k + 3) / 4 * 4;
  auto q = at::empty({m, k4}, x.options().dtype(at::kChar));
  auto scale = at::empty({m}, x.options());
  if (m > 0) quant::rows_kernel<<<m, 64, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), q.data_ptr<int8_t>(), scale.data_ptr<float>(), k, k4);
  AT_CUDA_CHECK(cudaGetLastError());
  return {q, scale};
}

at::Tensor int8_linear(const at::Tensor& a, const at::Tensor& a_scale, const at::Tensor& w, const at::Tensor& w_scale, const c10::optional<at::Tensor>& bias) {
  TORCH_CHECK(a.dtype() == at::kChar && w.dtype() == at::kChar, "operands must be int8, got ", a.dtype(), " and ", w.dtype());
  TORCH_CHECK(a.size(1) == w.size(1), "inner sizes differ: ", a.size(1), " != ", w.size(1));
  TORCH_CHECK(a.size(1) % 4 == 0, "rows must be padded to four");
  constexpr int T = 8;
  const int M = a.size(0), N = w.size(0), K4 = a.size(1) / 4;
  auto out = at::empty({M, N}, a_scale.options());
  const dim3 grid((N + T - 1) / T, (M + T - 1) / T);
  quant::gemm_kernel<T><<<grid, dim3(T, T)>>>(reinterpret_cast<const int*>(a.data_ptr<int8_t>()), reinterpret_cast<const int*>(w.data_ptr<int8_t>()),
      a_scale.data_ptr<float>(), w_scale.data_ptr<float>(), bias.has_value() ? bias.value().data_ptr<float>() : nullptr, out.data_ptr<float>(), M, N, K4);
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}
'''
FUNCTIONS = ["quantize_rows", "int8_linear"]


def check(m, t):
    import numpy as np

    for M, N, K in ((13, 9, 37), (1, 1, 4), (8, 17, 130)):
        x, w = t.rng.standard_normal((M, K)).astype(np.float32), t.rng.standard_normal((N, K)).astype(np.float32)
        x[0] = 0
        qx, sx = m.quantize_rows(t(x))
        qw, sw = m.quantize_rows(t(w))
        for q, s, v in ((qx, sx, x), (qw, sw, w)):
            q, s, top = t.np(q), t.np(s), abs(v.astype(np.float64)).max(1)
            t.close(s, np.where(top > 0, top / 127, 1), rtol=1e-6)
            assert q.dtype == np.int8 and q.shape == (len(v), -(-K // 4) * 4) and not q[:, K:].any()
            assert (abs(q[:, :K] * s[:, None].astype(np.float64) - v) <= 0.50001 * s[:, None]).all()
        exact = t.np(qx).astype(np.float64) @ t.np(qw).astype(np.float64).T * t.np(sx)[:, None].astype(np.float64) * t.np(sw)
        t.close(m.int8_linear(qx, sx, qw, sw, None), exact, rtol=1e-6)
        b = t.rng.standard_normal(N).astype(np.float32)
        t.close(m.int8_linear(qx, sx, qw, sw, t(b)), exact + b, rtol=1e-5, atol=1e-5)
    with t.raises(RuntimeError, "inner sizes differ: 132 != 40"):
        m.int8_linear(qx, sx, t(np.zeros((2, 40), np.int8)), sw, None)
    with t.raises(RuntimeError, "must be a contiguous floating matrix"):
        m.quantize_rows(t(np.zeros(4, np.float32)))

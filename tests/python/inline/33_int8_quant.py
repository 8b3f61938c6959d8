"""Per-row absmax int8 quantisation, dequantisation, and an int8 matmul with __dp4a-like packing; LLM quantisation repository style."""
CPP = r'''
std::tuple<torch::Tensor, torch::Tensor> quantize_rows(torch::Tensor x);
torch::Tensor dequantize_rows(torch::Tensor q, torch::Tensor scale);
torch::Tensor int8_matmul_t(torch::Tensor a, torch::Tensor b);
torch::Tensor quantized_linear(torch::Tensor x, torch::Tensor w) {
  torch::Tensor xq, xs, wq, ws;
  std::tie(xq, xs) = quantize_rows(x);
  std::tie(wq, ws) = quantize_rows(w);
  return int8_matmul_t(xq, wq).to(torch::kFloat32) * xs.unsqueeze(1) * ws.unsqueeze(0);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <cstdint>

static constexpr int kBlock = 64;

__global__ void quantize_kernel(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale, int cols) {
  __shared__ float amax[kBlock];
  const float* row = x + blockIdx.x * cols;
  float local = 0.f;
  for (int c = threadIdx.x; c < cols; c += kBlock) local = max(local, fabsf(row[c]));
  amax[threadIdx.x] = local;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) amax[threadIdx.x] = fmaxf(amax[threadIdx.x], amax[threadIdx.x + s]);
    __syncthreads();
  }
  const float step = amax[0] > 0.f ? amax[0] / 127.f : 1.f;
  if (threadIdx.x == 0) scale[blockIdx.x] = step;
  for (int c = threadIdx.x; c < cols; c += kBlock) {
    int v = __float2int_rn(row[c] / step);
    v = min(127, max(-127, v));
    q[blockIdx.x * cols + c] = static_cast<int8_t>(v);
  }
}

__global__ void dequantize_kernel(const int8_t* q, const float* scale, float* x, int n, int cols) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) x[i] = q[i] * scale[i / cols];
}

// both row-major with the same K; four products at a time where K allows
__global__ void int8_mm_kernel(const int8_t* a, const int8_t* b, int32_t* c, int M, int N, int K) {
  const int j = blockDim.x * blockIdx.x + threadIdx.x, i = blockDim.y * blockIdx.y + threadIdx.y;
  if (i >= M || j >= N) return;
  int acc = 0, k = 0;
  if (K % 4 == 0) {
    const char4* a4 = reinterpret_cast<const char4*>(a + i * K);
    const char4* b4 = reinterpret_cast<const char4*>(b + j * K);
    for (; k < K / 4; ++k) {
      const char4 u = a4[k], v = b4[k];
      acc += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    k = K;
  }
  for (; k < K; ++k) acc += int(a[i * K + k]) * int(b[j * K + k]);
  c[i * N + j] = acc;
}

std::tuple<torch::Tensor, torch::Tensor> quantize_rows(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2 && x.scalar_type() == torch::kFloat, "quantize_rows: want a float matrix");
  auto q = torch::empty(x.sizes(), x.options().dtype(torch::kInt8));
  auto scale = torch::empty(x.size(0), x.options());
  quantize_kernel<<<x.size(0), kBlock>>>(x.data_ptr<float>(), q.data_ptr<int8_t>(), scale.data_ptr<float>(), x.size(1));
  return {q, scale};
}

torch::Tensor dequantize_rows(torch::Tensor q, torch::Tensor scale) {
  auto x = torch::empty_like(q, torch::TensorOptions().dtype(torch::kFloat32));
  dequantize_kernel<<<(q.numel() + 127) / 128, 128>>>(q.data_ptr<int8_t>(), scale.data_ptr<float>(), x.data_ptr<float>(), q.numel(), q.size(1));
  return x;
}

torch::Tensor int8_matmul_t(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.dtype() == torch::kInt8 && b.dtype() == torch::kInt8, "int8 operands wanted");
  auto c = torch::empty({a.size(0), b.size(0)}, a.options().dtype(torch::kInt32));
  dim3 block(8, 8), grid((b.size(0) + 7) / 8, (a.size(0) + 7) / 8);
  int8_mm_kernel<<<grid, block>>>(a.data_ptr<int8_t>(), b.data_ptr<int8_t>(), c.data_ptr<int32_t>(), a.size(0), b.size(0), a.size(1));
  return c;
}
'''
FUNCTIONS = ["quantize_rows", "dequantize_rows", "int8_matmul_t", "quantized_linear"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal((37, 75)).astype(np.float32)
    x[4] = 0
    q, s = m.quantize_rows(t(x))
    step = np.where(abs(x).max(1) > 0, abs(x).max(1) / np.float32(127), np.float32(1)).astype(np.float32)
    t.close(s, step, rtol=1e-6)
    want = np.clip(np.rint(x / step[:, None]), -127, 127).astype(np.int8)
    assert t.np(q).dtype == np.int8
    assert abs(t.np(q).astype(int) - want).max() <= 1  # a tie may fall either way by the division's last bit
    t.close(m.dequantize_rows(q, s), t.np(q).astype(np.float64) * step[:, None])
    for k in (75, 76):
        a, b = (t.rng.integers(-128, 128, (n, k)).astype(np.int8) for n in (5, 19))
        t.close(m.int8_matmul_t(t(a), t(b)), a.astype(np.int32) @ b.T.astype(np.int32))
    w = t.rng.standard_normal((11, 75)).astype(np.float32)
    got = t.np(m.quantized_linear(t(x), t(w)))
    assert abs(got - x @ w.T).max() < 0.6  # rounding of both operands: about sqrt(75) * 2 * 3/254
    with t.raises(RuntimeError, "int8 operands wanted"):
        m.int8_matmul_t(t(x), t(w))

"""2-D heat equation: shared-memory stencil with halo, ping-pong buffers, std::swap of tensors, own stream and events for the timing."""
CPP = r'''
#include <utility>
std::pair<torch::Tensor, double> heat(torch::Tensor u, int64_t steps, double alpha);
'''
CUDA = r'''
#include <torch/extension.h>
#include <stdexcept>
#include <utility>

#define CUDA_TRY(expr)                                                                              \
  {                                                                                                 \
    const cudaError_t status = (expr);                                                              \
    if (status != cudaSuccess)                                                                      \
      throw std::runtime_error(std::string(#expr) + ": " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")"); \
  }

template <int BX, int BY>
__global__ void heat_kernel(const float* __restrict__ u, float* __restrict__ out, int h, int w, float alpha) {
  __shared__ float tile[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  auto at_or_edge = [=](int yy, int xx) { return u[min(max(yy, 0), h - 1) * w + min(max(xx, 0), w - 1)]; };
  tile[ly][lx] = at_or_edge(y, x);
  if (threadIdx.x == 0) tile[ly][0] = at_or_edge(y, x - 1);
  if (threadIdx.x == BX - 1) tile[ly][BX + 1] = at_or_edge(y, x + 1);
  if (threadIdx.y == 0) tile[0][lx] = at_or_edge(y - 1, x);
  if (threadIdx.y == BY - 1) tile[BY + 1][lx] = at_or_edge(y + 1, x);
  __syncthreads();
  if (x >= w || y >= h) return;
  const float c = tile[ly][lx];
  // beyond the edge the value of the edge itself: no flux
  const float l = tile[ly][lx - 1], r = x + 1 < w ? tile[ly][lx + 1] : c;
  const float t = tile[ly - 1][lx], b = y + 1 < h ? tile[ly + 1][lx] : c;
  out[y * w + x] = c + alpha * (l + r + t + b - 4.f * c);
}

std::pair<torch::Tensor, double> heat(torch::Tensor u, int64_t steps, double alpha) {
  auto a = u.clone(), b = torch::empty_like(u);
  const int h = u.size(0), w = u.size(1);
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CUDA_TRY(cudaDeviceSynchronize());
  CUDA_TRY(cudaStreamCreate(&stream));
  CUDA_TRY(cudaEventCreate(&start));
  CUDA_TRY(cudaEventCreate(&stop));
  CUDA_TRY(cudaEventRecord(start, stream));
  constexpr int BX = 16, BY = 8;
  for (int64_t i = 0; i < steps; ++i) {
    heat_kernel<BX, BY><<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY), 0, stream>>>(a.data_ptr<float>(), b.data_ptr<float>(), h, w, alpha);
    std::swap(a, b);
  }
  CUDA_TRY(cudaEventRecord(stop, stream));
  CUDA_TRY(cudaEventSynchronize(stop));
  float ms = 0.f;
  CUDA_TRY(cudaEventElapsedTime(&ms, start, stop));
  CUDA_TRY(cudaStreamSynchronize(stream));
  CUDA_TRY(cudaStreamDestroy(stream));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return {a, ms};
}
'''
FUNCTIONS = ["heat"]


def check(m, t):
    import numpy as np

    u = t.rng.random((37, 21)).astype(np.float32)
    for steps in (0, 1, 7):
        d = u.astype(np.float64)
        for _ in range(steps):
            p = np.pad(d, 1, mode="edge")
            d = d + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * d)
        got, ms = m.heat(t(u), steps, 0.2)
        t.close(got, d, atol=1e-5)
        assert isinstance(ms, float) and ms >= 0

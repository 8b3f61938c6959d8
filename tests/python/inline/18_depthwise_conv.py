"""Depthwise 2-D convolution forward and weight gradient, 3-D grid, kernel size as template parameter with a macro dispatch."""
CPP = r'''
torch::Tensor dwconv_forward(torch::Tensor input, torch::Tensor weight);
torch::Tensor dwconv_backward_weight(torch::Tensor grad, torch::Tensor input, int64_t kernel_size);
'''
CUDA = r'''
#include <torch/extension.h>

#define DISPATCH_KSIZE(K, ...)                                   \
  [&] {                                                          \
    switch (K) {                                                 \
      case 3: { constexpr int kK = 3; return __VA_ARGS__(); }    \
      case 5: { constexpr int kK = 5; return __VA_ARGS__(); }    \
      case 7: { constexpr int kK = 7; return __VA_ARGS__(); }    \
      default: TORCH_CHECK(false, "kernel size ", K, " is not implemented"); \
    }                                                            \
  }()

template <typename T, int K>
__global__ void dw_fwd(const T* __restrict__ in, const T* __restrict__ w, T* __restrict__ out, int C, int H, int W) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int nc = blockIdx.z;
  if (x >= W || y >= H) return;
  const T* plane = in + (int64_t)nc * H * W;
  const T* k = w + (nc % C) * K * K;
  T acc = T(0);
#pragma unroll
  for (int i = 0; i < K; ++i)
#pragma unroll
    for (int j = 0; j < K; ++j) {
      const int yy = y + i - K / 2, xx = x + j - K / 2;
      if (yy >= 0 && yy < H && xx >= 0 && xx < W) acc += plane[yy * W + xx] * k[i * K + j];
    }
  out[((int64_t)nc * H + y) * W + x] = acc;
}

template <typename T, int K>
__global__ void dw_bwd_w(const T* grad, const T* in, T* dw, int N, int C, int H, int W) {
  const int c = blockIdx.x, i = threadIdx.y, j = threadIdx.x;
  T acc = T(0);
  for (int n = 0; n < N; ++n)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        const int yy = y + i - K / 2, xx = x + j - K / 2;
        if (yy < 0 || yy >= H || xx < 0 || xx >= W) continue;
        acc += grad[((n * C + c) * H + y) * W + x] * in[((n * C + c) * H + yy) * W + xx];
      }
  dw[(c * K + i) * K + j] = acc;
}

torch::Tensor dwconv_forward(torch::Tensor input, torch::Tensor weight) {
  const int N = input.size(0), C = input.size(1), H = input.size(2), W = input.size(3);
  auto out = torch::empty_like(input);
  dim3 block(16, 8), grid((W + 15) / 16, (H + 7) / 8, N * C);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dwconv_forward", [&] {
    DISPATCH_KSIZE(weight.size(-1), [&] {
      dw_fwd<scalar_t, kK><<<grid, block>>>(input.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), C, H, W);
    });
  });
  return out;
}

torch::Tensor dwconv_backward_weight(torch::Tensor grad, torch::Tensor input, int64_t kernel_size) {
  const int N = input.size(0), C = input.size(1), H = input.size(2), W = input.size(3);
  auto dw = torch::zeros({C, 1, kernel_size, kernel_size}, input.options());
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dwconv_backward_weight", [&] {
    DISPATCH_KSIZE(kernel_size, [&] {
      dw_bwd_w<scalar_t, kK><<<C, dim3(kK, kK)>>>(grad.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), dw.data_ptr<scalar_t>(), N, C, H, W);
    });
  });
  return dw;
}
'''
FUNCTIONS = ["dwconv_forward", "dwconv_backward_weight"]


def check(m, t):
    import numpy as np

    for k, dtype in ((3, np.float32), (5, np.float64), (7, np.float32)):
        x = t.rng.standard_normal((2, 3, 9, 21)).astype(dtype)
        w = t.rng.standard_normal((3, 1, k, k)).astype(dtype)
        g = t.rng.standard_normal(x.shape).astype(dtype)
        p = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (k // 2,) * 2, (k // 2,) * 2))
        y, dw = np.zeros(x.shape), np.zeros(w.shape)
        for i in range(k):
            for j in range(k):
                part = p[:, :, i : i + 9, j : j + 21]
                y += part * w[None, :, 0, i, j, None, None]
                dw[:, 0, i, j] = (part * g).sum((0, 2, 3))
        t.close(m.dwconv_forward(t(x), t(w)), y, rtol=1e-4, atol=1e-5)
        t.close(m.dwconv_backward_weight(t(g), t(x), k), dw, rtol=1e-4, atol=1e-4)  # 378 terms of either sign
    with t.raises(RuntimeError, "kernel size 4 is not implemented"):
        m.dwconv_backward_weight(t(x), t(x), 4)

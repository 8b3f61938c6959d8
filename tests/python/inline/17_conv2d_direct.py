"""Direct 2-D convolution with stride, padding, dilation passed in a struct; output size helper as __host__ __device__ function."""
CPP = r'''
torch::Tensor conv2d_direct(torch::Tensor x, torch::Tensor w, torch::Tensor b, std::vector<int64_t> stride,
                            std::vector<int64_t> padding, std::vector<int64_t> dilation);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("conv2d", &conv2d_direct, "direct convolution", py::arg("x"), py::arg("w"), py::arg("b"),
        py::arg("stride") = std::vector<int64_t>{1, 1}, py::arg("padding") = std::vector<int64_t>{0, 0},
        py::arg("dilation") = std::vector<int64_t>{1, 1});
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <vector>

struct ConvShape {
  int N, C, H, W;
  int K, R, S;
  int P, Q;
  int stride[2], pad[2], dil[2];
};

__host__ __device__ constexpr int out_size(int in, int k, int stride, int pad, int dil) {
  return (in + 2 * pad - dil * (k - 1) - 1) / stride + 1;
}

__global__ void conv2d_kernel(const float* x, const float* w, const float* b, float* y, const ConvShape s) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= s.N * s.K * s.P * s.Q) return;
  const int q = idx % s.Q;
  const int p = idx / s.Q % s.P;
  const int k = idx / (s.Q * s.P) % s.K;
  const int n = idx / (s.Q * s.P * s.K);
  float acc = b[k];
  for (int c = 0; c < s.C; ++c) {
    for (int r = 0; r < s.R; ++r) {
      const int h = p * s.stride[0] - s.pad[0] + r * s.dil[0];
      if (h < 0 || h >= s.H) continue;
      for (int t = 0; t < s.S; ++t) {
        const int v = q * s.stride[1] - s.pad[1] + t * s.dil[1];
        if (v < 0 || v >= s.W) continue;
        acc += x[((n * s.C + c) * s.H + h) * s.W + v] * w[((k * s.C + c) * s.R + r) * s.S + t];
      }
    }
  }
  y[idx] = acc;
}

torch::Tensor conv2d_direct(torch::Tensor x, torch::Tensor w, torch::Tensor b, std::vector<int64_t> stride,
                            std::vector<int64_t> padding, std::vector<int64_t> dilation) {
  TORCH_CHECK(stride.size() == 2 && padding.size() == 2 && dilation.size() == 2, "stride, padding and dilation take two numbers");
  TORCH_CHECK(x.size(1) == w.size(1), "input has ", x.size(1), " channels, the weight wants ", w.size(1));
  ConvShape s;
  s.N = x.size(0); s.C = x.size(1); s.H = x.size(2); s.W = x.size(3);
  s.K = w.size(0); s.R = w.size(2); s.S = w.size(3);
  for (int i = 0; i < 2; i++) {
    s.stride[i] = stride[i];
    s.pad[i] = padding[i];
    s.dil[i] = dilation[i];
  }
  s.P = out_size(s.H, s.R, s.stride[0], s.pad[0], s.dil[0]);
  s.Q = out_size(s.W, s.S, s.stride[1], s.pad[1], s.dil[1]);
  TORCH_CHECK(s.P > 0 && s.Q > 0, "output would be empty");
  auto y = torch::empty({s.N, s.K, s.P, s.Q}, x.options());
  const int total = y.numel();
  conv2d_kernel<<<(total + 127) / 128, 128>>>(x.contiguous().data_ptr<float>(), w.contiguous().data_ptr<float>(),
                                              b.data_ptr<float>(), y.data_ptr<float>(), s);
  return y;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    def ref(x, w, b, stride, pad, dil):
        x, w = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2)), w.astype(np.float64)
        p = (x.shape[2] - dil[0] * (w.shape[2] - 1) - 1) // stride[0] + 1
        q = (x.shape[3] - dil[1] * (w.shape[3] - 1) - 1) // stride[1] + 1
        y = np.zeros((x.shape[0], w.shape[0], p, q)) + b.reshape(1, -1, 1, 1)
        for r in range(w.shape[2]):
            for s in range(w.shape[3]):
                part = x[:, :, r * dil[0] : r * dil[0] + p * stride[0] : stride[0], s * dil[1] : s * dil[1] + q * stride[1] : stride[1]]
                y += np.einsum("nchw,kc->nkhw", part[:, :, :p, :q], w[:, :, r, s])
        return y

    x = t.rng.standard_normal((2, 3, 11, 13)).astype(np.float32)
    w = t.rng.standard_normal((5, 3, 3, 2)).astype(np.float32)
    b = t.rng.standard_normal(5).astype(np.float32)
    t.close(m.conv2d(t(x), t(w), t(b)), ref(x, w, b, (1, 1), (0, 0), (1, 1)), rtol=1e-4, atol=1e-5)
    t.close(m.conv2d(t(x), t(w), t(b), [2, 1], [1, 2], [2, 3]), ref(x, w, b, (2, 1), (1, 2), (2, 3)), rtol=1e-4, atol=1e-5)
    t.close(m.conv2d(t(x), t(w), t(b), padding=[1, 1]), ref(x, w, b, (1, 1), (1, 1), (1, 1)), rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "input has 2 channels, the weight wants 3"):
        m.conv2d(t(np.ascontiguousarray(x[:, :2])), t(w), t(b))
    with t.raises(RuntimeError, "take two numbers"):
        m.conv2d(t(x), t(w), t(b), stride=[1])

"""LayerNorm forward (returns y, mean, rstd) and backward (dx, dgamma, dbeta) as vectors of tensors, paper-repository style."""
CPP = r'''
std::vector<at::Tensor> ln_forward(at::Tensor x, at::Tensor gamma, at::Tensor beta, double eps);
std::vector<at::Tensor> ln_backward(at::Tensor dy, at::Tensor x, at::Tensor mean, at::Tensor rstd, at::Tensor gamma);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &ln_forward, "LayerNorm forward (CUDA)", py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("eps") = 1e-5);
  m.def("backward", &ln_backward, "LayerNorm backward (CUDA)");
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <vector>

template <typename T>
__device__ T block_sum(T v, T* smem) {
  const int tid = threadIdx.x;
  smem[tid] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) smem[tid] += smem[tid + s];
    __syncthreads();
  }
  T r = smem[0];
  __syncthreads();
  return r;
}

template <int BLOCK>
__global__ void ln_fwd_kernel(const float* x, const float* gamma, const float* beta, float* y, float* mean, float* rstd, int D, float eps) {
  __shared__ float smem[BLOCK];
  const int row = blockIdx.x;
  x += row * D;
  y += row * D;
  float s = 0.f;
  for (int i = threadIdx.x; i < D; i += BLOCK) s += x[i];
  const float mu = block_sum(s, smem) / D;
  float v = 0.f;
  for (int i = threadIdx.x; i < D; i += BLOCK) {
    const float c = x[i] - mu;
    v += c * c;
  }
  const float r = rsqrtf(block_sum(v, smem) / D + eps);
  for (int i = threadIdx.x; i < D; i += BLOCK) y[i] = (x[i] - mu) * r * gamma[i] + beta[i];
  if (threadIdx.x == 0) {
    mean[row] = mu;
    rstd[row] = r;
  }
}

template <int BLOCK>
__global__ void ln_bwd_kernel(const float* dy, const float* x, const float* mean, const float* rstd, const float* gamma, float* dx,
                              float* dgamma, float* dbeta, int D) {
  __shared__ float smem[BLOCK];
  const int row = blockIdx.x;
  const float mu = mean[row], r = rstd[row];
  float a = 0.f, b = 0.f;
  for (int i = threadIdx.x; i < D; i += BLOCK) {
    const int k = row * D + i;
    const float xhat = (x[k] - mu) * r;
    const float g = dy[k] * gamma[i];
    a += g;
    b += g * xhat;
    atomicAdd(&dgamma[i], dy[k] * xhat);
    atomicAdd(dbeta + i, dy[k]);
  }
  a = block_sum(a, smem) / D;
  b = block_sum(b, smem) / D;
  for (int i = threadIdx.x; i < D; i += BLOCK) {
    const int k = row * D + i;
    const float xhat = (x[k] - mu) * r;
    dx[k] = r * (dy[k] * gamma[i] - a - xhat * b);
  }
}

std::vector<at::Tensor> ln_forward(at::Tensor x, at::Tensor gamma, at::Tensor beta, double eps) {
  const int N = x.size(0), D = x.size(1);
  at::Tensor y = at::empty_like(x);
  at::Tensor mean = at::empty({N}, x.options()), rstd = at::empty({N}, x.options());
  ln_fwd_kernel<64><<<N, 64>>>(x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(),
                               mean.data_ptr<float>(), rstd.data_ptr<float>(), D, (float)eps);
  return {y, mean, rstd};
}

std::vector<at::Tensor> ln_backward(at::Tensor dy, at::Tensor x, at::Tensor mean, at::Tensor rstd, at::Tensor gamma) {
  auto dx = at::empty_like(x);
  auto dgamma = at::zeros_like(gamma);
  auto dbeta = at::zeros_like(gamma);
  ln_bwd_kernel<64><<<x.size(0), 64>>>(dy.data_ptr<float>(), x.data_ptr<float>(), mean.data_ptr<float>(), rstd.data_ptr<float>(),
                                       gamma.data_ptr<float>(), dx.data_ptr<float>(), dgamma.data_ptr<float>(),
                                       dbeta.data_ptr<float>(), x.size(1));
  return {dx, dgamma, dbeta};
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    n, d = 37, 75
    x, dy = (t.rng.standard_normal((n, d)).astype(np.float32) for _ in range(2))
    g, b = (t.rng.standard_normal(d).astype(np.float32) for _ in range(2))
    X = x.astype(np.float64)
    mu = X.mean(1, keepdims=True)
    r = 1 / np.sqrt(X.var(1, keepdims=True) + 1e-5)
    xh = (X - mu) * r
    y, mean, rstd = m.forward(t(x), t(g), t(b))
    t.close(y, xh * g + b, rtol=1e-4, atol=1e-5)  # cancellation in x - mean
    t.close(mean, mu[:, 0], atol=1e-6)
    t.close(rstd, r[:, 0])
    dx, dg, db = m.backward(t(dy), t(x), mean, rstd, t(g))
    G = dy.astype(np.float64) * g
    t.close(dx, r * (G - G.mean(1, keepdims=True) - xh * (G * xh).mean(1, keepdims=True)), rtol=1e-4, atol=1e-5)
    t.close(dg, (dy * xh).sum(0), rtol=1e-4, atol=1e-5)
    t.close(db, dy.astype(np.float64).sum(0), rtol=1e-4, atol=1e-5)
    y2 = m.forward(t(x), t(g), t(b), eps=1.0)[0]
    t.close(y2, (X - mu) / np.sqrt(X.var(1, keepdims=True) + 1) * g + b, rtol=1e-4, atol=1e-5)

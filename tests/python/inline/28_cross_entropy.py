"""Softmax cross entropy with ignore_index and label smoothing: fused forward and backward kernels, mean reduction in the host code."""
CPP = r'''
std::tuple<torch::Tensor, torch::Tensor> ce_forward(torch::Tensor logits, torch::Tensor target, double smoothing, int64_t ignore_index);
torch::Tensor ce_backward(torch::Tensor grad_loss, torch::Tensor logits, torch::Tensor lse, torch::Tensor target, double smoothing, int64_t ignore_index);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &ce_forward, py::arg("logits"), py::arg("target"), py::arg("smoothing") = 0.0, py::arg("ignore_index") = -100);
  m.def("backward", &ce_backward, py::arg("grad_loss"), py::arg("logits"), py::arg("lse"), py::arg("target"), py::arg("smoothing") = 0.0,
        py::arg("ignore_index") = -100);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <tuple>

#define THREADS 64

template <class F>
__device__ float block_reduce(float v, F f) {
  __shared__ float s[THREADS];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = THREADS >> 1; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = f(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  const float r = s[0];
  __syncthreads();
  return r;
}

__global__ void ce_fwd_kernel(const float* logits, const int64_t* target, float* loss, float* lse, int C, float eps, int64_t ignore) {
  const int row = blockIdx.x;
  const float* z = logits + (int64_t)row * C;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < C; c += THREADS) m = fmaxf(m, z[c]);
  m = block_reduce(m, [](float a, float b) { return fmaxf(a, b); });
  float e = 0.f, total = 0.f;
  for (int c = threadIdx.x; c < C; c += THREADS) {
    e += expf(z[c] - m);
    total += z[c];
  }
  auto add = [](float a, float b) { return a + b; };
  e = block_reduce(e, add);
  total = block_reduce(total, add);
  if (threadIdx.x == 0) {
    const float l = m + logf(e);
    lse[row] = l;
    loss[row] = target[row] == ignore ? 0.f : (1.f - eps) * (l - z[target[row]]) + eps * (l - total / C);
  }
}

__global__ void ce_bwd_kernel(const float* logits, const float* lse, const int64_t* target, float* grad, int C, float eps, int64_t ignore, float scale) {
  const int row = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  const int64_t i = (int64_t)row * C + c;
  if (target[row] == ignore) {
    grad[i] = 0.f;
  } else {
    const float p = expf(logits[i] - lse[row]);
    grad[i] = scale * (p - (c == target[row] ? 1.f - eps : 0.f) - eps / C);
  }
}

std::tuple<torch::Tensor, torch::Tensor> ce_forward(torch::Tensor logits, torch::Tensor target, double smoothing, int64_t ignore_index) {
  const auto N = logits.size(0);
  TORCH_CHECK(target.numel() == N, "Expected input batch_size (", N, ") to match target batch_size (", target.numel(), ").");
  auto loss = torch::empty({N}, logits.options());
  auto lse = torch::empty_like(loss);
  ce_fwd_kernel<<<N, THREADS>>>(logits.data_ptr<float>(), target.data_ptr<int64_t>(), loss.data_ptr<float>(), lse.data_ptr<float>(),
                                logits.size(1), smoothing, ignore_index);
  const auto counted = target.ne(ignore_index).sum().item<int64_t>();
  return {loss.sum() / counted, lse};
}

torch::Tensor ce_backward(torch::Tensor grad_loss, torch::Tensor logits, torch::Tensor lse, torch::Tensor target, double smoothing, int64_t ignore_index) {
  auto grad = torch::empty_like(logits);
  const int64_t counted = (target != ignore_index).sum().item().toLong();
  const float scale = grad_loss.item<float>() / counted;
  dim3 grid((logits.size(1) + 31) / 32, logits.size(0));
  ce_bwd_kernel<<<grid, 32>>>(logits.data_ptr<float>(), lse.data_ptr<float>(), target.data_ptr<int64_t>(), grad.data_ptr<float>(),
                              logits.size(1), smoothing, ignore_index, scale);
  return grad;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    n, c = 37, 75
    z = (3 * t.rng.standard_normal((n, c))).astype(np.float32)
    y = t.rng.integers(0, c, n)
    y[3] = y[20] = -100
    d = z.astype(np.float64)
    lse = d.max(1) + np.log(np.exp(d - d.max(1, keepdims=True)).sum(1))
    keep = y != -100
    for eps in (0.0, 0.1):
        each = (1 - eps) * (lse - d[np.arange(n), np.where(keep, y, 0)]) + eps * (lse - d.mean(1))
        loss, got = m.forward(t(z), t(y), smoothing=eps)
        t.close(loss, each[keep].mean())
        t.close(got, lse)
        soft = np.full((n, c), eps / c)
        soft[np.arange(n)[keep], y[keep]] += 1 - eps
        want = np.where(keep[:, None], 2.0 * (np.exp(d - lse[:, None]) - soft) / keep.sum(), 0)
        t.close(m.backward(t(np.array(2.0, np.float32)), t(z), got, t(y), eps), want, rtol=1e-4, atol=1e-7)
    with t.raises(RuntimeError, "Expected input batch_size (37) to match target batch_size (5)."):
        m.forward(t(z), t(y[:5].copy()))

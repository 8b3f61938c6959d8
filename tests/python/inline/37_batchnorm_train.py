"""BatchNorm2d training forward that updates running statistics in place, with optional affine tensors and a num_batches counter."""
CPP = r'''
#include <torch/extension.h>
#include <vector>

std::vector<at::Tensor> bn_stats_cuda(at::Tensor x);
at::Tensor bn_apply_cuda(at::Tensor x, at::Tensor mean, at::Tensor var, const c10::optional<at::Tensor>& w, const c10::optional<at::Tensor>& b, double eps);

at::Tensor bn_train(at::Tensor x, at::Tensor running_mean, at::Tensor running_var, at::Tensor num_batches, c10::optional<at::Tensor> weight = c10::nullopt,
                    c10::optional<at::Tensor> bias = c10::nullopt, double momentum = 0.1, double eps = 1e-5) {
  auto stats = bn_stats_cuda(x);
  auto& mean = stats[0];
  auto& var = stats[1];
  const double count = static_cast<double>(x.numel()) / x.size(1);
  running_mean.mul_(1.0 - momentum).add_(mean, momentum);
  running_var.mul_(1.0 - momentum).add_(var * (count / (count - 1.0)), momentum);
  num_batches += 1;
  return bn_apply_cuda(x, mean, var, weight, bias, eps);
}

at::Tensor bn_eval(at::Tensor x, at::Tensor running_mean, at::Tensor running_var, double eps) {
  return bn_apply_cuda(x, running_mean, running_var, {}, {}, eps);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("train", &bn_train, py::arg("x"), py::arg("running_mean"), py::arg("running_var"), py::arg("num_batches"),
        py::arg("weight") = py::none(), py::arg("bias") = py::none(), py::arg("momentum") = 0.1, py::arg("eps") = 1e-5);
  m.def("eval", &bn_eval, "with the running statistics", py::arg("x"), py::arg("running_mean"), py::arg("running_var"), py::arg("eps") = 1e-5);
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <vector>

__global__ void bn_stats_kernel(const float* x, float* mean, float* var, int N, int C, int HW) {
  const int c = blockIdx.x;
  __shared__ double s1[128], s2[128];
  double a = 0, b = 0;
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    const double v = x[(i / HW * C + c) * HW + i % HW];
    a += v;
    b += v * v;
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  for (int s = 64; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      s1[threadIdx.x] += s1[threadIdx.x + s];
      s2[threadIdx.x] += s2[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) {
    const double mu = s1[0] / (N * HW);
    mean[c] = mu;
    var[c] = s2[0] / (N * HW) - mu * mu;
  }
}

__global__ void bn_apply_kernel(const float* x, const float* mean, const float* var, const float* w, const float* b, float* y, int n, int C, int HW, float eps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int c = i / HW % C;
  const float scale = (w ? w[c] : 1.f) / sqrtf(var[c] + eps);
  y[i] = (x[i] - mean[c]) * scale + (b ? b[c] : 0.f);
}

std::vector<at::Tensor> bn_stats_cuda(at::Tensor x) {
  TORCH_CHECK(x.ndimension() == 4, "expected 4D input (got ", x.ndimension(), "D input)");
  const auto C = x.size(1);
  at::Tensor mean = at::empty({C}, x.options()), var = at::empty({C}, x.options());
  bn_stats_kernel<<<C, 128>>>(x.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(), x.size(0), C, x.size(2) * x.size(3));
  return {mean, var};
}

at::Tensor bn_apply_cuda(at::Tensor x, at::Tensor mean, at::Tensor var, const c10::optional<at::Tensor>& w, const c10::optional<at::Tensor>& b, double eps) {
  auto y = at::empty_like(x);
  const int n = x.numel();
  bn_apply_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(),
                                            w.has_value() ? w->data_ptr<float>() : nullptr, b ? b->data_ptr<float>() : nullptr,
                                            y.data_ptr<float>(), n, x.size(1), x.size(2) * x.size(3), (float)eps);
  return y;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    x = (1 + 2 * t.rng.standard_normal((4, 3, 5, 7))).astype(np.float32)
    d = x.astype(np.float64)
    mu, var = d.mean((0, 2, 3)), d.var((0, 2, 3))
    rm, rv, nb = t(np.zeros(3, np.float32)), t(np.ones(3, np.float32)), t(np.array(4))
    norm = (d - mu.reshape(3, 1, 1)) / np.sqrt(var.reshape(3, 1, 1) + 1e-5)
    t.close(m.train(t(x), rm, rv, nb), norm, rtol=1e-4, atol=1e-5)
    t.close(rm, 0.1 * mu)
    t.close(rv, 0.9 + 0.1 * var * 140 / 139)
    assert int(t.np(nb)) == 5
    w, b = (t.rng.standard_normal(3).astype(np.float32) for _ in range(2))
    t.close(m.train(t(x), rm, rv, nb, t(w), bias=t(b), momentum=0.5), norm * w.reshape(3, 1, 1) + b.reshape(3, 1, 1), rtol=1e-4, atol=1e-5)
    t.close(rm, 0.55 * mu)
    R, V = t.np(rm).astype(np.float64).reshape(3, 1, 1), t.np(rv).astype(np.float64).reshape(3, 1, 1)
    t.close(m.eval(t(x), rm, rv), (d - R) / np.sqrt(V + 1e-5), rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "expected 4D input (got 2D input)"):
        m.train(t(x[0, 0].copy()), rm, rv, nb)

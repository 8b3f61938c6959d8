"""One source with a pybind11 module of a function and operators of the dispatcher, the plain Python.h module of the documentation too."""
CPP = r'''
#include <Python.h>
#include <torch/extension.h>
#include <torch/library.h>

extern "C" {
/* An empty module for `import`: the operators are registered as its library is loaded. */
PyObject* PyInit__wb_both(void) {
  static struct PyModuleDef module_def = {
      PyModuleDef_HEAD_INIT,
      "_wb_both", /* the name */
      NULL,       /* no documentation */
      -1,         /* no state for each interpreter */
      NULL,       /* no methods */
  };
  return PyModule_Create(&module_def);
}
}

namespace wb_both {

at::Tensor smooth_cuda(const at::Tensor& x, int64_t radius);

at::Tensor smooth_cpu(const at::Tensor& x, int64_t radius) {
  TORCH_CHECK(x.dim() == 1, "smooth takes a vector");
  TORCH_CHECK(radius >= 0, "radius must not be negative");
  const int64_t n = x.size(0);
  auto in = x.to(at::kDouble).contiguous();
  auto out = at::empty({n}, in.options());
  auto from = in.accessor<double, 1>(), to = out.accessor<double, 1>();
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t j = std::max<int64_t>(0, i - radius); j <= std::min(n - 1, i + radius); ++j, ++count) sum += from[j];
    to[i] = sum / count;
  }
  return out.to(x.scalar_type());
}

std::string version() { return "1.2"; }
int64_t window(int64_t radius) { return 2 * radius + 1; }

}  // namespace wb_both

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "what the operators need besides tensors";
  m.def("version", &wb_both::version);
  m.def("smooth", &wb_both::smooth_cpu, "the CPU's function itself", py::arg("x"), py::arg("radius") = 2);
}

TORCH_LIBRARY(wb_both, m) {
  m.def("smooth(Tensor x, int radius=1) -> Tensor");
  m.def("window", &wb_both::window);
}

TORCH_LIBRARY_IMPL(wb_both, CPU, m) { m.impl("smooth", &wb_both::smooth_cpu); }
TORCH_LIBRARY_IMPL(wb_both, CUDA, m) { m.impl("smooth", &wb_both::smooth_cuda); }
'''
CUDA = r'''
#include <torch/types.h>

namespace wb_both {

__global__ void smooth_kernel(const float* x, float* y, int n, int radius) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) {
    const int source = blockIdx.x * blockDim.x + k - radius;
    tile[k] = source >= 0 && source < n ? x[source] : 0.f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.f;
  for (int k = 0; k <= 2 * radius; ++k) sum += tile[threadIdx.x + k];
  y[i] = sum / (min(n - 1, i + radius) - max(0, i - radius) + 1);
}

at::Tensor smooth_cuda(const at::Tensor& x, int64_t radius) {
  TORCH_CHECK(x.dim() == 1 && x.scalar_type() == at::kFloat, "smooth takes a vector of floats on CUDA");
  TORCH_CHECK(radius >= 0 && radius <= 64, "radius must be within 0 and 64");
  auto in = x.contiguous(), out = at::empty_like(in);
  const int n = x.size(0);
  if (n) smooth_kernel<<<(n + 63) / 64, 64, (64 + 2 * radius) * sizeof(float)>>>(in.data_ptr<float>(), out.data_ptr<float>(), n, radius);
  return out;
}

}  // namespace wb_both
'''
FUNCTIONS = None
LIBRARY = False


def check(m, t):
    import numpy as np

    ops = t.ops.wb_both

    def ref(x, r):
        return np.array([x[max(0, i - r) : i + r + 1].mean(dtype=np.float64) for i in range(len(x))], np.float64).reshape(len(x))

    assert m.version() == "1.2"
    for n in (131, 64, 1, 0):
        x = t.rng.standard_normal(n).astype(np.float32)
        t.close(m.smooth(t(x)), ref(x, 2))
        t.close(m.smooth(t(x), radius=0), x)
        t.close(ops.smooth(t(x)), ref(x, 1))
        t.close(ops.smooth(t(x), radius=5), ref(x, 5))
        t.close(t.prefer_cuda(ops.smooth, t(x), 7), ref(x, 7))
    x = t.rng.standard_normal(9)
    t.close(ops.smooth.default(t(x), 3), ref(x, 3))
    assert ops.window(7) == 15
    with t.raises(RuntimeError, "radius must not be negative"):
        ops.smooth(t(x), -1)
    with t.raises(RuntimeError, "radius must be within 0 and 64"):
        t.prefer_cuda(ops.smooth, t(x.astype(np.float32)), 65)
    with t.raises(RuntimeError, "smooth takes a vector of floats on CUDA"):
        t.prefer_cuda(ops.smooth, t(x), 1)
    with t.raises(TypeError):
        m.smooth("x")
    with t.raises(t.argument_error):
        ops.smooth("x")

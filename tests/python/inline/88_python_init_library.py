"""The layout of newer tutorials: an empty module _C by PyInit__C, so that importing it registers the operators of TORCH_LIBRARY."""
LIBRARY = True
CPP = r'''
#include <Python.h>
#include <ATen/Operators.h>
#include <torch/all.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

extern "C" {
  /* An empty module: `from . import _C` loads the shared library, and loading it runs what TORCH_LIBRARY defines below. */
  PyObject* PyInit__C(void)
  {
      static struct PyModuleDef module_def = {
          PyModuleDef_HEAD_INIT,
          "_C",   /* name of module */
          NULL,   /* module documentation, may be NULL */
          -1,     /* size of per-interpreter state of the module, or -1 if it keeps state in global variables. */
          NULL,   /* methods */
      };
      return PyModule_Create(&module_def);
  }
}

namespace tutorial_layout {

at::Tensor blend_cpu(const at::Tensor& a, const at::Tensor& b, double weight) {
  TORCH_CHECK(a.sizes() == b.sizes(), "blend: a is ", a.sizes(), ", b is ", b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat);
  TORCH_CHECK(b.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
  TORCH_INTERNAL_ASSERT(b.device().type() == at::DeviceType::CPU);
  at::Tensor a_contig = a.contiguous();
  at::Tensor b_contig = b.contiguous();
  at::Tensor result = torch::empty(a_contig.sizes(), a_contig.options());
  const float* a_ptr = a_contig.data_ptr<float>();
  const float* b_ptr = b_contig.data_ptr<float>();
  float* result_ptr = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); i++) {
    result_ptr[i] = a_ptr[i] + static_cast<float>(weight) * (b_ptr[i] - a_ptr[i]);
  }
  return result;
}

// Writes to its last argument.
void scaled_sum_out_cpu(const at::Tensor& a, const at::Tensor& b, double scale, at::Tensor& out) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(b.sizes() == out.sizes(), "scaled_sum_out: out is ", out.sizes(), ", the sum is ", b.sizes());
  TORCH_CHECK(out.is_contiguous());
  at::Tensor a_contig = a.contiguous();
  at::Tensor b_contig = b.contiguous();
  const float* a_ptr = a_contig.data_ptr<float>();
  const float* b_ptr = b_contig.data_ptr<float>();
  float* out_ptr = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); i++) {
    out_ptr[i] = static_cast<float>(scale) * (a_ptr[i] + b_ptr[i]);
  }
}

std::tuple<at::Tensor, at::Tensor> row_extremes_cpu(const at::Tensor& x, bool absolute) {
  TORCH_CHECK(x.dim() == 2, "row_extremes wants a matrix, not ", x.dim(), " dimensions");
  const at::Tensor values = absolute ? x.abs() : x;
  return std::make_tuple(std::get<0>(values.min(1)), std::get<0>(values.max(1)));
}

// Defines the operators
TORCH_LIBRARY(tutorial_layout, m) {
   m.def("blend(Tensor a, Tensor b, float weight=0.5) -> Tensor");
   m.def("scaled_sum_out(Tensor a, Tensor b, float scale, Tensor(a!) out) -> ()");
   m.def("row_extremes(Tensor x, *, bool absolute=False) -> (Tensor, Tensor)");
}

// Registers the CPU implementations
TORCH_LIBRARY_IMPL(tutorial_layout, CPU, m) {
  m.impl("blend", &blend_cpu);
  m.impl("scaled_sum_out", &scaled_sum_out_cpu);
  m.impl("row_extremes", &row_extremes_cpu);
}

}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    ops = t.ops.tutorial_layout
    for shape in ((1,), (7, 5), (3, 4, 11)):
        a, b = (t.rng.standard_normal(shape).astype(np.float32) for _ in range(2))
        t.close(ops.blend(t(a), t(b), 0.25), a + np.float32(0.25) * (b - a), rtol=1e-6, atol=1e-6)
        t.close(ops.blend(t(a), t(b)), (a + b) / 2, rtol=1e-5, atol=1e-6)
        t.close(ops.blend(t(a), b=t(b), weight=1), b, rtol=1e-5, atol=1e-6)
        out = t(np.zeros(shape, np.float32))
        assert ops.scaled_sum_out(t(a), t(b), -3.0, out) is None
        t.close(out, -3 * (a + b), rtol=1e-6, atol=1e-6)

    x = t.rng.standard_normal((9, 13)).astype(np.float32)
    low, high = ops.row_extremes(t(x))
    t.close(low, x.min(1), rtol=0, atol=0)
    t.close(high, x.max(1), rtol=0, atol=0)
    low, high = ops.row_extremes(t(x), absolute=True)
    t.close(low, np.abs(x).min(1), rtol=0, atol=0)
    t.close(high, np.abs(x).max(1), rtol=0, atol=0)
    # Columns are taken through a copy.
    t.close(ops.blend(t(x).T, t(x).T, 0.3), x.T, rtol=1e-6, atol=1e-6)

    with t.raises(RuntimeError, "blend: a is [9, 13], b is [13]"):
        ops.blend(t(x), t(x[0].copy()))
    with t.raises(RuntimeError):
        ops.blend(t(x.astype(np.float64)), t(x.astype(np.float64)))
    with t.raises(RuntimeError, "scaled_sum_out: out is [3], the sum is [9, 13]"):
        ops.scaled_sum_out(t(x), t(x), 1.0, t(np.zeros(3, np.float32)))
    with t.raises(RuntimeError, "row_extremes wants a matrix, not 1 dimensions"):
        ops.row_extremes(t(x[0].copy()))
    with t.raises((TypeError, RuntimeError)):
        ops.blend(t(x))
    with t.raises((TypeError, RuntimeError)):
        ops.row_extremes(t(x), True)
    with t.raises(AttributeError):
        _ = ops.nothing_of_this_name

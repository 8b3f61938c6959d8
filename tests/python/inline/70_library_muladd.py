"""The operators of PyTorch's page on custom C++ and CUDA operators: schemas in TORCH_LIBRARY, one implementation for each device."""
CPP = r'''
#include <Python.h>
#include <ATen/Operators.h>
#include <torch/all.h>
#include <torch/library.h>
#include <vector>

extern "C" {
// What `import extension_cpp._C` finds; loading it runs the static initialisers that register the operators.
PyObject* PyInit__C(void) {
  static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", NULL, -1, NULL};
  return PyModule_Create(&definition);
}
}

namespace extension_cpp {

static void check_cpu(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat);
  TORCH_CHECK(b.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
  TORCH_INTERNAL_ASSERT(b.device().type() == at::DeviceType::CPU);
}

at::Tensor mymuladd_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
  check_cpu(a, b);
  at::Tensor lhs = a.contiguous(), rhs = b.contiguous();
  at::Tensor result = torch::empty(lhs.sizes(), lhs.options());
  const float* lhs_ptr = lhs.data_ptr<float>();
  const float* rhs_ptr = rhs.data_ptr<float>();
  float* result_ptr = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); i++) result_ptr[i] = lhs_ptr[i] * rhs_ptr[i] + c;
  return result;
}

at::Tensor mymul_cpu(const at::Tensor& a, const at::Tensor& b) {
  check_cpu(a, b);
  at::Tensor lhs = a.contiguous(), rhs = b.contiguous(), result = at::empty_like(lhs);
  for (int64_t i = 0; i < result.numel(); i++)
    result.data_ptr<float>()[i] = lhs.const_data_ptr<float>()[i] * rhs.const_data_ptr<float>()[i];
  return result;
}

void myadd_out_cpu(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  check_cpu(a, b);
  TORCH_CHECK(b.sizes() == out.sizes());
  TORCH_CHECK(out.dtype() == at::kFloat);
  TORCH_CHECK(out.is_contiguous());
  TORCH_INTERNAL_ASSERT(out.device().type() == at::DeviceType::CPU);
  at::Tensor lhs = a.contiguous(), rhs = b.contiguous();
  float* out_ptr = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); i++) out_ptr[i] = lhs.data_ptr<float>()[i] + rhs.data_ptr<float>()[i];
}

TORCH_LIBRARY(extension_cpp, m) {
  m.def("mymuladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("mymul(Tensor a, Tensor b) -> Tensor");
  m.def("myadd_out(Tensor a, Tensor b, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(extension_cpp, CPU, m) {
  m.impl("mymuladd", &mymuladd_cpu);
  m.impl("mymul", &mymul_cpu);
  m.impl("myadd_out", &myadd_out_cpu);
}

}  // namespace extension_cpp
'''
CUDA = r'''
#include <ATen/Operators.h>
#include <torch/all.h>
#include <torch/library.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>

namespace extension_cpp {

static void check_cuda(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat && b.dtype() == at::kFloat, "float tensors only, got ", a.dtype(), " and ", b.dtype());
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CUDA);
  TORCH_INTERNAL_ASSERT(b.device().type() == at::DeviceType::CUDA);
}

__global__ void muladd_kernel(int64_t n, const float* a, const float* b, float c, float* result) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = a[i] * b[i] + c;
}
__global__ void add_kernel(int64_t n, const float* a, const float* b, float* result) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = a[i] + b[i];
}

at::Tensor mymuladd_cuda(const at::Tensor& a, const at::Tensor& b, double c) {
  check_cuda(a, b);
  at::Tensor lhs = a.contiguous(), rhs = b.contiguous();
  at::Tensor result = torch::empty(lhs.sizes(), lhs.options());
  const int64_t n = lhs.numel();
  if (n > 0)
    muladd_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        n, lhs.data_ptr<float>(), rhs.data_ptr<float>(), static_cast<float>(c), result.data_ptr<float>());
  return result;
}

at::Tensor mymul_cuda(const at::Tensor& a, const at::Tensor& b) { return mymuladd_cuda(a, b, 0.0); }

void myadd_out_cuda(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  check_cuda(a, b);
  TORCH_CHECK(b.sizes() == out.sizes());
  TORCH_CHECK(out.dtype() == at::kFloat && out.is_contiguous());
  TORCH_INTERNAL_ASSERT(out.device().type() == at::DeviceType::CUDA);
  at::Tensor lhs = a.contiguous(), rhs = b.contiguous();
  const int64_t n = out.numel();
  if (n == 0) return;
  add_kernel<<<(n + 255) / 256, 256>>>(n, lhs.data_ptr<float>(), rhs.data_ptr<float>(), out.data_ptr<float>());
}

TORCH_LIBRARY_IMPL(extension_cpp, CUDA, m) {
  m.impl("mymuladd", &mymuladd_cuda);
  m.impl("mymul", &mymul_cuda);
  m.impl("myadd_out", &myadd_out_cuda);
}

}  // namespace extension_cpp
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.extension_cpp
    for call in (lambda op, *args: op(*args), t.prefer_cuda):
        for shape in ((1003,), (17, 5, 3), (0,), (4, 0), ()):
            a, b = (np.asarray(t.rng.standard_normal(shape), np.float32) for _ in range(2))
            A, B = a.astype(np.float64), b.astype(np.float64)
            t.close(call(ops.mymuladd, t(a), t(b), 1.5), A * B + 1.5)
            t.close(call(ops.mymul, t(a), t(b)), A * B)
            out = t(np.full(shape, 9, np.float32))
            assert call(ops.myadd_out, t(a), t(b), out) is None
            t.close(out, A + B)
        a, b = t.rng.standard_normal((7, 5)).astype(np.float32), t.rng.standard_normal((5, 7)).astype(np.float32)
        t.close(call(ops.mymul, t(a), t(b.T)), a.astype(np.float64) * b.T)
        with t.raises(RuntimeError, "Expected a.sizes() == b.sizes() to be true, but got false."):
            call(ops.mymul, t(a), t(b))
        with t.raises(RuntimeError):
            call(ops.myadd_out, t(a), t(a), t(b.T))  # the out is not contiguous
        with t.raises(RuntimeError, "Expected b.sizes() == out.sizes()"):
            call(ops.myadd_out, t(a), t(a), t(b))
    t.close(ops.mymuladd(c=2, b=t(a), a=t(a)), a.astype(np.float64) ** 2 + 2)
    t.close(ops.mymuladd.default(t(a), t(a), c=-0.25), a.astype(np.float64) ** 2 - 0.25)
    with t.raises(RuntimeError, "Expected b.dtype() == at::kFloat to be true"):
        ops.mymuladd(t(a), t(a.astype(np.float64)), 1.0)
    with t.raises(RuntimeError, "float tensors only, got float and double"):
        t.prefer_cuda(ops.mymuladd, t(a), t(a.astype(np.float64)), 1.0)
    with t.raises(t.argument_error):
        ops.mymuladd(t(a), t(a))

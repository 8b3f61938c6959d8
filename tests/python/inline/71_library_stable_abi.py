"""The same three operators with the stable ABI: STABLE_TORCH_LIBRARY, TORCH_BOX, torch::stable::Tensor, STD_TORCH_CHECK."""
CPP = r'''
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/macros/Macros.h>

namespace extension_cpp_stable {

using torch::headeronly::DeviceType;
using torch::headeronly::ScalarType;

static void require(const torch::stable::Tensor& x) {
  STD_TORCH_CHECK(x.scalar_type() == ScalarType::Float, "expected a float tensor");
  STD_TORCH_CHECK(x.device().type() == DeviceType::CPU, "expected a CPU tensor");
}

torch::stable::Tensor mymuladd_cpu(const torch::stable::Tensor& a, const torch::stable::Tensor& b, double c) {
  STD_TORCH_CHECK(a.sizes().equals(b.sizes()), "sizes differ: ", a.numel(), " and ", b.numel(), " elements");
  require(a);
  require(b);
  torch::stable::Tensor lhs = torch::stable::contiguous(a);
  torch::stable::Tensor rhs = torch::stable::contiguous(b);
  torch::stable::Tensor result = torch::stable::empty_like(lhs);
  const float* lhs_ptr = lhs.const_data_ptr<float>();
  const float* rhs_ptr = rhs.const_data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); i++) out[i] = lhs_ptr[i] * rhs_ptr[i] + static_cast<float>(c);
  return result;
}

torch::stable::Tensor mymul_cpu(const torch::stable::Tensor& a, const torch::stable::Tensor& b) {
  STD_TORCH_CHECK(a.dim() == b.dim(), "a has ", a.dim(), " dimensions, b has ", b.dim());
  for (int64_t d = 0; d < a.dim(); d++) STD_TORCH_CHECK(a.size(d) == b.size(d), "sizes differ in dimension ", d);
  return mymuladd_cpu(a, b, 0.0);
}

void myadd_out_cpu(const torch::stable::Tensor& a, const torch::stable::Tensor& b, torch::stable::Tensor& out) {
  STD_TORCH_CHECK(a.sizes().equals(b.sizes()) && b.sizes().equals(out.sizes()));
  require(a);
  require(b);
  require(out);
  STD_TORCH_CHECK(out.is_contiguous(), "out must be contiguous");
  auto lhs = torch::stable::contiguous(a), rhs = torch::stable::contiguous(b);
  const float* lhs_ptr = static_cast<const float*>(lhs.const_data_ptr());
  const float* rhs_ptr = static_cast<const float*>(rhs.const_data_ptr());
  float* to = out.mutable_data_ptr<float>();
  const int64_t n = out.numel();
  for (int64_t i = 0; i < n; i++) to[i] = lhs_ptr[i] + rhs_ptr[i];
}

STABLE_TORCH_LIBRARY(extension_cpp_stable, m) {
  m.def("mymuladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("mymul(Tensor a, Tensor b) -> Tensor");
  m.def("myadd_out(Tensor a, Tensor b, Tensor(a!) out) -> ()");
}

STABLE_TORCH_LIBRARY_IMPL(extension_cpp_stable, CPU, m) {
  m.impl("mymuladd", TORCH_BOX(&mymuladd_cpu));
  m.impl("mymul", TORCH_BOX(&mymul_cpu));
  m.impl("myadd_out", TORCH_BOX(&myadd_out_cpu));
}

}  // namespace extension_cpp_stable
'''
CUDA = r'''
#ifndef USE_CUDA
#define USE_CUDA  // the header below declares the CUDA entries of the C interface only then
#endif
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/ScalarType.h>
#include <cuda_runtime.h>

namespace extension_cpp_stable {

using torch::stable::Tensor;

template <bool MUL>
__global__ void fused_kernel(int64_t n, const float* a, const float* b, float c, float* out) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = (MUL ? a[i] * b[i] : a[i] + b[i]) + c;
}

template <bool MUL>
static void launch(const Tensor& a, const Tensor& b, double c, Tensor& out) {
  STD_TORCH_CHECK(a.sizes().equals(b.sizes()) && a.sizes().equals(out.sizes()), "sizes differ");
  STD_TORCH_CHECK(a.scalar_type() == torch::headeronly::ScalarType::Float && b.scalar_type() == a.scalar_type(), "expected float tensors");
  STD_TORCH_CHECK(a.device().type() == torch::headeronly::DeviceType::CUDA && b.is_cuda() && out.is_cuda(), "expected CUDA tensors");
  const Tensor lhs = torch::stable::contiguous(a), rhs = torch::stable::contiguous(b);
  const int64_t n = out.numel();
  if (n == 0) return;
  torch::stable::accelerator::DeviceGuard guard(a.get_device_index());
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(a.get_device_index(), &stream));
  fused_kernel<MUL><<<(n + 127) / 128, 128, 0, static_cast<cudaStream_t>(stream)>>>(
      n, lhs.const_data_ptr<float>(), rhs.const_data_ptr<float>(), static_cast<float>(c), out.mutable_data_ptr<float>());
}

Tensor mymuladd_cuda(const Tensor& a, const Tensor& b, double c) {
  Tensor out = torch::stable::empty_like(torch::stable::contiguous(a));
  launch<true>(a, b, c, out);
  return out;
}
Tensor mymul_cuda(const Tensor& a, const Tensor& b) { return mymuladd_cuda(a, b, 0.0); }
void myadd_out_cuda(const Tensor& a, const Tensor& b, Tensor& out) { launch<false>(a, b, 0.0, out); }

STABLE_TORCH_LIBRARY_IMPL(extension_cpp_stable, CUDA, m) {
  m.impl("mymuladd", TORCH_BOX(&mymuladd_cuda));
  m.impl("mymul", TORCH_BOX(&mymul_cuda));
  m.impl("myadd_out", TORCH_BOX(&myadd_out_cuda));
}

}  // namespace extension_cpp_stable
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.extension_cpp_stable
    for call in (lambda op, *args: op(*args), t.prefer_cuda):
        for shape in ((1003,), (3, 17, 5), (0, 3), ()):
            a, b = (np.asarray(t.rng.standard_normal(shape), np.float32) for _ in range(2))
            A, B = a.astype(np.float64), b.astype(np.float64)
            t.close(call(ops.mymuladd, t(a), t(b), -2.25), A * B - 2.25)
            t.close(call(ops.mymul, t(a), t(b)), A * B)
            out = t(np.full(shape, 9, np.float32))
            assert call(ops.myadd_out, t(a), t(b), out) is None
            t.close(out, A + B)
        a, b = (t.rng.standard_normal(s).astype(np.float32) for s in ((7, 5), (5, 7)))
        t.close(call(ops.mymuladd, t(a), t(b.T), 1), a.astype(np.float64) * b.T + 1)
        with t.raises(RuntimeError, "sizes differ"):
            call(ops.mymuladd, t(a), t(b), 1.0)
        with t.raises(RuntimeError, "expected"):
            call(ops.mymul, t(a.astype(np.float64)), t(a))
    with t.raises(RuntimeError, "sizes differ: 35 and 6 elements"):
        ops.mymuladd(t(a), t(np.zeros(6, np.float32)), 1.0)
    with t.raises(RuntimeError, "a has 2 dimensions, b has 1"):
        ops.mymul(t(a), t(a[0]))
    with t.raises(RuntimeError, "sizes differ in dimension 1"):
        ops.mymul(t(a), t(a[:, :4].copy()))
    with t.raises(RuntimeError, "out must be contiguous"):
        ops.myadd_out(t(a), t(a), t(b.T))
    t.close(ops.mymul.default(b=t(a), a=t(a)), a.astype(np.float64) ** 2)
    with t.raises(t.argument_error):
        ops.mymul(t(a))

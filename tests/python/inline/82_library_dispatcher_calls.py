"""Operators that call other registered operators by name through c10::Dispatcher, typed, on the device of their arguments."""
CPP = r'''
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>
#include <torch/torch.h>
#include <tuple>

namespace wb_chain {

using at::Tensor;

Tensor scale_cpu(const Tensor& x, double s) { return x * s; }
int64_t where_cpu(const Tensor&) { return 0; }
Tensor shift_scalar(const Tensor& x, double by) { return x + by; }
Tensor shift_tensor(const Tensor& x, const Tensor& by) { return x + by; }
void accumulate_(Tensor& into, const Tensor& x) { into += x; }
std::tuple<Tensor, double> centred(const Tensor& x) {
  const double mean = x.mean().item<double>();
  return {x - mean, mean};
}

// the C++ side of an operator: looked up once, called as a function
Tensor scale(const Tensor& x, double s) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_chain::scale", "").typed<Tensor(const Tensor&, double)>();
  return op.call(x, s);
}

Tensor cube_scale(const Tensor& x, double s) { return scale(scale(scale(x, s), s), s); }

// s x + by, from three operators of which two are overloads
Tensor line(const Tensor& x, double s, const Tensor& by) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto shift_by_number = dispatcher.findSchemaOrThrow("wb_chain::shift", "Scalar").typed<decltype(shift_scalar)>();
  const auto shift_by_tensor = dispatcher.findSchemaOrThrow("wb_chain::shift", "Tensor").typed<Tensor(const Tensor&, const Tensor&)>();
  return shift_by_tensor.call(shift_by_number.call(scale(x, s), -1.0), shift_by_number.call(by, 1.0));
}

Tensor sum_all(at::TensorList xs) {
  TORCH_CHECK(xs.size() > 0, "sum_all needs a tensor");
  static const auto add = c10::Dispatcher::singleton().findSchemaOrThrow("wb_chain::accumulate_", "").typed<void(Tensor&, const Tensor&)>();
  Tensor total = at::zeros_like(xs[0]);
  for (const auto& x : xs) add.call(total, x);
  return total;
}

double spread(const Tensor& x) {
  auto centre = c10::Dispatcher::singleton().findSchemaOrThrow("wb_chain::centred", "").typed<std::tuple<Tensor, double>(const Tensor&)>();
  const auto [y, mean] = centre.call(x);
  return y.pow(2).mean().sqrt().item<double>();
}

int64_t where_through(const Tensor& x) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_chain::where", "").typed<int64_t(const Tensor&)>();
  return 10 + op.call(x) + op.call(at::empty({2}, x.options()));
}

Tensor missing(const Tensor& x) {
  return c10::Dispatcher::singleton().findSchemaOrThrow("wb_chain::not_there", "").typed<Tensor(const Tensor&)>().call(x);
}

TORCH_LIBRARY(wb_chain, m) {
  m.def("cube_scale(Tensor x, float s) -> Tensor", &cube_scale);
  m.def("line(Tensor x, float s, Tensor by) -> Tensor", &line);
  m.def("sum_all(Tensor[] xs) -> Tensor", &sum_all);
  m.def("spread(Tensor x) -> float", &spread);
  m.def("missing(Tensor x) -> Tensor", &missing);
  m.def("scale(Tensor x, float s) -> Tensor");
  m.def("where(Tensor x) -> int");
  m.def("where_through(Tensor x) -> int");
  m.def("shift.Scalar(Tensor x, float by) -> Tensor", &shift_scalar);
  m.def("shift.Tensor(Tensor x, Tensor by) -> Tensor", &shift_tensor);
  m.def("accumulate_(Tensor(a!) into, Tensor x) -> ()", &accumulate_);
  m.def("centred(Tensor x) -> (Tensor, float)", &centred);
}

TORCH_LIBRARY_IMPL(wb_chain, CPU, m) {
  m.impl("scale", &scale_cpu);
  m.impl("where", &where_cpu);
  m.impl("where_through", &where_through);
}
TORCH_LIBRARY_IMPL(wb_chain, CUDA, m) { m.impl("where_through", &where_through); }

}  // namespace wb_chain
'''
CUDA = r'''
#include <torch/library.h>
#include <torch/types.h>

namespace wb_chain {

template <typename T>
__global__ void scale_kernel(const T* x, T* y, T s, int64_t n) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s;
}

at::Tensor scale_cuda(const at::Tensor& x, double s) {
  auto in = x.contiguous(), out = at::empty_like(in);
  const int64_t n = in.numel();
  if (n == 0) return out;
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "scale_cuda", [&] {
    scale_kernel<<<(n + 127) / 128, 128>>>(in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), static_cast<scalar_t>(s), n);
  });
  return out;
}

int64_t where_cuda(const at::Tensor&) { return 1; }

TORCH_LIBRARY_IMPL(wb_chain, CUDA, m) {
  m.impl("scale", &scale_cuda);
  m.impl("where", &where_cuda);
}

}  // namespace wb_chain
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_chain
    for shape in ((5, 7), (0,), ()):
        x, y = (np.asarray(t.rng.standard_normal(shape)) for _ in range(2))
        t.close(ops.scale(t(x), 1.5), 1.5 * x)
        t.close(t.prefer_cuda(ops.scale, t(x), 1.5), 1.5 * x)
        t.close(ops.cube_scale(t(x), -2), -8 * x)
        t.close(ops.line(t(x), 3.0, by=t(y)), 3 * x + y)
        t.close(ops.sum_all([t(x), t(y), t(x)]), 2 * x + y)
        t.close(ops.shift(t(x), t(y)), x + y)
    x = t.rng.standard_normal(101)
    assert abs(ops.spread(t(x)) - x.std()) < 1e-12
    assert ops.where(t(x)) == 0 and t.prefer_cuda(ops.where, t(x)) == 1
    assert ops.where_through(t(x)) == 10 and t.prefer_cuda(ops.where_through, t(x)) == 12
    with t.raises(RuntimeError, "Could not find schema for wb_chain::not_there"):
        ops.missing(t(x))
    with t.raises(RuntimeError, "sum_all needs a tensor"):
        ops.sum_all([])

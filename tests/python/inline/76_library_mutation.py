"""Operators that write to their arguments: Tensor(a!) returned and not, lists of them, two at once, optional ones, and views of an argument."""
CPP = r'''
#include <torch/library.h>
#include <torch/torch.h>
#include <optional>
#include <tuple>

namespace wb_mutation {

at::Tensor& add_scaled_(at::Tensor& self, const at::Tensor& other, double alpha) {
  TORCH_CHECK(self.sizes() == other.sizes(), "add_scaled_: ", self.sizes(), " and ", other.sizes());
  return self.add_(other, alpha);
}

void foreach_scale_(at::TensorList xs, double factor) {
  for (const auto& x : xs) x.mul_(factor);
}

std::tuple<at::Tensor&, at::Tensor&> exchange_(at::Tensor& x, at::Tensor& y) {
  const auto saved = x.clone();
  x.copy_(y);
  y.copy_(saved);
  return std::forward_as_tuple(x, y);
}

void running_max(const at::Tensor& x, at::Tensor& best, const std::optional<at::Tensor>& hits) {
  TORCH_CHECK(x.is_contiguous() && best.is_contiguous(), "running_max needs contiguous tensors");
  TORCH_CHECK(x.scalar_type() == at::kFloat && best.scalar_type() == at::kFloat);
  const float* from = x.const_data_ptr<float>();
  float* to = best.mutable_data_ptr<float>();
  int64_t* counts = hits ? hits->mutable_data_ptr<int64_t>() : nullptr;
  for (int64_t i = 0; i < best.numel(); ++i) {
    if (from[i] <= to[i]) continue;
    to[i] = from[i];
    if (counts) ++counts[i];
  }
}

at::Tensor& fill_ramp_(at::Tensor& self, double step) {
  auto flat = self.view({-1});
  for (int64_t i = 0; i < flat.size(0); ++i) flat[i] = i * step;
  return self;
}

at::Tensor row(const at::Tensor& self, int64_t index) { return self.select(0, index); }

TORCH_LIBRARY(wb_mutation, m) {
  m.def("add_scaled_(Tensor(a!) self, Tensor other, float alpha=1.0) -> Tensor(a!)");
  m.def("foreach_scale_(Tensor(a!)[] xs, float factor) -> ()");
  m.def("exchange_(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))");
  m.def("running_max(Tensor x, Tensor(a!) best, Tensor(b!)? hits=None) -> ()");
  m.def("fill_ramp_(Tensor(a!) self, *, float step=1.0) -> Tensor(a!)");
  m.def("row(Tensor(a) self, int index) -> Tensor(a)", &row);
}

TORCH_LIBRARY_IMPL(wb_mutation, CPU, m) {
  m.impl("add_scaled_", &add_scaled_);
  m.impl("foreach_scale_", &foreach_scale_);
  m.impl("exchange_", &exchange_);
  m.impl("running_max", &running_max);
  m.impl("fill_ramp_", &fill_ramp_);
}

}  // namespace wb_mutation
'''
CUDA = r'''
#include <torch/library.h>
#include <torch/all.h>

namespace wb_mutation {

__global__ void axpy_kernel(float* x, const float* y, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += alpha * y[i];
}

at::Tensor& add_scaled_cuda_(at::Tensor& self, const at::Tensor& other, double alpha) {
  TORCH_CHECK(self.is_contiguous() && self.sizes() == other.sizes(), "add_scaled_ on CUDA: ", self.sizes(), " and ", other.sizes());
  const auto y = other.contiguous();
  const int n = self.numel();
  if (n) axpy_kernel<<<(n + 99) / 100, 100>>>(self.data_ptr<float>(), y.data_ptr<float>(), alpha, n);
  return self;
}

TORCH_LIBRARY_IMPL(wb_mutation, CUDA, m) { m.impl("add_scaled_", add_scaled_cuda_); }

}  // namespace wb_mutation
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_mutation
    for call in (lambda op, *args: op(*args), t.prefer_cuda):
        for shape in ((7, 5), (0,), ()):
            x, y = (np.asarray(t.rng.standard_normal(shape), np.float32) for _ in range(2))
            X = t(x)
            result = call(ops.add_scaled_, X, t(y), -0.5)
            want = x.astype(np.float64) - 0.5 * y
            t.close(X, want)
            t.close(result, want)
    with t.raises(RuntimeError, "add_scaled_: [2] and [3]"):
        ops.add_scaled_(t(np.zeros(2, np.float32)), t(np.zeros(3, np.float32)))
    with t.raises(RuntimeError, "add_scaled_ on CUDA: [2] and [3]"):
        t.prefer_cuda(ops.add_scaled_, t(np.zeros(2, np.float32)), t(np.zeros(3, np.float32)))

    x, y = (t.rng.standard_normal((3, 5)).astype(np.float32) for _ in range(2))
    X = t(x)
    result = ops.add_scaled_(X, t(y))  # the result is the argument
    assert ops.foreach_scale_([result], 2.0) is None
    t.close(X, 2 * (x.astype(np.float64) + y))
    t.close(result, 2 * (x.astype(np.float64) + y))

    arrays = [t.rng.standard_normal(s) for s in ((11,), (2, 3), (0,), ())]
    tensors = [t(np.asarray(a)) for a in arrays]
    ops.foreach_scale_(tensors, factor=-3)
    for got, a in zip(tensors, arrays):
        t.close(got, -3 * a)

    X, Y = t(x), t(y)
    a, b = ops.exchange_(X, Y)
    for got, want in ((X, y), (Y, x), (a, y), (b, x)):
        t.close(got, want, rtol=0, atol=0)

    best, hits = t(np.zeros(15, np.float32)), t(np.zeros(15, np.int64))
    rounds = t.rng.standard_normal((4, 15)).astype(np.float32)
    want, counts = np.zeros(15, np.float32), np.zeros(15, np.int64)
    for r in rounds:
        assert ops.running_max(t(r), best, hits) is None
        counts += r > want
        want = np.maximum(want, r)
    t.close(best, want, rtol=0, atol=0)
    t.close(hits, counts)
    ops.running_max(t(want + 1), best)
    t.close(best, want + 1)
    t.close(hits, counts)

    X = t(np.zeros((3, 5)))
    t.close(ops.fill_ramp_(X, step=0.5), np.arange(15).reshape(3, 5) * 0.5)
    view = ops.row(X, -2)
    t.close(view, np.arange(5, 10) * 0.5)
    ops.foreach_scale_([view], 10.0)  # through the view
    t.close(X, np.arange(15).reshape(3, 5) * np.array([[0.5], [5], [0.5]]))
    with t.raises(t.argument_error):
        ops.fill_ramp_(X, 0.5)
    with t.raises(t.argument_error):
        ops.foreach_scale_(3.0, X)

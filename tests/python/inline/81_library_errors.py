"""Negative: checks that fail within operators, the kinds of exception they become, and calls that the schema refuses."""
CPP = r'''
#include <torch/library.h>
#include <torch/torch.h>
#include <stdexcept>

namespace {

at::Tensor blend(const at::Tensor& a, const at::Tensor& b, double w, bool clamp) {
  TORCH_CHECK(a.sizes() == b.sizes(), "blend: sizes ", a.sizes(), " and ", b.sizes(), " differ");
  TORCH_CHECK_VALUE(w >= 0 && w <= 1, "blend: weight ", w, " is not within 0 and 1");
  auto y = a * w + b * (1 - w);
  return clamp ? y.clamp(0, 1) : y;
}

at::Tensor pick(const at::Tensor& x, int64_t index) {
  const int64_t n = x.size(0);
  TORCH_CHECK_INDEX(index >= -n && index < n, "index ", index, " is out of range for ", n, " rows");
  return x[index < 0 ? index + n : index].clone();
}

at::Tensor log_of(const at::Tensor& x) {
  TORCH_CHECK_TYPE(at::isFloatingType(x.scalar_type()), "log_of takes floating types, not ", x.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(x.dim() < 3, "log_of has no code for ", x.dim(), " dimensions");
  if ((x <= 0).any().item<bool>()) throw std::invalid_argument("log_of: not positive");
  return x.log();
}

int64_t checked_div(int64_t a, int64_t b) {
  if (b == 0) throw std::runtime_error("division by zero");
  TORCH_CHECK(a % b == 0);
  return a / b;
}

at::Tensor inner_failure(const at::Tensor& x) { return at::mm(x, x); }

}  // namespace

TORCH_LIBRARY(wb_errors, m) {
  m.def("blend(Tensor a, Tensor b, float w=0.5, *, bool clamp=False) -> Tensor");
  m.def("pick(Tensor x, int index) -> Tensor");
  m.def("log_of(Tensor x) -> Tensor");
  m.def("checked_div(int a, int b) -> int", &checked_div);
  m.def("inner_failure(Tensor x) -> Tensor", &inner_failure);
}

TORCH_LIBRARY_IMPL(wb_errors, CPU, m) {
  m.impl("blend", &blend);
  m.impl("pick", &pick);
  m.impl("log_of", &log_of);
}
'''
CUDA = ""
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_errors
    a, b = t.rng.standard_normal((2, 3, 5))
    for _ in range(2):  # an operator that failed works as before
        t.close(ops.blend(t(a), t(b)), (a + b) / 2)
        t.close(ops.blend(t(a), t(b), 0.25, clamp=True), np.clip(0.25 * a + 0.75 * b, 0, 1))
        with t.raises(RuntimeError, "blend: sizes [3, 5] and [5, 3] differ"):
            ops.blend(t(a), t(b.T.copy()))
        with t.raises(ValueError, "blend: weight 1.5 is not within 0 and 1"):
            ops.blend(t(a), t(b), 1.5)
        with t.raises(ValueError, "blend: weight -1 is not within 0 and 1"):
            ops.blend.default(t(a), t(b), w=-1)
        for i in (0, 2, -1, -3):
            t.close(ops.pick(t(a), i), a[i])
        for i in (3, -4):
            with t.raises(IndexError, f"index {i} is out of range for 3 rows"):
                ops.pick(t(a), i)
        with t.raises(IndexError, "index 0 is out of range for 0 rows"):
            ops.pick(t(a[:0].copy()), 0)
        t.close(ops.log_of(t(np.abs(a) + 1)), np.log(np.abs(a) + 1))
        with t.raises(TypeError, "log_of takes floating types, not Long"):
            ops.log_of(t(np.arange(3)))
        with t.raises(NotImplementedError, "log_of has no code for 3 dimensions"):
            ops.log_of(t(np.ones((1, 1, 1))))
        with t.raises(RuntimeError, "log_of: not positive"):  # the dispatcher's calls know no std::invalid_argument, unlike pybind11's
            ops.log_of(t(np.array([1.0, 0.0])))
        assert ops.checked_div(-12, 4) == -3
        with t.raises(RuntimeError, "division by zero"):
            ops.checked_div(1, 0)
        with t.raises(RuntimeError, "Expected a % b == 0 to be true, but got false."):
            ops.checked_div(7, 2)
        t.close(ops.inner_failure(t(a[:, :3].copy())), a[:, :3] @ a[:, :3])
        with t.raises(RuntimeError):
            ops.inner_failure(t(a))
    A, B = t(a), t(b)
    for args, kwargs in (
        ((), {}),
        ((A,), {}),
        ((A, B, 0.5, True), {}),
        ((A, B, 0.5, True, 1), {}),
        ((A,), {"other": B}),
        ((A, B), {"weight": 0.5}),
        ((A, B), {"a": A}),
        (("a", B), {}),
        ((A, "b"), {}),
        ((A, 2.5), {}),
        ((A, B, "0.5"), {}),
        ((A, B, B), {}),
        ((A, B, None), {}),
        ((), {"w": 0.5, "b": B}),
    ):
        with t.raises(t.argument_error):
            ops.blend(*args, **kwargs)
    for args in ((A, 1.5), (A, "1"), (A, None), (1, 1), (A, [1])):
        with t.raises(t.argument_error):
            ops.pick(*args)
    with t.raises(t.argument_error):
        ops.checked_div(7, b=A)
    with t.raises(AttributeError, "nothing"):
        ops.nothing(A)

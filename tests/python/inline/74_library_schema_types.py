"""Types in schemas: defaults, keyword-only arguments, lists, optionals, Scalar, ScalarType, several returns, lists and numbers returned."""
CPP = r'''
#include <torch/library.h>
#include <torch/torch.h>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

at::Tensor affine(const at::Tensor& x, double scale, double shift, bool negate) {
  auto y = x * scale + shift;
  return negate ? -y : y;
}

at::Tensor crop(const at::Tensor& x, at::IntArrayRef start, at::IntArrayRef size) {
  TORCH_CHECK(static_cast<int64_t>(start.size()) == x.dim(), "start has ", start.size(), " entries for ", x.dim(), " dimensions");
  TORCH_CHECK(size.size() == 2, "size has two entries");
  return x.narrow(0, start[0], size[0]).narrow(1, start[1], size[1]).clone();
}

at::Tensor reduce(const at::Tensor& x, std::string_view mode, std::optional<int64_t> dim, std::optional<at::ScalarType> dtype) {
  const at::Tensor y = dtype.has_value() ? x.to(*dtype) : x;
  if (mode == "sum") {
    if (!dim) return y.sum();
    const int64_t d = *dim;
    return y.sum(at::IntArrayRef(d));
  }
  TORCH_CHECK(mode == "max", "unknown reduction ", mode);
  return dim ? y.amax(*dim) : y.max();
}

at::Tensor add_scalar(const at::Tensor& x, const at::Scalar& s, const at::Scalar& alpha) { return at::add(x, s, alpha); }

at::Tensor biased(const at::Tensor& x, const std::optional<at::Tensor>& bias) {
  return bias.has_value() ? x + *bias : x.clone();
}

at::Tensor total(at::TensorList xs) {
  TORCH_CHECK(!xs.empty(), "total needs a tensor");
  at::Tensor sum = xs[0].clone();
  for (const at::Tensor& x : xs.slice(1)) sum += x;
  return sum;
}

at::Tensor weighted(const std::vector<at::Tensor>& xs, at::ArrayRef<double> ws) {
  TORCH_CHECK(xs.size() == ws.size(), xs.size(), " tensors, ", ws.size(), " weights");
  auto sum = at::zeros_like(xs.at(0));
  for (size_t i = 0; i < xs.size(); ++i) sum.add_(xs[i], ws[i]);
  return sum;
}

std::tuple<at::Tensor, at::Tensor, double> spread(const at::Tensor& x) { return {x.min(), x.max(), x.mean().item<double>()}; }

std::vector<at::Tensor> halves(const at::Tensor& x) {
  const int64_t h = x.size(0) / 2;
  return {x.slice(0, 0, h).clone(), x.slice(0, h).clone()};
}

int64_t count_above(const at::Tensor& x, double limit) { return (x > limit).sum().item<int64_t>(); }
double mean_of(const at::Tensor& x) { return x.mean().item<double>(); }
bool has_nan(const at::Tensor& x) { return x.isnan().any().item<bool>(); }
std::string describe(const at::Tensor& x, std::optional<std::string_view> prefix) {
  return c10::str(prefix.value_or("tensor"), " of ", x.numel(), " ", x.scalar_type());
}

}  // namespace

TORCH_LIBRARY(wb_schema, m) {
  m.def("affine(Tensor x, float scale=2.0, *, float shift=0.5, bool negate=False) -> Tensor");
  m.def("crop(Tensor x, int[] start, int[2] size=[2, 3]) -> Tensor");
  m.def("reduce(Tensor x, str mode=\"sum\", int? dim=None, *, ScalarType? dtype=None) -> Tensor");
  m.def("add_scalar(Tensor x, Scalar s, Scalar alpha=1) -> Tensor");
  m.def("biased(Tensor x, Tensor? bias=None) -> Tensor");
  m.def("total(Tensor[] xs) -> Tensor", &total);
  m.def("weighted(Tensor[] xs, float[] ws) -> Tensor");
  m.def("spread(Tensor x) -> (Tensor lo, Tensor hi, float mean)");
  m.def("halves(Tensor x) -> Tensor[]");
  m.def("count_above(Tensor x, float limit=0) -> int");
  m.def("mean_of(Tensor x) -> float");
  m.def("has_nan(Tensor x) -> bool");
  m.def("describe(Tensor x, str? prefix=None) -> str");
}

TORCH_LIBRARY_IMPL(wb_schema, CPU, m) {
  m.impl("affine", &affine).impl("crop", &crop).impl("reduce", &reduce).impl("add_scalar", &add_scalar);
  m.impl("biased", &biased).impl("weighted", &weighted).impl("spread", &spread).impl("halves", &halves);
  m.impl("count_above", &count_above);
  m.impl("mean_of", &mean_of);
  m.impl("has_nan", &has_nan);
  m.impl("describe", &describe);
}
'''
CUDA = ""
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_schema
    x = t.rng.standard_normal((7, 5))
    t.close(ops.affine(t(x)), 2 * x + 0.5)
    t.close(ops.affine(t(x), 3, negate=True), -(3 * x + 0.5))
    t.close(ops.affine(shift=-1.0, x=t(x), scale=0.25), 0.25 * x - 1)
    t.close(ops.crop(t(x), [1, 2]), x[1:3, 2:5])
    t.close(ops.crop(t(x), (0, 1), size=(5, 4)), x[:5, 1:])
    t.close(ops.crop(t(x), [3, 0], 2), x[3:5, :2])  # one int stands for both of int[2]
    t.close(ops.reduce(t(x)), x.sum())
    t.close(ops.reduce(t(x), "max", 1), x.max(1))
    t.close(ops.reduce(t(x), dim=-2, mode="sum"), x.sum(0))
    f64 = getattr(t, "float64", np.float64)  # a runner for torch gives its own
    t.close(ops.reduce(t(np.arange(6)), dtype=f64), np.float64(15))
    i = np.arange(6)
    t.close(ops.add_scalar(t(i), 3), i + 3)
    t.close(ops.add_scalar(t(x), 3, alpha=0.5), x + 1.5)
    t.close(ops.add_scalar(t(i), 2, 4), i + 8)
    t.close(ops.biased(t(x)), x)
    t.close(ops.biased(t(x), None), x)
    t.close(ops.biased(t(x), bias=t(x[0])), x + x[0])
    t.close(ops.total([t(x), t(2 * x), t(x)]), 4 * x)
    t.close(ops.total((t(x),)), x)
    t.close(ops.weighted([t(x), t(x * x)], [0.5, -2.0]), 0.5 * x - 2 * x * x)
    result = ops.spread(t(x))
    assert isinstance(result, tuple) and len(result) == 3 and isinstance(result[2], float)
    lo, hi, mean = result
    t.close(lo, x.min())
    t.close(hi, x.max())
    assert abs(mean - x.mean()) < 1e-12
    for n in (7, 1, 0):
        parts = ops.halves(t(x[:n].copy()))
        assert isinstance(parts, list) and len(parts) == 2
        t.close(parts[0], x[: n // 2])
        t.close(parts[1], x[n // 2 : n])
    assert ops.count_above(t(x)) == (x > 0).sum() and ops.count_above(t(x), limit=1) == (x > 1).sum()
    assert type(ops.count_above(t(x))) is int and type(ops.mean_of(t(x))) is float
    assert abs(ops.mean_of(t(x)) - x.mean()) < 1e-12
    assert ops.has_nan(t(x)) is False and ops.has_nan(t(np.array([1, np.nan]))) is True
    assert ops.describe(t(x)) == "tensor of 35 Double" and ops.describe(t(i[:0]), "array") == "array of 0 Long"
    with t.raises(RuntimeError, "total needs a tensor"):
        ops.total([])
    with t.raises(RuntimeError, "start has 1 entries for 2 dimensions"):
        ops.crop(t(x), [1])
    with t.raises(RuntimeError, "2 tensors, 1 weights"):
        ops.weighted([t(x), t(x)], [1.0])
    with t.raises(RuntimeError, "unknown reduction min"):
        ops.reduce(t(x), "min")
    for call in (
        lambda: ops.affine(t(x), 1.0, 2.0),
        lambda: ops.crop(t(x)),
        lambda: ops.crop(t(x), [1.5, 2.0]),
        lambda: ops.reduce(t(x), 1),
        lambda: ops.reduce(t(x), dim=1.5),
        lambda: ops.total(["x"]),
        lambda: ops.count_above(t(x), "0"),
    ):
        with t.raises(t.argument_error):
            call()

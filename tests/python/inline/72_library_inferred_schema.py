"""The shortest of libraries: functions given to m.def itself, with a schema and without one (inferred from the C++ type), lambdas too."""
CPP = r'''
#include <torch/library.h>
#include <torch/torch.h>
#include <string>
#include <tuple>
#include <vector>

at::Tensor add_one(const at::Tensor& x) { return x + 1; }

std::tuple<at::Tensor, int64_t> saturate(at::Tensor x, double limit, bool both_sides, std::string mode) {
  TORCH_CHECK(mode == "clamp" || mode == "zero", "no mode '", mode, "'");
  auto outside = both_sides ? x.abs() > limit : x > limit;
  const int64_t count = outside.sum().item<int64_t>();
  if (mode == "zero") return std::make_tuple(x.masked_fill(outside, 0), count);
  return std::make_tuple(both_sides ? x.clamp(-limit, limit) : x.clamp_max(limit), count);
}

at::Tensor concat_all(const std::vector<at::Tensor>& xs, int64_t dim) { return at::cat(xs, dim); }

void scale_into(at::Tensor x, double s) { x.mul_(s); }

TORCH_LIBRARY(wb_short, m) {
  m.def("add_one(Tensor x) -> Tensor", &add_one);
  m.def("add_two(Tensor x) -> Tensor", [](const at::Tensor& x) { return add_one(add_one(x)); });
  m.def("saturate", &saturate);
  m.def("concat_all", concat_all);
  m.def("double_int", [](int64_t n) { return 2 * n; });
  m.def("greet", [](const std::string& name) -> std::string { return "hello " + name; });
}

static at::Tensor identity_copy(const at::Tensor& x) { return x.clone(); }

// registration in a function of its own
static void register_more(torch::Library& m) {
  m.def("identity_copy", &identity_copy);
  m.def("scale_into(Tensor(a!) x, float s) -> ()", &scale_into);
}
TORCH_LIBRARY_FRAGMENT(wb_short, m) { register_more(m); }
'''
CUDA = r'''
#include <torch/library.h>
#include <ATen/ATen.h>

__global__ void square_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}

at::Tensor short_kernel(at::Tensor x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "short_kernel takes floats");
  auto y = at::empty_like(x);
  const int n = static_cast<int>(x.numel());
  if (n) square_kernel<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}

TORCH_LIBRARY_FRAGMENT(wb_short, m) { m.def("short_kernel", short_kernel); }
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_short
    for shape in ((37, 3), (0,), ()):
        x = np.asarray(t.rng.standard_normal(shape), np.float32)
        X = x.astype(np.float64)
        t.close(ops.add_one(t(x)), X + 1)
        t.close(ops.add_two(x=t(x)), X + 2)
        t.close(ops.short_kernel(t(x)), X * X)
        t.close(ops.short_kernel.default(t(x)), X * X)
        t.close(ops.identity_copy(t(x)), x)
    x = t.rng.standard_normal((5, 7)).astype(np.float64)
    for both in (True, False):
        outside = (np.abs(x) if both else x) > 0.5
        y, n = ops.saturate(t(x), 0.5, both, "clamp")
        t.close(y, np.clip(x, -0.5 if both else None, 0.5))
        assert n == outside.sum() and isinstance(n, int)
        t.close(ops.saturate(t(x), 0.5, both, "zero")[0], np.where(outside, 0, x))
    t.close(ops.concat_all([t(x), t(x[:, :2].copy())], 1), np.concatenate([x, x[:, :2]], 1))
    assert ops.double_int(-21) == -42
    assert ops.greet("torch") == "hello torch"
    X = t(x)
    assert ops.scale_into(X, 3.0) is None
    t.close(X, 3 * x)
    t.close(ops.add_one(t(np.arange(5))), np.arange(5) + 1)
    with t.raises(RuntimeError, "no mode 'wrap'"):
        ops.saturate(t(x), 0.5, True, "wrap")
    with t.raises(RuntimeError, "short_kernel takes floats"):
        ops.short_kernel(t(x))
    t.close(ops.identity_copy(_0=t(x)), x)  # the names of an inferred schema are _0, _1, ...
    with t.raises(t.argument_error):
        ops.identity_copy(x=t(x))
    with t.raises(t.argument_error):
        ops.double_int(1.5)
    with t.raises(t.argument_error):
        ops.saturate(t(x), 0.5, True)

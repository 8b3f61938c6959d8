"""Every way to register: lambdas, torch::dispatch, keys as arguments, TORCH_FN, m.impl in the TORCH_LIBRARY block, the composite keys."""
CPP = r'''
#include <torch/library.h>
#include <torch/types.h>

namespace {

at::Tensor twice(const at::Tensor& x) { return x * 2; }
at::Tensor thrice(const at::Tensor& x) { return x * 3; }
at::Tensor halved(const at::Tensor& x) { return x / 2; }
at::Tensor quartered(at::Tensor x) { return halved(halved(x)); }

template <int64_t N>
at::Tensor plus(const at::Tensor& x) { return x + N; }

template <int64_t PLACE>
int64_t place(const at::Tensor&) { return PLACE; }

int64_t factorial(int64_t n) {
  TORCH_CHECK(n >= 0 && n <= 20, "no factorial of ", n, " in 64 bits");
  return n < 2 ? 1 : n * factorial(n - 1);
}

}  // namespace

TORCH_LIBRARY(wb_forms, m) {
  // an implementation for every backend
  m.def("half(Tensor x) -> Tensor");
  m.impl("half", halved);
  m.def("quarter(Tensor x) -> Tensor", TORCH_FN(quartered));
  m.def("factorial(int n) -> int");

  // an implementation for the key that is named with it
  m.def("twice(Tensor x) -> Tensor");
  m.impl("twice", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(twice)));
  m.def("thrice(Tensor x) -> Tensor");
  m.impl("thrice", c10::DispatchKey::CPU, &thrice);
  m.def("negated(Tensor x) -> Tensor", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, [](const at::Tensor& x) { return -x; }));
  m.def("by_device(Tensor x) -> Tensor");
  m.impl("by_device", torch::kCPU, TORCH_FN(plus<1>));
  m.impl("by_device", torch::dispatch(torch::kCUDA, TORCH_FN(plus<2>)));

  m.def("squared(Tensor x) -> Tensor").def("cubed(Tensor x) -> Tensor");
  m.def("place_a(Tensor x) -> int").def("place_b(Tensor x) -> int");
  m.def("place_c(Tensor x) -> int").def("place_d(Tensor x) -> int");
}

TORCH_LIBRARY_IMPL(wb_forms, CPU, m) {
  m.impl("squared", [](const at::Tensor& x) { return x * x; });
  m.impl("cubed", [](const at::Tensor& x) -> at::Tensor {
    auto y = at::empty_like(x);
    for (int64_t i = 0; i < x.numel(); ++i) y.view(-1)[i] = x.reshape(-1)[i] * x.reshape(-1)[i] * x.reshape(-1)[i];
    return y;
  });
  m.impl("place_a", TORCH_FN(place<1>));
  m.impl("place_b", TORCH_FN(place<1>));
}

TORCH_LIBRARY_IMPL(wb_forms, CUDA, m) {
  m.impl("place_a", TORCH_FN(place<2>));
  m.impl("place_c", TORCH_FN(place<2>));
}

TORCH_LIBRARY_IMPL(wb_forms, CompositeExplicitAutograd, m) {
  m.impl("factorial", TORCH_FN(factorial));  // no tensor says where it runs
  m.impl("place_b", TORCH_FN(place<3>));
  m.impl("place_c", TORCH_FN(place<3>));
}

TORCH_LIBRARY_IMPL(wb_forms, CompositeImplicitAutograd, m) {
  m.impl("place_d", &place<4>);
}
'''
CUDA = ""
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_forms
    for shape in ((5, 3), (0,), ()):
        x = np.asarray(t.rng.standard_normal(shape))
        for name, want in (
            ("half", x / 2),
            ("quarter", x / 4),
            ("twice", x * 2),
            ("thrice", x * 3),
            ("negated", -x),
            ("by_device", x + 1),
            ("squared", x * x),
            ("cubed", x * x * x),
        ):
            t.close(getattr(ops, name)(t(x)), want)
            t.close(getattr(ops, name).default(x=t(x)), want)
        t.close(t.prefer_cuda(ops.by_device, t(x)), x + 2)
    x = t(np.ones(3))
    assert ops.place_a(x) == 1 and t.prefer_cuda(ops.place_a, x) == 2
    assert ops.place_b(x) == 1  # what is registered for the device goes before what is for all of them
    assert ops.place_c(x) == 3 and t.prefer_cuda(ops.place_c, x) == 2
    assert ops.place_d(x) == 4
    assert [ops.factorial(n) for n in (0, 1, 5, 20)] == [1, 1, 120, 2432902008176640000]
    with t.raises(RuntimeError, "no factorial of -1 in 64 bits"):
        ops.factorial(-1)
    with t.raises(t.argument_error):
        ops.factorial(2.5)
    with t.raises(t.argument_error):
        ops.squared(x, x)

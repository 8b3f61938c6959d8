"""Overloads of one operator: .Tensor, .Scalar, .rows and .out, chosen by the arguments or by name; a default one beside a named one."""
CPP = r'''
#include <torch/library.h>
#include <torch/all.h>

namespace wb_overloads {

at::Tensor scale_tensor(const at::Tensor& x, const at::Tensor& s) { return x * s; }

at::Tensor scale_scalar(const at::Tensor& x, const at::Scalar& s) { return x * s; }

at::Tensor scale_rows(const at::Tensor& x, at::ArrayRef<double> s) {
  TORCH_CHECK(x.dim() == 2 && x.size(0) == static_cast<int64_t>(s.size()), "got ", s.size(), " factors for ", x.sizes());
  auto y = x.clone();
  for (int64_t i = 0; i < x.size(0); ++i) y[i] *= s[i];
  return y;
}

at::Tensor& scale_out(const at::Tensor& x, const at::Scalar& s, at::Tensor& out) {
  TORCH_CHECK(out.sizes() == x.sizes(), "out has sizes ", out.sizes(), ", not ", x.sizes());
  out.copy_(x * s);
  return out;
}

at::Tensor length(const at::Tensor& x) { return (x * x).sum().sqrt(); }
at::Tensor length_p(const at::Tensor& x, double p) {
  TORCH_CHECK(p > 0, "p must be positive, got ", p);
  return x.abs().pow(p).sum().pow(1 / p);
}

TORCH_LIBRARY(wb_overloads, m) {
  m.def("scale.Tensor(Tensor x, Tensor s) -> Tensor");
  m.def("scale.Scalar(Tensor x, Scalar s) -> Tensor");
  m.def("scale.rows(Tensor x, float[] s) -> Tensor");
  m.def("scale.out(Tensor x, Scalar s, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("length(Tensor x) -> Tensor");
  m.def("length.p(Tensor x, float p) -> Tensor");
}

TORCH_LIBRARY_IMPL(wb_overloads, CPU, m) {
  m.impl("scale.Tensor", &scale_tensor);
  m.impl("scale.Scalar", &scale_scalar);
  m.impl("scale.rows", &scale_rows);
  m.impl("scale.out", &scale_out);
  m.impl("length", &length);
  m.impl("length.p", &length_p);
}

}  // namespace wb_overloads
'''
CUDA = r'''
#include <torch/library.h>
#include <torch/all.h>

namespace wb_overloads {

template <typename T>
__global__ void scale_kernel(const T* x, const T* s, T factor, T* y, int64_t n) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * (s ? s[i] : factor);
}

at::Tensor scale_tensor_cuda(const at::Tensor& x, const at::Tensor& s) {
  auto a = x.contiguous(), b = s.to(x.scalar_type()).expand_as(x).contiguous(), y = at::empty_like(a);
  const int64_t n = a.numel();
  if (n == 0) return y;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
    scale_kernel<scalar_t><<<(n + 31) / 32, 32>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), scalar_t(1), y.data_ptr<scalar_t>(), n);
  });
  return y;
}

at::Tensor scale_scalar_cuda(const at::Tensor& x, const at::Scalar& s) {
  auto a = x.contiguous(), y = at::empty_like(a);
  const int64_t n = a.numel();
  if (n == 0) return y;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
    scale_kernel<scalar_t><<<(n + 31) / 32, 32>>>(a.data_ptr<scalar_t>(), nullptr, s.to<scalar_t>(), y.data_ptr<scalar_t>(), n);
  });
  return y;
}

TORCH_LIBRARY_IMPL(wb_overloads, CUDA, m) {
  m.impl("scale.Tensor", &scale_tensor_cuda);
  m.impl("scale.Scalar", &scale_scalar_cuda);
}

}  // namespace wb_overloads
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_overloads
    for shape in ((5, 7), (0, 7), ()):
        x, s = (np.asarray(t.rng.standard_normal(shape), np.float32) for _ in range(2))
        X, S = x.astype(np.float64), s.astype(np.float64)
        for call in (lambda op, *args: op(*args), t.prefer_cuda):
            t.close(call(ops.scale, t(x), t(s)), X * S)
            t.close(call(ops.scale.Tensor, t(x), t(s)), X * S)
            t.close(call(ops.scale, t(x), 2.5), X * 2.5)
            t.close(call(ops.scale.Scalar, t(x), -3), X * -3)
        out = t(np.zeros(shape, np.float32))
        t.close(ops.scale(t(x), 0.5, out=out), X / 2)
        t.close(out, X / 2)
        t.close(ops.scale.out(t(x), s=4, out=out), X * 4)
        t.close(out, X * 4)
    x = t.rng.standard_normal((3, 11))
    rows = [0.5, -1.0, 2.0]
    t.close(ops.scale(t(x), rows), x * np.array(rows)[:, None])
    t.close(ops.scale.rows(x=t(x), s=rows), x * np.array(rows)[:, None])
    i = np.arange(6)
    t.close(ops.scale(t(i), 3), 3 * i)
    t.close(ops.scale(t(i), 0.5), (0.5 * i).astype(np.float32))  # an integer tensor by a double is of the default dtype
    t.close(ops.length(t(x)), np.sqrt((x * x).sum()))
    t.close(ops.length.default(t(x)), np.sqrt((x * x).sum()))
    for p in (1, 3.0):
        want = (np.abs(x) ** p).sum() ** (1 / p)
        t.close(ops.length(t(x), p), want)
        t.close(ops.length(p=p, x=t(x)), want)
        t.close(ops.length.p(t(x), p), want)
    with t.raises(RuntimeError, "got 2 factors for [3, 11]"):
        ops.scale(t(x), [1.0, 2.0])
    with t.raises(RuntimeError, "p must be positive, got -1"):
        ops.length(t(x), -1.0)
    with t.raises(RuntimeError, "out has sizes [11, 3], not [3, 11]"):
        ops.scale(t(x), 2.0, out=t(np.zeros((11, 3))))
    for call in (
        lambda: ops.scale(t(x)),
        lambda: ops.scale(t(x), "2"),
        lambda: ops.scale(t(x), 2.0, t(x)),
        lambda: ops.scale.Tensor(t(x), 2.0),
        lambda: ops.scale.out(t(x), 2.0),
        lambda: ops.length.default(t(x), 2.0),
        lambda: ops.length.p(t(x)),
    ):
        with t.raises(t.argument_error):
            call()
    with t.raises(AttributeError):
        ops.length.q
    with t.raises(AttributeError):
        ops.scale.default  # all of its overloads have names

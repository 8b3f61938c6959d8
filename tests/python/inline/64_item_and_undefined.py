"""Negative: item() of many elements, truth of a tensor, undefined tensors, bad enum strings, aliasing views that write through, division of ints."""
CPP = r'''
double as_double(torch::Tensor x) { return x.item<double>(); }
int64_t as_int(torch::Tensor x) { return x.item().toLong(); }
bool truth(torch::Tensor x) { return x.is_nonzero(); }
bool any_nan(torch::Tensor x) { return torch::isnan(x).any().item<bool>(); }
int64_t undefined_numel() {
  torch::Tensor nothing;
  TORCH_CHECK(nothing.defined(), "the tensor is undefined");
  return nothing.numel();
}
torch::Tensor undefined_plus(torch::Tensor x) {
  torch::Tensor nothing;
  return x + nothing;
}
torch::Tensor write_through(torch::Tensor x) {
  auto y = x.clone();
  y[0].fill_(1);
  y.select(1, -1).zero_();
  y.slice(0, 1, 3).mul_(2);
  y.t()[0].add_(10);
  y.view(-1)[4] = -7;
  return y;
}
torch::Tensor floor_div(torch::Tensor a, int64_t b) {
  TORCH_CHECK(b != 0, "ZeroDivisionError");
  return torch::div(a, b, "floor");
}
torch::Tensor bad_mode(torch::Tensor a) { return torch::div(a, 2, "ceil"); }
torch::Tensor half_precision_sum(torch::Tensor x) { return x.to(torch::kHalf).sum(torch::kFloat32); }
std::tuple<torch::Tensor, c10::optional<torch::Tensor>> maybe(torch::Tensor x, bool with) {
  if (with) return {x, x * 2};
  return {x, c10::nullopt};
}
'''
CUDA = ""
FUNCTIONS = ["as_double", "as_int", "truth", "any_nan", "undefined_numel", "undefined_plus", "write_through", "floor_div", "bad_mode", "half_precision_sum", "maybe"]


def check(m, t):
    import numpy as np

    assert m.as_double(t(np.array([[2.5]], np.float32))) == 2.5
    assert m.as_int(t(np.array(7, np.int32))) == 7
    for bad in (np.zeros(6), np.zeros(0)):
        with t.raises(RuntimeError, f"a Tensor with {bad.size} elements cannot be converted to Scalar"):
            m.as_double(t(bad))
    assert m.truth(t(np.array([3]))) is True and m.truth(t(np.array(0.0))) is False
    with t.raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"):
        m.truth(t(np.ones(2)))
    assert m.any_nan(t(np.array([1, np.nan]))) is True and m.any_nan(t(np.ones(3))) is False
    with t.raises(RuntimeError, "the tensor is undefined"):
        m.undefined_numel()
    with t.raises(RuntimeError):
        m.undefined_plus(t(np.ones(2)))
    x = t.rng.integers(0, 9, (4, 5)).astype(np.int64)
    y = x.copy()
    y[0] = 1
    y[:, -1] = 0
    y[1:3] *= 2
    y.T[0] += 10
    y.reshape(-1)[4] = -7
    X = t(x)
    t.close(m.write_through(X), y)
    t.close(X, x)
    t.close(m.floor_div(t(x - 4), 3), (x - 4) // 3)
    with t.raises(RuntimeError, "ZeroDivisionError"):
        m.floor_div(t(x), 0)
    with t.raises(RuntimeError, "rounding_mode"):
        m.bad_mode(t(x))
    h = t.rng.integers(0, 9, 1003).astype(np.float32)
    t.close(m.half_precision_sum(t(h)), h.astype(np.float64).sum())
    a, b = m.maybe(t(x), True)
    t.close(b, 2 * x)
    assert m.maybe(t(x), False)[1] is None

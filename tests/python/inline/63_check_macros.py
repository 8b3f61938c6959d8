"""Negative: TORCH_CHECK and its relatives (INDEX, VALUE, TYPE, NOT_IMPLEMENTED, INTERNAL_ASSERT), own CHECK macros, messages with many parts."""
CPP = r'''
#include <torch/extension.h>

#define CHECK_DIM(x, n) TORCH_CHECK((x).dim() == (n), #x " must have ", n, " dimensions, got ", (x).dim())
#define CHECK_SAME(a, b) \
  do { \
    TORCH_CHECK(a.sizes() == b.sizes(), "Expected " #a " and " #b " to have the same shape, but got ", a.sizes(), " and ", b.sizes()); \
    TORCH_CHECK(a.scalar_type() == b.scalar_type(), "Expected " #a " and " #b " to have the same dtype, but got ", toString(a.scalar_type()), " and ", toString(b.scalar_type())); \
  } while (false)
#define CHECK_FLOAT(x) TORCH_CHECK(x.scalar_type() == at::ScalarType::Float, #x " must be a float32 tensor")

torch::Tensor weighted(torch::Tensor x, torch::Tensor weight, double low, double high) {
  CHECK_DIM(x, 2);
  CHECK_SAME(x, weight);
  CHECK_FLOAT(x);
  TORCH_CHECK(low < high, "need low < high, got low=", low, ", high=", high, " (difference ", high - low, ")");
  return (x * weight).clamp(low, high);
}

int64_t fail(const std::string& how, int64_t n) {
  if (how == "index") TORCH_CHECK_INDEX(n < 3, "index ", n, " of 3");
  if (how == "value") TORCH_CHECK_VALUE(n != 0, "n must not be zero");
  if (how == "type") TORCH_CHECK_TYPE(n >= 0, "want an unsigned number, got ", n);
  if (how == "todo") TORCH_CHECK_NOT_IMPLEMENTED(false, "n = ", n, " is still to do");
  if (how == "plain") TORCH_CHECK(n > 0);
  if (how == "assert") TORCH_INTERNAL_ASSERT(n == 1, "n was ", n);
  if (how == "error") AT_ERROR("always, with ", n);
  if (how == "string") TORCH_CHECK(false, std::string("a std::string of ") + std::to_string(n));
  if (how == "chars") TORCH_CHECK(false, 'c', " ", true, " ", 1.5f, " ", torch::IntArrayRef({1, 2, n}));
  return n;
}

void caution(int64_t n) { TORCH_WARN("careful: ", n); }
'''
CUDA = ""
FUNCTIONS = ["weighted", "fail", "caution"]


def check(m, t):
    import warnings

    import numpy as np

    x, w = (t.rng.standard_normal((5, 3)).astype(np.float32) for _ in range(2))
    t.close(m.weighted(t(x), t(w), -0.5, 0.5), np.clip(x.astype(np.float64) * w, -0.5, 0.5))
    with t.raises(RuntimeError, "x must have 2 dimensions, got 1"):
        m.weighted(t(x[0].copy()), t(w), 0, 1)
    with t.raises(RuntimeError, "Expected x and weight to have the same shape, but got [5, 3] and [3, 5]"):
        m.weighted(t(x), t(w.T.copy()), 0, 1)
    with t.raises(RuntimeError, "Expected x and weight to have the same dtype, but got Float and Double"):
        m.weighted(t(x), t(w.astype(np.float64)), 0, 1)
    with t.raises(RuntimeError, "x must be a float32 tensor"):
        m.weighted(t(x.astype(np.float64)), t(w.astype(np.float64)), 0, 1)
    with t.raises(RuntimeError, "need low < high, got low=1.5, high=0.25 (difference -1.25)"):
        m.weighted(t(x), t(w), 1.5, 0.25)
    assert m.fail("none", 3) == 3 and m.fail("index", 2) == 2
    for how, n, error, message in (
        ("index", 3, IndexError, "index 3 of 3"),
        ("value", 0, ValueError, "n must not be zero"),
        ("type", -1, TypeError, "want an unsigned number, got -1"),
        ("todo", 7, NotImplementedError, "n = 7 is still to do"),
        ("plain", -5, RuntimeError, "Expected n > 0 to be true, but got false."),
        ("assert", 2, RuntimeError, "n was 2"),
        ("assert", 2, RuntimeError, "INTERNAL ASSERT FAILED"),
        ("error", 4, RuntimeError, "always, with 4"),
        ("string", 6, RuntimeError, "a std::string of 6"),
        ("chars", 3, RuntimeError, "c 1 1.5 [1, 2, 3]"),
    ):
        with t.raises(error, message):
            m.fail(how, n)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert m.caution(3) is None
    assert any("careful: 3" in str(s.message) for s in seen)

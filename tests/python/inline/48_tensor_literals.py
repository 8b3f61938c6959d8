"""torch::tensor from literals and vectors, pairs and maps of scalars back to Python, item types, printing a tensor to a stringstream."""
CPP = r'''
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

std::vector<torch::Tensor> literals() {
  std::vector<double> v = {0.5, 1.5, 2.5};
  return {torch::tensor({1.0f, 2.0f, 3.0f}), torch::tensor({1, 2, 3}), torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kFloat64),
          torch::tensor(v), torch::tensor(3.5), torch::tensor({true, false}), torch::tensor({1, 2, 3}, torch::kFloat32),
          at::tensor(std::vector<int64_t>{4, 5}, at::kLong)};
}

std::unordered_map<std::string, double> summary(torch::Tensor x) {
  std::unordered_map<std::string, double> r;
  r["min"] = x.min().item<double>();
  r["max"] = x.max().item().toDouble();
  r["mean"] = x.mean().item<double>();
  r["sum"] = x.sum().item<float>();
  r["std"] = x.std().item<double>();
  r.emplace("norm", x.norm().item<double>());
  r.insert({"numel", static_cast<double>(x.numel())});
  return r;
}

std::string describe(const torch::Tensor& x) {
  std::ostringstream os;
  os << "Tensor" << x.sizes() << " strides=" << x.strides() << " dtype=" << x.scalar_type() << " dim=" << x.dim()
     << (x.is_contiguous() ? " contiguous" : " strided");
  return os.str();
}

std::pair<int64_t, bool> first_above(torch::Tensor x, float limit) {
  const float* p = x.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i)
    if (p[i] > limit) return std::make_pair(i, true);
  return {-1, false};
}

torch::Tensor smooth(torch::Tensor x, const std::vector<float>& taps) {
  auto k = torch::tensor(taps).view({1, 1, -1});
  return torch::conv1d(x.view({1, 1, -1}), k, /*bias=*/{}, /*stride=*/1, /*padding=*/(int64_t)taps.size() / 2).view(-1);
}
'''
CUDA = ""
FUNCTIONS = ["literals", "summary", "describe", "first_above", "smooth"]


def check(m, t):
    import numpy as np

    wants = [
        np.array([1, 2, 3], np.float32),
        np.array([1, 2, 3], np.int32),
        np.array([[1.0, 2], [3, 4]]),
        np.array([0.5, 1.5, 2.5], np.float32),
        np.array(3.5, np.float32),
        np.array([True, False]),
        np.array([1, 2, 3], np.float32),
        np.array([4, 5]),
    ]
    # torch::tensor gives the default dtype for floating literals and int64 for integers
    wants[1] = wants[1].astype(np.int64)
    for got, want in zip(m.literals(), wants, strict=True):
        assert t.np(got).dtype == want.dtype, (t.np(got).dtype, want)
        t.close(got, want)
    x = t.rng.standard_normal((5, 7)).astype(np.float32)
    d = x.astype(np.float64)
    got = m.summary(t(x))
    want = {"min": d.min(), "max": d.max(), "mean": d.mean(), "sum": d.sum(), "std": d.std(ddof=1), "norm": np.sqrt((d * d).sum()), "numel": 35}
    assert set(got) == set(want)
    assert all(abs(got[k] - want[k]) < 1e-5 for k in want)
    assert m.describe(t(x)) == "Tensor[5, 7] strides=[7, 1] dtype=Float dim=2 contiguous"
    assert m.describe(t(x.T)) == "Tensor[7, 5] strides=[1, 7] dtype=Float dim=2 strided"
    assert m.first_above(t(np.array([0, 1, 2, 3], np.float32)), 1.5) == (2, True)
    assert m.first_above(t(np.zeros(0, np.float32)), 0.0) == (-1, False)
    taps = [0.25, 0.5, 0.125]
    t.close(m.smooth(t(x[0].copy()), taps), np.convolve(d[0], taps[::-1], "same"), atol=1e-6)

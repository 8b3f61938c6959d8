"""CTC on the CPU, forum style: forward variable by logaddexp over extended labels, greedy and prefix beam decoding with std::map and tuples."""
CPP = r'''
#include <torch/extension.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

using std::vector;
static const double NEG_INF = -std::numeric_limits<double>::infinity();

static double log_add(double a, double b) {
  if (a == NEG_INF) return b;
  if (b == NEG_INF) return a;
  if (a < b) std::swap(a, b);
  return a + std::log1p(std::exp(b - a));
}
template <typename... Rest>
static double log_add(double a, double b, Rest... rest) { return log_add(log_add(a, b), rest...); }

torch::Tensor ctc_loss(torch::Tensor log_probs, vector<vector<int64_t>> targets, vector<int64_t> lengths, int64_t blank = 0) {
  // log_probs: (T, N, C)
  const int64_t batch = log_probs.size(1);
  if ((int64_t)targets.size() != batch || (int64_t)lengths.size() != batch)
    throw std::invalid_argument("targets and lengths need one entry for each of " + std::to_string(batch) + " sequences");
  auto lp = log_probs.to(torch::kDouble);
  auto p = lp.accessor<double, 3>();
  auto losses = torch::zeros({batch}, torch::kDouble);
  for (int64_t n = 0; n < batch; ++n) {
    vector<int64_t> ext{blank};
    for (auto c : targets[n]) {
      TORCH_CHECK(c >= 0 && c < log_probs.size(2) && c != blank, "target ", c, " of sequence ", n, " is not a label");
      ext.push_back(c);
      ext.push_back(blank);
    }
    const int S = static_cast<int>(ext.size());
    vector<double> alpha(S, NEG_INF), next;
    alpha[0] = p[0][n][blank];
    if (S > 1) alpha[1] = p[0][n][ext[1]];
    for (int64_t t = 1; t < lengths[n]; ++t) {
      next.assign(S, NEG_INF);
      for (int s = 0; s < S; ++s) {
        double a = alpha[s];
        if (s >= 1) a = log_add(a, alpha[s - 1]);
        if (s >= 2 && ext[s] != blank && ext[s] != ext[s - 2]) a = log_add(a, alpha[s - 2]);
        next[s] = a + p[t][n][ext[s]];
      }
      alpha.swap(next);
    }
    losses[n] = -(S > 1 ? log_add(alpha[S - 1], alpha[S - 2]) : alpha.back());
  }
  return losses.to(log_probs.scalar_type());
}

vector<vector<int64_t>> greedy(torch::Tensor log_probs, int64_t blank) {
  auto best = log_probs.argmax(-1).t().contiguous();  // (N, T)
  vector<vector<int64_t>> out(best.size(0));
  for (size_t n = 0; n < out.size(); ++n) {
    const int64_t* row = best[n].data_ptr<int64_t>();
    vector<int64_t> path(row, row + best.size(1));
    path.erase(std::unique(path.begin(), path.end()), path.end());
    path.erase(std::remove(path.begin(), path.end(), blank), path.end());
    out[n] = std::move(path);
  }
  return out;
}

vector<std::pair<vector<int64_t>, double>> beam_search(torch::Tensor log_probs, size_t width, int64_t blank) {
  struct Score { double ends_blank = NEG_INF, ends_label = NEG_INF; double total() const { return log_add(ends_blank, ends_label); } };
  using Beam = std::pair<vector<int64_t>, Score>;
  auto p = log_probs.accessor<double, 2>();
  vector<Beam> beams;
  beams.emplace_back(vector<int64_t>{}, Score{0.0, NEG_INF});
  for (int64_t t = 0; t < p.size(0); ++t) {
    std::map<vector<int64_t>, Score> next;
    for (const auto& [prefix, score] : beams) {
      for (int64_t c = 0; c < p.size(1); ++c) {
        const double lp = p[t][c];
        if (c == blank) {
          auto& s = next[prefix];
          s.ends_blank = log_add(s.ends_blank, score.ends_blank + lp, score.ends_label + lp);
          continue;
        }
        const bool again = !prefix.empty() && prefix.back() == c;
        if (again) {
          auto& s = next[prefix];
          s.ends_label = log_add(s.ends_label, score.ends_label + lp);
        }
        auto longer = prefix;
        longer.push_back(c);
        auto& s = next[longer];
        s.ends_label = again ? log_add(s.ends_label, score.ends_blank + lp) : log_add(s.ends_label, score.ends_blank + lp, score.ends_label + lp);
      }
    }
    beams.clear();  // without those that no path reaches
    std::copy_if(next.begin(), next.end(), std::back_inserter(beams), [](const auto& b) { return b.second.total() != NEG_INF; });
    std::sort(beams.begin(), beams.end(), [](const Beam& a, const Beam& b) { return a.second.total() > b.second.total(); });
    if (beams.size() > width) beams.erase(beams.begin() + width, beams.end());
  }
  vector<std::pair<vector<int64_t>, double>> out;
  for (auto& b : beams) out.emplace_back(std::move(b.first), b.second.total());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("ctc_loss", &ctc_loss, py::arg("log_probs"), py::arg("targets"), py::arg("lengths"), py::arg("blank") = 0);
  m.def("greedy", &greedy, py::arg("log_probs"), py::arg("blank") = 0);
  m.def("beam_search", &beam_search, py::arg("log_probs"), py::arg("width") = 1000, py::arg("blank") = 0);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import itertools

    import numpy as np

    def collapse(path):
        return tuple(c for c, _ in itertools.groupby(path) if c)

    T, N, C = 5, 3, 3
    x = t.rng.standard_normal((T, N, C))
    lp = x - np.log(np.exp(x).sum(-1, keepdims=True))
    lengths, targets = [5, 4, 5], [[1, 2], [2, 2], []]
    sums = []
    for n in range(N):  # every path there is
        totals = {}
        for path in itertools.product(range(C), repeat=lengths[n]):
            p = np.exp(sum(lp[i, n, c] for i, c in enumerate(path)))
            totals[collapse(path)] = totals.get(collapse(path), 0) + p
        sums.append(totals)
    want = np.array([-np.log(sums[n][tuple(targets[n])]) for n in range(N)])
    t.close(m.ctc_loss(t(lp), targets, lengths), want, rtol=1e-10)
    t.close(m.ctc_loss(t(lp.astype(np.float32)), targets, lengths), want.astype(np.float32), rtol=1e-5)
    assert np.isinf(t.np(m.ctc_loss(t(lp[:, :1].copy()), [[1, 1, 1, 1]], [5]))[0])  # no path is that long
    assert m.greedy(t(lp)) == [list(collapse(path)) for path in lp.argmax(-1).T]
    # A prefix that no path ends in yet is kept with a score of minus infinity.
    beams = [b for b in m.beam_search(t(lp[:, 0].copy())) if np.isfinite(b[1])]
    ranked = sorted(sums[0].items(), key=lambda item: -item[1])
    assert [tuple(b) for b, _ in beams] == [k for k, _ in ranked]
    np.testing.assert_allclose([s for _, s in beams], np.log([p for _, p in ranked]), rtol=1e-9, atol=1e-12)
    assert len(m.beam_search(t(lp[:, 0].copy()), width=4)) == 4
    with t.raises(ValueError, "one entry for each of 3 sequences"):
        m.ctc_loss(t(lp), targets[:2], lengths)
    with t.raises(RuntimeError, "target 3 of sequence 0 is not a label"):
        m.ctc_loss(t(lp), [[3], [1], [1]], lengths)

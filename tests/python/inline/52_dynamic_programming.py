"""Dynamic programming on the CPU: dynamic time warping, edit distance of strings, Viterbi with back-pointers; nested std::vector, std::min({..})."""
CPP = r'''
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

double dtw(torch::Tensor a, torch::Tensor b, c10::optional<int64_t> window) {
    const auto n = a.size(0), m = b.size(0);
    auto x = a.accessor<double, 1>();
    auto y = b.accessor<double, 1>();
    const int64_t w = std::max(window.value_or(std::max(n, m)), std::abs(n - m));
    std::vector<std::vector<double>> cost(n + 1, std::vector<double>(m + 1, std::numeric_limits<double>::infinity()));
    cost[0][0] = 0.0;
    for (int64_t i = 1; i <= n; ++i)
        for (int64_t j = std::max<int64_t>(1, i - w); j <= std::min(m, i + w); ++j)
            cost[i][j] = std::fabs(x[i - 1] - y[j - 1]) + std::min({cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1]});
    return cost[n][m];
}

int edit_distance(const std::string& s, const std::string& t) {
    std::vector<int> row(t.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = (int)j;
    for (size_t i = 1; i <= s.length(); ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= t.length(); ++j) {
            const int above = row[j];
            row[j] = std::min(std::min(above, row[j - 1]) + 1, diagonal + (s[i - 1] == t[j - 1] ? 0 : 1));
            diagonal = above;
        }
    }
    return row.back();
}

std::tuple<std::vector<int64_t>, double> viterbi(torch::Tensor emissions, torch::Tensor transitions) {
    const auto T = emissions.size(0), S = emissions.size(1);
    auto e = emissions.accessor<float, 2>();
    auto tr = transitions.accessor<float, 2>();
    auto back = torch::zeros({T, S}, torch::kInt64);
    auto bp = back.accessor<int64_t, 2>();
    std::vector<double> score(S);
    for (int64_t s = 0; s < S; ++s) score[s] = e[0][s];
    for (int64_t t = 1; t < T; ++t) {
        std::vector<double> next(S, -1e30);
        for (int64_t s = 0; s < S; ++s)
            for (int64_t r = 0; r < S; ++r)
                if (const double v = score[r] + tr[r][s] + e[t][s]; v > next[s]) {
                    next[s] = v;
                    bp[t][s] = r;
                }
        score.swap(next);
    }
    int64_t best = std::distance(score.begin(), std::max_element(score.begin(), score.end()));
    const double total = score[best];
    std::vector<int64_t> path{best};
    for (int64_t t = T - 1; t > 0; --t) path.push_back(best = bp[t][best]);
    std::reverse(path.begin(), path.end());
    return std::make_tuple(path, total);
}
'''
CUDA = ""
FUNCTIONS = ["dtw", "edit_distance", "viterbi"]


def check(m, t):
    import itertools

    import numpy as np

    a, b = t.rng.standard_normal(17), t.rng.standard_normal(13)
    for window in (None, 2, 6):
        w = max(17 if window is None else window, 4)
        cost = np.full((18, 14), np.inf)
        cost[0, 0] = 0
        for i in range(1, 18):
            for j in range(max(1, i - w), min(13, i + w) + 1):
                cost[i, j] = abs(a[i - 1] - b[j - 1]) + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
        assert abs(m.dtw(t(a), t(b), window) - cost[-1, -1]) < 1e-12
    for s, u, want in (("kitten", "sitting", 3), ("", "abc", 3), ("same", "same", 0), ("flaw", "lawn", 2)):
        assert m.edit_distance(s, u) == want
    e, tr = t.rng.standard_normal((5, 3)).astype(np.float32), t.rng.standard_normal((3, 3)).astype(np.float32)
    scores = {
        p: float(sum(np.float64(e[i, s]) for i, s in enumerate(p)) + sum(np.float64(tr[r, s]) for r, s in zip(p, p[1:])))
        for p in itertools.product(range(3), repeat=5)
    }
    best = max(scores, key=scores.get)
    path, total = m.viterbi(t(e), t(tr))
    assert tuple(path) == best and abs(total - scores[best]) < 1e-5

"""String metrics on the CPU: batched Levenshtein (strings and padded id tensors), Damerau, LCS by a recursive std::function, n-gram cosine."""
CPP = r'''
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

template <typename It>
size_t levenshtein(It a, It a_end, It b, It b_end) {
    const size_t m = std::distance(b, b_end);
    std::vector<size_t> row(m + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; a != a_end; ++a, ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        size_t j = 1;
        for (It c = b; c != b_end; ++c, ++j) {
            const size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (*a == *c ? 0 : 1)});
            diagonal = above;
        }
    }
    return row.back();
}

std::unordered_map<std::string, int> grams(const std::string& text, size_t n) {
    std::unordered_map<std::string, int> counts;
    for (size_t i = 0; i + n <= text.length(); ++i) ++counts[text.substr(i, n)];
    return counts;
}

}  // namespace

std::vector<int64_t> distances(const std::string& query, const std::vector<std::string>& candidates) {
    std::vector<int64_t> out;
    out.reserve(candidates.size());
    std::transform(candidates.cbegin(), candidates.cend(), std::back_inserter(out), [&query](const std::string& c) {
        return static_cast<int64_t>(levenshtein(query.begin(), query.end(), c.begin(), c.end()));
    });
    return out;
}

torch::Tensor distances_ids(torch::Tensor a, torch::Tensor a_len, torch::Tensor b, torch::Tensor b_len, bool normalise) {
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "expected padded (batch, time) ids");
    TORCH_CHECK(a.size(0) == b.size(0), "batch sizes ", a.size(0), " and ", b.size(0));
    a = a.contiguous(); b = b.contiguous();
    auto out = torch::zeros({a.size(0)}, torch::kFloat32);
    for (int64_t i = 0; i < a.size(0); i++) {
        const int64_t *p = a.data_ptr<int64_t>() + i * a.size(1), *q = b.data_ptr<int64_t>() + i * b.size(1);
        const auto n = a_len[i].item<int64_t>(), m = b_len[i].item<int64_t>();
        TORCH_CHECK(n <= a.size(1) && m <= b.size(1), "length out of range in row ", i);
        float d = levenshtein(p, p + n, q, q + m);
        if (normalise) d /= std::max<int64_t>(m, 1);
        out[i] = d;
    }
    return out;
}

// optimal string alignment: neighbours may swap
int damerau(const std::string& s, const std::string& t) {
    const int n = s.size(), m = t.size();
    std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1, 0));
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            const int cost = s[i - 1] != t[j - 1];
            d[i][j] = std::min(std::min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + cost);
            if (i > 1 && j > 1 && s[i - 1] == t[j - 2] && s[i - 2] == t[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

std::string longest_common_subsequence(const std::string& a, const std::string& b) {
    std::vector<std::vector<int>> memo(a.size() + 1, std::vector<int>(b.size() + 1, -1));
    std::function<int(size_t, size_t)> best = [&](size_t i, size_t j) -> int {
        if (i == a.size() || j == b.size()) return 0;
        int& known = memo[i][j];
        if (known >= 0) return known;
        return known = a[i] == b[j] ? 1 + best(i + 1, j + 1) : std::max(best(i + 1, j), best(i, j + 1));
    };
    std::string out;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) { out += a[i]; ++i; ++j; }
        else if (best(i + 1, j) >= best(i, j + 1)) ++i;
        else ++j;
    }
    return out;
}

double gram_cosine(const std::string& a, const std::string& b, size_t n) {
    if (n == 0) throw std::invalid_argument("n-grams of no letters");
    const auto x = grams(a, n), y = grams(b, n);
    auto norm = [](const auto& g) {
        return std::sqrt(std::accumulate(g.begin(), g.end(), 0.0, [](double s, const auto& kv) { return s + double(kv.second) * kv.second; }));
    };
    double dot = 0;
    for (const auto& [gram, count] : x) {
        const auto found = y.find(gram);
        if (found != y.end()) dot += double(count) * found->second;
    }
    const double scale = norm(x) * norm(y);
    return scale > 0 ? dot / scale : 0.0;
}

std::array<int, 26> letter_histogram(std::string text) {
    std::array<int, 26> counts{};
    for (auto& c : text) if (std::isalpha(static_cast<unsigned char>(c))) counts[std::tolower(c) - 'a']++;
    return counts;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("distances", &distances);
    m.def("distances_ids", &distances_ids, py::arg("a"), py::arg("a_len"), py::arg("b"), py::arg("b_len"), py::arg("normalise") = false);
    m.def("damerau", &damerau);
    m.def("lcs", &longest_common_subsequence);
    m.def("gram_cosine", &gram_cosine, py::arg("a"), py::arg("b"), py::arg("n") = 2);
    m.def("letter_histogram", &letter_histogram);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    from collections import Counter
    from functools import lru_cache

    import numpy as np

    def edit(a, b, swaps=False):
        @lru_cache(None)
        def d(i, j):
            if not i or not j:
                return i + j
            best = min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
            if swaps and i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, d(i - 2, j - 2) + 1)
            return best

        return d(len(a), len(b))

    words = ["kitten", "sitting", "", "a", "saturday", "sundya", "sunday", "knitting needle"]
    for w in words:
        assert m.distances(w, words) == [edit(w, v) for v in words]
        for v in words:
            assert m.damerau(w, v) == edit(w, v, swaps=True)
            common = m.lcs(w, v)
            for whole in (w, v):
                letters = iter(whole)
                assert all(c in letters for c in common)
            assert len(w) + len(v) - 2 * len(common) == edit_without_replacing(w, v)
            x, y = (Counter(s[i : i + 2] for i in range(len(s) - 1)) for s in (w, v))
            norm = np.sqrt(sum(c * c for c in x.values()) * sum(c * c for c in y.values()))
            assert abs(m.gram_cosine(w, v) - (sum(x[g] * y[g] for g in x) / norm if norm else 0)) < 1e-12
    a, b = t.rng.integers(0, 4, (9, 13)), t.rng.integers(0, 4, (9, 11))
    n, k = t.rng.integers(0, 14, 9), t.rng.integers(0, 12, 9)
    want = np.array([edit(tuple(a[i, : n[i]]), tuple(b[i, : k[i]])) for i in range(9)], np.float32)
    t.close(m.distances_ids(t(a), t(n), t(b), t(k)), want)
    t.close(m.distances_ids(t(a), t(n), t(b), t(k), normalise=True), want / np.maximum(k, 1).astype(np.float32))
    assert m.letter_histogram("Hello, World!") == [Counter("helloworld")[c] for c in "abcdefghijklmnopqrstuvwxyz"]
    with t.raises(ValueError, "n-grams of no letters"):
        m.gram_cosine("a", "b", 0)
    with t.raises(RuntimeError, "batch sizes 9 and 3"):
        m.distances_ids(t(a), t(n), t(b[:3].copy()), t(k))


def edit_without_replacing(a, b):
    row = list(range(len(b) + 1))
    for i, c in enumerate(a, 1):
        row, last = [i], row
        for j, d in enumerate(b, 1):
            row.append(last[j - 1] if c == d else 1 + min(last[j], row[-1]))
    return row[-1]

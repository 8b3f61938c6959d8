"""Disjoint sets as a small host class: Kruskal's tree over a distance matrix, single-linkage clustering, DBSCAN with a neighbour count; at:: distances."""
CPP = r'''
#include <torch/extension.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

class DisjointSets {
public:
    explicit DisjointSets(int64_t n) : parent_(n), size_(n, 1), count_(n) { std::iota(parent_.begin(), parent_.end(), int64_t{0}); }

    int64_t find(int64_t x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }

    bool merge(int64_t a, int64_t b) {
        a = find(a);
        b = find(b);
        if (a == b) return false;
        if (size_[a] < size_[b]) std::swap(a, b);
        parent_[b] = a;
        size_[a] += size_[b];
        --count_;
        return true;
    }

    int64_t count() const { return count_; }
    int64_t size_of(int64_t x) { return size_[find(x)]; }

    // labels from 0 in the order of their first members
    std::vector<int64_t> labels() {
        std::map<int64_t, int64_t> names;
        std::vector<int64_t> out;
        for (int64_t i = 0; i < static_cast<int64_t>(parent_.size()); ++i) out.push_back(names.emplace(find(i), names.size()).first->second);
        return out;
    }

private:
    std::vector<int64_t> parent_, size_;
    int64_t count_;
};

struct Link {
    double length;
    int64_t a, b;
    friend bool operator<(const Link& x, const Link& y) { return x.length != y.length ? x.length < y.length : std::make_pair(x.a, x.b) < std::make_pair(y.a, y.b); }
};

static std::vector<Link> sorted_links(const at::Tensor& distances) {
    TORCH_CHECK(distances.dim() == 2 && distances.size(0) == distances.size(1), "distances must be square, got ", distances.sizes());
    const auto d = distances.to(at::kDouble).contiguous();
    const double* p = d.const_data_ptr<double>();
    const auto n = d.size(0);
    std::vector<Link> links;
    links.reserve(n * (n - 1) / 2);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) links.push_back(Link{p[i * n + j], i, j});
    std::sort(links.begin(), links.end());
    return links;
}

std::tuple<at::Tensor, double> minimum_spanning_tree(const at::Tensor& distances) {
    DisjointSets sets(distances.size(0));
    std::vector<int64_t> flat;
    double total = 0;
    for (const Link& l : sorted_links(distances)) {
        if (!sets.merge(l.a, l.b)) continue;
        flat.insert(flat.end(), {l.a, l.b});
        total += l.length;
        if (sets.count() == 1) break;
    }
    auto edges = torch::tensor(flat, torch::kInt64).reshape({-1, 2});
    return {edges, total};
}

at::Tensor single_linkage(const at::Tensor& points, int64_t clusters) {
    TORCH_CHECK(clusters >= 1 && clusters <= points.size(0), clusters, " clusters of ", points.size(0), " points");
    DisjointSets sets(points.size(0));
    for (const auto& [length, a, b] : sorted_links(at::cdist(points, points))) {
        if (sets.count() == clusters) break;
        sets.merge(a, b);
    }
    auto labels = sets.labels();
    return torch::from_blob(labels.data(), {(int64_t)labels.size()}, torch::kLong).clone();
}

std::vector<int64_t> dbscan(const at::Tensor& points, double eps, int min_points) {
    const auto close = (points.unsqueeze(1) - points.unsqueeze(0)).pow(2).sum(-1) <= eps * eps;
    const auto core = close.sum(1) >= min_points;
    const auto n = points.size(0);
    auto near = close.accessor<bool, 2>();
    auto is_core = core.accessor<bool, 1>();
    DisjointSets sets(n);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j)
            if (is_core[i] && is_core[j] && near[i][j]) sets.merge(i, j);
    std::map<int64_t, int64_t> names;
    std::vector<int64_t> out(n, -1);
    for (int64_t i = 0; i < n; ++i)
        if (is_core[i]) out[i] = names.try_emplace(sets.find(i), names.size()).first->second;
    for (int64_t i = 0; i < n; ++i) {
        if (is_core[i]) continue;
        for (int64_t j = 0; j < n && out[i] < 0; ++j)
            if (is_core[j] && near[i][j]) out[i] = out[j];  // a border point goes to its first core
    }
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("minimum_spanning_tree", &minimum_spanning_tree, "Kruskal", py::arg("distances"));
    m.def("single_linkage", &single_linkage, py::arg("points"), py::arg("clusters") = 2);
    m.def("dbscan", &dbscan, py::arg("points"), py::arg("eps"), py::arg("min_points") = 3);
    m.def("components", [](int64_t n, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
        DisjointSets s(n);
        int64_t largest = n > 0;
        for (auto [a, b] : pairs) {
            TORCH_CHECK(std::min(a, b) >= 0 && std::max(a, b) < n, "pair (", a, ", ", b, ") is out of range");
            s.merge(a, b);
            largest = std::max(largest, s.size_of(a));
        }
        return std::make_tuple(s.labels(), s.count(), largest);
    });
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    def first_names(labels):
        names = {}
        return [names.setdefault(x, len(names)) for x in labels]

    def closure(a):
        a = a | np.eye(len(a), dtype=bool)
        for _ in range(len(a).bit_length() + 1):
            a = a @ a
        return a

    for n in (23, 2, 1):
        p = t.rng.standard_normal((n, 3))
        d = np.sqrt(((p[:, None] - p) ** 2).sum(-1))
        inside, tree, total = [0], set(), 0.0
        while len(inside) < n:  # Prim
            rest = [v for v in range(n) if v not in inside]
            part = d[np.ix_(inside, rest)]
            i, j = np.unravel_index(part.argmin(), part.shape)
            total += part[i, j]
            tree.add((min(inside[i], rest[j]), max(inside[i], rest[j])))
            inside.append(rest[j])
        edges, length = m.minimum_spanning_tree(t(d))
        assert t.np(edges).shape == (n - 1, 2) and {tuple(e) for e in t.np(edges).tolist()} == tree
        assert abs(length - total) < 1e-12 * max(total, 1)
        for k in (1, n, (n + 1) // 2):
            cut = sorted(d[a, b] for a, b in tree)[n - k :] if n > k else []
            keep = np.zeros((n, n), bool)
            for a, b in tree:
                keep[a, b] = keep[b, a] = k < n and (not len(cut) or d[a, b] < cut[0])
            t.close(m.single_linkage(t(p), clusters=k), np.array(first_names(closure(keep).argmax(1))))
    p = np.concatenate([t.rng.standard_normal((40, 2)) * 0.3, t.rng.standard_normal((30, 2)) * 0.3 + 3, t.rng.uniform(-2, 5, (20, 2))])
    near = ((p[:, None] - p) ** 2).sum(-1) <= 0.16
    core = near.sum(1) >= 5
    groups = closure(near & core & core[:, None]).argmax(1)
    names, want = {}, np.full(90, -1)
    for i in np.flatnonzero(core):
        want[i] = names.setdefault(groups[i], len(names))
    for i in np.flatnonzero(~core):
        cores = np.flatnonzero(near[i] & core)
        want[i] = want[cores[0]] if len(cores) else -1
    assert m.dbscan(t(p), 0.4, min_points=5) == want.tolist()
    assert m.components(6, [(0, 3), (3, 5), (1, 2)]) == ([0, 1, 1, 0, 2, 0], 3, 3)
    with t.raises(RuntimeError, "pair (1, 6) is out of range"):
        m.components(6, [(1, 6)])
    with t.raises(RuntimeError, "distances must be square, got [1, 3]"):
        m.minimum_spanning_tree(t(np.zeros((1, 3))))
    with t.raises(RuntimeError, "3 clusters of 2 points"):
        m.single_linkage(t(np.zeros((2, 2))), 3)

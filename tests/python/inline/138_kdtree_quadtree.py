"""Trees of index-linked nodes in a vector: a k-d tree built by nth_element, nearest neighbours with a bounded heap; a quadtree counting in rectangles."""
CPP = r'''
#include <torch/extension.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <queue>
#include <vector>

class KdTree {
 public:
  explicit KdTree(const torch::Tensor& points) : points_(points.to(torch::kFloat64).contiguous()), dim_(points.size(1)) {
    std::vector<int> order(points.size(0));
    std::iota(order.begin(), order.end(), 0);
    nodes_.reserve(order.size());
    root_ = build(order.begin(), order.end(), 0);
  }

  using Heap = std::priority_queue<std::pair<double, int>>;  // the worst on top

  void nearest(const double* query, size_t k, Heap& heap) const { search(root_, query, k, heap); }

 private:
  struct Node {
    int point, axis, left, right;
  };
  using It = std::vector<int>::iterator;

  double coordinate(int point, int axis) const { return points_.data_ptr<double>()[point * dim_ + axis]; }

  int build(It first, It last, int depth) {
    if (first == last) return -1;
    const int axis = depth % dim_;
    const It middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, [this, axis](int a, int b) { return coordinate(a, axis) < coordinate(b, axis); });
    const int id = static_cast<int>(nodes_.size());
    nodes_.push_back(Node{*middle, axis, -1, -1});
    const int left = build(first, middle, depth + 1), right = build(middle + 1, last, depth + 1);
    nodes_[id].left = left;
    nodes_[id].right = right;
    return id;
  }

  void search(int id, const double* query, size_t k, Heap& heap) const {
    if (id < 0) return;
    const Node& node = nodes_[id];
    double d = 0;
    for (int a = 0; a < dim_; ++a) d += std::pow(query[a] - coordinate(node.point, a), 2);
    heap.emplace(d, node.point);
    if (heap.size() > k) heap.pop();
    const double side = query[node.axis] - coordinate(node.point, node.axis);
    search(side < 0 ? node.left : node.right, query, k, heap);
    if (heap.size() < k || side * side <= heap.top().first) search(side < 0 ? node.right : node.left, query, k, heap);
  }

  torch::Tensor points_;
  int dim_, root_ = -1;
  std::vector<Node> nodes_;
};

std::tuple<torch::Tensor, torch::Tensor> knn(const torch::Tensor& points, const torch::Tensor& queries, int64_t k) {
  TORCH_CHECK(points.dim() == 2 && queries.dim() == 2 && points.size(1) == queries.size(1), "points ", points.sizes(), " and queries ", queries.sizes(), " do not fit");
  TORCH_CHECK(k >= 1 && k <= points.size(0), "k=", k, " of ", points.size(0), " points");
  const KdTree tree(points);
  const auto q = queries.to(torch::kFloat64).contiguous();
  auto dist = torch::empty({q.size(0), k}, torch::kFloat64), index = torch::empty({q.size(0), k}, torch::kInt64);
  for (int64_t i = 0; i < q.size(0); ++i) {
    KdTree::Heap heap;
    tree.nearest(q.data_ptr<double>() + i * q.size(1), k, heap);
    for (int64_t j = k - 1; j >= 0; --j, heap.pop()) {
      dist[i][j] = std::sqrt(heap.top().first);
      index[i][j] = heap.top().second;
    }
  }
  return std::make_tuple(dist.to(points.scalar_type()), index);
}

struct Rect {
  double x0, y0, x1, y1;  // half open
  bool contains(double x, double y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
  bool meets(const Rect& o) const { return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1; }
  bool within(const Rect& o) const { return x0 >= o.x0 && x1 <= o.x1 && y0 >= o.y0 && y1 <= o.y1; }
};

struct QuadNode {
  static constexpr size_t kCapacity = 4;
  Rect box;
  int64_t count = 0;
  std::vector<std::pair<double, double>> here;
  std::unique_ptr<QuadNode> child[4];

  explicit QuadNode(const Rect& b) : box(b) {}

  void insert(double x, double y, int depth = 0) {
    ++count;
    if (!child[0]) {
      if (here.size() < kCapacity || depth > 20) {
        here.emplace_back(x, y);
        return;
      }
      const double mx = (box.x0 + box.x1) / 2, my = (box.y0 + box.y1) / 2;
      child[0] = std::make_unique<QuadNode>(Rect{box.x0, box.y0, mx, my});
      child[1] = std::make_unique<QuadNode>(Rect{mx, box.y0, box.x1, my});
      child[2] = std::make_unique<QuadNode>(Rect{box.x0, my, mx, box.y1});
      child[3] = std::make_unique<QuadNode>(Rect{mx, my, box.x1, box.y1});
      for (const auto& p : here) below(p.first, p.second).insert(p.first, p.second, depth + 1);
      here.clear();
    }
    below(x, y).insert(x, y, depth + 1);
  }

  int64_t inside(const Rect& r) const {
    if (!box.meets(r)) return 0;
    if (box.within(r)) return count;
    int64_t n = std::count_if(here.begin(), here.end(), [&r](const auto& p) { return r.contains(p.first, p.second); });
    if (child[0]) for (const auto& c : child) n += c->inside(r);
    return n;
  }

 private:
  QuadNode& below(double x, double y) {
    for (auto& c : child) if (c->box.contains(x, y)) return *c;
    throw std::logic_error("a point outside of its node");
  }
};

std::vector<int64_t> count_in(const torch::Tensor& points, const std::vector<std::array<double, 4>>& rectangles) {
  QuadNode root(Rect{0.0, 0.0, 1.0, 1.0});
  const auto p = points.accessor<double, 2>();
  for (int64_t i = 0; i < p.size(0); ++i) {
    if (!root.box.contains(p[i][0], p[i][1])) throw std::out_of_range("point " + std::to_string(i) + " is outside of the unit square");
    root.insert(p[i][0], p[i][1]);
  }
  std::vector<int64_t> out;
  for (const auto& [x0, y0, x1, y1] : rectangles) out.push_back(root.inside({x0, y0, x1, y1}));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("knn", &knn, "k nearest neighbours", py::arg("points"), py::arg("queries"), py::arg("k") = 1);
  m.def("count_in", &count_in);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for n, dim, k in ((203, 3, 5), (37, 1, 1), (9, 2, 9), (1, 4, 1)):
        p, q = t.rng.standard_normal((n, dim)), t.rng.standard_normal((13, dim))
        d = np.sqrt(((q[:, None] - p) ** 2).sum(-1))
        order = np.argsort(d, 1)[:, :k]
        dist, index = m.knn(t(p), t(q), k)
        t.close(index, order)
        t.close(dist, np.take_along_axis(d, order, 1), rtol=1e-12)
    lattice = t.rng.integers(0, 4, (60, 2)).astype(np.float32)  # many of the same points: the distances are still right
    dist, index = m.knn(t(lattice), queries=t(lattice), k=7)
    d = np.sqrt(((lattice[:, None] - lattice) ** 2).sum(-1))
    t.close(dist, np.sort(d, 1)[:, :7], rtol=1e-6)
    t.close(np.take_along_axis(d, t.np(index), 1), np.sort(d, 1)[:, :7], rtol=1e-6)
    assert t.np(m.knn(t(p), t(q[:0].copy()))[0]).shape == (0, 1)
    p = t.rng.random((301, 2)) ** 2
    p[:9] = 0.3  # more than a leaf holds, at one place
    rects = [sorted(t.rng.random(2)) + sorted(t.rng.random(2)) for _ in range(20)]
    rects = [(a, c, b, d) for a, b, c, d in rects] + [(0, 0, 1, 1), (0.25, 0.25, 0.5, 0.5), (-1, -1, 2, 2), (0.5, 0.5, 0.5, 0.5)]
    want = [int(((p[:, 0] >= a) & (p[:, 0] < c) & (p[:, 1] >= b) & (p[:, 1] < d)).sum()) for a, b, c, d in rects]
    assert m.count_in(t(p), rects) == want
    with t.raises(RuntimeError, "k=10 of 9 points"):
        m.knn(t(t.rng.random((9, 2))), t(q[:, :2].copy()), 10)
    with t.raises(IndexError, "point 2 is outside of the unit square"):
        m.count_in(t(np.array([[0, 0], [0.5, 0.5], [1, 0.5]])), [])

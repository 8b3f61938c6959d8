"""Graph searches on the CPU over edge tensors: Dijkstra by a priority queue, A* on a grid, BFS by a deque, topological order, Tarjan's components."""
CPP = r'''
#include <torch/extension.h>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <tuple>
#include <vector>

struct Edge {
  int64_t to;
  double weight;
};
using Graph = std::vector<std::vector<Edge>>;

static Graph build(const torch::Tensor& edges, const std::optional<torch::Tensor>& weights, int64_t n) {
  TORCH_CHECK(edges.dim() == 2 && edges.size(0) == 2, "edge_index must be (2, E), got ", edges.sizes());
  Graph g(n);
  const auto e = edges.accessor<int64_t, 2>();
  for (int64_t i = 0; i < edges.size(1); ++i) {
    const int64_t from = e[0][i], to = e[1][i];
    if (from < 0 || from >= n || to < 0 || to >= n) throw std::out_of_range("edge " + std::to_string(i) + " leaves the graph");
    g[from].push_back({to, weights.has_value() ? weights->data_ptr<double>()[i] : 1.0});
  }
  return g;
}

std::pair<torch::Tensor, torch::Tensor> dijkstra(const torch::Tensor& edges, const torch::Tensor& weights, int64_t n, int64_t source) {
  TORCH_CHECK((weights >= 0).all().item<bool>(), "negative weights");
  const auto g = build(edges, weights, n);
  auto dist = torch::full({n}, std::numeric_limits<double>::infinity(), torch::kFloat64);
  auto previous = torch::full({n}, -1, torch::kLong);
  auto* d = dist.data_ptr<double>();
  auto* p = previous.data_ptr<int64_t>();
  using Item = std::pair<double, int64_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
  d[source] = 0;
  queue.push({0.0, source});
  while (!queue.empty()) {
    const auto [cost, u] = queue.top();
    queue.pop();
    if (cost > d[u]) continue;
    for (const auto& [v, w] : g[u]) {
      if (const double c = cost + w; c < d[v]) {
        d[v] = c;
        p[v] = u;
        queue.emplace(c, v);
      }
    }
  }
  return {dist, previous};
}

std::vector<int64_t> hops(const torch::Tensor& edges, int64_t n, int64_t source) {
  const auto g = build(edges, std::nullopt, n);
  std::vector<int64_t> depth(n, -1);
  std::deque<int64_t> open{source};
  depth.at(source) = 0;
  while (!open.empty()) {
    const auto u = open.front();
    open.pop_front();
    for (auto& e : g[u])
      if (depth[e.to] == -1) {
        depth[e.to] = depth[u] + 1;
        open.push_back(e.to);
      }
  }
  return depth;
}

// the smallest vertex first; nothing if there is a cycle
std::optional<std::vector<int64_t>> topological_order(const torch::Tensor& edges, int64_t n) {
  const auto g = build(edges, {}, n);
  std::vector<int> incoming(n);
  for (const auto& out : g) for (const auto& e : out) ++incoming[e.to];
  std::set<int64_t> ready;
  for (int64_t v = 0; v < n; ++v) if (!incoming[v]) ready.insert(v);
  std::vector<int64_t> order;
  while (!ready.empty()) {
    const int64_t v = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(v);
    for (const auto& e : g[v]) if (--incoming[e.to] == 0) ready.insert(e.to);
  }
  if (static_cast<int64_t>(order.size()) < n) return std::nullopt;
  return order;
}

torch::Tensor strong_components(const torch::Tensor& edges, int64_t n) {
  const auto g = build(edges, std::nullopt, n);
  auto label = torch::full({n}, -1, torch::kLong);
  auto l = label.accessor<int64_t, 1>();
  std::vector<int> index(n, -1), low(n);
  std::stack<int64_t> stack;
  int counter = 0;
  std::function<void(int64_t)> visit = [&](int64_t v) {
    index[v] = low[v] = counter++;
    stack.push(v);
    for (const auto& e : g[v]) {
      if (index[e.to] < 0) { visit(e.to); low[v] = std::min(low[v], low[e.to]); }
      else if (l[e.to] < 0) low[v] = std::min(low[v], index[e.to]);
    }
    if (low[v] != index[v]) return;
    std::vector<int64_t> members;
    do {
      members.push_back(stack.top());
      stack.pop();
    } while (members.back() != v);
    const auto name = *std::min_element(members.begin(), members.end());
    for (auto u : members) l[u] = name;
  };
  for (int64_t v = 0; v < n; ++v) if (index[v] < 0) visit(v);
  return label;
}

int64_t grid_path(const torch::Tensor& walls, std::tuple<int, int> from, std::tuple<int, int> to) {
  const auto wall = walls.accessor<bool, 2>();
  const auto [ty, tx] = to;
  const int h = walls.size(0), w = walls.size(1);
  auto guess = [ty = ty, tx = tx](int y, int x) { return std::abs(y - ty) + std::abs(x - tx); };
  struct Node {
    int estimate, cost, y, x;
    bool operator<(const Node& o) const { return std::tie(estimate, cost) > std::tie(o.estimate, o.cost); }
  };
  std::vector<int> best(h * w, std::numeric_limits<int>::max());
  std::priority_queue<Node> open;
  auto [sy, sx] = from;
  best[sy * w + sx] = 0;
  open.push(Node{guess(sy, sx), 0, sy, sx});
  while (open.size()) {
    const Node node = open.top();
    open.pop();
    if (node.y == ty && node.x == tx) return node.cost;
    for (const auto& [dy, dx] : std::vector<std::pair<int, int>>{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}) {
      const int y = node.y + dy, x = node.x + dx;
      if (y < 0 || x < 0 || y >= h || x >= w || wall[y][x] || node.cost + 1 >= best[y * w + x]) continue;
      best[y * w + x] = node.cost + 1;
      open.push(Node{node.cost + 1 + guess(y, x), node.cost + 1, y, x});
    }
  }
  return -1;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("dijkstra", &dijkstra, py::arg("edges"), py::arg("weights"), py::arg("n"), py::arg("source") = 0);
  m.def("hops", &hops);
  m.def("topological_order", &topological_order);
  m.def("strong_components", &strong_components);
  m.def("grid_path", &grid_path);
}
'''
CUDA = None
FUNCTIONS = None


def check(m, t):
    import numpy as np

    n = 37
    edges = t.rng.integers(0, n, (2, 90))
    w = t.rng.integers(1, 20, 90) / 4
    d = np.full(n, np.inf)
    d[0] = 0
    reach = np.eye(n, dtype=bool)
    reach[edges[0], edges[1]] = True
    for _ in range(n):  # Bellman-Ford, and the transitive closure
        np.minimum.at(d, edges[1], d[edges[0]] + w)
        reach = reach | (reach @ reach)
    dist, previous = m.dijkstra(t(edges), t(w), n)
    t.close(dist, d, rtol=0, atol=0)
    p = t.np(previous)
    for v in range(n):
        if p[v] < 0:
            assert v == 0 or np.isinf(d[v])
        else:
            assert any(d[p[v]] + c == d[v] for a, b, c in zip(*edges, w) if (a, b) == (p[v], v))
    unit = np.full(n, np.inf)
    unit[3] = 0
    for _ in range(n):
        np.minimum.at(unit, edges[1], unit[edges[0]] + 1)
    assert m.hops(t(edges), n, 3) == [-1 if np.isinf(x) else int(x) for x in unit]
    t.close(m.strong_components(t(edges), n), (reach & reach.T).argmax(1))
    assert m.topological_order(t(np.array([[0, 1], [1, 0]])), 2) is None
    dag = np.sort(edges, 0)
    dag = dag[:, dag[0] != dag[1]]
    name = t.rng.permutation(n)
    order = m.topological_order(t(name[dag]), n)
    place = np.argsort(order)
    assert sorted(order) == list(range(n)) and (place[name[dag[0]]] < place[name[dag[1]]]).all()
    walls = t.rng.random((19, 23)) < 0.25
    walls[0, 0] = walls[18, 22] = False
    far = np.where(walls, -1, 10**6)
    far[0, 0] = 0
    for _ in range(19 * 23):
        near = np.pad(np.where(walls, 10**6, far), 1, constant_values=10**6)
        least = np.minimum(np.minimum(near[:-2, 1:-1], near[2:, 1:-1]), np.minimum(near[1:-1, :-2], near[1:-1, 2:]))
        far = np.where(walls, -1, np.minimum(far, least + 1))
    assert m.grid_path(t(walls), (0, 0), (18, 22)) == (far[18, 22] if far[18, 22] < 10**6 else -1)
    walls[17:, 21:] = True
    assert m.grid_path(t(walls), (0, 0), (18, 22)) == -1
    with t.raises(IndexError, "edge 0 leaves the graph"):
        m.hops(t(np.array([[9], [1]])), 5, 0)
    with t.raises(RuntimeError, "negative weights"):
        m.dijkstra(t(edges), t(-w), n)
    with t.raises(RuntimeError, "edge_index must be (2, E), got [90, 2]"):
        m.hops(t(edges.T), n, 0)

"""Lloyd's k-means from tensor operations: cdist, argmin, bincount, index_add_, until the assignment settles; structured bindings over min(dim)."""
CPP = r'''
using at::Tensor;

std::tuple<Tensor, Tensor, int64_t> kmeans(const Tensor& points, const Tensor& initial, int64_t max_iter) {
  TORCH_CHECK(points.size(1) == initial.size(1), "points have ", points.size(1), " features, centres ", initial.size(1));
  const int64_t k = initial.size(0);
  Tensor centres = initial.clone();
  Tensor assignment = at::full({points.size(0)}, -1, at::kLong);
  int64_t it = 0;
  do {
    const Tensor next = at::cdist(points, centres).argmin(/*dim=*/1);
    if (next.equal(assignment)) break;
    assignment = next;
    Tensor sums = at::zeros_like(centres).index_add_(0, assignment, points);
    Tensor counts = at::bincount(assignment, /*weights=*/{}, k).to(points.dtype());
    const Tensor filled = counts > 0;
    centres = at::where(filled.unsqueeze(1), sums / counts.clamp_min(1).unsqueeze(1), centres);
  } while (++it < max_iter);
  return {centres, assignment, it};
}

Tensor nearest_distance(const Tensor& points, const Tensor& centres) {
  auto d = (points.unsqueeze(1) - centres.unsqueeze(0)).pow(2).sum(-1);
  auto [value, index] = d.min(1);
  TORCH_CHECK(index.max().item<int64_t>() < centres.size(0));
  return value.sqrt();
}
'''
CUDA = ""
FUNCTIONS = ["kmeans", "nearest_distance"]


def check(m, t):
    import numpy as np

    pts = np.concatenate([t.rng.standard_normal((40, 3)) + c for c in ((0, 0, 0), (6, 0, 1), (0, 7, 2))])
    start = pts[[0, 1, 2, 50]].copy()
    C, a = start.copy(), np.full(120, -1)
    for steps in range(100):
        new = np.sqrt(((pts[:, None] - C[None]) ** 2).sum(-1)).argmin(1)
        if (new == a).all():
            break
        a = new
        for j in range(4):
            if (a == j).any():
                C[j] = pts[a == j].mean(0)
    centres, assignment, it = m.kmeans(t(pts), t(start), 100)
    t.close(assignment, a)
    t.close(centres, C, rtol=1e-10)
    assert it == steps
    t.close(m.nearest_distance(t(pts), t(C)), np.sqrt(((pts[:, None] - C[None]) ** 2).sum(-1)).min(1), rtol=1e-10)
    assert m.kmeans(t(pts), t(start), 2)[2] == 2
    with t.raises(RuntimeError, "points have 3 features, centres 2"):
        m.kmeans(t(pts), t(start[:, :2].copy()), 5)

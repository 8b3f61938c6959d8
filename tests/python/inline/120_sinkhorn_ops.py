"""Entropic optimal transport (Sinkhorn) in the log domain by at:: ops on the CPU: a class that keeps the state, convergence test, named tuple-like result."""
CPP = r'''
#include <torch/extension.h>
#include <cmath>
#include <limits>

class Sinkhorn {
 public:
  struct Result {
    at::Tensor plan, f, g;
    double cost = 0.0;
    int iterations = 0;
    bool converged{false};
  };

  Sinkhorn(const at::Tensor& cost, double epsilon) : cost_(cost), epsilon_(epsilon) {
    TORCH_CHECK(cost.dim() == 2, "the cost must be a matrix");
    TORCH_CHECK_VALUE(epsilon > 0, "epsilon must be positive, not ", epsilon);
  }

  Result solve(const at::Tensor& a, const at::Tensor& b, int max_iterations, double tolerance) const {
    check_marginal(a, cost_.size(0), "a");
    check_marginal(b, cost_.size(1), "b");
    Result r;
    r.f = at::zeros_like(a);
    r.g = at::zeros_like(b);
    const auto log_a = a.log(), log_b = b.log();
    while (r.iterations < max_iterations && !r.converged) {
      r.f = epsilon_ * (log_a - at::logsumexp((r.g.unsqueeze(0) - cost_) / epsilon_, {1}));
      r.g = epsilon_ * (log_b - at::logsumexp((r.f.unsqueeze(1) - cost_) / epsilon_, {0}));
      ++r.iterations;
      const double error = (plan_of(r).sum(1) - a).abs().max().item<double>();
      r.converged = error < tolerance;
    }
    r.plan = plan_of(r);
    r.cost = (r.plan * cost_).sum().item().toDouble();
    return r;
  }

 private:
  at::Tensor plan_of(const Result& r) const {
    return ((r.f.unsqueeze(1) + r.g.unsqueeze(0) - cost_) / epsilon_).exp();
  }

  static void check_marginal(const at::Tensor& x, int64_t n, const char* name) {
    TORCH_CHECK(x.dim() == 1 && x.size(0) == n, name, " must have ", n, " entries, has shape ", x.sizes());
    TORCH_CHECK_VALUE(x.gt(0).all().item<bool>(), name, " must be positive");
    const auto total = x.sum().item<double>();
    TORCH_CHECK_VALUE(std::fabs(total - 1.0) < 1e-4, name, " sums to ", total);
  }

  at::Tensor cost_;
  double epsilon_;
};

std::tuple<at::Tensor, double, int, bool> sinkhorn(const at::Tensor& a, const at::Tensor& b, const at::Tensor& cost, double epsilon, int max_iterations, double tolerance) {
  const Sinkhorn problem(cost, epsilon);
  auto r = problem.solve(a, b, max_iterations, tolerance);
  return {r.plan, r.cost, r.iterations, r.converged};
}

double sinkhorn_divergence(const at::Tensor& x, const at::Tensor& y, double epsilon) {
  const auto uniform = [](const at::Tensor& p) { return at::full({p.size(0)}, 1.0 / p.size(0), p.options()); };
  const auto transport = [&](const at::Tensor& p, const at::Tensor& q) {
    const auto cost = at::pow(p.unsqueeze(1) - q.unsqueeze(0), 2).sum(-1);
    return Sinkhorn(cost, epsilon).solve(uniform(p), uniform(q), 200, 1e-9).cost;
  };
  return transport(x, y) - 0.5 * (transport(x, x) + transport(y, y));
}
'''
CUDA = None
FUNCTIONS = ["sinkhorn", "sinkhorn_divergence"]


def check(m, t):
    import numpy as np

    def solve(a, b, cost, eps, n):
        k = np.exp(-cost / eps)
        u = np.ones(len(a))
        for _ in range(n):
            v0 = np.ones(len(b)) if _ == 0 else v
            u = a / (k @ v0)
            v = b / (k.T @ u)
        return u[:, None] * k * v

    for n, k in ((13, 9), (1, 5), (37, 37)):
        cost = t.rng.random((n, k))
        a, b = t.rng.random(n) + 0.1, t.rng.random(k) + 0.1
        a, b = a / a.sum(), b / b.sum()
        plan, total, steps, converged = m.sinkhorn(t(a), t(b), t(cost), 0.2, 30, 0.0)
        want = solve(a, b, cost, 0.2, 30)
        t.close(plan, want, rtol=1e-9, atol=1e-12)
        assert abs(total - (want * cost).sum()) < 1e-9 and steps == 30 and converged is False
        plan, total, steps, converged = m.sinkhorn(t(a), t(b), t(cost), 0.2, 500, 1e-7)
        assert converged is True and steps < 500
        t.close(plan, solve(a, b, cost, 0.2, steps), rtol=1e-9, atol=1e-12)
        single = [x.astype(np.float32) for x in (a, b, cost)]
        t.close(m.sinkhorn(*map(t, single), 0.2, 30, 0.0)[0], want, rtol=1e-3, atol=1e-6)
    x, y = t.rng.standard_normal((11, 2)), t.rng.standard_normal((7, 2)) + 1
    sq = lambda p, q: ((p[:, None] - q) ** 2).sum(-1)
    flat = lambda p: np.full(len(p), 1 / len(p))
    parts = [(solve(flat(p), flat(q), sq(p, q), 2.0, 200) * sq(p, q)).sum() for p, q in ((x, y), (x, x), (y, y))]
    assert abs(m.sinkhorn_divergence(t(x), t(y), 2.0) - (parts[0] - 0.5 * (parts[1] + parts[2]))) < 1e-6
    with t.raises(ValueError, "epsilon must be positive, not 0"):
        m.sinkhorn(t(a), t(b), t(cost), 0.0, 1, 0.0)
    with t.raises(ValueError, "a sums to 2"):
        m.sinkhorn(t(a * 2), t(b), t(cost), 0.5, 1, 0.0)
    with t.raises(RuntimeError, "b must have 37 entries, has shape [5]"):
        m.sinkhorn(t(a), t(b[:5].copy()), t(cost), 0.5, 1, 0.0)

"""Indexing: index_put_, masked_fill_, where, masked_select, gather, scatter_add_, index_add_, boolean and Slice indices."""
CPP = r'''
#include <torch/torch.h>
using namespace torch::indexing;

torch::Tensor clamp_outliers(torch::Tensor x, double k) {
  auto y = x.clone();
  auto mu = y.mean();
  auto sd = y.std(/*unbiased=*/false);
  y.index_put_({y > mu + k * sd}, mu);
  y.masked_fill_(y < mu - k * sd, mu.item<double>());
  return y;
}

torch::Tensor one_hot_rows(torch::Tensor labels, int64_t classes) {
  auto out = torch::zeros({labels.size(0), classes}, torch::kFloat32);
  out.scatter_(1, labels.unsqueeze(1), 1.0);
  return out;
}

torch::Tensor segment_sum(torch::Tensor values, torch::Tensor segment, int64_t count) {
  auto a = torch::zeros({count, values.size(1)}, values.options());
  a.index_add_(0, segment, values);
  auto b = torch::zeros_like(a).scatter_add_(0, segment.unsqueeze(1).expand_as(values), values);
  TORCH_CHECK(torch::allclose(a, b), "index_add_ and scatter_add_ disagree");
  return a;
}

std::vector<torch::Tensor> corners(torch::Tensor x) {
  auto swapped = x.clone();
  swapped.index_put_({Slice(None, 2), Slice(-1)}, x.index({Slice(-2, None), Slice(None, 1)}));
  return {x.index({0, "..."}), x.index({Slice(), -1}), x.index({Slice(1, None, 2), Slice(None, None, 3)}), x.index({None, x.size(0) - 1}), swapped};
}

torch::Tensor picked(torch::Tensor x, torch::Tensor rows, torch::Tensor cols) { return x.index({rows, cols}); }
torch::Tensor positives(torch::Tensor x) { return torch::masked_select(x, x.gt(0)); }
torch::Tensor pick_each(torch::Tensor x, torch::Tensor i) { return x.gather(1, i.view({-1, 1})).squeeze(1); }
torch::Tensor safe_log(torch::Tensor x) { return torch::where(x > 0, x.log(), torch::full_like(x, -100.0)); }
torch::Tensor where_is(torch::Tensor x) { return torch::nonzero(x); }
'''
CUDA = ""
FUNCTIONS = ["clamp_outliers", "one_hot_rows", "segment_sum", "corners", "picked", "positives", "pick_each", "safe_log", "where_is"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal((7, 11)).astype(np.float32)
    d = x.astype(np.float64)
    far = abs(d - d.mean()) > 1.1 * d.std()
    assert abs(abs(d - d.mean()) - 1.1 * d.std()).min() > 1e-4
    t.close(m.clamp_outliers(t(x), 1.1), np.where(far, d.mean(), d), atol=1e-6)
    labels = t.rng.integers(0, 5, 9)
    t.close(m.one_hot_rows(t(labels), 5), np.eye(5)[labels])
    seg = t.rng.integers(0, 4, 7)
    want = np.zeros((4, 11))
    np.add.at(want, seg, d)
    t.close(m.segment_sum(t(x), t(seg), 4), want, atol=1e-6)
    a, b, c, e, swapped = m.corners(t(x))
    t.close(a, x[0])
    t.close(b, x[:, -1])
    t.close(c, x[1::2, ::3])
    t.close(e, x[None, 6])
    s = x.copy()
    s[:2, -1:] = x[-2:, :1]
    t.close(swapped, s)
    rows, cols = t.rng.integers(0, 7, 13), t.rng.integers(0, 11, 13)
    t.close(m.picked(t(x), t(rows), t(cols)), x[rows, cols])
    t.close(m.positives(t(x)), x[x > 0])
    t.close(m.pick_each(t(x), t(cols[:7])), x[np.arange(7), cols[:7]])
    t.close(m.safe_log(t(x)), np.where(d > 0, np.log(np.where(d > 0, d, 1)), -100), atol=1e-6)
    t.close(m.where_is(t(x > 0.5)), np.argwhere(x > 0.5))

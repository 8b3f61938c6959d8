"""Loss functions from tensor operations: cross entropy by log_softmax and gather, focal, dice, KL, smooth L1; reduction strings, enum class."""
CPP = r'''
#include <torch/extension.h>
#include <stdexcept>

enum class Reduction { None, Mean, Sum };

static Reduction parse(const std::string& s) {
  if (s == "none") return Reduction::None;
  if (s == "mean") return Reduction::Mean;
  if (s == "sum") return Reduction::Sum;
  throw std::invalid_argument(s + " is not a valid value for reduction");
}

static at::Tensor reduced(at::Tensor loss, Reduction r) {
  switch (r) {
    case Reduction::Mean: return loss.mean();
    case Reduction::Sum: return loss.sum();
    case Reduction::None: break;
  }
  return loss;
}

at::Tensor xent(at::Tensor logits, at::Tensor target, const std::string& reduction) {
  auto logp = at::log_softmax(logits, 1);
  return reduced(-logp.gather(1, target.unsqueeze(1)).squeeze(1), parse(reduction));
}

at::Tensor focal(at::Tensor logits, at::Tensor target, double alpha, double gamma, const std::string& reduction) {
  auto p = logits.sigmoid();
  auto ce = at::binary_cross_entropy_with_logits(logits, target, {}, {}, at::Reduction::None);
  auto pt = p * target + (1 - p) * (1 - target);
  auto loss = ce * at::pow(1 - pt, gamma);
  if (alpha >= 0) loss = (alpha * target + (1 - alpha) * (1 - target)) * loss;
  return reduced(loss, parse(reduction));
}

at::Tensor dice(at::Tensor p, at::Tensor y, double smooth) {
  const auto n = p.size(0);
  p = p.reshape({n, -1});
  y = y.reshape({n, -1});
  const auto inter = (p * y).sum(1);
  return (1 - (2. * inter + smooth) / (p.sum(1) + y.sum(1) + smooth)).mean();
}

at::Tensor kl(at::Tensor logp, at::Tensor logq) { return (logp.exp() * (logp - logq)).sum(-1).mean(0); }

at::Tensor smooth_l1(at::Tensor a, at::Tensor b, double beta) {
  auto d = (a - b).abs();
  return at::where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta).mean();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("xent", &xent, py::arg("logits"), py::arg("target"), py::arg("reduction") = "mean");
  m.def("focal", &focal, "Focal loss", py::arg("logits"), py::arg("target"), py::arg("alpha") = 0.25, py::arg("gamma") = 2.0, py::arg("reduction") = std::string("none"));
  m.def("dice", &dice, py::arg("p"), py::arg("y"), py::arg("smooth") = 1.0);
  m.def("kl", &kl);
  m.def("smooth_l1", &smooth_l1, py::arg("a"), py::arg("b"), py::arg("beta") = 1.0);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    z = t.rng.standard_normal((13, 7)).astype(np.float32)
    d = z.astype(np.float64)
    y = t.rng.integers(0, 7, 13)
    logp = d - np.log(np.exp(d).sum(1, keepdims=True))
    each = -logp[np.arange(13), y]
    t.close(m.xent(t(z), t(y), reduction="none"), each)
    t.close(m.xent(t(z), t(y)), each.mean())
    t.close(m.xent(t(z), t(y), "sum"), each.sum())
    with t.raises(ValueError, "avg is not a valid value for reduction"):
        m.xent(t(z), t(y), "avg")
    target = (t.rng.random((13, 7)) < 0.4).astype(np.float32)
    p = 1 / (1 + np.exp(-d))
    pt = np.where(target > 0, p, 1 - p)
    f = -np.log(pt) * (1 - pt) ** 2
    t.close(m.focal(t(z), t(target)), np.where(target > 0, 0.25, 0.75) * f, rtol=1e-4, atol=1e-6)
    t.close(m.focal(t(z), t(target), alpha=-1, reduction="mean"), f.mean(), rtol=1e-4)
    p32 = p.astype(np.float32)
    t.close(m.dice(t(p32), t(target)), (1 - (2 * (p * target).sum(1) + 1) / (p.sum(1) + target.sum(1) + 1)).mean())
    q = np.log(np.full((13, 7), 1 / 7))
    t.close(m.kl(t(logp), t(q)), (np.exp(logp) * (logp - q)).sum(-1).mean(), rtol=1e-12)
    diff = abs(d - target)
    t.close(m.smooth_l1(t(z), t(target), beta=0.5), np.where(diff < 0.5, diff**2, diff - 0.25).mean())

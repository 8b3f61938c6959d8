"""SGD with momentum, dampening, nesterov and weight decay in place by tensor ops; lambdas in m.def and bool defaults."""
CPP = r'''
void sgd_(torch::Tensor& param, torch::Tensor grad, c10::optional<torch::Tensor> buf, double lr, double momentum, double dampening,
          double weight_decay, bool nesterov, bool maximize) {
  torch::NoGradGuard no_grad;
  auto d_p = maximize ? -grad : grad;
  if (weight_decay != 0) {
    d_p = d_p.add(param, weight_decay);
  }
  if (momentum != 0) {
    TORCH_CHECK(buf.has_value() && buf->defined(), "momentum needs a buffer");
    buf.value().mul_(momentum).add_(d_p, 1 - dampening);
    if (nesterov) {
      d_p = d_p.add(*buf, momentum);
    } else {
      d_p = *buf;
    }
  }
  param.add_(d_p, -lr);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = R"(Optimisers that write
into their parameters.)";
  m.def("sgd_", &sgd_, "SGD step", py::arg("param"), py::arg("grad"), py::arg("buf") = py::none(), py::arg("lr") = 0.1,
        py::arg("momentum") = 0.0, py::arg("dampening") = 0.0, py::arg("weight_decay") = 0.0, py::arg("nesterov") = false,
        py::arg("maximize") = false);
  m.def("clip_", [](std::vector<torch::Tensor> grads, double max_norm) -> double {
    double total = 0;
    for (const auto& g : grads) total += g.pow(2).sum().item<double>();
    total = std::sqrt(total);
    if (total > max_norm)
      for (auto& g : grads) g.mul_(max_norm / (total + 1e-6));
    return total;
  }, py::arg("grads"), py::arg("max_norm") = 1.0);
  m.def("zero_", [](torch::Tensor g) { g.zero_(); return g; });
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    p0 = t.rng.standard_normal((37, 5)).astype(np.float32)
    for nesterov in (False, True):
        p, buf = t(p0), t(np.zeros((37, 5), np.float32))
        P, B = p0.astype(np.float64), np.zeros((37, 5))
        for _ in range(3):
            g = t.rng.standard_normal((37, 5)).astype(np.float32)
            m.sgd_(p, t(g), buf, lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.01, nesterov=nesterov)
            d = g + 0.01 * P
            B = 0.9 * B + 0.9 * d
            P = P - 0.05 * (d + 0.9 * B if nesterov else B)
        t.close(p, P, rtol=1e-4, atol=1e-5)
        t.close(buf, B, rtol=1e-4, atol=1e-5)
    p = t(p0)
    m.sgd_(p, t(g), maximize=True)
    t.close(p, p0 + 0.1 * g.astype(np.float64))
    with t.raises(RuntimeError, "momentum needs a buffer"):
        m.sgd_(p, t(g), momentum=0.5)
    gs = [t(g), t(2 * g)]
    norm = np.sqrt(5 * (g.astype(np.float64) ** 2).sum())
    assert abs(m.clip_(gs) - norm) < 1e-4 * norm
    t.close(gs[1], 2 * g / (norm + 1e-6))
    t.close(m.zero_(gs[0]), np.zeros((37, 5)))
    t.close(gs[0], np.zeros((37, 5)))
    assert "Optimisers that write\ninto" in m.__doc__

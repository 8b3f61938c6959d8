"""A stateful class offered by py::class_: exponential moving average of parameters, properties, methods, __repr__, enum."""
CPP = r'''
#include <torch/extension.h>
#include <sstream>

class Ema {
 public:
  Ema(double decay, bool debias) : decay_(decay), debias_(debias) {
    if (decay < 0.0 || decay > 1.0) throw std::invalid_argument("decay must lie in [0, 1]");
  }

  void update(const torch::Tensor& value) {
    if (!shadow_.defined()) shadow_ = torch::zeros_like(value);
    TORCH_CHECK(shadow_.sizes() == value.sizes(), "EMA of shape ", shadow_.sizes(), " cannot take ", value.sizes());
    shadow_.mul_(decay_).add_(value, 1.0 - decay_);
    ++steps_;
  }

  torch::Tensor value() const {
    TORCH_CHECK(steps_ > 0, "no updates yet");
    return debias_ ? shadow_ / (1.0 - std::pow(decay_, steps_)) : shadow_.clone();
  }

  int64_t steps() const { return steps_; }
  double decay() const { return decay_; }
  void set_decay(double d) { decay_ = d; }

 private:
  double decay_;
  bool debias_;
  int64_t steps_ = 0;
  torch::Tensor shadow_;
};

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::class_<Ema>(m, "Ema")
      .def(py::init<double, bool>(), py::arg("decay") = 0.99, py::arg("debias") = true)
      .def("update", &Ema::update)
      .def("value", &Ema::value)
      .def_property_readonly("steps", &Ema::steps)
      .def_property("decay", &Ema::decay, &Ema::set_decay)
      .def("__repr__", [](const Ema& e) {
        std::ostringstream s;
        s << "<Ema decay=" << e.decay() << " steps=" << e.steps() << ">";
        return s.str();
      });
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    ema = m.Ema(decay=0.9)
    with t.raises(RuntimeError, "no updates yet"):
        ema.value()
    xs = t.rng.standard_normal((5, 37)).astype(np.float32)
    shadow = np.zeros(37)
    for x in xs:
        ema.update(t(x))
        shadow = 0.9 * shadow + 0.1 * x
    t.close(ema.value(), shadow / (1 - 0.9**5), rtol=1e-4, atol=1e-6)
    assert ema.steps == 5 and ema.decay == 0.9
    assert repr(ema) == "<Ema decay=0.9 steps=5>"
    ema.decay = 0.5
    ema.update(t(xs[0]))
    with t.raises(RuntimeError, "EMA of shape [37] cannot take [3]"):
        ema.update(t(xs[0, :3].copy()))
    with t.raises(ValueError, "decay must lie in [0, 1]"):
        m.Ema(1.5)

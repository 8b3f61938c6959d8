"""Exceptions caught within the extension: std::exception, c10::Error, catch (...), rethrow, own exception class, RAII order."""
CPP = r'''
#include <torch/extension.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

struct SolverError : public std::runtime_error {
  int64_t iterations;
  SolverError(const std::string& what, int64_t n) : std::runtime_error(what + " after " + std::to_string(n) + " iterations"), iterations(n) {}
};

static double newton_sqrt(double a, int64_t limit) {
  if (a < 0) throw std::domain_error("negative input");
  double x = a > 1 ? a : 1;
  for (int64_t i = 0; i < limit; ++i) {
    const double next = 0.5 * (x + a / x);
    if (std::abs(next - x) <= 1e-12 * next) return next;
    x = next;
  }
  throw SolverError("no convergence", limit);
}

std::string attempt(double a, int64_t limit) {
  try {
    return "ok " + std::to_string(newton_sqrt(a, limit));
  } catch (const SolverError& e) {
    return std::string("solver: ") + e.what() + " [" + std::to_string(e.iterations) + "]";
  } catch (const std::exception& e) {
    return std::string("std: ") + e.what();
  }
}

bool shapes_multiply(torch::Tensor a, torch::Tensor b) {
  try {
    auto c = torch::mm(a, b);
    return c.defined();
  } catch (const c10::Error& e) {
    return false;
  }
}

struct Trace {
  std::vector<std::string>& log;
  std::string name;
  Trace(std::vector<std::string>& l, std::string n) : log(l), name(std::move(n)) { log.push_back("+" + name); }
  ~Trace() { log.push_back("-" + name); }
};

std::vector<std::string> unwinding(bool fail) {
  std::vector<std::string> log;
  try {
    Trace outer(log, "outer");
    try {
      Trace inner(log, "inner");
      if (fail) throw 42;
      log.push_back("done");
    } catch (const std::exception&) {
      log.push_back("wrong handler");
    }
  } catch (int code) {
    log.push_back("int " + std::to_string(code));
  } catch (...) {
    log.push_back("anything");
  }
  return log;
}

double rethrown(double a) {
  try {
    return newton_sqrt(a, 100);
  } catch (const std::exception& e) {
    TORCH_CHECK(false, "rethrown failed: ", e.what());
  }
}

double raw(double a, int64_t limit) { return newton_sqrt(a, limit); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("attempt", &attempt, py::arg("a"), py::arg("limit") = 100);
  m.def("shapes_multiply", &shapes_multiply);
  m.def("unwinding", &unwinding);
  m.def("rethrown", &rethrown);
  m.def("raw", &raw, py::arg("a"), py::arg("limit") = 100);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    assert m.attempt(2.0) == "ok 1.414214"
    assert m.attempt(2.0, 2) == "solver: no convergence after 2 iterations [2]"
    assert m.attempt(-1.0) == "std: negative input"
    z = lambda *s: t(np.zeros(s, np.float32))  # noqa: E731
    assert m.shapes_multiply(z(2, 3), z(3, 4)) is True
    assert m.shapes_multiply(z(2, 3), z(2, 4)) is False
    assert m.unwinding(False) == ["+outer", "+inner", "done", "-inner", "-outer"]
    assert m.unwinding(True) == ["+outer", "+inner", "-inner", "-outer", "int 42"]
    assert abs(m.rethrown(9.0) - 3) < 1e-12
    with t.raises(RuntimeError, "rethrown failed: negative input"):
        m.rethrown(-4.0)
    with t.raises(ValueError, "negative input"):  # pybind11: std::domain_error is a ValueError
        m.raw(-4.0)
    with t.raises(RuntimeError, "no convergence after 1 iterations"):
        m.raw(5.0, 1)

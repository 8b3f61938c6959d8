"""Negative: arguments pybind11 refuses (TypeError), wrong counts, None for a tensor, float for an int, overloads, keyword names."""
CPP = r'''
#include <optional>
torch::Tensor scaled(torch::Tensor x, double factor, int64_t times, bool negate) {
    for (int64_t i = 0; i < times; ++i) x = x * factor;
    return negate ? -x : x;
}
std::string kind(const std::optional<torch::Tensor>& x, std::optional<int64_t> n, std::optional<std::string> s) {
    return std::string(x ? "tensor" : "none") + "/" + (n ? std::to_string(*n) : "none") + "/" + s.value_or("none");
}
int64_t total(const std::vector<int64_t>& xs) { int64_t s = 0; for (auto x : xs) s += x; return s; }
std::string which_int(int64_t) { return "int"; }
std::string which_float(double) { return "float"; }
std::string which_str(const std::string&) { return "str"; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("scaled", &scaled, py::arg("x"), py::arg("factor"), py::arg("times") = 1, py::arg("negate") = false);
    m.def("kind", &kind, py::arg("x") = py::none(), py::arg("n") = std::nullopt, py::arg("s") = py::none());
    m.def("total", &total);
    m.def("which", &which_int);
    m.def("which", &which_float);
    m.def("which", &which_str, "three overloads");
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    x = np.array([1, 2], np.float32)
    t.close(m.scaled(t(x), 2), 2 * x)  # an int where a double is wanted
    t.close(m.scaled(t(x), factor=3.0, times=2, negate=True), -9 * x)
    for args, kwargs in (
        ((), {}),
        ((t(x),), {}),
        ((t(x), 2.0, 1, True, 5), {}),
        ((t(x), "2"), {}),
        ((t(x), 2.0, 1.5), {}),
        (("x", 2.0), {}),
        ((t(x), 2.0), {"scale": 1}),
        ((t(x), 2.0), {"factor": 1.0}),
    ):
        with t.raises(TypeError):
            m.scaled(*args, **kwargs)
    assert m.kind() == "none/none/none"
    assert m.kind(t(x), 5, "s") == "tensor/5/s"
    assert m.kind(n=-1) == "none/-1/none"
    with t.raises(TypeError):
        m.kind(n="five")
    assert m.total([1, 2, 3]) == 6 and m.total((4, 5)) == 9 and m.total([]) == 0
    with t.raises(TypeError):
        m.total([1, 2.5])
    with t.raises(TypeError):
        m.total(5)
    assert [m.which(3), m.which(3.5), m.which("3")] == ["int", "float", "str"]
    with t.raises(TypeError):
        m.which([3])

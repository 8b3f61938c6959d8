"""Negative: indices out of range in select, index_select, gather, dims, and vector.at / map.at, as RuntimeError or IndexError like torch's binder."""
CPP = r'''
#include <map>
#include <string>
#include <vector>
torch::Tensor row(torch::Tensor x, int64_t i) { return x[i]; }
torch::Tensor column(torch::Tensor x, int64_t i) { return x.select(1, i); }
torch::Tensor sum_dim(torch::Tensor x, int64_t d) { return x.sum(d); }
int64_t size_of(torch::Tensor x, int64_t d) { return x.size(d); }
torch::Tensor rows(torch::Tensor x, torch::Tensor i) { return x.index_select(0, i); }
torch::Tensor along(torch::Tensor x, torch::Tensor i) { return x.gather(1, i); }
torch::Tensor cut(torch::Tensor x, int64_t start, int64_t length) { return x.narrow(0, start, length); }
torch::Tensor nth(std::vector<torch::Tensor> xs, size_t n) { return xs.at(n); }
double constant(const std::string& name) {
  static const std::map<std::string, double> table = {{"pi", 3.14159}, {"e", 2.71828}};
  return table.at(name);
}
char letter(const std::string& s, size_t i) { return s.at(i); }
'''
CUDA = ""
FUNCTIONS = ["row", "column", "sum_dim", "size_of", "rows", "along", "cut", "nth", "constant", "letter"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal((3, 4)).astype(np.float32)
    t.close(m.row(t(x), -1), x[-1])
    for i in (3, -4):
        with t.raises(IndexError, f"index {i} "):
            m.row(t(x), i)
    t.close(m.column(t(x), -4), x[:, 0])
    with t.raises(IndexError, "select(): index 4 out of range for tensor of size [3, 4] at dimension 1"):
        m.column(t(x), 4)
    for d in (2, -3):
        for f in (m.sum_dim, m.size_of):
            with t.raises(IndexError, f"Dimension out of range (expected to be in range of [-2, 1], but got {d})"):
                f(t(x), d)
    assert m.size_of(t(x), -1) == 4
    t.close(m.rows(t(x), t(np.array([2, 0, 2]))), x[[2, 0, 2]])
    with t.raises(IndexError, "index out of range in self"):
        m.rows(t(x), t(np.array([0, 3])))
    with t.raises(RuntimeError, "index 4 is out of bounds for dimension 1 with size 4"):
        m.along(t(x), t(np.array([[0], [4], [1]])))
    t.close(m.cut(t(x), 1, 2), x[1:])
    with t.raises(RuntimeError, "start (2) + length (2) exceeds dimension size (3)."):
        m.cut(t(x), 2, 2)
    t.close(m.nth([t(x), t(x + 1)], 1), x + 1)
    with t.raises(RuntimeError, "vector::_M_range_check: __n (which is 2) >= this->size() (which is 2)"):
        m.nth([t(x), t(x)], 2)  # functions=: torch's wrapper makes a RuntimeError of any std::exception
    assert m.constant("e") == 2.71828
    with t.raises(RuntimeError, "map::at"):
        m.constant("tau")
    assert m.letter("abc", 1) == "b"
    with t.raises(RuntimeError, "basic_string::at: __n (which is 5) >= this->size() (which is 3)"):
        m.letter("abc", 5)

"""Names of the library that a text misspells, gives other meanings, or meets for the first time in odd places."""

import numpy as np
import pytest

import workbench as wb
from workbench import load_inline


def refusal(body: str) -> str:
    """The error about a function."""
    with pytest.raises(wb.CompileError) as caught:
        load_inline(name="refused", cpp_sources=f"#include <torch/extension.h>\n{body}\n", functions=["f"])
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("torch::Tensor f(torch::Tensor x) { return x.cotniguous(); }", "did you mean `contiguous`?"),
        ("torch::Tensor f(torch::Tensor x) { return torch::zeross({2}); }", "did you mean `torch::zeros`?"),
        # `at` is visible through `torch`, and what nobody has looked up counts.
        ("torch::Tensor f(torch::Tensor x) { return torch::softmaxx(x, 0); }", "did you mean `torch::softmax`?"),
        ("torch::Tenser f(torch::Tensor x) { return x; }", "did you mean `torch::Tensor`?"),
        ("std::vectr<int64_t> f(torch::Tensor x) { return x.sizes().vec(); }", "did you mean `std::vector`?"),
    ],
)
def test_a_misspelled_name_of_the_library_is_told(body, hint):
    message = refusal(body)
    assert hint in message
    assert "main.cpp:2:" in message
    # Internal names of the library are never suggested.
    assert "__wb" not in message


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_what_is_met_first_changes_nothing(order):
    functions = {
        "first": "torch::Tensor first(torch::Tensor x) { std::vector<int64_t> n = {2}; return x + torch::ones(n).sum(); }",
        "second": "torch::Tensor second(torch::Tensor x) { return torch::stack({x, x * 2}).sum(0) - c10::Scalar(1); }",
    }
    text = "#include <torch/extension.h>\n" + "\n".join(functions[name] for name in order)
    module = load_inline(name="ordered", cpp_sources=text, functions=list(order))
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(module.first(x), x + 2)
    np.testing.assert_array_equal(module.second(x), 3 * x - 1)


def test_names_of_the_text_win_where_it_declares_them():
    text = """#include <torch/extension.h>
    template <typename T> T size(T vector) { return vector * 3; }
    struct optional { int64_t value; };
    int64_t f(int64_t data) { optional max{data}; int64_t numel = size(max.value); return numel + std::max<int64_t>(data, 5); }
    """
    module = load_inline(name="named", cpp_sources=text, functions=["f"])
    assert module.f(2) == 11


def test_what_a_class_of_the_text_inherits_is_found():
    text = """#include <torch/extension.h>
    struct Bag : std::vector<int64_t> { int64_t twice() const { return 2 * (int64_t)size(); } };
    int64_t f() { Bag bag; bag.push_back(4); bag.push_back(5); return bag.twice() + bag.back() + (bag.empty() ? 100 : 0); }
    """
    module = load_inline(name="inherited", cpp_sources=text, functions=["f"])
    assert module.f() == 9


def test_operators_are_there_once_their_types_are():
    # No name of their types stands beside the operators.
    text = """#include <torch/extension.h>
    auto made(int64_t n) { return std::make_pair(std::string("a") + "b", n); }
    bool f(int64_t n) { return made(n) == made(n) && made(n) < made(n + 1) && made(1).first == "ab"; }
    """
    module = load_inline(name="operators", cpp_sources=text, functions=["f"])
    assert module.f(3) is True

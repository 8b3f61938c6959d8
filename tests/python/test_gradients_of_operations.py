"""Gradients of operations on tensors in host code, without torch, where functions have kinks, ties, zeros and NaNs as well. Expected values
are derivatives by hand, and torch's choices where there is none (`tools/autograd/derivatives.yaml`)."""

import numpy as np
import pytest

import workbench as wb

NAN, INF = float("nan"), float("inf")
# Euler's constant.
GAMMA = 0.5772156649015329

# Rows: an expression of `x` and `y`, both, and the gradients of its sum.
ROWS = {
    "cumprod": ("x.cumprod(0)", [2, 0, 3, 0, 5], [0], [1, 8, 0, 0, 0], [0]),
    "prod": ("x.prod()", [2, 3, 4], [0], [12, 8, 6], [0]),
    "prod_zero": ("x.prod()", [2, 0, 3], [0], [0, 6, 0], [0]),
    "prod_dim": ("x.prod(1)", [[2, 0], [5, 7]], [0], [[0, 2], [7, 5]], [0]),
    "cummax": ("std::get<0>(x.cummax(0))", [1, 3, 2, 3.5], [0], [1, 2, 0, 1], [0]),
    "diagonal": ("x.diagonal(1)", [[1, 2, 3], [4, 5, 6]], [0], [[0, 1, 0], [0, 0, 1]], [0]),
    "einsum": ('torch::einsum("ij,jk->ik", {x, y})', [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[11, 15], [11, 15]], [[4, 4], [6, 6]]),
    "einsum_diagonal": ('torch::einsum("ii->i", {x}) * y', [[1, 2], [3, 4]], [5, 6], [[5, 0], [0, 6]], [1, 4]),
    "einsum_sum": ('torch::einsum("ij->j", {x}) * y', [[1, 2], [3, 4]], [5, 6], [[5, 6], [5, 6]], [4, 6]),
    "conv1d": ("torch::conv1d(x, y)", [[[1, 2, 3, 4]]], [[[1, 10]]], [[[1, 11, 11, 10]]], [[[6, 9]]]),
    # Each window meets one element alone.
    "conv2d": (
        "torch::conv2d(x, y, {}, 2, 1)", [[[[1, 2], [3, 4]]]], [[[[5, 6], [7, 8]]]], [[[[8, 7], [6, 5]]]], [[[[4, 3], [2, 1]]]],
    ),
    "lgamma": ("torch::lgamma(x)", [1, 2, 0.5, 10], [0], [-GAMMA, 1 - GAMMA, -GAMMA - 2 * np.log(2), 2.251752589066721], [0]),
    # `erfinv(0.5)` is 0.4769362762044699 (DLMF 7.17).
    "erfinv": ("torch::erfinv(x)", [0, 0.5, 1], [0], np.sqrt(np.pi) / 2 * np.exp(np.square([0, 0.4769362762044699, INF])), [0]),
    # `-log(x) - 1`.
    "special_entr": ("torch::special_entr(x)", [0, 1, np.exp(-1), 0.5, -1, NAN], [0], [INF, -1, 0, np.log(2) - 1, NAN, NAN], [0]),
    "fmax": ("torch::fmax(x, y)", [1, NAN, 2], [2, 1, 2], [0, 0, 0.5], [1, 1, 0.5]),
    "fmin": ("torch::fmin(x, y)", [1, 3, 2], [2, NAN, 2], [1, 1, 0.5], [0, 0, 0.5]),
    "maximum": ("torch::maximum(x, y)", [1, NAN, 2], [2, 1, 2], [0, 1, 0.5], [1, 1, 0.5]),
    "clamp": ("x.clamp(0, 2)", [0, 1, 2, NAN], [0], [0, 1, 0, 0], [0]),
    "clamp_tensor": ("x.clamp_min(y)", [1, 2, 3], [2, 2, 2], [0, 0.5, 1], [1, 0.5, 0]),
    "clamp_tensors": ("x.clamp(y, y + 2)", [1, 2, 3, 4, 5], [2, 2, 2, 2, 2], [0, 0.5, 1, 0.5, 0], [1, 0.5, 0, 0.5, 1]),
    "relu": ("x.relu()", [-1, 0, 1, NAN], [0], [0, 0, 1, 1], [0]),
    "nextafter": ("torch::nextafter(x, y)", [1, 2, 3, NAN], [2, 2, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]),
    "nextafter_number": ("torch::nextafter(x, 2) * y", [1, 2], [3, 4], [3, 0], [1 + 2.0**-52, 2]),
    "atan2": ("torch::atan2(x, y)", [0, 1], [0, 2], [0, 0.4], [0, -0.2]),
    "logit": ("torch::logit(x)", [0, 1, 0.5], [0], [INF, INF, 4], [0]),
    "norm_inf": ("x.norm(INFINITY, {0})", [3, -3, 1], [0], [0.5, -0.5, 0], [0]),
    "norm_0": ("x.norm(0, {0})", [3, 0, 1], [0], [0, 0, 0], [0]),
    "max": ("x.max()", [2, 2, 1], [0], [0.5, 0.5, 0], [0]),
    "max_nan": ("x.max()", [NAN, 2, NAN], [0], [0.5, 0, 0.5], [0]),
    "amax_nan": ("x.amax()", [NAN, 2], [0], [NAN, NAN], [0]),
    "median": ("x.median()", [1, 2, 2, 2, 3], [0], [0, 1 / 3, 1 / 3, 1 / 3, 0], [0]),
    "median_nan": ("std::get<0>(x.median(0))", [1, NAN, 3], [0], [0, 1, 0], [0]),
    "sinc": ("torch::sinc(x)", [0, 1, 2], [0], [0, -1, 0.5], [0]),
    "xlogy": ("torch::xlogy(x, y)", [0, 0, 2], [0, 2, 4], [0, np.log(2), np.log(4)], None),
    # `log1p(y)`, and 0 where both the logarithm is none and x is 0; `x / (y + 1)`.
    "special_xlog1py": (
        "torch::special_xlog1py(x, y)",
        [0, 0, 2, 3, 0, 1, NAN], [-1, 2, 4, 0, -3, NAN, 1], [0, np.log(3), np.log(5), 0, 0, NAN, np.log(2)], [NAN, 0, 0.4, 3, 0, NAN, NAN],
    ),
    "special_xlog1py_wide": (
        "torch::special_xlog1py(x, y)", [[1], [2]], [1, 3, 0], [[np.log(8)], [np.log(8)]], [1.5, 0.75, 3],
    ),
    "special_xlog1py_number": ("torch::special_xlog1py(x, 2) * y", [0, 1], [3, 4], [3 * np.log(3), 4 * np.log(3)], [0, np.log(3)]),
    "special_xlog1py_limit": ("torch::special_xlog1py(x, -1)", [0, 1], [0], [0, -INF], [0]),
    "special_xlog1py_nan": ("torch::special_xlog1py(x, NAN)", [0, 1], [0], [0, NAN], [0]),
    "special_xlog1py_of_number": ("torch::special_xlog1py(2, y) * x", [3, 4], [0, 1], [0, 2 * np.log(2)], [6, 4]),
    "put": ("x.put(torch::tensor({2, -3}), y).pow(2)", [1, 2, 3], [5, 6], [0, 4, 0], [10, 12]),
    "put_sum": ("x.put(torch::tensor({0, 0}), y, true).pow(2)", [1, 2, 3], [5, 6], [24, 4, 6], [24, 24]),
    "embedding": ("torch::embedding(x, torch::tensor({0, 1, 1}), 0)", [[1, 2], [3, 4]], [0], [[0, 0], [2, 2]], [0]),
    "embedding_mean": (
        "torch::embedding(x, torch::tensor({0, 1, 1}), -1, true)", [[1, 2], [3, 4]], [0], [[1, 1], [1, 1]], [0],
    ),
    "scatter_mean": (
        'x.scatter_reduce(0, torch::zeros({3}, torch::kLong), y, "mean")', [1, 2, 3], [4, 5, 6], [0.25, 1, 1], [0.25, 0.25, 0.25],
    ),
    "scatter_amax": (
        'x.scatter_reduce(0, torch::zeros({3}, torch::kLong), y, "amax")', [6, 2, 3], [4, 5, 6], [0.5, 1, 1], [0, 0, 0.5],
    ),
    # Parts of another type have no gradient, and shift none.
    "cat_whole": ("torch::cat({x, torch::tensor({3, 5}), x}) * y", [5, 6], [1, 2, 3, 4, 5, 6], [6, 8], [5, 6, 3, 5, 5, 6]),
    "stack_whole": ("torch::stack({torch::tensor({1, 3}), x}) * y", [5, 6], [[1, 2], [3, 4]], [3, 4], [[1, 3], [5, 6]]),
    "cat_truth": ("torch::cat({x, x > 5}) * y", [5, 6], [1, 2, 3, 4], [1, 2], [5, 6, 0, 1]),
    # Writes in place: what a derivative does not read may be written.
    "write_scaled": ("[&] { auto a = x * 2, b = a * 3; a.add_(1); return a + b; }()", [1, 2], [0], [8, 8], [0]),
    "write_divided": ("[&] { auto a = x * 1, b = a / 2; a.add_(1); return b; }()", [1, 2], [0], [0.5, 0.5], [0]),
    "write_factor": ("[&] { auto a = x.detach() * 1, b = a * y; a.zero_(); return y * 3; }()", [1, 2], [3, 4], [0, 0], [3, 3]),
    "write_chosen": ("[&] { auto a = x * 1, b = torch::where(y > 1, a, y); a.add_(1); return b; }()", [1, 2], [2, 0], [1, 0], [0, 1]),
    "write_largest": ("[&] { auto a = x * 1, b = std::get<0>(a.max(0)); a.add_(1); return b; }()", [1, 2], [0], [0, 1], [0]),
    # Views made before a write.
    "view_before": ("[&] { auto a = x * 1, b = a.view({-1}); a.mul_(y); return b * 2; }()", [[1, 2]], [[3, 4]], [[6, 8]], [[2, 4]]),
    "views_filled": (
        "[&] { auto a = torch::zeros({2, 2}, x.options()), p = a.select(0, 0), q = a.select(0, 1); p.copy_(x); q.copy_(y); return p * q; }()",
        [1, 2], [3, 4], [3, 4], [1, 2],
    ),
    "expanded_before": ("[&] { auto a = x * 1, b = a.expand({3, 2}); a.mul_(2); return b; }()", [1, 2], [0], [6, 6], [0]),
    # Leaves.
    "detached": ("[&] { auto a = x * 1; a.detach_(); return a * y; }()", [1, 2], [3, 4], [0, 0], [1, 2]),
    "switched_off": ("[&] { x.requires_grad_(false); return x * y; }()", [1, 2], [3, 4], [0, 0], [1, 2]),
    "switched": ("[&] { x.requires_grad_(false); x.requires_grad_(true); return x * y; }()", [1, 2], [3, 4], [3, 4], [1, 2]),
}


@pytest.fixture(scope="module")
def ops():
    functions = [f"at::Tensor f_{name}(at::Tensor x, at::Tensor y) {{ return {row[0]}; }}" for name, row in ROWS.items()]
    definitions = [f'm.def("f_{name}(Tensor x, Tensor y) -> Tensor", &f_{name});' for name in ROWS]
    text = "\n".join([*functions, "TORCH_LIBRARY(wb_derivatives, m) {", *definitions, "}"])
    wb.load_inline("wb_derivatives", text, is_python_module=False)
    return wb.ops.wb_derivatives


@pytest.mark.parametrize("name", ROWS)
def test_a_gradient(ops, name):
    _, x, y, of_x, of_y = ROWS[name]
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    made, pull = getattr(ops, f"f_{name}").vjp(x, y)
    got_x, got_y = pull(np.ones_like(made))
    np.testing.assert_allclose(np.zeros_like(x) if got_x is None else got_x, of_x, rtol=1e-13)
    if of_y is not None:
        np.testing.assert_allclose(np.zeros_like(y) if got_y is None else got_y, of_y, rtol=1e-13)


WRITES = """
at::Tensor squared_by_itself(at::Tensor x) { auto a = x * 1; a.mul_(a); return a; }
at::Tensor factor(at::Tensor x) { auto a = x * 1, b = a * x; a.add_(1); return b; }
at::Tensor places(at::Tensor x) { auto i = torch::tensor({1, 0}), b = x.index_select(0, i); i.zero_(); return b; }
at::Tensor products(at::Tensor x) { auto a = x.cumprod(0); a.mul_(2); return a; }
at::Tensor no_leaf(at::Tensor x) { auto a = x * 2; a.requires_grad_(false); return a; }
at::Tensor no_float(at::Tensor x) { torch::zeros({2}, torch::kLong).requires_grad_(true); return x * 2; }
TORCH_LIBRARY(wb_writes, m) {
    m.def("squared_by_itself(Tensor x) -> Tensor", &squared_by_itself);
    m.def("factor(Tensor x) -> Tensor", &factor);
    m.def("places(Tensor x) -> Tensor", &places);
    m.def("products(Tensor x) -> Tensor", &products);
    m.def("no_leaf(Tensor x) -> Tensor", &no_leaf);
    m.def("no_float(Tensor x) -> Tensor", &no_float);
}
"""


@pytest.mark.parametrize("name", ["squared_by_itself", "factor", "places", "products"])
def test_what_a_derivative_reads_may_not_be_written(name):
    wb.load_inline("wb_writes", WRITES, is_python_module=False)
    made, pull = getattr(wb.ops.wb_writes, name).vjp(np.array([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pull(np.ones_like(made))


def test_what_may_not_be_told_to_require_grad():
    wb.load_inline("wb_writes", WRITES, is_python_module=False)
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf variables"):
        wb.ops.wb_writes.no_leaf.vjp(np.array([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
        wb.ops.wb_writes.no_float.vjp(np.array([1.0, 2.0]))

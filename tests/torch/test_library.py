"""Operators that a text registers, called by torch itself: its dispatcher, its checks, its autograd, its compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import workbench as wb

ROOT = Path(__file__).resolve().parents[2]


def text(change: tuple[str, str] = ("", "")) -> Any:
    """The operators `mymuladd`, `mymul` and `myadd_out` of the tutorial on custom operators, registered."""
    cell: dict[str, Any] = {}
    exec((ROOT / "tests/python/inline/70_library_muladd.py").read_text(), cell)
    wb.load_inline("ext", cell["CPP"].replace(*change), cell["CUDA"], is_python_module=False)
    return torch.ops.extension_cpp


def exact(got: torch.Tensor, want: torch.Tensor) -> None:
    # Each result is one product and one sum of floats; the sum may be of a product that was not rounded.
    eps = 2 * torch.finfo(want.dtype).eps
    torch.testing.assert_close(got, want, rtol=eps, atol=eps)


@pytest.fixture
def ab() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(5, 7, generator=generator), torch.randn(5, 7, generator=generator)


def test_the_dispatcher_calls_it(ab):
    ops, (a, b) = text(), ab
    exact(ops.mymuladd(a, b, 2.0), a * b + 2)
    out = torch.full((5, 7), float("nan"))
    ops.myadd_out(a, b, out)
    exact(out, a + b)
    with pytest.raises(RuntimeError, match=r"out.is_contiguous\(\)"):
        ops.myadd_out(a, b, torch.zeros(7, 5).t())


def test_opcheck(ab):
    ops, (a, b) = text(), ab
    torch.library.opcheck(ops.mymuladd.default, (a, b, 1.5))
    torch.library.opcheck(ops.myadd_out.default, (a, b, torch.zeros(5, 7)))
    empty = torch.empty(3, 2, device="meta")
    assert ops.mymuladd(empty, empty, 1.0).shape == (3, 2)


def test_gradients_that_are_registered_with_torch(ab):
    ops, (a, b) = text(("mymul(", "mymul(")), ab

    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        x, y = ctx.saved_tensors
        return ops.mymul(grad, y), ops.mymul(grad, x), None

    library = torch.library.Library("extension_cpp", "FRAGMENT")
    torch.library.register_autograd(
        "extension_cpp::mymuladd",
        backward,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]),
        lib=library,
    )
    x = a.clone().requires_grad_()
    ops.mymuladd(x, b, 2.0).sum().backward()
    exact(x.grad, b)
    compiled = torch.compile(lambda p, q: ops.mymuladd(p, q, 3.0) * 2, fullgraph=True, backend="aot_eager")
    exact(compiled(a, b), (a * b + 3) * 2)
    library._destroy()


def test_a_text_built_anew_runs(ab):
    _, (a, b) = text(), ab
    with pytest.raises(RuntimeError, match=r"a.sizes\(\) == b.sizes\(\)"):
        torch.ops.extension_cpp.mymuladd(a, torch.randn(2, 2), 1.0)
    changed = text(("lhs_ptr[i] * rhs_ptr[i] + c;", "lhs_ptr[i] * rhs_ptr[i] - c;"))
    exact(changed.mymuladd(a, b, -1.0), a * b + 1)


TYPES = """
#include <torch/extension.h>
std::vector<at::Tensor> scaled(at::TensorList xs, double by) {
    std::vector<at::Tensor> out;
    for (const at::Tensor& x : xs) out.push_back(x * by);
    return out;
}
at::Tensor joined(at::TensorList xs, const std::optional<at::Tensor>& more, at::IntArrayRef shape, bool flip, std::string mode) {
    at::Tensor sum = at::zeros(shape, xs[0].options());
    for (const at::Tensor& x : xs) sum = sum + x;
    if (more.has_value()) sum = sum + *more;
    if (mode == "negative") sum = -sum;
    return flip ? sum.t() : sum;
}
std::tuple<at::Tensor, int64_t, double> measured(const at::Tensor& x) { return {x.abs(), x.numel(), x.sum().item<double>()}; }
at::Tensor nonzero(const at::Tensor& x) { return at::nonzero(x); }
at::Tensor typed(const at::Tensor& x, at::ScalarType dtype) { return x.to(dtype); }
at::Tensor plus(const at::Tensor& x, const at::Scalar& s) { return x + s; }
at::Tensor rows(const at::Tensor& x) { return x.slice(0, 1); }
TORCH_LIBRARY(wb_types, m) {
    m.def("scaled(Tensor[] xs, float by) -> Tensor[]", &scaled);
    m.def("joined(Tensor[] xs, Tensor? more, int[] shape, bool flip=False, str mode='plain') -> Tensor", &joined);
    m.def("measured(Tensor x) -> (Tensor, int, float)", &measured);
    m.def("nonzero(Tensor x) -> Tensor", &nonzero);
    m.def("typed(Tensor x, ScalarType dtype) -> Tensor", &typed);
    m.def("plus(Tensor x, Scalar s) -> Tensor", &plus);
    m.def("rows(Tensor(a) x) -> Tensor(a)", &rows);
}
"""


def test_values_of_every_type_pass():
    wb.load_inline("types", TYPES, is_python_module=False)
    ops = torch.ops.wb_types
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    for got, want in zip(ops.scaled([x, y], 0.5), [x * 0.5, y * 0.5]):
        assert torch.equal(got, want)
    assert ops.scaled([], 2.0) == []
    assert torch.equal(ops.joined([x, y], None, [2, 3]), x + y)
    assert torch.equal(ops.joined([x, y], y, [2, 3], mode="negative"), -(x + y + y))
    assert torch.equal(ops.joined([x], None, [2, 3], True), x.t())
    absolute, count, total = ops.measured(x)
    assert torch.equal(absolute, x.abs()) and count == 6 and total == pytest.approx(x.double().sum().item(), rel=1e-6)
    picked = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert torch.equal(ops.nonzero(picked), torch.nonzero(picked))
    assert ops.typed(x, torch.float64).dtype == torch.float64
    # torch's boxed kernels cannot pass a Scalar: this one is Python's.
    assert torch.equal(ops.plus(x, 2), x + 2) and torch.equal(ops.plus(x, 0.5), x + 0.5)
    view = ops.rows(x)
    assert torch.equal(view, x[1:]) and view.data_ptr() == x[1:].data_ptr()
    # Not the first of its memory, and not contiguous.
    assert torch.equal(ops.rows(torch.arange(12.0).view(3, 4)[:, 1:3])[0], torch.tensor([5.0, 6.0]))
    assert ops.scaled([torch.empty(0, 4)], 2.0)[0].shape == (0, 4)
    assert torch.equal(ops.nonzero(torch.tensor(3.0)), torch.nonzero(torch.tensor(3.0)))


def test_results_keep_their_memory():
    wb.load_inline("types", TYPES, is_python_module=False)
    kept = [torch.ops.wb_types.scaled([torch.full((1000,), float(i))], 2.0)[0] for i in range(50)]
    assert all(torch.equal(tensor, torch.full((1000,), 2.0 * i)) for i, tensor in enumerate(kept))


def test_tensors_that_are_not_for_us_are_refused():
    wb.load_inline("types", TYPES, is_python_module=False)
    with pytest.raises(RuntimeError, match="`x` is a tensor of a type that kernels do not have"):
        torch.ops.wb_types.nonzero(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.ops.wb_types.nonzero(torch.zeros(2, 2).to_sparse())

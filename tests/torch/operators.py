"""Operators that a text registers, called by torch itself: its dispatcher, its checks, its autograd, its compiler.

    python operators.py OTHER    with torch, and the package of the interpreter OTHER
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

_WHERE = "import pathlib, workbench; print(pathlib.Path(workbench.__file__).parents[1])"
sys.path.append(subprocess.check_output([sys.argv[1], "-c", _WHERE], text=True).strip())

import workbench as wb  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def text(change: tuple[str, str] = ("", "")) -> Any:
    """The operators `mymuladd`, `mymul` and `myadd_out` of the tutorial on custom operators, registered."""
    cell: dict[str, Any] = {}
    exec((ROOT / "tests/python/inline/70_library_muladd.py").read_text(), cell)
    wb.load_inline("ext", cell["CPP"].replace(*change), cell["CUDA"], is_python_module=False)
    return torch.ops.extension_cpp


def main() -> None:
    torch.manual_seed(7)
    ops = text()
    a, b = torch.randn(5, 7), torch.randn(5, 7)

    def exact(got: torch.Tensor, want: torch.Tensor) -> None:
        # Each result is one product and one sum of floats; the sum may be of a product that was not rounded.
        torch.testing.assert_close(got, want, rtol=2 * torch.finfo(want.dtype).eps, atol=2 * torch.finfo(want.dtype).eps)

    exact(ops.mymuladd(a, b, 2.0), a * b + 2)
    out = torch.full((5, 7), float("nan"))
    ops.myadd_out(a, b, out)
    exact(out, a + b)
    try:
        ops.myadd_out(a, b, torch.zeros(7, 5).t())
    except wb.ExtensionError as error:
        assert "out.is_contiguous()" in str(error), error
    else:
        raise AssertionError("the text wants a contiguous result")
    print("the dispatcher: agrees")

    torch.library.opcheck(ops.mymuladd.default, (a, b, 1.5), test_utils=("test_schema", "test_faketensor"))
    assert ops.mymuladd(torch.empty(3, 2, device="meta"), torch.empty(3, 2, device="meta"), 1.0).shape == (3, 2)
    print("opcheck: passes")

    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        x, y = ctx.saved_tensors
        return ops.mymul(grad, y), ops.mymul(grad, x), None

    torch.library.register_autograd(
        "extension_cpp::mymuladd",
        backward,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]),
    )
    x = a.clone().requires_grad_()
    ops.mymuladd(x, b, 2.0).sum().backward()
    exact(x.grad, b)
    print("autograd: agrees")

    compiled = torch.compile(lambda p, q: ops.mymuladd(p, q, 3.0) * 2, fullgraph=True, backend="aot_eager")
    exact(compiled(a, b), (a * b + 3) * 2)
    print("torch.compile: agrees")

    try:
        ops.mymuladd(a, torch.randn(2, 2), 1.0)
    except wb.ExtensionError as error:
        assert "a.sizes() == b.sizes()" in str(error), error
    else:
        raise AssertionError("sizes that differ are an error")
    changed = text(("lhs_ptr[i] * rhs_ptr[i] + c;", "lhs_ptr[i] * rhs_ptr[i] - c;"))
    exact(changed.mymuladd(a, b, -1.0), a * b + 1)
    print("after an error, and of a text built anew: agrees")


if __name__ == "__main__":
    main()

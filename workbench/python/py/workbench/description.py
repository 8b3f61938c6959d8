"""Descriptions of operators: what `op?` and a cell that ends with an operator show."""

from __future__ import annotations

from typing import Any

__all__ = ["Documentation", "describe"]

#: Lines of a kernel's text that are shown.
_LINES = 40


def describe(op: Any) -> str:
    """An operator in lines: schema, kernel, launch, shape, gradient, reference, version and text.

    >>> import workbench as wb
    >>> op = wb.op("doc::described(Tensor x) -> Tensor",
    ...            "__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }",
    ...            shape="x[n] -> y[n]", block=64)
    >>> print(describe(op))
    doc::described(Tensor x) -> Tensor
    kernel     void twice(const float* x, float* y, int n)
    launch     one thread per element of the first output, in blocks of 64
    shape      x[n] -> y[n]
    gradient   none: register_autograd gives it one
    reference  none: op.check needs one
    version    1 of 1
    <BLANKLINE>
    __global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
    """
    rows = {
        "kernel": _kernel(op),
        "launch": _launch(op._parts),
        "shape": _name(op._parts["shape"]) if op._parts["shape"] is not None else "outputs are like the first input",
        "gradient": "registered" if op._backward is not None else "none: register_autograd gives it one",
        "reference": _name(op.reference) if op.reference is not None else "none: op.check needs one",
        "version": f"{op._number} of {len(op.history)}",
    }
    lines = [op.schema, *(f"{name:<11}{text}" for name, text in rows.items()), "", *_text(op.module.text)]
    return "\n".join(lines)


def _kernel(op: Any) -> str:
    name = op.kernel or next(iter([*op.module.kernels, *op.module.templates]), None)
    if name is None:
        return "none"
    return getattr(op.module[name], "signature", None) or f"{name}, a template: each call gets the instance of its arrays' element types"


def _launch(parts: dict[str, Any]) -> str:
    grid, threads, block, shared = parts["grid"], parts["threads"], parts["block"], parts["shared_mem"]
    count = f"a grid of {_extents(grid)}" if grid is not None else f"{_extents(threads)} threads" if threads is not None else "one thread per element of the first output"
    # Without a block the launch has 256 threads or 16 x 16, or fewer where `__launch_bounds__` says so.
    text = f"{count}, in blocks of {'up to 256 threads' if block is None else _extents(block)}"
    return text if shared is None else f"{text}, with {shared} bytes of dynamic shared memory"


def _extents(value: Any) -> str:
    return " x ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _name(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__qualname__", None) or repr(value)


def _text(text: str) -> list[str]:
    lines = text.strip("\n").splitlines()
    rest = len(lines) - _LINES
    return lines if rest <= 0 else [*lines[:_LINES], f"... and {rest} lines more: op.module.text has them"]


class Documentation:
    """The `__doc__` of operators: of the class its docstring, of an operator its description."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, op: Any, owner: Any = None) -> str:
        return self.text if op is None else describe(op)

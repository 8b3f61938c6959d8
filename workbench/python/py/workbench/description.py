"""Descriptions of operators: what `op?` and a cell that ends with an operator show."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

__all__ = ["Documentation", "block_of", "describe", "split_list"]

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
    where = ""
    if hasattr(op, "_parts"):
        rows, text, where = _of_kernel(op), op.module.text, ": op.module.text has them"
    elif "function" in vars(op):
        rows, text = _of_callable(op), _source(op.function)
    else:
        rows, text = _of_host_function(op), op._origin[0] if op._origin is not None else op._modules[0].text if op._modules else ""
    if op._why_stale is not None:
        rows["note"] = op._why_stale
    shown = _text(text, where)
    lines = [op.schema, *(f"{name:<11}{row}" for name, row in rows.items()), *(["", *shown] if shown else [])]
    return "\n".join(lines)


def _of_kernel(op: Any) -> dict[str, str]:
    is_fresh = None in op._results
    writes = " and ".join(f"`{name}`" for name in op._writes)
    otherwise = "outputs are like the first input" if is_fresh else f"no outputs: it writes {writes}"
    return {
        "kernel": _kernel(op),
        "launch": op._launch_text(),
        "shape": _name(op._parts["shape"]) if op._parts["shape"] is not None else otherwise,
        "gradient": "registered" if op._backward is not None else "none: register_autograd gives it one",
        "reference": _reference(op),
        "version": f"{op._number} of {len(op.history)}",
    }


def _of_callable(op: Any) -> dict[str, str]:
    code = getattr(op.function, "__code__", None)
    # The files of cells are none that the user knows.
    is_file = code is not None and pathlib.Path(code.co_filename).is_file()
    place = f", line {code.co_firstlineno} of {code.co_filename}" if is_file else ""
    return {
        "callable": _name(op.function) + place,
        "shape": _name(op._fake) if op._fake is not None else "none: register_fake gives it a shape function",
        "gradient": "registered" if op._backward is not None else "none: register_autograd gives it one",
        "reference": _reference(op),
    }


def _of_host_function(op: Any) -> dict[str, str]:
    recorded = "recorded: that of its operations on tensors" if op._has_gradient else "none: register_autograd gives it one"
    return {
        "function": op._origin[1] if op._origin is not None else f"registered by its text, for {', '.join(op.keys) or 'no device'}",
        "shape": _name(op._fake) if op._fake is not None else "derived, by a run on tensors that hold nothing",
        "gradient": "registered" if op._backward is not None else recorded,
        "reference": _reference(op),
    }


def block_of(op: Any) -> Any:
    """The block of an operator's launches, without extents of one at its end: the one it was given, or the one that is chosen for it.

    >>> import workbench as wb
    >>> text = "__global__ void k(const float* x, float* y, int m, int n) { }"
    >>> block_of(wb.op("doc::block(Tensor x) -> Tensor", text, shape="x[m, n] -> y[m, n]", threads="n, m"))
    (16, 16)
    """
    x, y, z = op._block()
    return (x, y, z) if z > 1 else (x, y) if y > 1 else x


def split_list(text: str) -> list[str]:
    """The parts of a list with commas, which count outside of brackets only.

    >>> split_list("max(m, n), 2")
    ['max(m, n)', '2']
    """
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _kernel(op: Any) -> str:
    name = op._kernel_name()
    return getattr(op.module[name], "signature", None) or f"{name}, a template: each call gets the instance of its arrays' element types"


def _reference(op: Any) -> str:
    return _name(op.reference) if op.reference is not None else "none: op.check needs one"


def _name(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__qualname__", None) or repr(value)


def _source(function: Any) -> str:
    """The text of a function; empty where there is none, as of one in C."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def _text(text: str, where: str) -> list[str]:
    lines = text.strip("\n").splitlines()
    rest = len(lines) - _LINES
    return lines if rest <= 0 else [*lines[:_LINES], f"... and {rest} more {'line' if rest == 1 else 'lines'}{where}"]


class Documentation:
    """The `__doc__` of operators: of the class its docstring, of an operator its description."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, op: Any, owner: Any = None) -> str:
        return self.text if op is None else describe(op)

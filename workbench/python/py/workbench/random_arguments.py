"""Random arguments of an operator of kernels, for checks and benchmarks that are given none."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np

from .errors import make_argument_error
from .shape_dims import shapes_of

__all__ = ["random_arguments"]

#: The element types of pointers, as signatures write them, whose arrays are plain numbers.
_PLAIN = frozenset(
    ["bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long long", "unsigned long long", "void"]
    + ["__half", "__nv_bfloat16", "__half2", "__nv_bfloat162", "float", "double", "dim3"]
)
_VECTOR = re.compile(r"u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]")


def random_arguments(op: Any, n: int, *, is_apart: bool = False) -> tuple[Any, ...]:
    """Arguments in the schema's order: arrays of random numbers of their kernel's element type, in the shapes that `shapes_of` has for `n`,
    integers below 100 and below every extent; for each number 1.

    Raises ArgumentError for arrays of structs or complex numbers, and for bfloat16 where ml_dtypes is not installed.

    >>> import workbench as wb
    >>> op = wb.op("doc::random(Tensor x, float c) -> Tensor",
    ...            "__global__ void k(const int* x, float c, int* y, int n) { }", shape="x[n] -> y[n]")
    >>> x, c = random_arguments(op, 5)
    >>> x.dtype.name, x.shape, bool((x < 5).all()), c
    ('int32', (5,), True, 1)
    """
    rng = np.random.default_rng(0)
    signature, shapes = _signature(op), shapes_of(op, n, is_apart=is_apart)
    below = max(1, min([100, *(extent for shape in shapes.values() for extent in shape)]))
    made: list[Any] = []
    for name, (kind, dtype) in zip(op.params, op._kinds):
        if kind.rstrip("?") != "Tensor":
            made.append(True if kind == "bool" else 1)
            continue
        _hold_plain(op.name, name, signature)
        dtype = dtype or "float32"
        if dtype.endswith(("float16", "float32", "float64")):
            made.append(np.asarray(rng.standard_normal(shapes[name])).astype(_dtype(op.name, name, dtype)))
        else:
            made.append(np.asarray(rng.integers(0, 2 if dtype == "bool" else below, shapes[name])).astype(dtype))
    return tuple(made)


def _signature(op: Any) -> str:
    """The declaration of the operator's kernel; empty for a template, whose arrays are of plain numbers."""
    name = op._kernel_name()
    return str(getattr(op.module[name], "signature", ""))


def _hold_plain(op: str, name: str, signature: str) -> None:
    """Raises ArgumentError if a parameter points to anything but plain numbers."""
    found = re.search(rf"[(,]\s*((?:[^(,<]|<[^>]*>)*?)\*\s*{re.escape(name)}\s*[,)]", signature)
    if found is None:
        return
    element = found[1].strip().removeprefix("const ").removeprefix("volatile ").strip()
    if element not in _PLAIN and not _VECTOR.fullmatch(element):
        advice = "x.view(np.float32) makes one of complex64" if element.startswith("complex") else "one of bytes or numbers with the structs' layout"
        raise make_argument_error(f"`{op}`: argument `{name}` is of `{element}`, for which there are no random arrays; give the array, {advice}")


def _dtype(op: str, name: str, dtype: str) -> Any:
    """A type of floats as NumPy has it; that of bfloat16 comes with ml_dtypes."""
    if dtype != "bfloat16":
        return np.dtype(dtype)
    try:
        return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        message = f"`{op}`: argument `{name}` is of bfloat16, which NumPy has from ml_dtypes; `pip install ml_dtypes`, or give the array"
        raise make_argument_error(message) from None

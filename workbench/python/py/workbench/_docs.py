"""Docstrings of the native classes: the class explains itself, and each kernel shows its own C++ signature."""

from __future__ import annotations

import inspect
import keyword
from typing import Any

from . import _workbench

_MODULE = """A compiled text: its kernels and host functions are attributes, and `m["name"]` works as well.

`m.ir()` and `m.asm()` show what became of it; `m.ptx()` and `m.cubin()` for the GPU. It pickles by its text.

>>> import workbench as wb
>>> m = wb.compile("__global__ void k(int* x) { x[0] = 1; } int twice(int x) { return 2 * x; }")
>>> m.kernels, m.host_functions, m.twice(4)
(['k'], ['twice'], 8)
"""

_KERNEL = """A kernel: `k[grid, block](...)` or `k[grid, block, shared_bytes](...)` runs it over arrays and waits.

`grid` and `block` are ints or up to three of them. An array's dtype is the pointer's; arrays for pointers that are not const
are written in place and must be writable and contiguous. Scalars convert by the C signature. None is a null pointer.

A kernel compiled for "cuda" takes arrays that lie on a GPU (torch's, CuPy's, any with `__cuda_array_interface__`) by their addresses: the
launch is queued on their library's current stream, or on `k[grid, block, shared_bytes, stream]`, and returns at once.
`wb.synchronize` waits, and raises what went wrong. One that prints, asserts or has a timeout is waited for.

Raises ArgumentError, KernelFault, KernelTimeout, and KeyboardInterrupt within 100 ms of the stop button.

>>> import numpy as np, workbench as wb
>>> k = wb.compile("__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }").k
>>> x = np.arange(3, dtype=np.float32); y = np.empty_like(x)
>>> k[1, 3](x, y)
>>> y
array([0., 2., 4.], dtype=float32)
>>> k
<kernel void k(const float* x, float* y)>
"""

_LAUNCHER = """A kernel with its grid and block chosen; call it with one value per parameter.

Raises what the kernel's own launch raises.

>>> import numpy as np, workbench as wb
>>> fill = wb.compile("__global__ void fill(int* x, int v) { x[blockIdx.x] = v; }").fill
>>> on_three = fill[3, 1]
>>> x = np.zeros(3, np.int32)
>>> on_three(x, 7)
>>> x
array([7, 7, 7], dtype=int32)
"""

_TEMPLATE = """A template of kernels: `k[grid, block](...)` runs the instance that the arguments ask for, deduced as C++ deduces it for a launch.

The arrays' element types say which; numbers only where those leave something open (a float of Python's is a double, an int an int).
An instance is compiled at its first launch; `m["k<float, 4>"]` names one. All share the variables of their text.

Raises ArgumentError where the template's arguments do not follow, CompileError where the instance does not compile, and what its launch raises.

>>> import numpy as np, workbench as wb
>>> k = wb.compile("template <typename T> __global__ void k(const T* x, T* y, T by) { y[threadIdx.x] = x[threadIdx.x] * by; }").k
>>> x = np.arange(3, dtype=np.int16); y = np.empty_like(x)
>>> k[1, 3](x, y, 2)
>>> y
array([0, 2, 4], dtype=int16)
>>> k
<template of kernels k>
"""

_TEMPLATE_LAUNCHER = """A template of kernels with its grid and block chosen; call it with one value per parameter.

Raises what the template's own launch raises.

>>> import numpy as np, workbench as wb
>>> fill = wb.compile("template <typename T> __global__ void fill(T* x, T v) { x[blockIdx.x] = v; }").fill
>>> on_three = fill[3, 1]
>>> x = np.zeros(3)
>>> on_three(x, 7.5)
>>> x
array([7.5, 7.5, 7.5])
"""

_HOST = """A host function of scalars; call it like any function. Its result is a Python scalar, or None for void.

Raises ArgumentError for a scalar that does not fit, KernelFault for what the function does wrong.

>>> import workbench as wb
>>> wb.compile("double half(int x) { return x / 2.0; }").half(3)
1.5
"""


_EXTENSION = """A host function of tensors and numbers; call it like any function, by position, and by name where `py::arg` gives names.

Arrays (NumPy, torch, anything with DLPack or an array interface) become tensors that share their memory, in any layout of positive
strides; tensors come back as the kind of array that the first argument is. Numbers, strings, lists and None convert as pybind11 does.

Raises ExtensionError for `TORCH_CHECK` and its like, KernelFault for what a kernel that it launches does wrong.

>>> import numpy as np, workbench as wb
>>> m = wb.load_inline("e", "torch::Tensor twice(torch::Tensor x) { return x * 2; }", functions="twice")
>>> m.twice(np.arange(3))
array([0, 2, 4])
"""


_BENCH = """What `wb.bench` found; shows itself in a notebook as a picture, verdicts and a table.

`.rows` holds one dict per contestant and size, times in seconds per call; `.headlines` what the samples support; `.plot()`
gives the picture, `.save(path)` writes files, `.to_json()`, `.to_pandas()` and `.to_polars()` give the rows to other programs.

>>> import workbench as wb
>>> report = wb.bench({"sum": sum}, sizes=[10], make_args=lambda n: (range(n),), seconds_per_size=0.01)
>>> report.rows[0]["name"], report.rows[0]["size"]
('sum', 10)
"""

_TIERS = """The machine code that a kernel has for blocks of one shape, tier by tier. Shows itself in a notebook; `str()` gives its text.

`.last` is the code that the last launch ran, `.rows` one dict a tier: `tier`, `code` (`"made"`, `"not yet"`, `"none"`), `why`, `notes`.

>>> import workbench as wb
>>> m = wb.compile("__global__ void half(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 0.5f; }")
>>> [row["tier"] for row in m.half.tier_report(256).rows]
['soon', 'good', 'lanes', 'wide']
"""

_SVG = """A picture; shows itself in a notebook, and `str()` gives its SVG text.

>>> import workbench as wb
>>> report = wb.bench({"sum": sum}, sizes=[10], make_args=lambda n: (range(n),), seconds_per_size=0.01)
>>> str(report.plot()).startswith("<svg")
True
"""


_CHECK = """What a check found; true when everything agrees. Shows itself in a notebook with a map of the differences.

`.passed`, the largest errors `.max_abs .max_rel .max_ulp` and `.max_share` of the tolerance, the number of mismatches `.count`, the first of them
`.mismatches` (index, values, and the block and thread that wrote them); `.raise_if_failed()` raises an AssertionError.

>>> import numpy as np, workbench as wb
>>> report = wb.check(lambda x: x, lambda x: x + 1, np.zeros(3, np.float32))
>>> report.passed, report.max_abs, report.mismatches[0].index
(False, 1.0, (0,))
"""

_GRAD = """What a gradient check found; true when the gradient agrees with finite differences. Shows itself in a notebook.

`.passed`, `.max_error` over all elements of the Jacobians, and `.precision`: "float64", or "float32" with why.

>>> import numpy as np, workbench as wb
>>> square = wb.op("doc::square(Tensor x) -> Tensor",
...                "__global__ void square(const float* x, float* y, int n) "
...                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }")
>>> backward = square.register_autograd(lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad,
...                                     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
>>> report = square.gradcheck(np.ones(4, np.float32))
>>> report.passed, report.precision
(True, 'float64')
"""


class _Doc:
    """The docstring of a class; each instance has its own."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: type | None = None) -> str:
        if instance is None:
            return self.text
        return f"{instance.signature}\n\n{self.text}"


class _ExtensionDoc(_Doc):
    """The docstring of a class; an instance has the one that it was registered with."""

    def __get__(self, instance: Any, owner: type | None = None) -> str:
        return self.text if instance is None else instance._doc


class _Signature:
    """The parameters of a kernel or host function, for `inspect` and for completion."""

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature | None:
        if instance is None:
            return None
        names = [name + "_" if keyword.iskeyword(name) else name for name in instance.params]
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names])


def install() -> None:
    """Sets the docstrings."""
    _workbench.Module.__doc__ = _MODULE
    _workbench.Launcher.__doc__ = _LAUNCHER
    _workbench.Kernel.__doc__ = _Doc(_KERNEL)  # type: ignore[assignment]
    _workbench.KernelTemplate.__doc__ = _TEMPLATE
    _workbench.TemplateLauncher.__doc__ = _TEMPLATE_LAUNCHER
    _workbench.ExtensionFunction.__doc__ = _ExtensionDoc(_EXTENSION)  # type: ignore[assignment]
    _workbench.HostFunction.__doc__ = _Doc(_HOST)  # type: ignore[assignment]
    _workbench.BenchReport.__doc__ = _BENCH
    _workbench.Svg.__doc__ = _SVG
    _workbench.TierReport.__doc__ = _TIERS
    _workbench.CheckReport.__doc__ = _CHECK
    _workbench.GradReport.__doc__ = _GRAD
    for native in (_workbench.Kernel, _workbench.HostFunction):
        setattr(native, "__signature__", _Signature())

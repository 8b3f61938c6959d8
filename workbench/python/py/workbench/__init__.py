"""Workbench: write a CUDA kernel in a notebook cell; call it, check it, time it, see it.

>>> import numpy as np, workbench as wb
>>> m = wb.compile("__global__ void twice(int* x) { x[threadIdx.x] *= 2; }")
>>> x = np.arange(4, dtype=np.int32)
>>> m.twice[1, 4](x)
>>> x
array([0, 2, 4, 6], dtype=int32)
"""

from __future__ import annotations

from typing import Any as _Any

from . import _calls, _docs, native_reports as _native_reports, notebook_language_service as _notebook_language_service, tracebacks as _tracebacks
from ._compile import compile, devices
from ._workbench import (
    BenchReport,
    CheckReport,
    ExtensionFunction,
    GradReport,
    HostFunction,
    Kernel,
    KernelTemplate,
    Launcher,
    Module,
    Svg,
    Symbol,
    TemplateLauncher,
    TierReport,
    __version__,
    interrupt,
    set_tier,
    synchronize,
)
from ._printf_output import printed
from .benchmark import bench, ceilings, do_bench
from .library_operators import LibraryOp
from .elementwise import elementwise
from .errors import (
    ArgumentError,
    CompileError,
    DeviceUnavailable,
    Diagnostic,
    ExtensionError,
    KernelFault,
    KernelTimeout,
    last_error,
)
from .extension import load, load_inline
from .manifest import load_library
from .operators import Op, check, op, ops
from .printed_table import PrintedTable, printed_table
from .spec import Spec, empty_like
from .sweeping import SweepReport, sweep
from .tuning import TuneReport, tune
from .work import Work
from .writers import WriterMap

_docs.install()
_native_reports.install()
_calls.install()
_tracebacks.install_here()
_notebook_language_service.install_here()

__all__ = [
    "ArgumentError",
    "BenchReport",
    "CheckReport",
    "CompileError",
    "DeviceUnavailable",
    "Diagnostic",
    "ExtensionError",
    "ExtensionFunction",
    "GradReport",
    "HostFunction",
    "Kernel",
    "KernelFault",
    "KernelTemplate",
    "KernelTimeout",
    "Launcher",
    "LibraryOp",
    "Module",
    "Op",
    "PrintedTable",
    "Spec",
    "Svg",
    "SweepReport",
    "Symbol",
    "TemplateLauncher",
    "TierReport",
    "TuneReport",
    "Work",
    "WriterMap",
    "__version__",
    "bench",
    "ceilings",
    "check",
    "compile",
    "devices",
    "do_bench",
    "elementwise",
    "empty_like",
    "interrupt",
    "last_error",
    "load",
    "load_inline",
    "load_library",
    "op",
    "ops",
    "printed",
    "printed_table",
    "set_tier",
    "sweep",
    "synchronize",
    "tune",
]


def load_ipython_extension(shell: _Any) -> None:
    """Registers `%%kernel` and its companions; `%load_ext workbench` calls it."""
    from .magics import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: _Any) -> None:
    """Undoes `load_ipython_extension`."""
    from .magics import unload_ipython_extension as unload

    unload(shell)


def __dir__() -> list[str]:
    # The name `annotations` is bound here by `from __future__ import annotations`; it is not of the package.
    return sorted(name for name in globals() if name not in ("annotations", "_Any"))

"""The contestants. Each module has `NAME` (its title), `load()` (imports what it needs; ImportError where it is not there; its version)
and `prepare(case)` (a Runner, or None where it has nothing natural for the row)."""

from __future__ import annotations

import importlib
from types import ModuleType

# In the order of the table; by the name on the command line, with the module.
ALL = {
    "workbench": "workbench_cpu",
    "cpp": "cpp",
    "numpy": "numpy_cpu",
    "torch": "torch_cpu",
    "numba": "numba_cpu",
    "jax": "jax_cpu",
    "taichi": "taichi_cpu",
    "warp": "warp_cpu",
    "pocl": "pocl",
}


def module(name: str) -> ModuleType:
    return importlib.import_module(f".{ALL[name]}", __package__)

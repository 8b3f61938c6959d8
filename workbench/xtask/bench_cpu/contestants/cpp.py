"""The baselines: hand-tuned C++ with intrinsics and threads, from `baselines/`."""

from __future__ import annotations

import ctypes

import numpy as np

from .. import native
from ..measure import Runner

NAME = "C++"


def load() -> str:
    if native.compiler() is None:
        raise ImportError("no C++ compiler")
    return native.compiler_version()


def prepare(case) -> Runner:
    row = case.row
    function = native.function(row.baseline or row.name)
    values = {**case.inputs, **case.scalars, "out": case.out}
    args = [convert(values[name]) for name in row.native or row.arguments]
    return Runner(lambda: function(*args), lambda: case.out)


def convert(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_long(value)

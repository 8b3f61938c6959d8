"""Sources and fixtures that several tests share."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import workbench as wb

# A job that a shell put into the background starts with SIGINT ignored, and then Python raises no KeyboardInterrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; such tests start first, so that no process waits for another one in the end")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


SAXPY = """
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""

MULADD = """
__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}
"""

SPIN = "__global__ void spin(volatile int* flag) { while (flag[0] == 0) { } }"


@pytest.fixture
def saxpy() -> wb.Kernel:
    """A kernel everybody knows."""
    return wb.compile(SAXPY).saxpy


@pytest.fixture
def muladd() -> wb.Op:
    """A pointwise operator with shape and reference."""
    return wb.op(
        "test::muladd(Tensor a, Tensor b, float c) -> Tensor",
        MULADD,
        shape="a[n], b[n] -> out[n]",
        reference=lambda a, b, c: a * b + c,
    )


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(7)


def works(kernel: wb.Kernel) -> bool:
    """True if a launch of saxpy gives the right result: the process is in order."""
    x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    kernel[1, 32](2.0, x, y, 5)
    return bool((y == 2 * x + 1).all())

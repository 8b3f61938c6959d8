"""Latencies: a launch and a call on eight elements, and the way from a text to its first result, in microseconds."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterator

import numpy as np

from . import native
from .rows import KERNELS

N = 8
SAMPLES, CALLS = 51, 1000
COLD = 31
CXX_COLD = 3

EMPTY = "__global__ void empty(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = 1.0f; }"
ADD = """
__global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""
# The place that is changed in a text each time, so that none of it has been compiled before, and the text for the number there.
CHANGED = {
    "muladd": ("* b[i] +", "* (b[i] + {}f) +"),
    "softmax": ("1.0f / buffer[0]", "1.0f / (buffer[0] + {}f)"),
    "matmul_tiled": ("float sum = 0.0f;", "float sum = {}f;"),
}
NUMBERS = itertools.count(1)


def entry(title: str, samples: list[float]) -> dict:
    low, middle, high = (float(q) for q in np.percentile(samples, [25, 50, 75]))
    return {"title": title, "median": middle, "quartiles": [low, high], "samples": len(samples)}


def hot(title: str, call: Callable[[], object]) -> dict:
    """A call's time, each sample the mean of a thousand."""
    samples = []
    for sample in range(-3, SAMPLES):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        if sample >= 0:
            samples.append((time.perf_counter_ns() - begin) / 1e3 / CALLS)
    return entry(title, samples)


def cold(title: str, make: Callable[[], object], count: int) -> dict:
    """The time from a text not seen before to its first result; the first two do not count."""
    samples = []
    for sample in range(-2, count):
        begin = time.perf_counter_ns()
        make()
        if sample >= 0:
            samples.append((time.perf_counter_ns() - begin) / 1e3)
    return entry(title, samples)


def changed(name: str) -> str:
    """The text of a kernel with a number that it never had."""
    old, new = CHANGED[name]
    text = (KERNELS / f"{name}.cu").read_text()
    if old not in text:
        raise ValueError(f"{name}.cu has no `{old}` to change")
    return text.replace(old, new.format(f"{next(NUMBERS) * 1e-6 + time.time() % 1 * 1e-9:.12f}"), 1)


def vectors() -> list[np.ndarray]:
    return [np.arange(N, dtype=np.float32) for _ in range(3)]


def workbench_hot() -> Iterator[dict]:
    import workbench as wb

    a, b, out = vectors()
    launch = wb.compile(EMPTY).empty[1, N]
    wb.do_bench(lambda: launch(out, N), warmup=1, rep=1)
    yield hot("Workbench, launch of a nearly empty kernel, 8 elements", lambda: launch(out, N))
    op = wb.op("bench_cpu::add(Tensor a, Tensor b) -> Tensor", ADD, shape="a[n], b[n] -> out[n]")
    wb.do_bench(lambda: op(a, b), warmup=1, rep=1)
    yield hot("Workbench, call of an operator (a + b), 8 elements", lambda: op(a, b))


def workbench_cold() -> Iterator[dict]:
    import workbench as wb

    a, b, c = vectors()
    d = np.empty_like(a)
    row, rows = np.ones(1024, np.float32), np.ones(1024, np.float32)
    x, y, z = (np.ones((16, 16), np.float32) for _ in range(3))
    runs = {
        "muladd": ("multiply-add", lambda m: m.muladd[1, N](a, b, c, d, N)),
        "softmax": ("softmax", lambda m: m.softmax[1, 256](row, rows, 1024)),
        "matmul_tiled": ("tiled matmul", lambda m: m.matmul_tiled[1, (16, 16)](x, y, z, 16)),
    }
    for name, (title, run) in runs.items():
        yield cold(f"Workbench, text to first result, {title}", lambda: run(wb.compile(changed(name))), COLD)


def numpy_hot() -> Iterator[dict]:
    a, b, out = vectors()
    yield hot("NumPy, a + b, 8 elements", lambda: np.add(a, b))
    yield hot("NumPy, np.add(a, b, out=out), 8 elements", lambda: np.add(a, b, out=out))


def torch_hot() -> Iterator[dict]:
    import torch

    a, b, _ = (torch.from_numpy(v) for v in vectors())
    yield hot("torch, a + b, 8 elements", lambda: torch.add(a, b))


def jax_cold() -> Iterator[dict]:
    import jax

    a, b, c = vectors()

    def make():
        k = float(next(NUMBERS))
        jax.jit(lambda a, b, c: a * (b + k) + c)(a, b, c).block_until_ready()

    yield cold("JAX, function to first result, multiply-add", make, COLD // 3)


def numba_cold() -> Iterator[dict]:
    import numba

    a, b, c = vectors()
    d = np.empty_like(a)

    def make():
        k = np.float32(next(NUMBERS))

        def muladd(a, b, c, d):
            for i in numba.prange(a.size):
                d[i] = a[i] * (b[i] + k) + c[i]

        numba.njit(parallel=True)(muladd)(a, b, c, d)

    yield cold("Numba, function to first result, multiply-add", make, COLD // 6)


def cpp_cold() -> Iterator[dict]:
    source = native.BASELINES / "muladd.cpp"
    text = source.read_text()
    a, b, c = vectors()
    args = [ctypes.c_void_p(v.ctypes.data) for v in (a, b, c, np.empty_like(a))]

    with tempfile.TemporaryDirectory() as folder:

        def make():
            path = Path(folder) / f"muladd{next(NUMBERS)}"
            path.with_suffix(".cpp").write_text(text)
            flags = [*native.flags_of(text), f"-I{native.BASELINES}"]
            subprocess.run([native.compiler(), *flags, f"{path}.cpp", "-o", f"{path}.so"], check=True)
            ctypes.CDLL(f"{path}.so").muladd(*args, ctypes.c_long(N))

        yield cold("C++, text to first result, multiply-add", make, CXX_COLD)


PARTS = {
    "workbench": (workbench_hot, workbench_cold),
    "numpy": (numpy_hot,),
    "torch": (torch_hot,),
    "jax": (jax_cold,),
    "numba": (numba_cold,),
    "cpp": (cpp_cold,),
}


def measure(names: list[str]) -> list[dict]:
    parts = [part for name in names for part in PARTS.get(name, ())]
    # Calls before compilations.
    parts.sort(key=lambda part: part.__name__.endswith("_cold"))
    return [found for part in parts for found in part()]

"""The rows of the table: inputs, the reference in float64, the tolerance, the launch of the kernel, the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

from . import references

KERNELS = Path(__file__).parent / "kernels"
MI = 1 << 20


def aligned(shape: Any, dtype: Any = np.float32) -> np.ndarray:
    """An uninitialised array that begins on a cache line, as torch and JAX allocate theirs: all contestants share it."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def copied(values: np.ndarray) -> np.ndarray:
    out = aligned(values.shape, values.dtype)
    out[...] = values
    return out


def difference(result: np.ndarray, expected: np.ndarray, tolerance: Any) -> str | None:
    """The error in a result, if any: it is farther from the reference than the tolerance, anywhere."""
    result = np.asarray(result)
    if result.size != expected.size:
        return f"shape {result.shape} for {expected.shape}"
    error = np.abs(result.reshape(expected.shape).astype(np.float64) - expected)
    bad = ~(error <= tolerance)
    if not bad.any():
        return None
    return f"{int(bad.sum())} of {bad.size} elements wrong, by up to {np.nanmax(error):.3g}"


@dataclass
class Case:
    """The data that contestants of a row get. `out` is written in place by those that can."""

    row: "Row"
    inputs: dict[str, np.ndarray]
    out: np.ndarray
    scalars: dict[str, Any] = field(default_factory=dict)
    expected: np.ndarray = None
    tolerance: Any = None

    def wrong(self, result: np.ndarray) -> str | None:
        return difference(result, self.expected, self.tolerance)


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    # The ratio to the C++ baseline that counts as reached.
    target: float
    # Makes the inputs, the output and the scalars.
    make: Callable[[np.random.Generator], tuple[dict[str, np.ndarray], np.ndarray, dict[str, Any]]]
    # The reference in float64 and its tolerance, from inputs and scalars by name.
    reference: Callable[..., tuple[np.ndarray, Any]]
    grid: Any
    block: Any
    # Names of inputs, scalars and "out", in the order of the kernel's parameters; also the baseline's with `native` given.
    arguments: tuple[str, ...]
    native: tuple[str, ...] = ()
    # The baseline's function and file, where its name is another.
    baseline: str = ""
    # The kernel adds to its output, which is cleared before every launch.
    clears: bool = False

    @property
    def kernel_text(self) -> str:
        return (KERNELS / f"{self.name}.cu").read_text()

    def case(self, seed: int) -> Case:
        inputs, out, scalars = self.make(np.random.default_rng(seed))
        case = Case(self, {name: copied(value) for name, value in inputs.items()}, out, scalars)
        case.expected, case.tolerance = self.reference(**case.inputs, **scalars)
        return case


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def make_muladd(rng):
    n = 16 * MI
    return {name: normal(rng, n) for name in "abc"}, aligned(n), {"n": n}


def make_stencil(rng):
    return {"x": normal(rng, 256, 256, 256)}, aligned((256, 256, 256)), {"n": 256, "centre": 0.5, "side": 0.0625}


def make_gelu(rng):
    n = 16 * MI
    return {"x": 3 * normal(rng, n)}, aligned(n), {"n": n}


def make_softmax(rng):
    return {"x": 4 * normal(rng, 4096, 1024)}, aligned((4096, 1024)), {"rows": 4096, "cols": 1024}


def make_layernorm(rng):
    inputs = {"x": normal(rng, 4096, 1024) + 1, "weight": normal(rng, 1024), "bias": normal(rng, 1024)}
    return inputs, aligned((4096, 1024)), {"rows": 4096, "cols": 1024, "eps": 1e-5}


def make_sum(rng):
    n = 16 * MI
    return {"x": rng.random(n, np.float32)}, aligned(1), {"n": n}


def make_transpose(rng):
    return {"x": normal(rng, 4096, 4096)}, aligned((4096, 4096)), {"n": 4096}


def make_matmul(rng):
    return {"a": normal(rng, 512, 512), "b": normal(rng, 512, 512)}, aligned((512, 512)), {"n": 512}


def make_histogram(rng):
    n = 16 * MI
    return {"x": rng.integers(0, 256, n, np.uint8)}, aligned(256, np.uint32), {"n": n}


def make_nbody(rng):
    bodies = normal(rng, 4096, 4)
    bodies[:, 3] = rng.random(4096, np.float32)
    return {"bodies": bodies}, aligned((4096, 4)), {"n": 4096, "softening": 0.01}


ROWS = (
    Row("muladd", "multiply-add, 16 Mi", 1.10, make_muladd, references.muladd, 16 * MI // 256, 256, ("a", "b", "c", "out", "n")),
    Row("stencil", "7-point stencil, 256³", 1.10, make_stencil, references.stencil, (8, 32, 256), (32, 8),
        ("x", "out", "n", "centre", "side")),
    Row("gelu", "GELU (tanh), 16 Mi", 4.6 / 3.7, make_gelu, references.gelu, 16 * MI // 256, 256, ("x", "out", "n")),
    Row("softmax", "softmax, 4096 × 1024", 2.0 / 1.16, make_softmax, references.softmax, 4096, 256, ("x", "out", "cols"),
        ("x", "out", "rows", "cols")),
    Row("layernorm", "layer norm, 4096 × 1024", 1.2 / 0.74, make_layernorm, references.layernorm, 4096, 256,
        ("x", "weight", "bias", "out", "cols", "eps"), ("x", "weight", "bias", "out", "rows", "cols", "eps")),
    Row("sum", "sum, 16 Mi", 1.6 / 1.4, make_sum, references.total, 1024, 256, ("x", "out", "n"), clears=True),
    Row("transpose", "transpose, 4096²", 11 / 8.3, make_transpose, references.transpose, (128, 128), (32, 8), ("x", "out", "n")),
    Row("matmul_naive", "matmul 512, naive", 4 / 1.1, make_matmul, references.matmul, (32, 32), (16, 16), ("a", "b", "out", "n"),
        baseline="matmul"),
    Row("matmul_tiled", "matmul 512, tiled", 4 / 1.2, make_matmul, references.matmul, (32, 32), (16, 16), ("a", "b", "out", "n"),
        baseline="matmul"),
    Row("histogram", "histogram, 16 Mi bytes", 6 / 5.6, make_histogram, references.histogram, 1024, 256, ("x", "out", "n"), clears=True),
    Row("nbody", "n-body, 4096", 2.2 / 1.5, make_nbody, references.nbody, 16, 256, ("bodies", "out", "n", "softening")),
)

"""One suite for every device: the same text and the same random inputs on the CPU and on the GPU, results held together.

Runs anywhere from the installed package:

    python -m workbench.conformance [--json report.json] [--seed 0]

Where there is a GPU, each kernel is compiled by NVRTC without contraction (`--fmad=false`), launched on both, and the results
compared: bit for bit where every operation is exactly rounded, within CUDA's documented error where a math function is
called. Where there is none, each kernel is still compiled to PTX and CUBIN, and the report says that nothing ran.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import sys
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from ._compile import compile as compile_source
from ._compile import devices
from .errors import DeviceUnavailable
from .reports import json_text

__all__ = ["Case", "CASES", "run", "main"]

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


@dataclass
class Case:
    """A kernel, how to launch it, and how far its results may differ between devices, in ULP.

    `make` gets a `numpy.random.Generator` and a size and returns (grid, block, arguments); arrays among the arguments that
    the kernel writes are compared after the launch.
    """

    name: str
    source: str
    make: Callable[[np.random.Generator, int], tuple[Any, ...]]
    ulp: int = 0
    sizes: tuple[int, ...] = (1, 37, 1000)


def _unary(name: str, expr: str, low: float, high: float, ulp: int, dtype: type = np.float32) -> Case:
    """`y[i] = expr` of `v = x[i]` on numbers between `low` and `high`, with their signs and the special values among them."""
    c = "float" if dtype is np.float32 else "double"
    source = f"__global__ void k(const {c}* x, {c}* y, int n) {{ {INDEX} if (i < n) {{ {c} v = x[i]; y[i] = {expr}; }} }}"

    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        x: np.ndarray[Any, Any] = rng.uniform(low, high, n).astype(dtype)
        x[: min(n, 4)] = np.array([0.0, 1.0, low, high], dtype)[: min(n, 4)]
        return -(-n // 128), 128, (x, np.empty_like(x), n)

    return Case(name, source, make, ulp)


def _binary_int(name: str, expr: str, dtype: type, c: str, nonzero: bool = False) -> Case:
    source = f"__global__ void k(const {c}* a, const {c}* b, {c}* y, int n) {{ {INDEX} if (i < n) y[i] = ({c})({expr}); }}"

    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        b = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        if nonzero:
            b[(b == 0) | (b == dtype(-1) if info.min < 0 else b == 0)] = 3
        return -(-n // 64), 64, (a, b, np.empty_like(a), n)

    return Case(name, source, make)


def _saxpy(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    return -(-n // 256), 256, (np.float32(1.7), x, y, n)


def _grid_2d(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    x = rng.standard_normal((n, 19)).astype(np.float32)
    return (2, -(-n // 8)), (16, 8), (x, np.empty((19, n), np.float32), n, 19)


def _histogram_free(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return -(-n // 32), 32, (rng.integers(-1000, 1000, n, dtype=np.int32), np.empty(n, np.int32), n)


def _printing(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return 3, 5, (rng.standard_normal(15).astype(np.float32),)


def _convert(dtype: type) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    # The numbers go past both ends of each range, and include NaN, of which PTX's cvt makes 0 or the top bit, by the types.
    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        x: np.ndarray[Any, Any] = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 22, n)).astype(dtype)
        x[:4] = np.array([np.nan, np.inf, -np.inf, -np.nan], dtype)[:n]
        wide = [np.empty(n, kind) for kind in (np.int32, np.uint32, np.int64, np.uint64, np.int16, np.uint8)]
        return -(-n // 64), 64, (x, *wide, n)

    return make


def _conversions(c: str) -> str:
    return f"""__global__ void k(const {c}* x, int* a, unsigned* b, long long* c, unsigned long long* d, short* e, unsigned char* f, int n) {{
        {INDEX}
        if (i < n) {{
            a[i] = (int)x[i]; b[i] = (unsigned)x[i]; c[i] = (long long)x[i]; d[i] = (unsigned long long)x[i];
            e[i] = (short)x[i]; f[i] = (unsigned char)x[i];
        }}
    }}"""


# Maximum errors are the CUDA C++ Programming Guide's ("Mathematical Functions", single and double precision), plus one ULP for the
# host's own rounding of the same function.
CASES: list[Case] = [
    Case(
        "saxpy",
        f"__global__ void k(float a, const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = a * x[i] + y[i]; }}",
        _saxpy,
    ),
    Case(
        "transpose of a 2-D grid",
        """__global__ void k(const float* x, float* y, int rows, int cols) {
            int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
            if (r < rows && c < cols) y[c * rows + r] = x[r * cols + c];
        }""",
        _grid_2d,
    ),
    Case(
        "helpers, loops, switch",
        """#define STEPS 50
        __device__ int collatz(long long v) {
            int steps = 0;
            while (v > 1 && steps < STEPS) { v = v % 2 ? 3 * v + 1 : v / 2; ++steps; }
            return steps;
        }
        __global__ void k(const int* x, int* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            int a[4] = {1, 2, 3};
            switch (x[i] & 3) { case 0: a[3] = 7; case 1: a[0] += 10; break; case 2: a[1] = -1; break; default: a[2] = x[i]; }
            y[i] = collatz(x[i] < 0 ? -(long long)x[i] : x[i]) + a[0] * a[1] + a[2] * a[3];
        }""",
        _histogram_free,
    ),
    Case("float to integer", _conversions("float"), _convert(np.float32)),
    Case("double to integer", _conversions("double"), _convert(np.float64)),
    Case(
        "printf",
        """__global__ void k(const float* x) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            printf("[%d,%d] %8.3f %-6s %lld %e|", blockIdx.x, threadIdx.x, x[i], x[i] < 0 ? "neg" : "pos", 1LL << 40, x[i]);
        }""",
        _printing,
    ),
    _binary_int("int arithmetic", "(a[i] + b[i]) * 3 - (a[i] ^ b[i]) + (a[i] >> 3) - (a[i] & b[i])", np.int32, "int"),
    _binary_int("int division", "a[i] / b[i] + a[i] % b[i]", np.int32, "int", nonzero=True),
    _binary_int("unsigned long long", "a[i] * b[i] + (a[i] >> (b[i] & 127)) / 7", np.uint64, "unsigned long long"),
    _binary_int("shifts past the width", "(a[i] << (b[i] & 63)) ^ (a[i] >> (b[i] & 63))", np.int32, "int"),
    _binary_int("unsigned char wraps", "a[i] + b[i]", np.uint8, "unsigned char"),
    _unary("sqrtf", "sqrtf(v)", 0, 1e10, 0),
    _unary("division", "1.0f / (v + 3.0f)", 0, 100, 0),
    _unary("double literals", "v * 0.1 + 0.3", -100, 100, 0),
    _unary("floor, ceil, trunc, rint", "floorf(v) + 2 * ceilf(v) + 3 * truncf(v) + 5 * rintf(v)", -1000, 1000, 0),
    _unary("fma", "fmaf(v, v, -v)", -10, 10, 0),
    _unary("fmod", "fmodf(v, 0.7f)", -100, 100, 0),
    _unary("expf", "expf(v)", -80, 80, 3),
    _unary("logf", "logf(v)", 1e-30, 1e30, 2),
    _unary("sinf", "sinf(v)", -100, 100, 3),
    _unary("cosf", "cosf(v)", -100, 100, 3),
    _unary("tanf", "tanf(v)", -1.5, 1.5, 5),
    _unary("tanhf", "tanhf(v)", -10, 10, 3),
    _unary("powf", "powf(v, 1.7f)", 1e-3, 1e5, 5),
    _unary("rsqrtf", "rsqrtf(v)", 1e-10, 1e10, 3),
    _unary("erff", "erff(v)", -4, 4, 3),
    _unary("cbrtf", "cbrtf(v)", -1e6, 1e6, 2),
    _unary("log1pf", "log1pf(v)", -0.9, 100, 2),
    _unary("expm1f", "expm1f(v)", -10, 10, 2),
    _unary("atanf", "atanf(v)", -100, 100, 3),
    _unary("exp", "exp(v)", -700, 700, 2, np.float64),
    _unary("log", "log(v)", 1e-300, 1e300, 2, np.float64),
    _unary("sin", "sin(v)", -1e4, 1e4, 3, np.float64),
    _unary("tanh", "tanh(v)", -20, 20, 3, np.float64),
    _unary("pow", "pow(v, -2.3)", 1e-5, 1e5, 3, np.float64),
    _unary("erf", "erf(v)", -5, 5, 3, np.float64),
]


def _ulp_distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance in units in the last place; two NaNs are the same number."""
    if a.dtype.kind != "f":
        return float("inf") if np.any(a != b) else 0.0
    ints = np.dtype(f"i{a.dtype.itemsize}")

    def ordered(x: np.ndarray) -> np.ndarray:
        bits = x.view(ints).astype(object)
        return np.where(bits < 0, -(bits + (1 << (8 * x.dtype.itemsize - 1))), bits)

    both_nan = np.isnan(a) & np.isnan(b)
    one_nan = np.isnan(a) ^ np.isnan(b)
    if one_nan.any():
        return float("inf")
    distance = np.abs(ordered(a.ravel()) - ordered(b.ravel()))
    distance[both_nan.ravel()] = 0
    return float(max(distance, default=0))


def _launch(module: Any, config: tuple[Any, ...], args: tuple[Any, ...]) -> tuple[list[np.ndarray], str]:
    """Launches on copies; returns the arrays after it and the printed text."""
    copies = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        module.k[config](*copies)
    return [a for a in copies if isinstance(a, np.ndarray)], out.getvalue()


def run(seed: int = 0, report: Callable[[str], None] = print) -> dict[str, Any]:
    """Runs every case; returns the outcome as data (which `--json` writes, too)."""
    gpu = next((d for d in devices() if d.startswith("cuda")), None)
    rows = []
    for case in CASES:
        rng = np.random.default_rng(seed)
        row: dict[str, Any] = {"case": case.name, "allowed_ulp": case.ulp}
        on_cpu = compile_source(case.source, name=case.name, fmad=False)
        try:
            on_gpu = compile_source(case.source, device="cuda", name=case.name, fmad=False)
        except DeviceUnavailable as error:
            row["status"] = "not compiled for a GPU"
            row["why"] = str(error)
            rows.append(row)
            report(f"{case.name:<28} {row['status']}: {row['why']}")
            continue
        worst, printed_alike, launched = 0.0, True, True
        first = ""
        for size in case.sizes:
            grid, block, args = case.make(rng, size)
            cpu, cpu_text = _launch(on_cpu, (grid, block), args)
            try:
                gpu_arrays, gpu_text = _launch(on_gpu, (grid, block), args)
            except DeviceUnavailable as error:
                row["why"] = str(error)
                launched = False
                break
            for a, b in zip(cpu, gpu_arrays):
                distance = _ulp_distance(a, b)
                if distance > case.ulp and not first:
                    at = int(np.argmax(~((a == b) | (np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else False)).ravel()))
                    first = f"element {at} is {a.ravel()[at]!r} on the CPU and {b.ravel()[at]!r} on the GPU"
                worst = max(worst, distance)
            printed_alike &= cpu_text == gpu_text
        if not launched:
            row["status"] = "compiled"
        else:
            row["ulp"] = worst
            row["printed_alike"] = printed_alike
            if first:
                row["first"] = first
            row["status"] = "passed" if worst <= case.ulp and printed_alike else "FAILED"
        rows.append(row)
        report(f"{case.name:<28} {row['status']}" + (f", {worst:g} ULP of {case.ulp}" if launched else "") + (f": {first}" if first else ""))
    return {
        "gpu": gpu,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seed": seed,
        "cases": rows,
    }


def main(argv: list[str] | None = None) -> int:
    """The command line; returns 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m workbench.conformance", description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the report here")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    result = run(args.seed)
    states = [row["status"] for row in result["cases"]]
    summary = ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states)))
    print(f"\n{len(states)} kernels: {summary}")
    if result["gpu"] is None:
        print("nothing ran on a GPU, because there is none here")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            file.write(json_text(result) + "\n")
    return 1 if "FAILED" in states else 0


if __name__ == "__main__":
    sys.exit(main())

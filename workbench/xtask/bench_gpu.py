"""The table of `cargo xtask bench gpu`: kernels of a text as Workbench runs them on a GPU, beside what torch and nvcc make.

    python bench_gpu.py [OTHER] [--json]    with torch and a GPU; CuPy and nvcc where there are any; the package of the interpreter OTHER

Rows take turns in rounds; times are those of events around a run of launches, medians with quartiles. Arrays are larger than the cache.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import torch

if not torch.cuda.is_available():
    sys.exit("there is no GPU that torch can use")
if sys.argv[1:] and not sys.argv[1].startswith("-"):
    _WHERE = "import pathlib, workbench; print(pathlib.Path(workbench.__file__).parents[1])"
    sys.path.append(subprocess.check_output([sys.argv[1], "-c", _WHERE], text=True).strip())

import workbench as wb  # noqa: E402

TEXT = """
extern "C" __global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}
extern "C" __global__ void gelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
    __shared__ float partial[256];
    const float* row = x + (size_t)blockIdx.x * cols;
    float top = -3.402823466e38f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, row[c]);
    partial[threadIdx.x] = top;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
    top = partial[0];
    __syncthreads();
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c] - top);
    partial[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = expf(row[c] - top) / partial[0];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
"""
N, ROWS, COLS, SIDE = 1 << 26, 16384, 4096, 2048
ROUNDS, LAUNCHES = 21, 20


def by_nvcc() -> Any:
    """The same text compiled by nvcc, loaded by CuPy; `None` where one of them is missing."""
    nvcc = shutil.which("nvcc") or (Path("/usr/local/cuda/bin/nvcc").exists() and "/usr/local/cuda/bin/nvcc")
    if not nvcc:
        return None
    try:
        import cupy
    except ImportError:
        return None
    major, minor = torch.cuda.get_device_capability()
    folder = Path(tempfile.mkdtemp())
    (folder / "k.cu").write_text(TEXT)
    subprocess.run([nvcc, "-cubin", f"-arch=sm_{major}{minor}", "-O3", "-o", folder / "k.cubin", folder / "k.cu"], check=True)
    return cupy.RawModule(path=str(folder / "k.cubin"))


def rows() -> dict[str, dict[str, Callable[[], Any]]]:
    ours, theirs = wb.compile(TEXT, device="cuda"), by_nvcc()
    a, b, out = (torch.randn(N, device="cuda") for _ in range(3))
    x, y = torch.randn(ROWS, COLS, device="cuda"), torch.empty(ROWS, COLS, device="cuda")
    left, right, product = (torch.randn(SIDE, SIDE, device="cuda") for _ in range(3))
    shapes = {
        "muladd": ((N // 256,), (256,), (a, b, 2.0, out, N)),
        "gelu": ((N // 256,), (256,), (a, out, N)),
        "softmax": ((ROWS,), (256,), (x, y, COLS)),
        "matmul": ((SIDE // 16, SIDE // 16), (16, 16), (left, right, product, SIDE)),
    }
    two = a.new_full((), 2.0)
    torchs = {
        "muladd": lambda: torch.addcmul(two, a, b, out=out),
        "gelu": lambda: torch.nn.functional.gelu(a, approximate="tanh"),
        "softmax": lambda: torch.softmax(x, -1),
        "matmul": lambda: torch.matmul(left, right),
    }
    table: dict[str, dict[str, Callable[[], Any]]] = {}
    for name, (grid, block, args) in shapes.items():
        mine = getattr(ours, name)[grid, block]
        table[name] = {"workbench": lambda mine=mine, args=args: mine(*args), "torch": torchs[name]}
        if theirs is not None:
            import cupy

            function = theirs.get_function(name)
            there = tuple(cupy.asarray(v) if isinstance(v, torch.Tensor) else (cupy.float32(v) if isinstance(v, float) else cupy.int32(v)) for v in args)
            table[name]["nvcc"] = lambda function=function, grid=grid, block=block, there=there: function(grid, block, there)
    return table


def device_times(table: dict[str, dict[str, Callable[[], Any]]]) -> dict[str, Any]:
    """Milliseconds of each by events; nvcc's launches go to CuPy's stream, which is the default one as torch's is."""
    out: dict[str, Any] = {}
    for name, contestants in table.items():
        taken: dict[str, list[float]] = {who: [] for who in contestants}
        for turn in range(ROUNDS + 2):
            for who, call in contestants.items():
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                for _ in range(LAUNCHES):
                    call()
                end.record()
                end.synchronize()
                if turn >= 2:
                    taken[who].append(begin.elapsed_time(end) / LAUNCHES)
        out[name] = {who: [round(v, 5) for v in statistics.quantiles(t, n=4)] for who, t in taken.items()}
    wb.synchronize()
    return out


def host_times() -> dict[str, list[float]]:
    """Microseconds that the host spends on a launch or a call, with the GPU idle enough to keep up."""
    launch = wb.compile(TEXT, device="cuda").gelu[1, 32]
    op = wb.op("bench_gpu::muladd(Tensor a, Tensor b, float c) -> Tensor", TEXT, kernel="muladd", shape="a[n], b[n] -> out[n]")
    a, b = torch.randn(4, device="cuda"), torch.randn(4, device="cuda")
    out, registered = torch.empty_like(a), torch.ops.bench_gpu.muladd
    rows: dict[str, Callable[[], Any]] = {
        "kernel launch": lambda: launch(a, out, 4),
        "operator": lambda: op(a, b, 2.0),
        "torch.ops": lambda: registered(a, b, 2.0),
        "torch.add": lambda: torch.add(a, b),
        "torch.nn.functional.gelu": lambda: torch.nn.functional.gelu(a),
    }
    try:
        import cupy

        raw = cupy.RawKernel(TEXT, "gelu")
        x, y = cupy.asarray(a), cupy.asarray(out)
        n = cupy.int32(4)
        rows["cupy.RawKernel"] = lambda: raw((1,), (32,), (x, y, n))
    except ImportError:
        pass
    taken: dict[str, list[float]] = {who: [] for who in rows}
    for turn in range(53):
        for who, call in rows.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(200):
                call()
            took = time.perf_counter() - began
            if turn >= 2:
                taken[who].append(took / 200 * 1e6)
            torch.cuda.synchronize()
            wb.synchronize()
    return {who: [round(v, 2) for v in statistics.quantiles(t, n=4)] for who, t in taken.items()}


def first_result() -> list[float]:
    """Milliseconds from a new text to its first result on the GPU, the process warm."""
    taken = []
    x = torch.ones(4, device="cuda")
    for i in range(11):
        text = TEXT.replace("0.5f * v", f"0.5{i}f * v")
        torch.cuda.synchronize()
        began = time.perf_counter()
        wb.compile(text, device="cuda").gelu[1, 32](x, x, 4)
        wb.synchronize()
        taken.append((time.perf_counter() - began) * 1e3)
    return [round(v, 1) for v in statistics.quantiles(taken, n=4)]


def main() -> None:
    result = {"first result, ms": first_result(), "host, µs": host_times(), "device, ms": device_times(rows())}
    if "--json" in sys.argv[1:]:
        print(json.dumps(result))
        return
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; medians (quartiles)")

    def shown(quartiles: list[float]) -> str:
        low, middle, high = quartiles
        return f"{middle:g} ({low:g}–{high:g})"

    print(f"from a new text to its first result: {shown(result['first result, ms'])} ms")
    for name, quartiles in result["host, µs"].items():
        print(f"| {name} | {shown(quartiles)} µs on the host |")
    for name, contestants in result["device, ms"].items():
        print(f"| {name} | " + " | ".join(f"{who} {shown(q)} ms" for who, q in contestants.items()) + " |")


if __name__ == "__main__":
    main()

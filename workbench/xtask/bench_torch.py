"""The table of `cargo xtask bench torch`: what a call through `torch.ops` costs, beside operators that torch has otherwise.

    python bench_torch.py OTHER    with torch, and the package of the interpreter OTHER

Every row is the same operator, a * b + c on CPU tensors of four elements. Rows take turns: each round times a thousand calls of every
row, and a row's number is the median of its rounds, with the quartiles.
"""

import statistics
import subprocess
import sys
import time

import torch
import torch.utils.cpp_extension

CPP = """
#include <torch/extension.h>
at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double c) {
    at::Tensor out = at::empty_like(a);
    const float *x = a.const_data_ptr<float>(), *y = b.const_data_ptr<float>();
    float* z = out.mutable_data_ptr<float>();
    for (int64_t i = 0; i < a.numel(); ++i) z[i] = x[i] * y[i] + (float)c;
    return out;
}
TORCH_LIBRARY(bench_cpp, m) { m.def("muladd(Tensor a, Tensor b, float c) -> Tensor"); m.def("graded(Tensor a, Tensor b, float c) -> Tensor"); }
TORCH_LIBRARY_IMPL(bench_cpp, CPU, m) { m.impl("muladd", &muladd); m.impl("graded", &muladd); }
"""
CUDA = """
__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}
"""
CALLS, ROUNDS = 1000, 201
# torch forgets what a `Library` registered when it goes.
KEEP = []


def setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], inputs[1])


def backward(ctx, grad):
    a, b = ctx.saved_tensors
    return grad * b, grad * a, None


def operators():
    """Name, call, whether under `inference_mode`."""
    where = "import pathlib, workbench; print(pathlib.Path(workbench.__file__).parents[1])"
    sys.path.append(subprocess.check_output([sys.argv[1], "-c", where], text=True).strip())
    import workbench as wb

    torch.utils.cpp_extension.load_inline("bench_cpp", CPP, is_python_module=False)
    torch.library.register_autograd("bench_cpp::graded", backward, setup_context=setup)
    for name in ("muladd", "graded"):
        made = wb.op(f"bench_wb::{name}(Tensor a, Tensor b, float c) -> Tensor", CUDA, kernel="muladd", shape="a[n], b[n] -> out[n]")
    made.register_autograd(backward, setup_context=setup)
    library = torch.library.Library("bench_python", "DEF")
    library.define("muladd(Tensor a, Tensor b, float c) -> Tensor")
    library.impl("muladd", lambda a, b, c: torch.ops.bench_cpp.muladd(a, b, c), "CPU")

    @torch.library.custom_op("bench_custom::muladd", mutates_args=())
    def custom(a: torch.Tensor, b: torch.Tensor, c: float) -> torch.Tensor:
        return torch.ops.bench_cpp.muladd(a, b, c)

    KEEP.append(library)
    plain, graded = torch.ops.bench_wb.muladd, torch.ops.bench_wb.graded
    yield "ahead-of-time C++", torch.ops.bench_cpp.muladd, False
    yield "Workbench", plain, False
    yield "Workbench, handle", wb.ops.bench_wb.muladd, False
    yield "kernel in Python, calling C++", torch.ops.bench_python.muladd, False
    yield "`torch.library.custom_op`, calling C++", custom, False
    yield "C++, gradient in Python", torch.ops.bench_cpp.graded, False
    yield "Workbench, gradient in Python", graded, False
    yield "C++, gradient in Python, `inference_mode`", torch.ops.bench_cpp.graded, True
    yield "Workbench, gradient in Python, `inference_mode`", graded, True

def main() -> None:
    rows = list(operators())
    a, b = torch.randn(4), torch.randn(4)
    times = {name: [] for name, _, _ in rows}
    for turn in range(ROUNDS + 5):
        for name, call, inference in rows:
            with torch.inference_mode(inference):
                began = time.perf_counter()
                for _ in range(CALLS):
                    call(a, b, 2.0)
                took = time.perf_counter() - began
            if turn >= 5:
                times[name].append(took / CALLS * 1e6)
    print(f"torch {torch.__version__}; microseconds a call, median of {ROUNDS} rounds and quartiles")
    print("| operator | a call, µs | quartiles |")
    print("|---|---:|---|")
    for name, _, _ in rows:
        low, middle, high = statistics.quantiles(times[name], n=4)
        print(f"| {name} | {middle:.2f} | {low:.2f}–{high:.2f} |")
    code = "import time; t = time.perf_counter(); import {}; print((time.perf_counter() - t) * 1e3)"
    for what in ("numpy", "workbench"):
        taken = [float(subprocess.check_output([sys.argv[1], "-c", code.format(what)])) for _ in range(11)]
        print(f"import {what}: {statistics.median(taken):.0f} ms")


if __name__ == "__main__":
    main()

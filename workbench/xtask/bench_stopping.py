"""Time until work ends after its limit or the user's request: every kind of host operation, compilation and tier; milliseconds, the
median and the largest of 20 samples.

Run by hand, on a quiet machine: `python workbench/xtask/bench_stopping.py [samples]`.
"""

import statistics
import sys
import threading
import time

import numpy as np

import workbench as wb

SIDE = 3000

# Each takes seconds, or has no end.
TENSORS = {
    "exp": "x.expand({20, -1, -1}).exp()",
    "add": "x.expand({20, -1, -1}) + x",
    "to": "x.expand({20, -1, -1}).to(torch::kHalf)",
    "clone": "x.expand({20, -1, -1}).clone()",
    "fill": "torch::full({20, 3000, 3000}, 2.5)",
    "random": "torch::randn({20, 3000, 3000})",
    "matmul": "torch::matmul(x, x)",
    "conv2d": "torch::conv2d(x.view({1, 1, 3000, 3000}), torch::ones({4, 1, 5, 5}))",
    "sort": "std::get<0>(torch::sort(x.view(-1)))",
    "cumsum": "x.expand({20, -1, -1}).cumsum(0)",
    "sum": "x.expand({20, -1, -1}).sum()",
    "softmax": "torch::softmax(x.expand({10, -1, -1}), 2)",
    "cat": "torch::cat({x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x})",
    "index": "x.index({torch::zeros({20000}, torch::kLong)})",
}
STATEMENTS = {
    "sleep_for": "std::this_thread::sleep_for(std::chrono::seconds(100));",
    "vector": "std::vector<int> v(1 << 24); for (;;) v.assign(1 << 24, 3);",
    "map": "std::map<int, int> m; for (int i = 0;; i++) m[i * 7919 % 100003] = i;",
    "small tensors": "for (;;) torch::zeros({3});",
    "a loop": "volatile int i = 0; for (;;) i = i + 1;",
    "launches": "float* p; cudaMalloc(&p, 4096); for (;;) once<<<4, 256>>>(p);",
}
KERNELS = "__global__ void once(float* p) { p[threadIdx.x] = 1; }\n__global__ void endless(int* p) { for (;;) p[threadIdx.x] += 1; }\n"
COMPILED = {
    "many functions": "".join(f"__device__ int f{i}(int x) {{ return x + {i}; }}\n" for i in range(60_000)),
    "many kernels": "".join(f"__global__ void k{i}(int* x) {{ x[0] = x[1] * {i}; }}\n" for i in range(6_000)),
    "a large kernel": "__global__ void k(float* x, int n) { " + "".join(f"if (n > {i}) x[n + {i}] += {i};" for i in range(4_000)) + " }",
}
LIMIT = 0.1


def host_module():
    lines = ["#include <torch/extension.h>\n#include <chrono>\n#include <thread>\n#include <map>\n" + KERNELS]
    lines += [f"torch::Tensor f{i}(torch::Tensor x) {{ return {text}; }}" for i, text in enumerate(TENSORS.values())]
    lines += [f"void w{i}() {{ {text} }}" for i, text in enumerate(STATEMENTS.values())]
    return wb.compile("\n".join(lines))


def timed_out(call):
    """Milliseconds past the limit; none where the work was done before."""
    begun = time.perf_counter()
    try:
        call()
    except wb.KernelTimeout:
        return (time.perf_counter() - begun - LIMIT) * 1e3
    return None


def interrupted(call):
    """Milliseconds after another thread wanted it to end."""
    asked = []

    def ask():
        asked.append(time.perf_counter())
        wb.interrupt()

    timer = threading.Timer(LIMIT, ask)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        ended = time.perf_counter()
        timer.join()
        return (ended - asked[0]) * 1e3
    timer.join()
    return None


def show(what, how, samples):
    kept = [sample for sample in samples if sample is not None]
    if not kept:
        print(f"{what:28} {how:10} was done before")
        return
    print(f"{what:28} {how:10} median {statistics.median(kept):7.1f}  largest {max(kept):7.1f}  of {len(kept)}", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    x = np.random.default_rng(1).standard_normal((SIDE, SIDE), dtype=np.float32)
    module = host_module()
    limited = module.with_timeout(LIMIT)
    names = [(f"f{i}", name, (x,)) for i, name in enumerate(TENSORS)]
    names += [(f"w{i}", name, ()) for i, name in enumerate(STATEMENTS)]
    for function, name, args in names:
        show(name, "timeout", [timed_out(lambda: getattr(limited, function)(*args)) for _ in range(count)])
        show(name, "interrupt", [interrupted(lambda: getattr(module, function)(*args)) for _ in range(count)])
    for tier in ["soon", "good", "lanes", "wide", "fibers"]:
        try:
            wb.set_tier(tier)
        except wb.ArgumentError as error:
            print(f"{tier}: {error}")
            continue
        kernels = wb.compile(KERNELS + f"// {tier}")
        p = np.zeros(256, np.int32)
        launch = lambda of: of.endless[4, 256](p)  # noqa: E731
        short = kernels.with_timeout(LIMIT)
        show(f"a kernel, {tier} tier", "timeout", [timed_out(lambda: launch(short)) for _ in range(count)])
        show(f"a kernel, {tier} tier", "interrupt", [interrupted(lambda: launch(kernels)) for _ in range(count)])
    wb.set_tier("auto")
    for name, text in COMPILED.items():
        fresh = [f"{text}// {i}" for i in range(count)]
        show(f"compiling {name}", "interrupt", [interrupted(lambda: wb.compile(text)) for text in fresh])


if __name__ == "__main__":
    main()

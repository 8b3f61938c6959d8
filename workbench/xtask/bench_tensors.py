"""The table of `cargo xtask bench tensors`: operations on tensors in host code, beside torch's own on the CPU.

    python bench_tensors.py OTHER [--json FILE] [--only NAME ...] [--rounds N]    with torch, and the package of the interpreter OTHER

Each row is one operation at three sizes, float32, with as many threads as torch takes by itself. Both take the same torch tensors and take
turns; a number is the median of the rounds, a ratio the median of the rounds' ratios (over 1: torch is faster).
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

#: Extents of square tensors, of about 4 Ki, 256 Ki and 4 Mi elements.
SQUARES = (64, 512, 2048)
#: Least seconds of a measurement: calls are repeated until they last as long.
LEAST = 2e-3


def floats(*shape):
    return torch.randn(*shape)


def places(count, bound):
    return torch.randint(0, bound, (count,))


def square(n):
    return (floats(n, n),)


def two(n):
    return floats(n, n), floats(n, n)


def picked(n):
    return floats(n, n), places(n, n)


#: Name: the expression of `a`, `b` and `c` in C++, the same by torch, the arguments for each of three sizes.
ROWS = {
    "add": ("a + b", torch.add, [two(n) for n in SQUARES]),
    "mul": ("a * 2.5", lambda a: a * 2.5, [square(n) for n in SQUARES]),
    "div": ("a / b", torch.div, [two(n) for n in SQUARES]),
    "add_row": ("a + b", torch.add, [(floats(n, n), floats(n)) for n in SQUARES]),
    "exp": ("a.exp()", torch.exp, [square(n) for n in SQUARES]),
    "tanh": ("a.tanh()", torch.tanh, [square(n) for n in SQUARES]),
    "sigmoid": ("a.sigmoid()", torch.sigmoid, [square(n) for n in SQUARES]),
    "gelu": ("torch::gelu(a)", F.gelu, [square(n) for n in SQUARES]),
    "relu": ("a.relu()", torch.relu, [square(n) for n in SQUARES]),
    "where": ("torch::where(a > 0, a, b)", lambda a, b: torch.where(a > 0, a, b), [two(n) for n in SQUARES]),
    "pow": ("a.pow(2)", lambda a: a.pow(2), [square(n) for n in SQUARES]),
    "sum": ("a.sum()", torch.sum, [square(n) for n in SQUARES]),
    "sum_rows": ("a.sum(1)", lambda a: a.sum(1), [square(n) for n in SQUARES]),
    "mean_columns": ("a.mean(0)", lambda a: a.mean(0), [square(n) for n in SQUARES]),
    "amax_rows": ("a.amax(1)", lambda a: a.amax(1), [square(n) for n in SQUARES]),
    "argmax_rows": ("a.argmax(1)", lambda a: a.argmax(1), [square(n) for n in SQUARES]),
    "softmax": ("a.softmax(1)", lambda a: a.softmax(1), [square(n) for n in SQUARES]),
    "log_softmax": ("a.log_softmax(1)", lambda a: a.log_softmax(1), [square(n) for n in SQUARES]),
    "layer_norm": (
        "torch::layer_norm(a, {a.size(1)}, b, c)", lambda a, b, c: F.layer_norm(a, (a.shape[1],), b, c), [(floats(n, n), floats(n), floats(n)) for n in SQUARES]
    ),
    "cumsum": ("a.cumsum(1)", lambda a: a.cumsum(1), [square(n) for n in SQUARES]),
    "sort": ("std::get<0>(a.sort(1))", lambda a: a.sort(1)[0], [square(n) for n in SQUARES]),
    "topk": ("std::get<0>(a.topk(8))", lambda a: a.topk(8)[0], [square(n) for n in SQUARES]),
    "index_select": ("a.index_select(0, b)", lambda a, b: a.index_select(0, b), [picked(n) for n in SQUARES]),
    "gather": (
        "a.gather(1, b)", lambda a, b: a.gather(1, b), [(floats(n, n), torch.randint(0, n, (n, n))) for n in SQUARES]
    ),
    "scatter_add": (
        "a.scatter_add(0, b, c)", lambda a, b, c: a.scatter_add(0, b, c), [(floats(n), places(n * n, n), floats(n * n)) for n in SQUARES]
    ),
    "transpose": ("a.t().contiguous()", lambda a: a.t().contiguous(), [square(n) for n in SQUARES]),
    "cat": ("torch::cat({a, b}, 1)", lambda a, b: torch.cat((a, b), 1), [two(n) for n in SQUARES]),
    "matmul": ("a.matmul(b)", torch.matmul, [two(n) for n in (64, 256, 1024)]),
    "bmm": ("a.bmm(b)", torch.bmm, [(floats(m, n, n), floats(m, n, n)) for m, n in ((4, 16), (16, 64), (32, 128))]),
    "linear": ("torch::linear(a, b, c)", F.linear, [(floats(m, n), floats(n, n), floats(n)) for m, n in ((8, 64), (64, 512), (256, 1024))]),
    "conv1d": ("torch::conv1d(a, b)", F.conv1d, [(floats(m, k, n), floats(k, k, 5)) for m, k, n in ((1, 4, 256), (4, 16, 1024), (8, 64, 2048))]),
    "conv2d": (
        "torch::conv2d(a, b, c, 1, 1)", lambda a, b, c: F.conv2d(a, b, c, 1, 1),
        [(floats(m, k, n, n), floats(k, k, 3, 3), floats(k)) for m, k, n in ((1, 4, 16), (2, 16, 64), (4, 64, 64))],
    ),
}  # fmt: skip


def compiled(names):
    """The functions of the rows, by Workbench."""
    where = "import pathlib, workbench; print(pathlib.Path(workbench.__file__).parents[1])"
    sys.path.append(subprocess.check_output([sys.argv[1], "-c", where], text=True).strip())
    import workbench as wb

    text = ["#include <torch/extension.h>"]
    for name in names:
        params = ", ".join(f"at::Tensor {letter}" for letter, _ in zip("abc", ROWS[name][2][0]))
        text.append(f"at::Tensor f_{name}({params}) {{ return {ROWS[name][0]}; }}")
    module = wb.load_inline("bench_tensors", "\n".join(text), functions=[f"f_{name}" for name in names])
    return {name: getattr(module, f"f_{name}") for name in names}


def timed(call, args, count):
    """Seconds of a call, of so many."""
    began = time.perf_counter()
    for _ in range(count):
        call(*args)
    return (time.perf_counter() - began) / count


def settle(call, args):
    """Calls until the best code of kernels is there: it is made aside once they have taken some time, which a C compiler has here."""
    for _ in range(2):
        began = time.perf_counter()
        while time.perf_counter() - began < 0.05:
            call(*args)
        time.sleep(0.7)


def measured(ours, theirs, args, rounds):
    """The medians of both, and that of their ratios."""
    got, wanted = ours(*args), theirs(*args)
    settle(ours, args)
    # Sums in another order: relative to the largest element, by far more than float32's rounding of some thousands of terms.
    assert got.shape == wanted.shape and (got - wanted).abs().max() <= 1e-4 * (1 + wanted.abs().max()), "results differ"
    counts = [max(1, math.ceil(LEAST / max(min(timed(call, args, 1) for _ in range(2)), 1e-7))) for call in (ours, theirs)]
    times = ([], [])
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 else (1, 0):
            times[which].append(timed((ours, theirs)[which], args, counts[which]))
    return *map(statistics.median, times), statistics.median(a / b for a, b in zip(*times))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("other")
    parser.add_argument("--json")
    parser.add_argument("--only", nargs="+", choices=ROWS)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(0)
    names = given.only or list(ROWS)
    functions = compiled(names)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; times of torch as long, at three sizes\n")
    print("| operation | small | middle | large | Workbench, large | torch, large |")
    print("|---|---:|---:|---:|---:|---:|")
    rows, ratios = [], []
    for name in names:
        cells = [measured(functions[name], ROWS[name][1], args, given.rounds) for args in ROWS[name][2]]
        ratios += [ratio for _, _, ratio in cells]
        rows.append({"operation": name, "seconds": [c[0] for c in cells], "torch_seconds": [c[1] for c in cells], "ratios": [c[2] for c in cells]})
        large = " | ".join(f"{seconds * 1e3:.3f} ms" for seconds in cells[-1][:2])
        print(f"| {name} | {' | '.join(f'{ratio:.2f}' for _, _, ratio in cells)} | {large} |", flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"\ngeometric mean {mean:.2f}; over 4: {sum(ratio > 4 for ratio in ratios)} of {len(ratios)}")
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "rows": rows, "geometric_mean": mean}, file, indent=1)


if __name__ == "__main__":
    main()

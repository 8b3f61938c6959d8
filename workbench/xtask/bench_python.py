"""The Python call path beside NumPy: what a person waits for, in interleaved rounds; medians with their quartiles.

Run by `cargo xtask bench`.
"""

import statistics
import time

import numpy as np

import workbench as wb

SCALE = """__global__ void scale(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}"""

MULADD = """__global__ void muladd(const float* a, const float* b, const float* c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c[i];
}"""


def long_text(n):
    lines = [
        "__global__ void chain(const float* x, float* y, int n) {",
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
        "    if (i >= n) return;",
        "    float a = x[i];",
    ]
    for k in range(n):
        lines.append(
            (
                f"    float t{k} = a * {k}.5f + 1.0f;",
                f"    if (t{k - 1} > 2.0f) a = a - t{k - 1};",
                f"    a += t{k - 2} * 0.25f;",
                "    a = fmaxf(a, -1.0f);",
            )[k % 4]
        )
    return "\n".join([*lines, "    y[i] = a;", "}"])


def rounds(contestants, count, inner):
    """Microseconds a call, one list a contestant, the contestants taking turns."""
    times = {name: [] for name in contestants}
    names = list(contestants)
    for r in range(count):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            f = contestants[name]
            start = time.perf_counter()
            for _ in range(inner):
                f()
            times[name].append((time.perf_counter() - start) / inner * 1e6)
    return times


def show(title, times):
    print(f"\n{title}")
    for name, values in times.items():
        low, mid, high = statistics.quantiles(values, n=4)
        print(f"  {name:<34} {mid:10.2f} us   (quartiles {low:.2f} to {high:.2f})")


def main():
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(8).astype(np.float32) for _ in range(3))
    op = wb.op("bench::muladd(Tensor a, Tensor b, Tensor c) -> Tensor", MULADD, shape="a[n], b[n], c[n] -> out[n]")
    # One rounding more on neither side: both round the product, then the sum.
    assert np.array_equal(op(a, b, c), a * b + c)
    show(
        "a call with three 8-element arrays, output allocated",
        rounds({"workbench op(a, b, c)": lambda: op(a, b, c), "numpy a * b + c": lambda: a * b + c}, 201, 1000),
    )

    x, y = a, np.empty(8, np.float32)
    counter = iter(range(10**9))

    def first_result(text, kernel, *args):
        module = wb.compile(f"{text} // {next(counter)}")
        getattr(module, kernel)[1, 32](x, y, *args)

    hundred = long_text(100)
    show(
        "text to first result, nothing cached",
        rounds(
            {
                "three lines": lambda: first_result(SCALE, "scale", 2.0, 8),
                "100 statements": lambda: first_result(hundred, "chain", 8),
            },
            301,
            1,
        ),
    )


if __name__ == "__main__":
    main()

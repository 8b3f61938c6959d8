"""Durations that would lose something, points that have nothing to do with each other, and timing a launch."""

import numpy as np
import pytest

import workbench as wb

HEAD = "#include <torch/extension.h>\n#include <chrono>\n#include <string>\n#include <thread>\n"


@pytest.mark.parametrize(
    "line",
    [
        "std::chrono::seconds s = std::chrono::milliseconds(1500);",
        "std::chrono::milliseconds m = 5;",
        "std::chrono::duration<long> d(2.5);",
        "std::chrono::milliseconds m = std::chrono::duration<double>(1.5);",
        "auto t = std::chrono::steady_clock::now() + std::chrono::steady_clock::now();",
        "auto d = std::chrono::system_clock::now() - std::chrono::steady_clock::now();",
        "long n = std::chrono::seconds(3);",
        "std::ratio<1, 0> r; (void)r.num;",
    ],
)
def test_what_does_not_compile(line):
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("t", HEAD + "int64_t f() {\n    " + line + "\n    return 0;\n}", functions=["f"])
    assert line.split(";")[0] in str(caught.value)


def test_a_launch_is_timed():
    m = wb.load_inline("t", "", HEAD + """
__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
double f(torch::Tensor x) {
    auto start = std::chrono::high_resolution_clock::now();
    twice<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), x.numel());
    cudaDeviceSynchronize();
    auto stop = std::chrono::high_resolution_clock::now();
    return std::chrono::duration_cast<std::chrono::duration<double, std::micro>>(stop - start).count();
}""", functions=["f"])
    x = np.ones(1000, np.float32)
    assert 0 < m.f(x) < 1e7
    assert (x == 2).all()


def test_random_durations(rng):
    m = wb.load_inline("t", HEAD + """
using namespace std::chrono;
std::vector<int64_t> f(int64_t n) {
    nanoseconds d(n);
    return {duration_cast<microseconds>(d).count(), floor<milliseconds>(d).count(), ceil<milliseconds>(d).count(), round<seconds>(d).count(),
            (d % seconds(1)).count(), (d + minutes(1)).count()};
}""", functions=["f"])
    for n in rng.integers(-(10**14), 10**14, 200).tolist():
        trunc = abs(n) // 1000 * (1 if n >= 0 else -1)
        rest = abs(n) % 10**9 * (1 if n >= 0 else -1)
        nearest = round(n / 10**9) if abs(n % 10**9 - 5 * 10**8) > 1000 else m.f(n)[3]
        assert m.f(n) == [trunc, n // 10**6, -(-n // 10**6), nearest, rest, n + 60 * 10**9]


def test_sleeping():
    m = wb.load_inline("t", HEAD + """
bool f(int64_t ms) {
    auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(ms);
}""", functions=["f"])
    assert m.f(3)
    assert m.f(0)

"""Counts of the work of operators: operations on floats and bytes that move. Expected counts are worked out by hand from the text."""

import threading

import numpy as np
import pytest

import workbench as wb

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def test_the_work_of_a_call():
    horner = wb.op(
        "work::horner(Tensor x) -> Tensor",
        f"__global__ void k(const double* x, double* y, int n) {{ {INDEX} if (i < n) y[i] = (x[i] * 3 + 2) * x[i] + 1; }}",
        shape="x[n] -> y[n]",
    )
    work = horner.work(np.ones(1001))
    assert (work.flops, work.math_functions, work.bytes_read, work.bytes_written) == (4 * 1001, 0, 8 * 1001, 8 * 1001)
    assert work.all_bytes_counted and work.bytes == 16 * 1001 and work.intensity == 0.25
    nothing = horner.work(np.ones(0))
    assert nothing.flops == nothing.bytes == 0 and nothing.intensity == float("inf")
    # The operator's arguments and its next calls are untouched.
    assert horner(np.ones(2)).tolist() == [6, 6]


def test_a_stencil_reads_each_element_once_however_often_it_asks():
    blur = wb.op(
        "work::blur(Tensor x) -> Tensor",
        f"""__global__ void k(const float* x, float* y, int n) {{
            {INDEX}
            if (i >= n) return;
            float sum = x[i];
            if (i > 0) sum += x[i - 1];
            if (i + 1 < n) sum += x[i + 1];
            y[i] = sum / 3;
        }}""",
        shape="x[n] -> y[n]",
    )
    n = 333
    work = blur.work(np.ones(n, np.float32))
    # Two sums and a quotient, but one sum at either end.
    assert work.flops == 3 * n - 2
    assert (work.bytes_read, work.bytes_written) == (4 * n, 4 * n)
    assert work.bytes_accessed == 4 * (3 * n - 2) + 4 * n


def test_halves_are_counted_by_the_bytes_they_have():
    double = wb.op(
        "work::double_half(Tensor x) -> Tensor",
        f"#include <cuda_fp16.h>\n__global__ void k(const __half* x, __half* y, int n) {{ {INDEX} if (i < n) y[i] = __hadd(x[i], x[i]); }}",
        shape="x[n] -> y[n]",
    )
    work = double.work(np.ones(100, np.float16))
    assert (work.flops, work.bytes_read, work.bytes_written) == (100, 200, 200)


def test_keyword_only_arguments_and_defaults():
    scale = wb.op(
        "work::scale(Tensor x, *, float by=2.0) -> Tensor",
        f"__global__ void k(const float* x, float by, float* y, int n) {{ {INDEX} if (i < n) y[i] = by * x[i]; }}",
        shape="x[n] -> y[n]",
    )
    x = np.ones(50, np.float32)
    assert scale.work(x).flops == scale.work(x, by=3.0).flops == 50
    report = wb.bench(
        {"keywords": scale._by_position(), "numpy": lambda x, by: by * x}, [8], lambda n: (np.ones(n, np.float32), 2.0), flops="counted", seconds_per_size=0.001
    )
    assert [row["flops"] for row in report.rows] == [8, 8]


@pytest.fixture(scope="module")
def squares():
    text = f"__global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = x[i] * x[i]; }}"
    return wb.op("work::squares(Tensor x) -> Tensor", text, shape="x[n] -> y[n]", reference=np.square)


def test_a_benchmark_counts_bytes_and_operations(squares):
    report = squares.bench(sizes=[10, 300], bytes="counted", flops="counted", seconds_per_size=0.001)
    assert [(row["size"], row["bytes"], row["flops"]) for row in report.rows] == [(10, 80, 10), (10, 80, 10), (300, 2400, 300), (300, 2400, 300)]
    for kind in ("throughput", "arithmetic", "roofline"):
        assert "takes" not in str(report.plot(kind))


def test_each_operator_is_counted_by_itself(squares):
    cubes = wb.op(
        "work::cubes(Tensor x) -> Tensor",
        f"__global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = x[i] * x[i] * x[i]; }}",
        shape="x[n] -> y[n]",
    )
    contestants = {"numpy": np.square, "two": squares, "three": cubes}
    report = wb.bench(contestants, [7], lambda n: np.ones(n, np.float32), flops="counted", bytes=lambda n: n, seconds_per_size=0.001)
    assert {row["name"]: (row["flops"], row["bytes"]) for row in report.rows} == {"numpy": (7, 7), "two": (7, 7), "three": (14, 7)}


def test_what_cannot_be_counted_is_told(squares):
    def make(n):
        return np.ones(n, np.float32)

    with pytest.raises(wb.ArgumentError, match="needs an operator of a kernel"):
        wb.bench({"numpy": np.square}, [4], make, bytes="counted")
    with pytest.raises(wb.ArgumentError, match='flops is \'arguments\'; it is "counted", a callable'):
        squares.bench(make(4), flops="arguments")
    with pytest.raises(wb.ArgumentError, match='bytes is \'all\'; it is "counted" or "arguments"'):
        squares.bench(make(4), bytes="all")
    either = wb.op(
        "work::either(Tensor a, Tensor b) -> Tensor",
        f"__global__ void k(const float* a, const float* b, float* y, int n) {{ {INDEX} const float* p = i % 2 ? a : b; if (i < n) y[i] = p[i] + 1; }}",
        shape="a[n], b[n] -> y[n]",
    )
    assert not either.work(make(4), make(4)).all_bytes_counted
    with pytest.raises(wb.ArgumentError, match="come from no parameter alone"):
        either.bench(make(4), make(4), bytes="counted")
    # Operations can be counted all the same.
    assert either.bench(make(4), make(4), flops="counted", seconds_per_size=0.001).rows[0]["flops"] == 4
    power = wb.op(
        "work::power(Tensor x) -> Tensor",
        f"""__device__ float power(float v, int k) {{ return k == 0 ? 1 : v * power(v, k - 1); }}
        __global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = power(x[i], i); }}""",
        shape="x[n] -> y[n]",
    )
    with pytest.raises(wb.ArgumentError, match="it calls `power`, which calls itself"):
        power.work(make(4))
    faulty = wb.op(
        "work::faulty(Tensor x) -> Tensor",
        f"__global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i <= n) y[i] = x[i]; }}",
        shape="x[n] -> y[n]",
    )
    with pytest.raises(wb.KernelFault, match="out-of-bounds read"):
        faulty.work(make(4))
    assert squares.work(make(4)).flops == 4


def test_operators_of_host_functions_have_no_work():
    module = wb.load_inline(
        "work_host",
        cpp_sources="torch::Tensor twice(torch::Tensor x);",
        cuda_sources="#include <torch/extension.h>\ntorch::Tensor twice(torch::Tensor x) { return 2 * x; }",
        functions=["twice"],
    )
    with pytest.raises(wb.ArgumentError, match="needs an operator of a kernel"):
        wb.bench({"host": module.twice}, [4], lambda n: np.ones(n, np.float32), flops="counted")


def test_counting_stops_on_request():
    endless = wb.op("work::endless(Tensor x) -> Tensor", "__global__ void k(const float* x, float* y) { while (true) y[0] = x[0]; }", shape="x[n] -> y[n]")
    for count in (endless.work, lambda x: endless.bench(x, bytes="counted")):
        timer = threading.Timer(0.2, wb.interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            count(np.ones(1, np.float32))
        timer.join()

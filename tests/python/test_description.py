"""Descriptions of operators: `op?`, and an operator at the end of a cell."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.description import describe

RELU = "__global__ void relu(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); }\n"
OTHER = "__global__ void other(float* z) { z[0] = 1; }\n"


def row(op, name):
    return next(line for line in describe(op).splitlines() if line.startswith(f"{name:<11}")).partition(" ")[2].strip()


@pytest.mark.parametrize("name, kernel", [("relu", None), ("relu.out", None), ("rectify", "relu")])
def test_the_kernel_is_the_one_that_the_operator_runs(name, kernel):
    schema = f"told::{name}(Tensor x) -> Tensor" if "." not in name else f"told::{name}(Tensor x, Tensor(a!) y) -> Tensor(a!)"
    op = wb.op(schema, OTHER + RELU, kernel=kernel, shape="x[*] -> y[*]" if "." not in name else None)
    assert row(op, "kernel") == "void relu(const float* x, float* y, int n)"


@pytest.mark.parametrize(
    "options, bounds, block",
    [
        ({}, "", "256"),
        ({"block": (8, 4)}, "", "8 x 4"),
        ({"threads": "n"}, "", "256"),
        ({"threads": "n, min(n, 1)"}, "", "16 x 16"),
        ({"grid": (1, 2)}, "", "16 x 16"),
        ({}, "__launch_bounds__(96)", "96"),
        ({}, "__launch_bounds__(512)", "256"),
        ({"threads": "n, 1"}, "__launch_bounds__(512)", "16 x 16"),
    ],
)
def test_the_block_is_the_one_of_the_launches(options, bounds, block):
    # The kernel tells the block that it has.
    text = f"__global__ void {bounds} k(const float* x, float* y, int n) {{ y[0] = 1000 * blockDim.x + blockDim.y; }}"
    op = wb.op("told::k(Tensor x) -> Tensor", text, shape="x[n] -> y[n]", **options)
    assert row(op, "launch").endswith(f"in blocks of {block}")
    x, _, y = block.partition(" x ")
    assert op(np.ones(1, np.float32))[0] == 1000 * int(x) + int(y or 1)


def test_what_is_registered_later_leaves_the_description():
    for other in (lambda x: x, wb.compile(RELU.replace("relu", "second")).second):
        op = wb.op("told::registered(Tensor x) -> Tensor", RELU, kernel="relu", shape="x[*] -> y[*]")
        op.register_kernel("cpu", other)
        assert row(op, "kernel") == "void relu(const float* x, float* y, int n)"


def test_an_operator_that_writes_an_argument_has_no_outputs():
    op = wb.op("told::inc(Tensor(a!) a, float c) -> ()", "__global__ void inc(float* a, float c, int n) { int i = threadIdx.x; if (i < n) a[i] += c; }")
    assert row(op, "launch").startswith("one thread per element of `a`, which it writes")
    assert row(op, "shape") == "no outputs: it writes `a`"


def test_an_operator_of_a_host_function_is_described():
    op = wb.op("told::twice(Tensor x) -> Tensor", "at::Tensor twice(const at::Tensor& x) { return x * 2; }", reference=np.add)
    assert row(op, "function") == "twice" and row(op, "shape").startswith("derived") and row(op, "gradient").startswith("recorded")
    assert row(op, "reference") == "add" and "return x * 2;" in op.__doc__ and "TORCH_LIBRARY" not in op.__doc__
    assert "An operator of the dispatcher" in type(op).__doc__


def test_an_operator_of_a_callable_is_described():
    def clip(x, high):
        return x.clip(0, high)

    op = wb.op("told::clip(Tensor x, float high=1.0) -> Tensor", clip)
    assert "clip, line " in row(op, "callable") and row(op, "shape").startswith("none: register_fake")
    assert "return x.clip(0, high)" in op.__doc__ and "A text" not in op.__doc__


@pytest.mark.parametrize("make", [lambda: wb.op("told::relu(Tensor x) -> Tensor", RELU).version(-1), lambda: wb.op("told::same(Tensor x) -> Tensor", lambda x: x)])
def test_versions_and_callables_are_described_at_the_end_of_a_cell(make):
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    op = make()
    assert pretty(op) == describe(op) and pretty([op]).count("\n") == 0

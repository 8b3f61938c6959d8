"""Benchmarks measure the best code of kernels: whatever was just defined is called until that is there, and the report says which code ran."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import workbench as wb

_NUMBERS = itertools.count(1)

#: Work enough to be worth wide code, and by far too little to become hot within the samples of a short benchmark.
TEXT = """// {number}
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = v * 0.5f + 0.25f;
    y[i] = v;
}"""
X = np.ones(2048, np.float32)


def text() -> str:
    """A text that was never compiled before."""
    return TEXT.replace("{number}", f"{os.getpid()} {next(_NUMBERS)}")


def best(kernel, block) -> str:
    """The best tier of a kernel for blocks of a shape, none of which is still to be made."""
    rows = kernel.tier_report(block).rows
    assert [row["code"] for row in rows if row["code"] == "not yet"] == [], rows
    return [row["tier"] for row in rows if row["code"] == "made"][-1]


def test_a_kernel_that_was_just_defined_is_measured_at_its_best():
    module = wb.compile(text())
    y = np.zeros_like(X)
    report = wb.bench({"k": lambda n: module.k[16, 128](X, y, n), "numpy": np.square}, sizes=[2048], make_args=lambda n: n, seconds_per_size=0.001)
    assert report.rows[0]["tier"] == best(module.k, 128) and report.rows[1]["tier"] is None
    assert f"machine code: k {report.rows[0]['tier']}\n" in str(report) and report.rows[0]["tier"] in report._repr_mimebundle_()["text/html"]
    assert "note" not in str(report)


def test_each_shape_of_blocks_of_a_sweep_is_measured_at_its_best():
    module = wb.compile(text())
    y = np.zeros_like(X)
    report = wb.bench({"k": lambda n: module.k[2048 // n, n](X, y, 2048)}, sizes=[32, 64, 256], make_args=lambda n: n, seconds_per_size=0.001)
    assert [row["tier"] for row in report.rows] == [best(module.k, block) for block in (32, 64, 256)]


def test_both_versions_are_measured_at_their_best():
    name = f"tiers::both_{next(_NUMBERS)}"
    for _ in range(2):
        op = wb.op(f"{name}(Tensor x) -> Tensor", text(), shape="x[n] -> y[n]", block=128)
    report = op.bench(X, against="previous", seconds_per_size=0.001)
    wanted = best(op.module.k, 128)
    assert [(row["name"], row["tier"]) for row in report.rows] == [(op.__name__, wanted), ("version 1", wanted)]


def test_do_bench_measures_the_best():
    module = wb.compile(text())
    y = np.zeros_like(X)
    wb.do_bench(lambda: module.k[16, 128](X, y, 2048), warmup=0, rep=0)
    assert module.k.tier == best(module.k, 128)


def test_the_tier_is_a_column_and_a_field():
    report = wb.bench({"sum": sum}, sizes=[3], make_args=range, seconds_per_size=0.001)
    assert report._table().csv().splitlines()[0].endswith(",flops,tier")
    assert "machine code" not in str(report)


STALLED = """
import numpy as np, workbench as wb
x = np.ones(2048, np.float32)
y = np.zeros_like(x)
k = wb.compile('''{text}''').k
report = wb.bench({{"k": lambda n: k[n // 128, 128](x, y, n)}}, sizes=[1024, 2048], make_args=lambda n: n, seconds_per_size=0.001, max_seconds=0.5)
print(report.rows[0]["tier"])
print("\\n".join(line for line in str(report).splitlines() if "note" in line or "made yet" in line))
"""


def test_a_compiler_that_never_ends_is_told(tmp_path):
    before = wb.set_tier("auto")
    try:
        wb.set_tier("wide")
    except wb.ArgumentError:
        pytest.skip("this machine has no wide code")
    finally:
        wb.set_tier(before)
    compiler = tmp_path / "stalled"
    compiler.write_text("#!/bin/sh\nexec sleep 600\n")
    compiler.chmod(0o755)
    script = STALLED.format(text=text())
    ran = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "WORKBENCH_CC": str(compiler)}, capture_output=True, text=True, timeout=120, check=True
    )
    tier, *notes = ran.stdout.splitlines()
    # Code that is there is measured, and the note comes once.
    assert tier != "wide" and " ".join(notes).count("the best code of k was not made yet") == 1, ran.stdout

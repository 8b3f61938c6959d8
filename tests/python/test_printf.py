"""printf goes to `sys.stdout`, in thread order, also when the launch ends in a fault."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

HELLO = """
__global__ void hello(const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) printf("%d: %.2f\\n", i, x[i]);
}
"""


def test_output_comes_in_thread_order_between_pythons_own(capsys):
    x = np.arange(6, dtype=np.float32) / 2
    print("before")
    wb.compile(HELLO).hello[3, 2](x, 6)
    print("after")
    lines = [f"{i}: {x[i]:.2f}" for i in range(6)]
    assert capsys.readouterr().out.split("\n") == ["before", *lines, "after", ""]


def test_output_before_a_fault_is_shown(capsys):
    kernel = wb.compile('__global__ void k(int* x) { printf("about to fail\\n"); x[9] = 1; }').k
    with pytest.raises(wb.KernelFault):
        kernel[1, 1](np.zeros(3, np.int32))
    assert capsys.readouterr().out == "about to fail\n"


def test_a_million_lines_are_bounded_and_counted(capsys):
    kernel = wb.compile('__global__ void k(int n) { for (int i = 0; i < n; i++) printf("line %d\\n", i); }').k
    kernel[1, 1](1_000_000)
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert lines[0] == "line 0" and len(lines) < 1_000_000
    assert "dropped" in lines[-1] and str(1_000_000 - (len(lines) - 1)) in lines[-1]


def test_a_closed_stdout_is_no_reason_to_fail(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    wb.compile(HELLO).hello[1, 1](np.zeros(1, np.float32), 1)


def test_host_functions_print_too(capsys):
    wb.compile('void hi(int x) { printf("hi %d\\n", x); }').hi(3)
    assert capsys.readouterr().out == "hi 3\n"

"""Pickles of operators: calls need neither references nor gradients, which stay behind where no other process can import them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import workbench as wb

TWICE = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
HOST = "at::Tensor twice(const at::Tensor& x) { return x * 2; }"
X = np.ones(3, np.float32)
#: A process that has nothing but the pickle: a call, then a check, a gradient and a sweep.
OTHER = """
import pickle, sys, numpy as np, workbench as wb
op = pickle.loads(sys.stdin.buffer.read())
x = np.ones(3, np.float32)
print(op(x).tolist())
for use in (lambda: op.check(x).passed, lambda: op.vjp(x)[1](x)[0].tolist(), lambda: op.check(x, reference=lambda x: 2 * x).passed):
    try: print(use())
    except wb.ArgumentError as error: print(error)
again = pickle.loads(pickle.dumps(op))
try: print(again.check(x).passed)
except wb.ArgumentError as error: print("stayed behind" in str(error))
"""


def identity(x):
    return x


def make(kind, reference):
    if kind == "kernel":
        return wb.op("pickles::kernel(Tensor x) -> Tensor", TWICE, shape="x[n] -> y[n]", reference=reference)
    if kind == "host":
        return wb.op("pickles::host(Tensor x) -> Tensor", HOST, reference=reference)
    if kind == "callable":
        return wb.op("pickles::callable(Tensor x) -> Tensor", np.positive, reference=reference)
    return wb.elementwise("float32 x", "float32 y", "y = 2 * x", "pickled", reference=reference)


def in_another_process(data, cwd):
    run = subprocess.run([sys.executable, "-c", OTHER], input=data, capture_output=True, cwd=cwd)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode().splitlines()


def locally():
    return lambda x: 2 * x


def of_main(monkeypatch):
    """A function as a notebook makes it."""
    space = {"__name__": "__main__"}
    exec("def ref(x): return 2 * x", space)
    monkeypatch.setattr(sys.modules["__main__"], "ref", space["ref"], raising=False)
    return space["ref"]


@pytest.mark.parametrize("kind", ["kernel", "host", "callable", "elementwise"])
@pytest.mark.parametrize("of", ["lambda", "main", "gone"])
def test_a_reference_that_no_other_process_can_import_stays_behind(kind, of, monkeypatch, tmp_path):
    reference = {"lambda": locally, "main": lambda: of_main(monkeypatch), "gone": lambda: identity}[of]()
    op = make(kind, reference)
    factor = 1 if kind == "callable" else 2
    data = pickle.dumps(op)
    # This process keeps what it has.
    assert pickle.loads(data).reference is reference and op.reference is reference
    # This file is no module for a process in another folder.
    called, checked, _, given, again = in_another_process(data, tmp_path)
    assert called == str([float(factor)] * 3)
    assert "has no reference: it stayed behind when the operator was pickled" in checked and "give one, as in op.check" in checked
    assert given == str(factor == 2) and again == "True"


@pytest.mark.parametrize("kind", ["kernel", "callable", "elementwise"])
def test_a_gradient_that_no_other_process_can_import_stays_behind(kind, tmp_path):
    op = make(kind, np.abs)
    op.register_autograd(lambda ctx, grad: 2 * grad)
    backward = op._backward
    data = pickle.dumps(op)
    assert pickle.loads(data)._backward == backward and op._backward == backward
    _, checked, pulled, _, _ = in_another_process(data, tmp_path)
    assert checked in ("True", "False") and "has no gradient: it stayed behind when the operator was pickled" in pulled


def test_functions_of_modules_travel(tmp_path):
    (tmp_path / "made_here.py").write_text("def doubled(x): return 2 * x\ndef backward(ctx, grad): return 2 * grad\n")
    sys.path.insert(0, str(tmp_path))
    try:
        from made_here import backward, doubled

        op = make("kernel", doubled)
        op.register_autograd(backward)
        called, checked, pulled, given, _ = in_another_process(pickle.dumps(op), tmp_path)
    finally:
        sys.path.remove(str(tmp_path))
    assert (called, checked, pulled, given) == ("[2.0, 2.0, 2.0]", "True", "[2.0, 2.0, 2.0]", "True")


def test_an_operator_that_means_something_else_here_gets_no_function_of_it():
    op = make("kernel", locally())
    data = pickle.dumps(op)
    wb.op("pickles::kernel(Tensor x) -> Tensor", TWICE.replace("2 *", "3 *"), shape="x[n] -> y[n]", reference=identity)
    assert pickle.loads(data) is op and op.reference is None and op(X).tolist() == [2, 2, 2]
    with pytest.raises(wb.ArgumentError, match="stayed behind"):
        wb.sweep(op)
    make("kernel", None)
    with pytest.raises(wb.ArgumentError) as caught:
        op.check(X)
    assert "stayed behind" not in str(caught.value)


@pytest.mark.parametrize("kind", ["check", "bench", "history", "tiers"])
def test_a_report_of_the_native_half_says_why_it_is_not_pickled(kind):
    op = make("kernel", locally())
    made = {"check": lambda: op.check(X), "bench": lambda: op.bench(X, seconds_per_size=0.001), "history": lambda: op.history}
    report = made.get(kind, lambda: op.module.twice.tier_report(32))()
    with pytest.raises(TypeError, match=rf"a {type(report).__name__} is not pickled, .*report.to_json\(\)"):
        pickle.dumps(report)

"""Exceptions in cells: they are drawn with the user's frames, in a real IPython shell."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench import tracebacks

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")

PREPARE = '''
import numpy as np, workbench as wb
TEXT = """__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__global__ void thrice(const float* x, const float* g, float* d, int n) { int i = threadIdx.x; if (i < n) d[i] = 3 * g[i]; }"""
op = wb.op("tracebacks::twice(Tensor x) -> Tensor", TEXT, kernel="twice", shape="x[n] -> y[n]")
back = wb.op("tracebacks::thrice(Tensor x, Tensor g) -> Tensor", TEXT, kernel="thrice", shape="x[n], g[n] -> d[n]")
op.register_autograd(lambda ctx, g: back(ctx.saved_tensors[0], g), setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
x = np.ones(10, np.float32)
def mine(*args):
    raise ValueError("my mistake")
'''


@pytest.fixture
def shell():
    shell = interactiveshell.InteractiveShell(colors="nocolor")
    tracebacks.install(shell)
    assert shell.run_cell(PREPARE).success
    return shell


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("op.check(x, reference=mine)", ["op.check(x, reference=mine)", "raise ValueError", "ValueError: my mistake"]),
        ("wb.bench({'a': mine}, sizes=[4], make_args=lambda n: x)", ["wb.bench(", "raise ValueError", "ValueError: my mistake"]),
        ("wb.bench({'a': op}, sizes=[4], make_args=mine)", ["wb.bench(", "raise ValueError", "ValueError: my mistake"]),
        ("wb.do_bench(mine)", ["wb.do_bench(mine)", "raise ValueError", "ValueError: my mistake"]),
        ("op.bench(x, x)", ["op.bench(x, x)", "ArgumentError: `tracebacks::twice` takes 1 argument"]),
        ("op.gradcheck(x)", ["op.gradcheck(x)", "RuntimeError: the gradient of tracebacks::twice DIFFERS"]),
        ("op.export('nowhere')", ["op.export('nowhere')", "ArgumentError: "]),
        ("wb.op('a::b(Tensor x) -> Tensor', TEXT, kernel='c')", ["wb.op(", "there is no kernel `c`"]),
        ("wb.compile('__global__ void k(float* y) { y[0] = z; y[1] = w; }')", ["CompileError[WB", "unknown name `z`", "unknown name `w`"]),
        ("wb.compile('__global__ void k(float* y) { y[9] = 1; }').k[1, 1](x[:3])", ["KernelFault: out-of-bounds write in `k`"]),
        ("def f():\n    return op(x, x)\nf()", ["f()", "return op(x, x)", "ArgumentError: "]),
    ],
)
def test_frames_of_ours_are_left_out(shell, capsys, cell, shown):
    assert not shell.run_cell(cell).success
    text = "".join(capsys.readouterr())
    assert "site-packages/workbench" not in text and "workbench/python" not in text, text
    places = [text.find(part) for part in shown]
    assert -1 not in places and places == sorted(places), text


def test_other_exceptions_are_drawn_as_ipython_draws_them(capsys):
    def drawn(with_ours):
        shell = interactiveshell.InteractiveShell(colors="nocolor")
        if with_ours:
            tracebacks.install(shell)
        for cell in ["1 / 0", "import json\njson.loads('[')", "raise KeyboardInterrupt", "x = (", "assert False, 'no'"]:
            assert not shell.run_cell(cell).success
        return "".join(capsys.readouterr())

    assert drawn(True) == drawn(False)


def test_a_handler_of_others_stays(capsys):
    shell = interactiveshell.InteractiveShell(colors="nocolor")
    shell.set_custom_exc((ZeroDivisionError,), lambda *_, **options: print("theirs"))
    tracebacks.install(shell)
    shell.run_cell("1 / 0")
    assert "theirs" in capsys.readouterr().out
    tracebacks.uninstall(shell)
    assert shell.custom_exceptions == (ZeroDivisionError,)


def test_a_traceback_of_ours_alone_stays():
    with pytest.raises(wb.ArgumentError) as caught:
        wb.op("a::b(Tensor x) -> Tensor", 1)
    ours = caught.value.__traceback__.tb_next
    assert tracebacks.without_ours(ours).tb_frame is ours.tb_frame and tracebacks.without_ours(None) is None
    np.testing.assert_equal(tracebacks.without_ours(caught.value.__traceback__).tb_next, None)

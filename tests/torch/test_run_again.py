"""A cell that is run again: gradients with other numbers, classes and tables behind them, gradients that go, other threads meanwhile."""

import threading

import numpy as np
import pytest
import torch
import workbench as wb

SOURCE = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
CELL = """
{setup}
def backward(ctx, g):
    return g * {factor}
op = wb.op("again::{name}(Tensor x) -> Tensor", SOURCE, kernel="f", shape="x[n] -> y[n]")
op.register_autograd(backward)
"""
BEHIND = {
    "table": ("K = {{'a': {v}}}", "K['a']"),
    "pair": ("K = (1.0, {v})", "K[1]"),
    "scalar": ("import numpy as np\nK = np.float32({v})", "float(K)"),
    "array": ("import numpy as np\nK = np.array([{v}])", "float(K[0])"),
    "class": ("class K:\n    a = {v}", "K.a"),
    "object": ("class C:\n    pass\nK = C(); K.a = {v}", "K.a"),
    "nested": ("K = {v}", "(lambda: K)()"),
    "helper": ("def K():\n    return {v}", "K()"),
    # Tensors that nobody passed are nothing that torch traces, of whosever gradient: their numbers are.
    "tensor": ("import torch\nclass K:\n    a = torch.tensor([{v}])\n    b = a.tolist()", "K.b[0]"),
    "two": ("a = [1.0]\nb = [{v}]\nK = (a, b, b if {v} > 8 else a)", "max(K[1])"),
    "partial": ("import functools\nK = functools.partial(lambda a: a, {v})", "K()"),
}


@pytest.mark.parametrize("kind", BEHIND)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_what_a_gradient_uses_may_change(kind, backend):
    setup, factor = BEHIND[kind]
    compiled = torch.compile(lambda x: getattr(torch.ops.again, f"{kind}_{backend}")(x) + 0, backend=backend)
    for value in (7.0, 9.0):
        text = CELL.format(setup=setup.format(v=value), factor=factor, name=f"{kind}_{backend}")
        exec(compile(text, "<cell>", "exec"), {"wb": wb, "SOURCE": SOURCE, "__name__": "__main__"})
        x = torch.ones(4, requires_grad=True)
        compiled(x).sum().backward()
        np.testing.assert_array_equal(x.grad, np.full(4, value, np.float32))


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_a_gradient_that_is_gone_is_missed(backend):
    name = f"gone_{backend}"
    call = lambda x: getattr(torch.ops.again, name)(x) + 0  # noqa: E731
    if backend is not None:
        call = torch.compile(call, backend=backend)

    def cell(gradient):
        op = wb.op(f"again::{name}(Tensor x) -> Tensor", SOURCE, kernel="f", shape="x[n] -> y[n]")
        if gradient:
            op.register_autograd(lambda ctx, g: g * 2)

    cell(True)
    x = torch.ones(4, requires_grad=True)
    call(x).sum().backward()
    assert (x.grad == 2).all()
    cell(False)
    torch.testing.assert_close(call(torch.ones(4)), torch.full((4,), 2.0))
    with pytest.raises(Exception, match="has no gradient"):
        call(torch.ones(4, requires_grad=True)).sum().backward()
    cell(True)
    x = torch.ones(4, requires_grad=True)
    call(x).sum().backward()
    assert (x.grad == 2).all()


def test_threads_call_while_gradients_change():
    op = wb.op("again::threads(Tensor x) -> Tensor", SOURCE, kernel="f", shape="x[n] -> y[n]")
    op.register_autograd(lambda ctx, g: g * 2)
    wrong, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            try:
                x = torch.ones(8, requires_grad=True)
                torch.ops.again.threads(x).sum().backward()
                if x.grad is None or x.grad[0] not in (2, 3):
                    wrong.append(x.grad)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for i in range(200):
        op.register_autograd((lambda ctx, g: g * 3) if i % 2 else (lambda ctx, g: g * 2))
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_callables_may_not_write_tensors_nor_give_them_back():
    writes = wb.op("again::writes(Tensor x) -> Tensor", lambda x: x.__iadd__(1) * 2, shape=wb.empty_like)
    with pytest.raises(wb.ArgumentError, match="writes `x`"):
        writes(torch.ones(3))
    listed = wb.op("again::listed(Tensor[] xs) -> Tensor", lambda xs: xs[0].add_(1) * 2)
    with pytest.raises(wb.ArgumentError, match="writes `xs`"):
        listed([torch.ones(3), torch.ones(3)])
    back = wb.op("again::back(Tensor x) -> Tensor", lambda x: x[:2])
    x = torch.ones(3)
    back(x).zero_()
    assert (x == 1).all()
    counted = wb.op("again::counted(Tensor x) -> (Tensor, Tensor)", lambda x: x + 1)
    with pytest.raises(Exception, match="gave 1 result; its schema says 2"):
        counted(torch.ones(3))


def test_host_functions_give_no_argument_back():
    given = wb.op("again::given(Tensor x) -> Tensor", "at::Tensor given(at::Tensor x) { return x.contiguous(); }")
    x = torch.ones(3)
    given(x).zero_()
    assert (x == 1).all()


def test_a_backward_that_raises_names_the_operator():
    op = wb.op("again::raises(Tensor x) -> Tensor", SOURCE, kernel="f", shape="x[n] -> y[n]")
    op.register_autograd(lambda ctx, g: {}["oops"])
    with pytest.raises(KeyError, match="oops") as raised:
        op(torch.ones(3, requires_grad=True)).sum().backward()
    if hasattr(raised.value, "__notes__"):
        assert raised.value.__notes__ == ["in the backward of `again::raises`"]

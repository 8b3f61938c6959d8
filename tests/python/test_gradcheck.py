"""`gradcheck`: float64 by a twin made from the IR; right gradients pass, wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from test_op import GRAD, square_op

import workbench as wb


def test_a_right_gradient_passes_in_float64(rng):
    report = square_op().gradcheck(rng.standard_normal(20).astype(np.float32))
    assert report and report.precision == "float64"


def test_a_wrong_gradient_fails_and_raises(rng):
    x = rng.standard_normal(20).astype(np.float32)
    op = square_op()
    op.register_autograd(lambda ctx, grad: grad * np.asarray(ctx.x) * 2.01, setup_context=lambda ctx, i, o: setattr(ctx, "x", i[0]))
    with pytest.raises((RuntimeError, AssertionError), match="grad|Jacobian"):
        op.gradcheck(x)
    assert not op.gradcheck(x, raise_exception=False)


def test_a_gradient_in_numpy_works_too(rng):
    op = wb.op("test::cube(Tensor x) -> Tensor", GRAD.replace("x[i] * x[i];", "x[i] * x[i] * x[i];", 1), kernel="square", shape="x[n] -> y[n]")

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    assert op.gradcheck(rng.standard_normal(10).astype(np.float32))


def test_without_a_gradient_it_says_how_to_register_one(muladd):
    a = np.ones(3, np.float32)
    with pytest.raises((RuntimeError, wb.ArgumentError), match="register_autograd"):
        muladd.gradcheck(a, a, 1.0)


def test_scalars_have_no_gradient(muladd, rng):
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    muladd.register_autograd(backward, setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0], i[1]))
    a, b = (rng.standard_normal(5).astype(np.float32) for _ in range(2))
    assert muladd.gradcheck(a, b, 2.0)


def test_the_report_says_where_it_is_wrong(rng):
    op = square_op()
    op.register_autograd(lambda ctx, grad: grad * 0)
    report = op.gradcheck(rng.standard_normal(4).astype(np.float32), raise_exception=False)
    assert not report and "d `y`[" in str(report) and "/ d `x`[" in str(report)


BACKWARD = """__global__ void backward_of_square(const float* x, const float* g, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = (i == 5 ? 3 : 2) * x[i] * g[i];
}"""


def test_a_wrong_element_names_the_thread_that_wrote_it():
    op = square_op()
    backward = wb.op("test::backward_of_square(Tensor x, Tensor g) -> Tensor", BACKWARD, shape="x[n], g[n] -> dx[n]", block=4)
    op.register_autograd(lambda ctx, grad: backward(ctx.saved_tensors[0], grad), setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    x = np.arange(1, 8, dtype=np.float32)
    report = op.gradcheck(x, raise_exception=False)
    # Element 5 is of the second block of four, and its second thread.
    (wrong,) = report.mismatches
    assert (wrong["argument_index"], wrong["kernel"], wrong["block"], wrong["thread"]) == ((5,), "backward_of_square", (1, 0, 0), (1, 0, 0))
    assert "written by block (1, 0, 0) thread (1, 0, 0) of `backward_of_square`" in " ".join(str(report).split())
    assert "gradient written by" in report._repr_mimebundle_()["text/html"]
    # Calls afterwards record nothing, and arguments are as they were.
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert backward(x, x).tolist() == [2, 8, 18, 32, 50, 108, 98]

    # A gradient that NumPy makes is written by no thread.
    op.register_autograd(lambda ctx, grad: 1 + backward(ctx.saved_tensors[0], grad), setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    report = op.gradcheck(x, raise_exception=False)
    assert all(wrong["kernel"] is None and wrong["block"] is None for wrong in report.mismatches)
    assert "written by" not in report._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("text", ["if (i < n && x[i] > 0) dx[i] = 2 * x[i] * g[i];", "if (i < n / 2) dx[i] = 2 * x[i] * g[i];", ""])
def test_elements_of_a_gradient_that_nobody_writes_are_no_agreement(text):
    op = square_op()
    source = f"__global__ void some(const float* x, const float* g, float* dx, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text} }}"
    backward = wb.op("test::some(Tensor x, Tensor g) -> Tensor", source, shape="x[n], g[n] -> dx[n]", block=4)

    def wrong(ctx, grad):
        # Memory of the right gradient, which is free when the result is allocated.
        right = 2 * ctx.saved_tensors[0] * grad
        del right
        return backward(ctx.saved_tensors[0], grad)

    op.register_autograd(wrong, setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    x = np.array([1, 2, -3, 4, 5, -6, -7], np.float32)
    for size in (7, 3):
        report = op.gradcheck(-abs(x[:size]), raise_exception=False) if "> 0" in text else op.gradcheck(x[:size], raise_exception=False)
        assert not report and all(wrong["unwritten"] and wrong["block"] is None for wrong in report.mismatches)
        assert "written by nobody: it still holds the poison" in " ".join(str(report).split())
        assert "nobody: it still holds the poison" in report._repr_mimebundle_()["text/html"]

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

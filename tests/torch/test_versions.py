"""Versions of operators, called with torch's tensors: they run what they are, and not what the name means."""

from __future__ import annotations

import pytest
import torch

import workbench as wb

SCALE = "__global__ void scale(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"


@pytest.fixture
def op(request):
    """An operator whose version 1 doubles and whose version 2 triples."""
    for factor in (2, 3):
        made = wb.op(
            f"versions::{request.node.name}(Tensor x) -> Tensor", SCALE.replace("2 *", f"{factor} *"), shape="x[n] -> y[n]"
        )
        made.register_autograd(lambda ctx, grad, factor=factor: factor * grad)
    return made


def test_a_version_runs_its_own_text(op):
    x = torch.ones(4)
    assert op(x).tolist() == [3] * 4 and op.version(1)(x).tolist() == [2] * 4
    assert isinstance(op.version(1)(x), torch.Tensor)


def test_two_versions_differ_on_tensors_which_stay(op):
    x = torch.ones(4)
    assert not op.history.compare(1, 2, x, seconds_per_size=0.001).check.passed
    assert x.tolist() == [1] * 4
    rows = op.bench(x, against="previous", seconds_per_size=0.001).rows
    assert {row["name"] for row in rows} == {op.__name__, "version 1"}


def test_a_version_says_that_torch_records_no_gradient(op):
    x = torch.ones(4, requires_grad=True)
    op(x).sum().backward()
    assert x.grad.tolist() == [3] * 4
    with pytest.warns(UserWarning, match="records no gradient"):
        assert not op.version(1)(x).requires_grad
    assert op.version(1).vjp(torch.ones(4))[1](torch.ones(4))[0].tolist() == [2] * 4

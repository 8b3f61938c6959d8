"""Gradients of operations on tensors in host code beside torch's own."""

import pytest
import torch
import torch.nn.functional as F

import workbench as wb


def numbers(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


X, Y, ZEROS = numbers(2, 3), numbers(2, 3, seed=1), torch.tensor([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0]], dtype=torch.float64)
IMAGE, WEIGHT = numbers(2, 4, 6, 5), numbers(6, 2, 3, 3, seed=1)
LINE, TAPS = numbers(2, 4, 7), numbers(3, 4, 2, seed=1)
CUBE, KERNEL = numbers(1, 2, 4, 4, 4), numbers(3, 2, 2, 2, 2, seed=1)

ROWS = {
    "torch::conv2d(x, y, {}, {2, 1}, {1, 2}, {1, 2}, 2)": (lambda x, y: F.conv2d(x, y, None, (2, 1), (1, 2), (1, 2), 2), IMAGE, WEIGHT),
    "torch::conv2d(x.select(0, 0), y, y.sum({1, 2, 3}), 1, 0, 1, 2)": (
        lambda x, y: F.conv2d(x[0], y, y.sum((1, 2, 3)), 1, 0, 1, 2), IMAGE, WEIGHT,
    ),
    "torch::conv1d(x, y, y.sum({1, 2}), 2, 1, 2)": (lambda x, y: F.conv1d(x, y, y.sum((1, 2)), 2, 1, 2), LINE, TAPS),
    "torch::conv3d(x, y, {}, 2, 1)": (lambda x, y: F.conv3d(x, y, None, 2, 1), CUBE, KERNEL),
    "torch::conv_transpose2d(x, y.slice(0, 0, 4), {}, 2, 1, 1)": (
        lambda x, y: F.conv_transpose2d(x, y[:4], None, 2, 1, 1), IMAGE, WEIGHT,
    ),
    'torch::einsum("iji,k->kj", {x.reshape({1, 6, 1}), y.select(0, 0)})': (
        lambda x, y: torch.einsum("iji,k->kj", x.reshape(1, 6, 1), y[0]), X, Y,
    ),
    'torch::einsum("ij,kj", {x, y})': (lambda x, y: torch.einsum("ij,kj", x, y), X, Y),
    "x.cumprod(1)": (lambda x, y: x.cumprod(1), ZEROS, Y),
    "x.prod(1, true)": (lambda x, y: x.prod(1, True), ZEROS, Y),
    "torch::lgamma(x)": (lambda x, y: torch.lgamma(x), X, Y),
    "x.clamp(y, y + 1)": (lambda x, y: x.clamp(y, y + 1), ZEROS, ZEROS),
    "x.norm(0.5, {1})": (lambda x, y: x.norm(0.5, [1]), X, Y),
    "x.permute({1, 0}).diagonal(-1) * y.diagonal()": (lambda x, y: x.permute(1, 0).diagonal(-1) * y.diagonal(), X, Y),
    'x.scatter_reduce(1, torch::zeros({2, 3}, torch::kLong), y, "amin", false)': (
        lambda x, y: x.scatter_reduce(1, torch.zeros(2, 3, dtype=torch.long), y, "amin", include_self=False), X, Y,
    ),
    "x.detach()": (lambda x, y: x.detach(), X, Y),
    "x.detach().t()": (lambda x, y: x.detach().t(), X, Y),
}


@pytest.mark.parametrize("text", ROWS)
def test_gradients_beside_those_of_torch(text):
    function, *given = ROWS[text]
    module = wb.load_inline("wb_beside", f"at::Tensor f(at::Tensor x, at::Tensor y) {{ return {text}; }}", functions=["f"])
    leaves = [tensor.clone().requires_grad_() for tensor in given]
    made, expected = module.f(*leaves), function(*leaves)
    torch.testing.assert_close(made.detach(), expected.detach())
    assert made.requires_grad == expected.requires_grad
    if expected.requires_grad:
        seed = numbers(*expected.shape, seed=2)
        ours, theirs = (torch.autograd.grad(y, leaves, seed, allow_unused=True) for y in (made, expected))
        for leaf, one, other in zip(leaves, ours, theirs):
            zeros = torch.zeros_like(leaf)
            torch.testing.assert_close(zeros if one is None else one, zeros if other is None else other)

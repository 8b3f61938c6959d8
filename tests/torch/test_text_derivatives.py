"""Gradients of composites of operations that a text writes in C++: each beside torch's own of the same expression in Python."""

import pytest
import torch

import workbench as wb

# The tensors are x and y (3, 4) and w (4, 5) of float64, i of indices, m of truth values. The Python form stands beside where it differs.
UNARY = (
    "exp exp2 expm1 sin cos tan sinh cosh tanh sigmoid erf erfc atan asinh abs neg relu square floor ceil round trunc frac sign "
    "deg2rad rad2deg"
).split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal".split()
INSIDE = "asin acos atanh".split()
EXPRESSIONS = {
    **{name: f"torch::{name}(x)" for name in UNARY},
    **{name: f"torch::{name}(x * x + 0.5)" for name in POSITIVE},
    **{name: f"torch::{name}(torch::tanh(x) * 0.9)" for name in INSIDE},
    "acosh": "torch::acosh(x * x + 1.5)",
    "relu6": ("torch::relu6(x * 8)", lambda t: torch.nn.functional.relu6(t.x * 8)),
    "silu": ("torch::silu(x)", lambda t: torch.nn.functional.silu(t.x)),
    "mish": ("torch::mish(x)", lambda t: torch.nn.functional.mish(t.x)),
    "selu": "torch::selu(x)",
    "hardswish": ("torch::hardswish(x * 4)", lambda t: torch.nn.functional.hardswish(t.x * 4)),
    "hardsigmoid": ("torch::hardsigmoid(x * 4)", lambda t: torch.nn.functional.hardsigmoid(t.x * 4)),
    "log_sigmoid": ("torch::log_sigmoid(x)", lambda t: torch.nn.functional.logsigmoid(t.x)),
    "leaky_relu": ("torch::leaky_relu(x, 0.2)", lambda t: torch.nn.functional.leaky_relu(t.x, 0.2)),
    "elu": ("torch::elu(x, 0.7)", lambda t: torch.nn.functional.elu(t.x, 0.7)),
    "gelu": ("torch::gelu(x)", lambda t: torch.nn.functional.gelu(t.x)),
    "gelu_tanh": ('torch::gelu(x, "tanh")', lambda t: torch.nn.functional.gelu(t.x, approximate="tanh")),
    "softplus": ("torch::softplus(x * 3, 2.0, 4.0)", lambda t: torch.nn.functional.softplus(t.x * 3, 2.0, 4.0)),
    "hardtanh": ("torch::hardtanh(x, -0.5, 0.7)", lambda t: torch.nn.functional.hardtanh(t.x, -0.5, 0.7)),
    "threshold": ("torch::threshold(x, 0.1, 7.0)", lambda t: torch.nn.functional.threshold(t.x, 0.1, 7.0)),
    "add": "x + y",
    "add_alpha": ("x.add(y, 3)", lambda t: t.x.add(t.y, alpha=3)),
    "sub_alpha": ("x.sub(y, 3)", lambda t: t.x.sub(t.y, alpha=3)),
    "numbers": "(2 - x) * 3 + x / 4 - 1",
    "number_over": "1.5 / (x * x + 1)",
    "broadcast": "x * y.select(0, 1) + y.narrow(1, 2, 1)",
    "mul": "x * y",
    "mul_itself": "x * x",
    "div": "x / (y * y + 1)",
    "div_floor": ('x.div(y, "floor") + x', lambda t: t.x.div(t.y, rounding_mode="floor") + t.x),
    "pow": "(x * x + 1).pow(y)",
    "pow_number": "x.pow(3) + x.pow(2) + (x * x + 1).pow(-0.5) + x.pow(0)",
    "maximum": "torch::maximum(x, y) * torch::minimum(x, y * 2)",
    "ties": "torch::maximum(x, x.floor()) + torch::minimum(x.relu(), x.relu() * 1)",
    "atan2": "torch::atan2(x, y)",
    "hypot": "torch::hypot(x, y)",
    "special_xlog1py": (
        "torch::special_xlog1py(x, y * y) + torch::special_xlog1py(y.relu(), 2.5)",
        lambda t: torch.special.xlog1py(t.x, t.y * t.y) + torch.special.xlog1py(t.y.relu(), 2.5),
    ),
    "remainder": "x.remainder(y * y + 0.5) + x.fmod(y * y + 0.5)",
    "lerp": "x.lerp(y, 0.3) + x.lerp(y, x * y)",
    "addcmul": ("x.addcmul(x, y, 2).addcdiv(y, x * x + 1, 3)", lambda t: t.x.addcmul(t.x, t.y, value=2).addcdiv(t.y, t.x * t.x + 1, value=3)),
    "where": "torch::where(x > y, x * 2, y * y)",
    "masked_fill": ("x.masked_fill(m, 2.0) * y.masked_fill(m.logical_not(), 1.0)", lambda t: t.x.masked_fill(t.m, 2.0) * t.y.masked_fill(~t.m, 1.0)),
    "clamp": "torch::clamp(x, -0.3, 0.6) + x.clamp_min(0.1) * y.clamp_max(0.4)",
    "sum": "x.sum() + x.sum(0).exp().sum() + y.sum(1, true).mul(x).sum()",
    "mean": "x.mean() * y.mean(1).mean()",
    "var": "x.var() + y.std() + x.var(1, false).sum() + y.std(0, true).sum()",
    "norm": ("x.norm() + y.norm(1) + x.norm(3) + y.norm(2, {1}).sum()", lambda t: t.x.norm() + t.y.norm(1) + t.x.norm(3) + t.y.norm(2, [1]).sum()),
    "extremes": (
        "x.amax({0}).sum() + y.amin({1}).exp().sum() + x.max() * y.min() + std::get<0>(x.max(1)).pow(2).sum() + std::get<0>(y.min(0, true)).sum()",
        lambda t: t.x.amax([0]).sum() + t.y.amin([1]).exp().sum() + t.x.max() * t.y.min() + t.x.max(1)[0].pow(2).sum() + t.y.min(0, True)[0].sum(),
    ),
    "sorted": ("std::get<0>(x.sort(1)) * y + std::get<0>(y.topk(2, 0)).sum()", lambda t: t.x.sort(1)[0] * t.y + t.y.topk(2, 0)[0].sum()),
    "softmax": "torch::softmax(x, 1) * y + torch::log_softmax(y, 0)",
    "logsumexp": ("x.logsumexp({1}).sum() * y", lambda t: t.x.logsumexp([1]).sum() * t.y),
    "cumsum": "x.cumsum(1) * y.cumsum(0)",
    "layer_norm": (
        "torch::layer_norm(x, {4}, y.select(0, 0), y.select(0, 1), 1e-5)",
        lambda t: torch.nn.functional.layer_norm(t.x, [4], t.y[0], t.y[1], 1e-5),
    ),
    "mse_loss": ("torch::mse_loss(x, y) + torch::mse_loss(x, y, 2)", lambda t: (t.x - t.y).square().mean() + (t.x - t.y).square().sum()),
    "mm": "torch::mm(x, w)",
    "matmul": "torch::matmul(x.unsqueeze(0), w).sum(0) + torch::matmul(x.select(0, 1), w) + torch::matmul(x, w.select(1, 0)).sum() + torch::matmul(x.select(0, 0), y.select(0, 1))",
    "bmm": "torch::bmm(torch::stack({x, y}), torch::stack({w, w * 2}))" ,
    "batches": "torch::matmul(torch::stack({x, y}), w)",
    "addmm": ("torch::addmm(w.select(0, 0), x, w, 0.5, 2.0)", lambda t: torch.addmm(t.w[0], t.x, t.w, beta=0.5, alpha=2.0)),
    "vectors": "torch::outer(x.select(0, 0), y.select(1, 1)).sum() + torch::dot(x.select(0, 0), y.select(0, 2)) + torch::mv(x, w.select(1, 2)).sum()",
    "linear": (
        "torch::linear(torch::stack({x, y}), w.t(), w.select(0, 3))",
        lambda t: torch.nn.functional.linear(torch.stack([t.x, t.y]), t.w.t(), t.w[3]),
    ),
    "views": (
        "x.view({4, 3}).t() * x.reshape({-1}).view({3, 4}) + x.transpose(0, 1).contiguous().view({3, 4}) + x.permute({1, 0}).reshape({3, 4})",
        lambda t: t.x.view(4, 3).t() * t.x.reshape(-1).view(3, 4) + t.x.transpose(0, 1).contiguous().view(3, 4) + t.x.permute(1, 0).reshape(3, 4),
    ),
    "squeezed": ("x.unsqueeze(1).squeeze(1) * x.flatten().unflatten(0, {3, 4})", lambda t: t.x.unsqueeze(1).squeeze(1) * t.x.flatten().unflatten(0, [3, 4])),
    "parts": (
        "x.slice(1, 1, 4, 2).sum() * y.narrow(0, 1, 2).exp().sum() + x[1].sum() + x.select(1, -1).pow(2).sum()",
        lambda t: t.x[:, 1:4:2].sum() * t.y.narrow(0, 1, 2).exp().sum() + t.x[1].sum() + t.x.select(1, -1).pow(2).sum(),
    ),
    "joined": ("torch::cat({x, y * 2, x}, 1).pow(2).sum() + torch::stack({x, y}, 1).exp().sum()", lambda t: torch.cat([t.x, t.y * 2, t.x], 1).pow(2).sum() + torch.stack([t.x, t.y], 1).exp().sum()),
    "split": (
        "x.chunk(2, 1)[1] * y.split(2, 1)[0] + x.unbind(1)[2].sum() + y.split_with_sizes({1, 3}, 1)[1].exp().sum()",
        lambda t: t.x.chunk(2, 1)[1] * t.y.split(2, 1)[0] + t.x.unbind(1)[2].sum() + t.y.split_with_sizes([1, 3], 1)[1].exp().sum(),
    ),
    "expanded": ("x.sum(0, true).expand({3, 4}) * y + x.select(1, 0).unsqueeze(1).expand_as(y)", lambda t: t.x.sum(0, True).expand(3, 4) * t.y + t.x[:, :1].expand_as(t.y)),
    "repeated": ("x.repeat({2, 1}).pow(2).sum() + x.roll({1}, {1}).mul(y).sum() + x.flip({0, 1}).mul(y).sum()", lambda t: t.x.repeat(2, 1).pow(2).sum() + t.x.roll([1], [1]).mul(t.y).sum() + t.x.flip([0, 1]).mul(t.y).sum()),
    "padded": ("torch::constant_pad_nd(x, {1, 2, 0, 1}, 3.0).pow(2)", lambda t: torch.nn.functional.pad(t.x, [1, 2, 0, 1], value=3.0).pow(2)),
    "triangles": "x.tril() * 2 + y.triu(1)",
    "indexed": (
        "x.index_select(0, i).pow(2).sum() + x.index({i}).exp().sum() + x.gather(0, i.unsqueeze(1).expand({4, 4})).sin().sum() + x.index({m}).pow(2).sum()",
        lambda t: t.x.index_select(0, t.i).pow(2).sum() + t.x[t.i].exp().sum() + t.x.gather(0, t.i.unsqueeze(1).expand(4, 4)).sin().sum() + t.x[t.m].pow(2).sum(),
    ),
    "slices": (
        "x.index({torch::indexing::Slice(0, 2), 1}).pow(2).sum() + x.index({torch::indexing::Ellipsis, torch::indexing::Slice(1, torch::indexing::None)}).exp().sum()",
        lambda t: t.x[0:2, 1].pow(2).sum() + t.x[..., 1:].exp().sum(),
    ),
    "scattered": (
        "x.index_add(0, i, y.index_select(0, i) * 2).pow(2) + x.scatter_add(0, i.unsqueeze(1).expand({4, 4}), y.index_select(0, i)).exp()",
        lambda t: t.x.index_add(0, t.i, t.y.index_select(0, t.i) * 2).pow(2) + t.x.scatter_add(0, t.i.unsqueeze(1).expand(4, 4), t.y.index_select(0, t.i)).exp(),
    ),
    "put": (
        "x.put(torch::tensor({7, -1, 2}), y.select(1, 0)).pow(2) + x.put(i - 5, y.select(0, 1), true).exp()",
        lambda t: t.x.put(torch.tensor([7, -1, 2]), t.y[:, 0]).pow(2) + t.x.put(t.i - 5, t.y[1], accumulate=True).exp(),
    ),
    "embedding": ("torch::embedding(x, i).pow(2)", lambda t: torch.nn.functional.embedding(t.i, t.x).pow(2)),
    "clone": "x.clone() * y.contiguous()",
    "to": ("x.to(torch::kFloat).to(torch::kDouble) * y", lambda t: t.x.float().double() * t.y),
    "detached": "x.detach() * x + y",
    "in_place": ("[&] { auto z = x * 1; z.mul_(y).add_(x, 2); z += y; z.clamp_(-1, 1); return z.exp_(); }()", lambda t: (t.x * t.y + 2 * t.x + t.y).clamp(-1, 1).exp()),
    "into_zeros": ("[&] { auto z = torch::zeros_like(x); z.copy_(y); z.sub_(x); return z * z; }()", lambda t: (t.y - t.x) ** 2),
    "index_put": (
        "[&] { auto z = x * 1; z.index_put_({i}, y.index_select(0, i), true); z.index_put_({m}, 0.5); return z * z; }()",
        lambda t: (t.x * 1).index_put((t.i,), t.y.index_select(0, t.i), accumulate=True).masked_fill(t.m, 0.5) ** 2,
    ),
}


class T:
    """Arguments by name."""

    def __init__(self, x, y, w, i, m):
        self.x, self.y, self.w, self.i, self.m = x, y, w, i, m


def in_python(name):
    given = EXPRESSIONS[name]
    if not isinstance(given, str):
        return given[1]
    text = given.replace("torch::", "torch.").replace("true", "True").replace("false", "False").replace("{", "[").replace("}", "]")
    return lambda t: eval(text, {"torch": torch}, vars(t))


def inputs():
    torch.manual_seed(3)
    x, y = (torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    w = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    return T(x, y, w, torch.tensor([2, 0, 0, 1]), torch.randn(3, 4) > 0)


@pytest.fixture(scope="module")
def module():
    functions = [
        f"at::Tensor f_{name}(at::Tensor x, at::Tensor y, at::Tensor w, at::Tensor i, at::Tensor m) {{ return {e if isinstance(e, str) else e[0]}; }}"
        for name, e in EXPRESSIONS.items()
    ]
    return wb.load_inline("wb_derivatives", "\n".join(functions), functions=[f"f_{name}" for name in EXPRESSIONS])


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_gradients_are_torchs(module, name):
    t = inputs()
    ours, theirs = getattr(module, f"f_{name}")(t.x, t.y, t.w, t.i, t.m), in_python(name)(t)
    torch.testing.assert_close(ours.detach(), theirs.detach())
    assert ours.requires_grad and ours.grad_fn is not None
    seed = torch.randn_like(theirs)
    wanted = torch.autograd.grad(theirs, (t.x, t.y, t.w), seed, allow_unused=True)
    got = torch.autograd.grad(ours, (t.x, t.y, t.w), seed, allow_unused=True)
    for leaf, one, other in zip((t.x, t.y, t.w), got, wanted):
        one, other = (torch.zeros_like(leaf) if gradient is None else gradient for gradient in (one, other))
        torch.testing.assert_close(one, other)

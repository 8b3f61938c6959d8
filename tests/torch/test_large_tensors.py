"""Operations on tensors large enough for kernels of our own: what torch gives, for layouts, types and special values of all kinds."""

import math

import pytest
import torch
import torch.nn.functional as F
import workbench as wb

#: Operations whose elements are the nearest numbers to the exact results: the same bits as torch's. Of `a`, `b` and `c`.
EXACT = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a / b,
    "a * 2.7": lambda a, b: a * 2.7,
    "a / 3": lambda a, b: a / 3,
    "1.5 - a": lambda a, b: 1.5 - a,
    "2 / b": lambda a, b: 2 / b,
    "-a": lambda a, b: -a,
    "a.abs()": lambda a, b: a.abs(),
    "a.relu()": lambda a, b: a.relu(),
    "a.square()": lambda a, b: a.square(),
    "a.pow(2)": lambda a, b: a.pow(2),
    "a.reciprocal()": lambda a, b: a.reciprocal(),
    "a.floor() + b.ceil()": lambda a, b: a.floor() + b.ceil(),
    "a.round() - b.trunc()": lambda a, b: a.round() - b.trunc(),
    "a.sign()": lambda a, b: a.sign(),
    "torch::maximum(a, b)": lambda a, b: torch.maximum(a, b),
    "torch::minimum(a, b)": lambda a, b: torch.minimum(a, b),
    "a.clamp(-0.5, 0.75)": lambda a, b: a.clamp(-0.5, 0.75),
    "a.clamp(0.75, -0.5)": lambda a, b: a.clamp(0.75, -0.5),
    "a.clamp_min(0.25)": lambda a, b: a.clamp_min(0.25),
    "a < b": lambda a, b: a < b,
    "a >= 0": lambda a, b: a >= 0,
    "a == b": lambda a, b: a == b,
    "a != b": lambda a, b: a != b,
    "torch::where(a > b, a, b)": lambda a, b: torch.where(a > b, a, b),
    "torch::where(a > 0, a, 0.5)": lambda a, b: torch.where(a > 0, a, 0.5),
    "a.amax(-1)": lambda a, b: a.amax(-1),
    "a.amin(0)": lambda a, b: a.amin(0),
    "a.amax()": lambda a, b: a.amax(),
    "a.argmax(-1)": lambda a, b: a.argmax(-1),
    "a.argmin(-1, true)": lambda a, b: a.argmin(-1, True),
    "std::get<0>(a.max(-1))": lambda a, b: a.max(-1)[0],
    "std::get<1>(a.min(-1))": lambda a, b: a.min(-1)[1],
    "a.contiguous()": lambda a, b: a.contiguous(),
    "a.transpose(0, -1).contiguous()": lambda a, b: a.transpose(0, -1).contiguous(),
    "a.transpose(-2, -1).contiguous()": lambda a, b: a.transpose(-2, -1).contiguous(),
    "torch::cat({a, b.expand_as(a)}, 0)": lambda a, b: torch.cat((a, b.expand_as(a)), 0),
    "torch::cat({a, b.expand_as(a)}, -1)": lambda a, b: torch.cat((a, b.expand_as(a)), -1),
    "torch::stack({a, b.expand_as(a)}, 1)": lambda a, b: torch.stack((a, b.expand_as(a)), 1),
    "a.clone().add_(b)": lambda a, b: a.clone().add_(b),
    "a.clone().copy_(b)": lambda a, b: a.clone().copy_(b),
    "a.to(torch::kDouble)": lambda a, b: a.double(),
    "a.to(torch::kFloat)": lambda a, b: a.float(),
    "a.flip({0})": lambda a, b: a.flip(0),
}  # fmt: skip

#: Operations whose elements are within a few steps of a float, relative to themselves or to 1.
NEAR = {
    "a.exp()": lambda a, b: a.exp(),
    # Not the nearest numbers in torch; see findings.
    "a.abs().sqrt()": lambda a, b: a.abs().sqrt(),
    "a.tanh()": lambda a, b: a.tanh(),
    "a.sigmoid()": lambda a, b: a.sigmoid(),
    "a.abs().log()": lambda a, b: a.abs().log(),
    "a.abs().log1p()": lambda a, b: a.abs().log1p(),
    "a.sin() + a.cos()": lambda a, b: a.sin() + a.cos(),
    "a.erf()": lambda a, b: a.erf(),
    "a.abs().rsqrt()": lambda a, b: a.abs().rsqrt(),
    "a.abs().pow(b)": lambda a, b: a.abs().pow(b),
    "a.abs().pow(0.5)": lambda a, b: a.abs().pow(0.5),
    "torch::gelu(a)": lambda a, b: F.gelu(a),
    'torch::gelu(a, "tanh")': lambda a, b: F.gelu(a, approximate="tanh"),
    "torch::silu(a)": lambda a, b: F.silu(a),
    "a.softmax(-1)": lambda a, b: a.softmax(-1),
    "a.log_softmax(-1)": lambda a, b: a.log_softmax(-1),
    "a.softmax(0)": lambda a, b: a.softmax(0),
    "a.sum()": lambda a, b: a.sum(),
    "a.sum(-1)": lambda a, b: a.sum(-1),
    "a.sum(0, true)": lambda a, b: a.sum(0, True),
    "a.mean()": lambda a, b: a.mean(),
    "a.mean(-1, true)": lambda a, b: a.mean(-1, True),
    "a.mean(0)": lambda a, b: a.mean(0),
    "torch::layer_norm(a, {a.size(-1)})": lambda a, b: F.layer_norm(a, (a.shape[-1],)),
    "torch::layer_norm(a, {a.size(-1)}, a.reshape({-1, a.size(-1)}).select(0, 0), a.reshape({-1, a.size(-1)}).select(0, 1))": (
        lambda a, b: F.layer_norm(a, (a.shape[-1],), *a.reshape(-1, a.shape[-1])[:2])
    ),
    "a.cumsum(-1)": lambda a, b: a.cumsum(-1),
}

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def functions():
    names = {text: f"f{i}" for i, text in enumerate(EXACT | NEAR)}
    lines = [f"at::Tensor {name}(at::Tensor a, at::Tensor b) {{ return {text}; }}" for text, name in names.items()]
    module = wb.load_inline("large", "#include <torch/extension.h>\n" + "\n".join(lines), functions=list(names.values()))
    return {text: getattr(module, name) for text, name in names.items()}


def operands(dtype):
    """Pairs of operands of each kind of layout, the first one of 5,000 to 40,000 elements; odd extents."""
    torch.manual_seed(1)
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64).mul(2).to(dtype)  # noqa: E731
    a = make(131, 67)
    yield "rows", a, make(131, 67)
    yield "a row", a, make(67)
    yield "a column", a, make(131, 1)
    yield "no dimensions", a, make(1)[0]
    yield "transposed", make(67, 131).t(), make(131, 67)
    yield "both transposed", make(67, 131).t(), make(67, 131).t()
    yield "every second row", make(262, 67)[::2], make(131, 134)[:, ::2]
    yield "an offset", make(132, 68)[1:, 1:], a
    yield "three", make(7, 65, 33), make(65, 1)
    yield "permuted", make(33, 7, 65).permute(1, 2, 0), make(7, 65, 33)
    yield "four", make(3, 5, 37, 33).permute(0, 2, 3, 1), make(5)
    yield "images", make(2, 5, 37, 33), make(5, 1, 1)
    special = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, 3.0], dtype=dtype)
    yield "special", special.repeat(1000).reshape(9, 1000), special.repeat_interleave(1000).reshape(9, 1000)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("text", EXACT)
def test_the_same_bits(functions, text, dtype):
    for name, a, b in operands(dtype):
        got, wanted = functions[text](a, b), EXACT[text](a, b)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape, name
        assert torch.equal(torch.isnan(got), torch.isnan(wanted)), name
        numbers = ~torch.isnan(wanted)
        assert torch.equal(got[numbers], wanted[numbers]), name
        # Strides follow an operand where they do in torch.
        if text in ("a + b", "a * 2.7", "-a"):
            assert got.stride() == wanted.stride(), name


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("text", NEAR)
def test_near(functions, text, dtype):
    # A function and what torch has for it are each within a few steps of the exact result, sums within the square root of their length.
    step = {torch.float64: 2e-13, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    for name, a, b in operands(dtype):
        got, wanted = functions[text](a, b), NEAR[text](a, b)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape, name
        # torch's `gelu` of infinity is NaN (see findings), and its rows with infinities in them depend on its vectors.
        if name == "special" and any(word in text for word in ("softmax", "layer_norm", "gelu")):
            continue
        torch.testing.assert_close(got, wanted, rtol=step, atol=step * float(wanted.double().nan_to_num(0, 0, 0).abs().max()), equal_nan=True, msg=lambda m: f"{name}: {m}")


def test_picked():
    text = """
    #include <torch/extension.h>
    at::Tensor rows(at::Tensor a, at::Tensor i) { return a.index_select(0, i); }
    at::Tensor middle(at::Tensor a, at::Tensor i) { return a.index_select(1, i); }
    at::Tensor last(at::Tensor a, at::Tensor i) { return a.gather(-1, i); }
    """
    module = wb.load_inline("picked", text, functions=["rows", "middle", "last"])
    a = torch.randn(211, 53)
    i = torch.randint(0, 211, (307,))
    for index in (i, i.int()):
        assert torch.equal(module.rows(a, index), a.index_select(0, index))
    b = torch.randn(5, 97, 31)
    j = torch.randint(0, 97, (101,))
    assert torch.equal(module.middle(b, j), b.index_select(1, j))
    k = torch.randint(0, 31, (5, 97, 77))
    assert torch.equal(module.last(b, k), b.gather(-1, k))
    for outside in (-1, 211):
        wrong = i.clone()
        wrong[300] = outside
        with pytest.raises(IndexError, match="out of range"):
            module.rows(a, wrong)
    for outside in (-1, 31):
        wrong = k.clone()
        wrong[4, 96, 76] = outside
        with pytest.raises(RuntimeError, match=f"index {outside} is out of bounds for dimension 2 with size 31"):
            module.last(b, wrong)
    # The next call works.
    assert torch.equal(module.last(b, k), b.gather(-1, k))


def test_elements_of_the_same_memory():
    text = """
    #include <torch/extension.h>
    at::Tensor turned(at::Tensor a) { a.copy_(a.t()); return a; }
    at::Tensor moved(at::Tensor a) { a.slice(0, 1, 100).copy_(a.slice(0, 0, 99)); return a; }
    at::Tensor doubled(at::Tensor a) { a.add_(a.t()); return a; }
    """
    module = wb.load_inline("same_memory", text, functions=["turned", "moved", "doubled"])
    a = torch.randn(100, 100)
    assert torch.equal(module.turned(a.clone()), a.t())
    assert torch.equal(module.moved(a.clone()), torch.cat((a[:1], a[:99])))
    assert torch.equal(module.doubled(a.clone()), a + a.t())


def test_sums_are_as_exact_as_sums_of_doubles():
    module = wb.load_inline("sums", "#include <torch/extension.h>\nat::Tensor f(at::Tensor a) { return a.sum(); }", functions=["f"])
    # Sums of floats of one sign: an error of a float's half step and that of the doubles, far below it.
    for count in (4096, 16384, 16385, 1_000_003):
        a = torch.rand(count)
        exact = math.fsum(a.tolist())
        assert abs(float(module.f(a)) - exact) <= exact * 2**-23

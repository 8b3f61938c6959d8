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
    "a.tril(1)": lambda a, b: a.tril(1),
    "a.triu(-20)": lambda a, b: a.triu(-20),
    "a.tril(-1000)": lambda a, b: a.tril(-1000),
    "a.roll({3, -5}, {0, 1})": lambda a, b: a.roll((3, -5), (0, 1)),
    "a.roll({1007})": lambda a, b: a.roll(1007),
    "a.argmax(0)": lambda a, b: a.argmax(0),
    "a.argmin(1)": lambda a, b: a.argmin(1),
    "std::get<1>(a.max(0))": lambda a, b: a.max(0)[1],
    "std::get<0>(a.sort(-1))": lambda a, b: a.sort(-1)[0],
    "std::get<0>(a.sort(0, true))": lambda a, b: a.sort(0, True)[0],
    "std::get<1>(a.sort(1))": lambda a, b: a.sort(dim=1, stable=True)[1],
    "a.argsort(-1, true)": lambda a, b: torch.argsort(a, dim=-1, descending=True, stable=True),
    "std::get<0>(a.topk(5, -1))": lambda a, b: a.topk(5, -1)[0],
    "std::get<0>(a.topk(2, 0, false))": lambda a, b: a.topk(2, 0, False)[0],
    "torch::leaky_relu(a, 0.25)": lambda a, b: F.leaky_relu(a, 0.25),
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
    "a.cumsum(0)": lambda a, b: a.cumsum(0),
    "a.softmax(1)": lambda a, b: a.softmax(1),
    "a.log_softmax(0)": lambda a, b: a.log_softmax(0),
    "a.norm()": lambda a, b: a.norm(),
    "a.norm(2, -1)": lambda a, b: a.norm(2, -1),
    "a.norm(2, {0}, true)": lambda a, b: a.norm(2, 0, True),
    "a.var()": lambda a, b: a.var(),
    "a.var(0)": lambda a, b: a.var(0),
    "a.var(-1)": lambda a, b: a.var(-1),
    "a.var({-1}, false, true)": lambda a, b: a.var(-1, unbiased=False, keepdim=True),
    "a.std()": lambda a, b: a.std(),
    "a.std(0)": lambda a, b: a.std(0),
    "a.std({-1}, false)": lambda a, b: a.std(-1, unbiased=False),
    "(a + 10).std(-1)": lambda a, b: (a + 10).std(-1),
    "torch::elu(a)": lambda a, b: F.elu(a),
    "torch::elu(a, 0.5)": lambda a, b: F.elu(a, 0.5),
    "torch::softplus(a)": lambda a, b: F.softplus(a),
    "torch::softplus(a, 2, 3)": lambda a, b: F.softplus(a, 2, 3),
    "torch::selu(a)": lambda a, b: F.selu(a),
    "torch::mish(a)": lambda a, b: F.mish(a),
    "torch::hardswish(a)": lambda a, b: F.hardswish(a),
    "torch::hardsigmoid(a)": lambda a, b: F.hardsigmoid(a),
    "torch::log_sigmoid(a)": lambda a, b: F.logsigmoid(a),
    "torch::special_xlog1py(a, b.abs())": lambda a, b: torch.special.xlog1py(a, b.abs()),
    "torch::special_xlog1py(a, 0.7)": lambda a, b: torch.special.xlog1py(a, 0.7),
    "(a.clamp(-1, 1) * 0.9).erfinv()": lambda a, b: (a.clamp(-1, 1) * 0.9).erfinv(),
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64, torch.float16, torch.int8], ids=str)
def test_placed(dtype):
    text = """
    #include <torch/extension.h>
    at::Tensor add(at::Tensor a, int64_t d, at::Tensor i, at::Tensor s) { return a.scatter_add(d, i, s); }
    at::Tensor put(at::Tensor a, int64_t d, at::Tensor i, at::Tensor s) { return a.scatter(d, i, s); }
    """
    module = wb.load_inline("placed", text, functions=["add", "put"])
    torch.manual_seed(2)
    # Whole numbers, whose sums are exact in any order.
    whole = lambda *shape: torch.randint(-3, 4, shape).to(dtype)  # noqa: E731
    for shape, d, extent in (((6001,), 0, 50), ((40, 130), 1, 97), ((130, 40), 0, 9), ((5, 300, 7), 1, 300), ((70, 3, 50), 2, 2), ((3, 2000), 0, 5)):
        target = (*shape[:d], extent, *shape[d + 1 :])
        a, i, s = whole(*target), torch.randint(0, extent, shape), whole(*shape)
        for index, source, into in ((i, s, a), (i.mT.contiguous().mT, s.mT.contiguous().mT, a.mT.contiguous().mT) if len(shape) > 1 else (i, s, a)):
            assert torch.equal(module.add(into, d, index, source), into.scatter_add(d, index, source))
        # Each place once: which of several elements stays is not said.
        once = torch.argsort(torch.rand(target), d)
        picked = once if extent <= shape[d] else once.narrow(d, 0, shape[d])
        assert torch.equal(module.put(a, d, picked, s.narrow(d, 0, picked.shape[d])), a.scatter(d, picked, s.narrow(d, 0, picked.shape[d])))
    wrong = i.clone()
    wrong[2, 1999] = 5
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 5"):
        module.add(a, 0, wrong, s)


def test_long_rows_in_their_order():
    text = """
    #include <torch/extension.h>
    at::Tensor sorted(at::Tensor a) { return std::get<0>(a.sort(0)); }
    std::vector<at::Tensor> most(at::Tensor a, int64_t k) { auto [v, i] = a.topk(k, 0); return {v, i}; }
    """
    module = wb.load_inline("long_rows", text, functions=["sorted", "most"])
    torch.manual_seed(3)
    a = torch.randn(300_007).round(decimals=3)
    assert torch.equal(module.sorted(a), a.sort(0)[0])
    for k in (1, 100, 70_000, 300_007):
        values, places = module.most(a, k)
        assert torch.equal(values, a.topk(k)[0]) and torch.equal(a[places], values)
        assert len(set(places.tolist())) == k


EQUATIONS = ["ij,jk->ik", "ij,kj", "bij,bjk->bik", "bij,bkj->bik", "i,i->", "i,j->ij", "ij,ij->", "ij,j->i", "ij,k->k", "abc,cd,de->abe", "bhqd,bhkd->bhqk", "ij,jk,kl->", "ij,ij->ji", "a,ab,b->a"]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_sums_of_products(dtype):
    module = wb.load_inline("einsums", "#include <torch/extension.h>\nat::Tensor f(std::string e, std::vector<at::Tensor> t) { return torch::einsum(e, t); }", functions=["f"])
    extents = dict(zip("abcdehijklq", (2, 3, 5, 4, 3, 2, 7, 6, 5, 3, 4)))
    torch.manual_seed(4)
    for equation in EQUATIONS:
        inputs = equation.partition("->")[0].split(",")
        # Whole numbers so small that all sums are exact, in 16 bits as well.
        tensors = [torch.randint(-1, 2, [extents[label] for label in labels]).to(dtype) for labels in inputs]
        assert torch.equal(module.f(equation, tensors), torch.einsum(equation, tensors)), equation
        turned = [t.mT.contiguous().mT if t.dim() > 1 else t for t in tensors]
        assert torch.equal(module.f(equation, turned), torch.einsum(equation, tensors)), equation
    # Far more products than there is memory for, were they made.
    a, b = torch.randn(1500, 1500), torch.randn(1500, 1500)
    torch.testing.assert_close(module.f("ij,kj->ik", [a, b]), a @ b.T, rtol=1e-4, atol=1e-3)


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

"""The same text built by torch and by Workbench: same inputs, same outputs, same classes of errors.

    python conformance.py record FILE     with torch: builds the text with torch.utils.cpp_extension and writes what came out
    python conformance.py compare FILE    without: builds it with workbench and compares
"""

from __future__ import annotations

import itertools
import pickle
import sys

import numpy as np

T, V, P, N = "torch::Tensor", "std::vector<torch::Tensor>", "std::tuple<torch::Tensor, torch::Tensor>", "double"

# Expressions of one tensor `a`.
UNARY = {
    T: """
    abs neg exp log sqrt rsqrt sin cos tanh sigmoid relu floor ceil round trunc sign square reciprocal erf expm1 log1p log2 log10 isnan isfinite
    logical_not silu gelu leaky_relu elu softplus hardtanh hardsigmoid hardswish mish selu sum mean prod any all max min argmax argmin
    t contiguous clone nonzero flatten squeeze var std norm cumsum:0 cumsum:-1 cumprod:1 softmax:0 softmax:-1 log_softmax:1 logsumexp:0 sum:1 sum:-1,true
    mean:0 prod:1 amax:0 amin:-1,true any:0 all:1,true argmax:1 argmin:0,true argsort:int64_t(-1) argsort:0,true unsqueeze:0 unsqueeze:-1 squeeze:0
    tril triu tril:-1 triu:1 flip:{0} flip:{0,1} roll:1 roll:2,1 repeat:{2,1} repeat:{2,1,1} repeat_interleave:2 repeat_interleave:2,0 select:0,0 select:1,-1
    select:0,7 narrow:1,1,2 narrow:0,5,1 slice:1,0,3,2 slice:0,-2 transpose:0,1 transpose:0,3 permute:{1,0} permute:{0,0} reshape:{-1} reshape:{2,-1} view:{-1}
    view:{12} expand:{2,3,4} expand:{5,4} diag trace clamp:-0.5,0.5 clamp_min:0 clamp_max:1 unfold:1,2,1 count_nonzero diag:1 bitwise_not
    norm:1 norm:3 to:torch::kFloat16 to:torch::kInt32 to:torch::kBool to:torch::kFloat64 to:torch::kUInt8 masked_fill:a>0,2 masked_fill:a.to(torch::kBool),-1
    pow:2 pow:0.5 pow:-1 mul:2 mul:2.5 add:1 add:1,2 sub:0.5 div:2 div:0.5 remainder:3 remainder:-2 floor_divide:2 fmod:-2 eq:1 gt:0 le:0.5
    """.split(),
    V: "chunk:2 chunk:3,1 split:2 split:3,1 split:{1,2} unbind unbind:1 chunk:0 tensor_split:2,1 tensor_split:{1,2} tensor_split:5 hsplit:2 tensor_split:0".split(),
    P: """
    sort:1 sort:0,true topk:2 topk:1,0,false topk:9 max:0 min:1,true median:0 median:1,true nanmedian:0 kthvalue:2 kthvalue:1,0,true kthvalue:9 cummax:0 cummax:1
    cummin:-1
    """.split(),
}
UNARY_TEXT = {
    T: [
        "a + 1", "1 - a", "2.0 * a", "a / 3", "1 / a", "-a", "a + true", "a[0]", "a[-1][0]", "torch::zeros_like(a)", "torch::full_like(a, 2.5)",
        "torch::ones({2, 3}, a.options())", "torch::arange(5)", "torch::arange(0, 1, 0.25)", "torch::arange(5, 1, -2)", "torch::linspace(0, 1, 5)",
        "torch::eye(3)", "torch::full({2}, 7)", "torch::full({2}, 1.5)", "torch::tensor({1, 2, 3})", "torch::tensor({1.5, 2.5})",
        "torch::tensor({{1, 2}, {3, 4}})", "torch::tensor(3.5)", "torch::cat({a, a}, 0)", "torch::stack({a, a}, 1)", "torch::stack({a, a}, -1)",
        "torch::cat({a, a[0]}, 0)", "torch::where(a > 0, a, -a)", "torch::where(a > 0, a, torch::zeros({}, a.options()))", "a.index({0})",
        "a.index({torch::indexing::Slice(0, 2), 1})", "a.index({\"...\", torch::indexing::None, 0})", "a.index({torch::tensor({1, 0})})",
        "a.index({torch::tensor({1, 0}), torch::tensor({0, 2})})", "a.index({torch::indexing::Slice(), torch::tensor({0, 2, 2})})", "a.index({a > 0})",
        "a.index({torch::tensor({9})})", "a.gather(1, torch::tensor({{0, 1}, {2, 0}}))", "a.gather(0, torch::tensor({{5}}))",
        "torch::zeros_like(a).scatter_(1, torch::tensor({{0}, {1}}), a)", "torch::zeros_like(a).scatter_add_(0, torch::zeros({2, 2}, torch::kLong), a)",
        "a.index_select(1, torch::tensor({0, 0, 2}))", "torch::one_hot(torch::tensor({0, 2}), 4)", "torch::bincount(torch::tensor({0, 2, 2}))",
        "torch::constant_pad_nd(a, {1, 1}, 0)", "torch::constant_pad_nd(a, {1, 2, 0, 1}, 3)", "torch::einsum(\"ij->ji\", {a})", "torch::outer(a[0], a[0])",
        "a.clone().index_put_({0}, 5)", "a.clone().index_put_({torch::tensor({0, 0})}, a[0], true)", "a.clone().fill_(3)", "a.clone().add_(1)", "a.clone().mul_(2.5)",
        "a.clone().div_(2)", "a.clone().clamp_(0)", "a.to(torch::kFloat).mul(1.5).to(a.scalar_type())", "a.masked_select(a > 0)", "a.matmul(a.t())",
        "torch::mm(a, a.t())", "torch::mm(a, a)", "a.mv(a[0])", "a[0].dot(a[0])", "torch::bmm(a.unsqueeze(0), a.t().unsqueeze(0))",
        "torch::addmm(a.matmul(a.t()), a, a.t(), 0.5, 2)", "torch::linear(a, a)", "a.norm(2, 1)", "a.norm(2, 1, true)", "a.sum({0, 1})", "a.mean({0, 1}, true)",
        "a.var(0, false)", "a.std(1, true, true)", "torch::lerp(a, a * 2, 0.25)", "torch::addcmul(a, a, a, 2)", "a.type_as(torch::zeros({1}, torch::kDouble))",
        "torch::div(a, 2, \"floor\")", "torch::div(a, 2, \"trunc\")", "a.sum(torch::kFloat64)", "torch::layer_norm(a, {4})", "torch::cdist(a, a)",
        "torch::meshgrid({a[0], a[0]}, \"ij\")[1]", "a.new_zeros({2, 2})", "torch::embedding(a, torch::tensor({{0, 1}}))", "torch::mse_loss(a, a * 2)",
        "torch::conv2d(a.reshape({1, 1, 3, 4}), torch::ones({2, 1, 2, 2}, a.options()))",
        "torch::conv2d(a.reshape({1, 3, 2, 2}), torch::ones({3, 1, 1, 1}, a.options()), torch::ones({3}, a.options()), 2, 1, 1, 3)",
        "torch::conv1d(a, a.slice(1, 0, 2).reshape({1, 3, 2}), {}, 1, 1)", "torch::conv1d(a, torch::ones({1, 3, 7}, a.options()))",
        "a & 1", "a ^ a", "~(a > 0)", "(a > 0) | (a < -1)", "a.reshape({0, 5})", "a.view({5, 5})", "a.squeeze(5)", "a.sum(4)", "a.expand({3, 3})", "a.t().t()",
        "torch::median(a)", "a.nanmedian()", "torch::quantile(a, 0.3)", "torch::quantile(a, 0.75, 1, true)", "torch::quantile(a, torch::tensor({0.25, 1.0}, a.options()), 0)",
        "torch::quantile(a, 0.4, 0, false, \"nearest\")", "torch::quantile(a, 1.5)", "a.msort()", "torch::searchsorted(std::get<0>(a.sort(-1)), a)",
        "torch::searchsorted(std::get<0>(a[0].sort(-1)), a, true, true)", "torch::searchsorted(torch::tensor({-1, 0, 0, 1}), a, false, false, \"right\")",
        "torch::searchsorted(a, a[0].to(torch::kFloat64))", "torch::bucketize(a, torch::tensor({-1, 0, 1}))", "torch::bucketize(a, a)",
        "torch::isin(a, torch::tensor({0, 1, 2}, a.options()))", "torch::histc(a, 5, -2, 2)", "torch::histc(a, 4)", "a.nansum()", "a.nansum(0, true)", "torch::nan_to_num(a)",
        "torch::nan_to_num(a, 1.5, 2.0, -3.0)", "torch::logaddexp(a, a * 2)", "torch::logit(a, 0.1)", "torch::xlogy(a, a)", "torch::sinc(a)", "torch::sgn(a)", "torch::signbit(a)",
        "torch::copysign(a, -a)", "torch::copysign(a, -1.0)", "torch::heaviside(a, torch::full({}, 2, a.options()))", "torch::hardshrink(a)", "torch::softshrink(a)",
        "torch::isclose(a, a + 1)", "torch::isclose(a, a, 1e-5, 1e-8, true)", "torch::diff(a)", "a.diff(2, 0)", "torch::diff(a, 1, -1, a)", "torch::ger(a[0], a[0])", "torch::vdot(a[0], a[0])",
        "torch::addr(a.matmul(a.t()), a.t()[0], a.t()[1], 0.5, 2)", "torch::cross(a.slice(1, 0, 3), a.slice(1, 1, 4), 0)", "torch::cross(a, a * a)", "torch::dist(a, a * 2)",
        "torch::kron(a, a)", "torch::kron(a, torch::eye(2).to(a.scalar_type()))", "torch::tensordot(a, a, {0}, {0})", "torch::tensordot(a, a, {0, 1}, {0, 1})", "torch::tensordot(a, a, {0}, {1})",
        "torch::argwhere(a)", "torch::take_along_dim(a, a.argsort(int64_t(1)), 1)", "torch::take_along_dim(a, torch::tensor({3, 1}))", "torch::dstack({a, a})", "torch::column_stack({a, a[0]})",
        "torch::block_diag({a, a[0]})", "torch::rot90(a)", "torch::rot90(a, -1)", "torch::rot90(a, 2, {1, 0})", "torch::fliplr(a)", "torch::flipud(a)", "torch::diagonal(a)", "torch::diagonal(a, 1)",
        "torch::diagonal(a, -2)", "torch::diagonal(a, 9)", "torch::diagonal(a, 0, 1, 1)", "torch::diag_embed(a)", "torch::diag_embed(a, -1, 0, 2)", "torch::diag_embed(a, 1)",
        "torch::diagonal_scatter(a, a[0].slice(0, 0, 3))", "torch::select_scatter(a, a[0], 0, 1)", "torch::slice_scatter(a, a.slice(1, 0, 2), 1, 1, 3)",
        "a.put(torch::tensor({{5, -1}, {0, 1}}), a[0])", "a.put(torch::tensor({1, 1, -12}), a[0].slice(0, 0, 3), true)", "a.clone().put_(torch::tensor({2}), a[0][1])",
        "a.put(torch::tensor({12}), a[0][0])", "a.put(torch::tensor({1, 2}), a[0])", "a.put(torch::tensor({0}).to(torch::kInt), a[0][0])", "a.put(torch::tensor({0}), torch::tensor({1}))",
        "torch::masked_scatter(a, a > 0, a * 2)", "torch::masked_scatter(a, a > 0, a[0][0])", "torch::scatter_reduce(a, 0, torch::zeros({2, 4}, torch::kLong), a, \"sum\")",
        "torch::scatter_reduce(a, 0, torch::tensor({{0, 1, 0, 1}, {1, 1, 0, 2}}), a, \"prod\", false)", "torch::scatter_reduce(a, 1, torch::tensor({{0, 0}, {1, 1}}), a, \"amax\")",
        "torch::scatter_reduce(a, 1, torch::tensor({{0, 0}, {1, 1}}), a, \"mean\")", "torch::scatter_reduce(a, 1, torch::tensor({{0, 0}, {1, 1}}), a, \"amin\", false)",
        "torch::scatter_reduce(a, 1, torch::tensor({{0}}), a, \"least\")", "torch::tril_indices(3, 4)", "torch::triu_indices(3, 4, 1)", "torch::logspace(0, 2, 5)", "a.clone().fill_diagonal_(7)",
        "torch::_softmax_backward_data(a, a.softmax(1), 1, a.scalar_type())", "torch::_log_softmax_backward_data(a, a.log_softmax(1), 1, a.scalar_type())", "torch::threshold_backward(a, a, 0.5)",
        "torch::sigmoid_backward(a, a)", "torch::tanh_backward(a, a)", "torch::silu_backward(a, a)", "torch::gelu_backward(a, a)", "torch::gelu_backward(a, a, \"tanh\")",
        "torch::leaky_relu_backward(a, a, 0.1, false)", "torch::hardtanh_backward(a, a, -0.5, 0.5)", "torch::softplus_backward(a, a, 2, 20)", "torch::elu_backward(a, 1.5, 1, 1, false, a)",
        "a.index_put({torch::tensor({0, 0})}, a[0], true)", "torch::addbmm(torch::zeros({3, 3}, a.options()), a.unsqueeze(0), a.t().unsqueeze(0))",
        "a.unflatten(1, {2, 2})", "a.movedim(0, 1)", "a.as_strided({2, 2}, {1, 2})", "a.as_strided({9, 9}, {9, 9})",
    ],
    N: ["a.item<double>()", "a.sum().item<double>()", "a.numel()", "a.dim()", "a.size(-1)", "a.size(3)", "a.stride(0)", "a.element_size()",
        "a.is_contiguous()", "a.t().is_contiguous()", "a.is_floating_point()", "a.nbytes()", "a.storage_offset()", "a.equal(a)", "torch::allclose(a, a + 1)"],
}
# Expressions of two tensors, with promotion and broadcasting.
BINARY = ["a + b", "a - b", "a * b", "a / b", "a == b", "a < b", "torch::maximum(a, b)", "torch::minimum(a, b)", "a.pow(b)", "torch::atan2(a, b)", "a.remainder(b)",
          "a.floor_divide(b)", "torch::where(a > 0, a, b)", "torch::fmod(a, b)", "a.add(b, 2)", "torch::logical_and(a, b)", "a.bitwise_and(b)", "a.clone().add_(b)",
          "a.clone().copy_(b)", "a.clone().mul_(b)", "torch::cat({a, b})", "a.matmul(b)", "a.masked_fill(a > 0, b)"]

# Functions that are no members.
ACTIVATIONS = set("silu gelu leaky_relu elu softplus hardtanh hardsigmoid hardswish mish selu".split())


def expression(entry: str) -> str:
    name, _, args = entry.partition(":")
    return f"torch::{name}(a)" if name in ACTIVATIONS else f"a.{name}({args})"


def functions() -> list[tuple[str, str, int]]:
    """Result type, expression, number of tensors."""
    out = [(kind, expression(entry), 1) for kind, entries in UNARY.items() for entry in entries]
    out += [(kind, text, 1) for kind, texts in UNARY_TEXT.items() for text in texts]
    return out + [(T, text, 2) for text in BINARY]


def text() -> str:
    lines = ["#include <torch/extension.h>", "#include <tuple>", "#include <vector>"]
    for i, (kind, body, count) in enumerate(functions()):
        params = "torch::Tensor a" if count == 1 else "torch::Tensor a, torch::Tensor b"
        lines.append(f"{kind} f{i}({params}) {{ return {body}; }}")
    return "\n".join(lines)


def inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 4))
    return {
        "float32": x.astype(np.float32),
        "float64": x,
        "float16": x.astype(np.float16),
        "int64": rng.integers(-3, 4, (3, 4)),
        "int32": rng.integers(1, 5, (3, 4)).astype(np.int32),
        "uint8": rng.integers(0, 5, (3, 4)).astype(np.uint8),
        "bool": rng.integers(0, 2, (3, 4)).astype(bool),
        "transposed": np.ascontiguousarray(x.T.astype(np.float32)).T,
        "vector": x[0].astype(np.float32),
        "scalar": np.array(1.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
        "special": np.array([[np.nan, np.inf, -np.inf, -0.0], [0.0, 1e30, -1e-30, 2.5]], np.float32),
        "cube": rng.normal(size=(2, 3, 4)).astype(np.float32),
    }


PAIRS = ["float32", "float64", "float16", "int64", "int32", "uint8", "bool", "scalar", "empty", "vector"]


def outcomes(module, give, take) -> dict[tuple, tuple]:
    """(number, inputs) to ("ok", value) or ("error", class, message)."""
    out = {}
    arrays = inputs()
    for i, (_, _, count) in enumerate(functions()):
        names = [(n,) for n in arrays] if count == 1 else list(itertools.product(PAIRS, PAIRS))
        for name in names:
            try:
                out[i, name] = ("ok", take(getattr(module, f"f{i}")(*[give(arrays[n].copy(order="K")) for n in name])))
            except Exception as error:  # every class is part of the outcome
                kinds = [c.__name__ for c in type(error).__mro__]
                out[i, name] = ("error", kinds, str(error).strip().splitlines()[0])
    return out


def record(path: str) -> None:
    import torch
    from torch.utils.cpp_extension import load_inline

    module = load_inline("conformance", text(), functions=[f"f{i}" for i in range(len(functions()))], extra_cflags=["-O0"])

    def take(value):
        if isinstance(value, torch.Tensor):
            return value.contiguous().numpy()
        return [take(v) for v in value] if isinstance(value, (list, tuple)) else value

    with open(path, "wb") as file:
        pickle.dump(outcomes(module, torch.from_numpy, take), file)


# Known differences from torch, with the reason why they stay.
KNOWN = {
    ("a.norm(2, 1)", "special"): "sums of squares are doubles here and do not overflow",
    ("a.norm(2, 1, true)", "special"): "sums of squares are doubles here and do not overflow",
    ("torch::layer_norm(a, {4})", "special"): "variances are doubles here and do not overflow",
    ("torch::cdist(a, a)", "float16"): "torch has none for float16",
    ("torch::kron(a, torch::eye(2).to(a.scalar_type()))", "transposed"): "torch views what it cannot view",
    ("torch::take_along_dim(a, torch::tensor({3, 1}))", "transposed"): "torch views what it cannot view",
    ("torch::addr(a.matmul(a.t()), a.t()[0], a.t()[1], 0.5, 2)", "scalar"): "arguments are worked out in another order",
    ("a.repeat_interleave(2,0)", "scalar"): "torch counts dimensions of what it has made a vector",
}
# Expressions in which torch differs from itself: its vector path depends on the processor.
KNOWN_ON_SOME = {
    ("torch::gelu(a)", "special"): "on some processors torch gives NaN for infinity, whose gelu is infinity",
}


def differences(ours, theirs, function) -> str | None:
    if ours[0] != theirs[0]:
        return f"ours {ours[:1] + ours[-1:]}, torch's {theirs[:1] + theirs[-1:]}"
    if theirs[0] == "error":
        return None if theirs[1][0] in ours[1] else f"ours is a {ours[1][0]} ({ours[2]}), torch's a {theirs[1][0]} ({theirs[2]})"
    pairs = list(zip(ours[1], theirs[1])) if isinstance(theirs[1], list) else [(ours[1], theirs[1])]
    if isinstance(theirs[1], list) and len(ours[1]) != len(theirs[1]):
        return f"{len(ours[1])} results, torch has {len(theirs[1])}"
    if "topk" in function or "kthvalue" in function:
        # The order of equal elements is left open by torch.
        pairs = pairs[:1]
    for a, b in pairs:
        single = not isinstance(b, np.ndarray)
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"ours is {a.dtype}{list(a.shape)}, torch's {b.dtype}{list(b.shape)}"
        if a.dtype.kind != "f":
            if not np.array_equal(a, b):
                return f"ours {a.ravel()[:6]}, torch's {b.ravel()[:6]}"
            continue
        # torch computes in the type itself: a few roundings, and a sum of twelve terms.
        tolerance = 2e-6 if single else {2: 4e-3, 4: 2e-6, 8: 4e-15}[a.dtype.itemsize]
        if not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"ours {a.ravel()[:6]}, torch's {b.ravel()[:6]}"
    return None


def compare(path: str) -> int:
    import workbench as wb

    module = wb.load_inline("conformance", text(), functions=[f"f{i}" for i in range(len(functions()))])
    def take(value):
        return [take(v) for v in value] if isinstance(value, (list, tuple)) else value

    ours = outcomes(module, lambda x: x, take)
    with open(path, "rb") as file:
        theirs = pickle.load(file)
    assert ours.keys() == theirs.keys(), "recorded from another list of functions: record it again"
    wrong = known = 0
    for key, expected in theirs.items():
        function = functions()[key[0]][1]
        difference = differences(ours[key], expected, function)
        if difference and (function, *key[1]) in KNOWN_ON_SOME:
            known += 1
            continue
        if (function, *key[1]) in KNOWN:
            known += bool(difference)
            if not difference:
                wrong += 1
                print(f"{function}  with {', '.join(key[1])}: agrees now; strike it from KNOWN")
            continue
        if difference:
            wrong += 1
            print(f"{function}  with {', '.join(key[1])}: {difference}")
    agree = len(theirs) - wrong - known
    print(f"{agree} of {len(theirs)} outcomes agree, {known} are known to differ ({len(functions())} functions)")
    return wrong


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(sys.argv[2])
    else:
        sys.exit(min(compare(sys.argv[2]), 99))

"""Operations of one element each, bit for bit as torch's: every type, on values where decisions turn.

    python exact.py record FILE     with torch: builds the text with torch.utils.cpp_extension and writes what came out
    python exact.py compare FILE    without: builds it with workbench and compares

Arrays have seven elements: fewer than one step of torch's vector loops, which fuse products and sums on some processors and not on others.
"""

from __future__ import annotations

import collections
import pickle
import sys

import numpy as np

UNARY = """
abs neg sign floor ceil round trunc frac square sqrt rsqrt reciprocal relu isnan isinf isfinite logical_not bitwise_not deg2rad rad2deg
clone relu6 hardtanh hardshrink softshrink leaky_relu
""".split()
# Functions of many roundings: torch's vector library and ours are within this many units in the last place of the type.
ROUNDED = {"exp": 2, "log": 2, "sin": 2, "cos": 2, "tanh": 2, "sigmoid": 3, "erf": 2, "expm1": 2, "log1p": 2, "log2": 2, "log10": 2, "atan": 2}
WITH_NUMBER = """
a+s a-s a*s a/s s+a s-a s*a s/a a==s a!=s a<s a<=s a>s a>=s s<a s<=a s>a s>=a s==a a%s s%a
a.remainder(s) a.fmod(s) a.floor_divide(s) a.div(s,"trunc") a.div(s,"floor") a.pow(s) torch::pow(s,a) torch::rsub(a,s)
a.clamp_min(s) a.clamp_max(s) a.clamp(-300,s) a.clamp(s,1000) a.masked_fill(a==a,s) torch::full_like(a,s) a.clone().fill_(s)
torch::where(a==a,a,s) torch::where(a==a,s,a) a.index_fill(0,torch::tensor({0,1}),s) torch::constant_pad_nd(a,{1,0},s) a.scatter(0,torch::tensor({0}),s)
torch::threshold(a,s,2) torch::threshold(a,0,s) torch::hardtanh(a,-1,s) torch::hardshrink(a,s) torch::softshrink(a,s) torch::leaky_relu(a,s)
a.add(a,s) a.sub(a,s) a.add(1,s) torch::lerp(a,a*2,s) torch::addcmul(a,a,a,s) torch::addcdiv(a,a,a,s)
a.clone().add_(s) a.clone().sub_(s) a.clone().mul_(s) a.clone().div_(s) a.clone().remainder_(s)
""".split()
WITH_TENSOR = """
a+b a-b a*b a/b a==b a!=b a<b a<=b a>b a>=b a.remainder(b) a.fmod(b) a.floor_divide(b) a.div(b,"trunc") a.div(b,"floor") torch::maximum(a,b) torch::minimum(a,b)
torch::where(a==a,a,b) torch::logical_and(a,b) torch::logical_or(a,b) torch::logical_xor(a,b) a.bitwise_and(b) a.bitwise_or(b) a.bitwise_xor(b)
a.add(b,2) a.sub(b,3) a.clamp(b) torch::lerp(a,b,0.3) torch::addcmul(a,a,b,2) torch::addcdiv(a,a,b,2) a.clone().add_(b) a.clone().copy_(b) a.masked_fill(a==a,b)
""".split()
TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
FLOATS = [0.1, 0.3, 0.5, 2.5, -0.7, 65504.0, 1e9, 1e300, float("nan"), float("inf"), -0.0]
INTS = [0, 1, -1, 2, 3, -3, 127, 200, 255, 300, -300, 2**31, 2**53 + 1]


def functions() -> list[tuple[str, str]]:
    """Expression, and the type of `s` or "" for none; `b` where it is "tensor"."""
    out = [(f"torch::{name}(a)" if name != "clone" else "a.clone()", "") for name in [*UNARY, *ROUNDED]]
    out += [(text, kind) for text in WITH_NUMBER for kind in ("double", "int64_t")]
    return out + [(text, "tensor") for text in WITH_TENSOR]


def text() -> str:
    lines = ["#include <torch/extension.h>"]
    # NumPy has no bfloat16: such a tensor comes as `float` and goes as one.
    lines.append("static torch::Tensor in(torch::Tensor x, bool bf) { return bf ? x.to(torch::kBFloat16) : x; }")
    lines.append("static torch::Tensor out(torch::Tensor x) { return x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat) : x; }")
    for i, (body, kind) in enumerate(functions()):
        more = {"": "", "tensor": ", torch::Tensor b, bool bb"}.get(kind, f", {kind} s")
        get = "b = in(b, bb);" if kind == "tensor" else ""
        lines.append(f"torch::Tensor f{i}(torch::Tensor a, bool ab{more}) {{ a = in(a, ab); {get} return out({body}); }}")
    return "\n".join(lines)


def values(name: str) -> list[np.ndarray]:
    """In sevens."""
    if name == "bool":
        return [np.array([1, 0, 1, 1, 0, 0, 1], bool)]
    if name.startswith(("int", "uint")):
        limit = np.iinfo(name)
        all_ = [0, 1, 2, 3, 7, limit.max, limit.min, limit.max - 1, limit.min + 1, 100, 5, 127, 6, 44]
        all_ += [2**53 + 1, 2**53, -1, -3, -7, 2**31, -(2**53) - 1] if name == "int64" else [9] * 7 if name == "uint8" else [-1, -2, -3, -7, 9, 12, -100]
        return list(np.array(all_).astype(name).reshape(-1, 7))
    kind = np.dtype("float32" if name == "bfloat16" else name)
    with np.errstate(over="ignore"):
        one = [np.array(v).astype(kind) for v in (0.1, 0.3, 0.5, 2.5, 0.7)]
        near = [np.nextafter(v, kind.type(way)) for v in one for way in (0, 9)]
        rest = [np.finfo(kind).max, -np.finfo(kind).max, np.finfo(kind).tiny, np.inf, -np.inf, np.nan, 0, -0.0, 1, -1, 3, -0.7, 1.5, -2.5]
        all_ = [*one, *near, *rest]
    all_ += [1] * (-len(all_) % 7)
    return list(np.array(all_, kind).reshape(-1, 7))


def traps(function: str, a: np.ndarray, args: tuple) -> bool:
    """Whether torch ends the process: its quotient of the lowest integer and -1."""
    if not any(word in function for word in ("div", "fmod", "remainder", "%")) or a.dtype.kind != "i" or a.min() != np.iinfo(a.dtype).min:
        return False
    return any(np.any(np.asarray(x) == -1) for x in args)


def outcomes(module, give, take) -> dict[tuple, tuple]:
    out = {}
    for i, (_, kind) in enumerate(functions()):
        for name in TYPES:
            for n, a in enumerate(values(name)):
                if kind == "tensor":
                    others = [((t, part), np.roll(values(t)[part], 2)) for t in TYPES for part in (0, -1)]
                    others += [((t, "lone"), values(t)[0][1].reshape(())) for t in TYPES]
                    more = [(key, (b, key[0] == "bfloat16")) for key, b in others]
                else:
                    numbers = {"": [None], "double": FLOATS, "int64_t": INTS}[kind]
                    more = [(repr(s), () if s is None else (s,)) for s in numbers]
                for key, args in more:
                    if traps(functions()[i][0], a, args):
                        continue
                    args = [give(x.copy()) if isinstance(x, np.ndarray) else x for x in args]
                    try:
                        made = ("ok", take(getattr(module, f"f{i}")(give(a.copy()), name == "bfloat16", *args)))
                    except Exception as error:  # every class is part of the outcome
                        made = ("error", type(error).__name__ if type(error).__module__ == "builtins" else type(error).__mro__[1].__name__)
                    out[i, name, n, key] = made
    return out


def record(path: str) -> None:
    import torch
    from torch.utils.cpp_extension import load_inline

    module = load_inline("exact", text(), functions=[f"f{i}" for i in range(len(functions()))], extra_cflags=["-O0"])
    with open(path, "wb") as file:
        pickle.dump(outcomes(module, torch.from_numpy, lambda x: x.contiguous().numpy()), file)


def ulps(a: np.ndarray, b: np.ndarray) -> int:
    """The largest distance in units in the last place."""
    kind = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def line(x):
        bits = x.view(kind).astype(object)
        return np.where(bits < 0, -(bits & np.iinfo(kind).max), bits)

    both = ~(np.isnan(a) & np.isnan(b))
    return max(np.abs(line(a) - line(b))[both], default=0)


# Where Workbench differs, and why that stays: by the expression and what its `s` or `b` is, the most outcomes that do.
# The counts are those of a run with torch 2.15, so that a new difference is seen; they are no bound that was derived.
TAIL = "16-bit floats: seven elements are torch's scalar loop, which rounds the product to 16 bits; from a vector's width on it fuses as we do"
KNOWN: dict[tuple[str, str], tuple[int, str]] = {
    ("a.add(a,s)", "int64_t"): (22, TAIL),
    ("a.add(a,s)", "double"): (16, TAIL),
    ("a.sub(a,s)", "int64_t"): (40, TAIL),
    ("a.sub(a,s)", "double"): (12, TAIL),
    ("a.sub(b,3)", "tensor"): (15, TAIL),
    ("a.add(b,2)", "tensor"): (1, TAIL),
    ("a.pow(s)", "double"): (60, "a unit in the last place where it was looked at; the cause is not established"),
    ("torch::softshrink(a,s)", "double"): (20, "an infinite lambda is refused by torch"),
    ("torch::sqrt(a)", ""): (4, "torch's is a unit in the last place off: its vector library does not round correctly"),
    ("torch::sigmoid(a)", ""): (3, "a unit or two in the last place, and 0 for subnormal results; the cause is not established"),
    ("torch::erf(a)", ""): (1, "0 for a subnormal result; the cause is not established"),
}


def same(ours, theirs, function: str, name: str) -> bool:
    if ours[0] != theirs[0] or ours[0] == "error":
        return ours[0] == theirs[0]
    a, b = np.ascontiguousarray(ours[1]), np.ascontiguousarray(theirs[1])
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    # What NaN's bits are no operation says.
    a, b = (np.where(np.isnan(x), x.dtype.type("nan"), x) for x in (a, b))
    if a.tobytes() == b.tobytes():
        return True
    bound = ROUNDED.get(function.removeprefix("torch::").split("(")[0], 0)
    return ulps(a, b) <= bound * (65536 if name == "bfloat16" else 1)


def compare(path: str) -> int:
    import workbench as wb

    module = wb.load_inline("exact", text(), functions=[f"f{i}" for i in range(len(functions()))])
    with open(path, "rb") as file:
        theirs = pickle.load(file)
    ours = outcomes(module, lambda x: x, np.asarray)
    assert ours.keys() == theirs.keys(), "recorded from another list of functions: record it again"
    wrong, known, shown = collections.Counter(), 0, {}
    for key, expected in theirs.items():
        function, kind = functions()[key[0]]
        if same(ours[key], expected, function, key[1]):
            continue
        wrong[function, kind] += 1
        shown.setdefault((function, kind), (key[1:], ours[key], expected))
    for row, (most, _) in KNOWN.items():
        if wrong[row] <= most:
            known += wrong.pop(row, 0)
    for (function, kind), count in wrong.most_common():
        key, a, b = shown[function, kind]
        print(f"{function} [{kind}]: {count} differ; with {key} ours is {a}, torch's {b}".replace("\n", " "))
    total = sum(wrong.values())
    print(f"{len(theirs) - total - known} of {len(theirs)} outcomes agree, {known} are known to differ ({len(functions())} functions)")
    return total


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(sys.argv[2])
    else:
        sys.exit(min(compare(sys.argv[2]), 99))

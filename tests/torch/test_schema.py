"""Schemas beside torch's own parser: what it reads is read here, and what is printed here it reads as the same schema."""

from __future__ import annotations

import itertools
import random

import pytest
import torch
import workbench as wb
from workbench import _workbench

parse = torch._C.parse_schema


def theirs(text: str) -> str | None:
    """The schema as torch prints it; None where torch refuses it. Sets of aliases are printed there in no order, so they are sorted."""
    try:
        printed = str(parse(text))
    except Exception:  # RuntimeError, and whatever a number's conversion throws
        return None
    lead, *rest = printed.split("(")
    made = lead
    for part in rest:
        inner, close, tail = part.partition(")")
        if "|" in inner and "," not in inner:
            sides = [side.strip() for side in inner.split("->")]
            signs = ["!" if side.endswith("!") else "" for side in sides]
            inner = " -> ".join("|".join(sorted(s.rstrip("!").split("|"))) + sign for s, sign in zip(sides, signs))
        made += "(" + inner + close + tail
    return made


def ours(text: str) -> str | None:
    try:
        return _workbench.schema_text(text)
    except wb.ArgumentError:
        return None


def _is_slip(schema: torch._C.FunctionSchema) -> bool:
    """A slip of torch's own that we refuse: two arguments of one name, or a C++ type, which is a type variable there."""
    names = [argument.name for argument in schema.arguments]
    return len(set(names)) < len(names) or "int64_t " in str(schema)




def test_every_schema_that_torch_has() -> None:
    seen = 0
    for schema in torch._C._jit_get_all_schemas():
        text = str(schema)
        wanted = theirs(text)
        # Some that torch prints it does not read itself: devices as defaults, classes of C++.
        if wanted is None or _is_slip(schema):
            continue
        printed = ours(text)
        assert printed is not None and theirs(printed) == wanted, text
        assert ours(printed) == printed
        seen += 1
    assert seen > 4000, seen


# Types, with what torch refuses among them.
_TYPES = """Tensor, Tensor?, Tensor[], Tensor?[], Tensor[]?, Tensor(a), Tensor(a!), Tensor(a!)[], Tensor(a!)?, Tensor(a -> *), Tensor(a|b),
int, int?, int[], int[2], int[]?, int[2]?, int?[], int[][], int[][3], int?[]?, SymInt, SymInt?, SymInt[], SymInt[2], SymInt[]?, SymBool,
float, float?, float[], float[3], bool, bool?, bool[3], str, str?, str[], Scalar, Scalar?, Scalar[], ScalarType, ScalarType?, complex,
complex?, complex[], Device, Device?, Layout?, MemoryFormat, MemoryFormat?, Generator, Generator?, Generator(a!), Storage, Stream, Any, t,
t[], tVal, t1, t(a!), Dict(str; int), Dict(str; Dict(int; int[]))(a!), (int; float), (int; (float; Tensor))[], Future(t), RRef(t), Await(t),
Union(int; str), QScheme, NoneType, None, AnyEnumType, Capsule, int[](a!), Tensor(a)[](b), str(a), Tensor(*), Tensor(a! -> b),
int[2][], int[2]?[], Dict(str), Dict, Future, Foo, Tensr, Float, Tensor(!), Tensor(a!|b), int[-1], int[x], (int, Tensor(""".replace("\n", " ")

_DEFAULTS = """0, 1, -1, - 1, 1.5, -1.5, 1., .5, 1e5, 1e-5, 1E3, 2.5e+20, 0.1, 0.30000000000000004, 9223372036854775807, -9223372036854775808,
9223372036854775808, True, False, true, None, none, inf, nan, "a", 'a', "a\\"b", 'a"b', "a\\nb", "", [], [1], [1; 2], [1; 2.5], [True; False],
[2j], [None], ["a"], [[1]], 2j, -2.5j, Mean, Sum, long, float, half, float32, bfloat16, bool, contiguous_format, channels_last, strided, +1,
1_000, cpu, "cpu", "cuda:1", "cuda:x", Foo""".replace("\n", " ")


def _list(text: str) -> list[str]:
    return [one.strip().replace(";", ",") for one in text.split(",") if one.strip()]


# Kinds that a default has a meaning for. Elsewhere torch may read something else (a text for a tensor that is optional, 1.5 for an int,
# a number for what is complex), and we refuse.
def _means_something(kind: str, default: str) -> bool:
    bare = kind.partition("[")[0].rstrip("?")
    is_list = "[" in kind
    if default == "None":
        return kind.endswith("?") or kind == "Tensor"
    if default.startswith("["):
        inner = [one.strip() for one in default[1:-1].split(",") if one.strip()]
        return is_list and not kind.endswith("?") and all(_means_something(bare, one) for one in inner)
    if is_list and not kind.rstrip("?").endswith(("[2]", "[3]")) or kind.count("[") > 1:
        return False
    if default in ("True", "False"):
        return bare in ("bool", "Scalar")
    if default in ("long", "float", "half", "float32", "bfloat16", "bool"):
        return bare == "ScalarType"
    enums = {"Mean": "int", "contiguous_format": "MemoryFormat", "strided": "Layout"}
    if default in enums:
        return not is_list and bare == enums[default]
    if default[0] in "\"'":
        return bare == "str" or bare == "Device" and default[1:-1] in ("cpu", "cuda:1")
    if default.endswith("j"):
        return bare in ("complex", "Scalar")
    return bare in ("float", "Scalar") or bare in ("int", "SymInt") and default.replace(" ", "").lstrip("-").isdigit()


def test_types_and_their_defaults() -> None:
    agreed = refused = 0
    for kind, default in itertools.product(_list(_TYPES), [None, *_list(_DEFAULTS)]):
        text = f"a::f({kind} x{'' if default is None else '=' + default}) -> ()"
        wanted, printed = theirs(text), ours(text)
        if default == "1E3":
            # torch reads 1000 for a float, and 1 for a Scalar or an optional float; here it is refused.
            assert printed is None
            continue
        if wanted is None:
            assert printed is None, f"torch refuses {text}, and here it is {printed}"
            refused += 1
        elif printed is None:
            assert default is not None and not _means_something(kind, default), f"torch reads {text} as {wanted}"
        else:
            assert theirs(printed) == wanted, f"{text}: {printed}"
            agreed += 1
    assert agreed > 300 and refused > 1000, (agreed, refused)


def test_whole_schemas_put_together_at_random() -> None:
    numbers = random.Random(5)
    types = [kind for kind in _list(_TYPES) if theirs(f"a::f({kind} x) -> ()") is not None]
    for _ in range(2000):
        args = [f"{numbers.choice(types)}  a{i}" for i in range(numbers.randint(0, 5))]
        if numbers.random() < 0.4:
            args.insert(numbers.randint(0, len(args)), "*")
        if numbers.random() < 0.1:
            args.append("...")
        results = [numbers.choice(types) + numbers.choice(["", f" r{i}"]) for i in range(numbers.randint(0, 3))]
        dot = numbers.choice(["", ".out", ".x_1"])
        text = f" lab::f{dot} ({numbers.choice([',', ' , ', ', # more%', '%,']).replace('%', chr(10)).join(args)})->({', '.join(results)})"
        wanted, printed = theirs(text), ours(text)
        assert (wanted is None) == (printed is None), f"{text}: {wanted} and {printed}"
        if printed is not None:
            assert theirs(printed) == wanted and ours(printed) == printed, text


@pytest.mark.parametrize("name", "self print def class if None lambda yield try int out with_ match".split())
def test_names_of_arguments(name: str) -> None:
    # `lambda`, `yield`, `try` are refused here: Python has no keyword arguments of such names.
    wanted = theirs(f"a::f(Tensor {name}) -> ()")
    assert (wanted is None or name in ("lambda", "yield", "try")) == (ours(f"a::f(Tensor {name}) -> ()") is None)

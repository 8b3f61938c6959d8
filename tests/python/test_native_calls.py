"""Native functions and methods called as they are not meant: each error has the signature, the argument, what came and what is wanted."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import workbench as wb
from workbench import _annotations, _calls, _workbench

TEXT = """__global__ void fill(int* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = n; }
template <typename T> __global__ void fill_any(T* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = n; }
__device__ int level;
int twice(int x) { return 2 * x; }"""
SQUARE = "__global__ void square(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }"
EXTENTS = "int | Sequence[int]"

#: The signature of each native function and method, as errors show it.
SIGNATURES = {
    "interrupt": "wb.interrupt()",
    "set_tier": "wb.set_tier(tier: str)",
    "synchronize": "wb.synchronize()",
    "Module.symbol": "Module.symbol(name: str)",
    "Module.ir": "Module.ir()",
    "Module.asm": "Module.asm()",
    "Module.ptx": "Module.ptx()",
    "Module.cubin": "Module.cubin()",
    "Module.with_timeout": "Module.with_timeout(seconds: float | None)",
    "Symbol.get": "Symbol.get()",
    "Symbol.set": "Symbol.set(value: Any)",
    "Kernel.ir": "Kernel.ir()",
    "Kernel.asm": "Kernel.asm()",
    "Kernel.c_source": f"Kernel.c_source(block: {EXTENTS})",
    "Kernel.tier_report": f"Kernel.tier_report(block: {EXTENTS})",
    "Kernel.launch": f"Kernel.launch(grid: {EXTENTS}, block: {EXTENTS}, args: Sequence[Any], shared_mem: int = 0, stream: None = None, timeout: float | None = None)",
    "KernelTemplate.instance": "KernelTemplate.instance(*args: Any)",
    "KernelTemplate.launch": f"KernelTemplate.launch(grid: {EXTENTS}, block: {EXTENTS}, args: Sequence[Any], shared_mem: int = 0, stream: None = None, "
    "timeout: float | None = None)",
    "NativeHistory.difference": "NativeHistory.difference(old: int, new: int)",
    "NativeHistory.difference_card": "NativeHistory.difference_card(old: int, new: int)",
    "Svg.save": "Svg.save(path: str | PathLike[str], *, page: str | None = 'light')",
    "BenchReport.plot": "BenchReport.plot(kind: str = 'auto', *, size: int | None = None)",
    "CheckReport.plot": "CheckReport.plot(output: int = 0, *, kind: str = 'signed', scale: str = 'auto', slice: Sequence[int] | None = None)",
    "CheckReport.histogram": "CheckReport.histogram(output: int = 0, *, kind: str = 'ulp', scale: str = 'auto')",
    "CheckReport.scatter": "CheckReport.scatter(output: int = 0)",
    "CheckReport.raise_if_failed": "CheckReport.raise_if_failed()",
    "GradReport.plot": "GradReport.plot(argument: int | None = None)",
    "NativeLibraryOp.overloads": "LibraryOp.overloads()",
}
#: The native methods that take any arguments, and have errors of their own.
OPEN = {"ExtensionFunction.fake"}


def natives() -> dict[str, object]:
    """Every public native function and method that people can reach, by its name."""
    found = {name: getattr(wb, name) for name in wb.__all__ if inspect.isbuiltin(inspect.unwrap(getattr(wb, name)))}
    classes = {getattr(wb, name) for name in wb.__all__ if inspect.isclass(getattr(wb, name))}
    bases = {base for one in (*classes, _workbench.NativeHistory) for base in one.__mro__ if getattr(_workbench, base.__name__, None) is base}
    for base in sorted(bases, key=lambda base: base.__name__):
        for name, member in vars(base).items():
            # Properties are not called.
            if not name.startswith("_") and _annotations.is_native(inspect.unwrap(member)) and callable(member):
                found[f"{base.__name__}.{name}"] = member
    return found


@pytest.fixture(scope="module")
def owners():
    """An object of each native class that has methods."""
    module = wb.compile(TEXT)
    square = wb.op("native_calls::square(Tensor x) -> Tensor", SQUARE, shape="x[n] -> y[n]", reference=lambda x: x * x)
    square.register_autograd(lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    check = wb.check(np.sqrt, np.sqrt, np.ones(3))
    return {
        "Module": module,
        "Symbol": module.symbol("level"),
        "Kernel": module.fill,
        "KernelTemplate": module.fill_any,
        "NativeHistory": _workbench.history_of_texts("k", [(0.0, "a"), (1.0, "b")]),
        "Svg": check.plot(),
        "BenchReport": wb.bench({"f": abs}, [4], lambda n: -n, seconds_per_size=0.01),
        "CheckReport": check,
        "GradReport": square.gradcheck(np.ones(4, np.float32)),
        "NativeLibraryOp": wb.op("native_calls::same(Tensor x) -> Tensor", "at::Tensor same(at::Tensor x) { return x.clone(); }"),
        "ExtensionFunction": wb.load_inline("native_calls", "at::Tensor same(at::Tensor x) { return x.clone(); }", functions="same").same,
    }


@pytest.fixture
def square():
    return wb.op("native_calls::square(Tensor x) -> Tensor", SQUARE, shape="x[n] -> y[n]", reference=lambda x: x * x)


def call_of(name, owners):
    """A native function, or a native method of an object."""
    owner, _, method = name.rpartition(".")
    return getattr(owners[owner], method) if owner else getattr(wb, method)


def said_of(call, *args, **kwargs) -> str:
    with pytest.raises(wb.ArgumentError) as info:
        call(*args, **kwargs)
    assert wb.last_error() is info.value
    return str(info.value)


def test_every_native_function_is_known_here():
    assert set(natives()) == {*SIGNATURES, *OPEN}


@pytest.mark.parametrize("name", natives())
def test_an_unknown_keyword_is_answered_with_the_signature(name, owners):
    said = said_of(call_of(name, owners), no_such_argument=1)
    if name not in OPEN:
        signature = SIGNATURES[name]
        assert f"`{signature.partition('(')[0]}` has no argument `no_such_argument`" in said
        assert said.endswith(f"(signature: {signature})")


@pytest.mark.parametrize("name", sorted(set(natives()) - OPEN - {"KernelTemplate.instance"}))
def test_too_many_arguments_are_counted(name, owners):
    said = said_of(call_of(name, owners), *range(20))
    if not name.endswith(".launch"):
        assert SIGNATURES[name].partition("(")[0] in said and ", 20 given" in said and said.endswith(f"(signature: {SIGNATURES[name]})")
        assert ("takes no arguments, 20 given" in said) == SIGNATURES[name].endswith("()")


def kinds() -> list[tuple[str, str]]:
    """Every parameter of a native function that has a kind."""
    wishes = {name: _annotations.annotations_of(inspect.unwrap(function)) for name, function in natives().items()}
    return [(name, key) for name, by_key in wishes.items() for key, wish in by_key.items() if _annotations.wanted(wish) != "an Any"]


@pytest.mark.parametrize("name, parameter", kinds())
def test_a_value_of_another_kind_names_its_argument(name, parameter, owners):
    call = call_of(name, owners)
    given = {"old": 1, "new": 2} if parameter in ("old", "new") else {"grid": 1, "block": 8, "args": ()} if name.endswith(".launch") else {}
    given |= {"path": "x.svg"} if parameter == "page" else {}
    said = said_of(call, **{**given, parameter: object()})
    # Arguments of a launch are known by their place.
    assert ("one tuple behind grid and block" if parameter == "args" else parameter) in said and ("object" in said or parameter == "stream"), said


@pytest.mark.parametrize(
    "name, args, kwargs, said",
    [
        ("set_tier", (3,), {}, "`wb.set_tier`: argument `tier` got the int 3, but wants a str (signature: wb.set_tier(tier: str))"),
        ("set_tier", (np.ones(2),), {}, "argument `tier` got an array of float64, but wants a str"),
        ("set_tier", (), {}, "`wb.set_tier`: argument `tier` is missing (signature: wb.set_tier(tier: str))"),
        ("set_tier", ("fast",), {}, '`wb.set_tier` takes "auto", "soon", "good", "lanes", "wide" or "fibers", not "fast"'),
        ("synchronize", (0,), {}, "`wb.synchronize` takes no arguments, 1 given"),
        ("interrupt", (), {"all": True}, "`wb.interrupt` has no argument `all`"),
        ("Module.symbol", (3,), {}, "`Module.symbol`: argument `name` got the int 3, but wants a str"),
        ("Module.with_timeout", ("1",), {}, "argument `seconds` got the str '1', but wants a number or None"),
        ("CheckReport.plot", ("x",), {}, "`CheckReport.plot`: argument `output` got the str 'x', but wants an int"),
        ("CheckReport.plot", (-1,), {}, "argument `output` got the int -1, but wants an int from 0 on"),
        ("CheckReport.plot", (10**30,), {}, "but wants an int of at most 64 bits"),
        ("CheckReport.plot", (), {"kind": None}, "argument `kind` got None, but wants a str"),
        ("CheckReport.plot", (), {"slice": 3}, "argument `slice` got the int 3, but wants a sequence of ints or None"),
        ("CheckReport.plot", (), {"slice": "ab"}, "argument `slice` got the str 'ab', but wants a sequence of ints or None"),
        ("CheckReport.plot", (), {"slice": [1.5]}, "argument `slice` got the list [1.5], but wants a sequence of ints or None"),
        ("CheckReport.plot", (), {"slice": [2**70]}, "but wants a sequence of ints of at most 64 bits or None"),
        ("CheckReport.plot", (7,), {}, "there is no output 7: the check has 1"),
        ("CheckReport.histogram", (1.0,), {}, "argument `output` got the float 1.0, but wants an int"),
        ("CheckReport.scatter", ({},), {}, "argument `output` got the dict {}, but wants an int"),
        ("BenchReport.plot", (3,), {}, "`BenchReport.plot`: argument `kind` got the int 3, but wants a str"),
        ("BenchReport.plot", ("samples",), {"size": "4"}, "argument `size` got the str '4', but wants an int or None"),
        ("BenchReport.plot", ("samples",), {"size": -4}, "argument `size` got the int -4, but wants an int from 0 on or None"),
        ("GradReport.plot", ("x",), {}, "`GradReport.plot`: argument `argument` got the str 'x', but wants an int or None"),
        ("NativeHistory.difference", (1, "2"), {}, "argument `new` got the str '2', but wants an int"),
        ("NativeHistory.difference", (-1, 2), {}, "argument `old` got the int -1, but wants an int from 0 on"),
        ("NativeHistory.difference", (1, 2**40), {}, "argument `new` got the int 1099511627776, but wants an int of at most 32 bits"),
        ("Svg.save", (3,), {}, "`Svg.save`: argument `path` got the int 3, but wants a str or a path"),
    ],
)
def test_what_came_and_what_is_wanted_are_said(name, args, kwargs, said, owners):
    assert said in said_of(call_of(name, owners), *args, **kwargs)


MADE = {
    "Module": "wb.compile(source) makes modules",
    "Kernel": 'wb.compile(source)["name"] is a kernel',
    "KernelTemplate": 'wb.compile(source)["name"] is a template of kernels',
    "Launcher": "kernel[grid, block] makes launchers",
    "TemplateLauncher": "kernel[grid, block] makes launchers",
    "HostFunction": 'wb.compile(source)["name"] is a host function',
    "ExtensionFunction": "wb.load_inline(name, source, functions=...) makes modules that have them",
    "Symbol": 'module.symbol("name") makes symbols',
    "BenchReport": "wb.bench(...) and op.bench(...) make such reports",
    "CheckReport": "wb.check(...) and op.check(...) make such reports",
    "GradReport": "op.gradcheck(...) makes such reports",
    "TierReport": "kernel.tier_report(block) makes such reports",
    "Svg": "report.plot() makes pictures",
    "Op": "wb.op(schema, source) makes operators",
    "LibraryOp": "wb.ops.namespace.name is an operator, wb.op and wb.load_library make them",
}


@pytest.mark.parametrize("args", [(), (3,), (1, 2, 3)])
@pytest.mark.parametrize("name", [name for name in wb.__all__ if any(base.__name__ in vars(_workbench) for base in getattr(getattr(wb, name), "__mro__", ()))])
def test_a_native_class_says_what_makes_its_objects(name, args):
    assert f"`wb.{name}` is not made by a call of the class: {MADE[name]}" in said_of(getattr(wb, name), *args)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda op, x: op.check(x, rtol="a"), "`Op.check`: argument `rtol` got the str 'a', but wants a number or None"),
        (lambda op, x: op.check(x, equal_nan="no"), "`Op.check`: argument `equal_nan` got the str 'no', but wants True or False"),
        (lambda op, x: op.check(x, reference=3), "`Op.check`: argument `reference` got the int 3, but wants a callable or None"),
        (lambda op, x: op.bench(x, max_seconds="a"), "`wb.bench`: argument `max_seconds` got the str 'a', but wants a number"),
        (lambda op, x: op.version("a"), "a version of `native_calls::square` is a number from 1 to "),
        (lambda op, x: op.version(), "`Op.version`: argument `number` is missing"),
        (lambda op, x: op.history(), "`square.history` is no function: it is the history itself, square.history[number] one of its versions"),
        (lambda op, x: op.history(1), "`square.history` is no function"),
        (lambda op, x: op.history.plot(3), "`History.plot` takes no arguments, 1 given"),
        (lambda op, x: op.history.difference(1), "`History.difference`: argument `new` is missing (old, new)"),
        (lambda op, x: op.check(x).save(3), "`CheckReport.save`: argument `path` got the int 3, but wants a str or a path"),
        (lambda op, x: op.check(x).to_json(3), "`CheckReport.to_json` takes no arguments, 1 given"),
        (lambda op, x: wb.bench(3, [3], abs), "contestants are a dict from names to callables"),
        (lambda op, x: wb.check(3, abs), "`wb.check`: argument `fn` got the int 3, but wants a callable"),
        (lambda op, x: wb.check(abs, abs, x, rtol=[1]), "`wb.check`: argument `rtol` got the list [1], but wants a number or None"),
        (lambda op, x: wb.do_bench(3), "`wb.do_bench`: argument `fn` got the int 3, but wants a callable"),
        (lambda op, x: wb.do_bench(dict, rep="a"), "`wb.do_bench`: argument `rep` got the str 'a', but wants a number"),
        (lambda op, x: wb.do_bench(dict, quantiles=3), "argument `quantiles` got the int 3, but wants a sequence of numbers or None"),
        (lambda op, x: wb.compile(TEXT, timeout="a"), "`wb.compile`: argument `timeout` got the str 'a', but wants a number or None"),
        (lambda op, x: wb.compile(TEXT, defines=3), "`wb.compile`: argument `defines` got the int 3, but wants a dict or None"),
        (lambda op, x: wb.compile(TEXT, options=3), "`wb.compile`: argument `options` got the int 3, but wants a sequence of strs"),
        (lambda op, x: wb.compile(TEXT)[3], "module[...] takes the name of a kernel or a host function, a str, got 3"),
        (lambda op, x: wb.op(3, SQUARE), "`wb.op`: argument `schema` got the int 3, but wants a str"),
        (lambda op, x: wb.op("native_calls::k(Tensor x) -> Tensor", SQUARE, kernel=3), "`wb.op`: argument `kernel` got the int 3, but wants a str or None"),
        (lambda op, x: wb.op("native_calls::k(Tensor x) -> Tensor", SQUARE, block=3.5), "argument `block` got the float 3.5, but wants an int, a sequence of ints or None"),
        (lambda op, x: wb.load_library(3), "`wb.load_library`: argument `path` got the int 3, but wants a str or a path"),
        (lambda op, x: wb.ceilings(3), "`wb.ceilings` takes no arguments, 1 given"),
        (lambda op, x: wb.devices(3), "`wb.devices` takes no arguments, 1 given"),
        (lambda op, x: wb.printed(3), "`wb.printed` takes no arguments, 1 given"),
        (lambda op, x: wb.last_error(3), "`wb.last_error` takes no arguments, 1 given"),
    ],
)
def test_values_that_python_hands_on_to_native_functions_are_named(square, call, said):
    assert said in said_of(call, square, np.ones(3, np.float32))


# `tune` takes the options of operators as well, and says what is missing first.
@pytest.mark.parametrize("name", [name for name in wb.__all__ if inspect.isfunction(getattr(wb, name)) and name != "tune"])
def test_every_function_of_the_package_answers_unknown_keywords(name):
    assert f"`wb.{name}` has no argument `no_such_argument`" in said_of(getattr(wb, name), no_such_argument=1)


DEVICE = [
    ("check", "`Op.check` has no option `device`: it compares what the CPU computes; for a GPU write "
     'wb.check(lambda x: square(x, device="cuda"), reference, x)'),
    ("bench", "`Op.bench` has no option `device`: it would time copies to the GPU and back; make the arguments there, wait in the call, and write "
     'wb.bench({"square": lambda x: (square(x), wb.synchronize())}, sizes, make_args)'),
    ("gradcheck", "`Op.gradcheck` has no option `device`: gradients are checked on the CPU; leave device= out"),
]  # fmt: skip


@pytest.mark.parametrize("ability, said", DEVICE)
def test_checks_and_times_on_a_gpu_are_told_how(square, ability, said):
    for device in ("cuda", "cpu", 3):
        assert said_of(getattr(square, ability), np.ones(3, np.float32), device=device) == said


def test_an_argument_called_device_is_the_operators():
    scale = wb.op(
        "native_calls::scale(Tensor x, int device) -> Tensor",
        "__global__ void scale(const float* x, int device, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = device * x[i]; }",
        reference=lambda x, device: device * x,
    )
    assert scale.check(np.ones(3, np.float32), device=2).passed


@pytest.mark.parametrize("ability, said", [("check", "wb.check(lambda x: same(x).cpu(), reference, x)"), ("bench", "lambda x: (same(x), wb.synchronize())")])
def test_host_functions_compute_where_their_arrays_lie(ability, said):
    same = wb.op("native_calls::same(Tensor x) -> Tensor", "at::Tensor same(at::Tensor x) { return x.clone(); }", reference=lambda x: x)
    assert said in said_of(getattr(same, ability), np.ones(3), device="cuda")


def test_errors_of_callables_stay_as_they_are():
    for call in (lambda: wb.bench({"f": len}, [4], lambda n: n), lambda: wb.check(len, len, 3), lambda: wb.do_bench(len)):
        with pytest.raises(TypeError, match="len|given") as info:
            call()
        assert not isinstance(info.value, wb.ArgumentError)


def test_names_are_enough_where_there_is_no_stub(monkeypatch, owners):
    monkeypatch.setattr(_annotations, "_stub", dict)
    assert said_of(wb.set_tier, no=1) == "`wb.set_tier` has no argument `no` (tier)"
    assert said_of(owners["CheckReport"].plot, kinds=1) == "`CheckReport.plot` has no argument `kinds`; did you mean `kind`? (output, kind, scale, slice)"
    with pytest.raises(TypeError):
        wb.set_tier(3)


def test_native_functions_stay_what_they_are():
    assert all(_calls.FUNCTIONS.count(name) == 1 for name in natives() if "." not in name)
    for name in _calls.FUNCTIONS:
        function = getattr(wb, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__name__ == name and function.__doc__ == inspect.unwrap(function).__doc__
    before = wb.set_tier(tier="good")
    assert wb.set_tier(before) == "good"
    assert wb.synchronize() is None and wb.interrupt() is None


def test_articles_are_those_of_speech():
    named = {"ndarray": "an ndarray", "int": "an int", "list": "a list", "uint8": "a uint8", "UserDict": "a UserDict", "Op": "an Op", "NoneType": "a NoneType"}
    assert {name: _annotations.with_article(name) for name in named} == named

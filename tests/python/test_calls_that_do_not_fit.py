"""Calls that do not fit: unknown keywords, missing and surplus arguments, launches with their arguments in a row, options that would do nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import workbench as wb

TEXT = """__global__ void fill(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 1; }
template <typename T> __global__ void fill_any(T* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = n; }
"""
SQUARE = "__global__ void square(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }"


@pytest.fixture
def square():
    return wb.op("misfits::square(Tensor x) -> Tensor", SQUARE, shape="x[n] -> y[n]", reference=lambda x: x * x)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: wb.compile(TEXT, optimise=True), "`wb.compile` has no argument `optimise`; did you mean `options`? (source, device, name, "),
        (lambda: wb.compile(TEXT, define={"N": 1}), "did you mean `defines`?"),
        (lambda: wb.compile(), "`wb.compile`: argument `source` is missing (source, device"),
        (lambda: wb.compile(TEXT, "cpu", "name"), "takes at most 2 arguments by position (source, device), 3 given; the others go by name: name, defines"),
        (lambda: wb.compile(TEXT, source=TEXT), "`wb.compile`: argument `source` is given twice"),
        (lambda: wb.op("misfits::k(Tensor x) -> Tensor", SQUARE, grid_=1), "`wb.op` has no argument `grid_`; did you mean `grid`?"),
        (lambda: wb.bench({"f": abs}, [1], lambda n: 1, title_="t"), "`wb.bench` has no argument `title_`; did you mean `title`?"),
        (lambda: wb.check(np.abs, np.abs, np.ones(1), tol=1), "`wb.check` has no argument `tol`"),
        (lambda: wb.tune(TEXT, {"N": [1]}, schema="misfits::k(Tensor x) -> Tensor"), "`wb.tune`: argument `make_args` is missing"),
        (lambda: wb.tune(TEXT, {"N": [1]}, make_args=abs, sizes=4), "`wb.tune` has no option `sizes`; did you mean `size`? those of operators are kernel"),
        (lambda: wb.do_bench(abs, reps=3), "did you mean `rep`?"),
        (lambda: wb.elementwise("T a", "T b", "b = a", nam="f"), "`wb.elementwise` has no argument `nam`; did you mean `name`?"),
        (lambda: wb.load_inline("e", "int f() { return 1; }", function="f"), "did you mean `functions`?"),
        (lambda: wb.sweep(None, shape=1), "did you mean `shapes`?"),
        (lambda: wb.load_library("x.toml", trusted=True), "did you mean `trust`?"),
        (lambda: wb.Spec((1,), kind="float32"), "`wb.Spec` has no argument `kind` (shape, dtype, device)"),
        (lambda: wb.compile(TEXT).with_timeout(second=1), "`Module.with_timeout` has no argument `second`; did you mean `seconds`?"),
        (lambda: wb.check(np.abs, np.abs, np.ones(1)).plot(kinds="ulp"), "`CheckReport.plot` has no argument `kinds`; did you mean `kind`?"),
        (lambda: wb.check(np.abs, np.abs, np.ones(1)).save(), "`CheckReport.save`: argument `path` is missing"),
    ],
)
def test_a_call_that_does_not_fit_names_what_there_is(call, said):
    with pytest.raises(wb.ArgumentError) as info:
        call()
    assert said in str(info.value)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda op, x: op.register_kernel("cpu", np.square, dtype=["float64"]), "`Op.register_kernel` has no argument `dtype`; did you mean `dtypes`?"),
        (lambda op, x: op.register_autograd(np.square, setup=None), "`Op.register_autograd` has no argument `setup`"),
        (lambda op, x: op.check(x, refrence=np.square), "`Op.check` has no option `refrence`; did you mean `reference`? (options: reference, rtol, "),
        (lambda op, x: op.bench(x, other={}), "`Op.bench` has no option `other`; did you mean `others`?"),
        (lambda op, x: op.vjp(x, by=1), "has no argument `by`"),
        (lambda op, x: op(x, by=1), "has no argument `by`"),
    ],
)
def test_a_method_of_an_operator_names_what_there_is(square, call, said):
    with pytest.raises(wb.ArgumentError) as info:
        call(square, np.ones(3, np.float32))
    assert said in str(info.value)
    assert square(np.full(2, 3, np.float32)).tolist() == [9, 9]


def test_options_of_a_gradient_check_are_known(square):
    square.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(wb.ArgumentError, match=r"`Op.gradcheck` has no option `epss`; did you mean `eps`\? \(options: eps, .*arguments of the operator: x\)"):
        square.gradcheck(np.ones(3, np.float32), epss=1)


def test_errors_of_what_is_called_stay_as_they_are():
    def broken(x):
        return len(x, 1)

    with pytest.raises(TypeError, match="takes exactly one argument") as info:
        wb.check(broken, broken, np.ones(1))
    assert not isinstance(info.value, wb.ArgumentError)
    assert pickle.loads(pickle.dumps(wb.compile)) is wb.compile


@pytest.mark.parametrize(
    "launch, said",
    [
        (lambda k, y: k.launch(4000, 256, y, 8), "one tuple behind grid and block, got an array of float32; write {k}.launch(4000, 256, ({listed})) or {k}[4000, 256]({values})"),
        (lambda k, y: k.launch(4000, 256, y, 8, 0, None, 3), "takes grid, block and the kernel's arguments as one tuple; write {k}.launch(4000, 256, "),
        (lambda k, y: k.launch(4000, 256), "takes grid, block and the kernel's arguments as one tuple; write {k}.launch(4000, 256, "),
        (lambda k, y: k.launch((2, 1), 256, 8), "got an int; write {k}.launch((2, 1), 256, "),
        (lambda k, y: k.launch(y, 8, 4, 256), "write {k}.launch(grid, block, "),
        (lambda k, y: k.launch(1, 8, {"y": y, "n": 8}), "got a dict"),
        (lambda k, y: k.launch(1, 8, "y"), "got a str"),
        (lambda k, y: k.launch(1, 8, (y, 8), shared=1), "did you mean `shared_mem`? (signature: Kernel"),
        (lambda k, y: k.launch(1, 8, (y, 8), 1.5), "`{k}.launch`: shared_mem is a number of bytes, got 1.5"),
        (lambda k, y: k.launch(1, 8, (y, 8), timeout="1"), "`{k}.launch`: timeout is a number of seconds or None, got '1'"),
    ],
)
@pytest.mark.parametrize("name, values, listed", [("fill", "y, n", "y, n"), ("fill_any", "...", "...")])
def test_a_launch_that_does_not_fit_shows_the_right_one(name, values, listed, launch, said):
    kernel, y = wb.compile(TEXT)[name], np.zeros(8, np.float32)
    with pytest.raises(wb.ArgumentError) as info:
        launch(kernel, y)
    assert said.format(k=name, values=values, listed=listed) in str(info.value)
    for args in ((y, 8), [y, 8], iter((y, 8))):
        kernel.launch(1, 8, args, timeout=5)
    assert y.all()


def test_values_of_a_launch_have_no_names():
    fill = wb.compile(TEXT).fill
    with pytest.raises(wb.ArgumentError, match=r"values go by position, also that of `n`; write fill.launch\(1, 8, \(y, n\)\)"):
        fill.launch(1, 8, (np.zeros(8, np.float32),), n=8)
    with pytest.raises(wb.ArgumentError, match=r"choose a grid and a block first, as in fill\[grid, block\]"):
        fill(np.zeros(8, np.float32), n=8)


@pytest.mark.parametrize("name", ["fill", "fill_any"])
def test_a_launch_by_chevrons_says_where_options_go(name):
    kernel, y = wb.compile(TEXT)[name], np.zeros(8, np.float32)
    with pytest.raises(wb.ArgumentError, match=rf"no `timeout=`; options of a launch are given as in {name}.launch\(grid, block, \(...\), timeout=...\)"):
        kernel[1, 8](y, 8, timeout=1)
    with pytest.raises(wb.ArgumentError, match="takes one value a parameter, by position, and no `n=`"):
        kernel[1, 8](y, n=8)
    kernel[1, 8](y, 8)
    assert y.all()


def test_an_architecture_is_a_gpus():
    for arch in ("sm_90", "nonsense"):
        with pytest.raises(wb.ArgumentError, match=f"arch='{arch}' is a GPU's, and device is \"cpu\".*give device=\"cuda\", or leave out arch="):
            wb.compile(TEXT, device="cpu", arch=arch)
    # A build script's options are those of all devices.
    assert wb.compile(TEXT, options=["-arch=sm_90"]).kernels == wb.compile(TEXT, arch=None).kernels


HOST = "at::Tensor {}(at::Tensor x) {{ return x * x; }}"


@pytest.mark.parametrize("kind", ["host", "callable"])
def test_what_an_operator_cannot_count_is_said(kind):
    source = HOST.format("host") if kind == "host" else np.square
    made = wb.op(f"misfits::{kind}(Tensor x) -> Tensor", source)
    who = "of a host function" if kind == "host" else "computed by a callable of Python's"
    with pytest.raises(AttributeError, match=f"`misfits::{kind}` is {who}.*no `work`: work is counted .* that wb.op makes of a `__global__` kernel"):
        made.work(np.ones(3))
    for ability in ("writer_map", "history", "version", "restore", "binding", "module"):
        with pytest.raises(AttributeError, match=f"has no `{ability}`: .*that wb.op makes of a `__global__` kernel"):
            getattr(made, ability)
    with pytest.raises(AttributeError, match="has no overload or attribute `nothing`"):
        made.nothing
    with pytest.raises(wb.ArgumentError, match="needs an operator of a kernel"):
        wb.bench({"it": made}, [4], np.ones, flops="counted")

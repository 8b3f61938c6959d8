"""Files that `op.save` writes and `wb.load_library` reads in another process: operators of every kind, with all their parts."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

FACTOR, LIMIT = 2.5, float("inf")
TABLE = {1, 2}
KERNEL = """
__global__ void scale(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * BY;
}
"""
HOST = """
at::Tensor stretched(const at::Tensor& x, int64_t n) { return x.repeat({n}); }
at::Tensor stretched_backward(const at::Tensor& g, const at::Tensor& x, int64_t n) { return g.reshape({n, -1}).sum(0); }
"""


def half(x):
    return x / 2


def clipped(x, high):
    return np.minimum(x, min(high, LIMIT)) + math.floor(half(0.0))


def clipped_shape(x, high):
    return wb.empty_like(x)


def backward(ctx, grad):
    return ctx.mask * grad, None


def setup(ctx, inputs, output):
    ctx.mask = inputs[0] < inputs[1]


def numpy_stretched(x, n):
    return np.tile(x, n)


def scale_reference(x):
    return FACTOR * x


def pairs_shape(x):
    return wb.Spec((x.shape[0] // 2,), x.dtype)


def loaded(path: Path, code: str) -> None:
    """Runs a text in another process, where `library` is what was saved."""
    lead = "import sys, numpy as np, workbench as wb\n" + ("" if path.is_dir() else "library = wb.load_library(sys.argv[1], trust=True)\n")
    subprocess.run([sys.executable, "-c", lead + textwrap.dedent(code), str(path)], check=True, timeout=120)


def test_a_callable_with_shape_gradient_and_reference(tmp_path):
    op = wb.op("saved::clipped(Tensor x, float high=1.0) -> Tensor", clipped, shape=clipped_shape, reference=np.minimum)
    op.register_autograd(backward, setup_context=setup)
    op.save(tmp_path / "clipped.toml")
    text, functions = (tmp_path / "clipped.toml").read_text(), (tmp_path / "clipped.py").read_text()
    assert "text" not in text.split("[clipped]")[0] and 'function = "clipped"' in text and 'gradient = "backward"' in text
    assert functions.index("import math") < functions.index("LIMIT = float") < functions.index("def half") < functions.index("def clipped(")
    loaded(tmp_path / "clipped.toml", """
        x = np.array([0.5, 3.0])
        assert library.clipped(x).tolist() == [0.5, 1.0] and library.clipped(x, 2.0).tolist() == [0.5, 2.0]
        assert library.clipped.check(x, 2.0) and library.clipped.fake(wb.Spec((7,), "float64"), 1.0).shape == (7,)
        assert library.clipped.vjp(x, 1.0)[1](np.ones(2))[0].tolist() == [1.0, 0.0]
        # And on from there.
        library.clipped.save(sys.argv[1] + ".again.toml")
        again = wb.load_library(sys.argv[1] + ".again.toml", trust=True)
        assert again.clipped(x).tolist() == [0.5, 1.0] and again.clipped.check(x, 0.75)
    """)


def test_a_host_function_with_its_gradient(tmp_path):
    wb.op("saved::stretched_backward(Tensor g, Tensor x, int n) -> Tensor", HOST, kernel="stretched_backward")
    op = wb.op("saved::stretched(Tensor x, int n) -> Tensor", HOST, kernel="stretched", reference=numpy_stretched)
    op.register_autograd("saved::stretched_backward", saves=["x", "n"])
    op.register_kernel("cpu", numpy_stretched, dtypes=["uint16"])
    op.save(tmp_path / "stretched.toml")
    loaded(tmp_path / "stretched.toml", """
        op, x = library.stretched, np.arange(3.0)
        assert op(x, 2).tolist() == [0, 1, 2, 0, 1, 2] and op.check(x, 3) and op.gradcheck(x, 3).passed
        assert op(x.astype(np.uint16), 2).dtype == np.uint16 and len(op._outside) == 1
        assert op.vjp(x, 2)[1](np.ones(6))[0].tolist() == [2, 2, 2]
    """)


def test_operators_that_a_text_registers(tmp_path):
    wb.compile(HOST + """
    TORCH_LIBRARY_FRAGMENT(saved_text, m) {
        m.def("stretched(Tensor x, int n) -> Tensor", &stretched);
        m.def("stretched_backward(Tensor g, Tensor x, int n) -> Tensor", &stretched_backward);
    }""")
    op = wb.ops.saved_text.stretched
    op.register_autograd("saved_text::stretched_backward", saves=["x", "n"])
    op.save(tmp_path / "text.toml")
    assert not (tmp_path / "text.py").exists()
    loaded(tmp_path / "text.toml", """
        assert wb.ops.saved_text.stretched(np.ones(1), 2).tolist() == [1, 1]
        assert library.stretched.gradcheck(np.ones(2), 2).passed
    """)


def test_a_kernel_with_defines_other_kernels_and_callables(tmp_path):
    made = {dtype: wb.compile(KERNEL, defines={"T": c, "BY": "2.5"}) for dtype, c in (("float32", "float"), ("float64", "double"))}
    op = wb.op("saved::scale(Tensor x) -> Tensor", made["float32"], shape="x[*] -> y[*]", reference=scale_reference)
    op.register_kernel("cpu", made["float64"].scale)
    op.register_kernel("cpu", scale_reference, dtypes=["float16"])

    @op.register_kernel("cpu", dtypes=["int32"])
    def scale(x):
        return x

    op.register_autograd(np.positive)
    op.register_autograd(scale_gradient)
    op.save(tmp_path / "scale.toml")
    loaded(tmp_path / "scale.toml", """
        op = library.scale
        for dtype in ("float16", "float32", "float64"):
            assert op(np.ones(3, dtype)).tolist() == [2.5] * 3 and op.check(np.ones(2, dtype))
        assert op(np.ones(3, np.int32)).tolist() == [1, 1, 1]
        assert op.reference.__name__ == "scale_reference"
        assert op.vjp(np.ones(2))[1](np.ones(2))[0].tolist() == [2.5, 2.5]
    """)


def scale_gradient(ctx, grad):
    return wb.ops.saved.scale(grad)


def test_shapes_that_are_functions(tmp_path):
    text = """
    __global__ void pairs(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[2 * i] + x[2 * i + 1];
    }"""
    wb.op("saved::pairs(Tensor x) -> Tensor", text, shape=pairs_shape).save(tmp_path / "a.toml")
    faked = wb.op("saved::pairs(Tensor x) -> Tensor", text)
    faked.register_fake(pairs_shape)
    faked.save(tmp_path / "b.toml")
    assert 'shape_function = "pairs_shape"' in (tmp_path / "a.toml").read_text()
    assert 'fake = "pairs_shape"' in (tmp_path / "b.toml").read_text()
    for name in ("a", "b"):
        loaded(tmp_path / f"{name}.toml", "assert library.pairs(np.arange(4, dtype=np.float32)).tolist() == [1, 5]")


def test_functions_of_one_name(tmp_path):
    op = wb.op("saved::clipped(Tensor x, float high=1.0) -> Tensor", clipped, shape=clipped_shape)

    def other():
        def clipped(x, high):
            return np.minimum(x, high)

        return clipped

    op.reference = other()
    op.save(tmp_path / "two.toml")
    loaded(tmp_path / "two.toml", """
        assert library.clipped.check(np.ones(2), 0.5)
        assert library.clipped.function is not library.clipped.reference
    """)


def test_an_operator_that_a_function_calls_is_saved_with_it(tmp_path):
    global helper
    helper = wb.op("saved::helper(Tensor x) -> Tensor", half)
    op = wb.op("saved::uses(Tensor x) -> Tensor", uses_helper)
    op.save(tmp_path / "uses.toml")
    loaded(tmp_path / "uses.toml", """
        assert library.uses(np.ones(2)).tolist() == [0.5, 0.5]
        # It is looked up by its name when it is called.
        wb.op("saved::helper(Tensor x) -> Tensor", lambda x: x * 4)
        assert library.uses(np.ones(2)).tolist() == [4, 4]
    """)


SQUARES = """__global__ void square(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }
__global__ void slope(const float* g, const float* x, float* d, int n) { int i = threadIdx.x; if (i < n) d[i] = 2 * x[i] * g[i]; }"""


def keep_x(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def by_slope(ctx, g):
    return slope(g, ctx.saved_tensors[0])


def test_an_operator_that_a_gradient_calls_is_saved_with_it(tmp_path):
    global slope
    text = wb.compile(SQUARES)
    square = wb.op("calls::square(Tensor x) -> Tensor", text, kernel="square", shape="x[n] -> y[n]")
    slope = wb.op("calls::slope(Tensor g, Tensor x) -> Tensor", text, kernel="slope", shape="g[n], x[n] -> d[n]")
    square.register_autograd(by_slope, setup_context=keep_x)
    square.save(tmp_path / "square.toml")
    loaded(tmp_path / "square.toml", "assert library.square.gradcheck(np.array([1, -2, 3], np.float32)).passed")
    # One of another text would be missing where the file is loaded.
    slope = wb.op("calls::slope(Tensor g, Tensor x) -> Tensor", SQUARES + "\n", kernel="slope", shape="g[n], x[n] -> d[n]")
    with pytest.raises(wb.ArgumentError, match="`calls::slope` is of another text than `calls::square`"):
        square.save(tmp_path / "again.toml")
    assert not (tmp_path / "again.toml").exists()


def uses_helper(x):
    return helper(x)


def test_the_library_that_ships_is_saved_with_its_samples(tmp_path):
    manifests = sorted((Path(__file__).parents[2] / "kernels").glob("*/*.toml"))
    names = []
    for manifest in manifests:
        name = manifest.stem
        getattr(wb.load_library(manifest, trust=True), name).save(tmp_path / manifest.name)
        names.append(name)
    assert len(names) > 20
    loaded(tmp_path, f"""
        for name in {names}:
            library = wb.load_library(sys.argv[1] + "/" + name + ".toml", trust=True)
            assert library.samples(name), name
            if name in ("relu", "softmax", "top_k"):
                report = library.check()
                assert report and report[0].forward > 0, report
    """)


class Scaling:
    def scale(self, x):
        return x


def uses_a_list(x):
    return x * len(TABLE)


def first(x):
    return second(x)


def second(x):
    return first(x)


def test_what_cannot_be_saved_is_said(tmp_path):
    by = 3

    def enclosed(x):
        return x * by

    for function, why in (
        (lambda x: x, "only a function written with `def` can"),
        (enclosed, "it uses variables of the function that it was written in"),
        (Scaling().scale, "it is a method of an object"),
        (uses_a_list, "it uses `TABLE`, which would not be there"),
        (first, "call one another"),
        (eval("lambda x: x"), "its text is not there|only a function"),
        (wb.compile(HOST).stretched, "its text is not there"),
    ):
        op = wb.op("unsaved::f(Tensor x) -> Tensor", function)
        with pytest.raises(wb.ArgumentError, match=f"the function of `unsaved::f` cannot be saved: .*({why})"):
            op.save(tmp_path / "f.toml")
    op = wb.op("unsaved::g(Tensor x) -> Tensor", half)
    op.register_autograd(wb.compile(HOST).stretched, saves=["x"])
    with pytest.raises(wb.ArgumentError, match="the gradient of `unsaved::g` is by .*, which is no operator"):
        op.save(tmp_path / "g.toml")
    kernel = wb.op("unsaved::scale(Tensor x) -> Tensor", wb.compile(KERNEL, defines={"T": "float", "BY": "2"}))
    wb.op("unsaved::back(Tensor g) -> Tensor", HOST.replace("const at::Tensor& x, int64_t n) { return x.repeat({n})", "const at::Tensor& x) { return x"), kernel="stretched")
    kernel.register_autograd("unsaved::back", saves=[])
    with pytest.raises(wb.ArgumentError, match="`unsaved::back` is of another text than `unsaved::scale`"):
        kernel.save(tmp_path / "scale.toml")
    with pytest.raises(wb.ArgumentError, match="a manifest is a .toml file"):
        kernel.save(tmp_path / "scale.json")
    assert not list(tmp_path.iterdir())


def again_default(x, FACTOR=FACTOR):
    return x * FACTOR


def with_inner_names(x):
    scale = lambda FACTOR: FACTOR + 1  # noqa: E731
    return scale(x) * FACTOR + sum(FACTOR for FACTOR in [1, 2]) * 0


ROW = np.array([1.0, 2.0])


def with_array(x, row=ROW):
    return x * row


def changes_a_global(x):
    global counted
    counted = 1
    return x


def wrapped(function):
    @functools.wraps(function)
    def inner(x):
        return function(x) * 100

    return inner


def test_functions_are_what_their_texts_say(tmp_path):
    for function, want in ((again_default, 2.5), (with_inner_names, 5.0), (with_array, [1.0, 2.0])):
        wb.op("saved::told(Tensor x) -> Tensor", function).save(tmp_path / "text.toml")
        loaded(tmp_path / "text.toml", f"assert np.all(library.told(np.ones(2)) == {want}), library.told(np.ones(2))")
        (tmp_path / "text.py").unlink()

    def altered(x, by=1.0):
        return x * by

    def with_attribute(x):
        return x

    altered.__defaults__ = (9.0,)
    with_attribute.k = 1
    for function, why in (
        (wrapped(half), "it wraps another function"),
        (changes_a_global, "it changes the global `counted`"),
        (altered, "its defaults are others than its text says"),
        (with_attribute, "it has attributes of its own"),
        (uses_an_attribute, r"it uses `an_operator.name` of an operator"),
    ):
        with pytest.raises(wb.ArgumentError, match=why):
            wb.op("saved::told(Tensor x) -> Tensor", function).save(tmp_path / "other.toml")


an_operator = wb.op("saved::an_operator(Tensor x) -> Tensor", half)


def uses_an_attribute(x):
    return x if an_operator.name else x


def test_no_file_of_somebody_elses_is_written_over(tmp_path):
    (tmp_path / "mine.py").write_text("print('mine')\n")
    with pytest.raises(wb.ArgumentError, match="was not written by op.save"):
        wb.op("saved::half(Tensor x) -> Tensor", half).save(tmp_path / "mine.toml")
    assert (tmp_path / "mine.py").read_text() == "print('mine')\n" and not (tmp_path / "mine.toml").exists()
    op = wb.op("saved::half(Tensor x) -> Tensor", half)
    op.save(tmp_path / "ours.toml")
    op.save(tmp_path / "ours.toml")


def test_one_name_in_two_namespaces(tmp_path):
    wb.compile("""
    at::Tensor a(const at::Tensor& x) { return x * 2; }
    at::Tensor b(const at::Tensor& x) { return x * 3; }
    TORCH_LIBRARY_FRAGMENT(saved_a, m) { m.def("f(Tensor x) -> Tensor", &a); }
    TORCH_LIBRARY_FRAGMENT(saved_b, m) { m.def("f(Tensor x) -> Tensor", &b); }""")
    wb.ops.saved_a.f.save(tmp_path / "a.toml")
    wb.ops.saved_b.f.save(tmp_path / "b.toml")
    loaded(tmp_path / "a.toml", "assert library.f(np.ones(1))[0] == 2")
    loaded(tmp_path / "b.toml", "assert library.f(np.ones(1))[0] == 3")


scale = 2.0


def calc(x):
    return x * scale


def quarter(x):
    return half(half(x))


def test_helpers_are_no_references(tmp_path):
    wb.op("saved::scale(Tensor x) -> Tensor", calc).save(tmp_path / "scale.toml")
    wb.op("saved::half(Tensor x) -> Tensor", quarter).save(tmp_path / "half.toml")
    loaded(tmp_path / "scale.toml", "assert library.scale.reference is None and library.scale(np.ones(1))[0] == 2")
    loaded(tmp_path / "half.toml", "assert library.half.reference is None and library.half(np.ones(1))[0] == 0.25")


def test_a_linear_operators_gradient_saves_nothing(tmp_path):
    text = """
    at::Tensor twice(const at::Tensor& x, const at::Tensor& unused) { return x * 2; }
    at::Tensor twice_backward(const at::Tensor& g) { return g * 2; }
    """
    wb.op("saved::twice_backward(Tensor g) -> Tensor", text, kernel="twice_backward")
    op = wb.op("saved::twice(Tensor x, Tensor unused) -> Tensor", text, kernel="twice")
    op.register_autograd("saved::twice_backward", saves=[], differentiable=["x"])
    op.register_vmap(batches)
    op.save(tmp_path / "twice.toml")
    loaded(tmp_path / "twice.toml", """
        gradients = library.twice.vjp(np.ones(2), np.ones(2))[1](np.ones(2))
        assert gradients[0].tolist() == [2, 2] and gradients[1] is None
        assert library.twice._vmap_rule.__name__ == "batches"
    """)


def batches(info, in_dims, x, unused):
    return x * 2, in_dims[0]


def test_manifests_that_are_wrong_name_the_operator_and_change_nothing(tmp_path):
    kernel = "__global__ void k(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
    op = wb.op("unsaved::k(Tensor x) -> Tensor", kernel, shape="x[n] -> y[n]")
    op.register_autograd(scale_gradient)
    lead = f"text = '''{kernel}'''\n[k]\nschema = 'unsaved::k(Tensor x) -> Tensor'\n"
    for text, why in (
        ("block = 256", "`k`: .*block"),
        ("threads = 3", "`k`: .*threads"),
        ("backward = 'k'\nsaves = ['zz']", "`k`: `saves` names `zz`, which is no argument"),
        ("[[k.kernels]]\ntext = 'int f();'\nkernel = 'g'", "`unsaved::k`: `kernels`: .*g"),
        ("[[k.kernels]]\nkernels = 3", "`k`: .*kernels"),
    ):
        (tmp_path / "m.toml").write_text(lead + text)
        with pytest.raises(wb.ArgumentError, match=f"(?s)m.toml: {why}"):
            wb.load_library(tmp_path / "m.toml", trust=True)
        if "saves" in text:
            assert op._backward is scale_gradient
    for name in ("text", "reference"):
        with pytest.raises(wb.ArgumentError, match=f"an operator called `{name}` cannot be in a manifest"):
            wb.op(f"unsaved::{name}(Tensor x) -> Tensor", half).save(tmp_path / "t.toml")

"""What `op.save` writes and `wb.load_library` reads in another process: operators of every make, with all that belongs to them."""

from __future__ import annotations

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
    lead = "import sys, numpy as np, workbench as wb\n" + ("" if path.is_dir() else "library = wb.load_library(sys.argv[1])\n")
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
        again = wb.load_library(sys.argv[1] + ".again.toml")
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


def test_an_operator_that_a_function_calls_is_looked_up(tmp_path):
    global helper
    helper = wb.op("saved::helper(Tensor x) -> Tensor", half)
    op = wb.op("saved::uses(Tensor x) -> Tensor", uses_helper)
    op.save(tmp_path / "uses.toml")
    helper.save(tmp_path / "helper.toml")
    loaded(tmp_path / "uses.toml", """
        try:
            library.uses(np.ones(2))
        except AttributeError as error:
            assert "there is no operator `saved::helper`" in str(error)
        wb.load_library(sys.argv[1].replace("uses", "helper"))
        assert library.uses(np.ones(2)).tolist() == [0.5, 0.5]
    """)


def uses_helper(x):
    return helper(x)


def test_the_library_that_ships_is_saved_with_its_samples(tmp_path):
    manifests = sorted((Path(__file__).parents[2] / "kernels").glob("*/*.toml"))
    names = []
    for manifest in manifests:
        name = manifest.stem
        getattr(wb.load_library(manifest), name).save(tmp_path / manifest.name)
        names.append(name)
    assert len(names) > 20
    loaded(tmp_path, f"""
        for name in {names}:
            library = wb.load_library(sys.argv[1] + "/" + name + ".toml")
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

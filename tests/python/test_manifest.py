"""Manifests read, written and wrong; operators that travel: pickled, to processes, to Dask's workers; gradients by other operators."""

import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import workbench as wb

SQUARE = """
__global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
__global__ void square_backward(const float* g, const float* x, float* gx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) gx[i] = 2 * x[i] * g[i];
}
"""


def square_reference(x):
    return x * x


def make(namespace="wb_manifest"):
    wb.op(f"{namespace}::square_backward(Tensor g, Tensor x) -> Tensor", SQUARE, kernel="square_backward", shape="g[*], x[*] -> gx[*]")
    op = wb.op(f"{namespace}::square(Tensor x) -> Tensor", SQUARE, kernel="square", shape="x[*] -> y[*]", block=128, reference=square_reference)
    op.register_autograd(f"{namespace}::square_backward", saves=["x"])
    return op


LIBRARY = """
#include <torch/extension.h>
at::Tensor cube(const at::Tensor& x, double by) { return x * x * x * by; }
at::Tensor cube_backward(const at::Tensor& g, const at::Tensor& x, double by) { return g * 3 * by * x * x; }
TORCH_LIBRARY_FRAGMENT(wb_travel, m) {
    m.def("cube(Tensor x, *, float by=1.0) -> Tensor", &cube);
    m.def("cube_backward(Tensor g, Tensor x, float by) -> Tensor", &cube_backward);
}
"""


def make_library():
    wb.compile(LIBRARY)
    cube = wb.ops.wb_travel.cube
    cube.register_autograd("wb_travel::cube_backward", saves=["x", "by"])
    return cube


def test_what_is_saved_is_loaded(tmp_path):
    make().save(tmp_path / "square.toml")
    # In another process, where nothing is known of it.
    code = """
        import numpy as np, sys, workbench as wb
        library = wb.load_library(sys.argv[1], trust=True)
        x = np.arange(5, dtype=np.float32)
        assert library.square(x).tolist() == [0, 1, 4, 9, 16] and wb.ops.wb_manifest.square is library.square
        assert library.square.check(x)
        text = open(sys.argv[1]).read()
        assert 'block = [128]' in text and 'saves = ["x"]' in text, text
        assert library.square.vjp(x)[1](np.ones(5, np.float32))[0].tolist() == [0, 2, 4, 6, 8]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "square.toml")], check=True, timeout=60)


def test_what_cannot_be_saved_is_said(tmp_path):
    op = make("wb_unsaved")
    with pytest.raises(wb.ArgumentError, match="a manifest is a .toml file"):
        op.save(tmp_path / "square.json")
    op.reference = lambda x: x * x
    with pytest.raises(wb.ArgumentError, match="reference of `wb_unsaved::square` cannot be saved: only a function written with `def`"):
        op.save(tmp_path / "square.toml")
    op.reference = None
    op.register_autograd(lambda ctx, g: g)
    with pytest.raises(wb.ArgumentError, match="the gradient of `wb_unsaved::square` cannot be saved: only a function written with `def` can"):
        op.save(tmp_path / "square.toml")
    shaped = wb.op("wb_unsaved::s(Tensor x) -> Tensor", SQUARE, kernel="square", shape=lambda x: x)
    with pytest.raises(wb.ArgumentError, match="the shape_function of `wb_unsaved::s` cannot be saved: only a function written with `def`"):
        shaped.save(tmp_path / "s.toml")
    assert not list(tmp_path.iterdir())


BAD = {
    'source = "a.cu"\n[f]\nbackwards = "g"': r"m\.toml: .*(?s:.*)unknown field `backwards`",
    "source = \n": r"m\.toml: TOML parse error at line 1, column 10",
    '[f]\ndtypes = ["float32"]': "either `source`, a file, or `text`",
    'source = "missing.cu"\n[f]': "missing.cu",
    'text = "int f();"\n[f]\nbackward = "g"': "`backward` and `saves` go together",
    'text = "int f();"\n[f]\n[[f.samples]]\nx = { ones = [2] }': "sample 0, `x`: an array is one of normal",
    'text = "at::Tensor f(at::Tensor x) { return x; } TORCH_LIBRARY_FRAGMENT(wb_bad, m) { m.def(\\"f(Tensor x) -> Tensor\\", &f); }"\n[g]': (
        r"the text registers no operator `g` \(it registers f\)"
    ),
    'text = "at::Tensor f(at::Tensor x) { return x; } TORCH_LIBRARY_FRAGMENT(wb_bad, m) { m.def(\\"f(Tensor x) -> Tensor\\", &f); }"\n[f]\nbackward = "g"\nsaves = []': (
        "`f`: the text registers no operator `g` for its gradient"
    ),
    'text = "int f();"\nreference = "gone.py"\n[f]': "gone.py: there is no such Python file",
    '[f]\nschema = "wb_bad::f(Tensor x) -> Tensor"\nfunction = "f"': "its functions need a `reference`, the file that they are in",
    'reference = "gone.py"\n[f]\nschema = "wb_bad::f(Tensor x) -> Tensor"\nfunction = "f"': "gone.py: there is no such Python file",
    'reference = "m.toml.py"\n[f]\nfunction = "f"': "`function` goes with a `schema`",
    'text = "int f();"\nreference = "a.py"\n[f]\nsetup = "g"': "a gradient is a `gradient`, perhaps with `setup`",
    'text = "int f();"\nreference = "a.py"\n[f]\nshape_function = "g"': "`shape_function` goes with a `schema`",
    'text = "int f();"\n[f]\n[[f.kernels]]\nkernel = "g"': "one of `kernels` is a `function`",
    'text = "int f();"\nreference = "a.py"\n[f]\n[[f.kernels]]\nfunction = "g"\ndtypes = ["float"]': "`float` is no element type",
    'text = "int f();"\nreference = "a.py"\n[f]\n[[f.kernels]]\nfunction = "g"\ndevice = "gpu"': "`device` is `cpu` or `cuda`",
    'text = "__global__ void f(const float* x, float* y, int n) {}"\n[f]\nschema = "wb_bad::f(Tensor x -> Tensor"': r"\^",
}


@pytest.mark.parametrize("text", BAD)
def test_a_manifest_that_is_wrong(tmp_path, text):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(wb.ArgumentError, match=BAD[text]):
        wb.load_library(tmp_path / "m.toml", trust=True)


def test_a_manifest_whose_text_does_not_compile(tmp_path):
    (tmp_path / "broken.cu").write_text("at::Tensor f(at::Tensor x) { return y; }")
    (tmp_path / "m.toml").write_text('source = "broken.cu"\n[f]')
    with pytest.raises(wb.CompileError, match="broken.cu:1:"):
        wb.load_library(tmp_path / "m.toml", trust=True)
    with pytest.raises(wb.ArgumentError, match="nowhere.toml"):
        wb.load_library(tmp_path / "nowhere.toml", trust=True)


def test_a_gradient_by_an_operator():
    op = make("wb_by_operator")
    x = np.array([1.0, -2.0, 0.5], np.float32)
    assert op.vjp(x)[1](np.ones(3, np.float32))[0].tolist() == [2, -4, 1]
    assert op.gradcheck(x).passed
    cube = make_library()
    assert cube.gradcheck(np.array([1.0, -2.0]), by=0.5).passed
    (gradient,) = cube.vjp(np.array([2.0]), by=3.0)[1](np.ones(1))[:1]
    assert gradient.tolist() == [36]
    # A wrong one is found, and the element named.
    cube.register_autograd("wb_travel::cube", saves=[])
    with pytest.raises(RuntimeError, match="wb_travel::cube"):
        cube.gradcheck(np.array([1.0, -2.0]))
    make_library()


def test_a_gradient_by_an_operator_that_is_wrong():
    op = make("wb_wrong_operator")
    with pytest.raises(wb.ArgumentError, match='`wb_wrong_operator::square` has no argument `y`; it has x, and "output"'):
        op.register_autograd("wb_wrong_operator::square_backward", saves=["y"])
    with pytest.raises(wb.ArgumentError, match="has no argument `output.x`"):
        op.register_autograd("wb_wrong_operator::square_backward", saves=["output.x"])
    with pytest.raises(wb.ArgumentError, match="saves="):
        op.register_autograd("wb_wrong_operator::square_backward")
    with pytest.raises(wb.ArgumentError, match="not both"):
        op.register_autograd("wb_wrong_operator::square_backward", saves=["x"], setup_context=lambda ctx, inputs, output: None)
    x = np.ones(3, np.float32)
    with pytest.raises(wb.ArgumentError, match="there is no operator `wb_wrong_operator::nobody`, the backward of"):
        op.register_autograd("wb_wrong_operator::nobody", saves=["x"])
    with pytest.raises(wb.ArgumentError, match="has no `output.1`: it has 1 output"):
        op.register_autograd("wb_wrong_operator::square_backward", saves=["output.1"])
    with pytest.raises(wb.ArgumentError, match="saves is a list of names, got the str 'x'"):
        op.register_autograd("wb_wrong_operator::square_backward", saves="x")
    op.register_autograd(lambda g, x: (g, g), saves=["x"])
    with pytest.raises(wb.ArgumentError, match=r"gave 2 gradients for 1 argument \(x\)"):
        op.vjp(x)[1](x)
    op.register_autograd(lambda ctx, g: np.ones(7, np.float32))
    with pytest.raises(wb.ArgumentError, match=r"gradient of shape \(7,\) for `x`, whose shape is \(3,\)"):
        op.vjp(x)[1](x)


def double(op, x):
    return op(op(x))


@pytest.mark.parametrize("kind", ["op", "library"])
def test_operators_travel_to_other_processes(kind):
    op = make("wb_processes") if kind == "op" else make_library()
    x = np.arange(6, dtype=np.float32)
    again = pickle.loads(pickle.dumps(op))
    assert again is op and again._backward is not None
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(double, [op] * 4, [x + i for i in range(4)]))
        gradients = pool.submit(gradient, op, x).result(timeout=120)
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, op(op(x + i)))
    np.testing.assert_array_equal(gradients, gradient(op, x))


def gradient(op, x):
    return op.vjp(x)[1](np.ones_like(x))[0]


def test_threads_call_while_a_name_gets_another_meaning():
    op = make("wb_threads")
    x = np.arange(1000, dtype=np.float32)
    stop = threading.Event()

    def work(_):
        while not stop.is_set():
            result = op(x)
            assert np.array_equal(result, x * x) or np.array_equal(result, x * x + 1), result
        return True

    with ThreadPoolExecutor(16) as pool:
        running = [pool.submit(work, i) for i in range(16)]
        for turn in range(20):
            text = SQUARE if turn % 2 else SQUARE.replace("x[i] * x[i];", "x[i] * x[i] + 1;")
            wb.op("wb_threads::square(Tensor x) -> Tensor", text, kernel="square", shape="x[*] -> y[*]")
        stop.set()
        assert all(future.result(timeout=60) for future in running)


def test_dask_workers_run_an_operator():
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    op = make("wb_dask")
    softmax = make_library()
    x = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            chunked = da.from_array(x, chunks=(16, 24))
            squared = chunked.map_blocks(op, dtype=np.float32).compute()
            np.testing.assert_array_equal(squared, x * x)
            cubed = chunked.map_blocks(softmax, by=0.5, dtype=np.float32).compute()
            # Three products, each rounded once.
            np.testing.assert_allclose(cubed, 0.5 * x.astype(np.float64) ** 3, rtol=4 * np.finfo(np.float32).eps)
            # An error of a worker is the operator's own.
            with pytest.raises(wb.ArgumentError, match="array of float64"):
                chunked.astype(np.float64).map_blocks(op, dtype=np.float32).compute()


def test_a_kernel_of_a_manifest_is_checked(tmp_path):
    (tmp_path / "r.py").write_text("def k(x): return 2 * x\n")
    text = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    (tmp_path / "a.toml").write_text(
        f'reference = "r.py"\ntext = "{text}"\n[k]\nschema = "wb_mf::k(Tensor x) -> Tensor"\ndtypes = ["float32"]\n[[k.samples]]\nx = {{ normal = [3] }}\n'
    )
    report = wb.load_library(tmp_path / "a.toml", trust=True).check()
    assert report and report[0].forward == report[0].shapes == 1
    (tmp_path / "r.py").write_text("def k(x): return 3 * x\n")
    report = wb.load_library(tmp_path / "a.toml", trust=True).check()
    assert not report and "differs by" in report[0].failures[0]


BESIDE = """
text = "at::Tensor halved(at::Tensor x) { return x / 2; } TORCH_LIBRARY_FRAGMENT(beside, m) { m.def(\\"halved(Tensor x) -> Tensor\\", &halved); }"
"""


def test_a_manifest_runs_python_only_where_it_is_trusted(tmp_path):
    (tmp_path / "m.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef halved(x): return x / 2\n")
    (tmp_path / "m.toml").write_text('reference = "m.py"\n' + BESIDE + "[halved]\n")
    with pytest.raises(wb.ArgumentError, match=r"to load it is to run m\.py; read that file.*trust=True"):
        wb.load_library(tmp_path / "m.toml")
    assert not (tmp_path / "ran").exists()
    library = wb.load_library(tmp_path / "m.toml", trust=True)
    assert (tmp_path / "ran").exists() and library.halved.check(np.ones(3, np.float32))
    (tmp_path / "m.toml").write_text(BESIDE + "[halved]\n")
    assert wb.load_library(tmp_path / "m.toml").halved(np.ones(1, np.float32)).tolist() == [0.5]


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("key", ["reference", "source"])
@pytest.mark.parametrize("place", ["../x.py", "sub/../../x.py", "{outside}/x.py", "link.py"])
def test_the_files_of_a_manifest_are_below_it(tmp_path, trust, key, place):
    inside, outside = tmp_path / "in", tmp_path
    (inside / "sub").mkdir(parents=True)
    (outside / "x.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    (inside / "link.py").symlink_to(outside / "x.py")
    (inside / "m.toml").write_text(f"{key} = '{place.format(outside=outside)}'\n" + (BESIDE if key == "reference" else "") + "[halved]\n")
    with pytest.raises(wb.ArgumentError, match=f"m.toml: `{key}` names .*below its own folder"):
        wb.load_library(inside / "m.toml", trust=trust)
    assert not (tmp_path / "ran").exists()


def test_headers_of_a_manifest_are_below_it_unless_it_is_trusted(tmp_path):
    inside = tmp_path / "in"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "h.h").write_text("#define BY 2\n")
    (inside / "sub" / "h.h").write_text("#define BY 2\n")
    text = '#include "{}"\nat::Tensor halved(at::Tensor x) {{ return x / BY; }} TORCH_LIBRARY_FRAGMENT(beside, m) {{ m.def("halved(Tensor x) -> Tensor", &halved); }}'
    for include, options, fine in (("sub/h.h", "[]", True), ("h.h", f'["-I{inside}/sub"]', True), ("../h.h", "[]", False), ("h.h", f'["-I{tmp_path}"]', False)):
        (inside / "m.cu").write_text(text.format(include))
        (inside / "m.toml").write_text(f"source = 'm.cu'\noptions = {options}\n[halved]\n")
        if not fine:
            with pytest.raises(wb.ArgumentError, match="below its"):
                wb.load_library(inside / "m.toml")
        assert wb.load_library(inside / "m.toml", trust=not fine).halved(np.ones(1, np.float32)).tolist() == [0.5]

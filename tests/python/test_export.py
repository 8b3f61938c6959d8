"""`op.export`: what is written, that its CUDA half is right, and what cannot be written."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.export import export

import export_operators
from fused import fma


TWICE = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Every operator of the shared ones, as an extension."""
    return export(export_operators.operators("exported"), tmp_path_factory.mktemp("export") / "many_ops")


def test_the_cuda_half_gives_what_numpy_does(exported):
    """Launchers and registrations are CUDA C++ of torch's dialect, which the package itself runs."""
    for text in (exported / "csrc").glob("*_cuda.cu"):
        module = (exported / "csrc" / text.name.replace("_cuda.cu", "_module.cpp")).read_text()
        schemas = "\n".join(re.findall(r"TORCH_LIBRARY_FRAGMENT\(.*?\n}\n", module, re.S))
        joined = exported / "csrc" / "joined.cu"
        joined.write_text(("#include <torch/library.h>\n" + schemas + text.read_text()).replace("exported", "half_on_gpu"))
        wb.load("joined", [str(joined)], is_python_module=False)
        joined.unlink()
    for name, args, kwargs, want in export_operators.arguments(np.random.default_rng(3)):
        op = getattr(wb.ops.half_on_gpu, name)
        made = op(*args, **kwargs)
        if name == "muladd" and len(args) == 2:
            # A kernel rounds once.
            want = fma(*args, np.float32(1))
        np.testing.assert_allclose(made, want, rtol=export_operators.TOLERANCES.get(name, 0), err_msg=name)
        if name == "outer":
            assert args[2][0] == 15
    with pytest.raises(RuntimeError, match="`b` has extent 3 on axis 0, but `n` is 2 already"):
        wb.ops.half_on_gpu.muladd(np.ones(2, np.float32), np.ones(3, np.float32))
    with pytest.raises(RuntimeError, match="argument `b` is of Double; Float is wanted"):
        wb.ops.half_on_gpu.muladd(np.ones(2, np.float32), np.ones(2))
    with pytest.raises(RuntimeError, match="`a` has shape .* the signature wants rank 1"):
        wb.ops.half_on_gpu.muladd(np.ones((2, 1), np.float32), np.ones(2, np.float32))


def test_the_cuda_half_compiles_for_a_gpu(exported):
    for text in (exported / "csrc").glob("*_cuda.cu"):
        stem = text.name.removesuffix("_cuda.cu")
        defines = dict(re.findall(r"#define (\w+) (.+)\n#include", text.read_text()))
        try:
            module = wb.compile((exported / "csrc" / f"{stem}.cu").read_text(), device="cuda", defines=defines)
        except wb.DeviceUnavailable as error:
            pytest.skip(str(error))
        assert ".entry" in module.ptx()


def test_every_file_reads_well(exported):
    python = [*exported.rglob("*.py")]
    assert sorted(path.name for path in python) == ["__init__.py", "setup.py", "test_operators.py"]
    for path in python:
        ast.parse(path.read_text())
    readme = (exported / "README.md").read_text()
    assert "| `exported::swap(Tensor a) -> Tensor` | CUDA |" in readme and "it uses `__shfl_xor_sync`" in readme
    assert "| `exported::rms_norm(Tensor x, Tensor? weight=None, *, float eps=1e-05) -> Tensor` | CPU and CUDA |" in readme
    assert (exported / "csrc" / "muladd.cu").read_text() == export_operators.KERNELS
    record = json.loads((exported / "tests" / "calls.json").read_text())
    assert record["keys"]["exported::muladd_backward"] == ["CPU", "CUDA"]
    assert {call["operator"] for call in record["calls"]} >= {"exported::muladd", "exported::swap"}
    # Written again, it replaces itself.
    export([wb.ops.exported.muladd], exported.with_name("again"))
    export([wb.ops.exported.muladd], exported.with_name("again"))


def test_an_operator_that_a_text_registers_is_its_text(tmp_path):
    text = """
    #include <torch/extension.h>
    at::Tensor plus(const at::Tensor& x, double by) { return x + by; }
    TORCH_LIBRARY_FRAGMENT(exported_text, m) { m.def("plus(Tensor x, float by=1.0) -> Tensor", &plus); }
    """
    wb.load_inline("plus", text, is_python_module=False)
    plus = wb.ops.exported_text.plus
    with pytest.raises(wb.ArgumentError, match=r"`exported_text::plus` has no samples; give samples=\["):
        plus.export(tmp_path / "plus_ops")
    with pytest.warns(UserWarning, match="without a fake kernel"):
        plus.export(tmp_path / "plus_ops", samples=[(np.ones(3),), {"x": np.ones((2, 2)), "by": 2.0}])
    module = (tmp_path / "plus_ops" / "csrc" / "plus_module.cpp").read_text()
    assert '#include "plus.cu"' in module and ".def(" not in module
    assert (tmp_path / "plus_ops" / "csrc" / "include" / "torch" / "extension.h").exists()

    @plus.register_fake
    def fake(x, by=1.0):
        return wb.empty_like(x)

    plus.export(tmp_path / "plus_ops", samples=[(np.ones(3),)])
    assert "class wb:" in (tmp_path / "plus_ops" / "plus_ops" / "_of_exported_text__plus.py").read_text()


@pytest.mark.parametrize("manifest", sorted(Path(__file__).parents[2].glob("kernels/*/*.toml")), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore:.*without a fake kernel")
def test_the_kernels_that_ship_are_extensions(manifest, tmp_path):
    folder = wb.load_library(manifest, trust=True).export(tmp_path / "shipped_ops")
    assert (folder / "csrc" / f"{manifest.stem}.cu").read_text() == manifest.with_suffix(".cu").read_text()
    record = json.loads((folder / "tests" / "calls.json").read_text())
    assert set(map(tuple, record["keys"].values())) == {("CUDA",)} and record["calls"]
    for path in folder.rglob("*.py"):
        ast.parse(path.read_text())


def keyword_gradient(ctx, grad: np.ndarray, factor=float):
    return grad * INFINITE


INFINITE = float("inf")


def test_what_a_gradient_uses_comes_along(tmp_path):
    op = twice_op()
    op.register_autograd(keyword_gradient)
    text = (op.export(tmp_path / "inf_ops") / "inf_ops" / "_of_exported_bad__twice.py").read_text()
    assert "import numpy as np\n" in text and 'INFINITE = float("inf")' in text
    ast.parse(text)


def test_a_kernel_and_a_host_function_of_one_text_are_apart(tmp_path):
    text = wb.compile(TWICE + "\nat::Tensor back(const at::Tensor& g) { return g * 2; }")
    op = wb.op("exported_both::twice(Tensor x) -> Tensor", text, "twice", shape="x[n] -> y[n]")
    back = wb.op("exported_both::back(Tensor g) -> Tensor", text, "back")
    back.register_fake(wb.empty_like)
    op.register_autograd("exported_both::back", saves=[])
    folder = op.export(tmp_path / "both_ops")
    launcher, host = [(folder / "csrc" / name).read_text() for name in ("twice_module.cpp", "back_module.cu")]
    assert "&workbench_exported_both_twice_cpu" in launcher and "back" not in launcher
    assert 'workbench_library.impl("back", &back)' in host and '#include "back.cu"' in host and "launch.h" not in host
    assert (folder / "csrc" / "twice_cuda.cu").exists()


def twice_op(**options):
    return wb.op("exported_bad::twice(Tensor x) -> Tensor", TWICE, **{"shape": "x[n] -> y[n]"} | options)


def a_gradient(ctx, grad):
    return some_set.pop() * grad


some_set = {2}


def test_what_cannot_be_exported_says_why(tmp_path):
    def refused(op, match, samples=None, folder="ops"):
        with pytest.raises(wb.ArgumentError, match=match):
            op.export(tmp_path / folder, samples=samples)

    refused(twice_op(shape=lambda x: x), "`exported_bad::twice` cannot be exported: a callable gives its shapes; a signature can")
    refused(wb.op("exported_bad::py(Tensor x) -> Tensor", lambda x: x + 1), "is a callable of Python's; torch.library.custom_op")
    fresh = wb.op(
        "exported_bad::fresh(int n) -> Tensor", "__global__ void fresh(float* o, int n) { if (threadIdx.x < n) o[threadIdx.x] = 1; }",
        shape="-> o[n]",
    )
    refused(fresh, "no argument is a tensor")
    several = twice_op()
    several.register_kernel("cpu", wb.compile(TWICE.replace("float", "double")).twice)
    refused(several, "it has kernels of several modules")
    headers = wb.compile('#include "h.h"\n' + TWICE, headers={"h.h": "\n"})
    refused(wb.op("exported_bad::twice(Tensor x) -> Tensor", headers, shape="x[n] -> y[n]"), "compiled with headers=")
    op = twice_op()
    op.register_autograd(lambda ctx, grad: grad * 2)
    refused(op, "the backward of `exported_bad::twice` cannot be exported: only a function written with `def`")
    op.register_autograd(a_gradient)
    refused(op, "it uses `some_set`, which would not be there")
    factor = 2

    def enclosed(ctx, grad):
        return factor * grad

    op.register_autograd(enclosed)
    refused(op, "it uses variables of the function that it was written in")
    op = twice_op()
    refused(op, "samples is a list of calls", samples=np.ones(3))
    refused(op, "samples is a list of calls", samples=[])
    refused(op, "a sample is a tuple of arguments or a dict of them by name, got float64", samples=[np.float64(1)])
    refused(op, "argument `x` is an array of float64", samples=[(np.ones(3),)])
    refused(op, "the package would be called `torch`", folder="torch")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "notes.txt").write_text("mine")
    refused(op, "has files that op.export did not write", folder="theirs")
    refused(op, "is a file; a directory is wanted", folder="theirs/notes.txt")
    assert [p.name for p in (tmp_path / "theirs").iterdir()] == ["notes.txt"] and not (tmp_path / "ops").exists()
    assert op.export(tmp_path / "2 ops!") == tmp_path / "2 ops!"
    assert (tmp_path / "2 ops!" / "_2_ops_" / "__init__.py").exists()


def test_an_index_that_leaves_the_array_asks_for_samples(tmp_path):
    take = wb.op(
        "exported_bad::take(Tensor x, Tensor index) -> Tensor",
        "__global__ void take(const float* x, const int* index, float* o, int n) "
        "{ int i = threadIdx.x; if (i < n) o[i] = x[index[i] + 2000]; }",
        shape="x[m], index[n] -> o[n]",
    )
    with pytest.raises(wb.ArgumentError, match=r"`exported_bad::take` cannot be run on a sample .*; give samples="):
        take.export(tmp_path / "take_ops")

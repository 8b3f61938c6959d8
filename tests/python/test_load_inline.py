"""`wb.load_inline`: torch's signature for kernels and scalar host functions."""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np
import pytest
from conftest import SAXPY

import workbench as wb


def test_functions_become_attributes_of_a_module():
    m = wb.load_inline(
        name="ext", cpp_sources="int twice(int x);", cuda_sources=[SAXPY, "int twice(int x) { return 2 * x; }"], functions=["saxpy", "twice"]
    )
    assert isinstance(m, ModuleType) and m.__name__ == "ext"
    assert m.twice(4) == 8
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    m.saxpy[1, 32](2.0, x, y, 3)
    assert (y == 2).all()


def test_functions_may_be_one_name_a_dict_or_nothing():
    source = "int f(int x) { return x; }\nint g(int x) { return -x; }"
    assert wb.load_inline("e", source, functions="f").f(1) == 1
    assert wb.load_inline("e", source, functions={"g": "negates"}).g(1) == -1
    m = wb.load_inline("e", source)
    assert m.f(2) == 2 and m.g(2) == -2
    assert not hasattr(wb.load_inline("e", source, functions=["f"]), "g")
    with pytest.raises(wb.ArgumentError, match="`h`"):
        wb.load_inline("e", source, functions=["h"])


def test_flags_are_honoured_or_refused(tmp_path):
    (tmp_path / "step.h").write_text("#define STEP 5\n")
    m = wb.load_inline(
        "e",
        '#include "step.h"\nint f(int x) { return x + STEP + MORE; }',
        extra_cflags=["-O3", "-DMORE=1"],
        extra_cuda_cflags=["--use_fast_math"],
        extra_include_paths=[str(tmp_path)],
        extra_ldflags=["-lcudart"],
        build_directory=str(tmp_path / "nothing"),
        with_cuda=True,
    )
    assert m.f(1) == 7 and not (tmp_path / "nothing").exists()
    refused = [
        {"extra_ldflags": ["-lcublas"]},
        {"extra_cflags": ["-funsigned-char"]},
        {"sycl_sources": "x"},
    ]
    for options in refused:
        with pytest.raises(wb.ArgumentError):
            wb.load_inline("e", "int f(int x) { return x; }", **options)


def test_a_message_names_the_source_that_was_given():
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("e", "int f(int x);", "\n__global__ void k(int* x) {\n    x[0] = nowhere;\n}")
    first = caught.value.diagnostics[0]
    assert (first.file, first.line, first.column) == ("cuda.cu", 3, 12)


def test_what_host_code_cannot_do_ends_in_a_diagnostic():
    source = "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x.sparse_mask(x); }"
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("e", source, functions=["f"])
    assert any(d.line == 2 for d in caught.value.diagnostics)


def test_the_signature_is_torchs():
    names = list(inspect.signature(wb.load_inline).parameters)
    assert names[:7] == ["name", "cpp_sources", "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags", "extra_ldflags"]
    torch = pytest.importorskip("torch.utils.cpp_extension")
    assert set(inspect.signature(torch.load_inline).parameters) <= set(names)


def test_results_lie_in_memory_as_torch_has_them():
    """`empty_like` and its kin keep the order of the dimensions, so that pointers to both walk alike."""
    source = """
    torch::Tensor twice(const torch::Tensor& a) {
        auto out = torch::empty_like(a);
        const float* from = a.data_ptr<float>(); float* to = out.data_ptr<float>();
        for (int64_t i = 0; i < a.numel(); ++i) to[i] = 2 * from[i];
        return out;
    }
    std::vector<torch::Tensor> all(const torch::Tensor& a) {
        return {torch::zeros_like(a), a.clone(), a.relu(), a.sin(), a * 2, 2 * a, a + a, a > 0, torch::full_like(a, 3), a.to(torch::kDouble)};
    }
    """
    m = wb.load_inline("ordered", source)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 10
    for a in (x, np.asfortranarray(x), x.transpose(1, 2, 0), x.transpose(0, 2, 1)):
        np.testing.assert_array_equal(m.twice(a), 2 * a)
        wanted = [0 * a, a, np.maximum(a, 0), np.sin(a.astype(np.float64)), 2 * a, 2 * a, 2 * a, a > 0, 0 * a + 3, a]
        for got, want in zip(m.all(a), wanted):
            # `sin` is rounded once from more digits.
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=0)
            assert [s // got.itemsize for s in got.strides] == [s // a.itemsize for s in a.strides]
    # What is not dense has no order to keep.
    assert m.all(x[:, ::2])[0].flags.c_contiguous


def test_dimensions_from_the_end():
    text = """#include <ATen/WrapDimUtils.h>
    int64_t at_(int64_t d, int64_t n) { return at::maybe_wrap_dim(d, n); }
    int64_t c10_(int64_t d, int64_t n) { return c10::maybe_wrap_dim(d, n, false); }"""
    m = wb.compile(text)
    assert [m.at_(d, 3) for d in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    assert m.at_(-1, 0) == 0 and m.c10_(1, 2) == 1
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-3, 2\], but got 3\)"):
        m.at_(3, 3)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        m.c10_(0, 0)

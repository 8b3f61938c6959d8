"""Whole inline extensions in the styles found in the wild, unedited: `inline/*.py` each hold the sources, what `load_inline` is
told, and a check of the results against NumPy. `t` is what a check gets besides the module; a runner for torch could be another."""

import contextlib
import pathlib

import numpy as np
import pytest

import workbench as wb

SOURCES = sorted((pathlib.Path(__file__).parent / "inline").glob("[0-9]*.py"))

# Constructs known to be missing; each of these fails, and the test says so when it no longer does.
MISSING = {
    "56_pybind_class": "py::class_",
}


class Numpy:
    """Arrays in, arrays out."""

    argument_error = wb.ArgumentError
    ops = wb.ops

    def __init__(self):
        self.rng = np.random.default_rng(7)

    def prefer_cuda(self, op, *args, **kwargs):
        return op(*args, **kwargs, prefer="cuda")

    def __call__(self, x):
        x = np.asarray(x)
        return x.copy() if x.flags.c_contiguous else x

    def np(self, y):
        array = np.asarray(y)
        return array.astype(np.float32) if array.dtype.name == "bfloat16" else array

    def close(self, y, expected, rtol=1e-5, atol=1e-6):
        got, expected = self.np(y), np.asarray(expected)
        assert got.shape == expected.shape

        def kind(dtype):
            return "i" if dtype.kind in "iu" else dtype.kind

        assert kind(got.dtype) == kind(expected.dtype), (got.dtype, expected.dtype)
        if kind(got.dtype) in "ib":
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol)

    @contextlib.contextmanager
    def raises(self, kind, part=""):
        with pytest.raises(kind) as caught:
            yield
        assert part in str(caught.value)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_source(path, request):
    if path.stem in MISSING:
        request.applymarker(pytest.mark.xfail(reason=MISSING[path.stem], strict=True))
    cell = {}
    exec(compile(path.read_text(), str(path), "exec"), cell)
    module = wb.load_inline(
        name="ext",
        cpp_sources=cell["CPP"],
        cuda_sources=cell["CUDA"],
        functions=cell["FUNCTIONS"],
        is_python_module=not cell.get("LIBRARY", False),
    )
    cell["check"](module, Numpy())


def test_there_are_enough_sources():
    assert len(SOURCES) - len(MISSING) >= 120

"""Operators of kernels with dynamic shared memory: `wb.op(..., shared_mem=)`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import workbench as wb

from export_operators import MIRRORED


def mirrored(name: str = "shared_mem::mirrored", **options) -> wb.Op:
    return wb.op(f"{name}(Tensor x) -> Tensor", MIRRORED, shape="x[r, cols] -> y[r, cols]", grid="r", block=32, **options)


def test_bytes_are_an_expression_over_dims(rng):
    op = mirrored(shared_mem="4 * cols")
    for shape in ((1, 1), (3, 37), (2, 1000), (2, 12_000), (0, 5), (3, 37)):
        x = rng.standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(op(x), x[:, ::-1])
    # A number of bytes for all.
    np.testing.assert_array_equal(mirrored(shared_mem=64)(np.arange(16, dtype=np.float32)[None]), np.arange(15, -1, -1)[None])


def test_what_is_past_them_is_a_fault():
    op = mirrored(shared_mem=16)
    with pytest.raises(wb.KernelFault, match="`row`, which has 4 elements"):
        op(np.ones((1, 5), np.float32))
    with pytest.raises(wb.KernelFault, match="index 0 of `row`"):
        mirrored()(np.ones((1, 1), np.float32))


def test_bytes_that_are_none_are_told():
    x = np.ones((1, 3), np.float32)
    with pytest.raises(wb.ArgumentError, match="-1 bytes of shared memory, by `shared_mem=`"):
        mirrored(shared_mem="2 - cols")(x)
    with pytest.raises(wb.ArgumentError, match="division by zero: 3 / 0 in `shared_mem=`"):
        mirrored(shared_mem="cols / 0")(x)
    with pytest.raises(wb.ArgumentError, match="shared_mem= is one number of bytes; 2 given"):
        mirrored(shared_mem="cols, r")
    with pytest.raises(wb.ArgumentError, match="width"):
        mirrored(shared_mem="4 * width")
    with pytest.raises(wb.ArgumentError, match="shared memory"):
        mirrored(shared_mem=1 << 30)(x)
    with pytest.raises(wb.ArgumentError, match="leave out shared_mem="):
        wb.op("shared_mem::callable(Tensor x) -> Tensor", lambda x: x + 1, shared_mem=4)
    with pytest.raises(wb.ArgumentError, match="leave out shared_mem="):
        text = "#include <torch/extension.h>\nat::Tensor host(const at::Tensor& x) { return x + x; }"
        wb.op("shared_mem::host(Tensor x) -> Tensor", text, shared_mem=4)
    np.testing.assert_array_equal(mirrored(shared_mem="4 * cols")(x), x)


def test_an_integer_argument_may_count_them():
    text = MIRRORED.replace("mirrored(", "kept(")
    op = wb.op("shared_mem::kept(Tensor x, int bytes) -> Tensor", text, shape="x[r, cols] -> y[r, cols]", grid="r", block=32, shared_mem="bytes")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(op(x, 12), x[:, ::-1])
    with pytest.raises(wb.KernelFault, match="`row`, which has 2 elements"):
        op(x, 8)


def test_it_travels(tmp_path, rng):
    op, x = mirrored(shared_mem="4 * cols"), rng.standard_normal((2, 9)).astype(np.float32)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(op))(x), x[:, ::-1])
    op.save(tmp_path / "mirrored.toml")
    assert 'shared_mem = "4 * cols"' in (tmp_path / "mirrored.toml").read_text()
    mirrored()
    loaded = wb.load_library(tmp_path / "mirrored.toml").mirrored
    np.testing.assert_array_equal(loaded(x), x[:, ::-1])


def test_a_check_and_its_writers_have_them_too(rng):
    x = rng.standard_normal((2, 9)).astype(np.float32)
    report = mirrored(shared_mem="4 * cols").check(x, reference=lambda x: x[:, ::-1] + (np.arange(9) == 4))
    # The middle of each row is wrong, and the report says who wrote it.
    assert not report.passed and "thread" in str(report)

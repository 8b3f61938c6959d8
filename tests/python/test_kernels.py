"""The operators that ship: each manifest checked, and what a manifest cannot say."""

import re
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "kernels").rglob("*.toml"))


def load(name):
    (path,) = [path for path in MANIFESTS if path.stem == name]
    return getattr(wb.load_library(path, trust=True), name)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_operator_agrees_with_its_reference(path):
    library = wb.load_library(path, trust=True)
    rows = library.check()
    assert rows and not [failure for row in rows for failure in row.failures]
    for row in rows:
        assert row.forward >= 12 and {"float32", "float64"} <= set(row.dtypes)
        # All but the optimizer's step and `nonzero` have gradients, and are compared in all of them.
        assert row.gradients > 0 or row.operator in ("adam_step_", "nonzero")
        assert row.shapes == row.forward or row.operator == "nonzero"


def test_the_table_of_the_operators_names_every_one():
    text = (ROOT / "kernels/README.md").read_text()
    for path in MANIFESTS:
        assert f"| {path.parent.name}/{path.stem} |" in text


def test_every_operator_that_was_promised_is_there():
    promised = """muladd relu gelu silu swiglu softmax log_softmax layer_norm rms_norm group_norm cross_entropy rotary_embedding embedding
        matmul causal_attention conv2d depthwise_conv1d max_pool2d topk nonzero cumsum segment_sum adam_step_"""
    assert set(promised.split()) == {path.stem for path in MANIFESTS}


def test_a_check_finds_what_is_wrong(tmp_path):
    texts = {path.suffix: path.read_text() for path in (ROOT / "kernels/elementwise").glob("silu.*")}

    def failures(suffix, old, new):
        assert old in texts[suffix]
        for end, text in texts.items():
            (tmp_path / f"silu{end}").write_text(text.replace(old, new) if end == suffix else text)
        return [failure for row in wb.load_library(tmp_path / "silu.toml", trust=True).check() for failure in row.failures]

    assert failures(".py", "0.5 * np.tanh", "0.5 * np.tanh") == []
    wrong_values = failures(".py", "0.5 * np.tanh", "0.501 * np.tanh")
    assert any("result 0 differs by" in f for f in wrong_values) and any("float64" in f for f in wrong_values)
    assert any("result 0 has the shape" in f for f in failures(".py", "return x", "return x[None]"))
    wrong = failures(".toml", 'saves = ["x"]', 'saves = ["output"]')
    assert any("the gradient of `x` at" in f and "is off by" in f for f in wrong)
    load("silu")


def test_embedding():
    op = load("embedding")
    rng = np.random.default_rng(3)
    w, ids, g = rng.standard_normal((4, 3)), np.array([1, 3, 0, 3]), rng.standard_normal((4, 3))
    backward = wb.ops.kernels.embedding_backward
    want = np.zeros((4, 3))
    np.add.at(want, ids, g)
    # Two sums of two numbers, in float64.
    np.testing.assert_allclose(backward(g, ids, w, None), want, rtol=1e-15, atol=1e-15)
    want[3] = 0
    np.testing.assert_allclose(backward(g, ids, w, -1), want, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(backward(g, ids, w, 3), want, rtol=1e-15, atol=1e-15)
    for bad in (4, -1):
        with pytest.raises(wb.KernelFault, match="index is outside the table"):
            op(np.array([0, bad]), w)
        with pytest.raises(wb.KernelFault, match="index is outside the table"):
            backward(g[:2], np.array([0, bad]), w, None)
    with pytest.raises(RuntimeError, match="padding_idx"):
        op(ids, w, 4)
    # 5000 ones in half precision; added up in it they would stop at 2048.
    big = backward(np.ones((5000, 1), np.float16), np.zeros(5000, np.int64), np.zeros((1, 1), np.float16), None)
    assert big[0, 0] == 5000


def test_cross_entropy():
    op = load("cross_entropy")
    x, none = np.random.default_rng(3).standard_normal((2, 3)), np.array([-100, -100])
    assert np.isnan(op(x, none)) and op(x, none, reduction="sum") == 0
    assert np.isnan(op(x[:0], none[:0]))
    for bad in (3, -1):
        with pytest.raises(wb.KernelFault, match="a target is not a class"):
            op(x, np.array([0, bad]))
    with pytest.raises(ValueError, match="reduction must be"):
        op(x, none, reduction="max")
    with pytest.raises(RuntimeError, match="expected targets of Long, got Int"):
        op(x, none.astype(np.int32))


def test_numbers_that_are_none_go_through():
    nan = np.array([[1.0, np.nan, -2.0], [0.0, 1.0, 2.0]], np.float32)
    for name in ("relu", "silu", "gelu"):
        assert (np.isnan(load(name)(nan)) == np.isnan(nan)).all()
    for name in ("softmax", "log_softmax"):
        result = load(name)(nan, -1)
        assert np.isnan(result[0]).all() and not np.isnan(result[1]).any()
    values, indices = load("max_pool2d")(nan[None], [2, 2], [1, 1])
    assert np.isnan(values).all() and (indices == 1).all()
    values, indices = load("topk")(nan, 2)
    assert np.isnan(values[0, 0]) and indices.tolist() == [[1, 0], [2, 1]]


WRONG = {
    "gelu": (ValueError, "approximate must be 'none' or 'tanh', got 'erf'", lambda op: op(np.ones(3), "erf")),
    "softmax": (IndexError, r"dim is 2, expected it in \[-2, 1\]", lambda op: op(np.ones((2, 3)), 2)),
    "log_softmax": (IndexError, "dim is -3", lambda op: op(np.ones((2, 3)), -3)),
    "topk": (RuntimeError, "k is 4, the dimension has 3 elements", lambda op: op(np.ones((2, 3)), 4)),
    "conv2d": (ValueError, r"stride is \[0, 1\]", lambda op: op(np.ones((1, 1, 3, 3)), np.ones((1, 1, 1, 1)), stride=[0, 1])),
    "max_pool2d": (ValueError, "at most half of the kernel_size", lambda op: op(np.ones((1, 4, 4)), 2, padding=2)),
    "layer_norm": (RuntimeError, r"normalized_shape is \[2\], the input has the shape \[2, 3\]", lambda op: op(np.ones((2, 3)), [2])),
    "group_norm": (RuntimeError, "4 channels do not divide into 3 groups", lambda op: op(np.ones((1, 4)), 3)),
    "causal_attention": (RuntimeError, "dim is 257, expected at most 256", lambda op: op(*[np.ones((1, 1, 1, 257))] * 3)),
    "adam_step_": (ValueError, "steps count from 1, got 0", lambda op: op(*[np.ones(3) for _ in range(4)], 0)),
    "segment_sum": (wb.KernelFault, "an index is not a segment", lambda op: op(np.ones((2, 3)), np.array([0, 2]), 2)),
    "matmul": (RuntimeError, "matmul", lambda op: op(np.ones((2, 3)), np.ones((2, 3)))),
    "muladd": (RuntimeError, "muladd", lambda op: op(np.ones(3), np.ones(3, np.float32), 1.0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_said(name):
    kind, message, call = WRONG[name]
    with pytest.raises(kind, match=message):
        call(load(name))


def test_the_kernels_of_gelu_stand_alone():
    text = (ROOT / "kernels/elementwise/gelu.cu").read_text()
    x, y = np.linspace(-3, 3, 1000).astype(np.float32), np.zeros(1000, np.float32)
    wb.compile(text).gelu[4, 256](x, y, 1000)
    wide = x.astype(np.float64)
    want = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    # A dozen float operations on numbers of at most 3.
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)

"""Convolutions in host code, which are products of matrices of windows: against their definition, in whole numbers, so that every sum is exact.

Extents around those at which a band of rows ends, windows that hang over every edge, and strides that skip some of the input.
"""

import itertools

import numpy as np
import pytest

import workbench as wb

TEXT = r"""
#include <torch/extension.h>
torch::Tensor conv(torch::Tensor x, torch::Tensor w, at::IntArrayRef s, at::IntArrayRef p, at::IntArrayRef d, int64_t groups) {
    return torch::conv2d(x, w, {}, s, p, d, groups);
}
torch::Tensor line(torch::Tensor x, torch::Tensor w, torch::Tensor b) { return torch::conv1d(x, w, b, 2, 3, 2); }
TORCH_LIBRARY(wb_convolutions, m) {
    m.def("conv(Tensor x, Tensor w, int[] s, int[] p, int[] d, int groups) -> Tensor", &conv);
    m.def("line(Tensor x, Tensor w, Tensor b) -> Tensor", &line);
}
"""


@pytest.fixture(scope="module")
def ops():
    wb.load_inline("wb_convolutions", TEXT, is_python_module=False)
    return wb.ops.wb_convolutions


def whole(shape, seed, of=np.float32):
    """Small whole numbers: products and sums of some thousands of them are exact in every type here."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(of)


def by_definition(x, w, g, stride, padding, dilation, groups):
    """The sums of products, and their gradients for a gradient of the result."""
    y, to_x, to_w = np.zeros(g.shape), np.zeros(x.shape), np.zeros(w.shape)
    per, channels = w.shape[0] // groups, w.shape[1]
    for n, o, r, c in itertools.product(*map(range, g.shape)):
        for k, i, j in itertools.product(range(channels), range(w.shape[2]), range(w.shape[3])):
            u, v = r * stride[0] - padding[0] + i * dilation[0], c * stride[1] - padding[1] + j * dilation[1]
            if 0 <= u < x.shape[2] and 0 <= v < x.shape[3]:
                at = n, o // per * channels + k, u, v
                y[n, o, r, c] += x[at] * w[o, k, i, j]
                to_x[at] += g[n, o, r, c] * w[o, k, i, j]
                to_w[o, k, i, j] += g[n, o, r, c] * x[at]
    return y, to_x, to_w


def plain(ops, x, w, stride, padding):
    """A convolution without dilation and groups."""
    return ops.conv(x, w, [stride] * 2, [padding] * 2, [1, 1], 1)


CASES = [
    # Input, weight, stride, padding, dilation, groups.
    ((2, 3, 5, 6), (4, 3, 3, 2), (1, 1), (0, 0), (1, 1), 1),
    ((1, 4, 7, 5), (6, 2, 3, 3), (2, 3), (1, 2), (1, 1), 2),
    ((2, 3, 6, 9), (3, 1, 2, 4), (1, 2), (3, 1), (2, 2), 3),
    ((1, 1, 1, 1), (2, 1, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    # Windows that miss the input altogether, on both sides.
    ((1, 1, 2, 2), (1, 1, 1, 1), (1, 1), (4, 3), (1, 1), 1),
    ((1, 2, 9, 4), (2, 2, 1, 1), (4, 3), (0, 0), (1, 1), 1),
    ((3, 2, 4, 4), (2, 2, 2, 2), (1, 1), (2, 2), (3, 5), 1),
    ((0, 2, 4, 4), (3, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("of", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_and_gradients_are_the_sums_of_their_definition(ops, case, of):
    shape, weight, stride, padding, dilation, groups = case
    x, w = whole(shape, 1, of), whole(weight, 2, of)
    extents = [(shape[2 + d] + 2 * padding[d] - dilation[d] * (weight[2 + d] - 1) - 1) // stride[d] + 1 for d in (0, 1)]
    g = whole((shape[0], weight[0], *extents), 3, of)
    made, pull = ops.conv.vjp(x, w, list(stride), list(padding), list(dilation), groups)
    for one, expected in zip([made, *pull(g)[:2]], by_definition(x, w, g, stride, padding, dilation, groups)):
        assert one.dtype == of and one.shape == expected.shape and np.array_equal(one, expected)


@pytest.mark.parametrize("width", [1, 63, 64, 65, 300])
def test_images_of_several_bands_of_rows(ops, width):
    # 64 channels of 3 x 3 are 576 rows of the matrix: some bands of 131,072 elements each.
    x, w = whole((1, 64, 40, width), 4), whole((5, 64, 3, 3), 5)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    assert np.array_equal(plain(ops, x, w, 1, 1), np.einsum("nchwij,ocij->nohw", windows, w))
    assert np.array_equal(plain(ops, x, w, 2, 1), np.einsum("nchwij,ocij->nohw", windows[:, :, ::2, ::2], w))


def test_views_and_integers(ops):
    x, w = whole((4, 2, 6, 7), 6), whole((3, 2, 2, 2), 7)
    expected = plain(ops, np.ascontiguousarray(x.transpose(0, 1, 3, 2)), w, 1, 0)
    assert np.array_equal(plain(ops, x.transpose(0, 1, 3, 2), w, 1, 0), expected)
    assert np.array_equal(plain(ops, x[::2, :, ::-1][:, :, ::-1], w, 1, 0), plain(ops, x, w, 1, 0)[::2])
    assert np.array_equal(plain(ops, x.astype(np.int64), w.astype(np.int64), 1, 1), plain(ops, x, w, 1, 1))


def test_one_dimension_with_a_bias(ops):
    x, w, b = whole((2, 3, 11), 8), whole((4, 3, 3), 9), whole(4, 10)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (3, 3)])
    at = np.arange(0, padded.shape[2] - 4, 2)[:, None] + np.arange(3) * 2
    assert np.array_equal(ops.line(x, w, b), np.einsum("ncpk,ock->nop", padded[:, :, at], w) + b[:, None])

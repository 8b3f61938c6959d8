"""Layers and losses in host code: what torch's own functions give, called from the same text built by torch's compiler."""

import numpy as np
import pytest
import torch
from torch.utils.cpp_extension import load_inline

import workbench as wb

# Each a result of float tensors: `x` of 2 x 4 x 7 x 9, `v` of 3 x 6 x 11, `c` of 2 x 4 x 5 x 6 x 7, `w` of 4 x 2 x 3 x 3, `m` and `n` of
# 5 x 8, `p` of 5 x 8 in (0, 1), `t` of 5 classes.
CASES = [
    "torch::max(m, n)", "torch::min(m, n)", "m.max(n)", "m.min(n)",
    "torch::max_pool2d(x, 3)", "torch::max_pool2d(x, {3, 2}, {2, 1}, {1, 0})", "torch::max_pool2d(x, 3, 2, 1, 2, true)", "torch::max_pool1d(v, 3, 2, 1)",
    "torch::max_pool3d(c, 2, 2, 0, 1, true)", "torch::max_pool2d(x[0], 2)",
    "torch::avg_pool2d(x, 3)", "torch::avg_pool2d(x, 3, 2, 1)", "torch::avg_pool2d(x, 3, 2, 1, true)", "torch::avg_pool2d(x, 3, 2, 1, true, false)",
    "torch::avg_pool2d(x, {2, 3}, {1, 2}, {1, 1}, false, false)", "torch::avg_pool2d(x, 2, 2, 0, false, true, 3)", "torch::avg_pool1d(v, 4, 3, 2)",
    "torch::avg_pool3d(c, 2, 1, 1)", "torch::adaptive_avg_pool2d(x, {3, 4})", "torch::adaptive_avg_pool2d(x, {1, 1})", "torch::adaptive_avg_pool1d(v, 5)",
    "torch::conv_transpose2d(x, w)", "torch::conv_transpose2d(x, w, {}, 2, 1, 1)", "torch::conv_transpose2d(x, w, torch::ones({4}), 2, 1, 0, 2)",
    "torch::conv_transpose2d(x, w, {}, {2, 3}, {1, 2}, {1, 0}, 1, {2, 1})", "torch::conv_transpose1d(v, v.reshape({6, 3, 11}).slice(2, 0, 4), {}, 2, 1)",
    "torch::conv3d(c, torch::ones({3, 4, 2, 3, 2}) * 0.5, torch::ones({3}), {1, 2, 1}, {1, 0, 1})", "torch::conv3d(c, torch::ones({4, 2, 2, 2, 2}), {}, {1, 1, 1}, {0, 1, 0}, {2, 1, 1}, 2)",
    "at::convolution(x, w.transpose(0, 1), {}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1)", "at::convolution(x, w, {}, {2, 2}, {1, 1}, {1, 1}, true, {1, 1}, 1)",
    "torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false)", "torch::batch_norm(x, torch::arange(4).to(torch::kFloat), torch::ones({4}), torch::ones({4}), torch::ones({4}) * 3, false, 0.1, 1e-3, false)",
    "torch::batch_norm(m, {}, {}, {}, {}, true, 0.1, 1e-5, false)", "torch::group_norm(x, 2)", "torch::group_norm(x, 4, torch::arange(4).to(torch::kFloat), torch::ones({4}), 1e-3)",
    "torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false)", "std::get<2>(torch::native_layer_norm(m, {8}, {}, {}, 1e-5))",
    "torch::dropout(x, 0.5, false)", "torch::dropout(x, 0.0, true)", "torch::celu(m, 0.7)", "torch::prelu(x, torch::ones({4}) * 0.25)", "torch::prelu(m, torch::ones({1}) * 0.25)",
    "torch::glu(m)", "torch::glu(m.slice(0, 0, 4), 0)", "torch::_softmax(m, 1, false)", "torch::pixel_shuffle(x, 2)", "torch::im2col(x, {2, 3}, {1, 2}, {1, 0}, {2, 1})",
    "torch::scaled_dot_product_attention(v, v, v)", "torch::scaled_dot_product_attention(v, v, v, {}, 0.0, true)",
    "torch::scaled_dot_product_attention(v, v, v, torch::ones({6, 6}).tril().to(torch::kBool), 0.0, false, 0.5)",
    "torch::upsample_nearest2d(x, {10, 5})", "torch::upsample_nearest2d(x, {10, 5}, 1.7, 0.6)", "torch::upsample_bilinear2d(x, {10, 5}, false)", "torch::upsample_bilinear2d(x, {14, 18}, true)",
    "torch::nll_loss(m.log_softmax(1), t)", "torch::nll_loss(m.log_softmax(1), t, {}, 0)", "torch::nll_loss(m.log_softmax(1), t, torch::arange(8).to(torch::kFloat) + 1, 1, 3)",
    "torch::cross_entropy_loss(m, t)", "torch::cross_entropy_loss(m, t, {}, 2)", "torch::cross_entropy_loss(m, t, torch::arange(8).to(torch::kFloat) + 1, 1, 3, 0.1)",
    "torch::cross_entropy_loss(m, t, {}, 0, -100, 0.2)", "torch::cross_entropy_loss(m, p / p.sum(1, true))", "torch::kl_div(p.log(), p.flip({0}))",
    "torch::kl_div(p.log(), p.flip({0}).log(), 2, true)", "torch::smooth_l1_loss(m, n)", "torch::smooth_l1_loss(m, n, 0, 0.5)", "torch::huber_loss(m, n, 2, 0.7)",
    "torch::binary_cross_entropy(p, p.flip({1}))", "torch::binary_cross_entropy(p, p.flip({1}), p, 0)", "torch::cosine_similarity(m, n)", "torch::cosine_similarity(m, n, 0)",
    "torch::pairwise_distance(m, n)", "torch::pairwise_distance(m, n, 1.0, 1e-6, true)", "torch::triplet_margin_loss(m, n, p)",
    "torch::triplet_margin_loss(m, n, p, 0.5, 2, 1e-6, true, 0)", "torch::margin_ranking_loss(m[0], n[0], m[0].sign(), 0.2)",
    "m.clip(-0.5, 0.5)", "torch::clip(m, {}, 0.25)", "m.multiply(n)", "m.divide(2)", "torch::true_divide(m, n)", "m.subtract(n)", "m.greater(n).to(torch::kFloat)",
    "torch::less_equal(m, 0).to(torch::kFloat)", "m.not_equal(0).to(torch::kFloat)", "m.negative()", "torch::absolute(m)", "m.ravel()", "m.tile({2, 3})", "m[0].broadcast_to({3, 8})",
    "m.clone().div_(n, \"floor\")", "m.clone().clip_(0)", "torch::where(m > 0)[1].to(torch::kFloat)",
]  # fmt: skip
# Calls that torch refuses, and the class of its error.
REFUSED = [
    "torch::max_pool2d(m, 2)", "torch::max_pool2d(x, 2, 2, 3)", "torch::max_pool2d(x, 20)", "torch::batch_norm(x, {}, {}, {}, {}, false, 0.1, 1e-5, false)",
    "torch::group_norm(x, 3)", "torch::nll_loss(m.log_softmax(1), t + 7)", "torch::dropout(x, 1.5, true)", "torch::glu(m, 0)", "torch::conv_transpose2d(x, w, {}, 2, 1, 2)", "torch::conv3d(c, ones({1, 4, 6, 1, 1}))", "torch::pixel_shuffle(x, 3)", "torch::max_pool2d(x, 3, 1, 2, 2)", "torch::max_pool1d(v, 3, 1, 2, 2)",
    "torch::scaled_dot_product_attention(v, v, v, ones({6, 6}), 0.0, true)", "m.to(torch::kLong).div_(2, std::nullopt)", "torch::adaptive_avg_pool2d(x, 1)",
]  # fmt: skip
NAMES = ["x", "v", "c", "w", "m", "n", "p", "t"]


def text(dtype):
    lines = ["#include <torch/extension.h>"]
    params = ", ".join(f"torch::Tensor {name}" for name in NAMES)
    for i, case in enumerate(CASES + REFUSED):
        lines.append(f"torch::Tensor f{i}({params}) {{ return {case}; }}")
    return "\n".join(lines).replace("kFloat", dtype).replace("torch::ones(", "ones(").replace(
        "#include <torch/extension.h>",
        f"#include <torch/extension.h>\nstatic torch::Tensor ones(torch::IntArrayRef n) {{ return torch::ones(n, torch::{dtype}); }}",
    )


def arrays(dtype):
    rng = np.random.default_rng(20261124)
    shapes = [(2, 4, 7, 9), (3, 6, 11), (2, 4, 5, 6, 7), (4, 2, 3, 3), (5, 8), (5, 8)]
    normal = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return [*normal, rng.uniform(0.05, 0.95, (5, 8)).astype(dtype), rng.integers(0, 8, 5)]


@pytest.fixture(scope="module")
def built():
    functions = [f"f{i}" for i in range(len(CASES) + len(REFUSED))]
    theirs = load_inline("nn_of_torch", text("kDouble"), functions=functions, extra_cflags=["-O0"])
    ours = {name: wb.load_inline(f"nn_{name}", text(name), functions=functions) for name in ("kDouble", "kFloat")}
    return theirs, ours


@pytest.mark.parametrize("i", range(len(CASES)), ids=CASES)
def test_results_are_torchs(built, i):
    theirs, ours = built
    expected = getattr(theirs, f"f{i}")(*map(torch.from_numpy, arrays(np.float64))).numpy()
    double = getattr(ours["kDouble"], f"f{i}")(*arrays(np.float64))
    assert double.shape == expected.shape and double.dtype == expected.dtype
    # Sums of at most a few hundred terms of about 1, whatever their order.
    np.testing.assert_allclose(double, expected, rtol=1e-12, atol=1e-12)
    single = getattr(ours["kFloat"], f"f{i}")(*arrays(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("i", range(len(REFUSED)), ids=REFUSED)
def test_what_torch_refuses_is_refused(built, i):
    theirs, ours = built
    at = f"f{len(CASES) + i}"
    with pytest.raises(Exception) as expected:
        getattr(theirs, at)(*map(torch.from_numpy, arrays(np.float64)))
    with pytest.raises(type(expected.value)):
        getattr(ours["kDouble"], at)(*arrays(np.float64))


def test_batch_norm_updates_what_it_is_given():
    source = """#include <torch/extension.h>
    void f(torch::Tensor x, torch::Tensor mean, torch::Tensor var) { torch::batch_norm(x, {}, {}, mean, var, true, 0.3, 1e-5, false); }"""
    x = arrays(np.float32)[0]
    mean, var = np.full(4, 2, np.float32), np.full(4, 5, np.float32)
    wb.load_inline("nn_running", source, functions=["f"]).f(x, mean, var)
    running = [torch.full((4,), 2.0), torch.full((4,), 5.0)]
    torch.nn.functional.batch_norm(torch.from_numpy(x), *running, training=True, momentum=0.3)
    np.testing.assert_allclose(mean, running[0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(var, running[1].numpy(), rtol=1e-5)


def test_dropout_keeps_the_share_that_is_asked_for():
    source = """#include <torch/extension.h>
    torch::Tensor f(torch::Tensor x) { torch::manual_seed(7); return torch::dropout(x, 0.25, true); }"""
    out = wb.load_inline("nn_dropout", source, functions=["f"]).f(np.ones(100_000, np.float32))
    kept = out != 0
    np.testing.assert_allclose(out[kept], 1 / 0.75, rtol=1e-6)
    # Six standard deviations of a binomial share.
    assert abs(kept.mean() - 0.75) < 6 * (0.75 * 0.25 / 100_000) ** 0.5

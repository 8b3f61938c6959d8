"""`torch::nn::functional` in host code, against NumPy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import workbench as wb

# The text read before the test's text; it is empty where the library has these names.
HEAD = "#include <torch/extension.h>\nnamespace F = torch::nn::functional;\n"
RNG = np.random.default_rng(20261124)
M, N = RNG.normal(size=(5, 8)), RNG.normal(size=(5, 8))
P = RNG.uniform(0.05, 0.95, (5, 8))
X = RNG.normal(size=(2, 4, 6, 7))
W = RNG.normal(size=(3, 4, 3, 2))
T = RNG.integers(0, 8, 5)
ERF = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    return np.log(softmax(x, axis))


def conv(x, w, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    x = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    kh, kw = w.shape[2:]
    h = (x.shape[2] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    v = (x.shape[3] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((x.shape[0], w.shape[0], h, v))
    for i in range(h):
        for j in range(v):
            part = x[:, :, i * stride[0] :, j * stride[1] :][:, :, : dilation[0] * kh : dilation[0], : dilation[1] * kw : dilation[1]]
            out[:, :, i, j] = np.einsum("nchw,ochw->no", part[:, :, :kh, :kw], w)
    return out


def pooled(x, k, f):
    h, w = x.shape[2] // k, x.shape[3] // k
    return f(x[:, :, : h * k, : w * k].reshape(*x.shape[:2], h, k, w, k), (3, 5))


def normed(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def linearly(x, out):
    # The last dimension, places at the middles of elements.
    n = x.shape[-1]
    place = np.maximum((np.arange(out) + 0.5) * n / out - 0.5, 0)
    low = np.floor(place).astype(int)
    return x[..., low] * (1 - (place - low)) + x[..., np.minimum(low + 1, n - 1)] * (place - low)


EXPECTED = {
    "F::relu(m)": np.maximum(M, 0),
    "F::relu(m, F::ReLUFuncOptions().inplace(true))": np.maximum(M, 0),
    "F::gelu(m)": M * 0.5 * (1 + ERF(M / 2**0.5)),
    "F::gelu(m, F::GELUFuncOptions().approximate(\"tanh\"))": 0.5 * M * (1 + np.tanh((2 / np.pi) ** 0.5 * (M + 0.044715 * M**3))),
    "F::silu(m)": M * sigmoid(M),
    "F::mish(m)": M * np.tanh(np.log1p(np.exp(M))),
    "F::elu(m, F::ELUFuncOptions().alpha(0.7))": np.where(M > 0, M, 0.7 * np.expm1(M)),
    "F::celu(m, F::CELUFuncOptions().alpha(0.7))": np.where(M > 0, M, 0.7 * np.expm1(M / 0.7)),
    "F::leaky_relu(m, F::LeakyReLUFuncOptions().negative_slope(0.2))": np.where(M > 0, M, 0.2 * M),
    "F::hardtanh(m, F::HardtanhFuncOptions().min_val(-0.5).max_val(0.25))": M.clip(-0.5, 0.25),
    "F::threshold(m, F::ThresholdFuncOptions(0.3, -2))": np.where(M > 0.3, M, -2),
    "F::softplus(m, F::SoftplusFuncOptions().beta(2))": np.log1p(np.exp(2 * M)) / 2,
    "F::logsigmoid(m)": np.log(sigmoid(M)),
    "F::softsign(m)": M / (1 + abs(M)),
    "F::hardshrink(m, 0.7)": np.where(abs(M) > 0.7, M, 0),
    "F::softshrink(m, F::SoftshrinkFuncOptions(0.2))": np.sign(M) * np.maximum(abs(M) - 0.2, 0),
    "F::glu(m)": M[:, :4] * sigmoid(M[:, 4:]),
    "F::softmax(m, F::SoftmaxFuncOptions(1))": softmax(M, 1),
    "F::softmax(m, 0)": softmax(M, 0),
    "F::softmin(m, 1)": softmax(-M, 1),
    "F::log_softmax(m, F::LogSoftmaxFuncOptions(-1))": log_softmax(M, 1),
    "F::linear(m, n, torch::ones({5}, m.options()))": M @ N.T + 1,
    "F::bilinear(m, n, torch::ones({2, 8, 8}, m.options()))": np.stack([M.sum(1) * N.sum(1)] * 2, 1),
    "F::conv2d(x, w)": conv(X, W),
    "F::conv2d(x, w, F::Conv2dFuncOptions().stride({2, 1}).padding(1).dilation({1, 2}).bias(torch::ones({3}, x.options())))": conv(X, W, (2, 1), (1, 1), (1, 2)) + 1,
    "F::conv2d(x, w, F::Conv2dFuncOptions().padding(torch::kSame))": conv(np.pad(X, [(0, 0), (0, 0), (1, 1), (0, 1)]), W),
    "F::conv1d(x[0], torch::ones({4, 6, 3}, x.options()))": np.stack([sum(X[0].sum(1)[:, i : i + 5] for i in range(3))] * 4, 1),
    "F::conv_transpose2d(x, torch::ones({4, 1, 1, 1}, x.options()), F::ConvTranspose2dFuncOptions().stride(2))": np.kron(X.sum(1, keepdims=True), [[1, 0], [0, 0]])[:, :, :-1, :-1],
    "F::batch_norm(x, {}, {}, F::BatchNormFuncOptions().training(true))": normed(X, (0, 2, 3)),
    "F::instance_norm(x, F::InstanceNormFuncOptions().eps(1e-3))": normed(X, (2, 3), 1e-3),
    "F::layer_norm(m, F::LayerNormFuncOptions({m.size(1)}).weight(n[0]).bias(n[1]))": normed(M, (1,)) * N[0] + N[1],
    "F::layer_norm(x, F::LayerNormFuncOptions({6, 7}))": normed(X, (2, 3)),
    "F::group_norm(x, F::GroupNormFuncOptions(2))": normed(X.reshape(2, 2, -1), (2,)).reshape(X.shape),
    "F::normalize(m, F::NormalizeFuncOptions().p(1).dim(0))": M / abs(M).sum(0),
    "F::local_response_norm(x, F::LocalResponseNormFuncOptions(3).alpha(0.3))": X / (1 + 0.1 * sum(np.pad(X**2, [(0, 0), (1, 1), (0, 0), (0, 0)])[:, i : i + 4] for i in range(3))) ** 0.75,
    "F::max_pool2d(x, F::MaxPool2dFuncOptions(2))": pooled(X, 2, np.max),
    "F::avg_pool2d(x, F::AvgPool2dFuncOptions({3, 3}))": pooled(X, 3, np.mean),
    "F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({3, 1}))": X.reshape(2, 4, 3, 2, 7).mean((3, 4))[..., None],
    "F::adaptive_max_pool2d(x, F::AdaptiveMaxPool2dFuncOptions({torch::nullopt, 1}))": X.max(3, keepdims=True),
    "std::get<1>(F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions({6, 7})))": X.reshape(2, 4, 42).argmax(2).reshape(2, 4, 1, 1),
    "F::lp_pool2d(x.abs(), F::LPPool2dFuncOptions(3, 2))": np.cbrt(pooled(abs(X) ** 3, 2, np.sum)),
    "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).value(2.5))": np.pad(X, [(0, 0), (0, 0), (3, 0), (1, 2)], constant_values=2.5),
    "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReflect))": np.pad(X, [(0, 0), (0, 0), (3, 0), (1, 2)], mode="reflect"),
    "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReplicate))": np.pad(X, [(0, 0), (0, 0), (3, 0), (1, 2)], mode="edge"),
    "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kCircular))": np.pad(X, [(0, 0), (0, 0), (3, 0), (1, 2)], mode="wrap"),
    "F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>({2, 3})))": X.repeat(2, 2).repeat(3, 3),
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{6, 10}).mode(torch::kBilinear).align_corners(false))": linearly(X, 10),
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 7}).mode(torch::kArea))": X.reshape(2, 4, 3, 2, 7).mean(3),
    "F::pixel_unshuffle(F::pixel_shuffle(x, F::PixelShuffleFuncOptions(2)), 2)": X,
    "F::unfold(x, F::UnfoldFuncOptions({6, 7}))": X.reshape(2, -1, 1),
    "F::fold(F::unfold(x, F::UnfoldFuncOptions({2, 7}).stride(2)), F::FoldFuncOptions({6, 7}, {2, 7}).stride(2))": X,
    "F::embedding(t, m.t())": M.T[T],
    "F::embedding_bag(t, m.t(), F::EmbeddingBagFuncOptions().mode(torch::kSum).offsets(torch::tensor({0, 2})))": np.stack([M.T[T[:2]].sum(0), M.T[T[2:]].sum(0)]),
    "F::one_hot(t, 8)": np.eye(8, dtype=np.int64)[T],
    "F::dropout(m, F::DropoutFuncOptions().training(false))": M,
    "F::cosine_similarity(m, n)": (M * N).sum(1) / np.sqrt((M**2).sum(1) * (N**2).sum(1)),
    "F::pairwise_distance(m, n, F::PairwiseDistanceFuncOptions().p(1).eps(0))": abs(M - N).sum(1),
    "F::mse_loss(m, n)": ((M - N) ** 2).mean(),
    "F::mse_loss(m, n, F::MSELossFuncOptions(torch::kSum))": ((M - N) ** 2).sum(),
    "F::l1_loss(m, n, F::L1LossFuncOptions().reduction(torch::kNone))": abs(M - N),
    "F::smooth_l1_loss(m, n, F::SmoothL1LossFuncOptions().beta(0.5))": np.where(abs(M - N) < 0.5, (M - N) ** 2, abs(M - N) - 0.25).mean(),
    "F::huber_loss(m, n, F::HuberLossFuncOptions().delta(0.7))": np.where(abs(M - N) < 0.7, (M - N) ** 2 / 2, 0.7 * (abs(M - N) - 0.35)).mean(),
    "F::nll_loss(m, t)": -M[np.arange(5), T].mean(),
    "F::cross_entropy(m, t)": -log_softmax(M, 1)[np.arange(5), T].mean(),
    "F::cross_entropy(m, t, F::CrossEntropyFuncOptions().weight(p[0]).reduction(torch::kSum))": -(log_softmax(M, 1)[np.arange(5), T] * P[0][T]).sum(),
    "F::binary_cross_entropy(p, p.flip({0}))": -(P[::-1] * np.log(P) + (1 - P[::-1]) * np.log(1 - P)).mean(),
    "F::binary_cross_entropy_with_logits(m, p)": -(P * np.log(sigmoid(M)) + (1 - P) * np.log(sigmoid(-M))).mean(),
    "F::kl_div(p.log(), p.flip({0}), F::KLDivFuncOptions().reduction(torch::kBatchMean))": (P[::-1] * np.log(P[::-1] / P)).sum() / 5,
    "F::soft_margin_loss(m, n.sign())": np.log1p(np.exp(-np.sign(N) * M)).mean(),
    "F::triplet_margin_loss(m, n, p, F::TripletMarginLossFuncOptions().eps(0))": np.maximum(np.linalg.norm(M - N, axis=1) - np.linalg.norm(M - P, axis=1) + 1, 0).mean(),
    "F::pdist(m, 1)": np.array([abs(M[i] - M[j]).sum() for i in range(5) for j in range(i + 1, 5)]),
}  # fmt: skip
# Refused calls, and the text of the error.
REFUSED = {
    "F::conv2d(x, w, F::Conv2dFuncOptions().stride(2).padding(torch::kSame))": "not supported for strided",
    "F::conv2d(x, w, F::Conv2dFuncOptions().stride({1, 2, 3}))": "Expected 2 values, but instead got 3",
    "F::batch_norm(m[0], {}, {})": "at least 2 input dimensions",
    "F::batch_norm(m.slice(0, 0, 1), {}, {}, F::BatchNormFuncOptions().training(true))": "more than 1 value per channel",
    "F::pad(x, F::PadFuncOptions({9, 0, 0, 0}).mode(torch::kReflect))": "less than the corresponding",
    "F::pad(x, F::PadFuncOptions({1, 1, 0, 0}).mode(torch::kCircular).value(1))": "doesn't take in value",
    "F::interpolate(x)": "either size or scale_factor",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 3}).mode(torch::kLinear))": "needs 3D input",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 3}).mode(torch::kBilinear).antialias(true))": "antialias",
    "F::dropout(m, F::DropoutFuncOptions().p(2))": "between 0 and 1",
    "F::cross_entropy(m, t + 8)": "out of bounds",
    "F::binary_cross_entropy(m, p)": "between 0 and 1",
    "F::nll_loss(m, t.slice(0, 1))": "match target batch_size",
    "F::glu(m.slice(1, 1))": "must be even",
    "F::embedding_bag(t, m)": "offsets has to be a 1D",
}
PARAMS = ", ".join(f"torch::Tensor {name}" for name in "mnpxwt")


def text(cases):
    return HEAD + "\n".join(f"torch::Tensor f{i}({PARAMS}) {{ return {case}; }}" for i, case in enumerate(cases))


def arrays(dtype):
    return [a.astype(dtype) for a in (M, N, P, X, W)] + [T]


@pytest.fixture(scope="module")
def built():
    return wb.load_inline("functional", "", text(EXPECTED), functions=[f"f{i}" for i in range(len(EXPECTED))])


@pytest.mark.parametrize("i", range(len(EXPECTED)), ids=list(EXPECTED))
def test_results_are_those_of_formulas(built, i):
    expected = list(EXPECTED.values())[i]
    double = getattr(built, f"f{i}")(*arrays(np.float64))
    assert np.shape(double) == np.shape(expected)
    # Sums of at most a hundred terms of about 1: 100 * 100 * 1.1e-16 = 1e-12 at worst.
    np.testing.assert_allclose(double, expected, rtol=1e-12, atol=1e-12)
    single = getattr(built, f"f{i}")(*arrays(np.float32))
    assert single.dtype == (np.float32 if np.asarray(expected).dtype == np.float64 else np.asarray(expected).dtype)
    # The same with 6e-8, errors independent: 10 * 100 * 6e-8 = 6e-5.
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=6e-5)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_an_error_of_the_line_that_calls(case):
    source = HEAD + f"torch::Tensor f({PARAMS}) {{\n    return {case};\n}}"
    f = wb.load_inline("refused", "", source, functions=["f"]).f
    with pytest.raises((RuntimeError, IndexError), match=REFUSED[case]) as error:
        f(*arrays(np.float64))
    assert "cuda.cu:4:" in str(error.value)


def test_an_option_takes_only_its_names():
    for case in ["F::pad(x, F::PadFuncOptions({1, 1}).mode(torch::kNearest))", "F::mse_loss(m, n, F::MSELossFuncOptions().reduction(torch::kBatchMean))"]:
        with pytest.raises(wb.CompileError):
            wb.load_inline("names", "", text([case]), functions=["f0"])


def test_options_are_set_and_read():
    source = """
    double f() {
        F::Conv2dFuncOptions options;
        options.stride(2).groups(3);
        options.dilation() = {4, 5};
        auto other = F::LayerNormFuncOptions({2, 3}).eps(0.5);
        TORCH_CHECK((*options.stride())[1] == 2 && options.stride()->size() == 2 && (*options.dilation())[1] == 5);
        TORCH_CHECK(other.normalized_shape().size() == 2 && !other.weight().defined());
        return options.groups() + other.eps();
    }"""
    assert wb.load_inline("options", "", HEAD + source, functions=["f"]).f() == 3.5


def test_what_is_in_place_changes_the_tensor():
    source = "void f(torch::Tensor x) { F::relu(x, F::ReLUFuncOptions(true)); F::leaky_relu(x, F::LeakyReLUFuncOptions().inplace(true)); F::dropout(x, F::DropoutFuncOptions().p(0).inplace(true)); }"
    x = M.astype(np.float32)
    wb.load_inline("in_place", "", HEAD + source, functions=["f"]).f(x)
    assert (x == np.maximum(M, 0).astype(np.float32)).all()


def test_dropout_of_channels_drops_whole_ones():
    source = """
    torch::Tensor f(torch::Tensor x) { torch::manual_seed(3); return F::dropout2d(x, F::Dropout2dFuncOptions().p(0.25)); }
    torch::Tensor g(torch::Tensor x) { torch::manual_seed(3); return F::alpha_dropout(x, F::AlphaDropoutFuncOptions().p(0.4).training(true)); }"""
    built = wb.load_inline("channels", "", HEAD + source, functions=["f", "g"])
    out = built.f(np.ones((100, 200, 2, 3), np.float32))
    kept = out[:, :, 0, 0] != 0
    assert (out == np.where(kept, np.float32(1 / 0.75), np.float32(0))[:, :, None, None]).all()
    # Six standard deviations of a binomial share.
    assert abs(kept.mean() - 0.75) < 6 * (0.75 * 0.25 / 20_000) ** 0.5
    # Mean and variance stay those of the input: each element's fourth moment is below 20, so the variance's deviation is below sqrt(20 / n).
    out = built.g(np.random.default_rng(5).normal(size=100_000))
    assert abs(out.mean()) < 6 * 100_000**-0.5 and abs(out.var() - 1) < 6 * (20 / 100_000) ** 0.5


def test_gumbel_softmax_draws_by_the_weights():
    source = """
    torch::Tensor f(torch::Tensor x, bool hard) { torch::manual_seed(3); return F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().tau(0.5).hard(hard)); }"""
    f = wb.load_inline("gumbel", "", HEAD + source, functions=["f"]).f
    x = np.tile(np.log([0.2, 0.3, 0.5]), (20_000, 1))
    # Three terms of at most 1 each.
    np.testing.assert_allclose(f(x, False).sum(1), 1, rtol=1e-14)
    hard = f(x, True)
    assert set(np.unique(hard)) == {0, 1} and (hard.sum(1) == 1).all()
    # Six standard deviations of a binomial share.
    assert (abs(hard.mean(0) - [0.2, 0.3, 0.5]) < 6 * (0.25 / 20_000) ** 0.5).all()


def test_attention_is_a_softmax_of_products():
    source = "torch::Tensor f(torch::Tensor q) { return at::scaled_dot_product_attention(q, q, q, {}, 0.0, true); }"
    q = RNG.normal(size=(2, 5, 4))
    scores = np.where(np.tri(5, dtype=bool), q @ q.transpose(0, 2, 1) / 2, -np.inf)
    # Sums of five terms of about 1.
    np.testing.assert_allclose(wb.load_inline("attention", "", HEAD + source, functions=["f"]).f(q), softmax(scores, 2) @ q, rtol=1e-13, atol=1e-14)


def test_torchs_warnings_come():
    f = wb.load_inline("warns", "", text(["F::kl_div(p.log(), p)", "F::mse_loss(m, n[0])", "F::mse_loss(m, n)"]), functions=["f0", "f1", "f2"])
    with pytest.warns(UserWarning, match="batchmean"):
        f.f0(*arrays(np.float32))
    with pytest.warns(UserWarning, match="target size"):
        f.f1(*arrays(np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.f2(*arrays(np.float32))
